#include "transfer/open_shards.h"

static void free_shard(pp_transfer *transfer, pp_transfer_shard *shard)
{
    transfer->operations->close_shard(transfer, shard);
    pp_free(shard);
}

void pp_open_shards_tidy(pp_transfer *transfer)
{
    while (transfer->oldest != NULL && transfer->oldest != transfer->current &&
           atomic_load(&transfer->oldest->pending) == 0) {
        pp_transfer_shard *finished = transfer->oldest;
        transfer->oldest = finished->following;
        free_shard(transfer, finished);
    }
}

parapet_status pp_open_shards_add(pp_transfer *transfer, size_t first, size_t end)
{
    const pp_work *work = &transfer->view->list.work[first];
    pp_transfer_shard *shard;
    parapet_status status = pp_allocate(&shard, transfer->operations->shard_bytes);
    if (status != PARAPET_OK)
        return status;
    shard->target = work->target;
    shard->number = work->shard;
    shard->first = first;
    shard->end = end;
    if (transfer->current != NULL)
        transfer->current->following = shard;
    else
        transfer->oldest = shard;
    transfer->current = shard;
    return transfer->operations->open_shard(transfer, shard);
}

void pp_open_shards_clear(pp_transfer *transfer)
{
    transfer->current = NULL;
    while (transfer->oldest != NULL) {
        pp_transfer_shard *following = transfer->oldest->following;
        free_shard(transfer, transfer->oldest);
        transfer->oldest = following;
    }
}

int64_t pp_open_shards_claimed_bytes(const pp_transfer *transfer, size_t first, size_t last_end)
{
    const pp_view *view = transfer->view;
    int64_t sum = 0;
    size_t end;
    for (; first < last_end; first = end) {
        const pp_work *work = &view->list.work[first];
        const pp_layout *layout = pp_session_context(transfer->session, work->target)->layout;
        end = pp_worklist_group_end(&view->list, first);
        sum += pp_view_covered_shard(view, first, end) * (int64_t)layout->tiling.element_bytes;
    }
    return sum;
}
