/* What is started runs, at once with others, and once each; threads are kept, and are not there after a fork. */
#include "base/pool.h"

#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"

#define THREADS 5

typedef struct errand {
    pthread_barrier_t *meeting; /* NULL: alone */
    pthread_t thread;
    atomic_int turns;
} errand;

static void run(void *context)
{
    errand *self = context;
    self->thread = pthread_self();
    atomic_fetch_add(&self->turns, 1);
    if (self->meeting != NULL)
        (void)pthread_barrier_wait(self->meeting);
}

static void run_together(pp_pool *pool, errand *errands, int count)
{
    pthread_barrier_t meeting;
    pp_pool_thread *threads[THREADS];
    int i;
    assert_int_equal(pthread_barrier_init(&meeting, NULL, (unsigned)count), 0);
    for (i = 0; i < count; i++) {
        errands[i].meeting = &meeting;
        assert_ok(pp_pool_start(pool, &threads[i], run, &errands[i]));
    }
    for (i = 0; i < count; i++)
        pp_pool_join(threads[i]);
    (void)pthread_barrier_destroy(&meeting);
}

static bool is_among(pthread_t thread, const errand *errands)
{
    int i;
    for (i = 0; i < THREADS; i++)
        if (pthread_equal(thread, errands[i].thread))
            return true;
    return false;
}

static void test_pool__runs_at_once_and_keeps_its_threads(void **state)
{
    errand first[THREADS] = {{0}}, later = {0};
    long live = pp_memory_live_count();
    long kept;
    pp_pool *pool;
    pp_pool_thread *thread;
    int turn, i;
    (void)state;
    assert_ok(pp_pool_build(&pool));
    run_together(pool, first, THREADS);
    kept = pp_memory_live_count();
    for (turn = 1; turn <= 100; turn++) {
        assert_ok(pp_pool_start(pool, &thread, run, &later));
        pp_pool_join(thread);
        assert_int_equal(atomic_load(&later.turns), turn);
        assert_true(is_among(later.thread, first));
        run_together(pool, first, 1 + turn % THREADS);
    }
    assert_int_equal(pp_memory_live_count(), kept);
    for (turn = 0, i = 0; i < THREADS; i++)
        turn += atomic_load(&first[i].turns);
    assert_int_equal(turn, THREADS + 100 * (1 + THREADS) / 2);
    pp_pool_free(pool);
    assert_int_equal(pp_memory_live_count(), live);
}

static int refuse_all(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return 1;
}

static void test_pool__says_that_there_is_no_other_thread(void **state)
{
    errand errands[2] = {{0}};
    pthread_barrier_t meeting;
    pp_pool *pool;
    pp_pool_thread *thread, *other;
    (void)state;
    assert_ok(pp_pool_build(&pool));
    assert_int_equal(pthread_barrier_init(&meeting, NULL, 2), 0);
    errands[0].meeting = &meeting;
    assert_ok(pp_pool_start(pool, &thread, run, &errands[0]));
    pp_memory_hook_set(refuse_all, NULL);
    assert_fails(pp_pool_start(pool, &other, run, &errands[1]), PARAPET_ERR_MEMORY, "memory");
    pp_memory_hook_set(NULL, NULL);
    assert_null(other);
    (void)pthread_barrier_wait(&meeting);
    pp_pool_join(thread);
    assert_int_equal(atomic_load(&errands[1].turns), 0);
    (void)pthread_barrier_destroy(&meeting);
    pp_pool_free(pool);
}

/* The thread sanitizer ends a child that starts threads. */
#if !defined(__SANITIZE_THREAD__)

/* Returns only if all is well. */
static void go_on_in_child(pp_pool *pool)
{
    errand there = {0};
    pp_pool_thread *thread;
    (void)alarm(120); /* a thread that is not there would be waited for for ever */
    if (pp_pool_start(pool, &thread, run, &there) != PARAPET_OK)
        _exit(1);
    pp_pool_join(thread);
    if (atomic_load(&there.turns) != 1)
        _exit(2);
    pp_pool_free(pool);
}

static void test_pool__has_other_threads_in_a_child(void **state)
{
    errand here = {0};
    pp_pool *pool;
    pp_pool_thread *thread;
    pid_t child;
    int outcome = -1;
    (void)state;
    assert_ok(pp_pool_build(&pool));
    assert_ok(pp_pool_start(pool, &thread, run, &here));
    pp_pool_join(thread);
    assert_true((child = fork()) >= 0);
    if (child == 0) {
        go_on_in_child(pool);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_true(WIFEXITED(outcome));
    assert_int_equal(WEXITSTATUS(outcome), 0);
    assert_ok(pp_pool_start(pool, &thread, run, &here));
    pp_pool_join(thread);
    assert_int_equal(atomic_load(&here.turns), 2);
    pp_pool_free(pool);
}

#endif

static void test_pool__of_nobody_is_freed(void **state)
{
    pp_pool *pool;
    long live = pp_memory_live_count();
    (void)state;
    pp_pool_free(NULL);
    assert_ok(pp_pool_build(&pool));
    pp_pool_free(pool);
    pp_memory_hook_set(refuse_all, NULL);
    assert_fails(pp_pool_build(&pool), PARAPET_ERR_MEMORY, "memory");
    pp_memory_hook_set(NULL, NULL);
    assert_int_equal(pp_memory_live_count(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool__runs_at_once_and_keeps_its_threads),
        cmocka_unit_test(test_pool__says_that_there_is_no_other_thread),
#if !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(test_pool__has_other_threads_in_a_child),
#endif
        cmocka_unit_test(test_pool__of_nobody_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
