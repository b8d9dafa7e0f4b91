/* Descriptions that are kept (keep_descriptions): calls with the same parts again are not described again, wherever
 * their memory is now, and give the same values as a model; kept descriptions give way where memory is short.
 *
 *     test_descriptions */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "launch.h"

enum { ROWS = 24, COLUMNS = 30, ARRAYS = 2, SCHEMES = 5, MOST_PARTS = 12, ROUNDS = 60, MANY = 40 };

static launch run;
static draw from;
static parapet_store *store;
static parapet_array *arrays[ARRAYS];
static int32_t model[ARRAYS][ROWS][COLUMNS];
static int32_t next_value;

/* A way to divide the arrays between the ranks: equal on all of them. */
typedef struct piece {
    int64_t start[2], count[2];
    int rank;
} piece;

typedef struct scheme {
    int count;
    piece pieces[MOST_PARTS];
} scheme;

/* ---- Parts ---- */

/* The memory of this rank's parts of all arrays, and where each begins. */
typedef struct part_memory {
    int32_t *elements;
    parapet_part parts[ARRAYS][MOST_PARTS];
    int64_t strides[ARRAYS][MOST_PARTS][2];
    int counts[ARRAYS];
} part_memory;

static void cut_piece(scheme *made, int which)
{
    piece *old = &made->pieces[which];
    int d = draw_chance(&from, 50);
    int64_t first = draw_between(&from, 0, old->count[d]);
    if (made->count == MOST_PARTS)
        return;
    made->pieces[made->count] = *old;
    made->pieces[made->count].start[d] += first;
    made->pieces[made->count].count[d] -= first;
    made->pieces[made->count].rank = (int)draw_between(&from, 0, run.ranks - 1);
    made->count++;
    old->count[d] = first;
}

/* Pieces may be empty, and ranks may have none. */
static void draw_scheme(scheme *made)
{
    int cuts = (int)draw_between(&from, 0, MOST_PARTS);
    made->count = 1;
    made->pieces[0] = (piece){{draw_between(&from, 0, 5), draw_between(&from, 0, 5)},
                              {draw_between(&from, 1, ROWS - 5), draw_between(&from, 1, COLUMNS - 5)},
                              (int)draw_between(&from, 0, run.ranks - 1)};
    while (cuts-- > 0)
        cut_piece(made, (int)draw_between(&from, 0, made->count - 1));
}

static int64_t element_count(const piece *of)
{
    return of->count[0] * of->count[1];
}

static int64_t add_part(part_memory *made, int array, const piece *of, int64_t used)
{
    int number = made->counts[array]++;
    bool is_transposed = draw_chance(&from, 30);
    int64_t *strides = made->strides[array][number];
    strides[0] = (is_transposed ? 1 : of->count[1]) * (int64_t)sizeof(int32_t);
    strides[1] = (is_transposed ? of->count[0] : 1) * (int64_t)sizeof(int32_t);
    made->parts[array][number] = (parapet_part){
        .ndim = 2, .start = of->start, .count = of->count, .data = made->elements + used, .strides_bytes = strides};
    return used + element_count(of);
}

/* `shift` moves everything in memory; the random order of dimensions is drawn alike on all ranks. */
static void build_memory(part_memory *made, const scheme *by, int64_t shift)
{
    int64_t used = shift;
    int array, i;
    memset(made, 0, sizeof *made);
    made->elements = malloc(sizeof(int32_t) * (size_t)(ARRAYS * ROWS * COLUMNS + shift));
    for (array = 0; array < ARRAYS; array++)
        for (i = 0; i < by->count; i++) {
            if (by->pieces[i].rank == run.rank)
                used = add_part(made, array, &by->pieces[i], used);
            else
                (void)draw_chance(&from, 30);
        }
}

static void clear_memory(part_memory *of)
{
    free(of->elements);
    of->elements = NULL;
}

static int32_t *element(const part_memory *of, int array, int part, int64_t row, int64_t column)
{
    const int64_t *strides = of->strides[array][part];
    return (int32_t *)(void *)((char *)of->parts[array][part].data + row * strides[0] + column * strides[1]);
}

typedef bool (*visit)(int array, const piece *of, int64_t row, int64_t column, int32_t *own);

/* Every element of every piece, on every rank; own is NULL where another rank holds it. */
static bool visit_all(const part_memory *memory, const scheme *by, visit each)
{
    int array, i, part = 0;
    int64_t row, column;
    bool is_right = true;
    for (array = 0; array < ARRAYS; array++, part = 0)
        for (i = 0; i < by->count; i++) {
            const piece *of = &by->pieces[i];
            bool is_own = of->rank == run.rank;
            for (row = 0; row < of->count[0]; row++)
                for (column = 0; column < of->count[1]; column++)
                    is_right &=
                        each(array, of, row, column, is_own ? element(memory, array, part, row, column) : NULL);
            part += is_own;
        }
    return is_right;
}

static bool put(int array, const piece *of, int64_t row, int64_t column, int32_t *own)
{
    int32_t value = next_value++;
    model[array][of->start[0] + row][of->start[1] + column] = value;
    if (own != NULL)
        *own = value;
    return true;
}

static bool spoil(int array, const piece *of, int64_t row, int64_t column, int32_t *own)
{
    (void)array, (void)of, (void)row, (void)column;
    if (own != NULL)
        *own = -1;
    return true;
}

static bool holds(int array, const piece *of, int64_t row, int64_t column, int32_t *own)
{
    return own == NULL || *own == model[array][of->start[0] + row][of->start[1] + column];
}

/* ---- Calls ---- */

typedef struct figures {
    int64_t messages, reused; /* of all ranks */
} figures;

static figures figures_now(void)
{
    parapet_statistics statistics = {0};
    int64_t sums[2];
    (void)parapet_store_get_statistics(store, &statistics);
    sums[0] = statistics.description_messages;
    sums[1] = statistics.descriptions_reused;
    launch_sum(sums, 2);
    return (figures){sums[0], sums[1]};
}

static figures figures_since(const figures *before)
{
    figures now = figures_now();
    return (figures){now.messages - before->messages, now.reused - before->reused};
}

static void list_arrays(parapet_array_parts *list, const part_memory *memory)
{
    int i;
    for (i = 0; i < ARRAYS; i++)
        list[i] =
            (parapet_array_parts){.array = arrays[i], .parts = memory->parts[i], .part_count = memory->counts[i]};
}

static void write_parts(const part_memory *memory, const scheme *by)
{
    parapet_array_parts list[ARRAYS];
    list_arrays(list, memory);
    (void)visit_all(memory, by, put);
    (void)LAUNCH_OK(&run, parapet_arrays_write(list, ARRAYS));
    (void)visit_all(memory, by, spoil); /* whoever reads it after the call gets it wrong */
}

static void read_parts(const part_memory *memory, const scheme *by)
{
    parapet_array_parts list[ARRAYS];
    list_arrays(list, memory);
    (void)visit_all(memory, by, spoil);
    (void)LAUNCH_OK(&run, parapet_arrays_read(list, ARRAYS));
    launch_expect(&run, visit_all(memory, by, holds), "the values of the model");
}

static void open_arrays(bool is_new)
{
    static const int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {3, 5}, shards[2] = {6, 10};
    static const char *const paths[ARRAYS] = {"a", "b"};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards};
    parapet_array_spec specs[ARRAYS] = {spec, spec};
    if (is_new)
        (void)LAUNCH_OK(&run, parapet_arrays_create(arrays, store, paths, specs, ARRAYS));
    else
        (void)LAUNCH_OK(&run, parapet_arrays_open(arrays, store, paths, ARRAYS));
}

static bool open_store(const char *name, const parapet_store_options *options)
{
    char path[600];
    (void)snprintf(path, sizeof path, "%s/%s", run.folder, name);
    memset(model, 0, sizeof model);
    return LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_CREATE, options));
}

static void close_store(void)
{
    (void)LAUNCH_OK(&run, parapet_arrays_close(arrays, ARRAYS));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
}

/* ---- What is told, and what is not ---- */

static scheme bands(void)
{
    scheme made = {.count = run.ranks};
    int i;
    for (i = 0; i < run.ranks; i++)
        made.pieces[i] = (piece){{(int64_t)ROWS * i / run.ranks, 0},
                                 {(int64_t)ROWS * (i + 1) / run.ranks - (int64_t)ROWS * i / run.ranks, COLUMNS},
                                 i};
    return made;
}

static void expect_figures(const figures *before, bool is_reused, bool is_told, const char *what)
{
    figures since = figures_since(before);
    bool is_alone = run.ranks == 1;
    launch_expect(&run, since.reused == (is_reused && !is_alone ? run.ranks : 0), what);
    launch_expect(&run, (since.messages > 0) == (is_told && !is_alone), what);
}

static void tell_once(parapet_transport transport)
{
    bool is_direct = transport == PARAPET_TRANSPORT_DIRECT;
    scheme by = bands(), other = bands();
    part_memory first, second;
    figures before = figures_now();
    other.pieces[run.ranks - 1].count[1]--;
    build_memory(&first, &by, 0);
    write_parts(&first, &by);
    expect_figures(&before, false, true, "the first call is described");
    before = figures_now();
    write_parts(&first, &by);
    read_parts(&first, &by);
    figures since = figures_since(&before);
    launch_expect(&run, since.messages == 0 && (run.ranks == 1 || since.reused == (int64_t)2 * run.ranks),
                  "the same parts are not described again, in either direction");
    build_memory(&second, &by, 7);
    before = figures_now();
    write_parts(&second, &by);
    expect_figures(&before, true, is_direct, "only direct copies need the new addresses");
    clear_memory(&first);
    before = figures_now();
    read_parts(&second, &by);
    expect_figures(&before, true, false, "the other buffer, again");
    clear_memory(&second);
    build_memory(&first, &other, 0);
    before = figures_now();
    write_parts(&first, &other);
    expect_figures(&before, false, true, "one other part on one rank");
    clear_memory(&first);
}

/* What is remembered depends on the shapes, not on the handles. */
static void change_shape(void)
{
    static const int64_t larger[2] = {ROWS + 6, COLUMNS}, as_before[2] = {ROWS, COLUMNS};
    scheme by = bands();
    part_memory memory;
    figures before;
    build_memory(&memory, &by, 0);
    write_parts(&memory, &by);
    (void)LAUNCH_OK(&run, parapet_array_resize(arrays[1], larger));
    before = figures_now();
    write_parts(&memory, &by);
    expect_figures(&before, false, true, "another shape");
    (void)LAUNCH_OK(&run, parapet_array_resize(arrays[1], as_before));
    read_parts(&memory, &by);
    (void)LAUNCH_OK(&run, parapet_arrays_close(arrays, ARRAYS));
    open_arrays(false);
    before = figures_now();
    write_parts(&memory, &by);
    expect_figures(&before, true, false, "opened again");
    clear_memory(&memory);
}

/* ---- Checkpoints ---- */

static void put_generation(const part_memory *memory)
{
    static const int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {3, 5}, shards[2] = {6, 10};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards};
    parapet_checkpoint_item items[ARRAYS] = {
        {.name = "a", .spec = &spec, .parts = memory->parts[0], .part_count = memory->counts[0]},
        {.name = "b", .spec = &spec, .parts = memory->parts[1], .part_count = memory->counts[1]}};
    parapet_checkpoint *checkpoint = NULL;
    (void)LAUNCH_OK(&run, parapet_checkpoint_begin(&checkpoint, store, "restart", NULL));
    (void)LAUNCH_OK(&run, parapet_checkpoint_put(checkpoint, items, ARRAYS));
    (void)LAUNCH_OK(&run, parapet_checkpoint_commit(&checkpoint, NULL));
}

/* The arrays of a generation are others than those of the last one, with the same homes. */
static void write_checkpoints(void)
{
    scheme by = bands();
    part_memory memory;
    figures before;
    build_memory(&memory, &by, 0);
    (void)visit_all(&memory, &by, put);
    put_generation(&memory);
    before = figures_now();
    put_generation(&memory);
    expect_figures(&before, true, false, "the next generation is not described again");
    (void)visit_all(&memory, &by, spoil);
    write_parts(&memory, &by); /* the model has what the generations have */
    clear_memory(&memory);
}

/* ---- At random ---- */

/* Two buffers for each scheme; a call uses one of them, or a new one. */
typedef struct stock {
    scheme by;
    part_memory memory[2];
} stock;

static void use_stock(stock *of)
{
    int which = (int)draw_between(&from, 0, 1);
    if (draw_chance(&from, 30)) {
        /* Some ranks only. */
        int64_t shift = draw_between(&from, 0, 50) * (draw_between(&from, 0, run.ranks - 1) <= run.rank);
        clear_memory(&of->memory[which]);
        build_memory(&of->memory[which], &of->by, shift);
    }
    if (draw_chance(&from, 60))
        write_parts(&of->memory[which], &of->by);
    else
        read_parts(&of->memory[which], &of->by);
}

static void resize_one(void)
{
    static const int64_t larger[2] = {ROWS + 6, COLUMNS + 10}, as_before[2] = {ROWS, COLUMNS};
    parapet_array *one = arrays[draw_between(&from, 0, ARRAYS - 1)];
    (void)LAUNCH_OK(&run, parapet_array_resize(one, draw_chance(&from, 50) ? larger : as_before));
}

static void run_rounds(void)
{
    static stock stocks[SCHEMES];
    int i, k;
    for (i = 0; i < SCHEMES; i++) {
        draw_scheme(&stocks[i].by);
        for (k = 0; k < 2; k++)
            build_memory(&stocks[i].memory[k], &stocks[i].by, 0);
    }
    for (i = 0; i < ROUNDS; i++) {
        if (draw_chance(&from, 5))
            resize_one();
        if (draw_chance(&from, 5)) {
            (void)LAUNCH_OK(&run, parapet_arrays_close(arrays, ARRAYS));
            open_arrays(false);
        }
        use_stock(&stocks[draw_between(&from, 0, SCHEMES - 1)]);
    }
    for (i = 0; i < SCHEMES; i++)
        for (k = 0; k < 2; k++) {
            read_parts(&stocks[i].memory[k], &stocks[i].by);
            clear_memory(&stocks[i].memory[k]);
        }
}

/* More than are kept, so that old ones are forgotten, on all ranks alike. */
static void use_many(void)
{
    static scheme by[MANY];
    part_memory memory;
    int i, round;
    for (i = 0; i < MANY; i++)
        draw_scheme(&by[i]);
    for (round = 0; round < 2; round++)
        for (i = 0; i < MANY; i++) {
            build_memory(&memory, &by[i], 0);
            write_parts(&memory, &by[i]);
            read_parts(&memory, &by[i]);
            clear_memory(&memory);
        }
}

static void run_case(uint64_t seed, parapet_transport transport, int64_t deadline_seconds)
{
    parapet_store_options options = {.keep_descriptions = 1,
                                     .transport = transport,
                                     .deadline_seconds = deadline_seconds,
                                     .durability = PARAPET_DURABILITY_LEAVE,
                                     .memory_bytes = 4 << 20};
    char name[32];
    from = draw_start(seed, 1);
    launch_case_begin(&run, seed);
    (void)snprintf(name, sizeof name, "s%llu", (unsigned long long)seed);
    if (open_store(name, &options)) {
        open_arrays(true);
        if (deadline_seconds == 0) {
            tell_once(transport);
            change_shape();
            write_checkpoints();
        }
        run_rounds();
        use_many();
        close_store();
    }
    (void)launch_case_end(&run, transport == PARAPET_TRANSPORT_DIRECT ? "direct" : "messages");
}

/* ---- Little memory ---- */

enum { CELLS = 2048, SHARD_CELLS = 64 };

/* Every second element is a part: a description takes a large part of the memory. */
static void write_cells(parapet_array *array, int64_t first, int32_t *values)
{
    static parapet_part parts[CELLS];
    static int64_t starts[CELLS], one = 1;
    int i;
    for (i = 0; i < CELLS; i++) {
        starts[i] = (int64_t)run.rank * 2 * CELLS + 2 * i + first;
        values[i] = (int32_t)starts[i];
        parts[i] = (parapet_part){.ndim = 1, .start = &starts[i], .count = &one, .data = &values[i]};
    }
    (void)LAUNCH_OK(&run, parapet_array_write(array, parts, CELLS - (int)first));
}

/* Descriptions of different parts, together more than there is, and then parts that need all of the memory. */
static void give_way(void)
{
    parapet_store_options options = {
        .keep_descriptions = 1, .durability = PARAPET_DURABILITY_LEAVE, .memory_bytes = 3 << 20};
    int64_t shape = (int64_t)run.ranks * 2 * CELLS, chunks = SHARD_CELLS, start = run.rank * 2 * CELLS,
            count = 2 * CELLS;
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 1, .shape = &shape, .chunks = &chunks, .shards = &chunks};
    static int32_t values[2 * CELLS];
    parapet_part all = {.ndim = 1, .start = &start, .count = &count, .data = values};
    parapet_statistics statistics = {0};
    int i;
    launch_case_begin(&run, 1);
    if (open_store("little", &options) && LAUNCH_OK(&run, parapet_array_create(&arrays[0], store, "a", &spec))) {
        for (i = 0; i < 8; i++)
            write_cells(arrays[0], i % 2, values);
        (void)LAUNCH_OK(&run, parapet_array_read(arrays[0], &all, 1));
        for (i = 0; i < 2 * CELLS - 1; i++)
            launch_expect(&run, values[i] == (int32_t)start + i, "what was written");
        (void)parapet_store_get_statistics(store, &statistics);
        launch_expect(&run, statistics.memory_peak_bytes <= options.memory_bytes, "memory within the limit");
        launch_expect(&run, statistics.memory_peak_bytes <= statistics.memory_planned_bytes,
                      "memory within the plan");
        (void)LAUNCH_OK(&run, parapet_array_close(&arrays[0]));
        (void)LAUNCH_OK(&run, parapet_store_close(&store));
    }
    (void)launch_case_end(&run, "little memory");
}

int main(int argc, char **argv)
{
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    run_case(11, PARAPET_TRANSPORT_DIRECT, 0);
    run_case(12, PARAPET_TRANSPORT_MESSAGES, 0);
    run_case(13, PARAPET_TRANSPORT_DIRECT, 300);
    give_way();
    return launch_finish(&run);
}
