/* copy_request.h - the fields of a request for a copy, checked. */
#ifndef PARAPET_COPY_COPY_REQUEST_H
#define PARAPET_COPY_COPY_REQUEST_H

#include <parapet_arrays.h>
#include <stdbool.h>

/* Whether a text of a request says something: NULL and "" leave things as they are. */
static inline bool pp_copy_is_given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* Refuses invalid values of fields, in a sentence that says what is accepted; does not check paths and stores. */
parapet_status pp_copy_request_check(const parapet_copy_request *request);
parapet_status pp_copy_changes_check(const parapet_copy_changes *changes);

#endif
