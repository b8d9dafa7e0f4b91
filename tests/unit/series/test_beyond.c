/* Steps that another program has added to the arrays of a series: refused until somebody says what to do. */
#include "support.h"

#include "stored.h"

enum { STEPS = 2, WIDTH = 3 };

static void create_series(parapet_store *store)
{
    int64_t shape[2] = {0, WIDTH}, chunks[2] = {1, WIDTH}, shards[2] = {STEPS, WIDTH}, start = 0, width = WIDTH;
    const char *names[1] = {"u"};
    parapet_array_spec array = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards};
    parapet_series_spec spec = {.count = 1, .names = names, .specs = &array};
    parapet_series *series;
    int32_t data[WIDTH] = {7, 8, 9};
    parapet_part part = {.ndim = 1, .start = &start, .count = &width, .data = data};
    parapet_step step = {&part, 1, {0}};
    int i;
    assert_ok(parapet_series_create(&series, store, "s", &spec));
    for (i = 0; i < STEPS; i++)
        assert_ok(parapet_series_append(series, i, &step));
    assert_ok(parapet_series_close(&series));
}

/* As another program would: without the group knowing of it. */
static void resize(parapet_store *store, const char *path, int64_t steps)
{
    parapet_array_info info;
    parapet_array *array;
    int64_t shape[2];
    assert_ok(parapet_array_open(&array, store, path));
    assert_ok(parapet_array_get_info(array, &info));
    memcpy(shape, info.shape, (size_t)info.ndim * sizeof shape[0]);
    shape[0] = steps;
    assert_ok(parapet_array_resize(array, shape));
    assert_ok(parapet_array_close(&array));
}

static int64_t steps_of(parapet_store *store, const char *path)
{
    parapet_array_info info;
    parapet_array *array;
    int64_t steps;
    assert_ok(parapet_array_open(&array, store, path));
    assert_ok(parapet_array_get_info(array, &info));
    steps = info.shape[0];
    assert_ok(parapet_array_close(&array));
    return steps;
}

static void assert_goes_on_at(parapet_store *store, int64_t steps)
{
    parapet_series_info info;
    parapet_series *series;
    assert_ok(parapet_series_repair(store, "s", PARAPET_BEYOND_REFUSE));
    assert_ok(parapet_series_open(&series, store, "s"));
    assert_ok(parapet_series_get_info(series, &info));
    assert_int_equal(info.steps, steps);
    assert_ok(parapet_series_close(&series));
    assert_int_equal(steps_of(store, "s/u"), steps);
    assert_int_equal(steps_of(store, "s/time"), steps);
}

static void assert_refused(parapet_store *store, const char *word)
{
    parapet_series *series;
    assert_fails(parapet_series_open(&series, store, "s"), PARAPET_ERR_FORMAT, word);
    assert_null(series);
    assert_fails(parapet_series_repair(store, "s", PARAPET_BEYOND_REFUSE), PARAPET_ERR_FORMAT, word);
}

static void test_beyond__steps_of_another_program_are_adopted_or_cut_off_when_asked_for(void **state)
{
    parapet_store *store;
    int adopts;
    (void)state;
    for (adopts = 0; adopts < 2; adopts++) {
        stored_open(&store, NULL);
        create_series(store);
        assert_goes_on_at(store, STEPS);
        resize(store, "s/u", STEPS + 3);
        resize(store, "s/time", STEPS + 3);
        assert_refused(store, "has 5 steps, but the group says that 2 are committed");
        assert_int_equal(steps_of(store, "s/u"), STEPS + 3); /* nothing was changed */
        assert_ok(parapet_series_repair(store, "s", adopts ? PARAPET_BEYOND_ADOPT : PARAPET_BEYOND_CUT));
        assert_goes_on_at(store, adopts ? STEPS + 3 : STEPS);
        stored_close(&store);
    }
}

static void test_beyond__arrays_of_different_lengths_are_not_adopted(void **state)
{
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_series(store);
    resize(store, "s/u", STEPS + 3);
    assert_refused(store, "\"s/u\" has 5 steps");
    assert_int_equal(parapet_series_repair(store, "s", PARAPET_BEYOND_ADOPT), PARAPET_ERR_FORMAT);
    assert_int_equal(steps_of(store, "s/u"), STEPS + 3);
    assert_ok(parapet_series_repair(store, "s", PARAPET_BEYOND_CUT));
    assert_goes_on_at(store, STEPS);
    stored_close(&store);
}

/* A shard where the next row would be, of which the series has left no note. */
static void test_beyond__shards_that_nobody_has_noted_are_refused(void **state)
{
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_series(store);
    stored_put_text(store, "s/u/c/1/0", "somebody's");
    assert_refused(store, "shards beyond step 1");
    assert_true(stored_has(store, "s/u/c/1/0"));
    assert_ok(parapet_series_repair(store, "s", PARAPET_BEYOND_CUT));
    assert_false(stored_has(store, "s/u/c/1/0"));
    assert_goes_on_at(store, STEPS);
    stored_close(&store);
}

/* A list of intents that no series can have written is not believed. */
static void test_beyond__intents_without_end_are_damage(void **state)
{
    static char zeros[1 << 22];
    parapet_series *series;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_series(store);
    stored_put(store, "s/time/__parapet/intent", zeros, 1);
    assert_goes_on_at(store, STEPS);
    stored_put(store, "s/time/__parapet/intent", zeros, 1 << 10);
    assert_goes_on_at(store, STEPS);
    stored_put(store, "s/time/__parapet/intent", zeros, sizeof zeros);
    assert_fails(parapet_series_open(&series, store, "s"), PARAPET_ERR_CORRUPT, "more than a series writes");
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beyond__steps_of_another_program_are_adopted_or_cut_off_when_asked_for),
        cmocka_unit_test(test_beyond__arrays_of_different_lengths_are_not_adopted),
        cmocka_unit_test(test_beyond__shards_that_nobody_has_noted_are_refused),
        cmocka_unit_test(test_beyond__intents_without_end_are_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
