/* job.c
 *
 *     power_job SUBJECT write ROOT MARKS COUNT [ranks]         does COUNT works one after the other
 *     power_job SUBJECT verify ROOT MARKS DONE PREVIOUS BEGUN  says whether they survived, and does one more
 *
 * SUBJECT is checkpoint, copy or series; with "ranks" it runs under the launcher, else alone and without MPI.
 * Exit code 0: all done, or all there; 1: something is lost or wrong; 2: usage; 3: storage failed. */
#include "job.h"

#include <fcntl.h>
#include <inttypes.h>
#include <parapet_store.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const power_subject *const subjects[] = {&checkpoint_subject, &copy_subject, &series_subject};

void job_mark(const job *self, const char *what, int64_t number)
{
    char line[64];
    int bytes = snprintf(line, sizeof line, "%s %" PRId64 "\n", what, number);
    if (self->rank != 0)
        return;
    if (write(self->marks, line, (size_t)bytes) != bytes) {
        perror("power_job: cannot write a mark");
        abort();
    }
}

parapet_status job_open(const job *self, parapet_mode mode, parapet_store **store)
{
    parapet_store_options options = {.memory_bytes = 8 << 20, .deadline_seconds = 60};
    return parapet_store_open(store, self->comm, self->root, mode, &options);
}

int job_violated(const job *self, const char *format, ...)
{
    va_list rest;
    if (self->rank != 0)
        return JOB_VIOLATED;
    va_start(rest, format);
    (void)vprintf(format, rest);
    va_end(rest);
    (void)putchar('\n');
    return JOB_VIOLATED;
}

int job_failed(const job *self, const char *what, int64_t number, parapet_status status)
{
    if (self->rank == 0)
        printf("%s %" PRId64 ": %s: %s\n", what, number, parapet_status_name(status), parapet_error_message());
    return JOB_FAILED;
}

uint32_t job_value(int64_t number, int array, int64_t index)
{
    uint64_t mixed = ((uint64_t)number << 40) + ((uint64_t)array << 32) + (uint64_t)index + 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return (uint32_t)(mixed ^ (mixed >> 31));
}

void job_rows(const job *self, int64_t row_count, int64_t *start, int64_t *count)
{
    *start = row_count * self->rank / self->rank_count;
    *count = row_count * (self->rank + 1) / self->rank_count - *start;
}

static const power_subject *find_subject(const char *name)
{
    size_t i;
    for (i = 0; i < sizeof subjects / sizeof subjects[0]; i++)
        if (strcmp(subjects[i]->name, name) == 0)
            return subjects[i];
    return NULL;
}

static int run_alone(const power_subject *subject, job *self, char **numbers, int number_count)
{
    if (number_count == 1) {
        self->count = atoll(numbers[0]);
        return subject->write(self);
    }
    self->done = atoll(numbers[0]);
    self->previous = atoll(numbers[1]);
    self->begun = atoll(numbers[2]);
    return subject->verify(self);
}

static int run_under_launcher(const power_subject *subject, job *self, int argc, char **argv)
{
    int code;
    MPI_Init(&argc, &argv);
    self->comm = MPI_COMM_WORLD;
    MPI_Comm_rank(self->comm, &self->rank);
    MPI_Comm_size(self->comm, &self->rank_count);
    self->count = atoll(argv[5]);
    code = subject->write(self);
    MPI_Finalize();
    return code;
}

int main(int argc, char **argv)
{
    const power_subject *subject = argc > 1 ? find_subject(argv[1]) : NULL;
    bool is_write = argc > 2 && strcmp(argv[2], "write") == 0;
    bool is_verify = argc > 2 && strcmp(argv[2], "verify") == 0;
    bool has_launcher = is_write && argc == 7 && strcmp(argv[6], "ranks") == 0;
    job self = {.comm = MPI_COMM_NULL, .rank_count = 1};
    if (subject == NULL || !(has_launcher || (is_write && argc == 6) || (is_verify && argc == 8)))
        return JOB_MISUSED;
    self.root = argv[3];
    self.marks = open(argv[4], O_WRONLY | O_APPEND);
    if (self.marks < 0) {
        perror(argv[4]);
        return JOB_MISUSED;
    }
    return has_launcher ? run_under_launcher(subject, &self, argc, argv)
                        : run_alone(subject, &self, argv + 5, argc - 5);
}
