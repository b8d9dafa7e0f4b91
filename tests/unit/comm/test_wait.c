/* Waiting without occupying a core that others need. */
#include "support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "comm/wait.h"

enum { YIELDS = 24, MOST_NS = 1000000, CROWDED_WAITS = 256, YIELDS_MOST = 10000 };

static void test_wait__yields_then_sleeps_for_growing_times(void **state)
{
    pp_wait wait = {0};
    long before = 0, now;
    int i;
    (void)state;
    for (i = 0; i < YIELDS; i++)
        assert_int_equal(pp_wait_next(&wait), 0);
    for (i = 0; i < 200; i++, before = now) {
        now = pp_wait_next(&wait);
        assert_true(now > 0 && now >= before && now <= MOST_NS);
    }
    assert_int_equal(now, MOST_NS);
    pp_wait_reset(&wait);
    assert_int_equal(pp_wait_next(&wait), 0);
}

static atomic_bool is_over;

static void *keep_core(void *unused)
{
    while (!atomic_load(&is_over))
        ;
    return unused;
}

/* All threads of this process on the core it is on now, which they share from then on. */
static void share_one_core(cpu_set_t *before)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    assert_int_equal(sched_getaffinity(0, sizeof *before, before), 0);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

static void test_wait__sleeps_for_a_while_if_a_yield_gave_the_core_away(void **state)
{
    pp_wait wait = {0};
    cpu_set_t before;
    pthread_t thread;
    int yields = 0, sleeps = 0;
    (void)state;
    share_one_core(&before);
    assert_int_equal(pthread_create(&thread, NULL, keep_core, NULL), 0);
    while (pp_wait_next(&wait) == 0 && yields++ < YIELDS_MOST) {
        pp_wait_yield();
        pp_wait_reset(&wait);
    }
    atomic_store(&is_over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_true(yields < YIELDS_MOST);
    for (; pp_wait_next(&wait) > 0; sleeps++)
        pp_wait_reset(&wait);
    assert_int_equal(sleeps, CROWDED_WAITS - 1); /* one was taken above */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wait__yields_then_sleeps_for_growing_times),
        cmocka_unit_test(test_wait__sleeps_for_a_while_if_a_yield_gave_the_core_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
