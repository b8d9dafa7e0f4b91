/* append_steps.c - how an append becomes visible, step by step: see append.h. */
#include "copy/append_steps.h"

#include <stdlib.h>
#include <string.h>

#include "array/ancestors.h"
#include "array/array.h"
#include "array/node.h"
#include "array/node_path.h"
#include "array/part_calls.h"
#include "array/reconsolidate.h"
#include "array/resize.h"
#include "array/state.h"
#include "array/store_queries.h"
#include "array/stored_document.h"
#include "copy/append_move.h"
#include "copy/append_ranks.h"
#include "copy/append_task.h"
#include "copy/consolidated.h"

pp_announcement pp_append_place(const pp_append *append)
{
    return (pp_announcement){
        .store = append->request->target, .group = append->target_root, .lock = &append->group_hold};
}

/* ---- What is about to happen ---- */

static bool has_group(const pp_change *change, const char *path)
{
    int i = 0;
    while (i < change->group_count && strcmp(change->groups[i], path) != 0)
        i++;
    return i < change->group_count;
}

/* The groups around an array that are not listed yet, the innermost first. */
static parapet_status add_groups(pp_change *change, const char *name)
{
    char *path = NULL, *slash;
    parapet_status status = pp_text_duplicate(&path, name);
    while (status == PARAPET_OK && path[0] != '\0') {
        slash = strrchr(path, '/');
        *(slash != NULL ? slash : path) = '\0';
        if (!has_group(change, path))
            status = pp_change_add_group(change, path);
    }
    pp_free(path);
    return status;
}

static int compare_depth(const void *a, const void *b)
{
    size_t left = strlen(*(char *const *)a), right = strlen(*(char *const *)b);
    return (left < right) - (left > right);
}

/* The path of a group below the target; "" is the target itself. */
static parapet_status find_group(const pp_append *append, const char *group, char **path)
{
    return group[0] != '\0' ? pp_path_join(append->target_root, group, path)
                            : pp_text_duplicate(path, append->target_root);
}

/* [collective] Whether the group has consolidated metadata. */
static parapet_status look_at_group(const pp_append *append, const char *path, int64_t *is_there)
{
    parapet_store *store = append->request->target;
    parapet_group *group = NULL;
    bool has = false;
    parapet_status status = parapet_group_open(&group, store, path);
    if (status != PARAPET_OK)
        return status;
    if (pp_append_leads(append))
        status = pp_copy_consolidated_is_there(store, group, path, &has);
    *is_there = has || !pp_append_leads(append);
    (void)parapet_group_close(&group);
    return pp_comm_agree_min(pp_append_comm(append), "looking at groups", status, is_there);
}

/* [collective] Keeps those that have consolidated metadata. */
static parapet_status keep_consolidated(pp_append *append)
{
    pp_change *change = &append->change;
    int i, kept = 0;
    parapet_status status = PARAPET_OK;
    for (i = 0; i < change->group_count && status == PARAPET_OK; i++) {
        char *path = NULL, *group = change->groups[i];
        int64_t is_there = 0;
        status = pp_comm_agree(pp_append_comm(append), "looking at groups", find_group(append, group, &path));
        if (status == PARAPET_OK && (status = look_at_group(append, path, &is_there)) == PARAPET_OK && is_there) {
            change->groups[i] = change->groups[kept];
            change->groups[kept++] = group;
        }
        pp_free(path);
    }
    while (status == PARAPET_OK && change->group_count > kept)
        pp_free(change->groups[--change->group_count]);
    return status;
}

static parapet_status add_array(pp_append *append, int array)
{
    unsigned char digest[PP_SHA256_BYTES];
    const char *name = append->growing.names[array];
    parapet_status status = pp_array_digest_extended(append->growing.targets[array], append->change.after, digest);
    if (status == PARAPET_OK && (status = pp_change_add_array(&append->change, name, digest)) == PARAPET_OK)
        status = add_groups(&append->change, name);
    return status;
}

static parapet_status fill_change(pp_append *append)
{
    pp_change *change = &append->change;
    parapet_status status =
        pp_change_begin(change, append->dimension, append->before, append->before + append->added);
    int i;
    for (i = 0; i < append->growing.count && status == PARAPET_OK; i++)
        status = add_array(append, i);
    if (status == PARAPET_OK)
        qsort(change->groups, (size_t)change->group_count, sizeof change->groups[0], compare_depth);
    return status;
}

/* [collective] */
static parapet_status prepare(pp_append *append)
{
    parapet_status status = pp_comm_agree(pp_append_comm(append), "appending", fill_change(append));
    return status == PARAPET_OK ? keep_consolidated(append) : status;
}

/* ---- Steps; on rank 0 ---- */

static parapet_status make_continuable(void *subject, const void *argument)
{
    pp_append *append = subject;
    parapet_status status = PARAPET_OK;
    int i;
    (void)argument;
    for (i = 0; i < append->growing.count && status == PARAPET_OK; i++)
        status = pp_array_make_continuable(append->growing.targets[i], append->change.before);
    return status;
}

static parapet_status print_states(void *subject, pp_text *bytes)
{
    const pp_append *append = subject;
    return pp_array_states_print(append->growing.targets, append->growing.count, bytes);
}

static parapet_status adopt_states(void *subject, pp_cursor *bytes)
{
    const pp_append *append = subject;
    return pp_array_states_adopt(append->growing.targets, append->growing.count, bytes);
}

/* Whether this job still has the array, and the group, for itself. */
static parapet_status prove(const pp_append *append, int array)
{
    parapet_status status = pp_node_lock_prove(&append->group_hold);
    return status == PARAPET_OK ? pp_node_lock_prove(&append->holds[array]) : status;
}

static parapet_status lengthen(const pp_append *append, int array)
{
    parapet_array *target = append->growing.targets[array];
    parapet_status status;
    if ((status = prove(append, array)) != PARAPET_OK ||
        (status = pp_array_set_extent(target, append->change.after)) != PARAPET_OK)
        return status;
    return pp_array_write_document(target, PP_PUBLISH_REPLACE);
}

/* All elements are durable: a disk that is full was met before (invariants 5 and 6 of docs/design/change.md). */
static parapet_status publish(const pp_append *append)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < append->growing.count - 1 && status == PARAPET_OK; i++)
        status = lengthen(append, i);
    return status == PARAPET_OK ? pp_store_sync_dirs(pp_store_backend(append->request->target)) : status;
}

/* All other documents are durable (invariant 5 of docs/design/change.md): from here on there is no way back. */
static parapet_status decide(pp_append *append)
{
    parapet_status status = lengthen(append, append->growing.count - 1);
    return status == PARAPET_OK ? pp_store_sync_dirs(pp_store_backend(append->request->target)) : status;
}

/* What was written goes, and documents that told of it tell the old length. An array that is still sealed was not
 * written to. */
static parapet_status trim(const pp_append *append, bool *is_changed)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < append->growing.count && status == PARAPET_OK; i++) {
        parapet_array *array = append->growing.targets[i];
        if (pp_array_is_sealed(array))
            continue;
        *is_changed = true;
        if ((status = prove(append, i)) == PARAPET_OK &&
            (status = pp_array_make_continuable(array, append->change.before)) == PARAPET_OK)
            status = pp_array_trim_beyond(array, append->change.before);
    }
    return status;
}

/* ---- Consolidated metadata ---- */

static parapet_status drop_consolidated(const pp_append *append, const char *path)
{
    parapet_store *store = append->request->target;
    pp_edit edit;
    parapet_status status = pp_edit_begin(&edit, store, path);
    if (status != PARAPET_OK)
        return status;
    status = pp_ancestors_drop_consolidated_with(store, path);
    pp_edit_end(&edit);
    return status;
}

/* [collective] What is not renewed goes, so that nobody is shown the old length for ever. */
static parapet_status renew_group(const pp_append *append, const char *group, const char *done)
{
    pp_comm *comm = pp_append_comm(append);
    pp_failure failure = {0};
    char *path = NULL;
    parapet_status status = pp_comm_agree(comm, "consolidating", find_group(append, group, &path));
    if (status == PARAPET_OK &&
        (status = pp_group_consolidate_appended_at(append->request->target, path)) != PARAPET_OK &&
        status != PARAPET_ERR_NOT_FOUND && !pp_comm_is_lost(comm)) {
        pp_failure_take(&failure, pp_reconsolidate_fail(status, done, path));
        (void)pp_comm_agree(comm, "consolidating",
                            pp_append_leads(append) ? drop_consolidated(append, path) : PARAPET_OK);
        status = pp_failure_put(&failure);
    }
    pp_free(path);
    return pp_accept_absence(status); /* somebody has removed the group */
}

/* [collective] Of the groups around the target it is taken away: those who called renew it. */
static parapet_status renew(const pp_append *append, const char *done)
{
    pp_failure failure = {0};
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < append->change.group_count && !pp_comm_is_lost(pp_append_comm(append)); i++)
        pp_failure_take(&failure, renew_group(append, append->change.groups[i], done));
    if (append->change.group_count == 0)
        status = pp_comm_agree(pp_append_comm(append), "consolidating",
                               pp_append_leads(append) ? drop_consolidated(append, append->target_root) : PARAPET_OK);
    return status == PARAPET_OK ? pp_failure_put(&failure) : status;
}

/* Whether metadata cannot be consolidated as long as the hierarchy is as it is. Else the record stays, and the next
 * append tries again. */
static bool is_final(parapet_status status)
{
    return status == PARAPET_ERR_FORMAT || status == PARAPET_ERR_UNSUPPORTED;
}

/* [collective] */
static parapet_status end(const pp_append *append)
{
    pp_announcement place = pp_append_place(append);
    return pp_comm_agree(pp_append_comm(append), "appending",
                         pp_append_leads(append) ? pp_announcement_end(&place, &append->change) : PARAPET_OK);
}

/* [collective] The last two steps, forward and back. */
static parapet_status renew_and_end(const pp_append *append, const char *done)
{
    pp_failure failure = {0};
    pp_failure_take(&failure, renew(append, done));
    if (failure.status == PARAPET_OK || (is_final(failure.status) && !pp_comm_is_lost(pp_append_comm(append))))
        pp_failure_take(&failure, end(append));
    return pp_failure_put(&failure);
}

parapet_status pp_append_finish(pp_append *append)
{
    append->is_published = true;
    return renew_and_end(append, "the source was appended");
}

parapet_status pp_append_undo(const pp_append *append)
{
    int64_t is_same = 1;
    bool is_changed = append->has_begun;
    parapet_status status = pp_append_leads(append) ? trim(append, &is_changed) : PARAPET_OK;
    if (pp_append_leads(append))
        is_same = !is_changed;
    if ((status = pp_comm_agree_min(pp_append_comm(append), "undoing", status, &is_same)) != PARAPET_OK)
        return status;
    return is_same ? end(append) : renew_and_end(append, "what was appended in part is removed");
}

/* ---- An append ---- */

static bool has_seals(const pp_append *append)
{
    int i = 0;
    while (i < append->growing.count && !pp_array_is_sealed(append->growing.targets[i]))
        i++;
    return i < append->growing.count;
}

/* [collective] */
static parapet_status write_elements(pp_append *append)
{
    pp_rank0_task task = {.subject = append, .work = make_continuable, .print = print_states, .adopt = adopt_states};
    parapet_status status;
    int i;
    append->has_begun = true;
    status = pp_rank0_do(pp_append_comm(append), "appending", &task);
    for (i = 0; i < append->growing.count && status == PARAPET_OK; i++)
        status = pp_array_set_extent(append->growing.targets[i], append->change.after);
    status = pp_comm_agree(pp_append_comm(append), "appending", status);
    return status == PARAPET_OK ? pp_append_move(append) : status;
}

/* [collective] As it was before, but for seals; the record stays if that cannot be done (invariant 6 of
 * docs/design/change.md). */
static parapet_status give_up(const pp_append *append, parapet_status status, bool had_seals)
{
    pp_failure failure = {0};
    if (had_seals)
        status = pp_fail_within(status, "nothing was appended, but arrays of the target may have lost their seals");
    pp_failure_take(&failure, status);
    if (!pp_comm_is_lost(pp_append_comm(append)) && pp_append_undo(append) != PARAPET_OK) {
        status = pp_failure_put(&failure);
        return pp_fail_within(status, "parapet gc, or the next append, removes what is left of this one");
    }
    return pp_failure_put(&failure);
}

/* [collective] Nothing but the record was written, perhaps. */
static parapet_status give_up_announcing(const pp_append *append, parapet_status status)
{
    pp_failure failure = {0};
    pp_failure_take(&failure, status);
    if (!pp_comm_is_lost(pp_append_comm(append)))
        (void)end(append);
    return pp_failure_put(&failure);
}

/* Whatever a crash leaves from the first element on can be told from other things, because the record is durable
 * (invariant 2 of docs/design/change.md). */
parapet_status pp_append_transact(pp_append *append)
{
    pp_comm *comm = pp_append_comm(append);
    pp_announcement place = pp_append_place(append);
    bool had_seals = has_seals(append);
    parapet_status status = prepare(append);
    if (status != PARAPET_OK)
        return status;
    status = pp_comm_agree(comm, "appending",
                           pp_append_leads(append) ? pp_announcement_publish(&place, &append->change) : PARAPET_OK);
    if (status != PARAPET_OK)
        return give_up_announcing(append, status);
    if ((status = write_elements(append)) == PARAPET_OK)
        status = pp_comm_agree(comm, "publishing", pp_append_leads(append) ? publish(append) : PARAPET_OK);
    if (status != PARAPET_OK)
        return give_up(append, status, had_seals);
    status = pp_comm_agree(comm, "publishing", pp_append_leads(append) ? decide(append) : PARAPET_OK);
    if (status != PARAPET_OK)
        return pp_fail_within(status, "the source may have been appended or not; append it again, which finds out");
    return pp_append_finish(append);
}
