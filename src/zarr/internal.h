/* internal.h - what the files of zarr/ share: the scan before parsing, pieces of documents, small floats.
 *
 * Not for other modules. */
#ifndef PARAPET_ZARR_INTERNAL_H
#define PARAPET_ZARR_INTERNAL_H

#include "codec/traits.h"
#include "zarr/base64.h"
#include "zarr/document.h"

#define PP_MAX_NAME_BYTES 255

/* A type with larger elements is refused, because the fill value, one element, is kept in memory. */
#define PP_MAX_ELEMENT_BYTES (1u << 20)

/* ---- json_scan.c: before json-c sees a document ---- */

/* Refuses text that is not JSON, is nested too deeply, has too many values for memory, repeats a key or has an
 * integer beyond 64 bits. */
parapet_status pp_json_scan(const char *text, size_t bytes);

/* A place in a text; empty: nowhere. */
typedef struct pp_json_span {
    size_t start, end;
} pp_json_span;

/* The same for a document with a member of that name, an object that nobody will look into: its keys are not compared
 * and its values are not counted. Tells where it is. */
parapet_status pp_json_scan_except(const char *text, size_t bytes, const char *member, pp_json_span *span);

/* ---- json_print.c ---- */

#define PP_JSON_WORDS_BYTES 80

/* A value for use in a sentence, shortened if it is long. Returns words. */
const char *pp_json_words(pp_json *json, char words[PP_JSON_WORDS_BYTES]);

void pp_json_print_text(const char *string, size_t bytes, pp_text *text);

/* ---- fields.c: pieces that several documents have ---- */

/* An extension point: an object {name, configuration, must_understand}, or only its name. */
typedef struct pp_extension {
    char name[PP_MAX_NAME_BYTES + 1];
    pp_json *configuration; /* NULL or an object; belongs to the document */
    bool must_understand;
} pp_extension;

parapet_status pp_extension_parse(pp_extension *extension, pp_json *json, const char *field);

/* Refuses members of object other than the NULL-terminated names. Takes NULL. */
parapet_status pp_members_check(pp_json *object, const char *const *names, const char *field);

/* A required member of a document. */
parapet_status pp_member_require(pp_json *object, const char *name, pp_json **value);

/* A list of integers of at least minimum. */
parapet_status pp_shape_parse(pp_json *json, const char *field, int64_t minimum, int *ndim, int64_t *shape);

/* An integer from low to high into *value; json NULL leaves *value as it is. */
typedef struct pp_integer_range {
    const char *field;
    int64_t low;
    int64_t high;
} pp_integer_range;
parapet_status pp_integer_parse(pp_json *json, const pp_integer_range *range, int *value);

/* Shares attributes, or creates an empty object if there are none. */
parapet_status pp_attributes_take(pp_json **attributes, pp_json *json, const char *field);

/* Puts an unknown member of a document into *extra, or refuses it if readers must understand it. */
parapet_status pp_extra_take(pp_json **extra, const char *name, pp_json *value);

/* Prints the members of extra, each after a comma. */
void pp_extra_print(pp_json *extra, pp_text *text);

/* Prints compact indented with a final newline, after making sure that it can be read back; frees compact. */
parapet_status pp_document_finish(pp_text *compact, pp_text *text);

/* ---- codecs_json.c, codecs_v2.c ---- */

/* What the codecs of a list work on. */
typedef struct pp_codec_context {
    const pp_type *type;
    int ndim;
    int64_t shape[PARAPET_MAX_NDIM];
    int sharding_depth;
} pp_codec_context;

parapet_status pp_codecs_parse(pp_chain_spec *spec, pp_json *list, const pp_codec_context *context);
parapet_status pp_codecs_print(const pp_chain_spec *spec, int ndim, pp_text *text);

/* The codecs of texts: vlen-utf8, which becomes bytes in spec, and then codecs that turn bytes into bytes. */
parapet_status pp_codecs_parse_texts(pp_chain_spec *spec, pp_json *list);

/* Adds a codec to spec; refuses more than PP_MAX_CODECS. */
parapet_status pp_codec_append(pp_chain_spec *spec, const pp_codec_spec *codec);

/* Appends the filters and the compressor of a .zarray. */
parapet_status pp_codecs_parse_v2(pp_chain_spec *spec, pp_json *zarray, const pp_type *type);

/* ---- codec_parameters.c: what a codec is told, as JSON ---- */

/* Refuses members of object that are not parameters of the list. who begins the sentence: "the codec gzip". The list
 * may be NULL, here and below. */
parapet_status pp_parameters_check(const pp_parameter *list, pp_json *object, const char *who);

/* Sets the parameters from the members of object, or to their usual values. */
parapet_status pp_parameters_parse(const pp_parameter *list, pp_json *object, const char *who, pp_codec_spec *spec);

/* Prints them as members: "level":3,"checksum":false */
void pp_parameters_print(const pp_parameter *list, const pp_codec_spec *spec, pp_text *text);

/* ---- types_struct.c ---- */

/* Calls visit for each field of a struct type, in ascending order of offsets. */
typedef struct pp_field {
    const char *name;
    pp_type type;
    size_t offset;
} pp_field;
typedef parapet_status (*pp_field_visitor)(void *context, const pp_field *field);
parapet_status pp_fields_each(pp_json *fields, pp_field_visitor visit, void *context);

/* The same for a type that was parsed. */
parapet_status pp_type_fields_each(const pp_type *type, pp_field_visitor visit, void *context);

/* Types that are not records, for pp_type_parse and pp_type_parse_v2; type is empty. extension is data_type, already
 * parsed. */
parapet_status pp_type_parse_scalar(pp_type *type, const pp_extension *extension, pp_json *data_type);
parapet_status pp_type_parse_scalar_v2(pp_type *type, pp_json *dtype, bool *is_big_endian);

/* Fills a type; json and name are copied. */
typedef struct pp_type_text {
    const char *name;
    const char *json;
} pp_type_text;
parapet_status pp_type_set(pp_type *type, parapet_type id, size_t element_bytes, size_t swap_bytes,
                           pp_type_text text);

/* ---- small_float.c: float16 and bfloat16 by arithmetic ---- */

typedef struct pp_small_float {
    int exponent_bits;
    int mantissa_bits;
} pp_small_float;

extern const pp_small_float pp_float16;
extern const pp_small_float pp_bfloat16;

/* Rounds half to even; too large gives infinity. */
uint16_t pp_small_float_from_double(pp_small_float format, double value);
double pp_small_float_to_double(pp_small_float format, uint16_t bits);

/* ---- element.c: one element as its bits ---- */

/* How RAW elements appear in JSON, which depends on the name of the type. */
typedef enum pp_raw_form { PP_RAW_BITS, PP_RAW_BASE64, PP_RAW_TERMINATED, PP_RAW_NUMBER } pp_raw_form;
pp_raw_form pp_raw_form_of(const pp_type *type);

bool pp_type_is_signed(parapet_type id);

/* An integer of 1, 2, 4 or 8 bytes in the byte order of this machine, at any alignment. */
void pp_bits_store(void *element, size_t bytes, uint64_t value);
uint64_t pp_bits_load(const void *element, size_t bytes);

/* One real number: a float type, or half of a complex one. */
typedef enum pp_real_kind { PP_REAL_FLOAT16, PP_REAL_BFLOAT16, PP_REAL_FLOAT32, PP_REAL_FLOAT64 } pp_real_kind;
pp_real_kind pp_real_kind_of(parapet_type id);
size_t pp_real_bytes(pp_real_kind kind);

/* The bits of value; a NaN becomes the one that "NaN" means: quiet, with only the top mantissa bit. */
uint64_t pp_real_from_double(pp_real_kind kind, double value);
double pp_real_to_double(pp_real_kind kind, uint64_t bits);

#endif
