/* Whether ranks can read their parts themselves, against a walk through all chunks. */
#include "scene.h"

#include "plan/self_service.h"

enum { ENOUGH_BYTES = 1 << 20 };

static const int every_rank[SCENE_RANKS] = {0, 1, 2, 3, 4};

/* ---- The reference ---- */

/* Chunks of a shard in C order: those that a box touches must lie together, and be whole, unless they may be read
 * again. */
static bool fits_slowly(const pp_target *target, int64_t shard, const pp_box *box, int64_t *excess)
{
    const pp_tiling *tiling = target->tiling;
    int64_t element = (int64_t)tiling->element_bytes, bytes = element * pp_grid_cell_elements(&tiling->chunks);
    int64_t chunk, run = 0, shortest = INT64_MAX;
    for (chunk = 0; chunk < tiling->chunks.cell_count; chunk++) {
        pp_box its, common;
        pp_tiling_chunk_box(tiling, shard, chunk, &its);
        if (pp_box_is_empty(&its))
            continue;
        if (pp_box_intersect(&its, box, &common)) {
            if (!pp_box_equals(&its, &common) && !target->may_read_again)
                return false;
            *excess += element * (pp_box_element_count(&its) - 2 * pp_box_element_count(&common));
            run++;
        } else {
            shortest = run > 0 && run < shortest ? run : shortest;
            run = 0;
        }
    }
    shortest = run > 0 && run < shortest ? run : shortest;
    return shortest * bytes >= ENOUGH_BYTES;
}

static bool group_fits_slowly(const test_scene *scene, const pp_worklist *list, size_t first, size_t end,
                              int server_count, int64_t *excess)
{
    bool is_shared = list->work[first].rank != list->work[end - 1].rank; /* they are in order */
    for (; first < end; first++) {
        const pp_work *work = &list->work[first];
        pp_box box = scene_claim_box(scene, (size_t)work->claim);
        if (work->rank >= server_count ||
            (is_shared && !fits_slowly(&scene->targets[work->target], work->shard, &box, excess)))
            return false;
    }
    return true;
}

/* ---- Random claims, most of them of whole chunks where parts do not fit ---- */

static pp_box choose_chunks(test_random *random, const pp_grid *shards, const int64_t *chunk)
{
    int64_t start[SCENE_NDIM], count[SCENE_NDIM];
    int d;
    for (d = 0; d < shards->ndim; d++) {
        int64_t cells = (shards->shape[d] + chunk[d] - 1) / chunk[d], end;
        start[d] = test_random_between(random, 0, cells - 1);
        end = test_random_between(random, start[d] + 1, test_random_between(random, 0, 1) ? cells : start[d] + 1);
        start[d] *= chunk[d];
        count[d] = (end * chunk[d] < shards->shape[d] ? end * chunk[d] : shards->shape[d]) - start[d];
    }
    return box_of(shards->ndim, start, count);
}

static void choose_scene(test_scene *scene, test_random *random)
{
    int i, count = (int)test_random_between(random, 1, 5), ndim = (int)test_random_between(random, 0, 3);
    static const size_t element_bytes[] = {1, 1 << 17, 300000, 1 << 20};
    int64_t shape[3], shard[3], chunk[3];
    for (i = 0; i < ndim; i++) {
        shape[i] = test_random_between(random, 1, 12);
        chunk[i] = test_random_between(random, 1, 5);
        shard[i] = chunk[i] * test_random_between(random, 1, 4);
    }
    scene_open(scene, ndim);
    scene_add_target(scene, grid_of(ndim, shape, shard), chunk, element_bytes[test_random_between(random, 0, 3)]);
    scene->targets[0].may_read_again = test_random_between(random, 0, 1) == 1;
    for (i = 0; i < count; i++) {
        int parts = scene->targets[0].may_read_again ? 3 : 0;
        pp_box box = test_random_between(random, 0, 4) > parts
                         ? choose_chunks(random, &scene->tilings[0].shards, chunk)
                         : scene_choose_box(random, &scene->tilings[0].shards);
        scene_claim(scene, 0, (int)test_random_between(random, 0, SCENE_RANKS - 1), &box);
    }
}

static void test_self_service__fits_what_a_walk_through_all_chunks_finds(void **state)
{
    test_random random = test_random_start();
    int i, fitting = 0, others = 0, excessive = 0;
    (void)state;
    for (i = 0; i < 5000; i++) {
        int servers = (int)test_random_between(&random, 1, SCENE_RANKS);
        test_scene scene;
        pp_worklist list;
        size_t first, end;
        choose_scene(&scene, &random);
        assert_ok(pp_worklist_build(&list, &scene.plan, NULL, NULL, &scene.budget));
        for (first = 0; first < list.count; first = end) {
            pp_owner_case owner_case = {&scene.plan, &list, every_rank, servers, 0};
            int64_t excess = 5, expected = 5;
            bool fits;
            end = pp_worklist_group_end(&list, first);
            fits = group_fits_slowly(&scene, &list, first, end, servers, &expected);
            assert_int_equal(pp_self_service_fits(&owner_case, first, end, &excess), fits);
            assert_true(!fits || excess == expected);
            excessive += fits && excess > 5;
            fitting += fits;
            others += !fits;
        }
        pp_worklist_clear(&list);
        scene_close(&scene);
    }
    assert_true(fitting > 1000 && others > 1000 && excessive > 10);
}

/* ---- By hand ---- */

/* A shard of 5 x 4 chunks of almost 256 KiB, of which rank 0 wants the last two rows, and what rank 1 wants. */
static bool claim_fits(const int64_t *start, const int64_t *count, bool may_read_again)
{
    int64_t excess = 0;
    test_scene scene;
    pp_worklist list;
    pp_box box = box_of(2, start, count), rest = box_of(2, (int64_t[]){30, 0}, (int64_t[]){20, 40});
    pp_owner_case owner_case = {&scene.plan, &list, every_rank, 2, 0};
    bool fits;
    scene_open(&scene, 2);
    scene_add_target(&scene, grid_of(2, (int64_t[]){50, 40}, (int64_t[]){60, 40}), (int64_t[]){10, 10},
                     (256 << 10) / 100);
    scene.targets[0].may_read_again = may_read_again;
    scene_claim(&scene, 0, 0, &rest);
    scene_claim(&scene, 0, 1, &box);
    assert_ok(pp_worklist_build(&list, &scene.plan, NULL, NULL, &scene.budget));
    fits = pp_self_service_fits(&owner_case, 0, list.count, &excess);
    pp_worklist_clear(&list);
    scene_close(&scene);
    return fits;
}

static void test_self_service__needs_whole_chunks_that_lie_together(void **state)
{
    (void)state;
    assert_true(claim_fits((int64_t[]){0, 0}, (int64_t[]){30, 40}, false)); /* twelve chunks */
    assert_false(
        claim_fits((int64_t[]){0, 0}, (int64_t[]){10, 40}, false)); /* not quite 1 MiB: 100 elements of 2621 bytes */
    assert_true(
        claim_fits((int64_t[]){10, 0}, (int64_t[]){20, 40}, false)); /* two rows of chunks, one behind the other */
    assert_false(
        claim_fits((int64_t[]){0, 0}, (int64_t[]){30, 30}, false)); /* three chunks, then one of somebody else */
    assert_false(claim_fits((int64_t[]){10, 0}, (int64_t[]){19, 40}, false)); /* a row is missing */
    assert_false(claim_fits((int64_t[]){1, 0}, (int64_t[]){29, 40}, false));
    assert_true(
        claim_fits((int64_t[]){0, 0}, (int64_t[]){0, 0}, false)); /* nothing, and the shard is all of rank 0 */
}

static void test_self_service__takes_parts_of_chunks_that_may_be_read_again(void **state)
{
    (void)state;
    assert_true(claim_fits((int64_t[]){10, 0}, (int64_t[]){19, 40}, true));
    assert_true(claim_fits((int64_t[]){1, 0}, (int64_t[]){29, 40}, true));
    assert_false(claim_fits((int64_t[]){0, 0}, (int64_t[]){30, 30}, true));
    assert_false(claim_fits((int64_t[]){0, 0}, (int64_t[]){9, 40}, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_self_service__fits_what_a_walk_through_all_chunks_finds),
        cmocka_unit_test(test_self_service__needs_whole_chunks_that_lie_together),
        cmocka_unit_test(test_self_service__takes_parts_of_chunks_that_may_be_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
