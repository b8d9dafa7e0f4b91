/* Readers beside a writer that commits and removes without a pause: what is opened is whole, always.
 *
 *     test_snapshots READS [SEED]
 *
 * Rank 0 is the writer, rank 1 a reader of its own, all others one job that reads together. Opening the newest never
 * fails and passes over nothing. Getting from it may fail only when it has been removed: when so many later ones are
 * committed that retention does not keep it. */
#include <parapet_store.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "draw.h"
#include "launch.h"
#include "marked.h"

#define GROUP "restart"

enum { KEEP = 2 };

typedef struct reader {
    launch *run;
    parapet_store *store;
    int64_t reads, gone, torn;
    int64_t newest; /* opened so far: time does not run backwards */
} reader;

static int64_t mark_of(int64_t generation)
{
    return 3 * generation + 1;
}

static int take_first(void *context, int64_t generation, const char *path)
{
    (void)path;
    *(int64_t *)context = generation;
    return 1;
}

/* [of the readers of one job] A get has failed: was that generation's time over? */
static void expect_gone(reader *own, int64_t generation, parapet_status status)
{
    char sentence[512];
    int64_t newest = 0;
    bool is_right = status == PARAPET_ERR_MISSING || status == PARAPET_ERR_NOT_FOUND || status == PARAPET_ERR_STALE;
    (void)snprintf(sentence, sizeof sentence, "%s", parapet_error_message());
    launch_expect(own->run, parapet_checkpoint_list(own->store, GROUP, take_first, &newest) == PARAPET_OK, "a list");
    if (!is_right || newest < generation + KEEP)
        fprintf(stderr, "generation %lld, the newest is %lld: %s: %s\n", (long long)generation, (long long)newest,
                parapet_status_name(status), sentence);
    launch_expect(own->run, is_right, "nothing worse than missing");
    launch_expect(own->run, newest >= generation + KEEP, "a generation that is still kept");
    own->gone++;
}

static void expect_opened(reader *own, parapet_restore *restore, int64_t *generation)
{
    parapet_restore_info info;
    launch_expect(own->run, parapet_restore_get_info(restore, &info) == PARAPET_OK, "info");
    launch_expect(own->run, info.passed_over == 0, info.problem);
    launch_expect(own->run, info.generation >= own->newest, "none older than before");
    *generation = own->newest = info.generation;
}

static void expect_whole(reader *own, int64_t generation, int64_t mark)
{
    if (mark == mark_of(generation))
        return;
    own->torn++;
    fprintf(stderr, "generation %lld has mark %lld instead of %lld\n", (long long)generation, (long long)mark,
            (long long)mark_of(generation));
}

static void nap_below(draw *from, int64_t most_us)
{
    struct timespec pause = {.tv_nsec = (long)(1000 * draw_between(from, 0, most_us))};
    (void)nanosleep(&pause, NULL);
}

static void read_once(reader *own, draw *from)
{
    parapet_restore *restore = NULL;
    int64_t generation;
    marked state;
    parapet_status status = parapet_restore_open(&restore, own->store, GROUP, 0);
    own->reads++;
    launch_expect(own->run, status == PARAPET_OK, status != PARAPET_OK ? parapet_error_message() : "");
    if (status != PARAPET_OK)
        return;
    expect_opened(own, restore, &generation);
    if (draw_chance(from, 10))
        nap_below(from, 5000); /* long enough to be overtaken */
    marked_want(&state);
    status = parapet_restore_get(restore, state.items, MARKED_ARRAYS);
    if (status != PARAPET_OK)
        expect_gone(own, generation, status);
    else
        expect_whole(own, generation, marked_mark(&state));
    launch_expect(own->run, parapet_restore_close(&restore) == PARAPET_OK, "a generation that closes");
}

/* The readers of one job draw the same numbers. */
static void read_many(reader *own, int64_t reads, uint64_t seed)
{
    draw from = draw_start(seed, own->run->rank == 1 ? 1 : 2);
    while (own->reads < reads) {
        launch_phase(own->run, "reading");
        read_once(own, &from);
    }
}

/* Those who have more to do are watched by themselves. */
static void await(launch *run, MPI_Request *others)
{
    int are_through = 0;
    while (!are_through) {
        launch_phase(run, "waiting");
        usleep(1000);
        MPI_Test(others, &are_through, MPI_STATUS_IGNORE);
    }
}

/* Until all readers are through. */
static int64_t write_on(launch *run, parapet_store *store, uint64_t seed, MPI_Request *readers)
{
    parapet_checkpoint_options options = {.keep = KEEP};
    int64_t generation = 1, commits;
    draw from = draw_start(seed, 0);
    int are_through = 0;
    marked state;
    for (commits = 0; !are_through; commits++) {
        launch_phase(run, "writing");
        marked_fill(&state, 0, 1, mark_of(generation + 1));
        if (marked_commit(&state, store, GROUP, &options, &generation) != PARAPET_OK) {
            launch_expect(run, false, parapet_error_message());
            break;
        }
        MPI_Test(readers, &are_through, MPI_STATUS_IGNORE);
        if (draw_chance(&from, 50))
            nap_below(&from, 4000);
    }
    if (!are_through)
        await(run, readers);
    return commits;
}

/* Those that read together have to agree about everything: they do less. */
static int64_t own_share(const launch *run, int64_t reads)
{
    int64_t together = run->ranks > 2 ? reads / 4 : 0;
    return run->rank == 1 ? reads - together : together;
}

/* The first generation is there before anybody looks. */
static void commit_first(launch *run, parapet_store *store)
{
    marked state;
    marked_fill(&state, 0, 1, mark_of(1));
    if (run->rank == 0)
        launch_expect(run, marked_commit(&state, store, GROUP, NULL, NULL) == PARAPET_OK, "a first generation");
    launch_barrier();
}

static void test_snapshots(launch *run, MPI_Comm comm, int64_t reads, uint64_t seed)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    int64_t commits = 0, sums[4];
    reader own = {.run = run};
    MPI_Request through;
    char folder[600];
    (void)snprintf(folder, sizeof folder, "%s/snapshots", run->folder);
    launch_case_begin(run, seed);
    launch_expect(run, parapet_store_open(&own.store, comm, folder, PARAPET_CREATE, &options) == PARAPET_OK,
                  "a store");
    commit_first(run, own.store);
    if (run->rank > 0)
        read_many(&own, own_share(run, reads), seed);
    MPI_Ibarrier(MPI_COMM_WORLD, &through);
    if (run->rank == 0)
        commits = write_on(run, own.store, seed, &through);
    else
        await(run, &through);
    launch_expect(run, parapet_store_close(&own.store) == PARAPET_OK, "a store that closes");
    launch_expect(run, own.torn == 0, "nothing torn");
    sums[0] = run->rank <= 2 ? own.reads : 0; /* a job counts once */
    sums[1] = own.torn;
    sums[2] = run->rank <= 2 ? own.gone : 0;
    sums[3] = commits;
    launch_sum(sums, 4);
    launch_expect(run, sums[0] == reads && sums[3] > 0, "as many reads, beside commits");
    (void)launch_case_end(run, "snapshots");
    if (run->rank == 0)
        printf("%lld snapshot reads beside %lld commits, %lld torn, %lld gone while they were read, seed %llu\n",
               (long long)sums[0], (long long)sums[3], (long long)sums[1], (long long)sums[2],
               (unsigned long long)seed);
}

int main(int argc, char **argv)
{
    const char *given = getenv("PARAPET_TEST_SEED");
    int64_t reads = argc > 1 ? strtoll(argv[1], NULL, 10) : 2000;
    uint64_t seed = given != NULL ? strtoull(given, NULL, 0) : argc > 2 ? strtoull(argv[2], NULL, 0) : 20261115;
    MPI_Comm comm;
    launch run;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    if (run.ranks < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_split(MPI_COMM_WORLD, run.rank < 2 ? run.rank : 2, run.rank, &comm);
    test_snapshots(&run, comm, reads, seed);
    MPI_Comm_free(&comm);
    return launch_finish(&run);
}
