/* Long lists of points and of parts: memory stays within the plan and the plan within the limit, whatever their
 * length. Runs under the launcher:
 *
 *     parallel_list_memory POINTS PARTS MIB
 *
 * writes and reads 1,000, 10,000, ... POINTS points of 64 bytes, and the same of parts, which all ranks have together
 * in no order; in one array with the layout that the library chooses, and MIB of memory (0: the library's limit). */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"

enum { WORDS = 8 };

/* A step through all numbers below a power of ten, which has neither of its factors. */
static const int64_t step = 6180339887;

typedef struct trial {
    launch *run;
    int64_t all, count; /* points, and those of this rank */
    int64_t *starts, *lengths;
    int64_t (*boxes)[2];
    double *data;
    parapet_store *store;
    parapet_array *array;
    int64_t limit_bytes;
} trial;

static void make_points(trial *test)
{
    int64_t ranks = test->run->ranks, rank = test->run->rank, most = test->all / ranks + 1, number;
    test->starts = calloc((size_t)most, sizeof test->starts[0]);
    test->lengths = calloc((size_t)most, sizeof test->lengths[0]);
    test->boxes = calloc((size_t)most, sizeof test->boxes[0]);
    test->data = calloc((size_t)most * WORDS, sizeof test->data[0]);
    test->count = 0;
    for (number = rank; number < test->all; number += ranks) {
        int64_t point = (int64_t)((uint64_t)number * (uint64_t)step % (uint64_t)test->all);
        test->boxes[test->count][0] = point;
        test->starts[test->count] = point * WORDS;
        test->lengths[test->count++] = WORDS;
    }
}

static void free_points(trial *test)
{
    free(test->starts);
    free(test->lengths);
    free(test->boxes);
    free(test->data);
}

static double value_of(const trial *test, int64_t i, int word)
{
    return (double)(test->starts[i] + word) + 0.5;
}

static void fill_values(trial *test)
{
    int64_t i;
    int word;
    for (i = 0; i < test->count; i++)
        for (word = 0; word < WORDS; word++)
            test->data[i * WORDS + word] = value_of(test, i, word);
}

static bool has_values(const trial *test)
{
    int64_t i;
    int word;
    for (i = 0; i < test->count; i++)
        for (word = 0; word < WORDS; word++)
            if (test->data[i * WORDS + word] != value_of(test, i, word))
                return false;
    return true;
}

static parapet_part *make_parts(trial *test)
{
    static const int64_t extent[2] = {1, WORDS};
    parapet_part *parts = calloc((size_t)test->count + 1, sizeof *parts);
    int64_t i;
    for (i = 0; i < test->count; i++)
        parts[i] =
            (parapet_part){.ndim = 2, .start = test->boxes[i], .count = extent, .data = test->data + i * WORDS};
    return parts;
}

static parapet_status move_points(trial *test, bool writes)
{
    parapet_runs runs = {.count = test->count, .starts = test->starts, .lengths = test->lengths, .data = test->data};
    return writes ? parapet_array_write_runs(test->array, &runs) : parapet_array_read_runs(test->array, &runs);
}

static parapet_status move_parts(trial *test, bool writes)
{
    parapet_part *parts = make_parts(test);
    parapet_status status = writes ? parapet_array_write(test->array, parts, (int)test->count)
                                   : parapet_array_read(test->array, parts, (int)test->count);
    free(parts);
    return status;
}

static void check_memory(const trial *test, const char *words)
{
    parapet_statistics seen = {0};
    launch_expect(test->run, parapet_store_get_statistics(test->store, &seen) == PARAPET_OK, "statistics");
    launch_expect(test->run, seen.memory_planned_bytes <= test->limit_bytes, "a plan within the limit");
    launch_expect(test->run, seen.memory_peak_bytes <= seen.memory_planned_bytes, "buffers within the plan");
    if (test->run->rank == 0)
        (void)printf("%lld %s: peak %.1f, planned %.1f, limit %.1f MiB\n", (long long)test->all, words,
                     (double)seen.memory_peak_bytes / 1048576, (double)seen.memory_planned_bytes / 1048576,
                     (double)test->limit_bytes / 1048576);
}

/* Parts that are too many for the limit are refused, with one that would do. */
static bool is_refused(const trial *test, parapet_status status, bool are_parts)
{
    if (status != PARAPET_ERR_MEMORY || !are_parts)
        return false;
    launch_expect(test->run, strstr(parapet_error_message(), " at least ") != NULL, "a limit that would do");
    return true;
}

static void run_list(trial *test, bool are_parts)
{
    parapet_status (*move)(trial *, bool) = are_parts ? move_parts : move_points;
    const char *words = are_parts ? "parts" : "points";
    parapet_status status;
    fill_values(test);
    status = LAUNCH_AGREED(test->run, move(test, true));
    if (is_refused(test, status, are_parts)) {
        check_memory(test, "parts, which were refused");
        return;
    }
    (void)launch_ok(test->run, status, words);
    memset(test->data, 0xA5, (size_t)test->count * WORDS * sizeof test->data[0]);
    (void)launch_ok(test->run, LAUNCH_AGREED(test->run, move(test, false)), words);
    launch_expect(test->run, has_values(test), "the values that were written");
    check_memory(test, words);
}

static void run_length(launch *run, int64_t all, bool are_parts, int64_t mib)
{
    parapet_store_options options = {.memory_bytes = mib << 20};
    int64_t shape[2] = {all, WORDS};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 2, .shape = shape, .codec = "none"};
    trial test = {.run = run, .all = all, .limit_bytes = (mib > 0 ? mib : 256) << 20};
    char url[600];
    launch_case_begin(run, (uint64_t)all);
    (void)snprintf(url, sizeof url, "%s/%s-%lld", run->folder, are_parts ? "parts" : "points", (long long)all);
    make_points(&test);
    if (LAUNCH_OK(run, parapet_store_open(&test.store, MPI_COMM_WORLD, url, PARAPET_CREATE, &options)) &&
        LAUNCH_OK(run, parapet_array_create(&test.array, test.store, "a", &spec)))
        run_list(&test, are_parts);
    (void)LAUNCH_OK(run, parapet_array_close(&test.array));
    if (test.store != NULL)
        (void)LAUNCH_OK(run, parapet_store_remove(test.store, "", 1, 0, NULL, NULL));
    (void)LAUNCH_OK(run, parapet_store_close(&test.store));
    (void)launch_case_end(run, are_parts ? "parts" : "points");
    free_points(&test);
}

int main(int argc, char **argv)
{
    int64_t points, parts, mib, all;
    launch run;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    points = argc > 1 ? strtoll(argv[1], NULL, 10) : 1000;
    parts = argc > 2 ? strtoll(argv[2], NULL, 10) : 1000;
    mib = argc > 3 ? strtoll(argv[3], NULL, 10) : 0;
    for (all = 1000; all <= points; all *= 10)
        run_length(&run, all, false, mib);
    for (all = 1000; all <= parts; all *= 10)
        run_length(&run, all, true, mib);
    return launch_finish(&run);
}
