/* What a process remembers of generations. */
#include "support.h"

#include "checkpoint/health.h"
#include "stored.h"

static void test_health__of_what_nobody_has_looked_at_is_unknown(void **state)
{
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    assert_int_equal(pp_generation_get_health(store, "c", 1), PP_GENERATION_UNKNOWN);
    pp_generation_set_health(store, "c", 1, PP_GENERATION_VERIFIES);
    assert_int_equal(pp_generation_get_health(store, "c", 1), PP_GENERATION_VERIFIES);
    assert_int_equal(pp_generation_get_health(store, "c", 2), PP_GENERATION_UNKNOWN);
    assert_int_equal(pp_generation_get_health(store, "d", 1), PP_GENERATION_UNKNOWN);
    pp_generation_set_health(store, "c", 1, PP_GENERATION_DAMAGED);
    assert_int_equal(pp_generation_get_health(store, "c", 1), PP_GENERATION_DAMAGED);
    stored_close(&store);
}

/* That it verified once says nothing about a store that was opened later; that it was damaged does. */
static void test_health__only_damage_is_known_to_other_handles(void **state)
{
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    pp_generation_set_health(store, "c", 3, PP_GENERATION_VERIFIES);
    pp_generation_set_health(store, "c", 4, PP_GENERATION_DAMAGED);
    stored_reopen(&store, PARAPET_UPDATE, NULL);
    assert_int_equal(pp_generation_get_health(store, "c", 3), PP_GENERATION_UNKNOWN);
    assert_int_equal(pp_generation_get_health(store, "c", 4), PP_GENERATION_DAMAGED);
    stored_close(&store);
}

/* The table has an end; what falls out is looked at once more. */
static void test_health__of_very_many_the_latest_are_known(void **state)
{
    enum { MANY = 1000 };
    parapet_store *store;
    int64_t number, known = 0;
    (void)state;
    stored_open(&store, NULL);
    for (number = 1; number <= MANY; number++)
        pp_generation_set_health(store, "many", number, PP_GENERATION_VERIFIES);
    for (number = 1; number <= MANY; number++)
        known += pp_generation_get_health(store, "many", number) == PP_GENERATION_VERIFIES;
    assert_true(known > 0 && known < MANY);
    assert_int_equal(pp_generation_get_health(store, "many", 1), PP_GENERATION_UNKNOWN);
    for (number = MANY - known + 1; number <= MANY; number++)
        assert_int_equal(pp_generation_get_health(store, "many", number), PP_GENERATION_VERIFIES);
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_health__of_what_nobody_has_looked_at_is_unknown),
        cmocka_unit_test(test_health__only_damage_is_known_to_other_handles),
        cmocka_unit_test(test_health__of_very_many_the_latest_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
