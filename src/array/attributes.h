/* attributes.h - attributes of a node: parsing, changing and reading them. */
#ifndef PARAPET_ARRAY_ATTRIBUTES_H
#define PARAPET_ARRAY_ATTRIBUTES_H

#include "comm/comm.h"
#include "zarr/json.h"

/* The attribute that is reserved for Parapet. */
#define PP_RESERVED_ATTRIBUTE "_parapet"

/* Parses the attributes of a new node from the text of a JSON object; NULL is {}. Free them even after a failure. */
parapet_status pp_attributes_parse(const char *text, pp_json **attributes);

/* The new value of an attribute; json NULL removes it. */
typedef struct pp_attribute {
    const char *name, *json;
} pp_attribute;

void pp_attribute_add(const pp_attribute *attribute, pp_call *call);

/* A copy of attributes with one changed. Reserved names are refused. */
parapet_status pp_attributes_changed(pp_json *attributes, const pp_attribute *attribute, pp_json **changed);
parapet_status pp_attributes_get(pp_json *attributes, const char *name, char **json);

#endif
