/* Checkpoints, and restoring from them. */
#include "shim.h"

#include <stdlib.h>

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
    parapet_part *all = shim_parts_select(parts, "", &item.part_count);
    parapet_status status;
    for (int i = 0; all != NULL && i < item.part_count; i++)
        if (shim_type_fits(all[i].type, spec->spec.type))
            all[i].type = PARAPET_TYPE_OF_ARRAY;
    item.parts = all;
    status = parapet_checkpoint_put(checkpoint, &item, 1);
    free(all);
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

parapet_status parapet_fortran_restore_get(parapet_restore *restore, const char *name, const CFI_cdesc_t *data,
                                           const int64_t *start, int start_count)
{
    shim_part one;
    parapet_checkpoint_item item = {.name = name, .parts = &one.part};
    shim_begin();
    item.part_count = shim_part_describe(&one, data, (shim_place){start, start_count}, PARAPET_TYPE_OF_ARRAY);
    return parapet_restore_get(restore, &item, 1);
}

parapet_status parapet_fortran_restore_get_parts(parapet_restore *restore, const char *name, const shim_parts *parts)
{
    parapet_checkpoint_item item = {.name = name};
    parapet_part *all = shim_parts_select(parts, "", &item.part_count);
    parapet_status status;
    shim_begin();
    item.parts = all;
    status = parapet_restore_get(restore, &item, 1);
    free(all);
    return status;
}

parapet_status parapet_fortran_restore_attribute_get(parapet_restore *restore, const char *name, char **json)
{
    shim_begin();
    return parapet_restore_attribute_get(restore, name, json);
}

parapet_status parapet_fortran_restore_info(parapet_restore *restore, int64_t *generation, int64_t *passed_over)
{
    parapet_restore_info info = {0};
    parapet_status status;
    shim_begin();
    status = parapet_restore_get_info(restore, &info);
    *generation = info.generation;
    *passed_over = info.passed_over;
    return status;
}

parapet_status parapet_fortran_restore_close(parapet_restore **restore)
{
    shim_begin();
    return parapet_restore_close(restore);
}

/* Where the numbers of generations go; those beyond room are counted only. */
typedef struct generations {
    int64_t *numbers;
    int room, count;
} generations;

static int add_generation(void *context, int64_t generation, const char *path)
{
    generations *self = context;
    (void)path;
    if (self->count < self->room)
        self->numbers[self->count] = generation;
    self->count++;
    return 0;
}

parapet_status parapet_fortran_checkpoint_list(parapet_store *store, const char *path, int64_t *numbers, int room,
                                               int *count)
{
    generations all = {.numbers = numbers, .room = room};
    parapet_status status;
    shim_begin();
    status = parapet_checkpoint_list(store, path, add_generation, &all);
    *count = all.count;
    return status;
}
