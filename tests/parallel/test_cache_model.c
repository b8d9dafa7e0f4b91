/* Lasting owners and their cache against a model: two jobs read, write, resize, seal, remove and open two arrays
 * again in random order, and every value that a call returns is that of the model. A call may say that what it knows
 * is stale only if the other job has changed more than values; opened again, it has to succeed.
 *
 *     test_cache_model FIRST_SEED CASES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "launch.h"

enum { MOST = 20, ARRAYS = 2, JOBS = 2, TILES = 4, STEPS = 40, FAILED_CASES_MOST = 3 };

static const char *const paths[ARRAYS] = {"a", "g/b"};
static launch run;
static draw from;

/* A box of which every rank has some rows. */
typedef struct tile {
    int64_t start[2], count[2];
} tile;

typedef struct job {
    parapet_store *store;
    parapet_array *arrays[ARRAYS];
    bool is_behind[ARRAYS]; /* the other job has changed more than values since the array was opened */
    int64_t memory_bytes;
} job;

typedef struct model_array {
    int64_t shape[2];
    int32_t values[MOST][MOST];
    tile tiles[TILES]; /* that come again and again */
} model_array;

static job jobs[JOBS];
static model_array model[ARRAYS];
static int32_t next_value;

/* ---- Tiles ---- */

static tile draw_tile(const int64_t *shape)
{
    tile made;
    int d;
    for (d = 0; d < 2; d++) {
        made.start[d] = draw_between(&from, 0, shape[d] - 1);
        made.count[d] = draw_between(&from, 1, shape[d] - made.start[d]);
    }
    return made;
}

static bool is_inside(const tile *inner, const int64_t *shape)
{
    return inner->start[0] + inner->count[0] <= shape[0] && inner->start[1] + inner->count[1] <= shape[1];
}

/* Inside what the handle and the model have, often one that was used before. */
static tile choose_tile(const job *by, int which)
{
    parapet_array_info info = {0};
    int64_t shape[2];
    tile *known = &model[which].tiles[draw_between(&from, 0, TILES - 1)];
    int d;
    (void)parapet_array_get_info(by->arrays[which], &info);
    for (d = 0; d < 2; d++)
        shape[d] = info.shape[d] < model[which].shape[d] ? info.shape[d] : model[which].shape[d];
    if (!is_inside(known, shape) || draw_chance(&from, 20))
        *known = draw_tile(shape);
    return *known;
}

static tile own_tile(const tile *all)
{
    int64_t first = all->count[0] * run.rank / run.ranks, end = all->count[0] * (run.rank + 1) / run.ranks;
    return (tile){{all->start[0] + first, all->start[1]}, {end - first, all->count[1]}};
}

/* ---- Jobs ---- */

static bool open_array(job *by, int which)
{
    by->is_behind[which] = false;
    return LAUNCH_OK(&run, parapet_array_open(&by->arrays[which], by->store, paths[which]));
}

static bool reopen(job *by, int which)
{
    (void)LAUNCH_OK(&run, parapet_array_close(&by->arrays[which]));
    return open_array(by, which);
}

static void leave_others_behind(const job *by, int which)
{
    int i;
    for (i = 0; i < JOBS; i++)
        if (&jobs[i] != by)
            jobs[i].is_behind[which] = true;
}

/* Whether the call is done; if it was stale, the arrays are opened again for another attempt. */
static bool is_done(job *by, int first, int count, parapet_status status)
{
    bool is_behind = false;
    int i;
    if (status == PARAPET_OK)
        return true;
    for (i = first; i < first + count; i++)
        is_behind |= by->is_behind[i];
    launch_expect(&run, status == PARAPET_ERR_STALE && is_behind, parapet_error_message());
    for (i = first; i < first + count; i++)
        (void)reopen(by, i);
    return false;
}

/* ---- Reading and writing ---- */

typedef struct call {
    tile own[ARRAYS], all[ARRAYS];
    parapet_part parts[ARRAYS];
    parapet_array_parts list[ARRAYS];
    int32_t *memory; /* new in every call, and gone after it */
    int first, count;
} call;

static void build_call(call *made, job *by, int first, int count)
{
    int64_t shift = draw_between(&from, 0, 9);
    int i;
    *made = (call){.first = first, .count = count};
    made->memory = malloc(sizeof(int32_t) * (size_t)(ARRAYS * MOST * MOST + shift));
    for (i = 0; i < count; i++) {
        made->all[i] = choose_tile(by, first + i);
        made->own[i] = own_tile(&made->all[i]);
        made->parts[i] = (parapet_part){.ndim = 2,
                                        .start = made->own[i].start,
                                        .count = made->own[i].count,
                                        .data = made->memory + shift + (int64_t)i * MOST * MOST};
        made->list[i] =
            (parapet_array_parts){.array = by->arrays[first + i], .parts = &made->parts[i], .part_count = 1};
    }
}

/* Handles that were opened again are others. */
static void list_handles(call *made, const job *by)
{
    int i;
    for (i = 0; i < made->count; i++)
        made->list[i].array = by->arrays[made->first + i];
}

static int32_t *element(const call *of, int i, int64_t row, int64_t column)
{
    return (int32_t *)of->parts[i].data + row * of->own[i].count[1] + column;
}

static int32_t *modelled(const call *of, int i, int64_t row, int64_t column)
{
    return &model[of->first + i].values[of->own[i].start[0] + row][of->own[i].start[1] + column];
}

static bool holds_model(const call *of)
{
    int64_t row, column;
    bool is_right = true;
    int i;
    for (i = 0; i < of->count; i++)
        for (row = 0; row < of->own[i].count[0]; row++)
            for (column = 0; column < of->own[i].count[1]; column++)
                is_right &= *element(of, i, row, column) == *modelled(of, i, row, column);
    return is_right;
}

static void change_model(call *of)
{
    int64_t row, column;
    int i;
    for (i = 0; i < of->count; i++, next_value += MOST * MOST)
        for (row = 0; row < of->all[i].count[0]; row++)
            for (column = 0; column < of->all[i].count[1]; column++)
                model[of->first + i].values[of->all[i].start[0] + row][of->all[i].start[1] + column] =
                    next_value + (int32_t)(row * MOST + column);
}

static void take_from_model(const call *of)
{
    int64_t row, column;
    int i;
    for (i = 0; i < of->count; i++)
        for (row = 0; row < of->own[i].count[0]; row++)
            for (column = 0; column < of->own[i].count[1]; column++)
                *element(of, i, row, column) = *modelled(of, i, row, column);
}

static void end_call(call *of)
{
    memset(of->memory, 0xff, sizeof(int32_t) * ARRAYS * MOST * MOST);
    free(of->memory);
}

static void read_arrays(job *by, int first, int count)
{
    call one;
    build_call(&one, by, first, count);
    memset(one.memory, 0xff, sizeof(int32_t) * ARRAYS * MOST * MOST);
    if (!is_done(by, first, count, LAUNCH_AGREED(&run, parapet_arrays_read(one.list, count)))) {
        list_handles(&one, by);
        (void)LAUNCH_OK(&run, parapet_arrays_read(one.list, count));
    }
    launch_expect(&run, holds_model(&one), "the values of the model");
    end_call(&one);
}

static void write_arrays(job *by, int first, int count)
{
    call one;
    build_call(&one, by, first, count);
    change_model(&one);
    take_from_model(&one);
    if (!is_done(by, first, count, LAUNCH_AGREED(&run, parapet_arrays_write(one.list, count)))) {
        list_handles(&one, by);
        (void)LAUNCH_OK(&run, parapet_arrays_write(one.list, count));
    }
    leave_others_behind(by, first); /* it may have taken off a seal */
    leave_others_behind(by, first + count - 1);
    end_call(&one);
}

/* Every rank for itself. */
static void read_alone(job *by, int which)
{
    call one;
    parapet_status status;
    build_call(&one, by, which, 1);
    one.own[0] = one.all[0];
    one.own[0].count[0] = (one.all[0].count[0] + run.rank) / (run.rank + 1);
    status = parapet_array_read_local(by->arrays[which], one.parts, 1);
    if (status == PARAPET_OK)
        launch_expect(&run, holds_model(&one), "the values of the model, read alone");
    else
        launch_expect(&run, status == PARAPET_ERR_STALE && by->is_behind[which], parapet_error_message());
    launch_barrier(); /* nobody changes it meanwhile */
    end_call(&one);
}

/* ---- Everything else ---- */

static void keep_inside(model_array *of)
{
    int64_t row, column;
    for (row = 0; row < MOST; row++)
        for (column = 0; column < MOST; column++)
            if (row >= of->shape[0] || column >= of->shape[1])
                of->values[row][column] = 0;
}

static void resize(job *by, int which)
{
    int64_t shape[2] = {draw_between(&from, 3, MOST), draw_between(&from, 3, MOST)};
    if (!is_done(by, which, 1, LAUNCH_AGREED(&run, parapet_array_resize(by->arrays[which], shape))))
        (void)LAUNCH_OK(&run, parapet_array_resize(by->arrays[which], shape));
    memcpy(model[which].shape, shape, sizeof shape);
    keep_inside(&model[which]);
    leave_others_behind(by, which);
}

/* Of what is stored: a handle also seals what it wrote before the other job did. */
static void seal(job *by, int which)
{
    if (reopen(by, which))
        (void)LAUNCH_OK(&run, parapet_array_seal(by->arrays[which]));
    leave_others_behind(by, which);
}

static void set_attribute(job *by, int which)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", (long long)draw_between(&from, 0, 99));
    if (!is_done(by, which, 1, LAUNCH_AGREED(&run, parapet_array_attribute_set(by->arrays[which], "step", text))))
        (void)LAUNCH_OK(&run, parapet_array_attribute_set(by->arrays[which], "step", text));
    leave_others_behind(by, which);
}

static void create(job *by, int which)
{
    static const char *const codecs[] = {"none", "zstd:1"};
    int64_t shape[2], chunks[2], shards[2];
    parapet_array_spec spec = {.type = PARAPET_INT32,
                               .ndim = 2,
                               .shape = shape,
                               .chunks = chunks,
                               .shards = shards,
                               .codec = codecs[draw_between(&from, 0, 1)],
                               .no_checksum = draw_chance(&from, 30),
                               .unsharded = draw_chance(&from, 20)};
    int d;
    for (d = 0; d < 2; d++) {
        shape[d] = draw_between(&from, 3, MOST);
        chunks[d] = draw_between(&from, 1, 6);
        shards[d] = chunks[d] * draw_between(&from, 1, 4);
    }
    if (spec.unsharded)
        spec.shards = NULL;
    (void)LAUNCH_OK(&run, parapet_array_create(&by->arrays[which], by->store, paths[which], &spec));
    by->is_behind[which] = false;
    memset(model[which].values, 0, sizeof model[which].values);
    memcpy(model[which].shape, shape, sizeof shape);
}

/* Another array at the same path, and often with a handle at the same address. */
static void replace(job *by, int which)
{
    int i;
    for (i = 0; i < JOBS; i++)
        (void)LAUNCH_OK(&run, parapet_array_close(&jobs[i].arrays[which]));
    (void)LAUNCH_OK(&run, parapet_store_remove(by->store, paths[which], 0, 0, NULL, NULL));
    create(by, which);
    for (i = 0; i < JOBS; i++)
        if (&jobs[i] != by)
            (void)open_array(&jobs[i], which);
}

static void expect_memory(const job *by)
{
    parapet_statistics found = {0};
    (void)parapet_store_get_statistics(by->store, &found);
    launch_expect(&run, found.memory_peak_bytes <= found.memory_planned_bytes, "memory within the plan");
    launch_expect(&run, found.memory_planned_bytes <= by->memory_bytes, "a plan within the limit");
}

static void take_step(void)
{
    job *by = &jobs[draw_chance(&from, 30)];
    int which = (int)draw_between(&from, 0, ARRAYS - 1), what = (int)draw_between(&from, 0, 99);
    if (what < 36)
        read_arrays(by, which, 1);
    else if (what < 62)
        write_arrays(by, which, 1);
    else if (what < 68)
        read_arrays(by, 0, ARRAYS);
    else if (what < 74)
        write_arrays(by, 0, ARRAYS);
    else if (what < 80)
        read_alone(by, which);
    else if (what < 85)
        resize(by, which);
    else if (what < 89)
        seal(by, which);
    else if (what < 93)
        set_attribute(by, which);
    else if (what < 97)
        (void)reopen(by, which);
    else
        replace(by, which);
    if (what < 74)
        expect_memory(by);
}

/* ---- A case ---- */

/* The second job may be one without a cache. */
static bool open_job(job *by, const char *path, parapet_mode mode)
{
    static const int64_t caches[] = {3000, 20000, 1 << 20};
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE,
                                     .transport = draw_chance(&from, 50) ? PARAPET_TRANSPORT_DIRECT
                                                                         : PARAPET_TRANSPORT_MESSAGES,
                                     .threads = draw_between(&from, 1, 2),
                                     .memory_bytes = draw_between(&from, 2, 4) << 20};
    if (by == &jobs[0] || draw_chance(&from, 50)) {
        options.ownership = PARAPET_OWNERSHIP_LASTING;
        options.cache_bytes = caches[draw_between(&from, 0, 2)];
    }
    by->memory_bytes = options.memory_bytes;
    return LAUNCH_OK(&run, parapet_store_open(&by->store, MPI_COMM_WORLD, path, mode, &options));
}

static bool open_case(uint64_t seed)
{
    char path[600];
    int i;
    (void)snprintf(path, sizeof path, "%s/s%llu", run.folder, (unsigned long long)seed);
    next_value = 1;
    memset(model, 0, sizeof model);
    memset(jobs, 0, sizeof jobs);
    if (!open_job(&jobs[0], path, PARAPET_CREATE) || !open_job(&jobs[1], path, PARAPET_UPDATE))
        return false;
    for (i = 0; i < ARRAYS; i++) {
        create(&jobs[0], i);
        (void)open_array(&jobs[1], i);
    }
    return true;
}

static void close_job(job *by)
{
    int i;
    expect_memory(by);
    for (i = 0; i < ARRAYS; i++)
        (void)LAUNCH_OK(&run, parapet_array_close(&by->arrays[i]));
    (void)LAUNCH_OK(&run, parapet_store_close(&by->store));
}

static void run_case(uint64_t seed)
{
    int i, which;
    from = draw_start(seed, 1);
    launch_case_begin(&run, seed);
    if (open_case(seed)) {
        for (i = 0; i < STEPS && launch_largest(run.failures) == 0; i++)
            take_step();
        for (i = 0; i < JOBS; i++)
            for (which = 0; which < ARRAYS; which++) {
                model[which].tiles[0] = (tile){{0, 0}, {model[which].shape[0], model[which].shape[1]}};
                read_arrays(&jobs[i], which, 1);
            }
        for (i = 0; i < JOBS; i++)
            close_job(&jobs[i]);
    }
    (void)launch_case_end(&run, "two jobs");
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    int64_t cases = argc > 2 ? strtoll(argv[2], NULL, 0) : 10, i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    for (i = 0; i < cases && run.failed_cases < FAILED_CASES_MOST; i++)
        run_case(first + (uint64_t)i);
    if (run.rank == 0)
        printf("%lld cases on %d ranks, %lld failed\n", (long long)i, run.ranks, (long long)run.failed_cases);
    return launch_finish(&run);
}
