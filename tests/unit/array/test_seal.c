/* Sealing: what it records, what it finds out, and what takes it off again. */
#include "support.h"

#include "base/bytes.h"
#include "codec/crc32c.h"
#include "failing.h"
#include "stored.h"

#define SIDE 10

typedef struct bed {
    parapet_store *store;
    parapet_array *array;
    int32_t values[SIDE][SIDE];
} bed;

/* Six shards of 4 x 5, chunks of 2 x 5. */
static const parapet_array_spec square = {
    .type = PARAPET_INT32,
    .ndim = 2,
    .shape = (const int64_t[]){SIDE, SIDE},
    .chunks = (const int64_t[]){2, 5},
    .shards = (const int64_t[]){4, 5},
};

static void write_rows(parapet_array *array, const int32_t *values, int64_t first, int64_t count)
{
    parapet_part part = {.ndim = 2,
                         .start = (int64_t[]){first, 0},
                         .count = (int64_t[]){count, SIDE},
                         .data = (void *)(uintptr_t)values};
    assert_ok(parapet_array_write(array, &part, 1));
}

static parapet_status read_all(parapet_array *array, int32_t *values)
{
    parapet_part part = {.ndim = 2, .start = (int64_t[]){0, 0}, .count = (int64_t[]){SIDE, SIDE}, .data = values};
    return parapet_array_read(array, &part, 1);
}

/* An array whose last row of shards was never written. */
static void set_up(bed *b)
{
    int i, j;
    stored_open(&b->store, NULL);
    assert_ok(parapet_array_create(&b->array, b->store, "a", &square));
    for (i = 0; i < SIDE; i++)
        for (j = 0; j < SIDE; j++)
            b->values[i][j] = i < 8 ? 100 * i + j : 0;
    write_rows(b->array, &b->values[0][0], 0, 8);
}

static void tear_down(bed *b)
{
    assert_ok(parapet_array_close(&b->array));
    stored_close(&b->store);
}

static bool is_sealed(parapet_array *array)
{
    parapet_array_info info;
    assert_ok(parapet_array_get_info(array, &info));
    return info.is_sealed;
}

static parapet_status reopen(bed *b, const parapet_store_options *options)
{
    assert_ok(parapet_array_close(&b->array));
    stored_reopen(&b->store, PARAPET_UPDATE, options);
    return parapet_array_open(&b->array, b->store, "a");
}

static void assert_reads(bed *b)
{
    int32_t found[SIDE][SIDE];
    assert_ok(read_all(b->array, &found[0][0]));
    assert_memory_equal(found, b->values, sizeof found);
}

static void test_seal__holds_after_reopening_and_reads_the_same(void **state)
{
    parapet_check_summary summary;
    bed b;
    (void)state;
    set_up(&b);
    assert_false(is_sealed(b.array));
    assert_ok(parapet_array_seal(b.array));
    assert_true(is_sealed(b.array));
    assert_reads(&b);
    assert_ok(reopen(&b, NULL));
    assert_true(is_sealed(b.array));
    assert_reads(&b);
    assert_ok(parapet_array_check(b.array, PARAPET_CHECK_DATA, NULL, NULL, &summary));
    assert_int_equal(summary.missing + summary.torn + summary.stray, 0);
    assert_int_equal(summary.shards_present, 4);
    tear_down(&b);
}

static void test_seal__can_be_required(void **state)
{
    parapet_store_options options = {.require_sealed = 1};
    bed b;
    (void)state;
    set_up(&b);
    assert_fails(reopen(&b, &options), PARAPET_ERR_MISSING, "require_sealed");
    assert_null(b.array);
    assert_ok(reopen(&b, NULL));
    assert_ok(parapet_array_seal(b.array));
    assert_ok(reopen(&b, &options));
    assert_reads(&b);
    tear_down(&b);
}

static void test_seal__is_taken_off_by_writing(void **state)
{
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_seal(b.array));
    assert_true(stored_has(b.store, "a/__parapet/seal"));
    assert_true(stored_contains(b.store, "a/zarr.json", "sealed"));
    b.values[0][0] = -1;
    write_rows(b.array, &b.values[0][0], 0, 1);
    assert_false(is_sealed(b.array));
    assert_false(stored_has(b.store, "a/__parapet/seal"));
    assert_false(stored_has(b.store, "a/__parapet/manifest"));
    assert_false(stored_contains(b.store, "a/zarr.json", "_parapet"));
    assert_ok(reopen(&b, NULL));
    assert_false(is_sealed(b.array));
    assert_reads(&b);
    tear_down(&b);
}

static void test_seal__is_taken_off_by_resizing_and_on_request(void **state)
{
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_seal(b.array));
    assert_ok(parapet_array_resize(b.array, (int64_t[]){SIDE, SIDE + 1}));
    assert_false(is_sealed(b.array));
    assert_ok(parapet_array_resize(b.array, (int64_t[]){SIDE, SIDE}));
    assert_ok(parapet_array_seal(b.array));
    assert_ok(parapet_array_unseal(b.array));
    assert_false(is_sealed(b.array));
    assert_ok(parapet_array_unseal(b.array));
    assert_ok(reopen(&b, NULL));
    assert_reads(&b);
    assert_fails(parapet_array_seal(NULL), PARAPET_ERR_ARGUMENT, "needs an array");
    assert_fails(parapet_array_unseal(NULL), PARAPET_ERR_ARGUMENT, "needs an array");
    tear_down(&b);
}

static void test_seal__is_kept_by_a_refused_write(void **state)
{
    int32_t value = 1;
    parapet_part outside = {.ndim = 2, .start = (int64_t[]){0, SIDE}, .count = (int64_t[]){1, 1}, .data = &value};
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_seal(b.array));
    assert_fails(parapet_array_write(b.array, &outside, 1), PARAPET_ERR_ARGUMENT, "dimension 1");
    assert_true(is_sealed(b.array));
    assert_ok(reopen(&b, NULL));
    assert_true(is_sealed(b.array));
    tear_down(&b);
}

static void test_seal__is_kept_when_an_attribute_changes(void **state)
{
    char *json;
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_seal(b.array));
    assert_ok(parapet_array_attribute_set(b.array, "units", "\"K\""));
    assert_ok(parapet_array_attribute_set(b.array, "more", "1"));
    assert_ok(parapet_array_attribute_set(b.array, "more", NULL));
    assert_true(is_sealed(b.array));
    assert_ok(reopen(&b, &(parapet_store_options){.require_sealed = 1}));
    assert_reads(&b);
    assert_ok(parapet_array_attribute_get(b.array, NULL, &json));
    assert_null(strstr(json, "_parapet"));
    assert_non_null(strstr(json, "units"));
    parapet_free(json);
    tear_down(&b);
}

static void test_seal__again_changes_nothing(void **state)
{
    static stored_image before, after;
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_seal(b.array));
    stored_image_take(&before, b.store, "a");
    assert_ok(parapet_array_seal(b.array));
    stored_image_take(&after, b.store, "a");
    stored_image_assert_equal(&before, 0, &after, 0);
    stored_image_free(&before);
    stored_image_free(&after);
    tear_down(&b);
}

static void test_seal__of_equal_arrays_is_equal_whatever_their_history(void **state)
{
    static stored_image first, second;
    parapet_array *other;
    int64_t row;
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_create(&other, b.store, "other", &square));
    for (row = 7; row >= 0; row--)
        write_rows(other, &b.values[row][0], row, 1);
    assert_ok(parapet_array_seal(other));
    assert_ok(parapet_array_attribute_set(other, "gone", "1"));
    assert_ok(parapet_array_attribute_set(other, "gone", NULL));
    assert_ok(parapet_array_seal(b.array));
    stored_image_take(&first, b.store, "a");
    stored_image_take(&second, b.store, "other");
    stored_image_assert_equal(&first, strlen("a"), &second, strlen("other"));
    stored_image_free(&first);
    stored_image_free(&second);
    assert_ok(parapet_array_close(&other));
    tear_down(&b);
}

static void test_seal__lists_shards_never_written_as_absent(void **state)
{
    const pp_page_place place = {.record_count = 6, .chunk_count = 2};
    pp_manifest_head head;
    pp_manifest_page page;
    char *seal;
    size_t bytes;
    int i;
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_seal(b.array));
    seal = stored_get(b.store, "a/__parapet/seal", &bytes);
    assert_non_null(seal);
    assert_ok(pp_manifest_head_decode(&head, seal, bytes));
    assert_ok(pp_manifest_page_decode(&page, &place, head.page, head.page_bytes));
    for (i = 0; i < 6; i++) {
        assert_int_equal(page.records[i].bytes == PP_SHARD_ABSENT, i >= 4);
        assert_int_equal(page.records[i].chunk_count, i >= 4 ? 0 : 2);
    }
    pp_manifest_page_clear(&page);
    pp_manifest_head_clear(&head);
    pp_free(seal);
    tear_down(&b);
}

static void move_object(parapet_store *store, const char *from, const char *to)
{
    size_t bytes;
    char *data = stored_get(store, from, &bytes);
    assert_non_null(data);
    stored_put(store, to, data, bytes);
    pp_free(data);
}

static void assert_read_fails(bed *b, parapet_status expected, const char *word)
{
    int32_t found[SIDE][SIDE];
    assert_ok(reopen(b, NULL));
    assert_fails(read_all(b->array, &found[0][0]), expected, word);
}

static void test_seal__finds_a_missing_a_new_a_swapped_and_a_stale_shard(void **state)
{
    bed b;
    (void)state;
    set_up(&b);
    move_object(b.store, "a/c/0/0", "kept/stale");
    b.values[0][0] = 77;
    write_rows(b.array, &b.values[0][0], 0, 1);
    move_object(b.store, "a/c/0/0", "kept/good");
    assert_ok(parapet_array_seal(b.array));
    assert_ok(pp_store_remove(b.store->backend, "a/c/0/0"));
    assert_read_fails(&b, PARAPET_ERR_MISSING, "a/c/0/0 is missing");
    move_object(b.store, "kept/stale", "a/c/0/0");
    assert_read_fails(&b, PARAPET_ERR_CORRUPT, "a/c/0/0 is not the shard that was sealed");
    move_object(b.store, "a/c/0/1", "a/c/0/0");
    assert_read_fails(&b, PARAPET_ERR_CORRUPT, "a/c/0/0 is not the shard that was sealed");
    move_object(b.store, "kept/good", "a/c/0/0");
    move_object(b.store, "a/c/0/1", "a/c/2/1");
    assert_read_fails(&b, PARAPET_ERR_CORRUPT, "a/c/2/1 was not there");
    assert_ok(pp_store_remove(b.store->backend, "a/c/2/1"));
    assert_ok(reopen(&b, NULL));
    assert_reads(&b);
    tear_down(&b);
}

/* Writes the first element. */
static parapet_status write_one(bed *b, int32_t value)
{
    parapet_part part = {.ndim = 2, .start = (int64_t[]){0, 0}, .count = (int64_t[]){1, 1}, .data = &value};
    return parapet_array_write(b->array, &part, 1);
}

static void assert_write_fails(bed *b, parapet_status expected, const char *word)
{
    assert_fails(write_one(b, -1), expected, word);
    assert_true(is_sealed(b->array));
    assert_true(stored_has(b->store, "a/__parapet/seal"));
    assert_true(stored_contains(b->store, "a/zarr.json", "sealed"));
}

static void test_seal__what_a_write_keeps_of_a_shard_is_what_was_sealed(void **state)
{
    bed b;
    (void)state;
    set_up(&b);
    move_object(b.store, "a/c/0/0", "kept/stale");
    b.values[1][0] = 77;
    write_rows(b.array, &b.values[1][0], 1, 1);
    move_object(b.store, "a/c/0/0", "kept/good");
    assert_ok(parapet_array_seal(b.array));
    assert_ok(pp_store_remove(b.store->backend, "a/c/0/0"));
    assert_write_fails(&b, PARAPET_ERR_MISSING, "a/c/0/0 is missing: the array was sealed with it");
    move_object(b.store, "kept/stale", "a/c/0/0");
    assert_write_fails(&b, PARAPET_ERR_CORRUPT, "a/c/0/0 is not the shard that was sealed");
    move_object(b.store, "a/c/0/1", "a/c/0/0");
    assert_write_fails(&b, PARAPET_ERR_CORRUPT, "a/c/0/0 is not the shard that was sealed");
    move_object(b.store, "kept/good", "a/c/0/0");
    assert_ok(write_one(&b, -1));
    assert_false(is_sealed(b.array));
    b.values[0][0] = -1;
    assert_ok(reopen(&b, NULL));
    assert_reads(&b);
    tear_down(&b);
}

static void test_seal__a_write_of_whole_shards_asks_for_no_old_ones(void **state)
{
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_seal(b.array));
    assert_ok(pp_store_remove(b.store->backend, "a/c/0/0"));
    write_rows(b.array, &b.values[0][0], 0, 4);
    assert_false(is_sealed(b.array));
    assert_reads(&b);
    tear_down(&b);
}

static void test_seal__nothing_is_kept_of_a_shard_that_was_not_there(void **state)
{
    int32_t row[SIDE] = {0};
    parapet_part part = {.ndim = 2, .start = (int64_t[]){8, 0}, .count = (int64_t[]){1, SIDE}, .data = row};
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_seal(b.array));
    move_object(b.store, "a/c/0/1", "a/c/2/1");
    assert_fails(parapet_array_write(b.array, &part, 1), PARAPET_ERR_CORRUPT, "a/c/2/1 was not there");
    assert_true(is_sealed(b.array));
    assert_ok(pp_store_remove(b.store->backend, "a/c/2/1"));
    assert_ok(parapet_array_write(b.array, &part, 1));
    assert_reads(&b);
    tear_down(&b);
}

static void test_seal__what_shrinking_keeps_of_a_shard_is_what_was_sealed(void **state)
{
    int64_t shape[] = {3, SIDE};
    bed b;
    (void)state;
    set_up(&b);
    move_object(b.store, "a/c/0/1", "kept/good");
    assert_ok(parapet_array_seal(b.array));
    move_object(b.store, "a/c/0/0", "a/c/0/1");
    assert_fails(parapet_array_resize(b.array, shape), PARAPET_ERR_CORRUPT,
                 "a/c/0/1 is not the shard that was sealed");
    assert_ok(pp_store_remove(b.store->backend, "a/c/0/1"));
    assert_fails(parapet_array_resize(b.array, shape), PARAPET_ERR_MISSING, "a/c/0/1 is missing");
    assert_true(is_sealed(b.array));
    assert_ok(parapet_array_resize(b.array, (int64_t[]){4, SIDE})); /* keeps no shard in part */
    move_object(b.store, "kept/good", "a/c/0/1");
    assert_ok(parapet_array_resize(b.array, (int64_t[]){SIDE, SIDE}));
    (void)memset(b.values[4], 0, sizeof b.values - 4 * sizeof b.values[0]);
    assert_reads(&b);
    tear_down(&b);
}

/* Another job, which writes when the first one has planned and has not yet looked at a shard. */
typedef struct other_job {
    parapet_store *store;
    parapet_array *array;
    int32_t value;
    int64_t row;
    int left;
} other_job;

static int write_beside(void *context, int64_t done_bytes, int64_t total_bytes)
{
    other_job *job = context;
    parapet_part part = {
        .ndim = 2, .start = (int64_t[]){job->row, 0}, .count = (int64_t[]){1, 1}, .data = &job->value};
    (void)done_bytes;
    (void)total_bytes;
    if (job->left-- == 1)
        assert_ok(parapet_array_write(job->array, &part, 1));
    return 0;
}

static void check_write_beside(int64_t row)
{
    other_job job = {.value = -2, .row = row, .left = 1};
    parapet_store_options options = {.progress = write_beside, .progress_context = &job, .threads = 1};
    bed b;
    set_up(&b);
    assert_ok(parapet_array_seal(b.array));
    assert_ok(reopen(&b, &options));
    assert_ok(parapet_store_open(&job.store, MPI_COMM_NULL, "memory:test", PARAPET_UPDATE, NULL));
    assert_ok(parapet_array_open(&job.array, job.store, "a"));
    assert_ok(write_one(&b, -1));
    assert_true(job.left < 1);
    assert_false(is_sealed(b.array));
    assert_ok(parapet_array_close(&job.array));
    assert_ok(parapet_store_close(&job.store));
    b.values[0][0] = -1;
    b.values[row][0] = -2;
    assert_ok(reopen(&b, NULL));
    assert_false(is_sealed(b.array));
    assert_false(stored_has(b.store, "a/__parapet/seal"));
    assert_reads(&b);
    tear_down(&b);
}

static void test_seal__taken_off_beside_a_write_is_no_damage(void **state)
{
    (void)state;
    check_write_beside(1); /* the same shard */
    check_write_beside(5); /* another one */
}

static void flip(parapet_store *store, const char *key, size_t at)
{
    size_t bytes;
    char *data = stored_get(store, key, &bytes);
    assert_non_null(data);
    data[at % bytes] = (char)(data[at % bytes] ^ 4);
    stored_put(store, key, data, bytes);
    pp_free(data);
}

static void test_seal__that_is_damaged_or_missing_is_found_when_opening(void **state)
{
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_seal(b.array));
    flip(b.store, "a/__parapet/seal", 60);
    assert_fails(reopen(&b, NULL), PARAPET_ERR_CORRUPT, "a/__parapet/seal");
    assert_null(b.array);
    flip(b.store, "a/__parapet/seal", 60);
    assert_ok(reopen(&b, NULL));
    assert_ok(pp_store_remove(b.store->backend, "a/__parapet/seal"));
    assert_fails(reopen(&b, NULL), PARAPET_ERR_MISSING, "__parapet/seal is missing");
    tear_down(&b);
}

/* As of a generation that another job removes: the document of the group goes first, that of the array last but for
 * what reserves the group's name. */
static void test_seal__missing_of_an_array_that_goes_is_no_damage(void **state)
{
    parapet_array *array = NULL;
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_create(&array, b.store, "group/a", &square));
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
    assert_ok(pp_store_remove(b.store->backend, "group/a/__parapet/seal"));
    assert_fails(parapet_array_open(&array, b.store, "group/a"), PARAPET_ERR_MISSING, "__parapet/seal is missing");
    stored_put_text(b.store, "group/__parapet/reserved", "");
    assert_ok(pp_store_remove(b.store->backend, "group/zarr.json"));
    assert_fails(parapet_array_open(&array, b.store, "group/a"), PARAPET_ERR_STALE, "group of array \"group/a\"");
    tear_down(&b);
}

/* A sealed array of shards of so many chunks, which are one element each. */
static void set_up_chunks(parapet_store **store, parapet_array **array, int64_t shards, int64_t chunks,
                          bool has_checksum)
{
    static unsigned char values[600000];
    int64_t elements = shards * chunks, i;
    parapet_array_spec spec = {.type = PARAPET_UINT8,
                               .ndim = 1,
                               .shape = &elements,
                               .chunks = (int64_t[]){1},
                               .shards = &chunks,
                               .codec = "none",
                               .no_checksum = has_checksum ? 0 : 1};
    parapet_part whole = {.ndim = 1, .start = (int64_t[]){0}, .count = &elements, .data = values};
    assert_true(elements <= (int64_t)sizeof values);
    for (i = 0; i < elements; i++)
        values[i] = (unsigned char)(i % 251 + 1);
    stored_open(store, NULL);
    assert_ok(parapet_array_create(array, *store, "a", &spec));
    assert_ok(parapet_array_write(*array, &whole, 1));
    assert_ok(parapet_array_seal(*array));
    assert_ok(parapet_array_close(array));
    assert_ok(parapet_array_open(array, *store, "a"));
}

/* More chunks than a head has room for. */
static void set_up_many_chunks(parapet_store **store, parapet_array **array, bool has_checksum)
{
    set_up_chunks(store, array, 2, 1000, has_checksum);
}

static parapet_status read_one(parapet_array *array, int64_t at)
{
    unsigned char value = 0;
    parapet_part part = {.ndim = 1, .start = &at, .count = (int64_t[]){1}, .data = &value};
    parapet_status status = parapet_array_read(array, &part, 1);
    if (status == PARAPET_OK)
        assert_int_equal(value, at % 251 + 1);
    return status;
}

static void test_seal__pages_damaged_or_missing_are_found_when_reading(void **state)
{
    parapet_store *store;
    parapet_array *array;
    (void)state;
    set_up_many_chunks(&store, &array, true);
    flip(store, "a/__parapet/manifest/0", 50);
    assert_fails(read_one(array, 0), PARAPET_ERR_CORRUPT, "a/__parapet/manifest/0");
    assert_ok(pp_store_remove(store->backend, "a/__parapet/manifest/0"));
    assert_fails(read_one(array, 0), PARAPET_ERR_MISSING, "a/__parapet/manifest/0");
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

static void test_seal__a_small_page_has_no_object_of_its_own(void **state)
{
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_seal(b.array));
    assert_true(stored_has(b.store, "a/__parapet/seal"));
    assert_false(stored_has(b.store, "a/__parapet/manifest/0"));
    assert_ok(reopen(&b, NULL));
    assert_reads(&b);
    tear_down(&b);
}

/* An index, a chunk, and the page once. */
static void test_seal__of_many_chunks_costs_a_reader_one_page(void **state)
{
    parapet_store *store;
    parapet_array *array;
    int64_t before;
    int i;
    (void)state;
    set_up_many_chunks(&store, &array, true);
    before = stored_statistics(store).read_requests;
    for (i = 0; i < 10; i++)
        assert_ok(read_one(array, 199 * i));
    assert_int_equal(stored_statistics(store).read_requests - before, 10 * 2 + 1);
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

/* Nine pages of 240 KiB, which six handles would all like to keep. */
static void test_seal__pages_of_many_arrays_are_not_all_kept(void **state)
{
    enum { HANDLES = 6, SHARDS = 9, CHUNKS = 60000 };
    const size_t page = CHUNKS * sizeof(uint32_t) + sizeof(pp_shard_record), limit = (size_t)8 << 20;
    parapet_store *store;
    parapet_array *arrays[HANDLES];
    size_t most = 0;
    int i, shard;
    (void)state;
    set_up_chunks(&store, &arrays[0], SHARDS, CHUNKS, true);
    for (i = 0; i < HANDLES; i++) {
        if (i > 0)
            assert_ok(parapet_array_open(&arrays[i], store, "a"));
        for (shard = 0; shard < SHARDS; shard++) {
            assert_ok(read_one(arrays[i], (int64_t)shard * CHUNKS + i));
            most = store->cached_page_bytes > most ? store->cached_page_bytes : most;
        }
    }
    assert_in_range(most, limit - page, limit + HANDLES * page);
    for (i = 0; i < HANDLES; i++)
        assert_ok(parapet_array_close(&arrays[i]));
    assert_int_equal(store->cached_page_bytes, 0);
    stored_close(&store);
}

static void test_seal__the_long_page_of_one_shard_is_in_the_budget(void **state)
{
    enum { CHUNKS = 300000 };
    parapet_store *store;
    parapet_array *array;
    (void)state;
    set_up_chunks(&store, &array, 1, CHUNKS, true);
    assert_ok(read_one(array, 1));
    assert_true(pp_budget_used(&store->budget) >= CHUNKS * sizeof(uint32_t));
    assert_ok(parapet_array_close(&array));
    assert_int_equal(pp_budget_used(&store->budget), 0);
    stored_close(&store);
}

/* Which may be of any length, whatever its shard needs. */
static void test_seal__a_long_page_that_is_missing_or_another_one_is_damage(void **state)
{
    enum { CHUNKS = 300000 };
    static char other[CHUNKS * 8];
    parapet_store *store;
    parapet_array *array;
    (void)state;
    set_up_chunks(&store, &array, 1, CHUNKS, true);
    stored_put_text(store, "a/__parapet/manifest/0", "no page");
    assert_fails(read_one(array, 1), PARAPET_ERR_CORRUPT, "a/__parapet/manifest/0");
    stored_put(store, "a/__parapet/manifest/0", other, sizeof other);
    assert_fails(read_one(array, 1), PARAPET_ERR_CORRUPT, "more than its shards need");
    assert_ok(pp_store_remove(store->backend, "a/__parapet/manifest/0"));
    assert_fails(read_one(array, 1), PARAPET_ERR_MISSING, "a/__parapet/manifest/0 is missing");
    assert_ok(parapet_array_close(&array));
    assert_int_equal(pp_budget_used(&store->budget), 0);
    stored_close(&store);
}

/* Each time as if for the first time: a page that was read is kept. */
static void test_seal__a_long_page_that_cannot_be_read_is_told(void **state)
{
    enum { CHUNKS = 140000 };
    parapet_store *store;
    parapet_array *array;
    failing by;
    bool has_failed;
    int i;
    (void)state;
    set_up_chunks(&store, &array, 1, CHUNKS, true);
    for (i = 0; i < 2; i++) {
        failing_open(&by, store->backend, i > 0);
        do {
            parapet_status status;
            parapet_array *again;
            assert_ok(parapet_array_open(&again, by.store, "a"));
            failing_begin(&by);
            status = read_one(again, 1);
            has_failed = failing_end(&by);
            assert_true(status == (has_failed ? by.is_memory ? PARAPET_ERR_MEMORY : PARAPET_ERR_IO : PARAPET_OK));
            assert_ok(parapet_array_close(&again));
        } while (has_failed);
        assert_int_equal(pp_budget_used(&by.store->budget), 0);
        failing_close(&by);
    }
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

/* Another shard of the same length and index, of which one chunk differs: who reads that one is told. */
static void check_one_stale_chunk(bool has_checksum)
{
    parapet_store *store;
    parapet_array *array;
    unsigned char value = 99;
    parapet_part part = {.ndim = 1, .start = (int64_t[]){500}, .count = (int64_t[]){1}, .data = &value};
    set_up_many_chunks(&store, &array, has_checksum);
    move_object(store, "a/c/0", "kept/good");
    assert_ok(parapet_array_write(array, &part, 1));
    move_object(store, "a/c/0", "kept/other");
    move_object(store, "kept/good", "a/c/0");
    assert_ok(parapet_array_seal(array));
    move_object(store, "kept/other", "a/c/0");
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_array_open(&array, store, "a"));
    assert_ok(read_one(array, 499));
    assert_ok(read_one(array, 501));
    assert_fails(read_one(array, 500), PARAPET_ERR_CORRUPT, "a/c/0 is not the shard that was sealed");
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

static void test_seal__tells_who_reads_a_chunk_that_is_not_the_one_sealed(void **state)
{
    (void)state;
    check_one_stale_chunk(true);
    check_one_stale_chunk(false);
}

static void change_document(parapet_store *store)
{
    size_t bytes;
    char *text = stored_get(store, "a/zarr.json", &bytes);
    pp_text changed = {0};
    assert_non_null(text);
    pp_text_add(&changed, "%s \n", text);
    stored_put(store, "a/zarr.json", changed.data, changed.bytes);
    pp_text_free(&changed);
    pp_free(text);
}

static void test_seal__broken_by_others_is_found_and_can_be_ignored(void **state)
{
    parapet_store_options ignoring = {.ignore_seal = 1};
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_seal(b.array));
    change_document(b.store);
    assert_fails(reopen(&b, NULL), PARAPET_ERR_CORRUPT, "ignore_seal");
    assert_ok(reopen(&b, &ignoring));
    assert_false(is_sealed(b.array));
    assert_reads(&b);
    assert_fails(reopen(&b, NULL), PARAPET_ERR_CORRUPT, "ignore_seal"); /* reading repairs nothing */
    assert_ok(reopen(&b, &ignoring));
    b.values[1][1] = 5;
    write_rows(b.array, &b.values[1][0], 1, 1);
    assert_ok(reopen(&b, NULL));
    assert_false(is_sealed(b.array));
    assert_reads(&b);
    assert_false(stored_has(b.store, "a/__parapet/seal"));
    assert_false(stored_contains(b.store, "a/zarr.json", "_parapet"));
    assert_ok(parapet_array_seal(b.array));
    assert_ok(reopen(&b, &(parapet_store_options){.require_sealed = 1}));
    tear_down(&b);
}

/* A version that is not known, with the checksum that belongs to it; and more bytes than any seal has. */
static void test_seal__that_cannot_be_understood_can_be_ignored(void **state)
{
    parapet_store_options ignoring = {.ignore_seal = 1};
    char *longest = calloc(1, PP_MANIFEST_HEAD_MOST_BYTES + 1), *data;
    size_t bytes;
    bed b;
    (void)state;
    assert_non_null(longest);
    set_up(&b);
    assert_ok(parapet_array_seal(b.array));
    data = stored_get(b.store, "a/__parapet/seal", &bytes);
    data[8] = 99;
    pp_store_u32le((unsigned char *)data + bytes - 4, pp_crc32c(0, data, bytes - 4));
    stored_put(b.store, "a/__parapet/seal", data, bytes);
    assert_fails(reopen(&b, NULL), PARAPET_ERR_UNSUPPORTED, "has version 99");
    assert_ok(reopen(&b, &ignoring));
    assert_reads(&b);
    stored_put(b.store, "a/__parapet/seal", longest, PP_MANIFEST_HEAD_MOST_BYTES + 1);
    assert_fails(reopen(&b, NULL), PARAPET_ERR_FORMAT, "a/__parapet/seal has");
    assert_ok(reopen(&b, &ignoring));
    assert_reads(&b);
    pp_free(data);
    free(longest);
    tear_down(&b);
}

static void test_seal__ignored_costs_later_writes_nothing(void **state)
{
    parapet_store_options ignoring = {.ignore_seal = 1};
    parapet_statistics before, after;
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_seal(b.array));
    assert_ok(reopen(&b, &ignoring));
    write_rows(b.array, &b.values[0][0], 0, 4);
    before = stored_statistics(b.store);
    write_rows(b.array, &b.values[0][0], 0, 4);
    after = stored_statistics(b.store);
    assert_int_equal(after.objects_written - before.objects_written, 2);
    tear_down(&b);
}

static void test_seal__is_not_ignored_when_storage_fails(void **state)
{
    parapet_store_options ignoring = {.ignore_seal = 1};
    pp_fault_plan plan = {.fail_at = -1, .status = PARAPET_ERR_IO};
    parapet_store *store;
    parapet_array *array;
    pp_store *faulty;
    long at, count;
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_seal(b.array));
    assert_ok(pp_store_faulty_build(&faulty, b.store->backend, &plan));
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, faulty, PARAPET_READ, &ignoring));
    plan.operations = 0;
    assert_ok(parapet_array_open(&array, store, "a"));
    count = plan.operations;
    assert_ok(parapet_array_close(&array));
    for (at = 0; at < count; at++) {
        plan = (pp_fault_plan){.fail_at = at, .status = PARAPET_ERR_IO};
        assert_int_equal(parapet_array_open(&array, store, "a"), PARAPET_ERR_IO);
        assert_null(array);
    }
    plan.fail_at = -1;
    assert_ok(parapet_store_close(&store));
    pp_store_free(faulty);
    tear_down(&b);
}

static void test_seal__of_several_pages_finds_every_shard(void **state)
{
    parapet_array_spec spec = {
        .type = PARAPET_UINT8, .ndim = 1, .shape = (int64_t[]){9000}, .chunks = (int64_t[]){1}, .unsharded = 1};
    static const int64_t written[] = {0, 4095, 4096, 8999};
    unsigned char value = 9, found[9000];
    parapet_part whole = {.ndim = 1, .start = (int64_t[]){0}, .count = (int64_t[]){9000}, .data = found};
    parapet_store *store;
    parapet_array *array;
    size_t i;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    for (i = 0; i < 4; i++) {
        parapet_part part = {.ndim = 1, .start = &written[i], .count = (int64_t[]){1}, .data = &value};
        assert_ok(parapet_array_write(array, &part, 1));
    }
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
    assert_true(stored_has(store, "a/__parapet/manifest/2"));
    assert_ok(parapet_array_open(&array, store, "a"));
    assert_ok(parapet_array_read(array, &whole, 1));
    for (i = 0; i < 9000; i++)
        assert_int_equal(found[i], i == 0 || i == 4095 || i == 4096 || i == 8999 ? 9 : 0);
    assert_ok(pp_store_remove(store->backend, "a/c/4096"));
    assert_fails(parapet_array_read(array, &whole, 1), PARAPET_ERR_MISSING, "a/c/4096");
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

static void test_seal__of_a_scalar_and_of_an_empty_array_holds(void **state)
{
    parapet_array_spec scalar = {.type = PARAPET_INT8}, empty = {.type = PARAPET_INT8, .ndim = 2};
    parapet_store *store;
    parapet_array *array;
    signed char value = 7, found = 0;
    (void)state;
    empty.shape = (int64_t[]){0, 5};
    stored_open(&store, &(parapet_store_options){.require_sealed = 0});
    assert_ok(parapet_array_create(&array, store, "scalar", &scalar));
    assert_ok(parapet_array_write(array, &(parapet_part){.data = &value}, 1));
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_array_create(&array, store, "empty", &empty));
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
    stored_reopen(&store, PARAPET_READ, &(parapet_store_options){.require_sealed = 1});
    assert_ok(parapet_array_open(&array, store, "empty"));
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_array_open(&array, store, "scalar"));
    assert_ok(parapet_array_read(array, &(parapet_part){.data = &found}, 1));
    assert_int_equal(found, 7);
    assert_fails(parapet_array_unseal(array), PARAPET_ERR_ARGUMENT, "open for reading");
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

static void test_seal__is_counted_in_the_statistics(void **state)
{
    parapet_statistics before, after;
    size_t head_bytes, document_bytes;
    bed b;
    (void)state;
    set_up(&b);
    before = stored_statistics(b.store);
    assert_ok(parapet_array_seal(b.array));
    after = stored_statistics(b.store);
    pp_free(stored_get(b.store, "a/__parapet/seal", &head_bytes));
    pp_free(stored_get(b.store, "a/zarr.json", &document_bytes));
    assert_true(after.written_bytes - before.written_bytes >= (int64_t)(2 * head_bytes + document_bytes));
    assert_ok(reopen(&b, NULL));
    assert_true(stored_statistics(b.store).read_bytes >= (int64_t)(head_bytes + document_bytes));
    tear_down(&b);
}

/* More shards than a seal can list: refused before anything is looked at. */
static void test_seal__of_more_shards_than_it_can_list_is_refused(void **state)
{
    static const int64_t vast[1] = {INT64_C(1) << 50}, one[1] = {1};
    const parapet_array_spec spec = {.type = PARAPET_UINT8, .ndim = 1, .shape = vast, .chunks = one, .shards = one};
    parapet_array *array;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    assert_fails(parapet_array_seal(array), PARAPET_ERR_UNSUPPORTED, "");
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

/* Each object of a seal in turn is gone, cut short or far too long: whoever opens, reads or checks is told. */
static void test_seal__damage_of_any_of_its_objects_is_told_by_a_check(void **state)
{
    static char junk[2 << 20];
    static const size_t lengths[3] = {SIZE_MAX /* gone */, 3, sizeof junk};
    static stored_image seen;
    parapet_check_summary summary;
    size_t i, how, told = 0;
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_seal(b.array));
    assert_ok(parapet_array_check(b.array, PARAPET_CHECK_DATA, NULL, NULL, &summary));
    assert_ok(parapet_array_close(&b.array));
    stored_image_take(&seen, b.store, "a/__parapet");
    for (i = 0; i < seen.count; i++)
        for (how = 0; how < 3; how++) {
            parapet_status status;
            if (lengths[how] == SIZE_MAX)
                assert_ok(pp_store_remove(b.store->backend, seen.objects[i].key));
            else
                stored_put(b.store, seen.objects[i].key, junk, lengths[how]);
            status = parapet_array_open(&b.array, b.store, "a");
            if (status == PARAPET_OK)
                status = parapet_array_check(b.array, PARAPET_CHECK_DATA, NULL, NULL, &summary);
            told += status != PARAPET_OK || summary.torn + summary.missing > 0;
            assert_ok(parapet_array_close(&b.array));
            stored_put(b.store, seen.objects[i].key, seen.objects[i].data, seen.objects[i].bytes);
        }
    assert_true(seen.count > 0);
    assert_int_equal(told, 3 * seen.count);
    assert_ok(parapet_array_open(&b.array, b.store, "a"));
    assert_ok(parapet_array_check(b.array, PARAPET_CHECK_DATA, NULL, NULL, &summary));
    assert_int_equal(summary.torn + summary.missing, 0);
    stored_image_free(&seen);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seal__holds_after_reopening_and_reads_the_same),
        cmocka_unit_test(test_seal__can_be_required),
        cmocka_unit_test(test_seal__is_taken_off_by_writing),
        cmocka_unit_test(test_seal__is_taken_off_by_resizing_and_on_request),
        cmocka_unit_test(test_seal__is_kept_by_a_refused_write),
        cmocka_unit_test(test_seal__is_kept_when_an_attribute_changes),
        cmocka_unit_test(test_seal__again_changes_nothing),
        cmocka_unit_test(test_seal__of_equal_arrays_is_equal_whatever_their_history),
        cmocka_unit_test(test_seal__lists_shards_never_written_as_absent),
        cmocka_unit_test(test_seal__finds_a_missing_a_new_a_swapped_and_a_stale_shard),
        cmocka_unit_test(test_seal__what_a_write_keeps_of_a_shard_is_what_was_sealed),
        cmocka_unit_test(test_seal__a_write_of_whole_shards_asks_for_no_old_ones),
        cmocka_unit_test(test_seal__nothing_is_kept_of_a_shard_that_was_not_there),
        cmocka_unit_test(test_seal__what_shrinking_keeps_of_a_shard_is_what_was_sealed),
        cmocka_unit_test(test_seal__taken_off_beside_a_write_is_no_damage),
        cmocka_unit_test(test_seal__that_is_damaged_or_missing_is_found_when_opening),
        cmocka_unit_test(test_seal__missing_of_an_array_that_goes_is_no_damage),
        cmocka_unit_test(test_seal__pages_damaged_or_missing_are_found_when_reading),
        cmocka_unit_test(test_seal__a_small_page_has_no_object_of_its_own),
        cmocka_unit_test(test_seal__of_many_chunks_costs_a_reader_one_page),
        cmocka_unit_test(test_seal__pages_of_many_arrays_are_not_all_kept),
        cmocka_unit_test(test_seal__the_long_page_of_one_shard_is_in_the_budget),
        cmocka_unit_test(test_seal__tells_who_reads_a_chunk_that_is_not_the_one_sealed),
        cmocka_unit_test(test_seal__broken_by_others_is_found_and_can_be_ignored),
        cmocka_unit_test(test_seal__a_long_page_that_is_missing_or_another_one_is_damage),
        cmocka_unit_test(test_seal__a_long_page_that_cannot_be_read_is_told),
        cmocka_unit_test(test_seal__that_cannot_be_understood_can_be_ignored),
        cmocka_unit_test(test_seal__ignored_costs_later_writes_nothing),
        cmocka_unit_test(test_seal__is_not_ignored_when_storage_fails),
        cmocka_unit_test(test_seal__of_several_pages_finds_every_shard),
        cmocka_unit_test(test_seal__of_a_scalar_and_of_an_empty_array_holds),
        cmocka_unit_test(test_seal__is_counted_in_the_statistics),
        cmocka_unit_test(test_seal__of_more_shards_than_it_can_list_is_refused),
        cmocka_unit_test(test_seal__damage_of_any_of_its_objects_is_told_by_a_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
