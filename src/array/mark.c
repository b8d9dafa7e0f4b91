#include "array/mark.h"

#include <string.h>

#include "array/holder.h"
#include "array/node.h"
#include "array/path.h"
#include "array/store_handle.h"

#define OWN "__parapet"

static parapet_status key_of(const pp_mark *mark, char **own, char **key)
{
    parapet_status status = pp_path_join(mark->group, OWN, own);
    return status == PARAPET_OK ? pp_path_join(*own, mark->name, key) : status;
}

parapet_status pp_mark_write(const pp_mark *mark, const char *text, size_t bytes)
{
    pp_store *backend = mark->store->backend;
    char *own = NULL, *key = NULL;
    parapet_status status = key_of(mark, &own, &key);
    if (status == PARAPET_OK)
        status =
            pp_store_write_all(backend, &(pp_write_request){.key = key, .staging = mark->group, .is_small = true},
                               text, bytes, PP_PUBLISH_REPLACE);
    pp_free(key);
    pp_free(own);
    return status == PARAPET_OK ? pp_store_settle(backend) : status;
}

parapet_status pp_mark_remove(const pp_mark *mark)
{
    pp_store *backend = mark->store->backend;
    char *own = NULL, *key = NULL;
    parapet_status status = key_of(mark, &own, &key);
    if (status == PARAPET_OK &&
        ((status = pp_store_remove(backend, key)) == PARAPET_OK || status == PARAPET_ERR_NOT_FOUND))
        status = pp_store_remove_empty(backend, own);
    pp_free(key);
    pp_free(own);
    return status;
}

parapet_status pp_mark_is_there(const pp_mark *mark, bool *is_there)
{
    char *own = NULL;
    parapet_status status = pp_path_join(mark->group, OWN, &own);
    *is_there = false;
    if (status == PARAPET_OK)
        status = pp_node_has_object(mark->store, own, mark->name, is_there);
    pp_free(own);
    return status;
}

/* ---- Appends ---- */

parapet_status pp_mark_refuse_append(parapet_store *store, const char *group)
{
    pp_lock_view view;
    bool is_there;
    parapet_status status =
        pp_mark_is_there(&(pp_mark){.store = store, .group = group, .name = PP_MARK_APPEND}, &is_there);
    if (status != PARAPET_OK || !is_there || (status = pp_holder_view(store, group, &view)) != PARAPET_OK)
        return status;
    if (view.is_long && !pp_holder_is_own(&view))
        return pp_holder_fail_busy(store, group);
    return pp_fail(PARAPET_ERR_EXISTS,
                   "an append to \"%s\" was interrupted, and its arrays may have different lengths; complete or undo "
                   "it first: parapet gc, parapet_store_collect, or the next append",
                   pp_path_shown(group));
}

parapet_status pp_mark_refuse_append_above(parapet_store *store, const char *path)
{
    parapet_status status = pp_mark_refuse_append(store, path);
    return status == PARAPET_OK ? pp_mark_refuse_append_around(store, path) : status;
}

parapet_status pp_mark_refuse_append_around(parapet_store *store, const char *path)
{
    char *group = NULL;
    parapet_status status = pp_text_duplicate(&group, path);
    while (status == PARAPET_OK && group[0] != '\0') {
        char *slash = strrchr(group, '/');
        *(slash != NULL ? slash : group) = '\0';
        status = pp_mark_refuse_append(store, group);
    }
    pp_free(group);
    return status;
}
