/* Random arrays, written and read in random boxes with random strides, against a plain array in memory. */
#include "support.h"

#include <parapet_store.h>

#include "array/array_handle.h"
#include "geometry/strided.h"

#define MODEL_CASES (400 / TEST_THINNING)
#define MODEL_STEPS 12

typedef struct model {
    int ndim;
    int64_t shape[8], chunks[8], shards[8];
    parapet_type type;
    size_t element_bytes;
    unsigned char fill[16];
    unsigned char *elements; /* C order */
} model;

static int64_t count_of(const model *m)
{
    int64_t count = 1;
    int d;
    for (d = 0; d < m->ndim; d++)
        count *= m->shape[d];
    return count;
}

static void choose_model(test_random *random, model *m)
{
    static const parapet_type types[] = {PARAPET_UINT8, PARAPET_INT16, PARAPET_FLOAT32, PARAPET_FLOAT64,
                                         PARAPET_COMPLEX128};
    int d;
    m->ndim = (int)test_random_between(random, 0, 5);
    m->type = types[test_random_between(random, 0, 4)];
    m->element_bytes = parapet_type_bytes(m->type);
    for (d = 0; d < m->ndim; d++) {
        m->shape[d] = test_random_between(random, m->ndim > 3 ? 1 : 0, m->ndim > 3 ? 7 : 23);
        m->chunks[d] = test_random_between(random, 1, 6);
        m->shards[d] = m->chunks[d] * test_random_between(random, 1, 4);
    }
    for (d = 0; d < 16; d++)
        m->fill[d] = (unsigned char)test_random_next(random);
    if (m->type == PARAPET_FLOAT32 || m->type == PARAPET_FLOAT64 || m->type == PARAPET_COMPLEX128)
        memset(m->fill, 0x3f, sizeof m->fill);
}

static void fill_model(model *m)
{
    int64_t count = count_of(m);
    m->elements = malloc((size_t)count * m->element_bytes + 1);
    pp_fill_elements(m->elements, count, m->element_bytes, m->fill);
}

static void create_array(const model *m, test_random *random, parapet_store *store, parapet_array **array)
{
    static const char *const codecs[] = {"none", "zstd:1", "gzip:1", "blosc:lz4:5:shuffle",
                                         "blosc:zstd:1:bitshuffle"};
    parapet_array_spec spec = {
        .type = m->type,
        .ndim = m->ndim,
        .shape = m->shape,
        .chunks = m->chunks,
        .shards = m->shards,
        .unsharded = test_random_between(random, 0, 3) == 0,
        .no_checksum = test_random_between(random, 0, 3) == 0,
        .codec = codecs[test_random_between(random, 0, 4)],
        .fill_value = m->fill,
    };
    assert_ok(parapet_array_create(array, store, "a", &spec));
}

/* A random box of the model, and memory for it whose dimensions are permuted, padded and some reversed. */
typedef struct region {
    int64_t start[8], count[8], strides[8];
    unsigned char *block, *data;
} region;

static void choose_region(test_random *random, const model *m, region *r)
{
    int64_t bytes = (int64_t)m->element_bytes, offset = 0;
    int order[8], d, i;
    for (d = 0; d < m->ndim; d++) {
        r->start[d] = test_random_between(random, 0, m->shape[d]);
        r->count[d] = test_random_between(random, 0, m->shape[d] - r->start[d]);
        if (test_random_between(random, 0, 2) == 0) {
            r->start[d] = 0;
            r->count[d] = m->shape[d];
        }
        order[d] = d;
    }
    for (i = m->ndim - 1; i > 0; i--) {
        int j = (int)test_random_between(random, 0, i), swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }
    for (i = 0; i < m->ndim; i++) {
        bool is_reversed = test_random_between(random, 0, 3) == 0;
        d = order[i];
        r->strides[d] = is_reversed ? -bytes : bytes;
        if (is_reversed && r->count[d] > 0)
            offset += bytes * (r->count[d] - 1);
        bytes *= r->count[d] + test_random_between(random, 0, 2);
    }
    r->block = calloc(1, (size_t)bytes + 64);
    r->data = r->block + offset;
}

static void copy_region(const model *m, const region *r, bool to_model)
{
    int64_t strides[8] = {0};
    pp_box whole;
    unsigned char *in_model;
    pp_strided copy = {.ndim = m->ndim, .element_bytes = m->element_bytes, .count = r->count};
    (void)pp_box_init(&whole, m->ndim, NULL, m->shape);
    pp_strides_c_order(m->ndim, m->shape, m->element_bytes, strides);
    in_model = m->elements + pp_strides_offset(&whole, strides, r->start);
    copy.target = to_model ? in_model : r->data;
    copy.target_strides = to_model ? strides : r->strides;
    copy.source = to_model ? r->data : in_model;
    copy.source_strides = to_model ? r->strides : strides;
    pp_strided_copy(&copy);
}

static void write_region(test_random *random, model *m, parapet_array *array)
{
    region r;
    model values = *m;
    size_t i, bytes = (size_t)count_of(m) * m->element_bytes;
    parapet_part part = {
        .ndim = m->ndim, .start = r.start, .count = r.count, .strides_bytes = r.strides, .type = m->type};
    choose_region(random, m, &r);
    values.elements = malloc(bytes + 1);
    for (i = 0; i < bytes; i++)
        values.elements[i] = (unsigned char)test_random_next(random);
    copy_region(&values, &r, false);
    part.data = r.data;
    assert_ok(parapet_array_write(array, &part, 1));
    copy_region(m, &r, true);
    free(values.elements);
    free(r.block);
}

static void check_region(test_random *random, const model *m, parapet_array *array)
{
    region r;
    model found = *m;
    size_t bytes = (size_t)count_of(m) * m->element_bytes;
    parapet_part part = {.ndim = m->ndim, .start = r.start, .count = r.count, .strides_bytes = r.strides};
    choose_region(random, m, &r);
    part.data = r.data;
    assert_ok(parapet_array_read(array, &part, 1));
    found.elements = malloc(bytes + 1);
    memcpy(found.elements, m->elements, bytes);
    copy_region(&found, &r, true);
    assert_memory_equal(found.elements, m->elements, bytes);
    free(found.elements);
    free(r.block);
}

static void resize_model(test_random *random, model *m, parapet_array *array)
{
    model old = *m;
    region kept = {.data = NULL};
    int64_t strides[8] = {0};
    int d;
    for (d = 0; d < m->ndim; d++) {
        m->shape[d] = test_random_between(random, 0, old.shape[d] + 5);
        kept.count[d] = m->shape[d] < old.shape[d] ? m->shape[d] : old.shape[d];
    }
    assert_ok(parapet_array_resize(array, m->shape));
    fill_model(m);
    pp_strides_c_order(m->ndim, old.shape, m->element_bytes, strides);
    memcpy(kept.strides, strides, sizeof kept.strides);
    kept.data = old.elements;
    copy_region(m, &kept, true);
    free(old.elements);
}

static void seal_and_reopen(parapet_store *store, parapet_array **array)
{
    parapet_array_info info;
    assert_ok(parapet_array_seal(*array));
    assert_ok(parapet_array_close(array));
    assert_ok(parapet_array_open(array, store, "a"));
    assert_ok(parapet_array_get_info(*array, &info));
    assert_true(info.is_sealed);
}

static void check_stored(parapet_array *array)
{
    parapet_check_summary summary;
    assert_ok(parapet_array_check(array, PARAPET_CHECK_DATA, NULL, NULL, &summary));
    assert_int_equal(summary.torn + summary.missing + summary.stray, 0);
}

static void run_case(test_random *random, const parapet_store_options *options)
{
    parapet_store *store;
    parapet_array *array;
    model m = {0};
    int step;
    choose_model(random, &m);
    fill_model(&m);
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, "memory:model", PARAPET_CREATE, options));
    create_array(&m, random, store, &array);
    for (step = 0; step < MODEL_STEPS; step++) {
        switch (test_random_between(random, 0, 7)) {
        case 0:
            resize_model(random, &m, array);
            break;
        case 1:
            seal_and_reopen(store, &array);
            break;
        case 2:
            assert_ok(parapet_array_attribute_set(array, "step", "1"));
            break;
        case 3:
        case 4:
        case 5:
            write_region(random, &m, array);
            break;
        default:
            check_region(random, &m, array);
        }
    }
    check_region(random, &m, array);
    check_stored(array);
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&store));
    pp_store_memory_drop("model");
    free(m.elements);
}

static void run_all(const parapet_store_options *options)
{
    test_random random = test_random_start();
    long live = pp_memory_live_count();
    int i;
    for (i = 0; i < MODEL_CASES; i++)
        run_case(&random, options);
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_model__equals_the_array_with_one_thread_and_no_helper(void **state)
{
    (void)state;
    run_all(&(parapet_store_options){.io_thread = PARAPET_IO_THREAD_NONE});
}

static void test_model__equals_the_array_with_helper_and_three_workers(void **state)
{
    (void)state;
    run_all(&(parapet_store_options){.threads = 3});
}

static void test_model__equals_the_array_in_the_smallest_memory(void **state)
{
    (void)state;
    run_all(&(parapet_store_options){.memory_bytes = 1 << 20});
}

static void test_model__equals_the_array_when_fill_is_elided(void **state)
{
    (void)state;
    run_all(&(parapet_store_options){.elide_fill = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model__equals_the_array_with_one_thread_and_no_helper),
        cmocka_unit_test(test_model__equals_the_array_with_helper_and_three_workers),
        cmocka_unit_test(test_model__equals_the_array_in_the_smallest_memory),
        cmocka_unit_test(test_model__equals_the_array_when_fill_is_elided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
