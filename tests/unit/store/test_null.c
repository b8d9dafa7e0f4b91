#include "scratch.h"
#include "stores/null.h"

static pp_store *inner, *store;

static int open_stores(void **state)
{
    (void)state;
    assert_ok(pp_store_memory_build(&inner, NULL));
    assert_ok(pp_store_null_build(&store, inner));
    return 0;
}

static int close_stores(void **state)
{
    (void)state;
    pp_store_free(store);
    pp_store_free(inner);
    return 0;
}

static pp_write_request data_request(const char *key)
{
    return (pp_write_request){.key = key, .staging = "tmp"};
}

static parapet_status put_data(const char *key, const char *text, pp_publish_mode mode)
{
    pp_write_request request = data_request(key);
    return pp_store_write_all(store, &request, text, strlen(text), mode);
}

static void assert_refused(const char *key)
{
    pp_reader *reader;
    assert_fails(pp_store_open_object(store, key, &reader), PARAPET_ERR_UNSUPPORTED,
                 "was written to a null store, which keeps no data");
    assert_null(reader);
}

static void test_null__takes_data_and_refuses_to_read_it(void **state)
{
    (void)state;
    assert_absent(store, "c/0");
    assert_ok(put_data("c/0", "data", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_sync_dirs(store));
    assert_refused("c/0");
    assert_absent(inner, "c/0");
    assert_absent(store, "c/1");
    assert_ok(put_data("c/0", "more", PP_PUBLISH_REPLACE));
    assert_fails(put_data("c/0", "more", PP_PUBLISH_EXCLUSIVE), PARAPET_ERR_EXISTS, "c/0");
    assert_ok(put_data("c/1", "more", PP_PUBLISH_EXCLUSIVE));
}

static void test_null__keeps_documents_logs_and_locks_in_the_store_it_wraps(void **state)
{
    pp_log *log;
    pp_lock *lock;
    bool is_held;
    (void)state;
    assert_ok(put(store, "zarr.json", "{}", PP_PUBLISH_REPLACE));
    assert_object(store, "zarr.json", "{}");
    assert_object(inner, "zarr.json", "{}");
    assert_ok(pp_store_open_log(store, "log", 0, &log));
    assert_ok(pp_log_append(log, "record", 6));
    pp_log_close(log);
    assert_object(inner, "log", "record");
    assert_listing(store, "", "log=6 zarr.json=2 ");
    assert_ok(pp_store_open_lock(store, "lock", &lock));
    assert_ok(pp_lock_set(lock, PP_LOCK_LONG, PP_LOCK_EXCLUSIVE));
    assert_ok(pp_lock_test(lock, PP_LOCK_SHORT, &is_held));
    pp_lock_close(lock);
    assert_ok(pp_store_remove(store, "zarr.json"));
    assert_ok(pp_store_remove_prefix(store, ""));
    assert_absent(inner, "log");
}

static void test_null__knows_versions(void **state)
{
    uint64_t first, second, document;
    pp_write_request request = data_request("c/0");
    pp_writer *writer;
    (void)state;
    assert_ok(pp_store_begin(store, &request, &writer));
    assert_ok(pp_writer_publish(writer, PP_PUBLISH_REPLACE));
    assert_ok(pp_store_version(store, "c/0", &first));
    assert_true(first != 0 && first == writer->version);
    pp_writer_free(writer);
    assert_ok(put_data("c/0", "data", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_version(store, "c/0", &second));
    assert_true(second != 0 && second != first);
    assert_ok(put(store, "zarr.json", "{}", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_version(store, "zarr.json", &document));
    assert_true(document != 0);
    assert_ok(pp_store_version(store, "c/1", &document));
    assert_int_equal(document, 0);
}

static void test_null__moves_and_removes_what_it_dropped(void **state)
{
    (void)state;
    assert_ok(put_data("c/0", "data", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_move(store, "c/0", "c/1"));
    assert_absent(store, "c/0");
    assert_refused("c/1");
    assert_ok(pp_store_remove(store, "c/1"));
    assert_absent(store, "c/1");
    assert_ok(put_data("c/2", "data", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_remove_prefix(store, "c"));
    assert_ok(pp_store_remove_empty(store, "c"));
    assert_absent(store, "c/2");
}

static void test_null__a_writer_can_be_left_and_found_again(void **state)
{
    pp_write_request request = {.key = "c/0", .staging = "tmp", .name = "part"};
    pp_writer *writer;
    (void)state;
    assert_int_equal(pp_store_resume(store, &request, 4, &writer), PARAPET_ERR_NOT_FOUND);
    assert_ok(pp_store_begin(store, &request, &writer));
    assert_ok(pp_writer_append(writer, "data", 4));
    assert_ok(pp_writer_sync(writer));
    pp_writer_suspend(writer);
    assert_absent(store, "c/0");
    assert_ok(pp_store_resume(store, &request, 4, &writer));
    assert_int_equal(writer->bytes, 4);
    assert_ok(pp_writer_append(writer, "more", 4));
    assert_int_equal(writer->bytes, 8);
    assert_ok(pp_writer_stage(writer));
    assert_ok(pp_writer_publish(writer, PP_PUBLISH_REPLACE));
    pp_writer_free(writer);
    assert_refused("c/0");
    assert_int_equal(pp_store_resume(store, &request, 4, &writer), PARAPET_ERR_NOT_FOUND);
}

static void test_null__what_is_abandoned_was_never_there(void **state)
{
    pp_write_request request = data_request("c/0");
    pp_writer *writer;
    (void)state;
    assert_ok(pp_store_begin(store, &request, &writer));
    assert_ok(pp_writer_append(writer, "data", 4));
    assert_ok(pp_writer_stage(writer));
    assert_absent(store, "c/0");
    pp_writer_free(writer);
    assert_absent(store, "c/0");
}

static void test_null__refused_allocations_leave_nothing(void **state)
{
    refusal plan = {0};
    parapet_status status;
    (void)state;
    for (plan.at = 0;; plan.at++) {
        long live = pp_memory_live_count();
        pp_store *other = NULL;
        plan.count = 0;
        pp_memory_hook_set(refuse_one, &plan);
        if ((status = pp_store_null_build(&other, inner)) == PARAPET_OK)
            status = pp_store_write_all(other, &(pp_write_request){.key = "c/0", .staging = "tmp"}, "x", 1,
                                        PP_PUBLISH_REPLACE);
        pp_memory_hook_set(NULL, NULL);
        pp_store_free(other);
        assert_int_equal(pp_memory_live_count(), live);
        if (plan.count <= plan.at)
            break;
        assert_int_equal(status, PARAPET_ERR_MEMORY);
    }
    assert_ok(status);
}

static void test_null__a_document_can_be_left_and_found_again(void **state)
{
    pp_write_request request = {.key = "zarr.json", .staging = "tmp", .name = "part", .is_small = true};
    pp_writer *writer;
    (void)state;
    assert_ok(pp_store_begin(store, &request, &writer));
    assert_ok(pp_writer_append(writer, "{", 1));
    assert_ok(pp_writer_sync(writer));
    pp_writer_suspend(writer);
    assert_ok(pp_store_resume(store, &request, 1, &writer));
    assert_ok(pp_writer_append(writer, "}", 1));
    assert_ok(pp_writer_stage(writer));
    assert_ok(pp_writer_publish(writer, PP_PUBLISH_REPLACE));
    pp_writer_free(writer);
    assert_object(inner, "zarr.json", "{}");
}

/* Found again without memory it is not found, but stays. */
static void test_null__a_writer_waits_until_there_is_memory(void **state)
{
    pp_write_request request = {.key = "c/0", .staging = "tmp", .name = "part"};
    refusal plan = {0};
    pp_writer *writer;
    parapet_status status;
    (void)state;
    assert_ok(pp_store_begin(store, &request, &writer));
    pp_writer_suspend(writer);
    for (plan.at = 0;; plan.at++) {
        long live = pp_memory_live_count();
        plan.count = 0;
        pp_memory_hook_set(refuse_one, &plan);
        status = pp_store_resume(store, &request, 0, &writer);
        pp_memory_hook_set(NULL, NULL);
        if (status == PARAPET_OK)
            break;
        assert_int_equal(status, PARAPET_ERR_MEMORY);
        assert_int_equal(pp_memory_live_count(), live);
    }
    assert_true(plan.at > 0);
    assert_ok(pp_writer_publish(writer, PP_PUBLISH_REPLACE));
    pp_writer_free(writer);
    assert_refused("c/0");
}

#define OPENED(name) cmocka_unit_test_setup_teardown(name, open_stores, close_stores)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OPENED(test_null__takes_data_and_refuses_to_read_it),
        OPENED(test_null__keeps_documents_logs_and_locks_in_the_store_it_wraps),
        OPENED(test_null__knows_versions),
        OPENED(test_null__moves_and_removes_what_it_dropped),
        OPENED(test_null__a_writer_can_be_left_and_found_again),
        OPENED(test_null__a_document_can_be_left_and_found_again),
        OPENED(test_null__a_writer_waits_until_there_is_memory),
        OPENED(test_null__what_is_abandoned_was_never_there),
        OPENED(test_null__refused_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
