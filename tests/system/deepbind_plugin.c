/* A plugin that uses the malloc that it finds. deepbind.c opens it. */
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
