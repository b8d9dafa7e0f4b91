/* copied.h - the plan of a copy, filled by hand: two passes over an array of three dimensions. */
#ifndef PARAPET_TESTS_COPIED_H
#define PARAPET_TESTS_COPIED_H

#include "support.h"

#include "base/memory.h"
#include "rechunk/plan_print.h"

static const char *const copied_names[3] = {"time", "lat", NULL};

static const pp_rechunk_labels copied_labels = {
    .type_name = "float32",
    .dimension_names = copied_names,
    .source_codecs = "zstd:3",
    .target_codecs = "",
    .permutation = "lat,lon,time to time,lat,lon",
};

static inline pp_rechunk_side copied_side(const int64_t *chunk, const int64_t *shard)
{
    pp_rechunk_side side = {.stored_order = {0, 1, 2}, .element_bytes = 4, .is_sharded = shard != NULL};
    memcpy(side.chunk, chunk, 3 * sizeof *chunk);
    memcpy(side.shard, shard != NULL ? shard : chunk, 3 * sizeof *chunk);
    side.chunk_buffer_bytes = side.encoded_bytes = 4 * chunk[0] * chunk[1] * chunk[2];
    return side;
}

/* 1000 x 512 x 512 elements of 4 bytes: 1000 MiB. */
static inline pp_rechunk_plan copied_plan(void)
{
    pp_rechunk_side source = copied_side((int64_t[]){1, 512, 512}, NULL);
    pp_rechunk_side between = copied_side((int64_t[]){32, 64, 64}, (int64_t[]){320, 512, 512});
    pp_rechunk_side target = copied_side((int64_t[]){1000, 16, 16}, (int64_t[]){1000, 128, 128});
    pp_rechunk_plan plan = {.ndim = 3, .shape = {1000, 512, 512}, .ranks = 4, .threads = 2, .pass_count = 2};
    source.stored_ratio = 0.5;
    plan.passes[0] = (pp_rechunk_pass){
        .source = source,
        .target = between,
        .template_shape = {32, 512, 512},
        .work_unit_shape = {320, 512, 512},
        .order = {0, 1, 2},
        .counts = {4, 32, 1000, 1000, 0, 1048576000, 2048, 4, 1073741824},
        .memory = {64, 66, 4, 1, 4096, 8192, 1, 262144, 40000000},
        .seconds = 2,
    };
    plan.passes[1] = (pp_rechunk_pass){
        .source = between,
        .target = target,
        .template_shape = {1000, 64, 64},
        .work_unit_shape = {1000, 128, 128},
        .order = {1, 2, 0},
        .reads_runs = true,
        .counts = {16, 64, 2048, 4096, 128, 1572864000, 1024, 16, 1048576000},
        .memory = {16, 18, 4, 16, 4096, 8192, 1, 262144, 30000000},
        .seconds = 3,
    };
    plan.limit_bytes = 64 << 20;
    plan.unit_bytes = 1 << 30;
    plan.memory_bytes = 40000000;
    plan.memory_least_bytes = 5 << 20;
    plan.temporary_bytes = 1073741824;
    plan.temporary_files = 4;
    plan.seconds = 5;
    plan.candidate_count = 3;
    plan.candidates[0] = (pp_rechunk_candidate){
        "one pass by whole chunks", 1, INT64_C(17179869184), 1048576000, 50 << 20, 12.5, true, false};
    plan.candidates[1] = (pp_rechunk_candidate){"one pass by runs", 1, 0, 0, 96 << 20, 0, false, false};
    plan.candidates[2] = (pp_rechunk_candidate){
        "two passes by the geometric mean", 2, INT64_C(2621440000), INT64_C(2122317824), 40000000, 5, true, true};
    return plan;
}

static inline int count_of(const char *text, const char *word)
{
    int count = 0;
    for (text = strstr(text, word); text != NULL; text = strstr(text + 1, word))
        count++;
    return count;
}

#define assert_says(text, words)                                                                                     \
    do {                                                                                                             \
        if (strstr((text), (words)) == NULL)                                                                         \
            fail_msg("lacks \"%s\":\n%s", (words), (text));                                                          \
    } while (0)

typedef parapet_status (*copied_printer)(const pp_rechunk_plan *plan, const pp_rechunk_labels *labels, pp_text *text);

typedef struct copied_refusal {
    int at, seen;
} copied_refusal;

static inline int copied_refuse(void *context, size_t bytes)
{
    copied_refusal *by = context;
    (void)bytes;
    return by->seen++ == by->at;
}

/* Every allocation fails in turn: an error each time, and nothing is left behind. */
static inline void assert_reports_failed_allocations(copied_printer print)
{
    pp_rechunk_plan plan = copied_plan();
    copied_refusal by = {0};
    for (;; by.at++) {
        pp_text text = {0};
        parapet_status status;
        by.seen = 0;
        pp_memory_hook_set(copied_refuse, &by);
        status = print(&plan, &copied_labels, &text);
        pp_memory_hook_set(NULL, NULL);
        pp_text_free(&text);
        assert_int_equal(pp_memory_live_count(), 0);
        if (by.seen <= by.at) {
            assert_ok(status);
            break;
        }
        assert_int_equal(status, PARAPET_ERR_MEMORY);
    }
    assert_true(by.at > 3);
}

#endif
