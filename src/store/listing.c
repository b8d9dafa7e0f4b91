#include "store/listing.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/status.h"

static parapet_status make_room(pp_listing *listing)
{
    size_t capacity = listing->capacity > 0 ? listing->capacity * 2 : 16;
    size_t bytes;
    parapet_status status;
    if (listing->count < listing->capacity)
        return PARAPET_OK;
    if (!pp_multiply_size_fits(capacity, sizeof listing->children[0], &bytes))
        return pp_fail(PARAPET_ERR_MEMORY, "a listing of %zu names needs more memory than any machine has", capacity);
    if ((status = pp_reallocate(&listing->children, bytes)) == PARAPET_OK)
        listing->capacity = capacity;
    return status;
}

parapet_status pp_listing_add(pp_listing *listing, const char *name, bool is_prefix, uint64_t bytes)
{
    char *copy;
    parapet_status status = make_room(listing);
    if (status != PARAPET_OK || (status = pp_text_duplicate(&copy, name)) != PARAPET_OK)
        return status;
    listing->children[listing->count++] = (pp_listed){.name = copy, .is_prefix = is_prefix, .bytes = bytes};
    return PARAPET_OK;
}

static int compare(const void *left, const void *right)
{
    const pp_listed *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : (int)a->is_prefix - (int)b->is_prefix;
}

parapet_status pp_listing_tell(pp_listing *listing, pp_list_visitor visit, void *context)
{
    parapet_status status = PARAPET_OK;
    size_t i;
    if (listing->count > 1)
        qsort(listing->children, listing->count, sizeof listing->children[0], compare);
    for (i = 0; i < listing->count && status == PARAPET_OK; i++) {
        if (i > 0 && compare(&listing->children[i - 1], &listing->children[i]) == 0)
            continue;
        status = visit(context, &listing->children[i]);
    }
    return status;
}

void pp_listing_free(pp_listing *listing)
{
    size_t i;
    for (i = 0; i < listing->count; i++) {
        char *name;
        memcpy(&name, &listing->children[i].name, sizeof name); /* ours, though shown as const */
        pp_free(name);
    }
    pp_free(listing->children);
    *listing = (pp_listing){0};
}
