/* The cache of owners in turn against a model: two jobs read, write, resize, seal, remove and open two arrays
 * again in random order, and every value that a call returns is that of the model. A call may say that what it knows
 * is stale only if the other job has changed more than values; opened again, it has to succeed.
 *
 * Often the first job writes back. Then it still sees the model; in storage each shard is as it was after the last
 * flush, or after a later write. If the other job writes before a flush, then shards that both wrote to are as one of
 * them left them, and all others are as in the model. Sometimes the first job loses its storage, as if it were
 * killed, and what a flush has acknowledged is still there.
 *
 *     test_cache_model FIRST_SEED CASES */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/open.h"
#include "draw.h"
#include "launch.h"
#include "stores/faulty.h"

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
    bool writes_back;
} job;

typedef struct model_array {
    int64_t shape[2];
    int32_t values[MOST][MOST];
    tile tiles[TILES]; /* that come again and again */
} model_array;

/* What the first job was told that it has written, since the last flush. */
typedef struct past {
    int32_t states[STEPS + 2][MOST][MOST]; /* the last is that of the model */
    int count;
    bool is_unflushed;
} past;

static job jobs[JOBS];
static past pasts[ARRAYS];
static parapet_store *watcher; /* sees only what is stored */
static int32_t seen[MOST][MOST];
static char folder[600];
static pp_store *directory, *faulty; /* of the first job */
static pp_fault_plan plan;
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

static void leave_others_behind(const job *by, int which)
{
    int i;
    for (i = 0; i < JOBS; i++)
        if (&jobs[i] != by)
            jobs[i].is_behind[which] = true;
}

/* ---- What is flushed, and what is not ---- */

/* The model is what is stored. */
static void sync_dirs(int which)
{
    memcpy(pasts[which].states[0], model[which].values, sizeof model[which].values);
    pasts[which].count = 1;
    pasts[which].is_unflushed = false;
}

/* The first job has flushed, and may have taken off seals. */
static void settle_all(const job *by)
{
    int i;
    for (i = 0; i < ARRAYS && by == &jobs[0]; i++) {
        if (pasts[i].is_unflushed)
            leave_others_behind(by, i);
        sync_dirs(i);
    }
}

static void note_write(const job *by, int which)
{
    past *of = &pasts[which];
    if (by != &jobs[0] || !by->writes_back) {
        sync_dirs(which);
        return;
    }
    memcpy(of->states[of->count++], model[which].values, sizeof model[which].values);
    of->is_unflushed = true;
}

static bool is_unflushed(int first, int count)
{
    bool found = false;
    for (; count > 0; count--)
        found |= pasts[first + count - 1].is_unflushed;
    return found;
}

/* What is stored, into seen. */
static void watch(int which)
{
    static const int64_t start[2] = {0, 0};
    parapet_array *array = NULL;
    int64_t strides[2] = {sizeof seen[0], sizeof seen[0][0]};
    parapet_part part = {
        .ndim = 2, .start = start, .count = model[which].shape, .data = seen, .strides_bytes = strides};
    memset(seen, 0, sizeof seen);
    if (LAUNCH_OK(&run, parapet_array_open(&array, watcher, paths[which]))) {
        (void)LAUNCH_OK(&run, parapet_array_read(array, &part, 1));
        (void)LAUNCH_OK(&run, parapet_array_close(&array));
    }
}

static bool is_like(const int32_t state[MOST][MOST], const tile *box)
{
    int64_t row, column;
    for (row = box->start[0]; row < box->start[0] + box->count[0]; row++)
        for (column = box->start[1]; column < box->start[1] + box->count[1]; column++)
            if (seen[row][column] != state[row][column])
                return false;
    return true;
}

/* Whether a shard is as after the last flush, or after a later write. */
static bool is_past(int which, const tile *shard)
{
    int i;
    for (i = 0; i < pasts[which].count; i++)
        if (is_like(pasts[which].states[i], shard))
            return true;
    return false;
}

/* Calls what for every shard; false if one of them is. */
typedef bool (*shard_test)(int which, const tile *shard);

static bool are_all(const job *by, int which, shard_test is_right)
{
    parapet_array_info info = {0};
    tile shard;
    int d;
    bool are = true;
    (void)parapet_array_get_info(by->arrays[which], &info);
    for (shard.start[0] = 0; shard.start[0] < model[which].shape[0]; shard.start[0] += info.shards[0])
        for (shard.start[1] = 0; shard.start[1] < model[which].shape[1]; shard.start[1] += info.shards[1]) {
            for (d = 0; d < 2; d++) {
                int64_t left = model[which].shape[d] - shard.start[d];
                shard.count[d] = info.shards[d] < left ? info.shards[d] : left;
            }
            are &= is_right(which, &shard);
        }
    return are;
}

static void watch_past(const job *by, int which)
{
    watch(which);
    launch_expect(&run, are_all(by, which, is_past), "shards as they were after some write");
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
    settle_all(by); /* opening flushes what closing has not */
    return open_array(by, which);
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

static void flush(int which)
{
    job *by = &jobs[0];
    if (draw_chance(&from, 50) && !is_unflushed(1 - which, 1))
        (void)LAUNCH_OK(&run, parapet_array_flush(by->arrays[which]));
    else
        (void)LAUNCH_OK(&run, parapet_store_flush(by->store));
    settle_all(by);
    watch_past(by, which);
}

/* Before the other job does something: it may, or may not, see what was not flushed. */
static void meet(const job *by, int first, int count, bool may_conflict)
{
    if (by != &jobs[0] && is_unflushed(first, count) && !(may_conflict && draw_chance(&from, 30)))
        flush(first);
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

/* What was read is what is stored. */
static void expect_stored(const job *by, const call *of)
{
    int64_t row, column;
    bool is_right = true;
    int i;
    for (i = 0; i < of->count; i++) {
        watch_past(by, of->first + i);
        for (row = 0; row < of->own[i].count[0]; row++)
            for (column = 0; column < of->own[i].count[1]; column++)
                is_right &=
                    *element(of, i, row, column) == seen[of->own[i].start[0] + row][of->own[i].start[1] + column];
    }
    launch_expect(&run, is_right, "the values that are stored");
}

static void read_arrays(job *by, int first, int count)
{
    call one;
    meet(by, first, count, true);
    build_call(&one, by, first, count);
    memset(one.memory, 0xff, sizeof(int32_t) * ARRAYS * MOST * MOST);
    if (!is_done(by, first, count, LAUNCH_AGREED(&run, parapet_arrays_read(one.list, count)))) {
        list_handles(&one, by);
        (void)LAUNCH_OK(&run, parapet_arrays_read(one.list, count));
    }
    if (by != &jobs[0] && is_unflushed(first, count))
        expect_stored(by, &one);
    else
        launch_expect(&run, holds_model(&one), "the values of the model");
    end_call(&one);
}

static void write_arrays(job *by, int first, int count)
{
    int32_t before[ARRAYS][MOST][MOST];
    call one;
    int i;
    meet(by, first, count, false);
    build_call(&one, by, first, count);
    for (i = 0; i < ARRAYS; i++)
        memcpy(before[i], model[i].values, sizeof before[i]);
    change_model(&one);
    take_from_model(&one);
    if (!is_done(by, first, count, LAUNCH_AGREED(&run, parapet_arrays_write(one.list, count)))) {
        for (i = first; i < first + count; i++) /* opening has flushed only what was written before */
            memcpy(pasts[i].states[0], before[i], sizeof before[i]);
        list_handles(&one, by);
        (void)LAUNCH_OK(&run, parapet_arrays_write(one.list, count));
    }
    for (i = first; i < first + count; i++) {
        leave_others_behind(by, i); /* it may have taken off a seal */
        note_write(by, i);
        if (by == &jobs[0] && draw_chance(&from, 15))
            watch_past(by, i);
    }
    end_call(&one);
}

/* ---- Both write ---- */

static tile meeting;               /* what the other job writes */
static int32_t others[MOST][MOST]; /* what is then stored */

static bool meets(const tile *one, const tile *other)
{
    int d;
    bool is_met = true;
    for (d = 0; d < 2; d++)
        is_met &=
            one->start[d] < other->start[d] + other->count[d] && other->start[d] < one->start[d] + one->count[d];
    return is_met;
}

static bool is_of_one(int which, const tile *shard)
{
    return is_like(model[which].values, shard) || (meets(shard, &meeting) && is_like(others, shard));
}

/* The first job has not flushed what it wrote, and the other one writes some of the same. */
static void collide(int which)
{
    job *first = &jobs[0], *other = &jobs[1];
    int32_t kept[MOST][MOST];
    call one;
    parapet_status status;
    if (!is_unflushed(which, 1) || other->is_behind[which])
        return;
    watch_past(first, which);
    memcpy(kept, model[which].values, sizeof kept);
    memcpy(model[which].values, seen, sizeof seen);
    build_call(&one, other, which, 1);
    change_model(&one);
    take_from_model(&one);
    (void)LAUNCH_OK(&run, parapet_arrays_write(one.list, 1));
    meeting = one.all[0];
    memcpy(others, model[which].values, sizeof others);
    memcpy(model[which].values, kept, sizeof kept);
    end_call(&one);
    watch(which);
    launch_expect(&run, memcmp(seen, others, sizeof seen) == 0, "what the other job has written");
    status = LAUNCH_AGREED(&run, parapet_array_flush(first->arrays[which]));
    launch_expect(&run, status == PARAPET_OK || status == PARAPET_ERR_STALE, parapet_error_message());
    launch_expect(&run, LAUNCH_AGREED(&run, parapet_array_close(&first->arrays[which])) == status,
                  parapet_error_message());
    (void)open_array(first, which);
    watch(which);
    launch_expect(&run, are_all(first, which, is_of_one), "every shard as one of the jobs has written it");
    memcpy(model[which].values, seen, sizeof seen);
    settle_all(first);
    leave_others_behind(first, which);
}

/* Every rank for itself. */
static void read_alone(job *by, int which)
{
    call one;
    parapet_status status;
    meet(by, which, 1, false);
    build_call(&one, by, which, 1);
    one.own[0] = one.all[0];
    one.own[0].count[0] = (one.all[0].count[0] + run.rank) / (run.rank + 1);
    status = parapet_array_read_local(by->arrays[which], one.parts, 1);
    if (is_unflushed(which, 1))
        launch_expect(&run, status == PARAPET_ERR_ARGUMENT || (status == PARAPET_ERR_STALE && by->is_behind[which]),
                      "a local read that refuses");
    else if (status == PARAPET_OK)
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
    meet(by, which, 1, false);
    if (!is_done(by, which, 1, LAUNCH_AGREED(&run, parapet_array_resize(by->arrays[which], shape))))
        (void)LAUNCH_OK(&run, parapet_array_resize(by->arrays[which], shape));
    settle_all(by);
    memcpy(model[which].shape, shape, sizeof shape);
    keep_inside(&model[which]);
    sync_dirs(which);
    leave_others_behind(by, which);
}

/* Of what is stored: a handle also seals what it wrote before the other job did. */
static void seal(job *by, int which)
{
    meet(by, which, 1, true);
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
    settle_all(by);
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
    settle_all(by);
    memset(model[which].values, 0, sizeof model[which].values);
    memcpy(model[which].shape, shape, sizeof shape);
    sync_dirs(which);
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
        if (&jobs[i] != by) {
            (void)open_array(&jobs[i], which);
            settle_all(&jobs[i]);
        }
}

static bool open_first(parapet_mode mode);

/* The first job loses its storage in the middle of a call, and is started again: a kill, as far as storage can tell.
 */
static void kill_first(int which)
{
    job *by = &jobs[0];
    call one;
    parapet_status status;
    int i;
    build_call(&one, by, which, 1);
    plan = (pp_fault_plan){.fail_at = draw_between(&from, 0, 40), .fail_forever = true, .status = PARAPET_ERR_IO};
    plan.fail_after = draw_chance(&from, 50);
    if (draw_chance(&from, 50) && run.rank == 0)
        plan.fail_at = -1;
    if (draw_chance(&from, 60)) {
        status = LAUNCH_AGREED(&run, parapet_store_flush(by->store));
        if (status == PARAPET_OK)
            settle_all(by);
    } else { /* one that fails may have written some shards nevertheless */
        change_model(&one);
        take_from_model(&one);
        (void)LAUNCH_AGREED(&run, parapet_arrays_write(one.list, 1));
        memcpy(pasts[which].states[pasts[which].count++], model[which].values, sizeof model[which].values);
    }
    end_call(&one);
    for (i = 0; i < ARRAYS; i++)
        (void)LAUNCH_AGREED(&run, parapet_array_close(&by->arrays[i]));
    (void)LAUNCH_AGREED(&run, parapet_store_close(&by->store));
    plan = (pp_fault_plan){.fail_at = -1};
    (void)open_first(PARAPET_UPDATE);
    for (i = 0; i < ARRAYS; i++) {
        (void)open_array(by, i);
        watch_past(by, i);
        memcpy(model[i].values, seen, sizeof seen);
        sync_dirs(i);
        leave_others_behind(by, i);
    }
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
    if (jobs[0].writes_back && what < 6)
        flush(which);
    else if (jobs[0].writes_back && what < 9)
        collide(which);
    else if (jobs[0].writes_back && what < 11)
        kill_first(which);
    else if (what < 36)
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
    if (what >= 11 && what < 74)
        expect_memory(by);
}

/* ---- A case ---- */

static parapet_store_options draw_options(job *by)
{
    static const int64_t caches[] = {3000, 20000, 1 << 20};
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE,
                                     .transport = draw_chance(&from, 50) ? PARAPET_TRANSPORT_DIRECT
                                                                         : PARAPET_TRANSPORT_MESSAGES,
                                     .threads = draw_between(&from, 1, 2),
                                     .memory_bytes = draw_between(&from, 2, 4) << 20};
    if (by == &jobs[0] || draw_chance(&from, 50)) { /* the second job may be one without a cache */
        options.keep_descriptions = 1;
        options.cache_bytes = caches[draw_between(&from, 0, 2)];
        options.write_back = by == &jobs[0] && by->writes_back;
    }
    by->memory_bytes = options.memory_bytes;
    return options;
}

static bool open_first(parapet_mode mode)
{
    parapet_store_options options = draw_options(&jobs[0]);
    return LAUNCH_OK(&run, pp_store_open_over(&jobs[0].store, MPI_COMM_WORLD, faulty, mode, &options));
}

static bool open_others(void)
{
    parapet_store_options options = draw_options(&jobs[1]), plain = {.durability = PARAPET_DURABILITY_LEAVE};
    return LAUNCH_OK(&run, parapet_store_open(&jobs[1].store, MPI_COMM_WORLD, folder, PARAPET_UPDATE, &options)) &&
           LAUNCH_OK(&run, parapet_store_open(&watcher, MPI_COMM_WORLD, folder, PARAPET_READ, &plain));
}

static void build_storage(void)
{
    pp_posix_options posix = {.not_durable = true, .create = true};
    plan = (pp_fault_plan){.fail_at = -1};
    if (run.rank == 0)
        launch_expect(&run, pp_store_posix_build(&directory, folder, &posix) == PARAPET_OK, "a directory");
    launch_barrier();
    if (run.rank != 0)
        launch_expect(&run, pp_store_posix_build(&directory, folder, &posix) == PARAPET_OK, "a directory");
    launch_expect(&run, pp_store_faulty_build(&faulty, directory, &plan) == PARAPET_OK, "a store that can fail");
}

static bool open_case(uint64_t seed)
{
    int i;
    (void)snprintf(folder, sizeof folder, "%s/s%llu", run.folder, (unsigned long long)seed);
    next_value = 1;
    memset(model, 0, sizeof model);
    memset(jobs, 0, sizeof jobs);
    memset(pasts, 0, sizeof pasts);
    jobs[0].writes_back = draw_chance(&from, 70);
    build_storage();
    if (!open_first(PARAPET_CREATE) || !open_others())
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
        (void)LAUNCH_OK(&run, parapet_store_close(&watcher));
    }
    pp_store_free(faulty);
    pp_store_free(directory);
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
