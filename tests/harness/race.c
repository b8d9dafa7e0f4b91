/* race.c - what a race is, from its seed: see race.h. */
#include "race.h"

#include "draw.h"

static const char *const names[OPERATIONS] = {
    [OP_CREATE] = "create",
    [OP_WRITE_SHARDS] = "write shards",
    [OP_WRITE_CHUNKS] = "write chunks",
    [OP_RESIZE] = "resize",
    [OP_ATTRIBUTE] = "attribute",
    [OP_CONSOLIDATE] = "consolidate",
    [OP_SEAL] = "seal",
    [OP_OVERWRITE] = "overwrite",
    [OP_COPY] = "copy",
    [OP_RESUME] = "resume copy",
    [OP_APPEND] = "append",
    [OP_SERIES_OPEN] = "open series",
    [OP_COMMIT] = "commit",
    [OP_RESTORE] = "restore",
    [OP_COLLECT] = "gc",
    [OP_CHECK] = "check",
    [OP_READ] = "read",
    [OP_REMOVE] = "rm",
};

const char *operation_name(operation of)
{
    return names[of];
}

static bool is_one(const race *run, operation of)
{
    return run->jobs[0].does == of || run->jobs[1].does == of;
}

static part_of_race draw_part(draw *from, operation does, int64_t mark)
{
    part_of_race part = {.does = does, .mark = mark};
    part.late_us = draw_chance(from, 50) ? 0 : draw_scale(from, 4000);
    part.is_aged = draw_chance(from, 50);
    part.is_wide = draw_chance(from, 50);
    part.is_source = does == OP_COPY && draw_chance(from, 40);
    return part;
}

/* What is copied is there. */
static bool may_be_absent(const race *run, draw *from)
{
    bool is_copied = run->jobs[0].is_source || run->jobs[1].is_source;
    return !is_copied && (is_one(run, OP_CREATE) || is_one(run, OP_COPY)) && draw_chance(from, 50);
}

/* Any of those of this run. */
static const strategy *draw_strategy(draw *from)
{
    const strategy *with, *drawn = NULL;
    int64_t seen = 0;
    for (with = strategy_next(NULL); with != NULL; with = strategy_next(with))
        if (draw_between(from, 0, seen++) == 0)
            drawn = with;
    return drawn;
}

race race_draw(uint64_t seed, operation first, operation second, int64_t number)
{
    draw from = draw_start(seed, (uint64_t)((number * OPERATIONS + (int64_t)first) * OPERATIONS + (int64_t)second));
    race run = {.seed = seed};
    run.jobs[0] = draw_part(&from, first, 1001 + 2 * number);
    run.jobs[1] = draw_part(&from, second, 1002 + 2 * number);
    run.is_begun = is_one(&run, OP_RESUME);
    run.has_array = !run.is_begun && !may_be_absent(&run, &from);
    run.is_sealed = run.has_array && draw_chance(&from, 30);
    run.is_consolidated = draw_chance(&from, 40);
    run.jobs[0].with = draw_strategy(&from);
    run.jobs[1].with = draw_strategy(&from);
    return run;
}
