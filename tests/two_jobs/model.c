/* model.c - two calls, one after the other: see model.h. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

static bool is_write(operation does)
{
    return does == OP_WRITE_SHARDS || does == OP_WRITE_CHUNKS;
}

/* Changes nothing and keeps nobody out. */
static bool is_reader(operation does)
{
    return does == OP_RESTORE || does == OP_CHECK || does == OP_READ;
}

/* In between, or afterwards, there is no array. */
static bool replaces(const part_of_race *part)
{
    return part->does == OP_OVERWRITE || part->does == OP_REMOVE ||
           (part->does == OP_COPY && part->is_wide && !part->is_source);
}

/* ---- What a call makes of a world; false: it could not have been done there
 * ---- */

static void put_mark(world *in, int64_t start, int64_t count, int64_t mark)
{
    int64_t i;
    for (i = start; i < start + count; i++)
        in->array.values[i] = mark;
}

/* Where the part of a job lies, piece by piece; false: there are no more. */
static bool written_piece(const part_of_race *part, int job, int index, int64_t *start, int64_t *count)
{
    if (part->does == OP_WRITE_SHARDS) {
        *start = SHARD * (part->is_wide ? 1 : 2 * job);
        *count = 2 * SHARD;
        return index == 0;
    }
    *start = CHUNK * (2 * index + (part->is_wide ? 0 : job));
    *count = part->is_wide ? CHUNK * 3 / 2 : CHUNK;
    return index < LENGTH / CHUNK / 2;
}

static bool is_inside(const world *in, const part_of_race *part, int job)
{
    int64_t start, count;
    int i;
    for (i = 0; written_piece(part, job, i, &start, &count); i++)
        if (start + count > in->array.length)
            return false;
    return true;
}

static bool apply_write(world *in, const part_of_race *part, int job)
{
    int64_t start, count;
    int i;
    if (!in->array.exists || !is_inside(in, part, job))
        return false;
    for (i = 0; written_piece(part, job, i, &start, &count); i++)
        put_mark(in, start, count, part->mark);
    in->array.is_sealed = false;
    return true;
}

static bool apply_resize(world *in, bool shrinks)
{
    int64_t i, length = shrinks ? LENGTH_SHRUNK : LENGTH_GROWN;
    if (!in->array.exists)
        return false;
    for (i = length; i < LENGTH_GROWN; i++)
        in->array.values[i] = 0;
    in->array.is_sealed = in->array.is_sealed && in->array.length == length;
    in->array.length = length;
    return true;
}

static bool apply_create(world *in, int64_t mark, bool overwrites)
{
    if (in->array.exists && !overwrites)
        return false;
    in->array = (world_array){.exists = true, .length = LENGTH, .made = mark};
    return true;
}

/* What is left by an interrupted copy, or by one who is just taking the array away, can be removed, too. */
static bool apply_remove(world *in, const race *run, int job, bool has_removed)
{
    bool could = has_removed ? in->array.exists : run->is_begun || replaces(&run->jobs[!job]);
    in->array = (world_array){0};
    return could;
}

static bool apply_copy(world *in, const part_of_race *part)
{
    world_array *target = part->is_source ? &in->target : &in->array;
    int i;
    if ((target->exists && !(part->does == OP_COPY && part->is_wide)) || (part->is_source && !in->array.exists))
        return false;
    if (part->is_source) {
        *target = in->array;
        target->is_sealed = false;
        return true;
    }
    *target = (world_array){.exists = true, .length = LENGTH};
    for (i = 0; i < LENGTH; i++)
        target->values[i] = 500 + i;
    return true;
}

static bool apply_append(world *in, int64_t mark)
{
    in->steps[in->step_count++] = mark;
    return true;
}

static bool apply_commit(world *in, const part_of_race *part, int64_t generation)
{
    if (in->generation_count > 0 && generation <= in->generations[0])
        return false;
    memmove(&in->generations[1], &in->generations[0], sizeof in->generations - sizeof in->generations[0]);
    memmove(&in->marks[1], &in->marks[0], sizeof in->marks - sizeof in->marks[0]);
    in->generations[0] = generation;
    in->marks[0] = part->mark;
    in->generation_count = part->is_wide ? 1 : 2;
    return true;
}

static bool apply(world *in, const race *run, int job, const outcome *told)
{
    const part_of_race *part = &run->jobs[job];
    switch (part->does) {
    case OP_CREATE:
    case OP_OVERWRITE:
        return apply_create(in, part->mark, part->does == OP_OVERWRITE);
    case OP_WRITE_SHARDS:
    case OP_WRITE_CHUNKS:
        return apply_write(in, part, job);
    case OP_RESIZE:
        return apply_resize(in, part->is_wide);
    case OP_ATTRIBUTE:
        in->array.set[job] = part->mark;
        return in->array.exists;
    case OP_SEAL:
        in->array.is_sealed = true;
        return in->array.exists;
    case OP_COPY:
    case OP_RESUME:
        return apply_copy(in, part);
    case OP_APPEND:
        return apply_append(in, part->mark);
    case OP_COMMIT:
        return apply_commit(in, part, told->generation);
    case OP_READ:
        return in->array.exists;
    case OP_REMOVE:
        return apply_remove(in, run, job, told->has_removed);
    default:
        return true;
    }
}

/* ---- Refusals ---- */

static bool has_target(const world *in, const part_of_race *part)
{
    return part->is_source ? in->target.exists : in->array.exists;
}

/* Where each job has a mount of its own, files have other numbers there, and no copy can be resumed. */
static bool has_other_mounts(void)
{
    return getenv("TWO_JOBS_STORES") != NULL;
}

/* Whether a call that changed nothing may say so, in that world and beside what
 * the other job did. */
static bool may_refuse(const world *in, const race *run, int job, parapet_status status)
{
    const part_of_race *part = &run->jobs[job], *other = &run->jobs[!job];
    switch (status) {
    case PARAPET_ERR_BUSY:
        return !is_reader(part->does) && !is_reader(other->does);
    case PARAPET_ERR_STALE:
        return !is_reader(other->does);
    case PARAPET_ERR_EXISTS:
        return part->does == OP_COMMIT || has_target(in, part) || replaces(other);
    case PARAPET_ERR_NOT_FOUND:
        return !in->array.exists || replaces(other);
    case PARAPET_ERR_ARGUMENT:
        return (is_write(part->does) && !is_inside(in, part, job)) ||
               (part->does == OP_RESUME && (has_target(in, part) || other->does == OP_COPY || has_other_mounts()));
    default:
        return false;
    }
}

/* ---- What readers have seen ---- */

static bool has_seen(const world *in, const outcome *told)
{
    return in->array.exists && told->length <= in->array.length &&
           memcmp(told->values, in->array.values, (size_t)told->length * sizeof told->values[0]) == 0;
}

/* A write becomes visible shard by shard. */
static bool has_seen_shards(const world *before, const world *after, const outcome *told)
{
    int64_t start;
    for (start = 0; start < told->length; start += SHARD) {
        size_t bytes = SHARD * sizeof told->values[0];
        if (memcmp(&told->values[start], &before->array.values[start], bytes) != 0 &&
            memcmp(&told->values[start], &after->array.values[start], bytes) != 0)
            return false;
    }
    return true;
}

static bool has_restored(const world *in, const outcome *told)
{
    return in->generation_count > 0 && told->generation == in->generations[0] && told->mark == in->marks[0];
}

/* A reader may have been before or after the other job, whatever the order of
 * the two was otherwise. */
static bool has_seen_either(const race *run, int job, const outcome *told, const world *before, const world *after)
{
    switch (run->jobs[job].does) {
    case OP_READ:
        return has_seen(before, told) || has_seen(after, told) ||
               (is_write(run->jobs[!job].does) && has_seen_shards(before, after, told));
    case OP_RESTORE:
        return has_restored(before, told) || has_restored(after, told);
    default:
        return true;
    }
}

/* ---- Judging ---- */

/* A write that is refused may have taken the seal off before. */
static bool has_certain_seal(const race *run, const outcome told[2])
{
    int job;
    for (job = 0; job < 2; job++)
        if (told[job].status != PARAPET_OK && (is_write(run->jobs[job].does) || run->jobs[job].does == OP_RESIZE))
            return false;
    return true;
}

/* A copy of an array that is being written takes every chunk as it finds it. */
static void allow_mixed_copy(const race *run, const world *before, const world *after, world *state)
{
    size_t bytes = CHUNK * sizeof state->target.values[0];
    int64_t i;
    int job;
    for (job = 0; job < 2; job++) {
        if (!run->jobs[job].is_source || !is_write(run->jobs[!job].does) || !state->target.exists)
            continue;
        for (i = 0; i < LENGTH; i += CHUNK)
            if (memcmp(&after->target.values[i], &before->array.values[i], bytes) == 0 ||
                memcmp(&after->target.values[i], &after->array.values[i], bytes) == 0)
                memcpy(&state->target.values[i], &after->target.values[i], bytes);
    }
}

static bool is_explained(const race *run, const outcome told[2], int first, const world *before, const world *after)
{
    world state = *before;
    int i;
    for (i = 0; i < 2; i++) {
        int job = i == 0 ? first : !first;
        bool is_right = told[job].status == PARAPET_OK ? apply(&state, run, job, &told[job])
                                                       : may_refuse(&state, run, job, told[job].status);
        if (!is_right)
            return false;
    }
    allow_mixed_copy(run, before, after, &state);
    return world_equals(&state, after, has_certain_seal(run, told));
}

const char *model_judge(const race *run, const outcome told[2], const world *before, const world *after)
{
    int job;
    for (job = 0; job < 2; job++) {
        if (told[job].status == PARAPET_OK && !has_seen_either(run, job, &told[job], before, after))
            return "a reader has seen what never was";
        if (told[job].alarms + told[job].strays > 0)
            return "a reader was told of damage that is none";
    }
    if (!is_explained(run, told, 0, before, after) && !is_explained(run, told, 1, before, after))
        return "no order of the two calls explains it";
    return NULL;
}

/* ---- One of the two was killed ---- */

static bool is_old_or_new(const world *one, const world *other, const world *found)
{
    world mixed = *found;
    int64_t start;
    for (start = 0; start < LENGTH; start += SHARD) {
        size_t bytes = SHARD * sizeof found->array.values[0];
        const int64_t *values = &found->array.values[start];
        if (memcmp(values, &one->array.values[start], bytes) != 0 &&
            memcmp(values, &other->array.values[start], bytes) != 0)
            return false;
    }
    memcpy(mixed.array.values, one->array.values, sizeof mixed.array.values);
    return world_equals(&mixed, one, false);
}

/* Whether the survivor can have been told that in this world, which it then changes. */
static bool fits_survivor(const race *run, const outcome *told, world *state)
{
    if (told->status == PARAPET_OK)
        return apply(state, run, 0, told);
    return told->status == PARAPET_ERR_EXISTS || may_refuse(state, run, 0, told->status);
}

static world without_array(const world *from)
{
    world none = *from;
    none.array = (world_array){0};
    return none;
}

/* What the killed job did behind the survivor: nothing, all, some shards of a write, or it took the array away and
 * did not come to put the new one in its place. */
static bool is_left_behind(const race *run, const outcome *killed, const world *state, const world *after)
{
    world with = *state, none = without_array(state);
    return world_equals(state, after, false) ||
           (apply(&with, run, 1, killed) &&
            (world_equals(&with, after, false) || is_old_or_new(state, &with, after))) ||
           (replaces(&run->jobs[1]) && world_equals(&none, after, false));
}

const char *model_judge_killed(const race *run, const outcome *told, const world *before, const world *after)
{
    const outcome killed = {.generation = before->generations[0] + 1, .has_removed = before->array.exists};
    world without = *before, with = *before, none = without_array(before);
    bool fits_without = fits_survivor(run, told, &without);
    bool fits_with = apply(&with, run, 1, &killed) && fits_survivor(run, told, &with);
    bool fits_none = replaces(&run->jobs[1]) && fits_survivor(run, told, &none);
    if (told->alarms > 0)
        return "a reader was told of damage that is none";
    if (!fits_without && !fits_with && !fits_none)
        return "what the survivor was told has no reason";
    if ((fits_without && is_left_behind(run, &killed, &without, after)) ||
        (fits_with && (world_equals(&with, after, false) || is_old_or_new(&with, &without, after))) ||
        (fits_none && world_equals(&none, after, false)))
        return NULL;
    return "neither all, nor nothing, of what the killed job did explains it";
}
