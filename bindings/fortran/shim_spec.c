/* Descriptions of arrays to be created. Fortran sets one field after the other, only those that the caller gave. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

shim_spec *parapet_fortran_spec_build(int type, int ndim, const int64_t *shape, int has_steps)
{
    shim_spec *self = calloc(1, sizeof *self);
    int all = ndim + has_steps;
    shim_begin();
    if (self == NULL)
        return NULL;
    self->has_steps = has_steps;
    self->is_wrong = all > PARAPET_MAX_NDIM;
    self->spec = (parapet_array_spec){.ndim = self->is_wrong ? -1 : all, .type = (parapet_type)type};
    self->spec.shape = self->shape;
    if (!self->is_wrong)
        shim_reverse(self->shape + has_steps, shape, ndim, 0);
    return self;
}

void parapet_fortran_spec_free(shim_spec *self)
{
    if (self == NULL)
        return;
    for (int d = 0; d < PARAPET_MAX_NDIM; d++)
        free(self->names[d]);
    free(self->codec);
    free(self->attributes);
    free(self->time_unit);
    free(self);
}

static void mark_wrong(shim_spec *self)
{
    self->is_wrong = 1;
    self->spec.ndim = -1;
}

/* A copy that the description owns; without memory for it, the library is to refuse the description. */
static char *keep(shim_spec *self, char *copy)
{
    if (copy == NULL) {
        shim_lack_memory();
        mark_wrong(self);
    }
    return copy;
}

/* A list of the wrong length makes the description one that the library refuses, on all ranks. */
static int has_length(shim_spec *self, const char *list, int count)
{
    int wanted = self->spec.ndim - self->has_steps;
    if (!self->is_wrong && count != wanted) {
        shim_refuse("%s has %d entries, but shape has %d: it needs one for each dimension", list, count, wanted);
        mark_wrong(self);
    }
    return !self->is_wrong;
}

void parapet_fortran_spec_chunks(shim_spec *self, const int64_t *chunks, int count)
{
    if (!has_length(self, "chunks", count))
        return;
    shim_reverse(self->chunks + self->has_steps, chunks, count, 0);
    if (self->has_steps && self->chunks[0] == 0)
        self->chunks[0] = 1;
    self->spec.chunks = self->chunks;
}

void parapet_fortran_spec_shards(shim_spec *self, const int64_t *shards, int count)
{
    if (!has_length(self, "shards", count))
        return;
    shim_reverse(self->shards + self->has_steps, shards, count, 0);
    if (self->has_steps && self->shards[0] == 0)
        self->shards[0] = 1;
    self->spec.shards = self->shards;
}

void parapet_fortran_spec_steps(shim_spec *self, int64_t chunk_steps, int64_t shard_steps)
{
    self->chunks[0] = chunk_steps;
    self->shards[0] = shard_steps;
}

static char *trimmed(const char *name, int length)
{
    char *copy;
    while (length > 0 && name[length - 1] == ' ')
        length--;
    if ((copy = calloc((size_t)length + 1, 1)) != NULL)
        memcpy(copy, name, (size_t)length);
    return copy;
}

void parapet_fortran_spec_names(shim_spec *self, const char *names, int length, int count)
{
    if (!has_length(self, "dimension_names", count))
        return;
    for (int d = 0; d < count; d++)
        self->names[self->has_steps + count - 1 - d] =
            keep(self, trimmed(names + (size_t)d * (size_t)length, length));
    self->spec.dimension_names = (const char *const *)self->names;
}

void parapet_fortran_spec_codec(shim_spec *self, const char *codec)
{
    self->spec.codec = self->codec = keep(self, shim_duplicate(codec));
}

void parapet_fortran_spec_attributes(shim_spec *self, const char *attributes)
{
    self->spec.attributes = self->attributes = keep(self, shim_duplicate(attributes));
}

void parapet_fortran_spec_time_unit(shim_spec *self, const char *unit)
{
    self->spec.time_unit = self->time_unit = keep(self, shim_duplicate(unit));
}

void parapet_fortran_spec_unsharded(shim_spec *self)
{
    self->spec.unsharded = 1;
}

void parapet_fortran_spec_no_checksum(shim_spec *self)
{
    self->spec.no_checksum = 1;
}

void parapet_fortran_spec_overwrite(shim_spec *self)
{
    self->spec.overwrite = 1;
}

void parapet_fortran_spec_fill(shim_spec *self, const void *value, int type)
{
    size_t bytes = parapet_type_bytes((parapet_type)type);
    if (!shim_type_fits((parapet_type)type, self->spec.type) || bytes > sizeof self->fill) {
        shim_refuse("fill_value has another type than the array: give it the same type and kind");
        mark_wrong(self);
        return;
    }
    memcpy(self->fill, value, bytes);
    self->spec.fill_value = self->fill;
}
