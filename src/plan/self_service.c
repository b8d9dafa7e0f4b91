#include "plan/self_service.h"

#include "base/checked.h"
#include "base/ranks.h"

/* A request of this length keeps storage busy, and is worth opening a shard that another rank opens too. */
#define STRETCH_LEAST_BYTES (INT64_C(1) << 20)

/* What ranks may read, as a multiple of what they want. On tmpfs, 1.65 times (60^3 chunks on 16 ranks) takes half of
 * the time that owners need. */
#define READ_MOST 2

/* The chunks that a claim touches in a shard. */
typedef struct touched {
    int64_t bytes;         /* of theirs, in the array */
    int64_t claimed_bytes; /* of those */
    int64_t stretch_bytes; /* that lie together in the shard */
    bool is_whole;         /* all of them is claimed */
} touched;

static touched measure(const pp_tiling *tiling, int64_t shard, const pp_box *claimed)
{
    const int64_t *side = tiling->chunks.cell_shape;
    int64_t element = (int64_t)tiling->element_bytes, cell = pp_grid_cell_elements(&tiling->chunks) * element;
    touched found = {.bytes = element, .stretch_bytes = cell, .is_whole = true};
    bool is_all = true; /* of the dimensions so far */
    pp_box whole, common, inside, chunks;
    int d;
    pp_tiling_shard_box(tiling, shard, &whole);
    pp_tiling_chunks_inside(tiling, shard, &inside);
    (void)pp_tiling_chunks_touched(tiling, shard, claimed, &chunks);
    (void)pp_box_intersect(claimed, &whole, &common);
    for (d = whole.ndim - 1; d >= 0; d--) {
        int64_t start = chunks.start[d] * side[d];
        int64_t count = pp_min_i64(chunks.count[d] * side[d], whole.count[d] - start);
        found.bytes *= count;
        found.is_whole = found.is_whole && common.start[d] - whole.start[d] == start && common.count[d] == count;
        if (is_all && !pp_multiply_fits(found.stretch_bytes, chunks.count[d], &found.stretch_bytes))
            found.stretch_bytes = INT64_MAX;
        is_all = is_all && chunks.count[d] == inside.count[d];
    }
    found.claimed_bytes = pp_box_element_count(&common) * element;
    return found;
}

static bool is_server(const pp_owner_case *owner_case, int rank)
{
    return pp_ranks_find(owner_case->servers, owner_case->server_count, rank) >= 0;
}

static bool fits_rank(const pp_owner_case *owner_case, size_t first, size_t end, int64_t *excess)
{
    const pp_claim_set *plan = owner_case->plan;
    const pp_work *work = owner_case->list->work;
    const pp_target *target = &plan->targets[work[first].target];
    pp_box claimed;
    if (!is_server(owner_case, work[first].rank))
        return false;
    for (; first < end; first++) {
        touched found;
        pp_claim_box(pp_claims_at(plan->claims, (size_t)work[first].claim), plan->claims->ndim_most,
                     target->tiling->shards.ndim, &claimed);
        found = measure(target->tiling, work[first].shard, &claimed);
        if (found.stretch_bytes < STRETCH_LEAST_BYTES || !(found.is_whole || target->may_read_again))
            return false;
        *excess += found.bytes - READ_MOST * found.claimed_bytes;
    }
    return true;
}

bool pp_self_service_fits(const pp_owner_case *owner_case, size_t first, size_t end, int64_t *excess)
{
    size_t rank_end = pp_worklist_rank_end(owner_case->list, first, end);
    if (rank_end == end) /* whoever owns the shard has to read the same of it */
        return is_server(owner_case, owner_case->list->work[first].rank);
    for (; first < end; first = rank_end) {
        rank_end = pp_worklist_rank_end(owner_case->list, first, end);
        if (!fits_rank(owner_case, first, rank_end, excess))
            return false;
    }
    return true;
}
