#include "array/announcement.h"

#include <string.h>

#include "array/lock_text.h"
#include "array/node.h"
#include "array/node_path.h"
#include "array/own_object.h"
#include "array/store_handle.h"

static pp_own_object object_of(const pp_announcement *place)
{
    return (pp_own_object){.store = place->store, .node = place->group, .own = PP_OWN_CHANGE};
}

parapet_status pp_announcement_read(const pp_announcement *place, char **text, size_t *bytes)
{
    pp_own_object object = object_of(place);
    return pp_own_object_read(&object, PP_CHANGE_BYTES_MOST, text, bytes);
}

/* Whether the record that is stored is this change's. */
static parapet_status is_own(const pp_announcement *place, const pp_change *change, bool *is_ours)
{
    char *text = NULL;
    size_t bytes = 0;
    parapet_status status = pp_announcement_read(place, &text, &bytes);
    *is_ours = text != NULL && pp_change_is(change, text);
    pp_free(text);
    return status;
}

/* Of two jobs whose locks failed one is refused (invariant 3 of docs/design/change.md). Over a network the answer to
 * a request may be lost, and the repeated request then meets what the first one did. */
static parapet_status publish(const pp_announcement *place, const pp_change *change, const pp_text *text)
{
    pp_own_object object = object_of(place);
    parapet_status status = pp_own_object_write(&object, text->data, text->bytes, PP_PUBLISH_EXCLUSIVE);
    bool is_ours = false;
    if (status != PARAPET_ERR_EXISTS)
        return status;
    if ((status = is_own(place, change, &is_ours)) == PARAPET_OK && !is_ours)
        status = pp_fail(PARAPET_ERR_EXISTS, "another job has begun to change \"%s\" meanwhile",
                         pp_path_shown(place->group));
    return status == PARAPET_OK ? pp_store_sync_dirs(place->store->backend) : status;
}

parapet_status pp_announcement_publish(const pp_announcement *place, const pp_change *change)
{
    pp_text text = {0};
    parapet_status status = pp_change_print(change, &text);
    if (status == PARAPET_OK && text.bytes > PP_CHANGE_BYTES_MOST)
        status =
            pp_fail(PARAPET_ERR_UNSUPPORTED,
                    "%d arrays are more than can become longer at once; append groups below the target one by one",
                    change->count);
    if (status == PARAPET_OK && (status = pp_node_lock_prove(place->lock)) == PARAPET_OK)
        status = publish(place, change, &text);
    pp_text_free(&text);
    return status;
}

/* Whoever has lost the lock may meet the record of the next job (invariant 3 of docs/design/change.md). */
parapet_status pp_announcement_end(const pp_announcement *place, const pp_change *change)
{
    pp_own_object object = object_of(place);
    bool is_ours = false;
    parapet_status status;
    if ((status = pp_node_lock_prove(place->lock)) != PARAPET_OK ||
        (status = is_own(place, change, &is_ours)) != PARAPET_OK || !is_ours)
        return status;
    return pp_own_object_remove(&object);
}

/* ---- Who has to wait (invariant 12 of docs/design/change.md) ---- */

parapet_status pp_announcement_refuse(parapet_store *store, const char *group)
{
    pp_lock_view view;
    bool is_there;
    parapet_status status = pp_node_has_own(store, group, PP_OWN_CHANGE, &is_there);
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

parapet_status pp_announcement_refuse_above(parapet_store *store, const char *path)
{
    parapet_status status = pp_announcement_refuse(store, path);
    return status == PARAPET_OK ? pp_announcement_refuse_around(store, path) : status;
}

parapet_status pp_announcement_refuse_around(parapet_store *store, const char *path)
{
    char *group = NULL;
    parapet_status status = pp_text_duplicate(&group, path);
    while (status == PARAPET_OK && group[0] != '\0') {
        char *slash = strrchr(group, '/');
        *(slash != NULL ? slash : group) = '\0';
        status = pp_announcement_refuse(store, group);
    }
    pp_free(group);
    return status;
}
