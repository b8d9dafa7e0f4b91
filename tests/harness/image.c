#include "image.h"

#include "change/registry.h"
#include "support.h"

typedef struct take_job {
    image *taken;
    pp_store *store;
    const char *prefix;
} take_job;

static void take_below(image *taken, pp_store *store, const char *prefix);

/* Whatever a test has done, all that lies below __parapet has a name that the registry has. */
static void check_own_name(const char *key)
{
    const char *own = strstr(key, PP_OWN_FOLDER "/");
    if (own != NULL && pp_own_find(own + sizeof PP_OWN_FOLDER) == PP_OWN_COUNT)
        fail_msg("%s is not in the registry of src/change", key);
}

static void add_object(image *taken, pp_store *store, const char *key)
{
    image_object *added;
    char *data;
    size_t bytes;
    check_own_name(key);
    assert_ok(pp_store_read_all(store, key, SIZE_MAX / 2, &data, &bytes));
    taken->objects = realloc(taken->objects, (taken->count + 1) * sizeof taken->objects[0]);
    added = &taken->objects[taken->count++];
    added->key = strdup(key);
    added->data = malloc(bytes + 1);
    added->bytes = bytes;
    memcpy(added->data, data, bytes);
    pp_free(data);
}

static parapet_status visit(void *context, const pp_listed *listed)
{
    const take_job *job = context;
    char key[PP_MAX_KEY_BYTES];
    (void)snprintf(key, sizeof key, "%s%s%s", job->prefix, job->prefix[0] != '\0' ? "/" : "", listed->name);
    if (strcmp(listed->name, "lock") == 0) /* says which job came last, and counts for nothing that is stored */
        return PARAPET_OK;
    if (listed->is_prefix)
        take_below(job->taken, job->store, key);
    else
        add_object(job->taken, job->store, key);
    return PARAPET_OK;
}

static void take_below(image *taken, pp_store *store, const char *prefix)
{
    take_job job = {.taken = taken, .store = store, .prefix = prefix};
    assert_ok(pp_store_list(store, prefix, visit, &job));
}

void image_take(image *taken, pp_store *store)
{
    *taken = (image){0};
    take_below(taken, store, "");
}

void image_free(image *taken)
{
    size_t i;
    for (i = 0; i < taken->count; i++) {
        free(taken->objects[i].key);
        free(taken->objects[i].data);
    }
    free(taken->objects);
    *taken = (image){0};
}

void image_put_object(pp_store *store, const char *key, const void *data, size_t bytes)
{
    pp_write_request request = {.key = key, .staging = "", .is_small = true};
    assert_ok(pp_store_write_all(store, &request, data, bytes, PP_PUBLISH_REPLACE));
}

void image_put(const image *taken, pp_store *store)
{
    size_t i;
    for (i = 0; i < taken->count; i++)
        image_put_object(store, taken->objects[i].key, taken->objects[i].data, taken->objects[i].bytes);
}

const image_object *image_find(const image *taken, const char *key)
{
    size_t i;
    for (i = 0; i < taken->count; i++)
        if (strcmp(taken->objects[i].key, key) == 0)
            return &taken->objects[i];
    return NULL;
}

bool image_equals(const image *a, const image *b)
{
    size_t i;
    if (a->count != b->count)
        return false;
    for (i = 0; i < a->count; i++) {
        const image_object *other = image_find(b, a->objects[i].key);
        if (other == NULL || other->bytes != a->objects[i].bytes ||
            memcmp(other->data, a->objects[i].data, other->bytes) != 0)
            return false;
    }
    return true;
}
