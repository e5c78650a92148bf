/* A plugin with a copy of the allocator in it. plugin_closed.c opens and closes it. */
#include <qedmalloc/qedmalloc.h>

void *plugin_take(size_t bytes);
void  plugin_give(void *block);

void *plugin_take(size_t bytes)
{
    return qed_malloc(bytes);
}

void plugin_give(void *block)
{
    qed_free(block);
}

/* Runs late among the plugin's destructors, and still allocates. */
__attribute__((destructor(102))) static void plugin_end(void)
{
    plugin_give(plugin_take(5000));
}
