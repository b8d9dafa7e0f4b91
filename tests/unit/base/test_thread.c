#include "base/thread.h"

#include "support.h"

#include <sched.h>
#include <signal.h>

static void *tell_signals(void *context)
{
    (void)pthread_sigmask(SIG_BLOCK, NULL, context);
    return NULL;
}

static void test_thread__signals_from_outside_are_for_the_program(void **state)
{
    static const int foreign[] = {SIGINT, SIGTERM, SIGALRM, SIGCHLD, SIGUSR1, SIGPIPE};
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF};
    sigset_t before, there, after;
    pthread_t thread;
    size_t i;
    (void)state;
    (void)pthread_sigmask(SIG_BLOCK, NULL, &before);
    assert_true(pp_thread_start(&thread, tell_signals, &there));
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)pthread_sigmask(SIG_BLOCK, NULL, &after);
    for (i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        assert_true(sigismember(&there, foreign[i]));
        assert_int_equal(sigismember(&after, foreign[i]), sigismember(&before, foreign[i]));
    }
    for (i = 0; i < sizeof own / sizeof own[0]; i++)
        assert_false(sigismember(&there, own[i]));
}

static void test_thread__processors_are_those_that_may_be_used(void **state)
{
    cpu_set_t before, one;
    size_t cpu = 0;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(pp_thread_processors(), CPU_COUNT(&before));
    while (!CPU_ISSET(cpu, &before))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(pp_thread_processors(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thread__signals_from_outside_are_for_the_program),
        cmocka_unit_test(test_thread__processors_are_those_that_may_be_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
