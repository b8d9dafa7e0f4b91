/* ancestor_list.h - the groups above several nodes that one call makes. */
#ifndef PARAPET_ARRAY_ANCESTOR_LIST_H
#define PARAPET_ARRAY_ANCESTOR_LIST_H

#include <parapet_status.h>
#include <stdbool.h>

/* The groups are in the order of the nodes that need them, outer ones before inner ones. */
typedef struct pp_ancestor_list {
    char **paths; /* each once, the root first */
    int *nodes;   /* of each: the number of the first node below it */
    int count;
    bool has_conflict; /* two of the nodes are at one path, or one is inside another */
} pp_ancestor_list;

/* Of nodes at these normalised paths. Clear it even after a failure. */
parapet_status pp_ancestor_list_init(pp_ancestor_list *groups, const char *const *paths, int count);
void pp_ancestor_list_clear(pp_ancestor_list *groups);

#endif
