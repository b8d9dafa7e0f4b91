/* create_many.c - the calls that create arrays, and arrays that only a checkpoint knows of. */
#include "array/array.h"
#include "array/array_handle.h"
#include "array/bulk_create.h"
#include "array/create.h"
#include "array/spec.h"
#include "array/store_queries.h"
#include "array/stored_document.h"

static parapet_status create_arrays(void *subject, const void *argument)
{
    const pp_arrays *all = subject;
    const parapet_array_spec *specs = argument;
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < all->count && status == PARAPET_OK; i++)
        status = pp_array_create_here(all->arrays[i], &specs[i]);
    /* Once for all of them: the directory that holds them is one. */
    return status == PARAPET_OK ? pp_store_sync_dirs(all->store->backend) : status;
}

/* Says what is wrong with the specs, and to the other ranks what is in them. */
static parapet_status describe_specs(const char *const *paths, const parapet_array_spec *specs, int count,
                                     pp_call *call)
{
    parapet_status status = PARAPET_OK;
    int i;
    if (paths == NULL || specs == NULL)
        return count > 0 ? pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_create needs a path and a spec") : status;
    for (i = 0; i < count && status == PARAPET_OK; i++)
        if ((status = pp_spec_check(&specs[i])) == PARAPET_OK) {
            if (count > 1)
                pp_call_within(call, "specs[%d].", i);
            pp_spec_add(&specs[i], call);
        } else
            status = pp_fail_within(status, "cannot create array \"%s\"", paths[i] != NULL ? paths[i] : "");
    return status;
}

/* In memory only. */
static parapet_status define(parapet_array *array, const parapet_array_spec *spec)
{
    pp_array_document document = {0};
    parapet_status status = pp_array_draft_document(array->store, spec, &document);
    if (status == PARAPET_OK)
        status = pp_array_take_document(array, &document);
    pp_array_document_clear(&document);
    return status;
}

static parapet_status fail_create(const parapet_array *array, parapet_status status)
{
    return pp_fail_within(status, "cannot create array \"%s\"", array->path);
}

/* [local] Where servers make what they keep, every rank has all of the documents. */
static parapet_status prepare_bulk_create(const pp_arrays *made, const parapet_array_spec *specs,
                                          pp_ancestor_list *groups, bool *are_many)
{
    parapet_status status = pp_bulk_create_prepare(made, groups, are_many);
    int i;
    for (i = 0; i < made->count && *are_many && status == PARAPET_OK; i++)
        if ((status = define(made->arrays[i], &specs[i])) != PARAPET_OK ||
            (status = pp_array_note_digest(made->arrays[i])) != PARAPET_OK)
            status = fail_create(made->arrays[i], status);
    return status;
}

/* [collective] */
static parapet_status create_described(const pp_arrays *made, const parapet_array_spec *specs, const pp_call *call,
                                       parapet_status mine)
{
    pp_ancestor_list groups = {0};
    bool are_many = false;
    parapet_status status = mine;
    if (status == PARAPET_OK)
        status = prepare_bulk_create(made, specs, &groups, &are_many);
    if (!are_many)
        status = pp_arrays_rank0_do(made, call, status, create_arrays, specs);
    else if ((status = pp_comm_begin(made->store->comm, call, status)) == PARAPET_OK)
        status = pp_arrays_finish(made, pp_bulk_create_create(made, specs, &groups));
    else
        (void)pp_arrays_finish(made, status);
    pp_ancestor_list_clear(&groups);
    return status;
}

parapet_status pp_arrays_create(parapet_array **arrays, parapet_store *store, const char *const *paths,
                                const parapet_array_spec *specs, int count, bool is_detached)
{
    pp_arrays made = {.store = store, .arrays = arrays, .count = count};
    parapet_status status, built;
    pp_call call;
    int i;
    pp_arrays_call(&call, "create", paths, count);
    status = describe_specs(paths, specs, count, &call);
    if ((built = pp_arrays_build(arrays, store, paths, count)) != PARAPET_OK)
        status = built;
    if (store == NULL)
        return status;
    for (i = 0; built == PARAPET_OK && i < count; i++)
        arrays[i]->is_detached = is_detached;
    if (status == PARAPET_OK)
        status = pp_store_check_writable(store);
    return create_described(&made, specs, &call, status);
}

parapet_status parapet_arrays_create(parapet_array **arrays, parapet_store *store, const char *const *paths,
                                     const parapet_array_spec *specs, int count)
{
    PP_TURN turn = {0};
    parapet_status status = pp_arrays_take_turn(&turn, arrays, store, count);
    return status != PARAPET_OK ? status : pp_outcome(pp_arrays_create(arrays, store, paths, specs, count, false));
}

parapet_status parapet_array_create(parapet_array **array, parapet_store *store, const char *path,
                                    const parapet_array_spec *spec)
{
    return parapet_arrays_create(array, store, &path, spec, 1);
}

/* ---- Arrays that nobody else knows of ---- */

static parapet_status define_apart(parapet_array *array, const parapet_array_spec *spec, pp_homes *homes)
{
    parapet_status status = define(array, spec);
    array->is_detached = true;
    if (status == PARAPET_OK)
        status = pp_array_choose_homes(array, homes);
    return status == PARAPET_OK ? status : fail_create(array, status);
}

parapet_status pp_arrays_define(parapet_array **arrays, const pp_definitions *given, pp_call *call)
{
    parapet_status status;
    int i;
    for (i = 0; i < given->count; i++)
        pp_call_add_element(call, "paths", i, given->paths[i]);
    if ((status = describe_specs(given->paths, given->specs, given->count, call)) == PARAPET_OK)
        status = pp_arrays_build(arrays, given->store, given->paths, given->count);
    for (i = 0; i < given->count && status == PARAPET_OK; i++)
        status = define_apart(arrays[i], &given->specs[i], given->homes);
    return status == PARAPET_OK ? pp_store_check_writable(given->store) : status;
}

static parapet_status store_apart(parapet_array *array)
{
    parapet_status status = pp_array_make_room(array, &array->document, false);
    if (status == PARAPET_OK)
        status = pp_array_write_document(array, PP_PUBLISH_EXCLUSIVE);
    return status == PARAPET_OK ? status : fail_create(array, status);
}

/* What a crash leaves of a shard is known for ours by the document, which is therefore durable before. */
parapet_status pp_arrays_store_documents(parapet_array *const *arrays, int count)
{
    parapet_store *store = arrays[0]->store;
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < count && status == PARAPET_OK; i++)
        if (pp_store_keeper(store, i, count) == pp_comm_rank(store->comm))
            status = store_apart(arrays[i]);
    return status == PARAPET_OK ? pp_store_sync_dirs(store->backend) : status;
}
