/* fuzz_weights_file.c - files with the speeds of servers from untrusted sources. Reading must neither crash nor leak,
 * nor get memory for servers that there is no text for; what is accepted prints as it came. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/weights_file.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static void print(const pp_given_speeds *speeds, pp_text *text)
{
    int i;
    pp_text_add(text, "parapet weights 1\nservers %d\n", speeds->server_count);
    for (i = 0; i < speeds->server_count; i++)
        pp_text_add(text, "server %d writing %lld reading %lld\n", i, (long long)speeds->writing[i],
                    (long long)speeds->reading[i]);
    pp_text_add(text, "end\n");
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    long live = pp_memory_live_count();
    pp_given_speeds speeds;
    pp_text again = {0};
    int i;
    if (pp_weights_file_parse(&speeds, (const char *)data, bytes) == PARAPET_OK) {
        for (i = 0; i < speeds.server_count; i++)
            require(speeds.writing[i] >= 1 && speeds.writing[i] <= PP_SPEED_MOST && speeds.reading[i] >= 1 &&
                    speeds.reading[i] <= PP_SPEED_MOST);
        print(&speeds, &again);
        require(again.status == PARAPET_OK && again.bytes == bytes && memcmp(again.data, data, bytes) == 0);
    }
    require((size_t)speeds.server_count <= bytes);
    pp_text_free(&again);
    pp_given_speeds_clear(&speeds);
    require(pp_memory_live_count() == live);
    return 0;
}
