/* trap: how a misuse stops the program. */
#ifndef QED_PLATFORM_TRAP_H
#define QED_PLATFORM_TRAP_H

#include <stdint.h>

/* The caller broke the rules of free or realloc: one message on standard error, then abort. A function that promises
 * `exits \false` thus promises that no call with a valid argument comes here. */
/*@ terminates \true; assigns \nothing; exits stops: \true; ensures never: \false; */
_Noreturn void trap_misuse(const char *call, const char *what, uintptr_t address);

#endif
