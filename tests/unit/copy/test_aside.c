/* Work on a thread of its own, on a machine whose clock is set. */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

#include "copy/aside.h"

/* The clock of the day is an hour ahead whenever somebody reads it: as if it was set back after that. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME)
        now->tv_sec += 3600;
    return result;
}

enum { LOOKS = 3, PAUSES_MOST = 2000 };

static parapet_status work(void *context)
{
    atomic_int *looks = context;
    int pauses;
    for (pauses = 0; atomic_load(looks) < LOOKS && pauses < PAUSES_MOST; pauses++)
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return pp_fail(PARAPET_ERR_IO, "what the work says");
}

static void look(void *context)
{
    atomic_int *looks = context;
    atomic_fetch_add(looks, 1);
}

static void test_aside__looks_while_it_works_though_the_clock_is_set_back(void **state)
{
    atomic_int looks = 0;
    (void)state;
    assert_int_equal(pp_aside_run(&(pp_aside){&looks, work, look}), PARAPET_ERR_IO);
    assert_string_equal(parapet_error_message(), "what the work says");
    assert_true(atomic_load(&looks) >= LOOKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aside__looks_while_it_works_though_the_clock_is_set_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
