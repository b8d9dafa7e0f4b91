/* The zarr.json of the target of a copy, as it would be written. */
#include "support.h"

#include "base/status.h"
#include "codec/traits.h"
#include "copy/target_document.h"

#define BYTES "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define ZSTD(level) "{\"name\":\"zstd\",\"configuration\":{\"level\":" #level ",\"checksum\":false}}"
#define GZIP(level) "{\"name\":\"gzip\",\"configuration\":{\"level\":" #level "}}"
#define CRC32C "{\"name\":\"crc32c\"}"
#define SHARDING(chunk, codecs, index, location)                                                                     \
    "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[" chunk "],\"codecs\":[" codecs              \
    "],\"index_codecs\":[" index "],\"index_location\":\"" location "\"}}"
#define SHARDS(chunk, codecs) SHARDING(chunk, codecs, BYTES "," CRC32C, "end")
#define NAMES "\"dimension_names\":[\"time\",\"lat\",\"lon\"]"

/* A zarr.json; more is anything that follows a comma. */
#define DOCUMENT(shape, grid, codecs, more)                                                                          \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[" shape "],\"data_type\":\"float32\",\"chunk_grid\":"     \
    "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[" grid "]}},\"chunk_key_encoding\":{\"name\":"        \
    "\"default\",\"configuration\":{\"separator\":\"/\"}},\"fill_value\":\"NaN\",\"codecs\":[" codecs "],"           \
    "\"attributes\":{\"units\":\"K\",\"range\":[0.10,1e3]}" more "}"

/* 100 x 50 x 20 in shards of 40 x 20 x 20 with chunks of 10 x 20 x 5. */
#define SHARDED DOCUMENT("100,50,20", "40,20,20", SHARDS("10,20,5", BYTES "," ZSTD(3) "," CRC32C), "," NAMES)
#define UNSHARDED DOCUMENT("100,50,20", "10,20,5", BYTES "," GZIP(6), "," NAMES)

static pp_json *json_of(const char *text)
{
    pp_json *json = NULL;
    assert_ok(pp_json_parse(&json, text, strlen(text)));
    return json;
}

static void read_document(pp_array_document *document, const char *text)
{
    pp_json *json = json_of(text);
    assert_ok(pp_array_document_parse(document, json));
    pp_json_free(json);
}

/* A copy and what it was made from. */
typedef struct copied {
    pp_array_document source, target;
    pp_copy_view view;
} copied;

static void copied_clear(copied *made)
{
    pp_array_document_clear(&made->source);
    pp_array_document_clear(&made->target);
}

static void copy(copied *made, const char *source, const parapet_copy_changes *changes)
{
    read_document(&made->source, source);
    assert_ok(pp_copy_document(changes, &made->source, false, 1, &made->target, &made->view));
}

/* The target can be stored, laid out and written. */
static void assert_usable(const pp_array_document *document)
{
    pp_layout layout;
    assert_ok(pp_layout_init(&layout, document, false));
    assert_true(pp_chain_can_encode(layout.chain));
    pp_layout_clear(&layout);
}

static void assert_document(const pp_array_document *document, const char *expected)
{
    pp_text text = {0};
    pp_json *found, *wanted = json_of(expected);
    assert_ok(pp_array_document_print(document, &text));
    found = json_of(text.data);
    if (!pp_json_equals(found, wanted))
        fail_msg("%s\ninstead of %s", text.data, expected);
    pp_json_free(found);
    pp_json_free(wanted);
    pp_text_free(&text);
    assert_usable(document);
}

static void check(const char *source, const parapet_copy_changes *changes, const char *expected)
{
    copied made;
    copy(&made, source, changes);
    assert_document(&made.target, expected);
    copied_clear(&made);
}

static void test_copy_document__without_changes_it_is_the_source_again(void **state)
{
    static const char *const documents[] = {
        SHARDED,
        UNSHARDED,
        DOCUMENT("100,50,20", "40,20,20", SHARDING("10,20,5", BYTES, BYTES, "end"), ""),
        DOCUMENT("7", "7", "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}",
                 ",\"dimension_names\":[null]"),
        DOCUMENT("9,8", "4,4",
                 "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}," BYTES "," CRC32C "," GZIP(1), ""),
        DOCUMENT("5", "2", BYTES, ",\"note\":{\"must_understand\":false,\"a\":[1,2]}"),
        DOCUMENT("0,3", "2,2", BYTES, ""),
        DOCUMENT("", "", BYTES, ""),
    };
    static const parapet_copy_changes same[] = {{0}, {.chunks = "", .codec = ""}, {.chunks = "none"}};
    size_t i, j;
    (void)state;
    for (i = 0; i < sizeof documents / sizeof documents[0]; i++)
        for (j = 0; j < sizeof same / sizeof same[0]; j++)
            check(documents[i], &same[j], documents[i]);
}

static void test_copy_document__a_key_encoding_stays(void **state)
{
    static const char dotted[] =
        "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[4],\"data_type\":\"int8\",\"chunk_grid\":{\"name\":"
        "\"regular\",\"configuration\":{\"chunk_shape\":[2]}},\"chunk_key_encoding\":{\"name\":\"v2\","
        "\"configuration\":{\"separator\":\".\"}},\"fill_value\":-1,\"codecs\":[" BYTES "],\"attributes\":{}}";
    (void)state;
    check(dotted, &(parapet_copy_changes){0}, dotted);
}

static void test_copy_document__an_index_at_the_start_moves_to_the_end(void **state)
{
    (void)state;
    check(DOCUMENT("8", "8", SHARDING("2", BYTES, BYTES, "start"), ""), &(parapet_copy_changes){0},
          DOCUMENT("8", "8", SHARDING("2", BYTES, BYTES, "end"), ""));
}

typedef struct document_case {
    const char *source;
    parapet_copy_changes changes;
    const char *expected;
} document_case;

static void check_all(const document_case *cases, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        check(cases[i].source, &cases[i].changes, cases[i].expected);
}

static void test_copy_document__chunks_and_shards_become_what_is_asked_for(void **state)
{
    static const document_case cases[] = {
        {SHARDED,
         {.chunks = "20,20,5", .shards = "40,40,20"},
         DOCUMENT("100,50,20", "40,40,20", SHARDS("20,20,5", BYTES "," ZSTD(3) "," CRC32C), "," NAMES)},
        {SHARDED, {.shards = "none"}, DOCUMENT("100,50,20", "10,20,5", BYTES "," ZSTD(3) "," CRC32C, "," NAMES)},
        {UNSHARDED,
         {.shards = "time/"},
         DOCUMENT("100,50,20", "100,20,5", SHARDS("10,20,5", BYTES "," GZIP(6)), "," NAMES)},
        /* whole dimensions, and extents that stay, hold whole chunks */
        {SHARDED,
         {.chunks = "time/30,lat/7", .shards = "lat/0"},
         DOCUMENT("100,50,20", "60,56,20", SHARDS("30,7,5", BYTES "," ZSTD(3) "," CRC32C), "," NAMES)},
        /* chosen: an array of 400 kB is one shard */
        {SHARDED,
         {.chunks = "time/30"},
         DOCUMENT("100,50,20", "120,60,20", SHARDS("30,20,5", BYTES "," ZSTD(3) "," CRC32C), "," NAMES)},
        {UNSHARDED,
         {.chunks = "lat=10", .no_checksum = 1},
         DOCUMENT("100,50,20", "100,50,20", SHARDS("10,10,5", BYTES "," GZIP(6)), "," NAMES)},
        {UNSHARDED,
         {.chunks = "time/,lat/,lon/", .no_checksum = 1},
         DOCUMENT("100,50,20", "100,50,20", BYTES "," GZIP(6), "," NAMES)},
        {SHARDED, {.chunks = "auto"}, DOCUMENT("100,50,20", "100,50,20", BYTES "," ZSTD(3) "," CRC32C, "," NAMES)},
        {SHARDED,
         {.chunks = "auto", .shards = "none,none,none"},
         DOCUMENT("100,50,20", "40,20,20", SHARDS("40,20,20", BYTES "," ZSTD(3) "," CRC32C), "," NAMES)},
        {UNSHARDED,
         {.shards = "auto"},
         DOCUMENT("100,50,20", "100,60,20", SHARDS("10,20,5", BYTES "," GZIP(6)), "," NAMES)},
        /* chunks may be larger than the array */
        {UNSHARDED,
         {.chunks = "1000,1000,1000", .shards = "none"},
         DOCUMENT("100,50,20", "1000,1000,1000", BYTES "," GZIP(6) "," CRC32C, "," NAMES)},
    };
    (void)state;
    check_all(cases, sizeof cases / sizeof cases[0]);
}

static void test_copy_document__codecs_are_those_of_the_source_or_of_the_words(void **state)
{
    static const document_case cases[] = {
        {UNSHARDED, {.codec = "none"}, DOCUMENT("100,50,20", "10,20,5", BYTES "," CRC32C, "," NAMES)},
        {UNSHARDED,
         {.codec = "zstd:7", .no_checksum = 1},
         DOCUMENT("100,50,20", "10,20,5", BYTES "," ZSTD(7), "," NAMES)},
        {SHARDED,
         {.codec = "gzip:2"},
         DOCUMENT("100,50,20", "40,20,20", SHARDS("10,20,5", BYTES "," GZIP(2) "," CRC32C), "," NAMES)},
        {SHARDED,
         {.codec = "blosc:zstd:4:bitshuffle", .shards = "none", .no_checksum = 1},
         DOCUMENT("100,50,20", "10,20,5",
                  BYTES ",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"zstd\",\"clevel\":4,\"shuffle\":"
                        "\"bitshuffle\",\"typesize\":4,\"blocksize\":0}}",
                  "," NAMES)},
        /* other chunks: C order, little-endian, the same compression, a checksum */
        {DOCUMENT("9,8", "4,4",
                  "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},{\"name\":\"bytes\","
                  "\"configuration\":{\"endian\":\"big\"}}," GZIP(1),
                  ""),
         {.chunks = "3,3", .shards = "none"},
         DOCUMENT("9,8", "3,3", BYTES "," GZIP(1) "," CRC32C, "")},
        /* no_checksum alone changes nothing */
        {SHARDED, {.no_checksum = 1}, SHARDED},
        /* a codec that cannot be encoded again: shards in shards, and compressed shards */
        {DOCUMENT("8", "8", SHARDS("4", SHARDS("2", BYTES "," ZSTD(3)) "," CRC32C), ""),
         {0},
         DOCUMENT("8", "8", SHARDS("4", BYTES "," ZSTD(3) "," CRC32C), "")},
        {DOCUMENT("8", "8", SHARDS("2", BYTES) "," GZIP(3), ""), {0}, DOCUMENT("8", "8", BYTES "," GZIP(3), "")},
    };
    (void)state;
    check_all(cases, sizeof cases / sizeof cases[0]);
}

static void test_copy_document__order_and_region_change_shape_names_and_cut(void **state)
{
    static const document_case cases[] = {
        {SHARDED,
         {.order = "lon,-time,lat"},
         DOCUMENT("20,100,50", "20,40,20", SHARDS("5,10,20", BYTES "," ZSTD(3) "," CRC32C),
                  ",\"dimension_names\":[\"lon\",\"time\",\"lat\"]")},
        {UNSHARDED,
         {.order = "lon,-time,lat", .region = "time=10:35,lat=:7", .chunks = "lat/3,lon/4", .shards = "none"},
         DOCUMENT("20,25,7", "4,10,3", BYTES "," GZIP(6) "," CRC32C,
                  ",\"dimension_names\":[\"lon\",\"time\",\"lat\"]")},
        /* a transpose codec meant the source's dimensions; the checksum is as it was */
        {DOCUMENT("9,8", "4,2",
                  "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}," BYTES "," ZSTD(3) "," CRC32C, ""),
         {.order = "1,0"},
         DOCUMENT("8,9", "2,4", BYTES "," ZSTD(3) "," CRC32C, "")},
        {DOCUMENT("9,8", "4,2", "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}," BYTES, ""),
         {.order = "0,-1"},
         DOCUMENT("9,8", "4,2", "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}," BYTES, "")},
        {DOCUMENT("9,8", "4,2", BYTES, ",\"dimension_names\":[null,\"y\"]"),
         {.order = "1,0"},
         DOCUMENT("8,9", "2,4", BYTES, ",\"dimension_names\":[\"y\",null]")},
    };
    copied made;
    (void)state;
    check_all(cases, sizeof cases / sizeof cases[0]);
    copy(&made, cases[1].source, &cases[1].changes);
    assert_int_equal(made.view.axis[1], 0);
    assert_int_equal(made.view.start[1], 10);
    assert_true(made.view.is_reversed[1]);
    assert_memory_equal(made.view.shape, made.target.shape, 3 * sizeof(int64_t));
    copied_clear(&made);
}

/* Types and fill values, as they stand in zarr.json. */
typedef struct element_case {
    const char *type, *fill;
} element_case;

static const element_case elements[] = {
    {"\"float64\"", "\"NaN\""},
    {"\"float64\"", "-0.0"},
    {"\"float32\"", "\"0x7fc00001\""},
    {"\"float16\"", "\"-Infinity\""},
    {"\"complex64\"", "[\"NaN\",-0.0]"},
    {"\"int64\"", "-9223372036854775808"},
    {"\"bool\"", "true"},
    {"\"r24\"", "[1,2,3]"},
    {"{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":\"ns\",\"scale_factor\":1}}", "\"NaT\""},
    {"{\"name\":\"fixed_length_utf32\",\"configuration\":{\"length_bytes\":8}}", "\"ab\""},
    {"{\"name\":\"struct\",\"configuration\":{\"fields\":[{\"name\":\"a\",\"data_type\":\"int16\"},{\"name\":\"b\","
     "\"data_type\":\"float64\"}]}}",
     "{\"a\":-3,\"b\":0.5}"},
};

static void print_element_document(const element_case *element, pp_text *text)
{
    pp_text_add(
        text,
        "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[9,4],\"data_type\":%s,\"chunk_grid\":{\"name\":"
        "\"regular\",\"configuration\":{\"chunk_shape\":[3,2]}},\"chunk_key_encoding\":{\"name\":\"default\"},"
        "\"fill_value\":%s,\"codecs\":[" BYTES "]}",
        element->type, element->fill);
    assert_ok(text->status);
}

static void test_copy_document__types_and_fill_values_are_kept_bit_by_bit(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        const parapet_copy_changes changes = {.order = "1,0", .chunks = "1,1"};
        pp_text text = {0};
        copied made;
        pp_json *given = json_of(elements[i].type), *kept;
        print_element_document(&elements[i], &text);
        copy(&made, text.data, &changes);
        kept = json_of(made.target.type.json);
        assert_true(pp_json_equals(given, kept));
        assert_int_equal(made.target.type.id, made.source.type.id);
        assert_int_equal(made.target.type.swap_bytes, made.source.type.swap_bytes);
        assert_string_equal(made.target.type.name, made.source.type.name);
        assert_int_equal(made.target.type.element_bytes, made.source.type.element_bytes);
        assert_memory_equal(made.target.fill_value, made.source.fill_value, made.source.type.element_bytes);
        assert_true(made.target.is_fill_defined);
        assert_usable(&made.target);
        pp_json_free(given);
        pp_json_free(kept);
        copied_clear(&made);
        pp_text_free(&text);
    }
}

static void test_copy_document__a_fill_value_that_is_not_defined_stays_so(void **state)
{
    static const element_case undefined = {"\"int32\"", "null"};
    pp_text text = {0};
    copied made;
    (void)state;
    print_element_document(&undefined, &text);
    copy(&made, text.data, &(parapet_copy_changes){0});
    assert_false(made.target.is_fill_defined);
    copied_clear(&made);
    pp_text_free(&text);
}

static void test_copy_document__marks_of_the_source_are_left_behind(void **state)
{
    static const char sealed[] =
        "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[4],\"data_type\":\"int8\",\"chunk_grid\":{\"name\":"
        "\"regular\",\"configuration\":{\"chunk_shape\":[2]}},\"chunk_key_encoding\":{\"name\":\"default\"},"
        "\"fill_value\":0,\"codecs\":[" BYTES "],\"attributes\":{\"a\":1,\"_parapet\":{\"sealed\":{\"shards\":2}},"
        "\"_ARRAY_DIMENSIONS\":[\"x\"]}}";
    copied made;
    (void)state;
    copy(&made, sealed, &(parapet_copy_changes){0});
    assert_false(pp_json_has(made.target.attributes, "_parapet"));
    assert_true(pp_json_has(made.target.attributes, "a"));
    assert_true(pp_json_has(made.target.attributes, "_ARRAY_DIMENSIONS"));
    assert_true(pp_json_has(made.source.attributes, "_parapet"));
    copied_clear(&made);
}

static void test_copy_document__in_a_tree_arrays_without_these_dimensions_stay(void **state)
{
    const parapet_copy_changes changes = {.chunks = "depth/10", .shards = "5,5", .order = "depth", .no_checksum = 1};
    copied made;
    (void)state;
    read_document(&made.source, SHARDED);
    assert_ok(pp_copy_document(&changes, &made.source, true, 1, &made.target, &made.view));
    assert_document(&made.target, SHARDED);
    copied_clear(&made);
}

static void test_copy_document__chosen_shards_leave_some_for_every_server(void **state)
{
    const parapet_copy_changes changes = {.chunks = "10,10,10"};
    copied made;
    (void)state;
    read_document(&made.source, SHARDED);
    assert_ok(pp_copy_document(&changes, &made.source, false, 8, &made.target, &made.view));
    assert_true(((made.target.shape[0] - 1) / made.target.grid_shape[0] + 1) *
                    ((made.target.shape[1] - 1) / made.target.grid_shape[1] + 1) *
                    ((made.target.shape[2] - 1) / made.target.grid_shape[2] + 1) >=
                8);
    copied_clear(&made);
}

typedef struct refused_case {
    parapet_copy_changes changes;
    const char *sentence;
} refused_case;

static void test_copy_document__what_cannot_be_is_refused_in_a_sentence(void **state)
{
    static const refused_case cases[] = {
        {{.shards = "45,20,20"}, "shards: 45 for time is not a multiple of its chunks, 10"},
        {{.order = "lat,lon,time", .shards = "20,12,40"}, "shards: 12 for lon is not a multiple of its chunks, 5"},
        {{.chunks = "time/10,depth/5"}, "chunks: there is no dimension \"depth\"; the array has time, lat, lon"},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        copied made;
        read_document(&made.source, SHARDED);
        assert_int_equal(pp_copy_document(&cases[i].changes, &made.source, false, 1, &made.target, &made.view),
                         PARAPET_ERR_ARGUMENT);
        assert_string_equal(pp_failure_message(), cases[i].sentence);
        copied_clear(&made);
    }
}

static void test_copy_document__a_codec_that_is_none_is_told_which_there_are(void **state)
{
    const parapet_copy_changes changes = {.codec = "squeeze"};
    copied made;
    int id;
    (void)state;
    read_document(&made.source, SHARDED);
    assert_fails(pp_copy_document(&changes, &made.source, false, 1, &made.target, &made.view), PARAPET_ERR_ARGUMENT,
                 "codec \"squeeze\" is not one of: none, ");
    assert_non_null(strstr(pp_failure_message(), ", zstd[:0-22], "));
    assert_non_null(
        strstr(pp_failure_message(), ", blosc[:blosclz|lz4|lz4hc|zlib|zstd[:0-9[:noshuffle|shuffle|bitshuffle]]]"));
    for (id = 0; id < PP_CODEC_COUNT; id++) {
        const pp_codec_traits *traits = pp_codec_traits_of((pp_codec_id)id);
        if (traits->role == PP_ROLE_COMPRESSOR && pp_codec_can_encode((pp_codec_id)id))
            assert_non_null(strstr(pp_failure_message(), traits->name));
    }
    copied_clear(&made);
}

/* ---- From Zarr v2 ---- */

#define V2(order, filters, compressor)                                                                               \
    "{\"zarr_format\":2,\"shape\":[9,8],\"chunks\":[4,2],\"dtype\":\">f4\",\"fill_value\":\"NaN\",\"order\":"        \
    "\"" order "\",\"filters\":" filters ",\"compressor\":" compressor "}"

/* What it becomes, with these codecs and whatever follows a comma. */
#define V3(codecs, more) DOCUMENT("9,8", "4,2", BYTES codecs, more)

typedef struct v2_case {
    const char *zarray;
    parapet_copy_changes changes;
    const char *expected;
} v2_case;

static void check_v2(const v2_case *of, const char *zattrs)
{
    pp_json *zarray = json_of(of->zarray), *attributes = json_of(zattrs);
    copied made;
    assert_ok(pp_array_document_parse_v2(&made.source, zarray, attributes));
    assert_ok(pp_copy_document(&of->changes, &made.source, false, 1, &made.target, &made.view));
    assert_document(&made.target, of->expected);
    copied_clear(&made);
    pp_json_free(zarray);
    pp_json_free(attributes);
}

static void test_copy_document__zarr_v2_becomes_the_nearest_v3(void **state)
{
    static const v2_case cases[] = {
        {V2("C", "null", "null"), {0}, V3("," CRC32C, "")},
        {V2("C", "null", "null"), {.no_checksum = 1}, V3("", "")},
        {V2("F", "null", "{\"id\":\"zlib\",\"level\":4}"), {0}, V3("," GZIP(4) "," CRC32C, "")},
        {V2("C", "null", "{\"id\":\"gzip\",\"level\":-1}"), {0}, V3("," GZIP(6) "," CRC32C, "")},
        {V2("C", "null", "{\"id\":\"zstd\",\"level\":5}"), {0}, V3("," ZSTD(5) "," CRC32C, "")},
        {V2("C", "null", "{\"id\":\"lz4\",\"acceleration\":1}"), {0}, V3("," ZSTD(3) "," CRC32C, "")},
        {V2("C", "[{\"id\":\"shuffle\",\"elementsize\":4}]", "{\"id\":\"zlib\",\"level\":1}"),
         {.no_checksum = 1},
         V3("," GZIP(1), "")},
        {V2("C", "null", "{\"id\":\"blosc\",\"cname\":\"lz4\",\"clevel\":5,\"shuffle\":-1,\"blocksize\":0}"),
         {0},
         V3(",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\",\"clevel\":5,\"shuffle\":\"shuffle\","
            "\"typesize\":4,\"blocksize\":0}}," CRC32C,
            "")},
        {V2("C", "null", "null"), {.codec = "gzip:1", .no_checksum = 1}, V3("," GZIP(1), "")},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_v2(&cases[i], "{\"units\":\"K\",\"range\":[0.10,1e3]}");
}

static void test_copy_document__names_of_zarr_v2_become_dimension_names(void **state)
{
    static const v2_case same = {V2("C", "null", "null"), {0}, V3("," CRC32C, ",\"dimension_names\":[\"y\",\"x\"]")};
    static const v2_case turned = {V2("C", "null", "null"),
                                   {.order = "x,-y"},
                                   DOCUMENT("8,9", "2,4", BYTES "," CRC32C, ",\"dimension_names\":[\"x\",\"y\"]")};
    static const char zattrs[] = "{\"_ARRAY_DIMENSIONS\":[\"y\",\"x\"],\"units\":\"K\",\"range\":[0.10,1e3]}";
    (void)state;
    check_v2(&same, zattrs);
    check_v2(&turned, zattrs);
}

/* ---- Against failures ---- */

static int refuse_later(void *context, size_t bytes)
{
    int *left = context;
    (void)bytes;
    return (*left)-- <= 0;
}

static void test_copy_document__no_memory_is_an_error_and_nothing_leaks(void **state)
{
    const parapet_copy_changes changes = {.order = "lon,-time,lat"};
    parapet_status status = PARAPET_ERR_MEMORY;
    copied made;
    int allowed;
    long before;
    (void)state;
    read_document(&made.source, SHARDED);
    before = pp_memory_live_count();
    for (allowed = 0; status != PARAPET_OK && allowed < 100; allowed++) {
        int left = allowed;
        pp_memory_hook_set(refuse_later, &left);
        status = pp_copy_document(&changes, &made.source, false, 1, &made.target, &made.view);
        pp_memory_hook_set(NULL, NULL);
        assert_true(status == PARAPET_OK || status == PARAPET_ERR_MEMORY);
        pp_array_document_clear(&made.target);
        assert_int_equal(pp_memory_live_count(), before);
    }
    assert_int_equal(status, PARAPET_OK);
    assert_true(allowed > 3);
    pp_array_document_clear(&made.source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy_document__without_changes_it_is_the_source_again),
        cmocka_unit_test(test_copy_document__a_key_encoding_stays),
        cmocka_unit_test(test_copy_document__an_index_at_the_start_moves_to_the_end),
        cmocka_unit_test(test_copy_document__chunks_and_shards_become_what_is_asked_for),
        cmocka_unit_test(test_copy_document__codecs_are_those_of_the_source_or_of_the_words),
        cmocka_unit_test(test_copy_document__order_and_region_change_shape_names_and_cut),
        cmocka_unit_test(test_copy_document__types_and_fill_values_are_kept_bit_by_bit),
        cmocka_unit_test(test_copy_document__a_fill_value_that_is_not_defined_stays_so),
        cmocka_unit_test(test_copy_document__marks_of_the_source_are_left_behind),
        cmocka_unit_test(test_copy_document__in_a_tree_arrays_without_these_dimensions_stay),
        cmocka_unit_test(test_copy_document__chosen_shards_leave_some_for_every_server),
        cmocka_unit_test(test_copy_document__what_cannot_be_is_refused_in_a_sentence),
        cmocka_unit_test(test_copy_document__a_codec_that_is_none_is_told_which_there_are),
        cmocka_unit_test(test_copy_document__zarr_v2_becomes_the_nearest_v3),
        cmocka_unit_test(test_copy_document__names_of_zarr_v2_become_dimension_names),
        cmocka_unit_test(test_copy_document__no_memory_is_an_error_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
