/* eacsl_libc: the C library as checked harnesses see it: Frama-C's own headers carry contracts that E-ACSL chokes on. */
#ifndef EACSL_LIBC_H
#define EACSL_LIBC_H

#include <stddef.h>

typedef struct eacsl_file FILE;
extern FILE *stdout, *stderr;

int   printf(const char *format, ...);
int   fprintf(FILE *f, const char *format, ...);
int   fflush(FILE *f);
void  abort(void);
void  exit(int status);
void *malloc(size_t bytes);
void *calloc(size_t count, size_t bytes);
void  free(void *p);
void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int   memcmp(const void *a, const void *b, size_t bytes);

#endif
