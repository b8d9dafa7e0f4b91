/* A checkpoint beside a computation: sweeps of a 7-point stencil over a cube that each rank has for itself, as many
 * as take about as long as a checkpoint. Every round times, in an order that is rotated: the checkpoint alone, the
 * computation alone, and both at once with the memory borrowed and copied. The checkpoints follow each other in one
 * store, so that each removes one that is not kept any more; two come before all clocks.
 *
 *   words: rounds=3
 *
 * Prints a line for each round: seconds of the checkpoint, the computation, both with the memory borrowed, start
 * alone of it, both with a copy, start alone of that. */
#include "checkpoint.h"

#include <stdio.h>
#include <stdlib.h>

#define CUBE 128
#define MOST_ROUNDS 16
#define ROOM_BYTES (INT64_C(256) << 20) /* for the buffers of a transfer, beside the copy */

typedef enum measure { ALONE, COMPUTING, BORROWED, BORROWED_START, COPIED, COPIED_START, MEASURE_COUNT } measure;

static struct {
    parapet_store *store;
    bench_items items;
    double *cube, *next;
    int sweeps, rounds;
    double start_seconds;
    double seconds[MOST_ROUNDS][MEASURE_COUNT];
} beside;

static void sweep(const double *from, double *to)
{
    const int row = CUBE, plane = CUBE * CUBE;
    for (int i = 1; i < CUBE - 1; i++)
        for (int j = 1; j < CUBE - 1; j++)
            for (int k = 1, at = i * plane + j * row + 1; k < CUBE - 1; k++, at++)
                to[at] = 0.4 * from[at] + 0.1 * (from[at - 1] + from[at + 1] + from[at - row] + from[at + row] +
                                                 from[at - plane] + from[at + plane]);
}

static void compute(const bench_case *c)
{
    (void)c;
    for (int i = 0; i < beside.sweeps; i++) {
        double *done = beside.next;
        sweep(beside.cube, done);
        beside.next = beside.cube;
        beside.cube = done;
    }
}

static void checkpoint_alone(const bench_case *c)
{
    (void)c;
    bench_checkpoint_put(beside.store, &beside.items);
}

static void both(const bench_case *c, parapet_buffering buffering)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_request *request = NULL;
    double started = bench_now();
    bench_must(parapet_checkpoint_begin(&checkpoint, beside.store, BENCH_CHECKPOINT_PATH, NULL), "beginning");
    bench_must(
        parapet_checkpoint_start(&request, &checkpoint, beside.items.items, BENCH_ARRAY_COUNT, buffering, NULL),
        "starting");
    beside.start_seconds = bench_now() - started;
    compute(c);
    bench_must(parapet_request_wait(&request), "waiting");
}

static void both_borrowed(const bench_case *c)
{
    both(c, PARAPET_BUFFERING_BORROW);
}

static void both_copied(const bench_case *c)
{
    both(c, PARAPET_BUFFERING_COPY);
}

static double start_seconds(void)
{
    double slowest = 0;
    MPI_Allreduce(&beside.start_seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static void one_round(const bench_case *c, int number)
{
    static const struct {
        void (*work)(const bench_case *c);
        int measure, start; /* start: -1 where nothing starts */
    } works[] = {{checkpoint_alone, ALONE, -1},
                 {compute, COMPUTING, -1},
                 {both_borrowed, BORROWED, BORROWED_START},
                 {both_copied, COPIED, COPIED_START}};
    const int work_count = sizeof works / sizeof works[0];
    for (int i = 0; i < work_count; i++) {
        int turn = (i + number) % work_count;
        beside.seconds[number][works[turn].measure] = bench_time_of(works[turn].work, c);
        if (works[turn].start >= 0)
            beside.seconds[number][works[turn].start] = start_seconds();
    }
}

static double *new_cube(void)
{
    double *cube = malloc(sizeof(double) * CUBE * CUBE * CUBE);
    if (cube == NULL)
        bench_die("the cube of a rank", "no memory");
    for (int i = 0; i < CUBE * CUBE * CUBE; i++)
        cube[i] = i % 7;
    return cube;
}

static void prepare(const bench_case *c)
{
    const parapet_store_options options = {.memory_bytes = (int64_t)c->bytes + ROOM_BYTES};
    double checkpoint_seconds, sweep_seconds;
    beside.rounds = atoi(bench_option(c, "rounds", "3"));
    if (beside.rounds < 1 || beside.rounds > MOST_ROUNDS)
        bench_die(bench_option(c, "rounds", "3"), "rounds may be 1 to 16");
    bench_items_init(&beside.items, c);
    beside.store = bench_store_open(c, PARAPET_CREATE, &options);
    beside.cube = new_cube();
    beside.next = new_cube();
    beside.sweeps = 4;
    (void)bench_time_of(checkpoint_alone, c);
    (void)bench_time_of(compute, c);
    checkpoint_seconds = bench_time_of(checkpoint_alone, c);
    sweep_seconds = bench_time_of(compute, c) / beside.sweeps;
    beside.sweeps = (int)(checkpoint_seconds / sweep_seconds) + 1;
}

void bench_beside_write(const bench_case *c)
{
    prepare(c);
    for (int number = 0; number < beside.rounds; number++)
        one_round(c, number);
    bench_must(parapet_store_close(&beside.store), "closing the store");
}

void bench_beside_finish(const bench_case *c)
{
    for (int number = 0; c->rank == 0 && number < beside.rounds; number++)
        for (int i = 0; i < MEASURE_COUNT; i++)
            printf("%.6f%c", beside.seconds[number][i], i + 1 < MEASURE_COUNT ? ' ' : '\n');
    free(beside.cube);
    free(beside.next);
}
