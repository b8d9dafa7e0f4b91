/* Parallel HDF5, on the case of case.h: one file, collective transfers, no fill values written.
 *
 *   contiguous   the array in C order
 *   chunked      words: chunks=64x64x64 */
#include "case.h"

#include <hdf5.h>

static hid_t must(hid_t result, const char *what)
{
    if (result < 0)
        bench_die(what, "HDF5 failed");
    return result;
}

static void to_sizes(const int64_t from[3], hsize_t to[3])
{
    for (int d = 0; d < 3; d++)
        to[d] = (hsize_t)from[d];
}

/* Selects the rank's block in the file and moves it, collectively. */
static void transfer(const bench_case *c, hid_t dataset, int is_write)
{
    hsize_t start[3], count[3];
    hid_t memory, space = must(H5Dget_space(dataset), "space"), how = must(H5Pcreate(H5P_DATASET_XFER), "transfer");
    to_sizes(c->start, start);
    to_sizes(c->count, count);
    memory = must(H5Screate_simple(3, count, NULL), "memory space");
    must(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL), "selection");
    must(H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE), "collective transfer");
    if (is_write)
        must(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, how, c->data), "writing");
    else
        must(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, how, c->data), "reading");
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(how);
}

static hid_t file_access(void)
{
    hid_t access = must(H5Pcreate(H5P_FILE_ACCESS), "access");
    must(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "MPI-IO access");
    return access;
}

static void write_array(const bench_case *c, const char *chunks_text)
{
    char path[BENCH_PATH_BYTES];
    int64_t chunks[3];
    hsize_t shape[3], chunk_shape[3];
    hid_t access = file_access(), file, space, layout = must(H5Pcreate(H5P_DATASET_CREATE), "layout"), dataset;
    bench_path(c, "hdf5.h5", path);
    to_sizes(c->shape, shape);
    must(H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER), "fill time");
    if (chunks_text != NULL) {
        bench_parse_triple(chunks_text, chunks);
        to_sizes(chunks, chunk_shape);
        must(H5Pset_chunk(layout, 3, chunk_shape), "chunks");
    }
    file = must(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access), path);
    space = must(H5Screate_simple(3, shape, NULL), "space");
    dataset = must(H5Dcreate(file, "a", H5T_IEEE_F64LE, space, H5P_DEFAULT, layout, H5P_DEFAULT), "dataset");
    transfer(c, dataset, 1);
    must(H5Dclose(dataset), "closing the dataset");
    must(H5Fclose(file), "closing the file");
    H5Sclose(space);
    H5Pclose(layout);
    H5Pclose(access);
    bench_flush_shared(c, path);
}

static void write_contiguous(const bench_case *c)
{
    write_array(c, NULL);
}

static void write_chunked(const bench_case *c)
{
    write_array(c, bench_option(c, "chunks", "64x64x64"));
}

static void read_array(const bench_case *c)
{
    char path[BENCH_PATH_BYTES];
    hid_t access = file_access(), file, dataset;
    bench_path(c, "hdf5.h5", path);
    file = must(H5Fopen(path, H5F_ACC_RDONLY, access), path);
    dataset = must(H5Dopen(file, "a", H5P_DEFAULT), "dataset");
    transfer(c, dataset, 0);
    must(H5Dclose(dataset), "closing the dataset");
    must(H5Fclose(file), "closing the file");
    H5Pclose(access);
}

int main(int argc, char **argv)
{
    static const bench_method methods[] = {{.name = "contiguous", .write = write_contiguous, .read = read_array},
                                           {.name = "chunked", .write = write_chunked, .read = read_array},
                                           {0}};
    return bench_main(argc, argv, methods);
}
