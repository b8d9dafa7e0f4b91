#include "array/remove_node.h"

#include <string.h>

#include "array/node.h"
#include "array/node_lock.h"
#include "array/node_path.h"
#include "array/store_handle.h"
#include "array/walk.h"
#include "change/registry.h"

typedef struct removal {
    parapet_store *store;
    const char *path;
    const pp_array_document *document; /* NULL: it cannot be read */
    const char *prefix;                /* keys are below it; "" for all */
} removal;

/* As the library names shards where nothing else is said: c, c/0, c/3/1. */
static bool is_ordinary_key(const char *key)
{
    size_t digits;
    if (*key++ != 'c')
        return false;
    while (*key == '/' && (digits = strspn(key + 1, "0123456789")) > 0)
        key += 1 + digits;
    return *key == '\0';
}

/* What has no such key stays, whoever made it (invariant 10 of docs/design/change.md). */
bool pp_remove_is_shard(const pp_array_document *document, const char *key)
{
    int64_t cell[PARAPET_MAX_NDIM];
    return document != NULL ? pp_key_parse(&document->keys, document->ndim, key, cell) : is_ordinary_key(key);
}

static parapet_status remove_if_shard(void *context, const char *key, uint64_t bytes)
{
    const removal *job = context;
    (void)bytes;
    return pp_remove_is_shard(job->document, key) ? pp_walk_remove(job->store, job->path, key) : PARAPET_OK;
}

static parapet_status remove_empty(parapet_store *store, const char *path, const char *name)
{
    char *prefix = NULL;
    parapet_status status = pp_path_join(path, name, &prefix);
    if (status == PARAPET_OK)
        status = pp_store_remove_empty(store->backend, prefix);
    pp_free(prefix);
    return status;
}

static parapet_status remove_shards(const removal *job)
{
    parapet_status status =
        pp_walk_shards(job->store, job->path, job->prefix, remove_if_shard, (void *)(uintptr_t)job);
    if (status == PARAPET_ERR_NOT_FOUND)
        return PARAPET_OK;
    return status == PARAPET_OK ? remove_empty(job->store, job->path, job->prefix[0] != '\0' ? job->prefix : "c")
                                : status;
}

parapet_status pp_remove_shards_below(parapet_store *store, const char *path, const pp_array_document *document,
                                      const char *prefix)
{
    return remove_shards(&(removal){.store = store, .path = path, .document = document, .prefix = prefix});
}

parapet_status pp_remove_shards(parapet_store *store, const char *path, const pp_array_document *document)
{
    return pp_remove_shards_below(store, path, document, "");
}

parapet_status pp_remove_shards_of_text(parapet_store *store, const char *path, const char *text, size_t bytes)
{
    pp_array_document document = {0};
    pp_json *json = NULL;
    parapet_status status = pp_json_parse(&json, text, bytes);
    if (status == PARAPET_OK && (status = pp_array_document_parse(&document, json)) == PARAPET_OK)
        status = pp_remove_shards(store, path, &document);
    else if (status != PARAPET_ERR_MEMORY)
        status = PARAPET_OK;
    pp_array_document_clear(&document);
    pp_json_free(json);
    return status;
}

/* The document goes last: as long as it is there, what is left of the array can be told from other things. */
static parapet_status remove_known(const removal *job)
{
    parapet_status status;
    if ((status = remove_shards(job)) != PARAPET_OK ||
        (status = pp_node_remove_own(job->store, job->path)) != PARAPET_OK ||
        (status = pp_walk_remove(job->store, job->path, "zarr.json")) != PARAPET_OK ||
        (status = remove_empty(job->store, job->path, PP_OWN_FOLDER)) != PARAPET_OK)
        return status;
    return pp_store_remove_empty(job->store->backend, job->path);
}

/* ---- Arrays that a checkpoint has made ---- */

static parapet_status note_any(void *context, const pp_listed *listed)
{
    (void)listed;
    *(bool *)context = true;
    return PARAPET_OK;
}

/* A directory of ours is there even when it is empty; a store without directories says nothing of it. */
static parapet_status has_own(const removal *job, bool *has)
{
    char *own = NULL;
    bool has_entries = false;
    parapet_status status = pp_own_folder(job->path, &own);
    if (status == PARAPET_OK)
        status = pp_store_list(job->store->backend, own, note_any, &has_entries);
    *has = status == PARAPET_OK;
    pp_free(own);
    return pp_accept_absence(status);
}

/* Whether the document is, byte for byte, as the library writes it. */
static bool is_as_printed(const removal *job, const pp_node *node)
{
    unsigned char digest[PP_SHA256_BYTES];
    pp_text text = {0};
    bool is_same = false;
    if (job->document != NULL && pp_array_document_print(job->document, &text) == PARAPET_OK) {
        pp_sha256_of(text.data, text.bytes, digest);
        is_same = memcmp(digest, node->digest, sizeof digest) == 0;
    }
    pp_text_free(&text);
    return is_same;
}

/* Nobody locks what a checkpoint makes: whatever has an incarnation was made by itself. */
static parapet_status is_of_checkpoint(const removal *job, const pp_node *node, bool *is_ours)
{
    char incarnation[PP_INCARNATION_BYTES];
    parapet_status status = pp_incarnation_read(job->store, job->path, incarnation);
    *is_ours = false;
    if (status != PARAPET_OK || incarnation[0] != '\0' || (status = has_own(job, is_ours)) != PARAPET_OK)
        return status;
    *is_ours = *is_ours || is_as_printed(job, node);
    return PARAPET_OK;
}

static parapet_status remove_array(parapet_store *store, const char *path, bool needs_proof)
{
    pp_array_document document = {0};
    pp_node node = {0};
    removal job = {.store = store, .path = path, .prefix = ""};
    parapet_status status = pp_node_load(store, path, &node), parsed = PARAPET_ERR_FORMAT;
    bool is_ours = status == PARAPET_ERR_FORMAT || status == PARAPET_ERR_CORRUPT ||
                   (status == PARAPET_OK && node.kind == PARAPET_NODE_ARRAY && node.zarr_format == 3);
    if (is_ours && status == PARAPET_OK && (parsed = pp_array_document_parse(&document, node.json)) == PARAPET_OK)
        job.document = &document;
    if (parsed == PARAPET_ERR_MEMORY)
        status = parsed;
    else if (is_ours && needs_proof && (parsed = is_of_checkpoint(&job, &node, &is_ours)) != PARAPET_OK)
        status = parsed;
    else if (is_ours)
        status = remove_known(&job);
    else if (status == PARAPET_ERR_FORMAT || status == PARAPET_ERR_CORRUPT)
        status = PARAPET_OK;
    pp_array_document_clear(&document);
    pp_node_clear(&node);
    return pp_accept_absence(status);
}

parapet_status pp_remove_array(parapet_store *store, const char *path)
{
    return remove_array(store, path, false);
}

parapet_status pp_remove_array_of_checkpoint(parapet_store *store, const char *path)
{
    return remove_array(store, path, true);
}
