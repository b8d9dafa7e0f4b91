/* Predicted times: formulas worked out by hand for round numbers, and what must never be faster. */
#include "support.h"

#include "rechunk/count.h"

#define CLOSE 1e-9

/* A GB read in 1000 requests and written as 100 shards of 10 work units and 50 templates; every rate is a round
 * number. */
static void open_problem(pp_rechunk_problem *problem, pp_rechunk_pass *pass)
{
    *problem = (pp_rechunk_problem){.ndim = 1, .shape = {1000000}, .threads = 1, .ranks = 1};
    problem->machine = (pp_rechunk_machine){.read_rate = 1e9,
                                            .write_rate = 5e8,
                                            .read_limit = 2e9,
                                            .write_limit = 1e9,
                                            .request_seconds = 1e-3,
                                            .flush_seconds = 1e-2,
                                            .copy_rate = 2e9,
                                            .exchange_rate = 1e9,
                                            .cores = 64};
    *pass = (pp_rechunk_pass){.source = {.element_bytes = 1000, .codec_rate = 4e9, .stored_ratio = 0.5},
                              .target = {.element_bytes = 1000, .codec_rate = 1e9, .stored_ratio = 0.25},
                              .work_unit_shape = {100000},
                              .template_shape = {20000},
                              .group = {1}};
    pass->source.chunk[0] = pass->target.chunk[0] = 1000000;
    pass->counts = (pp_rechunk_counts){.work_units = 10,
                                       .templates = 50,
                                       .chunk_reads = 900,
                                       .read_requests = 900,
                                       .index_reads = 100,
                                       .decoded_bytes = 2000000000,
                                       .chunks_written = 1000,
                                       .shards_written = 100,
                                       .written_bytes = 1000000000};
    pass->memory = (pp_rechunk_memory){.open_chunks = 5, .chunk_buffers = 5, .items = 1};
}

static double predict(const pp_rechunk_problem *problem, pp_rechunk_pass *pass)
{
    pp_rechunk_predict(problem, pass);
    return pass->seconds;
}

static void assert_seconds(const pp_rechunk_problem *problem, pp_rechunk_pass *pass, double expected)
{
    double seconds = predict(problem, pass);
    if (seconds < expected - CLOSE || seconds > expected + CLOSE)
        fail_msg("%.9f s instead of %.9f", seconds, expected);
}

#define BOX 3e-7
#define ROW 8e-9

/* Reading takes 1000 * 1 ms + 1 GB at 1 GB/s. Work is half a second each to decode and to scatter, which is one row
 * in one box, one to encode, half a second to write 250 MB, and 1.5 s for 150 flushes. */
#define READ 2.0
#define DECODE 0.5
#define SCATTER (0.5 + ROW + BOX)
#define ENCODE 1.0
#define WRITE 2.0

static void test_cost__of_one_rank_is_the_sum_of_what_it_does(void **state)
{
    pp_rechunk_problem problem;
    pp_rechunk_pass pass;
    (void)state;
    open_problem(&problem, &pass);
    assert_seconds(&problem, &pass, READ + DECODE + SCATTER + ENCODE + WRITE);
    problem.threads = 2;
    assert_seconds(&problem, &pass, READ + (DECODE + SCATTER + ENCODE) / 2 + WRITE);
    problem.machine.cores = 1;
    assert_seconds(&problem, &pass, READ + DECODE + SCATTER + ENCODE + WRITE);
}

static void test_cost__with_memory_for_it_overlaps_reading_and_work(void **state)
{
    pp_rechunk_problem problem;
    pp_rechunk_pass pass;
    (void)state;
    open_problem(&problem, &pass);
    pass.memory.items = 2;
    assert_seconds(&problem, &pass, READ + DECODE + SCATTER + ENCODE + WRITE);
    pass.memory.chunk_buffers = 6;
    assert_seconds(&problem, &pass, DECODE + SCATTER + ENCODE + 0.75 * (READ + WRITE));
    pass.counts.decoded_bytes *= 10;
    assert_seconds(&problem, &pass, 11 + 0.75 * (10 * DECODE + SCATTER + ENCODE + WRITE));
    pass.target.encoded_bytes = 1000000;
    /* 50 templates with 5 chunks of a MB open at both ends, read at 1 GB/s and written at half of that. */
    assert_seconds(&problem, &pass, 11 + 0.75 * (10 * DECODE + SCATTER + ENCODE + WRITE) + 50 * 5 * 3e-3);
}

static void test_cost__is_never_less_than_the_storage_needs(void **state)
{
    pp_rechunk_problem problem;
    pp_rechunk_pass pass;
    (void)state;
    open_problem(&problem, &pass);
    pass.memory.items = 2;
    pass.memory.chunk_buffers = 6;
    problem.machine.read_limit = problem.machine.write_limit = 1e12;
    assert_seconds(&problem, &pass, DECODE + SCATTER + ENCODE + 0.75 * (READ + WRITE));
    problem.machine.read_limit = 5e8;
    problem.machine.read_rate = 1e12;
    problem.machine.write_limit = 1e8;
    problem.machine.write_rate = 1e12;
    /* 1 GB and 250 MB, one after the other, whatever a rank alone could do. */
    assert_true(predict(&problem, &pass) >= 2 + 2.5);
}

/* What a million elements of 4 bytes cost with these chunks, beyond what they cost as one row of one box. */
static double scatter_seconds(int64_t rows, int64_t source_columns, int64_t target_rows, int64_t target_columns,
                              bool is_transposed)
{
    pp_rechunk_problem problem;
    pp_rechunk_pass pass;
    double whole;
    open_problem(&problem, &pass);
    pass.source.element_bytes = pass.target.element_bytes = 4;
    whole = predict(&problem, &pass);
    problem.ndim = 2;
    problem.shape[0] = problem.shape[1] = 1000;
    pass.source.chunk[0] = rows;
    pass.source.chunk[1] = source_columns;
    pass.target.chunk[0] = target_rows;
    pass.target.chunk[1] = target_columns;
    pass.source.stored_order[0] = is_transposed ? 1 : 0;
    pass.source.stored_order[1] = is_transposed ? 0 : 1;
    return predict(&problem, &pass) - whole + ROW + BOX;
}

static void assert_near(double found, double expected)
{
    if (found < expected - CLOSE || found > expected + CLOSE)
        fail_msg("%.9f s instead of %.9f", found, expected);
}

static void test_cost__of_small_boxes_is_that_of_their_number(void **state)
{
    double bytes = 4e6 / 2e9; /* what the elements cost as one row */
    (void)state;
    assert_near(scatter_seconds(1000, 1000, 1000, 1000, false), 1000 * ROW + BOX);
    assert_near(scatter_seconds(1, 1000, 1000, 10, false), 1e5 * ROW + 1e5 * BOX);
    /* Of the 249 and 166 bounds between rows 83 are the same. */
    assert_near(scatter_seconds(4, 1000, 6, 1000, false), 1000 * ROW + 333 * BOX);
    /* One by one: 40 bytes of a column at a time, and 64; or single elements, each with a line of its own. */
    assert_near(scatter_seconds(1, 1000, 1000, 10, true), 1e6 * 2.9e-9 - bytes + 1e5 * BOX);
    assert_near(scatter_seconds(1, 1000, 1000, 16, true), 1e6 * 2.75e-9 - bytes + 63e3 * BOX);
    assert_near(scatter_seconds(1000, 1, 1000, 1000, true), 1e6 * 6.5e-9 - bytes + 1000 * BOX);
}

static void test_cost__of_items_of_several_chunks_is_that_of_one_chunk_as_large(void **state)
{
    pp_rechunk_problem problem;
    pp_rechunk_pass pass;
    double large;
    (void)state;
    open_problem(&problem, &pass);
    problem.ndim = 2;
    problem.shape[0] = problem.shape[1] = 1600;
    pass.source.element_bytes = pass.target.element_bytes = 4;
    pass.source.chunk[0] = pass.target.chunk[0] = pass.target.chunk[1] = 1600;
    pass.source.stored_order[0] = 1;
    pass.source.chunk[1] = 16;
    large = predict(&problem, &pass);
    pass.source.chunk[1] = 1;
    pass.memory.item_chunks = 16;
    assert_near(predict(&problem, &pass), large);
}

static void test_cost__of_several_ranks_is_that_of_the_busiest(void **state)
{
    pp_rechunk_problem problem;
    pp_rechunk_pass pass;
    (void)state;
    open_problem(&problem, &pass);
    problem.ranks = 2;
    assert_seconds(&problem, &pass, (READ + DECODE + SCATTER + ENCODE + WRITE) / 2);
    problem.ranks = 9;
    pass.counts.work_units = 10;
    problem.machine.read_limit = problem.machine.write_limit = 1e12;
    assert_seconds(&problem, &pass, (READ + DECODE + SCATTER + ENCODE + WRITE) / 5);
    problem.ranks = 1000;
    assert_seconds(&problem, &pass, (READ + DECODE + SCATTER + ENCODE + WRITE) / 10);
}

static void test_cost__of_ranks_that_share_a_disk_and_cores_is_limited_by_them(void **state)
{
    pp_rechunk_problem problem;
    pp_rechunk_pass pass;
    (void)state;
    open_problem(&problem, &pass);
    problem.ranks = 10;
    problem.machine.cores = 5;
    /* 1 GB at 2 GB/s of all ranks, 250 MB at 1 GB/s, 2 s of work on 5 cores, and a tenth of requests and flushes. */
    assert_seconds(&problem, &pass, 0.1 + 0.5 + (DECODE + SCATTER + ENCODE) / 5 + 0.25 + 0.15);
}

static void test_cost__of_ranks_that_cooperate_adds_the_exchange(void **state)
{
    pp_rechunk_problem problem;
    pp_rechunk_pass pass;
    (void)state;
    open_problem(&problem, &pass);
    problem.ranks = 2;
    pass.cooperates = true;
    pass.group[0] = 2;
    pass.memory.items = 9;
    pass.memory.chunk_buffers = 9;
    /* Half of a rank's half of 1 GB comes from the other. */
    assert_seconds(&problem, &pass, (READ + DECODE + SCATTER + ENCODE + WRITE) / 2 + 0.25);
    pass.group[0] = 1;
    assert_seconds(&problem, &pass, (READ + DECODE) / 2 + SCATTER + ENCODE + WRITE + 0.5);
}

static void test_cost__of_an_unknown_machine_is_that_of_an_ordinary_disk(void **state)
{
    pp_rechunk_problem problem, ordinary;
    pp_rechunk_pass pass;
    (void)state;
    open_problem(&problem, &pass);
    problem.threads = problem.ranks = 3;
    ordinary = problem;
    problem.machine = (pp_rechunk_machine){0};
    ordinary.machine = (pp_rechunk_machine){.read_rate = 1.5e9,
                                            .write_rate = 1e9,
                                            .read_limit = 1.5e9,
                                            .write_limit = 1e9,
                                            .request_seconds = 1e-4,
                                            .flush_seconds = 5e-3,
                                            .copy_rate = 3e9,
                                            .exchange_rate = 3e9,
                                            .cores = 2};
    assert_seconds(&problem, &pass, predict(&ordinary, &pass));
    pass.source.codec_rate = pass.target.codec_rate = 0;
    pass.source.stored_ratio = pass.target.stored_ratio = 0;
    assert_true(predict(&problem, &pass) > 0);
}

static void test_cost__of_an_empty_array_is_nothing(void **state)
{
    pp_rechunk_problem problem;
    pp_rechunk_pass pass;
    (void)state;
    open_problem(&problem, &pass);
    problem.shape[0] = 0;
    pass.counts = (pp_rechunk_counts){0};
    assert_seconds(&problem, &pass, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost__of_one_rank_is_the_sum_of_what_it_does),
        cmocka_unit_test(test_cost__with_memory_for_it_overlaps_reading_and_work),
        cmocka_unit_test(test_cost__is_never_less_than_the_storage_needs),
        cmocka_unit_test(test_cost__of_small_boxes_is_that_of_their_number),
        cmocka_unit_test(test_cost__of_items_of_several_chunks_is_that_of_one_chunk_as_large),
        cmocka_unit_test(test_cost__of_several_ranks_is_that_of_the_busiest),
        cmocka_unit_test(test_cost__of_ranks_that_share_a_disk_and_cores_is_limited_by_them),
        cmocka_unit_test(test_cost__of_ranks_that_cooperate_adds_the_exchange),
        cmocka_unit_test(test_cost__of_an_unknown_machine_is_that_of_an_ordinary_disk),
        cmocka_unit_test(test_cost__of_an_empty_array_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
