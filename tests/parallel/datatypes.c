#include "datatypes.h"

#include <stdlib.h>

enum { BLOCKS_MOST = 5 };

void datatype_free(MPI_Datatype *datatype)
{
    int integers, addresses, datatypes, combiner;
    MPI_Type_get_envelope(*datatype, &integers, &addresses, &datatypes, &combiner);
    if (combiner != MPI_COMBINER_NAMED)
        MPI_Type_free(datatype);
}

static MPI_Aint extent_of(MPI_Datatype datatype)
{
    MPI_Aint lower, extent;
    MPI_Type_get_extent(datatype, &lower, &extent);
    return extent;
}

/* Distances between the beginnings of blocks: mostly enough for them not to overlap. */
static int64_t draw_distance(draw *from, int64_t length)
{
    int64_t hole = draw_between(from, 0, 3);
    return draw_chance(from, 96) ? length + (draw_chance(from, 50) ? hole : 0) : length - 1;
}

/* Lengths and displacements of blocks, in extents. */
typedef struct blocks {
    int count, lengths[BLOCKS_MOST], places[BLOCKS_MOST];
    MPI_Aint bytes[BLOCKS_MOST];
} blocks;

static blocks draw_blocks(draw *from, int equal, MPI_Aint extent)
{
    blocks all = {.count = (int)draw_between(from, 1, BLOCKS_MOST)};
    int64_t place = draw_chance(from, 90) ? draw_between(from, 0, 4) : -1;
    int i, odd = draw_chance(from, 2);
    for (i = 0; i < all.count; i++) {
        all.lengths[i] = equal > 0 ? equal : (int)draw_between(from, 0, 3);
        all.places[i] = (int)place;
        all.bytes[i] = (MPI_Aint)place * extent + odd;
        place += draw_distance(from, all.lengths[i]);
    }
    return all;
}

static int make_list(draw *from, MPI_Datatype inner, MPI_Datatype *made)
{
    MPI_Aint extent = extent_of(inner);
    int equal = (int)draw_between(from, 1, 3);
    blocks unequal = draw_blocks(from, 0, extent), same = draw_blocks(from, equal, extent);
    MPI_Datatype datatypes[BLOCKS_MOST];
    int i;
    for (i = 0; i < BLOCKS_MOST; i++)
        datatypes[i] = inner;
    switch (draw_between(from, 0, 4)) {
    case 0:
        return MPI_Type_indexed(unequal.count, unequal.lengths, unequal.places, inner, made);
    case 1:
        return MPI_Type_create_hindexed(unequal.count, unequal.lengths, unequal.bytes, inner, made);
    case 2:
        return MPI_Type_create_indexed_block(same.count, equal, same.places, inner, made);
    case 3:
        return MPI_Type_create_hindexed_block(same.count, equal, same.bytes, inner, made);
    default:
        return MPI_Type_create_struct(unequal.count, unequal.lengths, unequal.bytes, datatypes, made);
    }
}

static int make_vector(draw *from, MPI_Datatype inner, MPI_Datatype *made)
{
    int count = (int)draw_between(from, 0, 4), length = (int)draw_between(from, 1, 4);
    int stride = (int)draw_distance(from, length);
    if (draw_chance(from, 50))
        return MPI_Type_vector(count, length, stride, inner, made);
    return MPI_Type_create_hvector(count, length, stride * extent_of(inner), inner, made);
}

static int draw_order(draw *from)
{
    return draw_chance(from, 50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
}

static int make_subarray(draw *from, MPI_Datatype inner, MPI_Datatype *made)
{
    int ndim = (int)draw_between(from, 1, 4), sizes[4], counts[4], starts[4], order = draw_order(from), d;
    for (d = 0; d < ndim; d++) {
        sizes[d] = (int)draw_between(from, 1, 5);
        counts[d] = (int)draw_between(from, 1, sizes[d]);
        starts[d] = (int)draw_between(from, 0, sizes[d] - counts[d]);
    }
    return MPI_Type_create_subarray(ndim, sizes, counts, starts, order, inner, made);
}

static int make_darray(draw *from, MPI_Datatype inner, MPI_Datatype *made)
{
    const int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    int ndim = (int)draw_between(from, 1, 3), sizes[3], how[3], arguments[3], processes[3], ranks = 1, rank, d;
    for (d = 0; d < ndim; d++) {
        how[d] = kinds[draw_between(from, 0, 2)];
        sizes[d] = (int)draw_between(from, 1, 7);
        processes[d] = how[d] == MPI_DISTRIBUTE_NONE ? 1 : (int)draw_between(from, 1, 3);
        arguments[d] = MPI_DISTRIBUTE_DFLT_DARG;
        if (how[d] == MPI_DISTRIBUTE_CYCLIC && draw_chance(from, 70))
            arguments[d] = (int)draw_between(from, 1, 3);
        if (how[d] == MPI_DISTRIBUTE_BLOCK && draw_chance(from, 30))
            arguments[d] = (sizes[d] + processes[d] - 1) / processes[d] + (int)draw_between(from, 0, 2);
        ranks *= processes[d];
    }
    rank = (int)draw_between(from, 0, ranks - 1);
    return MPI_Type_create_darray(ranks, rank, ndim, sizes, how, arguments, processes, draw_order(from), inner, made);
}

static int make_simple(draw *from, MPI_Datatype inner, MPI_Datatype *made)
{
    MPI_Aint lower, extent, more = draw_chance(from, 5) ? -1 : (MPI_Aint)draw_between(from, 0, 4);
    MPI_Type_get_extent(inner, &lower, &extent);
    if (draw_chance(from, 50))
        return MPI_Type_contiguous((int)draw_between(from, 0, 4), inner, made);
    if (draw_chance(from, 50))
        return MPI_Type_dup(inner, made);
    return MPI_Type_create_resized(inner, lower, extent + 8 * more, made);
}

static int make_any(draw *from, MPI_Datatype inner, MPI_Datatype *made)
{
    switch (draw_between(from, 0, 5)) {
    case 0:
        return make_vector(from, inner, made);
    case 1:
        return make_subarray(from, inner, made);
    case 2:
        return make_darray(from, inner, made);
    case 3:
        return make_simple(from, inner, made);
    default:
        return make_list(from, inner, made);
    }
}

/* Open MPI makes no darray of what overlaps. */
MPI_Datatype datatype_draw(draw *from, int depth, MPI_Datatype predefined)
{
    MPI_Datatype inner, made;
    if (depth == 0)
        return predefined;
    inner = datatype_draw(from, depth - 1, predefined);
    if (make_any(from, inner, &made) != MPI_SUCCESS)
        return inner;
    datatype_free(&inner);
    return made;
}

/* One byte of the displacement of each byte, packed. */
static void pack_plane(MPI_Datatype datatype, MPI_Aint lower, MPI_Aint span, int plane, unsigned char *packed,
                       int size)
{
    unsigned char *memory = malloc((size_t)span + 1);
    MPI_Aint i;
    int position = 0;
    for (i = 0; i < span; i++)
        memory[i] = (unsigned char)(i >> (8 * plane));
    MPI_Pack(memory - lower, 1, datatype, packed, size, &position, MPI_COMM_SELF);
    free(memory);
}

int64_t *datatype_bytes(MPI_Datatype datatype, int64_t *count)
{
    MPI_Datatype committed;
    MPI_Aint lower, span;
    int64_t *bytes, i;
    unsigned char *packed;
    int size, plane;
    MPI_Type_dup(datatype, &committed);
    MPI_Type_commit(&committed);
    MPI_Type_size(committed, &size);
    MPI_Type_get_true_extent(committed, &lower, &span);
    bytes = calloc((size_t)size + 1, sizeof *bytes);
    packed = malloc((size_t)size + 1);
    for (plane = 0; plane < 3 && size > 0; plane++) {
        pack_plane(committed, lower, span, plane, packed, size);
        for (i = 0; i < size; i++)
            bytes[i] += (int64_t)packed[i] << (8 * plane);
    }
    for (i = 0; i < size; i++)
        bytes[i] += lower;
    free(packed);
    MPI_Type_free(&committed);
    *count = size;
    return bytes;
}
