/* Parallel HDF5 saving the state of state.h: one file, a dataset for each array, no fill values written, H5Fflush and
 * fsync.
 *
 *   contiguous   every dataset in C order
 *   blocks       a chunk is the block of a rank, so that each rank writes in one piece
 *
 *   words: transfer=independent (else collective) */
#include <hdf5.h>
#include <string.h>

#include "state.h"

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

static hid_t transfer_mode(const bench_case *c)
{
    hid_t how = must(H5Pcreate(H5P_DATASET_XFER), "transfer");
    int is_independent = strcmp(bench_option(c, "transfer", "collective"), "independent") == 0;
    must(H5Pset_dxpl_mpio(how, is_independent ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE), "transfer mode");
    return how;
}

static void transfer(const bench_array *array, hid_t dataset, hid_t how, int is_write)
{
    hsize_t start[3], count[3];
    hid_t memory, space = must(H5Dget_space(dataset), "space");
    to_sizes(array->start, start);
    to_sizes(array->count, count);
    memory = must(H5Screate_simple(3, count, NULL), "memory space");
    must(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL), "selection");
    if (is_write)
        must(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, how, array->data), "writing");
    else
        must(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, how, array->data), "reading");
    H5Sclose(memory);
    H5Sclose(space);
}

static hid_t create_dataset(hid_t file, const bench_array *array, int has_chunks)
{
    hsize_t shape[3], chunks[3];
    hid_t layout = must(H5Pcreate(H5P_DATASET_CREATE), "layout"), space, dataset;
    to_sizes(array->shape, shape);
    to_sizes(array->count, chunks);
    must(H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER), "fill time");
    if (has_chunks)
        must(H5Pset_chunk(layout, 3, chunks), "chunks");
    space = must(H5Screate_simple(3, shape, NULL), "space");
    dataset = must(H5Dcreate(file, array->name, H5T_IEEE_F64LE, space, H5P_DEFAULT, layout, H5P_DEFAULT), "dataset");
    H5Sclose(space);
    H5Pclose(layout);
    return dataset;
}

static hid_t file_access(void)
{
    hid_t access = must(H5Pcreate(H5P_FILE_ACCESS), "access");
    must(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "MPI-IO access");
    return access;
}

static void write_state(const bench_case *c, int has_chunks)
{
    char path[BENCH_PATH_BYTES];
    bench_array arrays[BENCH_ARRAY_COUNT];
    hid_t access = file_access(), how = transfer_mode(c), file;
    bench_path(c, "state.h5", path);
    bench_state_arrays(c, arrays);
    file = must(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access), path);
    for (int i = 0; i < BENCH_ARRAY_COUNT; i++) {
        hid_t dataset = create_dataset(file, &arrays[i], has_chunks);
        transfer(&arrays[i], dataset, how, 1);
        must(H5Dclose(dataset), "closing a dataset");
    }
    must(H5Fflush(file, H5F_SCOPE_GLOBAL), "flushing the file");
    must(H5Fclose(file), "closing the file");
    H5Pclose(how);
    H5Pclose(access);
    bench_flush_shared(c, path);
}

static void write_contiguous(const bench_case *c)
{
    write_state(c, 0);
}

static void write_blocks(const bench_case *c)
{
    write_state(c, 1);
}

static void read_state(const bench_case *c)
{
    char path[BENCH_PATH_BYTES];
    bench_array arrays[BENCH_ARRAY_COUNT];
    hid_t access = file_access(), how = transfer_mode(c), file;
    bench_path(c, "state.h5", path);
    bench_state_arrays(c, arrays);
    file = must(H5Fopen(path, H5F_ACC_RDONLY, access), path);
    for (int i = 0; i < BENCH_ARRAY_COUNT; i++) {
        hid_t dataset = must(H5Dopen(file, arrays[i].name, H5P_DEFAULT), "dataset");
        transfer(&arrays[i], dataset, how, 0);
        must(H5Dclose(dataset), "closing a dataset");
    }
    must(H5Fclose(file), "closing the file");
    H5Pclose(how);
    H5Pclose(access);
}

int main(int argc, char **argv)
{
    static const bench_method methods[] = {{.name = "contiguous", .write = write_contiguous, .read = read_state},
                                           {.name = "blocks", .write = write_blocks, .read = read_state},
                                           {0}};
    return bench_main(argc, argv, methods);
}
