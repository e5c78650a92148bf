/* atomic: accesses to words that several threads use without a common lock.
 *
 * Two forms. The macros take an lvalue (a file-scope word or array element), so that the proofs see a plain access to
 * it; the functions take an address. The contracts are the sequential view: what a thread alone would observe. What
 * other threads may do in between belongs to the models of the few places that use these, not to the contracts.
 */
#ifndef QED_PLATFORM_ATOMIC_H
#define QED_PLATFORM_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __FRAMAC__
#define ATOMIC_LOAD(x) (x)
#define ATOMIC_LOAD_ACQUIRE(x) (x)
#define ATOMIC_STORE(x, v) ((x) = (v))
#define ATOMIC_STORE_RELEASE(x, v) ((x) = (v))
#else
#define ATOMIC_LOAD(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define ATOMIC_LOAD_ACQUIRE(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define ATOMIC_STORE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define ATOMIC_STORE_RELEASE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)
#endif

/*@ requires valid: \valid_read(p);
    terminates      \true;
    exits           \false;
    assigns         \nothing;
    ensures  value: \result == *p;
*/
static inline uint32_t atomic_load_u32(const uint32_t *p)
#ifdef __FRAMAC__
;
#else
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}
#endif

/*@ requires valid: \valid_read(p);
    terminates      \true;
    exits           \false;
    assigns         \nothing;
    ensures  value: \result == *p;
*/
static inline uint64_t atomic_load_u64(const uint64_t *p)
#ifdef __FRAMAC__
;
#else
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}
#endif

/*@ requires valid: \valid_read(p);
    terminates      \true;
    exits           \false;
    assigns         \nothing;
    ensures  value: \result == *p;
*/
static inline uint32_t atomic_load_acquire_u32(const uint32_t *p)
#ifdef __FRAMAC__
;
#else
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
#endif

/*@ requires valid: \valid_read(p);
    terminates      \true;
    exits           \false;
    assigns         \nothing;
    ensures  value: \result == *p;
*/
static inline uint64_t atomic_load_acquire_u64(const uint64_t *p)
#ifdef __FRAMAC__
;
#else
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
#endif

/*@ requires valid: \valid(p);
    terminates      \true;
    exits           \false;
    assigns         *p;
    ensures  value: *p == v;
*/
static inline void atomic_store_u32(uint32_t *p, uint32_t v)
#ifdef __FRAMAC__
;
#else
{
    __atomic_store_n(p, v, __ATOMIC_RELAXED);
}
#endif

/*@ requires valid: \valid(p);
    terminates      \true;
    exits           \false;
    assigns         *p;
    ensures  value: *p == v;
*/
static inline void atomic_store_u64(uint64_t *p, uint64_t v)
#ifdef __FRAMAC__
;
#else
{
    __atomic_store_n(p, v, __ATOMIC_RELAXED);
}
#endif

/*@ requires valid: \valid(p);
    terminates      \true;
    exits           \false;
    assigns         *p;
    ensures  value: *p == v;
*/
static inline void atomic_store_release_u32(uint32_t *p, uint32_t v)
#ifdef __FRAMAC__
;
#else
{
    __atomic_store_n(p, v, __ATOMIC_RELEASE);
}
#endif

/*@ requires valid: \valid(p);
    terminates      \true;
    exits           \false;
    assigns         *p;
    ensures  value: *p == v;
*/
static inline void atomic_store_release_u64(uint64_t *p, uint64_t v)
#ifdef __FRAMAC__
;
#else
{
    __atomic_store_n(p, v, __ATOMIC_RELEASE);
}
#endif

/* Both wrap around at 2^32 and 2^64 and return the value before. Relaxed: they count, they do not publish. */
/*@ requires valid: \valid(p);
    terminates      \true;
    exits           \false;
    assigns         *p;
    ensures  value: *p == (\old(*p) + v) % 4294967296;
    ensures  old:   \result == \old(*p);
*/
static inline uint32_t atomic_add_u32(uint32_t *p, uint32_t v)
#ifdef __FRAMAC__
;
#else
{
    return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}
#endif

/*@ requires valid: \valid(p);
    terminates      \true;
    exits           \false;
    assigns         *p;
    ensures  value: *p == (\old(*p) + v) % 18446744073709551616;
    ensures  old:   \result == \old(*p);
*/
static inline uint64_t atomic_add_u64(uint64_t *p, uint64_t v)
#ifdef __FRAMAC__
;
#else
{
    return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}
#endif

/* Acquire and release. */
/*@ requires valid: \valid(p);
    terminates      \true;
    exits           \false;
    assigns         *p;
    ensures  value: *p == v;
    ensures  old:   \result == \old(*p);
*/
static inline uint32_t atomic_exchange_u32(uint32_t *p, uint32_t v)
#ifdef __FRAMAC__
;
#else
{
    return __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL);
}
#endif

/* If *p is expected, stores v (acquire and release) and returns true; else false, nothing stored. Never fails otherwise. */
/*@ requires valid: \valid(p);
    terminates      \true;
    exits           \false;
    assigns         *p;
    ensures  done:  \result <==> \old(*p) == expected;
    ensures  value: \result ==> *p == v;
    ensures  same:  !\result ==> *p == \old(*p);
*/
static inline bool atomic_compare_exchange_u32(uint32_t *p, uint32_t expected, uint32_t v)
#ifdef __FRAMAC__
;
#else
{
    return __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
#endif

#endif
