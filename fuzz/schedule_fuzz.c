/* schedule_fuzz: programs of two to four threads in an order that the input gives. The first bytes are the program, the rest says after how
 * many points another thread goes on, and which. A failure is printed as the smallest program and order that fail. */
#include <unistd.h>

#include "schedule_search.h"

unsigned long fuzz_operations;                          /* schedules */

static const uint8_t *input;
static size_t         input_left;

static uint32_t next(void)
{
    return input_left > 0 ? (input_left--, *input++) : 0;
}

static void decode(struct program *p, struct schedule *s)
{
    static const uint8_t call[32] = {MALLOC, FREE, REALLOC, CALLOC, USABLE, EXIT, STATS, TRIM, DECAY, FORK, REFUSE, EPOCH, FLUSH, SET_DECAY,
        MALLOC, MALLOC, MALLOC, MALLOC, FREE, FREE, FREE, FREE, FREE, FREE, EXIT, TRIM, DECAY, MALLOC, FREE, MALLOC, FREE, FLUSH};
    uint32_t             how = next(), kinds = next(), calls = next() % (SCHEDULE_THREADS * CALLS_MAX), point = 0;
    *p = (struct program){.threads = 2 + how % 3, .arenas = 1 + how / 4 % 2, .cold = how / 8 % 4 == 0, .filled = how / 32 % 4 == 1};
    for (uint32_t t = 0; t < p->threads; t++, kinds /= 4) {
        p->kind[t] = p->cold ? UNBORN : kinds % 4 == 3 ? DEAD : kinds % 4;
    }
    for (; calls > 0 && input_left > 0; calls--) {
        uint32_t a = next(), b = next(), t = a % SCHEDULE_THREADS % p->threads;
        if (p->count[t] < CALLS_MAX) {
            p->step[t][p->count[t]++] = (struct step){call[a / SCHEDULE_THREADS % 32], b % SLOTS, b / SLOTS % SIZES};
        }
    }
    for (s->count = 0; s->count < SCHEDULE_SWITCHES_MAX && input_left > 0; s->count++) {
        uint32_t after = next();
        point += after < 192 ? after : (after - 191) * 16;
        s->at[s->count] = (struct schedule_switch){point++, next()};
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct program  p;
    struct schedule s;
    input = data;
    input_left = size;
    decode(&p, &s);
    fuzz_operations++;
    const char *failure = run_program(&p, &s);
    if (failure != NULL) {
        search_report(&p, &s, failure);
    }
    return 0;
}
