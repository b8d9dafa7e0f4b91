/* What a handle knows of its node, as bytes:
 *
 *     array: u64 flags, digest of zarr.json, incarnation, then blocks: zarr.json or .zarray, .zattrs, head of the
 * seal, lattice group: u64 flags, then blocks: zarr.json or .zgroup, .zattrs
 *
 * A block that is not there is empty. These bytes never leave the memory of one program. */
#include <string.h>

#include "array/array_handle.h"
#include "array/document.h"
#include "array/group_handle.h"
#include "array/rank0.h"
#include "array/seal_objects.h"
#include "array/state.h"
#include "base/checked.h"

enum {
    STATE_IS_VERSION_2 = 1,
    STATE_HAS_HEAD = 2,
    STATE_IS_SEALED = 4,
    STATE_IS_MARK_IGNORED = 8,
    STATE_IS_BROKEN = 16
};

static void add_json(pp_text *bytes, pp_json *json)
{
    pp_text text = {0};
    if (json != NULL)
        pp_json_print(json, false, &text);
    pp_bytes_add_block(bytes, text.data, text.bytes);
    if (bytes->status == PARAPET_OK)
        bytes->status = text.status;
    pp_text_free(&text);
}

/* *json stays NULL for an empty block. */
static parapet_status take_json(pp_cursor *bytes, pp_json **json)
{
    size_t length;
    const char *text = pp_cursor_block(bytes, &length);
    return length > 0 ? pp_json_parse(json, text, length) : PARAPET_OK;
}

static parapet_status add_document(const parapet_array *array, pp_text *bytes)
{
    pp_text text = {0};
    parapet_status status;
    if (array->zarray != NULL) {
        add_json(bytes, array->zarray);
        return PARAPET_OK;
    }
    if ((status = pp_array_document_print(&array->document, &text)) == PARAPET_OK)
        pp_bytes_add_block(bytes, text.data, text.bytes);
    pp_text_free(&text);
    return status;
}

/* A head that could not be read has no digests, and nothing is ever taken from it. */
static parapet_status add_head(const pp_manifest_head *head, pp_text *bytes)
{
    size_t length = pp_manifest_head_bytes(head);
    unsigned char *data = NULL;
    parapet_status status;
    if (head->page_digests == NULL) {
        pp_bytes_add_block(bytes, NULL, 0);
        return PARAPET_OK;
    }
    if ((status = pp_allocate(&data, length)) != PARAPET_OK)
        return status;
    pp_manifest_head_encode(head, data);
    pp_bytes_add_block(bytes, data, length);
    pp_free(data);
    return PARAPET_OK;
}

/* The phase, then the multiplier of every dimension. */
static void add_lattice(const parapet_array *array, pp_text *bytes)
{
    int64_t words[1 + PARAPET_MAX_NDIM] = {array->lattice.phase};
    memcpy(words + 1, array->lattice.multipliers, sizeof array->lattice.multipliers);
    pp_bytes_add_block(bytes, words, array->has_lattice ? (1 + (size_t)array->document.ndim) * sizeof words[0] : 0);
}

static void take_lattice(pp_lattice *lattice, bool *has_lattice, pp_cursor *bytes)
{
    int64_t words[1 + PARAPET_MAX_NDIM] = {0};
    size_t length;
    const void *block = pp_cursor_block(bytes, &length);
    *has_lattice = length > 0;
    memcpy(words, block, pp_min_size(length, sizeof words));
    *lattice = (pp_lattice){.phase = words[0]};
    memcpy(lattice->multipliers, words + 1, sizeof lattice->multipliers);
}

parapet_status pp_array_state_print(const parapet_array *array, pp_text *bytes)
{
    uint64_t flags = (array->document.zarr_format == 2 ? STATE_IS_VERSION_2 : 0u) |
                     (array->has_head ? STATE_HAS_HEAD : 0u) | (array->is_sealed ? STATE_IS_SEALED : 0u) |
                     (array->is_mark_ignored ? STATE_IS_MARK_IGNORED : 0u) |
                     (array->is_broken ? STATE_IS_BROKEN : 0u);
    parapet_status status;
    pp_bytes_add_u64(bytes, flags);
    pp_text_add_bytes(bytes, array->document_digest, sizeof array->document_digest);
    pp_text_add_bytes(bytes, array->incarnation, sizeof array->incarnation);
    if ((status = add_document(array, bytes)) != PARAPET_OK)
        return status;
    add_json(bytes, array->zattrs);
    if ((status = add_head(&array->head, bytes)) == PARAPET_OK)
        add_lattice(array, bytes);
    return status;
}

/* What a state becomes before it replaces what the handle has. */
typedef struct array_state {
    uint64_t flags;
    unsigned char digest[PP_SHA256_BYTES];
    char incarnation[PP_INCARNATION_BYTES];
    pp_json *json, *zattrs;
    pp_array_document document;
    pp_manifest_head head;
    pp_lattice lattice;
    bool has_lattice;
    pp_derived derived;
} array_state;

static void clear_state(array_state *state)
{
    pp_json_free(state->json);
    pp_json_free(state->zattrs);
    pp_array_document_clear(&state->document);
    pp_manifest_head_clear(&state->head);
    pp_derived_clear(&state->derived);
}

static parapet_status take_state(array_state *state, const parapet_store *store, pp_cursor *bytes)
{
    const void *head;
    size_t head_bytes;
    parapet_status status;
    state->flags = pp_cursor_u64(bytes);
    pp_cursor_copy(bytes, state->digest, sizeof state->digest);
    pp_cursor_copy(bytes, state->incarnation, sizeof state->incarnation);
    if ((status = take_json(bytes, &state->json)) != PARAPET_OK ||
        (status = take_json(bytes, &state->zattrs)) != PARAPET_OK)
        return status;
    head = pp_cursor_block(bytes, &head_bytes);
    take_lattice(&state->lattice, &state->has_lattice, bytes);
    if (head_bytes > 0 && (status = pp_manifest_head_decode(&state->head, head, head_bytes)) != PARAPET_OK)
        return status;
    status = (state->flags & STATE_IS_VERSION_2) != 0
                 ? pp_array_document_parse_v2(&state->document, state->json, state->zattrs)
                 : pp_array_document_parse(&state->document, state->json);
    state->document.is_foreign = store->is_foreign;
    return status == PARAPET_OK ? pp_derived_init(&state->derived, store, &state->document) : status;
}

static void keep_version_2(pp_json **kept, pp_json **stored, pp_json **json, pp_json **zattrs)
{
    pp_json_free(*kept);
    pp_json_free(*stored);
    *kept = *json;
    *stored = *zattrs;
    *json = *zattrs = NULL;
}

void pp_array_keep_cells(parapet_array *array)
{
    if (!array->has_lattice)
        memcpy(array->first_cells, array->layout.tiling.shards.cells, sizeof array->first_cells);
    array->has_lattice = true;
}

parapet_status pp_array_state_adopt(parapet_array *array, pp_cursor *bytes)
{
    array_state state = {0};
    parapet_status status = take_state(&state, array->store, bytes);
    if (status != PARAPET_OK) {
        clear_state(&state);
        return status;
    }
    pp_dirty_arrays_note_shape(array, state.document.shape);
    if (memcmp(array->document.shape, state.document.shape, sizeof array->document.shape) != 0)
        pp_shard_notes_clear(&array->notes); /* shards have other numbers now */
    pp_array_document_clear(&array->document);
    pp_manifest_head_clear(&array->head);
    array->document = state.document;
    array->head = state.head;
    state.document = (pp_array_document){0};
    state.head = (pp_manifest_head){0};
    pp_derived_adopt(&state.derived, array);
    if (state.has_lattice) { /* else that of this handle stays in force */
        array->lattice = state.lattice;
        pp_array_keep_cells(array);
    }
    if ((state.flags & STATE_IS_VERSION_2) != 0)
        keep_version_2(&array->zarray, &array->zattrs, &state.json, &state.zattrs);
    memcpy(array->document_digest, state.digest, sizeof state.digest);
    memcpy(array->incarnation, state.incarnation, sizeof state.incarnation);
    array->has_head = (state.flags & STATE_HAS_HEAD) != 0;
    array->is_sealed = (state.flags & STATE_IS_SEALED) != 0;
    array->is_mark_ignored = (state.flags & STATE_IS_MARK_IGNORED) != 0;
    array->is_broken = (state.flags & STATE_IS_BROKEN) != 0;
    pp_seal_forget_pages(array);
    clear_state(&state);
    return PARAPET_OK;
}

/* Without consolidated metadata, which may be large, and which nothing is ever taken from. */
parapet_status pp_group_state_print(const parapet_group *group, pp_text *bytes)
{
    pp_group_document document = group->document;
    bool is_version_2 = document.zarr_format == 2;
    pp_text text = {0};
    parapet_status status = PARAPET_OK;
    document.consolidated_metadata = NULL;
    pp_bytes_add_u64(bytes, (is_version_2 ? STATE_IS_VERSION_2 : 0u) | (group->is_broken ? STATE_IS_BROKEN : 0u));
    if (is_version_2)
        add_json(bytes, group->zgroup);
    else if ((status = pp_group_document_print(&document, &text)) == PARAPET_OK)
        pp_bytes_add_block(bytes, text.data, text.bytes);
    add_json(bytes, group->zattrs);
    pp_text_free(&text);
    return status;
}

parapet_status pp_group_state_adopt(parapet_group *group, pp_cursor *bytes)
{
    uint64_t flags = pp_cursor_u64(bytes);
    bool is_version_2 = (flags & STATE_IS_VERSION_2) != 0;
    pp_group_document document = {0};
    pp_json *json = NULL, *zattrs = NULL;
    parapet_status status;
    if ((status = take_json(bytes, &json)) == PARAPET_OK && (status = take_json(bytes, &zattrs)) == PARAPET_OK)
        status = is_version_2 ? pp_group_document_parse_v2(&document, json, zattrs)
                              : pp_group_document_parse(&document, json);
    if (status == PARAPET_OK) {
        pp_group_document_clear(&group->document);
        group->document = document;
        group->is_broken = (flags & STATE_IS_BROKEN) != 0;
        if (is_version_2)
            keep_version_2(&group->zgroup, &group->zattrs, &json, &zattrs);
    }
    pp_json_free(json);
    pp_json_free(zattrs);
    return status;
}

parapet_status pp_array_states_print(parapet_array *const *arrays, int count, pp_text *bytes)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < count && status == PARAPET_OK; i++)
        status = pp_array_state_print(arrays[i], bytes);
    return status;
}

parapet_status pp_array_states_adopt(parapet_array *const *arrays, int count, pp_cursor *bytes)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < count && status == PARAPET_OK; i++)
        status = pp_array_state_adopt(arrays[i], bytes);
    return status;
}

static parapet_status print_array(void *array, pp_text *bytes)
{
    return pp_array_state_print(array, bytes);
}

static parapet_status adopt_array(void *array, pp_cursor *bytes)
{
    return pp_array_state_adopt(array, bytes);
}

static void mark_array_broken(void *subject)
{
    parapet_array *array = subject;
    array->is_broken = true;
}

parapet_status pp_array_rank0_do(parapet_array *array, const char *phase, pp_rank0_work work, const void *argument)
{
    pp_rank0_task task = {.subject = array,
                          .argument = argument,
                          .work = work,
                          .print = print_array,
                          .adopt = adopt_array,
                          .mark_broken = mark_array_broken};
    return pp_rank0_do(array->store->comm, phase, &task);
}

static parapet_status print_group(void *group, pp_text *bytes)
{
    return pp_group_state_print(group, bytes);
}

static parapet_status adopt_group(void *group, pp_cursor *bytes)
{
    return pp_group_state_adopt(group, bytes);
}

static void mark_group_broken(void *subject)
{
    parapet_group *group = subject;
    group->is_broken = true;
}

parapet_status pp_group_rank0_do(parapet_group *group, const char *phase, pp_rank0_work work, const void *argument)
{
    pp_rank0_task task = {.subject = group,
                          .argument = argument,
                          .work = work,
                          .print = print_group,
                          .adopt = adopt_group,
                          .mark_broken = mark_group_broken};
    return pp_rank0_do(group->store->comm, phase, &task);
}
