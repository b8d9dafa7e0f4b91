/* pair.c - two forked processes and the file at which they meet: see pair.h. */
#include "pair.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "meeting.h"

#define PATIENCE 60.0

static meeting *place;
static int failures;

void pair_meet(pair *own)
{
    if (meeting_wait(place, PATIENCE))
        return;
    fprintf(stderr, "job %d: the other one does not come\n", own->job);
    exit(1);
}

void pair_expect(pair *own, bool is_true, const char *what)
{
    if (is_true)
        return;
    failures++;
    fprintf(stderr, "job %d: expected %s\n", own->job, what);
}

void pair_expect_status(pair *own, parapet_status status, parapet_status wanted, const char *call)
{
    if (status == wanted)
        return;
    failures++;
    fprintf(stderr, "job %d: %s: expected %s, was told %s: %s\n", own->job, call, parapet_status_name(wanted),
            parapet_status_name(status), parapet_error_message());
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

static pid_t start_job(pair *own, void (*act)(pair *own), const char *folder)
{
    char path[600];
    pid_t process = fork();
    if (process != 0)
        return process;
    (void)snprintf(path, sizeof path, "%s/meeting", folder);
    if ((place = meeting_open(path, 2)) == NULL)
        exit(1);
    own->numbers = meeting_room(place);
    act(own);
    exit(failures > 0);
}

int pair_run(void (*act)(pair *own))
{
    const char *given = getenv("TMPDIR");
    char folder[512];
    pair own = {0};
    int code = 0, job, ended;
    (void)snprintf(folder, sizeof folder, "%s/parapet-finding-XXXXXX", given != NULL ? given : "/tmp");
    if (mkdtemp(folder) == NULL)
        return 1;
    (void)snprintf(own.store, sizeof own.store, "%s/store", folder);
    for (job = 0; job < 2; job++) {
        own.job = job;
        if (start_job(&own, act, folder) < 0)
            code = 1;
    }
    while (wait(&ended) > 0)
        if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0)
            code = 1;
    (void)nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return code;
}
