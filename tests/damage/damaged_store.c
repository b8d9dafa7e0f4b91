#include "damaged_store.h"

#include "support.h"

#include "store/internal.h"

typedef struct damaged_store {
    pp_store store;
    damaged_object *objects; /* in the order of keys */
    size_t count;
} damaged_store;

typedef struct damaged_reader {
    pp_reader reader;
    const damaged_object *object;
} damaged_reader;

static int compare_keys(const void *left, const void *right)
{
    return strcmp(((const damaged_object *)left)->key, ((const damaged_object *)right)->key);
}

damaged_object *damaged_store_find(pp_store *store, const char *key)
{
    damaged_store *self = (damaged_store *)store;
    damaged_object wanted = {.key = key};
    return bsearch(&wanted, self->objects, self->count, sizeof wanted, compare_keys);
}

size_t damaged_store_count(const pp_store *store)
{
    return ((const damaged_store *)store)->count;
}

damaged_object *damaged_store_object(pp_store *store, size_t number)
{
    return &((damaged_store *)store)->objects[number];
}

static parapet_status damaged_open(pp_store *store, const char *key, pp_reader **reader)
{
    const damaged_object *object = damaged_store_find(store, key);
    damaged_reader *self;
    if (object == NULL || object->is_gone)
        return pp_fail(PARAPET_ERR_NOT_FOUND, "there is no %s", key);
    self = malloc(sizeof *self);
    *self = (damaged_reader){.reader = {.store = store, .bytes = object->bytes}, .object = object};
    *reader = &self->reader;
    return PARAPET_OK;
}

static parapet_status damaged_read(pp_reader *reader, uint64_t offset, size_t bytes, void *target)
{
    if (bytes > 0)
        memcpy(target, ((damaged_reader *)reader)->object->data + offset, bytes);
    return PARAPET_OK;
}

static void damaged_close_reader(pp_reader *reader)
{
    free(reader);
}

static parapet_status list_one(pp_listing *listing, const char *name, size_t object_bytes)
{
    char child[PP_MAX_KEY_BYTES];
    size_t bytes = strcspn(name, "/");
    (void)snprintf(child, sizeof child, "%.*s", (int)bytes, name);
    if (listing->count > 0 && strcmp(listing->children[listing->count - 1].name, child) == 0)
        return PARAPET_OK;
    return pp_listing_add(listing, child, name[bytes] == '/', name[bytes] == '/' ? 0 : object_bytes);
}

static parapet_status damaged_list(pp_store *store, const char *prefix, pp_list_visitor visit, void *context)
{
    damaged_store *self = (damaged_store *)store;
    pp_listing listing = {0};
    parapet_status status = PARAPET_OK;
    size_t i, length = strlen(prefix);
    for (i = 0; i < self->count && status == PARAPET_OK; i++) {
        const char *key = self->objects[i].key;
        if (self->objects[i].is_gone || (length > 0 && (strncmp(key, prefix, length) != 0 || key[length] != '/')))
            continue;
        status = list_one(&listing, length > 0 ? key + length + 1 : key, self->objects[i].bytes);
    }
    if (status == PARAPET_OK && listing.count == 0)
        status = pp_fail(PARAPET_ERR_NOT_FOUND, "there is no %s", prefix);
    if (status == PARAPET_OK)
        status = pp_listing_tell(&listing, visit, context);
    pp_listing_free(&listing);
    return status;
}

static void damaged_free(pp_store *store)
{
    free(((damaged_store *)store)->objects);
    free(store);
}

static parapet_status damaged_view_lock(pp_store *store, const char *key, pp_lock_view *view)
{
    (void)store;
    (void)key;
    (void)view;
    return PARAPET_OK;
}

static const pp_store_ops damaged_ops = {
    .name = "damaged",
    .open = damaged_open,
    .read = damaged_read,
    .close_reader = damaged_close_reader,
    .list = damaged_list,
    .view_lock = damaged_view_lock,
    .free = damaged_free,
};

pp_store *damaged_store_build(const image *objects)
{
    damaged_store *self = calloc(1, sizeof *self);
    size_t i;
    self->store.ops = &damaged_ops;
    self->count = objects->count;
    self->objects = calloc(objects->count + 1, sizeof self->objects[0]);
    for (i = 0; i < objects->count; i++)
        self->objects[i] = (damaged_object){
            .key = objects->objects[i].key, .data = objects->objects[i].data, .bytes = objects->objects[i].bytes};
    qsort(self->objects, self->count, sizeof self->objects[0], compare_keys);
    return &self->store;
}
