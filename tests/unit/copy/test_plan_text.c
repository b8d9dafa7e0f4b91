/* What the planner is told of two layouts, and parapet_copy_plan_print from beginning to end. */
#include "support.h"

#include <limits.h>

#include <parapet_plan.h>

#include "array/document.h"
#include "copy/problem.h"
#include "copy/target_document.h"

/* A copy as far as its plan: from a spec, with changes. */
typedef struct problem_case {
    pp_array_document source, target;
    pp_layout source_layout, target_layout;
    pp_copy_view view;
    pp_copy_means means;
    pp_rechunk_problem problem;
} problem_case;

static void case_init(problem_case *of, const parapet_array_spec *spec, const parapet_copy_changes *changes)
{
    *of = (problem_case){.means = {.memory_bytes = 64 << 20, .threads = 3, .ranks = 5, .passes = 2}};
    assert_ok(pp_document_from_spec(&of->source, spec, 1));
    assert_ok(pp_layout_init(&of->source_layout, &of->source, false));
    assert_ok(pp_copy_document(changes, &of->source, false, 1, &of->target, &of->view));
    assert_ok(pp_layout_init(&of->target_layout, &of->target, false));
    pp_copy_problem_init(&of->problem, &of->source_layout, &of->target_layout, &of->view, &of->means);
}

static void case_clear(problem_case *of)
{
    pp_layout_clear(&of->source_layout);
    pp_layout_clear(&of->target_layout);
    pp_array_document_clear(&of->source);
    pp_array_document_clear(&of->target);
}

static const int64_t shape[3] = {100, 50, 20}, chunks[3] = {10, 20, 5}, shards[3] = {40, 20, 20};
static const char *const names[3] = {"time", "lat", "lon"};

static parapet_array_spec spec_of(void)
{
    return (parapet_array_spec){.type = PARAPET_FLOAT32,
                                .ndim = 3,
                                .shape = shape,
                                .chunks = chunks,
                                .shards = shards,
                                .codec = "none",
                                .no_checksum = 1,
                                .dimension_names = names};
}

static void test_copy_problem__sides_are_in_the_order_of_the_target(void **state)
{
    const parapet_copy_changes changes = {
        .order = "lon,-time,lat", .region = "time=15:95", .chunks = "20,10,10", .shards = "none", .codec = "zstd:1"};
    const int64_t target_shape[3] = {20, 80, 50}, source_chunk[3] = {5, 10, 20}, source_shard[3] = {20, 40, 20},
                  target_chunk[3] = {20, 10, 10}, origin[3] = {0, 25, 0};
    parapet_array_spec spec = spec_of();
    problem_case of;
    (void)state;
    case_init(&of, &spec, &changes);
    assert_int_equal(of.problem.ndim, 3);
    assert_memory_equal(of.problem.shape, target_shape, sizeof target_shape);
    assert_memory_equal(of.problem.source.chunk, source_chunk, sizeof source_chunk);
    assert_memory_equal(of.problem.source.shard, source_shard, sizeof source_shard);
    assert_memory_equal(of.problem.source.origin, origin, sizeof origin);
    assert_memory_equal(of.problem.target.chunk, target_chunk, sizeof target_chunk);
    assert_memory_equal(of.problem.target.shard, target_chunk, sizeof target_chunk);
    assert_int_equal(of.problem.target.origin[1], 0);
    assert_int_equal(of.problem.source.stored_order[0], 1);
    assert_int_equal(of.problem.target.stored_order[0], 0);
    assert_true(of.problem.source.is_sharded);
    assert_false(of.problem.target.is_sharded);
    case_clear(&of);
}

static void test_copy_problem__only_plain_chunks_can_be_read_in_runs(void **state)
{
    const parapet_copy_changes changes = {.codec = "gzip:1"};
    parapet_array_spec spec = spec_of();
    problem_case of;
    (void)state;
    case_init(&of, &spec, &changes);
    assert_true(of.problem.source.allows_runs);
    assert_int_equal(of.problem.source.encoded_bytes, 10 * 20 * 5 * 4);
    assert_int_equal(of.problem.source.scratch_bytes, 0);
    assert_int_equal(of.problem.source.element_bytes, 4);
    assert_int_equal(of.problem.between.element_bytes, 4);
    assert_false(of.problem.target.allows_runs);
    assert_true(of.problem.target.scratch_bytes > of.problem.target.encoded_bytes);
    assert_true(of.problem.target.chunk_buffer_bytes >= 10 * 20 * 5 * 4);
    case_clear(&of);
    spec.no_checksum = 0;
    case_init(&of, &spec, &changes);
    assert_false(of.problem.source.allows_runs);
    case_clear(&of);
}

static void test_copy_problem__what_ranks_may_use_is_handed_on(void **state)
{
    const parapet_copy_changes changes = {0};
    parapet_array_spec spec = spec_of();
    problem_case of;
    (void)state;
    case_init(&of, &spec, &changes);
    assert_int_equal(of.problem.memory_bytes, 64 << 20);
    assert_int_equal(of.problem.threads, 3);
    assert_int_equal(of.problem.ranks, 5);
    assert_int_equal(of.problem.force_passes, 2);
    case_clear(&of);
}

static void test_copy_problem__reading_together_takes_more_than_a_chunk_of_several_ranks(void **state)
{
    const parapet_copy_changes changes = {0};
    parapet_array_spec spec = spec_of();
    problem_case of;
    (void)state;
    case_init(&of, &spec, &changes);
    assert_int_equal(pp_copy_cooperation_bytes(&of.source_layout, 1), 0);
    assert_true(pp_copy_cooperation_bytes(&of.source_layout, 2) > 2 * of.problem.source.encoded_bytes);
    assert_true(pp_copy_cooperation_bytes(&of.source_layout, 2) < 64 << 20);
    case_clear(&of);
}

static void test_copy_plan_print__tells_of_both_arrays(void **state)
{
    parapet_copy_plan_request request = {
        .source = spec_of(),
        .changes = {.order = "lat,lon,-time", .chunks = "50,20,10", .codec = "zstd:1"},
        .memory_bytes = 8 << 20};
    char *text, *svg;
    (void)state;
    assert_ok(parapet_copy_plan_print(&request, &text, &svg));
    assert_non_null(strstr(text, "time,lat,lon to lat,lon,-time"));
    assert_non_null(strstr(text, "zstd:1 crc32c"));
    assert_non_null(strstr(svg, "<svg"));
    parapet_free(text);
    parapet_free(svg);
    request.as_json = 1;
    assert_ok(parapet_copy_plan_print(&request, &text, NULL));
    assert_int_equal(text[0], '{');
    parapet_free(text);
}

typedef struct refused_request {
    parapet_copy_plan_request request;
    parapet_status status;
    const char *word;
} refused_request;

static void test_copy_plan_print__refuses_what_cannot_be(void **state)
{
    static const refused_request cases[] = {
        {{.ranks = -1}, PARAPET_ERR_ARGUMENT, "ranks is -1"},
        {{.ranks = (int64_t)INT_MAX + 1}, PARAPET_ERR_ARGUMENT, "ranks is"},
        {{.write_rate = -1}, PARAPET_ERR_ARGUMENT, "write_rate"},
        {{.unit_bytes = -1}, PARAPET_ERR_ARGUMENT, "unit_bytes is -1"},
        {{.passes = 9}, PARAPET_ERR_ARGUMENT, "passes is 9, but must be between 0 and 8"},
        {{.reading = 3}, PARAPET_ERR_ARGUMENT, "reading is 3"},
        {{.cooperation = (parapet_cooperation)-1}, PARAPET_ERR_ARGUMENT, "cooperation is -1"},
        {{.read_rate = -1}, PARAPET_ERR_ARGUMENT, "read_rate"},
        {{.reserved = {1}}, PARAPET_ERR_ARGUMENT, "reserved words of parapet_copy_plan_request"},
        {{.as_json = 7}, PARAPET_ERR_ARGUMENT, "as_json"},
        {{.threads = -1}, PARAPET_ERR_ARGUMENT, "threads"},
        {{.changes = {.chunks = "depth/4"}}, PARAPET_ERR_ARGUMENT, "there is no dimension \"depth\""},
        {{.changes = {.chunks = "1000,500,10"}, .memory_bytes = 4 << 20}, PARAPET_ERR_MEMORY, "at least"},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        parapet_copy_plan_request request = cases[i].request;
        char *text, *svg;
        request.source = spec_of();
        assert_fails(parapet_copy_plan_print(&request, &text, &svg), cases[i].status, cases[i].word);
        assert_null(text);
        assert_null(svg);
    }
    assert_fails(parapet_copy_plan_print(NULL, NULL, NULL), PARAPET_ERR_ARGUMENT, "needs a request");
    assert_fails(parapet_copy_plan_print(&cases[0].request, NULL, NULL), PARAPET_ERR_ARGUMENT, "for the text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy_problem__sides_are_in_the_order_of_the_target),
        cmocka_unit_test(test_copy_problem__only_plain_chunks_can_be_read_in_runs),
        cmocka_unit_test(test_copy_problem__what_ranks_may_use_is_handed_on),
        cmocka_unit_test(test_copy_problem__reading_together_takes_more_than_a_chunk_of_several_ranks),
        cmocka_unit_test(test_copy_plan_print__tells_of_both_arrays),
        cmocka_unit_test(test_copy_plan_print__refuses_what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
