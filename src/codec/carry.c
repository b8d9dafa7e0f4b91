/* What a copy of an array keeps of its codecs. */
#include "codec/traits.h"

#include "base/status.h"

bool pp_chain_spec_can_stay(const pp_chain_spec *spec, bool is_permuted)
{
    int i;
    for (i = 0; i < spec->count; i++) {
        pp_codec_id id = spec->codecs[i].id;
        const pp_codec_traits *traits = pp_codec_traits_of(id);
        if (traits->v3_name == NULL || !pp_codec_can_encode(id) || (traits->follows_dimensions && is_permuted))
            return false;
    }
    return true;
}

static parapet_status append(pp_chain_spec *spec, const pp_codec_spec *codec)
{
    if (spec->count + 1 >= PP_MAX_CODECS) /* a checksum may follow */
        return pp_fail(
            PARAPET_ERR_UNSUPPORTED,
            "codecs: the source has more than %d codecs in and around its shards; choose a codec for the copy",
            PP_MAX_CODECS);
    spec->codecs[spec->count++] = *codec;
    return PARAPET_OK;
}

static parapet_status carry(const pp_chain_spec *spec, pp_chain_spec *carried)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < spec->count && status == PARAPET_OK; i++) {
        pp_codec_spec codec = spec->codecs[i];
        const pp_codec_traits *traits = pp_codec_traits_of(codec.id);
        if (codec.sharding != NULL)
            status = carry(&codec.sharding->codecs, carried);
        else if (traits->carry == NULL || traits->carry(&codec))
            status = append(carried, &codec);
    }
    return status;
}

parapet_status pp_chain_spec_carry_over(const pp_chain_spec *spec, bool has_crc32c, pp_chain_spec *carried)
{
    parapet_status status;
    *carried = (pp_chain_spec){.count = 1, .codecs = {{.id = PP_CODEC_BYTES}}};
    if ((status = carry(spec, carried)) != PARAPET_OK)
        return status;
    if (has_crc32c)
        carried->codecs[carried->count++] = (pp_codec_spec){.id = PP_CODEC_CRC32C};
    return PARAPET_OK;
}
