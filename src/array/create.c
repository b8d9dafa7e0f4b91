#include <parapet_store.h>
#include <string.h>

#include "array/ancestors.h"
#include "array/announcement.h"
#include "array/array.h"
#include "array/array_handle.h"
#include "array/create.h"
#include "array/document.h"
#include "array/node.h"
#include "array/node_path.h"
#include "array/own_object.h"
#include "array/remove_node.h"
#include "array/stored_document.h"
#include "array/walk.h"
#include "change/registry.h"

/* Keys of shards begin with "c": a node of that name would lose its own objects (invariant 10 of
 * docs/design/change.md). */
static parapet_status check_no_node(parapet_array *array, const char *name)
{
    pp_node node = {0};
    char *path = NULL;
    parapet_status status = pp_path_join(array->path, name, &path);
    if (status == PARAPET_OK)
        status = pp_node_load(array->store, path, &node);
    if (status == PARAPET_OK && !node.is_implicit)
        status = pp_fail(PARAPET_ERR_EXISTS,
                         "there is an array or group at \"%s\", which would be inside the array; remove it, or "
                         "choose another path",
                         path);
    pp_node_clear(&node);
    pp_free(path);
    return pp_accept_absence(status);
}

/* ---- What is left where an array was ---- */

static parapet_status read_own(parapet_array *array, pp_own own, char **text, size_t *bytes)
{
    const pp_own_object object = {.store = array->store, .node = array->path, .own = own};
    return pp_own_object_read(&object, PP_JSON_MAX_BYTES, text, bytes);
}

/* The document that a copy has kept; *text NULL: none. */
static parapet_status read_copied(parapet_array *array, char **text, size_t *bytes)
{
    parapet_status status = read_own(array, PP_OWN_COPY_REPLACES, text, bytes);
    return status == PARAPET_OK && *text == NULL ? read_own(array, PP_OWN_COPY_MAKES, text, bytes) : status;
}

static parapet_status read_old(parapet_array *array, char **text, size_t *bytes)
{
    parapet_status status = read_own(array, PP_OWN_OLD_DOCUMENT, text, bytes);
    return status == PARAPET_OK && *text == NULL ? read_copied(array, text, bytes) : status;
}

/* Of an array that the copy was replacing, the document is known; an old one that is there knows more. */
static parapet_status keep_document(parapet_array *array)
{
    const pp_own_object old = {
        .store = array->store, .node = array->path, .own = PP_OWN_OLD_DOCUMENT, .is_of_array = true};
    char *text = NULL;
    size_t bytes = 0;
    bool is_there;
    parapet_status status = pp_node_has_own(array->store, array->path, PP_OWN_OLD_DOCUMENT, &is_there);
    if (status == PARAPET_OK && !is_there && (status = read_copied(array, &text, &bytes)) == PARAPET_OK)
        status = pp_own_object_write(&old, text != NULL ? text : "", bytes, PP_PUBLISH_EXCLUSIVE);
    pp_free(text);
    return status;
}

/* A copy that can be resumed believes that what it has made is there: it must be forgotten before any of that goes.
 * What it leaves gets a document before that, so that it is still known to be ours. */
static parapet_status give_up_copy(parapet_array *array)
{
    bool has_copy;
    parapet_status status = pp_node_has_own(array->store, array->path, PP_OWN_COPY_JOB, &has_copy);
    if (status != PARAPET_OK || !has_copy || (status = keep_document(array)) != PARAPET_OK)
        return status;
    return pp_node_drop_copy(array->store, array->path);
}

/* What cannot be understood names no shards. */
static bool is_unreadable(parapet_status status)
{
    return status == PARAPET_ERR_FORMAT || status == PARAPET_ERR_UNSUPPORTED || status == PARAPET_ERR_CORRUPT;
}

/* The old shards go by the old document: the new one may name shards in another way. */
parapet_status pp_array_remove_old_shards(parapet_array *array)
{
    char *text = NULL;
    size_t bytes = 0;
    parapet_status status = read_old(array, &text, &bytes);
    if (is_unreadable(status))
        return PARAPET_OK;
    if (status == PARAPET_OK && bytes > 0)
        status = pp_remove_shards_of_text(array->store, array->path, text, bytes);
    pp_free(text);
    return status;
}

/* Objects without a document have no meaning, but would get one again from a new document: they must be gone, and
 * durably so, before it is written (invariant 5 of docs/design/change.md). A crash inside an overwrite leaves such
 * objects. The old document goes last. */
parapet_status pp_array_remove_remains(parapet_array *array, const pp_array_document *document)
{
    pp_store *backend = array->store->backend;
    parapet_status status;
    if ((status = check_no_node(array, "c")) != PARAPET_OK || (status = give_up_copy(array)) != PARAPET_OK ||
        (status = pp_array_remove_old_shards(array)) != PARAPET_OK ||
        (status = pp_remove_shards(array->store, array->path, document)) != PARAPET_OK ||
        (status = pp_store_sync_dirs(backend)) != PARAPET_OK ||
        (status = pp_node_remove_own(array->store, array->path)) != PARAPET_OK)
        return status;
    return pp_store_sync_dirs(backend);
}

static parapet_status note_any(void *context, const pp_listed *listed)
{
    (void)listed;
    *(bool *)context = true;
    return PARAPET_OK;
}

parapet_status pp_array_has_remains(parapet_array *array, bool *has_some)
{
    char *prefix = NULL;
    parapet_status status = pp_node_has_own(array->store, array->path, PP_OWN_OLD_DOCUMENT, has_some);
    if (status == PARAPET_OK && (status = pp_own_key(array->path, PP_OWN_COPY, &prefix)) == PARAPET_OK)
        status = pp_store_list(array->store->backend, prefix, note_any, has_some);
    pp_free(prefix);
    return pp_accept_absence(status);
}

typedef struct shard_search {
    const parapet_array *array;
    const pp_array_document *document;
} shard_search;

static parapet_status refuse_shard(void *context, const char *key, uint64_t bytes)
{
    const shard_search *search = context;
    int64_t cell[PARAPET_MAX_NDIM];
    (void)bytes;
    if (!pp_key_parse(&search->document->keys, search->document->ndim, key, cell))
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_EXISTS,
                   "\"%s/%s\" exists and would become a shard of the new array, but is not known to be left over "
                   "from an old one; remove it, or choose another path",
                   search->array->path, key);
}

/* A directory without a document: somebody's own, or what we left of an array. */
static parapet_status make_room_in_directory(parapet_array *array, const pp_array_document *document)
{
    shard_search search = {.array = array, .document = document};
    bool is_ours = false;
    parapet_status status = pp_array_has_remains(array, &is_ours);
    if (status == PARAPET_OK && !is_ours)
        status = pp_walk_objects(array->store, array->path, refuse_shard, &search);
    return status == PARAPET_OK ? pp_array_remove_remains(array, document) : status;
}

/* That one rename decides: from then on there is no array, and what it was is known beside what is left of it. A
 * crash between a link and its unlink leaves both names, of which the visible one counts. */
static parapet_status move_document(parapet_array *array)
{
    pp_store *backend = array->store->backend;
    char *key = NULL, *old = NULL;
    parapet_status status;
    if ((status = pp_path_join(array->path, "zarr.json", &key)) == PARAPET_OK &&
        (status = pp_own_key(array->path, PP_OWN_OLD_DOCUMENT, &old)) == PARAPET_OK &&
        (status = pp_store_move(backend, key, old)) == PARAPET_ERR_EXISTS &&
        (status = pp_store_remove(backend, old)) == PARAPET_OK)
        status = pp_store_move(backend, key, old);
    pp_free(key);
    pp_free(old);
    status = pp_accept_absence(status);
    return status == PARAPET_OK ? pp_store_sync_dirs(backend) : status;
}

parapet_status pp_array_take_away(parapet_array *array)
{
    pp_edit edit;
    parapet_status status;
    if ((status = pp_edit_begin(&edit, array->store, array->path)) != PARAPET_OK)
        return status;
    if ((status = pp_ancestors_drop_consolidated(array->store, array->path)) == PARAPET_OK &&
        (status = pp_edit_prove(&edit)) == PARAPET_OK)
        status = move_document(array);
    pp_edit_end(&edit);
    return status;
}

parapet_status pp_array_remove(parapet_array *array, const pp_array_document *document)
{
    parapet_status status = pp_array_take_away(array);
    return status == PARAPET_OK ? pp_array_remove_remains(array, document) : status;
}

parapet_status pp_array_old_document(parapet_array *array, pp_array_document *document, bool *is_known)
{
    char *text = NULL;
    pp_json *json = NULL;
    size_t bytes = 0;
    parapet_status status = read_old(array, &text, &bytes);
    *is_known = false;
    if (status == PARAPET_OK && bytes > 0 && (status = pp_json_parse(&json, text, bytes)) == PARAPET_OK &&
        (status = pp_array_document_parse(document, json)) == PARAPET_OK)
        *is_known = true;
    pp_json_free(json);
    pp_free(text);
    return is_unreadable(status) ? PARAPET_OK : status;
}

static parapet_status refuse(const parapet_array *array, const pp_node *node, bool overwrites)
{
    if (node->kind == PARAPET_NODE_GROUP)
        return pp_fail(PARAPET_ERR_EXISTS, "there is a group at \"%s\", which is never replaced", array->path);
    if (node->zarr_format == 2)
        return pp_fail(PARAPET_ERR_EXISTS, "there is a Zarr v2 array at \"%s\", which is never replaced",
                       array->path);
    if (!overwrites)
        return pp_fail(PARAPET_ERR_EXISTS, "there is an array at \"%s\" already; set overwrite to replace it",
                       array->path);
    return PARAPET_OK;
}

parapet_status pp_array_check_replaceable(parapet_array *array, bool overwrites)
{
    pp_node node = {0};
    parapet_status status = pp_node_load(array->store, array->path, &node);
    if (status == PARAPET_OK && !node.is_implicit && (status = refuse(array, &node, overwrites)) == PARAPET_OK)
        status = check_no_node(array, "c");
    pp_node_clear(&node);
    return pp_accept_absence(status);
}

parapet_status pp_array_make_room(parapet_array *array, const pp_array_document *document, bool overwrites)
{
    pp_node node = {0};
    parapet_status status = pp_node_load(array->store, array->path, &node);
    if (status == PARAPET_ERR_NOT_FOUND)
        status = pp_node_remove_own(array->store, array->path);
    else if (status == PARAPET_OK && node.is_implicit)
        status = make_room_in_directory(array, document);
    else if (status == PARAPET_OK && (status = refuse(array, &node, overwrites)) == PARAPET_OK &&
             (status = check_no_node(array, "c")) == PARAPET_OK)
        status = pp_array_remove(array, document);
    pp_node_clear(&node);
    return status;
}

/* The document, with the groups above it, appears at once; takes over its contents. */
static parapet_status publish_first(parapet_array *array, pp_array_document *document)
{
    pp_edit edit = {0};
    parapet_status status = PARAPET_OK;
    if (!array->is_detached && (status = pp_edit_begin(&edit, array->store, array->path)) == PARAPET_OK)
        status = pp_ancestors_prepare(array->store, array->path);
    if (status == PARAPET_OK)
        status = pp_array_store_first_document(array, document);
    else
        pp_array_document_clear(document);
    pp_edit_end(&edit);
    return status;
}

parapet_status pp_array_draft_document(const parapet_store *store, const parapet_array_spec *spec,
                                       pp_array_document *document)
{
    pp_layout layout = {0};
    parapet_status status = pp_document_from_spec(document, spec, store->options->expected_servers);
    if (status == PARAPET_OK)
        status = pp_layout_init(&layout, document, false);
    pp_layout_clear(&layout);
    return status;
}

/* Where all ranks were told it before, it is that. */
static parapet_status give_incarnation(parapet_array *array, pp_node_lock *hold)
{
    return array->incarnation[0] != '\0' ? pp_node_lock_write_incarnation(hold, array->incarnation)
                                         : pp_node_lock_renew_incarnation(hold, array->incarnation);
}

static parapet_status make_and_publish(parapet_array *array, const parapet_array_spec *spec, pp_node_lock *hold)
{
    pp_array_document document = {0};
    parapet_status status;
    if ((status = pp_array_draft_document(array->store, spec, &document)) != PARAPET_OK ||
        (status = pp_array_make_room(array, &document, spec->overwrite)) != PARAPET_OK ||
        (hold != NULL && (status = give_incarnation(array, hold)) != PARAPET_OK)) {
        pp_array_document_clear(&document);
        return status;
    }
    status = publish_first(array, &document);
    if (status != PARAPET_OK && hold != NULL)
        hold->is_kept = false;
    return status;
}

/* Of an array that is apart nobody else knows. Where an append was interrupted, nobody could tell the new array from
 * what the append has left. */
static parapet_status create(parapet_array *array, const parapet_array_spec *spec)
{
    pp_node_lock hold = {0};
    parapet_status status;
    if (array->is_detached)
        return make_and_publish(array, spec, NULL);
    status = pp_node_locks_take(&hold, &(pp_node_lock_wish){.store = array->store,
                                                            .paths = (const char *const *)&array->path,
                                                            .count = 1,
                                                            .mode = PP_LOCK_EXCLUSIVE,
                                                            .purpose = "creating"});
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_announcement_refuse_around(array->store, array->path)) == PARAPET_OK)
        status = make_and_publish(array, spec, &hold);
    pp_node_locks_release(&hold, 1);
    return status;
}

parapet_status pp_array_create_here(parapet_array *array, const parapet_array_spec *spec)
{
    parapet_status status = create(array, spec);
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot create array \"%s\"", array->path);
}
