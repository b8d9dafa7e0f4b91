#include "store/memory_space.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/status.h"

static pthread_mutex_t registry_mutex = PTHREAD_MUTEX_INITIALIZER;
static pp_memory_space *registry;

void pp_memory_space_lock(pp_memory_space *shared)
{
    (void)pthread_mutex_lock(&shared->mutex);
}

void pp_memory_space_unlock(pp_memory_space *shared)
{
    (void)pthread_mutex_unlock(&shared->mutex);
}

void pp_memory_content_release(pp_memory_content *old)
{
    if (old == NULL || --old->references > 0)
        return;
    pp_free(old->data);
    pp_free(old);
}

static parapet_status reserve(pp_memory_content *grown, const char *key, size_t bytes)
{
    size_t needed, capacity = pp_max_size(grown->capacity, 256);
    parapet_status status;
    if (!pp_add_size_fits(grown->bytes, bytes, &needed) || needed > SIZE_MAX / 2)
        return pp_fail(PARAPET_ERR_MEMORY, "%s needs more memory than any machine has", key);
    if (needed <= grown->capacity)
        return PARAPET_OK;
    while (capacity < needed)
        capacity *= 2;
    if ((status = pp_reallocate(&grown->data, capacity)) == PARAPET_OK)
        grown->capacity = capacity;
    return status;
}

parapet_status pp_memory_content_append(pp_memory_content *grown, const char *key, const void *data, size_t bytes)
{
    parapet_status status = reserve(grown, key, bytes);
    if (status != PARAPET_OK)
        return status;
    memcpy(grown->data + grown->bytes, data, bytes);
    grown->bytes += bytes;
    return PARAPET_OK;
}

parapet_status pp_memory_content_build(pp_memory_content **made, const char *key, const unsigned char *data,
                                       size_t bytes)
{
    parapet_status status = pp_allocate(made, sizeof **made);
    if (status != PARAPET_OK)
        return status;
    (*made)->references = 1;
    if (bytes > 0 && (status = pp_memory_content_append(*made, key, data, bytes)) != PARAPET_OK) {
        pp_memory_content_release(*made);
        *made = NULL;
        return status;
    }
    (*made)->synced_bytes = bytes;
    return PARAPET_OK;
}

static void space_destroy(pp_memory_space *old)
{
    size_t i;
    for (i = 0; i < old->count; i++) {
        pp_memory_content_release(old->objects[i].content);
        pp_free(old->objects[i].key);
    }
    (void)pthread_mutex_destroy(&old->mutex);
    pp_free(old->objects);
    pp_free(old->name);
    pp_free(old);
}

size_t pp_memory_space_find(const pp_memory_space *shared, const char *key)
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

bool pp_memory_space_has(const pp_memory_space *shared, size_t i, const char *key)
{
    return i < shared->count && strcmp(shared->objects[i].key, key) == 0;
}

parapet_status pp_memory_fail_not_found(const char *key)
{
    return pp_fail(PARAPET_ERR_NOT_FOUND, "there is no %s", key);
}

static parapet_status make_room(pp_memory_space *shared)
{
    size_t capacity = shared->capacity > 0 ? shared->capacity * 2 : 16;
    size_t bytes;
    parapet_status status;
    if (shared->count < shared->capacity)
        return PARAPET_OK;
    if (!pp_multiply_size_fits(capacity, sizeof shared->objects[0], &bytes))
        return pp_fail(PARAPET_ERR_MEMORY, "%zu objects need more memory than any machine has", capacity);
    if ((status = pp_reallocate(&shared->objects, bytes)) == PARAPET_OK)
        shared->capacity = capacity;
    return status;
}

static parapet_status insert(pp_memory_space *shared, size_t i, const char *key)
{
    parapet_status status = make_room(shared);
    char *copy;
    if (status != PARAPET_OK || (status = pp_text_duplicate(&copy, key)) != PARAPET_OK)
        return status;
    memmove(shared->objects + i + 1, shared->objects + i, (shared->count - i) * sizeof shared->objects[0]);
    shared->objects[i] = (pp_memory_object){.key = copy};
    shared->count++;
    return PARAPET_OK;
}

parapet_status pp_memory_space_put(pp_memory_space *shared, const char *key, pp_memory_content *made)
{
    size_t i = pp_memory_space_find(shared, key);
    parapet_status status;
    if (!pp_memory_space_has(shared, i, key) && (status = insert(shared, i, key)) != PARAPET_OK)
        return status;
    pp_memory_content_release(shared->objects[i].content);
    shared->objects[i].content = made;
    made->references++;
    made->version = ++shared->last_version;
    return PARAPET_OK;
}

void pp_memory_space_remove(pp_memory_space *shared, size_t first, size_t end)
{
    size_t i;
    for (i = first; i < end; i++) {
        pp_memory_content_release(shared->objects[i].content);
        pp_free(shared->objects[i].key);
    }
    if (end > first)
        memmove(shared->objects + first, shared->objects + end, (shared->count - end) * sizeof shared->objects[0]);
    shared->count -= end - first;
}

parapet_status pp_memory_space_renew(pp_memory_space *shared, const char *key, uint64_t bytes,
                                     pp_memory_content **made)
{
    size_t i = pp_memory_space_find(shared, key);
    const pp_memory_content *old = pp_memory_space_has(shared, i, key) ? shared->objects[i].content : NULL;
    parapet_status status;
    if (old == NULL && bytes > 0)
        return pp_memory_fail_not_found(key);
    if (old != NULL && old->synced_bytes < bytes)
        return pp_fail(PARAPET_ERR_CORRUPT, "%s ends at byte %zu, but should have at least %" PRIu64, key,
                       old->synced_bytes, bytes);
    if ((status = pp_memory_content_build(made, key, old != NULL ? old->data : NULL, (size_t)bytes)) != PARAPET_OK)
        return status;
    (*made)->is_growing = true;
    if ((status = pp_memory_space_put(shared, key, *made)) != PARAPET_OK) {
        pp_memory_content_release(*made);
        *made = NULL;
    }
    return status;
}

void pp_memory_space_close(pp_memory_space *shared)
{
    bool is_last;
    (void)pthread_mutex_lock(&registry_mutex);
    is_last = --shared->references == 0;
    (void)pthread_mutex_unlock(&registry_mutex);
    if (is_last)
        space_destroy(shared);
}

static parapet_status space_build(pp_memory_space **shared, const char *name)
{
    parapet_status status = pp_allocate(shared, sizeof **shared);
    if (status != PARAPET_OK)
        return status;
    if (name != NULL && (status = pp_text_duplicate(&(*shared)->name, name)) != PARAPET_OK) {
        pp_free(*shared);
        return status;
    }
    (void)pthread_mutex_init(&(*shared)->mutex, NULL);
    (*shared)->references = 1;
    return PARAPET_OK;
}

/* Where the registry points to the space of that name, or to NULL at its end. */
static pp_memory_space **registry_find(const char *name)
{
    pp_memory_space **link = &registry;
    while (*link != NULL && strcmp((*link)->name, name) != 0)
        link = &(*link)->next;
    return link;
}

static parapet_status space_share(pp_memory_space **shared, const char *name)
{
    parapet_status status = PARAPET_OK;
    pp_memory_space **link;
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

parapet_status pp_memory_space_open(pp_memory_space **shared, const char *name)
{
    return name != NULL ? space_share(shared, name) : space_build(shared, NULL);
}

void pp_store_memory_drop(const char *name)
{
    pp_memory_space **link, *dropped;
    (void)pthread_mutex_lock(&registry_mutex);
    link = registry_find(name);
    dropped = *link;
    if (dropped != NULL)
        *link = dropped->next;
    (void)pthread_mutex_unlock(&registry_mutex);
    if (dropped != NULL)
        pp_memory_space_close(dropped);
}
