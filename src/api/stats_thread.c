/* stats_thread: the thread that keeps the statistics page (stats_page.h). */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api/own_thread.h"
#include "api/stats_page.h"
#include "api/text.h"

/* Newer than some headers. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

static struct stats_page *stats_page;       /* NULL: there is no thread */

/* Makes the page in a file that this thread alone has open, as descriptor 0 of its own: the descriptors of the program stay the program's,
 * and what it closes is closed. The seals, and the mode, leave the mapping as the only way to write. */
static struct stats_page *stats_map(void)
{
    const size_t bytes = sizeof(struct stats_page);
    if (syscall(SYS_close_range, 0U, ~0U, CLOSE_RANGE_UNSHARE) != 0) {
        return NULL;                        /* Linux before 5.9 */
    }
    int file = memfd_create("qedmalloc-stats", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file != 0 || fchmod(file, S_IRUSR) != 0 || ftruncate(file, (off_t)bytes) != 0) {
        return NULL;
    }
    void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) {
        return NULL;
    }
    (void)fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    (void)fcntl(file, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
    if (madvise(page, bytes, MADV_DONTFORK) != 0) {
        (void)munmap(page, bytes);
        return NULL;
    }
    return page;
}

static bool stats_open(void)
{
    stats_page = stats_map();
    if (stats_page != NULL) {
        stats_page_fill(stats_page);
    }
    return stats_page != NULL;
}

static uint32_t stats_turn(void)
{
    stats_page_sample(stats_page);
    return 1000;
}

/* The child of a fork has neither the thread nor the mapping. */
static void stats_forget(void)
{
    stats_page = NULL;
}

static struct own_thread stats_thread = {.name = "qed-stats", .begin = stats_open, .turn = stats_turn, .forget = stats_forget};

const struct stats_page *stats_page_start(void)
{
    if (!own_thread_begin(&stats_thread) || !own_thread_keep(&stats_thread)) {
        struct text t = {.length = 0};
        stats_page_stop();
        text_add(&t, "qedmalloc: QEDMALLOC_CONF: stats_page: no page: it takes Linux 5.9, a thread and a file in memory\n");
        text_write(&t);
    }
    return stats_page;
}

void stats_page_stop(void)
{
    if (stats_page != NULL) {
        own_thread_end(&stats_thread);
        (void)munmap(stats_page, sizeof *stats_page);
        stats_page = NULL;
    }
}
