/* scratch.h - what the tests of stores share: a directory that goes away, and short ways to write and compare. */
#ifndef PARAPET_TESTS_STORE_SCRATCH_H
#define PARAPET_TESTS_STORE_SCRATCH_H

#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store.h"

#define SCRATCH_HERE "."
#define SCRATCH_MEMORY "/dev/shm"

typedef struct scratch {
    char path[256]; /* of the scratch directory */
    char root[300]; /* "store" in it, not made yet */
} scratch;

static inline scratch scratch_make(const char *where)
{
    scratch made;
    (void)snprintf(made.path, sizeof made.path, "%s/parapet-test-XXXXXX", where);
    assert_non_null(mkdtemp(made.path));
    (void)snprintf(made.root, sizeof made.root, "%s/store", made.path);
    return made;
}

static inline int scratch_remove_one(const char *path, const struct stat *found, int type, struct FTW *at)
{
    (void)found;
    (void)type;
    (void)at;
    return remove(path);
}

static inline void scratch_remove(const scratch *made)
{
    assert_int_equal(nftw(made->path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* A path in the scratch directory; valid until the fourth next call. */
static inline const char *scratch_path(const scratch *made, const char *name)
{
    static char paths[4][640];
    static int next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", made->path, name);
    return path;
}

static inline pp_store *scratch_store(const scratch *made, pp_direct_io direct_io)
{
    pp_posix_options options = {.create = true, .direct_io = direct_io};
    pp_store *store;
    assert_ok(pp_store_posix_build(&store, made->root, &options));
    return store;
}

static inline pp_write_request small_request(const char *key)
{
    return (pp_write_request){.key = key, .staging = "tmp", .is_small = true};
}

static inline parapet_status put(pp_store *store, const char *key, const char *text, pp_publish_mode mode)
{
    pp_write_request request = small_request(key);
    return pp_store_write_all(store, &request, text, strlen(text), mode);
}

static inline void assert_object(pp_store *store, const char *key, const char *text)
{
    char *data;
    size_t bytes;
    assert_ok(pp_store_read_all(store, key, 1 << 20, &data, &bytes));
    assert_string_equal(data, text);
    assert_int_equal(bytes, strlen(text));
    pp_free(data);
}

static inline void assert_absent(pp_store *store, const char *key)
{
    char *data;
    size_t bytes;
    assert_int_equal(pp_store_read_all(store, key, 1 << 20, &data, &bytes), PARAPET_ERR_NOT_FOUND);
    assert_null(data);
}

static inline parapet_status note_name(void *context, const pp_listed *listed)
{
    char *text = context;
    size_t used = strlen(text);
    if (listed->is_prefix)
        (void)snprintf(text + used, 1024 - used, "%s/ ", listed->name);
    else
        (void)snprintf(text + used, 1024 - used, "%s=%llu ", listed->name, (unsigned long long)listed->bytes);
    return PARAPET_OK;
}

/* The children of a prefix as "a=3 b/ "; at most 1023 bytes of it. */
static inline void assert_listing(pp_store *store, const char *prefix, const char *expected)
{
    char text[1024] = "";
    assert_ok(pp_store_list(store, prefix, note_name, text));
    assert_string_equal(text, expected);
}

/* The number of entries in a directory of the file system, or -1. */
static inline int entry_count(const char *path)
{
    DIR *directory = opendir(path);
    int count = -2;
    if (directory == NULL)
        return -1;
    while (readdir(directory) != NULL)
        count++;
    (void)closedir(directory);
    return count;
}

static inline int descriptor_count(void)
{
    return entry_count("/proc/self/fd");
}

static inline void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static inline void assert_file(const char *path, const char *text)
{
    char found[1024] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    (void)fread(found, 1, sizeof found - 1, file);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(found, text);
}

/* Refuses the allocation of that number, counted from 0. */
typedef struct refusal {
    long at;
    long count;
} refusal;

static inline int refuse_one(void *context, size_t bytes)
{
    refusal *plan = context;
    (void)bytes;
    return plan->count++ == plan->at;
}

#endif
