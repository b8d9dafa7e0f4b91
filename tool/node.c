#include "node.h"
#include "report.h"

parapet_status node_open(tool_node *node, parapet_store *store, const char *path)
{
    parapet_status as_array, as_group;
    *node = (tool_node){0};
    as_array = parapet_array_open(&node->array, store, path);
    if (as_array == PARAPET_OK)
        return parapet_array_get_info(node->array, &node->info);
    as_group = parapet_group_open(&node->group, store, path);
    if (as_group == PARAPET_OK || as_array == PARAPET_ERR_NOT_FOUND)
        return as_group;
    /* Neither: what it is as an array says more, and the sentence in force is the one about the group. */
    return parapet_array_open(&node->array, store, path);
}

bool node_is_readable(const tool_node *node, const char *label)
{
    if (node->array == NULL)
        report_error(label, "it is a group; name one array in it");
    else if (node->info.element_bytes == 0)
        report_error(label, "elements of type %s have no fixed length and cannot be used here", node->info.type_name);
    else
        return true;
    return false;
}

const char *node_kind_name(parapet_node_kind kind)
{
    return kind == PARAPET_NODE_GROUP ? "group" : kind == PARAPET_NODE_ARRAY ? "array" : "invalid";
}

void node_close(tool_node *node)
{
    /* Nothing was changed through them: closing has nothing to report. */
    (void)parapet_array_close(&node->array);
    (void)parapet_group_close(&node->group);
    parapet_free(node->text);
    node->text = NULL;
}

parapet_status node_attributes(tool_node *node, char **json)
{
    if (node->array != NULL)
        return parapet_array_attribute_get(node->array, NULL, json);
    return parapet_group_attribute_get(node->group, NULL, json);
}

int64_t element_count(const parapet_array_info *info)
{
    int64_t count = 1;
    bool is_too_many = false;
    for (int d = 0; d < info->ndim; d++) {
        if (info->shape[d] == 0)
            return 0;
        if (__builtin_mul_overflow(count, info->shape[d], &count)) {
            is_too_many = true;
            count = INT64_MAX;
        }
    }
    return is_too_many ? INT64_MAX : count;
}

int64_t logical_bytes(const parapet_array_info *info)
{
    int64_t bytes;
    if (__builtin_mul_overflow(element_count(info), info->element_bytes, &bytes))
        return INT64_MAX;
    return bytes;
}
