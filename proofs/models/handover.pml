/* What a page says (its tag, its extent, the tables' entries of its extent), while pages go from thread to thread. The words are read and written
 * without an order of their own: whoever reads them owns a block there, and has it by way of a lock or of the program.
 *
 *   C text                                                             here
 *   bin_adopt, large_begin: radix_tree_set_tag, block handed out        maker: SET, then the program's own SEND
 *   tcache_push, bin_slab_of: radix_leaf_high, radix_leaf_low           user: RECEIVE, READ
 *   bin_drop: radix_tree_set_tags(0), then pages_free                   user: CLEAR, then under the lock of the pages FREE
 *   pages_alloc, bin_adopt by another thread                            taker: under that lock TAKE, then SET, READ
 *
 * Each thread has a store under way, which the memory takes at any time later (arm64); a thread reads its own store back. A release
 * waits until it is taken. Loads that follow an acquire come after it.
 *
 * Properties: who owns a block reads the tag of its own extent, 1 for the first and 2 for the second, although the page changes hands.
 * -DNO_SEND: the program passes the block on without a release; -DNO_UNLOCK: unlock does not release; -DLATE_CLEAR: the tag is cleared
 * after the pages are free. Each must fail.
 */
#define NONE 9
#define MAKER 0
#define USER 1
#define TAKER 2

byte tag = 0;
byte way[3] = NONE;             /* the store under way of each thread */
bool sent = false;
bool pages_free = false;
bool locked = false;

inline store(t, v)   { atomic { way[t] == NONE -> way[t] = v } }
inline load(t, v)    { atomic { if :: way[t] != NONE -> v = way[t] :: else -> v = tag fi } }
inline release(t)    { way[t] == NONE }

active proctype memory()        /* takes the stores, in any order of the threads */
{
end:
    do
    :: atomic { way[0] != NONE -> tag = way[0]; way[0] = NONE }
    :: atomic { way[1] != NONE -> tag = way[1]; way[1] = NONE }
    :: atomic { way[2] != NONE -> tag = way[2]; way[2] = NONE }
    od
}

active proctype maker()
{
    store(MAKER, 1);                                    /* SET */
#ifndef NO_SEND
    release(MAKER);
#endif
    sent = true                                         /* SEND */
}

active proctype user()
{
    byte v;
    sent;                                               /* RECEIVE, an acquire */
    load(USER, v);                                      /* READ */
    assert(v == 1);
#ifndef LATE_CLEAR
    store(USER, 0);                                     /* CLEAR */
#endif
    atomic { !locked -> locked = true };
    pages_free = true;                                  /* FREE */
#ifndef NO_UNLOCK
    release(USER);
#endif
    locked = false;
#ifdef LATE_CLEAR
    store(USER, 0)
#endif
}

active proctype taker()
{
    byte v;
    bool taken = false;
    do
    :: !taken ->
        atomic { !locked -> locked = true };
        if :: pages_free -> pages_free = false; taken = true :: else fi;    /* TAKE */
        release(TAKER);
        locked = false
    :: taken -> break
    od;
    store(TAKER, 2);                                    /* SET */
    release(TAKER);                                     /* the block goes to the program, perhaps to another thread */
    load(TAKER, v);                                     /* READ */
    assert(v == 2)
}
