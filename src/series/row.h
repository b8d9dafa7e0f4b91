/* row.h - the steps of a row are written, every shard once. */
#ifndef PARAPET_SERIES_ROW_H
#define PARAPET_SERIES_ROW_H

#include "series/step.h"
#include "series/step_pieces.h"

/* Reads the steps of a piece from the log, one after the other, and compares their checksums. target has room for one
 * more step. */
parapet_status pp_series_piece_read(const parapet_series *series, pp_reader *reader, const pp_series_piece *piece,
                                    unsigned char *target);

/* [collective] Writes the steps that are kept, and commits. */
parapet_status pp_series_write_row(parapet_series *series);

/* [collective] Writes a step that is a whole row from the caller's memory, and commits. */
parapet_status pp_series_write_step(parapet_series *series, const pp_series_step *step);

#endif
