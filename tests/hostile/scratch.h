/* scratch.h - files for tests that look at what lies inside and outside of a store's root. */
#ifndef PARAPET_TESTS_HOSTILE_SCRATCH_H
#define PARAPET_TESTS_HOSTILE_SCRATCH_H

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int scratch_entries;

static inline int scratch_remove_entry(const char *path, const struct stat *found, int kind, struct FTW *where)
{
    (void)found;
    (void)kind;
    (void)where;
    return remove(path);
}

static inline void scratch_remove(const char *path)
{
    (void)nftw(path, scratch_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static inline int scratch_count_entry(const char *path, const struct stat *found, int kind, struct FTW *where)
{
    (void)path;
    (void)found;
    (void)kind;
    (void)where;
    scratch_entries++;
    return 0;
}

/* Files, directories and links below path, path itself included. */
static inline int scratch_count(const char *path)
{
    scratch_entries = 0;
    (void)nftw(path, scratch_count_entry, 16, FTW_PHYS);
    return scratch_entries;
}

static inline bool scratch_write(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    bool is_written = file != NULL && fwrite(data, 1, bytes, file) == bytes;
    return file != NULL && fclose(file) == 0 && is_written;
}

/* Whether the file holds exactly these bytes. */
static inline bool scratch_holds(const char *path, const void *data, size_t bytes)
{
    char found[4096];
    FILE *file = fopen(path, "rb");
    size_t count = file != NULL ? fread(found, 1, sizeof found, file) : 0;
    if (file != NULL)
        (void)fclose(file);
    return file != NULL && count == bytes && memcmp(found, data, bytes) == 0;
}

#endif
