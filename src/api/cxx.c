/* cxx: the C++ operators new and delete under their mangled names (Itanium ABI), in C, so that a C program that preloads
 * the library does not load the C++ runtime. The two functions of the runtime that are needed when memory is short are weak, because
 * a program that uses the operators has them. In the static library these operators are a member of their own, which only a C++
 * program pulls in. There (QED_STATIC_CXX) the references are ordinary ones.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "api/export.h"

#include "qedmalloc/qedmalloc.h"

#ifdef QED_STATIC_CXX
#define RUNTIME
#else
#define RUNTIME __attribute__((weak))
#endif

typedef void (*new_handler)(void);

extern new_handler    cxx_get_new_handler(void) __asm__("_ZSt15get_new_handlerv") RUNTIME;
extern _Noreturn void cxx_throw_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv") RUNTIME;

bool cxx_catch(new_handler handler);        /* cxx_catch.cc */

/* Returns the linked function, or the one by that name in a runtime that was opened after this library. */
static void *cxx_find(void *linked, const char *name)
{
    return linked != NULL ? linked : dlsym(RTLD_DEFAULT, name);
}

/* Returns the program's handler, or NULL if it has none. By [new.delete.single] it is called until it frees memory, throws or is gone. */
static new_handler cxx_handler(void)
{
    new_handler (*get)(void) = (new_handler(*)(void))cxx_find((void *)cxx_get_new_handler, "_ZSt15get_new_handlerv");
    return get == NULL ? NULL : get();
}

static void *cxx_alloc(size_t size, size_t alignment)
{
    return alignment == 0 ? qed_malloc(size) : qed_aligned_alloc(alignment, size);
}

static void *cxx_new(size_t size, size_t alignment)
{
    void *block = cxx_alloc(size, alignment);
    for (new_handler h; block == NULL && (h = cxx_handler()) != NULL;) {
        h();
        block = cxx_alloc(size, alignment);
    }
    if (block == NULL) {
        void (*throw_bad_alloc)(void) = (void (*)(void))cxx_find((void *)cxx_throw_bad_alloc, "_ZSt17__throw_bad_allocv");
        if (throw_bad_alloc == NULL) {
            abort();                        /* without a C++ runtime nobody could catch */
        }
        throw_bad_alloc();
    }
    return block;
}

/* Returns NULL where the handler throws or there is none. */
static void *cxx_new_nothrow(size_t size, size_t alignment)
{
    void *block = cxx_alloc(size, alignment);
    for (new_handler h; block == NULL && (h = cxx_handler()) != NULL && cxx_catch(h);) {
        block = cxx_alloc(size, alignment);
    }
    return block;
}

#define NEW(name, parameters, body) PUBLIC void *name parameters; PUBLIC void *name parameters { return body; }
#define DELETE(name, parameters, body) PUBLIC void name parameters; PUBLIC void name parameters { body; }

NEW(_Znwm, (size_t n), cxx_new(n, 0))
NEW(_Znam, (size_t n), cxx_new(n, 0))
NEW(_ZnwmRKSt9nothrow_t, (size_t n, const void *tag), ((void)tag, cxx_new_nothrow(n, 0)))
NEW(_ZnamRKSt9nothrow_t, (size_t n, const void *tag), ((void)tag, cxx_new_nothrow(n, 0)))
NEW(_ZnwmSt11align_val_t, (size_t n, size_t a), cxx_new(n, a))
NEW(_ZnamSt11align_val_t, (size_t n, size_t a), cxx_new(n, a))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t n, size_t a, const void *tag), ((void)tag, cxx_new_nothrow(n, a)))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t n, size_t a, const void *tag), ((void)tag, cxx_new_nothrow(n, a)))

DELETE(_ZdlPv, (void *p), qed_free(p))
DELETE(_ZdaPv, (void *p), qed_free(p))
DELETE(_ZdlPvRKSt9nothrow_t, (void *p, const void *tag), (void)tag; qed_free(p))
DELETE(_ZdaPvRKSt9nothrow_t, (void *p, const void *tag), (void)tag; qed_free(p))
DELETE(_ZdlPvm, (void *p, size_t n), qed_free_sized(p, n))
DELETE(_ZdaPvm, (void *p, size_t n), qed_free_sized(p, n))
DELETE(_ZdlPvSt11align_val_t, (void *p, size_t a), (void)a; qed_free(p))
DELETE(_ZdaPvSt11align_val_t, (void *p, size_t a), (void)a; qed_free(p))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t a, const void *tag), (void)a; (void)tag; qed_free(p))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t a, const void *tag), (void)a; (void)tag; qed_free(p))
DELETE(_ZdlPvmSt11align_val_t, (void *p, size_t n, size_t a), qed_free_aligned_sized(p, a, n))
DELETE(_ZdaPvmSt11align_val_t, (void *p, size_t n, size_t a), qed_free_aligned_sized(p, a, n))
