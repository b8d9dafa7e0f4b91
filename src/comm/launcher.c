#include "comm/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/internal.h"

/* The variables of a launcher; PMIx and PALS do not say how many processes there are. */
typedef struct launcher {
    const char *flavour;
    const char *rank;
    const char *count;
} launcher;

static const launcher launchers[] = {
    {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"mpich", "PMI_RANK", "PMI_SIZE"},
    {"mpich", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
    {"mpich", "PALS_RANKID", NULL},
    {"", "PMIX_RANK", NULL},
};

enum { LAUNCHER_COUNT = sizeof launchers / sizeof launchers[0] };

/* -1: it is not set, or no number. */
static int number_of(const char *variable)
{
    const char *text = variable != NULL ? getenv(variable) : NULL;
    char *end;
    long number;
    if (text == NULL || text[0] == '\0')
        return -1;
    number = strtol(text, &end, 10);
    return *end == '\0' && number >= 0 && number <= INT32_MAX ? (int)number : -1;
}

static FILE *open_process(long process, const char *name)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/%s", process, name);
    return fopen(path, "re");
}

/* 0: it is not known. The name in the middle of the line may have spaces and parentheses in it. */
static long parent_in(FILE *file)
{
    char line[512] = "";
    const char *behind;
    long parent = 0;
    if (file == NULL)
        return 0;
    (void)fread(line, 1, sizeof line - 1, file);
    (void)fclose(file);
    behind = strrchr(line, ')');
    return behind != NULL && sscanf(behind + 1, " %*c %ld", &parent) == 1 ? parent : 0;
}

/* Whether a process was started with the value of the variable that this one has, or both without it. */
static bool has_same(long process, const char *variable)
{
    const char *mine = variable != NULL ? getenv(variable) : NULL;
    size_t length = variable != NULL ? strlen(variable) : 0, room = 0;
    FILE *file = open_process(process, "environ");
    bool is_found = false, is_same = false;
    char *entry = NULL;
    while (file != NULL && variable != NULL && !is_found && getdelim(&entry, &room, '\0', file) > 0) {
        is_found = strncmp(entry, variable, length) == 0 && entry[length] == '=';
        is_same = is_found && mine != NULL && strcmp(entry + length + 1, mine) == 0;
    }
    free(entry);
    if (file != NULL)
        (void)fclose(file);
    return is_found ? is_same : file != NULL && mine == NULL;
}

/* Whether the MPI that a launcher belongs to is loaded there: then the process is a rank, and not a shell, a debugger
 * or a script that the launcher has been told to start in its place. */
static bool runs_mpi_of(long process, const char *flavour)
{
    FILE *file = open_process(process, "maps");
    bool has_mpi = false, is_openmpi = false;
    char *line = NULL;
    size_t room = 0;
    while (file != NULL && getline(&line, &room, file) > 0) {
        has_mpi = has_mpi || strstr(line, "/libmpi") != NULL;
        is_openmpi = is_openmpi || strstr(line, "/libopen-pal") != NULL;
    }
    free(line);
    if (file != NULL)
        (void)fclose(file);
    return has_mpi && (flavour[0] == '\0' || is_openmpi == (strcmp(flavour, "openmpi") == 0));
}

/* A launcher that has left its variables here, and how many processes lie between. */
typedef struct trace {
    const launcher *of;
    bool is_there;
    bool is_inherited;
    int distance;
} trace;

static trace follow(const launcher *each)
{
    trace found = {.of = each, .is_there = number_of(each->rank) >= 0 || number_of(each->count) >= 0};
    long process = found.is_there ? parent_in(fopen("/proc/self/stat", "re")) : 0;
    while (process > 1 && has_same(process, each->rank) && has_same(process, each->count)) {
        found.is_inherited = found.is_inherited || runs_mpi_of(process, each->flavour);
        found.distance++;
        process = parent_in(open_process(process, "stat"));
    }
    return found;
}

/* Own before others, started by the launcher before inherited, near before far. */
static bool is_better(const trace *each, const trace *best, const char *flavour)
{
    bool is_own = strcmp(each->of->flavour, flavour) == 0;
    if (!each->is_there || best->of == NULL)
        return each->is_there;
    if (each->is_inherited != best->is_inherited)
        return best->is_inherited;
    if (is_own != (strcmp(best->of->flavour, flavour) == 0))
        return is_own;
    return each->distance < best->distance;
}

pp_launch pp_launch_find(const char *flavour)
{
    pp_launch launch = {.flavour = "", .variable = "", .rank = -1};
    trace best = {0};
    size_t i;
    for (i = 0; i < LAUNCHER_COUNT; i++) {
        trace each = follow(&launchers[i]);
        if (is_better(&each, &best, flavour))
            best = each;
    }
    if (best.of == NULL)
        return launch;
    launch.flavour = best.of->flavour;
    launch.rank = number_of(best.of->rank) >= 0 ? number_of(best.of->rank) : 0;
    launch.count = number_of(best.of->count);
    launch.variable = launch.count >= 0 ? best.of->count : best.of->rank;
    if (launch.count < 0)
        launch.count = launch.rank > 0 ? launch.rank + 1 : 0;
    launch.is_inherited = best.is_inherited;
    return launch;
}

parapet_status pp_comm_check_launcher(const pp_comm *comm)
{
    const char *flavour = pp_comm_flavour();
    pp_launch launch;
    if (comm->ops == NULL || comm->size > 1 || !comm->ops->is_single())
        return PARAPET_OK;
    launch = pp_launch_find(flavour);
    if (launch.count <= 1 || launch.is_inherited)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_MPI,
                   "the launcher started %d processes (%s), but MPI finds only this one, so each of them would write "
                   "as if it were alone: start the program with the launcher of its own MPI, which is that of "
                   "libparapet-%s. If every process is meant to be alone, set the option ignore_launcher "
                   "(PARAPET_IGNORE_LAUNCHER=1)",
                   launch.count, launch.variable, flavour);
}
