/* arena_test: whatever threads come and go, they are spread evenly over the arenas. A count of arenas outside its
 * range becomes the nearest one inside. */
#include "blocks_boot.h"

int main(void)
{
    uint32_t joined[1000];
    for (uint32_t arenas = 1; arenas <= 8; arenas++) {
        uint32_t count = 0;
        blocks_boot(arenas);
        CHECK(arena_count() == arenas);
        for (int step = 0; step < 5000; step++) {
            uint32_t i = (uint32_t)random_below(count + 1) % (count + (count == 0)), to = (uint32_t)random_below(arenas);
            if (count > 0 && random_below(16) == 0 && to != joined[i]) {
                uint32_t from = joined[i], before = arena_thread_count[from], then = arena_thread_count[to];
                arena_move(from, to);
                CHECK(arena_thread_count[from] == before - 1 && arena_thread_count[to] == then + 1);
                joined[i] = to;
            } else if (count < 1000 && random_below(3) != 0) {
                joined[count] = arena_join();
                CHECK(joined[count] < arenas);
                for (uint32_t a = 0; a < arenas; a++) {     /* it was one of those with the fewest threads */
                    CHECK(arena_thread_count[a] + 1 >= arena_thread_count[joined[count]]);
                }
                count++;
            } else if (count > 0) {
                arena_leave(joined[i]);
                joined[i] = joined[--count];
            }
            uint32_t sum = 0;
            for (uint32_t a = 0; a < arenas; a++) {
                sum += arena_thread_count[a];
            }
            CHECK(sum == count);
        }
        while (count > 0) {
            arena_leave(joined[--count]);
        }
    }
    arena_boot(0, false);
    CHECK(arena_count() == 1);
    arena_boot(100000, false);
    CHECK(arena_count() == ARENAS_MAX);
    return blocks_done("arena");
}
