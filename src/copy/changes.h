/* changes.h - the texts of parapet_copy_changes, applied to one array. */
#ifndef PARAPET_COPY_CHANGES_H
#define PARAPET_COPY_CHANGES_H

#include "copy/view.h"

typedef enum pp_extents_kind {
    PP_EXTENTS_SAME,      /* nothing is requested, or nothing that concerns this array */
    PP_EXTENTS_CHOSEN,    /* "auto" */
    PP_EXTENTS_UNSHARDED, /* "none" alone, for shards */
    PP_EXTENTS_LISTED
} pp_extents_kind;

#define PP_EXTENT_SAME (-1)
#define PP_EXTENT_WHOLE 0

typedef struct pp_extents {
    pp_extents_kind kind;
    int64_t extent[PARAPET_MAX_NDIM]; /* LISTED: elements by target dimension, or one of the two above */
} pp_extents;

typedef struct pp_copy_wishes {
    pp_copy_view view; /* order and region */
    pp_extents chunks, shards;
    bool is_touched; /* some text concerns this array, which in a hierarchy need not be so */
} pp_copy_wishes;

/* In a hierarchy, lists that do not fit an array leave it as it is; for a single array they are errors. */
parapet_status pp_copy_changes_parse(pp_copy_wishes *wishes, const parapet_copy_changes *changes,
                                     const pp_array_document *source, bool is_in_tree);

/* What of the changes is meant for the array at a path. In a hierarchy, a coordinate (an array of one dimension that
 * has its name) keeps its chunks and shards: people read it whole, and mean the arrays over it. */
parapet_copy_changes pp_copy_changes_for(const parapet_copy_changes *changes, const pp_array_document *source,
                                         const char *path, bool is_in_tree);

#endif
