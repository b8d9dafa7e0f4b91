/* What codecs there are, and lists of them as read from metadata. */
#include <string.h>

#include "base/text.h"
#include "codec/internal.h"

#define PP_CODEC_ROW(id, name) [PP_CODEC_##id] = &pp_##name##_ops,
static const pp_codec_ops *const known[PP_CODEC_COUNT] = {PP_CODEC_TABLE(PP_CODEC_ROW)};
#undef PP_CODEC_ROW

const pp_codec_ops *pp_codec_ops_of(pp_codec_id id)
{
    return (size_t)id < PP_CODEC_COUNT ? known[id] : NULL;
}

const pp_codec_traits *pp_codec_traits_of(pp_codec_id id)
{
    const pp_codec_ops *ops = pp_codec_ops_of(id);
    return ops != NULL ? &ops->traits : NULL;
}

bool pp_codec_can_encode(pp_codec_id id)
{
    return pp_codec_ops_of(id)->encode != NULL;
}

void pp_chain_spec_clear(pp_chain_spec *spec)
{
    int i;
    for (i = 0; i < spec->count; i++) {
        pp_sharding_spec *sharding = spec->codecs[i].sharding;
        if (sharding == NULL)
            continue;
        pp_chain_spec_clear(&sharding->codecs);
        pp_chain_spec_clear(&sharding->index_codecs);
        pp_free(sharding);
    }
    memset(spec, 0, sizeof *spec);
}

bool pp_chain_spec_ends_in_crc32c(const pp_chain_spec *spec)
{
    return spec->count > 0 && pp_codec_traits_of(spec->codecs[spec->count - 1].id)->ends_in_crc32c;
}

pp_sharding_spec *pp_chain_spec_sharding(const pp_chain_spec *spec)
{
    return spec->count == 1 ? spec->codecs[0].sharding : NULL;
}

/* ---- In words ---- */

static void print_codec(const pp_codec_spec *codec, const pp_codec_traits *traits, pp_text *text)
{
    const pp_parameter *word;
    pp_text_add(text, "%s", traits->name);
    for (word = traits->words; word != NULL && word->name != NULL; word++)
        if (word->kind == PP_PARAMETER_INTEGER)
            pp_text_add(text, ":%d", pp_parameter_get(word, codec));
        else
            pp_text_add(text, ":%s", pp_parameter_text(word, codec));
    if (codec->sharding == NULL)
        return;
    pp_text_add(text, "(");
    pp_chain_spec_print(&codec->sharding->codecs, text);
    pp_text_add(text, ")");
}

static bool goes_without_saying(const pp_codec_spec *codec, const pp_codec_traits *traits)
{
    const pp_parameter *word;
    if (!traits->is_silent_when_usual)
        return false;
    for (word = traits->words; word != NULL && word->name != NULL; word++)
        if (pp_parameter_get(word, codec) != word->usual)
            return false;
    return true;
}

void pp_chain_spec_print(const pp_chain_spec *spec, pp_text *text)
{
    bool is_first = true;
    int i;
    for (i = 0; i < spec->count; i++) {
        const pp_codec_traits *traits = pp_codec_traits_of(spec->codecs[i].id);
        if (goes_without_saying(&spec->codecs[i], traits))
            continue;
        if (!is_first)
            pp_text_add(text, " ");
        print_codec(&spec->codecs[i], traits, text);
        is_first = false;
    }
    if (is_first)
        pp_text_add(text, "none");
}
