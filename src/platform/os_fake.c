/* os_fake: the deterministic operating system. One span of address space is reserved at the first map and aligned to
 * 1 GiB, so that distances and alignments are the same in every run, whatever the absolute addresses are.
 */
#include "platform/os_fake.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/hooks.h"
#include "platform/os.h"

#define SPAN_ALIGN (1UL << 30)
#define SPAN_BYTES (OS_FAKE_SPAN_NPAGES * PAGE)

struct os_fake os_fake = {.map_npages_max = UINT64_MAX, .mapped_npages_max = UINT64_MAX, .cpus = 4, .echo = true};

static uint64_t span_first;
static uint64_t span_low;               /* page numbers. Maps at the upper end go down, maps at the lower end up. */
static uint64_t span_high;

uint64_t         os_metadata_bytes;
static uintptr_t metadata_first;        /* a span of its own */
static size_t    metadata_ready;        /* bytes that can be written, at least those used */

void os_fake_reset(void)
{
    uint64_t mapped = os_fake.mapped_npages;
    memset(&os_fake, 0, sizeof os_fake);
    os_fake.map_npages_max = UINT64_MAX;
    os_fake.mapped_npages_max = UINT64_MAX;
    os_fake.mapped_npages = mapped;
    os_fake.cpus = 4;
    os_fake.echo = true;
}

void os_fake_fail(enum os_fake_call call, uint64_t nth, uint64_t count)
{
    os_fake.fail_from[call] = os_fake.calls[call] + nth;
    os_fake.fail_count[call] = count;
}

static bool call_fails(enum os_fake_call call)
{
    uint64_t n = ++os_fake.calls[call];
    return n >= os_fake.fail_from[call] && n - os_fake.fail_from[call] < os_fake.fail_count[call];
}

static bool span_ready(void)
{
    if (span_high == 0) {
        void *p = mmap(NULL, SPAN_BYTES + SPAN_ALIGN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) {
            return false;
        }
        span_first = ((uintptr_t)p + SPAN_ALIGN - 1) / SPAN_ALIGN * (SPAN_ALIGN / PAGE);
        span_low = span_first;
        span_high = span_low + OS_FAKE_SPAN_NPAGES;
    }
    return true;
}

uint64_t os_fake_span(void)
{
    return span_ready() ? span_first : 0;
}

static uint64_t map_pages(uint64_t npages)
{
    if (call_fails(OS_FAKE_MAP) || !span_ready() || npages == 0 || npages > os_fake.map_npages_max
        || os_fake.mapped_npages > os_fake.mapped_npages_max || npages > os_fake.mapped_npages_max - os_fake.mapped_npages
        || npages > span_high - span_low || os_fake.gap_npages > span_high - span_low - npages) {
        return 0;
    }
    uint64_t page = os_fake.upwards ? span_low : span_high - npages;
    void    *at = (void *)(page * PAGE);
    if (mprotect(at, npages * PAGE, PROT_READ | PROT_WRITE) != 0) {
        return 0;
    }
    if (os_fake.upwards) {
        span_low = page + npages + os_fake.gap_npages;
    } else {
        span_high = page - os_fake.gap_npages;
    }
    os_fake.mapped_npages += npages;
    return page;
}

static void close_pages(uint64_t page, uint64_t npages)     /* no memory any more, no access until they are mapped again */
{
    if (npages > 0) {
        (void)mmap((void *)(page * PAGE), npages * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    }
}

uint64_t os_map(uint32_t cache, uint64_t npages)
{
    return hooks_on(cache) ? hooks_map(cache, npages) : map_pages(npages);
}

/* The span's pages are aligned to PAGE, which is all that is asked for. */
uintptr_t os_map_outside(size_t bytes, size_t align)
{
    return align > PAGE ? 0 : map_pages(bytes / PAGE) * PAGE;
}

void os_unmap_outside(uintptr_t address, size_t bytes)
{
    close_pages(address / PAGE, bytes / PAGE);
    os_fake.mapped_npages -= bytes / PAGE;
}

bool os_unmap(uint32_t cache, uint64_t page, uint64_t npages, bool must)
{
    if (hooks_on(cache)) {
        return hooks_unmap(cache, page, npages, must);
    }
    if (call_fails(OS_FAKE_UNMAP) && !must) {
        return false;
    }
    os_unmap_outside(page * PAGE, npages * PAGE);
    return true;
}

bool os_takes_back(uint32_t cache)
{
    return os_fake.takes_back || hooks_take_back(cache);
}

void os_tell_seam(uint32_t cache, uint64_t page, uint64_t npages, uint64_t npages_behind, bool joined)
{
    if (hooks_on(cache)) {
        hooks_tell_seam(cache, page, npages, npages_behind, joined);
    }
}

bool os_move(uint64_t to, uint64_t from, uint64_t npages)
{
    memcpy((void *)(to * PAGE), (const void *)(from * PAGE), npages * PAGE);
    memset((void *)(from * PAGE), 0, npages * PAGE);
    return true;
}

static bool metadata_has(size_t bytes)
{
    if (metadata_first == 0) {
        void *p = mmap(NULL, OS_FAKE_METADATA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        metadata_first = p == MAP_FAILED ? 0 : (uintptr_t)p;
    }
    if (metadata_first == 0 || bytes > OS_FAKE_METADATA_BYTES - os_metadata_bytes) {
        return false;
    }
    size_t wanted = os_metadata_bytes + bytes;
    if (wanted > metadata_ready && mprotect((void *)(metadata_first + metadata_ready), wanted - metadata_ready, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    metadata_ready = wanted > metadata_ready ? wanted : metadata_ready;
    return true;
}

void *os_map_metadata(size_t bytes)
{
    bytes = (bytes + PAGE - 1) / PAGE * PAGE;
    if (call_fails(OS_FAKE_METADATA) || !metadata_has(bytes)) {
        return NULL;
    }
    os_metadata_bytes += bytes;
    return (void *)(metadata_first + os_metadata_bytes - bytes);
}

void *os_map_sparse(size_t bytes)
{
    void *p = os_map_metadata(bytes);
    return p == NULL || mprotect(p, bytes, PROT_READ) != 0 ? NULL : p;
}

bool os_open(void *at, size_t bytes)
{
    return !call_fails(OS_FAKE_METADATA) && mprotect(at, bytes, PROT_READ | PROT_WRITE) == 0;
}

void os_fake_rewind(void)
{
    uint64_t end = span_high == 0 ? 0 : span_first + OS_FAKE_SPAN_NPAGES;
    close_pages(span_first, span_low - span_first);
    close_pages(span_high, end - span_high);
    if (os_metadata_bytes > 0) {
        (void)madvise((void *)metadata_first, os_metadata_bytes, MADV_DONTNEED);
        (void)mprotect((void *)metadata_first, metadata_ready, PROT_READ | PROT_WRITE);
    }
    span_low = span_first;
    span_high = end;
    os_metadata_bytes = 0;
    os_fake.mapped_npages = 0;
    os_fake_reset();
}

/* Linux may take the pages at any time or never. Here it takes every other page of a short run, every other eighth of a
 * long one, at once. */
static bool purge_lazily(uint64_t page, uint64_t npages)
{
    if (call_fails(OS_FAKE_PURGE_LAZY)) {
        return false;
    }
    uint64_t part = npages / 8 == 0 ? 1 : npages / 8;
    for (uint64_t p = page; p + part <= page + npages; p += 2 * part) {
        (void)madvise((void *)(p * PAGE), part * PAGE, MADV_DONTNEED);
    }
    return true;
}

static bool purge_pages(uint64_t page, uint64_t npages, bool lazily)
{
    if (lazily ? !purge_lazily(page, npages)
               : call_fails(OS_FAKE_PURGE) || madvise((void *)(page * PAGE), npages * PAGE, MADV_DONTNEED) != 0) {
        return false;
    }
    os_fake.purged_npages += npages;
    return true;
}

bool os_purge(uint32_t cache, uint64_t page, uint64_t npages, bool lazily)
{
    return hooks_on(cache) ? hooks_purge(cache, page, npages, lazily) : purge_pages(page, npages, lazily);
}

bool os_purge_outside(uintptr_t address, size_t bytes, bool lazily)
{
    return purge_pages(address / PAGE, bytes / PAGE, lazily);
}

void os_purge_metadata(uint64_t page, uint64_t npages)
{
    (void)purge_pages(page, npages, false);
}

bool os_discard(uint32_t cache, uint64_t page, uint64_t npages)
{
    if (hooks_on(cache)) {
        return false;
    }
    if (call_fails(OS_FAKE_DISCARD) || madvise((void *)(page * PAGE), npages * PAGE, MADV_DONTNEED) != 0) {
        return false;
    }
    os_fake.discarded_npages += npages;
    return true;
}

uint64_t os_clock_ms(void)
{
    return os_fake.clock_ms;
}

uint64_t os_clock_ns(void)
{
    return os_fake.clock_ms * 1000000U;
}

uint32_t os_cpu_count(void)
{
    return os_fake.cpus;
}

uint64_t os_memory_bytes(void)
{
    return OS_FAKE_MEMORY_BYTES;
}

uint64_t os_page_bytes(void)
{
    return PAGE;
}

void os_write_error(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes && os_fake.text_bytes < OS_FAKE_TEXT_BYTES; i++) {
        os_fake.text[os_fake.text_bytes++] = text[i];
    }
    if (os_fake.echo && write(STDERR_FILENO, text, bytes) < 0) {
        return;
    }
}

_Noreturn void os_abort(void)
{
    abort();
}

/* Nobody sleeps. A waiter looks again at once, which the callers' loops allow. */
void os_futex_wait(uint32_t *word, uint32_t expected)
{
    (void)word;
    (void)expected;
    sched_yield();
}

/* A thread of the library's own sleeps in the kernel (own_thread.c). */
void os_futex_wake(uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}

void os_unmap_all(void)                 /* no test is unloaded */
{
}
