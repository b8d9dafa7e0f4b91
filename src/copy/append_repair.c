/* append_repair.c - what an append has left that was killed: completed, if all arrays are longer, else undone. */
#include "copy/append_repair.h"

#include <string.h>

#include "array/array.h"
#include "array/node.h"
#include "array/node_path.h"
#include "array/reconsolidate.h"
#include "array/store_queries.h"
#include "base/sha256.h"
#include "base/status.h"
#include "copy/append_check.h"
#include "copy/append_list.h"
#include "copy/append_ranks.h"
#include "copy/append_steps.h"
#include "copy/append_task.h"

/* ---- The arrays that are still there ---- */

/* Rank 0: what was removed since counts as done. */
static parapet_status is_there(const pp_append *append, const char *name, bool *is_array)
{
    pp_node node = {0};
    char *path = NULL;
    parapet_status status = pp_path_join(append->target_root, name, &path);
    if (status == PARAPET_OK)
        status = pp_node_load_finished(append->request->target, path, &node);
    *is_array = status != PARAPET_OK || node.kind == PARAPET_NODE_ARRAY;
    if (status == PARAPET_ERR_NOT_FOUND)
        *is_array = false;
    pp_node_clear(&node);
    pp_free(path);
    return pp_accept_absence(status);
}

static parapet_status look_for_arrays(const pp_append *append, bool *found)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < append->change.count && status == PARAPET_OK; i++)
        status = is_there(append, append->change.arrays[i], &found[i]);
    return status;
}

/* Room for all, and the names of those that were found. */
static parapet_status take_names(pp_append *append, const bool *found)
{
    pp_append_pairs *pairs = &append->growing;
    size_t count = (size_t)append->change.count, i;
    parapet_status status;
    if ((status = pp_allocate_array(&pairs->names, count, sizeof pairs->names[0])) == PARAPET_OK &&
        (status = pp_allocate_array(&pairs->sources, count, sizeof pairs->sources[0])) == PARAPET_OK)
        status = pp_allocate_array(&pairs->targets, count, sizeof pairs->targets[0]);
    for (i = 0; i < count && status == PARAPET_OK; i++)
        if (found[i] &&
            (status = pp_text_duplicate(&pairs->names[pairs->count], append->change.arrays[i])) == PARAPET_OK)
            pairs->count++;
    return status;
}

/* [collective] The arrays of the record, as if they were to be appended to. */
static parapet_status take_up(pp_append *append)
{
    pp_comm *comm = pp_append_comm(append);
    size_t bytes = (size_t)append->change.count * sizeof(bool);
    bool *found = NULL;
    void *data;
    parapet_status status = PARAPET_OK;
    if (pp_append_leads(append) &&
        (status = pp_allocate_array(&found, (size_t)append->change.count, sizeof found[0])) == PARAPET_OK)
        status = look_for_arrays(append, found);
    data = found;
    if ((status = pp_comm_share(comm, "repairing", status, &data, &bytes)) == PARAPET_OK)
        status = pp_comm_agree(comm, "repairing", take_names(append, data));
    pp_free(data);
    return status == PARAPET_OK && append->growing.count > 0 ? pp_append_hold(append) : status;
}

/* ---- Forward or back ---- */

/* Without dimensions: 0. */
static int64_t length_of(const pp_append *append, int array)
{
    return pp_array_document_of(append->growing.targets[array])->shape[0];
}

static bool has_dimension(const pp_append *append, int array)
{
    const char *first = pp_array_document_of(append->growing.targets[array])->dimension_names[0];
    return first != NULL && strcmp(first, append->change.dimension) == 0;
}

/* The number of an array in the record, which is longer where arrays were removed since. */
static int number_of(const pp_append *append, int array)
{
    int i = 0;
    while (strcmp(append->change.arrays[i], append->growing.names[array]) != 0)
        i++;
    return i;
}

/* Whether all that is left of the arrays is longer: then the append had decided. */
static bool is_decided(const pp_append *append)
{
    int i = 0;
    while (i < append->growing.count && length_of(append, i) == append->change.after)
        i++;
    return i == append->growing.count;
}

/* Whether an array can be what the append has left of it. What becomes shorter must be the very array that the append
 * made longer, and the coordinate, which became longer last, is never cut (invariant 8 of docs/design/change.md). */
static bool is_left_by_it(const pp_append *append, int array, int64_t committed)
{
    int64_t length = length_of(append, array);
    int number = number_of(append, array);
    return has_dimension(append, array) &&
           (length == committed || (number < append->change.count - 1 &&
                                    pp_change_explains(&append->change, number, committed, length,
                                                       pp_array_document_digest(append->growing.targets[array]))));
}

static parapet_status refuse_array(const pp_append *append, int array)
{
    const char *root = append->target_root;
    return pp_fail(PARAPET_ERR_FORMAT,
                   "an append along %s from %lld to %lld was interrupted, but \"%s\", of length %lld, is not what it "
                   "has left: another program has changed it since; make all arrays equally long, and "
                   "remove %s%s__parapet/change",
                   append->change.dimension, (long long)append->change.before, (long long)append->change.after,
                   append->growing.names[array], (long long)length_of(append, array), root,
                   root[0] != '\0' ? "/" : "");
}

/* The coordinate tells whether the append had decided. Nothing is changed unless all else fits that (invariant 4 of
 * docs/design/change.md). */
static parapet_status check_arrays(const pp_append *append)
{
    int64_t committed = is_decided(append) ? append->change.after : append->change.before;
    int i;
    for (i = 0; i < append->growing.count; i++)
        if (!is_left_by_it(append, i, committed))
            return refuse_array(append, i);
    return pp_append_leads(append) ? pp_append_check_membership(append) : PARAPET_OK;
}

/* [collective] Forward only if no document has to become longer for that (invariant 7 of docs/design/change.md). */
static parapet_status repair_announced(pp_append *append, parapet_repair *repair)
{
    parapet_status status = take_up(append);
    if (status == PARAPET_OK)
        status = pp_comm_agree(pp_append_comm(append), "repairing", check_arrays(append));
    if (status != PARAPET_OK)
        return status;
    *repair = is_decided(append) ? PARAPET_REPAIR_COMPLETED : PARAPET_REPAIR_UNDONE;
    return *repair == PARAPET_REPAIR_COMPLETED ? pp_append_finish(append) : pp_append_undo(append);
}

/* ---- The record ---- */

static parapet_status parse(pp_append *append, char *text, size_t bytes)
{
    const char *root = append->target_root;
    parapet_status status = pp_change_parse(&append->change, text, bytes);
    if (status != PARAPET_ERR_FORMAT)
        return status;
    return pp_fail(status,
                   "%s%s__parapet/change is not what an append leaves there; look at it, and remove it if nobody "
                   "needs it",
                   root, root[0] != '\0' ? "/" : "");
}

/* [collective] Every rank gets the record; without arrays: there is none. */
static parapet_status read_change(pp_append *append)
{
    pp_comm *comm = pp_append_comm(append);
    pp_announcement place = pp_append_place(append);
    char *text = NULL;
    void *data;
    size_t bytes = 0;
    parapet_status status = PARAPET_OK;
    if (pp_append_leads(append) && (status = pp_announcement_read(&place, &text, &bytes)) == PARAPET_OK &&
        text != NULL)
        bytes += 1; /* the NUL behind it */
    data = text;
    status = pp_comm_share(comm, "looking for an append", status, &data, &bytes);
    if (status == PARAPET_OK && bytes > 0)
        status = parse(append, data, bytes - 1);
    pp_free(data);
    return pp_comm_agree(comm, "looking for an append", status);
}

parapet_status pp_append_repair_target(const pp_append *append, parapet_repair *repair)
{
    pp_append work = {.request = append->request,
                      .target_root = append->target_root,
                      .group_hold = append->group_hold,
                      .changes = true};
    parapet_status status = read_change(&work);
    *repair = PARAPET_REPAIR_NONE;
    if (status == PARAPET_OK && work.change.count > 0)
        status = repair_announced(&work, repair);
    if (status != PARAPET_OK)
        status = pp_fail_within(status, "what an append that was interrupted has left cannot be put right");
    pp_append_pairs_clear(&work.growing);
    pp_node_locks_release(work.holds, work.hold_count);
    pp_free(work.holds);
    pp_change_clear(&work.change);
    return status;
}

/* ---- Without a source ---- */

/* [collective] */
static parapet_status repair_above(const pp_append *append, parapet_repair *repair)
{
    parapet_store *store = append->request->target;
    pp_reconsolidate around = {0};
    parapet_status status = pp_reconsolidate_find(&around, store, append->target_root);
    if (status == PARAPET_OK)
        status = pp_reconsolidate_restore(&around, store, "an interrupted append was put right",
                                          pp_append_repair_target(append, repair));
    pp_reconsolidate_clear(&around);
    return status;
}

/* [collective] Rank 0 may trim for long. */
static parapet_status repair_held(pp_append *append, parapet_repair *repair)
{
    parapet_store *store = append->request->target;
    parapet_status status;
    pp_store_suspend_deadline(store);
    if ((status = pp_append_hold_group(append)) == PARAPET_OK)
        status = repair_above(append, repair);
    pp_node_locks_release(&append->group_hold, 1);
    pp_store_resume_deadline(store);
    return status;
}

parapet_status pp_append_repair_group(parapet_store *store, const char *group, parapet_repair *repair)
{
    parapet_copy_request request = {.target = store};
    pp_append append = {.request = &request, .changes = true};
    parapet_status status =
        pp_comm_agree(pp_store_comm(store), "repairing", pp_text_duplicate(&append.target_root, group));
    *repair = PARAPET_REPAIR_NONE;
    if (status == PARAPET_OK)
        status = repair_held(&append, repair);
    pp_free(append.target_root);
    return status;
}
