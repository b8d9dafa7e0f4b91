/* codec.h - turns the elements of one chunk into stored bytes and back: a chain of codecs, as Zarr v3 defines it.
 *
 * Knows bytes, element sizes and shapes; nothing of JSON, storage, keys or MPI. Depends on base and geometry.
 *
 * A pp_codec_spec says what a codec is, as read from metadata. pp_chain_build checks a list of them against the
 * chunk's shape and element type, and works out every size that encoding and decoding can need, so that the work
 * itself allocates nothing: it runs in a pp_chain_scratch made beforehand, one per thread. This does not count what
 * the compression libraries allocate themselves: some 300 KiB for gzip, up to a few times the chunk for zstd at high
 * levels, up to three blocks for blosc.
 *
 *     elements --[transpose]--[bytes]--[gzip|zstd|blosc]--[crc32c]--> stored bytes
 *              array->array   array->bytes   bytes->bytes */
#ifndef PARAPET_CODEC_CODEC_H
#define PARAPET_CODEC_CODEC_H

#include <stdbool.h>

#include "base/budget.h"
#include "geometry/grid.h"

#define PP_MAX_CODECS 16
#define PP_MAX_SHARDING_DEPTH 3

/* All codecs: PP_CODEC_ZSTD is described and run by pp_zstd_ops, which is in a file of this folder. A spec of zeros
 * means little-endian bytes, which therefore come first; the rest is in the order in which words and libraries are
 * listed. */
#define PP_CODEC_TABLE(ROW)                                                                                          \
    ROW(BYTES, bytes)                                                                                                \
    ROW(TRANSPOSE, transpose)                                                                                        \
    ROW(SHARDING, sharding)                                                                                          \
    ROW(ZSTD, zstd)                                                                                                  \
    ROW(GZIP, gzip)                                                                                                  \
    ROW(BLOSC, blosc)                                                                                                \
    ROW(LZ4, lz4)                                                                                                    \
    ROW(ZLIB, zlib)                                                                                                  \
    ROW(SHUFFLE, shuffle)                                                                                            \
    ROW(DELTA, delta)                                                                                                \
    ROW(CRC32C, crc32c)                                                                                              \
    ROW(FLETCHER32, fletcher32)                                                                                      \
    ROW(CRC32, crc32)                                                                                                \
    ROW(ADLER32, adler32)                                                                                            \
    ROW(HDF5_LZ4, hdf5_lz4)

#define PP_CODEC_ID(id, name) PP_CODEC_##id,
typedef enum pp_codec_id { PP_CODEC_TABLE(PP_CODEC_ID) PP_CODEC_COUNT } pp_codec_id;
#undef PP_CODEC_ID

typedef enum pp_delta_kind { PP_DELTA_INTEGER, PP_DELTA_FLOAT } pp_delta_kind;

struct pp_sharding_spec;

typedef struct pp_codec_spec {
    pp_codec_id id;
    bool is_big_endian;                /* bytes; delta, whose byte order may differ from the array's */
    int8_t order[PARAPET_MAX_NDIM];    /* transpose: encoded dimension i is decoded dimension order[i] */
    int level;                         /* gzip, zlib, zstd, blosc (clevel) */
    bool has_frame_checksum;           /* zstd */
    char blosc_compressor[12];         /* blosc: "lz4" */
    int blosc_shuffle;                 /* blosc: 0 none, 1 byte, 2 bit */
    int blosc_type_bytes;              /* blosc */
    int blosc_block_bytes;             /* blosc: 0 is automatic */
    int element_bytes;                 /* shuffle, delta */
    pp_delta_kind delta_kind;          /* delta */
    struct pp_sharding_spec *sharding; /* sharding; owned */
} pp_codec_spec;

typedef struct pp_chain_spec {
    int count;
    pp_codec_spec codecs[PP_MAX_CODECS];
} pp_chain_spec;

typedef struct pp_sharding_spec {
    int ndim;
    int64_t chunk_shape[PARAPET_MAX_NDIM];
    pp_chain_spec codecs;
    pp_chain_spec index_codecs;
    bool is_index_at_start;
} pp_sharding_spec;

/* Frees what the specs own; the caller owns the struct itself. */
void pp_chain_spec_clear(pp_chain_spec *spec);

/* The sole sharding codec of a stored object that is a shard; NULL if the object is a chunk. */
pp_sharding_spec *pp_chain_spec_sharding(const pp_chain_spec *spec);

/* Whether an array with permuted dimensions, or one that we write, can use these codecs unchanged: all of them can
 * encode, and mean the same there. */
bool pp_chain_spec_can_stay(const pp_chain_spec *spec, bool is_permuted);

/* Little-endian bytes in C order, then the nearest that Zarr v3 has to the compression of spec, also inside shards,
 * then a CRC-32C if asked for. */
parapet_status pp_chain_spec_carry_over(const pp_chain_spec *spec, bool has_crc32c, pp_chain_spec *carried);

bool pp_chain_spec_ends_in_crc32c(const pp_chain_spec *spec);

/* What a chunk is before encoding. */
typedef struct pp_chunk_format {
    int ndim;
    int64_t shape[PARAPET_MAX_NDIM];
    size_t element_bytes;
    size_t swap_bytes;      /* unit that byte order applies to: 8 for complex128; 1 or 0: none */
    const void *fill_value; /* element_bytes long; outlives the chain */
    bool ignore_checksums;
    bool is_at_most; /* it may be shorter than its shape says; such chunks are only decoded */
} pp_chunk_format;

typedef struct pp_chain pp_chain;
typedef struct pp_chain_scratch pp_chain_scratch;

/* Checks the codecs against the format; sentences name the codec. Free with pp_chain_free. */
parapet_status pp_chain_build(pp_chain **chain, const pp_chain_spec *spec, const pp_chunk_format *format);
void pp_chain_free(pp_chain *chain);

/* Bytes of one decoded chunk; the upper limit for one encoded chunk; what a scratch takes from a budget. */
size_t pp_chain_decoded_bytes(const pp_chain *chain);
size_t pp_chain_encoded_bound(const pp_chain *chain);
size_t pp_chain_scratch_bytes(const pp_chain *chain);

/* What a scratch takes that only decodes, or that only encodes chunks that are lent to it; the length of the buffer
 * in which a chunk is encoded. */
size_t pp_chain_decoder_bytes(const pp_chain *chain);
size_t pp_chain_encoder_bytes(const pp_chain *chain);
size_t pp_chain_chunk_capacity(const pp_chain *chain);

/* Whether the stored bytes are the elements in C order and nothing else: a part of them can be read alone. */
bool pp_chain_is_plain(const pp_chain *chain);

/* Whether the stored bytes begin with the elements in C order, and nothing follows but a CRC-32C at most. Then any
 * part of the elements can be read alone, and all of them piece by piece. */
bool pp_chain_begins_plain(const pp_chain *chain);

/* Whether what is read must be compared with the CRC-32C that the chunk ends in. */
bool pp_chain_verifies_crc32c(const pp_chain *chain);

/* Whether every encoded chunk has the same length. */
bool pp_chain_is_fixed_size(const pp_chain *chain);

/* Whether the chain can encode (Zarr v2 codecs and nested sharding cannot). */
bool pp_chain_can_encode(const pp_chain *chain);

/* Whether the last four bytes of an encoded chunk are the CRC-32C of all bytes before them. */
bool pp_chain_ends_in_crc32c(const pp_chain *chain);

/* Working memory for one thread. All of it is taken from the budget now; encoding and decoding take no more. */
parapet_status pp_chain_scratch_build(pp_chain_scratch **scratch, const pp_chain *chain, pp_budget *budget);
parapet_status pp_chain_decoder_build(pp_chain_scratch **scratch, const pp_chain *chain, pp_budget *budget);
parapet_status pp_chain_encoder_build(pp_chain_scratch **scratch, const pp_chain *chain, pp_budget *budget);
void pp_chain_scratch_free(pp_chain_scratch *scratch);

/* Builds *scratch unless it already belongs to this chain; one of another chain, or NULL, is replaced. */
parapet_status pp_chain_scratch_ensure(pp_chain_scratch **scratch, const pp_chain *chain, pp_budget *budget);

/* The same for one that only decodes. */
parapet_status pp_chain_decoder_ensure(pp_chain_scratch **scratch, const pp_chain *chain, pp_budget *budget);

/* The buffer to put a decoded chunk in before pp_chain_encode; pp_chain_decoded_bytes long. */
unsigned char *pp_chain_scratch_chunk(pp_chain_scratch *scratch);

/* Exchanges the chunk buffer of the scratch for another of pp_chain_chunk_capacity bytes, so that a chunk assembled
 * elsewhere is encoded without copying it. A scratch that only encodes has no chunk buffer of its own; exchange again
 * to get the chunk's buffer back once the encoded bytes are no longer needed. */
void pp_chain_scratch_exchange(pp_chain_scratch *scratch, pp_buffer *chunk);

/* A run of bytes that somebody else owns. */
typedef struct pp_bytes {
    const unsigned char *data;
    size_t bytes;
} pp_bytes;

/* Encodes what is in pp_chain_scratch_chunk (which is destroyed). *encoded is inside the scratch and valid until its
 * next use. */
parapet_status pp_chain_encode(const pp_chain *chain, pp_chain_scratch *scratch, pp_bytes *encoded);

/* Decodes encoded into elements in C order, exactly pp_chain_decoded_bytes long; anything else is refused. *decoded
 * is inside the scratch or, if nothing had to be changed, inside encoded itself. */
parapet_status pp_chain_decode(const pp_chain *chain, pp_chain_scratch *scratch, pp_bytes encoded, pp_bytes *decoded);

/* A chunk spec in words: "transpose zstd:3 crc32c". */
void pp_chain_spec_print(const pp_chain_spec *spec, pp_text *text);

/* Copies bytes from source to target, which may be the same, reversing each unit. */
void pp_swap_units(unsigned char *target, const unsigned char *source, size_t bytes, size_t unit);

#endif
