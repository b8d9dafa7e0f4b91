#include "kinds.h"

#include <pthread.h>
#include <sys/wait.h>

#include "store/internal.h"

#define KEY "a/__parapet/lock"

static pp_lock *open_lock(pp_store *store)
{
    pp_lock *lock;
    assert_ok(pp_store_open_lock(store, KEY, &lock));
    return lock;
}

static void check_modes(subject *tested)
{
    static const struct {
        pp_lock_mode first, second;
        parapet_status status;
    } cases[] = {
        {PP_LOCK_SHARED, PP_LOCK_SHARED, PARAPET_OK},
        {PP_LOCK_SHARED, PP_LOCK_EXCLUSIVE, PARAPET_ERR_BUSY},
        {PP_LOCK_EXCLUSIVE, PP_LOCK_SHARED, PARAPET_ERR_BUSY},
        {PP_LOCK_EXCLUSIVE, PP_LOCK_EXCLUSIVE, PARAPET_ERR_BUSY},
        {PP_LOCK_FREE, PP_LOCK_EXCLUSIVE, PARAPET_OK},
    };
    pp_lock *one = open_lock(tested->store), *two = open_lock(tested->store);
    int byte, other;
    size_t i;
    for (byte = 0; byte < PP_LOCK_BYTES; byte++)
        for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            bool is_held;
            assert_ok(pp_lock_set(one, (pp_lock_byte)byte, cases[i].first));
            assert_int_equal(pp_lock_set(two, (pp_lock_byte)byte, cases[i].second), cases[i].status);
            for (other = 0; other < PP_LOCK_BYTES; other++) {
                assert_ok(pp_lock_test(two, (pp_lock_byte)other, &is_held));
                assert_int_equal(is_held, other == byte && cases[i].first != PP_LOCK_FREE);
            }
            assert_ok(pp_lock_set(one, (pp_lock_byte)byte, PP_LOCK_FREE));
            assert_ok(pp_lock_set(two, (pp_lock_byte)byte, PP_LOCK_EXCLUSIVE));
            assert_ok(pp_lock_set(two, (pp_lock_byte)byte, PP_LOCK_FREE));
        }
    pp_lock_close(one);
    pp_lock_close(two);
}

static void test_lock__excludes_by_byte_and_mode_within_one_process(void **state)
{
    (void)state;
    check_every_kind(check_modes);
}

static void check_closing(subject *tested)
{
    pp_lock *one = open_lock(tested->store), *two = open_lock(tested->store);
    assert_ok(pp_lock_set(one, PP_LOCK_LONG, PP_LOCK_EXCLUSIVE));
    assert_fails(pp_lock_set(two, PP_LOCK_LONG, PP_LOCK_SHARED), PARAPET_ERR_BUSY, KEY);
    pp_lock_close(one);
    assert_ok(pp_lock_set(two, PP_LOCK_LONG, PP_LOCK_SHARED));
    assert_ok(pp_lock_prove(two));
    pp_lock_close(two);
}

static void test_lock__closing_lets_go(void **state)
{
    (void)state;
    check_every_kind(check_closing);
}

static void check_text(subject *tested)
{
    pp_lock *lock = open_lock(tested->store);
    char *text;
    size_t bytes;
    assert_ok(pp_lock_write(lock, "a long text about the holder"));
    assert_ok(pp_lock_write(lock, "short"));
    assert_ok(pp_store_read_all(tested->store, KEY, PP_LOCK_TEXT_BYTES, &text, &bytes));
    assert_int_equal(strspn(text, "short"), 5);
    assert_null(strstr(text, "holder"));
    pp_free(text);
    pp_lock_close(lock);
    lock = open_lock(tested->store); /* with its text it has stayed */
    assert_ok(pp_store_read_all(tested->store, KEY, PP_LOCK_TEXT_BYTES, &text, &bytes));
    pp_free(text);
    assert_ok(pp_lock_write(lock, ""));
    pp_lock_close(lock);
    assert_absent(tested->store, KEY);
}

static void test_lock__has_the_text_of_its_last_holder(void **state)
{
    (void)state;
    check_every_kind(check_text);
}

static void check_removal(subject *tested)
{
    pp_lock *one = open_lock(tested->store), *two = open_lock(tested->store);
    assert_ok(pp_lock_set(two, PP_LOCK_DELEGATES, PP_LOCK_SHARED));
    pp_lock_close(one);
    assert_ok(pp_lock_prove(two)); /* it stays while anybody holds any of it */
    pp_lock_close(two);
    assert_absent(tested->store, KEY);
}

static void test_lock__goes_with_the_last_that_holds_it(void **state)
{
    (void)state;
    check_every_kind(check_removal);
}

/* Storage that loses its locks while some are held: nobody is told that he holds more, and nothing stays held. */
static void test_lock__failures_hold_nothing(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *inner = scratch_store(&made, PP_DIRECT_IO_LARGE), *store;
    pp_fault_plan plan = {.fail_at = -1};
    pp_lock *lock, *other;
    long at;
    (void)state;
    assert_ok(pp_store_faulty_build(&store, inner, &plan));
    for (at = 0; at < 8; at++) { /* the second half takes effect before it fails */
        parapet_status status;
        lock = NULL;
        plan = (pp_fault_plan){
            .fail_at = at % 4, .fail_forever = true, .fail_after = at >= 4, .status = PARAPET_ERR_UNSUPPORTED};
        if ((status = pp_store_open_lock(store, KEY, &lock)) == PARAPET_OK &&
            (status = pp_lock_set(lock, PP_LOCK_LONG, PP_LOCK_EXCLUSIVE)) == PARAPET_OK &&
            (status = pp_lock_set(lock, PP_LOCK_SHORT, PP_LOCK_EXCLUSIVE)) == PARAPET_OK)
            status = pp_lock_prove(lock);
        assert_int_equal(status, PARAPET_ERR_UNSUPPORTED);
        pp_lock_close(lock);
        other = open_lock(inner);
        assert_ok(pp_lock_set(other, PP_LOCK_LONG, PP_LOCK_EXCLUSIVE));
        assert_ok(pp_lock_set(other, PP_LOCK_SHORT, PP_LOCK_EXCLUSIVE));
        pp_lock_close(other);
    }
    pp_store_free(store);
    pp_store_free(inner);
    scratch_remove(&made);
}

static void test_lock__leaves_no_directory_that_was_made_for_it(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    pp_lock *lock = open_lock(store);
    (void)state;
    assert_int_equal(access(scratch_path(&made, "store/" KEY), F_OK), 0);
    pp_lock_close(lock);
    assert_int_not_equal(access(scratch_path(&made, "store/a"), F_OK), 0);
    assert_int_equal(mkdir(scratch_path(&made, "store/a"), 0777), 0);
    pp_lock_close(open_lock(store));
    assert_int_not_equal(access(scratch_path(&made, "store/a/__parapet"), F_OK), 0);
    assert_int_equal(access(scratch_path(&made, "store/a"), F_OK), 0); /* that was there before */
    pp_store_free(store);
    scratch_remove(&made);
}

enum { CLOSERS = 3, CLOSING_ROUNDS = 400 };

typedef struct closer {
    pp_lock *lock;
    pthread_barrier_t *start;
} closer;

static void *close_at_once(void *context)
{
    const closer *self = context;
    (void)pthread_barrier_wait(self->start);
    pp_lock_close(self->lock);
    return NULL;
}

/* The ranks of a job let go of a group at the same time; what is left in a group disturbs other readers. */
static void test_lock__goes_when_all_that_hold_it_close_at_once(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    pthread_barrier_t start;
    int round, i;
    (void)state;
    assert_int_equal(mkdir(scratch_path(&made, "store/a"), 0777), 0);
    assert_int_equal(pthread_barrier_init(&start, NULL, CLOSERS), 0);
    for (round = 0; round < CLOSING_ROUNDS; round++) {
        closer closers[CLOSERS];
        pthread_t threads[CLOSERS];
        for (i = 0; i < CLOSERS; i++) {
            closers[i] = (closer){open_lock(store), &start};
            assert_ok(pp_lock_set(closers[i].lock, PP_LOCK_DELEGATES, PP_LOCK_SHARED));
        }
        for (i = 0; i < CLOSERS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, close_at_once, &closers[i]), 0);
        for (i = 0; i < CLOSERS; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_not_equal(access(scratch_path(&made, "store/a/__parapet"), F_OK), 0);
    }
    (void)pthread_barrier_destroy(&start);
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_lock__notices_that_its_file_was_removed(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    pp_lock *held = open_lock(store), *waiting = open_lock(store), *third;
    (void)state;
    assert_ok(pp_lock_set(held, PP_LOCK_LONG, PP_LOCK_EXCLUSIVE));
    assert_int_equal(unlink(scratch_path(&made, "store/" KEY)), 0);
    assert_fails(pp_lock_prove(held), PARAPET_ERR_STALE, "was removed or lost");
    assert_fails(pp_lock_set(held, PP_LOCK_SHORT, PP_LOCK_EXCLUSIVE), PARAPET_ERR_STALE, "was removed or lost");
    assert_ok(pp_lock_set(waiting, PP_LOCK_SHORT, PP_LOCK_EXCLUSIVE)); /* of a new file at the key */
    assert_ok(pp_lock_prove(waiting));
    third = open_lock(store);
    assert_fails(pp_lock_set(third, PP_LOCK_SHORT, PP_LOCK_SHARED), PARAPET_ERR_BUSY, "another job");
    pp_lock_close(third);
    pp_lock_close(waiting);
    pp_lock_close(held);
    pp_store_free(store);
    scratch_remove(&made);
}

/* In a child: 0 if the lock can be had. */
static int try_in_child(pp_store *store)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        pp_lock *lock;
        bool has = pp_store_open_lock(store, KEY, &lock) == PARAPET_OK &&
                   pp_lock_set(lock, PP_LOCK_LONG, PP_LOCK_EXCLUSIVE) == PARAPET_OK;
        _exit(has ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
}

static void test_lock__excludes_other_processes_until_its_own_ends(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    pp_lock *held = open_lock(store);
    (void)state;
    assert_int_equal(try_in_child(store), 0);
    assert_ok(pp_lock_set(held, PP_LOCK_LONG, PP_LOCK_EXCLUSIVE)); /* the child has ended, and holds nothing */
    assert_int_equal(try_in_child(store), 1);
    pp_lock_close(held);
    pp_store_free(store);
    scratch_remove(&made);
}

/* A child that sleeps on, as one that was started for a plot would, does not hold the lock of its parent. */
static void test_lock__is_not_kept_by_a_forked_child(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    pp_lock *held = open_lock(store), *other = open_lock(store);
    int pipes[2], tries;
    char byte;
    pid_t child;
    (void)state;
    assert_ok(pp_lock_set(held, PP_LOCK_LONG, PP_LOCK_EXCLUSIVE));
    assert_int_equal(pipe(pipes), 0);
    if ((child = fork()) == 0) {
        (void)close(pipes[1]);
        _exit(pp_lock_set(held, PP_LOCK_SHORT, PP_LOCK_SHARED) != PARAPET_ERR_STALE || read(pipes[0], &byte, 1) != 0);
    }
    (void)close(pipes[0]);
    pp_lock_close(held);
    for (tries = 0; tries < 60000 && pp_lock_set(other, PP_LOCK_LONG, PP_LOCK_EXCLUSIVE) != PARAPET_OK; tries++)
        usleep(1000); /* the child may not have run yet */
    assert_ok(pp_lock_set(other, PP_LOCK_LONG, PP_LOCK_EXCLUSIVE));
    (void)close(pipes[1]);
    {
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    pp_lock_close(other);
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_lock__may_be_written_by_whoever_may_write_the_directory(void **state)
{
    static const mode_t modes[][2] = {{0755, 0600}, {0775, 0660}, {0777, 0666}, {0700, 0600}};
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    struct stat found;
    size_t i;
    (void)state;
    assert_int_equal(mkdir(scratch_path(&made, "store/a"), 0777), 0);
    assert_int_equal(mkdir(scratch_path(&made, "store/a/__parapet"), 0777), 0);
    for (i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        pp_lock *lock;
        assert_int_equal(chmod(scratch_path(&made, "store/a/__parapet"), modes[i][0]), 0);
        lock = open_lock(store);
        assert_int_equal(stat(scratch_path(&made, "store/" KEY), &found), 0);
        assert_int_equal(found.st_mode & 0777, modes[i][1]);
        assert_int_equal(unlink(scratch_path(&made, "store/" KEY)), 0);
        pp_lock_close(lock);
    }
    pp_store_free(store);
    scratch_remove(&made);
}

static bool is_to_be_flushed(const pp_posix_store *store, const char *path)
{
    size_t i;
    for (i = 0; i < store->dirty.count; i++)
        if (strcmp(store->dirty.paths[i], path) == 0)
            return true;
    return false;
}

static void test_lock__has_its_directory_flushed_only_for_what_stays_in_it(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    const pp_posix_store *posix = (const pp_posix_store *)store;
    pp_lock *lock;
    (void)state;
    assert_int_equal(mkdir(scratch_path(&made, "store/a"), 0777), 0);
    lock = open_lock(store);
    assert_false(is_to_be_flushed(posix, "a"));
    pp_lock_close(lock);
    assert_int_equal(posix->passing_count, 0);

    lock = open_lock(store);
    assert_ok(put(store, "a/__parapet/seal", "something that stays", PP_PUBLISH_EXCLUSIVE));
    assert_true(is_to_be_flushed(posix, "a"));
    assert_int_equal(posix->passing_count, 0);
    pp_lock_close(lock);
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_lock__whose_directory_others_use_leaves_it_to_be_flushed(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    const pp_posix_store *posix = (const pp_posix_store *)store;
    pp_lock *lock;
    (void)state;
    assert_int_equal(mkdir(scratch_path(&made, "store/a"), 0777), 0);
    lock = open_lock(store);
    assert_int_equal(mkdir(scratch_path(&made, "store/a/__parapet/of-another-rank"), 0777), 0);
    pp_lock_close(lock);
    assert_true(is_to_be_flushed(posix, "a"));
    assert_int_equal(posix->passing_count, 0);
    pp_store_free(store);
    scratch_remove(&made);
}

/* Other ranks of the job put things beside a lock that is held for long, and its maker does not see them. */
static void test_lock__held_for_long_has_its_directory_flushed(void **state)
{
    static const pp_lock_byte parts[] = {PP_LOCK_LONG, PP_LOCK_DELEGATES, PP_LOCK_PUBLISHING};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        scratch made = scratch_make(SCRATCH_HERE);
        pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
        pp_lock *lock;
        assert_int_equal(mkdir(scratch_path(&made, "store/a"), 0777), 0);
        lock = open_lock(store);
        assert_ok(pp_lock_set(lock, PP_LOCK_SHORT, PP_LOCK_EXCLUSIVE));
        assert_false(is_to_be_flushed((const pp_posix_store *)store, "a"));
        assert_ok(pp_lock_set(lock, parts[i], PP_LOCK_SHARED));
        assert_true(is_to_be_flushed((const pp_posix_store *)store, "a"));
        pp_lock_close(lock);
        pp_store_free(store);
        scratch_remove(&made);
    }
}

/* More directories than can be remembered are flushed like any other. */
static void test_lock__in_many_places_forgets_none_of_its_directories(void **state)
{
    enum { COUNT = PP_PASSING_LIMIT + 3 };
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    const pp_posix_store *posix = (const pp_posix_store *)store;
    pp_lock *locks[COUNT];
    char path[64], key[80];
    int i;
    (void)state;
    for (i = 0; i < COUNT; i++) {
        (void)snprintf(path, sizeof path, "store/n%d", i);
        assert_int_equal(mkdir(scratch_path(&made, path), 0777), 0);
        (void)snprintf(key, sizeof key, "n%d/__parapet/lock", i);
        assert_ok(pp_store_open_lock(store, key, &locks[i]));
    }
    assert_int_equal(posix->passing_count, PP_PASSING_LIMIT);
    assert_int_equal(posix->dirty.count, COUNT - PP_PASSING_LIMIT);
    for (i = 0; i < COUNT; i++)
        pp_lock_close(locks[i]);
    assert_int_equal(posix->passing_count, 0);
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_lock__is_refused_where_something_else_lies(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    pp_lock *lock;
    (void)state;
    assert_int_equal(mkdir(scratch_path(&made, "store/a"), 0777), 0);
    assert_int_equal(mkdir(scratch_path(&made, "store/a/__parapet"), 0777), 0);
    assert_int_equal(symlink("elsewhere", scratch_path(&made, "store/" KEY)), 0);
    assert_fails(pp_store_open_lock(store, KEY, &lock), PARAPET_ERR_IO, "a symbolic link");
    assert_int_equal(unlink(scratch_path(&made, "store/" KEY)), 0);
    assert_int_equal(mkfifo(scratch_path(&made, "store/" KEY), 0666), 0);
    assert_fails(pp_store_open_lock(store, KEY, &lock), PARAPET_ERR_FORMAT, "a named pipe");
    pp_store_free(store);
    scratch_remove(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock__excludes_by_byte_and_mode_within_one_process),
        cmocka_unit_test(test_lock__closing_lets_go),
        cmocka_unit_test(test_lock__has_the_text_of_its_last_holder),
        cmocka_unit_test(test_lock__goes_with_the_last_that_holds_it),
        cmocka_unit_test(test_lock__failures_hold_nothing),
        cmocka_unit_test(test_lock__leaves_no_directory_that_was_made_for_it),
        cmocka_unit_test(test_lock__goes_when_all_that_hold_it_close_at_once),
        cmocka_unit_test(test_lock__notices_that_its_file_was_removed),
        cmocka_unit_test(test_lock__excludes_other_processes_until_its_own_ends),
        cmocka_unit_test(test_lock__is_not_kept_by_a_forked_child),
        cmocka_unit_test(test_lock__may_be_written_by_whoever_may_write_the_directory),
        cmocka_unit_test(test_lock__has_its_directory_flushed_only_for_what_stays_in_it),
        cmocka_unit_test(test_lock__whose_directory_others_use_leaves_it_to_be_flushed),
        cmocka_unit_test(test_lock__held_for_long_has_its_directory_flushed),
        cmocka_unit_test(test_lock__in_many_places_forgets_none_of_its_directories),
        cmocka_unit_test(test_lock__is_refused_where_something_else_lies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
