/* worklist.h - which shards a set of claims touches, shard by shard.
 *
 * Pure: knows boxes and grids. Depends on base and geometry. Memory is one small record per (shard, claim) pair that
 * meets, taken from the budget; never one per shard of the array. */
#ifndef PARAPET_PLAN_WORKLIST_H
#define PARAPET_PLAN_WORKLIST_H

#include "plan/claims.h"
#include "plan/point_claims.h"

/* One claim meets one shard. */
typedef struct pp_work {
    int64_t shard; /* of its target */
    int64_t claim; /* index into the claims, or PP_NO_CLAIM */
    int32_t target;
    int32_t rank;
    int64_t part;
    int64_t first_chunk, last_chunk; /* every chunk of the shard that the claim touches is between these */
} pp_work;

#define PP_NO_CLAIM INT64_C(-1)

/* Sorted by target, shard, rank and part. */
typedef struct pp_worklist {
    pp_work *work;
    size_t count;
    pp_budget *budget;
} pp_worklist;

/* What the functions below work on. */
typedef struct pp_claim_set {
    const pp_target *targets;
    int target_count;
    const pp_claims *claims;
} pp_claim_set;

/* Says whether a shard belongs in the list. */
typedef bool (*pp_shard_filter)(void *context, int target, int64_t shard);

/* All shards that claims touch and owns accepts (NULL: all); empty boxes touch nothing. */
parapet_status pp_worklist_build(pp_worklist *list, const pp_claim_set *plan, pp_shard_filter owns, void *context,
                                 pp_budget *budget);

/* The shards of one grid that reach beyond the array in one of the marked dimensions; their claim is PP_NO_CLAIM. */
parapet_status pp_worklist_build_edge(pp_worklist *list, const pp_grid *shards, const bool *is_marked,
                                      pp_budget *budget);

/* These shards of one array, each once; their claim is PP_NO_CLAIM. */
parapet_status pp_worklist_build_listed(pp_worklist *list, const int64_t *shards, size_t count, pp_budget *budget);

/* The shards that picks touch, with one record each, whose claim is all the picks of the shard. */
parapet_status pp_worklist_build_points(pp_worklist *list, const pp_point_claims *picked, pp_budget *budget);
void pp_worklist_clear(pp_worklist *list);

/* The end of the group of the same target and shard that starts at first; the start of the one before end; the end of
 * the same rank within a group. */
size_t pp_worklist_group_end(const pp_worklist *list, size_t first);
size_t pp_worklist_group_start(const pp_worklist *list, size_t end);
size_t pp_worklist_rank_end(const pp_worklist *list, size_t first, size_t group_end);

/* How many shards the list has. */
size_t pp_worklist_group_count(const pp_worklist *list);

/* The group of a shard; false: none. */
bool pp_worklist_find(const pp_worklist *list, int target, int64_t shard, size_t *first, size_t *end);

/* Refuses claims that overlap, naming both and the box they share: "part 0 of rank 2 and part 1 of rank 5 overlap in
 * [0:4, 2:8]"; on one rank (size 1) only the parts. About n log n in the claims of a shard unless they overlap. */
parapet_status pp_worklist_check_disjoint(const pp_worklist *list, const pp_claim_set *plan, int size);

/* Whether no two claims on a shard overlap; PARAPET_ERR_MEMORY if that cannot be found out. */
parapet_status pp_worklist_is_disjoint(const pp_worklist *list, const pp_claim_set *plan, bool *is_disjoint);

/* Elements of chunk `chunk`, whose clipped box is box, that the claims of a group cover, if they do not overlap. */
int64_t pp_worklist_covered(const pp_worklist *list, const pp_claim_set *plan, size_t first, size_t end,
                            int64_t chunk, const pp_box *box);

/* Elements of the box of a whole shard that the claims of a group cover, if they do not overlap. */
int64_t pp_worklist_covered_shard(const pp_worklist *list, const pp_claim_set *plan, size_t first, size_t end,
                                  const pp_box *box);

#endif
