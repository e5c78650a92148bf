/* eacsl: what every file with checks sees first: the copies that functions keep of memory as it was before the call, and
 * the compiler's builtins, which Frama-C does not know. */
#ifndef EACSL_H
#define EACSL_H

#define EACSL_EXTENT_MAX 262144UL                /* elements that a pointer parameter leads to */

void eacsl_copy(void *to, const void *from, unsigned long bytes);

int __builtin_ctzl(unsigned long w);
int __builtin_clzl(unsigned long w);
int __builtin_popcountl(unsigned long w);

#endif
