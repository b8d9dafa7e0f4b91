#include "kinds.h"

#include <signal.h>
#include <sys/resource.h>

#include "base/checked.h"
#include "store/internal.h"

#define PAGE ((size_t)PP_PAGE_BYTES)
#define KIB ((size_t)1 << 10)
#define LARGEST (1500 * KIB)

static unsigned char *pattern; /* LARGEST bytes, page-aligned */
static test_random random_numbers;
static pp_budget budget;

static int make_pattern(void **state)
{
    size_t i;
    (void)state;
    random_numbers = test_random_start();
    if (pp_allocate_pages(&pattern, LARGEST) != PARAPET_OK)
        return -1;
    for (i = 0; i < LARGEST; i++)
        pattern[i] = (unsigned char)(test_random_next(&random_numbers) >> 32);
    pp_budget_init(&budget, 1 << 20);
    return 0;
}

static int free_pattern(void **state)
{
    (void)state;
    pp_free(pattern);
    return 0;
}

/* Buffers small enough that lengths of a few pages fill them. */
static pp_write_request named_request(void)
{
    return (pp_write_request){
        .key = "c/0", .staging = "a/tmp", .name = "part", .budget = &budget, .buffer_bytes = 2 * PAGE};
}

static void assert_pattern(pp_store *store, const char *key, size_t bytes)
{
    char *data;
    size_t found;
    assert_ok(pp_store_read_all(store, key, LARGEST, &data, &found));
    assert_int_equal(found, bytes);
    assert_memory_equal(data, pattern, bytes);
    pp_free(data);
}

/* A directory that was made for temporary objects stays; memory has none. */
static void assert_nothing_left(pp_store *store)
{
    char names[1024] = "";
    parapet_status status = pp_store_list(store, "a/tmp", note_name, names);
    assert_true(status == PARAPET_OK || status == PARAPET_ERR_NOT_FOUND);
    assert_string_equal(names, "");
}

/* Begins, appends the first bytes of the pattern, makes them durable and leaves. */
static void leave(pp_store *store, size_t bytes)
{
    pp_write_request request = named_request();
    pp_writer *writer;
    assert_ok(pp_store_begin(store, &request, &writer));
    assert_ok(pp_writer_append(writer, pattern, bytes));
    assert_ok(pp_writer_sync(writer));
    assert_int_equal(writer->bytes, bytes);
    pp_writer_suspend(writer);
    assert_int_equal(pp_budget_used(&budget), 0);
}

/* Resumes behind the first bytes, appends the pattern up to total and publishes. */
static void complete(pp_store *store, size_t bytes, size_t total)
{
    pp_write_request request = named_request();
    pp_writer *writer;
    assert_ok(pp_store_resume(store, &request, bytes, &writer));
    assert_int_equal(writer->bytes, bytes);
    assert_ok(pp_writer_append(writer, pattern + bytes, total - bytes));
    assert_int_equal(writer->bytes, total);
    assert_ok(pp_writer_publish(writer, PP_PUBLISH_REPLACE));
    pp_writer_free(writer);
    assert_pattern(store, "c/0", total);
    assert_int_equal(pp_budget_used(&budget), 0);
}

/* Every length where that is quick; elsewhere those near the end of a page, and some others. */
static bool is_worth_it(const subject *tested, size_t bytes)
{
    const kind *used = tested->kind;
    if (!used->is_faulty && (used->where == NULL || strcmp(used->where, SCRATCH_MEMORY) == 0))
        return true;
    if (used->is_durable && !used->is_faulty)
        return bytes % PAGE == 1;
    return bytes % 127 == 0 || (bytes + 1) % PAGE <= 2;
}

static void check_every_length(subject *tested)
{
    size_t bytes;
    for (bytes = 0; bytes <= 3 * PAGE + 1; bytes++) {
        if (!is_worth_it(tested, bytes))
            continue;
        leave(tested->store, bytes);
        if (bytes % 1000 == 0)
            subject_reopen(tested);
        complete(tested->store, bytes, bytes + bytes % 3 * 3000 + 1);
    }
}

static void test_resume__at_every_length_the_bytes_are_those_of_one_go(void **state)
{
    (void)state;
    check_every_kind(check_every_length);
}

/* Appends, syncs, leaves and comes back at random; whatever happens, the bytes are the pattern's. */
static void walk_at_random(subject *tested, size_t total, size_t largest_piece)
{
    pp_write_request request = named_request();
    pp_writer *writer;
    size_t synced = 0;
    request.buffer_bytes = (size_t)test_random_between(&random_numbers, 1, 16) * PAGE;
    assert_ok(pp_store_begin(tested->store, &request, &writer));
    while (writer->bytes < total) {
        size_t piece = (size_t)test_random_between(&random_numbers, 0, (int64_t)largest_piece);
        if (test_random_between(&random_numbers, 0, 3) == 0)
            piece = pp_align_up(piece, PAGE);
        piece = pp_min_size(piece, total - writer->bytes);
        assert_ok(pp_writer_append(writer, pattern + writer->bytes, piece));
        if (test_random_between(&random_numbers, 0, 2) == 0) {
            assert_ok(pp_writer_sync(writer));
            synced = writer->bytes;
        }
        if (test_random_between(&random_numbers, 0, 4) == 0) {
            pp_writer_suspend(writer);
            synced -= (size_t)test_random_between(&random_numbers, 0, (int64_t)pp_min_size(synced, 50));
            assert_ok(pp_store_resume(tested->store, &request, synced, &writer));
        }
    }
    assert_ok(pp_writer_publish(writer, PP_PUBLISH_REPLACE));
    pp_writer_free(writer);
    assert_pattern(tested->store, "c/0", total);
    assert_nothing_left(tested->store);
}

static void check_random_walks(subject *tested)
{
    int i;
    for (i = 0; i < 12; i++)
        walk_at_random(tested, (size_t)test_random_between(&random_numbers, 1, 20 * (int64_t)PAGE), 3 * PAGE);
    walk_at_random(tested, LARGEST, 400 * KIB);
}

static void test_resume__any_order_of_appends_syncs_and_breaks_gives_the_same_bytes(void **state)
{
    (void)state;
    check_every_kind(check_random_walks);
}

static void check_earlier_lengths(subject *tested)
{
    static const size_t lengths[][2] = {{1, 0},
                                        {5000, 4999},
                                        {5000, 4096},
                                        {8192, 4096},
                                        {8192, 4095},
                                        {12289, 1},
                                        {40 * KIB, 8 * KIB},
                                        {40 * KIB, 0},
                                        {40 * KIB + 9, 40 * KIB}};
    pp_write_request request = named_request();
    pp_writer *writer;
    size_t i;
    for (i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        leave(tested->store, lengths[i][0]);
        assert_ok(pp_store_resume(tested->store, &request, lengths[i][1], &writer));
        pp_writer_suspend(writer);
        assert_fails(pp_store_resume(tested->store, &request, lengths[i][1] + 1, &writer), PARAPET_ERR_CORRUPT,
                     "should have at least");
        assert_null(writer);
        complete(tested->store, lengths[i][1], lengths[i][1]);
        leave(tested->store, lengths[i][0]);
        complete(tested->store, lengths[i][1], lengths[i][1] + 100);
    }
}

static void test_resume__an_earlier_length_drops_the_rest(void **state)
{
    (void)state;
    check_every_kind(check_earlier_lengths);
}

static void check_leftover(subject *tested)
{
    pp_write_request request = named_request();
    pp_writer *writer;
    leave(tested->store, 3 * PAGE + 5);
    assert_ok(pp_store_begin(tested->store, &request, &writer));
    assert_int_equal(writer->bytes, 0);
    assert_ok(pp_writer_append(writer, pattern, 7));
    assert_ok(pp_writer_publish(writer, PP_PUBLISH_REPLACE));
    pp_writer_free(writer);
    assert_pattern(tested->store, "c/0", 7);
    assert_nothing_left(tested->store);
}

static void test_resume__beginning_over_what_was_left_starts_empty(void **state)
{
    (void)state;
    check_every_kind(check_leftover);
}

static void check_ends(subject *tested)
{
    pp_write_request request = named_request();
    pp_writer *writer;
    leave(tested->store, 5000);
    assert_listing(tested->store, "a/tmp", "part=5000 ");
    assert_absent(tested->store, "c/0");
    assert_ok(pp_store_resume(tested->store, &request, 5000, &writer));
    pp_writer_free(writer);
    assert_nothing_left(tested->store);
    assert_fails(pp_store_resume(tested->store, &request, 0, &writer), PARAPET_ERR_NOT_FOUND, "a/tmp/part");
    assert_ok(pp_store_begin(tested->store, &request, &writer));
    assert_ok(pp_writer_append(writer, pattern, 10));
    assert_ok(pp_writer_stage(writer));
    assert_ok(pp_writer_sync(writer));
    pp_writer_suspend(writer);
    complete(tested->store, 10, 20);
    leave(tested->store, 30);
    assert_ok(pp_store_remove(tested->store, "a/tmp/part"));
    assert_fails(pp_store_resume(tested->store, &request, 0, &writer), PARAPET_ERR_NOT_FOUND, "a/tmp/part");
    leave(tested->store, 30);
    assert_ok(pp_store_remove_prefix(tested->store, "a"));
    assert_fails(pp_store_resume(tested->store, &request, 0, &writer), PARAPET_ERR_NOT_FOUND, "a/tmp/part");
    assert_null(writer);
    assert_pattern(tested->store, "c/0", 20);
}

static void test_resume__suspending_keeps_and_freeing_removes(void **state)
{
    (void)state;
    check_every_kind(check_ends);
}

static void check_published(subject *tested)
{
    pp_write_request request = named_request();
    pp_writer *writer;
    assert_ok(pp_store_begin(tested->store, &request, &writer));
    assert_ok(pp_writer_append(writer, pattern, 10));
    assert_ok(pp_writer_publish(writer, PP_PUBLISH_EXCLUSIVE));
    assert_ok(pp_writer_sync(writer));
    pp_writer_suspend(writer);
    assert_nothing_left(tested->store);
    leave(tested->store, 99);
    assert_ok(pp_store_resume(tested->store, &request, 99, &writer));
    assert_fails(pp_writer_publish(writer, PP_PUBLISH_EXCLUSIVE), PARAPET_ERR_EXISTS, "c/0 already exists");
    pp_writer_suspend(writer);
    assert_pattern(tested->store, "c/0", 10);
    assert_listing(tested->store, "a/tmp", "part=99 ");
    request.name = NULL;
    assert_ok(pp_store_begin(tested->store, &request, &writer));
    assert_ok(pp_writer_append(writer, pattern, 10));
    assert_ok(pp_writer_sync(writer));
    pp_writer_suspend(writer);
    assert_listing(tested->store, "a/tmp", "part=99 ");
}

static void test_resume__only_what_has_a_name_and_is_not_published_is_left(void **state)
{
    (void)state;
    check_every_kind(check_published);
}

static void check_names(subject *tested)
{
    static const char *const names[] = {"", ".", "..", "a/b", "/", "../x", "a\n"};
    pp_write_request request = named_request();
    pp_writer *writer;
    size_t i;
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        request.name = names[i];
        assert_int_equal(pp_store_begin(tested->store, &request, &writer), PARAPET_ERR_ARGUMENT);
        assert_int_equal(pp_store_resume(tested->store, &request, 0, &writer), PARAPET_ERR_ARGUMENT);
        assert_null(writer);
    }
    request.name = NULL;
    assert_fails(pp_store_resume(tested->store, &request, 0, &writer), PARAPET_ERR_INTERNAL, "has no name");
    request.name = "part";
    request.staging = "";
    assert_ok(pp_store_begin(tested->store, &request, &writer));
    assert_ok(pp_writer_sync(writer));
    pp_writer_suspend(writer);
    assert_listing(tested->store, "", "part=0 ");
    assert_ok(pp_store_resume(tested->store, &request, 0, &writer));
    pp_writer_free(writer);
    assert_listing(tested->store, "", "");
}

static void test_resume__a_name_is_one_component(void **state)
{
    (void)state;
    check_every_kind(check_names);
}

static void check_without_buffer(subject *tested)
{
    pp_write_request request = named_request();
    pp_writer *writer;
    request.is_small = true;
    request.budget = NULL;
    assert_ok(pp_store_begin(tested->store, &request, &writer));
    assert_ok(pp_writer_append(writer, pattern, 5000));
    assert_ok(pp_writer_sync(writer));
    pp_writer_suspend(writer);
    assert_ok(pp_store_resume(tested->store, &request, 4500, &writer));
    assert_ok(pp_writer_append(writer, pattern + 4500, 4500));
    assert_ok(pp_writer_publish(writer, PP_PUBLISH_REPLACE));
    pp_writer_free(writer);
    assert_pattern(tested->store, "c/0", 9000);
}

static void test_resume__small_objects_need_no_budget(void **state)
{
    (void)state;
    check_every_kind(check_without_buffer);
}

/* Puts something in the place of the temporary file of a directory, and sees it refused and left alone. */
static void check_intruder(subject *tested, parapet_status begun, parapet_status resumed, const char *word)
{
    pp_write_request request = named_request();
    pp_writer *writer;
    assert_int_equal(pp_store_begin(tested->store, &request, &writer), begun);
    assert_null(writer);
    assert_fails(pp_store_resume(tested->store, &request, 0, &writer), resumed, word);
    assert_null(writer);
    assert_file(scratch_path(&tested->made, "secret"), "secret");
    assert_int_equal(remove(scratch_path(&tested->made, "store/a/tmp/part")), 0);
}

static void check_intruders(subject *tested)
{
    const char *place;
    leave(tested->store, 1);
    assert_ok(pp_store_remove(tested->store, "a/tmp/part"));
    write_file(scratch_path(&tested->made, "secret"), "secret");
    place = scratch_path(&tested->made, "store/a/tmp/part");
    assert_int_equal(symlink("../../../secret", place), 0);
    check_intruder(tested, PARAPET_ERR_IO, PARAPET_ERR_IO, "symbolic link");
    place = scratch_path(&tested->made, "store/a/tmp/part");
    assert_int_equal(symlink("nowhere", place), 0);
    check_intruder(tested, PARAPET_ERR_IO, PARAPET_ERR_IO, "symbolic link");
    assert_int_equal(entry_count(scratch_path(&tested->made, "store/a/tmp")), 0);
    assert_int_equal(mkfifo(scratch_path(&tested->made, "store/a/tmp/part"), 0666), 0);
    check_intruder(tested, PARAPET_ERR_IO, PARAPET_ERR_FORMAT, "named pipe");
    assert_int_equal(mkdir(scratch_path(&tested->made, "store/a/tmp/part"), 0777), 0);
    check_intruder(tested, PARAPET_ERR_IO, PARAPET_ERR_IO, "directory");
}

/* Where publishing is a second name and the loss of the first, a crash leaves both. */
static void check_second_name(subject *tested)
{
    pp_write_request request = named_request();
    pp_writer *writer;
    leave(tested->store, 5000);
    assert_ok(put(tested->store, "c/x", "", PP_PUBLISH_REPLACE));
    assert_int_equal(link(scratch_path(&tested->made, "store/a/tmp/part"), scratch_path(&tested->made, "store/c/0")),
                     0);
    assert_fails(pp_store_resume(tested->store, &request, 4000, &writer), PARAPET_ERR_CORRUPT, "other names");
    assert_pattern(tested->store, "c/0", 5000);
    leave(tested->store, 10);
    assert_pattern(tested->store, "c/0", 5000);
    complete(tested->store, 10, 11);
}

static void test_resume__nothing_but_a_plain_file_of_one_name_is_written_to(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].where != NULL) {
            check_kind(&kinds[i], check_intruders);
            check_kind(&kinds[i], check_second_name);
        }
}

static void check_read_only(subject *tested)
{
    pp_posix_options options = {.read_only = true};
    pp_write_request request = named_request();
    pp_store *store;
    pp_writer *writer;
    leave(tested->store, 5000);
    assert_ok(pp_store_posix_build(&store, tested->made.root, &options));
    assert_fails(pp_store_resume(store, &request, 1, &writer), PARAPET_ERR_ARGUMENT, "open for reading");
    assert_null(writer);
    pp_store_free(store);
    assert_listing(tested->store, "a/tmp", "part=5000 ");
}

static void test_resume__a_store_open_for_reading_changes_nothing(void **state)
{
    (void)state;
    check_kind(&kinds[0], check_read_only);
}

/* The first sync flushes the directory of the temporary file: one that cannot be flushed makes it fail. */
static void check_flush_of_directory(subject *tested)
{
    pp_write_request request = named_request();
    pp_writer *writer;
    assert_ok(pp_store_begin(tested->store, &request, &writer));
    assert_true(((pp_posix_store *)tested->store)->dirty.count > 0);
    assert_ok(pp_writer_sync(writer));
    assert_int_equal(((pp_posix_store *)tested->store)->dirty.count, 0);
    pp_writer_suspend(writer);
    assert_ok(pp_store_resume(tested->store, &request, 0, &writer));
    assert_int_equal(rename(scratch_path(&tested->made, "store/a/tmp"), scratch_path(&tested->made, "moved")), 0);
    assert_int_equal(symlink("../../moved", scratch_path(&tested->made, "store/a/tmp")), 0);
    assert_fails(pp_writer_sync(writer), PARAPET_ERR_IO, "directory a/tmp");
    assert_fails(pp_writer_sync(writer), PARAPET_ERR_IO, "directory a/tmp");
    pp_writer_suspend(writer);
}

static void test_resume__the_first_sync_makes_the_name_durable(void **state)
{
    static const kind durable = {.where = SCRATCH_HERE, .is_durable = true};
    (void)state;
    check_kind(&durable, check_flush_of_directory);
}

static void check_full(subject *tested)
{
    pp_write_request request = named_request();
    struct rlimit old, tight;
    pp_writer *writer;
    assert_ok(pp_store_begin(tested->store, &request, &writer));
    assert_ok(pp_writer_append(writer, pattern, 5000));
    assert_ok(pp_writer_sync(writer));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tight = (struct rlimit){.rlim_cur = 9000, .rlim_max = old.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    assert_ok(pp_writer_append(writer, pattern + 5000, 100));
    assert_fails(pp_writer_append(writer, pattern + 5100, 5 * PAGE), PARAPET_ERR_NO_SPACE, "write c/0");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_fails(pp_writer_append(writer, pattern, 1), PARAPET_ERR_IO, "resumed");
    assert_fails(pp_writer_sync(writer), PARAPET_ERR_IO, "resumed");
    pp_writer_suspend(writer);
    complete(tested->store, 5000, 5 * PAGE);
}

static void test_resume__what_was_synced_outlives_a_full_file_system(void **state)
{
    (void)state;
    check_kind(&kinds[0], check_full);
    check_kind(&kinds[1], check_full);
}

/* What a job does, as far as it gets; tells how much it knows to be durable. */
static parapet_status do_job(pp_store *store, size_t *synced)
{
    pp_write_request request = named_request();
    pp_writer *writer;
    parapet_status status = pp_store_begin(store, &request, &writer);
    *synced = 0;
    if (status != PARAPET_OK || (status = pp_writer_append(writer, pattern, 5000)) != PARAPET_OK ||
        (status = pp_writer_sync(writer)) != PARAPET_OK)
        goto done;
    *synced = 5000;
    if ((status = pp_writer_append(writer, pattern + 5000, 20000)) != PARAPET_OK ||
        (status = pp_writer_sync(writer)) != PARAPET_OK)
        goto done;
    pp_writer_suspend(writer);
    *synced = 24000; /* also a resume that fails may have dropped the rest */
    if ((status = pp_store_resume(store, &request, 24000, &writer)) != PARAPET_OK ||
        (status = pp_writer_append(writer, pattern + 24000, 3000)) != PARAPET_OK ||
        (status = pp_writer_stage(writer)) != PARAPET_OK)
        goto done;
    *synced = 27000;
    status = pp_writer_publish(writer, PP_PUBLISH_REPLACE);
done:
    pp_writer_suspend(writer);
    return status;
}

#define JOB_OPERATIONS 9

/* 0 begin, 1 append, 2 sync, 3 append, 4 sync, 5 resume, 6 append, 7 stage, 8 publish. */
static void check_failure(subject *tested, pp_fault_plan plan)
{
    size_t synced;
    tested->plan = plan;
    assert_fails(do_job(tested->store, &synced), PARAPET_ERR_NO_SPACE, "injected failure");
    assert_int_equal(tested->plan.operations, plan.fail_at + 1);
    tested->plan = (pp_fault_plan){.fail_at = -1};
    if (plan.fail_at == 8 && plan.fail_after) {
        assert_pattern(tested->store, "c/0", 27000);
        assert_nothing_left(tested->store);
    } else if (plan.fail_at == 0) {
        assert_nothing_left(tested->store);
    } else {
        assert_absent(tested->store, "c/0");
        complete(tested->store, synced, 30000);
    }
    assert_ok(pp_store_remove_prefix(tested->store, "c"));
}

static void check_failures(subject *tested)
{
    size_t synced;
    int at, way;
    for (at = 0; at < JOB_OPERATIONS; at++)
        for (way = 0; way < 8; way++)
            check_failure(tested, (pp_fault_plan){.fail_at = at,
                                                  .fail_forever = (way & 1) != 0,
                                                  .fail_after = (way & 2) != 0,
                                                  .is_torn = (way & 4) != 0,
                                                  .status = PARAPET_ERR_NO_SPACE});
    tested->plan = (pp_fault_plan){.fail_at = -1};
    assert_ok(do_job(tested->store, &synced));
    assert_int_equal(tested->plan.operations, JOB_OPERATIONS);
}

static void test_resume__what_was_synced_outlives_the_failure_of_each_operation(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].is_faulty)
            check_kind(&kinds[i], check_failures);
}

static void check_refused_allocations(subject *tested)
{
    refusal plan = {0};
    for (plan.at = 0;; plan.at++) {
        parapet_status status;
        size_t synced;
        plan.count = 0;
        pp_memory_hook_set(refuse_one, &plan);
        status = do_job(tested->store, &synced);
        pp_memory_hook_set(NULL, NULL);
        assert_int_equal(status, plan.count > plan.at ? PARAPET_ERR_MEMORY : PARAPET_OK);
        assert_int_equal(pp_budget_used(&budget), 0);
        if (status == PARAPET_OK)
            break;
        if (synced > 0)
            complete(tested->store, synced, 30000);
        assert_ok(pp_store_remove_prefix(tested->store, "c"));
        assert_ok(pp_store_remove_prefix(tested->store, "a"));
    }
    assert_true(plan.at > 5);
}

static void test_resume__each_refused_allocation_leaves_what_was_synced(void **state)
{
    (void)state;
    check_every_kind(check_refused_allocations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resume__at_every_length_the_bytes_are_those_of_one_go),
        cmocka_unit_test(test_resume__any_order_of_appends_syncs_and_breaks_gives_the_same_bytes),
        cmocka_unit_test(test_resume__an_earlier_length_drops_the_rest),
        cmocka_unit_test(test_resume__beginning_over_what_was_left_starts_empty),
        cmocka_unit_test(test_resume__suspending_keeps_and_freeing_removes),
        cmocka_unit_test(test_resume__only_what_has_a_name_and_is_not_published_is_left),
        cmocka_unit_test(test_resume__a_name_is_one_component),
        cmocka_unit_test(test_resume__small_objects_need_no_budget),
        cmocka_unit_test(test_resume__nothing_but_a_plain_file_of_one_name_is_written_to),
        cmocka_unit_test(test_resume__a_store_open_for_reading_changes_nothing),
        cmocka_unit_test(test_resume__the_first_sync_makes_the_name_durable),
        cmocka_unit_test(test_resume__what_was_synced_outlives_a_full_file_system),
        cmocka_unit_test(test_resume__what_was_synced_outlives_the_failure_of_each_operation),
        cmocka_unit_test(test_resume__each_refused_allocation_leaves_what_was_synced),
    };
    return cmocka_run_group_tests(tests, make_pattern, free_pattern);
}
