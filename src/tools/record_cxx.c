/* record_cxx: the C++ operators of the recorder. An allocator may bring operators that do not pass through its malloc.
 * These do, so that record.c sees them. One that finds no memory leaves the rest (handler, exception) to the operator
 * below. A program without C++ pays nothing: the names are never looked up.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

typedef const void *nothrow;    /* std::nothrow_t const & */

static void *aligned(size_t bytes, size_t alignment)
{
    void *p = NULL;
    return posix_memalign(&p, alignment < sizeof p ? sizeof p : alignment, bytes) == 0 ? p : NULL;
}

#define OPERATOR_NEW(function, name, take, parameters, ...)                \
    EXPORT void *function parameters __asm__(name);                        \
    EXPORT void *function parameters                                       \
    {                                                                      \
        void *p = take, *(*below)parameters;                               \
        if (p == NULL) {                                                   \
            *(void **)&below = dlsym(RTLD_NEXT, name);                     \
            p = below(__VA_ARGS__);                                        \
        }                                                                  \
        return p;                                                          \
    }

OPERATOR_NEW(new_1, "_Znwm", malloc(n), (size_t n), n)
OPERATOR_NEW(new_2, "_Znam", malloc(n), (size_t n), n)
OPERATOR_NEW(new_3, "_ZnwmRKSt9nothrow_t", malloc(n), (size_t n, nothrow t), n, t)
OPERATOR_NEW(new_4, "_ZnamRKSt9nothrow_t", malloc(n), (size_t n, nothrow t), n, t)
OPERATOR_NEW(new_5, "_ZnwmSt11align_val_t", aligned(n, a), (size_t n, size_t a), n, a)
OPERATOR_NEW(new_6, "_ZnamSt11align_val_t", aligned(n, a), (size_t n, size_t a), n, a)
OPERATOR_NEW(new_7, "_ZnwmSt11align_val_tRKSt9nothrow_t", aligned(n, a), (size_t n, size_t a, nothrow t), n, a, t)
OPERATOR_NEW(new_8, "_ZnamSt11align_val_tRKSt9nothrow_t", aligned(n, a), (size_t n, size_t a, nothrow t), n, a, t)

/* What a delete is told beside the block is in registers that nobody reads. */
#define OPERATOR_DELETE(function, name)          \
    EXPORT void function(void *block) __asm__(name); \
    EXPORT void function(void *block)            \
    {                                            \
        free(block);                             \
    }

OPERATOR_DELETE(delete_1, "_ZdlPv")
OPERATOR_DELETE(delete_2, "_ZdaPv")
OPERATOR_DELETE(delete_3, "_ZdlPvm")
OPERATOR_DELETE(delete_4, "_ZdaPvm")
OPERATOR_DELETE(delete_5, "_ZdlPvRKSt9nothrow_t")
OPERATOR_DELETE(delete_6, "_ZdaPvRKSt9nothrow_t")
OPERATOR_DELETE(delete_7, "_ZdlPvSt11align_val_t")
OPERATOR_DELETE(delete_8, "_ZdaPvSt11align_val_t")
OPERATOR_DELETE(delete_9, "_ZdlPvSt11align_val_tRKSt9nothrow_t")
OPERATOR_DELETE(delete_10, "_ZdaPvSt11align_val_tRKSt9nothrow_t")
OPERATOR_DELETE(delete_11, "_ZdlPvmSt11align_val_t")
OPERATOR_DELETE(delete_12, "_ZdaPvmSt11align_val_t")
