/* fuzz_holder.c - the text of a lock from anyone. It only ever gets into sentences: these fit and show nothing
 * that deceives, and an incarnation is 16 digits or none. */
#include <string.h>

#include "array/holder.h"
#include "bed.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static void check_sentence(const char *sentence)
{
    size_t i, length = strlen(sentence);
    require(length > 0 && length < PP_MESSAGE_BYTES);
    for (i = 0; i < length; i++)
        require((unsigned char)sentence[i] >= ' ' && sentence[i] != 0x7f);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    parapet_store *store = bed_store();
    char incarnation[PP_INCARNATION_BYTES];
    long live;
    bed_put("a/__parapet/lock", data, bytes);
    live = pp_memory_live_count();
    require(pp_incarnation_read(store, "a", incarnation) == PARAPET_OK);
    require(strlen(incarnation) == 0 || strspn(incarnation, "0123456789abcdef") == PP_INCARNATION_BYTES - 1);
    require(pp_outcome(pp_holder_fail_busy(store, "a")) == PARAPET_ERR_BUSY);
    check_sentence(parapet_error_message());
    require(pp_memory_live_count() == live);
    return 0;
}
