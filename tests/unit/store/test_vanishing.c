/* Another job removes a directory, which is empty, just before something is put in it. */
#include "support.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scratch.h"
#include "store/store.h"

static int removals; /* that are still to come */
static int removed;

static void remove_directory(int directory)
{
    char link[64], path[4096];
    ssize_t bytes;
    if (removals == 0)
        return;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    bytes = readlink(link, path, sizeof path - 1);
    assert_true(bytes > 0);
    path[bytes] = '\0';
    if (rmdir(path) != 0) /* it is not empty */
        return;
    removals--;
    removed++;
}

/* The library's calls come here: what a program defines goes before what the C library does. */
int renameat(int from, const char *old, int to, const char *new)
{
    remove_directory(to);
    return (int)syscall(SYS_renameat2, from, old, to, new, 0);
}

int renameat2(int from, const char *old, int to, const char *new, unsigned int flags)
{
    remove_directory(to);
    return (int)syscall(SYS_renameat2, from, old, to, new, flags);
}

int openat(int directory, const char *name, int flags, ...)
{
    va_list more;
    mode_t mode;
    va_start(more, flags);
    mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    if ((flags & O_CREAT) != 0)
        remove_directory(directory);
    return (int)syscall(SYS_openat, directory, name, flags, mode);
}

static void remove_next(int count)
{
    removals = count;
    removed = 0;
}

static void with_store(void (*test)(pp_store *store))
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    long live;
    assert_ok(put(store, "one/a", "1", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_sync_dirs(store));
    live = pp_memory_live_count();
    test(store);
    assert_ok(pp_store_sync_dirs(store));
    assert_int_equal(pp_memory_live_count(), live);
    pp_store_free(store);
    scratch_remove(&made);
}

static void publish(pp_store *store)
{
    remove_next(3); /* the directories of the temporary file and of the key, and that of the key once more */
    assert_ok(put(store, "two/b", "1", PP_PUBLISH_REPLACE));
    assert_int_equal(removed, 3);
    remove_next(2);
    assert_ok(put(store, "three/c", "1", PP_PUBLISH_EXCLUSIVE));
    assert_int_equal(removed, 2);
}

static void move(pp_store *store)
{
    remove_next(2);
    assert_ok(pp_store_move(store, "one/a", "two/b"));
    assert_int_equal(removed, 2);
}

static void open_log(pp_store *store)
{
    pp_log *log;
    remove_next(2);
    assert_ok(pp_store_open_log(store, "two/log", 0, &log));
    assert_int_equal(removed, 2);
    pp_log_close(log);
}

/* Not the directory that is gone: the failure stays one. */
static void lose_temporary(pp_store *store)
{
    pp_write_request request = small_request("two/b");
    pp_writer *writer;
    assert_ok(pp_store_begin(store, &request, &writer));
    assert_ok(pp_store_remove_prefix(store, "tmp"));
    assert_fails(pp_writer_publish(writer, PP_PUBLISH_REPLACE), PARAPET_ERR_IO, "staging");
    pp_writer_free(writer);
}

static void test_vanishing__publishing_makes_the_directory_again(void **state)
{
    (void)state;
    with_store(publish);
}

static void test_vanishing__moving_makes_the_directory_again(void **state)
{
    (void)state;
    with_store(move);
}

static void test_vanishing__opening_a_log_makes_the_directory_again(void **state)
{
    (void)state;
    with_store(open_log);
}

static void test_vanishing__a_lost_temporary_file_is_not_made_again(void **state)
{
    (void)state;
    with_store(lose_temporary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vanishing__publishing_makes_the_directory_again),
        cmocka_unit_test(test_vanishing__moving_makes_the_directory_again),
        cmocka_unit_test(test_vanishing__opening_a_log_makes_the_directory_again),
        cmocka_unit_test(test_vanishing__a_lost_temporary_file_is_not_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
