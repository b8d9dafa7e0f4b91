/* copy_case.h - random passes for the tests of copies: a few dimensions, chunks that share no divisor, origins,
 * shards and templates of any allowed size. What is expected of them is worked out by looking at every template and
 * chunk. */
#ifndef PARAPET_TESTS_PLAN_COPY_CASE_H
#define PARAPET_TESTS_PLAN_COPY_CASE_H

#include "support.h"

#include "rechunk/count.h"

#define CASE_NDIM 4

typedef struct copy_case {
    int ndim;
    int64_t shape[CASE_NDIM];
    pp_rechunk_pass pass;
} copy_case;

static inline void case_shuffle(test_random *random, int ndim, int *order)
{
    int i;
    for (i = 0; i < ndim; i++) {
        int j = (int)test_random_between(random, 0, i);
        order[i] = order[j];
        order[j] = i;
    }
}

static inline void case_choose_dimension(copy_case *its, test_random *random, int d, int64_t longest)
{
    pp_rechunk_pass *pass = &its->pass;
    int64_t chunks_in_shard = pass->target.is_sharded ? test_random_between(random, 1, 4) : 1;
    its->shape[d] = test_random_between(random, 1, longest);
    pass->source.chunk[d] = test_random_between(random, 1, test_random_between(random, 1, longest + 2));
    pass->source.shard[d] = pass->source.chunk[d] * (pass->source.is_sharded ? test_random_between(random, 1, 3) : 1);
    pass->source.origin[d] = test_random_between(random, 0, pass->source.shard[d] - 1);
    pass->target.chunk[d] = test_random_between(random, 1, test_random_between(random, 1, longest + 2));
    pass->target.shard[d] = pass->target.chunk[d] * chunks_in_shard;
    pass->template_shape[d] = test_random_between(random, 0, 1) == 0
                                  ? pass->target.shard[d] * test_random_between(random, 1, 4)
                                  : pass->target.chunk[d] * test_random_between(random, 1, chunks_in_shard);
    pass->group[d] = test_random_between(random, 1, 3);
}

static inline void case_choose(copy_case *its, test_random *random)
{
    static const int64_t longest[CASE_NDIM + 1] = {1, 40, 30, 12, 7};
    int d;
    memset(its, 0, sizeof *its);
    its->ndim = (int)test_random_between(random, 0, 40);
    its->ndim = its->ndim == 40 ? 0 : its->ndim % CASE_NDIM + 1;
    its->pass.source.is_sharded = test_random_between(random, 0, 1) != 0;
    its->pass.target.is_sharded = test_random_between(random, 0, 1) != 0;
    its->pass.source.element_bytes = its->pass.target.element_bytes = test_random_between(random, 1, 9);
    for (d = 0; d < its->ndim; d++)
        case_choose_dimension(its, random, d, longest[its->ndim]);
    case_shuffle(random, its->ndim, its->pass.order);
    case_shuffle(random, its->ndim, its->pass.source.stored_order);
    pp_rechunk_set_work_unit(its->ndim, its->shape, &its->pass);
}

/* A box, element by element in the order of the dimensions, no function of the library: false after the last. */
static inline bool case_next(int ndim, const int64_t *low, const int64_t *high, int64_t *position)
{
    int d;
    for (d = ndim - 1; d >= 0; d--) {
        if (++position[d] < high[d])
            return true;
        position[d] = low[d];
    }
    return false;
}

static inline int64_t case_product(int ndim, const int64_t *factors)
{
    int64_t product = 1;
    int d;
    for (d = 0; d < ndim; d++)
        product *= factors[d];
    return product;
}

/* The templates along a dimension one after the other, by element: which work unit and which template of it has
 * element x. Both are counted from 0, the template within its work unit. */
static inline void case_template_of(const copy_case *its, int d, int64_t x, int64_t *work_unit, int64_t *number)
{
    *work_unit = x / its->pass.work_unit_shape[d];
    *number = x % its->pass.work_unit_shape[d] / its->pass.template_shape[d];
}

typedef struct case_interval {
    int64_t work_unit, number; /* of the template within the work unit */
    int64_t low, high;
} case_interval;

/* All templates along a dimension; returns how many. */
static inline int case_intervals(const copy_case *its, int d, case_interval *intervals)
{
    int count = 0;
    int64_t x;
    for (x = 0; x < its->shape[d]; x++) {
        case_interval next = {.low = x, .high = x + 1};
        case_template_of(its, d, x, &next.work_unit, &next.number);
        if (count > 0 && intervals[count - 1].work_unit == next.work_unit &&
            intervals[count - 1].number == next.number)
            intervals[count - 1].high++;
        else
            intervals[count++] = next;
    }
    return count;
}

#endif
