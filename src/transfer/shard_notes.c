#include "transfer/shard_notes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

void pp_shard_notes_clear(pp_shard_notes *notes)
{
    size_t i;
    for (i = 0; i < notes->count; i++)
        pp_free(notes->list[i].record.checksums);
    pp_free(notes->list);
    *notes = (pp_shard_notes){0};
}

/* Without a note of this write, older ones of the same shard must not be believed, whoever has them. */
static void lose(pp_shard_notes *notes)
{
    int64_t serial = notes->serial;
    pp_shard_notes_clear(notes);
    notes->serial = notes->lost_serial = serial;
}

void pp_shard_notes_begin(pp_shard_notes *notes)
{
    notes->serial++;
}

size_t pp_shard_notes_find(const pp_shard_notes *notes, int64_t shard)
{
    size_t first = 0, end = notes->sorted_count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (notes->list[middle].shard < shard)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

parapet_status pp_shard_notes_reserve(pp_shard_notes *notes, size_t more)
{
    size_t capacity = pp_max_size(notes->count + more, 2 * notes->capacity);
    parapet_status status;
    if (more <= notes->capacity - notes->count)
        return PARAPET_OK;
    if ((status = pp_reallocate(&notes->list, capacity * sizeof notes->list[0])) == PARAPET_OK)
        notes->capacity = capacity;
    return status;
}

void pp_shard_notes_add(pp_shard_notes *notes, int64_t shard, pp_shard_record *record, uint64_t version)
{
    pp_shard_note note = {.shard = shard, .serial = notes->serial, .version = version}, *old = NULL;
    size_t place = pp_shard_notes_find(notes, shard);
    if (notes->lost_serial == notes->serial)
        return;
    if (place < notes->sorted_count && notes->list[place].shard == shard)
        old = &notes->list[place];
    notes->chunk_count -= old != NULL ? old->record.chunk_count : 0;
    if (record == NULL || notes->chunk_count + record->chunk_count > PP_NOTED_CHUNKS_MOST) {
        lose(notes);
        return;
    }
    notes->chunk_count += record->chunk_count;
    note.record = *record;
    record->checksums = NULL;
    assert(old != NULL || notes->count < notes->capacity);
    if (old != NULL)
        pp_free(old->record.checksums);
    else
        old = &notes->list[notes->count++];
    *old = note;
}

static int compare_shards(const void *left, const void *right)
{
    const pp_shard_note *a = left, *b = right;
    return (a->shard > b->shard) - (a->shard < b->shard);
}

void pp_shard_notes_end(pp_shard_notes *notes)
{
    size_t i = pp_max_size(notes->sorted_count, 1);
    while (i < notes->count && notes->list[i - 1].shard < notes->list[i].shard)
        i++;
    if (i < notes->count)
        qsort(notes->list, notes->count, sizeof notes->list[0], compare_shards);
    notes->sorted_count = notes->count;
}

void pp_shard_notes_drop(pp_shard_notes *notes, size_t place)
{
    notes->chunk_count -= notes->list[place].record.chunk_count;
    pp_free(notes->list[place].record.checksums);
    memmove(notes->list + place, notes->list + place + 1, (notes->count - place - 1) * sizeof notes->list[0]);
    notes->count--;
    notes->sorted_count--;
}
