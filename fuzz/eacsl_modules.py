"""fuzz/eacsl: the sources behind each harness, parameters that make tables small, clauses that no run can finish."""

MODULES = {                             # harness -> sources that are compiled with checks, headers whose contracts count; +: not counted
    "align": ["src/math/align.h", "src/math/prng.h", "src/platform/bits.h"],
    "divide": ["src/math/divide.h", "+src/math/size_class.c"],
    "size_class": ["src/math/size_class.c", "src/math/size_class.h"],
    "bitmap": ["src/ds/bitmap.c", "src/ds/bitmap.h", "src/ds/bitmap_tree.c", "src/ds/bitmap_tree.h", "src/ds/bitmap_word.h"],
    "list": ["src/ds/list.c", "src/ds/list.h"],
    "ring": ["src/ds/ring.c", "src/ds/ring.h"],
    "pairing_heap": ["src/ds/pairing_heap.c", "src/ds/pairing_heap.h"],
    "decay": ["src/pages/decay.c", "src/pages/decay.h", "src/math/smoothstep.c", "src/math/smoothstep.h"],
    "slab": ["src/heap/slab.c", "src/heap/slab.h", "+src/math/size_class.c"],
}

PARAMETERS = {                          # harness, * for all -> file, text, text instead
    "*": [
        ("src/platform/table.h", "#define TABLE_MAX (1UL << 30) ", "#define TABLE_MAX 64UL "),
        ("src/platform/table.h", "#define TABLE_CHUNK (1UL << 15) ", "#define TABLE_CHUNK 32UL "),
        ("src/platform/os.h", "uint8_t os_mapped[1UL << 35];", "uint8_t os_mapped[1];"),
    ],
    "align": [
        ("fuzz/align_fuzz.c", "unsigned __int128 up = ((unsigned __int128)x + a - 1)", "uint64_t up = (x + a - 1)"),
        ("fuzz/align_fuzz.c", "(unsigned __int128)x + a - 1 <= UINT64_MAX", "x + (a - 1) >= x"),
    ],
    "decay": [
        ("tests/decay_model.h", "typedef unsigned __int128 u128;", "typedef uint64_t u128;"),
        ("tests/decay_model.h", "    if (!ok) {", "    if (!ok && sizeof(u128) == 16) {"),     # the contracts are the check
    ],
    "bitmap": [
        ("fuzz/bitmap_fuzz.c", "? 1 + bits * 4 : 1 + bits % 16384", "? 1 + bits % 4500 : 1 + bits % 300"),
    ],
    "list": [
        ("src/platform/table.h", "#define TABLE_MAX 64UL ", "#define TABLE_MAX 96UL "),
    ],
    "pairing_heap": [                   # the harness starts anew with each input
        ("tests/pairing_heap_model.h", "    memset(ph_root, 0, sizeof ph_root);\n",
         "    memset(ph_root, 0, sizeof ph_root);\n    memset(ph_own, 0, sizeof ph_own);\n    memset(ph_par, 0, sizeof ph_par);\n"),
    ],
    "ring": [
        ("src/platform/table.h", "#define TABLE_MAX 64UL ", "#define TABLE_MAX 16UL "),
        ("src/platform/table.h", "#define TABLE_CHUNK 32UL ", "#define TABLE_CHUNK 8UL "),
    ],
}

# All numbers in GMP: where a product needs more than 64 bits, E-ACSL 25 computes its factors in 32 bits.
WIDE = {"align", "divide", "size_class"}

NOT_RUN = {                             # function, clause: why it is left out
    ("prng_part", "only"): "too long to run",                       # a quantifier over all 64-bit numbers
    ("slab_put", "apart"): "too long to run",                       # all pairs, for each region of a batch
    ("slab_take_word", "apart"): "too long to run",
    ("smoothstep_boot", "exact"): "E-ACSL computes it in 32 bits",  # and with GMP its text does not compile
}

# harness, file, text, faulty text, what the check says: the run fails unless it is found
FAULTS = [
    ("slab", "src/heap/slab.c", "    slab_set_word(e, i, v);\n    AT(slab_free_count, e) -= 1;\n",      # the same region twice
     "    slab_set_word(e, i, w);\n    AT(slab_free_count, e) -= 1;\n", "In function 'slab_take'"),
]
