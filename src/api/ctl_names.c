/* ctl_names: what each name of mallctl has.
 *
 * The arenas that are there from boot on share one page cache. What it holds stands under arena 0, so that the sum over the arenas is the
 * whole; its times are those of each of them. The figures of an arena's small blocks are its own. The arena of oversize blocks has pages, times
 * and large blocks of its own. Those that have been made (ctl_arenas) have pages and times of their own.
 */
#include <errno.h>
#include <string.h>

#include "api/config.h"
#include "api/ctl.h"
#include "api/ctl_arenas.h"
#include "api/ctl_counts.h"
#include "api/ctl_locks.h"
#include "api/ctl_prof.h"
#include "api/ctl_thread.h"
#include "api/thread.h"
#include "blocks/holes.h"
#include "blocks/slab.h"
#include "math/size_class.h"
#include "pages/pages.h"
#include "platform/limit.h"
#include "platform/os.h"
#include "tcache/outside.h"

#include "qedmalloc/qedmalloc.h"

#define HUGE_PAGE_BYTES (2UL << 20)
#define NANOSECONDS 1000000U                /* of a millisecond */
#define INTERFACE "5.3.0-0-qedmalloc-"      /* jemalloc's version whose interface this is, then the library's */

const char ctl_version[] = INTERFACE QEDMALLOC_VERSION;

static uint64_t boot_ms;
static uint64_t max_threads;

void ctl_boot(void)
{
    boot_ms = os_clock_ms();
    max_threads = config.max_background_threads;
    ctl_arenas_boot();
}

/* ---- constants and settings -------------------------------------------------------------------------------------- */

static int read_constant(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)index;
    *value = n->at;
    return 0;
}

static int read_text(uint64_t *value, const char *text)
{
    *value = (uint64_t)(uintptr_t)text;
    return 0;
}

static int read_version(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n, (void)index;
    return read_text(value, ctl_version);
}

static int read_build_conf(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n, (void)index;
    return read_text(value, QEDMALLOC_BUILD_CONF);
}

static int read_disabled(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n, (void)index;
    return read_text(value, "disabled");
}

/* opt.NAME: the setting as it was read at the start, or the only value that it has. */
static int read_option(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)index;
    const struct config_option *o = config_options;
    while (strcmp(o->name, n->name + sizeof "opt." - 1) != 0) {
        o++;
    }
    const char *at = (const char *)&config + o->at;
    if (o->type == CONFIG_WORD) {
        return read_text(value, o->why == NULL ? at : o->word);
    }
    *value = o->why != NULL ? (uint64_t)o->least
             : o->type == CONFIG_BOOL ? *(const bool *)at
             : o->type == CONFIG_UNSIGNED ? *(const uint32_t *)at
                                          : *(const uint64_t *)at;
    return 0;
}

/* ---- thread caches ------------------------------------------------------------------------------------------------ */

/* How many classes they keep. */
static int read_tcache_classes(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n, (void)index;
    *value = size_class_index(config.tcache_max) + 1;
    return 0;
}

static int read_tcache_max(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n, (void)index;
    *value = size_class_bytes(size_class_index(config.tcache_max));
    return 0;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static int read_thread_arena(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n, (void)index;
    *value = thread_get()->arena;
    return 0;
}

/* The thread's next blocks come from that arena. Those that it has ready stay, and go back to where they came from. */
static int write_thread_arena(const struct ctl_name *n, const size_t *index, uint64_t value)
{
    (void)n, (void)index;
    struct tcache *t = thread_get();
    uint32_t       from = t->arena;
    if (value >= ctl_arenas()) {
        return EFAULT;
    }
    if (tcache_is_standin(t)) {
        return EAGAIN;
    }
    if (value != from) {
        if (!arena_move(from, (uint32_t)value)) {
            return ATOMIC_LOAD(arena_kind[value]) == ARENA_OVERSIZE ? EPERM : EFAULT;   /* the arena of oversize blocks has no threads */
        }
        t->arena = (uint16_t)value;
    }
    return 0;
}

static int act_idle(const size_t *index)
{
    (void)act_tcache_flush(index);
    return 0;
}

/* ---- the background thread --------------------------------------------------------------------------------------- */

static int read_background(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n, (void)index;
    *value = background_runs() ? 1 : 0;
    return 0;
}

static int write_background(const struct ctl_name *n, const size_t *index, uint64_t value)
{
    (void)n, (void)index;
    return background_switch(value != 0) ? 0 : EFAULT;
}

/* One thread serves all arenas, however many are allowed. */
static int read_max_threads(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n, (void)index;
    *value = ATOMIC_LOAD(max_threads);
    return 0;
}

static int write_max_threads(const struct ctl_name *n, const size_t *index, uint64_t value)
{
    (void)n, (void)index;
    if (value == 0 || value > config.max_background_threads) {
        return EINVAL;
    }
    ATOMIC_STORE(max_threads, value);
    return 0;
}

enum { BACKGROUND_THREADS, BACKGROUND_RUNS, BACKGROUND_INTERVAL };

static int read_background_stats(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)index;
    ctl_lock();
    const struct background_stats *b = &ctl_stats->background;
    *value = n->at == BACKGROUND_THREADS ? b->threads : n->at == BACKGROUND_RUNS ? b->runs : b->interval_ns;
    ctl_unlock();
    return 0;
}

/* ---- arenas ------------------------------------------------------------------------------------------------------ */

static int read_narenas(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n, (void)index;
    *value = ctl_arenas();
    return 0;
}

static int act_decay(const size_t *index)
{
    (void)index;
    pages_decay();
    while (holes_decay()) {
    }
    return 0;
}

static int act_purge(const size_t *index)
{
    if (index[0] >= ctl_arenas() || ctl_cache(index[0]) == PAGES_SHARED) {
        (void)holes_trim(arena_count());
    }
    (void)(index[0] < ctl_arenas() ? pages_purge(ctl_cache(index[0])) : pages_trim());
    return 0;
}

static int write_dss(const struct ctl_name *n, const size_t *index, uint64_t value)
{
    (void)n, (void)index;
    const char *text = (const char *)(uintptr_t)value;
    return text == NULL ? EINVAL : strcmp(text, "disabled") == 0 ? 0 : EPERM;
}

enum { CLASS_BYTES, CLASS_REGIONS, CLASS_SLAB_BYTES };

static int read_bin(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    size_t i = index[0];
    *value = n->at == CLASS_BYTES ? slab_bytes[i] : n->at == CLASS_REGIONS ? slab_regions[i] : slab_npages[i] * PAGE;
    return 0;
}

static int read_lextent(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n;
    *value = size_class_bytes(SC_NBINS + (uint32_t)index[0]);
    return 0;
}

/* ---- statistics, as they were at the last epoch ------------------------------------------------------------------- */

static int read_epoch(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n, (void)index;
    ctl_lock();
    *value = ctl_stats->epoch;
    ctl_unlock();
    return 0;
}

static int write_epoch(const struct ctl_name *n, const size_t *index, uint64_t value)
{
    (void)n, (void)index, (void)value;
    ctl_lock();
    ctl_refresh();
    ctl_unlock();
    return 0;
}

static int read_total(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)index;
    ctl_lock();
    *value = ctl_total(n->at);
    ctl_unlock();
    return 0;
}

static int read_active_now(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n, (void)index;
    struct pages_stats p;
    (void)thread_get();
    pages_read_stats(&p);
    *value = p.active * PAGE;
    return 0;
}

enum { LIMIT_MAPPED, LIMIT_REFUSED };

/* These count by themselves, and wait for no epoch. */
static int read_limit(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)index;
    *value = n->at == LIMIT_MAPPED ? ATOMIC_LOAD(limit_mapped) : ATOMIC_LOAD(limit_refused);
    return 0;
}

/* An arena's own slabs are its active pages. */
static int read_arena_total(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    size_t   i = index[0];
    uint32_t from = ctl_arenas_from(i), to = ctl_arenas_to(i);
    ctl_lock();
    if (i >= ctl_arenas()) {
        *value = ctl_total(n->at);
    } else if (ctl_cache(i) != PAGES_SHARED) {
        *value = ctl_own(from, n->at);
    } else if (n->at == PACTIVE) {
        *value = (ctl_slab_bytes(from, to) + (from == 0 ? ctl_shared(LARGE_BYTES) : 0)) / PAGE;
    } else {
        *value = from > 0 ? 0 : ctl_shared(n->at);
    }
    ctl_unlock();
    return 0;
}

static int read_nthreads(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n;
    *value = 0;
    ctl_lock();
    for (uint32_t a = ctl_arenas_from(index[0]); a < ctl_arenas_to(index[0]); a++) {
        *value += ctl_stats->threads[a];
    }
    ctl_unlock();
    return 0;
}

static int read_uptime(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n, (void)index;
    *value = (os_clock_ms() - boot_ms) * NANOSECONDS;
    return 0;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

#define RO(name, type, read, at) {name, type, at, false, read, NULL, NULL, NULL}
#define RW(name, type, read, write, at) {name, type, at, false, read, write, NULL, NULL}
#define WO(name, type, write) {name, type, 0, false, NULL, write, NULL, NULL}
#define ACT(name, act) {name, CTL_VOID, 0, false, NULL, NULL, act, NULL}
#define CALL(name, type, call) {name, type, 0, false, NULL, NULL, NULL, call}
#define CONSTANT(name, type, number) RO(name, type, read_constant, number)
#define OPTION(name, type) RO("opt." name, type, read_option, 0)
#define LOCK(name, read, lock)                                              \
    RO(name ".num_ops", CTL_UINT64, read, (lock) * COUNTERS + OPS),         \
    RO(name ".num_wait", CTL_UINT64, read, (lock) * COUNTERS + WAITS),      \
    RO(name ".num_spin_acq", CTL_UINT64, read, (lock) * COUNTERS + SPINS),  \
    RO(name ".num_owner_switch", CTL_UINT64, read, (lock) * COUNTERS + SWITCHES), \
    RO(name ".total_wait_time", CTL_UINT64, read, (lock) * COUNTERS + WAIT_TOTAL), \
    RO(name ".max_wait_time", CTL_UINT64, read, (lock) * COUNTERS + WAIT_MAX), \
    RO(name ".max_num_thds", CTL_UINT32, read, (lock) * COUNTERS + THREADS_MAX)

const struct ctl_name ctl_names[] = {
    RO("version", CTL_TEXT, read_version, 0),
    {"epoch", CTL_UINT64, 0, true, read_epoch, write_epoch, NULL, NULL},
    RW("background_thread", CTL_BOOL, read_background, write_background, 0),
    RW("max_background_threads", CTL_SIZE, read_max_threads, write_max_threads, 0),
    CONSTANT("config.cache_oblivious", CTL_BOOL, 0),
    CONSTANT("config.debug", CTL_BOOL, 0),
    CONSTANT("config.fill", CTL_BOOL, 1),
    CONSTANT("config.lazy_lock", CTL_BOOL, 0),
    RO("config.malloc_conf", CTL_TEXT, read_build_conf, 0),
    CONSTANT("config.prof", CTL_BOOL, QED_PROF),
    CONSTANT("config.prof_libgcc", CTL_BOOL, QED_PROF),
    CONSTANT("config.prof_libunwind", CTL_BOOL, QED_PROF),
    CONSTANT("config.stats", CTL_BOOL, 1),
    CONSTANT("config.utrace", CTL_BOOL, 0),
    CONSTANT("config.xmalloc", CTL_BOOL, 1),
    OPTION("abort", CTL_BOOL),
    OPTION("confirm_conf", CTL_BOOL),
    OPTION("abort_conf", CTL_BOOL),
    OPTION("cache_oblivious", CTL_BOOL),
    OPTION("metadata_thp", CTL_TEXT),
    OPTION("trust_madvise", CTL_BOOL),
    OPTION("retain", CTL_BOOL),
    OPTION("dss", CTL_TEXT),
    OPTION("narenas", CTL_UNSIGNED),
    OPTION("oversize_threshold", CTL_SIZE),
    OPTION("percpu_arena", CTL_TEXT),
    OPTION("background_thread", CTL_BOOL),
    OPTION("max_background_threads", CTL_SIZE),
    OPTION("dirty_decay_ms", CTL_SSIZE),
    OPTION("muzzy_decay_ms", CTL_SSIZE),
    OPTION("lg_extent_max_active_fit", CTL_SIZE),
    OPTION("limit_hard", CTL_SIZE),
    OPTION("limit_soft", CTL_SIZE),
    OPTION("dirty_max", CTL_SIZE),
    OPTION("stats_print", CTL_BOOL),
    OPTION("stats_print_opts", CTL_TEXT),
    OPTION("stats_interval", CTL_SSIZE),
    OPTION("stats_interval_opts", CTL_TEXT),
    OPTION("junk", CTL_TEXT),
    OPTION("zero", CTL_BOOL),
    OPTION("check_free", CTL_BOOL),
    OPTION("xmalloc", CTL_BOOL),
    OPTION("tcache", CTL_BOOL),
    OPTION("tcache_max", CTL_SIZE),
    OPTION("thp", CTL_TEXT),
    OPTION("prof_bt_max", CTL_UNSIGNED),
    OPTION("prof", CTL_BOOL),
    OPTION("prof_prefix", CTL_TEXT),
    OPTION("prof_backtrace", CTL_TEXT),
    OPTION("prof_active", CTL_BOOL),
    OPTION("prof_thread_active_init", CTL_BOOL),
    OPTION("lg_prof_sample", CTL_SIZE),
    OPTION("prof_accum", CTL_BOOL),
    OPTION("prof_pid_namespace", CTL_BOOL),
    OPTION("lg_prof_interval", CTL_SSIZE),
    OPTION("prof_gdump", CTL_BOOL),
    OPTION("prof_final", CTL_BOOL),
    OPTION("prof_leak", CTL_BOOL),
    OPTION("prof_leak_error", CTL_BOOL),
    OPTION("zero_realloc", CTL_TEXT),
    OPTION("disable_large_size_classes", CTL_BOOL),
    OPTION("process_madvise_max_batch", CTL_SIZE),
    RW("thread.arena", CTL_UNSIGNED, read_thread_arena, write_thread_arena, 0),
    RO("thread.allocated", CTL_UINT64, read_thread_count, THREAD_ALLOCATED),
    RO("thread.allocatedp", CTL_TEXT, read_thread_count, THREAD_ALLOCATEDP),
    RO("thread.deallocated", CTL_UINT64, read_thread_count, THREAD_DEALLOCATED),
    RO("thread.deallocatedp", CTL_TEXT, read_thread_count, THREAD_DEALLOCATEDP),
    RO("thread.peak.read", CTL_UINT64, read_thread_count, THREAD_PEAK),
    ACT("thread.peak.reset", act_peak_reset),
    RW("thread.tcache.enabled", CTL_BOOL, read_tcache_enabled, write_tcache_enabled, 0),
    ACT("thread.tcache.flush", act_tcache_flush),
    RW("thread.tcache.max", CTL_SIZE, read_tcache_most, write_tcache_most, 0),
    CALL("thread.tcache.ncached_max.read_sizeclass", CTL_SIZE, call_ncached_max),
    WO("thread.tcache.ncached_max.write", CTL_TEXT, write_ncached_max),
    RW("thread.prof.name", CTL_TEXT, read_prof_name, write_prof_name, 0),
    RW("thread.prof.active", CTL_BOOL, read_prof_bool, write_prof_bool, 3),
    ACT("thread.idle", act_idle),
    CALL("tcache.create", CTL_UNSIGNED, call_tcache_create),
    WO("tcache.flush", CTL_UNSIGNED, write_tcache_flush),
    WO("tcache.destroy", CTL_UNSIGNED, write_tcache_destroy),
    RO("arena.%a.initialized", CTL_BOOL, read_initialized, 0),
    ACT("arena.%a.decay", act_decay),
    ACT("arena.%a.purge", act_purge),
    ACT("arena.%a.reset", act_arena_reset),
    ACT("arena.%a.destroy", act_arena_destroy),
    CALL("arena.%a.name", CTL_TEXT, call_arena_name),
    CALL("arena.%a.extent_hooks", CTL_TEXT, call_arena_hooks),
    RW("arena.%a.dss", CTL_TEXT, read_disabled, write_dss, 0),
    RW("arena.%a.dirty_decay_ms", CTL_SSIZE, read_decay, write_decay, DECAY_DIRTY),
    RW("arena.%a.muzzy_decay_ms", CTL_SSIZE, read_decay, write_decay, DECAY_MUZZY),
    RW("arena.%a.retain_grow_limit", CTL_SIZE, read_growth, write_growth, 0),
    RO("arenas.narenas", CTL_UNSIGNED, read_narenas, 0),
    RW("arenas.dirty_decay_ms", CTL_SSIZE, read_decays, write_decays, DECAY_DIRTY),
    RW("arenas.muzzy_decay_ms", CTL_SSIZE, read_decays, write_decays, DECAY_MUZZY),
    CONSTANT("arenas.quantum", CTL_SIZE, SC_QUANTUM),
    CONSTANT("arenas.page", CTL_SIZE, PAGE),
    CONSTANT("arenas.hugepage", CTL_SIZE, HUGE_PAGE_BYTES),
    RO("arenas.tcache_max", CTL_SIZE, read_tcache_max, 0),
    CONSTANT("arenas.nbins", CTL_UNSIGNED, SC_NBINS),
    RO("arenas.nhbins", CTL_UNSIGNED, read_tcache_classes, 0),
    RO("arenas.bin.%b.size", CTL_SIZE, read_bin, CLASS_BYTES),
    RO("arenas.bin.%b.nregs", CTL_UINT32, read_bin, CLASS_REGIONS),
    RO("arenas.bin.%b.slab_size", CTL_SIZE, read_bin, CLASS_SLAB_BYTES),
    CONSTANT("arenas.nlextents", CTL_UNSIGNED, SC_NSIZES - SC_NBINS),
    RO("arenas.lextent.%l.size", CTL_SIZE, read_lextent, 0),
    CALL("arenas.create", CTL_UNSIGNED, call_arenas_create),
    CALL("arenas.lookup", CTL_UNSIGNED, call_arenas_lookup),
    RW("prof.thread_active_init", CTL_BOOL, read_prof_bool, write_prof_bool, 2),
    RW("prof.active", CTL_BOOL, read_prof_bool, write_prof_bool, 0),
    WO("prof.dump", CTL_TEXT, write_prof_dump),
    WO("prof.prefix", CTL_TEXT, write_prof_prefix),
    RW("prof.gdump", CTL_BOOL, read_prof_bool, write_prof_bool, 1),
    WO("prof.reset", CTL_SIZE, write_prof_reset),
    RO("prof.lg_sample", CTL_SIZE, read_prof_lg_sample, 0),
    RO("prof.interval", CTL_UINT64, read_prof_interval, 0),
    RO("prof.stats.contexts", CTL_UINT64, read_prof_stats, 0),
    RO("prof.stats.thread_contexts", CTL_UINT64, read_prof_stats, 1),
    RO("prof.stats.sampled", CTL_UINT64, read_prof_stats, 2),
    RO("prof.stats.dropped", CTL_UINT64, read_prof_stats, 3),
    RO("prof.stats.live", CTL_UINT64, read_prof_stats, 4),
    RO("prof.stats.live_bytes", CTL_UINT64, read_prof_stats, 5),
    RO("prof.stats.live_estimate", CTL_UINT64, read_prof_stats, 6),
    RO("approximate_stats.active", CTL_SIZE, read_active_now, 0),
    RO("stats.allocated", CTL_SIZE, read_total, ALLOCATED),
    RO("stats.active", CTL_SIZE, read_total, ACTIVE),
    RO("stats.metadata", CTL_SIZE, read_total, METADATA),
    CONSTANT("stats.metadata_thp", CTL_SIZE, 0),
    RO("stats.resident", CTL_SIZE, read_total, RESIDENT),
    RO("stats.mapped", CTL_SIZE, read_total, MAPPED),
    RO("stats.retained", CTL_SIZE, read_total, RETAINED),
    CONSTANT("stats.pinned", CTL_SIZE, 0),
    RO("stats.zero_reallocs", CTL_SIZE, read_zero_reallocs, 0),
    RO("stats.limit.mapped", CTL_SIZE, read_limit, LIMIT_MAPPED),
    RO("stats.limit.refused", CTL_UINT64, read_limit, LIMIT_REFUSED),
    RO("stats.background_thread.num_threads", CTL_SIZE, read_background_stats, BACKGROUND_THREADS),
    RO("stats.background_thread.num_runs", CTL_UINT64, read_background_stats, BACKGROUND_RUNS),
    RO("stats.background_thread.run_interval", CTL_UINT64, read_background_stats, BACKGROUND_INTERVAL),
    LOCK("stats.mutexes.ctl", read_lock, CTL_LOCK_CTL),
    LOCK("stats.mutexes.background_thread", read_lock, CTL_LOCK_BACKGROUND),
    ACT("stats.mutexes.reset", act_reset_locks),
    RO("stats.arenas.%a.dss", CTL_TEXT, read_disabled, 0),
    RO("stats.arenas.%a.dirty_decay_ms", CTL_SSIZE, read_decay, DECAY_DIRTY),
    RO("stats.arenas.%a.muzzy_decay_ms", CTL_SSIZE, read_decay, DECAY_MUZZY),
    RO("stats.arenas.%a.nthreads", CTL_UNSIGNED, read_nthreads, 0),
    RO("stats.arenas.%a.uptime", CTL_UINT64, read_uptime, 0),
    RO("stats.arenas.%a.pactive", CTL_SIZE, read_arena_total, PACTIVE),
    RO("stats.arenas.%a.pdirty", CTL_SIZE, read_arena_total, PDIRTY),
    RO("stats.arenas.%a.pmuzzy", CTL_SIZE, read_arena_total, PMUZZY),
    RO("stats.arenas.%a.mapped", CTL_SIZE, read_arena_total, MAPPED),
    RO("stats.arenas.%a.retained", CTL_SIZE, read_arena_total, RETAINED),
    CONSTANT("stats.arenas.%a.pinned", CTL_SIZE, 0),
    RO("stats.arenas.%a.extent_avail", CTL_SIZE, read_extent_avail, 0),
    RO("stats.arenas.%a.dirty_npurge", CTL_UINT64, read_purges, PURGE_SWEEPS * DECAY_COUNT + DECAY_DIRTY),
    RO("stats.arenas.%a.dirty_nmadvise", CTL_UINT64, read_purges, PURGE_CALLS * DECAY_COUNT + DECAY_DIRTY),
    RO("stats.arenas.%a.dirty_purged", CTL_UINT64, read_purges, PURGE_NPAGES * DECAY_COUNT + DECAY_DIRTY),
    RO("stats.arenas.%a.muzzy_npurge", CTL_UINT64, read_purges, PURGE_SWEEPS * DECAY_COUNT + DECAY_MUZZY),
    RO("stats.arenas.%a.muzzy_nmadvise", CTL_UINT64, read_purges, PURGE_CALLS * DECAY_COUNT + DECAY_MUZZY),
    RO("stats.arenas.%a.muzzy_purged", CTL_UINT64, read_purges, PURGE_NPAGES * DECAY_COUNT + DECAY_MUZZY),
    RO("stats.arenas.%a.base", CTL_SIZE, read_arena_total, METADATA),
    CONSTANT("stats.arenas.%a.internal", CTL_SIZE, 0),
    CONSTANT("stats.arenas.%a.metadata_thp", CTL_SIZE, 0),
    RO("stats.arenas.%a.resident", CTL_SIZE, read_arena_total, RESIDENT),
    RO("stats.arenas.%a.small.allocated", CTL_SIZE, read_small_bytes, 0),
    RO("stats.arenas.%a.small.nmalloc", CTL_UINT64, read_small, FILLED),
    RO("stats.arenas.%a.small.ndalloc", CTL_UINT64, read_small, FLUSHED),
    RO("stats.arenas.%a.small.nrequests", CTL_UINT64, read_small, FILLS),
    RO("stats.arenas.%a.small.nfills", CTL_UINT64, read_small, FILLS),
    RO("stats.arenas.%a.small.nflushes", CTL_UINT64, read_small, FLUSHES),
    RO("stats.arenas.%a.large.allocated", CTL_SIZE, read_arena_total, LARGE_BYTES),
    RO("stats.arenas.%a.large.nmalloc", CTL_UINT64, read_large, LARGE_MADE),
    RO("stats.arenas.%a.large.ndalloc", CTL_UINT64, read_large, LARGE_GONE),
    RO("stats.arenas.%a.large.nrequests", CTL_UINT64, read_large, LARGE_MADE),
    RO("stats.arenas.%a.large.nfills", CTL_UINT64, read_large, LARGE_MADE),
    RO("stats.arenas.%a.large.nflushes", CTL_UINT64, read_large, LARGE_GONE),
    RO("stats.arenas.%a.bins.%b.nmalloc", CTL_UINT64, read_arena_bin, FILLED),
    RO("stats.arenas.%a.bins.%b.ndalloc", CTL_UINT64, read_arena_bin, FLUSHED),
    RO("stats.arenas.%a.bins.%b.nrequests", CTL_UINT64, read_arena_bin, FILLS),
    RO("stats.arenas.%a.bins.%b.curregs", CTL_SIZE, read_arena_bin, LIVE),
    RO("stats.arenas.%a.bins.%b.nfills", CTL_UINT64, read_arena_bin, FILLS),
    RO("stats.arenas.%a.bins.%b.nflushes", CTL_UINT64, read_arena_bin, FLUSHES),
    RO("stats.arenas.%a.bins.%b.nslabs", CTL_UINT64, read_arena_bin, SLABS_MADE),
    RO("stats.arenas.%a.bins.%b.nreslabs", CTL_UINT64, read_arena_bin, SLABS_AGAIN),
    RO("stats.arenas.%a.bins.%b.curslabs", CTL_SIZE, read_arena_bin, SLABS),
    RO("stats.arenas.%a.bins.%b.nonfull_slabs", CTL_SIZE, read_arena_bin, SLABS_NONFULL),
    LOCK("stats.arenas.%a.bins.%b.mutex", read_bin_lock, 0),
    RO("stats.arenas.%a.extents.%e.ndirty", CTL_SIZE, read_extents, EXTENT_DIRTY),
    RO("stats.arenas.%a.extents.%e.nmuzzy", CTL_SIZE, read_extents, EXTENT_MUZZY),
    RO("stats.arenas.%a.extents.%e.nretained", CTL_SIZE, read_extents, EXTENT_RETAINED),
    RO("stats.arenas.%a.extents.%e.dirty_bytes", CTL_SIZE, read_extents, EXTENT_STATES + EXTENT_DIRTY),
    RO("stats.arenas.%a.extents.%e.muzzy_bytes", CTL_SIZE, read_extents, EXTENT_STATES + EXTENT_MUZZY),
    RO("stats.arenas.%a.extents.%e.retained_bytes", CTL_SIZE, read_extents, EXTENT_STATES + EXTENT_RETAINED),
    RO("stats.arenas.%a.lextents.%l.nmalloc", CTL_UINT64, read_lextents, LARGE_MADE),
    RO("stats.arenas.%a.lextents.%l.ndalloc", CTL_UINT64, read_lextents, LARGE_GONE),
    RO("stats.arenas.%a.lextents.%l.nrequests", CTL_UINT64, read_lextents, LARGE_MADE),
    RO("stats.arenas.%a.lextents.%l.curlextents", CTL_SIZE, read_lextents, LARGE_NOW),
    LOCK("stats.arenas.%a.mutexes.large", read_arena_lock, NO_LOCK),
    LOCK("stats.arenas.%a.mutexes.extent_avail", read_arena_lock, NO_LOCK),
    LOCK("stats.arenas.%a.mutexes.extents_dirty", read_arena_lock, CTL_LOCK_PAGES),
    LOCK("stats.arenas.%a.mutexes.extents_muzzy", read_arena_lock, NO_LOCK),
    LOCK("stats.arenas.%a.mutexes.extents_retained", read_arena_lock, NO_LOCK),
    LOCK("stats.arenas.%a.mutexes.extents_pinned", read_arena_lock, NO_LOCK),
    LOCK("stats.arenas.%a.mutexes.decay_dirty", read_arena_lock, NO_LOCK),
    LOCK("stats.arenas.%a.mutexes.decay_muzzy", read_arena_lock, NO_LOCK),
    LOCK("stats.arenas.%a.mutexes.base", read_arena_lock, NO_LOCK),
    LOCK("stats.arenas.%a.mutexes.tcache_list", read_arena_lock, CTL_LOCK_DEPOT),
};
const uint32_t ctl_name_count = sizeof ctl_names / sizeof ctl_names[0];
