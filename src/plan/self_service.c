#include "plan/self_service.h"

#include "base/checked.h"
#include "base/ranks.h"

/* A request of this length keeps storage busy, and is worth opening a shard that another rank opens too. */
#define STRETCH_LEAST_BYTES (INT64_C(1) << 20)

/* Whether what is claimed of a shard is whole chunks, in stretches that are long enough. */
static bool is_worth_reading(const pp_tiling *tiling, int64_t shard, const pp_box *claimed)
{
    const int64_t *side = tiling->chunks.cell_shape;
    int64_t stretch = pp_grid_cell_elements(&tiling->chunks) * (int64_t)tiling->element_bytes;
    bool is_all = true; /* of the dimensions so far */
    pp_box whole, common, inside, chunks;
    int d;
    pp_tiling_shard_box(tiling, shard, &whole);
    pp_tiling_chunks_inside(tiling, shard, &inside);
    (void)pp_tiling_chunks_touched(tiling, shard, claimed, &chunks);
    (void)pp_box_intersect(claimed, &whole, &common);
    for (d = whole.ndim - 1; d >= 0; d--) {
        int64_t start = common.start[d] - whole.start[d], end = start + common.count[d];
        if (start % side[d] != 0 || (end % side[d] != 0 && end != whole.count[d]))
            return false;
        if (is_all && !pp_multiply_fits(stretch, chunks.count[d], &stretch))
            stretch = INT64_MAX;
        is_all = is_all && chunks.count[d] == inside.count[d];
    }
    return stretch >= STRETCH_LEAST_BYTES;
}

static bool is_server(const pp_owner_case *owner_case, int rank)
{
    return pp_ranks_find(owner_case->servers, owner_case->server_count, rank) >= 0;
}

static bool fits_rank(const pp_owner_case *owner_case, size_t first, size_t end)
{
    const pp_claim_set *plan = owner_case->plan;
    const pp_work *work = owner_case->list->work;
    const pp_tiling *tiling = plan->targets[work[first].target].tiling;
    pp_box claimed;
    if (!is_server(owner_case, work[first].rank))
        return false;
    for (; first < end; first++) {
        pp_claim_box(pp_claims_at(plan->claims, (size_t)work[first].claim), plan->claims->ndim_most,
                     tiling->shards.ndim, &claimed);
        if (!is_worth_reading(tiling, work[first].shard, &claimed))
            return false;
    }
    return true;
}

bool pp_self_service_fits(const pp_owner_case *owner_case, size_t first, size_t end)
{
    size_t rank_end = pp_worklist_rank_end(owner_case->list, first, end);
    if (rank_end == end) /* whoever owns the shard has to read the same of it */
        return is_server(owner_case, owner_case->list->work[first].rank);
    for (; first < end; first = rank_end) {
        rank_end = pp_worklist_rank_end(owner_case->list, first, end);
        if (!fits_rank(owner_case, first, rank_end))
            return false;
    }
    return true;
}
