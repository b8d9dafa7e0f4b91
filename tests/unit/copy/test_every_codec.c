/* Every codec of the table, whatever it is: it says what it is, its words and its JSON can be read back, and a copy
 * keeps it. A codec that is added is tested here without a change, unless its configuration depends on the array. */
#include "support.h"

#include "stored.h"
#include "zarr/codec_parameters.h"
#include "zarr/codecs_json.h"
#include "zarr/document.h"

#define ROWS 8
#define COLUMNS 6

static const int64_t inner_shape[2] = {2, 3};

static bool is_end(const pp_parameter *parameter)
{
    return parameter == NULL || parameter->name == NULL;
}

static int choice_count(const pp_parameter *parameter)
{
    int count = 0;
    while (parameter->choices[count] != NULL)
        count++;
    return count;
}

/* ---- Values of parameters: what is usual, the ends of a range, every choice ---- */

#define MAX_VALUES 16

typedef struct values {
    int count;
    int list[MAX_VALUES];
} values;

static values values_of(const pp_parameter *parameter)
{
    values found = {.count = 1, .list = {parameter->usual}};
    int i, choices;
    if (parameter->kind == PP_PARAMETER_INTEGER) {
        found.list[found.count++] = parameter->low;
        found.list[found.count++] = parameter->high;
        return found;
    }
    choices = parameter->choices != NULL ? choice_count(parameter) : 2;
    assert_true(choices < MAX_VALUES);
    for (i = 0; i < choices; i++)
        found.list[found.count++] = i;
    return found;
}

/* What the array has to be asked for. */
static void set_structure(pp_codec_spec *codec)
{
    pp_sharding_spec *sharding;
    codec->order[0] = 1;
    if (codec->id != PP_CODEC_SHARDING)
        return;
    assert_ok(pp_allocate(&codec->sharding, sizeof *codec->sharding));
    sharding = codec->sharding;
    sharding->ndim = 2;
    memcpy(sharding->chunk_shape, inner_shape, sizeof inner_shape);
    sharding->codecs = (pp_chain_spec){.count = 2, .codecs = {{.is_big_endian = true}, {.id = PP_CODEC_CRC32C}}};
    sharding->index_codecs = (pp_chain_spec){.count = 2, .codecs = {{.id = PP_CODEC_BYTES}, {.id = PP_CODEC_CRC32C}}};
}

/* A list with this codec in it; changed, if not NULL, has its value number turn, and all others what is usual. */
static pp_chain_spec list_with(pp_codec_id id, const pp_parameter *changed, int turn)
{
    const pp_codec_traits *traits = pp_codec_traits_of(id);
    pp_chain_spec list = {.count = traits->kind == PP_ARRAY_TO_BYTES ? 1 : 2};
    pp_codec_spec *codec = &list.codecs[traits->kind == PP_BYTES_TO_BYTES ? 1 : 0];
    const pp_parameter *parameter;
    codec->id = id;
    for (parameter = traits->v3_parameters; !is_end(parameter); parameter++)
        pp_parameter_set(parameter, codec, values_of(parameter).list[parameter == changed ? turn : 0]);
    if (traits->complete != NULL)
        traits->complete(codec, sizeof(int32_t));
    set_structure(codec);
    return list;
}

static pp_codec_spec *codec_in(pp_chain_spec *list, pp_codec_id id)
{
    int i;
    for (i = 0; i < list->count; i++)
        if (list->codecs[i].id == id)
            return &list->codecs[i];
    return NULL;
}

/* ---- What it is ---- */

static void check_parameter(const char *codec, const pp_parameter *parameter)
{
    bool has_choices = parameter->choices != NULL;
    int i;
    if (parameter->kind == PP_PARAMETER_INTEGER ? has_choices || parameter->low > parameter->high
                                                : !has_choices && parameter->kind != PP_PARAMETER_FLAG)
        fail_msg("%s: %s has neither a range nor choices", codec, parameter->name);
    if (!has_choices)
        return;
    if (parameter->usual < 0 || parameter->usual >= choice_count(parameter))
        fail_msg("%s: %s: what is usual is no choice", codec, parameter->name);
    for (i = 0; i < choice_count(parameter); i++)
        if (parameter->kind == PP_PARAMETER_NAME && strlen(parameter->choices[i]) >= PP_PARAMETER_NAME_BYTES)
            fail_msg("%s: %s: %s is too long", codec, parameter->name, parameter->choices[i]);
}

static bool is_same_name(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static void test_every_codec__says_what_it_is(void **state)
{
    pp_codec_id id, other;
    (void)state;
    for (id = 0; id < PP_CODEC_COUNT; id++) {
        const pp_codec_traits *traits = pp_codec_traits_of(id);
        const pp_parameter *lists[] = {traits->v3_parameters, traits->v2_parameters, traits->words};
        size_t i;
        assert_true(traits->name != NULL && (traits->v3_name != NULL || traits->v2_name != NULL));
        assert_int_not_equal(traits->role, PP_ROLE_UNSAID);
        for (i = 0; i < 3; i++)
            for (; !is_end(lists[i]); lists[i]++)
                check_parameter(traits->name, lists[i]);
        for (other = 0; other < id; other++) {
            const pp_codec_traits *theirs = pp_codec_traits_of(other);
            assert_false(is_same_name(traits->name, theirs->name));
            assert_false(is_same_name(traits->v2_name, theirs->v2_name));
            assert_false(is_same_name(traits->v3_name, theirs->v3_name) ||
                         is_same_name(traits->v3_name, theirs->draft_name));
        }
    }
    assert_null(pp_codec_traits_of(PP_CODEC_COUNT));
}

/* ---- Words ---- */

/* "blosc:lz4:5:shuffle" with the word changed at value number turn; those after it only if has_all. */
static void write_words(const pp_codec_traits *traits, const pp_parameter *changed, int turn, bool has_all,
                        pp_text *text)
{
    const pp_parameter *word;
    pp_text_add(text, "%s", traits->name);
    for (word = traits->words; !is_end(word); word++) {
        int value = values_of(word).list[word == changed ? turn : 0];
        if (word->choices != NULL)
            pp_text_add(text, ":%s", word->choices[value]);
        else
            pp_text_add(text, ":%d", value);
        if (word == changed && !has_all)
            return;
    }
}

/* Words are the same again when they are printed; what is left out is said then. */
static void check_words(const pp_codec_traits *traits, const pp_parameter *changed, int turn)
{
    pp_chain_spec list;
    int has_all;
    for (has_all = 0; has_all < 2; has_all++) {
        pp_text given = {0}, wanted = {0}, printed = {0};
        write_words(traits, changed, turn, has_all != 0, &given);
        write_words(traits, changed, turn, true, &wanted);
        pp_text_add(&wanted, " crc32c");
        assert_ok(pp_codecs_from_words(&list, given.data, sizeof(int32_t), true));
        pp_chain_spec_print(&list, &printed);
        assert_string_equal(printed.data, wanted.data);
        pp_text_free(&given);
        pp_text_free(&wanted);
        pp_text_free(&printed);
    }
}

static bool is_written(pp_codec_id id)
{
    return pp_codec_traits_of(id)->v3_name != NULL && pp_codec_can_encode(id);
}

static void test_every_codec__that_compresses_has_words_that_print_themselves(void **state)
{
    pp_codec_id id;
    int turn, count = 0;
    (void)state;
    for (id = 0; id < PP_CODEC_COUNT; id++) {
        const pp_codec_traits *traits = pp_codec_traits_of(id);
        const pp_parameter *word;
        if (traits->role != PP_ROLE_COMPRESSOR || !is_written(id))
            continue;
        count++;
        for (word = traits->words; !is_end(word); word++)
            for (turn = 0; turn < values_of(word).count; turn++)
                check_words(traits, word, turn);
        check_words(traits, NULL, 0);
    }
    assert_in_range(count, 3, PP_CODEC_COUNT);
}

/* ---- JSON ---- */

static char *print_list(const pp_chain_spec *list)
{
    pp_text text = {0};
    assert_ok(pp_codecs_print(list, 2, &text));
    return text.data;
}

static void read_list(pp_chain_spec *list, const char *text)
{
    pp_type type = {.id = PARAPET_INT32, .element_bytes = sizeof(int32_t), .swap_bytes = sizeof(int32_t)};
    const pp_codec_context context = {.type = &type, .ndim = 2, .shape = {4, 3}};
    pp_json *json;
    assert_ok(pp_json_parse(&json, text, strlen(text)));
    assert_ok(pp_codecs_parse(list, json, &context));
    pp_json_free(json);
}

static void check_same(const pp_codec_spec *found, const pp_codec_spec *wanted)
{
    const pp_codec_traits *traits = pp_codec_traits_of(wanted->id);
    const pp_parameter *parameter;
    assert_non_null(found);
    for (parameter = traits->v3_parameters; !is_end(parameter); parameter++)
        if (pp_parameter_get(parameter, found) != pp_parameter_get(parameter, wanted))
            fail_msg("%s: %s is lost in JSON", traits->name, parameter->name);
    if (wanted->id == PP_CODEC_TRANSPOSE)
        assert_memory_equal(found->order, wanted->order, sizeof wanted->order);
    assert_int_equal(found->sharding != NULL, wanted->sharding != NULL);
}

static void check_json(pp_codec_id id, const pp_parameter *changed, int turn)
{
    pp_chain_spec list = list_with(id, changed, turn), found = {0};
    char *printed = print_list(&list), *again;
    read_list(&found, printed);
    again = print_list(&found);
    assert_string_equal(again, printed);
    check_same(codec_in(&found, id), codec_in(&list, id));
    pp_free(printed);
    pp_free(again);
    pp_chain_spec_clear(&list);
    pp_chain_spec_clear(&found);
}

static void test_every_codec__of_version_3_has_json_that_reads_back(void **state)
{
    long live = pp_memory_live_count();
    pp_codec_id id;
    int turn;
    (void)state;
    for (id = 0; id < PP_CODEC_COUNT; id++) {
        const pp_codec_traits *traits = pp_codec_traits_of(id);
        const pp_parameter *parameter;
        if (traits->v3_name == NULL)
            continue;
        for (parameter = traits->v3_parameters; !is_end(parameter); parameter++)
            for (turn = 0; turn < values_of(parameter).count; turn++)
                check_json(id, parameter, turn);
        check_json(id, NULL, 0);
    }
    assert_int_equal(pp_memory_live_count(), live);
}

/* ---- Copies ---- */

static void put_array(parapet_store *store, const pp_chain_spec *list)
{
    pp_text text = {0};
    char *codecs = print_list(list);
    pp_text_add(&text,
                "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[%d,%d],\"data_type\":\"int32\","
                "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[4,3]}},"
                "\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":0,\"codecs\":%s}",
                ROWS, COLUMNS, codecs);
    stored_put_text(store, "source/zarr.json", text.data);
    pp_free(codecs);
    pp_text_free(&text);
}

static void transfer(parapet_store *store, const char *path, bool is_write, int32_t *elements)
{
    static const int64_t start[2] = {0, 0}, count[2] = {ROWS, COLUMNS};
    const parapet_part part = {.ndim = 2, .start = start, .count = count, .data = elements};
    parapet_array *array;
    assert_ok(parapet_array_open(&array, store, path));
    if (is_write)
        assert_ok(parapet_array_write(array, &part, 1));
    else
        assert_ok(parapet_array_read(array, &part, 1));
    assert_ok(parapet_array_close(&array));
}

/* Copies source to target; the codecs that target then has. Free with pp_chain_spec_clear. */
static pp_chain_spec copied_codecs(parapet_store *store, const parapet_copy_changes *changes)
{
    parapet_copy_request request = {
        .source = store,
        .source_path = "source",
        .target = store,
        .target_path = "target",
        .changes = *changes,
        .overwrite = 1,
        .no_probe = 1,
    };
    pp_array_document document;
    pp_chain_spec codecs;
    pp_json *json;
    size_t bytes;
    char *text;
    assert_ok(parapet_copy(&request, NULL));
    text = stored_get(store, "target/zarr.json", &bytes);
    assert_ok(pp_json_parse(&json, text, bytes));
    assert_ok(pp_array_document_parse(&document, json));
    codecs = document.codecs;
    document.codecs = (pp_chain_spec){0};
    pp_array_document_clear(&document);
    pp_json_free(json);
    pp_free(text);
    return codecs;
}

static void check_values(parapet_store *store, const int32_t *elements)
{
    int32_t found[ROWS * COLUMNS] = {0};
    transfer(store, "target", false, found);
    assert_memory_equal(found, elements, sizeof found);
}

static void fill(int32_t *elements)
{
    int i;
    for (i = 0; i < ROWS * COLUMNS; i++)
        elements[i] = 1000 * i + 7;
}

/* A codec that the copy is not told to change is there as it was, inside of shards or out. */
static void check_copy(pp_codec_id id)
{
    pp_chain_spec list = list_with(id, NULL, 0), copied;
    int32_t elements[ROWS * COLUMNS];
    parapet_store *store;
    char *wanted = print_list(&list), *found;
    fill(elements);
    stored_open(&store, NULL);
    put_array(store, &list);
    transfer(store, "source", true, elements);
    copied = copied_codecs(store, &(parapet_copy_changes){0});
    found = print_list(&copied);
    if (strcmp(found, wanted) != 0)
        fail_msg("a copy of codecs %s has %s", wanted, found);
    check_values(store, elements);
    pp_chain_spec_clear(&copied);
    pp_chain_spec_clear(&list);
    stored_close(&store);
    pp_free(found);
    pp_free(wanted);
}

static void test_every_codec__is_kept_by_a_copy_that_is_told_nothing(void **state)
{
    pp_codec_id id;
    (void)state;
    for (id = 0; id < PP_CODEC_COUNT; id++)
        if (is_written(id))
            check_copy(id);
}

/* In other chunks the copy has its own layout and its own checksum, and still what compresses. */
static void check_rechunked(pp_codec_id id)
{
    pp_chain_spec list = list_with(id, NULL, 0), copied;
    int32_t elements[ROWS * COLUMNS];
    parapet_store *store;
    fill(elements);
    stored_open(&store, NULL);
    put_array(store, &list);
    transfer(store, "source", true, elements);
    copied = copied_codecs(store, &(parapet_copy_changes){.chunks = "2,6", .shards = "none"});
    if (codec_in(&copied, id) == NULL)
        fail_msg("%s is lost in a copy with other chunks", pp_codec_traits_of(id)->name);
    check_same(codec_in(&copied, id), codec_in(&list, id));
    check_values(store, elements);
    pp_chain_spec_clear(&copied);
    pp_chain_spec_clear(&list);
    stored_close(&store);
}

static void test_every_codec__that_makes_smaller_is_kept_in_other_chunks(void **state)
{
    pp_codec_id id;
    int count = 0;
    (void)state;
    for (id = 0; id < PP_CODEC_COUNT; id++) {
        pp_codec_role role = pp_codec_traits_of(id)->role;
        if (!is_written(id) || (role != PP_ROLE_COMPRESSOR && role != PP_ROLE_FILTER))
            continue;
        check_rechunked(id);
        count++;
    }
    assert_in_range(count, 3, PP_CODEC_COUNT);
}

/* ---- Zarr v2 ---- */

static void put_array_v2(parapet_store *store, pp_codec_id id)
{
    const pp_codec_traits *traits = pp_codec_traits_of(id);
    bool is_compressor = traits->role == PP_ROLE_COMPRESSOR;
    const pp_parameter *parameter;
    pp_codec_spec codec = {.id = id};
    pp_text text = {0}, told = {0};
    for (parameter = traits->v2_parameters; !is_end(parameter); parameter++)
        pp_parameter_set(parameter, &codec, values_of(parameter).list[0]);
    pp_parameters_print(traits->v2_parameters, &codec, &told);
    if (id == PP_CODEC_DELTA)
        pp_text_add(&told, "\"dtype\":\"<i4\"");
    pp_text_add(
        &text,
        "{\"zarr_format\":2,\"shape\":[%d,%d],\"chunks\":[4,3],\"dtype\":\"<i4\",\"order\":\"C\",\"fill_value\":"
        "5,\"filters\":%s",
        ROWS, COLUMNS, is_compressor ? "null,\"compressor\":" : "[");
    pp_text_add(&text, "{\"id\":\"%s\"%s%s}%s}", traits->v2_name, told.bytes > 0 ? "," : "",
                told.bytes > 0 ? told.data : "", is_compressor ? "" : "],\"compressor\":null");
    stored_put_text(store, "source/.zarray", text.data);
    pp_text_free(&text);
    pp_text_free(&told);
}

static bool has_compressor(const pp_chain_spec *list)
{
    int i;
    for (i = 0; i < list->count; i++)
        if (pp_codec_traits_of(list->codecs[i].id)->role == PP_ROLE_COMPRESSOR)
            return true;
    return false;
}

static void test_every_codec__of_version_2_becomes_one_of_version_3(void **state)
{
    pp_codec_id id;
    (void)state;
    for (id = 0; id < PP_CODEC_COUNT; id++) {
        const pp_codec_traits *traits = pp_codec_traits_of(id);
        parapet_store *store;
        pp_chain_spec copied;
        if (traits->v2_name == NULL)
            continue;
        stored_open(&store, NULL);
        put_array_v2(store, id);
        copied = copied_codecs(store, &(parapet_copy_changes){.shards = "none"});
        if (has_compressor(&copied) != (traits->role == PP_ROLE_COMPRESSOR))
            fail_msg("a copy of an array of Zarr v2 with %s is%s compressed", traits->name,
                     has_compressor(&copied) ? "" : " not");
        if (traits->role == PP_ROLE_COMPRESSOR && is_written(id) && codec_in(&copied, id) == NULL)
            fail_msg("%s of Zarr v2 is lost in a copy", traits->name);
        pp_chain_spec_clear(&copied);
        stored_close(&store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_codec__says_what_it_is),
        cmocka_unit_test(test_every_codec__that_compresses_has_words_that_print_themselves),
        cmocka_unit_test(test_every_codec__of_version_3_has_json_that_reads_back),
        cmocka_unit_test(test_every_codec__is_kept_by_a_copy_that_is_told_nothing),
        cmocka_unit_test(test_every_codec__that_makes_smaller_is_kept_in_other_chunks),
        cmocka_unit_test(test_every_codec__of_version_2_becomes_one_of_version_3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
