/* list: the links. */
#include "ds/list.h"

TABLE(uint32_t, list_after);
uint32_t list_head[LIST_COUNT];
uint32_t list_length[LIST_COUNT];
