/* A build whose addresses end below those that the system gives: malloc and calloc return NULL with ENOMEM, each time. */
#include <errno.h>
#include <qedmalloc/qedmalloc.h>
#include <stddef.h>

int main(void)
{
    for (int i = 0; i < 3; i++) {
        errno = 0;
        if (qed_malloc(100) != NULL || errno != ENOMEM) {
            return 1;
        }
        errno = 0;
        if (qed_calloc(10, 100000) != NULL || errno != ENOMEM) {
            return 2;
        }
    }
    return 0;
}
