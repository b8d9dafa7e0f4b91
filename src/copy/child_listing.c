#include "copy/child_listing.h"

#include <parapet_arrays.h>

#include "base/memory.h"

static int add_child(void *context, const char *name, parapet_node_kind kind)
{
    pp_listing *listing = context;
    size_t next = listing->count + 1;
    if ((listing->status = pp_reallocate(&listing->names, next * sizeof listing->names[0])) != PARAPET_OK ||
        (listing->status = pp_reallocate(&listing->kinds, next * sizeof listing->kinds[0])) != PARAPET_OK ||
        (listing->status = pp_text_duplicate(&listing->names[listing->count], name)) != PARAPET_OK)
        return 1;
    listing->kinds[listing->count++] = kind;
    return 0;
}

parapet_status pp_listing_init(pp_listing *listing, parapet_group *group, pp_comm *comm)
{
    parapet_status status;
    *listing = (pp_listing){0};
    status = parapet_group_list(group, add_child, listing);
    return pp_comm_agree(comm, "listing a group", status == PARAPET_OK ? listing->status : status);
}

void pp_listing_clear(pp_listing *listing)
{
    size_t i;
    for (i = 0; i < listing->count; i++)
        pp_free(listing->names[i]);
    pp_free(listing->names);
    pp_free(listing->kinds);
    *listing = (pp_listing){0};
}
