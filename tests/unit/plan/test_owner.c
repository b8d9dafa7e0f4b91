/* Who owns a shard, against a count of who holds its elements. */
#include "scene.h"

#include "plan/owners.h"

typedef struct home_filter {
    const test_scene *scene;
    int server_count, home;
} home_filter;

static bool is_at_home(void *context, int target, int64_t shard)
{
    const home_filter *filter = context;
    return pp_home_of(&filter->scene->targets[target], shard, filter->server_count) == filter->home;
}

static void test_home__of_the_shards_of_all_arrays_goes_round_the_servers(void **state)
{
    test_scene scene;
    int64_t shard, next = 0;
    int target;
    (void)state;
    scene_open(&scene, 2);
    scene_add_target(&scene, grid_of(1, (int64_t[]){50}, (int64_t[]){5}), (int64_t[]){5}, 1);
    scene_add_target(&scene, grid_of(2, (int64_t[]){7, 7}, (int64_t[]){3, 3}), (int64_t[]){1, 1}, 1);
    scene_add_target(&scene, grid_of(0, NULL, NULL), NULL, 1);
    for (target = 0; target < 3; target++)
        for (shard = 0; shard < scene.tilings[target].shards.cell_count; shard++)
            assert_int_equal(pp_home_of(&scene.targets[target], shard, 4), next++ % 4);
    assert_int_equal(next, 20);
    scene_close(&scene);
}

static void test_owner__strategies_go_by_number(void **state)
{
    (void)state;
    assert_ptr_equal(pp_owner_strategy_of(PARAPET_OWNERS_IN_TURN), &pp_owner_in_turn);
    assert_false(pp_owner_in_turn.moves);
    assert_ptr_equal(pp_owner_strategy_of(PARAPET_OWNERS_NEAREST), &pp_owner_nearest);
    assert_true(pp_owner_nearest.moves);
    assert_null(pp_owner_strategy_of(PARAPET_OWNERS_CHOOSE));
    assert_null(pp_owner_strategy_of((parapet_owners)9));
}

/* What there is to choose from: nothing else fits together, and what is chosen for each way to share is among it. */
static void test_owner__five_combinations_fit_together(void **state)
{
    int owners, sharing, kept, fitting = 0;
    (void)state;
    for (owners = PARAPET_OWNERS_NEAREST; owners <= PARAPET_OWNERS_IN_TURN; owners++)
        for (sharing = PARAPET_SHARING_EQUAL; sharing <= PARAPET_SHARING_STEALING; sharing++)
            for (kept = 0; kept < 2; kept++) {
                const char *what = kept ? "cache_bytes" : NULL;
                parapet_owners given = (parapet_owners)owners, chosen = PARAPET_OWNERS_CHOOSE;
                parapet_status status = pp_owners_choose(&given, (parapet_sharing)sharing, what);
                bool is_equal = sharing == PARAPET_SHARING_EQUAL, is_fit;
                assert_int_equal(pp_owners_choose(&chosen, (parapet_sharing)sharing, what),
                                 is_equal || !kept ? PARAPET_OK : PARAPET_ERR_ARGUMENT);
                is_fit = kept ? is_equal && chosen == given : is_equal || chosen == given;
                assert_int_equal(given, owners);
                assert_int_equal(status, is_fit ? PARAPET_OK : PARAPET_ERR_ARGUMENT);
                fitting += is_fit;
            }
    assert_int_equal(fitting, 5);
}

/* Elements of a shard that a rank holds, counted one by one. */
static int64_t held_slowly(const test_scene *scene, int target, int64_t shard, int rank)
{
    const pp_target *its = &scene->targets[target];
    pp_box whole = box_of(its->tiling->shards.ndim, NULL, its->tiling->shards.shape);
    int64_t position[SCENE_NDIM], chunk, held = 0;
    bool more;
    size_t i;
    for (more = pp_box_first(&whole, position); more; more = pp_box_next(&whole, position)) {
        if (scene_shard_of(its, position, &chunk) != shard)
            continue;
        for (i = 0; i < scene->claims.list.count; i++) {
            const int64_t *claim = pp_claims_at(&scene->claims, i);
            pp_box box;
            if (claim[PP_CLAIM_TARGET] != target || claim[PP_CLAIM_RANK] != rank)
                continue;
            box = scene_claim_box(scene, i);
            held += box_has(&box, position);
        }
    }
    return held;
}

/* The home if none holds more than it does, else the (home modulo k)-th of the k servers that hold most. */
static int nearest_slowly(const pp_owner_case *owner_case, const test_scene *scene, const pp_work *work,
                          int64_t *most)
{
    int64_t held[SCENE_RANKS];
    int i, best[SCENE_RANKS], count = 0;
    *most = 0;
    for (i = 0; i < owner_case->server_count; i++) {
        held[i] = held_slowly(scene, work->target, work->shard, owner_case->servers[i]);
        *most = held[i] > *most ? held[i] : *most;
    }
    for (i = 0; i < owner_case->server_count; i++)
        if (held[i] == *most)
            best[count++] = i;
    return *most == 0 || held[owner_case->home] == *most ? owner_case->home : best[owner_case->home % count];
}

static int64_t load_slowly(const test_scene *scene, const pp_work *work)
{
    int64_t load = 0;
    int rank;
    for (rank = 0; rank < SCENE_RANKS; rank++)
        load += held_slowly(scene, work->target, work->shard, rank);
    return load;
}

/* Checks one home; counts the shards that go elsewhere, and of those the ones that several hold alike. */
static void check_home(const test_scene *scene, const pp_owner_case *owner_case, int *moved)
{
    const pp_worklist *list = owner_case->list;
    size_t first, end;
    for (first = 0; first < list->count; first = end) {
        const pp_work *work = &list->work[first];
        int64_t bytes = (int64_t)scene->tilings[work->target].element_bytes, most;
        pp_proposal proposal;
        end = pp_worklist_group_end(list, first);
        pp_owner_propose(owner_case, &pp_owner_nearest, first, end, &proposal);
        assert_int_equal(proposal.target, work->target);
        assert_int_equal(proposal.shard, work->shard);
        assert_int_equal(proposal.home, owner_case->home);
        assert_int_equal(proposal.owner, PP_NO_OWNER);
        assert_int_equal(proposal.server, nearest_slowly(owner_case, scene, work, &most));
        assert_int_equal(proposal.held_bytes, most * bytes);
        assert_int_equal(proposal.load_bytes, load_slowly(scene, work) * bytes);
        *moved += proposal.server != owner_case->home;
        pp_owner_propose(owner_case, &pp_owner_in_turn, first, end, &proposal);
        assert_int_equal(proposal.server, owner_case->home);
    }
}

static int choose_servers(test_random *random, int *servers)
{
    int rank, count = 0;
    for (rank = 0; rank < SCENE_RANKS; rank++)
        if (test_random_between(random, 0, 1) == 1)
            servers[count++] = rank;
    if (count == 0)
        servers[count++] = 2;
    return count;
}

static void test_owner__by_locality_is_the_server_that_holds_most(void **state)
{
    test_random random = test_random_start();
    int round, moved = 0;
    (void)state;
    for (round = 0; round < 2000; round++) {
        int servers[SCENE_RANKS], server_count = choose_servers(&random, servers);
        home_filter filter;
        pp_worklist list;
        test_scene scene;
        scene_choose_targets(&scene, &random);
        scene_claim_all_disjoint(&scene, &random, (int)test_random_between(&random, 0, 4));
        filter = (home_filter){&scene, server_count, (int)test_random_between(&random, 0, server_count - 1)};
        assert_ok(pp_worklist_build(&list, &scene.plan, is_at_home, &filter, &scene.budget));
        check_home(&scene, &(pp_owner_case){&scene.plan, &list, servers, server_count, filter.home}, &moved);
        pp_worklist_clear(&list);
        scene_close(&scene);
    }
    assert_true(moved > 500);
}

/* One shard that servers 1, 2 and 4 hold alike: homes that hold none of it do not all choose the same. */
static void test_owner__by_locality_differs_from_home_to_home_where_many_hold_the_same(void **state)
{
    const int expected[SCENE_RANKS] = {1, 1, 2, 1, 4}; /* 0 and 3 modulo 3 are the first; the others hold it */
    int servers[SCENE_RANKS], home, rank;
    pp_worklist list;
    test_scene scene;
    (void)state;
    scene_open(&scene, 1);
    scene_add_target(&scene, grid_of(1, (int64_t[]){30}, (int64_t[]){30}), (int64_t[]){10}, 8);
    for (rank = 0; rank < SCENE_RANKS; rank++) {
        pp_box box = box_of(1, (int64_t[]){rank == 4 ? 20 : 10 * (rank - 1)}, (int64_t[]){10});
        servers[rank] = rank;
        if (rank == 1 || rank == 2 || rank == 4)
            scene_claim(&scene, 0, rank, &box);
    }
    assert_ok(pp_worklist_build(&list, &scene.plan, NULL, NULL, &scene.budget));
    for (home = 0; home < SCENE_RANKS; home++) {
        pp_owner_case owner_case = {&scene.plan, &list, servers, SCENE_RANKS, home};
        pp_proposal proposal;
        pp_owner_propose(&owner_case, &pp_owner_nearest, 0, list.count, &proposal);
        assert_int_equal(proposal.server, expected[home]);
        assert_int_equal(proposal.held_bytes, 80);
        assert_int_equal(proposal.load_bytes, 240);
    }
    pp_worklist_clear(&list);
    scene_close(&scene);
}

/* Nobody who serves holds any of it; and parts of a read that overlap are read once. */
static void test_owner__by_locality_is_the_home_where_no_server_holds_any(void **state)
{
    pp_box box = box_of(1, (int64_t[]){0}, (int64_t[]){20});
    int servers[2] = {0, 1};
    pp_worklist list;
    test_scene scene;
    pp_proposal proposal;
    (void)state;
    scene_open(&scene, 1);
    scene_add_target(&scene, grid_of(1, (int64_t[]){30}, (int64_t[]){30}), (int64_t[]){10}, 8);
    scene_claim(&scene, 0, 3, &box);
    scene_claim(&scene, 0, 4, &box);
    assert_ok(pp_worklist_build(&list, &scene.plan, NULL, NULL, &scene.budget));
    pp_owner_propose(&(pp_owner_case){&scene.plan, &list, servers, 2, 1}, &pp_owner_nearest, 0, list.count,
                     &proposal);
    assert_int_equal(proposal.server, 1);
    assert_int_equal(proposal.held_bytes, 0);
    assert_int_equal(proposal.load_bytes, 240);
    pp_worklist_clear(&list);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_home__of_the_shards_of_all_arrays_goes_round_the_servers),
        cmocka_unit_test(test_owner__strategies_go_by_number),
        cmocka_unit_test(test_owner__five_combinations_fit_together),
        cmocka_unit_test(test_owner__by_locality_is_the_server_that_holds_most),
        cmocka_unit_test(test_owner__by_locality_differs_from_home_to_home_where_many_hold_the_same),
        cmocka_unit_test(test_owner__by_locality_is_the_home_where_no_server_holds_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
