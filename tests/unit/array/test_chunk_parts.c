/* Parts of chunks whose elements are stored as they are: read without the rest of the chunk, or band by band to
 * verify a checksum, in far less memory than the chunk takes. */
#include "support.h"

#include "base/bytes.h"
#include "codec/crc32c.h"
#include "scratch.h"
#include "stored.h"

/* ---- Against what was written ---- */

enum { SIDE = 700, PARTS = 5 };

static uint32_t values[SIDE][SIDE];

static void create(parapet_store **store, bool has_checksum, int64_t chunk, bool unsharded)
{
    int64_t shape[2] = {SIDE, SIDE}, start[2] = {0, 0};
    parapet_array_spec spec = {.type = PARAPET_UINT32,
                               .ndim = 2,
                               .shape = shape,
                               .chunks = (int64_t[]){chunk, 0},
                               .codec = "none",
                               .no_checksum = !has_checksum,
                               .unsharded = unsharded};
    parapet_part part = {.ndim = 2, .start = start, .count = shape, .data = values};
    parapet_array *array = NULL;
    int i;
    for (i = 0; i < SIDE * SIDE; i++)
        values[i / SIDE][i % SIDE] = (uint32_t)i * 2654435761u;
    stored_open(store, NULL);
    assert_ok(parapet_array_create(&array, *store, "a", &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_close(&array));
}

static void open_small(parapet_store **store, parapet_array **array, parapet_holes holes, parapet_io_thread thread)
{
    parapet_store_options options = {.memory_bytes = 1 << 20, .holes = holes, .io_thread = thread};
    stored_reopen(store, PARAPET_READ, &options);
    assert_ok(parapet_array_open(array, *store, "a"));
}

static void read_random(parapet_array *array, test_random *random)
{
    static uint32_t found[PARTS][SIDE * SIDE];
    int64_t start[PARTS][2], count[PARTS][2], row, column;
    parapet_part parts[PARTS];
    int i, d, part_count = (int)test_random_between(random, 1, PARTS);
    for (i = 0; i < part_count; i++) {
        for (d = 0; d < 2; d++) {
            start[i][d] = test_random_between(random, 0, SIDE - 1);
            count[i][d] = test_random_between(random, 1, test_random_between(random, 1, SIDE - start[i][d]));
        }
        parts[i] = (parapet_part){.ndim = 2, .start = start[i], .count = count[i], .data = found[i]};
    }
    assert_ok(parapet_array_read(array, parts, part_count));
    for (i = 0; i < part_count; i++)
        for (row = 0; row < count[i][0]; row++)
            for (column = 0; column < count[i][1]; column++)
                assert_int_equal(found[i][row * count[i][1] + column],
                                 values[start[i][0] + row][start[i][1] + column]);
}

static void test_chunk_parts__are_what_was_written(void **state)
{
    static const int64_t chunks[] = {SIDE, 256, 7};
    test_random random = test_random_start();
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    int checked, k, holes, round;
    (void)state;
    for (checked = 0; checked < 2; checked++)
        for (k = 0; k < 3; k++) {
            create(&store, checked, chunks[k], k == 1);
            for (holes = PARAPET_HOLES_CHOOSE; holes <= PARAPET_HOLES_SKIP; holes++) {
                open_small(&store, &array, (parapet_holes)holes,
                           holes == PARAPET_HOLES_SKIP ? PARAPET_IO_THREAD_NONE : PARAPET_IO_THREAD_OWN);
                for (round = 0; round < 12; round++)
                    read_random(array, &random);
                assert_true(stored_statistics(store).memory_peak_bytes <= 1 << 20);
                assert_true(stored_statistics(store).memory_peak_bytes <=
                            stored_statistics(store).memory_planned_bytes);
                assert_ok(parapet_array_close(&array));
            }
            stored_close(&store);
        }
}

/* ---- What is read ---- */

static int64_t bytes_of_column(parapet_holes holes, int64_t *requests)
{
    static uint32_t column[SIDE][2];
    int64_t start[2] = {0, 300}, count[2] = {SIDE, 2};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = column};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    parapet_statistics before, after;
    int i;
    create(&store, false, SIDE, true);
    open_small(&store, &array, holes, PARAPET_IO_THREAD_NONE);
    before = stored_statistics(store);
    assert_ok(parapet_array_read(array, &part, 1));
    after = stored_statistics(store);
    for (i = 0; i < SIDE; i++)
        assert_int_equal(column[i][1], values[i][301]);
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
    *requests = after.read_requests - before.read_requests;
    return after.read_bytes - before.read_bytes;
}

static void test_chunk_parts__holes_are_read_or_skipped_as_told(void **state)
{
    int64_t requests, bytes;
    (void)state;
    bytes = bytes_of_column(PARAPET_HOLES_SKIP, &requests);
    assert_int_equal(requests, SIDE); /* rows of 2800 bytes */
    assert_true(bytes <= SIDE * 1024);
    bytes = bytes_of_column(PARAPET_HOLES_READ, &requests);
    assert_true(requests < 16);
    assert_true(bytes >= (SIDE - 1) * SIDE * 4 - 16 * 2800);
}

static void test_chunk_parts__one_element_takes_one_small_request(void **state)
{
    uint32_t found = 0;
    int64_t start[2] = {611, 77}, count[2] = {1, 1};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = &found};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    parapet_statistics before;
    (void)state;
    create(&store, false, SIDE, true);
    open_small(&store, &array, PARAPET_HOLES_CHOOSE, PARAPET_IO_THREAD_NONE);
    before = stored_statistics(store);
    assert_ok(parapet_array_read(array, &part, 1));
    assert_int_equal(found, values[611][77]);
    assert_int_equal(stored_statistics(store).read_requests - before.read_requests, 1);
    assert_true(stored_statistics(store).read_bytes - before.read_bytes <= 512);
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

/* Once for each store; the read itself takes one request. */
static void test_chunk_parts__what_is_read_to_measure_requests_is_counted(void **state)
{
    static uint32_t found[SIDE][SIDE];
    int64_t start[2] = {0, 0}, count[2] = {SIDE, SIDE};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = found};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    parapet_statistics opened, first, second;
    (void)state;
    create(&store, false, SIDE, true);
    stored_reopen(&store, PARAPET_READ, NULL);
    assert_ok(parapet_array_open(&array, store, "a"));
    opened = stored_statistics(store);
    assert_ok(parapet_array_read(array, &part, 1));
    first = stored_statistics(store);
    assert_ok(parapet_array_read(array, &part, 1));
    second = stored_statistics(store);
    assert_int_equal(second.read_requests - first.read_requests, 1);
    assert_int_equal(second.read_bytes - first.read_bytes, sizeof found);
    assert_true(first.read_requests - opened.read_requests > 1);
    assert_true(first.read_bytes - opened.read_bytes > (int64_t)sizeof found);
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

/* ---- Damage ---- */

static void flip_bit(parapet_store *store, size_t place)
{
    size_t bytes;
    char *data = stored_get(store, "a/c/0/0", &bytes);
    assert_non_null(data);
    assert_true(place < bytes);
    data[place] = (char)(data[place] ^ 4);
    stored_put(store, "a/c/0/0", data, bytes);
    pp_free(data);
}

/* Element [350, 2], by every call that reads. */
enum { WAYS = 6 };

static parapet_status read_element(parapet_array *array, int way, uint32_t *found)
{
    static const int64_t place[2] = {350, 2}, count[2] = {1, 1}, flat = 350 * SIDE + 2;
    parapet_part part = {.ndim = 2, .start = place, .count = count, .data = found};
    parapet_points points = {.ndim = 2, .count = 1, .coordinates = place, .data = found};
    parapet_runs runs = {.count = 1, .starts = &flat, .data = found};
    switch (way) {
    case 0:
        return parapet_array_read(array, &part, 1);
    case 1:
        return parapet_array_read_local(array, &part, 1);
    case 2:
        return parapet_array_read_points(array, &points);
    case 3:
        return parapet_array_read_points_local(array, &points);
    case 4:
        return parapet_array_read_runs(array, &runs);
    default:
        return parapet_array_read_runs_local(array, &runs);
    }
}

/* Neither limit has room for the chunk, so each way goes through it band by band. */
static void check_ways(parapet_store **store, bool is_damaged)
{
    parapet_store_options options = {.memory_bytes = 1 << 20, .local_bytes = 1 << 20};
    parapet_array *array = NULL;
    uint32_t found = 0;
    int way;
    stored_reopen(store, PARAPET_READ, &options);
    assert_ok(parapet_array_open(&array, *store, "a"));
    for (way = 0; way < WAYS; way++, found = 0)
        if (is_damaged) {
            assert_fails(read_element(array, way, &found), PARAPET_ERR_CORRUPT, "checksum of 1960000 bytes");
        } else {
            assert_ok(read_element(array, way, &found));
            assert_int_equal(found, values[350][2]);
        }
    assert_true(stored_statistics(*store).memory_peak_bytes <= 1 << 20);
    assert_true(stored_statistics(*store).local_peak_bytes <= 1 << 20);
    assert_ok(parapet_array_close(&array));
}

static void test_chunk_parts__a_flipped_bit_anywhere_in_a_streamed_chunk_fails_every_read(void **state)
{
    /* In what is wanted, far from it, and in the checksum itself. */
    static const size_t places[] = {0, 4 * SIDE * 350 + 11, 4 * SIDE * SIDE - 1, 4 * SIDE * SIDE + 3};
    parapet_store *store = NULL;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof places / sizeof places[0]; i++) {
        create(&store, true, SIDE, true);
        check_ways(&store, false);
        flip_bit(store, places[i]);
        check_ways(&store, true);
        stored_close(&store);
    }
}

/* Without a checksum of its own, and with one that was made to fit: the seal knows another one. */
static void check_sealed(bool has_checksum)
{
    uint32_t found;
    int64_t start[2] = {350, 2}, count[2] = {1, 1};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = &found};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    size_t bytes = 0;
    char *data;
    create(&store, has_checksum, SIDE, true);
    assert_ok(parapet_array_open(&array, store, "a"));
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
    open_small(&store, &array, PARAPET_HOLES_CHOOSE, PARAPET_IO_THREAD_CHOOSE);
    assert_ok(parapet_array_read(array, &part, 1));
    assert_int_equal(found, values[350][2]);
    assert_ok(parapet_array_close(&array));
    flip_bit(store, 4 * SIDE * SIDE - 1);
    data = stored_get(store, "a/c/0/0", &bytes);
    if (has_checksum)
        pp_store_u32le((unsigned char *)data + bytes - 4, pp_crc32c(0, data, bytes - 4));
    stored_put(store, "a/c/0/0", data, bytes);
    pp_free(data);
    open_small(&store, &array, PARAPET_HOLES_CHOOSE, PARAPET_IO_THREAD_CHOOSE);
    assert_fails(parapet_array_read(array, &part, 1), PARAPET_ERR_CORRUPT,
                 "a/c/0/0 is not the shard that was sealed: the contents of chunk 0 differ");
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

static void test_chunk_parts__a_streamed_chunk_is_the_one_that_was_sealed(void **state)
{
    (void)state;
    check_sealed(false);
    check_sealed(true);
}

static void test_chunk_parts__a_chunk_of_another_length_is_refused(void **state)
{
    uint32_t found;
    int64_t start[2] = {0, 0}, count[2] = {1, 1};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = &found};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    size_t bytes;
    char *data;
    int checked;
    (void)state;
    for (checked = 0; checked < 2; checked++) {
        create(&store, checked, SIDE, true);
        data = stored_get(store, "a/c/0/0", &bytes);
        stored_put(store, "a/c/0/0", data, bytes - 1);
        pp_free(data);
        open_small(&store, &array, PARAPET_HOLES_CHOOSE, PARAPET_IO_THREAD_CHOOSE);
        assert_fails(parapet_array_read(array, &part, 1), PARAPET_ERR_CORRUPT, "instead of");
        assert_ok(parapet_array_close(&array));
        stored_close(&store);
    }
}

/* ---- A chunk far larger than memory ---- */

enum { HUGE_ROWS = 8192 };

/* A chunk of 256 MiB, nearly all of it a hole in the file: eight elements are not 0. */
static void put_huge(const char *path, bool has_checksum)
{
    static unsigned char row[4 * HUGE_ROWS];
    uint32_t crc = 0;
    int file, i;
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    for (i = 0; i < HUGE_ROWS; i++) {
        memset(row, 0, sizeof row);
        if (i % (HUGE_ROWS / 8) == 5)
            memcpy(row + 4 * 4000, &i, sizeof i);
        crc = has_checksum ? pp_crc32c(crc, row, sizeof row) : 0;
        if (i % (HUGE_ROWS / 8) == 5)
            assert_int_equal(pwrite(file, row, sizeof row, (off_t)i * (off_t)sizeof row), sizeof row);
    }
    assert_int_equal(ftruncate(file, (off_t)HUGE_ROWS * (off_t)sizeof row), 0);
    if (has_checksum)
        assert_int_equal(pwrite(file, &crc, 4, (off_t)HUGE_ROWS * (off_t)sizeof row), 4);
    assert_int_equal(close(file), 0);
}

static void read_huge(parapet_array *array)
{
    int32_t found[8];
    int64_t start[8][2], count[2] = {1, 1};
    parapet_part parts[8];
    int i;
    for (i = 0; i < 8; i++) {
        start[i][0] = i * (HUGE_ROWS / 8) + 5;
        start[i][1] = 4000;
        parts[i] = (parapet_part){.ndim = 2, .start = start[i], .count = count, .data = &found[i]};
    }
    assert_ok(parapet_array_read(array, parts, 8));
    for (i = 0; i < 8; i++)
        assert_int_equal(found[i], i * (HUGE_ROWS / 8) + 5);
}

static void test_chunk_parts__eight_elements_of_256_mib_are_read_within_16_mib(void **state)
{
    int64_t shape[2] = {HUGE_ROWS, HUGE_ROWS};
    parapet_store_options options = {.memory_bytes = 16 << 20};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    scratch made = scratch_make(SCRATCH_HERE);
    char chunk[400];
    int checked;
    (void)state;
    for (checked = 0; checked < 2; checked++) {
        parapet_array_spec spec = {.type = PARAPET_INT32,
                                   .ndim = 2,
                                   .shape = shape,
                                   .chunks = shape,
                                   .codec = "none",
                                   .no_checksum = !checked,
                                   .unsharded = 1,
                                   .overwrite = 1};
        assert_ok(parapet_store_open(&store, MPI_COMM_NULL, made.root, PARAPET_CREATE, &options));
        assert_ok(parapet_array_create(&array, store, "a", &spec));
        (void)snprintf(chunk, sizeof chunk, "%s/a/c", made.root);
        (void)mkdir(chunk, 0700);
        (void)snprintf(chunk, sizeof chunk, "%s/a/c/0", made.root);
        (void)mkdir(chunk, 0700);
        (void)snprintf(chunk, sizeof chunk, "%s/a/c/0/0", made.root);
        put_huge(chunk, checked);
        read_huge(array);
        assert_true(stored_statistics(store).memory_peak_bytes <= 16 << 20);
        assert_ok(parapet_array_close(&array));
        assert_ok(parapet_store_close(&store));
    }
    scratch_remove(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunk_parts__are_what_was_written),
        cmocka_unit_test(test_chunk_parts__holes_are_read_or_skipped_as_told),
        cmocka_unit_test(test_chunk_parts__one_element_takes_one_small_request),
        cmocka_unit_test(test_chunk_parts__what_is_read_to_measure_requests_is_counted),
        cmocka_unit_test(test_chunk_parts__a_flipped_bit_anywhere_in_a_streamed_chunk_fails_every_read),
        cmocka_unit_test(test_chunk_parts__a_streamed_chunk_is_the_one_that_was_sealed),
        cmocka_unit_test(test_chunk_parts__a_chunk_of_another_length_is_refused),
        cmocka_unit_test(test_chunk_parts__eight_elements_of_256_mib_are_read_within_16_mib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
