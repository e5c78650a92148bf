/* size_class_test: compares with the slow list every size to 1 MiB, the neighbours of every class and of every power
 * of two, every slab, and random sizes. It compares each field of the reference tables too. */
#include <string.h>

#include "size_class_model.h"

static uint64_t seed = 0x9E3779B97F4A7C15UL;

static uint64_t random64(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* Classes and small classes in jemalloc, by configuration; 0: not known. Others are checked against the model alone. */
static void golden(void)
{
    static const uint32_t rows[][6] = {
        {12, 4, 3, 2, 232, 36}, {12, 3, 3, 2, 235, 39}, {12, 5, 3, 2, 229, 33}, {12, 4, 2, 2, 233, 37}, {12, 4, 4, 2, 231, 35},
        {12, 4, 3, 1, 118, 18}, {12, 4, 3, 3, 456, 72}, {14, 4, 3, 2, 0, 44},   {16, 4, 3, 2, 0, 52},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint32_t *r = rows[i];
        if (r[0] == LG_PAGE && r[1] == LG_QUANTUM && r[2] == SC_LG_TINY_MIN && r[3] == SC_LG_NGROUP) {
            MODEL_CHECK(r[4] == 0 || model_nsizes == r[4]);
            MODEL_CHECK(model_nbins == r[5]);
        }
    }
}

static void counts(void)
{
    MODEL_CHECK(model_nsizes == SC_NSIZES);
    MODEL_CHECK(model_npsizes == SC_NPSIZES);
    MODEL_CHECK(model_nbins == SC_NBINS);
    MODEL_CHECK(model_bytes[SC_NBINS - 1] == SC_SMALL_MAXCLASS);
    MODEL_CHECK(model_bytes[SC_NBINS] == SC_LARGE_MINCLASS);
    MODEL_CHECK(model_bytes[SC_NSIZES - 1] == SC_LARGE_MAXCLASS);
}

static void classes(void)
{
    for (uint32_t i = 0; i < SC_NSIZES; i++) {
        MODEL_CHECK(size_class_bytes(i) == model_bytes[i]);
        for (uint64_t d = 0; d <= 2; d++) {
            model_compare_size(model_bytes[i] - 1 + d);
        }
    }
    for (uint32_t i = 0; i < SC_NPSIZES; i++) {
        for (uint64_t n = model_npages[i] - (model_npages[i] > 1); n <= model_npages[i] + 1; n++) {
            model_compare_pages(n);
        }
    }
}

static void slabs(void)
{
    for (uint32_t i = 0; i < SC_NBINS; i++) {
        uint32_t n = 1;
        while (n * PAGE % model_bytes[i] != 0) {
            n++;
        }
        MODEL_CHECK(size_class_slab_pages(i) == n);
        MODEL_CHECK(n <= SC_SLAB_NPAGES_MAX);
    }
}

static void sizes(void)
{
    for (uint64_t bytes = 0; bytes <= 1UL << 20; bytes++) {
        model_compare_size(bytes);
        model_compare_pages(bytes + 1);
    }
    for (uint32_t lg = 0; lg < 64; lg++) {
        for (uint64_t d = 0; d <= 2; d++) {
            model_compare_size((1UL << lg) - 1 + d);
            model_compare_pages((1UL << lg) + d);
        }
    }
    model_compare_size(UINT64_MAX);
    model_compare_pages(UINT64_MAX);
    for (uint32_t i = 0; i < 200000; i++) {
        uint64_t x = random64() >> (random64() % 64);
        model_compare_size(x);
        model_compare_pages(x + (x == 0));
    }
}

#if LG_PAGE == 12 && LG_QUANTUM == 4 && SC_LG_TINY_MIN == 3 && SC_LG_NGROUP == 2
static FILE *table_open(const char *path)
{
    char  heading[256];
    FILE *f = fopen(path, "r");
    MODEL_CHECK(f != NULL && fgets(heading, sizeof heading, f) != NULL);
    return f;
}

/* Field by field, each computed from the functions under test. */
static void reference(void)
{
    FILE    *f = table_open("spec/reference/size_classes_jemalloc_lgpage12.tsv");
    char     group[16];
    uint32_t rows = 0, pages = 0, i, base, delta, ndelta, psz, bin, pgs, lookup;
    uint64_t bytes;
    while (fscanf(f, "%u %15s %u %u %u %u %u %u %u %lu", &i, group, &base, &delta, &ndelta, &psz, &bin, &pgs, &lookup, &bytes)
           == 10) {
        MODEL_CHECK(i == rows++);
        MODEL_CHECK(size_class_bytes(i) == bytes && bytes == (1UL << base) + ndelta * (1UL << delta));
        MODEL_CHECK(size_class_index(bytes) == i && size_class_index(bytes + 1) == i + 1);
        MODEL_CHECK((bytes % PAGE == 0) == (psz != 0) && (i < SC_NBINS) == (bin != 0));
        MODEL_CHECK(pgs == (bin != 0 ? size_class_slab_pages(i) : 0));
        MODEL_CHECK(lookup == (bytes <= SC_LOOKUP_MAX ? delta : 0));
        MODEL_CHECK((strcmp(group, "tiny") == 0) == (i < SC_NTINY));
        MODEL_CHECK((strcmp(group, "pseudo") == 0) == (i >= SC_NTINY && i < SC_NTINY + SC_NGROUP));
        if (psz != 0) {
            MODEL_CHECK(model_npages[pages] * PAGE == bytes && size_class_page_index(bytes / PAGE) == pages);
            pages++;
        }
    }
    MODEL_CHECK(feof(f) && rows == SC_NSIZES && pages == SC_NPSIZES);
    fclose(f);
}

/* jemalloc 3's small classes are the first of ours. */
static void reference_small(void)
{
    FILE    *f = table_open("spec/reference/size_classes_jemalloc3_small.tsv");
    uint32_t rows = 0, i;
    uint64_t delta, bytes;
    while (fscanf(f, "%u %lu %lu", &i, &delta, &bytes) == 3) {
        MODEL_CHECK(i == rows++);
        MODEL_CHECK(size_class_bytes(i) == bytes && size_class_index(bytes) == i);
        MODEL_CHECK(size_class_bytes(i + 1) - bytes >= delta);
        MODEL_CHECK(i == 0 || size_class_index(bytes - delta + 1) == i);
    }
    MODEL_CHECK(feof(f) && rows == 28);
    fclose(f);
}

/* tcmalloc aligns the classes of each doubling; ours are aligned at least as well. */
static void reference_alignment(void)
{
    FILE    *f = table_open("spec/reference/alignment_tcmalloc.tsv");
    uint64_t from, to, align_bytes;
    uint32_t rows = 0;
    while (fscanf(f, "%lu %lu %lu", &from, &to, &align_bytes) == 3) {
        rows++;
        for (uint32_t i = size_class_index(from); size_class_bytes(i) < to; i++) {
            MODEL_CHECK(size_class_bytes(i) % align_bytes == 0);
        }
    }
    MODEL_CHECK(feof(f) && rows > 10);
    fclose(f);
}
#endif

int main(void)
{
    model_boot();
    counts();
    golden();
    classes();
    slabs();
    sizes();
#if LG_PAGE == 12 && LG_QUANTUM == 4 && SC_LG_TINY_MIN == 3 && SC_LG_NGROUP == 2
    reference();
    reference_small();
    reference_alignment();
#endif
    printf("ok size_class: %lu checks\n", model_checks);
    return 0;
}
