#include <stdio.h>
#include <string.h>

#include "store/internal.h"
#include "store/memory_space.h"

typedef struct memory_reader {
    pp_reader reader;
    pp_memory_content *content;
    bool is_growing; /* as it was when opened; what stopped growing since is only read with more care than it needs */
} memory_reader;

typedef struct memory_writer {
    pp_writer writer;
    char *key;
    char *temporary; /* key of the temporary object, NULL if it has no name */
    pp_memory_content *content;
    bool is_staged;
    bool is_published;
    bool has_failed;
} memory_writer;

typedef struct memory_log {
    pp_log log;
    char *key;
    pp_memory_content *content;
} memory_log;

static pp_memory_space *space_of(pp_store *store)
{
    return ((pp_memory_store *)store)->space;
}

static parapet_status memory_open(pp_store *store, const char *key, pp_reader **reader)
{
    pp_memory_space *shared = space_of(store);
    memory_reader *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    size_t i;
    if (status != PARAPET_OK)
        return status;
    pp_memory_space_lock(shared);
    i = pp_memory_space_find(shared, key);
    if (pp_memory_space_has(shared, i, key)) {
        self->content = shared->objects[i].content;
        self->content->references++;
        self->is_growing = self->content->is_growing;
        self->reader = (pp_reader){.store = store, .bytes = self->content->bytes, .version = self->content->version};
    }
    pp_memory_space_unlock(shared);
    if (self->content == NULL) {
        pp_free(self);
        return pp_memory_fail_not_found(key);
    }
    *reader = &self->reader;
    return PARAPET_OK;
}

static parapet_status memory_read(pp_reader *reader, uint64_t offset, size_t bytes, void *target)
{
    memory_reader *self = (memory_reader *)reader;
    pp_memory_space *shared = space_of(reader->store);
    if (bytes == 0)
        return PARAPET_OK;
    if (self->is_growing)
        pp_memory_space_lock(shared);
    memcpy(target, self->content->data + offset, bytes);
    if (self->is_growing)
        pp_memory_space_unlock(shared);
    return PARAPET_OK;
}

static void memory_close_reader(pp_reader *reader)
{
    memory_reader *self = (memory_reader *)reader;
    pp_memory_space *shared = space_of(reader->store);
    pp_memory_space_lock(shared);
    pp_memory_content_release(self->content);
    pp_memory_space_unlock(shared);
    pp_free(self);
}

static parapet_status publish_locked(pp_memory_space *shared, const memory_writer *self, pp_publish_mode mode)
{
    if (mode == PP_PUBLISH_EXCLUSIVE &&
        pp_memory_space_has(shared, pp_memory_space_find(shared, self->key), self->key))
        return pp_fail(PARAPET_ERR_EXISTS, "%s already exists", self->key);
    return pp_memory_space_put(shared, self->key, self->content);
}

/* Takes a writer's content away from its temporary key, unless another writer has taken that over. */
static void remove_temporary(pp_memory_space *shared, const memory_writer *self)
{
    size_t i;
    if (self->temporary == NULL)
        return;
    i = pp_memory_space_find(shared, self->temporary);
    if (pp_memory_space_has(shared, i, self->temporary) && shared->objects[i].content == self->content)
        pp_memory_space_remove(shared, i, i + 1);
}

static void memory_suspend(pp_writer *writer)
{
    memory_writer *self = (memory_writer *)writer;
    pp_memory_space *shared = space_of(writer->store);
    pp_memory_space_lock(shared);
    pp_memory_content_release(self->content);
    pp_memory_space_unlock(shared);
    pp_free(self->temporary);
    pp_free(self->key);
    pp_free(self);
}

static void memory_free_writer(pp_writer *writer)
{
    memory_writer *self = (memory_writer *)writer;
    pp_memory_space *shared = space_of(writer->store);
    pp_memory_space_lock(shared);
    remove_temporary(shared, self);
    pp_memory_space_unlock(shared);
    memory_suspend(writer);
}

static parapet_status join_key(char **key, const char *prefix, const char *name)
{
    size_t bytes = strlen(prefix) + 1 + strlen(name) + 1;
    parapet_status status = pp_allocate(key, bytes);
    if (status == PARAPET_OK)
        (void)snprintf(*key, bytes, "%s%s%s", prefix, prefix[0] != '\0' ? "/" : "", name);
    return status;
}

static parapet_status build_writer(memory_writer **writer, pp_store *store, const pp_write_request *request)
{
    memory_writer *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    if (status != PARAPET_OK)
        return status;
    self->writer.store = store;
    if ((status = pp_text_duplicate(&self->key, request->key)) != PARAPET_OK ||
        (request->name != NULL &&
         (status = join_key(&self->temporary, request->staging, request->name)) != PARAPET_OK)) {
        memory_suspend(&self->writer);
        return status;
    }
    *writer = self;
    return PARAPET_OK;
}

/* A named temporary object lies at its key, like the file of a directory: it can be listed and removed there. */
static parapet_status memory_begin(pp_store *store, const pp_write_request *request, pp_writer **writer)
{
    pp_memory_space *shared = space_of(store);
    memory_writer *self;
    parapet_status status = build_writer(&self, store, request);
    if (status != PARAPET_OK)
        return status;
    status = pp_memory_content_build(&self->content, self->key, NULL, 0);
    if (status == PARAPET_OK && self->temporary != NULL) {
        pp_memory_space_lock(shared);
        self->content->is_growing = true;
        status = pp_memory_space_put(shared, self->temporary, self->content);
        pp_memory_space_unlock(shared);
    }
    if (status != PARAPET_OK) {
        memory_suspend(&self->writer);
        return status;
    }
    *writer = &self->writer;
    return PARAPET_OK;
}

static parapet_status memory_resume(pp_store *store, const pp_write_request *request, uint64_t bytes,
                                    pp_writer **writer)
{
    pp_memory_space *shared = space_of(store);
    memory_writer *self;
    parapet_status status = build_writer(&self, store, request);
    if (status != PARAPET_OK)
        return status;
    pp_memory_space_lock(shared);
    if (!pp_memory_space_has(shared, pp_memory_space_find(shared, self->temporary), self->temporary))
        status = pp_memory_fail_not_found(self->temporary);
    else
        status = pp_memory_space_renew(shared, self->temporary, bytes, &self->content);
    pp_memory_space_unlock(shared);
    if (status != PARAPET_OK) {
        memory_suspend(&self->writer);
        return status;
    }
    *writer = &self->writer;
    return PARAPET_OK;
}

/* As in a directory, where nobody knows how much of it was written. */
static parapet_status check_sound(const memory_writer *self)
{
    if (self->has_failed)
        return pp_fail(PARAPET_ERR_IO, "an earlier write to %s failed; it must be begun again, or resumed",
                       self->key);
    return PARAPET_OK;
}

static parapet_status append_content(const memory_writer *self, const void *data, size_t bytes)
{
    pp_memory_space *shared = space_of(self->writer.store);
    parapet_status status;
    if (self->temporary == NULL) /* nobody else knows it */
        return pp_memory_content_append(self->content, self->key, data, bytes);
    pp_memory_space_lock(shared);
    status = pp_memory_content_append(self->content, self->key, data, bytes);
    pp_memory_space_unlock(shared);
    return status;
}

static parapet_status memory_append(pp_writer *writer, const void *data, size_t bytes)
{
    memory_writer *self = (memory_writer *)writer;
    parapet_status status = check_sound(self);
    if (status != PARAPET_OK)
        return status;
    if (self->is_staged)
        return pp_fail(PARAPET_ERR_INTERNAL, "%s is staged; nothing can be appended to it", self->key);
    if (bytes == 0)
        return PARAPET_OK;
    status = append_content(self, data, bytes);
    self->has_failed = status != PARAPET_OK;
    return status;
}

/* What was not synced cannot be resumed: nobody shall rely on more than a directory keeps in a power cut. */
static parapet_status memory_sync(pp_writer *writer)
{
    memory_writer *self = (memory_writer *)writer;
    pp_memory_space *shared = space_of(writer->store);
    parapet_status status = check_sound(self);
    if (status != PARAPET_OK)
        return status;
    pp_memory_space_lock(shared);
    self->content->synced_bytes = self->content->bytes;
    pp_memory_space_unlock(shared);
    return PARAPET_OK;
}

static parapet_status memory_stage(pp_writer *writer)
{
    memory_writer *self = (memory_writer *)writer;
    parapet_status status = memory_sync(writer);
    self->is_staged = self->is_staged || status == PARAPET_OK;
    return status;
}

static parapet_status memory_publish(pp_writer *writer, pp_publish_mode mode)
{
    memory_writer *self = (memory_writer *)writer;
    pp_memory_space *shared = space_of(writer->store);
    parapet_status status = memory_stage(writer);
    if (status != PARAPET_OK)
        return status;
    if (self->is_published)
        return pp_fail(PARAPET_ERR_INTERNAL, "%s was published before", self->key);
    pp_memory_space_lock(shared);
    if ((status = publish_locked(shared, self, mode)) == PARAPET_OK) {
        remove_temporary(shared, self);
        self->content->is_growing = false;
        self->is_published = true;
        writer->version = self->content->version;
    }
    pp_memory_space_unlock(shared);
    return status;
}

static void memory_close_log(pp_log *log)
{
    memory_log *self = (memory_log *)log;
    pp_memory_space *shared = space_of(log->store);
    pp_memory_space_lock(shared);
    pp_memory_content_release(self->content);
    pp_memory_space_unlock(shared);
    pp_free(self->key);
    pp_free(self);
}

static parapet_status memory_open_log(pp_store *store, const char *key, uint64_t keep_bytes, pp_log **log)
{
    pp_memory_space *shared = space_of(store);
    memory_log *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    if (status != PARAPET_OK)
        return status;
    self->log.store = store;
    if ((status = pp_text_duplicate(&self->key, key)) == PARAPET_OK) {
        pp_memory_space_lock(shared);
        status = pp_memory_space_renew(shared, key, keep_bytes, &self->content);
        pp_memory_space_unlock(shared);
    }
    if (status != PARAPET_OK) {
        memory_close_log(&self->log);
        return status;
    }
    *log = &self->log;
    return PARAPET_OK;
}

static parapet_status memory_append_log(pp_log *log, const void *data, size_t bytes)
{
    memory_log *self = (memory_log *)log;
    pp_memory_space *shared = space_of(log->store);
    parapet_status status;
    if (bytes == 0)
        return PARAPET_OK;
    pp_memory_space_lock(shared);
    if ((status = pp_memory_content_append(self->content, self->key, data, bytes)) == PARAPET_OK) {
        self->content->synced_bytes = self->content->bytes;
        self->content->version = ++shared->last_version;
    }
    pp_memory_space_unlock(shared);
    return status;
}

static parapet_status memory_sync_dirs(pp_store *store)
{
    (void)store;
    return PARAPET_OK;
}

static parapet_status move_locked(pp_memory_space *shared, const char *key, const char *new_key)
{
    size_t i = pp_memory_space_find(shared, key);
    parapet_status status;
    if (!pp_memory_space_has(shared, i, key))
        return pp_memory_fail_not_found(key);
    if (pp_memory_space_has(shared, pp_memory_space_find(shared, new_key), new_key))
        return pp_fail(PARAPET_ERR_EXISTS, "%s already exists", new_key);
    if ((status = pp_memory_space_put(shared, new_key, shared->objects[i].content)) != PARAPET_OK)
        return status;
    i = pp_memory_space_find(shared, key);
    pp_memory_space_remove(shared, i, i + 1);
    return PARAPET_OK;
}

static parapet_status memory_move(pp_store *store, const char *key, const char *new_key)
{
    pp_memory_space *shared = space_of(store);
    parapet_status status;
    pp_memory_space_lock(shared);
    status = move_locked(shared, key, new_key);
    pp_memory_space_unlock(shared);
    return status;
}

static parapet_status memory_remove(pp_store *store, const char *key)
{
    pp_memory_space *shared = space_of(store);
    bool is_there;
    size_t i;
    pp_memory_space_lock(shared);
    i = pp_memory_space_find(shared, key);
    is_there = pp_memory_space_has(shared, i, key);
    if (is_there)
        pp_memory_space_remove(shared, i, i + 1);
    pp_memory_space_unlock(shared);
    return is_there ? PARAPET_OK : pp_memory_fail_not_found(key);
}

/* The part of a key below a prefix, or NULL when it lies elsewhere. */
static const char *below(const char *key, const char *prefix)
{
    size_t bytes = strlen(prefix);
    if (bytes == 0)
        return key;
    return strncmp(key, prefix, bytes) == 0 && key[bytes] == '/' ? key + bytes + 1 : NULL;
}

static parapet_status memory_remove_prefix(pp_store *store, const char *prefix)
{
    pp_memory_space *shared = space_of(store);
    size_t first, end;
    pp_memory_space_lock(shared);
    for (first = 0; first < shared->count && below(shared->objects[first].key, prefix) == NULL; first++)
        continue;
    for (end = first; end < shared->count && below(shared->objects[end].key, prefix) != NULL; end++)
        continue;
    pp_memory_space_remove(shared, first, end); /* in the order of keys, all of them lie side by side */
    pp_memory_space_unlock(shared);
    return PARAPET_OK;
}

static parapet_status list_object(pp_listing *listing, const char *name, const pp_memory_content *listed)
{
    char child[PP_MAX_KEY_BYTES];
    size_t bytes = strcspn(name, "/");
    bool is_prefix = name[bytes] == '/';
    memcpy(child, name, bytes);
    child[bytes] = '\0';
    if (is_prefix && listing->count > 0 && listing->children[listing->count - 1].is_prefix &&
        strcmp(listing->children[listing->count - 1].name, child) == 0)
        return PARAPET_OK;
    return pp_listing_add(listing, child, is_prefix, is_prefix ? 0 : listed->bytes);
}

static parapet_status memory_list(pp_store *store, const char *prefix, pp_list_visitor visit, void *context)
{
    pp_memory_space *shared = space_of(store);
    pp_listing listing = {0};
    parapet_status status = PARAPET_OK;
    size_t i;
    pp_memory_space_lock(shared);
    for (i = pp_memory_space_find(shared, prefix); i < shared->count && status == PARAPET_OK; i++) {
        const char *name = below(shared->objects[i].key, prefix);
        if (name != NULL)
            status = list_object(&listing, name, shared->objects[i].content);
    }
    pp_memory_space_unlock(shared);
    if (status == PARAPET_OK && listing.count == 0 && prefix[0] != '\0')
        status = pp_memory_fail_not_found(prefix);
    if (status == PARAPET_OK)
        status = pp_listing_tell(&listing, visit, context);
    pp_listing_free(&listing);
    return status;
}

static void memory_free(pp_store *store)
{
    pp_memory_space_close(space_of(store));
    pp_free(store);
}

static const pp_store_ops memory_ops = {
    .name = "memory",
    .open = memory_open,
    .read = memory_read,
    .close_reader = memory_close_reader,
    .begin = memory_begin,
    .resume = memory_resume,
    .append = memory_append,
    .sync = memory_sync,
    .suspend = memory_suspend,
    .stage = memory_stage,
    .publish = memory_publish,
    .free_writer = memory_free_writer,
    .open_log = memory_open_log,
    .append_log = memory_append_log,
    .close_log = memory_close_log,
    .open_lock = pp_memory_open_lock,
    .set_lock = pp_memory_set_lock,
    .test_lock = pp_memory_test_lock,
    .prove_lock = pp_memory_prove_lock,
    .write_lock = pp_memory_write_lock,
    .view_lock = pp_memory_view_lock,
    .close_lock = pp_memory_close_lock,
    .sync_dirs = memory_sync_dirs,
    .move = memory_move,
    .remove = memory_remove,
    .remove_prefix = memory_remove_prefix,
    .list = memory_list,
    .free = memory_free,
};

parapet_status pp_store_memory_build(pp_store **store, const char *name)
{
    pp_memory_store *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    *store = NULL;
    if (status != PARAPET_OK)
        return status;
    self->store.ops = &memory_ops;
    status = pp_memory_space_open(&self->space, name);
    if (status != PARAPET_OK) {
        pp_free(self);
        return status;
    }
    self->store.place[0] = (uint64_t)(uintptr_t)self->space;
    *store = &self->store;
    return PARAPET_OK;
}
