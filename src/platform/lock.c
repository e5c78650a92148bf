/* lock: the table of all locks. */
#include "platform/lock.h"

struct lock lock_table[LOCK_RANKS];
