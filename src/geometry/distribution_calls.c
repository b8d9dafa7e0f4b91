#include "geometry/distribution.h"

#include <string.h>

#include "base/status.h"

static parapet_status init_for_rank(pp_distribution *distribution, const parapet_distribution *given, int64_t rank)
{
    parapet_status status;
    if ((status = pp_distribution_init(distribution, given, NULL)) != PARAPET_OK)
        return status;
    if (rank < 0 || rank >= distribution->rank_count)
        return pp_fail(PARAPET_ERR_ARGUMENT, "rank %lld is not in the mesh, which has ranks 0 to %lld",
                       (long long)rank, (long long)distribution->rank_count - 1);
    return PARAPET_OK;
}

parapet_status parapet_distribution_count(const parapet_distribution *distribution, int64_t rank, int64_t *count)
{
    pp_distribution checked;
    parapet_status status;
    if (distribution == NULL || count == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "parapet_distribution_count needs a distribution and a pointer for the count");
    *count = 0;
    if ((status = init_for_rank(&checked, distribution, rank)) == PARAPET_OK)
        *count = pp_distribution_box_count(&checked, rank);
    return pp_outcome(status);
}

parapet_status parapet_distribution_box(const parapet_distribution *distribution, int64_t rank, int64_t index,
                                        int64_t *start, int64_t *count)
{
    pp_distribution checked;
    parapet_status status;
    int64_t box_count;
    pp_box box;
    if (distribution == NULL || ((start == NULL || count == NULL) && distribution->ndim > 0))
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "parapet_distribution_box needs a distribution and pointers for start and count");
    if ((status = init_for_rank(&checked, distribution, rank)) != PARAPET_OK)
        return pp_outcome(status);
    box_count = pp_distribution_box_count(&checked, rank);
    if (index < 0 || index >= box_count)
        return pp_fail(PARAPET_ERR_ARGUMENT, "rank %lld has %lld boxes, counted from 0, but no box %lld",
                       (long long)rank, (long long)box_count, (long long)index);
    pp_distribution_box(&checked, rank, index, &box);
    if (checked.ndim > 0) {
        memcpy(start, box.start, (size_t)checked.ndim * sizeof *start);
        memcpy(count, box.count, (size_t)checked.ndim * sizeof *count);
    }
    return pp_outcome(PARAPET_OK);
}
