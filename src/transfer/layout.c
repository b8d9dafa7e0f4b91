#include "transfer/layout.h"

#include <string.h>

#include "base/status.h"

static parapet_status build_chain(pp_layout *layout, const pp_array_document *document, const pp_chain_spec *codecs,
                                  bool ignore_checksums)
{
    pp_chunk_format format = {
        .ndim = document->ndim,
        .element_bytes = document->type.element_bytes,
        .swap_bytes = document->type.swap_bytes,
        .fill_value = document->fill_value,
        .ignore_checksums = ignore_checksums,
    };
    memcpy(format.shape, layout->tiling.chunks.cell_shape, sizeof format.shape);
    return pp_chain_build(&layout->chain, codecs, &format);
}

static parapet_status check_readable(const pp_array_document *document)
{
    if (document->type.id == PARAPET_VARIABLE)
        return pp_fail(
            PARAPET_ERR_UNSUPPORTED,
            "data_type %s has elements of variable length, of which only text is read, by copy, diff, dump "
            "and parapet_array_read_texts_local",
            document->type.name);
    return PARAPET_OK;
}

parapet_status pp_layout_init(pp_layout *layout, const pp_array_document *document, bool ignore_checksums)
{
    const pp_sharding_spec *sharding = pp_chain_spec_sharding(&document->codecs);
    const int64_t *chunk_shape = sharding != NULL ? sharding->chunk_shape : document->grid_shape;
    parapet_status status;
    *layout = (pp_layout){
        .is_sharded = sharding != NULL,
        .keys = document->keys,
        .fill_value = document->fill_value,
    };
    if ((status = check_readable(document)) != PARAPET_OK ||
        (status = pp_grid_init(&layout->tiling.shards, document->ndim, document->shape, document->grid_shape,
                               document->type.element_bytes)) != PARAPET_OK)
        return status;
    if (sharding != NULL &&
        (status = pp_index_format_init(&layout->index, sharding, document->grid_shape)) != PARAPET_OK)
        return status;
    layout->index.ignore_checksums = ignore_checksums;
    if ((status = pp_tiling_init(&layout->tiling, &layout->tiling.shards, chunk_shape,
                                 document->type.element_bytes)) != PARAPET_OK)
        return status;
    return build_chain(layout, document, sharding != NULL ? &sharding->codecs : &document->codecs, ignore_checksums);
}

void pp_layout_clear(pp_layout *layout)
{
    pp_chain_free(layout->chain);
    *layout = (pp_layout){0};
}

bool pp_layout_may_read_again(const pp_layout *layout, const pp_store *store)
{
    return store->is_in_memory && pp_chain_begins_plain(layout->chain);
}

parapet_status pp_layout_key(const pp_layout *layout, const char *path, int64_t shard, char **key)
{
    int64_t cell[PARAPET_MAX_NDIM];
    pp_text text = {0};
    pp_grid_cell_position(&layout->tiling.shards, shard, cell);
    if (path[0] != '\0')
        pp_text_add(&text, "%s/", path);
    pp_key_print(&layout->keys, layout->tiling.shards.ndim, cell, &text);
    return pp_text_finish(&text, key);
}

bool pp_layout_shard_of_key(const pp_layout *layout, const char *key, int64_t *shard)
{
    const pp_grid *shards = &layout->tiling.shards;
    int64_t cell[PARAPET_MAX_NDIM];
    int d;
    if (!pp_key_parse(&layout->keys, shards->ndim, key, cell))
        return false;
    for (d = 0; d < shards->ndim; d++)
        if (cell[d] >= shards->cells[d])
            return false;
    *shard = pp_grid_cell_number(shards, cell);
    return true;
}

bool pp_layout_is_all_fill(const pp_layout *layout, const unsigned char *chunk)
{
    size_t bytes = pp_chain_decoded_bytes(layout->chain), element_bytes = layout->tiling.element_bytes;
    if (memcmp(chunk, layout->fill_value, element_bytes) != 0)
        return false;
    return bytes == element_bytes || memcmp(chunk, chunk + element_bytes, bytes - element_bytes) == 0;
}
