/* file.h - what the tests of foreign files share: files that are written byte by byte, kept in memory and opened. */
#ifndef PARAPET_TESTS_FOREIGN_FILE_H
#define PARAPET_TESTS_FOREIGN_FILE_H

#include "support.h"

#include "base/bytes.h"
#include "foreign/foreign.h"

#define FILE_MOST_BYTES 8192

typedef struct file_bytes {
    unsigned char data[FILE_MOST_BYTES];
    size_t count;
} file_bytes;

static inline void add_bytes(file_bytes *file, const void *data, size_t bytes)
{
    assert_true(bytes <= FILE_MOST_BYTES - file->count);
    memcpy(file->data + file->count, data, bytes);
    file->count += bytes;
}

static inline void add_big(file_bytes *file, uint64_t value, size_t bytes)
{
    unsigned char all[8];
    pp_store_u64be(all, value);
    add_bytes(file, all + 8 - bytes, bytes);
}

static inline void add_little(file_bytes *file, uint64_t value, size_t bytes)
{
    unsigned char all[32] = {0};
    pp_store_u64le(all, value);
    add_bytes(file, all, bytes);
}

typedef struct opened_file {
    pp_store *files;
    pp_store *store; /* NULL: it was refused */
    parapet_status status;
} opened_file;

static inline opened_file open_bytes(const void *data, size_t bytes, const char *raw)
{
    opened_file opened = {0};
    pp_budget budget;
    pp_write_request request = {.key = "file", .staging = "tmp", .budget = &budget, .is_small = true};
    pp_budget_init(&budget, 1 << 20);
    assert_ok(pp_store_memory_build(&opened.files, NULL));
    assert_ok(pp_store_write_all(opened.files, &request, data, bytes, PP_PUBLISH_REPLACE));
    opened.status =
        pp_foreign_build_over(&opened.store, &(pp_foreign_source){.files = opened.files, .key = "file", .raw = raw});
    pp_budget_clear(&budget);
    return opened;
}

static inline void close_file(opened_file *opened)
{
    pp_store_free(opened->store);
    pp_store_free(opened->files);
}

/* Asserts that an object has text in it. */
static inline void assert_says(const opened_file *opened, const char *key, const char *text)
{
    char *data;
    size_t bytes;
    assert_ok(pp_store_read_all(opened->store, key, 1 << 20, &data, &bytes));
    if (strstr(data, text) == NULL)
        fail_msg("%s lacks %s:\n%s", key, text, data);
    pp_free(data);
}

/* Asserts that a chunk has these bytes. */
static inline void assert_chunk(const opened_file *opened, const char *key, const void *expected,
                                size_t expected_bytes)
{
    char *data;
    size_t bytes;
    assert_ok(pp_store_read_all(opened->store, key, 64 << 20, &data, &bytes));
    assert_int_equal(bytes, expected_bytes);
    assert_memory_equal(data, expected, bytes);
    pp_free(data);
}

#endif
