/* The stored bytes depend on the array and its contents alone: not on threads, memory, or how a call is cut. */
#include "support.h"

#include "stored.h"

#define ROWS 70
#define COLUMNS 90

static int32_t values[2][ROWS][COLUMNS];

typedef struct cutting {
    int64_t rows, columns; /* of one part */
    bool is_shuffled;
} cutting;

static parapet_part parts[ROWS * COLUMNS];
static int64_t starts[ROWS * COLUMNS][2], counts[ROWS * COLUMNS][2];

static void add_part(int index, int64_t row, int64_t column, const cutting *cut, int version)
{
    static const int64_t strides[2] = {COLUMNS * 4, 4};
    starts[index][0] = row;
    starts[index][1] = column;
    counts[index][0] = row + cut->rows < ROWS ? cut->rows : ROWS - row;
    counts[index][1] = column + cut->columns < COLUMNS ? cut->columns : COLUMNS - column;
    parts[index] = (parapet_part){.ndim = 2,
                                  .start = starts[index],
                                  .count = counts[index],
                                  .data = &values[version][row][column],
                                  .strides_bytes = strides};
}

/* Cuts the box of rows [first, ROWS) and all columns into parts; returns how many. */
static int cut_parts(const cutting *cut, int64_t first, int version)
{
    test_random random = {17};
    int64_t row, column;
    int count = 0, i;
    for (row = first; row < ROWS; row += cut->rows)
        for (column = 0; column < COLUMNS; column += cut->columns)
            add_part(count++, row, column, cut, version);
    for (i = count - 1; cut->is_shuffled && i > 0; i--) {
        int j = (int)test_random_between(&random, 0, i);
        parapet_part swapped = parts[i];
        parts[i] = parts[j];
        parts[j] = swapped;
    }
    return count;
}

/* Writes all of the array, then over a part of it; takes an image of everything that is stored. */
static void store_array(const parapet_store_options *options, const char *codec, bool unsharded, const cutting *cut,
                        stored_image *image)
{
    parapet_array_spec spec = {.type = PARAPET_INT32,
                               .ndim = 2,
                               .shape = (int64_t[]){ROWS, COLUMNS},
                               .chunks = (int64_t[]){8, 16},
                               .shards = (int64_t[]){32, 32},
                               .unsharded = unsharded,
                               .codec = codec};
    parapet_store *store;
    parapet_array *array;
    int count;
    stored_open(&store, options);
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    count = cut_parts(cut, 0, 0);
    assert_ok(parapet_array_write(array, parts, count));
    count = cut_parts(cut, 37, 1);
    assert_ok(parapet_array_write(array, parts, count));
    assert_ok(parapet_array_resize(array, (int64_t[]){61, 77}));
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
    stored_image_take(image, store, "");
    assert_true(stored_statistics(store).memory_peak_bytes <= store->options->memory_bytes);
    stored_close(&store);
}

static const cutting whole = {ROWS, COLUMNS, false};

static void check_variant(const parapet_store_options *options, const char *codec, bool unsharded, const cutting *cut,
                          const stored_image *expected)
{
    static stored_image found;
    store_array(options, codec, unsharded, cut, &found);
    stored_image_assert_equal(expected, 0, &found, 0);
    stored_image_free(&found);
}

static const char *const codecs[] = {"none", "zstd:3", "gzip:6", "blosc:lz4:5:shuffle"};

static int set_up(void **state)
{
    test_random random = {5};
    int64_t version, i, j;
    (void)state;
    for (version = 0; version < 2; version++)
        for (i = 0; i < ROWS; i++)
            for (j = 0; j < COLUMNS; j++)
                values[version][i][j] = (int32_t)(i * j + (int64_t)(test_random_next(&random) % 3));
    return 0;
}

static void test_layout__does_not_depend_on_threads_and_memory(void **state)
{
    static stored_image expected;
    static const int64_t threads[] = {1, 2, 5}, memory[] = {1 << 20, 3 << 20, 256 << 20};
    size_t c, t, m;
    parapet_io_thread io;
    int unsharded;
    (void)state;
    for (c = 0; c < 4; c++) {
        for (unsharded = 0; unsharded < 2; unsharded++) {
            store_array(NULL, codecs[c], unsharded == 1, &whole, &expected);
            for (t = 0; t < 3; t++)
                for (m = 0; m < 3; m++)
                    for (io = PARAPET_IO_THREAD_OWN; io <= PARAPET_IO_THREAD_NONE; io++)
                        check_variant(&(parapet_store_options){.threads = threads[t],
                                                               .memory_bytes = memory[m],
                                                               .io_thread = io},
                                      codecs[c], unsharded == 1, &whole, &expected);
            stored_image_free(&expected);
        }
    }
}

static void test_layout__does_not_depend_on_how_a_call_is_cut_into_parts(void **state)
{
    static stored_image expected;
    static const cutting cuts[] = {{1, COLUMNS, false}, {ROWS, 1, false}, {8, 16, false}, {32, 32, true},
                                   {5, 7, false},       {5, 7, true},     {13, 90, true}, {3, 2, true}};
    size_t c, k;
    (void)state;
    for (c = 0; c < 4; c++) {
        store_array(NULL, codecs[c], false, &whole, &expected);
        for (k = 0; k < sizeof cuts / sizeof cuts[0]; k++) {
            check_variant(NULL, codecs[c], false, &cuts[k], &expected);
            check_variant(&(parapet_store_options){.threads = 3}, codecs[c], false, &cuts[k], &expected);
        }
        stored_image_free(&expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout__does_not_depend_on_threads_and_memory),
        cmocka_unit_test(test_layout__does_not_depend_on_how_a_call_is_cut_into_parts),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
