/* A file system that is really full: a small one in memory, mounted for the test where that is permitted. */
#include "scratch.h"

#include <errno.h>
#include <parapet_store.h>
#include <sys/mount.h>

#include "array/array_handle.h"

enum { SKIPPED = 77, EDGE = 256, SHARD = 64, GROWTH = 4096 };

static const char *mounted;

/* EDGE x EDGE float64, 512 KiB in 16 uncompressed shards: two generations do not fit together. */
static void create(parapet_store *store, parapet_array **array)
{
    int64_t shape[2] = {EDGE, EDGE}, chunks[2] = {32, 32}, shards[2] = {SHARD, SHARD};
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    assert_ok(parapet_array_create(array, store, "a", &spec));
}

static parapet_status write_values(parapet_array *array, double value)
{
    static double values[EDGE * EDGE];
    int64_t start[2] = {0, 0}, count[2] = {EDGE, EDGE};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = values};
    int i;
    for (i = 0; i < EDGE * EDGE; i++)
        values[i] = value;
    return parapet_array_write(array, &part, 1);
}

static void assert_values(parapet_store *store, double value)
{
    static double values[EDGE * EDGE];
    int64_t start[2] = {0, 0}, count[2] = {EDGE, EDGE};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = values};
    parapet_check_summary summary;
    parapet_array *array;
    int i;
    assert_ok(parapet_array_open(&array, store, "a"));
    assert_ok(parapet_array_read(array, &part, 1));
    for (i = 0; i < EDGE * EDGE; i++)
        assert_true(values[i] == value);
    assert_ok(parapet_array_check(array, PARAPET_CHECK_DATA, NULL, NULL, &summary));
    assert_int_equal(summary.torn + summary.missing + summary.stray, 0);
    assert_ok(parapet_array_close(&array));
}

/* Fills the disk up with a file of our own; returns its size. */
static long fill_disk(const char *path, long leave_bytes)
{
    static char block[GROWTH];
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    long written = 0;
    ssize_t result;
    assert_true(file >= 0);
    while ((result = write(file, block, sizeof block)) > 0)
        written += result;
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(ftruncate(file, written > leave_bytes ? written - leave_bytes : 0), 0);
    assert_int_equal(close(file), 0);
    return written;
}

static void write_into_full_disk(parapet_store *store, const char *filler, long leave_bytes)
{
    parapet_array *array;
    assert_true(fill_disk(filler, leave_bytes) > 0);
    assert_ok(parapet_array_open(&array, store, "a"));
    assert_fails(write_values(array, 2), PARAPET_ERR_NO_SPACE, "a/c/");
    assert_ok(parapet_array_close(&array));
    assert_values(store, 1);
    assert_int_equal(unlink(filler), 0);
}

static void test_full_disk__old_values_stay_and_a_retry_succeeds(void **context)
{
    char root[512], filler[512];
    parapet_store *store;
    parapet_array *array;
    long leave;
    (void)context;
    (void)snprintf(root, sizeof root, "%s/store", mounted);
    (void)snprintf(filler, sizeof filler, "%s/filler", mounted);
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, root, PARAPET_CREATE, NULL));
    create(store, &array);
    assert_ok(write_values(array, 1));
    assert_ok(parapet_array_close(&array));
    for (leave = 0; leave < 512 << 10; leave += 32 << 10)
        write_into_full_disk(store, filler, leave);
    assert_ok(parapet_array_open(&array, store, "a"));
    assert_ok(write_values(array, 2));
    assert_ok(parapet_array_close(&array));
    assert_values(store, 2);
    assert_ok(parapet_store_close(&store));
}

/* Arrays one after the other until the disk is full, with whatever call that hits. */
static void test_full_disk__filled_by_arrays_it_keeps_those_that_were_finished(void **context)
{
    char root[512], name[32];
    parapet_store *store;
    parapet_array *array = NULL;
    parapet_status status = PARAPET_OK;
    int64_t shape[1] = {20000};
    static double values[20000];
    int64_t start[1] = {0};
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = values};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 1, .shape = shape, .codec = "none"};
    parapet_check_summary summary;
    int i, finished = 0;
    (void)context;
    (void)snprintf(root, sizeof root, "%s/many", mounted);
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, root, PARAPET_CREATE, NULL));
    for (i = 0; i < 1000 && status == PARAPET_OK; i++) {
        (void)snprintf(name, sizeof name, "n%d", i);
        if ((status = parapet_array_create(&array, store, name, &spec)) == PARAPET_OK &&
            (status = parapet_array_write(array, &part, 1)) == PARAPET_OK)
            status = parapet_array_seal(array);
        finished += status == PARAPET_OK ? 1 : 0;
        assert_ok(parapet_array_close(&array));
    }
    assert_int_equal(status, PARAPET_ERR_NO_SPACE);
    assert_true(finished > 0);
    printf("%d arrays were finished\n", finished);
    for (i = 0; i < finished; i++) {
        (void)snprintf(name, sizeof name, "n%d", i);
        assert_ok(parapet_array_open(&array, store, name));
        assert_true(array->is_sealed);
        assert_ok(parapet_array_check(array, PARAPET_CHECK_DATA, NULL, NULL, &summary));
        assert_int_equal(summary.torn + summary.missing + summary.stray, 0);
        assert_ok(parapet_array_close(&array));
    }
    assert_ok(parapet_store_close(&store));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_disk__old_values_stay_and_a_retry_succeeds),
        cmocka_unit_test(test_full_disk__filled_by_arrays_it_keeps_those_that_were_finished),
    };
    scratch made = scratch_make(SCRATCH_HERE);
    int failed;
    if (mount("parapet-test", made.path, "tmpfs", 0, "size=2m") != 0) {
        printf("skipped: mounting a small file system is not permitted here (%s)\n", strerror(errno));
        (void)rmdir(made.path);
        return SKIPPED;
    }
    mounted = made.path;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (umount2(made.path, MNT_DETACH) == 0)
        (void)rmdir(made.path);
    return failed;
}
