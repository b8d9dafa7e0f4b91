/* traits.h - what the rest of the library may know about a codec: its names, its parameters, and what a copy does
 * with it.
 *
 * The codec's own file states all of this, so that no other code has to distinguish codecs. The parameters of a codec
 * are fields of pp_codec_spec; three lists describe them, because configurations of Zarr v3, configurations of Zarr
 * v2 and words such as "zstd:3" have different parameters, ranges and defaults. Knows nothing of JSON. */
#ifndef PARAPET_CODEC_TRAITS_H
#define PARAPET_CODEC_TRAITS_H

#include "codec/codec.h"

typedef enum pp_codec_kind { PP_ARRAY_TO_ARRAY, PP_ARRAY_TO_BYTES, PP_BYTES_TO_BYTES } pp_codec_kind;

typedef enum pp_codec_role {
    PP_ROLE_UNSAID, /* no codec has it */
    PP_ROLE_LAYOUT, /* changes where elements are */
    PP_ROLE_FILTER, /* makes bytes that compress better */
    PP_ROLE_COMPRESSOR,
    PP_ROLE_CHECKSUM
} pp_codec_role;

typedef enum pp_parameter_kind {
    PP_PARAMETER_INTEGER, /* from low to high, in an int */
    PP_PARAMETER_FLAG,    /* true or false, or the second or the first choice, in a bool */
    PP_PARAMETER_CHOICE,  /* the number of a choice, in an int */
    PP_PARAMETER_NAME,    /* a choice as text, in a char[PP_PARAMETER_NAME_BYTES] */
    PP_PARAMETER_FIXED    /* the only choice, which no field holds */
} pp_parameter_kind;

#define PP_PARAMETER_NAME_BYTES 12

typedef struct pp_parameter {
    const char *name; /* of its member in JSON; NULL ends a list */
    pp_parameter_kind kind;
    size_t offset; /* of its field: PP_FIELD(level) */
    int low, high;
    int usual;                  /* its value, or the number of its choice, if none is given */
    const char *const *choices; /* NULL ends them */
    bool is_required;           /* it has no usual value */
    bool has_others;            /* there are valid choices that this version does not know */
} pp_parameter;

#define PP_FIELD(field) offsetof(pp_codec_spec, field)

typedef struct pp_codec_traits {
    const char *name;       /* in words and sentences */
    const char *v3_name;    /* in a zarr.json; NULL: met in Zarr v2 only */
    const char *draft_name; /* in drafts of Zarr v3, if it was different */
    const char *v2_name;    /* the id of a filter or compressor of Zarr v2; NULL: it has none */
    pp_codec_kind kind;
    pp_codec_role role;

    /* Its parameters; NULL: none. */
    const pp_parameter *v3_parameters;
    const pp_parameter *v2_parameters;
    const pp_parameter *words;
    bool is_silent_when_usual; /* left out in words if it has its usual parameters */

    /* Whether the position of an element in the array matters to it: such a codec is dropped if a copy permutes
     * dimensions. */
    bool follows_dimensions;

    /* Whether the index of a shard may be encoded with it; whether its last four bytes are a CRC-32C of the others.
     */
    bool is_for_index;
    bool ends_in_crc32c;

    /* Fills in what depends on the array's elements, once all given parameters are in spec. NULL: nothing. */
    void (*complete)(pp_codec_spec *spec, size_t element_bytes);

    /* What replaces it in a copy that cannot keep the list of codecs unchanged; false: nothing (pp_carry_nothing).
     * NULL: it stays as it is. */
    bool (*carry)(pp_codec_spec *spec);

    /* "zlib 1.2.13", the library that does the work; NULL: our own code. */
    void (*print_library)(pp_text *text);
} pp_codec_traits;

/* NULL: not an id of a codec. */
const pp_codec_traits *pp_codec_traits_of(pp_codec_id id);

bool pp_codec_can_encode(pp_codec_id id);

bool pp_carry_nothing(pp_codec_spec *spec);

/* The value of a parameter: its number, 0 or 1 for a flag, the number of a choice, or -1 for an unknown name. */
int pp_parameter_get(const pp_parameter *parameter, const pp_codec_spec *spec);
void pp_parameter_set(const pp_parameter *parameter, pp_codec_spec *spec, int value);

/* The text of a parameter that has choices. */
const char *pp_parameter_text(const pp_parameter *parameter, const pp_codec_spec *spec);

/* The number of the choice with this text; -1: none has it. */
int pp_parameter_find(const pp_parameter *parameter, const char *text);

/* Sets every parameter of a list, which may be NULL, to its usual value. */
void pp_parameters_set_usual(const pp_parameter *list, pp_codec_spec *spec);

#endif
