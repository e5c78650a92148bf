/* reset: the allocator as at its first call, for each input: what one input does depends on no other, and memory for the
 * very first structures can fail too. fuzz/reset.ld puts the allocator's variables on pages of their own; these become
 * private pages of a file that holds their values after boot. Between inputs the pages that the process has copies of
 * (pagemap(5) says which) get these values back: they stay copies, so the next write to them costs no page fault. */
#ifndef FUZZ_RESET_H
#define FUZZ_RESET_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api/thread.h"
#include "platform/countdown.h"
#include "platform/os_fake.h"

/* What is put back depends on the inputs before: no edge of an engine's. The red zones of a sanitizer are put back too. */
#ifdef __clang__
#define RESET_UNOBSERVED __attribute__((noinline, no_sanitize("address", "coverage")))
#else
#define RESET_UNOBSERVED __attribute__((noinline, no_sanitize("address")))
#endif

#define RESET_COPY (3UL << 62)          /* in an entry of pagemap: the page is in memory or in swap, ... */
#define RESET_FILE (1UL << 61)          /* ... but the file's own */
#define RESET_ENTRIES 512U              /* read at once */

typedef uint64_t __attribute__((vector_size(16), may_alias)) reset_line;

struct reset_page {
    reset_line line[PAGE / sizeof(reset_line)];
};

struct reset_part {
    struct reset_page       *from;
    const struct reset_page *boot;      /* what stood there after boot; NULL: this is the first input */
    size_t                   npages;
};

extern char qed_data_start[], qed_data_end[], qed_bss_start[], qed_bss_end[];

/* Before the library's own constructor: it boots the allocator, and finds no memory for a cache. */
__attribute__((constructor(101))) static void reset_before_boot(void)
{
    os_fake_fail(OS_FAKE_METADATA, 1, UINT64_MAX / 2);
}

static void reset_map(struct reset_part *part, char *from, const char *to)
{
    size_t bytes = (size_t)(to - from);
    int    file = memfd_create("reset", 0);
    void  *boot = MAP_FAILED;
    if (file < 0 || syscall(SYS_write, file, from, bytes) != (long)bytes   /* a sanitizer's write would see red zones */
        || mmap(from, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0) != from
        || (boot = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0)) == MAP_FAILED) {
        perror("reset");
        exit(2);
    }
    close(file);
    *part = (struct reset_part){(struct reset_page *)from, boot, bytes / PAGE};
}

RESET_UNOBSERVED static void reset_page(struct reset_page *to, const struct reset_page *from)
{
    reset_line differs = {0};
    for (size_t i = 0; i < PAGE / sizeof differs; i++) {
        differs |= to->line[i] ^ from->line[i];
    }
    for (size_t i = 0; (differs[0] | differs[1]) != 0 && i < PAGE / sizeof differs; i++) {
        reset_line x = to->line[i] ^ from->line[i];
        if ((x[0] | x[1]) != 0) {
            to->line[i] = from->line[i];
        }
    }
}

/* Where the kernel does not say what is a copy, it drops all of them. */
RESET_UNOBSERVED static void reset_part(struct reset_part *part, int pagemap)
{
    uint64_t entry[RESET_ENTRIES];
    for (size_t first = 0; first < part->npages; first += RESET_ENTRIES) {
        size_t n = part->npages - first < RESET_ENTRIES ? part->npages - first : RESET_ENTRIES;
        off_t  at = (off_t)(((uintptr_t)part->from / PAGE + first) * sizeof *entry);
        if (pagemap < 0 || pread(pagemap, entry, n * sizeof *entry, at) != (ssize_t)(n * sizeof *entry)) {
            madvise(part->from, part->npages * PAGE, MADV_DONTNEED);
            break;
        }
        for (size_t i = 0; i < n; i++) {
            if ((entry[i] & RESET_COPY) != 0 && (entry[i] & RESET_FILE) == 0) {
                reset_page(part->from + first + i, part->boot + first + i);
            }
        }
    }
}

static void reset(void)
{
    static struct reset_part data, bss;
    if (data.boot == NULL) {
        reset_map(&data, qed_data_start, qed_data_end);
        reset_map(&bss, qed_bss_start, qed_bss_end);
    } else {
        int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
        reset_part(&data, pagemap);
        reset_part(&bss, pagemap);
        pagemap < 0 ? 0 : close(pagemap);
    }
    os_fake_rewind();
    thread_cache = &tcache_unborn;
    countdown_left = 0;
}

#endif
