/* checkpoint_ranks.c - checkpoints under the launcher, to be killed.
 *
 *     checkpoint_ranks make FOLDER TAG COUNT    generations of state TAG, TAG + 1 ..., until one fails
 *     checkpoint_ranks verify FOLDER            what is there, as it is restored
 *     checkpoint_ranks collect FOLDER           removes what crashes have left
 *
 * The store is FOLDER/store. Each prints lines of JSON from rank 0. FOLDER/notes tells what was begun and
 * acknowledged. */
#include <inttypes.h>
#include <mpi.h>
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kill_subject.h"

#define PLACE "run"

enum { ITEMS = 2, MOST_GENERATIONS = 64 };

static const int64_t u_shape[3] = {KILL_EDGE, KILL_EDGE, KILL_EDGE}, u_chunks[3] = {8, 8, 32},
                     u_shards[3] = {16, 16, 32};
static const int64_t v_shape[1] = {KILL_LENGTH}, v_chunks[1] = {512}, v_shards[1] = {1024};
static const parapet_array_spec specs[ITEMS] = {
    {.type = PARAPET_FLOAT64, .ndim = 3, .shape = u_shape, .chunks = u_chunks, .shards = u_shards, .codec = "none"},
    {.type = PARAPET_INT32, .ndim = 1, .shape = v_shape, .chunks = v_chunks, .shards = v_shards, .codec = "zstd:1"},
};

static const char *folder;

static void require(parapet_status status)
{
    if (status == PARAPET_OK)
        return;
    fprintf(stderr, "checkpoint_ranks: %s: %s\n", parapet_status_name(status), parapet_error_message());
    exit(1);
}

/* The state of this rank, as an argument. */
typedef struct arguments {
    parapet_part parts[ITEMS];
    parapet_checkpoint_item items[ITEMS];
} arguments;

static void arguments_init(arguments *made, kill_state *state)
{
    made->parts[0] = (parapet_part){.ndim = 3, .start = state->u_start, .count = state->u_count, .data = state->u};
    made->parts[1] = (parapet_part){.ndim = 1, .start = state->v_start, .count = state->v_count, .data = state->v};
    made->items[0] =
        (parapet_checkpoint_item){.name = "u", .spec = &specs[0], .parts = &made->parts[0], .part_count = 1};
    made->items[1] =
        (parapet_checkpoint_item){.name = "v", .spec = &specs[1], .parts = &made->parts[1], .part_count = 1};
}

static parapet_store *open_store(parapet_mode mode)
{
    parapet_store_options options = {.memory_bytes = 8 << 20};
    parapet_store *store = NULL;
    char path[600];
    (void)snprintf(path, sizeof path, "%s/store", folder);
    require(parapet_store_open(&store, MPI_COMM_WORLD, path, mode, &options));
    return store;
}

/* ---- Making ---- */

static parapet_status put_state(parapet_checkpoint *checkpoint, kill_state *state, int64_t tag)
{
    char text[32];
    arguments all;
    parapet_status status;
    arguments_init(&all, state);
    (void)snprintf(text, sizeof text, "%" PRId64, tag);
    if ((status = parapet_checkpoint_attribute_set(checkpoint, "tag", text)) != PARAPET_OK)
        return status;
    return parapet_checkpoint_put(checkpoint, all.items, ITEMS);
}

/* Sets *newest to its number when it is committed, one more than it was. */
static parapet_status make_one(parapet_store *store, kill_state *state, int64_t tag, int64_t *newest)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_status status;
    kill_state_fill(state, tag);
    if ((status = parapet_checkpoint_begin(&checkpoint, store, PLACE, NULL)) != PARAPET_OK)
        return status;
    kill_note(folder, "begin", *newest + 1, tag);
    if ((status = put_state(checkpoint, state, tag)) == PARAPET_OK)
        return parapet_checkpoint_commit(&checkpoint, newest);
    (void)parapet_checkpoint_abort(&checkpoint);
    return status;
}

static void tell_made(parapet_status status, const char *message, int64_t tag, double seconds)
{
    int64_t most[2] = {(int64_t)status, -(int64_t)status};
    double slowest;
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (kill_rank != 0)
        return;
    printf("{\"status\": \"%s\", \"same\": %s, \"tag\": %" PRId64 ", \"seconds\": %.3f}\n",
           parapet_status_name(status), most[0] == -most[1] ? "true" : "false", tag, slowest);
    (void)fflush(stdout);
    if (status != PARAPET_OK)
        fprintf(stderr, "%s\n", message);
}

static int take_first(void *context, int64_t generation, const char *path)
{
    (void)path;
    *(int64_t *)context = generation;
    return 1;
}

static void make(int64_t tag, int64_t count)
{
    parapet_store *store = open_store(PARAPET_CREATE);
    parapet_status status = PARAPET_OK;
    int64_t newest = 0, end = tag + count;
    kill_state state;
    require(parapet_checkpoint_list(store, PLACE, take_first, &newest));
    kill_state_build(&state, 0);
    for (; tag < end && status == PARAPET_OK; tag++) {
        double start = MPI_Wtime();
        char message[1024] = "";
        if ((status = make_one(store, &state, tag, &newest)) == PARAPET_OK)
            kill_note(folder, "done", newest, tag);
        else
            (void)snprintf(message, sizeof message, "%s", parapet_error_message());
        tell_made(status, message, tag, MPI_Wtime() - start);
    }
    kill_state_free(&state);
    require(parapet_store_close(&store));
}

/* ---- Verifying ---- */

/* Restores one generation, 0 for the newest, and prints what came of it. */
static void tell_generation(parapet_store *store, kill_state *state, int64_t number)
{
    parapet_restore *restore = NULL;
    parapet_restore_info info = {.generation = number};
    int64_t tag = 0, wrong = 0;
    char *json = NULL;
    arguments all;
    parapet_status status = parapet_restore_open(&restore, store, PLACE, number);
    arguments_init(&all, state);
    if (status == PARAPET_OK) {
        require(parapet_restore_get_info(restore, &info));
        require(parapet_restore_attribute_get(restore, "tag", &json));
        tag = strtoll(json, NULL, 10);
        parapet_free(json);
        if ((status = parapet_restore_get(restore, all.items, ITEMS)) == PARAPET_OK)
            wrong = kill_state_wrong(state, tag);
    }
    if (kill_rank == 0)
        printf("{\"status\": \"%s\", \"asked\": %" PRId64 ", \"generation\": %" PRId64 ", \"tag\": %" PRId64
               ", \"wrong\": %" PRId64 ", \"passed_over\": %" PRId64 "}\n",
               parapet_status_name(status), number, info.generation, tag, wrong, info.passed_over);
    if (restore != NULL)
        require(parapet_restore_close(&restore));
}

typedef struct listing {
    int64_t numbers[MOST_GENERATIONS];
    int count;
} listing;

static int add_listed(void *context, int64_t generation, const char *path)
{
    listing *list = context;
    (void)path;
    list->numbers[list->count++] = generation;
    return list->count == MOST_GENERATIONS;
}

static void verify(void)
{
    parapet_store *store = open_store(PARAPET_READ);
    listing list = {.count = 0};
    kill_state state;
    int i;
    kill_state_build(&state, 1);
    require(parapet_checkpoint_list(store, PLACE, add_listed, &list));
    tell_generation(store, &state, 0);
    for (i = 0; i < list.count; i++)
        tell_generation(store, &state, list.numbers[i]);
    kill_state_free(&state);
    require(parapet_store_close(&store));
}

/* ---- Collecting ---- */

static int count_removal(void *context, const char *key, const char *reason)
{
    (void)key;
    (void)reason;
    ++*(int64_t *)context;
    return 0;
}

static void collect(void)
{
    parapet_store *store = open_store(PARAPET_UPDATE);
    int64_t removed = 0;
    require(parapet_store_collect(store, "", 0, count_removal, &removed));
    if (kill_rank == 0)
        printf("{\"removed\": %" PRId64 "}\n", removed);
    require(parapet_store_close(&store));
}

int main(int argc, char **argv)
{
    if (argc < 3 || (strcmp(argv[1], "make") == 0 && argc < 5))
        return 2;
    folder = argv[2];
    kill_start(&argc, &argv, folder);
    if (strcmp(argv[1], "make") == 0)
        make(strtoll(argv[3], NULL, 10), strtoll(argv[4], NULL, 10));
    else if (strcmp(argv[1], "verify") == 0)
        verify();
    else
        collect();
    MPI_Finalize();
    return 0;
}
