#include "array/text_reads.h"

#include <parapet_store.h>
#include <stdint.h>
#include <string.h>

#include "array/array_handle.h"
#include "array/node_path.h"
#include "base/checked.h"
#include "zarr/texts.h"

/* The part of the memory that a chunk may take once it is decoded, if it has to be: its texts take as much again. */
#define CHUNK_PART 4

/* Where a text is among those that were found, in the order of chunks. */
typedef struct found_text {
    size_t start, bytes;
} found_text;

typedef struct text_search {
    parapet_array *array;
    pp_box box;
    pp_grid grid;
    pp_budget budget;
    pp_chain *chain;
    pp_chain_scratch *scratch;
    pp_buffer stored; /* a chunk */
    pp_text text;     /* all that were found */
    pp_buffer found;  /* found_text of each element of the box */
} text_search;

/* ---- A chunk ---- */

static parapet_status open_chunk(const text_search *search, const int64_t *cell, pp_reader **reader)
{
    const pp_array_document *document = &search->array->document;
    pp_text name = {0};
    char *key = NULL;
    parapet_status status;
    pp_key_print(&document->keys, document->ndim, cell, &name);
    if ((status = name.status) == PARAPET_OK &&
        (status = pp_path_join(search->array->path, name.data, &key)) == PARAPET_OK)
        status = pp_store_open_object(search->array->store->backend, key, reader);
    pp_text_free(&name);
    pp_free(key);
    return status;
}

/* No bytes: it is not stored. */
static parapet_status read_chunk(text_search *search, const int64_t *cell, pp_bytes *decoded)
{
    pp_reader *reader = NULL;
    size_t bytes;
    parapet_status status = open_chunk(search, cell, &reader);
    *decoded = (pp_bytes){NULL, 0};
    if (status == PARAPET_ERR_NOT_FOUND)
        return PARAPET_OK;
    if (status != PARAPET_OK)
        return status;
    bytes = (size_t)pp_min_u64(reader->bytes, SIZE_MAX / 2); /* more than any budget has */
    if ((status = pp_buffer_ensure(&search->stored, bytes, "a chunk of texts")) == PARAPET_OK &&
        (status = pp_reader_read(reader, 0, bytes, search->stored.data)) == PARAPET_OK)
        status = pp_chain_decode(search->chain, search->scratch, (pp_bytes){search->stored.data, bytes}, decoded);
    pp_reader_free(reader);
    return status;
}

/* ---- Its texts ---- */

static int64_t number_in_box(const pp_box *box, const int64_t *at)
{
    int64_t number = 0;
    int d;
    for (d = 0; d < box->ndim; d++)
        number = number * box->count[d] + at[d] - box->start[d];
    return number;
}

static bool is_in_box(const pp_box *box, const int64_t *at)
{
    int d;
    for (d = 0; d < box->ndim; d++)
        if (at[d] < box->start[d] || at[d] - box->start[d] >= box->count[d])
            return false;
    return true;
}

static parapet_status keep_text(text_search *search, const int64_t *at, pp_bytes text)
{
    found_text *found = (found_text *)(void *)search->found.data;
    found[number_in_box(&search->box, at)] = (found_text){search->text.bytes, text.bytes};
    pp_text_add_bytes(&search->text, text.data, text.bytes);
    return pp_text_check(&search->text);
}

static parapet_status keep_fill(text_search *search, const pp_box *wanted)
{
    const char *fill = search->array->document.fill_text;
    int64_t at[PARAPET_MAX_NDIM];
    parapet_status status = PARAPET_OK;
    bool more;
    for (more = pp_box_first(wanted, at); more && status == PARAPET_OK; more = pp_box_next(wanted, at))
        status = keep_text(search, at, (pp_bytes){(const unsigned char *)fill, strlen(fill)});
    return status;
}

/* Chunks at the edge are stored whole. What follows the last wanted text is not looked at. */
static parapet_status keep_stored(text_search *search, const pp_box *whole, const pp_box *wanted, pp_bytes chunk)
{
    int64_t at[PARAPET_MAX_NDIM], left = pp_box_element_count(wanted);
    pp_texts texts;
    pp_bytes text;
    bool more;
    parapet_status status = pp_texts_begin(&texts, chunk, (uint64_t)pp_box_element_count(whole));
    for (more = pp_box_first(whole, at); more && left > 0 && status == PARAPET_OK; more = pp_box_next(whole, at))
        if ((status = pp_texts_next(&texts, &text)) == PARAPET_OK && is_in_box(wanted, at)) {
            status = keep_text(search, at, text);
            left--;
        }
    return status;
}

static parapet_status keep_chunk(text_search *search, const int64_t *cell)
{
    pp_box whole, wanted;
    pp_bytes chunk;
    parapet_status status = read_chunk(search, cell, &chunk);
    pp_grid_cell_whole_box(&search->grid, cell, &whole);
    (void)pp_box_intersect(&whole, &search->box, &wanted);
    if (status != PARAPET_OK)
        return status;
    return chunk.data == NULL ? keep_fill(search, &wanted) : keep_stored(search, &whole, &wanted, chunk);
}

/* ---- All of them ---- */

static parapet_status begin(text_search *search, const pp_text_wish *wish)
{
    const pp_array_document *document = &search->array->document;
    const size_t most = search->budget.limit_bytes / (document->codecs.count > 1 ? CHUNK_PART : 1);
    const pp_chunk_format format = {.ndim = 1,
                                    .shape = {(int64_t)most},
                                    .element_bytes = 1,
                                    .swap_bytes = 1,
                                    .fill_value = "",
                                    .is_at_most = true};
    pp_box all = {.ndim = document->ndim};
    size_t bytes = 0;
    parapet_status status;
    memcpy(all.count, document->shape, sizeof all.count);
    if (pp_grid_init(&search->grid, document->ndim, document->shape, document->grid_shape, 1) != PARAPET_OK)
        return PARAPET_ERR_FORMAT; /* a shape that cannot be, found in a document instead of a call */
    if ((status = pp_box_init(&search->box, document->ndim, wish->start, wish->count)) != PARAPET_OK)
        return status;
    if (!pp_box_contains(&all, &search->box))
        return pp_fail(PARAPET_ERR_ARGUMENT, "the box is not inside the array");
    if (!pp_multiply_size_fits((size_t)pp_box_element_count(&search->box), sizeof(found_text), &bytes))
        return pp_fail(PARAPET_ERR_MEMORY, "the box has more texts than any memory");
    if ((status = pp_buffer_init(&search->found, &search->budget, bytes + 1, "places of texts")) != PARAPET_OK ||
        (status = pp_chain_build(&search->chain, &document->codecs, &format)) != PARAPET_OK)
        return status;
    return pp_chain_decoder_build(&search->scratch, search->chain, &search->budget);
}

static parapet_status search_chunks(text_search *search)
{
    int64_t cell[PARAPET_MAX_NDIM];
    pp_box cells;
    bool more;
    parapet_status status = PARAPET_OK;
    pp_grid_cells_of_box(&search->grid, &search->box, &cells);
    for (more = pp_box_first(&cells, cell); more && status == PARAPET_OK; more = pp_box_next(&cells, cell))
        status = keep_chunk(search, cell);
    return status;
}

static parapet_status hand_over(const text_search *search, const pp_text_wish *wish)
{
    const found_text *found = (const found_text *)(const void *)search->found.data;
    int64_t i, count = pp_box_element_count(&search->box);
    size_t used = 0;
    parapet_status status = pp_allocate(wish->text, search->text.bytes + 1);
    for (i = 0; status == PARAPET_OK && i < count; i++) {
        if (found[i].bytes > 0)
            memcpy(*wish->text + used, search->text.data + found[i].start, found[i].bytes);
        used += found[i].bytes;
        wish->ends[i] = (int64_t)used;
    }
    return status;
}

static void end(text_search *search)
{
    pp_chain_scratch_free(search->scratch);
    pp_chain_free(search->chain);
    pp_buffer_free(&search->stored);
    pp_buffer_free(&search->found);
    pp_text_free(&search->text);
    pp_budget_clear(&search->budget);
}

parapet_status pp_array_read_texts(parapet_array *array, const pp_text_wish *wish)
{
    text_search search = {.array = array};
    parapet_status status;
    *wish->text = NULL;
    if (!array->document.has_texts)
        return pp_fail(
            PARAPET_ERR_UNSUPPORTED,
            "data_type %s is read only as \"string\" with the codec vlen-utf8, unsharded, and other codecs that "
            "this version knows",
            array->document.type.name);
    pp_budget_init(&search.budget, (size_t)array->store->options->local_bytes);
    search.stored.budget = &search.budget;
    pp_text_init_within(&search.text, &search.budget, "texts");
    if ((status = begin(&search, wish)) == PARAPET_OK && (status = search_chunks(&search)) == PARAPET_OK)
        status = hand_over(&search, wish);
    end(&search);
    return status;
}
