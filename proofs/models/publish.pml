/* Publication without a lock: a leaf of the radix tree (src/ds/radix_tree.c), a chunk of a table (src/platform/table.c), the flag that boot
 * is done (src/api/thread.c), a sample on the statistics page (src/api/stats_page.c).
 *
 *   C text                                                             here
 *   radix_publish:      leaf = POOL_NEW_SPARSE (zero), ATOMIC_STORE_RELEASE    WRITE_DATA, PUBLISH
 *   radix_tree_leaf:    ATOMIC_LOAD_ACQUIRE(radix_root[h]), leaf->..    LOAD, READ
 *   boot:               under LOCK_BOOT, if !booted: set up, store      LOCK, CHECK, WRITE_DATA, PUBLISH, UNLOCK
 *   boot_done:          load booted; false: boot(); then use            LOAD, READ
 *
 * Writers keep their stores in a buffer and the memory takes them in any order (weaker than x86-64, as arm64): a release
 * takes all earlier ones first. A leaf's data is two words, so that half of it can be seen.
 *
 * Properties: who sees the pointer (the flag) sees the data; it is set up once, whoever comes first.
 * -DNO_RELEASE, a plain store, must fail; -DNO_ACQUIRE, a plain load, before which the loads that follow it may come, must fail;
 * -DNO_RECHECK, boot without its second look at the flag, must fail.
 */
#define WRITERS 2
#define READERS 2

bool published = false;         /* memory: what others see */
byte data[2];
byte setups = 0;
bool locked = false;

active [WRITERS] proctype writer()
{
    bool buffered[3];           /* stores under way: data[0], data[1], published */
    bool need = true;
    if :: atomic { published -> need = false } :: skip fi;          /* LOAD: may see the old value */
    if
    :: need ->
        atomic { !locked -> locked = true };                        /* LOCK */
#ifndef NO_RECHECK
        if :: published -> need = false :: else fi;                 /* CHECK */
#endif
        if
        :: need ->
            setups++;
            assert(setups == 1);
            buffered[0] = true;                                     /* WRITE_DATA */
            buffered[1] = true;
#ifndef NO_RELEASE
            do                                                      /* PUBLISH: the earlier stores first */
            :: buffered[0] -> atomic { data[0] = 1; buffered[0] = false }
            :: buffered[1] -> atomic { data[1] = 1; buffered[1] = false }
            :: !buffered[0] && !buffered[1] -> break
            od;
#endif
            buffered[2] = true;
            do
            :: buffered[0] -> atomic { data[0] = 1; buffered[0] = false }
            :: buffered[1] -> atomic { data[1] = 1; buffered[1] = false }
            :: buffered[2] -> atomic { published = true; buffered[2] = false }
            :: !buffered[0] && !buffered[1] && !buffered[2] -> break
            od
        :: else
        fi;
        locked = false                                              /* UNLOCK: a release too, the buffer is empty */
    :: else
    fi
}

active [READERS] proctype reader()
{
#ifdef NO_ACQUIRE
    byte early = data[0];
    if :: published -> assert(early == 1) :: skip fi;
#endif
    if
    :: published -> assert(data[0] == 1); assert(data[1] == 1)      /* LOAD, READ: acquire keeps their order */
    :: skip                                                         /* the pointer is still NULL */
    fi
}
