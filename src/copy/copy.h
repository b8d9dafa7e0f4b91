/* copy.h - what a copy begins with: whether its source is an array or a group. */
#ifndef PARAPET_COPY_COPY_H
#define PARAPET_COPY_COPY_H

#include <parapet_types.h>

#include "comm/comm.h"

/* [collective] What lies at a path of the source; comm: of those who ask. */
parapet_status pp_copy_find_kind(parapet_store *store, const char *source_path, pp_comm *comm,
                                 parapet_node_kind *kind);

#endif
