/* Lists of points and runs become picks, in passes of shards. */
#include "support.h"

#include <string.h>

#include "base/status.h"
#include "plan/indices.h"

enum { ELEMENTS = 5 * 7 * 9, MOST = 64 };

static const int64_t shape[3] = {5, 7, 9}, shard_shape[3] = {4, 2, 6}, chunk_shape[3] = {2, 1, 3},
                     rows_shape[3] = {2, 7, 9}, row_shape[3] = {1, 7, 9};

static pp_tiling make_tiling(const int64_t *shard, const int64_t *chunk)
{
    pp_tiling tiling;
    pp_grid shards;
    assert_int_equal(pp_grid_init(&shards, 3, shape, shard, 1), PARAPET_OK);
    assert_int_equal(pp_tiling_init(&tiling, &shards, chunk, 8), PARAPET_OK);
    return tiling;
}

static void element_of(int64_t flat, int64_t *element)
{
    element[0] = flat / 63;
    element[1] = flat / 9 % 7;
    element[2] = flat % 9;
}

/* Whose turn it is in memory: the flat index of each place. */
typedef struct listed {
    int64_t flat[ELEMENTS * 4];
    int64_t count;
} listed;

static listed list_of(const pp_indices *indices)
{
    listed all = {.count = 0};
    int64_t i, k;
    for (i = 0; i < indices->count; i++) {
        const int64_t *point = indices->points + 3 * i;
        int64_t start = indices->are_points ? (point[0] * 7 + point[1]) * 9 + point[2] : indices->starts[i];
        for (k = 0; k < (indices->are_points || indices->lengths == NULL ? 1 : indices->lengths[i]); k++)
            all.flat[all.count++] = start + k;
    }
    return all;
}

/* What is left after a range: of its shards, if chunks of them are left, or of the array. */
static pp_shard_range rest_of(const pp_indices *indices, const pp_shard_range *range)
{
    pp_shard_range rest = *range;
    if (range->chunk_end == indices->tiling->chunks.cell_count)
        return pp_shard_range_whole(indices->tiling, range->end, indices->tiling->shards.cell_count);
    rest.chunk_from = range->chunk_end;
    rest.chunk_end = indices->tiling->chunks.cell_count;
    return rest;
}

static int64_t number_of(const pp_indices *indices, const pp_pick *pick)
{
    return pick->index / pp_tiling_chunk_elements(indices->tiling) % indices->tiling->chunks.cell_count;
}

/* As a read by one rank limits a list that ascends. */
static bool limit_roughly(const pp_indices *indices, int64_t most, pp_shard_range *range, int64_t *picks)
{
    pp_shard_range before = *range;
    if (pp_indices_limit_ascending(indices, most, range, picks))
        return true;
    *range = before;
    return false;
}

/* Walks the whole list in passes, of chunks where a shard has more: every place is met once, at the stored index of
 * its element. */
static void check_passes(const pp_indices *indices, int64_t most, bool may_be_rough)
{
    int64_t elements = pp_tiling_shard_elements(indices->tiling), shards = indices->tiling->shards.cell_count;
    listed all = list_of(indices);
    char met[ELEMENTS * 4] = {0};
    pp_shard_range range = pp_shard_range_whole(indices->tiling, 0, shards), last;
    pp_index_position rest = {0};
    int64_t sum = 0, element[3];
    for (; range.from < shards; range = rest_of(indices, &range), range.start = rest) {
        pp_index_walk walk;
        pp_pick pick;
        int64_t count = 0, k, told = 0;
        bool is_rough = may_be_rough && limit_roughly(indices, most, &range, &told);
        if (!is_rough)
            told = pp_indices_limit(indices, most, &range);
        if (told > most) {
            range.from = range.end - 1;
            told = pp_indices_limit_chunks(indices, most, &range);
        }
        assert_true(range.end > range.from && range.end <= shards && range.chunk_end > range.chunk_from);
        pp_index_walk_init(&walk, indices, &range);
        for (; pp_index_walk_next(&walk, &pick); count++) {
            assert_true(pick.index / elements >= range.from && pick.index / elements < range.end);
            assert_true(number_of(indices, &pick) >= range.chunk_from && number_of(indices, &pick) < range.chunk_end);
            assert_int_equal(pick.index / pp_tiling_chunk_elements(indices->tiling),
                             (pp_pick_end(&pick) - 1) / pp_tiling_chunk_elements(indices->tiling));
            for (k = 0; k < pp_pick_count(&pick); k++, sum++) {
                element_of(all.flat[pp_pick_place(&pick) + k], element);
                assert_int_equal(pp_stored_index(indices->tiling, element), pick.index + k);
                assert_int_equal(met[pp_pick_place(&pick) + k]++, 0);
            }
        }
        assert_int_equal(count, pp_indices_count_picks(indices, &range));
        assert_true(is_rough ? count <= told && told <= most : count == told);
        rest = indices->is_ascending ? walk.at : (pp_index_position){0};
        last = range;
        last.from = range.end - 1;
        last.chunk_from = range.chunk_end - 1;
        assert_true(count <= most || pp_indices_count_picks(indices, &last) == count);
    }
    assert_int_equal(sum, all.count);
}

static void check_list(pp_indices *indices)
{
    static const int64_t most[] = {1, 2, 5, 20, 1000};
    int64_t elements;
    size_t i, j;
    assert_int_equal(pp_indices_check(indices, &elements), PARAPET_OK);
    assert_int_equal(elements, list_of(indices).count);
    for (i = 0; i < sizeof most / sizeof most[0]; i++)
        for (j = 0; j < (indices->is_ascending ? 2 : 1); j++)
            check_passes(indices, most[i], j == 1);
}

static void test_indices__every_run_becomes_its_elements(void **state)
{
    pp_tiling tilings[] = {make_tiling(shard_shape, chunk_shape), make_tiling(shape, shape),
                           make_tiling(chunk_shape, chunk_shape), make_tiling(rows_shape, row_shape)};
    int64_t start, length;
    size_t t;
    (void)state;
    for (t = 0; t < 4; t++)
        for (start = 0; start < ELEMENTS; start += 7)
            for (length = 0; start + length <= ELEMENTS; length += 13) {
                pp_indices one = {
                    .shape = {5, 7, 9}, .tiling = &tilings[t], .count = 1, .starts = &start, .lengths = &length};
                check_list(&one);
            }
}

static void test_indices__any_lists_become_their_elements(void **state)
{
    pp_tiling tilings[] = {make_tiling(shard_shape, chunk_shape), make_tiling(shape, shape),
                           make_tiling(chunk_shape, chunk_shape), make_tiling(rows_shape, row_shape)};
    int64_t starts[MOST], lengths[MOST], points[3 * MOST];
    uint64_t seed = 1;
    int round, i;
    (void)state;
    for (round = 0; round < 60; round++) {
        pp_indices list = {
            .shape = {5, 7, 9}, .tiling = &tilings[round % 4], .count = round, .starts = starts, .lengths = lengths};
        for (i = 0; i < round; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            starts[i] = (int64_t)(seed >> 33) % ELEMENTS;
            lengths[i] = (int64_t)(seed >> 50) % (round % 2 ? 3 : 20);
            lengths[i] = lengths[i] > ELEMENTS - starts[i] ? ELEMENTS - starts[i] : lengths[i];
            element_of(starts[i], points + 3 * (ptrdiff_t)i);
        }
        check_list(&list);
        list.lengths = NULL;
        check_list(&list);
        list.are_points = true;
        list.points = points;
        check_list(&list);
    }
}

/* Where chunks are whole rows, a list that ascends is known as such, and no pass begins at its beginning. */
static void test_indices__ascending_lists_become_their_elements(void **state)
{
    pp_tiling rows = make_tiling(rows_shape, row_shape), others = make_tiling(shard_shape, chunk_shape);
    int64_t starts[MOST], lengths[MOST], points[3 * MOST], elements;
    int step, i;
    (void)state;
    for (step = 1; step < 10; step++) {
        pp_indices list = {.shape = {5, 7, 9}, .tiling = &rows, .count = 30, .starts = starts, .lengths = lengths};
        for (i = 0; i < 30; i++) {
            starts[i] = (int64_t)i * step + i % step;
            lengths[i] = i % step > 1 ? 0 : step - i % step;
            element_of(starts[i], points + 3 * (ptrdiff_t)i);
        }
        check_list(&list);
        list.lengths = NULL;
        check_list(&list);
        assert_true(list.is_ascending);
        list.are_points = true;
        list.points = points;
        check_list(&list);
        assert_true(list.is_ascending);
        list.tiling = &others;
        check_list(&list);
        assert_false(list.is_ascending);
        list.tiling = &rows;
        memcpy(points, points + 3, 3 * sizeof points[0]);
        assert_int_equal(pp_indices_check(&list, &elements), PARAPET_OK);
        assert_false(list.is_ascending);
    }
}

static void test_indices__what_follows_each_other_is_one_pick(void **state)
{
    pp_tiling tiling = make_tiling(shape, shape);
    int64_t start = 0, length = ELEMENTS, points[6 * 3], i;
    const pp_shard_range all = pp_shard_range_whole(&tiling, 0, 1);
    pp_indices runs = {.shape = {5, 7, 9}, .tiling = &tiling, .count = 1, .starts = &start, .lengths = &length};
    pp_indices list = {.shape = {5, 7, 9}, .tiling = &tiling, .are_points = true, .count = 6, .points = points};
    (void)state;
    assert_int_equal(pp_indices_count_picks(&runs, &all), 1);
    for (i = 0; i < 6; i++)
        element_of(i < 4 ? 7 + i : 30 - i, points + 3 * i);
    assert_int_equal(pp_indices_count_picks(&list, &all), 3);
}

static void check_refused(pp_indices *list, const char *sentence)
{
    int64_t elements;
    assert_int_equal(pp_indices_check(list, &elements), PARAPET_ERR_ARGUMENT);
    assert_string_equal(pp_failure_message(), sentence);
}

static void test_indices__outside_the_array_are_refused_by_name(void **state)
{
    pp_tiling tiling = make_tiling(shard_shape, chunk_shape);
    int64_t points[6] = {4, 6, 8, 4, 7, 8}, starts[2] = {0, 310}, lengths[2] = {315, 5}, elements;
    pp_indices list = {.shape = {5, 7, 9}, .tiling = &tiling, .are_points = true, .count = 2, .points = points};
    (void)state;
    check_refused(&list, "point 1 is at 7 in dimension 1, but the array only reaches from 0 to 7");
    points[4] = -1;
    check_refused(&list, "point 1 is at -1 in dimension 1, but the array only reaches from 0 to 7");
    list = (pp_indices){.shape = {5, 7, 9}, .tiling = &tiling, .count = 2, .starts = starts, .lengths = lengths};
    assert_int_equal(pp_indices_check(&list, &elements), PARAPET_OK);
    lengths[1] = 6;
    check_refused(&list, "run 1 begins at element 310 and has 6, but the array only has 315");
    lengths[1] = -1;
    check_refused(&list, "run 1 has a length of -1");
    lengths[1] = INT64_MAX;
    check_refused(&list, "run 1 begins at element 310 and has 9223372036854775807, but the array only has 315");
    starts[1] = INT64_MIN;
    check_refused(&list, "run 1 begins at element -9223372036854775808 and has 9223372036854775807, but the array "
                         "only has 315");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_indices__every_run_becomes_its_elements),
        cmocka_unit_test(test_indices__any_lists_become_their_elements),
        cmocka_unit_test(test_indices__ascending_lists_become_their_elements),
        cmocka_unit_test(test_indices__what_follows_each_other_is_one_pick),
        cmocka_unit_test(test_indices__outside_the_array_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
