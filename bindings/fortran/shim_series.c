/* Series. Arrays are defined one after the other, then created together. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

shim_definitions *parapet_fortran_definitions_build(void)
{
    return calloc(1, sizeof(shim_definitions));
}

void parapet_fortran_definitions_free(shim_definitions *self)
{
    for (int i = 0; self != NULL && i < self->count; i++) {
        free(self->names[i]);
        parapet_fortran_spec_free(self->owners[i]);
    }
    if (self != NULL) {
        free(self->names);
        free(self->specs);
        free(self->owners);
    }
    free(self);
}

/* A list with room for one more entry; the same list, and 1 in *is_full, if there is no memory. */
static void *larger(void *list, int count, size_t bytes, int *is_full)
{
    void *grown = realloc(list, (size_t)(count + 1) * bytes);
    if (grown == NULL)
        *is_full = 1;
    return grown == NULL ? list : grown;
}

parapet_status parapet_fortran_definitions_add(shim_definitions *self, const char *name, shim_spec *spec)
{
    char *copy = shim_duplicate(name);
    int is_full = copy == NULL;
    self->names = larger(self->names, self->count, sizeof self->names[0], &is_full);
    self->specs = larger(self->specs, self->count, sizeof self->specs[0], &is_full);
    self->owners = larger(self->owners, self->count, sizeof self->owners[0], &is_full);
    if (is_full) {
        free(copy);
        parapet_fortran_spec_free(spec);
        return shim_lack_memory();
    }
    self->names[self->count] = copy;
    self->specs[self->count] = spec->spec;
    self->owners[self->count++] = spec;
    return spec->is_wrong ? PARAPET_ERR_ARGUMENT : PARAPET_OK;
}

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

parapet_status parapet_fortran_series_info(parapet_series *series, int64_t *steps, int64_t *steps_committed)
{
    parapet_series_info info = {0};
    parapet_status status;
    shim_begin();
    status = parapet_series_get_info(series, &info);
    *steps = info.steps;
    *steps_committed = info.steps_committed;
    return status;
}

/* A part that the library refuses, on all ranks; the sentence is this layer's. */
static const parapet_part impossible = {.ndim = -1};

static int is_array_of(const parapet_series_info *info, const char *name)
{
    for (int i = 0; i < info->count; i++)
        if (strcmp(info->names[i], name) == 0)
            return 1;
    shim_refuse("the series %s has no array %s", info->path, name);
    return 0;
}

/* The parts of each array in a list that the caller frees, entry by entry. */
static parapet_step *sort_parts(const parapet_series_info *info, const shim_parts *parts)
{
    parapet_step *steps = calloc((size_t)info->count + 1, sizeof *steps);
    for (int i = 0; steps != NULL && i < info->count; i++)
        steps[i].parts = shim_parts_select(parts, info->names[i], &steps[i].part_count);
    return steps;
}

parapet_status parapet_fortran_series_append_parts(parapet_series *series, double coordinate, const shim_parts *parts)
{
    parapet_series_info info = {0};
    parapet_status status;
    parapet_step *steps, refused = {.parts = &impossible, .part_count = 1};
    int is_known = 1;
    shim_begin();
    if ((status = parapet_series_get_info(series, &info)) != PARAPET_OK)
        return status;
    for (int i = 0; i < parts->count && is_known; i++)
        is_known = is_array_of(&info, parts->entries[i]->name);
    steps = sort_parts(&info, parts);
    if (!is_known && steps != NULL) {
        free((void *)(uintptr_t)steps[0].parts);
        steps[0] = refused;
    }
    status = parapet_series_append(series, coordinate, steps);
    for (int i = is_known ? 0 : 1; steps != NULL && i < info.count; i++)
        free((void *)(uintptr_t)steps[i].parts);
    free(steps);
    return status;
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
    step.part_count = shim_part_describe(&one, data, (shim_place){start, start_count}, PARAPET_TYPE_OF_ARRAY);
    return parapet_series_append(series, coordinate, &step);
}
