/* hints: what the compiler is told so that hits are short and few pages are in use. A hint changes no value, so the proofs see none of it. */
#ifndef QED_PLATFORM_HINTS_H
#define QED_PLATFORM_HINTS_H

/* Whether x holds, which it does nearly always. */
#define LIKELY(x) __builtin_expect(!!(x), 1)

/* Has the variable x, which the function is about to return, in the register for results from here on. Else gcc keeps the address of a structure
 * there that it has needed before, and copies x at the end. */
#ifdef __FRAMAC__
#define AS_RESULT(x) ((void)0)
#else
#if defined __x86_64__
#define AS_RESULT(x) __asm__("" : "+a"(x))
#else
#define AS_RESULT(x) ((void)0)
#endif
#endif

/* A table of some pages or more. The linker puts what is aligned so before all other variables (build.mk), and the others share few pages. */
#ifdef __FRAMAC__
#define LONG_TABLE
#else
#define LONG_TABLE __attribute__((aligned(64)))
#endif

#endif
