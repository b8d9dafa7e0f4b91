/* claims.h - who holds what: a claim is one part of one rank in a transfer, and where it is in that rank's memory.
 *
 * Pure. Depends on base and geometry. Claims travel between ranks as they are stored: rows of 64-bit words, all of
 * one length, taken from the budget. The arrays of a transfer are its targets; an array with fewer dimensions than
 * the largest leaves words unused. */
#ifndef PARAPET_PLAN_CLAIMS_H
#define PARAPET_PLAN_CLAIMS_H

#include "base/list.h"
#include "geometry/tiling.h"
#include "plan/lattice.h"

/* One array of a transfer. */
typedef struct pp_target {
    const pp_tiling *tiling;
    const pp_lattice *lattice; /* where the homes of its shards are */
    const pp_turns *turns;     /* of the servers, for which the lattice was chosen; NULL: one each, in their order */
    bool may_read_again;       /* to read a chunk is to copy it: several ranks may read the same one */
} pp_target;

/* The words of a claim; then ndim_most words each of start, count and strides in bytes. */
enum { PP_CLAIM_TARGET, PP_CLAIM_RANK, PP_CLAIM_PART, PP_CLAIM_ADDRESS, PP_CLAIM_GEOMETRY };

typedef struct pp_claims {
    pp_list list;
    int ndim_most;
} pp_claims;

void pp_claims_init(pp_claims *claims, int ndim_most, pp_budget *budget);
void pp_claims_clear(pp_claims *claims);

size_t pp_claim_word_count(int ndim_most);
const int64_t *pp_claims_at(const pp_claims *claims, size_t index);

/* Adds a claim that arrived as words. */
parapet_status pp_claims_add(pp_claims *claims, const int64_t *words);

/* Writes a claim into words. strides has box->ndim entries. */
void pp_claim_write(int64_t *words, int ndim_most, int target, int rank, int64_t part, const pp_box *box,
                    const void *data, const int64_t *strides);

void pp_claim_box(const int64_t *words, int ndim_most, int ndim, pp_box *box);
const int64_t *pp_claim_strides(const int64_t *words, int ndim_most);

/* Sorts by target, rank and part, and removes duplicates. */
parapet_status pp_claims_sort_unique(pp_claims *claims);

/* The claim of the same target, rank and part as that of the words, among claims that are sorted; NULL: none. */
int64_t *pp_claims_find(const pp_claims *claims, const int64_t *words);

#endif
