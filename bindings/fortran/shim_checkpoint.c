/* Checkpoints, and restoring from them. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

parapet_status parapet_fortran_checkpoint_begin(parapet_checkpoint **checkpoint, parapet_store *store,
                                                const char *path, int64_t generation, int64_t keep)
{
    parapet_checkpoint_options options = {.generation = generation, .keep = keep};
    shim_begin();
    if (shim_is_taken(*checkpoint, "checkpoint"))
        return PARAPET_ERR_ARGUMENT;
    return parapet_checkpoint_begin(checkpoint, store, path, &options);
}

parapet_status parapet_fortran_checkpoint_put(parapet_checkpoint *checkpoint, const char *name, shim_spec *spec,
                                              const CFI_cdesc_t *data, const int64_t *start, int start_count)
{
    shim_part one;
    parapet_checkpoint_item item = {.name = name, .spec = &spec->spec, .parts = &one.part};
    int type = shim_data_type(data);
    if (spec->spec.type == PARAPET_TYPE_OF_ARRAY && type > 0)
        spec->spec.type = (parapet_type)type;
    item.part_count = shim_part_describe(&one, data, (shim_place){start, start_count}, spec->spec.type);
    return parapet_checkpoint_put(checkpoint, &item, 1);
}

parapet_status parapet_fortran_checkpoint_put_parts(parapet_checkpoint *checkpoint, const char *name,
                                                    const shim_spec *spec, const shim_parts *parts)
{
    parapet_checkpoint_item item = {.name = name, .spec = &spec->spec};
    parapet_part *all = shim_parts_select(parts, (shim_wish){"", spec->spec.type}, &item.part_count);
    parapet_status status;
    item.parts = all;
    status = parapet_checkpoint_put(checkpoint, &item, 1);
    free(all);
    return status;
}

static void release_items(parapet_checkpoint_item *items, int count)
{
    for (int i = 0; items != NULL && i < count; i++)
        shim_parts_release(items[i].parts);
    free(items);
}

/* The arrays of a list with their parts, to be released; NULL without memory, which the library then refuses. */
static parapet_checkpoint_item *list_items(const shim_definitions *arrays, const shim_parts *parts)
{
    parapet_checkpoint_item *items = calloc((size_t)arrays->count + 1, sizeof *items);
    for (int i = 0; items != NULL && i < arrays->count; i++) {
        shim_wish wish = {arrays->names[i], arrays->specs[i].type};
        items[i].name = wish.name;
        items[i].spec = &arrays->specs[i];
        items[i].parts = shim_parts_select(parts, wish, &items[i].part_count);
    }
    if (items != NULL && arrays->count > 0 &&
        !shim_parts_are_of(parts, (const char *const *)arrays->names, arrays->count, "the list of definitions"))
        items[0].parts = shim_parts_spoil(items[0].parts, &items[0].part_count);
    return items;
}

parapet_status parapet_fortran_checkpoint_put_defined(parapet_checkpoint *checkpoint, const shim_definitions *arrays,
                                                      const shim_parts *parts)
{
    parapet_checkpoint_item *items;
    parapet_status status;
    shim_begin();
    items = list_items(arrays, parts);
    status = parapet_checkpoint_put(checkpoint, items, arrays->count);
    release_items(items, arrays->count);
    return status;
}

parapet_status parapet_fortran_checkpoint_start(parapet_request **request, parapet_checkpoint **checkpoint,
                                                const shim_definitions *arrays, const shim_parts *parts, int copies,
                                                int64_t *generation)
{
    parapet_checkpoint_item *items;
    parapet_status status;
    shim_begin();
    if (shim_is_taken(*request, "request"))
        return PARAPET_ERR_ARGUMENT;
    items = list_items(arrays, parts);
    status = parapet_checkpoint_start(request, checkpoint, items, arrays->count, shim_buffering(copies), generation);
    release_items(items, arrays->count);
    return status;
}

parapet_status parapet_fortran_checkpoint_attribute_set(parapet_checkpoint *checkpoint, const char *name,
                                                        const char *json)
{
    shim_begin();
    return parapet_checkpoint_attribute_set(checkpoint, name, json);
}

parapet_status parapet_fortran_checkpoint_commit(parapet_checkpoint **checkpoint, int64_t *generation)
{
    shim_begin();
    return parapet_checkpoint_commit(checkpoint, generation);
}

parapet_status parapet_fortran_checkpoint_abort(parapet_checkpoint **checkpoint)
{
    shim_begin();
    return parapet_checkpoint_abort(checkpoint);
}

parapet_status parapet_fortran_restore_open(parapet_restore **restore, parapet_store *store, const char *path,
                                            int64_t generation)
{
    shim_begin();
    if (shim_is_taken(*restore, "restore"))
        return PARAPET_ERR_ARGUMENT;
    return parapet_restore_open(restore, store, path, generation);
}

static parapet_status find_array(parapet_restore *restore, const char *name, parapet_array_info *array)
{
    parapet_restore_info info = {0};
    parapet_status status = parapet_restore_get_info(restore, &info);
    if (status != PARAPET_OK)
        return status;
    for (int i = 0; i < info.array_count; i++)
        if (strcmp(info.names[i], name) == 0)
            return parapet_restore_get_array_info(restore, i, array);
    return shim_refuse("the generation %s has no array \"%s\"", info.path, name);
}

/* The type of an array of the generation; of any, if there is none, which the library then says. */
static parapet_type type_of(parapet_restore *restore, const char *name)
{
    parapet_array_info array = {0};
    (void)find_array(restore, name, &array);
    shim_begin();
    return array.type;
}

parapet_status parapet_fortran_restore_array_info(parapet_restore *restore, const char *name, int *figures,
                                                  int64_t *shape)
{
    parapet_array_info array = {0};
    parapet_status status;
    shim_begin();
    if ((status = find_array(restore, name, &array)) == PARAPET_OK)
        shim_reverse(shape, array.shape, array.ndim, 0);
    figures[0] = (int)array.type;
    figures[1] = array.ndim;
    return status;
}

parapet_status parapet_fortran_restore_get(parapet_restore *restore, const char *name, const CFI_cdesc_t *data,
                                           const int64_t *start, int start_count)
{
    shim_part one;
    parapet_checkpoint_item item = {.name = name, .parts = &one.part};
    parapet_type type = type_of(restore, name);
    item.part_count = shim_part_describe(&one, data, (shim_place){start, start_count}, type);
    return parapet_restore_get(restore, &item, 1);
}

parapet_status parapet_fortran_restore_get_parts(parapet_restore *restore, const char *name, const shim_parts *parts)
{
    parapet_checkpoint_item item = {.name = name};
    parapet_part *all = shim_parts_select(parts, (shim_wish){"", type_of(restore, name)}, &item.part_count);
    parapet_status status;
    item.parts = all;
    status = parapet_restore_get(restore, &item, 1);
    free(all);
    return status;
}

/* All arrays of the generation are listed, whichever of them this rank reads: every rank lists the same ones. */
parapet_status parapet_fortran_restore_get_named(parapet_restore *restore, const shim_parts *parts)
{
    parapet_restore_info info = {0};
    parapet_checkpoint_item *items;
    parapet_status status;
    shim_begin();
    if ((status = parapet_restore_get_info(restore, &info)) != PARAPET_OK)
        return status;
    items = calloc((size_t)info.array_count + 1, sizeof *items);
    for (int i = 0; items != NULL && i < info.array_count; i++) {
        shim_wish wish = {info.names[i], type_of(restore, info.names[i])};
        items[i].name = wish.name;
        items[i].parts = shim_parts_select(parts, wish, &items[i].part_count);
    }
    if (!shim_parts_are_of(parts, info.names, info.array_count, "the generation") && items != NULL &&
        info.array_count > 0)
        items[0].parts = shim_parts_spoil(items[0].parts, &items[0].part_count);
    status = parapet_restore_get(restore, items, info.array_count);
    release_items(items, info.array_count);
    return status;
}

parapet_status parapet_fortran_restore_attribute_get(parapet_restore *restore, const char *name, char **json)
{
    shim_begin();
    return parapet_restore_attribute_get(restore, name, json);
}

parapet_status parapet_fortran_restore_info(parapet_restore *restore, int64_t *figures, shim_notes **texts)
{
    parapet_restore_info info = {.path = "", .problem = ""};
    shim_notes all = {0};
    parapet_status status;
    shim_begin();
    status = parapet_restore_get_info(restore, &info);
    figures[0] = info.generation;
    figures[1] = info.passed_over;
    shim_notes_add(&all, 0, info.path, info.problem);
    for (int i = 0; i < info.array_count; i++)
        shim_notes_add(&all, 0, info.names[i], "");
    return shim_notes_finish(texts, &all, status);
}

parapet_status parapet_fortran_restore_close(parapet_restore **restore)
{
    shim_begin();
    return parapet_restore_close(restore);
}

static int add_generation(void *context, int64_t generation, const char *path)
{
    return shim_notes_add(context, generation, path, "");
}

parapet_status parapet_fortran_checkpoint_list(parapet_store *store, const char *path, shim_notes **generations)
{
    shim_notes all = {0};
    shim_begin();
    return shim_notes_finish(generations, &all, parapet_checkpoint_list(store, path, add_generation, &all));
}
