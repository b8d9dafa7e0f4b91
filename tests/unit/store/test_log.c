#include "kinds.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "store/internal.h"

#define RECORD_COUNT 200

static parapet_status append_text(pp_log *log, const char *text)
{
    return pp_log_append(log, text, strlen(text));
}

static void open_log(pp_store *store, const char *key, uint64_t keep_bytes, pp_log **log)
{
    assert_ok(pp_store_open_log(store, key, keep_bytes, log));
    assert_int_equal((*log)->bytes, keep_bytes);
}

static void check_growing(subject *tested)
{
    pp_log *log;
    open_log(tested->store, "a/b/log", 0, &log);
    assert_object(tested->store, "a/b/log", "");
    assert_ok(append_text(log, "one "));
    assert_object(tested->store, "a/b/log", "one ");
    assert_ok(append_text(log, ""));
    assert_ok(append_text(log, "two "));
    assert_int_equal(log->bytes, 8);
    assert_object(tested->store, "a/b/log", "one two ");
    assert_listing(tested->store, "a/b", "log=8 ");
    pp_log_close(log);
    subject_reopen(tested);
    open_log(tested->store, "a/b/log", 8, &log);
    assert_ok(append_text(log, "three"));
    pp_log_close(log);
    assert_object(tested->store, "a/b/log", "one two three");
    pp_log_close(NULL);
}

static void test_log__what_is_appended_can_be_read_at_once_and_later(void **state)
{
    (void)state;
    check_every_kind(check_growing);
}

static void check_torn_tail(subject *tested)
{
    pp_log *log;
    open_log(tested->store, "log", 0, &log);
    assert_ok(append_text(log, "whole.to"));
    pp_log_close(log);
    open_log(tested->store, "log", 6, &log);
    assert_object(tested->store, "log", "whole.");
    assert_ok(append_text(log, "x."));
    pp_log_close(log);
    assert_object(tested->store, "log", "whole.x.");
    open_log(tested->store, "log", 0, &log);
    assert_object(tested->store, "log", "");
    assert_ok(append_text(log, "new"));
    pp_log_close(log);
    assert_object(tested->store, "log", "new");
}

static void test_log__what_lies_behind_the_kept_bytes_is_dropped(void **state)
{
    (void)state;
    check_every_kind(check_torn_tail);
}

static void check_refused(subject *tested)
{
    pp_log *log;
    assert_fails(pp_store_open_log(tested->store, "log", 1, &log), PARAPET_ERR_NOT_FOUND, "log");
    assert_null(log);
    assert_fails(pp_store_open_log(tested->store, "a/log", 1, &log), PARAPET_ERR_NOT_FOUND, "a/log");
    assert_absent(tested->store, "log");
    open_log(tested->store, "log", 0, &log);
    assert_ok(append_text(log, "four"));
    pp_log_close(log);
    assert_fails(pp_store_open_log(tested->store, "log", 5, &log), PARAPET_ERR_CORRUPT, "log ends at byte 4");
    assert_null(log);
    assert_object(tested->store, "log", "four");
    assert_fails(pp_store_open_log(tested->store, "../log", 0, &log), PARAPET_ERR_ARGUMENT, "component");
    assert_null(log);
}

static void test_log__a_log_that_is_missing_or_too_short_is_told_apart(void **state)
{
    (void)state;
    check_every_kind(check_refused);
}

static void check_reader(subject *tested)
{
    pp_reader *reader;
    pp_log *log;
    char text[16] = "";
    int i;
    open_log(tested->store, "log", 0, &log);
    assert_ok(append_text(log, "begin"));
    assert_ok(pp_store_open_object(tested->store, "log", &reader));
    for (i = 0; i < 100; i++)
        assert_ok(append_text(log, "more and more"));
    assert_int_equal(reader->bytes, 5);
    assert_ok(pp_reader_read(reader, 0, 5, text));
    assert_string_equal(text, "begin");
    assert_fails(pp_reader_read(reader, 0, 6, text), PARAPET_ERR_INTERNAL, "outside");
    pp_reader_free(reader);
    pp_log_close(log);
    assert_ok(pp_store_remove(tested->store, "log"));
    assert_absent(tested->store, "log");
}

static void test_log__a_reader_sees_what_was_there_when_it_was_opened(void **state)
{
    (void)state;
    check_every_kind(check_reader);
}

static void check_intruder(subject *tested, parapet_status expected, const char *word)
{
    pp_log *log;
    assert_fails(pp_store_open_log(tested->store, "a/log", 0, &log), expected, word);
    assert_null(log);
    assert_fails(pp_store_open_log(tested->store, "a/log", 3, &log), expected, word);
    assert_null(log);
    assert_file(scratch_path(&tested->made, "secret"), "secret");
    assert_int_equal(remove(scratch_path(&tested->made, "store/a/log")), 0);
    assert_int_equal(entry_count(scratch_path(&tested->made, "store/a")), 1);
}

static void check_intruders(subject *tested)
{
    pp_log *log;
    int pipe;
    assert_ok(put(tested->store, "a/x", "", PP_PUBLISH_REPLACE));
    write_file(scratch_path(&tested->made, "secret"), "secret");
    assert_int_equal(symlink("../../secret", scratch_path(&tested->made, "store/a/log")), 0);
    check_intruder(tested, PARAPET_ERR_IO, "symbolic link");
    assert_int_equal(symlink("nowhere", scratch_path(&tested->made, "store/a/log")), 0);
    check_intruder(tested, PARAPET_ERR_IO, "symbolic link");
    assert_int_equal(link(scratch_path(&tested->made, "secret"), scratch_path(&tested->made, "store/a/log")), 0);
    check_intruder(tested, PARAPET_ERR_CORRUPT, "other names");
    assert_int_equal(mkdir(scratch_path(&tested->made, "store/a/log"), 0777), 0);
    check_intruder(tested, PARAPET_ERR_IO, "directory");
    assert_int_equal(mkfifo(scratch_path(&tested->made, "store/a/log"), 0666), 0);
    pipe = open(scratch_path(&tested->made, "store/a/log"), O_RDONLY | O_NONBLOCK);
    assert_true(pipe >= 0);
    check_intruder(tested, PARAPET_ERR_FORMAT, "named pipe");
    assert_int_equal(close(pipe), 0);
    assert_int_equal(symlink("../store", scratch_path(&tested->made, "store/way")), 0);
    assert_fails(pp_store_open_log(tested->store, "way/log", 0, &log), PARAPET_ERR_IO, "symbolic link");
}

static void test_log__nothing_but_a_plain_file_of_one_name_is_written_to(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].where != NULL)
            check_kind(&kinds[i], check_intruders);
}

static void check_read_only(subject *tested)
{
    pp_posix_options options = {.read_only = true};
    pp_store *store;
    pp_log *log;
    open_log(tested->store, "log", 0, &log);
    assert_ok(append_text(log, "text"));
    pp_log_close(log);
    assert_ok(pp_store_posix_build(&store, tested->made.root, &options));
    assert_fails(pp_store_open_log(store, "log", 0, &log), PARAPET_ERR_ARGUMENT, "open for reading");
    assert_null(log);
    pp_store_free(store);
    assert_object(tested->store, "log", "text");
}

static void test_log__a_store_open_for_reading_changes_nothing(void **state)
{
    (void)state;
    check_kind(&kinds[0], check_read_only);
}

static void check_full(subject *tested)
{
    struct rlimit old, tight;
    pp_log *log;
    open_log(tested->store, "log", 0, &log);
    assert_ok(append_text(log, "fits"));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tight = (struct rlimit){.rlim_cur = 7, .rlim_max = old.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    assert_fails(append_text(log, "does not"), PARAPET_ERR_NO_SPACE, "append to the log log");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_fails(append_text(log, "x"), PARAPET_ERR_IO, "opened again");
    assert_int_equal(log->bytes, 4);
    pp_log_close(log);
    open_log(tested->store, "log", 4, &log);
    assert_ok(append_text(log, " now"));
    pp_log_close(log);
    assert_object(tested->store, "log", "fits now");
}

static void test_log__one_that_failed_goes_on_once_opened_again(void **state)
{
    (void)state;
    check_kind(&kinds[0], check_full);
    check_kind(&kinds[2], check_full);
}

/* The way from the root to the log is flushed: a part of it that cannot be makes opening fail. */
static void check_flush_of_way(subject *tested)
{
    pp_posix_store *store = (pp_posix_store *)tested->store;
    pp_log *log;
    open_log(tested->store, "a/b/log", 0, &log);
    assert_int_equal(store->dirty.count, 0);
    pp_log_close(log);
    assert_ok(put(tested->store, "d/e/x", "", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_sync_dirs(tested->store));
    assert_ok(put(tested->store, "d/x", "", PP_PUBLISH_REPLACE));
    assert_int_equal(rename(scratch_path(&tested->made, "store/d"), scratch_path(&tested->made, "store/kept")), 0);
    assert_int_equal(symlink("kept", scratch_path(&tested->made, "store/d")), 0);
    assert_fails(pp_store_open_log(tested->store, "log", 0, &log), PARAPET_ERR_IO, "directory d");
    assert_null(log);
}

static void test_log__opening_makes_its_name_durable(void **state)
{
    static const kind durable = {.where = SCRATCH_HERE, .is_durable = true};
    (void)state;
    check_kind(&durable, check_flush_of_way);
}

/* 0 open_log, 1 append_log, 2 append_log, 3 open_log, 4 append_log. */
static parapet_status do_job(pp_store *store, size_t *durable)
{
    pp_log *log;
    parapet_status status = pp_store_open_log(store, "a/log", 0, &log);
    *durable = 0;
    if (status != PARAPET_OK || (status = append_text(log, "1234")) != PARAPET_OK)
        goto done;
    *durable = 4;
    if ((status = append_text(log, "5678")) != PARAPET_OK)
        goto done;
    pp_log_close(log);
    *durable = 6;
    if ((status = pp_store_open_log(store, "a/log", 6, &log)) != PARAPET_OK ||
        (status = append_text(log, "78")) != PARAPET_OK)
        goto done;
    *durable = 8;
done:
    pp_log_close(log);
    return status;
}

static size_t length_of(pp_store *store)
{
    char *data;
    size_t bytes;
    parapet_status status = pp_store_read_all(store, "a/log", 100, &data, &bytes);
    if (status != PARAPET_OK)
        assert_int_equal(status, PARAPET_ERR_NOT_FOUND);
    else
        assert_memory_equal(data, "12345678", bytes);
    pp_free(data);
    return bytes;
}

/* How long the log is when an operation failed before, after or while it took effect. */
static size_t expected_length(const pp_fault_plan *plan)
{
    static const size_t before[] = {0, 0, 4, 8, 6}, after[] = {0, 4, 8, 6, 8}, torn[] = {0, 2, 6, 8, 7};
    long at = plan->fail_at;
    if (plan->is_torn && at != 0 && at != 3)
        return torn[at];
    return plan->fail_after ? after[at] : before[at];
}

static void check_failure(subject *tested, pp_fault_plan plan)
{
    size_t durable;
    pp_log *log;
    tested->plan = plan;
    assert_fails(do_job(tested->store, &durable), PARAPET_ERR_NO_SPACE,
                 plan.fail_at % 3 == 0 ? "injected failure of open_log a/log"
                                       : "injected failure of append_log a/log");
    assert_int_equal(tested->plan.operations, plan.fail_at + 1);
    assert_int_equal(tested->plan.failures, 1);
    tested->plan = (pp_fault_plan){.fail_at = -1};
    assert_int_equal(length_of(tested->store), expected_length(&plan));
    open_log(tested->store, "a/log", durable, &log);
    assert_ok(append_text(log, &"12345678"[durable]));
    pp_log_close(log);
    assert_object(tested->store, "a/log", "12345678");
    assert_ok(pp_store_remove_prefix(tested->store, "a"));
}

static void check_failures(subject *tested)
{
    size_t durable;
    int at, way;
    for (at = 0; at < 5; at++)
        for (way = 0; way < 8; way++)
            check_failure(tested, (pp_fault_plan){.fail_at = at,
                                                  .fail_forever = (way & 1) != 0,
                                                  .fail_after = (way & 2) != 0,
                                                  .is_torn = (way & 4) != 0,
                                                  .status = PARAPET_ERR_NO_SPACE});
    tested->plan = (pp_fault_plan){.fail_at = -1};
    assert_ok(do_job(tested->store, &durable));
    assert_int_equal(tested->plan.operations, 5);
}

static void test_log__the_failure_of_each_operation_leaves_what_was_durable(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].is_faulty)
            check_kind(&kinds[i], check_failures);
}

static void check_misuse(subject *tested)
{
    pp_log *log;
    open_log(tested->store, "log", 0, &log);
    tested->plan = (pp_fault_plan){.fail_at = 0};
    assert_fails(append_text(log, "x"), PARAPET_ERR_IO, "injected failure of append_log log");
    assert_fails(append_text(log, "x"), PARAPET_ERR_INTERNAL, "was not opened again");
    assert_int_equal(tested->plan.operations, 1);
    pp_log_close(log);
    assert_object(tested->store, "log", "");
}

static void test_log__the_store_that_fails_notices_who_goes_on_regardless(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].is_faulty)
            check_kind(&kinds[i], check_misuse);
}

static void check_refused_allocations(subject *tested)
{
    refusal plan = {0};
    for (plan.at = 0;; plan.at++) {
        parapet_status status;
        size_t durable;
        plan.count = 0;
        pp_memory_hook_set(refuse_one, &plan);
        status = do_job(tested->store, &durable);
        pp_memory_hook_set(NULL, NULL);
        assert_int_equal(status, plan.count > plan.at ? PARAPET_ERR_MEMORY : PARAPET_OK);
        assert_true(length_of(tested->store) >= durable);
        if (status == PARAPET_OK)
            break;
        assert_ok(pp_store_remove_prefix(tested->store, "a"));
    }
    assert_true(plan.at > 3);
}

static void test_log__each_refused_allocation_leaves_what_was_durable(void **state)
{
    (void)state;
    check_every_kind(check_refused_allocations);
}

static bool is_sound(const char *data, size_t bytes)
{
    size_t i;
    for (i = 0; i < bytes && data[i] == "abcd"[i % 4]; i++)
        continue;
    return i == bytes;
}

typedef struct watch {
    pp_store *store;
    bool saw_all; /* and nothing else */
} watch;

/* Reads the growing log as a whole, again and again, until it has all records. */
static void *read_while_it_grows(void *context)
{
    watch *self = context;
    size_t bytes = 0;
    bool is_good = true;
    while (is_good && bytes < RECORD_COUNT * 4) {
        char *data;
        is_good =
            pp_store_read_all(self->store, "log", 1 << 20, &data, &bytes) == PARAPET_OK && is_sound(data, bytes);
        pp_free(data);
    }
    self->saw_all = is_good;
    return NULL;
}

static void check_other_thread(subject *tested)
{
    watch seen = {.store = tested->store};
    pthread_t thread;
    pp_log *log;
    int i;
    open_log(tested->store, "log", 0, &log);
    assert_int_equal(pthread_create(&thread, NULL, read_while_it_grows, &seen), 0);
    for (i = 0; i < RECORD_COUNT; i++)
        assert_ok(append_text(log, "abcd"));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(seen.saw_all);
    pp_log_close(log);
}

static void test_log__another_thread_reads_it_while_it_grows(void **state)
{
    (void)state;
    check_kind(&kinds[0], check_other_thread);
    check_kind(&kinds[6], check_other_thread);
    check_kind(&kinds[7], check_other_thread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log__what_is_appended_can_be_read_at_once_and_later),
        cmocka_unit_test(test_log__what_lies_behind_the_kept_bytes_is_dropped),
        cmocka_unit_test(test_log__a_log_that_is_missing_or_too_short_is_told_apart),
        cmocka_unit_test(test_log__a_reader_sees_what_was_there_when_it_was_opened),
        cmocka_unit_test(test_log__nothing_but_a_plain_file_of_one_name_is_written_to),
        cmocka_unit_test(test_log__a_store_open_for_reading_changes_nothing),
        cmocka_unit_test(test_log__one_that_failed_goes_on_once_opened_again),
        cmocka_unit_test(test_log__opening_makes_its_name_durable),
        cmocka_unit_test(test_log__the_failure_of_each_operation_leaves_what_was_durable),
        cmocka_unit_test(test_log__the_store_that_fails_notices_who_goes_on_regardless),
        cmocka_unit_test(test_log__each_refused_allocation_leaves_what_was_durable),
        cmocka_unit_test(test_log__another_thread_reads_it_while_it_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
