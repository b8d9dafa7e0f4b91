/* What the library lists through its visitors, kept until Fortran has taken it. */
#include "shim.h"

#include <stdlib.h>

static int make_room(shim_notes *self)
{
    int room = 2 * self->room + 8;
    struct shim_note *grown;
    if (self->count < self->room)
        return 1;
    if ((grown = realloc(self->entries, (size_t)room * sizeof self->entries[0])) == NULL)
        return 0;
    self->entries = grown;
    self->room = room;
    return 1;
}

int shim_notes_add(shim_notes *self, int64_t number, const char *first, const char *second)
{
    struct shim_note note = {number, shim_duplicate(first), shim_duplicate(second)};
    if (note.first == NULL || note.second == NULL || !make_room(self)) {
        free(note.first);
        free(note.second);
        self->is_full = 1;
        return 1;
    }
    self->entries[self->count++] = note;
    return 0;
}

parapet_status shim_notes_finish(shim_notes **to, const shim_notes *all, parapet_status status)
{
    *to = malloc(sizeof **to);
    if (*to != NULL)
        **to = *all;
    else
        shim_notes_clear(all);
    return *to == NULL || all->is_full ? shim_lack_memory() : status;
}

void shim_notes_clear(const shim_notes *self)
{
    for (int i = 0; i < self->count; i++) {
        free(self->entries[i].first);
        free(self->entries[i].second);
    }
    free(self->entries);
}

int parapet_fortran_notes_count(const shim_notes *self)
{
    return self == NULL ? 0 : self->count;
}

/* Without memory there are fewer notes than Fortran expects. */
static int has(const shim_notes *self, int index)
{
    return self != NULL && index <= self->count;
}

int64_t parapet_fortran_notes_number(const shim_notes *self, int index)
{
    return has(self, index) ? self->entries[index - 1].number : 0;
}

const char *parapet_fortran_notes_first(const shim_notes *self, int index)
{
    return has(self, index) ? self->entries[index - 1].first : NULL;
}

const char *parapet_fortran_notes_second(const shim_notes *self, int index)
{
    return has(self, index) ? self->entries[index - 1].second : NULL;
}

void parapet_fortran_notes_free(shim_notes *self)
{
    if (self != NULL)
        shim_notes_clear(self);
    free(self);
}
