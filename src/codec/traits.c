/* traits.c - what several codecs say of themselves. */
#include "codec/traits.h"

bool pp_carry_nothing(pp_codec_spec *spec)
{
    (void)spec;
    return false;
}
