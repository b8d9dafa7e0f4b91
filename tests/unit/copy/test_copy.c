/* Copies within one process: what a request needs, copies that read again what they have written, and their plans. */
#include "support.h"

#include <unistd.h>

#include <parapet_plan.h>

#include "base/memory.h"
#include "stored.h"

#define ROWS 13
#define COLUMNS 9

#define refused(call, word) assert_fails(call, PARAPET_ERR_ARGUMENT, word)

static const int64_t shape[2] = {ROWS, COLUMNS};

static void create_source(parapet_store *store, const char *path, const char *codec)
{
    const parapet_array_spec spec = {.type = PARAPET_INT32,
                                     .ndim = 2,
                                     .shape = shape,
                                     .chunks = (const int64_t[]){3, 4},
                                     .shards = (const int64_t[]){6, 8},
                                     .codec = codec};
    int32_t values[ROWS][COLUMNS];
    parapet_array *array;
    int i;
    for (i = 0; i < ROWS * COLUMNS; i++)
        values[i / COLUMNS][i % COLUMNS] = i % 5 == 0 ? 0 : i;
    assert_ok(parapet_array_create(&array, store, path, &spec));
    assert_ok(parapet_array_write(
        array, &(parapet_part){.ndim = 2, .start = (const int64_t[]){0, 0}, .count = shape, .data = values}, 1));
    assert_ok(parapet_array_close(&array));
}

static void test_copy__needs_source_target_and_paths(void **state)
{
    parapet_copy_request request = {.source_path = "a", .target_path = "b"};
    parapet_store *store, *reading;
    char *text = NULL, *svg = NULL;
    (void)state;
    stored_open(&store, NULL);
    create_source(store, "a", NULL);
    refused(parapet_copy(NULL, NULL), "request");
    refused(parapet_copy(&request, NULL), "source and a target");
    request.source = store;
    refused(parapet_copy(&request, NULL), "source and a target");
    request.target = store;
    request.source_path = NULL;
    refused(parapet_copy(&request, NULL), "path in the source");
    request.source_path = "a";
    request.target_path = NULL;
    refused(parapet_copy(&request, NULL), "one in the target");
    request.target_path = "b";
    assert_ok(parapet_store_open(&reading, MPI_COMM_NULL, "memory:test", PARAPET_READ, NULL));
    request.temporary = reading;
    refused(parapet_copy(&request, NULL), "reading only");
    request.temporary = NULL;
    refused(parapet_copy_request_plan_print(&request, 0, NULL, &svg), "pointer for the text");
    refused(parapet_copy_request_plan_print(NULL, 0, &text, &svg), "request");
    refused(parapet_copy_request_plan_print(&request, 77, &text, &svg), "as_json");
    assert_null(text);
    assert_null(svg);
    assert_ok(parapet_store_close(&reading));
    stored_close(&store);
}

static int32_t expected_at(const parapet_copy_changes *changes, int row, int column)
{
    bool is_turned = changes->order != NULL;
    int i = is_turned ? column * COLUMNS + row : row * COLUMNS + column;
    return i % 5 == 0 ? 0 : i;
}

static void check_target(parapet_store *store, const parapet_copy_changes *changes)
{
    const int64_t target_shape[2] = {changes->order != NULL ? COLUMNS : ROWS,
                                     changes->order != NULL ? ROWS : COLUMNS};
    int32_t values[ROWS * COLUMNS];
    parapet_array *array;
    int row, column;
    assert_ok(parapet_array_open(&array, store, "target"));
    assert_ok(parapet_array_read(
        array, &(parapet_part){.ndim = 2, .start = (const int64_t[]){0, 0}, .count = target_shape, .data = values},
        1));
    for (row = 0; row < target_shape[0]; row++)
        for (column = 0; column < target_shape[1]; column++)
            assert_int_equal(values[row * target_shape[1] + column], expected_at(changes, row, column));
    assert_ok(parapet_array_close(&array));
}

static void copy_and_verify(const char *codec, const parapet_copy_changes *changes, int64_t passes)
{
    parapet_copy_request request = {.source_path = "source",
                                    .target_path = "target",
                                    .changes = *changes,
                                    .verify = 1,
                                    .passes = passes,
                                    .no_probe = passes == 0};
    parapet_copy_result result;
    parapet_store *store;
    stored_open(&store, NULL);
    create_source(store, "source", codec);
    request.source = request.target = store;
    assert_ok(parapet_copy(&request, &result));
    assert_int_equal(result.array_bytes, ROWS * COLUMNS * sizeof(int32_t));
    check_target(store, changes);
    stored_close(&store);
}

static void test_copy__is_read_again_and_compared(void **state)
{
    static const char *const codecs[] = {NULL, "none", "zstd", "gzip"};
    const parapet_copy_changes changes[] = {{.chunks = "5,2"}, {.shards = "10,4", .chunks = "5,2"}, {.order = "1,0"}};
    size_t i, j;
    (void)state;
    for (i = 0; i < sizeof codecs / sizeof codecs[0]; i++)
        for (j = 0; j < sizeof changes / sizeof changes[0]; j++) {
            copy_and_verify(codecs[i], &changes[j], 0);
            copy_and_verify(codecs[i], &changes[j], 1);
        }
}

/* Chunks that are stored as they are and larger than what is read at a time, whole or in part. */
static void test_copy__large_plain_chunks_are_compared_piece_by_piece(void **state)
{
    enum { PLANES = 3, LINES = 2, LENGTH = 70000 };
    static const int64_t large[3] = {PLANES, LINES, LENGTH}, start[3] = {0, 0, 0};
    static int32_t values[PLANES * LINES * LENGTH], found[PLANES * LINES * LENGTH];
    static const char *const regions[] = {NULL, "1:3,:,10:69990"};
    const parapet_array_spec spec = {.type = PARAPET_INT32,
                                     .ndim = 3,
                                     .shape = large,
                                     .chunks = large,
                                     .unsharded = 1,
                                     .codec = "none",
                                     .no_checksum = 1};
    parapet_copy_request request = {.source_path = "a", .target_path = "b", .verify = 1};
    parapet_copy_result result;
    parapet_array *array;
    parapet_store *store;
    int i;
    (void)state;
    for (i = 0; i < PLANES * LINES * LENGTH; i++)
        values[i] = i + 1;
    for (i = 0; i < 2; i++) {
        parapet_part part = {.ndim = 3, .start = start, .count = large, .data = values};
        stored_open(&store, NULL);
        assert_ok(parapet_array_create(&array, store, "a", &spec));
        assert_ok(parapet_array_write(array, &part, 1));
        assert_ok(parapet_array_close(&array));
        request.source = request.target = store;
        request.changes.region = regions[i];
        request.no_probe = i; /* the first is measured with, in runs as well */
        assert_ok(parapet_copy(&request, &result));
        assert_true(result.verified_bytes > 0);
        assert_ok(parapet_array_open(&array, store, "b"));
        part = (parapet_part){.ndim = 3, .start = start, .count = (const int64_t[]){2, 2, 69980}, .data = found};
        assert_ok(parapet_array_read(array, &part, 1));
        assert_int_equal(found[0], i == 0 ? 1 : LINES * LENGTH + 11);
        assert_ok(parapet_array_close(&array));
        stored_close(&store);
    }
}

static void test_copy__of_nothing_is_complete(void **state)
{
    static const int64_t empty[2] = {0, 4};
    parapet_copy_request request = {.source_path = "a", .target_path = "b", .verify = 1, .no_probe = 1};
    parapet_copy_result result;
    parapet_array *array;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_array_create(&array, store, "a",
                                   &(parapet_array_spec){.type = PARAPET_INT32, .ndim = 2, .shape = empty}));
    assert_ok(parapet_array_close(&array));
    request.source = request.target = store;
    assert_ok(parapet_copy(&request, &result));
    assert_int_equal(result.array_bytes, 0);
    assert_true(stored_has(store, "b/zarr.json"));
    stored_close(&store);
}

static void test_copy__plans_are_printed_in_words_in_json_and_as_a_drawing(void **state)
{
    parapet_copy_request request = {
        .source_path = "source", .target_path = "target", .changes = {.chunks = "5,2"}, .no_probe = 1};
    parapet_store *store;
    char *text, *svg;
    int as_json;
    (void)state;
    stored_open(&store, NULL);
    create_source(store, "source", NULL);
    request.source = request.target = store;
    for (as_json = 0; as_json < 2; as_json++) {
        assert_ok(parapet_copy_request_plan_print(&request, as_json, &text, &svg));
        assert_int_equal(text[0] == '{', as_json);
        assert_non_null(strstr(svg, "<svg"));
        parapet_free(text);
        parapet_free(svg);
    }
    request.changes = (parapet_copy_changes){.order = "1,-0"};
    assert_ok(parapet_copy_request_plan_print(&request, 0, &text, NULL));
    assert_non_null(strstr(text, "dim_0,dim_1 to dim_1,-dim_0"));
    parapet_free(text);
    request.changes = (parapet_copy_changes){.chunks = "5,2", .shards = "7,8"};
    refused(parapet_copy_request_plan_print(&request, 0, &text, NULL), "shards: 7 for dim_0 is not a multiple");
    assert_false(stored_has(store, "target/zarr.json"));
    stored_close(&store);
}

/* Requests of a copy, with the machine measured before or not. */
static int64_t count_reads(const char *source_path, int no_probe)
{
    parapet_statistics before, after;
    parapet_copy_request request = {.source_path = source_path, .target_path = "copy", .no_probe = no_probe};
    parapet_store *store;
    stored_open(&store, NULL);
    create_source(store, "group/a", NULL);
    create_source(store, "group/b", NULL);
    request.source = request.target = store;
    assert_ok(parapet_store_get_statistics(store, &before));
    assert_ok(parapet_copy(&request, NULL));
    assert_ok(parapet_store_get_statistics(store, &after));
    stored_close(&store);
    return after.read_requests - before.read_requests;
}

static void test_copy__small_arrays_of_a_hierarchy_are_not_measured_with(void **state)
{
    (void)state;
    assert_true(count_reads("group/a", 0) > count_reads("group/a", 1));
    assert_int_equal(count_reads("group", 0), count_reads("group", 1));
}

static void test_copy__of_a_group_refuses_what_fits_no_array_and_an_array_in_its_place(void **state)
{
    parapet_copy_request request = {.source_path = "from", .target_path = "to", .no_probe = 1};
    parapet_group *group;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_group_create(&group, store, "from", NULL));
    assert_ok(parapet_group_close(&group));
    create_source(store, "from/a", NULL);
    create_source(store, "to", NULL);
    request.source = request.target = store;
    assert_fails(parapet_copy(&request, NULL), PARAPET_ERR_EXISTS, "there is an array");
    request.target_path = "elsewhere";
    request.changes.chunks = "depth/4";
    refused(parapet_copy(&request, NULL), "no array below");
    request.changes = (parapet_copy_changes){.order = "depth,height"};
    refused(parapet_copy(&request, NULL), "no array below");
    request.changes = (parapet_copy_changes){.region = "depth=0:1"};
    refused(parapet_copy(&request, NULL), "");
    stored_close(&store);
}

static void create_group(parapet_store *store, const char *path)
{
    parapet_group *group;
    assert_ok(parapet_group_create(&group, store, path, NULL));
    assert_ok(parapet_group_close(&group));
}

/* One that is empty, one that is only there because of what lies below it, and what is named below others. */
static void test_copy__of_a_group_goes_where_nothing_is_in_the_way(void **state)
{
    parapet_copy_request request = {.source_path = "from", .no_probe = 1};
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_group(store, "from");
    create_group(store, "from/deep");
    create_group(store, "empty");
    create_source(store, "from/deep/a", NULL);
    create_source(store, "from/deep/b", NULL);
    stored_put_text(store, "implied/x/zarr.json", "{\"zarr_format\": 3, \"node_type\": \"group\"}");
    request.source = request.target = store;
    request.include = "deep/a";
    request.target_path = "empty";
    assert_ok(parapet_copy(&request, NULL));
    assert_true(stored_has(store, "empty/deep/a/zarr.json"));
    assert_false(stored_has(store, "empty/deep/b/zarr.json"));
    request.include = NULL;
    request.target_path = "implied";
    assert_ok(parapet_copy(&request, NULL));
    assert_true(stored_has(store, "implied/deep/b/zarr.json"));
    assert_true(stored_has(store, "implied/x/zarr.json"));
    request.target_path = "elsewhere";
    request.changes.shards = "depth/4";
    refused(parapet_copy(&request, NULL), "no array below");
    stored_close(&store);
}

/* Zarr v2 becomes v3, and stays consolidated. */
static void test_copy__of_a_group_of_zarr_v2(void **state)
{
    static const char array[] = "{\"zarr_format\": 2, \"shape\": [4], \"chunks\": [4], \"dtype\": \"<i4\","
                                " \"compressor\": null, \"fill_value\": 7, \"order\": \"C\", \"filters\": null}";
    parapet_copy_request request = {.source_path = "old", .target_path = "new", .no_probe = 1, .verify = 1};
    parapet_store *store;
    char *text;
    size_t bytes;
    (void)state;
    stored_open(&store, NULL);
    stored_put_text(store, "old/.zgroup", "{\"zarr_format\": 2}");
    stored_put_text(store, "old/.zattrs", "{\"title\": \"old\"}");
    stored_put_text(store, "old/a/.zarray", array);
    stored_put_text(store, "old/.zmetadata", "{\"zarr_consolidated_format\": 1, \"metadata\": {}}");
    request.source = request.target = store;
    assert_ok(parapet_copy(&request, NULL));
    assert_true(stored_has(store, "new/a/zarr.json"));
    text = stored_get(store, "new/zarr.json", &bytes);
    assert_non_null(strstr(text, "consolidated_metadata"));
    assert_non_null(strstr(text, "\"title\""));
    pp_free(text);
    stored_close(&store);
}

static void test_file__needs_a_source_a_path_and_a_name_that_tells_the_format(void **state)
{
    parapet_file_request request = {.source_path = "a"};
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_source(store, "a", NULL);
    refused(parapet_file_write(NULL, NULL), "request with a source");
    refused(parapet_file_write(&request, NULL), "request with a source");
    request.source = store;
    refused(parapet_file_write(&request, NULL), "a file");
    request.source_path = NULL;
    request.file = "a.npy";
    refused(parapet_file_write(&request, NULL), "path in the source");
    request.source_path = "a";
    request.file = "a.txt";
    refused(parapet_file_write(&request, NULL), "does not tell its format");
    request.file = "a.npy";
    request.overwrite = 7;
    refused(parapet_file_write(&request, NULL), "overwrite");
    request.overwrite = 0;
    request.verify = 7;
    refused(parapet_file_write(&request, NULL), "verify");
    request.verify = 0;
    request.dry_run = 7;
    refused(parapet_file_write(&request, NULL), "dry_run");
    request.dry_run = 0;
    request.reserved[0] = 7;
    refused(parapet_file_write(&request, NULL), "reserved");
    request.reserved[0] = 0;
    create_group(store, "group");
    stored_put_text(store, "group/broken/zarr.json", "nonsense");
    request.source_path = "group";
    request.file = "a.nc";
    assert_fails(parapet_file_write(&request, NULL), PARAPET_ERR_UNSUPPORTED, "metadata cannot be understood");
    stored_close(&store);
}

#define TEXT_DOCUMENT                                                                                                \
    "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [2], \"data_type\": \"string\", \"fill_value\": "     \
    "\"f\","                                                                                                         \
    " \"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [2]}}, \"chunk_key_encoding\":"   \
    " {\"name\": \"default\"}, \"codecs\": [{\"name\": \"vlen-utf8\"}], \"attributes\": {}}"

static void test_copy__of_an_array_takes_no_names_and_of_text_no_changes(void **state)
{
    parapet_copy_request request = {.source_path = "a", .target_path = "b", .no_probe = 1};
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_source(store, "a", NULL);
    stored_put_text(store, "text/zarr.json", TEXT_DOCUMENT);
    request.source = request.target = store;
    request.include = "c";
    refused(parapet_copy(&request, NULL), "include and exclude are for the copy of a group");
    request.include = NULL;
    request.exclude = "c";
    refused(parapet_copy(&request, NULL), "include and exclude are for the copy of a group");
    request.exclude = NULL;
    request.source_path = "text";
    request.changes = (parapet_copy_changes){.order = "depth"};
    refused(parapet_copy(&request, NULL), "depth");
    request.changes = (parapet_copy_changes){.codec = "none"};
    assert_fails(parapet_copy(&request, NULL), PARAPET_ERR_UNSUPPORTED, "elements of variable length");
    stored_close(&store);
}

/* Boxes smaller than what is written next to each other, of chunks that do not fit, and of nothing. */
static void test_file__is_written_in_boxes_that_fit(void **state)
{
    enum { LEAST = 2 << 20 };
    static const struct {
        int64_t shape[2], chunks[2];
    } cases[] = {{{600, 2000}, {600, 1000}}, {{2, 1100000}, {1, 1100000}}, {{0, 5}, {1, 5}}};
    static int32_t values[2200000];
    char file[64];
    size_t i, k;
    (void)state;
    (void)snprintf(file, sizeof file, "raw:/dev/shm/parapet-boxes-%d", (int)getpid());
    for (k = 0; k < sizeof values / sizeof values[0]; k++)
        values[k] = (int32_t)k + 1;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int64_t start[2] = {0, 0}, count = cases[i].shape[0] * cases[i].shape[1];
        parapet_array_spec spec = {.type = PARAPET_INT32,
                                   .ndim = 2,
                                   .shape = cases[i].shape,
                                   .chunks = cases[i].chunks,
                                   .unsharded = 1,
                                   .codec = "none"};
        parapet_part part = {.ndim = 2, .start = start, .count = cases[i].shape, .data = values};
        parapet_file_request request = {.source_path = "a", .file = file, .overwrite = 1, .verify = 1};
        parapet_array *array;
        parapet_store *store;
        int32_t found;
        FILE *stream;
        stored_open(&store, NULL);
        assert_ok(parapet_array_create(&array, store, "a", &spec));
        assert_ok(parapet_array_write(array, &part, 1));
        assert_ok(parapet_array_close(&array));
        stored_reopen(&store, PARAPET_READ, &(parapet_store_options){.memory_bytes = 4 * (int64_t)LEAST});
        request.source = store;
        assert_ok(parapet_file_write(&request, NULL));
        stored_close(&store);
        stream = fopen(file + strlen("raw:"), "rb");
        assert_non_null(stream);
        for (k = 0; k < (size_t)count; k += 999) {
            assert_int_equal(fseek(stream, (long)(k * sizeof found), SEEK_SET), 0);
            assert_int_equal(fread(&found, sizeof found, 1, stream), 1);
            assert_int_equal(found, values[k]);
        }
        assert_int_equal(fseek(stream, 0, SEEK_END), 0);
        assert_int_equal(ftell(stream), count * (long)sizeof found);
        (void)fclose(stream);
    }
    assert_int_equal(unlink(file + strlen("raw:")), 0);
}

/* Once the copy is complete. */
static int cancel_behind_third(void *context, int64_t done, int64_t total)
{
    (void)context;
    return done > total / 3;
}

static void test_copy__cancelled_while_it_is_verified_is_complete(void **state)
{
    const parapet_store_options options = {.progress = cancel_behind_third};
    parapet_copy_request request = {.source_path = "a", .target_path = "b", .verify = 1, .no_probe = 1, .passes = 1};
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_source(store, "a", NULL);
    stored_reopen(&store, PARAPET_UPDATE, &options);
    request.source = request.target = store;
    assert_fails(parapet_copy(&request, NULL), PARAPET_ERR_CANCELLED, "the copy is complete, but not verified");
    assert_true(stored_has(store, "b/zarr.json"));
    assert_false(stored_has(store, "b/__parapet/copy/job"));
    stored_close(&store);
}

/* What cannot be done is told before anything is made: of one array, of a group, and of their plans. */
static void test_copy__is_refused_before_it_begins(void **state)
{
    static const char *const paths[2] = {"from", "from/a"};
    parapet_store *store, *reading;
    char *text;
    int i;
    (void)state;
    stored_open(&store, NULL);
    create_group(store, "from");
    create_source(store, "from/a", NULL);
    assert_ok(parapet_store_open(&reading, MPI_COMM_NULL, "memory:test", PARAPET_READ, NULL));
    for (i = 0; i < 2; i++) {
        parapet_copy_request request = {
            .source = store, .source_path = paths[i], .target = store, .target_path = "to", .no_probe = 1};
        request.memory_bytes = 1000;
        assert_fails(parapet_copy(&request, NULL), PARAPET_ERR_MEMORY, "at least");
        assert_fails(parapet_copy_request_plan_print(&request, 0, &text, NULL), PARAPET_ERR_MEMORY, "at least");
        request.memory_bytes = 0;
        request.passes = 9;
        refused(parapet_copy(&request, NULL), "passes is 9");
        request.passes = 0;
        request.target = reading;
        refused(parapet_copy(&request, NULL), "open for reading");
        assert_false(stored_has(store, "to/zarr.json"));
    }
    assert_ok(parapet_store_close(&reading));
    stored_close(&store);
}

/* Chunks of fill value are left out of shards, and only of shards; what has no dimensions has none either. */
static void test_copy__without_shards_stores_fill_value(void **state)
{
    static const int64_t start[1] = {0}, length[1] = {12}, chunk[1] = {4};
    static const int32_t zeros[12] = {0};
    const parapet_store_options options = {.elide_fill = 1};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = length, .chunks = chunk, .unsharded = 1};
    parapet_part part = {.ndim = 1, .start = start, .count = length, .data = (void *)(uintptr_t)zeros};
    parapet_copy_request request = {.source_path = "a", .target_path = "b", .verify = 1, .no_probe = 1};
    parapet_array *array;
    parapet_store *store;
    (void)state;
    stored_open(&store, &options);
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_close(&array));
    request.source = request.target = store;
    assert_ok(parapet_copy(&request, NULL));
    assert_true(stored_has(store, "b/c/2"));
    request.target_path = "sharded";
    request.changes.shards = "12";
    assert_ok(parapet_copy(&request, NULL));
    assert_false(stored_has(store, "sharded/c/0"));
    spec = (parapet_array_spec){.type = PARAPET_INT32};
    assert_ok(parapet_array_create(&array, store, "scalar", &spec));
    assert_ok(parapet_array_close(&array));
    request.changes = (parapet_copy_changes){.chunks = "auto"};
    request.source_path = "scalar";
    request.target_path = "other";
    assert_ok(parapet_copy(&request, NULL));
    assert_true(stored_has(store, "other/zarr.json"));
    stored_close(&store);
}

/* Dimensions without names are told by their number. */
static void test_copy__of_dimensions_without_names_is_explained(void **state)
{
    parapet_copy_request request = {
        .source_path = "bare", .target_path = "b", .changes = {.order = "1,-0"}, .no_probe = 1};
    parapet_store *store;
    char *text;
    (void)state;
    stored_open(&store, NULL);
    stored_put_text(store, "bare/zarr.json",
                    "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [6, 4], \"data_type\": \"int32\","
                    " \"fill_value\": 0, \"chunk_grid\": {\"name\": \"regular\", \"configuration\":"
                    " {\"chunk_shape\": [3, 4]}}, \"chunk_key_encoding\": {\"name\": \"default\"},"
                    " \"codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]}");
    request.source = request.target = store;
    assert_ok(parapet_copy_request_plan_print(&request, 0, &text, NULL));
    assert_non_null(strstr(text, "0,1 to 1,-0"));
    parapet_free(text);
    request.changes = (parapet_copy_changes){.shards = "7,4"};
    refused(parapet_copy(&request, NULL), "shards: 7 for dimension 0 is not a multiple");
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy__needs_source_target_and_paths),
        cmocka_unit_test(test_copy__is_read_again_and_compared),
        cmocka_unit_test(test_copy__large_plain_chunks_are_compared_piece_by_piece),
        cmocka_unit_test(test_copy__of_nothing_is_complete),
        cmocka_unit_test(test_copy__of_a_group_refuses_what_fits_no_array_and_an_array_in_its_place),
        cmocka_unit_test(test_copy__of_an_array_takes_no_names_and_of_text_no_changes),
        cmocka_unit_test(test_copy__of_a_group_goes_where_nothing_is_in_the_way),
        cmocka_unit_test(test_copy__of_a_group_of_zarr_v2),
        cmocka_unit_test(test_copy__cancelled_while_it_is_verified_is_complete),
        cmocka_unit_test(test_copy__is_refused_before_it_begins),
        cmocka_unit_test(test_copy__without_shards_stores_fill_value),
        cmocka_unit_test(test_copy__of_dimensions_without_names_is_explained),
        cmocka_unit_test(test_file__is_written_in_boxes_that_fit),
        cmocka_unit_test(test_file__needs_a_source_a_path_and_a_name_that_tells_the_format),
        cmocka_unit_test(test_copy__small_arrays_of_a_hierarchy_are_not_measured_with),
        cmocka_unit_test(test_copy__plans_are_printed_in_words_in_json_and_as_a_drawing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
