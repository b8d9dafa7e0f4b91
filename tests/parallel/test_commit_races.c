/* Jobs that commit at the same time: every rank is a job of its own, with a store of its own over one directory.
 *
 *     test_commit_races RACES [SEED]
 *
 * One number: all jobs want the same generation. Exactly one is told that it has it, the others that it exists, and
 * what it put is what is read. The next number: who is late may have the one after. A ladder: each job wants a number
 * of its own, some steps apart. Whoever is told that it has committed finds its generation whole, however late a job
 * with a later number has tidied up. No race leaves anything of the losers. */
#include <dirent.h>
#include <parapet_store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "draw.h"
#include "launch.h"
#include "marked.h"

enum { KEEP_ON_LADDER = 16, LISTED_MOST = 64, RACES_PER_PATH = 50 };

typedef struct job {
    launch *run;
    parapet_store *store;
    char folder[600];
    char path[32]; /* of the checkpoints that are raced for */
    int64_t newest;
} job;

typedef struct tally {
    int64_t races, winners, lost, lost_at_begin, lost_at_put;
} tally;

/* How far a job came, and what it was told. */
typedef struct outcome {
    parapet_status begun, put, committed;
    int64_t generation; /* that was committed */
} outcome;

static void nap_below(draw *from, int64_t most_us)
{
    struct timespec pause = {.tv_nsec = (long)(1000 * draw_between(from, 0, most_us))};
    (void)nanosleep(&pause, NULL);
}

/* Sometimes all commit at once, sometimes one is late or has not begun when another is through. */
static outcome race(job *own, const parapet_checkpoint_options *options, int64_t mark, draw *from)
{
    parapet_checkpoint *checkpoint = NULL;
    outcome of = {PARAPET_ERR_INTERNAL, PARAPET_ERR_INTERNAL, PARAPET_ERR_INTERNAL, 0};
    int64_t late_us = draw_chance(from, 30) ? 3000 : 0;
    bool meets = draw_chance(from, 70);
    draw mine = draw_start(draw_number(from), (uint64_t)own->run->rank);
    marked state;
    marked_fill(&state, 0, 1, mark);
    nap_below(&mine, late_us);
    if ((of.begun = parapet_checkpoint_begin(&checkpoint, own->store, own->path, options)) == PARAPET_OK) {
        of.put = parapet_checkpoint_put(checkpoint, state.items, MARKED_ARRAYS);
        nap_below(&mine, late_us);
    }
    if (meets)
        launch_barrier();
    if (of.put == PARAPET_OK)
        of.committed = parapet_checkpoint_commit(&checkpoint, &of.generation);
    else if (checkpoint != NULL)
        (void)parapet_checkpoint_abort(&checkpoint);
    return of;
}

static bool is_winner(const outcome *of)
{
    return of->begun == PARAPET_OK && of->put == PARAPET_OK && of->committed == PARAPET_OK;
}

static void say(const job *own, const outcome *of)
{
    fprintf(stderr, "rank %d, %s: begin %s, put %s, commit %s; the sentence is \"%s\"\n", own->run->rank, own->path,
            parapet_status_name(of->begun), parapet_status_name(of->put), parapet_status_name(of->committed),
            parapet_error_message());
}

/* Where a later number was committed meanwhile, what a job puts may be taken from under it. */
static void expect_outcome(job *own, const outcome *of, bool may_be_overtaken)
{
    bool is_right = is_winner(of) || of->begun == PARAPET_ERR_EXISTS || of->begun == PARAPET_ERR_BUSY ||
                    (of->begun == PARAPET_OK && of->put != PARAPET_OK && may_be_overtaken) ||
                    (of->put == PARAPET_OK && of->committed == PARAPET_ERR_EXISTS);
    if (!is_right)
        say(own, of);
    launch_expect(own->run, is_right, "a winner, or a loser that is told so");
}

static void count(tally *all, const outcome *of)
{
    int64_t numbers[4] = {is_winner(of), !is_winner(of), of->begun != PARAPET_OK,
                          of->begun == PARAPET_OK && of->put != PARAPET_OK};
    launch_sum(numbers, 4);
    all->races++;
    all->winners += numbers[0];
    all->lost += numbers[1];
    all->lost_at_begin += numbers[2];
    all->lost_at_put += numbers[3];
}

/* ---- What is left ---- */

typedef struct listed {
    int count;
    int64_t numbers[LISTED_MOST];
    char paths[LISTED_MOST][64];
} listed;

static int take_listed(void *context, int64_t generation, const char *path)
{
    listed *list = context;
    list->numbers[list->count] = generation;
    (void)snprintf(list->paths[list->count], sizeof list->paths[0], "%s", path);
    return ++list->count == LISTED_MOST;
}

static bool is_listed(const listed *list, const char *path, const char *name)
{
    char whole[320];
    int i;
    (void)snprintf(whole, sizeof whole, "%s/%s", path, name);
    for (i = 0; i < list->count; i++)
        if (strcmp(list->paths[i], whole) == 0)
            return true;
    return false;
}

/* Every directory of a generation is one that a record names; nothing temporary lies there. */
static void expect_no_leftovers(job *own)
{
    char path[700];
    const struct dirent *entry;
    listed list = {0};
    DIR *directory;
    launch_expect(own->run, parapet_checkpoint_list(own->store, own->path, take_listed, &list) == PARAPET_OK,
                  "a list");
    (void)snprintf(path, sizeof path, "%s/%s", own->folder, own->path);
    directory = opendir(path);
    while (directory != NULL && (entry = readdir(directory)) != NULL)
        if (entry->d_name[0] == 'g' && !is_listed(&list, own->path, entry->d_name))
            launch_expect(own->run, false, entry->d_name);
    if (directory != NULL)
        (void)closedir(directory);
    (void)snprintf(path, sizeof path, "%s/%s/__parapet/tmp", own->folder, own->path);
    directory = opendir(path);
    while (directory != NULL && (entry = readdir(directory)) != NULL)
        launch_expect(own->run, entry->d_name[0] == '.', "nothing temporary");
    if (directory != NULL)
        (void)closedir(directory);
}

static void expect_restores(job *own, int64_t generation, int64_t mark)
{
    int64_t found;
    parapet_status status = marked_restore(own->store, own->path, generation, &found);
    if (status != PARAPET_OK)
        fprintf(stderr, "generation %lld: %s\n", (long long)generation, parapet_error_message());
    launch_expect(own->run, status == PARAPET_OK && found == mark, "what the winner has put");
}

/* ---- The three kinds of races ---- */

static int64_t mark_of(int64_t generation, int rank)
{
    return generation * 16 + rank;
}

static void race_for_one(job *own, draw *from, tally *all)
{
    launch *run = own->run;
    int64_t generation = own->newest + 1, winners, winner;
    parapet_checkpoint_options options = {.generation = generation};
    outcome of = race(own, &options, mark_of(generation, run->rank), from);
    expect_outcome(own, &of, false);
    count(all, &of);
    winners = is_winner(&of);
    launch_sum(&winners, 1);
    launch_expect(run, winners == 1, "one winner");
    winner = launch_largest(is_winner(&of) ? run->rank : -1);
    if (all->races % run->ranks == run->rank)
        expect_restores(own, generation, mark_of(generation, (int)winner));
    own->newest = generation;
}

static void race_for_next(job *own, draw *from, tally *all)
{
    parapet_checkpoint_options options = {.keep = KEEP_ON_LADDER};
    outcome of = race(own, &options, mark_of(own->newest, own->run->rank), from);
    int64_t winners = is_winner(&of);
    expect_outcome(own, &of, true);
    count(all, &of);
    launch_sum(&winners, 1);
    launch_expect(own->run, winners >= 1, "a winner");
    if (is_winner(&of))
        expect_restores(own, of.generation, mark_of(own->newest, own->run->rank));
    own->newest += winners;
    launch_expect(own->run, launch_largest(of.generation) == own->newest, "one number after the other");
}

static void race_on_ladder(job *own, draw *from, tally *all)
{
    launch *run = own->run;
    draw mine = draw_start(draw_number(from), (uint64_t)run->rank);
    int64_t generation = own->newest + draw_between(&mine, 1, 3), committed;
    parapet_checkpoint_options options = {.generation = generation, .keep = KEEP_ON_LADDER};
    outcome of = race(own, &options, mark_of(generation, run->rank), from);
    expect_outcome(own, &of, true);
    count(all, &of);
    committed = launch_largest(is_winner(&of) ? generation : 0);
    launch_expect(run, committed > own->newest, "a winner");
    if (is_winner(&of))
        expect_restores(own, generation, mark_of(generation, run->rank));
    own->newest = committed;
}

/* ---- */

typedef struct kind {
    const char *name;
    void (*run)(job *own, draw *from, tally *all);
} kind;

static const kind kinds[] = {
    {"one number", race_for_one}, {"next number", race_for_next}, {"ladder", race_on_ladder}};

/* The groups of the first generation are raced for too. */
static void use_new_path(job *own)
{
    static int number;
    (void)snprintf(own->path, sizeof own->path, "race%d", number++);
    own->newest = 0;
}

static void run_races(job *own, const kind *of, int64_t races, uint64_t seed)
{
    tally all = {0};
    draw from = draw_start(seed, (uint64_t)(of - kinds));
    int64_t number;
    for (number = 0; number < races; number++) {
        launch_case_begin(own->run, seed);
        if (number % RACES_PER_PATH == 0)
            use_new_path(own);
        of->run(own, &from, &all);
        launch_barrier();
        expect_no_leftovers(own);
        launch_barrier();
        (void)launch_case_end(own->run, own->path);
    }
    if (own->run->rank == 0)
        printf("%s: %lld races of %d jobs, %lld winners, %lld lost (%lld at begin, %lld at put), seed %llu\n",
               of->name, (long long)all.races, own->run->ranks, (long long)all.winners, (long long)all.lost,
               (long long)all.lost_at_begin, (long long)all.lost_at_put, (unsigned long long)seed);
}

int main(int argc, char **argv)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE, .io_thread = PARAPET_IO_THREAD_NONE};
    const char *given = getenv("PARAPET_TEST_SEED");
    int64_t races = argc > 1 ? strtoll(argv[1], NULL, 10) : 300;
    uint64_t seed = given != NULL ? strtoull(given, NULL, 0) : argc > 2 ? strtoull(argv[2], NULL, 0) : 20261115;
    launch run;
    job own = {.run = &run};
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    (void)snprintf(own.folder, sizeof own.folder, "%s/races", run.folder);
    launch_case_begin(&run, seed);
    launch_expect(&run, parapet_store_open(&own.store, MPI_COMM_SELF, own.folder, PARAPET_CREATE, &options) == 0,
                  "a store of one's own");
    if (launch_case_end(&run, "opening")) {
        run_races(&own, &kinds[0], races, seed);
        run_races(&own, &kinds[1], races / 10, seed);
        run_races(&own, &kinds[2], races / 3, seed);
    }
    launch_case_begin(&run, seed);
    launch_expect(&run, parapet_store_close(&own.store) == PARAPET_OK, "a store that closes");
    (void)launch_case_end(&run, "closing");
    return launch_finish(&run);
}
