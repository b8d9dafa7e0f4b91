/* attributes.h - JSON text taken apart. */
#ifndef PARAPET_TOOL_ATTRIBUTES_H
#define PARAPET_TOOL_ATTRIBUTES_H

#include <stddef.h>

typedef struct tool_attribute {
    char *name;  /* as JSON text, with its quotes */
    char *value; /* as JSON text on one line, members in the order of their names */
} tool_attribute;

/* Where the library notes a seal; shown as "sealed", not as an attribute of the user's. */
#define TOOL_SEAL_ATTRIBUTE "\"_parapet\""

typedef struct tool_attribute_list {
    tool_attribute *entries;
    size_t count;
} tool_attribute_list;

/* The members of a JSON object in the order of their names, without the library's own. */
void attributes_init(tool_attribute_list *list, const char *json);
void attributes_free(tool_attribute_list *list);

#endif
