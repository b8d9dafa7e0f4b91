/* selection.h - which arrays and groups below the source a copy takes: what include names, without what exclude
 * names.
 *
 * A name is one of a node at any level; with a "/" in it, it is a path from the group that is copied. Both may hold
 * patterns as in a shell, in which * and ? do not stand for "/". A group stands for everything below it. */
#ifndef PARAPET_COPY_SELECTION_H
#define PARAPET_COPY_SELECTION_H

#include <parapet_status.h>
#include <stdbool.h>

typedef struct pp_names {
    char **patterns;
    bool *is_found; /* whether a node has matched it */
    size_t count;
} pp_names;

typedef struct pp_selection {
    pp_names included, excluded; /* included by none: everything */
} pp_selection;

/* From lists with commas; NULL or "": none. Clear it even after a failure. */
parapet_status pp_selection_init(pp_selection *selection, const char *include, const char *exclude);
void pp_selection_clear(pp_selection *selection);

/* How much of the node at a path, from the group that is copied, is taken. */
typedef enum pp_taken {
    PP_TAKEN_NOT,  /* neither the node nor anything below */
    PP_TAKEN_SOME, /* not the node, but perhaps something below, and the node then for its sake */
    PP_TAKEN_WHOLE /* the node, and what is below unless it is excluded */
} pp_taken;

pp_taken pp_selection_take(pp_selection *selection, const char *path);

/* Refuses a name that no node has matched: it is misspelt. */
parapet_status pp_selection_check_found(const pp_selection *selection);

#endif
