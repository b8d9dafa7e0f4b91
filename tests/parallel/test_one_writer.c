/* One writer per shard: every rank's store notes which objects are begun on it; over random decompositions each shard
 * that is touched is begun once, on one rank, and no other. Parts that overlap are refused, naming both ranks and the
 * box, and the same handle writes on. Runs under the launcher:
 *
 *     parallel_one_writer FIRST CASES */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array_handle.h"
#include "array/open.h"
#include "geometry/box.h"
#include "launch.h"
#include "memory.h"
#include "settings.h"
#include "tree.h"

#define FAILED_CASES_MOST 5
#define MOST_SHARDS 60

enum { STREAM_SETTINGS = 300, STREAM_OVERLAP };

/* A store that hands everything on to another, and keeps the keys that are begun. What it hands out belongs to the
 * other store, so that nothing else has to be wrapped. */
typedef struct noting_store {
    pp_store store;
    pp_store *inner;
    pthread_mutex_t mutex;
    size_t count, capacity;
    char **keys;
} noting_store;

typedef struct trial {
    launch *run;
    subject of;
    parapet_store_options options;
    noting_store noting;
    char place[600];
    parapet_store *store;
    parapet_array *array;
    parapet_array_info info;
    box grid; /* numbers of shards */
} trial;

static pp_store *inner_of(pp_store *store)
{
    return ((noting_store *)store)->inner;
}

static parapet_status noting_open(pp_store *store, const char *key, pp_reader **reader)
{
    return pp_store_open_object(inner_of(store), key, reader);
}

static parapet_status noting_begin(pp_store *store, const pp_write_request *request, pp_writer **writer)
{
    noting_store *self = (noting_store *)store;
    (void)pthread_mutex_lock(&self->mutex);
    if (self->count == self->capacity) {
        self->capacity = 2 * self->capacity + 64;
        self->keys = realloc(self->keys, self->capacity * sizeof self->keys[0]);
    }
    if (self->keys == NULL || (self->keys[self->count++] = strdup(request->key)) == NULL)
        abort();
    (void)pthread_mutex_unlock(&self->mutex);
    return pp_store_begin(self->inner, request, writer);
}

static parapet_status noting_settle(pp_store *store)
{
    return pp_store_sync_dirs(inner_of(store));
}

static parapet_status noting_remove(pp_store *store, const char *key)
{
    return pp_store_remove(inner_of(store), key);
}

static parapet_status noting_remove_prefix(pp_store *store, const char *prefix)
{
    return pp_store_remove_prefix(inner_of(store), prefix);
}

static parapet_status noting_list(pp_store *store, const char *prefix, pp_list_visitor visit, void *context)
{
    return pp_store_list(inner_of(store), prefix, visit, context);
}

static const pp_store_ops noting_ops = {
    .name = "noting",
    .open = noting_open,
    .begin = noting_begin,
    .sync_dirs = noting_settle,
    .remove = noting_remove,
    .remove_prefix = noting_remove_prefix,
    .list = noting_list,
};

static void forget_keys(noting_store *noting)
{
    while (noting->count > 0)
        free(noting->keys[--noting->count]);
}

/* The number of times that a key was begun on this rank; those counted are forgotten. */
static int64_t take_key(noting_store *noting, const char *key)
{
    int64_t times = 0;
    size_t i = 0;
    while (i < noting->count) {
        if (strcmp(noting->keys[i], key) != 0) {
            i++;
            continue;
        }
        free(noting->keys[i]);
        noting->keys[i] = noting->keys[--noting->count];
        times++;
    }
    return times;
}

static box cell_box(const trial *test, const int64_t *cell)
{
    box made = {{0}, {0}};
    int d;
    for (d = 0; d < test->info.ndim; d++) {
        made.start[d] = cell[d] * test->info.shards[d];
        made.count[d] = test->info.shards[d];
    }
    return made;
}

static bool is_touched(const trial *test, const decomposition *written, const int64_t *cell)
{
    box shard = cell_box(test, cell), common;
    int i;
    for (i = 0; i < written->count; i++)
        if (box_element_count(&written->holdings[i].box, written->ndim) > 0 &&
            box_intersect(&written->holdings[i].box, &shard, written->ndim, &common))
            return true;
    return false;
}

static void name_cell(const trial *test, const int64_t *cell, char *key, size_t bytes)
{
    size_t used = (size_t)snprintf(key, bytes, "array/c");
    int d;
    for (d = 0; d < test->info.ndim; d++)
        used += (size_t)snprintf(key + used, bytes - used, "/%lld", (long long)cell[d]);
}

static void check_cell(trial *test, const int64_t *cell, int64_t begun, int64_t expected)
{
    char key[128];
    if (begun == expected)
        return;
    name_cell(test, cell, key, sizeof key);
    fprintf(stderr, "%s was begun %lld times instead of %lld\n", key, (long long)begun, (long long)expected);
    launch_expect(test->run, false, "each touched shard is begun once, and no other");
}

static bool has_shards(const trial *test)
{
    return box_element_count(&test->grid, test->info.ndim) > 0;
}

/* Fills begun[number] for every shard with how often it was begun on this rank; whether any was. */
static bool take_notes(trial *test, int64_t *begun)
{
    int64_t cell[MOST_NDIM] = {0};
    bool has_any = false;
    char key[128];
    if (has_shards(test))
        do {
            name_cell(test, cell, key, sizeof key);
            *begun = take_key(&test->noting, key);
            has_any = has_any || *begun > 0;
            begun++;
        } while (box_step(&test->grid, test->info.ndim, cell));
    launch_expect(test->run, test->noting.count == 0, "no other objects than shards");
    forget_keys(&test->noting);
    return has_any;
}

/* Compares what the stores of all ranks have noted with the shards that the parts touch. */
static void check_notes(trial *test, const decomposition *written)
{
    int64_t begun[MOST_SHARDS + 1] = {0}, cell[MOST_NDIM] = {0}, number = 1;
    begun[0] = take_notes(test, begun + 1);
    launch_sum(begun, MOST_SHARDS + 1);
    launch_expect(test->run, test->options.servers == 0 || begun[0] <= test->options.servers,
                  "no more ranks touch storage than there are servers");
    if (has_shards(test))
        do
            check_cell(test, cell, begun[number++], is_touched(test, written, cell));
        while (box_step(&test->grid, test->info.ndim, cell));
}

static bool write_noted(trial *test, int write)
{
    part_list list;
    bool is_written;
    forget_keys(&test->noting);
    part_list_build(&list, &test->of, &test->of.writes[write], test->run->rank, false);
    part_list_put(&list, write);
    is_written = LAUNCH_OK(test->run, parapet_array_write(test->array, list.parts, list.count));
    part_list_clear(&list);
    if (is_written)
        check_notes(test, &test->of.writes[write]);
    return is_written;
}

/* A box inside one that another rank holds (or the same, where there is only one): exactly one pair overlaps. */
static bool add_overlap(trial *test, decomposition *to, holding *with)
{
    draw from = draw_start(test->of.seed, STREAM_OVERLAP);
    int i, d, rank, first = to->count > 0 ? (int)draw_between(&from, 0, to->count - 1) : 0;
    for (i = 0; i < to->count; i++) {
        *with = to->holdings[(first + i) % to->count];
        if (box_element_count(&with->box, to->ndim) > 0)
            break;
    }
    if (i == to->count)
        return false;
    rank = test->run->ranks > 1 ? (int)draw_between(&from, 1, test->run->ranks - 1) : 0;
    rank = (with->rank + rank) % test->run->ranks;
    for (d = 0; d < to->ndim; d++) {
        int64_t inset = draw_between(&from, 0, with->box.count[d] - 1);
        with->box.start[d] += inset;
        with->box.count[d] = draw_between(&from, 1, with->box.count[d] - inset);
    }
    decomposition_add(to, rank, &with->box);
    return true;
}

static void check_sentence(trial *test, const holding *with, int other)
{
    pp_box common = {0};
    pp_text text = {0};
    char *shown = NULL, first[32], second[32];
    const char *sentence = parapet_error_message();
    (void)pp_box_init(&common, test->info.ndim, with->box.start, with->box.count);
    pp_box_print(&common, &text);
    if (pp_text_finish(&text, &shown) != PARAPET_OK)
        abort();
    (void)snprintf(first, sizeof first, test->run->ranks > 1 ? "of rank %d " : "parts ", with->rank);
    (void)snprintf(second, sizeof second, test->run->ranks > 1 ? "of rank %d " : "parts ", other);
    launch_expect(test->run, strstr(sentence, first) != NULL && strstr(sentence, second) != NULL,
                  "both ranks in the sentence");
    launch_expect(test->run, strstr(sentence, shown) != NULL, "the box in the sentence");
    if (test->run->failures > 0)
        fprintf(stderr, "the sentence is \"%s\", the box %s of ranks %d and %d\n", sentence, shown, with->rank,
                other);
    pp_free(shown);
}

static void check_unchanged(trial *test, const tree *before)
{
    tree after;
    tree_take(&after, test->place);
    launch_expect(test->run, tree_equals(before, &after), "a refused write changes nothing");
    tree_clear(&after);
}

static void check_overlap(trial *test)
{
    decomposition *written = &test->of.writes[0];
    tree before = {0};
    part_list list;
    holding with;
    if (!add_overlap(test, written, &with))
        return;
    launch_barrier();
    if (test->run->rank == 0)
        tree_take(&before, test->place);
    part_list_build(&list, &test->of, written, test->run->rank, false);
    part_list_put(&list, 1);
    forget_keys(&test->noting);
    launch_expect(test->run,
                  LAUNCH_AGREED(test->run, parapet_array_write(test->array, list.parts, list.count)) ==
                      PARAPET_ERR_ARGUMENT,
                  "PARAPET_ERR_ARGUMENT for parts that overlap");
    check_sentence(test, &with, written->holdings[written->count - 1].rank);
    launch_expect(test->run, test->noting.count == 0, "nothing is begun for a write that is refused");
    launch_barrier();
    if (test->run->rank == 0)
        check_unchanged(test, &before);
    tree_clear(&before);
    part_list_clear(&list);
    written->count--;
}

static void check_contents(trial *test)
{
    unsigned char *contents = subject_contents(&test->of, test->of.write_count);
    part_list list;
    part_list_build(&list, &test->of, &test->of.read, test->run->rank, false);
    if (LAUNCH_OK(test->run, parapet_array_read(test->array, list.parts, list.count)))
        launch_expect(test->run, part_list_holds(&list, contents), "what was written");
    part_list_clear(&list);
    free(contents);
}

static bool open_trial(trial *test)
{
    pp_posix_options posix = {.create = true, .not_durable = true};
    int d;
    (void)pthread_mutex_init(&test->noting.mutex, NULL);
    test->noting.store.ops = &noting_ops;
    if (!LAUNCH_OK(test->run, pp_store_posix_build(&test->noting.inner, test->place, &posix)))
        return false;
    test->noting.store.locks_of = test->noting.inner;
    if (!LAUNCH_OK(test->run, pp_store_open_over(&test->store, MPI_COMM_WORLD, &test->noting.store, PARAPET_CREATE,
                                                 &test->options)) ||
        !LAUNCH_OK(test->run, parapet_array_create(&test->array, test->store, "array", &test->of.spec)) ||
        !LAUNCH_OK(test->run, parapet_array_get_info(test->array, &test->info)))
        return false;
    for (d = 0; d < test->info.ndim; d++)
        test->grid.count[d] = (test->info.shape[d] + test->info.shards[d] - 1) / test->info.shards[d];
    return true;
}

static void close_trial(trial *test)
{
    if (test->array != NULL)
        (void)LAUNCH_OK(test->run, parapet_array_close(&test->array));
    if (test->store != NULL)
        (void)LAUNCH_OK(test->run, parapet_store_close(&test->store));
    pp_store_free(test->noting.inner);
    forget_keys(&test->noting);
    free(test->noting.keys);
    (void)pthread_mutex_destroy(&test->noting.mutex);
    subject_clear(&test->of);
}

static void run_case(launch *run, uint64_t seed)
{
    static const subject_limits limits = {.elements = 4000, .objects = MOST_SHARDS, .writes = MOST_WRITES};
    draw settings = draw_start(seed, STREAM_SETTINGS);
    trial test = {.run = run};
    char description[2048] = "";
    int write;
    launch_case_begin(run, seed);
    subject_build(&test.of, seed, run->ranks, &limits);
    test.options = settings_draw(&settings, run->ranks);
    test.options.memory_bytes = 0;
    test.options.write_back = 0; /* it is counted when shards are begun */
    (void)snprintf(test.place, sizeof test.place, "%s/%llu", run->folder, (unsigned long long)seed);
    if (open_trial(&test) && write_noted(&test, 0)) {
        check_overlap(&test);
        for (write = test.of.write_count > 1; write < test.of.write_count; write++)
            (void)write_noted(&test, write);
        check_contents(&test);
    }
    subject_print(&test.of, description, sizeof description);
    close_trial(&test);
    (void)launch_case_end(run, description);
    if (run->rank == 0)
        tree_remove(test.place);
}

int main(int argc, char **argv)
{
    launch run;
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    int64_t cases = argc > 2 ? strtoll(argv[2], NULL, 0) : 10, i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    for (i = 0; i < cases && run.failed_cases < FAILED_CASES_MOST; i++)
        run_case(&run, first + (uint64_t)i);
    if (run.rank == 0)
        printf("%lld cases on %d ranks, %lld failed\n", (long long)i, run.ranks, (long long)run.failed_cases);
    return launch_finish(&run);
}
