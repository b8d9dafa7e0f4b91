/* fuzz_journal.c - the journal of a copy from untrusted sources. With the first byte 's' the rest is cut into records
 * of up to 255 bytes, each with its length before it, that get the right frame and checksum; else it is the journal.
 * Reading must neither crash nor leak, and tell of no more templates than there are. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "codec/crc32c.h"
#include "copy/journal.h"

#define STATE "a/__parapet/copy/pass-0"
#define TEMPLATES 3

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static parapet_status hear_shard(void *context, int64_t template_number, const pp_journal_shard *shard)
{
    (void)context;
    (void)shard;
    require(template_number >= 0 && template_number < TEMPLATES);
    return PARAPET_OK;
}

static parapet_status hear_chunk(void *context, const pp_journal_shard *shard, const pp_journal_chunk *chunk)
{
    (void)context;
    (void)shard;
    (void)chunk;
    return PARAPET_OK;
}

static void add_record(pp_text *journal, const unsigned char *payload, size_t bytes)
{
    unsigned char number[8];
    pp_text record = {0};
    pp_store_u64le(number, bytes);
    pp_text_add_bytes(&record, number, 8);
    pp_text_add_bytes(&record, payload, bytes);
    pp_store_u32le(number, pp_crc32c(0, record.data, record.bytes));
    pp_text_add_bytes(&record, number, 4);
    pp_text_add_bytes(journal, record.data, record.bytes);
    require(record.status == PARAPET_OK);
    pp_text_free(&record);
}

static void make_journal(pp_text *journal, const unsigned char *data, size_t bytes)
{
    size_t at, length;
    if (bytes == 0 || data[0] != 's') {
        pp_text_add_bytes(journal, data, bytes);
        return;
    }
    for (at = 1; at < bytes; at += 1 + length) {
        length = data[at] < bytes - at - 1 ? data[at] : bytes - at - 1;
        add_record(journal, data + at + 1, length);
    }
}

static void read_journal(pp_store *store)
{
    pp_journal_reader reader = {.most_bytes = pp_journal_record_most(4, 64),
                                .most_templates = TEMPLATES,
                                .shard = hear_shard,
                                .chunk = hear_chunk};
    pp_done_units done = {0};
    int64_t templates;
    uint64_t whole;
    if (pp_journal_read(store, STATE, 0, &reader, &templates, &whole) == PARAPET_OK)
        require(templates <= TEMPLATES);
    (void)pp_done_units_load(&done, store, STATE, 100);
    pp_done_units_clear(&done);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    static const char *const keys[] = {STATE "/lot-0", STATE "/done-0"};
    pp_text journal = {0};
    pp_store *store = NULL;
    pp_log *log = NULL;
    int i;
    make_journal(&journal, data, bytes);
    require(pp_store_memory_build(&store, NULL) == PARAPET_OK);
    for (i = 0; i < 2; i++) {
        require(pp_store_open_log(store, keys[i], 0, &log) == PARAPET_OK);
        require(journal.bytes == 0 || pp_log_append(log, journal.data, journal.bytes) == PARAPET_OK);
        pp_log_close(log);
    }
    read_journal(store);
    pp_store_free(store);
    pp_text_free(&journal);
    return 0;
}
