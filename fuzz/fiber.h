/* fiber: threads of the harness that take turns in one thread of the OS. A switch is a call of fiber_switch. */
#ifndef FUZZ_FIBER_H
#define FUZZ_FIBER_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)

struct fiber {
    void *sp;
};

/* Saves what a call may not change on this stack, and goes on with what the other stack has saved. */
void fiber_swap(void **from, void *to);
__asm__(".text\n.p2align 4\n.globl fiber_swap\n.type fiber_swap, @function\nfiber_swap:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
        ".size fiber_swap, . - fiber_swap\n");

static inline void fiber_make(struct fiber *f, char *stack, size_t bytes, void (*start)(void))
{
    void **top = (void **)(stack + bytes) - 1;          /* a function begins 8 bytes below a multiple of 16 */
    *top-- = NULL;                                      /* where it would return to; it does not */
    *top-- = (void *)(uintptr_t)start;
    f->sp = top - 5;
}

static inline void fiber_switch(struct fiber *from, struct fiber *to)
{
    fiber_swap(&from->sp, to->sp);
}

/* Returns the lowest address in use of a fiber's stack, while the fiber does not run. */
static inline char *fiber_top(const struct fiber *f, char *stack)
{
    (void)stack;
    return f->sp;
}

#else

#include <ucontext.h>

struct fiber {
    ucontext_t context;
};

static inline void fiber_make(struct fiber *f, char *stack, size_t bytes, void (*start)(void))
{
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = stack;
    f->context.uc_stack.ss_size = bytes;
    makecontext(&f->context, start, 0);
}

static inline void fiber_switch(struct fiber *from, struct fiber *to)
{
    swapcontext(&from->context, &to->context);
}

/* The context has the address in a place that differs by machine, so this is the whole stack. */
static inline char *fiber_top(const struct fiber *f, char *stack)
{
    (void)f;
    return stack;
}

#endif

#endif
