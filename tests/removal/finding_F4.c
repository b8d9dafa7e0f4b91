/* In a group of checkpoints, collecting and committing leave alone what is only named like a generation: dates. */
#include "scratch.h"

#include <parapet.h>

enum { ELEMENTS = 8 };

static void make_generation(parapet_store *store, const parapet_checkpoint_options *options)
{
    static double values[ELEMENTS];
    int64_t start[] = {0}, shape[] = {ELEMENTS};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 1, .shape = shape};
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = values};
    parapet_checkpoint_item item = {.name = "T", .spec = &spec, .parts = &part, .part_count = 1};
    parapet_checkpoint *checkpoint = NULL;
    assert_ok(parapet_checkpoint_begin(&checkpoint, store, "r", options));
    assert_ok(parapet_checkpoint_put(checkpoint, &item, 1));
    assert_ok(parapet_checkpoint_commit(&checkpoint, NULL));
}

static void make_folder(const scratch *made, const char *name)
{
    assert_int_equal(mkdir(scratch_path(made, name), 0777), 0);
}

static const char *const foreign[][2] = {
    {"store/r/g00000002/notes.txt", "notes"},
    {"store/r/g20200101/.zarray", "{\"zarr_format\": 2}"},
    {"store/r/g20200101/0", "chunk"},
    {"store/r/g20200102/.zgroup", "{\"zarr_format\": 2}"},
    {"store/r/g20200103/c/0", "looks like a shard"},
    {"store/r/g20200103/c.txt", "does not"},
    {"store/r/g20990101/data.csv", "1,2"},
    {"store/r/g00000001/mine.txt", "in a generation"},
    {"store/r/g00000001/T/mine.txt", "in an array of it"},
    {"store/r/g00000001/T/c/mine.txt", "among its shards"},
};

enum { FOREIGN = sizeof foreign / sizeof foreign[0] };

static int count_removal(void *context, const char *key, const char *reason)
{
    (void)key;
    (void)reason;
    ++*(int *)context;
    return 0;
}

static void assert_foreign(const scratch *made)
{
    int i;
    for (i = 0; i < FOREIGN; i++)
        assert_file(scratch_path(made, foreign[i][0]), foreign[i][1]);
}

static void put_foreign(const scratch *made)
{
    static const char *const folders[] = {"store/r/g00000002", "store/r/g20200101",   "store/r/g20200102",
                                          "store/r/g20200103", "store/r/g20200103/c", "store/r/g20990101"};
    size_t i;
    for (i = 0; i < sizeof folders / sizeof folders[0]; i++)
        make_folder(made, folders[i]);
    for (i = 0; i < FOREIGN; i++)
        write_file(scratch_path(made, foreign[i][0]), foreign[i][1]);
}

static void test_checkpoints__foreign_directories_named_like_generations_stay(void **context)
{
    const parapet_checkpoint_options later = {.generation = 20300101, .keep = 1};
    scratch made = scratch_make(SCRATCH_HERE);
    parapet_store *store = NULL;
    int removals = 0;
    (void)context;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, made.root, PARAPET_CREATE, NULL));
    make_generation(store, NULL);
    put_foreign(&made);
    assert_ok(parapet_store_collect(store, "", 0, count_removal, &removals));
    assert_int_equal(removals, 0);
    assert_foreign(&made);
    make_generation(store, NULL); /* finds its name taken */
    assert_true(access(scratch_path(&made, "store/r/g00000002-1/zarr.json"), F_OK) == 0);
    assert_foreign(&made);
    make_generation(store, &later); /* all of the dates are older but one; the generations go */
    assert_foreign(&made);
    assert_int_equal(access(scratch_path(&made, "store/r/g00000001/zarr.json"), F_OK), -1);
    assert_int_equal(access(scratch_path(&made, "store/r/g00000001/T/c/0"), F_OK), -1);
    assert_int_equal(access(scratch_path(&made, "store/r/g00000002-1"), F_OK), -1);
    assert_ok(parapet_store_collect(store, "", 0, count_removal, &removals));
    assert_foreign(&made);
    assert_ok(parapet_store_close(&store));
    scratch_remove(&made);
}

/* As other programs write it. */
static const char foreign_document[] =
    "{\"shape\": [8], \"data_type\": \"float64\", \"chunk_grid\": {\"name\": \"regular\", \"configuration\": "
    "{\"chunk_shape\": [8]}}, \"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": {\"separator\": "
    "\"/\"}}, \"fill_value\": 0.0, \"codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}], "
    "\"attributes\": {}, \"zarr_format\": 3, \"node_type\": \"array\", \"storage_transformers\": []}";

static void make_own_array(parapet_store *store, const char *path)
{
    static double values[ELEMENTS];
    int64_t start[] = {0}, shape[] = {ELEMENTS};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 1, .shape = shape};
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = values};
    parapet_array *array = NULL;
    values[1] = 1;
    assert_ok(parapet_array_create(&array, store, path, &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_close(&array));
}

static void assert_arrays(const scratch *made)
{
    assert_file(scratch_path(made, "store/r/g00000001/theirs/zarr.json"), foreign_document);
    assert_file(scratch_path(made, "store/r/g00000001/theirs/c/0"), "64 bytes");
    assert_file(scratch_path(made, "store/r/g00000001/broken/zarr.json"), "{\"zarr_format\": 3, ");
    assert_int_equal(access(scratch_path(made, "store/r/g00000001/mine/zarr.json"), F_OK), 0);
    assert_int_equal(access(scratch_path(made, "store/r/g00000001/mine/c/0"), F_OK), 0);
}

/* A crash before the commit leaves the directory of a generation, reserved; what others put into it is not of it. */
static void test_checkpoints__arrays_that_no_checkpoint_made_stay(void **context)
{
    scratch made = scratch_make(SCRATCH_HERE);
    parapet_store *store = NULL;
    int removals = 0;
    (void)context;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, made.root, PARAPET_CREATE, NULL));
    make_generation(store, NULL);
    assert_int_equal(unlink(scratch_path(&made, "store/r/__parapet/commits/00000001")), 0);
    make_folder(&made, "store/r/g00000001/theirs");
    make_folder(&made, "store/r/g00000001/theirs/c");
    make_folder(&made, "store/r/g00000001/broken");
    write_file(scratch_path(&made, "store/r/g00000001/theirs/zarr.json"), foreign_document);
    write_file(scratch_path(&made, "store/r/g00000001/theirs/c/0"), "64 bytes");
    write_file(scratch_path(&made, "store/r/g00000001/broken/zarr.json"), "{\"zarr_format\": 3, ");
    make_own_array(store, "r/g00000001/mine");
    (void)parapet_store_collect(store, "r", 0, count_removal, &removals);
    assert_int_equal(removals, 1);
    assert_int_equal(access(scratch_path(&made, "store/r/g00000001/T"), F_OK), -1);
    assert_arrays(&made);
    make_generation(store, &(parapet_checkpoint_options){.generation = 5, .keep = 1});
    assert_arrays(&made);
    assert_ok(parapet_store_close(&store));
    scratch_remove(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checkpoints__foreign_directories_named_like_generations_stay),
        cmocka_unit_test(test_checkpoints__arrays_that_no_checkpoint_made_stay)};
    return cmocka_run_group_tests_name("finding_F4", tests, NULL, NULL);
}
