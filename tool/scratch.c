#include "scratch.h"
#include "memory.h"
#include "report.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *scratch_make(const char *parent, const char *verb)
{
    char *directory = text_format("%s/parapet-%s-XXXXXX", parent, verb);
    if (mkdtemp(directory) != NULL)
        return directory;
    report_error(parent, "cannot create a directory in it: %s", strerror(errno));
    free(directory);
    return NULL;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

void scratch_remove(const char *directory)
{
    if (nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0)
        report_error(directory, "cannot be removed: %s", strerror(errno));
}
