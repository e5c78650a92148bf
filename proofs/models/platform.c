/* A small model of each function of src/platform whose contract is believed. The proof that the model keeps the contract shows that the
 * contract does not contradict itself (proofs/satisfied). In the headers that this file includes, ghost variables are ordinary ones.
 */
#include <stdlib.h>

#include "platform/countdown.h"
#include "platform/counter.h"
#include "platform/libc.h"
#include "platform/live.h"
#include "platform/lock.h"
#include "platform/modes.h"
#include "platform/os.h"
#include "platform/pool.h"
#include "platform/table.h"
#include "platform/trap.h"
#include "platform/user.h"

uint64_t os_metadata_bytes;

/* ---- countdown.h ------------------------------------------------------------------------------------------------- */

static inline bool countdown_due(uint64_t bytes)
{
    return bytes > COUNTDOWN_MAX;
}

static inline bool countdown_runs(void)
{
    return true;
}

/* ---- counter.h --------------------------------------------------------------------------------------------------- */

static inline uint64_t counter_reasons(uintptr_t counter)
{
    return counter % 64;
}

static inline bool counter_passes(uintptr_t counter, uint64_t stack)
{
    return counter % 2 == stack % 2;
}

static inline void counter_begin(uintptr_t counter, uint64_t reason)
{
    (void)counter;
    (void)reason;
}

static inline bool counter_end(uintptr_t counter, uint64_t reason)
{
    return counter % 2 != reason % 2;
}

static inline void counter_price(uintptr_t counter, uint64_t stack, uint64_t bytes)
{
    (void)counter;
    (void)stack;
    (void)bytes;
}

static inline void counter_add(uintptr_t counter, uint64_t stack, bool back)
{
    (void)counter;
    (void)stack;
    (void)back;
}

static inline void counter_take(uintptr_t counter, uint64_t bytes)
{
    (void)counter;
    (void)bytes;
}

static inline void counter_give(uintptr_t counter, uint64_t bytes)
{
    (void)counter;
    (void)bytes;
}

/* ---- libc.h ------------------------------------------------------------------------------------------------------ */

bool libc_single_threaded(void)
{
    return libc_single != 0;
}

void libc_stdio_lock(void)
{
    libc_stdio_held = 1;
}

void libc_stdio_unlock(void)
{
    libc_stdio_held = 0;
}

void libc_stdio_reset(void)
{
    libc_stdio_held = 0;
}

/* ---- lock.h ------------------------------------------------------------------------------------------------------ */

static inline void lock_take(uint32_t rank)
{
    lock_held[rank] = 1;
}

static inline void lock_give(uint32_t rank)
{
    lock_held[rank] = 0;
}

static inline void lock_reset(uint32_t rank)
{
    lock_held[rank] = 0;
}

static inline bool lock_inside(void)
{
    /*@ loop invariant range: 0 <= k <= LOCK_RANKS;
        loop invariant free:  \forall integer j; 0 <= j < k ==> lock_held[j] == 0;
        loop assigns   k;
        loop variant   LOCK_RANKS - k;
    */
    for (uint32_t k = 0; k < LOCK_RANKS; k++) {
        if (lock_held[k] != 0) {
            return true;
        }
    }
    return false;
}

/* ---- os.h -------------------------------------------------------------------------------------------------------- */

/* The only pages that there are begin at page 1. */
uint64_t os_map(uint32_t cache, uint64_t npages)
{
    /*@ loop invariant range: 1 <= p <= npages + 1;
        loop invariant free:  \forall integer q; 1 <= q < p ==> os_mapped[q] == 0;
        loop assigns   p;
        loop variant   npages + 1 - p;
    */
    for (uint64_t p = 1; p < npages + 1; p++) {
        if (os_mapped[p] != 0) {
            os_refused = npages;
            return 0;
        }
    }
    /*@ loop invariant range:  1 <= p <= npages + 1;
        loop invariant mapped: \forall integer q; 1 <= q < p ==> os_mapped[q] == 1;
        loop invariant whose:  \forall integer q; 1 <= q < p ==> os_mapped_for[q] == cache;
        loop invariant zero:   \forall integer q; 1 <= q < p ==> os_zero[q] == 1;
        loop invariant rest:   \forall integer q; 0 <= q < PAGE_COUNT_MAX && !(1 <= q < p) ==> os_mapped[q] == \at(os_mapped[q],Pre);
        loop invariant others: \forall integer q; 0 <= q < PAGE_COUNT_MAX && !(1 <= q < p) ==> os_zero[q] == \at(os_zero[q],Pre);
        loop invariant given:  \forall integer q; 0 <= q < PAGE_COUNT_MAX && !(1 <= q < p) ==> os_mapped_for[q] == \at(os_mapped_for[q],Pre);
        loop assigns   p, os_mapped[1 .. npages], os_mapped_for[1 .. npages], os_zero[1 .. npages];
        loop variant   npages + 1 - p;
    */
    for (uint64_t p = 1; p < npages + 1; p++) {
        os_mapped[p] = 1;
        os_mapped_for[p] = cache;
        os_zero[p] = 1;
    }
    return 1;
}

bool os_unmap(uint32_t cache, uint64_t page, uint64_t npages, bool must)
{
    /*@ loop invariant range: page <= p <= page + npages;
        loop invariant gone:  \forall integer q; page <= q < p ==> os_mapped[q] == 0;
        loop assigns   p, os_mapped[page .. page + npages - 1];
        loop variant   page + npages - p;
    */
    for (uint64_t p = page; p < page + npages; p++) {
        os_mapped[p] = 0;
    }
    return true;
}

bool os_takes_back(uint32_t cache)
{
    return cache == 0;
}

void os_tell_seam(uint32_t cache, uint64_t page, uint64_t npages, uint64_t npages_behind, bool joined)
{
}

bool os_purge(uint32_t cache, uint64_t page, uint64_t npages, bool lazily)
{
    /*@ loop invariant range: page <= p <= page + npages;
        loop invariant zero:  \forall integer q; page <= q < p ==> os_zero[q] == (lazily ? 0 : 1);
        loop assigns   p, os_zero[page .. page + npages - 1];
        loop variant   page + npages - p;
    */
    for (uint64_t p = page; p < page + npages; p++) {
        os_zero[p] = !lazily;
    }
    bool done = page < npages || lazily;
    os_kept = done ? os_kept : 1;
    os_gone = !done ? os_gone : npages < UINT64_MAX - os_gone ? os_gone + npages : UINT64_MAX;
    return done;
}

bool os_discard(uint32_t cache, uint64_t page, uint64_t npages)
    /*@ ghost (uint64_t base, uint64_t bytes, uint64_t regions, const uint64_t *free) */
{
    return page < npages;
}

void *os_map_metadata(size_t bytes)
{
    os_refused = 1;
    return NULL;
}

void *os_map_sparse(size_t bytes)
{
    os_refused = 1;
    return NULL;
}

uint64_t os_clock_ms(void)
{
    return 0;
}

/* ---- pool.h and table.h ------------------------------------------------------------------------------------------ */

bool pool_grant(void)
{
    return true;
}

bool pool_place(uintptr_t address, size_t bytes)
{
    if (address == 0) {
        return false;
    }
    uint64_t first = address / 64, end = (address + bytes + 63) / 64;
    /*@ loop invariant range: first <= l && (l <= end || l == first);
        loop invariant used:  \forall integer k; first <= k < l ==> pool_mapped[k] == POOL_USED;
        loop invariant rest:  \forall integer k; 0 <= k < (1UL << (LG_VADDR - 6)) && !(first <= k < l) ==>
                                  pool_mapped[k] == \at(pool_mapped[k],Pre);
        loop assigns   l, pool_mapped[0 .. (1UL << (LG_VADDR - 6)) - 1];
        loop variant   end - l;
    */
    for (uint64_t l = first; l < end; l++) {
        pool_mapped[l] = POOL_USED;
    }
    return true;
}

/* The only lines that there are begin at address 4096. */
static inline uintptr_t pool_map(size_t bytes)
{
    uint64_t end = 64 + (bytes + 63) / 64;
    if (bytes > (1UL << LG_VADDR) - 4096) {
        os_refused = 1;
        return 0;
    }
    /*@ loop invariant range: 64 <= l <= end;
        loop invariant free:  \forall integer k; 64 <= k < l ==> pool_mapped[k] == 0;
        loop assigns   l;
        loop variant   end - l;
    */
    for (uint64_t l = 64; l < end; l++) {
        if (pool_mapped[l] != 0) {
            os_refused = 1;
            return 0;
        }
    }
    /*@ loop invariant range:  64 <= l <= end;
        loop invariant mapped: \forall integer k; 64 <= k < l ==> pool_mapped[k] == POOL_FRESH;
        loop invariant rest:   \forall integer k; 0 <= k < (1UL << (LG_VADDR - 6)) && !(64 <= k < l) ==>
                                   pool_mapped[k] == \at(pool_mapped[k],Pre);
        loop assigns   l, pool_mapped[64 .. end - 1];
        loop variant   end - l;
    */
    for (uint64_t l = 64; l < end; l++) {
        pool_mapped[l] = POOL_FRESH;
    }
    return 4096;
}

static inline void pool_forget(uint64_t *words, size_t count)
{
    /*@ loop invariant range: 0 <= i <= count;
        loop invariant zero:  \forall integer j; 0 <= j < i ==> words[j] == 0;
        loop invariant rest:  \forall integer j; i <= j < count ==> words[j] == \at(words[j],Pre);
        loop assigns   i, words[0 .. count - 1];
        loop variant   count - i;
    */
    for (size_t i = 0; i < count; i++) {
        words[i] = 0;
    }
}

/* The cells that may be written are those that the array says from the start. */
bool pool_open(bool there, uint64_t width, uint64_t at, uint64_t cell, uint64_t count)
{
    /*@ loop invariant range: cell <= c <= cell + count;
        loop invariant open:  \forall integer d; cell <= d < c ==> pool_writable[d] == 1;
        loop assigns   c;
        loop variant   cell + count - c;
    */
    for (uint64_t c = cell; c < cell + count; c++) {
        if (pool_writable[c] != 1) {
            os_refused = 1;
            return false;
        }
    }
    return true;
}

bool table_grow(uint64_t i)
{
    return true;
}

/* ---- live.h ------------------------------------------------------------------------------------------------------ */

void live_begin(void)
{
}

bool live_open(uint64_t window)
{
    if (window % 2 == 1) {
        os_refused = 1;
    }
    return window % 2 == 0;
}

static inline bool live_asked(void)
{
    return live_on == 1;
}

static inline bool live_is(uint64_t address)
{
    return address % 2 == 0;
}

static inline void live_set(uint64_t address)
{
    (void)address;
}

static inline bool live_clear(uint64_t address)
{
    return address % 2 == 0;
}

void live_clear_pages(uint64_t page, uint64_t npages)
{
    (void)page, (void)npages;
}

/* ---- modes.h ----------------------------------------------------------------------------------------------------- */

static inline int32_t modes_new_byte(void)
{
    return MODES_NO_BYTE;
}

static inline int32_t modes_freed_byte(void)
{
    return MODES_NO_BYTE;
}

static inline bool modes_keeps(uint32_t stack)
{
    return stack < modes_stacks;
}

/* ---- trap.h ------------------------------------------------------------------------------------------------------ */

void trap_misuse(const char *call, const char *what, uintptr_t address)
{
    abort();
}

/* ---- user.h ------------------------------------------------------------------------------------------------------ */

static inline void user_store(void **pointer, uint64_t address)
{
    *pointer = (void *)address;
    os_zero_over = 1;
}

static inline void user_move(uint64_t to, uint64_t from, uint64_t bytes)
{
    /*@ loop invariant range: 0 <= i <= bytes;
        loop invariant moved: \forall integer a; to <= a < to + i ==> user_mem[a] == \at(user_mem[\at(a,Here) - to + from],Pre);
        loop invariant rest:  \forall integer a; from <= a < from + bytes ==> user_mem[a] == \at(user_mem[\at(a,Here)],Pre);
        loop assigns   i, user_mem[to .. to + bytes - 1];
        loop variant   bytes - i;
    */
    for (uint64_t i = 0; i < bytes; i++) {
        user_mem[to + i] = user_mem[from + i];
    }
    os_zero_over = 1;
}

static inline void user_zero(uint64_t at, uint64_t bytes, bool already)
{
    /*@ loop invariant range: 0 <= i <= bytes;
        loop invariant zero:  \forall integer a; at <= a < at + i ==> user_mem[a] == 0;
        loop assigns   i, user_mem[at .. at + bytes - 1];
        loop variant   bytes - i;
    */
    for (uint64_t i = 0; i < bytes; i++) {
        user_mem[at + i] = 0;
    }
}

static inline void user_fill(uint64_t at, uint64_t bytes, uint8_t byte)
{
    /*@ loop invariant range:  0 <= i <= bytes;
        loop invariant filled: \forall integer a; at <= a < at + i ==> user_mem[a] == byte;
        loop assigns   i, user_mem[at .. at + bytes - 1];
        loop variant   bytes - i;
    */
    for (uint64_t i = 0; i < bytes; i++) {
        user_mem[at + i] = byte;
    }
    os_zero_over = 1;
}
