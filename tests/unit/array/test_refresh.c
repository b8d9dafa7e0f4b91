/* Documents that another job replaces while they are being read. */
#include "support.h"

#include "failing.h"
#include "stored.h"
#include "stores/wrapper.h"

/* A store in which the document of the array "a" becomes another one each time that it is opened, so many times. */
typedef struct restless {
    pp_wrapper wrapper;
    int changes_left, changes_done;
} restless;

static void replace_document(restless *self)
{
    static const pp_write_request request = {.key = "a/zarr.json", .staging = "__foreign", .is_small = true};
    size_t bytes;
    char *text;
    assert_ok(pp_store_read_all(self->wrapper.inner, request.key, 1 << 20, &text, &bytes));
    assert_ok(pp_reallocate(&text, bytes + 1));
    text[bytes] = ' '; /* which means nothing */
    assert_ok(pp_store_write_all(self->wrapper.inner, &request, text, bytes + 1, PP_PUBLISH_REPLACE));
    pp_free(text);
    self->changes_left--;
    self->changes_done++;
}

static parapet_status begin(pp_wrapper *wrapper, pp_operation *operation)
{
    restless *self = (restless *)wrapper;
    if (self->changes_left > 0 && strcmp(operation->name, "open") == 0 && strcmp(operation->key, "a/zarr.json") == 0)
        replace_document(self);
    return PARAPET_OK;
}

static parapet_status end(pp_wrapper *wrapper, const pp_operation *operation, parapet_status status)
{
    (void)wrapper;
    (void)operation;
    return status;
}

static void release(pp_wrapper *wrapper)
{
    (void)wrapper;
}

/* A sealed array in such a store, which is open for reading; its seal is whole, or has lost its first page. */
static void open_restless(restless *self, parapet_store **store, bool is_damaged)
{
    static const pp_wrapper_hooks hooks = {.name = "restless", .begin = begin, .end = end, .free = release};
    static const int64_t shape = 4, start = 0;
    int32_t data[4] = {1, 2, 3, 4};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = &shape};
    parapet_part part = {.ndim = 1, .start = &start, .count = &shape, .data = data};
    parapet_array *array;
    pp_store *inner;
    assert_ok(pp_store_memory_build(&inner, NULL));
    assert_ok(pp_store_open_over(store, MPI_COMM_NULL, inner, PARAPET_CREATE, NULL));
    assert_ok(parapet_array_create(&array, *store, "a", &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
    if (is_damaged)
        assert_ok(pp_store_remove_prefix(inner, "a/__parapet"));
    assert_ok(parapet_store_close(store));
    *self = (restless){0};
    pp_wrapper_init(&self->wrapper, inner, &hooks);
    assert_ok(pp_store_open_over(store, MPI_COMM_NULL, &self->wrapper.store, PARAPET_READ, NULL));
}

static void close_restless(restless *self, parapet_store **store)
{
    assert_ok(parapet_store_close(store));
    pp_store_free(self->wrapper.inner);
}

/* What was sealed is told only if the document stays as it is. */
static void test_refresh__a_seal_that_does_not_fit_is_damage_only_of_a_document_that_stays(void **state)
{
    parapet_array *array;
    parapet_store *store;
    restless self;
    (void)state;
    open_restless(&self, &store, true);
    assert_int_equal(parapet_array_open(&array, store, "a"), PARAPET_ERR_MISSING);
    self.changes_left = 3;
    assert_int_equal(parapet_array_open(&array, store, "a"), PARAPET_ERR_MISSING);
    assert_int_equal(self.changes_done, 3);
    self.changes_left = 100000;
    assert_fails(parapet_array_open(&array, store, "a"), PARAPET_ERR_STALE, "keeps changing it");
    assert_null(array);
    assert_true(self.changes_done < 1000);
    close_restless(&self, &store);
}

/* Not a byte of the document may be another one, whatever it says, and however often it was replaced. */
static void test_refresh__a_document_that_was_not_sealed_is_damage(void **state)
{
    parapet_array *array;
    parapet_store *store;
    restless self;
    (void)state;
    open_restless(&self, &store, false);
    assert_ok(parapet_array_open(&array, store, "a"));
    assert_ok(parapet_array_close(&array));
    self.changes_left = 4;
    assert_fails(parapet_array_open(&array, store, "a"), PARAPET_ERR_CORRUPT, "not the one that was sealed");
    assert_int_equal(self.changes_done, 4);
    assert_null(array);
    close_restless(&self, &store);
}

/* ---- Failures ---- */

static parapet_status read_first(parapet_array *array, bool is_local)
{
    static const int64_t start = 0, count = 1;
    int32_t value;
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = &value};
    return is_local ? parapet_array_read_local(array, &part, 1) : parapet_array_read(array, &part, 1);
}

static void read_damaged(parapet_store *store, bool is_local, bool is_memory)
{
    parapet_array *array;
    parapet_status status;
    failing by;
    bool has_failed;
    failing_open(&by, store->backend, is_memory);
    assert_ok(parapet_array_open(&array, by.store, "g/a"));
    do {
        failing_begin(&by);
        status = read_first(array, is_local);
        has_failed = failing_end(&by);
        assert_true(status == PARAPET_ERR_CORRUPT ||
                    (has_failed && status == (is_memory ? PARAPET_ERR_MEMORY : PARAPET_ERR_IO)));
    } while (has_failed);
    assert_ok(parapet_array_close(&array));
    failing_close(&by);
}

/* Whether another job is the reason cannot always be found out: what was read is damaged all the same. */
static void test_refresh__damage_is_told_whatever_fails_when_its_reason_is_looked_for(void **state)
{
    static const int64_t shape = 4, start = 0;
    int32_t data[4] = {1, 2, 3, 4};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = &shape};
    parapet_part part = {.ndim = 1, .start = &start, .count = &shape, .data = data};
    parapet_array *array;
    parapet_store *store;
    int i;
    (void)state;
    for (i = 0; i < 8; i++) {
        stored_open(&store, NULL);
        assert_ok(parapet_array_create(&array, store, "g/a", &spec));
        assert_ok(parapet_array_write(array, &part, 1));
        if (i / 4 > 0)
            assert_ok(parapet_array_seal(array));
        assert_ok(parapet_array_close(&array));
        stored_put_text(store, "g/a/c/0", "torn");
        read_damaged(store, i / 2 % 2 > 0, i % 2 > 0);
        stored_close(&store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refresh__a_seal_that_does_not_fit_is_damage_only_of_a_document_that_stays),
        cmocka_unit_test(test_refresh__a_document_that_was_not_sealed_is_damage),
        cmocka_unit_test(test_refresh__damage_is_told_whatever_fails_when_its_reason_is_looked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
