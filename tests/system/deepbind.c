/* A plugin that is opened with RTLD_DEEPBIND frees a block of the program's malloc, and the program one of the plugin's.
 *
 * usage: deepbind        finds deepbind_plugin.so along its RUNPATH
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    void *library = dlopen("deepbind_plugin.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    void *(*take)(size_t);
    void (*give)(void *);
    if (library == NULL) {
        fprintf(stderr, "deepbind: %s\n", dlerror());
        return 1;
    }
    *(void **)&take = dlsym(library, "plugin_take");
    *(void **)&give = dlsym(library, "plugin_give");
    give(malloc(100));
    free(take(100000));
    printf("ok deepbind\n");
    return 0;
}
