/* Sizes of a pass: exact sums, the least, and what becomes of more memory. */
#include "copy_case.h"

#include "base/memory.h"

#define CASES 3000
#define KIB INT64_C(1024)
/* An open chunk of two pages. */
#define BUFFER (8 * KIB + 96)

/* Whole time series out of maps: the numbers below were worked out by hand. */
static void open_problem(pp_rechunk_problem *problem, pp_rechunk_pass *pass)
{
    *problem = (pp_rechunk_problem){.ndim = 2, .shape = {100, 60}, .threads = 2, .ranks = 1};
    *pass = (pp_rechunk_pass){
        .source = {.chunk = {1, 30}, .shard = {1, 30}, .stored_order = {0, 1}, .element_bytes = 4},
        .target = {.chunk = {100, 3}, .shard = {100, 12}, .element_bytes = 4, .is_sharded = true},
        .template_shape = {100, 24},
        .order = {0, 1},
    };
    pass->source.encoded_bytes = 130;
    pass->source.scratch_bytes = 1000;
    pass->target.encoded_bytes = 1300;
    pass->target.chunk_buffer_bytes = 5000;
    pass->target.scratch_bytes = 2000;
    pp_rechunk_set_work_unit(2, problem->shape, pass);
}

static void test_memory__of_a_known_pass_is_the_sum_of_its_terms(void **state)
{
    /* 8 chunks are open; two shards of four chunks in a work unit, each at most 4 * 1300 + 68 bytes. */
    int64_t fixed = 2 * (1000 + 2000) + 2 * 20 * 4 + 4096 + 8 * (28 + 4) + 2 * 24 + 2 * 8 * KIB;
    int64_t least = 8 * BUFFER + 12 * KIB + 16 + fixed;
    pp_rechunk_problem problem;
    pp_rechunk_pass pass;
    (void)state;
    open_problem(&problem, &pass);
    assert_true(pp_rechunk_size_memory(&problem, least, &pass));
    assert_int_equal(pass.memory.open_chunks, 8);
    assert_int_equal(pass.memory.chunk_buffers, 8);
    assert_int_equal(pass.memory.items, 1);
    assert_int_equal(pass.memory.writers, 2);
    assert_int_equal(pass.memory.writer_bytes, 8 * KIB);
    assert_int_equal(pass.memory.source_indexes, 16);
    assert_int_equal(pass.memory.target_indexes, 2 * 20 * 4 + 4096 + 8 * (28 + 4) + 2 * 24);
    assert_int_equal(pass.memory.memory_bytes, least);
    assert_false(pp_rechunk_size_memory(&problem, least - 1, &pass));
    assert_int_equal(pass.memory.memory_bytes, least);
    assert_true(pp_rechunk_size_memory(&problem, INT64_MAX, &pass));
    /* No more chunk buffers than chunks of a template and one for each worker; 8 items and one for each worker. */
    assert_int_equal(pass.memory.chunk_buffers, 10);
    assert_int_equal(pass.memory.items, 10);
    assert_int_equal(pass.memory.memory_bytes, 10 * BUFFER + 10 * (12 * KIB + 16) + fixed);
}

static void test_memory__grows_items_and_slots_then_buffers(void **state)
{
    int64_t least;
    pp_rechunk_problem problem;
    pp_rechunk_pass pass;
    (void)state;
    open_problem(&problem, &pass);
    pass.target.encoded_bytes = 1000 * KIB;
    assert_false(pp_rechunk_size_memory(&problem, 0, &pass));
    least = pass.memory.memory_bytes;
    assert_true(pp_rechunk_size_memory(&problem, least + 3 * (12 * KIB + 16), &pass));
    assert_int_equal(pass.memory.items, 3);
    assert_int_equal(pass.memory.chunk_buffers, 9);
    assert_int_equal(pass.memory.writer_bytes, 256 * KIB);
    assert_true(pp_rechunk_size_memory(&problem, least + 3 * (12 * KIB + 16) + 2 * BUFFER, &pass));
    assert_int_equal(pass.memory.items, 4);
    assert_int_equal(pass.memory.chunk_buffers, 10);
    assert_int_equal(pass.memory.writer_bytes, 256 * KIB);
    assert_true(pp_rechunk_size_memory(&problem, least + 3 * (12 * KIB + 16) + 2 * BUFFER + 2 * 256 * KIB, &pass));
    assert_int_equal(pass.memory.items, 4);
    assert_int_equal(pass.memory.writer_bytes, 512 * KIB);
    assert_true(pp_rechunk_size_memory(&problem, INT64_MAX, &pass));
    assert_int_equal(pass.memory.writer_bytes, 4004 * KIB);
    pass.target.encoded_bytes = 2000 * KIB;
    assert_true(pp_rechunk_size_memory(&problem, INT64_MAX, &pass));
    assert_int_equal(pass.memory.writer_bytes, 4096 * KIB);
}

static void test_memory__of_runs_has_items_no_larger_than_a_template(void **state)
{
    int64_t whole;
    pp_rechunk_problem problem;
    pp_rechunk_pass pass;
    (void)state;
    open_problem(&problem, &pass);
    pass.source.encoded_bytes = 3000 * 30 * 4;
    pass.source.chunk[0] = pass.source.shard[0] = 3000;
    assert_false(pp_rechunk_size_memory(&problem, 0, &pass));
    whole = pass.memory.memory_bytes;
    pass.reads_runs = true;
    assert_false(pp_rechunk_size_memory(&problem, 0, &pass));
    /* 360000 bytes are 88 pages and two more; 100 * 24 elements are three. */
    assert_int_equal(whole - pass.memory.memory_bytes, (90 - 3) * 4096);
}

static void test_memory__of_a_sharded_source_has_the_indexes_that_are_visited_again(void **state)
{
    pp_rechunk_problem problem;
    pp_rechunk_pass pass;
    (void)state;
    open_problem(&problem, &pass);
    pass.source.is_sharded = true;
    pass.source.chunk[1] = 2;
    pass.source.shard[0] = 10;
    pass.source.shard[1] = 10;
    pass.source.origin[1] = 9;
    assert_false(pp_rechunk_size_memory(&problem, 0, &pass));
    /* The elements of the first template are numbers 9 to 32: they lie in four shards of 50 chunks. */
    assert_int_equal(pass.memory.source_indexes, 4 * 16 * 50 + 4096);
    pass.order[0] = 1;
    pass.order[1] = 0;
    assert_false(pp_rechunk_size_memory(&problem, 0, &pass));
    assert_int_equal(pass.memory.source_indexes, 10 * 16 * 50 + 4096);
}

/* Rows of 60 elements become columns, which are stored row by row: 16 elements of 4 bytes fill a line of the cache.
 */
static void open_turned(pp_rechunk_problem *problem, pp_rechunk_pass *pass)
{
    open_problem(problem, pass);
    pass->source.chunk[0] = pass->source.shard[0] = 100;
    pass->source.chunk[1] = pass->source.shard[1] = 1;
    pass->source.stored_order[0] = 1;
    pass->source.stored_order[1] = 0;
    pass->source.encoded_bytes = 400;
    pass->target.chunk[0] = 10;
    pass->target.chunk[1] = 40;
    pass->target.shard[0] = pass->target.shard[1] = 40;
    pass->template_shape[0] = 120;
    pass->template_shape[1] = 80;
    pass->source.scratch_bytes = 0;
}

static int64_t largest_item(const pp_rechunk_problem *problem, pp_rechunk_pass *pass)
{
    assert_true(pp_rechunk_size_memory(problem, INT64_MAX, pass));
    assert_int_equal(pass->memory.item_chunks, pp_rechunk_item_chunks_most(problem, pass));
    return pass->memory.item_chunks;
}

static void test_memory__of_items_has_as_many_chunks_as_fill_a_line(void **state)
{
    int64_t least, chunk = 12 * KIB + 16;
    pp_rechunk_problem problem;
    pp_rechunk_pass pass;
    (void)state;
    open_turned(&problem, &pass);
    assert_false(pp_rechunk_size_memory(&problem, 0, &pass));
    least = pass.memory.memory_bytes;
    assert_int_equal(pass.memory.item_chunks, 1);
    /* A second item and another open chunk come first. */
    assert_true(pp_rechunk_size_memory(&problem, least + chunk + BUFFER + 5 * chunk, &pass));
    assert_int_equal(pass.memory.items, 2);
    assert_int_equal(pass.memory.item_chunks, 3);
    assert_int_equal(pass.memory.source_indexes, 6 * 16);
    assert_true(pp_rechunk_size_memory(&problem, least + 31 * chunk + BUFFER, &pass));
    assert_int_equal(pass.memory.item_chunks, 16);
    assert_int_equal(pass.memory.memory_bytes, least + 31 * chunk + BUFFER);
    assert_int_equal(largest_item(&problem, &pass), 16);
    pass.reads_runs = true;
    assert_int_equal(largest_item(&problem, &pass), 16);
    pass.source.chunk[1] = pass.source.shard[1] = 3;
    assert_int_equal(largest_item(&problem, &pass), 5);
    pass.target.chunk[1] = 8;
    assert_int_equal(largest_item(&problem, &pass), 2);
}

/* Each may be an open file, or two, and a process has a thousand. */
static void test_memory__of_items_has_at_most_256_chunks_in_all(void **state)
{
    pp_rechunk_problem problem;
    pp_rechunk_pass pass;
    (void)state;
    for (int element_bytes = 1; element_bytes <= 4; element_bytes *= 2)
        for (int threads = 1; threads <= 300; threads++) {
            open_turned(&problem, &pass);
            problem.threads = threads;
            pass.source.element_bytes = element_bytes;
            assert_in_range(largest_item(&problem, &pass), 1, 64 / element_bytes);
            if (pass.memory.item_chunks > 1)
                assert_in_range(pass.memory.items * pass.memory.item_chunks, 1, 256);
        }
    open_turned(&problem, &pass);
    pass.source.element_bytes = 1;
    assert_int_equal(largest_item(&problem, &pass), 25);
}

static void test_memory__of_items_has_one_chunk_where_more_are_of_no_use(void **state)
{
    pp_rechunk_problem problem;
    pp_rechunk_pass pass;
    (void)state;
    open_turned(&problem, &pass);
    pass.source.chunk[1] = pass.source.shard[1] = 16;
    assert_int_equal(largest_item(&problem, &pass), 1);
    open_turned(&problem, &pass);
    pass.source.element_bytes = 65;
    assert_int_equal(largest_item(&problem, &pass), 1);
    open_turned(&problem, &pass);
    pass.source.stored_order[0] = 0;
    pass.source.stored_order[1] = 1;
    assert_int_equal(largest_item(&problem, &pass), 1);
    /* Decoded into memory of a worker, where the next chunk would take its place. */
    open_turned(&problem, &pass);
    pass.source.scratch_bytes = 1;
    assert_int_equal(largest_item(&problem, &pass), 1);
    pass.reads_runs = true;
    assert_int_equal(largest_item(&problem, &pass), 16);
    /* Visited along the other dimension, in which there is one source chunk; two. */
    open_turned(&problem, &pass);
    pass.order[0] = 1;
    pass.order[1] = 0;
    assert_int_equal(largest_item(&problem, &pass), 16);
    pass.source.chunk[0] = pass.source.shard[0] = 99;
    assert_int_equal(largest_item(&problem, &pass), 1);
}

static void test_memory__of_ranks_that_cooperate_has_a_whole_template(void **state)
{
    pp_rechunk_problem problem;
    pp_rechunk_pass pass;
    (void)state;
    open_problem(&problem, &pass);
    pass.cooperates = true;
    problem.cooperation_bytes = 12345;
    assert_true(pp_rechunk_size_memory(&problem, INT64_MAX, &pass));
    assert_int_equal(pass.memory.chunk_buffers, 8);
    assert_int_equal(pass.memory.items, 1);
    assert_int_equal(pass.memory.source_indexes, 0);
    /* 100 * 24 elements are 9600 bytes: three pages; a chunk to encode is two. */
    assert_int_equal(pass.memory.memory_bytes,
                     12 * KIB + 8 * KIB + 12345 + 2 * 2000 + 2 * 20 * 4 + 4096 + 8 * 28 + 2 * 24 + 2 * 8 * KIB);
}

static void choose_bytes(pp_rechunk_problem *problem, copy_case *its, test_random *random)
{
    int d;
    *problem = (pp_rechunk_problem){.ndim = its->ndim, .ranks = 1};
    for (d = 0; d < its->ndim; d++)
        problem->shape[d] = its->shape[d];
    problem->threads = (int)test_random_between(random, 1, 5);
    problem->cooperation_bytes = test_random_between(random, 1, 100000);
    its->pass.reads_runs = test_random_between(random, 0, 2) == 0;
    its->pass.cooperates = test_random_between(random, 0, 3) == 0;
    its->pass.source.encoded_bytes = test_random_between(random, 1, 500 * KIB);
    its->pass.source.scratch_bytes = test_random_between(random, 0, 50 * KIB);
    its->pass.target.encoded_bytes = test_random_between(random, 1, 500 * KIB);
    its->pass.target.chunk_buffer_bytes = test_random_between(random, 1, 500 * KIB);
    its->pass.target.scratch_bytes = test_random_between(random, 0, 50 * KIB);
}

static void assert_grown(const pp_rechunk_pass *before, const pp_rechunk_pass *after, int64_t limit)
{
    assert_true(after->memory.memory_bytes <= limit);
    assert_true(after->memory.memory_bytes >= before->memory.memory_bytes);
    assert_true(after->memory.items >= 1);
    assert_true(after->memory.chunk_buffers >= after->memory.open_chunks);
    assert_int_equal(after->memory.open_chunks, before->memory.open_chunks);
    assert_int_equal(after->memory.writers, before->memory.writers);
}

static void test_memory__never_exceeds_the_limit_and_grows_with_it(void **state)
{
    test_random random = test_random_start();
    int i, step, refused = 0;
    (void)state;
    for (i = 0; i < CASES; i++) {
        copy_case its;
        pp_rechunk_problem problem;
        pp_rechunk_pass before;
        int64_t least, limit;
        case_choose(&its, &random);
        choose_bytes(&problem, &its, &random);
        assert_false(pp_rechunk_size_memory(&problem, 0, &its.pass));
        limit = least = its.pass.memory.memory_bytes;
        refused += !pp_rechunk_size_memory(&problem, least - 1, &its.pass);
        assert_int_equal(its.pass.memory.memory_bytes, least);
        assert_true(pp_rechunk_size_memory(&problem, least, &its.pass));
        assert_int_equal(its.pass.memory.memory_bytes, least);
        for (step = 0; step < 12; step++) {
            before = its.pass;
            limit += test_random_between(&random, 0, 1000 * KIB);
            assert_true(pp_rechunk_size_memory(&problem, limit, &its.pass));
            assert_grown(&before, &its.pass, limit);
        }
    }
    assert_int_equal(refused, CASES);
}

static void test_memory__that_cannot_be_counted_does_not_fit(void **state)
{
    pp_rechunk_problem problem;
    pp_rechunk_pass pass;
    (void)state;
    open_problem(&problem, &pass);
    pass.target.chunk_buffer_bytes = INT64_MAX - 5;
    assert_false(pp_rechunk_size_memory(&problem, INT64_MAX - 1, &pass));
    assert_int_equal(pass.memory.memory_bytes, INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory__of_a_known_pass_is_the_sum_of_its_terms),
        cmocka_unit_test(test_memory__grows_items_and_slots_then_buffers),
        cmocka_unit_test(test_memory__of_runs_has_items_no_larger_than_a_template),
        cmocka_unit_test(test_memory__of_a_sharded_source_has_the_indexes_that_are_visited_again),
        cmocka_unit_test(test_memory__of_items_has_as_many_chunks_as_fill_a_line),
        cmocka_unit_test(test_memory__of_items_has_at_most_256_chunks_in_all),
        cmocka_unit_test(test_memory__of_items_has_one_chunk_where_more_are_of_no_use),
        cmocka_unit_test(test_memory__of_ranks_that_cooperate_has_a_whole_template),
        cmocka_unit_test(test_memory__never_exceeds_the_limit_and_grows_with_it),
        cmocka_unit_test(test_memory__that_cannot_be_counted_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
