#include "zarr/json.h"

#include <json-c/json.h>
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "zarr/json_scan.h"

static parapet_status refuse_memory(void)
{
    return pp_fail(PARAPET_ERR_MEMORY, "the machine has no memory left for a JSON document");
}

static size_t without_trailing_space(const char *text, size_t bytes)
{
    while (bytes > 0 && strchr(" \n\r\t", text[bytes - 1]) != NULL)
        bytes--;
    return bytes;
}

/* What passed the scan is valid, so that only memory can be missing; json-c then stops early and may say success. */
static parapet_status build_tree(pp_json **json, const char *text, size_t bytes)
{
    struct json_tokener *tokener = json_tokener_new_ex(PP_JSON_MAX_DEPTH + 2);
    enum json_tokener_error error;
    size_t consumed;
    if (tokener == NULL)
        return refuse_memory();
    *json = json_tokener_parse_ex(tokener, text, (int)bytes);
    consumed = json_tokener_get_parse_end(tokener);
    error = json_tokener_get_error(tokener);
    if (error == json_tokener_continue) { /* a bare number ends only where the text does */
        *json = json_tokener_parse_ex(tokener, "", 1);
        error = json_tokener_get_error(tokener);
    }
    json_tokener_free(tokener);
    if (error == json_tokener_success && consumed == bytes)
        return PARAPET_OK;
    pp_json_free(*json);
    *json = NULL;
    return refuse_memory();
}

static parapet_status check_bytes(size_t bytes)
{
    if (bytes > PP_JSON_MAX_BYTES)
        return pp_fail(PARAPET_ERR_FORMAT, "the JSON document has %zu bytes, more than the limit of %u", bytes,
                       PP_JSON_MAX_BYTES);
    return PARAPET_OK;
}

parapet_status pp_json_parse(pp_json **json, const char *text, size_t bytes)
{
    parapet_status status;
    *json = NULL;
    if ((status = check_bytes(bytes)) != PARAPET_OK || (status = pp_json_scan(text, bytes)) != PARAPET_OK)
        return status;
    return build_tree(json, text, without_trailing_space(text, bytes));
}

parapet_status pp_json_parse_own(pp_json **json, const char *text, size_t bytes)
{
    pp_json_span span;
    parapet_status status;
    *json = NULL;
    if ((status = check_bytes(bytes)) != PARAPET_OK ||
        (status = pp_json_scan_except(text, bytes, "consolidated_metadata", &span)) != PARAPET_OK)
        return status;
    return build_tree(json, text, without_trailing_space(text, bytes));
}

parapet_status pp_json_parse_stored(pp_json **json, char *text, size_t bytes)
{
    static const char remains[] = "{\"must_understand\":false}";
    pp_json_span span;
    parapet_status status;
    *json = NULL;
    if ((status = check_bytes(bytes)) != PARAPET_OK ||
        (status = pp_json_scan_except(text, bytes, "consolidated_metadata", &span)) != PARAPET_OK)
        return status;
    if (span.end - span.start >= sizeof remains) {
        memset(text + span.start, ' ', span.end - span.start);
        memcpy(text + span.start, remains, sizeof remains - 1);
    }
    return build_tree(json, text, without_trailing_space(text, bytes));
}

parapet_status pp_json_parse_consolidated(pp_json **json, const char *text, size_t bytes)
{
    pp_json_span span;
    parapet_status status;
    *json = NULL;
    if ((status = check_bytes(bytes)) != PARAPET_OK ||
        (status = pp_json_scan_except(text, bytes, "consolidated_metadata", &span)) != PARAPET_OK ||
        span.end == span.start)
        return status;
    return pp_json_parse(json, text + span.start, span.end - span.start);
}

void pp_json_free(pp_json *json)
{
    (void)json_object_put(json);
}

pp_json *pp_json_share(pp_json *json)
{
    return json_object_get(json);
}

pp_json_kind pp_json_kind_of(pp_json *json)
{
    switch (json_object_get_type(json)) {
    case json_type_boolean:
        return PP_JSON_BOOL;
    case json_type_int:
        return PP_JSON_INTEGER;
    case json_type_double:
        return PP_JSON_NUMBER;
    case json_type_string:
        return PP_JSON_STRING;
    case json_type_array:
        return PP_JSON_ARRAY;
    case json_type_object:
        return PP_JSON_OBJECT;
    default:
        return PP_JSON_NULL;
    }
}

pp_json *pp_json_member(pp_json *object, const char *name)
{
    struct json_object *value = NULL;
    if (pp_json_kind_of(object) != PP_JSON_OBJECT)
        return NULL;
    return json_object_object_get_ex(object, name, &value) ? value : NULL;
}

bool pp_json_has(pp_json *object, const char *name)
{
    return pp_json_kind_of(object) == PP_JSON_OBJECT && json_object_object_get_ex(object, name, NULL);
}

parapet_status pp_json_each(pp_json *object, pp_json_visitor visit, void *context)
{
    struct lh_entry *entry;
    if (pp_json_kind_of(object) != PP_JSON_OBJECT)
        return PARAPET_OK;
    for (entry = lh_table_head(json_object_get_object(object)); entry != NULL; entry = lh_entry_next(entry)) {
        parapet_status status = visit(context, lh_entry_k(entry), lh_entry_v(entry));
        if (status != PARAPET_OK)
            return status;
    }
    return PARAPET_OK;
}

size_t pp_json_length(pp_json *array)
{
    return pp_json_kind_of(array) == PP_JSON_ARRAY ? json_object_array_length(array) : 0;
}

pp_json *pp_json_element(pp_json *array, size_t index)
{
    return index < pp_json_length(array) ? json_object_array_get_idx(array, index) : NULL;
}

bool pp_json_get_bool(pp_json *json, bool *value)
{
    if (pp_json_kind_of(json) != PP_JSON_BOOL)
        return false;
    *value = json_object_get_boolean(json);
    return true;
}

/* json-c keeps an integer as int64 or, above that, as uint64; each getter saturates at its own ends. */
static bool is_beyond_i64(pp_json *json)
{
    return json_object_get_int64(json) == INT64_MAX && json_object_get_uint64(json) > (uint64_t)INT64_MAX;
}

bool pp_json_get_i64(pp_json *json, int64_t *value)
{
    if (pp_json_kind_of(json) != PP_JSON_INTEGER || is_beyond_i64(json))
        return false;
    *value = json_object_get_int64(json);
    return true;
}

bool pp_json_get_u64(pp_json *json, uint64_t *value)
{
    if (pp_json_kind_of(json) != PP_JSON_INTEGER || json_object_get_int64(json) < 0)
        return false;
    *value = json_object_get_uint64(json);
    return true;
}

bool pp_json_get_double(pp_json *json, double *value)
{
    int64_t integer;
    uint64_t large;
    if (pp_json_get_i64(json, &integer))
        *value = (double)integer;
    else if (pp_json_get_u64(json, &large))
        *value = (double)large;
    else if (pp_json_kind_of(json) == PP_JSON_NUMBER)
        *value = json_object_get_double(json);
    else
        return false;
    return true;
}

bool pp_json_get_text(pp_json *json, const char **text, size_t *bytes)
{
    if (pp_json_kind_of(json) != PP_JSON_STRING)
        return false;
    *text = json_object_get_string(json);
    *bytes = (size_t)json_object_get_string_len(json);
    return *text != NULL;
}

bool pp_json_is_text(pp_json *json, const char *text)
{
    const char *own;
    size_t bytes;
    return pp_json_get_text(json, &own, &bytes) && bytes == strlen(text) && memcmp(own, text, bytes) == 0;
}

parapet_status pp_json_object_build(pp_json **json)
{
    *json = json_object_new_object();
    return *json != NULL ? PARAPET_OK : refuse_memory();
}

parapet_status pp_json_set(pp_json *object, const char *name, pp_json *value)
{
    if (json_object_object_add(object, name, value) == 0)
        return PARAPET_OK;
    pp_json_free(value);
    return refuse_memory();
}

void pp_json_remove(pp_json *object, const char *name)
{
    if (pp_json_kind_of(object) == PP_JSON_OBJECT) /* json-c aborts on anything else */
        json_object_object_del(object, name);
}

parapet_status pp_json_duplicate(pp_json *json, pp_json **copy)
{
    *copy = NULL;
    if (json == NULL || json_object_deep_copy(json, copy, NULL) == 0)
        return PARAPET_OK;
    pp_json_free(*copy);
    *copy = NULL;
    return refuse_memory();
}

static bool arrays_equal(pp_json *a, pp_json *b)
{
    size_t i;
    if (pp_json_length(a) != pp_json_length(b))
        return false;
    for (i = 0; i < pp_json_length(a); i++)
        if (!pp_json_equals(pp_json_element(a, i), pp_json_element(b, i)))
            return false;
    return true;
}

static parapet_status is_member_equal(void *context, const char *name, pp_json *value)
{
    pp_json *other = context;
    bool is_equal = pp_json_has(other, name) && pp_json_equals(value, pp_json_member(other, name));
    return is_equal ? PARAPET_OK : PARAPET_ERR_CANCELLED;
}

static bool numbers_equal(pp_json *a, pp_json *b)
{
    double x = json_object_get_double(a), y = json_object_get_double(b);
    return (isnan(x) && isnan(y)) || (x == y && signbit(x) == signbit(y));
}

bool pp_json_equals(pp_json *a, pp_json *b)
{
    pp_json_kind kind = pp_json_kind_of(a);
    if (kind != pp_json_kind_of(b))
        return false;
    if (kind == PP_JSON_ARRAY)
        return arrays_equal(a, b);
    if (kind == PP_JSON_OBJECT)
        return json_object_object_length(a) == json_object_object_length(b) &&
               pp_json_each(a, is_member_equal, b) == PARAPET_OK;
    if (kind == PP_JSON_NUMBER)
        return numbers_equal(a, b);
    return kind == PP_JSON_NULL || json_object_equal(a, b);
}
