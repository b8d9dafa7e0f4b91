/* What parapet_error_message says after a generation was given up. */
#include <string.h>

#include "support.h"

#include "comm/internal.h"
#include "stored.h"

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

/* Where ranks are no longer in step, handles go without a word to the others. */
static void test_outcome__handles_go_also_where_ranks_are_lost(void **state)
{
    parapet_store *store = NULL;
    parapet_checkpoint *checkpoint = NULL;
    parapet_restore *restore = NULL;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_checkpoint_begin(&checkpoint, store, "c", NULL));
    assert_ok(parapet_checkpoint_commit(&checkpoint, NULL));
    assert_ok(parapet_checkpoint_begin(&checkpoint, store, "c", NULL));
    assert_ok(parapet_restore_open(&restore, store, "c", 0));
    store->comm->is_lost = true;
    assert_ok(parapet_checkpoint_abort(&checkpoint));
    assert_null(checkpoint);
    assert_true(stored_has(store, "c/g00000002/__parapet/claim"));
    assert_ok(parapet_restore_close(&restore));
    assert_null(restore);
    store->comm->is_lost = false;
    assert_ok(parapet_store_collect(store, "", 0, NULL, NULL));
    stored_close(&store);
}

/* A generation of two arrays, into which something else reaches before it is committed. */
static parapet_status commit_after(void (*reach)(parapet_store *store), parapet_store *store)
{
    static const int64_t start = 0, count = 1;
    static double value = 1.5;
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 1, .shape = &count};
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = &value};
    parapet_checkpoint_item items[2] = {{.name = "v", .spec = &spec, .parts = &part, .part_count = 1},
                                        {.name = "u", .spec = &spec, .parts = &part, .part_count = 1}};
    parapet_checkpoint *checkpoint = NULL;
    assert_ok(parapet_checkpoint_begin(&checkpoint, store, "c", NULL));
    assert_ok(parapet_checkpoint_put(checkpoint, items, 2));
    reach(store);
    return parapet_checkpoint_commit(&checkpoint, NULL);
}

static void change_nothing(parapet_store *store)
{
    (void)store;
}

static void remove_a_document(parapet_store *store)
{
    assert_ok(pp_store_remove(store->backend, "c/g00000002/u/zarr.json"));
}

static void change_a_document(parapet_store *store)
{
    size_t bytes;
    char *text = stored_get(store, "c/g00000002/v/zarr.json", &bytes);
    text[bytes - 1] = ' '; /* after the last brace, so that it still is a document */
    stored_put(store, "c/g00000002/v/zarr.json", text, bytes);
    pp_free(text);
}

static void add_an_array(parapet_store *store)
{
    size_t bytes;
    char *text = stored_get(store, "c/g00000002/v/zarr.json", &bytes);
    stored_put(store, "c/g00000002/w/zarr.json", text, bytes);
    pp_free(text);
}

static int64_t newest(parapet_store *store)
{
    parapet_restore *restore;
    parapet_restore_info info;
    assert_ok(parapet_restore_open(&restore, store, "c", 0));
    assert_ok(parapet_restore_get_info(restore, &info));
    assert_ok(parapet_restore_close(&restore));
    return info.generation;
}

/* A generation that would not verify is not committed, and the one before it is restored. */
static void test_outcome__documents_that_something_else_has_changed_are_not_committed(void **state)
{
    static const struct {
        void (*reach)(parapet_store *store);
        parapet_status status;
        const char *word;
    } cases[] = {{remove_a_document, PARAPET_ERR_STALE, "has 1 of the 2 arrays"},
                 {change_a_document, PARAPET_ERR_STALE, "v/zarr.json"},
                 {add_an_array, PARAPET_OK, ""}};
    parapet_store *store;
    parapet_status status;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        stored_open(&store, NULL);
        assert_ok(commit_after(change_nothing, store));
        status = commit_after(cases[i].reach, store);
        assert_int_equal(status, cases[i].status);
        assert_non_null(strstr(parapet_error_message(), cases[i].word));
        assert_int_equal(newest(store), status == PARAPET_OK ? 2 : 1);
        stored_close(&store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcome__handles_go_also_where_ranks_are_lost),
        cmocka_unit_test(test_outcome__giving_up_leaves_the_sentence_as_it_was),
        cmocka_unit_test(test_outcome__documents_that_something_else_has_changed_are_not_committed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
