/* Ranks that make different calls, or the same call with different arguments, are all told so: PARAPET_ERR_ARGUMENT,
 * with both calls named, or the argument and both of its values. Nothing has happened then, and the next call that
 * all make alike works. */
#include <parapet_plan.h>
#include <stdio.h>
#include <string.h>

#include "strip.h"

static launch run;
static char store_name[32];
static int odd_rank; /* that deviates */

enum { EXTENT = 8 /* of what a rank has of a checkpoint or a step */ };

typedef struct handles {
    parapet_store *store;
    parapet_array *first, *second; /* "a" and "b" */
    /* Only where a deviation needs them. */
    parapet_checkpoint *begun, *also_begun; /* at "c" and at "d" */
    parapet_restore *opened;                /* at "r", with the arrays "x" and "y" */
    parapet_series *series;                 /* at "s", with the array "x" */
} handles;

/* Makes one of two calls. */
typedef parapet_status (*deviation)(handles *of, bool is_odd);

static parapet_status write_or_close(handles *of, bool is_odd)
{
    return is_odd ? parapet_array_close(&of->first) : strip_write(of->first, &run, 2);
}

static parapet_status write_different_arrays(handles *of, bool is_odd)
{
    return strip_write(is_odd ? of->second : of->first, &run, 2);
}

static parapet_status write_or_read(handles *of, bool is_odd)
{
    int32_t generation;
    return is_odd ? strip_read(of->first, &run, &generation) : strip_write(of->first, &run, 2);
}

static parapet_status read_points_or_runs(handles *of, bool is_odd)
{
    return is_odd ? parapet_array_read_runs(of->first, NULL) : parapet_array_read_points(of->first, NULL);
}

static parapet_status create_different_shapes(handles *of, bool is_odd)
{
    parapet_array *made = NULL;
    parapet_status status = strip_create(&made, of->store, "c", run.ranks + is_odd, 1);
    launch_expect(&run, made == NULL, "no handle of an array that was not made");
    return status;
}

static parapet_status open_different_arrays(handles *of, bool is_odd)
{
    parapet_array *opened = NULL;
    parapet_status status = parapet_array_open(&opened, of->store, is_odd ? "b" : "a");
    launch_expect(&run, opened == NULL, "no handle of an array that was not opened");
    return status;
}

static parapet_status open_store(const char *name, parapet_mode mode, const parapet_store_options *options)
{
    parapet_store *store = NULL;
    char path[600];
    parapet_status status;
    (void)snprintf(path, sizeof path, "%s/%s", run.folder, name);
    status = parapet_store_open(&store, MPI_COMM_WORLD, path, mode, options);
    launch_expect(&run, store == NULL, "no handle of a store that was not opened");
    return status;
}

static parapet_status open_different_stores(handles *of, bool is_odd)
{
    (void)of;
    return open_store(is_odd ? "other" : store_name, PARAPET_CREATE, NULL);
}

static parapet_status open_in_different_modes(handles *of, bool is_odd)
{
    (void)of;
    return open_store(store_name, is_odd ? PARAPET_READ : PARAPET_UPDATE, NULL);
}

static parapet_status open_with_different_owners(handles *of, bool is_odd)
{
    parapet_store_options options = {.owners = is_odd ? PARAPET_OWNERS_IN_TURN : PARAPET_OWNERS_CHOOSE};
    (void)of;
    return open_store(store_name, PARAPET_UPDATE, &options);
}

static parapet_status open_with_different_sharing(handles *of, bool is_odd)
{
    parapet_store_options options = {.sharing = is_odd ? PARAPET_SHARING_STEALING : PARAPET_SHARING_EQUAL};
    (void)of;
    return open_store(store_name, PARAPET_UPDATE, &options);
}

static parapet_status open_with_descriptions_on_some(handles *of, bool is_odd)
{
    parapet_store_options options = {.owners = PARAPET_OWNERS_IN_TURN, .keep_descriptions = is_odd};
    (void)of;
    return open_store(store_name, PARAPET_UPDATE, &options);
}

static parapet_status open_with_different_weights(handles *of, bool is_odd)
{
    parapet_store_options options = {.sharing = PARAPET_SHARING_WEIGHTS, .weights = is_odd ? "fast" : "slow"};
    (void)of;
    return open_store(store_name, PARAPET_UPDATE, &options);
}

static parapet_status open_with_some_weights(handles *of, bool is_odd)
{
    parapet_store_options options = {.sharing = PARAPET_SHARING_WEIGHTS, .weights = is_odd ? "fast" : NULL};
    (void)of;
    return open_store(store_name, PARAPET_UPDATE, &options);
}

static parapet_status open_without_some_helpers(handles *of, bool is_odd)
{
    parapet_store_options options = {.no_helper = is_odd};
    (void)of;
    return open_store(store_name, PARAPET_UPDATE, &options);
}

static parapet_status start_and_wait(parapet_array *array, bool is_read)
{
    parapet_request *request = NULL;
    parapet_status status;
    strip own;
    strip_deal(&own, run.rank, run.ranks);
    strip_fill(&own, 2);
    status = is_read ? parapet_array_start_read(&request, array, own.parts, own.part_count)
                     : parapet_array_start_write(&request, array, own.parts, own.part_count, PARAPET_BUFFERING_COPY);
    return status == PARAPET_OK ? parapet_request_wait(&request) : status;
}

static parapet_status start_to_write_or_read(handles *of, bool is_odd)
{
    return start_and_wait(of->first, is_odd);
}

static parapet_status start_different_writes(handles *of, bool is_odd)
{
    return start_and_wait(is_odd ? of->second : of->first, false);
}

static parapet_status resize_differently(handles *of, bool is_odd)
{
    int64_t shape[1] = {STRIP_EXTENT + is_odd};
    return parapet_array_resize(of->first, shape);
}

static parapet_status start_to_write_or_resize(handles *of, bool is_odd)
{
    return is_odd ? resize_differently(of, true) : start_and_wait(of->first, false);
}

static parapet_status set_different_attributes(handles *of, bool is_odd)
{
    return parapet_array_attribute_set(of->first, "x", is_odd ? "1" : "2");
}

static parapet_status seal_or_unseal(handles *of, bool is_odd)
{
    return is_odd ? parapet_array_unseal(of->first) : parapet_array_seal(of->first);
}

static parapet_status close_store_or_write(handles *of, bool is_odd)
{
    return is_odd ? parapet_store_close(&of->store) : strip_write(of->first, &run, 2);
}

static parapet_status write_one_or_both(handles *of, bool is_odd)
{
    parapet_array_parts list[2] = {{.array = of->first}, {.array = of->second}};
    return parapet_arrays_write(list, is_odd ? 2 : 1);
}

static parapet_status write_in_different_order(handles *of, bool is_odd)
{
    parapet_array_parts list[2] = {{.array = is_odd ? of->second : of->first},
                                   {.array = is_odd ? of->first : of->second}};
    return parapet_arrays_write(list, 2);
}

/* Not different calls: one rank's argument is wrong in itself. */
static parapet_status pass_a_null(handles *of, bool is_odd)
{
    return parapet_array_write(of->first, NULL, is_odd ? 1 : 0);
}

static parapet_status leave_the_array(handles *of, bool is_odd)
{
    static const int64_t start[1] = {-1}, count[1] = {2};
    int32_t values[2] = {0};
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = values};
    return parapet_array_write(of->first, &part, is_odd ? 1 : 0);
}

static parapet_status create_from(handles *of, const char *path, const parapet_array_spec *spec)
{
    parapet_array *made = NULL;
    parapet_status status = parapet_array_create(&made, of->store, path, spec);
    launch_expect(&run, made == NULL, "no handle of an array that was not made");
    return status;
}

static parapet_status create_with_a_bad_spec(handles *of, bool is_odd)
{
    static const int64_t shape[1] = {8};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = is_odd ? 99 : 1, .shape = shape};
    return create_from(of, "c", &spec);
}

static parapet_status create_without_a_spec(handles *of, bool is_odd)
{
    static const int64_t shape[1] = {8};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = shape};
    return create_from(of, "c", is_odd ? NULL : &spec);
}

static parapet_status open_without_a_path(handles *of, bool is_odd)
{
    parapet_array *opened = NULL;
    return parapet_array_open(&opened, of->store, is_odd ? NULL : "a");
}

static parapet_status create_a_group_with_a_bad_path(handles *of, bool is_odd)
{
    parapet_group *made = NULL;
    return parapet_group_create(&made, of->store, is_odd ? "../up" : "g", NULL);
}

static parapet_status set_an_attribute_without_a_name(handles *of, bool is_odd)
{
    return parapet_array_attribute_set(of->first, is_odd ? NULL : "x", "1");
}

static parapet_status set_an_attribute_to_bad_json(handles *of, bool is_odd)
{
    return parapet_array_attribute_set(of->first, "x", is_odd ? "{" : "1");
}

static parapet_status resize_without_a_shape(handles *of, bool is_odd)
{
    static const int64_t shape[1] = {STRIP_EXTENT};
    return parapet_array_resize(of->first, is_odd ? NULL : shape);
}

static parapet_status open_a_store_without_a_url(handles *of, bool is_odd)
{
    parapet_store *store = NULL;
    char path[600];
    (void)of;
    (void)snprintf(path, sizeof path, "%s/%s", run.folder, store_name);
    return parapet_store_open(&store, MPI_COMM_WORLD, is_odd ? NULL : path, PARAPET_UPDATE, NULL);
}

static parapet_status open_a_store_with_a_bad_option(handles *of, bool is_odd)
{
    parapet_store_options options = {.threads = is_odd ? -5 : 1};
    parapet_store *store = NULL;
    char path[600];
    (void)of;
    (void)snprintf(path, sizeof path, "%s/%s", run.folder, store_name);
    return parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_UPDATE, &options);
}

/* The odd one's and that of the rank after it. */
static parapet_status write_what_another_writes(handles *of, bool is_odd)
{
    static const int64_t start[1] = {5}, count[1] = {7};
    int32_t values[7] = {0};
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = values};
    return parapet_array_write(of->first, &part, is_odd || run.rank == (odd_rank + 1) % run.ranks ? 1 : 0);
}

/* ---- Checkpoints ---- */

/* Arrays of one dimension, of which every rank has EXTENT elements in a row. */
typedef struct rows {
    int64_t shape[1], start[1], count[1];
    int32_t values[EXTENT];
    parapet_array_spec spec;
    parapet_part part;
    parapet_checkpoint_item items[2]; /* "x" and "y" */
} rows;

static void rows_fill(rows *made)
{
    int i;
    *made = (rows){.shape = {(int64_t)EXTENT * run.ranks}, .start = {(int64_t)EXTENT * run.rank}, .count = {EXTENT}};
    made->spec = (parapet_array_spec){.type = PARAPET_INT32, .ndim = 1, .shape = made->shape};
    made->part = (parapet_part){.ndim = 1, .start = made->start, .count = made->count, .data = made->values};
    for (i = 0; i < EXTENT; i++)
        made->values[i] = 1 + run.rank * EXTENT + i;
    for (i = 0; i < 2; i++)
        made->items[i] = (parapet_checkpoint_item){
            .name = i == 0 ? "x" : "y", .spec = &made->spec, .parts = &made->part, .part_count = 1};
}

static parapet_status begin_differently(handles *of, bool is_odd)
{
    parapet_checkpoint_options options = {.generation = is_odd ? 4 : 3};
    parapet_checkpoint *begun = NULL;
    parapet_status status = parapet_checkpoint_begin(&begun, of->store, "c", &options);
    launch_expect(&run, begun == NULL, "no handle of a checkpoint that was not begun");
    return status;
}

static parapet_status begin_with_bad_options(handles *of, bool is_odd)
{
    parapet_checkpoint_options options = {.keep = is_odd ? -7 : 1};
    parapet_checkpoint *begun = NULL;
    return parapet_checkpoint_begin(&begun, of->store, "c", &options);
}

/* They differ behind what a sentence shows of them. */
static parapet_status begin_at_different_long_paths(handles *of, bool is_odd)
{
    char path[140];
    parapet_checkpoint *begun = NULL;
    memset(path, 'p', sizeof path);
    path[sizeof path - 2] = is_odd ? 'q' : 'p';
    path[sizeof path - 1] = '\0';
    return parapet_checkpoint_begin(&begun, of->store, path, NULL);
}

static parapet_status begin_or_open(handles *of, bool is_odd)
{
    parapet_checkpoint *begun = NULL;
    parapet_restore *opened = NULL;
    return is_odd ? parapet_restore_open(&opened, of->store, "r", 0)
                  : parapet_checkpoint_begin(&begun, of->store, "r", NULL);
}

/* Of so many names the last is another one: there is no room to say which. */
static parapet_status open_very_many_arrays(handles *of, bool is_odd)
{
    enum { MANY = 400 };
    static parapet_array *arrays[MANY];
    static char names[MANY][32];
    const char *paths[MANY];
    int i;
    for (i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof names[i], "array/number/%d", is_odd && i == MANY - 1 ? 7 : 1000 + i);
        paths[i] = names[i];
    }
    return parapet_arrays_open(arrays, of->store, paths, MANY);
}

static parapet_status put_or_commit(handles *of, bool is_odd)
{
    rows own;
    rows_fill(&own);
    return is_odd ? parapet_checkpoint_commit(&of->begun, NULL) : parapet_checkpoint_put(of->begun, own.items, 2);
}

static parapet_status put_or_abort(handles *of, bool is_odd)
{
    rows own;
    rows_fill(&own);
    return is_odd ? parapet_checkpoint_abort(&of->begun) : parapet_checkpoint_put(of->begun, own.items, 2);
}

static parapet_status start_items_and_wait(handles *of, const rows *own, int count)
{
    parapet_request *request = NULL;
    parapet_status status =
        parapet_checkpoint_start(&request, &of->begun, own->items, count, PARAPET_BUFFERING_COPY, NULL);
    return status == PARAPET_OK ? parapet_request_wait(&request) : status;
}

static parapet_status put_or_start(handles *of, bool is_odd)
{
    rows own;
    rows_fill(&own);
    return is_odd ? start_items_and_wait(of, &own, 2) : parapet_checkpoint_put(of->begun, own.items, 2);
}

static parapet_status put_one_or_two(handles *of, bool is_odd)
{
    rows own;
    rows_fill(&own);
    return parapet_checkpoint_put(of->begun, own.items, is_odd ? 1 : 2);
}

static parapet_status put_different_names(handles *of, bool is_odd)
{
    rows own;
    rows_fill(&own);
    return parapet_checkpoint_put(of->begun, &own.items[is_odd], 1);
}

static parapet_status put_different_shapes(handles *of, bool is_odd)
{
    rows own;
    rows_fill(&own);
    own.shape[0] += is_odd;
    return parapet_checkpoint_put(of->begun, own.items, 2);
}

static parapet_status put_without_a_list(handles *of, bool is_odd)
{
    rows own;
    rows_fill(&own);
    return parapet_checkpoint_put(of->begun, is_odd ? NULL : own.items, 2);
}

static parapet_status put_into_different_generations(handles *of, bool is_odd)
{
    rows own;
    rows_fill(&own);
    return parapet_checkpoint_put(is_odd ? of->also_begun : of->begun, own.items, 2);
}

static parapet_status start_one_or_two(handles *of, bool is_odd)
{
    rows own;
    rows_fill(&own);
    return start_items_and_wait(of, &own, is_odd ? 1 : 2);
}

static parapet_status commit_or_abort(handles *of, bool is_odd)
{
    return is_odd ? parapet_checkpoint_abort(&of->begun) : parapet_checkpoint_commit(&of->begun, NULL);
}

static parapet_status commit_or_write(handles *of, bool is_odd)
{
    return is_odd ? parapet_checkpoint_commit(&of->begun, NULL) : strip_write(of->first, &run, 2);
}

static parapet_status commit_different_generations(handles *of, bool is_odd)
{
    return parapet_checkpoint_commit(is_odd ? &of->also_begun : &of->begun, NULL);
}

static parapet_status abort_different_generations(handles *of, bool is_odd)
{
    return parapet_checkpoint_abort(is_odd ? &of->also_begun : &of->begun);
}

static parapet_status set_different_small_state(handles *of, bool is_odd)
{
    return parapet_checkpoint_attribute_set(of->begun, "step", is_odd ? "1" : "2");
}

static parapet_status set_small_state_to_bad_json(handles *of, bool is_odd)
{
    return parapet_checkpoint_attribute_set(of->begun, "step", is_odd ? "{" : "2");
}

static parapet_status open_different_generations(handles *of, bool is_odd)
{
    parapet_restore *opened = NULL;
    parapet_status status = parapet_restore_open(&opened, of->store, "r", is_odd);
    launch_expect(&run, opened == NULL, "no handle of a checkpoint that was not opened");
    return status;
}

static parapet_status get_different_arrays(handles *of, bool is_odd)
{
    rows own;
    rows_fill(&own);
    return parapet_restore_get(of->opened, &own.items[is_odd], 1);
}

static parapet_status get_or_close(handles *of, bool is_odd)
{
    rows own;
    rows_fill(&own);
    return is_odd ? parapet_restore_close(&of->opened) : parapet_restore_get(of->opened, own.items, 2);
}

static parapet_status get_or_write(handles *of, bool is_odd)
{
    rows own;
    rows_fill(&own);
    return is_odd ? strip_write(of->first, &run, 2) : parapet_restore_get(of->opened, own.items, 2);
}

static parapet_status close_or_write(handles *of, bool is_odd)
{
    return is_odd ? strip_write(of->first, &run, 2) : parapet_restore_close(&of->opened);
}

static int ignore_generation(void *context, int64_t generation, const char *path)
{
    (void)context;
    (void)generation;
    (void)path;
    return 0;
}

static parapet_status list_different_checkpoints(handles *of, bool is_odd)
{
    return parapet_checkpoint_list(of->store, is_odd ? "r" : "q", ignore_generation, NULL);
}

static parapet_status list_without_a_callback(handles *of, bool is_odd)
{
    return parapet_checkpoint_list(of->store, "r", is_odd ? NULL : ignore_generation, NULL);
}

static parapet_status collect_at_different_paths(handles *of, bool is_odd)
{
    return parapet_store_collect(of->store, is_odd ? "b" : "a", 1, NULL, NULL);
}

static parapet_status remove_at_different_paths(handles *of, bool is_odd)
{
    return parapet_store_remove(of->store, is_odd ? "b" : "a", 0, 1, NULL, NULL);
}

static parapet_status write_different_files(handles *of, bool is_odd)
{
    parapet_file_request request = {
        .source = of->store, .source_path = "a", .file = is_odd ? "b.npy" : "a.npy", .dry_run = 1};
    return parapet_file_write(&request, NULL);
}

static parapet_status remove_or_only_tell(handles *of, bool is_odd)
{
    return parapet_store_remove(of->store, "a", 0, is_odd ? 1 : 0, NULL, NULL);
}

static parapet_status remove_recursively_or_not(handles *of, bool is_odd)
{
    return parapet_store_remove(of->store, "a", is_odd ? 1 : 0, 1, NULL, NULL);
}

/* Through a store of its own: while arrays are open, nothing is collected. */
static parapet_status collect_or_only_tell(handles *of, bool is_odd)
{
    parapet_store *store = NULL;
    parapet_status status;
    char path[600];
    (void)of;
    (void)snprintf(path, sizeof path, "%s/%s", run.folder, store_name);
    if (!LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_UPDATE, NULL)))
        return PARAPET_OK;
    status = parapet_store_collect(store, "a", is_odd ? 1 : 0, NULL, NULL);
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    return status;
}

/* ---- Series ---- */

/* Steps of one dimension, as rows. */
static parapet_status create_series(parapet_series **series, parapet_store *store, const char *path, int64_t more)
{
    static const char *const names[1] = {"x"};
    const int64_t shape[2] = {0, (int64_t)EXTENT * run.ranks + more}, chunks[2] = {2, EXTENT};
    parapet_array_spec array = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks};
    parapet_series_spec spec = {.count = 1, .names = names, .specs = &array};
    return parapet_series_create(series, store, path, &spec);
}

static parapet_status append_step(parapet_series *series, double coordinate)
{
    rows own;
    parapet_step step = {.parts = &own.part, .part_count = 1};
    rows_fill(&own);
    return parapet_series_append(series, coordinate, &step);
}

static parapet_status create_different_series(handles *of, bool is_odd)
{
    parapet_series *made = NULL;
    parapet_status status = create_series(&made, of->store, "t", is_odd);
    launch_expect(&run, made == NULL, "no handle of a series that was not made");
    return status;
}

static parapet_status create_a_series_without_a_spec(handles *of, bool is_odd)
{
    parapet_series *made = NULL;
    return is_odd ? parapet_series_create(&made, of->store, "t", NULL) : create_series(&made, of->store, "t", 0);
}

static parapet_status create_or_open_a_series(handles *of, bool is_odd)
{
    parapet_series *made = NULL;
    return is_odd ? parapet_series_open(&made, of->store, "t") : create_series(&made, of->store, "t", 0);
}

static parapet_status open_different_series(handles *of, bool is_odd)
{
    parapet_series *opened = NULL;
    return parapet_series_open(&opened, of->store, is_odd ? "t" : "u");
}

static parapet_status repair_in_different_ways(handles *of, bool is_odd)
{
    return parapet_series_repair(of->store, "t", is_odd ? PARAPET_BEYOND_CUT : PARAPET_BEYOND_ADOPT);
}

static parapet_status append_at_different_times(handles *of, bool is_odd)
{
    return append_step(of->series, is_odd ? 1.5 : 1);
}

static parapet_status append_or_flush(handles *of, bool is_odd)
{
    return is_odd ? parapet_series_flush(of->series) : append_step(of->series, 1);
}

static parapet_status start_to_append(handles *of, double coordinate)
{
    rows own;
    parapet_step step = {.parts = &own.part, .part_count = 1};
    parapet_request *request = NULL;
    parapet_status status;
    rows_fill(&own);
    status = parapet_series_start_append(&request, of->series, coordinate, &step, PARAPET_BUFFERING_COPY);
    return status == PARAPET_OK ? parapet_request_wait(&request) : status;
}

static parapet_status start_to_append_or_append(handles *of, bool is_odd)
{
    return is_odd ? append_step(of->series, 1) : start_to_append(of, 1);
}

static parapet_status start_to_append_at_different_times(handles *of, bool is_odd)
{
    return start_to_append(of, is_odd ? 1.5 : 1);
}

static parapet_status append_or_close(handles *of, bool is_odd)
{
    return is_odd ? parapet_series_close(&of->series) : append_step(of->series, 1);
}

static parapet_status append_outside_the_array(handles *of, bool is_odd)
{
    rows own;
    parapet_step step = {.parts = &own.part, .part_count = 1};
    rows_fill(&own);
    own.start[0] += is_odd ? (int64_t)EXTENT * run.ranks : 0;
    return parapet_series_append(of->series, 1, &step);
}

static parapet_status append_without_steps(handles *of, bool is_odd)
{
    return is_odd ? parapet_series_append(of->series, 1, NULL) : append_step(of->series, 1);
}

static parapet_status flush_or_close(handles *of, bool is_odd)
{
    return is_odd ? parapet_series_close(&of->series) : parapet_series_flush(of->series);
}

/* ---- Copies ---- */

static parapet_status copy_with_different_chunks(handles *of, bool is_odd)
{
    parapet_copy_request request = {.source = of->store, .source_path = "a", .target = of->store, .target_path = "d"};
    request.changes.chunks = is_odd ? "256" : "128";
    return parapet_copy(&request, NULL);
}

static parapet_status copy_or_explain(handles *of, bool is_odd)
{
    parapet_copy_request request = {.source = of->store, .source_path = "a", .target = of->store, .target_path = "d"};
    char *text = NULL;
    return is_odd ? parapet_copy_request_plan_print(&request, 0, &text, NULL) : parapet_copy(&request, NULL);
}

/* ---- All of them ---- */

/* What is open besides the arrays. */
typedef enum needs {
    NEEDS_ARRAYS,
    NEEDS_BEGUN,
    SPOILS_BEGUN, /* the generation can only be given up afterwards, as after any put that failed */
    NEEDS_OPENED,
    NEEDS_SERIES
} needs;

static const struct deviating {
    const char *name;
    deviation call;
    const char *usual, *odd; /* must be in the sentence */
    needs needs;
} deviations[] = {
    {"write or close", write_or_close, "write(a)", "close(a)", NEEDS_ARRAYS},
    {"write of different arrays", write_different_arrays, "write(a)", "write(b)", NEEDS_ARRAYS},
    {"write or read", write_or_read, "write(a)", "read(a)", NEEDS_ARRAYS},
    {"a started write or read", start_to_write_or_read, "start_write(a)", "start_read(a)", NEEDS_ARRAYS},
    {"started writes of different arrays", start_different_writes, "start_write(a)", "start_write(b)", NEEDS_ARRAYS},
    {"a started write or a resize", start_to_write_or_resize, "start_write(a)", "resize(a)", NEEDS_ARRAYS},
    {"points or runs", read_points_or_runs, "read_points(a)", "read_runs(a)", NEEDS_ARRAYS},
    {"create with different shapes", create_different_shapes, "shape[0] of create(c) is ", " and ", NEEDS_ARRAYS},
    {"open of different arrays", open_different_arrays, "open(a)", "open(b)", NEEDS_ARRAYS},
    {"open of very many arrays", open_very_many_arrays, "an argument of open(", "too many arguments to name it",
     NEEDS_ARRAYS},
    {"open of different stores", open_different_stores, "/store", "/other", NEEDS_ARRAYS},
    {"open in different modes", open_in_different_modes, "mode of store_open(", " is ", NEEDS_ARRAYS},
    {"open with different owners", open_with_different_owners, "owners of store_open(", "in_turn", NEEDS_ARRAYS},
    {"open with different sharing", open_with_different_sharing, "sharing of store_open(", "stealing", NEEDS_ARRAYS},
    {"open with descriptions kept on some ranks", open_with_descriptions_on_some, "keep_descriptions of store_open(",
     "1 on rank ", NEEDS_ARRAYS},
    {"open with different weights", open_with_different_weights, "weights of store_open(", "\"fast\" on rank ",
     NEEDS_ARRAYS},
    {"open with weights on one rank", open_with_some_weights, "weights of store_open(", "\"fast\" on rank ",
     NEEDS_ARRAYS},
    {"open without the helper of one rank", open_without_some_helpers, "no_helper of store_open(", "1 on rank ",
     NEEDS_ARRAYS},
    {"different attributes", set_different_attributes, "json of attribute_set(a) is \"", "\"1\" on rank ",
     NEEDS_ARRAYS},
    {"resize to different shapes", resize_differently, "shape[0] of resize(a) is ", " and ", NEEDS_ARRAYS},
    {"seal or unseal", seal_or_unseal, "seal(a)", "unseal(a)", NEEDS_ARRAYS},
    {"close of the store or write", close_store_or_write, "write(a)", "store_close()", NEEDS_ARRAYS},
    {"write of one array or two", write_one_or_both, "write(a", "write(a", NEEDS_ARRAYS},
    {"write in different order", write_in_different_order, "write(a", "write(b", NEEDS_ARRAYS},
    {"parts that are NULL", pass_a_null, "rank ", " on ", NEEDS_ARRAYS},
    {"a part outside the array", leave_the_array, "rank ", " on ", NEEDS_ARRAYS},
    {"a bad spec", create_with_a_bad_spec, "rank ", "", NEEDS_ARRAYS},
    {"no spec", create_without_a_spec, "rank ", "", NEEDS_ARRAYS},
    {"no path", open_without_a_path, "rank ", "", NEEDS_ARRAYS},
    {"a path that leads away", create_a_group_with_a_bad_path, "rank ", "", NEEDS_ARRAYS},
    {"no name", set_an_attribute_without_a_name, "rank ", "", NEEDS_ARRAYS},
    {"bad JSON", set_an_attribute_to_bad_json, "rank ", "", NEEDS_ARRAYS},
    {"no shape", resize_without_a_shape, "rank ", "", NEEDS_ARRAYS},
    {"no url", open_a_store_without_a_url, "rank ", "", NEEDS_ARRAYS},
    {"a bad option", open_a_store_with_a_bad_option, "rank ", "", NEEDS_ARRAYS},
    {"parts of two ranks that overlap", write_what_another_writes, "overlap", "[5:12]", NEEDS_ARRAYS},

    {"begin of different generations", begin_differently, "generation of checkpoint_begin(c) is ", "4 on rank ",
     NEEDS_ARRAYS},
    {"begin with bad options", begin_with_bad_options, "rank ", "keep is -7", NEEDS_ARRAYS},
    {"begin at long paths", begin_at_different_long_paths, "path of checkpoint_begin(ppp", "(digest ", NEEDS_ARRAYS},
    {"begin or open", begin_or_open, "checkpoint_begin(r)", "restore_open(r)", NEEDS_OPENED},
    {"put or commit", put_or_commit, "checkpoint_put(c", "checkpoint_commit(c", NEEDS_BEGUN},
    {"put or abort", put_or_abort, "checkpoint_put(c", "checkpoint_abort(c", NEEDS_BEGUN},
    {"put or start", put_or_start, "checkpoint_put(c", "checkpoint_start(c", NEEDS_BEGUN},
    {"put of one array or two", put_one_or_two, "count of checkpoint_put(c", "1 on rank ", SPOILS_BEGUN},
    {"put of different names", put_different_names, "paths[0] of checkpoint_put(c", " and ", SPOILS_BEGUN},
    {"put of different shapes", put_different_shapes, "specs[0].shape[0] of checkpoint_put(c", " and ", SPOILS_BEGUN},
    {"put without a list", put_without_a_list, "rank ", "no items", SPOILS_BEGUN},
    {"put into different generations", put_into_different_generations, "checkpoint_put(c", "checkpoint_put(c",
     NEEDS_BEGUN},
    {"start of one array or two", start_one_or_two, "count of checkpoint_start(c", "1 on rank ", SPOILS_BEGUN},
    {"commit or abort", commit_or_abort, "checkpoint_commit(c", "checkpoint_abort(c", NEEDS_BEGUN},
    {"commit or write", commit_or_write, "write(a)", "checkpoint_commit(c", NEEDS_BEGUN},
    {"commit of different generations", commit_different_generations, "checkpoint_commit(c", "checkpoint_commit(c",
     NEEDS_BEGUN},
    {"abort of different generations", abort_different_generations, "checkpoint_abort(c", "checkpoint_abort(c",
     NEEDS_BEGUN},
    {"different small state", set_different_small_state, "json of checkpoint_attribute_set(c", "\"1\" on rank ",
     NEEDS_BEGUN},
    {"small state that is no JSON", set_small_state_to_bad_json, "rank ", "", NEEDS_BEGUN},
    {"open of different generations", open_different_generations, "generation of restore_open(r) is ", "1 on rank ",
     NEEDS_OPENED},
    {"get of different arrays", get_different_arrays, "/x)", "/y)", NEEDS_OPENED},
    {"get or close", get_or_close, "restore_get(r", "restore_close(r", NEEDS_OPENED},
    {"get or write", get_or_write, "restore_get(r", "write(a)", NEEDS_OPENED},
    {"close or write", close_or_write, "restore_close(r", "write(a)", NEEDS_OPENED},
    {"list of different checkpoints", list_different_checkpoints, "checkpoint_list(q)", "checkpoint_list(r)",
     NEEDS_OPENED},
    {"list without a callback", list_without_a_callback, "rank ", "", NEEDS_OPENED},
    {"collect at different paths", collect_at_different_paths, "collect(a)", "collect(b)", NEEDS_ARRAYS},
    {"remove at different paths", remove_at_different_paths, "remove(a)", "remove(b)", NEEDS_ARRAYS},
    {"remove recursively or not", remove_recursively_or_not, "recursive of remove(a) is ", "1 on rank ",
     NEEDS_ARRAYS},
    {"write different files", write_different_files, "file of file_write(a) is ", "\"b.npy\" on rank ", NEEDS_ARRAYS},
    {"remove or only tell", remove_or_only_tell, "dry_run of remove(a) is ", "1 on rank ", NEEDS_ARRAYS},
    {"collect or only tell", collect_or_only_tell, "dry_run of collect(a) is ", "1 on rank ", NEEDS_ARRAYS},

    {"create of different series", create_different_series, " of series_create(t) is ", " and ", NEEDS_ARRAYS},
    {"create of a series without a spec", create_a_series_without_a_spec, "rank ", "", NEEDS_ARRAYS},
    {"create or open of a series", create_or_open_a_series, "series_create(t)", "series_open(t)", NEEDS_ARRAYS},
    {"open of different series", open_different_series, "series_open(u)", "series_open(t)", NEEDS_ARRAYS},
    {"repair in different ways", repair_in_different_ways, "beyond of series_repair(t) is ", " on rank ",
     NEEDS_ARRAYS},
    {"append at different times", append_at_different_times, "coordinate of series_append(s) is ", "1.5 on rank ",
     NEEDS_SERIES},
    {"append or flush", append_or_flush, "series_append(s)", "series_flush(s)", NEEDS_SERIES},
    {"a started append or an append", start_to_append_or_append, "series_start_append(s)", "series_append(s)",
     NEEDS_SERIES},
    {"started appends at different times", start_to_append_at_different_times,
     "coordinate of series_start_append(s) is ", "1.5 on rank ", NEEDS_SERIES},
    {"append or close", append_or_close, "series_append(s)", "series_close(s)", NEEDS_SERIES},
    {"append outside the array", append_outside_the_array, "rank ", " on ", NEEDS_SERIES},
    {"append without steps", append_without_steps, "rank ", " on ", NEEDS_SERIES},
    {"flush or close", flush_or_close, "series_flush(s)", "series_close(s)", NEEDS_SERIES},

    {"copy with different chunks", copy_with_different_chunks, "chunks of copy(a) is \"", "\"256\" on rank ",
     NEEDS_ARRAYS},
    {"copy or explain", copy_or_explain, "copy(a)", "copy_explain(a)", NEEDS_ARRAYS},
};

/* The sentences may begin in different ways: each rank says first what it could not do. */
static bool is_refused_everywhere(parapet_status status)
{
    return launch_largest(status) == PARAPET_ERR_ARGUMENT &&
           launch_largest(-(int64_t)status) == -PARAPET_ERR_ARGUMENT;
}

static void check_sentence(const struct deviating *of, int odd)
{
    const char *sentence = parapet_error_message();
    char who[32], text[1200];
    (void)snprintf(who, sizeof who, "rank %d", odd);
    (void)snprintf(text, sizeof text, "\"%s\", \"%s\" and \"%s\" in: %s", of->usual, of->odd, who, sentence);
    launch_expect(&run, strstr(sentence, of->usual) != NULL && strstr(sentence, of->odd) != NULL, text);
    launch_expect(&run, strstr(sentence, who) != NULL, text);
}

static bool open_begun(handles *of)
{
    return LAUNCH_OK(&run, parapet_checkpoint_begin(&of->begun, of->store, "c", NULL)) &&
           LAUNCH_OK(&run, parapet_checkpoint_begin(&of->also_begun, of->store, "d", NULL));
}

static bool open_opened(handles *of)
{
    parapet_checkpoint *made = NULL;
    rows own;
    rows_fill(&own);
    return LAUNCH_OK(&run, parapet_checkpoint_begin(&made, of->store, "r", NULL)) &&
           LAUNCH_OK(&run, parapet_checkpoint_put(made, own.items, 2)) &&
           LAUNCH_OK(&run, parapet_checkpoint_commit(&made, NULL)) &&
           LAUNCH_OK(&run, parapet_restore_open(&of->opened, of->store, "r", 0));
}

static bool open_series(handles *of)
{
    return LAUNCH_OK(&run, create_series(&of->series, of->store, "s", 0)) &&
           LAUNCH_OK(&run, append_step(of->series, 0));
}

static bool open_needed(handles *of, needs needed)
{
    switch (needed) {
    case NEEDS_BEGUN:
    case SPOILS_BEGUN:
        return open_begun(of);
    case NEEDS_OPENED:
        return open_opened(of);
    case NEEDS_SERIES:
        return open_series(of);
    default:
        return true;
    }
}

static bool has_needed(const handles *of, needs needed)
{
    switch (needed) {
    case NEEDS_BEGUN:
    case SPOILS_BEGUN:
        return of->begun != NULL && of->also_begun != NULL;
    case NEEDS_OPENED:
        return of->opened != NULL;
    case NEEDS_SERIES:
        return of->series != NULL;
    default:
        return true;
    }
}

/* The generation can be put and committed as if nothing had happened, unless a put has failed; then all refuse it. */
static void finish_begun(handles *of, bool is_spoiled)
{
    int64_t generation = 0;
    rows own;
    rows_fill(&own);
    if (!is_spoiled) {
        (void)LAUNCH_OK(&run, parapet_checkpoint_put(of->begun, own.items, 2));
        (void)LAUNCH_OK(&run, parapet_checkpoint_commit(&of->begun, &generation));
        launch_expect(&run, generation == 1, "the first generation");
    } else {
        launch_expect(&run,
                      LAUNCH_AGREED(&run, parapet_checkpoint_put(of->begun, own.items, 2)) == PARAPET_ERR_ARGUMENT,
                      "a refusal to put again");
        (void)LAUNCH_OK(&run, parapet_checkpoint_abort(&of->begun));
    }
    (void)LAUNCH_OK(&run, parapet_checkpoint_abort(&of->also_begun));
}

static void finish_opened(handles *of)
{
    rows own, got;
    rows_fill(&own);
    rows_fill(&got);
    memset(got.values, 0, sizeof got.values);
    (void)LAUNCH_OK(&run, parapet_restore_get(of->opened, got.items, 1));
    launch_expect(&run, memcmp(own.values, got.values, sizeof own.values) == 0, "what was put");
    (void)LAUNCH_OK(&run, parapet_restore_close(&of->opened));
}

/* No step was taken twice or lost. */
static void finish_series(handles *of)
{
    parapet_series_info info = {0};
    (void)LAUNCH_OK(&run, append_step(of->series, 1));
    (void)LAUNCH_OK(&run, parapet_series_flush(of->series));
    (void)parapet_series_get_info(of->series, &info);
    launch_expect(&run, info.steps_committed == 2, "two steps");
    (void)LAUNCH_OK(&run, parapet_series_close(&of->series));
}

static void finish_needed(handles *of, needs needed)
{
    if (needed == NEEDS_BEGUN || needed == SPOILS_BEGUN)
        finish_begun(of, needed == SPOILS_BEGUN);
    if (needed == NEEDS_OPENED)
        finish_opened(of);
    if (needed == NEEDS_SERIES)
        finish_series(of);
}

static bool open_handles(handles *of)
{
    static int number;
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    char path[600];
    *of = (handles){0};
    (void)snprintf(store_name, sizeof store_name, "store-%d", number++);
    (void)snprintf(path, sizeof path, "%s/%s", run.folder, store_name);
    return LAUNCH_OK(&run, parapet_store_open(&of->store, MPI_COMM_WORLD, path, PARAPET_CREATE, &options)) &&
           LAUNCH_OK(&run, strip_create(&of->first, of->store, "a", run.ranks, 1)) &&
           LAUNCH_OK(&run, strip_create(&of->second, of->store, "b", run.ranks, 1)) &&
           LAUNCH_OK(&run, strip_write(of->first, &run, 1));
}

static void close_handles(handles *of)
{
    (void)LAUNCH_OK(&run, parapet_array_close(&of->first));
    (void)LAUNCH_OK(&run, parapet_array_close(&of->second));
    (void)LAUNCH_OK(&run, parapet_store_close(&of->store));
}

/* All ranks still have all handles, and what they stand for is as it was. */
static void check_afterwards(handles *of, needs needed)
{
    int32_t generation = -1;
    bool is_whole = of->store != NULL && of->first != NULL && of->second != NULL && has_needed(of, needed);
    launch_expect(&run, is_whole, "handles that are still open");
    if (launch_largest(!is_whole) > 0)
        return; /* the others cannot even close theirs */
    if (LAUNCH_OK(&run, strip_read(of->first, &run, &generation)))
        launch_expect(&run, generation == 1, "old values");
    (void)LAUNCH_OK(&run, strip_write(of->first, &run, 1));
    (void)LAUNCH_OK(&run, parapet_array_attribute_set(of->second, "same", "true"));
    finish_needed(of, needed);
    close_handles(of);
}

static void run_deviation(const struct deviating *deviating, int odd)
{
    char description[128];
    parapet_status status;
    handles of;
    (void)snprintf(description, sizeof description, "%s, rank %d is the odd one", deviating->name, odd);
    launch_case_begin(&run, (uint64_t)odd);
    odd_rank = odd;
    if (open_handles(&of) && open_needed(&of, deviating->needs)) {
        launch_phase(&run, deviating->name);
        status = deviating->call(&of, run.rank == odd);
        check_sentence(deviating, odd);
        launch_expect(&run, is_refused_everywhere(status), "PARAPET_ERR_ARGUMENT on every rank");
        check_afterwards(&of, deviating->needs);
    }
    (void)launch_case_end(&run, description);
}

static void run_deviations(int odd)
{
    size_t i;
    for (i = 0; i < sizeof deviations / sizeof deviations[0]; i++)
        run_deviation(&deviations[i], odd);
}

/* What a rank reads by itself, and in how much memory, is its own affair. */
static void test_mismatch__local_bytes_may_differ(void)
{
    parapet_store_options options = {.local_bytes = run.rank == 0 ? 1 << 20 : 0};
    const int64_t start[1] = {0}, count[1] = {1};
    int32_t value = -1;
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = &value};
    char path[600];
    handles of;
    launch_case_begin(&run, 0);
    if (open_handles(&of)) {
        close_handles(&of);
        (void)snprintf(path, sizeof path, "%s/%s", run.folder, store_name);
        if (LAUNCH_OK(&run, parapet_store_open(&of.store, MPI_COMM_WORLD, path, PARAPET_READ, &options)) &&
            LAUNCH_OK(&run, parapet_array_open(&of.first, of.store, "a"))) {
            launch_expect(&run, parapet_array_read_local(of.first, &part, 1) == PARAPET_OK, "a local read");
            (void)LAUNCH_OK(&run, parapet_array_close(&of.first));
        }
        (void)LAUNCH_OK(&run, parapet_store_close(&of.store));
    }
    (void)launch_case_end(&run, "local_bytes that differ");
}

int main(int argc, char **argv)
{
    launch_start(&run, &argc, &argv, MPI_THREAD_SINGLE);
    test_mismatch__local_bytes_may_differ();
    run_deviations(run.ranks - 1);
    run_deviations(0);
    run_deviations(run.ranks / 2);
    if (run.rank == 0)
        printf("%d deviations on %d ranks: %lld failed\n", (int)(sizeof deviations / sizeof deviations[0]) * 3,
               run.ranks, (long long)run.failed_cases);
    return launch_finish(&run);
}
