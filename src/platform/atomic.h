/* atomic: accesses to variables that several threads use without a common lock.
 *
 * The macros take an lvalue, which is a file-scope variable or an array element. The proofs see a plain access to it,
 * as if there were only one thread. What other threads may do in between is not in the contracts.
 */
#ifndef QED_PLATFORM_ATOMIC_H
#define QED_PLATFORM_ATOMIC_H

#ifdef __FRAMAC__
#define ATOMIC_LOAD(x) (x)
#define ATOMIC_LOAD_ACQUIRE(x) (x)
#define ATOMIC_STORE(x, v) ((x) = (v))
#define ATOMIC_STORE_RELEASE(x, v) ((x) = (v))
#define ATOMIC_ADD(x, n) ((x) = (x) <= UINT64_MAX - (n) ? (x) + (n) : (x) - (UINT64_MAX - (n)) - 1)     /* modulo 2^64 */
#define ATOMIC_SUB(x, n) ((x) = (x) - (n))
#define ATOMIC_REPLACE(x, old, new) ((x) == (old) ? ((x) = (new), true) : false)     /* true if x was old, and is new now */
#else
#define ATOMIC_LOAD(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define ATOMIC_LOAD_ACQUIRE(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define ATOMIC_STORE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define ATOMIC_STORE_RELEASE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)
#define ATOMIC_ADD(x, n) ((void)__atomic_fetch_add(&(x), (n), __ATOMIC_RELAXED))
#define ATOMIC_SUB(x, n) ((void)__atomic_fetch_sub(&(x), (n), __ATOMIC_RELAXED))
#define ATOMIC_REPLACE(x, old, new) __extension__({                                                        \
    __typeof__(x) atomic_old = (old);                                                                      \
    __atomic_compare_exchange_n(&(x), &atomic_old, (new), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);      \
})
#endif

#endif
