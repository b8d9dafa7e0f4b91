#include "space.h"
#include "display.h"
#include "memory.h"
#include "ranks.h"
#include "report.h"

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* So many files are looked at; then nobody waits any longer, and the copy is not judged. */
enum { FILES_MOST = 200000 };

static int64_t free_bytes(const char *directory)
{
    struct statvfs status;
    return statvfs(directory, &status) == 0 ? (int64_t)status.f_bavail * (int64_t)status.f_frsize : INT64_MAX;
}

/* What the files below a directory hold; -1: not known. */
static int64_t stored_bytes(const char *directory)
{
    char *roots[2] = {text_format("%s", directory), NULL};
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    int64_t bytes = 0, files = 0;
    for (FTSENT *entry; walk != NULL && files <= FILES_MOST && (entry = fts_read(walk)) != NULL; files++)
        if (entry->fts_info == FTS_F)
            bytes += entry->fts_statp->st_size;
    if (walk != NULL)
        (void)fts_close(walk);
    free(roots[0]);
    return walk == NULL || files > FILES_MOST ? -1 : bytes;
}

/* The same for the source: an array in a file takes there what it has. */
static int64_t source_bytes(const tool_copying *copying)
{
    struct stat status;
    const char *source = copying->request->operands[0];
    if (stat(source, &status) == 0)
        return stored_bytes(source);
    return copying->node.array != NULL ? logical_bytes(&copying->node.info) : -1;
}

/* Another codec, or a part of the source, takes something else, and a copy that goes on has taken its space. */
static bool is_comparable(const tool_copying *copying)
{
    const parapet_copy_changes *changes = &copying->copy.changes;
    return changes->codec == NULL && changes->region == NULL && copying->copy.include == NULL &&
           copying->copy.exclude == NULL && !copying->copy.resume;
}

static void report_full(const tool_copying *copying, int64_t needed, int64_t available)
{
    char *needed_size = text_of_size(needed), *free_size = text_of_size(available);
    report_error(copying->request->operands[1],
                 "there is too little space: the source takes %s as it is stored, but "
                 "only %s is free here; make room, or copy elsewhere",
                 needed_size, free_size);
    free(needed_size);
    free(free_size);
}

static void print_space(int64_t needed, int64_t available)
{
    char *needed_size = needed >= 0 ? text_of_size(needed) : text_format("an unknown amount");
    char *free_size = text_of_size(available);
    printf("space     the source takes %s as it is stored; %s free\n", needed_size, free_size);
    free(needed_size);
    free(free_size);
}

bool space_check(tool_copying *copying)
{
    const tool_request *request = copying->request;
    int64_t needed, available, is_enough = 1;
    if (request->rank == 0) {
        needed = source_bytes(copying);
        available = free_bytes(copying->target.store);
        if (request->flags & TOOL_DRY_RUN && !(request->flags & (TOOL_JSON | TOOL_QUIET)))
            print_space(needed, available);
        /* Chunks of another shape may be smaller: less than half is surely too little. */
        if (is_comparable(copying) && available < needed / 2 && !(request->flags & TOOL_DRY_RUN))
            is_enough = 0;
        if (!is_enough)
            report_full(copying, needed, available);
        copying->copy.no_probe = copying->copy.no_probe || available < needed / 2;
    }
    ranks_share(request, &copying->copy.no_probe, sizeof copying->copy.no_probe);
    return ranks_least(request, is_enough) == 1;
}
