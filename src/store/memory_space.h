/* memory_space.h - objects in memory, in the order of their keys, and the names under which stores share them.
 *
 * For memory_store.c and memory_lock.c, which hold the mutex of a space in every call that takes one, and in
 * those on growing contents. */
#ifndef PARAPET_STORE_MEMORY_SPACE_H
#define PARAPET_STORE_MEMORY_SPACE_H

#include <pthread.h>

#include "store/store.h"

/* The bytes of one object. Every user holds a reference. Published bytes never change; those of a log or of a named
 * temporary object grow, and are accessed only under the mutex of the space. */
typedef struct pp_memory_content {
    size_t references; /* under the mutex of the space */
    unsigned char *data;
    size_t bytes;
    size_t capacity;
    size_t synced_bytes; /* how many of them can be resumed */
    uint64_t version;
    bool is_growing;
} pp_memory_content;

typedef struct pp_memory_object {
    char *key;
    pp_memory_content *content;
} pp_memory_object;

/* What stores of the same name share. */
typedef struct pp_memory_space {
    char *name; /* NULL: private */
    struct pp_memory_space *next;
    size_t references; /* under registry_mutex: one per store, one for being registered */
    pthread_mutex_t mutex;
    pp_memory_object *objects; /* in the order of keys */
    size_t count;
    size_t capacity;
    uint64_t last_version;
    struct pp_memory_lock *locks; /* all that are open */
} pp_memory_space;

/* A store of objects in memory. */
typedef struct pp_memory_store {
    pp_store store;
    pp_memory_space *space;
} pp_memory_store;

void pp_memory_space_lock(pp_memory_space *shared);
void pp_memory_space_unlock(pp_memory_space *shared);

/* A copy of bytes, with one reference. The key is for sentences. */
parapet_status pp_memory_content_build(pp_memory_content **made, const char *key, const unsigned char *data,
                                       size_t bytes);
parapet_status pp_memory_content_append(pp_memory_content *grown, const char *key, const void *data, size_t bytes);
void pp_memory_content_release(pp_memory_content *old); /* takes NULL */

/* The space of that name, created if there is none; NULL: a private one. */
parapet_status pp_memory_space_open(pp_memory_space **shared, const char *name);
void pp_memory_space_close(pp_memory_space *shared);

/* The first object whose key is not before key. */
size_t pp_memory_space_find(const pp_memory_space *shared, const char *key);
bool pp_memory_space_has(const pp_memory_space *shared, size_t i, const char *key);

/* Puts content at a key, with its own reference and a new version. */
parapet_status pp_memory_space_put(pp_memory_space *shared, const char *key, pp_memory_content *made);

/* Replaces the object at a key by a copy of its first bytes that can grow; readers keep the one they opened. The
 * caller gets a reference. */
parapet_status pp_memory_space_renew(pp_memory_space *shared, const char *key, uint64_t bytes,
                                     pp_memory_content **made);

/* Removes the objects from first up to, not including, end. */
void pp_memory_space_remove(pp_memory_space *shared, size_t first, size_t end);

parapet_status pp_memory_open_lock(pp_store *store, const char *key, pp_lock **lock);
parapet_status pp_memory_set_lock(pp_lock *lock, pp_lock_byte byte, pp_lock_mode mode);
parapet_status pp_memory_test_lock(pp_lock *lock, pp_lock_byte byte, bool *is_held);
parapet_status pp_memory_prove_lock(pp_lock *lock);
parapet_status pp_memory_write_lock(pp_lock *lock, const char *text);
parapet_status pp_memory_view_lock(pp_store *store, const char *key, pp_lock_view *view);
void pp_memory_close_lock(pp_lock *lock);

parapet_status pp_memory_fail_not_found(const char *key);

#endif
