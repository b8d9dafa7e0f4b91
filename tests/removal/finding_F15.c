/* keep counts what verifies: where a generation is damaged, the good one before it stays, however the damage is found
 * out, and goes once there are enough good ones that are newer. */
#include "scratch.h"

#include <parapet.h>

enum { ELEMENTS = 1000, MOST = 16 };

typedef enum finding_out { BY_COMMIT, BY_RESTORE, BY_GET } finding_out;

static double values[ELEMENTS];

static parapet_store *open_store(const scratch *made, parapet_mode mode)
{
    parapet_store *store = NULL;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, made->root, mode, NULL));
    return store;
}

static void make_generation(parapet_store *store, int number)
{
    int64_t start[] = {0}, shape[] = {ELEMENTS};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 1, .shape = shape, .codec = "none"};
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = values};
    parapet_checkpoint_item item = {.name = "T", .spec = &spec, .parts = &part, .part_count = 1};
    parapet_checkpoint *checkpoint = NULL;
    int64_t made;
    values[0] = number;
    assert_ok(parapet_checkpoint_begin(&checkpoint, store, "r", NULL));
    assert_ok(parapet_checkpoint_put(checkpoint, &item, 1));
    assert_ok(parapet_checkpoint_commit(&checkpoint, &made));
    assert_int_equal(made, number);
}

static int note_number(void *context, int64_t generation, const char *path)
{
    char *text = context;
    (void)path;
    (void)snprintf(text + strlen(text), MOST - strlen(text), "%d ", (int)generation);
    return 0;
}

static void assert_generations(parapet_store *store, const char *expected)
{
    char found[MOST] = "";
    assert_ok(parapet_checkpoint_list(store, "r", note_number, found));
    assert_string_equal(found, expected);
}

/* The only shard of generation 2: cut to nothing, or one byte of its data turned over. */
static void damage(const scratch *made, bool is_cut)
{
    const char *path = scratch_path(made, "store/r/g00000002/T/c/0");
    FILE *file = fopen(path, is_cut ? "w" : "r+");
    assert_non_null(file);
    if (!is_cut) {
        assert_int_equal(fseek(file, 100, SEEK_SET), 0);
        assert_int_equal(fputc(0x55, file), 0x55);
    }
    assert_int_equal(fclose(file), 0);
}

/* As a job that starts again does, with a handle of its own. */
static void restore(const scratch *made, finding_out how)
{
    int64_t start[] = {0}, shape[] = {ELEMENTS};
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = values};
    parapet_checkpoint_item item = {.name = "T", .parts = &part, .part_count = 1};
    parapet_store *store = open_store(made, PARAPET_READ);
    parapet_restore *opened = NULL;
    parapet_restore_info info;
    assert_ok(parapet_restore_open(&opened, store, "r", 0));
    assert_ok(parapet_restore_get_info(opened, &info));
    assert_int_equal(info.generation, how == BY_GET ? 2 : 1);
    assert_int_equal(parapet_restore_get(opened, &item, 1), how == BY_GET ? PARAPET_ERR_CORRUPT : PARAPET_OK);
    assert_ok(parapet_restore_close(&opened));
    assert_ok(parapet_store_close(&store));
}

static void run(finding_out how)
{
    scratch made = scratch_make(SCRATCH_HERE);
    parapet_store *store = open_store(&made, PARAPET_CREATE);
    make_generation(store, 1);
    make_generation(store, 2);
    assert_ok(parapet_store_close(&store));
    damage(&made, how != BY_GET);
    if (how != BY_COMMIT)
        restore(&made, how);
    store = open_store(&made, PARAPET_UPDATE);
    make_generation(store, 3);
    assert_generations(store, "3 2 1 ");
    make_generation(store, 4);
    assert_generations(store, "4 3 ");
    assert_ok(parapet_store_close(&store));
    scratch_remove(&made);
}

static void test_keep__a_damaged_generation_does_not_count(void **context)
{
    (void)context;
    run(BY_COMMIT);
    run(BY_RESTORE);
    run(BY_GET);
}

static void test_keep__good_generations_of_another_job_count(void **context)
{
    scratch made = scratch_make(SCRATCH_HERE);
    int number;
    (void)context;
    for (number = 1; number <= 4; number++) {
        parapet_store *store = open_store(&made, PARAPET_CREATE);
        make_generation(store, number);
        assert_generations(store, (const char *[]){"1 ", "2 1 ", "3 2 ", "4 3 "}[number - 1]);
        assert_ok(parapet_store_close(&store));
    }
    scratch_remove(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_keep__a_damaged_generation_does_not_count),
                                       cmocka_unit_test(test_keep__good_generations_of_another_job_count)};
    return cmocka_run_group_tests_name("finding_F15", tests, NULL, NULL);
}
