/* Tilings against what division says of every single element. */
#include "support.h"

#include "base/checked.h"
#include "geometry/tiling.h"

#define ROUNDS 400
#define NDIM_MOST 4
#define CHUNKS_MOST 4096 /* of all shards of a tiling */

static pp_tiling make_tiling(int ndim, const int64_t *shape, const int64_t *shard, const int64_t *chunk)
{
    pp_grid shards;
    pp_tiling tiling;
    assert_ok(pp_grid_init(&shards, ndim, shape, shard, 1));
    assert_ok(pp_tiling_init(&tiling, &shards, chunk, 8));
    return tiling;
}

/* Shards mostly do not divide the array; a dimension may be smaller than a chunk, and now and then it is 0. */
static pp_tiling choose_tiling(test_random *random)
{
    static const int64_t longest[NDIM_MOST + 1] = {1, 40, 13, 7, 5};
    int64_t shape[NDIM_MOST], shard[NDIM_MOST], chunk[NDIM_MOST];
    int ndim = (int)test_random_between(random, 0, NDIM_MOST), d;
    for (d = 0; d < ndim; d++) {
        shape[d] = test_random_between(random, test_random_between(random, 0, 30) == 0 ? 0 : 1, longest[ndim]);
        chunk[d] = test_random_between(random, 1, 4);
        shard[d] = chunk[d] * test_random_between(random, 1, 3);
    }
    return make_tiling(ndim, shape, shard, chunk);
}

/* Where an element is, by division alone. */
typedef struct place {
    int64_t shard, chunk;
    int64_t chunk_cell[NDIM_MOST]; /* of the chunk in its shard */
    int64_t cell[NDIM_MOST];       /* of the chunk in the grid of all chunks */
    bool is_inside;                /* the array */
} place;

static place find_place(const pp_tiling *tiling, const int64_t *element)
{
    place at = {.is_inside = true};
    int d;
    for (d = 0; d < tiling->shards.ndim; d++) {
        int64_t shape = tiling->shards.shape[d], shard = tiling->shards.cell_shape[d];
        int64_t chunk = tiling->chunks.cell_shape[d];
        at.chunk_cell[d] = element[d] % shard / chunk;
        at.cell[d] = element[d] / chunk;
        at.shard = at.shard * ((shape + shard - 1) / shard) + element[d] / shard;
        at.chunk = at.chunk * (shard / chunk) + at.chunk_cell[d];
        at.is_inside = at.is_inside && element[d] < shape;
    }
    return at;
}

/* The smallest box that has all elements that were added, and how many they are. */
typedef struct bounds {
    int64_t low[NDIM_MOST], high[NDIM_MOST];
    int64_t count;
} bounds;

static void add_element(bounds *its, int ndim, const int64_t *element)
{
    int d;
    for (d = 0; d < ndim; d++) {
        its->low[d] = its->count == 0 ? element[d] : pp_min_i64(its->low[d], element[d]);
        its->high[d] = its->count == 0 ? element[d] : pp_max_i64(its->high[d], element[d]);
    }
    its->count++;
}

/* A box that has exactly these elements, or that is empty as they are. */
static void assert_is(const bounds *expected, int ndim, const pp_box *box)
{
    int d;
    assert_int_equal(box->ndim, ndim);
    assert_int_equal(pp_box_element_count(box), expected->count);
    for (d = 0; d < ndim && expected->count > 0; d++) {
        assert_int_equal(box->start[d], expected->low[d]);
        assert_int_equal(box->start[d] + box->count[d] - 1, expected->high[d]);
    }
}

/* All elements of all shards in full: those of the array, and those beyond it. */
static pp_box all_elements(const pp_tiling *tiling)
{
    pp_box all = {.ndim = tiling->shards.ndim};
    int d;
    for (d = 0; d < all.ndim; d++)
        all.count[d] = tiling->shards.cells[d] * tiling->shards.cell_shape[d];
    return all;
}

typedef struct collected {
    bounds whole[CHUNKS_MOST], clipped[CHUNKS_MOST];
    bounds shard[CHUNKS_MOST], inside[CHUNKS_MOST]; /* elements of a shard, and chunks of it that have some */
} collected;

static void collect(const pp_tiling *tiling, collected *all)
{
    pp_box elements = all_elements(tiling);
    int64_t element[NDIM_MOST];
    bool more;
    memset(all, 0, sizeof *all);
    assert_true(tiling->shards.cell_count * tiling->chunks.cell_count <= CHUNKS_MOST);
    for (more = pp_box_first(&elements, element); more; more = pp_box_next(&elements, element)) {
        place at = find_place(tiling, element);
        size_t chunk = (size_t)(at.shard * tiling->chunks.cell_count + at.chunk);
        add_element(&all->whole[chunk], elements.ndim, element);
        if (!at.is_inside)
            continue;
        if (all->clipped[chunk].count == 0)
            add_element(&all->inside[at.shard], elements.ndim, at.chunk_cell);
        add_element(&all->clipped[chunk], elements.ndim, element);
        add_element(&all->shard[at.shard], elements.ndim, element);
    }
}

static void test_tiling__boxes_of_shards_and_chunks_hold_exactly_their_elements(void **state)
{
    static collected expected;
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < ROUNDS; round++) {
        pp_tiling tiling = choose_tiling(&random);
        int ndim = tiling.shards.ndim;
        int64_t shard, chunk;
        pp_box box;
        collect(&tiling, &expected);
        for (shard = 0; shard < tiling.shards.cell_count; shard++) {
            pp_tiling_shard_box(&tiling, shard, &box);
            assert_is(&expected.shard[shard], ndim, &box);
            pp_tiling_chunks_inside(&tiling, shard, &box);
            assert_is(&expected.inside[shard], ndim, &box);
            for (chunk = 0; chunk < tiling.chunks.cell_count; chunk++) {
                pp_tiling_chunk_whole_box(&tiling, shard, chunk, &box);
                assert_is(&expected.whole[shard * tiling.chunks.cell_count + chunk], ndim, &box);
                pp_tiling_chunk_box(&tiling, shard, chunk, &box);
                assert_is(&expected.clipped[shard * tiling.chunks.cell_count + chunk], ndim, &box);
            }
        }
    }
}

/* Anywhere in and beyond the array, now and then empty. */
static pp_box choose_box(test_random *random, const pp_tiling *tiling)
{
    pp_box box = all_elements(tiling);
    int d;
    for (d = 0; d < box.ndim; d++) {
        box.start[d] = test_random_between(random, 0, box.count[d]);
        box.count[d] = test_random_between(random, 0, box.count[d] - box.start[d] + 2);
    }
    return box;
}

/* The chunks of one shard that have an element of the box and of the array, as positions in the shard. */
static void find_touched(const pp_tiling *tiling, int64_t shard, const pp_box *box, bounds *touched)
{
    static bool is_touched[CHUNKS_MOST];
    int64_t element[NDIM_MOST];
    bool more;
    memset(touched, 0, sizeof *touched);
    memset(is_touched, 0, sizeof is_touched);
    for (more = pp_box_first(box, element); more; more = pp_box_next(box, element)) {
        place at = find_place(tiling, element);
        if (!at.is_inside || at.shard != shard || is_touched[at.chunk])
            continue;
        is_touched[at.chunk] = true;
        add_element(touched, box->ndim, at.chunk_cell);
    }
}

static void test_tiling__chunks_touched_are_those_with_an_element_of_the_box(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < 20 * ROUNDS; round++) {
        pp_tiling tiling = choose_tiling(&random);
        pp_box box = choose_box(&random, &tiling), chunks;
        int64_t shard, cell[NDIM_MOST];
        bounds touched;
        if (tiling.shards.cell_count == 0)
            continue;
        shard = test_random_between(&random, 0, tiling.shards.cell_count - 1);
        find_touched(&tiling, shard, &box, &touched);
        assert_int_equal(pp_tiling_chunks_touched(&tiling, shard, &box, &chunks), touched.count > 0);
        assert_is(&touched, box.ndim, &chunks);
        pp_grid_cell_position(&tiling.shards, shard, cell);
        assert_int_equal(pp_tiling_chunks_touched_at(&tiling, cell, &box, &box), touched.count > 0);
        assert_is(&touched, box.ndim, &box);
    }
}

static void check_place(const pp_tiling *tiling, const int64_t *element)
{
    place at = find_place(tiling, element);
    int64_t shard, chunk;
    pp_box box, expected;
    pp_tiling_find_chunk(tiling, at.cell, &shard, &chunk);
    assert_int_equal(shard, at.shard);
    assert_int_equal(chunk, at.chunk);
    pp_tiling_whole_box_at(tiling, at.cell, &box);
    pp_tiling_chunk_whole_box(tiling, shard, chunk, &expected);
    assert_true(pp_box_equals(&box, &expected));
}

static void test_tiling__a_position_in_the_grid_of_all_chunks_names_one_chunk(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < ROUNDS; round++) {
        pp_tiling tiling = choose_tiling(&random);
        pp_box elements = all_elements(&tiling);
        int64_t element[NDIM_MOST];
        bool more;
        for (more = pp_box_first(&elements, element); more; more = pp_box_next(&elements, element))
            check_place(&tiling, element);
    }
}

static void test_tiling__chunks_of_a_box_are_those_of_its_elements(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < 20 * ROUNDS; round++) {
        pp_tiling tiling = choose_tiling(&random);
        pp_box box = choose_box(&random, &tiling), elements = all_elements(&tiling), chunks;
        int64_t element[NDIM_MOST], cells = 1;
        bounds expected = {0};
        bool more;
        int d;
        if (!pp_box_intersect(&box, &elements, &box))
            continue;
        for (more = pp_box_first(&box, element); more; more = pp_box_next(&box, element))
            add_element(&expected, box.ndim, find_place(&tiling, element).cell);
        for (d = 0; d < box.ndim; d++)
            cells *= expected.high[d] - expected.low[d] + 1;
        expected.count = cells;
        pp_tiling_chunks_of_box(&tiling, &box, &chunks);
        assert_is(&expected, box.ndim, &chunks);
    }
}

static void test_tiling__a_scalar_is_one_chunk_of_one_shard(void **state)
{
    pp_tiling tiling = make_tiling(0, NULL, NULL, NULL);
    int64_t shard = 7, chunk = 7, cell[1] = {0};
    pp_box box, chunks;
    (void)state;
    assert_int_equal(tiling.shards.cell_count, 1);
    assert_int_equal(tiling.chunks.cell_count, 1);
    pp_tiling_chunk_box(&tiling, 0, 0, &box);
    assert_int_equal(pp_box_element_count(&box), 1);
    assert_true(pp_tiling_chunks_touched(&tiling, 0, &box, &chunks));
    assert_int_equal(pp_box_element_count(&chunks), 1);
    pp_tiling_find_chunk(&tiling, cell, &shard, &chunk);
    assert_int_equal(shard, 0);
    assert_int_equal(chunk, 0);
}

static void test_tiling__numbers_near_63_bits_are_exact(void **state)
{
    int64_t length = INT64_MAX / 4 * 3;
    pp_tiling tiling = make_tiling(1, &length, (int64_t[]){1 << 20}, (int64_t[]){1 << 10});
    int64_t last = tiling.shards.cell_count - 1, shard, chunk;
    pp_box box, chunks;
    (void)state;
    pp_tiling_chunk_box(&tiling, last, 0, &box);
    assert_int_equal(box.start[0], last << 20);
    pp_tiling_chunks_of_box(&tiling, &box, &chunks);
    assert_int_equal(chunks.start[0], last << 10);
    assert_int_equal(chunks.count[0], 1);
    pp_tiling_find_chunk(&tiling, chunks.start, &shard, &chunk);
    assert_int_equal(shard, last);
    assert_int_equal(chunk, 0);
}

static void test_tiling__chunks_below_1_are_refused(void **state)
{
    pp_grid shards;
    pp_tiling tiling;
    (void)state;
    assert_ok(pp_grid_init(&shards, 2, (int64_t[]){8, 8}, (int64_t[]){4, 4}, 1));
    assert_fails(pp_tiling_init(&tiling, &shards, (int64_t[]){2, 0}, 8), PARAPET_ERR_ARGUMENT, "0 in dimension 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiling__boxes_of_shards_and_chunks_hold_exactly_their_elements),
        cmocka_unit_test(test_tiling__chunks_touched_are_those_with_an_element_of_the_box),
        cmocka_unit_test(test_tiling__a_position_in_the_grid_of_all_chunks_names_one_chunk),
        cmocka_unit_test(test_tiling__chunks_of_a_box_are_those_of_its_elements),
        cmocka_unit_test(test_tiling__a_scalar_is_one_chunk_of_one_shard),
        cmocka_unit_test(test_tiling__numbers_near_63_bits_are_exact),
        cmocka_unit_test(test_tiling__chunks_below_1_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
