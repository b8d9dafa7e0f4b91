/* scene.h - random transfers for the tests of plan: a few small arrays of any number of dimensions, and claims on
 * them. What is expected is worked out element by element, without the functions under test. */
#ifndef PARAPET_TESTS_PLAN_SCENE_H
#define PARAPET_TESTS_PLAN_SCENE_H

#include "support.h"

#include "plan/worklist.h"

#define SCENE_TARGETS 3
#define SCENE_RANKS 5
#define SCENE_NDIM 5
#define SCENE_ELEMENTS 2048 /* no array has more */
#define SCENE_BUDGET_BYTES ((size_t)1 << 20)

typedef struct test_scene {
    pp_budget budget;
    pp_tiling tilings[SCENE_TARGETS];
    pp_lattice lattices[SCENE_TARGETS];
    pp_target targets[SCENE_TARGETS];
    pp_claims claims;
    pp_claim_set plan;
    int64_t part_count[SCENE_RANKS];
    int64_t part_mix; /* parts of a rank are not claimed in their order */
} test_scene;

static inline pp_grid grid_of(int ndim, const int64_t *shape, const int64_t *cell)
{
    pp_grid grid;
    assert_ok(pp_grid_init(&grid, ndim, shape, cell, 1));
    return grid;
}

static inline pp_box box_of(int ndim, const int64_t *start, const int64_t *count)
{
    pp_box box;
    assert_ok(pp_box_init(&box, ndim, start, count));
    return box;
}

static inline void scene_open(test_scene *scene, int ndim_most)
{
    memset(scene, 0, sizeof *scene);
    pp_budget_init(&scene->budget, SCENE_BUDGET_BYTES);
    pp_claims_init(&scene->claims, ndim_most, &scene->budget);
    scene->plan = (pp_claim_set){scene->targets, 0, &scene->claims};
}

/* Everything that was taken has been given back. */
static inline void scene_close(test_scene *scene)
{
    pp_claims_clear(&scene->claims);
    assert_int_equal(pp_budget_available(&scene->budget), scene->budget.limit_bytes);
}

/* Homes go round the servers, from one array to the next. */
static inline void scene_number_shards(pp_lattice *lattice, const pp_target *before, const pp_grid *shards)
{
    int64_t row = 1;
    int d;
    for (d = shards->ndim; d-- > 0; row *= shards->cells[d])
        lattice->multipliers[d] = row;
    if (before != NULL)
        lattice->phase = before->lattice->phase + before->tiling->shards.cell_count;
}

static inline void scene_add_target(test_scene *scene, pp_grid shards, const int64_t *chunk_shape,
                                    size_t element_bytes)
{
    int i = scene->plan.target_count++;
    scene_number_shards(&scene->lattices[i], i > 0 ? &scene->targets[i - 1] : NULL, &shards);
    assert_ok(pp_tiling_init(&scene->tilings[i], &shards, chunk_shape, element_bytes));
    scene->targets[i] = (pp_target){.tiling = &scene->tilings[i], .lattice = &scene->lattices[i]};
}

static inline void scene_choose_target(test_scene *scene, test_random *random, int ndim)
{
    static const int64_t longest[SCENE_NDIM + 1] = {1, 60, 16, 9, 6, 4};
    int64_t shape[SCENE_NDIM], shard[SCENE_NDIM], chunk[SCENE_NDIM];
    int d;
    for (d = 0; d < ndim; d++) {
        shape[d] = test_random_between(random, 1, longest[ndim]);
        chunk[d] = test_random_between(random, 1, 4);
        shard[d] = chunk[d] * test_random_between(random, 1, 3);
    }
    scene_add_target(scene, grid_of(ndim, shape, shard), chunk, (size_t)test_random_between(random, 1, 9));
}

static inline void scene_choose_targets(test_scene *scene, test_random *random)
{
    int ndim[SCENE_TARGETS], i, ndim_most = 0, count = (int)test_random_between(random, 1, SCENE_TARGETS);
    for (i = 0; i < count; i++) {
        ndim[i] = (int)test_random_between(random, test_random_between(random, 0, 1), SCENE_NDIM);
        ndim_most = ndim[i] > ndim_most ? ndim[i] : ndim_most;
    }
    scene_open(scene, ndim_most);
    scene->part_mix = 5;
    for (i = 0; i < count; i++)
        scene_choose_target(scene, random, ndim[i]);
}

static inline void scene_claim(test_scene *scene, int target, int rank, const pp_box *box)
{
    int64_t words[PP_CLAIM_GEOMETRY + 3 * PARAPET_MAX_NDIM], strides[PARAPET_MAX_NDIM] = {0};
    pp_claim_write(words, scene->claims.ndim_most, target, rank, scene->part_count[rank]++ ^ scene->part_mix, box,
                   NULL, strides);
    assert_ok(pp_claims_add(&scene->claims, words));
}

static inline pp_box scene_choose_box(test_random *random, const pp_grid *grid)
{
    int64_t start[PARAPET_MAX_NDIM], count[PARAPET_MAX_NDIM];
    int d;
    for (d = 0; d < grid->ndim; d++) {
        start[d] = test_random_between(random, 0, grid->shape[d]);
        count[d] = test_random_between(random, 0, grid->shape[d] - start[d]);
    }
    return box_of(grid->ndim, start, count);
}

/* Claims that may overlap, be empty and come in any order of ranks. */
static inline void scene_claim_anything(test_scene *scene, test_random *random, int most)
{
    int i, count = (int)test_random_between(random, 0, most);
    for (i = 0; i < count; i++) {
        int target = (int)test_random_between(random, 0, scene->plan.target_count - 1);
        pp_box box = scene_choose_box(random, &scene->tilings[target].shards);
        scene_claim(scene, target, (int)test_random_between(random, 0, SCENE_RANKS - 1), &box);
    }
}

/* Claims that do not overlap: the box is cut at random again and again, and some of what is left is claimed. */
static inline void scene_claim_disjoint(test_scene *scene, test_random *random, int target, pp_box box, int depth)
{
    int d = box.ndim > 0 ? (int)test_random_between(random, 0, box.ndim - 1) : 0;
    if (depth == 0 || box.ndim == 0 || box.count[d] == 1) {
        if (test_random_between(random, 0, 9) > 0)
            scene_claim(scene, target, (int)test_random_between(random, 0, SCENE_RANKS - 1), &box);
    } else {
        pp_box rest = box;
        box.count[d] = test_random_between(random, 1, rest.count[d] - 1);
        rest.start[d] += box.count[d];
        rest.count[d] -= box.count[d];
        scene_claim_disjoint(scene, random, target, rest, depth - 1);
        scene_claim_disjoint(scene, random, target, box, depth - 1);
    }
}

static inline void scene_claim_all_disjoint(test_scene *scene, test_random *random, int depth)
{
    int i;
    for (i = 0; i < scene->plan.target_count; i++)
        scene_claim_disjoint(scene, random, i,
                             box_of(scene->tilings[i].shards.ndim, NULL, scene->tilings[i].shards.shape), depth);
}

static inline int scene_claim_target(const test_scene *scene, size_t claim)
{
    return (int)pp_claims_at(&scene->claims, claim)[PP_CLAIM_TARGET];
}

static inline pp_box scene_claim_box(const test_scene *scene, size_t claim)
{
    pp_box box;
    pp_claim_box(pp_claims_at(&scene->claims, claim), scene->claims.ndim_most,
                 scene->tilings[scene_claim_target(scene, claim)].shards.ndim, &box);
    return box;
}

static inline bool box_has(const pp_box *box, const int64_t *position)
{
    int d;
    for (d = 0; d < box->ndim; d++)
        if (position[d] < box->start[d] || position[d] >= box->start[d] + box->count[d])
            return false;
    return true;
}

/* Number of the shard that an element is in, and of the chunk within that shard. */
static inline int64_t scene_shard_of(const pp_target *target, const int64_t *position, int64_t *chunk)
{
    int64_t shard = 0;
    int d;
    *chunk = 0;
    for (d = 0; d < target->tiling->shards.ndim; d++) {
        int64_t length = target->tiling->shards.cell_shape[d], chunk_length = target->tiling->chunks.cell_shape[d];
        shard = shard * ((target->tiling->shards.shape[d] + length - 1) / length) + position[d] / length;
        *chunk = *chunk * ((length + chunk_length - 1) / chunk_length) + position[d] % length / chunk_length;
    }
    return shard;
}

/* Number of an element of its array in C order. */
static inline int64_t scene_element_of(const pp_target *target, const int64_t *position)
{
    int64_t number = 0;
    int d;
    for (d = 0; d < target->tiling->shards.ndim; d++)
        number = number * target->tiling->shards.shape[d] + position[d];
    return number;
}

#endif
