/* process.c - which process this is, for people and for owner records; and whether another one is still there. */
#include "store/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a line of /proc/<process>/stat, counted from the one behind the name. */
enum { FIELD_STATE = 0, FIELD_THREADS = 17, FIELD_START = 19 };

static void name_host(char *host, size_t bytes)
{
    if (gethostname(host, bytes) != 0)
        (void)snprintf(host, bytes, "?");
    host[bytes - 1] = '\0';
}

void pp_process_name(char name[PP_PROCESS_BYTES])
{
    char host[PP_PROCESS_BYTES - 32];
    name_host(host, sizeof host);
    (void)snprintf(name, PP_PROCESS_BYTES, "process %ld on %s", (long)getpid(), host);
}

/* What can be read of a small file of the system; "" where nothing can. */
static void read_line(const char *path, char *line, size_t bytes)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t found = descriptor >= 0 ? read(descriptor, line, bytes - 1) : -1;
    line[found > 0 ? found : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (descriptor >= 0)
        (void)close(descriptor);
}

/* How a process stands; the name of its program, in parentheses, may have anything in it. */
typedef struct standing {
    char state; /* 0: there is no such process, or nothing is said about it */
    uint64_t threads, start;
} standing;

static void look_at(int64_t process, standing *found)
{
    char path[64], line[1024], *rest, *word;
    int field = 0;
    *found = (standing){0};
    (void)snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", process);
    read_line(path, line, sizeof line);
    if ((rest = strrchr(line, ')')) == NULL)
        return;
    for (word = strtok_r(rest + 1, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest), field++) {
        if (field == FIELD_STATE)
            found->state = word[0];
        else if (field == FIELD_THREADS)
            (void)sscanf(word, "%" SCNu64, &found->threads);
        else if (field == FIELD_START)
            (void)sscanf(word, "%" SCNu64, &found->start);
    }
}

static uint64_t namespace_number(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 ? (uint64_t)found.st_ino : 0;
}

void pp_process_self(pp_process *self)
{
    standing found;
    *self = (pp_process){.number = (int64_t)getpid()};
    name_host(self->host, sizeof self->host);
    if (self->host[strspn(self->host, PP_HOST_CHARACTERS)] != '\0' || self->host[0] == '\0')
        (void)snprintf(self->host, sizeof self->host, "?");
    read_line("/proc/sys/kernel/random/boot_id", self->boot, sizeof self->boot);
    if (self->boot[0] == '\0')
        (void)snprintf(self->boot, sizeof self->boot, "?");
    self->spaces[0] = namespace_number("/proc/self/ns/pid");
    self->spaces[1] = namespace_number("/proc/self/ns/time");
    look_at(self->number, &found);
    self->start = found.start;
}

/* Numbers mean the same to both, and so do times. */
static bool is_neighbour(const pp_process *self, const pp_process *other)
{
    return self->boot[0] != '?' && strcmp(self->boot, other->boot) == 0 && self->spaces[0] != 0 &&
           self->spaces[0] == other->spaces[0] && self->spaces[1] == other->spaces[1];
}

/* One that has ended and was not waited for yet can do nothing any more, unless a thread of it goes on. */
pp_process_life pp_process_judge(const pp_process *other)
{
    pp_process self;
    standing found;
    pp_process_self(&self);
    if (!is_neighbour(&self, other))
        return PP_PROCESS_UNKNOWN;
    if (kill((pid_t)other->number, 0) != 0 && errno == ESRCH)
        return PP_PROCESS_GONE;
    look_at(other->number, &found);
    if (found.state == 0 || other->start == 0)
        return PP_PROCESS_LIVES; /* it is not ours to look at */
    if (found.start != other->start || ((found.state == 'Z' || found.state == 'X') && found.threads <= 1))
        return PP_PROCESS_GONE;
    return PP_PROCESS_LIVES;
}
