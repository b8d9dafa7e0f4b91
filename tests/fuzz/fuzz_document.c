/* fuzz_document.c - documents from untrusted sources. The first byte selects the kind: '3' zarr.json of an array,
 * '2' .zarray, 'g' zarr.json of a group, 'a' .zattrs; the rest is the document. Reading must neither crash nor
 * leak; what can be read as a v3 array or group must print, and print the same after being read back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "zarr/document.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static void require(bool is_true, const char *what)
{
    if (is_true)
        return;
    (void)fprintf(stderr, "%s: %s\n", what, parapet_error_message());
    abort();
}

static pp_json *read_back(const pp_text *text)
{
    pp_json *json = NULL;
    require(pp_json_parse(&json, text->data, text->bytes) == PARAPET_OK, "what was printed is not JSON");
    return json;
}

static bool has_same_codecs(const pp_chain_spec *a, const pp_chain_spec *b)
{
    int i;
    for (i = 0; i < a->count && a->count == b->count; i++)
        if (a->codecs[i].id != b->codecs[i].id || a->codecs[i].is_big_endian != b->codecs[i].is_big_endian ||
            memcmp(a->codecs[i].order, b->codecs[i].order, sizeof a->codecs[i].order) != 0 ||
            a->codecs[i].level != b->codecs[i].level)
            return false;
    return a->count == b->count;
}

static void compare_arrays(const pp_array_document *a, const pp_array_document *b)
{
    require(a->ndim == b->ndim && memcmp(a->shape, b->shape, sizeof a->shape) == 0 &&
                memcmp(a->grid_shape, b->grid_shape, sizeof a->grid_shape) == 0,
            "the shape changed");
    require(a->type.id == b->type.id && strcmp(a->type.json, b->type.json) == 0 &&
                memcmp(a->fill_value, b->fill_value, a->type.element_bytes) == 0,
            "the type or fill value changed");
    require(a->keys.is_v2 == b->keys.is_v2 && a->keys.separator == b->keys.separator, "the keys changed");
    require(has_same_codecs(&a->codecs, &b->codecs), "the codecs changed");
}

static void try_array(pp_json *json)
{
    pp_array_document document = {0}, again = {0};
    pp_text first = {0}, second = {0};
    pp_json *back;
    if (pp_array_document_parse(&document, json) != PARAPET_OK)
        return;
    if (document.type.id != PARAPET_VARIABLE) {
        require(pp_array_document_print(&document, &first) == PARAPET_OK, "cannot print");
        back = read_back(&first);
        require(pp_array_document_parse(&again, back) == PARAPET_OK, "cannot read back");
        compare_arrays(&document, &again);
        require(pp_array_document_print(&again, &second) == PARAPET_OK, "cannot print again");
        require(strcmp(first.data, second.data) == 0, "prints differently");
        pp_json_free(back);
    }
    pp_text_free(&first);
    pp_text_free(&second);
    pp_array_document_clear(&document);
    pp_array_document_clear(&again);
}

static void try_group(pp_json *json)
{
    pp_group_document document = {0}, again = {0};
    pp_text first = {0}, second = {0};
    pp_json *back;
    if (pp_group_document_parse(&document, json) != PARAPET_OK)
        return;
    require(pp_group_document_print(&document, &first) == PARAPET_OK, "cannot print");
    back = read_back(&first);
    require(pp_group_document_parse(&again, back) == PARAPET_OK, "cannot read back");
    require(pp_group_document_print(&again, &second) == PARAPET_OK, "cannot print again");
    require(strcmp(first.data, second.data) == 0, "prints differently");
    pp_json_free(back);
    pp_text_free(&first);
    pp_text_free(&second);
    pp_group_document_clear(&document);
    pp_group_document_clear(&again);
}

static void try_v2(pp_json *zarray, pp_json *zattrs)
{
    pp_array_document array = {0};
    pp_group_document group = {0};
    (void)pp_array_document_parse_v2(&array, zarray, zattrs);
    (void)pp_group_document_parse_v2(&group, zarray, zattrs);
    pp_array_document_clear(&array);
    pp_group_document_clear(&group);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    static const char zarray_text[] = "{\"zarr_format\":2,\"shape\":[2],\"chunks\":[1],\"dtype\":\"<i4\"}";
    long live = pp_memory_live_count();
    pp_json *json = NULL, *zarray = NULL;
    if (bytes == 0 || pp_json_parse(&json, (const char *)data + 1, bytes - 1) != PARAPET_OK)
        return 0;
    if (data[0] == '3')
        try_array(json);
    else if (data[0] == 'g')
        try_group(json);
    else if (data[0] == '2')
        try_v2(json, NULL);
    else if (pp_json_parse(&zarray, zarray_text, sizeof zarray_text - 1) == PARAPET_OK)
        try_v2(zarray, json);
    pp_json_free(zarray);
    pp_json_free(json);
    require(live == pp_memory_live_count(), "memory was not given back");
    return 0;
}
