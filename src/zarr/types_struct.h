/* types_struct.h - types that are records, and their fields. Not for other modules. */
#ifndef PARAPET_ZARR_TYPES_STRUCT_H
#define PARAPET_ZARR_TYPES_STRUCT_H

#include "zarr/types.h"

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

#endif
