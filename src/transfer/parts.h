/* parts.h - the caller's memory in a transfer: boxes of the array and where their elements lie. */
#ifndef PARAPET_TRANSFER_PARTS_H
#define PARAPET_TRANSFER_PARTS_H

#include "geometry/copy.h"
#include "transfer/layout.h"

typedef struct pp_part_memory {
    unsigned char *data; /* of the first element of the box */
    int64_t strides[PARAPET_MAX_NDIM];
} pp_part_memory;

typedef struct pp_parts {
    int count;
    pp_box *boxes;
    pp_part_memory *memory;
} pp_parts;

/* Checks the parts against the array: type, bounds, data. The memory itself stays the caller's. */
parapet_status pp_parts_init(pp_parts *parts, const parapet_part *given, int count, const pp_layout *layout,
                             parapet_type type);
void pp_parts_clear(pp_parts *parts);

/* Elements of all boxes together; saturates. */
int64_t pp_parts_element_count(const pp_parts *parts);

typedef enum pp_direction { PP_GATHER, PP_SCATTER } pp_direction;

/* Moves what part and chunk_box have in common, clipped to limit, between the part and a chunk in C order. */
typedef struct pp_parts_move {
    const pp_parts *parts;
    int64_t part;
    const pp_box *chunk_box; /* the whole chunk */
    const pp_box *limit;     /* the chunk clipped to the array */
    size_t element_bytes;
    pp_direction direction;
    void *chunk; /* only read when scattering */
} pp_parts_move;

/* Returns how many elements were moved. */
int64_t pp_parts_move_run(const pp_parts_move *move);

/* Sets what part and box have in common to one value; returns how many elements. */
int64_t pp_parts_fill(const pp_parts *parts, int64_t part, const pp_box *box, const void *value,
                      size_t element_bytes);

#endif
