#include "scratch.h"

#include <pthread.h>
#include <stdatomic.h>

#include "store/internal.h"

/* outside/secret lies beside the store; the store is full of ways to get there. */
typedef struct trap {
    scratch made;
    pp_store *store;
} trap;

static void link_in(const scratch *made, const char *target, const char *name)
{
    assert_int_equal(symlink(target, scratch_path(made, name)), 0);
}

static trap trap_make(bool has_openat2)
{
    trap set = {.made = scratch_make(SCRATCH_HERE)};
    assert_int_equal(mkdir(scratch_path(&set.made, "outside"), 0777), 0);
    write_file(scratch_path(&set.made, "outside/secret"), "secret");
    set.store = scratch_store(&set.made, PP_DIRECT_IO_LARGE);
    if (!has_openat2)
        ((pp_posix_store *)set.store)->has_openat2 = false;
    assert_ok(put(set.store, "good/object", "fine", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_remove_prefix(set.store, "tmp"));
    link_in(&set.made, "../outside/secret", "store/file");
    link_in(&set.made, "/etc/passwd", "store/absolute");
    link_in(&set.made, "../outside", "store/directory");
    link_in(&set.made, "../../outside", "store/good/deep");
    link_in(&set.made, "good", "store/inner");
    link_in(&set.made, "nowhere", "store/dangling");
    assert_int_equal(mkfifo(scratch_path(&set.made, "store/pipe"), 0666), 0);
    return set;
}

/* Nothing outside was read into, added, replaced or removed. */
static void trap_check_and_remove(trap *set)
{
    assert_int_equal(entry_count(scratch_path(&set->made, "outside")), 1);
    assert_file(scratch_path(&set->made, "outside/secret"), "secret");
    pp_store_free(set->store);
    scratch_remove(&set->made);
}

static void for_both_ways(void (*check)(trap *set))
{
    int way;
    for (way = 0; way < 2; way++) {
        int descriptors = descriptor_count();
        trap set = trap_make(way == 0);
        check(&set);
        trap_check_and_remove(&set);
        assert_int_equal(descriptor_count(), descriptors);
    }
}

static void check_reading(trap *set)
{
    static const char *const keys[] = {"file",     "absolute",         "directory/secret",     "good/deep/secret",
                                       "dangling", "directory/absent", "directory/a/b/absent", "inner/object"};
    pp_reader *reader;
    size_t i;
    for (i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        assert_fails(pp_store_open_object(set->store, keys[i], &reader), PARAPET_ERR_IO, "symbolic link");
        assert_null(reader);
    }
    assert_object(set->store, "good/object", "fine");
    assert_absent(set->store, "good/absent");
    assert_absent(set->store, "absent/object");
    assert_absent(set->store, "good/object/below");
}

static void test_posix_paths__no_link_is_followed_for_reading(void **state)
{
    (void)state;
    for_both_ways(check_reading);
}

static void check_strange_things(trap *set)
{
    pp_reader *reader;
    assert_fails(pp_store_open_object(set->store, "pipe", &reader), PARAPET_ERR_FORMAT, "named pipe");
    assert_fails(pp_store_open_object(set->store, "good", &reader), PARAPET_ERR_FORMAT, "directory");
    assert_absent(set->store, "pipe/x");
}

static void test_posix_paths__pipes_and_directories_are_no_objects_and_never_block(void **state)
{
    (void)state;
    for_both_ways(check_strange_things);
}

static void check_dotted(trap *set)
{
    static const char *const keys[] = {"../outside/secret", "good/../../outside/secret", "/etc/passwd", "", ".",
                                       "good/./object"};
    pp_reader *reader;
    pp_write_request request = {.key = "x", .is_small = true};
    pp_writer *writer;
    size_t i;
    for (i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        assert_int_equal(pp_store_open_object(set->store, keys[i], &reader), PARAPET_ERR_ARGUMENT);
        assert_int_equal(put(set->store, keys[i], "x", PP_PUBLISH_REPLACE), PARAPET_ERR_ARGUMENT);
        assert_int_equal(pp_store_remove(set->store, keys[i]), PARAPET_ERR_ARGUMENT);
        if (keys[i][0] == '\0')
            continue;
        request.staging = keys[i];
        assert_int_equal(pp_store_begin(set->store, &request, &writer), PARAPET_ERR_ARGUMENT);
        assert_int_equal(pp_store_remove_prefix(set->store, keys[i]), PARAPET_ERR_ARGUMENT);
        assert_int_equal(pp_store_list(set->store, keys[i], note_name, NULL), PARAPET_ERR_ARGUMENT);
    }
}

static void test_posix_paths__dots_and_absolute_names_are_refused_everywhere(void **state)
{
    (void)state;
    for_both_ways(check_dotted);
}

static void check_writing(trap *set)
{
    static const char *const keys[] = {"directory/secret", "directory/new", "directory/a/new", "good/deep/new",
                                       "inner/object"};
    pp_write_request request = {.key = "x", .staging = "directory/tmp", .is_small = true};
    pp_writer *writer;
    size_t i;
    for (i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_fails(put(set->store, keys[i], "evil", PP_PUBLISH_REPLACE), PARAPET_ERR_IO, "symbolic link");
    assert_fails(pp_store_begin(set->store, &request, &writer), PARAPET_ERR_IO, "symbolic link");
    request.staging = "directory";
    assert_fails(pp_store_begin(set->store, &request, &writer), PARAPET_ERR_IO, "symbolic link");
    assert_object(set->store, "good/object", "fine");
    assert_listing(set->store, "tmp", "");
}

static void test_posix_paths__no_link_is_followed_for_writing(void **state)
{
    (void)state;
    for_both_ways(check_writing);
}

static void check_replacing(trap *set)
{
    assert_fails(put(set->store, "file", "mine", PP_PUBLISH_EXCLUSIVE), PARAPET_ERR_EXISTS, "file already exists");
    assert_ok(put(set->store, "file", "mine", PP_PUBLISH_REPLACE));
    assert_object(set->store, "file", "mine");
    assert_ok(put(set->store, "directory", "mine", PP_PUBLISH_REPLACE));
    assert_object(set->store, "directory", "mine");
    assert_ok(put(set->store, "pipe", "mine", PP_PUBLISH_REPLACE));
    assert_object(set->store, "pipe", "mine");
    assert_int_equal(put(set->store, "good", "mine", PP_PUBLISH_REPLACE), PARAPET_ERR_IO);
    assert_object(set->store, "good/object", "fine");
}

static void test_posix_paths__publishing_replaces_a_link_and_not_what_it_names(void **state)
{
    (void)state;
    for_both_ways(check_replacing);
}

static void check_removing(trap *set)
{
    assert_fails(pp_store_remove(set->store, "directory/secret"), PARAPET_ERR_IO, "symbolic link");
    assert_fails(pp_store_remove_prefix(set->store, "directory/a"), PARAPET_ERR_IO, "symbolic link");
    assert_ok(pp_store_remove(set->store, "file"));
    assert_absent(set->store, "file");
    assert_ok(pp_store_remove_prefix(set->store, "directory"));
    assert_absent(set->store, "directory");
    assert_ok(pp_store_remove_prefix(set->store, "good"));
    assert_absent(set->store, "good/object");
    assert_ok(pp_store_remove_prefix(set->store, ""));
    assert_int_equal(entry_count(set->made.root), 0);
}

static void test_posix_paths__removing_takes_links_and_not_what_they_name(void **state)
{
    (void)state;
    for_both_ways(check_removing);
}

static void check_listing(trap *set)
{
    assert_fails(pp_store_list(set->store, "directory", note_name, NULL), PARAPET_ERR_IO, "symbolic link");
    write_file(scratch_path(&set->made, "store/bad\nname"), "x");
    assert_listing(set->store, "", "good/ ");
    assert_listing(set->store, "good", "object=4 ");
}

static void test_posix_paths__links_pipes_and_impossible_names_are_not_listed(void **state)
{
    (void)state;
    for_both_ways(check_listing);
}

static parapet_status keep_name(void *context, const pp_listed *listed)
{
    (void)snprintf(context, 256, "outside/%s", listed->name);
    return PARAPET_OK;
}

/* The staging directory becomes a link to the outside, where a file of the same name waits. */
static void check_swapped_staging(trap *set)
{
    pp_write_request request = small_request("good/new");
    pp_writer *writer;
    char planted[256];
    assert_ok(pp_store_begin(set->store, &request, &writer));
    assert_ok(pp_store_list(set->store, "tmp", keep_name, planted));
    assert_int_equal(rename(scratch_path(&set->made, "store/tmp"), scratch_path(&set->made, "store/moved")), 0);
    link_in(&set->made, "../outside", "store/tmp");
    write_file(scratch_path(&set->made, planted), "planted");
    assert_fails(pp_writer_publish(writer, PP_PUBLISH_REPLACE), PARAPET_ERR_IO, "symbolic link");
    pp_writer_free(writer);
    assert_file(scratch_path(&set->made, planted), "planted");
    assert_int_equal(unlink(scratch_path(&set->made, planted)), 0);
    assert_absent(set->store, "good/new");
}

static void test_posix_paths__a_staging_directory_turned_into_a_link_is_not_followed(void **state)
{
    (void)state;
    for_both_ways(check_swapped_staging);
}

static void test_posix_paths__devices_and_magic_links_are_refused(void **state)
{
    static const char *const keys[] = {"exe", "cwd/anything", "root/etc/passwd", "fd/0", "ns/mnt"};
    pp_posix_options options = {.read_only = true};
    pp_store *store;
    pp_reader *reader;
    size_t i;
    int way;
    (void)state;
    for (way = 0; way < 2; way++) {
        assert_ok(pp_store_posix_build(&store, "/proc/self", &options));
        if (way == 1)
            ((pp_posix_store *)store)->has_openat2 = false;
        for (i = 0; i < sizeof keys / sizeof keys[0]; i++)
            assert_fails(pp_store_open_object(store, keys[i], &reader), PARAPET_ERR_IO, "symbolic link");
        pp_store_free(store);
        assert_ok(pp_store_posix_build(&store, "/dev", &options));
        assert_fails(pp_store_open_object(store, "zero", &reader), PARAPET_ERR_FORMAT, "device");
        pp_store_free(store);
    }
}

static void test_posix_paths__the_root_itself_may_be_a_link(void **state)
{
    trap set = trap_make(true);
    pp_store *store;
    (void)state;
    link_in(&set.made, "store", "alias");
    assert_ok(pp_store_posix_build(&store, scratch_path(&set.made, "alias"), NULL));
    assert_object(store, "good/object", "fine");
    pp_store_free(store);
    trap_check_and_remove(&set);
}

static void test_posix_paths__temporary_files_are_no_wider_than_the_umask(void **state)
{
    trap set = trap_make(true);
    mode_t old = umask(027);
    struct stat found;
    (void)state;
    assert_ok(put(set.store, "d/new", "x", PP_PUBLISH_REPLACE));
    (void)umask(old);
    assert_int_equal(stat(scratch_path(&set.made, "store/d/new"), &found), 0);
    assert_int_equal(found.st_mode & 0777, 0640);
    assert_int_equal(stat(scratch_path(&set.made, "store/d"), &found), 0);
    assert_int_equal(found.st_mode & 0777, 0750);
    trap_check_and_remove(&set);
}

typedef struct swapper {
    int root;
    atomic_bool stop;
    long swaps;
} swapper;

/* "spot" is by turns a directory of the store and a link to the outside. */
static void *swap_for_ever(void *context)
{
    swapper *self = context;
    while (!atomic_load(&self->stop)) {
        if (renameat2(self->root, "spot", self->root, "spare", RENAME_EXCHANGE) != 0)
            break;
        self->swaps++;
    }
    return NULL;
}

static void race(trap *set, int rounds)
{
    int i;
    for (i = 0; i < rounds; i++) {
        char *data;
        size_t bytes;
        parapet_status status = pp_store_read_all(set->store, "spot/secret", 100, &data, &bytes);
        assert_true(status == PARAPET_OK || status == PARAPET_ERR_IO);
        if (status == PARAPET_OK)
            assert_string_equal(data, "inside");
        pp_free(data);
        if (i % 100 == 0) {
            status = put(set->store, "spot/new", "x", PP_PUBLISH_REPLACE);
            assert_true(status == PARAPET_OK || status == PARAPET_ERR_IO);
            status = pp_store_remove(set->store, "spot/new");
            assert_true(status == PARAPET_OK || status == PARAPET_ERR_IO || status == PARAPET_ERR_NOT_FOUND);
        }
    }
}

static void check_race(trap *set)
{
    swapper self = {.root = open(set->made.root, O_PATH | O_DIRECTORY)};
    pthread_t thread;
    assert_ok(put(set->store, "spot/secret", "inside", PP_PUBLISH_REPLACE));
    link_in(&set->made, "../outside", "store/spare");
    assert_int_equal(pthread_create(&thread, NULL, swap_for_ever, &self), 0);
    race(set, 10000);
    atomic_store(&self.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(self.swaps > 0);
    assert_int_equal(close(self.root), 0);
}

static void test_posix_paths__a_link_swapped_in_during_the_call_is_never_followed(void **state)
{
    (void)state;
    for_both_ways(check_race);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_posix_paths__no_link_is_followed_for_reading),
        cmocka_unit_test(test_posix_paths__pipes_and_directories_are_no_objects_and_never_block),
        cmocka_unit_test(test_posix_paths__dots_and_absolute_names_are_refused_everywhere),
        cmocka_unit_test(test_posix_paths__no_link_is_followed_for_writing),
        cmocka_unit_test(test_posix_paths__publishing_replaces_a_link_and_not_what_it_names),
        cmocka_unit_test(test_posix_paths__removing_takes_links_and_not_what_they_name),
        cmocka_unit_test(test_posix_paths__links_pipes_and_impossible_names_are_not_listed),
        cmocka_unit_test(test_posix_paths__a_staging_directory_turned_into_a_link_is_not_followed),
        cmocka_unit_test(test_posix_paths__devices_and_magic_links_are_refused),
        cmocka_unit_test(test_posix_paths__the_root_itself_may_be_a_link),
        cmocka_unit_test(test_posix_paths__temporary_files_are_no_wider_than_the_umask),
        cmocka_unit_test(test_posix_paths__a_link_swapped_in_during_the_call_is_never_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
