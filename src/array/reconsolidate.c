#include "array/reconsolidate.h"

#include <string.h>

#include "array/consolidate.h"
#include "array/group.h"
#include "array/node.h"
#include "array/node_lock.h"
#include "array/node_path.h"
#include "array/own_object.h"
#include "array/store_handle.h"
#include "array/store_queries.h"

static parapet_status consolidate_at(parapet_store *store, const char *path,
                                     parapet_status (*consolidate)(parapet_group *group))
{
    parapet_group *group = NULL;
    parapet_status status = parapet_group_open(&group, store, path), closed;
    if (status != PARAPET_OK)
        return status;
    status = consolidate(group);
    closed = parapet_group_close(&group);
    return status != PARAPET_OK ? status : closed;
}

parapet_status pp_group_consolidate_at(parapet_store *store, const char *path)
{
    return consolidate_at(store, path, parapet_group_consolidate);
}

parapet_status pp_group_consolidate_appended_at(parapet_store *store, const char *path)
{
    return consolidate_at(store, path, pp_group_consolidate_appended);
}

parapet_status pp_reconsolidate_fail(parapet_status status, const char *done, const char *path)
{
    return pp_fail_within(status, "%s, but the metadata of \"%s\" could not be consolidated", done,
                          pp_path_shown(path));
}

/* ---- One group around it; on rank 0 ---- */

static parapet_status has_metadata(parapet_store *store, const char *group, bool *has)
{
    pp_group_document document = {0};
    pp_node node = {0};
    parapet_status status = pp_node_load(store, group, &node);
    *has = false;
    if (status == PARAPET_OK && node.kind == PARAPET_NODE_GROUP && !node.is_implicit && node.zarr_format == 3 &&
        (status = pp_group_document_parse(&document, node.json)) == PARAPET_OK)
        *has = document.consolidated_metadata != NULL;
    pp_group_document_clear(&document);
    pp_node_clear(&node);
    return pp_accept_absence(status);
}

static pp_own_object mark_of(parapet_store *store, const char *group)
{
    return (pp_own_object){.store = store, .node = group, .own = PP_OWN_CONSOLIDATE};
}

static parapet_status is_marked(parapet_store *store, const char *group, bool *is_there)
{
    return pp_node_has_own(store, group, PP_OWN_CONSOLIDATE, is_there);
}

/* Now, or before an earlier change that did not come to its end. */
static parapet_status had_metadata(parapet_store *store, const char *group, bool *had)
{
    parapet_status status = has_metadata(store, group, had);
    return status == PARAPET_OK && !*had ? is_marked(store, group, had) : status;
}

/* Another job may remove temporary files of a group that nobody holds. */
static parapet_status set_mark(parapet_store *store, const char *group)
{
    pp_own_object mark = mark_of(store, group);
    pp_edit edit;
    parapet_status status = pp_edit_begin(&edit, store, group);
    if (status != PARAPET_OK)
        return status;
    status = pp_own_object_write(&mark, "", 0, PP_PUBLISH_REPLACE);
    pp_edit_end(&edit);
    return status;
}

static parapet_status remove_mark(parapet_store *store, const char *group)
{
    pp_own_object mark = mark_of(store, group);
    return pp_own_object_remove(&mark);
}

/* ---- All of them ---- */

/* From the outside in, beginning with -1; false: there is none further in. */
static bool next_group(const char *path, int64_t *end)
{
    size_t from = *end > 0 ? (size_t)*end + 1 : 0;
    *end = *end < 0 ? 0 : (int64_t)(from + strcspn(path + from, "/"));
    return path[*end] != '\0';
}

/* Rank 0. The mark is durable before the change takes metadata away (invariant 2 of docs/design/change.md). What is
 * open for reading only gets none: the change is refused. */
static parapet_status look_at(parapet_store *store, const char *group, bool only_marked, bool *had)
{
    parapet_status status;
    if (only_marked)
        return is_marked(store, group, had);
    status = had_metadata(store, group, had);
    return status == PARAPET_OK && *had && !pp_store_is_read_only(store) ? set_mark(store, group) : status;
}

static parapet_status find_groups(pp_reconsolidate *around, parapet_store *store, bool only_marked)
{
    char *path = around->path;
    int64_t end = -1;
    size_t count = 0;
    parapet_status status = pp_allocate_array(&around->ends, strlen(path) + 2, sizeof around->ends[0]);
    while (status == PARAPET_OK && next_group(path, &end)) {
        char next = path[end];
        bool had;
        path[end] = '\0';
        status = look_at(store, path, only_marked, &had);
        path[end] = next;
        if (status == PARAPET_OK && had)
            around->ends[count++] = end;
    }
    if (status == PARAPET_OK)
        around->ends[count] = -1;
    around->count = count;
    return status;
}

/* [collective] */
static parapet_status find(pp_reconsolidate *around, parapet_store *store, const char *path, bool only_marked)
{
    pp_comm *comm = store->comm;
    parapet_status status = pp_path_normalize(path, &around->path);
    void *data = NULL;
    size_t bytes = 0;
    if (status == PARAPET_OK && pp_comm_rank(comm) == 0) {
        status = find_groups(around, store, only_marked);
        data = around->ends;
        bytes = (around->count + 1) * sizeof around->ends[0];
    }
    status = pp_comm_share(comm, "looking at the groups around", status, &data, &bytes);
    if (pp_comm_rank(comm) != 0) {
        around->ends = data;
        around->count = data != NULL ? bytes / sizeof around->ends[0] - 1 : 0;
    }
    return status;
}

parapet_status pp_reconsolidate_find(pp_reconsolidate *around, parapet_store *store, const char *path)
{
    return find(around, store, path, false);
}

parapet_status pp_reconsolidate_find_marked(pp_reconsolidate *around, parapet_store *store, const char *path)
{
    return find(around, store, path, true);
}

parapet_status pp_reconsolidate_renew(parapet_store *store, const char *group)
{
    pp_comm *comm = store->comm;
    parapet_status status = PARAPET_OK;
    int64_t is_there = 1;
    bool has;
    if (pp_comm_rank(comm) == 0 && (status = has_metadata(store, group, &has)) == PARAPET_OK)
        is_there = has;
    if ((status = pp_comm_agree_min(comm, "looking at the groups around", status, &is_there)) != PARAPET_OK ||
        (!is_there && (status = pp_group_consolidate_at(store, group)) != PARAPET_OK))
        return status;
    return pp_comm_agree(comm, "consolidating", pp_comm_rank(comm) == 0 ? remove_mark(store, group) : PARAPET_OK);
}

/* From the inside out: a document that changes takes the metadata of the groups around it along. */
parapet_status pp_reconsolidate_restore(pp_reconsolidate *around, parapet_store *store, const char *done,
                                        parapet_status status)
{
    pp_failure failure = {0};
    pp_failure_take(&failure, status);
    while (around->count > 0 && !pp_comm_is_lost(store->comm)) {
        around->path[around->ends[--around->count]] = '\0';
        if ((status = pp_reconsolidate_renew(store, around->path)) != PARAPET_OK)
            pp_failure_take(&failure, pp_reconsolidate_fail(status, done, around->path));
    }
    return pp_failure_put(&failure);
}

void pp_reconsolidate_clear(pp_reconsolidate *around)
{
    pp_free(around->path);
    pp_free(around->ends);
    *around = (pp_reconsolidate){0};
}
