/* document.c - documents of arrays: see document.h. */
#include <parapet_store.h>
#include <stdio.h>
#include <string.h>

#include "array/array_handle.h"
#include "array/attributes.h"
#include "array/document.h"
#include "plan/shapes.h"

static parapet_status name_dimension(const parapet_array_spec *spec, int d, char **name)
{
    char fallback[16];
    const char *given = spec->dimension_names != NULL ? spec->dimension_names[d] : NULL;
    int i;
    if (spec->dimension_names != NULL && (given == NULL || given[0] == '\0'))
        return pp_fail(PARAPET_ERR_ARGUMENT, "dimension_names[%d] is empty", d);
    for (i = 0; given != NULL && i < d; i++)
        if (strcmp(given, spec->dimension_names[i]) == 0)
            return pp_fail(PARAPET_ERR_ARGUMENT, "dimension_names[%d] and [%d] are both \"%s\"", i, d, given);
    (void)snprintf(fallback, sizeof fallback, "dim_%d", d);
    return pp_text_duplicate(name, given != NULL ? given : fallback);
}

static parapet_status set_names(const parapet_array_spec *spec, pp_array_document *document)
{
    parapet_status status = PARAPET_OK;
    int d;
    document->has_dimension_names = true;
    for (d = 0; d < spec->ndim && status == PARAPET_OK; d++)
        status = name_dimension(spec, d, &document->dimension_names[d]);
    return status;
}

static parapet_status set_fill(const parapet_array_spec *spec, pp_array_document *document)
{
    parapet_status status = pp_allocate(&document->fill_value, document->type.element_bytes);
    if (status == PARAPET_OK && spec->fill_value != NULL)
        memcpy(document->fill_value, spec->fill_value, document->type.element_bytes);
    document->is_fill_defined = true;
    return status;
}

/* The index is the one every reader knows: little-endian, CRC-32C, at the end. */
parapet_status pp_document_wrap_in_shards(pp_array_document *document, const int64_t *chunks)
{
    pp_sharding_spec *sharding;
    parapet_status status = pp_allocate(&sharding, sizeof *sharding);
    if (status != PARAPET_OK)
        return status;
    sharding->ndim = document->ndim;
    memcpy(sharding->chunk_shape, chunks, (size_t)document->ndim * sizeof chunks[0]);
    sharding->codecs = document->codecs;
    sharding->index_codecs.count = 2;
    sharding->index_codecs.codecs[0].id = PP_CODEC_BYTES;
    sharding->index_codecs.codecs[1].id = PP_CODEC_CRC32C;
    document->codecs = (pp_chain_spec){.count = 1};
    document->codecs.codecs[0].id = PP_CODEC_SHARDING;
    document->codecs.codecs[0].sharding = sharding;
    return PARAPET_OK;
}

/* A scalar, and an array that fits one chunk, would gain nothing from a shard around it. */
static bool is_worth_sharding(const parapet_array_spec *spec, const int64_t *chunks, const int64_t *shards)
{
    if (spec->unsharded || spec->ndim == 0)
        return false;
    return spec->shards != NULL || memcmp(chunks, shards, (size_t)spec->ndim * sizeof chunks[0]) != 0;
}

static parapet_status set_layout(const parapet_array_spec *spec, int64_t expected_servers,
                                 pp_array_document *document)
{
    int64_t chunks[PARAPET_MAX_NDIM];
    parapet_status status =
        pp_shapes_choose(spec, document->type.element_bytes, expected_servers, chunks, document->grid_shape);
    if (status != PARAPET_OK ||
        (status = pp_codecs_from_words(&document->codecs, spec->codec != NULL ? spec->codec : "zstd:3",
                                       document->type.element_bytes, !spec->no_checksum)) != PARAPET_OK)
        return status;
    return is_worth_sharding(spec, chunks, document->grid_shape) ? pp_document_wrap_in_shards(document, chunks)
                                                                 : PARAPET_OK;
}

parapet_status pp_document_from_spec(pp_array_document *document, const parapet_array_spec *spec,
                                     int64_t expected_servers)
{
    parapet_status status;
    *document = (pp_array_document){.zarr_format = 3, .ndim = spec->ndim, .keys = {.separator = '/'}};
    if (spec->ndim > 0)
        memcpy(document->shape, spec->shape, (size_t)spec->ndim * sizeof spec->shape[0]);
    if ((status = pp_type_init(&document->type, spec->type, spec->element_bytes, spec->time_unit)) != PARAPET_OK ||
        (status = set_fill(spec, document)) != PARAPET_OK || (status = set_names(spec, document)) != PARAPET_OK ||
        (status = pp_attributes_parse(spec->attributes, &document->attributes)) != PARAPET_OK)
        return status;
    return set_layout(spec, expected_servers, document);
}

const pp_chain_spec *pp_document_chunk_codecs(const pp_array_document *document)
{
    const pp_sharding_spec *sharding = pp_chain_spec_sharding(&document->codecs);
    return sharding != NULL ? &sharding->codecs : &document->codecs;
}

/* By way of the text: a document is small, and so nothing is ever shared by two handles. */
parapet_status pp_array_document_duplicate(const pp_array_document *document, pp_array_document *copy)
{
    pp_text text = {0};
    pp_json *json = NULL;
    parapet_status status = pp_array_document_print(document, &text);
    *copy = (pp_array_document){0};
    if (status == PARAPET_OK && (status = pp_json_parse(&json, text.data, text.bytes)) == PARAPET_OK)
        status = pp_array_document_parse(copy, json);
    copy->is_foreign = document->is_foreign;
    pp_json_free(json);
    pp_text_free(&text);
    return status;
}

void pp_derived_clear(pp_derived *derived)
{
    pp_layout_clear(&derived->layout);
    pp_free(derived->layout_failure);
    pp_free(derived->codec_words);
    *derived = (pp_derived){0};
}

/* A failure is large and rare, whereas handles are many. */
static parapet_status keep_failure(pp_derived *derived, parapet_status failed)
{
    pp_failure failure = {0};
    parapet_status status;
    pp_failure_take(&failure, failed);
    if ((status = pp_allocate(&derived->layout_failure, sizeof failure)) == PARAPET_OK)
        *derived->layout_failure = failure;
    return status;
}

static void print_codecs(const pp_array_document *document, pp_text *text)
{
    const pp_chain_spec *codecs = pp_document_chunk_codecs(document);
    if (document->has_texts)
        pp_text_add(text, "vlen-utf8%s", codecs->count > 1 ? " " : "");
    if (!document->has_texts || codecs->count > 1)
        pp_chain_spec_print(codecs, text);
}

/* Arrays of variable-length elements have no layout: they open and list, and say why they cannot be read. */
parapet_status pp_derived_init(pp_derived *derived, const parapet_store *store, const pp_array_document *document)
{
    pp_text text = {0};
    parapet_status status = pp_layout_init(&derived->layout, document, store->options->ignore_checksums);
    if (status == PARAPET_ERR_ARGUMENT) /* a shape that cannot be, found in a document instead of a call */
        status = PARAPET_ERR_FORMAT;
    if (status != PARAPET_OK && document->type.id != PARAPET_VARIABLE)
        return status;
    if (status != PARAPET_OK && (status = keep_failure(derived, status)) != PARAPET_OK)
        return status;
    print_codecs(document, &text);
    return pp_text_finish(&text, &derived->codec_words);
}

void pp_derived_adopt(pp_derived *derived, parapet_array *array)
{
    pp_layout_clear(&array->layout);
    pp_free(array->layout_failure);
    pp_free(array->codec_words);
    array->layout = derived->layout;
    array->layout_failure = derived->layout_failure;
    array->codec_words = derived->codec_words;
    *derived = (pp_derived){0};
}
