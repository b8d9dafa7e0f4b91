/* fuzz_holder.c - the text of a lock from anyone, and behind a NUL that of an owner record. They only ever get into
 * sentences: these fit and show nothing that deceives; an incarnation is 16 digits or none; and a record that is
 * accepted prints as it came. */
#include <string.h>

#include "array/lock_text.h"
#include "base/checked.h"
#include "base/status.h"
#include "bed.h"
#include "store/record.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static void check_sentence(const char *sentence)
{
    size_t i, length = strlen(sentence);
    require(length > 0 && length < PP_MESSAGE_BYTES);
    for (i = 0; i < length; i++)
        require((unsigned char)sentence[i] >= ' ' && sentence[i] != 0x7f);
}

static void take_record(const char *text, size_t bytes, pp_lock_view *view)
{
    char again[PP_RECORD_BYTES], given[PP_RECORD_BYTES + 1] = "";
    pp_record record;
    memcpy(given, text, pp_min_size(bytes, PP_RECORD_BYTES));
    if (!pp_record_parse(&record, given))
        return;
    pp_record_print(&record, again);
    require(strcmp(given, again) == 0 && strlen(record.id) == PP_RECORD_ID_BYTES - 1);
    require(record.process.number > 0 && record.since >= 0);
    pp_record_name(&record, view->holder);
    check_sentence(view->holder);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    size_t text_bytes = strnlen((const char *)data, bytes);
    char incarnation[PP_INCARNATION_BYTES];
    long live = pp_memory_live_count();
    pp_lock_view view = {.is_held = true};
    if (bytes > 0)
        memcpy(view.text, data, pp_min_size(text_bytes, PP_LOCK_TEXT_BYTES));
    if (text_bytes < bytes)
        take_record((const char *)data + text_bytes + 1, bytes - text_bytes - 1, &view);
    pp_lock_text_incarnation(view.text, incarnation);
    require(strlen(incarnation) == 0 || strspn(incarnation, "0123456789abcdef") == PP_INCARNATION_BYTES - 1);
    require(pp_outcome(pp_lock_text_fail_seen("a", &view)) == PARAPET_ERR_BUSY);
    check_sentence(parapet_error_message());
    require(pp_memory_live_count() == live);
    return 0;
}
