/* sieve.h - wide copies from and to the memory of other processes.
 *
 * The rows of a chunk are short, and the system charges for every row: 64^3 doubles cost 4,096 rows of 512 bytes, at
 * some 0.6 us each. But their neighbours in the same rows of a claim belong to the next chunks of the shard. Reading:
 * whole rows are fetched at once, and kept for those chunks. Writing: pieces are collected until whole rows are
 * complete. One per worker; a few claims at a time; bounded memory. If rows are already long, or memory is short,
 * pieces are copied as they are. */
#ifndef PARAPET_TRANSFER_SIEVE_H
#define PARAPET_TRANSFER_SIEVE_H

#include "base/budget.h"
#include "transfer/move.h"

#define PP_SIEVE_CLAIMS 8
#define PP_SIEVE_PIECES 64

/* Rows of one claim. */
typedef struct pp_sieve_rows {
    int64_t work; /* whose; -1: nobody's */
    pp_box box;   /* which */
    pp_buffer buffer;
    long used_at;
    /* Writing: what was collected, and for which claim. */
    int64_t claim[PP_CLAIM_GEOMETRY + 3 * PARAPET_MAX_NDIM];
    int64_t process;
    size_t element_bytes;
    pp_box pieces[PP_SIEVE_PIECES];
    int piece_count;
    int64_t collected; /* elements */
} pp_sieve_rows;

typedef struct pp_sieve {
    pp_budget *budget;
    size_t most_bytes; /* of all rows together; 0: copy everything as it is */
    long uses;
    int ndim_most;
    pp_sieve_rows rows[PP_SIEVE_CLAIMS];
} pp_sieve;

/* A piece, and what it is a piece of. */
typedef struct pp_sieve_piece {
    const pp_move *move;
    int64_t process;
    int64_t work;            /* number of the claim's record in the worklist */
    const pp_box *shard_box; /* chunks of this shard follow */
} pp_sieve_piece;

void pp_sieve_init(pp_sieve *sieve, pp_budget *budget, size_t most_bytes, int ndim_most);
void pp_sieve_free(pp_sieve *sieve);

/* Copies the piece into its chunk. false: the system refuses. */
bool pp_sieve_gather(pp_sieve *sieve, const pp_sieve_piece *piece);

/* Copies the piece out of its chunk, now or at the next flush. false: the system refuses; what was collected and not
 * copied is discarded. */
bool pp_sieve_scatter(pp_sieve *sieve, const pp_sieve_piece *piece);
bool pp_sieve_flush(pp_sieve *sieve);

/* Discards what it holds, because the memory of other ranks may change. */
void pp_sieve_forget(pp_sieve *sieve);

#endif
