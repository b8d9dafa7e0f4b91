#include "transfer/sieve.h"

#include <string.h>

#include "base/checked.h"
#include "comm/direct.h"
#include "geometry/strided.h"

/* Whole rows of a claim, which are one run if they lie densely, are fetched if no more than this times what is wanted
 * of them: a row costs as much as 6 KiB of a run. */
#define GAPS_MOST 4
/* Rows from this length on are copied as they are: the system's charge for a row is small against them. */
#define LONG_ROW_BYTES 8192

void pp_sieve_init(pp_sieve *sieve, pp_budget *budget, size_t most_bytes, int ndim_most)
{
    int i;
    memset(sieve, 0, sizeof *sieve);
    sieve->budget = budget;
    sieve->most_bytes = most_bytes;
    sieve->ndim_most = ndim_most;
    for (i = 0; i < PP_SIEVE_CLAIMS; i++)
        sieve->rows[i].work = -1;
}

void pp_sieve_forget(pp_sieve *sieve)
{
    int i;
    for (i = 0; i < PP_SIEVE_CLAIMS; i++) {
        sieve->rows[i].work = -1;
        sieve->rows[i].piece_count = 0;
        sieve->rows[i].collected = 0;
    }
}

void pp_sieve_free(pp_sieve *sieve)
{
    int i;
    for (i = 0; i < PP_SIEVE_CLAIMS; i++)
        pp_buffer_free(&sieve->rows[i].buffer);
    pp_sieve_forget(sieve);
}

/* The rows that the piece lies in, as far as the shard goes; when only fetching, the whole of the claim's rows if
 * these are one run and not much more. Returns their bytes; 0: not worth it. */
static size_t widen(const pp_sieve *sieve, const pp_sieve_piece *piece, bool fetches, pp_box *wide)
{
    const pp_move *move = piece->move;
    const int64_t *strides = pp_claim_strides(move->claim, move->ndim_most);
    int last = move->box->ndim - 1;
    pp_box claim, inside;
    if (sieve->most_bytes == 0 || last < 1 || strides[last] != (int64_t)move->element_bytes ||
        (size_t)move->box->count[last] * move->element_bytes >= LONG_ROW_BYTES)
        return 0;
    pp_claim_box(move->claim, move->ndim_most, last + 1, &claim);
    (void)pp_box_intersect(&claim, piece->shard_box, &inside);
    *wide = *move->box;
    wide->start[last] = inside.start[last];
    wide->count[last] = inside.count[last];
    if (fetches && claim.count[last] <= GAPS_MOST * inside.count[last] &&
        strides[last - 1] == claim.count[last] * strides[last]) {
        wide->start[last] = claim.start[last];
        wide->count[last] = claim.count[last];
    }
    if (wide->count[last] == move->box->count[last])
        return 0;
    return pp_align_up((size_t)pp_box_element_count(wide) * move->element_bytes, PP_PAGE_BYTES);
}

static pp_sieve_rows *find_rows(pp_sieve *sieve, int64_t work, const pp_box *wide)
{
    int i;
    for (i = 0; i < PP_SIEVE_CLAIMS; i++)
        if (sieve->rows[i].work == work && pp_box_equals(&sieve->rows[i].box, wide))
            return &sieve->rows[i];
    return NULL;
}

/* Where other rows go: an unused place as long as there is room, then the one used longest ago that is large enough,
 * so that memory is not taken and given back all the time. */
static pp_sieve_rows *choose_rows(pp_sieve *sieve, size_t bytes)
{
    pp_sieve_rows *oldest = &sieve->rows[0], *fitting = NULL;
    size_t held = 0;
    int i;
    for (i = 0; i < PP_SIEVE_CLAIMS; i++)
        held += sieve->rows[i].buffer.capacity;
    for (i = 0; i < PP_SIEVE_CLAIMS; i++) {
        pp_sieve_rows *rows = &sieve->rows[i];
        if (rows->buffer.capacity == 0 && held + bytes <= sieve->most_bytes)
            return rows;
        if (rows->used_at < oldest->used_at)
            oldest = rows;
        if (rows->buffer.capacity >= bytes && (fitting == NULL || rows->used_at < fitting->used_at))
            fitting = rows;
    }
    return fitting != NULL ? fitting : oldest;
}

/* Room for other rows, if need be at the cost of all that are not in use for collecting. */
static bool make_room(pp_sieve *sieve, pp_sieve_rows *rows, size_t bytes)
{
    size_t held = 0;
    int i;
    for (i = 0; i < PP_SIEVE_CLAIMS; i++)
        held += &sieve->rows[i] != rows ? sieve->rows[i].buffer.capacity : 0;
    for (i = 0; i < PP_SIEVE_CLAIMS && held + bytes > sieve->most_bytes; i++) {
        pp_sieve_rows *other = &sieve->rows[i];
        if (other == rows || other->piece_count > 0)
            continue;
        held -= other->buffer.capacity;
        other->work = -1;
        pp_buffer_free(&other->buffer);
    }
    if (held + bytes > sieve->most_bytes)
        return false;
    rows->buffer.budget = sieve->budget;
    return pp_buffer_ensure(&rows->buffer, bytes, "rows of other ranks") == PARAPET_OK;
}

/* Between the other process and some of the rows that are held. */
static bool copy_rows(const pp_sieve_rows *rows, int ndim_most, const pp_box *box, bool fetches)
{
    int64_t strides[PARAPET_MAX_NDIM];
    pp_move at = {.box = box, .claim = rows->claim, .ndim_most = ndim_most, .element_bytes = rows->element_bytes};
    pp_direct_copy copy = {
        .process = rows->process,
        .ndim = box->ndim,
        .element_bytes = rows->element_bytes,
        .count = box->count,
        .local_strides = strides,
        .remote = pp_move_address(&at),
        .remote_strides = pp_claim_strides(rows->claim, ndim_most),
    };
    pp_strides_c_order(box->ndim, rows->box.count, rows->element_bytes, strides);
    copy.local = rows->buffer.data + pp_strides_offset(&rows->box, strides, box->start);
    return fetches ? pp_direct_read(&copy) : pp_direct_write(&copy);
}

/* Between the rows that are held and the chunk. */
static void move_piece(const pp_sieve_rows *rows, const pp_move *move, pp_direction direction)
{
    int64_t words[PP_CLAIM_GEOMETRY + 3 * PARAPET_MAX_NDIM], strides[PARAPET_MAX_NDIM];
    pp_move own = *move;
    pp_strides_c_order(rows->box.ndim, rows->box.count, move->element_bytes, strides);
    pp_claim_write(words, move->ndim_most, 0, 0, 0, &rows->box, rows->buffer.data, strides);
    own.claim = words;
    pp_move_own(&own, direction);
}

static void take_over(pp_sieve *sieve, pp_sieve_rows *rows, const pp_sieve_piece *piece, const pp_box *wide)
{
    size_t words = pp_claim_word_count(sieve->ndim_most);
    rows->work = piece->work;
    rows->box = *wide;
    rows->process = piece->process;
    rows->element_bytes = piece->move->element_bytes;
    rows->piece_count = 0;
    rows->collected = 0;
    memcpy(rows->claim, piece->move->claim, words * sizeof rows->claim[0]);
}

bool pp_sieve_gather(pp_sieve *sieve, const pp_sieve_piece *piece)
{
    pp_box wide;
    size_t bytes = widen(sieve, piece, true, &wide);
    pp_sieve_rows *rows = bytes > 0 ? find_rows(sieve, piece->work, &wide) : NULL;
    if (bytes == 0)
        return pp_move_direct(piece->move, PP_WRITING, piece->process);
    if (rows == NULL) {
        rows = choose_rows(sieve, bytes);
        rows->work = -1;
        if (!make_room(sieve, rows, bytes))
            return pp_move_direct(piece->move, PP_WRITING, piece->process);
        take_over(sieve, rows, piece, &wide);
        if (!copy_rows(rows, sieve->ndim_most, &wide, true)) {
            rows->work = -1;
            return false;
        }
    }
    rows->used_at = ++sieve->uses;
    move_piece(rows, piece->move, PP_WRITING);
    return true;
}

static bool flush_rows(const pp_sieve *sieve, pp_sieve_rows *rows)
{
    bool is_done = true;
    int i, count = rows->piece_count;
    if (count > 0 && rows->collected == pp_box_element_count(&rows->box))
        is_done = copy_rows(rows, sieve->ndim_most, &rows->box, false);
    else
        for (i = 0; i < count && is_done; i++)
            is_done = copy_rows(rows, sieve->ndim_most, &rows->pieces[i], false);
    rows->work = -1;
    rows->piece_count = 0;
    rows->collected = 0;
    return is_done;
}

bool pp_sieve_flush(pp_sieve *sieve)
{
    bool is_done = true;
    int i;
    for (i = 0; i < PP_SIEVE_CLAIMS && is_done; i++)
        is_done = flush_rows(sieve, &sieve->rows[i]);
    pp_sieve_forget(sieve);
    return is_done;
}

bool pp_sieve_scatter(pp_sieve *sieve, const pp_sieve_piece *piece)
{
    pp_box wide;
    size_t bytes = widen(sieve, piece, false, &wide);
    pp_sieve_rows *rows = bytes > 0 ? find_rows(sieve, piece->work, &wide) : NULL;
    if (bytes == 0)
        return pp_move_direct(piece->move, PP_READING, piece->process);
    if (rows == NULL) {
        rows = choose_rows(sieve, bytes);
        if (!flush_rows(sieve, rows))
            return false;
        if (!make_room(sieve, rows, bytes))
            return pp_move_direct(piece->move, PP_READING, piece->process);
        take_over(sieve, rows, piece, &wide);
    }
    rows->used_at = ++sieve->uses;
    move_piece(rows, piece->move, PP_READING);
    rows->collected += pp_box_element_count(piece->move->box);
    rows->pieces[rows->piece_count++] = *piece->move->box;
    if (rows->collected == pp_box_element_count(&rows->box) || rows->piece_count == PP_SIEVE_PIECES)
        return flush_rows(sieve, rows);
    return true;
}
