/* list: every insertion is list_link, every removal list_remove. */
#include "ds/list.h"

#include "list_lemmas.acsl"

TABLE(uint32_t, list_after);
TABLE(uint32_t, list_before);
uint32_t list_head[LIST_COUNT];
uint32_t list_tail[LIST_COUNT];

bool list_grow(uint32_t x)
{
    return TABLE_GROW(list_after, x) && TABLE_GROW(list_before, x);
}

/* Puts x between prev and next, which are neighbours; 0 stands for the end of the list. */
/*@ requires list:     l < LIST_COUNT;
    requires ok:       ListOk;
    requires place:    k <= list_length[l] < TABLE_MAX - 1;
    requires prev:     prev == ListNth(l, k - 1);
    requires next:     next == ListNth(l, k);
    requires free:     0 < x < TABLE_MAX && list_owner[x] == 0;
    terminates         \true;
    exits              \false;
    assigns            list_after[0 .. TABLE_MAX - 1], list_before[0 .. TABLE_MAX - 1], list_head[l], list_tail[l],
                       list_owner[x], list_pos[0 .. TABLE_MAX - 1], list_length[l], list_at[l][0 .. TABLE_MAX - 1];
    ensures  length:   ListLength;
    ensures  at:       ListAt;
    ensures  owner:    ListOwner;
    ensures  pos:      ListPos;
    ensures  after:    ListAfter;
    ensures  before:   ListBefore;
    ensures  head:     ListHead;
    ensures  tail:     ListTail;
    ensures  inserted: ListInserted{Pre,Post}(l, k, x);
    ensures  in:       ListIn(l, x);
    ensures  others:   ListSameSetsBut{Pre,Post}(x);
*/
static void list_link(uint32_t l, uint32_t prev, uint32_t next, uint32_t x) /*@ ghost (uint32_t k) */
{
    AT(list_after, x) = next;
    AT(list_before, x) = prev;
    if (prev != 0) {
        AT(list_after, prev) = x;
    } else {
        list_head[l] = x;
    }
    if (next != 0) {
        AT(list_before, next) = x;
    } else {
        list_tail[l] = x;
    }
    //@ assert left:  \forall integer y; ListIn(l, y) && list_pos[y] + 1 == k ==> y == prev;
    //@ assert right: \forall integer y; ListIn(l, y) && list_pos[y] == k ==> y == next;
    //@ assert after_kept:  ListAfterBut(l) && ListAfterFrom(l, k, TABLE_MAX);
    //@ assert before_kept: ListBeforeBut(l) && ListBeforeFrom(l, k + 1, TABLE_MAX);
    /*@ ghost list_ghost_insert(l, k, x); */
    //@ assert after_others:  ListAfterBut(l);
    //@ assert after_low:     ListAfterFrom(l, 0, k - 1);
    //@ assert after_prev:    ListAfterFrom(l, k - 1, k);
    //@ assert after_x:       list_after[x] == ListNth(l, k + 1);
    //@ assert after_high:    ListAfterFrom(l, k + 1, TABLE_MAX);
    //@ assert before_others: ListBeforeBut(l);
    //@ assert before_low:    ListBeforeFrom(l, 0, k);
    //@ assert before_x:      list_before[x] == ListNth(l, k - 1);
    //@ assert before_next:   ListBeforeFrom(l, k + 1, k + 2);
    //@ assert before_high:   ListBeforeFrom(l, k + 2, TABLE_MAX);
}

void list_insert_head(uint32_t l, uint32_t x)
{
    list_link(l, 0, list_head[l], x) /*@ ghost (0) */;
}

void list_insert_tail(uint32_t l, uint32_t x)
{
    list_link(l, list_tail[l], 0, x) /*@ ghost (list_length[l]) */;
}

void list_insert_before(uint32_t l, uint32_t a, uint32_t x)
{
    list_link(l, AT(list_before, a), a, x) /*@ ghost (list_pos[a]) */;
}

void list_insert_after(uint32_t l, uint32_t a, uint32_t x)
{
    list_link(l, a, AT(list_after, a), x) /*@ ghost (list_pos[a] + 1) */;
}

void list_remove(uint32_t l, uint32_t x)
{
    uint32_t prev = AT(list_before, x);
    uint32_t next = AT(list_after, x);
    if (prev != 0) {
        AT(list_after, prev) = next;
    } else {
        list_head[l] = next;
    }
    if (next != 0) {
        AT(list_before, next) = prev;
    } else {
        list_tail[l] = prev;
    }
    //@ assert left:  \forall integer y; ListIn(l, y) && list_pos[y] + 1 == list_pos[x] ==> y == prev;
    //@ assert right: \forall integer y; ListIn(l, y) && list_pos[y] == list_pos[x] + 1 ==> y == next;
    /*@ ghost uint32_t k = list_pos[x]; */
    //@ assert after_kept:  ListAfterBut(l) && ListAfterFrom(l, k + 1, TABLE_MAX);
    //@ assert before_kept: ListBeforeBut(l) && ListBeforeFrom(l, k + 2, TABLE_MAX);
    /*@ ghost list_ghost_remove(l, x); */
    //@ assert after_others:  ListAfterBut(l);
    //@ assert after_low:     ListAfterFrom(l, 0, k - 1);
    //@ assert after_prev:    ListAfterFrom(l, k - 1, k);
    //@ assert after_high:    ListAfterFrom(l, k, TABLE_MAX);
    //@ assert before_others: ListBeforeBut(l);
    //@ assert before_low:    ListBeforeFrom(l, 0, k);
    //@ assert before_next:   ListBeforeFrom(l, k, k + 1);
    //@ assert before_high:   ListBeforeFrom(l, k + 1, TABLE_MAX);
}
