/* schedule_calls: a part of schedule.c. What the compiler calls at each access to memory, with -fsanitize=thread. */
#ifndef SCHEDULE_CALLS_H
#define SCHEDULE_CALLS_H

void __tsan_init(void);

void __tsan_init(void)
{
}

/* A stack has no lines, nor have the other variables that are not watched. */
static __attribute__((noinline)) void plain_anywhere(uintptr_t a, size_t bytes, bool write, const void *pc)
{
    bool watched = now != NOBODY && off.any == 0, one = (a ^ (a + bytes - 1)) < 64;
    if (watched && one && line_access_again(a >> 6, write)) {
        write ? note_write(a, bytes) : (void)0;
        return;
    }
    if ((!write && !watched) || on_a_stack(a) || thread_local_variable(a) || of_the_engine(a)) {
        return;
    }
    write ? note_write(a, bytes) : (void)0;
    if (watched) {
        for (uintptr_t at = a; at < a + bytes; at += 8) {
            plain_access_to(at, write, pc);
        }
    }
}

static __attribute__((always_inline)) inline void plain(uintptr_t a, size_t bytes, bool write, const void *pc)
{
    bool lately_too = lately[write] == a >> 6 && lately[write] == (a + bytes - 1) >> 6;
    if (off.any == 0 ? !lately_too || (write && !noted(a, bytes)) : write) {
        plain_anywhere(a, bytes, write, pc);
    }
}

#define PLAIN(name, bytes, write)                          \
    void __tsan_##name(void *a);                           \
    void __tsan_##name(void *a)                            \
    {                                                      \
        plain((uintptr_t)a, bytes, write, __builtin_return_address(0)); \
    }
PLAIN(read1, 1, false) PLAIN(read2, 2, false) PLAIN(read4, 4, false) PLAIN(read8, 8, false) PLAIN(read16, 16, false)
PLAIN(write1, 1, true) PLAIN(write2, 2, true) PLAIN(write4, 4, true) PLAIN(write8, 8, true) PLAIN(write16, 16, true)
PLAIN(unaligned_read2, 2, false) PLAIN(unaligned_read4, 4, false) PLAIN(unaligned_read8, 8, false) PLAIN(unaligned_read16, 16, false)
PLAIN(unaligned_write2, 2, true) PLAIN(unaligned_write4, 4, true) PLAIN(unaligned_write8, 8, true) PLAIN(unaligned_write16, 16, true)

#define COPIED_MAX 256U                     /* longer ones are the program's blocks. Nobody looks at their bytes, and most stay as they are. */

static __attribute__((noinline)) void copied(uintptr_t to, uintptr_t from, size_t bytes, const void *pc)
{
    if (bytes > 0 && bytes <= COPIED_MAX) {
        from != 0 ? plain(from, bytes, false, pc) : (void)0;
        plain(to, bytes, true, pc);
    } else if (bytes > 0 && !on_a_stack(to)) {
        for (size_t i = 0; i < bytes; i += 8) {
            uint64_t is = 0, will_be = 1;
            if (from != 0 && bytes - i >= 8) {
                memcpy(&is, (void *)(to + i), 8);
                memcpy(&will_be, (void *)(from + i), 8);
            }
            is != will_be ? note_write(to + i, bytes - i < 8 ? bytes - i : 8) : (void)0;
        }
    }
}

void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *__tsan_memmove(void *to, const void *from, size_t bytes);
void *__tsan_memset(void *to, int byte, size_t bytes);

void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    copied((uintptr_t)to, (uintptr_t)from, bytes, __builtin_return_address(0));
    return memcpy(to, from, bytes);
}

void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
    copied((uintptr_t)to, (uintptr_t)from, bytes, __builtin_return_address(0));
    return memmove(to, from, bytes);
}

void *__tsan_memset(void *to, int byte, size_t bytes)
{
    copied((uintptr_t)to, 0, bytes, __builtin_return_address(0));
    return memset(to, byte, bytes);
}

/* An atomic access: a point, then its part in the order of events. */
static bool acquires(int order)
{
    return order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST || order == __ATOMIC_CONSUME;
}

static bool releases(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

enum how { LOAD, STORE, CHANGE };

static void ordered(uintptr_t a, size_t bytes, enum how how, int order, const void *pc)
{
    now != NOBODY ? (void)(thread[now].last = how == LOAD ? a : 0) : (void)0;
    how != LOAD ? note_write(a, bytes) : (void)0;
    if (now == NOBODY || off.alone || off.resting || off.unwatched) {
        return;
    }
    meet(atomic_access_to(a, how != LOAD, pc));
    bool learns = how != STORE && acquires(order), tells = how != LOAD && releases(order);
    if (!learns && !tells && how != STORE) {
        return;
    }
    struct schedule_clock *released = released_of(a), mine;
    learns ? learn(released) : (void)0;
    mine = clock_of[now];
    if (tells) {
        for (uint32_t t = 0; how == CHANGE && t < threads; t++) {      /* a change goes on with the releases before it */
            mine.of[t] = released->of[t] > mine.of[t] ? released->of[t] : mine.of[t];
        }
        *released = mine;
        clock_of[now].of[now]++;
        lately_none();
    } else if (how == STORE) {
        *released = (struct schedule_clock){{0}};
    }
}

/* A thread that looks at an address again, while no other one has run, sees the same: no point. */
static void atomic(uintptr_t a, size_t bytes, enum how how, int order, const void *pc)
{
    static const char *const what[] = {"loads", "stores", "changes"};
    if (now != NOBODY && !off.alone && !off.resting && (how != LOAD || thread[now].last != a) && threads_meet_at(a)) {
        point(what[how], (void *)a, pc);
    }
    ordered(a, bytes, how, order, pc);
}

#define HERE __builtin_return_address(0)
#define ATOMIC(bits, type)                                                                                 \
    type __tsan_atomic##bits##_load(const volatile type *a, int order);                                    \
    void __tsan_atomic##bits##_store(volatile type *a, type v, int order);                                 \
    type __tsan_atomic##bits##_fetch_add(volatile type *a, type v, int order);                             \
    type __tsan_atomic##bits##_fetch_sub(volatile type *a, type v, int order);                             \
    type __tsan_atomic##bits##_fetch_or(volatile type *a, type v, int order);                              \
    type __tsan_atomic##bits##_fetch_and(volatile type *a, type v, int order);                             \
    type __tsan_atomic##bits##_load(const volatile type *a, int order)                                     \
    {                                                                                                      \
        atomic((uintptr_t)a, sizeof *a, LOAD, order, HERE);                                                \
        return *a;                                                                                         \
    }                                                                                                      \
    void __tsan_atomic##bits##_store(volatile type *a, type v, int order)                                  \
    {                                                                                                      \
        atomic((uintptr_t)a, sizeof *a, STORE, order, HERE);                                               \
        *a = v;                                                                                            \
    }                                                                                                      \
    type __tsan_atomic##bits##_fetch_add(volatile type *a, type v, int order)                              \
    {                                                                                                      \
        atomic((uintptr_t)a, sizeof *a, CHANGE, order, HERE);                                              \
        type was = *a;                                                                                     \
        *a = (type)(was + v);                                                                              \
        return was;                                                                                        \
    }                                                                                                      \
    type __tsan_atomic##bits##_fetch_sub(volatile type *a, type v, int order)                              \
    {                                                                                                      \
        return __tsan_atomic##bits##_fetch_add(a, (type)-v, order);                                        \
    }                                                                                                      \
    type __tsan_atomic##bits##_fetch_or(volatile type *a, type v, int order)                               \
    {                                                                                                      \
        atomic((uintptr_t)a, sizeof *a, CHANGE, order, HERE);                                              \
        type was = *a;                                                                                     \
        *a = (type)(was | v);                                                                              \
        return was;                                                                                        \
    }                                                                                                      \
    type __tsan_atomic##bits##_fetch_and(volatile type *a, type v, int order)                              \
    {                                                                                                      \
        atomic((uintptr_t)a, sizeof *a, CHANGE, order, HERE);                                              \
        type was = *a;                                                                                     \
        *a = (type)(was & v);                                                                              \
        return was;                                                                                        \
    }
ATOMIC(8, uint8_t) ATOMIC(16, uint16_t) ATOMIC(32, uint32_t) ATOMIC(64, uint64_t)

uint32_t __tsan_atomic32_exchange(volatile uint32_t *a, uint32_t v, int order);
uint32_t __tsan_atomic32_compare_exchange_val(volatile uint32_t *a, uint32_t expected, uint32_t v, int order, int failure_order);
uint64_t __tsan_atomic64_compare_exchange_val(volatile uint64_t *a, uint64_t expected, uint64_t v, int order, int failure_order);
void     __tsan_atomic_signal_fence(int order);
void     __tsan_atomic_thread_fence(int order);

/* Only mutexes exchange: 0 gives a lock back, another value takes it if the old one was 0. */
uint32_t __tsan_atomic32_exchange(volatile uint32_t *a, uint32_t v, int order)
{
    atomic((uintptr_t)a, sizeof *a, CHANGE, order, HERE);
    uint32_t was = *a;
    *a = v;
    if (now != NOBODY) {
        v == 0 ? gave((void *)a) : was == 0 ? took((void *)a) : (void)0;
    }
    return was;
}

uint32_t __tsan_atomic32_compare_exchange_val(volatile uint32_t *a, uint32_t expected, uint32_t v, int order, int failure_order)
{
    threads_meet_at((uintptr_t)a) ? point("takes", (void *)a, HERE) : (void)0;
    uint32_t was = *a;
    ordered((uintptr_t)a, sizeof *a, was == expected ? CHANGE : LOAD, was == expected ? order : failure_order, HERE);
    if (was == expected) {
        *a = v;
        now != NOBODY ? took((void *)a) : (void)0;
    }
    return was;
}

/* A counter that is replaced if it is what was read. */
uint64_t __tsan_atomic64_compare_exchange_val(volatile uint64_t *a, uint64_t expected, uint64_t v, int order, int failure_order)
{
    threads_meet_at((uintptr_t)a) ? point("replaces", (void *)a, HERE) : (void)0;
    uint64_t was = *a;
    ordered((uintptr_t)a, sizeof *a, was == expected ? CHANGE : LOAD, was == expected ? order : failure_order, HERE);
    if (was == expected) {
        *a = v;
    }
    return was;
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

void __tsan_atomic_thread_fence(int order)
{
    (void)order;
}

#endif
