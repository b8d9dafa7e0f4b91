/* What parapet_error_message says after a generation was given up. */
#include <string.h>

#include "support.h"

/* Neither what aborting looks for in vain, nor what it finds, is told. */
static void test_outcome__giving_up_leaves_the_sentence_as_it_was(void **state)
{
    parapet_store *store = NULL;
    parapet_checkpoint *checkpoint = NULL;
    parapet_array *missing = NULL;
    int has_failed;
    (void)state;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, "memory:given_up", PARAPET_CREATE, NULL));
    for (has_failed = 0; has_failed < 2; has_failed++) {
        assert_ok(parapet_checkpoint_begin(&checkpoint, store, "c", NULL));
        if (has_failed)
            assert_fails(parapet_array_open(&missing, store, "nowhere"), PARAPET_ERR_NOT_FOUND, "nowhere");
        assert_ok(parapet_checkpoint_abort(&checkpoint));
        assert_int_equal(parapet_error_message()[0] != '\0', has_failed);
        assert_int_equal(strstr(parapet_error_message(), "nowhere") != NULL, has_failed);
    }
    assert_ok(parapet_store_close(&store));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcome__giving_up_leaves_the_sentence_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
