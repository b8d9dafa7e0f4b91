/* Counts of a pass against a walk over every template and every source chunk that it touches. */
#include "copy_case.h"

#include <time.h>

#define CASES 8000
#define INTERVALS_MOST 64
#define SECONDS_MOST 2.0 /* of the processor: thirty times what the longest takes */

/* Choices of one template per dimension, walked as a box of numbers. */
typedef struct template_walk {
    const copy_case *its;
    case_interval intervals[CASE_NDIM][INTERVALS_MOST];
    int64_t counts[CASE_NDIM], zero[CASE_NDIM], number[CASE_NDIM];
} template_walk;

static void start_walk(template_walk *walk, const copy_case *its)
{
    int d;
    memset(walk, 0, sizeof *walk);
    walk->its = its;
    for (d = 0; d < its->ndim; d++)
        walk->counts[d] = case_intervals(its, d, walk->intervals[d]);
}

static bool next_template(template_walk *walk)
{
    return case_next(walk->its->ndim, walk->zero, walk->counts, walk->number);
}

static const case_interval *interval_of(const template_walk *walk, int d)
{
    return &walk->intervals[d][walk->number[d]];
}

/* Elements of a chunk inside the template, per dimension. */
static void cover_of(const template_walk *walk, const int64_t *chunk, int64_t *cover)
{
    const pp_rechunk_side *source = &walk->its->pass.source;
    int64_t x;
    int d;
    for (d = 0; d < walk->its->ndim; d++) {
        cover[d] = 0;
        for (x = interval_of(walk, d)->low; x < interval_of(walk, d)->high; x++)
            cover[d] += (x + source->origin[d]) / source->chunk[d] == chunk[d];
    }
}

/* Reads a chunk's elements in stored order and counts where one does not follow the one before. */
static int64_t runs_slowly(const copy_case *its, const int64_t *cover)
{
    const pp_rechunk_side *source = &its->pass.source;
    int64_t zero[CASE_NDIM] = {0}, counts[CASE_NDIM], position[CASE_NDIM] = {0}, last = -2, runs = 0;
    int i;
    for (i = 0; i < its->ndim; i++)
        counts[i] = cover[source->stored_order[i]];
    do {
        int64_t offset = 0;
        for (i = 0; i < its->ndim; i++)
            offset = offset * source->chunk[source->stored_order[i]] + position[i];
        runs += offset != last + 1;
        last = offset;
    } while (case_next(its->ndim, zero, counts, position));
    return runs;
}

static void cells_of(const template_walk *walk, const int64_t *cell, int64_t *low, int64_t *high)
{
    int d;
    for (d = 0; d < walk->its->ndim; d++) {
        low[d] = (interval_of(walk, d)->low + walk->its->pass.source.origin[d]) / cell[d];
        high[d] = (interval_of(walk, d)->high - 1 + walk->its->pass.source.origin[d]) / cell[d] + 1;
    }
}

static void count_template_slowly(const template_walk *walk, pp_rechunk_counts *counts)
{
    const copy_case *its = walk->its;
    int64_t low[CASE_NDIM] = {0}, high[CASE_NDIM] = {0}, chunk[CASE_NDIM], cover[CASE_NDIM] = {0};
    cells_of(walk, its->pass.source.shard, low, high);
    memcpy(chunk, low, sizeof chunk);
    if (its->pass.source.is_sharded)
        do
            counts->index_reads++;
        while (case_next(its->ndim, low, high, chunk));
    cells_of(walk, its->pass.source.chunk, low, high);
    memcpy(chunk, low, sizeof chunk);
    do {
        counts->chunk_reads++;
        cover_of(walk, chunk, cover);
        counts->read_requests += its->pass.reads_runs ? runs_slowly(its, cover) : 1;
        counts->decoded_bytes += case_product(its->ndim, its->pass.reads_runs ? cover : its->pass.source.chunk) *
                                 its->pass.source.element_bytes;
    } while (case_next(its->ndim, low, high, chunk));
}

/* Work units and written things are counted by their first elements. */
static bool is_first_of(const copy_case *its, const int64_t *position, const int64_t *cell)
{
    int d;
    for (d = 0; d < its->ndim; d++)
        if (position[d] % cell[d] != 0)
            return false;
    return true;
}

static void count_writes_slowly(const copy_case *its, pp_rechunk_counts *counts)
{
    int64_t zero[CASE_NDIM] = {0}, position[CASE_NDIM] = {0};
    do {
        counts->work_units += is_first_of(its, position, its->pass.work_unit_shape);
        counts->chunks_written += is_first_of(its, position, its->pass.target.chunk);
        counts->shards_written += is_first_of(its, position, its->pass.target.shard);
    } while (case_next(its->ndim, zero, its->shape, position));
    counts->written_bytes =
        counts->chunks_written * case_product(its->ndim, its->pass.target.chunk) * its->pass.target.element_bytes;
}

static pp_rechunk_counts count_slowly(const copy_case *its)
{
    pp_rechunk_counts counts = {0};
    template_walk walk;
    start_walk(&walk, its);
    do {
        counts.templates++;
        count_template_slowly(&walk, &counts);
    } while (next_template(&walk));
    count_writes_slowly(its, &counts);
    return counts;
}

static void assert_same_counts(const pp_rechunk_counts *got, const pp_rechunk_counts *expected, int number)
{
    if (memcmp(got, expected, sizeof *got) == 0)
        return;
    print_message("case %d\n", number);
    assert_int_equal(got->work_units, expected->work_units);
    assert_int_equal(got->templates, expected->templates);
    assert_int_equal(got->chunk_reads, expected->chunk_reads);
    assert_int_equal(got->read_requests, expected->read_requests);
    assert_int_equal(got->index_reads, expected->index_reads);
    assert_int_equal(got->decoded_bytes, expected->decoded_bytes);
    assert_int_equal(got->chunks_written, expected->chunks_written);
    assert_int_equal(got->shards_written, expected->shards_written);
    assert_int_equal(got->written_bytes, expected->written_bytes);
}

static void check_random_cases(bool reads_runs)
{
    test_random random = test_random_start();
    int i;
    for (i = 0; i < CASES; i++) {
        pp_rechunk_counts expected;
        copy_case its;
        case_choose(&its, &random);
        its.pass.reads_runs = reads_runs;
        expected = count_slowly(&its);
        pp_rechunk_count(its.ndim, its.shape, 1, &its.pass);
        assert_same_counts(&its.pass.counts, &expected, i);
    }
}

static void test_count__of_whole_chunks_is_that_of_a_walk(void **state)
{
    (void)state;
    check_random_cases(false);
}

static void test_count__of_runs_is_that_of_a_walk(void **state)
{
    (void)state;
    check_random_cases(true);
}

static bool is_in_step(const template_walk *walk, const int64_t *group, const int64_t *number)
{
    int d;
    for (d = 0; d < walk->its->ndim; d++)
        if (interval_of(walk, d)->work_unit / walk->its->pass.group[d] != group[d] ||
            interval_of(walk, d)->number != number[d])
            return false;
    return true;
}

/* What the templates of one group and step touch of a grid, each cell once: marked in a table of all cells. */
static int64_t count_union_slowly(template_walk *walk, const int64_t *group, const int64_t *number,
                                  const int64_t *cell)
{
    static bool marks[1 << 16];
    const copy_case *its = walk->its;
    int64_t low[CASE_NDIM] = {0}, high[CASE_NDIM] = {0}, position[CASE_NDIM], marked = 0;
    int d;
    memset(marks, 0, sizeof marks);
    memset(walk->number, 0, sizeof walk->number);
    do {
        if (!is_in_step(walk, group, number))
            continue;
        cells_of(walk, cell, low, high);
        memcpy(position, low, sizeof position);
        do {
            size_t place = 0;
            for (d = 0; d < its->ndim; d++)
                place = place * (its->ndim == 1   ? 128
                                 : its->ndim == 2 ? 128
                                 : its->ndim == 3 ? 40
                                                  : 16) +
                        (size_t)position[d];
            assert_true(place < sizeof marks);
            marked += !marks[place];
            marks[place] = true;
        } while (case_next(its->ndim, low, high, position));
    } while (next_template(walk));
    return marked;
}

static int64_t count_shared_slowly(template_walk *walk, const int64_t *cell)
{
    const copy_case *its = walk->its;
    int64_t zero[2 * CASE_NDIM] = {0}, most[2 * CASE_NDIM], step[2 * CASE_NDIM] = {0}, cells = 0;
    int d;
    for (d = 0; d < its->ndim; d++) {
        most[d] = (its->shape[d] - 1) / its->pass.work_unit_shape[d] / its->pass.group[d] + 1;
        most[its->ndim + d] = (its->pass.work_unit_shape[d] - 1) / its->pass.template_shape[d] + 1;
    }
    do
        cells += count_union_slowly(walk, step, step + its->ndim, cell);
    while (case_next(2 * its->ndim, zero, most, step));
    return cells;
}

/* So that the walk over all steps of all groups, each over all templates, stays short. */
static bool is_small(const template_walk *walk)
{
    return case_product(walk->its->ndim, walk->counts) <= 60;
}

static void test_count__of_ranks_that_cooperate_has_each_chunk_of_a_group_once(void **state)
{
    test_random random = test_random_start();
    int done = 0, shared = 0;
    (void)state;
    while (done < 5000) {
        copy_case its;
        template_walk walk;
        pp_rechunk_counts alone;
        case_choose(&its, &random);
        start_walk(&walk, &its);
        if (!is_small(&walk))
            continue;
        pp_rechunk_count(its.ndim, its.shape, 1, &its.pass);
        alone = its.pass.counts;
        its.pass.cooperates = true;
        pp_rechunk_count(its.ndim, its.shape, 81, &its.pass);
        assert_int_equal(its.pass.counts.chunk_reads, count_shared_slowly(&walk, its.pass.source.chunk));
        assert_int_equal(its.pass.counts.index_reads,
                         its.pass.source.is_sharded ? count_shared_slowly(&walk, its.pass.source.shard) : 0);
        assert_int_equal(its.pass.counts.templates, alone.templates);
        assert_int_equal(its.pass.counts.read_requests, its.pass.counts.chunk_reads);
        shared += its.pass.counts.chunk_reads < alone.chunk_reads;
        done++;
    }
    assert_true(shared > 500);
}

static void set_dimension(copy_case *its, int d, int64_t extent, int64_t source, int64_t target, int64_t template)
{
    its->shape[d] = extent;
    its->pass.source.chunk[d] = its->pass.source.shard[d] = source;
    its->pass.target.chunk[d] = its->pass.target.shard[d] = target;
    its->pass.template_shape[d] = its->pass.work_unit_shape[d] = template;
    its->pass.order[d] = its->pass.source.stored_order[d] = d;
    its->pass.group[d] = 1;
}

static void test_count__of_a_century_of_maps_is_instant(void **state)
{
    copy_case its = {.ndim = 3, .pass = {.source.element_bytes = 4, .target.element_bytes = 4}};
    clock_t start = clock();
    (void)state;
    set_dimension(&its, 0, 350640, 1, 350640, 350640);
    set_dimension(&its, 1, 721, 721, 10, 10);
    set_dimension(&its, 2, 1440, 1440, 10, 10);
    pp_rechunk_count(3, its.shape, 1, &its.pass);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < TEST_SLOWNESS * SECONDS_MOST);
    assert_int_equal(its.pass.counts.templates, 73 * 144);
    assert_int_equal(its.pass.counts.chunk_reads, INT64_C(350640) * 73 * 144);
    assert_int_equal(its.pass.counts.decoded_bytes, INT64_C(350640) * 73 * 144 * 721 * 1440 * 4);
    assert_int_equal(its.pass.counts.chunks_written, 73 * 144);
}

/* As a document may say that is not honest. */
static void test_count__of_2_29_chunks_in_a_shard_is_instant(void **state)
{
    copy_case its = {.ndim = 1, .pass = {.source.element_bytes = 1, .target.element_bytes = 1}};
    clock_t start = clock();
    (void)state;
    set_dimension(&its, 0, 1 << 29, 1, 2, 2);
    its.pass.source.is_sharded = true;
    its.pass.source.shard[0] = 1 << 29;
    pp_rechunk_count(1, its.shape, 1, &its.pass);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < TEST_SLOWNESS * SECONDS_MOST / 10);
    assert_int_equal(its.pass.counts.index_reads, 1 << 28);
    assert_int_equal(its.pass.counts.chunk_reads, 1 << 29);
}

static void test_count__of_a_million_templates_along_a_dimension_is_quick(void **state)
{
    copy_case its = {.ndim = 1, .pass = {.source.element_bytes = 1, .target.element_bytes = 1}};
    clock_t start = clock();
    (void)state;
    set_dimension(&its, 0, 7000000, 6999999, 7, 7);
    its.pass.reads_runs = true;
    pp_rechunk_count(1, its.shape, 1, &its.pass);
    its.pass.cooperates = true;
    its.pass.group[0] = 3;
    pp_rechunk_count(1, its.shape, 3, &its.pass);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < TEST_SLOWNESS * SECONDS_MOST);
    assert_int_equal(its.pass.counts.templates, 1000000);
    assert_int_equal(its.pass.counts.chunk_reads, 333334 + 1);
}

static void test_count__that_does_not_fit_is_the_largest_number(void **state)
{
    copy_case its = {.ndim = 2, .pass = {.source.element_bytes = 8, .target.element_bytes = 8}};
    (void)state;
    set_dimension(&its, 0, INT64_C(1) << 30, INT64_C(1) << 30, 1, 1 << 10);
    set_dimension(&its, 1, INT64_C(1) << 30, INT64_C(1) << 30, 1, 1 << 10);
    pp_rechunk_count(2, its.shape, 1, &its.pass);
    assert_int_equal(its.pass.counts.chunk_reads, INT64_C(1) << 40);
    assert_int_equal(its.pass.counts.decoded_bytes, INT64_MAX);
    assert_int_equal(its.pass.counts.written_bytes, INT64_MAX);
}

static void test_count__of_an_empty_array_is_nothing(void **state)
{
    static const pp_rechunk_counts nothing;
    copy_case its = {.ndim = 2, .pass = {.source.element_bytes = 8, .target.element_bytes = 8}};
    (void)state;
    set_dimension(&its, 0, 5, 2, 3, 3);
    set_dimension(&its, 1, 0, 2, 3, 3);
    its.pass.counts.work_units = 9;
    pp_rechunk_count(2, its.shape, 1, &its.pass);
    assert_memory_equal(&its.pass.counts, &nothing, sizeof nothing);
    its.pass.reads_runs = true;
    pp_rechunk_count(2, its.shape, 1, &its.pass);
    assert_memory_equal(&its.pass.counts, &nothing, sizeof nothing);
}

/* Every number is added, by itself, and stays at the largest when the sum would be larger. */
static void test_counts__adds_each_number_to_its_own(void **state)
{
    int64_t sum[PP_RECHUNK_COUNTS], more[PP_RECHUNK_COUNTS];
    pp_rechunk_counts a, b;
    int i;
    (void)state;
    for (i = 0; i < PP_RECHUNK_COUNTS; i++) {
        sum[i] = 1000 * (i + 1);
        more[i] = i + 1;
    }
    more[PP_RECHUNK_COUNTS / 2] = INT64_MAX;
    memcpy(&a, sum, sizeof a);
    memcpy(&b, more, sizeof b);
    pp_rechunk_counts_add(&a, &b);
    memcpy(sum, &a, sizeof sum);
    for (i = 0; i < PP_RECHUNK_COUNTS; i++)
        assert_int_equal(sum[i], i == PP_RECHUNK_COUNTS / 2 ? INT64_MAX : 1001 * (i + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts__adds_each_number_to_its_own),
        cmocka_unit_test(test_count__of_whole_chunks_is_that_of_a_walk),
        cmocka_unit_test(test_count__of_runs_is_that_of_a_walk),
        cmocka_unit_test(test_count__of_ranks_that_cooperate_has_each_chunk_of_a_group_once),
        cmocka_unit_test(test_count__of_a_century_of_maps_is_instant),
        cmocka_unit_test(test_count__of_2_29_chunks_in_a_shard_is_instant),
        cmocka_unit_test(test_count__of_a_million_templates_along_a_dimension_is_quick),
        cmocka_unit_test(test_count__that_does_not_fit_is_the_largest_number),
        cmocka_unit_test(test_count__of_an_empty_array_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
