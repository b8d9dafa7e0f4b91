#include "array/mark.h"

#include <string.h>

#include "array/lock_text.h"
#include "array/node.h"
#include "array/node_path.h"
#include "array/store_handle.h"

parapet_status pp_mark_write(const pp_mark *mark, const char *text, size_t bytes)
{
    pp_store *backend = mark->store->backend;
    char *key = NULL;
    parapet_status status = pp_own_key(mark->group, mark->own, &key);
    if (status == PARAPET_OK)
        status =
            pp_store_write_all(backend, &(pp_write_request){.key = key, .staging = mark->group, .is_small = true},
                               text, bytes, PP_PUBLISH_REPLACE);
    pp_free(key);
    return status == PARAPET_OK ? pp_store_sync_dirs(backend) : status;
}

parapet_status pp_mark_remove(const pp_mark *mark)
{
    pp_store *backend = mark->store->backend;
    char *own = NULL, *key = NULL;
    parapet_status status = pp_own_key(mark->group, mark->own, &key);
    if (status == PARAPET_OK && (status = pp_own_folder(mark->group, &own)) == PARAPET_OK &&
        ((status = pp_store_remove(backend, key)) == PARAPET_OK || status == PARAPET_ERR_NOT_FOUND))
        status = pp_store_remove_empty(backend, own);
    pp_free(key);
    pp_free(own);
    return status;
}

parapet_status pp_mark_is_there(const pp_mark *mark, bool *is_there)
{
    return pp_node_has_own(mark->store, mark->group, mark->own, is_there);
}

/* ---- Appends ---- */

parapet_status pp_mark_refuse_append(parapet_store *store, const char *group)
{
    pp_lock_view view;
    bool is_there;
    parapet_status status =
        pp_mark_is_there(&(pp_mark){.store = store, .group = group, .own = PP_OWN_APPEND}, &is_there);
    if (status != PARAPET_OK || !is_there || (status = pp_lock_text_view(store, group, &view)) != PARAPET_OK)
        return status;
    /* An append holds LONG of its group. The caller may hold it, too, as a series does that is to begin there. */
    if (view.is_long && !pp_lock_text_is_own(&view))
        return pp_lock_text_fail_busy(store, group);
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
