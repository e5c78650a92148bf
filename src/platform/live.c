/* live: see live.h. */
#include "platform/live.h"

#include "platform/hints.h"

LONG_TABLE uint64_t *live_table[LIVE_WINDOWS];
bool live_checks;

static bool live_made;              /* what live_checks is from live_begin on; written by the thread that boots */

void live_boot(void)
{
    live_made = true;
}

bool live_booted(void)
{
    return live_made;
}

void live_begin(void)
{
    ATOMIC_STORE_RELEASE(live_checks, live_made);
}

bool live_open(uint64_t window)
{
    if (live_made && ATOMIC_LOAD(live_table[window]) == NULL) {
        ATOMIC_STORE_RELEASE(live_table[window], (uint64_t *)os_map_metadata(LIVE_WORDS * sizeof(uint64_t)));
    }
    return !live_made || live_table[window] != NULL;
}

void live_clear_pages(uint64_t page, uint64_t npages)
{
    if (!live_asked()) {
        return;
    }
    for (uint64_t address = page * PAGE; address < (page + npages) * PAGE; address += 64 * LIVE_SPACING) {
        uint64_t *word = live_word(live_words(address >> LIVE_LG_WINDOW), address);
        ATOMIC_STORE(*word, 0);
    }
}
