#include "forecast/schedule_owners.h"

#include "base/checked.h"
#include "base/choice.h"

/* One number is kept per shard. */
#define SHARDS_MOST (INT64_C(1) << 26)

int64_t pp_server_rank(const pp_schedule_case *by, int server)
{
    return server * by->distribution->rank_count / by->server_count;
}

typedef struct owners_job {
    const pp_schedule_case *by;
    const pp_owner_strategy *strategy;
    pp_target target;
    pp_budget budget;
    int *servers;
    int home;
    int32_t *owners;
    int32_t *order;  /* shards by their homes, and by number for each home */
    int64_t *starts; /* of every home in it, and its end */
} owners_job;

/* Puts the shards in the order of their homes. Until a home has chosen, owners has the home. */
static void sort_by_home(owners_job *job)
{
    const int servers = job->by->server_count;
    int64_t shard, count = job->by->tiling->shards.cell_count;
    int home;
    for (shard = 0; shard < count; shard++) {
        job->owners[shard] = pp_home_of(&job->target, shard, servers);
        job->starts[job->owners[shard] + 1]++;
    }
    for (home = 0; home < servers; home++)
        job->starts[home + 1] += job->starts[home];
    for (shard = count; shard-- > 0;)
        job->order[--job->starts[job->owners[shard] + 1]] = (int32_t)shard;
    for (home = 0; home < servers; home++) /* they have moved by one */
        job->starts[home] = job->starts[home + 1];
    job->starts[servers] = count;
}

/* The boxes of a rank that meet a box, in the order of its boxes. */
static parapet_status claim_boxes(owners_job *job, int64_t rank, const pp_box *box, pp_claims *claims)
{
    const pp_distribution *distribution = job->by->distribution;
    int64_t words[PP_CLAIM_GEOMETRY + 3 * PARAPET_MAX_NDIM], strides[PARAPET_MAX_NDIM] = {0};
    int64_t first[PARAPET_MAX_NDIM], position[PARAPET_MAX_NDIM], cell[PARAPET_MAX_NDIM], step[PARAPET_MAX_NDIM];
    pp_box turns = {.ndim = box->ndim}, own = {.ndim = box->ndim};
    parapet_status status = PARAPET_OK;
    bool more;
    int d;
    pp_distribution_position(distribution, rank, position);
    for (d = 0; d < box->ndim; d++) {
        int64_t end = box->start[d] + box->count[d];
        if (!pp_multiply_fits(distribution->block[d], distribution->mesh[d], &step[d]))
            step[d] = INT64_MAX;
        first[d] = pp_distribution_block_from(distribution, d, position[d], box->start[d]);
        turns.count[d] = first[d] < end ? pp_divide_up(end - first[d], step[d]) : 0;
    }
    for (more = pp_box_first(&turns, cell); more && status == PARAPET_OK; more = pp_box_next(&turns, cell)) {
        for (d = 0; d < box->ndim; d++) {
            own.start[d] = first[d] + cell[d] * step[d];
            own.count[d] = pp_min_i64(distribution->block[d], distribution->shape[d] - own.start[d]);
        }
        /* Cut to the shard: that is all that its home weighs, and parts may be numbered as they come. */
        (void)pp_box_intersect(&own, box, &own);
        pp_claim_write(words, box->ndim, 0, (int)rank, (int64_t)claims->list.count, &own, NULL, strides);
        status = pp_claims_add(claims, words);
    }
    return status;
}

static parapet_status claim_shards(owners_job *job, pp_claims *claims)
{
    const pp_schedule_case *by = job->by;
    parapet_status status = PARAPET_OK;
    int64_t i, rank;
    for (i = job->starts[job->home]; i < job->starts[job->home + 1] && status == PARAPET_OK; i++) {
        pp_meeting meeting;
        pp_box box;
        pp_tiling_shard_box(by->tiling, job->order[i], &box);
        pp_meeting_init(&meeting, by->distribution, &box);
        while (status == PARAPET_OK && pp_meeting_next(&meeting, &rank))
            status = claim_boxes(job, rank, &box, claims);
    }
    return status;
}

static parapet_status choose_for_home(owners_job *job)
{
    const int32_t *order = job->order + job->starts[job->home];
    int64_t count = job->starts[job->home + 1] - job->starts[job->home];
    pp_claims claims;
    pp_worklist list = {0};
    pp_claim_set plan = {.targets = &job->target, .target_count = 1, .claims = &claims};
    pp_owner_case owner_case = {.plan = &plan,
                                .list = &list,
                                .servers = job->servers,
                                .server_count = job->by->server_count,
                                .home = job->home};
    int *chosen = NULL;
    int64_t i;
    parapet_status status;
    pp_claims_init(&claims, job->by->tiling->shards.ndim, &job->budget);
    if ((status = claim_shards(job, &claims)) == PARAPET_OK &&
        (status = pp_worklist_build(&list, &plan, NULL, NULL, &job->budget)) == PARAPET_OK &&
        (status = pp_allocate_array(&chosen, (size_t)count, sizeof *chosen)) == PARAPET_OK &&
        (status = job->strategy->choose(&owner_case, chosen)) == PARAPET_OK)
        for (i = 0; i < count; i++)
            job->owners[order[i]] = chosen[i];
    pp_free(chosen);
    pp_worklist_clear(&list);
    pp_claims_clear(&claims);
    return status;
}

static const char *word_of(parapet_ownership ownership)
{
    return pp_choice_word_of(&pp_choice_ownership, (int)ownership)->word;
}

parapet_status pp_schedule_owners_build(int32_t **owners, const pp_schedule_case *by,
                                        const pp_owner_strategy *strategy)
{
    owners_job job = {.by = by, .strategy = strategy};
    parapet_status status;
    int server;
    if (by->tiling->shards.cell_count > SHARDS_MOST)
        return pp_fail(
            PARAPET_ERR_UNSUPPORTED,
            "%lld shards are too many to plan for with ownership %s, whose limit is %lld; use %s, or larger shards",
            (long long)by->tiling->shards.cell_count, word_of(by->ownership), (long long)SHARDS_MOST,
            word_of(PARAPET_OWNERSHIP_ROUND_ROBIN));
    job.target = (pp_target){.tiling = by->tiling, .lattice = &by->lattice};
    pp_budget_init(&job.budget, SIZE_MAX / 2);
    if ((status = pp_allocate_array(owners, (size_t)by->tiling->shards.cell_count, sizeof **owners)) != PARAPET_OK ||
        (status = pp_allocate_array(&job.order, (size_t)by->tiling->shards.cell_count, sizeof *job.order)) !=
            PARAPET_OK ||
        (status = pp_allocate_array(&job.starts, (size_t)by->server_count + 1, sizeof *job.starts)) != PARAPET_OK ||
        (status = pp_allocate_array(&job.servers, (size_t)by->server_count, sizeof *job.servers)) != PARAPET_OK)
        goto done;
    job.owners = *owners;
    for (server = 0; server < by->server_count; server++)
        job.servers[server] = (int)pp_server_rank(by, server);
    sort_by_home(&job);
    for (job.home = 0; job.home < by->server_count && status == PARAPET_OK; job.home++)
        if (job.starts[job.home] < job.starts[job.home + 1])
            status = choose_for_home(&job);
done:
    pp_free(job.servers);
    pp_free(job.order);
    pp_free(job.starts);
    return status;
}
