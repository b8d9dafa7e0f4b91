/* fuzz_journal.c - the journal of a copy from untrusted sources, and its log of finished work units. With the first
 * byte 's' the rest is cut into records of up to 255 bytes, each with its length before it, that get the right frame
 * and checksum; with 'd' into numbers of finished work units, that get theirs; else it is the journal. Reading must
 * neither crash nor leak, and tell of no more templates than there are. */
#include <string.h>

#include "base/bytes.h"
#include "bed.h"
#include "codec/crc32c.h"
#include "copy/journal.h"

enum { TEMPLATES = 3, WORK_UNITS = 100 };

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

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
    size_t before = journal->bytes;
    unsigned char number[8];
    pp_store_u64le(number, bytes);
    pp_text_add_bytes(journal, number, 8);
    pp_text_add_bytes(journal, payload, bytes);
    require(journal->status == PARAPET_OK);
    pp_store_u32le(number, pp_crc32c(0, journal->data + before, journal->bytes - before));
    pp_text_add_bytes(journal, number, 4);
}

static void add_done(pp_text *journal, const unsigned char *number)
{
    unsigned char record[16] = {0};
    memcpy(record, number, 8);
    pp_store_u32le(record + 12, pp_crc32c(0, record, 12));
    pp_text_add_bytes(journal, record, sizeof record);
}

static void make_journal(pp_text *journal, const unsigned char *data, size_t bytes)
{
    char form = bytes > 0 ? (char)data[0] : '\0';
    size_t at, length;
    if (form != 's' && form != 'd')
        pp_text_add_bytes(journal, data, bytes);
    for (at = 1; at + 8 <= bytes && form == 'd'; at += 8)
        add_done(journal, data + at);
    for (at = 1; at < bytes && form == 's'; at += 1 + length) {
        length = data[at] < bytes - at - 1 ? data[at] : bytes - at - 1;
        add_record(journal, data + at + 1, length);
    }
    pp_text_add_bytes(journal, "", 0); /* something, even if it is empty */
}

static void read_journal(const pp_text *journal)
{
    pp_journal_reader reader = {.most_bytes = pp_journal_record_most(4, 64),
                                .most_templates = TEMPLATES,
                                .shard = hear_shard,
                                .chunk = hear_chunk};
    bed_object object;
    int64_t templates;
    uint64_t whole;
    if (pp_journal_tell(bed_open(&object, journal->data, journal->bytes), &reader, &templates, &whole) == PARAPET_OK)
        require(templates <= TEMPLATES && whole <= journal->bytes);
}

static void read_done(const pp_text *journal)
{
    pp_done_units done = {.count = WORK_UNITS};
    bed_object object;
    if (pp_done_units_take(&done, bed_open(&object, journal->data, journal->bytes)) == PARAPET_OK) {
        pp_ranges_sort(&done.numbers);
        require(!pp_done_units_has(&done, -1) && !pp_done_units_has(&done, WORK_UNITS));
    }
    pp_done_units_clear(&done);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    long live = pp_memory_live_count();
    pp_text journal = {0};
    make_journal(&journal, data, bytes);
    require(journal.status == PARAPET_OK);
    read_journal(&journal);
    read_done(&journal);
    pp_text_free(&journal);
    require(pp_memory_live_count() == live);
    return 0;
}
