#include "codec/libraries.h"

#include "codec/traits.h"

typedef void (*printer)(pp_text *text);

/* Two codecs of one library name it once. */
static bool is_first(printer print, pp_codec_id id)
{
    pp_codec_id earlier;
    for (earlier = 0; earlier < id; earlier++)
        if (pp_codec_traits_of(earlier)->print_library == print)
            return false;
    return true;
}

void pp_codec_print_libraries(pp_text *text)
{
    pp_codec_id id;
    for (id = 0; id < PP_CODEC_COUNT; id++) {
        printer print = pp_codec_traits_of(id)->print_library;
        if (print == NULL || !is_first(print, id))
            continue;
        print(text);
        pp_text_add(text, "\n");
    }
}
