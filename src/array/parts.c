/* parts.c - reading and writing parts of arrays, one array or many as one transfer. */
#include "array/parts.h"
#include "array/array.h"
#include "array/array_handle.h"
#include "array/attributes.h"
#include "array/resize.h"
#include "array/state.h"
#include "array/store.h"
#include "base/reserved.h"
#include "transfer/memory.h"

/* What the arrays of a call have become for the transfer. */
typedef struct batch {
    parapet_store *store;
    const parapet_array_parts *list;
    int count;
    pp_parts *parts;
    pp_transfer_context *contexts;
    pp_transfer_array *arrays;
    pp_direction direction;
} batch;

static void clear_batch(batch *all)
{
    int i;
    for (i = 0; all->parts != NULL && i < all->count; i++)
        pp_parts_clear(&all->parts[i]);
    pp_free(all->parts);
    pp_free(all->contexts);
    pp_free(all->arrays);
}

static parapet_status build_batch(batch *all)
{
    parapet_status status;
    size_t count = (size_t)all->count;
    if ((status = pp_allocate_array(&all->parts, count, sizeof all->parts[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&all->contexts, count, sizeof all->contexts[0])) != PARAPET_OK)
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
        return pp_fail(PARAPET_ERR_ARGUMENT, "array \"%s\" is of another store than \"%s\"", array->path,
                       all->list[0].array->path);
    for (j = 0; j < i; j++)
        if (all->list[j].array == array)
            return pp_fail(PARAPET_ERR_ARGUMENT, "array \"%s\" is in the list twice", array->path);
    return PARAPET_OK;
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
            (status = pp_array_transfer_context(array, &all->contexts[i])) == PARAPET_OK)
            status = pp_parts_init(&all->parts[i], all->list[i].parts, all->list[i].part_count, &array->layout,
                                   array->document.type.id);
    }
    return status;
}

static void name_call(const batch *all, pp_call *call)
{
    const char *verb = all->direction == PP_WRITING ? "write" : "read";
    int i;
    if (all->count == 1)
        pp_call_init(call, "%s(%s)", verb, all->list[0].array->path);
    else
        pp_call_init(call, "%s(%s and %d more)", verb, all->list[0].array->path, all->count - 1);
    for (i = 0; i < all->count; i++)
        pp_call_add_element(call, "list", i, all->list[i].array != NULL ? all->list[i].array->path : NULL);
}

/* [collective] Starts the call: all ranks bring the same arrays, and none has a reason to refuse. */
static parapet_status begin_batch(batch *all)
{
    pp_call call;
    name_call(all, &call);
    return pp_comm_begin(all->store->comm, &call, check_batch(all));
}

static parapet_status list_arrays(batch *all)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < all->count && status == PARAPET_OK; i++) {
        status = pp_array_transfer_context(all->list[i].array, &all->contexts[i]);
        all->arrays[i] = (pp_transfer_array){
            .context = &all->contexts[i], .parts = &all->parts[i], .notes = &all->list[i].array->notes};
    }
    return status;
}

static parapet_status make_changeable(void *node, const void *argument)
{
    (void)argument;
    return pp_array_make_changeable(node);
}

/* [collective] Takes off seals and completes what a crash left undone. All ranks know the same of an array. */
static parapet_status unseal_batch(const batch *all)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < all->count && status == PARAPET_OK; i++) {
        parapet_array *array = all->list[i].array;
        if (array->is_sealed || array->has_head || array->is_mark_ignored ||
            pp_json_has(array->document.attributes, PP_RESERVED_ATTRIBUTE))
            status = pp_array_rank0_do(array, "unsealing", make_changeable, NULL);
    }
    return status;
}

/* What was published, for the seal. */
static void note_batch(const batch *all, const pp_staged *staged)
{
    size_t i;
    int k;
    for (k = 0; k < all->count; k++)
        pp_shard_notes_begin(&all->list[k].array->notes);
    for (i = 0; i < staged->count; i++) {
        const pp_staged_note *note = &staged->notes[i];
        bool is_known = note->record.bytes != PP_SHARD_ABSENT;
        pp_shard_notes_add(&all->list[note->target].array->notes, note->shard, is_known ? &note->record : NULL);
    }
    for (k = 0; k < all->count; k++)
        pp_shard_notes_end(&all->list[k].array->notes);
}

/* [collective] What failed to become visible may be visible in part. */
static parapet_status publish_batch(const batch *all, pp_staged *staged)
{
    parapet_status status =
        pp_comm_agree(all->store->comm, "publishing", pp_staged_publish(&all->contexts[0], staged));
    int i;
    if (status == PARAPET_OK)
        note_batch(all, staged);
    for (i = 0; i < all->count && status != PARAPET_OK; i++)
        all->list[i].array->is_broken = true;
    return status;
}

/* [collective] A rank that ran out of patience while others staged may have changed its data since: it will not be
 * here, and nothing is published. */
static parapet_status check_presence(const parapet_store *store)
{
    return store->options.deadline_seconds > 0 ? pp_comm_agree(store->comm, "staged", PARAPET_OK) : PARAPET_OK;
}

static parapet_status write_batch(batch *all)
{
    pp_team team = pp_store_team(all->store, PP_WRITING);
    pp_staged staged = {0};
    parapet_status status = begin_batch(all);
    if (status == PARAPET_OK && (status = unseal_batch(all)) == PARAPET_OK &&
        (status = list_arrays(all)) == PARAPET_OK &&
        (status = pp_transfer_stage(&team, all->arrays, all->count, &staged)) == PARAPET_OK &&
        (status = check_presence(all->store)) == PARAPET_OK)
        status = publish_batch(all, &staged);
    pp_staged_clear(&staged);
    clear_batch(all);
    return status == PARAPET_OK ? status
                                : pp_fail_within(status, "cannot write array \"%s\"", all->list[0].array->path);
}

static parapet_status read_batch(batch *all)
{
    pp_team team = pp_store_team(all->store, PP_READING);
    parapet_status status = begin_batch(all);
    if (status == PARAPET_OK && (status = list_arrays(all)) == PARAPET_OK)
        status = pp_transfer_read(&team, all->arrays, all->count);
    clear_batch(all);
    return status == PARAPET_OK ? status
                                : pp_fail_within(status, "cannot read array \"%s\"", all->list[0].array->path);
}

static parapet_status open_batch(batch *all, pp_direction direction, const parapet_array_parts *list, int count,
                                 const char *function)
{
    if (count < 0 || (count > 0 && (list == NULL || list[0].array == NULL)))
        return pp_fail(PARAPET_ERR_ARGUMENT, "%s needs an array", function);
    *all = (batch){
        .direction = direction, .list = list, .count = count, .store = count > 0 ? list[0].array->store : NULL};
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

parapet_status pp_arrays_write_repeatable(const parapet_array_parts *list, int count, int64_t *shards_written)
{
    parapet_store *store = list[0].array->store;
    int64_t before = store->counters.shards_owned;
    parapet_status status = parapet_arrays_write(list, count);
    int i;
    *shards_written += store->counters.shards_owned - before;
    for (i = 0; i < count; i++) {
        pp_shard_notes_clear(&list[i].array->notes); /* they would only grow */
        if (!pp_comm_is_lost(store->comm))
            list[i].array->is_broken = false;
    }
    return status;
}

parapet_status pp_array_write_alone(parapet_array *array, pp_comm *alone, const parapet_part *part)
{
    static const int servers[1] = {0};
    pp_team team = {.comm = alone,
                    .servers = servers,
                    .server_count = 1,
                    .fragment_bytes = pp_memory_fragment_bytes(array->store->least_memory_bytes),
                    .ownership = pp_owner_strategy_of(1)};
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
    pp_parts_clear(&parts);
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot write array \"%s\"", array->path);
}
