/* subject.c - makes and takes up what Parapet leaves for itself: copies under way and series.
 *
 *     subject source STORE                       "a", 128 x 128 float32
 *     subject copy SOURCE TARGET BYTES PASSES    copies "a", and is cancelled when so many bytes are done; 0: goes on
 *     subject series STORE STEPS                 makes the series "run", of rows of 4 steps, with so many steps
 *     subject append STORE STEPS                 opens it and appends so many
 *     subject abandon STORE STEPS                the same, and ends without closing it
 *     subject repair STORE BEYOND                refuse, adopt or cut
 *     subject staged STORE BYTE                  keeps 3 of 4 open steps in a file, flips a bit of this byte of it,
 * and appends the fourth subject values STORE                       prints the sum of every step of "run/u"
 *
 * Prints what every call said; the exit code is 1 when one failed. */
#include <glob.h>
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 128, ROW = 4, POINTS = 100, WIDE = 40000, PIECES = 10 };

static int has_failed;

static parapet_status say(const char *call, parapet_status status)
{
    if (status != PARAPET_OK) {
        printf("%s: %s: %s\n", call, parapet_status_name(status), parapet_error_message());
        has_failed = 1;
    }
    return status;
}

static parapet_store *open_store(const char *path, parapet_store_options *options)
{
    parapet_store *store = NULL;
    if (say("store_open", parapet_store_open(&store, MPI_COMM_NULL, path, PARAPET_CREATE, options)) != PARAPET_OK)
        exit(1);
    return store;
}

/* ---- Copies ---- */

static void make_source(const char *path)
{
    static float data[SIDE * SIDE];
    const int64_t shape[2] = {SIDE, SIDE}, chunks[2] = {16, 16}, shards[2] = {64, 64}, start[2] = {0, 0};
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    parapet_part part = {.ndim = 2, .start = start, .count = shape, .data = data};
    parapet_store *store = open_store(path, NULL);
    parapet_array *array = NULL;
    int i;
    for (i = 0; i < SIDE * SIDE; i++)
        data[i] = (float)i;
    if (say("array_create", parapet_array_create(&array, store, "a", &spec)) == PARAPET_OK)
        (void)say("array_write", parapet_array_write(array, &part, 1));
    (void)parapet_array_close(&array);
    (void)parapet_store_close(&store);
}

static int stop_at(void *context, int64_t done_bytes, int64_t total_bytes)
{
    const int64_t *most = context;
    (void)total_bytes;
    return *most > 0 && done_bytes >= *most;
}

static void copy(char **words)
{
    int64_t most = atoll(words[2]);
    parapet_store_options options = {.memory_bytes = 16 << 20, .progress = stop_at, .progress_context = &most};
    parapet_store *source = open_store(words[0], NULL), *target = open_store(words[1], &options);
    parapet_copy_request request = {.source = source,
                                    .source_path = "a",
                                    .target = target,
                                    .target_path = "a",
                                    .changes = {.chunks = "128,8", .shards = "128,32"},
                                    .unit_bytes = 8192,
                                    .resume = 1,
                                    .passes = atoll(words[3]),
                                    .no_probe = 1};
    (void)say("copy", parapet_copy(&request, NULL));
    (void)parapet_store_close(&source);
    (void)parapet_store_close(&target);
}

/* ---- Series ---- */

static void append_steps(parapet_series *series, int64_t points, int count)
{
    static double data[WIDE];
    const int64_t start[1] = {0};
    parapet_part part = {.ndim = 1, .start = start, .count = &points, .data = data};
    parapet_step step = {.parts = &part, .part_count = 1};
    parapet_series_info info;
    int i, j;
    for (i = 0; i < count && !has_failed; i++) {
        if (say("series_get_info", parapet_series_get_info(series, &info)) != PARAPET_OK)
            return;
        for (j = 0; j < points; j++)
            data[j] = (double)info.steps * 1000 + j;
        (void)say("series_append", parapet_series_append(series, (double)info.steps, &step));
    }
}

static parapet_series *create_series(parapet_store *store, int64_t points)
{
    const int64_t shape[2] = {0, points}, chunks[2] = {1, points / PIECES}, shards[2] = {ROW, points / PIECES};
    static const char *const names[1] = {"u"};
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    parapet_series_spec given = {.count = 1, .names = names, .specs = &spec};
    parapet_series *series = NULL;
    if (say("series_create", parapet_series_create(&series, store, "run", &given)) != PARAPET_OK)
        exit(1);
    return series;
}

static void make_series(char **words)
{
    parapet_store *store = open_store(words[0], NULL);
    parapet_series *series = create_series(store, POINTS);
    append_steps(series, POINTS, atoi(words[1]));
    (void)say("series_close", parapet_series_close(&series));
    (void)parapet_store_close(&store);
}

static void append_series(char **words, int is_closed)
{
    parapet_store *store = open_store(words[0], NULL);
    parapet_series *series = NULL;
    if (say("series_open", parapet_series_open(&series, store, "run")) != PARAPET_OK)
        exit(1);
    append_steps(series, POINTS, atoi(words[1]));
    if (!is_closed)
        exit(has_failed);
    (void)say("series_close", parapet_series_close(&series));
    (void)parapet_store_close(&store);
}

static void repair_series(char **words)
{
    parapet_store *store = open_store(words[0], NULL);
    parapet_beyond beyond = strcmp(words[1], "adopt") == 0 ? PARAPET_BEYOND_ADOPT
                            : strcmp(words[1], "cut") == 0 ? PARAPET_BEYOND_CUT
                                                           : PARAPET_BEYOND_REFUSE;
    (void)say("series_repair", parapet_series_repair(store, "run", beyond));
    (void)parapet_store_close(&store);
}

static void flip_bit(const char *store, long byte)
{
    char pattern[4096];
    glob_t found;
    FILE *file;
    int value;
    (void)snprintf(pattern, sizeof pattern, "%s/run/__parapet/open/*", store);
    if (glob(pattern, 0, NULL, &found) != 0 || (file = fopen(found.gl_pathv[0], "r+b")) == NULL) {
        printf("there is no file of open steps\n");
        exit(2);
    }
    (void)fseek(file, byte, SEEK_SET);
    value = fgetc(file);
    (void)fseek(file, byte, SEEK_SET);
    (void)fputc(value ^ 4, file);
    (void)fclose(file);
    globfree(&found);
}

static void stage_series(char **words)
{
    parapet_store_options options = {.memory_bytes = 1 << 20};
    parapet_store *store = open_store(words[0], &options);
    parapet_series *series = create_series(store, WIDE);
    append_steps(series, WIDE, ROW - 1);
    if (atol(words[1]) >= 0)
        flip_bit(words[0], atol(words[1]));
    append_steps(series, WIDE, 1);
    (void)say("series_close", parapet_series_close(&series));
    (void)parapet_store_close(&store);
}

static void print_values(const char *path)
{
    const int64_t start[2] = {0, 0};
    int64_t count[2] = {0, 0}, i, j;
    parapet_store *store = open_store(path, NULL);
    parapet_array *array = NULL;
    parapet_array_info info;
    if (say("array_open", parapet_array_open(&array, store, "run/u")) != PARAPET_OK ||
        say("array_get_info", parapet_array_get_info(array, &info)) != PARAPET_OK)
        return;
    count[0] = info.shape[0];
    count[1] = info.shape[1];
    {
        double *data = calloc((size_t)(count[0] * count[1]) + 1, sizeof *data), sum;
        parapet_part part = {.ndim = 2, .start = start, .count = count, .data = data};
        (void)say("array_read", parapet_array_read(array, &part, 1));
        for (i = 0; i < count[0]; i++) {
            for (j = 0, sum = 0; j < count[1]; j++)
                sum += data[i * count[1] + j];
            printf("%.17g\n", sum);
        }
        free(data);
    }
    (void)parapet_array_close(&array);
    (void)parapet_store_close(&store);
}

int main(int count, char **words)
{
    const char *verb = count > 2 ? words[1] : "";
    if (strcmp(verb, "source") == 0)
        make_source(words[2]);
    else if (strcmp(verb, "copy") == 0 && count == 6)
        copy(words + 2);
    else if (strcmp(verb, "series") == 0 && count == 4)
        make_series(words + 2);
    else if ((strcmp(verb, "append") == 0 || strcmp(verb, "abandon") == 0) && count == 4)
        append_series(words + 2, strcmp(verb, "append") == 0);
    else if (strcmp(verb, "repair") == 0 && count == 4)
        repair_series(words + 2);
    else if (strcmp(verb, "staged") == 0 && count == 4)
        stage_series(words + 2);
    else if (strcmp(verb, "values") == 0)
        print_values(words[2]);
    else
        return 2;
    return has_failed;
}
