#include "transfer/item.h"

#include "transfer/run.h"

const pp_transfer_context *pp_context_of(const pp_transfer *transfer, const pp_transfer_shard *shard)
{
    return pp_session_context(transfer->session, shard->target);
}

pp_delivery_case pp_transfer_delivery_case(const pp_transfer *transfer, const pp_transfer_item *item)
{
    bool reads = transfer->operations->direction == PP_READING;
    return (pp_delivery_case){
        .session = transfer->session,
        .window = &item->window,
        .first = item->shard->first,
        .end = item->shard->end,
        .tag = item->slot,
        .direction = transfer->operations->direction,
        .news = item->news,
        .staged_bytes = reads ? transfer->memory.staged_bytes : SIZE_MAX, /* what is written is claimed once */
        .list_bytes = reads ? transfer->memory.staging_bytes - transfer->memory.staged_bytes : SIZE_MAX,
    };
}

/* A piece in the memory of another process of the node. */
static bool move_direct(const pp_transfer *transfer, pp_chunk_move *move, size_t record, const pp_move *piece)
{
    const pp_session *session = transfer->session;
    const pp_work *work = &transfer->view->list.work[record];
    const pp_transfer_context *context = pp_session_context(session, work->target);
    pp_sieve *sieve = &transfer->sieves[move->worker];
    pp_box shard_box;
    pp_sieve_piece sieved = {
        .move = piece,
        .process = pp_peers_find(&session->peers, work->rank)->proof.process,
        .work = (int64_t)record,
        .shard_box = &shard_box,
    };
    pp_tiling_shard_box(&context->layout->tiling, work->shard, &shard_box);
    if (!(transfer->operations->direction == PP_WRITING ? pp_sieve_gather : pp_sieve_scatter)(sieve, &sieved)) {
        pp_peers_refuse(&session->peers, work->rank);
        return false;
    }
    move->direct_bytes += pp_box_element_count(piece->box) * (int64_t)piece->element_bytes;
    return true;
}

/* Whether a piece is part of a message, of this load or of a later one. */
static bool goes_by_message(const pp_transfer *transfer, const pp_deliveries *deliveries, size_t record)
{
    int rank = transfer->view->list.work[record].rank;
    if (deliveries->has_more && record >= deliveries->next)
        return !atomic_load(&pp_peers_find(&transfer->session->peers, rank)->is_direct);
    return pp_deliveries_has(deliveries, rank);
}

/* A piece that needs no message, or is part of one: those are moved together. */
static bool move_piece(const pp_transfer *transfer, pp_chunk_move *move, size_t record, const pp_move *piece)
{
    int rank = transfer->view->list.work[record].rank;
    if (rank == transfer->session->rank) {
        pp_move_own(piece, transfer->operations->direction);
        return true;
    }
    return goes_by_message(transfer, &move->item->deliveries, record) || move_direct(transfer, move, record, piece);
}

static void move_picks(const pp_transfer *transfer, pp_chunk_move *move)
{
    const pp_point_claims *picked = transfer->view->picked;
    pp_point_range range = pp_point_claims_band(picked, move->item->shard->number, move->chunk, &move->whole);
    move->moved_bytes = transfer->operations->direction == PP_WRITING
                            ? pp_point_claims_gather(picked, &range, move->elements)
                            : pp_point_claims_scatter(picked, &range, move->elements);
}

static bool move_boxes(const pp_transfer *transfer, pp_chunk_move *move)
{
    const pp_view *view = transfer->view;
    const pp_transfer_shard *shard = move->item->shard;
    pp_delivery_case of = pp_transfer_delivery_case(transfer, move->item);
    pp_box common;
    pp_move piece = {
        .box = &common,
        .ndim_most = view->claims.ndim_most,
        .chunk_box = &move->whole,
        .chunk = move->elements,
        .element_bytes = pp_session_context(transfer->session, shard->target)->layout->tiling.element_bytes,
    };
    size_t i;
    move->moved_bytes = 0;
    for (i = shard->first; i < shard->end; i++) {
        if (move->chunk < view->list.work[i].first_chunk || move->chunk > view->list.work[i].last_chunk ||
            !pp_view_intersect(view, i, &move->inside, &common))
            continue;
        piece.claim = pp_view_claim(view, i);
        if (!move_piece(transfer, move, i, &piece))
            return false;
        move->moved_bytes += pp_box_element_count(&common) * (int64_t)piece.element_bytes;
    }
    if (move->item->deliveries.count > 0)
        pp_deliveries_move(&move->item->deliveries, &of, move->index, &move->whole, move->elements);
    return true;
}

bool pp_chunk_move_pieces(const pp_transfer *transfer, pp_chunk_move *move)
{
    if (transfer->view->picked == NULL)
        return move_boxes(transfer, move);
    move_picks(transfer, move);
    return true;
}
