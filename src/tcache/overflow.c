/* overflow: see overflow.h. */
#include "tcache/overflow.h"

#include "platform/trap.h"
#include "tcache/counting.h"
#include "tcache/refill.h"
#include "tcache/stack.h"

#include "math/size_class_align_lemmas.acsl"
#include "blocks/large_lemmas.acsl"
#include "tcache/overflow_lemmas.acsl"

/* Returns the stack of the block that begins there, or 0 if its class is not cached. 0 may also mean that no block begins there. The
 * program ends in the middle of a slab's region, and in a cached large block's first page, and only there. */
/*@ requires blocks:  BlocksOk;
    requires known:   OverflowKnown(block);
    exits    out:     !BlockOut(block);
    exits    begins:  !OverflowBegins(block);
    assigns           \nothing;
    ensures  range:   \result < TCACHE_STACKS;
    ensures  begins:  \result != 0 ==> OverflowBegins(block);
    ensures  no_slab: \result == 0 ==> LargeNoSlab(block);
    ensures  stack:   BlockOut(block) && block_szind[block] < TCACHE_STACKS - 1 ==> \result == block_szind[block] + 1;
    ensures  none:    BlockOut(block) && block_szind[block] >= TCACHE_STACKS - 1 ==> \result == 0;
*/
static inline uint32_t overflow_stack_of(uint64_t block, const char *call)
{
    if (block / PAGE >= PAGE_COUNT_MAX) {
        return 0;
    }
    /*@ ghost
        if (block < ADDRESS_MAX && block_state[block] != BLOCK_NONE) { tcache_lemma_tag(block); overflow_lemma_start(block); }
        if (0 < ext_owner[block / PAGE] && ext_kind[ext_owner[block / PAGE]] == KIND_SLAB) { overflow_lemma_slab(block); }
    */
    uint64_t tag = radix_tree_tag(block / PAGE);
    uint32_t stack = tag_stack(tag);
    if (stack == 0) {
        return 0;
    }
    /*@ ghost if (ext_kind[ext_owner[block / PAGE]] == KIND_LARGE) { overflow_lemma_large(block); } */
    uint32_t offset = tag_offset(tag, block);
    bool begins = stack_is_small(stack) ? divide_is_multiple(offset, slab_magic[stack - 1]) : offset == 0;
    /*@ assert large: BlockLarge(block) ==> ExtKind(ext_owner[block / PAGE], KIND_LARGE); */
    /*@ assert class: ext_kind[ext_owner[block / PAGE]] == KIND_SLAB ==> stack - 1 == slab_class[ext_owner[block / PAGE]]; */
    /*@ assert offset: offset == TagOffset(radix_tag_of[block / PAGE] % TAG_HALF, block); */
    /*@ assert small: stack <= SC_NBINS ==> (begins <==> offset * slab_magic[stack - 1] % DIVIDE_ONE < slab_magic[stack - 1]); */
    /*@ assert slab: ext_kind[ext_owner[block / PAGE]] == KIND_SLAB ==> (begins <==> OverflowRegion(block, ext_owner[block / PAGE])); */
    /*@ assert first: ext_kind[ext_owner[block / PAGE]] == KIND_LARGE ==> (begins <==> BlockLarge(block)); */
    /*@ assert begins: begins <==> OverflowBegins(block); */
    if (!begins) {
        trap_misuse(call, "interior pointer", block);
    }
    return stack;
}

uint64_t overflow_usable(uint64_t block, const char *call)
{
    uint32_t stack = overflow_stack_of(block, call);
    if (stack != 0) {
        return size_class_bytes(stack - 1);
    }
    uint64_t bytes = large_bytes(block);
    if (bytes == 0) {
        trap_misuse(call, "not a block", block);
    }
    return bytes;
}

_Noreturn void overflow_dead(uint64_t block, const char *call, const char *what)
{
    uint32_t stack = overflow_stack_of(block, call);
    trap_misuse(call, stack != 0 ? what : "not a block", block);
}

uint64_t overflow_asked(uint64_t block, const char *call)
{
    if (live_asked() && !live_is(block)) {
        overflow_dead(block, call, "freed block");
    }
    return overflow_usable(block, call);
}

/* Makes the address's window the one that tcache_push knows. It is never the first window, so tcache_push need not test for NULL. */
/*@ requires radix:   RadixOk;
    requires ok:      TcacheOk(t);
    requires address: block < ADDRESS_MAX;
    assigns           TCACHE_ASSIGNS_PAGES(t), t->window, t->leaf;
    ensures  ok:      TcacheOk(t);
*/
static void overflow_look(struct tcache *t, uint64_t block)
{
    /*@ ghost tcache_lemma_types(t); */
    uint64_t           window = block / (1UL << RADIX_LG_WINDOW);
    struct radix_leaf *leaf = radix_tree_leaf(window);
    if (window != 0 && leaf != NULL) {
        t->leaf = leaf;
        t->window = window * (1UL << RADIX_LG_WINDOW);
        t->window_pages = RADIX_WINDOW_PAGES;
        t->counted_pages = 0;
        t->checked_pages = 0;
        t->known_pages = RADIX_WINDOW_PAGES;
        /*@ assert begins: t->window / RADIX_HALF == window && t->window % RADIX_HALF == 0; */
        /*@ ghost tcache_lemma_ok(t); */
    }
}

/* tcache_push_at for a block whose page in the window is that one. Returns the bytes of the block, or 0 if the push is refused. */
/*@ TCACHE_WHOLE(requires, t);
    requires live:    0 < block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    requires known:   page < t->known_pages;
    requires page:    block / PAGE == t->window / RADIX_HALF * RADIX_WINDOW_PAGES + page;
    assigns           TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block];
    TCACHE_WHOLE(ensures, t);
    ENSURES_PUSHED(t, block);
    TCACHE_NONE_LOST(ensures, t);
    ensures  bytes:   \result != 0 ==> \result == ScBytes(block_szind[block]);
*/
static inline uint64_t overflow_push_at(struct tcache *t, uint64_t block, uint64_t page)
{
    uint64_t stack = radix_leaf_high(t->leaf, page) /*@ ghost (t->window / RADIX_HALF) */;
    if (!tcache_push_at(t, block, page, stack)) {
        return 0;
    }
    return stack <= SC_NBINS ? slab_bytes[stack - 1] : size_class_bytes((uint32_t)stack - 1);
}

/* Returns the pages of the window that is known, if it may be used by the frees of a thread that counts for that reason: it counts for no other
 * one, and no mode fills what is freed. Returns 0 otherwise. */
/*@ requires valid:   \valid_read(t);
    assigns           \nothing;
    ensures  pages:   \result == 0 || \result == t->known_pages;
*/
static inline uint64_t overflow_pages(const struct tcache *t, uint64_t reason)
{
    return modes_freed_byte() == MODES_NO_BYTE && counting_only(t, reason) ? t->known_pages : 0;
}

/* Gives the known window to those frees of the thread that are only counted, or only checked. */
/*@ requires ok:      TcacheOk(t);
    assigns           TCACHE_ASSIGNS_PAGES(t);
    ensures  ok:      TcacheOk(t);
*/
static inline void overflow_lend(struct tcache *t)
{
    t->window_pages = 0;
    t->counted_pages = overflow_pages(t, COUNTER_ALLOCATES);
    t->checked_pages = overflow_pages(t, COUNTER_CHECKS);
    /*@ ghost tcache_lemma_ok(t); */
}

uint64_t overflow_push(struct tcache *t, uint64_t block)
{
    overflow_look(t, block);
    /*@ assert looked: TcacheAll{Pre}(t) ==> TcacheAll(t); */
    uint64_t page = tcache_window_page(t, block);
    uint64_t bytes = page < t->known_pages ? overflow_push_at(t, block, page) : 0;
    /*@ assert all: TcacheAll{Pre}(t) ==> TcacheAll(t); */
    overflow_lend(t);
    return bytes;
}

/* Gives the older seven eighths of a full stack back. The next fill is small again, so that it does not make the stack overflow. */
/*@ TCACHE_CALM(requires, t);
    requires stack:   0 < stack < TCACHE_STACKS;
    requires full:    t->floor[stack] < t->top[stack] && t->top[stack] == t->limit[stack];
    assigns           TCACHE_ASSIGNS(t);
    TCACHE_CALM(ensures, t);
    ensures  room:    t->top[stack] < t->limit[stack];
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, 0, 0);
*/
static void overflow_make_room(struct tcache *t, uint32_t stack)
{
    refill_tick(t);
    /*@ assert some: t->floor[stack] < t->least[stack]; */
    uint32_t n = (uint32_t)t->top[stack] - t->floor[stack];
    stack_flush_oldest(t, stack, n - n / 8);
    t->full[stack] = 1;
    t->fill[stack] = TCACHE_FILL_FIRST;
    /*@ ghost tcache_lemma_ok(t); */
}

/* Frees a block without a stay in a stack, of a class that is not cached (stack 0), or not in t. */
/*@ TCACHE_CALM(requires, t);
    REQUIRES_LIVE_OF(block, stack);
    assigns           BLOCKS_ASSIGNS, large_freed;
    TCACHE_CALM(ensures, t);
    ensures  gone:    block_state[block] == BLOCK_NONE;
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, block, 0);
*/
static void overflow_past(uint32_t stack, uint64_t block, const char *call) /*@ ghost (struct tcache *t) */
{
    /*@ assert were: TcacheOthers(t, TCACHE_STACKS); */
    /*@ assert absent: \forall integer b, i; TCACHE_IN(t, b, i) ==> t->slot[i] != block && i < TCACHE_SLOTS; */
    outside_give(stack, block, call);
    /*@ assert same: TcacheShapeSame{Pre,Here}(t); */
    /*@ ghost tcache_lemma_shape(t); */
    /*@ ghost tcache_lemma_types(t); */
    /*@ assert stacks: TcacheSame{Pre,Here}(t); */
    /*@ assert are: TcacheOthers(t, TCACHE_STACKS); */
    /*@ ghost stack_lemma_kept(t); */
}

/* Frees a block into its stack. */
/*@ TCACHE_CALM(requires, t);
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    requires class:   0 < stack < TCACHE_STACKS && block_szind[block] == stack - 1;
    requires some:    t->floor[stack] < t->limit[stack];
    assigns           TCACHE_ASSIGNS(t);
    TCACHE_CALM(ensures, t);
    ensures  cached:  block_state[block] == BLOCK_CACHED;
    ensures  stands:  t->floor[stack] < t->top[stack] && t->slot[t->top[stack]] == block;
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, block, 0);
*/
static void overflow_cached(struct tcache *t, uint32_t stack, uint64_t block, const char *call)
{
    /*@ ghost blocks_lemma_out(block); */
    /*@ ghost stack_lemma_null(); */
    /* A thread that counts its bytes, or whose frees a mode has to see, has no window, so that its free comes here. */
    if (!counting_bytes(t) && !counting_frees()) {
        overflow_look(t, block);
    }
    if (tcache_top(t, stack) == block) {
        trap_misuse(call, "double free", block);
    }
    if (t->top[stack] >= t->limit[stack]) {
        overflow_make_room(t, stack);
    }
    tcache_add(t, stack, t->top[stack], block);
}

void overflow_free(struct tcache *t, uint64_t block, const char *call)
{
    /*@ ghost stack_lemma_null(); */
    /*@ ghost overflow_lemma_out(block); */
    uint32_t stack = overflow_stack_of(block, call);
    if (stack == 0 || t->limit[stack] == t->floor[stack]) {     /* the cache keeps no blocks of that class */
        overflow_past(stack, block, call) /*@ ghost (t) */;
        refill_tick(t);
    } else {
        overflow_cached(t, stack, block, call);
    }
}

void overflow_free_past(struct tcache *t, uint64_t block, const char *call)
{
    /*@ ghost stack_lemma_null(); */
    /*@ ghost overflow_lemma_out(block); */
    uint32_t stack = overflow_stack_of(block, call);
    overflow_past(stack, block, call) /*@ ghost (t) */;
    refill_tick(t);
}
