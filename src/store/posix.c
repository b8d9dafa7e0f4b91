#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/internal.h"

static void posix_free(pp_store *base)
{
    pp_posix_store *store = (pp_posix_store *)base;
    pp_posix_clear_dirty(&store->dirty);
    pp_posix_clear_dirty(&store->taken);
    while (store->passing_count > 0)
        pp_free(store->passing[--store->passing_count]);
    (void)pthread_mutex_destroy(&store->mutex);
    if (store->root >= 0)
        (void)close(store->root);
    pp_free(store);
}

static const pp_store_ops posix_ops = {
    .name = "directory",
    .open = pp_posix_open_reader,
    .read = pp_posix_read,
    .expect = pp_posix_expect,
    .close_reader = pp_posix_close_reader,
    .version = pp_posix_version_at,
    .begin = pp_posix_begin,
    .resume = pp_posix_resume,
    .append = pp_posix_append,
    .sync = pp_posix_sync,
    .suspend = pp_posix_suspend,
    .stage = pp_posix_stage,
    .publish = pp_posix_publish,
    .free_writer = pp_posix_free_writer,
    .open_log = pp_posix_open_log,
    .append_log = pp_posix_append_log,
    .close_log = pp_posix_close_log,
    .open_lock = pp_posix_open_lock,
    .set_lock = pp_posix_set_lock,
    .test_lock = pp_posix_test_lock,
    .prove_lock = pp_posix_prove_lock,
    .write_lock = pp_posix_write_lock,
    .read_lock = pp_posix_read_lock,
    .view_lock = pp_posix_view_lock,
    .close_lock = pp_posix_close_lock,
    .sync_dirs = pp_posix_sync_dirs,
    .list_unsynced_dirs = pp_posix_list_unsynced_dirs,
    .take_unsynced_dirs = pp_posix_take_unsynced_dirs,
    .sync_taken_dirs = pp_posix_sync_taken_dirs,
    .forget_unsynced_dirs = pp_posix_forget_unsynced_dirs,
    .has_failed_sync = pp_posix_has_failed_sync,
    .fail_unsynced_dirs = pp_posix_fail_unsynced_dirs,
    .move = pp_posix_move,
    .remove = pp_posix_remove,
    .remove_prefix = pp_posix_remove_prefix,
    .remove_empty = pp_posix_remove_empty,
    .list = pp_posix_list,
    .free = posix_free,
};

void pp_store_posix_use_records(pp_store *base, bool takes_over)
{
    pp_posix_store *store = (pp_posix_store *)base;
    pp_store_ops *ops = &store->record_ops;
    *ops = posix_ops;
    ops->open_lock = pp_record_open_lock;
    ops->set_lock = pp_record_set_lock;
    ops->test_lock = pp_record_test_lock;
    ops->prove_lock = pp_record_prove_lock;
    ops->write_lock = pp_record_write_lock;
    ops->read_lock = NULL;
    ops->view_lock = pp_record_view_lock;
    ops->close_lock = pp_record_close_lock;
    store->store.ops = ops;
    store->takes_over = takes_over;
    store->opened = pp_clock_wall_ns() / PP_SECOND_NS;
}

/* The directory that holds the root, as a path: "a/b/" lies in "a", "b" in ".", "/b" in "/". */
static parapet_status parent_of_root(const char *root, char **parent)
{
    size_t bytes = strlen(root);
    parapet_status status;
    while (bytes > 1 && root[bytes - 1] == '/')
        bytes--;
    while (bytes > 0 && root[bytes - 1] != '/')
        bytes--;
    while (bytes > 1 && root[bytes - 1] == '/')
        bytes--;
    if (bytes == 0)
        return pp_text_duplicate(parent, ".");
    if ((status = pp_allocate(parent, bytes + 1)) == PARAPET_OK)
        memcpy(*parent, root, bytes);
    return status;
}

static parapet_status flush_parent(const char *root, const char *parent)
{
    parapet_status status = PARAPET_OK;
    int descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0 || (fsync(descriptor) != 0 && errno != EINVAL))
        status = pp_posix_fail_write(errno, "flush the directory that holds", root);
    if (descriptor >= 0)
        (void)close(descriptor);
    return status;
}

static parapet_status create_root(const char *root, const pp_posix_options *options)
{
    char *parent;
    parapet_status status = parent_of_root(root, &parent);
    if (status != PARAPET_OK)
        return status;
    if (mkdir(root, 0777) != 0)
        status = errno == EEXIST ? PARAPET_OK : pp_fail_errno(errno, "cannot create the directory %s", root);
    else if (!options->not_durable && (status = flush_parent(root, parent)) != PARAPET_OK)
        (void)rmdir(root); /* or the next attempt would find it and trust it */
    pp_free(parent);
    return status;
}

/* Some sandboxes answer EPERM for a system call they do not know. */
static bool probe_openat2(int root)
{
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
    long descriptor = syscall(SYS_openat2, root, ".", &how, sizeof how);
    if (descriptor >= 0)
        (void)close((int)descriptor);
    return descriptor >= 0;
}

/* The root itself may be reached through links: that is the user's choice. */
static parapet_status open_root(pp_posix_store *store, const char *root)
{
    struct stat found;
    store->root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (store->root < 0)
        return pp_fail_errno(errno, "cannot open the directory %s", root);
    if (fstat(store->root, &found) != 0)
        return pp_fail_errno(errno, "cannot examine the directory %s", root);
    store->store.place[0] = (uint64_t)found.st_dev;
    store->store.place[1] = (uint64_t)found.st_ino;
    store->has_openat2 = probe_openat2(store->root);
    return PARAPET_OK;
}

parapet_status pp_store_posix_build(pp_store **result, const char *root, const pp_posix_options *options)
{
    static const pp_posix_options defaults = {0};
    pp_posix_store *store;
    parapet_status status;
    *result = NULL;
    if (options == NULL)
        options = &defaults;
    if (options->create && (status = create_root(root, options)) != PARAPET_OK)
        return status;
    if ((status = pp_allocate(&store, sizeof *store)) != PARAPET_OK)
        return status;
    store->store.ops = &posix_ops;
    store->store.is_dealt_out = !options->not_durable && !options->read_only;
    store->options = *options;
    (void)pthread_mutex_init(&store->mutex, NULL);
    if ((status = open_root(store, root)) != PARAPET_OK) {
        posix_free(&store->store);
        return status;
    }
    store->store.is_in_memory = pp_posix_is_in_memory(store->root);
    *result = &store->store;
    return PARAPET_OK;
}
