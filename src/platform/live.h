/* live: a bit for each address at which a block may begin, which is set while the program has a block there. There are such bits while the
 * setting check_free asks for them, and without it they cost no memory.
 *
 * The proofs know nothing of the bits, as of what a mode fills blocks with, so what they prove holds whatever the bits are. They know only
 * whether the setting is on, since without it no valid call ends the program.
 *
 * The bits of a window of addresses are a table of words, which lives as long as the process. It is made before the first block of the
 * window. Each operation on a bit is one atomic step: of several threads that clear a bit at the same moment, one finds it set. On x86-64 an
 * instruction takes the number of a bit as it is, which saves the search for its word.
 */
#ifndef QED_PLATFORM_LIVE_H
#define QED_PLATFORM_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/atomic.h"
#include "platform/config.h"
#include "platform/os.h"

#define LIVE_LG_WINDOW 32                                       /* bytes of addresses whose bits are one table */
#define LIVE_WINDOWS (1UL << (LG_VADDR - LIVE_LG_WINDOW))
#define LIVE_SPACING (1UL << SC_LG_TINY_MIN)                    /* blocks begin at multiples of it */
#define LIVE_WORDS ((1UL << LIVE_LG_WINDOW) / LIVE_SPACING / 64)
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__)
#define LIVE_BY_NUMBER 1            /* an instruction changes a bit by its number */
#else
#define LIVE_BY_NUMBER 0
#endif

/*@ ghost uint8_t live_on; */                                   /* 1 if the settings of this process ask for the bits */

extern uint64_t *live_table[LIVE_WINDOWS];                      /* window -> its words, or NULL if there are none yet */
extern bool      live_checks;                                   /* whether the bits are asked for */

/* Has the bits of each window made. Called before the first one has a block, where the settings ask for bits. */
void live_boot(void);

/* Returns whether live_boot has been called. */
bool live_booted(void);

/* From now on the bits are asked for, if live_boot has been called. The library has booted. */
/*@ assigns           \nothing; */
void live_begin(void);

/* Makes the bits of the window, unless they are there or nobody asks for them. Returns false if the OS has no memory. Called under the lock of
 * the pages. */
/*@ requires window:  window < LIVE_WINDOWS;
    assigns           os_refused;
    ensures  refused: !\result ==> os_refused == 1;
*/
bool live_open(uint64_t window);

/* Returns whether the settings ask for the bits. Before the end of boot they do not yet. The load acquires, so that a thread that reads true
 * sees all that boot has made. */
/*@ assigns           \nothing;
    ensures  told:    \result ==> live_on == 1;
*/
static inline bool live_asked(void)
#ifdef __FRAMAC__
;
#else
{
    return __builtin_expect(ATOMIC_LOAD_ACQUIRE(live_checks), 0);
}
#endif

#ifndef __FRAMAC__
/* Returns the words of the window. */
static inline uint64_t *live_words(uint64_t window)
{
    return ATOMIC_LOAD_ACQUIRE(live_table[window]);
}

/* Returns the number of the address's bit among those of its window. */
static inline uint64_t live_bit(uint64_t address)
{
    return (uint32_t)address / LIVE_SPACING;
}

/* Returns the word that has the address's bit. */
static inline uint64_t *live_word(uint64_t *words, uint64_t address)
{
    return words + live_bit(address) / 64;
}

static inline uint64_t live_mask(uint64_t address)
{
    return 1UL << address / LIVE_SPACING % 64;
}

/* Returns whether a block may begin at the address. */
static inline bool live_may(uint64_t address)
{
    return address >> LIVE_LG_WINDOW < LIVE_WINDOWS && address % LIVE_SPACING == 0;
}
#endif

/* Returns whether there is such a bit and it is set. The address may be any. */
/*@ assigns           \nothing; */
static inline bool live_is(uint64_t address)
#ifdef __FRAMAC__
;
#else
{
    uint64_t *words = live_may(address) ? live_words(address >> LIVE_LG_WINDOW) : NULL;
    if (words == NULL) {
        return false;
    }
    const uint64_t *word = live_word(words, address);
    return (__atomic_load_n(word, __ATOMIC_RELAXED) & live_mask(address)) != 0;
}
#endif

/* Sets the bit. A block of the program begins at the address. */
/*@ requires address: address < 1UL << LG_VADDR;
    assigns           \nothing;
*/
static inline void live_set(uint64_t address)
#ifdef __FRAMAC__
;
#else
{
    uint64_t *words = live_words(address >> LIVE_LG_WINDOW);
#if LIVE_BY_NUMBER
    __asm__("lock btsq %[bit], %[words]" : [words] "+m"(*(uint64_t (*)[LIVE_WORDS])words) : [bit] "r"(live_bit(address)) : "cc");
#else
    uint64_t *word = live_word(words, address);
    (void)__atomic_fetch_or(word, live_mask(address), __ATOMIC_RELAXED);
#endif
}
#endif

/* Clears the bit, and returns whether it was set. A block of the program may have begun at the address, which lies in a window with bits. */
/*@ requires address: address < 1UL << LG_VADDR;
    assigns           \nothing;
*/
static inline bool live_clear(uint64_t address)
#ifdef __FRAMAC__
;
#else
{
    uint64_t *words = live_words(address >> LIVE_LG_WINDOW);
#if LIVE_BY_NUMBER
    bool was;
    __asm__("lock btrq %[bit], %[words]" : [words] "+m"(*(uint64_t (*)[LIVE_WORDS])words), "=@ccc"(was) : [bit] "r"(live_bit(address)));
    return was;
#else
    uint64_t *word = live_word(words, address), mask = live_mask(address);
    return (__atomic_fetch_and(word, ~mask, __ATOMIC_RELAXED) & mask) != 0;
#endif
}
#endif

/* Clears the bits of all addresses of these pages, in which blocks end without a call of free. No other thread sets or clears one there. */
/*@ assigns           \nothing; */
void live_clear_pages(uint64_t page, uint64_t npages);

#endif
