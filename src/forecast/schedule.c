#include "forecast/schedule.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/status.h"
#include "forecast/schedule_owners.h"
#include "plan/owners.h"

/* Results that are looked up again and again; one that is pushed out is counted anew. */
#define REMEMBERED ((size_t)1 << 16)

typedef struct memory_entry {
    uint64_t key; /* 0: free */
    pp_share share;
} memory_entry;

typedef struct share_memory {
    memory_entry *entries;
} share_memory;

struct pp_schedule {
    pp_schedule_case by;
    pp_crossing crossings[PARAPET_MAX_NDIM];
    pp_share_case share_case;
    share_memory pairs;   /* of a rank and a shard, by their encounters */
    share_memory rows;    /* of a shard and all ranks, by the kinds of its rows */
    share_memory columns; /* of a rank and all shards, by the kinds of its columns */
    int32_t *owners;      /* of every shard; NULL: round robin */
    bool is_self_service; /* there are none: every rank reads its parts itself */
};

/* ---- Remembering ---- */

/* One number for several, each below its limit; 0: they do not fit, and nothing is remembered. */
static uint64_t key_add(uint64_t key, size_t limit, int32_t value)
{
    uint64_t product;
    if (key == 0 || __builtin_mul_overflow(key, (uint64_t)limit + 1, &product) ||
        __builtin_add_overflow(product, (uint64_t)value + 1, &product))
        return 0;
    return product;
}

static memory_entry *entry_of(const share_memory *memory, uint64_t key)
{
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    return &memory->entries[(hash >> 32) % REMEMBERED];
}

static bool recall(const share_memory *memory, uint64_t key, pp_share *share)
{
    const memory_entry *entry = entry_of(memory, key);
    if (key == 0 || entry->key != key)
        return false;
    *share = entry->share;
    return true;
}

static void remember(const share_memory *memory, uint64_t key, const pp_share *share)
{
    if (key != 0)
        *entry_of(memory, key) = (memory_entry){key, *share};
}

/* ---- Sums over products ---- */

static parapet_status count_pair(pp_schedule *schedule, const int32_t *encounters, pp_share *share)
{
    uint64_t key = 1;
    parapet_status status;
    int d;
    for (d = 0; d < schedule->by.tiling->shards.ndim; d++)
        key = key_add(key, schedule->crossings[d].encounter_count, encounters[d]);
    if (recall(&schedule->pairs, key, share))
        return PARAPET_OK;
    if ((status = pp_share_count(&schedule->share_case, encounters, share)) == PARAPET_OK)
        remember(&schedule->pairs, key, share);
    return status;
}

/* Sums over all ways to take one tally from the kind of every dimension. */
static parapet_status sum_kinds(pp_schedule *schedule, const pp_kind *const *kinds, const pp_tally *const *tallies,
                                pp_share *sum)
{
    int ndim = schedule->by.tiling->shards.ndim, d;
    pp_box choices = {.ndim = ndim};
    int64_t choice[PARAPET_MAX_NDIM];
    int32_t encounters[PARAPET_MAX_NDIM];
    parapet_status status = PARAPET_OK;
    pp_share share;
    bool more;
    *sum = (pp_share){0};
    for (d = 0; d < ndim; d++)
        choices.count[d] = (int64_t)kinds[d]->count;
    for (more = pp_box_first(&choices, choice); more && status == PARAPET_OK; more = pp_box_next(&choices, choice)) {
        int64_t times = 1;
        for (d = 0; d < ndim; d++) {
            const pp_tally *tally = &tallies[d][kinds[d]->first + (size_t)choice[d]];
            encounters[d] = tally->encounter;
            times *= tally->count;
        }
        if ((status = count_pair(schedule, encounters, &share)) == PARAPET_OK)
            pp_share_add(sum, &share, times);
    }
    return status;
}

/* All ranks together, for a shard with these rows. */
static parapet_status count_rows(pp_schedule *schedule, const pp_crossing_row *const *rows, pp_share *sum)
{
    const pp_kind *kinds[PARAPET_MAX_NDIM];
    const pp_tally *tallies[PARAPET_MAX_NDIM];
    uint64_t key = 1;
    parapet_status status;
    int d;
    for (d = 0; d < schedule->by.tiling->shards.ndim; d++) {
        const pp_kinds *all = &schedule->crossings[d].row_kinds;
        key = key_add(key, all->count, rows[d]->kind);
        kinds[d] = &all->kinds[rows[d]->kind];
        tallies[d] = all->tallies;
    }
    if (recall(&schedule->rows, key, sum))
        return PARAPET_OK;
    if ((status = sum_kinds(schedule, kinds, tallies, sum)) == PARAPET_OK)
        remember(&schedule->rows, key, sum);
    return status;
}

/* All shards together, for a rank; those that it owns itself included. */
static parapet_status count_columns(pp_schedule *schedule, const int64_t *position, pp_share *sum)
{
    const pp_kind *kinds[PARAPET_MAX_NDIM];
    const pp_tally *tallies[PARAPET_MAX_NDIM];
    uint64_t key = 1;
    parapet_status status;
    int d;
    for (d = 0; d < schedule->by.tiling->shards.ndim; d++) {
        const pp_kinds *all = &schedule->crossings[d].column_kinds;
        int32_t kind = schedule->crossings[d].column_kind[position[d]];
        key = key_add(key, all->count, kind);
        kinds[d] = &all->kinds[kind];
        tallies[d] = all->tallies;
    }
    if (recall(&schedule->columns, key, sum))
        return PARAPET_OK;
    if ((status = sum_kinds(schedule, kinds, tallies, sum)) == PARAPET_OK)
        remember(&schedule->columns, key, sum);
    return status;
}

/* ---- The schedule ---- */

static parapet_status init_crossings(pp_schedule *schedule)
{
    parapet_status status = PARAPET_OK;
    int d;
    for (d = 0; d < schedule->by.tiling->shards.ndim && status == PARAPET_OK; d++)
        status = pp_crossing_init(&schedule->crossings[d], schedule->by.distribution, schedule->by.tiling, d);
    return status;
}

static parapet_status find_owners(pp_schedule *schedule)
{
    const pp_owner_strategy *strategy = pp_owner_strategy_of(schedule->by.owners);
    if (strategy == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "owners is %d, which is not a way to choose owners",
                       (int)schedule->by.owners);
    if (!strategy->moves)
        return PARAPET_OK;
    return pp_schedule_owners_build(&schedule->owners, &schedule->is_self_service, &schedule->by, strategy);
}

parapet_status pp_schedule_build(pp_schedule **schedule, const pp_schedule_case *schedule_case)
{
    pp_schedule *made;
    parapet_status status = pp_allocate(schedule, sizeof **schedule);
    if (status != PARAPET_OK)
        return status;
    made = *schedule;
    made->by = *schedule_case;
    made->share_case = (pp_share_case){
        .crossings = made->crossings,
        .tiling = schedule_case->tiling,
        .window_chunks = schedule_case->window_chunks,
        .fragment_bytes = schedule_case->fragment_bytes,
    };
    if ((status = pp_allocate_array(&made->pairs.entries, REMEMBERED, sizeof(memory_entry))) != PARAPET_OK ||
        (status = pp_allocate_array(&made->rows.entries, REMEMBERED, sizeof(memory_entry))) != PARAPET_OK ||
        (status = pp_allocate_array(&made->columns.entries, REMEMBERED, sizeof(memory_entry))) != PARAPET_OK ||
        (status = init_crossings(made)) != PARAPET_OK || (status = find_owners(made)) != PARAPET_OK) {
        pp_schedule_free(made);
        *schedule = NULL;
    }
    return status;
}

void pp_schedule_free(pp_schedule *schedule)
{
    int d;
    if (schedule == NULL)
        return;
    for (d = 0; d < PARAPET_MAX_NDIM; d++)
        pp_crossing_clear(&schedule->crossings[d]);
    pp_free(schedule->pairs.entries);
    pp_free(schedule->rows.entries);
    pp_free(schedule->columns.entries);
    pp_free(schedule->owners);
    pp_free(schedule);
}

int64_t pp_schedule_server_rank(const pp_schedule *schedule, int server)
{
    return pp_server_rank(&schedule->by, server);
}

bool pp_schedule_is_self_service(const pp_schedule *schedule)
{
    return schedule->is_self_service;
}

static int home_of(const pp_schedule *schedule, int64_t shard)
{
    pp_target target = {.tiling = schedule->by.tiling, .lattice = &schedule->by.lattice, .turns = schedule->by.turns};
    return pp_home_of(&target, shard, schedule->by.server_count);
}

int pp_schedule_owner(const pp_schedule *schedule, int64_t shard)
{
    return schedule->owners != NULL ? schedule->owners[shard] : home_of(schedule, shard);
}

static void find_rows(const pp_schedule *schedule, int64_t shard, const pp_crossing_row **rows)
{
    int64_t cell[PARAPET_MAX_NDIM];
    int d;
    pp_grid_cell_position(&schedule->by.tiling->shards, shard, cell);
    for (d = 0; d < schedule->by.tiling->shards.ndim; d++)
        rows[d] = pp_crossing_row_of(&schedule->crossings[d], cell[d]);
}

/* How the rank of a server meets a shard with these rows; false: it does not. */
static bool find_encounters(const pp_schedule *schedule, const pp_crossing_row *const *rows, int server,
                            int32_t *encounters)
{
    int64_t position[PARAPET_MAX_NDIM];
    int d;
    pp_distribution_position(schedule->by.distribution, pp_schedule_server_rank(schedule, server), position);
    for (d = 0; d < schedule->by.tiling->shards.ndim; d++) {
        encounters[d] = pp_crossing_find(&schedule->crossings[d], rows[d], position[d]);
        if (encounters[d] < 0)
            return false;
    }
    return true;
}

static bool serves(const pp_schedule *schedule, int server, int64_t shard)
{
    const pp_crossing_row *rows[PARAPET_MAX_NDIM];
    int32_t encounters[PARAPET_MAX_NDIM];
    if (!schedule->is_self_service)
        return pp_schedule_owner(schedule, shard) == server;
    find_rows(schedule, shard, rows);
    return find_encounters(schedule, rows, server, encounters);
}

bool pp_schedule_next_shard(const pp_schedule *schedule, int server, int64_t *shard)
{
    while (*shard < schedule->by.tiling->shards.cell_count && !serves(schedule, server, *shard))
        ++*shard;
    return *shard < schedule->by.tiling->shards.cell_count;
}

/* What the server itself has of the shard. */
static parapet_status count_own(pp_schedule *schedule, const pp_crossing_row *const *rows, int server, pp_share *own)
{
    int32_t encounters[PARAPET_MAX_NDIM];
    *own = (pp_share){0};
    return find_encounters(schedule, rows, server, encounters) ? count_pair(schedule, encounters, own) : PARAPET_OK;
}

parapet_status pp_schedule_shard(pp_schedule *schedule, int server, int64_t shard, pp_shard_share *share)
{
    const pp_crossing_row *rows[PARAPET_MAX_NDIM];
    parapet_status status;
    int d;
    *share = (pp_shard_share){.ranks = 1};
    find_rows(schedule, shard, rows);
    for (d = 0; d < schedule->by.tiling->shards.ndim; d++)
        share->ranks *= (int64_t)rows[d]->count;
    if ((status = count_rows(schedule, rows, &share->all)) != PARAPET_OK ||
        (status = count_own(schedule, rows, server, &share->own)) != PARAPET_OK || schedule->is_self_service)
        return status;
    share->others = share->all;
    pp_share_add(&share->others, &share->own, -1);
    return PARAPET_OK;
}

static void add_shard(pp_server_share *server, const pp_shard_share *shard)
{
    server->shards++;
    server->most_ranks = pp_max_i64(server->most_ranks, shard->ranks - (shard->own.bytes > 0));
    server->listed += shard->all.boxes;
    pp_share_add(&server->others, &shard->others, 1);
    pp_share_add(&server->own, &shard->own, 1);
}

static parapet_status build_columns(pp_schedule *schedule)
{
    const pp_distribution *distribution = schedule->by.distribution;
    parapet_status status = PARAPET_OK;
    int d;
    for (d = 0; d < distribution->ndim && status == PARAPET_OK; d++)
        if (schedule->crossings[d].column_kind == NULL)
            status = pp_crossing_build_columns(&schedule->crossings[d], distribution->mesh[d]);
    return status;
}

/* Shards that have elements of the rank at a position. */
static int64_t count_met(const pp_schedule *schedule, const int64_t *position)
{
    int64_t product = 1;
    size_t i;
    int d;
    for (d = 0; d < schedule->by.tiling->shards.ndim; d++) {
        const pp_kinds *all = &schedule->crossings[d].column_kinds;
        const pp_kind *kind = &all->kinds[schedule->crossings[d].column_kind[position[d]]];
        int64_t sum = 0;
        for (i = 0; i < kind->count; i++)
            sum += all->tallies[kind->first + i].count;
        product *= sum;
    }
    return product;
}

parapet_status pp_schedule_held(pp_schedule *schedule, int server, pp_server_share *share)
{
    int64_t position[PARAPET_MAX_NDIM];
    parapet_status status = build_columns(schedule);
    *share = (pp_server_share){0};
    pp_distribution_position(schedule->by.distribution, pp_schedule_server_rank(schedule, server), position);
    if (status != PARAPET_OK || (status = count_columns(schedule, position, &share->own)) != PARAPET_OK)
        return status;
    share->shards = count_met(schedule, position);
    share->listed = share->own.boxes;
    return PARAPET_OK;
}

/* What a home has to list of a shard before it is known that every rank reads its parts itself. */
static parapet_status add_home(pp_schedule *schedule, int64_t shard, pp_server_share *server)
{
    const pp_crossing_row *rows[PARAPET_MAX_NDIM];
    pp_share all;
    parapet_status status;
    find_rows(schedule, shard, rows);
    if ((status = count_rows(schedule, rows, &all)) == PARAPET_OK)
        server->listed += all.boxes;
    return status;
}

static parapet_status add_homes(pp_schedule *schedule, int server, pp_server_share *share)
{
    parapet_status status = PARAPET_OK;
    int64_t shard;
    for (shard = 0; shard < schedule->by.tiling->shards.cell_count && status == PARAPET_OK; shard++)
        if (home_of(schedule, shard) == server)
            status = add_home(schedule, shard, share);
    return status;
}

parapet_status pp_schedule_server(pp_schedule *schedule, int server, pp_server_share *share)
{
    int64_t shard;
    pp_shard_share shard_share;
    parapet_status status = pp_schedule_held(schedule, server, share);
    if (status != PARAPET_OK || schedule->is_self_service)
        return status == PARAPET_OK ? add_homes(schedule, server, share) : status;
    *share = (pp_server_share){.listed = share->listed};
    for (shard = 0; status == PARAPET_OK && pp_schedule_next_shard(schedule, server, &shard); shard++)
        if ((status = pp_schedule_shard(schedule, server, shard, &shard_share)) == PARAPET_OK)
            add_shard(share, &shard_share);
    return status;
}

/* ---- The summary ---- */

typedef struct sums {
    pp_server_share *servers;
    pp_share *ranks; /* with all owners but itself */
    int64_t *values; /* room for one of every rank or server, to be sorted */
} sums;

static int compare_values(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static pp_spread_of spread_of(int64_t *values, int64_t count)
{
    pp_spread_of spread = {0};
    int64_t i;
    qsort(values, (size_t)count, sizeof *values, compare_values);
    for (i = 0; i < count; i++)
        spread.total += values[i];
    spread.least = values[0];
    spread.median = values[(count - 1) / 2];
    spread.most = values[count - 1];
    return spread;
}

/* The spread of one field of all servers, or of all ranks, by its place in the struct. */
static pp_spread_of spread_of_field(const sums *totals, const void *first, size_t element_bytes, int64_t count)
{
    int64_t i;
    for (i = 0; i < count; i++)
        totals->values[i] = *(const int64_t *)(const void *)((const char *)first + (size_t)i * element_bytes);
    return spread_of(totals->values, count);
}

static parapet_status add_ranks(pp_schedule *schedule, const sums *totals)
{
    const pp_distribution *distribution = schedule->by.distribution;
    int64_t position[PARAPET_MAX_NDIM], rank;
    parapet_status status = build_columns(schedule);
    for (rank = 0; rank < distribution->rank_count && status == PARAPET_OK; rank++) {
        pp_distribution_position(distribution, rank, position);
        status = count_columns(schedule, position, &totals->ranks[rank]);
    }
    return status;
}

static parapet_status add_shards(pp_schedule *schedule, const sums *totals)
{
    parapet_status status = PARAPET_OK;
    pp_shard_share share;
    int64_t shard;
    for (shard = 0; shard < schedule->by.tiling->shards.cell_count && status == PARAPET_OK; shard++) {
        int owner = pp_schedule_owner(schedule, shard);
        if ((status = pp_schedule_shard(schedule, owner, shard, &share)) != PARAPET_OK)
            return status;
        add_shard(&totals->servers[owner], &share);
        pp_share_add(&totals->ranks[pp_schedule_server_rank(schedule, owner)], &share.own, -1);
    }
    return status;
}

/* Where every rank reads its parts itself, no rank has anything to do with others. */
static parapet_status add_held(pp_schedule *schedule, const sums *totals)
{
    parapet_status status = PARAPET_OK;
    int64_t shard;
    int server;
    for (server = 0; server < schedule->by.server_count && status == PARAPET_OK; server++) {
        status = pp_schedule_held(schedule, server, &totals->servers[server]);
        totals->servers[server].listed = 0; /* what its rank lists is added to it later */
    }
    for (shard = 0; shard < schedule->by.tiling->shards.cell_count && status == PARAPET_OK; shard++)
        status = add_home(schedule, shard, &totals->servers[home_of(schedule, shard)]);
    return status;
}

static parapet_status add_all(pp_schedule *schedule, const sums *totals)
{
    parapet_status status;
    if (schedule->is_self_service)
        return add_held(schedule, totals);
    return (status = add_ranks(schedule, totals)) == PARAPET_OK ? add_shards(schedule, totals) : status;
}

static void summarise_servers(const pp_schedule *schedule, const sums *totals, pp_schedule_summary *summary)
{
    const pp_server_share *first = totals->servers;
    const size_t bytes = sizeof *first;
    int64_t count = summary->servers, i;
    summary->server_shards = spread_of_field(totals, &first->shards, bytes, count);
    summary->server_requests = spread_of_field(totals, &first->others.requests, bytes, count);
    summary->server_fragments = spread_of_field(totals, &first->others.fragments, bytes, count);
    summary->server_message_bytes = spread_of_field(totals, &first->others.bytes, bytes, count);
    summary->server_own_bytes = spread_of_field(totals, &first->own.bytes, bytes, count);
    for (i = 0; i < count; i++) {
        totals->values[i] = first[i].others.bytes + first[i].own.bytes;
        /* What its rank shares with shards of its own was taken off the rank's. */
        summary->most_listed =
            pp_max_i64(summary->most_listed, first[i].listed + first[i].own.boxes +
                                                 totals->ranks[pp_schedule_server_rank(schedule, (int)i)].boxes);
        summary->most_ranks = pp_max_i64(summary->most_ranks, first[i].most_ranks);
        summary->most_shards = pp_max_i64(summary->most_shards, first[i].shards);
    }
    summary->server_bytes = spread_of(totals->values, count);
}

/* A rank sends data when writing, and when reading a grant for every message of data; a server requests or offers,
 * and data when reading. */
static pp_spread_of spread_of_sent(const pp_schedule *schedule, const sums *totals, bool is_read)
{
    int64_t i, ranks = schedule->by.distribution->rank_count;
    for (i = 0; i < ranks; i++)
        totals->values[i] = totals->ranks[i].fragments;
    for (i = 0; i < schedule->by.server_count; i++) {
        const pp_share *others = &totals->servers[i].others;
        totals->values[pp_schedule_server_rank(schedule, (int)i)] +=
            others->requests + (is_read ? others->fragments : 0);
    }
    return spread_of(totals->values, ranks);
}

static void summarise_ranks(const sums *totals, pp_schedule_summary *summary)
{
    const pp_share *first = totals->ranks;
    summary->rank_requests = spread_of_field(totals, &first->requests, sizeof *first, summary->ranks);
    summary->rank_fragments = spread_of_field(totals, &first->fragments, sizeof *first, summary->ranks);
    summary->rank_message_bytes = spread_of_field(totals, &first->bytes, sizeof *first, summary->ranks);
}

parapet_status pp_schedule_summarise(pp_schedule *schedule, pp_schedule_summary *summary)
{
    size_t ranks = (size_t)schedule->by.distribution->rank_count, servers = (size_t)schedule->by.server_count;
    sums totals = {0};
    parapet_status status;
    *summary = (pp_schedule_summary){.ranks = (int64_t)ranks, .servers = (int64_t)servers};
    if ((status = pp_allocate_array(&totals.servers, servers, sizeof *totals.servers)) == PARAPET_OK &&
        (status = pp_allocate_array(&totals.ranks, ranks, sizeof *totals.ranks)) == PARAPET_OK &&
        (status = pp_allocate_array(&totals.values, ranks, sizeof *totals.values)) == PARAPET_OK &&
        (status = add_all(schedule, &totals)) == PARAPET_OK) {
        summarise_servers(schedule, &totals, summary);
        summary->rank_sent_writing = spread_of_sent(schedule, &totals, false);
        summary->rank_sent_reading = spread_of_sent(schedule, &totals, true);
        summarise_ranks(&totals, summary);
    }
    pp_free(totals.servers);
    pp_free(totals.ranks);
    pp_free(totals.values);
    return status;
}
