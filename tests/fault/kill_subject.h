/* kill_subject.h - what programs that are killed while they save their state have in common: the state, which follows
 * from a tag, and notes of what was begun and acknowledged. Knows MPI, and no library that stores anything. */
#ifndef PARAPET_TESTS_KILL_SUBJECT_H
#define PARAPET_TESTS_KILL_SUBJECT_H

#include <stdint.h>

enum { KILL_EDGE = 32, KILL_LENGTH = 4096 };

/* The part of the state that a rank has: u is KILL_EDGE^3 in blocks along one dimension, v in blocks. */
typedef struct kill_state {
    int64_t u_start[3], u_count[3], v_start[1], v_count[1];
    double *u;
    int32_t *v;
} kill_state;

extern int kill_rank, kill_ranks;

/* Starts MPI, and leaves a file FOLDER/pids/<process number>. */
void kill_start(int *argc, char ***argv, const char *folder);

void kill_state_build(kill_state *state, int dimension);
void kill_state_free(kill_state *state);
void kill_state_fill(kill_state *state, int64_t tag);

/* Elements that are not what the tag says, on all ranks together. */
int64_t kill_state_wrong(const kill_state *state, int64_t tag);

/* Rank 0 adds a line "word generation tag" to FOLDER/notes, at once. */
void kill_note(const char *folder, const char *word, int64_t generation, int64_t tag);

#endif
