/* fuzz_row_records.c - the notes of a series about what it was about to do, from anyone.
 *
 *     | steps that are committed: 1 byte | 's' | records of 4 bytes: steps before, after, flags, filling |
 *     | steps that are committed: 1 byte | the log ... |
 *
 * With 's' records get their lines and checksum; a flag gives them the digests of the documents that are there. A
 * series may only be cut if a whole record tells of its committed steps; for some inputs the stored arrays are looked
 * at, too. */
#include <string.h>

#include "array/array.h"
#include "bed.h"
#include "series/row_records.h"
#include "series/series_handle.h"
#include "series/uncommitted.h"

#define KEY "run/time/__parapet/changes"

enum { ARRAYS = 3 };
enum { HAS_DIGESTS = 1, CHOSEN = 256 };

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static void add_record(pp_text *log, const unsigned char *about)
{
    const parapet_series *series = bed_series();
    unsigned char digest[PP_SHA256_BYTES];
    pp_change change = {0};
    pp_text text = {0};
    int i;
    require(pp_change_begin(&change, series->dimension, about[0], about[1]) == PARAPET_OK);
    for (i = 0; i < ARRAYS; i++) {
        memset(digest, about[3], sizeof digest);
        if (about[2] & HAS_DIGESTS)
            memcpy(digest, pp_array_document_digest(series->arrays[i]), sizeof digest);
        require(pp_change_add_array(&change, i < ARRAYS - 1 ? series->names[i] : series->dimension, digest) ==
                PARAPET_OK);
    }
    require(pp_change_print(&change, &text) == PARAPET_OK);
    pp_text_add_bytes(log, text.data, text.bytes);
    pp_text_free(&text);
    pp_change_clear(&change);
}

/* Whether one of the records that are made here tells of the committed steps. */
static bool make_log(pp_text *log, const unsigned char *data, size_t bytes, int64_t committed)
{
    bool has = false;
    size_t at;
    if (bytes == 0 || data[0] != 's') {
        pp_text_add_bytes(log, data, bytes);
        return false;
    }
    for (at = 1; at + 4 <= bytes; at += 4) {
        add_record(log, data + at);
        has = has || (data[at] == committed && data[at + 1] > data[at]);
    }
    return has;
}

static void check_log(const parapet_series *series, const pp_text *log, bool is_made, bool has)
{
    pp_row_records records = {0};
    bed_object object;
    int i;
    if (pp_row_records_take(&records, series, bed_open(&object, log->data, log->bytes)) == PARAPET_OK) {
        bool leads = pp_row_records_lead_to(&records, series, -1);
        require(!is_made || leads == has);
        require(leads || !pp_row_records_lead_to(&records, series, BED_STEPS));
        for (i = 0; i < ARRAYS; i++)
            require(!pp_row_records_explain(&records, series, i) || leads);
    }
    pp_row_records_clear(&records);
}

/* What may be cut off then; takes long. */
static void check_beyond(const parapet_series *series, const pp_text *log, bool has)
{
    bool cuts = false;
    bed_put_text(KEY, log);
    if (pp_series_check_uncommitted(series, &cuts) == PARAPET_OK)
        require(cuts == has && (has || series->steps_committed == BED_STEPS));
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    parapet_series *series = bed_series();
    bool is_made = bytes > 1 && data[1] == 's', has;
    pp_text log = {0};
    long live;
    if (bytes == 0)
        return 0;
    series->steps_committed = data[0];
    has = make_log(&log, data + 1, bytes - 1, series->steps_committed);
    require(log.status == PARAPET_OK);
    live = pp_memory_live_count();
    check_log(series, &log, is_made, has);
    require(pp_memory_live_count() == live);
    if (is_made && bed_is_chosen(data, bytes, CHOSEN))
        check_beyond(series, &log, has);
    pp_text_free(&log);
    return 0;
}
