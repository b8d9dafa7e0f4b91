#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zarr/internal.h"

#define MAX_WORDS 4
#define WORD_BYTES 16

/* "blosc:lz4:5:shuffle" cut at the colons. */
typedef struct word_list {
    int count;
    char words[MAX_WORDS][WORD_BYTES];
} word_list;

static parapet_status refuse(const char *words)
{
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "codec \"%.64s\" is none of: none, zstd[:0-22], gzip[:0-9], "
                   "blosc[:blosclz|lz4|lz4hc|zlib|zstd[:0-9[:noshuffle|shuffle|bitshuffle]]]",
                   words);
}

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

/* The level is word number index, if there is one. */
static bool read_level(const word_list *list, int index, int highest, int *level)
{
    const char *word;
    if (index >= list->count)
        return true;
    word = list->words[index];
    if (strlen(word) > 2 || strspn(word, "0123456789") != strlen(word))
        return false;
    *level = atoi(word);
    return *level <= highest;
}

static bool read_shuffle(const word_list *list, pp_codec_spec *codec)
{
    static const char *const shuffles[] = {"noshuffle", "shuffle", "bitshuffle"};
    codec->blosc_shuffle = 1;
    if (list->count < 4)
        return true;
    for (codec->blosc_shuffle = 0; codec->blosc_shuffle < 3; codec->blosc_shuffle++)
        if (strcmp(list->words[3], shuffles[codec->blosc_shuffle]) == 0)
            return true;
    return false;
}

/* snappy is left out: few builds of blosc elsewhere have it. */
static bool read_blosc(const word_list *list, size_t element_bytes, pp_codec_spec *codec)
{
    const char *name = list->count > 1 ? list->words[1] : "lz4";
    if (!pp_blosc_has(name) || strcmp(name, "snappy") == 0)
        return false;
    codec->id = PP_CODEC_BLOSC;
    codec->level = 5;
    codec->blosc_type_bytes = element_bytes >= 1 && element_bytes <= 255 ? (int)element_bytes : 1;
    (void)snprintf(codec->blosc_compressor, sizeof codec->blosc_compressor, "%.11s", name);
    return read_level(list, 2, 9, &codec->level) && read_shuffle(list, codec);
}

static bool read_compressor(const word_list *list, size_t element_bytes, pp_codec_spec *codec)
{
    if (strcmp(list->words[0], "blosc") == 0)
        return read_blosc(list, element_bytes, codec);
    if (list->count > 2)
        return false;
    if (strcmp(list->words[0], "zstd") == 0) {
        *codec = (pp_codec_spec){.id = PP_CODEC_ZSTD, .level = 3};
        return read_level(list, 1, 22, &codec->level);
    }
    if (strcmp(list->words[0], "gzip") == 0) {
        *codec = (pp_codec_spec){.id = PP_CODEC_GZIP, .level = 6};
        return read_level(list, 1, 9, &codec->level);
    }
    return false;
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
