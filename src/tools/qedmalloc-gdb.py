"""gdb commands for programs that run on qedmalloc, live or as a core file.

    (gdb) source qedmalloc-gdb.py
    (gdb) qed address EXPRESSION    what the address is: a block, free memory, metadata, or foreign
    (gdb) qed histogram             blocks by size class, pages by state
    (gdb) qed walk                  every run of pages, lowest first

They only read memory, and need the debug information of the library. While threads run inside the allocator a figure may be one
operation old.
"""
import bisect, struct
import gdb

TABLE_FIRST = 1 << 7                    # a table's chunk c has the 2^c entries i for which bit c is the highest of i + TABLE_FIRST
LG_WINDOW = 32                          # a leaf of the radix tree covers 4 GiB
TABLES = ("ext_page", "ext_npages", "ext_state", "slab_bin", "slab_bits", "slab_free_count", "slab_class", "ph_key", "ph_next",
          "ph_prev", "ph_child", "list_after")
FORMATS = {1: "B", 2: "H", 4: "I", 8: "Q"}


class Missing(gdb.GdbError):
    pass


def objfile():
    """The file that has the allocator: the shared library, or a program with a static one."""
    for o in gdb.objfiles():
        if o.lookup_global_symbol("radix_root") or o.lookup_static_symbol("radix_root"):
            return o
    raise Missing("qedmalloc is not in this process, or its debug information is missing")


class Heap:
    """The allocator's metadata, read once for a command."""

    def __init__(self):
        self.file = objfile()
        leaf = self.type("struct radix_leaf").fields()
        self.window_pages = next(f for f in leaf if f.name == "extent").type.range()[1] + 1
        self.page = (1 << LG_WINDOW) // self.window_pages
        kinds = [(f.enumval, f.name[len("EXTENT_"):].lower()) for f in self.type("enum extent_state").fields()]
        # Each page cache has states of its own: those of a kind follow each other.
        self.states = [max(kind for kind in kinds if kind[0] <= state)[1] for state in range(kinds[-1][0])]
        self.class_bytes = self.numbers(self.value("slab_bytes"))
        self.class_regions = self.numbers(self.value("slab_regions"))
        self.count = int(self.value("extent_count"))
        page, npages, state = (self.column(t) for t in ("ext_page", "ext_npages", "ext_state"))
        # An entry: first page, number of pages, state, id.
        self.extents = sorted((page[e], npages[e], self.states[state[e]], e) for e in range(1, self.count + 1) if npages[e])
        self.slab_class, self.slab_bin, self.slab_free = (self.column(t) for t in ("slab_class", "slab_bin", "slab_free_count"))
        self.cached = {}                # address of a block -> the cache that has it ready
        for cache in self.caches():
            self.read_cache(cache)

    # ---- symbols and memory

    def symbol(self, name):
        return self.file.lookup_global_symbol(name) or self.file.lookup_static_symbol(name)

    def value(self, name):
        s = self.symbol(name)
        if s is None:
            raise Missing(f"{name}: not in {self.file.filename}: this script is of another release")
        return s.value()

    @staticmethod
    def type(name):
        return gdb.lookup_type(name)

    @staticmethod
    def memory(address, length):
        return gdb.selected_inferior().read_memory(address, length).tobytes()

    def numbers(self, array):
        """A gdb array of integers as a list."""
        n = array.type.range()[1] + 1
        return list(struct.unpack(f"<{n}{FORMATS[array.type.target().sizeof]}", self.memory(int(array.address), array.type.sizeof)))

    def chunks(self, table):
        """The chunks of a table that exist: first entry, entries, address; and the bytes of an entry."""
        directory = self.value(table)
        pointers = self.numbers_of_pointers(directory)
        return [((1 << i) - TABLE_FIRST, 1 << i, p) for i, p in enumerate(pointers) if p], directory.type.target().target().sizeof

    def numbers_of_pointers(self, array):
        n = array.type.range()[1] + 1
        return struct.unpack(f"<{n}Q", self.memory(int(array.address), n * 8))

    def column(self, table):
        """The entries 0 to extent_count of a table of integers."""
        chunks, size = self.chunks(table)
        out = []
        for begin, entries, address in chunks:
            n = min(entries, self.count + 1 - begin)
            if n > 0 and begin == len(out):
                out += struct.unpack(f"<{n}{FORMATS[size]}", self.memory(address, n * size))
        return out + [0] * (self.count + 1 - len(out))

    # ---- thread caches

    def caches(self):
        cache = self.value("depot_list")
        while int(cache):
            yield cache.dereference()
            cache = cache.dereference()["next"]

    def read_cache(self, cache):
        top, floor, slot = (self.numbers(cache[f]) for f in ("top", "floor", "slot"))
        for t, f in zip(top, floor):
            for i in range(f + 1, t + 1):
                self.cached[slot[i]] = int(cache.address)

    # ---- addresses

    def tag(self, page):
        """What the radix tree says of a page: size class + 1, or 0."""
        leaf = self.numbers_of_pointers(self.value("radix_root"))[page // self.window_pages]
        if not leaf:
            return 0
        entry = gdb.Value(leaf).cast(self.type("struct radix_leaf").pointer()).dereference()["entry"][page % self.window_pages]
        return int(entry["high"])

    def extent_at(self, address):
        i = bisect.bisect_right(self.extents, (address // self.page, float("inf"))) - 1
        if i >= 0 and address // self.page < self.extents[i][0] + self.extents[i][1]:
            return self.extents[i]
        return None

    def slab_of(self, extent):
        """The size class if the extent is a slab, else None."""
        tag = self.tag(extent[0]) if extent[2] == "active" else 0
        return tag - 1 if 0 < tag <= len(self.class_bytes) else None

    def region_is_free(self, e, region):
        chunk = (e + TABLE_FIRST).bit_length() - 1
        words = self.value("slab_bits")[chunk][e + TABLE_FIRST - (1 << chunk)]["w"]
        return int(words[region // 64]) >> region % 64 & 1 == 1

    def metadata(self):
        """Runs of metadata: address, length, what it is."""
        for h, p in enumerate(self.numbers_of_pointers(self.value("radix_root"))):
            if p:
                yield p, self.type("struct radix_leaf").sizeof, f"radix tree, leaf of 0x{h << LG_WINDOW:x}"
        for table in TABLES:
            chunks, size = self.chunks(table)
            for _, entries, p in chunks:
                yield p, entries * size, f"table {table}"
        for cache in self.caches():
            yield int(cache.address), cache.type.sizeof, f"thread cache, arena {int(cache['arena'])}"
        yield int(self.value("base_cursor")), int(self.value("base_end")) - int(self.value("base_cursor")), "room for thread caches"

    def describe(self, address):
        extent = self.extent_at(address)
        if extent is None:
            for start, length, what in self.metadata():
                if start <= address < start + length:
                    return f"metadata: {what}, 0x{start:x} + {address - start}"
            name = gdb.solib_name(address) or ""
            if "libqedmalloc" in name:
                return f"the allocator's own code or static data, in {name}"
            return "foreign: nothing that qedmalloc gave or keeps" + (f", in {name}" if name else "")
        page, npages, state, e = extent
        start = page * self.page
        run = f"{npages} page{'s' if npages > 1 else ''} at 0x{start:x}"
        if state != "active":
            return f"free pages, {state}: {run}"
        szind = self.slab_of(extent)
        if szind is None:
            block = f"large block 0x{start:x} + {address - start} of {npages * self.page} bytes"
            return f"{self.whose(start)} {block}"
        region, inside = divmod(address - start, self.class_bytes[szind])
        block = start + region * self.class_bytes[szind]
        slab = f"slab of {run}, class {self.class_bytes[szind]}, arena {self.slab_bin[e] // len(self.class_bytes)}, {self.slab_free[e]} of {self.class_regions[szind]} free"
        whose = "free" if self.region_is_free(e, region) else self.whose(block)
        return f"{whose} region 0x{block:x} + {inside} of {self.class_bytes[szind]} bytes; {slab}"

    def whose(self, block):
        return f"free (ready in thread cache 0x{self.cached[block]:x})" if block in self.cached else "live"


class Qed(gdb.Command):
    """What qedmalloc knows: qed address EXPRESSION, qed histogram, qed walk."""

    def __init__(self):
        super().__init__("qed", gdb.COMMAND_DATA, prefix=True)


class QedAddress(gdb.Command):
    """What an address is to qedmalloc: qed address EXPRESSION"""

    def __init__(self):
        super().__init__("qed address", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, _tty):
        if not argument:
            raise gdb.GdbError("usage: qed address EXPRESSION")
        address = int(gdb.parse_and_eval(argument).cast(gdb.lookup_type("unsigned long")))
        print(f"0x{address:x}: {Heap().describe(address)}")


class QedHistogram(gdb.Command):
    """Blocks by size class, and pages by state: qed histogram"""

    def __init__(self):
        super().__init__("qed histogram", gdb.COMMAND_DATA)

    def invoke(self, _argument, _tty):
        h = Heap()
        classes, large, pages = {}, {}, {}
        cached = {}
        for block in h.cached:
            extent = h.extent_at(block)
            szind = h.slab_of(extent)
            key = h.class_bytes[szind] if szind is not None else extent[1] * h.page
            cached[key] = cached.get(key, 0) + 1
        for extent in h.extents:
            _, npages, state, e = extent
            pages[state] = pages.get(state, 0) + npages
            szind = h.slab_of(extent)
            if szind is not None:
                slabs, out, free = classes.get(h.class_bytes[szind], (0, 0, 0))
                classes[h.class_bytes[szind]] = slabs + 1, out + h.class_regions[szind] - h.slab_free[e], free + h.slab_free[e]
            elif state == "active":
                large[npages * h.page] = large.get(npages * h.page, 0) + 1
        print(f"{'bytes':>12} {'live':>10} {'ready':>10} {'free':>10} {'slabs':>8} {'live bytes':>14}")
        total = 0
        for size, (slabs, out, free) in sorted([*classes.items(), *((b, (0, n, 0)) for b, n in large.items())]):
            live = out - cached.get(size, 0)
            total += live * size
            print(f"{size:12} {live:10} {cached.get(size, 0):10} {free:10} {slabs or '-':>8} {live * size:14}")
        print(f"{'all':>12} {'':10} {'':10} {'':10} {'':8} {total:14}")
        for state, n in sorted(pages.items()):
            print(f"{state:>12} {n * h.page:14} bytes of pages")
        print(f"{'metadata':>12} {int(h.value('os_metadata_bytes')):14} bytes")


class QedWalk(gdb.Command):
    """Every run of pages, lowest first: qed walk"""

    def __init__(self):
        super().__init__("qed walk", gdb.COMMAND_DATA)

    def invoke(self, _argument, _tty):
        h = Heap()
        for extent in h.extents:
            page, npages, state, e = extent
            szind = h.slab_of(extent)
            what = state
            if szind is not None:
                what = f"slab of {h.class_bytes[szind]}, arena {h.slab_bin[e] // len(h.class_bytes)}, {h.slab_free[e]} of {h.class_regions[szind]} free"
            elif state == "active":
                what = f"large block, {h.whose(page * h.page)}"
            print(f"0x{page * h.page:012x} {npages * h.page:12} {what}")


for command in (Qed, QedAddress, QedHistogram, QedWalk):
    command()
