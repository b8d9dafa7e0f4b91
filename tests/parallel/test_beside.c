/* Every function that is given a handle, while a request of its store runs: it comes after the request, or beside it
 * without looking at what it changes. structure_beside asks for a row for each; races_beside looks for races.
 *
 *     test_beside [back]: with write-back, where flushing is part of most of them */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "parapet_plan.h"
#include "strip.h"

typedef struct bed {
    char folder[600];
    parapet_store *store, *other;
    parapet_array *array, *second; /* the first is what requests write */
    parapet_group *group;
    parapet_series *series;
    parapet_checkpoint *checkpoint;
    parapet_restore *restore;
    strip own;
    int32_t one;
    int64_t start[1], count[1];
    parapet_part part; /* of a step, and of an item */
    parapet_step step;
    parapet_array_spec spec, step_spec;
    parapet_checkpoint_item item;
    int32_t steps;
} bed;

static launch run;
static bool is_back;

static const int64_t extent[1] = {16}, step_shape[2] = {0, 16};

static int take_time(void *context, int64_t done_bytes, int64_t total_bytes)
{
    (void)context, (void)total_bytes;
    if (done_bytes == 0)
        (void)nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
    return 0;
}

static int visit_child(void *context, const char *name, parapet_node_kind kind)
{
    (void)context, (void)name, (void)kind;
    return 0;
}

static int visit_box(void *context, const int64_t *start, const int64_t *count)
{
    (void)context, (void)start, (void)count;
    return 0;
}

static int visit_generation(void *context, int64_t generation, const char *path)
{
    (void)context, (void)generation, (void)path;
    return 0;
}

static parapet_status after_text(parapet_status status, char **text)
{
    parapet_free(*text);
    return status;
}

static parapet_status after_wait(parapet_request **request, parapet_status status)
{
    return status == PARAPET_OK ? parapet_request_wait(request) : status;
}

/* ---- Stores ---- */

static parapet_status store_open(bed *all)
{
    parapet_store *again = NULL;
    parapet_status status = parapet_store_open(&again, MPI_COMM_WORLD, all->folder, PARAPET_UPDATE, NULL);
    return status == PARAPET_OK ? parapet_store_close(&again) : status;
}

static parapet_status store_close(bed *all)
{
    return parapet_store_close(&all->store) == PARAPET_ERR_ARGUMENT ? PARAPET_OK : PARAPET_ERR_CORRUPT;
}

static parapet_status store_options_print(bed *all)
{
    char *text = NULL;
    return after_text(parapet_store_options_print(all->store, &text), &text);
}

static parapet_status store_get_statistics(bed *all)
{
    parapet_statistics statistics;
    return parapet_store_get_statistics(all->store, &statistics);
}

static parapet_status store_flush(bed *all)
{
    return parapet_store_flush(all->store);
}

static parapet_status store_collect(bed *all)
{
    return parapet_store_collect(all->store, "c", 1, NULL, NULL);
}

static parapet_status store_remove(bed *all)
{
    return parapet_store_remove(all->store, "g", 1, 1, NULL, NULL);
}

/* ---- Groups ---- */

static parapet_status group_create(bed *all)
{
    parapet_group *group = NULL;
    char path[32];
    parapet_status status;
    (void)snprintf(path, sizeof path, "g%d", all->steps++);
    status = parapet_group_create(&group, all->store, path, NULL);
    return status == PARAPET_OK ? parapet_group_close(&group) : status;
}

static parapet_status group_open(bed *all)
{
    parapet_group *group = NULL;
    parapet_status status = parapet_group_open(&group, all->store, "g");
    return status == PARAPET_OK ? parapet_group_close(&group) : status;
}

static parapet_status group_close(bed *all)
{
    parapet_status status = parapet_group_close(&all->group);
    return status == PARAPET_OK ? parapet_group_open(&all->group, all->store, "g") : status;
}

static parapet_status group_list(bed *all)
{
    return parapet_group_list(all->group, visit_child, NULL);
}

static parapet_status group_consolidate(bed *all)
{
    return parapet_group_consolidate(all->group);
}

static parapet_status group_attribute_set(bed *all)
{
    return parapet_group_attribute_set(all->group, "x", "1");
}

static parapet_status group_attribute_get(bed *all)
{
    char *json = NULL;
    return after_text(parapet_group_attribute_get(all->group, NULL, &json), &json);
}

/* ---- Arrays ---- */

static parapet_status array_create(bed *all)
{
    parapet_array_spec spec = all->spec;
    parapet_array *array = NULL;
    parapet_status status;
    spec.overwrite = 1;
    status = parapet_array_create(&array, all->store, "new", &spec);
    return status == PARAPET_OK ? parapet_array_close(&array) : status;
}

static parapet_status arrays_create(bed *all)
{
    static const char *const paths[] = {"new"};
    parapet_array_spec spec = all->spec;
    parapet_array *array = NULL;
    parapet_status status;
    spec.overwrite = 1;
    status = parapet_arrays_create(&array, all->store, paths, &spec, 1);
    return status == PARAPET_OK ? parapet_arrays_close(&array, 1) : status;
}

static parapet_status array_close(bed *all)
{
    parapet_status status = parapet_array_close(&all->array);
    return status == PARAPET_OK ? parapet_array_open(&all->array, all->store, "a") : status;
}

static parapet_status array_open(bed *all)
{
    parapet_array *again = NULL;
    parapet_status status = parapet_array_open(&again, all->store, "a");
    return status == PARAPET_OK ? parapet_array_close(&again) : status;
}

static parapet_status arrays_open(bed *all)
{
    static const char *const paths[] = {"a", "b"};
    parapet_array *again[2] = {NULL, NULL};
    parapet_status status = parapet_arrays_open(again, all->store, paths, 2);
    return status == PARAPET_OK ? parapet_arrays_close(again, 2) : status;
}

static parapet_status array_get_info(bed *all)
{
    parapet_array_info info;
    return parapet_array_get_info(all->array, &info);
}

static parapet_status array_list(bed *all)
{
    return parapet_array_list(all->array, visit_box, NULL);
}

static parapet_status array_layout_print(bed *all)
{
    char *text = NULL;
    return after_text(parapet_array_layout_print(all->array, &text), &text);
}

static parapet_status array_write(bed *all)
{
    return parapet_array_write(all->array, all->own.parts, all->own.part_count);
}

static parapet_status array_read(bed *all)
{
    int32_t generation = -1;
    parapet_status status = strip_read(all->array, &run, &generation);
    launch_expect(&run, generation == 2, "what the request wrote");
    return status;
}

static parapet_status arrays_write(bed *all)
{
    parapet_array_parts list = {.array = all->array, .parts = all->own.parts, .part_count = all->own.part_count};
    return parapet_arrays_write(&list, 1);
}

static parapet_status arrays_read(bed *all)
{
    parapet_array_parts list = {.array = all->second, .parts = all->own.parts, .part_count = 0};
    return parapet_arrays_read(&list, 1);
}

/* What waits to be written may be with another rank. */
static parapet_status unless_back(parapet_status status)
{
    bool is_refused = status == PARAPET_ERR_ARGUMENT && strstr(parapet_error_message(), "is not flushed") != NULL;
    return is_back && is_refused ? PARAPET_OK : status;
}

static parapet_status array_read_local(bed *all)
{
    strip local;
    strip_deal(&local, run.rank, run.ranks);
    return unless_back(parapet_array_read_local(all->array, local.parts, local.part_count));
}

static parapet_points points_of(bed *all, int64_t *index)
{
    index[0] = run.rank;
    return (parapet_points){.ndim = 1, .count = 1, .coordinates = index, .data = &all->one};
}

static parapet_runs runs_of(bed *all, int64_t *start, int64_t *count)
{
    start[0] = run.rank;
    count[0] = 1;
    return (parapet_runs){.count = 1, .starts = start, .lengths = count, .data = &all->one};
}

static parapet_status array_write_points(bed *all)
{
    int64_t index[1];
    parapet_points points = points_of(all, index);
    return parapet_array_write_points(all->second, &points);
}

static parapet_status array_read_points(bed *all)
{
    int64_t index[1];
    parapet_points points = points_of(all, index);
    return parapet_array_read_points(all->array, &points);
}

static parapet_status array_read_points_local(bed *all)
{
    int64_t index[1];
    parapet_points points = points_of(all, index);
    return unless_back(parapet_array_read_points_local(all->array, &points));
}

static parapet_status array_write_runs(bed *all)
{
    int64_t start[1], count[1];
    parapet_runs runs = runs_of(all, start, count);
    return parapet_array_write_runs(all->second, &runs);
}

static parapet_status array_read_runs(bed *all)
{
    int64_t start[1], count[1];
    parapet_runs runs = runs_of(all, start, count);
    return parapet_array_read_runs(all->array, &runs);
}

static parapet_status array_read_runs_local(bed *all)
{
    int64_t start[1], count[1];
    parapet_runs runs = runs_of(all, start, count);
    return unless_back(parapet_array_read_runs_local(all->array, &runs));
}

static parapet_status array_flush(bed *all)
{
    return parapet_array_flush(all->array);
}

static parapet_status array_parts_build(bed *all)
{
    parapet_array_parts list;
    parapet_status status = parapet_array_parts_build(&list, all->array, 0, MPI_INT32_T, all->own.values);
    parapet_array_parts_free(&list);
    return status;
}

static parapet_status array_resize(bed *all)
{
    const int64_t shape[1] = {(int64_t)run.ranks * STRIP_EXTENT};
    return parapet_array_resize(all->array, shape);
}

static parapet_status array_seal(bed *all)
{
    return parapet_array_seal(all->array);
}

static parapet_status array_unseal(bed *all)
{
    return parapet_array_unseal(all->array);
}

static parapet_status array_attribute_set(bed *all)
{
    return parapet_array_attribute_set(all->array, "x", "1");
}

static parapet_status array_attribute_get(bed *all)
{
    char *json = NULL;
    return after_text(parapet_array_attribute_get(all->array, NULL, &json), &json);
}

static parapet_status array_check(bed *all)
{
    parapet_check_summary summary;
    return parapet_array_check(all->array, PARAPET_CHECK_DATA, NULL, NULL, &summary);
}

/* ---- Starts ---- */

static parapet_status array_start_write(bed *all)
{
    parapet_request *request = NULL;
    return after_wait(&request, parapet_array_start_write(&request, all->second, all->own.parts, all->own.part_count,
                                                          PARAPET_BUFFERING_COPY));
}

static parapet_status array_start_read(bed *all)
{
    parapet_request *request = NULL;
    strip wanted;
    strip_deal(&wanted, run.rank, run.ranks);
    return after_wait(&request, parapet_array_start_read(&request, all->array, wanted.parts, wanted.part_count));
}

static parapet_status arrays_start_write(bed *all)
{
    parapet_array_parts list = {.array = all->array, .parts = all->own.parts, .part_count = all->own.part_count};
    parapet_request *request = NULL;
    return after_wait(&request, parapet_arrays_start_write(&request, &list, 1, PARAPET_BUFFERING_BORROW));
}

static parapet_status arrays_start_read(bed *all)
{
    parapet_array_parts list = {.array = all->second};
    parapet_request *request = NULL;
    return after_wait(&request, parapet_arrays_start_read(&request, &list, 1));
}

/* ---- Copies ---- */

static parapet_status copy(bed *all)
{
    parapet_copy_request wish = {
        .source = all->store, .source_path = "a", .target = all->other, .target_path = "a", .overwrite = 1};
    return parapet_copy(&wish, NULL);
}

static parapet_status copy_request_plan_print(bed *all)
{
    parapet_copy_request wish = {
        .source = all->store, .source_path = "a", .target = all->other, .target_path = "p", .no_probe = 1};
    char *text = NULL;
    return after_text(parapet_copy_request_plan_print(&wish, 0, &text, NULL), &text);
}

static parapet_status file_write(bed *all)
{
    char file[700], *left_out = NULL;
    parapet_file_request wish = {.source = all->store, .source_path = "a", .file = file, .overwrite = 1};
    (void)snprintf(file, sizeof file, "npy:%s.npy", all->folder);
    return after_text(parapet_file_write(&wish, &left_out), &left_out);
}

/* ---- Checkpoints ---- */

static parapet_status checkpoint_begin(bed *all)
{
    parapet_checkpoint *begun = NULL;
    parapet_status status = parapet_checkpoint_begin(&begun, all->store, "d", NULL);
    return status == PARAPET_OK ? parapet_checkpoint_abort(&begun) : status;
}

static parapet_status checkpoint_put(bed *all)
{
    return parapet_checkpoint_put(all->checkpoint, &all->item, 1);
}

static parapet_status checkpoint_attribute_set(bed *all)
{
    return parapet_checkpoint_attribute_set(all->checkpoint, "x", "1");
}

static parapet_status checkpoint_commit(bed *all)
{
    return parapet_checkpoint_commit(&all->checkpoint, NULL);
}

static parapet_status checkpoint_start(bed *all)
{
    parapet_request *request = NULL;
    parapet_status status = parapet_checkpoint_begin(&all->checkpoint, all->store, "c", NULL);
    return status != PARAPET_OK
               ? status
               : after_wait(&request, parapet_checkpoint_start(&request, &all->checkpoint, &all->item, 1,
                                                               PARAPET_BUFFERING_COPY, NULL));
}

static parapet_status checkpoint_abort(bed *all)
{
    parapet_status status = parapet_checkpoint_begin(&all->checkpoint, all->store, "c", NULL);
    return status == PARAPET_OK ? parapet_checkpoint_abort(&all->checkpoint) : status;
}

static parapet_status checkpoint_list(bed *all)
{
    return parapet_checkpoint_list(all->store, "c", visit_generation, NULL);
}

static parapet_status restore_open(bed *all)
{
    return parapet_restore_open(&all->restore, all->store, "c", 0);
}

static parapet_status restore_get(bed *all)
{
    return parapet_restore_get(all->restore, &all->item, 1);
}

static parapet_status restore_attribute_get(bed *all)
{
    char *json = NULL;
    return after_text(parapet_restore_attribute_get(all->restore, NULL, &json), &json);
}

static parapet_status restore_get_info(bed *all)
{
    parapet_restore_info info;
    return parapet_restore_get_info(all->restore, &info);
}

static parapet_status restore_get_array_info(bed *all)
{
    parapet_array_info info;
    return parapet_restore_get_array_info(all->restore, 0, &info);
}

static parapet_status restore_close(bed *all)
{
    return parapet_restore_close(&all->restore);
}

/* ---- Series ---- */

static parapet_status series_create(bed *all)
{
    static const char *const names[] = {"u"};
    parapet_series_spec spec = {.count = 1, .names = names, .specs = &all->step_spec};
    return parapet_series_create(&all->series, all->store, "s", &spec);
}

static parapet_status series_append(bed *all)
{
    return parapet_series_append(all->series, all->steps++, &all->step);
}

/* The request under way is one of the series, too, while the rest looks at it. */
static parapet_status beside_append(bed *all, parapet_status (*look)(bed *all))
{
    parapet_request *request = NULL;
    parapet_status status = parapet_series_start_append(&request, all->series, all->steps++, &all->step,
                                                        PARAPET_BUFFERING_BORROW),
                   waited;
    if (status != PARAPET_OK)
        return status;
    status = look(all);
    waited = parapet_request_wait(&request);
    return status == PARAPET_OK ? waited : status;
}

static parapet_status series_start_append(bed *all)
{
    return beside_append(all, series_append);
}

static parapet_status get_series_info(bed *all)
{
    parapet_series_info info;
    return parapet_series_get_info(all->series, &info);
}

static parapet_status series_get_info(bed *all)
{
    return beside_append(all, get_series_info);
}

static parapet_status get_series_array_info(bed *all)
{
    parapet_array_info info;
    return parapet_series_get_array_info(all->series, 0, &info);
}

static parapet_status series_get_array_info(bed *all)
{
    return beside_append(all, get_series_array_info);
}

static parapet_status print_series(bed *all)
{
    char *text = NULL;
    return after_text(parapet_series_print(all->series, &text), &text);
}

static parapet_status series_print(bed *all)
{
    return beside_append(all, print_series);
}

static parapet_status flush_series(bed *all)
{
    return parapet_series_flush(all->series);
}

static parapet_status series_flush(bed *all)
{
    return beside_append(all, flush_series);
}

static parapet_status series_close(bed *all)
{
    return parapet_series_close(&all->series);
}

static parapet_status series_open(bed *all)
{
    parapet_status status = parapet_series_open(&all->series, all->store, "s");
    return status == PARAPET_OK ? parapet_series_close(&all->series) : status;
}

static parapet_status series_repair(bed *all)
{
    return parapet_series_repair(all->store, "s", PARAPET_BEYOND_REFUSE);
}

/* In an order in which each finds what it needs. */
#define ROW(name)                                                                                                    \
    {                                                                                                                \
        "parapet_" #name, name                                                                                       \
    }
static const struct row {
    const char *name;
    parapet_status (*call)(bed *all);
} rows[] = {
    ROW(array_get_info),
    ROW(array_list),
    ROW(array_layout_print),
    ROW(array_attribute_get),
    ROW(array_read_local),
    ROW(array_read_points_local),
    ROW(array_read_runs_local),
    ROW(array_parts_build),
    ROW(store_options_print),
    ROW(store_get_statistics),
    ROW(store_open),
    ROW(store_close),
    ROW(store_flush),
    ROW(store_collect),
    ROW(group_create),
    ROW(group_open),
    ROW(group_close),
    ROW(group_list),
    ROW(group_attribute_set),
    ROW(group_attribute_get),
    ROW(group_consolidate),
    ROW(store_remove),
    ROW(array_create),
    ROW(arrays_create),
    ROW(array_open),
    ROW(arrays_open),
    ROW(array_read),
    ROW(arrays_read),
    ROW(array_read_points),
    ROW(array_read_runs),
    ROW(array_write_points),
    ROW(array_write_runs),
    ROW(array_flush),
    ROW(array_attribute_set),
    ROW(array_check),
    ROW(array_seal),
    ROW(array_unseal),
    ROW(array_resize),
    ROW(array_start_write),
    ROW(array_start_read),
    ROW(arrays_start_write),
    ROW(arrays_start_read),
    ROW(array_write),
    ROW(arrays_write),
    ROW(array_close),
    ROW(copy),
    ROW(copy_request_plan_print),
    ROW(file_write),
    ROW(checkpoint_begin),
    ROW(checkpoint_attribute_set),
    ROW(checkpoint_put),
    ROW(checkpoint_commit),
    ROW(checkpoint_start),
    ROW(checkpoint_abort),
    ROW(checkpoint_list),
    ROW(restore_open),
    ROW(restore_get),
    ROW(restore_attribute_get),
    ROW(restore_get_info),
    ROW(restore_get_array_info),
    ROW(restore_close),
    ROW(series_create),
    ROW(series_append),
    ROW(series_start_append),
    ROW(series_get_info),
    ROW(series_get_array_info),
    ROW(series_print),
    ROW(series_flush),
    ROW(series_close),
    ROW(series_open),
    ROW(series_repair),
};

static void open_bed(bed *all)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE, .progress = take_time};
    char path[700];
    if (is_back) {
        options.keep_descriptions = 1;
        options.cache_bytes = 1 << 20;
        options.write_back = 1;
    }
    *all = (bed){.count = {run.rank == 0 ? 16 : 0}};
    (void)snprintf(all->folder, sizeof all->folder, "%s/beside", run.folder);
    all->part = (parapet_part){.ndim = 1, .start = all->start, .count = all->count, .data = all->own.values};
    all->step = (parapet_step){.parts = &all->part, .part_count = 1};
    all->spec = (parapet_array_spec){.type = PARAPET_INT32, .ndim = 1, .shape = extent};
    all->step_spec = (parapet_array_spec){.type = PARAPET_INT32, .ndim = 2, .shape = step_shape};
    all->item = (parapet_checkpoint_item){.name = "x", .spec = &all->spec, .parts = &all->part, .part_count = 1};
    strip_deal(&all->own, run.rank, run.ranks);
    strip_fill(&all->own, 2);
    (void)LAUNCH_OK(&run, parapet_store_open(&all->store, MPI_COMM_WORLD, all->folder, PARAPET_CREATE, &options));
    (void)snprintf(path, sizeof path, "%s-other", all->folder);
    (void)LAUNCH_OK(&run, parapet_store_open(&all->other, MPI_COMM_WORLD, path, PARAPET_CREATE, NULL));
    (void)LAUNCH_OK(&run, strip_create(&all->array, all->store, "a", run.ranks, 2));
    (void)LAUNCH_OK(&run, strip_create(&all->second, all->store, "b", run.ranks, 2));
    (void)LAUNCH_OK(&run, parapet_group_create(&all->group, all->store, "g", NULL));
    (void)LAUNCH_OK(&run, parapet_checkpoint_begin(&all->checkpoint, all->store, "c", NULL));
}

static void close_bed(bed *all)
{
    (void)LAUNCH_OK(&run, parapet_group_close(&all->group));
    (void)LAUNCH_OK(&run, parapet_array_close(&all->array));
    (void)LAUNCH_OK(&run, parapet_array_close(&all->second));
    (void)LAUNCH_OK(&run, parapet_store_close(&all->other));
    (void)LAUNCH_OK(&run, parapet_store_close(&all->store));
}

int main(int argc, char **argv)
{
    parapet_request *request = NULL;
    size_t i;
    bed all;
    launch_start(&run, &argc, &argv, MPI_THREAD_MULTIPLE);
    is_back = argc > 1 && strcmp(argv[1], "back") == 0;
    launch_case_begin(&run, 1);
    open_bed(&all);
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        launch_phase(&run, rows[i].name);
        (void)LAUNCH_OK(&run, parapet_array_start_write(&request, all.array, all.own.parts, all.own.part_count,
                                                        PARAPET_BUFFERING_COPY));
        (void)launch_ok(&run, rows[i].call(&all), rows[i].name);
        (void)LAUNCH_OK(&run, parapet_request_wait(&request));
    }
    close_bed(&all);
    (void)launch_case_end(&run, "beside");
    return launch_finish(&run);
}
