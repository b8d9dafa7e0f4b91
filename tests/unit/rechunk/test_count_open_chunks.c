/* Open chunks against a simulation of the visit: every source chunk of every template, one after the other. */
#include "copy_case.h"

#include <time.h>

#include "base/memory.h"

#define CASES 6000
#define INTERVALS_MOST 64
#define CHUNKS_MOST 4096
#define SECONDS_MOST 0.5 /* of the processor: forty times what the longest takes */

/* Of one template: its chunks, each with the number of source chunks that have some of it and are not yet visited. */
typedef struct template_visit {
    const copy_case *its;
    int64_t low[CASE_NDIM], high[CASE_NDIM];  /* elements */
    int64_t first[CASE_NDIM], end[CASE_NDIM]; /* source chunks */
    int64_t chunks[CASE_NDIM];                /* of the target */
    int64_t waiting[CHUNKS_MOST];
    bool is_open[CHUNKS_MOST];
    int64_t open, most;
} template_visit;

static bool do_meet(const template_visit *visit, int d, int64_t source, int64_t chunk)
{
    const pp_rechunk_pass *pass = &visit->its->pass;
    int64_t x;
    for (x = visit->low[d]; x < visit->high[d]; x++)
        if ((x + pass->source.origin[d]) / pass->source.chunk[d] == source &&
            (x - visit->low[d]) / pass->target.chunk[d] == chunk)
            return true;
    return false;
}

static bool do_all_meet(const template_visit *visit, const int64_t *source, const int64_t *chunk)
{
    int d;
    for (d = 0; d < visit->its->ndim; d++)
        if (!do_meet(visit, d, source[d], chunk[d]))
            return false;
    return true;
}

static void visit_for_chunks(template_visit *visit, const int64_t *source, bool is_counting)
{
    int64_t zero[CASE_NDIM] = {0}, chunk[CASE_NDIM] = {0}, closing = 0;
    size_t number = 0;
    do {
        if (do_all_meet(visit, source, chunk)) {
            if (is_counting) {
                visit->waiting[number]++;
            } else {
                visit->open += !visit->is_open[number];
                visit->is_open[number] = true;
                closing += --visit->waiting[number] == 0;
            }
        }
        number++;
    } while (case_next(visit->its->ndim, zero, visit->chunks, chunk));
    visit->most = visit->open > visit->most ? visit->open : visit->most;
    visit->open -= closing;
}

/* The source chunks in pass->order: positions are kept in that order, and put in place for the visit. */
static void visit_all(template_visit *visit, bool is_counting)
{
    int64_t low[CASE_NDIM] = {0}, high[CASE_NDIM] = {0}, turn[CASE_NDIM] = {0}, source[CASE_NDIM] = {0};
    int i, ndim = visit->its->ndim;
    for (i = 0; i < ndim; i++) {
        low[i] = turn[i] = visit->first[visit->its->pass.order[i]];
        high[i] = visit->end[visit->its->pass.order[i]];
    }
    do {
        for (i = 0; i < ndim; i++)
            source[visit->its->pass.order[i]] = turn[i];
        visit_for_chunks(visit, source, is_counting);
    } while (case_next(ndim, low, high, turn));
}

static int64_t most_open_slowly(const copy_case *its)
{
    static case_interval intervals[CASE_NDIM][INTERVALS_MOST];
    static template_visit visit;
    int64_t zero[CASE_NDIM] = {0}, counts[CASE_NDIM] = {0}, number[CASE_NDIM] = {0}, most = 0;
    int d;
    for (d = 0; d < its->ndim; d++)
        counts[d] = case_intervals(its, d, intervals[d]);
    do {
        memset(&visit, 0, sizeof visit);
        visit.its = its;
        for (d = 0; d < its->ndim; d++) {
            visit.low[d] = intervals[d][number[d]].low;
            visit.high[d] = intervals[d][number[d]].high;
            visit.first[d] = (visit.low[d] + its->pass.source.origin[d]) / its->pass.source.chunk[d];
            visit.end[d] = (visit.high[d] - 1 + its->pass.source.origin[d]) / its->pass.source.chunk[d] + 1;
            visit.chunks[d] = (visit.high[d] - visit.low[d] - 1) / its->pass.target.chunk[d] + 1;
        }
        assert_true(case_product(its->ndim, visit.chunks) <= CHUNKS_MOST);
        visit_all(&visit, true);
        visit.most = 0;
        visit_all(&visit, false);
        assert_int_equal(visit.open, 0);
        most = visit.most > most ? visit.most : most;
    } while (case_next(its->ndim, zero, counts, number));
    return most;
}

/* Visits times chunks of the largest template times templates: what the simulation takes. */
static double effort_of(const copy_case *its)
{
    double effort = 1;
    int d;
    for (d = 0; d < its->ndim; d++) {
        double extent = (double)its->shape[d], template = (double)its->pass.template_shape[d];
        double length = template <extent ? template : extent;
        effort *= extent / length + 1;
        effort *= length / (double)its->pass.source.chunk[d] + 1;
        effort *= length / (double)its->pass.target.chunk[d] + 1;
    }
    return effort;
}

static void test_open_chunks__are_those_of_a_visit(void **state)
{
    test_random random = test_random_start();
    int done = 0, partial = 0;
    (void)state;
    while (done < CASES) {
        copy_case its;
        int64_t expected, got;
        case_choose(&its, &random);
        if (effort_of(&its) > 20000)
            continue;
        expected = most_open_slowly(&its);
        got = pp_rechunk_open_chunks(its.ndim, its.shape, &its.pass);
        if (got != expected)
            print_message("case %d of %d dimensions\n", done, its.ndim);
        assert_int_equal(got, expected);
        partial += expected < pp_rechunk_template_chunks(its.ndim, its.shape, &its.pass) && expected > 1;
        done++;
    }
    assert_true(partial > CASES / 20);
}

static void set_dimension(copy_case *its, int d, int64_t extent, int64_t source, int64_t target, int64_t template)
{
    its->shape[d] = extent;
    its->pass.source.chunk[d] = its->pass.source.shard[d] = source;
    its->pass.target.chunk[d] = its->pass.target.shard[d] = target;
    its->pass.template_shape[d] = its->pass.work_unit_shape[d] = template;
    its->pass.order[d] = d;
}

static double seconds_of_many(const copy_case *its, int64_t *open)
{
    clock_t start = clock();
    int i;
    for (i = 0; i < 10; i++)
        *open = pp_rechunk_open_chunks(its->ndim, its->shape, &its->pass);
    return (double)(clock() - start) / CLOCKS_PER_SEC / 10;
}

static void test_open_chunks__of_maps_into_time_series_are_all_of_them(void **state)
{
    copy_case its = {.ndim = 3};
    int64_t open = 0;
    (void)state;
    set_dimension(&its, 0, 350640, 1, 35064, 350640);
    set_dimension(&its, 1, 721, 721, 10, 100);
    set_dimension(&its, 2, 1440, 1440, 10, 100);
    assert_true(seconds_of_many(&its, &open) < TEST_SLOWNESS * SECONDS_MOST);
    assert_int_equal(open, 100);
    its.pass.order[0] = 2;
    its.pass.order[2] = 0;
    assert_true(seconds_of_many(&its, &open) < TEST_SLOWNESS * SECONDS_MOST);
    assert_int_equal(open, 100);
}

static void test_open_chunks__are_found_quickly_for_odd_shapes(void **state)
{
    copy_case its = {.ndim = 4};
    int64_t open = 0;
    int d;
    (void)state;
    for (d = 0; d < 4; d++)
        set_dimension(&its, d, 100000 + 7 * d, 11 + 2 * d, 5 + d, (5 + d) * 2000);
    assert_true(seconds_of_many(&its, &open) < TEST_SLOWNESS * SECONDS_MOST);
    assert_true(open > 2000 * INT64_C(2000) * 2000 && open < 2000 * INT64_C(2000) * 2000 * 20);
    set_dimension(&its, 0, 1000003, 997, 10, 9970);
    set_dimension(&its, 1, 350640, 350640, 1, 1);
    assert_true(seconds_of_many(&its, &open) < TEST_SLOWNESS * SECONDS_MOST);
}

static int refuse(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return 1;
}

static void test_open_chunks__without_memory_to_count_are_all_of_a_template(void **state)
{
    copy_case its = {.ndim = 2};
    int64_t open;
    (void)state;
    set_dimension(&its, 0, 100, 10, 10, 50);
    set_dimension(&its, 1, 100, 10, 10, 50);
    assert_int_equal(pp_rechunk_open_chunks(2, its.shape, &its.pass), 1);
    pp_memory_hook_set(refuse, NULL);
    open = pp_rechunk_open_chunks(2, its.shape, &its.pass);
    pp_memory_hook_set(NULL, NULL);
    assert_int_equal(open, 25);
    assert_int_equal(pp_memory_live_count(), 0);
}

static void test_open_chunks__of_many_odd_dimensions_are_bounded(void **state)
{
    copy_case its = {.ndim = 0};
    int64_t shape[10], open;
    int d;
    (void)state;
    for (d = 0; d < 10; d++) {
        shape[d] = 31;
        its.pass.source.chunk[d] = its.pass.source.shard[d] = 5;
        its.pass.source.origin[d] = d % 5;
        its.pass.target.chunk[d] = 2;
        its.pass.target.shard[d] = its.pass.work_unit_shape[d] = 14;
        its.pass.template_shape[d] = 8;
        its.pass.order[d] = d;
    }
    open = pp_rechunk_open_chunks(10, shape, &its.pass);
    assert_int_equal(open, 4 * 4 * 4 * 4 * 4 * 4 * 4 * 4 * 4 * 4);
}

static void test_open_chunks__of_an_empty_array_are_none(void **state)
{
    copy_case its = {.ndim = 2};
    (void)state;
    set_dimension(&its, 0, 0, 10, 10, 50);
    set_dimension(&its, 1, 100, 10, 10, 50);
    assert_int_equal(pp_rechunk_open_chunks(2, its.shape, &its.pass), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_chunks__are_those_of_a_visit),
        cmocka_unit_test(test_open_chunks__of_maps_into_time_series_are_all_of_them),
        cmocka_unit_test(test_open_chunks__are_found_quickly_for_odd_shapes),
        cmocka_unit_test(test_open_chunks__without_memory_to_count_are_all_of_a_template),
        cmocka_unit_test(test_open_chunks__of_many_odd_dimensions_are_bounded),
        cmocka_unit_test(test_open_chunks__of_an_empty_array_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
