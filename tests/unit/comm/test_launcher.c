/* What the variables of launchers say, and those of queues do not. */
#include "support.h"

#include <stdlib.h>

#include "comm/launcher.h"

static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK",    "PMI_SIZE",
                                        "MV2_COMM_WORLD_RANK",  "MV2_COMM_WORLD_SIZE",  "PALS_RANKID", "PMIX_RANK",
                                        "SLURM_NTASKS",         "SLURM_PROCID"};

static int clear_environment(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < sizeof variables / sizeof variables[0]; i++)
        (void)unsetenv(variables[i]);
    return 0;
}

static void expect_launch(const char *own, const char *flavour, int rank, int count)
{
    pp_launch launch = pp_launch_find(own);
    assert_string_equal(launch.flavour, flavour);
    assert_int_equal(launch.rank, rank);
    assert_int_equal(launch.count, count);
    assert_false(launch.is_inherited); /* what runs this test does not have these variables */
}

static void test_launcher__none_without_variables(void **state)
{
    (void)state;
    expect_launch("serial", "", -1, 0);
}

static void test_launcher__a_queue_is_no_launcher(void **state)
{
    (void)state;
    (void)setenv("SLURM_NTASKS", "8", 1);
    (void)setenv("SLURM_PROCID", "3", 1);
    expect_launch("mpich", "", -1, 0);
}

static void test_launcher__each_is_known_by_its_variables(void **state)
{
    (void)state;
    (void)setenv("OMPI_COMM_WORLD_RANK", "1", 1);
    (void)setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    (void)setenv("PMIX_RANK", "1", 1);
    expect_launch("serial", "openmpi", 1, 4);
    (void)clear_environment(state);
    (void)setenv("PMI_RANK", "0", 1);
    (void)setenv("PMI_SIZE", "2", 1);
    expect_launch("serial", "mpich", 0, 2);
    (void)clear_environment(state);
    (void)setenv("PALS_RANKID", "5", 1);
    expect_launch("serial", "mpich", 5, 6);
}

static void test_launcher__pmix_does_not_say_how_many(void **state)
{
    (void)state;
    (void)setenv("PMIX_RANK", "0", 1);
    expect_launch("serial", "", 0, 0);
    (void)setenv("PMIX_RANK", "3", 1);
    expect_launch("serial", "", 3, 4);
}

static void test_launcher__of_two_the_own_one_counts(void **state)
{
    (void)state;
    (void)setenv("OMPI_COMM_WORLD_RANK", "1", 1);
    (void)setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    (void)setenv("PMI_RANK", "0", 1);
    (void)setenv("PMI_SIZE", "1", 1);
    expect_launch("mpich", "mpich", 0, 1);
    expect_launch("openmpi", "openmpi", 1, 4);
}

static void test_launcher__what_is_no_number_is_no_launcher(void **state)
{
    (void)state;
    (void)setenv("PMI_RANK", "first", 1);
    (void)setenv("PMI_SIZE", "", 1);
    (void)setenv("OMPI_COMM_WORLD_SIZE", "-3", 1);
    expect_launch("mpich", "", -1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_launcher__none_without_variables, clear_environment),
        cmocka_unit_test_setup(test_launcher__a_queue_is_no_launcher, clear_environment),
        cmocka_unit_test_setup(test_launcher__each_is_known_by_its_variables, clear_environment),
        cmocka_unit_test_setup(test_launcher__pmix_does_not_say_how_many, clear_environment),
        cmocka_unit_test_setup(test_launcher__of_two_the_own_one_counts, clear_environment),
        cmocka_unit_test_setup(test_launcher__what_is_no_number_is_no_launcher, clear_environment),
    };
    return cmocka_run_group_tests(tests, NULL, clear_environment);
}
