/* main.c - the command-line tool `parapet`: finds the verb, starts MPI where a launcher asks for it.
 *
 * Does not know: what the verbs do.
 * Depends on: tool.h and MPI; no other file of the tool calls MPI. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

const tool_verb *const tool_verbs[] = {&verb_info, &verb_ls,       &verb_check, &verb_diff,
                                       &verb_plan, &verb_selftest, NULL};

/* On a login node MPI_Init may hang or be forbidden: it is called only under a launcher. A batch job without
 * a launcher must not count as one, so the variables are those of the process managers, not of the queue. */
static bool has_launcher(void)
{
    static const char *const variables[] = {"PMI_RANK",    "PMI_SIZE",           "PMIX_RANK", "OMPI_COMM_WORLD_SIZE",
                                            "PALS_RANKID", "MV2_COMM_WORLD_RANK"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        if (getenv(variables[i]) != NULL)
            return true;
    return false;
}

/* Waits for rank 0 without burning a core, which MPI_Barrier would. */
static void wait_for_all(void)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    MPI_Request request;
    int is_done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done)
        (void)nanosleep(&pause, NULL);
}

static int run_on_rank_0(tool_request *request)
{
    int rank = 0;
    int size = 1;
    int exit_code = TOOL_OK;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0 && size > 1)
        report_error("mpi", "this version works on one process: rank 0 works, the other %d wait", size - 1);
    if (rank == 0) {
        request->comm = MPI_COMM_SELF;
        exit_code = request->verb->run(request);
    }
    wait_for_all();
    MPI_Finalize();
    return exit_code;
}

/* A full disk or a closed pipe must not look like success. */
static int finish_output(int exit_code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return exit_code;
    report_error("standard output", "cannot be written");
    return TOOL_FAILED;
}

static int run_verb(const tool_verb *verb, int count, char **words)
{
    tool_request request = {.verb = verb, .comm = MPI_COMM_NULL};
    if (!arguments_parse(&request, count, words))
        return TOOL_USAGE;
    if (request.flags & TOOL_HELP) {
        help_print_verb(stdout, verb);
        return TOOL_OK;
    }
    return has_launcher() ? run_on_rank_0(&request) : verb->run(&request);
}

static int refuse_verb(const char *name, const tool_verb *nearest)
{
    if (name[0] == '-')
        report_error(name, "there is no such option; parapet --help lists the verbs and options");
    else
        report_error(name, "there is no such verb; the nearest is %s", nearest->name);
    return TOOL_USAGE;
}

static int print_help_of(const char *name)
{
    const tool_verb *nearest = NULL;
    const tool_verb *verb = verb_find(name, &nearest);
    if (verb == NULL)
        return refuse_verb(name, nearest);
    help_print_verb(stdout, verb);
    return TOOL_OK;
}

static int print_version(void)
{
    const char *text = parapet_version();
    size_t length = strlen(text);
    printf("%s%s", text, length > 0 && text[length - 1] == '\n' ? "" : "\n");
    return TOOL_OK;
}

static int run(int count, char **words)
{
    const tool_verb *nearest = NULL;
    const tool_verb *verb;
    if (count < 2) {
        help_print(stderr);
        return TOOL_USAGE;
    }
    if (strcmp(words[1], "-V") == 0 || strcmp(words[1], "--version") == 0)
        return print_version();
    if (strcmp(words[1], "help") == 0 && count > 2)
        return print_help_of(words[2]);
    if (strcmp(words[1], "-h") == 0 || strcmp(words[1], "--help") == 0 || strcmp(words[1], "help") == 0) {
        help_print(stdout);
        return TOOL_OK;
    }
    verb = verb_find(words[1], &nearest);
    if (verb == NULL)
        return refuse_verb(words[1], nearest);
    return run_verb(verb, count - 2, words + 2);
}

int main(int count, char **words)
{
    return finish_output(run(count, words));
}
