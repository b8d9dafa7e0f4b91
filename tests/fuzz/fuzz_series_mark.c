/* fuzz_series_mark.c - what a group says of a series, from anyone. With the first byte 'm' the rest is the value of
 * its attribute _parapet; else it is the whole zarr.json. Reading must neither crash nor leak, and what is accepted
 * names arrays that can be, each once. */
#include <string.h>

#include "bed.h"
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

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    static const char before[] = "{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": {\"_parapet\": ";
    bool is_mark = bytes > 0 && data[0] == 'm';
    parapet_series *series = NULL;
    pp_text text = {0};
    long live;
    pp_text_add(&text, "%s", is_mark ? before : "");
    pp_text_add_bytes(&text, data + is_mark, bytes - is_mark);
    pp_text_add(&text, "%s", is_mark ? "}}" : "");
    bed_put_text("run/zarr.json", &text);
    pp_text_free(&text);
    live = pp_memory_live_count();
    require(pp_series_build(&series, bed_store(), "run") == PARAPET_OK);
    if (pp_series_read_group(series) == PARAPET_OK)
        check_mark(series);
    require(pp_series_free(series) == PARAPET_OK);
    require(pp_memory_live_count() == live);
    return 0;
}
