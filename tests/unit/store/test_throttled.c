#include "scratch.h"

#include "base/clock.h"
#include "stores/throttled.h"

enum { RATE = 1000, LATENCY_MS = 10, TEXT_BYTES = 5 }; /* bytes a second */

#define MS INT64_C(1000000) /* in nanoseconds */

/* A clock that stands still unless somebody sleeps. */
typedef struct still_clock {
    int64_t now_ns;
    int64_t late_ns;       /* how much too late sleepers are woken */
    pp_reader *read_along; /* is read from once, while the next sleeper sleeps: two operations at once */
    int64_t due_ns;        /* of the last sleeper that began */
} still_clock;

static still_clock still;

static int64_t still_now(void *context)
{
    return ((const still_clock *)context)->now_ns;
}

static void still_sleep(void *context, int64_t due_ns)
{
    still_clock *self = context;
    pp_reader *along = self->read_along;
    char text[TEXT_BYTES];
    self->due_ns = due_ns;
    self->read_along = NULL;
    if (along != NULL)
        assert_ok(pp_reader_read(along, 0, TEXT_BYTES, text));
    assert_true(due_ns > self->now_ns || along != NULL);
    if (self->now_ns < due_ns + self->late_ns)
        self->now_ns = due_ns + self->late_ns;
}

static const pp_clock still_times = {.now_ns = still_now, .sleep_until_ns = still_sleep, .context = &still};

static pp_store *memory, *store;
static int64_t checked_ns; /* the time up to which everything was accounted for */

static int open_stores(void **state)
{
    pp_throttle slow = {.bytes_per_second = RATE, .latency_s = LATENCY_MS / 1000.0};
    (void)state;
    still = (still_clock){.now_ns = 1000000 * MS};
    checked_ns = still.now_ns;
    assert_ok(pp_store_memory_build(&memory, NULL));
    pp_clock_use(&still_times);
    assert_ok(pp_store_throttled_build(&store, memory, &slow));
    return 0;
}

static int close_stores(void **state)
{
    (void)state;
    pp_store_free(store);
    pp_store_free(memory);
    pp_clock_use(NULL);
    return 0;
}

/* That everything since the last check took as long as that many operations with so many bytes in all. */
static void assert_took(int operations, int bytes)
{
    int64_t expected_ns = operations * LATENCY_MS * MS + bytes * (1000 / RATE) * MS;
    assert_int_equal(still.now_ns - checked_ns, expected_ns);
    checked_ns = still.now_ns;
}

static pp_write_request named_request(const char *key)
{
    return (pp_write_request){.key = key, .staging = "tmp", .name = "part", .is_small = true};
}

static void test_throttled__every_operation_of_a_writer_takes_its_time(void **state)
{
    pp_write_request request = named_request("a");
    pp_writer *writer;
    (void)state;
    assert_ok(pp_store_begin(store, &request, &writer));
    assert_took(1, 0);
    assert_ok(pp_writer_append(writer, "12345", 5));
    assert_took(1, 5);
    assert_ok(pp_writer_sync(writer));
    assert_took(1, 0);
    pp_writer_suspend(writer);
    assert_took(0, 0);
    assert_ok(pp_store_resume(store, &request, 5, &writer));
    assert_took(1, 0);
    assert_ok(pp_writer_append(writer, "678", 3));
    assert_took(1, 3);
    assert_ok(pp_writer_stage(writer));
    assert_took(1, 0);
    assert_ok(pp_writer_publish(writer, PP_PUBLISH_REPLACE));
    assert_took(1, 0);
    pp_writer_free(writer);
    assert_ok(pp_store_sync_dirs(store));
    assert_took(1, 0);
    assert_object(memory, "a", "12345678");
}

static void test_throttled__every_operation_of_a_reader_and_a_log_takes_its_time(void **state)
{
    pp_reader *reader;
    pp_log *log;
    char text[TEXT_BYTES];
    (void)state;
    assert_ok(pp_store_open_log(store, "log", 0, &log));
    assert_took(1, 0);
    assert_ok(pp_log_append(log, "12345", 5));
    assert_took(1, 5);
    pp_log_close(log);
    assert_ok(pp_store_open_object(store, "log", &reader));
    assert_took(1, 0);
    assert_ok(pp_reader_read(reader, 1, 3, text));
    assert_took(1, 3);
    pp_reader_free(reader);
    assert_took(0, 0);
    assert_memory_equal(text, "234", 3);
}

static void test_throttled__so_does_every_operation_on_keys_and_locks(void **state)
{
    char names[1024] = "";
    pp_lock *lock;
    bool is_held;
    (void)state;
    assert_ok(put(memory, "a/b", "x", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_move(store, "a/b", "a/c"));
    assert_ok(pp_store_list(store, "a", note_name, names));
    assert_ok(pp_store_remove(store, "a/c"));
    assert_ok(pp_store_remove_prefix(store, "a"));
    assert_ok(pp_store_remove_empty(store, "a"));
    assert_took(5, 0);
    assert_ok(pp_store_open_lock(store, "lock", &lock));
    assert_ok(pp_lock_set(lock, PP_LOCK_LONG, PP_LOCK_EXCLUSIVE));
    assert_ok(pp_lock_test(lock, PP_LOCK_SHORT, &is_held));
    assert_ok(pp_lock_prove(lock));
    assert_ok(pp_lock_write(lock, "text"));
    assert_took(5, 0);
    assert_ok(pp_lock_write(lock, ""));
    assert_ok(pp_lock_set(lock, PP_LOCK_LONG, PP_LOCK_FREE));
    pp_lock_close(lock);
    assert_took(0, 0);
}

static void test_throttled__an_operation_that_fails_takes_its_time_too(void **state)
{
    (void)state;
    assert_fails(pp_store_remove(store, "a"), PARAPET_ERR_NOT_FOUND, "a");
    assert_took(1, 0);
}

static pp_reader *open_text(void)
{
    pp_reader *reader;
    assert_ok(put(memory, "a", "12345", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_open_object(store, "a", &reader));
    assert_took(1, 0);
    return reader;
}

static void test_throttled__two_operations_at_once_share_the_disk(void **state)
{
    pp_reader *reader = open_text();
    char text[TEXT_BYTES];
    (void)state;
    still.read_along = reader;
    assert_ok(pp_reader_read(reader, 0, TEXT_BYTES, text));
    assert_int_equal(still.due_ns - checked_ns, 2 * (LATENCY_MS + TEXT_BYTES) * MS);
    assert_took(2, 2 * TEXT_BYTES);
    pp_reader_free(reader);
}

static void test_throttled__a_disk_that_idles_saves_nothing_up(void **state)
{
    pp_reader *reader = open_text();
    char text[TEXT_BYTES];
    (void)state;
    still.now_ns += 500 * MS;
    checked_ns = still.now_ns;
    assert_ok(pp_reader_read(reader, 0, TEXT_BYTES, text));
    assert_took(1, TEXT_BYTES);
    pp_reader_free(reader);
}

static void test_throttled__who_is_woken_late_loses_nothing(void **state)
{
    pp_reader *reader = open_text();
    char text[TEXT_BYTES];
    int i;
    (void)state;
    still.late_ns = 7 * MS;
    for (i = 0; i < 10; i++)
        assert_ok(pp_reader_read(reader, 0, TEXT_BYTES, text));
    checked_ns += 7 * MS; /* the last */
    assert_took(10, 10 * TEXT_BYTES);
    still.now_ns += 500 * MS; /* and is not paid for idling */
    checked_ns = still.now_ns;
    assert_ok(pp_reader_read(reader, 0, TEXT_BYTES, text));
    assert_took(1, TEXT_BYTES);
    pp_reader_free(reader);
}

static void test_throttled__who_is_woken_very_late_makes_up_for_it(void **state)
{
    pp_reader *reader = open_text();
    char text[TEXT_BYTES];
    int64_t each_ns = (LATENCY_MS + TEXT_BYTES) * MS;
    int i;
    (void)state;
    still.late_ns = 3 * each_ns + each_ns / 3;
    for (i = 0; i < 100; i++)
        assert_ok(pp_reader_read(reader, 0, TEXT_BYTES, text));
    assert_true(still.now_ns - checked_ns >= 100 * each_ns);
    assert_true(still.now_ns - checked_ns <= 100 * each_ns + still.late_ns);
    pp_reader_free(reader);
}

static void test_throttled__can_be_set_while_it_is_in_use(void **state)
{
    pp_reader *reader = open_text();
    char text[TEXT_BYTES];
    (void)state;
    pp_store_throttled_set(store, &(pp_throttle){.latency_s = 0.5});
    assert_ok(pp_reader_read(reader, 0, TEXT_BYTES, text));
    assert_int_equal(still.now_ns - checked_ns, 500 * MS);
    pp_store_throttled_set(store, &(pp_throttle){.bytes_per_second = 10});
    assert_ok(pp_reader_read(reader, 0, TEXT_BYTES, text));
    assert_int_equal(still.now_ns - checked_ns, 1000 * MS);
    pp_store_throttled_set(store, &(pp_throttle){0});
    assert_ok(pp_reader_read(reader, 0, TEXT_BYTES, text));
    assert_int_equal(still.now_ns - checked_ns, 1000 * MS);
    pp_reader_free(reader);
}

static void test_throttled__needs_memory(void **state)
{
    pp_throttle slow = {.bytes_per_second = RATE};
    refusal plan = {0};
    pp_store *other = store;
    (void)state;
    pp_memory_hook_set(refuse_one, &plan);
    assert_fails(pp_store_throttled_build(&other, memory, &slow), PARAPET_ERR_MEMORY, "");
    pp_memory_hook_set(NULL, NULL);
    assert_null(other);
}

#define OPENED(name) cmocka_unit_test_setup_teardown(name, open_stores, close_stores)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OPENED(test_throttled__every_operation_of_a_writer_takes_its_time),
        OPENED(test_throttled__every_operation_of_a_reader_and_a_log_takes_its_time),
        OPENED(test_throttled__so_does_every_operation_on_keys_and_locks),
        OPENED(test_throttled__an_operation_that_fails_takes_its_time_too),
        OPENED(test_throttled__two_operations_at_once_share_the_disk),
        OPENED(test_throttled__a_disk_that_idles_saves_nothing_up),
        OPENED(test_throttled__who_is_woken_late_loses_nothing),
        OPENED(test_throttled__who_is_woken_very_late_makes_up_for_it),
        OPENED(test_throttled__can_be_set_while_it_is_in_use),
        OPENED(test_throttled__needs_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
