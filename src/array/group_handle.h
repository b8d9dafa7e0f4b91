/* group_handle.h - the struct of a parapet_group. Private to array/: other folders use group.h. */
#ifndef PARAPET_ARRAY_GROUP_HANDLE_H
#define PARAPET_ARRAY_GROUP_HANDLE_H

#include "array/store_handle.h"

struct parapet_group {
    parapet_store *store;
    char *path;
    pp_group_document document;
    pp_json *zgroup, *zattrs; /* of a Zarr v2 group, as stored; else NULL */
    bool is_broken;           /* ranks may know different things: it can only be closed */
};

#endif
