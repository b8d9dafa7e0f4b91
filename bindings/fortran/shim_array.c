/* Arrays. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

parapet_status parapet_fortran_array_create(parapet_array **array, parapet_store *store, const char *path,
                                            const shim_spec *spec)
{
    if (shim_is_taken(*array, "array"))
        return PARAPET_ERR_ARGUMENT;
    return parapet_array_create(array, store, path, &spec->spec);
}

parapet_status parapet_fortran_array_open(parapet_array **array, parapet_store *store, const char *path)
{
    shim_begin();
    if (shim_is_taken(*array, "array"))
        return PARAPET_ERR_ARGUMENT;
    return parapet_array_open(array, store, path);
}

parapet_status parapet_fortran_array_close(parapet_array **array)
{
    shim_begin();
    return parapet_array_close(array);
}

static parapet_type type_of(parapet_array *array)
{
    parapet_array_info info = {0};
    return parapet_array_get_info(array, &info) == PARAPET_OK ? info.type : PARAPET_TYPE_OF_ARRAY;
}

parapet_status parapet_fortran_array_write(parapet_array *array, const CFI_cdesc_t *data, const int64_t *start,
                                           int start_count)
{
    shim_part one;
    int count;
    shim_begin();
    count = shim_part_describe(&one, data, (shim_place){start, start_count}, type_of(array));
    return parapet_array_write(array, &one.part, count);
}

parapet_status parapet_fortran_array_read(parapet_array *array, const CFI_cdesc_t *data, const int64_t *start,
                                          int start_count)
{
    shim_part one;
    int count;
    shim_begin();
    count = shim_part_describe(&one, data, (shim_place){start, start_count}, type_of(array));
    return parapet_array_read(array, &one.part, count);
}

parapet_status parapet_fortran_array_read_local(parapet_array *array, const CFI_cdesc_t *data, const int64_t *start,
                                                int start_count)
{
    shim_part one;
    int count;
    shim_begin();
    count = shim_part_describe(&one, data, (shim_place){start, start_count}, type_of(array));
    return parapet_array_read_local(array, &one.part, count);
}

parapet_status parapet_fortran_array_resize(parapet_array *array, const int64_t *shape, int ndim)
{
    int64_t reversed[PARAPET_MAX_NDIM] = {0};
    parapet_array_info info = {0};
    shim_begin();
    if (parapet_array_get_info(array, &info) == PARAPET_OK && info.ndim != ndim) {
        shim_refuse("shape has %d entries, but the array has %d dimensions", ndim, info.ndim);
        return parapet_array_resize(array, NULL);
    }
    shim_reverse(reversed, shape, ndim, 0);
    return parapet_array_resize(array, reversed);
}

parapet_status parapet_fortran_array_seal(parapet_array *array)
{
    shim_begin();
    return parapet_array_seal(array);
}

parapet_status parapet_fortran_array_flush(parapet_array *array)
{
    shim_begin();
    return parapet_array_flush(array);
}

parapet_status parapet_fortran_array_unseal(parapet_array *array)
{
    shim_begin();
    return parapet_array_unseal(array);
}

parapet_status parapet_fortran_array_attribute_set(parapet_array *array, const char *name, const char *json)
{
    shim_begin();
    return parapet_array_attribute_set(array, name, json[0] == '\0' ? NULL : json);
}

parapet_status parapet_fortran_array_attribute_get(parapet_array *array, const char *name, char **json)
{
    shim_begin();
    return parapet_array_attribute_get(array, name[0] == '\0' ? NULL : name, json);
}

parapet_status parapet_fortran_array_info(parapet_array *array, int *figures, int64_t *shape, int64_t *chunks,
                                          int64_t *shards)
{
    parapet_array_info info = {0};
    parapet_status status;
    shim_begin();
    if ((status = parapet_array_get_info(array, &info)) != PARAPET_OK)
        return status;
    figures[0] = (int)info.type;
    figures[1] = info.ndim;
    figures[2] = info.is_sealed;
    figures[3] = info.is_sharded;
    figures[4] = info.zarr_format;
    figures[5] = info.fill_is_defined;
    shim_reverse(shape, info.shape, info.ndim, 0);
    shim_reverse(chunks, info.chunks, info.ndim, 0);
    shim_reverse(shards, info.shards, info.ndim, 0);
    return status;
}

parapet_status parapet_fortran_array_texts(parapet_array *array, const char **path, const char **type_name,
                                           const char **codecs)
{
    parapet_array_info info = {0};
    parapet_status status;
    shim_begin();
    status = parapet_array_get_info(array, &info);
    *path = info.path;
    *type_name = info.type_name;
    *codecs = info.codecs;
    return status;
}

parapet_status parapet_fortran_array_fill(parapet_array *array, void *value, int type)
{
    parapet_array_info info = {0};
    parapet_status status;
    shim_begin();
    if ((status = parapet_array_get_info(array, &info)) != PARAPET_OK)
        return status;
    if (!shim_type_fits((parapet_type)type, info.type))
        return shim_refuse("the fill value of %s is of the type %s: use a variable of the same type and kind",
                           info.path, info.type_name);
    memcpy(value, info.fill_value, info.element_bytes);
    return status;
}

parapet_status parapet_fortran_array_explain(parapet_array *array, char **text)
{
    shim_begin();
    return parapet_array_layout_print(array, text);
}

/* Boxes in Fortran order: for each of them its start, from 1, then its count. */
typedef struct boxes {
    int64_t *numbers, count, room;
    int ndim, is_full;
} boxes;

static int add_box(void *context, const int64_t *start, const int64_t *count)
{
    boxes *self = context;
    int64_t *own;
    if (self->count == self->room) {
        int64_t room = 2 * self->room + 8;
        int64_t *grown = realloc(self->numbers, (size_t)room * 2 * (size_t)(self->ndim + 1) * sizeof grown[0]);
        if ((self->is_full = grown == NULL))
            return 1;
        self->numbers = grown;
        self->room = room;
    }
    own = self->numbers + self->count++ * 2 * self->ndim;
    shim_reverse(own, start, self->ndim, 1);
    shim_reverse(own + self->ndim, count, self->ndim, 0);
    return 0;
}

parapet_status parapet_fortran_array_list(parapet_array *array, int64_t **numbers, int64_t *figures)
{
    parapet_array_info info = {0};
    boxes all = {0};
    parapet_status status;
    shim_begin();
    (void)parapet_array_get_info(array, &info);
    all.ndim = info.ndim;
    status = parapet_array_list(array, add_box, &all);
    *numbers = all.numbers;
    figures[0] = all.ndim;
    figures[1] = all.count;
    return all.is_full ? shim_lack_memory() : status;
}

void parapet_fortran_free(void *memory)
{
    free(memory);
}

const char *parapet_fortran_array_dimension_name(parapet_array *array, int dimension)
{
    parapet_array_info info = {0};
    shim_begin();
    if (parapet_array_get_info(array, &info) != PARAPET_OK || info.dimension_names == NULL || dimension < 1 ||
        dimension > info.ndim)
        return NULL;
    return info.dimension_names[info.ndim - dimension];
}

static int add_finding(void *context, const parapet_finding *finding)
{
    return shim_notes_add(context, finding->kind, finding->key, finding->problem);
}

parapet_status parapet_fortran_array_check(parapet_array *array, int depth, int64_t *counts, shim_notes **findings)
{
    parapet_check_summary summary = {0};
    shim_notes all = {0};
    parapet_status status;
    shim_begin();
    status = parapet_array_check(array, (parapet_check_depth)depth, add_finding, &all, &summary);
    counts[0] = summary.shards_expected;
    counts[1] = summary.shards_present;
    counts[2] = summary.chunks_present;
    counts[3] = summary.stored_bytes;
    counts[4] = summary.missing;
    counts[5] = summary.torn;
    counts[6] = summary.stray;
    return shim_notes_finish(findings, &all, status);
}

/* ---- Many arrays at once ---- */

/* How many handles the library is to fill: -1, which it refuses on all ranks, if they cannot be filled. */
static int fillable(parapet_array *const *arrays, int count, int wanted)
{
    if (count != wanted) {
        shim_refuse("there are %d variables for %d arrays", count, wanted);
        return -1;
    }
    for (int i = 0; i < count; i++)
        if (shim_is_taken(arrays[i], "array"))
            return -1;
    return count;
}

parapet_status parapet_fortran_arrays_create(void *arrays, int count, parapet_store *store,
                                             const shim_definitions *definitions)
{
    shim_begin();
    return parapet_arrays_create(arrays, store, (const char *const *)definitions->names, definitions->specs,
                                 fillable(arrays, count, definitions->count));
}

parapet_status parapet_fortran_arrays_open(void *arrays, int count, parapet_store *store, const char *paths,
                                           int path_count)
{
    const char **list = calloc((size_t)path_count + 1, sizeof *list);
    parapet_status status;
    shim_begin();
    for (int i = 0; list != NULL && i < path_count; i++) {
        list[i] = paths;
        paths += strlen(paths) + 1;
    }
    status = parapet_arrays_open(arrays, store, list, list == NULL ? -1 : fillable(arrays, count, path_count));
    free(list);
    return status;
}

parapet_status parapet_fortran_arrays_close(void *arrays, int count)
{
    shim_begin();
    return parapet_arrays_close(arrays, count);
}
