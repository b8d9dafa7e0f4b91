/* The library without MPI. */
#include "support.h"

#include "base/memory.h"
#include "comm/flavour.h"

static void test_serial__one_process_alone(void **state)
{
    pp_comm *comm = NULL;
    pp_text text = {0};
    (void)state;
    pp_comm_print_library(&text);
    assert_string_equal(text.data, "serial: without MPI");
    pp_text_free(&text);
    assert_ok(pp_comm_build(&comm, MPI_COMM_NULL, 0));
    assert_int_equal(pp_comm_size(comm), 1);
    assert_int_equal(pp_comm_rank(comm), 0);
    pp_comm_free(comm);
    assert_true(pp_comm_allows_threads());
    assert_true(pp_comm_allows_any_thread());
    assert_string_equal(pp_comm_flavour(), "serial");
}

static void test_serial__a_communicator_is_refused(void **state)
{
    pp_comm *comm = NULL;
    int something;
    (void)state;
    assert_fails(pp_comm_build(&comm, (MPI_Comm)(void *)&something, 0), PARAPET_ERR_UNSUPPORTED, "without MPI");
    assert_null(comm);
}

static void test_serial__a_datatype_is_refused(void **state)
{
    pp_element element = {PARAPET_FLOAT64, 8, "float64"};
    const pp_pattern *pattern = NULL;
    pp_budget budget;
    pp_patterns set;
    (void)state;
    pp_budget_init(&budget, 4096);
    pp_patterns_init(&set, &budget);
    assert_fails(pp_datatype_read(&set, &element, MPI_DATATYPE_NULL, &pattern), PARAPET_ERR_UNSUPPORTED,
                 "no datatypes");
    pp_patterns_clear(&set);
    pp_budget_clear(&budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serial__one_process_alone),
        cmocka_unit_test(test_serial__a_communicator_is_refused),
        cmocka_unit_test(test_serial__a_datatype_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
