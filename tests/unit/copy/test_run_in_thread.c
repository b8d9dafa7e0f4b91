/* Work on a thread of its own. */
#include <stdatomic.h>

#include "base/status.h"
#include "support.h"

#include "base/clock.h"
#include "copy/run_in_thread.h"

enum { LOOKS = 3, PAUSES_MOST = 60000 };

static parapet_status work(void *context)
{
    atomic_int *looks = context;
    int pauses;
    for (pauses = 0; atomic_load(looks) < LOOKS && pauses < PAUSES_MOST; pauses++)
        pp_clock_pause_ns(1000000);
    return pp_fail(PARAPET_ERR_IO, "what the work says");
}

static void look(void *context)
{
    atomic_int *looks = context;
    atomic_fetch_add(looks, 1);
}

static void test_run_in_thread__looks_while_it_works(void **state)
{
    atomic_int looks = 0;
    (void)state;
    assert_int_equal(pp_run_in_thread(&(pp_thread_work){&looks, work, look}), PARAPET_ERR_IO);
    assert_string_equal(parapet_error_message(), "what the work says");
    assert_true(atomic_load(&looks) >= LOOKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_in_thread__looks_while_it_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
