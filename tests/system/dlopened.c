/* Opens the library with dlopen, beside glibc's malloc, several times and from a thread. Static TLS must not run out.
 *
 * usage: dlopened LIBRARY
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void *(*take)(size_t);
static void (*give)(void *);

static void *use(void *unused)
{
    (void)unused;
    for (size_t i = 1; i < 200000; i = i * 5 / 4 + 1) {
        char *p = take(i);
        if (p == NULL) {
            return NULL;
        }
        memset(p, 1, i);
        give(p);
    }
    return &take;
}

int main(int argc, char **argv)
{
    pthread_t id;
    void     *done = NULL;
    for (int i = 0; i < 3 && argc > 1; i++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) {
            fprintf(stderr, "dlopened: %s\n", dlerror());
            return 1;
        }
        *(void **)&take = dlsym(library, "qed_malloc");
        *(void **)&give = dlsym(library, "qed_free");
        if (take == NULL || give == NULL || use(NULL) == NULL || pthread_create(&id, NULL, use, NULL) != 0) {
            return 1;
        }
        pthread_join(id, &done);
        dlclose(library);
    }
    printf("ok dlopened\n");
    return done == NULL;
}
