/* Reads one array of a file, its rows divided among the ranks, and prints how many seconds that took.
 *
 *   mpiexec -n RANKS bench_files_read parapet FILE ARRAY ROWS COLUMNS
 *   mpiexec -n RANKS bench_files_read pread FILE OFFSET ROWS COLUMNS
 *
 * Elements are doubles. "pread" reads the same ranges of the file by the same ranks into the same kind of memory, and
 * does nothing to them. The file is open, and the memory touched, before the clock starts. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case.h"
#include "parapet.h"

typedef struct job {
    const char *file, *where;
    int64_t columns, start[2], count[2];
    double *data;
    parapet_store *store;
    parapet_array *array;
    int descriptor;
} job;

static job j;

static void check(parapet_status status)
{
    if (status != PARAPET_OK)
        bench_die(j.file, parapet_error_message());
}

static void open_array(void)
{
    check(parapet_store_open(&j.store, MPI_COMM_WORLD, j.file, PARAPET_READ, NULL));
    check(parapet_array_open(&j.array, j.store, j.where));
}

static void read_array(const bench_case *c)
{
    const parapet_part part = {.ndim = 2, .start = j.start, .count = j.count, .data = j.data};
    (void)c;
    check(parapet_array_read(j.array, &part, 1));
}

static void open_bare(void)
{
    j.descriptor = open(j.file, O_RDONLY | O_CLOEXEC);
    if (j.descriptor < 0)
        bench_die(j.file, strerror(errno));
}

static void read_bare(const bench_case *c)
{
    const size_t most = (size_t)4 << 20;
    size_t bytes = (size_t)(j.count[0] * j.columns) * sizeof(double), done = 0;
    off_t first = (off_t)atoll(j.where) + (off_t)(j.start[0] * j.columns) * (off_t)sizeof(double);
    (void)c;
    while (done < bytes) {
        size_t piece = bytes - done < most ? bytes - done : most;
        ssize_t got = pread(j.descriptor, (char *)j.data + done, piece, first + (off_t)done);
        if (got <= 0)
            bench_die(j.file, got < 0 ? strerror(errno) : "too short");
        done += (size_t)got;
    }
}

static void divide(int rank, int ranks, int64_t rows)
{
    j.start[0] = rows * rank / ranks;
    j.count[0] = rows * (rank + 1) / ranks - j.start[0];
    j.count[1] = j.columns;
    j.data = malloc((size_t)(j.count[0] * j.columns) * sizeof *j.data);
    if (j.data == NULL)
        bench_die("memory", "there is too little");
    memset(j.data, 1, (size_t)(j.count[0] * j.columns) * sizeof *j.data);
}

int main(int argc, char **argv)
{
    bench_case c = {0};
    bool is_parapet;
    double seconds;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c.rank_count);
    if (argc != 6)
        bench_die(argv[0], "METHOD FILE ARRAY-OR-OFFSET ROWS COLUMNS");
    is_parapet = strcmp(argv[1], "parapet") == 0;
    j = (job){.file = argv[2], .where = argv[3], .columns = atoll(argv[5])};
    divide(c.rank, c.rank_count, atoll(argv[4]));
    if (is_parapet)
        open_array();
    else
        open_bare();
    seconds = bench_time_of(is_parapet ? read_array : read_bare, &c);
    if (c.rank == 0)
        printf("%.6f %.17g\n", seconds, j.data[1]);
    free(j.data);
    if (is_parapet) {
        check(parapet_array_close(&j.array));
        check(parapet_store_close(&j.store));
    }
    MPI_Finalize();
    return 0;
}
