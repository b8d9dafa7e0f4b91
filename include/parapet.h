/* parapet.h - large multidimensional arrays on storage, for MPI programs. This header and its parts are the manual.
 *
 * A store is a Zarr v3 hierarchy: a directory of groups and arrays that xarray, zarr-python, TensorStore and
 * zarrita open without a plug-in. An array is divided into chunks, the unit of compression and of reading; many
 * chunks share one stored object, a shard. To read or write, a program names a box of the index space and the memory
 * that holds it. Chunk and shard shapes never have to match how the program distributes or lays out its data.
 *
 * Four ranks, each of which holds 250 rows, write one array:
 *
 *     parapet_store *store = NULL;
 *     parapet_array *density = NULL;
 *     int64_t shape[2] = {1000, 2000}, start[2] = {250 * rank, 0}, count[2] = {250, 2000};
 *     parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 2, .shape = shape};
 *     parapet_part part = {.ndim = 2, .start = start, .count = count, .data = values};
 *
 *     parapet_store_open(&store, MPI_COMM_WORLD, "run.zarr", PARAPET_CREATE, NULL);
 *     parapet_array_create(&density, store, "density", &spec);
 *     parapet_array_write(density, &part, 1);
 *     parapet_array_close(&density);
 *     parapet_store_close(&store);
 *
 * The contract of every function
 *  - A function that can fail returns a parapet_status: PARAPET_OK (0) or an error. After an error,
 *    parapet_error_message() returns one sentence that says what failed, where and why.
 *  - Every rank of the store's communicator calls a function marked [collective], in the same order, and gets the
 *    same status. A function marked [local] concerns only the process that calls it.
 *  - Handles are opaque. Each open or create pairs with a close, which frees the handle and sets it to NULL even
 *    when it reports an error. There are two exceptions: a store is not closed while something in it is open, and
 *    if the ranks made different calls, none of them closes anything. Closing a NULL handle is not an error.
 *  - The library duplicates the communicator, never prints, never aborts, and sends nothing over
 *    MPI_COMM_WORLD.
 *  - All public structs may be initialised with {0}, in C and in C++. Zero means "choose for me" in every field
 *    except ndim, which the program must always set. The reserved words must stay zero; they let the structs grow
 *    without breaking programs compiled earlier.
 *  - A boolean is an int, in structs and parameters alike: 0 is no, 1 is yes, and any other value is
 *    PARAPET_ERR_ARGUMENT. A choice is an enum whose 0 is PARAPET_<NAME>_CHOOSE. In text, a boolean is "yes", "no",
 *    "true" or "false", and a choice is the last part of the enum's name in lower case; the number works for both.
 *
 * What is promised about the data
 *  - A shard is written under a temporary name, checked, flushed to the device and renamed into place: a crash
 *    at any instant leaves every shard whole, old or new. This is the default.
 *  - Every chunk and every shard index carries a CRC-32C, which is verified before the data is used. This is the
 *    default; see no_checksum and ignore_checksums.
 *  - A chunk that was never written reads as the fill value. In an array that is not sealed, so does a shard that was
 *    lost, and a swapped or stale shard or a changed zarr.json may go unnoticed. After parapet_array_seal, each of
 *    these is an error. The arrays of a checkpoint are sealed; other arrays are not, unless the program seals them.
 *
 * Callbacks and threads
 *  - A callback, of progress or of a listing, cannot make a call on the store whose call it is in, nor close anything
 *    of it: that is PARAPET_ERR_ARGUMENT, and nothing has happened. Only parapet_request_test works. Note what is to
 *    be done, and do it when the call has returned. Other stores can be used.
 *  - One thread at a time makes collective calls on a store. A second one is PARAPET_ERR_ARGUMENT, on all ranks if
 *    MPI was started with MPI_THREAD_MULTIPLE. A local call waits until that of another thread has returned, or is in
 *    a callback; local reads and parapet_request_test do not wait.
 *  - A forked child of a process alone can use its stores, unless a call was under way on another thread, or a
 *    request was running. A child of one rank of several can make local calls only, and parapet_array_parts_build
 *    calls MPI. What it cannot do is PARAPET_ERR_ARGUMENT.
 *
 * A store works on any communicator. MPI_COMM_NULL means this process alone, for a program that has not started MPI.
 * MPI_THREAD_SINGLE is enough; with MPI_THREAD_FUNNELED or more, storage and encoding run on separate threads. */
#ifndef PARAPET_H
#define PARAPET_H

/* The parts, in the order in which to read them. A program includes this header alone; the parts let a file of the
 * library name what it uses, so that a change of one part compiles only what depends on that. */

/* The status of a call and its sentence; which library this is. */
#include <parapet_status.h>

/* Which MPI; handles; the types of elements. */
#include <parapet_types.h>

/* Stores: their options, opening and closing, statistics. */
#include <parapet_store.h>

/* What is in a store: groups, arrays, distributions, copies, files of other formats, checkpoints, series, checks. */
#include <parapet_arrays.h>

#endif
