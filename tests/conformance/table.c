#include "table.h"

#include <stddef.h>
#include <string.h>

#define V3 "cases/v3"
#define V2 "cases/v2"
#define DUAL "cases/v2+v3"
#define EXTRA "extra"
#define FORMAT AT_OPEN, PARAPET_ERR_FORMAT
#define UNSUPPORTED AT_OPEN, PARAPET_ERR_UNSUPPORTED
#define CORRUPT AT_READ, PARAPET_ERR_CORRUPT
#define COUNT(table) ((int)(sizeof(table) / sizeof(table)[0]))

const refusal_rule refusals[] = {
    {V3, "d07_shard_badcrc_MUSTFAIL", CORRUPT, {"index", "c/0/0"}},
    {V3, "d13_shard_sentinel_max_0", CORRUPT, {"index", "c/0/0"}},
    {V3, "d14_shard_zero_zero", CORRUPT, {"index", "c/0/0"}},
    {V3, "i2_extra_plain_string_MUSTFAIL", UNSUPPORTED, {"my_key"}},
    {V3, "i3_extra_must_understand_true_MUSTFAIL", UNSUPPORTED, {"my_ext"}},
    {V3, "k3_i32_bytes_noendian_INVALID", FORMAT, {"endian"}},
    {V3, "l4_zstd_trailing_garbage_INVALID", CORRUPT, {"zstd", "c/0/0"}},
    {V3, "l5_short_edge_chunk_INVALID", CORRUPT, {"12 encoded bytes", "c/2/0"}},

    {EXTRA, "refuse_data_type_unknown", UNSUPPORTED, {"quaternion"}},
    {EXTRA, "refuse_data_type_must_understand_false", UNSUPPORTED, {"quaternion"}},
    {EXTRA, "refuse_codec_unknown", UNSUPPORTED, {"my.squeeze"}},
    {EXTRA, "refuse_codec_unknown_shorthand", UNSUPPORTED, {"my.squeeze"}},
    {EXTRA, "refuse_codec_unknown_in_shard", UNSUPPORTED, {"my.squeeze"}},
    {EXTRA, "refuse_grid_rectilinear", UNSUPPORTED, {"rectilinear"}},
    {EXTRA, "refuse_grid_unknown", UNSUPPORTED, {"hexagonal"}},
    {EXTRA, "refuse_grid_must_understand_false", UNSUPPORTED, {"hexagonal"}},
    {EXTRA, "refuse_key_encoding_unknown", UNSUPPORTED, {"hexagonal"}},
    {EXTRA, "refuse_key_encoding_must_understand_false", UNSUPPORTED, {"hexagonal"}},
    {EXTRA, "refuse_storage_transformers", UNSUPPORTED, {"storage_transformers"}},
    {EXTRA, "refuse_unknown_field_null", UNSUPPORTED, {"my_key"}},
    {EXTRA, "refuse_unknown_field_list", UNSUPPORTED, {"my_key"}},
    {EXTRA, "refuse_string_type_read", AT_READ, PARAPET_ERR_UNSUPPORTED, {"string"}},

    {EXTRA, "refuse_missing_zarr_format", FORMAT, {"zarr_format"}},
    {EXTRA, "refuse_missing_shape", FORMAT, {"shape"}},
    {EXTRA, "refuse_missing_data_type", FORMAT, {"data_type"}},
    {EXTRA, "refuse_missing_chunk_grid", FORMAT, {"chunk_grid"}},
    {EXTRA, "refuse_missing_chunk_key_encoding", FORMAT, {"chunk_key_encoding"}},
    {EXTRA, "refuse_missing_codecs", FORMAT, {"codecs"}},
    {EXTRA, "refuse_zarr_format_4", FORMAT, {"zarr_format"}},
    {EXTRA, "refuse_node_type_unknown", FORMAT, {"node_type"}},
    {EXTRA, "refuse_shape_negative", FORMAT, {"shape"}},
    {EXTRA, "refuse_shape_fraction", FORMAT, {"shape"}},
    {EXTRA, "refuse_shape_text", FORMAT, {"shape"}},
    {EXTRA, "refuse_shape_33_dimensions", UNSUPPORTED, {"33"}},
    {EXTRA, "refuse_shape_overflow", FORMAT, {"shape"}},
    {EXTRA, "refuse_chunk_shape_zero", FORMAT, {"chunk_shape"}},
    {EXTRA, "refuse_chunk_shape_negative", FORMAT, {"chunk_shape"}},
    {EXTRA, "refuse_chunk_shape_ndim", FORMAT, {"chunk_shape"}},
    {EXTRA, "refuse_key_separator", FORMAT, {"separator"}},
    {EXTRA, "refuse_dimension_names_count", FORMAT, {"dimension_names"}},
    {EXTRA, "refuse_dimension_names_number", FORMAT, {"dimension_names"}},
    {EXTRA, "refuse_attributes_list", FORMAT, {"attributes"}},
    {EXTRA, "refuse_fill_out_of_range", FORMAT, {"fill_value"}},
    {EXTRA, "refuse_fill_fraction", FORMAT, {"fill_value"}},
    {EXTRA, "refuse_fill_text_for_int", FORMAT, {"fill_value"}},
    {EXTRA, "refuse_fill_complex_short", FORMAT, {"fill_value"}},
    {EXTRA, "refuse_json_truncated", FORMAT, {"zarr.json"}},
    {EXTRA, "refuse_json_duplicate_key", FORMAT, {"shape"}},
    {EXTRA, "refuse_json_integer_beyond_64_bits", FORMAT, {"64 bits"}},
    {EXTRA, "refuse_json_too_deep", FORMAT, {"deep"}},
    {EXTRA, "refuse_json_empty", FORMAT, {"zarr.json"}},

    {EXTRA, "refuse_codecs_no_array_to_bytes", FORMAT, {"codecs"}},
    {EXTRA, "refuse_codecs_two_array_to_bytes", FORMAT, {"bytes"}},
    {EXTRA, "refuse_codecs_transpose_after_bytes", FORMAT, {"transpose"}},
    {EXTRA, "refuse_codecs_sharding_after_bytes", FORMAT, {"sharding_indexed"}},
    {EXTRA, "refuse_transpose_no_permutation", FORMAT, {"transpose"}},
    {EXTRA, "refuse_transpose_ndim", FORMAT, {"transpose"}},
    {EXTRA, "refuse_bytes_endian_unknown", FORMAT, {"endian"}},
    {EXTRA, "refuse_shard_chunk_does_not_divide", FORMAT, {"chunk_shape"}},
    {EXTRA, "refuse_shard_chunk_zero", FORMAT, {"chunk_shape"}},
    {EXTRA, "refuse_shard_chunk_ndim", FORMAT, {"chunk_shape"}},
    {EXTRA, "refuse_shard_index_gzip", UNSUPPORTED, {"index_codecs"}},
    {EXTRA, "refuse_shard_index_location", FORMAT, {"index_location"}},

    {EXTRA, "refuse_chunk_empty", CORRUPT, {"0 encoded bytes", "c/0"}},
    {EXTRA, "refuse_chunk_short", CORRUPT, {"7 encoded bytes", "c/0"}},
    {EXTRA, "refuse_chunk_long", CORRUPT, {"9 encoded bytes", "c/0"}},
    {EXTRA, "refuse_chunk_crc32c_wrong", CORRUPT, {"crc32c", "c/0"}},
    {EXTRA, "refuse_chunk_crc32c_too_short", CORRUPT, {"crc32c", "c/0"}},
    {EXTRA, "refuse_gzip_long", CORRUPT, {"gzip", "c/0"}},
    {EXTRA, "refuse_gzip_short", CORRUPT, {"gzip", "c/0"}},
    {EXTRA, "refuse_gzip_truncated", CORRUPT, {"gzip", "c/0"}},
    {EXTRA, "refuse_gzip_trailing_bytes", CORRUPT, {"gzip", "c/0"}},
    {EXTRA, "refuse_gzip_not_gzip", CORRUPT, {"gzip", "c/0"}},
    {EXTRA, "refuse_fletcher32_wrong", CORRUPT, {"fletcher32", "c/0"}},
    {EXTRA, "refuse_zstd_long", CORRUPT, {"zstd", "c/0"}},
    {EXTRA, "refuse_zstd_short", CORRUPT, {"zstd", "c/0"}},
    {EXTRA, "refuse_zstd_truncated", CORRUPT, {"zstd", "c/0"}},
    {EXTRA, "refuse_zstd_not_zstd", CORRUPT, {"zstd", "c/0"}},
    {EXTRA, "refuse_blosc_long", CORRUPT, {"blosc", "c/0"}},
    {EXTRA, "refuse_blosc_short", CORRUPT, {"blosc", "c/0"}},
    {EXTRA, "refuse_blosc_lies", CORRUPT, {"blosc", "c/0"}},
    {EXTRA, "refuse_blosc_truncated", CORRUPT, {"blosc", "c/0"}},
    {EXTRA, "refuse_blosc_too_short", CORRUPT, {"blosc", "c/0"}},

    {EXTRA, "refuse_shard_empty", CORRUPT, {"index", "c/0"}},
    {EXTRA, "refuse_shard_shorter_than_index", CORRUPT, {"index", "c/0"}},
    {EXTRA, "refuse_shard_index_beyond_end", CORRUPT, {"index", "c/0"}},
    {EXTRA, "refuse_shard_index_length_beyond_end", CORRUPT, {"index", "c/0"}},
    {EXTRA, "refuse_shard_index_wraps", CORRUPT, {"index", "c/0"}},
    {EXTRA, "refuse_shard_index_into_index", CORRUPT, {"index", "c/0"}},
    {EXTRA, "refuse_shard_index_overlap", CORRUPT, {"index", "overlap"}},
    {EXTRA, "refuse_shard_index_offset_absent", CORRUPT, {"index", "c/0"}},
    {EXTRA, "refuse_shard_index_length_absent", CORRUPT, {"index", "c/0"}},
    {EXTRA, "refuse_shard_chunk_short", CORRUPT, {"3 encoded bytes", "c/0"}},
    {EXTRA, "refuse_shard_chunk_long", CORRUPT, {"8 encoded bytes", "c/0"}},
    {EXTRA, "refuse_shard_inner_crc32c_wrong", CORRUPT, {"crc32c", "c/0"}},

    {EXTRA, "refuse_v2_compressor_unknown", UNSUPPORTED, {"squeeze"}},
    {EXTRA, "refuse_v2_filter_unknown", UNSUPPORTED, {"squeeze"}},
    {EXTRA, "refuse_v2_dtype_unknown", UNSUPPORTED, {"<q4"}},
    {EXTRA, "refuse_v2_dtype_size", UNSUPPORTED, {"<i3"}},
    {EXTRA, "refuse_v2_order_unknown", FORMAT, {"order"}},
    {EXTRA, "refuse_v2_chunks_ndim", FORMAT, {"chunks"}},
    {EXTRA, "refuse_v2_chunks_zero", FORMAT, {"chunks"}},
    {EXTRA, "refuse_v2_zarr_format_1", FORMAT, {"zarr_format"}},
    {EXTRA, "refuse_v2_separator", FORMAT, {"dimension_separator"}},
    {EXTRA, "refuse_v2_shape_missing", FORMAT, {"shape"}},
    {EXTRA, "refuse_v2_chunk_short", CORRUPT, {"3 encoded bytes", "0:"}},
    {EXTRA, "refuse_v2_zlib_damaged", CORRUPT, {"zlib", "0:"}},
    {EXTRA, "refuse_v2_crc32_wrong", CORRUPT, {"crc32", "0:"}},

    {EXTRA, "refuse_draft_zarr_python", UNSUPPORTED, {"draft"}},
    {EXTRA, "refuse_draft_gdal", UNSUPPORTED, {"draft"}},
};
const int refusal_count = COUNT(refusals);

const refusal_rule *refusal_find(const char *folder, const char *name)
{
    int i;
    for (i = 0; i < refusal_count; i++)
        if (strcmp(refusals[i].folder, folder) == 0 && strcmp(refusals[i].name, name) == 0)
            return &refusals[i];
    return NULL;
}

const case_name readable_without_checksums[] = {
    {V3, "d07_shard_badcrc_MUSTFAIL"},
    {EXTRA, "refuse_chunk_crc32c_wrong"},
};
const int readable_without_checksums_count = COUNT(readable_without_checksums);

bool fill_is_open(const char *name)
{
    static const char *const open_fills[] = {
        "f_fill_f32_null_INVALID",          "f_fill_missing_INVALID", "p13_null_fill",
        "accept_fill_absent_chunk_missing", "accept_v2_structured",
    };
    int i;
    for (i = 0; i < COUNT(open_fills); i++)
        if (strcmp(open_fills[i], name) == 0)
            return true;
    return false;
}

const metadata_fact metadata_facts[] = {
    {V3, "a01_plain_le", {NULL}, 0, "units", "\"m\""},
    {V3, "i5_no_attributes", {NULL}, 0, NULL, NULL},
    {V3, "i7_attr_bare_nan_INVALID", {NULL}, 0, "x", "\"NaN\""},
    {V3, "j1_dimnames_null", {"y", NULL}, 1, NULL, NULL},
    {V3, "j2_dimnames", {"y", "x"}, 1, NULL, NULL},
    {V2, "p01_raw/a", {"y", "x"}, 1, NULL, NULL},
    {V2, "p14_no_dims/a", {NULL}, 0, NULL, NULL},
    {DUAL, "h_zstd_slash/a", {"y", "x"}, 1, "units", "\"m\""},
};
const int metadata_fact_count = COUNT(metadata_facts);

const group_case group_cases[] = {
    {V3, "z_group", {"temp", "x", "y"}, PARAPET_NODE_ARRAY, "\"hand made\"", "z_group_"},
    {V3, "z_group_cons", {"temp", "x", "y"}, PARAPET_NODE_ARRAY, "\"hand made\"", "z_group_"},
    {V3, "z_implicit", {"sub"}, PARAPET_NODE_GROUP, NULL, NULL},
    {V3, "z_implicit/sub", {"arr"}, PARAPET_NODE_ARRAY, NULL, NULL},
    {V2, "p15_consolidated", {"a"}, PARAPET_NODE_ARRAY, "\"t\"", NULL},
    {DUAL, "h_raw_dot", {"a"}, PARAPET_NODE_ARRAY, "\"hy\"", NULL},
};
const int group_case_count = COUNT(group_cases);
