/* What codecs there are, and lists of them as read from metadata. */
#include <string.h>

#include "base/text.h"
#include "codec/internal.h"

static const pp_codec_ops *const known[] = {
    [PP_CODEC_BYTES] = &pp_bytes_ops,       [PP_CODEC_TRANSPOSE] = &pp_transpose_ops,
    [PP_CODEC_SHARDING] = &pp_sharding_ops, [PP_CODEC_GZIP] = &pp_gzip_ops,
    [PP_CODEC_ZSTD] = &pp_zstd_ops,         [PP_CODEC_BLOSC] = &pp_blosc_ops,
    [PP_CODEC_CRC32C] = &pp_crc32c_ops,     [PP_CODEC_ZLIB] = &pp_zlib_ops,
    [PP_CODEC_LZ4] = &pp_lz4_ops,           [PP_CODEC_SHUFFLE] = &pp_shuffle_ops,
    [PP_CODEC_DELTA] = &pp_delta_ops,       [PP_CODEC_FLETCHER32] = &pp_fletcher32_ops,
    [PP_CODEC_CRC32] = &pp_crc32_ops,       [PP_CODEC_ADLER32] = &pp_adler32_ops,
};

const pp_codec_ops *pp_codec_ops_of(pp_codec_id id)
{
    return (size_t)id < sizeof known / sizeof known[0] ? known[id] : NULL;
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

static const char *shuffle_word(int shuffle)
{
    static const char *const words[] = {"noshuffle", "shuffle", "bitshuffle"};
    return shuffle >= 0 && shuffle < 3 ? words[shuffle] : "unknown";
}

static void print_codec(const pp_codec_spec *codec, pp_text *text)
{
    const pp_codec_ops *ops = pp_codec_ops_of(codec->id);
    pp_text_add(text, "%s", ops != NULL ? ops->name : "unknown");
    switch (codec->id) {
    case PP_CODEC_BYTES:
        pp_text_add(text, "%s", codec->is_big_endian ? ":big" : "");
        break;
    case PP_CODEC_GZIP:
    case PP_CODEC_ZLIB:
    case PP_CODEC_ZSTD:
        pp_text_add(text, ":%d", codec->level);
        break;
    case PP_CODEC_BLOSC:
        pp_text_add(text, ":%s:%d:%s", codec->blosc_compressor, codec->level, shuffle_word(codec->blosc_shuffle));
        break;
    case PP_CODEC_SHARDING:
        pp_text_add(text, "(");
        if (codec->sharding != NULL)
            pp_chain_spec_print(&codec->sharding->codecs, text);
        pp_text_add(text, ")");
        break;
    default:
        break;
    }
}

/* Little-endian bytes go without saying. */
static bool is_worth_a_word(const pp_codec_spec *codec)
{
    return codec->id != PP_CODEC_BYTES || codec->is_big_endian;
}

void pp_chain_spec_print(const pp_chain_spec *spec, pp_text *text)
{
    bool is_first = true;
    int i;
    for (i = 0; i < spec->count; i++) {
        if (!is_worth_a_word(&spec->codecs[i]))
            continue;
        if (!is_first)
            pp_text_add(text, " ");
        print_codec(&spec->codecs[i], text);
        is_first = false;
    }
    if (is_first)
        pp_text_add(text, "none");
}
