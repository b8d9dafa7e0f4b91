/* Lists of parts, which outlive the calls that add to them: the program's memory must do so too. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

shim_parts *parapet_fortran_parts_build(void)
{
    return calloc(1, sizeof(shim_parts));
}

void parapet_fortran_parts_clear(shim_parts *self)
{
    for (int i = 0; self != NULL && i < self->count; i++) {
        free(self->entries[i]->name);
        free(self->entries[i]);
    }
    if (self != NULL)
        self->count = 0;
}

void parapet_fortran_parts_free(shim_parts *self)
{
    parapet_fortran_parts_clear(self);
    if (self != NULL)
        free(self->entries);
    free(self);
}

static int make_room(shim_parts *self)
{
    int room = 2 * self->room + 8;
    struct shim_named_part **grown;
    if (self->count < self->room)
        return 1;
    if ((grown = realloc(self->entries, (size_t)room * sizeof(struct shim_named_part *))) == NULL)
        return 0;
    self->entries = grown;
    self->room = room;
    return 1;
}

parapet_status parapet_fortran_parts_add(shim_parts *self, const char *name, const CFI_cdesc_t *data,
                                         const int64_t *start, int start_count)
{
    struct shim_named_part *entry = self != NULL && make_room(self) ? calloc(1, sizeof *entry) : NULL;
    shim_begin();
    if (entry == NULL || (entry->name = shim_duplicate(name)) == NULL) {
        free(entry);
        return shim_lack_memory();
    }
    if (shim_part_describe(&entry->part, data, (shim_place){start, start_count}, PARAPET_TYPE_OF_ARRAY) == 0) {
        free(entry->name);
        free(entry);
        return PARAPET_OK;
    }
    self->entries[self->count++] = entry;
    return entry->part.part.ndim < 0 ? PARAPET_ERR_ARGUMENT : PARAPET_OK;
}

parapet_part *shim_parts_select(const shim_parts *parts, const char *name, int *count)
{
    parapet_part *selected = calloc((size_t)parts->count + 1, sizeof *selected);
    *count = selected == NULL;
    for (int i = 0; selected != NULL && i < parts->count; i++)
        if (strcmp(parts->entries[i]->name, name) == 0)
            selected[(*count)++] = parts->entries[i]->part.part;
    return selected;
}

/* The type of a part is that of its memory; the array's is known only now. */
static void settle_types(parapet_array *array, parapet_part *parts, int count)
{
    parapet_array_info info = {0};
    if (parts == NULL || parapet_array_get_info(array, &info) != PARAPET_OK)
        return;
    for (int i = 0; i < count; i++)
        if (shim_type_fits(parts[i].type, info.type))
            parts[i].type = PARAPET_TYPE_OF_ARRAY;
}

parapet_status parapet_fortran_array_write_parts(parapet_array *array, const shim_parts *parts)
{
    int count = 0;
    parapet_part *all = shim_parts_select(parts, "", &count);
    parapet_status status;
    shim_begin();
    settle_types(array, all, count);
    status = parapet_array_write(array, all, count);
    free(all);
    return status;
}

parapet_status parapet_fortran_array_read_parts(parapet_array *array, const shim_parts *parts)
{
    int count = 0;
    parapet_part *all = shim_parts_select(parts, "", &count);
    parapet_status status;
    shim_begin();
    settle_types(array, all, count);
    status = parapet_array_read(array, all, count);
    free(all);
    return status;
}

/* A part that the library refuses, on all ranks; the sentence is this layer's. */
static const parapet_part impossible = {.ndim = -1};

static int is_path_of(parapet_array *const *arrays, int count, const char *name)
{
    parapet_array_info info = {0};
    for (int i = 0; i < count; i++)
        if (parapet_array_get_info(arrays[i], &info) == PARAPET_OK && strcmp(info.path, name) == 0)
            return 1;
    shim_refuse("no array of this call has the path %s, which a part gives as its name", name);
    return 0;
}

/* The parts of each array, which the caller frees, entry by entry. */
static parapet_array_parts *sort_parts(parapet_array *const *arrays, int count, const shim_parts *parts)
{
    parapet_array_parts *list = calloc((size_t)count + 1, sizeof *list);
    for (int i = 0; list != NULL && i < count; i++) {
        parapet_array_info info = {.path = ""};
        (void)parapet_array_get_info(arrays[i], &info);
        parapet_part *own = shim_parts_select(parts, info.path, &list[i].part_count);
        settle_types(arrays[i], own, list[i].part_count);
        list[i].array = arrays[i];
        list[i].parts = own;
    }
    return list;
}

static void free_sorted(parapet_array_parts *list, int count)
{
    for (int i = 0; list != NULL && i < count; i++)
        if (list[i].parts != &impossible)
            free((void *)(uintptr_t)list[i].parts);
    free(list);
}

/* All arrays as one transfer; direction is one of the two functions of parapet.h. */
static parapet_status transfer_together(parapet_array *const *arrays, int count, const shim_parts *parts,
                                        parapet_status (*direction)(const parapet_array_parts *list, int count))
{
    parapet_array_parts *list;
    parapet_status status;
    int is_known = 1;
    shim_begin();
    list = sort_parts(arrays, count, parts);
    for (int i = 0; i < parts->count && is_known; i++)
        is_known = is_path_of(arrays, count, parts->entries[i]->name);
    if (!is_known && list != NULL && count > 0) {
        free((void *)(uintptr_t)list[0].parts);
        list[0].parts = &impossible;
        list[0].part_count = 1;
    }
    status = direction(list, count);
    free_sorted(list, count);
    return status;
}

parapet_status parapet_fortran_arrays_write(const void *arrays, int count, const shim_parts *parts)
{
    return transfer_together(arrays, count, parts, parapet_arrays_write);
}

parapet_status parapet_fortran_arrays_read(const void *arrays, int count, const shim_parts *parts)
{
    return transfer_together(arrays, count, parts, parapet_arrays_read);
}
