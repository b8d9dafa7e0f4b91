/* fields.h - pieces that several documents have. Not for other modules. */
#ifndef PARAPET_ZARR_FIELDS_H
#define PARAPET_ZARR_FIELDS_H

#include "zarr/json.h"

#define PP_MAX_NAME_BYTES 255

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

#endif
