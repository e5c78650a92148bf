/* os on Linux: raw system calls, so that errno stays as it is and no interposed function is entered. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "platform/atomic.h"
#include "platform/hints.h"
#include "platform/hooks.h"
#include "platform/limit.h"
#include "platform/os.h"

#define PURGE_PART_BYTES (1UL << 16)

static long os_call(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
    long          result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#else
#error "qedmalloc knows the system calls of x86-64 and arm64 Linux"
#endif
}

static bool os_failed(long result)
{
    return result < 0 && result >= -4095;
}

static void os_unmap_bytes(uintptr_t a, size_t bytes)
{
    if (bytes > 0) {
        os_call(SYS_munmap, (long)a, (long)bytes, 0, 0, 0, 0);
    }
}

/* What is mapped, as far as there is room to note it. */
#define SPANS_MAX 512U

static struct span {
    uintptr_t start;                    /* 0 in a place that is free */
    size_t    bytes;
} LONG_TABLE spans[SPANS_MAX];

static void span_note(uintptr_t start, size_t bytes)
{
    for (uint32_t i = 0; i < SPANS_MAX && start != 0 && bytes != 0; i++) {
        if (ATOMIC_LOAD_ACQUIRE(spans[i].start) == 0 && ATOMIC_REPLACE(spans[i].start, (uintptr_t)0, start)) {
            ATOMIC_STORE(spans[i].bytes, bytes);
            return;
        }
    }
}

/* Of each span only what lies before and behind these bytes is mapped still. Extents join and split, so they may be parts of spans. */
static void span_cut(uintptr_t start, size_t bytes)
{
    uintptr_t end = start + bytes;
    for (uint32_t i = 0; i < SPANS_MAX; i++) {
        uintptr_t first = ATOMIC_LOAD(spans[i].start);
        uintptr_t last = first + ATOMIC_LOAD(spans[i].bytes);
        if (first == 0 || last <= start || end <= first) {
            continue;
        }
        ATOMIC_STORE(spans[i].bytes, first < start ? start - first : 0);
        if (first >= start) {
            ATOMIC_STORE_RELEASE(spans[i].start, (uintptr_t)0);
        }
        span_note(end, last > end ? last - end : 0);
    }
}

void os_unmap_all(void)
{
    for (uint32_t i = 0; i < SPANS_MAX; i++) {
        os_unmap_bytes(spans[i].start, spans[i].bytes);
    }
}

/* Reads the beginning of a file as a text. One that cannot be read is empty. */
static void os_read(const char *path, char *text, size_t room)
{
    long file = os_call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    long bytes = os_failed(file) ? 0 : os_call(SYS_read, file, (long)text, (long)room - 1, 0, 0, 0);
    text[os_failed(bytes) ? 0 : bytes] = '\0';
    if (!os_failed(file)) {
        os_call(SYS_close, file, 0, 0, 0, 0, 0);
    }
}

/* Returns the number at the beginning of a text, 0 if it begins with something else. */
static uint64_t os_number(const char *text)
{
    uint64_t n = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        n = n * 10 + (uint64_t)(*text - '0');
    }
    return n;
}

/* ---- how many mappings there are --------------------------------------------------------------------------------- */

#define COUNT_ROOM 1024U                /* bytes read at a time, on a stack that may be small */
#define COUNT_EVERY 64U                 /* requests for memory */
#define LINE_BYTES 160U                 /* the message with two numbers of 20 digits */

static uint64_t os_count_mappings(void)
{
    char     text[COUNT_ROOM] = {0};
    uint64_t lines = 0;
    long     bytes = 0, file = os_call(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0, 0, 0);
    while (!os_failed(file) && (bytes = os_call(SYS_read, file, (long)text, sizeof text, 0, 0, 0)) > 0) {
        for (long i = 0; i < bytes; i++) {
            lines += text[i] == '\n' ? 1 : 0;
        }
    }
    if (!os_failed(file)) {
        os_call(SYS_close, file, 0, 0, 0, 0, 0);
    }
    return lines;
}

static char *line_add_number(char *end, uint64_t n)
{
    if (n >= 10) {
        end = line_add_number(end, n / 10);
    }
    *end = (char)('0' + n % 10);
    return end + 1;
}

/* Says once that nine of ten mappings that the kernel allows the process are in use, since it gives no memory beyond them. Looks at every 64th
 * request for memory, and at the first and every 64th that was refused: to count takes a millisecond for some thousand mappings. */
static void os_watch_mappings(bool got)
{
    static uint64_t requests[2];
    static bool     mappings_told;
    ATOMIC_ADD(requests[got], 1U);
    if (ATOMIC_LOAD(requests[got]) % COUNT_EVERY != (got ? 0 : 1) || ATOMIC_LOAD(mappings_told)) {
        return;
    }
    char line[LINE_BYTES];
    os_read("/proc/sys/vm/max_map_count", line, sizeof line);
    uint64_t most = os_number(line), count = os_count_mappings();
    if (count >= most - most / 10 && most > 0 && ATOMIC_REPLACE(mappings_told, false, true)) {
        char *end = line_add_number(stpcpy(line, "qedmalloc: "), count);
        end = line_add_number(stpcpy(end, " mappings are in use of the "), most);
        end = stpcpy(end, " that vm.max_map_count allows, and there is no memory beyond them\n");
        os_write_error(line, (size_t)(end - line));
    }
}

/* ---- pages ------------------------------------------------------------------------------------------------------- */

#define TEXT(digits) #digits
#define TEXT_OF(number) TEXT(number)

/* Memory at addresses that the allocator's tables do not reach goes back, and the program is told why its calls fail. Threads that
 * come here first at the same time may tell it more than once. */
static void os_refuse(uintptr_t start, size_t bytes)
{
    static const char message[] = "qedmalloc: memory that the system gave lies above 2^" TEXT_OF(LG_VADDR) ", where this build keeps none\n";
    static bool       told;
    os_unmap_bytes(start, bytes);
    if (!ATOMIC_LOAD(told)) {
        ATOMIC_STORE(told, true);
        os_write_error(message, sizeof message - 1);
    }
}

/* What the OS gives is aligned to its own pages, 4096 at least. For more, this maps too much, then trims both ends. The OS takes the place that
 * is wished for, if it is free, and 0 wishes for none. */
static uintptr_t os_map_for(uintptr_t wished, int access, size_t bytes, size_t align)
{
    size_t slack = align - 4096;
    long first = os_call(SYS_mmap, (long)wished, (long)(bytes + slack), access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    os_watch_mappings(!os_failed(first));
    if (os_failed(first)) {
        return 0;
    }
    if ((uintptr_t)first > (1UL << LG_VADDR) - bytes - slack) {
        os_refuse((uintptr_t)first, bytes + slack);
        return 0;
    }
    uintptr_t start = ((uintptr_t)first + align - 1) / align * align;
    os_unmap_bytes((uintptr_t)first, start - (uintptr_t)first);
    os_unmap_bytes(start + bytes, (uintptr_t)first + slack - start);
    return start;
}

uintptr_t os_map_outside(size_t bytes, size_t align)
{
    return os_map_for(0, PROT_READ | PROT_WRITE, bytes, align);
}

/* What the limit does not allow, not even for the time until the ends are trimmed, is not mapped. */
static uintptr_t os_map_aligned(uintptr_t wished, int access, size_t bytes, size_t align)
{
    size_t slack = align - 4096;
    if (!limit_take(bytes + slack)) {
        return 0;
    }
    uintptr_t start = os_map_for(wished, access, bytes, align);
    limit_give(start == 0 ? bytes + slack : slack);
    return start;
}

uint64_t os_map(uint32_t cache, uint64_t npages)
{
    if (hooks_on(cache)) {
        return hooks_map(cache, npages);
    }
    size_t    bytes = npages << LG_PAGE;
    uintptr_t a = os_map_aligned(0, PROT_READ | PROT_WRITE, bytes, PAGE);
    span_note(a, bytes);
    return a >> LG_PAGE;
}

void os_unmap_outside(uintptr_t address, size_t bytes)
{
    span_cut(address, bytes);
    os_unmap_bytes(address, bytes);
}

bool os_unmap(uint32_t cache, uint64_t page, uint64_t npages, bool must)
{
    if (hooks_on(cache)) {
        return hooks_unmap(cache, page, npages, must);
    }
    os_unmap_outside(page << LG_PAGE, npages << LG_PAGE);
    limit_give(npages << LG_PAGE);
    return true;
}

bool os_takes_back(uint32_t cache)
{
    return hooks_take_back(cache);
}

void os_tell_seam(uint32_t cache, uint64_t page, uint64_t npages, uint64_t npages_behind, bool joined)
{
    if (hooks_on(cache)) {
        hooks_tell_seam(cache, page, npages, npages_behind, joined);
    }
}

uint64_t os_metadata_bytes;

/* Metadata has a place of its own, this far below the first of it, so that it does not come between runs of pages, which could not join then. */
#define METADATA_FAR (1UL << 35)
static uintptr_t metadata_next;

static void *os_map_own(int access, size_t bytes)
{
    size_t    whole = (bytes + 4095) / 4096 * 4096;
    uintptr_t wished = ATOMIC_LOAD(metadata_next);
    uintptr_t a = os_map_aligned(wished, access, whole, 4096);
    if (a != 0) {
        ATOMIC_STORE(metadata_next, wished != 0 ? a + whole : a > METADATA_FAR ? a - METADATA_FAR : 0);
    }
    ATOMIC_ADD(os_metadata_bytes, a == 0 ? 0 : whole);
    span_note(a, whole);
    return (void *)a;
}

/* The first chunks of tables are short. They share these bytes, so that they take few pages of a small process and no call. The room is that for
 * 4,000 extents. It counts as memory of the library's variables, not as what the OS has given. */
#define FIRST_BYTES (512UL << 10)
#define FIRST_BYTES_MOST (FIRST_BYTES / 4)      /* of one request */
#define LINE 64U                                /* bytes of a cache line */
static LONG_TABLE char first_room[FIRST_BYTES];
static uint64_t        first_used;

/* Returns the next bytes of the room, or NULL where it has not as many left. */
static void *os_first_bytes(size_t bytes)
{
    uint64_t whole = (bytes + LINE - 1) / LINE * LINE, at = 0;
    do {
        at = ATOMIC_LOAD(first_used);
        if (bytes > FIRST_BYTES_MOST || whole > FIRST_BYTES - at) {
            return NULL;
        }
    } while (!ATOMIC_REPLACE(first_used, at, at + whole));
    return first_room + at;
}

void *os_map_metadata(size_t bytes)
{
    void *first = os_first_bytes(bytes);
    return first != NULL ? first : os_map_own(PROT_READ | PROT_WRITE, bytes);
}

void *os_map_sparse(size_t bytes)
{
    return os_map_own(PROT_READ, bytes);
}

bool os_open(void *at, size_t bytes)
{
    return os_call(SYS_mprotect, (long)at, (long)bytes, PROT_READ | PROT_WRITE, 0, 0, 0) == 0;
}

static long os_advise(uintptr_t address, size_t bytes, long advice)
{
    return os_call(SYS_madvise, (long)address, (long)bytes, advice, 0, 0, 0);
}

/* Purges what Linux takes. It takes no pages that are locked in memory, as pages may be that a program has locked and freed: they stay there,
 * and get zero bytes. The parts are short, so that few others stay with them. */
static void os_purge_parts(uintptr_t address, size_t bytes)
{
    for (size_t at = 0, part; at < bytes; at += part) {
        part = bytes - at < PURGE_PART_BYTES ? bytes - at : PURGE_PART_BYTES;
        if (os_advise(address + at, part, MADV_DONTNEED) != 0) {
            memset((void *)(address + at), 0, part);
        }
    }
}

bool os_purge_outside(uintptr_t address, size_t bytes, bool lazily)
{
    long result = os_advise(address, bytes, lazily ? MADV_FREE : MADV_DONTNEED);
    if (!lazily && result == -EINVAL) {
        os_purge_parts(address, bytes);
        return true;
    }
    return result == 0;
}

bool os_purge(uint32_t cache, uint64_t page, uint64_t npages, bool lazily)
{
    return hooks_on(cache) ? hooks_purge(cache, page, npages, lazily) : os_purge_outside(page << LG_PAGE, npages << LG_PAGE, lazily);
}

void os_purge_metadata(uint64_t page, uint64_t npages)
{
    (void)os_advise(page << LG_PAGE, npages << LG_PAGE, MADV_DONTNEED);
}

bool os_discard(uint32_t cache, uint64_t page, uint64_t npages)
{
    return !hooks_on(cache) && os_advise(page << LG_PAGE, npages << LG_PAGE, MADV_DONTNEED) == 0;
}

/* The pages move by way of a place of their own, which counts as mapped meanwhile. A remap onto pages in use that fails may have unmapped
 * them, but one of a whole mapping fails before it does. The first step is refused where the pages are several mappings, by Linux before 5.7,
 * by a filter. Pages that hooks have given are not moved. */
bool os_move(uint64_t to, uint64_t from, uint64_t npages)
{
    long bytes = (long)(npages << LG_PAGE), place = (long)(to << LG_PAGE);
    if (hooks_any() || !limit_take((uint64_t)bytes)) {
        return false;
    }
    long between = os_call(SYS_mremap, (long)(from << LG_PAGE), bytes, bytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0, 0);
    if (os_failed(between)) {
        limit_give((uint64_t)bytes);
        return false;
    }
    if (os_failed(os_call(SYS_mremap, between, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place, 0))) {
        memcpy((void *)place, (const void *)between, (size_t)bytes);
        os_unmap_bytes((uintptr_t)between, (size_t)bytes);
    }
    limit_give((uint64_t)bytes);
    return true;
}

uint64_t os_clock_ms(void)
{
    struct timespec t = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &t);    /* the vDSO's, cannot fail for this clock */
    return (uint64_t)t.tv_sec * 1000U + (uint64_t)t.tv_nsec / 1000000U;
}

uint64_t os_clock_ns(void)
{
    struct timespec t = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

uint32_t os_cpu_count(void)
{
    uint64_t mask[128] = {0};                           /* 8192 CPUs */
    long     bytes = os_call(SYS_sched_getaffinity, 0, sizeof mask, (long)mask, 0, 0, 0);
    uint32_t n = 0;
    for (long i = 0; i < bytes / 8; i++) {
        n += (uint32_t)__builtin_popcountl(mask[i]);
    }
    return n == 0 ? 1 : n;
}

#define PATH_BYTES 4096U                /* the most that the kernel takes */
#define FILE_BYTES 32U                  /* of the name of the file at its end */
#define PART_BYTES 512U                 /* read at a time */

struct reader {
    long   file;
    size_t next;
    size_t end;
    char   part[PART_BYTES];
};

static bool os_read_part(struct reader *r)
{
    long bytes = os_call(SYS_read, r->file, (long)r->part, sizeof r->part, 0, 0, 0);
    r->next = 0;
    r->end = os_failed(bytes) ? 0 : (size_t)bytes;
    return r->end > 0;
}

/* Reads a line, of which what is beyond the room is left out. Returns false behind the last one. */
static bool os_read_line(struct reader *r, char *line, size_t room)
{
    size_t bytes = 0;
    for (;;) {
        if (r->next == r->end && !os_read_part(r)) {
            return false;
        }
        char c = r->part[r->next++];
        if (c == '\n') {
            line[bytes] = '\0';
            return true;
        }
        if (bytes < room - 1) {
            line[bytes++] = c;
        }
    }
}

/* Returns the path in a line such as "4:cpu,memory:/a/b", if that controller is among those, NULL otherwise. The one of version 2 is "". */
static char *os_cgroup_path(char *line, const char *controller)
{
    char *at = strchr(line, ':'), *path = at == NULL ? NULL : strchr(at + 1, ':');
    while (path != NULL && at < path) {
        at++;
        size_t bytes = strcspn(at, ",:");
        if (bytes == strlen(controller) && memcmp(at, controller, bytes) == 0) {
            return path + 1;
        }
        at += bytes;
    }
    return NULL;
}

/* Finds the path of the process's cgroup, "" if there is none. */
static void os_cgroup(const char *controller, char *path)
{
    char          line[PATH_BYTES], *found = NULL;
    struct reader r = {.file = os_call(SYS_openat, AT_FDCWD, (long)"/proc/self/cgroup", O_RDONLY | O_CLOEXEC, 0, 0, 0)};
    while (!os_failed(r.file) && found == NULL && os_read_line(&r, line, sizeof line)) {
        found = os_cgroup_path(line, controller);
    }
    if (!os_failed(r.file)) {
        os_call(SYS_close, r.file, 0, 0, 0, 0, 0);
    }
    strcpy(path, found == NULL ? "" : found);
}

/* Returns the least number in the files of that name in a folder and the folders above it, down to so many bytes of the path, if it is less
 * than most. A text that is no number, such as "max", limits nothing. */
static uint64_t os_least_limit(char *path, size_t root, const char *name, uint64_t most)
{
    for (size_t end = strlen(path);;) {
        char text[FILE_BYTES];
        memcpy(path + end, name, strlen(name) + 1);
        os_read(path, text, sizeof text);
        uint64_t n = os_number(text);
        most = n > 0 && n < most ? n : most;
        if (end == root) {
            return most;
        }
        do {
            end--;
        } while (end > root && path[end] != '/');
    }
}

/* The process's cgroup stands in the line of /proc/self/cgroup that has no controller, or in that of the controller memory (version 1). A
 * container may see another path there than it has, but its topmost folder is its own then. */
uint64_t os_memory_bytes(void)
{
    static const struct {
        const char *controller, *root, *file;
    } version[] = {{"", "/sys/fs/cgroup", "/memory.max"}, {"memory", "/sys/fs/cgroup/memory", "/memory.limit_in_bytes"}};
    struct sysinfo system = {0};
    os_call(SYS_sysinfo, (long)&system, 0, 0, 0, 0, 0);
    uint64_t least = system.totalram == 0 ? UINT64_MAX : system.totalram * system.mem_unit;
    for (int v = 0; v < 2; v++) {
        char   path[sizeof "/sys/fs/cgroup/memory" + PATH_BYTES + FILE_BYTES];
        size_t root = strlen(version[v].root);
        memcpy(path, version[v].root, root);
        os_cgroup(version[v].controller, path + root);
        least = os_least_limit(path, root, version[v].file, least);
    }
    return least;
}

uint64_t os_page_bytes(void)
{
    return getauxval(AT_PAGESZ);
}

void os_write_error(const char *text, size_t bytes)
{
    while (bytes > 0) {
        long n = os_call(SYS_write, STDERR_FILENO, (long)text, (long)bytes, 0, 0, 0);
        if (n <= 0 && n != -EINTR) {
            return;
        }
        text += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
}

_Noreturn void os_abort(void)
{
    const uint64_t unblock = 1UL << (SIGABRT - 1);
    const uint64_t standard[4] = {0};                   /* handler, flags, restorer, mask */
    long           pid = os_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    long           thread = os_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
    os_call(SYS_tgkill, pid, thread, SIGABRT, 0, 0, 0);
    /* A handler returned, or the signal is ignored or blocked. The program ends all the same, as with abort(). */
    os_call(SYS_rt_sigaction, SIGABRT, (long)standard, 0, 8, 0, 0);
    os_call(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&unblock, 0, 8, 0, 0);
    os_call(SYS_tgkill, pid, thread, SIGABRT, 0, 0, 0);
    for (;;) {
        os_call(SYS_exit_group, 127, 0, 0, 0, 0, 0);
    }
}

void os_futex_wait(uint32_t *word, uint32_t expected)
{
    os_call(SYS_futex, (long)word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, expected, 0, 0, 0);
}

void os_futex_wake(uint32_t *word)
{
    os_call(SYS_futex, (long)word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0, 0, 0);
}
