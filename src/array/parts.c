/* parts.c - reading and writing parts of arrays, one array or many as one transfer. */
#include "array/parts.h"

#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/array_handle.h"
#include "array/attributes.h"
#include "array/epochs.h"
#include "array/hold.h"
#include "array/refresh.h"
#include "array/resize.h"
#include "array/seal.h"
#include "array/state.h"
#include "array/store.h"
#include "base/reserved.h"
#include "transfer/indices.h"
#include "transfer/kept.h"
#include "transfer/memory.h"
#include "transfer/settle.h"

/* What the arrays of a call have become for the transfer. */
typedef struct batch {
    parapet_store *store;
    const parapet_array_parts *list;
    int count;
    const int64_t *step; /* NULL: the parts have all dimensions; else their index in the first, which they lack */
    const pp_index_list *listed; /* NULL: parts; else what the one array has instead */
    pp_indices indices;          /* the same, when it has been checked */
    pp_parts *parts;
    pp_transfer_context *contexts;
    pp_transfer_array *arrays;
    pp_direction direction;
    pp_team team;
    bool flushes;        /* what is delayed is written, and nothing else */
    bool is_flushed;     /* all of it but what is left out */
    pp_failure left_out; /* why some of that is not */
    const char **paths;  /* of those arrays that others know of, which are held while they are written */
    int path_count;
    pp_hold *holds;
    bool leads_alone; /* nobody but rank 0 publishes anything */
    pp_turn turn;     /* of a public function */
} batch;

static void clear_batch(batch *all)
{
    if (all->team.kept != NULL)
        pp_kept_choose(all->team.kept, 0);
    pp_holds_release(all->holds, all->path_count);
    pp_free(all->holds);
    pp_free(all->paths);
    pp_free(all->parts);
    pp_free(all->contexts);
    pp_free(all->arrays);
    pp_turn_end(&all->turn);
}

static parapet_status build_batch(batch *all)
{
    parapet_status status;
    size_t count = (size_t)all->count;
    if ((status = pp_allocate_array(&all->parts, count, sizeof all->parts[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&all->contexts, count, sizeof all->contexts[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&all->paths, count, sizeof all->paths[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&all->holds, count, sizeof all->holds[0])) != PARAPET_OK)
        return status;
    return pp_allocate_array(&all->arrays, count, sizeof all->arrays[0]);
}

static parapet_status check_listed(const batch *all, int i)
{
    parapet_array *array = all->list[i].array;
    parapet_status status = PP_RESERVED_CHECK(parapet_array_parts, &all->list[i]);
    int j;
    if (status != PARAPET_OK)
        return pp_fail_within(status, "entry %d of the list", i);
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "entry %d of the list has no array", i);
    if (array->store != all->store)
        return pp_fail(PARAPET_ERR_ARGUMENT, "arrays \"%s\" and \"%s\" belong to different stores", array->path,
                       all->list[0].array->path);
    for (j = 0; j < i; j++)
        if (all->list[j].array == array)
            return pp_fail(PARAPET_ERR_ARGUMENT, "array \"%s\" is in the list twice", array->path);
    return PARAPET_OK;
}

static parapet_status take_parts(batch *all, int i)
{
    const parapet_array_parts *entry = &all->list[i];
    const pp_layout *layout = &entry->array->layout;
    parapet_type type = entry->array->document.type.id;
    if (all->listed != NULL)
        return pp_index_list_check(all->listed, entry->array, &all->indices);
    if (all->step == NULL)
        return pp_parts_init(&all->parts[i], entry->parts, entry->part_count, layout, type);
    return pp_parts_init_step(&all->parts[i], entry->parts, entry->part_count, layout, type, *all->step);
}

/* Only what is read and written here goes through the cache: who verifies or seals wants to know what is stored, and
 * the arrays of series and checkpoints are written once. */
static parapet_status find_context(batch *all, int i)
{
    parapet_array *array = all->list[i].array;
    pp_transfer_context *context = &all->contexts[i];
    parapet_status status = pp_array_transfer_context(array, context);
    if (status != PARAPET_OK)
        return status;
    context->cache = array->is_apart ? NULL : all->store->cache;
    context->delayed = array->is_apart ? NULL : all->store->delayed;
    context->cache_array = array->cache_number;
    return pp_epochs_place(array, all->direction, context);
}

static void list_array(batch *all, int i)
{
    all->arrays[i] = (pp_transfer_array){
        .context = &all->contexts[i], .parts = &all->parts[i], .notes = &all->list[i].array->notes};
}

/* Everything about the call that this rank can find wrong by itself. */
static parapet_status check_batch(batch *all)
{
    parapet_status status = build_batch(all);
    int i;
    for (i = 0; i < all->count && status == PARAPET_OK; i++) {
        parapet_array *array = all->list[i].array;
        if ((status = check_listed(all, i)) == PARAPET_OK &&
            (status = all->direction == PP_WRITING ? pp_array_check_writable(array) : pp_array_check_usable(array)) ==
                PARAPET_OK &&
            (status = find_context(all, i)) == PARAPET_OK)
            status = take_parts(all, i);
        if (status == PARAPET_OK)
            list_array(all, i);
    }
    return status;
}

static void name_call(const batch *all, pp_call *call)
{
    const char *verb = all->direction == PP_WRITING ? "write" : "read";
    int i;
    if (all->listed != NULL)
        pp_call_init(call, "%s_%s(%s)", verb, pp_index_list_words(all->listed), all->list[0].array->path);
    else if (all->count == 1)
        pp_call_init(call, "%s(%s)", verb, all->list[0].array->path);
    else
        pp_call_init(call, "%s(%s and %d more)", verb, all->list[0].array->path, all->count - 1);
    for (i = 0; i < all->count; i++)
        pp_call_add_element(call, "list", i, all->list[i].array != NULL ? all->list[i].array->path : NULL);
}

static parapet_status list_arrays(batch *all)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < all->count && status == PARAPET_OK; i++) {
        status = find_context(all, i);
        list_array(all, i);
    }
    return status;
}

/* ---- Beside other jobs ---- */

static pp_hold_wish wish_of(const batch *all, pp_lock_mode mode)
{
    return (pp_hold_wish){
        .store = all->store, .paths = all->paths, .count = all->path_count, .mode = mode, .purpose = "writing"};
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In order, so that equal ones are neighbours. */
static void list_paths(batch *all)
{
    int i;
    for (i = 0; i < all->count; i++)
        if (!all->list[i].array->is_apart)
            all->paths[all->path_count++] = all->list[i].array->path;
    if (all->path_count > 1)
        qsort(all->paths, (size_t)all->path_count, sizeof all->paths[0], compare_paths);
}

/* Two handles of one array would replace each other's shards. */
static parapet_status check_distinct(const batch *all)
{
    int i;
    for (i = 1; i < all->path_count; i++)
        if (strcmp(all->paths[i - 1], all->paths[i]) == 0)
            return pp_fail(PARAPET_ERR_ARGUMENT, "array \"%s\" is in the list twice", all->paths[i]);
    return PARAPET_OK;
}

/* Completes what a crash left undone, first of all. A seal that is in force stays until the new shards are staged. */
static bool must_change_first(const parapet_array *array)
{
    return !array->is_sealed && (array->has_head || array->is_mark_ignored ||
                                 pp_json_has(array->document.attributes, PP_RESERVED_ATTRIBUTE));
}

/* Rank 0: shares the arrays with others that write, and looks whether they can be written as they are. */
static parapet_status share_arrays(batch *all, bool may_wait, int64_t *is_ready)
{
    pp_hold_wish wish = wish_of(all, PP_LOCK_SHARED);
    parapet_status status = (may_wait ? pp_holds_take : pp_holds_try)(all->holds, &wish);
    int i;
    for (i = 0; i < all->count && status == PARAPET_OK; i++) {
        parapet_array *array = all->list[i].array;
        bool is_aged = false;
        if (!array->is_apart)
            status = pp_array_look(array, &is_aged);
        if (is_aged || must_change_first(array))
            *is_ready = 0;
    }
    return status;
}

/* A flush writes what there is still room for, and then tells: see flush_batch. */
static parapet_status make_ready(parapet_array *array, bool flushes)
{
    pp_array_document before = array->document; /* its shape only */
    parapet_status status = array->is_apart ? PARAPET_OK : pp_array_refresh(array);
    int d;
    for (d = 0; d < before.ndim && status == PARAPET_OK && !flushes; d++)
        if (array->document.shape[d] < before.shape[d])
            status =
                pp_fail(PARAPET_ERR_STALE, "another job has made it smaller since it was opened; close it and open "
                                           "it again");
    return status == PARAPET_OK && must_change_first(array) ? pp_array_make_changeable(array) : status;
}

/* Rank 0: has the arrays alone for what must be changed first, then shares them. */
static parapet_status ready_arrays(void *subject, const void *argument)
{
    batch *all = subject;
    pp_hold_wish wish = wish_of(all, PP_LOCK_EXCLUSIVE);
    parapet_status status;
    int i;
    (void)argument;
    pp_holds_release(all->holds, all->path_count);
    status = pp_holds_take(all->holds, &wish);
    for (i = 0; i < all->count && status == PARAPET_OK; i++)
        if ((status = make_ready(all->list[i].array, all->flushes)) != PARAPET_OK && i > 0)
            status = pp_fail_within(status, "array \"%s\"", all->list[i].array->path);
    return status == PARAPET_OK ? pp_holds_share(all->holds, all->path_count) : status;
}

static parapet_status print_states(void *subject, pp_text *bytes)
{
    const batch *all = subject;
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < all->count && status == PARAPET_OK; i++)
        status = pp_array_state_print(all->list[i].array, bytes);
    return status;
}

static parapet_status adopt_states(void *subject, pp_cursor *bytes)
{
    const batch *all = subject;
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < all->count && status == PARAPET_OK; i++)
        status = pp_array_state_adopt(all->list[i].array, bytes);
    return status;
}

static void mark_broken(void *subject)
{
    const batch *all = subject;
    int i;
    for (i = 0; i < all->count; i++)
        all->list[i].array->is_broken = true;
}

static void close_guards(const batch *all)
{
    int i;
    for (i = 0; i < all->count; i++)
        pp_guards_close(&all->list[i].array, 1);
}

static void open_guards(const batch *all)
{
    int i;
    for (i = 0; i < all->count; i++)
        pp_guards_open(&all->list[i].array, 1);
}

/* Then this rank may know less of it than others do. */
static bool has_broken(const batch *all)
{
    int i;
    for (i = 0; i < all->count; i++)
        if (all->list[i].array->is_broken)
            return true;
    return false;
}

/* [collective] From here on nobody else changes the arrays otherwise than by writing parts, and the handles are what
 * is stored. Where the beginning of the call has not done it already. */
static parapet_status hold_guarded(batch *all, parapet_status mine)
{
    pp_rank0_task task = {.subject = all,
                          .work = ready_arrays,
                          .print = print_states,
                          .adopt = adopt_states,
                          .mark_broken = mark_broken};
    pp_comm *comm = all->store->comm;
    int64_t is_ready = mine == PARAPET_OK && !has_broken(all);
    parapet_status status = mine;
    if (status == PARAPET_OK && pp_comm_rank(comm) == 0)
        status = share_arrays(all, true, &is_ready);
    if ((status = pp_comm_agree_least(comm, "locking", status, &is_ready)) != PARAPET_OK || is_ready)
        return status;
    return pp_rank0_do(comm, "locking", &task);
}

static parapet_status hold_batch(batch *all, parapet_status mine)
{
    parapet_status status;
    close_guards(all);
    status = hold_guarded(all, mine);
    open_guards(all);
    return status;
}

/* ---- Sealed arrays: what is kept of old shards is what was sealed ---- */

/* The same on all ranks. */
static int count_sealed(const batch *all)
{
    int i, count = 0;
    for (i = 0; i < all->count; i++)
        count += all->list[i].array->is_sealed;
    return count;
}

/* [collective] Rank 0 changes the handles, which no local read uses meanwhile, and tells the others. */
static parapet_status change_handles(batch *all, const char *phase, pp_rank0_work work)
{
    pp_rank0_task task = {
        .subject = all, .work = work, .print = print_states, .adopt = adopt_states, .mark_broken = mark_broken};
    parapet_status status;
    close_guards(all);
    if ((status = pp_comm_agree(all->store->comm, phase, PARAPET_OK)) == PARAPET_OK)
        status = pp_rank0_do(all->store->comm, phase, &task);
    open_guards(all);
    return status;
}

static parapet_status break_seals(void *subject, const void *argument)
{
    batch *all = subject;
    parapet_status status = PARAPET_OK;
    int i;
    (void)argument;
    for (i = 0; i < all->path_count && status == PARAPET_OK; i++)
        status = pp_hold_prove(&all->holds[i]);
    for (i = 0; i < all->count && status == PARAPET_OK; i++)
        if (all->list[i].array->is_sealed && (status = pp_seal_break_shared(all->list[i].array)) != PARAPET_OK &&
            i > 0)
            status = pp_fail_within(status, "array \"%s\"", all->list[i].array->path);
    return status;
}

static parapet_status refresh_sealed(void *subject, const void *argument)
{
    const batch *all = subject;
    parapet_status status = PARAPET_OK;
    int i;
    (void)argument;
    for (i = 0; i < all->count && status == PARAPET_OK; i++)
        if (all->list[i].array->is_sealed && !all->list[i].array->is_apart)
            status = pp_array_refresh(all->list[i].array);
    return status;
}

/* [collective] Staging has failed. Where another job that writes has taken a seal off meanwhile, its pages are gone
 * and its shards are not those that were sealed: that is no damage, and staging begins again without the seal. */
static parapet_status look_for_broken_seals(batch *all, parapet_status failed, bool *is_again)
{
    pp_failure failure = {0};
    int sealed = count_sealed(all);
    parapet_status status;
    *is_again = false;
    if (sealed == 0 || failed == PARAPET_OK || pp_comm_is_lost(all->store->comm) ||
        !pp_array_is_worth_looking(failed))
        return failed;
    pp_failure_take(&failure, failed);
    status = change_handles(all, "looking again", refresh_sealed);
    *is_again = status == PARAPET_OK && count_sealed(all) < sealed;
    return *is_again || status == PARAPET_ERR_STALE ? status : pp_failure_put(&failure);
}

/* Rank 0: as a rule nobody else has the arrays and they are as the handles know them; then all ranks learn of it
 * where the call begins. Otherwise nothing is held, and they are told to see to it together. */
static parapet_status hold_at_once(batch *all, int64_t *is_held)
{
    parapet_status status = share_arrays(all, false, is_held);
    if (status == PARAPET_ERR_BUSY)
        *is_held = 0;
    if (status != PARAPET_OK || !*is_held)
        pp_holds_release(all->holds, all->path_count);
    return status == PARAPET_ERR_BUSY ? PARAPET_OK : status;
}

static void choose_team(batch *all)
{
    all->team = pp_store_team(all->store, all->direction);
    all->team.kept = all->store->kept;
}

/* Which of the descriptions that this rank keeps fit its parts. */
static uint64_t find_kept(batch *all, parapet_status status)
{
    if (all->team.kept == NULL || status != PARAPET_OK)
        return 0;
    return pp_kept_find(all->team.kept, &all->team, all->arrays, all->count);
}

/* What ranks say where a call begins; the least counts. */
enum { BEGINS_UNHELD, BEGINS_WITH_SPEEDS, BEGINS_AT_ONCE };

/* And, beside the descriptions that all of them keep: there is room for what is delayed. */
#define HAS_ROOM (UINT64_C(1) << 63)

static uint64_t find_room(const batch *all)
{
    return all->direction == PP_WRITING && pp_delayed_is_crowded(all->store->delayed) ? 0 : HAS_ROOM;
}

/* [collective] What all ranks have found out where the call began. */
static parapet_status begin_with_others(const batch *all, int64_t least, uint64_t common)
{
    if (all->team.kept != NULL)
        pp_kept_choose(all->team.kept, least == BEGINS_AT_ONCE ? common & ~HAS_ROOM : 0);
    if (least != BEGINS_WITH_SPEEDS)
        return PARAPET_OK;
    return pp_epochs_renew(all->store, all->direction, all->list, all->count);
}

/* Another handle of an array of the call; it may be in the list as well. */
static bool is_twin(const parapet_array *array, const void *context)
{
    const batch *all = context;
    int i;
    for (i = 0; i < all->count; i++)
        if (all->list[i].array != array && strcmp(all->list[i].array->path, array->path) == 0)
            return true;
    return false;
}

static parapet_status flush_chosen(parapet_store *store, const pp_unflushed_choice *choice, bool all);

/* Whether more was delayed of an array than it has room for now, which is told until it is closed. */
static parapet_status check_uncut(const batch *all)
{
    int i;
    for (i = 0; i < all->count; i++)
        if (all->list[i].array->is_cut)
            return pp_fail(
                PARAPET_ERR_STALE,
                "another job has made array \"%s\" smaller, and what was not flushed of the shards that it "
                "has cut is lost; close it and open it again",
                all->list[i].array->path);
    return PARAPET_OK;
}

/* [collective] Flushes what must be flushed before the call, for which the arrays are held in turn: other handles of
 * the same arrays; and, if a server has no room for such a call as the last one, the oldest of what it has. That may
 * fail: then this call finds no room, and writes at once. */
static parapet_status flush_before(batch *all, bool needs_room, int64_t *is_held)
{
    parapet_store *store = all->store;
    pp_unflushed_choice twins = {.has = is_twin, .context = all};
    parapet_status status;
    if ((!needs_room || store->unflushed.count == 0) && pp_unflushed_list(&store->unflushed, &twins, NULL) == 0)
        return PARAPET_OK;
    if (all->team.kept != NULL)
        pp_kept_choose(all->team.kept, 0);
    pp_holds_release(all->holds, all->path_count);
    *is_held = 0;
    if ((status = flush_chosen(store, &twins, true)) == PARAPET_OK && needs_room)
        (void)flush_chosen(store, &(pp_unflushed_choice){0}, false);
    return status == PARAPET_OK ? check_uncut(all) : status; /* its parts were those of a larger array */
}

/* [collective] Starts the call: all ranks bring the same arrays, and none has a reason to refuse. Where arrays have
 * to be held first, speeds wait for the next call. */
static parapet_status begin_batch(batch *all, int64_t *is_held)
{
    pp_call call;
    int64_t least;
    uint64_t common;
    parapet_status status = check_batch(all);
    name_call(all, &call);
    if (status == PARAPET_OK && all->direction == PP_WRITING) {
        list_paths(all);
        if ((status = check_distinct(all)) == PARAPET_OK)
            status = pp_unflushed_reserve(&all->store->unflushed, all->count);
    }
    if (status == PARAPET_OK && all->direction == PP_WRITING) {
        if (pp_comm_rank(all->store->comm) == 0)
            status = hold_at_once(all, is_held);
    }
    least = !*is_held                                        ? BEGINS_UNHELD
            : pp_epochs_has_left(all->store, all->direction) ? BEGINS_WITH_SPEEDS
                                                             : BEGINS_AT_ONCE;
    common = find_kept(all, status) | find_room(all);
    if ((status = pp_comm_begin_with(all->store->comm, &call, status, &least, &common)) != PARAPET_OK)
        return status;
    *is_held = least != BEGINS_UNHELD;
    if ((status = begin_with_others(all, least, common)) != PARAPET_OK)
        return status;
    return flush_before(all, (common & HAS_ROOM) == 0, is_held);
}

/* What was published, for the seal. */
static void note_batch(const batch *all, pp_staged *staged)
{
    size_t i;
    int k;
    for (k = 0; k < all->count; k++)
        pp_shard_notes_begin(&all->list[k].array->notes);
    for (i = 0; i < staged->count; i++) {
        pp_staged_note *note = &staged->notes[i];
        bool is_known = note->record.bytes != PP_SHARD_ABSENT;
        pp_shard_notes_add(&all->list[note->target].array->notes, note->shard, is_known ? &note->record : NULL,
                           staged->writers[i]->version);
    }
    for (k = 0; k < all->count; k++)
        pp_shard_notes_end(&all->list[k].array->notes);
}

/* [collective] What failed to become visible may be visible in part. */
static parapet_status publish_batch(const batch *all, pp_staged *staged)
{
    pp_comm *comm = all->store->comm;
    parapet_status status =
        all->leads_alone ? pp_staged_publish(&all->contexts[0], staged)
                         : pp_settle_together(comm, all->store->backend, pp_staged_show(&all->contexts[0], staged));
    int i;
    if ((status = pp_settle_agree(comm, all->store->backend, "publishing", status)) == PARAPET_OK) {
        note_batch(all, staged);
        pp_staged_keep(all->contexts, staged);
    }
    if (status != PARAPET_OK)
        pp_staged_adjust(all->contexts, staged);
    for (i = 0; i < all->count && status != PARAPET_OK; i++)
        all->list[i].array->is_broken |= !all->flushes;
    return status;
}

/* A rank other than 0: shows that it is publishing, of the arrays of which it has shards and of no others. */
static parapet_status join_publishing(batch *all, const pp_staged *staged)
{
    pp_hold_wish wish;
    bool *publishes = NULL;
    parapet_status status = pp_allocate_array(&publishes, (size_t)all->count, sizeof publishes[0]);
    size_t k;
    int i;
    if (status != PARAPET_OK)
        return status;
    for (k = 0; k < staged->count; k++)
        publishes[staged->notes[k].target] = true;
    all->path_count = 0;
    for (i = 0; i < all->count; i++)
        if (publishes[i] && !all->list[i].array->is_apart)
            all->paths[all->path_count++] = all->list[i].array->path;
    pp_free(publishes);
    wish = wish_of(all, PP_LOCK_SHARED);
    return pp_holds_join_publishing(all->holds, &wish);
}

/* [collective] Shards are published while nobody else publishes any, and only in place of those that they were built
 * from. Rank 0 first; if others have any, they then show that they are publishing for it. */
static parapet_status enter_publishing(batch *all, const pp_staged *staged)
{
    pp_comm *comm = all->store->comm;
    pp_hold_wish wish = wish_of(all, PP_LOCK_SHARED);
    bool leads = pp_comm_rank(comm) == 0;
    int64_t is_entered = leads || staged->count == 0;
    parapet_status status = PARAPET_OK;
    if (leads && (status = pp_holds_begin_publishing(all->holds, &wish)) == PARAPET_OK)
        status = pp_staged_check(all->contexts, staged);
    status = pp_comm_agree_least(comm, "publishing", status, &is_entered);
    all->leads_alone = is_entered != 0;
    if (status != PARAPET_OK || is_entered)
        return status;
    if (!leads && staged->count > 0 && (status = join_publishing(all, staged)) == PARAPET_OK)
        status = pp_staged_check(all->contexts, staged);
    return pp_comm_agree(comm, "entering", status);
}

/* [collective] A rank that ran out of patience while others staged may have changed its data since: it will not be
 * here, and nothing is published. */
static parapet_status check_presence(const parapet_store *store)
{
    return store->options.deadline_seconds > 0 ? pp_comm_agree(store->comm, "staged", PARAPET_OK) : PARAPET_OK;
}

/* [collective] Where all of it is left for later, there is nothing to publish. */
static parapet_status keep_delayed(const batch *all, pp_staged *staged, int64_t *is_all)
{
    parapet_status status;
    *is_all = all->store->delayed != NULL && staged->count == 0;
    if (all->store->delayed == NULL)
        return PARAPET_OK;
    if ((status = pp_comm_agree_least(all->store->comm, "staged", PARAPET_OK, is_all)) == PARAPET_OK && *is_all)
        pp_staged_keep(all->contexts, staged);
    return status;
}

static parapet_status publish_staged(batch *all, pp_staged *staged)
{
    int64_t is_kept;
    parapet_status status = keep_delayed(all, staged, &is_kept);
    if (status != PARAPET_OK || is_kept)
        return status;
    status = all->path_count > 0 ? enter_publishing(all, staged) : check_presence(all->store);
    return status == PARAPET_OK ? publish_batch(all, staged) : status;
}

/* Whatever may have gone wrong, it is not answered from the cache. */
static void forget_batch(const batch *all)
{
    int i;
    for (i = 0; i < all->count; i++)
        if (all->list[i].array != NULL)
            pp_cache_forget(all->store->cache, all->list[i].array->cache_number);
}

/* [collective] */
static parapet_status stage_delayed(batch *all, pp_staged *staged)
{
    pp_failure failure = {0};
    size_t known = 0;
    int i;
    all->left_out = (pp_failure){0};
    for (i = 0; i < all->count; i++) {
        pp_failure_take(&failure, pp_transfer_stage_delayed(&all->arrays[i], staged, &all->left_out));
        for (; known < staged->count; known++)
            staged->notes[known].target = i;
    }
    return pp_comm_agree(all->store->comm, "flushing", pp_failure_put(&failure));
}

static parapet_status stage_listed(batch *all, pp_staged *staged)
{
    if (all->flushes)
        return stage_delayed(all, staged);
    if (all->listed != NULL)
        return pp_transfer_stage_indices(&all->team, all->arrays, &all->indices, staged);
    return pp_transfer_stage(&all->team, all->arrays, all->count, staged);
}

/* [collective] Seals are still in force. */
static parapet_status stage_batch(batch *all, pp_staged *staged)
{
    parapet_status status;
    bool is_again;
    do {
        pp_staged_clear(staged);
        if ((status = list_arrays(all)) == PARAPET_OK)
            status = stage_listed(all, staged);
        status = look_for_broken_seals(all, status, &is_again);
        if (is_again && all->team.kept != NULL)
            pp_kept_choose(all->team.kept, 0); /* the first attempt has used up what was chosen */
    } while (is_again);
    return status == PARAPET_OK && count_sealed(all) > 0 ? change_handles(all, "unsealing", break_seals) : status;
}

static parapet_status flush_all(void *store)
{
    return flush_chosen(store, &(pp_unflushed_choice){0}, true);
}

static void mark_unflushed(const batch *all)
{
    int i;
    if (all->store->delayed != NULL)
        pp_comm_set_first(all->store->comm, flush_all, all->store);
    for (i = 0; i < all->count && all->store->delayed != NULL; i++)
        if (!all->list[i].array->is_apart)
            pp_unflushed_add(&all->store->unflushed, all->list[i].array);
}

static parapet_status write_batch(batch *all)
{
    pp_epochs_mark began;
    pp_staged staged = {0};
    int64_t is_held = 1;
    parapet_status status = begin_batch(all, &is_held);
    if (status == PARAPET_OK && !is_held)
        status = hold_batch(all, PARAPET_OK);
    began = pp_epochs_mark_now(all->store);
    pp_delayed_begin(all->store->delayed);
    if (status == PARAPET_OK && (status = stage_batch(all, &staged)) == PARAPET_OK)
        status = publish_staged(all, &staged);
    if (status == PARAPET_OK)
        pp_epochs_note(all->store, PP_WRITING, &began);
    else
        forget_batch(all);
    if (status == PARAPET_OK)
        mark_unflushed(all);
    pp_staged_clear(&staged);
    clear_batch(all);
    return status == PARAPET_OK ? status
                                : pp_fail_within(status, "cannot write array \"%s\"", all->list[0].array->path);
}

/* ---- What was delayed ---- */

static parapet_status list_flushed(batch *all, parapet_array *const *arrays, int count, parapet_array_parts *list)
{
    parapet_status status;
    int i;
    for (i = 0; i < count; i++)
        list[i] = (parapet_array_parts){.array = arrays[i]};
    all->list = list;
    all->count = count;
    if ((status = build_batch(all)) == PARAPET_OK)
        list_paths(all);
    return status;
}

/* [collective] */
static parapet_status flush_batch(batch *all)
{
    pp_staged staged = {0};
    parapet_status status = stage_batch(all, &staged);
    if (status == PARAPET_OK && (status = publish_staged(all, &staged)) == PARAPET_OK)
        pp_failure_take(&all->left_out, check_uncut(all));
    all->is_flushed = status == PARAPET_OK;
    if (all->is_flushed)
        status = pp_comm_agree(all->store->comm, "flushing", pp_failure_put(&all->left_out));
    pp_staged_clear(&staged);
    return status;
}

/* [collective] */
static parapet_status flush_once(parapet_store *store, parapet_array *const *arrays, int count, parapet_status mine,
                                 bool *is_flushed)
{
    batch flushed = {.direction = PP_WRITING, .store = store, .flushes = true};
    parapet_array_parts *list = NULL;
    parapet_status status = mine;
    if (status == PARAPET_OK && (status = pp_allocate_array(&list, (size_t)count, sizeof list[0])) == PARAPET_OK)
        status = list_flushed(&flushed, arrays, count, list);
    if ((status = hold_batch(&flushed, status)) == PARAPET_OK)
        status = flush_batch(&flushed);
    *is_flushed = flushed.is_flushed;
    clear_batch(&flushed);
    pp_free(list);
    return status;
}

/* How often another job may come in between where a flush has looked and where it publishes. */
#define FLUSHES_MOST 3

/* [collective] All of what is delayed of these arrays, or as much as servers need room for. mine is the status of
 * this rank so far; where it is a failure, arrays may be NULL. PARAPET_ERR_STALE: the rest is written, as a rule. */
static parapet_status flush_arrays(parapet_store *store, parapet_array *const *arrays, int count, bool all,
                                   parapet_status mine)
{
    parapet_status status = PARAPET_ERR_STALE;
    bool is_flushed = false;
    int i;
    pp_delayed_choose(store->delayed, all);
    for (i = 0; i < FLUSHES_MOST && status == PARAPET_ERR_STALE && !is_flushed; i++)
        status = flush_once(store, arrays, count, mine, &is_flushed);
    return status;
}

static parapet_status name_flushed(parapet_status status, const parapet_array *first)
{
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot flush array \"%s\"", first->path);
}

/* [collective] One after the other: what is wrong with one of them is not that of the others. */
static parapet_status flush_each(parapet_store *store, const pp_unflushed_choice *choice, pp_failure *failure)
{
    pp_failure first = {0};
    parapet_array *array;
    parapet_status status;
    int failed = 0;
    while (!pp_comm_is_lost(store->comm) && (array = pp_unflushed_at(&store->unflushed, choice, failed)) != NULL) {
        status = name_flushed(flush_arrays(store, &array, 1, true, PARAPET_OK), array);
        if (status == PARAPET_OK)
            pp_unflushed_remove(&store->unflushed, array);
        else
            failed++;
        pp_failure_take(&first, status);
    }
    return pp_failure_put(pp_comm_is_lost(store->comm) && first.status == PARAPET_OK ? failure : &first);
}

/* [collective, if there is one] */
static parapet_status flush_chosen(parapet_store *store, const pp_unflushed_choice *choice, bool all)
{
    pp_failure failure = {0};
    parapet_array **chosen = NULL;
    int i, count = pp_unflushed_list(&store->unflushed, choice, NULL);
    parapet_status status;
    if (count == 0)
        return PARAPET_OK;
    if ((status = pp_allocate_array(&chosen, (size_t)count, sizeof chosen[0])) == PARAPET_OK)
        (void)pp_unflushed_list(&store->unflushed, choice, chosen);
    status =
        name_flushed(flush_arrays(store, chosen, count, all, status), pp_unflushed_at(&store->unflushed, choice, 0));
    for (i = 0; i < count && all && status == PARAPET_OK; i++)
        pp_unflushed_remove(&store->unflushed, chosen[i]);
    pp_free(chosen);
    if (status == PARAPET_OK || !all || count == 1)
        return status;
    pp_failure_take(&failure, status);
    return flush_each(store, choice, &failure);
}

typedef struct handle_list {
    parapet_array *const *arrays;
    int count;
} handle_list;

static bool is_listed(const parapet_array *array, const void *context)
{
    const handle_list *of = context;
    int i;
    for (i = 0; i < of->count; i++)
        if (of->arrays[i] == array)
            return true;
    return false;
}

static bool is_same_path(const parapet_array *array, const void *other)
{
    return strcmp(array->path, ((const parapet_array *)other)->path) == 0;
}

parapet_status pp_array_flush(parapet_array *array)
{
    return flush_chosen(array->store, &(pp_unflushed_choice){.has = is_same_path, .context = array}, true);
}

parapet_status pp_arrays_flush(parapet_array *const *arrays, int count, parapet_store *store)
{
    handle_list listed = {.arrays = arrays, .count = count};
    return flush_chosen(store, &(pp_unflushed_choice){.has = is_listed, .context = &listed}, true);
}

/* ---- New arrays ---- */

/* [collective] As begin_batch, where nobody else knows of the arrays. */
static parapet_status begin_new(batch *all, const pp_call *call, parapet_status mine)
{
    parapet_status status = mine;
    int64_t least = BEGINS_AT_ONCE;
    uint64_t common;
    if (status == PARAPET_OK && (status = check_batch(all)) != PARAPET_OK)
        status = pp_fail_within(status, "cannot write array \"%s\"", all->list[0].array->path);
    if (pp_epochs_has_left(all->store, PP_WRITING))
        least = BEGINS_WITH_SPEEDS;
    common = find_kept(all, status);
    status = pp_comm_begin_with(all->store->comm, call, status, &least, &common);
    return status == PARAPET_OK ? begin_with_others(all, least, common) : status;
}

static parapet_status stage_new(batch *all, const pp_making *making, pp_staged *staged)
{
    pp_failure failure = {0};
    pp_failure_take(&failure, making->begin(making->context));
    pp_failure_take(&failure, list_arrays(all));
    return pp_transfer_stage_after(&failure, &all->team, all->arrays, all->count, staged);
}

/* [collective] Until all agree that this went well, nobody takes notice of what is there: nothing has to be agreed on
 * before it. */
static parapet_status finish_new(const batch *all, const pp_making *making, pp_staged *staged)
{
    pp_failure failure = {0};
    pp_failure_take(&failure, pp_staged_show(&all->contexts[0], staged));
    if (failure.status == PARAPET_OK)
        note_batch(all, staged);
    making->end(making->context, &failure);
    return pp_settle_agree(all->store->comm, all->store->backend, "finishing", pp_failure_put(&failure));
}

parapet_status pp_arrays_make(const pp_making *making, const pp_call *call, parapet_status mine, bool *has_begun)
{
    batch all = {.direction = PP_WRITING, .list = making->list, .count = making->count, .store = making->store};
    pp_epochs_mark began;
    pp_staged staged = {0};
    parapet_status status;
    choose_team(&all);
    status = begin_new(&all, call, mine);
    *has_begun = status == PARAPET_OK;
    began = pp_epochs_mark_now(all.store);
    if (*has_begun && (status = stage_new(&all, making, &staged)) == PARAPET_OK)
        status = finish_new(&all, making, &staged);
    if (status == PARAPET_OK)
        pp_epochs_note(all.store, PP_WRITING, &began);
    else if (*has_begun)
        status = pp_fail_within(status, "cannot write array \"%s\"", all.list[0].array->path);
    pp_staged_clear(&staged);
    clear_batch(&all);
    return status;
}

/* ---- The public functions ---- */

/* [collective] What others have changed meanwhile may be what was read. */
static parapet_status check_batch_fresh(const batch *all, bool has_failed)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; pp_comm_rank(all->store->comm) == 0 && i < all->count && status == PARAPET_OK; i++)
        if (!all->list[i].array->is_apart)
            status =
                has_failed ? pp_array_check_damage(all->list[i].array) : pp_array_check_fresh(all->list[i].array);
    return pp_comm_agree(all->store->comm, "looking again", status);
}

static parapet_status read_batch(batch *all)
{
    pp_failure failure = {0};
    int64_t is_held = 1;
    parapet_status status = begin_batch(all, &is_held);
    pp_epochs_mark began = pp_epochs_mark_now(all->store);
    if (status == PARAPET_OK && (status = list_arrays(all)) == PARAPET_OK)
        status = all->listed != NULL ? pp_transfer_read_indices(&all->team, all->arrays, &all->indices)
                                     : pp_transfer_read(&all->team, all->arrays, all->count);
    if (status == PARAPET_OK)
        pp_epochs_note(all->store, PP_READING, &began);
    pp_failure_take(&failure, status);
    if (!pp_comm_is_lost(all->store->comm) && pp_array_is_worth_looking(status) &&
        (status = check_batch_fresh(all, status != PARAPET_OK)) != PARAPET_ERR_STALE && failure.status != PARAPET_OK)
        status = pp_failure_put(&failure);
    if (status != PARAPET_OK)
        forget_batch(all);
    clear_batch(all);
    return status == PARAPET_OK ? status
                                : pp_fail_within(status, "cannot read array \"%s\"", all->list[0].array->path);
}

static parapet_status open_batch(batch *all, pp_direction direction, const parapet_array_parts *list, int count,
                                 const char *function)
{
    parapet_status status;
    if (count < 0 || (count > 0 && (list == NULL || list[0].array == NULL)))
        return pp_fail(PARAPET_ERR_ARGUMENT, "%s needs an array", function);
    *all = (batch){
        .direction = direction, .list = list, .count = count, .store = count > 0 ? list[0].array->store : NULL};
    if (count == 0)
        return PARAPET_OK;
    if ((status = pp_turn_take(&all->turn, all->store->comm, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    choose_team(all);
    return PARAPET_OK;
}

parapet_status parapet_arrays_write(const parapet_array_parts *list, int count)
{
    batch all;
    parapet_status status = open_batch(&all, PP_WRITING, list, count, "parapet_arrays_write");
    return pp_outcome(status == PARAPET_OK && count > 0 ? write_batch(&all) : status);
}

parapet_status parapet_arrays_read(const parapet_array_parts *list, int count)
{
    batch all;
    parapet_status status = open_batch(&all, PP_READING, list, count, "parapet_arrays_read");
    return pp_outcome(status == PARAPET_OK && count > 0 ? read_batch(&all) : status);
}

parapet_status parapet_array_write(parapet_array *array, const parapet_part *parts, int part_count)
{
    parapet_array_parts one = {.array = array, .parts = parts, .part_count = part_count};
    batch all;
    parapet_status status = open_batch(&all, PP_WRITING, &one, 1, "parapet_array_write");
    return pp_outcome(status == PARAPET_OK ? write_batch(&all) : status);
}

parapet_status parapet_array_read(parapet_array *array, const parapet_part *parts, int part_count)
{
    parapet_array_parts one = {.array = array, .parts = parts, .part_count = part_count};
    batch all;
    parapet_status status = open_batch(&all, PP_READING, &one, 1, "parapet_array_read");
    return pp_outcome(status == PARAPET_OK ? read_batch(&all) : status);
}

parapet_status pp_array_move_listed(parapet_array *array, pp_direction direction, const pp_index_list *listed,
                                    const char *function)
{
    parapet_array_parts one = {.array = array};
    batch all;
    parapet_status status = open_batch(&all, direction, &one, 1, function);
    if (status != PARAPET_OK)
        return status;
    all.listed = listed;
    all.team.kept = NULL; /* descriptions are of parts */
    return direction == PP_WRITING ? write_batch(&all) : read_batch(&all);
}

parapet_status pp_arrays_write_repeatable(const parapet_array_parts *list, int count, const int64_t *step,
                                          int64_t *shards_written)
{
    parapet_store *store = list[0].array->store;
    int64_t before = store->counters.shards_owned;
    batch all;
    parapet_status status = open_batch(&all, PP_WRITING, list, count, "parapet_arrays_write");
    int i;
    all.step = step;
    if (status == PARAPET_OK)
        status = write_batch(&all);
    *shards_written += store->counters.shards_owned - before;
    for (i = 0; i < count; i++) {
        pp_shard_notes_clear(&list[i].array->notes); /* they would only grow */
        if (!pp_comm_is_lost(store->comm))
            list[i].array->is_broken = false;
    }
    return status;
}

size_t pp_array_write_bytes(const parapet_array *array, size_t part_count, int64_t shards)
{
    const parapet_store *store = array->store;
    int ranks = pp_comm_size(store->comm);
    bool takes = ranks > 1 && store->options.ownership == PARAPET_OWNERSHIP_DYNAMIC;
    size_t fragment = pp_memory_fragment_bytes(store->least_memory_bytes);
    return (takes ? pp_memory_taking_bytes(array->document.ndim, ranks - 1, fragment) : 0) +
           pp_memory_least_bytes(&array->layout, (int)store->options.threads, ranks, fragment) +
           pp_memory_list_bytes(
               array->document.ndim, (int64_t)part_count, (int64_t)part_count,
               pp_memory_others(ranks, store->server_count, shards, pp_epochs_turns(store, PP_WRITING)));
}

parapet_status pp_array_write_alone(parapet_array *array, pp_comm *alone, const parapet_part *part)
{
    static const int servers[1] = {0};
    pp_team team = {.comm = alone,
                    .servers = servers,
                    .server_count = 1,
                    .fragment_bytes = pp_memory_fragment_bytes(array->store->least_memory_bytes),
                    .ownership = pp_owner_strategy_of(PARAPET_OWNERSHIP_ROUND_ROBIN)};
    pp_transfer_context context;
    pp_parts parts = {0};
    pp_transfer_array only = {.context = &context, .parts = &parts};
    pp_staged staged = {0};
    parapet_status status;
    if ((status = pp_array_transfer_context(array, &context)) != PARAPET_OK ||
        (status = pp_parts_init(&parts, part, 1, &array->layout, array->document.type.id)) != PARAPET_OK)
        return status;
    context.progress = NULL;
    if ((status = pp_transfer_stage(&team, &only, 1, &staged)) == PARAPET_OK)
        status = pp_staged_publish(&context, &staged);
    pp_staged_clear(&staged);
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot write array \"%s\"", array->path);
}
