/* netcdf.h - what the two files that read netCDF's classic format share: the header as a run of numbers and names,
 * and its types. */
#ifndef PARAPET_FOREIGN_NETCDF_H
#define PARAPET_FOREIGN_NETCDF_H

#include "zarr/document.h"

/* A header that is read from front to back. Numbers are big-endian, everything is padded to 4 bytes. */
typedef struct pp_netcdf_header {
    const unsigned char *data;
    size_t bytes, next;
    bool is_short;         /* more was asked for than there is: read more of the file, if it has more */
    int version;           /* 1, 2 or 5 */
    uint64_t number_count; /* numbers in attributes that were skipped */
} pp_netcdf_header;

/* These give 0 or NULL once the header is short. */
uint32_t pp_netcdf_u32(pp_netcdf_header *header);
uint64_t pp_netcdf_count(pp_netcdf_header *header); /* 4 bytes, in version 5 8 */
const unsigned char *pp_netcdf_bytes(pp_netcdf_header *header, uint64_t bytes);

/* A name as text in UTF-8; free with pp_free. */
parapet_status pp_netcdf_name(pp_netcdf_header *header, char **name);

/* A list begins with its tag and how many it has, each of at least some bytes; zeros: it has none. */
enum { PP_NETCDF_DIMENSIONS = 10, PP_NETCDF_VARIABLES = 11, PP_NETCDF_ATTRIBUTES = 12 };
typedef struct pp_netcdf_list {
    uint32_t tag;
    uint64_t least_bytes;
    uint64_t most;
    const char *what;
} pp_netcdf_list;
parapet_status pp_netcdf_list_begin(pp_netcdf_header *header, const pp_netcdf_list *list, uint64_t *count);

/* A type by its number. dtype is its name in Zarr v2. */
typedef struct pp_netcdf_type {
    uint32_t number;
    size_t bytes;
    char kind; /* 'i', 'u', 'f', or 'c' for text */
    const char *dtype;
} pp_netcdf_type;
parapet_status pp_netcdf_type_find(uint32_t number, const pp_netcdf_type **type);

/* Values of one attribute. */
typedef struct pp_netcdf_values {
    const pp_netcdf_type *type;
    const unsigned char *data;
    uint64_t count;
} pp_netcdf_values;

/* Attributes on their way into JSON. */
typedef struct pp_netcdf_attributes {
    bool is_skipped;       /* they are checked, and not kept */
    pp_text json;          /* an object, without its closing brace */
    pp_netcdf_values fill; /* _FillValue, if there is one */
} pp_netcdf_attributes;

/* Reads a list of attributes. _FillValue is kept aside: how it is written depends on the type of its variable. */
parapet_status pp_netcdf_attributes_read(pp_netcdf_header *header, pp_netcdf_attributes *attributes);

/* Completes the object, and gives the document its attributes and its fill value. */
parapet_status pp_netcdf_attributes_give(pp_netcdf_attributes *attributes, const pp_netcdf_type *type,
                                         pp_array_document *document);

/* Completes the object of attributes that belong to no variable. */
parapet_status pp_netcdf_attributes_finish(pp_netcdf_attributes *attributes);

#endif
