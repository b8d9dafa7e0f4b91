/* A process alone has storage fetch the next chunks while it decodes some: in what order it asks. */
#include "support.h"

#include <parapet.h>

#include "array/open.h"
#include "stores/wrapper.h"

enum { SHARDS = 3, SHARD_ELEMENTS = 8, CHUNK_ELEMENTS = 4 };

/* A store that notes what it is asked for about shards. */
typedef struct noting_store {
    pp_wrapper wrapper;
    char notes[512];
} noting_store;

static void note(pp_store *store, const char *what, const char *key)
{
    noting_store *self = (noting_store *)store;
    size_t used = strlen(self->notes);
    assert_true((size_t)snprintf(self->notes + used, sizeof self->notes - used, "%s%s; ", what, key) <
                sizeof self->notes - used);
}

static parapet_status note_operation(pp_wrapper *wrapper, pp_operation *operation)
{
    if (operation->key != NULL && strncmp(operation->key, "a/c/", 4) == 0)
        note(&wrapper->store, operation->name, operation->key + 3);
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
    (void)offset;
    (void)bytes;
    note(reader->store, "expect", "");
}

static void make_array(parapet_store *store, parapet_array **array)
{
    int64_t shape = SHARDS * SHARD_ELEMENTS, chunks = CHUNK_ELEMENTS, shards = SHARD_ELEMENTS, start = 0;
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 1, .shape = &shape, .chunks = &chunks, .shards = &shards, .codec = "none"};
    int32_t values[SHARDS * SHARD_ELEMENTS];
    parapet_part part = {.ndim = 1, .start = &start, .count = &shape, .data = values};
    int i;
    for (i = 0; i < SHARDS * SHARD_ELEMENTS; i++)
        values[i] = i;
    assert_ok(parapet_array_create(array, store, "a", &spec));
    assert_ok(parapet_array_write(*array, &part, 1));
}

/* What is asked for to read all, with storage in this process and one thread. */
static void assert_order(const char *expected)
{
    static const pp_wrapper_hooks hooks = {.name = "noting", .begin = note_operation, .end = keep_status};
    parapet_store_options options = {.threads = 1};
    int64_t start = 0, count = SHARDS * SHARD_ELEMENTS;
    int32_t found[SHARDS * SHARD_ELEMENTS] = {0};
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = found};
    noting_store noting = {0};
    parapet_store *store;
    parapet_array *array;
    pp_store *memory;
    int i;
    assert_ok(pp_store_memory_build(&memory, NULL));
    pp_wrapper_init(&noting.wrapper, memory, &hooks);
    noting.wrapper.ops.expect = note_expected;
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, &noting.wrapper.store, PARAPET_CREATE, &options));
    make_array(store, &array);
    noting.notes[0] = '\0';
    assert_ok(parapet_array_read_local(array, &part, 1));
    assert_string_equal(noting.notes, expected);
    for (i = 0; i < SHARDS * SHARD_ELEMENTS; i++)
        assert_int_equal(found[i], i);
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&store));
    pp_store_free(memory);
}

/* The last chunks of a shard are decoded while storage fetches the first ones of the next. */
static void test_read_ahead__opens_the_next_shard_first(void **state)
{
    (void)state;
    assert_order("open/0; read/0; expect; expect; open/1; read/1; expect; expect; read/0; open/2; read/2; "
                 "expect; expect; read/1; read/2; ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_ahead__opens_the_next_shard_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
