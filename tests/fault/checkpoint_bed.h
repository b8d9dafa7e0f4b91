/* checkpoint_bed.h - small checkpoints in one process, over storage that fails as a plan says, and what must be there
 * afterwards.
 *
 * Every attempt at a generation has a tag of its own, from which all its values follow: so that a mixture of two
 * attempts at one generation is found out. */
#ifndef PARAPET_TESTS_CHECKPOINT_BED_H
#define PARAPET_TESTS_CHECKPOINT_BED_H

#include "image.h"

#include "array/array_handle.h"
#include "array/open.h"
#include "stores/faulty.h"

typedef enum checkpoint_storage { CHECKPOINT_IN_MEMORY, CHECKPOINT_IN_DIRECTORY } checkpoint_storage;

enum { CHECKPOINT_KEEP = 2, CHECKPOINT_MOST = 8 };

/* A generation, and the attempt that made it. */
typedef struct checkpoint_made {
    int64_t generation, tag;
} checkpoint_made;

typedef struct checkpoint_bed {
    checkpoint_storage storage;
    pp_store *inner;  /* where the objects are */
    pp_store *faulty; /* around it */
    pp_fault_plan plan;
    char folder[64];                        /* of a directory */
    checkpoint_made known[CHECKPOINT_MOST]; /* acknowledged, or seen since; ascending */
    int known_count;
    int64_t tag;        /* of the last attempt */
    int64_t first_open; /* tags from here on were attempted since the last look, and may be there */
    char problem[512];  /* what was found to be wrong first */
} checkpoint_bed;

/* A store with one generation in it. free_ also removes the directory. */
void checkpoint_bed_build(checkpoint_bed *bed, checkpoint_storage storage);
void checkpoint_bed_free(checkpoint_bed *bed);

/* Opens a store over the faulty one, makes generations one after the other until one fails, or does not care for
 * failures, and closes it. What was acknowledged becomes known. The sentence stays. */
parapet_status checkpoint_bed_make(checkpoint_bed *bed, int count, bool goes_on);

/* What a program does after a crash: restores the newest generation, collects what is left over, and makes one more;
 * with the plan as it is. */
parapet_status checkpoint_bed_recover(checkpoint_bed *bed);

/* Looks at the storage itself, without faults. Every generation that is listed verifies and is known or the attempt
 * after the last known; the last CHECKPOINT_KEEP known ones are listed; the newest is what opens. Those found become
 * known. false: problem says what is wrong. is_strict: only what is known may be there. */
bool checkpoint_bed_check(checkpoint_bed *bed, bool is_strict);

/* Collects; then nothing may be there that belongs to no generation. */
bool checkpoint_bed_check_collected(checkpoint_bed *bed);

#endif
