/* series_spec.c - what a new series is made of: the caller's arrays with the common dimension in front, and the
 * coordinate. */
#include "series/series_spec.h"

#include <parapet_store.h>
#include <stdio.h>
#include <string.h>

#include "array/document.h"
#include "array/node_path.h"
#include "array/spec.h"
#include "array/store_queries.h"
#include "base/reserved.h"
#include "series/series_handle.h"

/* Small enough to be written with every step, large enough that a year of hours is nine of them. */
#define COORDINATE_CHUNK_STEPS 1024

void pp_series_spec_add(const parapet_series_spec *spec, pp_call *call)
{
    int i;
    pp_call_add_integer(call, "count", spec->count);
    pp_call_add_text(call, "dimension", spec->dimension);
    pp_call_add_text(call, "coordinate_attributes", spec->coordinate_attributes);
    pp_call_add_text(call, "attributes", spec->attributes);
    for (i = 0; i < spec->count && spec->names != NULL; i++)
        pp_call_add_element(call, "names", i, spec->names[i]);
    for (i = 0; i < spec->count && spec->specs != NULL; i++)
        if (pp_spec_check(&spec->specs[i]) == PARAPET_OK) {
            pp_call_within(call, "specs[%d].", i);
            pp_spec_add(&spec->specs[i], call);
        }
}

static parapet_status check_frame(const parapet_series_spec *spec)
{
    parapet_status status;
    if (spec == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_series_create needs a spec");
    if ((status = PP_RESERVED_CHECK(parapet_series_spec, spec)) != PARAPET_OK)
        return status;
    if (spec->count < 1 || spec->names == NULL || spec->specs == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "a series needs at least one array, with its name and its spec");
    return PARAPET_OK;
}

static parapet_status check_name(const char *name)
{
    if (name == NULL || name[0] == '\0' || strchr(name, '/') != NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "\"%s\" cannot be the name of an array of a series: it must be one component of a path",
                       name != NULL ? name : "");
    return pp_path_check(name);
}

static parapet_status check_names(const pp_series_making *making)
{
    const parapet_series_spec *spec = making->spec;
    parapet_status status = check_name(making->dimension);
    int i, j;
    for (i = 0; i < spec->count && status == PARAPET_OK; i++) {
        if ((status = check_name(spec->names[i])) == PARAPET_OK && strcmp(spec->names[i], making->dimension) == 0)
            status =
                pp_fail(PARAPET_ERR_ARGUMENT,
                        "\"%s\" is the name of the coordinate; choose another name for the array", spec->names[i]);
        for (j = 0; j < i && status == PARAPET_OK; j++)
            if (strcmp(spec->names[i], spec->names[j]) == 0)
                status = pp_fail(PARAPET_ERR_ARGUMENT, "there are two arrays \"%s\"", spec->names[i]);
    }
    return status;
}

/* The dimensions' names, with that of the series first. */
static parapet_status name_dimensions(pp_series_making *making, int index)
{
    parapet_array_spec *spec = &making->specs[index];
    const char *const *given = spec->dimension_names;
    const char **names = making->dimension_names[index];
    int d;
    if (given != NULL && given[0] != NULL && strcmp(given[0], making->dimension) != 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the first dimension is \"%s\", but that of the series is \"%s\"",
                       given[0], making->dimension);
    names[0] = making->dimension;
    for (d = 1; d < spec->ndim; d++)
        names[d] = given != NULL ? given[d] : making->fallbacks[d];
    spec->dimension_names = names;
    return PARAPET_OK;
}

static parapet_status find_steps_per_row(pp_series_making *making, const parapet_store *store, int index)
{
    pp_array_document document = {0};
    parapet_status status =
        pp_document_from_spec(&document, &making->specs[index], pp_store_options(store)->expected_servers);
    int64_t steps = document.grid_shape[0];
    pp_array_document_clear(&document);
    if (status != PARAPET_OK)
        return status;
    if (index > 0 && steps != making->steps_per_row)
        return pp_fail(
            PARAPET_ERR_ARGUMENT,
            "its shards cover %lld steps, but those of \"%s\" cover %lld; shards[0] must be the same for all arrays",
            (long long)steps, making->spec->names[0], (long long)making->steps_per_row);
    making->steps_per_row = steps;
    return PARAPET_OK;
}

static parapet_status take_spec(pp_series_making *making, const parapet_store *store, int index)
{
    parapet_array_spec *spec = &making->specs[index];
    parapet_status status;
    *spec = making->spec->specs[index];
    if ((status = pp_spec_check(spec)) != PARAPET_OK)
        return status;
    if (spec->ndim < 1 || spec->shape[0] != 0)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "the first dimension of an array of a series counts its steps: shape[0] must be 0");
    if ((status = name_dimensions(making, index)) != PARAPET_OK)
        return status;
    return find_steps_per_row(making, store, index);
}

static void take_coordinate(pp_series_making *making)
{
    static const int64_t shape[1] = {0}, chunks[1] = {COORDINATE_CHUNK_STEPS};
    int index = making->spec->count;
    making->dimension_names[index][0] = making->dimension;
    making->specs[index] = (parapet_array_spec){.type = PARAPET_FLOAT64,
                                                .ndim = 1,
                                                .shape = shape,
                                                .chunks = chunks,
                                                .unsharded = 1,
                                                .codec = "none",
                                                .dimension_names = making->dimension_names[index],
                                                .attributes = making->spec->coordinate_attributes};
}

static parapet_status build(pp_series_making *making, const char *path)
{
    const parapet_series_spec *spec = making->spec;
    size_t count = (size_t)spec->count + 1;
    parapet_status status;
    int d;
    for (d = 0; d < PARAPET_MAX_NDIM; d++)
        (void)snprintf(making->fallbacks[d], sizeof making->fallbacks[d], "dim_%d", d);
    if ((status = pp_allocate_array(&making->specs, count, sizeof making->specs[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&making->dimension_names, count, sizeof making->dimension_names[0])) !=
            PARAPET_OK)
        return status;
    return pp_series_paths_build(path, spec->names, spec->count, making->dimension, &making->paths);
}

parapet_status pp_series_making_init(pp_series_making *making, const parapet_store *store, const char *path,
                                     const parapet_series_spec *spec)
{
    parapet_status status = check_frame(spec);
    int i;
    *making = (pp_series_making){.spec = spec};
    if (status != PARAPET_OK)
        return status;
    making->dimension = spec->dimension != NULL ? spec->dimension : "time";
    if ((status = check_names(making)) != PARAPET_OK || (status = build(making, path)) != PARAPET_OK)
        return status;
    for (i = 0; i < spec->count; i++)
        if ((status = take_spec(making, store, i)) != PARAPET_OK)
            return pp_fail_within(status, "array \"%s\"", spec->names[i]);
    take_coordinate(making);
    return PARAPET_OK;
}

void pp_series_making_clear(pp_series_making *making)
{
    if (making->spec != NULL)
        pp_paths_free(making->paths, (size_t)making->spec->count + 1);
    pp_free(making->specs);
    pp_free(making->dimension_names);
    *making = (pp_series_making){0};
}
