#include "transfer/deliveries.h"

#include <string.h>

#include "base/checked.h"

static const pp_view *served(const pp_delivery_case *of)
{
    return pp_session_served(of->session);
}

static size_t element_bytes(const pp_delivery_case *of)
{
    return pp_session_context(of->session, of->window->target)->layout->tiling.element_bytes;
}

static bool needs_messages(const pp_delivery_case *of, int rank)
{
    const pp_peer *peer;
    if (rank == of->session->rank)
        return false;
    peer = pp_peers_find(&of->session->peers, rank);
    return of->news != PP_WINDOW_DATA || !atomic_load(&peer->is_direct);
}

static bool touches(const pp_delivery_case *of, size_t first, size_t end)
{
    pp_pieces pieces;
    pp_piece piece;
    if (of->news == PP_WINDOW_FILL_SHARD)
        return true;
    pp_pieces_init(&pieces, &served(of)->plan, &served(of)->list, of->window, first, end,
                   of->session->fragment_bytes);
    return pp_pieces_next(&pieces, &piece);
}

typedef struct totals {
    int deliveries;
    int64_t fragments, bytes;
} totals;

static void count_rank(const pp_delivery_case *of, size_t first, size_t end, int64_t *fragments, int64_t *bytes)
{
    pp_pieces pieces;
    *fragments = *bytes = 0;
    if (of->news != PP_WINDOW_DATA)
        return;
    pp_pieces_init(&pieces, &served(of)->plan, &served(of)->list, of->window, first, end,
                   of->session->fragment_bytes);
    pp_pieces_count(&pieces, fragments, bytes);
}

static totals count_all(const pp_delivery_case *of)
{
    const pp_worklist *list = &served(of)->list;
    totals sum = {0};
    size_t first, end;
    for (first = of->first; first < of->end; first = end) {
        int64_t fragments, bytes;
        end = pp_worklist_rank_end(list, first, of->end);
        if (!needs_messages(of, list->work[first].rank) || !touches(of, first, end))
            continue;
        count_rank(of, first, end, &fragments, &bytes);
        sum.deliveries++;
        sum.fragments += fragments;
        sum.bytes += bytes;
    }
    return sum;
}

/* One piece that is a run of whole rows of a chunk that is all claimed can be received where it belongs. */
static bool goes_in_place(const pp_delivery_case *of, const pp_window_delivery *delivery)
{
    pp_pieces pieces = delivery->pieces;
    const pp_box *whole = of->chunk_box;
    pp_piece piece;
    int64_t work = -1;
    int d;
    if (of->chunk == NULL)
        return false;
    while (pp_pieces_next(&pieces, &piece)) {
        if (work >= 0 && piece.work != work)
            return false;
        work = piece.work;
        for (d = 1; d < whole->ndim; d++)
            if (piece.box.count[d] != whole->count[d])
                return false;
    }
    return true;
}

/* Sets out the fragments of a delivery from where data points; returns behind them. */
static unsigned char *place_fragments(const pp_delivery_case *of, pp_window_delivery *delivery, unsigned char *data)
{
    pp_pieces walk = delivery->pieces;
    pp_piece piece;
    int64_t strides[PARAPET_MAX_NDIM];
    size_t bytes;
    int i = 0;
    if (delivery->is_in_place)
        pp_strides_c_order(of->chunk_box->ndim, of->chunk_box->count, element_bytes(of), strides);
    while (of->news == PP_WINDOW_DATA && (bytes = pp_pieces_begin_fragment(&walk)) > 0) {
        unsigned char *place = data;
        bool is_first = true;
        while (pp_pieces_next_in_fragment(&walk, &piece)) {
            if (delivery->is_in_place && is_first)
                place = of->chunk + pp_strides_offset(of->chunk_box, strides, piece.box.start);
            is_first = false;
        }
        delivery->delivery.fragments[i++] = (pp_fragment){.data = place, .bytes = bytes};
        if (!delivery->is_in_place)
            data += bytes;
    }
    return data;
}

static void init_delivery(const pp_delivery_case *of, pp_window_delivery *delivery, size_t first, size_t end)
{
    memset(delivery, 0, sizeof *delivery);
    delivery->delivery.rank = served(of)->list.work[first].rank;
    delivery->delivery.tag = of->tag;
    delivery->delivery.is_offer = of->direction == PP_READING;
    pp_window_write(of->window, of->news, delivery->delivery.request.words);
    pp_pieces_init(&delivery->pieces, &served(of)->plan, &served(of)->list, of->window, first, end,
                   of->session->fragment_bytes);
    delivery->is_in_place = of->news == PP_WINDOW_DATA && goes_in_place(of, delivery);
}

static void build_all(pp_deliveries *deliveries, const pp_delivery_case *of, const totals *sum)
{
    const pp_worklist *list = &served(of)->list;
    pp_fragment *fragments = (pp_fragment *)(void *)(deliveries->deliveries + sum->deliveries);
    pp_wire_request *moves = (pp_wire_request *)(void *)(fragments + sum->fragments);
    unsigned char *data = deliveries->staging.data;
    size_t first, end;
    memset(moves, 0, (size_t)sum->fragments * sizeof moves[0]);
    for (first = of->first; first < of->end; first = end) {
        pp_window_delivery *delivery = &deliveries->deliveries[deliveries->count];
        int64_t count, bytes;
        end = pp_worklist_rank_end(list, first, of->end);
        if (!needs_messages(of, list->work[first].rank) || !touches(of, first, end))
            continue;
        count_rank(of, first, end, &count, &bytes);
        init_delivery(of, delivery, first, end);
        delivery->delivery.fragments = fragments;
        delivery->delivery.moves = moves;
        delivery->delivery.fragment_count = (int)count;
        delivery->data = data;
        data = place_fragments(of, delivery, data);
        fragments += count;
        moves += count;
        deliveries->count++;
    }
}

/* With the lock of the peers held: who needs messages must not change between counting and building. */
static parapet_status build_locked(pp_deliveries *deliveries, const pp_delivery_case *of)
{
    totals sum = count_all(of);
    size_t arena_bytes = (size_t)sum.deliveries * sizeof(pp_window_delivery) +
                         (size_t)sum.fragments * (sizeof(pp_fragment) + sizeof(pp_wire_request));
    parapet_status status;
    if (sum.deliveries == 0)
        return PARAPET_OK;
    deliveries->arena.budget = deliveries->staging.budget = of->session->budget;
    if ((status = pp_buffer_ensure(&deliveries->arena, arena_bytes, "lists of messages")) != PARAPET_OK ||
        (sum.bytes > 0 &&
         (status = pp_buffer_ensure(&deliveries->staging, (size_t)sum.bytes, "buffers for messages")) != PARAPET_OK))
        return status;
    deliveries->deliveries = (pp_window_delivery *)(void *)deliveries->arena.data;
    build_all(deliveries, of, &sum);
    return PARAPET_OK;
}

parapet_status pp_deliveries_build(pp_deliveries *deliveries, const pp_delivery_case *of)
{
    pthread_mutex_t *lock = of->session->peers.lock;
    parapet_status status;
    deliveries->count = 0;
    deliveries->is_over = false;
    if (of->session->is_alone)
        return PARAPET_OK;
    pthread_mutex_lock(lock);
    status = build_locked(deliveries, of);
    pthread_mutex_unlock(lock);
    return status;
}

void pp_deliveries_free(pp_deliveries *deliveries)
{
    pp_buffer_free(&deliveries->arena);
    pp_buffer_free(&deliveries->staging);
    deliveries->count = 0;
}

bool pp_deliveries_has(const pp_deliveries *deliveries, int rank)
{
    int low = 0, high = deliveries->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (deliveries->deliveries[middle].delivery.rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < deliveries->count && deliveries->deliveries[low].delivery.rank == rank;
}

void pp_deliveries_ask(pp_deliveries *deliveries, pp_pull *pull)
{
    int i;
    for (i = 0; i < deliveries->count; i++)
        pp_pull_ask(pull, &deliveries->deliveries[i].delivery);
}

bool pp_deliveries_are_done(const pp_deliveries *deliveries)
{
    int i;
    for (i = 0; i < deliveries->count; i++)
        if (deliveries->deliveries[i].delivery.state != PP_DELIVERY_DONE)
            return false;
    return true;
}

static bool find_pending(pp_window_delivery *delivery)
{
    if (!delivery->has_pending)
        delivery->has_pending = pp_pieces_next(&delivery->pieces, &delivery->pending);
    return delivery->has_pending;
}

void pp_deliveries_move(pp_deliveries *deliveries, const pp_delivery_case *of, int index, const pp_box *chunk_box,
                        void *chunk)
{
    const pp_view *view = served(of);
    int i;
    for (i = 0; i < deliveries->count; i++) {
        pp_window_delivery *delivery = &deliveries->deliveries[i];
        while (find_pending(delivery) && delivery->pending.index == index) {
            pp_move move = {
                .box = &delivery->pending.box,
                .claim = pp_view_claim(view, (size_t)delivery->pending.work),
                .ndim_most = view->claims.ndim_most,
                .chunk_box = chunk_box,
                .chunk = chunk,
                .element_bytes = element_bytes(of),
            };
            if (!delivery->is_in_place) {
                pp_move_packed(&move, of->direction, delivery->data);
                delivery->data += (size_t)pp_box_element_count(move.box) * move.element_bytes;
            }
            delivery->has_pending = false;
        }
    }
}
