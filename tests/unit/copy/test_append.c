/* Appends within one process: what a request may say, what is refused before anything is changed, coordinates of
 * every type, what would be done in words, and the record that an append leaves while it works. */
#include "support.h"

#include <math.h>

#include <parapet_plan.h>

#include "array/array.h"
#include "copy/append_list.h"
#include "copy/append_repair.h"
#include "copy/append_steps.h"
#include "copy/append_task.h"
#include "stored.h"
#include "stores/faulty.h"

#define SOURCE "more"
#define TARGET "all"

#define FILLED "\"bytes\", \"configuration\": {\"endian\": \"little\"}"
#define TEXT "\"vlen-utf8\""
#define UNREADABLE "\"crc32c\"" /* of bytes that nothing makes */

/* ---- What is stored ---- */

/* A document, by its fields that tests change; nothing of its elements is stored. */
typedef struct document {
    const char *shape, *names, *type, *fill, *attributes, *codec;
} document;

static void put_document(parapet_store *store, const char *group, const char *name, const document *of)
{
    char key[64], text[1000];
    (void)snprintf(key, sizeof key, "%s/%s/zarr.json", group, name);
    (void)snprintf(
        text, sizeof text,
        "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [%s], \"data_type\": \"%s\", \"fill_value\": %s,"
        " \"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [%s]}}, "
        "\"chunk_key_encoding\":"
        " {\"name\": \"default\", \"configuration\": {\"separator\": \"/\"}}, \"dimension_names\": [%s],"
        " \"codecs\": [{\"name\": %s}], \"attributes\": {%s}}",
        of->shape, of->type != NULL ? of->type : "int32", of->fill != NULL ? of->fill : "0", of->shape, of->names,
        of->codec != NULL ? of->codec : FILLED, of->attributes != NULL ? of->attributes : "");
    stored_put_text(store, key, text);
}

static void put_values(parapet_store *store, const char *path, parapet_type type, int64_t count, const void *values)
{
    static const char *const names[1] = {"time"};
    const int64_t start[1] = {0};
    parapet_array_spec spec = {.type = type, .ndim = 1, .shape = &count, .dimension_names = names, .overwrite = 1};
    parapet_part part = {.ndim = 1, .start = start, .count = &count, .data = (void *)(uintptr_t)values};
    parapet_array *array;
    assert_ok(parapet_array_create(&array, store, path, &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_close(&array));
}

/* Groups with a coordinate: three values in the target, and two that follow in the source. */
static void open_groups(parapet_store **store)
{
    static const int32_t before[3] = {1, 2, 3}, added[2] = {4, 5};
    parapet_group *group;
    stored_open(store, &(parapet_store_options){.io_thread = PARAPET_IO_THREAD_NONE});
    assert_ok(parapet_group_create(&group, *store, SOURCE, NULL));
    assert_ok(parapet_group_close(&group));
    assert_ok(parapet_group_create(&group, *store, TARGET, NULL));
    assert_ok(parapet_group_close(&group));
    put_values(*store, SOURCE "/time", PARAPET_INT32, 2, added);
    put_values(*store, TARGET "/time", PARAPET_INT32, 3, before);
}

static parapet_copy_request request_of(parapet_store *store)
{
    return (parapet_copy_request){
        .source = store, .source_path = SOURCE, .target = store, .target_path = TARGET, .append = "time"};
}

static int64_t length_of(parapet_store *store, const char *path)
{
    parapet_array_info info;
    parapet_array *array;
    int64_t length;
    assert_ok(parapet_array_open(&array, store, path));
    assert_ok(parapet_array_get_info(array, &info));
    length = info.shape[0];
    assert_ok(parapet_array_close(&array));
    return length;
}

static void expect_status(parapet_store *store, const char *name, parapet_status expected, const char *word)
{
    parapet_copy_request request = request_of(store);
    parapet_status status = parapet_copy(&request, NULL);
    if (status != expected || (word != NULL && strstr(parapet_error_message(), word) == NULL))
        fail_msg("%s: %s: %s", name, parapet_status_name(status), parapet_error_message());
    assert_int_equal(length_of(store, TARGET "/time"), expected == PARAPET_OK ? 5 : 3);
}

/* ---- Requests ---- */

static void test_append__takes_no_changes(void **state)
{
    static const struct {
        parapet_copy_request request;
        const char *name;
    } cases[] = {
        {{.changes = {.chunks = "4"}}, "chunks"},
        {{.changes = {.codec = "none"}}, "codec"},
        {{.overwrite = 1}, "overwrite"},
        {{.changes = {.no_checksum = 1}}, "no_checksum"},
        {{.resume = 1}, "resume"},
        {{.verify = 1}, "verify"},
        {{.passes = 1}, "passes"},
    };
    parapet_copy_request request;
    parapet_store *store;
    size_t i;
    (void)state;
    open_groups(&store);
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char word[64];
        request = cases[i].request;
        request.source = request.target = store;
        request.source_path = SOURCE;
        request.target_path = TARGET;
        request.append = "time";
        (void)snprintf(word, sizeof word, "append and %s cannot be combined", cases[i].name);
        assert_fails(parapet_copy(&request, NULL), PARAPET_ERR_ARGUMENT, word);
    }
    request = request_of(store);
    request.temporary = store;
    assert_fails(parapet_copy(&request, NULL), PARAPET_ERR_ARGUMENT, "append and temporary cannot be combined");
    stored_close(&store);
}

static void test_append__refuses_groups_inside_each_other_and_copies_under_way(void **state)
{
    static const char *const paths[][2] = {{"", TARGET}, {SOURCE, ""}, {TARGET, TARGET}};
    parapet_copy_request request;
    parapet_store *store;
    size_t i;
    (void)state;
    open_groups(&store);
    for (i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        request = request_of(store);
        request.source_path = paths[i][0];
        request.target_path = paths[i][1];
        assert_fails(parapet_copy(&request, NULL), PARAPET_ERR_ARGUMENT, "the same, inside it or around it");
    }
    request = request_of(store);
    request.target_path = "..";
    assert_fails(parapet_copy(&request, NULL), PARAPET_ERR_ARGUMENT, "..");
    stored_put_text(store, TARGET "/__parapet/copy/job", "copy");
    expect_status(store, "a copy", PARAPET_ERR_EXISTS, "unfinished copy");
    stored_close(&store);
}

/* ---- Documents ---- */

typedef struct refusal {
    const char *name;
    document source, target; /* of an array u; without a shape there is none */
    parapet_status status;
    const char *word;
} refusal;

static const refusal refusals[] = {
    {"equal", {.shape = "2, 5", .names = "\"time\", \"x\""}, {.shape = "3, 5", .names = "\"time\", \"x\""}, 0, NULL},
    {"equal without a name",
     {.shape = "2, 5", .names = "\"time\", null"},
     {.shape = "3, 5", .names = "\"time\", null"},
     0,
     NULL},
    {"type",
     {.shape = "2", .names = "\"time\""},
     {.shape = "3", .names = "\"time\"", .type = "int64"},
     PARAPET_ERR_ARGUMENT,
     "is of type int32 in the source and int64"},
    {"fill value",
     {.shape = "2", .names = "\"time\"", .fill = "7"},
     {.shape = "3", .names = "\"time\""},
     PARAPET_ERR_ARGUMENT,
     "another fill value"},
    {"dimensions",
     {.shape = "2, 5", .names = "\"time\", \"x\""},
     {.shape = "3", .names = "\"time\""},
     PARAPET_ERR_ARGUMENT,
     "other dimensions"},
    {"names",
     {.shape = "2, 5", .names = "\"time\", \"x\""},
     {.shape = "3, 5", .names = "\"time\", \"y\""},
     PARAPET_ERR_ARGUMENT,
     "other dimensions"},
    {"name and none",
     {.shape = "2, 5", .names = "\"time\", \"x\""},
     {.shape = "3, 5", .names = "\"time\", null"},
     PARAPET_ERR_ARGUMENT,
     "other dimensions"},
    {"length without a name",
     {.shape = "2, 5", .names = "\"time\", null"},
     {.shape = "3, 6", .names = "\"time\", null"},
     PARAPET_ERR_ARGUMENT,
     "(without a name) has the length 5"},
    {"twice",
     {.shape = "2, 5", .names = "\"time\", \"time\""},
     {.shape = "3, 5", .names = "\"time\", \"time\""},
     PARAPET_ERR_UNSUPPORTED,
     "twice"},
    {"second",
     {.shape = "5, 2", .names = "null, \"time\""},
     {.shape = "5, 3", .names = "null, \"time\""},
     PARAPET_ERR_UNSUPPORTED,
     "another first dimension"},
    {"none in the target, growing",
     {.shape = "2", .names = "\"time\""},
     {.shape = NULL},
     PARAPET_ERR_ARGUMENT,
     "has no array \"u\" with the dimension"},
    {"none in the target, fixed",
     {.shape = "2", .names = "\"x\""},
     {.shape = NULL},
     PARAPET_ERR_ARGUMENT,
     "has no array \"u\" without the dimension"},
    {"only in the target, fixed", {.shape = NULL}, {.shape = "2", .names = "\"x\""}, 0, NULL},
    {"only in the target, growing",
     {.shape = NULL},
     {.shape = "3", .names = "\"time\""},
     PARAPET_ERR_ARGUMENT,
     "would stay shorter"},
    {"length of the source",
     {.shape = "4", .names = "\"time\""},
     {.shape = "3", .names = "\"time\""},
     PARAPET_ERR_ARGUMENT,
     "in the source \"u\" has the length 4"},
    {"length of the target",
     {.shape = "2", .names = "\"time\""},
     {.shape = "4", .names = "\"time\""},
     PARAPET_ERR_ARGUMENT,
     "in the target \"u\" has the length 4"},
    {"attribute in the source",
     {.shape = "2", .names = "\"time\"", .attributes = "\"units\": \"K\""},
     {.shape = "3", .names = "\"time\""},
     PARAPET_ERR_ARGUMENT,
     "units is \"K\" in the source and missing in the target"},
    {"attribute in the target",
     {.shape = "2", .names = "\"time\""},
     {.shape = "3", .names = "\"time\"", .attributes = "\"units\": \"K\""},
     PARAPET_ERR_ARGUMENT,
     "units is missing in the source and \"K\" in the target"},
    {"attribute without a meaning",
     {.shape = "2", .names = "\"time\"", .attributes = "\"comment\": 1"},
     {.shape = "3", .names = "\"time\""},
     0,
     NULL},
    {"mapping in the target",
     {.shape = "2", .names = "\"x\""},
     {.shape = "2", .names = "\"x\"", .attributes = "\"crs_wkt\": 1"},
     PARAPET_ERR_ARGUMENT,
     "crs_wkt is missing"},
    {"mapping with other members",
     {.shape = "2", .names = "\"x\"", .attributes = "\"crs_wkt\": 1, \"comment\": 1"},
     {.shape = "2", .names = "\"x\"", .attributes = "\"crs_wkt\": 1"},
     PARAPET_ERR_ARGUMENT,
     "comment is 1"},
    {"mapping with a seal",
     {.shape = "", .names = ""},
     {.shape = "", .names = "", .attributes = "\"_parapet\": {}"},
     0,
     NULL},
    {"text along the dimension",
     {.shape = "2", .names = "\"time\"", .type = "string", .fill = "\"\"", .codec = TEXT},
     {.shape = "3", .names = "\"time\"", .type = "string", .fill = "\"\"", .codec = TEXT},
     PARAPET_ERR_UNSUPPORTED,
     "text of variable length along time"},
    {"equal text",
     {.shape = "2", .names = "\"x\"", .type = "string", .fill = "\"a\"", .codec = TEXT},
     {.shape = "2", .names = "\"x\"", .type = "string", .fill = "\"a\"", .codec = TEXT},
     0,
     NULL},
    {"other text",
     {.shape = "2", .names = "\"x\"", .type = "string", .fill = "\"a\"", .codec = TEXT},
     {.shape = "2", .names = "\"x\"", .type = "string", .fill = "\"b\"", .codec = TEXT},
     PARAPET_ERR_ARGUMENT,
     "\"u\" differs between source and target, first at [0]"},
    {"longer text",
     {.shape = "2", .names = "\"x\"", .type = "string", .fill = "\"a\"", .codec = TEXT},
     {.shape = "2", .names = "\"x\"", .type = "string", .fill = "\"aa\"", .codec = TEXT},
     PARAPET_ERR_ARGUMENT,
     "\"u\" differs between source and target, first at [0]"},
    {"unreadable in the source",
     {.shape = "2", .names = "\"time\"", .codec = UNREADABLE},
     {.shape = "3", .names = "\"time\""},
     PARAPET_ERR_FORMAT,
     "crc32c"},
    {"unreadable in the target",
     {.shape = "2", .names = "\"time\""},
     {.shape = "3", .names = "\"time\"", .codec = UNREADABLE},
     PARAPET_ERR_FORMAT,
     "crc32c"},
    {"text in the source",
     {.shape = "2", .names = "\"time\"", .type = "string", .fill = "\"\"", .codec = TEXT},
     {.shape = "3", .names = "\"time\""},
     PARAPET_ERR_ARGUMENT,
     "is of type string in the source and int32"},
};

static void test_append__refuses_what_does_not_mean_the_same(void **state)
{
    parapet_store *store;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const refusal *of = &refusals[i];
        open_groups(&store);
        if (of->source.shape != NULL)
            put_document(store, SOURCE, "u", &of->source);
        if (of->target.shape != NULL)
            put_document(store, TARGET, "u", &of->target);
        expect_status(store, of->name, of->status, of->word);
        stored_close(&store);
    }
}

static void test_append__a_group_below_is_as_long_as_the_coordinate(void **state)
{
    static const document few = {.shape = "4", .names = "\"time\""}, three = {.shape = "3", .names = "\"time\""};
    static const char *const groups[2] = {SOURCE "/deep", TARGET "/deep"};
    parapet_group *group;
    parapet_store *store;
    int i;
    (void)state;
    open_groups(&store);
    for (i = 0; i < 2; i++) {
        assert_ok(parapet_group_create(&group, store, groups[i], NULL));
        assert_ok(parapet_group_close(&group));
        put_document(store, groups[i], "u", i == 0 ? &few : &three);
    }
    expect_status(store, "below", PARAPET_ERR_ARGUMENT, "in the source \"deep/u\" has the length 4");
    for (i = 0; i < 2; i++)
        put_document(store, groups[i], "time", i == 0 ? &few : &three);
    expect_status(store, "a coordinate below", PARAPET_ERR_UNSUPPORTED, "a coordinate time of its own");
    stored_close(&store);
}

static void test_append__needs_a_coordinate_of_one_dimension(void **state)
{
    static const document two = {.shape = "2, 2", .names = "\"time\", \"x\""},
                          one = {.shape = "2", .names = "\"time\""};
    parapet_store *store;
    (void)state;
    open_groups(&store);
    put_document(store, SOURCE, "time", &two);
    expect_status(store, "two dimensions", PARAPET_ERR_ARGUMENT, "has no coordinate \"time\"");
    assert_ok(pp_store_remove_prefix(store->backend, SOURCE "/time"));
    expect_status(store, "nothing", PARAPET_ERR_ARGUMENT, "no array of the source has the dimension");
    put_document(store, SOURCE, "u", &one);
    expect_status(store, "another array", PARAPET_ERR_ARGUMENT, "has no coordinate \"time\"");
    stored_close(&store);
}

/* ---- Values that stay ---- */

typedef struct fixed_case {
    double source[4], target[4];
    bool is_single;   /* as float */
    const char *word; /* NULL: they are the same */
} fixed_case;

static void put_fixed(parapet_store *store, const char *path, const double *values, bool is_single)
{
    static const int64_t start[2] = {0, 0}, shape[2] = {2, 2};
    static const char *const names[2] = {"y", "x"};
    parapet_array_spec spec = {
        .type = is_single ? PARAPET_FLOAT32 : PARAPET_FLOAT64, .ndim = 2, .shape = shape, .dimension_names = names};
    float singles[4];
    parapet_part part = {
        .ndim = 2, .start = start, .count = shape, .data = is_single ? singles : (void *)(uintptr_t)values};
    parapet_array *array;
    int i;
    for (i = 0; i < 4; i++)
        singles[i] = (float)values[i];
    assert_ok(parapet_array_create(&array, store, path, &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_close(&array));
}

static void test_append__compares_what_stays_as_numbers(void **state)
{
    const fixed_case cases[] = {
        {{0.0, 1, 2, NAN}, {-0.0, 1, 2, -NAN}, false, NULL}, {{0.0, 1, 2, NAN}, {-0.0, 1, 2, -NAN}, true, NULL},
        {{0, 1, 2, 3}, {-0.0, 1, 7, 3}, false, "[1, 0]"},    {{0, 1, 2, 3}, {0, 7, 2, 3}, true, "[0, 1]"},
        {{0, 1, NAN, 3}, {0, 1, 2, 3}, true, "[1, 0]"},      {{0, 1, 2, 3}, {0, 1, 2, NAN}, false, "[1, 1]"},
    };
    parapet_store *store;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        open_groups(&store);
        put_fixed(store, SOURCE "/x", cases[i].source, cases[i].is_single);
        put_fixed(store, TARGET "/x", cases[i].target, cases[i].is_single);
        expect_status(store, "fixed", cases[i].word != NULL ? PARAPET_ERR_ARGUMENT : PARAPET_OK, cases[i].word);
        stored_close(&store);
    }
}

/* ---- Coordinates ---- */

typedef struct coordinate_case {
    int64_t before[4], added[2];
    int before_count;
    parapet_status status;
    const char *word;
} coordinate_case;

static const coordinate_case coordinates[] = {
    {{1, 2, 3}, {4, 5}, 3, 0, NULL},
    {{0}, {4, 5}, 0, 0, NULL},
    {{1, 2, 3, 4}, {2, 3}, 4, 0, NULL}, /* there already */
    {{1, 2, 3}, {5, 4}, 3, PARAPET_ERR_ARGUMENT, "does not ascend: 5 at 0 is followed by 4"},
    {{1, 2, 4}, {3, 5}, 3, PARAPET_ERR_ARGUMENT, "begins with 3, but must follow the target, which ends with 4"},
    {{1, 2, 3}, {3, 4}, 3, PARAPET_ERR_ARGUMENT, "which the target has at 2, but its value at 1, 4, is not there"},
    {{1, 2, 3, 4}, {1, 3}, 4, PARAPET_ERR_ARGUMENT, "which the target has at 0, but its value at 1, 3, is not there"},
};

/* Numbers as elements of a type. */
static void convert(parapet_type type, const int64_t *numbers, int count, unsigned char *elements)
{
    static const size_t widths[] = {[PARAPET_INT8] = 1,  [PARAPET_INT16] = 2,  [PARAPET_INT32] = 4,
                                    [PARAPET_UINT8] = 1, [PARAPET_UINT16] = 2, [PARAPET_UINT32] = 4};
    size_t bytes = type < sizeof widths / sizeof widths[0] && widths[type] > 0 ? widths[type] : 8;
    int i;
    for (i = 0; i < count; i++) {
        float single = (float)numbers[i];
        double real = (double)numbers[i];
        if (type == PARAPET_FLOAT32)
            memcpy(elements + (size_t)i * sizeof single, &single, sizeof single);
        else if (type == PARAPET_FLOAT64)
            memcpy(elements + (size_t)i * sizeof real, &real, sizeof real);
        else /* the low bytes come first */
            memcpy(elements + (size_t)i * bytes, &numbers[i], bytes);
    }
}

static void put_coordinate(parapet_store *store, const char *group, parapet_type type, const int64_t *numbers,
                           int count)
{
    unsigned char elements[32];
    char path[32];
    convert(type, numbers, count, elements);
    (void)snprintf(path, sizeof path, "%s/time", group);
    put_values(store, path, type, count, elements);
}

static void test_append__coordinates_of_every_type_ascend(void **state)
{
    static const parapet_type types[] = {PARAPET_INT8,    PARAPET_INT16,   PARAPET_INT32,      PARAPET_INT64,
                                         PARAPET_UINT8,   PARAPET_UINT16,  PARAPET_UINT32,     PARAPET_UINT64,
                                         PARAPET_FLOAT32, PARAPET_FLOAT64, PARAPET_DATETIME64, PARAPET_TIMEDELTA64};
    parapet_store *store;
    size_t i, k;
    (void)state;
    open_groups(&store);
    for (i = 0; i < sizeof types / sizeof types[0]; i++)
        for (k = 0; k < sizeof coordinates / sizeof coordinates[0]; k++) {
            const coordinate_case *of = &coordinates[k];
            parapet_copy_request request = request_of(store);
            put_coordinate(store, SOURCE, types[i], of->added, 2);
            put_coordinate(store, TARGET, types[i], of->before, of->before_count);
            if (of->status == PARAPET_OK)
                assert_ok(parapet_copy(&request, NULL));
            else
                assert_fails(parapet_copy(&request, NULL), of->status, of->word);
            assert_int_equal(length_of(store, TARGET "/time"),
                             of->before_count + (of->status == PARAPET_OK && k < 2 ? 2 : 0));
        }
    stored_close(&store);
}

static void test_append__coordinates_have_an_order_and_a_beginning(void **state)
{
    static const double nan_first[2] = {NAN, 1};
    static const int64_t nat_first[2] = {INT64_MIN, 1};
    static const struct {
        parapet_type type;
        const void *values;
        parapet_status status;
        const char *word;
    } cases[] = {
        {PARAPET_FLOAT64, nan_first, PARAPET_ERR_ARGUMENT, "begins with NaN"},
        {PARAPET_DATETIME64, nat_first, PARAPET_ERR_ARGUMENT, "begins with NaT"},
        {PARAPET_TIMEDELTA64, nat_first, PARAPET_ERR_ARGUMENT, "begins with NaT"},
        {PARAPET_BOOL, "\0\1", PARAPET_ERR_UNSUPPORTED, "without an order"},
        {PARAPET_COMPLEX64, nan_first, PARAPET_ERR_UNSUPPORTED, "without an order"},
    };
    parapet_store *store;
    size_t i;
    (void)state;
    open_groups(&store);
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        parapet_copy_request request = request_of(store);
        put_values(store, SOURCE "/time", cases[i].type, 2, cases[i].values);
        put_values(store, TARGET "/time", cases[i].type, 2, cases[i].values);
        assert_fails(parapet_copy(&request, NULL), cases[i].status, cases[i].word);
    }
    stored_close(&store);
}

/* ---- In words ---- */

static void expect_words(const parapet_copy_request *request, int as_json, const char *word)
{
    char *text, *svg;
    assert_ok(parapet_copy_request_plan_print(request, as_json, &text, &svg));
    if (strstr(text, word) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", text, word);
    parapet_free(text);
    parapet_free(svg);
}

static void test_append__tells_what_would_be_done(void **state)
{
    parapet_copy_request request;
    parapet_store *store;
    char *text;
    (void)state;
    open_groups(&store);
    request = request_of(store);
    request.memory_bytes = 1 << 20;
    expect_words(&request, 0, "time: 3 would become 5; 1 arrays, 8 bytes");
    expect_words(&request, 1, "{");
    request.source_path = TARGET; /* whether anything could be appended to it */
    expect_words(&request, 0, "already there: time has 3");
    request.source_path = SOURCE;
    request.include = "time";
    expect_words(&request, 0, "time: 3 would become 5");
    request.include = "nothing";
    assert_fails(parapet_copy_request_plan_print(&request, 0, &text, NULL), PARAPET_ERR_ARGUMENT, "nothing");
    request.include = NULL;
    assert_int_equal(length_of(store, TARGET "/time"), 3);
    assert_ok(parapet_copy(&request, NULL));
    expect_words(&request, 0, "already there: time has 5");
    stored_close(&store);
}

/* ---- The record ---- */

#define HEAD "extend: time\nbefore: 3\nafter: 5\nid: 0123456789abcdef\n"

/* What another append has left there meanwhile, or something that is none, stays. */
static void test_append_record__only_its_own_is_removed(void **state)
{
    static const char *const texts[] = {HEAD "array: time\n", "extend: time\nid: fedcba9876543210\n", "something"};
    pp_change change = {.id = "0123456789abcdef"};
    parapet_copy_request request;
    pp_append append = {.request = &request, .target_root = (char[]){TARGET}};
    pp_announcement place;
    parapet_store *store;
    size_t i;
    (void)state;
    open_groups(&store);
    request = request_of(store);
    place = pp_append_place(&append);
    assert_ok(pp_append_hold_group(&append));
    assert_ok(pp_announcement_end(&place, &change));
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        stored_put_text(store, TARGET "/__parapet/change", texts[i]);
        assert_ok(pp_announcement_end(&place, &change));
        assert_int_equal(stored_has(store, TARGET "/__parapet/change"), i > 0);
    }
    pp_node_locks_release(&append.group_hold, 1);
    stored_close(&store);
}

/* A second one is refused, and the first stays. One of its own, whose answer was lost, is as good as new. */
static void test_append_record__takes_no_others_place(void **state)
{
    static const unsigned char digest[PP_SHA256_BYTES] = {1};
    pp_change first = {0}, second = {0};
    parapet_copy_request request;
    pp_append append = {.request = &request, .target_root = (char[]){TARGET}};
    pp_announcement place;
    parapet_store *store;
    char *text;
    size_t bytes;
    (void)state;
    open_groups(&store);
    request = request_of(store);
    place = pp_append_place(&append);
    assert_ok(pp_append_hold_group(&append));
    assert_ok(pp_change_begin(&first, "time", 3, 5));
    assert_ok(pp_change_add_array(&first, "time", digest));
    assert_ok(pp_change_begin(&second, "time", 3, 6));
    assert_ok(pp_change_add_array(&second, "time", digest));
    assert_ok(pp_announcement_publish(&place, &first));
    assert_fails(pp_announcement_publish(&place, &second), PARAPET_ERR_EXISTS, "another job has begun");
    assert_ok(pp_announcement_publish(&place, &first));
    assert_ok(pp_announcement_read(&place, &text, &bytes));
    assert_true(pp_change_is(&first, text));
    pp_free(text);
    pp_change_clear(&first);
    pp_change_clear(&second);
    pp_node_locks_release(&append.group_hold, 1);
    stored_close(&store);
}

static void test_append_record__has_an_end(void **state)
{
    static char name[PP_CHANGE_BYTES_MOST + 1];
    char *names[1] = {name}, *documents[1] = {name};
    pp_change change = {
        .dimension = (char[]){"time"}, .after = 1, .arrays = names, .documents = documents, .count = 1};
    parapet_copy_request request;
    pp_append append = {.request = &request, .target_root = (char[]){TARGET}};
    pp_announcement place;
    parapet_store *store;
    (void)state;
    open_groups(&store);
    request = request_of(store);
    place = pp_append_place(&append);
    memset(name, 'n', PP_CHANGE_BYTES_MOST);
    assert_fails(pp_announcement_publish(&place, &change), PARAPET_ERR_UNSUPPORTED, "more than can become longer");
    assert_false(stored_has(store, TARGET "/__parapet/change"));
    stored_close(&store);
}

/* Another job that took the lock over may have announced a change of its own. */
static void test_append_record__stays_where_the_lock_is_lost(void **state)
{
    pp_fault_plan plan = {.only = "prove_lock", .fail_at = -1, .status = PARAPET_ERR_STALE};
    pp_change change = {.id = "0123456789abcdef"};
    parapet_copy_request request;
    pp_append append = {.request = &request, .target_root = (char[]){TARGET}};
    pp_announcement place;
    parapet_store *store;
    pp_store *faulty, *inner;
    (void)state;
    open_groups(&store);
    inner = store->backend;
    assert_ok(pp_store_faulty_build(&faulty, inner, &plan));
    store->backend = faulty;
    request = request_of(store);
    place = pp_append_place(&append);
    assert_ok(pp_append_hold_group(&append));
    stored_put_text(store, TARGET "/__parapet/change", HEAD "array: time\n");
    plan = (pp_fault_plan){.only = "prove_lock", .fail_at = 0, .status = PARAPET_ERR_STALE};
    assert_int_equal(pp_announcement_end(&place, &change), PARAPET_ERR_STALE);
    assert_true(stored_has(store, TARGET "/__parapet/change"));
    pp_node_locks_release(&append.group_hold, 1);
    store->backend = inner;
    pp_store_free(faulty);
    stored_close(&store);
}

/* ---- What recovery believes ---- */

/* An append from 3 to 5 announced the documents that the arrays have, or others of the first one. */
static void put_record(parapet_store *store, bool has_other_document)
{
    static const char *const names[2] = {"t", "time"};
    pp_change change = {0};
    pp_text text = {0};
    int i;
    assert_ok(pp_change_begin(&change, "time", 3, 5));
    for (i = 0; i < 2; i++) {
        unsigned char digest[PP_SHA256_BYTES];
        parapet_array *array;
        char path[32];
        (void)snprintf(path, sizeof path, TARGET "/%s", names[i]);
        assert_ok(parapet_array_open(&array, store, path));
        memcpy(digest, pp_array_document_digest(array), sizeof digest);
        digest[0] ^= has_other_document && i == 0;
        assert_ok(pp_change_add_array(&change, names[i], digest));
        assert_ok(parapet_array_close(&array));
    }
    assert_ok(pp_change_print(&change, &text));
    stored_put_text(store, TARGET "/__parapet/change", text.data);
    pp_text_free(&text);
    pp_change_clear(&change);
}

/* What the record does not explain is of another program, and a coordinate that is longer was the decision. */
static void test_append_repair__cuts_only_what_the_record_explains(void **state)
{
    static const int32_t values[5] = {1, 2, 3, 4, 5};
    static const struct {
        int64_t length, coordinate;
        bool has_other_document;
        parapet_status expected;
    } cases[] = {
        {5, 3, false, PARAPET_OK},
        {5, 3, true, PARAPET_ERR_FORMAT},
        {3, 5, false, PARAPET_ERR_FORMAT},
        {4, 3, false, PARAPET_ERR_FORMAT},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool is_undone = cases[i].expected == PARAPET_OK;
        parapet_repair repair;
        parapet_store *store;
        open_groups(&store);
        put_values(store, TARGET "/t", PARAPET_INT32, cases[i].length, values);
        put_values(store, TARGET "/time", PARAPET_INT32, cases[i].coordinate, values);
        put_record(store, cases[i].has_other_document);
        assert_int_equal(pp_append_repair_group(store, TARGET, &repair), cases[i].expected);
        assert_int_equal(repair, is_undone ? PARAPET_REPAIR_UNDONE : PARAPET_REPAIR_NONE);
        assert_int_equal(length_of(store, TARGET "/t"), is_undone ? 3 : cases[i].length);
        assert_int_equal(length_of(store, TARGET "/time"), cases[i].coordinate);
        assert_int_equal(stored_has(store, TARGET "/__parapet/change"), !is_undone);
        stored_close(&store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append__takes_no_changes),
        cmocka_unit_test(test_append__refuses_groups_inside_each_other_and_copies_under_way),
        cmocka_unit_test(test_append__refuses_what_does_not_mean_the_same),
        cmocka_unit_test(test_append__a_group_below_is_as_long_as_the_coordinate),
        cmocka_unit_test(test_append__needs_a_coordinate_of_one_dimension),
        cmocka_unit_test(test_append__compares_what_stays_as_numbers),
        cmocka_unit_test(test_append__coordinates_of_every_type_ascend),
        cmocka_unit_test(test_append__coordinates_have_an_order_and_a_beginning),
        cmocka_unit_test(test_append__tells_what_would_be_done),
        cmocka_unit_test(test_append_record__only_its_own_is_removed),
        cmocka_unit_test(test_append_record__takes_no_others_place),
        cmocka_unit_test(test_append_record__has_an_end),
        cmocka_unit_test(test_append_record__stays_where_the_lock_is_lost),
        cmocka_unit_test(test_append_repair__cuts_only_what_the_record_explains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
