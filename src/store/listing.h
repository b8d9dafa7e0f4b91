/* listing.h - the children of a prefix, for implementations of pp_store_list. */
#ifndef PARAPET_STORE_LISTING_H
#define PARAPET_STORE_LISTING_H

#include "store/store.h"

/* The children of a prefix: gathered first and reported afterwards, so that a visitor may use the store. */
typedef struct pp_listing {
    pp_listed *children; /* names are our own copies */
    size_t count;
    size_t capacity;
} pp_listing;

parapet_status pp_listing_add(pp_listing *listing, const char *name, bool is_prefix, uint64_t bytes);

/* Reports each child once, sorted by name. */
parapet_status pp_listing_tell(pp_listing *listing, pp_list_visitor visit, void *context);
void pp_listing_free(pp_listing *listing);

#endif
