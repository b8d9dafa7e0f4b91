/* Checkpoints beside the computation: memory that was copied may be changed at once, memory that was borrowed is read
 * until the end, and wait tells all ranks the same.
 *
 *     test_checkpoint_start single|funneled|multiple
 *
 * With MPI_THREAD_MULTIPLE a thread does it, with less start itself: nobody can tell by what comes of it. */
#include <limits.h>
#include <parapet_store.h>
#include <unistd.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "launch.h"
#include "marked.h"
#include "tree.h"

#define GROUP "restart"

enum { TURNS = 8 };

typedef struct bed {
    launch *run;
    parapet_store *store, *beside; /* of the same directory */
    char folder[600];
} bed;

static void bed_open(bed *made, launch *run, const char *name)
{
    static uint64_t number;
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    *made = (bed){.run = run};
    launch_case_begin(run, ++number);
    (void)snprintf(made->folder, sizeof made->folder, "%s/%s", run->folder, name);
    (void)LAUNCH_OK(run, parapet_store_open(&made->store, MPI_COMM_WORLD, made->folder, PARAPET_CREATE, &options));
    (void)LAUNCH_OK(run, parapet_store_open(&made->beside, MPI_COMM_WORLD, made->folder, PARAPET_UPDATE, &options));
}

static void bed_close(bed *used, const char *description)
{
    (void)LAUNCH_OK(used->run, parapet_store_close(&used->beside));
    (void)LAUNCH_OK(used->run, parapet_store_close(&used->store));
    (void)launch_case_end(used->run, description);
}

static void expect_restores(bed *all, int64_t generation, int64_t expected)
{
    int64_t mark;
    if (LAUNCH_OK(all->run, marked_restore(all->beside, GROUP, generation, &mark)))
        launch_expect(all->run, mark == expected, "the values that were put");
}

/* Polls as a program would that has something else to do. */
static void compute_until_done(launch *run, parapet_request *request)
{
    struct timespec pause = {.tv_nsec = 200000};
    int is_done = 0;
    while (parapet_request_test(request, &is_done) == PARAPET_OK && !is_done)
        (void)nanosleep(&pause, NULL);
    launch_expect(run, is_done, "a checkpoint that is done");
}

static void check_buffering(launch *run, parapet_buffering buffering)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_request *request = NULL;
    int64_t generation;
    marked state;
    bed all;
    int turn;
    bed_open(&all, run, buffering == PARAPET_BUFFERING_BORROW ? "borrowed" : "copied");
    for (turn = 1; turn <= TURNS; turn++) {
        marked_fill(&state, run->rank, run->ranks, 100 + turn);
        (void)LAUNCH_OK(run, parapet_checkpoint_begin(&checkpoint, all.store, GROUP, NULL));
        (void)LAUNCH_OK(run, parapet_checkpoint_attribute_set(checkpoint, "step", "1"));
        generation = 0;
        (void)LAUNCH_OK(
            run, parapet_checkpoint_start(&request, &checkpoint, state.items, MARKED_ARRAYS, buffering, &generation));
        if (buffering == PARAPET_BUFFERING_COPY)
            memset(&state, 0xff, sizeof state); /* the lists of parts too */
        if (turn > 1)
            expect_restores(&all, turn - 1, 100 + turn - 1); /* another store goes on meanwhile */
        if (turn % 2 == 0)
            compute_until_done(run, request);
        (void)LAUNCH_OK(run, parapet_request_wait(&request));
        launch_expect(run, checkpoint == NULL && generation == turn, "the number of the generation");
        expect_restores(&all, 0, 100 + turn);
    }
    bed_close(&all, buffering == PARAPET_BUFFERING_BORROW ? "memory that is borrowed" : "memory that is copied");
}

/* The next generation begins before the program has waited for the one that it started. */
static void check_next_begins(launch *run)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_request *requests[2] = {NULL};
    marked states[2];
    bed all;
    int i;
    bed_open(&all, run, "next");
    for (i = 0; i < 2; i++) {
        marked_fill(&states[i], run->rank, run->ranks, 1 + i);
        (void)LAUNCH_OK(run, parapet_checkpoint_begin(&checkpoint, all.store, GROUP, NULL));
        (void)LAUNCH_OK(run, parapet_checkpoint_start(&requests[i], &checkpoint, states[i].items, MARKED_ARRAYS,
                                                      PARAPET_BUFFERING_BORROW, NULL));
    }
    for (i = 0; i < 2; i++)
        (void)LAUNCH_OK(run, parapet_request_wait(&requests[i]));
    expect_restores(&all, 1, 1);
    expect_restores(&all, 2, 2);
    bed_close(&all, "two that were started");
}

/* The same failure on all ranks, with this word in its sentence. */
static void expect_fails(launch *run, parapet_status status, parapet_status expected, const char *word)
{
    char sentence[1024];
    (void)snprintf(sentence, sizeof sentence, "%s", parapet_error_message());
    if (launch_agreed(run, status, word) != expected || strstr(sentence, word) == NULL) {
        fprintf(stderr, "%s: \"%s\"\n", parapet_status_name(status), sentence);
        launch_expect(run, false, word);
    }
}

/* What cannot be written is refused by start; then only giving up is left, and nothing remains. */
static void check_bad_part(launch *run)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_request *request = NULL;
    tree before, after;
    marked state;
    bed all;
    bed_open(&all, run, "bad_part");
    marked_fill(&state, run->rank, run->ranks, 1);
    (void)LAUNCH_OK(run, marked_commit(&state, all.store, GROUP, NULL, NULL));
    tree_take(&before, all.folder);
    launch_barrier();
    (void)LAUNCH_OK(run, parapet_checkpoint_begin(&checkpoint, all.store, GROUP, NULL));
    if (run->rank == run->ranks - 1)
        state.start[1][0] = MARKED_LENGTH;
    expect_fails(
        run,
        parapet_checkpoint_start(&request, &checkpoint, state.items, MARKED_ARRAYS, PARAPET_BUFFERING_COPY, NULL),
        PARAPET_ERR_ARGUMENT, "reaches");
    launch_expect(run, request == NULL && parapet_request_wait(&request) == PARAPET_ERR_ARGUMENT,
                  "nothing to wait for");
    (void)LAUNCH_OK(run, parapet_checkpoint_abort(&checkpoint));
    launch_barrier();
    tree_take(&after, all.folder);
    launch_expect(run, tree_equals(&before, &after), "the files as they were");
    tree_clear(&before);
    tree_clear(&after);
    launch_barrier();
    expect_restores(&all, 0, 1);
    bed_close(&all, "a part that is outside");
}

/* The commit fails, and wait tells: somebody has removed the lock, so that another job could be first. */
static void check_overtaken(launch *run)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_request *request = NULL;
    char lock[PATH_MAX];
    int64_t generation = -1;
    marked state;
    bed all;
    bed_open(&all, run, "overtaken");
    (void)LAUNCH_OK(run, parapet_checkpoint_begin(&checkpoint, all.store, GROUP, NULL));
    marked_fill(&state, run->rank, run->ranks, 1);
    expect_fails(run, marked_commit(&state, all.beside, GROUP, NULL, NULL), PARAPET_ERR_BUSY, "a checkpoint");
    (void)snprintf(lock, sizeof lock, "%s/%s/__parapet/lock", all.folder, GROUP);
    launch_barrier();
    launch_expect(run, run->rank != 0 || unlink(lock) == 0, "a lock to remove");
    launch_barrier();
    (void)LAUNCH_OK(run, marked_commit(&state, all.beside, GROUP, NULL, NULL));
    marked_fill(&state, run->rank, run->ranks, 2);
    (void)LAUNCH_OK(run, parapet_checkpoint_start(&request, &checkpoint, state.items, MARKED_ARRAYS,
                                                  PARAPET_BUFFERING_BORROW, &generation));
    expect_fails(run, parapet_request_wait(&request), PARAPET_ERR_EXISTS, GROUP);
    launch_expect(run, checkpoint == NULL && generation == 1, "the number that it would have had");
    expect_restores(&all, 0, 1);
    bed_close(&all, "another job that was first");
}

int main(int argc, char **argv)
{
    const char *level = argc > 1 ? argv[1] : "multiple";
    launch run;
    launch_start(&run, &argc, &argv,
                 strcmp(level, "single") == 0     ? MPI_THREAD_SINGLE
                 : strcmp(level, "funneled") == 0 ? MPI_THREAD_FUNNELED
                                                  : MPI_THREAD_MULTIPLE);
    check_buffering(&run, PARAPET_BUFFERING_COPY);
    check_buffering(&run, PARAPET_BUFFERING_BORROW);
    check_next_begins(&run);
    check_bad_part(&run);
    check_overtaken(&run);
    return launch_finish(&run);
}
