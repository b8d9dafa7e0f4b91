#include "forecast/crossing.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/status.h"

/* Entries of one dimension are listed; more than this would be a mesh and shards of millions that all meet. */
#define ENTRIES_MOST ((size_t)1 << 22)

static parapet_status make_room(void *array, size_t *capacity, size_t count, size_t element_bytes)
{
    size_t larger = pp_max_size(2 * *capacity, 16);
    parapet_status status;
    if (count < *capacity)
        return PARAPET_OK;
    if ((status = pp_reallocate(array, larger * element_bytes)) == PARAPET_OK)
        *capacity = larger;
    return status;
}

bool pp_encounter_interval(const pp_crossing *crossing, const pp_encounter *encounter, int64_t index, int64_t *start,
                           int64_t *count)
{
    if (index >= encounter->intervals)
        return false;
    *start = index == 0 ? encounter->low : encounter->next + (index - 1) * crossing->stride;
    *count = index == 0 ? encounter->high - encounter->low : pp_min_i64(crossing->block, encounter->extent - *start);
    return true;
}

bool pp_encounter_next_run(const pp_crossing *crossing, const pp_encounter *encounter, pp_run *run)
{
    int64_t start, count, last;
    /* A chunk that two intervals touch is in the run once. */
    if (!pp_encounter_interval(crossing, encounter, run->interval, &start, &count))
        return false;
    run->first = start / crossing->chunk_shape;
    last = run->first;
    while (pp_encounter_interval(crossing, encounter, run->interval, &start, &count) &&
           start / crossing->chunk_shape <= last + 1) {
        last = (start + count - 1) / crossing->chunk_shape;
        run->interval++;
    }
    run->count = last - run->first + 1;
    return true;
}

/* Fills in what follows from the intervals. */
static void measure(const pp_crossing *crossing, pp_encounter *encounter)
{
    int64_t index, start, count;
    pp_run run = {0};
    encounter->intervals = 1;
    if (encounter->next >= 0)
        encounter->intervals += (encounter->extent - 1 - encounter->next) / crossing->stride + 1;
    for (index = 0; pp_encounter_interval(crossing, encounter, index, &start, &count); index++)
        encounter->elements += count;
    while (pp_encounter_next_run(crossing, encounter, &run))
        encounter->touched_chunks += run.count;
}

static bool is_same_meeting(const pp_encounter *a, const pp_encounter *b)
{
    return a->low == b->low && a->high == b->high && a->next == b->next && a->chunks == b->chunks &&
           (a->next < 0 || a->extent == b->extent);
}

static uint64_t mix(uint64_t hash, int64_t value)
{
    hash = (hash ^ (uint64_t)value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

static uint64_t hash_of(const pp_encounter *encounter)
{
    uint64_t hash = mix(1, encounter->chunks);
    hash = mix(hash, encounter->low);
    hash = mix(hash, encounter->high);
    return mix(hash, encounter->next);
}

/* Numbers by what they stand for: open addressing, half empty. */
typedef struct number_table {
    int32_t *numbers; /* number + 1; 0: free */
    size_t mask;
} number_table;

static parapet_status table_init(number_table *table, size_t most)
{
    size_t size = 16;
    while (size < 2 * most)
        size *= 2;
    *table = (number_table){.mask = size - 1};
    return pp_allocate_array(&table->numbers, size, sizeof *table->numbers);
}

static parapet_status find_encounter(pp_crossing *crossing, number_table *table, pp_encounter *wanted,
                                     int32_t *number)
{
    size_t index = (size_t)hash_of(wanted) & table->mask;
    parapet_status status;
    for (; table->numbers[index] != 0; index = (index + 1) & table->mask)
        if (is_same_meeting(&crossing->encounters[table->numbers[index] - 1], wanted)) {
            *number = table->numbers[index] - 1;
            return PARAPET_OK;
        }
    status = make_room(&crossing->encounters, &crossing->encounter_capacity, crossing->encounter_count,
                       sizeof *crossing->encounters);
    if (status != PARAPET_OK)
        return status;
    measure(crossing, wanted);
    crossing->encounters[crossing->encounter_count] = *wanted;
    *number = (int32_t)crossing->encounter_count++;
    table->numbers[index] = *number + 1;
    return PARAPET_OK;
}

static pp_encounter meet(const pp_crossing *crossing, const pp_distribution *distribution, int d, int64_t position,
                         int64_t start, int64_t extent)
{
    int64_t block = pp_distribution_block_from(distribution, d, position, start) - start;
    int64_t beyond = crossing->stride - crossing->block;
    pp_encounter encounter = {.extent = extent, .chunks = pp_divide_up(extent, crossing->chunk_shape), .next = -1};
    encounter.low = pp_max_i64(block, 0);
    encounter.high = pp_min_i64(block + crossing->block, extent);
    /* In this form nothing overflows, however large a stride is. */
    if (extent - encounter.high > 0 && beyond < extent - (block + crossing->block))
        encounter.next = block + crossing->stride;
    return encounter;
}

/* How many rows differ, the last shard aside: blocks that are dealt out in turn repeat, others never do. */
static int64_t period_of(const pp_crossing *crossing, int64_t shape)
{
    int64_t a = crossing->stride, b = crossing->cell_shape;
    if (crossing->stride >= shape)
        return pp_max_i64(crossing->cells - 1, 0);
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return pp_min_i64(crossing->cells - 1, crossing->stride / a);
}

static parapet_status add_row(pp_crossing *crossing, const pp_distribution *distribution, int d, int64_t cell,
                              number_table *table)
{
    int64_t start = cell * crossing->cell_shape;
    int64_t extent = pp_min_i64(crossing->cell_shape, distribution->shape[d] - start);
    int64_t count = pp_distribution_positions_meeting(distribution, d, start, extent), turn;
    pp_crossing_row *row = &crossing->rows[crossing->row_count++];
    parapet_status status = PARAPET_OK;
    *row = (pp_crossing_row){.first = crossing->entry_count, .count = (size_t)count};
    for (turn = 0; turn < count && status == PARAPET_OK; turn++) {
        int64_t position = pp_distribution_position_meeting(distribution, d, start, extent, turn);
        pp_encounter encounter = meet(crossing, distribution, d, position, start, extent);
        pp_crossing_entry entry = {.position = (int32_t)position};
        if ((status = make_room(&crossing->entries, &crossing->entry_capacity, crossing->entry_count,
                                sizeof *crossing->entries)) != PARAPET_OK ||
            (status = find_encounter(crossing, table, &encounter, &entry.encounter)) != PARAPET_OK)
            return status;
        crossing->entries[crossing->entry_count++] = entry;
    }
    return status;
}

static parapet_status count_entries(const pp_crossing *crossing, const pp_distribution *distribution, int d,
                                    size_t *total)
{
    int64_t cell;
    *total = 0;
    for (cell = 0; cell <= crossing->period && *total <= ENTRIES_MOST; cell++) {
        int64_t at = cell < crossing->period ? cell : crossing->cells - 1;
        int64_t start = at * crossing->cell_shape;
        int64_t extent = pp_min_i64(crossing->cell_shape, distribution->shape[d] - start);
        *total += (size_t)pp_distribution_positions_meeting(distribution, d, start, extent);
    }
    if (*total > ENTRIES_MOST)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "along dimension %d more than %zu pairs of ranks and shards meet, too many to plan for; use "
                       "larger shards or blocks",
                       d, ENTRIES_MOST);
    return PARAPET_OK;
}

static parapet_status add_rows(pp_crossing *crossing, const pp_distribution *distribution, int d, size_t most)
{
    number_table table = {0};
    parapet_status status = table_init(&table, most);
    int64_t cell;
    for (cell = 0; cell <= crossing->period && status == PARAPET_OK; cell++) {
        bool is_last = cell == crossing->period;
        status = add_row(crossing, distribution, d, is_last ? crossing->cells - 1 : cell, &table);
        crossing->rows[cell].shards = is_last ? 1 : (crossing->cells - 2 - cell) / crossing->period + 1;
    }
    pp_free(table.numbers);
    return status;
}

static int compare_tallies(const void *left, const void *right)
{
    const pp_tally *a = left, *b = right;
    return (a->encounter > b->encounter) - (a->encounter < b->encounter);
}

/* Adds up tallies of the same encounter; returns how many are left. */
static size_t merge_tallies(pp_tally *tallies, size_t count)
{
    size_t i, kept = 0;
    qsort(tallies, count, sizeof *tallies, compare_tallies);
    for (i = 1; i < count; i++) {
        if (tallies[i].encounter == tallies[kept].encounter)
            tallies[kept].count += tallies[i].count;
        else
            tallies[++kept] = tallies[i];
    }
    return count == 0 ? 0 : kept + 1;
}

static bool is_same_kind(const pp_kinds *kinds, const pp_kind *kind, const pp_tally *tallies, size_t count)
{
    size_t i;
    if (kind->count != count)
        return false;
    for (i = 0; i < count; i++) {
        const pp_tally *known = &kinds->tallies[kind->first + i];
        if (known->encounter != tallies[i].encounter || known->count != tallies[i].count)
            return false;
    }
    return true;
}

static parapet_status append_kind(pp_kinds *kinds, const pp_tally *tallies, size_t count)
{
    parapet_status status = make_room(&kinds->kinds, &kinds->capacity, kinds->count, sizeof *kinds->kinds);
    size_t i;
    for (i = 0; i < count && status == PARAPET_OK; i++) {
        status = make_room(&kinds->tallies, &kinds->tally_capacity, kinds->tally_count + i, sizeof *kinds->tallies);
        if (status == PARAPET_OK)
            kinds->tallies[kinds->tally_count + i] = tallies[i];
    }
    if (status != PARAPET_OK)
        return status;
    kinds->kinds[kinds->count++] = (pp_kind){.first = kinds->tally_count, .count = count};
    kinds->tally_count += count;
    return PARAPET_OK;
}

/* The number of the kind that has these tallies, a new one if there is none yet. */
static parapet_status find_kind(pp_kinds *kinds, number_table *table, pp_tally *tallies, size_t count,
                                int32_t *number)
{
    uint64_t hash = 1;
    parapet_status status;
    size_t i, index;
    count = merge_tallies(tallies, count);
    for (i = 0; i < count; i++)
        hash = mix(mix(hash, tallies[i].encounter), tallies[i].count);
    for (index = (size_t)hash & table->mask; table->numbers[index] != 0; index = (index + 1) & table->mask)
        if (is_same_kind(kinds, &kinds->kinds[table->numbers[index] - 1], tallies, count)) {
            *number = table->numbers[index] - 1;
            return PARAPET_OK;
        }
    if ((status = append_kind(kinds, tallies, count)) != PARAPET_OK)
        return status;
    *number = (int32_t)kinds->count - 1;
    table->numbers[index] = *number + 1;
    return PARAPET_OK;
}

static parapet_status find_row_kinds(pp_crossing *crossing)
{
    number_table table = {0};
    pp_tally *tallies = NULL;
    size_t row, i, widest = 0;
    parapet_status status;
    for (row = 0; row < crossing->row_count; row++)
        widest = pp_max_size(widest, crossing->rows[row].count);
    if ((status = table_init(&table, crossing->row_count)) == PARAPET_OK)
        status = pp_allocate_array(&tallies, widest, sizeof *tallies);
    for (row = 0; row < crossing->row_count && status == PARAPET_OK; row++) {
        pp_crossing_row *at = &crossing->rows[row];
        for (i = 0; i < at->count; i++)
            tallies[i] = (pp_tally){.count = 1, .encounter = crossing->entries[at->first + i].encounter};
        status = find_kind(&crossing->row_kinds, &table, tallies, at->count, &at->kind);
    }
    pp_free(tallies);
    pp_free(table.numbers);
    return status;
}

parapet_status pp_crossing_init(pp_crossing *crossing, const pp_distribution *distribution, const pp_tiling *tiling,
                                int d)
{
    parapet_status status;
    size_t most;
    *crossing = (pp_crossing){
        .cells = tiling->shards.cells[d],
        .cell_shape = tiling->shards.cell_shape[d],
        .chunk_shape = tiling->chunks.cell_shape[d],
        .block = distribution->block[d],
    };
    if (!pp_multiply_fits(crossing->block, distribution->mesh[d], &crossing->stride))
        crossing->stride = INT64_MAX;
    if (crossing->cells == 0)
        return PARAPET_OK;
    crossing->period = period_of(crossing, distribution->shape[d]);
    if ((status = count_entries(crossing, distribution, d, &most)) != PARAPET_OK ||
        (status = pp_allocate_array(&crossing->rows, (size_t)crossing->period + 1, sizeof *crossing->rows)) !=
            PARAPET_OK ||
        (status = add_rows(crossing, distribution, d, most)) != PARAPET_OK)
        return status;
    return find_row_kinds(crossing);
}

void pp_crossing_clear(pp_crossing *crossing)
{
    pp_free(crossing->encounters);
    pp_free(crossing->entries);
    pp_free(crossing->rows);
    pp_free(crossing->row_kinds.kinds);
    pp_free(crossing->row_kinds.tallies);
    pp_free(crossing->column_kinds.kinds);
    pp_free(crossing->column_kinds.tallies);
    pp_free(crossing->column_kind);
    *crossing = (pp_crossing){0};
}

/* Sorts the tallies of all rows by position: those of one position are then its column. starts has mesh + 1. */
static void fill_columns(const pp_crossing *crossing, int64_t mesh, size_t *starts, pp_tally *tallies)
{
    size_t row, i;
    int64_t p;
    for (i = 0; i < crossing->entry_count; i++)
        starts[crossing->entries[i].position + 1]++;
    for (p = 0; p < mesh; p++)
        starts[p + 1] += starts[p];
    for (row = 0; row < crossing->row_count; row++)
        for (i = 0; i < crossing->rows[row].count; i++) {
            const pp_crossing_entry *entry = &crossing->entries[crossing->rows[row].first + i];
            tallies[starts[entry->position]++] =
                (pp_tally){.count = crossing->rows[row].shards, .encounter = entry->encounter};
        }
    /* Each start has moved to the next one's place. */
    memmove(starts + 1, starts, (size_t)mesh * sizeof *starts);
    starts[0] = 0;
}

parapet_status pp_crossing_build_columns(pp_crossing *crossing, int64_t mesh)
{
    number_table table = {0};
    pp_tally *tallies = NULL;
    size_t *starts = NULL;
    parapet_status status;
    int64_t p;
    if ((status = table_init(&table, (size_t)mesh)) != PARAPET_OK ||
        (status = pp_allocate_array(&tallies, crossing->entry_count, sizeof *tallies)) != PARAPET_OK ||
        (status = pp_allocate_array(&starts, (size_t)mesh + 1, sizeof *starts)) != PARAPET_OK ||
        (status = pp_allocate_array(&crossing->column_kind, (size_t)mesh, sizeof *crossing->column_kind)) !=
            PARAPET_OK)
        goto done;
    fill_columns(crossing, mesh, starts, tallies);
    for (p = 0; p < mesh && status == PARAPET_OK; p++)
        status = find_kind(&crossing->column_kinds, &table, tallies + starts[p], starts[p + 1] - starts[p],
                           &crossing->column_kind[p]);
done:
    pp_free(starts);
    pp_free(tallies);
    pp_free(table.numbers);
    return status;
}

const pp_crossing_row *pp_crossing_row_of(const pp_crossing *crossing, int64_t cell)
{
    return &crossing->rows[cell == crossing->cells - 1 ? crossing->period : cell % crossing->period];
}

int32_t pp_crossing_find(const pp_crossing *crossing, const pp_crossing_row *row, int64_t position)
{
    const pp_crossing_entry *entries = crossing->entries + row->first;
    size_t low = 0, high = row->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (entries[middle].position < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low < row->count && entries[low].position == position ? entries[low].encounter : -1;
}
