/* expect: qedmalloc: free(0xADDR): double free */
#include "abuse.h"

#include <sys/wait.h>
#include <unistd.h>

const char *malloc_conf = "check_free:true";

int main(void)
{
    char *p = opaque(malloc(64)), *q = opaque(malloc(64));
    int   status = 0;
    free(p);
    pid_t child = fork();
    if (child == 0) {
        free(q);                     /* is live in the child too */
        free(opaque(p));
        _exit(0);
    }
    if (waitpid(child, &status, 0) == child && WIFSIGNALED(status)) {
        abort();
    }
    return 0;
}
