/* One thread waits for another one's word, with a futex and no lock: the start and end of the library's own threads.
 *
 *   C text                                                             here
 *   own_run: begin, turn; own_say: store release, wake                  teller: WRITE, STORE, WAKE
 *   own_thread_begin: load acquire; futex_wait while it is STARTING     waiter: LOAD, WAIT, READ
 *   own_thread_end: store, wake                                         teller: STORE, WAKE
 *   own_run: load; own_sleep: futex_wait while it is 0                  waiter: LOAD, WAIT (with a time limit, which is not modelled)
 *
 * The futex compares and sleeps in one step. It sees what the memory has, so a store that is under way may still be missed; the kernel's
 * call of WAKE takes it first. The memory takes stores in any order; a release takes the earlier ones first.
 *
 * Properties: the waiter goes on (no invalid end state) and sees what was written. -DNO_RELEASE, and -DWAKE_FIRST, a wake-up before the
 * store, must fail.
 */
bool page = false, state = false;           /* memory */
bool page_way = false, state_way = false;   /* the teller's stores under way */
bool sleeps = false;

active proctype memory()
{
end:
    do
    :: atomic { page_way -> page = true; page_way = false }
    :: atomic { state_way -> state = true; state_way = false }
    od
}

inline wake() { atomic { sleeps = false } }

active proctype teller()
{
    page_way = true;                        /* WRITE */
#ifdef WAKE_FIRST
    wake();
#endif
#ifndef NO_RELEASE
    !page_way;
#endif
    state_way = true;                       /* STORE */
#ifndef WAKE_FIRST
    !state_way;
    wake()                                  /* WAKE */
#endif
}

active proctype waiter()
{
    do
    :: state -> break                       /* LOAD */
    :: !state ->
        atomic { if :: !state -> sleeps = true :: else fi };    /* WAIT */
        !sleeps
    od;
    assert(page)                            /* READ */
}
