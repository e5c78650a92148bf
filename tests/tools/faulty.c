/* faulty: a program that makes one fault with a block, by its name on the command line, or none. Compiled with PREFIX it calls the functions
 * that have the prefix. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qedmalloc/qedmalloc.h"

#ifndef PREFIX
#define qed_malloc         malloc
#define qed_calloc         calloc
#define qed_realloc        realloc
#define qed_free           free
#define qed_aligned_alloc  aligned_alloc
#define qed_posix_memalign posix_memalign
#define qed_malloc_usable_size malloc_usable_size
#endif

static volatile unsigned char seen;     /* so that a read is one */

static int is(const char *name, const char *wanted)
{
    return strcmp(name, wanted) == 0;
}

static int wrong(const char *what)
{
    printf("wrong: %s\n", what);
    return 3;
}

/* Everything that is allowed, for sizes of all kinds; each block is written and read as a whole. */
static int correct(void)
{
    for (size_t n = 0; n < 300000; n = n < 300 ? n + 1 : n * 9 / 8) {
        void          *aligned;
        unsigned char *p = qed_malloc(n), *z = qed_calloc(n, 1), *a = qed_aligned_alloc(256, n);
        if (p == NULL || z == NULL || a == NULL || (uintptr_t)a % 256 != 0
            || qed_posix_memalign(&aligned, 8192, n) != 0 || (uintptr_t)aligned % 8192 != 0) {
            return wrong("no block, or not aligned");
        }
        memset(p, 1, qed_malloc_usable_size(p));
        memset(a, 2, n);
        memset(aligned, 3, n);
        for (size_t i = 0; i < n; i++) {
            if (z[i] != 0) {
                return wrong("calloc");
            }
        }
        p = qed_realloc(p, n + 100);
        for (size_t i = 0; i < n; i++) {
            if (p[i] != 1) {
                return wrong("realloc");
            }
        }
        memset(p, 4, n + 100);
        p = qed_realloc(p, n / 2 + 1);
        if (p[n / 2] != 4) {
            return wrong("realloc to fewer");
        }
        qed_free(p);
        qed_free(z);
        qed_free(a);
        qed_free(aligned);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char    *fault = argc > 1 ? argv[1] : "none";
    size_t         n = argc > 2 ? (size_t)atoi(argv[2]) : 100;
    int            two = is(fault, "write_further") || is(fault, "write_before");      /* else a report could name the neighbour */
    unsigned char *p = qed_malloc(n), *q = two ? qed_malloc(n) : NULL, *volatile old = p;
    if (p == NULL || (two && q == NULL)) {
        return 3;
    }
    memset(p, 1, n);
    if (two) {
        memset(q, 1, n);
    }
    if (is(fault, "read_after_free")) {
        qed_free(p);
        seen = old[n / 2];
    } else if (is(fault, "write_after_free")) {
        qed_free(p);
        old[0] = 1;
    } else if (is(fault, "read_past")) {
        seen = old[n];
    } else if (is(fault, "write_past")) {
        old[n] = 1;
    } else if (is(fault, "write_further")) {
        (p < q ? q : p)[n + 15] = 1;                /* where the red zone of no neighbour begins */
    } else if (is(fault, "write_before")) {
        (p < q ? q : p)[-1] = 1;                    /* behind the other block */
    } else if (is(fault, "read_after_realloc")) {
        p = qed_realloc(p, n);
        seen = old[0];
    } else if (is(fault, "uninitialised")) {
        unsigned char *fresh = qed_malloc(n);
        printf("%s\n", fresh[n / 2] == 7 ? "seven" : "not seven");
    } else {
        int status = correct();
        qed_free(p);
        qed_free(q);
        return status;
    }
    return 0;
}
