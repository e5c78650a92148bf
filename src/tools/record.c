/* record: a library to preload that writes the malloc calls of a program to a file, and forwards them to the malloc below.
 *
 * Events go straight into the file, through shared mappings of its units: nothing is flushed, so nothing is lost when the
 * program calls _exit or exec, or is killed. Each thread has a segment of its own; the rest of an ended thread's unit
 * serves the next. The recorder allocates nothing. What the malloc below calls on its way is not recorded.
 *
 * The state that all threads share lies in a page that the kernel clears in a forked child (MADV_WIPEONFORK): the child
 * finds that nothing has begun, and begins a file of its own.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format.h"

#define EXPORT __attribute__((visibility("default")))
#define POOL_UNITS 64U                      /* begun units of ended threads that are kept for others */
#define FILES_MAX 10000U                    /* of one name */
#define FILE_NUMBER_MIN 500
#define EARLY_BYTES 65536U

/* ---- the malloc below -------------------------------------------------------------------------------------------- */

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
} next;

static void stop(const char *what)
{
    (void)!write(2, "qedmalloc-record: ", 18);
    (void)!write(2, what, strlen(what));
    (void)!write(2, "\n", 1);
}

static void next_find(void)
{
    *(void **)&next.calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&next.realloc = dlsym(RTLD_NEXT, "realloc");
    *(void **)&next.free = dlsym(RTLD_NEXT, "free");
    *(void **)&next.aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
    *(void **)&next.posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
    *(void **)&next.memalign = dlsym(RTLD_NEXT, "memalign");
    *(void **)&next.valloc = dlsym(RTLD_NEXT, "valloc");
    *(void **)&next.pvalloc = dlsym(RTLD_NEXT, "pvalloc");
    *(void **)&next.malloc = dlsym(RTLD_NEXT, "malloc");
    if (next.malloc == NULL || next.calloc == NULL || next.realloc == NULL || next.free == NULL) {
        stop("there is no malloc below");
        abort();
    }
}

/* Blocks for dlsym itself, while it looks for the malloc below. They are never given back. */
static _Alignas(16) unsigned char early[EARLY_BYTES];
static size_t                     early_used;

static void *early_take(size_t bytes)
{
    if (bytes > EARLY_BYTES - early_used) {
        return NULL;
    }
    void *p = early + early_used;
    early_used += (bytes + 15) / 16 * 16;
    return p;
}

static bool early_has(const void *p)
{
    return (uintptr_t)p - (uintptr_t)early < EARLY_BYTES;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

struct place {
    uint8_t *at, *end;                      /* free part of a unit; the unit ends at end */
};

struct recorder {
    _Atomic uint32_t pid;                   /* 0: nothing has begun */
    atomic_bool      on;
    _Atomic uint32_t threads;
    _Atomic uint64_t ticket;
    pthread_mutex_t  lock;                  /* of what follows; all zero is its initial value */
    int              file;
    dev_t            device;
    ino_t            inode;
    uint32_t         units;
    uint32_t         pool_count;
    uint64_t         start_ns;
    struct place     pool[POOL_UNITS];
};

static struct recorder *recorder;
static pthread_key_t    thread_key;

static __thread struct {
    uint32_t              pid;              /* of the process that it writes for */
    uint32_t              thread;
    bool                  inside;           /* in a call: what that calls in turn is not recorded */
    bool                  ended;            /* its destructors have run, or run now */
    struct trace_segment *segment;          /* NULL: none is open */
    struct place          place;
    uint64_t              ticket, address;  /* of the last event */
} me;

static uint64_t now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* Returns a new unit of the file. NULL means that the disk is full, or that the program closed the file and perhaps has another under its
 * number. */
static uint8_t *unit_new(void)
{
    struct stat s;
    off_t       from = (off_t)recorder->units * (off_t)TRACE_UNIT_BYTES;
    if (fstat(recorder->file, &s) != 0 || s.st_ino != recorder->inode || s.st_dev != recorder->device
        || posix_fallocate(recorder->file, from, TRACE_UNIT_BYTES) != 0) {
        return NULL;
    }
    void *unit = mmap(NULL, TRACE_UNIT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, recorder->file, from);
    recorder->units++;
    return unit == MAP_FAILED ? NULL : unit;
}

/* Writes QED_RECORD, with the process id for %p and the program's name for %n. Returns false if it does not fit. */
static bool file_name(char *name, size_t size, const char *pattern, unsigned copy)
{
    int n = 0;
    for (; *pattern != 0 && n >= 0 && (size_t)n < size; pattern++) {
        char  *to = name + n;
        size_t left = size - (size_t)n;
        if (pattern[0] == '%' && (pattern[1] == 'p' || pattern[1] == 'n')) {
            pattern++;
            n += *pattern == 'p' ? snprintf(to, left, "%d", (int)getpid()) : snprintf(to, left, "%s", program_invocation_short_name);
        } else {
            n += snprintf(to, left, "%c", *pattern);
        }
    }
    if (copy > 0 && (size_t)n < size) {
        n += snprintf(name + n, size - (size_t)n, ".%u", copy);
    }
    return (size_t)n < size;
}

/* Opens a new file. Where one exists, .1, .2 .. is appended. Its number is high, so that the program's are as ever. */
static bool file_create(const char *pattern)
{
    char        name[4096];
    struct stat s;
    int         file = -1;
    errno = EEXIST;
    for (unsigned copy = 0; file < 0 && errno == EEXIST && copy < FILES_MAX && file_name(name, sizeof name, pattern, copy); copy++) {
        file = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (file < 0 || fstat(file, &s) != 0) {
        return false;
    }
    int high = fcntl(file, F_DUPFD_CLOEXEC, FILE_NUMBER_MIN);
    high >= 0 ? close(file) : 0;
    recorder->file = high >= 0 ? high : file;
    recorder->device = s.st_dev;
    recorder->inode = s.st_ino;
    return true;
}

static bool file_begin(const char *pattern)
{
    struct trace_header *h = file_create(pattern) ? (struct trace_header *)(void *)unit_new() : NULL;
    if (h == NULL) {
        stop("cannot create the file that QED_RECORD names: nothing is recorded");
        return false;
    }
    recorder->start_ns = now_ns(CLOCK_MONOTONIC);
    *h = (struct trace_header){TRACE_MAGIC, TRACE_BYTE_ORDER, TRACE_VERSION, TRACE_UNIT_BYTES, (uint32_t)getpid(), now_ns(CLOCK_REALTIME), {0}};
    strncpy(h->program, program_invocation_short_name, sizeof h->program - 1);
    munmap(h, TRACE_UNIT_BYTES);
    return true;
}

/* ---- segments ---------------------------------------------------------------------------------------------------- */

static void segment_close(void)
{
    if (me.segment == NULL) {
        return;
    }
    me.segment = NULL;
    me.place.at += -(uintptr_t)me.place.at % TRACE_ALIGN;
    pthread_mutex_lock(&recorder->lock);
    bool keep = recorder->pool_count < POOL_UNITS && me.place.end - me.place.at > (ptrdiff_t)(sizeof *me.segment + TRACE_EVENT_BYTES_MAX);
    if (keep) {
        recorder->pool[recorder->pool_count++] = me.place;
    }
    pthread_mutex_unlock(&recorder->lock);
    if (!keep) {
        munmap(me.place.end - TRACE_UNIT_BYTES, TRACE_UNIT_BYTES);
    }
}

static void thread_ends(void *unused)
{
    (void)unused;
    me.ended = true;
    if (me.pid == recorder->pid) {
        segment_close();
    }
}

/* Begins the thread's next segment, whose first event has this ticket. Returns false if recording is off from now on. */
static bool segment_open(uint64_t ticket)
{
    segment_close();
    pthread_mutex_lock(&recorder->lock);
    if (recorder->pool_count > 0) {
        me.place = recorder->pool[--recorder->pool_count];
    } else {
        uint8_t *unit = unit_new();
        me.place = (struct place){unit, unit == NULL ? NULL : unit + TRACE_UNIT_BYTES};
    }
    pthread_mutex_unlock(&recorder->lock);
    if (me.place.at == NULL) {
        if (atomic_exchange(&recorder->on, false)) {
            stop("no room for the trace: it ends here");
        }
        return false;
    }
    me.segment = (struct trace_segment *)(void *)me.place.at;
    me.place.at += sizeof *me.segment;
    me.ticket = ticket - 1;
    me.address = 0;
    uint32_t time_ms = (uint32_t)((now_ns(CLOCK_MONOTONIC) - recorder->start_ns) / 1000000U);
    *me.segment = (struct trace_segment){TRACE_SEGMENT_MARK, me.thread, me.ticket, time_ms, 0};
    return true;
}

/* The process's first event opens the file, and a thread's first gives it a number. */
static void first_event(void)
{
    static pthread_mutex_t beginning = PTHREAD_MUTEX_INITIALIZER;
    static bool            have_key;
    pthread_mutex_lock(&beginning);
    if (recorder == NULL) {
        void *page = mmap(NULL, sizeof *recorder, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED || madvise(page, sizeof *recorder, MADV_WIPEONFORK) != 0) {
            stop("the kernel has no MADV_WIPEONFORK");
            abort();
        }
        recorder = page;
    }
    if (recorder->pid == 0 && environ != NULL) {
        const char *pattern = secure_getenv("QED_RECORD");
        have_key = have_key || pthread_key_create(&thread_key, thread_ends) == 0;
        recorder->on = pattern != NULL && *pattern != 0 && file_begin(pattern);
        recorder->pid = (uint32_t)getpid();
    }
    pthread_mutex_unlock(&beginning);
    if (recorder->on) {
        me.pid = recorder->pid;
        me.segment = NULL;
        me.thread = atomic_fetch_add(&recorder->threads, 1);
        me.inside = false;                  /* what this allocates counts as the thread's */
        pthread_setspecific(thread_key, &me);
        me.inside = true;
    }
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* Begins a call. Returns false if nothing of it is recorded, since it comes from within another. */
static bool enter(void)
{
    if (me.inside) {
        return false;
    }
    me.inside = true;
    if (next.malloc == NULL) {
        next_find();
    }
    return true;
}

static void leave(void)
{
    me.inside = false;
}

/* 0: not recording. */
static uint64_t take_ticket(void)
{
    if (recorder == NULL || me.pid != recorder->pid || me.pid == 0) {
        if (recorder != NULL && recorder->pid != 0 && !recorder->on) {
            return 0;
        }
        int saved = errno;
        first_event();
        errno = saved;
    }
    return recorder->on ? 1 + atomic_fetch_add_explicit(&recorder->ticket, 1, memory_order_relaxed) : 0;
}

static uint8_t *event_begin(enum trace_kind kind, uint64_t ticket)
{
    if (me.segment == NULL || me.place.end - me.place.at < (ptrdiff_t)TRACE_EVENT_BYTES_MAX) {
        int  saved = errno;
        bool open = segment_open(ticket);
        errno = saved;
        if (!open) {
            return NULL;
        }
    }
    uint64_t skipped = ticket - me.ticket - 1;
    uint8_t *at = me.place.at;
    me.ticket = ticket;
    *at++ = (uint8_t)(kind | (skipped < TRACE_TICKETS_INLINE ? skipped : TRACE_TICKETS_INLINE) << 4);
    return skipped < TRACE_TICKETS_INLINE ? at : trace_put(at, skipped - TRACE_TICKETS_INLINE);
}

static uint8_t *put_block(uint8_t *at, const void *block)
{
    return trace_put_block(at, &me.address, (uintptr_t)block);
}

/* The segment's length is written last, so that a reader of a killed program's file sees whole events. */
static void event_end(uint8_t *at)
{
    me.place.at = at;
    uint32_t bytes = (uint32_t)(at - (uint8_t *)(me.segment + 1));
    __atomic_store_n(&me.segment->bytes, bytes, __ATOMIC_RELEASE);
    if (me.ended) {
        int saved = errno;
        segment_close();
        errno = saved;
    }
}

/* Records a call that handed out a block, or NULL. x is a count or an alignment, if the kind has one. */
static void handed_out(enum trace_kind kind, uint64_t x, size_t bytes, const void *block)
{
    uint64_t ticket = take_ticket();
    uint8_t *at = ticket == 0 ? NULL : event_begin(kind, ticket);
    if (at != NULL) {
        at = kind == TRACE_MALLOC || kind == TRACE_VALLOC || kind == TRACE_PVALLOC ? at : trace_put(at, x);
        event_end(put_block(trace_put(at, bytes), block));
    }
    leave();
}

/* ---- the malloc family ------------------------------------------------------------------------------------------- */

EXPORT void *malloc(size_t bytes)
{
    bool  outer = enter();
    void *p = next.malloc != NULL ? next.malloc(bytes) : early_take(bytes);
    outer ? handed_out(TRACE_MALLOC, 0, bytes, p) : (void)0;
    return p;
}

EXPORT void *calloc(size_t count, size_t size)
{
    bool   outer = enter();
    size_t bytes = 0;
    void  *p = next.malloc != NULL ? next.calloc(count, size) : __builtin_mul_overflow(count, size, &bytes) ? NULL : early_take(bytes);
    outer ? handed_out(TRACE_CALLOC, count, size, p) : (void)0;
    return p;
}

EXPORT void free(void *block)
{
    bool outer = enter();
    if (early_has(block)) {
        outer ? leave() : (void)0;
        return;
    }
    uint64_t ticket = outer ? take_ticket() : 0;
    uint8_t *at = ticket == 0 ? NULL : event_begin(TRACE_FREE, ticket);
    if (at != NULL) {
        event_end(put_block(at, block));
    }
    next.malloc != NULL ? next.free(block) : (void)0;
    outer ? leave() : (void)0;
}

static void *early_realloc(void *block, size_t bytes)
{
    void *p = malloc(bytes);
    if (p != NULL && block != NULL) {
        size_t left = (size_t)(early + EARLY_BYTES - (unsigned char *)block);
        memmove(p, block, bytes < left ? bytes : left);
    }
    return p;
}

EXPORT void *realloc(void *block, size_t bytes)
{
    if (early_has(block) || (me.inside && next.malloc == NULL)) {
        return early_realloc(block, bytes);
    }
    bool     outer = enter();
    uint64_t before = outer ? take_ticket() : 0;
    void    *p = next.realloc(block, bytes);
    uint64_t after = outer ? take_ticket() : 0;
    uint8_t *at = before == 0 || after == 0 ? NULL : event_begin(TRACE_REALLOC, before);
    if (at != NULL) {
        at = put_block(trace_put(put_block(at, block), bytes), p);
        event_end(trace_put(at, after - before));
    }
    outer ? leave() : (void)0;
    return p;
}

EXPORT void *reallocarray(void *block, size_t count, size_t size)
{
    size_t bytes;
    return realloc(block, __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes);     /* SIZE_MAX: there is no such block */
}

EXPORT void free_sized(void *block, size_t bytes);
EXPORT void free_sized(void *block, size_t bytes)
{
    (void)bytes;
    free(block);
}

EXPORT void free_aligned_sized(void *block, size_t alignment, size_t bytes);
EXPORT void free_aligned_sized(void *block, size_t alignment, size_t bytes)
{
    (void)alignment, (void)bytes;
    free(block);
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
    bool  outer = enter();
    void *p = next.aligned_alloc(alignment, bytes);
    outer ? handed_out(TRACE_ALIGNED_ALLOC, alignment, bytes, p) : (void)0;
    return p;
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    bool outer = enter();
    int  result = next.posix_memalign(block, alignment, bytes);
    outer ? handed_out(TRACE_POSIX_MEMALIGN, alignment, bytes, result == 0 ? *block : NULL) : (void)0;
    return result;
}

EXPORT void *memalign(size_t alignment, size_t bytes);
EXPORT void *memalign(size_t alignment, size_t bytes)
{
    bool  outer = enter();
    void *p = next.memalign(alignment, bytes);
    outer ? handed_out(TRACE_MEMALIGN, alignment, bytes, p) : (void)0;
    return p;
}

EXPORT void *valloc(size_t bytes)
{
    bool  outer = enter();
    void *p = next.valloc(bytes);
    outer ? handed_out(TRACE_VALLOC, 0, bytes, p) : (void)0;
    return p;
}

EXPORT void *pvalloc(size_t bytes);
EXPORT void *pvalloc(size_t bytes)
{
    bool  outer = enter();
    void *p = next.pvalloc(bytes);
    outer ? handed_out(TRACE_PVALLOC, 0, bytes, p) : (void)0;
    return p;
}
