/* runs.h - reads the bytes of a place, as if they were one after the other. */
#ifndef PARAPET_FOREIGN_RUNS_H
#define PARAPET_FOREIGN_RUNS_H

#include "foreign/places.h"
#include "store/store.h"

/* Fills target with bytes from offset of the place; what is after its runs is zero. */
parapet_status pp_place_read(pp_reader *file, const pp_place *place, uint64_t offset, size_t bytes,
                             unsigned char *target);

#endif
