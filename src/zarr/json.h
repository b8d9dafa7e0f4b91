/* json.h - JSON documents from untrusted sources, read and written. json-c is used here and nowhere else.
 *
 * Before parsing, a scan bounds size and depth and refuses duplicate keys and integers beyond 64 bits. The order of
 * keys, 64-bit integers and the text of numbers are preserved. Bare NaN and Infinity are accepted, and written as the
 * strings "NaN", "Infinity" and "-Infinity", since not every reader accepts them bare. */
#ifndef PARAPET_ZARR_JSON_H
#define PARAPET_ZARR_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

#define PP_JSON_MAX_BYTES (16u << 20)
#define PP_JSON_MAX_DEPTH 64
#define PP_JSON_MAX_TREE_BYTES (32u << 20) /* what a document may take once parsed */

typedef struct json_object pp_json;

typedef enum pp_json_kind {
    PP_JSON_NULL,
    PP_JSON_BOOL,
    PP_JSON_INTEGER,
    PP_JSON_NUMBER, /* has a fraction or an exponent, or is NaN or infinite */
    PP_JSON_STRING,
    PP_JSON_ARRAY,
    PP_JSON_OBJECT
} pp_json_kind;

/* Parses one value. Free with pp_json_free. */
parapet_status pp_json_parse(pp_json **json, const char *text, size_t bytes);

/* Parse a zarr.json in which consolidated_metadata, which grows with the number of nodes, does not count towards
 * PP_JSON_MAX_TREE_BYTES. The first is for a document to be written, and keeps all of it. The second is for a
 * document from a store, and replaces consolidated_metadata by an empty object (also in text), because nothing is
 * ever read from it. */
parapet_status pp_json_parse_own(pp_json **json, const char *text, size_t bytes);
parapet_status pp_json_parse_stored(pp_json **json, char *text, size_t bytes);

/* Parses only the consolidated_metadata of a zarr.json; NULL: it has none. */
parapet_status pp_json_parse_consolidated(pp_json **json, const char *text, size_t bytes);
void pp_json_free(pp_json *json);

/* One more owner of the same value, which must then not be changed. */
pp_json *pp_json_share(pp_json *json);

pp_json_kind pp_json_kind_of(pp_json *json); /* NULL is PP_JSON_NULL */

/* The member of an object; NULL if there is none. A member whose value is null is also NULL; pp_json_has
 * distinguishes the two. Both functions accept NULL and values that are not objects. */
pp_json *pp_json_member(pp_json *object, const char *name);
bool pp_json_has(pp_json *object, const char *name);

/* Visits the members in order as long as fn returns PARAPET_OK. */
typedef parapet_status (*pp_json_visitor)(void *context, const char *name, pp_json *value);
parapet_status pp_json_each(pp_json *object, pp_json_visitor visit, void *context);

size_t pp_json_length(pp_json *array);
pp_json *pp_json_element(pp_json *array, size_t index);

/* The value of a type; each function returns false if json has another type. Strings may contain NUL: see *bytes. */
bool pp_json_get_bool(pp_json *json, bool *value);
bool pp_json_get_i64(pp_json *json, int64_t *value);
bool pp_json_get_u64(pp_json *json, uint64_t *value);
bool pp_json_get_double(pp_json *json, double *value); /* integers too */
bool pp_json_get_text(pp_json *json, const char **text, size_t *bytes);

/* Whether json is a string equal to text, without a hidden NUL. */
bool pp_json_is_text(pp_json *json, const char *text);

/* Building. set takes over value (also on failure); value NULL sets null. */
parapet_status pp_json_object_build(pp_json **json);
parapet_status pp_json_set(pp_json *object, const char *name, pp_json *value);
void pp_json_remove(pp_json *object, const char *name);

/* A copy that shares nothing with json, so that it may be changed. */
parapet_status pp_json_duplicate(pp_json *json, pp_json **copy);

bool pp_json_equals(pp_json *a, pp_json *b);

/* Prints a value: on one line, or indented by two spaces. */
void pp_json_print(pp_json *json, bool is_indented, pp_text *text);

/* The same, indented, for a value that is inside this many others. */
void pp_json_print_inside(pp_json *json, int depth, pp_text *text);

/* Prints a string with its quotes and escapes. */
void pp_json_print_string(const char *string, pp_text *text);

/* Prints the shortest number that reads back as value; NaN and infinities as strings. */
void pp_json_print_double(double value, pp_text *text);

#endif
