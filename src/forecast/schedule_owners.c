#include "forecast/schedule_owners.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/choice.h"
#include "base/status.h"
#include "plan/self_service.h"

/* Five numbers are kept per shard, 24 bytes. */
#define SHARDS_MOST (INT64_C(1) << 25)

int64_t pp_server_rank(const pp_schedule_case *by, int server)
{
    return server * by->distribution->rank_count / by->server_count;
}

typedef struct owners_job {
    const pp_schedule_case *by;
    const pp_owner_strategy *strategy;
    pp_target target;
    pp_budget budget;
    int *servers; /* their ranks */
    int home;
    int32_t *homes;  /* of every shard */
    int32_t *owners; /* the same; at first what is proposed */
    int64_t *held;   /* bytes of every shard, by the server that it is proposed to */
    int32_t *order;  /* shards, by their homes or by the servers that they are proposed to, and then by number */
    int64_t *starts; /* of every server in it, and the end */
    pp_room *rooms;  /* of every server */
    pp_fair_share fair;
    bool is_crossing; /* some shard is wanted elsewhere than at home, at least in part */
    bool is_unfit;    /* some rank cannot read its parts itself */
    int64_t excess;   /* unless they read too much, as in self_service.h */
} owners_job;

/* Puts the shards in the order of a key, which is an index of servers. */
static void sort_by(owners_job *job, const int32_t *keys)
{
    const int servers = job->by->server_count;
    int64_t shard, count = job->by->tiling->shards.cell_count;
    int server;
    memset(job->starts, 0, ((size_t)servers + 1) * sizeof job->starts[0]);
    for (shard = 0; shard < count; shard++)
        job->starts[keys[shard] + 1]++;
    for (server = 0; server < servers; server++)
        job->starts[server + 1] += job->starts[server];
    for (shard = count; shard-- > 0;)
        job->order[--job->starts[keys[shard] + 1]] = (int32_t)shard;
    for (server = 0; server < servers; server++) /* they have moved by one */
        job->starts[server] = job->starts[server + 1];
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

/* What a home proposes for each of its shards. */
static parapet_status propose_for_home(owners_job *job)
{
    pp_claims claims;
    pp_worklist list = {0};
    pp_claim_set plan = {.targets = &job->target, .target_count = 1, .claims = &claims};
    pp_owner_case owner_case = {.plan = &plan,
                                .list = &list,
                                .servers = job->servers,
                                .server_count = job->by->server_count,
                                .home = job->home};
    size_t first, end;
    parapet_status status;
    pp_claims_init(&claims, job->by->tiling->shards.ndim, &job->budget);
    if ((status = claim_shards(job, &claims)) == PARAPET_OK)
        status = pp_worklist_build(&list, &plan, NULL, NULL, &job->budget);
    for (first = 0; first < list.count && status == PARAPET_OK; first = end) {
        pp_proposal proposal;
        end = pp_worklist_group_end(&list, first);
        pp_owner_propose(&owner_case, job->strategy, first, end, &proposal);
        job->owners[proposal.shard] = proposal.server;
        job->held[proposal.shard] = proposal.held_bytes;
        job->is_crossing |= proposal.server != proposal.home || proposal.held_bytes < proposal.load_bytes;
        job->is_unfit = job->is_unfit || !pp_self_service_fits(&owner_case, first, end, &job->excess);
    }
    pp_worklist_clear(&list);
    pp_claims_clear(&claims);
    return status;
}

/* ---- Deciding, as in transfer/assign.c ---- */

static int64_t load_of(const owners_job *job, int64_t shard)
{
    pp_box box;
    pp_tiling_shard_box(job->by->tiling, shard, &box);
    return pp_box_element_count(&box) * (int64_t)job->by->tiling->element_bytes;
}

/* The proposals of one server, in the order of shards; free them with pp_free. */
static parapet_status gather(const owners_job *job, int server, bool is_decided, pp_proposal **some, size_t *count)
{
    const int32_t *order = job->order + job->starts[server];
    size_t i;
    parapet_status status;
    *count = (size_t)(job->starts[server + 1] - job->starts[server]);
    if ((status = pp_allocate_array(some, *count, sizeof **some)) != PARAPET_OK)
        return status;
    for (i = 0; i < *count; i++)
        (*some)[i] = (pp_proposal){.shard = order[i],
                                   .load_bytes = load_of(job, order[i]),
                                   .held_bytes = job->held[order[i]],
                                   .home = job->homes[order[i]],
                                   .server = server,
                                   .owner = is_decided ? job->owners[order[i]] : PP_NO_OWNER};
    return PARAPET_OK;
}

static void put_back(owners_job *job, const pp_proposal *some, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        job->owners[some[i].shard] = some[i].owner;
}

static parapet_status accept(owners_job *job, int server)
{
    pp_proposal *some = NULL;
    size_t count;
    parapet_status status = gather(job, server, false, &some, &count);
    if (status == PARAPET_OK && count > 0) {
        qsort(some, count, sizeof *some, pp_proposal_compare_held);
        pp_proposals_accept(some, count, &job->fair, &job->rooms[server].given);
        put_back(job, some, count);
    }
    pp_free(some);
    return status;
}

static parapet_status keep(owners_job *job, int server)
{
    pp_proposal *some = NULL;
    size_t count;
    parapet_status status = gather(job, server, true, &some, &count);
    if (status == PARAPET_OK) {
        job->rooms[server].server = server;
        job->rooms[server].left = pp_proposals_keep(some, count, &job->fair, &job->rooms[server].given);
        put_back(job, some, count);
    }
    pp_free(some);
    return status;
}

/* The deals of one home follow each other. */
static parapet_status deal_out(owners_job *job)
{
    pp_dealer dealer = {.fair = job->fair, .rooms = job->rooms, .count = (size_t)job->by->server_count};
    pp_proposal *some = NULL;
    size_t count = 0, next = 0;
    int64_t home = -1;
    parapet_status status = PARAPET_OK;
    pp_deal deal;
    while (status == PARAPET_OK && pp_dealer_next(&dealer, &deal)) {
        if (deal.home != home) {
            pp_free(some);
            some = NULL;
            home = deal.home;
            next = 0;
            status = gather(job, (int)home, true, &some, &count);
        }
        if (status == PARAPET_OK) {
            pp_proposals_give(some, count, &deal, &next);
            put_back(job, some, count);
        }
    }
    pp_free(some);
    return status;
}

static pp_fair_share find_fair_share(const owners_job *job)
{
    int64_t shard, count = job->by->tiling->shards.cell_count, bytes = 0;
    for (shard = 0; shard < count; shard++)
        bytes += load_of(job, shard);
    return pp_fair_share_of(bytes, count, job->by->server_count);
}

/* Of the rank that holds most: of those that come first along every dimension there is none that holds more. */
static int64_t most_held(const pp_schedule_case *by)
{
    const pp_distribution *distribution = by->distribution;
    int64_t bytes = (int64_t)by->tiling->element_bytes;
    int d;
    for (d = 0; d < distribution->ndim; d++) {
        int64_t turns = pp_divide_up(distribution->blocks[d], distribution->mesh[d]);
        bool has_last = distribution->blocks[d] > 0 && (distribution->blocks[d] - 1) % distribution->mesh[d] == 0;
        int64_t beyond = distribution->blocks[d] * distribution->block[d] - distribution->shape[d];
        bytes *= turns * distribution->block[d] - (has_last ? beyond : 0);
    }
    return bytes;
}

/* The parts of a distribution do not overlap. */
static bool find_self_service(const owners_job *job)
{
    return !job->is_unfit && job->excess <= 0 &&
           (!job->is_crossing || (double)most_held(job->by) <= job->fair.limit_bytes);
}

static parapet_status decide(owners_job *job)
{
    parapet_status status = PARAPET_OK;
    int64_t shard;
    int server;
    sort_by(job, job->owners);
    for (server = 0; server < job->by->server_count && status == PARAPET_OK; server++)
        status = accept(job, server);
    sort_by(job, job->homes);
    for (server = 0; server < job->by->server_count && status == PARAPET_OK; server++)
        status = keep(job, server);
    if (status == PARAPET_OK)
        status = deal_out(job);
    for (shard = 0; shard < job->by->tiling->shards.cell_count; shard++)
        if (job->owners[shard] == PP_NO_OWNER)
            job->owners[shard] = job->homes[shard];
    return status;
}

static const char *word_of(parapet_owners owners)
{
    return pp_choice_word_of(&pp_choice_owners, (int)owners)->word;
}

static parapet_status allocate(owners_job *job, int32_t **owners)
{
    size_t shards = (size_t)job->by->tiling->shards.cell_count, servers = (size_t)job->by->server_count;
    parapet_status status;
    if ((status = pp_allocate_array(owners, shards, sizeof **owners)) != PARAPET_OK)
        return status;
    job->owners = *owners;
    if ((status = pp_allocate_array(&job->homes, shards, sizeof *job->homes)) != PARAPET_OK ||
        (status = pp_allocate_array(&job->held, shards, sizeof *job->held)) != PARAPET_OK ||
        (status = pp_allocate_array(&job->order, shards, sizeof *job->order)) != PARAPET_OK ||
        (status = pp_allocate_array(&job->starts, servers + 1, sizeof *job->starts)) != PARAPET_OK ||
        (status = pp_allocate_array(&job->rooms, servers, sizeof *job->rooms)) != PARAPET_OK)
        return status;
    return pp_allocate_array(&job->servers, servers, sizeof *job->servers);
}

static void clear(owners_job *job)
{
    pp_free(job->homes);
    pp_free(job->held);
    pp_free(job->order);
    pp_free(job->starts);
    pp_free(job->rooms);
    pp_free(job->servers);
}

static void find_homes(owners_job *job)
{
    int64_t shard;
    int server;
    for (server = 0; server < job->by->server_count; server++)
        job->servers[server] = (int)pp_server_rank(job->by, server);
    for (shard = 0; shard < job->by->tiling->shards.cell_count; shard++)
        job->homes[shard] = pp_home_of(&job->target, shard, job->by->server_count);
    sort_by(job, job->homes);
}

parapet_status pp_schedule_owners_build(int32_t **owners, bool *is_self_service, const pp_schedule_case *by,
                                        const pp_owner_strategy *strategy)
{
    owners_job job = {.by = by,
                      .strategy = strategy,
                      .is_unfit = !by->is_read || by->owners != PARAPET_OWNERS_NEAREST ||
                                  by->sharing == PARAPET_SHARING_STEALING};
    parapet_status status;
    *is_self_service = false;
    if (by->tiling->shards.cell_count > SHARDS_MOST)
        return pp_fail(
            PARAPET_ERR_UNSUPPORTED,
            "%lld shards are too many to plan for with owners %s, whose limit is %lld; use %s, or larger shards",
            (long long)by->tiling->shards.cell_count, word_of(by->owners), (long long)SHARDS_MOST,
            word_of(PARAPET_OWNERS_IN_TURN));
    job.target = (pp_target){.tiling = by->tiling, .lattice = &by->lattice, .may_read_again = by->may_read_again};
    pp_budget_init(&job.budget, SIZE_MAX / 2);
    if ((status = allocate(&job, owners)) == PARAPET_OK) {
        find_homes(&job);
        for (job.home = 0; job.home < by->server_count && status == PARAPET_OK; job.home++)
            status = propose_for_home(&job);
        job.fair = find_fair_share(&job);
        *is_self_service = find_self_service(&job);
    }
    /* Where no home proposes anybody else, nobody is asked, and nothing is limited. */
    if (status == PARAPET_OK && !*is_self_service &&
        memcmp(job.owners, job.homes, (size_t)by->tiling->shards.cell_count * sizeof *job.homes) != 0)
        status = decide(&job);
    clear(&job);
    return status;
}
