#include "zarr/fields.h"

#include <inttypes.h>
#include <parapet_types.h>
#include <string.h>

#include "base/status.h"
#include "zarr/json_print.h"

static parapet_status copy_name(pp_extension *extension, pp_json *json, const char *field)
{
    char words[PP_JSON_WORDS_BYTES];
    const char *name;
    size_t bytes;
    if (!pp_json_get_text(json, &name, &bytes) || bytes == 0 || memchr(name, '\0', bytes) != NULL)
        return pp_fail(PARAPET_ERR_FORMAT, "%s: the name must be a non-empty string, not %s", field,
                       pp_json_words(json, words));
    if (bytes > PP_MAX_NAME_BYTES)
        return pp_fail(PARAPET_ERR_FORMAT, "%s: the name %s has %zu bytes, more than %d", field,
                       pp_json_words(json, words), bytes, PP_MAX_NAME_BYTES);
    memcpy(extension->name, name, bytes);
    extension->name[bytes] = '\0';
    return PARAPET_OK;
}

parapet_status pp_extension_parse(pp_extension *extension, pp_json *json, const char *field)
{
    static const char *const names[] = {"name", "configuration", "must_understand", NULL};
    char words[PP_JSON_WORDS_BYTES];
    pp_json *must_understand;
    parapet_status status;
    *extension = (pp_extension){.must_understand = true};
    if (pp_json_kind_of(json) == PP_JSON_STRING)
        return copy_name(extension, json, field);
    if (pp_json_kind_of(json) != PP_JSON_OBJECT || !pp_json_has(json, "name"))
        return pp_fail(PARAPET_ERR_FORMAT, "%s must be a name or an object with a name, not %s", field,
                       pp_json_words(json, words));
    if ((status = copy_name(extension, pp_json_member(json, "name"), field)) != PARAPET_OK ||
        (status = pp_members_check(json, names, field)) != PARAPET_OK)
        return status;
    extension->configuration = pp_json_member(json, "configuration");
    if (pp_json_has(json, "configuration") && pp_json_kind_of(extension->configuration) != PP_JSON_OBJECT)
        return pp_fail(PARAPET_ERR_FORMAT, "%s \"%s\": configuration must be an object, not %s", field,
                       extension->name, pp_json_words(extension->configuration, words));
    must_understand = pp_json_member(json, "must_understand");
    if (pp_json_has(json, "must_understand") && !pp_json_get_bool(must_understand, &extension->must_understand))
        return pp_fail(PARAPET_ERR_FORMAT, "%s \"%s\": must_understand must be true or false", field,
                       extension->name);
    return PARAPET_OK;
}

typedef struct member_check {
    const char *const *names;
    const char *field;
} member_check;

static parapet_status check_member(void *context, const char *name, pp_json *value)
{
    const member_check *check = context;
    int i;
    (void)value;
    for (i = 0; check->names[i] != NULL; i++)
        if (strcmp(name, check->names[i]) == 0)
            return PARAPET_OK;
    return pp_fail(PARAPET_ERR_UNSUPPORTED, "%s has a member \"%.64s\" that this version does not know", check->field,
                   name);
}

parapet_status pp_members_check(pp_json *object, const char *const *names, const char *field)
{
    member_check check = {names, field};
    return pp_json_each(object, check_member, &check);
}

parapet_status pp_member_require(pp_json *object, const char *name, pp_json **value)
{
    *value = pp_json_member(object, name);
    if (!pp_json_has(object, name))
        return pp_fail(PARAPET_ERR_FORMAT, "the field %s is missing", name);
    return PARAPET_OK;
}

parapet_status pp_shape_parse(pp_json *json, const char *field, int64_t minimum, int *ndim, int64_t *shape)
{
    char words[PP_JSON_WORDS_BYTES];
    size_t count = pp_json_length(json), i;
    if (pp_json_kind_of(json) != PP_JSON_ARRAY)
        return pp_fail(PARAPET_ERR_FORMAT, "%s must be a list of integers, not %s", field,
                       pp_json_words(json, words));
    if (count > PARAPET_MAX_NDIM)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "%s has %zu dimensions, more than %d", field, count,
                       PARAPET_MAX_NDIM);
    for (i = 0; i < count; i++) {
        pp_json *entry = pp_json_element(json, i);
        if (!pp_json_get_i64(entry, &shape[i]) || shape[i] < minimum)
            return pp_fail(PARAPET_ERR_FORMAT, "%s: entry %zu must be an integer of at least %" PRId64 ", not %s",
                           field, i, minimum, pp_json_words(entry, words));
    }
    *ndim = (int)count;
    return PARAPET_OK;
}

parapet_status pp_integer_parse(pp_json *json, const pp_integer_range *range, int *value)
{
    char words[PP_JSON_WORDS_BYTES];
    int64_t number;
    if (json == NULL)
        return PARAPET_OK;
    if (!pp_json_get_i64(json, &number) || number < range->low || number > range->high)
        return pp_fail(PARAPET_ERR_FORMAT, "%s must be an integer from %" PRId64 " to %" PRId64 ", not %s",
                       range->field, range->low, range->high, pp_json_words(json, words));
    *value = (int)number;
    return PARAPET_OK;
}

parapet_status pp_attributes_take(pp_json **attributes, pp_json *json, const char *field)
{
    char words[PP_JSON_WORDS_BYTES];
    if (json == NULL)
        return pp_json_object_build(attributes);
    if (pp_json_kind_of(json) != PP_JSON_OBJECT)
        return pp_fail(PARAPET_ERR_FORMAT, "%s must be an object, not %s", field, pp_json_words(json, words));
    *attributes = pp_json_share(json);
    return PARAPET_OK;
}

parapet_status pp_extra_take(pp_json **extra, const char *name, pp_json *value)
{
    bool must_understand = true;
    parapet_status status;
    (void)pp_json_get_bool(pp_json_member(value, "must_understand"), &must_understand);
    if (must_understand)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "the field \"%.64s\" is not known to this version and does not say that it may be ignored",
                       name);
    if (*extra == NULL && (status = pp_json_object_build(extra)) != PARAPET_OK)
        return status;
    return pp_json_set(*extra, name, pp_json_share(value));
}

static parapet_status print_extra_member(void *context, const char *name, pp_json *value)
{
    pp_text *text = context;
    pp_text_add(text, ",");
    pp_json_print_string(name, text);
    pp_text_add(text, ":");
    pp_json_print(value, false, text);
    return PARAPET_OK;
}

void pp_extra_print(pp_json *extra, pp_text *text)
{
    (void)pp_json_each(extra, print_extra_member, text);
}

parapet_status pp_document_finish(pp_text *compact, pp_text *text)
{
    size_t before = text->bytes;
    pp_json *json = NULL;
    parapet_status status = compact->status;
    if (status == PARAPET_OK)
        status = pp_json_parse_own(&json, compact->data, compact->bytes);
    if (status == PARAPET_OK) {
        pp_json_print(json, true, text);
        pp_text_add(text, "\n");
        status = text->status;
    }
    if (status == PARAPET_OK && text->bytes - before > PP_JSON_MAX_BYTES)
        status = pp_fail(PARAPET_ERR_FORMAT, "the document would have %zu bytes, more than the limit of %u",
                         text->bytes - before, PP_JSON_MAX_BYTES);
    pp_json_free(json);
    pp_text_free(compact);
    return status;
}
