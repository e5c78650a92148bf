"""ties: every formula of these pages names the clause or predicate that it stands for. Here the names and texts are looked up in the sources."""
import calls
import invariant
import stacks
import texts

CONTRACTS = [       # clauses that functions.py, trace.py and invariant.py name: file, function, kind, name, text
    ("src/tcache/tcache.h", "tcache_pop", "assigns", "", "TCACHE_ASSIGNS_STACKS(t), block_state[0 .. ADDRESS_MAX - 1]"),
    ("src/tcache/tcache.h", "tcache_push", "assigns", "", "TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block]"),
    ("src/tcache/tcache.h", "tcache_push", "requires", "live", "0 < block < ADDRESS_MAX ==> block_state[block] == BLOCK_LIVE"),
    ("src/tcache/tcache.h", "tcache_push_sized", "assigns", "", "TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block]"),
    ("src/tcache/tcache.h", "tcache_push_sized", "requires", "live", "0 < block < ADDRESS_MAX ==> block_state[block] == BLOCK_LIVE"),
    ("src/tcache/tcache.h", "tcache_push_class", "assigns", "", "TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block]"),
    ("src/tcache/tcache.h", "tcache_push_class", "requires", "live", "0 < block < ADDRESS_MAX ==> block_state[block] == BLOCK_LIVE"),
    ("src/tcache/tcache.h", "tcache_stack_at", "assigns", "", r"\nothing"),
    ("src/tcache/tcache.h", "tcache_stack_at", "requires", "live", "0 < block < ADDRESS_MAX ==> block_state[block] == BLOCK_LIVE"),
    ("src/tcache/tcache.h", "tcache_pop", "requires", "stack", "stack < TCACHE_STACKS"),
    ("src/tcache/tcache.h", "tcache_push_sized", "requires", "bytes", "bytes <= SC_LOOKUP_MAX"),
    ("src/tcache/tcache.h", "tcache_drop", "assigns", "", "t->top[stack]"),
    ("src/tcache/tcache.h", "tcache_put", "assigns", "", "t->slot[top + 1]"),
    ("src/tcache/tcache.h", "tcache_put", "requires", "room", "top < t->limit[stack]"),
    ("src/tcache/tcache.h", "tcache_raise", "assigns", "", "t->top[stack]"),
    ("src/tcache/tcache.h", "tcache_stack_of", "ensures", "fits", r"\result != 0 ==> ClassFits(bytes, \result - 1)"),
    ("src/tcache/tcache.h", "tcache_stack_of", "ensures", "least", r"\result != 0 ==> ClassLeast(bytes, \result - 1)"),
    ("src/tcache/tcache.h", "tcache_take", "assigns", "", "TCACHE_ASSIGNS_STACKS(t), block_state[0 .. ADDRESS_MAX - 1]"),
    ("src/tcache/tcache.h", "tcache_take", "ensures", "fits", r"\result != 0 ==> ClassFits(bytes, block_szind[\result])"),
    ("src/tcache/tcache.h", "tcache_take", "ensures", "least", r"\result != 0 ==> ClassLeast(bytes, block_szind[\result])"),
    ("src/tcache/counting.h", "counting_paces", "ensures", "table", r"\result ==> bytes <= SC_LOOKUP_MAX"),
    ("src/tcache/counting.h", "counting_passes", "assigns", "", r"\nothing"),
    ("src/tcache/counting.h", "counting_adds", "ensures", "table", r"\result ==> bytes <= SC_LOOKUP_MAX"),
    ("src/tcache/counting.h", "counting_took", "assigns", "", r"\nothing"),
    ("src/tcache/counting.h", "counting_checks", "ensures", "table", r"\result ==> bytes <= SC_LOOKUP_MAX"),
    ("src/platform/live.h", "live_set", "requires", "address", "address < 1UL << LG_VADDR"),
    ("src/platform/live.h", "live_set", "assigns", "", r"\nothing"),
    ("src/platform/live.h", "live_clear", "requires", "address", "address < 1UL << LG_VADDR"),
    ("src/platform/live.h", "live_clear", "assigns", "", r"\nothing"),
    ("src/tcache/counting.h", "counting_push", "assigns", "", "TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block]"),
    ("src/tcache/counting.h", "counting_push", "requires", "live", "0 < block < ADDRESS_MAX ==> block_state[block] == BLOCK_LIVE"),
    ("src/tcache/tcache.h", "tcache_window_page", "ensures", "page", r"\result < t->known_pages ==> block / PAGE == t->window / RADIX_HALF * "
     r"RADIX_WINDOW_PAGES + \result"),
    ("src/blocks/tag.h", "tag_fraction", "ensures", "low", r"\result == TagOffset(base, address) * magic % DIVIDE_ONE"),
    ("src/api/malloc.h", "qed_malloc", "assigns", "", "MALLOC_ASSIGNS, errno"),
]
GHOSTS = [
    ("spec/tcache/tcache_lemmas.acsl", "tcache_lemma_tag", "requires", "out", "BlockOut(block)"),
    ("spec/tcache/tcache_lemmas.acsl", "tcache_lemma_tag", "ensures", "cached",
     "block_szind[block] < TCACHE_STACKS - 1 ==> radix_tag_of[block / PAGE] / TAG_HALF == block_szind[block] + 1"),
    ("spec/tcache/tcache_lemmas.acsl", "tcache_lemma_tag", "ensures", "large", "block_szind[block] >= TCACHE_STACKS - 1 ==> "
     "radix_tag_of[block / PAGE] == 0"),
    ("spec/tcache/tcache_lemmas.acsl", "block_set_state", "requires", "out", "BlockOut(block)"),
    ("spec/tcache/tcache_lemmas.acsl", "block_set_state", "ensures", "blocks", "BlocksOk"),
    ("spec/tcache/tcache_lemmas.acsl", "block_set_cached", "requires", "live", "block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE"),
    ("spec/tcache/tcache_lemmas.acsl", "block_set_cached", "ensures", "blocks", "BlocksOk"),
    ("spec/blocks/tag_lemmas.acsl", "tag_lemma_begins", "requires", "passed", "offset < 1UL << DIVIDE_LG_OFFSET ==> "
     "offset * magic % DIVIDE_ONE < magic"),
    ("spec/blocks/tag_lemmas.acsl", "tag_lemma_begins", "ensures", "begins", "TagFits(offset, size) ==> offset % size == 0"),
]
PREDICATES = invariant.STACK + invariant.PAIR + invariant.SLOT + [invariant.LOOKUP, invariant.ENDS, invariant.WINDOW, invariant.NEGATED, stacks.ALL]
CLAUSES = (stacks.POP + [stacks.EMPTY, stacks.STILL] + stacks.PUSH + stacks.REFUSED + stacks.PUSH_SIZED + stacks.REFUSED_SIZED + stacks.PUSH_CLASS +
           stacks.REFUSED_CLASS + stacks.FOUND)
# Functions whose slow path is said to promise what they promise themselves.
SAME = [(("src/api/malloc.h", "qed_malloc"), ("src/api/malloc.c", "malloc_slow")),
        (("src/api/malloc.c", "malloc_slow"), ("src/api/malloc.c", "malloc_counted"))]
COUNT = len(CONTRACTS) + len(GHOSTS) + len(PREDICATES) + len(CLAUSES) + len(SAME) + 2 + len(calls.CALLS)


def wrong():
    """lines that say which text is not what it was when the formula was written"""
    lines = []
    for file, function, kind, name, text in CONTRACTS:
        if texts.contract(file, function).get((kind, name)) != text:
            lines.append(f"{file}: {function}, {kind} {name}: is not `{text}`")
    for file, function, kind, name, text in GHOSTS:
        if texts.ghost_contract(file, function).get((kind, name)) != text:
            lines.append(f"{file}: {function}, {kind} {name}: is not `{text}`")
    for p in PREDICATES:
        if texts.words(p.text) not in texts.predicate(p.file, p.name):
            lines.append(f"{p.file}: {p.name}: is not `{p.text}`")
    for c in CLAUSES:
        if texts.contract(stacks.HEADER, c.function).get(("ensures", c.name)) != texts.words(c.text):
            lines.append(f"{stacks.HEADER}: {c.function}, ensures {c.name}: is not `{c.text}`")
    for function in ("tcache_pop", "tcache_push", "tcache_push_sized", "tcache_push_class", "tcache_stack_at"):
        there = {name for kind, name in texts.contract(stacks.HEADER, function) if kind == "ensures"}
        here = {c.name for c in CLAUSES if c.function == function}
        if there != here:
            lines.append(f"{stacks.HEADER}: {function} ensures {sorted(there ^ here)}, of which nothing is shown")
    for a, b in SAME:
        if {k: t for k, t in texts.contract(*a).items() if k[0] != "requires"} != {k: t for k, t in texts.contract(*b).items() if k[0] != "requires"}:
            lines.append(f"{a[1]} and {b[1]} do not promise the same")
    for name, contract in calls.CALLS.items():
        if contract.file and not texts.has_contract(contract.file, name):
            lines.append(f"{contract.file}: there is no contract of {name}")
    return lines
