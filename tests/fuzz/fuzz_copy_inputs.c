/* fuzz_copy_inputs.c - what the plan of a copy is made from, as an interrupted copy left it. Reading must not crash,
 * and what is accepted is within bounds and prints as it came. */
#include <stdlib.h>
#include <string.h>

#include "copy/inputs.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    pp_copy_inputs inputs;
    pp_text again = {0};
    char *text = NULL;
    const char *rest;
    require(pp_allocate(&text, bytes + 1) == PARAPET_OK);
    if (bytes > 0)
        memcpy(text, data, bytes);
    rest = text;
    if (pp_copy_inputs_parse(&inputs, &rest)) {
        require(inputs.ranks >= 1 && inputs.threads >= 1 && inputs.memory_bytes >= 1 && inputs.unit_bytes >= 1);
        require(inputs.passes >= 0 && inputs.passes <= PP_RECHUNK_PASSES_MOST && inputs.read_rate >= 0);
        pp_copy_inputs_print(&inputs, &again);
        require(again.status == PARAPET_OK && again.bytes == (size_t)(rest - text) &&
                memcmp(again.data, text, again.bytes) == 0);
    }
    pp_text_free(&again);
    pp_free(text);
    return 0;
}
