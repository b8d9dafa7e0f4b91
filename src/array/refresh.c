/* refresh.c - handles that have aged: see refresh.h.
 *
 * What makes another array of a node is that its elements would be read in another way, or are others: its type,
 * chunks, shards, codecs, fill value or keys, or its incarnation, which is new each time that it is made. */
#include "array/refresh.h"

#include <string.h>

#include "array/array.h"
#include "array/array_handle.h"
#include "array/document.h"
#include "array/node.h"
#include "array/node_path.h"
#include "array/seal_objects.h"
#include "array/state.h"

/* How often a document may change while it is being read. */
#define LOOKS_MOST 100

/* ---- Reading ---- */

static parapet_status derive_own(parapet_array *array)
{
    pp_derived own = {0};
    parapet_status status = pp_derived_init(&own, array->store, &array->document);
    if (status == PARAPET_OK)
        pp_derived_adopt(&own, array);
    pp_derived_clear(&own);
    return status;
}

static parapet_status parse_node(parapet_array *array, const pp_node *node)
{
    parapet_status status;
    if (node->kind != PARAPET_NODE_ARRAY)
        return pp_fail(PARAPET_ERR_ARGUMENT, "\"%s\" is a group, not an array", array->path);
    memcpy(array->document_digest, node->digest, sizeof node->digest);
    array->document_version = node->version;
    if (node->zarr_format == 2) {
        array->zarray = pp_json_share(node->json);
        array->zattrs = pp_json_share(node->zattrs);
        return pp_array_document_parse_v2(&array->document, node->json, node->zattrs);
    }
    if ((status = pp_array_document_parse(&array->document, node->json)) != PARAPET_OK)
        return status;
    array->document.is_foreign = array->store->is_foreign;
    /* Which cannot be printed, but has to be told to other ranks. */
    if (array->document.type.id == PARAPET_VARIABLE)
        array->zarray = pp_json_share(node->json);
    return PARAPET_OK;
}

static parapet_status load_once(parapet_array *array)
{
    pp_node node = {0};
    parapet_status status = pp_node_load_finished(array->store, array->path, &node);
    if (status == PARAPET_OK && (status = parse_node(array, &node)) == PARAPET_OK &&
        (status = derive_own(array)) == PARAPET_OK && node.zarr_format == 3 &&
        (status = pp_seal_open(array)) == PARAPET_OK)
        status = pp_incarnation_read(array->store, array->path, array->incarnation);
    pp_node_clear(&node);
    return status;
}

/* Whether zarr.json has become another one since the handle took it in, or is gone; and its version. */
static parapet_status compare_document(const parapet_array *array, bool *has_changed, uint64_t *version)
{
    unsigned char digest[PP_SHA256_BYTES];
    char *key = NULL, *text = NULL;
    size_t bytes;
    parapet_status status = pp_path_join(array->path, "zarr.json", &key);
    *has_changed = false;
    if (status == PARAPET_OK && (status = pp_store_read_version(array->store->backend, key, PP_JSON_MAX_BYTES, &text,
                                                                &bytes, version)) == PARAPET_OK) {
        pp_sha256_of(text, bytes, digest);
        *has_changed = memcmp(digest, array->document_digest, sizeof digest) != 0;
    }
    pp_free(text);
    pp_free(key);
    if (status != PARAPET_ERR_NOT_FOUND)
        return status;
    *has_changed = true;
    return PARAPET_OK;
}

/* A generation of a checkpoint that goes loses its own document first, and those of its arrays last. */
static parapet_status check_group(const parapet_array *array)
{
    const char *name = strrchr(array->path, '/');
    pp_node node = {0};
    char *group = NULL;
    parapet_status status;
    if (name == NULL)
        return PARAPET_OK;
    if ((status = pp_text_duplicate(&group, array->path)) == PARAPET_OK) {
        group[name - array->path] = '\0';
        status = pp_node_load_finished(array->store, group, &node);
    }
    pp_node_clear(&node);
    pp_free(group);
    return status != PARAPET_ERR_NOT_FOUND
               ? PARAPET_OK
               : pp_fail(PARAPET_ERR_STALE,
                         "another job has removed the group of array \"%s\", and the array goes too", array->path);
}

/* A document that is replaced while its seal is being looked at does not go with it: that is no damage. Nor is what
 * is missing of an array that goes. */
parapet_status pp_array_load(parapet_array *array)
{
    pp_failure failure = {0};
    bool has_changed;
    uint64_t version;
    parapet_status status;
    int looks;
    for (looks = 0; looks < LOOKS_MOST; looks++) {
        status = load_once(array);
        if (status == PARAPET_OK || array->document.zarr_format != 3)
            return status;
        failure = (pp_failure){0};
        pp_failure_take(&failure, status);
        if (compare_document(array, &has_changed, &version) != PARAPET_OK || !has_changed)
            break;
        pp_array_forget(array);
    }
    if (looks == LOOKS_MOST)
        return pp_fail(PARAPET_ERR_STALE, "another job keeps changing it while it is being read; try again");
    if (failure.status == PARAPET_ERR_MISSING && check_group(array) == PARAPET_ERR_STALE)
        return PARAPET_ERR_STALE;
    return pp_failure_put(&failure);
}

/* ---- Comparing ---- */

static parapet_status fail_removed(const parapet_array *array)
{
    return pp_fail(PARAPET_ERR_STALE, "another job has removed array \"%s\" since it was opened", array->path);
}

static parapet_status fail_replaced(const parapet_array *array)
{
    return pp_fail(PARAPET_ERR_STALE,
                   "another job has put another array at \"%s\" since it was opened; close it and open it again",
                   array->path);
}

/* A lock that says nothing proves nothing. */
static bool is_another(const char *one, const char *other)
{
    return one[0] != '\0' && other[0] != '\0' && strcmp(one, other) != 0;
}

/* A document without what may change. */
static parapet_status print_constant(const pp_array_document *document, const pp_array_document *other, pp_text *text)
{
    pp_array_document constant = *document;
    memcpy(constant.shape, other->shape, sizeof constant.shape);
    memcpy(constant.dimension_names, other->dimension_names, sizeof constant.dimension_names);
    constant.has_dimension_names = other->has_dimension_names;
    constant.attributes = other->attributes;
    return pp_array_document_print(&constant, text);
}

static parapet_status check_same(const parapet_array *array, const parapet_array *stored)
{
    pp_text ours = {0}, theirs = {0};
    bool is_same = stored->document.zarr_format == 3 && stored->document.ndim == array->document.ndim &&
                   !is_another(array->incarnation, stored->incarnation);
    parapet_status status = PARAPET_OK;
    if (is_same && (status = print_constant(&array->document, &array->document, &ours)) == PARAPET_OK &&
        (status = print_constant(&stored->document, &array->document, &theirs)) == PARAPET_OK)
        is_same = ours.bytes == theirs.bytes && memcmp(ours.data, theirs.data, ours.bytes) == 0;
    pp_text_free(&ours);
    pp_text_free(&theirs);
    return status == PARAPET_OK && !is_same ? fail_replaced(array) : status;
}

/* The array as it is stored now, in a handle of its own. */
static parapet_status load_stored(const parapet_array *array, parapet_array **stored)
{
    const char *path = array->path;
    parapet_status status = pp_arrays_build(stored, array->store, &path, 1);
    if (*stored != NULL)
        (*stored)->cache_number = 0;
    if (status == PARAPET_OK)
        status = pp_array_load(*stored);
    if (status == PARAPET_ERR_NOT_FOUND || status == PARAPET_ERR_ARGUMENT)
        status = fail_removed(array);
    return status == PARAPET_OK ? check_same(array, *stored) : status;
}

parapet_status pp_array_look(parapet_array *array, bool *is_aged)
{
    char *key = NULL, incarnation[PP_INCARNATION_BYTES];
    uint64_t version = 0;
    parapet_status status = PARAPET_OK;
    *is_aged = false;
    if (array->document.zarr_format != 3)
        return PARAPET_OK;
    /* Where owner records stand in for locks, the file system is not known either: sshfs gives a path one number, and
     * a file its time in seconds. There the document itself is read. */
    if (array->document_version != 0 && !array->store->uses_records) {
        if ((status = pp_path_join(array->path, "zarr.json", &key)) == PARAPET_OK)
            status = pp_store_version(array->store->backend, key, &version);
        pp_free(key);
        if (status != PARAPET_OK || version == array->document_version)
            return status;
    }
    if ((status = compare_document(array, is_aged, &version)) != PARAPET_OK || *is_aged ||
        (status = pp_incarnation_read(array->store, array->path, incarnation)) != PARAPET_OK)
        return status;
    *is_aged = is_another(array->incarnation, incarnation);
    if (!*is_aged)
        array->document_version = version;
    return PARAPET_OK;
}

/* ---- Taking up ---- */

parapet_status pp_array_refresh(parapet_array *array)
{
    parapet_array *stored = NULL;
    pp_text bytes = {0};
    bool is_aged;
    parapet_status status = pp_array_look(array, &is_aged);
    if (status != PARAPET_OK || !is_aged)
        return status;
    if ((status = load_stored(array, &stored)) == PARAPET_OK &&
        (status = pp_array_state_print(stored, &bytes)) == PARAPET_OK && (status = bytes.status) == PARAPET_OK) {
        pp_cursor cursor = {.data = (const unsigned char *)bytes.data, .left = bytes.bytes};
        if ((status = pp_array_state_adopt(array, &cursor)) == PARAPET_OK)
            array->document_version = stored->document_version;
    }
    pp_text_free(&bytes);
    pp_array_free(stored);
    return status;
}

parapet_status pp_array_refresh_document(parapet_array *array)
{
    parapet_array *stored = NULL;
    pp_derived derived = {0};
    pp_array_document document;
    bool has_changed;
    uint64_t version;
    parapet_status status = compare_document(array, &has_changed, &version);
    if (status != PARAPET_OK || !has_changed)
        return status;
    if ((status = load_stored(array, &stored)) == PARAPET_OK &&
        (status = pp_derived_init(&derived, array->store, &stored->document)) == PARAPET_OK) {
        document = array->document;
        array->document = stored->document;
        stored->document = document;
        memcpy(array->document_digest, stored->document_digest, sizeof array->document_digest);
        array->document_version = stored->document_version;
        pp_derived_adopt(&derived, array);
    }
    pp_derived_clear(&derived);
    pp_array_free(stored);
    return status;
}

static bool contains(const pp_array_document *outer, const pp_array_document *inner)
{
    int d;
    for (d = 0; d < inner->ndim; d++)
        if (outer->shape[d] < inner->shape[d])
            return false;
    return true;
}

parapet_status pp_array_check_fresh(parapet_array *array)
{
    parapet_array *stored = NULL;
    bool is_aged;
    parapet_status status = pp_array_look(array, &is_aged);
    if (status != PARAPET_OK || !is_aged)
        return status;
    if ((status = load_stored(array, &stored)) == PARAPET_OK && !contains(&stored->document, &array->document))
        status = pp_fail(PARAPET_ERR_STALE,
                         "another job has made array \"%s\" smaller since it was opened; close it and "
                         "open it again",
                         array->path);
    pp_array_free(stored);
    return status;
}

bool pp_array_is_worth_looking(parapet_status status)
{
    return status == PARAPET_OK || status == PARAPET_ERR_CORRUPT || status == PARAPET_ERR_MISSING ||
           status == PARAPET_ERR_FORMAT;
}

parapet_status pp_array_check_damage(parapet_array *array)
{
    bool is_aged = false;
    parapet_status status = pp_array_check_fresh(array);
    if (status == PARAPET_OK)
        status = check_group(array);
    if (status == PARAPET_OK && array->is_sealed)
        status = pp_array_look(array, &is_aged);
    if (status == PARAPET_OK && is_aged)
        status = pp_fail(PARAPET_ERR_STALE,
                         "another job has changed the sealed array \"%s\" since it was opened; close it and open "
                         "it again",
                         array->path);
    return status;
}
