/* places.h - parapet-places: walks an HDF5 file and prints where its chunks are, as docs/design/foreign.md describes.
 *
 * It is a program of its own because HDF5 is not made for hostile files: whatever happens here, only this process
 * ends. It links HDF5 and nothing of Parapet. */
#ifndef PARAPET_PLACES_H
#define PARAPET_PLACES_H

#define H5_USE_110_API
#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- limits.c ---- */

/* Before the file is opened: no descriptors of the parent, no core, bounds on memory and time. */
void limits_set(void);

/* Once it is open: no system calls but those that reading needs. */
void limits_close(void);

/* Something was read, found or printed. If nothing is for some seconds of the processor, the process ends. */
void limits_note_step(void);

/* ---- output.c: every byte counts towards the checksum of the last line ---- */

void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
void put_string(const char *text, size_t bytes); /* in JSON */
void put_double(double value);                   /* in JSON, the shortest that reads back */
void put_base64(const unsigned char *data, size_t bytes);
bool is_utf8(const unsigned char *text, size_t bytes);
void put_end(void);

/* Ends the program with a sentence instead of a table. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *take_memory(size_t count, size_t bytes); /* zeroed */

/* ---- driver.c: reads through one descriptor, and tells where a chunk was looked for ---- */

hid_t driver_open(int descriptor, uint64_t file_bytes);

typedef struct seen_chunk {
    uint64_t start, bytes;
    uint32_t left_out;
} seen_chunk;

/* False: it is not stored. */
bool driver_find_chunk(hid_t dataset, const hsize_t *offset, seen_chunk *chunk);

/* ---- type.c ---- */

typedef enum type_kind {
    KIND_REFUSED,
    KIND_INTEGER,
    KIND_FLOAT,
    KIND_BOOL,
    KIND_COMPLEX,
    KIND_TEXT,
    KIND_TEXTS
} type_kind;

typedef struct type {
    type_kind kind;
    char name[128]; /* as JSON */
    bool is_big, is_signed;
    bool has_order; /* elements have more than one byte */
    size_t bytes;
    const char *reason; /* why it is refused */
} type;
void type_of(hid_t id, type *found);

/* How the elements of a dataset are cut. */
typedef struct layout {
    int ndim;
    hsize_t shape[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
    hsize_t whole[H5S_MAX_RANK]; /* the shape that is shown: more than there is, where a dimension is longer */
    int filter_count;
    bool leaves_edges; /* chunks that reach over the edge are not filtered */
} layout;
/* ---- texts.c: elements of KIND_TEXTS, which have no fixed length ---- */

typedef struct text_list {
    unsigned char *data;
    size_t bytes, count;
    char reason[160]; /* why they are refused */
} text_list;

/* What the texts of all datasets together may take. */
void texts_limit(size_t most_bytes);
bool texts_read(hid_t dataset, hid_t kind, const layout *of, text_list *all);
char *texts_fill(hid_t dataset, hid_t kind); /* NULL: none, or nothing; it is HDF5's */
void put_texts(text_list *all);              /* and frees them */

/* ---- list.c: all groups and datasets, found before any is printed ---- */

typedef struct node {
    char *path; /* "/a/b"; the root is "/" */
    haddr_t address;
    bool is_group;
    const char *refusal; /* NULL: it is read */
    bool is_scale, is_hidden;
    bool is_unlimited;   /* the scale of a dimension that can grow */
    long long dimension; /* of netCDF; -1: none */
    hsize_t length;      /* of an unlimited dimension of netCDF: as long as the longest of its variables */
} node;

typedef struct node_list {
    node *nodes;
    size_t count, capacity;
    bool is_netcdf; /* its library, or one that does as it does, has written the file */
} node_list;
void list_nodes(hid_t file, node_list *list);

/* Its last name, as netCDF shows it. */
const char *node_name(const node *each);

/* ---- dimensions.c ---- */

/* The scale of each dimension of a dataset; NULL: it has none. */
void dimensions_of(hid_t dataset, int ndim, const node_list *list, const node *from, const node **scales);

/* How long the unlimited dimensions of netCDF are. */
void dimensions_measure(hid_t file, node_list *list);

/* ---- attributes.c ---- */

/* Prints an object of all attributes that JSON can say. of is the type of the dataset; NULL: a group. */
void put_attributes(hid_t object, const type *of);
bool has_attribute(hid_t object, const char *name);

/* ---- array.c, chunks.c ---- */

void put_array(hid_t file, const node_list *list, const node *each);

void put_chunks(hid_t dataset, const layout *of);

/* The chunks of a dataset that is stored in one piece; they are all whole. */
void put_pieces(const layout *of, uint64_t start, size_t element_bytes);
uint64_t count_cells(const layout *of); /* UINT64_MAX: too many */
void offset_of(const layout *of, uint64_t index, hsize_t *offset);

#endif
