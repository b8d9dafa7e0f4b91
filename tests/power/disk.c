/* disk.c - a file that serves as a disk, keeps a log of all that is done to it, and fails when told to.
 *
 *     power_disk FOLDER IMAGE LOG
 *
 * Mounts itself at FOLDER, stays in the foreground, and goes when its parent goes.
 *   FOLDER/disk  the bytes of IMAGE. Every write and every flush is appended to LOG, in the order of arrival.
 *   FOLDER/mark  what is written there is appended to LOG too: the log then tells what was known when.
 *   FOLDER/fail  "write N" or "flush N" written there: the Nth from now, counted from 0, fails once with EIO. A write
 *                that fails changes nothing.
 *
 * One thread serves all, so a write that the log has before a flush was complete before it. */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORD_BYTES = 32 };

typedef enum event_kind {
    EVENT_WRITE = 1,
    EVENT_FLUSH = 2,
    EVENT_MARK = 3,
    EVENT_FAILED_WRITE = 4,
    EVENT_FAILED_FLUSH = 5
} event_kind;

/* In the log before its bytes. */
typedef struct event {
    uint32_t kind;
    uint32_t bytes;
    uint64_t offset;
} event;

static int image = -1, record = -1;
static long until_failure[EVENT_FLUSH + 1] = {-1, -1, -1};

/* A log with a hole would prove nothing: better none. */
static void append(const void *data, size_t bytes)
{
    if (write(record, data, bytes) != (ssize_t)bytes) {
        perror("power_disk: cannot write the log");
        exit(1);
    }
}

static void append_event(event_kind kind, uint64_t offset, const void *data, size_t bytes)
{
    event head = {.kind = kind, .bytes = (uint32_t)bytes, .offset = offset};
    append(&head, sizeof head);
    if (bytes > 0)
        append(data, bytes);
}

static bool fails_now(event_kind kind)
{
    if (until_failure[kind] < 0)
        return false;
    return until_failure[kind]-- == 0;
}

static bool is_disk(const char *path)
{
    return strcmp(path, "/disk") == 0;
}

static int disk_getattr(const char *path, struct stat *found, struct fuse_file_info *file)
{
    (void)file;
    memset(found, 0, sizeof *found);
    if (strcmp(path, "/") == 0) {
        found->st_mode = S_IFDIR | 0700;
        found->st_nlink = 2;
        return 0;
    }
    if (!is_disk(path) && strcmp(path, "/mark") != 0 && strcmp(path, "/fail") != 0)
        return -ENOENT;
    if (is_disk(path) && fstat(image, found) != 0)
        return -errno;
    found->st_mode = S_IFREG | 0600;
    found->st_nlink = 1;
    return 0;
}

/* Past the page cache of the kernel: every request of the block layer arrives here, at once. */
static int disk_open(const char *path, struct fuse_file_info *file)
{
    (void)path;
    file->direct_io = 1;
    return 0;
}

static int disk_truncate(const char *path, off_t bytes, struct fuse_file_info *file)
{
    (void)bytes;
    (void)file;
    return is_disk(path) ? -EPERM : 0;
}

static int disk_read(const char *path, char *target, size_t bytes, off_t offset, struct fuse_file_info *file)
{
    ssize_t got;
    (void)file;
    if (!is_disk(path))
        return 0;
    got = pread(image, target, bytes, offset);
    return got < 0 ? -errno : (int)got;
}

/* "write 12" or "flush 3". */
static int plan_failure(const char *source, size_t bytes)
{
    char word[WORD_BYTES] = {0};
    if (bytes >= sizeof word)
        return -EINVAL;
    memcpy(word, source, bytes);
    if (sscanf(word, "write %ld", &until_failure[EVENT_WRITE]) != 1 &&
        sscanf(word, "flush %ld", &until_failure[EVENT_FLUSH]) != 1)
        return -EINVAL;
    return (int)bytes;
}

static int write_disk(const char *source, size_t bytes, off_t offset)
{
    if (fails_now(EVENT_WRITE)) {
        append_event(EVENT_FAILED_WRITE, (uint64_t)offset, NULL, 0);
        return -EIO;
    }
    append_event(EVENT_WRITE, (uint64_t)offset, source, bytes);
    if (pwrite(image, source, bytes, offset) != (ssize_t)bytes)
        return -EIO;
    return (int)bytes;
}

static int disk_write(const char *path, const char *source, size_t bytes, off_t offset, struct fuse_file_info *file)
{
    (void)file;
    if (is_disk(path))
        return write_disk(source, bytes, offset);
    if (strcmp(path, "/fail") == 0)
        return plan_failure(source, bytes);
    append_event(EVENT_MARK, 0, source, bytes);
    return (int)bytes;
}

static int disk_fsync(const char *path, int is_data_only, struct fuse_file_info *file)
{
    bool fails;
    (void)is_data_only;
    (void)file;
    if (!is_disk(path))
        return 0;
    fails = fails_now(EVENT_FLUSH);
    append_event(fails ? EVENT_FAILED_FLUSH : EVENT_FLUSH, 0, NULL, 0);
    return fails ? -EIO : 0;
}

static const struct fuse_operations operations = {
    .getattr = disk_getattr,
    .open = disk_open,
    .truncate = disk_truncate,
    .read = disk_read,
    .write = disk_write,
    .fsync = disk_fsync,
};

int main(int argc, char **argv)
{
    char in_foreground[] = "-f", single_threaded[] = "-s";
    char *arguments[] = {argv[0], argc > 1 ? argv[1] : NULL, in_foreground, single_threaded, NULL};
    if (argc != 4)
        return 2;
    image = open(argv[2], O_RDWR);
    record = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    if (image < 0 || record < 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) {
        perror("power_disk");
        return 1;
    }
    return fuse_main(4, arguments, &operations, NULL);
}
