/* memory.h - the parts of one rank in memory of every shape: dense, in Fortran or any other order, backwards, inside
 * a larger buffer, every other element. Around the elements lies a pattern that must stay as it is. */
#ifndef PARAPET_TESTS_MEMORY_H
#define PARAPET_TESTS_MEMORY_H

#include "subject.h"

typedef struct part_memory {
    const box *held; /* in the decomposition it was made from */
    unsigned char *memory;
    size_t bytes;
    unsigned char *origin; /* of the first element of the box */
    int64_t strides[MOST_NDIM];
} part_memory;

typedef struct part_list {
    const subject *of;
    int count;
    parapet_part *parts;
    part_memory *memory;
} part_list;

/* The parts of a rank (or of all, with ALL_RANKS) in a decomposition, with the pattern in their memory. Dense ones
 * only where is_plain. */
#define ALL_RANKS (-1)
void part_list_build(part_list *made, const subject *of, const decomposition *by, int rank, bool is_plain);
void part_list_clear(part_list *made);

/* Puts the elements of a write into the memory. */
void part_list_put(part_list *list, int write);

/* Whether memory holds exactly these elements, and the pattern around them; says on stderr where not. */
bool part_list_holds(const part_list *list, const unsigned char *contents);
/* The same, the elements being those of a write. */
bool part_list_holds_write(const part_list *list, int write);

#endif
