/* Waiting without occupying a core that others need. */
#include "support.h"

#include "base/clock.h"
#include "comm/wait.h"

enum { YIELDS = 24, MOST_NS = 1000000, CROWDED_WAITS = 256 };

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

/* Each look at the clock comes so much later than the one before. */
static int64_t look_ns, seen_ns;

static int64_t look(void *context)
{
    (void)context;
    return seen_ns += look_ns;
}

/* How many waits sleep after a yield that took so long. */
static int sleeps_after(int64_t yield_ns)
{
    static const pp_clock clock = {.now_ns = look};
    pp_wait wait = {0};
    int sleeps = 0;
    look_ns = yield_ns;
    pp_clock_use(&clock);
    pp_wait_yield();
    pp_clock_use(NULL);
    for (; pp_wait_next(&wait) > 0; sleeps++)
        pp_wait_reset(&wait);
    return sleeps;
}

static void test_wait__sleeps_for_a_while_if_a_yield_gave_the_core_away(void **state)
{
    (void)state;
    assert_int_equal(sleeps_after(199000), 0);
    assert_int_equal(sleeps_after(201000), CROWDED_WAITS);
    assert_int_equal(sleeps_after(199000), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wait__yields_then_sleeps_for_growing_times),
        cmocka_unit_test(test_wait__sleeps_for_a_while_if_a_yield_gave_the_core_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
