/* With deadline_seconds a rank that does not come is reported by the others, with its number and what they were
 * doing; that store then accepts nothing but close, and everything else goes on. All ranks go by one clock, on which
 * time passes only while the others wait for that rank, and which comes when they wait no more.
 *
 * parallel_deadline [full]     each strategy in one of two situations; full: in all three of them, in which a rank is
 *                              stopped by a timer, and more
 * parallel_deadline instants   rank 1 stands still at many instants of a write, with each strategy */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array/array_handle.h"
#include "array/open.h"
#include "base/clock.h"
#include "comm/exchange.h"
#include "comm/flavour.h"
#include "delay.h"
#include "one_clock.h"
#include "strategy.h"
#include "strip.h"
#include "watch.h"

#define DEADLINE_SECONDS 2
/* Whoever would rather wait for the absent rank is noticed. A tenth of a deadline passes at a time. */
#define ANSWER_SECONDS (2.1 * DEADLINE_SECONDS)
/* A rank that stops while claims are exchanged is missed there first, and then in the agreement: 1 deadline, 1.6 for
 * the rank above, a fifth for each of two levels, half of one after an exchange that was given up, and a step of the
 * clock. */
#define STALLED_ANSWER_SECONDS (3.7 * DEADLINE_SECONDS)
enum { INSTANTS = 16 };
static launch run;

typedef struct opened {
    pp_store *inner, *delayed;
    delay_plan plan;
    strategy_pace pace;
    parapet_store *store;
    parapet_array *array;
} opened;

/* Closing must work whatever has happened, and waits for nobody: no time passes, so it would wait for ever. */
static void close_all(opened *of)
{
    launch_phase(&run, "closing");
    (void)parapet_array_close(&of->array);
    (void)parapet_store_close(&of->store);
    launch_expect(&run, of->array == NULL && of->store == NULL, "closed handles");
    pp_store_free(of->delayed);
    pp_store_free(of->inner);
}

/* Both transports come in turn. */
static bool open_all(opened *of, int64_t deadline_seconds, const strategy *with)
{
    static int number;
    pp_posix_options posix = {.not_durable = true, .create = true};
    parapet_store_options options = {
        .deadline_seconds = deadline_seconds, .transport = (parapet_transport)(1 + number % 2), .servers = run.ranks};
    char path[600], weights_path[600];
    memset(of, 0, sizeof *of);
    one_clock_begin();
    (void)snprintf(path, sizeof path, "%s/deadline-%d", run.folder, number++);
    (void)snprintf(weights_path, sizeof weights_path, "%s/weights", run.folder);
    strategy_set(with, &options, &of->pace, weights_path, run.rank, run.ranks);
    if (run.rank == 0)
        launch_expect(&run, pp_store_posix_build(&of->inner, path, &posix) == PARAPET_OK, "a directory");
    watch_meet();
    if (run.rank != 0)
        launch_expect(&run, pp_store_posix_build(&of->inner, path, &posix) == PARAPET_OK, "a directory");
    launch_expect(&run, delay_store_build(&of->delayed, of->inner, &of->plan) == PARAPET_OK, "a store");
    return LAUNCH_OK(&run, pp_store_open_over(&of->store, MPI_COMM_WORLD, of->delayed, PARAPET_CREATE, &options)) &&
           LAUNCH_OK(&run, strip_create(&of->array, of->store, "a", run.ranks, STRIP_SHARDS)) &&
           LAUNCH_OK(&run, strip_write(of->array, &run, 1));
}

/* TIMEOUT on every rank, with the absent rank and one of these words in the sentence; the absent rank may say it in
 * another way. */
static void check_timeout(parapet_status status, double seconds, int absent, const char *phase)
{
    char who[32], text[PP_MESSAGE_BYTES + 100];
    (void)snprintf(who, sizeof who, "rank %d", absent);
    (void)snprintf(text, sizeof text, "PARAPET_ERR_TIMEOUT, not %s after %.1f s: %s", parapet_status_name(status),
                   seconds, parapet_error_message());
    launch_expect(&run, status == PARAPET_ERR_TIMEOUT, text);
    if (run.rank == absent)
        return;
    launch_expect(&run, strstr(parapet_error_message(), who) != NULL, who);
    (void)snprintf(text, sizeof text, "\"%s\" in: %s", phase, parapet_error_message());
    launch_expect(&run, strstr(parapet_error_message(), phase) != NULL, text);
    (void)snprintf(text, sizeof text, "an answer after %d to %.1f s, not %.1f", DEADLINE_SECONDS, ANSWER_SECONDS,
                   seconds);
    launch_expect(&run, seconds >= DEADLINE_SECONDS && seconds <= ANSWER_SECONDS, text);
}

/* The store that is lost refuses at once; another one works, and has lost nothing. */
static void check_afterwards(opened *lost)
{
    int32_t generation;
    opened fresh;
    launch_phase(&run, "reading a store that is lost");
    launch_expect(&run, strip_read(lost->array, &run, &generation) == PARAPET_ERR_TIMEOUT, "a refusal");
    launch_phase(&run, "changing a store that is lost");
    launch_expect(&run, parapet_array_attribute_set(lost->array, "x", "1") == PARAPET_ERR_TIMEOUT, "a refusal");
    close_all(lost);
    launch_barrier();
    if (open_all(&fresh, 0, strategy_of(0))) {
        (void)LAUNCH_OK(&run, strip_read(fresh.array, &run, &generation));
        launch_expect(&run, generation == 1, "another store works");
    }
    close_all(&fresh);
}

/* One rank does not make the call. */
static void test_absent(int absent, const strategy *with)
{
    double start;
    parapet_status status;
    opened of;
    char description[64];
    (void)snprintf(description, sizeof description, "%s: rank %d is absent", with->name, absent);
    launch_case_begin(&run, (uint64_t)absent);
    if (open_all(&of, DEADLINE_SECONDS, with)) {
        launch_phase(&run, "writing without one rank");
        if (run.rank == absent)
            one_clock_stay_away(DEADLINE_SECONDS);
        start = pp_clock_seconds();
        status = strip_write(of.array, &run, 2);
        one_clock_note_answer();
        check_timeout(status, pp_clock_seconds() - start, absent, "write(a)");
        if (run.rank == (absent + 1) % run.ranks)
            printf("%s: %.1f s: %s\n", description, pp_clock_seconds() - start, parapet_error_message());
        check_afterwards(&of);
    }
    (void)launch_case_end(&run, description);
}

static void get_stuck(void *context, const char *operation, const char *key)
{
    (void)context;
    (void)operation;
    (void)key;
    one_clock_stay_away(DEADLINE_SECONDS);
}

/* One rank's storage does not come back from an operation in the middle of the call. */
static void test_stuck_storage(int stuck, const strategy *with)
{
    double start;
    parapet_status status;
    opened of;
    launch_case_begin(&run, (uint64_t)stuck);
    if (open_all(&of, DEADLINE_SECONDS, with)) {
        launch_phase(&run, "writing with the storage of one rank stuck");
        of.plan = (delay_plan){.operation = "stage", .wait = run.rank == stuck ? get_stuck : NULL};
        start = pp_clock_seconds();
        status = strip_write(of.array, &run, 2);
        one_clock_note_answer();
        check_timeout(status, pp_clock_seconds() - start, stuck, "write(a) (writing)");
        if (run.rank == (stuck + 1) % run.ranks)
            printf("%s: rank %d's storage is stuck: %.1f s: %s\n", with->name, stuck, pp_clock_seconds() - start,
                   parapet_error_message());
        of.plan.wait = NULL;
        check_afterwards(&of);
    }
    (void)launch_case_end(&run, with->name);
}

static void stall(int signal_number)
{
    (void)signal_number;
    one_clock_stay_away(DEADLINE_SECONDS);
}

/* This thread stops for some seconds, wherever it is then. */
static void stall_after(double seconds)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR2};
    struct itimerspec when = {.it_value = {.tv_nsec = (long)(1e9 * seconds)}};
    timer_t timer;
    event._sigev_un._tid = gettid();
    (void)signal(SIGUSR2, stall);
    launch_expect(&run, timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "a timer");
    (void)timer_settime(timer, 0, &when, NULL);
}

/* One rank stands still in the middle of whatever it is doing. Those that wait for it do not come either, and may be
 * missed before it: some wait for messages that nobody in particular has to send, and rank 0 may be in a call of MPI
 * that needs it. */
static void test_stalled(int stalled, double after, const strategy *with)
{
    double start = 0;
    parapet_status status = PARAPET_OK;
    opened of;
    char who[32], text[PP_MESSAGE_BYTES + 64];
    (void)snprintf(who, sizeof who, "rank %d", stalled);
    launch_case_begin(&run, (uint64_t)(1e6 * after));
    if (open_all(&of, DEADLINE_SECONDS, with)) {
        launch_phase(&run, "writing with one rank standing still");
        if (run.rank == stalled)
            stall_after(after);
        while (status == PARAPET_OK) {
            start = pp_clock_seconds();
            status = strip_write(of.array, &run, 1);
        }
        one_clock_note_answer();
        (void)snprintf(text, sizeof text, "PARAPET_ERR_TIMEOUT with \"%s\" or \"rank 0\", not after %.1f s: %s", who,
                       pp_clock_seconds() - start, parapet_error_message());
        launch_expect(&run, status == PARAPET_ERR_TIMEOUT, text);
        if (run.rank != stalled) {
            launch_expect(&run,
                          stalled > 1 || strstr(parapet_error_message(), who) != NULL ||
                              strstr(parapet_error_message(), "rank 0 did not arrive") != NULL,
                          text);
            launch_expect(&run, pp_clock_seconds() - start <= STALLED_ANSWER_SECONDS, text);
        }
        if (run.rank == (stalled + 1) % run.ranks)
            printf("%s: rank %d stands still: %.1f s: %s\n", with->name, stalled, pp_clock_seconds() - start,
                   parapet_error_message());
        check_afterwards(&of);
    }
    (void)launch_case_end(&run, with->name);
}

static bool send_nothing(void *context, int *rank, void *parcel, size_t *bytes)
{
    (void)context;
    (void)rank;
    (void)parcel;
    (void)bytes;
    return false;
}

static void take_nothing(void *context, int source, const void *parcel, size_t bytes)
{
    (void)context;
    (void)source;
    (void)parcel;
    (void)bytes;
}

/* Whoever misses an exchange is waited for there, not in the next one again; the agreement says who it is. */
static void miss_exchanges(pp_comm *comm)
{
    const pp_exchange nothing = {NULL, send_nothing, take_nothing};
    double start = pp_clock_seconds();
    launch_expect(&run, pp_comm_exchange(comm, &nothing) == PARAPET_ERR_TIMEOUT, "a timeout");
    launch_expect(&run, pp_clock_seconds() - start >= DEADLINE_SECONDS, "waiting for one deadline");
    start = pp_clock_seconds();
    launch_expect(&run, pp_comm_exchange(comm, &nothing) == PARAPET_ERR_TIMEOUT, "another timeout");
    launch_expect(&run, pp_clock_seconds() - start < 0.5 * DEADLINE_SECONDS, "no waiting again");
}

static void test_missed_exchange(int absent)
{
    pp_comm *comm = NULL;
    pp_call call;
    launch_case_begin(&run, (uint64_t)absent);
    one_clock_begin();
    pp_call_init(&call, "exchange");
    if (LAUNCH_OK(&run, pp_comm_build(&comm, MPI_COMM_WORLD, 0)) &&
        LAUNCH_OK(&run, pp_comm_begin(comm, &call, PARAPET_OK))) {
        pp_comm_set_deadline(comm, DEADLINE_SECONDS);
        launch_phase(&run, "exchanging without one rank");
        if (run.rank == absent)
            one_clock_stay_away(DEADLINE_SECONDS);
        else
            miss_exchanges(comm);
        launch_expect(&run, pp_comm_agree(comm, "planning", PARAPET_OK) == PARAPET_ERR_TIMEOUT, "a timeout of all");
        one_clock_note_answer();
    }
    pp_comm_free(comm);
    (void)launch_case_end(&run, "one rank misses an exchange");
}

/* Late, but not too late. */
static void test_late(int late)
{
    int32_t generation = 0;
    opened of;
    launch_case_begin(&run, (uint64_t)late);
    if (open_all(&of, DEADLINE_SECONDS, strategy_of(0))) {
        launch_phase(&run, "writing with one rank late");
        if (run.rank == late)
            one_clock_pass(0.9 * DEADLINE_SECONDS);
        (void)launch_ok(&run, strip_write(of.array, &run, 2), "strip_write");
        (void)LAUNCH_OK(&run, strip_read(of.array, &run, &generation));
        launch_expect(&run, generation == 2, "new values");
    }
    close_all(&of);
    (void)launch_case_end(&run, "one rank is late");
}

static void test_situation(int number, int rank, double after, const strategy *with)
{
    switch (number % 3) {
    case 0:
        test_absent(rank, with);
        break;
    case 1:
        test_stuck_storage(rank, with);
        break;
    default:
        test_stalled(rank, after, with);
    }
}

/* Ranks come in turn, and so do the instants at which one stands still. */
static void test_all_situations(const strategy *with)
{
    int i;
    for (i = 0; i < 3 * run.ranks; i++)
        test_situation(i, i % run.ranks, 0.01 + 0.0007 * i, with);
}

static int test_instants(void)
{
    const strategy *with;
    int i;
    for (with = strategy_next(NULL); with != NULL; with = strategy_next(with))
        for (i = 0; i < INSTANTS; i++)
            test_stalled(1, 0.01 + 0.00023 * i, with);
    return launch_finish(&run);
}

int main(int argc, char **argv)
{
    const strategy *with;
    bool is_full;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    one_clock_take(&run);
    if (argc > 1 && strcmp(argv[1], "instants") == 0)
        return test_instants();
    is_full = argc > 1 && strcmp(argv[1], "full") == 0;
    test_late(run.ranks - 1);
    test_missed_exchange(run.ranks - 1);
    for (with = strategy_next(NULL); with != NULL; with = strategy_next(with))
        if (is_full)
            test_all_situations(with);
        else
            test_situation(strategy_number(with) % 2, 1, 0, with);
    return launch_finish(&run);
}
