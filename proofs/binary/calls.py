"""calls: the functions that the fast paths call and that are not looked into, with what their contracts leave of the caller's world.

Registers that belong to the callee are unknown afterwards, those of the caller are as they were (the ABI, believed). `heap`: the cache is any that
keeps the invariant, and the bytes to the next sample are any. `thread`: the thread may have another cache; "result" if the function returns it.
`sets`: the argument that points to a byte in the caller's frame, which it writes. `returns`: the result, where it is known: a term, or the number
of an argument. `ends`: "never" where it does not return, "slow" where a C++ operator leaves its fast path.
"""
from dataclasses import dataclass

from memory import ERRNO


@dataclass(frozen=True)
class Contract:
    file: str               # where the contract stands, "" for the C library
    heap: bool = False
    thread: object = False
    sets: object = None
    returns: object = None
    ends: str = ""


MALLOC = Contract("src/api/malloc.h", heap=True, thread=True)
CALLS = {
    "malloc_slow": Contract("src/api/malloc.c", heap=True, thread=True),
    "malloc_counted": Contract("src/api/malloc.c", heap=True, thread=True),
    "free_slow": Contract("src/api/malloc.c", heap=True, thread=True),
    "free_sized_slow": Contract("src/api/malloc.c", heap=True, thread=True),
    "free_checked": Contract("src/api/malloc.c", heap=True, thread=True),
    "free_placed": Contract("src/api/mallocx.c", heap=True, thread=True),
    "mallocx_plain": Contract("src/api/mallocx.c", heap=True, thread=True),
    "mallocx_zero": Contract("src/api/mallocx.c", heap=True, thread=True),
    "mallocx_placed": Contract("src/api/mallocx.c", heap=True, thread=True),
    "rallocx_slow": Contract("src/api/mallocx.c", heap=True, thread=True),
    "xallocx_slow": Contract("src/api/mallocx.c", heap=True, thread=True),
    "sdallocx_slow": Contract("src/api/mallocx.c", heap=True, thread=True),
    "block_take_aligned": Contract("src/api/malloc.c", heap=True, thread=True),
    "thread_make": Contract("src/api/thread.c", heap=True, thread="result"),
    "block_take_due": Contract("src/api/malloc.c", heap=True, thread=True, sets=2),
    "block_take_unsampled": Contract("src/api/malloc.c", heap=True, thread=True, sets=2),
    "block_tell": Contract("src/api/block.h", returns=0),
    "overflow_asked": Contract("src/tcache/overflow.h", heap=True),
    "prof_usable": Contract("src/prof/prof.h"),
    "request_in_place": Contract("src/api/request.h", heap=True),
    "realloc_slow": Contract("src/api/realloc.h", heap=True, thread=True),
    "realloc_move": Contract("src/api/realloc.h", heap=True, thread=True),
    "realloc_to_zero": Contract("src/api/realloc.h", heap=True, thread=True),
    "fail_out": Contract("src/api/fail.h"),
    "fail_large": Contract("src/api/fail.h", heap=True, thread=True),
    "fail_ends": Contract("src/api/fail.h"),
    "trap_misuse": Contract("src/platform/trap.h", ends="never"),
    "__errno_location": Contract("", returns=ERRNO),
    "memset": Contract("", returns=0),
    "dlsym": Contract("", ends="slow"),
    "_ZSt15get_new_handlerv": Contract("", ends="slow"),
    "qed_malloc": MALLOC, "qed_aligned_alloc": MALLOC, "qed_free": MALLOC, "qed_free_sized": MALLOC, "qed_free_aligned_sized": MALLOC,
    "qed_realloc": MALLOC,
}
