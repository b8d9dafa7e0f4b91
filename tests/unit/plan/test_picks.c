/* Picks: stored indices, sorting, duplicates, and their memory as a stream. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "plan/picks.h"

static pp_tiling tiling_of(int ndim, const int64_t *shape, const int64_t *shard, const int64_t *chunk)
{
    pp_tiling tiling;
    pp_grid shards;
    assert_int_equal(pp_grid_init(&shards, ndim, shape, shard, 1), PARAPET_OK);
    assert_int_equal(pp_tiling_init(&tiling, &shards, chunk, 8), PARAPET_OK);
    return tiling;
}

/* By the boxes of shards and chunks, element by element. */
static void check_stored_indices(const pp_tiling *tiling)
{
    int64_t shard, chunk, cell[PARAPET_MAX_NDIM], back[PARAPET_MAX_NDIM], index = 0;
    pp_box whole, inside;
    bool more;
    for (shard = 0; shard < tiling->shards.cell_count; shard++)
        for (chunk = 0; chunk < tiling->chunks.cell_count; chunk++) {
            pp_tiling_chunk_whole_box(tiling, shard, chunk, &whole);
            pp_tiling_chunk_box(tiling, shard, chunk, &inside);
            for (more = pp_box_first(&whole, cell); more; more = pp_box_next(&whole, cell), index++) {
                pp_box one = {.ndim = whole.ndim};
                int d;
                for (d = 0; d < whole.ndim; d++) {
                    one.start[d] = cell[d];
                    one.count[d] = 1;
                }
                if (pp_box_is_empty(&inside) || !pp_box_contains(&inside, &one))
                    continue;
                assert_int_equal(pp_stored_index(tiling, cell), index);
                pp_stored_index_element(tiling, index, back);
                assert_memory_equal(back, cell, (size_t)whole.ndim * sizeof cell[0]);
            }
        }
    assert_int_equal(index, tiling->shards.cell_count * pp_tiling_shard_elements(tiling));
}

static void test_stored_index__follows_shards_chunks_and_elements(void **state)
{
    int64_t line[1] = {17}, line_shard[1] = {6}, line_chunk[1] = {3};
    int64_t shape[3] = {5, 7, 9}, shard[3] = {4, 2, 6}, chunk[3] = {2, 1, 3};
    pp_tiling tiling = tiling_of(1, line, line_shard, line_chunk);
    (void)state;
    check_stored_indices(&tiling);
    tiling = tiling_of(3, shape, shard, chunk);
    check_stored_indices(&tiling);
    tiling = tiling_of(3, shape, shard, shard);
    check_stored_indices(&tiling);
    tiling = tiling_of(0, NULL, NULL, NULL);
    check_stored_indices(&tiling);
}

static uint64_t high_number(void *context, const pp_pick *pick)
{
    return (uint64_t)pick->index * *(const uint64_t *)context;
}

static int compare_picks(const void *left, const void *right)
{
    const pp_pick *a = left, *b = right;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* Sorted picks are the same picks, in order; those of one index in any order. */
static void check_sorted(pp_pick *picks, pp_pick *expected, size_t count, uint64_t most, uint64_t factor)
{
    const pp_pick_order order = {.number_of = high_number, .context = &factor, .most = most * factor};
    size_t i;
    memcpy(expected, picks, count * sizeof picks[0]);
    qsort(expected, count, sizeof expected[0], compare_picks);
    pp_picks_sort(picks, count, &order);
    for (i = 0; i < count; i++)
        assert_int_equal(picks[i].index, expected[i].index);
    qsort(picks, count, sizeof picks[0], compare_picks);
    if (count > 0)
        assert_memory_equal(picks, expected, count * sizeof picks[0]);
}

static void test_picks__are_sorted_whatever_their_numbers(void **state)
{
    static const uint64_t most[] = {0, 1, 255, 256, 65535, 65536, 1000003};
    static const size_t counts[] = {0, 1, 2, 31, 33, 1000, 20000};
    pp_pick *picks = malloc(20000 * sizeof *picks), *expected = malloc(20000 * sizeof *expected);
    size_t m, c, i, f;
    (void)state;
    for (m = 0; m < sizeof most / sizeof most[0]; m++)
        for (c = 0; c < sizeof counts / sizeof counts[0]; c++)
            for (f = 0; f < 2; f++) {
                for (i = 0; i < counts[c]; i++)
                    picks[i] =
                        pp_pick_of((int64_t)(((uint64_t)i * 2654435761u + 12345) % (most[m] + 1)), (int64_t)i, 1);
                check_sorted(picks, expected, counts[c], most[m], f ? UINT64_C(1) << 42 : 1);
            }
    free(picks);
    free(expected);
}

static void test_picks__hold_the_largest_numbers(void **state)
{
    pp_pick pick = pp_pick_of(INT64_MAX - PP_PICK_MOST_ELEMENTS, PP_PICK_MOST_PLACES - 1, PP_PICK_MOST_ELEMENTS);
    (void)state;
    assert_int_equal(sizeof pick, 16);
    assert_int_equal(pp_pick_place(&pick), PP_PICK_MOST_PLACES - 1);
    assert_int_equal(pp_pick_count(&pick), PP_PICK_MOST_ELEMENTS);
    assert_int_equal(pp_pick_end(&pick), INT64_MAX);
}

/* All lists of up to four picks of up to three elements among six. */
static void test_picks__shared_elements_are_found(void **state)
{
    int number;
    (void)state;
    for (number = 0; number < 18 * 18 * 18; number++) {
        pp_pick picks[3];
        int i, e, rest = number, covered[9] = {0}, is_shared = 0;
        for (i = 0; i < 3; i++, rest /= 18)
            picks[i] = pp_pick_of(rest % 6, i, 1 + rest % 18 / 6);
        for (i = 0; i < 3; i++)
            for (e = 0; e < pp_pick_count(&picks[i]); e++)
                is_shared |= covered[picks[i].index + e]++;
        qsort(picks, 3, sizeof picks[0], compare_picks);
        assert_int_equal(pp_picks_find_shared(picks, 3) < 3, is_shared != 0);
        for (e = 0; e < 8; e++) {
            size_t found = pp_picks_find(picks, 3, e);
            assert_true(found == 3 || picks[found].index >= e);
            assert_true(found == 0 || picks[found - 1].index < e);
        }
    }
}

static void test_pick_stream__passes_every_byte_in_pieces_of_any_size(void **state)
{
    const pp_pick picks[] = {pp_pick_of(5, 4, 2), pp_pick_of(9, 0, 1), pp_pick_of(1, 7, 3)};
    const unsigned char order[] = {12, 13, 14, 15, 16, 17, 0, 1, 2, 21, 22, 23, 24, 25, 26, 27, 28, 29};
    unsigned char data[30], bytes[40], back[30];
    size_t size, i;
    (void)state;
    for (i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)i;
    for (size = 1; size <= 20; size++) {
        pp_pick_stream out = {.picks = picks, .count = 3, .element_bytes = 3, .data = data};
        pp_pick_stream in = {.picks = picks, .count = 3, .element_bytes = 3, .data = back};
        size_t more, done = 0;
        memset(back, 255, sizeof back);
        while ((more = pp_picks_gather(&out, bytes + done, size)) > 0) {
            assert_int_equal(pp_picks_scatter(&in, bytes + done, more), more);
            done += more;
        }
        assert_int_equal(done, sizeof order);
        assert_memory_equal(bytes, order, sizeof order);
        for (i = 0; i < sizeof order; i++)
            assert_int_equal(back[order[i]], order[i]);
        assert_int_equal(back[3], 255);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stored_index__follows_shards_chunks_and_elements),
        cmocka_unit_test(test_picks__are_sorted_whatever_their_numbers),
        cmocka_unit_test(test_picks__hold_the_largest_numbers),
        cmocka_unit_test(test_picks__shared_elements_are_found),
        cmocka_unit_test(test_pick_stream__passes_every_byte_in_pieces_of_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
