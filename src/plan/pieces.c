#include "plan/pieces.h"

#include "base/checked.h"

#define WINDOW_BYTES ((size_t)1 << 20)

/* What the window holds, whether it is in the array or not; chunks that are not stored may be of any size. */
static size_t window_bytes(const pp_window *window, const pp_tiling *tiling)
{
    int64_t elements = window->band_count;
    size_t bytes;
    if (elements == 0 && !pp_multiply_fits(window->chunk_count, pp_grid_cell_elements(&tiling->chunks), &elements))
        return SIZE_MAX;
    return pp_multiply_size_fits((size_t)elements, tiling->element_bytes, &bytes) ? bytes : SIZE_MAX;
}

void pp_pieces_init(pp_pieces *pieces, const pp_claim_set *plan, const pp_worklist *list, const pp_window *window,
                    size_t first, size_t end, size_t fragment_bytes)
{
    *pieces = (pp_pieces){
        .plan = plan,
        .list = list,
        .window = window,
        .first = first,
        .end = end,
        .fragment_bytes = pp_min_size(fragment_bytes, window_bytes(window, plan->targets[window->target].tiling)),
        .work = first,
    };
}

static const pp_tiling *tiling_of(const pp_pieces *pieces)
{
    return pieces->plan->targets[pieces->window->target].tiling;
}

void pp_window_chunk_box(const pp_window *window, const pp_tiling *tiling, int index, pp_box *box)
{
    pp_box band, whole;
    pp_tiling_chunk_box(tiling, window->shard, window->chunks[index], box);
    if (window->band_count == 0)
        return;
    pp_tiling_chunk_whole_box(tiling, window->shard, window->chunks[index], &whole);
    pp_band_of_run(&whole, window->band_first, window->band_count, &band);
    (void)pp_box_intersect(box, &band, box);
}

/* Opens what the current chunk and the current record have in common; false: nothing. */
static bool open_piece(pp_pieces *pieces)
{
    const pp_work *work = &pieces->list->work[pieces->work];
    const pp_claims *claims = pieces->plan->claims;
    int64_t chunk = pieces->window->chunks[pieces->index];
    pp_box whole, claimed;
    if (work->claim == PP_NO_CLAIM || chunk < work->first_chunk || chunk > work->last_chunk)
        return false;
    pp_window_chunk_box(pieces->window, tiling_of(pieces), pieces->index, &whole);
    pp_claim_box(pp_claims_at(claims, (size_t)work->claim), claims->ndim_most, whole.ndim, &claimed);
    if (!pp_box_intersect(&whole, &claimed, &whole))
        return false;
    pp_bands_init(&pieces->slices, &whole, &whole, tiling_of(pieces)->element_bytes, pieces->fragment_bytes);
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

bool pp_pieces_next(pp_pieces *pieces, pp_piece *piece)
{
    if (!find_piece(pieces))
        return false;
    *piece = (pp_piece){.index = pieces->index, .work = (int64_t)pieces->work};
    (void)pp_bands_next(&pieces->slices, &piece->box);
    pieces->is_piece_open = pieces->slices.more;
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

void pp_pieces_skip(pp_pieces *pieces, int64_t fragments)
{
    pp_piece piece;
    for (; fragments > 0 && pp_pieces_begin_fragment(pieces) > 0; fragments--)
        while (pp_pieces_next_in_fragment(pieces, &piece))
            continue;
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
