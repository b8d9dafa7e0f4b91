/* Calls of checkpoints without what they need are refused, and say what is missing. */
#include "support.h"

#include "stored.h"

#define refused(call, word) assert_fails(call, PARAPET_ERR_ARGUMENT, word)

static void test_arguments__of_a_checkpoint_are_checked(void **state)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_request *request = NULL;
    parapet_store *store;
    int is_done;
    (void)state;
    stored_open(&store, NULL);
    refused(parapet_checkpoint_begin(NULL, store, "c", NULL), "");
    refused(parapet_checkpoint_begin(&checkpoint, NULL, "c", NULL), "store");
    refused(parapet_checkpoint_begin(&checkpoint, store, NULL, NULL), "path");
    refused(parapet_checkpoint_begin(&checkpoint, store, "../c", NULL), "..");
    refused(parapet_checkpoint_begin(&checkpoint, store, "c", &(parapet_checkpoint_options){.reserved = {1}}),
            "reserved");
    assert_null(checkpoint);
    refused(parapet_checkpoint_put(NULL, NULL, 0), "checkpoint");
    refused(parapet_checkpoint_attribute_set(NULL, "name", "1"), "checkpoint");
    refused(parapet_checkpoint_start(&request, NULL, NULL, 0, PARAPET_BUFFERING_COPY, NULL), "checkpoint");
    refused(parapet_checkpoint_start(&request, &checkpoint, NULL, 0, PARAPET_BUFFERING_COPY, NULL), "checkpoint");
    refused(parapet_request_test(NULL, &is_done), "request");
    refused(parapet_request_wait(NULL), "request");
    refused(parapet_request_wait(&request), "request");
    refused(parapet_checkpoint_commit(NULL, NULL), "checkpoint");
    refused(parapet_checkpoint_commit(&checkpoint, NULL), "checkpoint");
    assert_ok(parapet_checkpoint_abort(NULL));
    assert_ok(parapet_checkpoint_abort(&checkpoint));
    stored_close(&store);
}

static void test_arguments__of_a_checkpoint_that_was_begun_are_checked(void **state)
{
    parapet_checkpoint *checkpoint;
    parapet_request *request;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_checkpoint_begin(&checkpoint, store, "c", NULL));
    refused(parapet_checkpoint_start(NULL, &checkpoint, NULL, 0, PARAPET_BUFFERING_COPY, NULL), "request");
    refused(parapet_checkpoint_start(&request, &checkpoint, NULL, 2, PARAPET_BUFFERING_COPY, NULL), "count is 2");
    assert_null(request);
    assert_ok(parapet_checkpoint_abort(&checkpoint));
    assert_ok(parapet_checkpoint_begin(&checkpoint, store, "c", NULL));
    refused(parapet_checkpoint_start(&request, &checkpoint, NULL, 0, (parapet_buffering)7, NULL), "buffering");
    assert_ok(parapet_checkpoint_abort(&checkpoint));
    assert_ok(parapet_checkpoint_begin(&checkpoint, store, "c", NULL));
    assert_ok(parapet_checkpoint_start(&request, &checkpoint, NULL, 0, PARAPET_BUFFERING_COPY, NULL));
    assert_null(checkpoint);
    refused(parapet_request_test(request, NULL), "pointer");
    refused(parapet_checkpoint_put(checkpoint, NULL, 0), "needs a checkpoint");
    refused(parapet_store_close(&store), "requests");
    assert_ok(parapet_request_wait(&request));
    assert_null(request);
    assert_ok(parapet_checkpoint_begin(&checkpoint, store, "c", NULL));
    refused(parapet_checkpoint_put(checkpoint, NULL, 2), "count is 2");
    assert_ok(parapet_checkpoint_abort(&checkpoint));
    assert_ok(parapet_checkpoint_begin(&checkpoint, store, "c", NULL));
    refused(parapet_checkpoint_put(checkpoint, NULL, -1), "count is -1");
    assert_ok(parapet_checkpoint_abort(&checkpoint));
    assert_null(checkpoint);
    stored_close(&store);
}

static void test_arguments__of_the_items_of_a_checkpoint_are_checked(void **state)
{
    static const int64_t shape[1] = {3};
    static const parapet_array_spec spec = {.type = PARAPET_UINT8, .ndim = 1, .shape = shape};
    static const struct {
        parapet_checkpoint_item item;
        const char *sentence;
    } cases[] = {
        {{.spec = &spec}, "item 0 has no name"},
        {{.name = "u"}, "item 0 has no spec"},
        {{.name = "", .spec = &spec}, "not a single name"},
        {{.name = "u/v", .spec = &spec}, "not a single name"},
    };
    parapet_checkpoint *checkpoint;
    parapet_store *store;
    size_t i;
    (void)state;
    stored_open(&store, NULL);
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_ok(parapet_checkpoint_begin(&checkpoint, store, "c", NULL));
        refused(parapet_checkpoint_put(checkpoint, &cases[i].item, 1), cases[i].sentence);
        assert_ok(parapet_checkpoint_abort(&checkpoint));
    }
    stored_close(&store);
}

static int visit_none(void *context, int64_t generation, const char *path)
{
    (void)context;
    (void)path;
    fail_msg("generation %lld was visited", (long long)generation);
    return 0;
}

static void test_arguments__of_restores_and_lists_are_checked(void **state)
{
    parapet_restore *restore = NULL;
    parapet_restore_info info;
    parapet_array_info array;
    parapet_store *store;
    char *json;
    (void)state;
    stored_open(&store, NULL);
    refused(parapet_restore_open(NULL, store, "c", 0), "");
    refused(parapet_restore_open(&restore, NULL, "c", 0), "store");
    refused(parapet_restore_open(&restore, store, NULL, 0), "path");
    refused(parapet_restore_open(&restore, store, "c", -1), "generation is -1");
    assert_null(restore);
    refused(parapet_restore_get(NULL, NULL, 0), "restore");
    refused(parapet_restore_attribute_get(NULL, "name", &json), "restore");
    refused(parapet_restore_get_info(NULL, &info), "restore");
    refused(parapet_restore_get_array_info(NULL, 0, &array), "restore");
    assert_ok(parapet_restore_close(NULL));
    assert_ok(parapet_restore_close(&restore));
    refused(parapet_checkpoint_list(NULL, "c", NULL, NULL), "store");
    refused(parapet_checkpoint_list(store, "c", NULL, NULL), "visitor");
    refused(parapet_checkpoint_list(store, NULL, visit_none, NULL), "NULL");
    refused(parapet_store_collect(NULL, "c", 1, NULL, NULL), "store");
    refused(parapet_store_collect(store, NULL, 1, NULL, NULL), "NULL");
    refused(parapet_store_collect(store, "c", 2, NULL, NULL), "dry_run");
    refused(parapet_store_remove(NULL, "c", 0, 0, NULL, NULL), "store");
    refused(parapet_store_remove(store, "c", 2, 0, NULL, NULL), "recursive");
    refused(parapet_store_remove(store, "c", 0, 2, NULL, NULL), "dry_run");
    stored_close(&store);
}

static void put_bytes(parapet_store *store)
{
    int64_t shape[1] = {3}, start[1] = {0};
    unsigned char data[3] = {1, 2, 3};
    parapet_array_spec spec = {.type = PARAPET_UINT8, .ndim = 1, .shape = shape};
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = data};
    parapet_checkpoint_item item = {.name = "u", .spec = &spec, .parts = &part, .part_count = 1};
    parapet_checkpoint *checkpoint;
    assert_ok(parapet_checkpoint_begin(&checkpoint, store, "c", NULL));
    assert_ok(parapet_checkpoint_put(checkpoint, &item, 1));
    assert_ok(parapet_checkpoint_commit(&checkpoint, NULL));
}

static void test_arguments__the_arrays_of_a_generation_are_numbered_from_0(void **state)
{
    parapet_checkpoint_item unnamed = {0}, reserved = {.name = "u", .reserved = {1}};
    parapet_array_info array = {0};
    parapet_restore *restore;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    put_bytes(store);
    assert_ok(parapet_restore_open(&restore, store, "c", 0));
    refused(parapet_restore_get_info(restore, NULL), "result");
    refused(parapet_restore_get(restore, NULL, -1), "count is -1");
    refused(parapet_restore_get(restore, &reserved, 1), "item 0");
    assert_fails(parapet_restore_get(restore, &unnamed, 1), PARAPET_ERR_NOT_FOUND, "no array \"\"");
    assert_ok(parapet_restore_get(restore, NULL, 0));
    assert_ok(parapet_restore_get_array_info(restore, 0, &array));
    assert_true(array.type == PARAPET_UINT8 && array.shape[0] == 3);
    refused(parapet_restore_get_array_info(restore, 1, &array), "no array");
    refused(parapet_restore_get_array_info(restore, -1, &array), "no array");
    refused(parapet_restore_get_array_info(restore, 0, NULL), "result");
    assert_ok(parapet_restore_close(&restore));
    stored_close(&store);
}

static int visit_once(void *context, int64_t generation, const char *path)
{
    (void)path;
    *(int64_t *)context = 10 * *(int64_t *)context + generation;
    return 1;
}

static void test_arguments__a_visitor_of_generations_may_stop(void **state)
{
    int64_t visited = 0;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    put_bytes(store);
    put_bytes(store);
    assert_ok(parapet_checkpoint_list(store, "c", visit_once, &visited));
    assert_int_equal(visited, 2); /* the newest, and then no other */
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments__of_a_checkpoint_are_checked),
        cmocka_unit_test(test_arguments__of_a_checkpoint_that_was_begun_are_checked),
        cmocka_unit_test(test_arguments__of_the_items_of_a_checkpoint_are_checked),
        cmocka_unit_test(test_arguments__of_restores_and_lists_are_checked),
        cmocka_unit_test(test_arguments__the_arrays_of_a_generation_are_numbered_from_0),
        cmocka_unit_test(test_arguments__a_visitor_of_generations_may_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
