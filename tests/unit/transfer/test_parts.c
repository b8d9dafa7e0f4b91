/* The caller's memory: what is refused, and that elements move between the right places. */
#include "support.h"

#include "base/status.h"
#include "laid_out.h"
#include "transfer/move.h"
#include "transfer/parts.h"

#define ROWS 7
#define COLUMNS 10

static const char grid_of_ints[] = "\"shape\":[7,10],\"data_type\":\"int32\",\"fill_value\":-1,"
                                   "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[4,6]}},"
                                   "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]";

static const char scalar[] = "\"shape\":[],\"data_type\":\"int32\",\"fill_value\":0,"
                             "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[]}},"
                             "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]";

static laid_out made;
static int32_t memory[4 * ROWS * COLUMNS];

static int set_up(void **state)
{
    (void)state;
    laid_out_init(&made, grid_of_ints);
    memset(memory, 0, sizeof memory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    laid_out_clear(&made);
    return 0;
}

static parapet_status try_parts(const parapet_part *given, int count)
{
    pp_parts parts;
    long live = pp_memory_live_count();
    parapet_status status = pp_parts_init(&parts, given, count, &made.layout, PARAPET_INT32);
    assert_int_equal(pp_memory_live_count(), live); /* nothing is kept of each part */
    return status;
}

static parapet_status try_box(int64_t start0, int64_t start1, int64_t count0, int64_t count1)
{
    int64_t start[2] = {start0, start1}, count[2] = {count0, count1};
    return try_parts(&(parapet_part){.ndim = 2, .start = start, .count = count, .data = memory}, 1);
}

static void test_parts__inside_the_array_are_taken(void **state)
{
    (void)state;
    assert_ok(try_box(0, 0, ROWS, COLUMNS));
    assert_ok(try_box(6, 9, 1, 1));
    assert_ok(try_box(7, 10, 0, 0));
    assert_ok(try_box(3, 3, 0, 2));
    assert_ok(try_parts(NULL, 0));
}

static void test_parts__outside_the_array_are_refused_with_the_dimension(void **state)
{
    (void)state;
    assert_fails(try_box(0, 0, 8, 1), PARAPET_ERR_ARGUMENT, "part 0 reaches from 0 to 8 in dimension 0");
    assert_fails(try_box(0, 9, 1, 2), PARAPET_ERR_ARGUMENT, "from 9 to 11 in dimension 1");
    assert_fails(try_box(-1, 0, 1, 1), PARAPET_ERR_ARGUMENT, "from -1 to 0 in dimension 0");
    assert_fails(try_box(8, 0, 0, 0), PARAPET_ERR_ARGUMENT, "dimension 0");
    assert_fails(try_box(0, 0, -1, 1), PARAPET_ERR_ARGUMENT, "part 0");
    assert_fails(try_box(INT64_MAX, 0, INT64_MAX, 1), PARAPET_ERR_ARGUMENT, "part 0");
    assert_fails(try_box(INT64_MIN, 0, 1, 1), PARAPET_ERR_ARGUMENT, "part 0");
}

static void test_parts__sentence_names_the_part_that_is_wrong(void **state)
{
    int64_t zero[2] = {0, 0}, one[2] = {1, 1}, many[2] = {1, 11};
    parapet_part parts[3] = {{.ndim = 2, .start = zero, .count = one, .data = memory},
                             {.ndim = 2, .start = zero, .count = one, .data = memory},
                             {.ndim = 2, .start = zero, .count = many, .data = memory}};
    (void)state;
    assert_fails(try_parts(parts, 3), PARAPET_ERR_ARGUMENT, "part 2 ");
    assert_ok(try_parts(parts, 2));
}

static void test_parts__of_another_number_of_dimensions_are_refused(void **state)
{
    int64_t zero[3] = {0, 0, 0}, one[3] = {1, 1, 1};
    parapet_part part = {.ndim = 3, .start = zero, .count = one, .data = memory};
    (void)state;
    assert_fails(try_parts(&part, 1), PARAPET_ERR_ARGUMENT, "part 0 has 3 dimensions (ndim), but the array has 2");
    part.ndim = 1;
    assert_fails(try_parts(&part, 1), PARAPET_ERR_ARGUMENT, "part 0 has 1 dimensions (ndim), but the array has 2");
    part.ndim = 0;
    assert_fails(try_parts(&part, 1), PARAPET_ERR_ARGUMENT, "part 0 has 0 dimensions (ndim), but the array has 2");
    part.ndim = -2;
    assert_fails(try_parts(&part, 1), PARAPET_ERR_ARGUMENT, "part 0 has -2 dimensions (ndim), but the array has 2");
    part.ndim = 2;
    assert_ok(try_parts(&part, 1));
}

static void test_parts__without_start_count_or_data_are_refused(void **state)
{
    int64_t zero[2] = {0, 0}, one[2] = {1, 1};
    (void)state;
    assert_fails(try_parts(&(parapet_part){.ndim = 2, .count = one, .data = memory}, 1), PARAPET_ERR_ARGUMENT,
                 "start");
    assert_fails(try_parts(&(parapet_part){.ndim = 2, .start = zero, .data = memory}, 1), PARAPET_ERR_ARGUMENT,
                 "count");
    assert_fails(try_parts(&(parapet_part){.ndim = 2, .start = zero, .count = one}, 1), PARAPET_ERR_ARGUMENT,
                 "part 0 has no data");
    assert_ok(try_parts(&(parapet_part){.ndim = 2, .start = zero, .count = zero}, 1));
    assert_fails(try_parts(NULL, 2), PARAPET_ERR_ARGUMENT, "part_count is 2");
    assert_fails(try_parts(NULL, -1), PARAPET_ERR_ARGUMENT, "part_count is -1");
}

static void test_parts__of_another_type_are_refused(void **state)
{
    int64_t zero[2] = {0, 0}, one[2] = {1, 1};
    parapet_part part = {.ndim = 2, .start = zero, .count = one, .data = memory, .type = PARAPET_INT32};
    (void)state;
    assert_ok(try_parts(&part, 1));
    part.type = PARAPET_FLOAT32;
    assert_fails(try_parts(&part, 1), PARAPET_ERR_ARGUMENT,
                 "part 0 has type float32 (11), but the array has int32 (4)");
    part.type = PARAPET_UINT32;
    assert_fails(try_parts(&part, 1), PARAPET_ERR_ARGUMENT, "uint32");
    part.type = PARAPET_RAW; /* has no fixed name */
    assert_fails(try_parts(&part, 1), PARAPET_ERR_ARGUMENT, "int32");
    assert_null(strstr(pp_failure_message(), "(null)"));
    part.type = (parapet_type)99;
    assert_fails(try_parts(&part, 1), PARAPET_ERR_ARGUMENT, "int32");
    assert_null(strstr(pp_failure_message(), "(null)"));
}

static void test_parts__with_reserved_words_set_are_refused(void **state)
{
    int64_t zero[2] = {0, 0}, one[2] = {1, 1};
    parapet_part part = {.ndim = 2, .start = zero, .count = one, .data = memory};
    int i;
    (void)state;
    for (i = 0; i < 4; i++) {
        part.reserved[i] = 1;
        assert_fails(try_parts(&part, 1), PARAPET_ERR_ARGUMENT, "reserved");
        part.reserved[i] = 0;
    }
    assert_ok(try_parts(&part, 1));
}

static void test_parts__of_a_scalar_need_only_data(void **state)
{
    parapet_part given = {.data = memory};
    laid_out point;
    pp_parts parts;
    (void)state;
    laid_out_init(&point, scalar);
    assert_ok(pp_parts_init(&parts, &given, 1, &point.layout, PARAPET_INT32));
    assert_int_equal(pp_parts_element_count(&parts), 1);
    assert_fails(pp_parts_init(&parts, &(parapet_part){0}, 1, &point.layout, PARAPET_INT32), PARAPET_ERR_ARGUMENT,
                 "no data");
    laid_out_clear(&point);
}

static void test_parts__count_their_elements_together_without_overflow(void **state)
{
    int64_t start = 0, counts[3] = {INT64_MAX / 2, 5, 0};
    parapet_part given[3] = {{.ndim = 1, .start = &start, .count = &counts[0]},
                             {.ndim = 1, .start = &start, .count = &counts[1]},
                             {.ndim = 1, .start = &start, .count = &counts[2]}};
    pp_parts parts = {.count = 3, .given = given};
    (void)state;
    assert_int_equal(pp_parts_element_count(&parts), INT64_MAX / 2 + 5);
    counts[2] = INT64_MAX / 2 + 2;
    assert_int_equal(pp_parts_element_count(&parts), INT64_MAX);
    parts.count = 0;
    assert_int_equal(pp_parts_element_count(&parts), 0);
}

typedef struct placement {
    int64_t start[2], count[2], strides[2];
    size_t origin; /* index of the first element in memory */
} placement;

static void choose_placement(test_random *random, placement *p)
{
    static const int64_t row = 2 * COLUMNS;
    int64_t along_rows = test_random_between(random, 0, 1) ? 1 : -1;
    int64_t along_columns = test_random_between(random, 0, 1) ? 1 : -1;
    int d;
    bool is_transposed = test_random_between(random, 0, 1) == 1;
    int64_t extent[2] = {ROWS, COLUMNS};
    for (d = 0; d < 2; d++) {
        p->start[d] = test_random_between(random, 0, extent[d]);
        p->count[d] = test_random_between(random, 0, extent[d] - p->start[d]);
    }
    p->strides[0] = (is_transposed ? 1 : row) * along_rows;
    p->strides[1] = (is_transposed ? 14 : 1) * along_columns;
    p->origin = 0;
    for (d = 0; d < 2; d++) {
        if (p->strides[d] < 0 && p->count[d] > 0)
            p->origin += (size_t)(-p->strides[d] * (p->count[d] - 1));
        p->strides[d] *= 4;
    }
}

static int32_t *element_of(const placement *p, int64_t i, int64_t j)
{
    int64_t offset = ((i - p->start[0]) * p->strides[0] + (j - p->start[1]) * p->strides[1]) / 4;
    return memory + (int64_t)p->origin + offset;
}

static bool is_in(const placement *p, int64_t i, int64_t j)
{
    return i >= p->start[0] && i < p->start[0] + p->count[0] && j >= p->start[1] && j < p->start[1] + p->count[1];
}

static void init_part(pp_part *part, const placement *p)
{
    parapet_part given = {
        .ndim = 2, .start = p->start, .count = p->count, .data = memory + p->origin, .strides_bytes = p->strides};
    pp_parts parts;
    assert_ok(pp_parts_init(&parts, &given, 1, &made.layout, PARAPET_INT32));
    pp_parts_at(&parts, 0, part);
}

/* The part as a claim of rank 0. */
static void claim_part(const pp_part *part, int64_t words[PP_CLAIM_GEOMETRY + 6])
{
    pp_claim_write(words, 2, 0, 0, 0, &part->box, part->data, part->strides);
}

/* Moves every chunk; the value of element [i, j] is 100 i + j. */
static void move_all(const pp_part *part, pp_direction direction, int32_t chunks[4][24], int64_t *moved)
{
    int64_t shard, words[PP_CLAIM_GEOMETRY + 6];
    *moved = 0;
    claim_part(part, words);
    for (shard = 0; shard < 4; shard++) {
        pp_box whole, clipped, common;
        pp_tiling_chunk_whole_box(&made.layout.tiling, shard, 0, &whole);
        pp_tiling_chunk_box(&made.layout.tiling, shard, 0, &clipped);
        if (!pp_box_intersect(&part->box, &clipped, &common))
            continue;
        pp_move_own(&(pp_move){.box = &common,
                               .claim = words,
                               .ndim_most = 2,
                               .chunk_box = &whole,
                               .chunk = chunks[shard],
                               .element_bytes = 4},
                    direction);
        *moved += pp_box_element_count(&common);
    }
}

/* Returns how many elements the part and the box share. */
static int64_t fill_common(const pp_part *part, const pp_box *box, int32_t value)
{
    int64_t words[PP_CLAIM_GEOMETRY + 6];
    pp_box common;
    claim_part(part, words);
    if (!pp_box_intersect(&part->box, box, &common))
        return 0;
    pp_move_fill(&(pp_move){.box = &common, .claim = words, .ndim_most = 2, .element_bytes = 4}, &value);
    return pp_box_element_count(&common);
}

static int32_t *in_chunks(int32_t chunks[4][24], int64_t i, int64_t j)
{
    return &chunks[i / 4 * 2 + j / 6][i % 4 * 6 + j % 6];
}

static void test_parts__gather_takes_every_element_from_its_place(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < 500; round++) {
        int32_t chunks[4][24] = {{0}};
        int64_t i, j, moved;
        placement p;
        pp_part part;
        choose_placement(&random, &p);
        init_part(&part, &p);
        for (i = 0; i < ROWS; i++)
            for (j = 0; j < COLUMNS; j++)
                if (is_in(&p, i, j))
                    *element_of(&p, i, j) = (int32_t)(100 * i + j + 1);
        move_all(&part, PP_WRITING, chunks, &moved);
        assert_int_equal(moved, p.count[0] * p.count[1]);
        for (i = 0; i < 8; i++)
            for (j = 0; j < 12; j++)
                assert_int_equal(*in_chunks(chunks, i, j), is_in(&p, i, j) ? 100 * i + j + 1 : 0);
    }
}

static void test_parts__scatter_puts_every_element_in_its_place_and_nothing_else(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < 500; round++) {
        int32_t chunks[4][24];
        int64_t i, j, moved;
        size_t k, set = 0;
        placement p;
        pp_part part;
        memset(memory, 0, sizeof memory);
        choose_placement(&random, &p);
        init_part(&part, &p);
        for (i = 0; i < 8; i++)
            for (j = 0; j < 12; j++)
                *in_chunks(chunks, i, j) = (int32_t)(100 * i + j + 1);
        move_all(&part, PP_READING, chunks, &moved);
        for (i = 0; i < ROWS; i++)
            for (j = 0; j < COLUMNS; j++)
                if (is_in(&p, i, j))
                    assert_int_equal(*element_of(&p, i, j), 100 * i + j + 1);
        for (k = 0; k < sizeof memory / sizeof memory[0]; k++)
            set += memory[k] != 0;
        assert_int_equal(set, p.count[0] * p.count[1]);
        assert_int_equal(moved, p.count[0] * p.count[1]);
    }
}

static void test_parts__fill_sets_what_part_and_box_share(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < 500; round++) {
        int64_t i, j, expected = 0;
        size_t k, set = 0;
        placement p, q;
        pp_box box;
        pp_part part;
        memset(memory, 0, sizeof memory);
        choose_placement(&random, &p);
        choose_placement(&random, &q);
        init_part(&part, &p);
        assert_ok(pp_box_init(&box, 2, q.start, q.count));
        for (i = 0; i < ROWS; i++)
            for (j = 0; j < COLUMNS; j++)
                expected += is_in(&p, i, j) && is_in(&q, i, j);
        assert_int_equal(fill_common(&part, &box, 77), expected);
        for (i = 0; i < ROWS; i++)
            for (j = 0; j < COLUMNS; j++)
                if (is_in(&p, i, j))
                    assert_int_equal(*element_of(&p, i, j), is_in(&q, i, j) ? 77 : 0);
        for (k = 0; k < sizeof memory / sizeof memory[0]; k++)
            set += memory[k] != 0;
        assert_int_equal(set, expected);
    }
}

static void test_parts__without_strides_are_dense_in_c_order(void **state)
{
    int64_t start[2] = {1, 2}, count[2] = {3, 5};
    parapet_part given = {.ndim = 2, .start = start, .count = count, .data = memory};
    pp_parts parts;
    pp_part part;
    (void)state;
    assert_ok(pp_parts_init(&parts, &given, 1, &made.layout, PARAPET_INT32));
    pp_parts_at(&parts, 0, &part);
    assert_int_equal(part.strides[0], 20);
    assert_int_equal(part.strides[1], 4);
}

static void test_parts__of_a_step_get_the_dimension_that_they_leave_out(void **state)
{
    int64_t start = 2, count = 5, stride = 8;
    parapet_part given = {.ndim = 1, .start = &start, .count = &count, .data = memory, .strides_bytes = &stride};
    pp_parts parts;
    pp_part part;
    (void)state;
    assert_ok(pp_parts_init_step(&parts, &given, 1, &made.layout, PARAPET_INT32, 3));
    pp_parts_at(&parts, 0, &part);
    assert_int_equal(part.box.ndim, 2);
    assert_true(part.box.start[0] == 3 && part.box.count[0] == 1 && part.box.start[1] == 2 && part.box.count[1] == 5);
    assert_int_equal(part.strides[1], 8);
    given.strides_bytes = NULL;
    pp_parts_at(&parts, 0, &part);
    assert_int_equal(part.strides[1], 4);
    assert_fails(pp_parts_init_step(&parts, &given, 1, &made.layout, PARAPET_INT32, ROWS), PARAPET_ERR_ARGUMENT,
                 "dimension 0");
    given.ndim = 2;
    assert_fails(pp_parts_init_step(&parts, &given, 1, &made.layout, PARAPET_INT32, 0), PARAPET_ERR_ARGUMENT,
                 "dimensions");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts__inside_the_array_are_taken),
        cmocka_unit_test(test_parts__outside_the_array_are_refused_with_the_dimension),
        cmocka_unit_test(test_parts__sentence_names_the_part_that_is_wrong),
        cmocka_unit_test(test_parts__of_another_number_of_dimensions_are_refused),
        cmocka_unit_test(test_parts__without_start_count_or_data_are_refused),
        cmocka_unit_test(test_parts__of_another_type_are_refused),
        cmocka_unit_test(test_parts__with_reserved_words_set_are_refused),
        cmocka_unit_test(test_parts__of_a_scalar_need_only_data),
        cmocka_unit_test(test_parts__count_their_elements_together_without_overflow),
        cmocka_unit_test(test_parts__gather_takes_every_element_from_its_place),
        cmocka_unit_test(test_parts__scatter_puts_every_element_in_its_place_and_nothing_else),
        cmocka_unit_test(test_parts__fill_sets_what_part_and_box_share),
        cmocka_unit_test(test_parts__without_strides_are_dense_in_c_order),
        cmocka_unit_test(test_parts__of_a_step_get_the_dimension_that_they_leave_out),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
