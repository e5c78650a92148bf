/* list: lists of ids with one link each. The id that was put last is the first to be taken.
 *
 * There are LIST_COUNT lists, by number. Every id below TABLE_MAX has one link, so it is in at most one list. The link
 * of the last member is 0. Invariant ListOk (spec/ds/list.acsl): every list is a sequence without repeats, kept in
 * ghost arrays, of all ids that are in it. The links and the head are that sequence. So walking from list_first with
 * list_next meets every member once, and then ends.
 *
 * The caller holds the lock that guards the list and its members.
 */
#ifndef QED_DS_LIST_H
#define QED_DS_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/table.h"

#define LIST_COUNT 4U

extern TABLE(uint32_t, list_after);             /* id -> the member after it, 0 if there is none */
extern uint32_t list_head[LIST_COUNT];          /* list -> the member put last, 0 if it is empty */
extern uint32_t list_length[LIST_COUNT];        /* list -> how many members it has */

#include "ds/list.acsl"
#include "ds/list_lemmas.acsl"

/* Called once, when the program starts and static memory is zero, so that every list is empty. */
/*@ requires zero:   ListZero;
    assigns          \nothing;
    ensures  ok:     ListOk;
*/
static inline void list_boot(void)
{
    /*@ ghost list_lemma_none(); */
}

/* Makes id x usable. Returns false if the OS has no memory. */
/*@ requires id:      0 < x < TABLE_MAX;
    assigns           os_refused;
    ensures  refused: !\result ==> os_refused == 1;
*/
static inline bool list_grow(uint32_t x)
{
    return TABLE_GROW(list_after, x);
}

/* Returns the member that was put into the list last, or 0 if the list is empty. */
/*@ requires list:   l < LIST_COUNT;
    requires ok:     ListOk;
    assigns          \nothing;
    ensures  first:  \result == ListNth(l, list_length[l] - 1) == list_head[l];
    ensures  none:   \result == 0 ==> \forall integer x; !ListIn(l, x);
    ensures  member: \result != 0 ==> ListIn(l, \result);
*/
static inline uint32_t list_first(uint32_t l)
{
    return list_head[l];
}

/* Returns the member that was put before x, or 0 if there is none. */
/*@ requires in:     0 < x < TABLE_MAX && list_owner[x] != 0;
    requires ok:     ListOk;
    assigns          \nothing;
    ensures  next:   \result == ListNth(list_owner[x] - 1, list_pos[x] - 1) == list_after[x];
    ensures  end:    \result == 0 <==> list_pos[x] == 0;
    ensures  member: \result != 0 ==> ListIn(list_owner[x] - 1, \result) && list_pos[\result] == list_pos[x] - 1;
*/
static inline uint32_t list_next(uint32_t x)
{
    return AT(list_after, x);
}

/* Puts x, which is in no list, in front of list l. */
/*@ requires list:   l < LIST_COUNT;
    requires ok:     ListOk;
    requires out:    0 < x < TABLE_MAX && list_owner[x] == 0;
    assigns          LIST_ASSIGNS(l, x), list_after[x];
    ensures  ok:     ListOk;
    ensures  first:  list_head[l] == x && list_after[x] == \old(list_head[l]);
    ensures  in:     ListIn(l, x);
    ensures  others: ListSameBut{Pre,Post}(x);
*/
static inline void list_push(uint32_t l, uint32_t x)
{
    /*@ ghost list_lemma_room(l, x); */
    AT(list_after, x) = list_head[l];
    list_head[l] = x;
    /*@ ghost list_lemma_move(x, (uint8_t)(l + 1)); */
    /*@ ghost list_at[l][list_length[l]] = x; */
    /*@ ghost list_pos[x] = list_length[l]; */
    list_length[l] += 1;
}

/* Takes the member that was put into the list last out of it, and returns it. */
/*@ requires list:   l < LIST_COUNT;
    requires ok:     ListOk;
    requires some:   list_head[l] != 0;
    assigns          LIST_ASSIGNS(l, list_head[l]);
    ensures  ok:     ListOk;
    ensures  first:  \result == \old(list_head[l]) && list_head[l] == \old(list_after[list_head[l]]);
    ensures  was:    ListIn{Pre}(l, \result);
    ensures  out:    list_owner[\result] == 0;
    ensures  others: ListSameBut{Pre,Post}(\result);
*/
static inline uint32_t list_pop(uint32_t l)
{
    uint32_t x = list_head[l];
    /*@ assert last: list_length[l] > 0 && x == list_at[l][list_length[l] - 1]; */
    list_head[l] = AT(list_after, x);
    /*@ ghost list_lemma_move(x, 0); */
    list_length[l] -= 1;
    return x;
}

#endif
