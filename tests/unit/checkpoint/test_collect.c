/* Collecting what crashes left: what goes and what stays, and where there is more of it than memory for a list. */
#include "support.h"

#include "change/change_record.h"
#include "failing.h"
#include "stored.h"

enum { OBJECTS = 6000, NAME_BYTES = 200 };

/* As the store names what it has not published yet; the key is as long as it can be. */
static void put_temporaries(parapet_store *store)
{
    char key[NAME_BYTES + 64];
    int i;
    stored_put_text(store, "zarr.json", "{\"zarr_format\": 3, \"node_type\": \"group\"}");
    for (i = 0; i < OBJECTS; i++) {
        (void)snprintf(key, sizeof key, "a/__parapet/tmp/%0*d", NAME_BYTES, i);
        stored_put_text(store, key, "");
    }
}

static int count_one(void *context, const char *key, const char *reason)
{
    assert_non_null(strstr(key, "a/__parapet/tmp/"));
    assert_string_equal(reason, "a temporary object that was never published");
    *(int *)context += 1;
    return 0;
}

static void test_collect__keeps_its_list_within_the_memory(void **state)
{
    parapet_store_options options = {.memory_bytes = 1 << 20, .io_thread = PARAPET_IO_THREAD_NONE};
    parapet_store *store = NULL;
    parapet_statistics statistics;
    int told = 0, calls = 0, before;
    (void)state;
    stored_open(&store, &options);
    put_temporaries(store);
    do {
        before = told;
        calls++;
    } while (parapet_store_collect(store, "", 0, count_one, &told) == PARAPET_ERR_MEMORY && told > before);
    assert_int_equal(told, OBJECTS);
    assert_true(calls > 1);
    assert_false(stored_has(store, "a/__parapet/tmp"));
    assert_ok(parapet_store_get_statistics(store, &statistics));
    assert_true(statistics.memory_peak_bytes > 512 << 10 && statistics.memory_peak_bytes <= options.memory_bytes);
    stored_close(&store);
}

/* ---- What goes, and what stays ---- */

#define SHRUNK                                                                                                       \
    "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [2], \"data_type\": \"uint8\", \"fill_value\": 0, "   \
    "\"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [1]}}, "                           \
    "\"chunk_key_encoding\": {\"name\": \"default\"}, \"codecs\": [{\"name\": \"bytes\"}], "                         \
    "\"attributes\": {\"_parapet\": {\"trim\": [true]}}}"

typedef struct thing {
    const char *key, *text;
    const char *told, *reason; /* NULL: it stays */
} thing;

static const thing things[] = {
    {"zarr.json", "{\"zarr_format\": 3, \"node_type\": \"group\"}", NULL, NULL},
    {".parapet-0123456789abcdef0123456789abcdef.tmp", "", ".parapet-0123456789abcdef0123456789abcdef.tmp",
     "a temporary object that was never published"},
    {".parapet-0123.tmp", "not a name of the library", NULL, NULL},
    {"__parapet-probe-7/data", "", "__parapet-probe-7", "what is left of measuring the storage"},
    {"a/__parapet/copy/parts", "", "a/__parapet/copy", "what is left of a copy that cannot be resumed"},
    {"b/__parapet/copy/job", "", NULL, NULL},
    {"d/__parapet/copy/finished", "", NULL, NULL},
    {"d/__parapet/copy/parts/1", "", NULL, NULL},
    {"s/__parapet/open/1", "", "s/__parapet/open/1", "open steps of a series that were not flushed"},
    {"s/__parapet/tmp/1", "", "s/__parapet/tmp/1", "a temporary object that was never published"},
    {"s/__parapet/unknown", "", NULL, NULL},
    {"t/zarr.json", SHRUNK, NULL, NULL},
    {"t/c/1", "1", NULL, NULL},
    {"t/c/2", "2", "t/c/2", "cut off by a resize that did not finish"},
    {"c/g00000004/__parapet/claim", "", "c/g00000004", "a generation that was never committed"},
    {"c/g00000005/__parapet/foreign", "", NULL, NULL},
};

enum { THINGS = sizeof things / sizeof things[0] };

static int note_thing(void *context, const char *key, const char *reason)
{
    int *told = context, i;
    for (i = 0; i < THINGS && (things[i].told == NULL || strcmp(things[i].told, key) != 0); i++)
        ;
    if (i == THINGS)
        fail_msg("%s: %s", key, reason);
    assert_string_equal(reason, things[i].reason);
    (*told)++;
    return 0;
}

static void put_things(parapet_store *store)
{
    int i;
    for (i = 0; i < THINGS; i++)
        stored_put_text(store, things[i].key, things[i].text);
}

static void assert_things(parapet_store *store, bool are_all_there)
{
    int i;
    for (i = 0; i < THINGS; i++)
        if (stored_has(store, things[i].key) != (are_all_there || things[i].told == NULL))
            fail_msg("%s %s", things[i].key, things[i].told == NULL ? "is gone" : "is there, or was told too early");
}

static void test_collect__takes_only_what_nobody_needs(void **state)
{
    parapet_store *store = NULL;
    int dry = 0, told = 0, again = 0;
    (void)state;
    stored_open(&store, NULL);
    put_things(store);
    assert_ok(parapet_store_collect(store, "", 1, note_thing, &dry));
    assert_things(store, true);
    assert_ok(parapet_store_collect(store, "", 0, note_thing, &told));
    assert_things(store, false);
    assert_int_equal(dry, told);
    assert_int_equal(told, 7);
    assert_ok(parapet_store_collect(store, "", 0, note_thing, &again));
    assert_int_equal(again, 0);
    stored_close(&store);
}

static void assert_kept(parapet_store *store, const failing *by)
{
    int i;
    for (i = 0; i < THINGS; i++)
        if (things[i].told == NULL && !stored_has(store, things[i].key))
            fail_msg("%s is gone when %s %ld fails", things[i].key, failing_words(by), by->at - 1);
}

/* What stays is there whatever fails, and the next attempt takes the rest. */
static void check_failing(int dry, bool is_memory)
{
    long live = pp_memory_live_count();
    parapet_store *store;
    failing by;
    bool has_failed;
    int told = 0;
    stored_open(&store, NULL);
    failing_open(&by, store->backend, is_memory);
    do {
        put_things(store);
        failing_begin(&by);
        (void)parapet_store_collect(by.store, "", dry, note_thing, &told);
        has_failed = failing_end(&by);
        assert_kept(store, &by);
        if (dry)
            assert_things(store, true);
        assert_ok(parapet_store_collect(store, "", 0, note_thing, &told));
        assert_things(store, false);
    } while (has_failed);
    failing_close(&by);
    stored_close(&store);
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_collect__that_fails_anywhere_takes_nothing_else_and_can_be_repeated(void **state)
{
    (void)state;
    check_failing(0, false);
    check_failing(0, true);
    check_failing(1, false);
}

static int note_first(void *context, const char *key, const char *reason)
{
    (void)key;
    (void)reason;
    ++*(int *)context;
    return 1;
}

static int count_all(void *context, const char *key, const char *reason)
{
    (void)key;
    (void)reason;
    ++*(int *)context;
    return 0;
}

/* An append that cannot be put right stays, and so does the mark of metadata, which another job may need. */
static void test_collect__leaves_the_marks_where_one_cannot_be_put_right(void **state)
{
    parapet_store *store = NULL;
    int told = 0;
    (void)state;
    stored_open(&store, NULL);
    stored_put_text(store, "e/zarr.json", things[0].text);
    stored_put_text(store, "e/__parapet/change", "no words of an append");
    stored_put_text(store, "f/zarr.json", things[0].text);
    stored_put_text(store, "f/__parapet/consolidate", "");
    stored_put_text(store, "zarr.json", things[0].text);
    stored_put_text(store, "__parapet/consolidate", "");
    assert_ok(parapet_store_collect(store, "", 1, count_all, &told));
    assert_int_equal(told, 3);
    assert_ok(parapet_store_collect(store, "", 1, note_first, &told));
    assert_int_equal(told, 4);
    assert_int_not_equal(parapet_store_collect(store, "", 0, count_all, &told), PARAPET_OK);
    assert_int_equal(told, 4);
    assert_true(stored_has(store, "e/__parapet/change"));
    assert_true(stored_has(store, "f/__parapet/consolidate"));
    assert_ok(pp_store_remove(store->backend, "e/__parapet/change"));
    assert_ok(parapet_store_collect(store, "", 0, count_all, &told));
    assert_int_equal(told, 6);
    assert_false(stored_has(store, "f/__parapet/consolidate"));
    assert_false(stored_has(store, "__parapet/consolidate"));
    stored_close(&store);
}

static bool is_consolidated(parapet_store *store, const char *key)
{
    size_t bytes;
    char *text = stored_get(store, key, &bytes);
    bool is_found = strstr(text, "consolidated_metadata") != NULL;
    pp_free(text);
    return is_found;
}

/* A group with a coordinate that an append has made longer, and the record of it. */
static void put_decided_append(parapet_store *store, const char *group)
{
    static const unsigned char document[PP_SHA256_BYTES] = {0};
    static const char *const names[1] = {"time"};
    const int64_t shape[1] = {5};
    const parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = shape, .dimension_names = names};
    pp_change change = {0};
    pp_text text = {0};
    parapet_array *array;
    char key[64];
    (void)snprintf(key, sizeof key, "%s/time", group);
    assert_ok(parapet_array_create(&array, store, key, &spec));
    assert_ok(parapet_array_close(&array));
    assert_ok(pp_change_begin(&change, "time", 3, 5));
    assert_ok(pp_change_add_array(&change, "time", document));
    assert_ok(pp_change_add_group(&change, ""));
    assert_ok(pp_change_print(&change, &text));
    (void)snprintf(key, sizeof key, "%s/__parapet/change", group);
    stored_put_text(store, key, text.data);
    pp_text_free(&text);
    pp_change_clear(&change);
}

/* The metadata of the outer group can be made again only when the inner one is at rest. */
static void test_collect__puts_inner_groups_right_before_outer_ones(void **state)
{
    parapet_store *store = NULL;
    int told = 0;
    (void)state;
    stored_open(&store, NULL);
    put_decided_append(store, "g/inner");
    put_decided_append(store, "g");
    assert_ok(parapet_store_collect(store, "", 0, count_all, &told));
    assert_int_equal(told, 2);
    assert_false(stored_has(store, "g/__parapet/change") || stored_has(store, "g/inner/__parapet/change"));
    assert_true(is_consolidated(store, "g/zarr.json"));
    stored_close(&store);
}

/* Nobody could tell what is new from what the append has left; what gc has put right is a group as any other. */
static void test_collect__takes_nothing_new_where_an_append_was_interrupted(void **state)
{
    const parapet_array_spec steps = {.type = PARAPET_INT32, .ndim = 1, .shape = (const int64_t[]){0}};
    parapet_store *store;
    parapet_group *group = NULL;
    parapet_array *array = NULL;
    parapet_checkpoint *checkpoint = NULL;
    (void)state;
    stored_open(&store, NULL);
    stored_put_text(store, "a/zarr.json", things[0].text);
    stored_put_text(store, "a/__parapet/change", "");
    assert_fails(parapet_group_create(&group, store, "a/new", NULL), PARAPET_ERR_EXISTS, "was interrupted");
    assert_fails(parapet_group_create(&group, store, "a/b/new", NULL), PARAPET_ERR_EXISTS, "was interrupted");
    assert_fails(parapet_array_create(&array, store, "a/b/new", &steps), PARAPET_ERR_EXISTS, "was interrupted");
    assert_fails(parapet_checkpoint_begin(&checkpoint, store, "a/restart", NULL), PARAPET_ERR_EXISTS,
                 "was interrupted");
    assert_false(stored_has(store, "a/new/zarr.json") || stored_has(store, "a/b/zarr.json") ||
                 stored_has(store, "a/restart/zarr.json"));
    assert_ok(pp_store_remove(store->backend, "a/__parapet/change"));
    assert_ok(parapet_group_create(&group, store, "a/new", NULL));
    assert_ok(parapet_group_close(&group));
    stored_close(&store);
}

/* What says that it was shrunk, but not how, or cannot be read, is told, and nothing of it goes. */
static void test_collect__removes_nothing_where_a_mark_is_wrong(void **state)
{
    static const struct {
        const char *word, *other, *sentence;
    } changes[] = {{"[true]", "\"true\"", "trim"}, {"[2]", "\"2\"", "shape"}};
    parapet_store *store = NULL;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char document[sizeof SHRUNK] = SHRUNK;
        int told = 0;
        stored_open(&store, NULL);
        memcpy(strstr(document, changes[i].word), changes[i].other, strlen(changes[i].other));
        stored_put_text(store, "t/zarr.json", document);
        stored_put_text(store, "t/c/2", "2");
        assert_fails(parapet_store_collect(store, "", 0, count_all, &told), PARAPET_ERR_FORMAT, changes[i].sentence);
        assert_int_equal(told, 0);
        assert_true(stored_has(store, "t/c/2"));
        stored_close(&store);
    }
}

static void test_collect__needs_a_store_that_is_writable_and_without_handles(void **state)
{
    parapet_store *store = NULL;
    parapet_group *group = NULL;
    int told = 0;
    (void)state;
    stored_open(&store, NULL);
    put_things(store);
    assert_ok(parapet_group_open(&group, store, ""));
    assert_fails(parapet_store_collect(store, "", 0, note_thing, &told), PARAPET_ERR_ARGUMENT, "1 arrays, groups");
    assert_ok(parapet_group_close(&group));
    stored_reopen(&store, PARAPET_READ, NULL);
    assert_fails(parapet_store_collect(store, "", 0, note_thing, &told), PARAPET_ERR_ARGUMENT, "open for reading");
    assert_int_equal(told, 0);
    assert_things(store, true);
    assert_ok(parapet_store_collect(store, "", 1, note_thing, &told));
    assert_int_equal(told, 7);
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collect__takes_nothing_new_where_an_append_was_interrupted),
        cmocka_unit_test(test_collect__takes_only_what_nobody_needs),
        cmocka_unit_test(test_collect__that_fails_anywhere_takes_nothing_else_and_can_be_repeated),
        cmocka_unit_test(test_collect__needs_a_store_that_is_writable_and_without_handles),
        cmocka_unit_test(test_collect__leaves_the_marks_where_one_cannot_be_put_right),
        cmocka_unit_test(test_collect__removes_nothing_where_a_mark_is_wrong),
        cmocka_unit_test(test_collect__puts_inner_groups_right_before_outer_ones),
        cmocka_unit_test(test_collect__keeps_its_list_within_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
