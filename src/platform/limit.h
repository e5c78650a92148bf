/* limit: the bytes that the allocator may have mapped, pages and metadata together (the setting limit_hard). Whoever maps asks first.
 * Two more bounds are kept by the pages: what may be in memory before free pages go back at once (limit_soft), and how much of it may be
 * free (dirty_max).
 *
 * The invariant is LimitOk: what is mapped is within the limit. Each change of the count is one step, which compares it with what was read
 * before, so the invariant holds whatever other threads do.
 */
#ifndef QED_PLATFORM_LIMIT_H
#define QED_PLATFORM_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define LIMIT_NONE UINT64_MAX

extern uint64_t limit_hard;         /* bytes; set at boot */
extern uint64_t limit_soft;         /* bytes, LIMIT_NONE for no limit; set at boot */
extern uint64_t limit_dirty;        /* the same */
extern uint64_t limit_mapped;       /* bytes that are mapped, or about to be */
extern uint64_t limit_refused;      /* requests refused so far */

/*@ predicate LimitOk{L} = limit_mapped <= limit_hard; */

/* Sets the limit, which is not below what is mapped already. */
/*@ assigns            limit_hard;
    ensures  ok:       LimitOk;
    ensures  limit:    limit_hard == \max(bytes, limit_mapped);
*/
void limit_set(uint64_t bytes);

/* Sets the bounds that the pages keep. */
/*@ assigns            limit_soft, limit_dirty;
    ensures  set:      limit_soft == soft_bytes && limit_dirty == dirty_bytes;
*/
void limit_set_pages(uint64_t soft_bytes, uint64_t dirty_bytes);

/* Counts bytes that the caller maps now. Returns false, and counts one refusal instead, if they would pass the limit. */
/*@ requires ok:       LimitOk;
    assigns            limit_mapped, limit_refused;
    ensures  ok:       LimitOk;
    ensures  told:     \result <==> \old(limit_mapped) + bytes <= limit_hard;
    ensures  taken:    \result ==> limit_mapped == \old(limit_mapped) + bytes && limit_refused == \old(limit_refused);
    ensures  refused:  !\result ==> limit_mapped == \old(limit_mapped);
    ensures  counted:  !\result && \old(limit_refused) < UINT64_MAX ==> limit_refused == \old(limit_refused) + 1;
*/
bool limit_take(uint64_t bytes);

/* Counts bytes that are mapped no more. */
/*@ requires ok:       LimitOk;
    requires mapped:   bytes <= limit_mapped;
    assigns            limit_mapped;
    ensures  ok:       LimitOk;
    ensures  given:    limit_mapped == \old(limit_mapped) - bytes;
*/
void limit_give(uint64_t bytes);

#endif
