#include "marked.h"

#include <string.h>

/* Room between the values of two marks. */
#define MARK_STEP 1000

static const int64_t field_shape[2] = {MARKED_ROWS, MARKED_COLUMNS}, field_chunks[2] = {3, 4},
                     field_shards[2] = {6, 8};
static const int64_t line_shape[1] = {MARKED_LENGTH}, line_chunks[1] = {10}, line_shards[1] = {30};

static const parapet_array_spec specs[MARKED_ARRAYS] = {
    {.type = PARAPET_FLOAT64, .ndim = 2, .shape = field_shape, .chunks = field_chunks, .shards = field_shards},
    {.type = PARAPET_INT32,
     .ndim = 1,
     .shape = line_shape,
     .chunks = line_chunks,
     .shards = line_shards,
     .codec = "none"},
    {.type = PARAPET_INT64, .ndim = 0},
};

static void connect(marked *state)
{
    static const char *const names[MARKED_ARRAYS] = {"field", "line", "number"};
    void *data[MARKED_ARRAYS] = {state->field, state->line, &state->number};
    int i;
    for (i = 0; i < MARKED_ARRAYS; i++) {
        state->parts[i] = (parapet_part){
            .ndim = specs[i].ndim, .start = state->start[i], .count = state->count[i], .data = data[i]};
        state->items[i] = (parapet_checkpoint_item){
            .name = names[i], .spec = &specs[i], .parts = &state->parts[i], .part_count = 1};
    }
}

static double field_value(int64_t index, int64_t mark)
{
    return (double)(mark * MARK_STEP + index) + 0.5;
}

static int32_t line_value(int64_t index, int64_t mark)
{
    return (int32_t)(mark * MARK_STEP % INT32_MAX + index);
}

void marked_fill(marked *state, int rank, int ranks, int64_t mark)
{
    int holders = ranks > 1 ? ranks - 1 : 1, holder = rank < holders ? rank : holders;
    int64_t row = MARKED_ROWS * holder / holders, end_row = rank < holders ? MARKED_ROWS * (rank + 1) / holders : row;
    int64_t first = MARKED_LENGTH * rank / ranks, end = MARKED_LENGTH * (rank + 1) / ranks, i;
    connect(state);
    state->start[0][0] = row;
    state->start[0][1] = 0;
    state->count[0][0] = end_row - row;
    state->count[0][1] = MARKED_COLUMNS;
    state->start[1][0] = first;
    state->count[1][0] = end - first;
    state->items[0].part_count = end_row > row ? 1 : 0;
    state->items[2].part_count = rank == ranks - 1 ? 1 : 0;
    for (i = 0; i < (end_row - row) * MARKED_COLUMNS; i++)
        state->field[i] = field_value(row * MARKED_COLUMNS + i, mark);
    for (i = 0; i < end - first; i++)
        state->line[i] = line_value(first + i, mark);
    state->number = mark;
}

void marked_want(marked *state)
{
    *state = (marked){.number = -1};
    connect(state);
    memcpy(state->count[0], field_shape, sizeof field_shape);
    memcpy(state->count[1], line_shape, sizeof line_shape);
}

int64_t marked_mark(const marked *state)
{
    int64_t i;
    for (i = 0; i < MARKED_ROWS * MARKED_COLUMNS; i++)
        if (state->field[i] != field_value(i, state->number))
            return -1;
    for (i = 0; i < MARKED_LENGTH; i++)
        if (state->line[i] != line_value(i, state->number))
            return -1;
    return state->number;
}

parapet_status marked_commit(marked *state, parapet_store *store, const char *path,
                             const parapet_checkpoint_options *options, int64_t *generation)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_status status = parapet_checkpoint_begin(&checkpoint, store, path, options);
    if (status != PARAPET_OK)
        return status;
    if ((status = parapet_checkpoint_put(checkpoint, state->items, MARKED_ARRAYS)) == PARAPET_OK)
        return parapet_checkpoint_commit(&checkpoint, generation);
    (void)parapet_checkpoint_abort(&checkpoint);
    return status;
}

parapet_status marked_restore(parapet_store *store, const char *path, int64_t generation, int64_t *mark)
{
    parapet_restore *restore = NULL;
    marked state;
    parapet_status status = parapet_restore_open(&restore, store, path, generation), closed;
    *mark = -1;
    if (status != PARAPET_OK)
        return status;
    marked_want(&state);
    status = parapet_restore_get(restore, state.items, MARKED_ARRAYS);
    closed = parapet_restore_close(&restore);
    if (status == PARAPET_OK)
        *mark = marked_mark(&state);
    return status != PARAPET_OK ? status : closed;
}
