/* foreign_walk.h - looks at all that a store made of a foreign file shows. */
#ifndef PARAPET_FUZZ_FOREIGN_WALK_H
#define PARAPET_FUZZ_FOREIGN_WALK_H

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "foreign/foreign.h"

#define MOST_OBJECT_BYTES ((size_t)8 << 20)
#define MOST_OBJECTS 64

typedef struct visit {
    pp_store *store;
    const char *prefix;
    int left;
    bool is_encoded; /* chunks may turn out to be damaged */
} visit;

static inline void require(bool is_true)
{
    if (!is_true)
        abort();
}

static inline void read_object(pp_store *store, const char *key, bool is_encoded)
{
    size_t bytes;
    char *data;
    parapet_status status = pp_store_read_all(store, key, MOST_OBJECT_BYTES, &data, &bytes);
    require(status == PARAPET_OK || status == PARAPET_ERR_MEMORY ||
            (is_encoded && (status == PARAPET_ERR_CORRUPT || status == PARAPET_ERR_UNSUPPORTED)));
    pp_free(data);
}

static inline parapet_status look(void *context, const pp_listed *listed)
{
    visit *above = context;
    visit below = {.store = above->store, .is_encoded = above->is_encoded};
    pp_text key = {0};
    if (above->left-- <= 0)
        return PARAPET_OK;
    pp_text_add(&key, "%s%s%s", above->prefix, above->prefix[0] != '\0' ? "/" : "", listed->name);
    require(key.status == PARAPET_OK);
    if (!listed->is_prefix)
        read_object(above->store, key.data, above->is_encoded);
    else {
        below.prefix = key.data;
        below.left = above->left;
        require(pp_store_list(below.store, below.prefix, look, &below) == PARAPET_OK);
        above->left = below.left;
    }
    pp_text_free(&key);
    return PARAPET_OK;
}

static inline void put(pp_store *files, const unsigned char *data, size_t bytes)
{
    pp_budget budget;
    pp_write_request request = {.key = "file", .staging = "tmp", .budget = &budget, .is_small = true};
    pp_budget_init(&budget, 1 << 20);
    require(pp_store_write_all(files, &request, data, bytes, PP_PUBLISH_REPLACE) == PARAPET_OK);
    pp_budget_clear(&budget);
}

#endif
