/* Listed elements: random lists of points and runs, in any order, and boxes are written by all ranks and read by all
 * ranks or by one alone; every rank knows what the array must hold. Runs under the launcher on any number of ranks:
 *
 *     parallel_points FIRST CASES [FOLDER]
 *
 * runs the seeds from FIRST; CASES 1 repeats one. Memory is small: lists are worked off in passes, or refused with a
 * limit that is then enough. In FOLDER it keeps the store of each case whose type zarr-python has, and what every
 * rank gave to its calls and got from them: points_with_numpy.py does the same with NumPy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "launch.h"
#include "settings.h"
#include "subject.h"
#include "tree.h"

enum { STREAM_SETTINGS = 300, STREAM_LISTS, WRITES = 3, READS = 3 };

typedef struct trial {
    launch *run;
    subject of;
    parapet_store_options options;
    char url[700];
    parapet_store *store;
    parapet_array *array;
    unsigned char *model; /* what the array must hold */
    int64_t refusals;
    FILE *kept; /* the calls of this rank; NULL: they are not kept */
    int step;   /* which of the case's lists this is */
} trial;

/* A list of one rank, as points or as runs, or a box as a list of its rows. */
typedef struct list {
    bool are_points, is_box;
    int64_t box_start[MOST_NDIM], box_count[MOST_NDIM];
    int64_t count, elements;
    int64_t *starts, *lengths, *points; /* of each: a run; points has the coordinates of its first element */
    unsigned char *data;
} list;

static void list_build(list *made, int64_t most, int64_t most_elements, size_t element_bytes)
{
    *made = (list){.starts = calloc((size_t)most + 1, sizeof(int64_t)),
                   .lengths = calloc((size_t)most + 1, sizeof(int64_t)),
                   .points = calloc((size_t)most * MOST_NDIM + 1, sizeof(int64_t)),
                   .data = malloc((size_t)most_elements * element_bytes + 1)};
    memset(made->data, 0xA5, (size_t)most_elements * element_bytes + 1);
}

static void list_clear(list *made)
{
    free(made->starts);
    free(made->lengths);
    free(made->points);
    free(made->data);
}

static void list_add(const trial *test, list *made, int64_t start, int64_t length)
{
    int64_t *point = made->points + made->count * test->of.spec.ndim, rest = start;
    int d;
    for (d = test->of.spec.ndim - 1; d >= 0; d--) {
        point[d] = rest % test->of.shape[d];
        rest /= test->of.shape[d];
    }
    made->starts[made->count] = start;
    made->lengths[made->count++] = length;
    made->elements += length;
}

static void shuffle(const trial *test, list *made, draw *from)
{
    int64_t i, j, k, ndim = test->of.spec.ndim;
    for (i = made->count - 1; i > 0; i--) {
        int64_t swapped = made->starts[i];
        j = draw_between(from, 0, i);
        made->starts[i] = made->starts[j];
        made->starts[j] = swapped;
        swapped = made->lengths[i];
        made->lengths[i] = made->lengths[j];
        made->lengths[j] = swapped;
        for (k = 0; k < ndim; k++) {
            swapped = made->points[i * ndim + k];
            made->points[i * ndim + k] = made->points[j * ndim + k];
            made->points[j * ndim + k] = swapped;
        }
    }
}

/* ---- Calls ---- */

typedef enum call { WRITE, READ, READ_LOCAL } call;

static parapet_status make_call(const trial *test, const list *given, call which)
{
    parapet_points points = {
        .ndim = test->of.spec.ndim, .count = given->count, .coordinates = given->points, .data = given->data};
    parapet_runs runs = {
        .count = given->count, .starts = given->starts, .lengths = given->lengths, .data = given->data};
    parapet_part part = {
        .ndim = test->of.spec.ndim, .start = given->box_start, .count = given->box_count, .data = given->data};
    bool is_none = given->count == 0;
    if (given->is_box && which == READ_LOCAL)
        return parapet_array_read_local(test->array, &part, !is_none);
    if (given->is_box)
        return (which == WRITE ? parapet_array_write : parapet_array_read)(test->array, &part, !is_none);
    if (which == WRITE)
        return given->are_points ? parapet_array_write_points(test->array, is_none ? NULL : &points)
                                 : parapet_array_write_runs(test->array, is_none ? NULL : &runs);
    if (which == READ)
        return given->are_points ? parapet_array_read_points(test->array, is_none ? NULL : &points)
                                 : parapet_array_read_runs(test->array, is_none ? NULL : &runs);
    return given->are_points ? parapet_array_read_points_local(test->array, &points)
                             : parapet_array_read_runs_local(test->array, &runs);
}

static void check_memory(const trial *test)
{
    parapet_statistics seen = {0};
    int64_t limit = test->options.memory_bytes;
    if (parapet_store_get_statistics(test->store, &seen) != PARAPET_OK)
        return;
    launch_expect(test->run, limit == 0 || seen.memory_planned_bytes <= limit, "a plan within memory_bytes");
    launch_expect(test->run, seen.memory_peak_bytes <= seen.memory_planned_bytes, "buffers within the plan");
}

static bool open_handles(trial *test, parapet_mode mode)
{
    return LAUNCH_OK(test->run, parapet_store_open(&test->store, MPI_COMM_WORLD, test->url, mode, &test->options)) &&
           LAUNCH_OK(test->run, parapet_array_open(&test->array, test->store, "a"));
}

static void close_handles(trial *test)
{
    if (test->store != NULL)
        check_memory(test);
    (void)LAUNCH_OK(test->run, parapet_array_close(&test->array));
    (void)LAUNCH_OK(test->run, parapet_store_close(&test->store));
}

/* Collectively; a refusal for want of memory names a limit that is enough. */
static parapet_status call_within(trial *test, const list *given, call which, const char *words)
{
    bool was_refused = false;
    parapet_status status = launch_agreed(test->run, make_call(test, given, which), words);
    if (launch_raise_limit(test->run, status, &test->options.memory_bytes, &was_refused)) {
        test->refusals++;
        close_handles(test);
        if (open_handles(test, PARAPET_UPDATE))
            status = launch_agreed(test->run, make_call(test, given, which), words);
    }
    return status;
}

/* A line of words and numbers, then the indices as 64-bit integers and the elements as they are in memory. */
static void keep_call(const trial *test, const list *given, call which)
{
    static const char *const words[] = {"write", "read", "read_local"};
    size_t ndim = (size_t)test->of.spec.ndim, count = (size_t)given->count, number = sizeof(int64_t);
    if (test->kept == NULL)
        return;
    (void)fprintf(test->kept, "%d %s %s %zu %lld\n", test->step, words[which],
                  given->is_box       ? "box"
                  : given->are_points ? "points"
                                      : "runs",
                  given->is_box ? (size_t)(count > 0) : count,
                  (long long)(given->elements * (int64_t)test->of.element_bytes));
    if (given->is_box && count > 0) {
        (void)fwrite(given->box_start, number, ndim, test->kept);
        (void)fwrite(given->box_count, number, ndim, test->kept);
    } else if (given->are_points) {
        (void)fwrite(given->points, number, count * ndim, test->kept);
    } else if (!given->is_box) {
        (void)fwrite(given->starts, number, count, test->kept);
        (void)fwrite(given->lengths, number, count, test->kept);
    }
    (void)fwrite(given->data, test->of.element_bytes, (size_t)given->elements, test->kept);
}

static bool call_together(trial *test, const list *given, call which, const char *words)
{
    bool is_done = launch_ok(test->run, call_within(test, given, which, words), words);
    if (is_done)
        keep_call(test, given, which);
    return is_done;
}

/* ---- Lists ---- */

static void put_value(const trial *test, int write, int64_t element, unsigned char *value)
{
    size_t b;
    for (b = 0; b < test->of.element_bytes; b++)
        value[b] = (unsigned char)mix(mix((uint64_t)element * 64 + b) + test->of.seed * 8 + (uint64_t)write);
    if (test->of.spec.type == PARAPET_BOOL)
        value[0] &= 1;
}

/* Cuts the array into runs, and gives each to one rank or to none: the same on every rank, which keeps its own. */
static void draw_write(trial *test, int write, list *own, draw *from)
{
    int64_t start, length, most = draw_chance(from, 40) ? 1 : draw_scale(from, test->of.element_count);
    int nobody = draw_chance(from, 30) ? 0 : (int)draw_between(from, 1, 4 * test->run->ranks);
    size_t bytes = test->of.element_bytes;
    bool are_points = most == 1 && draw_chance(from, 70);
    list_build(own, test->of.element_count, test->of.element_count, bytes);
    own->are_points = are_points;
    for (start = 0; start < test->of.element_count; start += length) {
        int64_t rank = draw_between(from, 0, test->run->ranks - 1 + nobody), i;
        length = draw_between(from, 1, most);
        length = length < test->of.element_count - start ? length : test->of.element_count - start;
        for (i = start; rank < test->run->ranks && i < start + length; i++)
            put_value(test, write, i, test->model + (size_t)i * bytes);
        if (rank == test->run->rank)
            list_add(test, own, start, length);
    }
}

/* The rows of a box in C order. */
static void list_box(const trial *test, list *made)
{
    int64_t row[MOST_NDIM], start;
    int d, last = test->of.spec.ndim - 1;
    memcpy(row, made->box_start, sizeof row);
    for (d = 0; d <= last; d++)
        if (made->box_count[d] == 0)
            return;
    do {
        for (d = 0, start = 0; d <= last; d++)
            start = start * test->of.shape[d] + row[d];
        list_add(test, made, start, last < 0 ? 1 : made->box_count[last]);
        for (d = last - 1; d >= 0 && ++row[d] == made->box_start[d] + made->box_count[d]; d--)
            row[d] = made->box_start[d];
    } while (d >= 0);
}

static void draw_box(const trial *test, list *made, draw *from)
{
    int d;
    list_build(made, test->of.element_count, test->of.element_count, test->of.element_bytes);
    made->is_box = true;
    for (d = 0; d < test->of.spec.ndim; d++) {
        int64_t extent = test->of.shape[d], one = draw_between(from, 0, extent),
                other = draw_between(from, 0, extent);
        made->box_start[d] = one < other ? one : other;
        made->box_count[d] = one < other ? other - one : one - other;
    }
}

/* One box, of which each rank has some rows along the first dimension. */
static void draw_write_box(trial *test, int write, list *own, draw *from)
{
    int64_t i, k, rows, ranks = test->run->ranks, rank = test->run->rank;
    list whole;
    draw_box(test, &whole, from);
    list_box(test, &whole);
    for (i = 0; i < whole.count; i++)
        for (k = whole.starts[i]; k < whole.starts[i] + whole.lengths[i]; k++)
            put_value(test, write, k, test->model + (size_t)k * test->of.element_bytes);
    list_clear(&whole);
    list_build(own, test->of.element_count, test->of.element_count, test->of.element_bytes);
    own->is_box = true;
    memcpy(own->box_start, whole.box_start, sizeof own->box_start);
    memcpy(own->box_count, whole.box_count, sizeof own->box_count);
    if (test->of.spec.ndim > 0) {
        rows = whole.box_count[0];
        own->box_start[0] += rows * rank / ranks;
        own->box_count[0] = rows * (rank + 1) / ranks - rows * rank / ranks;
    }
    if (test->of.spec.ndim > 0 || rank == 0)
        list_box(test, own);
}

static void fill_data(const trial *test, const list *own)
{
    size_t bytes = test->of.element_bytes;
    unsigned char *data = own->data;
    int64_t i;
    for (i = 0; i < own->count; i++) {
        memcpy(data, test->model + (size_t)own->starts[i] * bytes, (size_t)own->lengths[i] * bytes);
        data += (size_t)own->lengths[i] * bytes;
    }
}

static bool holds_model(const trial *test, const list *own)
{
    size_t bytes = test->of.element_bytes;
    const unsigned char *data = own->data;
    int64_t i;
    for (i = 0; i < own->count; i++) {
        if (memcmp(data, test->model + (size_t)own->starts[i] * bytes, (size_t)own->lengths[i] * bytes) != 0)
            return false;
        data += (size_t)own->lengths[i] * bytes;
    }
    return *data == 0xA5;
}

/* Any elements, some of them several times. */
static void draw_read(const trial *test, list *own, draw *from)
{
    int64_t most_elements = 2 * test->of.element_count + 1;
    int64_t count = draw_between(from, 0, draw_scale(from, most_elements)), i;
    int64_t most = draw_chance(from, 50) ? 1 : draw_scale(from, test->of.element_count + 1);
    bool are_points = most == 1 && draw_chance(from, 70);
    list_build(own, most_elements, most_elements, test->of.element_bytes);
    own->are_points = are_points;
    for (i = 0; i < count && test->of.element_count > 0; i++) {
        int64_t start = draw_between(from, 0, test->of.element_count - 1);
        int64_t left = test->of.element_count - start, length = draw_between(from, are_points ? 1 : 0, most);
        length = length < left ? length : left;
        if (own->elements + length <= most_elements)
            list_add(test, own, start, length);
    }
}

static bool write_list(trial *test, int write, draw *from)
{
    draw order = draw_start(test->of.seed, STREAM_LISTS + 100 * (uint64_t)(test->run->rank + 1));
    list own;
    bool is_written;
    test->step++;
    if (draw_chance(from, 30)) {
        draw_write_box(test, write, &own, from);
    } else {
        draw_write(test, write, &own, from);
        shuffle(test, &own, &order);
    }
    fill_data(test, &own);
    is_written = call_together(test, &own, WRITE,
                               own.is_box       ? "write"
                               : own.are_points ? "write_points"
                                                : "write_runs");
    launch_expect(test->run, !is_written || holds_model(test, &own), "a write changes no memory");
    list_clear(&own);
    return is_written;
}

/* A chunk may be too large for local_bytes. */
static void read_alone(trial *test, const list *own)
{
    parapet_status status = make_call(test, own, READ_LOCAL);
    if (status == PARAPET_OK)
        keep_call(test, own, READ_LOCAL);
    if (status == PARAPET_ERR_MEMORY && test->options.local_bytes > 0)
        launch_expect(test->run, strstr(parapet_error_message(), "; set it to at least ") != NULL, "a limit");
    else
        launch_expect(test->run, status == PARAPET_OK && holds_model(test, own), "what was written, read alone");
}

static void read_list(trial *test, draw *from, bool is_local)
{
    draw mine = draw_start(draw_number(from), (uint64_t)test->run->rank);
    bool are_points, is_box = draw_chance(from, 30);
    list own;
    test->step++;
    if (is_box) {
        draw_box(test, &own, &mine);
        list_box(test, &own);
    } else {
        draw_read(test, &own, &mine);
    }
    are_points = draw_chance(from, 50);
    if (!is_box && !is_local && are_points != own.are_points) { /* all ranks make the same call */
        int64_t i;
        own.are_points = are_points;
        for (i = 0, own.elements = 0; i < own.count; i++)
            own.elements += own.lengths[i] = are_points ? 1 : own.lengths[i];
    }
    if (is_local && LAUNCH_OK(test->run, parapet_array_flush(test->array))) { /* local reads are of what is stored */
        read_alone(test, &own);
    } else if (call_together(test, &own, READ, "a read of listed elements")) {
        launch_expect(test->run, holds_model(test, &own), "what was written");
    }
    list_clear(&own);
}

/* ---- Refusals ---- */

static void expect_refused(trial *test, list *own, call which, const char *words)
{
    parapet_status status = call_within(test, own, which, words);
    launch_expect(test->run, status == PARAPET_ERR_ARGUMENT, "PARAPET_ERR_ARGUMENT");
    if (strstr(parapet_error_message(), words) == NULL) {
        (void)fprintf(stderr, "sentence: %s\n", parapet_error_message());
        launch_expect(test->run, false, words);
    }
}

/* Nothing of these is done, whatever else the ranks list. */
static void refuse_wrong_lists(trial *test)
{
    int last = test->run->ranks - 1;
    char words[100];
    list own;
    list_build(&own, 4, 4, test->of.element_bytes);
    own.are_points = true;
    if (test->run->rank == 0 || test->run->rank == last)
        list_add(test, &own, test->of.element_count - 1, 1);
    if (last == 0)
        list_add(test, &own, test->of.element_count - 1, 1);
    (void)snprintf(words, sizeof words,
                   last == 0 ? "is listed twice by rank 0" : "is listed by rank 0 and by rank %d", last);
    expect_refused(test, &own, WRITE, words);
    if (test->of.spec.ndim > 0 && test->run->rank == last)
        own.points[0] = test->of.shape[0];
    (void)snprintf(words, sizeof words, "point 0 is at %lld in dimension 0", (long long)test->of.shape[0]);
    if (test->of.spec.ndim > 0)
        expect_refused(test, &own, READ, words);
    own.are_points = false;
    own.lengths[0] = test->run->rank == last ? 2 : 1;
    expect_refused(test, &own, WRITE, "run 0 begins at element");
    list_clear(&own);
}

/* ---- Cases ---- */

static bool create_array(trial *test)
{
    return LAUNCH_OK(test->run, parapet_store_open(&test->store, MPI_COMM_WORLD, test->url, PARAPET_CREATE, NULL)) &&
           LAUNCH_OK(test->run, parapet_array_create(&test->array, test->store, "a", &test->of.spec));
}

static void fill_model(trial *test)
{
    parapet_array_info info = {0};
    int64_t i;
    launch_expect(test->run, parapet_array_get_info(test->array, &info) == PARAPET_OK, "the fill value");
    for (i = 0; i < test->of.element_count; i++)
        memcpy(test->model + (size_t)i * test->of.element_bytes, info.fill_value, test->of.element_bytes);
}

static void run_trial(trial *test)
{
    draw from = draw_start(test->of.seed, STREAM_LISTS);
    int i, k;
    if (!create_array(test))
        return;
    fill_model(test);
    close_handles(test);
    if (!open_handles(test, PARAPET_UPDATE))
        return;
    read_list(test, &from, false);
    for (i = 0; i < WRITES && test->of.element_count > 0; i++) {
        if (!write_list(test, i, &from))
            break;
        if (draw_chance(&from, 20))
            (void)LAUNCH_OK(test->run, parapet_array_seal(test->array));
        for (k = 0; k < READS; k++)
            read_list(test, &from, k == 2);
        refuse_wrong_lists(test);
    }
    read_list(test, &from, false);
    close_handles(test);
}

/* Where the case is kept; otherwise it is where things are fast, and gone at the end. */
static void open_kept(trial *test, const char *folder)
{
    char path[700];
    if (folder == NULL || !subject_is_common(&test->of)) {
        (void)snprintf(test->url, sizeof test->url, "%s/%llu", test->run->folder, (unsigned long long)test->of.seed);
        return;
    }
    (void)snprintf(path, sizeof path, "%s/%llu", folder, (unsigned long long)test->of.seed);
    (void)snprintf(test->url, sizeof test->url, "%.680s/store", path);
    if (test->run->rank == 0) {
        (void)mkdir(folder, 0777);
        tree_remove(path);
        (void)mkdir(path, 0777);
    }
    launch_barrier();
    (void)snprintf(path, sizeof path, "%s/%llu/calls-%d", folder, (unsigned long long)test->of.seed, test->run->rank);
    test->kept = fopen(path, "wb");
    launch_expect(test->run, test->kept != NULL, path);
}

static void close_kept(trial *test)
{
    if (test->kept != NULL)
        launch_expect(test->run, !ferror(test->kept) && fclose(test->kept) == 0, "calls that are kept");
}

static void run_case(launch *run, uint64_t seed, const char *folder, int64_t *refusals)
{
    static const subject_limits limits = {.elements = 40000, .objects = 300, .writes = 1};
    draw from = draw_start(seed, STREAM_SETTINGS);
    char text[1500];
    trial test = {.run = run};
    launch_case_begin(run, seed);
    subject_build(&test.of, seed, run->ranks, &limits);
    test.options = settings_draw(&from, run->ranks);
    if (test.options.memory_bytes > 0 && draw_chance(&from, 50))
        test.options.memory_bytes = ((int64_t)1 << 20) + (test.options.write_back ? test.options.cache_bytes : 0);
    test.options.local_bytes = draw_chance(&from, 50) ? (int64_t)1 << 20 : 0;
    open_kept(&test, folder);
    test.model = malloc((size_t)test.of.element_count * test.of.element_bytes + 1);
    run_trial(&test);
    close_kept(&test);
    subject_print(&test.of, text, 800);
    settings_print(&test.options, text + strlen(text), 600);
    (void)launch_case_end(run, text);
    *refusals += test.refusals;
    free(test.model);
    subject_clear(&test.of);
}

/* Lists that take several times the memory: they are worked off in passes of shards, or of parts of shards, and
 * nothing is refused. */
static void run_passes(launch *run, int64_t rows, const int64_t *shards, const char *words)
{
    const int64_t shape[2] = {rows, 1000}, chunks[2] = {10, 50};
    trial test = {.run = run,
                  .options = {.memory_bytes = 1 << 20, .local_bytes = 1 << 20, .threads = 1},
                  .of = {.ranks = run->ranks, .element_bytes = 4, .element_count = rows * 1000}};
    test.of.spec = (parapet_array_spec){
        .type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    memcpy(test.of.shape, shape, sizeof shape);
    launch_case_begin(run, 0);
    (void)snprintf(test.url, sizeof test.url, "%s/%s", run->folder, words);
    test.model = malloc((size_t)test.of.element_count * test.of.element_bytes + 1);
    run_trial(&test);
    launch_expect(run, test.refusals == 0, "no refusal where chunks are small");
    (void)launch_case_end(run, words);
    free(test.model);
}

/* With what lies beyond its edges, this array has more elements than can be numbered. */
static void refuse_endless(launch *run)
{
    const int64_t shape[2] = {INT64_C(1) << 61, 3}, chunks[2] = {1, 4}, point[2] = {5, 1};
    parapet_array_spec spec = {.type = PARAPET_UINT8, .ndim = 2, .shape = shape, .chunks = chunks, .shards = chunks};
    unsigned char value = 1;
    parapet_points points = {.ndim = 2, .count = 1, .coordinates = point, .data = &value};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    char url[600];
    launch_case_begin(run, 0);
    (void)snprintf(url, sizeof url, "%s/endless.zarr", run->folder);
    if (LAUNCH_OK(run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_CREATE, NULL)) &&
        LAUNCH_OK(run, parapet_array_create(&array, store, "a", &spec))) {
        launch_expect(run, LAUNCH_AGREED(run, parapet_array_write_points(array, &points)) == PARAPET_ERR_UNSUPPORTED,
                      "they cannot be numbered");
        (void)LAUNCH_OK(run, parapet_array_close(&array));
    }
    (void)LAUNCH_OK(run, parapet_store_close(&store));
    (void)launch_case_end(run, "more elements than numbers");
}

int main(int argc, char **argv)
{
    int64_t refusals = 0;
    long cases, i;
    uint64_t first;
    launch run;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    cases = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    run_passes(&run, 150, (const int64_t[]){20, 100}, "small_shards");
    run_passes(&run, 70, (const int64_t[]){70, 1000}, "one_shard");
    run_passes(&run, 70, (const int64_t[]){40, 500}, "four_shards");
    refuse_endless(&run);
    for (i = 0; i < cases; i++)
        run_case(&run, first + (uint64_t)i, argc > 3 ? argv[3] : NULL, &refusals);
    if (run.rank == 0)
        (void)printf("%ld cases on %d ranks, %lld refused for want of memory and repeated\n", cases, run.ranks,
                     (long long)refusals);
    return launch_finish(&run);
}
