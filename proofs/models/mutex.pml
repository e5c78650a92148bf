/* The lock of src/platform/mutex.{h,c}, statement by statement, for THREADS threads and one futex.
 *
 *   C text                                                     here
 *   mutex_lock:      compare_exchange 0 -> 1                    FAST
 *   mutex_lock_slow: SPINS_MAX tries of the same                SPIN (one try: more only repeat it)
 *   mutex_lock_slow: exchange(2), os_futex_wait(word, 2)        SLOW, WAIT
 *   mutex_unlock:    exchange(0) == 2                           UNLOCK
 *   mutex_unlock:    os_futex_wake(word, 1)                     WAKE
 *
 * Each atomic read-modify-write of the word is one step: on x86-64 a locked instruction, which drains the store buffer, on
 * arm64 an exclusive pair with the order named in C. Guarded data written before UNLOCK is visible after FAST, SPIN or SLOW
 * by acquire and release; -DNO_RELEASE models their absence: a thread's writes reach the others any time later.
 * The futex compares and sleeps in one step, as the kernel promises.
 *
 * Properties: one thread at a time is inside (inside <= 1) and sees what the last one wrote (assert); no thread sleeps for
 * ever (no invalid end state: every thread ends); -DLOST_WAKE, where unlock wakes nobody, must fail.
 */
#ifndef THREADS
#define THREADS 3
#endif
#define ROUNDS 2

byte word = 0;
byte inside = 0;
byte data = 0;                  /* guarded: how often the lock was held */
byte seen[THREADS];             /* what each thread knows of data: its cache */
bool sleeps[THREADS];

inline pull(t) {                /* acquire: with release on the other side, all that was written before */
#ifdef NO_RELEASE
    if :: seen[t] = data :: skip fi
#else
    seen[t] = data
#endif
}

active [THREADS] proctype thread()
{
    byte round = 0, old, i;
    bool got;
    do
    :: round < ROUNDS ->
        got = false;
        /* FAST */  atomic { if :: word == 0 -> word = 1; got = true; pull(_pid) :: else fi };
        /* SPIN */  if :: !got -> atomic { if :: word == 0 -> word = 1; got = true; pull(_pid) :: else fi } :: else fi;
        do
        :: !got ->
            /* SLOW */  atomic { old = word; word = 2; if :: old == 0 -> got = true; pull(_pid) :: else fi };
            if
            :: !got ->
                /* WAIT */  atomic { if :: word == 2 -> sleeps[_pid] = true :: else fi };
                !sleeps[_pid]
            :: else
            fi
        :: else -> break
        od;
        inside++;
        assert(inside == 1);
        assert(seen[_pid] == data);
        data++;
        seen[_pid] = data;
        inside--;
        /* UNLOCK */ atomic { old = word; word = 0 };
#ifndef LOST_WAKE
        /* WAKE */
        if
        :: old == 2 -> atomic {
            i = 0;
            do
            :: i < THREADS && !sleeps[i] -> i++
            :: i < THREADS && sleeps[i] -> sleeps[i] = false; break
            :: i == THREADS -> break
            od
          }
        :: else
        fi;
#endif
        round++
    :: else -> break
    od
}

ltl ends { <> (data == THREADS * ROUNDS) }
