#include "array/array_handle.h"

#define SMALL_CHUNK_BYTES (64 << 10)
#define LARGE_CHUNK_BYTES (INT64_C(2) << 30)

static void add_shape(pp_text *text, int ndim, const int64_t *shape)
{
    int d;
    if (ndim == 0)
        pp_text_add(text, "of one element");
    for (d = 0; d < ndim; d++)
        pp_text_add(text, "%s%lld", d > 0 ? " x " : "", (long long)shape[d]);
}

static void add_bytes(pp_text *text, double bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int unit = 0;
    while (bytes >= 1024 && unit < 6) {
        bytes /= 1024;
        unit++;
    }
    pp_text_add(text, "%.4g %s", bytes, units[unit]);
}

static void add_chunks(pp_text *text, const pp_layout *layout)
{
    int64_t bytes = (int64_t)pp_chain_decoded_bytes(layout->chain);
    pp_text_add(text, "chunks ");
    add_shape(text, layout->tiling.chunks.ndim, layout->tiling.chunks.cell_shape);
    pp_text_add(text, ", ");
    add_bytes(text, (double)bytes);
    pp_text_add(
        text,
        " each: the smallest amount that a read fetches and decodes. The default is about 1 MiB: it compresses well, "
        "one request for it runs near the disk's full speed, and reading a corner does not cost a whole file.\n");
    if (bytes < SMALL_CHUNK_BYTES && layout->tiling.chunks.cell_count * layout->tiling.shards.cell_count > 1)
        pp_text_add(text, "  these are small: below 64 KiB, requests and index entries outweigh the data.\n");
    if (bytes > LARGE_CHUNK_BYTES)
        pp_text_add(text, "  these are large: several codecs stop at 2 GiB, and every read needs the whole chunk.\n");
}

static void add_shards(pp_text *text, const pp_layout *layout)
{
    double chunk_bytes = (double)pp_chain_decoded_bytes(layout->chain);
    if (!layout->is_sharded) {
        pp_text_add(text,
                    "not sharded: every chunk is a file, %lld in all. An array that fits in one chunk gains nothing "
                    "from shards.\n",
                    (long long)layout->tiling.shards.cell_count);
        return;
    }
    pp_text_add(text, "shards ");
    add_shape(text, layout->tiling.shards.ndim, layout->tiling.shards.cell_shape);
    pp_text_add(text, ", %lld chunks, ", (long long)layout->tiling.chunks.cell_count);
    add_bytes(text, chunk_bytes * (double)layout->tiling.chunks.cell_count);
    pp_text_add(text,
                " before compression, %lld files in all. The default is about 256 MiB: files stay few, and a "
                "shard is streamed, never held in memory.\n",
                (long long)layout->tiling.shards.cell_count);
}

parapet_status parapet_array_layout_print(parapet_array *array, char **text)
{
    PP_TURN turn = {0};
    parapet_status status;
    pp_text out = {0};
    if (array == NULL || text == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_layout_print needs an array and a pointer for the text");
    if ((status = pp_turn_take(&turn, array->store->comm, PP_TURN_LOCAL)) != PARAPET_OK)
        return status;
    *text = NULL;
    if (array->layout_failure != NULL)
        return pp_failure_put(array->layout_failure);
    add_chunks(&out, &array->layout);
    add_shards(&out, &array->layout);
    return pp_outcome(pp_text_finish(&out, text));
}
