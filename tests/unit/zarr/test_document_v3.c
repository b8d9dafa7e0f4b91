#include "support.h"

#include "base/memory.h"
#include "zarr/document.h"

#define LITTLE "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define CRC "{\"name\":\"crc32c\"}"
#define ZSTD "{\"name\":\"zstd\",\"configuration\":{\"level\":3,\"checksum\":false}}"
#define SHARDING(shape, inner)                                                                                       \
    "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":" shape ",\"codecs\":" inner                  \
    ",\"index_codecs\":[" LITTLE "," CRC "],\"index_location\":\"end\"}}"

/* The fields of an int32 array of 5 by 7; a test replaces one, adds one or leaves one out (""). */
typedef struct field {
    const char *name;
    const char *json;
} field;

static const field usual[] = {
    {"zarr_format", "3"},
    {"node_type", "\"array\""},
    {"shape", "[5,7]"},
    {"data_type", "\"int32\""},
    {"chunk_grid", "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[4,4]}}"},
    {"chunk_key_encoding", "{\"name\":\"default\",\"configuration\":{\"separator\":\"/\"}}"},
    {"fill_value", "0"},
    {"codecs", "[" LITTLE "]"},
    {"attributes", "{\"units\":\"m\"}"},
};
#define USUAL_COUNT (sizeof usual / sizeof usual[0])

static void add_field(pp_text *text, const char *name, const char *json)
{
    if (json[0] != '\0')
        pp_text_add(text, "%s\"%s\":%s", text->bytes > 1 ? "," : "", name, json);
}

static pp_json *usual_with(const char *name, const char *json)
{
    pp_text text = {0};
    pp_json *result;
    bool is_used = false;
    size_t i;
    pp_text_add(&text, "{");
    for (i = 0; i < USUAL_COUNT; i++) {
        bool is_this = strcmp(usual[i].name, name) == 0;
        add_field(&text, usual[i].name, is_this ? json : usual[i].json);
        is_used = is_used || is_this;
    }
    if (!is_used)
        add_field(&text, name, json);
    pp_text_add(&text, "}");
    assert_ok(pp_json_parse(&result, text.data, text.bytes));
    pp_text_free(&text);
    return result;
}

static parapet_status parse_with(pp_array_document *document, const char *name, const char *json)
{
    pp_json *parsed = usual_with(name, json);
    parapet_status status = pp_array_document_parse(document, parsed);
    pp_json_free(parsed);
    return status;
}

static void refuse_with(const char *name, const char *json, parapet_status expected, const char *word)
{
    pp_array_document document;
    long live = pp_memory_live_count();
    assert_fails(parse_with(&document, name, json), expected, word);
    assert_int_equal(live, pp_memory_live_count());
}

static char *printed(const pp_array_document *document)
{
    pp_text text = {0};
    char *result;
    assert_ok(pp_array_document_print(document, &text));
    assert_ok(pp_text_finish(&text, &result));
    return result;
}

/* Prints, reads back, prints again: the text must stay. Returns it. */
static char *round_trip(const pp_array_document *document)
{
    char *first = printed(document), *second;
    pp_array_document again;
    pp_json *json;
    assert_ok(pp_json_parse(&json, first, strlen(first)));
    assert_ok(pp_array_document_parse(&again, json));
    second = printed(&again);
    assert_string_equal(first, second);
    pp_free(second);
    pp_json_free(json);
    pp_array_document_clear(&again);
    return first;
}

static void accept_with(const char *name, const char *json)
{
    pp_array_document document;
    assert_ok(parse_with(&document, name, json));
    pp_free(round_trip(&document));
    pp_array_document_clear(&document);
}

static void test_document__a_usual_array_is_read(void **state)
{
    pp_array_document document;
    (void)state;
    assert_ok(parse_with(&document, "dimension_names", "[\"y\",null]"));
    assert_int_equal(document.zarr_format, 3);
    assert_int_equal(document.ndim, 2);
    assert_true(document.shape[0] == 5 && document.shape[1] == 7);
    assert_true(document.grid_shape[0] == 4 && document.grid_shape[1] == 4);
    assert_int_equal(document.type.id, PARAPET_INT32);
    assert_int_equal(document.codecs.count, 1);
    assert_int_equal(document.codecs.codecs[0].id, PP_CODEC_BYTES);
    assert_false(document.codecs.codecs[0].is_big_endian);
    assert_false(document.keys.is_v2);
    assert_int_equal(document.keys.separator, '/');
    assert_true(document.is_fill_defined && document.has_dimension_names);
    assert_string_equal(document.dimension_names[0], "y");
    assert_null(document.dimension_names[1]);
    assert_true(pp_json_is_text(pp_json_member(document.attributes, "units"), "m"));
    assert_null(document.extra);
    pp_array_document_clear(&document);
}

static void test_document__prints_its_keys_in_order(void **state)
{
    pp_array_document document;
    char *text;
    (void)state;
    assert_ok(parse_with(&document, "my_ext", "{\"must_understand\":false,\"x\":1e400}"));
    document.has_dimension_names = true;
    assert_ok(pp_text_duplicate(&document.dimension_names[1], "x\"1"));
    text = round_trip(&document);
    assert_string_equal(text, "{\n"
                              "  \"zarr_format\": 3,\n"
                              "  \"node_type\": \"array\",\n"
                              "  \"shape\": [5, 7],\n"
                              "  \"data_type\": \"int32\",\n"
                              "  \"chunk_grid\": {\n"
                              "    \"name\": \"regular\",\n"
                              "    \"configuration\": {\n"
                              "      \"chunk_shape\": [4, 4]\n"
                              "    }\n"
                              "  },\n"
                              "  \"chunk_key_encoding\": {\n"
                              "    \"name\": \"default\",\n"
                              "    \"configuration\": {\n"
                              "      \"separator\": \"/\"\n"
                              "    }\n"
                              "  },\n"
                              "  \"fill_value\": 0,\n"
                              "  \"codecs\": [\n"
                              "    {\n"
                              "      \"name\": \"bytes\",\n"
                              "      \"configuration\": {\n"
                              "        \"endian\": \"little\"\n"
                              "      }\n"
                              "    }\n"
                              "  ],\n"
                              "  \"attributes\": {\n"
                              "    \"units\": \"m\"\n"
                              "  },\n"
                              "  \"dimension_names\": [null, \"x\\\"1\"],\n"
                              "  \"my_ext\": {\n"
                              "    \"must_understand\": false,\n"
                              "    \"x\": 1e400\n"
                              "  }\n"
                              "}\n");
    pp_free(text);
    pp_array_document_clear(&document);
}

static void test_document__every_mandatory_field_is_missed_by_name(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < USUAL_COUNT; i++) {
        if (strcmp(usual[i].name, "fill_value") == 0 || strcmp(usual[i].name, "attributes") == 0)
            accept_with(usual[i].name, "");
        else
            refuse_with(usual[i].name, "", PARAPET_ERR_FORMAT, usual[i].name);
    }
}

static void test_document__fields_of_the_wrong_kind_are_refused(void **state)
{
    static const char *const values[] = {"true", "-1", "1.5", "[]", "{}", "[1.0,2]", "[\"5\",7]", "[null,1]", "\"\""};
    size_t i, j;
    (void)state;
    for (i = 0; i < USUAL_COUNT; i++) {
        for (j = 0; j < sizeof values / sizeof values[0]; j++) {
            bool is_fine = (strcmp(usual[i].name, "fill_value") == 0 && strcmp(values[j], "-1") == 0) ||
                           (strcmp(usual[i].name, "codecs") == 0 && strcmp(values[j], "[]") == 0) ||
                           (strcmp(usual[i].name, "attributes") == 0 && strcmp(values[j], "{}") == 0);
            pp_array_document document;
            parapet_status status = parse_with(&document, usual[i].name, values[j]);
            if ((status == PARAPET_OK) != is_fine)
                fail_msg("%s = %s: %s", usual[i].name, values[j], parapet_status_name(status));
            pp_array_document_clear(&document);
        }
    }
}

static void test_document__shapes_have_limits(void **state)
{
    (void)state;
    refuse_with("shape", "[5,-7]", PARAPET_ERR_FORMAT, "shape: entry 1");
    refuse_with("shape", "[5,9223372036854775808]", PARAPET_ERR_FORMAT, "shape: entry 1");
    refuse_with("shape", "[5,7,1]", PARAPET_ERR_FORMAT, "chunk_shape has 2 dimensions");
    refuse_with("shape", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
                PARAPET_ERR_UNSUPPORTED, "33 dimensions");
    refuse_with("chunk_grid", "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[4,0]}}", PARAPET_ERR_FORMAT,
                "at least 1");
    refuse_with("chunk_grid", "{\"name\":\"regular\"}", PARAPET_ERR_FORMAT, "chunk_shape");
    refuse_with("chunk_grid", "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\"}}",
                PARAPET_ERR_UNSUPPORTED, "chunk_grid \"rectilinear\"");
    accept_with("shape", "[0,9223372036854775807]");
}

static void test_document__key_encodings_in_all_their_spellings(void **state)
{
    static const struct {
        const char *json;
        bool is_v2;
        char separator;
    } cases[] = {
        {"\"default\"", false, '/'},
        {"{\"name\":\"default\"}", false, '/'},
        {"{\"name\":\"default\",\"configuration\":{}}", false, '/'},
        {"{\"name\":\"default\",\"configuration\":{\"separator\":\".\"}}", false, '.'},
        {"\"v2\"", true, '.'},
        {"{\"name\":\"v2\",\"configuration\":{\"separator\":\"/\"}}", true, '/'},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pp_array_document document;
        assert_ok(parse_with(&document, "chunk_key_encoding", cases[i].json));
        assert_int_equal(document.keys.is_v2, cases[i].is_v2);
        assert_int_equal(document.keys.separator, cases[i].separator);
        pp_free(round_trip(&document));
        pp_array_document_clear(&document);
    }
    refuse_with("chunk_key_encoding", "{\"name\":\"default\",\"configuration\":{\"separator\":\"-\"}}",
                PARAPET_ERR_FORMAT, "separator");
    refuse_with("chunk_key_encoding", "{\"name\":\"default\",\"configuration\":{\"separator\":null}}",
                PARAPET_ERR_FORMAT, "separator");
    refuse_with("chunk_key_encoding", "\"fanout\"", PARAPET_ERR_UNSUPPORTED, "chunk_key_encoding \"fanout\"");
    refuse_with("chunk_key_encoding", "{\"name\":\"fanout\",\"must_understand\":false}", PARAPET_ERR_UNSUPPORTED,
                "fanout");
}

static void test_document__unknown_fields_are_kept_or_refused(void **state)
{
    pp_array_document document;
    (void)state;
    assert_ok(parse_with(&document, "my_ext", "{\"name\":\"x\",\"must_understand\":false}"));
    assert_true(pp_json_has(document.extra, "my_ext"));
    pp_free(round_trip(&document));
    pp_array_document_clear(&document);
    refuse_with("my_key", "\"hello\"", PARAPET_ERR_UNSUPPORTED, "\"my_key\"");
    refuse_with("my_ext", "{\"must_understand\":true}", PARAPET_ERR_UNSUPPORTED, "\"my_ext\"");
    refuse_with("my_ext", "{}", PARAPET_ERR_UNSUPPORTED, "\"my_ext\"");
    refuse_with("my_ext", "null", PARAPET_ERR_UNSUPPORTED, "\"my_ext\"");
    refuse_with("my_ext", "{\"must_understand\":0}", PARAPET_ERR_UNSUPPORTED, "\"my_ext\"");
    refuse_with("storage_transformers", "[{\"name\":\"x\"}]", PARAPET_ERR_UNSUPPORTED, "storage_transformers");
    refuse_with("storage_transformers", "{}", PARAPET_ERR_UNSUPPORTED, "storage_transformers");
    accept_with("storage_transformers", "[]");
}

static void test_document__dimension_names_are_checked(void **state)
{
    char longest[300];
    (void)state;
    accept_with("dimension_names", "[\"y\",\"x\"]");
    accept_with("dimension_names", "[null,null]");
    accept_with("dimension_names", "null");
    refuse_with("dimension_names", "[\"y\"]", PARAPET_ERR_FORMAT, "dimension_names");
    refuse_with("dimension_names", "[\"y\",1]", PARAPET_ERR_FORMAT, "dimension_names: entry 1");
    refuse_with("dimension_names", "[\"y\",\"a\\u0000b\"]", PARAPET_ERR_FORMAT, "dimension_names: entry 1");
    refuse_with("dimension_names", "{}", PARAPET_ERR_FORMAT, "dimension_names");
    (void)snprintf(longest, sizeof longest, "[\"y\",\"%0255d\"]", 0);
    accept_with("dimension_names", longest);
    (void)snprintf(longest, sizeof longest, "[\"y\",\"%0256d\"]", 0);
    refuse_with("dimension_names", longest, PARAPET_ERR_FORMAT, "dimension_names: entry 1");
}

static void test_document__formats_other_than_three_are_refused(void **state)
{
    (void)state;
    refuse_with("zarr_format", "2", PARAPET_ERR_FORMAT, "zarr_format");
    refuse_with("zarr_format", "4", PARAPET_ERR_FORMAT, "zarr_format");
    refuse_with("zarr_format", "\"https://purl.org/zarr/spec/protocol/core/3.0\"", PARAPET_ERR_UNSUPPORTED,
                "before 2023");
    refuse_with("node_type", "\"group\"", PARAPET_ERR_FORMAT, "node_type");
    refuse_with("node_type", "\"thing\"", PARAPET_ERR_FORMAT, "node_type");
}

/* ---- Codecs ---- */

static const pp_codec_spec *codecs_of(pp_array_document *document, const char *json, int count)
{
    assert_ok(parse_with(document, "codecs", json));
    assert_int_equal(document->codecs.count, count);
    pp_free(round_trip(document));
    return document->codecs.codecs;
}

static void test_codecs__all_kinds_are_read_and_written(void **state)
{
    pp_array_document document;
    const pp_codec_spec *codecs = codecs_of(
        &document,
        "[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},"
        "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}},"
        "{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4hc\",\"clevel\":7,\"shuffle\":\"bitshuffle\","
        "\"typesize\":4,\"blocksize\":1024}},"
        "{\"name\":\"gzip\",\"configuration\":{\"level\":9}},"
        "{\"name\":\"zstd\",\"configuration\":{\"level\":-5,\"checksum\":true}},\"crc32c\"]",
        6);
    (void)state;
    assert_true(codecs[0].id == PP_CODEC_TRANSPOSE && codecs[0].order[0] == 1 && codecs[0].order[1] == 0);
    assert_true(codecs[1].id == PP_CODEC_BYTES && codecs[1].is_big_endian);
    assert_int_equal(codecs[2].id, PP_CODEC_BLOSC);
    assert_string_equal(codecs[2].blosc_compressor, "lz4hc");
    assert_int_equal(codecs[2].level, 7);
    assert_int_equal(codecs[2].blosc_shuffle, 2);
    assert_int_equal(codecs[2].blosc_type_bytes, 4);
    assert_int_equal(codecs[2].blosc_block_bytes, 1024);
    assert_true(codecs[3].id == PP_CODEC_GZIP && codecs[3].level == 9);
    assert_true(codecs[4].id == PP_CODEC_ZSTD && codecs[4].level == -5 && codecs[4].has_frame_checksum);
    assert_int_equal(codecs[5].id, PP_CODEC_CRC32C);
    pp_array_document_clear(&document);
}

static void test_codecs__lenient_spellings_are_accepted(void **state)
{
    pp_array_document document;
    const pp_codec_spec *codecs;
    (void)state;
    codecs = codecs_of(&document, "[]", 1);
    assert_int_equal(codecs[0].id, PP_CODEC_BYTES);
    pp_array_document_clear(&document);
    codecs = codecs_of(&document, "[{\"name\":\"endian\",\"configuration\":{\"endian\":\"big\"}}]", 1);
    assert_true(codecs[0].id == PP_CODEC_BYTES && codecs[0].is_big_endian);
    pp_array_document_clear(&document);
    codecs = codecs_of(&document, "[{\"name\":\"transpose\",\"configuration\":{\"order\":\"F\"}}," LITTLE "]", 2);
    assert_true(codecs[0].order[0] == 1 && codecs[0].order[1] == 0);
    pp_array_document_clear(&document);
    codecs = codecs_of(&document, "[{\"name\":\"transpose\",\"configuration\":{\"order\":\"C\"}}," LITTLE "]", 2);
    assert_true(codecs[0].order[0] == 0 && codecs[0].order[1] == 1);
    pp_array_document_clear(&document);
    codecs = codecs_of(&document,
                       "[" LITTLE ",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\",\"clevel\":5,"
                       "\"shuffle\":\"shuffle\",\"blocksize\":0}}]",
                       2);
    assert_int_equal(codecs[1].blosc_type_bytes, 4);
    pp_array_document_clear(&document);
    codecs = codecs_of(&document, "[" LITTLE ",{\"name\":\"my.noop\",\"must_understand\":false}," CRC "]", 2);
    assert_int_equal(codecs[1].id, PP_CODEC_CRC32C);
    pp_array_document_clear(&document);
}

static void test_codecs__one_byte_types_need_no_endian(void **state)
{
    static const char *const texts[] = {"[\"bytes\"]", "[{\"name\":\"bytes\"}]",
                                        "[{\"name\":\"bytes\",\"configuration\":{}}]"};
    size_t i;
    (void)state;
    for (i = 0; i < 3; i++) {
        pp_array_document document;
        pp_json *json = usual_with("codecs", texts[i]), *type;
        assert_ok(pp_json_parse(&type, "\"uint8\"", 7));
        assert_ok(pp_json_set(json, "data_type", type));
        assert_ok(pp_array_document_parse(&document, json));
        pp_free(round_trip(&document));
        pp_array_document_clear(&document);
        pp_json_free(json);
        refuse_with("codecs", texts[i], PARAPET_ERR_FORMAT, "endian");
    }
}

static void test_codecs__wrong_lists_are_refused(void **state)
{
    static const struct {
        const char *json;
        parapet_status status;
        const char *word;
    } cases[] = {
        {"[" ZSTD "]", PARAPET_ERR_FORMAT, "zstd"},
        {"[" LITTLE "," LITTLE "]", PARAPET_ERR_FORMAT, "bytes"},
        {"[" LITTLE ",{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}]", PARAPET_ERR_FORMAT,
         "transpose"},
        {"[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}]", PARAPET_ERR_FORMAT, "none of them"},
        {"[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,1]}}," LITTLE "]", PARAPET_ERR_FORMAT,
         "permutation"},
        {"[{\"name\":\"transpose\",\"configuration\":{\"order\":[0]}}," LITTLE "]", PARAPET_ERR_FORMAT,
         "permutation"},
        {"[{\"name\":\"transpose\",\"configuration\":{\"order\":[0,2]}}," LITTLE "]", PARAPET_ERR_FORMAT,
         "permutation"},
        {"[{\"name\":\"transpose\",\"configuration\":{\"order\":[0,-1]}}," LITTLE "]", PARAPET_ERR_FORMAT, "order"},
        {"[{\"name\":\"transpose\"}," LITTLE "]", PARAPET_ERR_FORMAT, "order"},
        {"[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"middle\"}}]", PARAPET_ERR_FORMAT, "endian"},
        {"[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\",\"x\":1}}]", PARAPET_ERR_UNSUPPORTED, "\"x\""},
        {"[{\"name\":\"bytes\",\"other\":1}]", PARAPET_ERR_UNSUPPORTED, "\"other\""},
        {"[" LITTLE ",{\"name\":\"gzip\",\"configuration\":{\"level\":10}}]", PARAPET_ERR_FORMAT, "gzip: level"},
        {"[" LITTLE ",{\"name\":\"gzip\",\"configuration\":{\"level\":1.0}}]", PARAPET_ERR_FORMAT, "gzip: level"},
        {"[" LITTLE ",{\"name\":\"zstd\",\"configuration\":{\"level\":23}}]", PARAPET_ERR_FORMAT, "zstd: level"},
        {"[" LITTLE ",{\"name\":\"zstd\",\"configuration\":{\"level\":1,\"checksum\":0}}]", PARAPET_ERR_FORMAT,
         "checksum"},
        {"[" LITTLE ",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"brotli\"}}]", PARAPET_ERR_UNSUPPORTED,
         "cname"},
        {"[" LITTLE ",\"blosc\"]", PARAPET_ERR_UNSUPPORTED, "cname"},
        {"[" LITTLE ",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\",\"shuffle\":1}}]", PARAPET_ERR_FORMAT,
         "shuffle"},
        {"[" LITTLE ",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\",\"clevel\":10}}]", PARAPET_ERR_FORMAT,
         "clevel"},
        {"[" LITTLE ",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\",\"typesize\":0}}]", PARAPET_ERR_FORMAT,
         "typesize"},
        {"[" LITTLE ",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\",\"blocksize\":-1}}]",
         PARAPET_ERR_FORMAT, "blocksize"},
        {"[" LITTLE ",{\"name\":\"crc32c\",\"configuration\":{\"x\":1}}]", PARAPET_ERR_UNSUPPORTED, "crc32c"},
        {"[" LITTLE ",\"squeeze\"]", PARAPET_ERR_UNSUPPORTED, "\"squeeze\""},
        {"[" LITTLE ",{\"name\":\"squeeze\",\"must_understand\":true}]", PARAPET_ERR_UNSUPPORTED, "\"squeeze\""},
        {"[" LITTLE ",{\"name\":\"squeeze\",\"must_understand\":1}]", PARAPET_ERR_FORMAT, "must_understand"},
        {"[" LITTLE ",{\"configuration\":{}}]", PARAPET_ERR_FORMAT, "codecs"},
        {"[" LITTLE ",null]", PARAPET_ERR_FORMAT, "codecs"},
        {"[" LITTLE "," CRC "," CRC "," CRC "," CRC "," CRC "," CRC "," CRC "," CRC "," CRC "," CRC "," CRC "," CRC
         "," CRC "," CRC "," CRC "," CRC "]",
         PARAPET_ERR_UNSUPPORTED, "17 codecs"},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        refuse_with("codecs", cases[i].json, cases[i].status, cases[i].word);
}

static void test_codecs__sharding_is_read_and_written(void **state)
{
    pp_array_document document;
    const pp_codec_spec *codecs = codecs_of(&document, "[" SHARDING("[2,1]", "[" LITTLE "," ZSTD "," CRC "]") "]", 1);
    const pp_sharding_spec *sharding = codecs[0].sharding;
    (void)state;
    assert_int_equal(codecs[0].id, PP_CODEC_SHARDING);
    assert_int_equal(sharding->ndim, 2);
    assert_true(sharding->chunk_shape[0] == 2 && sharding->chunk_shape[1] == 1);
    assert_int_equal(sharding->codecs.count, 3);
    assert_int_equal(sharding->index_codecs.count, 2);
    assert_false(sharding->is_index_at_start);
    pp_array_document_clear(&document);
}

static void test_codecs__foreign_sharding_keeps_its_meaning(void **state)
{
    pp_array_document document;
    char *text;
    (void)state;
    (void)codecs_of(
        &document,
        "[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},{\"name\":\"sharding_indexed\","
        "\"configuration\":{\"chunk_shape\":[2,4],\"codecs\":[" SHARDING(
            "[1,2]", "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}]") "],"
                                                                                      "\"index_codecs\":[{"
                                                                                      "\"name\":\"bytes\","
                                                                                      "\"configuration\":{"
                                                                                      "\"endian\":\"big\"}}]"
                                                                                      ",\"index_location\":"
                                                                                      "\"start\"}},"
                                                                                      "{\"name\":\"gzip\","
                                                                                      "\"configuration\":{"
                                                                                      "\"level\":5}}]",
        3);
    text = round_trip(&document);
    assert_non_null(strstr(text, "\"index_location\": \"start\""));
    assert_true(document.codecs.codecs[1].sharding->is_index_at_start);
    assert_true(document.codecs.codecs[1].sharding->index_codecs.codecs[0].is_big_endian);
    assert_int_equal(document.codecs.codecs[1].sharding->codecs.codecs[0].id, PP_CODEC_SHARDING);
    pp_free(text);
    pp_array_document_clear(&document);
}

static void test_codecs__wrong_sharding_is_refused(void **state)
{
    static const struct {
        const char *json;
        parapet_status status;
        const char *word;
    } cases[] = {
        {"[" SHARDING("[3,4]", "[" LITTLE "]") "]", PARAPET_ERR_FORMAT, "does not divide"},
        {"[" SHARDING("[8,4]", "[" LITTLE "]") "]", PARAPET_ERR_FORMAT, "does not divide"},
        {"[" SHARDING("[4]", "[" LITTLE "]") "]", PARAPET_ERR_FORMAT, "1 dimensions"},
        {"[" SHARDING("[0,4]", "[" LITTLE "]") "]", PARAPET_ERR_FORMAT, "at least 1"},
        {"[" SHARDING("[2,2]", "[" SHARDING("[4,4]", "[" LITTLE "]") "]") "]", PARAPET_ERR_FORMAT, "does not divide"},
        {"[" SHARDING("[2,2]", "null") "]", PARAPET_ERR_FORMAT, "codecs"},
        {"[" SHARDING("[2,2]", "[" CRC "]") "]", PARAPET_ERR_FORMAT, "crc32c"},
        {"[" LITTLE "," SHARDING("[2,2]", "[" LITTLE "]") "]", PARAPET_ERR_FORMAT, "sharding_indexed"},
        {"[\"sharding_indexed\"]", PARAPET_ERR_FORMAT, "chunk_shape"},
        {"[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2,2],\"codecs\":[" LITTLE "]}}]",
         PARAPET_ERR_FORMAT, "index_codecs"},
        {"[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2,2],\"codecs\":[" LITTLE
         "],\"index_codecs\":[]}}]",
         PARAPET_ERR_FORMAT, "index_codecs"},
        {"[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2,2],\"codecs\":[" LITTLE
         "],\"index_codecs\":[" LITTLE "," ZSTD "]}}]",
         PARAPET_ERR_UNSUPPORTED, "index_codecs"},
        {"[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2,2],\"codecs\":[" LITTLE
         "],\"index_codecs\":[" LITTLE "],\"index_location\":\"middle\"}}]",
         PARAPET_ERR_FORMAT, "index_location"},
        {"[" SHARDING(
             "[4,4]",
             "[" SHARDING("[4,4]", "[" SHARDING("[4,4]", "[" SHARDING("[4,4]", "[" LITTLE "]") "]") "]") "]") "]",
         PARAPET_ERR_UNSUPPORTED, "nested more than 3"},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        refuse_with("codecs", cases[i].json, cases[i].status, cases[i].word);
    accept_with("codecs",
                "[" SHARDING("[4,4]", "[" SHARDING("[4,4]", "[" SHARDING("[4,4]", "[" LITTLE "]") "]") "]") "]");
}

static void test_codecs__transpose_before_sharding_turns_the_shard(void **state)
{
    const char *grid = "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[8,6]}}";
    const char *codecs[] = {
        "[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}," SHARDING("[3,4]", "[" LITTLE "]") "]",
        "[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}," SHARDING("[4,3]", "[" LITTLE "]") "]"};
    int i;
    (void)state;
    for (i = 0; i < 2; i++) {
        pp_array_document document;
        pp_json *json = usual_with("codecs", codecs[i]), *value;
        assert_ok(pp_json_parse(&value, grid, strlen(grid)));
        assert_ok(pp_json_set(json, "chunk_grid", value));
        assert_int_equal(pp_array_document_parse(&document, json), i == 0 ? PARAPET_OK : PARAPET_ERR_FORMAT);
        pp_array_document_clear(&document);
        pp_json_free(json);
    }
}

static void test_codecs__words_give_chains(void **state)
{
    static const struct {
        const char *words;
        int id;
        int level;
        const char *compressor;
        int shuffle;
    } cases[] = {
        {"zstd", PP_CODEC_ZSTD, 3, "", 0},
        {"zstd:0", PP_CODEC_ZSTD, 0, "", 0},
        {"zstd:22", PP_CODEC_ZSTD, 22, "", 0},
        {"gzip", PP_CODEC_GZIP, 6, "", 0},
        {"gzip:9", PP_CODEC_GZIP, 9, "", 0},
        {"blosc", PP_CODEC_BLOSC, 5, "lz4", 1},
        {"blosc:zstd", PP_CODEC_BLOSC, 5, "zstd", 1},
        {"blosc:lz4:7", PP_CODEC_BLOSC, 7, "lz4", 1},
        {"blosc:blosclz:1:noshuffle", PP_CODEC_BLOSC, 1, "blosclz", 0},
        {"blosc:lz4:5:bitshuffle", PP_CODEC_BLOSC, 5, "lz4", 2},
    };
    pp_chain_spec spec;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_ok(pp_codecs_from_words(&spec, cases[i].words, 8, true));
        assert_int_equal(spec.count, 3);
        assert_true(spec.codecs[0].id == PP_CODEC_BYTES && !spec.codecs[0].is_big_endian);
        assert_int_equal(spec.codecs[1].id, cases[i].id);
        assert_int_equal(spec.codecs[1].level, cases[i].level);
        assert_string_equal(spec.codecs[1].blosc_compressor, cases[i].compressor);
        assert_int_equal(spec.codecs[1].blosc_shuffle, cases[i].shuffle);
        assert_int_equal(spec.codecs[1].blosc_type_bytes, spec.codecs[1].id == PP_CODEC_BLOSC ? 8 : 0);
        assert_int_equal(spec.codecs[2].id, PP_CODEC_CRC32C);
    }
    assert_ok(pp_codecs_from_words(&spec, "none", 8, false));
    assert_int_equal(spec.count, 1);
    assert_ok(pp_codecs_from_words(&spec, "blosc", 1000, false));
    assert_int_equal(spec.codecs[1].blosc_type_bytes, 1);
}

static void test_codecs__other_words_are_refused_with_what_is_accepted(void **state)
{
    static const char *const wrong[] = {"",
                                        "zst",
                                        "zstd:",
                                        "zstd:23",
                                        "zstd:-1",
                                        "zstd:3:x",
                                        "zstd: 3",
                                        "zstd:3x",
                                        "gzip:10",
                                        "none:1",
                                        "blosc:snappy",
                                        "blosc:lz4:10",
                                        "blosc::5",
                                        "blosc:lz4:5:x",
                                        "blosc:lz4:5:shuffle:x",
                                        ":zstd",
                                        "ZSTD",
                                        "zstd:003",
                                        "blosc:lz4hcccccccccccccccccccc",
                                        "zstd,crc32c"};
    pp_chain_spec spec;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_fails(pp_codecs_from_words(&spec, wrong[i], 4, true), PARAPET_ERR_ARGUMENT, "zstd[:0-22]");
}

/* ---- Variable length, groups, memory ---- */

static void test_document__arrays_of_strings_open_but_are_not_written(void **state)
{
    pp_json *json = usual_with("codecs", "[{\"name\":\"vlen-utf8\",\"configuration\":{}}," ZSTD "]"), *value;
    pp_array_document document;
    pp_text text = {0};
    (void)state;
    assert_ok(pp_json_parse(&value, "\"string\"", 8));
    assert_ok(pp_json_set(json, "data_type", value));
    assert_ok(pp_array_document_parse(&document, json));
    assert_int_equal(document.type.id, PARAPET_VARIABLE);
    assert_int_equal(document.codecs.count, 0);
    assert_fails(pp_array_document_print(&document, &text), PARAPET_ERR_UNSUPPORTED, "string");
    pp_array_document_clear(&document);
    pp_json_free(json);
}

static void assert_texts(const char *codecs, bool are_read, bool are_printed)
{
    pp_json *json = usual_with("codecs", codecs), *value;
    pp_array_document document;
    pp_text text = {0};
    assert_ok(pp_json_parse(&value, "\"string\"", 8));
    assert_ok(pp_json_set(json, "data_type", value));
    assert_ok(pp_json_parse(&value, "\"none\"", 6));
    assert_ok(pp_json_set(json, "fill_value", value));
    assert_ok(pp_array_document_parse(&document, json));
    assert_int_equal(document.has_texts, are_read);
    if (are_read)
        assert_string_equal(document.fill_text, "none");
    assert_int_equal(pp_array_document_print(&document, &text), are_printed ? PARAPET_OK : PARAPET_ERR_UNSUPPORTED);
    if (are_printed) {
        assert_non_null(strstr(text.data, "\"vlen-utf8\""));
        assert_non_null(strstr(text.data, "\"none\""));
    }
    pp_text_free(&text);
    pp_array_document_clear(&document);
    pp_json_free(json);
}

static void test_document__texts_are_read_with_codecs_that_are_known(void **state)
{
    (void)state;
    assert_texts("[{\"name\":\"vlen-utf8\"}]", true, true);
    assert_texts("[\"vlen-utf8\"]", true, true);
    assert_texts("[{\"name\":\"vlen-utf8\"}," ZSTD "]", true, false);
    assert_texts("[{\"name\":\"vlen-utf8\"},{\"name\":\"squeeze\"}]", false, false);
    assert_texts("[{\"name\":\"bytes\"}]", false, false);
    assert_texts("[{\"name\":\"vlen-utf8\"},{\"name\":\"bytes\"}]", false, false);
    assert_texts("[]", false, false);
}

static void test_document__attributes_too_deep_to_read_back_are_not_written(void **state)
{
    char deep[PP_JSON_MAX_DEPTH * 2 + 16] = "";
    pp_array_document document;
    pp_json *attributes;
    pp_text text = {0};
    int i;
    (void)state;
    for (i = 0; i < PP_JSON_MAX_DEPTH - 1; i++)
        deep[i] = '[';
    for (; i < 2 * (PP_JSON_MAX_DEPTH - 1); i++)
        deep[i] = ']';
    assert_ok(parse_with(&document, "attributes", "{}"));
    assert_ok(pp_json_parse(&attributes, deep, strlen(deep)));
    assert_ok(pp_json_set(document.attributes, "a", attributes));
    assert_fails(pp_array_document_print(&document, &text), PARAPET_ERR_FORMAT, "nested deeper");
    pp_text_free(&text);
    pp_array_document_clear(&document);
}

static pp_json *parsed(const char *text)
{
    pp_json *json;
    assert_ok(pp_json_parse(&json, text, strlen(text)));
    return json;
}

static void test_group__is_read_and_written(void **state)
{
    pp_json *json =
        parsed("{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{\"t\":NaN},"
               "\"consolidated_metadata\":{\"kind\":\"inline\",\"must_understand\":false,\"metadata\":{}},"
               "\"e\":{\"must_understand\":false}}");
    pp_group_document document;
    pp_text text = {0};
    (void)state;
    assert_ok(pp_group_document_parse(&document, json));
    assert_non_null(document.consolidated_metadata);
    assert_ok(pp_group_document_print(&document, &text));
    assert_string_equal(text.data,
                        "{\n  \"zarr_format\": 3,\n  \"node_type\": \"group\",\n  \"attributes\": {\n"
                        "    \"t\": \"NaN\"\n  },\n  \"consolidated_metadata\": {\n    \"kind\": \"inline\",\n"
                        "    \"must_understand\": false,\n    \"metadata\": {}\n  },\n  \"e\": {\n"
                        "    \"must_understand\": false\n  }\n}\n");
    pp_text_free(&text);
    pp_group_document_clear(&document);
    pp_json_free(json);
}

static parapet_status add_one(void *context, const char *name, pp_json *value)
{
    return pp_documents_add(context, name, value);
}

static parapet_status add_all(void *metadata, pp_documents *documents)
{
    return pp_json_each(metadata, add_one, documents);
}

/* What is printed as it is gathered is the same, byte by byte, as what is kept and then printed. */
static void assert_printed_with(const char *metadata)
{
    static const char frame[] =
        "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{\"consolidated_metadata\":"
        "{\"kind\":\"inline\",\"must_understand\":false,\"metadata\":{}}},"
        "\"consolidated_metadata\":{\"kind\":\"inline\",\"must_understand\":false,"
        "\"metadata\":%s},\"e\":{\"must_understand\":false}}";
    char whole[1000];
    pp_json *json, *documents = parsed(metadata);
    pp_group_document document;
    pp_text expected = {0}, text = {0};
    (void)snprintf(whole, sizeof whole, frame, metadata);
    json = parsed(whole);
    assert_ok(pp_group_document_parse(&document, json));
    assert_ok(pp_group_document_print(&document, &expected));
    assert_ok(pp_group_document_print_with(&document, add_all, documents, &text));
    assert_string_equal(text.data, expected.data);
    pp_text_free(&expected);
    pp_text_free(&text);
    pp_group_document_clear(&document);
    pp_json_free(json);
    pp_json_free(documents);
}

static void test_group__prints_documents_as_they_are_gathered(void **state)
{
    (void)state;
    assert_printed_with("{}");
    assert_printed_with("{\"a\":{\"shape\":[1,2],\"l\":[[1],{}],\"o\":{\"x\":null,\"y\":NaN}}}");
    assert_printed_with("{\"a\":{},\"g\":{\"attributes\":{}},\"g/b\":{\"t\":\"\\n\"}}");
}

static void test_group__refuses_gathered_documents_that_no_reader_accepts(void **state)
{
    char ends[PP_JSON_MAX_DEPTH + 1] = "", deep[8 * PP_JSON_MAX_DEPTH] = "";
    pp_group_document document = {.zarr_format = 3};
    pp_text text = {0};
    pp_json *json;
    int i;
    (void)state;
    for (i = 0; i < PP_JSON_MAX_DEPTH; i++) {
        strcat(deep, "{\"a\":");
        ends[i] = '}';
    }
    strcat(deep, "1");
    strcat(deep, ends);
    json = parsed(deep);
    assert_fails(pp_group_document_print_with(&document, add_all, json, &text), PARAPET_ERR_FORMAT, "nested deeper");
    pp_json_free(json);
    pp_text_free(&text);
}

static parapet_status add_without_end(void *document, pp_documents *documents)
{
    parapet_status status = PARAPET_OK;
    while (status == PARAPET_OK && documents->text->bytes < (size_t)64 << 20)
        status = pp_documents_add(documents, "name", document);
    return status;
}

static void test_group__stops_gathering_when_no_reader_accepts_more(void **state)
{
    char letters[4096];
    pp_group_document document = {.zarr_format = 3};
    pp_text text = {0};
    pp_json *json;
    (void)state;
    (void)snprintf(letters, sizeof letters, "{\"a\":\"%04000d\"}", 0);
    json = parsed(letters);
    assert_fails(pp_group_document_print_with(&document, add_without_end, json, &text), PARAPET_ERR_FORMAT,
                 "more than the limit");
    assert_true(text.bytes < (size_t)17 << 20);
    pp_json_free(json);
    pp_text_free(&text);
}

static void refuse_group(const char *text, parapet_status expected, const char *word)
{
    pp_json *json = parsed(text);
    pp_group_document document;
    assert_fails(pp_group_document_parse(&document, json), expected, word);
    pp_json_free(json);
}

static void test_group__wrong_documents_are_refused(void **state)
{
    pp_json *json = parsed("{\"zarr_format\":3,\"node_type\":\"group\"}");
    pp_group_document document;
    (void)state;
    assert_ok(pp_group_document_parse(&document, json));
    assert_int_equal(pp_json_kind_of(document.attributes), PP_JSON_OBJECT);
    pp_group_document_clear(&document);
    pp_json_free(json);
    refuse_group("{\"zarr_format\":3,\"node_type\":\"array\"}", PARAPET_ERR_FORMAT, "node_type");
    refuse_group("{\"zarr_format\":3}", PARAPET_ERR_FORMAT, "node_type");
    refuse_group("{\"node_type\":\"group\"}", PARAPET_ERR_FORMAT, "zarr_format");
    refuse_group("[]", PARAPET_ERR_FORMAT, "object");
    refuse_group("{\"zarr_format\":3,\"node_type\":\"group\",\"x\":1}", PARAPET_ERR_UNSUPPORTED, "\"x\"");
    refuse_group("{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":[]}", PARAPET_ERR_FORMAT, "attributes");
    refuse_group("{\"zarr_format\":3,\"node_type\":\"group\",\"consolidated_metadata\":1}", PARAPET_ERR_FORMAT,
                 "consolidated_metadata");
    refuse_group("{\"zarr_format\":\"https://purl.org/zarr/spec/protocol/core/3.0\",\"metadata_encoding\":\"x\"}",
                 PARAPET_ERR_UNSUPPORTED, "before 2023");
}

static int refuse_at_zero(void *context, size_t bytes)
{
    int *left = context;
    (void)bytes;
    return (*left)-- == 0;
}

static void test_document__every_failed_allocation_leaves_nothing_behind(void **state)
{
    pp_json *json = usual_with("codecs", "[" SHARDING("[2,2]", "[" LITTLE "," ZSTD "]") "]");
    parapet_status status = PARAPET_ERR_MEMORY;
    pp_json *names = parsed("[\"y\",\"x\"]");
    int fail_at;
    (void)state;
    assert_ok(pp_json_set(json, "dimension_names", names));
    for (fail_at = 0; status != PARAPET_OK; fail_at++) {
        long live = pp_memory_live_count();
        pp_array_document document;
        pp_text text = {0};
        int left = fail_at;
        pp_memory_hook_set(refuse_at_zero, &left);
        status = pp_array_document_parse(&document, json);
        if (status == PARAPET_OK)
            status = pp_array_document_print(&document, &text);
        pp_memory_hook_set(NULL, NULL);
        pp_text_free(&text);
        pp_array_document_clear(&document);
        assert_true(status == PARAPET_OK || status == PARAPET_ERR_MEMORY);
        assert_int_equal(live, pp_memory_live_count());
    }
    assert_true(fail_at > 8);
    pp_json_free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_document__a_usual_array_is_read),
        cmocka_unit_test(test_document__prints_its_keys_in_order),
        cmocka_unit_test(test_document__every_mandatory_field_is_missed_by_name),
        cmocka_unit_test(test_document__fields_of_the_wrong_kind_are_refused),
        cmocka_unit_test(test_document__shapes_have_limits),
        cmocka_unit_test(test_document__key_encodings_in_all_their_spellings),
        cmocka_unit_test(test_document__unknown_fields_are_kept_or_refused),
        cmocka_unit_test(test_document__dimension_names_are_checked),
        cmocka_unit_test(test_document__formats_other_than_three_are_refused),
        cmocka_unit_test(test_codecs__all_kinds_are_read_and_written),
        cmocka_unit_test(test_codecs__lenient_spellings_are_accepted),
        cmocka_unit_test(test_codecs__one_byte_types_need_no_endian),
        cmocka_unit_test(test_codecs__wrong_lists_are_refused),
        cmocka_unit_test(test_codecs__sharding_is_read_and_written),
        cmocka_unit_test(test_codecs__foreign_sharding_keeps_its_meaning),
        cmocka_unit_test(test_codecs__wrong_sharding_is_refused),
        cmocka_unit_test(test_codecs__transpose_before_sharding_turns_the_shard),
        cmocka_unit_test(test_codecs__words_give_chains),
        cmocka_unit_test(test_codecs__other_words_are_refused_with_what_is_accepted),
        cmocka_unit_test(test_document__arrays_of_strings_open_but_are_not_written),
        cmocka_unit_test(test_document__texts_are_read_with_codecs_that_are_known),
        cmocka_unit_test(test_document__attributes_too_deep_to_read_back_are_not_written),
        cmocka_unit_test(test_group__is_read_and_written),
        cmocka_unit_test(test_group__prints_documents_as_they_are_gathered),
        cmocka_unit_test(test_group__refuses_gathered_documents_that_no_reader_accepts),
        cmocka_unit_test(test_group__stops_gathering_when_no_reader_accepts_more),
        cmocka_unit_test(test_group__wrong_documents_are_refused),
        cmocka_unit_test(test_document__every_failed_allocation_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
