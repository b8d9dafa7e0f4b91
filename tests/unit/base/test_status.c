#include "support.h"

#include <errno.h>
#include <pthread.h>

#include "base/status.h"

static void test_status__fail_sets_the_sentence_and_returns_the_status(void **state)
{
    (void)state;
    assert_int_equal(pp_fail(PARAPET_ERR_FORMAT, "field %s is %d", "order", 7), PARAPET_ERR_FORMAT);
    assert_string_equal(pp_failure_message(), "field order is 7");
    assert_string_equal(parapet_error_message(), "field order is 7");
    pp_failure_clear();
    assert_string_equal(pp_failure_message(), "");
}

static void test_status__a_failed_system_call_is_mapped_and_explained(void **state)
{
    static const struct {
        int error_number;
        parapet_status status;
    } cases[] = {
        {ENOSPC, PARAPET_ERR_NO_SPACE}, {EDQUOT, PARAPET_ERR_NO_SPACE},  {EFBIG, PARAPET_ERR_NO_SPACE},
        {ENOMEM, PARAPET_ERR_MEMORY},   {ENOENT, PARAPET_ERR_NOT_FOUND}, {EEXIST, PARAPET_ERR_EXISTS},
        {EIO, PARAPET_ERR_IO},          {EACCES, PARAPET_ERR_IO},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char expected[256];
        (void)snprintf(expected, sizeof expected, "cannot read c/0: %s", strerror(cases[i].error_number));
        assert_int_equal(pp_fail_errno(cases[i].error_number, "cannot read %s", "c/0"), cases[i].status);
        assert_string_equal(pp_failure_message(), expected);
    }
}

static void test_status__context_goes_before_the_sentence(void **state)
{
    parapet_status status = pp_fail(PARAPET_ERR_CORRUPT, "the checksum differs");
    (void)state;
    assert_int_equal(pp_fail_within(status, "chunk %d", 4), PARAPET_ERR_CORRUPT);
    assert_string_equal(pp_failure_message(), "chunk 4: the checksum differs");
    (void)pp_fail_within(status, "array %s", "density");
    assert_string_equal(pp_failure_message(), "array density: chunk 4: the checksum differs");
}

static void test_status__sentences_that_are_too_long_are_cut(void **state)
{
    char words[2 * PP_MESSAGE_BYTES];
    (void)state;
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    (void)pp_fail(PARAPET_ERR_IO, "%s", words);
    assert_int_equal(strlen(pp_failure_message()), PP_MESSAGE_BYTES - 1);
    (void)pp_fail_within(PARAPET_ERR_IO, "in %s", "front");
    assert_int_equal(strlen(pp_failure_message()), PP_MESSAGE_BYTES - 1);
    assert_memory_equal(pp_failure_message(), "in front: xxx", 13);
    (void)pp_fail_within(PARAPET_ERR_IO, "%s", words);
    assert_int_equal(strlen(pp_failure_message()), PP_MESSAGE_BYTES - 1);
    (void)pp_fail_errno(EIO, "%s", words);
    assert_int_equal(strlen(pp_failure_message()), PP_MESSAGE_BYTES - 1);
}

static void test_status__the_first_failure_taken_stays(void **state)
{
    pp_failure failure = {0};
    (void)state;
    (void)pp_fail(PARAPET_ERR_IO, "left over");
    pp_failure_take(&failure, PARAPET_OK);
    assert_int_equal(failure.status, PARAPET_OK);
    pp_failure_take(&failure, pp_fail(PARAPET_ERR_IO, "first"));
    pp_failure_take(&failure, pp_fail(PARAPET_ERR_MEMORY, "second"));
    assert_int_equal(pp_failure_put(&failure), PARAPET_ERR_IO);
    assert_string_equal(pp_failure_message(), "first");
}

static void test_status__putting_no_failure_changes_nothing(void **state)
{
    pp_failure failure = {0};
    (void)state;
    (void)pp_fail(PARAPET_ERR_IO, "mine");
    assert_int_equal(pp_failure_put(&failure), PARAPET_OK);
    assert_string_equal(pp_failure_message(), "mine");
}

static void *fail_in_worker(void *argument)
{
    pp_failure *failure = argument;
    const char *at_start = pp_failure_message();
    if (at_start[0] == '\0')
        pp_failure_take(failure, pp_fail(PARAPET_ERR_NO_SPACE, "from the worker"));
    return NULL;
}

static void test_status__sentences_are_kept_per_thread(void **state)
{
    pp_failure failure = {0};
    pthread_t worker;
    (void)state;
    (void)pp_fail(PARAPET_ERR_IO, "from the waiter");
    assert_int_equal(pthread_create(&worker, NULL, fail_in_worker, &failure), 0);
    assert_int_equal(pthread_join(worker, NULL), 0);
    assert_string_equal(pp_failure_message(), "from the waiter");
    assert_int_equal(pp_failure_put(&failure), PARAPET_ERR_NO_SPACE);
    assert_string_equal(pp_failure_message(), "from the worker");
}

static void test_status__every_status_has_its_own_name(void **state)
{
    int i, j;
    (void)state;
    assert_string_equal(parapet_status_name(PARAPET_OK), "PARAPET_OK");
    assert_string_equal(parapet_status_name(PARAPET_ERR_ARGUMENT), "PARAPET_ERR_ARGUMENT");
    assert_string_equal(parapet_status_name(PARAPET_ERR_NOT_FOUND), "PARAPET_ERR_NOT_FOUND");
    assert_string_equal(parapet_status_name(PARAPET_ERR_EXISTS), "PARAPET_ERR_EXISTS");
    assert_string_equal(parapet_status_name(PARAPET_ERR_IO), "PARAPET_ERR_IO");
    assert_string_equal(parapet_status_name(PARAPET_ERR_NO_SPACE), "PARAPET_ERR_NO_SPACE");
    assert_string_equal(parapet_status_name(PARAPET_ERR_MEMORY), "PARAPET_ERR_MEMORY");
    assert_string_equal(parapet_status_name(PARAPET_ERR_FORMAT), "PARAPET_ERR_FORMAT");
    assert_string_equal(parapet_status_name(PARAPET_ERR_UNSUPPORTED), "PARAPET_ERR_UNSUPPORTED");
    assert_string_equal(parapet_status_name(PARAPET_ERR_CORRUPT), "PARAPET_ERR_CORRUPT");
    assert_string_equal(parapet_status_name(PARAPET_ERR_MISSING), "PARAPET_ERR_MISSING");
    assert_string_equal(parapet_status_name(PARAPET_ERR_CANCELLED), "PARAPET_ERR_CANCELLED");
    assert_string_equal(parapet_status_name(PARAPET_ERR_MPI), "PARAPET_ERR_MPI");
    assert_string_equal(parapet_status_name(PARAPET_ERR_INTERNAL), "PARAPET_ERR_INTERNAL");
    assert_string_equal(parapet_status_name(PARAPET_ERR_STALE), "PARAPET_ERR_STALE");
    for (i = 0; i <= PARAPET_ERR_STALE; i++)
        for (j = 0; j < i; j++)
            assert_string_not_equal(parapet_status_name((parapet_status)i), parapet_status_name((parapet_status)j));
    assert_string_equal(parapet_status_name((parapet_status)(PARAPET_ERR_STALE + 1)), "unknown status");
}

static void test_status__a_refusal_of_memory_keeps_the_limit_that_it_names(void **state)
{
    pp_failure kept = {0};
    (void)state;
    assert_int_equal(pp_refuse_memory(7, "set it to %d", 7), PARAPET_ERR_MEMORY);
    assert_int_equal(pp_failure_enough_bytes(), 7);
    (void)pp_fail_within(PARAPET_ERR_MEMORY, "cannot read");
    assert_string_equal(pp_failure_message(), "cannot read: set it to 7");
    assert_int_equal(pp_failure_enough_bytes(), 7);
    pp_failure_take(&kept, PARAPET_ERR_MEMORY);
    (void)pp_fail(PARAPET_ERR_MEMORY, "no limit would help");
    assert_int_equal(pp_failure_enough_bytes(), 0);
    assert_int_equal(pp_failure_put(&kept), PARAPET_ERR_MEMORY);
    assert_int_equal(pp_failure_enough_bytes(), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status__fail_sets_the_sentence_and_returns_the_status),
        cmocka_unit_test(test_status__a_failed_system_call_is_mapped_and_explained),
        cmocka_unit_test(test_status__context_goes_before_the_sentence),
        cmocka_unit_test(test_status__sentences_that_are_too_long_are_cut),
        cmocka_unit_test(test_status__the_first_failure_taken_stays),
        cmocka_unit_test(test_status__putting_no_failure_changes_nothing),
        cmocka_unit_test(test_status__a_refusal_of_memory_keeps_the_limit_that_it_names),
        cmocka_unit_test(test_status__sentences_are_kept_per_thread),
        cmocka_unit_test(test_status__every_status_has_its_own_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
