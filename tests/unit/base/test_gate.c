#include "base/gate.h"

#include "support.h"

#include <sched.h>
#include <stdatomic.h>

enum { USERS = 4, VISITS = 2000, CHANGES = 200 };

typedef struct shared {
    pp_gate gate;
    atomic_int inside; /* users between enter and leave */
    int first, second; /* equal, except while they are being changed */
    atomic_bool has_mixed, has_met;
    atomic_bool is_closed, is_turned_away;
} shared;

static void *use(void *context)
{
    shared *with = context;
    int i;
    for (i = 0; i < VISITS; i++) {
        assert_true(pp_gate_enter(&with->gate));
        if (atomic_fetch_add(&with->inside, 1) > 0)
            atomic_store(&with->has_met, true);
        if (with->first != with->second)
            atomic_store(&with->has_mixed, true);
        if (i % 16 == 0)
            (void)sched_yield();
        atomic_fetch_sub(&with->inside, 1);
        pp_gate_leave(&with->gate);
    }
    return NULL;
}

static void change(shared *with)
{
    pp_gate_close(&with->gate);
    assert_int_equal(atomic_load(&with->inside), 0);
    with->first++;
    (void)sched_yield();
    with->second++;
    pp_gate_open(&with->gate);
    (void)sched_yield();
}

static void test_gate__nobody_is_inside_while_it_is_closed(void **state)
{
    shared with = {0};
    pthread_t users[USERS];
    int i;
    (void)state;
    pp_gate_init(&with.gate);
    for (i = 0; i < USERS; i++)
        assert_int_equal(pthread_create(&users[i], NULL, use, &with), 0);
    for (i = 0; i < CHANGES; i++)
        change(&with);
    for (i = 0; i < USERS; i++)
        assert_int_equal(pthread_join(users[i], NULL), 0);
    assert_false(atomic_load(&with.has_mixed));
    pp_gate_destroy(&with.gate);
}

static void *close_and_tell(void *context)
{
    shared *with = context;
    pp_gate_close(&with->gate);
    atomic_store(&with->is_closed, true);
    pp_gate_open(&with->gate);
    return NULL;
}

static void test_gate__many_are_inside_at_once_and_closing_waits_for_all(void **state)
{
    shared with = {0};
    pthread_t closer;
    (void)state;
    pp_gate_init(&with.gate);
    assert_true(pp_gate_enter(&with.gate));
    assert_true(pp_gate_enter(&with.gate));
    assert_int_equal(pthread_create(&closer, NULL, close_and_tell, &with), 0);
    pp_gate_leave(&with.gate);
    (void)sched_yield();
    assert_false(atomic_load(&with.is_closed));
    pp_gate_leave(&with.gate);
    assert_int_equal(pthread_join(closer, NULL), 0);
    assert_true(atomic_load(&with.is_closed));
    assert_true(pp_gate_enter(&with.gate));
    pp_gate_leave(&with.gate);
    pp_gate_destroy(&with.gate);
}

static void *enter_and_tell(void *context)
{
    shared *with = context;
    if (pp_gate_enter(&with->gate)) {
        atomic_store(&with->has_met, true);
        pp_gate_leave(&with->gate);
    } else {
        atomic_store(&with->is_turned_away, true);
    }
    return NULL;
}

static void test_gate__who_comes_to_a_closed_gate_waits_until_it_is_open(void **state)
{
    shared with = {0};
    pthread_t user;
    int i;
    (void)state;
    pp_gate_init(&with.gate);
    pp_gate_close(&with.gate);
    assert_int_equal(pthread_create(&user, NULL, enter_and_tell, &with), 0);
    for (i = 0; i < 100; i++)
        (void)sched_yield();
    assert_false(atomic_load(&with.has_met));
    pp_gate_open(&with.gate);
    assert_int_equal(pthread_join(user, NULL), 0);
    assert_true(atomic_load(&with.has_met));
    pp_gate_destroy(&with.gate);
}

static void *close_for_good(void *context)
{
    shared *with = context;
    pp_gate_close_for_good(&with->gate);
    atomic_store(&with->is_closed, true);
    return NULL;
}

static void test_gate__that_is_closed_for_good_waits_for_those_inside_and_lets_nobody_in(void **state)
{
    shared with = {0};
    pthread_t closer;
    (void)state;
    pp_gate_init(&with.gate);
    assert_true(pp_gate_enter(&with.gate));
    assert_int_equal(pthread_create(&closer, NULL, close_for_good, &with), 0);
    while (pp_gate_enter(&with.gate))
        pp_gate_leave(&with.gate);
    assert_false(atomic_load(&with.is_closed));
    pp_gate_leave(&with.gate);
    assert_int_equal(pthread_join(closer, NULL), 0);
    assert_false(pp_gate_enter(&with.gate));
    pp_gate_destroy(&with.gate);
}

/* A change is followed by closing: who has waited for the change must not wait for ever. */
static void test_gate__turns_away_who_waits_when_it_is_closed_for_good(void **state)
{
    shared with = {0};
    pthread_t user;
    (void)state;
    pp_gate_init(&with.gate);
    pp_gate_close(&with.gate);
    assert_int_equal(pthread_create(&user, NULL, enter_and_tell, &with), 0);
    (void)sched_yield();
    pp_gate_close_for_good(&with.gate);
    assert_int_equal(pthread_join(user, NULL), 0);
    assert_true(atomic_load(&with.is_turned_away));
    assert_false(atomic_load(&with.has_met));
    pp_gate_destroy(&with.gate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gate__nobody_is_inside_while_it_is_closed),
        cmocka_unit_test(test_gate__many_are_inside_at_once_and_closing_waits_for_all),
        cmocka_unit_test(test_gate__who_comes_to_a_closed_gate_waits_until_it_is_open),
        cmocka_unit_test(test_gate__that_is_closed_for_good_waits_for_those_inside_and_lets_nobody_in),
        cmocka_unit_test(test_gate__turns_away_who_waits_when_it_is_closed_for_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
