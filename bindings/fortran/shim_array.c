/* Arrays. */
#include "shim.h"

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
    shim_reverse(shape, info.shape, info.ndim, 0);
    shim_reverse(chunks, info.chunks, info.ndim, 0);
    shim_reverse(shards, info.shards, info.ndim, 0);
    return status;
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

parapet_status parapet_fortran_array_check(parapet_array *array, int depth, int64_t *counts)
{
    parapet_check_summary all = {0};
    parapet_status status;
    shim_begin();
    status = parapet_array_check(array, (parapet_check_depth)depth, NULL, NULL, &all);
    counts[0] = all.shards_expected;
    counts[1] = all.shards_present;
    counts[2] = all.chunks_present;
    counts[3] = all.stored_bytes;
    counts[4] = all.missing;
    counts[5] = all.torn;
    counts[6] = all.stray;
    return status;
}
