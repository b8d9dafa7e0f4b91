/* consolidated.h - consolidated metadata of a source. */
#ifndef PARAPET_COPY_CONSOLIDATED_H
#define PARAPET_COPY_CONSOLIDATED_H

#include <parapet_types.h>
#include <stdbool.h>

/* Rank 0: whether a group, open on all ranks, has consolidated metadata. */
parapet_status pp_copy_consolidated_is_there(parapet_store *store, const parapet_group *group, const char *path,
                                             bool *is_there);

#endif
