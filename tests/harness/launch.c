#include "launch.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "tree.h"

#define WATCH_SECONDS 120

static launch *watched;

/* The thread that hangs may hold any lock: only write and _exit are safe. */
static void report_hang(int signal_number)
{
    char text[256];
    int bytes = snprintf(text, sizeof text, "rank %d hangs in %s of seed %llu\n", watched->rank, watched->phase,
                         (unsigned long long)watched->seed);
    (void)signal_number;
    if (write(STDERR_FILENO, text, (size_t)bytes) < 0)
        _exit(98);
    sleep(1); /* time for the other ranks to say where they are */
    _exit(99);
}

/* Ranks share cores: the MPI's own wait would spin. */
static void wait_for(MPI_Request *request)
{
    int is_done = 0;
    unsigned pause_us = 0;
    for (;;) {
        MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
        if (is_done)
            return;
        usleep(pause_us);
        pause_us = pause_us < 1000 ? pause_us + 50 : 1000;
    }
}

bool launch_is_in_memory(const launch *run)
{
    struct statfs found;
    return statfs(run->folder, &found) == 0 && (found.f_type == TMPFS_MAGIC || found.f_type == RAMFS_MAGIC);
}

void launch_barrier(void)
{
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    wait_for(&request);
}

int64_t launch_largest(int64_t number)
{
    MPI_Request request;
    int64_t largest = 0;
    MPI_Iallreduce(&number, &largest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD, &request);
    wait_for(&request);
    return largest;
}

void launch_sum(int64_t *numbers, int count)
{
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, numbers, count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &request);
    wait_for(&request);
}

void *launch_share(const launch *run, size_t bytes)
{
    static int number;
    char path[600];
    void *memory = MAP_FAILED;
    int descriptor;
    (void)snprintf(path, sizeof path, "%s/shared-%d", run->folder, number++);
    if (run->rank == 0 && (descriptor = open(path, O_RDWR | O_CREAT | O_EXCL, 0600)) >= 0) {
        if (ftruncate(descriptor, (off_t)bytes) != 0)
            perror(path);
        (void)close(descriptor);
    }
    launch_barrier();
    if ((descriptor = open(path, O_RDWR)) >= 0) {
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        (void)close(descriptor);
    }
    if (memory == MAP_FAILED) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    launch_barrier();
    return memory;
}

/* Memory where there is some: thousands of small stores are made and removed. */
static void make_folder(launch *run)
{
    const char *given = getenv("TMPDIR");
    MPI_Request request;
    if (given == NULL || given[0] == '\0')
        given = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".";
    (void)snprintf(run->folder, sizeof run->folder, "%s/parapet-test-XXXXXX", given);
    if (run->rank == 0 && mkdtemp(run->folder) == NULL) {
        perror(run->folder);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Ibcast(run->folder, sizeof run->folder, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
    wait_for(&request);
}

void launch_start(launch *run, int *argc, char ***argv, int thread_level)
{
    int provided;
    *run = (launch){.phase = "the start"};
    watched = run;
    MPI_Init_thread(argc, argv, thread_level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &run->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &run->ranks);
    (void)signal(SIGALRM, report_hang);
    make_folder(run);
}

int launch_finish(launch *run)
{
    alarm(WATCH_SECONDS);
    launch_barrier();
    if (run->rank == 0)
        tree_remove(run->folder);
    MPI_Finalize();
    return run->failed_cases > 0 ? 1 : 0;
}

void launch_case_begin(launch *run, uint64_t seed)
{
    run->seed = seed;
    run->failures = 0;
    launch_phase(run, "the beginning");
}

bool launch_case_end(launch *run, const char *description)
{
    bool has_failed;
    launch_phase(run, "the end");
    has_failed = launch_largest(run->failures) > 0;
    run->failed_cases += has_failed ? 1 : 0;
    if (has_failed && run->rank == 0)
        fprintf(stderr, "FAILED on %d ranks: seed %llu: %s\n", run->ranks, (unsigned long long)run->seed,
                description);
    alarm(0);
    return !has_failed;
}

void launch_phase(launch *run, const char *phase)
{
    run->phase = phase;
    alarm(WATCH_SECONDS);
}

void launch_expect(launch *run, bool is_true, const char *what)
{
    if (is_true)
        return;
    run->failures++;
    fprintf(stderr, "rank %d, seed %llu, %s: expected: %s\n", run->rank, (unsigned long long)run->seed, run->phase,
            what);
}

static int64_t digest_text(const char *text)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++)
        digest = (digest ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (int64_t)(digest >> 2);
}

parapet_status launch_agreed(launch *run, parapet_status status, const char *call)
{
    const char *sentence = status != PARAPET_OK ? parapet_error_message() : "";
    int64_t own[4] = {(int64_t)status, -(int64_t)status, digest_text(sentence), -digest_text(sentence)}, all[4];
    MPI_Request request;
    launch_phase(run, call);
    MPI_Iallreduce(own, all, 4, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD, &request);
    wait_for(&request);
    if (all[0] != -all[1] || all[2] != -all[3]) {
        run->failures++;
        fprintf(stderr, "rank %d, seed %llu: %s differs between ranks; here %s: %s\n", run->rank,
                (unsigned long long)run->seed, call, parapet_status_name(status), sentence);
    }
    return (parapet_status)all[0];
}

bool launch_raise_limit(launch *run, parapet_status status, int64_t *memory_bytes, bool *was_refused)
{
    const char *limit = strstr(parapet_error_message(), " to at least ");
    bool is_again = status == PARAPET_ERR_MEMORY && !*was_refused;
    *was_refused = is_again;
    if (!is_again)
        return false;
    launch_expect(run, limit != NULL, "a limit that is enough");
    *memory_bytes = limit != NULL ? strtoll(limit + strlen(" to at least "), NULL, 10) : 0;
    return true;
}

bool launch_ok(launch *run, parapet_status status, const char *call)
{
    parapet_status agreed = launch_agreed(run, status, call);
    if (agreed == PARAPET_OK)
        return true;
    run->failures++;
    if (run->rank == 0)
        fprintf(stderr, "seed %llu: %s: %s: %s\n", (unsigned long long)run->seed, call, parapet_status_name(status),
                status != PARAPET_OK ? parapet_error_message() : "another rank failed");
    return false;
}
