/* Which dimensions a dataset has, by their scales, and how long those of netCDF are. */
#include <string.h>

#include "places.h"

static const node *node_of_address(const node_list *list, haddr_t address)
{
    size_t i;
    for (i = 0; i < list->count; i++)
        if (list->nodes[i].is_scale && list->nodes[i].address == address)
            return &list->nodes[i];
    return NULL;
}

static const node *node_of_number(const node_list *list, long long number)
{
    size_t i;
    for (i = 0; i < list->count; i++)
        if (list->nodes[i].is_scale && list->nodes[i].dimension == number)
            return &list->nodes[i];
    return NULL;
}

static bool has_count(hid_t attribute, int count)
{
    hid_t space = H5Aget_space(attribute);
    bool is_same = space >= 0 && H5Sget_simple_extent_npoints(space) == count;
    if (space >= 0)
        H5Sclose(space);
    return is_same;
}

/* A reference is the address of what it refers to. */
static void find_by_scales(hid_t dataset, int ndim, const node_list *list, const node **found)
{
    hid_t id = has_attribute(dataset, "DIMENSION_LIST") ? H5Aopen(dataset, "DIMENSION_LIST", H5P_DEFAULT) : -1;
    hid_t kind = H5Tvlen_create(H5T_STD_REF_OBJ);
    hvl_t scales[H5S_MAX_RANK] = {{0, NULL}};
    int d;
    if (id >= 0 && has_count(id, ndim) && H5Aread(id, kind, scales) >= 0)
        for (d = 0; d < ndim; d++)
            if (scales[d].len > 0 && scales[d].p != NULL)
                found[d] = node_of_address(list, *(const hobj_ref_t *)scales[d].p);
    H5Tclose(kind);
    if (id >= 0)
        H5Aclose(id);
}

/* A coordinate of several dimensions is a scale, and therefore refers to no others: netCDF has their numbers. */
static void find_by_numbers(hid_t dataset, int ndim, const node_list *list, const node **found)
{
    static const char attribute[] = "_Netcdf4Coordinates";
    hid_t id = has_attribute(dataset, attribute) ? H5Aopen(dataset, attribute, H5P_DEFAULT) : -1;
    long long numbers[H5S_MAX_RANK] = {0};
    int d;
    if (id >= 0 && has_count(id, ndim) && H5Aread(id, H5T_NATIVE_LLONG, numbers) >= 0)
        for (d = 0; d < ndim; d++)
            found[d] = node_of_number(list, numbers[d]);
    if (id >= 0)
        H5Aclose(id);
}

void dimensions_of(hid_t dataset, int ndim, const node_list *list, const node *from, const node **scales)
{
    find_by_scales(dataset, ndim, list, scales);
    if (from->is_scale)
        find_by_numbers(dataset, ndim, list, scales);
    if (from->is_scale && ndim > 0 && scales[0] == NULL)
        scales[0] = from;
}

/* ---- Lengths ----
 *
 * The scale of an unlimited dimension may be empty, and a variable may have fewer indices than others: its library
 * takes the longest of all variables, in whatever group. */

static void measure_dataset(hid_t dataset, node_list *list, const node *from)
{
    const node *scales[H5S_MAX_RANK] = {NULL};
    hsize_t shape[H5S_MAX_RANK] = {0};
    hid_t space = H5Dget_space(dataset);
    int ndim = space >= 0 ? H5Sget_simple_extent_dims(space, shape, NULL) : 0, d;
    if (ndim > 0)
        dimensions_of(dataset, ndim, list, from, scales);
    for (d = 0; d < ndim; d++)
        if (scales[d] != NULL && scales[d]->is_unlimited && shape[d] > scales[d]->length)
            list->nodes[scales[d] - list->nodes].length = shape[d];
    if (space >= 0)
        H5Sclose(space);
}

static bool has_unlimited(const node_list *list)
{
    size_t i;
    for (i = 0; i < list->count; i++)
        if (list->nodes[i].is_unlimited)
            return true;
    return false;
}

void dimensions_measure(hid_t file, node_list *list)
{
    size_t i;
    if (!list->is_netcdf || !has_unlimited(list))
        return;
    for (i = 0; i < list->count; i++) {
        const node *each = &list->nodes[i];
        hid_t id;
        limits_note_step();
        if (each->is_group || each->is_hidden || each->refusal != NULL ||
            (id = H5Dopen(file, each->path, H5P_DEFAULT)) < 0)
            continue;
        measure_dataset(id, list, each);
        H5Dclose(id);
    }
}
