/* hierarchy.h - the tree below a group. */
#ifndef PARAPET_TOOL_HIERARCHY_H
#define PARAPET_TOOL_HIERARCHY_H

#include <parapet_types.h>
#include <stdbool.h>

typedef struct tool_tree_entry {
    char *path; /* relative to the store */
    parapet_node_kind kind;
} tool_tree_entry;

typedef struct tool_tree {
    tool_tree_entry *entries; /* parents before children, siblings in the order of their names */
    size_t count;
    int64_t failures; /* groups that could not be listed and invalid nodes, already reported */
} tool_tree;

/* Lists the store: its root, then everything below it, or only the direct children. */
void tree_init(tool_tree *tree, parapet_store *store, const char *url, bool is_recursive);
void tree_free(tool_tree *tree);

/* Orders paths as the tree does. */
int tree_compare_paths(const char *a, const char *b);

/* How a path of a store is shown: "run.zarr", "run.zarr/density". */
char *tree_label(const char *url, const char *path);

#endif
