#include "tool.h"

#include <stdlib.h>
#include <string.h>

static void print_options(parapet_store *store)
{
    char *text = NULL;
    if (parapet_store_options_print(store, &text) == PARAPET_OK)
        (void)fprintf(stderr, "%s", text);
    parapet_free(text);
}

/* The library tells it with its options, behind the value and its source. */
char *text_of_locks(parapet_store *store)
{
    char *text = NULL, *found = NULL, *locks;
    if (parapet_store_options_print(store, &text) == PARAPET_OK && (found = strstr(text, "\nlocks = ")) != NULL)
        found = strstr(found, ": ");
    locks = found != NULL ? text_format("%.*s", (int)strcspn(found + 2, "\n"), found + 2) : text_format("unknown");
    parapet_free(text);
    return locks;
}

static parapet_store *open_directory(const tool_request *request, const char *url, parapet_mode mode)
{
    parapet_store *store = NULL;
    parapet_status status = ranks_open_store(request, &store, url, mode, &request->options);
    if (status != PARAPET_OK) {
        if (!foreign_report_file(url))
            report_status(status, url);
        return NULL;
    }
    if (request->flags & TOOL_VERBOSE && request->rank == 0)
        print_options(store);
    return store;
}

/* Where all ranks work, each would have to find the same: there, what follows says that nothing is there. */
parapet_store *store_open(const tool_request *request, const char *url, parapet_mode mode)
{
    parapet_store *store = open_directory(request, url, mode);
    if (store != NULL && request->working != RANKS_ALL && foreign_refuse_directory(url))
        (void)parapet_store_close(&store);
    return store;
}

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
