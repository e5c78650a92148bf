/* list: doubly linked lists of ids, with a head and a tail (jemalloc's ql).
 *
 * There are LIST_COUNT lists, by number. Every id below TABLE_MAX has one pair of links, so it is in at most one list; an
 * object that needs to be in two at once takes two ids. At the ends the links are 0. Invariant ListOk (spec/list.acsl):
 * every list is a sequence without repeats, kept in ghost arrays; the links, the head and the tail are that sequence.
 * So walking from list_first with list_next meets every member once, and then ends.
 *
 * The caller holds the lock that guards the lists.
 */
#ifndef QED_DS_LIST_H
#define QED_DS_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/table.h"

#define LIST_COUNT 16U

extern TABLE(uint32_t, list_after);
extern TABLE(uint32_t, list_before);
extern uint32_t list_head[LIST_COUNT];
extern uint32_t list_tail[LIST_COUNT];

#include "list.acsl"

/* Static memory is zero: every list is empty. Once, at start. */
/*@ requires zero_owner:  \forall integer x; 0 < x < TABLE_MAX ==> list_owner[x] == 0;
    requires zero_length: \forall integer l; 0 <= l < LIST_COUNT ==> list_length[l] == 0;
    requires zero_ends:   \forall integer l; 0 <= l < LIST_COUNT ==> list_head[l] == 0 && list_tail[l] == 0;
    terminates            \true;
    exits                 \false;
    assigns               \nothing;
    ensures  ok:          ListOk;
*/
static inline void list_boot(void)
{
}

/* Makes id x usable. false: the OS has no memory. */
/*@ requires id:   0 < x < TABLE_MAX;
    terminates     \true;
    exits          \false;
    assigns        \nothing;
*/
bool list_grow(uint32_t x);

/*@ requires list:   l < LIST_COUNT;
    requires ok:     ListOk;
    terminates       \true;
    exits            \false;
    assigns          \nothing;
    ensures  first:  \result == ListNth(l, 0);
    ensures  empty:  \result == 0 <==> list_length[l] == 0;
    ensures  none:   \result == 0 ==> \forall integer x; !ListIn(l, x);
    ensures  member: \result != 0 ==> ListIn(l, \result);
*/
static inline uint32_t list_first(uint32_t l)
{
    return list_head[l];
}

/*@ requires list:   l < LIST_COUNT;
    requires ok:     ListOk;
    terminates       \true;
    exits            \false;
    assigns          \nothing;
    ensures  last:   \result == ListNth(l, list_length[l] - 1);
    ensures  empty:  \result == 0 <==> list_length[l] == 0;
    ensures  member: \result != 0 ==> ListIn(l, \result);
*/
static inline uint32_t list_last(uint32_t l)
{
    return list_tail[l];
}

/* The member after x, 0: x is the last. */
/*@ requires in:     0 < x < TABLE_MAX && list_owner[x] != 0;
    requires ok:     ListOk;
    terminates       \true;
    exits            \false;
    assigns          \nothing;
    ensures  next:   \result == ListNth(list_owner[x] - 1, list_pos[x] + 1);
    ensures  end:    \result == 0 <==> list_pos[x] + 1 == list_length[list_owner[x] - 1];
    ensures  member: \result != 0 ==> ListIn(list_owner[x] - 1, \result) && list_pos[\result] == list_pos[x] + 1;
*/
static inline uint32_t list_next(uint32_t x)
{
    return AT(list_after, x);
}

/* The member before x, 0: x is the first. */
/*@ requires in:     0 < x < TABLE_MAX && list_owner[x] != 0;
    requires ok:     ListOk;
    terminates       \true;
    exits            \false;
    assigns          \nothing;
    ensures  prev:   \result == ListNth(list_owner[x] - 1, list_pos[x] - 1);
    ensures  end:    \result == 0 <==> list_pos[x] == 0;
    ensures  member: \result != 0 ==> ListIn(list_owner[x] - 1, \result) && list_pos[\result] == list_pos[x] - 1;
*/
static inline uint32_t list_prev(uint32_t x)
{
    return AT(list_before, x);
}

/* Puts x, which is in no list, between two neighbours: before or after a member, or at either end. */
/*@ requires list:     l < LIST_COUNT;
    requires ok:       ListOk;
    requires free:     0 < x < TABLE_MAX && list_owner[x] == 0;
    requires room:     list_length[l] < TABLE_MAX - 1;
    terminates         \true;
    exits              \false;
    assigns            list_after[0 .. TABLE_MAX - 1], list_before[0 .. TABLE_MAX - 1], list_head[l], list_tail[l],
                       list_owner[x], list_pos[0 .. TABLE_MAX - 1], list_length[l],
                       list_at[l][0 .. TABLE_MAX - 1];
    ensures  ok:       ListOk;
    ensures  inserted: ListInserted{Pre,Post}(l, 0, x);
    ensures  in:       ListIn(l, x);
    ensures  others:   ListSameSetsBut{Pre,Post}(x);
*/
void list_insert_head(uint32_t l, uint32_t x);

/*@ requires list:     l < LIST_COUNT;
    requires ok:       ListOk;
    requires free:     0 < x < TABLE_MAX && list_owner[x] == 0;
    requires room:     list_length[l] < TABLE_MAX - 1;
    terminates         \true;
    exits              \false;
    assigns            list_after[0 .. TABLE_MAX - 1], list_before[0 .. TABLE_MAX - 1], list_head[l], list_tail[l],
                       list_owner[x], list_pos[0 .. TABLE_MAX - 1], list_length[l],
                       list_at[l][0 .. TABLE_MAX - 1];
    ensures  ok:       ListOk;
    ensures  inserted: ListInserted{Pre,Post}(l, \old(list_length[l]), x);
    ensures  in:       ListIn(l, x);
    ensures  others:   ListSameSetsBut{Pre,Post}(x);
*/
void list_insert_tail(uint32_t l, uint32_t x);

/*@ requires list:     l < LIST_COUNT;
    requires ok:       ListOk;
    requires member:   ListIn(l, a);
    requires free:     0 < x < TABLE_MAX && list_owner[x] == 0;
    requires room:     list_length[l] < TABLE_MAX - 1;
    terminates         \true;
    exits              \false;
    assigns            list_after[0 .. TABLE_MAX - 1], list_before[0 .. TABLE_MAX - 1], list_head[l], list_tail[l],
                       list_owner[x], list_pos[0 .. TABLE_MAX - 1], list_length[l],
                       list_at[l][0 .. TABLE_MAX - 1];
    ensures  ok:       ListOk;
    ensures  inserted: ListInserted{Pre,Post}(l, \old(list_pos[a]), x);
    ensures  in:       ListIn(l, x);
    ensures  others:   ListSameSetsBut{Pre,Post}(x);
*/
void list_insert_before(uint32_t l, uint32_t a, uint32_t x);

/*@ requires list:     l < LIST_COUNT;
    requires ok:       ListOk;
    requires member:   ListIn(l, a);
    requires free:     0 < x < TABLE_MAX && list_owner[x] == 0;
    requires room:     list_length[l] < TABLE_MAX - 1;
    terminates         \true;
    exits              \false;
    assigns            list_after[0 .. TABLE_MAX - 1], list_before[0 .. TABLE_MAX - 1], list_head[l], list_tail[l],
                       list_owner[x], list_pos[0 .. TABLE_MAX - 1], list_length[l],
                       list_at[l][0 .. TABLE_MAX - 1];
    ensures  ok:       ListOk;
    ensures  inserted: ListInserted{Pre,Post}(l, \old(list_pos[a]) + 1, x);
    ensures  in:       ListIn(l, x);
    ensures  others:   ListSameSetsBut{Pre,Post}(x);
*/
void list_insert_after(uint32_t l, uint32_t a, uint32_t x);

/* Takes x out of list l. */
/*@ requires list:     l < LIST_COUNT;
    requires ok:       ListOk;
    requires member:   ListIn(l, x);
    terminates         \true;
    exits              \false;
    assigns            list_after[0 .. TABLE_MAX - 1], list_before[0 .. TABLE_MAX - 1], list_head[l], list_tail[l],
                       list_owner[x], list_pos[0 .. TABLE_MAX - 1], list_length[l],
                       list_at[l][0 .. TABLE_MAX - 1];
    ensures  length:   ListLength;
    ensures  at:       ListAt;
    ensures  owner:    ListOwner;
    ensures  pos:      ListPos;
    ensures  after:    ListAfter;
    ensures  before:   ListBefore;
    ensures  head:     ListHead;
    ensures  tail:     ListTail;
    ensures  removed:  ListRemoved{Pre,Post}(l, \old(list_pos[x]));
    ensures  out:      list_owner[x] == 0;
    ensures  others:   ListSameSetsBut{Pre,Post}(x);
*/
void list_remove(uint32_t l, uint32_t x);

#endif
