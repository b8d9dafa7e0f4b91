/* Two jobs on one store, each started by a launcher of its own, do something at
 * the same time, over and over.
 *
 *     two_jobs FOLDER JOB RACES SEED [FIRST SECOND]
 *
 * JOB is 0 or 1; both are given the same FOLDER, RACES of each pair of
 * operations, and SEED. TWO_JOBS_STORES is where stores are made, if not in
 * FOLDER. Without FIRST and SECOND, numbers of operations, all
 * pairs are raced. They meet at FOLDER/meeting. Rank 0 of job 0 makes the store
 * of a race, judges what came of it, and prints a table: for each pair, how
 * often both were told what. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "draw.h"
#include "meeting.h"
#include "model.h"
#include "tree.h"

#define PATIENCE 60.0

enum { RANKS_MOST = 4, STATUSES = PARAPET_ERR_STALE + 1 };

/* What all ranks of both jobs see. */
typedef struct board {
    outcome told[2];
    parapet_status statuses[2][RANKS_MOST];
    int64_t taken[2][RANKS_MOST]; /* shards, in all races so far */
} board;

typedef struct course {
    actor own;
    meeting *place;
    board *shared;
    strategy_pace pace;
    char folder[512], url[600];
    uint64_t seed;
    int64_t races, violations, shown;
    int64_t counts[OPERATIONS][OPERATIONS][STATUSES][STATUSES];
} course;

static void meet(const course *of, const race *run, const char *when)
{
    if (meeting_wait(of->place, PATIENCE))
        return;
    fprintf(stderr, "job %d, rank %d, %s + %s, %s: the others do not come\n", of->own.job, of->own.rank,
            operation_name(run->jobs[0].does), operation_name(run->jobs[1].does), when);
    exit(1);
}

static bool is_judge(const course *of)
{
    return of->own.job == 0 && of->own.rank == 0;
}

/* ---- One race ---- */

static bool uses_array(operation does)
{
    return does == OP_WRITE_SHARDS || does == OP_WRITE_CHUNKS || does == OP_RESIZE || does == OP_ATTRIBUTE ||
           does == OP_SEAL || does == OP_READ;
}

static bool enter(course *of, const race *run)
{
    const part_of_race *part = &run->jobs[of->own.job];
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE, .io_thread = PARAPET_IO_THREAD_NONE};
    parapet_status status;
    char weights_path[600];
    (void)snprintf(weights_path, sizeof weights_path, "%s/weights-%d", of->folder, of->own.job);
    strategy_set(part->with, &options, &of->pace, weights_path, of->own.rank, of->own.ranks);
    status = parapet_store_open(&of->own.store, MPI_COMM_WORLD, of->url, PARAPET_UPDATE, &options);
    if (status == PARAPET_OK && part->is_aged && run->has_array && uses_array(part->does))
        status = parapet_array_open(&of->own.aged, of->own.store, "a");
    if (status != PARAPET_OK)
        fprintf(stderr, "job %d cannot enter: %s\n", of->own.job, parapet_error_message());
    return status == PARAPET_OK;
}

static void act(course *of, const race *run)
{
    struct timespec pause = {.tv_nsec = 1000L * (long)run->jobs[of->own.job].late_us};
    outcome told;
    (void)nanosleep(&pause, NULL);
    operation_run(&of->own, run, &told);
    if (of->own.rank == 0)
        of->shared->told[of->own.job] = told;
    of->shared->statuses[of->own.job][of->own.rank] = told.status;
    of->shared->taken[of->own.job][of->own.rank] += strategy_taken(of->own.store);
    (void)parapet_array_close(&of->own.aged);
    (void)parapet_store_close(&of->own.store);
}

/* ---- Judging ---- */

static bool is_agreed(const course *of)
{
    int job, rank;
    for (job = 0; job < 2; job++)
        for (rank = 0; rank < of->own.ranks; rank++)
            if (of->shared->statuses[job][rank] != of->shared->told[job].status)
                return false;
    return true;
}

static void show(const course *of, const race *run, int64_t number, const char *problem)
{
    int job;
    fprintf(stderr, "%s + %s, race %lld of seed %llu: %s\n", operation_name(run->jobs[0].does),
            operation_name(run->jobs[1].does), (long long)number, (unsigned long long)run->seed, problem);
    for (job = 0; job < 2; job++) {
        const part_of_race *part = &run->jobs[job];
        fprintf(stderr, "  job %d: mark %lld, %lld us late, %s%s%s%s: %s: %s\n", job, (long long)part->mark,
                (long long)part->late_us, part->with->name, part->is_aged ? ", aged" : "",
                part->is_wide ? ", wide" : "", part->is_source ? ", from a to t" : "",
                parapet_status_name(of->shared->told[job].status), of->shared->told[job].sentence);
    }
}

static void judge(course *of, const race *run, int64_t number, const world *before)
{
    const outcome *told = of->shared->told;
    world after;
    bool is_whole = world_look(of->url, false, &after);
    const char *problem = is_whole ? model_judge(run, told, before, &after) : "what is left is damaged";
    if (!is_agreed(of))
        problem = "the ranks of a job were told different things";
    of->counts[run->jobs[0].does][run->jobs[1].does][told[0].status][told[1].status]++;
    if (problem != NULL) {
        of->violations++;
        show(of, run, number, problem);
        world_print("before", before);
        world_print("after", &after);
    }
    tree_remove(of->url);
}

static void run_race(course *of, operation first, operation second, int64_t number)
{
    race run = race_draw(of->seed, first, second, number);
    world before;
    if (is_judge(of) && !world_make(of->url, &run, &before))
        exit(1);
    meet(of, &run, "before it");
    if (!enter(of, &run))
        exit(1);
    meet(of, &run, "at its start");
    act(of, &run);
    meet(of, &run, "at its end");
    if (is_judge(of))
        judge(of, &run, number, &before);
}

/* ---- One that is killed ---- */

enum { KILL_ALL = 2, KILL_US_MOST = 12000 };

/* Rank 0, rank 1 or both are killed, soon. */
static void arm(const course *of, const race *run, int64_t number)
{
    draw from = draw_start(run->seed, (uint64_t)(number * OPERATIONS + (int64_t)run->jobs[1].does));
    int64_t victim = draw_between(&from, 0, KILL_ALL);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec when = {.it_value = {.tv_nsec = 1000L * (long)draw_scale(&from, KILL_US_MOST)}};
    timer_t timer;
    if (victim != KILL_ALL && victim != of->own.rank)
        return;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &when, NULL) != 0)
        exit(1);
}

/* Until the launcher ends it, or patience does. */
static void await_end(void)
{
    (void)sleep((unsigned)PATIENCE);
    exit(1);
}

static void await_gone(const course *of)
{
    const struct timespec nap = {.tv_nsec = 2000000};
    double end = meeting_seconds() + PATIENCE;
    char path[600];
    (void)snprintf(path, sizeof path, "%s/gone", of->folder);
    while (access(path, F_OK) != 0 && meeting_seconds() < end)
        (void)nanosleep(&nap, NULL);
}

static void judge_killed(course *of, const race *run, int64_t number, const world *before)
{
    world after;
    bool is_whole = world_look(of->url, true, &after);
    const char *problem =
        is_whole ? model_judge_killed(run, &of->shared->told[0], before, &after) : "what is left is damaged";
    if (problem == NULL && !world_take_over(of->url, &after))
        problem = "what the killed job held is not free";
    if (problem == NULL)
        return;
    of->violations++;
    show(of, run, number, problem);
    world_print("before", before);
    world_print("after", &after);
}

static void run_killed(course *of, operation first, operation second, int64_t number)
{
    race run = race_draw(of->seed, first, second, number);
    world before;
    if (is_judge(of) && !world_make(of->url, &run, &before))
        exit(1);
    meet(of, &run, "before it");
    if (!enter(of, &run))
        exit(1);
    meet(of, &run, "at its start");
    if (of->own.job == 1)
        arm(of, &run, number);
    act(of, &run);
    if (of->own.job == 1)
        await_end();
    await_gone(of);
    if (is_judge(of))
        judge_killed(of, &run, number, &before);
}

/* ---- All of them ---- */

static const char *short_name(int status)
{
    const char *name = parapet_status_name((parapet_status)status);
    return strncmp(name, "PARAPET_ERR_", 12) == 0 ? name + 12 : name + 8;
}

static void print_pair(const course *of, int first, int second)
{
    int one, other;
    printf("| %s | %s |", operation_name((operation)first), operation_name((operation)second));
    for (one = 0; one < STATUSES; one++)
        for (other = 0; other < STATUSES; other++)
            if (of->counts[first][second][one][other] > 0)
                printf(" %s/%s %lld", short_name(one), short_name(other),
                       (long long)of->counts[first][second][one][other]);
    printf(" |\n");
    (void)fflush(stdout);
}

static void run_pair(course *of, int first, int second)
{
    int64_t number;
    for (number = 0; number < of->races; number++)
        run_race(of, (operation)first, (operation)second, number);
    if (is_judge(of))
        print_pair(of, first, second);
}

/* Where the strategy is such that some has to be taken, some was. */
static void judge_taken(course *of)
{
    const strategy *with = strategy_next(NULL);
    int64_t taken = 0;
    int job, rank;
    for (job = 0; job < 2; job++)
        for (rank = 0; rank < of->own.ranks; rank++)
            taken += of->shared->taken[job][rank];
    printf("\n%lld shards were taken\n", (long long)taken);
    of->violations += strategy_is_alone() && with->is_uneven && taken == 0;
}

static void run_all(course *of)
{
    int first, second;
    for (first = 0; first < OPERATIONS; first++)
        for (second = first; second < OPERATIONS; second++)
            run_pair(of, first, second);
    if (is_judge(of))
        judge_taken(of);
}

static void start(course *of, char **argv)
{
    const char *stores = getenv("TWO_JOBS_STORES");
    char path[600];
    MPI_Comm_rank(MPI_COMM_WORLD, &of->own.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &of->own.ranks);
    of->own.job = (int)strtol(argv[2], NULL, 10);
    of->races = strtoll(argv[3], NULL, 10);
    of->seed = strtoull(argv[4], NULL, 0);
    (void)snprintf(of->folder, sizeof of->folder, "%s", argv[1]);
    (void)snprintf(of->url, sizeof of->url, "%s/store", stores != NULL ? stores : argv[1]);
    (void)snprintf(path, sizeof path, "%s/meeting", argv[1]);
    if ((of->place = meeting_open(path, 2 * of->own.ranks)) == NULL) {
        fprintf(stderr, "%s cannot be made\n", path);
        exit(1);
    }
    of->shared = meeting_room(of->place);
}

int main(int argc, char **argv)
{
    static course of;
    int level;
    if (argc != 5 && argc != 7 && argc != 8)
        return 2;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    start(&of, argv);
    if (argc == 8)
        run_killed(&of, (operation)strtol(argv[5], NULL, 10), (operation)strtol(argv[6], NULL, 10), of.races);
    else if (argc == 7)
        run_pair(&of, (int)strtol(argv[5], NULL, 10), (int)strtol(argv[6], NULL, 10));
    else
        run_all(&of);
    if (is_judge(&of) && of.violations > 0)
        printf("%lld violations\n", (long long)of.violations);
    meeting_close(of.place);
    MPI_Finalize();
    return of.violations > 0;
}
