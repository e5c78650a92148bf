/* A plugin that uses the malloc it finds: see deepbind.c. */
#include <stdlib.h>

void *plugin_take(size_t bytes);
void  plugin_give(void *block);

void *plugin_take(size_t bytes)
{
    return malloc(bytes);
}

void plugin_give(void *block)
{
    free(block);
}
