#include "kill_subject.h"

#include <fcntl.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int kill_rank, kill_ranks;

void kill_start(int *argc, char ***argv, const char *folder)
{
    char path[600];
    FILE *file;
    (void)snprintf(path, sizeof path, "%s/pids/%ld", folder, (long)getpid());
    if ((file = fopen(path, "w")) != NULL)
        (void)fclose(file);
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &kill_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &kill_ranks);
}

static void cut_block(int64_t extent, int64_t *start, int64_t *count)
{
    *start = extent * kill_rank / kill_ranks;
    *count = extent * (kill_rank + 1) / kill_ranks - *start;
}

void kill_state_build(kill_state *state, int dimension)
{
    int d;
    *state = (kill_state){0};
    for (d = 0; d < 3; d++)
        state->u_count[d] = KILL_EDGE;
    cut_block(KILL_EDGE, &state->u_start[dimension], &state->u_count[dimension]);
    cut_block(KILL_LENGTH, &state->v_start[0], &state->v_count[0]);
    state->u = calloc((size_t)(state->u_count[0] * state->u_count[1] * state->u_count[2] + 1), sizeof state->u[0]);
    state->v = calloc((size_t)state->v_count[0] + 1, sizeof state->v[0]);
    if (state->u == NULL || state->v == NULL)
        abort();
}

void kill_state_free(kill_state *state)
{
    free(state->u);
    free(state->v);
}

static double u_value(int64_t tag, int64_t i, int64_t j, int64_t k)
{
    return (double)(tag * 1048583 + (i * KILL_EDGE + j) * KILL_EDGE + k) / 8;
}

static int32_t v_value(int64_t tag, int64_t i)
{
    return (int32_t)((tag * 7919 + i) % 1000003);
}

/* Fills, or counts what differs. */
static int64_t visit(const kill_state *state, int64_t tag, int fills)
{
    int64_t i, j, k, at = 0, wrong = 0;
    for (i = 0; i < state->u_count[0]; i++)
        for (j = 0; j < state->u_count[1]; j++)
            for (k = 0; k < state->u_count[2]; k++, at++) {
                double value = u_value(tag, state->u_start[0] + i, state->u_start[1] + j, state->u_start[2] + k);
                wrong += state->u[at] != value;
                if (fills)
                    state->u[at] = value;
            }
    for (i = 0; i < state->v_count[0]; i++) {
        int32_t value = v_value(tag, state->v_start[0] + i);
        wrong += state->v[i] != value;
        if (fills)
            state->v[i] = value;
    }
    return wrong;
}

void kill_state_fill(kill_state *state, int64_t tag)
{
    (void)visit(state, tag, 1);
}

int64_t kill_state_wrong(const kill_state *state, int64_t tag)
{
    int64_t wrong = visit(state, tag, 0), all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

void kill_note(const char *folder, const char *word, int64_t generation, int64_t tag)
{
    char path[600], line[96];
    int bytes = snprintf(line, sizeof line, "%s %" PRId64 " %" PRId64 "\n", word, generation, tag), file;
    if (kill_rank != 0)
        return;
    (void)snprintf(path, sizeof path, "%s/notes", folder);
    if ((file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666)) < 0 || write(file, line, (size_t)bytes) != bytes)
        abort();
    (void)close(file);
}
