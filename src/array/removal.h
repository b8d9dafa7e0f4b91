/* removal.h - what a removal of nodes is about: every node at a path and below it, found and proved to be ours before
 * anything goes.
 *
 * Ours is a document of Zarr v3, an object whose key follows the grammar of its array, a temporary object, and what
 * lies below __parapet. Anything else is foreign: then nothing is removed. */
#ifndef PARAPET_ARRAY_REMOVAL_H
#define PARAPET_ARRAY_REMOVAL_H

#include "array/hold.h"
#include "array/node.h"
#include "base/word_list.h"

typedef enum pp_removal_kind {
    PP_REMOVAL_ARRAY,
    PP_REMOVAL_REMAINS, /* of an array whose creation, copy or removal did not come to its end, or only of its lock */
    PP_REMOVAL_GROUP,
    PP_REMOVAL_DIRECTORY, /* a group that has no document */
    PP_REMOVAL_KINDS
} pp_removal_kind;

bool pp_removal_is_group(pp_removal_kind kind);

typedef struct pp_removal {
    parapet_store *store;
    char *path;         /* where it begins */
    bool is_recursive;  /* a group goes, with everything below it */
    bool is_dry;        /* nothing goes, and no lock is taken */
    pp_word_list nodes; /* with their kinds; what is below a node comes before it, the node at path is the last */
} pp_removal;

/* Takes a copy of path, which is normalised; the list takes its memory from the store's budget. */
parapet_status pp_removal_init(pp_removal *removal, parapet_store *store, const char *path);
void pp_removal_clear(pp_removal *removal);

/* Rank 0: finds all nodes. PARAPET_ERR_NOT_FOUND: there is nothing; PARAPET_ERR_EXISTS: something is foreign, and the
 * sentence names it; PARAPET_ERR_ARGUMENT: it is a group, and the removal is not recursive, or it is a part of
 * something that can only be removed as a whole. In a group that an interrupted append has left, what is there
 * belongs to it, and only the group can go: PARAPET_ERR_EXISTS, or PARAPET_ERR_BUSY. A dry one also looks at the
 * locks. */
parapet_status pp_removal_find(pp_removal *removal);

/* The list of nodes. */
parapet_status pp_removal_add(pp_removal *removal, const char *path, pp_removal_kind kind);
size_t pp_removal_count(const pp_removal *removal);
const char *pp_removal_path(const pp_removal *removal, size_t index); /* stays there until one is added */
pp_removal_kind pp_removal_kind_of(const pp_removal *removal, size_t index);

/* Rank 0: what is at a path now. The node and the document, which stays empty if it cannot be read, are to be cleared
 * even after a failure. */
typedef struct pp_removal_view {
    pp_removal_kind kind;
    pp_node node;
    pp_array_document document;
    bool has_document; /* of an array */
} pp_removal_view;

parapet_status pp_removal_look(parapet_store *store, const char *path, pp_removal_view *view);
void pp_removal_view_clear(pp_removal_view *view);

/* Whether nothing is left of a node, but for what its lock takes. */
parapet_status pp_removal_is_gone(parapet_store *store, const char *path, bool *is_gone);

/* Rank 0: holds a node alone. */
parapet_status pp_removal_hold(parapet_store *store, const char *path, pp_hold *hold);

/* Rank 0, which holds it: removes the array, or the remains of one, that was looked at. */
parapet_status pp_removal_remove_array(parapet_store *store, const char *path, const pp_removal_view *view);

#endif
