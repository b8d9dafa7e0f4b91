/* make_digest_stores.c - makes the fixed set of stores whose digests are recorded; see digest.py.
 *
 *     make_digest_stores libraries             the versions that compressed bytes depend on
 *     make_digest_stores alone FOLDER CASES    all stores, in this process and without MPI
 *     make_digest_stores ranks FOLDER CASES    under the launcher: what does not depend on the number of ranks
 *
 * CASES is tests/conformance. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bed.h"

static void make_all(const digest_bed *bed)
{
    make_types(bed);
    make_codecs(bed);
    make_tree(bed);
    make_changed(bed);
    make_series(bed);
    make_checkpoints(bed);
}

/* Ends like a process that is killed: what is open is not closed. */
static int make_alone(const char *folder, const char *cases)
{
    digest_bed bed = {.folder = folder, .cases = cases, .comm = MPI_COMM_NULL, .rank_count = 1, .is_alone = true};
    make_all(&bed);
    make_copies(&bed);
    make_foreign(&bed);
    interrupt_copies(&bed);
    abandon_series(&bed);
    abandon_checkpoints(&bed);
    _exit(0);
}

static int make_on_ranks(const char *folder, const char *cases)
{
    digest_bed bed = {.folder = folder, .cases = cases, .comm = MPI_COMM_WORLD};
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(bed.comm, &bed.rank);
    MPI_Comm_size(bed.comm, &bed.rank_count);
    make_all(&bed);
    MPI_Finalize();
    return 0;
}

/* Of parapet_version, the lines of libraries that compress. */
static int print_libraries(void)
{
    static const char *const names[] = {"zstd ", "libdeflate ", "blosc ", "lz4 "};
    const char *line = parapet_version();
    size_t i, bytes;
    for (; *line != '\0'; line += bytes + (line[bytes] == '\n')) {
        bytes = strcspn(line, "\n");
        for (i = 0; i < sizeof names / sizeof names[0]; i++)
            if (strncmp(line, names[i], strlen(names[i])) == 0)
                printf("%.*s\n", (int)bytes, line);
    }
    return 0;
}

int main(int count, char **words)
{
    if (count == 2 && strcmp(words[1], "libraries") == 0)
        return print_libraries();
    if (count == 4 && strcmp(words[1], "alone") == 0)
        return make_alone(words[2], words[3]);
    if (count == 4 && strcmp(words[1], "ranks") == 0)
        return make_on_ranks(words[2], words[3]);
    fprintf(stderr, "usage: make_digest_stores libraries | alone FOLDER CASES | ranks FOLDER CASES\n");
    return 2;
}
