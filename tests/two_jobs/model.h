/* model.h - whether what two jobs were told, have seen and have left can be
 * explained. */
#ifndef PARAPET_TESTS_MODEL_H
#define PARAPET_TESTS_MODEL_H

#include "world.h"

/* One after the other, in one order or the other, explains it all: NULL; else a
 * sentence. */
const char *model_judge(const race *run, const outcome told[2], const world *before, const world *after);

/* The same where job 1 was killed: it has done all of its part, none of it, or
 * of a write some shards. */
const char *model_judge_killed(const race *run, const outcome *told, const world *before, const world *after);

#endif
