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

/* What a window has for the records of one rank, behind so many fragments. */
static pp_pieces pieces_of(const pp_delivery_case *of, size_t first, size_t end, int64_t skipped)
{
    pp_pieces pieces;
    pp_pieces_init(&pieces, &served(of)->plan, &served(of)->list, of->window, first, end,
                   of->session->fragment_bytes);
    if (of->news == PP_WINDOW_DATA)
        pp_pieces_skip(&pieces, skipped);
    return pieces;
}

static bool touches(const pp_delivery_case *of, size_t first, size_t end)
{
    pp_pieces pieces = pieces_of(of, first, end, 0);
    pp_piece piece;
    return of->news == PP_WINDOW_FILL_SHARD || pp_pieces_next(&pieces, &piece);
}

/* ---- What a load has ---- */

typedef struct totals {
    int64_t deliveries, fragments;
    size_t bytes;
} totals;

static size_t list_bytes(const totals *sum)
{
    return (size_t)sum->deliveries * sizeof(pp_window_delivery) +
           (size_t)sum->fragments * (sizeof(pp_fragment) + sizeof(pp_wire_request));
}

/* Adds as many fragments of a rank as there is room for, and counts them; the first one always fits. true: all. */
static bool add_rank(const pp_delivery_case *of, pp_pieces *pieces, totals *sum, int64_t *count)
{
    size_t bytes;
    for (*count = 0; (bytes = pp_pieces_begin_fragment(pieces)) > 0; *count += 1) {
        totals more = {sum->deliveries + (*count == 0), sum->fragments + 1, sum->bytes + bytes};
        if (sum->fragments > 0 && (more.bytes > of->staged_bytes || list_bytes(&more) > of->list_bytes))
            return false;
        *sum = more;
    }
    return true;
}

/* Counts what the load has from where deliveries->next says, and moves that to where the next one begins. */
static totals count_load(pp_deliveries *deliveries, const pp_delivery_case *of)
{
    const pp_worklist *list = &served(of)->list;
    totals sum = {0};
    size_t first, end;
    deliveries->has_more = false;
    for (first = deliveries->next; first < of->end; first = end) {
        pp_pieces pieces;
        int64_t count;
        end = pp_worklist_rank_end(list, first, of->end);
        if (!needs_messages(of, list->work[first].rank) || !touches(of, first, end))
            continue;
        if (of->news != PP_WINDOW_DATA) {
            sum.deliveries++;
            continue;
        }
        pieces = pieces_of(of, first, end, deliveries->next_fragment);
        if ((deliveries->has_more = !add_rank(of, &pieces, &sum, &count))) {
            deliveries->next = first;
            deliveries->next_fragment += count;
            break;
        }
        deliveries->next_fragment = 0;
    }
    return sum;
}

/* ---- Building it ---- */

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
    int i;
    if (delivery->is_in_place)
        pp_strides_c_order(of->chunk_box->ndim, of->chunk_box->count, element_bytes(of), strides);
    for (i = 0; i < delivery->delivery.fragment_count; i++) {
        size_t bytes = pp_pieces_begin_fragment(&walk);
        unsigned char *place = data;
        bool is_first = true;
        while (pp_pieces_next_in_fragment(&walk, &piece)) {
            if (delivery->is_in_place && is_first)
                place = of->chunk + pp_strides_offset(of->chunk_box, strides, piece.box.start);
            is_first = false;
        }
        delivery->delivery.fragments[i] = (pp_fragment){.data = place, .bytes = bytes};
        delivery->left_bytes += bytes;
        if (!delivery->is_in_place)
            data += bytes;
    }
    return data;
}

static void init_delivery(const pp_delivery_case *of, pp_window_delivery *delivery, int rank, pp_pieces pieces)
{
    memset(delivery, 0, sizeof *delivery);
    delivery->delivery.rank = rank;
    delivery->delivery.tag = of->tag;
    delivery->delivery.is_offer = of->direction == PP_READING;
    delivery->pieces = pieces;
    delivery->is_in_place = of->news == PP_WINDOW_DATA && goes_in_place(of, delivery);
}

/* Of those that are left of a rank, so many at most. */
static int64_t count_fragments(pp_pieces pieces, int64_t most)
{
    int64_t count;
    for (count = 0; count < most && pp_pieces_begin_fragment(&pieces) > 0; count++)
        continue;
    return count;
}

/* From where the load begins; of the last rank it may have only some. */
static void build_load(pp_deliveries *deliveries, const pp_delivery_case *of, size_t first, int64_t skipped,
                       const totals *sum)
{
    const pp_worklist *list = &served(of)->list;
    pp_fragment *fragments = (pp_fragment *)(void *)(deliveries->deliveries + sum->deliveries);
    pp_wire_request *moves = (pp_wire_request *)(void *)(fragments + sum->fragments);
    unsigned char *data = deliveries->staging.data;
    int64_t left = sum->fragments;
    size_t end;
    memset(moves, 0, (size_t)sum->fragments * sizeof moves[0]);
    for (; deliveries->count < sum->deliveries; first = end) {
        pp_window_delivery *delivery = &deliveries->deliveries[deliveries->count];
        pp_window_load load = {.first = skipped};
        end = pp_worklist_rank_end(list, first, of->end);
        if (!needs_messages(of, list->work[first].rank) || !touches(of, first, end))
            continue;
        init_delivery(of, delivery, list->work[first].rank, pieces_of(of, first, end, skipped));
        if (of->news == PP_WINDOW_DATA)
            load.count = count_fragments(delivery->pieces, left);
        pp_window_write(of->window, of->news, &load, delivery->delivery.request.words);
        delivery->delivery.fragments = fragments;
        delivery->delivery.moves = moves;
        delivery->delivery.fragment_count = (int)load.count;
        delivery->data = data;
        data = place_fragments(of, delivery, data);
        fragments += load.count;
        moves += load.count;
        left -= load.count;
        skipped = 0;
        deliveries->count++;
    }
}

/* With the lock of the peers held: who needs messages must not change between counting and building. */
static parapet_status build_locked(pp_deliveries *deliveries, const pp_delivery_case *of)
{
    size_t first = deliveries->next;
    int64_t skipped = deliveries->next_fragment;
    totals sum = count_load(deliveries, of);
    parapet_status status;
    if (sum.deliveries == 0)
        return PARAPET_OK;
    deliveries->arena.budget = deliveries->staging.budget = of->session->budget;
    if ((status = pp_buffer_ensure(&deliveries->arena, list_bytes(&sum), "lists of messages")) != PARAPET_OK ||
        (sum.bytes > 0 &&
         (status = pp_buffer_ensure(&deliveries->staging, sum.bytes, "buffers for messages")) != PARAPET_OK))
        return status;
    deliveries->deliveries = (pp_window_delivery *)(void *)deliveries->arena.data;
    build_load(deliveries, of, first, skipped, &sum);
    return PARAPET_OK;
}

parapet_status pp_deliveries_build_next(pp_deliveries *deliveries, const pp_delivery_case *of)
{
    pthread_mutex_t *lock = of->session->peers.lock;
    parapet_status status;
    deliveries->count = 0;
    deliveries->is_over = false;
    if (of->session->serves_own)
        return PARAPET_OK;
    pthread_mutex_lock(lock);
    status = build_locked(deliveries, of);
    pthread_mutex_unlock(lock);
    return status;
}

parapet_status pp_deliveries_build(pp_deliveries *deliveries, const pp_delivery_case *of)
{
    deliveries->next = of->first;
    deliveries->next_fragment = 0;
    return pp_deliveries_build_next(deliveries, of);
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

static bool find_pending(pp_window_delivery *delivery, size_t element_bytes)
{
    if (!delivery->has_pending && delivery->left_bytes > 0) {
        delivery->has_pending = pp_pieces_next(&delivery->pieces, &delivery->pending);
        delivery->left_bytes -= (size_t)pp_box_element_count(&delivery->pending.box) * element_bytes;
    }
    return delivery->has_pending;
}

bool pp_deliveries_want(pp_deliveries *deliveries, const pp_delivery_case *of, int index)
{
    int i;
    for (i = 0; i < deliveries->count; i++)
        if (find_pending(&deliveries->deliveries[i], element_bytes(of)) &&
            deliveries->deliveries[i].pending.index == index)
            return true;
    return false;
}

void pp_deliveries_move(pp_deliveries *deliveries, const pp_delivery_case *of, int index, const pp_box *chunk_box,
                        void *chunk)
{
    const pp_view *view = served(of);
    int i;
    for (i = 0; i < deliveries->count; i++) {
        pp_window_delivery *delivery = &deliveries->deliveries[i];
        while (find_pending(delivery, element_bytes(of)) && delivery->pending.index == index) {
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
