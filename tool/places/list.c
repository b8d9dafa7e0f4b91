/* The nodes of the file, by hard links only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "places.h"

#define MOST_NODES 32768
#define MOST_DEPTH 32
#define HIDDEN_PREFIX "_nc4_non_coord_"
#define PURE_DIMENSION "This is a netCDF dimension but not a netCDF variable"

typedef struct visit {
    node_list *list;
    size_t above; /* the group that is being walked */
    int depth;
} visit;

const char *node_name(const node *each)
{
    const char *name = strrchr(each->path, '/') + 1;
    return strncmp(name, HIDDEN_PREFIX, strlen(HIDDEN_PREFIX)) == 0 ? name + strlen(HIDDEN_PREFIX) : name;
}

static node *add_node(node_list *list, const char *above, const char *name)
{
    node *added;
    size_t bytes = strlen(above) + strlen(name) + 2;
    if (list->count == MOST_NODES)
        die("the file has more than %d groups and datasets", MOST_NODES);
    if (list->count == list->capacity) {
        list->capacity = list->capacity > 0 ? 2 * list->capacity : 64;
        if ((list->nodes = realloc(list->nodes, list->capacity * sizeof list->nodes[0])) == NULL)
            die("there is not enough memory for the names of all datasets");
    }
    added = &list->nodes[list->count++];
    *added = (node){.path = take_memory(1, bytes), .dimension = -1};
    (void)snprintf(added->path, bytes, "%s/%s", strcmp(above, "/") == 0 ? "" : above, name);
    return added;
}

static void check_text(const char *name)
{
    for (; *name != '\0'; name++)
        if ((unsigned char)*name < 0x20 || *name == 0x7f)
            die("a name in the file has a control character in it: rename it");
}

/* ---- Dimension scales ---- */

static bool has_text(hid_t object, const char *attribute, const char *beginning)
{
    char text[128] = "";
    hid_t id = has_attribute(object, attribute) ? H5Aopen(object, attribute, H5P_DEFAULT) : -1;
    hid_t kind = id >= 0 ? H5Aget_type(id) : -1;
    if (kind >= 0 && H5Tget_class(kind) == H5T_STRING && H5Tis_variable_str(kind) == 0 &&
        H5Tget_size(kind) < sizeof text && H5Aget_storage_size(id) == H5Tget_size(kind))
        (void)H5Aread(id, kind, text);
    if (kind >= 0)
        H5Tclose(kind);
    if (id >= 0)
        H5Aclose(id);
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static long long dimension_number(hid_t object)
{
    long long number = -1;
    hid_t id = has_attribute(object, "_Netcdf4Dimid") ? H5Aopen(object, "_Netcdf4Dimid", H5P_DEFAULT) : -1;
    hid_t space = id >= 0 ? H5Aget_space(id) : -1;
    if (space >= 0 && H5Sget_simple_extent_npoints(space) == 1 && H5Aread(id, H5T_NATIVE_LLONG, &number) < 0)
        number = -1;
    if (space >= 0)
        H5Sclose(space);
    if (id >= 0)
        H5Aclose(id);
    return number;
}

/* Its first dimension is the one whose scale it is. */
static bool can_grow(hid_t dataset)
{
    hsize_t most[H5S_MAX_RANK] = {0};
    hid_t space = H5Dget_space(dataset);
    bool grows = space >= 0 && H5Sget_simple_extent_dims(space, NULL, most) > 0 && most[0] == H5S_UNLIMITED;
    if (space >= 0)
        H5Sclose(space);
    return grows;
}

static void describe_dataset(hid_t above, const char *name, node *each)
{
    hid_t id = H5Dopen(above, name, H5P_DEFAULT);
    if (id < 0) {
        each->refusal = "HDF5 cannot open it: it is damaged, or of a newer version";
        return;
    }
    each->is_scale = has_text(id, "CLASS", "DIMENSION_SCALE");
    each->is_hidden = each->is_scale && has_text(id, "NAME", PURE_DIMENSION);
    each->is_unlimited = each->is_scale && can_grow(id);
    each->dimension = dimension_number(id);
    H5Dclose(id);
}

/* ---- Walking ---- */

static bool is_listed(const node_list *list, haddr_t address)
{
    size_t i;
    for (i = 0; i + 1 < list->count; i++)
        if (list->nodes[i].refusal == NULL && list->nodes[i].address == address)
            return true;
    return false;
}

static herr_t visit_link(hid_t above, const char *name, const H5L_info_t *link, void *context);

static void walk_group(hid_t id, visit *inside)
{
    hsize_t next = 0;
    if (inside->depth > MOST_DEPTH)
        die("groups of the file are more than %d deep", MOST_DEPTH);
    if (H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, &next, visit_link, inside) < 0)
        die("a group of the file cannot be listed: it is damaged");
}

static void visit_group(hid_t above, const char *name, const visit *around, size_t number)
{
    visit inside = {around->list, number, around->depth + 1};
    hid_t id = H5Gopen(above, name, H5P_DEFAULT);
    around->list->nodes[number].is_group = true;
    if (id < 0)
        die("the group %s cannot be opened: the file is damaged", around->list->nodes[number].path);
    walk_group(id, &inside);
    H5Gclose(id);
}

/* Committed types are no nodes. */
static void visit_object(hid_t above, const char *name, const visit *around, node *each)
{
    H5O_info_t info;
    size_t number = (size_t)(each - around->list->nodes);
    if (H5Oget_info_by_name(above, name, &info, H5P_DEFAULT) < 0)
        each->refusal = "HDF5 cannot read its header: it is damaged, or of a newer version";
    else if (info.type == H5O_TYPE_NAMED_DATATYPE)
        around->list->count--;
    else {
        each->address = info.addr;
        if (info.rc > 1 && is_listed(around->list, info.addr))
            each->refusal = "it is a second link to what is already in the file under another name";
        else if (info.type == H5O_TYPE_GROUP)
            visit_group(above, name, around, number);
        else
            describe_dataset(above, name, each);
    }
}

static herr_t visit_link(hid_t above, const char *name, const H5L_info_t *link, void *context)
{
    const visit *around = context;
    node *each;
    limits_note_step();
    check_text(name);
    each = add_node(around->list, around->list->nodes[around->above].path, name);
    if (link->type == H5L_TYPE_HARD)
        visit_object(above, name, around, each);
    else if (link->type == H5L_TYPE_SOFT)
        each->refusal = "it is a soft link, and those are not followed";
    else
        each->refusal = "it is a link into another file, and those are not followed";
    return 0;
}

/* Of files from before 2016, only dimensions say it. */
static bool is_netcdf(hid_t root, const node_list *list)
{
    bool is_so = has_attribute(root, "_NCProperties") || has_attribute(root, "_nc3_strict");
    size_t i;
    for (i = 0; i < list->count; i++)
        is_so = is_so || list->nodes[i].is_hidden || (list->nodes[i].is_scale && list->nodes[i].dimension >= 0);
    return is_so;
}

void list_nodes(hid_t file, node_list *list)
{
    visit root = {.list = list};
    H5O_info_t info;
    hid_t id = H5Gopen(file, "/", H5P_DEFAULT);
    node *added = add_node(list, "/", "");
    if (id < 0 || H5Oget_info(id, &info) < 0)
        die("the file has no root that can be read: it is damaged");
    added->address = info.addr;
    added->is_group = true;
    walk_group(id, &root);
    list->is_netcdf = is_netcdf(id, list);
    H5Gclose(id);
}
