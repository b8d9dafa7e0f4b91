#include "watch.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* So that a machine under load makes a slow call and not a hang. */
#define HANG_SECONDS 120

static char text[512];

/* The thread that hangs may hold any lock: only write and _exit are safe. */
static void report_hang(int signal_number)
{
    (void)signal_number;
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(98);
    sleep(2); /* time for the other ranks to say where they are */
    _exit(99);
}

static int own_rank;

void watch_start(int rank)
{
    own_rank = rank;
    (void)signal(SIGALRM, report_hang);
}

void watch_begin(const char *site, const char *doing)
{
    (void)alarm(0);
    (void)snprintf(text, sizeof text, "HANG: rank %d is still %s: %s\n", own_rank, doing, site);
    (void)alarm(HANG_SECONDS);
}

void watch_end(void)
{
    (void)alarm(0);
}

double watch_clock(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void watch_meet(void)
{
    MPI_Request request;
    int is_done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done)
        (void)usleep(100);
}
