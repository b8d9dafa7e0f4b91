/* node.h - a group or an array, opened for looking at it. */
#ifndef PARAPET_TOOL_NODE_H
#define PARAPET_TOOL_NODE_H

#include <parapet_arrays.h>
#include <stdbool.h>

typedef struct tool_node {
    parapet_group *group; /* one of the two is not NULL */
    parapet_array *array;
    parapet_array_info info; /* of an array */
    char *text;              /* of the texts that were read last */
} tool_node;

/* "group", "array" or "invalid". */
const char *node_kind_name(parapet_node_kind kind);

/* Opens what is at path, whichever it is. On failure the error message of the library says why. */
parapet_status node_open(tool_node *node, parapet_store *store, const char *path);
void node_close(tool_node *node);

/* All attributes as JSON text; free with parapet_free. */
parapet_status node_attributes(tool_node *node, char **json);

/* Whether it is an array whose values can be read; if not, that is reported. */
bool node_is_readable(const tool_node *node, const char *label);

/* shape times element size; INT64_MAX where that does not fit. */
int64_t logical_bytes(const parapet_array_info *info);
int64_t element_count(const parapet_array_info *info);

#endif
