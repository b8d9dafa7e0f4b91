/* children.h - names below a path that may be nodes, gathered before any is opened. */
#ifndef PARAPET_ARRAY_CHILDREN_H
#define PARAPET_ARRAY_CHILDREN_H

#include <parapet_types.h>
#include <stddef.h>

typedef struct pp_children {
    char **names;
    size_t count, capacity;
} pp_children;

parapet_status pp_children_list(pp_children *list, parapet_store *store, const char *path);
void pp_children_clear(pp_children *list);

#endif
