#include "transfer/legs.h"

#include <string.h>

#include "base/checked.h"

static const pp_view *served(const pp_legs_case *of)
{
    return pp_session_served(of->session);
}

static size_t element_bytes(const pp_legs_case *of)
{
    return of->session->items[of->window->target].context->layout->element_bytes;
}

static bool needs_messages(const pp_legs_case *of, int rank)
{
    const pp_peer *peer;
    if (rank == pp_comm_rank(of->session->crew->comm))
        return false;
    peer = pp_peers_find(&of->session->peers, rank);
    return of->news != PP_WINDOW_DATA || !atomic_load(&peer->is_direct);
}

static bool touches(const pp_legs_case *of, size_t first, size_t end)
{
    pp_pieces pieces;
    pp_piece piece;
    if (of->news == PP_WINDOW_FILL_SHARD)
        return true;
    pp_pieces_init(&pieces, &served(of)->plan, &served(of)->list, of->window, first, end,
                   of->session->crew->fragment_bytes);
    return pp_pieces_next(&pieces, &piece);
}

typedef struct totals {
    int legs;
    int64_t fragments, bytes;
} totals;

static void count_rank(const pp_legs_case *of, size_t first, size_t end, int64_t *fragments, int64_t *bytes)
{
    pp_pieces pieces;
    *fragments = *bytes = 0;
    if (of->news != PP_WINDOW_DATA)
        return;
    pp_pieces_init(&pieces, &served(of)->plan, &served(of)->list, of->window, first, end,
                   of->session->crew->fragment_bytes);
    pp_pieces_count(&pieces, fragments, bytes);
}

static totals count_all(const pp_legs_case *of)
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
        sum.legs++;
        sum.fragments += fragments;
        sum.bytes += bytes;
    }
    return sum;
}

/* One piece that is a run of whole rows of a chunk that is all claimed can be received where it belongs. */
static bool goes_in_place(const pp_legs_case *of, const pp_window_leg *leg)
{
    pp_pieces pieces = leg->pieces;
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

/* Sets out the fragments of a leg from where data points; returns behind them. */
static unsigned char *place_fragments(const pp_legs_case *of, pp_window_leg *leg, unsigned char *data)
{
    pp_pieces walk = leg->pieces;
    pp_piece piece;
    int64_t strides[PARAPET_MAX_NDIM];
    size_t bytes;
    int i = 0;
    if (leg->is_in_place)
        pp_strides_c_order(of->chunk_box->ndim, of->chunk_box->count, element_bytes(of), strides);
    while (of->news == PP_WINDOW_DATA && (bytes = pp_pieces_begin_fragment(&walk)) > 0) {
        unsigned char *place = data;
        bool is_first = true;
        while (pp_pieces_next_in_fragment(&walk, &piece)) {
            if (leg->is_in_place && is_first)
                place = of->chunk + pp_strides_offset(of->chunk_box, strides, piece.box.start);
            is_first = false;
        }
        leg->leg.fragments[i++] = (pp_fragment){.data = place, .bytes = bytes};
        if (!leg->is_in_place)
            data += bytes;
    }
    return data;
}

static void init_leg(const pp_legs_case *of, pp_window_leg *leg, size_t first, size_t end)
{
    memset(leg, 0, sizeof *leg);
    leg->leg.rank = served(of)->list.work[first].rank;
    leg->leg.tag = of->tag;
    leg->leg.is_offer = of->is_offer;
    pp_window_write(of->window, of->news, leg->leg.request.words);
    pp_pieces_init(&leg->pieces, &served(of)->plan, &served(of)->list, of->window, first, end,
                   of->session->crew->fragment_bytes);
    leg->is_in_place = of->news == PP_WINDOW_DATA && goes_in_place(of, leg);
}

static void build_all(pp_legs *legs, const pp_legs_case *of, const totals *sum)
{
    const pp_worklist *list = &served(of)->list;
    pp_fragment *fragments = (pp_fragment *)(void *)(legs->legs + sum->legs);
    pp_wire_request *moves = (pp_wire_request *)(void *)(fragments + sum->fragments);
    unsigned char *data = legs->staging.data;
    size_t first, end;
    memset(moves, 0, (size_t)sum->fragments * sizeof moves[0]);
    for (first = of->first; first < of->end; first = end) {
        pp_window_leg *leg = &legs->legs[legs->count];
        int64_t count, bytes;
        end = pp_worklist_rank_end(list, first, of->end);
        if (!needs_messages(of, list->work[first].rank) || !touches(of, first, end))
            continue;
        count_rank(of, first, end, &count, &bytes);
        init_leg(of, leg, first, end);
        leg->leg.fragments = fragments;
        leg->leg.moves = moves;
        leg->leg.fragment_count = (int)count;
        leg->data = data;
        data = place_fragments(of, leg, data);
        fragments += count;
        moves += count;
        legs->count++;
    }
}

/* With the lock of the peers held: who needs messages must not change between counting and building. */
static parapet_status build_locked(pp_legs *legs, const pp_legs_case *of)
{
    totals sum = count_all(of);
    size_t arena_bytes = (size_t)sum.legs * sizeof(pp_window_leg) +
                         (size_t)sum.fragments * (sizeof(pp_fragment) + sizeof(pp_wire_request));
    parapet_status status;
    legs->count = 0;
    if (sum.legs == 0)
        return PARAPET_OK;
    legs->arena.budget = legs->staging.budget = of->session->budget;
    if ((status = pp_buffer_ensure(&legs->arena, arena_bytes, "lists of messages")) != PARAPET_OK ||
        (sum.bytes > 0 &&
         (status = pp_buffer_ensure(&legs->staging, (size_t)sum.bytes, "buffers for messages")) != PARAPET_OK))
        return status;
    legs->legs = (pp_window_leg *)(void *)legs->arena.data;
    build_all(legs, of, &sum);
    return PARAPET_OK;
}

parapet_status pp_legs_build(pp_legs *legs, const pp_legs_case *of)
{
    pthread_mutex_t *lock = of->session->peers.lock;
    parapet_status status;
    pthread_mutex_lock(lock);
    status = build_locked(legs, of);
    pthread_mutex_unlock(lock);
    return status;
}

void pp_legs_free(pp_legs *legs)
{
    pp_buffer_free(&legs->arena);
    pp_buffer_free(&legs->staging);
    legs->count = 0;
}

bool pp_legs_has(const pp_legs *legs, int rank)
{
    int low = 0, high = legs->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (legs->legs[middle].leg.rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < legs->count && legs->legs[low].leg.rank == rank;
}

void pp_legs_ask(pp_legs *legs, pp_pull *pull)
{
    int i;
    for (i = 0; i < legs->count; i++)
        pp_pull_ask(pull, &legs->legs[i].leg);
}

bool pp_legs_are_done(const pp_legs *legs)
{
    int i;
    for (i = 0; i < legs->count; i++)
        if (legs->legs[i].leg.state != PP_LEG_DONE)
            return false;
    return true;
}

static bool find_pending(pp_window_leg *leg)
{
    if (!leg->has_pending)
        leg->has_pending = pp_pieces_next(&leg->pieces, &leg->pending);
    return leg->has_pending;
}

void pp_legs_move(pp_legs *legs, const pp_legs_case *of, int slot, const pp_box *chunk_box, void *chunk,
                  pp_direction direction)
{
    const pp_view *view = served(of);
    int i;
    for (i = 0; i < legs->count; i++) {
        pp_window_leg *leg = &legs->legs[i];
        while (find_pending(leg) && leg->pending.slot == slot) {
            pp_move move = {
                .box = &leg->pending.box,
                .claim = pp_claims_at(&view->claims, (size_t)view->list.work[leg->pending.work].claim),
                .ndim_most = view->claims.ndim_most,
                .chunk_box = chunk_box,
                .chunk = chunk,
                .element_bytes = element_bytes(of),
            };
            if (!leg->is_in_place) {
                pp_move_packed(&move, direction, leg->data);
                leg->data += (size_t)pp_box_element_count(move.box) * move.element_bytes;
            }
            leg->has_pending = false;
        }
    }
}
