/* store.h - where objects are kept: named byte strings under one root.
 *
 * Knows keys and bytes, nothing of Zarr or MPI. Depends on base. An implementation is a struct of functions (posix.c,
 * memory_store.c); callers use the pp_store_*, pp_reader_* and pp_writer_* functions below. Tests and benchmarks have
 * implementations of their own, each around another store: tests/harness/stores/. One field is for these alone,
 * locks_of.
 *
 * Keys are paths such as "a/b/c/0/1": no empty, "." or ".." component, no leading or trailing slash, no control
 * character. They never lead outside the root, whatever links there are in the path.
 *
 * An object is never changed in place. A writer makes a new one under a temporary name:
 *
 *     begin --append--append-- ... --stage--> durable, not visible --publish--> visible under its key
 *        \_____________________________\____________ free: nothing was there __/
 *
 * A writer whose temporary object has a name can be left and found again: after sync, everything appended so far
 * survives a crash, and resume continues after it. A log is the only object that grows while it is visible.
 *
 * A lock is also an object, which several jobs may open at once: a job that holds one of its bytes keeps others out
 * of what that byte stands for. A job that dies holds nothing.
 *
 * There is no seek and no reading back, so a multipart upload to an object store fits the same interface. Only "there
 * is no such key" is PARAPET_ERR_NOT_FOUND; any other problem is another error. */
#ifndef PARAPET_STORE_STORE_H
#define PARAPET_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/budget.h"
#include "base/pool.h"
#include "base/text.h"

#define PP_MAX_KEY_BYTES 4096

/* A writer takes more than this from the budget only if more is available. */
#define PP_LEAST_WRITE_BUFFER_BYTES ((size_t)256 << 10)

/* And never more than this at once, or twice as much where one half is written while the other is filled. */
#define PP_WRITE_PIECE_BYTES ((size_t)4 << 20)

typedef struct pp_store pp_store;
typedef struct pp_reader pp_reader;
typedef struct pp_writer pp_writer;
typedef struct pp_log pp_log;
typedef struct pp_lock pp_lock;

/* One child of a prefix, as pp_store_list reports it. */
typedef struct pp_listed {
    const char *name; /* one component */
    bool is_prefix;   /* a directory: more keys below it */
    uint64_t bytes;   /* of an object */
} pp_listed;

/* Returns PARAPET_OK to continue; anything else ends the listing and becomes its status. */
typedef parapet_status (*pp_list_visitor)(void *context, const pp_listed *listed);

typedef enum pp_publish_mode { PP_PUBLISH_REPLACE, PP_PUBLISH_EXCLUSIVE } pp_publish_mode;

typedef struct pp_write_request {
    const char *key;
    const char *staging;  /* prefix for temporary names, same file system; created if needed */
    const char *name;     /* of the temporary object below staging, to find it again; NULL: a random one, and
                             staging is "a/b/__parapet/tmp", or the group whose document it is: gc looks there */
    uint64_t bound_bytes; /* upper limit of the object's length; 0: not known */
    pp_budget *budget;    /* pays for the writer's buffer */
    size_t buffer_bytes;  /* upper limit of that buffer, so that enough is left for others; 0: none */
    pp_pool *pool;        /* whose threads may write one half of it while the other is filled; NULL: none; it stays */
    bool is_small;        /* metadata: no large buffer, no direct I/O */
} pp_write_request;

/* The parts of a lock that can be held independently; array/node_lock.h says what they stand for. */
typedef enum pp_lock_byte {
    PP_LOCK_LONG,
    PP_LOCK_SHORT,
    PP_LOCK_DELEGATES,
    PP_LOCK_PUBLISHING,
    PP_LOCK_BYTES /* how many there are */
} pp_lock_byte;

typedef enum pp_lock_mode { PP_LOCK_FREE, PP_LOCK_SHARED, PP_LOCK_EXCLUSIVE } pp_lock_mode;

/* A lock has room for this many bytes of text about its holder and about what it protects. */
#define PP_LOCK_TEXT_BYTES 512
#define PP_LOCK_HOLDER_BYTES 160

/* A lock as others see it. */
typedef struct pp_lock_view {
    bool is_held; /* some process holds a part of it */
    bool is_long; /* and it is LONG */
    char text[PP_LOCK_TEXT_BYTES + 1];
    char holder[PP_LOCK_HOLDER_BYTES]; /* of an owner record: "process 4711 on node12 since ..."; "": there is none */
    char advice[PP_LOCK_TEXT_BYTES];   /* what to do, if waiting may be in vain; else "" */
} pp_lock_view;

/* Whether locks of a file system keep out jobs on every node, and why: "ext4", "nfs, nolock". */
typedef struct pp_lock_trust {
    bool is_trusted;
    char source[96];
} pp_lock_trust;

/* The functions of an implementation. Each states its contract; all may be called from several threads on one
 * store and one reader, and from one thread at a time on a writer. */
typedef struct pp_store_ops {
    const char *name;

    /* Opens an object for ranged reads and tells its length. The reader keeps this object even if the key is replaced
     * later. */
    parapet_status (*open)(pp_store *store, const char *key, pp_reader **reader);
    /* Fills target with exactly this many bytes from offset. The caller keeps them within the object. */
    parapet_status (*read)(pp_reader *reader, uint64_t offset, size_t bytes, void *target);
    /* Advice that this will be read soon, by later calls, so that the storage can begin. NULL: ignored. */
    void (*expect)(pp_reader *reader, uint64_t offset, size_t bytes);
    void (*close_reader)(pp_reader *reader);
    /* The version of the object at a key, as its reader would have it; 0: there is none, or only opening it can tell.
     * NULL: only opening can tell. */
    uint64_t (*version)(pp_store *store, const char *key);

    parapet_status (*begin)(pp_store *store, const pp_write_request *request, pp_writer **writer);
    /* Continues a named temporary object that a suspended writer or a crash left. Everything after its first bytes is
     * dropped, perhaps even when this fails. PARAPET_ERR_NOT_FOUND if there is none; PARAPET_ERR_CORRUPT if it is
     * shorter, or if a crash left it while it was being published: then begin again. */
    parapet_status (*resume)(pp_store *store, const pp_write_request *request, uint64_t bytes, pp_writer **writer);
    parapet_status (*append)(pp_writer *writer, const void *data, size_t bytes);
    /* Makes everything appended so far durable; the writer stays usable. */
    parapet_status (*sync)(pp_writer *writer);
    /* Frees the writer and leaves its named temporary object to be resumed; bytes that were not synced may be lost.
     * An object without a name is removed, because it could not be found again. */
    void (*suspend)(pp_writer *writer);
    /* Makes all bytes durable, still invisible. Releases buffers and descriptors. */
    parapet_status (*stage)(pp_writer *writer);
    /* Makes the object visible, at once and whole. Durable after the next sync of directories. EXCLUSIVE fails with
     * PARAPET_ERR_EXISTS when the key is taken. */
    parapet_status (*publish)(pp_writer *writer, pp_publish_mode mode);
    /* Frees everything; an object that was not published never existed. */
    void (*free_writer)(pp_writer *writer);

    /* Opens a log for appending: an object that only grows, visible at once. Everything after its first keep_bytes is
     * dropped; it is created if it does not exist and keep_bytes is 0. It is read like any object. If it is missing
     * or too short: as for resume. */
    parapet_status (*open_log)(pp_store *store, const char *key, uint64_t keep_bytes, pp_log **log);
    /* Appends all bytes and makes them durable. After a failure the log must be opened again. */
    parapet_status (*append_log)(pp_log *log, const void *data, size_t bytes);
    void (*close_log)(pp_log *log);

    /* Opens the lock at a key; creates it, and the prefixes above it, if there is none. Holds nothing yet. */
    parapet_status (*open_lock)(pp_store *store, const char *key, pp_lock **lock);
    /* Holds one byte in this mode from now on, or releases it. Never waits: PARAPET_ERR_BUSY if another
     * lock, of this process or of another, holds it in a mode that excludes this. */
    parapet_status (*set_lock)(pp_lock *lock, pp_lock_byte byte, pp_lock_mode mode);
    /* Whether anybody else holds the byte. */
    parapet_status (*test_lock)(pp_lock *lock, pp_lock_byte byte, bool *is_held);
    /* PARAPET_ERR_STALE: what is held no longer counts, because the lock was removed or the storage lost it. */
    parapet_status (*prove_lock)(pp_lock *lock);
    /* Replaces the text of the lock, at most PP_LOCK_TEXT_BYTES, "" for none. Not durable. */
    parapet_status (*write_lock)(pp_lock *lock, const char *text);
    /* Writes the text of an open lock into PP_LOCK_TEXT_BYTES + 1 bytes. NULL: only view_lock can tell it. */
    parapet_status (*read_lock)(pp_lock *lock, char *text);
    /* Looks at the lock at a key without opening it. A lock that does not exist, or that this user may not read,
     * counts as free and without text. view is all zero. */
    parapet_status (*view_lock)(pp_store *store, const char *key, pp_lock_view *view);
    /* Releases everything. A lock that has no text and no other holder is removed, together with empty prefixes
     * that were created for it. */
    void (*close_lock)(pp_lock *lock);

    /* Gives an object another key, in the same store, whole and at once. PARAPET_ERR_NOT_FOUND if there is none;
     * PARAPET_ERR_EXISTS if the new key is taken. Durable after the next sync of directories. */
    parapet_status (*move)(pp_store *store, const char *key, const char *new_key);
    /* Makes every publish, move and remove so far durable. */
    parapet_status (*sync_dirs)(pp_store *store);
    /* Where several processes change one store, what sync_dirs would do can be divided among them: see
     * pp_store_is_dealt_out. If it cannot be divided, this and the next five are NULL. This one adds the prefixes
     * that wait for the next sync_dirs to the text, each with the NUL that ends it. They keep waiting. */
    void (*list_unsynced_dirs)(pp_store *store, pp_text *prefixes);
    /* The first notes a prefix that another process has changed, the second syncs all that were noted so. */
    parapet_status (*take_unsynced_dirs)(pp_store *store, const char *prefix);
    parapet_status (*sync_taken_dirs)(pp_store *store);
    /* Nothing waits any more: all of it was synced, here or by others. */
    void (*forget_unsynced_dirs)(pp_store *store);
    /* Whether something could not be synced here, which is final. */
    bool (*has_failed_sync)(pp_store *store);
    /* Another process could not sync something, with this status and the error message that this thread has. What
     * waits here may be the same, and is not synced any more. */
    void (*fail_unsynced_dirs)(pp_store *store, parapet_status status);
    /* Removes an object. */
    parapet_status (*remove)(pp_store *store, const char *key);
    /* Removes everything below a prefix, objects and prefixes; not found is fine. */
    parapet_status (*remove_prefix)(pp_store *store, const char *prefix);
    /* Removes prefixes that hold no object: this one and those below it. Anything that is neither an object nor a
     * prefix stays, and so does everything above it. Not found is fine. NULL: a prefix exists only as long as there
     * is an object below it. */
    parapet_status (*remove_empty)(pp_store *store, const char *prefix);
    /* Reports the direct children of a prefix, sorted by name. "" is the root. A prefix that does not exist is
     * PARAPET_ERR_NOT_FOUND. */
    parapet_status (*list)(pp_store *store, const char *prefix, pp_list_visitor visit, void *context);

    void (*free)(pp_store *store);
} pp_store_ops;

/* How an implementation begins its own structs. */
struct pp_store {
    const pp_store_ops *ops;
    uint64_t place[2];      /* stores opened at the same place have the same numbers here */
    pp_store *locks_of;     /* the store whose locks are used, if this one only wraps another, as those of
                               tests/harness/stores/ do; NULL: its own */
    struct pp_meter *meter; /* measures the calls below, listing and locks apart; NULL: not measured */
    bool is_dealt_out;      /* sync_dirs has something to do, and can be dealt out */
    bool is_in_memory;      /* of this machine: to read objects is to copy them, and waits for nothing */
};

/* Whether objects written to one are visible in the other. */
bool pp_store_is_same(const pp_store *one, const pp_store *other);

/* The version of an object differs from that of whatever is later written under the same key, and is the same however
 * often the object is opened, so that a job can tell that what it reads is no longer what it began with. The
 * directory store derives it from the file's inode number, length and time of change: a file that was replaced, or
 * changed by hand, has another version; renaming or reading it makes no difference. Two files of the same length are
 * mistaken for one only if both were created, and the first removed and its number given to the second, within one
 * tick of the file system's clock. The memory store counts. */
struct pp_reader {
    pp_store *store;
    uint64_t bytes;   /* length of the object */
    uint64_t version; /* see above */
};

struct pp_writer {
    pp_store *store;
    uint64_t bytes;   /* appended so far */
    uint64_t version; /* of the object, once it is published; 0: not known */
};

struct pp_log {
    pp_store *store;
    uint64_t bytes; /* its length */
};

struct pp_lock {
    pp_store *store;
};

/* "process 4711 on node12": for the text of a lock. */
#define PP_PROCESS_BYTES 160
void pp_process_name(char name[PP_PROCESS_BYTES]);

/* The calls. Keys are checked here, once, for every implementation. */
parapet_status pp_store_open_object(pp_store *store, const char *key, pp_reader **reader);
/* Smaller pieces gain nothing from going round the page cache, and stay in it. */
#define PP_DIRECT_READ_BYTES ((size_t)1 << 20)
parapet_status pp_reader_read(pp_reader *reader, uint64_t offset, size_t bytes, void *target);
void pp_reader_expect(pp_reader *reader, uint64_t offset, size_t bytes);
void pp_reader_free(pp_reader *reader); /* takes NULL */

/* Whether this is a name that the store gives to unnamed temporary objects: an object with such a name was never
 * published. */
bool pp_store_is_temporary_name(const char *name);

parapet_status pp_store_begin(pp_store *store, const pp_write_request *request, pp_writer **writer);
parapet_status pp_store_resume(pp_store *store, const pp_write_request *request, uint64_t bytes, pp_writer **writer);
parapet_status pp_writer_append(pp_writer *writer, const void *data, size_t bytes);
parapet_status pp_writer_sync(pp_writer *writer);
void pp_writer_suspend(pp_writer *writer); /* takes NULL */
parapet_status pp_writer_stage(pp_writer *writer);
parapet_status pp_writer_publish(pp_writer *writer, pp_publish_mode mode);
void pp_writer_free(pp_writer *writer); /* takes NULL; abandons what was not published */

parapet_status pp_store_open_log(pp_store *store, const char *key, uint64_t keep_bytes, pp_log **log);
parapet_status pp_log_append(pp_log *log, const void *data, size_t bytes);
void pp_log_close(pp_log *log); /* takes NULL */

parapet_status pp_store_open_lock(pp_store *store, const char *key, pp_lock **lock);
parapet_status pp_lock_set(pp_lock *lock, pp_lock_byte byte, pp_lock_mode mode);
parapet_status pp_lock_test(pp_lock *lock, pp_lock_byte byte, bool *is_held);
parapet_status pp_lock_prove(pp_lock *lock);
parapet_status pp_lock_write(pp_lock *lock, const char *text);
bool pp_lock_is_readable(const pp_lock *lock); /* whether pp_lock_read does anything */
parapet_status pp_lock_read(pp_lock *lock, char text[PP_LOCK_TEXT_BYTES + 1]);
void pp_lock_close(pp_lock *lock); /* takes NULL */
parapet_status pp_store_view_lock(pp_store *store, const char *key, pp_lock_view *view);

parapet_status pp_store_sync_dirs(pp_store *store);

/* Whether the processes that share a store can sync its directories together: each says which prefixes it has
 * changed, each of those is synced by one process, and when all have succeeded, all forget. One that fails to do so
 * remembers it, and so do those for whom it did. */
bool pp_store_is_dealt_out(const pp_store *store);
void pp_store_list_unsynced_dirs(pp_store *store, pp_text *prefixes);
parapet_status pp_store_take_unsynced_dirs(pp_store *store, const char *prefix);
parapet_status pp_store_sync_taken_dirs(pp_store *store);
void pp_store_forget_unsynced_dirs(pp_store *store);                      /* any store */
bool pp_store_has_failed_sync(pp_store *store);                           /* any store */
void pp_store_fail_unsynced_dirs(pp_store *store, parapet_status status); /* any store */
parapet_status pp_store_move(pp_store *store, const char *key, const char *new_key);
parapet_status pp_store_remove(pp_store *store, const char *key);
parapet_status pp_store_remove_prefix(pp_store *store, const char *prefix);
parapet_status pp_store_remove_empty(pp_store *store, const char *prefix);
parapet_status pp_store_list(pp_store *store, const char *prefix, pp_list_visitor visit, void *context);
void pp_store_free(pp_store *store); /* takes NULL */

/* Reads a whole object of at most limit_bytes into fresh memory, followed by a NUL; free with pp_free. */
parapet_status pp_store_read_all(pp_store *store, const char *key, size_t limit_bytes, char **data, size_t *bytes);

/* The same, with its version. */
parapet_status pp_store_read_version(pp_store *store, const char *key, size_t limit_bytes, char **data, size_t *bytes,
                                     uint64_t *version);

/* The version of the object at a key; 0: there is none. */
parapet_status pp_store_version(pp_store *store, const char *key, uint64_t *version);

/* Begin, append, stage and publish in one, for metadata. */
parapet_status pp_store_write_all(pp_store *store, const pp_write_request *request, const void *data, size_t bytes,
                                  pp_publish_mode mode);

/* Whether a key is well formed; the error message says what is wrong with it. */
parapet_status pp_key_check(const char *key);

/* What bypasses the system's page cache, where the file system allows it; the numbers are those of parapet_direct_io.
 */
typedef enum pp_direct_io {
    PP_DIRECT_IO_LARGE = 0, /* large writes, and large reads that are not in the page cache */
    PP_DIRECT_IO_ALWAYS,
    PP_DIRECT_IO_NEVER
} pp_direct_io;

typedef struct pp_posix_options {
    bool create;      /* make the root directory (not its parents) if it does not exist */
    bool read_only;   /* refuse begin and remove */
    bool not_durable; /* skip flushing to the device */
    pp_direct_io direct_io;
} pp_posix_options;

/* A directory of a file system. */
parapet_status pp_store_posix_build(pp_store **store, const char *root, const pp_posix_options *options);

/* Whether there is a file or a directory at a path, perhaps through links; or a link itself. */
bool pp_posix_is_file(const char *path);
bool pp_posix_is_directory(const char *path);
bool pp_posix_is_link(const char *path);

/* Looks for one of these names in a directory and in all those above it; *found is its path, or NULL. */
parapet_status pp_posix_find_above(const char *directory, const char *const *names, size_t count, char **found);

/* The directory that a file is in, and the file's key there; free the key with pp_free. */
parapet_status pp_store_posix_build_around(pp_store **store, const char *path, const pp_posix_options *options,
                                           char **key);

/* For an object of a directory that several processes write at once. Its writer has appended nothing, nor does it
 * from now on: the object has this many bytes, zero until they are written, and space for them is taken at once.
 * The others find the temporary object at key, which is to be freed with pp_free; they must have closed it before it
 * is staged. */
parapet_status pp_store_posix_share(pp_writer *writer, uint64_t bytes, char **key);

/* One of those who write it, at any offset inside it; they do not keep out of each other's way. */
typedef struct pp_shared pp_shared;
parapet_status pp_shared_open(pp_store *store, const char *key, pp_shared **shared);
parapet_status pp_shared_write(pp_shared *shared, uint64_t offset, const void *data, size_t bytes);
parapet_status pp_shared_read(pp_shared *shared, uint64_t offset, void *data, size_t bytes);
/* This process has written all it has to: makes it durable, and closes the object. What storage has put off until
 * then may fail here. */
parapet_status pp_shared_finish(pp_shared *shared);
void pp_shared_free(pp_shared *shared); /* takes NULL */

/* What its mount says about locks. */
void pp_store_posix_trust(const pp_store *store, pp_lock_trust *trust);

/* From now on uses owner records instead of locks; to be called before any lock is opened. takes_over: records that
 * other machines made before this count as left by jobs that are gone. */
void pp_store_posix_use_records(pp_store *store, bool takes_over);

/* Objects in memory, shared by all stores of that name in this process; NULL: a private one. An object becomes
 * visible at publish and survives until the name is dropped. */
parapet_status pp_store_memory_build(pp_store **store, const char *name);
void pp_store_memory_drop(const char *name);

#endif
