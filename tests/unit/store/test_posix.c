#include "scratch.h"

#include <errno.h>
#include <linux/magic.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/statfs.h>

#include "store/internal.h"

#define MIB ((size_t)1 << 20)
#define LARGEST (9 * MIB + 5)

static unsigned char *pattern; /* LARGEST bytes */

static int make_pattern(void **state)
{
    test_random random = test_random_start();
    size_t i;
    (void)state;
    pattern = malloc(LARGEST);
    if (pattern == NULL)
        return -1;
    for (i = 0; i < LARGEST; i++)
        pattern[i] = (unsigned char)(test_random_next(&random) >> 32);
    return 0;
}

static int free_pattern(void **state)
{
    (void)state;
    free(pattern);
    return 0;
}

static void write_in_pieces(pp_store *store, const pp_write_request *request, size_t bytes, size_t piece)
{
    pp_writer *writer;
    size_t done;
    assert_ok(pp_store_begin(store, request, &writer));
    for (done = 0; done < bytes; done += piece)
        assert_ok(pp_writer_append(writer, pattern + done, bytes - done < piece ? bytes - done : piece));
    assert_int_equal(writer->bytes, bytes);
    assert_ok(pp_writer_stage(writer));
    assert_int_equal(pp_budget_available(request->budget), request->budget->limit_bytes);
    assert_ok(pp_writer_publish(writer, PP_PUBLISH_REPLACE));
    pp_writer_free(writer);
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

static void check_lengths(const char *where, pp_direct_io direct_io, size_t limit_bytes, pp_pool *pool)
{
    static const size_t lengths[] = {0,           1,       4095,        4096,    4097,   MIB - 1,
                                     4 * MIB - 1, 4 * MIB, 4 * MIB + 1, LARGEST, 9 * MIB};
    static const size_t pieces[] = {LARGEST, 1777777, 4 * MIB};
    scratch made = scratch_make(where);
    pp_store *store = scratch_store(&made, direct_io);
    size_t i, k;
    for (i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (k = 0; k < sizeof pieces / sizeof pieces[0]; k++) {
            pp_budget budget;
            pp_write_request request = {.key = "c/0", .staging = "tmp", .budget = &budget, .pool = pool};
            request.bound_bytes = k == 0 ? lengths[i] : 0;
            pp_budget_init(&budget, limit_bytes);
            write_in_pieces(store, &request, lengths[i], pieces[k]);
            assert_pattern(store, "c/0", lengths[i]);
        }
    assert_listing(store, "tmp", "");
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__every_length_comes_back_exactly(void **state)
{
    (void)state;
    check_lengths(SCRATCH_HERE, PP_DIRECT_IO_LARGE, 16 * MIB, NULL);
    check_lengths(SCRATCH_HERE, PP_DIRECT_IO_ALWAYS, 300 << 10, NULL);
    check_lengths(SCRATCH_HERE, PP_DIRECT_IO_NEVER, 16 * MIB, NULL);
    check_lengths(SCRATCH_MEMORY, PP_DIRECT_IO_LARGE, 300 << 10, NULL);
    check_lengths(SCRATCH_MEMORY, PP_DIRECT_IO_ALWAYS, 16 * MIB, NULL);
}

/* Halves of 1 and of 4 MiB; no halves where there is too little memory or no direct I/O. */
static void test_posix__every_length_comes_back_where_halves_are_written_meanwhile(void **state)
{
    pp_pool *pool;
    (void)state;
    assert_ok(pp_pool_build(&pool));
    check_lengths(SCRATCH_HERE, PP_DIRECT_IO_ALWAYS, 16 * MIB, pool);
    check_lengths(SCRATCH_HERE, PP_DIRECT_IO_ALWAYS, 2 * MIB, pool);
    check_lengths(SCRATCH_HERE, PP_DIRECT_IO_ALWAYS, 300 << 10, pool);
    check_lengths(SCRATCH_HERE, PP_DIRECT_IO_NEVER, 16 * MIB, pool);
    pp_pool_free(pool);
}

static void test_posix__pages_of_the_caller_are_written_straight(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_ALWAYS);
    pp_budget budget;
    pp_write_request request = {.key = "c/0", .staging = "tmp", .budget = &budget};
    unsigned char *random = pattern;
    (void)state;
    pp_budget_init(&budget, 16 * MIB);
    assert_ok(pp_allocate_pages(&pattern, LARGEST));
    memcpy(pattern, random, LARGEST);
    write_in_pieces(store, &request, LARGEST, LARGEST);
    assert_pattern(store, "c/0", LARGEST);
    pp_free(pattern);
    pattern = random;
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__a_short_budget_gives_a_smaller_buffer_or_a_refusal(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    pp_budget budget;
    pp_write_request request = {.key = "c/0", .staging = "tmp", .budget = &budget, .bound_bytes = LARGEST};
    pp_writer *writer;
    (void)state;
    pp_budget_init(&budget, (256 << 10) - 1);
    assert_fails(pp_store_begin(store, &request, &writer), PARAPET_ERR_MEMORY, "write buffers");
    assert_null(writer);
    assert_listing(store, "tmp", "");
    pp_budget_init(&budget, 256 << 10);
    write_in_pieces(store, &request, LARGEST, 1234567);
    assert_pattern(store, "c/0", LARGEST);
    request.bound_bytes = 5000;
    pp_budget_init(&budget, 8192);
    write_in_pieces(store, &request, 5000, 999);
    assert_pattern(store, "c/0", 5000);
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__small_objects_need_no_budget(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_ALWAYS);
    (void)state;
    assert_ok(put(store, "a/zarr.json", "{}", PP_PUBLISH_REPLACE));
    assert_object(store, "a/zarr.json", "{}");
    assert_ok(put(store, "top", "", PP_PUBLISH_REPLACE));
    assert_object(store, "top", "");
    assert_ok(pp_store_sync_dirs(store));
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__an_abandoned_writer_leaves_the_old_object(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    pp_write_request request = small_request("a/b");
    pp_writer *writer;
    (void)state;
    assert_ok(put(store, "a/b", "old", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_begin(store, &request, &writer));
    assert_ok(pp_writer_append(writer, "new", 3));
    assert_object(store, "a/b", "old");
    pp_writer_free(writer);
    assert_object(store, "a/b", "old");
    assert_ok(pp_store_begin(store, &request, &writer));
    assert_ok(pp_writer_append(writer, "new", 3));
    assert_ok(pp_writer_stage(writer));
    assert_int_equal(entry_count(scratch_path(&made, "store/tmp")), 1);
    assert_object(store, "a/b", "old");
    pp_writer_free(writer);
    assert_object(store, "a/b", "old");
    assert_listing(store, "tmp", "");
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__temporary_names_can_lie_in_the_root(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    pp_write_request request = {.key = "a", .staging = "", .is_small = true};
    pp_writer *writer;
    char names[1024] = "";
    (void)state;
    assert_ok(pp_store_begin(store, &request, &writer));
    assert_ok(pp_store_list(store, "", note_name, names));
    assert_memory_equal(names, ".parapet-", 9);
    assert_memory_equal(names + 9 + 32, ".tmp=0 ", 8);
    assert_ok(pp_writer_publish(writer, PP_PUBLISH_REPLACE));
    pp_writer_free(writer);
    assert_listing(store, "", "a=0 ");
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__a_reader_keeps_the_object_it_opened(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    pp_reader *reader;
    char text[4] = "";
    (void)state;
    assert_ok(put(store, "a", "old", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_open_object(store, "a", &reader));
    assert_ok(put(store, "a", "brand new", PP_PUBLISH_REPLACE));
    assert_int_equal(reader->bytes, 3);
    assert_ok(pp_reader_read(reader, 1, 2, text));
    assert_string_equal(text, "ld");
    assert_fails(pp_reader_read(reader, 2, 2, text), PARAPET_ERR_INTERNAL, "outside an object of 3 bytes");
    pp_reader_free(reader);
    assert_object(store, "a", "brand new");
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__an_object_cut_short_while_open_is_reported(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    pp_reader *reader;
    char text[8];
    (void)state;
    assert_ok(put(store, "a", "whole", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_open_object(store, "a", &reader));
    assert_int_equal(truncate(scratch_path(&made, "store/a"), 2), 0);
    assert_fails(pp_reader_read(reader, 0, 5, text), PARAPET_ERR_CORRUPT, "a ends at byte 2");
    pp_reader_free(reader);
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__exclusive_publish_never_replaces(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    (void)state;
    assert_ok(put(store, "a/b", "first", PP_PUBLISH_EXCLUSIVE));
    assert_fails(put(store, "a/b", "second", PP_PUBLISH_EXCLUSIVE), PARAPET_ERR_EXISTS, "a/b already exists");
    assert_object(store, "a/b", "first");
    assert_listing(store, "tmp", "");
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__calls_out_of_order_are_refused(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    pp_write_request request = small_request("a");
    pp_writer *writer;
    (void)state;
    assert_ok(pp_store_begin(store, &request, &writer));
    assert_ok(pp_writer_stage(writer));
    assert_ok(pp_writer_stage(writer));
    assert_fails(pp_writer_append(writer, "x", 1), PARAPET_ERR_INTERNAL, "staged");
    assert_ok(pp_writer_publish(writer, PP_PUBLISH_REPLACE));
    assert_fails(pp_writer_publish(writer, PP_PUBLISH_REPLACE), PARAPET_ERR_INTERNAL, "published before");
    pp_writer_free(writer);
    assert_object(store, "a", "");
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__a_file_system_that_refuses_more_bytes_is_full(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    pp_budget budget;
    pp_write_request request = {.key = "a", .staging = "tmp", .budget = &budget};
    struct rlimit old, tight;
    pp_writer *writer;
    (void)state;
    pp_budget_init(&budget, 16 * MIB);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tight = (struct rlimit){.rlim_cur = 5 * MIB + 77, .rlim_max = old.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    assert_ok(pp_store_begin(store, &request, &writer));
    assert_fails(pp_writer_append(writer, pattern, LARGEST), PARAPET_ERR_NO_SPACE, "write a");
    assert_fails(pp_writer_stage(writer), PARAPET_ERR_IO, "begun again");
    assert_fails(pp_writer_publish(writer, PP_PUBLISH_REPLACE), PARAPET_ERR_IO, "begun again");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    pp_writer_free(writer);
    assert_absent(store, "a");
    assert_listing(store, "tmp", "");
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__a_staging_directory_that_vanished_is_no_absent_key(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    pp_write_request request = small_request("a");
    pp_writer *writer;
    (void)state;
    assert_ok(pp_store_begin(store, &request, &writer));
    assert_ok(pp_store_remove_prefix(store, "tmp"));
    assert_fails(pp_writer_publish(writer, PP_PUBLISH_REPLACE), PARAPET_ERR_IO, "staging");
    pp_writer_free(writer);
    assert_ok(pp_store_sync_dirs(store));
    pp_store_free(store);
    scratch_remove(&made);
}

static parapet_status remove_listed(void *context, const pp_listed *listed)
{
    return listed->is_prefix ? PARAPET_OK : pp_store_remove(context, listed->name);
}

static parapet_status stop_at_once(void *context, const pp_listed *listed)
{
    (void)listed;
    (*(int *)context)++;
    return pp_fail(PARAPET_ERR_CANCELLED, "enough");
}

static void test_posix__children_are_told_in_the_order_of_names(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    int calls = 0;
    (void)state;
    assert_listing(store, "", "");
    assert_ok(put(store, "b/x", "1", PP_PUBLISH_REPLACE));
    assert_ok(put(store, "b-1", "22", PP_PUBLISH_REPLACE));
    assert_ok(put(store, "a", "", PP_PUBLISH_REPLACE));
    assert_ok(put(store, "B", "4444", PP_PUBLISH_REPLACE));
    assert_listing(store, "", "B=4 a=0 b/ b-1=2 tmp/ ");
    assert_int_equal(pp_store_list(store, "none", note_name, NULL), PARAPET_ERR_NOT_FOUND);
    assert_int_equal(pp_store_list(store, "a", note_name, NULL), PARAPET_ERR_NOT_FOUND);
    assert_int_equal(pp_store_list(store, "", stop_at_once, &calls), PARAPET_ERR_CANCELLED);
    assert_int_equal(calls, 1);
    assert_ok(pp_store_list(store, "", remove_listed, store));
    assert_listing(store, "", "b/ tmp/ ");
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__removing_reaches_everything_below_a_prefix_only(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    (void)state;
    assert_ok(put(store, "a/b/c/0", "x", PP_PUBLISH_REPLACE));
    assert_ok(put(store, "a/b/d", "x", PP_PUBLISH_REPLACE));
    assert_ok(put(store, "a/bb", "x", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_remove_prefix(store, "a/b"));
    assert_listing(store, "a", "bb=1 ");
    assert_ok(pp_store_remove_prefix(store, "a/b"));
    assert_ok(pp_store_remove_prefix(store, "x/y/z"));
    assert_ok(pp_store_remove_prefix(store, "a/bb"));
    assert_listing(store, "a", "bb=1 ");
    assert_ok(pp_store_remove(store, "a/bb"));
    assert_int_equal(pp_store_remove(store, "a/bb"), PARAPET_ERR_NOT_FOUND);
    assert_int_equal(pp_store_remove(store, "a/bb/c"), PARAPET_ERR_NOT_FOUND);
    assert_int_equal(pp_store_remove(store, "a"), PARAPET_ERR_IO);
    assert_ok(pp_store_remove_prefix(store, ""));
    assert_listing(store, "", "");
    assert_ok(pp_store_sync_dirs(store));
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__removing_gives_up_on_endless_nesting(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    char key[256] = "a";
    int i;
    (void)state;
    for (i = 0; i < 66; i++)
        strcat(key, "/a");
    assert_ok(put(store, key, "x", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_remove_empty(store, "a"));
    assert_fails(pp_store_remove_prefix(store, "a"), PARAPET_ERR_IO, "more than 64 deep");
    assert_object(store, key, "x");
    assert_ok(pp_store_remove_prefix(store, "a/a/a"));
    assert_ok(pp_store_remove_prefix(store, "a"));
    assert_listing(store, "", "tmp/ ");
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__a_store_open_for_reading_changes_nothing(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    pp_posix_options options = {.read_only = true};
    (void)state;
    assert_ok(put(store, "a", "x", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_remove_prefix(store, "tmp"));
    pp_store_free(store);
    assert_ok(pp_store_posix_build(&store, made.root, &options));
    assert_fails(put(store, "b", "x", PP_PUBLISH_REPLACE), PARAPET_ERR_ARGUMENT, "open for reading");
    assert_fails(pp_store_remove(store, "a"), PARAPET_ERR_ARGUMENT, "open for reading");
    assert_fails(pp_store_remove_prefix(store, "a"), PARAPET_ERR_ARGUMENT, "open for reading");
    assert_fails(pp_store_remove_prefix(store, ""), PARAPET_ERR_ARGUMENT, "open for reading");
    assert_listing(store, "", "a=1 ");
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__the_root_is_made_only_when_asked(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_posix_options options = {.create = true};
    pp_store *store;
    char slashed[320];
    (void)state;
    assert_fails(pp_store_posix_build(&store, made.root, NULL), PARAPET_ERR_NOT_FOUND, made.root);
    assert_null(store);
    (void)snprintf(slashed, sizeof slashed, "%s/deeper", made.root);
    assert_fails(pp_store_posix_build(&store, slashed, &options), PARAPET_ERR_NOT_FOUND, "deeper");
    (void)snprintf(slashed, sizeof slashed, "%s//", made.root);
    assert_ok(pp_store_posix_build(&store, slashed, &options));
    pp_store_free(store);
    assert_ok(pp_store_posix_build(&store, made.root, &options));
    pp_store_free(store);
    write_file(scratch_path(&made, "file"), "");
    assert_int_equal(pp_store_posix_build(&store, scratch_path(&made, "file"), &options), PARAPET_ERR_IO);
    scratch_remove(&made);
}

static bool is_to_be_flushed(const pp_store *store, const char *path)
{
    const pp_posix_store *inside = (const pp_posix_store *)store;
    size_t i;
    for (i = 0; i < inside->dirty.count; i++)
        if (strcmp(inside->dirty.paths[i], path) == 0)
            return true;
    return false;
}

static void test_posix__more_directories_than_are_remembered_are_flushed_early(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    pp_posix_store *inside = (pp_posix_store *)store;
    int i;
    (void)state;
    for (i = 0; i < PP_DIRTY_LIMIT + 10; i++) {
        char path[64], *own;
        (void)snprintf(path, sizeof path, "c/%d", i * 7919 % PP_DIRTY_LIMIT + i / PP_DIRTY_LIMIT * PP_DIRTY_LIMIT);
        assert_ok(pp_text_duplicate(&own, path));
        assert_ok(pp_posix_mark_dirty(inside, own));
        assert_true(is_to_be_flushed(store, path));
        assert_int_equal(inside->dirty.count, i < PP_DIRTY_LIMIT ? i + 1 : i + 1 - PP_DIRTY_LIMIT);
        assert_ok(pp_text_duplicate(&own, path));
        assert_ok(pp_posix_mark_dirty(inside, own));
        assert_int_equal(inside->dirty.count, i < PP_DIRTY_LIMIT ? i + 1 : i + 1 - PP_DIRTY_LIMIT);
    }
    assert_ok(pp_store_sync_dirs(store));
    assert_int_equal(inside->dirty.count, 0);
    pp_store_free(store);
    scratch_remove(&made);
}

static void put_staged(pp_store *store, const char *key, const char *staging)
{
    pp_budget budget;
    pp_budget_init(&budget, (size_t)1 << 20);
    assert_ok(pp_store_write_all(
        store, &(pp_write_request){.key = key, .staging = staging, .budget = &budget, .is_small = true}, "x", 1,
        PP_PUBLISH_REPLACE));
}

/* Each flush takes a disk a millisecond or more. */
static void test_posix__directories_of_temporary_files_are_not_flushed(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    (void)state;
    put_staged(store, "a/zarr.json", "a/own/tmp");
    assert_true(is_to_be_flushed(store, ""));
    assert_true(is_to_be_flushed(store, "a"));
    assert_false(is_to_be_flushed(store, "a/own"));
    assert_false(is_to_be_flushed(store, "a/own/tmp"));
    put_staged(store, "a/owner/seal", "a/own/tmp"); /* another one, whose name begins alike */
    put_staged(store, "a/own.json", "a/own");
    assert_false(is_to_be_flushed(store, "a/own"));
    put_staged(store, "a/own/seal", "a/own/tmp"); /* this stays in it */
    assert_true(is_to_be_flushed(store, "a/own"));
    pp_store_free(store);
    scratch_remove(&made);
}

/* A directory that may go again, such as that of a lock, is flushed once something else is in it or below it. */
static void test_posix__a_passing_directory_is_flushed_when_it_stays(void **state)
{
    static const struct {
        const char *key;
        bool stays;
    } cases[] = {{"b/own/seal", true}, {"b/own/deep/seal", true}, {"b/owner/seal", false}};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scratch made = scratch_make(SCRATCH_HERE);
        pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
        int directory;
        put_staged(store, "b/owner/first", "tmp");
        assert_ok(pp_posix_provide_passing_directory((pp_posix_store *)store, "b/own", &directory));
        assert_int_equal(close(directory), 0);
        assert_ok(pp_store_sync_dirs(store));
        assert_false(is_to_be_flushed(store, "b"));
        put_staged(store, cases[i].key, "tmp");
        assert_int_equal(is_to_be_flushed(store, "b"), cases[i].stays);
        pp_store_free(store);
        scratch_remove(&made);
    }
}

/* A file that is staged beside its final place: the directory is no place of temporary files alone. */
static void test_posix__a_directory_in_which_something_is_staged_for_itself_is_flushed(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    (void)state;
    put_staged(store, "b/g/zarr.json", "b/g");
    assert_true(is_to_be_flushed(store, ""));
    assert_true(is_to_be_flushed(store, "b"));
    assert_true(is_to_be_flushed(store, "b/g"));
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__a_failed_flush_of_a_directory_is_final(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    (void)state;
    assert_ok(put(store, "d/a", "x", PP_PUBLISH_REPLACE));
    assert_int_equal(rename(scratch_path(&made, "store/d"), scratch_path(&made, "store/kept")), 0);
    assert_int_equal(symlink("kept", scratch_path(&made, "store/d")), 0);
    assert_fails(pp_store_sync_dirs(store), PARAPET_ERR_IO, "directory d");
    assert_fails(pp_store_sync_dirs(store), PARAPET_ERR_IO, "directory d");
    pp_store_free(store);
    scratch_remove(&made);
}

/* One directory that cannot be flushed, as above, and as many others as are remembered. */
static pp_store *open_with_full_list(const scratch *made)
{
    pp_store *store = scratch_store(made, PP_DIRECT_IO_LARGE);
    pp_posix_store *inside = (pp_posix_store *)store;
    char name[32], *path;
    int directory;
    assert_int_equal(mkdir(scratch_path(made, "store/f"), 0777), 0);
    assert_int_equal(mkdir(scratch_path(made, "store/g"), 0777), 0);
    write_file(scratch_path(made, "store/f/a"), "old");
    assert_ok(pp_posix_provide_passing_directory(inside, "f/own", &directory));
    assert_int_equal(close(directory), 0);
    assert_ok(put(store, "d/a", "x", PP_PUBLISH_REPLACE));
    assert_int_equal(rename(scratch_path(made, "store/d"), scratch_path(made, "store/kept")), 0);
    assert_int_equal(symlink("kept", scratch_path(made, "store/d")), 0);
    while (inside->dirty.count < PP_DIRTY_LIMIT) {
        (void)snprintf(name, sizeof name, "gone/%zu", inside->dirty.count);
        assert_ok(pp_text_duplicate(&path, name));
        assert_ok(pp_posix_mark_dirty(inside, path));
    }
    return store;
}

static parapet_status publish_one(pp_store *store)
{
    return put(store, "f/new", "x", PP_PUBLISH_REPLACE);
}

static parapet_status move_one(pp_store *store)
{
    return pp_store_move(store, "f/a", "g/a");
}

static parapet_status make_one_directory(pp_store *store)
{
    return put(store, "f/new/a", "x", PP_PUBLISH_REPLACE);
}

static parapet_status stay_in_a_passing_directory(pp_store *store)
{
    return put(store, "f/own/a", "x", PP_PUBLISH_REPLACE);
}

static void test_posix__a_flush_that_fails_early_fails_the_call_that_needs_it(void **state)
{
    static parapet_status (*const calls[])(pp_store * store) = {publish_one, move_one, make_one_directory,
                                                                stay_in_a_passing_directory};
    int descriptors = descriptor_count();
    size_t i;
    (void)state;
    for (i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        scratch made = scratch_make(SCRATCH_HERE);
        pp_store *store = open_with_full_list(&made);
        assert_fails(calls[i](store), PARAPET_ERR_IO, "directory d");
        assert_fails(pp_store_sync_dirs(store), PARAPET_ERR_IO, "directory d");
        pp_store_free(store);
        scratch_remove(&made);
    }
    assert_int_equal(descriptor_count(), descriptors);
}

static void test_posix__temporary_names_are_told_apart_from_others(void **state)
{
    static const struct {
        const char *name;
        bool is_temporary;
    } cases[] = {
        {".parapet-0123456789abcdef0123456789abcdef.tmp", true},
        {".parapet-0123456789abcdef0123456789abcdef.tmq", false},
        {".parapet-0123456789abcdef0123456789abcdef", false},
        {".parapet-0123456789abcdef0123456789abcdef0.tmp", false},
        {".parapet-0123456789abcdef0123456789abcde.tmp", false},
        {".parapet-0123456789ABCDEF0123456789abcdef.tmp", false},
        {"_parapet-0123456789abcdef0123456789abcdef.tmp", false},
        {".parapet-", false},
        {"", false},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(pp_store_is_temporary_name(cases[i].name), cases[i].is_temporary);
}

static void test_posix__objects_without_a_budget_are_written_without_a_buffer(void **state)
{
    pp_write_request request = {.key = "a", .staging = "tmp"};
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_ALWAYS);
    (void)state;
    assert_ok(pp_store_write_all(store, &request, pattern, MIB + 5, PP_PUBLISH_REPLACE));
    assert_pattern(store, "a", MIB + 5);
    pp_store_free(store);
    scratch_remove(&made);
}

/* A system call that is refused again and again is given up, and not before. */
static void test_posix__refusals_have_an_end(void **state)
{
    int refusals = 0, repeated = 0;
    (void)state;
    assert_false(pp_posix_may_repeat(EIO, &refusals));
    assert_true(pp_posix_may_repeat(EINTR, &refusals));
    while (pp_posix_may_repeat(EAGAIN, &refusals))
        assert_true(++repeated < 1000);
    assert_true(repeated > 1);
}

static void test_posix__files_that_the_user_names_are_found_where_they_are(void **state)
{
    static const char *const names[] = {"no such name", "zarr.json"};
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store;
    char *found;
    (void)state;
    assert_int_equal(mkdir(made.root, 0777), 0);
    write_file(scratch_path(&made, "store/zarr.json"), "{}");
    assert_true(pp_posix_is_directory(made.root));
    assert_false(pp_posix_is_directory(scratch_path(&made, "store/zarr.json")));
    assert_false(pp_posix_is_directory(scratch_path(&made, "nothing")));
    assert_ok(pp_posix_find_above(made.root, names, 2, &found));
    assert_non_null(strstr(found, "store/zarr.json"));
    pp_free(found);
    assert_int_equal(pp_posix_find_above(scratch_path(&made, "nothing"), names, 2, &found), PARAPET_ERR_NOT_FOUND);
    assert_null(found);
    assert_ok(
        pp_store_posix_build_around(&store, scratch_path(&made, "store/zarr.json"), &(pp_posix_options){0}, &found));
    assert_object(store, found, "{}");
    pp_free(found);
    pp_store_free(store);
    assert_fails(
        pp_store_posix_build_around(&store, scratch_path(&made, "store/missing"), &(pp_posix_options){0}, &found),
        PARAPET_ERR_NOT_FOUND, "store/missing");
    assert_null(store);
    assert_null(found);
    assert_ok(pp_store_posix_build_around(&store, "/", &(pp_posix_options){.read_only = true}, &found));
    assert_string_equal(found, "");
    pp_free(found);
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__without_durability_the_same_bytes_are_there(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_posix_options options = {.create = true, .not_durable = true};
    pp_store *store;
    (void)state;
    assert_ok(pp_store_posix_build(&store, made.root, &options));
    assert_ok(put(store, "a/b", "text", PP_PUBLISH_REPLACE));
    assert_int_equal(((pp_posix_store *)store)->dirty.count, 0);
    assert_ok(pp_store_sync_dirs(store));
    assert_object(store, "a/b", "text");
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__reading_a_whole_object_is_bounded(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    char *data;
    size_t bytes;
    (void)state;
    assert_ok(put(store, "a", "12345", PP_PUBLISH_REPLACE));
    assert_fails(pp_store_read_all(store, "a", 4, &data, &bytes), PARAPET_ERR_FORMAT, "more than the 4");
    assert_null(data);
    assert_ok(pp_store_read_all(store, "a", 5, &data, &bytes));
    assert_string_equal(data, "12345");
    pp_free(data);
    pp_store_free(store);
    scratch_remove(&made);
}

typedef struct busy_thread {
    pthread_t thread;
    pp_store *store;
    int number;
    parapet_status status;
} busy_thread;

static void *publish_many(void *context)
{
    busy_thread *self = context;
    int i;
    for (i = 0; i < 100 && self->status == PARAPET_OK; i++) {
        char key[64];
        (void)snprintf(key, sizeof key, "c/%d/%d", i % 50, self->number * 100 + i);
        self->status = put(self->store, key, key, PP_PUBLISH_EXCLUSIVE);
        if (self->status == PARAPET_OK && i % 10 == 9)
            self->status = pp_store_sync_dirs(self->store);
    }
    return NULL;
}

static void test_posix__several_threads_use_one_store(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    busy_thread threads[4] = {{0}};
    long live = pp_memory_live_count();
    int i;
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    (void)state;
    for (i = 0; i < 4; i++) {
        threads[i].store = store;
        threads[i].number = i;
        assert_int_equal(pthread_create(&threads[i].thread, NULL, publish_many, &threads[i]), 0);
    }
    for (i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i].thread, NULL), 0);
        assert_int_equal(threads[i].status, PARAPET_OK);
    }
    for (i = 0; i < 400; i++) {
        char key[64];
        (void)snprintf(key, sizeof key, "c/%d/%d", i % 100 % 50, i);
        assert_object(store, key, key);
    }
    assert_listing(store, "tmp", "");
    pp_store_free(store);
    assert_int_equal(pp_memory_live_count(), live);
    scratch_remove(&made);
}

/* Everything a store does, once; stops at the first failure. */
static parapet_status do_everything(const scratch *made)
{
    pp_posix_options options = {.create = true};
    pp_budget budget;
    pp_write_request request = {.key = "a/b/c", .staging = "tmp", .budget = &budget, .bound_bytes = 5000};
    pp_store *store;
    char *data = NULL, names[1024] = "";
    size_t bytes;
    parapet_status status;
    pp_budget_init(&budget, 1 << 20);
    if ((status = pp_store_posix_build(&store, made->root, &options)) == PARAPET_OK &&
        (status = pp_store_write_all(store, &request, pattern, 5000, PP_PUBLISH_REPLACE)) == PARAPET_OK &&
        (status = pp_store_sync_dirs(store)) == PARAPET_OK &&
        (status = pp_store_read_all(store, "a/b/c", 5000, &data, &bytes)) == PARAPET_OK &&
        (status = pp_store_list(store, "", note_name, names)) == PARAPET_OK &&
        (status = pp_store_remove(store, "a/b/c")) == PARAPET_OK)
        status = pp_store_remove_prefix(store, "a");
    pp_free(data);
    pp_store_free(store);
    return status;
}

static void test_posix__each_refused_allocation_fails_cleanly(void **state)
{
    long live = pp_memory_live_count();
    int descriptors = descriptor_count();
    refusal plan = {0};
    (void)state;
    for (plan.at = 0;; plan.at++) {
        scratch made = scratch_make(SCRATCH_MEMORY);
        parapet_status status;
        plan.count = 0;
        pp_memory_hook_set(refuse_one, &plan);
        status = do_everything(&made);
        pp_memory_hook_set(NULL, NULL);
        assert_int_equal(status, plan.count > plan.at ? PARAPET_ERR_MEMORY : PARAPET_OK);
        assert_int_equal(pp_memory_live_count(), live);
        assert_int_equal(descriptor_count(), descriptors);
        assert_true(entry_count(scratch_path(&made, "store/tmp")) <= 0);
        scratch_remove(&made);
        if (plan.count <= plan.at)
            break;
    }
    assert_true(plan.at > 10);
}

/* What one process has changed another can sync; it waits until it is known to be settled. */
static void test_posix__changes_wait_until_they_are_forgotten(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    pp_text before = {0}, after = {0}, forgotten = {0};
    (void)state;
    assert_true(pp_store_is_dealt_out(store));
    assert_ok(put(store, "a/b", "x", PP_PUBLISH_REPLACE));
    pp_store_list_unsynced_dirs(store, &before);
    assert_ok(before.status);
    assert_true(before.bytes > 0 && before.data[before.bytes - 1] == '\0');
    assert_ok(pp_store_take_unsynced_dirs(store, "a"));
    assert_ok(pp_store_take_unsynced_dirs(store, "a"));
    assert_ok(pp_store_take_unsynced_dirs(store, "gone"));
    assert_ok(pp_store_sync_taken_dirs(store));
    pp_store_list_unsynced_dirs(store, &after);
    assert_int_equal(after.bytes, before.bytes);
    assert_memory_equal(after.data, before.data, before.bytes);
    pp_store_forget_unsynced_dirs(store);
    pp_store_list_unsynced_dirs(store, &forgotten);
    assert_int_equal(forgotten.bytes, 0);
    pp_store_fail_unsynced_dirs(store, pp_fail(PARAPET_ERR_IO, "a flush failed elsewhere"));
    assert_false(pp_store_has_failed_sync(store)); /* nothing waits: it was not for this process */
    assert_ok(put(store, "a/c", "x", PP_PUBLISH_REPLACE));
    pp_store_fail_unsynced_dirs(store, pp_fail(PARAPET_ERR_IO, "a flush failed elsewhere"));
    assert_true(pp_store_has_failed_sync(store));
    assert_int_equal(pp_store_sync_dirs(store), PARAPET_ERR_IO);
    assert_string_equal(parapet_error_message(), "a flush failed elsewhere");
    pp_text_free(&before);
    pp_text_free(&after);
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_posix__a_store_knows_whether_it_is_in_memory(void **state)
{
    static const char *const places[] = {SCRATCH_HERE, SCRATCH_MEMORY};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof places / sizeof places[0]; i++) {
        scratch made = scratch_make(places[i]);
        pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
        struct statfs found;
        assert_int_equal(statfs(made.path, &found), 0);
        assert_int_equal(store->is_in_memory, found.f_type == TMPFS_MAGIC);
        pp_store_free(store);
        scratch_remove(&made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_posix__every_length_comes_back_exactly),
        cmocka_unit_test(test_posix__a_store_knows_whether_it_is_in_memory),
        cmocka_unit_test(test_posix__every_length_comes_back_where_halves_are_written_meanwhile),
        cmocka_unit_test(test_posix__pages_of_the_caller_are_written_straight),
        cmocka_unit_test(test_posix__a_short_budget_gives_a_smaller_buffer_or_a_refusal),
        cmocka_unit_test(test_posix__small_objects_need_no_budget),
        cmocka_unit_test(test_posix__an_abandoned_writer_leaves_the_old_object),
        cmocka_unit_test(test_posix__temporary_names_can_lie_in_the_root),
        cmocka_unit_test(test_posix__a_reader_keeps_the_object_it_opened),
        cmocka_unit_test(test_posix__an_object_cut_short_while_open_is_reported),
        cmocka_unit_test(test_posix__exclusive_publish_never_replaces),
        cmocka_unit_test(test_posix__calls_out_of_order_are_refused),
        cmocka_unit_test(test_posix__a_file_system_that_refuses_more_bytes_is_full),
        cmocka_unit_test(test_posix__a_staging_directory_that_vanished_is_no_absent_key),
        cmocka_unit_test(test_posix__children_are_told_in_the_order_of_names),
        cmocka_unit_test(test_posix__removing_reaches_everything_below_a_prefix_only),
        cmocka_unit_test(test_posix__removing_gives_up_on_endless_nesting),
        cmocka_unit_test(test_posix__a_store_open_for_reading_changes_nothing),
        cmocka_unit_test(test_posix__the_root_is_made_only_when_asked),
        cmocka_unit_test(test_posix__more_directories_than_are_remembered_are_flushed_early),
        cmocka_unit_test(test_posix__directories_of_temporary_files_are_not_flushed),
        cmocka_unit_test(test_posix__a_passing_directory_is_flushed_when_it_stays),
        cmocka_unit_test(test_posix__a_directory_in_which_something_is_staged_for_itself_is_flushed),
        cmocka_unit_test(test_posix__a_failed_flush_of_a_directory_is_final),
        cmocka_unit_test(test_posix__a_flush_that_fails_early_fails_the_call_that_needs_it),
        cmocka_unit_test(test_posix__temporary_names_are_told_apart_from_others),
        cmocka_unit_test(test_posix__objects_without_a_budget_are_written_without_a_buffer),
        cmocka_unit_test(test_posix__refusals_have_an_end),
        cmocka_unit_test(test_posix__files_that_the_user_names_are_found_where_they_are),
        cmocka_unit_test(test_posix__without_durability_the_same_bytes_are_there),
        cmocka_unit_test(test_posix__reading_a_whole_object_is_bounded),
        cmocka_unit_test(test_posix__changes_wait_until_they_are_forgotten),
        cmocka_unit_test(test_posix__several_threads_use_one_store),
        cmocka_unit_test(test_posix__each_refused_allocation_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, make_pattern, free_pattern);
}
