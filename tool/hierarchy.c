#include "hierarchy.h"
#include "display.h"
#include "memory.h"
#include "node.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

static void add_entry(tool_tree *tree, char *path, parapet_node_kind kind)
{
    tree->entries = memory_grow(tree->entries, tree->count, sizeof *tree->entries);
    tree->entries[tree->count++] = (tool_tree_entry){.path = path, .kind = kind};
}

/* The direct children of one group, while they are being listed. */
typedef struct tool_listing {
    tool_tree *children;
    const char *parent;
} tool_listing;

static int add_child(void *context, const char *name, parapet_node_kind kind)
{
    const tool_listing *listing = context;
    add_entry(listing->children, text_join_path(listing->parent, name), kind);
    return 0;
}

static parapet_status list_children(tool_tree *children, parapet_store *store, const char *path)
{
    parapet_group *group = NULL;
    tool_listing listing = {.children = children, .parent = path};
    parapet_status status = parapet_group_open(&group, store, path);
    if (status == PARAPET_OK)
        status = parapet_group_list(group, add_child, &listing);
    (void)parapet_group_close(&group);
    return status;
}

typedef struct tool_walk {
    tool_tree *tree;
    parapet_store *store;
    const char *url;
    bool is_recursive;
} tool_walk;

static void report_node(const tool_walk *walk, const char *path)
{
    char *label = tree_label(walk->url, path);
    report_failure(label);
    free(label);
    walk->tree->failures++;
}

/* What is wrong with a node that is no group and no array. */
static void report_invalid(const tool_walk *walk, const char *path)
{
    tool_node node;
    if (node_open(&node, walk->store, path) != PARAPET_OK)
        report_node(walk, path);
    node_close(&node);
}

static void add_below(const tool_walk *walk, const char *path)
{
    tool_tree children = {0};
    if (list_children(&children, walk->store, path) != PARAPET_OK)
        report_node(walk, path);
    for (size_t i = 0; i < children.count; i++) {
        const tool_tree_entry *child = &children.entries[i];
        add_entry(walk->tree, text_format("%s", child->path), child->kind);
        if (child->kind == PARAPET_NODE_GROUP && walk->is_recursive)
            add_below(walk, child->path);
        if (child->kind == PARAPET_NODE_INVALID)
            report_invalid(walk, child->path);
    }
    tree_free(&children);
}

void tree_init(tool_tree *tree, parapet_store *store, const char *url, bool is_recursive)
{
    tool_walk walk = {.tree = tree, .store = store, .url = url, .is_recursive = is_recursive};
    *tree = (tool_tree){0};
    add_entry(tree, text_format("%s", ""), PARAPET_NODE_GROUP);
    add_below(&walk, "");
}

void tree_free(tool_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++)
        free(tree->entries[i].path);
    free(tree->entries);
    *tree = (tool_tree){0};
}

int tree_compare_paths(const char *a, const char *b)
{
    for (; *a != '\0' && *a == *b; a++)
        b++;
    /* The slash comes before every other character: a parent's children follow it directly. */
    if (*a == '\0' || *b == '\0' || *a == *b)
        return (*a != '\0') - (*b != '\0');
    if (*a == '/' || *b == '/')
        return *a == '/' ? -1 : 1;
    return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

char *tree_label(const char *url, const char *path)
{
    size_t length = strlen(url);
    if (path[0] == '\0')
        return text_format("%s", url);
    while (length > 1 && url[length - 1] == '/')
        length--;
    return text_format("%.*s/%s", (int)length, url, path);
}
