/* Who may be inside a call; and one function at a time beside the program: whoever completes it finds it done. */
#include "support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/internal.h"

enum { TURNS = 200 };

typedef struct bed {
    pp_comm *comm;
    atomic_bool is_over;
    int count; /* how often it has run */
} bed;

static void count_up(void *context)
{
    bed *all = context;
    all->count++;
}

static void run_and_complete(bed *all, bool has_thread)
{
    int before = all->count;
    pp_comm_run_beside(all->comm, count_up, all, has_thread);
    pp_comm_complete(all->comm);
    assert_int_equal(all->count, before + 1);
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

/* ---- Turns ---- */

static void test_turn__is_had_within_a_turn(void **state)
{
    pp_comm *comm = NULL;
    pp_turn outer, inner;
    (void)state;
    assert_ok(pp_comm_build_alone(&comm));
    assert_ok(pp_turn_take(&outer, comm, PP_TURN_COLLECTIVE));
    assert_ok(pp_turn_take(&inner, comm, PP_TURN_COLLECTIVE));
    pp_turn_end(&inner);
    pp_turn_end(&outer);
    pp_turn_end(&outer);
    pp_comm_free(comm);
}

static void test_turn__is_refused_in_a_callback(void **state)
{
    pp_comm *comm = NULL, *other = NULL;
    pp_turn outer, inner;
    (void)state;
    assert_ok(pp_comm_build_alone(&comm));
    assert_ok(pp_comm_build_alone(&other));
    assert_ok(pp_turn_take(&outer, comm, PP_TURN_COLLECTIVE));
    pp_callback_begin();
    assert_int_equal(pp_turn_take(&inner, comm, PP_TURN_COLLECTIVE), PARAPET_ERR_ARGUMENT);
    assert_non_null(strstr(parapet_error_message(), "callback"));
    assert_int_equal(pp_turn_take(&inner, comm, PP_TURN_LOCAL), PARAPET_ERR_ARGUMENT);
    assert_int_equal(pp_turn_check(comm), PARAPET_ERR_ARGUMENT);
    assert_ok(pp_turn_take(&inner, other, PP_TURN_COLLECTIVE)); /* another store */
    pp_callback_begin();
    pp_callback_end();
    pp_turn_end(&inner);
    pp_callback_end();
    assert_ok(pp_turn_check(comm));
    assert_ok(pp_turn_take(&inner, comm, PP_TURN_LOCAL));
    pp_turn_end(&inner);
    pp_turn_end(&outer);
    pp_comm_free(other);
    pp_comm_free(comm);
}

typedef struct attempt {
    pp_comm *comm;
    pp_turn_kind kind;
    parapet_status status;
} attempt;

static void *take_and_end(void *context)
{
    attempt *made = context;
    pp_turn turn;
    made->status = pp_turn_take(&turn, made->comm, made->kind);
    pp_turn_end(&turn);
    return NULL;
}

static parapet_status take_on_thread(pp_comm *comm, pp_turn_kind kind)
{
    attempt made = {.comm = comm, .kind = kind};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, take_and_end, &made), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return made.status;
}

static void test_turn__of_a_second_thread_is_refused_if_it_is_collective(void **state)
{
    pp_comm *comm = NULL;
    pp_turn turn;
    (void)state;
    assert_ok(pp_comm_build_alone(&comm));
    assert_ok(take_on_thread(comm, PP_TURN_COLLECTIVE));
    assert_ok(pp_turn_take(&turn, comm, PP_TURN_COLLECTIVE));
    assert_int_equal(take_on_thread(comm, PP_TURN_COLLECTIVE), PARAPET_ERR_ARGUMENT);
    pp_callback_begin();
    assert_int_equal(take_on_thread(comm, PP_TURN_COLLECTIVE), PARAPET_ERR_ARGUMENT);
    pp_callback_end();
    pp_turn_end(&turn);
    assert_ok(take_on_thread(comm, PP_TURN_COLLECTIVE));
    pp_comm_free(comm);
}

/* A callback that waits for a thread that looks at something must not wait for ever. */
static void test_turn__is_lent_to_local_calls_in_a_callback(void **state)
{
    pp_comm *comm = NULL;
    pp_turn turn;
    (void)state;
    assert_ok(pp_comm_build_alone(&comm));
    assert_ok(pp_turn_take(&turn, comm, PP_TURN_COLLECTIVE));
    pp_callback_begin();
    assert_ok(take_on_thread(comm, PP_TURN_LOCAL));
    pp_callback_end();
    pp_turn_end(&turn);
    pp_comm_free(comm);
}

static void test_turn__is_waited_for_by_a_local_call(void **state)
{
    attempt made = {.kind = PP_TURN_LOCAL, .status = PARAPET_ERR_INTERNAL};
    pthread_t thread;
    pp_turn turn;
    (void)state;
    assert_ok(pp_comm_build_alone(&made.comm));
    assert_ok(pp_turn_take(&turn, made.comm, PP_TURN_COLLECTIVE));
    assert_int_equal(pthread_create(&thread, NULL, take_and_end, &made), 0);
    pp_turn_end(&turn);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_ok(made.status);
    pp_comm_free(made.comm);
}

static int waiting_count(pp_comm *comm)
{
    int count;
    (void)pthread_mutex_lock(&comm->turns.mutex);
    count = comm->turns.waiting;
    (void)pthread_mutex_unlock(&comm->turns.mutex);
    return count;
}

static void test_turn__ends_for_those_who_wait_when_the_communicator_goes(void **state)
{
    attempt made = {.kind = PP_TURN_LOCAL};
    pthread_t thread;
    pp_turn turn;
    (void)state;
    assert_ok(pp_comm_build_alone(&made.comm));
    assert_ok(pp_turn_take(&turn, made.comm, PP_TURN_COLLECTIVE));
    assert_int_equal(pthread_create(&thread, NULL, take_and_end, &made), 0);
    while (waiting_count(made.comm) == 0)
        (void)sched_yield();
    pp_turn_end_all(&turn);
    pp_comm_free(made.comm);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(made.status, PARAPET_ERR_ARGUMENT);
}

static void wait_until_over(void *context)
{
    bed *all = context;
    while (!atomic_load(&all->is_over))
        (void)sched_yield();
}

static void wait_in_child(pid_t child)
{
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
}

/* A child alone may use what nobody was inside of; else it is refused, and does not wait. */
static void test_turn__of_a_forked_child(void **state)
{
    bed all = {0};
    pp_comm *comm = NULL;
    pp_turn turn;
    pid_t child;
    (void)state;
    assert_ok(pp_comm_build_alone(&comm));
    if ((child = fork()) == 0)
        _exit(pp_turn_take(&turn, comm, PP_TURN_COLLECTIVE) == PARAPET_OK ? 0 : 1);
    wait_in_child(child);
    pp_comm_run_beside(comm, wait_until_over, &all, true);
    if ((child = fork()) == 0)
        _exit(pp_turn_take(&turn, comm, PP_TURN_LOCAL) == PARAPET_ERR_ARGUMENT ? 0 : 1);
    wait_in_child(child);
    atomic_store(&all.is_over, true);
    pp_comm_complete(comm);
    pp_comm_free(comm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turn__is_had_within_a_turn),
        cmocka_unit_test(test_turn__is_refused_in_a_callback),
        cmocka_unit_test(test_turn__of_a_second_thread_is_refused_if_it_is_collective),
        cmocka_unit_test(test_turn__is_lent_to_local_calls_in_a_callback),
        cmocka_unit_test(test_turn__is_waited_for_by_a_local_call),
        cmocka_unit_test(test_turn__ends_for_those_who_wait_when_the_communicator_goes),
        cmocka_unit_test(test_turn__of_a_forked_child),
        cmocka_unit_test(test_beside__is_done_when_completed),
        cmocka_unit_test(test_beside__other_threads_complete_it_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
