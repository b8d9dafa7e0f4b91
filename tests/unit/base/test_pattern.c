/* Patterns of bytes, against every byte on its own. */
#include "support.h"

#include "base/pattern.h"
#include "base/status.h"

#define BYTES_MOST 100000

/* Bytes in the order in which they are packed. */
typedef struct bytes {
    int64_t count, at[BYTES_MOST];
} bytes;

typedef struct bed {
    pp_budget budget;
    pp_patterns set;
} bed;

static void open_bed(bed *self, size_t budget_bytes)
{
    pp_budget_init(&self->budget, budget_bytes);
    pp_patterns_init(&self->set, &self->budget);
}

static void close_bed(bed *self)
{
    pp_patterns_clear(&self->set);
    assert_int_equal(pp_budget_used(&self->budget), 0);
    pp_budget_clear(&self->budget);
}

static parapet_status note_loops(void *context, const pp_loops *loops)
{
    bytes *found = context;
    int64_t position[PARAPET_MAX_NDIM] = {0}, i;
    pp_place at = loops->origin;
    do
        for (i = 0; i < (int64_t)loops->run_bytes; i++) {
            assert_in_range((int64_t)at.from + i, 0, BYTES_MOST - 1);
            found->at[(int64_t)at.from + i] = (int64_t)at.to + i;
            found->count++;
        }
    while (pp_loops_next(loops, loops->ndim, position, &at));
    return PARAPET_OK;
}

static void add_bytes(bytes *all, const bytes *inner, const pp_pattern_block *block)
{
    int64_t repeat, i, j;
    for (repeat = 0; repeat < block->repeats; repeat++)
        for (i = 0; i < block->count; i++)
            for (j = 0; j < inner->count && all->count < BYTES_MOST; j++)
                all->at[all->count++] =
                    block->displacement + repeat * block->stride + i * block->pattern->extent + inner->at[j];
}

static bool is_ascending(const bytes *all)
{
    int64_t i;
    for (i = 1; i < all->count; i++)
        if (all->at[i] <= all->at[i - 1])
            return false;
    return true;
}

static void compare(const pp_pattern *pattern, const bytes *expected)
{
    static bytes found;
    int64_t i;
    found.count = 0;
    assert_ok(pp_pattern_walk(pattern, (pp_place){0, 0}, note_loops, &found));
    assert_int_equal(found.count, expected->count);
    assert_int_equal(pattern->bytes, expected->count);
    for (i = 0; i < found.count; i++)
        assert_int_equal(found.at[i], expected->at[i]);
    if (found.count > 0) {
        assert_int_equal(pattern->first, expected->at[0]);
        assert_int_equal(pattern->end, expected->at[expected->count - 1] + 1);
    }
}

static pp_pattern_block draw_block(test_random *random, const pp_pattern *inner, int64_t from)
{
    pp_pattern_block block = {.pattern = inner};
    block.displacement = from + test_random_between(random, 0, 5) - (test_random_between(random, 0, 20) == 0);
    block.count = test_random_between(random, 0, 3);
    block.repeats = test_random_between(random, 1, 3);
    block.stride = block.count * inner->extent + test_random_between(random, 0, 3);
    return block;
}

/* Patterns of the one before, as long as they ascend; the bytes are those of each in turn. */
static void check_nest(test_random *random)
{
    static bytes inner, outer;
    const pp_pattern *last;
    pp_pattern *made;
    int depth, i;
    bed self;
    open_bed(&self, 1 << 20);
    inner = (bytes){.count = 2, .at = {0, 1}};
    assert_ok(pp_pattern_run(&self.set, 2, &last));
    for (depth = 0; depth < 3; depth++) {
        outer.count = 0;
        assert_ok(pp_pattern_build(&self.set, &made));
        for (i = 0; i < 4; i++) {
            pp_pattern_block block = draw_block(random, last, made->end);
            int64_t before = outer.count;
            add_bytes(&outer, &inner, &block);
            if (is_ascending(&outer))
                assert_ok(pp_pattern_add(&self.set, made, &block));
            else
                assert_fails(pp_pattern_add(&self.set, made, &block), PARAPET_ERR_ARGUMENT, "ascending");
            if (!is_ascending(&outer))
                outer.count = before;
        }
        pp_pattern_finish(made, made->end + test_random_between(random, -1, 4));
        compare(made, &outer);
        inner = outer;
        last = made;
    }
    close_bed(&self);
}

static void test_pattern__nests_select_what_each_byte_tells(void **state)
{
    test_random random = test_random_start();
    int i;
    (void)state;
    for (i = 0; i < 500; i++)
        check_nest(&random);
}

static void test_pattern__neighbours_and_equal_distances_are_joined(void **state)
{
    const pp_pattern *four, *eight;
    pp_pattern *made;
    bed self;
    int64_t i;
    (void)state;
    open_bed(&self, 1 << 20);
    assert_ok(pp_pattern_run(&self.set, 4, &four));
    assert_ok(pp_pattern_run(&self.set, 8, &eight));
    assert_ok(pp_pattern_build(&self.set, &made));
    assert_ok(pp_pattern_add(&self.set, made, &(pp_pattern_block){0, 1, 1, 0, four}));
    assert_ok(pp_pattern_add(&self.set, made, &(pp_pattern_block){4, 2, 1, 0, eight}));
    assert_int_equal(made->blocks.count, 1);
    for (i = 1; i < 1000; i++)
        assert_ok(pp_pattern_add(&self.set, made, &(pp_pattern_block){100 * i, 5, 1, 0, four}));
    assert_int_equal(made->blocks.count, 1);
    assert_int_equal(made->bytes, 20000);
    close_bed(&self);
}

static void test_pattern__a_whole_run_is_one(void **state)
{
    const pp_pattern *four;
    pp_pattern *made;
    bed self;
    (void)state;
    open_bed(&self, 1 << 20);
    assert_ok(pp_pattern_run(&self.set, 4, &four));
    assert_ok(pp_pattern_build(&self.set, &made));
    assert_ok(pp_pattern_add(&self.set, made, &(pp_pattern_block){0, 2, 3, 8, four}));
    pp_pattern_finish(made, 24);
    assert_true(made->is_run);
    assert_int_equal(made->bytes, 24);
    close_bed(&self);
}

static void test_pattern__sizes_that_do_not_fit_are_refused(void **state)
{
    const int64_t far = INT64_MAX / 2 + 1;
    const pp_pattern *run;
    pp_pattern *made;
    bed self;
    (void)state;
    open_bed(&self, 1 << 20);
    assert_ok(pp_pattern_run(&self.set, 8, &run));
    assert_ok(pp_pattern_build(&self.set, &made));
    assert_fails(pp_pattern_add(&self.set, made, &(pp_pattern_block){0, far, 1, 0, run}), PARAPET_ERR_ARGUMENT,
                 "64 bits");
    assert_fails(pp_pattern_add(&self.set, made, &(pp_pattern_block){0, 1, far, far, run}), PARAPET_ERR_ARGUMENT,
                 "64");
    assert_fails(pp_pattern_add(&self.set, made, &(pp_pattern_block){0, 1, 3, far, run}), PARAPET_ERR_ARGUMENT, "64");
    assert_fails(pp_pattern_add(&self.set, made, &(pp_pattern_block){INT64_MAX, 1, 1, 0, run}), PARAPET_ERR_ARGUMENT,
                 "64");
    assert_ok(pp_pattern_add(&self.set, made, &(pp_pattern_block){-far, 1, 1, 0, run}));
    assert_fails(pp_pattern_add(&self.set, made, &(pp_pattern_block){far, 1, 1, 0, run}), PARAPET_ERR_ARGUMENT,
                 "64 bits");
    close_bed(&self);
}

static void test_pattern__memory_comes_from_the_budget(void **state)
{
    parapet_status status = PARAPET_OK;
    const pp_pattern *run;
    pp_pattern *made;
    bed self;
    int64_t i;
    (void)state;
    open_bed(&self, 16384);
    assert_ok(pp_pattern_run(&self.set, 8, &run));
    assert_ok(pp_pattern_build(&self.set, &made));
    for (i = 0; i < 1000 && status == PARAPET_OK; i++)
        status = pp_pattern_add(&self.set, made, &(pp_pattern_block){i * i * 100, 1 + i % 3, 1, 0, run});
    assert_int_equal(status, PARAPET_ERR_MEMORY);
    assert_non_null(strstr(pp_failure_message(), "the blocks of a datatype"));
    close_bed(&self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pattern__nests_select_what_each_byte_tells),
        cmocka_unit_test(test_pattern__neighbours_and_equal_distances_are_joined),
        cmocka_unit_test(test_pattern__a_whole_run_is_one),
        cmocka_unit_test(test_pattern__sizes_that_do_not_fit_are_refused),
        cmocka_unit_test(test_pattern__memory_comes_from_the_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
