/* reset: the allocator as at its first call, for each input: what one input does depends on no other, and memory for the
 * very first structures can fail too. fuzz/reset.ld puts the allocator's variables on pages of their own; these become
 * private pages of a file that holds their values after boot, so that the kernel can drop what an input has written. */
#ifndef FUZZ_RESET_H
#define FUZZ_RESET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api/thread.h"
#include "platform/os_fake.h"

extern char qed_data_start[], qed_data_end[], qed_bss_start[], qed_bss_end[];

/* Before the library's own constructor: it boots the allocator, and finds no memory for a cache. */
__attribute__((constructor(101))) static void reset_before_boot(void)
{
    os_fake_fail(OS_FAKE_METADATA, 1, UINT64_MAX / 2);
}

static void reset_map(char *from, char *to)
{
    size_t bytes = (size_t)(to - from);
    int    file = memfd_create("reset", 0);
    if (file < 0 || syscall(SYS_write, file, from, bytes) != (long)bytes   /* a sanitizer's write would see red zones */
        || mmap(from, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0) != from) {
        perror("reset");
        exit(2);
    }
    close(file);
}

static void reset(void)
{
    static int mapped;
    if (!mapped) {
        reset_map(qed_data_start, qed_data_end);
        reset_map(qed_bss_start, qed_bss_end);
        mapped = 1;
    } else {
        madvise(qed_data_start, (size_t)(qed_data_end - qed_data_start), MADV_DONTNEED);
        madvise(qed_bss_start, (size_t)(qed_bss_end - qed_bss_start), MADV_DONTNEED);
    }
    os_fake_rewind();
    thread_cache = &tcache_unborn;
}

#endif
