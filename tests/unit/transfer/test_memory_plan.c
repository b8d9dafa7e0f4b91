/* How a transfer divides its budget: whatever there is, no more is planned, and a refusal names what would do. */
#include "support.h"

#include "base/memory.h"
#include "base/thread.h"
#include "comm/stealing.h"
#include "laid_out.h"
#include "transfer/memory_plan.h"

#define ROUNDS 4000
#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static const char *const documents[] = {
    /* a shard of 64 chunks of 128 KiB, compressed, with checksums */
    "\"shape\":[1024,1024],\"data_type\":\"float64\",\"fill_value\":0,"
    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[1024,1024]}},"
    "\"codecs\":[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[128,128],"
    "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},{\"name\":\"zstd\",\"configuration\":"
    "{\"level\":1,\"checksum\":false}},{\"name\":\"crc32c\"}],\"index_codecs\":[{\"name\":\"bytes\","
    "\"configuration\":"
    "{\"endian\":\"little\"}},{\"name\":\"crc32c\"}],\"index_location\":\"end\"}}]",
    /* 10,000 tiny chunks in a shard */
    "\"shape\":[20000],\"data_type\":\"uint16\",\"fill_value\":0,"
    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[20000]}},"
    "\"codecs\":[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2],"
    "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}],\"index_codecs\":[{\"name\":"
    "\"bytes\","
    "\"configuration\":{\"endian\":\"little\"}}],\"index_location\":\"start\"}}]",
    /* one chunk of 2 MiB per object */
    "\"shape\":[4096,512],\"data_type\":\"uint8\",\"fill_value\":0,"
    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[4096,512]}},"
    "\"codecs\":[{\"name\":\"bytes\"}]",
    /* a scalar */
    "\"shape\":[],\"data_type\":\"float32\",\"fill_value\":0,"
    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[]}},"
    "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]",
};

enum { DOCUMENTS = (int)(sizeof documents / sizeof documents[0]) };

static laid_out made[DOCUMENTS];

static int open_layouts(void **state)
{
    int i;
    (void)state;
    for (i = 0; i < DOCUMENTS; i++)
        laid_out_init(&made[i], documents[i]);
    return 0;
}

static int close_layouts(void **state)
{
    int i;
    (void)state;
    for (i = 0; i < DOCUMENTS; i++)
        laid_out_clear(&made[i]);
    return 0;
}

typedef parapet_status (*planner)(const pp_layout *const *layouts, int count, const pp_memory_case *memory,
                                  pp_memory_plan *plan);

static const planner planners[] = {pp_memory_plan_write, pp_memory_plan_read};

static int choose_layouts(test_random *random, const pp_layout **layouts)
{
    int count = (int)test_random_between(random, 1, DOCUMENTS), i;
    for (i = 0; i < count; i++)
        layouts[i] = &made[test_random_between(random, 0, DOCUMENTS - 1)].layout;
    return count;
}

static pp_memory_case choose_case(test_random *random)
{
    size_t unit = test_random_between(random, 0, 1) == 0 ? KIB : MIB;
    return (pp_memory_case){
        .available_bytes = (size_t)test_random_between(random, 0, 300) * unit,
        .used_bytes = (size_t)test_random_between(random, 0, 9999),
        .threads = (int)test_random_between(random, 1, 20),
        .has_threads = test_random_between(random, 0, 1) == 1,
        .keeps_old = test_random_between(random, 0, 1) == 1,
        .has_remote = test_random_between(random, 0, 1) == 1,
        .uses_direct = test_random_between(random, 0, 1) == 1,
        .fragment_bytes = pp_memory_fragment_bytes(test_random_between(random, 1, 200) << 20),
        .shard_count = test_random_between(random, 1, 100),
        .rank_most = test_random_between(random, 0, 50),
        .copies = test_random_between(random, 0, 60),
        .takes = test_random_between(random, 0, 3) == 0,
    };
}

static void check_plan(const pp_memory_case *memory, const pp_memory_plan *plan)
{
    bool has_remote = memory->has_remote || memory->takes;
    assert_true(plan->planned_bytes <= memory->available_bytes);
    assert_true(plan->slot_count >= 1);
    assert_true(plan->window_chunks >= 1);
    assert_true(plan->slot_bytes > 0 && plan->staging_bytes < plan->slot_bytes);
    assert_int_equal(plan->staging_bytes > 0, has_remote);
    assert_int_equal(plan->batch_bytes % PP_PAGE_BYTES, 0);
    assert_int_equal(plan->staged_bytes % PP_PAGE_BYTES, 0);
    assert_int_equal(plan->staging_bytes % PP_PAGE_BYTES, 0);
    assert_true((size_t)plan->slot_count * plan->slot_bytes + (size_t)memory->threads * plan->sieve_bytes <=
                plan->planned_bytes);
    if (!memory->has_threads)
        assert_int_equal(plan->slot_count, 1);
    if (!has_remote || !memory->uses_direct)
        assert_int_equal(plan->sieve_bytes, 0);
}

/* The number at the end of "..., set it to at least 123". */
static size_t limit_named(void)
{
    const char *words = strstr(pp_failure_message(), "set it to at least ");
    assert_non_null(words);
    return (size_t)strtoull(words + strlen("set it to at least "), NULL, 10);
}

/* What messages take that have this size, before anything is planned. */
static size_t message_bytes(const pp_memory_case *memory, int ndim, size_t fragment_bytes)
{
    size_t description = pp_memory_description_bytes(ndim, memory->rank_most, fragment_bytes);
    return pp_memory_client_bytes(fragment_bytes) + (memory->takes ? pp_stealing_bytes(description) : 0);
}

static int ndim_most(const pp_layout *const *layouts, int count)
{
    int i, most = 0;
    for (i = 0; i < count; i++)
        most = layouts[i]->tiling.shards.ndim > most ? layouts[i]->tiling.shards.ndim : most;
    return most;
}

/* With the limit that the sentence names it works, though messages are longer then. */
static void check_limit(planner plan_it, const pp_layout *const *layouts, int count, pp_memory_case memory,
                        size_t limit)
{
    size_t longer = pp_memory_fragment_bytes((int64_t)limit), before = memory.fragment_bytes;
    int ndim = ndim_most(layouts, count);
    pp_memory_plan plan;
    if (longer > before) {
        memory.fragment_bytes = longer;
        memory.used_bytes += message_bytes(&memory, ndim, longer) - message_bytes(&memory, ndim, before);
    }
    memory.available_bytes = limit - memory.used_bytes;
    assert_ok(plan_it(layouts, count, &memory, &plan));
    check_plan(&memory, &plan);
}

/* As long as messages are no longer, it works with what they would have taken less, but not with another byte less.
 */
static void check_refusal(planner plan_it, const pp_layout *const *layouts, int count, pp_memory_case memory)
{
    size_t limit = limit_named(), longer = pp_memory_fragment_bytes((int64_t)limit), taken = 0;
    int ndim = ndim_most(layouts, count);
    pp_memory_plan plan;
    assert_true(limit > memory.used_bytes + memory.available_bytes);
    assert_int_equal(pp_failure_enough_bytes(), limit);
    check_limit(plan_it, layouts, count, memory, limit);
    if (longer > memory.fragment_bytes && memory.takes)
        taken = pp_memory_stealing_bytes(ndim, memory.rank_most, longer) -
                pp_memory_stealing_bytes(ndim, memory.rank_most, memory.fragment_bytes);
    if (longer > memory.fragment_bytes)
        taken += pp_memory_client_bytes(longer) - pp_memory_client_bytes(memory.fragment_bytes);
    memory.available_bytes = limit - taken - memory.used_bytes;
    assert_ok(plan_it(layouts, count, &memory, &plan));
    check_plan(&memory, &plan);
    memory.available_bytes -= 1;
    assert_fails(plan_it(layouts, count, &memory, &plan), PARAPET_ERR_MEMORY, "memory_bytes");
    assert_int_equal(limit_named(), limit);
}

static void test_memory__is_never_planned_beyond_what_there_is(void **state)
{
    test_random random = test_random_start();
    int round, refused = 0;
    (void)state;
    for (round = 0; round < ROUNDS; round++) {
        const pp_layout *layouts[DOCUMENTS];
        int count = choose_layouts(&random, layouts);
        pp_memory_case memory = choose_case(&random);
        planner plan_it = planners[round % 2];
        pp_memory_plan plan;
        if (plan_it(layouts, count, &memory, &plan) == PARAPET_OK) {
            check_plan(&memory, &plan);
            continue;
        }
        check_refusal(plan_it, layouts, count, memory);
        refused++;
    }
    assert_true(refused > ROUNDS / 20 && refused < ROUNDS / 20 * 19);
}

static pp_memory_plan plan_one(planner plan_it, const pp_layout *layout, const pp_memory_case *memory)
{
    pp_memory_plan plan;
    assert_ok(plan_it(&layout, 1, memory, &plan));
    return plan;
}

/* With plenty of memory there are four windows per thread when writing, three more than threads when reading. */
static void test_memory__slots_follow_threads_where_there_is_plenty(void **state)
{
    pp_memory_case memory = {.available_bytes = 4096 * MIB, .has_threads = true, .shard_count = 1000};
    const pp_layout *layout = &made[0].layout;
    (void)state;
    for (memory.threads = 1; memory.threads <= 40; memory.threads++) {
        int writing = memory.threads * 4 < 64 ? memory.threads * 4 : 64;
        int reading = memory.threads + 3 < 16 ? memory.threads + 3 : 16;
        assert_int_equal(plan_one(pp_memory_plan_write, layout, &memory).slot_count, writing);
        assert_int_equal(plan_one(pp_memory_plan_read, layout, &memory).slot_count, reading);
    }
}

/* What is open cannot be taken: two shards at most, but always one window more than threads. */
static void test_memory__few_shards_are_open_where_others_may_take_them(void **state)
{
    pp_memory_case memory = {.available_bytes = 4096 * MIB, .has_threads = true, .shard_count = 1000, .takes = true};
    (void)state;
    for (memory.threads = 1; memory.threads <= 4; memory.threads++) {
        /* A shard of 8 windows, and one that is a window. */
        assert_int_equal(plan_one(pp_memory_plan_write, &made[0].layout, &memory).slot_count,
                         memory.threads == 1 ? 4 : 8);
        assert_int_equal(plan_one(pp_memory_plan_write, &made[2].layout, &memory).slot_count, memory.threads + 1);
        assert_int_equal(plan_one(pp_memory_plan_read, &made[2].layout, &memory).slot_count, memory.threads + 1);
    }
}

/* A server that owns nothing yet plans for what it may take, lists included. */
static void test_memory__a_server_that_owns_nothing_plans_for_what_it_takes(void **state)
{
    pp_memory_case memory = {.available_bytes = 64 * MIB, .threads = 1, .takes = true, .rank_most = 7};
    size_t i;
    (void)state;
    for (i = 0; i < 2; i++) {
        pp_memory_plan plan = plan_one(planners[i], &made[0].layout, &memory);
        assert_true(plan.slot_count >= 1 && plan.staging_bytes > 0);
        assert_true(plan.planned_bytes >
                    pp_memory_stealing_bytes(2, 7, 0) - pp_stealing_bytes(pp_memory_description_bytes(2, 7, 0)));
    }
}

/* What several ranks read is staged for many of them where there is plenty, for fewer where there is not, and for one
 * in the least memory that will do. */
static void test_memory__left_over_stages_the_same_for_several_ranks(void **state)
{
    pp_memory_case memory = {.threads = 1,
                             .has_threads = true,
                             .has_remote = true,
                             .fragment_bytes = 64 * KIB,
                             .shard_count = 10,
                             .rank_most = 20};
    const pp_layout *layout = &made[0].layout;
    pp_memory_plan plan;
    size_t one, some;
    (void)state;
    memory.available_bytes = 4096 * MIB;
    one = plan_one(pp_memory_plan_read, layout, &memory).staged_bytes;
    memory.copies = 12;
    assert_int_equal(plan_one(pp_memory_plan_read, layout, &memory).staged_bytes, 12 * one);
    memory.copies = 30; /* a rank may read it several times */
    assert_int_equal(plan_one(pp_memory_plan_read, layout, &memory).staged_bytes, 30 * one);
    memory.available_bytes = 512 * MIB;
    some = plan_one(pp_memory_plan_read, layout, &memory).staged_bytes;
    assert_true(some > one && some < 30 * one);
    memory.available_bytes = 0;
    assert_fails(pp_memory_plan_read(&layout, 1, &memory, &plan), PARAPET_ERR_MEMORY, "buffers to read a chunk");
    memory.available_bytes = limit_named();
    plan = plan_one(pp_memory_plan_read, layout, &memory);
    assert_int_equal(plan.staged_bytes, plan.batch_bytes);
}

/* In the least memory that will do, a window is one chunk. */
static void test_memory__windows_shrink_where_there_is_little(void **state)
{
    pp_memory_case memory = {.threads = 2, .has_threads = true, .shard_count = 10};
    const pp_layout *layout = &made[0].layout;
    pp_memory_plan plan;
    (void)state;
    assert_fails(pp_memory_plan_write(&layout, 1, &memory, &plan), PARAPET_ERR_MEMORY, "buffers to write a chunk");
    memory.available_bytes = limit_named();
    plan = plan_one(pp_memory_plan_write, layout, &memory);
    assert_int_equal(plan.window_chunks, 1);
    assert_int_equal(plan.slot_count, 1);
    assert_true(plan.slot_bytes < 8 * 128 * KIB);
    memory.available_bytes = 64 * MIB;
    assert_true(plan_one(pp_memory_plan_write, layout, &memory).slot_bytes > 8 * 128 * KIB);
}

/* A slot may be about another shard than the one that is open: then it has the lists of 10,000 chunks for itself. */
static void test_memory__slots_of_several_shards_have_room_for_their_lists(void **state)
{
    size_t lists = 10000 * sizeof(pp_chunk_entry), i;
    (void)state;
    for (i = 0; i < 2; i++) {
        pp_memory_case memory = {.available_bytes = 64 * MIB, .threads = 1, .shard_count = 1};
        pp_memory_plan one = plan_one(planners[i], &made[1].layout, &memory);
        memory.shard_count = 2;
        assert_true(plan_one(planners[i], &made[1].layout, &memory).slot_bytes >= one.slot_bytes + lists);
    }
}

/* 64 chunks of 128 KiB, 8 to a window: one shard has 8 windows. A scalar has one. */
static void test_memory__there_are_no_more_slots_than_windows(void **state)
{
    pp_memory_case memory = {.available_bytes = 1024 * MIB, .threads = 16, .has_threads = true, .shard_count = 1};
    (void)state;
    assert_int_equal(plan_one(pp_memory_plan_write, &made[0].layout, &memory).slot_count, 8);
    assert_int_equal(plan_one(pp_memory_plan_write, &made[3].layout, &memory).slot_count, 1);
    assert_int_equal(plan_one(pp_memory_plan_read, &made[3].layout, &memory).slot_count, 1);
    memory.shard_count = 3;
    assert_int_equal(plan_one(pp_memory_plan_write, &made[0].layout, &memory).slot_count, 24);
    assert_int_equal(plan_one(pp_memory_plan_write, &made[3].layout, &memory).slot_count, 3);
}

static void test_memory__more_of_it_is_never_refused(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < ROUNDS; round++) {
        const pp_layout *layouts[DOCUMENTS];
        int count = choose_layouts(&random, layouts);
        pp_memory_case memory = choose_case(&random);
        planner plan_it = planners[round % 2];
        pp_memory_plan plan;
        if (plan_it(layouts, count, &memory, &plan) != PARAPET_OK)
            continue;
        memory.available_bytes += (size_t)test_random_between(&random, 0, (int64_t)MIB);
        assert_ok(plan_it(layouts, count, &memory, &plan));
        check_plan(&memory, &plan);
    }
}

static void test_memory__messages_are_whole_pages_from_16_kib_to_1_mib(void **state)
{
    int64_t limit;
    (void)state;
    assert_int_equal(pp_memory_fragment_bytes(0), 16 * KIB);
    assert_int_equal(pp_memory_fragment_bytes((int64_t)64 << 20), MIB);
    assert_int_equal(pp_memory_fragment_bytes((int64_t)1 << 40), MIB);
    for (limit = 0; limit < (int64_t)80 << 20; limit += 99991) {
        size_t bytes = pp_memory_fragment_bytes(limit);
        assert_true(bytes >= 16 * KIB && bytes <= MIB && bytes % PP_PAGE_BYTES == 0);
        assert_true(bytes == 16 * KIB || bytes <= (size_t)limit / 64);
        assert_true(pp_memory_client_bytes(bytes) >= bytes);
    }
}

/* What others hold and this rank receives: as much as the largest weight is over the mean one, and never more than
 * all of it. */
static void test_memory__of_lists_follows_the_largest_weight(void **state)
{
    const int even[4] = {8, 8, 8, 8}, uneven[4] = {8, 2, 1, 1};
    pp_turns turns;
    (void)state;
    assert_int_equal(pp_memory_others(1, 1, 100, NULL), 0);
    assert_int_equal(pp_memory_others(9, 4, 100, NULL), 3);
    assert_ok(pp_turns_init(&turns, even, 4));
    assert_int_equal(pp_memory_others(9, 4, 100, &turns), 3);
    pp_turns_clear(&turns);
    assert_ok(pp_turns_init(&turns, uneven, 4));
    assert_int_equal(pp_memory_others(1, 1, 100, &turns), 0);
    assert_int_equal(pp_memory_others(9, 4, 100, &turns), 6);
    assert_int_equal(pp_memory_others(9, 4, 2, &turns), 9);
    pp_turns_clear(&turns);
}

/* On one processor the ranks of this test share it; on many, as many more do the same. */
static void test_memory__a_thread_for_storage_pays_where_there_is_a_processor_or_a_wait(void **state)
{
    const pp_store memory = {.is_in_memory = true}, disk = {0};
    int processors = pp_thread_processors(), all = pp_thread_machine_processors();
    (void)state;
    assert_false(pp_memory_thread_pays(&memory, PP_READING, 1, processors / 2 + 1));
    assert_false(pp_memory_thread_pays(&memory, PP_WRITING, 1, processors / 2 + 1));
    assert_true(pp_memory_thread_pays(&memory, PP_WRITING, 1, processors / 2));
    assert_true(pp_memory_thread_pays(&memory, PP_WRITING, 2, processors));
    assert_true(pp_memory_thread_pays(&disk, PP_READING, 1, 4 * all - 1));
    assert_false(pp_memory_thread_pays(&disk, PP_READING, 1, 4 * all));
    assert_true(pp_memory_thread_pays(&disk, PP_READING, 2, 4 * all));
    assert_true(pp_memory_thread_pays(&disk, PP_WRITING, 1, 4 * all));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory__is_never_planned_beyond_what_there_is),
        cmocka_unit_test(test_memory__slots_follow_threads_where_there_is_plenty),
        cmocka_unit_test(test_memory__few_shards_are_open_where_others_may_take_them),
        cmocka_unit_test(test_memory__a_server_that_owns_nothing_plans_for_what_it_takes),
        cmocka_unit_test(test_memory__left_over_stages_the_same_for_several_ranks),
        cmocka_unit_test(test_memory__windows_shrink_where_there_is_little),
        cmocka_unit_test(test_memory__slots_of_several_shards_have_room_for_their_lists),
        cmocka_unit_test(test_memory__there_are_no_more_slots_than_windows),
        cmocka_unit_test(test_memory__more_of_it_is_never_refused),
        cmocka_unit_test(test_memory__messages_are_whole_pages_from_16_kib_to_1_mib),
        cmocka_unit_test(test_memory__of_lists_follows_the_largest_weight),
        cmocka_unit_test(test_memory__a_thread_for_storage_pays_where_there_is_a_processor_or_a_wait),
    };
    return cmocka_run_group_tests(tests, open_layouts, close_layouts);
}
