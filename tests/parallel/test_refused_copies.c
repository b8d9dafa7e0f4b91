/* The system refuses a copy between processes in the middle of a transfer, once or from then on: the call succeeds by
 * messages all the same, and values and stored bytes are those of a transfer in which nothing was refused.
 *
 * Slabs of rows are written, columns with a frame around them are read; neither meets the borders of chunks. */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "comm/direct.h"
#include "launch.h"
#include "tree.h"

enum { PLANES = 5, ROWS = 22, COLUMNS = 45, FRAME = 2, NDIM = 3, REFUSALS = 31, UNREACHED = 1000 };

typedef struct setting {
    parapet_owners owners;
    int64_t threads;
    parapet_io_thread io_thread;
} setting;

typedef struct refusal {
    int rank;
    long n;
    bool is_forever;
} refusal;

/* What one transfer moved, on this rank. */
typedef struct moved {
    int64_t direct, messages; /* bytes */
    int64_t copies;           /* that the system was asked for; only known if none was refused */
} moved;

typedef struct scene {
    parapet_store *store;
    parapet_array *array;
    char path[600];
    tree stored[2];      /* by generation; only on rank 0 */
    moved written, read; /* when nothing is refused */
    double *slab, *columns;
} scene;

static launch run;
static const int64_t shape[NDIM] = {PLANES, ROWS, COLUMNS};

static double value_at(int64_t i, int64_t j, int64_t k, int generation)
{
    return (double)(((i * ROWS + j) * COLUMNS + k) * 2 + generation + 1);
}

/* Uneven: the first ranks have less. */
static int64_t border(int64_t extent, int number)
{
    return extent * number * (number + run.ranks) / (2 * (int64_t)run.ranks * run.ranks);
}

static moved moved_so_far(parapet_store *store)
{
    parapet_statistics statistics;
    launch_expect(&run, parapet_store_get_statistics(store, &statistics) == PARAPET_OK, "statistics");
    return (moved){.direct = statistics.direct_bytes, .messages = statistics.message_bytes};
}

static void refuse(const refusal *what)
{
    pp_direct_fail_at(run.rank == what->rank ? what->n : -1, what->is_forever);
}

/* Copies since one was announced to fail: the rest until then is made here. */
static int64_t count_copies(long n)
{
    unsigned char from = 1, to = 0;
    pp_direct_copy copy = {.process = getpid(), .element_bytes = 1, .local = &to, .remote = (uintptr_t)&from};
    long left = 0;
    while (left < n && pp_direct_read(&copy))
        left++;
    return n - left;
}

/* What was moved since then; nothing is refused any more. */
static moved moved_since(parapet_store *store, moved before, const refusal *what)
{
    moved now = moved_so_far(store);
    now.direct -= before.direct;
    now.messages -= before.messages;
    now.copies = what->n == UNREACHED ? count_copies(UNREACHED) : 0;
    pp_direct_fail_at(-1, false);
    return now;
}

static moved write_slab(scene *of, int generation, const refusal *what)
{
    int64_t first = border(ROWS, run.rank), rows = border(ROWS, run.rank + 1) - first, i, j, k;
    int64_t start[NDIM] = {0, first, 0}, count[NDIM] = {PLANES, rows, COLUMNS};
    parapet_part part = {.ndim = NDIM, .start = start, .count = count, .data = of->slab};
    moved before = moved_so_far(of->store);
    for (i = 0; i < PLANES; i++)
        for (j = 0; j < rows; j++)
            for (k = 0; k < COLUMNS; k++)
                of->slab[(i * rows + j) * COLUMNS + k] = value_at(i, first + j, k, generation);
    refuse(what);
    (void)LAUNCH_OK(&run, parapet_array_write(of->array, &part, 1));
    return moved_since(of->store, before, what);
}

/* The values of the box, and nothing in the frame. */
static bool is_right(const double *framed, int64_t first, int64_t columns, int generation)
{
    int64_t width = columns + 2 * FRAME, i, j, k;
    for (i = 0; i < PLANES; i++)
        for (j = 0; j < ROWS; j++)
            for (k = -FRAME; k < columns + FRAME; k++) {
                bool is_inside = k >= 0 && k < columns;
                double expected = is_inside ? value_at(i, j, first + k, generation) : -1;
                if (framed[(i * ROWS + j) * width + FRAME + k] != expected)
                    return false;
            }
    return true;
}

static moved read_columns(scene *of, int generation, const refusal *what)
{
    int64_t first = border(COLUMNS, run.rank), columns = border(COLUMNS, run.rank + 1) - first, i;
    int64_t width = columns + 2 * FRAME, bytes = (int64_t)sizeof(double);
    int64_t start[NDIM] = {0, 0, first}, count[NDIM] = {PLANES, ROWS, columns};
    int64_t strides[NDIM] = {ROWS * width * bytes, width * bytes, bytes};
    parapet_part part = {
        .ndim = NDIM, .start = start, .count = count, .data = of->columns + FRAME, .strides_bytes = strides};
    moved before = moved_so_far(of->store);
    for (i = 0; i < PLANES * ROWS * width; i++)
        of->columns[i] = -1;
    refuse(what);
    (void)LAUNCH_OK(&run, parapet_array_read(of->array, &part, 1));
    launch_expect(&run, is_right(of->columns, first, columns, generation), "what was written");
    return moved_since(of->store, before, what);
}

static void expect_stored(scene *of, int generation)
{
    tree now;
    if (run.rank != 0)
        return;
    tree_take(&now, of->path);
    launch_expect(&run, tree_equals(&now, &of->stored[generation]), "the bytes that are stored without a refusal");
    tree_clear(&now);
}

/* Of all ranks: a client sends what its server may not fetch. */
static int64_t sum_of(int64_t number)
{
    launch_sum(&number, 1);
    return number;
}

static void expect_moved(const refusal *what, moved usual, moved now)
{
    int64_t usual_messages = sum_of(usual.messages), now_messages = sum_of(now.messages);
    launch_expect(&run, run.rank == what->rank || now.direct == usual.direct, "as many direct bytes as ever");
    if (!what->is_forever)
        return;
    launch_expect(&run, run.rank != what->rank || what->n > 0 || usual.direct == 0 || now.direct == 0,
                  "no direct bytes when all copies are refused");
    if (launch_largest(run.rank == what->rank && what->n < usual.copies && usual.direct > 0) == 0)
        return;
    launch_expect(&run, now_messages > usual_messages, "messages instead of copies");
    launch_expect(&run, run.rank != what->rank || now.direct < usual.direct, "less direct bytes");
}

static void test_refusal(scene *of, const setting *by, const refusal *what)
{
    static int generation;
    char description[120];
    moved written, read;
    generation = 1 - generation;
    launch_case_begin(&run, (uint64_t)what->n);
    written = write_slab(of, generation, what);
    expect_stored(of, generation);
    read = read_columns(of, generation, what);
    expect_moved(what, of->written, written);
    expect_moved(what, of->read, read);
    (void)snprintf(description, sizeof description, "rank %d, copy %ld%s; owners %lld, threads %lld, io_thread %lld",
                   what->rank, what->n, what->is_forever ? " and all after it" : "", (long long)by->owners,
                   (long long)by->threads, (long long)by->io_thread);
    (void)launch_case_end(&run, description);
}

static void open_scene(scene *of, const setting *by)
{
    static const int64_t chunks[NDIM] = {3, 4, 5}, shards[NDIM] = {3, 12, 20};
    static int number;
    parapet_store_options options = {.transport = PARAPET_TRANSPORT_DIRECT,
                                     .owners = by->owners,
                                     .threads = by->threads,
                                     .io_thread = by->io_thread,
                                     .servers = run.ranks,
                                     .durability = PARAPET_DURABILITY_LEAVE};
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = NDIM, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    size_t values = (size_t)PLANES * ROWS * (COLUMNS + 2 * FRAME);
    *of = (scene){.slab = malloc(values * sizeof(double)), .columns = malloc(values * sizeof(double))};
    (void)snprintf(of->path, sizeof of->path, "%s/refused-%d", run.folder, number++);
    if (LAUNCH_OK(&run, parapet_store_open(&of->store, MPI_COMM_WORLD, of->path, PARAPET_CREATE, &options)))
        (void)LAUNCH_OK(&run, parapet_array_create(&of->array, of->store, "a", &spec));
}

static void close_scene(scene *of)
{
    (void)LAUNCH_OK(&run, parapet_array_close(&of->array));
    (void)LAUNCH_OK(&run, parapet_store_close(&of->store));
    tree_clear(&of->stored[0]);
    tree_clear(&of->stored[1]);
    free(of->slab);
    free(of->columns);
}

/* Both generations as they should be, and what is moved for them. */
static void take_usual(scene *of, const setting *by)
{
    refusal none = {.rank = run.rank, .n = UNREACHED, .is_forever = true};
    int generation;
    launch_case_begin(&run, 0);
    for (generation = 0; generation < 2; generation++) {
        of->written = write_slab(of, generation, &none);
        if (run.rank == 0)
            tree_take(&of->stored[generation], of->path);
        of->read = read_columns(of, generation, &none);
    }
    if (run.rank == 0)
        launch_expect(&run, tree_digest(&of->stored[0]) != tree_digest(&of->stored[1]), "generations that differ");
    if (by->threads > 1) /* which worker takes what, and with it the number of copies, is not always the same */
        of->written.copies = of->read.copies = 1;
    (void)launch_case_end(&run, "nothing is refused");
}

/* Every n comes up on every rank, both once and for ever; the settings share them out. */
static void test_setting(const setting *by, int turn, int turns)
{
    scene of;
    refusal what;
    int64_t direct;
    int half = turns / 2;
    launch_case_begin(&run, 0);
    open_scene(&of, by);
    if (!launch_case_end(&run, "opening"))
        return;
    take_usual(&of, by);
    direct = sum_of(of.written.direct);
    if (run.rank == 0 && turn == 0)
        printf("%lld bytes written by copies, %lld copies on rank 0\n", (long long)direct,
               (long long)of.written.copies);
    for (what.rank = 0; what.rank < run.ranks; what.rank++)
        for (what.n = 0; what.n < REFUSALS; what.n++) {
            what.is_forever = (what.n + turn / half) % 2 == 0;
            if ((what.n + what.rank) % half == turn % half || what.n == 0)
                test_refusal(&of, by, &what);
        }
    close_scene(&of);
}

int main(int argc, char **argv)
{
    static const setting settings[] = {{2, 1, 1}, {1, 1, 2}, {2, 3, 1}, {1, 3, 1},
                                       {1, 1, 1}, {2, 1, 2}, {1, 3, 2}, {2, 3, 2}};
    int turns = (int)(sizeof settings / sizeof settings[0]), turn;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    for (turn = 0; turn < turns; turn++)
        test_setting(&settings[turn], turn, turns);
    return launch_finish(&run);
}
