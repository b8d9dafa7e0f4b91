/* Groups. */
#include "shim.h"

parapet_status parapet_fortran_group_create(parapet_group **group, parapet_store *store, const char *path,
                                            const char *attributes)
{
    shim_begin();
    if (shim_is_taken(*group, "group"))
        return PARAPET_ERR_ARGUMENT;
    return parapet_group_create(group, store, path, attributes[0] == '\0' ? NULL : attributes);
}

parapet_status parapet_fortran_group_open(parapet_group **group, parapet_store *store, const char *path)
{
    shim_begin();
    if (shim_is_taken(*group, "group"))
        return PARAPET_ERR_ARGUMENT;
    return parapet_group_open(group, store, path);
}

parapet_status parapet_fortran_group_close(parapet_group **group)
{
    shim_begin();
    return parapet_group_close(group);
}

parapet_status parapet_fortran_group_consolidate(parapet_group *group)
{
    shim_begin();
    return parapet_group_consolidate(group);
}

parapet_status parapet_fortran_group_attribute_set(parapet_group *group, const char *name, const char *json)
{
    shim_begin();
    return parapet_group_attribute_set(group, name, json[0] == '\0' ? NULL : json);
}

parapet_status parapet_fortran_group_attribute_get(parapet_group *group, const char *name, char **json)
{
    shim_begin();
    return parapet_group_attribute_get(group, name[0] == '\0' ? NULL : name, json);
}

static int add_child(void *context, const char *name, parapet_node_kind kind)
{
    return shim_notes_add(context, kind, name, "");
}

parapet_status parapet_fortran_group_list(parapet_group *group, shim_notes **children)
{
    shim_notes all = {0};
    shim_begin();
    return shim_notes_finish(children, &all, parapet_group_list(group, add_child, &all));
}
