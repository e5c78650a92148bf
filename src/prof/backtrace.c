/* backtrace: see backtrace.h. */
#include "prof/backtrace.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <unwind.h>

#include "platform/atomic.h"
#include "platform/config.h"
#include "platform/os.h"

#define SHALLOW 2U                              /* a stack with fewer frames says little */
#define SHALLOW_SAMPLES 8U                      /* and so many of them in a row from the start are told */
#define GCC "libgcc_s.so.1"
#define UNWIND "libunwind.so.8"
#define STACK_MOST (1UL << 26)                  /* Linux chooses no place so near below the end of the first thread's stack */
#define ASKING_BYTES 4096U                      /* pthread_getattr_np has no more code */

/* A static program need not have them, and what is not there reads as NULL. */
#pragma weak dlsym
#pragma weak _Unwind_Backtrace
#pragma weak _Unwind_GetIPInfo
#pragma weak _Unwind_GetGR
#pragma weak _Unwind_GetCFA
#pragma weak pthread_getattr_np

/* The linker's names for the beginning and the end of this object's code. In a static program that is the program. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));
static bool       own;                          /* the code in between is the library's alone */

typedef _Unwind_Reason_Code (*gcc_backtrace_t)(_Unwind_Trace_Fn, void *);
typedef _Unwind_Ptr (*gcc_ip_t)(struct _Unwind_Context *, int *);
typedef _Unwind_Word (*gcc_gr_t)(struct _Unwind_Context *, int);
typedef _Unwind_Word (*gcc_cfa_t)(struct _Unwind_Context *);
typedef int (*unw_backtrace_t)(void **, int);

static gcc_backtrace_t gcc_backtrace;
static gcc_ip_t        gcc_ip;                  /* tells as well whether a signal interrupted the frame */
static gcc_gr_t        gcc_gr;
static gcc_cfa_t       gcc_cfa;
static unw_backtrace_t unw_backtrace;

static void   (*walk)(struct backtrace *, struct backtrace_thread *);
static uint32_t depth_max = BACKTRACE_MAX;
static const char *name;
static uint32_t    shallow_left = SHALLOW_SAMPLES;

static bool frame_is_own(uintptr_t ip)
{
    return own && ip >= (uintptr_t)__ehdr_start && ip < (uintptr_t)etext;
}

/* Adds a frame, unless it is one of the library's above the caller. */
static void add(struct backtrace *bt, uintptr_t ip)
{
    if (bt->depth > 0 || !frame_is_own(ip)) {
        bt->frame[bt->depth++] = ip;
    }
}

#if defined(__x86_64__)
#define FRAME_REGISTER 6
#else
#define FRAME_REGISTER 29
#endif

/* ---- the thread's own stack -------------------------------------------------------------------------------------- */

/* Finds whether one of the frames is pthread_getattr_np. */
static _Unwind_Reason_Code asking_frame(struct _Unwind_Context *context, void *arg)
{
    bool     *asking = arg;
    int       interrupted = 0;
    uintptr_t ip = gcc_ip(context, &interrupted);
    *asking = ip - (uintptr_t)pthread_getattr_np < ASKING_BYTES;
    return *asking || ip == 0 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* glibc's pthread_getattr_np allocates while it holds a lock of the thread. A sample of that must not call it. */
static bool is_asking(void)
{
    bool asking = false;
    if (gcc_backtrace != NULL && pthread_getattr_np != NULL) {
        (void)gcc_backtrace(asking_frame, &asking);
    }
    return asking;
}

static bool stack_has(const struct trail_stack *stack, uintptr_t address)
{
    return stack->low <= address && address < stack->end;
}

/* The first thread's stack ends below the words that Linux puts there, and grows. */
static struct trail_stack stack_first(void)
{
    uintptr_t end = getauxval(AT_RANDOM);
    return (struct trail_stack){.low = end - STACK_MOST, .end = end};
}

/* Without a limit of its size, the first thread's stack would have all that is free below it. */
static struct trail_stack stack_pthread(void)
{
    struct trail_stack stack = {.end = 0};
    pthread_attr_t     attr;
    void              *low = NULL;
    size_t             bytes = 0;
    if (pthread_getattr_np != NULL && pthread_getattr_np(pthread_self(), &attr) == 0) {
        (void)pthread_attr_getstack(&attr, &low, &bytes);
        (void)pthread_attr_destroy(&attr);
        stack.end = (uintptr_t)low + bytes;
        stack.low = stack.end - (bytes < STACK_MOST ? bytes : STACK_MOST);
    }
    return stack;
}

/* Asks once a thread, since it may allocate. A handler's stack, and that of a coroutine, is not the thread's own. */
static void stack_ask(struct backtrace_thread *thread, uintptr_t here)
{
    struct trail_stack first = stack_first();
    if (stack_has(&first, here)) {
        thread->stack = first;
    } else if (is_asking()) {
        return;
    } else {
        thread->stack = stack_pthread();
    }
    thread->asked = true;
}

/* ---- libgcc ------------------------------------------------------------------------------------------------------ */

struct gcc_walk {
    struct backtrace         *bt;
    const struct trail_stack *stack;
    const struct trail       *old;
    struct trail             *new;
    uint32_t                  next;             /* the first frame of the old trail that may be met */
};

/* Goes on as the old trail does from frame i on. Returns false where that would end too early. */
static bool gcc_join(struct gcc_walk *w, uint32_t i, bool interrupted)
{
    uint32_t more = w->old->count - i, room = depth_max - w->bt->depth;
    if (w->old->cut && more < room) {
        return false;
    }
    for (uint32_t k = 0; k < more && w->bt->depth < depth_max && w->new->count < TRAIL_MAX; k++) {
        add(w->bt, w->old->frame[i + k].ip);
        trail_add(w->new, w->stack, w->old->frame[i + k], interrupted && k == 0);
    }
    w->new->cut = w->old->cut || w->bt->depth == depth_max;
    return true;
}

static _Unwind_Reason_Code gcc_frame(struct _Unwind_Context *context, void *arg)
{
    struct gcc_walk   *w = arg;
    int                interrupted = 0;
    struct trail_frame f = {.ip = gcc_ip(context, &interrupted)};
    if (f.ip == 0 || w->bt->depth == depth_max || w->new->count == TRAIL_MAX) {
        w->new->cut = f.ip != 0;
        return _URC_END_OF_STACK;
    }
    f.sp = gcc_cfa(context);
    f.fp = gcc_gr(context, FRAME_REGISTER);
    while (w->next < w->old->count && w->old->frame[w->next].sp < f.sp) {
        w->next++;
    }
    if (w->next < w->old->count && trail_meets(w->old, w->next, f) && gcc_join(w, w->next, interrupted != 0)) {
        return _URC_END_OF_STACK;
    }
    add(w->bt, f.ip);
    trail_add(w->new, w->stack, f, interrupted != 0);
    return _URC_NO_REASON;
}

/* Without a memory. */
static _Unwind_Reason_Code gcc_frame_only(struct _Unwind_Context *context, void *arg)
{
    struct backtrace *bt = ((const struct gcc_walk *)arg)->bt;
    int               interrupted = 0;
    uintptr_t         ip = gcc_ip(context, &interrupted);
    if (ip == 0 || bt->depth == depth_max) {
        return _URC_END_OF_STACK;
    }
    add(bt, ip);
    return _URC_NO_REASON;
}

/* Returns whether there is a trail to meet, or to leave for the next walk. A thread that samples once asks for nothing. */
static bool gcc_remembers(struct backtrace_thread *thread, uintptr_t here)
{
    if (!TRAIL_SERVES || thread->trail == NULL) {
        return false;
    }
    if (!thread->asked && thread->walked) {
        stack_ask(thread, here);
    }
    thread->walked = true;
    return stack_has(&thread->stack, here);
}

/* Returns whether the caller's frame is the one that it was in the last walk, with all that called it. Frame 0 of a trail is the walker's
 * own. */
static bool gcc_again(const struct trail *last, const uintptr_t *frame)
{
    struct trail_frame caller = {.sp = (uintptr_t)(frame + 2), .ip = frame[1], .fp = frame[0]};
    return last->count > 1 && trail_meets(last, 1, caller);
}

/* The unwinder is called at one place, since in a static program this frame stands in the stacks as well. */
static __attribute__((noinline)) void walk_gcc(struct backtrace *bt, struct backtrace_thread *thread)
{
    bool               remembers = gcc_remembers(thread, (uintptr_t)__builtin_frame_address(0));
    const struct trail *last = remembers ? &thread->trail[thread->last] : NULL;
    if (remembers && gcc_again(last, __builtin_frame_address(0))) {
        for (uint32_t i = 0; i < last->count && bt->depth < depth_max; i++) {
            add(bt, last->frame[i].ip);
        }
        return;
    }
    struct gcc_walk w = {.bt = bt, .stack = &thread->stack, .old = last};
    if (remembers) {
        thread->last = 1 - thread->last;
        w.new = &thread->trail[thread->last];
        w.new->count = w.new->first = 0;
    }
    (void)gcc_backtrace(remembers ? gcc_frame : gcc_frame_only, &w);
}

/* ---- libunwind --------------------------------------------------------------------------------------------------- */

static void walk_unw(struct backtrace *bt, struct backtrace_thread *thread)
{
    void *frame[BACKTRACE_MAX + BACKTRACE_OWN];
    int   n = unw_backtrace(frame, (int)(depth_max + BACKTRACE_OWN));
    (void)thread;
    for (int i = 0; i < n && bt->depth < depth_max; i++) {
        add(bt, (uintptr_t)frame[i]);
    }
}

/* ---- frame pointers ---------------------------------------------------------------------------------------------- */

struct start {
    uintptr_t ip;
    uintptr_t frame;
};

/* Stops at the first frame that is not the library's own. The library is built without frame pointers, so its own frames are left
 * behind with the tables. */
static _Unwind_Reason_Code start_frame(struct _Unwind_Context *context, void *arg)
{
    struct start *s = arg;
    int           interrupted = 0;
    s->ip = gcc_ip(context, &interrupted);
    if (s->ip != 0 && frame_is_own(s->ip)) {
        return _URC_NO_REASON;
    }
    s->frame = gcc_gr(context, FRAME_REGISTER);
    return _URC_END_OF_STACK;
}

static struct start walk_start(void)
{
    struct start s = {(uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0)};
    if (gcc_backtrace != NULL) {
        (void)gcc_backtrace(start_frame, &s);
    }
    return s;
}

/* What looks like a frame pointer may be anything. On the thread's own stack all that is above this frame can be read. On another one only the
 * caller is known. */
static void walk_fp(struct backtrace *bt, struct backtrace_thread *thread)
{
    uintptr_t least = (uintptr_t)__builtin_frame_address(0);
    if (!thread->asked) {
        stack_ask(thread, least);
    }
    struct start s = walk_start();
    bool         reads = stack_has(&thread->stack, least);
    while (s.ip > PAGE && bt->depth < depth_max) {
        bt->frame[bt->depth++] = s.ip;
        if (!reads || s.frame < least || s.frame % sizeof(uintptr_t) != 0 || s.frame > thread->stack.end - 2 * sizeof(uintptr_t)) {
            return;
        }
        least = s.frame + 1;
        s.ip = ((const uintptr_t *)s.frame)[1];
        s.frame = ((const uintptr_t *)s.frame)[0];
    }
}

/* ---- the interface ----------------------------------------------------------------------------------------------- */

/* What the program is linked with, or what the library of that name has. A program that names dlopen is warned of it where it is linked
 * statically, so dlopen is looked for by name: a static program has none. */
static void *find(const char *library, const char *name, void *linked)
{
    if (linked != NULL || dlsym == NULL) {
        return linked;
    }
    void *(*open_library)(const char *, int) = (void *(*)(const char *, int))(uintptr_t)dlsym(RTLD_DEFAULT, "dlopen");
    if (open_library == NULL) {
        return NULL;
    }
    void *handle = open_library(library, RTLD_NOW | RTLD_LOCAL);
    return handle == NULL ? NULL : dlsym(handle, name);
}

static void find_gcc(void)
{
    gcc_ip = (gcc_ip_t)(uintptr_t)find(GCC, "_Unwind_GetIPInfo", (void *)(uintptr_t)_Unwind_GetIPInfo);
    gcc_gr = (gcc_gr_t)(uintptr_t)find(GCC, "_Unwind_GetGR", (void *)(uintptr_t)_Unwind_GetGR);
    gcc_cfa = (gcc_cfa_t)(uintptr_t)find(GCC, "_Unwind_GetCFA", (void *)(uintptr_t)_Unwind_GetCFA);
    gcc_backtrace = gcc_ip == NULL || gcc_gr == NULL || gcc_cfa == NULL ? NULL
        : (gcc_backtrace_t)(uintptr_t)find(GCC, "_Unwind_Backtrace", (void *)(uintptr_t)_Unwind_Backtrace);
}

/* Where the library is part of the program's own file, its code cannot be told from the program's. */
static bool own_file(void)
{
    const ElfW(Ehdr) *e = (const ElfW(Ehdr) *)__ehdr_start;
    return (uintptr_t)__ehdr_start + e->e_phoff != getauxval(AT_PHDR);
}

static void say(const char *a, const char *b, const char *c)
{
    os_write_error(a, strlen(a));
    os_write_error(b, strlen(b));
    os_write_error(c, strlen(c));
}

const char *backtrace_start(const char *wanted, uint32_t depth)
{
    const char *serves = "fp";
    depth_max = depth < BACKTRACE_MAX ? depth : BACKTRACE_MAX;
    own = own_file();
    find_gcc();
    walk = walk_fp;
    if (strcmp(wanted, "libunwind") == 0) {
        unw_backtrace = (unw_backtrace_t)(uintptr_t)find(UNWIND, "unw_backtrace", NULL);
    }
    if (unw_backtrace != NULL) {
        serves = wanted;
        walk = walk_unw;
    } else if (strcmp(wanted, "fp") != 0 && gcc_backtrace != NULL) {
        serves = "libgcc";
        walk = walk_gcc;
    }
    name = serves;
    return serves;
}

/* The library's start is called by the loader, which tells little of the program. So the first samples are looked at. */
static void check(const struct backtrace *bt)
{
    if (bt->depth >= SHALLOW) {
        ATOMIC_STORE(shallow_left, 0);
    } else if (ATOMIC_LOAD(shallow_left) > 0 && __atomic_sub_fetch(&shallow_left, 1, __ATOMIC_RELAXED) == 0) {
        say("qedmalloc: heap profiles will tell little: stacks end after one frame with prof_backtrace:", name, "\n");
    }
}

__attribute__((noinline)) void backtrace_take(struct backtrace *bt, struct backtrace_thread *thread)
{
    bt->depth = 0;
    walk(bt, thread);
    check(bt);
}
