#include "transfer/move.h"

#include "comm/direct.h"
#include "geometry/strided.h"

static unsigned char *place_in_chunk(const pp_move *move, int64_t *strides)
{
    pp_strides_c_order(move->box->ndim, move->chunk_box->count, move->element_bytes, strides);
    return (unsigned char *)move->chunk + pp_strides_offset(move->chunk_box, strides, move->box->start);
}

uint64_t pp_move_address(const pp_move *move)
{
    pp_box held;
    pp_claim_box(move->claim, move->ndim_most, move->box->ndim, &held);
    return (uint64_t)(move->claim[PP_CLAIM_ADDRESS] +
                      pp_strides_offset(&held, pp_claim_strides(move->claim, move->ndim_most), move->box->start));
}

/* The memory that a chunk is exchanged with. */
typedef struct memory {
    void *data;
    const int64_t *strides;
    bool is_callers; /* and not read again soon */
} memory;

static void copy_box(const pp_move *move, pp_direction direction, memory there)
{
    int64_t chunk_strides[PARAPET_MAX_NDIM];
    unsigned char *in_chunk = place_in_chunk(move, chunk_strides);
    bool gathers = direction == PP_WRITING;
    pp_strided_copy(&(pp_strided){
        .ndim = move->box->ndim,
        .element_bytes = move->element_bytes,
        .count = move->box->count,
        .target = gathers ? in_chunk : there.data,
        .target_strides = gathers ? chunk_strides : there.strides,
        .source = gathers ? there.data : in_chunk,
        .source_strides = gathers ? there.strides : chunk_strides,
        .is_nontemporal = !gathers && there.is_callers,
    });
}

void pp_move_own(const pp_move *move, pp_direction direction)
{
    copy_box(
        move, direction,
        (memory){(void *)(uintptr_t)pp_move_address(move), pp_claim_strides(move->claim, move->ndim_most), true});
}

void pp_move_packed(const pp_move *move, pp_direction direction, void *packed)
{
    int64_t strides[PARAPET_MAX_NDIM];
    pp_strides_c_order(move->box->ndim, move->box->count, move->element_bytes, strides);
    copy_box(move, direction, (memory){packed, strides, false});
}

bool pp_move_direct(const pp_move *move, pp_direction direction, int64_t process)
{
    int64_t chunk_strides[PARAPET_MAX_NDIM];
    pp_direct_copy copy = {
        .process = process,
        .ndim = move->box->ndim,
        .element_bytes = move->element_bytes,
        .count = move->box->count,
        .local = place_in_chunk(move, chunk_strides),
        .local_strides = chunk_strides,
        .remote = pp_move_address(move),
        .remote_strides = pp_claim_strides(move->claim, move->ndim_most),
    };
    return direction == PP_WRITING ? pp_direct_read(&copy) : pp_direct_write(&copy);
}

void pp_move_fill(const pp_move *move, const void *value)
{
    pp_strided_fill(&(pp_strided){
        .ndim = move->box->ndim,
        .element_bytes = move->element_bytes,
        .count = move->box->count,
        .target = (void *)(uintptr_t)pp_move_address(move),
        .target_strides = pp_claim_strides(move->claim, move->ndim_most),
        .source = value,
    });
}

bool pp_move_is_run(const pp_move *move)
{
    const int64_t *strides = pp_claim_strides(move->claim, move->ndim_most);
    int64_t run = (int64_t)move->element_bytes;
    int d;
    for (d = move->box->ndim - 1; d >= 0; d--) {
        if (move->box->count[d] > 1 && strides[d] != run)
            return false;
        run *= move->box->count[d];
    }
    return true;
}
