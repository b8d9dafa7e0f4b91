#include "plan/pieces.h"

#include <string.h>

#include "base/checked.h"

#define WINDOW_BYTES ((size_t)1 << 20)

void pp_pieces_init(pp_pieces *pieces, const pp_claim_set *plan, const pp_worklist *list, const pp_window *window,
                    size_t first, size_t end, size_t fragment_bytes)
{
    *pieces = (pp_pieces){
        .plan = plan,
        .list = list,
        .window = window,
        .first = first,
        .end = end,
        .fragment_bytes = fragment_bytes,
        .work = first,
    };
}

static const pp_tiling *tiling_of(const pp_pieces *pieces)
{
    return pieces->plan->targets[pieces->window->target].tiling;
}

/* Opens what the current chunk and the current record have in common; false: nothing. */
static bool open_piece(pp_pieces *pieces)
{
    const pp_work *work = &pieces->list->work[pieces->work];
    const pp_claims *claims = pieces->plan->claims;
    int64_t chunk = pieces->window->chunks[pieces->index];
    pp_box claimed;
    if (work->claim == PP_NO_CLAIM || chunk < work->first_chunk || chunk > work->last_chunk)
        return false;
    pp_tiling_chunk_box(tiling_of(pieces), pieces->window->shard, chunk, &pieces->whole);
    pp_claim_box(pp_claims_at(claims, (size_t)work->claim), claims->ndim_most, pieces->whole.ndim, &claimed);
    if (!pp_box_intersect(&pieces->whole, &claimed, &pieces->whole))
        return false;
    memcpy(pieces->slice_cell, pieces->whole.start, sizeof pieces->slice_cell);
    return true;
}

static void pass_record(pp_pieces *pieces)
{
    pieces->work++;
    if (pieces->work < pieces->end)
        return;
    pieces->work = pieces->first;
    pieces->index++;
}

static bool find_piece(pp_pieces *pieces)
{
    while (!pieces->is_piece_open && pieces->first < pieces->end && pieces->index < pieces->window->chunk_count) {
        pieces->is_piece_open = open_piece(pieces);
        if (!pieces->is_piece_open)
            pass_record(pieces);
    }
    return pieces->is_piece_open;
}

/* The dimension along which a piece is cut, and how many rows of it a slice has; -1: the piece is one slice. The
 * dimensions after it are whole in every slice, those before it have one row. */
static int find_cut(const pp_box *whole, size_t element_bytes, size_t fragment_bytes, int64_t *rows)
{
    size_t row_bytes = element_bytes;
    int d;
    for (d = whole->ndim - 1; d >= 0; d--) {
        size_t fitting = fragment_bytes / row_bytes;
        if ((size_t)whole->count[d] > fitting) {
            *rows = (int64_t)pp_max_size(fitting, 1);
            return d;
        }
        row_bytes *= (size_t)whole->count[d];
    }
    return -1;
}

/* Moves on to the next slice in C order; false: that was the last. */
static bool pass_slice(pp_pieces *pieces, int cut, int64_t rows)
{
    int d;
    for (d = cut; d >= 0; d--) {
        pieces->slice_cell[d] += d == cut ? rows : 1;
        if (pieces->slice_cell[d] < pieces->whole.start[d] + pieces->whole.count[d])
            return true;
        pieces->slice_cell[d] = pieces->whole.start[d];
    }
    return false;
}

bool pp_pieces_next(pp_pieces *pieces, pp_piece *piece)
{
    int64_t rows = 1;
    int cut, d;
    if (!find_piece(pieces))
        return false;
    cut = find_cut(&pieces->whole, tiling_of(pieces)->element_bytes, pieces->fragment_bytes, &rows);
    *piece = (pp_piece){.index = pieces->index, .work = (int64_t)pieces->work, .box = pieces->whole};
    for (d = 0; d <= cut; d++) {
        int64_t left = pieces->whole.start[d] + pieces->whole.count[d] - pieces->slice_cell[d];
        piece->box.start[d] = pieces->slice_cell[d];
        piece->box.count[d] = d == cut ? pp_min_i64(rows, left) : 1;
    }
    pieces->is_piece_open = pass_slice(pieces, cut, rows);
    if (!pieces->is_piece_open)
        pass_record(pieces);
    return true;
}

static size_t piece_bytes(const pp_pieces *pieces, const pp_piece *piece)
{
    return (size_t)pp_box_element_count(&piece->box) * tiling_of(pieces)->element_bytes;
}

size_t pp_pieces_begin_fragment(pp_pieces *pieces)
{
    pp_pieces ahead;
    pp_piece piece;
    size_t bytes = 0;
    while (pp_pieces_next_in_fragment(pieces, &piece))
        continue;
    ahead = *pieces;
    while (pp_pieces_next(&ahead, &piece)) {
        size_t more = piece_bytes(pieces, &piece);
        if (bytes > 0 && more > pieces->fragment_bytes - bytes)
            break;
        bytes += more;
        if (bytes >= pieces->fragment_bytes)
            break;
    }
    pieces->fragment_left = bytes;
    return bytes;
}

bool pp_pieces_next_in_fragment(pp_pieces *pieces, pp_piece *piece)
{
    if (pieces->fragment_left == 0 || !pp_pieces_next(pieces, piece))
        return false;
    pieces->fragment_left -= piece_bytes(pieces, piece);
    return true;
}

void pp_pieces_count(const pp_pieces *pieces, int64_t *fragments, int64_t *bytes)
{
    pp_pieces left = *pieces;
    size_t more;
    *fragments = 0;
    *bytes = 0;
    while ((more = pp_pieces_begin_fragment(&left)) > 0) {
        *fragments += 1;
        *bytes += (int64_t)more;
    }
}

int pp_window_chunk_count(size_t chunk_bytes)
{
    size_t fitting = WINDOW_BYTES / pp_max_size(chunk_bytes, 1);
    return (int)pp_min_size(pp_max_size(fitting, 1), PP_WINDOW_CHUNKS);
}
