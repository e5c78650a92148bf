/* Workloads in the shapes of well-known stress programs and of real programs: several sizes, orders and threads at once, and
 * blocks that stay. Written anew, for what the names stand for is the shape alone. */
#include "workload.h"

/* C++'s operators, by their names in the object code: new of so many bytes, delete of so many. */
void *operator_new(size_t bytes) __asm__("_Znwm");
void  operator_delete_sized(void *p, size_t bytes) __asm__("_ZdlPvm");

/* ---- runs and groups (sh6bench): two threads allocate runs of one size, and free groups in another order --------------- */

#define RUN_BLOCKS 20000

static void *runs_and_groups_body(void *argument)
{
    struct dice d = {(size_t)argument};
    void      **p = calloc(RUN_BLOCKS, sizeof *p);
    for (size_t r = times(300); r > 0; r--) {
        for (size_t i = 0; i < RUN_BLOCKS;) {       /* the empty places fill up, up to 100 in a row with one size */
            size_t bytes = small(&d), end = i + 1 + roll(&d) % 100;
            for (; i < end && i < RUN_BLOCKS; i++) {
                if (p[i] == NULL) {
                    touch(p[i] = malloc(bytes));
                }
            }
        }
        for (size_t g = 0; g < RUN_BLOCKS / 100; g++) {     /* two thirds leave, every other group backwards */
            size_t begin = roll(&d) % (RUN_BLOCKS - 200), n = roll(&d) % 200;
            for (size_t i = 0; i < n; i++) {
                size_t k = begin + (g % 2 == 0 ? i : n - 1 - i);
                free(p[k]);
                p[k] = NULL;
            }
        }
    }
    for (size_t i = 0; i < RUN_BLOCKS; i++) {
        free(p[i]);
    }
    free(p);
    return NULL;
}

static void runs_and_groups(void) { run(2, runs_and_groups_body); }

/* ---- sized delete in server churn: any of four threads frees what any other left behind, and knows its size ------------- */

#define SHARED 20000
static size_t *volatile shared[SHARED];

static void *server_sized_body(void *argument)
{
    struct dice d = {(size_t)argument * 77};
    for (size_t i = 0; i < times(3e6); i++) {
        size_t  bytes = small(&d);
        size_t *p = operator_new(bytes);
        *p = bytes;                                 /* small() is at least 8 */
        size_t *old = __atomic_exchange_n(&shared[roll(&d) % SHARED], p, __ATOMIC_ACQ_REL);
        if (old != NULL) {
            operator_delete_sized(old, *old);
        }
    }
    return NULL;
}

static void server_sized(void) { run(4, server_sized_body); }

/* ---- one thread --------------------------------------------------------------------------------------------------- */

static void large_any(void)                         /* 1 KiB to 25 MiB, each order of magnitude as often as any other */
{
    struct dice d = {8};
    void       *p[40] = {0};
    for (size_t i = 0; i < times(4000); i++) {
        size_t k = roll(&d) % 40;
        size_t least = (size_t)1024 << roll(&d) % 15;
        size_t bytes = least + roll(&d) % least;
        bytes = bytes < (25UL << 20) ? bytes : 25UL << 20;
        free(p[k]);
        p[k] = malloc(bytes);
        for (size_t b = 0; b < bytes; b += 4096) {
            touch((char *)p[k] + b);
        }
    }
    for (size_t k = 0; k < 40; k++) {
        free(p[k]);
    }
}

static void fifo_64(void)                           /* one class, first in, first out, nothing else */
{
    void *p[1000] = {0};
    for (size_t i = 0, k = 0; i < times(40e6); i++) {
        free(p[k]);
        p[k] = malloc(64);
        k = k + 1 < 1000 ? k + 1 : 0;
    }
    for (size_t k = 0; k < 1000; k++) {
        free(p[k]);
    }
}

struct node {
    struct node *child[3];
};

static struct node *plant(struct dice *d, int depth)        /* syntax trees: nodes of 24 to 150 bytes, up to three children */
{
    struct node *t = malloc(sizeof *t + roll(d) % 128);
    for (size_t i = 0; i < 3; i++) {
        t->child[i] = depth > 0 && roll(d) % 8 != 0 ? plant(d, depth - 1) : NULL;
    }
    return t;
}

static void fell(struct node *t)
{
    if (t != NULL) {
        for (size_t i = 0; i < 3; i++) {
            fell(t->child[i]);
        }
        free(t);
    }
}

static void forest(void)                            /* trees built and dropped; eight stand at a time */
{
    struct dice  d = {9};
    struct node *tree[8] = {0};
    for (size_t r = 0; r < times(400); r++) {
        fell(tree[r % 8]);
        tree[r % 8] = plant(&d, 9);
    }
    for (size_t i = 0; i < 8; i++) {
        fell(tree[i]);
    }
}

/* ---- survivors (sh8bench): two threads, batches of up to 1 KiB freed at random, one block in fifty lives on -------------- */

#define BATCH 5000
#define SURVIVORS 20000

static void *survivors_body(void *argument)
{
    struct dice d = {(size_t)argument};
    void      **p = calloc(BATCH, sizeof *p), **old = calloc(SURVIVORS, sizeof *old);
    size_t      next = 0;
    for (size_t r = times(1000); r > 0; r--) {
        for (size_t i = 0; i < BATCH; i++) {
            touch(p[i] = malloc(1 + roll(&d) % (roll(&d) % 4 == 0 ? 1024 : 128)));
        }
        for (size_t i = BATCH; i > 0; i--) {
            size_t k = roll(&d) % i;
            void  *block = p[k];
            p[k] = p[i - 1];
            if (roll(&d) % 50 == 0) {
                free(old[next]);
                old[next] = block;
                next = (next + 1) % SURVIVORS;
            } else {
                free(block);
            }
        }
    }
    for (size_t i = 0; i < SURVIVORS; i++) {
        free(old[i]);
    }
    free(p);
    free(old);
    return NULL;
}

static void survivors(void) { run(2, survivors_body); }

/* ---- passing on (rptest): fifteen threads give some of their blocks to another one, whichever ---------------------------- */

#define PASSERS 15
#define TRAYS 64
static void *volatile tray[PASSERS][TRAYS];

static void *pass_on_body(void *argument)
{
    size_t      me = (size_t)argument - 1;
    struct dice d = {me + 1};
    void       *p[1000] = {0};
    for (size_t i = 0; i < times(500e3); i++) {
        size_t k = roll(&d) % 1000;
        void  *old = p[k];
        touch(p[k] = malloc(16 + roll(&d) % (roll(&d) % 8 == 0 ? 8000 : 500)));
        if (roll(&d) % 3 == 0) {                    /* what lay there before is this thread's to free */
            old = __atomic_exchange_n(&tray[roll(&d) % PASSERS][roll(&d) % TRAYS], old, __ATOMIC_ACQ_REL);
        }
        free(old);
        if (i % 4 == 0) {
            free(__atomic_exchange_n(&tray[me][roll(&d) % TRAYS], NULL, __ATOMIC_ACQ_REL));
        }
    }
    for (size_t k = 0; k < 1000; k++) {
        free(p[k]);
    }
    return NULL;
}

static void pass_on(void) { run(PASSERS, pass_on_body); }

/* ---- short-lived and lasting, small and large (mstress): four threads, begun anew ten times -------------------------------- */

#define TRANSFERS 1000
static void *volatile transfer[TRANSFERS];

static size_t stressful(struct dice *d)             /* one in a hundred is up to 64 KiB, one in ten thousand up to 1 MiB */
{
    uint64_t r = roll(d);
    return r % 10000 == 0 ? 16 + (r >> 16) % (1UL << 20) : r % 100 == 0 ? 16 + (r >> 16) % (1UL << 16) : 8 + (r >> 16) % 512;
}

static void *stress_body(void *argument)
{
    struct dice d = {(size_t)argument * 1234567};
    size_t      count = 0, most = 20000;
    void      **p = calloc(most, sizeof *p);
    for (size_t i = 0; i < times(250e3); i++) {
        uint64_t what = roll(&d) % 100;
        if (what < 52 && count < most) {
            touch(p[count++] = malloc(stressful(&d)));
        } else if (what < 95 && count > 0) {
            size_t k = roll(&d) % count;
            free(p[k]);
            p[k] = p[--count];
        } else if (count > 0) {
            size_t k = roll(&d) % count;
            p[k] = __atomic_exchange_n(&transfer[roll(&d) % TRANSFERS], p[k], __ATOMIC_ACQ_REL);
        }
    }
    while (count > 0) {
        free(p[--count]);
    }
    free(p);
    return NULL;
}

static void stress(void)
{
    for (size_t r = 0; r < 10; r++) {
        run(4, stress_body);
    }
}

static const struct workload workload[] = {
    {"runs_and_groups", runs_and_groups}, {"server_sized", server_sized}, {"large_any", large_any}, {"fifo_64", fifo_64},
    {"forest", forest},                   {"survivors", survivors},       {"pass_on", pass_on},     {"stress", stress},
};

int main(int argc, char **argv)
{
    return run_one(workload, sizeof workload / sizeof workload[0], argc, argv);
}
