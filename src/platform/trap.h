/* trap: how a misuse stops the program. */
#ifndef QED_PLATFORM_TRAP_H
#define QED_PLATFORM_TRAP_H

#include <stdint.h>

/* Called where the program broke the rules of free or realloc. Writes one message to standard error and aborts. A
 * function whose contract says nothing about exits promises that no call with a valid argument comes here. */
/*@ assigns \nothing; exits stops: \true; ensures never: \false; */
_Noreturn void trap_misuse(const char *call, const char *what, uintptr_t address);

#endif
