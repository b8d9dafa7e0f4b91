/* A copy of an array of 2^50 elements, of which a few shards are stored, is interrupted at every report and resumed:
 * it takes as long as what is stored, and has the same chunks as the source. */
#include "support.h"

#include <parapet.h>

#include "array/open.h"

enum { PLACES = 12, BOX = 64, REPORTS_MOST = 200 };

#define SIDE ((int64_t)1 << 25)

static const int64_t box[2] = {BOX, BOX};

static void place_of(int number, int64_t start[2])
{
    start[0] = SIDE / PLACES * number / BOX * BOX;
    start[1] = SIDE - BOX * (1 + (int64_t)number * number * 1000);
}

static parapet_store *open_over(pp_store *backend, const parapet_store_options *options)
{
    parapet_store *store;
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, backend, PARAPET_CREATE, options));
    return store;
}

static void make_source(parapet_store *store)
{
    const int64_t shape[2] = {SIDE, SIDE};
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = box, .unsharded = 1, .codec = "none"};
    int32_t values[BOX * BOX];
    int64_t start[2];
    parapet_part part = {.ndim = 2, .start = start, .count = box, .data = values};
    parapet_array *array;
    int number, i;
    assert_ok(parapet_array_create(&array, store, "s", &spec));
    for (number = 0; number < PLACES; number++) {
        for (i = 0; i < BOX * BOX; i++)
            values[i] = number * 100000 + i + 1;
        place_of(number, start);
        assert_ok(parapet_array_write(array, &part, 1));
    }
    assert_ok(parapet_array_close(&array));
}

static int count_box(void *context, const int64_t *start, const int64_t *count)
{
    (void)start;
    (void)count;
    ++*(int *)context;
    return 0;
}

static void expect_copied(pp_store *backend)
{
    int32_t values[BOX * BOX];
    int64_t start[2];
    parapet_part part = {.ndim = 2, .start = start, .count = box, .data = values};
    parapet_store *store = open_over(backend, NULL);
    parapet_array *array;
    int number, i, stored = 0;
    assert_ok(parapet_array_open(&array, store, "t"));
    for (number = 0; number < PLACES; number++) {
        place_of(number, start);
        assert_ok(parapet_array_read(array, &part, 1));
        for (i = 0; i < BOX * BOX; i++)
            assert_int_equal(values[i], number * 100000 + i + 1);
    }
    assert_ok(parapet_array_list(array, count_box, &stored));
    assert_true(stored >= 1 && stored <= 2 * PLACES);
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&store));
}

typedef struct cancelling {
    long at, calls;
} cancelling;

static int cancel(void *context, int64_t done, int64_t total)
{
    cancelling *plan = context;
    (void)done;
    (void)total;
    return plan->calls++ == plan->at;
}

static parapet_status copy(pp_store *source, pp_store *target, cancelling *plan, parapet_copy_result *result)
{
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE, .threads = 1};
    parapet_copy_request request = {.source_path = "s",
                                    .target_path = "t",
                                    .changes = {.chunks = "32,128", .shards = "128,128"},
                                    .unit_bytes = 1 << 16,
                                    .resume = 1,
                                    .no_probe = 1};
    parapet_status status;
    request.source = open_over(source, &options);
    options.progress = cancel;
    options.progress_context = plan;
    request.target = open_over(target, &options);
    status = parapet_copy(&request, result);
    (void)parapet_store_close(&request.target);
    (void)parapet_store_close(&request.source);
    return status;
}

static void test_resume__of_a_sparse_copy_goes_on_where_it_was(void **context)
{
    parapet_store *store;
    pp_store *source, *target;
    parapet_copy_result result;
    int64_t resumed = 0;
    long at;
    bool is_cancelled = true;
    (void)context;
    assert_ok(pp_store_memory_build(&source, NULL));
    store = open_over(source, NULL);
    make_source(store);
    assert_ok(parapet_store_close(&store));
    for (at = 0; is_cancelled && at < REPORTS_MOST; at++) {
        cancelling first = {.at = at}, second = {.at = -1};
        parapet_status status;
        assert_ok(pp_store_memory_build(&target, NULL));
        status = copy(source, target, &first, &result);
        is_cancelled = status == PARAPET_ERR_CANCELLED;
        if (is_cancelled)
            assert_ok(copy(source, target, &second, &result));
        else
            assert_ok(status);
        resumed += is_cancelled ? result.templates_resumed : 0;
        expect_copied(target);
        pp_store_free(target);
    }
    pp_store_free(source);
    printf("cancelled at %ld reports, %lld templates were not made again\n", at - 1, (long long)resumed);
    assert_true(at > 3 && at < REPORTS_MOST && resumed > 0);
}

/* Of a region, only what is stored in it; verified, and in another order. */
static void test_sparse__a_region_takes_along_what_is_stored_in_it(void **context)
{
    parapet_copy_request request = {.source_path = "s", .target_path = "t", .verify = 1, .no_probe = 1};
    int32_t values[BOX * BOX];
    int64_t at[2], start[2], stored = 0;
    parapet_part part = {.ndim = 2, .start = start, .count = box, .data = values};
    pp_store *source, *target;
    parapet_array *array;
    char region[96];
    int number, boxes = 0;
    (void)context;
    assert_ok(pp_store_memory_build(&source, NULL));
    assert_ok(pp_store_memory_build(&target, NULL));
    request.source = open_over(source, NULL);
    make_source(request.source);
    request.target = open_over(target, NULL);
    (void)snprintf(region, sizeof region, "0:%lld,:", (long long)SIDE / 2);
    request.changes = (parapet_copy_changes){.region = region, .order = "1,-0"};
    assert_ok(parapet_copy(&request, NULL));
    assert_ok(parapet_array_open(&array, request.target, "t"));
    for (number = 0; number < PLACES; number++) {
        place_of(number, at);
        if (at[0] + BOX > SIDE / 2)
            continue;
        stored++;
        start[0] = at[1];
        start[1] = SIDE / 2 - at[0] - BOX;
        assert_ok(parapet_array_read(array, &part, 1));
        assert_int_equal(values[0], number * 100000 + (BOX - 1) * BOX + 1);
        assert_int_equal(values[BOX * BOX - 1], number * 100000 + BOX);
    }
    assert_ok(parapet_array_list(array, count_box, &boxes));
    assert_true(stored > 1 && stored < PLACES && boxes >= 1 && boxes <= 4 * stored);
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&request.target));
    assert_ok(parapet_store_close(&request.source));
    pp_store_free(target);
    pp_store_free(source);
}

/* Every rank reads alone, in one pass, and lists of what is stored are within the limit. */
static void test_sparse__what_cannot_be_forced_is_refused(void **context)
{
    parapet_copy_request request = {.source_path = "s", .target_path = "t", .no_probe = 1};
    pp_store *source, *target;
    (void)context;
    assert_ok(pp_store_memory_build(&source, NULL));
    assert_ok(pp_store_memory_build(&target, NULL));
    request.source = open_over(source, NULL);
    make_source(request.source);
    request.target = open_over(target, NULL);
    request.cooperation = PARAPET_COOPERATION_TOGETHER;
    assert_fails(parapet_copy(&request, NULL), PARAPET_ERR_ARGUMENT, "asks for cooperation");
    request.cooperation = PARAPET_COOPERATION_CHOOSE;
    request.passes = 2;
    assert_fails(parapet_copy(&request, NULL), PARAPET_ERR_ARGUMENT, "more than one pass");
    assert_ok(parapet_store_close(&request.target));
    assert_ok(parapet_store_close(&request.source));
    pp_store_free(target);
    pp_store_free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_resume__of_a_sparse_copy_goes_on_where_it_was),
                                       cmocka_unit_test(test_sparse__a_region_takes_along_what_is_stored_in_it),
                                       cmocka_unit_test(test_sparse__what_cannot_be_forced_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
