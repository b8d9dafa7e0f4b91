/* handle.c - handles of arrays: built and freed. */
#include <parapet_store.h>

#include "array/array.h"
#include "array/array_handle.h"
#include "array/node_path.h"
#include "array/seal_objects.h"

void pp_array_forget(parapet_array *array)
{
    pp_layout_clear(&array->layout);
    pp_free(array->layout_failure);
    pp_array_document_clear(&array->document);
    pp_json_free(array->zarray);
    pp_json_free(array->zattrs);
    pp_manifest_head_clear(&array->head);
    pp_shard_notes_clear(&array->notes);
    pp_seal_forget_pages(array);
    pp_free(array->codec_words);
    *array = (parapet_array){.store = array->store,
                             .path = array->path,
                             .guard = array->guard,
                             .cache_number = array->cache_number,
                             .is_cut = array->is_cut,
                             .is_detached = array->is_detached};
}

void pp_array_free(parapet_array *array)
{
    if (array == NULL)
        return;
    if (array->cache_number != 0) { /* else a thread that reads locally may have it, beside a call of all ranks */
        pp_cache_forget(array->store->cache, array->cache_number);
        if (pp_dirty_arrays_has(&array->store->dirty_arrays, array))
            pp_write_back_forget(array->store->write_back, array->cache_number);
        pp_dirty_arrays_remove(&array->store->dirty_arrays, array);
    }
    pp_array_forget(array);
    pp_guard_free(array->guard);
    pp_free(array->path);
    pp_free(array);
}

void pp_arrays_free(parapet_array **arrays, int count)
{
    int i;
    for (i = 0; arrays != NULL && i < count; i++) {
        pp_array_free(arrays[i]);
        arrays[i] = NULL;
    }
}

static parapet_status build_handle(parapet_array **array, parapet_store *store, const char *path)
{
    parapet_status status = pp_allocate(array, sizeof **array);
    if (status != PARAPET_OK)
        return status;
    (*array)->store = store;
    if (store->options->cache_bytes > 0)
        (*array)->cache_number = atomic_fetch_add(&store->handles_made, 1) + 1;
    if ((status = pp_guard_build(&(*array)->guard)) != PARAPET_OK)
        return status;
    return pp_path_normalize(path, &(*array)->path);
}

parapet_status pp_arrays_build(parapet_array **arrays, parapet_store *store, const char *const *paths, int count)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; arrays != NULL && i < count; i++)
        arrays[i] = NULL;
    if (arrays == NULL || store == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "an array needs a store and a pointer for its handle");
    if (count < 0 || (count > 0 && paths == NULL))
        return pp_fail(PARAPET_ERR_ARGUMENT, "count is %d, but %s", count,
                       count > 0 ? "there are no paths" : "must be 0 or more");
    for (i = 0; i < count && status == PARAPET_OK; i++)
        status = build_handle(&arrays[i], store, paths[i]);
    return status;
}
