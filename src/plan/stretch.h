/* stretch.h - a stretch of stored bytes of which only some are wanted, and the requests by which these are read.
 *
 * Pure. Depends on base and geometry. Every request takes some time, and so does every byte. A hole between two
 * wanted runs is therefore read with them if that takes less time than another request: the hole is shorter than what
 * storage delivers in that time (pp_request_gap). As every hole is decided for itself, no other choice of requests
 * takes less time in all: it may turn out to be the runs alone, one stretch with its holes, or anything between.
 *
 * Wanted bytes are marked in units of a granule, so that any number of runs takes the same memory. */
#ifndef PARAPET_PLAN_STRETCH_H
#define PARAPET_PLAN_STRETCH_H

#include <stddef.h>

#include "geometry/box.h"

#define PP_STRETCH_MARKS 16384
/* A granule has this many bytes, or more in a stretch of more than PP_STRETCH_MARKS granules. */
#define PP_STRETCH_GRANULE ((size_t)512)

typedef struct pp_stretch {
    size_t bytes;
    size_t granule;
    uint64_t marks[PP_STRETCH_MARKS / 64];
} pp_stretch;

/* Nothing of it is wanted yet. */
void pp_stretch_init(pp_stretch *stretch, size_t bytes);

/* Wants the bytes from `from` to before `end`. */
void pp_stretch_want(pp_stretch *stretch, size_t from, size_t end);

/* Where elements of a box lie in a stretch: in C order from an offset on. */
typedef struct pp_stretch_place {
    const pp_box *box;
    size_t element_bytes;
    size_t offset;
} pp_stretch_place;

/* Wants elements of a box, which are inside the box of the place. */
void pp_stretch_want_box(pp_stretch *stretch, const pp_stretch_place *place, const pp_box *wanted);

/* One request: bytes from `from` to before `end` of the stretch. */
typedef struct pp_stretch_request {
    size_t from, end;
} pp_stretch_request;

/* The next request after the one given, or the first after {0}, if holes of at most gap_bytes are read; false: there
 * is none. Requests begin and end at wanted granules. */
bool pp_stretch_next(const pp_stretch *stretch, size_t gap_bytes, pp_stretch_request *request);

/* The longest hole that is read rather than skipped, if a request takes this long in addition to its bytes. */
size_t pp_request_gap(double request_seconds, double bytes_per_second);

#endif
