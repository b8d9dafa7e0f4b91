#include "support.h"

#include <stdbool.h>

#include "geometry/strided.h"

#define GUARD_BYTES 64

/* Random memory that holds a box with some strides; the element at position 0 is at data + origin. */
typedef struct layout {
    int64_t strides[PARAPET_MAX_NDIM];
    int64_t origin;
    size_t bytes;
    unsigned char *data;
} layout;

static void randomise(test_random *random, unsigned char *data, size_t bytes)
{
    size_t i;
    for (i = 0; i < bytes; i++)
        data[i] = (unsigned char)(test_random_next(random) >> 56);
}

static void shuffle(test_random *random, int *order, int ndim)
{
    int d;
    for (d = 0; d < ndim; d++)
        order[d] = d;
    for (d = ndim - 1; d > 0; d--) {
        int other = (int)test_random_between(random, 0, d), kept = order[d];
        order[d] = order[other];
        order[other] = kept;
    }
}

/* Dimensions in any order, forwards or backwards, dense, or with halos or loose bytes between elements. */
static void make_layout(test_random *random, int ndim, const int64_t *count, size_t element_bytes, layout *memory)
{
    int order[PARAPET_MAX_NDIM], d;
    int64_t extent = (int64_t)element_bytes;
    bool is_permuted = test_random_between(random, 0, 2) > 0;
    /* A halo in each of 32 dimensions needs more memory than there is. */
    bool is_padded = ndim <= 6 && test_random_between(random, 0, 1) > 0;
    shuffle(random, order, ndim);
    memory->origin = GUARD_BYTES + test_random_between(random, 0, 15);
    for (d = ndim - 1; d >= 0; d--) {
        int dimension = is_permuted ? order[d] : d;
        if (is_padded && test_random_between(random, 0, 2) == 0)
            extent += test_random_between(random, 0, 9);
        memory->strides[dimension] = extent;
        extent *= count[dimension] + (is_padded ? test_random_between(random, 0, 2) : 0);
        if (test_random_between(random, 0, 4) == 0) {
            memory->origin += (count[dimension] > 0 ? count[dimension] - 1 : 0) * memory->strides[dimension];
            memory->strides[dimension] *= -1;
        }
    }
    memory->bytes = (size_t)(extent + 2 * GUARD_BYTES + 16);
    memory->data = malloc(memory->bytes);
    assert_non_null(memory->data);
    randomise(random, memory->data, memory->bytes);
}

static int64_t product(int ndim, const int64_t *count)
{
    int64_t elements = 1;
    int d;
    for (d = 0; d < ndim; d++)
        elements *= count[d];
    return elements;
}

/* Byte offset of the element with that number in C order. */
static int64_t offset_of(int ndim, const int64_t *count, const int64_t *strides, int64_t number)
{
    int64_t offset = 0;
    int d;
    for (d = ndim - 1; d >= 0; d--) {
        offset += number % count[d] * strides[d];
        number /= count[d];
    }
    return offset;
}

/* Element by element, into expected; a copy without source_strides is a fill. */
static void copy_naively(const pp_strided *copy, unsigned char *expected)
{
    int64_t elements = product(copy->ndim, copy->count), i;
    for (i = 0; i < elements; i++) {
        int64_t to = offset_of(copy->ndim, copy->count, copy->target_strides, i);
        int64_t from = copy->source_strides ? offset_of(copy->ndim, copy->count, copy->source_strides, i) : 0;
        memcpy(expected + to, (const unsigned char *)copy->source + from, copy->element_bytes);
    }
}

/* Compares all bytes of the target's memory, so that a byte written beside the box is found as well. */
static void check_case(test_random *random, int ndim, const int64_t *count, size_t element_bytes)
{
    layout source, target;
    unsigned char *expected;
    int fills;
    make_layout(random, ndim, count, element_bytes, &source);
    make_layout(random, ndim, count, element_bytes, &target);
    expected = malloc(target.bytes);
    assert_non_null(expected);
    memcpy(expected, target.data, target.bytes);
    for (fills = 0; fills < 2; fills++) {
        pp_strided copy = {
            .ndim = ndim,
            .element_bytes = element_bytes,
            .count = count,
            .target = target.data + target.origin,
            .target_strides = target.strides,
            .source = source.data + source.origin,
            .source_strides = fills ? NULL : source.strides,
            .is_nontemporal = test_random_between(random, 0, 1) == 0,
        };
        copy_naively(&copy, expected + target.origin);
        if (fills)
            pp_strided_fill(&copy);
        else
            pp_strided_copy(&copy);
        if (memcmp(expected, target.data, target.bytes) != 0)
            fail_msg("a %s of %d dimensions with %zu-byte elements differs", fills ? "fill" : "copy", ndim,
                     element_bytes);
    }
    free(expected);
    free(target.data);
    free(source.data);
}

static size_t random_element_bytes(test_random *random)
{
    static const size_t common[] = {1, 2, 4, 8, 16, 24, 32, 64};
    if (test_random_between(random, 0, 1) == 0)
        return common[test_random_between(random, 0, sizeof common / sizeof common[0] - 1)];
    return (size_t)test_random_between(random, 1, 17);
}

static void test_copy__agrees_with_one_element_at_a_time(void **state)
{
    test_random random = test_random_start();
    int i, d;
    (void)state;
    for (i = 0; i < 12000; i++) {
        int ndim = (int)test_random_between(&random, 0, 6);
        int64_t count[6], room = 400;
        for (d = 0; d < ndim; d++) {
            int64_t most = room < 6 ? room : 6;
            count[d] = test_random_between(&random, test_random_between(&random, 0, 30) == 0 ? 0 : 1, most);
            room /= count[d] > 0 ? count[d] : 1;
        }
        check_case(&random, ndim, count, random_element_bytes(&random));
    }
}

/* Sides around multiples of the block of a transposing copy, with loops outside, between and inside. */
static void test_copy__agrees_across_the_edges_of_blocks(void **state)
{
    static const int64_t sides[] = {1, 2, 31, 63, 64, 65, 100, 127, 128, 129, 200};
    test_random random = test_random_start();
    int i, d;
    (void)state;
    for (i = 0; i < 250; i++) {
        int ndim = (int)test_random_between(&random, 2, 4);
        int64_t count[4] = {1, 1, 1, 1};
        for (d = 0; d < ndim; d++)
            count[d] = test_random_between(&random, 1, 3);
        count[test_random_between(&random, 0, ndim - 1)] = sides[test_random_between(&random, 0, 10)];
        count[test_random_between(&random, 0, ndim - 1)] = sides[test_random_between(&random, 0, 10)];
        check_case(&random, ndim, count, random_element_bytes(&random));
    }
}

/* Rows shorter and longer than the pattern, and elements that fit into it once, twice or not at all. */
static void test_copy__agrees_for_long_rows_and_large_elements(void **state)
{
    static const size_t large[] = {100, 1023, 2047, 2048, 2049, 4096, 5000};
    test_random random = test_random_start();
    size_t i;
    (void)state;
    for (i = 0; i < 300; i++) {
        int64_t count[2] = {test_random_between(&random, 1, 3), test_random_between(&random, 1, 12000)};
        check_case(&random, 2, count, random_element_bytes(&random));
    }
    for (i = 0; i < 140; i++) {
        int64_t count[2] = {test_random_between(&random, 1, 3), test_random_between(&random, 1, 50)};
        check_case(&random, 2, count, large[i % 7]);
    }
}

/* Large enough to go past the caches, with runs of every alignment and rows that end anywhere in a cache line. */
static void test_copy__agrees_when_it_goes_past_the_caches(void **state)
{
    test_random random = test_random_start();
    int i;
    (void)state;
    for (i = 0; i < 60; i++) {
        int64_t count[2] = {test_random_between(&random, 1, 300), test_random_between(&random, 250, 1500)};
        check_case(&random, 2, count, random_element_bytes(&random));
    }
}

static void test_copy__takes_32_dimensions(void **state)
{
    test_random random = test_random_start();
    int64_t count[PARAPET_MAX_NDIM];
    int i, d;
    (void)state;
    for (i = 0; i < 50; i++) {
        for (d = 0; d < PARAPET_MAX_NDIM; d++)
            count[d] = 1 + (d % 4 == i % 4);
        check_case(&random, PARAPET_MAX_NDIM, count, 2);
    }
}

static void test_copy__repeats_a_source_whose_stride_is_zero(void **state)
{
    const uint16_t row[3] = {1, 2, 3};
    const int64_t count[2] = {4, 3}, target_strides[2] = {6, 2}, source_strides[2] = {0, 2};
    uint16_t target[12];
    int i;
    (void)state;
    pp_strided_copy(&(pp_strided){2, 2, count, target, target_strides, row, source_strides, false});
    for (i = 0; i < 12; i++)
        assert_int_equal(target[i], row[i % 3]);
}

static void test_copy__of_no_elements_touches_nothing(void **state)
{
    const int64_t count[3] = {5, 0, INT64_MAX}, strides[3] = {1, 1, 1};
    const unsigned char source[1] = {1};
    unsigned char target[1] = {9};
    (void)state;
    pp_strided_copy(&(pp_strided){3, 1, count, target, strides, source, strides, false});
    pp_strided_fill(&(pp_strided){3, 1, count, target, strides, source, NULL, false});
    pp_strided_copy(&(pp_strided){3, 1, count, NULL, strides, NULL, strides, false});
    pp_fill_elements(NULL, 0, 8, source);
    assert_int_equal(target[0], 9);
}

static void test_copy__of_no_dimensions_is_one_element(void **state)
{
    double source = 2.5, target[3] = {0, 0, 0};
    (void)state;
    pp_strided_copy(&(pp_strided){0, 8, NULL, &target[1], NULL, &source, NULL, false});
    assert_true(target[0] == 0 && target[1] == 2.5 && target[2] == 0);
    source = 3.5;
    pp_strided_fill(&(pp_strided){0, 8, NULL, &target[1], NULL, &source, NULL, false});
    assert_true(target[0] == 0 && target[1] == 3.5 && target[2] == 0);
}

static void test_copy__fill_elements_sets_every_element_and_no_more(void **state)
{
    static unsigned char data[40000];
    const unsigned char value[24] = "abcdefghijklmnopqrstuvwx";
    size_t element_bytes, i;
    int64_t count;
    (void)state;
    for (element_bytes = 1; element_bytes <= 24; element_bytes++)
        for (count = 1; count <= 1500; count = count * 3 / 2 + 1) {
            size_t bytes = (size_t)count * element_bytes;
            memset(data, '#', bytes + 2);
            pp_fill_elements(data + 1, count, element_bytes, value);
            assert_true(data[0] == '#' && data[bytes + 1] == '#');
            for (i = 0; i < bytes; i++)
                if (data[1 + i] != value[i % element_bytes])
                    fail_msg("byte %zu of %zu is wrong", i, bytes);
        }
}

static void test_copy__strides_in_c_order_are_dense(void **state)
{
    int64_t strides[3];
    (void)state;
    pp_strides_c_order(3, (int64_t[]){2, 3, 5}, 4, strides);
    assert_true(strides[0] == 60 && strides[1] == 20 && strides[2] == 4);
    pp_strides_c_order(3, (int64_t[]){0, INT64_MAX, INT64_MAX}, 8, strides);
    assert_int_equal(strides[2], 8);
}

/* One of four blocks of a 7 x 9 array, in memory with a halo of 1 around it. */
typedef struct block {
    pp_box inside;
    pp_box with_halo;
    int64_t strides[2];
    unsigned char data[400];
} block;

static const pp_box array = {2, {0}, {7, 9}};

static void make_block(block *part, int i, int j)
{
    const int64_t rows[3] = {0, 3, 7}, columns[3] = {0, 4, 9};
    const int64_t start[2] = {rows[i], columns[j]}, count[2] = {rows[i + 1] - rows[i], columns[j + 1] - columns[j]};
    assert_ok(pp_box_init(&part->inside, 2, start, count));
    assert_ok(pp_box_init(&part->with_halo, 2, (int64_t[]){start[0] - 1, start[1] - 1},
                          (int64_t[]){count[0] + 2, count[1] + 2}));
    pp_strides_c_order(2, part->with_halo.count, 4, part->strides);
}

static unsigned char *element_of(block *part, const int64_t *position)
{
    return part->data + pp_strides_offset(&part->with_halo, part->strides, position);
}

/* Elements of the array inside valid hold their number, all others -1; set, or else checked. */
static void visit_block(block *part, const pp_box *valid, bool set)
{
    int64_t cell[2];
    bool more;
    for (more = pp_box_first(&part->with_halo, cell); more; more = pp_box_next(&part->with_halo, cell)) {
        bool is_valid = pp_box_contains(valid, &(pp_box){2, {cell[0], cell[1]}, {1, 1}});
        int32_t value = is_valid ? (int32_t)(cell[0] * 9 + cell[1]) : -1;
        if (set)
            memcpy(element_of(part, cell), &value, 4);
        else
            assert_memory_equal(element_of(part, cell), &value, 4);
    }
}

static void test_copy__blocks_with_halos_make_an_array_and_get_it_back(void **state)
{
    unsigned char whole[63 * 4];
    int64_t strides[2];
    block part;
    int32_t i;
    (void)state;
    pp_strides_c_order(2, array.count, 4, strides);
    for (i = 0; i < 4; i++) {
        make_block(&part, i / 2, i % 2);
        visit_block(&part, &part.inside, true);
        pp_strided_copy(&(pp_strided){2, 4, part.inside.count,
                                      whole + pp_strides_offset(&array, strides, part.inside.start), strides,
                                      element_of(&part, part.inside.start), part.strides, false});
    }
    for (i = 0; i < 63; i++)
        assert_memory_equal(whole + 4 * i, &i, 4);
    for (i = 0; i < 4; i++) {
        pp_box common;
        make_block(&part, i / 2, i % 2);
        memset(part.data, 0xff, sizeof part.data);
        assert_true(pp_box_intersect(&part.with_halo, &array, &common));
        pp_strided_copy(&(pp_strided){2, 4, common.count, element_of(&part, common.start), part.strides,
                                      whole + pp_strides_offset(&array, strides, common.start), strides, false});
        visit_block(&part, &array, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy__agrees_with_one_element_at_a_time),
        cmocka_unit_test(test_copy__agrees_across_the_edges_of_blocks),
        cmocka_unit_test(test_copy__agrees_for_long_rows_and_large_elements),
        cmocka_unit_test(test_copy__agrees_when_it_goes_past_the_caches),
        cmocka_unit_test(test_copy__takes_32_dimensions),
        cmocka_unit_test(test_copy__repeats_a_source_whose_stride_is_zero),
        cmocka_unit_test(test_copy__of_no_elements_touches_nothing),
        cmocka_unit_test(test_copy__of_no_dimensions_is_one_element),
        cmocka_unit_test(test_copy__fill_elements_sets_every_element_and_no_more),
        cmocka_unit_test(test_copy__strides_in_c_order_are_dense),
        cmocka_unit_test(test_copy__blocks_with_halos_make_an_array_and_get_it_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
