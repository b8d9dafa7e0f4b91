#include "array/epochs.h"

#include <parapet_store.h>

#include "array/array_handle.h"
#include "base/ranks.h"

parapet_status pp_epochs_build(parapet_store *store)
{
    parapet_status status;
    if (store->options->sharing != PARAPET_SHARING_WEIGHTS)
        return PARAPET_OK;
    if ((status = pp_allocate_array(&store->epochs, 2, sizeof store->epochs[0])) != PARAPET_OK ||
        (status = pp_speeds_init(&store->epochs[PP_READING].speeds, store->server_count)) != PARAPET_OK)
        return status;
    return pp_speeds_init(&store->epochs[PP_WRITING].speeds, store->server_count);
}

void pp_epochs_free(parapet_store *store)
{
    if (store->epochs == NULL)
        return;
    pp_speeds_clear(&store->epochs[PP_READING].speeds);
    pp_speeds_clear(&store->epochs[PP_WRITING].speeds);
    pp_free(store->epochs);
    store->epochs = NULL;
}

/* ---- Measuring ---- */

pp_epochs_mark pp_epochs_mark_now(parapet_store *store)
{
    if (store->epochs == NULL)
        return (pp_epochs_mark){0};
    return (pp_epochs_mark){.bytes = store->counters.read_bytes + store->counters.written_bytes,
                            .seconds = pp_meter_seconds(&store->meter)};
}

void pp_epochs_note(parapet_store *store, pp_direction direction, const pp_epochs_mark *began)
{
    pp_epochs_mark now = pp_epochs_mark_now(store);
    if (store->epochs != NULL)
        pp_speeds_note(&store->epochs[direction].speeds, now.bytes - began->bytes, now.seconds - began->seconds);
}

bool pp_epochs_has_left(const parapet_store *store, pp_direction direction)
{
    int server = pp_ranks_find(store->servers, store->server_count, pp_comm_rank(store->comm));
    return store->epochs != NULL && pp_speeds_has_left(&store->epochs[direction].speeds, server);
}

/* ---- Changing ---- */

/* The direction whose weights are in force. */
static pp_direction source_of(const parapet_store *store, pp_direction direction)
{
    pp_direction other = direction == PP_READING ? PP_WRITING : PP_READING;
    return !store->epochs[direction].is_told && store->epochs[other].is_told ? other : direction;
}

/* From the speeds of all ranks to those of the servers, in place: a server's number is never above its rank. */
static void keep_servers(const parapet_store *store, int64_t *speeds)
{
    int i;
    for (i = 0; i < store->server_count; i++)
        speeds[i] = speeds[store->servers[i]];
}

/* [collective] */
static parapet_status weigh(parapet_store *store, pp_direction direction, int64_t *speeds, pp_weighting *next)
{
    const pp_epochs *source = &store->epochs[source_of(store, direction)];
    pp_weighting now = source->speeds.now;
    parapet_status status =
        pp_comm_agree_numbers(store->comm, "telling speeds", PARAPET_OK, store->epochs[direction].speeds.own, speeds);
    if (status != PARAPET_OK)
        return status;
    keep_servers(store, speeds);
    now.fastest = store->epochs[direction].is_told ? now.fastest : 0; /* speeds of the other direction are others */
    return pp_comm_agree(store->comm, "weighing servers", pp_weighting_renew(&now, speeds, next));
}

static void adopt(pp_epochs *epochs, pp_weighting *next)
{
    int64_t before = epochs->speeds.epoch;
    pp_speeds_adopt(&epochs->speeds, next);
    epochs->is_told = true;
    if (epochs->speeds.epoch != before)
        epochs->homes = (pp_homes){0};
}

static parapet_status give_direction(pp_epochs *epochs, const int64_t *speeds)
{
    pp_weighting next = {0};
    parapet_status status = pp_weighting_renew(&epochs->speeds.now, speeds, &next);
    if (status == PARAPET_OK)
        adopt(epochs, &next);
    pp_weighting_clear(&next);
    return status;
}

parapet_status pp_epochs_give(parapet_store *store, const pp_given_speeds *speeds)
{
    parapet_status status = give_direction(&store->epochs[PP_READING], speeds->reading);
    return status == PARAPET_OK ? give_direction(&store->epochs[PP_WRITING], speeds->writing) : status;
}

static parapet_status place_all(const parapet_array_parts *list, int count, pp_direction direction)
{
    parapet_status status = PARAPET_OK;
    pp_transfer_context unused;
    int i;
    for (i = 0; i < count && status == PARAPET_OK; i++)
        status = pp_epochs_place(list[i].array, direction, &unused);
    return status;
}

parapet_status pp_epochs_renew(parapet_store *store, pp_direction direction, const parapet_array_parts *list,
                               int count)
{
    size_t ranks = (size_t)pp_comm_size(store->comm);
    pp_weighting next = {0};
    int64_t *speeds = NULL;
    parapet_status status = pp_allocate_array(&speeds, ranks, sizeof speeds[0]);
    if ((status = pp_comm_agree(store->comm, "weighing servers", status)) == PARAPET_OK &&
        (status = weigh(store, direction, speeds, &next)) == PARAPET_OK) {
        adopt(&store->epochs[direction], &next);
        status = pp_comm_agree(store->comm, "choosing homes", place_all(list, count, direction));
    }
    pp_weighting_clear(&next);
    pp_free(speeds);
    return status;
}

/* ---- Homes ---- */

const pp_turns *pp_epochs_turns(const parapet_store *store, pp_direction direction)
{
    const pp_weighting *now;
    if (store->epochs == NULL)
        return NULL;
    now = &store->epochs[source_of(store, direction)].speeds.now;
    return pp_weighting_is_even(now) ? NULL : &now->turns;
}

/* What was chosen is a function of the weights and of the shards that the array had when it was opened, so all ranks
 * find the same, whenever each of them chooses. */
static parapet_status choose(parapet_array *array, pp_epochs *epochs, pp_weighted_homes *chosen)
{
    parapet_status status;
    chosen->epoch = 0;
    chosen->lattice.phase = array->lattice.phase;
    if ((status = pp_homes_choose_weighted(&epochs->homes, array->document.ndim, array->first_cells,
                                           &epochs->speeds.now.turns, &chosen->lattice)) == PARAPET_OK)
        chosen->epoch = epochs->speeds.epoch;
    return status;
}

parapet_status pp_epochs_place(parapet_array *array, pp_direction direction, pp_transfer_context *context)
{
    parapet_store *store = array->store;
    pp_weighted_homes *chosen;
    pp_direction source;
    pp_epochs *epochs;
    parapet_status status = PARAPET_OK;
    if (!array->has_lattice || pp_epochs_turns(store, direction) == NULL)
        return PARAPET_OK;
    source = source_of(store, direction);
    epochs = &store->epochs[source];
    chosen = &array->weighted[source];
    if (chosen->epoch != epochs->speeds.epoch && (status = choose(array, epochs, chosen)) != PARAPET_OK)
        return status;
    context->lattice = &chosen->lattice;
    context->turns = &epochs->speeds.now.turns;
    return PARAPET_OK;
}
