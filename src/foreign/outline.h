/* outline.h - a file of another format that is to be made: its header, and where in it each array is.
 *
 * Arrays lie in the file as one piece each, the last dimension the fastest, so that whoever has a box of one can
 * write it. What a format cannot say of attributes and names is noted, and left out of the file; an array that it
 * cannot hold is refused. */
#ifndef PARAPET_FOREIGN_OUTLINE_H
#define PARAPET_FOREIGN_OUTLINE_H

#include "zarr/document.h"

typedef struct pp_outline_array {
    const char *name;
    const pp_array_document *document;
    uint64_t start, bytes; /* in the file */
} pp_outline_array;

typedef struct pp_outline {
    pp_outline_array *arrays; /* the caller's, who fills in names and documents */
    size_t count;
    pp_json *attributes; /* of the group; the caller's; NULL: there is none */
    pp_text header;
    uint64_t file_bytes;
    bool is_big_endian;
    pp_text left_out; /* lines */
    pp_text refused;  /* "flag" (bool), "names" (string) */
} pp_outline;

typedef struct pp_outline_format {
    const char *word;    /* "netcdf" */
    const char *suffix;  /* ".nc" */
    const char *article; /* for sentences: "a netCDF file in the classic format" */
    parapet_status (*lay_out)(pp_outline *outline);
} pp_outline_format;

extern const pp_outline_format pp_outline_npy, pp_outline_raw, pp_outline_netcdf;

/* The format of "netcdf:PATH", or of a path that ends like one, and the path; NULL: none of ours. */
const pp_outline_format *pp_outline_format_find(const char *file, const char **path);

/* Makes the header and finds the places of the arrays. Clear it even after a failure. */
parapet_status pp_outline_lay_out(pp_outline *outline, const pp_outline_format *format);
void pp_outline_clear(pp_outline *outline);

/* For formats: whether an attribute is none of the user's, but kept there by the library, or by xarray in Zarr v2 for
 * what has another place. array: NULL for those of the group. */
bool pp_outline_is_hidden(const pp_outline_array *array, const char *attribute);

/* For formats: whether there is a fill value other than zero. */
bool pp_outline_has_fill(const pp_array_document *document);

/* For formats: says that an array cannot be held, and why. */
void pp_outline_refuse(pp_outline *outline, const pp_outline_array *array, const char *why);

/* Places the arrays one after the other behind the header, each at a multiple of a number of bytes. */
parapet_status pp_outline_place(pp_outline *outline, uint64_t header_bytes, uint64_t multiple);

#endif
