#include "one_clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

enum { RANKS_MOST = 16 };
/* A rank that waits looks so often whether it still has to. */
#define LOOKS 60
#define NAPS_MOST 10000 /* of 0.2 ms */
#define STEPS 10        /* of a deadline; ranks give up a fifth of it after each other */
#define START_NS (1000 * PP_SECOND_NS)

typedef struct common {
    atomic_llong ns;
    atomic_long looks[RANKS_MOST];
    atomic_bool has_answer[RANKS_MOST];
} common;

static common *all;
static int own_rank, rank_count;
static atomic_bool is_alone; /* with its waiting */
static pthread_t thread;     /* of rank 0, which lets time pass */
static atomic_bool is_started;
static double thread_step;

static void sleep_for(long ns)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static int64_t now_ns(void *context)
{
    (void)context;
    return atomic_load(&all->ns);
}

static void sleep_until(void *context, int64_t due_ns)
{
    (void)context;
    while (atomic_load(&all->ns) < due_ns)
        sleep_for(100000);
}

static void pause_for(void *context, int64_t nanoseconds)
{
    (void)context;
    (void)atomic_fetch_add(&all->looks[own_rank], 1);
    if (atomic_load(&is_alone))
        (void)atomic_fetch_add(&all->ns, nanoseconds);
    sleep_for(20000);
}

void one_clock_take(const launch *run)
{
    static const pp_clock clock = {now_ns, now_ns, sleep_until, pause_for, NULL};
    if (run->ranks > RANKS_MOST)
        abort();
    all = launch_share(run, sizeof *all);
    own_rank = run->rank;
    rank_count = run->ranks;
    atomic_store(&all->ns, START_NS);
    launch_barrier();
    pp_clock_use(&clock);
}

void one_clock_begin(void)
{
    launch_barrier();
    atomic_store(&is_alone, false);
    atomic_store(&all->has_answer[own_rank], false);
    launch_barrier();
}

void one_clock_note_answer(void)
{
    atomic_store(&all->has_answer[own_rank], true);
}

/* The own rank is not waited for, unless a thread beside it lets time pass. */
static bool is_waiting(int rank)
{
    return (rank != own_rank || atomic_load(&is_started)) && !atomic_load(&all->has_answer[rank]);
}

static bool have_all_answers(void)
{
    int i;
    for (i = 0; i < rank_count && !is_waiting(i); i++)
        continue;
    return i == rank_count;
}

/* Until every rank that waits has looked often in vain, or does not look at all: a call of MPI may need the very rank
 * that stays away. What one of them says at its first look, the others hear in the next round. */
static void let_look(void)
{
    long before[RANKS_MOST];
    int i, naps = 0;
    for (i = 0; i < rank_count; i++)
        before[i] = atomic_load(&all->looks[i]);
    for (i = 0; i < rank_count; i++)
        for (; is_waiting(i) && atomic_load(&all->looks[i]) < before[i] + LOOKS && naps < NAPS_MOST; naps++)
            sleep_for(200000);
}

static void step(double seconds)
{
    let_look();
    let_look();
    one_clock_move(seconds);
}

void one_clock_stay_away(double deadline_seconds)
{
    while (!have_all_answers())
        step(deadline_seconds / STEPS);
    atomic_store(&is_alone, true);
}

static void *let_pass(void *context)
{
    while (atomic_load(&is_started)) {
        if (have_all_answers())
            sleep_for(200000);
        else
            step(thread_step);
    }
    return context;
}

void one_clock_start(double deadline_seconds)
{
    one_clock_begin();
    thread_step = deadline_seconds / STEPS;
    atomic_store(&is_started, own_rank == 0);
    if (own_rank == 0 && pthread_create(&thread, NULL, let_pass, NULL) != 0)
        abort();
}

/* Everybody has an answer before the thread is to end: else it would wait for those that do not look any more. */
void one_clock_stop(void)
{
    one_clock_note_answer();
    launch_barrier();
    if (atomic_exchange(&is_started, false))
        (void)pthread_join(thread, NULL);
}

void one_clock_pass(double seconds)
{
    int i;
    for (i = 0; i < STEPS; i++)
        step(seconds / STEPS);
}

void one_clock_move(double seconds)
{
    (void)atomic_fetch_add(&all->ns, (long long)(seconds * (double)PP_SECOND_NS));
}
