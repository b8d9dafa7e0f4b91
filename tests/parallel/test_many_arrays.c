/* Many arrays in one call: up to 40 arrays of different shapes, types and codecs are created, written and read as one
 * collective; the store must have the bytes of one that a process made alone, array by array. Runs under the
 * launcher:
 *
 *     parallel_many_arrays FIRST CASES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "memory.h"
#include "settings.h"
#include "tree.h"

#define ARRAYS_MOST 40
#define FAILED_CASES_MOST 5

enum { STREAM_FORM = 400, STREAM_SETTINGS, STREAM_READ_SETTINGS };

typedef struct trial {
    launch *run;
    int count, rounds; /* writes of the array with most */
    subject of[ARRAYS_MOST];
    char paths[ARRAYS_MOST][32];
    const char *path_list[ARRAYS_MOST];
    part_list lists[ARRAYS_MOST];
    parapet_array_parts entries[ARRAYS_MOST];
    parapet_array *arrays[ARRAYS_MOST];
    parapet_store *store;
    parapet_store_options options;
    bool was_refused; /* the call that is made again */
    char collective[600], alone[600];
} trial;

static void close_all(trial *test)
{
    if (test->arrays[0] != NULL)
        (void)LAUNCH_OK(test->run, parapet_arrays_close(test->arrays, test->count));
    launch_expect(test->run, test->arrays[test->count - 1] == NULL, "handles of closed arrays that are NULL");
    if (test->store != NULL)
        (void)LAUNCH_OK(test->run, parapet_store_close(&test->store));
}

static bool can_retry(trial *test, parapet_status status)
{
    if (!launch_raise_limit(test->run, status, &test->options.memory_bytes, &test->was_refused))
        return false;
    close_all(test);
    return true;
}

static bool open_all(trial *test, parapet_mode mode)
{
    return LAUNCH_OK(test->run,
                     parapet_store_open(&test->store, MPI_COMM_WORLD, test->collective, mode, &test->options)) &&
           LAUNCH_OK(test->run, parapet_arrays_open(test->arrays, test->store, test->path_list, test->count));
}

static bool create_all(trial *test)
{
    parapet_array_spec specs[ARRAYS_MOST];
    int i;
    for (i = 0; i < test->count; i++)
        specs[i] = test->of[i].spec;
    return LAUNCH_OK(test->run, parapet_store_open(&test->store, MPI_COMM_WORLD, test->collective, PARAPET_CREATE,
                                                   &test->options)) &&
           LAUNCH_OK(test->run,
                     parapet_arrays_create(test->arrays, test->store, test->path_list, specs, test->count));
}

/* Handles change when the store is opened again; parts stay. */
static const parapet_array_parts *entries_of(trial *test)
{
    int i;
    for (i = 0; i < test->count; i++)
        test->entries[i] = (parapet_array_parts){
            .array = test->arrays[i], .parts = test->lists[i].parts, .part_count = test->lists[i].count};
    return test->entries;
}

/* Arrays that have no write of this number bring no parts. */
static void build_round(trial *test, int round)
{
    static const decomposition nothing = {0};
    int i;
    for (i = 0; i < test->count; i++) {
        const subject *of = &test->of[i];
        part_list_build(&test->lists[i], of, round < of->write_count ? &of->writes[round] : &nothing, test->run->rank,
                        false);
        part_list_put(&test->lists[i], round);
    }
}

static void clear_round(trial *test)
{
    int i;
    for (i = 0; i < test->count; i++)
        part_list_clear(&test->lists[i]);
}

static bool write_round(trial *test, int round)
{
    parapet_status status = PARAPET_ERR_INTERNAL;
    build_round(test, round);
    do {
        if (test->store == NULL && !open_all(test, PARAPET_UPDATE))
            break;
        status = LAUNCH_AGREED(test->run, parapet_arrays_write(entries_of(test), test->count));
    } while (can_retry(test, status));
    clear_round(test);
    return launch_ok(test->run, status, "parapet_arrays_write");
}

static void check_round(trial *test)
{
    int i;
    for (i = 0; i < test->count; i++) {
        unsigned char *contents = subject_contents(&test->of[i], test->of[i].write_count);
        if (!part_list_holds(&test->lists[i], contents)) {
            char description[1024] = "";
            subject_print(&test->of[i], description, sizeof description);
            fprintf(stderr, "%s: %s\n", test->paths[i], description);
            launch_expect(test->run, false, "what was written");
        }
        free(contents);
    }
}

static void read_all(trial *test)
{
    parapet_status status = PARAPET_ERR_INTERNAL;
    int i;
    for (i = 0; i < test->count; i++)
        part_list_build(&test->lists[i], &test->of[i], &test->of[i].read, test->run->rank, false);
    do {
        if (test->store == NULL && !open_all(test, PARAPET_READ))
            break;
        status = LAUNCH_AGREED(test->run, parapet_arrays_read(entries_of(test), test->count));
    } while (can_retry(test, status));
    if (launch_ok(test->run, status, "parapet_arrays_read"))
        check_round(test);
    clear_round(test);
}

static parapet_status write_array_alone(const subject *of, parapet_store *store, const char *path)
{
    parapet_array *array = NULL;
    parapet_status status = parapet_array_create(&array, store, path, &of->spec);
    int write;
    for (write = 0; write < of->write_count && status == PARAPET_OK; write++) {
        part_list list;
        part_list_build(&list, of, &of->writes[write], ALL_RANKS, true);
        part_list_put(&list, write);
        status = parapet_array_write(array, list.parts, list.count);
        part_list_clear(&list);
    }
    if (status != PARAPET_OK)
        fprintf(stderr, "%s alone: %s\n", path, parapet_error_message());
    (void)parapet_array_close(&array);
    return status;
}

static void compare_with_alone(trial *test)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    parapet_store *store = NULL;
    tree collective, alone;
    parapet_status status = parapet_store_open(&store, MPI_COMM_SELF, test->alone, PARAPET_CREATE, &options);
    int i;
    for (i = 0; i < test->count && status == PARAPET_OK; i++)
        status = write_array_alone(&test->of[i], store, test->paths[i]);
    (void)parapet_store_close(&store);
    launch_expect(test->run, status == PARAPET_OK, "a reference");
    tree_take(&collective, test->collective);
    tree_take(&alone, test->alone);
    launch_expect(test->run, !tree_has_leftovers(&collective), "nothing under temporary names");
    launch_expect(test->run, tree_equals(&collective, &alone), "the bytes that one process writes");
    tree_clear(&collective);
    tree_clear(&alone);
}

static void run_trial(trial *test, draw *read_settings)
{
    bool is_fine = create_all(test), is_same_handle = draw_chance(read_settings, 30);
    int round;
    for (round = 0; round < test->rounds && is_fine; round++)
        is_fine = write_round(test, round);
    if (is_fine && !is_same_handle) {
        close_all(test);
        test->options = settings_draw(read_settings, test->run->ranks);
    }
    if (is_fine)
        read_all(test);
    close_all(test);
    launch_phase(test->run, "one process alone");
    if (is_fine && test->run->rank == 0)
        compare_with_alone(test);
}

static void build_trial(trial *test, uint64_t seed)
{
    static const subject_limits limits = {.elements = 3000, .objects = 8, .writes = 2};
    draw form = draw_start(seed, STREAM_FORM), settings = draw_start(seed, STREAM_SETTINGS);
    int i;
    test->count = (int)draw_scale(&form, ARRAYS_MOST);
    test->options = settings_draw(&settings, test->run->ranks);
    for (i = 0; i < test->count; i++) {
        subject_build(&test->of[i], seed * 1000 + (uint64_t)i, test->run->ranks, &limits);
        test->rounds = test->of[i].write_count > test->rounds ? test->of[i].write_count : test->rounds;
        (void)snprintf(test->paths[i], sizeof test->paths[i], draw_chance(&form, 30) ? "fields/f%d" : "a%d", i);
        test->path_list[i] = test->paths[i];
    }
    (void)snprintf(test->collective, sizeof test->collective, "%s/%llu", test->run->folder, (unsigned long long)seed);
    (void)snprintf(test->alone, sizeof test->alone, "%s/alone", test->run->folder);
}

static void run_case(launch *run, uint64_t seed)
{
    draw read_settings = draw_start(seed, STREAM_READ_SETTINGS);
    trial *test = calloc(1, sizeof *test);
    char description[512], options[400];
    int i;
    if (test == NULL)
        abort();
    test->run = run;
    launch_case_begin(run, seed);
    build_trial(test, seed);
    settings_print(&test->options, options, sizeof options);
    (void)snprintf(description, sizeof description, "%d arrays, %d writes; %s", test->count, test->rounds, options);
    run_trial(test, &read_settings);
    (void)launch_case_end(run, description);
    if (run->rank == 0) {
        tree_remove(test->collective);
        tree_remove(test->alone);
    }
    for (i = 0; i < test->count; i++)
        subject_clear(&test->of[i]);
    free(test);
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
