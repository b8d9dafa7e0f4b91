#include <string.h>

#include "array/lock_text.h"
#include "array/node.h"
#include "array/node_path.h"
#include "array/store_handle.h"

/* Reads and parses one document; of zarr.json, node takes digest and version. */
static parapet_status load_json(parapet_store *store, const char *path, const char *name, pp_json **json,
                                pp_node *node)
{
    bool is_current = strcmp(name, "zarr.json") == 0;
    char *key = NULL, *text = NULL;
    size_t bytes = 0;
    uint64_t version;
    parapet_status status;
    if ((status = pp_path_join(path, name, &key)) != PARAPET_OK ||
        (status = pp_store_read_version(store->backend, key, PP_JSON_MAX_BYTES, &text, &bytes, &version)) !=
            PARAPET_OK)
        goto done;
    store->counters.read_bytes += (int64_t)bytes;
    store->counters.read_requests += 1;
    if (is_current) {
        pp_sha256_of(text, bytes, node->digest);
        node->version = version;
    }
    status = is_current ? pp_json_parse_stored(json, text, bytes) : pp_json_parse(json, text, bytes);
    if (status != PARAPET_OK)
        status = pp_fail_within(status, "%s", key);
done:
    pp_free(text);
    pp_free(key);
    return status;
}

static parapet_status load_v2_attributes(parapet_store *store, const char *path, pp_node *node)
{
    parapet_status status = load_json(store, path, ".zattrs", &node->zattrs, node);
    return pp_accept_absence(status);
}

static parapet_status load_v2(parapet_store *store, const char *path, pp_node *node)
{
    parapet_status status;
    node->zarr_format = 2;
    node->kind = PARAPET_NODE_ARRAY;
    status = load_json(store, path, ".zarray", &node->json, node);
    if (status == PARAPET_ERR_NOT_FOUND) {
        node->kind = PARAPET_NODE_GROUP;
        status = load_json(store, path, ".zgroup", &node->json, node);
    }
    return status == PARAPET_OK ? load_v2_attributes(store, path, node) : status;
}

static parapet_status note_entry(void *context, const pp_listed *listed)
{
    *(bool *)context = *(bool *)context || !pp_own_is_folder(listed->name);
    return PARAPET_OK;
}

static pp_own_end end_of(const char *name)
{
    pp_own own = pp_own_find(name);
    return own == PP_OWN_COUNT ? PP_OWN_END_ANY : pp_own_row_of(own)->end;
}

static parapet_status note_work(void *context, const pp_listed *listed)
{
    *(bool *)context = *(bool *)context || end_of(listed->name) != PP_OWN_END_LAST;
    return PARAPET_OK;
}

/* Whether somebody has begun to make something of a directory. The lock of a group that nobody changes for long is
 * no sign of that: it says nothing. */
static parapet_status find_work(parapet_store *store, const char *path, bool *is_begun)
{
    pp_lock_view view = {0};
    char *own = NULL;
    parapet_status status = pp_own_folder(path, &own);
    if (status == PARAPET_OK && (status = pp_store_list(store->backend, own, note_work, is_begun)) == PARAPET_OK &&
        !*is_begun)
        status = pp_lock_text_view(store, path, &view);
    *is_begun = *is_begun || view.text[0] != '\0';
    pp_free(own);
    return pp_accept_absence(status);
}

/* A directory without a document counts as a group, unless it only holds what Parapet keeps for itself. */
static parapet_status load_implicit(parapet_store *store, const char *path, pp_node *node)
{
    bool has_children = false;
    parapet_status status = pp_store_list(store->backend, path, note_entry, &has_children);
    if (status == PARAPET_OK && !has_children && path[0] != '\0')
        status = PARAPET_ERR_NOT_FOUND;
    if (status == PARAPET_ERR_NOT_FOUND)
        return pp_fail(status, "there is no array or group at \"%s\"", path);
    node->zarr_format = 3;
    node->kind = PARAPET_NODE_GROUP;
    node->is_implicit = true;
    return status == PARAPET_OK && path[0] != '\0' ? find_work(store, path, &node->is_unfinished) : status;
}

parapet_status pp_node_load_finished(parapet_store *store, const char *path, pp_node *node)
{
    parapet_status status = pp_node_load(store, path, node);
    if (status != PARAPET_OK || !node->is_unfinished)
        return status;
    return pp_fail(PARAPET_ERR_NOT_FOUND,
                   "there is no array or group at \"%s\" yet: a job is creating, copying, replacing or removing it, "
                   "or was interrupted while doing so",
                   path);
}

parapet_status pp_node_load(parapet_store *store, const char *path, pp_node *node)
{
    parapet_status status;
    *node = (pp_node){.zarr_format = 3};
    status = load_json(store, path, "zarr.json", &node->json, node);
    if (status == PARAPET_OK) {
        if ((status = pp_document_node_type(node->json, &node->kind)) != PARAPET_OK)
            status = pp_fail_within(status, "%s%szarr.json", path, path[0] != '\0' ? "/" : "");
        return status;
    }
    if (status == PARAPET_ERR_NOT_FOUND)
        status = load_v2(store, path, node);
    return status == PARAPET_ERR_NOT_FOUND ? load_implicit(store, path, node) : status;
}

void pp_node_clear(pp_node *node)
{
    pp_json_free(node->json);
    pp_json_free(node->zattrs);
    *node = (pp_node){0};
}

parapet_status pp_node_publish(parapet_store *store, const char *path, parapet_node_kind kind, const char *text,
                               size_t bytes, pp_publish_mode mode)
{
    char *key = NULL, *staging = NULL;
    parapet_status status;
    if ((status = pp_path_join(path, "zarr.json", &key)) != PARAPET_OK)
        return status;
    if (kind == PARAPET_NODE_ARRAY)
        status = pp_own_key(path, PP_OWN_TEMPORARIES, &staging);
    else
        status = pp_text_duplicate(&staging, path);
    if (status == PARAPET_OK)
        status = pp_store_write_all(
            store->backend,
            &(pp_write_request){.key = key, .staging = staging, .budget = &store->budget, .is_small = true}, text,
            bytes, mode);
    if (status == PARAPET_OK) {
        store->counters.written_bytes += (int64_t)bytes;
        store->counters.objects_written += 1;
    }
    pp_free(staging);
    pp_free(key);
    return status;
}

parapet_status pp_node_write(parapet_store *store, const char *path, parapet_node_kind kind, const char *text,
                             size_t bytes, pp_publish_mode mode)
{
    parapet_status status = pp_node_publish(store, path, kind, text, bytes, mode);
    return status == PARAPET_OK ? pp_store_sync_dirs(store->backend) : status;
}

parapet_status pp_node_write_group(parapet_store *store, const char *path, const pp_group_document *document,
                                   pp_publish_mode mode)
{
    pp_text text = {0};
    parapet_status status = pp_group_document_print(document, &text);
    if (status == PARAPET_OK)
        status = text.status;
    if (status == PARAPET_OK)
        status = pp_node_write(store, path, PARAPET_NODE_GROUP, text.data, text.bytes, mode);
    pp_text_free(&text);
    return status;
}

bool pp_node_is_probe(const char *path, const char *name)
{
    return path[0] == '\0' && strncmp(name, PP_PROBE_PREFIX, sizeof PP_PROBE_PREFIX - 1) == 0;
}

parapet_status pp_node_has_object(parapet_store *store, const char *path, const char *name, bool *has)
{
    pp_reader *reader = NULL;
    char *key = NULL;
    parapet_status status = pp_path_join(path, name, &key);
    if (status == PARAPET_OK)
        status = pp_store_open_object(store->backend, key, &reader);
    *has = status == PARAPET_OK;
    pp_reader_free(reader);
    pp_free(key);
    return pp_accept_absence(status);
}

parapet_status pp_node_has_own(parapet_store *store, const char *path, pp_own own, bool *has)
{
    char *key = NULL;
    parapet_status status = pp_own_key(path, own, &key);
    *has = false;
    if (status == PARAPET_OK)
        status = pp_node_has_object(store, "", key, has);
    pp_free(key);
    return status;
}

parapet_status pp_node_drop_copy(parapet_store *store, const char *path)
{
    char *key = NULL;
    parapet_status status = pp_own_key(path, PP_OWN_COPY_JOB, &key);
    if (status == PARAPET_OK && (status = pp_store_remove(store->backend, key)) == PARAPET_OK)
        status = pp_store_sync_dirs(store->backend);
    pp_free(key);
    return pp_accept_absence(status);
}

typedef struct own_things {
    parapet_store *store;
    const char *prefix;
    pp_own_end until; /* what ends later stays */
} own_things;

static parapet_status remove_own_thing(void *context, const pp_listed *listed)
{
    const own_things *own = context;
    char *key = NULL;
    parapet_status status;
    if (end_of(listed->name) > own->until)
        return PARAPET_OK;
    if ((status = pp_path_join(own->prefix, listed->name, &key)) == PARAPET_OK)
        status = listed->is_prefix ? pp_store_remove_prefix(own->store->backend, key)
                                   : pp_store_remove(own->store->backend, key);
    pp_free(key);
    return pp_accept_absence(status);
}

static parapet_status remove_until(parapet_store *store, const char *path, pp_own_end until)
{
    char *prefix = NULL;
    parapet_status status = pp_node_drop_copy(store, path);
    if (status == PARAPET_OK && (status = pp_own_folder(path, &prefix)) == PARAPET_OK)
        status = pp_store_list(store->backend, prefix, remove_own_thing,
                               &(own_things){.store = store, .prefix = prefix, .until = until});
    pp_free(prefix);
    return pp_accept_absence(status);
}

parapet_status pp_node_remove_own(parapet_store *store, const char *path)
{
    return remove_until(store, path, PP_OWN_END_WITH_NODE);
}

parapet_status pp_node_forget_own(parapet_store *store, const char *path)
{
    return remove_until(store, path, PP_OWN_END_ANY);
}
