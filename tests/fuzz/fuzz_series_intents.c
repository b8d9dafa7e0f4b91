/* fuzz_series_intents.c - the notes of a series about what it was about to do, from anyone.
 *
 *     | steps that are committed: 1 byte | 's' | records of 4 bytes: steps before, after, flags, filling |
 *     | steps that are committed: 1 byte | the log ... |
 *
 * With 's' records get their frame and checksum; a flag gives them the digests of the documents that are there. A
 * series may only be cut if a whole record tells of its committed steps; for some inputs the stored arrays are looked
 * at, too. */
#include <string.h>

#include "array/array.h"
#include "base/bytes.h"
#include "bed.h"
#include "codec/crc32c.h"
#include "series/intent.h"
#include "series/series_handle.h"
#include "series/uncommitted.h"

#define KEY "run/time/__parapet/intent"

enum { ARRAYS = 3, DIGESTS_AT = 24, RECORD_BYTES = DIGESTS_AT + ARRAYS * PP_SHA256_BYTES + 4 };
enum { HAS_DIGESTS = 1, CHOSEN = 256 };

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static void add_record(pp_text *log, const unsigned char *about)
{
    unsigned char record[RECORD_BYTES];
    int i;
    memcpy(record, "PPINTENT", 8);
    pp_store_u64le(record + 8, about[0]);
    pp_store_u64le(record + 16, about[1]);
    memset(record + DIGESTS_AT, about[3], ARRAYS * PP_SHA256_BYTES);
    for (i = 0; i < ARRAYS && about[2] & HAS_DIGESTS; i++)
        memcpy(record + DIGESTS_AT + i * PP_SHA256_BYTES, pp_array_document_digest(bed_series()->arrays[i]),
               PP_SHA256_BYTES);
    pp_store_u32le(record + RECORD_BYTES - 4, pp_crc32c(0, record, RECORD_BYTES - 4));
    pp_text_add_bytes(log, record, sizeof record);
}

static void make_log(pp_text *log, const unsigned char *data, size_t bytes)
{
    size_t at;
    if (bytes == 0 || data[0] != 's') {
        pp_text_add_bytes(log, data, bytes);
        return;
    }
    for (at = 1; at + 4 <= bytes; at += 4)
        add_record(log, data + at);
}

/* Counted here once more, and in another way. */
static bool has_record(const pp_text *log, int64_t committed)
{
    size_t at;
    for (at = 0; at + RECORD_BYTES <= log->bytes; at += RECORD_BYTES) {
        const unsigned char *record = (const unsigned char *)log->data + at;
        if (memcmp(record, "PPINTENT", 8) == 0 && pp_load_u64le(record + 8) == (uint64_t)committed &&
            pp_crc32c(0, record, RECORD_BYTES - 4) == pp_load_u32le(record + RECORD_BYTES - 4))
            return true;
    }
    return false;
}

static void check_log(const parapet_series *series, const pp_text *log)
{
    bool has = has_record(log, series->steps_committed);
    pp_series_intents intents = {0};
    bed_object object;
    int i;
    if (pp_series_intents_take(&intents, series, bed_open(&object, log->data, log->bytes)) == PARAPET_OK) {
        require(pp_series_intents_lead_to(&intents, series, -1) == has);
        require(has || !pp_series_intents_lead_to(&intents, series, BED_STEPS));
        for (i = 0; i < ARRAYS; i++)
            (void)pp_series_intents_explain(&intents, series, i);
    }
    pp_series_intents_clear(&intents);
}

/* What may be cut off then; takes long. */
static void check_beyond(const parapet_series *series, const pp_text *log)
{
    bool has = has_record(log, series->steps_committed), cuts = false;
    bed_put_text(KEY, log);
    if (pp_series_check_uncommitted(series, &cuts) == PARAPET_OK)
        require(cuts == has && (has || series->steps_committed == BED_STEPS));
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    parapet_series *series = bed_series();
    pp_text log = {0};
    long live;
    if (bytes == 0)
        return 0;
    series->steps_committed = data[0];
    make_log(&log, data + 1, bytes - 1);
    require(log.status == PARAPET_OK);
    live = pp_memory_live_count();
    check_log(series, &log);
    require(pp_memory_live_count() == live);
    if (bytes > 1 && data[1] == 's' && bed_is_chosen(data, bytes, CHOSEN))
        check_beyond(series, &log);
    pp_text_free(&log);
    return 0;
}
