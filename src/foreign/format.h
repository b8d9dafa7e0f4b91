/* format.h - the formats: one file each, which reads the header of a file and lists its arrays.
 *
 * Headers are untrusted: every count and offset in them is checked before it is used, and what is kept is bounded. */
#ifndef PARAPET_FOREIGN_FORMAT_H
#define PARAPET_FOREIGN_FORMAT_H

#include "foreign/places.h"
#include "store/store.h"

/* A header that takes more is refused. */
#define PP_MAX_HEADER_BYTES ((size_t)4 << 20)

/* Enough of the beginning of a file to recognise it. */
#define PP_SIGNATURE_BYTES 8

typedef struct pp_format {
    const char *name;          /* "netCDF in the classic format" */
    const char *signatures[4]; /* as many as there are; the beginnings of such files */
    size_t signature_bytes;
    parapet_status (*read)(pp_reader *file, pp_places *places); /* places is empty, but for the length of the file */
} pp_format;

extern const pp_format pp_format_npy, pp_format_npz, pp_format_netcdf;

/* The format of a file that begins with these bytes; NULL: none of ours. */
const pp_format *pp_format_recognise(const unsigned char *signature, size_t bytes);

/* An array of NumPy's format that begins at a byte of the file: where it is, and under which name it is added. For
 * npz, whose members are such arrays. */
typedef struct pp_npy_member {
    const char *name;
    uint64_t start;
    uint64_t bytes;
} pp_npy_member;
parapet_status pp_npy_add(pp_reader *file, const pp_npy_member *member, pp_places *places);

/* A file without a header: its array is described by words such as "type=float32,shape=100x200,order=F,offset=16". */
parapet_status pp_raw_read(const char *words, size_t words_bytes, pp_places *places);

#endif
