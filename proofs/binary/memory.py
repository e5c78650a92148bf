"""memory: what the machine code may read and write, as the contracts see it: fields of structs, not bytes. This file is believed.

Each access has to lie in one region, and there in one element of a field (or a part of it that is read): the solver shows that the address
is the field's offset plus a multiple of its step, and that the index is below the number of elements. Every other access is refused. That
regions do not overlap is a precondition (TcacheOutside, ThreadOutside), and that fields do not is checked when the table is read.

    cache       struct tcache, at the thread's pointer, and struct counter, behind it
    leaf        the entries of struct radix_leaf, at cache->leaf where the window's pages are known; read only
    frame       the stack below the return address, in bytes; above it nothing but the return address is read
    live        the bits of live blocks (platform/live.h), each a bit of the words of its window, which the library's table has; set and cleared
    tls         the library's thread-local variables thread_cache, which is read, and countdown_left, which is written too
    image       code, constants and the offset table, which nobody writes
    errno       the int that __errno_location returns; written only
    pointer     what the caller gave to posix_memalign; written only
"""
from dataclasses import dataclass

from z3 import (Array, BitVec, BitVecSort, BitVecVal, Concat, Extract, LShR, Select, Store, ULT, Z3_OP_BADD, Z3_OP_BMUL,
                Z3_OP_SELECT, is_app_of, is_bv_value, simplify)

from machine import Machine, Refused

IMAGE, FS, TLS, STACK, ERRNO = (BitVec(name, 64) for name in ("image", "fs", "tls", "rsp", "errno_location"))
WORDS = Array("live_table", BitVecSort(64), BitVecSort(64))        # window -> the words of its bits


@dataclass(frozen=True)
class Field:
    name: str
    offset: int
    step: int
    size: int
    count: int


class Layout:
    """the fields of struct tcache and of the entries of struct radix_leaf, and the constants, as layout.c prints them"""
    def __init__(self, text):
        self.cache, self.leaf, self.constants = {}, {}, {}
        for line in text.splitlines():
            kind, *rest = line.split()
            if kind == "constant":
                self.constants[rest[0]] = int(rest[1])
            else:
                struct = self.cache if rest[0] == "tcache" else self.leaf
                struct[rest[1]] = Field(rest[1], *map(int, rest[2:]))
        rows = sorted(self.cache.values(), key=lambda f: f.offset)
        assert all(f.step == f.size for f in rows) and all(a.offset + a.size * a.count <= b.offset for a, b in zip(rows, rows[1:]))
        low, high = self.leaf["low"], self.leaf["high"]
        assert low.step == high.step and low.offset + low.size <= high.offset and high.offset + high.size <= low.step + low.offset


def divided(e, n):
    """e / n for a term of which every part is a multiple of n, or None"""
    if n == 1:
        return e
    if is_bv_value(e):
        return BitVecVal(e.as_long() // n, 64) if e.as_long() % n == 0 else None
    if is_app_of(e, Z3_OP_BADD):
        parts = [divided(c, n) for c in e.children()]
        return None if None in parts else sum(parts[1:], parts[0])
    if is_app_of(e, Z3_OP_BMUL) and is_bv_value(e.arg(0)) and e.arg(0).as_long() % n == 0 and e.num_args() == 2:
        return e.arg(1) * (e.arg(0).as_long() // n)
    return None


def mentions(e, variable):
    seen, todo = set(), [e]
    while todo:
        x = todo.pop()
        if x.eq(variable):
            return True
        if x.get_id() not in seen:
            seen.add(x.get_id())
            todo += x.children()
    return False


def constant_part(e):
    """the number that is added in a sum"""
    parts = e.children() if is_app_of(e, Z3_OP_BADD) else [e]
    return sum(p.as_long() for p in parts if is_bv_value(p))


def distance(address, start):
    """how many bytes the address is above the start"""
    d = simplify(address - start, som=True)
    if not is_bv_value(d):
        raise Refused(f"{address} is at no fixed distance from {start}")
    return d.as_signed_long()


class Cache:
    """The fields of a thread's cache at one moment between calls, as arrays from index to value. t is its address."""
    count = 0

    def __init__(self, layout, t):
        Cache.count += 1
        self.t, self.leaf = t, BitVec(f"leaf#{Cache.count}", 64)
        self.arrays = {f.name: Array(f"{f.name}#{Cache.count}", BitVecSort(64), BitVecSort(8 * f.size)) for f in layout.cache.values()}
        self.arrays["live"] = Array(f"live#{Cache.count}", BitVecSort(64), BitVecSort(1))       # number of a bit -> it
        self.high = Array(f"high#{Cache.count}", BitVecSort(64), BitVecSort(16))
        self.low = Array(f"low#{Cache.count}", BitVecSort(64), BitVecSort(32))
        self.countdown = BitVec(f"countdown_left#{Cache.count}", 32)

    def at(self, field, index=0):
        return Select(self.arrays[field], BitVecVal(index, 64) if isinstance(index, int) else index)


class Memory:
    """knowledge has the cache as it was when the last call returned, and proves; now is what the code has made of its fields since."""
    fs = FS
    below = 0           # where the frame ends
    touched = None      # what the last access was to, for a reader: the name of a field or of a variable

    def __init__(self, knowledge, image, now=None, frame=None, written=None):
        self.knowledge, self.image = knowledge, image
        self.now = dict(knowledge.cache.arrays) if now is None else now
        self.frame = {} if frame is None else frame         # offset from the stack pointer at entry -> (value, which byte of it)
        self.written = {} if written is None else written   # "errno", "pointer" or "countdown_left" -> value

    def copy(self):
        return Memory(self.knowledge, self.image, dict(self.now), dict(self.frame), dict(self.written))

    def proves(self, formula):
        return self.knowledge.proves(formula)

    # ---- which region ----
    def place(self, address):
        """(region, offset from its beginning)"""
        base, index, scale, displacement = address
        whole = simplify(base + (index * scale if index is not None else 0) + displacement, som=True)
        k = self.knowledge
        for name, start in (("cache", k.cache.t), ("leaf", k.cache.leaf), ("frame", STACK), ("tls", FS + TLS), ("image", IMAGE),
                            ("errno", ERRNO), ("pointer", k.pointer)):
            if start is None:
                continue
            offset = simplify(whole - start, som=True)
            if not any(mentions(offset, v) for v in ([FS, TLS] if name == "tls" else [start])):
                return name, offset
        raise Refused(f"accesses {whole}, which is in no region")

    def element(self, fields, offset, size, region):
        """(field, index, bytes from the element's beginning)"""
        n = constant_part(offset) & 0xffffffff
        n = n - (1 << 32) if n >> 31 else n
        for field in fields.values():
            # an index may be one below or above what is added, as in slot[top + 1]
            inside = 0 <= n - field.offset < field.step * field.count if field.step == field.size else (n - field.offset) % field.step < field.size
            if not inside:
                continue
            within = (n - field.offset) % field.step
            if within + size > field.size:
                continue
            index = divided(simplify(offset - (field.offset + within), som=True), field.step)
            if index is None:
                rest = offset - (field.offset + within)
                index = LShR(rest, field.step.bit_length() - 1)
                if field.step & (field.step - 1) or not self.knowledge.proves(index * field.step == rest):
                    continue
            self.touched = field.name
            index = self.knowledge.named(simplify(index))
            if self.knowledge.proves(ULT(index, field.count)):
                self.knowledge.assume(ULT(index, field.count))
                return field, index, within
        raise Refused(f"accesses {size} bytes at {region} + {offset}, which is no element of a field")

    # ---- accesses ----
    def load(self, address, size):
        region, offset = self.place(address)
        k = self.knowledge
        if region == "cache":
            field, index, within = self.element(k.layout.cache, offset, size, region)
            k.learn(field.name, index)
            if field.name == "leaf":
                value = k.cache.leaf
            elif field.name == "negated":       # TcacheNegated, taken as its definition
                value = -Select(self.now["magic"], index)
            else:
                value = Select(self.now[field.name], index)
            return value if size == field.size else Extract(8 * (within + size) - 1, 8 * within, value)
        if region == "leaf":
            if not k.proves(k.cache.at("known_pages") != 0):
                raise Refused("reads the leaf of a window without pages")
            field, index, within = self.element(k.layout.leaf, offset, size, region)
            k.learn(field.name, index)
            value = Select(getattr(k.cache, field.name), index)
            return value if size == field.size else Extract(8 * (within + size) - 1, 8 * within, value)
        if region == "image" and size == 8 and not is_bv_value(offset):
            window = divided(simplify(offset - self.image.objects["live_table"], som=True), 8)
            if window is not None and k.proves(ULT(window, k.layout.constants["LIVE_WINDOWS"])):
                self.touched = "live_table"
                return Select(WORDS, window)
        if not is_bv_value(offset):
            raise Refused(f"reads {region} + {offset}")
        at = offset.as_signed_long()
        if region == "frame":
            if not self.below <= at <= 8 - size:
                raise Refused(f"reads the stack at {at}, which is not its frame")
            parts = [self.frame.setdefault(i, (Machine.unknown(8, f"stack[{i}]"), 0)) for i in range(at, at + size)]
            value = parts[0][0]
            if value.size() == 8 * size and all(v.eq(value) and n == i for i, (v, n) in enumerate(parts)):
                return value
            return Concat(*[Extract(8 * n + 7, 8 * n, v) for v, n in reversed(parts)]) if size > 1 else Extract(
                8 * parts[0][1] + 7, 8 * parts[0][1], value)
        if region == "tls" and size == 8 and self.image.tls.get(at) == "thread_cache":
            self.touched = "thread_cache"
            return k.cache.t
        if region == "tls" and size == 4 and self.image.tls.get(at) == "countdown_left":
            self.touched = "countdown_left"
            return self.written.get("countdown_left", k.cache.countdown)
        if region == "image":
            entry = self.image.entry(at) if size == 8 else None
            if entry:
                self.touched = "offset table"
                kind, what = entry
                if kind == "symbol":
                    return BitVec("&" + what, 64)
                return (IMAGE if kind == "image" else TLS) + what
            data = self.image.bytes_at(at, size)
            if data is not None:
                return BitVecVal(int.from_bytes(data, "little"), 8 * size)
        raise Refused(f"reads {size} bytes at {region} + {at}")

    def exchange_bit(self, address, bit, value):
        """The bit of that number, counted from the address on, which gets a value and is returned as it was."""
        words, k = simplify(Machine.total(address)), self.knowledge
        bits = (1 << k.layout.constants["LIVE_LG_WINDOW"]) // k.layout.constants["LIVE_SPACING"]       # of a window
        if not (is_app_of(words, Z3_OP_SELECT) and words.arg(0).eq(WORDS)) or not k.proves(ULT(bit, bits)):
            raise Refused(f"changes bit {bit} at {words}, which is no bit of a block")
        self.touched = "live"
        n = k.named(simplify(words.arg(1) * bits + bit))
        was = Select(self.now["live"], n)
        self.now["live"] = Store(self.now["live"], n, BitVecVal(value, 1))
        return was == 1

    def store(self, address, value):
        region, offset = self.place(address)
        size = value.size() // 8
        if region == "cache":
            field, index, within = self.element(self.knowledge.layout.cache, offset, size, region)
            if size != field.size:
                raise Refused(f"writes a part of {field.name}")
            self.now[field.name] = Store(self.now[field.name], index, value)
            return
        at = offset.as_signed_long() if is_bv_value(offset) else None
        if region == "frame" and at is not None and self.below <= at <= -size:
            for i in range(size):
                self.frame[at + i] = value, i
        elif at == 0 and (region, size) in (("errno", 4), ("pointer", 8)):
            self.written[region] = value
        elif region == "tls" and size == 4 and self.image.tls.get(at) == "countdown_left":
            self.written["countdown_left"] = value
        else:
            raise Refused(f"writes {size} bytes at {region} + {offset}")
