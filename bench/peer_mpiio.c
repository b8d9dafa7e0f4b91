/* MPI-IO, on the case of case.h: one file in C order, each rank's block a subarray view, collective calls.
 *
 *   collective   words: aggregators=2 (ROMIO's default is one per node) */
#include "case.h"

#include <stdio.h>

static void must(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    bench_die(what, text);
}

static MPI_Info hints(const bench_case *c)
{
    const char *aggregators = bench_option(c, "aggregators", NULL);
    char per_node[32];
    MPI_Info info;
    if (aggregators == NULL)
        return MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", aggregators);
    (void)snprintf(per_node, sizeof per_node, "*:%s", aggregators);
    MPI_Info_set(info, "cb_config_list", per_node);
    return info;
}

static MPI_Datatype open_view(const bench_case *c, int mode, MPI_File *file)
{
    char path[BENCH_PATH_BYTES];
    int shape[3], start[3], count[3];
    MPI_Datatype block;
    MPI_Info info = hints(c);
    for (int d = 0; d < 3; d++) {
        shape[d] = (int)c->shape[d];
        start[d] = (int)c->start[d];
        count[d] = (int)c->count[d];
    }
    bench_path(c, "mpiio.bin", path);
    MPI_Type_create_subarray(3, shape, count, start, MPI_ORDER_C, MPI_DOUBLE, &block);
    MPI_Type_commit(&block);
    must(MPI_File_open(MPI_COMM_WORLD, path, mode, info, file), path);
    must(MPI_File_set_view(*file, 0, MPI_DOUBLE, block, "native", MPI_INFO_NULL), "setting the view");
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return block;
}

static int elements(const bench_case *c)
{
    return (int)(c->bytes / sizeof(double));
}

static void write_collective(const bench_case *c)
{
    MPI_File file;
    MPI_Datatype block = open_view(c, MPI_MODE_CREATE | MPI_MODE_WRONLY, &file);
    must(MPI_File_write_all(file, c->data, elements(c), MPI_DOUBLE, MPI_STATUS_IGNORE), "writing");
    must(MPI_File_sync(file), "flushing");
    must(MPI_File_close(&file), "closing");
    MPI_Type_free(&block);
}

static void read_collective(const bench_case *c)
{
    MPI_File file;
    MPI_Datatype block = open_view(c, MPI_MODE_RDONLY, &file);
    must(MPI_File_read_all(file, c->data, elements(c), MPI_DOUBLE, MPI_STATUS_IGNORE), "reading");
    must(MPI_File_close(&file), "closing");
    MPI_Type_free(&block);
}

int main(int argc, char **argv)
{
    static const bench_method methods[] = {{.name = "collective", .write = write_collective, .read = read_collective},
                                           {0}};
    return bench_main(argc, argv, methods);
}
