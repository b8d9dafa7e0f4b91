/* Write-back: what another job does to an array that has not been flushed is found out, and costs nothing else than
 * what this job has left for later of the shards that the other one has changed. */
#include <parapet_store.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array_handle.h"
#include "base/memory.h"
#include "launch.h"

enum { LENGTH = 20, LONGER = 24, SHARD = 8, CHUNK = 4 };

static launch run;
static parapet_store *store, *other; /* two jobs, as far as the store can tell */
static parapet_array *array, *others;
static int32_t model[LONGER];

/* ---- Elements, all of which rank 0 has ---- */

static parapet_part part_of(const int64_t *start, const int64_t *count, int32_t *data)
{
    return (parapet_part){.ndim = 1, .start = start, .count = count, .data = data};
}

static parapet_status write_range(parapet_array *to, int64_t start, int64_t end, int32_t value)
{
    int32_t values[LONGER];
    int64_t i, count = end - start;
    parapet_part part = part_of(&start, &count, values);
    for (i = 0; i < count; i++)
        values[i] = value;
    return parapet_array_write(to, &part, run.rank == 0);
}

static void note_range(int64_t start, int64_t end, int32_t value)
{
    while (start < end)
        model[start++] = value;
}

static void write_right(parapet_array *to, int64_t start, int64_t end, int32_t value)
{
    if (LAUNCH_OK(&run, write_range(to, start, end, value)))
        note_range(start, end, value);
}

static void read_right(parapet_array *of, int64_t end)
{
    int32_t found[LONGER];
    int64_t start = 0;
    parapet_part part = part_of(&start, &end, found);
    memset(found, 0xff, sizeof found);
    if (LAUNCH_OK(&run, parapet_array_read(of, &part, 1)))
        launch_expect(&run, memcmp(found, model, (size_t)end * sizeof found[0]) == 0, "the values of the model");
}

static void expect_stale(parapet_status status)
{
    launch_expect(&run, status == PARAPET_ERR_STALE, parapet_error_message());
}

/* ---- Two jobs ---- */

static parapet_array_spec spec_of(const int64_t *shape)
{
    static const int64_t chunks[1] = {CHUNK}, shards[1] = {SHARD};
    return (parapet_array_spec){.type = PARAPET_INT32, .ndim = 1, .shape = shape, .chunks = chunks, .shards = shards};
}

static bool create_array(const char *path, parapet_array **made, parapet_array **known)
{
    static const int64_t shape[1] = {LENGTH};
    parapet_array_spec spec = spec_of(shape);
    return LAUNCH_OK(&run, parapet_array_create(made, store, path, &spec)) &&
           LAUNCH_OK(&run, parapet_array_open(known, other, path));
}

static atomic_bool is_to_stop;

static int ask_to_stop(void *context, int64_t done_bytes, int64_t total_bytes)
{
    (void)context, (void)done_bytes, (void)total_bytes;
    return atomic_load(&is_to_stop);
}

static bool open_both(const char *name)
{
    parapet_store_options options = {.keep_descriptions = 1,
                                     .cache_bytes = 1 << 20,
                                     .write_back = 1,
                                     .memory_bytes = 16 << 20,
                                     .progress = ask_to_stop,
                                     .durability = PARAPET_DURABILITY_LEAVE},
                          plain = {.durability = PARAPET_DURABILITY_LEAVE};
    char path[600];
    (void)snprintf(path, sizeof path, "%s/%s", run.folder, name);
    memset(model, 0, sizeof model);
    return LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_CREATE, &options)) &&
           LAUNCH_OK(&run, parapet_store_open(&other, MPI_COMM_WORLD, path, PARAPET_UPDATE, &plain)) &&
           create_array("a", &array, &others);
}

static void close_both(void)
{
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_array_close(&others));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    (void)LAUNCH_OK(&run, parapet_store_close(&other));
}

/* The first shard cannot be flushed any more. */
static void make_stale(void)
{
    write_right(array, 1, 3, 10);
    note_range(1, 3, 0);
    write_right(others, 5, 6, 11);
    expect_stale(LAUNCH_AGREED(&run, parapet_array_flush(array)));
}

static void give_up(void)
{
    expect_stale(LAUNCH_AGREED(&run, parapet_array_close(&array)));
    (void)LAUNCH_OK(&run, parapet_array_open(&array, store, "a"));
    read_right(array, LENGTH);
}

/* ---- Calls that end something, beside such an array ---- */

typedef struct beside {
    parapet_series *series;
    parapet_checkpoint *committed, *aborted, *started;
    parapet_group *group;
    parapet_restore *restore;
} beside;

/* With a place for a request, starts it. */
static void put_item(parapet_checkpoint **checkpoint, int32_t value, parapet_request **request)
{
    int64_t shape[1] = {LENGTH}, start = 0, count = 1;
    parapet_part part = part_of(&start, &count, &value);
    parapet_array_spec spec = spec_of(shape);
    parapet_checkpoint_item item = {.name = "c", .spec = &spec, .parts = &part, .part_count = run.rank == 0};
    if (request != NULL)
        (void)LAUNCH_OK(&run, parapet_checkpoint_start(request, checkpoint, &item, 1, PARAPET_BUFFERING_COPY, NULL));
    else
        (void)LAUNCH_OK(&run, parapet_checkpoint_put(*checkpoint, &item, 1));
}

static void append_step(parapet_series **series)
{
    static const char *const names[] = {"v"};
    static const int64_t shape[2] = {0, 4}, chunks[2] = {4, 4};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = chunks};
    parapet_series_spec described = {.count = 1, .names = names, .specs = &spec};
    int64_t start = 0, count = 4;
    int32_t values[4] = {1, 2, 3, 4};
    parapet_part part = part_of(&start, &count, values);
    parapet_step step = {.parts = &part, .part_count = run.rank == 0};
    if (LAUNCH_OK(&run, parapet_series_create(series, store, "s", &described)))
        (void)LAUNCH_OK(&run, parapet_series_append(*series, 1.0, &step));
}

static void prepare(beside *all)
{
    parapet_checkpoint *first = NULL;
    (void)LAUNCH_OK(&run, parapet_checkpoint_begin(&first, store, "first", NULL));
    put_item(&first, 1, NULL);
    (void)LAUNCH_OK(&run, parapet_checkpoint_commit(&first, NULL));
    (void)LAUNCH_OK(&run, parapet_restore_open(&all->restore, store, "first", 0));
    (void)LAUNCH_OK(&run, parapet_group_create(&all->group, store, "g", NULL));
    append_step(&all->series);
    (void)LAUNCH_OK(&run, parapet_checkpoint_begin(&all->aborted, store, "aborted", NULL));
    put_item(&all->aborted, 2, NULL);
    (void)LAUNCH_OK(&run, parapet_checkpoint_begin(&all->started, store, "started", NULL));
    (void)LAUNCH_OK(&run, parapet_checkpoint_begin(&all->committed, store, "committed", NULL));
    put_item(&all->committed, 3, NULL);
}

static void expect_generation(const char *path)
{
    parapet_restore *restore = NULL;
    if (LAUNCH_OK(&run, parapet_restore_open(&restore, other, path, 0)))
        (void)LAUNCH_OK(&run, parapet_restore_close(&restore));
}

static void end_beside(void)
{
    beside all = {0};
    parapet_request *request = NULL;
    parapet_series *series = NULL;
    parapet_series_info info = {0};
    prepare(&all);
    make_stale();
    (void)LAUNCH_OK(&run, parapet_checkpoint_attribute_set(all.committed, "a", "1"));
    (void)LAUNCH_OK(&run, parapet_checkpoint_put(all.committed, NULL, 0));
    (void)LAUNCH_OK(&run, parapet_checkpoint_commit(&all.committed, NULL));
    put_item(&all.started, 4, &request);
    (void)LAUNCH_OK(&run, parapet_request_wait(&request));
    (void)LAUNCH_OK(&run, parapet_checkpoint_abort(&all.aborted));
    (void)LAUNCH_OK(&run, parapet_series_close(&all.series));
    (void)LAUNCH_OK(&run, parapet_group_close(&all.group));
    (void)LAUNCH_OK(&run, parapet_restore_close(&all.restore));
    expect_stale(LAUNCH_AGREED(&run, parapet_store_flush(store)));
    give_up();
    expect_generation("committed");
    expect_generation("started");
    if (LAUNCH_OK(&run, parapet_series_open(&series, other, "s"))) {
        launch_expect(&run, parapet_series_get_info(series, &info) == PARAPET_OK && info.steps == 1, "the step");
        (void)LAUNCH_OK(&run, parapet_series_close(&series));
    }
}

/* ---- Local reads of another array, in a thread ---- */

static atomic_bool is_over;

/* The handle is older than what is stored, so that each read looks at that with a handle of its own. */
static void *read_locally(void *aged)
{
    int64_t start = 0, count = 1, reads = 0;
    int32_t value;
    parapet_part part = part_of(&start, &count, &value);
    while (!atomic_load(&is_over) && parapet_array_read_local(aged, &part, 1) == PARAPET_OK)
        reads++;
    return aged;
}

static void read_beside(void)
{
    parapet_array *aged = NULL, *known = NULL;
    pthread_t thread;
    int32_t i;
    atomic_store(&is_over, false);
    if (!create_array("b", &aged, &known))
        return;
    (void)LAUNCH_OK(&run, parapet_array_attribute_set(known, "a", "1"));
    launch_expect(&run, pthread_create(&thread, NULL, read_locally, aged) == 0, "a thread");
    for (i = 0; i < 40; i++) {
        write_right(array, 0, LENGTH, i);
        write_right(array, 1, 3, -i);
        read_right(array, LENGTH);
        if (i % 8 == 7)
            (void)LAUNCH_OK(&run, parapet_array_flush(array));
    }
    atomic_store(&is_over, true);
    launch_expect(&run, pthread_join(thread, NULL) == 0, "its end");
    (void)LAUNCH_OK(&run, parapet_array_close(&aged));
    (void)LAUNCH_OK(&run, parapet_array_close(&known));
}

/* ---- The last shard, of which the array has a half ---- */

static void resize(int64_t length)
{
    (void)LAUNCH_OK(&run, parapet_array_resize(others, &length));
}

/* Whoever wrote all that there was of it has not written what another job adds. */
static void grow_and_write(bool is_stored)
{
    if (is_stored) {
        write_right(array, 0, LENGTH, 1);
        (void)LAUNCH_OK(&run, parapet_array_flush(array));
    }
    write_right(array, 2 * SHARD, LENGTH, 2);
    note_range(2 * SHARD, LENGTH, is_stored);
    read_right(others, LENGTH);
    resize(LONGER);
    write_right(others, LENGTH, LONGER, 3);
    expect_stale(LAUNCH_AGREED(&run, parapet_array_flush(array)));
    read_right(others, LONGER);
    write_right(array, 2 * SHARD, LONGER, 4); /* all that there is now */
    (void)LAUNCH_OK(&run, parapet_array_flush(array));
    read_right(others, LONGER);
}

static void grow_absent(void)
{
    grow_and_write(false);
}

static void grow_stored(void)
{
    grow_and_write(true);
}

/* Nobody has written what was added: nothing is in the way. */
static void grow_only(void)
{
    write_right(array, 2 * SHARD, LENGTH, 2);
    resize(LONGER);
    (void)LAUNCH_OK(&run, parapet_array_flush(array));
    read_right(others, LONGER);
}

/* ---- An array that another job makes smaller ---- */

static void cut_off(void)
{
    int64_t cut = SHARD + 2;
    write_right(array, 2, 6, 1);
    (void)LAUNCH_OK(&run, write_range(array, SHARD, 2 * SHARD, 2));
    (void)LAUNCH_OK(&run, write_range(array, 2 * SHARD, LENGTH, 3));
    resize(cut);
    expect_stale(LAUNCH_AGREED(&run, parapet_array_flush(array)));
    read_right(others, cut); /* what is still inside is written */
    expect_stale(LAUNCH_AGREED(&run, parapet_array_flush(array)));
    expect_stale(LAUNCH_AGREED(&run, parapet_store_flush(store)));
    resize(LENGTH);
    expect_stale(LAUNCH_AGREED(&run, parapet_array_flush(array)));
    read_right(others, LENGTH); /* and nothing of the rest comes back */
    give_up();
}

/* The same, where a write is told first. */
static void cut_off_written(void)
{
    (void)LAUNCH_OK(&run, write_range(array, 2 * SHARD, LENGTH, 3));
    resize(SHARD);
    expect_stale(LAUNCH_AGREED(&run, write_range(array, 0, 1, 4)));
    expect_stale(LAUNCH_AGREED(&run, parapet_array_flush(array)));
    expect_stale(LAUNCH_AGREED(&run, parapet_array_flush(array)));
    resize(LENGTH);
    give_up();
}

/* ---- Several arrays that are closed together ---- */

/* Three arrays that are not flushed. */
static bool write_three(parapet_array **arrays, parapet_array **known, int32_t value)
{
    static const char *const paths[] = {"x", "y", "z"};
    int i;
    for (i = 0; i < 3; i++)
        if (!create_array(paths[i], &arrays[i], &known[i]))
            return false;
    for (i = 0; i < 3; i++)
        (void)LAUNCH_OK(&run, write_range(arrays[i], 0, LENGTH, value));
    note_range(0, LENGTH, value);
    return true;
}

static void remove_the_second(parapet_array **known)
{
    (void)LAUNCH_OK(&run, parapet_array_close(&known[1]));
    (void)LAUNCH_OK(&run, parapet_store_remove(other, "y", 0, 0, NULL, NULL));
}

static void close_together(bool is_removed)
{
    parapet_array *arrays[3] = {NULL}, *known[3] = {NULL};
    int i;
    if (!write_three(arrays, known, 5))
        return;
    if (is_removed) {
        remove_the_second(known);
        expect_stale(LAUNCH_AGREED(&run, parapet_arrays_close(arrays, 3)));
        launch_expect(&run, strstr(parapet_error_message(), "the closed array \"y\"") != NULL,
                      parapet_error_message());
    } else {
        (void)LAUNCH_OK(&run, parapet_arrays_close(arrays, 3));
    }
    for (i = 0; i < 3; i++)
        if (known[i] != NULL)
            read_right(known[i], LENGTH);
    (void)LAUNCH_OK(&run, parapet_arrays_close(known, 3));
}

static void close_sound(void)
{
    close_together(false);
}

static void close_one_removed(void)
{
    close_together(true);
}

/* What is wrong with one array keeps none of the others from being flushed. */
static void flush_one_removed(void)
{
    parapet_array *arrays[3] = {NULL}, *known[3] = {NULL};
    if (!write_three(arrays, known, 7))
        return;
    remove_the_second(known);
    expect_stale(LAUNCH_AGREED(&run, parapet_store_flush(store)));
    read_right(known[0], LENGTH);
    read_right(known[2], LENGTH);
    (void)LAUNCH_AGREED(&run, parapet_arrays_close(arrays, 3));
    (void)LAUNCH_OK(&run, parapet_arrays_close(known, 3));
}

/* ---- Two handles of one array ---- */

static void flush_through_another(void)
{
    parapet_array *second = NULL;
    (void)LAUNCH_OK(&run, parapet_array_open(&second, store, "a"));
    write_right(array, 0, LENGTH, 8);
    (void)LAUNCH_OK(&run, parapet_array_flush(second));
    read_right(others, LENGTH);
    (void)LAUNCH_OK(&run, parapet_array_read_local(second, NULL, 0));
    (void)LAUNCH_OK(&run, parapet_array_close(&second));
}

static void list_twice(void)
{
    int64_t start = 0, count = 2;
    int32_t found[2][2] = {{0}};
    parapet_part parts[2] = {part_of(&start, &count, found[0]), part_of(&start, &count, found[1])};
    parapet_array *second = NULL;
    parapet_array_parts list[2];
    (void)LAUNCH_OK(&run, parapet_array_open(&second, store, "a"));
    write_right(array, 0, LENGTH, 6);
    list[0] = (parapet_array_parts){.array = array, .parts = &parts[0], .part_count = 1};
    list[1] = (parapet_array_parts){.array = second, .parts = &parts[1], .part_count = 1};
    (void)LAUNCH_OK(&run, parapet_arrays_read(list, 2));
    launch_expect(&run, found[0][1] == 6 && found[1][1] == 6, "what was written, through both handles");
    list[0].part_count = list[1].part_count = run.rank == 0;
    launch_expect(&run, LAUNCH_AGREED(&run, parapet_arrays_write(list, 2)) == PARAPET_ERR_ARGUMENT, "a refusal");
    launch_expect(&run, strstr(parapet_error_message(), "twice") != NULL, parapet_error_message());
    (void)LAUNCH_OK(&run, parapet_array_close(&second));
}

/* ---- A callback that asks to stop ---- */

/* It stops a write, and no flush: what was acknowledged would be lost if that of a close stopped. */
static void stop_calls(void)
{
    write_right(array, 0, LENGTH, 9);
    atomic_store(&is_to_stop, run.rank == run.ranks - 1);
    launch_expect(&run, LAUNCH_AGREED(&run, write_range(array, 0, 3, 10)) == PARAPET_ERR_CANCELLED,
                  "a write that stops");
    (void)LAUNCH_OK(&run, parapet_array_flush(array));
    read_right(others, LENGTH);
    atomic_store(&is_to_stop, false);
    write_right(array, 0, 5, 11);
    atomic_store(&is_to_stop, run.rank == run.ranks - 1);
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    atomic_store(&is_to_stop, false);
    read_right(others, LENGTH);
}

/* ---- Ranks that know different things of an array ---- */

typedef struct refusal {
    long at;
    atomic_long count; /* threads of the store ask too */
} refusal;

static int refuse(void *context, size_t bytes)
{
    refusal *planned = context;
    (void)bytes;
    return atomic_fetch_add(&planned->count, 1) >= planned->at;
}

/* Rank 0 has learned that another job has made the array smaller, and another rank has no memory to do so. */
static void flush_unequal(void)
{
    refusal planned = {0};
    int broken = 0;
    for (planned.at = 0; planned.at < 40; planned.at += 2) {
        note_range(SHARD, LENGTH, 0);
        (void)LAUNCH_OK(&run, write_range(array, SHARD, 2 * SHARD, 5));
        (void)LAUNCH_OK(&run, write_range(array, 2 * SHARD, LENGTH, 6));
        resize(SHARD);
        planned.count = 0;
        if (run.rank == run.ranks - 1)
            pp_memory_hook_set(refuse, &planned);
        (void)LAUNCH_AGREED(&run, write_range(array, 0, 1, 7));
        pp_memory_hook_set(NULL, NULL);
        broken += array->is_broken;
        expect_stale(LAUNCH_AGREED(&run, parapet_array_flush(array)));
        expect_stale(LAUNCH_AGREED(&run, parapet_array_close(&array)));
        resize(LENGTH);
        read_right(others, LENGTH); /* nothing comes back */
        (void)LAUNCH_OK(&run, parapet_array_open(&array, store, "a"));
    }
    launch_expect(&run, launch_largest(broken) > 0 || run.ranks == 1, "handles that were broken");
}

/* ---- All of it ---- */

static void run_case(uint64_t seed, const char *name, void (*body)(void))
{
    launch_case_begin(&run, seed);
    if (open_both(name)) {
        body();
        close_both();
    }
    (void)launch_case_end(&run, name);
}

int main(int argc, char **argv)
{
    launch_start(&run, &argc, &argv, MPI_THREAD_MULTIPLE);
    run_case(61, "ended", end_beside);
    run_case(62, "grown", grow_absent);
    run_case(63, "grown_stored", grow_stored);
    run_case(64, "grown_only", grow_only);
    run_case(65, "local", read_beside);
    run_case(66, "cut", cut_off);
    run_case(67, "cut_written", cut_off_written);
    run_case(68, "closed", close_sound);
    run_case(69, "closed_removed", close_one_removed);
    run_case(70, "listed", list_twice);
    run_case(71, "flushed_removed", flush_one_removed);
    run_case(73, "stopped", stop_calls);
    run_case(74, "unequal", flush_unequal);
    run_case(72, "flushed_another", flush_through_another);
    return launch_finish(&run);
}
