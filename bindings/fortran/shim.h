/* shim.h - what the Fortran module calls: the API of parapet.h with Fortran's conventions.
 *
 * Fortran lists dimensions from the fastest to the slowest and counts from 1; parapet.h lists them from the slowest
 * to the fastest and counts from 0. This is the only place that converts between the two. Element memory is never
 * converted: a Fortran descriptor already says where every element is.
 *
 * It depends on parapet.h and on the ISO_Fortran_binding.h of the Fortran compiler that compiles the module. Every
 * function that can fail returns a parapet_status. An argument that only this layer can find wrong is still passed
 * on, in a form that the library refuses, because the other ranks are waiting in the same collective call. */
#ifndef PARAPET_FORTRAN_SHIM_H
#define PARAPET_FORTRAN_SHIM_H

#include <ISO_Fortran_binding.h>
#include <parapet.h>

/* ---- Sentences (shim_text.c) ---- */

/* Begins a call: forgets the sentence of an earlier one. */
void shim_begin(void);

/* Keeps a sentence of this layer, which parapet_fortran_error_message then returns instead of the library's. */
__attribute__((format(printf, 1, 2))) parapet_status shim_refuse(const char *format, ...);

/* The same for memory that is not there. */
parapet_status shim_lack_memory(void);

/* Whether a variable already has something open, which would be lost; then refuses, with its noun: "array". */
int shim_is_taken(const void *handle, const char *noun);

/* Returns a copy of a text that free() frees; NULL if there is no memory or no text. */
char *shim_duplicate(const char *text);

/* ---- Lists of dimensions (shim_order.c) ---- */

/* Copies ndim entries in opposite order, adding shift to each: -1 turns Fortran's indices into C's. */
void shim_reverse(int64_t *to, const int64_t *from, int ndim, int64_t shift);

/* ---- Element memory (shim_data.c) ---- */

/* A part together with the lists that it refers to. Must not be moved after shim_part_describe. */
typedef struct shim_part {
    parapet_part part;
    int64_t start[PARAPET_MAX_NDIM], count[PARAPET_MAX_NDIM], strides[PARAPET_MAX_NDIM];
} shim_part;

/* Where data is to go: indices from 1 in Fortran order; a count of -1: no start was given, and all are 1. */
typedef struct shim_place {
    const int64_t *start;
    int count;
} shim_place;

/* Describes Fortran memory as a part of an array of this type (PARAPET_TYPE_OF_ARRAY: of any). Memory with fewer
 * dimensions than start is a slab: its missing dimensions, the last ones, have one element each. Returns how many
 * parts that is: 0 if the memory has no elements, else 1. */
int shim_part_describe(shim_part *self, const CFI_cdesc_t *data, shim_place place, parapet_type type);

/* Returns the type of the elements of a descriptor, or -1 if Parapet has none for it. */
int shim_data_type(const CFI_cdesc_t *data);

/* Whether memory of one type can hold elements of an array of the other. Fortran has no unsigned integers, dates or
 * half precision: integers of the same size hold their bits. */
int shim_type_fits(parapet_type memory, parapet_type array);

/* ---- Descriptions of arrays (shim_spec.c) ---- */

/* A parapet_array_spec that owns everything it refers to. */
typedef struct shim_spec {
    parapet_array_spec spec;
    int has_steps; /* 1: the first dimension, of no elements so far, is that of the steps of a series */
    int is_wrong;  /* 1: something in it is wrong, or has no memory; the library is to refuse it */
    int64_t shape[PARAPET_MAX_NDIM], chunks[PARAPET_MAX_NDIM], shards[PARAPET_MAX_NDIM];
    char *names[PARAPET_MAX_NDIM];
    char *codec, *attributes, *time_unit;
    unsigned char fill[16];
} shim_spec;

/* ---- Lists of parts (shim_parts.c) ---- */

/* Parts, each with the name of the array it belongs to, which is "" if there is only one. */
typedef struct shim_parts {
    int count, room;
    struct shim_named_part {
        char *name;
        shim_part part;
    } * *entries;
} shim_parts;

/* Which parts of a list are wanted: those of one name, for an array of one type. */
typedef struct shim_wish {
    const char *name;
    parapet_type type;
} shim_wish;

/* Copies the parts of one name into a list that free() frees; *count tells how many there are. Memory whose elements
 * fit the array is claimed to have its type. Without memory, the list is NULL and *count is 1, which the library
 * refuses. */
parapet_part *shim_parts_select(const shim_parts *parts, shim_wish wish, int *count);

/* Whether every part has one of these names; else refuses. whole: what has the names, "the series". */
int shim_parts_are_of(const shim_parts *parts, const char *const *names, int count, const char *whole);

/* Frees selected parts and returns one that the library refuses, on all ranks. */
const parapet_part *shim_parts_spoil(const parapet_part *selected, int *count);

/* Frees selected parts, spoilt or not. */
void shim_parts_release(const parapet_part *selected);

/* ---- Notes (shim_notes.c) ---- */

/* What a visitor was called with: a number and up to two texts each time. */
typedef struct shim_notes {
    int count, room;
    int is_full; /* 1: there was no memory for one of them */
    struct shim_note {
        int64_t number;
        char *first, *second;
    } * entries;
} shim_notes;

/* Adds a note. Returns 1, which ends a listing, if there is no memory. */
int shim_notes_add(shim_notes *self, int64_t number, const char *first, const char *second);

/* Hands over what was noted to parapet_fortran_notes_free. Returns the status, or that there was no memory. */
parapet_status shim_notes_finish(shim_notes **to, const shim_notes *all, parapet_status status);

/* Frees the notes in a list. */
void shim_notes_clear(const shim_notes *self);

/* What Fortran calls, declared a second time in shim_calls.f90. A path, name or attribute is NUL-terminated. */

/* ---- Text (shim_text.c) ---- */

/* [local] Returns the sentence of the last call if it failed. */
const char *parapet_fortran_error_message(void);

/* [local] Returns a line for each component: this library, the MPI it was built with, every codec library. */
const char *parapet_fortran_version(void);

/* [local] Returns the version of the library as a number: 10203 for 1.2.3. */
int parapet_fortran_version_number(void);

/* [local] Returns the name of a type in Zarr; NULL if there is none. */
const char *parapet_fortran_type_name(int type);

/* [local] Returns the type of a name; 0 if there is none. */
int parapet_fortran_type_from_name(const char *name);

/* [local] Returns the bytes of an element of a type; 0 if the type alone does not determine them. */
int64_t parapet_fortran_type_bytes(int type);

/* [local] Returns a text with marks in place of what would disturb a terminal; parapet_fortran_free frees it. */
char *parapet_fortran_text_visible(const char *characters);

/* [local] Finds out which launcher started this process: figures are rank, count and whether it is inherited. */
parapet_status parapet_fortran_launch(int *figures, const char **flavour);

/* [local] Returns the name of a status. */
const char *parapet_fortran_status_name(int status);

/* [local] Returns the length of a text; 0 for NULL. */
int64_t parapet_fortran_text_length(const char *text);

/* [local] Copies length characters of a text. */
void parapet_fortran_text_copy(char *to, const char *text, int64_t length);

/* [local] Writes the shortest number that reads back as value, into 32 bytes. digits is 9 for single precision and 17
 * for double. */
void parapet_fortran_number_text(double value, int digits, char *text);

/* [local] Frees a text that the library allocated. */
void parapet_fortran_text_free(void *text);

/* [local] Refuses to read an attribute into a variable of another type. */
parapet_status parapet_fortran_attribute_refuse(const char *name, const char *json);

/* [local] Refuses to set an attribute of what is being read, and to get one of what is being written. */
parapet_status parapet_fortran_attribute_unreachable(const char *name);

/* ---- Descriptions of arrays (shim_spec.c) ---- */

/* [local] Begins a description of ndim dimensions; with has_steps, one more for the steps of a series comes first.
 * Returns NULL without memory. */
shim_spec *parapet_fortran_spec_build(int type, int ndim, const int64_t *shape, int has_steps);

/* [local] Frees a description. NULL is allowed. */
void parapet_fortran_spec_free(shim_spec *self);

/* [local] Sets chunks: elements along each dimension. */
void parapet_fortran_spec_chunks(shim_spec *self, const int64_t *chunks, int count);

/* [local] Sets shards: elements along each dimension. */
void parapet_fortran_spec_shards(shim_spec *self, const int64_t *shards, int count);

/* [local] Sets how many steps of a series a chunk and a shard have. */
void parapet_fortran_spec_steps(shim_spec *self, int64_t chunk_steps, int64_t shard_steps);

/* [local] Sets the names of the dimensions: count texts of length characters each, padded with blanks. */
void parapet_fortran_spec_names(shim_spec *self, const char *names, int length, int count);

/* [local] Sets the codec: "zstd:3", "none" and so on. */
void parapet_fortran_spec_codec(shim_spec *self, const char *codec);

/* [local] Sets the attributes: a JSON object. */
void parapet_fortran_spec_attributes(shim_spec *self, const char *attributes);

/* [local] Sets the unit of dates and time differences. */
void parapet_fortran_spec_time_unit(shim_spec *self, const char *unit);

/* [local] Stores every chunk as a separate object. */
void parapet_fortran_spec_unsharded(shim_spec *self);

/* [local] Leaves out the checksums of chunks. */
void parapet_fortran_spec_no_checksum(shim_spec *self);

/* [local] Replaces an existing array. */
void parapet_fortran_spec_overwrite(shim_spec *self);

/* [local] Sets the fill value: bytes of one element of this type, which must be the array's. */
void parapet_fortran_spec_fill(shim_spec *self, const void *value, int type);

/* ---- Notes (shim_notes.c) ---- */

/* [local] Returns how many notes there are; 0 for NULL. */
int parapet_fortran_notes_count(const shim_notes *self);

/* [local] Returns the number of a note, counted from 1. */
int64_t parapet_fortran_notes_number(const shim_notes *self, int index);

/* [local] Returns the first text of a note. */
const char *parapet_fortran_notes_first(const shim_notes *self, int index);

/* [local] Returns the second text of a note. */
const char *parapet_fortran_notes_second(const shim_notes *self, int index);

/* [local] Frees notes. NULL is allowed. */
void parapet_fortran_notes_free(shim_notes *self);

/* ---- Stores (shim_store.c) ---- */

/* [collective] Opens a store for this process alone. progress, or NULL, is called with the context. */
parapet_status parapet_fortran_store_open_alone(parapet_store **store, const char *path, int mode, const char *lines,
                                                parapet_progress_callback progress, void *context);

#if !defined(PARAPET_SERIAL)
/* [collective] Opens a store on a communicator, given as Fortran's integer handle. */
parapet_status parapet_fortran_store_open(parapet_store **store, int comm, const char *path, int mode,
                                          const char *lines, parapet_progress_callback progress, void *context);
#endif

/* [collective] Closes a store. */
parapet_status parapet_fortran_store_close(parapet_store **store);

/* [collective] Writes what write_back has left for later, of all arrays of the store. */
parapet_status parapet_fortran_store_flush(parapet_store *store);

/* [local] Returns the options in force as text. */
parapet_status parapet_fortran_store_options(parapet_store *store, char **text);

/* [local] Reports what the store has done, in the order of the components of the Fortran type parapet_statistics: all
 * counts, and then all times. */
parapet_status parapet_fortran_store_statistics(parapet_store *store, int64_t *counts, double *seconds);

/* [collective] Removes what crashes have left below path; notes the key of each object, and why. */
parapet_status parapet_fortran_store_collect(parapet_store *store, const char *path, int dry_run,
                                             shim_notes **removals);

/* [collective] Removes an array or, if it is recursive, a group with everything below it; notes the path of each, and
 * what it is. */
parapet_status parapet_fortran_store_remove(parapet_store *store, const char *path, int recursive, int dry_run,
                                            shim_notes **removals);

/* ---- Groups (shim_group.c) ---- */

/* [collective] Creates a group; attributes may be "". */
parapet_status parapet_fortran_group_create(parapet_group **group, parapet_store *store, const char *path,
                                            const char *attributes);

/* [collective] Opens a group. */
parapet_status parapet_fortran_group_open(parapet_group **group, parapet_store *store, const char *path);

/* [collective] Closes a group. */
parapet_status parapet_fortran_group_close(parapet_group **group);

/* [collective] Consolidates the metadata below a group. */
parapet_status parapet_fortran_group_consolidate(parapet_group *group);

/* [collective] Sets an attribute to a JSON value; "" removes it. */
parapet_status parapet_fortran_group_attribute_set(parapet_group *group, const char *name, const char *json);

/* [local] Returns an attribute as JSON; "" for the name: all of them. */
parapet_status parapet_fortran_group_attribute_get(parapet_group *group, const char *name, char **json);

/* [collective] Notes the children of a group: kind and name. */
parapet_status parapet_fortran_group_list(parapet_group *group, shim_notes **children);

/* ---- Arrays (shim_array.c) ---- */

/* [collective] Creates an array. */
parapet_status parapet_fortran_array_create(parapet_array **array, parapet_store *store, const char *path,
                                            const shim_spec *spec);

/* [collective] Opens an array. */
parapet_status parapet_fortran_array_open(parapet_array **array, parapet_store *store, const char *path);

/* [collective] Closes an array. */
parapet_status parapet_fortran_array_close(parapet_array **array);

/* [collective] Writes data to the box that begins at start. */
parapet_status parapet_fortran_array_write(parapet_array *array, const CFI_cdesc_t *data, const int64_t *start,
                                           int start_count);

/* [collective] Reads the box that begins at start into data. */
parapet_status parapet_fortran_array_read(parapet_array *array, const CFI_cdesc_t *data, const int64_t *start,
                                          int start_count);

/* [local] Reads the box that begins at start into data, on this rank alone. */
parapet_status parapet_fortran_array_read_local(parapet_array *array, const CFI_cdesc_t *data, const int64_t *start,
                                                int start_count);

/* Elements that are listed one by one (shim_listed.c): extents are those of points, or of starts and of lengths. */

/* [collective] Writes points. */
parapet_status parapet_fortran_array_write_points(parapet_array *array, const CFI_cdesc_t *data,
                                                  const int64_t *points, const int64_t *extents);

/* [collective] Writes runs of the flat index. */
parapet_status parapet_fortran_array_write_runs(parapet_array *array, const CFI_cdesc_t *data, const int64_t *starts,
                                                const int64_t *lengths, const int64_t *extents);

/* [collective] Reads points. */
parapet_status parapet_fortran_array_read_points(parapet_array *array, const CFI_cdesc_t *data, const int64_t *points,
                                                 const int64_t *extents);

/* [collective] Reads runs of the flat index. */
parapet_status parapet_fortran_array_read_runs(parapet_array *array, const CFI_cdesc_t *data, const int64_t *starts,
                                               const int64_t *lengths, const int64_t *extents);

/* [local] Reads points, on this rank alone. */
parapet_status parapet_fortran_array_read_points_local(parapet_array *array, const CFI_cdesc_t *data,
                                                       const int64_t *points, const int64_t *extents);

/* [local] Reads runs of the flat index, on this rank alone. */
parapet_status parapet_fortran_array_read_runs_local(parapet_array *array, const CFI_cdesc_t *data,
                                                     const int64_t *starts, const int64_t *lengths,
                                                     const int64_t *extents);

/* [collective] Changes the shape. */
parapet_status parapet_fortran_array_resize(parapet_array *array, const int64_t *shape, int ndim);

/* [collective] Seals an array. */
parapet_status parapet_fortran_array_seal(parapet_array *array);

/* [collective] Writes what write_back has left for later of an array. */
parapet_status parapet_fortran_array_flush(parapet_array *array);

/* [collective] Removes the seal of an array. */
parapet_status parapet_fortran_array_unseal(parapet_array *array);

/* [collective] Sets an attribute to a JSON value; "" removes it. */
parapet_status parapet_fortran_array_attribute_set(parapet_array *array, const char *name, const char *json);

/* [local] Returns an attribute as JSON; "" for the name: all of them. */
parapet_status parapet_fortran_array_attribute_get(parapet_array *array, const char *name, char **json);

/* [local] Reports type, number of dimensions, whether it is sealed and sharded, the version of Zarr, whether a fill
 * value is defined; and shape, chunks and shards, which have room for PARAPET_MAX_NDIM entries. */
parapet_status parapet_fortran_array_info(parapet_array *array, int *figures, int64_t *shape, int64_t *chunks,
                                          int64_t *shards);

/* [local] Reports the path, the name of the type and the codecs of an array. */
parapet_status parapet_fortran_array_texts(parapet_array *array, const char **path, const char **type_name,
                                           const char **codecs);

/* [local] Copies the fill value into a variable of this type, which must fit. */
parapet_status parapet_fortran_array_fill(parapet_array *array, void *value, int type);

/* [local] Explains how the array is divided. */
parapet_status parapet_fortran_array_explain(parapet_array *array, char **text);

/* [local] Lists the boxes that are stored: figures are ndim and their number. parapet_fortran_free frees the numbers,
 * which are start and count of each box. */
parapet_status parapet_fortran_array_list(parapet_array *array, int64_t **numbers, int64_t *figures);

/* [local] Frees memory of this layer. */
void parapet_fortran_free(void *memory);

/* [local] Returns the name of a dimension, counted from 1 in Fortran order; NULL if it has none. */
const char *parapet_fortran_array_dimension_name(parapet_array *array, int dimension);

/* [collective] Examines every stored object of an array. The counts are in the order of the components of the Fortran
 * type parapet_check_summary; the findings have a kind, a key and a problem. */
parapet_status parapet_fortran_array_check(parapet_array *array, int depth, int64_t *counts, shim_notes **findings);

/* ---- Lists of definitions (shim_definitions.c) ---- */

/* Arrays that are to be created together. */
typedef struct shim_definitions {
    int count;
    char **names;
    parapet_array_spec *specs;
    shim_spec **owners; /* of what specs refer to */
} shim_definitions;

/* [local] Begins an empty list of arrays. Returns NULL without memory. */
shim_definitions *parapet_fortran_definitions_build(void);

/* [local] Removes all arrays from a list. */
void parapet_fortran_definitions_clear(shim_definitions *self);

/* [local] Frees a list of arrays. NULL is allowed. */
void parapet_fortran_definitions_free(shim_definitions *self);

/* [local] Adds an array and takes over its description. */
parapet_status parapet_fortran_definitions_add(shim_definitions *self, const char *name, shim_spec *spec);

/* ---- Many arrays (shim_array.c) ---- */

/* [collective] Creates the arrays of a list: arrays is a list of count handles, which become open. */
parapet_status parapet_fortran_arrays_create(void *arrays, int count, parapet_store *store,
                                             const shim_definitions *definitions);

/* [collective] Opens arrays. The paths follow each other, each with its NUL. */
parapet_status parapet_fortran_arrays_open(void *arrays, int count, parapet_store *store, const char *paths,
                                           int path_count);

/* [collective] Closes arrays. */
parapet_status parapet_fortran_arrays_close(void *arrays, int count);

/* ---- Lists of parts (shim_parts.c) ---- */

/* [local] Begins an empty list. Returns NULL without memory. */
shim_parts *parapet_fortran_parts_build(void);

/* [local] Removes all parts from a list. */
void parapet_fortran_parts_clear(shim_parts *self);

/* [local] Frees a list. NULL is allowed. */
void parapet_fortran_parts_free(shim_parts *self);

/* [local] Adds memory as a part of the array with this name; data without elements adds nothing. */
parapet_status parapet_fortran_parts_add(shim_parts *self, const char *name, const CFI_cdesc_t *data,
                                         const int64_t *start, int start_count);

/* [local] Adds what a file view of MPI-IO selects of the array, for the array of this name. The datatype is an
 * integer, as Fortran has it; the data is contiguous and holds what is selected, packed. */
parapet_status parapet_fortran_parts_add_view(shim_parts *parts, const char *name, parapet_array *array,
                                              const CFI_cdesc_t *data, int filetype, int64_t displacement);

/* [collective] Writes all parts of a list to an array. */
parapet_status parapet_fortran_array_write_parts(parapet_array *array, const shim_parts *parts);

/* [collective] Reads all parts of a list from an array. */
parapet_status parapet_fortran_array_read_parts(parapet_array *array, const shim_parts *parts);

/* [local] The same on this rank alone. */
parapet_status parapet_fortran_array_read_parts_local(parapet_array *array, const shim_parts *parts);

/* [collective] Writes many arrays, a list of handles, as one transfer: the name of a part is the path of its array.
 */
parapet_status parapet_fortran_arrays_write(const void *arrays, int count, const shim_parts *parts);

/* [collective] Reads many arrays as one transfer. */
parapet_status parapet_fortran_arrays_read(const void *arrays, int count, const shim_parts *parts);

/* ---- Requests (shim_request.c, and where each call is) ---- */

/* What a start that writes does with the memory of its parts. */
parapet_buffering shim_buffering(int copies);

/* [local] Tells whether a request is done. */
parapet_status parapet_fortran_request_test(parapet_request *request, int *is_done);

/* [collective] Completes a request and frees it. */
parapet_status parapet_fortran_request_wait(parapet_request **request);

/* [collective] Starts to write parts of an array. */
parapet_status parapet_fortran_array_start_write(parapet_request **request, parapet_array *array,
                                                 const shim_parts *parts, int copies);

/* [collective] Starts to read parts of an array. */
parapet_status parapet_fortran_array_start_read(parapet_request **request, parapet_array *array,
                                                const shim_parts *parts);

/* [collective] Starts to write many arrays, a list of handles, as one transfer. */
parapet_status parapet_fortran_arrays_start_write(parapet_request **request, const void *arrays, int count,
                                                  const shim_parts *parts, int copies);

/* [collective] Starts to read many arrays as one transfer. */
parapet_status parapet_fortran_arrays_start_read(parapet_request **request, const void *arrays, int count,
                                                 const shim_parts *parts);

/* [collective] Starts to append a step: the parts carry the names of their arrays. */
parapet_status parapet_fortran_series_start_append(parapet_request **request, parapet_series *series,
                                                   double coordinate, const shim_parts *parts, int copies);

/* [collective] Starts to put the arrays of a list and to commit; the handle becomes the request's. */
parapet_status parapet_fortran_checkpoint_start(parapet_request **request, parapet_checkpoint **checkpoint,
                                                const shim_definitions *arrays, const shim_parts *parts, int copies,
                                                int64_t *generation);

/* ---- Series (shim_series.c) ---- */

/* [collective] Creates a series of the arrays that were defined. The texts may be "". */
parapet_status parapet_fortran_series_create(parapet_series **series, parapet_store *store, const char *path,
                                             const shim_definitions *arrays, const char *dimension,
                                             const char *coordinate_attributes, const char *attributes);

/* [collective] Opens a series. */
parapet_status parapet_fortran_series_open(parapet_series **series, parapet_store *store, const char *path);

/* [collective] Repairs a series that cannot be opened. */
parapet_status parapet_fortran_series_repair(parapet_store *store, const char *path, int beyond);

/* [collective] Writes and commits the open steps. */
parapet_status parapet_fortran_series_flush(parapet_series *series);

/* [collective] Flushes and closes. */
parapet_status parapet_fortran_series_close(parapet_series **series);

/* [local] Reports steps, steps committed, steps of a row, shards written and whether open steps are in files. The
 * texts are path and dimension, then the name of each array. */
parapet_status parapet_fortran_series_info(parapet_series *series, int64_t *figures, shim_notes **texts);

/* [local] Reports type and number of dimensions of an array by its name, and its shape, without that of the steps. */
parapet_status parapet_fortran_series_array_info(parapet_series *series, const char *name, int *figures,
                                                 int64_t *shape);

/* [local] Explains what a step costs. */
parapet_status parapet_fortran_series_explain(parapet_series *series, char **text);

/* [collective] Appends a step: the parts carry the names of their arrays. */
parapet_status parapet_fortran_series_append_parts(parapet_series *series, double coordinate,
                                                   const shim_parts *parts);

/* [collective] Appends a step to a series of one array. */
parapet_status parapet_fortran_series_append(parapet_series *series, double coordinate, const CFI_cdesc_t *data,
                                             const int64_t *start, int start_count);

/* ---- Checkpoints (shim_checkpoint.c) ---- */

/* [collective] Begins a generation. */
parapet_status parapet_fortran_checkpoint_begin(parapet_checkpoint **checkpoint, parapet_store *store,
                                                const char *path, int64_t generation, int64_t keep);

/* [collective] Puts one array. A description without a type gets that of the data. */
parapet_status parapet_fortran_checkpoint_put(parapet_checkpoint *checkpoint, const char *name, shim_spec *spec,
                                              const CFI_cdesc_t *data, const int64_t *start, int start_count);

/* [collective] Puts one array whose data is a list of parts. */
parapet_status parapet_fortran_checkpoint_put_parts(parapet_checkpoint *checkpoint, const char *name,
                                                    const shim_spec *spec, const shim_parts *parts);

/* [collective] Puts the arrays of a list as one transfer: the parts carry the names of their arrays. */
parapet_status parapet_fortran_checkpoint_put_defined(parapet_checkpoint *checkpoint, const shim_definitions *arrays,
                                                      const shim_parts *parts);

/* [collective] Sets an attribute of the generation to a JSON value. */
parapet_status parapet_fortran_checkpoint_attribute_set(parapet_checkpoint *checkpoint, const char *name,
                                                        const char *json);

/* [collective] Commits the generation and tells its number. */
parapet_status parapet_fortran_checkpoint_commit(parapet_checkpoint **checkpoint, int64_t *generation);

/* [collective] Discards the generation. */
parapet_status parapet_fortran_checkpoint_abort(parapet_checkpoint **checkpoint);

/* [collective] Opens a generation to restore from; 0: the newest that verifies. */
parapet_status parapet_fortran_restore_open(parapet_restore **restore, parapet_store *store, const char *path,
                                            int64_t generation);

/* [collective] Reads one part of an array of the generation. */
parapet_status parapet_fortran_restore_get(parapet_restore *restore, const char *name, const CFI_cdesc_t *data,
                                           const int64_t *start, int start_count);

/* [collective] Reads a list of parts of an array of the generation. */
parapet_status parapet_fortran_restore_get_parts(parapet_restore *restore, const char *name, const shim_parts *parts);

/* [collective] Reads parts of several arrays as one transfer: the parts carry the names of their arrays. */
parapet_status parapet_fortran_restore_get_named(parapet_restore *restore, const shim_parts *parts);

/* [local] Returns an attribute of the generation as JSON. */
parapet_status parapet_fortran_restore_attribute_get(parapet_restore *restore, const char *name, char **json);

/* [local] Reports the number of the generation, and how many newer ones were passed over. The texts are path and
 * problem, then the name of each array. */
parapet_status parapet_fortran_restore_info(parapet_restore *restore, int64_t *figures, shim_notes **texts);

/* [local] Reports type and number of dimensions of an array of the generation by its name, and its shape. */
parapet_status parapet_fortran_restore_array_info(parapet_restore *restore, const char *name, int *figures,
                                                  int64_t *shape);

/* [collective] Closes a generation. */
parapet_status parapet_fortran_restore_close(parapet_restore **restore);

/* [collective] Notes the committed generations, newest first: number and path. */
parapet_status parapet_fortran_checkpoint_list(parapet_store *store, const char *path, shim_notes **generations);

/* ---- Copies (shim_copy.c) ---- */

/* What a copy works on; the Fortran type copy_stores has the same components. */
typedef struct shim_stores {
    parapet_store *source, *target, *temporary;
    int no_checksum;
} shim_stores;

/* Sets numbers, choices and booleans from lines "name=value" (shim_store.c). */
parapet_status shim_copy_options(parapet_copy_request *request, const char *lines);

/* [collective] Copies an array or a group. texts are ten, one after the other, each with its NUL: the paths of
 * source and target, chunks, shards, order, region, codec, include, exclude and append. lines are options,
 * "name=value". The counts and seconds are in the order of the components of the Fortran type parapet_copy_result. */
parapet_status parapet_fortran_copy(const shim_stores *stores, const char *texts, const char *lines, int64_t *counts,
                                    double *seconds);

/* [collective] Returns in words what that copy would do. */
parapet_status parapet_fortran_copy_plan(const shim_stores *stores, const char *texts, const char *lines,
                                         char **plan);

/* [collective] Writes an array, or the arrays of a group, to a file. texts are four: the path in the source, the
 * file, include and exclude. flags: overwrite, verify and dry_run. Returns what the file cannot say, a line each. */
parapet_status parapet_fortran_file_write(parapet_store *source, const char *texts, const int *flags,
                                          char **left_out);

/* ---- Distributions (shim_distribution.c) ---- */

/* [local] Counts the boxes of a rank. A block of 0 elements means equal blocks, one for each rank. */
parapet_status parapet_fortran_distribution_count(int ndim, const int64_t *shape, const int64_t *mesh,
                                                  const int64_t *block, int64_t rank, int64_t *count);

/* [local] Computes a box of a rank. A rank without boxes gets one without elements. */
parapet_status parapet_fortran_distribution_box(int ndim, const int64_t *shape, const int64_t *mesh,
                                                const int64_t *block, const int64_t *rank_and_index, int64_t *start,
                                                int64_t *count);

#endif
