/* A count that threads add to without a lock.
 *
 *   C text                                                             here
 *   large_count_in, large_count_out: ATOMIC_ADD(count, n)               ADD
 *   dump_numbered: __atomic_fetch_add(&numbers, 1), what it returns   ADD, PLACE
 *   large_read_class, large_read_stats, stats_read: ATOMIC_LOAD(count) READ
 *
 * An addition reads and writes in one step, in whatever order it stands to other variables.
 *
 * Properties: no addition is lost; no two have the same place; a reader sees a count that never falls. -DTWO_STEPS, a load and a store,
 * must fail.
 */
#define THREADS 3
#define ROUNDS 2

byte count = 0;
byte ended = 0;
bool place[THREADS * ROUNDS];

active [THREADS] proctype adder()
{
    byte round = 0, was;
    do
    :: round < ROUNDS ->
#ifdef TWO_STEPS
        was = count;
        count = was + 1;
#else
        atomic { was = count; count = was + 1 };        /* ADD */
#endif
        assert(!place[was]);                            /* PLACE */
        place[was] = true;
        round++
    :: else -> break
    od;
    ended++
}

active proctype reader()
{
    byte before = 0, now;
    do
    :: now = count; assert(now >= before); before = now /* READ */
    :: ended == THREADS -> break
    od;
    assert(count == THREADS * ROUNDS)
}
