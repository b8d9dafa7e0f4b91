/* fuzz_places.c - tables of places from untrusted sources, about a file of 4,096 bytes. The checksum is put right, so
 * that what is behind it is tried. All that a table shows can be listed, and read unless it is encoded. */
#include "foreign_walk.h"

#include "base/status.h"
#include "codec/crc32c.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

#define FILE_BYTES 4096

static void take(pp_store *store, const unsigned char *data, size_t bytes)
{
    visit root = {.store = store, .prefix = "", .left = MOST_OBJECTS, .is_encoded = true};
    pp_text table = {0};
    pp_text_add_bytes(&table, data, bytes);
    pp_text_add(&table, "end %08x\n", pp_crc32c(0, data, bytes));
    require(table.status == PARAPET_OK);
    if (pp_foreign_take_table(store, table.data, table.bytes) == PARAPET_OK)
        require(pp_store_list(store, "", look, &root) == PARAPET_OK);
    else
        require(pp_failure_message()[0] != '\0');
    pp_text_free(&table);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    static const unsigned char file[FILE_BYTES] = "\x78\x9c\x4b\x4c\x04\x02\0\x05\xb4\x01\x85";
    long live = pp_memory_live_count();
    pp_foreign_source source = {.key = "file", .table = "table"};
    pp_store *store = NULL;
    require(pp_store_memory_build(&source.files, NULL) == PARAPET_OK);
    put(source.files, file, sizeof file);
    require(pp_foreign_build_over(&store, &source) == PARAPET_OK);
    take(store, data, bytes);
    pp_store_free(store);
    pp_store_free(source.files);
    require(pp_memory_live_count() == live);
    return 0;
}
