/* row.c - writing the steps of a row: all of it as one transfer, or, where it does not fit in memory, some
 * shards after the other; every shard once. */
#include "series/row.h"

#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/part_calls.h"
#include "array/store_queries.h"
#include "base/checked.h"
#include "series/arena.h"
#include "series/commit.h"
#include "series/series_handle.h"
#include "series/step.h"
#include "series/step_pieces.h"
#include "series/sums.h"

/* How the shards of a row are shared out. */
typedef struct row_sharing {
    uint64_t count; /* shares */
    uint64_t shards;
} row_sharing;

/* One transfer's share of a row. */
typedef struct row_share {
    const row_sharing *sharing; /* NULL: it is all of it */
    uint64_t number;
    parapet_array_parts *list;
    pp_list parts;    /* of parapet_part */
    pp_list strides;  /* of those; they have room for the most dimensions of an array */
    pp_buffer memory; /* staged: its pieces */
} row_share;

/* Neighbouring shards are mostly of one rank: they are spread, so that all ranks have something in every share. */
static uint64_t share_of(uint64_t shard, const row_sharing *sharing)
{
    if (sharing->count >= sharing->shards)
        return shard;
    return (shard * UINT64_C(0x9E3779B97F4A7C15) >> 32) % sharing->count;
}

static size_t piece_bytes(const pp_series_piece *piece)
{
    return piece->bytes * (size_t)piece->box.count[0];
}

/* The most bytes of a share on this rank. */
static parapet_status largest_share(const parapet_series *series, const row_sharing *sharing, int64_t *largest)
{
    const pp_series_pieces *pieces = &series->arena.pieces;
    int64_t *bytes = NULL;
    parapet_status status = pp_allocate_array(&bytes, (size_t)sharing->count, sizeof bytes[0]);
    pp_series_piece piece;
    size_t i;
    *largest = 0;
    for (i = 0; i < pieces->list.count && status == PARAPET_OK; i++) {
        int64_t *sum;
        pp_series_pieces_at(pieces, i, &piece);
        sum = &bytes[share_of(piece.shard, sharing)];
        *sum += (int64_t)piece_bytes(&piece);
        *largest = pp_max_i64(*largest, *sum);
    }
    pp_free(bytes);
    return status;
}

/* [collective] Chooses so many shares that each fits in memory on every rank. */
static parapet_status share_out(const parapet_series *series, row_sharing *sharing)
{
    int64_t limit = (int64_t)pp_series_limit_bytes(series), largest, left;
    int64_t wanted = -1 - (int64_t)(series->arena.used_bytes / (uint64_t)limit);
    pp_comm *comm = pp_store_comm(series->store);
    parapet_status status = pp_comm_agree_min(comm, "sharing out a row", PARAPET_OK, &wanted);
    sharing->shards = pp_series_count_shards(series);
    for (sharing->count = (uint64_t)-wanted; status == PARAPET_OK; sharing->count += 1 + sharing->count / 4) {
        sharing->count = pp_min_u64(sharing->count, sharing->shards);
        status = largest_share(series, sharing, &largest);
        left = limit - largest;
        if ((status = pp_comm_agree_min(comm, "sharing out a row", status, &left)) != PARAPET_OK || left >= 0)
            return status;
        if (sharing->count == sharing->shards)
            return pp_fail(
                PARAPET_ERR_MEMORY,
                "memory_bytes is too small: the part of one shard that a rank holds must fit in half of it; "
                "set memory_bytes to at least %lld",
                2 * (long long)(limit - left));
    }
    return status;
}

static void clear_share(row_share *share)
{
    pp_budget_expect(share->parts.budget, 0);
    pp_buffer_free(&share->memory);
    pp_free(share->list);
    pp_list_clear(&share->parts);
    pp_list_clear(&share->strides);
}

static bool has_piece(const row_share *share, const pp_series_piece *piece)
{
    return share->sharing == NULL || share_of(piece->shard, share->sharing) == share->number;
}

static parapet_status build_share(row_share *share, const parapet_series *series)
{
    const pp_series_arena *arena = &series->arena;
    pp_budget *budget = pp_store_budget(series->store);
    size_t count = 0, bytes = 0, i;
    pp_series_piece piece;
    parapet_status status;
    for (i = 0; i < arena->pieces.list.count; i++) {
        pp_series_pieces_at(&arena->pieces, i, &piece);
        if (has_piece(share, &piece)) {
            count++;
            bytes += piece_bytes(&piece);
        }
    }
    pp_list_init(&share->parts, sizeof(parapet_part), budget, "the parts of open steps");
    pp_list_init(&share->strides, (size_t)arena->pieces.ndim_most * sizeof(int64_t), budget,
                 "the parts of open steps");
    pp_budget_expect(budget, bytes + pp_series_write_bytes(series, count));
    if ((status = pp_allocate_array(&share->list, (size_t)series->count, sizeof share->list[0])) != PARAPET_OK ||
        (status = pp_list_reserve(&share->parts, count)) != PARAPET_OK ||
        (status = pp_list_reserve(&share->strides, count)) != PARAPET_OK)
        return status;
    return arena->is_staged && bytes > 0
               ? pp_buffer_init(&share->memory, budget, bytes + PP_SERIES_SUM_BYTES, "open steps")
               : PARAPET_OK;
}

static parapet_status refuse_damage(const parapet_series *series, const pp_series_piece *piece, int64_t step)
{
    return pp_fail(
        PARAPET_ERR_CORRUPT,
        "step %lld of \"%s\" does not match its checksum in %s: the file was changed or storage has damaged "
        "it; nothing of the row is committed; close the series, open it again and append from step %lld on",
        (long long)(piece->box.start[0] + step), pp_array_path(series->arrays[piece->array]), series->arena.key,
        (long long)series->steps_committed);
}

/* The next step overwrites the checksum of the one before it. */
parapet_status pp_series_piece_read(const parapet_series *series, pp_reader *reader, const pp_series_piece *piece,
                                    unsigned char *target)
{
    parapet_status status;
    int64_t i;
    for (i = 0; i < piece->box.count[0]; i++) {
        uint64_t offset = piece->offset + (uint64_t)i * piece->stride_bytes;
        unsigned char *data = target + (size_t)i * piece->bytes;
        if (offset + piece->bytes + PP_SERIES_SUM_BYTES > reader->bytes)
            return refuse_damage(series, piece, i);
        if ((status = pp_reader_read(reader, offset, piece->bytes + PP_SERIES_SUM_BYTES, data)) != PARAPET_OK)
            return status;
        if (!pp_series_sum_fits(data, piece->bytes, offset))
            return refuse_damage(series, piece, i);
    }
    return PARAPET_OK;
}

/* A piece as a part of its array, behind those that the share has; filled is how much of its memory is. */
static parapet_status place_piece(row_share *share, const parapet_series *series, size_t index, pp_reader *reader,
                                  size_t *filled)
{
    const pp_series_arena *arena = &series->arena;
    pp_series_piece piece;
    int64_t strides[PARAPET_MAX_NDIM] = {0};
    unsigned char *data = reader != NULL ? share->memory.data + *filled : NULL;
    parapet_status status = PARAPET_OK;
    pp_series_pieces_at(&arena->pieces, index, &piece);
    pp_strides_c_order(piece.box.ndim, piece.box.count,
                       pp_array_layout(series->arrays[piece.array])->tiling.element_bytes, strides);
    if (reader != NULL) {
        status = pp_series_piece_read(series, reader, &piece, data);
        *filled += piece_bytes(&piece);
    } else {
        data = arena->memory.data + piece.offset;
        strides[0] = (int64_t)piece.stride_bytes;
    }
    if (status != PARAPET_OK || (status = pp_list_add(&share->strides, strides)) != PARAPET_OK)
        return status;
    return pp_list_add(&share->parts,
                       &(parapet_part){.ndim = piece.box.ndim,
                                       .start = pp_series_pieces_start(&arena->pieces, index),
                                       .count = pp_series_pieces_count(&arena->pieces, index),
                                       .data = data,
                                       .strides_bytes = pp_list_at(&share->strides, share->strides.count - 1)});
}

/* Where the pieces of a share are, as parts of the arrays; the lists have room for them. */
static parapet_status place_pieces(row_share *share, const parapet_series *series, pp_reader *reader)
{
    const pp_series_pieces *pieces = &series->arena.pieces;
    size_t filled = 0, i;
    parapet_status status = PARAPET_OK;
    pp_series_piece piece;
    int array;
    for (array = 0; array < series->count; array++) {
        size_t first = share->parts.count;
        for (i = 0; i < pieces->list.count && status == PARAPET_OK; i++) {
            pp_series_pieces_at(pieces, i, &piece);
            if (piece.array == array && has_piece(share, &piece))
                status = place_piece(share, series, i, reader, &filled);
        }
        share->list[array] = (parapet_array_parts){.array = series->arrays[array],
                                                   .parts = pp_list_at(&share->parts, first),
                                                   .part_count = (int)(share->parts.count - first)};
    }
    return status;
}

static parapet_status fill_share(row_share *share, const parapet_series *series)
{
    const pp_series_arena *arena = &series->arena;
    pp_reader *reader = NULL;
    parapet_status status = build_share(share, series);
    if (status == PARAPET_OK && arena->is_staged && arena->used_bytes > 0)
        status = pp_store_open_object(pp_store_backend(series->store), arena->key, &reader);
    if (status == PARAPET_OK)
        status = place_pieces(share, series, reader);
    pp_reader_free(reader);
    return status;
}

/* [collective] All of the row stays here, and no document speaks of it: what was published in part is written again.
 */
static parapet_status write_list(parapet_series *series, const parapet_array_parts *list, const int64_t *step)
{
    return pp_arrays_write_repeatable(list, series->count, step, &series->shards_written);
}

/* [collective] sharing NULL: all at once. */
static parapet_status write_share(parapet_series *series, const row_sharing *sharing, uint64_t number)
{
    row_share share = {.sharing = sharing, .number = number};
    parapet_status status =
        pp_comm_agree(pp_store_comm(series->store), "preparing a row", fill_share(&share, series));
    if (status == PARAPET_OK)
        status = write_list(series, share.list, NULL);
    clear_share(&share);
    return status;
}

/* [collective] */
static parapet_status write_shares(parapet_series *series, const row_sharing *sharing)
{
    uint64_t number;
    parapet_status status = PARAPET_OK;
    for (number = 0; number < sharing->count && status == PARAPET_OK; number++)
        status = write_share(series, sharing, number);
    return status;
}

/* [collective] Shares of half of the limit may leave too little to write large chunks: smaller ones leave more. */
static parapet_status write_staged(parapet_series *series)
{
    row_sharing sharing = {0};
    parapet_status status;
    pp_buffer_free(&series->arena.memory);
    if ((status = share_out(series, &sharing)) != PARAPET_OK)
        return status;
    while ((status = write_shares(series, &sharing)) == PARAPET_ERR_MEMORY && sharing.count < sharing.shards)
        sharing.count = pp_min_u64(2 * sharing.count, sharing.shards);
    return status;
}

/* [collective] A row in memory that leaves too little to write it goes to the logs first: its steps were taken. */
static parapet_status write_kept(parapet_series *series)
{
    parapet_status status;
    if (!series->arena.is_staged) {
        if ((status = write_share(series, NULL, 0)) != PARAPET_ERR_MEMORY ||
            (status = pp_series_stage(series, PARAPET_OK)) != PARAPET_OK)
            return status;
    }
    return write_staged(series);
}

/* [collective] What could not be committed is, in memory too, as if it had not been written. */
static parapet_status finish(parapet_series *series, parapet_status status)
{
    if (status == PARAPET_OK)
        status = pp_series_commit(series);
    if (status != PARAPET_OK) {
        pp_failure failure = {0};
        pp_failure_take(&failure, status);
        (void)pp_series_set_steps(series, series->steps_committed); /* as it was before: cannot fail */
        return pp_failure_put(&failure);
    }
    if (series->steps % series->steps_per_row == 0)
        pp_series_arena_reset(series);
    return PARAPET_OK;
}

parapet_status pp_series_write_row(parapet_series *series)
{
    parapet_status status;
    if ((status = pp_series_set_steps(series, series->steps)) == PARAPET_OK &&
        (status = pp_series_announce(series, series->steps, true)) == PARAPET_OK)
        status = write_kept(series);
    return finish(series, status);
}

parapet_status pp_series_write_step(parapet_series *series, const pp_series_step *step)
{
    parapet_array_parts *list = NULL;
    parapet_status status = pp_allocate_array(&list, (size_t)series->count, sizeof list[0]);
    int i;
    for (i = 0; i < series->count && status == PARAPET_OK; i++)
        list[i] = (parapet_array_parts){
            .array = series->arrays[i], .parts = step->parts[i].given, .part_count = step->parts[i].count};
    status = pp_comm_agree(pp_store_comm(series->store), "preparing a step", status);
    if (status == PARAPET_OK && (status = pp_series_set_steps(series, series->steps + 1)) == PARAPET_OK &&
        (status = pp_series_announce(series, series->steps + 1, false)) == PARAPET_OK)
        status = write_list(series, list, &series->steps);
    series->steps++;
    status = finish(series, status);
    if (status != PARAPET_OK)
        series->steps--;
    pp_free(list);
    return status;
}
