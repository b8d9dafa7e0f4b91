/* Checkpoints of two arrays, of which two generations are kept. */
#include <inttypes.h>
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

enum { ARRAYS = 2, ROWS = 96, COLUMNS = 256, MOST_FAILURES = 3, MOST_GENERATIONS = 64 };

#define PLACE "restart"

/* 96 KiB each: several compressed shards; one shard as it is. */
static const int64_t shape[2] = {ROWS, COLUMNS};
static const int64_t small_chunks[2] = {16, 64}, small_shards[2] = {32, COLUMNS},
                     large_chunks[2] = {ROWS / 2, COLUMNS};
static const parapet_array_spec specs[ARRAYS] = {
    {.type = PARAPET_UINT32, .ndim = 2, .shape = shape, .chunks = small_chunks, .shards = small_shards},
    {.type = PARAPET_UINT32, .ndim = 2, .shape = shape, .chunks = large_chunks, .shards = shape, .codec = "none"},
};
static const char *const names[ARRAYS] = {"density", "energy"};

/* What one rank has of a generation. */
typedef struct rank_state {
    int64_t start[2], count[2];
    uint32_t values[ARRAYS][ROWS * COLUMNS];
    parapet_part parts[ARRAYS];
    parapet_checkpoint_item items[ARRAYS];
} rank_state;

/* The generations that are committed, newest first. */
typedef struct listing {
    int64_t numbers[MOST_GENERATIONS];
    int count;
} listing;

static void state_init(rank_state *state, const job *self)
{
    int i;
    memset(state, 0, sizeof *state);
    job_rows(self, ROWS, &state->start[0], &state->count[0]);
    state->count[1] = COLUMNS;
    for (i = 0; i < ARRAYS; i++) {
        state->parts[i] =
            (parapet_part){.ndim = 2, .start = state->start, .count = state->count, .data = state->values[i]};
        state->items[i] = (parapet_checkpoint_item){
            .name = names[i], .spec = &specs[i], .parts = &state->parts[i], .part_count = 1};
    }
}

static uint32_t value_at(const rank_state *state, int64_t generation, int array, int64_t index)
{
    return job_value(generation, array, state->start[0] * COLUMNS + index);
}

static void fill(rank_state *state, int64_t generation)
{
    int64_t i, count = state->count[0] * COLUMNS;
    int array;
    for (array = 0; array < ARRAYS; array++)
        for (i = 0; i < count; i++)
            state->values[array][i] = value_at(state, generation, array, i);
}

static int note_generation(void *context, int64_t generation, const char *path)
{
    listing *list = context;
    (void)path;
    if (list->count < MOST_GENERATIONS)
        list->numbers[list->count++] = generation;
    return 0;
}

static parapet_status list_generations(parapet_store *store, listing *list)
{
    parapet_status status;
    list->count = 0;
    status = parapet_checkpoint_list(store, PLACE, note_generation, list);
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status; /* before the first */
}

static parapet_status commit(const job *self, parapet_store *store, rank_state *state, int64_t generation)
{
    parapet_checkpoint_options options = {.generation = generation, .keep = 2};
    parapet_checkpoint *checkpoint = NULL;
    char step[32];
    parapet_status status;
    job_mark(self, "begin", generation);
    fill(state, generation);
    (void)snprintf(step, sizeof step, "%" PRId64, generation);
    if ((status = parapet_checkpoint_begin(&checkpoint, store, PLACE, &options)) != PARAPET_OK)
        return status;
    if ((status = parapet_checkpoint_put(checkpoint, state->items, ARRAYS)) != PARAPET_OK ||
        (status = parapet_checkpoint_attribute_set(checkpoint, "step", step)) != PARAPET_OK) {
        (void)parapet_checkpoint_abort(&checkpoint);
        return status;
    }
    if ((status = parapet_checkpoint_commit(&checkpoint, NULL)) == PARAPET_OK)
        job_mark(self, "done", generation);
    return status;
}

/* A failed generation may be there all the same, so its number is not used again. */
static int write_generations(const job *self)
{
    static rank_state state;
    parapet_store *store = NULL;
    listing list;
    int64_t generation = 0, i;
    int failures = 0;
    parapet_status status = job_open(self, PARAPET_CREATE, &store);
    if (status != PARAPET_OK || (status = list_generations(store, &list)) != PARAPET_OK) {
        (void)parapet_store_close(&store);
        return job_failed(self, "open", 0, status);
    }
    generation = list.count > 0 ? list.numbers[0] : 0;
    state_init(&state, self);
    for (i = 0; i < self->count && failures < MOST_FAILURES; i++)
        if ((status = commit(self, store, &state, ++generation)) != PARAPET_OK) {
            (void)job_failed(self, "commit", generation, status);
            failures++;
        }
    status = parapet_store_close(&store);
    return failures > 0 || status != PARAPET_OK ? JOB_FAILED : JOB_SOUND;
}

static int verify_values(const job *self, parapet_restore *restore, rank_state *state, int64_t generation)
{
    int64_t i;
    int array;
    parapet_status status;
    memset(state->values, 0, sizeof state->values);
    if ((status = parapet_restore_get(restore, state->items, ARRAYS)) != PARAPET_OK)
        return job_violated(self, "generation %" PRId64 " does not read: %s", generation, parapet_error_message());
    for (array = 0; array < ARRAYS; array++)
        for (i = 0; i < ROWS * COLUMNS; i++)
            if (state->values[array][i] != value_at(state, generation, array, i))
                return job_violated(self, "generation %" PRId64 ": element %" PRId64 " of %s is wrong", generation, i,
                                    names[array]);
    return JOB_SOUND;
}

static int verify_attribute(const job *self, parapet_restore *restore, int64_t generation)
{
    char *text = NULL;
    parapet_status status = parapet_restore_attribute_get(restore, "step", &text);
    bool is_right = status == PARAPET_OK && atoll(text) == generation;
    parapet_free(text);
    return is_right ? JOB_SOUND : job_violated(self, "generation %" PRId64 " has not its attribute", generation);
}

/* generation 0: the newest, which is left in *found. */
static int verify_generation(const job *self, parapet_store *store, int64_t generation, int64_t *found)
{
    static rank_state state;
    parapet_restore *restore = NULL;
    parapet_restore_info info;
    int code;
    parapet_status status = parapet_restore_open(&restore, store, PLACE, generation);
    if (status == PARAPET_ERR_NOT_FOUND && generation == 0)
        return JOB_SOUND;
    if (status != PARAPET_OK)
        return job_violated(self, "generation %" PRId64 " does not open: %s", generation, parapet_error_message());
    state_init(&state, self);
    (void)parapet_restore_get_info(restore, &info);
    *found = info.generation;
    if (info.passed_over != 0)
        code = job_violated(self, "%" PRId64 " generations were passed over: %s", info.passed_over, info.problem);
    else if (info.array_count != ARRAYS)
        code = job_violated(self, "generation %" PRId64 " has %d arrays", info.generation, info.array_count);
    else if ((code = verify_values(self, restore, &state, info.generation)) == JOB_SOUND)
        code = verify_attribute(self, restore, info.generation);
    (void)parapet_restore_close(&restore);
    return code;
}

/* Of the newest two both are kept: nothing older may take the place of what was acknowledged. */
static int verify_list(const job *self, const listing *list)
{
    int64_t newest = list->count > 0 ? list->numbers[0] : 0, second = list->count > 1 ? list->numbers[1] : 0;
    int64_t least_second = newest > self->done ? self->done : self->previous;
    if (newest < self->done)
        return job_violated(self, "generation %" PRId64 " was acknowledged, the newest is %" PRId64, self->done,
                            newest);
    if (newest > self->begun)
        return job_violated(self, "generation %" PRId64 " was never begun", newest);
    if (second < least_second)
        return job_violated(self, "the newest is %" PRId64 ", but %" PRId64 " is not kept", newest, least_second);
    return JOB_SOUND;
}

static int verify_all(const job *self, parapet_store *store, listing *list)
{
    int64_t found = 0;
    int i, code;
    if (list_generations(store, list) != PARAPET_OK)
        return job_violated(self, "the generations cannot be listed: %s", parapet_error_message());
    if ((code = verify_list(self, list)) != JOB_SOUND ||
        (code = verify_generation(self, store, 0, &found)) != JOB_SOUND)
        return code;
    if (found != (list->count > 0 ? list->numbers[0] : 0))
        return job_violated(self, "generation %" PRId64 " is listed, %" PRId64 " was opened", list->numbers[0],
                            found);
    for (i = 1; i < list->count; i++)
        if ((code = verify_generation(self, store, list->numbers[i], &found)) != JOB_SOUND)
            return code;
    return JOB_SOUND;
}

/* Cleans up behind the crash and commits once more; then the disk holds what is kept, and nothing else. */
static int go_on(const job *self, parapet_store *store, const listing *before)
{
    static rank_state state;
    listing after;
    int64_t next = self->begun + 1;
    int i;
    if (parapet_store_collect(store, "", 0, NULL, NULL) != PARAPET_OK)
        return job_violated(self, "what is left over cannot be removed: %s", parapet_error_message());
    if (list_generations(store, &after) != PARAPET_OK || after.count != before->count ||
        memcmp(after.numbers, before->numbers, (size_t)after.count * sizeof after.numbers[0]) != 0)
        return job_violated(self, "removing what was left over changed the generations");
    state_init(&state, self);
    if (commit(self, store, &state, next) != PARAPET_OK)
        return job_violated(self, "generation %" PRId64 " cannot be committed: %s", next, parapet_error_message());
    if (list_generations(store, &after) != PARAPET_OK || after.count != (before->count > 0 ? 2 : 1))
        return job_violated(self, "%d generations are there after a commit", after.count);
    for (i = 0; i < after.count; i++)
        printf("kept %" PRId64 "\n", after.numbers[i]);
    return verify_generation(self, store, next, &next);
}

static int verify_generations(const job *self)
{
    parapet_store *store = NULL;
    listing list = {.count = 0};
    parapet_status status = job_open(self, PARAPET_READ, &store);
    int code = JOB_SOUND;
    if (status == PARAPET_OK)
        code = verify_all(self, store, &list);
    else if (self->done > 0)
        code = job_violated(self, "the store does not open: %s", parapet_error_message());
    (void)parapet_store_close(&store);
    if (code != JOB_SOUND)
        return code;
    if (job_open(self, PARAPET_CREATE, &store) != PARAPET_OK)
        return job_violated(self, "the store cannot be changed: %s", parapet_error_message());
    code = go_on(self, store, &list);
    (void)parapet_store_close(&store);
    return code;
}

const power_subject checkpoint_subject = {"checkpoint", write_generations, verify_generations};
