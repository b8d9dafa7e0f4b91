/* The fields of a request for a copy, set by their names. */
#include "support.h"

#include "copy/copy_request.h"

static void test_request__every_field_can_be_set_by_its_name(void **state)
{
    static const char *const given[][2] = {
        {"memory_bytes", "64MiB"}, {"unit_bytes", "2GiB"}, {"overwrite", "yes"},
        {"resume", "true"},        {"verify", "1"},        {"no_probe", "yes"},
        {"passes", "2"},           {"reading", "runs"},    {"cooperation", "alone"},
    };
    parapet_copy_request request = {0}, expected = {.memory_bytes = 64 << 20,
                                                    .unit_bytes = INT64_C(2) << 30,
                                                    .overwrite = 1,
                                                    .resume = 1,
                                                    .verify = 1,
                                                    .no_probe = 1,
                                                    .passes = 2,
                                                    .reading = PARAPET_READING_RUNS,
                                                    .cooperation = PARAPET_COOPERATION_ALONE};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof given / sizeof given[0]; i++)
        assert_ok(parapet_copy_request_set(&request, given[i][0], given[i][1]));
    assert_memory_equal(&request, &expected, sizeof request);
    assert_ok(pp_copy_request_check(&request));
    assert_ok(parapet_copy_request_set(&request, "overwrite", "no"));
    assert_ok(parapet_copy_request_set(&request, "reading", "1"));
    assert_ok(parapet_copy_request_set(&request, "cooperation", "choose"));
    assert_int_equal(request.overwrite, 0);
    assert_int_equal(request.reading, PARAPET_READING_CHUNKS);
    assert_int_equal(request.cooperation, PARAPET_COOPERATION_CHOOSE);
}

static void test_request__refusals_say_what_is_accepted(void **state)
{
    parapet_copy_request request = {0}, untouched = {0};
    (void)state;
    assert_fails(parapet_copy_request_set(&request, "reading", "all"), PARAPET_ERR_ARGUMENT,
                 "option reading cannot be \"all\": it takes choose (0), chunks (1) or runs (2)");
    assert_fails(parapet_copy_request_set(&request, "cooperation", "3"), PARAPET_ERR_ARGUMENT,
                 "it takes choose (0), alone (1) or together (2)");
    assert_fails(parapet_copy_request_set(&request, "verify", "always"), PARAPET_ERR_ARGUMENT,
                 "it takes no (false, 0) or yes (true, 1)");
    assert_fails(parapet_copy_request_set(&request, "passes", "9"), PARAPET_ERR_ARGUMENT, "from 0 to 8");
    assert_fails(parapet_copy_request_set(&request, "source_path", "a"), PARAPET_ERR_ARGUMENT,
                 "there is no option \"source_path\"; the options are memory_bytes, unit_bytes, overwrite");
    assert_fails(parapet_copy_request_set(NULL, "reading", "runs"), PARAPET_ERR_ARGUMENT, "needs");
    assert_fails(parapet_copy_request_set(&request, NULL, "runs"), PARAPET_ERR_ARGUMENT, "needs");
    assert_fails(parapet_copy_request_set(&request, "reading", NULL), PARAPET_ERR_ARGUMENT, "needs");
    assert_memory_equal(&request, &untouched, sizeof request);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request__every_field_can_be_set_by_its_name),
        cmocka_unit_test(test_request__refusals_say_what_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
