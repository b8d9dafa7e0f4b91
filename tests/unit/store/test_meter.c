#include "scratch.h"

#include <pthread.h>

#include "hand_clock.h"
#include "store/meter.h"
#include "stores/throttled.h"

#define STEP_S 0.25 /* that every operation takes: a number that sums exactly */

static pp_store *memory, *store;
static pp_meter meter;

static int open_stores(void **state)
{
    pp_throttle slow = {.latency_s = STEP_S};
    (void)state;
    assert_ok(pp_store_memory_build(&memory, NULL));
    assert_ok(pp_store_throttled_build(&store, memory, &slow));
    hand_clock_take(false);
    pp_meter_init(&meter);
    store->meter = &meter;
    return 0;
}

static int close_stores(void **state)
{
    (void)state;
    assert_int_equal(meter.under_way, 0);
    pp_store_free(store);
    pp_store_free(memory);
    pp_meter_destroy(&meter);
    hand_clock_drop();
    return 0;
}

static double measured;

static void start(void)
{
    measured = pp_meter_seconds(&meter);
}

/* That so many operations were measured since start, and nothing of the time between them. */
static void assert_measured(int operations)
{
    assert_true(pp_meter_seconds(&meter) - measured == operations * STEP_S);
    hand_clock_move(PP_SECOND_NS);
}

static void test_meter__measures_every_call_of_a_writer(void **state)
{
    pp_write_request request = {.key = "a", .staging = "tmp", .name = "part", .is_small = true};
    pp_writer *writer;
    (void)state;
    start();
    assert_ok(pp_store_begin(store, &request, &writer));
    assert_measured(1);
    assert_ok(pp_writer_append(writer, "1234", 4));
    assert_measured(2);
    assert_ok(pp_writer_sync(writer));
    assert_measured(3);
    pp_writer_suspend(writer);
    assert_ok(pp_store_resume(store, &request, 4, &writer));
    assert_measured(4);
    assert_ok(pp_writer_stage(writer));
    assert_measured(5);
    assert_ok(pp_writer_publish(writer, PP_PUBLISH_REPLACE));
    assert_measured(6);
    pp_writer_free(writer);
    assert_ok(pp_store_sync_dirs(store));
    assert_measured(7);
}

static void test_meter__measures_readers_logs_and_removing(void **state)
{
    pp_reader *reader;
    pp_log *log;
    char text[4];
    (void)state;
    start();
    assert_ok(pp_store_open_log(store, "a", 0, &log));
    assert_ok(pp_log_append(log, "1234", 4));
    pp_log_close(log);
    assert_measured(2);
    assert_ok(pp_store_open_object(store, "a", &reader));
    assert_ok(pp_reader_read(reader, 0, 4, text));
    pp_reader_free(reader);
    assert_measured(4);
    assert_ok(pp_store_move(store, "a", "b"));
    assert_ok(pp_store_remove(store, "b"));
    assert_ok(pp_store_remove_prefix(store, "a"));
    assert_ok(pp_store_remove_empty(store, "a"));
    assert_measured(8);
    assert_fails(pp_store_remove(store, "b"), PARAPET_ERR_NOT_FOUND, "b");
    assert_measured(9);
}

static void test_meter__leaves_out_lists_locks_and_what_is_not_asked_of_storage(void **state)
{
    char names[1024] = "";
    pp_lock *lock;
    (void)state;
    start();
    assert_ok(pp_store_list(store, "", note_name, names));
    assert_ok(pp_store_open_lock(store, "lock", &lock));
    pp_lock_close(lock);
    assert_fails(pp_store_remove(store, "a//b"), PARAPET_ERR_ARGUMENT, "empty component");
    assert_measured(0);
}

static void *sync_often(void *context)
{
    int i;
    (void)context;
    for (i = 0; i < 5; i++)
        (void)pp_store_sync_dirs(store);
    return NULL;
}

/* Four threads that wait for one disk have not waited four times as long. */
static void test_meter__counts_time_of_several_threads_once(void **state)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int i;
    (void)state;
    start();
    for (i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, sync_often, NULL), 0);
    for (i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_measured(5 * THREADS);
}

static void test_meter__knows_what_is_under_way(void **state)
{
    (void)state;
    start();
    pp_meter_begin(&meter);
    assert_ok(pp_store_sync_dirs(store));
    assert_measured(1);
    assert_int_equal(pp_meter_end(&meter, PARAPET_ERR_IO), PARAPET_ERR_IO);
    assert_measured(1 + (int)(1 / STEP_S)); /* with the second before the end */
}

#define OPENED(name) cmocka_unit_test_setup_teardown(name, open_stores, close_stores)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OPENED(test_meter__measures_every_call_of_a_writer),
        OPENED(test_meter__measures_readers_logs_and_removing),
        OPENED(test_meter__leaves_out_lists_locks_and_what_is_not_asked_of_storage),
        OPENED(test_meter__counts_time_of_several_threads_once),
        OPENED(test_meter__knows_what_is_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
