#include "geometry/distribution.h"

#include <inttypes.h>

#include "base/checked.h"
#include "base/reserved.h"
#include "base/status.h"

static parapet_status refuse_spread(int d, int spread)
{
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "spread[%d] is %d, but must be PARAPET_WHOLE (0), PARAPET_BLOCK (1) or PARAPET_CYCLIC (2)", d,
                   spread);
}

static parapet_status choose_block(pp_distribution *distribution, const parapet_distribution *given, int d)
{
    int64_t shape = distribution->shape[d], mesh = distribution->mesh[d];
    parapet_spread spread = given->spread != NULL ? given->spread[d] : PARAPET_BLOCK;
    int64_t block = 0;
    if (spread == PARAPET_WHOLE && mesh > 1)
        return pp_fail(PARAPET_ERR_ARGUMENT, "dimension %d is not spread, but mesh[%d] is %" PRId64 "; it must be 1",
                       d, d, mesh);
    if (spread == PARAPET_WHOLE || spread == PARAPET_BLOCK)
        block = pp_max_i64(pp_divide_up(shape, mesh), 1);
    else if (spread == PARAPET_CYCLIC)
        block = given->block != NULL ? given->block[d] : 1;
    else
        return refuse_spread(d, (int)spread);
    if (block < 1)
        return pp_fail(PARAPET_ERR_ARGUMENT, "block[%d] is %" PRId64 ", but must be 1 or more", d, block);
    /* A block that reaches beyond the array is the array; so that no end of a block is beyond 64 bits. */
    distribution->block[d] = pp_min_i64(block, pp_max_i64(shape, 1));
    distribution->blocks[d] = pp_divide_up(shape, distribution->block[d]);
    return PARAPET_OK;
}

static parapet_status init_dimension(pp_distribution *distribution, const parapet_distribution *given, int d)
{
    int64_t mesh = given->mesh[d];
    if (distribution->shape[d] < 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "shape[%d] is %" PRId64 ", but must be 0 or more", d,
                       distribution->shape[d]);
    if (mesh < 1)
        return pp_fail(PARAPET_ERR_ARGUMENT, "mesh[%d] is %" PRId64 ", but must be 1 or more", d, mesh);
    distribution->mesh[d] = mesh;
    if (!pp_multiply_fits(distribution->rank_count, mesh, &distribution->rank_count) ||
        distribution->rank_count > INT32_MAX)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the mesh has more ranks than MPI can count, from mesh[%d] on", d);
    return choose_block(distribution, given, d);
}

static parapet_status check_elements(const pp_distribution *distribution)
{
    int64_t elements = 1;
    int d;
    for (d = 0; d < distribution->ndim; d++)
        if (distribution->shape[d] == 0)
            return PARAPET_OK;
    for (d = 0; d < distribution->ndim; d++)
        if (!pp_multiply_fits(elements, distribution->shape[d], &elements))
            return pp_fail(PARAPET_ERR_ARGUMENT,
                           "the shape has more elements than 63 bits can count, from dimension %d on", d);
    return PARAPET_OK;
}

parapet_status pp_distribution_init(pp_distribution *distribution, const parapet_distribution *given,
                                    const int64_t *shape)
{
    parapet_status status = PP_RESERVED_CHECK(parapet_distribution, given);
    int d;
    if (status != PARAPET_OK)
        return status;
    if (given->ndim < 0 || given->ndim > PARAPET_MAX_NDIM)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the distribution has %d dimensions, but must have 0 to %d", given->ndim,
                       PARAPET_MAX_NDIM);
    if (given->shape != NULL)
        shape = given->shape;
    if (given->ndim > 0 && (shape == NULL || given->mesh == NULL))
        return pp_fail(PARAPET_ERR_ARGUMENT, "the distribution has no %s", shape == NULL ? "shape" : "mesh");
    *distribution = (pp_distribution){.ndim = given->ndim, .rank_count = 1};
    for (d = 0; d < given->ndim && status == PARAPET_OK; d++) {
        distribution->shape[d] = shape[d];
        status = init_dimension(distribution, given, d);
    }
    return status == PARAPET_OK ? check_elements(distribution) : status;
}

void pp_distribution_position(const pp_distribution *distribution, int64_t rank, int64_t *position)
{
    int d;
    for (d = distribution->ndim - 1; d >= 0; d--) {
        position[d] = rank % distribution->mesh[d];
        rank /= distribution->mesh[d];
    }
}

int64_t pp_distribution_rank(const pp_distribution *distribution, const int64_t *position)
{
    int64_t rank = 0;
    int d;
    for (d = 0; d < distribution->ndim; d++)
        rank = rank * distribution->mesh[d] + position[d];
    return rank;
}

static int64_t blocks_of_position(const pp_distribution *distribution, int d, int64_t position)
{
    int64_t last = distribution->blocks[d] - 1 - position;
    return last < 0 ? 0 : last / distribution->mesh[d] + 1;
}

int64_t pp_distribution_box_count(const pp_distribution *distribution, int64_t rank)
{
    int64_t position[PARAPET_MAX_NDIM], count = 1;
    int d;
    pp_distribution_position(distribution, rank, position);
    /* Cannot overflow: there are at most as many boxes as elements, unless one factor is 0. */
    for (d = 0; d < distribution->ndim; d++)
        if (blocks_of_position(distribution, d, position[d]) == 0)
            return 0;
    for (d = 0; d < distribution->ndim; d++)
        count *= blocks_of_position(distribution, d, position[d]);
    return count;
}

void pp_distribution_box(const pp_distribution *distribution, int64_t rank, int64_t index, pp_box *box)
{
    int64_t position[PARAPET_MAX_NDIM];
    int d;
    pp_distribution_position(distribution, rank, position);
    box->ndim = distribution->ndim;
    for (d = distribution->ndim - 1; d >= 0; d--) {
        int64_t count = blocks_of_position(distribution, d, position[d]);
        int64_t block = position[d] + index % count * distribution->mesh[d];
        index /= count;
        box->start[d] = block * distribution->block[d];
        box->count[d] = pp_min_i64(distribution->block[d], distribution->shape[d] - box->start[d]);
    }
}

int64_t pp_distribution_positions_meeting(const pp_distribution *distribution, int d, int64_t start, int64_t count)
{
    int64_t blocks = (start + count - 1) / distribution->block[d] - start / distribution->block[d] + 1;
    return pp_min_i64(blocks, distribution->mesh[d]);
}

/* Positions in the order of their blocks go round the mesh: those after its end come first. */
static int64_t wrapped_of(const pp_distribution *distribution, int d, int64_t first, int64_t positions)
{
    return pp_max_i64(first + positions - distribution->mesh[d], 0);
}

static int64_t first_position(const pp_distribution *distribution, int d, int64_t start)
{
    return start / distribution->block[d] % distribution->mesh[d];
}

int64_t pp_distribution_position_meeting(const pp_distribution *distribution, int d, int64_t start, int64_t count,
                                         int64_t turn)
{
    int64_t first = first_position(distribution, d, start);
    int64_t wrapped =
        wrapped_of(distribution, d, first, pp_distribution_positions_meeting(distribution, d, start, count));
    return turn < wrapped ? turn : first + turn - wrapped;
}

void pp_meeting_init(pp_meeting *meeting, const pp_distribution *distribution, const pp_box *box)
{
    pp_box inside = {.ndim = distribution->ndim};
    int d;
    for (d = 0; d < distribution->ndim; d++)
        inside.count[d] = distribution->shape[d];
    *meeting = (pp_meeting){.distribution = distribution, .turns = {.ndim = distribution->ndim}};
    meeting->is_pending = pp_box_intersect(&inside, box, &inside);
    for (d = 0; d < distribution->ndim && meeting->is_pending; d++) {
        int64_t count = pp_distribution_positions_meeting(distribution, d, inside.start[d], inside.count[d]);
        meeting->turns.count[d] = count;
        meeting->first[d] = first_position(distribution, d, inside.start[d]);
        meeting->wrapped[d] = wrapped_of(distribution, d, meeting->first[d], count);
    }
}

bool pp_meeting_next(pp_meeting *meeting, int64_t *rank)
{
    int64_t position[PARAPET_MAX_NDIM];
    int d;
    if (!meeting->is_pending)
        return false;
    for (d = 0; d < meeting->turns.ndim; d++) {
        int64_t turn = meeting->turn[d], wrapped = meeting->wrapped[d];
        position[d] = turn < wrapped ? turn : meeting->first[d] + turn - wrapped;
    }
    *rank = pp_distribution_rank(meeting->distribution, position);
    meeting->is_pending = pp_box_next(&meeting->turns, meeting->turn);
    return true;
}

int64_t pp_distribution_block_from(const pp_distribution *distribution, int d, int64_t position, int64_t start)
{
    int64_t mesh = distribution->mesh[d];
    int64_t first = start / distribution->block[d];
    int64_t block = first + (position - first % mesh + mesh) % mesh;
    /* Blocks beyond the array are all the same to the caller; their start must not leave 64 bits. */
    return block >= distribution->blocks[d] ? distribution->shape[d] : block * distribution->block[d];
}
