/* A plan of a copy in words and as JSON. */
#include "copied.h"

static char *printed(copied_printer print, const pp_rechunk_plan *plan, const pp_rechunk_labels *labels)
{
    pp_text text = {0};
    char *result = NULL;
    assert_ok(print(plan, labels, &text));
    assert_ok(pp_text_finish(&text, &result));
    return result;
}

static void test_print__says_what_each_pass_does(void **state)
{
    pp_rechunk_plan plan = copied_plan();
    char *text = printed(pp_rechunk_print, &plan, &copied_labels);
    (void)state;
    assert_says(text, "copy of float32, 1000 x 512 x 512, 1000 MiB, lat,lon,time to time,lat,lon\n");
    assert_says(text, "from      chunks 1 x 512 x 512; a chunk has 1 MiB; codecs zstd:3\n");
    assert_says(text,
                "to        chunks 1000 x 16 x 16 in shards 1000 x 128 x 128; a chunk has 1000 KiB; codecs none");
    assert_says(text, "by        4 ranks of 2 threads\n");
    assert_says(text,
                "pass 1 of 2: 1 x 512 x 512 -> 32 x 64 x 64 in shards 320 x 512 x 512\n"
                "  template  32 x 512 x 512, 32 MiB; 32 in 4 work units, each done by one rank alone\n"
                "  visit     along dimension 2, then lat, then time; whole chunks\n"
                "  reads     1000 MiB, 1 x the array, stored in about 500 MiB; 1000 requests\n"
                "  writes    1 GiB in 2048 chunks, 4 files\n"
                "  memory    38.15 MiB a rank: 64 open chunks in 66 buffers 33 MiB, 4 items and coding 4.885 MiB, "
                "indexes 12 KiB, 1 writer 256 KiB\n"
                "  time      2 s: reads 500 MiB/s, writes 512 MiB/s\n");
    assert_says(text, "  visit     along time, then dimension 2, then lat; runs of chunks");
    assert_says(text, "  reads     1.465 GiB, 1.5 x the array; 4096 requests and 128 for indexes\n");
    assert_says(text, "4 items of up to 16 chunks and coding");
    parapet_free(text);
}

static void test_print__says_what_all_passes_take_and_what_was_weighed(void **state)
{
    pp_rechunk_plan plan = copied_plan();
    char *text = printed(pp_rechunk_print, &plan, &copied_labels);
    (void)state;
    assert_says(text, "  temporary 1 GiB in 4 files\n");
    assert_says(text, "38.15 MiB of 64 MiB a rank; the smallest limit that would do is 5 MiB\n");
    assert_says(text, "at most 32 MiB a rank is done again");
    assert_says(text, "  time      5 s predicted, 200 MiB/s\n");
    assert_says(text, "12.5 s  slower, 2.5 x the time\n");
    assert_says(text, "needs 96 MiB\n");
    assert_says(text, "5 s  chosen\n");
    assert_true(count_of(text, "\n") <= 30);
    parapet_free(text);
}

static void test_print__of_cooperation_without_limit_labels_or_temporaries(void **state)
{
    pp_rechunk_plan plan = copied_plan();
    char *text;
    (void)state;
    plan.pass_count = 1;
    plan.limit_bytes = INT64_MAX;
    plan.temporary_files = 0;
    plan.candidate_count = 0;
    plan.seconds = 3725;
    plan.passes[0].cooperates = true;
    memcpy(plan.passes[0].group, (int64_t[]){4, 1, 1}, 3 * sizeof(int64_t));
    text = printed(pp_rechunk_print, &plan, NULL);
    assert_says(text, "copy of 1000 x 512 x 512, 1000 MiB\n");
    assert_says(text, "all ranks read together for 4 x 1 x 1 work units at a time");
    assert_says(text, "66 chunks of a template and the common read 37.89 MiB, indexes 12 KiB");
    assert_says(text, "along dimension 2, then dimension 1, then dimension 0");
    assert_says(text, "a rank, without a limit; ");
    assert_says(text, "temporary nothing");
    assert_says(text, "62 min 5 s predicted");
    assert_null(strstr(text, "weighed"));
    assert_null(strstr(text, "codecs"));
    parapet_free(text);
}

static void test_print__parts_of_memory_add_up(void **state)
{
    pp_rechunk_plan plan = copied_plan();
    int i;
    (void)state;
    for (i = 0; i < 3; i++) {
        pp_rechunk_pass *pass = &plan.passes[i % 2];
        pp_rechunk_parts parts;
        pass->cooperates = i == 2;
        parts = pp_rechunk_memory_parts(pass);
        assert_int_equal(parts.chunk_buffers + parts.indexes + parts.writers + parts.rest, pass->memory.memory_bytes);
        assert_int_equal(parts.chunk_buffers, i == 2 ? 0 : i == 1 ? 18 * 1024000 : 66 * 524288);
    }
}

static void test_print__of_nothing_has_no_rates(void **state)
{
    pp_rechunk_plan plan = copied_plan();
    char *text;
    (void)state;
    plan.ndim = 1;
    plan.shape[0] = 0;
    plan.seconds = plan.passes[0].seconds = 0;
    text = printed(pp_rechunk_print, &plan, &copied_labels);
    assert_says(text, "copy of float32, 0, 0 bytes");
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    parapet_free(text);
}

/* Brackets match, strings end, and no comma is followed by a closing bracket. */
static void assert_is_json(const char *text)
{
    char open[16], last = 0;
    int depth = 0;
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            for (text++; *text != '"'; text++) {
                assert_true((unsigned char)*text >= 0x20);
                text += *text == '\\';
            }
        } else if (*text == '{' || *text == '[') {
            assert_true(depth < 16);
            open[depth++] = *text;
        } else if (*text == '}' || *text == ']') {
            assert_true(depth > 0 && open[--depth] == (*text == '}' ? '{' : '['));
            assert_int_not_equal(last, ',');
        }
        if (*text != ' ' && *text != '\n')
            last = *text;
    }
    assert_int_equal(depth, 0);
    assert_int_equal(last, '}');
}

static void test_print__json_has_every_number_exactly(void **state)
{
    pp_rechunk_plan plan = copied_plan();
    char *text;
    (void)state;
    plan.passes[1].seconds = 0.1;
    plan.passes[1].counts.decoded_bytes = INT64_C(9007199254740993);
    text = printed(pp_rechunk_print_json, &plan, &copied_labels);
    assert_is_json(text);
    assert_says(text, "\"shape\": [1000, 512, 512],\n");
    assert_says(text, "\"memory_limit_bytes\": 67108864,\n");
    assert_says(text, "\"decoded_bytes\": 9007199254740993,\n");
    assert_says(text, "\"seconds\": 0.10000000000000001\n");
    assert_says(text, "\"template\": [1000, 64, 64],\n");
    assert_says(text, "\"order_slowest_first\": [1, 2, 0],\n");
    assert_says(text, "\"redone_bytes\": 33554432,\n");
    assert_says(text, "\"items_and_coding_bytes\": 5122560\n");
    assert_says(text, "\"codecs\": \"zstd:3\"\n");
    assert_int_equal(count_of(text, "\"chosen\": true"), 1);
    assert_int_equal(count_of(text, "\"feasible\": true"), 2);
    assert_int_equal(count_of(text, "\"template\": "), 2);
    parapet_free(text);
}

static void test_print__names_cannot_break_json_or_lines(void **state)
{
    const char *names[3] = {"a\"b\\", "new\nline", NULL};
    pp_rechunk_labels labels = {.dimension_names = names, .permutation = "\t\"0\""};
    pp_rechunk_plan plan = copied_plan();
    char *text = printed(pp_rechunk_print_json, &plan, &labels);
    (void)state;
    assert_is_json(text);
    assert_says(text, "\"a\\\"b\\\\\",\n");
    assert_says(text, "\"new\\u000aline\",\n    null\n");
    assert_says(text, "\"\\u0009\\\"0\\\"\"");
    parapet_free(text);
    text = printed(pp_rechunk_print, &plan, &labels);
    assert_says(text, "then new?line, then a\"b\\;");
    parapet_free(text);
}

static void test_print__json_of_an_empty_plan(void **state)
{
    pp_rechunk_plan plan = {.limit_bytes = INT64_MAX};
    char *text = printed(pp_rechunk_print_json, &plan, NULL);
    (void)state;
    assert_is_json(text);
    assert_null(strstr(text, "memory_limit_bytes"));
    parapet_free(text);
}

static void test_print__failed_allocations_are_reported(void **state)
{
    (void)state;
    assert_reports_failed_allocations(pp_rechunk_print);
    assert_reports_failed_allocations(pp_rechunk_print_json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print__says_what_each_pass_does),
        cmocka_unit_test(test_print__says_what_all_passes_take_and_what_was_weighed),
        cmocka_unit_test(test_print__of_cooperation_without_limit_labels_or_temporaries),
        cmocka_unit_test(test_print__parts_of_memory_add_up),
        cmocka_unit_test(test_print__of_nothing_has_no_rates),
        cmocka_unit_test(test_print__json_has_every_number_exactly),
        cmocka_unit_test(test_print__names_cannot_break_json_or_lines),
        cmocka_unit_test(test_print__json_of_an_empty_plan),
        cmocka_unit_test(test_print__failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
