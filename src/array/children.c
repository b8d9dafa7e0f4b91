#include "array/children.h"
#include "array/store_handle.h"

static parapet_status add_name(void *context, const pp_listed *listed)
{
    pp_children *list = context;
    parapet_status status;
    if (!listed->is_prefix || pp_path_check(listed->name) != PARAPET_OK)
        return PARAPET_OK;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity > 0 ? 2 * list->capacity : 16;
        if ((status = pp_reallocate(&list->names, capacity * sizeof list->names[0])) != PARAPET_OK)
            return status;
        list->capacity = capacity;
    }
    if ((status = pp_text_duplicate(&list->names[list->count], listed->name)) == PARAPET_OK)
        list->count++;
    return status;
}

parapet_status pp_children_list(pp_children *list, parapet_store *store, const char *path)
{
    return pp_store_list(store->backend, path, add_name, list);
}

void pp_children_clear(pp_children *list)
{
    size_t i;
    for (i = 0; i < list->count; i++)
        pp_free(list->names[i]);
    pp_free(list->names);
    *list = (pp_children){0};
}
