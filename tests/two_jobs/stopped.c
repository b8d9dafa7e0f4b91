/* stopped.c - a job of which one rank is stopped in the middle of publishing.
 *
 *     stopped FOLDER make            an array in FOLDER/store, all of value 1; one process, without MPI
 *     stopped FOLDER write VALUE     writes all of it; one process, without MPI
 *     stopped FOLDER read            prints the value of each shard
 *     stopped FOLDER stop VALUE      writes all of it under a launcher; the last rank stops before its first shard
 *                                    becomes visible, and leaves FOLDER/stopped; it goes on when FOLDER has a file
 *                                    "go on", and then no more waits for others than deadline_seconds, by a clock on
 *                                    which no time has passed before. All leave FOLDER/pid.<rank>
 *
 * Prints the status of the call. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <parapet.h>

#include "hand_clock.h"

enum { LENGTH = 64, SHARD = 16 };

static const int64_t shape[1] = {LENGTH}, chunks[1] = {8}, shards[1] = {SHARD}, origin[1] = {0};
static const char *folder;
static volatile sig_atomic_t stops;

static void leave_note(const char *name, int number)
{
    char path[600];
    FILE *file;
    (void)snprintf(path, sizeof path, number < 0 ? "%s/%s" : "%s/%s.%d", folder, name, number);
    if ((file = fopen(path, "w")) == NULL)
        exit(2);
    fprintf(file, "%ld\n", (long)getpid());
    (void)fclose(file);
}

static bool may_go_on(void)
{
    char path[600];
    (void)snprintf(path, sizeof path, "%s/go on", folder);
    return access(path, F_OK) == 0;
}

/* The system wakes what is stopped when its launcher dies, where that has put it into a group of its own. */
static void stop(void)
{
    (void)signal(SIGHUP, SIG_IGN);
    do
        (void)raise(SIGSTOP);
    while (!may_go_on());
    hand_clock_pauses_pass = true;
}

/* The library's, too: what the program defines is found first. */
int renameat(int from, const char *old_name, int to, const char *new_name)
{
    if (stops) {
        stops = 0;
        leave_note("stopped", -1);
        stop();
    }
    return (int)syscall(SYS_renameat2, from, old_name, to, new_name, 0);
}

static int tell(parapet_status status)
{
    printf("%s %s\n", parapet_status_name(status), parapet_error_message());
    return status != PARAPET_OK;
}

static parapet_status write_part(parapet_array *array, int64_t value, int rank, int ranks)
{
    int64_t values[LENGTH], count[1] = {LENGTH / ranks}, start[1] = {rank * count[0]};
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = values};
    int i;
    for (i = 0; i < LENGTH; i++)
        values[i] = value;
    return parapet_array_write(array, &part, 1);
}

static parapet_status read_values(parapet_array *array)
{
    int64_t values[LENGTH];
    parapet_part part = {.ndim = 1, .start = origin, .count = shape, .data = values};
    parapet_status status = parapet_array_read(array, &part, 1);
    int i;
    for (i = 0; i < LENGTH && status == PARAPET_OK; i += SHARD)
        printf("%lld ", (long long)values[i]);
    return status;
}

static parapet_status act(const char *verb, int64_t value, MPI_Comm comm, int rank, int ranks)
{
    parapet_array_spec spec = {.ndim = 1, .type = PARAPET_INT64, .shape = shape, .chunks = chunks, .shards = shards};
    bool makes = strcmp(verb, "make") == 0;
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    parapet_status status;
    char url[600];
    (void)snprintf(url, sizeof url, "%s/store", folder);
    status = parapet_store_open(&store, comm, url, makes ? PARAPET_CREATE : PARAPET_UPDATE, NULL);
    if (status == PARAPET_OK)
        status = makes ? parapet_array_create(&array, store, "a", &spec) : parapet_array_open(&array, store, "a");
    stops = strcmp(verb, "stop") == 0 && rank == ranks - 1;
    if (status == PARAPET_OK)
        status = strcmp(verb, "read") == 0 ? read_values(array) : write_part(array, value, rank, ranks);
    (void)parapet_array_close(&array);
    (void)parapet_store_close(&store);
    return status;
}

int main(int argc, char **argv)
{
    int64_t value = argc > 3 ? strtoll(argv[3], NULL, 10) : 1;
    int rank = 0, ranks = 1;
    if (argc < 3)
        return 2;
    folder = argv[1];
    if (strcmp(argv[2], "stop") != 0)
        return tell(act(argv[2], value, MPI_COMM_NULL, rank, ranks));
    hand_clock_take(false);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    leave_note("pid", rank);
    return tell(act(argv[2], value, MPI_COMM_WORLD, rank, ranks)); /* the launcher is gone: MPI is not ended */
}
