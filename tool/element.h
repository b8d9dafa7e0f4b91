/* element.h - one value of an array. */
#ifndef PARAPET_TOOL_ELEMENT_H
#define PARAPET_TOOL_ELEMENT_H

#include <parapet_arrays.h>
#include <stdbool.h>
#include <stdio.h>

/* "none" or null where element is NULL or the type has no fixed length. */
void element_print(FILE *out, const parapet_array_info *info, const void *element);
void element_print_json(FILE *out, const parapet_array_info *info, const void *element);
char *text_of_element(const parapet_array_info *info, const void *element);

/* The characters of an element that is text, without quotes; NULL: elements of this type are none. */
char *element_text(const parapet_array_info *info, const void *element);

/* The value as a number; false: elements of this type are none. */
bool element_number(const parapet_array_info *info, const void *element, double *number);

/* An integer as it is, which a double may round: negative ones as two's complement of 64 bits. parse: false, if the
 * text is no integer, or elements cannot have its sign. */
bool element_is_integer(const parapet_array_info *info);
uint64_t element_integer(const parapet_array_info *info, const void *element);
bool element_integer_parse(const parapet_array_info *info, const char *text, uint64_t *integer);

#endif
