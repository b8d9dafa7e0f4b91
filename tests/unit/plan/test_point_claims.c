/* What shards, chunks and bands have to do with picks, element by element. */
#include "support.h"

#include "geometry/bands.h"
#include "plan/point_claims.h"

enum { ELEMENTS = 2 * 2 * 24, PICKS = 9 }; /* stored ones: two shards of two chunks each, of 4 x 6 elements */

static pp_tiling make_tiling(void)
{
    static const int64_t shape[2] = {8, 11}, shard[2] = {4, 12}, chunk[2] = {4, 6};
    pp_tiling tiling;
    pp_grid shards;
    assert_ok(pp_grid_init(&shards, 2, shape, shard, 1));
    assert_ok(pp_tiling_init(&tiling, &shards, chunk, 2));
    return tiling;
}

/* Picks with shared elements, none in two chunks; returns them sorted. */
static void draw_picks(test_random *random, pp_pick *picks, const pp_tiling *tiling)
{
    int64_t place = 0;
    int i;
    for (i = 0; i < PICKS; i++) {
        int64_t index = test_random_between(random, 0, ELEMENTS - 1), left = 24 - index % 24;
        int64_t count = test_random_between(random, 1, left < 7 ? left : 7);
        picks[i] = pp_pick_of(index, place, count);
        place += count;
    }
    pp_picks_sort_stored(picks, PICKS, tiling);
}

/* How many picks have an element. */
static int times_picked(const pp_pick *picks, int64_t index)
{
    int i, times = 0;
    for (i = 0; i < PICKS; i++)
        times += index >= picks[i].index && index < pp_pick_end(&picks[i]);
    return times;
}

static void check_range(const pp_point_claims *picked, const pp_point_range *range)
{
    unsigned char elements[2 * ELEMENTS], back[2 * ELEMENTS];
    int64_t index, count = 0;
    pp_stretch stretch;
    pp_stretch_request request = {0};
    for (index = range->from; index < range->end; index++) {
        count += times_picked(picked->picks, index);
        elements[2 * (index - range->from)] = elements[2 * (index - range->from) + 1] = (unsigned char)index;
    }
    assert_int_equal(pp_point_claims_count(picked, range), count);
    assert_int_equal(pp_point_claims_has_any(picked, range), count > 0);
    assert_int_equal(pp_point_claims_scatter(picked, range, elements), 2 * count);
    memset(back, 255, sizeof back);
    assert_int_equal(pp_point_claims_gather(picked, range, back), 2 * count);
    for (index = range->from; index < range->end; index++)
        assert_int_equal(back[2 * (index - range->from) + 1],
                         times_picked(picked->picks, index) ? (unsigned char)index : 255);
    pp_stretch_init(&stretch, sizeof elements + 10);
    pp_point_claims_want(picked, range, 10, &stretch);
    assert_int_equal(pp_stretch_next(&stretch, 0, &request), count > 0);
}

static void check_bands(const pp_point_claims *picked, int64_t shard, int64_t chunk)
{
    pp_point_range range = pp_point_claims_chunk(picked, shard, chunk);
    pp_box whole, band, bounds;
    pp_bands bands;
    int64_t row, rows = 0;
    check_range(picked, &range);
    pp_tiling_chunk_whole_box(picked->tiling, shard, chunk, &whole);
    pp_bands_init(&bands, &whole, &whole, 2, 7); /* parts of a row */
    while (pp_bands_next(&bands, &band)) {
        range = pp_point_claims_band(picked, shard, chunk, &band);
        check_range(picked, &range);
    }
    pp_point_claims_bound(picked, shard, chunk, &bounds);
    for (row = 0; row < 4; row++) {
        range = pp_point_claims_chunk(picked, shard, chunk);
        range.from += 6 * row;
        range.end = range.from + 6;
        rows += pp_point_claims_has_any(picked, &range);
        if (pp_point_claims_has_any(picked, &range))
            assert_true(whole.start[0] + row >= bounds.start[0] &&
                        whole.start[0] + row < bounds.start[0] + bounds.count[0]);
    }
    assert_true(bounds.count[0] >= rows && (rows > 0 || bounds.count[0] == 0));
}

static void test_point_claims__elements_move_whatever_is_moved_together(void **state)
{
    test_random random = test_random_start();
    pp_tiling tiling = make_tiling();
    int round, shard, chunk;
    (void)state;
    for (round = 0; round < 200; round++) {
        unsigned char data[2 * 7 * PICKS];
        pp_pick picks[PICKS];
        pp_point_claims picked = {.tiling = &tiling, .picks = picks, .count = PICKS, .data = data};
        draw_picks(&random, picks, &tiling);
        for (shard = 0; shard < 2; shard++) {
            pp_point_range all = pp_point_claims_shard(&picked, shard);
            unsigned char is_touched[2] = {0};
            int64_t touched = pp_point_claims_mark_chunks(&picked, shard, is_touched);
            check_range(&picked, &all);
            assert_int_equal(touched, is_touched[0] + is_touched[1]);
            for (chunk = 0; chunk < 2; chunk++) {
                pp_point_range range = pp_point_claims_chunk(&picked, shard, chunk);
                assert_int_equal(is_touched[chunk], pp_point_claims_has_any(&picked, &range));
                check_bands(&picked, shard, chunk);
            }
        }
    }
}

static void test_point_claims__what_is_not_stored_is_filled(void **state)
{
    const uint16_t value = 0x1234;
    pp_tiling tiling = make_tiling();
    pp_pick picks[2] = {pp_pick_of(3, 1, 2), pp_pick_of(30, 4, 1)};
    uint16_t data[5] = {0};
    pp_point_claims picked = {.tiling = &tiling, .picks = picks, .count = 2, .data = (unsigned char *)data};
    pp_point_range range = pp_point_claims_chunk(&picked, 0, 0);
    (void)state;
    assert_int_equal(pp_point_claims_fill(&picked, &range, &value), 4);
    assert_true(data[0] == 0 && data[1] == value && data[2] == value && data[3] == 0 && data[4] == 0);
    range = pp_point_claims_shard(&picked, 0);
    assert_int_equal(pp_point_claims_fill(&picked, &range, &value), 6);
    assert_true(data[0] == 0 && data[3] == 0 && data[4] == value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_point_claims__elements_move_whatever_is_moved_together),
        cmocka_unit_test(test_point_claims__what_is_not_stored_is_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
