/* A type as it stands in a document: a scalar, or a packed record of types. Records are data_type "struct" of Zarr
 * v3, its older form "structured", and structured dtypes of v2. */
#include "zarr/types_struct.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/status.h"
#include "zarr/fields.h"
#include "zarr/json_print.h"
#include "zarr/types.h"

/* A field is {"name":..., "data_type":...}, or the pair [name, data_type] in the older form. */
static parapet_status split_field(pp_json *json, const char **name, pp_json **data_type)
{
    char words[PP_JSON_WORDS_BYTES];
    bool is_pair = pp_json_kind_of(json) == PP_JSON_ARRAY && pp_json_length(json) == 2;
    pp_json *first = is_pair ? pp_json_element(json, 0) : pp_json_member(json, "name");
    size_t bytes;
    *data_type = is_pair ? pp_json_element(json, 1) : pp_json_member(json, "data_type");
    if (!pp_json_get_text(first, name, &bytes) || strlen(*name) != bytes || bytes == 0 || *data_type == NULL)
        return pp_fail(PARAPET_ERR_FORMAT, "data_type: a field needs a name and a data_type, not %s",
                       pp_json_words(json, words));
    if (bytes > PP_MAX_NAME_BYTES)
        return pp_fail(PARAPET_ERR_FORMAT, "data_type: a field's name has %zu bytes, more than %d", bytes,
                       PP_MAX_NAME_BYTES);
    return PARAPET_OK;
}

static parapet_status visit_field(pp_json *json, size_t *offset, pp_field_visitor visit, void *context)
{
    pp_field field = {.offset = *offset};
    pp_json *data_type;
    parapet_status status;
    if ((status = split_field(json, &field.name, &data_type)) != PARAPET_OK ||
        (status = pp_type_parse(&field.type, data_type)) != PARAPET_OK)
        return status;
    if (field.type.element_bytes == 0)
        status = pp_fail(PARAPET_ERR_UNSUPPORTED, "data_type: the field \"%s\" has no fixed length", field.name);
    else if (!pp_add_size_fits(*offset, field.type.element_bytes, offset) || *offset > PP_MAX_ELEMENT_BYTES)
        status = pp_fail(PARAPET_ERR_UNSUPPORTED, "data_type: a record has more than %u bytes", PP_MAX_ELEMENT_BYTES);
    else
        status = visit(context, &field);
    pp_type_clear(&field.type);
    return status;
}

parapet_status pp_fields_each(pp_json *fields, pp_field_visitor visit, void *context)
{
    size_t offset = 0, i;
    parapet_status status = PARAPET_OK;
    if (pp_json_length(fields) == 0)
        return pp_fail(PARAPET_ERR_FORMAT, "data_type: fields must be a non-empty list");
    for (i = 0; i < pp_json_length(fields) && status == PARAPET_OK; i++)
        status = visit_field(pp_json_element(fields, i), &offset, visit, context);
    return status;
}

parapet_status pp_type_fields_each(const pp_type *type, pp_field_visitor visit, void *context)
{
    pp_json *json;
    parapet_status status = pp_json_parse(&json, type->json, strlen(type->json));
    if (status != PARAPET_OK)
        return status;
    status = pp_fields_each(pp_json_member(pp_json_member(json, "configuration"), "fields"), visit, context);
    pp_json_free(json);
    return status;
}

/* The record in Zarr v3 notation, and how many bytes it has. */
typedef struct record_writer {
    pp_text json;
    size_t bytes;
    bool is_structured; /* older form */
    pp_json *names;     /* to notice a name that stands twice */
} record_writer;

static parapet_status write_field(void *context, const pp_field *field)
{
    record_writer *record = context;
    if (pp_json_has(record->names, field->name))
        return pp_fail(PARAPET_ERR_FORMAT, "data_type: the field \"%s\" appears twice", field->name);
    pp_text_add(&record->json, "%s", record->bytes > 0 ? "," : "");
    pp_text_add(&record->json, record->is_structured ? "[" : "{\"name\":");
    pp_json_print_string(field->name, &record->json);
    pp_text_add(&record->json, record->is_structured ? "," : ",\"data_type\":");
    pp_text_add(&record->json, "%s", field->type.json);
    pp_text_add(&record->json, record->is_structured ? "]" : "}");
    record->bytes += field->type.element_bytes;
    return pp_json_set(record->names, field->name, NULL);
}

/* Finishes the text in record and makes it a type. */
static parapet_status finish_record(record_writer *record, pp_type *type)
{
    char name[64], *json;
    parapet_status status;
    pp_text_add(&record->json, "]}}");
    if ((status = pp_text_finish(&record->json, &json)) != PARAPET_OK)
        return status;
    (void)snprintf(name, sizeof name, "%s[%zu]", record->is_structured ? "structured" : "struct", record->bytes);
    status = pp_type_set(type, PARAPET_STRUCT, record->bytes, 1, (pp_type_text){name, json});
    pp_free(json);
    return status;
}

static parapet_status parse_record(pp_type *type, const char *name, pp_json *configuration)
{
    static const char *const names[] = {"fields", NULL};
    record_writer record = {.is_structured = strcmp(name, "structured") == 0};
    parapet_status status;
    if ((status = pp_members_check(configuration, names, "the configuration of data_type")) != PARAPET_OK ||
        (status = pp_json_object_build(&record.names)) != PARAPET_OK)
        return status;
    pp_text_add(&record.json, "{\"name\":\"%s\",\"configuration\":{\"fields\":[", name);
    status = pp_fields_each(pp_json_member(configuration, "fields"), write_field, &record);
    if (status == PARAPET_OK)
        status = finish_record(&record, type);
    pp_text_free(&record.json);
    pp_json_free(record.names);
    return status;
}

static parapet_status write_field_v2(record_writer *record, pp_json *json)
{
    char words[PP_JSON_WORDS_BYTES];
    pp_field field = {0};
    size_t bytes;
    bool is_big_endian;
    parapet_status status;
    if (pp_json_length(json) != 2 || !pp_json_get_text(pp_json_element(json, 0), &field.name, &bytes) ||
        strlen(field.name) != bytes || bytes > PP_MAX_NAME_BYTES)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "dtype: a field must be [name, dtype], not %s",
                       pp_json_words(json, words));
    if ((status = pp_type_parse_v2(&field.type, pp_json_element(json, 1), &is_big_endian)) != PARAPET_OK)
        return status;
    if (is_big_endian || field.type.element_bytes == 0)
        status =
            pp_fail(PARAPET_ERR_UNSUPPORTED, "dtype: the field \"%s\" is %s; records with such fields cannot be read",
                    field.name, is_big_endian ? "big-endian" : "of variable length");
    else
        status = write_field(record, &field);
    if (status == PARAPET_OK && record->bytes > PP_MAX_ELEMENT_BYTES)
        status = pp_fail(PARAPET_ERR_UNSUPPORTED, "dtype: a record has more than %u bytes", PP_MAX_ELEMENT_BYTES);
    pp_type_clear(&field.type);
    return status;
}

static parapet_status parse_record_v2(pp_type *type, pp_json *fields)
{
    record_writer record = {0};
    parapet_status status;
    size_t i;
    if (pp_json_length(fields) == 0)
        return pp_fail(PARAPET_ERR_FORMAT, "dtype: a record needs fields");
    if ((status = pp_json_object_build(&record.names)) != PARAPET_OK)
        return status;
    pp_text_add(&record.json, "{\"name\":\"struct\",\"configuration\":{\"fields\":[");
    for (i = 0; i < pp_json_length(fields) && status == PARAPET_OK; i++)
        status = write_field_v2(&record, pp_json_element(fields, i));
    if (status == PARAPET_OK)
        status = finish_record(&record, type);
    pp_text_free(&record.json);
    pp_json_free(record.names);
    return status;
}

parapet_status pp_type_parse(pp_type *type, pp_json *data_type)
{
    pp_extension extension;
    parapet_status status;
    *type = (pp_type){0};
    if ((status = pp_extension_parse(&extension, data_type, "data_type")) != PARAPET_OK)
        return status;
    if (strcmp(extension.name, "struct") == 0 || strcmp(extension.name, "structured") == 0)
        return parse_record(type, extension.name, extension.configuration);
    return pp_type_parse_scalar(type, &extension, data_type);
}

parapet_status pp_type_parse_v2(pp_type *type, pp_json *json, bool *is_big_endian)
{
    *type = (pp_type){0};
    *is_big_endian = false;
    return pp_json_kind_of(json) == PP_JSON_ARRAY ? parse_record_v2(type, json)
                                                  : pp_type_parse_scalar_v2(type, json, is_big_endian);
}
