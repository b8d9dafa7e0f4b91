/* arena.c - where the steps of the open row are kept: in memory if the whole row fits in half of the limit on
 * every rank, else in a log of each rank. A row that turns out to be larger than its first step promised moves to the
 * logs in mid-row; offsets stay. */
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/store.h"
#include "base/checked.h"
#include "series/series.h"

size_t pp_series_limit_bytes(const parapet_series *series)
{
    return (size_t)pp_store_options(series->store)->memory_bytes / 2;
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
    arena->pieces.count = arena->pieces.last = 0;
}

void pp_series_arena_clear(parapet_series *series)
{
    pp_series_arena *arena = &series->arena;
    pp_series_arena_reset(series);
    close_log(arena);
    pp_buffer_free(&arena->memory);
    pp_free(arena->pieces.list);
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

/* Whether the step is cut as the one before it was: then its pieces only make the kept ones longer. */
static bool continues(const pp_series_pieces *pieces, const pp_series_cuts *cuts)
{
    size_t i;
    if (pieces->count == 0 || cuts->count != pieces->count - pieces->last)
        return false;
    for (i = 0; i < cuts->count; i++)
        if (!is_same_place(&pieces->list[pieces->last + i], &cuts->list[i].piece))
            return false;
    return true;
}

static parapet_status reserve_pieces(pp_series_pieces *pieces, size_t more)
{
    size_t capacity = pp_max_size(pieces->count + more, 2 * pieces->capacity);
    parapet_status status;
    if (pieces->count + more <= pieces->capacity)
        return PARAPET_OK;
    if ((status = pp_reallocate(&pieces->list, capacity * sizeof pieces->list[0])) == PARAPET_OK)
        pieces->capacity = capacity;
    return status;
}

/* There is room. */
static void keep_pieces(pp_series_pieces *pieces, const pp_series_cuts *cuts)
{
    size_t i;
    if (continues(pieces, cuts)) {
        for (i = 0; i < cuts->count; i++) {
            pp_series_piece *kept = &pieces->list[pieces->last + i];
            if (kept->box.count[0] == 1)
                kept->stride_bytes = cuts->list[i].piece.offset - kept->offset;
            kept->box.count[0]++;
        }
        return;
    }
    pieces->last = pieces->count;
    for (i = 0; i < cuts->count; i++)
        pieces->list[pieces->count++] = cuts->list[i].piece;
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

/* The part of the row that one shard has of this rank must pass through memory when it is written. */
static parapet_status check_largest(const parapet_series *series, const pp_series_cuts *cuts)
{
    uint64_t most = pp_series_limit_bytes(series) / (uint64_t)series->steps_per_row, sum = 0;
    shard_bytes *list = NULL;
    parapet_status status = pp_allocate_array(&list, cuts->count, sizeof list[0]);
    size_t i;
    for (i = 0; i < cuts->count && status == PARAPET_OK; i++)
        list[i] = (shard_bytes){cuts->list[i].piece.shard, cuts->list[i].piece.bytes};
    if (cuts->count > 0 && status == PARAPET_OK)
        qsort(list, cuts->count, sizeof list[0], compare_shards);
    for (i = 0; i < cuts->count && status == PARAPET_OK; i++) {
        sum = i > 0 && list[i].shard == list[i - 1].shard ? sum + list[i].bytes : list[i].bytes;
        if (sum > most)
            status = pp_fail(PARAPET_ERR_MEMORY,
                             "memory_bytes is too small to keep %lld steps: one shard has %llu bytes of this rank in "
                             "each, and twice that must fit",
                             (long long)series->steps_per_row, (unsigned long long)sum);
    }
    pp_free(list);
    return status;
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
    for (i = 0; i < arena->pieces.count; i++) {
        const pp_series_piece *piece = &arena->pieces.list[i];
        for (step = 0; step < piece->box.count[0]; step++) {
            uint64_t offset = piece->offset + (uint64_t)step * piece->stride_bytes;
            pp_series_sum_put(arena->memory.data + offset, piece->bytes, offset);
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
static parapet_status prepare_logs(parapet_series *series, const pp_series_cuts *cuts)
{
    const pp_series_arena *arena = &series->arena;
    parapet_status status = check_largest(series, cuts);
    if (arena->is_staged && arena->step_count > 0)
        return pp_comm_agree(pp_store_comm(series->store), "moving open steps to storage", status);
    return pp_series_stage(series, status);
}

/* Packs into memory and appends whenever that is full; a piece is never larger. */
static parapet_status append_cuts(parapet_series *series, const pp_series_cuts *cuts)
{
    pp_series_arena *arena = &series->arena;
    size_t filled = 0, i;
    parapet_status status = open_log(series);
    for (i = 0; i < cuts->count && status == PARAPET_OK; i++) {
        const pp_series_cut *cut = &cuts->list[i];
        if (filled + cut->piece.bytes + PP_SERIES_SUM_BYTES > arena->memory.capacity) {
            status = pp_log_append(arena->log, arena->memory.data, filled);
            filled = 0;
        }
        pp_series_cut_copy(cut, pp_array_layout(series->arrays[cut->piece.array])->tiling.element_bytes,
                           arena->memory.data + filled);
        pp_series_sum_put(arena->memory.data + filled, cut->piece.bytes, cut->piece.offset);
        filled += cut->piece.bytes + PP_SERIES_SUM_BYTES;
    }
    return status == PARAPET_OK ? pp_log_append(arena->log, arena->memory.data, filled) : status;
}

static parapet_status append_step(parapet_series *series, const pp_series_cuts *cuts)
{
    pp_series_arena *arena = &series->arena;
    size_t largest = 0, room, i;
    parapet_status status;
    if (cuts->bytes == 0)
        return PARAPET_OK;
    for (i = 0; i < cuts->count; i++)
        largest = pp_max_size(largest, cuts->list[i].piece.bytes + PP_SERIES_SUM_BYTES);
    room = pp_max_size(largest, (size_t)pp_min_u64(cuts->bytes, pp_series_limit_bytes(series) / 2));
    if ((status = pp_buffer_ensure(&arena->memory, room, "a step on its way to storage")) == PARAPET_OK)
        status = append_cuts(series, cuts);
    return status;
}

static void pack(parapet_series *series, const pp_series_cuts *cuts)
{
    size_t i;
    for (i = 0; i < cuts->count; i++) {
        const pp_series_cut *cut = &cuts->list[i];
        pp_series_cut_copy(cut, pp_array_layout(series->arrays[cut->piece.array])->tiling.element_bytes,
                           series->arena.memory.data + cut->piece.offset);
    }
}

/* Everything that can fail before the step is packed. */
static parapet_status prepare(parapet_series *series, const pp_series_step *step, pp_series_cuts *cuts)
{
    parapet_status status = pp_series_cuts_init(cuts, series, step);
    size_t i;
    if (status != PARAPET_OK)
        return status;
    for (i = 0; i < cuts->count; i++)
        cuts->list[i].piece.offset += series->arena.used_bytes;
    return reserve_pieces(&series->arena.pieces, cuts->count);
}

/* [collective] */
static parapet_status store_cuts(parapet_series *series, const pp_series_cuts *cuts)
{
    parapet_status status = prepare_logs(series, cuts);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_comm_agree(pp_store_comm(series->store), "staging a step", append_step(series, cuts))) !=
        PARAPET_OK)
        close_log(&series->arena); /* opened again, it is cut behind what all ranks have kept */
    return status;
}

parapet_status pp_series_keep(parapet_series *series, const pp_series_step *step)
{
    pp_series_arena *arena = &series->arena;
    pp_series_cuts cuts;
    parapet_status status = prepare(series, step, &cuts);
    int64_t fits = status == PARAPET_OK && takes_memory(series, cuts.bytes);
    if ((status = pp_comm_agree_least(pp_store_comm(series->store), "keeping a step", status, &fits)) == PARAPET_OK) {
        if (fits) {
            arena->is_staged = false;
            pack(series, &cuts);
        } else {
            status = store_cuts(series, &cuts);
        }
    }
    if (status == PARAPET_OK) {
        keep_pieces(&arena->pieces, &cuts);
        arena->used_bytes += cuts.bytes;
        arena->step_count++;
    }
    pp_series_cuts_clear(&cuts);
    return status;
}
