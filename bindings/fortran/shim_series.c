/* Series. Arrays are defined one after the other, then created together. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

static const char *given(const char *text)
{
    return text[0] == '\0' ? NULL : text;
}

parapet_status parapet_fortran_series_create(parapet_series **series, parapet_store *store, const char *path,
                                             const shim_definitions *arrays, const char *dimension,
                                             const char *coordinate_attributes, const char *attributes)
{
    parapet_series_spec spec = {.dimension = given(dimension),
                                .coordinate_attributes = given(coordinate_attributes),
                                .attributes = given(attributes)};
    shim_begin();
    if (arrays != NULL) {
        spec.count = arrays->count;
        spec.names = (const char *const *)arrays->names;
        spec.specs = arrays->specs;
    }
    if (shim_is_taken(*series, "series"))
        return PARAPET_ERR_ARGUMENT;
    return parapet_series_create(series, store, path, &spec);
}

parapet_status parapet_fortran_series_open(parapet_series **series, parapet_store *store, const char *path)
{
    shim_begin();
    if (shim_is_taken(*series, "series"))
        return PARAPET_ERR_ARGUMENT;
    return parapet_series_open(series, store, path);
}

parapet_status parapet_fortran_series_repair(parapet_store *store, const char *path, int beyond)
{
    shim_begin();
    return parapet_series_repair(store, path, (parapet_beyond)beyond);
}

parapet_status parapet_fortran_series_flush(parapet_series *series)
{
    shim_begin();
    return parapet_series_flush(series);
}

parapet_status parapet_fortran_series_close(parapet_series **series)
{
    shim_begin();
    return parapet_series_close(series);
}

parapet_status parapet_fortran_series_info(parapet_series *series, int64_t *figures, shim_notes **texts)
{
    parapet_series_info info = {.path = "", .dimension = ""};
    shim_notes all = {0};
    parapet_status status;
    shim_begin();
    status = parapet_series_get_info(series, &info);
    figures[0] = info.steps;
    figures[1] = info.steps_committed;
    figures[2] = info.steps_per_row;
    figures[3] = info.shards_written;
    figures[4] = info.is_staged;
    shim_notes_add(&all, 0, info.path, info.dimension);
    for (int i = 0; i < info.count; i++)
        shim_notes_add(&all, 0, info.names[i], "");
    return shim_notes_finish(texts, &all, status);
}

parapet_status parapet_fortran_series_explain(parapet_series *series, char **text)
{
    shim_begin();
    return parapet_series_print(series, text);
}

parapet_status parapet_fortran_series_array_info(parapet_series *series, const char *name, int *figures,
                                                 int64_t *shape)
{
    parapet_series_info info = {0};
    parapet_array_info array = {0};
    parapet_status status;
    int index = 0;
    shim_begin();
    if ((status = parapet_series_get_info(series, &info)) != PARAPET_OK)
        return status;
    while (index < info.count && strcmp(info.names[index], name) != 0)
        index++;
    if (index == info.count)
        return shim_refuse("the series %s has no array \"%s\"", info.path, name);
    if ((status = parapet_series_get_array_info(series, index, &array)) == PARAPET_OK)
        shim_reverse(shape, array.shape + 1, array.ndim - 1, 0);
    figures[0] = (int)array.type;
    figures[1] = array.ndim - 1;
    return status;
}

/* The type of an array of the series; of any, if it is not known. */
static parapet_type type_of(parapet_series *series, int index)
{
    parapet_array_info info = {0};
    return parapet_series_get_array_info(series, index, &info) == PARAPET_OK ? info.type : PARAPET_TYPE_OF_ARRAY;
}

/* The parts of each array in a list that the caller frees, entry by entry. */
static parapet_step *sort_parts(parapet_series *series, const parapet_series_info *info, const shim_parts *parts)
{
    parapet_step *steps = calloc((size_t)info->count + 1, sizeof *steps);
    for (int i = 0; steps != NULL && i < info->count; i++) {
        shim_wish wish = {info->names[i], type_of(series, i)};
        steps[i].parts = shim_parts_select(parts, wish, &steps[i].part_count);
    }
    return steps;
}

/* Appends the parts, or starts to, if there is a place for a request. */
static parapet_status append_parts(parapet_series *series, double coordinate, const shim_parts *parts,
                                   parapet_request **request, int copies)
{
    parapet_series_info info = {0};
    parapet_status status;
    parapet_step *steps;
    int is_known;
    if ((status = parapet_series_get_info(series, &info)) != PARAPET_OK)
        return status;
    is_known = shim_parts_are_of(parts, info.names, info.count, "the series");
    steps = sort_parts(series, &info, parts);
    if (!is_known && steps != NULL)
        steps[0].parts = shim_parts_spoil(steps[0].parts, &steps[0].part_count);
    status = request == NULL
                 ? parapet_series_append(series, coordinate, steps)
                 : parapet_series_start_append(request, series, coordinate, steps, shim_buffering(copies));
    for (int i = 0; steps != NULL && i < info.count; i++)
        shim_parts_release(steps[i].parts);
    free(steps);
    return status;
}

parapet_status parapet_fortran_series_append_parts(parapet_series *series, double coordinate, const shim_parts *parts)
{
    shim_begin();
    return append_parts(series, coordinate, parts, NULL, 0);
}

parapet_status parapet_fortran_series_start_append(parapet_request **request, parapet_series *series,
                                                   double coordinate, const shim_parts *parts, int copies)
{
    shim_begin();
    if (shim_is_taken(*request, "request"))
        return PARAPET_ERR_ARGUMENT;
    return append_parts(series, coordinate, parts, request, copies);
}

parapet_status parapet_fortran_series_append(parapet_series *series, double coordinate, const CFI_cdesc_t *data,
                                             const int64_t *start, int start_count)
{
    parapet_series_info info = {0};
    parapet_status status;
    shim_part one;
    parapet_step step = {.parts = &one.part};
    shim_begin();
    if ((status = parapet_series_get_info(series, &info)) != PARAPET_OK)
        return status;
    if (info.count != 1)
        return shim_refuse("the series %s has %d arrays: collect the data of each with parts%%add(data, start, "
                           "name=...) and append the parts",
                           info.path, info.count);
    step.part_count = shim_part_describe(&one, data, (shim_place){start, start_count}, type_of(series, 0));
    return parapet_series_append(series, coordinate, &step);
}
