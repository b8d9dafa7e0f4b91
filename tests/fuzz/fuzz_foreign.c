/* fuzz_foreign.c - files of other formats from untrusted sources. With the first byte 'r' what follows up to a colon
 * are the words of a raw file. Opening must neither crash nor leak, and all that a file shows can be listed and read:
 * a header that was accepted leads nowhere outside the file. */
#include "foreign_walk.h"

#include "base/status.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    long live = pp_memory_live_count();
    pp_foreign_source source = {.key = "file"};
    pp_store *store = NULL;
    visit root = {.prefix = "", .left = MOST_OBJECTS};
    char *text = NULL;
    require(pp_allocate(&text, bytes + 1) == PARAPET_OK);
    memcpy(text, data, bytes);
    if (bytes > 0 && data[0] == 'r')
        source.raw = text + 1;
    require(pp_store_memory_build(&source.files, NULL) == PARAPET_OK);
    put(source.files, data, bytes);
    if (pp_foreign_build_over(&store, &source) == PARAPET_OK) {
        root.store = store;
        if (!pp_foreign_needs_table(store)) /* fuzz_places gives them one */
            require(pp_store_list(store, "", look, &root) == PARAPET_OK);
    } else
        require(pp_failure_message()[0] != '\0');
    pp_store_free(store);
    pp_store_free(source.files);
    pp_free(text);
    require(pp_memory_live_count() == live);
    return 0;
}
