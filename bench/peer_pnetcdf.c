/* PnetCDF, on the case of case.h: one CDF-5 file, collective calls. */
#include "case.h"

#include <pnetcdf.h>

static void must(int code, const char *what)
{
    if (code != NC_NOERR)
        bench_die(what, ncmpi_strerror(code));
}

static void block_of(const bench_case *c, MPI_Offset start[3], MPI_Offset count[3])
{
    for (int d = 0; d < 3; d++) {
        start[d] = (MPI_Offset)c->start[d];
        count[d] = (MPI_Offset)c->count[d];
    }
}

static void write_array(const bench_case *c)
{
    static const char *const names[3] = {"i", "j", "k"};
    char path[BENCH_PATH_BYTES];
    int file, variable, dimensions[3];
    MPI_Offset start[3], count[3];
    block_of(c, start, count);
    bench_path(c, "pnetcdf.nc", path);
    must(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file), path);
    for (int d = 0; d < 3; d++)
        must(ncmpi_def_dim(file, names[d], (MPI_Offset)c->shape[d], &dimensions[d]), names[d]);
    must(ncmpi_def_var(file, "a", NC_DOUBLE, 3, dimensions, &variable), "the variable");
    must(ncmpi_enddef(file), "end of definitions");
    must(ncmpi_put_vara_double_all(file, variable, start, count, c->data), "writing");
    must(ncmpi_close(file), "closing");
    bench_flush_shared(c, path);
}

static void read_array(const bench_case *c)
{
    char path[BENCH_PATH_BYTES];
    int file, variable;
    MPI_Offset start[3], count[3];
    block_of(c, start, count);
    bench_path(c, "pnetcdf.nc", path);
    must(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file), path);
    must(ncmpi_inq_varid(file, "a", &variable), "the variable");
    must(ncmpi_get_vara_double_all(file, variable, start, count, c->data), "reading");
    must(ncmpi_close(file), "closing");
}

int main(int argc, char **argv)
{
    static const bench_method methods[] = {{.name = "collective", .write = write_array, .read = read_array}, {0}};
    return bench_main(argc, argv, methods);
}
