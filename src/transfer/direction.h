/* direction.h - which way a transfer goes. */
#ifndef PARAPET_TRANSFER_DIRECTION_H
#define PARAPET_TRANSFER_DIRECTION_H

typedef enum pp_direction {
    PP_READING, /* out of chunks, into the parts */
    PP_WRITING  /* out of the parts, into chunks */
} pp_direction;

#endif
