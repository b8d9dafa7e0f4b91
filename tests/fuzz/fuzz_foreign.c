/* fuzz_foreign.c - files of other formats from untrusted sources. With the first byte 'r' what follows up to a colon
 * are the words of a raw file. Opening must neither crash nor leak, and all that a file shows can be listed and read:
 * a header that was accepted leads nowhere outside the file. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "foreign/foreign.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

#define MOST_OBJECT_BYTES ((size_t)8 << 20)
#define MOST_OBJECTS 64

typedef struct visit {
    pp_store *store;
    const char *prefix;
    int left;
} visit;

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static void read_object(pp_store *store, const char *key)
{
    size_t bytes;
    char *data;
    parapet_status status = pp_store_read_all(store, key, MOST_OBJECT_BYTES, &data, &bytes);
    require(status == PARAPET_OK || status == PARAPET_ERR_MEMORY);
    pp_free(data);
}

static parapet_status look(void *context, const pp_listed *listed)
{
    visit *above = context;
    visit below = {.store = above->store};
    pp_text key = {0};
    if (above->left-- <= 0)
        return PARAPET_OK;
    pp_text_add(&key, "%s%s%s", above->prefix, above->prefix[0] != '\0' ? "/" : "", listed->name);
    require(key.status == PARAPET_OK);
    if (!listed->is_prefix)
        read_object(above->store, key.data);
    else {
        below.prefix = key.data;
        below.left = above->left;
        require(pp_store_list(below.store, below.prefix, look, &below) == PARAPET_OK);
        above->left = below.left;
    }
    pp_text_free(&key);
    return PARAPET_OK;
}

static void put(pp_store *files, const unsigned char *data, size_t bytes)
{
    pp_budget budget;
    pp_write_request request = {.key = "file", .staging = "tmp", .budget = &budget, .is_small = true};
    pp_budget_init(&budget, 1 << 20);
    require(pp_store_write_all(files, &request, data, bytes, PP_PUBLISH_REPLACE) == PARAPET_OK);
    pp_budget_clear(&budget);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    long live = pp_memory_live_count();
    pp_foreign_source source = {.key = "file"};
    pp_store *store = NULL;
    visit root = {.prefix = "", .left = MOST_OBJECTS};
    char *text = NULL;
    require(pp_allocate(&text, bytes + 1) == PARAPET_OK);
    memcpy(text, data, bytes);
    if (bytes > 0 && data[0] == 'r')
        source.raw = text + 1;
    require(pp_store_memory_build(&source.files, NULL) == PARAPET_OK);
    put(source.files, data, bytes);
    if (pp_foreign_build_over(&store, &source) == PARAPET_OK) {
        root.store = store;
        require(pp_store_list(store, "", look, &root) == PARAPET_OK);
    } else
        require(pp_failure_message()[0] != '\0');
    pp_store_free(store);
    pp_store_free(source.files);
    pp_free(text);
    require(pp_memory_live_count() == live);
    return 0;
}
