#include "team.h"

#include <sys/stat.h>

#include "support.h"
#include "tree.h"
#include "watch.h"

enum { ROWS = 10, COLUMNS = 12, MANY_EXTENT = 12, MANY_SHARD = 6 };

static const char *const many_paths[TEAM_MANY] = {"m/0", "m/1", "m/2", "m/3", "m/4"};
static const int64_t many_shape[1] = {MANY_EXTENT}, many_chunks[1] = {3}, many_shards[1] = {MANY_SHARD};
static const int32_t fill = STATE_FILL;

bool team_has_wrong_values;
static int rank, ranks;

static int32_t value_of(int64_t i, int64_t j, int32_t generation)
{
    return generation * 10000 + (int32_t)(i * 100 + j);
}

/* ---- one array: row i belongs to rank i modulo ranks, so that every rank has a piece of every shard ---- */

typedef struct rows {
    int64_t starts[ROWS][2];
    int64_t count[2];
    int32_t values[ROWS][COLUMNS];
    parapet_part parts[ROWS];
    int part_count;
} rows;

/* Those of the box that begins at start; shift gives them to other ranks. */
static void rows_deal(rows *dealt, const int64_t start[2], const int64_t count[2], int shift)
{
    int64_t i, j;
    *dealt = (rows){.count = {1, count[1]}};
    for (i = start[0]; i < start[0] + count[0]; i++) {
        int number = dealt->part_count;
        if ((i + shift) % ranks != rank)
            continue;
        dealt->starts[number][0] = i;
        dealt->starts[number][1] = start[1];
        for (j = 0; j < count[1]; j++)
            dealt->values[number][j] = value_of(i, start[1] + j, 2);
        dealt->parts[number] =
            (parapet_part){.start = dealt->starts[number], .count = dealt->count, .data = dealt->values[number]};
        dealt->part_count++;
    }
}

static parapet_status write_all(bed *used)
{
    static const int64_t start[2] = {0, 0}, count[2] = {ROWS, COLUMNS};
    rows dealt;
    rows_deal(&dealt, start, count, 0);
    return parapet_array_write(used->array, dealt.parts, dealt.part_count);
}

/* Covers no shard and cuts through chunks, as the call of that name in tests/fault. */
static parapet_status write_inside(bed *used)
{
    static const int64_t start[2] = {1, 4}, count[2] = {7, 6};
    rows dealt;
    rows_deal(&dealt, start, count, 1);
    return parapet_array_write(used->array, dealt.parts, dealt.part_count);
}

/* The ranks disagree on nothing, so a wrong value fails the job. */
static parapet_status read_expecting(bed *used, int32_t generation)
{
    static const int64_t start[2] = {0, 0}, count[2] = {ROWS, COLUMNS};
    rows dealt;
    parapet_status status;
    int i, j;
    rows_deal(&dealt, start, count, 1);
    memset(dealt.values, 0xee, sizeof dealt.values);
    status = parapet_array_read(used->array, dealt.parts, dealt.part_count);
    for (i = 0; status == PARAPET_OK && i < dealt.part_count; i++)
        for (j = 0; j < COLUMNS; j++)
            if (dealt.values[i][j] != (generation == 0 ? STATE_FILL : value_of(dealt.starts[i][0], j, generation)))
                team_has_wrong_values = true;
    return status;
}

static parapet_status read_rows(bed *used)
{
    return read_expecting(used, 1);
}

static parapet_status read_absent(bed *used)
{
    return read_expecting(used, 0);
}

static void prepare_absent(bed *used)
{
    static const int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {2, 3}, shards[2] = {STATE_SHARD, STATE_SHARD};
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .fill_value = &fill};
    assert_ok(parapet_array_create(&used->array, used->store, "a", &spec));
}

/* ---- stores ---- */

static parapet_status create_store(bed *used)
{
    return pp_store_open_over(&used->store, MPI_COMM_WORLD, used->faulty, PARAPET_CREATE, &used->options);
}

static parapet_status open_store(bed *used)
{
    return pp_store_open_over(&used->store, MPI_COMM_WORLD, used->faulty, used->mode, &used->options);
}

/* ---- five arrays: element i of each belongs to rank i / 2 modulo ranks ---- */

typedef struct many_parts {
    int64_t starts[TEAM_MANY][MANY_EXTENT][1];
    int32_t values[TEAM_MANY][MANY_EXTENT];
    parapet_part parts[TEAM_MANY][MANY_EXTENT];
    parapet_array_parts list[TEAM_MANY];
} many_parts;

static void many_deal(many_parts *dealt, parapet_array *const *arrays, int rank_count, int own)
{
    static const int64_t one[1] = {1};
    int64_t i;
    int k;
    for (k = 0; k < TEAM_MANY; k++) {
        dealt->list[k] = (parapet_array_parts){.array = arrays[k], .parts = dealt->parts[k]};
        for (i = 0; i < MANY_EXTENT; i++) {
            int number = dealt->list[k].part_count;
            if (i / 2 % rank_count != own)
                continue;
            dealt->starts[k][number][0] = i;
            dealt->parts[k][number] =
                (parapet_part){.start = dealt->starts[k][number], .count = one, .data = &dealt->values[k][number]};
            dealt->list[k].part_count++;
        }
    }
}

static void many_fill(many_parts *dealt, int32_t generation)
{
    int k, i;
    for (k = 0; k < TEAM_MANY; k++)
        for (i = 0; i < dealt->list[k].part_count; i++)
            dealt->values[k][i] = value_of(k, dealt->starts[k][i][0], generation);
}

static parapet_status many_create_in(parapet_store *store, parapet_array **arrays)
{
    parapet_array_spec specs[TEAM_MANY];
    int k;
    for (k = 0; k < TEAM_MANY; k++)
        specs[k] = (parapet_array_spec){.type = PARAPET_INT32,
                                        .ndim = 1,
                                        .shape = many_shape,
                                        .chunks = many_chunks,
                                        .shards = many_shards,
                                        .codec = k % 2 == 0 ? "none" : "zstd:1",
                                        .fill_value = &fill};
    return parapet_arrays_create(arrays, store, many_paths, specs, TEAM_MANY);
}

/* By one process, after what the scenario itself stores. */
static void prepare_many(bed *used)
{
    parapet_array *arrays[TEAM_MANY];
    many_parts dealt;
    scenario_find("array_write, all")->prepare(used);
    assert_ok(many_create_in(used->store, arrays));
    many_deal(&dealt, arrays, 1, 0);
    many_fill(&dealt, 1);
    assert_ok(parapet_arrays_write(dealt.list, TEAM_MANY));
    assert_ok(parapet_arrays_close(arrays, TEAM_MANY));
}

static parapet_status many_create(bed *used)
{
    return many_create_in(used->store, ((team *)used)->many);
}

static parapet_status many_open(bed *used)
{
    return parapet_arrays_open(((team *)used)->many, used->store, many_paths, TEAM_MANY);
}

static parapet_status many_close(bed *used)
{
    return parapet_arrays_close(((team *)used)->many, TEAM_MANY);
}

static parapet_status many_write(bed *used)
{
    many_parts dealt;
    many_deal(&dealt, ((team *)used)->many, ranks, rank);
    many_fill(&dealt, 2);
    return parapet_arrays_write(dealt.list, TEAM_MANY);
}

static parapet_status many_read(bed *used)
{
    many_parts dealt;
    parapet_status status;
    int k, i;
    many_deal(&dealt, ((team *)used)->many, ranks, (rank + 1) % ranks);
    memset(dealt.values, 0xee, sizeof dealt.values);
    status = parapet_arrays_read(dealt.list, TEAM_MANY);
    for (k = 0; status == PARAPET_OK && k < TEAM_MANY; k++)
        for (i = 0; i < dealt.list[k].part_count; i++)
            if (dealt.values[k][i] != value_of(k, dealt.starts[k][i][0], 1))
                team_has_wrong_values = true;
    return status;
}

/* ---- the table ---- */

static const struct row {
    const char *like;                 /* the scenario of tests/fault that says what is stored and open before */
    const char *name;                 /* NULL: the same */
    parapet_status (*run)(bed *used); /* NULL: the same */
    void (*prepare)(bed *used);       /* NULL: the same */
    bool opens_many;
} table[] = {
    {.like = "store_open, creating", .run = create_store},
    {.like = "store_open, for update", .run = open_store},
    {.like = "store_open, for reading", .run = open_store},
    {.like = "store_close"},
    {.like = "group_create"},
    {.like = "group_open"},
    {.like = "group_list"},
    {.like = "group_consolidate"},
    {.like = "group_attribute_set"},
    {.like = "group_close"},
    {.like = "array_create"},
    {.like = "array_create, overwriting sealed"},
    {.like = "array_open"},
    {.like = "array_open, sealed"},
    {.like = "array_close"},
    {.like = "array_write, all", .run = write_all},
    {.like = "array_write, uncompressed", .run = write_all},
    {.like = "array_write, unsharded", .run = write_all},
    {.like = "array_write, merging", .run = write_inside},
    {.like = "array_write, sealed", .run = write_inside},
    {.like = "array_read", .run = read_rows},
    {.like = "array_read, unsharded", .run = read_rows},
    {.like = "array_read, sealed", .run = read_rows},
    {.like = "array_read, two parts", .name = "array_read, the same on all ranks"},
    {.like = "array_read", .name = "array_read, absent chunks", .run = read_absent, .prepare = prepare_absent},
    {.like = "array_resize, growing"},
    {.like = "array_resize, shrinking sealed"},
    {.like = "array_seal"},
    {.like = "array_unseal"},
    {.like = "array_attribute_set"},
    {.like = "array_attribute_set, sealed"},
    {.like = "array_check"},
    {.like = "group_create", .name = "arrays_create", .run = many_create},
    {.like = "group_open", .name = "arrays_open", .run = many_open, .prepare = prepare_many},
    {.like = "array_write, all",
     .name = "arrays_write",
     .run = many_write,
     .prepare = prepare_many,
     .opens_many = true},
    {.like = "array_read", .name = "arrays_read", .run = many_read, .prepare = prepare_many, .opens_many = true},
    {.like = "array_close", .name = "arrays_close", .run = many_close, .prepare = prepare_many, .opens_many = true},
};

const team_call *team_calls(int *count)
{
    static team_call calls[sizeof table / sizeof table[0]];
    int i;
    *count = (int)(sizeof table / sizeof table[0]);
    for (i = 0; i < *count; i++) {
        const scenario *like = scenario_find(table[i].like);
        calls[i] =
            (team_call){.of = *like, .alone = table[i].name == NULL ? like : NULL, .opens_many = table[i].opens_many};
        if (table[i].name != NULL)
            calls[i].of.name = table[i].name;
        if (table[i].run != NULL)
            calls[i].of.run = table[i].run;
        if (table[i].prepare != NULL)
            calls[i].of.prepare = table[i].prepare;
    }
    return calls;
}

/* ---- what is seen ---- */

static void take_many(team_state *seen, parapet_store *store)
{
    int64_t start[1] = {0};
    int k;
    for (k = 0; k < TEAM_MANY; k++) {
        parapet_part part = {.start = start, .count = many_shape, .data = seen->values[k]};
        parapet_array *array;
        parapet_status status = parapet_array_open(&array, store, many_paths[k]);
        seen->exists[k] = status != PARAPET_ERR_NOT_FOUND &&
                          !(status == PARAPET_ERR_ARGUMENT && strstr(parapet_error_message(), "is a group") != NULL);
        if (!seen->exists[k])
            continue;
        assert_ok(status);
        assert_ok(parapet_array_read(array, &part, 1));
        assert_ok(parapet_array_close(&array));
    }
}

void team_state_take(team_state *seen, pp_store *backend)
{
    parapet_options options = {.io_thread = 2};
    parapet_store *store;
    memset(seen, 0, sizeof *seen);
    state_take(&seen->main, backend);
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, backend, PARAPET_READ, &options));
    take_many(seen, store);
    assert_ok(parapet_store_close(&store));
}

static bool shard_equals(const team_state *seen, const team_state *other, int k, int first)
{
    return other->exists[k] &&
           memcmp(&seen->values[k][first], &other->values[k][first], MANY_SHARD * sizeof(int32_t)) == 0;
}

bool team_state_is_between(const team_state *seen, const team_state *old, const team_state *new, state_rule rule,
                           char problem[256])
{
    int k, first;
    if (!state_is_between(&seen->main, &old->main, &new->main, rule, problem))
        return false;
    for (k = 0; k < TEAM_MANY; k++) {
        if (seen->exists[k] != old->exists[k] && seen->exists[k] != new->exists[k]) {
            (void)snprintf(problem, 256, "array \"%s\": existence neither old nor new", many_paths[k]);
            return false;
        }
        for (first = 0; seen->exists[k] && first < MANY_EXTENT; first += MANY_SHARD)
            if (!shard_equals(seen, old, k, first) && (rule.values_old || !shard_equals(seen, new, k, first))) {
                (void)snprintf(problem, 256, "array \"%s\": values from %d on %s", many_paths[k], first,
                               rule.values_old ? "not old, although nothing was published" : "neither old nor new");
                return false;
            }
    }
    return true;
}

/* ---- the bed of all ranks ---- */

void team_build(team *made, const launch *run, const image *before, const parapet_options *options)
{
    static long number;
    pp_posix_options posix = {.not_durable = true, .direct_io = PP_DIRECT_NEVER};
    pp_store *inner;
    rank = run->rank;
    ranks = run->ranks;
    memset(made, 0, sizeof *made);
    made->live = pp_memory_live_count();
    (void)snprintf(made->folder, sizeof made->folder, "%s/team-%ld", run->folder, number++);
    if (rank == 0 && mkdir(made->folder, 0700) != 0)
        fail_msg("cannot make %s", made->folder);
    if (rank == 0) {
        assert_ok(pp_store_posix_build(&inner, made->folder, &posix));
        image_put(before, inner);
        watch_meet();
    } else {
        watch_meet();
        assert_ok(pp_store_posix_build(&inner, made->folder, &posix));
    }
    bed_build(&made->bed, inner);
    made->bed.options = *options;
}

void team_open_handles(team *used, const team_call *call)
{
    bed *own = &used->bed;
    own->mode = call->of.kind == SCENARIO_READS ? PARAPET_READ : PARAPET_UPDATE;
    if (call->of.opens >= OPENS_STORE)
        assert_ok(pp_store_open_over(&own->store, MPI_COMM_WORLD, own->faulty, own->mode, &own->options));
    if (call->of.opens == OPENS_GROUP)
        assert_ok(parapet_group_open(&own->group, own->store, ""));
    if (call->of.opens == OPENS_ARRAY)
        assert_ok(parapet_array_open(&own->array, own->store, "a"));
    if (call->opens_many)
        assert_ok(parapet_arrays_open(used->many, own->store, many_paths, TEAM_MANY));
}

void team_close_handles(team *used)
{
    (void)parapet_arrays_close(used->many, TEAM_MANY);
    bed_close_handles(&used->bed);
}

int64_t team_handles(const team *used)
{
    int64_t bits = (used->bed.store != NULL) | (used->bed.group != NULL) << 1 | (used->bed.array != NULL) << 2;
    int k;
    for (k = 0; k < TEAM_MANY; k++)
        bits |= (int64_t)(used->many[k] != NULL) << (3 + k);
    return bits;
}

void team_abandon(team *used)
{
    memset(used->many, 0, sizeof used->many);
    used->bed.array = NULL;
    used->bed.group = NULL;
    used->bed.store = NULL;
}

void team_free(team *used, const launch *run, bool *has_leftover)
{
    team_close_handles(used);
    bed_free(&used->bed);
    watch_meet();
    *has_leftover = false;
    if (run->rank == 0) {
        tree left = {0};
        tree_take(&left, used->folder);
        *has_leftover = tree_has_leftovers(&left);
        tree_clear(&left);
        tree_remove(used->folder);
    }
}
