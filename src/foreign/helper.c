#include "foreign/helper.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"

#define FIRST_BYTES ((size_t)64 << 10)
#define END_BYTES 13 /* "end 01234567\n" */

/* A program that was started, and what it has told. */
typedef struct helper {
    pid_t process;
    int output; /* the end of a pipe */
    char *text;
    size_t bytes, capacity;
    double until_s; /* of the clock */
    int exit_status;
} helper;

/* ---- Starting ---- */

/* Not all descriptors of a process are ours, and those of MPI may be inherited. Without this function of newer C
 * libraries, it gets those. */
#ifdef __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 34)
#define HAS_CLOSE_FROM
#endif
#endif

static int close_others(posix_spawn_file_actions_t *actions)
{
#ifdef HAS_CLOSE_FROM
    return posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
#else
    (void)actions;
    return 0;
#endif
}

/* What it is told. */
typedef struct program_words {
    const char *file;
    char most_text[24]; /* bytes of texts, of which the table has 4 for each 3, beside all else */
} program_words;

/* It gets nothing of ours: no descriptor but its output, no environment but the way to its libraries, no handler. */
static int spawn(const char *program, const program_words *given, int output, pid_t *process)
{
    char library_path[PATH_MAX + 32];
    const char *libraries = getenv("LD_LIBRARY_PATH");
    char *const words[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)given->file,
                           (char *)(uintptr_t)given->most_text, NULL};
    char *const environment[] = {libraries != NULL ? library_path : NULL, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t signals;
    int problem;
    (void)snprintf(library_path, sizeof library_path, "LD_LIBRARY_PATH=%s", libraries != NULL ? libraries : "");
    if ((problem = posix_spawn_file_actions_init(&actions)) != 0)
        return problem;
    if ((problem = posix_spawnattr_init(&attributes)) != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return problem;
    }
    (void)sigemptyset(&signals);
    (void)posix_spawnattr_setsigmask(&attributes, &signals);
    (void)sigfillset(&signals);
    (void)posix_spawnattr_setsigdefault(&attributes, &signals);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if ((problem = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)) == 0 &&
        (problem = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)) == 0 &&
        (problem = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)) == 0 &&
        (problem = close_others(&actions)) == 0)
        problem = posix_spawn(process, program, &actions, &attributes, words, environment);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return problem;
}

/* Beside the library or the program that has it, as it is installed or built; else where it was to be installed. */
static int spawn_found(const program_words *words, int output, pid_t *process)
{
    static const char *const ways[] = {PARAPET_PLACES_FROM_LIBRARY, PARAPET_PLACES_FROM_BIN,
                                       "libexec/parapet/parapet-places"};
    const char *given = getenv("PARAPET_PLACES"), *slash;
    char path[PATH_MAX];
    Dl_info own = {0};
    size_t i;
    int problem = ENOENT;
    if (given != NULL && given[0] != '\0')
        return spawn(given, words, output, process);
    slash = dladdr(ways, &own) != 0 && own.dli_fname != NULL ? strrchr(own.dli_fname, '/') : NULL;
    for (i = 0; slash != NULL && problem != 0 && i < sizeof ways / sizeof ways[0]; i++)
        if ((size_t)snprintf(path, sizeof path, "%.*s/%s", (int)(slash - own.dli_fname), own.dli_fname, ways[i]) <
            sizeof path)
            problem = spawn(path, words, output, process);
    return problem == 0 ? 0 : spawn(PARAPET_PLACES_PATH, words, output, process);
}

static parapet_status start(helper *run, const char *file, size_t most_bytes)
{
    program_words words = {.file = file};
    int ends[2], problem;
    (void)snprintf(words.most_text, sizeof words.most_text, "%zu", most_bytes / 2);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return pp_fail(PARAPET_ERR_IO, "no pipe to the program that reads HDF5: %s", strerror(errno));
    problem = spawn_found(&words, ends[1], &run->process);
    (void)close(ends[1]);
    run->output = ends[0];
    if (problem == 0)
        return PARAPET_OK;
    (void)close(ends[0]);
    return pp_fail(PARAPET_ERR_UNSUPPORTED,
                   "it is HDF5, as every netCDF-4 file is, and the program parapet-places that reads it cannot be "
                   "started (%s). Build Parapet where HDF5 is installed (libhdf5-dev), or make a table where it is, "
                   "\"parapet places FILE > TABLE\", and open places:TABLE:FILE; \"nccopy -k cdf5\" makes a netCDF "
                   "file that needs neither",
                   strerror(problem));
}

/* ---- Reading ---- */

static parapet_status make_room(helper *run, size_t most)
{
    size_t capacity = run->capacity > 0 ? pp_min_size(2 * run->capacity, most + 1) : FIRST_BYTES;
    parapet_status status;
    if (run->bytes + 1 < run->capacity)
        return PARAPET_OK;
    if (run->bytes >= most)
        return pp_fail(PARAPET_ERR_MEMORY,
                       "its table of places takes more than %zu MiB, a quarter of the memory of the store: give it "
                       "more memory",
                       most >> 20);
    if ((status = pp_reallocate(&run->text, capacity)) == PARAPET_OK)
        run->capacity = capacity;
    return status;
}

static parapet_status wait_for_more(const helper *run)
{
    struct pollfd output = {.fd = run->output, .events = POLLIN};
    double left_s = run->until_s - pp_clock_seconds();
    int ready = left_s > 0 ? poll(&output, 1, (int)(1000 * left_s) + 1) : 0;
    if (ready < 0 && errno != EINTR)
        return pp_fail(PARAPET_ERR_IO, "waiting for the program that reads HDF5 failed: %s", strerror(errno));
    if (ready == 0 && pp_clock_seconds() >= run->until_s)
        return pp_fail(
            PARAPET_ERR_TIMEOUT,
            "the program that reads HDF5 took too long, and was ended: the file is damaged, or its storage "
            "is slow");
    return PARAPET_OK;
}

static parapet_status read_output(helper *run, size_t most)
{
    parapet_status status;
    for (;;) {
        ssize_t done;
        if ((status = make_room(run, most)) != PARAPET_OK || (status = wait_for_more(run)) != PARAPET_OK)
            return status;
        done = read(run->output, run->text + run->bytes, run->capacity - run->bytes - 1);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return pp_fail(PARAPET_ERR_IO, "reading from the program that reads HDF5 failed: %s", strerror(errno));
        run->bytes += (size_t)done;
        if (done == 0)
            return PARAPET_OK;
    }
}

/* Somebody else may have waited for it; then its output has to tell. */
static void finish(helper *run, bool is_over)
{
    if (!is_over)
        (void)kill(run->process, SIGKILL);
    while (waitpid(run->process, &run->exit_status, 0) < 0 && errno == EINTR)
        ;
    (void)close(run->output);
}

/* ---- What it told ---- */

static parapet_status refuse_told(const char *sentence)
{
    size_t bytes = strcspn(sentence, "\n");
    return pp_fail(PARAPET_ERR_FORMAT, "%.*s", (int)pp_min_size(bytes, 512), sentence);
}

static parapet_status check_told(helper *run)
{
    static const char error[] = "\nerror ";
    const char *last;
    run->text[run->bytes] = '\0';
    if (run->bytes > END_BYTES && memcmp(run->text + run->bytes - END_BYTES, "end ", 4) == 0)
        return PARAPET_OK;
    for (last = run->text + run->bytes; last > run->text && strncmp(last, error, strlen(error)) != 0;)
        last--;
    if (strncmp(last, error, strlen(error)) == 0)
        return refuse_told(last + strlen(error));
    if (WIFSIGNALED(run->exit_status))
        return pp_fail(PARAPET_ERR_FORMAT,
                       "the program that reads HDF5 was ended by signal %d (%s): the file is damaged, or HDF5 is",
                       WTERMSIG(run->exit_status), strsignal(WTERMSIG(run->exit_status)));
    return pp_fail(PARAPET_ERR_FORMAT, "the program that reads HDF5 stopped in the middle: the file is damaged");
}

static parapet_status check_allowed(const pp_helper_limits *limits)
{
    if (limits->is_forbidden)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "it is HDF5, as every netCDF-4 file is, and the option no_helper forbids to start the program "
                       "that reads it; a table of places can be given: places:TABLE:FILE");
    return PARAPET_OK;
}

parapet_status pp_helper_run(const char *file, const pp_helper_limits *limits, char **text, size_t *bytes)
{
    helper run = {.until_s = pp_clock_seconds() + limits->seconds};
    parapet_status status;
    *text = NULL;
    *bytes = 0;
    if ((status = check_allowed(limits)) != PARAPET_OK ||
        (status = start(&run, file, limits->most_bytes)) != PARAPET_OK)
        return status;
    status = read_output(&run, limits->most_bytes);
    finish(&run, status == PARAPET_OK);
    if (status == PARAPET_OK)
        status = check_told(&run);
    if (status != PARAPET_OK) {
        pp_free(run.text);
        return status;
    }
    *text = run.text;
    *bytes = run.bytes;
    return PARAPET_OK;
}
