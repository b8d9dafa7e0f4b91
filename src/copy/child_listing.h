/* child_listing.h - the children of a group, gathered on every rank before any is opened. */
#ifndef PARAPET_COPY_CHILD_LISTING_H
#define PARAPET_COPY_CHILD_LISTING_H

#include <parapet_types.h>

#include "comm/comm.h"

typedef struct pp_listing {
    char **names;
    parapet_node_kind *kinds;
    size_t count;
    parapet_status status; /* while it grows */
} pp_listing;

/* [collective] comm: of those who list. Clear it even after a failure. */
parapet_status pp_listing_init(pp_listing *listing, parapet_group *group, pp_comm *comm);
void pp_listing_clear(pp_listing *listing);

#endif
