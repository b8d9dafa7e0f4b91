/* claim_view.h - claims, and the shards they touch: what a rank holds, and what it serves. */
#ifndef PARAPET_TRANSFER_CLAIM_VIEW_H
#define PARAPET_TRANSFER_CLAIM_VIEW_H

#include "plan/point_claims.h"
#include "plan/worklist.h"

typedef struct pp_view {
    pp_claims claims;
    pp_worklist list;
    pp_claim_set plan;             /* of the claims */
    const pp_point_claims *picked; /* what is claimed instead, one record for each shard; NULL: it is boxes */
} pp_view;

void pp_view_clear(pp_view *view);

/* The claim of record number `work` of the list; its intersection with a box, if there is a claim. */
const int64_t *pp_view_claim(const pp_view *view, size_t work);
bool pp_view_intersect(const pp_view *view, size_t work, const pp_box *box, pp_box *common);

/* From now on no budget counts its lists; returns their bytes. They must not grow. */
size_t pp_view_detach(pp_view *view);

/* The budget, where they are reserved, counts them again. */
void pp_view_attach(pp_view *view, pp_budget *budget);

#endif
