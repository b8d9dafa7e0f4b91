/* Lists of arrays that are to be created together: those of a series, of a checkpoint, or of a store. */
#include "shim.h"

#include <stdlib.h>

shim_definitions *parapet_fortran_definitions_build(void)
{
    return calloc(1, sizeof(shim_definitions));
}

void parapet_fortran_definitions_clear(shim_definitions *self)
{
    for (int i = 0; self != NULL && i < self->count; i++) {
        free(self->names[i]);
        parapet_fortran_spec_free(self->owners[i]);
    }
    if (self != NULL)
        self->count = 0;
}

void parapet_fortran_definitions_free(shim_definitions *self)
{
    parapet_fortran_definitions_clear(self);
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
