/* cutter.h - a step is cut at the bounds of shards. */
#ifndef PARAPET_SERIES_CUTTER_H
#define PARAPET_SERIES_CUTTER_H

#include "series/step.h"
#include "series/step_pieces.h"

/* Cuts a step at the bounds of shards, one piece after the other, because there may be more pieces than fit in
 * memory. */
typedef struct pp_series_cutter {
    const parapet_series *series;
    const pp_series_step *step;
    int array, part;      /* that is being cut */
    pp_grid shards;       /* of the array, with a row for the step */
    uint64_t first_shard; /* of the array, among those of all arrays */
    uint64_t offset;      /* of the next piece */
    bool is_cutting;
    pp_part whole; /* the part, and the shards that it touches */
    pp_box cells;
    int64_t cell[PARAPET_MAX_NDIM];
    pp_series_piece piece; /* what was cut last */
} pp_series_cutter;

/* The step begins at offset in the arena. */
void pp_series_cutter_init(pp_series_cutter *cutter, const parapet_series *series, const pp_series_step *step,
                           uint64_t offset);

/* The next piece; false: there is none. */
bool pp_series_cutter_next(pp_series_cutter *cutter);

/* Packs the piece. */
void pp_series_cutter_copy(const pp_series_cutter *cutter, unsigned char *target);

#endif
