/* How what is appended is dealt to the ranks: every one has a part, in whole shards, within the memory. */
#include "support.h"

#include "copy/append_blocks.h"

enum { LENGTH = 1000, WIDTH = 60, SHARD = 20 };

static void build(pp_append_blocks *blocks, int64_t start, int64_t bytes_most, int ranks)
{
    const int64_t shape[2] = {start + LENGTH, WIDTH}, shard[2] = {SHARD, WIDTH}, chunk[2] = {SHARD / 2, WIDTH};
    const int64_t first[2] = {start, 0}, count[2] = {LENGTH, WIDTH};
    pp_tiling tiling;
    pp_grid shards;
    pp_box region;
    assert_ok(pp_grid_init(&shards, 2, shape, shard, 1));
    assert_ok(pp_tiling_init(&tiling, &shards, chunk, sizeof(double)));
    assert_ok(pp_box_init(&region, 2, first, count));
    pp_append_blocks_init(blocks, &region, &tiling, &tiling, &(pp_append_share){bytes_most, ranks});
}

/* Blocks begin where shards do, follow each other without gaps, and fit. */
static void check(const pp_append_blocks *blocks, int64_t start, int64_t bytes_most)
{
    int64_t at = start, number;
    for (number = 0; number < blocks->count; number++) {
        pp_box box;
        pp_append_block(blocks, number, &box);
        assert_int_equal(box.start[0], at);
        assert_true(at == start || at % SHARD == 0);
        assert_true(pp_box_element_count(&box) * (int64_t)sizeof(double) <= bytes_most);
        assert_int_equal(box.count[1], WIDTH);
        at += box.count[0];
    }
    assert_int_equal(at, start + LENGTH);
}

static void test_append_blocks__give_every_rank_a_part(void **state)
{
    const int64_t plenty = 100 * 1000 * 1000;
    int ranks;
    (void)state;
    for (ranks = 1; ranks <= 50; ranks++) {
        pp_append_blocks blocks;
        build(&blocks, 30, plenty, ranks);
        check(&blocks, 30, plenty);
        assert_true(blocks.count >= ranks);
        assert_true(blocks.count <= 2 * ranks + 1);
    }
}

static void test_append_blocks__stay_within_the_memory(void **state)
{
    const int64_t shard_bytes = SHARD * WIDTH * (int64_t)sizeof(double);
    int64_t most;
    (void)state;
    for (most = shard_bytes; most < 60 * shard_bytes; most += shard_bytes / 3) {
        pp_append_blocks blocks;
        build(&blocks, 7, most, 2);
        check(&blocks, 7, most);
    }
}

/* Less than a shard: whole chunks as long as they fit, and then what fits of one. */
static void test_append_blocks__cut_shards_and_chunks_that_do_not_fit(void **state)
{
    const int64_t row_bytes = WIDTH * (int64_t)sizeof(double);
    int64_t rows;
    (void)state;
    for (rows = 1; rows < SHARD; rows++) {
        pp_append_blocks blocks;
        pp_box box;
        build(&blocks, 0, rows * row_bytes, 1);
        pp_append_block(&blocks, 0, &box);
        assert_int_equal(box.count[0], rows < SHARD / 2 ? rows : SHARD / 2);
        assert_int_equal(blocks.count, (LENGTH + box.count[0] - 1) / box.count[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append_blocks__give_every_rank_a_part),
        cmocka_unit_test(test_append_blocks__stay_within_the_memory),
        cmocka_unit_test(test_append_blocks__cut_shards_and_chunks_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
