/* checkpoints.c - generations that were committed, and those that never were. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bed.h"

enum { ITEMS = 2 };

static const int64_t field[2] = {12, 10}, field_chunks[2] = {3, 5}, field_shards[2] = {6, 10}, line[1] = {9};

/* What a generation consists of: "u", "v" and a number. */
typedef struct digest_state {
    parapet_array_spec specs[ITEMS];
    digest_box shares[ITEMS];
    parapet_part parts[ITEMS];
    parapet_checkpoint_item items[ITEMS];
} digest_state;

static void build_state(const digest_bed *bed, const char *codec, uint64_t seed, digest_state *state)
{
    static const char *const names[ITEMS] = {"u", "v"};
    const parapet_array_info infos[ITEMS] = {{.type = PARAPET_FLOAT64, .element_bytes = 8, .ndim = 2},
                                             {.type = PARAPET_INT64, .element_bytes = 8, .ndim = 1}};
    const digest_box boxes[ITEMS] = {{.count = {12, 10}}, {.count = {9}}};
    int i;
    *state = (digest_state){0};
    state->specs[0] = (parapet_array_spec){
        .type = PARAPET_FLOAT64, .ndim = 2, .shape = field, .chunks = field_chunks, .shards = field_shards};
    state->specs[1] = (parapet_array_spec){.type = PARAPET_INT64, .ndim = 1, .shape = line};
    for (i = 0; i < ITEMS; i++) {
        state->specs[i].codec = codec;
        state->shares[i] = share_of(bed, infos[i].ndim, &boxes[i]);
        state->parts[i].ndim = infos[i].ndim;
        state->parts[i].start = state->shares[i].start;
        state->parts[i].count = state->shares[i].count;
        state->parts[i].data = make_elements(&infos[i], &state->shares[i], seed + (uint64_t)i);
        state->items[i].name = names[i];
        state->items[i].spec = &state->specs[i];
        state->items[i].parts = &state->parts[i];
        state->items[i].part_count = 1;
    }
}

static void clear_state(digest_state *state)
{
    free(state->parts[0].data);
    free(state->parts[1].data);
}

static parapet_checkpoint *put(const digest_bed *bed, parapet_store *store, const char *path, const char *codec,
                               const parapet_checkpoint_options *options)
{
    parapet_checkpoint *checkpoint = NULL;
    digest_state state;
    build_state(bed, codec, (uint64_t)options->generation, &state);
    require(parapet_checkpoint_begin(&checkpoint, store, path, options));
    require(parapet_checkpoint_put(checkpoint, state.items, ITEMS));
    require(parapet_checkpoint_attribute_set(checkpoint, "step", "[4711, \"seconds\"]"));
    clear_state(&state);
    return checkpoint;
}

static void commit(const digest_bed *bed, parapet_store *store, const char *path, const char *codec,
                   parapet_checkpoint_options options)
{
    parapet_checkpoint *checkpoint = put(bed, store, path, codec, &options);
    require(parapet_checkpoint_commit(&checkpoint, NULL));
}

static void start(const digest_bed *bed, parapet_store *store, const char *path, const char *codec,
                  parapet_buffering buffering)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_request *request = NULL;
    digest_state state;
    build_state(bed, codec, 40, &state);
    require(parapet_checkpoint_begin(&checkpoint, store, path, NULL));
    require(parapet_checkpoint_start(&request, &checkpoint, state.items, ITEMS, buffering, NULL));
    require(parapet_request_wait(&request));
    clear_state(&state);
}

static void make_checkpoints_in(const digest_bed *bed, const char *name, const char *codec)
{
    parapet_store *store = open_store(bed, name);
    parapet_checkpoint *aborted;
    int64_t number;
    for (number = 0; number < 3; number++)
        commit(bed, store, "two", codec, (parapet_checkpoint_options){0});
    for (number = 7; number < 10; number++)
        commit(bed, store, "deep/all", codec, (parapet_checkpoint_options){.generation = number, .keep = -1});
    aborted = put(bed, store, "deep/all", codec, &(parapet_checkpoint_options){.keep = -1});
    require(parapet_checkpoint_abort(&aborted));
    commit(bed, store, "one", codec, (parapet_checkpoint_options){.keep = 1});
    commit(bed, store, "one", codec, (parapet_checkpoint_options){.generation = 1000000000, .keep = 1});
    start(bed, store, "started", codec, PARAPET_BUFFERING_COPY);
    start(bed, store, "started", codec, PARAPET_BUFFERING_BORROW);
    require(parapet_store_close(&store));
}

void make_checkpoints(const digest_bed *bed)
{
    make_checkpoints_in(bed, "checkpoints", "none");
    make_checkpoints_in(bed, "compressed_checkpoints", "zstd:3");
}

static void begin(parapet_store *store, const char *path)
{
    parapet_checkpoint *checkpoint = NULL;
    require(parapet_checkpoint_begin(&checkpoint, store, path, NULL));
}

/* As long as a process has one in the making, nobody else begins one there. */
static void put_and_die(const digest_bed *bed, parapet_store *store, const char *path)
{
    pid_t child = fork();
    int status;
    if (child == 0) {
        (void)put(bed, store, path, "none", &(parapet_checkpoint_options){0});
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "make_digest_stores: a process that puts and dies has failed\n");
        exit(1);
    }
}

void abandon_checkpoints(const digest_bed *bed)
{
    const parapet_checkpoint_options next = {0};
    parapet_store *store = open_store(bed, "abandoned_checkpoints");
    begin(store, "begun");
    (void)put(bed, store, "first", "none", &next);
    commit(bed, store, "later", "none", next);
    put_and_die(bed, store, "later");
    begin(store, "later");
}
