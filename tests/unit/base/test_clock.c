/* The clocks: the system's, one that a test moves by hand, and what is printed of the day. */
#include "support.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "hand_clock.h"

enum { MS = 1000000 };

static void ignore(int number)
{
    (void)number;
}

/* Signals wake a sleeper, and it sleeps again. How much later it wakes is the machine's affair. */
static void test_clock__of_the_system_sleeps_until_the_time_has_come(void **state)
{
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    struct sigaction interrupts = {.sa_handler = ignore}, before;
    int64_t due = pp_clock_now_ns() + 20 * MS;
    (void)state;
    assert_int_equal(sigaction(SIGALRM, &interrupts, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    pp_clock_sleep_until_ns(due);
    assert_true(pp_clock_now_ns() >= due);
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;

/* Nobody signals: that it comes back at all is what is tested. */
static void test_clock__of_the_system_ends_a_wait_for_what_does_not_come(void **state)
{
    int64_t due = pp_clock_now_ns() + 2 * MS;
    (void)state;
    pp_clock_init_condition(&changed);
    (void)pthread_mutex_lock(&lock);
    while (pp_clock_now_ns() < due)
        pp_clock_wait(&changed, &lock, MS);
    (void)pthread_mutex_unlock(&lock);
    (void)pthread_cond_destroy(&changed);
}

static void test_clock__by_hand_moves_only_by_sleeping(void **state)
{
    int64_t start;
    (void)state;
    hand_clock_take(false);
    start = pp_clock_now_ns();
    pp_clock_pause_ns(5 * MS);
    assert_int_equal(pp_clock_now_ns(), start);
    pp_clock_sleep_until_ns(start + 7 * MS);
    pp_clock_sleep_until_ns(start + 3 * MS);
    assert_int_equal(pp_clock_now_ns(), start + 7 * MS);
    assert_true(pp_clock_seconds() * 1e9 - (double)start > 6.9 * MS);
    hand_clock_drop();
    assert_true(pp_clock_now_ns() != start + 7 * MS);
}

static void test_clock__by_hand_may_let_pauses_pass_too(void **state)
{
    int64_t start;
    (void)state;
    hand_clock_take(true);
    start = pp_clock_now_ns();
    pp_clock_pause_ns(5 * MS);
    pp_clock_init_condition(&changed);
    (void)pthread_mutex_lock(&lock);
    pp_clock_wait(&changed, &lock, 4 * MS);
    (void)pthread_mutex_unlock(&lock);
    (void)pthread_cond_destroy(&changed);
    assert_int_equal(pp_clock_now_ns(), start + 9 * MS);
    hand_clock_drop();
}

static void test_clock__of_the_day_is_set_without_moving_the_other(void **state)
{
    int64_t start, day;
    (void)state;
    hand_clock_take(false);
    start = pp_clock_now_ns(), day = pp_clock_wall_ns();
    hand_clock_set_day(-3600 * PP_SECOND_NS);
    assert_int_equal(pp_clock_wall_ns(), day - 3600 * PP_SECOND_NS);
    assert_int_equal(pp_clock_now_ns(), start);
    hand_clock_drop();
}

static void test_clock__days_are_printed_as_calendars_have_them(void **state)
{
    char text[PP_CLOCK_TEXT_BYTES];
    (void)state;
    pp_clock_print(0, text);
    assert_string_equal(text, "1970-01-01T00:00:00Z");
    pp_clock_print(HAND_CLOCK_WALL_NS / PP_SECOND_NS, text);
    assert_string_equal(text, "2026-01-01T00:00:00Z");
    pp_clock_print(INT64_MAX, text);
    assert_string_equal(text, "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock__of_the_system_sleeps_until_the_time_has_come),
        cmocka_unit_test(test_clock__of_the_system_ends_a_wait_for_what_does_not_come),
        cmocka_unit_test(test_clock__by_hand_moves_only_by_sleeping),
        cmocka_unit_test(test_clock__by_hand_may_let_pauses_pass_too),
        cmocka_unit_test(test_clock__of_the_day_is_set_without_moving_the_other),
        cmocka_unit_test(test_clock__days_are_printed_as_calendars_have_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
