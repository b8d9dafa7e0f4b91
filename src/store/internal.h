/* internal.h - the parts of the directory store.
 *
 * posix_file.c finds the directory of a file that the user names
 * posix_path.c  finds its way below the root, following no link
 * posix_dirty.c remembers which directories are not flushed yet
 * posix_stream.c brings a stream of bytes into one file
 * posix_temporary.c names, makes and finds the file that a writer fills
 * posix_forks.c keeps locks from children of this process
 * posix_trust.c tells whether locks of the file system hold on every node; posix_record.c is what stands in for them
 * posix_reader.c, posix_writer.c, posix_log.c, posix_lock.c, posix_tree.c are the operations; posix.c puts them
 * together. */
#ifndef PARAPET_STORE_INTERNAL_H
#define PARAPET_STORE_INTERNAL_H

#include <pthread.h>
#include <sys/stat.h>

#include "base/status.h"
#include "store/listing.h"
#include "store/store.h"

/* The largest amount that one system call moves. */
#define PP_MAX_TRANSFER_BYTES ((size_t)1 << 30)

#define PP_DIRTY_LIMIT 8192 /* of a checkpoint of 1,000 arrays a process alone changes 5,000 */
#define PP_PASSING_LIMIT 16

/* Directories that are to be flushed, each once, in ascending order. */
typedef struct pp_posix_dirty {
    char *paths[PP_DIRTY_LIMIT];
    size_t count;
} pp_posix_dirty;

typedef struct pp_posix_store {
    pp_store store;
    int root; /* O_PATH descriptor: the root stays the same directory even if it is renamed */
    bool has_openat2;
    pp_posix_options options;
    pp_store_ops record_ops; /* once records are used instead of locks */
    bool takes_over;
    int64_t opened; /* seconds of the epoch */

    pthread_mutex_t mutex; /* protects the fields below */
    pp_posix_dirty dirty;  /* directories that this process has changed */
    pp_posix_dirty taken;  /* those that it flushes for others as well */
    char *passing[PP_PASSING_LIMIT];
    size_t passing_count;
    pp_failure failed_flush; /* final: the kernel does not retry a write that failed */
} pp_posix_store;

/* The place of a key: the directory that holds it, "" for the root, and its name there. */
typedef struct pp_posix_place {
    char parent[PP_MAX_KEY_BYTES];
    const char *name; /* points into the key */
} pp_posix_place;

void pp_posix_locate(pp_posix_place *place, const char *key);

/* Opens what is at a path below the root, "" for the root itself. Returns -1 and errno, ELOOP for a link. */
int pp_posix_open(const pp_posix_store *store, const char *path, int flags);

/* Whether the file, or directory, is on a file system that keeps it in memory. */
bool pp_posix_is_in_memory(int descriptor);

/* Whether direct I/O on this file is allowed and may be worthwhile. */
bool pp_posix_may_go_direct(const pp_posix_store *store, int descriptor);

/* Examines an open file and refuses anything but a plain one. */
parapet_status pp_posix_check_plain(int descriptor, const char *key, struct stat *found);

/* The version of a file: see store.h. */
uint64_t pp_posix_version(const struct stat *found);
uint64_t pp_posix_version_at(pp_store *store, const char *key);

/* Cuts an open file to its first bytes, and tells whether that changed it. PARAPET_ERR_CORRUPT if it has fewer, or if
 * it has other names (hard links), under which it would change, too. */
parapet_status pp_posix_cut(int descriptor, const char *key, uint64_t bytes, bool *was_cut);

/* Gives an open file its length, and takes the space for it if the file system can. */
parapet_status pp_posix_reserve(int descriptor, const char *key, uint64_t bytes);

/* Whether to repeat a failed system call: always after an interruption; a few times, after a pause, if it is refused
 * only temporarily. refusals starts at 0. */
bool pp_posix_may_repeat(int error_number, int *refusals);

/* Opens one name in an open directory, never a link. */
int pp_posix_open_component(int directory, const char *name, int flags);

/* Closes a descriptor unless it is kept_open; errno stays. */
void pp_posix_close_quietly(int descriptor, int kept_open);

/* Opens a directory for use with *at calls; creates it and those above it as needed. */
parapet_status pp_posix_provide_directory(pp_posix_store *store, const char *path, int *directory);

/* Does something in such a directory. While it is empty another job may remove it: what failed because it was gone is
 * done again in a new one, so it must change nothing when it fails. */
typedef parapet_status (*pp_posix_act)(void *context, int directory);
parapet_status pp_posix_act_in_directory(pp_posix_store *store, const char *path, pp_posix_act act, void *context);

/* The same in a directory that has nothing but temporary files without a name of their own: whether it is there after
 * a crash does not matter. */
parapet_status pp_posix_act_in_staging(pp_posix_store *store, const char *path, pp_posix_act act, void *context);

/* Like pp_posix_provide_directory, for a directory that goes again with what is put in it, such as that of a lock: it
 * need not be durable before pp_posix_provide_directory wants it, or something below it. */
parapet_status pp_posix_provide_passing_directory(pp_posix_store *store, const char *path, int *directory);

/* The error message and status of a failed read of a key: only here do ENOENT and ENOTDIR mean "not there". */
parapet_status pp_posix_fail_read(int error_number, const char *action, const char *key);

/* The same for writing, where something that is missing or in the way is a failure of the storage. */
parapet_status pp_posix_fail_write(int error_number, const char *action, const char *key);

/* Refuses to change a store that is open for reading. */
parapet_status pp_posix_check_writable(const pp_posix_store *store, const char *key);

/* Notes that a directory changed. Takes over the path, which the caller duplicates with pp_text_duplicate before the
 * change, so that this call needs no memory. Flushes early if it cannot remember more. */
parapet_status pp_posix_mark_dirty(pp_posix_store *store, char *path);
void pp_posix_clear_dirty(pp_posix_dirty *list);
parapet_status pp_posix_sync_dirs(pp_store *store);
void pp_posix_list_unsynced_dirs(pp_store *store, pp_text *prefixes);
parapet_status pp_posix_take_unsynced_dirs(pp_store *store, const char *prefix);
parapet_status pp_posix_sync_taken_dirs(pp_store *store);
void pp_posix_forget_unsynced_dirs(pp_store *store);
bool pp_posix_has_failed_sync(pp_store *store);
void pp_posix_fail_unsynced_dirs(pp_store *store, parapet_status status);

/* Notes a directory that was made and may go again; takes over the path. */
parapet_status pp_posix_mark_passing(pp_posix_store *store, char *path);

/* It is gone. */
void pp_posix_forget_passing(pp_posix_store *store, const char *path);

/* It stays, because of what is at path: from now on it is a directory like others. */
parapet_status pp_posix_keep_passing(pp_posix_store *store, const char *path);

/* Makes the entries of one directory durable, and everything else that is not flushed yet. */
parapet_status pp_posix_sync_dir(pp_posix_store *store, const char *path);

/* The file that a writer fills, below staging. */
typedef struct pp_posix_temporary {
    pp_posix_store *store;
    const char *key; /* for error messages; the writer's */
    char *staging;
    char *name;
    bool is_named; /* by the caller, who may look for it later */
} pp_posix_temporary;

parapet_status pp_posix_temporary_init(pp_posix_temporary *temporary, pp_posix_store *store,
                                       const pp_write_request *request);

/* Creates it; removes a file that was left under a given name. */
parapet_status pp_posix_temporary_create(const pp_posix_temporary *temporary, int *descriptor);

/* Opens a file that was left, also for reading, and cuts it to its first bytes. */
parapet_status pp_posix_temporary_open(const pp_posix_temporary *temporary, uint64_t bytes, int *descriptor);
void pp_posix_temporary_remove(const pp_posix_temporary *temporary);
void pp_posix_temporary_free(pp_posix_temporary *temporary);

/* A file that only grows. */
typedef struct pp_posix_stream {
    const char *key; /* for error messages; the writer's */
    int descriptor;
    bool is_direct; /* the descriptor has O_DIRECT set */
    bool is_durable;
    pp_buffer buffer;     /* empty for small objects */
    size_t piece_bytes;   /* of the buffer: all of it, or half if it has two pieces */
    unsigned char *piece; /* the one that is filled */
    size_t filled;        /* of it */
    uint64_t written;     /* by the system, before the piece's bytes; a sync may have written those, too */
    uint64_t version;     /* once it is finished */
    pp_pool *pool;
    pp_pool_thread *behind;    /* writes the other piece, and has is_direct and written until then; NULL: none */
    pp_failure behind_failure; /* of what was written so */
} pp_posix_stream;

/* Continues after the first bytes of the file. Takes over the descriptor, even when it fails. */
parapet_status pp_posix_stream_build(pp_posix_stream **stream, const pp_posix_store *store, int descriptor,
                                     const pp_write_request *request, uint64_t bytes);
parapet_status pp_posix_stream_append(pp_posix_stream *stream, const void *data, size_t bytes);

/* Flushes everything so far to the device; more may follow. */
parapet_status pp_posix_stream_sync(pp_posix_stream *stream, uint64_t expected_bytes);

/* Writes what is still in the buffer, checks that the file has the expected length, and flushes it. */
parapet_status pp_posix_stream_finish(pp_posix_stream *stream, uint64_t expected_bytes);

/* Closes and frees; takes NULL. */
parapet_status pp_posix_stream_close(pp_posix_stream *stream);

parapet_status pp_posix_open_reader(pp_store *store, const char *key, pp_reader **reader);
parapet_status pp_posix_read(pp_reader *reader, uint64_t offset, size_t bytes, void *target);
void pp_posix_expect(pp_reader *reader, uint64_t offset, size_t bytes);
void pp_posix_close_reader(pp_reader *reader);

parapet_status pp_posix_begin(pp_store *store, const pp_write_request *request, pp_writer **writer);
parapet_status pp_posix_resume(pp_store *store, const pp_write_request *request, uint64_t bytes, pp_writer **writer);
parapet_status pp_posix_append(pp_writer *writer, const void *data, size_t bytes);
parapet_status pp_posix_sync(pp_writer *writer);
void pp_posix_suspend(pp_writer *writer);
parapet_status pp_posix_stage(pp_writer *writer);
parapet_status pp_posix_publish(pp_writer *writer, pp_publish_mode mode);
void pp_posix_free_writer(pp_writer *writer);

parapet_status pp_posix_open_log(pp_store *store, const char *key, uint64_t keep_bytes, pp_log **log);
parapet_status pp_posix_append_log(pp_log *log, const void *data, size_t bytes);
void pp_posix_close_log(pp_log *log);

parapet_status pp_posix_open_lock(pp_store *store, const char *key, pp_lock **lock);
parapet_status pp_posix_set_lock(pp_lock *lock, pp_lock_byte byte, pp_lock_mode mode);
parapet_status pp_posix_test_lock(pp_lock *lock, pp_lock_byte byte, bool *is_held);
parapet_status pp_posix_prove_lock(pp_lock *lock);
parapet_status pp_posix_write_lock(pp_lock *lock, const char *text);
parapet_status pp_posix_read_lock(pp_lock *lock, char *text);
parapet_status pp_posix_view_lock(pp_store *store, const char *key, pp_lock_view *view);
void pp_posix_close_lock(pp_lock *lock);

/* Opens the file that holds the text of a lock, or creates it; ENOENT: try again. */
int pp_posix_open_lock_file(int directory, const char *name);
parapet_status pp_posix_write_lock_text(int descriptor, const char *key, const char *text);
parapet_status pp_posix_read_lock_text(pp_store *store, const char *key, pp_lock_view *view);

/* Opens the directory __parapet of a lock and makes it where it is missing. Sets *has_made_node if the node to which
 * it belongs was missing too. */
parapet_status pp_posix_provide_lock_directory(pp_posix_store *store, const char *path, bool *has_made_node,
                                               int *directory);

/* For a part of a lock that was taken: unless it is held by one process alone around publishing, other ranks put
 * things beside the lock, and its directory is flushed like any other. Its maker knows nothing of those. */
parapet_status pp_posix_keep_lock_directory(pp_posix_store *store, const char *key, pp_lock_byte byte);

/* Removes the directory of a lock, and that of the node if it was created for the lock, if they are empty. */
void pp_posix_leave_directories(pp_posix_store *store, const char *key, bool has_made_node);

/* The same operations with owner records. */
parapet_status pp_record_open_lock(pp_store *store, const char *key, pp_lock **lock);
parapet_status pp_record_set_lock(pp_lock *lock, pp_lock_byte byte, pp_lock_mode mode);
parapet_status pp_record_test_lock(pp_lock *lock, pp_lock_byte byte, bool *is_held);
parapet_status pp_record_prove_lock(pp_lock *lock);
parapet_status pp_record_write_lock(pp_lock *lock, const char *text);
parapet_status pp_record_view_lock(pp_store *store, const char *key, pp_lock_view *view);
void pp_record_close_lock(pp_lock *lock);

/* What the type and the options of a mount say. */
void pp_mount_judge(const char *type, const char *options, pp_lock_trust *trust);

/* The same for the mount with that number in the text of /proc/self/mountinfo, which it modifies; false: there is
 * none. */
bool pp_mounts_judge(char *mounts, long id, pp_lock_trust *trust);

/* Renames, and fails with EEXIST if the new name is taken. */
int pp_posix_rename_exclusive(int from, const char *name, int to, const char *new_name);

/* A descriptor that is closed in children made by fork; otherwise they would hold the lock, too. */
typedef struct pp_posix_own_descriptor {
    int number; /* -1: none, or this is such a child */
    struct pp_posix_own_descriptor *next, *before;
} pp_posix_own_descriptor;

void pp_posix_own(pp_posix_own_descriptor *own, int descriptor);
void pp_posix_disown(pp_posix_own_descriptor *own); /* closes it */

parapet_status pp_posix_move(pp_store *store, const char *key, const char *new_key);
parapet_status pp_posix_remove(pp_store *store, const char *key);
parapet_status pp_posix_remove_prefix(pp_store *store, const char *prefix);
parapet_status pp_posix_remove_empty(pp_store *store, const char *prefix);
parapet_status pp_posix_list(pp_store *store, const char *prefix, pp_list_visitor visit, void *context);

#endif
