#include "transfer/run.h"

#include "base/checked.h"
#include "comm/topology.h"
#include "transfer/event_loop.h"
#include "transfer/open_shards.h"
#include "transfer/thief.h"

/* One chunk of at most so many bytes, or several of so many together, is done before threads would have started. */
#define MOST_ITEM_BYTES ((int64_t)8 << 20)
#define LITTLE_BYTES ((int64_t)256 << 10)

static const char *const doing[] = {[PP_READING] = "reading", [PP_WRITING] = "writing"};

/* Of what is the same for all arrays of a transfer. */
static const pp_transfer_context *first_context(const pp_transfer *transfer)
{
    return pp_session_context(transfer->session, 0);
}

static parapet_status report_progress(void *context)
{
    pp_transfer *transfer = context;
    int64_t done = atomic_load(&transfer->done_bytes);
    if (done == transfer->reported_bytes && transfer->total_bytes == transfer->reported_total)
        return PARAPET_OK;
    transfer->reported_bytes = done;
    transfer->reported_total = transfer->total_bytes;
    return pp_transfer_report(first_context(transfer), doing[transfer->operations->direction],
                              pp_min_i64(done, transfer->total_bytes), transfer->total_bytes);
}

/* ---- Shards and items ---- */

static parapet_status take_item(pp_transfer *transfer, pp_transfer_item *item, bool *is_taken)
{
    pp_transfer_shard *shard = transfer->current;
    parapet_status status;
    *is_taken = false;
    if (shard == NULL)
        return PARAPET_OK;
    item->shard = shard;
    item->window.target = shard->target;
    item->window.shard = shard->number;
    item->window.chunk_count = 0;
    item->window.band_first = item->window.band_count = 0;
    item->news = PP_WINDOW_DATA;
    item->deliveries.count = 0;
    item->deliveries.has_more = false;
    status = transfer->operations->take(transfer, shard, item, is_taken);
    if (*is_taken) {
        atomic_fetch_add(&shard->pending, 1);
        pp_supply_note_begun(&transfer->supply);
    }
    return status;
}

/* The next shard becomes the current one; false: there is none. */
static bool open_next(pp_transfer *transfer, parapet_status *status)
{
    size_t first, end;
    if (!pp_supply_next(&transfer->supply, &first, &end))
        return false;
    pp_open_shards_tidy(transfer);
    *status = pp_open_shards_add(transfer, first, end);
    return true;
}

/* A rank alone opens the next shard before it decodes the last chunks of one, so that storage fetches what comes
 * first of it meanwhile. */
static bool looks_ahead(const pp_transfer *transfer)
{
    return transfer->session->is_alone && transfer->current->is_spent;
}

static parapet_status next_item(void *context, void *item, bool *is_end)
{
    pp_transfer *transfer = context;
    parapet_status status;
    bool is_taken;
    while ((status = take_item(transfer, item, &is_taken)) == PARAPET_OK && !is_taken) {
        if (!open_next(transfer, &status)) {
            *is_end = true;
            return PARAPET_OK;
        }
        if (status != PARAPET_OK)
            return status;
    }
    if (status == PARAPET_OK && looks_ahead(transfer))
        (void)open_next(transfer, &status);
    return status;
}

/* Storage is done with a window: behind it, when writing, and before it, when reading. */
static void note_stored(pp_transfer *transfer, pp_direction direction)
{
    if (transfer->operations->direction == direction)
        pp_supply_note_stored(&transfer->supply);
}

static parapet_status produce(void *context, int worker, void *item)
{
    pp_transfer *transfer = context;
    parapet_status status = transfer->operations->produce(transfer, worker, item);
    note_stored(transfer, PP_READING);
    return status;
}

/* Not all that the item has for other ranks was staged. */
static bool has_more(void *context, const void *item)
{
    (void)context;
    return ((const pp_transfer_item *)item)->deliveries.has_more;
}

static parapet_status consume(void *context, int worker, void *item)
{
    pp_transfer *transfer = context;
    pp_transfer_shard *shard = ((pp_transfer_item *)item)->shard;
    parapet_status status = transfer->operations->consume(transfer, worker, item);
    note_stored(transfer, PP_WRITING);
    if (!has_more(context, item))
        atomic_fetch_sub(&shard->pending, 1);
    return status;
}

static pp_deliveries *deliveries_of(void *item)
{
    return &((pp_transfer_item *)item)->deliveries;
}

static bool waits_for_messages(void *context, const void *item)
{
    const pp_deliveries *deliveries = &((const pp_transfer_item *)item)->deliveries;
    (void)context;
    return deliveries->count > 0 && !deliveries->is_over;
}

/* ---- Before and after ---- */

static bool has_sealed(const pp_session *session)
{
    int i;
    for (i = 0; i < session->array_count; i++)
        if (pp_session_context(session, i)->seal != NULL)
            return true;
    return false;
}

static bool has_threads(const pp_transfer *transfer)
{
    const pp_transfer_context *context = first_context(transfer);
    const pp_session *session = transfer->session;
    int ranks = session->is_alone ? 1 : pp_comm_neighbour_count(session->team->comm) + 1;
    return context->pool != NULL &&
           pp_memory_thread_pays(context->store, transfer->operations->direction, context->threads, ranks);
}

static pp_memory_case memory_case_of(const pp_transfer *transfer)
{
    const pp_transfer_context *context = first_context(transfer);
    const pp_session *session = transfer->session;
    bool takes = transfer->taking != NULL && pp_stealing_get_state(transfer->taking) != PP_STEALING_ENDED;
    return (pp_memory_case){
        .available_bytes = pp_budget_available(context->budget),
        .used_bytes = pp_budget_used(context->budget),
        .threads = context->threads,
        .has_threads = has_threads(transfer),
        .is_sealed = has_sealed(session),
        .has_remote = pp_session_has_remote(session),
        .uses_direct = takes ? session->team->uses_direct : pp_session_uses_direct(session),
        .shard_count = pp_session_shard_count(session),
        .copies = transfer->operations->direction == PP_READING ? pp_session_copies(session) : 0,
        .rank_most = takes ? transfer->rank_most : pp_session_rank_most(session),
        .takes = takes,
        .fragment_bytes = session->is_alone ? 0 : session->fragment_bytes,
    };
}

static parapet_status plan_memory(pp_transfer *transfer)
{
    const pp_transfer_context *context = first_context(transfer);
    pp_memory_case memory = memory_case_of(transfer);
    const pp_layout **layouts = NULL;
    int i, count = transfer->session->array_count;
    parapet_status status;
    pp_counters_plan(context->counters, memory.used_bytes); /* messages of a client, beside its lists */
    if (memory.shard_count == 0 && !memory.takes)
        return PARAPET_OK;
    status = pp_allocate_array(&layouts, (size_t)count, sizeof layouts[0]);
    for (i = 0; i < count && status == PARAPET_OK; i++)
        layouts[i] = pp_session_context(transfer->session, i)->layout;
    if (status == PARAPET_OK)
        status = transfer->operations->plan_memory(transfer, layouts, &memory, &transfer->memory);
    pp_free(layouts);
    if (status != PARAPET_OK)
        return status;
    pp_counters_plan(context->counters, pp_budget_used(context->budget) + transfer->memory.planned_bytes);
    return PARAPET_OK;
}

static pp_transfer_item *item_at(const pp_transfer *transfer, int slot)
{
    return (pp_transfer_item *)(void *)((char *)transfer->items + (size_t)slot * transfer->operations->item_bytes);
}

static parapet_status build_items(pp_transfer *transfer)
{
    int i, count = transfer->memory.slot_count;
    parapet_status status = pp_allocate_array(&transfer->items, (size_t)count, transfer->operations->item_bytes);
    for (i = 0; i < count && status == PARAPET_OK; i++)
        item_at(transfer, i)->slot = i;
    return status;
}

static parapet_status build_sieves(pp_transfer *transfer)
{
    const pp_transfer_context *context = first_context(transfer);
    parapet_status status;
    int i;
    if (transfer->session->serves_own)
        return PARAPET_OK;
    if ((status = pp_allocate_array(&transfer->sieves, (size_t)context->threads, sizeof transfer->sieves[0])) !=
        PARAPET_OK)
        return status;
    for (i = 0; i < context->threads; i++)
        pp_sieve_init(&transfer->sieves[i], context->budget, transfer->memory.sieve_bytes,
                      transfer->view->claims.ndim_most);
    return PARAPET_OK;
}

static parapet_status prepare(pp_transfer *transfer)
{
    parapet_status status = transfer->operations->prepare(transfer);
    if (status != PARAPET_OK || (!transfer->is_planned && (status = plan_memory(transfer)) != PARAPET_OK) ||
        (status = build_items(transfer)) != PARAPET_OK || (status = build_sieves(transfer)) != PARAPET_OK)
        return status;
    transfer->total_bytes = pp_open_shards_claimed_bytes(transfer, 0, transfer->view->list.count);
    pp_supply_begin(&transfer->supply, &transfer->view->list);
    return report_progress(transfer);
}

/* What no message uses. */
static void clear_work(pp_transfer *transfer)
{
    int i;
    pp_open_shards_clear(transfer);
    pp_supply_clear(&transfer->supply);
    for (i = 0; transfer->sieves != NULL && i < first_context(transfer)->threads; i++)
        pp_sieve_free(&transfer->sieves[i]);
    if (transfer->operations->clear != NULL)
        transfer->operations->clear(transfer);
    pp_free(transfer->sieves);
}

static void clear_transfer(pp_transfer *transfer)
{
    int i;
    clear_work(transfer);
    if (transfer->taking != NULL)
        first_context(transfer)->counters->messages_sent += pp_stealing_message_count(transfer->taking);
    pp_stealing_free(transfer->taking);
    for (i = 0; transfer->items != NULL && i < transfer->memory.slot_count; i++) {
        transfer->operations->clear_item(item_at(transfer, i));
        pp_deliveries_free(&item_at(transfer, i)->deliveries);
    }
    pp_free(transfer->items);
}

/* Of a transfer that was given up: what messages under way may use. */
typedef struct stranded_transfer {
    pp_stranded head;
    void *items;
    pp_stealing *taking;
    pp_messages messages;
    pp_session session;
} stranded_transfer;

static void strand_transfer(pp_transfer *transfer, const pp_messages *messages)
{
    stranded_transfer *left;
    clear_work(transfer);
    if (pp_allocate(&left, sizeof *left) != PARAPET_OK)
        return;
    left->items = transfer->items;
    left->taking = transfer->taking;
    left->messages = *messages;
    left->session = *transfer->session;
    pp_comm_strand(transfer->session->team->comm, &left->head);
}

/* ---- The run ---- */

/* Whether a transfer has nothing that could be done beside anything else. Where others are served there is always
 * something: their messages. */
static bool is_one_item(const pp_transfer *transfer)
{
    const pp_worklist *list = &transfer->view->list;
    const pp_layout *layout;
    int64_t chunks, bytes;
    if (list->count != 1 || !transfer->session->serves_own)
        return false;
    layout = pp_session_context(transfer->session, list->work[0].target)->layout;
    chunks = list->work[0].last_chunk - list->work[0].first_chunk + 1;
    if (transfer->operations->direction == PP_WRITING) /* what is not written is kept */
        chunks = layout->tiling.chunks.cell_count;
    bytes = (int64_t)pp_chain_decoded_bytes(layout->chain);
    return bytes <= (chunks == 1 ? MOST_ITEM_BYTES : LITTLE_BYTES / chunks);
}

/* Whether there is one thread to compute and it would only wait for another one for storage. */
static bool would_wait(const pp_transfer *transfer)
{
    const pp_transfer_operations *operations = transfer->operations;
    return transfer->session->serves_own && first_context(transfer)->threads == 1 &&
           operations->is_storage_only != NULL && operations->is_storage_only(transfer);
}

static pp_pipeline_job pipeline_of(pp_transfer *transfer)
{
    const pp_transfer_context *context = first_context(transfer);
    bool writes = transfer->operations->direction == PP_WRITING;
    bool is_small = is_one_item(transfer) || would_wait(transfer) || !has_threads(transfer);
    return (pp_pipeline_job){
        .context = transfer,
        .next = next_item,
        .produce = produce,
        .consume = consume,
        .wants_fetch = writes ? waits_for_messages : NULL,
        .wants_send = writes ? NULL : waits_for_messages,
        .has_more = writes ? NULL : has_more,
        .tick = report_progress,
        .items = transfer->items,
        .item_bytes = transfer->operations->item_bytes,
        .slot_count = is_small ? 1 : transfer->memory.slot_count,
        .worker_count = is_small ? 1 : context->threads,
        .workers = writes ? PP_PIPELINE_PRODUCES : PP_PIPELINE_CONSUMES,
        .pool = is_small ? NULL : context->pool,
    };
}

static parapet_status run_alone(pp_transfer *transfer)
{
    pp_pipeline_job pipeline = pipeline_of(transfer);
    parapet_status status = transfer->view->list.count > 0 ? pp_pipeline_run(&pipeline) : PARAPET_OK;
    return status == PARAPET_OK ? report_progress(transfer) : status;
}

static void ask_for_more(void *context)
{
    pp_transfer *transfer = context;
    pp_supply_end(&transfer->supply);
    pp_thief_ask(transfer);
}

static parapet_status refill(void *context)
{
    return pp_thief_refill(context);
}

static parapet_status run_together(pp_transfer *transfer, pp_pull *pull, bool *is_abandoned)
{
    pp_pipeline_job pipeline = pipeline_of(transfer);
    return pp_event_loop_run(&(pp_event_loop){.session = transfer->session,
                                              .pull = pull,
                                              .job = transfer->memory.slot_count > 0 ? &pipeline : NULL,
                                              .is_empty = transfer->view->list.count == 0,
                                              .phase = doing[transfer->operations->direction],
                                              .deliveries_of = deliveries_of,
                                              .taking = transfer->taking,
                                              .ask_for_more = ask_for_more,
                                              .refill = refill},
                             is_abandoned);
}

/* [collective, unless the session is alone] All that is decided before the first shard is opened. */
static parapet_status plan(pp_transfer *transfer, pp_messages *messages, parapet_status before)
{
    const pp_session *session = transfer->session;
    bool takes = pp_thief_is_wanted(session);
    parapet_status status = before;
    if (takes && (status = pp_thief_agree(transfer, status)) != PARAPET_OK)
        return status;
    if (status == PARAPET_OK)
        status = pp_messages_build(messages, session);
    if (status == PARAPET_OK && takes)
        status = pp_thief_build(transfer);
    if (status == PARAPET_OK)
        status = prepare(transfer);
    return session->is_alone ? status : pp_comm_agree(session->team->comm, "planning", status);
}

parapet_status pp_transfer_run(pp_transfer *transfer, parapet_status before)
{
    pp_session *session = transfer->session;
    pp_messages messages = {0};
    bool is_abandoned = false, is_planned;
    parapet_status status;
    transfer->view = pp_session_served(session);
    if (!transfer->is_planned)
        pp_counters_plan(first_context(transfer)->counters, pp_budget_peak(session->budget)); /* of the lists */
    pp_supply_init(&transfer->supply);
    status = plan(transfer, &messages, before);
    if ((is_planned = status == PARAPET_OK)) {
        if (!transfer->is_planned)
            first_context(transfer)->counters->shards_owned += pp_session_shard_count(session);
        status = session->is_alone ? run_alone(transfer) : run_together(transfer, messages.pull, &is_abandoned);
    }
    if (is_abandoned) {
        strand_transfer(transfer, &messages);
        return status;
    }
    clear_transfer(transfer);
    pp_messages_clear(&messages);
    if (is_planned)
        pp_session_keep(session);
    pp_session_clear(session);
    return status;
}
