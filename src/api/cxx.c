/* cxx: the C++ operators new and delete under their mangled names (Itanium ABI), in C, so that a C program that preloads
 * the library does not load the C++ runtime. The two functions of the runtime that are needed when memory is short are weak, because
 * a program that uses the operators has them. In the static library these operators are a member of their own, which only a C++
 * program pulls in. There (QED_STATIC_CXX) the references are ordinary ones.
 *
 * In the shared library the fast paths of malloc and free are part of the operators. In the static one they are calls, since the thread's
 * cache is internal to its other member, and in the debug library (QED_CXX_CALLS) too, whose malloc and free are annotated. Operators
 * that do the same are one function with several names.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "api/export.h"
#include "api/thread.h"
#include "platform/hints.h"
#include "tcache/tcache.h"

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

/* ---- fast paths -------------------------------------------------------------------------------------------------- */

#if defined QED_STATIC_CXX || defined QED_CXX_CALLS
#define cxx_pop(size) NULL
#define cxx_push(block) false
#define cxx_push_sized(block, size) false
#else
/* Returns a block for so many bytes from the thread's cache, or NULL if it has none ready. */
static inline void *cxx_pop(size_t size)
{
    return (void *)tcache_take(thread_cache, size);
}

static inline bool cxx_push(void *block)
{
    return tcache_push(thread_cache, (uint64_t)block);
}

static inline bool cxx_push_sized(void *block, size_t size)
{
    return size <= SC_LOOKUP_MAX && tcache_push_sized(thread_cache, (uint64_t)block, size);
}
#endif

/* ---- slow paths -------------------------------------------------------------------------------------------------- */

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

static __attribute__((noinline)) void *cxx_new(size_t size, size_t alignment)
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
static __attribute__((noinline)) void *cxx_new_nothrow(size_t size, size_t alignment)
{
    void *block = cxx_alloc(size, alignment);
    for (new_handler h; block == NULL && (h = cxx_handler()) != NULL && cxx_catch(h);) {
        block = cxx_alloc(size, alignment);
    }
    return block;
}

/* ---- the operators ----------------------------------------------------------------------------------------------- */

#define OPERATOR(result, name, parameters) PUBLIC result name parameters; PUBLIC result name parameters
#define SAME(result, name, parameters, as) PUBLIC result name parameters __attribute__((alias(#as)))

OPERATOR(void *, _Znwm, (size_t n))
{
    void *block = cxx_pop(n);
    return LIKELY(block != NULL) ? block : cxx_new(n, 0);
}

OPERATOR(void *, _ZnwmRKSt9nothrow_t, (size_t n, const void *tag))
{
    (void)tag;
    void *block = cxx_pop(n);
    return LIKELY(block != NULL) ? block : cxx_new_nothrow(n, 0);
}

OPERATOR(void *, _ZnwmSt11align_val_t, (size_t n, size_t a))
{
    return cxx_new(n, a);
}

OPERATOR(void *, _ZnwmSt11align_val_tRKSt9nothrow_t, (size_t n, size_t a, const void *tag))
{
    (void)tag;
    return cxx_new_nothrow(n, a);
}

OPERATOR(void, _ZdlPv, (void *p))
{
    if (!LIKELY(cxx_push(p))) {
        qed_free(p);
    }
}

OPERATOR(void, _ZdlPvm, (void *p, size_t n))
{
    if (!LIKELY(cxx_push_sized(p, n))) {
        qed_free_sized(p, n);
    }
}

OPERATOR(void, _ZdlPvmSt11align_val_t, (void *p, size_t n, size_t a))
{
    qed_free_aligned_sized(p, a, n);
}

SAME(void *, _Znam, (size_t n), _Znwm);
SAME(void *, _ZnamRKSt9nothrow_t, (size_t n, const void *tag), _ZnwmRKSt9nothrow_t);
SAME(void *, _ZnamSt11align_val_t, (size_t n, size_t a), _ZnwmSt11align_val_t);
SAME(void *, _ZnamSt11align_val_tRKSt9nothrow_t, (size_t n, size_t a, const void *tag), _ZnwmSt11align_val_tRKSt9nothrow_t);

/* Without a size all of them do the same. The further arguments stay unread. */
SAME(void, _ZdaPv, (void *p), _ZdlPv);
SAME(void, _ZdlPvRKSt9nothrow_t, (void *p), _ZdlPv);
SAME(void, _ZdaPvRKSt9nothrow_t, (void *p), _ZdlPv);
SAME(void, _ZdlPvSt11align_val_t, (void *p), _ZdlPv);
SAME(void, _ZdaPvSt11align_val_t, (void *p), _ZdlPv);
SAME(void, _ZdlPvSt11align_val_tRKSt9nothrow_t, (void *p), _ZdlPv);
SAME(void, _ZdaPvSt11align_val_tRKSt9nothrow_t, (void *p), _ZdlPv);
SAME(void, _ZdaPvm, (void *p, size_t n), _ZdlPvm);
SAME(void, _ZdaPvmSt11align_val_t, (void *p, size_t n, size_t a), _ZdlPvmSt11align_val_t);
