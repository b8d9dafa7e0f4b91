#include "report.h"
#include "verbs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tool_flag flags[] = {
    {0, 0, NULL, NULL},
};

/* The program is another one: only it links HDF5. It returns if there is none at that path. */
static void become(const char *program, const char *file)
{
    char *const words[] = {(char *)(size_t)program, (char *)(size_t)file, NULL};
    if (program != NULL && program[0] != '\0')
        (void)execv(program, words);
}

/* Where this tool was installed, or built, the program is beside it. */
static void become_neighbour(const char *file)
{
    char own[PATH_MAX], path[PATH_MAX + sizeof PARAPET_PLACES_FROM_BIN];
    ssize_t bytes = readlink("/proc/self/exe", own, sizeof own - 1);
    char *slash;
    if (bytes <= 0)
        return;
    own[bytes] = '\0';
    if ((slash = strrchr(own, '/')) == NULL)
        return;
    slash[1] = '\0';
    (void)snprintf(path, sizeof path, "%s%s", own, PARAPET_PLACES_FROM_BIN);
    become(path, file);
}

static int run(const tool_request *request)
{
    const char *file = request->operands[0];
    if (request->working != RANKS_NONE) {
        report_error(file, "this verb becomes another program: run it without a launcher");
        return TOOL_FAILED;
    }
    fflush(stdout);
    become(getenv("PARAPET_PLACES"), file);
    become_neighbour(file);
    become(PARAPET_PLACES_PATH, file);
    report_error(file,
                 "the program parapet-places, which reads HDF5, is not there (%s: %s): build Parapet where HDF5 is "
                 "installed, as libhdf5-dev of Debian does it",
                 PARAPET_PLACES_PATH, strerror(errno));
    return TOOL_FAILED;
}

const tool_verb verb_places = {
    .name = "places",
    .operands = "FILE",
    .summary = "Prints where the chunks of an HDF5 or netCDF-4 file are.",
    .details = "The table can then be given together with the file, also where there is no\n"
               "HDF5:\n"
               "  parapet places x.nc > x.places\n"
               "  parapet copy places:x.places:x.nc x.zarr\n",
    .exit_codes = "0 printed, 1 the file cannot be read, 2 wrong usage.",
    .flags = flags,
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
