/* memory_lock.c - locks of a store in memory: a list of all that are open. Their text is an object like others. */
#include <string.h>

#include "base/checked.h"
#include "base/status.h"
#include "store/memory_space.h"

typedef struct pp_memory_lock {
    pp_lock lock;
    char *key;
    pp_lock_mode modes[PP_LOCK_BYTES];
    struct pp_memory_lock *next;
} pp_memory_lock;

static pp_memory_space *space_of(const pp_lock *lock)
{
    return ((pp_memory_store *)lock->store)->space;
}

parapet_status pp_memory_open_lock(pp_store *store, const char *key, pp_lock **lock)
{
    pp_memory_space *shared = ((pp_memory_store *)store)->space;
    pp_memory_lock *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    if (status != PARAPET_OK)
        return status;
    self->lock.store = store;
    if ((status = pp_text_duplicate(&self->key, key)) != PARAPET_OK) {
        pp_free(self);
        return status;
    }
    pp_memory_space_lock(shared);
    self->next = shared->locks;
    shared->locks = self;
    pp_memory_space_unlock(shared);
    *lock = &self->lock;
    return PARAPET_OK;
}

/* The most that any other holds of a byte. */
static pp_lock_mode mode_of_others(const pp_memory_lock *self, int byte)
{
    const pp_memory_lock *other;
    pp_lock_mode most = PP_LOCK_FREE;
    for (other = space_of(&self->lock)->locks; other != NULL; other = other->next)
        if (other != self && strcmp(other->key, self->key) == 0 && other->modes[byte] > most)
            most = other->modes[byte];
    return most;
}

parapet_status pp_memory_set_lock(pp_lock *lock, pp_lock_byte byte, pp_lock_mode mode)
{
    pp_memory_lock *self = (pp_memory_lock *)lock;
    pp_memory_space *shared = space_of(lock);
    pp_lock_mode others;
    bool is_free;
    pp_memory_space_lock(shared);
    others = mode_of_others(self, (int)byte);
    is_free = mode == PP_LOCK_FREE || others == PP_LOCK_FREE || (mode == PP_LOCK_SHARED && others == PP_LOCK_SHARED);
    if (is_free)
        self->modes[byte] = mode;
    pp_memory_space_unlock(shared);
    return is_free ? PARAPET_OK : pp_fail(PARAPET_ERR_BUSY, "another handle holds the lock %s", self->key);
}

parapet_status pp_memory_test_lock(pp_lock *lock, pp_lock_byte byte, bool *is_held)
{
    pp_memory_space *shared = space_of(lock);
    pp_memory_space_lock(shared);
    *is_held = mode_of_others((const pp_memory_lock *)lock, (int)byte) != PP_LOCK_FREE;
    pp_memory_space_unlock(shared);
    return PARAPET_OK;
}

parapet_status pp_memory_prove_lock(pp_lock *lock)
{
    (void)lock;
    return PARAPET_OK;
}

static void remove_text(pp_memory_space *shared, const char *key)
{
    size_t i = pp_memory_space_find(shared, key);
    if (pp_memory_space_has(shared, i, key))
        pp_memory_space_remove(shared, i, i + 1);
}

parapet_status pp_memory_write_lock(pp_lock *lock, const char *text)
{
    pp_memory_lock *self = (pp_memory_lock *)lock;
    pp_memory_space *shared = space_of(lock);
    pp_memory_content *made = NULL;
    parapet_status status = PARAPET_OK;
    if (text[0] != '\0' &&
        (status = pp_memory_content_build(&made, self->key, (const unsigned char *)text, strlen(text))) != PARAPET_OK)
        return status;
    pp_memory_space_lock(shared);
    if (text[0] != '\0')
        status = pp_memory_space_put(shared, self->key, made);
    else
        remove_text(shared, self->key);
    pp_memory_content_release(made);
    pp_memory_space_unlock(shared);
    return status;
}

static void view_parts(const pp_memory_space *shared, const char *key, pp_lock_view *view)
{
    const pp_memory_lock *each;
    int byte;
    for (each = shared->locks; each != NULL; each = each->next) {
        if (strcmp(each->key, key) != 0)
            continue;
        for (byte = 0; byte < PP_LOCK_BYTES; byte++)
            view->is_held = view->is_held || each->modes[byte] != PP_LOCK_FREE;
        view->is_long = view->is_long || each->modes[PP_LOCK_LONG] != PP_LOCK_FREE;
    }
}

parapet_status pp_memory_view_lock(pp_store *store, const char *key, pp_lock_view *view)
{
    pp_memory_space *shared = ((pp_memory_store *)store)->space;
    size_t i, bytes = 0;
    pp_memory_space_lock(shared);
    i = pp_memory_space_find(shared, key);
    if (pp_memory_space_has(shared, i, key)) {
        bytes = pp_min_size(shared->objects[i].content->bytes, PP_LOCK_TEXT_BYTES);
        if (bytes > 0)
            memcpy(view->text, shared->objects[i].content->data, bytes);
    }
    view->text[bytes] = '\0';
    view_parts(shared, key, view);
    pp_memory_space_unlock(shared);
    return PARAPET_OK;
}

void pp_memory_close_lock(pp_lock *lock)
{
    pp_memory_lock *self = (pp_memory_lock *)lock;
    pp_memory_space *shared = space_of(lock);
    pp_memory_lock **link;
    pp_memory_space_lock(shared);
    for (link = &shared->locks; *link != self;)
        link = &(*link)->next;
    *link = self->next;
    pp_memory_space_unlock(shared);
    pp_free(self->key);
    pp_free(self);
}
