/* job.c - a rank of a job of the soak: see soak.h. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "draw.h"
#include "soak.h"

/* After so many failures of the storage a job gives up, as a program would. */
enum { LINE_BYTES = 4096, FAILURES_MOST = 3, MEETING_SECONDS = 5 };

/* One rank on its way through the script. */
typedef struct walk {
    const soak_script *script;
    actor own;
    bool stops; /* the operation under way is cancelled in its middle */
    int notes;  /* of rank 0 */
    int failures;
} walk;

/* ---- Notes ---- */

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A line is there at once, or not at all, whoever is killed behind it. */
static void note(const walk *of, const char *line)
{
    size_t bytes = strlen(line);
    if (of->own.rank == 0 && (write(of->notes, line, bytes) != (ssize_t)bytes || fsync(of->notes) != 0))
        abort();
}

static void note_begin(const walk *of, int64_t number, const part_of_race *part)
{
    char line[LINE_BYTES];
    (void)snprintf(line, sizeof line,
                   "{\"begin\": %" PRId64 ", \"does\": \"%s\", \"mark\": %" PRId64
                   ", \"aged\": %d, \"wide\": %d, \"source\": %d, \"stops\": %d, \"at\": %.6f}\n",
                   number, operation_name(part->does), part->mark, of->own.aged != NULL, part->is_wide,
                   part->is_source, of->stops, seconds());
    note(of, line);
}

static void print_text(char *line, size_t room, const char *text)
{
    size_t used = strlen(line);
    for (; *text != '\0' && used + 2 < room; text++)
        line[used++] = (unsigned char)*text < 32 || *text == '"' || *text == '\\' ? '\'' : *text;
    line[used] = '\0';
}

static void print_values(char *line, size_t room, const int64_t *values, int64_t count)
{
    size_t used = strlen(line);
    int64_t i;
    for (i = 0; i < count && used < room; i++)
        used += (size_t)snprintf(line + used, room - used, "%s%" PRId64, i > 0 ? ", " : "", values[i]);
}

/* Memory that is allocated and not freed, in KiB. What is resident says less: MPI keeps pages for messages that came
 * early, and with ranks that take turns on a core they come early now and then. */
static long allocated_kib(void)
{
    struct mallinfo2 found = mallinfo2();
    return (long)((found.uordblks + found.hblkhd) / 1024);
}

static void note_end(const walk *of, int64_t number, const outcome *told, bool is_agreed)
{
    char line[LINE_BYTES];
    (void)snprintf(line, sizeof line,
                   "{\"end\": %" PRId64
                   ", \"status\": \"%s\", \"agreed\": %d, \"at\": %.6f, \"kib\": %ld, \"generation\": %" PRId64
                   ", \"marked\": %" PRId64 ", \"alarms\": %" PRId64 ", \"strays\": %" PRId64
                   ", \"removed\": %d, \"values\": [",
                   number, parapet_status_name(told->status), is_agreed, seconds(), allocated_kib(), told->generation,
                   told->mark, told->alarms, told->strays, told->has_removed);
    print_values(line, sizeof line - 700, told->values, told->status == PARAPET_OK ? told->length : 0);
    (void)snprintf(line + strlen(line), sizeof line - strlen(line), "], \"sentence\": \"");
    print_text(line, sizeof line - 8, told->sentence);
    (void)snprintf(line + strlen(line), sizeof line - strlen(line), "\"}\n");
    note(of, line);
}

/* ---- Operations ---- */

static int stop_half_way(void *context, int64_t done_bytes, int64_t total_bytes)
{
    const walk *of = context;
    return of->stops && total_bytes > 0 && done_bytes * 2 >= total_bytes;
}

static operation draw_operation(draw *from, int64_t operations)
{
    operation found;
    do {
        found = (operation)draw_between(from, 0, OPERATIONS - 1);
    } while ((operations >> found & 1) == 0);
    return found;
}

static part_of_race draw_part(draw *from, const soak_script *script, int64_t number)
{
    part_of_race part = {.does = draw_operation(from, script->operations), .mark = script->mark + number};
    part.is_aged = draw_chance(from, 50);
    part.is_wide = draw_chance(from, 50);
    part.is_source = (part.does == OP_COPY || part.does == OP_RESUME) && draw_chance(from, 50);
    part.late_us = draw_chance(from, 70) ? 0 : draw_scale(from, 20000);
    return part;
}

static bool uses_array(operation does)
{
    return does == OP_WRITE_SHARDS || does == OP_WRITE_CHUNKS || does == OP_RESIZE || does == OP_ATTRIBUTE ||
           does == OP_SEAL || does == OP_READ;
}

/* A handle that one operation has opened may be used by those behind it, as long as they concern the array. */
static void choose_handle(walk *of, const part_of_race *part)
{
    if (!part->is_aged || !uses_array(part->does))
        (void)parapet_array_close(&of->own.aged);
    else if (of->own.aged == NULL)
        (void)parapet_array_open(&of->own.aged, of->own.store, "a");
}

static bool is_agreed(parapet_status status)
{
    int pair[2] = {(int)status, -(int)status}, most[2];
    MPI_Allreduce(pair, most, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return most[0] == -most[1];
}

static void step(walk *of, draw *from, int64_t number)
{
    race run = {.seed = of->script->seed};
    part_of_race part = draw_part(from, of->script, number);
    struct timespec pause = {.tv_nsec = 1000L * (long)part.late_us};
    bool is_common;
    outcome told;
    run.jobs[of->own.job] = part;
    (void)nanosleep(&pause, NULL);
    choose_handle(of, &part);
    of->stops = draw_between(from, 1, 1000) <= of->script->stopping_in_1000;
    note_begin(of, number, &part);
    MPI_Barrier(MPI_COMM_WORLD);
    operation_run(&of->own, &run, &told);
    is_common = is_agreed(told.status);
    note_end(of, number, &told, is_common);
    of->failures += told.status == PARAPET_ERR_IO || told.status == PARAPET_ERR_NO_SPACE;
    of->stops = false;
}

/* ---- The job ---- */

static int count_descriptors(void)
{
    DIR *list = opendir("/proc/self/fd");
    int count = 0;
    while (list != NULL && readdir(list) != NULL)
        count++;
    if (list != NULL)
        (void)closedir(list);
    return count;
}

/* Every other job of each kind has no threads beside its own. */
static void start(walk *of, int *argc, char ***argv)
{
    static const int levels[3] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_MULTIPLE};
    draw from = draw_start(of->script->seed, 1);
    char path[600];
    FILE *file;
    int level;
    (void)snprintf(path, sizeof path, "%s/pids/%ld", of->script->folder, (long)getpid());
    if ((file = fopen(path, "w")) != NULL)
        (void)fclose(file);
    MPI_Init_thread(argc, argv, levels[draw_between(&from, 0, 2)], &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &of->own.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &of->own.ranks);
    (void)snprintf(path, sizeof path, "%s/notes", of->script->folder);
    if (of->own.rank == 0 && (of->notes = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) < 0)
        abort();
}

static void note_open(const walk *of, parapet_status status)
{
    char line[LINE_BYTES];
    (void)snprintf(line, sizeof line, "{\"opened\": \"%s\", \"at\": %.6f, \"sentence\": \"",
                   parapet_status_name(status), seconds());
    print_text(line, sizeof line - 8, parapet_error_message());
    (void)snprintf(line + strlen(line), sizeof line - strlen(line), "\"}\n");
    note(of, line);
}

static void note_closed(const walk *of, int descriptors)
{
    char line[LINE_BYTES];
    int most = 0;
    MPI_Reduce(&descriptors, &most, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    (void)snprintf(line, sizeof line, "{\"closed\": %d, \"at\": %.6f}\n", most, seconds());
    note(of, line);
}

/* Until the other job is there, if there is one: starting takes longer than some jobs do. */
static void meet(const walk *of)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    double end = seconds() + MEETING_SECONDS;
    char other[600], notes[700];
    (void)snprintf(other, sizeof other, "%s/../job%d", of->script->folder, 1 - of->own.job);
    (void)snprintf(notes, sizeof notes, "%s/notes", other);
    while (of->own.rank == 0 && access(other, F_OK) == 0 && access(notes, F_OK) != 0 && seconds() < end)
        (void)nanosleep(&nap, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

int soak_job_run(const soak_script *script, int *argc, char ***argv)
{
    walk of = {.script = script, .own = {.job = script->job}, .notes = -1};
    parapet_store_options options = {.progress = stop_half_way, .progress_context = &of};
    draw from = draw_start(script->seed, 2);
    parapet_status status;
    int64_t number;
    int before;
    start(&of, argc, argv);
    meet(&of);
    before = count_descriptors();
    status = parapet_store_open(&of.own.store, MPI_COMM_WORLD, script->url, PARAPET_UPDATE, &options);
    note_open(&of, status);
    for (number = 0; number < script->count && status == PARAPET_OK && of.failures < FAILURES_MOST; number++)
        step(&of, &from, number);
    (void)parapet_array_close(&of.own.aged);
    (void)parapet_store_close(&of.own.store);
    note_closed(&of, count_descriptors() - before);
    MPI_Finalize();
    return 0;
}
