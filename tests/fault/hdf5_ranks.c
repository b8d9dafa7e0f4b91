/* hdf5_ranks.c - the same state as in checkpoint_ranks.c, saved with parallel HDF5 as many codes do, to be killed.
 *
 *     hdf5_ranks truncate FOLDER TAG COUNT     FOLDER/store/state.h5 is created anew for every state
 *     hdf5_ranks overwrite FOLDER TAG COUNT    it is opened, and its datasets are written again
 *     hdf5_ranks verify FOLDER                 what is there
 *
 * Prints and notes as there; the generation is the tag. */
#include <hdf5.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kill_subject.h"

static char path[600];

static hid_t must(hid_t result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "hdf5_ranks: %s failed\n", what);
        exit(1);
    }
    return result;
}

static void to_sizes(int ndim, const int64_t *from, hsize_t *to)
{
    int d;
    for (d = 0; d < ndim; d++)
        to[d] = (hsize_t)from[d];
}

/* A dataset's place in the file, and this rank's block of it. */
typedef struct field {
    const char *name;
    int ndim;
    const int64_t *shape, *start, *count;
    hid_t type;
    void *data;
} field;

static const int64_t u_shape[3] = {KILL_EDGE, KILL_EDGE, KILL_EDGE}, v_shape[1] = {KILL_LENGTH};

static void describe(kill_state *state, field fields[2])
{
    fields[0] = (field){.name = "u",
                        .ndim = 3,
                        .shape = u_shape,
                        .start = state->u_start,
                        .count = state->u_count,
                        .type = H5T_NATIVE_DOUBLE,
                        .data = state->u};
    fields[1] = (field){.name = "v",
                        .ndim = 1,
                        .shape = v_shape,
                        .start = state->v_start,
                        .count = state->v_count,
                        .type = H5T_NATIVE_INT32,
                        .data = state->v};
}

/* Moves this rank's block, all ranks together. */
static herr_t transfer(const field *of, hid_t dataset, int is_write)
{
    hsize_t start[3], count[3];
    hid_t memory, space = must(H5Dget_space(dataset), "space"), how = must(H5Pcreate(H5P_DATASET_XFER), "transfer");
    herr_t result;
    to_sizes(of->ndim, of->start, start);
    to_sizes(of->ndim, of->count, count);
    memory = must(H5Screate_simple(of->ndim, count, NULL), "memory space");
    must(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL), "selection");
    must(H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE), "collective transfer");
    result = is_write ? H5Dwrite(dataset, of->type, memory, space, how, of->data)
                      : H5Dread(dataset, of->type, memory, space, how, of->data);
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(how);
    return result;
}

static void create_objects(hid_t file, const field fields[2])
{
    hsize_t shape[3];
    hid_t space, scalar = must(H5Screate(H5S_SCALAR), "scalar");
    int i;
    for (i = 0; i < 2; i++) {
        to_sizes(fields[i].ndim, fields[i].shape, shape);
        space = must(H5Screate_simple(fields[i].ndim, shape, NULL), "space");
        must(H5Dclose(
                 must(H5Dcreate(file, fields[i].name, fields[i].type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                      "dataset")),
             "closing a dataset");
        H5Sclose(space);
    }
    must(H5Aclose(must(H5Acreate(file, "tag", H5T_NATIVE_INT64, scalar, H5P_DEFAULT, H5P_DEFAULT), "attribute")),
         "closing an attribute");
    H5Sclose(scalar);
}

static void save(kill_state *state, int64_t tag, int truncates)
{
    hid_t access = must(H5Pcreate(H5P_FILE_ACCESS), "access"), file, dataset, attribute;
    field fields[2];
    int i;
    describe(state, fields);
    must(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "MPI-IO access");
    file = truncates ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access) : H5Fopen(path, H5F_ACC_RDWR, access);
    must(file, path);
    if (truncates)
        create_objects(file, fields);
    for (i = 0; i < 2; i++) {
        dataset = must(H5Dopen(file, fields[i].name, H5P_DEFAULT), "opening a dataset");
        must(transfer(&fields[i], dataset, 1), "writing");
        must(H5Dclose(dataset), "closing a dataset");
    }
    attribute = must(H5Aopen(file, "tag", H5P_DEFAULT), "opening an attribute");
    must(H5Awrite(attribute, H5T_NATIVE_INT64, &tag), "writing an attribute");
    must(H5Aclose(attribute), "closing an attribute");
    must(H5Fflush(file, H5F_SCOPE_GLOBAL), "flushing");
    must(H5Fclose(file), "closing the file");
    H5Pclose(access);
}

static void make(const char *folder, int64_t tag, int64_t count, int truncates)
{
    int64_t end = tag + count;
    kill_state state;
    kill_state_build(&state, 0);
    for (; tag < end; tag++) {
        kill_state_fill(&state, tag);
        kill_note(folder, "begin", tag, tag);
        save(&state, tag, truncates);
        kill_note(folder, "done", tag, tag);
    }
    kill_state_free(&state);
    if (kill_rank == 0)
        printf("{\"status\": \"saved\"}\n");
}

/* Whether everything could be read. */
static int load(hid_t file, field fields[2], int64_t *tag)
{
    hid_t attribute = H5Aopen(file, "tag", H5P_DEFAULT), dataset;
    int i, is_good = attribute >= 0 && H5Aread(attribute, H5T_NATIVE_INT64, tag) >= 0;
    if (attribute >= 0)
        H5Aclose(attribute);
    for (i = 0; i < 2 && is_good; i++) {
        if ((dataset = H5Dopen(file, fields[i].name, H5P_DEFAULT)) < 0)
            return 0;
        is_good = transfer(&fields[i], dataset, 0) >= 0;
        H5Dclose(dataset);
    }
    return is_good;
}

static void verify(void)
{
    hid_t access = must(H5Pcreate(H5P_FILE_ACCESS), "access"), file;
    int64_t tag = 0, wrong = 0;
    kill_state state;
    field fields[2];
    int is_good;
    kill_state_build(&state, 1);
    describe(&state, fields);
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    must(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "MPI-IO access");
    file = H5Fopen(path, H5F_ACC_RDONLY, access);
    is_good = file >= 0 && load(file, fields, &tag);
    if (is_good)
        wrong = kill_state_wrong(&state, tag);
    if (file >= 0)
        H5Fclose(file);
    H5Pclose(access);
    kill_state_free(&state);
    if (kill_rank == 0)
        printf("{\"status\": \"%s\", \"tag\": %" PRId64 ", \"wrong\": %" PRId64 "}\n",
               is_good ? "readable" : "unreadable", tag, wrong);
}

int main(int argc, char **argv)
{
    if (argc < 3 || (strcmp(argv[1], "verify") != 0 && argc < 5))
        return 2;
    (void)snprintf(path, sizeof path, "%s/store/state.h5", argv[2]);
    kill_start(&argc, &argv, argv[2]);
    if (strcmp(argv[1], "verify") == 0)
        verify();
    else
        make(argv[2], strtoll(argv[3], NULL, 10), strtoll(argv[4], NULL, 10), strcmp(argv[1], "truncate") == 0);
    MPI_Finalize();
    return 0;
}
