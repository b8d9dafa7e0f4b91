#include <inttypes.h>
#include <string.h>

#include "base/status.h"
#include "zarr/codecs_json.h"
#include "zarr/document.h"
#include "zarr/fields.h"
#include "zarr/json_print.h"

void pp_array_document_clear(pp_array_document *document)
{
    int i;
    pp_type_clear(&document->type);
    pp_chain_spec_clear(&document->codecs);
    pp_free(document->fill_value);
    pp_free(document->fill_text);
    for (i = 0; i < PARAPET_MAX_NDIM; i++)
        pp_free(document->dimension_names[i]);
    pp_json_free(document->attributes);
    pp_json_free(document->extra);
    *document = (pp_array_document){0};
}

static parapet_status check_format(pp_json *json)
{
    char words[PP_JSON_WORDS_BYTES];
    pp_json *format;
    int64_t number;
    parapet_status status;
    if (pp_json_kind_of(json) != PP_JSON_OBJECT)
        return pp_fail(PARAPET_ERR_FORMAT, "zarr.json must hold an object, not %s", pp_json_words(json, words));
    if ((status = pp_member_require(json, "zarr_format", &format)) != PARAPET_OK)
        return status;
    if (pp_json_kind_of(format) == PP_JSON_STRING)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "zarr_format %s: this is a draft of Zarr v3 from before 2023, which cannot be read",
                       pp_json_words(format, words));
    if (!pp_json_get_i64(format, &number) || number != 3)
        return pp_fail(PARAPET_ERR_FORMAT, "zarr_format of a zarr.json must be 3, not %s",
                       pp_json_words(format, words));
    return PARAPET_OK;
}

parapet_status pp_document_node_type(pp_json *json, parapet_node_kind *kind)
{
    char words[PP_JSON_WORDS_BYTES];
    pp_json *node_type;
    parapet_status status;
    if ((status = check_format(json)) != PARAPET_OK ||
        (status = pp_member_require(json, "node_type", &node_type)) != PARAPET_OK)
        return status;
    if (pp_json_is_text(node_type, "array"))
        *kind = PARAPET_NODE_ARRAY;
    else if (pp_json_is_text(node_type, "group"))
        *kind = PARAPET_NODE_GROUP;
    else
        return pp_fail(PARAPET_ERR_FORMAT, "node_type must be \"array\" or \"group\", not %s",
                       pp_json_words(node_type, words));
    return PARAPET_OK;
}

/* ---- The fields, one function each ---- */

static parapet_status parse_shape(pp_array_document *document, pp_json *json)
{
    pp_json *shape;
    parapet_status status = pp_member_require(json, "shape", &shape);
    return status != PARAPET_OK ? status : pp_shape_parse(shape, "shape", 0, &document->ndim, document->shape);
}

static parapet_status parse_type(pp_array_document *document, pp_json *json)
{
    pp_json *data_type;
    parapet_status status = pp_member_require(json, "data_type", &data_type);
    return status != PARAPET_OK ? status : pp_type_parse(&document->type, data_type);
}

static parapet_status parse_grid(pp_array_document *document, pp_json *json)
{
    static const char *const names[] = {"chunk_shape", NULL};
    pp_extension grid;
    pp_json *field, *chunk_shape;
    int ndim;
    parapet_status status;
    if ((status = pp_member_require(json, "chunk_grid", &field)) != PARAPET_OK ||
        (status = pp_extension_parse(&grid, field, "chunk_grid")) != PARAPET_OK)
        return status;
    if (strcmp(grid.name, "regular") != 0)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "chunk_grid \"%.64s\" is not known to this version", grid.name);
    if ((status = pp_members_check(grid.configuration, names, "chunk_grid")) != PARAPET_OK)
        return status;
    if ((status = pp_member_require(grid.configuration, "chunk_shape", &chunk_shape)) != PARAPET_OK)
        return pp_fail_within(status, "chunk_grid");
    if ((status = pp_shape_parse(chunk_shape, "chunk_shape", 1, &ndim, document->grid_shape)) != PARAPET_OK)
        return status;
    if (ndim != document->ndim)
        return pp_fail(PARAPET_ERR_FORMAT, "chunk_shape has %d dimensions, but shape has %d", ndim, document->ndim);
    return PARAPET_OK;
}

static parapet_status parse_keys(pp_array_document *document, pp_json *json)
{
    static const char *const names[] = {"separator", NULL};
    char words[PP_JSON_WORDS_BYTES];
    pp_extension encoding;
    pp_json *field, *separator;
    parapet_status status;
    if ((status = pp_member_require(json, "chunk_key_encoding", &field)) != PARAPET_OK ||
        (status = pp_extension_parse(&encoding, field, "chunk_key_encoding")) != PARAPET_OK)
        return status;
    document->keys.is_v2 = strcmp(encoding.name, "v2") == 0;
    document->keys.separator = document->keys.is_v2 ? '.' : '/';
    if (!document->keys.is_v2 && strcmp(encoding.name, "default") != 0)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "chunk_key_encoding \"%.64s\" is not known to this version",
                       encoding.name);
    if ((status = pp_members_check(encoding.configuration, names, "chunk_key_encoding")) != PARAPET_OK)
        return status;
    separator = pp_json_member(encoding.configuration, "separator");
    if (!pp_json_has(encoding.configuration, "separator"))
        return PARAPET_OK;
    if (!pp_json_is_text(separator, "/") && !pp_json_is_text(separator, "."))
        return pp_fail(PARAPET_ERR_FORMAT, "chunk_key_encoding: separator must be \"/\" or \".\", not %s",
                       pp_json_words(separator, words));
    document->keys.separator = pp_json_is_text(separator, "/") ? '/' : '.';
    return PARAPET_OK;
}

static parapet_status parse_fill(pp_array_document *document, pp_json *json)
{
    parapet_status status = pp_allocate(&document->fill_value, document->type.element_bytes);
    if (status != PARAPET_OK)
        return status;
    return pp_fill_parse(&document->type, pp_json_member(json, "fill_value"), 3, document->fill_value,
                         &document->is_fill_defined);
}

/* Texts that are stored in shards, or with codecs that nobody knows, cannot be read: then there are no codecs. */
static parapet_status parse_texts(pp_array_document *document, pp_json *json, pp_json *codecs)
{
    const char *fill = "";
    size_t bytes = 0;
    if (strcmp(document->type.name, "string") != 0 ||
        !pp_json_get_text(pp_json_member(json, "fill_value"), &fill, &bytes) || strlen(fill) != bytes ||
        pp_codecs_parse_texts(&document->codecs, codecs) != PARAPET_OK) {
        pp_chain_spec_clear(&document->codecs);
        return PARAPET_OK;
    }
    document->has_texts = true;
    return pp_text_duplicate(&document->fill_text, fill);
}

/* Elements of variable length that are no texts need codecs that Parapet lacks: the array opens and lists. */
static parapet_status parse_codecs(pp_array_document *document, pp_json *json)
{
    pp_codec_context context = {.type = &document->type, .ndim = document->ndim};
    pp_json *codecs;
    parapet_status status = pp_member_require(json, "codecs", &codecs);
    if (status != PARAPET_OK)
        return status;
    if (document->type.id == PARAPET_VARIABLE)
        return parse_texts(document, json, codecs);
    memcpy(context.shape, document->grid_shape, sizeof context.shape);
    return pp_codecs_parse(&document->codecs, codecs, &context);
}

static parapet_status parse_dimension_name(pp_array_document *document, int dimension, pp_json *json)
{
    char words[PP_JSON_WORDS_BYTES];
    const char *name;
    size_t bytes;
    if (json == NULL)
        return PARAPET_OK;
    if (!pp_json_get_text(json, &name, &bytes) || strlen(name) != bytes || bytes > PP_MAX_NAME_BYTES)
        return pp_fail(PARAPET_ERR_FORMAT, "dimension_names: entry %d must be a string of at most %d bytes, not %s",
                       dimension, PP_MAX_NAME_BYTES, pp_json_words(json, words));
    return pp_text_duplicate(&document->dimension_names[dimension], name);
}

static parapet_status parse_dimension_names(pp_array_document *document, pp_json *json)
{
    pp_json *names = pp_json_member(json, "dimension_names");
    parapet_status status = PARAPET_OK;
    int i;
    if (names == NULL)
        return PARAPET_OK;
    if (pp_json_kind_of(names) != PP_JSON_ARRAY || pp_json_length(names) != (size_t)document->ndim)
        return pp_fail(PARAPET_ERR_FORMAT, "dimension_names must be a list of %d names", document->ndim);
    document->has_dimension_names = true;
    for (i = 0; i < document->ndim && status == PARAPET_OK; i++)
        status = parse_dimension_name(document, i, pp_json_element(names, (size_t)i));
    return status;
}

static parapet_status check_transformers(pp_json *json)
{
    pp_json *list = pp_json_member(json, "storage_transformers");
    if (list == NULL || (pp_json_kind_of(list) == PP_JSON_ARRAY && pp_json_length(list) == 0))
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_UNSUPPORTED, "storage_transformers are not known to this version");
}

static parapet_status take_unknown(void *context, const char *name, pp_json *value)
{
    static const char *const known[] = {
        "zarr_format",     "node_type",          "shape",  "data_type",  "chunk_grid",          "fill_value",
        "dimension_names", "chunk_key_encoding", "codecs", "attributes", "storage_transformers"};
    pp_array_document *document = context;
    size_t i;
    for (i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i]) == 0)
            return PARAPET_OK;
    return pp_extra_take(&document->extra, name, value);
}

parapet_status pp_array_document_parse(pp_array_document *document, pp_json *json)
{
    parapet_node_kind kind = PARAPET_NODE_ARRAY;
    parapet_status status;
    *document = (pp_array_document){.zarr_format = 3};
    if ((status = pp_document_node_type(json, &kind)) != PARAPET_OK)
        goto done;
    if (kind != PARAPET_NODE_ARRAY) {
        status = pp_fail(PARAPET_ERR_FORMAT, "node_type is \"group\" where an array was expected");
        goto done;
    }
    if ((status = pp_json_each(json, take_unknown, document)) != PARAPET_OK ||
        (status = check_transformers(json)) != PARAPET_OK || (status = parse_shape(document, json)) != PARAPET_OK ||
        (status = parse_type(document, json)) != PARAPET_OK || (status = parse_grid(document, json)) != PARAPET_OK ||
        (status = parse_keys(document, json)) != PARAPET_OK || (status = parse_fill(document, json)) != PARAPET_OK ||
        (status = parse_codecs(document, json)) != PARAPET_OK ||
        (status = parse_dimension_names(document, json)) != PARAPET_OK)
        goto done;
    status = pp_attributes_take(&document->attributes, pp_json_member(json, "attributes"), "attributes");
done:
    if (status != PARAPET_OK)
        pp_array_document_clear(document);
    return status;
}

/* ---- Printing ---- */

static void print_shape(const char *name, int ndim, const int64_t *shape, pp_text *text)
{
    int i;
    pp_text_add(text, "\"%s\":[", name);
    for (i = 0; i < ndim; i++)
        pp_text_add(text, "%s%" PRId64, i > 0 ? "," : "", shape[i]);
    pp_text_add(text, "]");
}

static void print_layout(const pp_array_document *document, pp_text *text)
{
    pp_text_add(text, "{\"zarr_format\":3,\"node_type\":\"array\",");
    print_shape("shape", document->ndim, document->shape, text);
    pp_text_add(text, ",\"data_type\":%s,\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{",
                document->type.json);
    print_shape("chunk_shape", document->ndim, document->grid_shape, text);
    pp_text_add(text, "}},\"chunk_key_encoding\":{\"name\":\"%s\",\"configuration\":{\"separator\":\"%c\"}},",
                document->keys.is_v2 ? "v2" : "default", document->keys.separator);
}

static void print_dimension_names(const pp_array_document *document, pp_text *text)
{
    int i;
    if (!document->has_dimension_names)
        return;
    pp_text_add(text, ",\"dimension_names\":[");
    for (i = 0; i < document->ndim; i++) {
        pp_text_add(text, "%s", i > 0 ? "," : "");
        if (document->dimension_names[i] != NULL)
            pp_json_print_string(document->dimension_names[i], text);
        else
            pp_text_add(text, "null");
    }
    pp_text_add(text, "]");
}

static void print_attributes(pp_json *attributes, pp_text *text)
{
    pp_text_add(text, ",\"attributes\":");
    if (attributes != NULL)
        pp_json_print(attributes, false, text);
    else
        pp_text_add(text, "{}");
}

static bool is_plain_text(const pp_array_document *document)
{
    return document->has_texts && document->codecs.count == 1;
}

static parapet_status print_fill_and_codecs(const pp_array_document *document, pp_text *text)
{
    parapet_status status;
    pp_text_add(text, "\"fill_value\":");
    if (document->has_texts) {
        pp_json_print_string(document->fill_text, text);
        pp_text_add(text, ",\"codecs\":[{\"name\":\"vlen-utf8\"}]");
        return text->status;
    }
    if ((status = pp_fill_print(&document->type, document->fill_value, text)) != PARAPET_OK)
        return status;
    pp_text_add(text, ",\"codecs\":");
    return pp_codecs_print(&document->codecs, document->ndim, text);
}

parapet_status pp_array_document_print(const pp_array_document *document, pp_text *text)
{
    pp_text compact = {0};
    parapet_status status;
    if (document->zarr_format != 3)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "metadata of Zarr v2 can be read, but not written");
    if (document->type.id == PARAPET_VARIABLE && !is_plain_text(document))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "metadata of an array of %s can be read, but not written",
                       document->type.name);
    print_layout(document, &compact);
    if ((status = print_fill_and_codecs(document, &compact)) != PARAPET_OK)
        goto failed;
    print_attributes(document->attributes, &compact);
    print_dimension_names(document, &compact);
    pp_extra_print(document->extra, &compact);
    pp_text_add(&compact, "}");
    return pp_document_finish(&compact, text);
failed:
    pp_text_free(&compact);
    return status;
}
