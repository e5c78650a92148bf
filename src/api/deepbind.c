/* deepbind: a library of its own, to preload beside libqedmalloc.so for programs that open plugins with RTLD_DEEPBIND (PHP does).
 *
 * Such a plugin looks for free in its own libraries before the program's, finds the C library's, and gives it our blocks. Here
 * dlopen takes the flag away: plugins find what the program finds.
 */
#include <dlfcn.h>

#include "api/export.h"

#ifndef RTLD_DEEPBIND   /* musl has no such flag; there nothing is taken away */
#define RTLD_DEEPBIND 0
#endif

PUBLIC void *dlopen(const char *file, int mode)
{
    void *(*next)(const char *, int);
    *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    return next(file, mode & ~RTLD_DEEPBIND);   /* a jump: the C library searches the RUNPATH of the object that called us */
}
