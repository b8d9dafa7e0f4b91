/* consolidated.c - consolidated metadata of a copy: what the source has the copy gets, and what the target had around
 * the copy, which copying into it removes, is made again. */
#include <string.h>

#include "array/group.h"
#include "array/node.h"
#include "array/path.h"
#include "array/store.h"
#include "copy/copy.h"

/* Rank 0: Zarr v2 has it in an object of its own. */
static parapet_status has_v2(pp_store *store, const char *path, bool *has)
{
    pp_reader *reader = NULL;
    char *key = NULL;
    parapet_status status = pp_path_join(path, ".zmetadata", &key);
    if (status == PARAPET_OK)
        status = pp_store_open_object(store, key, &reader);
    *has = status == PARAPET_OK;
    pp_reader_free(reader);
    pp_free(key);
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
}

parapet_status pp_copy_consolidated_is_there(parapet_store *store, const parapet_group *group, const char *path,
                                             bool *is_there)
{
    const pp_group_document *document = pp_group_document_of(group);
    *is_there = document->consolidated_metadata != NULL;
    return document->zarr_format == 2 ? has_v2(pp_store_backend(store), path, is_there) : PARAPET_OK;
}

/* [collective] */
parapet_status pp_copy_consolidate(parapet_store *store, const char *path)
{
    parapet_group *group = NULL;
    parapet_status status = parapet_group_open(&group, store, path), closed;
    if (status != PARAPET_OK)
        return status;
    status = parapet_group_consolidate(group);
    closed = parapet_group_close(&group);
    return status != PARAPET_OK ? status : closed;
}

/* Rank 0: whether the group of the target at the first bytes of a path has consolidated metadata. */
static parapet_status look_around(parapet_store *store, const char *path, size_t bytes, bool *has)
{
    pp_group_document document = {0};
    pp_node node = {0};
    char *group = NULL;
    parapet_status status = pp_text_duplicate(&group, path);
    if (status != PARAPET_OK)
        return status;
    group[bytes] = '\0';
    status = pp_node_load(store, group, &node);
    if (status == PARAPET_OK && node.kind == PARAPET_NODE_GROUP && !node.is_implicit && node.zarr_format == 3 &&
        (status = pp_group_document_parse(&document, node.json)) == PARAPET_OK)
        *has = document.consolidated_metadata != NULL;
    pp_group_document_clear(&document);
    pp_node_clear(&node);
    pp_free(group);
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
}

/* Rank 0: how many bytes of the path are the outermost such group; INT64_MAX: there is none. */
static parapet_status find_around(parapet_store *store, const char *path, int64_t *bytes)
{
    size_t at = 0;
    parapet_status status = PARAPET_OK;
    bool has = false;
    *bytes = INT64_MAX;
    for (; status == PARAPET_OK && !has && path[at] != '\0'; at += path[at] != '\0' ? 1 : 0) {
        if (at > 0)
            at += strcspn(path + at, "/");
        if (path[at] == '\0')
            break;
        status = look_around(store, path, at, &has);
        if (has)
            *bytes = (int64_t)at;
    }
    return status;
}

/* [collective] */
parapet_status pp_copy_consolidated_around(const parapet_copy_request *request, char **path)
{
    pp_comm *comm = pp_store_comm(request->target);
    int64_t bytes = INT64_MAX;
    parapet_status status = pp_path_normalize(request->target_path, path);
    if (status == PARAPET_OK && pp_comm_rank(comm) == 0)
        status = find_around(request->target, *path, &bytes);
    status = pp_comm_agree_least(comm, "looking at the target", status, &bytes);
    if (status != PARAPET_OK || bytes == INT64_MAX) {
        pp_free(*path);
        *path = NULL;
    } else {
        (*path)[bytes] = '\0';
    }
    return status;
}
