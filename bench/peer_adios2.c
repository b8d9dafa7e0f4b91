/* ADIOS2, on the case of case.h: its own format BP5, a directory of files. With its default aggregation some ranks of
 * a node write for the others; with the other one every rank writes a file. */
#define ADIOS2_USE_MPI 1
#include "case.h"

#include <adios2_c.h>
#include <dirent.h>
#include <stdio.h>

static void must(adios2_error error, const char *what)
{
    if (error != adios2_error_none)
        bench_die("ADIOS2", what);
}

static void *must_exist(void *handle, const char *what)
{
    if (handle == NULL)
        bench_die("ADIOS2 has no", what);
    return handle;
}

static void block_of(const bench_case *c, size_t shape[3], size_t start[3], size_t count[3])
{
    for (int d = 0; d < 3; d++) {
        shape[d] = (size_t)c->shape[d];
        start[d] = (size_t)c->start[d];
        count[d] = (size_t)c->count[d];
    }
}

static adios2_io *declare(adios2_adios *library)
{
    adios2_io *io = must_exist(adios2_declare_io(library, "bench"), "description of a file");
    must(adios2_set_engine(io, "BP5"), "choosing its format");
    return io;
}

/* Each rank flushes some of the files: the library leaves that to the system. */
static void flush_files(const bench_case *c, const char *directory)
{
    char path[2 * BENCH_PATH_BYTES];
    DIR *list;
    int number = 0;
    bench_wait_for_all();
    if ((list = opendir(directory)) == NULL)
        bench_die("cannot list", directory);
    for (const struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        if (entry->d_name[0] == '.' || number++ % c->rank_count != c->rank)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        bench_flush(path);
    }
    (void)closedir(list);
}

static void write_with(const bench_case *c, const char *aggregation)
{
    char path[BENCH_PATH_BYTES];
    size_t shape[3], start[3], count[3];
    adios2_adios *library = must_exist(adios2_init_mpi(MPI_COMM_WORLD), "library");
    adios2_io *io = declare(library);
    adios2_variable *variable;
    adios2_engine *engine;
    adios2_step_status ready;
    block_of(c, shape, start, count);
    bench_path(c, "adios2.bp", path);
    if (aggregation != NULL)
        must(adios2_set_parameter(io, "AggregationType", aggregation), aggregation);
    variable = must_exist(
        adios2_define_variable(io, "a", adios2_type_double, 3, shape, start, count, adios2_constant_dims_true),
        "variable");
    engine = must_exist(adios2_open(io, path, adios2_mode_write), "file");
    must(adios2_begin_step(engine, adios2_step_mode_append, -1.0F, &ready), "beginning a step");
    must(adios2_put(engine, variable, c->data, adios2_mode_deferred), "writing");
    must(adios2_end_step(engine), "ending a step");
    must(adios2_close(engine), "closing");
    flush_files(c, path);
    must(adios2_finalize(library), "ending");
}

static void write_aggregated(const bench_case *c)
{
    write_with(c, NULL);
}

static void write_everyone(const bench_case *c)
{
    write_with(c, "EveryoneWrites");
}

static void read_array(const bench_case *c)
{
    char path[BENCH_PATH_BYTES];
    size_t shape[3], start[3], count[3];
    adios2_adios *library = must_exist(adios2_init_mpi(MPI_COMM_WORLD), "library");
    adios2_io *io = declare(library);
    adios2_variable *variable;
    adios2_engine *engine;
    block_of(c, shape, start, count);
    bench_path(c, "adios2.bp", path);
    engine = must_exist(adios2_open(io, path, adios2_mode_readRandomAccess), "file");
    variable = must_exist(adios2_inquire_variable(io, "a"), "variable");
    must(adios2_set_selection(variable, 3, start, count), "selecting");
    must(adios2_get(engine, variable, c->data, adios2_mode_sync), "reading");
    must(adios2_close(engine), "closing");
    must(adios2_finalize(library), "ending");
}

int main(int argc, char **argv)
{
    static const bench_method methods[] = {{.name = "aggregated", .write = write_aggregated, .read = read_array},
                                           {.name = "everyone", .write = write_everyone, .read = read_array},
                                           {0}};
    return bench_main(argc, argv, methods);
}
