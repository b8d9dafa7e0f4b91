/* arena.c - where the steps of the open row are kept: in memory if the whole row fits in half of the limit on
 * every rank, else in a log of each rank. A row that turns out to be larger than its first step promised moves to the
 * logs in mid-row; offsets stay. */
#include "series/arena.h"

#include <string.h>

#include "array/array.h"
#include "array/store_queries.h"
#include "base/checked.h"
#include "base/status.h"
#include "series/cutter.h"
#include "series/series_handle.h"
#include "series/step.h"
#include "series/step_pieces.h"
#include "series/sums.h"

size_t pp_series_limit_bytes(const parapet_series *series)
{
    return (size_t)pp_store_call_bytes(series->store) / 2;
}

static void close_log(pp_series_arena *arena)
{
    pp_log_close(arena->log);
    arena->log = NULL;
}

/* What is left of a log that cannot be removed now is dropped when it is opened again. */
void pp_series_arena_reset(parapet_series *series)
{
    pp_series_arena *arena = &series->arena;
    if (arena->is_staged && arena->used_bytes > 0) {
        close_log(arena);
        (void)pp_store_remove(pp_store_backend(series->store), arena->key);
    }
    arena->used_bytes = 0;
    arena->step_count = 0;
    pp_series_pieces_clear(&arena->pieces);
}

void pp_series_arena_clear(parapet_series *series)
{
    pp_series_arena *arena = &series->arena;
    pp_series_arena_reset(series);
    close_log(arena);
    pp_buffer_free(&arena->memory);
    pp_free(arena->key);
    *arena = (pp_series_arena){0};
}

static bool is_same_place(const pp_series_piece *kept, const pp_series_piece *fresh)
{
    size_t bytes = (size_t)(kept->box.ndim - 1) * sizeof kept->box.start[0];
    return kept->array == fresh->array && kept->box.start[0] + kept->box.count[0] == fresh->box.start[0] &&
           memcmp(kept->box.start + 1, fresh->box.start + 1, bytes) == 0 &&
           memcmp(kept->box.count + 1, fresh->box.count + 1, bytes) == 0 &&
           (kept->box.count[0] == 1 ||
            fresh->offset == kept->offset + (uint64_t)kept->box.count[0] * kept->stride_bytes);
}

/* What is known of a step before it is packed. */
typedef struct step_measure {
    size_t count; /* pieces */
    uint64_t bytes;
    size_t largest_bytes; /* of a piece, with its checksum */
    bool continues;       /* cut as the step before it was: its pieces only make the kept ones longer */
} step_measure;

static step_measure measure_step(const parapet_series *series, const pp_series_step *step)
{
    const pp_series_pieces *pieces = &series->arena.pieces;
    size_t last = pieces->list.count - pieces->last;
    step_measure measure = {.continues = last > 0};
    pp_series_cutter cutter;
    pp_series_piece kept;
    pp_series_cutter_init(&cutter, series, step, series->arena.used_bytes);
    for (; pp_series_cutter_next(&cutter); measure.count++) {
        measure.largest_bytes = pp_max_size(measure.largest_bytes, cutter.piece.bytes + PP_SERIES_SUM_BYTES);
        measure.continues = measure.continues && measure.count < last;
        if (!measure.continues)
            continue;
        pp_series_pieces_at(pieces, pieces->last + measure.count, &kept);
        measure.continues = is_same_place(&kept, &cutter.piece);
    }
    measure.continues = measure.continues && measure.count == last;
    measure.bytes = cutter.offset - series->arena.used_bytes;
    return measure;
}

static parapet_status reserve_pieces(parapet_series *series, const step_measure *measure)
{
    return measure->continues ? PARAPET_OK : pp_list_reserve(&series->arena.pieces.list, measure->count);
}

static void extend_piece(pp_series_pieces *pieces, size_t index, const pp_series_piece *fresh)
{
    pp_series_piece kept;
    pp_series_pieces_at(pieces, index, &kept);
    if (kept.box.count[0] == 1)
        kept.stride_bytes = fresh->offset - kept.offset;
    kept.box.count[0]++;
    pp_series_pieces_put(pieces, index, &kept);
}

/* There is room. */
static void keep_pieces(parapet_series *series, const pp_series_step *step, const step_measure *measure)
{
    pp_series_pieces *pieces = &series->arena.pieces;
    pp_series_cutter cutter;
    size_t i;
    if (!measure->continues)
        pieces->last = pieces->list.count;
    pp_series_cutter_init(&cutter, series, step, series->arena.used_bytes);
    for (i = pieces->last; pp_series_cutter_next(&cutter); i++) {
        if (measure->continues)
            extend_piece(pieces, i, &cutter.piece);
        else
            (void)pp_series_pieces_add(pieces, &cutter.piece);
    }
}

/* Whether the row fits in memory, as far as this step tells; with a first step that is reserved. */
static bool takes_memory(parapet_series *series, uint64_t step_bytes)
{
    pp_series_arena *arena = &series->arena;
    uint64_t left = (uint64_t)(series->steps_per_row - series->steps % series->steps_per_row);
    size_t limit = pp_series_limit_bytes(series);
    if (arena->step_count > 0)
        return !arena->is_staged && arena->used_bytes + step_bytes <= arena->memory.capacity;
    return step_bytes <= limit / left &&
           pp_buffer_ensure(&arena->memory, (size_t)(step_bytes * left), "open steps") == PARAPET_OK;
}

/* What a step has of one shard, counted over all arrays. */
typedef struct shard_bytes {
    uint64_t shard, bytes;
} shard_bytes;

static int compare_shards(const void *a, const void *b)
{
    uint64_t first = ((const shard_bytes *)a)->shard, second = ((const shard_bytes *)b)->shard;
    return (first > second) - (first < second);
}

static parapet_status list_shards(const parapet_series *series, const pp_series_step *step, pp_list *list)
{
    pp_series_cutter cutter;
    parapet_status status = PARAPET_OK;
    pp_series_cutter_init(&cutter, series, step, 0);
    while (status == PARAPET_OK && pp_series_cutter_next(&cutter))
        status = pp_list_add(list, &(shard_bytes){cutter.piece.shard, cutter.piece.bytes});
    return status == PARAPET_OK ? pp_list_sort(list, compare_shards) : status;
}

/* The most bytes that the step has of one shard on this rank. */
static parapet_status find_largest(const parapet_series *series, const pp_series_step *step, uint64_t *largest)
{
    parapet_status status;
    uint64_t sum = 0;
    pp_list list;
    size_t i;
    *largest = 0;
    pp_list_init(&list, sizeof(shard_bytes), pp_store_budget(series->store), "what a step has of each shard");
    status = list_shards(series, step, &list);
    for (i = 0; i < list.count && status == PARAPET_OK; i++) {
        const shard_bytes *one = pp_list_at(&list, i), *before = i > 0 ? pp_list_at(&list, i - 1) : NULL;
        sum = before != NULL && before->shard == one->shard ? sum + one->bytes : one->bytes;
        *largest = pp_max_u64(*largest, sum);
    }
    pp_list_clear(&list);
    return status;
}

/* What the lists of more pieces take cannot be counted in 63 bits, and no machine has it. */
#define COUNTABLE_PIECES ((size_t)1 << 46)

/* A limit with which a row of steps like this one can be kept and written, even if none continues the one before it:
 * half of it is for what a shard has of the row, the other half for the lists. */
static uint64_t enough_for_row(const parapet_series *series, const step_measure *measure, uint64_t largest)
{
    size_t steps = (size_t)series->steps_per_row, pieces, bytes;
    if (!pp_multiply_size_fits(measure->count, steps, &pieces) || pieces > COUNTABLE_PIECES ||
        !pp_multiply_size_fits((size_t)largest, steps, &bytes) || bytes > INT64_MAX / 2)
        return INT64_MAX;
    return pp_min_u64(2 * pp_max_u64(bytes, pp_series_row_list_bytes(series, pieces)), INT64_MAX);
}

/* The part of the row that one shard has of this rank must pass through memory when it is written. */
static parapet_status check_largest(const parapet_series *series, const pp_series_step *step,
                                    const step_measure *measure)
{
    uint64_t largest, enough, most = pp_series_limit_bytes(series) / (uint64_t)series->steps_per_row;
    parapet_status status = find_largest(series, step, &largest);
    if (status != PARAPET_OK || largest <= most)
        return status;
    enough = enough_for_row(series, measure, largest);
    return pp_refuse_memory(
        enough,
        "memory_bytes is too small to keep %lld steps: in each step this rank has %llu bytes of one shard; "
        "half of the limit must hold all of these, the other half their lists; set memory_bytes to at "
        "least %llu",
        (long long)series->steps_per_row, (unsigned long long)largest, (unsigned long long)enough);
}

static parapet_status open_log(parapet_series *series)
{
    pp_series_arena *arena = &series->arena;
    if (arena->log != NULL)
        return PARAPET_OK;
    return pp_store_open_log(pp_store_backend(series->store), arena->key, arena->used_bytes, &arena->log);
}

/* The pieces in memory get their checksums. */
static void sum_pieces(pp_series_arena *arena)
{
    size_t i;
    int64_t step;
    for (i = 0; i < arena->pieces.list.count; i++) {
        pp_series_piece piece;
        pp_series_pieces_at(&arena->pieces, i, &piece);
        for (step = 0; step < piece.box.count[0]; step++) {
            uint64_t offset = piece.offset + (uint64_t)step * piece.stride_bytes;
            pp_series_sum_put(arena->memory.data + offset, piece.bytes, offset);
        }
    }
}

/* What memory has of the row goes to the log, which is empty. */
static parapet_status fill_log(parapet_series *series)
{
    pp_series_arena *arena = &series->arena;
    pp_log *log = NULL;
    parapet_status status;
    if (arena->used_bytes == 0)
        return PARAPET_OK;
    sum_pieces(arena);
    if ((status = pp_store_open_log(pp_store_backend(series->store), arena->key, 0, &log)) == PARAPET_OK)
        status = pp_log_append(log, arena->memory.data, (size_t)arena->used_bytes);
    pp_log_close(log);
    return status;
}

parapet_status pp_series_stage(parapet_series *series, parapet_status status)
{
    pp_series_arena *arena = &series->arena;
    close_log(arena);
    if (status == PARAPET_OK)
        status = fill_log(series);
    if ((status = pp_comm_agree(pp_store_comm(series->store), "moving open steps to storage", status)) != PARAPET_OK)
        return status;
    pp_buffer_free(&arena->memory);
    arena->is_staged = series->was_staged = true;
    return PARAPET_OK;
}

/* [collective] The step goes to the logs; if it is the first that does, so do those before it. */
static parapet_status prepare_logs(parapet_series *series, const pp_series_step *step, const step_measure *measure)
{
    const pp_series_arena *arena = &series->arena;
    parapet_status status = check_largest(series, step, measure);
    if (arena->is_staged && arena->step_count > 0)
        return pp_comm_agree(pp_store_comm(series->store), "moving open steps to storage", status);
    return pp_series_stage(series, status);
}

/* Packs into memory and appends whenever that is full; a piece is never larger. */
static parapet_status append_pieces(parapet_series *series, const pp_series_step *step)
{
    pp_series_arena *arena = &series->arena;
    size_t filled = 0;
    parapet_status status = open_log(series);
    pp_series_cutter cutter;
    pp_series_cutter_init(&cutter, series, step, arena->used_bytes);
    while (status == PARAPET_OK && pp_series_cutter_next(&cutter)) {
        const pp_series_piece *piece = &cutter.piece;
        if (filled + piece->bytes + PP_SERIES_SUM_BYTES > arena->memory.capacity) {
            status = pp_log_append(arena->log, arena->memory.data, filled);
            filled = 0;
        }
        pp_series_cutter_copy(&cutter, arena->memory.data + filled);
        pp_series_sum_put(arena->memory.data + filled, piece->bytes, piece->offset);
        filled += piece->bytes + PP_SERIES_SUM_BYTES;
    }
    return status == PARAPET_OK ? pp_log_append(arena->log, arena->memory.data, filled) : status;
}

static parapet_status append_step(parapet_series *series, const pp_series_step *step, const step_measure *measure)
{
    pp_series_arena *arena = &series->arena;
    size_t room =
        pp_max_size(measure->largest_bytes, (size_t)pp_min_u64(measure->bytes, pp_series_limit_bytes(series) / 2));
    parapet_status status = reserve_pieces(series, measure);
    if (status != PARAPET_OK || measure->bytes == 0)
        return status;
    if ((status = pp_buffer_ensure(&arena->memory, room, "a step on its way to storage")) == PARAPET_OK)
        status = append_pieces(series, step);
    return status;
}

static void pack(parapet_series *series, const pp_series_step *step)
{
    pp_series_cutter cutter;
    pp_series_cutter_init(&cutter, series, step, series->arena.used_bytes);
    while (pp_series_cutter_next(&cutter))
        pp_series_cutter_copy(&cutter, series->arena.memory.data + cutter.piece.offset);
}

/* [collective] */
static parapet_status keep_in_logs(parapet_series *series, const pp_series_step *step, const step_measure *measure)
{
    parapet_status status = prepare_logs(series, step, measure);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_comm_agree(pp_store_comm(series->store), "staging a step",
                                append_step(series, step, measure))) != PARAPET_OK)
        close_log(&series->arena); /* opened again, it is cut behind what all ranks have kept */
    return status;
}

/* [collective] A list that does not fit is refused with what the whole row takes. */
static parapet_status store_step(parapet_series *series, const pp_series_step *step, const step_measure *measure)
{
    pp_budget *budget = pp_store_budget(series->store);
    parapet_status status;
    pp_budget_expect(budget, (size_t)enough_for_row(series, measure, 0));
    status = keep_in_logs(series, step, measure);
    pp_budget_expect(budget, 0);
    return status;
}

static int ndim_most(const parapet_series *series)
{
    int i, most = 0;
    for (i = 0; i < series->count; i++)
        if (pp_array_document_of(series->arrays[i])->ndim > most)
            most = pp_array_document_of(series->arrays[i])->ndim;
    return most;
}

parapet_status pp_series_keep(parapet_series *series, const pp_series_step *step)
{
    pp_series_arena *arena = &series->arena;
    step_measure measure;
    parapet_status status;
    int64_t fits;
    if (arena->pieces.list.budget == NULL)
        pp_series_pieces_init(&arena->pieces, ndim_most(series), pp_store_budget(series->store));
    measure = measure_step(series, step);
    fits = reserve_pieces(series, &measure) == PARAPET_OK && takes_memory(series, measure.bytes);
    if ((status = pp_comm_agree_min(pp_store_comm(series->store), "keeping a step", PARAPET_OK, &fits)) != PARAPET_OK)
        return status;
    if (fits) {
        arena->is_staged = false;
        pack(series, step);
    } else if ((status = store_step(series, step, &measure)) != PARAPET_OK) {
        return status;
    }
    keep_pieces(series, step, &measure);
    arena->used_bytes += measure.bytes;
    arena->step_count++;
    return PARAPET_OK;
}
