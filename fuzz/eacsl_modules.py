"""fuzz/eacsl: the sources behind each harness, parameters that make tables small, clauses that no run can finish."""

MODULES = {                             # harness -> sources that are compiled with checks, headers whose contracts count; +: not counted
    "align": ["src/math/align.h", "src/math/prng.h", "src/platform/bits.h"],
    "divide": ["src/math/divide.h", "+src/math/size_class.c"],
    "size_class": ["src/math/size_class.c", "src/math/size_class.h"],
    "bitmap": ["src/ds/bitmap.h", "src/ds/bitmap_tree.h", "src/ds/bitmap_word.h"],
    "list": ["src/ds/list.c", "src/ds/list.h"],
    "pairing_heap": ["src/ds/pairing_heap.c", "src/ds/pairing_heap.h"],
    "radix_tree": ["src/ds/radix_tree.c", "src/ds/radix_tree.h"],
    "base": ["src/pages/base.c", "src/pages/base.h"],
    "extent": ["src/pages/extent.c", "src/pages/extent.h", "+src/ds/list.c", "+src/ds/radix_tree.c", "+src/ds/pairing_heap.c"],
    "decay": ["src/pages/decay.c", "src/pages/decay.h", "src/math/smoothstep.c", "src/math/smoothstep.h"],
    "slab": ["src/blocks/slab.c", "src/blocks/slab.h", "+src/math/size_class.c"],
}

# An address space of 16 windows of 8 pages; compared with the model after each eighth step.
FEW_PAGES = [
    ("src/platform/config.h", "#define LG_VADDR 47\n", "#define LG_VADDR 19\n"),
    ("src/ds/radix_tree.h", "#define RADIX_LG_WINDOW 32 ", "#define RADIX_LG_WINDOW 15 "),
    ("src/ds/radix_tree.h", "#define RADIX_PART PAGE ", "#define RADIX_PART 4UL "),
    ("src/platform/live.h", "#define LIVE_LG_WINDOW 32 ", "#define LIVE_LG_WINDOW 15 "),
    ("src/platform/pool.h", "#define POOL(type, name, count) extern type", "#define POOL(type, name, count) type"),
    ("src/ds/radix_tree.h", "_Static_assert(sizeof(struct radix_leaf) % PAGE == 0, ", "_Static_assert(1, "),
]


def few_pages(module, zone_pages, forget):
    """And zones of the model that fit in; forget: what a fresh machine has zero, besides the tree."""
    model, harness = f"tests/{module}_model.h", f"fuzz/{module}_fuzz.c"
    zeros = "".join(f"    memset({v}, 0, sizeof {v});\n" for v in ["radix_pool", "radix_tag_of", "radix_extent_of"] + forget)
    return FEW_PAGES + [
        (model, f"#define ZONE_PAGES {zone_pages}U", "#define ZONE_PAGES 4U"),
        (model, "PAGE_COUNT_MAX / 2 + 12345", "PAGE_COUNT_MAX / 2 + 1"),
        (model, "    os_fake_rewind();\n", "    os_fake_rewind();\n" + zeros),
        (harness, "        model_compare();\n", "        if (size / 4 % 8 == 1) {\n            model_compare();\n        }\n"),
    ]


PARAMETERS = {                          # harness, * for all -> file, text, text instead
    "*": [
        ("src/platform/table.h", "#define TABLE_MAX (1UL << 30) ", "#define TABLE_MAX 64UL "),
        ("src/platform/table.h", "#define TABLE_LG_FIRST 7\n", "#define TABLE_LG_FIRST 5\n"),
        ("src/platform/config.h", "LG_VADDR >= 38 && ", "LG_VADDR >= 18 && "),
        ("src/platform/os_fake.c", "bool os_discard(uint32_t cache, uint64_t page, uint64_t npages)",
         "bool os_discard(uint32_t cache, uint64_t page, uint64_t npages,"
         " uint64_t base, uint64_t bytes, uint64_t regions, const uint64_t *regions_free)"),
        ("src/platform/os.h", "uint8_t os_mapped[PAGE_COUNT_MAX];", "uint8_t os_mapped[1];"),
        ("src/platform/os.h", "uint32_t os_mapped_for[PAGE_COUNT_MAX];", "uint32_t os_mapped_for[1];"),
        ("src/platform/os.h", "uint8_t os_zero[PAGE_COUNT_MAX];", "uint8_t os_zero[1];"),
        ("src/platform/os.h", "uint8_t ext_page_state[PAGE_COUNT_MAX];", "uint8_t ext_page_state[1];"),
    ],
    "align": [
        ("fuzz/align_fuzz.c", "unsigned __int128 up = ((unsigned __int128)x + a - 1)", "uint64_t up = (x + a - 1)"),
        ("fuzz/align_fuzz.c", "(unsigned __int128)x + a - 1 > UINT64_MAX", "x + (a - 1) < x"),
    ],
    "bitmap": [                         # the number of words, which only the proofs are told
        ("fuzz/bitmap_fuzz.c", "bitmap_set(flat, i);", "bitmap_set(flat, i, leaves);"),
        ("fuzz/bitmap_fuzz.c", "bitmap_unset(flat, i);", "bitmap_unset(flat, i, leaves);"),
    ],
    "decay": [
        ("tests/decay_model.h", "    decay_boot(-1, -1);\n", "    lock_held[LOCK_PAGES] = 1;\n    decay_boot(-1, -1);\n"),
        ("tests/decay_model.h", "typedef unsigned __int128 u128;", "typedef uint64_t u128;"),
        ("tests/decay_model.h", "    if (!ok) {", "    if (!ok && sizeof(u128) == 16) {"),     # the contracts are the check
    ],
    "list": [
        ("src/platform/table.h", "#define TABLE_MAX 64UL ", "#define TABLE_MAX 96UL "),
    ],
    "radix_tree": few_pages("radix_tree", 48, []) + [
        ("tests/radix_tree_model.h", "(leaf, page % RADIX_WINDOW_PAGES)", "(leaf, page % RADIX_WINDOW_PAGES, page / RADIX_WINDOW_PAGES)"),
    ],
    "base": [                           # addresses that nobody touches, from the lowest free one on
        ("src/platform/config.h", "#define LG_VADDR 47\n", "#define LG_VADDR 18\n"),
        ("src/ds/radix_tree.h", "#define RADIX_PART PAGE ", "#define RADIX_PART 4UL "),
        ("src/platform/live.h", "#define LIVE_LG_WINDOW 32 ", "#define LIVE_LG_WINDOW 15 "),
        ("src/platform/pool.h", "    return (uintptr_t)os_map_metadata(bytes);\n", """\
    uintptr_t p = PAGE;
    while (p < (1UL << LG_VADDR) && pool_mapped[p / 64] != 0) {
        p += PAGE;
    }
    if (os_map_metadata(bytes) == NULL || bytes > (1UL << LG_VADDR) - p) {
        os_refused = 1;
        return 0;
    }
    for (uintptr_t l = p / 64; l < (p + bytes) / 64; l++) {
        pool_mapped[l] = POOL_FRESH;
    }
    return p;
"""),
        ("src/pages/base.h", "#define BASE_BLOCK_FIRST (1UL << 16)", "#define BASE_BLOCK_FIRST (1UL << 13)"),
        ("src/pages/base.h", "#define BASE_BLOCK_LAST (1UL << 25)", "#define BASE_BLOCK_LAST (1UL << 15)"),
        ("fuzz/base_fuzz.c", "<< data[0] % 6", ">> data[0] % 6"),
        ("fuzz/base_fuzz.c", "    base_boot();\n",
         "    memset(base_live, 0, sizeof base_live);\n    memset(pool_mapped, 0, sizeof pool_mapped);\n"
         "    lock_held[LOCK_DEPOT] = 1;\n    base_boot();\n"),
    ],
    "slab": [                           # all slabs are in one bin, whose lock the harness has
        ("fuzz/slab_fuzz.c", "    slab_model_boot();\n", "    lock_held[LOCK_BIN(0)] = 1;\n    slab_model_boot();\n"),
    ],
    "extent": [
        ("tests/extent_model.h", f"    memset({t}, 0, sizeof {t});\n", "") for t in ("ext_page", "ext_npages", "ext_state", "list_after")
    ] + few_pages("extent", 24, ["ext_npages", "ext_state", "ext_owner", "ext_page_state", "list_after", "list_owner", "list_length"]) + [
        ("tests/extent_model.h", "    extent_boot();\n", "    lock_held[LOCK_PAGES] = 1;\n    extent_boot();\n"),
        ("src/platform/os.h", "uint8_t ext_page_state[1];", "uint8_t ext_page_state[PAGE_COUNT_MAX];")],
    "pairing_heap": [                   # the harness starts anew with each input
        ("tests/pairing_heap_model.h", "    memset(ph_root, 0, sizeof ph_root);\n",
         "    memset(ph_root, 0, sizeof ph_root);\n    memset(ph_own, 0, sizeof ph_own);\n    memset(ph_par, 0, sizeof ph_par);\n"),
    ],
}

# All numbers in GMP: where a product needs more than 64 bits, E-ACSL 25 computes its factors in 32 bits.
WIDE = {"align", "divide", "size_class"}

NOT_RUN = {                             # function, clause: why it is left out
    ("prng_part", "only"): "too long to run",                       # a quantifier over all 64-bit numbers
    ("slab_put", "apart"): "too long to run",                       # all pairs, for each region of a batch
    ("slab_put_row", "apart"): "too long to run",
    ("slab_take_word", "apart"): "too long to run",
    ("os_purge", "zero"): "the translator does not end",
    ("os_purge", "kept"): "the translator does not end",
    ("os_purge", "gone"): "the translator does not end",
    ("os_unmap", "must"): "the translator does not end",
    ("os_unmap", "gone"): "the translator does not end",
    ("os_unmap", "kept"): "the translator does not end",
    ("os_map_metadata", "zero"): "memory of the OS is unknown to E-ACSL",
    ("os_map_metadata", "refused"): "the OS of the tests does not note that it refuses",
    ("pool_grant", "refused"): "its body is not checked code, for which alone old values are kept",
    ("pool_open", "refused"): "its body is not checked code, for which alone old values are kept",
    ("pool_open", "open"): "its body is not checked code, for which alone old values are kept",
    ("smoothstep_boot", "exact"): "E-ACSL computes it in 32 bits",  # and with GMP its text does not compile
}

# harness, file, text, faulty text, what the check says: the run fails unless it is found
FAULTS = [
    ("slab", "src/blocks/slab.c", "        w = v;\n        left -= 1;\n",     # the same region twice
     "        left -= 1;\n        w = left == 0 ? w : v;\n", "In function 'slab_take_word'"),
    ("base", "src/pages/base.c", "    base_cursor = p + size;\n", "    base_cursor = p + size - BASE_LINE;\n", "In function 'base_bump'"),
    ("radix_tree", "src/ds/radix_tree.c", "h <= last; h++", "h < last; h++", "In function 'radix_tree_reserve'"),
]
