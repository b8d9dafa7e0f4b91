#include <pthread.h>
#include <string.h>

#include "base/checked.h"
#include "store/internal.h"

/* The bytes of one object. They never change; whoever reads them holds a reference. */
typedef struct content {
    size_t references; /* under the mutex of the space */
    unsigned char *data;
    size_t bytes;
} content;

typedef struct object {
    char *key;
    content *content;
} object;

/* What stores of one name share. */
typedef struct space {
    char *name; /* NULL: private */
    struct space *next;
    size_t references; /* under registry_mutex: one per store, one for being registered */
    pthread_mutex_t mutex;
    object *objects; /* in the order of keys */
    size_t count;
    size_t capacity;
} space;

typedef struct memory_store {
    pp_store store;
    space *space;
} memory_store;

typedef struct memory_reader {
    pp_reader reader;
    content *content;
} memory_reader;

typedef struct memory_writer {
    pp_writer writer;
    char *key;
    content *content; /* NULL once published */
    size_t capacity;
    bool is_staged;
} memory_writer;

static pthread_mutex_t registry_mutex = PTHREAD_MUTEX_INITIALIZER;
static space *registry;

static void lock(space *shared)
{
    (void)pthread_mutex_lock(&shared->mutex);
}

static void unlock(space *shared)
{
    (void)pthread_mutex_unlock(&shared->mutex);
}

static space *space_of(pp_store *store)
{
    return ((memory_store *)store)->space;
}

static void content_release(content *old)
{
    if (old == NULL || --old->references > 0)
        return;
    pp_free(old->data);
    pp_free(old);
}

static void space_free(space *old)
{
    size_t i;
    for (i = 0; i < old->count; i++) {
        content_release(old->objects[i].content);
        pp_free(old->objects[i].key);
    }
    (void)pthread_mutex_destroy(&old->mutex);
    pp_free(old->objects);
    pp_free(old->name);
    pp_free(old);
}

/* The first object whose key is not before key. */
static size_t find(const space *shared, const char *key)
{
    size_t low = 0, high = shared->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(shared->objects[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_key(const space *shared, size_t i, const char *key)
{
    return i < shared->count && strcmp(shared->objects[i].key, key) == 0;
}

static parapet_status fail_not_found(const char *key)
{
    return pp_fail(PARAPET_ERR_NOT_FOUND, "there is no %s", key[0] != '\0' ? key : "root");
}

static parapet_status memory_open(pp_store *store, const char *key, pp_reader **reader)
{
    space *shared = space_of(store);
    memory_reader *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    size_t i;
    if (status != PARAPET_OK)
        return status;
    lock(shared);
    i = find(shared, key);
    if (has_key(shared, i, key)) {
        self->content = shared->objects[i].content;
        self->content->references++;
    }
    unlock(shared);
    if (self->content == NULL) {
        pp_free(self);
        return fail_not_found(key);
    }
    self->reader = (pp_reader){.store = store, .bytes = self->content->bytes};
    *reader = &self->reader;
    return PARAPET_OK;
}

static parapet_status memory_read(pp_reader *reader, uint64_t offset, size_t bytes, void *target)
{
    memory_reader *self = (memory_reader *)reader;
    if (bytes > 0)
        memcpy(target, self->content->data + offset, bytes);
    return PARAPET_OK;
}

static void memory_close_reader(pp_reader *reader)
{
    memory_reader *self = (memory_reader *)reader;
    space *shared = space_of(reader->store);
    lock(shared);
    content_release(self->content);
    unlock(shared);
    pp_free(self);
}

static void memory_free_writer(pp_writer *writer)
{
    memory_writer *self = (memory_writer *)writer;
    content_release(self->content); /* nobody else knows it */
    pp_free(self->key);
    pp_free(self);
}

static parapet_status memory_begin(pp_store *store, const pp_write_request *request, pp_writer **writer)
{
    memory_writer *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    if (status != PARAPET_OK)
        return status;
    self->writer.store = store;
    if ((status = pp_copy_text(&self->key, request->key)) != PARAPET_OK ||
        (status = pp_allocate(&self->content, sizeof *self->content)) != PARAPET_OK) {
        memory_free_writer(&self->writer);
        return status;
    }
    self->content->references = 1;
    *writer = &self->writer;
    return PARAPET_OK;
}

static parapet_status reserve(memory_writer *self, size_t bytes)
{
    size_t needed, capacity = pp_max_size(self->capacity, 256);
    parapet_status status;
    if (!pp_add_size_fits(self->content->bytes, bytes, &needed) || needed > SIZE_MAX / 2)
        return pp_fail(PARAPET_ERR_MEMORY, "%s does not fit any memory", self->key);
    if (needed <= self->capacity)
        return PARAPET_OK;
    while (capacity < needed)
        capacity *= 2;
    if ((status = pp_reallocate(&self->content->data, capacity)) == PARAPET_OK)
        self->capacity = capacity;
    return status;
}

static parapet_status memory_append(pp_writer *writer, const void *data, size_t bytes)
{
    memory_writer *self = (memory_writer *)writer;
    parapet_status status;
    if (self->is_staged)
        return pp_fail(PARAPET_ERR_INTERNAL, "%s is staged; nothing can be appended to it", self->key);
    if (bytes == 0)
        return PARAPET_OK;
    if ((status = reserve(self, bytes)) != PARAPET_OK)
        return status;
    memcpy(self->content->data + self->content->bytes, data, bytes);
    self->content->bytes += bytes;
    return PARAPET_OK;
}

static parapet_status memory_stage(pp_writer *writer)
{
    memory_writer *self = (memory_writer *)writer;
    self->is_staged = true;
    return PARAPET_OK;
}

static parapet_status make_room(space *shared)
{
    size_t capacity = shared->capacity > 0 ? shared->capacity * 2 : 16;
    size_t bytes;
    parapet_status status;
    if (shared->count < shared->capacity)
        return PARAPET_OK;
    if (!pp_multiply_size_fits(capacity, sizeof shared->objects[0], &bytes))
        return pp_fail(PARAPET_ERR_MEMORY, "%zu objects do not fit any memory", capacity);
    if ((status = pp_reallocate(&shared->objects, bytes)) == PARAPET_OK)
        shared->capacity = capacity;
    return status;
}

/* Moves key and content from the writer to the space. */
static parapet_status insert(space *shared, size_t i, memory_writer *self)
{
    parapet_status status = make_room(shared);
    char *key;
    if (status != PARAPET_OK || (status = pp_copy_text(&key, self->key)) != PARAPET_OK)
        return status;
    memmove(shared->objects + i + 1, shared->objects + i, (shared->count - i) * sizeof shared->objects[0]);
    shared->objects[i] = (object){.key = key, .content = self->content};
    shared->count++;
    return PARAPET_OK;
}

static parapet_status publish_locked(space *shared, memory_writer *self, pp_publish_mode mode)
{
    size_t i = find(shared, self->key);
    parapet_status status = PARAPET_OK;
    if (!has_key(shared, i, self->key)) {
        status = insert(shared, i, self);
    } else if (mode == PP_PUBLISH_EXCLUSIVE) {
        status = pp_fail(PARAPET_ERR_EXISTS, "%s exists already", self->key);
    } else {
        content_release(shared->objects[i].content);
        shared->objects[i].content = self->content;
    }
    if (status == PARAPET_OK)
        self->content = NULL;
    return status;
}

static parapet_status memory_publish(pp_writer *writer, pp_publish_mode mode)
{
    memory_writer *self = (memory_writer *)writer;
    space *shared = space_of(writer->store);
    parapet_status status;
    if (self->content == NULL)
        return pp_fail(PARAPET_ERR_INTERNAL, "%s was published before", self->key);
    self->is_staged = true;
    lock(shared);
    status = publish_locked(shared, self, mode);
    unlock(shared);
    return status;
}

static parapet_status memory_settle(pp_store *store)
{
    (void)store;
    return PARAPET_OK;
}

static void remove_range(space *shared, size_t first, size_t end)
{
    size_t i;
    for (i = first; i < end; i++) {
        content_release(shared->objects[i].content);
        pp_free(shared->objects[i].key);
    }
    if (end > first)
        memmove(shared->objects + first, shared->objects + end, (shared->count - end) * sizeof shared->objects[0]);
    shared->count -= end - first;
}

static parapet_status memory_remove(pp_store *store, const char *key)
{
    space *shared = space_of(store);
    bool is_there;
    size_t i;
    lock(shared);
    i = find(shared, key);
    is_there = has_key(shared, i, key);
    if (is_there)
        remove_range(shared, i, i + 1);
    unlock(shared);
    return is_there ? PARAPET_OK : fail_not_found(key);
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
    space *shared = space_of(store);
    size_t first, end;
    lock(shared);
    for (first = 0; first < shared->count && below(shared->objects[first].key, prefix) == NULL; first++)
        continue;
    for (end = first; end < shared->count && below(shared->objects[end].key, prefix) != NULL; end++)
        continue;
    remove_range(shared, first, end); /* in the order of keys, all of them lie side by side */
    unlock(shared);
    return PARAPET_OK;
}

static parapet_status list_object(pp_listing *listing, const char *name, const content *listed)
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
    space *shared = space_of(store);
    pp_listing listing = {0};
    parapet_status status = PARAPET_OK;
    size_t i;
    lock(shared);
    for (i = find(shared, prefix); i < shared->count && status == PARAPET_OK; i++) {
        const char *name = below(shared->objects[i].key, prefix);
        if (name != NULL)
            status = list_object(&listing, name, shared->objects[i].content);
    }
    unlock(shared);
    if (status == PARAPET_OK && listing.count == 0 && prefix[0] != '\0')
        status = fail_not_found(prefix);
    if (status == PARAPET_OK)
        status = pp_listing_tell(&listing, visit, context);
    pp_listing_free(&listing);
    return status;
}

static void space_release(space *shared)
{
    bool is_last;
    (void)pthread_mutex_lock(&registry_mutex);
    is_last = --shared->references == 0;
    (void)pthread_mutex_unlock(&registry_mutex);
    if (is_last)
        space_free(shared);
}

static void memory_free(pp_store *store)
{
    space_release(space_of(store));
    pp_free(store);
}

static const pp_store_ops memory_ops = {
    .name = "memory",
    .open = memory_open,
    .read = memory_read,
    .close_reader = memory_close_reader,
    .begin = memory_begin,
    .append = memory_append,
    .stage = memory_stage,
    .publish = memory_publish,
    .free_writer = memory_free_writer,
    .settle = memory_settle,
    .remove = memory_remove,
    .remove_prefix = memory_remove_prefix,
    .list = memory_list,
    .free = memory_free,
};

static parapet_status space_build(space **shared, const char *name)
{
    parapet_status status = pp_allocate(shared, sizeof **shared);
    if (status != PARAPET_OK)
        return status;
    if (name != NULL && (status = pp_copy_text(&(*shared)->name, name)) != PARAPET_OK) {
        pp_free(*shared);
        return status;
    }
    (void)pthread_mutex_init(&(*shared)->mutex, NULL);
    (*shared)->references = 1;
    return PARAPET_OK;
}

/* Where the registry points to the space of that name, or to NULL at its end. */
static space **registry_find(const char *name)
{
    space **link = &registry;
    while (*link != NULL && strcmp((*link)->name, name) != 0)
        link = &(*link)->next;
    return link;
}

static parapet_status space_share(space **shared, const char *name)
{
    parapet_status status = PARAPET_OK;
    space **link;
    (void)pthread_mutex_lock(&registry_mutex);
    link = registry_find(name);
    if (*link == NULL)
        status = space_build(link, name);
    if (status == PARAPET_OK)
        (*link)->references++;
    else
        *link = NULL;
    *shared = *link;
    (void)pthread_mutex_unlock(&registry_mutex);
    return status;
}

parapet_status pp_store_memory_build(pp_store **store, const char *name)
{
    memory_store *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    *store = NULL;
    if (status != PARAPET_OK)
        return status;
    self->store.ops = &memory_ops;
    status = name != NULL ? space_share(&self->space, name) : space_build(&self->space, NULL);
    if (status != PARAPET_OK) {
        pp_free(self);
        return status;
    }
    *store = &self->store;
    return PARAPET_OK;
}

void pp_store_memory_drop(const char *name)
{
    space **link, *dropped;
    (void)pthread_mutex_lock(&registry_mutex);
    link = registry_find(name);
    dropped = *link;
    if (dropped != NULL)
        *link = dropped->next;
    (void)pthread_mutex_unlock(&registry_mutex);
    if (dropped != NULL)
        space_release(dropped);
}
