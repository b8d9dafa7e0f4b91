/* arena.h - the steps of the open row are kept until the row is full, and each is kept by all ranks or by none. */
#ifndef PARAPET_SERIES_ARENA_H
#define PARAPET_SERIES_ARENA_H

#include "series/step.h"
#include "series/step_pieces.h"

/* Where the steps of the open row are kept on this rank: in memory, or in a log. */
typedef struct pp_series_arena {
    bool is_staged;      /* in a log; the same on all ranks */
    pp_buffer memory;    /* of the steps; staged: a buffer that they pass through */
    char *key;           /* of the log */
    pp_log *log;         /* NULL: not open now */
    uint64_t used_bytes; /* by steps that are kept */
    int64_t step_count;  /* how many those are */
    pp_series_pieces pieces;
} pp_series_arena;

/* The memory that open steps may take; the rest is for writing them. */
size_t pp_series_limit_bytes(const parapet_series *series);

/* [collective] Keeps the step; part of a call that has begun. After a failure it is not kept on any rank. */
parapet_status pp_series_keep(parapet_series *series, const pp_series_step *step);

/* [collective] Moves the open row from memory to the logs of all ranks, unless status is a failure on one of them. */
parapet_status pp_series_stage(parapet_series *series, parapet_status status);

/* Forgets the open row. */
void pp_series_arena_reset(parapet_series *series);
void pp_series_arena_clear(parapet_series *series);

#endif
