/* What a copy leaves when it is interrupted. */
#include "support.h"

#include "array/remove_tree.h"
#include "stored.h"

static size_t find(const char *text, const char *word, size_t from)
{
    while (strncmp(text + from, word, strlen(word)) != 0) {
        assert_true(text[from] != '\0');
        from++;
    }
    return from;
}

/* As another program may have made it: "g/c.0" instead of "g/c/0". */
static void rename_shards(parapet_store *store)
{
    size_t bytes;
    char *document = stored_get(store, "g/zarr.json", &bytes), *shard, key[32], renamed[32];
    int i;
    assert_non_null(document);
    document[find(document, "\"/\"", find(document, "chunk_key_encoding", 0)) + 1] = '.';
    stored_put(store, "g/zarr.json", document, bytes);
    pp_free(document);
    for (i = 0; i < 4; i++) {
        (void)snprintf(key, sizeof key, "g/c/%d", i);
        (void)snprintf(renamed, sizeof renamed, "g/c.%d", i);
        shard = stored_get(store, key, &bytes);
        assert_non_null(shard);
        stored_put(store, renamed, shard, bytes);
        assert_ok(pp_store_remove(store->backend, key));
        pp_free(shard);
    }
}

static int stop_half_way(void *context, int64_t done_bytes, int64_t total_bytes)
{
    return *(bool *)context && total_bytes > 0 && done_bytes * 2 >= total_bytes;
}

static void create_four_shards(parapet_store *store)
{
    int64_t extent[] = {16}, chunks[] = {4}, start[] = {0};
    int32_t values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 1, .shape = extent, .chunks = chunks, .shards = chunks, .codec = "none"};
    parapet_part part = {.ndim = 1, .start = start, .count = extent, .data = values};
    parapet_array *array = NULL;
    assert_ok(parapet_array_create(&array, store, "g", &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_close(&array));
}

/* Whether all that is there is known to be ours. */
static parapet_status look_for_foreign(parapet_store *store)
{
    pp_remove_tree removal;
    parapet_status status = pp_remove_tree_init(&removal, store, "b");
    assert_ok(status);
    status = pp_remove_tree_find(&removal);
    pp_remove_tree_clear(&removal);
    return status;
}

static void test_cleanup__are_known_however_shards_are_named(void **context)
{
    bool stops = false;
    parapet_store_options options = {
        .io_thread = PARAPET_IO_THREAD_NONE, .progress = stop_half_way, .progress_context = &stops};
    parapet_copy_request request = {
        .source_path = "g", .target_path = "b", .changes = {.shards = "4"}, .unit_bytes = 16, .no_probe = 1};
    parapet_store *store = NULL;
    (void)context;
    stored_open(&store, &options);
    create_four_shards(store);
    rename_shards(store);
    request.source = request.target = store;
    stops = true;
    assert_fails(parapet_copy(&request, NULL), PARAPET_ERR_CANCELLED, "cancelled");
    assert_true(stored_has(store, "b/c.0"));
    assert_ok(look_for_foreign(store));
    stored_put_text(store, "b/d.0", "somebody's");
    assert_fails(look_for_foreign(store), PARAPET_ERR_EXISTS, "\"b/d.0\": Parapet did not make this");
    assert_ok(pp_store_remove(store->backend, "b/d.0"));
    stops = false;
    request.resume = 1;
    assert_ok(parapet_copy(&request, NULL));
    assert_false(stored_has(store, "b/__parapet/copy/makes"));
    stored_close(&store);
}

/* A run that resumes a complete copy may be killed before it is told so: the log that it had begun must not stay for
 * ever. A log that tells of an array stays. */
static void test_cleanup__of_a_resumed_copy_that_was_complete_go(void **context)
{
    static const char head[] = "chunks: as the source; shards: as the source; order: as the source; region: as the "
                               "source; codec: as the source; no_checksum: 0; unit_bytes: 0; intermediate store: "
                               "the target's\n";
    parapet_copy_request request = {.source_path = "", .target_path = "", .no_probe = 1};
    parapet_store *source = NULL, *target = NULL;
    char more[sizeof head + 64];
    (void)context;
    stored_open(&source, NULL);
    stored_open(&target, NULL);
    create_four_shards(source);
    request.source = source;
    request.target = target;
    assert_ok(parapet_copy(&request, NULL));
    request.resume = 1;
    stored_put_text(target, "__parapet/copy/finished", head);
    assert_fails(parapet_copy(&request, NULL), PARAPET_ERR_EXISTS, "does not belong");
    assert_false(stored_has(target, "__parapet/copy/finished"));
    (void)snprintf(more, sizeof more, "%s0000000000001234 another\n", head);
    stored_put_text(target, "__parapet/copy/finished", more);
    assert_fails(parapet_copy(&request, NULL), PARAPET_ERR_EXISTS, "does not belong");
    assert_true(stored_has(target, "__parapet/copy/finished"));
    stored_close(&source);
    stored_close(&target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cleanup__of_a_resumed_copy_that_was_complete_go),
        cmocka_unit_test(test_cleanup__are_known_however_shards_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
