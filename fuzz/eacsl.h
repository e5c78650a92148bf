/* eacsl: what every file with checks sees first: the copies that functions keep of memory as it was before the call, and
 * the compiler's builtins, which Frama-C does not know. */
#ifndef EACSL_H
#define EACSL_H

#define EACSL_EXTENT_MAX 262144UL                /* elements that a pointer parameter leads to */

void eacsl_copy(void *to, const void *from, unsigned long bytes);

int __builtin_ctzl(unsigned long w);
int __builtin_clzl(unsigned long w);
int __builtin_popcountl(unsigned long w);

/* The harnesses with checks have one thread. */
static inline unsigned long eacsl_fetch_or(unsigned long *word, unsigned long mask)
{
    unsigned long old = *word;
    *word = old | mask;
    return old;
}

static inline unsigned long eacsl_fetch_and(unsigned long *word, unsigned long mask)
{
    unsigned long old = *word;
    *word = old & mask;
    return old;
}

#define __atomic_load_n(word, order) (*(word))
#define __atomic_fetch_or(word, mask, order) eacsl_fetch_or(word, mask)
#define __atomic_fetch_and(word, mask, order) eacsl_fetch_and(word, mask)

#endif
