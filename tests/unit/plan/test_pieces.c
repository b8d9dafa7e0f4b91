/* Pieces of windows, element by element: what all ranks exchange for all windows of a shard is what they claim. */
#include "scene.h"

#include "plan/pieces.h"

#define MOST_CLAIMS 40

static unsigned char seen[MOST_CLAIMS][SCENE_ELEMENTS];

/* One rank and one window, as the owner sees them. */
typedef struct one_exchange {
    const test_scene *scene;
    const pp_worklist *list;
    const pp_window *window;
    size_t first, end;
    size_t fragment_bytes;
} one_exchange;

static const pp_target *target_of(const one_exchange *exchange)
{
    return &exchange->scene->targets[exchange->window->target];
}

static pp_pieces pieces_of(const one_exchange *exchange)
{
    pp_pieces pieces;
    pp_pieces_init(&pieces, &exchange->scene->plan, exchange->list, exchange->window, exchange->first, exchange->end,
                   exchange->fragment_bytes);
    return pieces;
}

static size_t bytes_of(const one_exchange *exchange, const pp_piece *piece)
{
    return (size_t)pp_box_element_count(&piece->box) * target_of(exchange)->tiling->element_bytes;
}

static void mark(const one_exchange *exchange, const pp_piece *piece)
{
    const pp_target *target = target_of(exchange);
    size_t claim = (size_t)exchange->list->work[piece->work].claim;
    int64_t position[SCENE_NDIM], chunk;
    bool more;
    assert_false(pp_box_is_empty(&piece->box));
    for (more = pp_box_first(&piece->box, position); more; more = pp_box_next(&piece->box, position)) {
        assert_int_equal(scene_shard_of(target, position, &chunk), exchange->window->shard);
        assert_int_equal(chunk, exchange->window->chunks[piece->index]);
        seen[claim][scene_element_of(target, position)]++;
    }
}

/* Chunk by chunk, part by part, and within a piece in C order. */
static void assert_later(const pp_piece *before, const pp_piece *after)
{
    int d = 0;
    if (before->index != after->index || before->work != after->work) {
        assert_true(before->index < after->index || (before->index == after->index && before->work < after->work));
        return;
    }
    while (d < after->box.ndim && before->box.start[d] == after->box.start[d])
        d++;
    assert_true(d < after->box.ndim && before->box.start[d] < after->box.start[d]);
}

/* Fragments hold what fits and nothing less, and their slices are those of the plain walk. */
static void check_fragments(const one_exchange *exchange)
{
    pp_pieces walk = pieces_of(exchange), plain = walk;
    pp_piece piece, same, before = {.index = -1};
    int64_t fragments, bytes, fragment_count = 0, byte_count = 0;
    size_t announced, last = 0, most = walk.fragment_bytes;
    assert_true(most <= exchange->fragment_bytes);
    pp_pieces_count(&walk, &fragments, &bytes);
    while ((announced = pp_pieces_begin_fragment(&walk)) > 0) {
        size_t sum = 0;
        while (pp_pieces_next_in_fragment(&walk, &piece)) {
            assert_true(sum > 0 || last + bytes_of(exchange, &piece) > most || fragment_count == 0);
            assert_true(pp_pieces_next(&plain, &same));
            assert_true(same.index == piece.index && same.work == piece.work && pp_box_equals(&same.box, &piece.box));
            assert_later(&before, &piece);
            before = piece;
            sum += bytes_of(exchange, &piece);
            mark(exchange, &piece);
        }
        assert_int_equal(sum, announced);
        assert_true(sum <= most || sum == target_of(exchange)->tiling->element_bytes);
        last = sum;
        fragment_count++;
        byte_count += (int64_t)sum;
    }
    assert_false(pp_pieces_next(&plain, &same));
    assert_int_equal(fragments, fragment_count);
    assert_int_equal(bytes, byte_count);
}

static void add_claims_of_rank(test_scene *client, const test_scene *whole, int rank)
{
    size_t i;
    for (i = 0; i < whole->claims.list.count; i++)
        if (pp_claims_at(&whole->claims, i)[PP_CLAIM_RANK] == rank)
            assert_ok(pp_claims_add(&client->claims, pp_claims_at(&whole->claims, i)));
}

/* A client knows only its own claims, and must work out the same. */
static void check_client(const one_exchange *owner)
{
    static test_scene client;
    one_exchange own = *owner;
    pp_pieces ours, theirs = pieces_of(owner);
    pp_piece mine, other;
    pp_worklist list;
    client = *owner->scene;
    pp_budget_init(&client.budget, SCENE_BUDGET_BYTES);
    pp_claims_init(&client.claims, owner->scene->claims.ndim_most, &client.budget);
    client.plan.claims = &client.claims;
    add_claims_of_rank(&client, owner->scene, owner->list->work[owner->first].rank);
    assert_ok(pp_worklist_build(&list, &client.plan, NULL, NULL, &client.budget));
    own.scene = &client;
    own.list = &list;
    assert_true(pp_worklist_find(&list, owner->window->target, owner->window->shard, &own.first, &own.end));
    ours = pieces_of(&own);
    while (pp_pieces_next(&ours, &mine)) {
        assert_true(pp_pieces_next(&theirs, &other));
        assert_true(mine.index == other.index && pp_box_equals(&mine.box, &other.box));
        assert_int_equal(list.work[mine.work].part, owner->list->work[other.work].part);
    }
    assert_false(pp_pieces_next(&theirs, &other));
    pp_worklist_clear(&list);
    scene_close(&client);
}

static void check_window(const test_scene *scene, const pp_worklist *list, const pp_window *window,
                         test_random *random)
{
    size_t first, end, rank_end;
    if (!pp_worklist_find(list, window->target, window->shard, &first, &end))
        return;
    for (; first < end; first = rank_end) {
        one_exchange exchange = {scene, list, window, first, 0, (size_t)test_random_between(random, 1, 100)};
        rank_end = pp_worklist_rank_end(list, first, end);
        exchange.end = rank_end;
        check_fragments(&exchange);
        if (test_random_between(random, 0, 15) == 0)
            check_client(&exchange);
    }
}

static void check_shard(const test_scene *scene, const pp_worklist *list, int target, int64_t shard,
                        test_random *random)
{
    int64_t cell[SCENE_NDIM];
    int most = (int)test_random_between(random, 1, 9);
    pp_window window = {.target = target, .shard = shard};
    pp_box inside;
    bool more;
    pp_tiling_chunks_inside(&scene->tilings[target], shard, &inside);
    for (more = pp_box_first(&inside, cell); more;) {
        window.chunks[window.chunk_count++] = pp_grid_cell_number(&scene->tilings[target].chunks, cell);
        more = pp_box_next(&inside, cell);
        if (!more || window.chunk_count == most) {
            check_window(scene, list, &window, random);
            window.chunk_count = 0;
        }
    }
}

static void assert_seen_once(const test_scene *scene)
{
    size_t i;
    for (i = 0; i < scene->claims.list.count; i++) {
        const pp_target *target = &scene->targets[scene_claim_target(scene, i)];
        pp_box whole = box_of(target->tiling->shards.ndim, NULL, target->tiling->shards.shape),
               box = scene_claim_box(scene, i);
        int64_t position[SCENE_NDIM];
        bool more;
        for (more = pp_box_first(&whole, position); more; more = pp_box_next(&whole, position))
            assert_int_equal(seen[i][scene_element_of(target, position)], box_has(&box, position));
    }
}

static void test_pieces__of_all_ranks_and_windows_are_every_claimed_element_once(void **state)
{
    test_random random = test_random_start();
    int round, target;
    int64_t shard;
    (void)state;
    for (round = 0; round < 4000; round++) {
        test_scene scene;
        pp_worklist list;
        scene_choose_targets(&scene, &random);
        if (round % 2 == 0)
            scene_claim_anything(&scene, &random, 12);
        else
            scene_claim_all_disjoint(&scene, &random, 3);
        assert_true(scene.claims.list.count <= MOST_CLAIMS);
        assert_ok(pp_worklist_build(&list, &scene.plan, NULL, NULL, &scene.budget));
        memset(seen, 0, sizeof seen);
        for (target = 0; target < scene.plan.target_count; target++)
            for (shard = 0; shard < scene.tilings[target].shards.cell_count; shard++)
                check_shard(&scene, &list, target, shard, &random);
        assert_seen_once(&scene);
        pp_worklist_clear(&list);
        scene_close(&scene);
    }
}

/* One shard of one chunk that one rank holds: the piece is the array. */
static void open_single(test_scene *scene, pp_worklist *list, int ndim, const int64_t *shape, size_t element_bytes)
{
    pp_box box = box_of(ndim, NULL, shape);
    scene_open(scene, ndim);
    scene_add_target(scene, grid_of(ndim, shape, shape), shape, element_bytes);
    scene_claim(scene, 0, 0, &box);
    assert_ok(pp_worklist_build(list, &scene->plan, NULL, NULL, &scene->budget));
    assert_int_equal(list->count, 1);
}

static int64_t slices_expected(int ndim, const int64_t *shape, int64_t element_bytes, int64_t fragment_bytes)
{
    int64_t slices = 1, row_bytes = element_bytes, rows;
    int d = ndim - 1, before;
    while (d >= 0 && row_bytes * shape[d] <= fragment_bytes)
        row_bytes *= shape[d--];
    if (d < 0)
        return 1;
    rows = fragment_bytes < row_bytes ? 1 : fragment_bytes / row_bytes;
    for (before = 0; before < d; before++)
        slices *= shape[before];
    return slices * ((shape[d] + rows - 1) / rows);
}

static void test_pieces__are_cut_into_as_few_slices_of_whole_rows_as_fit(void **state)
{
    test_random random = test_random_start();
    int round, d;
    (void)state;
    for (round = 0; round < 2000; round++) {
        int ndim = (int)test_random_between(&random, 0, 5);
        int64_t shape[5], element_bytes = test_random_between(&random, 1, 16), slices = 0;
        int64_t fragment_bytes = test_random_between(&random, 1, 400);
        pp_window window = {.chunk_count = 1};
        pp_worklist list;
        pp_pieces pieces;
        pp_piece piece;
        test_scene scene;
        for (d = 0; d < ndim; d++)
            shape[d] = test_random_between(&random, 1, 4);
        open_single(&scene, &list, ndim, shape, (size_t)element_bytes);
        pp_pieces_init(&pieces, &scene.plan, &list, &window, 0, 1, (size_t)fragment_bytes);
        while (pp_pieces_next(&pieces, &piece)) {
            int64_t bytes = pp_box_element_count(&piece.box) * element_bytes;
            assert_true(bytes > 0 && (bytes <= fragment_bytes || bytes == element_bytes));
            slices++;
        }
        assert_int_equal(slices, slices_expected(ndim, shape, element_bytes, fragment_bytes));
        pp_worklist_clear(&list);
        scene_close(&scene);
    }
}

static void test_pieces__of_a_cube_are_planes_then_rows(void **state)
{
    int64_t shape[3] = {4, 6, 8};
    pp_window window = {.chunk_count = 1};
    pp_worklist list;
    pp_pieces pieces;
    pp_piece piece;
    pp_box expected = box_of(3, (int64_t[]){1, 4, 0}, (int64_t[]){1, 2, 8});
    test_scene scene;
    int i;
    (void)state;
    open_single(&scene, &list, 3, shape, 8);
    pp_pieces_init(&pieces, &scene.plan, &list, &window, 0, 1, 2 * 6 * 8 * 8);
    assert_true(pp_pieces_next(&pieces, &piece));
    assert_true(pp_box_equals(&piece.box, &(pp_box){3, {0, 0, 0}, {2, 6, 8}}));
    pp_pieces_init(&pieces, &scene.plan, &list, &window, 0, 1, 4 * 8 * 8 + 63);
    for (i = 0; i < 4; i++)
        assert_true(pp_pieces_next(&pieces, &piece));
    assert_true(pp_box_equals(&piece.box, &expected));
    pp_worklist_clear(&list);
    scene_close(&scene);
}

static void test_pieces__beginning_a_fragment_passes_over_the_rest_of_the_last(void **state)
{
    pp_window window = {.chunk_count = 3, .chunks = {0, 1, 2}};
    pp_box box = box_of(1, (int64_t[]){0}, (int64_t[]){30});
    pp_worklist list;
    pp_pieces pieces;
    pp_piece piece;
    int64_t fragments, bytes;
    test_scene scene;
    (void)state;
    scene_open(&scene, 1);
    scene_add_target(&scene, grid_of(1, (int64_t[]){30}, (int64_t[]){30}), (int64_t[]){10}, 1);
    scene_claim(&scene, 0, 0, &box);
    assert_ok(pp_worklist_build(&list, &scene.plan, NULL, NULL, &scene.budget));
    pp_pieces_init(&pieces, &scene.plan, &list, &window, 0, 1, 20);
    assert_int_equal(pp_pieces_begin_fragment(&pieces), 20);
    assert_true(pp_pieces_next_in_fragment(&pieces, &piece));
    assert_int_equal(piece.index, 0);
    pp_pieces_count(&pieces, &fragments, &bytes);
    assert_int_equal(fragments, 1);
    assert_int_equal(bytes, 10);
    assert_int_equal(pp_pieces_begin_fragment(&pieces), 10);
    assert_true(pp_pieces_next_in_fragment(&pieces, &piece));
    assert_int_equal(piece.index, 2);
    assert_false(pp_pieces_next_in_fragment(&pieces, &piece));
    assert_int_equal(pp_pieces_begin_fragment(&pieces), 0);
    assert_false(pp_pieces_next_in_fragment(&pieces, &piece));
    pp_worklist_clear(&list);
    scene_close(&scene);
}

/* 30 elements of which a rank wants 30, 20 and 30 again. */
static void test_pieces__that_overlap_are_in_messages_no_larger_than_the_window(void **state)
{
    static const size_t sizes[] = {30, 20, 30};
    pp_window window = {.chunk_count = 3, .chunks = {0, 1, 2}};
    pp_worklist list;
    pp_pieces pieces;
    test_scene scene;
    int64_t fragments, bytes, skipped, left;
    size_t i;
    (void)state;
    scene_open(&scene, 1);
    scene_add_target(&scene, grid_of(1, (int64_t[]){30}, (int64_t[]){30}), (int64_t[]){10}, 1);
    for (i = 0; i < 3; i++) {
        pp_box box = box_of(1, (int64_t[]){0}, (int64_t[]){(int64_t)sizes[i]});
        scene_claim(&scene, 0, 0, &box);
    }
    assert_ok(pp_worklist_build(&list, &scene.plan, NULL, NULL, &scene.budget));
    pp_pieces_init(&pieces, &scene.plan, &list, &window, 0, 3, 1000);
    pp_pieces_count(&pieces, &fragments, &bytes);
    assert_int_equal(bytes, 80);
    assert_int_equal(fragments, 3);
    for (skipped = 0; skipped <= 4; skipped++) {
        pp_pieces_init(&pieces, &scene.plan, &list, &window, 0, 3, 1000);
        pp_pieces_skip(&pieces, skipped);
        pp_pieces_count(&pieces, &left, &bytes);
        assert_int_equal(left, skipped < fragments ? fragments - skipped : 0);
        assert_int_equal(pp_pieces_begin_fragment(&pieces), skipped > 2 ? 0 : skipped == 2 ? 20 : 30);
    }
    pp_worklist_clear(&list);
    scene_close(&scene);
}

static void test_pieces__of_no_records_and_of_an_edge_list_are_none(void **state)
{
    pp_window window = {.chunk_count = 1};
    pp_grid grid = grid_of(1, (int64_t[]){10}, (int64_t[]){4});
    pp_worklist list;
    pp_pieces pieces;
    test_scene scene;
    (void)state;
    scene_open(&scene, 1);
    scene_add_target(&scene, grid, (int64_t[]){4}, 8);
    assert_ok(pp_worklist_build_edge(&list, &grid, (bool[]){true}, &scene.budget));
    pp_pieces_init(&pieces, &scene.plan, &list, &window, 0, 1, 100);
    assert_int_equal(pp_pieces_begin_fragment(&pieces), 0);
    pp_pieces_init(&pieces, &scene.plan, &list, &window, 1, 1, 100);
    assert_int_equal(pp_pieces_begin_fragment(&pieces), 0);
    pp_worklist_clear(&list);
    scene_close(&scene);
}

static void test_window__has_about_a_mebibyte_of_chunks(void **state)
{
    (void)state;
    assert_int_equal(pp_window_chunk_count(1), 64);
    assert_int_equal(pp_window_chunk_count(16384), 64);
    assert_int_equal(pp_window_chunk_count(16385), 63);
    assert_int_equal(pp_window_chunk_count(1 << 19), 2);
    assert_int_equal(pp_window_chunk_count((1 << 20) - 1), 1);
    assert_int_equal(pp_window_chunk_count((size_t)1 << 40), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces__of_all_ranks_and_windows_are_every_claimed_element_once),
        cmocka_unit_test(test_pieces__are_cut_into_as_few_slices_of_whole_rows_as_fit),
        cmocka_unit_test(test_pieces__of_a_cube_are_planes_then_rows),
        cmocka_unit_test(test_pieces__beginning_a_fragment_passes_over_the_rest_of_the_last),
        cmocka_unit_test(test_pieces__that_overlap_are_in_messages_no_larger_than_the_window),
        cmocka_unit_test(test_pieces__of_no_records_and_of_an_edge_list_are_none),
        cmocka_unit_test(test_window__has_about_a_mebibyte_of_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
