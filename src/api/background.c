/* background: see background.h. */
#include "api/background.h"

#include "api/ctl.h"
#include "api/own_thread.h"
#include "blocks/holes.h"
#include "pages/pages.h"
#include "platform/atomic.h"
#include "platform/mutex.h"
#include "platform/os.h"

#define PAUSE_MS_MIN 100U               /* jemalloc's shortest pause, too */
#define PAUSE_MS_MAX 1000U
#define IDLE_PARTS 4                    /* of an interval go by, at most, before new pages are noticed */
#define LOCK_COUNTERS (sizeof(struct mutex_stats) / sizeof(uint64_t))
#define NANOSECONDS 1000000U            /* of a millisecond */

static struct mutex background_lock;    /* who begins or ends the thread has it */
static uint64_t     lock_counters[LOCK_COUNTERS];       /* as they were when the lock was given back */
static uint64_t     begun_ms;
static uint64_t     run_count;          /* the thread alone adds to it */

/* ---- turns ------------------------------------------------------------------------------------------------------- */

/* While there are pages, the thread comes once for each step of the curve. Nothing tells it that a program has freed pages, since that would
 * cost each free, so it looks now and then. */
uint32_t background_pause(int64_t decay_ms, bool pages)
{
    int64_t ms = decay_ms < 0 ? PAUSE_MS_MAX : pages ? decay_ms / (int64_t)SMOOTHSTEP_NSTEPS : decay_ms / IDLE_PARTS;
    return ms < PAUSE_MS_MIN ? PAUSE_MS_MIN : ms > PAUSE_MS_MAX ? PAUSE_MS_MAX : (uint32_t)ms;
}

static uint32_t background_turn(void)
{
    uint32_t ms = PAUSE_MS_MAX;
    pages_decay();
    while (holes_decay()) {
    }
    for (uint32_t c = 0; c < PAGE_CACHES; c++) {
        struct pages_stats p;
        pages_read_cache(c, &p);
        uint32_t dirty_ms = background_pause(ctl_decay_ms(DECAY_DIRTY + c), p.dirty + p.busy > 0);
        uint32_t muzzy_ms = background_pause(ctl_decay_ms(DECAY_MUZZY + c), p.muzzy > 0);
        ms = dirty_ms < ms ? dirty_ms : ms;
        ms = p.muzzy > 0 && muzzy_ms < ms ? muzzy_ms : ms;
    }
    ATOMIC_STORE(run_count, run_count + 1);
    return ms;
}

static bool background_open(void)
{
    ATOMIC_STORE(begun_ms, os_clock_ms());
    ATOMIC_STORE(run_count, 0UL);
    return true;
}

static struct own_thread background_thread = {.name = "qed-background", .begin = background_open, .turn = background_turn};

/* ---- begin and end ----------------------------------------------------------------------------------------------- */

/* Copies the lock's counters for who may not wait for it. Called with the lock. */
static void background_copy_lock(void)
{
    struct mutex_stats now;
    mutex_read_stats(&background_lock, &now);
    for (uint32_t i = 0; i < LOCK_COUNTERS; i++) {
        ATOMIC_STORE(lock_counters[i], ((const uint64_t *)&now)[i]);
    }
}

bool background_switch(bool on)
{
    bool done = true;
    mutex_lock(&background_lock);
    if (!on) {
        own_thread_end(&background_thread);
    } else if (!background_runs()) {
        done = own_thread_keep(&background_thread) && own_thread_begin(&background_thread);
    }
    background_copy_lock();
    mutex_unlock(&background_lock);
    return done;
}

/* Without the lock: who has it may wait for the thread, which waits for mallctl's lock, whose holder may ask here. */
bool background_runs(void)
{
    return ATOMIC_LOAD(background_thread.runs);
}

void background_read_stats(struct background_stats *stats)
{
    uint64_t runs = ATOMIC_LOAD(run_count), ms = os_clock_ms() - ATOMIC_LOAD(begun_ms);
    stats->threads = background_runs() ? 1 : 0;
    stats->runs = stats->threads == 0 ? 0 : runs;
    stats->interval_ns = stats->runs == 0 ? 0 : ms * NANOSECONDS / stats->runs;
}

void background_read_lock(struct mutex_stats *stats)
{
    for (uint32_t i = 0; i < LOCK_COUNTERS; i++) {
        ((uint64_t *)stats)[i] = ATOMIC_LOAD(lock_counters[i]);
    }
}

void background_reset_lock(void)
{
    mutex_reset_stats(&background_lock);
    mutex_lock(&background_lock);
    background_copy_lock();
    mutex_unlock(&background_lock);
}

void background_postfork_child(void)
{
    __atomic_store_n(&background_lock.word, 0U, __ATOMIC_RELEASE);
}
