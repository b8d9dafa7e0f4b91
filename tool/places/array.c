/* One dataset as an array of Zarr: its document, then where its elements are. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "places.h"

#define SLAB_BYTES ((hsize_t)4 << 20)
#define MOST_FILTERS 15
#define MOST_COMPACT_BYTES 65536
#define MOST_PIECES ((uint64_t)1 << 20)
#define MOST_DECODED_BYTES ((hsize_t)256 << 20) /* whoever reads the table refuses more of them */
#define MOST_SENTENCE_BYTES 256

typedef struct array {
    hid_t id, kind, plist;
    type of;
    layout cut;
    const node *scales[H5S_MAX_RANK]; /* of its dimensions; NULL: they have no name */
    bool is_lagging;                  /* what is shown is more than what there is */
    H5D_layout_t stored;
    text_list content; /* of KIND_TEXTS */
    char codecs[MOST_FILTERS][160];
    char refusal[MOST_SENTENCE_BYTES]; /* "": it can be read */
} array;

static void refuse(array *each, const char *reason)
{
    if (each->refusal[0] == '\0')
        (void)snprintf(each->refusal, sizeof each->refusal, "%s", reason);
}

/* ---- Filters ---- */

typedef struct filter {
    H5Z_filter_t number;
    char name[64];
    unsigned values[16];
    size_t count;
} filter;

static int bounded(unsigned value, int most)
{
    return value <= (unsigned)most ? (int)value : most;
}

static bool name_blosc(const filter *from, char *codec, size_t bytes)
{
    static const char *const names[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
    static const char *const shuffles[] = {"noshuffle", "shuffle", "bitshuffle"};
    unsigned kind = from->count > 6 ? from->values[6] : 0, shuffle = from->count > 5 ? from->values[5] : 1;
    if (kind >= sizeof names / sizeof names[0] || shuffle > 2 || from->count < 5 || from->values[2] == 0 ||
        from->values[2] > INT32_MAX)
        return false;
    (void)snprintf(codec, bytes,
                   "{\"name\":\"blosc\",\"configuration\":{\"cname\":\"%s\",\"clevel\":%d,\"shuffle\":\"%s\","
                   "\"typesize\":%u,\"blocksize\":0}}",
                   names[kind], bounded(from->values[4], 9), shuffles[shuffle], from->values[2]);
    return true;
}

/* The codec that undoes a filter; false: there is none. */
static bool name_codec(const filter *from, size_t element_bytes, char *codec, size_t bytes)
{
    unsigned first = from->count > 0 ? from->values[0] : 0;
    switch (from->number) {
    case H5Z_FILTER_DEFLATE:
        (void)snprintf(codec, bytes, "{\"name\":\"numcodecs.zlib\",\"configuration\":{\"level\":%d}}",
                       bounded(first, 9));
        return true;
    case H5Z_FILTER_SHUFFLE:
        (void)snprintf(codec, bytes, "{\"name\":\"numcodecs.shuffle\",\"configuration\":{\"elementsize\":%zu}}",
                       first > 0 ? (size_t)first : element_bytes);
        return true;
    case H5Z_FILTER_FLETCHER32:
        (void)snprintf(codec, bytes, "{\"name\":\"numcodecs.fletcher32\"}");
        return true;
    case 32001:
        return name_blosc(from, codec, bytes);
    case 32004:
        (void)snprintf(codec, bytes, "{\"name\":\"hdf5.lz4\"}");
        return true;
    case 32015:
        (void)snprintf(codec, bytes, "{\"name\":\"zstd\",\"configuration\":{\"level\":%d,\"checksum\":false}}",
                       bounded(first, 22));
        return true;
    default:
        return false;
    }
}

static void read_filter(array *each, int number)
{
    filter from = {.count = sizeof from.values / sizeof from.values[0]};
    unsigned flags, config;
    size_t i;
    from.number = H5Pget_filter(each->plist, (unsigned)number, &flags, &from.count, from.values, sizeof from.name,
                                from.name, &config);
    from.name[sizeof from.name - 1] = '\0';
    for (i = 0; from.name[i] != '\0'; i++)
        if ((unsigned char)from.name[i] < 0x20 || (unsigned char)from.name[i] > 0x7e)
            from.name[i] = '?';
    if (from.count > sizeof from.values / sizeof from.values[0])
        from.count = sizeof from.values / sizeof from.values[0];
    if (name_codec(&from, each->of.bytes, each->codecs[number], sizeof each->codecs[number]))
        return;
    (void)snprintf(each->refusal, sizeof each->refusal, "its chunks have filter %d%s%s%s, which is not read",
                   from.number, from.name[0] != '\0' ? " (" : "", from.name, from.name[0] != '\0' ? ")" : "");
}

static void read_filters(array *each)
{
    unsigned options = 0;
    int count = H5Pget_nfilters(each->plist), i;
    if (count < 0 || count > MOST_FILTERS) {
        refuse(each, "its chunks have more filters than any program writes");
        return;
    }
    each->cut.filter_count = count;
    for (i = 0; i < count && each->refusal[0] == '\0'; i++)
        read_filter(each, i);
    if (H5Pget_chunk_opts(each->plist, &options) >= 0)
        each->cut.leaves_edges = (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
}

/* ---- Shape ---- */

static void read_shape(array *each)
{
    hid_t space = H5Dget_space(each->id);
    int d;
    if (space < 0 || H5Sget_simple_extent_type(space) == H5S_NULL)
        refuse(each, "it has no shape");
    else if ((each->cut.ndim = H5Sget_simple_extent_dims(space, each->cut.shape, NULL)) < 0) {
        each->cut.ndim = 0;
        refuse(each, "its shape cannot be read: it is damaged");
    }
    for (d = 0; d < each->cut.ndim; d++)
        if (each->cut.shape[d] > INT64_MAX)
            refuse(each, "its shape is larger than any array");
    if (space >= 0)
        H5Sclose(space);
}

/* In netCDF a variable is as long as its unlimited dimensions, whatever it has. */
static void read_dimensions(array *each, const node_list *list, const node *from)
{
    int d;
    dimensions_of(each->id, each->cut.ndim, list, from, each->scales);
    for (d = 0; d < each->cut.ndim; d++) {
        const node *scale = each->scales[d];
        each->cut.whole[d] = each->cut.shape[d];
        if (list->is_netcdf && scale != NULL && scale->is_unlimited && scale->length > each->cut.shape[d]) {
            each->cut.whole[d] = scale->length;
            each->is_lagging = true;
        }
    }
}

/* What is not stored in chunks is told in slabs of the fast dimensions. */
static void choose_slab(array *each)
{
    hsize_t most = SLAB_BYTES / each->of.bytes;
    int d;
    for (d = each->cut.ndim - 1; d >= 0; d--) {
        hsize_t extent = each->cut.shape[d];
        most = most > 0 ? most : 1;
        each->cut.chunk[d] = extent > most ? most : extent > 0 ? extent : 1;
        most = each->cut.chunk[d] < extent ? 1 : most / each->cut.chunk[d];
    }
}

/* What lies in one piece, and is shown as part of something larger, is cut into chunks that are all whole. */
static void choose_pieces(array *each)
{
    int d;
    choose_slab(each);
    for (d = 0; d < each->cut.ndim; d++)
        while (each->cut.shape[d] % each->cut.chunk[d] != 0)
            each->cut.chunk[d]--;
    if (count_cells(&each->cut) > MOST_PIECES)
        refuse(each, "it is stored in one piece, and has fewer indices than a dimension of it");
}

/* Compact storage is one chunk, and so are texts. */
static void take_whole(array *each, const hsize_t *shape)
{
    int d;
    for (d = 0; d < each->cut.ndim; d++)
        each->cut.chunk[d] = shape[d] > 0 ? shape[d] : 1;
}

static void read_chunk_shape(array *each)
{
    int d, ndim = H5Pget_chunk(each->plist, H5S_MAX_RANK, each->cut.chunk);
    if (ndim != each->cut.ndim)
        refuse(each, "its chunks have another number of dimensions: it is damaged");
    for (d = 0; d < ndim && d < each->cut.ndim; d++)
        if (each->cut.chunk[d] == 0)
            refuse(each, "its chunks are empty: it is damaged");
    read_filters(each);
}

static void read_texts(array *each)
{
    take_whole(each, each->cut.whole);
    if (!texts_read(each->id, each->kind, &each->cut, &each->content))
        refuse(each, each->content.reason);
}

static void read_layout(array *each)
{
    each->stored = H5Pget_layout(each->plist);
    if (H5Pget_external_count(each->plist) > 0)
        refuse(each, "its elements are in other files (external storage)");
    else if (each->of.kind == KIND_TEXTS && each->stored != H5D_VIRTUAL)
        read_texts(each);
    else if (each->stored == H5D_CHUNKED)
        read_chunk_shape(each);
    else if (each->stored == H5D_CONTIGUOUS && each->is_lagging)
        choose_pieces(each);
    else if (each->stored == H5D_CONTIGUOUS)
        choose_slab(each);
    else if (each->stored == H5D_COMPACT)
        take_whole(each, each->cut.shape);
    else
        refuse(each, "it is put together from parts of other datasets (virtual)");
}

/* ---- What netCDF shows beyond the end of a dataset ---- */

static bool has_fill(const array *each)
{
    H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
    return H5Pfill_value_defined(each->plist, &defined) >= 0 && defined == H5D_FILL_VALUE_USER_DEFINED;
}

/* Whether what is not stored is zero, as HDF5 shows it where nobody has chosen a fill value. */
static bool has_unstored_zeros(const array *each)
{
    H5D_fill_time_t when = H5D_FILL_TIME_ERROR;
    H5D_fill_value_t defined = H5D_FILL_VALUE_ERROR;
    hsize_t stored = 0;
    hid_t space;
    if (H5Pget_fill_time(each->plist, &when) < 0 || when == H5D_FILL_TIME_NEVER ||
        H5Pfill_value_defined(each->plist, &defined) < 0 || defined == H5D_FILL_VALUE_UNDEFINED)
        return false;
    if (each->stored == H5D_CONTIGUOUS)
        return H5Dget_offset(each->id) == HADDR_UNDEF && count_cells(&each->cut) > 0;
    if (each->stored != H5D_CHUNKED || (space = H5Dget_space(each->id)) < 0)
        return false;
    (void)H5Dget_num_chunks(each->id, space, &stored);
    H5Sclose(space);
    return stored < count_cells(&each->cut);
}

/* The fill value is one for all that is not stored: within the dataset, where HDF5 chooses it, and beyond. */
static void check_lagging(array *each)
{
    hsize_t bytes = each->of.bytes;
    int d;
    for (d = 0; d < each->cut.ndim; d++)
        if (__builtin_mul_overflow(bytes, each->cut.chunk[d], &bytes))
            bytes = UINT64_MAX;
    if (each->of.kind == KIND_TEXTS)
        return;
    if (each->stored == H5D_CHUNKED && bytes > MOST_DECODED_BYTES)
        refuse(each, "it has fewer indices than a dimension of it, and its chunks have more than 256 MiB");
    if (each->of.kind == KIND_TEXT || has_fill(each))
        return;
    if (each->of.kind != KIND_INTEGER && each->of.kind != KIND_FLOAT)
        refuse(each, "it has fewer indices than a dimension of it, and netCDF has no fill value for the rest");
    else if (has_unstored_zeros(each))
        refuse(each, "it has fewer indices than a dimension of it, and parts without a fill value of its own");
}

static void open_array(hid_t file, const node_list *list, const node *from, array *each)
{
    *each = (array){.id = H5Dopen(file, from->path, H5P_DEFAULT), .kind = -1, .plist = -1};
    if (each->id < 0 || (each->kind = H5Dget_type(each->id)) < 0 ||
        (each->plist = H5Dget_create_plist(each->id)) < 0) {
        refuse(each, "HDF5 cannot open it: it is damaged, or of a newer version");
        return;
    }
    type_of(each->kind, &each->of);
    if (each->of.kind == KIND_REFUSED || each->of.bytes == 0)
        refuse(each, each->of.reason);
    read_shape(each);
    read_dimensions(each, list, from);
    if (each->refusal[0] == '\0')
        read_layout(each);
    if (each->refusal[0] == '\0' && each->is_lagging)
        check_lagging(each);
}

static void close_array(const array *each)
{
    if (each->plist >= 0)
        H5Pclose(each->plist);
    if (each->kind >= 0)
        H5Tclose(each->kind);
    if (each->id >= 0)
        H5Dclose(each->id);
}

/* ---- Names of dimensions ---- */

static void put_dimension_names(const array *each)
{
    bool is_named = each->cut.ndim == 0;
    int d;
    for (d = 0; d < each->cut.ndim; d++)
        is_named = is_named || each->scales[d] != NULL;
    if (!is_named)
        return;
    put(",\"dimension_names\":[");
    for (d = 0; d < each->cut.ndim; d++) {
        put("%s", d > 0 ? "," : "");
        if (each->scales[d] != NULL)
            put_string(node_name(each->scales[d]), strlen(node_name(each->scales[d])));
        else
            put("null");
    }
    put("]");
}

/* ---- The document ---- */

static void put_extents(const hsize_t *extents, int ndim)
{
    int d;
    put("[");
    for (d = 0; d < ndim; d++)
        put("%s%" PRIu64, d > 0 ? "," : "", (uint64_t)extents[d]);
    put("]");
}

static hid_t base_of(const array *each)
{
    if (H5Tget_class(each->kind) == H5T_ENUM)
        return H5Tget_super(each->kind);
    return each->of.kind == KIND_COMPLEX ? H5Tget_member_type(each->kind, 0) : H5Tcopy(each->kind);
}

static void put_fill_number(const array *each, unsigned char *element)
{
    hid_t base = base_of(each);
    hid_t wide = each->of.kind == KIND_INTEGER ? (each->of.is_signed ? H5T_NATIVE_LLONG : H5T_NATIVE_ULLONG)
                 : each->of.kind == KIND_BOOL  ? H5T_NATIVE_ULLONG
                                               : H5T_NATIVE_DOUBLE;
    unsigned long long whole[2] = {0};
    double parts[2] = {0};
    if (H5Tconvert(base, wide, each->of.kind == KIND_COMPLEX ? 2 : 1, element, NULL, H5P_DEFAULT) < 0)
        die("a fill value cannot be read: the file is damaged");
    memcpy(whole, element, sizeof whole);
    memcpy(parts, element, sizeof parts);
    if (each->of.kind == KIND_BOOL)
        put("%s", whole[0] != 0 ? "true" : "false");
    else if (each->of.kind == KIND_INTEGER)
        put(each->of.is_signed ? "%lld" : "%llu", whole[0]);
    else if (each->of.kind == KIND_FLOAT)
        put_double(parts[0]);
    else {
        put("[");
        put_double(parts[0]);
        put(",");
        put_double(parts[1]);
        put("]");
    }
    H5Tclose(base);
}

/* What netCDF shows where nothing was written and nobody has chosen anything. */
static void put_default_fill(const type *of)
{
    unsigned bits = 8 * (unsigned)of->bytes;
    if (of->kind == KIND_FLOAT)
        put_double(9.9692099683868690e+36);
    else if (of->is_signed)
        put("%lld", of->bytes == 1 ? -127LL : of->bytes == 8 ? -LLONG_MAX + 1 : -(1LL << (bits - 1)) + 1);
    else
        put("%llu", of->bytes == 8 ? ULLONG_MAX - 1 : (1ULL << bits) - 1);
}

static void put_texts_fill(const array *each)
{
    const char *text = texts_fill(each->id, each->kind);
    put_string(text != NULL ? text : "", text != NULL ? strlen(text) : 0);
}

static void put_fill(const array *each)
{
    unsigned char *element = take_memory(1, each->of.bytes + 2 * sizeof(double));
    put(",\"fill_value\":");
    if (each->of.kind == KIND_TEXTS) {
        put_texts_fill(each);
        free(element);
        return;
    }
    if (has_fill(each) && H5Pget_fill_value(each->plist, each->kind, element) < 0)
        die("a fill value cannot be read: the file is damaged");
    if (each->of.kind == KIND_TEXT) {
        put("\"");
        put_base64(element, each->of.bytes);
        put("\"");
    } else if (each->is_lagging && !has_fill(each))
        put_default_fill(&each->of);
    else
        put_fill_number(each, element);
    free(element);
}

static void put_codecs(const array *each)
{
    int i;
    put(",\"codecs\":[{\"name\":\"%s\"", each->of.kind == KIND_TEXTS ? "vlen-utf8" : "bytes");
    if (each->of.has_order)
        put(",\"configuration\":{\"endian\":\"%s\"}", each->of.is_big ? "big" : "little");
    put("}");
    for (i = 0; i < each->cut.filter_count; i++)
        put(",%s", each->codecs[i]);
    put("]");
}

static void put_document(const array *each)
{
    put("{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":");
    put_extents(each->cut.whole, each->cut.ndim);
    put(",\"data_type\":%s,\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":", each->of.name);
    put_extents(each->cut.chunk, each->cut.ndim);
    put("}},\"chunk_key_encoding\":{\"name\":\"default\",\"configuration\":{\"separator\":\"/\"}}");
    put_fill(each);
    put_codecs(each);
    put(",\"attributes\":");
    put_attributes(each->id, &each->of);
    put_dimension_names(each);
    put("}\n");
}

/* ---- The places ---- */

static void put_compact(const array *each)
{
    size_t bytes = (size_t)H5Dget_storage_size(each->id);
    unsigned char *elements;
    if (bytes == 0) {
        put("chunks 0\n");
        return;
    }
    if (bytes > MOST_COMPACT_BYTES)
        die("a dataset with compact storage has %zu bytes: the file is damaged", bytes);
    elements = take_memory(1, bytes);
    if (H5Dread(each->id, each->kind, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements) < 0)
        die("a dataset with compact storage cannot be read: the file is damaged");
    put("data ");
    put_base64(elements, bytes);
    put("\n");
    free(elements);
}

static void put_contiguous(const array *each)
{
    haddr_t start = H5Dget_offset(each->id);
    if (start == HADDR_UNDEF || H5Dget_storage_size(each->id) == 0)
        put("chunks 0\n");
    else if (each->is_lagging)
        put_pieces(&each->cut, (uint64_t)start, each->of.bytes);
    else
        put("flat %" PRIu64 "\n", (uint64_t)start);
}

/* The path as netCDF shows it. */
static void put_path(const char *word, const node *from)
{
    put("%s %.*s%s\n", word, (int)(strrchr(from->path, '/') + 1 - from->path), from->path, node_name(from));
}

void put_array(hid_t file, const node_list *list, const node *from)
{
    array each = {.id = -1, .kind = -1, .plist = -1};
    if (from->refusal != NULL)
        refuse(&each, from->refusal);
    else
        open_array(file, list, from, &each);
    put_path(each.refusal[0] != '\0' ? "refused" : "array", from);
    if (each.refusal[0] != '\0')
        put("%s\n", each.refusal);
    else {
        put_document(&each);
        if (each.of.kind == KIND_TEXTS)
            put_texts(&each.content);
        else if (each.stored == H5D_CHUNKED)
            put_chunks(each.id, &each.cut);
        else if (each.stored == H5D_COMPACT)
            put_compact(&each);
        else
            put_contiguous(&each);
    }
    close_array(&each);
}
