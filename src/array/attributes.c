#include <string.h>

#include "array/attributes.h"
#include "base/status.h"

static parapet_status check_name(const char *name)
{
    if (name == NULL || name[0] == '\0')
        return pp_fail(PARAPET_ERR_ARGUMENT, "the attribute needs a name");
    if (strcmp(name, PP_RESERVED_ATTRIBUTE) == 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the attribute \"%s\" is reserved for Parapet; choose another name",
                       name);
    return PARAPET_OK;
}

/* What is not JSON is then the fault of the call, not of what is stored. */
static parapet_status parse_given(const char *text, pp_json **json)
{
    parapet_status status = pp_json_parse(json, text, strlen(text));
    return status == PARAPET_ERR_FORMAT ? PARAPET_ERR_ARGUMENT : status;
}

parapet_status pp_attributes_parse(const char *text, pp_json **attributes)
{
    parapet_status status;
    if (text == NULL)
        return pp_json_object_build(attributes);
    if ((status = parse_given(text, attributes)) != PARAPET_OK)
        return pp_fail_within(status, "attributes");
    if (pp_json_kind_of(*attributes) != PP_JSON_OBJECT)
        return pp_fail(PARAPET_ERR_ARGUMENT, "attributes must be a JSON object");
    if (pp_json_has(*attributes, PP_RESERVED_ATTRIBUTE))
        return pp_fail(PARAPET_ERR_ARGUMENT, "the attribute \"%s\" is reserved for Parapet; choose another name",
                       PP_RESERVED_ATTRIBUTE);
    return PARAPET_OK;
}

void pp_attribute_add(const pp_attribute *attribute, pp_call *call)
{
    pp_call_add_text(call, "name", attribute->name);
    pp_call_add_text(call, "json", attribute->json);
}

parapet_status pp_attributes_changed(pp_json *attributes, const pp_attribute *attribute, pp_json **changed)
{
    const char *name = attribute->name, *json = attribute->json;
    pp_json *value = NULL;
    parapet_status status;
    *changed = NULL;
    if ((status = check_name(name)) != PARAPET_OK)
        return status;
    if (json != NULL && (status = parse_given(json, &value)) != PARAPET_OK)
        return pp_fail_within(status, "the value of attribute \"%s\" is not JSON", name);
    if ((status = pp_json_duplicate(attributes, changed)) == PARAPET_OK && json != NULL)
        status = pp_json_set(*changed, name, pp_json_share(value));
    else
        pp_json_remove(*changed, name);
    pp_json_free(value);
    if (status != PARAPET_OK) {
        pp_json_free(*changed);
        *changed = NULL;
    }
    return status;
}

/* Everything but what belongs to Parapet. */
static void print_all(pp_json *attributes, pp_text *text)
{
    pp_json *visible = NULL;
    text->status = pp_json_duplicate(attributes, &visible);
    pp_json_remove(visible, PP_RESERVED_ATTRIBUTE);
    pp_json_print(visible, false, text);
    pp_json_free(visible);
}

parapet_status pp_attributes_get(pp_json *attributes, const char *name, char **json)
{
    pp_text text = {0};
    if (json == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "reading an attribute needs a pointer for its text");
    *json = NULL;
    if (name != NULL && !pp_json_has(attributes, name))
        return pp_fail(PARAPET_ERR_NOT_FOUND, "there is no attribute \"%s\"", name);
    if (name != NULL)
        pp_json_print(pp_json_member(attributes, name), false, &text);
    else
        print_all(attributes, &text);
    return pp_text_finish(&text, json);
}
