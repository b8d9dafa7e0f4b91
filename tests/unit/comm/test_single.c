/* One process, before MPI starts, while it runs and after it ends. */
#include "support.h"

#include "base/memory.h"
#include "base/status.h"
#include "comm/comm.h"
#include "comm/flavour.h"
#include "comm/launcher.h"

static void test_single__needs_no_mpi_for_the_null_communicator(void **state)
{
    pp_comm *comm;
    int is_initialized = 1;
    (void)state;
    MPI_Initialized(&is_initialized);
    assert_false(is_initialized);
    assert_ok(pp_comm_build(&comm, MPI_COMM_NULL, 0));
    assert_int_equal(pp_comm_rank(comm), 0);
    assert_int_equal(pp_comm_size(comm), 1);
    assert_true(pp_comm_allows_threads());
    pp_comm_free(comm);
    pp_comm_free(NULL);
}

static void test_single__refuses_a_communicator_before_mpi_starts(void **state)
{
    pp_comm *comm;
    (void)state;
    assert_fails(pp_comm_build(&comm, MPI_COMM_SELF, 0), PARAPET_ERR_MPI, "not initialised");
    assert_null(comm);
}

static void test_single__names_the_library_without_starting_it(void **state)
{
    pp_text text = {0};
    (void)state;
    pp_comm_print_library(&text);
    assert_ok(text.status);
    assert_non_null(text.data);
    assert_true(text.bytes > 0);
    assert_null(strchr(text.data, '\n'));
    pp_text_free(&text);
}

static void test_single__agrees_with_itself(void **state)
{
    pp_comm *comm;
    (void)state;
    assert_ok(pp_comm_build(&comm, MPI_COMM_NULL, 0));
    assert_ok(pp_comm_agree(comm, "testing", PARAPET_OK));
    assert_fails(pp_comm_agree(comm, "testing", pp_fail(PARAPET_ERR_IO, "the disk is gone")), PARAPET_ERR_IO,
                 "the disk is gone");
    pp_comm_free(comm);
}

/* cmocka runs tests in order: from here on MPI is running. */
static void test_single__takes_a_communicator_of_one_rank(void **state)
{
    pp_comm *comm;
    int provided;
    (void)state;
    assert_int_equal(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided), MPI_SUCCESS);
    assert_ok(pp_comm_build(&comm, MPI_COMM_SELF, 0));
    assert_int_equal(pp_comm_rank(comm), 0);
    assert_int_equal(pp_comm_size(comm), 1);
    assert_int_equal(pp_comm_allows_threads(), provided >= MPI_THREAD_FUNNELED);
    pp_comm_free(comm);
    assert_ok(pp_comm_build(&comm, MPI_COMM_NULL, 0));
    pp_comm_free(comm);
}

static int count_copy(MPI_Comm comm, int key, void *extra, void *value, void *copied, int *is_copied)
{
    (void)comm;
    (void)key;
    (void)value;
    (void)copied;
    (*(int *)extra)++;
    *is_copied = 0;
    return MPI_SUCCESS;
}

static void test_single__duplicates_the_communicator_and_gives_it_back(void **state)
{
    pp_comm *comm;
    int key, copies = 0, round;
    (void)state;
    assert_int_equal(MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &key, &copies), MPI_SUCCESS);
    assert_int_equal(MPI_Comm_set_attr(MPI_COMM_SELF, key, &copies), MPI_SUCCESS);
    for (round = 0; round < 5000; round++) { /* more than an MPI has communicators, were they not given back */
        assert_ok(pp_comm_build(&comm, MPI_COMM_SELF, 0));
        pp_comm_free(comm);
    }
    assert_int_equal(copies, 5000);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Comm_free_keyval(&key);
}

static bool is_spawned;

/* In place of that of MPI. */
int MPI_Comm_get_parent(MPI_Comm *parent)
{
    *parent = is_spawned ? MPI_COMM_SELF : MPI_COMM_NULL;
    return MPI_SUCCESS;
}

/* Whoever is alone although many were started would write as if it were; unless another program has spawned it. */
static void test_single__is_refused_where_a_launcher_has_started_many(void **state)
{
    pp_comm *comm;
    (void)state;
    assert_ok(pp_comm_build(&comm, MPI_COMM_SELF, 0));
    (void)setenv("PMI_RANK", "0", 1);
    (void)setenv("PMI_SIZE", "3", 1);
    assert_fails(pp_comm_check_launcher(comm), PARAPET_ERR_MPI, "started 3 processes");
    is_spawned = true;
    assert_ok(pp_comm_check_launcher(comm));
    is_spawned = false;
    (void)unsetenv("PMI_RANK");
    (void)unsetenv("PMI_SIZE");
    pp_comm_free(comm);
}

static void test_single__is_never_late_nor_aborted(void **state)
{
    pp_comm *comm;
    parapet_status status;
    int64_t value = 7, number = 0;
    void *data = &value;
    (void)state;
    assert_ok(pp_comm_build(&comm, MPI_COMM_SELF, 0));
    assert_ok(pp_comm_add_up(comm, &value, 1));
    assert_ok(pp_comm_agree_sums(comm, "adding", PARAPET_OK, &value, 1));
    assert_int_equal(pp_comm_agree_sums(comm, "adding", PARAPET_ERR_IO, &value, 1), PARAPET_ERR_IO);
    assert_ok(pp_comm_agree_numbers(comm, "gathering", PARAPET_OK, 9, &number));
    assert_int_equal(number, 9);
    assert_ok(pp_comm_share_bytes(comm, &data, sizeof value));
    assert_int_equal(value, 7);
    pp_comm_abort(comm);
    assert_false(pp_comm_is_aborted(comm));
    pp_comm_join(comm, "joining", PARAPET_ERR_IO);
    assert_true(pp_comm_is_agreed(comm, &status));
    assert_int_equal(status, PARAPET_ERR_IO);
    pp_comm_free(comm);
}

static int refuse_all(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return 1;
}

static void test_single__reports_missing_memory(void **state)
{
    pp_comm *comm;
    (void)state;
    pp_memory_hook_set(refuse_all, NULL);
    assert_int_equal(pp_comm_build(&comm, MPI_COMM_SELF, 0), PARAPET_ERR_MEMORY);
    pp_memory_hook_set(NULL, NULL);
    assert_null(comm);
}

static void test_single__outlives_mpi(void **state)
{
    pp_comm *before, *comm;
    (void)state;
    assert_ok(pp_comm_build(&before, MPI_COMM_NULL, 0));
    MPI_Finalize();
    pp_comm_free(before);
    assert_true(pp_comm_allows_threads());
    assert_fails(pp_comm_build(&comm, MPI_COMM_SELF, 0), PARAPET_ERR_MPI, "finalised");
    assert_ok(pp_comm_build(&comm, MPI_COMM_NULL, 0));
    pp_comm_free(comm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single__needs_no_mpi_for_the_null_communicator),
        cmocka_unit_test(test_single__refuses_a_communicator_before_mpi_starts),
        cmocka_unit_test(test_single__names_the_library_without_starting_it),
        cmocka_unit_test(test_single__agrees_with_itself),
        cmocka_unit_test(test_single__takes_a_communicator_of_one_rank),
        cmocka_unit_test(test_single__duplicates_the_communicator_and_gives_it_back),
        cmocka_unit_test(test_single__is_refused_where_a_launcher_has_started_many),
        cmocka_unit_test(test_single__is_never_late_nor_aborted),
        cmocka_unit_test(test_single__reports_missing_memory),
        cmocka_unit_test(test_single__outlives_mpi),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
