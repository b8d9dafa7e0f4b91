/* A copy or a file that is verified is compared with its source: somebody changes it as soon as it is complete, while
 * it is read again. */
#include "scratch.h"

#include "stored.h"

enum { EDGE = 8, CHUNK = 4 };

static const int64_t shape[2] = {EDGE, EDGE}, chunks[2] = {CHUNK, CHUNK}, origin[2] = {0, 0};

/* What is put where, once the document of the target is there. */
typedef struct meddler {
    parapet_store *other;
    const char *key, *data;
    size_t bytes;
    bool is_done;
} meddler;

static int meddle(void *context, int64_t done, int64_t total)
{
    meddler *self = context;
    (void)done;
    (void)total;
    if (!self->is_done && stored_has(self->other, "b/zarr.json")) {
        stored_put(self->other, self->key, self->data, self->bytes);
        self->is_done = true;
    }
    return 0;
}

static void create_source(parapet_store *store)
{
    parapet_array_spec spec = {.type = PARAPET_INT32,
                               .ndim = 2,
                               .shape = shape,
                               .chunks = chunks,
                               .unsharded = 1,
                               .codec = "none",
                               .no_checksum = 1};
    int32_t values[EDGE * EDGE];
    parapet_array *array;
    int i;
    for (i = 0; i < EDGE * EDGE; i++)
        values[i] = i + 1;
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    assert_ok(
        parapet_array_write(array, &(parapet_part){.ndim = 2, .start = origin, .count = shape, .data = values}, 1));
    assert_ok(parapet_array_close(&array));
}

/* Texts, which are copied as they are stored: two objects. */
static void create_texts(parapet_store *store)
{
    static const char texts[] = "\2\0\0\0\1\0\0\0a\2\0\0\0bc";
    stored_put_text(store, "a/zarr.json",
                    "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [5], \"data_type\": \"string\","
                    " \"fill_value\": \"f\","
                    " \"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [2]}},"
                    " \"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": {\"separator\": \"/\"}},"
                    " \"codecs\": [{\"name\": \"vlen-utf8\"}], \"attributes\": {}}");
    stored_put(store, "a/c/0", texts, sizeof texts - 1);
    stored_put(store, "a/c/2", texts, sizeof texts - 1);
}

static void check(void (*create)(parapet_store *store), meddler *self, const char *sentence)
{
    parapet_store_options options = {
        .io_thread = PARAPET_IO_THREAD_NONE, .threads = 1, .progress = meddle, .progress_context = self};
    parapet_copy_request request = {.source_path = "a", .target_path = "b", .verify = 1, .no_probe = 1};
    parapet_copy_result result;
    parapet_store *store;
    stored_open(&store, &options);
    assert_ok(parapet_store_open(&self->other, MPI_COMM_NULL, "memory:test", PARAPET_UPDATE, NULL));
    create(self->other);
    request.source = request.target = store;
    assert_fails(parapet_copy(&request, &result), PARAPET_ERR_CORRUPT, sentence);
    assert_true(self->is_done);
    request.overwrite = 1;
    assert_ok(parapet_copy(&request, &result));
    assert_true(result.verified_bytes > 0);
    assert_ok(parapet_store_close(&self->other));
    stored_close(&store);
}

static void test_verify__elements_that_have_changed_are_found(void **state)
{
    static const int32_t zeros[CHUNK * CHUNK];
    static int32_t one_differs[CHUNK * CHUNK];
    int i;
    (void)state;
    check(create_source, &(meddler){.key = "b/c/1/1", .data = (const char *)zeros, .bytes = sizeof zeros},
          "found differences");
    for (i = 0; i < CHUNK * CHUNK; i++)
        one_differs[i] = (CHUNK + i / CHUNK) * EDGE + CHUNK + i % CHUNK + 1;
    one_differs[3]++;
    check(create_source, &(meddler){.key = "b/c/1/1", .data = (const char *)one_differs, .bytes = sizeof one_differs},
          "found differences");
}

static void test_verify__a_chunk_that_cannot_be_decoded_is_found(void **state)
{
    (void)state;
    check(create_source, &(meddler){.key = "b/c/1/1", .data = "short", .bytes = 5}, "b/c/1/1");
}

static void test_verify__objects_that_have_changed_or_were_added_are_found(void **state)
{
    static const char other[] = "\2\0\0\0\1\0\0\0a\2\0\0\0bd";
    (void)state;
    check(create_texts, &(meddler){.key = "b/c/2", .data = other, .bytes = sizeof other - 1},
          "\"b/c/2\" is not what array \"a\" has there");
    check(create_texts, &(meddler){.key = "b/c/2", .data = "short", .bytes = 5},
          "\"b/c/2\" is not what array \"a\" has there");
    check(create_texts, &(meddler){.key = "b/c/1", .data = other, .bytes = sizeof other - 1}, "more objects");
}

/* ---- Files ---- */

/* Whatever there is, which is the temporary file, ends with other bytes. */
static int spoil_file(void *context, int64_t done, int64_t total)
{
    const scratch *made = context;
    DIR *folder = opendir(made->path);
    const struct dirent *entry;
    (void)done;
    (void)total;
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        FILE *file = entry->d_name[0] == '.' && strlen(entry->d_name) < 3
                         ? NULL
                         : fopen(scratch_path(made, entry->d_name), "r+");
        if (file == NULL)
            continue;
        assert_int_equal(fseek(file, -8, SEEK_END), 0);
        assert_int_equal(fwrite("spoiled!", 1, 8, file), 8);
        assert_int_equal(fclose(file), 0);
    }
    (void)closedir(folder);
    return 0;
}

/* Larger than the memory for it, so that it is written and compared in many boxes. */
static void test_verify__a_file_that_has_changed_gets_no_name(void **state)
{
    enum { PLANES = 7, LINES = 300, LENGTH = 300 };
    static const int64_t large[3] = {PLANES, LINES, LENGTH}, piece[3] = {2, 300, 300}, start[3] = {0, 0, 0};
    static float values[PLANES * LINES * LENGTH];
    scratch made = scratch_make(SCRATCH_MEMORY);
    parapet_array_spec spec = {.type = PARAPET_FLOAT32, .ndim = 3, .shape = large, .chunks = piece, .codec = "none"};
    parapet_part part = {.ndim = 3, .start = start, .count = large, .data = values};
    parapet_store_options options = {.memory_bytes = 2 << 20, .threads = 1, .io_thread = PARAPET_IO_THREAD_NONE};
    parapet_file_request request = {.source_path = "a", .verify = 1, .overwrite = 1};
    parapet_array *array;
    parapet_store *store;
    int i;
    (void)state;
    for (i = 0; i < PLANES * LINES * LENGTH; i++)
        values[i] = (float)i;
    stored_open(&store, NULL);
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_close(&array));
    request.file = scratch_path(&made, "out.npy");
    options.progress = spoil_file;
    options.progress_context = &made;
    stored_reopen(&store, PARAPET_READ, &options);
    request.source = store;
    assert_fails(parapet_file_write(&request, NULL), PARAPET_ERR_CORRUPT, "differs from the source");
    assert_int_equal(entry_count(made.path), 0);
    options.progress = NULL;
    stored_reopen(&store, PARAPET_READ, &options);
    request.source = store;
    request.file = scratch_path(&made, "out.npy");
    assert_ok(parapet_file_write(&request, NULL));
    assert_int_equal(entry_count(made.path), 1);
    stored_close(&store);
    scratch_remove(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verify__elements_that_have_changed_are_found),
        cmocka_unit_test(test_verify__a_chunk_that_cannot_be_decoded_is_found),
        cmocka_unit_test(test_verify__objects_that_have_changed_or_were_added_are_found),
        cmocka_unit_test(test_verify__a_file_that_has_changed_gets_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
