/* fuzz_trim_mark.c - what the document of an array says of having been cut, from anyone. The input is the value of
 * its attribute _parapet. Reading must neither crash nor leak; what is accepted names every dimension, and is marked
 * again as it came. */
#include "array/trim.h"
#include "bed.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

enum { NDIM = 3 };

static const char before[] =
    "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [4, 4, 4], \"data_type\": \"uint8\", \"fill_value\": "
    "0, "
    "\"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [2, 2, 2]}}, "
    "\"chunk_key_encoding\": {\"name\": \"default\"}, \"codecs\": [{\"name\": \"bytes\"}], "
    "\"attributes\": {\"_parapet\": ";

static void check_mark(pp_array_document *document)
{
    bool is_shrunk[PARAPET_MAX_NDIM] = {false}, again[PARAPET_MAX_NDIM] = {false};
    int i;
    require(document->ndim == NDIM);
    if (!pp_trim_is_marked(document->attributes) || pp_trim_read(document, is_shrunk) != PARAPET_OK)
        return;
    require(pp_trim_mark(document, is_shrunk) == PARAPET_OK && pp_trim_read(document, again) == PARAPET_OK);
    for (i = 0; i < NDIM; i++)
        require(is_shrunk[i] == again[i]);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    long live = pp_memory_live_count();
    pp_array_document document = {0};
    pp_json *json = NULL;
    pp_text text = {0};
    pp_text_add(&text, "%s", before);
    pp_text_add_bytes(&text, data, bytes);
    pp_text_add(&text, "}}");
    require(text.status == PARAPET_OK);
    if (pp_json_parse(&json, text.data, text.bytes) == PARAPET_OK &&
        pp_array_document_parse(&document, json) == PARAPET_OK)
        check_mark(&document);
    pp_array_document_clear(&document);
    pp_json_free(json);
    pp_text_free(&text);
    require(pp_memory_live_count() == live);
    return 0;
}
