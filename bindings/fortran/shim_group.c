/* Groups. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

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

/* The names of children, each padded with blanks to 255 characters, the longest that Zarr allows here. */
typedef struct children {
    char *names;
    int count, room, is_full;
} children;

enum { NAME_LENGTH = 255 };

static int add_child(void *context, const char *name, parapet_node_kind kind)
{
    children *self = context;
    size_t length = strlen(name);
    (void)kind;
    if (self->count == self->room) {
        int room = 2 * self->room + 8;
        char *grown = realloc(self->names, (size_t)room * NAME_LENGTH);
        if ((self->is_full = grown == NULL))
            return 1;
        self->names = grown;
        self->room = room;
    }
    memset(self->names + (size_t)self->count * NAME_LENGTH, ' ', NAME_LENGTH);
    memcpy(self->names + (size_t)self->count * NAME_LENGTH, name, length < NAME_LENGTH ? length : NAME_LENGTH);
    self->count++;
    return 0;
}

parapet_status parapet_fortran_group_list(parapet_group *group, char **names, int *count)
{
    children all = {0};
    parapet_status status;
    shim_begin();
    status = parapet_group_list(group, add_child, &all);
    *names = all.names;
    *count = all.count;
    return all.is_full ? shim_lack_memory() : status;
}

void parapet_fortran_free(void *memory)
{
    free(memory);
}
