/* The drawing of a copy: well formed, bounded, and true to what is counted. */
#include "copied.h"

#include <ctype.h>

#include "base/checked.h"
#include "rechunk/count.h"
#include "rechunk/plan_drawing.h"

static char *drawn(const pp_rechunk_plan *plan, const pp_rechunk_labels *labels)
{
    pp_text text = {0};
    char *result = NULL;
    assert_ok(pp_rechunk_draw(plan, labels, &text));
    assert_ok(pp_text_finish(&text, &result));
    return result;
}

/* Every tag that is opened is closed in turn, and there is no loose < or &. */
static void assert_is_svg(const char *text)
{
    const char *open[16], *end;
    size_t length[16];
    int depth = 0;
    assert_true(strncmp(text, "<svg ", 5) == 0);
    for (; *text != '\0'; text++) {
        if (*text == '&')
            assert_true(strncmp(text, "&lt;", 4) == 0 || strncmp(text, "&gt;", 4) == 0 ||
                        strncmp(text, "&amp;", 5) == 0);
        if (*text != '<')
            continue;
        end = strchr(text, '>');
        assert_non_null(end);
        assert_null(memchr(text + 1, '<', (size_t)(end - text - 1)));
        if (text[1] == '/') {
            assert_true(depth > 0);
            depth--;
            assert_int_equal((size_t)(end - text - 2), length[depth]);
            assert_memory_equal(text + 2, open[depth], length[depth]);
        } else if (end[-1] != '/') {
            assert_true(depth < 16);
            open[depth] = text + 1;
            length[depth] = 0;
            while (isalpha((unsigned char)text[1 + length[depth]]))
                length[depth]++;
            depth++;
        }
        text = end;
    }
    assert_int_equal(depth, 0);
}

static void test_drawing__has_a_panel_for_each_pass(void **state)
{
    pp_rechunk_plan plan = copied_plan();
    char *svg = drawn(&plan, &copied_labels);
    (void)state;
    assert_is_svg(svg);
    assert_says(svg, "Copy of 1000 x 512 x 512 float32, 1000 MiB<");
    assert_says(svg, "Pass 1 of 2: chunks 1 x 512 x 512 to 32 x 64 x 64, template 32 x 512 x 512<");
    assert_says(svg, "Pass 2 of 2: chunks 32 x 64 x 64 to 1000 x 16 x 16, template 1000 x 64 x 64<");
    assert_says(svg, "The slice [:, 0, :]. Only a corner is drawn.");
    assert_says(svg, "time: 0 to 40 of 1000");
    assert_says(svg, "dimension 2: 0 to 512 ");
    assert_int_equal(count_of(svg, "class=\"border\""), 2);
    assert_true(count_of(svg, "class=\"open\"") > 2);
    parapet_free(svg);
}

static pp_rechunk_plan plan_of_two(const int64_t *shape, const int64_t *source, const int64_t *target)
{
    pp_rechunk_plan plan = {.ndim = 2, .ranks = 1, .threads = 1, .pass_count = 1};
    pp_rechunk_pass *pass = &plan.passes[0];
    int d;
    for (d = 0; d < 2; d++) {
        plan.shape[d] = shape[d];
        pass->source.chunk[d] = pass->source.shard[d] = source[d];
        pass->target.chunk[d] = pass->target.shard[d] = target[d];
        pass->template_shape[d] = pp_divide_up(shape[d], target[d]) * target[d];
        pass->order[d] = d;
    }
    pass->source.element_bytes = pass->target.element_bytes = 8;
    pp_rechunk_set_work_unit(2, plan.shape, pass);
    return plan;
}

/* Where all of a template is drawn, the open chunks that are shaded are those that memory is planned for. */
static void test_drawing__shades_as_many_chunks_as_are_counted(void **state)
{
    test_random random = test_random_start();
    int round, d;
    (void)state;
    for (round = 0; round < 300; round++) {
        int64_t shape[2], source[2], target[2];
        pp_rechunk_plan plan;
        pp_rechunk_pass *pass = &plan.passes[0];
        char words[128], *svg;
        for (d = 0; d < 2; d++) {
            shape[d] = test_random_between(&random, 1, 30);
            source[d] = test_random_between(&random, 1, 12);
            target[d] = test_random_between(&random, 1, 12);
        }
        plan = plan_of_two(shape, source, target);
        for (d = 0; d < 2; d++) {
            pass->source.origin[d] = test_random_between(&random, 0, source[d] - 1);
            pass->order[d] = round % 2 ? d : 1 - d;
        }
        pass->memory.open_chunks = pp_rechunk_open_chunks(2, plan.shape, pass);
        svg = drawn(&plan, NULL);
        assert_is_svg(svg);
        (void)snprintf(words, sizeof words, "At most %d target chunks are open at once, up to %d in what is drawn",
                       (int)pass->memory.open_chunks, (int)pass->memory.open_chunks);
        assert_says(svg, words);
        parapet_free(svg);
    }
}

static void test_drawing__strokes_go_along_the_dimension_that_is_visited_first(void **state)
{
    int64_t shape[2] = {60, 60}, source[2] = {20, 30}, target[2] = {60, 10};
    pp_rechunk_plan plan = plan_of_two(shape, source, target);
    char *svg = drawn(&plan, NULL);
    (void)state;
    assert_int_equal(count_of(svg, "class=\"back\""), 2);
    parapet_free(svg);
    plan.passes[0].order[0] = 1;
    plan.passes[0].order[1] = 0;
    svg = drawn(&plan, NULL);
    assert_int_equal(count_of(svg, "class=\"back\""), 1);
    parapet_free(svg);
}

static void test_drawing__stays_small_for_huge_arrays_and_many_passes(void **state)
{
    static const int64_t chunks[4][2] = {{1, 100}, {100, 1}, {97, 103}, {INT64_MAX / 4, 1}};
    int64_t shape[2] = {INT64_MAX / 2, INT64_MAX / 2};
    int i, j;
    (void)state;
    for (i = 0; i < 4; i++)
        for (j = 0; j < 4; j++) {
            pp_rechunk_plan plan = plan_of_two(shape, chunks[i], chunks[j]);
            char *svg;
            plan.passes[0].template_shape[0] = chunks[j][0] * 3;
            plan.passes[0].template_shape[1] = chunks[j][1] * 1000;
            for (plan.pass_count = 1; plan.pass_count < PP_RECHUNK_PASSES_MOST; plan.pass_count++)
                plan.passes[plan.pass_count] = plan.passes[0];
            svg = drawn(&plan, NULL);
            assert_is_svg(svg);
            assert_says(svg, "Only a corner is drawn");
            assert_null(strstr(svg, "nan"));
            assert_true(strlen(svg) <= 200000);
            parapet_free(svg);
        }
}

static void test_drawing__of_one_dimension_of_none_and_of_nothing(void **state)
{
    pp_rechunk_plan plan = copied_plan();
    char *svg;
    (void)state;
    for (plan.ndim = 0; plan.ndim < 2; plan.ndim++) {
        svg = drawn(&plan, &copied_labels);
        assert_is_svg(svg);
        parapet_free(svg);
    }
    plan = copied_plan();
    plan.shape[0] = 0;
    svg = drawn(&plan, NULL);
    assert_is_svg(svg);
    assert_null(strstr(svg, "nan"));
    parapet_free(svg);
    plan.pass_count = 0;
    svg = drawn(&plan, NULL);
    assert_is_svg(svg);
    parapet_free(svg);
}

static void test_drawing__of_cooperation_shades_the_whole_template(void **state)
{
    int64_t shape[2] = {40, 40}, source[2] = {10, 10}, target[2] = {20, 20};
    pp_rechunk_plan plan = plan_of_two(shape, source, target);
    char *svg;
    (void)state;
    plan.passes[0].cooperates = true;
    svg = drawn(&plan, NULL);
    assert_says(svg, "all ranks read a template together");
    assert_int_equal(count_of(svg, "class=\"open\""), 3);
    assert_int_equal(count_of(svg, "class=\"current\""), 1);
    parapet_free(svg);
}

static void test_drawing__names_cannot_break_it(void **state)
{
    const char *names[3] = {"<a>", "b&c", "d\x01"};
    pp_rechunk_labels labels = {.dimension_names = names, .permutation = "</text>"};
    pp_rechunk_plan plan = copied_plan();
    char *svg = drawn(&plan, &labels);
    (void)state;
    assert_is_svg(svg);
    assert_says(svg, "&lt;a&gt;: 0 to 40");
    assert_says(svg, "d?: 0 to 512");
    parapet_free(svg);
}

static void test_drawing__failed_allocations_are_reported(void **state)
{
    (void)state;
    assert_reports_failed_allocations(pp_rechunk_draw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drawing__has_a_panel_for_each_pass),
        cmocka_unit_test(test_drawing__shades_as_many_chunks_as_are_counted),
        cmocka_unit_test(test_drawing__strokes_go_along_the_dimension_that_is_visited_first),
        cmocka_unit_test(test_drawing__stays_small_for_huge_arrays_and_many_passes),
        cmocka_unit_test(test_drawing__of_one_dimension_of_none_and_of_nothing),
        cmocka_unit_test(test_drawing__of_cooperation_shades_the_whole_template),
        cmocka_unit_test(test_drawing__names_cannot_break_it),
        cmocka_unit_test(test_drawing__failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
