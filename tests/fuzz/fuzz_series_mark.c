/* fuzz_series_mark.c - what a group says of a series, from anyone. With the first byte 'm' the rest is the value of
 * its attribute _parapet; else it is the whole zarr.json. Reading must neither crash nor leak, and what is accepted
 * names arrays that can be, each once. */
#include <string.h>

#include "bed.h"
#include "series/consolidated_copy.h"
#include "series/group_document.h"
#include "series/series_handle.h"
#include "zarr/document.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static const char *name_at(const parapet_series *series, int index)
{
    return index < series->count ? series->names[index] : series->dimension;
}

static void check_mark(const parapet_series *series)
{
    int i, j;
    require(series->count >= 1 && series->steps_committed >= -1);
    for (i = 0; i <= series->count; i++) {
        const char *name = name_at(series, i);
        require(name[0] != '\0' && strchr(name, '/') == NULL && pp_path_check(name) == PARAPET_OK);
        for (j = 0; j < i; j++)
            require(strcmp(name, name_at(series, j)) != 0);
    }
}

/* As a group's document is read; parsing it takes the consolidated metadata out of the text. */
static parapet_status take_group(parapet_series *series, const pp_text *text)
{
    pp_group_document document = {0};
    pp_json *json = NULL;
    char *copy = NULL;
    parapet_status status;
    require(pp_bytes_duplicate(&copy, text->data, text->bytes + 1) == PARAPET_OK);
    if ((status = pp_json_parse_stored(&json, copy, text->bytes)) == PARAPET_OK &&
        (status = pp_group_document_parse(&document, json)) == PARAPET_OK &&
        (status = pp_series_take_mark(series, &document)) == PARAPET_OK)
        status = pp_series_take_consolidated_copy(series, text->data, text->bytes);
    pp_group_document_clear(&document);
    pp_json_free(json);
    pp_free(copy);
    return status;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    static const char before[] = "{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": {\"_parapet\": ";
    bool is_mark = bytes > 0 && data[0] == 'm';
    parapet_store *store = bed_store();
    long live = pp_memory_live_count();
    parapet_series *series = NULL;
    pp_text text = {0};
    pp_text_add(&text, "%s", is_mark ? before : "");
    pp_text_add_bytes(&text, data + is_mark, bytes - is_mark);
    pp_text_add(&text, "%s", is_mark ? "}}" : "");
    require(text.status == PARAPET_OK && pp_series_build(&series, store, "run") == PARAPET_OK);
    if (take_group(series, &text) == PARAPET_OK)
        check_mark(series);
    require(pp_series_free(series) == PARAPET_OK);
    pp_text_free(&text);
    require(pp_memory_live_count() == live);
    return 0;
}
