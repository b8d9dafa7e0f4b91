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

/* Adds a copy of a part, whose memory has this type. */
static int take_part(shim_parts *self, const char *name, const parapet_part *part, parapet_type type)
{
    struct shim_named_part *entry = make_room(self) ? calloc(1, sizeof *entry) : NULL;
    size_t bytes = (size_t)part->ndim * sizeof(int64_t);
    if (entry == NULL || (entry->name = shim_duplicate(name)) == NULL) {
        free(entry);
        return 0;
    }
    memcpy(entry->part.start, part->start, bytes);
    memcpy(entry->part.count, part->count, bytes);
    memcpy(entry->part.strides, part->strides_bytes, bytes);
    entry->part.part = (parapet_part){.ndim = part->ndim, .start = entry->part.start, .count = entry->part.count};
    entry->part.part.data = part->data;
    entry->part.part.strides_bytes = entry->part.strides;
    entry->part.part.type = type;
    self->entries[self->count++] = entry;
    return 1;
}

static int64_t part_elements(const parapet_part *part)
{
    int64_t elements = 1;
    for (int d = 0; d < part->ndim; d++)
        elements *= part->count[d];
    return elements;
}

/* The data holds all that was selected, packed. */
static int is_large_enough(const CFI_cdesc_t *data, const parapet_array_parts *list)
{
    int64_t wanted = 0, there = 1;
    for (int i = 0; i < list->part_count; i++)
        wanted += part_elements(&list->parts[i]);
    for (int d = 0; d < data->rank; d++)
        there *= data->dim[d].extent;
    if (there < wanted)
        shim_refuse("the datatype selects %lld elements, but the data has %lld", (long long)wanted, (long long)there);
    return there >= wanted;
}

static int is_packed(const CFI_cdesc_t *data)
{
    if (shim_data_type(data) < 0)
        shim_refuse("the elements of this data (%zu bytes each) have a type that no array has",
                    (size_t)data->elem_len);
    else if (!CFI_is_contiguous(data))
        shim_refuse("the data of a file view must be contiguous, but this is a section with strides");
    else
        return 1;
    return 0;
}

static parapet_status take_all(shim_parts *parts, const char *name, const CFI_cdesc_t *data,
                               const parapet_array_parts *list)
{
    int i = 0;
    if (!is_large_enough(data, list))
        return PARAPET_ERR_ARGUMENT;
    while (i < list->part_count && take_part(parts, name, &list->parts[i], (parapet_type)shim_data_type(data)))
        i++;
    return i == list->part_count ? PARAPET_OK : shim_lack_memory();
}

parapet_status parapet_fortran_parts_add_view(shim_parts *parts, const char *name, parapet_array *array,
                                              const CFI_cdesc_t *data, int filetype, int64_t displacement)
{
    parapet_array_parts list = {0};
    parapet_status status;
    shim_begin();
    if (parts == NULL)
        return shim_lack_memory();
    if (!is_packed(data))
        return PARAPET_ERR_ARGUMENT;
#if defined(PARAPET_SERIAL)
    (void)filetype;
    status = parapet_array_parts_build(&list, array, displacement, MPI_DATATYPE_NULL, data->base_addr);
#else
    status = parapet_array_parts_build(&list, array, displacement, MPI_Type_f2c((MPI_Fint)filetype), data->base_addr);
#endif
    if (status == PARAPET_OK)
        status = take_all(parts, name, data, &list);
    parapet_array_parts_free(&list);
    return status;
}

parapet_part *shim_parts_select(const shim_parts *parts, shim_wish wish, int *count)
{
    parapet_part *selected = calloc((size_t)parts->count + 1, sizeof *selected);
    *count = selected == NULL;
    for (int i = 0; selected != NULL && i < parts->count; i++)
        if (strcmp(parts->entries[i]->name, wish.name) == 0)
            selected[(*count)++] = parts->entries[i]->part.part;
    for (int i = 0; selected != NULL && i < *count; i++)
        if (shim_type_fits(selected[i].type, wish.type))
            selected[i].type = PARAPET_TYPE_OF_ARRAY;
    return selected;
}

int shim_parts_are_of(const shim_parts *parts, const char *const *names, int count, const char *whole)
{
    for (int i = 0; i < parts->count; i++) {
        int found = 0;
        while (found < count && strcmp(names[found], parts->entries[i]->name) != 0)
            found++;
        if (found == count) {
            shim_refuse("%s has no array \"%s\", which a part gives as its name", whole, parts->entries[i]->name);
            return 0;
        }
    }
    return 1;
}

/* A part that the library refuses, on all ranks; the sentence is this layer's. */
static const parapet_part impossible = {.ndim = -1};

const parapet_part *shim_parts_spoil(const parapet_part *selected, int *count)
{
    shim_parts_release(selected);
    *count = 1;
    return &impossible;
}

void shim_parts_release(const parapet_part *selected)
{
    if (selected != &impossible)
        free((void *)(uintptr_t)selected);
}

/* What is wanted of a list for one array; name: "" if there is only one. */
static shim_wish wish_for(parapet_array *array, const char *name)
{
    parapet_array_info info = {0};
    parapet_status status = parapet_array_get_info(array, &info);
    return (shim_wish){name, status == PARAPET_OK ? info.type : PARAPET_TYPE_OF_ARRAY};
}

parapet_status parapet_fortran_array_write_parts(parapet_array *array, const shim_parts *parts)
{
    int count = 0;
    parapet_part *all = shim_parts_select(parts, wish_for(array, ""), &count);
    parapet_status status;
    shim_begin();
    status = parapet_array_write(array, all, count);
    free(all);
    return status;
}

parapet_status parapet_fortran_array_read_parts(parapet_array *array, const shim_parts *parts)
{
    int count = 0;
    parapet_part *all = shim_parts_select(parts, wish_for(array, ""), &count);
    parapet_status status;
    shim_begin();
    status = parapet_array_read(array, all, count);
    free(all);
    return status;
}

parapet_status parapet_fortran_array_read_parts_local(parapet_array *array, const shim_parts *parts)
{
    int count = 0;
    parapet_part *all = shim_parts_select(parts, wish_for(array, ""), &count);
    parapet_status status;
    shim_begin();
    status = parapet_array_read_local(array, all, count);
    free(all);
    return status;
}

parapet_status parapet_fortran_array_start_write(parapet_request **request, parapet_array *array,
                                                 const shim_parts *parts, int copies)
{
    int count = 0;
    parapet_part *all = shim_parts_select(parts, wish_for(array, ""), &count);
    parapet_status status;
    shim_begin();
    if (shim_is_taken(*request, "request"))
        status = PARAPET_ERR_ARGUMENT;
    else
        status = parapet_array_start_write(request, array, all, count, shim_buffering(copies));
    free(all);
    return status;
}

parapet_status parapet_fortran_array_start_read(parapet_request **request, parapet_array *array,
                                                const shim_parts *parts)
{
    int count = 0;
    parapet_part *all = shim_parts_select(parts, wish_for(array, ""), &count);
    parapet_status status;
    shim_begin();
    if (shim_is_taken(*request, "request"))
        status = PARAPET_ERR_ARGUMENT;
    else
        status = parapet_array_start_read(request, array, all, count);
    free(all);
    return status;
}

static const char *path_of(parapet_array *array)
{
    parapet_array_info info = {0};
    return parapet_array_get_info(array, &info) == PARAPET_OK ? info.path : "";
}

/* The parts of each array, whose paths it lists. */
static void sort_parts(parapet_array_parts *list, parapet_array *const *arrays, const char **paths, int count,
                       const shim_parts *parts)
{
    for (int i = 0; i < count; i++) {
        paths[i] = path_of(arrays[i]);
        list[i].array = arrays[i];
        list[i].parts = shim_parts_select(parts, wish_for(arrays[i], paths[i]), &list[i].part_count);
    }
}

/* One of the functions of parapet.h that take such a list; context is what it needs beside. */
typedef parapet_status (*shim_transfer)(const parapet_array_parts *list, int count, void *context);

/* All arrays as one transfer. */
static parapet_status transfer_together(parapet_array *const *arrays, int count, const shim_parts *parts,
                                        shim_transfer transfer, void *context)
{
    parapet_array_parts *list = calloc((size_t)count + 1, sizeof *list);
    const char **paths = calloc((size_t)count + 1, sizeof *paths);
    parapet_status status;
    shim_begin();
    if (list != NULL && paths != NULL) {
        sort_parts(list, arrays, paths, count, parts);
        if (!shim_parts_are_of(parts, paths, count, "this call") && count > 0)
            list[0].parts = shim_parts_spoil(list[0].parts, &list[0].part_count);
    }
    status = transfer(paths != NULL ? list : NULL, count, context);
    for (int i = 0; list != NULL && i < count; i++)
        shim_parts_release(list[i].parts);
    free(paths);
    free(list);
    return status;
}

static parapet_status write_list(const parapet_array_parts *list, int count, void *context)
{
    (void)context;
    return parapet_arrays_write(list, count);
}

static parapet_status read_list(const parapet_array_parts *list, int count, void *context)
{
    (void)context;
    return parapet_arrays_read(list, count);
}

parapet_status parapet_fortran_arrays_write(const void *arrays, int count, const shim_parts *parts)
{
    return transfer_together(arrays, count, parts, write_list, NULL);
}

parapet_status parapet_fortran_arrays_read(const void *arrays, int count, const shim_parts *parts)
{
    return transfer_together(arrays, count, parts, read_list, NULL);
}

typedef struct starting {
    parapet_request **request;
    int copies;
} starting;

static parapet_status start_writing(const parapet_array_parts *list, int count, void *context)
{
    const starting *how = context;
    return parapet_arrays_start_write(how->request, list, count, shim_buffering(how->copies));
}

static parapet_status start_reading(const parapet_array_parts *list, int count, void *context)
{
    const starting *how = context;
    return parapet_arrays_start_read(how->request, list, count);
}

parapet_status parapet_fortran_arrays_start_write(parapet_request **request, const void *arrays, int count,
                                                  const shim_parts *parts, int copies)
{
    starting how = {request, copies};
    if (shim_is_taken(*request, "request"))
        return PARAPET_ERR_ARGUMENT;
    return transfer_together(arrays, count, parts, start_writing, &how);
}

parapet_status parapet_fortran_arrays_start_read(parapet_request **request, const void *arrays, int count,
                                                 const shim_parts *parts)
{
    starting how = {request, 0};
    if (shim_is_taken(*request, "request"))
        return PARAPET_ERR_ARGUMENT;
    return transfer_together(arrays, count, parts, start_reading, &how);
}
