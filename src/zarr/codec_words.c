/* Compressors in words, as users ask for them: "blosc:lz4:5:shuffle". */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "codec/traits.h"
#include "zarr/document.h"

#define MAX_WORDS 8
#define WORD_BYTES 16
#define MAX_DIGITS 2

/* A codec in words, cut at the colons. */
typedef struct word_list {
    int count;
    char words[MAX_WORDS][WORD_BYTES];
} word_list;

static bool is_end(const pp_parameter *word)
{
    return word == NULL || word->name == NULL;
}

static bool can_be_asked_for(pp_codec_id id)
{
    const pp_codec_traits *traits = pp_codec_traits_of(id);
    return traits->role == PP_ROLE_COMPRESSOR && traits->v3_name != NULL && pp_codec_can_encode(id);
}

/* ---- What may be asked for: "zstd[:0-22]" ---- */

static void print_choices(const pp_parameter *word, pp_text *text)
{
    int i;
    for (i = 0; word->choices[i] != NULL; i++)
        pp_text_add(text, "%s%s", i > 0 ? "|" : "", word->choices[i]);
}

static void print_grammar(const pp_codec_traits *traits, pp_text *text)
{
    const pp_parameter *word;
    pp_text_add(text, ", %s", traits->name);
    for (word = traits->words; !is_end(word); word++) {
        pp_text_add(text, "[:");
        if (word->kind == PP_PARAMETER_INTEGER)
            pp_text_add(text, "%d-%d", word->low, word->high);
        else
            print_choices(word, text);
    }
    for (word = traits->words; !is_end(word); word++)
        pp_text_add(text, "]");
}

static parapet_status refuse(const char *words)
{
    pp_text known = {0};
    pp_codec_id id;
    parapet_status status;
    pp_text_add(&known, "none");
    for (id = 0; id < PP_CODEC_COUNT; id++)
        if (can_be_asked_for(id))
            print_grammar(pp_codec_traits_of(id), &known);
    if ((status = known.status) == PARAPET_OK)
        status = pp_fail(PARAPET_ERR_ARGUMENT, "codec \"%.64s\" is not one of: %s", words, known.data);
    pp_text_free(&known);
    return status;
}

/* ---- What is asked for ---- */

static bool split(word_list *list, const char *words)
{
    for (;;) {
        size_t length = strcspn(words, ":");
        if (list->count == MAX_WORDS || length == 0 || length >= WORD_BYTES)
            return false;
        memcpy(list->words[list->count], words, length);
        list->words[list->count++][length] = '\0';
        if (words[length] == '\0')
            return true;
        words += length + 1;
    }
}

static bool read_number(const pp_parameter *parameter, const char *word, int *value)
{
    if (strlen(word) > MAX_DIGITS || strspn(word, "0123456789") != strlen(word))
        return false;
    *value = atoi(word);
    return *value >= parameter->low && *value <= parameter->high;
}

static bool read_word(const pp_parameter *parameter, const char *word, pp_codec_spec *codec)
{
    int value = -1;
    if (parameter->kind == PP_PARAMETER_INTEGER && !read_number(parameter, word, &value))
        return false;
    if (parameter->kind != PP_PARAMETER_INTEGER && (value = pp_parameter_find(parameter, word)) < 0)
        return false;
    pp_parameter_set(parameter, codec, value);
    return true;
}

static bool find_compressor(const char *name, pp_codec_id *id)
{
    for (*id = 0; *id < PP_CODEC_COUNT; ++*id)
        if (can_be_asked_for(*id) && strcmp(pp_codec_traits_of(*id)->name, name) == 0)
            return true;
    return false;
}

static bool read_compressor(const word_list *list, size_t element_bytes, pp_codec_spec *codec)
{
    const pp_codec_traits *traits;
    const pp_parameter *word;
    int i;
    if (!find_compressor(list->words[0], &codec->id))
        return false;
    traits = pp_codec_traits_of(codec->id);
    pp_parameters_set_usual(traits->v3_parameters, codec);
    pp_parameters_set_usual(traits->words, codec);
    for (i = 1, word = traits->words; i < list->count; i++, word++)
        if (is_end(word) || !read_word(word, list->words[i], codec))
            return false;
    if (traits->complete != NULL)
        traits->complete(codec, element_bytes);
    return true;
}

parapet_status pp_codecs_from_words(pp_chain_spec *spec, const char *words, size_t element_bytes, bool has_crc32c)
{
    word_list list = {0};
    pp_codec_spec compressor = {0};
    *spec = (pp_chain_spec){.count = 1, .codecs = {{.id = PP_CODEC_BYTES}}};
    if (!split(&list, words))
        return refuse(words);
    if (strcmp(words, "none") != 0) {
        if (!read_compressor(&list, element_bytes, &compressor))
            return refuse(words);
        spec->codecs[spec->count++] = compressor;
    }
    if (has_crc32c)
        spec->codecs[spec->count++] = (pp_codec_spec){.id = PP_CODEC_CRC32C};
    return PARAPET_OK;
}
