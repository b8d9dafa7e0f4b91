/* world.h - what a store of the races holds: as it is made, as it is found, and
 * as a model says that it must be. */
#ifndef PARAPET_TESTS_WORLD_H
#define PARAPET_TESTS_WORLD_H

#include "race.h"

/* An array: absent, or its length, values and attributes. */
typedef struct world_array {
    bool exists, is_sealed;
    int64_t length, values[LENGTH_GROWN];
    int64_t made, set[2]; /* attributes: who made it; what each job has set; 0: none */
} world_array;

typedef struct world {
    world_array array, target; /* "a" and "t" */
    int64_t step_count, steps[STEPS_MOST];
    int64_t generation_count, generations[GENERATIONS_MOST], marks[GENERATIONS_MOST]; /* the newest first */
} world;

/* Makes the store of a race at url, by one process, and tells what is in it.
 * False, with a sentence: it failed. */
bool world_make(const char *url, const race *run, world *made);

/* Looks at a store that nobody changes. Not only the world is told: everything
 * is checked, and consolidated metadata are compared with what they repeat.
 * may_leave: a job was killed, and has left things over. False, with a sentence
 * on stderr: something is damaged. */
bool world_look(const char *url, bool may_leave, world *found);

/* Everything that a job can do can be done now, at once: a job that is gone
 * keeps nobody out. False, with a sentence on stderr: something cannot. */
bool world_take_over(const char *url, const world *found);

/* Whether two worlds are the same; seals are not compared if has_seal is false.
 */
bool world_equals(const world *left, const world *right, bool has_seal);
void world_print(const char *title, const world *of);

#endif
