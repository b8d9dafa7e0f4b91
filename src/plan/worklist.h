/* worklist.h - which shards a set of parts touches, shard by shard.
 *
 * Pure: knows boxes and grids. Depends on base and geometry. Memory is one small record per (shard, part) that
 * meet, taken from the budget; never one per shard of the array. */
#ifndef PARAPET_PLAN_WORKLIST_H
#define PARAPET_PLAN_WORKLIST_H

#include "base/budget.h"
#include "geometry/grid.h"

typedef struct pp_work {
    int64_t shard;
    int64_t part;
} pp_work;

/* Sorted by shard, then part. */
typedef struct pp_worklist {
    pp_work *work;
    size_t count;
    pp_budget *budget;
} pp_worklist;

/* boxes are the parts; empty ones touch nothing. */
parapet_status pp_worklist_build(pp_worklist *list, const pp_grid *shards, const pp_box *boxes, int box_count,
                                 pp_budget *budget);

/* The shards that reach beyond the array in one of the marked dimensions; their part is PP_NO_PART. */
#define PP_NO_PART INT64_C(-1)
parapet_status pp_worklist_build_edge(pp_worklist *list, const pp_grid *shards, const bool *is_marked,
                                      pp_budget *budget);
void pp_worklist_clear(pp_worklist *list);

/* The end of the group of the same shard that starts at first. */
size_t pp_worklist_group_end(const pp_worklist *list, size_t first);

/* Refuses parts that overlap, naming two of them and the box they share. */
parapet_status pp_worklist_check_disjoint(const pp_worklist *list, const pp_box *boxes);

/* Elements of box that the parts of a group cover, for parts that do not overlap. */
int64_t pp_worklist_covered(const pp_worklist *list, size_t first, size_t end, const pp_box *boxes,
                            const pp_box *box);

#endif
