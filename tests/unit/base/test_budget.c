#include "support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/budget.h"
#include "base/status.h"

static int refuse_all(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return 1;
}

static void test_budget__what_is_reserved_is_not_available(void **state)
{
    pp_budget budget;
    (void)state;
    pp_budget_init(&budget, 1000);
    assert_int_equal(pp_budget_available(&budget), 1000);
    assert_ok(pp_budget_reserve(&budget, 600, "chunk buffers"));
    assert_int_equal(pp_budget_available(&budget), 400);
    assert_ok(pp_budget_reserve(&budget, 400, "chunk buffers"));
    assert_int_equal(pp_budget_available(&budget), 0);
    assert_ok(pp_budget_reserve(&budget, 0, "nothing"));
    pp_budget_release(&budget, 600);
    pp_budget_release(&budget, 400);
    assert_int_equal(pp_budget_available(&budget), 1000);
}

static void test_budget__refusal_names_purpose_limit_and_what_would_do(void **state)
{
    pp_budget budget;
    (void)state;
    pp_budget_init(&budget, 1000);
    assert_ok(pp_budget_reserve(&budget, 700, "chunk buffers"));
    assert_fails(pp_budget_reserve(&budget, 301, "shard buffers"), PARAPET_ERR_MEMORY, "shard buffers need 301");
    assert_non_null(strstr(pp_failure_message(), "1000 has only 300 left"));
    assert_non_null(strstr(pp_failure_message(), "at least 1001"));
    assert_int_equal(pp_budget_available(&budget), 300);
    assert_int_equal(pp_budget_peak(&budget), 700);
}

static void test_budget__a_sum_beyond_all_numbers_is_refused(void **state)
{
    pp_budget budget;
    (void)state;
    pp_budget_init(&budget, SIZE_MAX);
    assert_ok(pp_budget_reserve(&budget, 10, "a"));
    assert_fails(pp_budget_reserve(&budget, SIZE_MAX - 9, "b"), PARAPET_ERR_MEMORY, "b need");
    assert_ok(pp_budget_reserve(&budget, SIZE_MAX - 10, "c"));
    assert_int_equal(pp_budget_available(&budget), 0);
}

static void test_budget__peak_is_the_most_ever_in_use(void **state)
{
    pp_budget budget;
    (void)state;
    pp_budget_init(&budget, 100);
    assert_int_equal(pp_budget_peak(&budget), 0);
    assert_ok(pp_budget_reserve(&budget, 40, "a"));
    assert_ok(pp_budget_reserve(&budget, 30, "b"));
    pp_budget_release(&budget, 40);
    assert_ok(pp_budget_reserve(&budget, 20, "c"));
    assert_int_equal(pp_budget_peak(&budget), 70);
}

#define GRANTED_COUNT 5000

/* What the threads share: at most two of their reservations fit the limit. */
typedef struct contest {
    pp_budget budget;
    atomic_int holders;
    atomic_int most_holders;
} contest;

static void hold(contest *shared)
{
    int holders = atomic_fetch_add(&shared->holders, 1) + 1, most = atomic_load(&shared->most_holders);
    while (holders > most && !atomic_compare_exchange_weak(&shared->most_holders, &most, holders))
        ;
    atomic_fetch_sub(&shared->holders, 1);
}

/* Goes on until it was granted often enough, however often it is refused: two threads that the system does not let
 * run may hold all there is for as long as it likes. */
static void *reserve_often(void *argument)
{
    contest *shared = argument;
    int granted = 0;
    while (granted < GRANTED_COUNT) {
        if (pp_budget_reserve(&shared->budget, 3, "a thread's buffers") != PARAPET_OK) {
            (void)sched_yield();
            continue;
        }
        hold(shared);
        pp_budget_release(&shared->budget, 3);
        granted++;
    }
    return NULL;
}

static void test_budget__threads_never_exceed_the_limit_and_lose_nothing(void **state)
{
    contest shared = {.holders = 0};
    pthread_t threads[4];
    int i;
    (void)state;
    pp_budget_init(&shared.budget, 7);
    for (i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, reserve_often, &shared), 0);
    for (i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(pp_budget_available(&shared.budget), 7);
    assert_in_range(pp_budget_peak(&shared.budget), 3, 6);
    assert_in_range(atomic_load(&shared.most_holders), 1, 2);
}

static void test_budget__a_buffer_is_aligned_reserved_in_pages_and_given_back(void **state)
{
    long live = pp_memory_live_count();
    pp_budget budget;
    pp_buffer buffer = {0};
    (void)state;
    pp_budget_init(&budget, 3 * PP_PAGE_BYTES);
    assert_ok(pp_buffer_init(&buffer, &budget, PP_PAGE_BYTES + 1, "chunk buffers"));
    assert_int_equal((uintptr_t)buffer.data % PP_PAGE_BYTES, 0);
    assert_int_equal(buffer.capacity, 2 * PP_PAGE_BYTES);
    assert_int_equal(pp_budget_available(&budget), PP_PAGE_BYTES);
    memset(buffer.data, 1, buffer.capacity);
    pp_buffer_free(&buffer);
    assert_null(buffer.data);
    assert_int_equal(pp_budget_available(&budget), 3 * PP_PAGE_BYTES);
    pp_buffer_free(&buffer);
    assert_int_equal(pp_budget_available(&budget), 3 * PP_PAGE_BYTES);
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_budget__a_buffer_grows_only_when_it_must(void **state)
{
    pp_budget budget;
    pp_buffer buffer = {0};
    unsigned char *before;
    (void)state;
    pp_budget_init(&budget, 4 * PP_PAGE_BYTES);
    assert_ok(pp_buffer_init(&buffer, &budget, 2 * PP_PAGE_BYTES, "chunk buffers"));
    before = buffer.data;
    assert_ok(pp_buffer_ensure(&buffer, 2 * PP_PAGE_BYTES, "chunk buffers"));
    assert_ok(pp_buffer_ensure(&buffer, 0, "chunk buffers"));
    assert_ptr_equal(buffer.data, before);
    /* The old one is given back first: both together would not fit. */
    assert_ok(pp_buffer_ensure(&buffer, 3 * PP_PAGE_BYTES, "chunk buffers"));
    assert_int_equal(buffer.capacity, 3 * PP_PAGE_BYTES);
    assert_int_equal(pp_budget_available(&budget), PP_PAGE_BYTES);
    assert_fails(pp_buffer_ensure(&buffer, 5 * PP_PAGE_BYTES, "chunk buffers"), PARAPET_ERR_MEMORY, "20480");
    assert_null(buffer.data);
    assert_int_equal(pp_budget_available(&budget), 4 * PP_PAGE_BYTES);
    assert_ok(pp_buffer_ensure(&buffer, 1, "chunk buffers"));
    pp_buffer_free(&buffer);
}

static void test_budget__a_buffer_that_cannot_be_had_reserves_nothing(void **state)
{
    pp_budget budget;
    pp_buffer buffer = {0};
    (void)state;
    pp_budget_init(&budget, SIZE_MAX);
    assert_fails(pp_buffer_init(&buffer, &budget, SIZE_MAX, "huge buffers"), PARAPET_ERR_MEMORY, "huge buffers");
    assert_null(buffer.data);
    pp_memory_hook_set(refuse_all, NULL);
    assert_fails(pp_buffer_init(&buffer, &budget, 100, "chunk buffers"), PARAPET_ERR_MEMORY, "4096");
    pp_memory_hook_set(NULL, NULL);
    assert_null(buffer.data);
    assert_int_equal(pp_budget_available(&budget), SIZE_MAX);
    pp_buffer_free(&buffer);
}

#define SPARE ((size_t)256 << 10)

/* Reserves a buffer and gives it back. */
static unsigned char *pass_through(pp_budget *budget, size_t bytes)
{
    pp_buffer buffer = {0};
    unsigned char *data;
    assert_ok(pp_buffer_init(&buffer, budget, bytes, "chunk buffers"));
    data = buffer.data;
    memset(data, 1, buffer.capacity);
    pp_buffer_free(&buffer);
    return data;
}

static void test_budget__a_freed_buffer_serves_the_next_of_its_size(void **state)
{
    long live = pp_memory_live_count();
    pp_budget budget;
    unsigned char *first;
    (void)state;
    pp_budget_init(&budget, 8 * SPARE);
    pp_budget_keep_spares(&budget, 4 * SPARE);
    first = pass_through(&budget, SPARE);
    assert_int_equal(pp_budget_used(&budget), 0);
    assert_int_equal(pp_memory_live_count(), live + 1);
    pp_memory_hook_set(refuse_all, NULL);
    assert_ptr_equal(pass_through(&budget, SPARE), first);
    pp_memory_hook_set(NULL, NULL);
    (void)pass_through(&budget, 2 * SPARE);
    (void)pass_through(&budget, PP_PAGE_BYTES); /* small ones are not kept */
    assert_int_equal(pp_memory_live_count(), live + 2);
    assert_int_equal(pp_budget_peak(&budget), 2 * SPARE);
    pp_budget_clear(&budget);
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_budget__spares_give_way_to_what_is_needed(void **state)
{
    long live = pp_memory_live_count();
    pp_budget budget;
    (void)state;
    pp_budget_init(&budget, 4 * SPARE);
    pp_budget_keep_spares(&budget, 4 * SPARE);
    (void)pass_through(&budget, SPARE);
    (void)pass_through(&budget, 2 * SPARE);
    assert_int_equal(pp_memory_live_count(), live + 2);
    assert_int_equal(pp_budget_available(&budget), 4 * SPARE);
    assert_ok(pp_budget_reserve(&budget, 2 * SPARE, "something else")); /* the oldest goes */
    assert_int_equal(pp_memory_live_count(), live + 1);
    assert_ok(pp_budget_reserve(&budget, 2 * SPARE, "something else"));
    assert_int_equal(pp_memory_live_count(), live);
    assert_fails(pp_budget_reserve(&budget, 1, "too much"), PARAPET_ERR_MEMORY, "has only 0 left");
    pp_budget_release(&budget, 4 * SPARE);
    pp_budget_clear(&budget);
}

static void test_budget__spares_are_few_and_the_newest(void **state)
{
    long live = pp_memory_live_count();
    pp_budget budget;
    int i;
    (void)state;
    pp_budget_init(&budget, 100 * SPARE);
    pp_budget_keep_spares(&budget, 100 * SPARE);
    for (i = 0; i < 2 * PP_SPARE_COUNT; i++)
        (void)pass_through(&budget, SPARE + (size_t)i * PP_PAGE_BYTES);
    assert_int_equal(pp_memory_live_count(), live + PP_SPARE_COUNT);
    pp_memory_hook_set(refuse_all, NULL);
    for (i = PP_SPARE_COUNT; i < 2 * PP_SPARE_COUNT; i++)
        (void)pass_through(&budget, SPARE + (size_t)i * PP_PAGE_BYTES);
    pp_memory_hook_set(NULL, NULL);
    (void)pass_through(&budget, 100 * SPARE); /* it fills the limit */
    assert_int_equal(pp_memory_live_count(), live + 1);
    pp_budget_clear(&budget);
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_budget__a_refused_buffer_leaves_the_spare(void **state)
{
    long live = pp_memory_live_count();
    pp_budget budget;
    pp_buffer buffer = {0};
    (void)state;
    pp_budget_init(&budget, 2 * SPARE);
    pp_budget_keep_spares(&budget, 2 * SPARE);
    (void)pass_through(&budget, SPARE);
    assert_ok(pp_budget_reserve(&budget, SPARE, "something else"));
    budget.limit_bytes = SPARE;
    assert_fails(pp_buffer_init(&buffer, &budget, SPARE, "chunk buffers"), PARAPET_ERR_MEMORY, "chunk buffers");
    assert_int_equal(pp_memory_live_count(), live + 1);
    pp_budget_clear(&budget);
    assert_int_equal(pp_memory_live_count(), live);
}

/* ---- Loans ---- */

typedef struct kept_thing {
    pp_loan loan;
    bool is_there;
} kept_thing;

static void forget(pp_loan *loan)
{
    ((kept_thing *)(void *)loan)->is_there = false;
}

static void keep(pp_budget *budget, kept_thing *thing, size_t bytes)
{
    *thing = (kept_thing){.loan = {.bytes = bytes, .give_back = forget}, .is_there = true};
    assert_ok(pp_budget_reserve(budget, bytes, "something that is kept"));
    pp_budget_lend(budget, &thing->loan);
}

static void test_budget__what_is_lent_gives_way_the_oldest_first(void **state)
{
    kept_thing things[3];
    pp_budget budget;
    int i;
    (void)state;
    pp_budget_init(&budget, 1000);
    for (i = 0; i < 3; i++)
        keep(&budget, &things[i], 300);
    assert_int_equal(pp_budget_available(&budget), 1000);
    assert_ok(pp_budget_reserve(&budget, 100, "what fits beside it"));
    assert_true(things[0].is_there && things[1].is_there && things[2].is_there);
    assert_ok(pp_budget_reserve(&budget, 400, "what does not"));
    assert_true(!things[0].is_there && !things[1].is_there && things[2].is_there);
    assert_ok(pp_budget_reserve(&budget, 500, "all that is left"));
    assert_false(things[2].is_there);
    assert_fails(pp_budget_reserve(&budget, 1, "too much"), PARAPET_ERR_MEMORY, "too much");
}

static void test_budget__what_is_reclaimed_is_in_use(void **state)
{
    kept_thing things[2];
    pp_budget budget;
    (void)state;
    pp_budget_init(&budget, 1000);
    keep(&budget, &things[0], 300);
    keep(&budget, &things[1], 300);
    assert_true(pp_budget_reclaim(&budget, &things[0].loan));
    assert_false(pp_budget_reclaim(&budget, &things[0].loan));
    assert_int_equal(pp_budget_available(&budget), 700);
    assert_ok(pp_budget_reserve(&budget, 700, "the rest"));
    assert_true(things[0].is_there && !things[1].is_there);
    assert_false(pp_budget_reclaim(&budget, &things[1].loan));
    assert_int_equal(pp_budget_used(&budget), 1000);
    pp_budget_lend(&budget, &things[0].loan);
    assert_int_equal(pp_budget_used(&budget), 700);
    assert_int_equal(pp_budget_peak(&budget), 1000);
    pp_budget_clear(&budget);
    assert_false(things[0].is_there);
}

static void test_budget__spares_give_way_before_loans(void **state)
{
    kept_thing thing;
    pp_budget budget;
    (void)state;
    pp_budget_init(&budget, 3 * SPARE);
    pp_budget_keep_spares(&budget, 3 * SPARE);
    keep(&budget, &thing, SPARE);
    (void)pass_through(&budget, SPARE);
    assert_ok(pp_budget_reserve(&budget, 2 * SPARE, "something else"));
    assert_true(thing.is_there);
    assert_int_equal(budget.spare_count, 0);
    assert_ok(pp_budget_reserve(&budget, SPARE, "the rest"));
    assert_false(thing.is_there);
    pp_budget_clear(&budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budget__what_is_reserved_is_not_available),
        cmocka_unit_test(test_budget__refusal_names_purpose_limit_and_what_would_do),
        cmocka_unit_test(test_budget__a_sum_beyond_all_numbers_is_refused),
        cmocka_unit_test(test_budget__peak_is_the_most_ever_in_use),
        cmocka_unit_test(test_budget__threads_never_exceed_the_limit_and_lose_nothing),
        cmocka_unit_test(test_budget__a_buffer_is_aligned_reserved_in_pages_and_given_back),
        cmocka_unit_test(test_budget__a_buffer_grows_only_when_it_must),
        cmocka_unit_test(test_budget__a_buffer_that_cannot_be_had_reserves_nothing),
        cmocka_unit_test(test_budget__a_freed_buffer_serves_the_next_of_its_size),
        cmocka_unit_test(test_budget__spares_give_way_to_what_is_needed),
        cmocka_unit_test(test_budget__spares_are_few_and_the_newest),
        cmocka_unit_test(test_budget__a_refused_buffer_leaves_the_spare),
        cmocka_unit_test(test_budget__what_is_lent_gives_way_the_oldest_first),
        cmocka_unit_test(test_budget__what_is_reclaimed_is_in_use),
        cmocka_unit_test(test_budget__spares_give_way_before_loans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
