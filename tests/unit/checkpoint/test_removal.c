/* What parapet_store_remove says of all kinds of places: each is a few objects, as somebody may have put them. What
 * is refused stays as it is, to the byte. */
#include "support.h"

#include "failing.h"
#include "stored.h"

#define GROUP "{\"zarr_format\":3,\"node_type\":\"group\"}"
#define GROUP_UNREADABLE "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":7}"
#define SERIES(names)                                                                                                \
    "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{\"_parapet\":{\"series\":{\"dimension\":\"time\","   \
    "\"arrays\":[" names "]}}}}"
#define ARRAY                                                                                                        \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[4],\"data_type\":\"int32\",\"chunk_grid\":{\"name\":"     \
    "\"regular\",\"configuration\":{\"chunk_shape\":[2]}},\"chunk_key_encoding\":{\"name\":\"default\","             \
    "\"configuration\":{\"separator\":\"/\"}},\"fill_value\":0,\"codecs\":[{\"name\":\"bytes\",\"configuration\":"   \
    "{\"endian\":\"little\"}}],\"attributes\":{}}"
#define ARRAY_UNSUPPORTED                                                                                            \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[4],\"data_type\":\"int32\",\"chunk_grid\":{\"name\":"     \
    "\"other\"},\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":0,\"codecs\":[{\"name\":\"bytes\"}]}"
#define DEEP "d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/"
#define TEMPORARY ".parapet-0123456789abcdef0123456789abcdef.tmp"

enum { OBJECTS_MOST = 5 };

typedef struct object {
    const char *key, *text;
} object;

typedef struct removal_case {
    object objects[OBJECTS_MOST];
    const char *path;
    int recursive;
    parapet_status status;
    const char *sentence;
} removal_case;

static const removal_case cases[] = {
    /* Below an array there is nothing to remove. */
    {{{"r/zarr.json", ARRAY}}, "r/below", 0, PARAPET_ERR_NOT_FOUND, "\"r\" is an array"},
    {{{"zarr.json", ARRAY}}, "below", 0, PARAPET_ERR_NOT_FOUND, "\"/\" is an array"},
    /* What is above matters only if it names the array. */
    {{{"v/.zgroup", "{\"zarr_format\":2}"}, {"v/a/zarr.json", ARRAY}}, "v/a", 0, PARAPET_OK, ""},
    {{{"i/a/zarr.json", ARRAY}, {"i/a/c/0", "12345678"}}, "i/a", 0, PARAPET_OK, ""},
    {{{"u/zarr.json", GROUP_UNREADABLE}, {"u/a/zarr.json", ARRAY}}, "u/a", 0, PARAPET_ERR_FORMAT, "group \"u\""},
    {{{"zarr.json", GROUP_UNREADABLE}, {"a/zarr.json", ARRAY}}, "a", 0, PARAPET_ERR_FORMAT, "group \"/\""},
    {{{"s/zarr.json", SERIES("\"u\"")}, {"s/u/zarr.json", ARRAY}},
     "s/u",
     0,
     PARAPET_ERR_ARGUMENT,
     "a part of the series \"s\""},
    {{{"s/zarr.json", SERIES("\"u\"")}, {"s/time/zarr.json", ARRAY}},
     "s/time",
     0,
     PARAPET_ERR_ARGUMENT,
     "a part of the series \"s\""},
    {{{"zarr.json", SERIES("\"u\"")}, {"u/zarr.json", ARRAY}}, "u", 0, PARAPET_ERR_ARGUMENT, "the series \"/\""},
    {{{"s/zarr.json", SERIES("\"u\\u0000\",7")}, {"s/u/zarr.json", ARRAY}}, "s/u", 0, PARAPET_OK, ""},
    {{{"s/zarr.json", SERIES("\"u\"")}, {"s/uv/zarr.json", ARRAY}}, "s/uv", 0, PARAPET_OK, ""},
    {{{"g/__parapet/change", "half"}, {"g/zarr.json", GROUP}, {"g/a/zarr.json", ARRAY}},
     "g/a",
     0,
     PARAPET_ERR_EXISTS,
     "an append to \"g\" was interrupted"},
    {{{"c/zarr.json", GROUP}, {"c/__parapet/commits/00000001", "no record"}, {"c/g00000001/a/zarr.json", ARRAY}},
     "c/g00000001",
     1,
     PARAPET_ERR_ARGUMENT,
     "a part of the checkpoint \"c\""},
    {{{"c/zarr.json", GROUP},
      {"c/__parapet/commits/" TEMPORARY, "half a record"},
      {"c/__parapet/commits/below/object", "no record"},
      {"c/g00000001/a/zarr.json", ARRAY}},
     "c/g00000001/a",
     0,
     PARAPET_OK,
     ""},
    /* What it is itself. */
    {{{"x/notes.txt", "somebody's"}}, "x", 1, PARAPET_ERR_EXISTS, "\"x/notes.txt\""},
    {{{"x/notes.txt", "somebody's"}, {"x/more.txt", "too"}}, "x", 1, PARAPET_ERR_EXISTS, "move them elsewhere"},
    {{{"x/1", "one"}, {"x/2", "two"}, {"x/3", "three"}, {"x/4", "four"}, {"x/5", "five"}},
     "x",
     1,
     PARAPET_ERR_EXISTS,
     "\"x/3\" and 2 more"},
    {{{"notes.txt", "somebody's"}, {"a/zarr.json", ARRAY}}, "", 1, PARAPET_ERR_EXISTS, "\"notes.txt\""},
    {{{"x/zarr.json", GROUP}, {"x/__other/object", "somebody's"}},
     "x",
     1,
     PARAPET_ERR_EXISTS,
     "\"x/__other/object\""},
    {{{"x/zarr.json", GROUP}, {"x/" TEMPORARY, "half"}, {"x/a/zarr.json", ARRAY}}, "x", 1, PARAPET_OK, ""},
    {{{"x/zarr.json", "{"}, {"x/c/0", "data"}}, "x", 0, PARAPET_OK, ""},
    {{{"x/zarr.json", "{"}, {"x/c/0", "data"}, {"x/notes.txt", "somebody's"}},
     "x",
     0,
     PARAPET_ERR_EXISTS,
     "the document of \"x\" cannot be read"},
    {{{"x/zarr.json", "{"}, {"x/c/0", "data"}, {"x/c/0x", "somebody's"}},
     "x",
     0,
     PARAPET_ERR_EXISTS,
     "\"x/c/0x\" is"},
    {{{"x/zarr.json", "{"}, {"x/more.txt", "data"}, {"x/notes.txt", "somebody's"}},
     "x",
     0,
     PARAPET_ERR_EXISTS,
     "\"x/notes.txt\" are"},
    {{{"x/zarr.json", ARRAY_UNSUPPORTED}, {"x/c/0", "data"}}, "x", 0, PARAPET_OK, ""},
    {{{"x/zarr.json", ARRAY_UNSUPPORTED}, {"x/c/0x", "data"}}, "x", 0, PARAPET_ERR_EXISTS, "cannot be read"},
    {{{"zarr.json", GROUP_UNREADABLE}}, "", 1, PARAPET_ERR_FORMAT, "the document of the group \"/\" cannot be read"},
    {{{"x/zarr.json", "{\"zarr_format\":9,\"node_type\":\"array\"}"}}, "x", 0, PARAPET_ERR_FORMAT, "\"x\""},
    {{{"zarr.json", "{\"zarr_format\":9,\"node_type\":\"array\"}"}}, "", 1, PARAPET_ERR_FORMAT, "\"/\""},
    {{{"x/.zarray", "{\"zarr_format\":2}"}}, "x", 0, PARAPET_ERR_UNSUPPORTED, "Zarr v2"},
    {{{"x/.zarray", "7"}}, "x", 0, PARAPET_ERR_UNSUPPORTED, "Zarr v2"},
    {{{"zarr.json", ARRAY}, {"c/0", "12345678"}}, "", 0, PARAPET_ERR_ARGUMENT, "\"/\" is a group"},
    {{{"zarr.json", ARRAY}, {"c/0", "12345678"}}, "", 1, PARAPET_OK, ""},
    {{{"x/__parapet/lock", ""}}, "x", 0, PARAPET_OK, ""},
    /* What an overwriting or a copy has left says what it was about, if that can be read. */
    {{{"x/__parapet/old.json", ARRAY}, {"x/c/0", "data"}}, "x", 0, PARAPET_OK, ""},
    {{{"x/__parapet/old.json", "{"}, {"x/c/0", "data"}}, "x", 0, PARAPET_OK, ""},
    {{{"x/__parapet/old.json", "7"}, {"x/c/0", "data"}}, "x", 0, PARAPET_OK, ""},
    {{{"x/__parapet/old.json", ARRAY_UNSUPPORTED}, {"x/c/0", "data"}}, "x", 0, PARAPET_OK, ""},
    {{{"x/__parapet/old.json", "{"}, {"x/notes.txt", "somebody's"}}, "x", 0, PARAPET_ERR_EXISTS, "notes.txt"},
    {{{"x/__parapet/copy/replaces", ARRAY}, {"x/c/0", "data"}}, "x", 0, PARAPET_OK, ""},
    {{{"x/__parapet/copy/makes", ARRAY}, {"x/c/0", "data"}}, "x", 0, PARAPET_OK, ""},
    {{{"x/__parapet/copy/job", "a job"}, {"x/c/0", "data"}}, "x", 0, PARAPET_OK, ""},
    {{{"x/__parapet/copy/job", "a job"}, {"x/__parapet/copy/replaces", ARRAY}, {"x/c/0", "data"}},
     "x",
     0,
     PARAPET_OK,
     ""},
    {{{"x/__parapet/copy/job", "a job"}, {"x/__parapet/old.json", ARRAY}, {"x/c/0", "data"}}, "x", 0, PARAPET_OK, ""},
    {{{"x/__parapet/copy/state", "half"}, {"x/c/0", "data"}}, "x", 0, PARAPET_OK, ""},
    {{{"__parapet-probe-1/object", "half"}, {"a/zarr.json", ARRAY}}, "", 1, PARAPET_OK, ""},
    {{{"other/object", "somebody's"}}, "x", 0, PARAPET_ERR_NOT_FOUND, "no array or group at \"x\""},
    {{{"x/zarr.json", ARRAY}, {"x/" DEEP "object", "data"}}, "x", 0, PARAPET_ERR_UNSUPPORTED, "deep"},
};

static void put_objects(parapet_store *store, const object *objects)
{
    int i;
    for (i = 0; i < OBJECTS_MOST && objects[i].key != NULL; i++)
        stored_put_text(store, objects[i].key, objects[i].text);
}

static void check_refused(parapet_store *store, const removal_case *of)
{
    int i;
    for (i = 0; i < OBJECTS_MOST && of->objects[i].key != NULL; i++) {
        size_t bytes;
        char *text = stored_get(store, of->objects[i].key, &bytes);
        assert_non_null(text);
        assert_string_equal(text, of->objects[i].text);
        pp_free(text);
    }
}

static void check_case(const removal_case *of, int dry)
{
    parapet_store *store;
    parapet_status status;
    pp_store_memory_drop("test");
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, "memory:test", PARAPET_CREATE, NULL));
    put_objects(store, of->objects);
    status = parapet_store_remove(store, of->path, of->recursive, dry, NULL, NULL);
    if (status != of->status || (status != PARAPET_OK && strstr(parapet_error_message(), of->sentence) == NULL))
        fail_msg("%s of case %zu, \"%s\": %s: %s", dry ? "a trial" : "removal", (size_t)(of - cases), of->path,
                 parapet_status_name(status), parapet_error_message());
    if (status != PARAPET_OK || dry)
        check_refused(store, of);
    else
        assert_int_equal(parapet_store_remove(store, of->path, of->recursive, 0, NULL, NULL), PARAPET_ERR_NOT_FOUND);
    stored_close(&store);
}

static void test_removal__of_every_kind_of_place_is_done_or_refused(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_case(&cases[i], 1);
        check_case(&cases[i], 0);
    }
}

/* ---- Failures ---- */

static void check_repeated(parapet_store *store, const removal_case *of, parapet_status before, const failing *by)
{
    parapet_status status = parapet_store_remove(store, of->path, of->recursive, 0, NULL, NULL);
    if (status != PARAPET_ERR_NOT_FOUND && (status != PARAPET_OK || before == PARAPET_OK))
        fail_msg("case %zu, \"%s\", after %s and %s %ld: %s: %s", (size_t)(of - cases), of->path,
                 parapet_status_name(before), failing_words(by), by->at, parapet_status_name(status),
                 parapet_error_message());
}

/* False: there is nothing more that could fail. */
static bool check_failing(parapet_store *store, const removal_case *of, int dry, failing *by)
{
    parapet_status status;
    bool has_failed;
    put_objects(store, of->objects);
    failing_begin(by);
    status = parapet_store_remove(by->store, of->path, of->recursive, dry, NULL, NULL);
    has_failed = failing_end(by);
    if (of->status != PARAPET_OK || dry)
        check_refused(store, of);
    if (of->status != PARAPET_OK && status == PARAPET_OK)
        fail_msg("case %zu, \"%s\", is removed when %s %ld fails", (size_t)(of - cases), of->path, failing_words(by),
                 by->at - 1);
    if (of->status == PARAPET_OK && !dry)
        check_repeated(store, of, status, by);
    return has_failed;
}

/* Stores are opened before anything is put there: what is at the root may be refused. */
static void check_all_failing(const removal_case *of, int dry, bool is_memory)
{
    long live = pp_memory_live_count();
    parapet_store *store;
    failing by;
    stored_open(&store, NULL);
    failing_open(&by, store->backend, is_memory);
    while (check_failing(store, of, dry, &by))
        ;
    failing_close(&by);
    stored_close(&store);
    assert_int_equal(pp_memory_live_count(), live);
}

/* What is refused is refused then too, and what is removed in part is removed by the next attempt. Not of the last
 * case, which has very many places to fail. */
static void test_removal__that_fails_anywhere_takes_nothing_else_and_can_be_repeated(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i + 1 < sizeof cases / sizeof cases[0]; i++) {
        check_all_failing(&cases[i], 0, false);
        check_all_failing(&cases[i], 0, true);
        if (cases[i].status == PARAPET_OK) /* else a trial is nothing else */
            check_all_failing(&cases[i], 1, false);
    }
}

static int end_at_once(void *context, const char *key, const char *reason)
{
    (void)key;
    (void)reason;
    ++*(int *)context;
    return 1;
}

static void test_removal__goes_on_when_its_visitor_has_seen_enough(void **state)
{
    parapet_store *store;
    int calls = 0;
    (void)state;
    stored_open(&store, NULL);
    stored_put_text(store, "g/zarr.json", GROUP);
    stored_put_text(store, "g/a/zarr.json", ARRAY);
    stored_put_text(store, "g/b/zarr.json", ARRAY);
    assert_ok(parapet_store_remove(store, "g", 1, 0, end_at_once, &calls));
    assert_int_equal(calls, 1);
    assert_false(stored_has(store, "g/zarr.json") || stored_has(store, "g/a/zarr.json") ||
                 stored_has(store, "g/b/zarr.json"));
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_removal__of_every_kind_of_place_is_done_or_refused),
        cmocka_unit_test(test_removal__that_fails_anywhere_takes_nothing_else_and_can_be_repeated),
        cmocka_unit_test(test_removal__goes_on_when_its_visitor_has_seen_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
