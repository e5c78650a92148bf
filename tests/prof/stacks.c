/* Stacks on which a walker must not read beyond what is mapped. The library is preloaded, and samples.
 *
 * usage: stacks overflow|coroutines|register|noproc|attributes
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define KIB 1024UL

static __attribute__((noinline)) void churn(int turns)
{
    for (int i = 0; i < turns; i++) {
        void *volatile p = malloc((size_t)(64 + i % 100));
        free(p);
    }
    __asm__ volatile("" ::: "memory");
}

/* ---- a stack that is full ---------------------------------------------------------------------------------------- */

static sigjmp_buf            back;
static volatile sig_atomic_t handling;

static void handler(int number)
{
    (void)number;
    if (handling) {
        _exit(3);
    }
    handling = 1;
    churn(500);
    handling = 0;
    siglongjmp(back, 1);
}

static __attribute__((noinline)) int deeper(int n)
{
    volatile char room[4096 - 48];
    room[0] = 1;
    return n < 0 ? 0 : deeper(n + 1) + room[0];
}

/* The handler has a stack of its own. The stack pointer of what it interrupted lies in the guard page. */
static void *overflow(void *arg)
{
    stack_t          stack = {.ss_sp = malloc(128 * KIB), .ss_size = 128 * KIB};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    churn(2000);
    for (volatile int i = 0; i < 4; i++) {
        if (!sigsetjmp(back, 1)) {
            deeper(0);
        }
        churn(500);
    }
    return arg;
}

/* ---- coroutines -------------------------------------------------------------------------------------------------- */

static ucontext_t outside, inside;
static char      *place;
static size_t     room_bytes;

static __attribute__((noinline)) void wide(size_t bytes)
{
    volatile char *room = __builtin_alloca(bytes);
    room[0] = 1;
    churn(5000);
    room[0] = 2;
}

static void wide_coroutine(void)
{
    wide(room_bytes);
}

static void coroutine(void (*f)(void), size_t stack_bytes)
{
    char *stack = mmap(place, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = stack_bytes;
    inside.uc_link = &outside;
    makecontext(&inside, f, 0);
    swapcontext(&outside, &inside);
    (void)mmap(place, stack_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void place_find(void)
{
    place = mmap(NULL, 1024 * KIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* A stack begins where a larger one was, and its innermost frames stand at the same places. */
static void *coroutines(void *arg)
{
    place_find();
    for (int i = 0; i < 6; i++) {
        size_t more = i % 2 == 0 ? 128 * KIB : 0;
        room_bytes = more + KIB;
        coroutine(wide_coroutine, 128 * KIB + more);
    }
    churn(500);
    return arg;
}

/* ---- a frame pointer's register that is none ----------------------------------------------------------------------- */

#if defined(__x86_64__)
void *malloc_with(size_t bytes, uintptr_t value);
__asm__(".text\n.type malloc_with, @function\nmalloc_with:\n.cfi_startproc\n"
        "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\n"
        "mov %rsi, %rbp\ncall malloc@PLT\n"
        "pop %rbp\n.cfi_def_cfa_offset 8\n.cfi_restore 6\nret\n.cfi_endproc\n.size malloc_with, . - malloc_with\n");
#else
static void *malloc_with(size_t bytes, uintptr_t value)
{
    (void)value;
    return malloc(bytes);
}
#endif

static void with_each(uintptr_t first)
{
    const uintptr_t value[] = {first, (uintptr_t)&first - 4 * KIB, 8, UINTPTR_MAX - 7, 0x7fffffffff00};
    for (size_t i = 0; i < sizeof value / sizeof *value; i++) {
        for (int k = 0; k < 5000; k++) {
            free(malloc_with(64, value[i]));
        }
    }
}

static void register_coroutine(void)
{
    with_each((uintptr_t)place + 512 * KIB + 64);           /* the pages above the stack */
}

static void *registers(void *arg)
{
    place_find();
    with_each(64);
    coroutine(register_coroutine, 512 * KIB);
    with_each(64);
    return arg;
}

/* ---- what the walker may ask ------------------------------------------------------------------------------------- */

static void *noproc(void *arg)
{
    if (chroot(".") != 0 && (unshare(CLONE_NEWUSER) != 0 || chroot(".") != 0)) {
        puts("stacks noproc: left out, nobody may change the root here");
        return arg;
    }
    return registers(arg);
}

/* The C library allocates while it holds a lock of the thread. */
static void *attributes(void *arg)
{
    pthread_attr_t a;
    for (int i = 0; i < 10; i++) {
        if (pthread_getattr_np(pthread_self(), &a) == 0) {
            pthread_attr_destroy(&a);
        }
    }
    churn(100);
    return arg;
}

static const struct {
    const char *name;
    void     *(*f)(void *);
} tests[] = {{"overflow", overflow}, {"coroutines", coroutines}, {"register", registers}, {"noproc", noproc}, {"attributes", attributes}};

/* In the first thread, whose stack grows, and in another one. */
int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        if (argc > 1 && strcmp(argv[1], tests[i].name) == 0) {
            pthread_t thread;
            (void)tests[i].f(NULL);
            if (pthread_create(&thread, NULL, tests[i].f, NULL) == 0) {
                pthread_join(thread, NULL);
            }
            printf("stacks %s\n", tests[i].name);
            return 0;
        }
    }
    return 2;
}
