/* types.h - the data types of Zarr: their names, sizes and fill values. Depends on base and json.h. */
#ifndef PARAPET_ZARR_TYPES_H
#define PARAPET_ZARR_TYPES_H

#include <parapet_types.h>

#include "base/text.h"
#include "zarr/json.h"

struct pp_extension;

/* A type with larger elements is refused, because the fill value, one element, is kept in memory. */
#define PP_MAX_ELEMENT_BYTES (1u << 20)

typedef struct pp_type {
    parapet_type id;
    size_t element_bytes; /* 0 for variable-length types */
    size_t swap_bytes;    /* unit of byte order: 8 for complex128, 4 for utf32, 1: none */
    char *name;           /* for people: "numpy.datetime64[ns]"; owned */
    char *json;           /* data_type as it stands in a v3 document: "\"float64\"", "{\"name\":...}"; owned */
} pp_type;

void pp_type_clear(pp_type *type);

/* A type that has a fixed name. raw_bytes is for PARAPET_RAW, time_unit for DATETIME64 and TIMEDELTA64. */
parapet_status pp_type_init(pp_type *type, parapet_type id, size_t raw_bytes, const char *time_unit);

/* From the data_type of a v3 document. */
parapet_status pp_type_parse(pp_type *type, pp_json *data_type);

/* From the dtype of a v2 document; *is_big_endian tells the byte order of the chunks. */
parapet_status pp_type_parse_v2(pp_type *type, pp_json *dtype, bool *is_big_endian);

/* Types that are not records, for pp_type_parse and pp_type_parse_v2; type is empty. extension is data_type, already
 * parsed. */
parapet_status pp_type_parse_scalar(pp_type *type, const struct pp_extension *extension, pp_json *data_type);
parapet_status pp_type_parse_scalar_v2(pp_type *type, pp_json *dtype, bool *is_big_endian);

/* Fills a type; json and name are copied. */
typedef struct pp_type_text {
    const char *name;
    const char *json;
} pp_type_text;
parapet_status pp_type_set(pp_type *type, parapet_type id, size_t element_bytes, size_t swap_bytes,
                           pp_type_text text);

/* One element from a fill_value; format is 3 or 2. A JSON null, or NULL if the field is absent, gives zero and
 * *is_defined false. element has room for element_bytes. */
parapet_status pp_fill_parse(const pp_type *type, pp_json *fill_value, int format, void *element, bool *is_defined);

/* The fill_value of a v3 document, written in the form that every reader understands, if there are several. */
parapet_status pp_fill_print(const pp_type *type, const void *element, pp_text *text);

#endif
