#include "transfer/thief.h"

#include "base/checked.h"
#include "transfer/memory_plan.h"
#include "transfer/open_shards.h"
#include "transfer/stolen.h"

/* Speeds travel as whole numbers: shards in so many seconds. */
#define SPEED_SECONDS 1e6

bool pp_thief_is_wanted(const pp_session *session)
{
    return !session->is_alone && session->team->takes && session->team->server_count > 1;
}

parapet_status pp_thief_agree(pp_transfer *transfer, parapet_status before)
{
    const pp_session *session = transfer->session;
    int64_t least = before == PARAPET_OK ? -pp_session_rank_most(session) : 0;
    parapet_status status = pp_comm_agree_min(session->team->comm, "planning", before, &least);
    transfer->rank_most = pp_min_i64(1 - least, session->rank_count - 1); /* the owner is another rank then */
    return status;
}

static pp_counters *counters_of(const pp_transfer *transfer)
{
    return pp_session_context(transfer->session, 0)->counters;
}

static int64_t count_shards(const pp_transfer *transfer, size_t first, size_t end)
{
    int64_t count = 0;
    for (; first < end; first = pp_worklist_group_end(&transfer->view->list, first))
        count++;
    return count;
}

/* ---- Giving ---- */

typedef struct parcel {
    const pp_session *session;
    size_t bytes, most_bytes;
} parcel;

static bool fits(void *context, size_t first, size_t end)
{
    parcel *with = context;
    size_t bytes = with->bytes + pp_stolen_bytes(with->session, first, end);
    if (bytes > with->most_bytes)
        return false;
    with->bytes = bytes;
    return true;
}

static size_t give(void *context, int64_t speed, void *description, size_t most_bytes)
{
    pp_transfer *transfer = context;
    parcel with = {.session = transfer->session, .most_bytes = most_bytes};
    size_t first, end;
    if (!pp_supply_give(&transfer->supply, (double)speed / SPEED_SECONDS, fits, &with, &first, &end))
        return 0;
    pp_stolen_write(transfer->session, first, end, description);
    transfer->total_bytes -= pp_open_shards_claimed_bytes(transfer, first, end);
    counters_of(transfer)->shards_owned -= count_shards(transfer, first, end);
    return with.bytes;
}

static int64_t count_left(void *context)
{
    return pp_supply_left(&((pp_transfer *)context)->supply);
}

parapet_status pp_thief_build(pp_transfer *transfer)
{
    const pp_session *session = transfer->session;
    int ndim = session->served.claims.ndim_most;
    return pp_stealing_build(
        &transfer->taking, &(pp_stealing_options){.endpoint = pp_comm_endpoint(session->team->comm),
                                                  .budget = session->budget,
                                                  .servers = session->team->servers,
                                                  .server_count = session->team->server_count,
                                                  .most_bytes = pp_memory_description_bytes(ndim, transfer->rank_most,
                                                                                            session->fragment_bytes),
                                                  .giver = {transfer, count_left, give}});
}

/* ---- Taking ---- */

void pp_thief_ask(pp_transfer *transfer)
{
    pp_stealing_ask(transfer->taking, (int64_t)(pp_supply_speed(&transfer->supply) * SPEED_SECONDS));
}

static void finish_before(pp_transfer *transfer)
{
    int i;
    pp_open_shards_clear(transfer);
    for (i = 0; i < pp_session_context(transfer->session, 0)->threads; i++)
        pp_sieve_forget(&transfer->sieves[i]);
}

parapet_status pp_thief_refill(pp_transfer *transfer)
{
    size_t bytes, end;
    const int64_t *words = pp_stealing_take(transfer->taking, &bytes);
    parapet_status status;
    finish_before(transfer);
    if ((status = pp_stolen_read(transfer->session, words, bytes)) != PARAPET_OK ||
        (transfer->operations->prepare_more != NULL &&
         (status = transfer->operations->prepare_more(transfer)) != PARAPET_OK))
        return status;
    end = transfer->view->list.count;
    transfer->total_bytes += pp_open_shards_claimed_bytes(transfer, 0, end);
    counters_of(transfer)->shards_owned += count_shards(transfer, 0, end);
    counters_of(transfer)->shards_taken += count_shards(transfer, 0, end);
    pp_supply_begin(&transfer->supply, &transfer->view->list);
    return PARAPET_OK;
}
