/* ranks_serial.c - the tool without MPI: this process alone, or under a launcher the tool of another flavour. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "ranks.h"
#include "report.h"

/* The last has no launcher of its own: it is for those of any MPI that provides the standard ABI. */
static const char *const flavours[] = {"openmpi", "mpich", "mpiabi", NULL};

/* The tool of a flavour lies beside this one; free it. */
static char *tool_of(const char *flavour)
{
    char self[PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;
    self[length > 0 ? length : 0] = '\0';
    slash = strrchr(self, '/');
    return text_format("%.*sparapet-%s", slash != NULL ? (int)(slash + 1 - self) : 0, self, flavour);
}

static bool is_installed(const char *flavour)
{
    char *path = tool_of(flavour);
    bool is_there = access(path, X_OK) == 0;
    free(path);
    return is_there;
}

/* Returns only if it cannot be executed. */
static int execute(const char *flavour, char **words)
{
    char *path = tool_of(flavour);
    (void)execv(path, words);
    report_error(path, "the tool of the flavour %s cannot be executed: %s", flavour, strerror(errno));
    free(path);
    return TOOL_FAILED;
}

/* PARAPET_MPI names the flavour, whatever the launcher may be. */
static int obey_variable(const char *given, char **words)
{
    if (strcmp(given, "serial") == 0)
        return TOOL_OK;
    for (int i = 0; flavours[i] != NULL; i++)
        if (strcmp(given, flavours[i]) == 0)
            return execute(given, words);
    report_error("PARAPET_MPI", "it is \"%s\", but must be serial, mpich, openmpi or mpiabi", given);
    return TOOL_USAGE;
}

/* All of the processes would do the same, and those that write would write over each other. */
static int refuse_launcher(const char *flavour)
{
    char *missing = text_format("parapet-%s", flavour[0] != '\0' ? flavour : "mpich and parapet-openmpi");
    char *path = tool_of("");
    *strrchr(path, '/') = '\0';
    report_error("mpi",
                 "a launcher started this process, but %s is not in %s beside parapet, which itself has no MPI: "
                 "install it there, or set PARAPET_MPI=serial to work alone",
                 missing, path);
    free(path);
    free(missing);
    return TOOL_FAILED;
}

int ranks_hand_over(char **words)
{
    const char *given = getenv("PARAPET_MPI"), *flavour = ranks_launch()->flavour;
    if (given != NULL && given[0] != '\0')
        return obey_variable(given, words);
    if (ranks_launched() < 0)
        return TOOL_OK;
    for (int i = 0; flavours[i] != NULL; i++)
        if ((flavour[0] == '\0' || strcmp(flavour, flavours[i]) == 0 || flavours[i + 1] == NULL) &&
            is_installed(flavours[i]))
            return execute(flavours[i], words);
    return ranks_launch()->count == 1 ? TOOL_OK : refuse_launcher(flavour);
}

/* Alone also under a launcher: of one process, or because PARAPET_MPI says so. */
int ranks_run(tool_request *request)
{
    request->rank_count = 1;
    return request->verb->run(request);
}

parapet_status ranks_open_store(const tool_request *request, parapet_store **store, const char *url,
                                parapet_mode mode, const parapet_store_options *options)
{
    (void)request;
    return parapet_store_open(store, MPI_COMM_NULL, url, mode, options);
}

void ranks_share(const tool_request *request, void *memory, size_t bytes)
{
    (void)request, (void)memory, (void)bytes;
}

void ranks_gather(const tool_request *request, const void *mine, void *all, size_t bytes)
{
    (void)request;
    memcpy(all, mine, bytes);
}

int64_t ranks_least(const tool_request *request, int64_t number)
{
    (void)request;
    return number;
}

int64_t ranks_most(const tool_request *request, int64_t number)
{
    (void)request;
    return number;
}

int ranks_on_node(const tool_request *request)
{
    (void)request;
    return 1;
}
