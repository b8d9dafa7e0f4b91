#include "array/own_object.h"

#include "array/node_path.h"
#include "array/store_handle.h"

/* Temporary objects of a group lie in the group itself: so __parapet is empty again afterwards. */
static parapet_status choose_staging(const pp_own_object *object, char **staging)
{
    return object->is_of_array ? pp_own_key(object->node, PP_OWN_TEMPORARIES, staging)
                               : pp_text_duplicate(staging, object->node);
}

parapet_status pp_own_object_write(const pp_own_object *object, const char *text, size_t bytes, pp_publish_mode mode)
{
    parapet_store *store = object->store;
    char *key = NULL, *staging = NULL;
    parapet_status status = pp_own_key(object->node, object->own, &key);
    if (status == PARAPET_OK && (status = choose_staging(object, &staging)) == PARAPET_OK)
        status = pp_store_write_all(
            store->backend,
            &(pp_write_request){.key = key, .staging = staging, .budget = &store->budget, .is_small = true}, text,
            bytes, mode);
    pp_free(staging);
    pp_free(key);
    return status == PARAPET_OK ? pp_store_sync_dirs(store->backend) : status;
}

parapet_status pp_own_object_read(const pp_own_object *object, size_t bytes_most, char **text, size_t *bytes)
{
    char *key = NULL;
    parapet_status status = pp_own_key(object->node, object->own, &key);
    *text = NULL;
    *bytes = 0;
    if (status == PARAPET_OK)
        status = pp_store_read_all(object->store->backend, key, bytes_most, text, bytes);
    pp_free(key);
    return pp_accept_absence(status);
}

static parapet_status remove_empty(const pp_own_object *object)
{
    char *folder = NULL;
    parapet_status status = pp_own_folder(object->node, &folder);
    if (status == PARAPET_OK)
        status = pp_store_remove_empty(object->store->backend, folder);
    pp_free(folder);
    return status;
}

parapet_status pp_own_object_remove(const pp_own_object *object)
{
    pp_store *backend = object->store->backend;
    char *key = NULL;
    parapet_status status = pp_own_key(object->node, object->own, &key);
    if (status == PARAPET_OK)
        status = pp_accept_absence(pp_store_remove(backend, key));
    if (status == PARAPET_OK && !object->is_of_array)
        status = remove_empty(object);
    pp_free(key);
    return status == PARAPET_OK ? pp_store_sync_dirs(backend) : status;
}
