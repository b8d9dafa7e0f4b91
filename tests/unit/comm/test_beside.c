/* One function at a time beside the program: whoever completes it, on any thread, finds it done. */
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>

#include "comm/beside.h"

enum { TURNS = 200 };

typedef struct bed {
    pp_comm *comm;
    atomic_bool is_over;
    bool was_beside;
    int count; /* how often it has run */
} bed;

static void count_up(void *context)
{
    bed *all = context;
    all->was_beside = pp_comm_is_beside(all->comm);
    all->count++;
}

static void run_and_complete(bed *all, bool has_thread)
{
    int before = all->count;
    pp_comm_run_beside(all->comm, count_up, all, has_thread);
    pp_comm_complete(all->comm);
    assert_int_equal(all->count, before + 1);
    assert_true(all->was_beside);
    assert_false(pp_comm_is_beside(all->comm));
}

static void test_beside__is_done_when_completed(void **state)
{
    bed all = {0};
    (void)state;
    assert_ok(pp_comm_build_alone(&all.comm));
    run_and_complete(&all, true);
    run_and_complete(&all, false);
    pp_comm_free(all.comm);
}

static void *complete_until_over(void *context)
{
    bed *all = context;
    while (!atomic_load(&all->is_over))
        pp_comm_complete(all->comm);
    return NULL;
}

static void test_beside__other_threads_complete_it_too(void **state)
{
    bed all = {0};
    pthread_t other;
    int turn;
    (void)state;
    assert_ok(pp_comm_build_alone(&all.comm));
    assert_int_equal(pthread_create(&other, NULL, complete_until_over, &all), 0);
    for (turn = 0; turn < TURNS; turn++)
        run_and_complete(&all, true);
    atomic_store(&all.is_over, true);
    assert_int_equal(pthread_join(other, NULL), 0);
    pp_comm_free(all.comm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beside__is_done_when_completed),
        cmocka_unit_test(test_beside__other_threads_complete_it_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
