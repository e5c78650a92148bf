/* schedule_kernel: a part of schedule.c. The system calls of the library, to which the linker leads it (--wrap), and
 * those that os_fake makes. */
#ifndef SCHEDULE_KERNEL_H
#define SCHEDULE_KERNEL_H

void     __wrap_os_futex_wait(uint32_t *word, uint32_t expected);
void     __wrap_os_futex_wake(uint32_t *word);
_Noreturn void __wrap_os_abort(void);
bool     __wrap_libc_single_threaded(void);
void     __wrap_libc_stdio_lock(void);
void     __wrap_libc_stdio_unlock(void);
void     __wrap_libc_stdio_reset(void);

#define CALL(type, name, parameters, arguments, what, at)  \
    type __real_##name parameters;                         \
    type __wrap_##name parameters;                         \
    type __wrap_##name parameters                          \
    {                                                      \
        point(what, at, __builtin_return_address(0));      \
        off.in_kernel = true;                              \
        type result = __real_##name arguments;             \
        off.in_kernel = false;                             \
        return result;                                     \
    }
CALL(uint64_t, os_map, (uint32_t cache, uint64_t npages), (cache, npages), "maps", NULL)
CALL(bool, os_unmap, (uint32_t cache, uint64_t page, uint64_t npages, bool must), (cache, page, npages, must), "unmaps", NULL)
CALL(bool, os_purge, (uint32_t cache, uint64_t page, uint64_t npages, bool lazily), (cache, page, npages, lazily), "purges", (void *)page)
CALL(bool, os_discard, (uint32_t cache, uint64_t page, uint64_t npages), (cache, page, npages), "discards", (void *)page)
CALL(void *, os_map_metadata, (size_t bytes), (bytes), "maps metadata", NULL)
CALL(void *, os_map_sparse, (size_t bytes), (bytes), "maps sparse metadata", NULL)
CALL(bool, os_open, (void *at, size_t bytes), (at, bytes), "opens", at)
CALL(uint64_t, os_clock_ms, (void), (), "looks at the clock", NULL)

void __wrap_os_futex_wait(uint32_t *word, uint32_t expected)
{
    point("waits for", word, __builtin_return_address(0));
    if (*word != expected) {
        return;
    }
    if (off.alone || off.resting || now == NOBODY) {
        schedule_fail("deadlock: a lock is held by a thread that is not there, rank %d", rank_of(word) / 3);
    }
    thread[now].sleeps = word;
    uint32_t mask = ready();
    if (mask == 0) {
        schedule_fail("deadlock: thread %u is the last one to sleep", now);
    }
    schedule_print ? (void)printf("thread %u: sleeps\n", now) : (void)0;
    go_on_with(choose(mask, true));
}

void __wrap_os_futex_wake(uint32_t *word)
{
    point("wakes", word, __builtin_return_address(0));
    for (uint32_t t = 0; t < threads && !off.alone; t++) {
        if (thread[t].sleeps == word) {
            thread[t].sleeps = NULL;
            return;
        }
    }
}

_Noreturn void __wrap_os_abort(void)
{
    schedule_fail("%.*s", (int)os_fake.text_bytes, os_fake.text);
}

bool __wrap_libc_single_threaded(void)
{
    return false;
}

void __wrap_libc_stdio_lock(void)
{
}

void __wrap_libc_stdio_unlock(void)
{
}

void __wrap_libc_stdio_reset(void)
{
}

/* os_fake's own calls, of the kernel's. All of the address space is there from the beginning, and forgetting pages can be undone. */
void *schedule_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
int   schedule_mprotect(void *at, size_t bytes, int protection);
int   schedule_madvise(void *at, size_t bytes, int advice);

/* The C library's, of the library under test. Threads end by a call of the harness. */
int schedule_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int schedule_pthread_key_create(unsigned int *key, void (*destructor)(void *));
int schedule_pthread_setspecific(unsigned int key, const void *value);

static void forget(void *at, size_t bytes)
{
    for (char *page = at; page < (char *)at + bytes; page += PAGE) {
        uint64_t *word = (uint64_t *)page;
        for (uint32_t i = 0; page_written(word) && i < PAGE / sizeof *word; i++) {
            word[i] != 0 ? schedule_write(&word[i], 0) : (void)0;
        }
    }
}

void *schedule_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if ((flags & MAP_FIXED) != 0) {
        forget(at, bytes);
        return at;
    }
    static struct {
        size_t bytes;
        void  *at;
    } given[2];                             /* after an undo os_fake asks for the same spans again */
    uint32_t i = given[0].bytes == 0 || given[0].bytes == bytes ? 0 : 1;
    if (spans == 0) {
        char *p = mmap(at, SPANS_BYTES + SPAN_ALIGN, protection | PROT_READ | PROT_WRITE, flags, file, offset);
        spans = (uintptr_t)p + (SPAN_ALIGN - (uintptr_t)p % SPAN_ALIGN) % SPAN_ALIGN;
    }
    if (given[i].bytes == 0) {
        given[i].at = (void *)(spans + i * (SPANS_BYTES / 2));
        given[i].bytes = bytes;
    }
    return bytes <= SPANS_BYTES / 2 ? given[i].at : MAP_FAILED;
}

struct schedule_fork schedule_fork;

int schedule_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    point("registers the handlers of fork", NULL, __builtin_return_address(0));
    if (schedule_fork.prepare != NULL) {
        schedule_fail("the handlers of fork are registered twice");
    }
    schedule_write(&schedule_fork.prepare, (uintptr_t)prepare);
    schedule_write(&schedule_fork.parent, (uintptr_t)parent);
    schedule_write(&schedule_fork.child, (uintptr_t)child);
    point("has registered the handlers of fork", NULL, __builtin_return_address(0));
    return 0;
}

int schedule_pthread_key_create(unsigned int *key, void (*destructor)(void *))
{
    (void)destructor;
    point("makes a key", NULL, __builtin_return_address(0));
    *key = 0;
    return 0;
}

int schedule_pthread_setspecific(unsigned int key, const void *value)
{
    (void)key, (void)value;
    return 0;
}

int schedule_mprotect(void *at, size_t bytes, int protection)
{
    (void)at, (void)bytes, (void)protection;
    return 0;
}

int schedule_madvise(void *at, size_t bytes, int advice)
{
    (void)advice;
    forget(at, bytes);
    return 0;
}

#endif
