#include "array/own_object.h"

#include "array/node_path.h"
#include "array/store_handle.h"

static parapet_status key_of(const pp_own_object *object, char **key)
{
    return object->id != NULL ? pp_own_key_with_id(object->node, object->own, object->id, key)
                              : pp_own_key(object->node, object->own, key);
}

/* Temporary objects lie in the node itself, where a group has its own: so __parapet is empty again afterwards. */
parapet_status pp_own_object_write(const pp_own_object *object, const char *text, size_t bytes, pp_publish_mode mode)
{
    parapet_store *store = object->store;
    char *key = NULL;
    parapet_status status = key_of(object, &key);
    if (status == PARAPET_OK)
        status = pp_store_write_all(
            store->backend,
            &(pp_write_request){.key = key, .staging = object->node, .budget = &store->budget, .is_small = true},
            text, bytes, mode);
    pp_free(key);
    return status == PARAPET_OK ? pp_store_sync_dirs(store->backend) : status;
}

parapet_status pp_own_object_read(const pp_own_object *object, size_t bytes_most, char **text, size_t *bytes)
{
    char *key = NULL;
    parapet_status status = key_of(object, &key);
    *text = NULL;
    *bytes = 0;
    if (status == PARAPET_OK)
        status = pp_store_read_all(object->store->backend, key, bytes_most, text, bytes);
    pp_free(key);
    return pp_accept_absence(status);
}

parapet_status pp_own_object_remove(const pp_own_object *object)
{
    pp_store *backend = object->store->backend;
    char *key = NULL, *folder = NULL;
    parapet_status status = key_of(object, &key);
    if (status == PARAPET_OK && (status = pp_own_folder(object->node, &folder)) == PARAPET_OK &&
        (status = pp_accept_absence(pp_store_remove(backend, key))) == PARAPET_OK &&
        (status = pp_store_remove_empty(backend, folder)) == PARAPET_OK)
        status = pp_store_sync_dirs(backend);
    pp_free(key);
    pp_free(folder);
    return status;
}
