#include <string.h>

#include "array/internal.h"

static parapet_status check_name(const char *name)
{
    if (name == NULL || name[0] == '\0')
        return pp_fail(PARAPET_ERR_ARGUMENT, "the attribute needs a name");
    if (strcmp(name, PP_RESERVED_ATTRIBUTE) == 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the attribute \"%s\" belongs to Parapet", name);
    return PARAPET_OK;
}

parapet_status pp_attributes_changed(pp_json *attributes, const char *name, const char *json, pp_json **changed)
{
    pp_json *value = NULL;
    parapet_status status;
    *changed = NULL;
    if ((status = check_name(name)) != PARAPET_OK)
        return status;
    if (json != NULL && (status = pp_json_parse(&value, json, strlen(json))) != PARAPET_OK)
        return pp_fail_within(status, "the value of attribute \"%s\" is not JSON", name);
    if ((status = pp_json_copy(attributes, changed)) != PARAPET_OK) {
        pp_json_free(value);
        return status;
    }
    if (json == NULL)
        pp_json_remove(*changed, name);
    else
        status = pp_json_set(*changed, name, value);
    if (status != PARAPET_OK) {
        pp_json_free(*changed);
        *changed = NULL;
    }
    return status;
}

parapet_status pp_attributes_get(pp_json *attributes, const char *name, char **json)
{
    pp_text text = {0};
    if (json == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the attribute needs a place for its text");
    *json = NULL;
    if (name != NULL && !pp_json_has(attributes, name))
        return pp_fail(PARAPET_ERR_NOT_FOUND, "there is no attribute \"%s\"", name);
    pp_json_print(name != NULL ? pp_json_member(attributes, name) : attributes, false, &text);
    return pp_text_finish(&text, json);
}
