/* posix_trust.c - whether the locks of a file system keep out jobs on other nodes: from what the system says about
 * its mount, and from nothing else. What is not on the list is not trusted. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/internal.h"

#define MOUNTS_MOST_BYTES ((size_t)4 << 20)

/* Only processes of this node see them, and their locks with them. */
static const char *const local_types[] = {"ext2",    "ext3",    "ext4",      "xfs",      "btrfs",    "tmpfs",
                                          "ramfs",   "overlay", "zfs",       "f2fs",     "bcachefs", "jfs",
                                          "vfat",    "exfat",   "ntfs3",     "rootfs",   "squashfs", "erofs",
                                          "iso9660", "udf",     "hugetlbfs", "devtmpfs", "fuseblk"};

/* Their locks hold on every node, whatever the options. */
static const char *const shared_types[] = {"gpfs", "ceph", "gfs2", "ocfs2"};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static bool is_among(const char *word, const char *const *list, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}

/* Whether a list such as "rw,nolock,local_lock=all" has an option, or one that begins so where that ends in "=". On
 * success *found is where it is. */
static bool has_option(const char *options, const char *wanted, const char **found)
{
    size_t length = strlen(wanted);
    bool is_assignment = length > 0 && wanted[length - 1] == '=';
    while (*options != '\0') {
        size_t bytes = strcspn(options, ",");
        if (strncmp(options, wanted, length) == 0 && (is_assignment ? bytes > length : bytes == length)) {
            *found = options;
            return true;
        }
        options += bytes + (options[bytes] == ',');
    }
    return false;
}

static void say(pp_lock_trust *trust, bool is_trusted, const char *type, const char *option)
{
    int bytes = option != NULL ? (int)strcspn(option, ",") : 0;
    trust->is_trusted = is_trusted;
    (void)snprintf(trust->source, sizeof trust->source, "%.40s%s%.*s", type, bytes > 0 ? ", " : "",
                   bytes < 40 ? bytes : 40, bytes > 0 ? option : "");
}

/* Version 3 has a lock service beside it, which may be left out; version 4 has locks of its own. */
static void judge_nfs(const char *type, const char *options, pp_lock_trust *trust)
{
    const char *found = NULL;
    if (has_option(options, "nolock", &found))
        say(trust, false, type, found);
    else if (has_option(options, "local_lock=", &found) && strncmp(found, "local_lock=none", 15) != 0)
        say(trust, false, type, found);
    else
        say(trust, true, type, NULL);
}

static void judge_lustre(const char *type, const char *options, pp_lock_trust *trust)
{
    const char *found = NULL;
    if (has_option(options, "localflock", &found) || has_option(options, "noflock", &found))
        say(trust, false, type, found);
    else if (has_option(options, "flock", &found))
        say(trust, true, type, found);
    else
        say(trust, false, type, "without flock");
}

void pp_mount_judge(const char *type, const char *options, pp_lock_trust *trust)
{
    if (strcmp(type, "nfs") == 0 || strcmp(type, "nfs4") == 0)
        judge_nfs(type, options, trust);
    else if (strcmp(type, "lustre") == 0)
        judge_lustre(type, options, trust);
    else
        say(trust,
            is_among(type, local_types, COUNT(local_types)) || is_among(type, shared_types, COUNT(shared_types)),
            type, NULL);
}

/* Cuts one word off a line; NULL: there is none left. */
static char *next_word(char **line)
{
    char *word = *line + strspn(*line, " ");
    size_t bytes = strcspn(word, " ");
    if (bytes == 0)
        return NULL;
    *line = word + bytes + (word[bytes] != '\0');
    word[bytes] = '\0';
    return word;
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue": the first word is the number of
 * the mount; the type, the source and the options of the file system follow a dash. */
static bool judge_line(char *line, long id, pp_lock_trust *trust)
{
    char *word = next_word(&line), *type, *options;
    if (word == NULL || strtol(word, NULL, 10) != id)
        return false;
    while ((word = next_word(&line)) != NULL && strcmp(word, "-") != 0)
        continue;
    type = next_word(&line);
    (void)next_word(&line);
    options = next_word(&line);
    if (type == NULL)
        return false;
    pp_mount_judge(type, options != NULL ? options : "", trust);
    return true;
}

bool pp_mounts_judge(char *mounts, long id, pp_lock_trust *trust)
{
    char *line, *rest = NULL;
    for (line = strtok_r(mounts, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        if (judge_line(line, id, trust))
            return true;
    return false;
}

/* The whole of a file that has no length, with a NUL behind it; NULL: it cannot be read. Free with pp_free. */
static char *read_text(const char *path)
{
    size_t used = 0, capacity = 0;
    char *text = NULL;
    ssize_t bytes = 1;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return NULL;
    while (bytes > 0 && used < MOUNTS_MOST_BYTES) {
        if (used + 1 >= capacity && pp_reallocate(&text, capacity = 2 * capacity + 4096) != PARAPET_OK)
            break;
        if ((bytes = read(descriptor, text + used, capacity - used - 1)) > 0)
            used += (size_t)bytes;
    }
    (void)close(descriptor);
    if (bytes != 0) {
        pp_free(text);
        return NULL;
    }
    text[used] = '\0';
    return text;
}

/* The number of the mount that a directory lies in; -1: the system does not say. */
static long mount_of(int directory)
{
    static const char word[] = "mnt_id:";
    char path[64], *text, *found;
    long id = -1;
    (void)snprintf(path, sizeof path, "/proc/self/fdinfo/%d", directory);
    if ((text = read_text(path)) == NULL)
        return -1;
    if ((found = strstr(text, word)) != NULL)
        id = strtol(found + sizeof word - 1, NULL, 10);
    pp_free(text);
    return id;
}

void pp_store_posix_trust(const pp_store *store, pp_lock_trust *trust)
{
    long id = mount_of(((const pp_posix_store *)store)->root);
    char *mounts = id >= 0 ? read_text("/proc/self/mountinfo") : NULL;
    if (mounts == NULL || !pp_mounts_judge(mounts, id, trust))
        say(trust, false, "a file system that the system does not name", NULL);
    pp_free(mounts);
}
