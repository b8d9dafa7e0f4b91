/* consolidated_copy.c - what the group's consolidated metadata repeat of the arrays: the only second copy that there
 * is of their documents, which have no checksum of their own; on rank 0.
 *
 * Attributes are left out: they mean nothing to the series, and other programs may change them. So is the number of
 * steps, for which there are records. */
#include "series/consolidated_copy.h"

#include <string.h>

#include "array/array.h"
#include "array/node_path.h"
#include "array/store_queries.h"
#include "base/checked.h"
#include "base/status.h"
#include "series/series_handle.h"
#include "zarr/document.h"

/* What JSON takes once parsed, as a multiple of its text. */
#define TREE_BYTES_PER_BYTE 40

/* ---- Taking ---- */

/* Of everything that tells where elements are and how they are stored. */
static parapet_status digest_structure(const pp_array_document *document, unsigned char digest[PP_SHA256_BYTES])
{
    pp_array_document bare = *document;
    pp_text text = {0};
    parapet_status status;
    bare.shape[0] = 0;
    bare.attributes = NULL;
    if ((status = pp_array_document_print(&bare, &text)) == PARAPET_OK)
        pp_sha256_of(text.data, text.bytes, digest);
    pp_text_free(&text);
    return status;
}

/* -1: it does not show the array, or no number of steps. */
static int64_t steps_of(pp_json *member)
{
    pp_json *shape = pp_json_member(member, "shape");
    int64_t steps;
    if (pp_json_length(shape) < 1 || !pp_json_get_i64(pp_json_element(shape, 0), &steps) || steps < 0)
        return -1;
    return steps;
}

/* What cannot be understood is no document that anything could be equal to. */
static parapet_status take_member(pp_series_consolidated_copy *shown, pp_json *member)
{
    pp_array_document document = {0};
    parapet_status status = pp_array_document_parse(&document, member);
    if (status == PARAPET_OK)
        status = digest_structure(&document, shown->structure);
    shown->is_sound = status == PARAPET_OK;
    pp_array_document_clear(&document);
    return status == PARAPET_ERR_MEMORY ? status : PARAPET_OK;
}

static parapet_status take_members(parapet_series *series, pp_json *metadata)
{
    parapet_status status = pp_allocate_array(&series->shown, (size_t)series->count + 1, sizeof series->shown[0]);
    int i;
    for (i = 0; i <= series->count && status == PARAPET_OK; i++) {
        pp_json *member = pp_json_member(metadata, i < series->count ? series->names[i] : series->dimension);
        int64_t steps = steps_of(member);
        series->steps_shown[0] = pp_min_i64(series->steps_shown[0], steps);
        series->steps_shown[1] = pp_max_i64(series->steps_shown[1], steps);
        status = take_member(&series->shown[i], member);
    }
    return status;
}

/* Metadata that take more memory parsed than any document may are not compared. */
static parapet_status parse_shown(parapet_series *series, const char *text, size_t bytes)
{
    size_t needed = pp_min_size(bytes * TREE_BYTES_PER_BYTE, PP_JSON_MAX_TREE_BYTES);
    pp_budget *budget = pp_store_budget(series->store);
    pp_json *consolidated = NULL, *metadata;
    parapet_status status = pp_budget_reserve(budget, needed, "consolidated metadata");
    if (status != PARAPET_OK)
        return status;
    status = pp_json_parse_consolidated(&consolidated, text, bytes);
    metadata = pp_json_member(consolidated, "metadata");
    if (status == PARAPET_OK && pp_json_kind_of(metadata) == PP_JSON_OBJECT)
        status = take_members(series, metadata);
    pp_json_free(consolidated);
    pp_budget_release(budget, needed);
    return status == PARAPET_ERR_FORMAT ? PARAPET_OK : status;
}

static parapet_status read_group_text(const parapet_series *series, char **text, size_t *bytes)
{
    char *key = NULL;
    parapet_status status = pp_path_join(series->path, "zarr.json", &key);
    if (status == PARAPET_OK)
        status = pp_store_read_all(pp_store_backend(series->store), key, PP_JSON_MAX_BYTES, text, bytes);
    pp_free(key);
    return status;
}

parapet_status pp_series_take_consolidated_copy(parapet_series *series, const char *text, size_t bytes)
{
    series->steps_shown[0] = series->steps_shown[1] = series->steps_committed;
    if (series->steps_committed < 0)
        return PARAPET_OK;
    pp_sha256_of(text, bytes, series->group_digest);
    return parse_shown(series, text, bytes);
}

parapet_status pp_series_read_consolidated_copy(parapet_series *series)
{
    char *text = NULL;
    size_t bytes = 0;
    parapet_status status = series->steps_committed < 0 ? PARAPET_OK : read_group_text(series, &text, &bytes);
    if (status == PARAPET_OK)
        status = pp_series_take_consolidated_copy(series, text, bytes);
    pp_free(text);
    return status;
}

/* ---- Comparing ---- */

static parapet_status check_member(const parapet_series *series, int index)
{
    const pp_series_consolidated_copy *shown = series->shown != NULL ? &series->shown[index] : NULL;
    unsigned char structure[PP_SHA256_BYTES];
    parapet_status status;
    if (shown == NULL)
        return PARAPET_OK;
    status = digest_structure(pp_array_document_of(series->arrays[index]), structure);
    if (status != PARAPET_OK || (shown->is_sound && memcmp(structure, shown->structure, sizeof structure) == 0))
        return status;
    return pp_fail(PARAPET_ERR_FORMAT,
                   "\"%s/zarr.json\" differs from its copy in the consolidated metadata of the group \"%s\": one of "
                   "the two is damaged, or another program has changed it; nothing was changed; correct the one that "
                   "is wrong, or, if that is the group, call parapet_series_repair with PARAPET_BEYOND_ADOPT",
                   pp_array_path(series->arrays[index]), series->path);
}

parapet_status pp_series_check_consolidated_copy(const parapet_series *series)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i <= series->count && status == PARAPET_OK; i++)
        status = check_member(series, i);
    return status;
}

bool pp_series_has_moved(const parapet_series *series)
{
    unsigned char digest[PP_SHA256_BYTES];
    char *text = NULL;
    size_t bytes;
    bool has_moved = false;
    if (read_group_text(series, &text, &bytes) == PARAPET_OK) {
        pp_sha256_of(text, bytes, digest);
        has_moved = memcmp(digest, series->group_digest, sizeof digest) != 0;
    }
    pp_free(text);
    return has_moved;
}
