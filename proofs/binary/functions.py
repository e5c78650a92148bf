"""functions: what each exported function does on its fast path, and with which arguments its other paths reach their slow functions."""
from z3 import And, BitVecVal, Extract, If, Implies, LShR, Or, Select, Store, UGE, UGT, ULE, ULT

from invariant import ClassFits, ClassLeast, live, wide
from machine import logarithm, product
from memory import IMAGE
from sizes import align_down, class_bytes, class_of
from trace import ANY, Text


# ---- malloc and free ----
def is_below(p, size, end):
    """whether a size is below that end of the table of sizes"""
    p.k.learn(end, number(0))
    return p.case(ULT(size, getattr(p.view, end)(number(0))))


def pop_at(p, size):
    """the block on top of the stack for that size, or None, and the stack"""
    p.k.learn("stack_of", size)
    stack = p.view.stack_of(size)
    block = p.pop(stack)
    if block is not None:
        p.k.assume(stack != 0)                                  # tcache_pop, ensures class
        p.prove("tcache_stack_of, ensures fits", ClassFits(size, stack - 1))
        p.prove("tcache_stack_of, ensures least", ClassLeast(size, stack - 1))
    return block, stack


def pop_of(p, size):
    """tcache_take: the block that the thread's cache has for that size, or None"""
    return pop_at(p, size)[0] if is_below(p, size, "lookup_end") else None


def passes(p, stack):
    """counting_passes: the stack's count falls by one. Where it is over, the next sample is due at once."""
    left = Select(p.expected["left"], stack)
    p.expected["left"] = Store(p.expected["left"], stack, left - 1)
    if p.case(left - 1 < 0):                                    # as signed numbers
        p.written["countdown_left"] = BitVecVal(0, 32)
        return False
    return True


def add(p, field, stack):
    """counter_add: the bytes of the stack's blocks are added to that sum"""
    zero, cells = number(0), p.expected[field]
    p.expected[field] = Store(cells, zero, Select(cells, zero) + wide(Select(p.expected["bytes"], stack)))


def mark(p, block, value):
    """live_set and live_clear: the block's bit gets that value"""
    p.expected["live"] = Store(p.expected["live"], p.bit_of(block), BitVecVal(value, 1))


def added_of(p, size):
    """malloc for a thread that counts its bytes, or whose frees are checked and which counts its blocks down, and which does nothing else"""
    adds, block, stack = is_below(p, size, "counted_end"), None, None
    if adds or is_below(p, size, "checked_end"):
        p.k.learn("stack_of", size)
        if adds or passes(p, p.view.stack_of(size)):
            block, stack = pop_at(p, size)
    if block is None:
        return p.call("malloc_slow", size, p.thread)
    add(p, "allocated", stack) if adds else mark(p, block, 1)
    return block


def malloc_of(p, size):
    block = pop_of(p, size)
    if block is not None:
        return block
    if not is_below(p, size, "paced_end"):
        return added_of(p, size)
    p.k.learn("stack_of", size)
    if not passes(p, p.view.stack_of(size)):
        return p.call("malloc_slow", size, p.thread)
    block, stack = pop_at(p, size)
    if block is not None:
        return block
    return p.call("malloc_counted", low(stack - 1)) if p.case(stack != 0) else p.call("malloc_slow", size, p.thread)


def free_of(p, block):
    """A thread whose window_pages is 0 counts the block, or checks that it is live."""
    if p.is_seen(block):
        pushed = p.push(block)
    elif p.is_seen(block, "counted_pages"):
        pushed = p.push(block, pages="counted_pages")
        if pushed is not None:
            add(p, "deallocated", pushed)
    else:
        pushed = p.push(block, pages="checked_pages", checks=True)
        if pushed is not None:
            mark(p, block, 0)
    if pushed is None:
        p.call("free_slow", block, Text("free"))


def push_sized(p, block, size):
    return p.case(ULE(size, p.constants["SC_LOOKUP_MAX"])) and p.push(block, size) is not None


def qed_malloc(p):
    p.returns(malloc_of(p, p.argument(0)))


def qed_free(p):
    free_of(p, p.argument(0))
    p.returns()


def qed_free_sized(p):
    block, size = p.argument(0), p.argument(1)
    if not push_sized(p, block, size):
        p.call("free_sized_slow", block, size)
    p.returns()


# ---- what others share ----
def thread_get(p):
    """The thread's cache, which thread_make gives it where it has none."""
    return p.call("thread_make") if p.case(p.thread == IMAGE + p.image.objects["tcache_unborn"]) else p.thread


def low(e):
    return Extract(31, 0, e)


def number(n):
    return BitVecVal(n, 64)


def invalid(p):
    p.call("__errno_location")
    p.written["errno"] = BitVecVal(p.constants["EINVAL"], 32)
    p.returns(0)


def fail(p, call, size):
    """No memory, which ends the program or sets errno."""
    p.call("fail_out", Text(call), size)
    p.returns(0)


def fail_large(p, call, size):
    """The same for a request too large for any class, which may be the program's first."""
    p.call("fail_large", Text(call), size)
    p.returns(0)


def overflows(p, a, b):
    """count * size > SIZE_MAX: the high half of the product is not 0."""
    return p.case(product(a, b)[1] != 0)


def usable(p, block, call):
    """The bytes of a block: a sampled one has its own."""
    sampled = p.call("prof_usable", block)
    return p.call("overflow_asked", block, Text(call)) if p.case(sampled == 0) else sampled


def qed_malloc_usable_size(p):
    block = p.argument(0)
    if p.case(block == 0):
        return p.returns(0)
    thread_get(p)
    return p.returns(usable(p, block, "malloc_usable_size"))


# ---- calloc ----
def is_due(p, bytes_):
    """countdown_due: the block may be a sample, as it has more bytes than are left to count down; or else they are counted"""
    left = p.countdown
    if p.case(UGT(bytes_, wide(left))):
        return True
    p.written["countdown_left"] = left - low(bytes_)
    return False


def block_take(p, szind, alignment):
    """block_take for a class and an alignment: a block or 0, and what says that it is zero already, None where it is not"""
    k, block, zeroed, szind = p.constants, None, None, p.k.named(szind)
    if p.case(ULT(szind, k["SC_NSIZES"])) and is_due(p, p.k.named(class_bytes(k, szind))):
        block = p.call("block_take_due", low(szind), alignment, ANY)
        zeroed = p.out
    else:
        if p.case(And(ULT(szind + 1, k["TCACHE_STACKS"]), ULE(alignment, k["PAGE"]))):
            block = p.pop(szind + 1)
        if block is None:
            block = p.call("block_take_unsampled", low(szind), alignment, ANY)
            zeroed = p.out
    p.k.learn("lookup_end", number(0))
    if p.case(And(block != 0, p.view.lookup_end(number(0)) == 0)):      # the thread counts its calls
        block = p.call("block_tell", block, low(szind))
    return block, zeroed


def qed_calloc(p):
    """The first count * size bytes of the block get 0, by memset, where they do not have it already as the OS gave them."""
    count, size = p.argument(0), p.argument(1)
    if overflows(p, count, size):
        return fail_large(p, "calloc", number(2**64 - 1))
    bytes_ = product(count, size)[0]
    block, zeroed = pop_of(p, bytes_), None
    if block is None:
        block, zeroed = block_take(p, class_of(p.constants, bytes_), number(1))
        if p.case(block == 0):
            return fail(p, "calloc", bytes_)
    if zeroed is None or p.case(zeroed == 0):
        p.call("memset", block, low(number(0)), bytes_)
    return p.returns(block)


# ---- realloc ----
def malloc_called(p, size):
    """malloc by its name, or its body"""
    return p.call("qed_malloc", size) if p.next_is("qed_malloc") else malloc_of(p, size)


def stays(p, block, size, stack, function):
    """whether a block of that stack's class has the class of a size, and so stays where it is; and the stack of that size"""
    p.k.learn("stack_of", size)
    wanted = p.view.stack_of(size)
    if not p.case(wanted == stack):
        return False, wanted
    szind, is_live = p.view.block_szind(block), live(p.view, block)
    p.k.assume(Implies(is_live, And(ULT(block, p.constants["ADDRESS_MAX"]), szind == stack - 1)))       # tcache_stack_at, ensures class
    p.prove(f"{function}, ensures class", Implies(is_live, And(ClassFits(size, szind), ClassLeast(size, szind))))
    return True, wanted


def realloc_of(p, block, size):
    k = p.constants
    stack = p.stack_at(block) if p.case(And(size != 0, ULE(size, k["SC_LOOKUP_MAX"]))) else None
    if stack is None:
        return p.call("realloc_slow", block, size)
    there, wanted = stays(p, block, size, stack, "qed_realloc")
    if there:
        return block
    if p.case(wanted != 0):
        return p.call("realloc_move", block, class_bytes(k, p.k.named(stack - 1)), size)
    return p.call("realloc_slow", block, size)


def qed_realloc(p):
    p.returns(realloc_of(p, p.argument(0), p.argument(1)))


def realloc_slow(p):
    block, size, k = p.argument(0), p.argument(1), p.constants
    if p.case(block == 0):
        return p.returns(malloc_called(p, size))
    if p.case(size == 0):
        freed = p.call("realloc_to_zero", block)
        if p.case(Extract(7, 0, freed) != 0):
            return p.returns(0)
    thread_get(p)
    now = usable(p, block, "realloc")
    if p.case(And(ULE(size, now), ULT(now - size, LShR(now, 3)))):      # the upper part of the class: 1 / (2 * SC_NGROUP)
        return p.returns(block)
    stays = p.call("request_in_place", block, now, low(class_of(k, size)))
    if p.case(Extract(7, 0, stays) != 0):
        return p.returns(block)
    return p.returns(p.call("realloc_move", block, now, size))


def qed_reallocarray(p):
    count, size = p.argument(1), p.argument(2)
    if overflows(p, count, size):
        return fail_large(p, "reallocarray", number(2**64 - 1))
    block, bytes_ = p.argument(0), product(count, size)[0]
    return p.returns(p.call("qed_realloc", block, bytes_) if p.next_is("qed_realloc") else realloc_of(p, block, bytes_))


# ---- the aligned family ----
def is_power(a):
    return And(a != 0, a & (a - 1) == 0)


def aligned_of(p, alignment, size, call, asked=None):
    """a block, or NULL with errno"""
    block = p.call("block_take_aligned", alignment, size)
    return fail(p, call, size if asked is None else asked) if p.case(block == 0) else p.returns(block)


def qed_aligned_alloc(p):
    alignment, size = p.argument(0), p.argument(1)
    return aligned_of(p, alignment, size, "aligned_alloc") if p.case(is_power(alignment)) else invalid(p)


def qed_posix_memalign(p):
    alignment, size, k = p.argument(1), p.argument(2), p.constants
    if not p.case(And(is_power(alignment), UGE(alignment, 8))):
        return p.returns(BitVecVal(k["EINVAL"], 32))
    block = p.call("block_take_aligned", alignment, size)
    if p.case(block == 0):
        p.call("fail_ends", Text("posix_memalign"), size)
        return p.returns(BitVecVal(k["ENOMEM"], 32))
    p.written["pointer"] = block
    return p.returns(BitVecVal(0, 32))


def qed_memalign(p):
    alignment, size = p.argument(0), p.argument(1)
    if p.case(UGT(alignment, p.constants["SC_LARGE_MAXCLASS"])):
        return invalid(p) if p.case(UGT(alignment, 1 << 63)) else fail_large(p, "memalign", size)
    above = If(ULE(alignment, 1), number(1), number(2) << logarithm(alignment - 1))        # the least power of two from there on
    return aligned_of(p, above, size, "memalign")


def qed_valloc(p):
    return aligned_of(p, p.constants["PAGE"], p.argument(0), "valloc")


def qed_pvalloc(p):
    size, page = p.argument(0), p.constants["PAGE"]
    if p.case(UGT(size, p.constants["SC_LARGE_MAXCLASS"])):
        return fail_large(p, "pvalloc", size)
    return aligned_of(p, page, (If(size == 0, number(1), size) + (page - 1)) & -page, "pvalloc", size)


def class_for(p, alignment, size):
    """request_class: the class of a request with an alignment, which is a power of two"""
    k = p.constants
    if p.case(Or(UGT(size, k["SC_LARGE_MAXCLASS"]), UGT(alignment, k["SC_LARGE_MAXCLASS"]))):
        return number(k["SC_NSIZES"])
    if p.case(UGT(alignment, k["PAGE"])):
        return class_of(k, If(ULT(size, k["SC_LARGE_MINCLASS"]), number(k["SC_LARGE_MINCLASS"]), size))
    return class_of(k, p.k.name_of(align_down(If(size == 0, number(1), size) + (alignment - 1), alignment)))


def qed_free_aligned_sized(p):
    block, alignment, size = (p.argument(n) for n in range(3))
    if not p.case(is_power(alignment)):
        szind = number(p.constants["SC_NSIZES"])
    else:
        szind = class_for(p, alignment, size)
    p.call("free_checked", block, low(szind), Text("free_aligned_sized"))
    p.returns()


# ---- the extended API ----
def flag_bits(p, n, first, bits):
    """those bits of the flags, which are argument n"""
    return LShR(low(p.argument(n)), first) & ((1 << bits) - 1)


def flags_align(p, n):
    """the alignment that the flags name by its exponent, in their lowest bits"""
    return number(1) << wide(flag_bits(p, n, 0, 6))


def is_zero_asked(p, n):
    return flag_bits(p, n, 6, 1)


def mallocx_plain(p, alignment, size, zero):
    """mallocx without an arena and a cache"""
    if p.next_is("mallocx_plain"):
        return p.call("mallocx_plain", alignment, size, Extract(7, 0, zero))
    if p.case(zero == 1):
        return p.call("mallocx_zero", alignment, size)
    if p.case(alignment == 1):
        return p.call("qed_malloc", size)
    return p.call("qed_aligned_alloc", alignment, size)


def qed_mallocx(p):
    size, flags = p.argument(0), low(p.argument(1))
    alignment, zero = flags_align(p, 1), is_zero_asked(p, 1)
    if p.case(LShR(flags, 8) == 0):
        return p.returns(mallocx_plain(p, alignment, size, zero))
    return p.returns(p.call("mallocx_placed", alignment, size, flags))


def qed_nallocx(p):
    k = p.constants
    szind = p.k.named(class_for(p, p.k.name_of(flags_align(p, 1)), p.argument(0)))
    p.returns(class_bytes(k, szind) if p.case(ULT(szind, k["SC_NSIZES"])) else 0)


def qed_sdallocx(p):
    block, size, flags = p.argument(0), p.argument(1), low(p.argument(2))
    if not (p.case(flags == 0) and push_sized(p, block, size)):
        p.call("sdallocx_slow", block, size, flags)
    p.returns()


def qed_rallocx(p):
    block, size, flags = p.argument(0), p.argument(1), low(p.argument(2))
    fast = p.case(And(flags == 0, size != 0, ULE(size, p.constants["SC_LOOKUP_MAX"])))
    stack = p.stack_at(block) if fast else None
    if stack is not None and stays(p, block, size, stack, "qed_rallocx")[0]:
        return p.returns(block)
    return p.returns(p.call("rallocx_slow", block, size, flags))


def qed_xallocx(p):
    """A small block keeps its class."""
    block, flags, k = p.argument(0), low(p.argument(3)), p.constants
    stack = p.stack_at(block)
    if stack is not None and p.case(And(stack != 0, ULE(stack, k["SC_NBINS"]))):
        return p.returns(class_bytes(k, p.k.named(stack - 1)))
    return p.returns(p.call("xallocx_slow", block, p.argument(1), p.argument(2), flags))


def qed_sallocx(p):
    block = p.argument(0)
    if p.case(block == 0):
        return p.returns(0)
    thread_get(p)
    return p.returns(usable(p, block, "sallocx"))


def qed_dallocx(p):
    """A cache that the flags name is in their bits 8 to 19."""
    block, cache = p.argument(0), LShR(low(p.argument(1)), 8) & 0xfff
    if p.case(cache == 0):
        p.call("qed_free", block)
    elif not p.case(block == 0):
        p.call("free_placed", block, cache, Text("dallocx"))
    p.returns()


# ---- the C++ operators ----
def new(aligned):
    def operator(p):
        size = p.argument(0)
        if not aligned:
            block = pop_of(p, size)
            if block is not None:
                return p.returns(block)
        if aligned and not p.case(p.argument(1) == 0):
            block = p.call("qed_aligned_alloc", p.argument(1), size)
        else:
            block = p.call("qed_malloc", size)
        if p.case(block != 0):
            return p.returns(block)
        return p.slow()             # the handler of the program has the word
    return operator


def delete(p):
    if p.push(p.argument(0)) is None:
        p.call("qed_free", p.argument(0))
    p.returns()


def delete_sized(p):
    if not push_sized(p, p.argument(0), p.argument(1)):
        p.call("qed_free_sized", p.argument(0), p.argument(1))
    p.returns()


def delete_aligned_sized(p):
    p.call("qed_free_aligned_sized", p.argument(0), p.argument(2), p.argument(1))
    p.returns()


FUNCTIONS = {f.__name__: f for f in (
    qed_malloc, qed_free, qed_calloc, qed_free_sized, qed_free_aligned_sized, qed_malloc_usable_size, qed_realloc, realloc_slow, qed_reallocarray,
    qed_aligned_alloc, qed_posix_memalign, qed_memalign, qed_valloc, qed_pvalloc, qed_mallocx, qed_nallocx, qed_sallocx,
    qed_dallocx, qed_sdallocx, qed_rallocx, qed_xallocx)}
# The operators for arrays, and those that get arguments which they do not read, are names of these functions.
FUNCTIONS |= {"_Znwm": new(False), "_ZnwmRKSt9nothrow_t": new(False), "_ZnwmSt11align_val_t": new(True),
              "_ZnwmSt11align_val_tRKSt9nothrow_t": new(True), "_ZdlPv": delete, "_ZdlPvm": delete_sized,
              "_ZdlPvmSt11align_val_t": delete_aligned_sized}

# Exported functions that never touch a thread's cache.
NO_FAST_PATH = {"mallinfo", "mallinfo2", "malloc_info", "malloc_stats", "malloc_trim", "mallopt", "mallctl", "mallctlbymib", "mallctlnametomib",
                "malloc_stats_print"}
NO_FAST_PATH |= {"qed_" + name for name in NO_FAST_PATH}


def names(image):
    """the exported names of the functions above, each with its other names"""
    return {n for f in FUNCTIONS for n in image.names[image.functions[f]]}
