/* pieces.h - what one rank and one owner exchange for a window of chunks, in an order that both compute
 * independently, so that a request names only the window.
 *
 * Pure. Depends on base and geometry. A window is a few chunks of one shard. Its pieces are what each chunk, in the
 * order of the window, has in common with each claim, in the order of parts. A piece larger than a message is divided
 * into slices along its slowest dimensions. Consecutive slices share a message, a fragment, as long as they fit. No
 * message is larger than the window, though a rank may want elements of it more than once. */
#ifndef PARAPET_PLAN_PIECES_H
#define PARAPET_PLAN_PIECES_H

#include "geometry/bands.h"
#include "plan/worklist.h"

#define PP_WINDOW_CHUNKS 64

typedef struct pp_window {
    int32_t target;
    int32_t chunk_count;
    int64_t shard;
    /* Elements in C order of the one chunk, of which the window is a band; both 0: the chunks are whole. */
    int64_t band_first, band_count;
    int64_t chunks[PP_WINDOW_CHUNKS]; /* numbers within the shard */
} pp_window;

/* What the window has of one of its chunks: all of it, or the band. */
void pp_window_chunk_box(const pp_window *window, const pp_tiling *tiling, int index, pp_box *box);

/* A slice of what a claim and a chunk have in common. */
typedef struct pp_piece {
    int index;    /* which chunk of the window */
    int64_t work; /* which record of the worklist */
    pp_box box;
} pp_piece;

typedef struct pp_pieces {
    const pp_claim_set *plan;
    const pp_worklist *list;
    const pp_window *window;
    size_t first, end;     /* the records of one rank for the shard */
    size_t fragment_bytes; /* upper limit of a fragment; at least one element */
    int index;             /* position of the walk */
    size_t work;
    bool is_piece_open; /* its slices are being returned */
    pp_bands slices;
    size_t fragment_left; /* bytes of the current fragment still to be returned */
} pp_pieces;

/* All slices of the window for records first to end: of one rank, or of all. */
void pp_pieces_init(pp_pieces *pieces, const pp_claim_set *plan, const pp_worklist *list, const pp_window *window,
                    size_t first, size_t end, size_t fragment_bytes);

/* The next slice, regardless of fragments; false: no more. */
bool pp_pieces_next(pp_pieces *pieces, pp_piece *piece);

/* Begins the next fragment and returns its bytes; 0: no more. */
size_t pp_pieces_begin_fragment(pp_pieces *pieces);

/* The next slice of the fragment that was begun; false: it is complete. */
bool pp_pieces_next_in_fragment(pp_pieces *pieces, pp_piece *piece);

/* Passes over so many fragments that have not begun, or over all. */
void pp_pieces_skip(pp_pieces *pieces, int64_t fragments);

/* Counts the data messages, and their bytes, of all fragments that have not begun. */
void pp_pieces_count(const pp_pieces *pieces, int64_t *fragments, int64_t *bytes);

/* How many chunks a window has: as many as make about a MiB, at least one. */
int pp_window_chunk_count(size_t chunk_bytes);

#endif
