/* A copy tells storage what it reads next: all of it before it reads it, across the bounds of its items, and no more
 * ahead than is worth it. */
#include "support.h"

#include <parapet.h>

#include "array/open.h"
#include "stores/wrapper.h"
#include "transfer/requests.h"

enum { SIDE = 1024, SHARD = 512, RANGES_MOST = 1 << 16 };

/* Bytes of an object. */
typedef struct range {
    const pp_reader *reader;
    uint64_t start, end;
} range;

/* A store that follows what it is told of, and what of that is read. Threads of a copy ask it, so the test judges
 * later.
 */
typedef struct noting_store {
    pp_wrapper wrapper;
    parapet_status (*read)(pp_reader *reader, uint64_t offset, size_t bytes, void *target);
    range told[RANGES_MOST];
    size_t told_count;
    int64_t told_bytes, read_bytes, ahead_most; /* of what was told: all, and what was read */
    int64_t read_count, untold;                 /* reads; those of which not all was told */
} noting_store;

static noting_store noting;

static parapet_status allow(pp_wrapper *wrapper, pp_operation *operation)
{
    (void)wrapper;
    (void)operation;
    return PARAPET_OK;
}

static parapet_status keep_status(pp_wrapper *wrapper, const pp_operation *operation, parapet_status status)
{
    (void)wrapper;
    (void)operation;
    return status;
}

static void note_expected(pp_reader *reader, uint64_t offset, size_t bytes)
{
    if (noting.told_count < RANGES_MOST)
        noting.told[noting.told_count++] = (range){reader, offset, offset + bytes};
    noting.told_bytes += (int64_t)bytes;
    if (noting.told_bytes - noting.read_bytes > noting.ahead_most)
        noting.ahead_most = noting.told_bytes - noting.read_bytes;
}

static bool was_told(const range *read)
{
    uint64_t known = read->start;
    size_t i = noting.told_count;
    while (i > 0 && known < read->end) {
        const range *told = &noting.told[--i];
        if (told->reader != read->reader || told->start > known || told->end <= known)
            continue;
        known = told->end;
        i = noting.told_count;
    }
    return known >= read->end;
}

static parapet_status note_read(pp_reader *reader, uint64_t offset, size_t bytes, void *target)
{
    bool is_told = was_told(&(range){reader, offset, offset + bytes});
    noting.read_bytes += is_told ? (int64_t)bytes : 0;
    noting.read_count++;
    noting.untold += !is_told;
    return noting.read(reader, offset, bytes, target);
}

static void make_source(parapet_store *store, int64_t chunk)
{
    static int32_t values[SIDE][SIDE];
    parapet_array_spec spec = {.type = PARAPET_INT32,
                               .ndim = 2,
                               .shape = (int64_t[]){SIDE, SIDE},
                               .chunks = (int64_t[]){chunk, chunk},
                               .shards = (int64_t[]){SHARD, SHARD},
                               .no_checksum = 1,
                               .codec = "none"};
    parapet_part part = {.ndim = 2, .start = (int64_t[]){0, 0}, .count = (int64_t[]){SIDE, SIDE}, .data = values};
    parapet_array *array;
    int i, j;
    for (i = 0; i < SIDE; i++)
        for (j = 0; j < SIDE; j++)
            values[i][j] = 1 + i * SIDE + j;
    assert_ok(parapet_array_create(&array, store, "source", &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_close(&array));
}

/* Copies in one pass. Only documents and indexes of shards are read without telling. */
static void copy_noted(int64_t chunk, int64_t memory_bytes, int threads, int64_t requests, int64_t least_ahead)
{
    static const pp_wrapper_hooks hooks = {.name = "noting", .begin = allow, .end = keep_status};
    parapet_store_options options = {.threads = threads};
    parapet_copy_request request = {.source_path = "source",
                                    .target_path = "copy",
                                    .changes = {.chunks = "1024,64", .shards = "none"},
                                    .memory_bytes = memory_bytes,
                                    .no_probe = true,
                                    .passes = 1};
    parapet_copy_result result;
    parapet_store *store;
    pp_store *memory;
    assert_ok(pp_store_memory_build(&memory, NULL));
    memset(&noting, 0, sizeof noting);
    pp_wrapper_init(&noting.wrapper, memory, &hooks);
    noting.read = noting.wrapper.ops.read;
    noting.wrapper.ops.read = note_read;
    noting.wrapper.ops.expect = note_expected;
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, &noting.wrapper.store, PARAPET_CREATE, &options));
    make_source(store, chunk);
    noting.untold = noting.read_count = 0;
    request.source = request.target = store;
    assert_ok(parapet_copy(&request, &result));
    assert_int_equal(result.read_requests, requests);
    assert_int_equal(noting.read_count - noting.untold, requests);
    assert_int_equal(noting.told_bytes, noting.read_bytes);
    assert_true(noting.ahead_most <= (int64_t)PP_BYTES_AHEAD * 9 / 8);
    assert_true(noting.ahead_most >= least_ahead);
    assert_ok(parapet_store_close(&store));
    pp_store_free(memory);
}

static void test_told__whole_chunks_are_told_before_they_are_read(void **state)
{
    (void)state;
    copy_noted(64, 64 << 20, 1, 256, PP_BYTES_AHEAD / 2);
    copy_noted(64, 64 << 20, 2, 256, PP_BYTES_AHEAD / 2);
}

/* A source chunk takes all of the memory, so of each only rows of 64 elements are read, 128 KiB in all. */
static void test_told__parts_of_chunks_are_told_before_they_are_read(void **state)
{
    (void)state;
    copy_noted(SHARD, 1 << 20, 1, 16384, 128 << 10);
    copy_noted(SHARD, 1 << 20, 2, 16384, 128 << 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told__whole_chunks_are_told_before_they_are_read),
        cmocka_unit_test(test_told__parts_of_chunks_are_told_before_they_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
