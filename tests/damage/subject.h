/* subject.h - a stored array whose objects are about to be damaged, and what it is when it is whole. */
#ifndef PARAPET_TESTS_SUBJECT_H
#define PARAPET_TESTS_SUBJECT_H

#include "damaged_store.h"

#include "array/array_handle.h"
#include "array/open.h"

/* How the array is stored: edge x edge elements of uint32 in shards of shard x shard, chunks of chunk x chunk. */
typedef struct subject_form {
    const char *name;
    int64_t edge, shard, chunk;
    const char *codec;
    bool is_unsharded, has_no_checksum, is_unsealed;
    bool has_absent; /* the last shard was never written */
} subject_form;

typedef struct subject {
    const subject_form *form;
    image objects;  /* of the second generation of values */
    image previous; /* of the first, in the same form and sealed too */
    pp_store *damaged;
    uint32_t *values, *found;
    parapet_store *store; /* open over the damaged store */
    parapet_array *array; /* opened when all was whole */
} subject;

void subject_build(subject *made, const subject_form *form);
void subject_free(subject *made);

typedef enum verdict { VERDICT_DETECTED, VERDICT_HARMLESS, VERDICT_SILENT } verdict;

/* Opens everything anew and compares all that can be seen: type, shapes, seal, fill value, attributes of array and
 * root group, every value. After VERDICT_DETECTED the sentence is in parapet_error_message(). */
verdict subject_examine(subject *made);

/* Reads the shard at that place through the array that is open already: what a change of its object can touch. */
verdict subject_examine_shard(subject *made, int64_t row, int64_t column);

/* The object of a shard; NULL when it was never written. */
damaged_object *subject_shard(subject *made, int64_t row, int64_t column);
int64_t subject_shard_count(const subject *made); /* along one edge */

/* Whether a key is one of the array's shards; tells its place. */
bool subject_is_shard(const char *key, int64_t *row, int64_t *column);

/* What a sentence about an object must hold: its key or, for zarr.json and the seal, which only together tell that
 * one of them is wrong, the array. */
const char *subject_word_for(const char *key);

/* How many changes were found out and how many did no harm; a silent one is a failure unless it is only counted. */
typedef struct damage_count {
    long tried, detected, harmless, silent, unnamed;
} damage_count;

/* Counts a verdict; a sentence that does not name the object counts as unnamed. */
void damage_count_add(damage_count *count, verdict found, const char *key);

void damage_count_print(const char *form, const char *kind, const damage_count *count);

#endif
