/* operation.c - what a job can do to a store, each on any number of ranks: see
 * race.h. */
#include <stdio.h>
#include <string.h>

#include "race.h"

static const int64_t shape[1] = {LENGTH}, chunks[1] = {CHUNK}, shards[1] = {SHARD}, origin[1] = {0};

/* What of so many a rank has, in blocks. */
static int64_t cut_block(const actor *own, int64_t extent, int64_t *count)
{
    int64_t start = extent * own->rank / own->ranks;
    *count = extent * (own->rank + 1) / own->ranks - start;
    return start;
}

/* ---- The array ---- */

static parapet_status create(const actor *own, int64_t mark, bool overwrites)
{
    char attributes[64];
    parapet_array_spec spec = {.ndim = 1,
                               .type = PARAPET_INT64,
                               .shape = shape,
                               .chunks = chunks,
                               .shards = shards,
                               .attributes = attributes,
                               .overwrite = overwrites};
    parapet_array *array = NULL;
    parapet_status status;
    (void)snprintf(attributes, sizeof attributes, "{\"made\": %lld}", (long long)mark);
    status = parapet_array_create(&array, own->store, "a", &spec);
    (void)parapet_array_close(&array);
    return status;
}

/* Two shards by all ranks: 0 and 1, or 2 and 3; those of a wide one are 1
 * and 2. */
static parapet_status write_shards(const actor *own, const part_of_race *part, parapet_array *array)
{
    int64_t values[2 * SHARD], start[1], count[1];
    parapet_part one = {.ndim = 1, .start = start, .count = count, .data = values};
    int i;
    for (i = 0; i < 2 * SHARD; i++)
        values[i] = part->mark;
    start[0] = SHARD * (part->is_wide ? 1 : 2 * own->job) + cut_block(own, 2 * SHARD, count);
    return parapet_array_write(array, &one, count[0] > 0);
}

/* Every other chunk, those of the other job left out; a wide one half a chunk
 * more, before and behind. */
static parapet_status write_chunks(const actor *own, const part_of_race *part, parapet_array *array)
{
    enum { PIECES = LENGTH / CHUNK / 2 };
    int64_t values[CHUNK * 2], starts[PIECES], count[1] = {part->is_wide ? CHUNK * 3 / 2 : CHUNK};
    int64_t own_count, first = cut_block(own, PIECES, &own_count);
    parapet_part list[PIECES];
    int i;
    for (i = 0; i < CHUNK * 2; i++)
        values[i] = part->mark;
    for (i = 0; i < own_count; i++) {
        starts[i] = CHUNK * (2 * (first + i) + (part->is_wide ? 0 : own->job));
        list[i] = (parapet_part){.ndim = 1, .start = &starts[i], .count = count, .data = values};
    }
    return parapet_array_write(array, list, (int)own_count);
}

static parapet_status set_attribute(const actor *own, const part_of_race *part, parapet_array *array)
{
    char name[16], json[32];
    (void)snprintf(name, sizeof name, "job%d", own->job);
    (void)snprintf(json, sizeof json, "%lld", (long long)part->mark);
    return parapet_array_attribute_set(array, name, json);
}

static parapet_status read_all(const actor *own, parapet_array *array, outcome *told)
{
    parapet_array_info info = {0};
    int64_t count[1] = {0};
    parapet_part one = {.ndim = 1, .start = origin, .count = count, .data = told->values};
    parapet_status status = parapet_array_get_info(array, &info);
    (void)own;
    if (status == PARAPET_OK)
        told->length = count[0] = info.shape[0];
    return status == PARAPET_OK ? parapet_array_read(array, &one, 1) : status;
}

static parapet_status use_array(const actor *own, const part_of_race *part, parapet_array *array, outcome *told)
{
    static const int64_t grown[1] = {LENGTH_GROWN}, shrunk[1] = {LENGTH_SHRUNK};
    switch (part->does) {
    case OP_WRITE_SHARDS:
        return write_shards(own, part, array);
    case OP_WRITE_CHUNKS:
        return write_chunks(own, part, array);
    case OP_RESIZE:
        return parapet_array_resize(array, part->is_wide ? shrunk : grown);
    case OP_ATTRIBUTE:
        return set_attribute(own, part, array);
    case OP_SEAL:
        return parapet_array_seal(array);
    default:
        return read_all(own, array, told);
    }
}

static parapet_status open_and_use(const actor *own, const part_of_race *part, outcome *told)
{
    parapet_array *array = NULL;
    parapet_status status;
    if (own->aged != NULL)
        return use_array(own, part, own->aged, told);
    if ((status = parapet_array_open(&array, own->store, "a")) == PARAPET_OK)
        status = use_array(own, part, array, told);
    (void)parapet_array_close(&array);
    return status;
}

/* ---- Groups ---- */

static parapet_status consolidate(parapet_store *store)
{
    parapet_group *root = NULL;
    parapet_status status = parapet_group_open(&root, store, "");
    if (status == PARAPET_OK)
        status = parapet_group_consolidate(root);
    (void)parapet_group_close(&root);
    return status;
}

parapet_status operation_copy(parapet_store *store, const part_of_race *part, bool resumes)
{
    parapet_copy_request request = {.source = store,
                                    .source_path = part->is_source ? "a" : "source",
                                    .target = store,
                                    .target_path = part->is_source ? "t" : "a",
                                    .changes = {.chunks = "8", .shards = "16"},
                                    .unit_bytes = 128,
                                    .overwrite = !resumes && part->is_wide,
                                    .resume = resumes,
                                    .no_probe = 1};
    return parapet_copy(&request, NULL);
}

static int note_removed(void *told, const char *path, const char *reason)
{
    (void)path;
    ((outcome *)told)->has_removed = strcmp(reason, "array") == 0;
    return 0;
}

/* ---- Series and checkpoints ---- */

parapet_status operation_append(const actor *own, int64_t mark)
{
    int64_t values[2 * CHUNK], count[1], start[1] = {cut_block(own, 2 * CHUNK, count)};
    parapet_part one = {.ndim = 1, .start = start, .count = count, .data = values};
    parapet_step step = {.parts = &one, .part_count = 1};
    parapet_series *series = NULL;
    parapet_status status, closed;
    int i;
    for (i = 0; i < 2 * CHUNK; i++)
        values[i] = mark;
    if ((status = parapet_series_open(&series, own->store, "s")) == PARAPET_OK)
        status = parapet_series_append(series, (double)mark, &step);
    closed = parapet_series_close(&series);
    return status != PARAPET_OK ? status : closed;
}

static parapet_status open_series(parapet_store *store)
{
    parapet_series *series = NULL;
    parapet_status status = parapet_series_open(&series, store, "s");
    return status == PARAPET_OK ? parapet_series_close(&series) : status;
}

parapet_status operation_commit(const actor *own, int64_t mark, int64_t keep, int64_t *generation)
{
    parapet_array_spec spec = {.ndim = 1, .type = PARAPET_INT64, .shape = shape, .chunks = chunks, .shards = shards};
    parapet_checkpoint_options options = {.keep = keep};
    int64_t values[LENGTH], count[1], start[1] = {cut_block(own, LENGTH, count)};
    parapet_part one = {.ndim = 1, .start = start, .count = count, .data = values};
    parapet_checkpoint_item item = {.name = "x", .spec = &spec, .parts = &one, .part_count = 1};
    parapet_checkpoint *checkpoint = NULL;
    parapet_status status;
    int i;
    for (i = 0; i < LENGTH; i++)
        values[i] = mark;
    if ((status = parapet_checkpoint_begin(&checkpoint, own->store, "c", &options)) == PARAPET_OK &&
        (status = parapet_checkpoint_put(checkpoint, &item, 1)) == PARAPET_OK)
        return parapet_checkpoint_commit(&checkpoint, generation);
    if (checkpoint != NULL)
        (void)parapet_checkpoint_abort(&checkpoint);
    return status;
}

parapet_status operation_restore(parapet_store *store, int64_t generation, outcome *told)
{
    parapet_part one = {.ndim = 1, .start = origin, .count = shape, .data = told->values};
    parapet_checkpoint_item item = {.name = "x", .parts = &one, .part_count = 1};
    parapet_restore_info info = {0};
    parapet_restore *restore = NULL;
    parapet_status status = parapet_restore_open(&restore, store, "c", generation);
    int i;
    if (status != PARAPET_OK || (status = parapet_restore_get_info(restore, &info)) != PARAPET_OK)
        return status;
    told->generation = info.generation;
    told->alarms += info.passed_over;
    if ((status = parapet_restore_get(restore, &item, 1)) == PARAPET_OK) {
        told->mark = told->values[0];
        for (i = 0; i < LENGTH; i++)
            if (told->values[i] != told->mark)
                told->mark = -1;
    }
    (void)parapet_restore_close(&restore);
    return status;
}

/* ---- Checking ---- */

enum { NODES_MOST = 32 };

typedef struct node_list {
    int count;
    char names[NODES_MOST][256];
    parapet_node_kind kinds[NODES_MOST];
} node_list;

static int take_node(void *context, const char *name, parapet_node_kind kind)
{
    node_list *list = context;
    (void)snprintf(list->names[list->count], sizeof list->names[0], "%s", name);
    list->kinds[list->count] = kind;
    return ++list->count == NODES_MOST;
}

/* The first words of what was found, for whoever looks at a failure. */
static int take_finding(void *context, const parapet_finding *finding)
{
    outcome *told = context;
    bool is_problem = finding->kind != PARAPET_FINDING_ABSENT;
    if (is_problem && told->sentence[0] == '\0')
        (void)snprintf(told->sentence, sizeof told->sentence, "%s: %s", finding->key, finding->problem);
    return 0;
}

static parapet_status check_array(parapet_store *store, const char *path, outcome *told)
{
    parapet_check_summary summary = {0};
    parapet_array *array = NULL;
    parapet_status status = parapet_array_open(&array, store, path);
    if (status == PARAPET_OK)
        status = parapet_array_check(array, PARAPET_CHECK_DATA, take_finding, told, &summary);
    (void)parapet_array_close(&array);
    if (status == PARAPET_OK) {
        told->alarms += summary.torn + summary.missing;
        told->strays += summary.stray;
    }
    return status;
}

/* What goes while it is being looked at is no problem. */
static bool is_gone(parapet_status status)
{
    return status == PARAPET_ERR_NOT_FOUND || status == PARAPET_ERR_STALE;
}

static parapet_status check_below(parapet_store *store, const char *path, outcome *told)
{
    node_list list = {0};
    char below[600];
    parapet_group *group = NULL;
    parapet_status status = parapet_group_open(&group, store, path), found = PARAPET_OK;
    int i;
    if (status == PARAPET_OK)
        status = parapet_group_list(group, take_node, &list);
    (void)parapet_group_close(&group);
    for (i = 0; i < list.count && status == PARAPET_OK; i++) {
        (void)snprintf(below, sizeof below, "%s%s%s", path, path[0] != '\0' ? "/" : "", list.names[i]);
        status =
            list.kinds[i] == PARAPET_NODE_GROUP ? check_below(store, below, told) : check_array(store, below, told);
        if (is_gone(status)) {
            found = PARAPET_ERR_STALE;
            status = PARAPET_OK;
        }
    }
    return status != PARAPET_OK ? status : found;
}

parapet_status operation_check_all(parapet_store *store, outcome *told)
{
    return check_below(store, "", told);
}

/* ---- The whole ---- */

static parapet_status run_operation(const actor *own, const part_of_race *part, outcome *told)
{
    switch (part->does) {
    case OP_CREATE:
    case OP_OVERWRITE:
        return create(own, part->mark, part->does == OP_OVERWRITE);
    case OP_CONSOLIDATE:
        return consolidate(own->store);
    case OP_COPY:
    case OP_RESUME:
        return operation_copy(own->store, part, part->does == OP_RESUME);
    case OP_APPEND:
        return operation_append(own, part->mark);
    case OP_SERIES_OPEN:
        return open_series(own->store);
    case OP_COMMIT:
        return operation_commit(own, part->mark, part->is_wide ? 1 : 2, &told->generation);
    case OP_RESTORE:
        return operation_restore(own->store, 0, told);
    case OP_COLLECT:
        return parapet_store_collect(own->store, "", 0, NULL, NULL);
    case OP_CHECK:
        return operation_check_all(own->store, told);
    case OP_REMOVE:
        return parapet_store_remove(own->store, "a", 0, 0, note_removed, told);
    default:
        return open_and_use(own, part, told);
    }
}

void operation_run(const actor *own, const race *run, outcome *told)
{
    memset(told, 0, sizeof *told);
    told->status = run_operation(own, &run->jobs[own->job], told);
    if (told->status != PARAPET_OK)
        (void)snprintf(told->sentence, sizeof told->sentence, "%s", parapet_error_message());
}
