/* remove_tree.h - what a removal of nodes is about: every node at a path and below it, found and proved to be ours
 * before anything goes.
 *
 * Ours is a document of Zarr v3, an object whose key follows the grammar of its array, a temporary object, and what
 * lies below __parapet. Anything else is foreign: then nothing is removed. */
#ifndef PARAPET_ARRAY_REMOVE_TREE_H
#define PARAPET_ARRAY_REMOVE_TREE_H

#include "array/node.h"
#include "array/node_lock.h"
#include "base/word_list.h"

typedef enum pp_remove_tree_kind {
    PP_REMOVE_TREE_ARRAY,
    PP_REMOVE_TREE_REMAINS, /* of an array whose creation, copy or removal did not come to its end, or only of its
                               lock */
    PP_REMOVE_TREE_GROUP,
    PP_REMOVE_TREE_DIRECTORY, /* a group that has no document */
    PP_REMOVE_TREE_KINDS
} pp_remove_tree_kind;

bool pp_remove_tree_is_group(pp_remove_tree_kind kind);

typedef struct pp_remove_tree {
    parapet_store *store;
    char *path;         /* where it begins */
    bool is_recursive;  /* a group goes, with everything below it */
    bool is_dry;        /* nothing goes, and no lock is taken */
    pp_word_list nodes; /* with their kinds; what is below a node comes before it, the node at path is the last */
} pp_remove_tree;

/* Takes a copy of path, which is normalised; the list takes its memory from the store's budget. */
parapet_status pp_remove_tree_init(pp_remove_tree *removal, parapet_store *store, const char *path);
void pp_remove_tree_clear(pp_remove_tree *removal);

/* Rank 0: finds all nodes. PARAPET_ERR_NOT_FOUND: there is nothing; PARAPET_ERR_EXISTS: something is foreign, and the
 * sentence names it; PARAPET_ERR_ARGUMENT: it is a group, and the removal is not recursive, or it is a part of
 * something that can only be removed as a whole. In a group that an interrupted append has left, what is there
 * belongs to it, and only the group can go: PARAPET_ERR_EXISTS, or PARAPET_ERR_BUSY. A dry one also looks at the
 * locks. */
parapet_status pp_remove_tree_find(pp_remove_tree *removal);

/* The list of nodes. */
parapet_status pp_remove_tree_add(pp_remove_tree *removal, const char *path, pp_remove_tree_kind kind);
size_t pp_remove_tree_count(const pp_remove_tree *removal);
const char *pp_remove_tree_path(const pp_remove_tree *removal, size_t index); /* stays there until one is added */
pp_remove_tree_kind pp_remove_tree_kind_of(const pp_remove_tree *removal, size_t index);

/* Rank 0: what is at a path now. The node and the document, which stays empty if it cannot be read, are to be cleared
 * even after a failure. */
typedef struct pp_remove_tree_view {
    pp_remove_tree_kind kind;
    pp_node node;
    pp_array_document document;
    bool has_document; /* of an array */
} pp_remove_tree_view;

parapet_status pp_remove_tree_look(parapet_store *store, const char *path, pp_remove_tree_view *view);
void pp_remove_tree_view_clear(pp_remove_tree_view *view);

/* Whether nothing is left of a node, but for what its lock takes. */
parapet_status pp_remove_tree_is_gone(parapet_store *store, const char *path, bool *is_gone);

/* Rank 0: holds a node alone. */
parapet_status pp_remove_tree_lock(parapet_store *store, const char *path, pp_node_lock *hold);

/* Rank 0, which holds it: removes the array, or the remains of one, that was looked at. */
parapet_status pp_remove_tree_remove_array(parapet_store *store, const char *path, const pp_remove_tree_view *view);

#endif
