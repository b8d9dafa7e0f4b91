/* request_cost.h - what a request to a store costs beside its bytes, measured once per store and rank: on it depends
 * which holes between wanted bytes are read and which are skipped (plan/stretch.h). */
#ifndef PARAPET_TRANSFER_REQUEST_COST_H
#define PARAPET_TRANSFER_REQUEST_COST_H

#include <stdatomic.h>

#include "base/text.h"
#include "store/store.h"

/* Pieces by which a request is measured, and the smallest stretch in which that can be done. */
#define PP_COST_PIECE_BYTES ((size_t)8 << 10)
#define PP_COST_STRETCH_BYTES ((size_t)512 << 10)

/* Of so many requests storage is told before they are read, where that pays: enough to keep a disk busy. */
#define PP_REQUESTS_AHEAD 32

/* All zero: not measured yet. Threads may use it at the same time. */
typedef struct pp_request_cost {
    bool reads_holes, skips_holes;     /* the option holes leaves no choice */
    _Atomic(int64_t) request_ns;       /* of a request, beside its bytes, as reads make them */
    _Atomic(int64_t) alone_ns;         /* of one that storage is not told of ahead */
    _Atomic(int64_t) bytes_per_second; /* 0: not measured yet */
} pp_request_cost;

bool pp_request_cost_is_known(const pp_request_cost *cost);

/* Notes what was measured; the first measurement stays. alone_seconds: of a request that storage is not told of
 * ahead; request_seconds: of one that it is told of, where that pays. */
void pp_request_cost_note(pp_request_cost *cost, double request_seconds, double alone_seconds,
                          double bytes_per_second);

/* A stretch of an object to measure with. */
typedef struct pp_cost_stretch {
    pp_reader *reader;
    uint64_t offset;
    size_t bytes;
    unsigned char *buffer; /* has room for it, and is left with anything in it */
} pp_cost_stretch;

/* What was read in order to measure. */
typedef struct pp_cost_spent {
    int64_t requests, bytes;
} pp_cost_spent;

/* Measures, unless that was done before or the stretch is too short. Nobody may want what is read for it: if that
 * fails, the cost stays unknown, and there is no failure. */
pp_cost_spent pp_request_cost_measure(pp_request_cost *cost, const pp_cost_stretch *stretch);

/* The longest hole that is read, at least a page where there is a choice; cost NULL or not known: that of an ordinary
 * disk. */
size_t pp_request_cost_gap(const pp_request_cost *cost);

/* Whether a request takes so long that storage should be told of the next ones meanwhile. */
bool pp_request_cost_pays_ahead(const pp_request_cost *cost);

/* "a request takes 85.0 us, bytes 1000 MB/s (measured): holes of up to 85000 bytes are read", without an end of line.
 */
void pp_request_cost_print(const pp_request_cost *cost, pp_text *text);

#endif
