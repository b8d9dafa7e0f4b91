#include "base/checked.h"
#include "base/status.h"
#include "codec/internal.h"

/* Sizes beyond this are refused, so that sums of a few of them cannot overflow. */
#define MAX_BYTES ((size_t)1 << 60)

/* Where the bytes are between two stages: in a buffer of the scratch, or still where the caller has them. */
#define PLACE_CALLER (-1)
#define PLACE_COUNT 2

/* Every open array has one, so that it has room for the stages that there are, not for all that there could be. */
struct pp_chain {
    size_t buffer_bytes[PLACE_COUNT];
    size_t decode_buffer_bytes[PLACE_COUNT]; /* what decoding alone needs of them */
    int count;
    pp_stage stages[];
};

struct pp_chain_scratch {
    const pp_chain *chain;
    pp_buffer buffers[PLACE_COUNT];
    void *contexts[PP_MAX_CODECS];
};

static parapet_status refuse_size(const char *name, size_t bytes)
{
    return pp_fail(PARAPET_ERR_FORMAT, "%s: a chunk of %zu bytes is too large", name, bytes);
}

static parapet_status count_bytes(const pp_chunk_format *format, size_t *bytes)
{
    int i;
    *bytes = format->element_bytes;
    if (format->ndim < 0 || format->ndim > PARAPET_MAX_NDIM)
        return pp_fail(PARAPET_ERR_ARGUMENT, "a chunk cannot have %d dimensions", format->ndim);
    if (format->element_bytes < 1)
        return pp_fail(PARAPET_ERR_ARGUMENT, "a chunk cannot have elements of no bytes");
    for (i = 0; i < format->ndim; i++) {
        if (format->shape[i] < 1)
            return pp_fail(PARAPET_ERR_FORMAT, "a chunk cannot have the length %lld in dimension %d",
                           (long long)format->shape[i], i);
        if (!pp_multiply_size_fits(*bytes, (size_t)format->shape[i], bytes) || *bytes > MAX_BYTES)
            return pp_fail(PARAPET_ERR_FORMAT, "a chunk of more than %zu bytes is too large", MAX_BYTES);
    }
    return PARAPET_OK;
}

/* The place of a stage's result, given that of its input. */
static int next_place(pp_effect effect, int place)
{
    if (effect == PP_EFFECT_NONE || (effect == PP_EFFECT_IN_PLACE && place != PLACE_CALLER))
        return place;
    return place == 0 ? 1 : 0;
}

static void plan_decoding(pp_chain *chain)
{
    size_t *bytes = chain->decode_buffer_bytes;
    int i, place = PLACE_CALLER;
    for (i = chain->count - 1; i >= 0; i--) {
        place = next_place(chain->stages[i].decode_effect, place);
        if (place != PLACE_CALLER)
            bytes[place] = pp_max_size(bytes[place], chain->stages[i].before.decode_bytes);
    }
}

static void plan_buffers(pp_chain *chain)
{
    size_t *bytes = chain->buffer_bytes;
    int i, place = 0;
    plan_decoding(chain);
    bytes[0] = pp_max_size(pp_chain_decoded_bytes(chain), chain->decode_buffer_bytes[0]);
    bytes[1] = chain->decode_buffer_bytes[1];
    for (i = 0; i < chain->count && pp_chain_can_encode(chain); i++) {
        place = next_place(chain->stages[i].encode_effect, place);
        bytes[place] = pp_max_size(bytes[place], chain->stages[i].after.encode_bytes);
    }
}

static parapet_status check_kinds(const pp_chain_spec *spec)
{
    pp_codec_kind highest = PP_ARRAY_TO_ARRAY;
    const char *previous = "nothing";
    int i;
    for (i = 0; i < spec->count; i++) {
        const pp_codec_ops *ops = pp_codec_ops_of(spec->codecs[i].id);
        if (ops == NULL)
            return pp_fail(PARAPET_ERR_UNSUPPORTED, "codecs: codec %d is unknown", i);
        if (ops->traits.kind < highest || (ops->traits.kind == PP_ARRAY_TO_BYTES && highest == PP_ARRAY_TO_BYTES))
            return pp_fail(PARAPET_ERR_FORMAT, "codecs: %s cannot follow %s", ops->traits.name, previous);
        if (ops->traits.kind == PP_BYTES_TO_BYTES && highest == PP_ARRAY_TO_ARRAY)
            return pp_fail(PARAPET_ERR_FORMAT, "codecs: neither bytes nor sharding_indexed comes before %s",
                           ops->traits.name);
        highest = ops->traits.kind;
        previous = ops->traits.name;
    }
    if (highest == PP_ARRAY_TO_ARRAY)
        return pp_fail(PARAPET_ERR_FORMAT, "codecs: neither bytes nor sharding_indexed follows %s", previous);
    return PARAPET_OK;
}

static parapet_status prepare_stage(pp_chain *chain, const pp_codec_spec *spec, const pp_flow *before, int depth)
{
    pp_stage *stage = &chain->stages[chain->count];
    parapet_status status;
    *stage = (pp_stage){
        .ops = pp_codec_ops_of(spec->id),
        .spec = *spec,
        .before = *before,
        .after = *before,
        .encode_effect = PP_EFFECT_ELSEWHERE,
        .decode_effect = PP_EFFECT_ELSEWHERE,
        .depth = depth,
    };
    chain->count++;
    if (stage->ops->prepare != NULL && (status = stage->ops->prepare(stage)) != PARAPET_OK)
        return status;
    stage->spec.sharding = NULL; /* belongs to whoever called us */
    if (stage->after.decode_bytes > MAX_BYTES || stage->after.encode_bytes > MAX_BYTES)
        return refuse_size(stage->ops->traits.name, stage->before.decode_bytes);
    return PARAPET_OK;
}

static parapet_status prepare_stages(pp_chain *chain, const pp_chain_spec *spec, const pp_chunk_format *format,
                                     int depth)
{
    pp_flow flow = {.format = *format, .is_exact = !format->is_at_most};
    parapet_status status = count_bytes(format, &flow.decode_bytes);
    int i;
    flow.encode_bytes = flow.decode_bytes;
    for (i = 0; status == PARAPET_OK && i < spec->count; i++) {
        status = prepare_stage(chain, &spec->codecs[i], &flow, depth);
        flow = chain->stages[i].after;
    }
    return status;
}

parapet_status pp_chain_build_inside(pp_chain **chain, const pp_chain_spec *spec, const pp_chunk_format *format,
                                     int depth)
{
    static const pp_chain_spec only_bytes = {.count = 1, .codecs = {{.id = PP_CODEC_BYTES}}};
    pp_chain *built = NULL;
    parapet_status status;
    *chain = NULL;
    if (spec->count == 0)
        spec = &only_bytes;
    if (spec->count < 0 || spec->count > PP_MAX_CODECS)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "codecs: %d codecs are more than the limit of %d", spec->count,
                       PP_MAX_CODECS);
    if ((status = check_kinds(spec)) != PARAPET_OK ||
        (status = pp_allocate(&built, sizeof *built + (size_t)spec->count * sizeof built->stages[0])) != PARAPET_OK ||
        (status = prepare_stages(built, spec, format, depth)) != PARAPET_OK) {
        pp_chain_free(built);
        return status;
    }
    plan_buffers(built);
    *chain = built;
    return PARAPET_OK;
}

parapet_status pp_chain_build(pp_chain **chain, const pp_chain_spec *spec, const pp_chunk_format *format)
{
    return pp_chain_build_inside(chain, spec, format, 0);
}

void pp_chain_free(pp_chain *chain)
{
    int i;
    if (chain == NULL)
        return;
    for (i = 0; i < chain->count; i++)
        if (chain->stages[i].ops->forget != NULL)
            chain->stages[i].ops->forget(&chain->stages[i]);
    pp_free(chain);
}

size_t pp_chain_decoded_bytes(const pp_chain *chain)
{
    return chain->stages[0].before.decode_bytes;
}

static const pp_stage *last_stage(const pp_chain *chain)
{
    return &chain->stages[chain->count - 1];
}

size_t pp_chain_encoded_bound(const pp_chain *chain)
{
    const pp_flow *after = &last_stage(chain)->after;
    return pp_chain_can_encode(chain) ? after->encode_bytes : after->decode_bytes;
}

static size_t bytes_of_scratch(const pp_chain *chain, const size_t *buffer_bytes)
{
    size_t bytes = 0;
    int i;
    for (i = 0; i < PLACE_COUNT; i++)
        bytes += pp_align_up(buffer_bytes[i], PP_PAGE_BYTES);
    for (i = 0; i < chain->count; i++)
        if (chain->stages[i].ops->context_bytes != NULL)
            bytes += chain->stages[i].ops->context_bytes(&chain->stages[i]);
    return bytes;
}

size_t pp_chain_scratch_bytes(const pp_chain *chain)
{
    return bytes_of_scratch(chain, chain->buffer_bytes);
}

size_t pp_chain_decoder_bytes(const pp_chain *chain)
{
    return bytes_of_scratch(chain, chain->decode_buffer_bytes);
}

size_t pp_chain_encoder_bytes(const pp_chain *chain)
{
    const size_t lent[PLACE_COUNT] = {0, chain->buffer_bytes[1]};
    return bytes_of_scratch(chain, lent);
}

size_t pp_chain_chunk_capacity(const pp_chain *chain)
{
    return chain->buffer_bytes[0];
}

bool pp_chain_is_plain(const pp_chain *chain)
{
    return chain->count == 1 && chain->stages[0].decode_effect == PP_EFFECT_NONE;
}

bool pp_chain_begins_plain(const pp_chain *chain)
{
    return chain->stages[0].decode_effect == PP_EFFECT_NONE &&
           (chain->count == 1 || (chain->count == 2 && pp_chain_ends_in_crc32c(chain)));
}

bool pp_chain_verifies_crc32c(const pp_chain *chain)
{
    return pp_chain_ends_in_crc32c(chain) && !chain->stages[0].before.format.ignore_checksums;
}

bool pp_chain_is_fixed_size(const pp_chain *chain)
{
    return last_stage(chain)->after.is_exact;
}

bool pp_chain_can_encode(const pp_chain *chain)
{
    int i;
    for (i = 0; i < chain->count; i++)
        if (chain->stages[i].ops->encode == NULL)
            return false;
    return true;
}

bool pp_chain_ends_in_crc32c(const pp_chain *chain)
{
    return last_stage(chain)->ops->traits.ends_in_crc32c;
}

static parapet_status fill_scratch(pp_chain_scratch *scratch, const pp_chain *chain, const size_t *buffer_bytes,
                                   pp_budget *budget)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; status == PARAPET_OK && i < PLACE_COUNT; i++)
        if (buffer_bytes[i] > 0)
            status = pp_buffer_init(&scratch->buffers[i], budget, buffer_bytes[i], "codec buffers");
    for (i = 0; status == PARAPET_OK && i < chain->count; i++)
        if (chain->stages[i].ops->context_build != NULL)
            status = chain->stages[i].ops->context_build(&scratch->contexts[i], &chain->stages[i], budget);
    return status;
}

static parapet_status build_scratch(pp_chain_scratch **scratch, const pp_chain *chain, const size_t *buffer_bytes,
                                    pp_budget *budget)
{
    pp_chain_scratch *built;
    parapet_status status;
    *scratch = NULL;
    if ((status = pp_allocate(&built, sizeof *built)) != PARAPET_OK)
        return status;
    built->chain = chain;
    if ((status = fill_scratch(built, chain, buffer_bytes, budget)) != PARAPET_OK) {
        pp_chain_scratch_free(built);
        return status;
    }
    *scratch = built;
    return PARAPET_OK;
}

parapet_status pp_chain_scratch_build(pp_chain_scratch **scratch, const pp_chain *chain, pp_budget *budget)
{
    return build_scratch(scratch, chain, chain->buffer_bytes, budget);
}

parapet_status pp_chain_decoder_build(pp_chain_scratch **scratch, const pp_chain *chain, pp_budget *budget)
{
    return build_scratch(scratch, chain, chain->decode_buffer_bytes, budget);
}

parapet_status pp_chain_encoder_build(pp_chain_scratch **scratch, const pp_chain *chain, pp_budget *budget)
{
    const size_t lent[PLACE_COUNT] = {0, chain->buffer_bytes[1]};
    return build_scratch(scratch, chain, lent, budget);
}

void pp_chain_scratch_free(pp_chain_scratch *scratch)
{
    int i;
    if (scratch == NULL)
        return;
    for (i = 0; i < scratch->chain->count; i++)
        if (scratch->chain->stages[i].ops->context_free != NULL)
            scratch->chain->stages[i].ops->context_free(scratch->contexts[i]);
    for (i = 0; i < PLACE_COUNT; i++)
        pp_buffer_free(&scratch->buffers[i]);
    pp_free(scratch);
}

parapet_status pp_chain_scratch_ensure(pp_chain_scratch **scratch, const pp_chain *chain, pp_budget *budget)
{
    if (*scratch != NULL && (*scratch)->chain == chain)
        return PARAPET_OK;
    pp_chain_scratch_free(*scratch);
    return pp_chain_scratch_build(scratch, chain, budget);
}

parapet_status pp_chain_decoder_ensure(pp_chain_scratch **scratch, const pp_chain *chain, pp_budget *budget)
{
    if (*scratch != NULL && (*scratch)->chain == chain)
        return PARAPET_OK;
    pp_chain_scratch_free(*scratch);
    return pp_chain_decoder_build(scratch, chain, budget);
}

unsigned char *pp_chain_scratch_chunk(pp_chain_scratch *scratch)
{
    return scratch->buffers[0].data;
}

void pp_chain_scratch_exchange(pp_chain_scratch *scratch, pp_buffer *chunk)
{
    pp_buffer own = scratch->buffers[0];
    scratch->buffers[0] = *chunk;
    *chunk = own;
}

/* Sets where the run writes to and moves *place there. */
static void place_output(pp_stage_run *run, pp_effect effect, pp_chain_scratch *scratch, int *place)
{
    int next = next_place(effect, *place);
    if (effect == PP_EFFECT_NONE)
        return;
    run->output = scratch->buffers[next].data;
    if (next == *place)
        run->output += run->input.data - run->output;
    *place = next;
}

static parapet_status encode_stage(pp_chain_scratch *scratch, int number, int *place, pp_bytes *bytes)
{
    const pp_stage *stage = &scratch->chain->stages[number];
    pp_stage_run run = {
        .stage = stage,
        .context = scratch->contexts[number],
        .input = *bytes,
        .capacity = stage->after.encode_bytes,
    };
    parapet_status status;
    place_output(&run, stage->encode_effect, scratch, place);
    status = stage->ops->encode(&run);
    *bytes = run.result;
    return status;
}

parapet_status pp_chain_encode(const pp_chain *chain, pp_chain_scratch *scratch, pp_bytes *encoded)
{
    pp_bytes bytes = {scratch->buffers[0].data, pp_chain_decoded_bytes(chain)};
    parapet_status status = PARAPET_OK;
    int i, place = 0;
    if (!pp_chain_can_encode(chain))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "codecs: this list of codecs can be decoded, but not encoded");
    for (i = 0; status == PARAPET_OK && i < chain->count; i++)
        status = encode_stage(scratch, i, &place, &bytes);
    *encoded = bytes;
    return status;
}

/* Codecs of fixed size trust the length of their input. */
static parapet_status check_encoded_bytes(const pp_stage *stage, size_t bytes)
{
    if (!stage->ops->is_fixed_size)
        return PARAPET_OK;
    if (stage->after.is_exact && bytes != stage->after.decode_bytes)
        return pp_fail(PARAPET_ERR_CORRUPT, "%s: %zu encoded bytes instead of %zu", stage->ops->traits.name, bytes,
                       stage->after.decode_bytes);
    if (bytes > stage->after.decode_bytes)
        return pp_fail(PARAPET_ERR_CORRUPT,
                       "%s: %zu encoded bytes are more than a chunk of this shape can have (%zu)",
                       stage->ops->traits.name, bytes, stage->after.decode_bytes);
    return PARAPET_OK;
}

static parapet_status check_decoded_bytes(const pp_stage *stage, size_t bytes)
{
    if (stage->before.is_exact && bytes != stage->before.decode_bytes)
        return pp_fail(PARAPET_ERR_CORRUPT, "%s: decoded to %zu bytes instead of %zu", stage->ops->traits.name, bytes,
                       stage->before.decode_bytes);
    return PARAPET_OK;
}

static parapet_status decode_stage(pp_chain_scratch *scratch, int number, int *place, pp_bytes *bytes)
{
    const pp_stage *stage = &scratch->chain->stages[number];
    pp_stage_run run = {
        .stage = stage,
        .context = scratch->contexts[number],
        .input = *bytes,
        .capacity = stage->before.decode_bytes,
    };
    parapet_status status;
    place_output(&run, stage->decode_effect, scratch, place);
    if ((status = check_encoded_bytes(stage, bytes->bytes)) != PARAPET_OK ||
        (status = stage->ops->decode(&run)) != PARAPET_OK)
        return status;
    *bytes = run.result;
    return check_decoded_bytes(stage, bytes->bytes);
}

parapet_status pp_chain_decode(const pp_chain *chain, pp_chain_scratch *scratch, pp_bytes encoded, pp_bytes *decoded)
{
    parapet_status status = PARAPET_OK;
    int i, place = PLACE_CALLER;
    for (i = chain->count - 1; status == PARAPET_OK && i >= 0; i--)
        status = decode_stage(scratch, i, &place, &encoded);
    *decoded = encoded;
    return status;
}
