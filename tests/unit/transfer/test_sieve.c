/* Random claims in random memory, gathered and scattered chunk by chunk through one sieve, against plain copies. The
 * other process is this one. */
#include "support.h"

#include <unistd.h>

#include "base/checked.h"
#include "comm/direct.h"
#include "geometry/strided.h"
#include "transfer/sieve.h"

#define GATHER_CASES 2000
#define SCATTER_CASES 2000
#define FAILURE_CASES 120
#define NDIM_MOST 4
#define CLAIMS_MOST (PP_SIEVE_CLAIMS + 4)
#define GUARD_BYTES 64
#define ENOUGH_BYTES ((size_t)4 << 20)

/* A claim, and a second memory that shows what the first one should look like. */
typedef struct held {
    pp_box box;
    int64_t strides[NDIM_MOST];
    int64_t origin; /* of the first element */
    size_t bytes;   /* guards included */
    unsigned char *memory, *expected;
    int64_t words[PP_CLAIM_GEOMETRY + 3 * NDIM_MOST];
} held;

typedef struct scene {
    int number, ndim, ndim_most, claim_count;
    size_t element_bytes;
    pp_box shard; /* as far as the array goes */
    int64_t chunk_shape[NDIM_MOST];
    pp_box cells; /* positions of chunks in the shard */
    size_t chunk_bytes;
    unsigned char *chunk, *expected_chunk;
    held claims[CLAIMS_MOST];
    pp_budget budget;
    pp_sieve sieve;
} scene;

/* All pieces of a scene: chunks in C order, and within a chunk all claims. */
typedef struct walk {
    scene *of;
    int64_t cell[PARAPET_MAX_NDIM];
    bool has_cell;
    int claim;
    uint64_t chunk_number;
    pp_box whole, piece;
} walk;

#define expect_in(scene_pointer, is_true)                                                                            \
    do {                                                                                                             \
        if (!(is_true))                                                                                              \
            fail_msg("case %d: expected %s", (scene_pointer)->number, #is_true);                                     \
    } while (0)

/* ---- Scenes ---- */

static void fill_bytes(unsigned char *bytes, size_t count, uint64_t seed)
{
    test_random random = {seed * UINT64_C(0x9E3779B97F4A7C15) | 1};
    size_t i;
    for (i = 0; i < count; i += sizeof(uint64_t)) {
        uint64_t word = test_random_next(&random);
        memcpy(bytes + i, &word, count - i < sizeof word ? count - i : sizeof word);
    }
}

static bool one_in(test_random *random, int64_t n)
{
    return test_random_between(random, 1, n) == 1;
}

/* Rows of one chunk to hundreds of them, some longer than what is worth a detour. */
static void draw_shard(scene *of, test_random *random)
{
    static const int64_t long_chunks[] = {1, 7, 64, 300, 1024, 1100};
    int last = of->ndim - 1, d;
    bool is_long = of->ndim == 2 && one_in(random, 8);
    of->shard.ndim = of->cells.ndim = of->ndim;
    of->chunk_bytes = of->element_bytes;
    for (d = 0; d < of->ndim; d++) {
        int64_t cells = test_random_between(random, 1, d == last ? 6 : 3), whole;
        of->chunk_shape[d] = test_random_between(random, 1, d == last ? 9 : 3);
        if (is_long && d == last) {
            of->chunk_shape[d] = long_chunks[test_random_between(random, 0, 5)];
            cells = pp_max_i64(2, test_random_between(random, 100, 1200) / of->chunk_shape[d]);
        }
        whole = cells * of->chunk_shape[d];
        of->shard.start[d] = test_random_between(random, 0, 3) * whole;
        /* The array may end within the last chunk. */
        of->shard.count[d] =
            one_in(random, 3) ? whole - test_random_between(random, 0, of->chunk_shape[d] - 1) : whole;
        of->cells.start[d] = 0;
        of->cells.count[d] = cells;
        of->chunk_bytes *= (size_t)of->chunk_shape[d];
    }
}

/* Around the shard, within it, or crossing its border. */
static void draw_claim_box(const scene *of, test_random *random, pp_box *box)
{
    int d;
    box->ndim = of->ndim;
    for (d = 0; d < of->ndim; d++) {
        int64_t first = of->shard.start[d], end = first + of->shard.count[d], low, high;
        int64_t beyond = of->shard.count[d] * (one_in(random, 4) ? 6 : 1);
        low = one_in(random, 3) ? pp_max_i64(0, first - test_random_between(random, 0, beyond))
                                : test_random_between(random, first, end - 1);
        high = one_in(random, 3) ? end + test_random_between(random, 0, d == of->ndim - 1 ? beyond : 2)
                                 : test_random_between(random, pp_max_i64(low, first) + 1, end);
        if (one_in(random, 3)) {
            low = first;
            high = end;
        }
        box->start[d] = low;
        box->count[d] = high - low;
    }
}

/* Dimensions from the one that varies fastest on: C order, Fortran order, or any. */
static void draw_order(int ndim, test_random *random, int *order)
{
    int64_t kind = test_random_between(random, 0, 4);
    int d;
    for (d = 0; d < ndim; d++)
        order[d] = kind == 0 ? d : ndim - 1 - d;
    if (kind == 1)
        for (d = ndim - 1; d > 0; d--) {
            int other = (int)test_random_between(random, 0, d), kept = order[d];
            order[d] = order[other];
            order[other] = kept;
        }
}

static void draw_memory(const scene *of, test_random *random, held *claim)
{
    bool has_gaps = one_in(random, 2), is_mirrored = one_in(random, 4);
    int64_t step = (int64_t)of->element_bytes * (one_in(random, 8) ? 2 : 1), span = 0;
    int order[NDIM_MOST], i;
    draw_order(of->ndim, random, order);
    claim->origin = GUARD_BYTES;
    for (i = 0; i < of->ndim; i++) {
        int d = order[i];
        claim->strides[d] = step;
        span += (claim->box.count[d] - 1) * step;
        if (is_mirrored && one_in(random, 2)) {
            claim->origin += (claim->box.count[d] - 1) * step;
            claim->strides[d] = -step;
        }
        step *= claim->box.count[d] + (has_gaps ? test_random_between(random, 0, 3) : 0);
    }
    claim->bytes = (size_t)span + of->element_bytes + 2 * GUARD_BYTES;
    claim->memory = malloc(claim->bytes);
    claim->expected = malloc(claim->bytes);
    assert_true(claim->memory != NULL && claim->expected != NULL);
}

static void change_memory(scene *of, uint64_t seed)
{
    int i;
    for (i = 0; i < of->claim_count; i++) {
        held *claim = &of->claims[i];
        fill_bytes(claim->memory, claim->bytes, seed * CLAIMS_MOST + (uint64_t)i);
        memcpy(claim->expected, claim->memory, claim->bytes);
    }
}

/* The budget may be smaller than what the sieve is told: memory that was planned can be gone. */
static void draw_sieve(scene *of, test_random *random)
{
    size_t most = 0, limit = ENOUGH_BYTES * 2;
    int64_t kind = test_random_between(random, 0, 5);
    if (kind == 1)
        most = (size_t)test_random_between(random, 1, 2 * PP_PAGE_BYTES);
    else if (kind == 2)
        most = (size_t)test_random_between(random, 1, 12 * PP_PAGE_BYTES);
    else if (kind > 2)
        most = ENOUGH_BYTES;
    if (one_in(random, 8))
        limit = (size_t)test_random_between(random, 0, 4) * PP_PAGE_BYTES;
    pp_budget_init(&of->budget, limit);
    pp_sieve_init(&of->sieve, &of->budget, most, of->ndim_most);
}

static void draw_scene(scene *of, test_random *random, int number)
{
    static const size_t sizes[] = {1, 2, 3, 4, 8, 8, 16};
    int i;
    memset(of, 0, sizeof *of);
    of->number = number;
    of->ndim = (int)test_random_between(random, 2, NDIM_MOST);
    of->ndim_most = (int)test_random_between(random, of->ndim, NDIM_MOST);
    of->element_bytes = sizes[test_random_between(random, 0, 6)];
    of->claim_count = (int)test_random_between(random, 1, one_in(random, 3) ? CLAIMS_MOST : 3);
    draw_shard(of, random);
    for (i = 0; i < of->claim_count; i++) {
        held *claim = &of->claims[i];
        draw_claim_box(of, random, &claim->box);
        draw_memory(of, random, claim);
        pp_claim_write(claim->words, of->ndim_most, 0, 1, i, &claim->box, claim->memory + claim->origin,
                       claim->strides);
    }
    of->chunk = malloc(of->chunk_bytes);
    of->expected_chunk = malloc(of->chunk_bytes);
    assert_true(of->chunk != NULL && of->expected_chunk != NULL);
    change_memory(of, test_random_next(random));
    draw_sieve(of, random);
}

static void clear_scene(scene *of)
{
    size_t most = of->sieve.most_bytes;
    int i;
    expect_in(of, pp_budget_peak(&of->budget) <= most);
    pp_sieve_free(&of->sieve);
    expect_in(of, pp_budget_used(&of->budget) == 0);
    for (i = 0; i < of->claim_count; i++) {
        free(of->claims[i].memory);
        free(of->claims[i].expected);
    }
    free(of->chunk);
    free(of->expected_chunk);
}

/* ---- Pieces ---- */

static walk walk_start(scene *of)
{
    walk pieces = {.of = of, .claim = -1};
    pieces.has_cell = pp_box_first(&of->cells, pieces.cell);
    return pieces;
}

static bool is_piece(walk *pieces)
{
    const scene *of = pieces->of;
    int d;
    pieces->whole.ndim = of->ndim;
    for (d = 0; d < of->ndim; d++) {
        pieces->whole.start[d] = of->shard.start[d] + pieces->cell[d] * of->chunk_shape[d];
        pieces->whole.count[d] = of->chunk_shape[d];
    }
    return pp_box_intersect(&pieces->whole, &of->shard, &pieces->piece) &&
           pp_box_intersect(&pieces->piece, &of->claims[pieces->claim].box, &pieces->piece);
}

static bool walk_next(walk *pieces)
{
    while (pieces->has_cell) {
        if (++pieces->claim == pieces->of->claim_count) {
            pieces->claim = -1;
            pieces->has_cell = pp_box_next(&pieces->of->cells, pieces->cell);
            pieces->chunk_number++;
        } else if (is_piece(pieces)) {
            return true;
        }
    }
    return false;
}

/* The plain copy: element by element, between a chunk and what the claim's memory should be. */
static void copy_plainly(const walk *pieces, unsigned char *chunk, pp_direction direction)
{
    const scene *of = pieces->of;
    const held *claim = &of->claims[pieces->claim];
    int64_t cell[PARAPET_MAX_NDIM];
    bool more;
    int d;
    for (more = pp_box_first(&pieces->piece, cell); more; more = pp_box_next(&pieces->piece, cell)) {
        int64_t there = claim->origin, here = 0;
        for (d = 0; d < of->ndim; d++) {
            there += (cell[d] - claim->box.start[d]) * claim->strides[d];
            here = here * of->chunk_shape[d] + cell[d] - pieces->whole.start[d];
        }
        here *= (int64_t)of->element_bytes;
        if (direction == PP_WRITING)
            memcpy(chunk + here, claim->expected + there, of->element_bytes);
        else
            memcpy(claim->expected + there, chunk + here, of->element_bytes);
    }
}

static bool sieve_piece(const walk *pieces, pp_direction direction)
{
    scene *of = pieces->of;
    pp_move move = {.box = &pieces->piece,
                    .claim = of->claims[pieces->claim].words,
                    .ndim_most = of->ndim_most,
                    .chunk_box = &pieces->whole,
                    .chunk = of->chunk,
                    .element_bytes = of->element_bytes};
    pp_sieve_piece piece = {.move = &move, .process = getpid(), .work = 100 + pieces->claim, .shard_box = &of->shard};
    return direction == PP_WRITING ? pp_sieve_gather(&of->sieve, &piece) : pp_sieve_scatter(&of->sieve, &piece);
}

/* Gathers into a chunk of which the rest must stay as it is; what is there after a failure does not matter. */
static bool gather_rightly(const walk *pieces)
{
    scene *of = pieces->of;
    memset(of->chunk, 0xa5, of->chunk_bytes);
    memset(of->expected_chunk, 0xa5, of->chunk_bytes);
    if (!sieve_piece(pieces, PP_WRITING))
        return false;
    copy_plainly(pieces, of->expected_chunk, PP_WRITING);
    expect_in(of, memcmp(of->chunk, of->expected_chunk, of->chunk_bytes) == 0);
    return true;
}

/* Returns how many pieces were refused; each is tried once more if it can work. */
static int gather_all(scene *of, bool retries)
{
    walk pieces = walk_start(of);
    int refused = 0;
    while (walk_next(&pieces))
        if (!gather_rightly(&pieces)) {
            refused++;
            if (retries)
                expect_in(of, gather_rightly(&pieces));
        }
    return refused;
}

static void expect_in_place(const scene *of)
{
    int i;
    for (i = 0; i < of->claim_count; i++)
        expect_in(of, memcmp(of->claims[i].memory, of->claims[i].expected, of->claims[i].bytes) == 0);
}

/* Scatters all pieces, without the flush; returns how many were refused. */
static int scatter_all(scene *of, uint64_t seed)
{
    walk pieces = walk_start(of);
    int refused = 0;
    while (walk_next(&pieces)) {
        fill_bytes(of->chunk, of->chunk_bytes, seed + pieces.chunk_number);
        refused += !sieve_piece(&pieces, PP_READING);
        copy_plainly(&pieces, of->chunk, PP_READING);
        /* The caller uses the chunk's memory for the next one. */
        memset(of->chunk, 0x5a, of->chunk_bytes);
    }
    return refused;
}

/* ---- Tests ---- */

static void test_sieve__gathers_every_element(void **state)
{
    test_random random = test_random_start();
    int number;
    scene of;
    (void)state;
    for (number = 0; number < GATHER_CASES; number++) {
        draw_scene(&of, &random, number);
        expect_in(&of, gather_all(&of, false) == 0);
        expect_in_place(&of);
        pp_sieve_forget(&of.sieve);
        change_memory(&of, test_random_next(&random));
        expect_in(&of, gather_all(&of, false) == 0);
        expect_in(&of, of.sieve.most_bytes > 0 || pp_budget_peak(&of.budget) == 0);
        clear_scene(&of);
    }
}

static void test_sieve__scatters_every_element_and_nothing_else(void **state)
{
    test_random random = test_random_start();
    int number, round;
    scene of;
    (void)state;
    for (number = 0; number < SCATTER_CASES; number++) {
        draw_scene(&of, &random, number);
        for (round = 0; round < 2; round++) {
            expect_in(&of, scatter_all(&of, test_random_next(&random)) == 0);
            expect_in(&of, pp_sieve_flush(&of.sieve));
            expect_in_place(&of);
        }
        clear_scene(&of);
    }
}

static void test_sieve__forgets_what_was_not_flushed(void **state)
{
    test_random random = test_random_start();
    int number, i;
    scene of;
    (void)state;
    for (number = 0; number < FAILURE_CASES; number++) {
        draw_scene(&of, &random, number);
        (void)scatter_all(&of, test_random_next(&random));
        pp_sieve_forget(&of.sieve);
        for (i = 0; i < of.claim_count; i++)
            memcpy(of.claims[i].expected, of.claims[i].memory, of.claims[i].bytes);
        expect_in(&of, pp_sieve_flush(&of.sieve));
        expect_in_place(&of);
        clear_scene(&of);
    }
}

/* Copy n fails, for n = 0, 1, ... until none is left to fail. */
static void test_sieve__refused_gather_is_told_and_can_be_repeated(void **state)
{
    test_random random = test_random_start();
    int number, refused;
    long n;
    scene of;
    (void)state;
    for (number = 0; number < FAILURE_CASES; number++) {
        draw_scene(&of, &random, number);
        for (n = 0, refused = 1; refused > 0 && n < 40; n++) {
            pp_sieve_forget(&of.sieve);
            change_memory(&of, test_random_next(&random));
            pp_direct_fail_at(n, false);
            refused = gather_all(&of, true);
            expect_in(&of, refused <= 1 && (n > 0 || refused == 1));
        }
        pp_direct_fail_at(-1, false);
        clear_scene(&of);
    }
}

static void test_sieve__gather_without_any_copy_only_gives_what_it_holds(void **state)
{
    test_random random = test_random_start();
    int number, refused;
    long n;
    scene of;
    (void)state;
    for (number = 0; number < FAILURE_CASES; number++) {
        draw_scene(&of, &random, number);
        for (n = 0, refused = 1; refused > 0 && n < 40; n++) {
            pp_sieve_forget(&of.sieve);
            change_memory(&of, test_random_next(&random));
            pp_direct_fail_at(n, true);
            refused = gather_all(&of, false);
            expect_in(&of, n > 0 || refused > 0);
            pp_direct_fail_at(-1, false);
            expect_in(&of, gather_all(&of, false) == 0);
        }
        clear_scene(&of);
    }
}

/* Every byte is the old or the new one: of a copy that fails nothing arrives, or the right thing. */
static void expect_old_or_new(const scene *of, unsigned char *const old[CLAIMS_MOST])
{
    size_t k;
    int i;
    for (i = 0; i < of->claim_count; i++)
        for (k = 0; k < of->claims[i].bytes; k++)
            expect_in(of,
                      of->claims[i].memory[k] == old[i][k] || of->claims[i].memory[k] == of->claims[i].expected[k]);
}

static void keep_memory(const scene *of, unsigned char *old[CLAIMS_MOST])
{
    int i;
    for (i = 0; i < of->claim_count; i++) {
        old[i] = malloc(of->claims[i].bytes);
        assert_non_null(old[i]);
        memcpy(old[i], of->claims[i].memory, of->claims[i].bytes);
    }
}

/* Returns whether something was refused. */
static bool scatter_with_failure(scene *of, long n, bool is_forever, uint64_t seed)
{
    unsigned char *old[CLAIMS_MOST];
    int refused, i;
    bool is_flushed;
    keep_memory(of, old);
    pp_direct_fail_at(n, is_forever);
    refused = scatter_all(of, seed);
    is_flushed = pp_sieve_flush(&of->sieve);
    refused += !is_flushed;
    pp_direct_fail_at(-1, false);
    expect_in(of, is_forever || refused <= 1);
    expect_in(of, n > 0 || refused > 0);
    expect_old_or_new(of, old);
    if (refused == 0)
        expect_in_place(of);
    for (i = 0; i < of->claim_count; i++) {
        memcpy(old[i], of->claims[i].memory, of->claims[i].bytes);
        expect_in(of, is_flushed || pp_sieve_flush(&of->sieve));
        expect_in(of, memcmp(old[i], of->claims[i].memory, of->claims[i].bytes) == 0);
        free(old[i]);
    }
    return refused > 0;
}

static void check_refused_scatter(bool is_forever)
{
    test_random random = test_random_start();
    int number;
    bool is_refused;
    long n;
    scene of;
    for (number = 0; number < FAILURE_CASES; number++) {
        draw_scene(&of, &random, number);
        for (n = 0, is_refused = true; is_refused && n < 40; n++) {
            uint64_t seed = test_random_next(&random);
            is_refused = scatter_with_failure(&of, n, is_forever, seed);
            pp_sieve_forget(&of.sieve);
            expect_in(&of, scatter_all(&of, seed) == 0 && pp_sieve_flush(&of.sieve));
            expect_in_place(&of);
        }
        clear_scene(&of);
    }
}

static void test_sieve__refused_scatter_or_flush_is_told_and_can_be_repeated(void **state)
{
    (void)state;
    check_refused_scatter(false);
}

static void test_sieve__scatter_without_any_copy_is_told(void **state)
{
    (void)state;
    check_refused_scatter(true);
}

/* One row of 8 chunks of 4 x 4 x 8 elements; the claim covers it, and has gaps between its rows or not. */
static void draw_row(scene *of, size_t most_bytes, int64_t gap)
{
    static const int64_t shape[3] = {4, 4, 64};
    held *claim = &of->claims[0];
    int64_t row = 8 * (shape[2] + gap);
    memset(of, 0, sizeof *of);
    of->ndim = of->ndim_most = 3;
    of->claim_count = 1;
    of->element_bytes = 8;
    assert_ok(pp_box_init(&of->shard, 3, NULL, shape));
    assert_ok(pp_box_init(&of->cells, 3, NULL, (const int64_t[]){1, 1, 8}));
    memcpy(of->chunk_shape, (const int64_t[]){4, 4, 8}, 3 * sizeof of->chunk_shape[0]);
    of->chunk_bytes = 8 * 128;
    claim->box = of->shard;
    memcpy(claim->strides, (const int64_t[]){4 * row, row, 8}, 3 * sizeof claim->strides[0]);
    claim->bytes = (size_t)(16 * row) + 2 * GUARD_BYTES;
    claim->origin = GUARD_BYTES;
    claim->memory = malloc(claim->bytes);
    claim->expected = malloc(claim->bytes);
    of->chunk = malloc(of->chunk_bytes);
    of->expected_chunk = malloc(of->chunk_bytes);
    pp_claim_write(claim->words, 3, 0, 1, 0, &claim->box, claim->memory + claim->origin, claim->strides);
    change_memory(of, 1);
    pp_budget_init(&of->budget, ENOUGH_BYTES);
    pp_sieve_init(&of->sieve, &of->budget, most_bytes, 3);
}

static void test_sieve__copies_a_row_of_chunks_at_once(void **state)
{
    int64_t gap;
    scene of;
    (void)state;
    for (gap = 0; gap < 3; gap++) {
        draw_row(&of, ENOUGH_BYTES, gap);
        pp_direct_fail_at(1, true);
        expect_in(&of, gather_all(&of, false) == 0);
        pp_sieve_forget(&of.sieve);
        pp_direct_fail_at(1, true);
        expect_in(&of, scatter_all(&of, 5) == 0);
        expect_in_place(&of); /* complete rows do not wait for the flush */
        expect_in(&of, pp_sieve_flush(&of.sieve));
        clear_scene(&of);
        draw_row(&of, 0, gap);
        pp_direct_fail_at(1, true);
        expect_in(&of, gather_all(&of, false) == 7);
        pp_direct_fail_at(-1, false);
        clear_scene(&of);
    }
}

static int stop_failing(void **state)
{
    (void)state;
    pp_direct_fail_at(-1, false);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_sieve__gathers_every_element, stop_failing),
        cmocka_unit_test_teardown(test_sieve__scatters_every_element_and_nothing_else, stop_failing),
        cmocka_unit_test_teardown(test_sieve__forgets_what_was_not_flushed, stop_failing),
        cmocka_unit_test_teardown(test_sieve__refused_gather_is_told_and_can_be_repeated, stop_failing),
        cmocka_unit_test_teardown(test_sieve__gather_without_any_copy_only_gives_what_it_holds, stop_failing),
        cmocka_unit_test_teardown(test_sieve__refused_scatter_or_flush_is_told_and_can_be_repeated, stop_failing),
        cmocka_unit_test_teardown(test_sieve__scatter_without_any_copy_is_told, stop_failing),
        cmocka_unit_test_teardown(test_sieve__copies_a_row_of_chunks_at_once, stop_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
