#include "base/portions.h"

#include "support.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { THREADS = 6, TURNS = 500, TOTAL = 1000 };

static void test_portions__gives_what_is_wanted_or_what_is_left(void **state)
{
    pp_portions portions;
    (void)state;
    pp_portions_init(&portions, TOTAL);
    assert_int_equal(pp_portions_take(&portions, 100, 700), 700);
    assert_int_equal(pp_portions_take(&portions, 100, 700), 300);
    pp_portions_give_back(&portions, 700);
    assert_int_equal(pp_portions_take(&portions, 100, 50), 100);
    pp_portions_give_back(&portions, 100);
    pp_portions_give_back(&portions, 300);
    assert_int_equal(pp_portions_take(&portions, TOTAL, TOTAL), TOTAL);
    pp_portions_give_back(&portions, TOTAL);
    pp_portions_destroy(&portions);
}

typedef struct customer {
    pp_portions *portions;
    size_t least, wanted, taken;
    atomic_bool is_served;
} customer;

static void *take_once(void *context)
{
    customer *self = context;
    self->taken = pp_portions_take(self->portions, self->least, self->wanted);
    atomic_store(&self->is_served, true);
    return NULL;
}

static void wait_until_queued(pp_portions *portions, uint64_t number)
{
    uint64_t next;
    do {
        (void)sched_yield();
        (void)pthread_mutex_lock(&portions->mutex);
        next = portions->next_number;
        (void)pthread_mutex_unlock(&portions->mutex);
    } while (next < number);
}

static void test_portions__one_that_needs_much_is_not_passed_over(void **state)
{
    pp_portions portions;
    customer large = {.portions = &portions, .least = 800, .wanted = 900};
    customer small = {.portions = &portions, .least = 10, .wanted = 10};
    pthread_t first, second;
    (void)state;
    pp_portions_init(&portions, TOTAL);
    assert_int_equal(pp_portions_take(&portions, 500, 500), 500);
    assert_int_equal(pthread_create(&first, NULL, take_once, &large), 0);
    wait_until_queued(&portions, 2);
    assert_int_equal(pthread_create(&second, NULL, take_once, &small), 0);
    wait_until_queued(&portions, 3);
    assert_false(atomic_load(&large.is_served));
    assert_false(atomic_load(&small.is_served));
    pp_portions_give_back(&portions, 500);
    assert_int_equal(pthread_join(first, NULL), 0);
    assert_int_equal(pthread_join(second, NULL), 0);
    assert_int_equal(large.taken, 900);
    assert_int_equal(small.taken, 10);
    pp_portions_destroy(&portions);
}

typedef struct crowd {
    pp_portions portions;
    atomic_size_t in_use;
    atomic_bool has_exceeded;
} crowd;

static void *take_often(void *context)
{
    crowd *all = context;
    test_random random = {.state = (uint64_t)(uintptr_t)&random};
    int i;
    for (i = 0; i < TURNS; i++) {
        size_t least = (size_t)test_random_between(&random, 1, TOTAL);
        size_t taken = pp_portions_take(&all->portions, least, 2 * least);
        if (atomic_fetch_add(&all->in_use, taken) + taken > TOTAL || taken < least || taken > 2 * least)
            atomic_store(&all->has_exceeded, true);
        if (i % 8 == 0)
            (void)sched_yield();
        atomic_fetch_sub(&all->in_use, taken);
        pp_portions_give_back(&all->portions, taken);
    }
    return NULL;
}

static void test_portions__many_threads_never_have_more_than_all_of_it(void **state)
{
    crowd all = {0};
    pthread_t threads[THREADS];
    int i;
    (void)state;
    pp_portions_init(&all.portions, TOTAL);
    for (i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_often, &all), 0);
    for (i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_false(atomic_load(&all.has_exceeded));
    assert_int_equal(all.portions.free_bytes, TOTAL);
    pp_portions_destroy(&all.portions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_portions__gives_what_is_wanted_or_what_is_left),
        cmocka_unit_test(test_portions__one_that_needs_much_is_not_passed_over),
        cmocka_unit_test(test_portions__many_threads_never_have_more_than_all_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
