#include "copy_case.h"

#include <parapet_store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_SHAPE = 300, STREAM_SOURCE, STREAM_TARGET, STREAM_TYPE, STREAM_BOXES, STREAM_CHANGES };

#define CHOICES(list) ((int64_t)(sizeof(list) / sizeof(list)[0]))

static const parapet_type types[] = {
    PARAPET_BOOL,    PARAPET_UINT8,   PARAPET_INT16,   PARAPET_FLOAT16,   PARAPET_INT32,
    PARAPET_FLOAT32, PARAPET_FLOAT64, PARAPET_UINT64,  PARAPET_COMPLEX64, PARAPET_COMPLEX128,
    PARAPET_RAW,     PARAPET_FLOAT64, PARAPET_FLOAT32, PARAPET_FLOAT64,
};

static const char *const codecs[] = {
    "none",
    "none",
    "none",
    "zstd:1",
    "zstd:3",
    "gzip:1",
    "blosc:lz4:5:shuffle",
    "blosc:zstd:1:bitshuffle",
    "none",
    "zstd:1",
    "gzip:3",
    "blosc:blosclz:3:noshuffle",
    "blosc:zlib:1:shuffle",
};

static const char *const names[COPY_NDIM_MOST] = {"time", "level", "lat", "lon", "member", "band"};

int64_t copy_element_count(int ndim, const int64_t *shape)
{
    int64_t count = 1;
    int d;
    for (d = 0; d < ndim; d++)
        count *= shape[d];
    return count;
}

bool copy_step(int ndim, const int64_t *shape, int64_t *position)
{
    int d;
    for (d = ndim - 1; d >= 0; d--) {
        if (++position[d] < shape[d])
            return true;
        position[d] = 0;
    }
    return false;
}

static void *checked(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

/* ---- Shapes ---- */

static void draw_shape(copy_case *made, const copy_limits *limits)
{
    draw from = draw_start(made->seed, STREAM_SHAPE);
    int64_t left = limits->elements;
    int d, first, ndim;
    ndim = draw_chance(&from, 2) ? limits->ndim_least : (int)draw_between(&from, 1, COPY_NDIM_MOST);
    first = ndim > 0 ? (int)draw_between(&from, 0, ndim - 1) : 0;
    made->ndim = ndim;
    for (d = 0; d < ndim; d++) {
        int64_t most = left < 40 ? left : 40;
        made->source.shape[(first + d) % ndim] =
            draw_chance(&from, 70) && most > 2 ? draw_between(&from, 2, most) : draw_scale(&from, most);
        left /= made->source.shape[(first + d) % ndim];
    }
    if (ndim == 1 && draw_chance(&from, 70))
        made->source.shape[0] = draw_between(&from, 1, limits->elements);
    if (ndim > 0 && limits->ndim_least == 0 && draw_chance(&from, 2))
        made->source.shape[first] = 0;
    made->element_count = copy_element_count(ndim, made->source.shape);
}

static int64_t cell_count(int ndim, const int64_t *shape, const int64_t *cell)
{
    int64_t count = 1;
    int d;
    for (d = 0; d < ndim; d++)
        count *= (shape[d] + cell[d] - 1) / cell[d];
    return count;
}

/* Chunks and shards that may end beyond the array and fit nothing else; thin in one dimension and wide in another as
 * often as alike in all. */
static void draw_cut(copy_layout *made, draw *from, int ndim, const copy_limits *limits)
{
    int64_t d;
    made->is_sharded = draw_chance(from, 65);
    for (d = 0; d < ndim; d++) {
        int64_t extent = made->shape[d] > 0 ? made->shape[d] : 1;
        made->chunks[d] = draw_chance(from, 60) ? draw_scale(from, extent + 3) : draw_chance(from, 50) ? 1 : extent;
    }
    while (cell_count(ndim, made->shape, made->chunks) > (made->is_sharded ? limits->chunks : limits->objects)) {
        d = draw_between(from, 0, ndim - 1);
        if (made->chunks[d] < made->shape[d])
            made->chunks[d] += draw_between(from, 1, made->chunks[d]);
    }
    for (d = 0; d < ndim; d++)
        made->shards[d] = made->chunks[d] * (made->is_sharded ? draw_between(from, 1, 4) : 1);
    while (cell_count(ndim, made->shape, made->shards) > limits->objects) {
        d = draw_between(from, 0, ndim - 1);
        if (made->shards[d] < made->shape[d])
            made->shards[d] += made->chunks[d];
    }
    made->is_sharded = made->is_sharded && ndim > 0;
}

/* ---- Source ---- */

static void draw_type(copy_case *made)
{
    draw from = draw_start(made->seed, STREAM_TYPE);
    parapet_array_spec *spec = &made->spec;
    size_t i;
    spec->type = types[draw_between(&from, 0, CHOICES(types) - 1)];
    spec->codec = codecs[draw_between(&from, 0, CHOICES(codecs) - 1)];
    spec->no_checksum = draw_chance(&from, 40);
    if (spec->type == PARAPET_RAW)
        spec->element_bytes = (size_t)draw_between(&from, 1, COPY_ELEMENT_BYTES_MOST);
    made->element_bytes = spec->element_bytes > 0 ? spec->element_bytes : parapet_type_bytes(spec->type);
    made->value_mask = draw_chance(&from, 50) ? UINT64_C(0xf) : UINT64_MAX;
    for (i = 0; i < made->element_bytes; i++)
        made->fill[i] = (unsigned char)(draw_number(&from) & (spec->type == PARAPET_BOOL ? 1 : 0xff));
    spec->fill_value = draw_chance(&from, 60) ? made->fill : NULL;
    if (spec->fill_value == NULL)
        memset(made->fill, 0, sizeof made->fill);
}

static void draw_boxes(copy_case *made, const copy_limits *limits)
{
    draw from = draw_start(made->seed, STREAM_BOXES);
    int i, d;
    made->is_whole = limits->is_whole || draw_chance(&from, 60);
    made->box_count = made->is_whole ? 1 : (int)draw_between(&from, 0, COPY_BOXES_MOST);
    for (i = 0; i < made->box_count; i++)
        for (d = 0; d < made->ndim; d++) {
            int64_t extent = made->source.shape[d];
            bool is_all = made->is_whole || extent == 0 || draw_chance(&from, 30);
            made->boxes[i].start[d] = is_all ? 0 : draw_between(&from, 0, extent - 1);
            made->boxes[i].count[d] = is_all ? extent : draw_between(&from, 1, extent - made->boxes[i].start[d]);
        }
}

static void draw_source(copy_case *made, const copy_limits *limits)
{
    draw from = draw_start(made->seed, STREAM_SOURCE);
    parapet_array_spec *spec = &made->spec;
    int first = (int)draw_between(&from, 0, COPY_NDIM_MOST - 1), d;
    draw_cut(&made->source, &from, made->ndim, limits);
    for (d = 0; d < made->ndim; d++)
        made->names[d] = names[(first + d) % COPY_NDIM_MOST];
    spec->ndim = made->ndim;
    spec->shape = made->source.shape;
    spec->chunks = made->source.chunks;
    spec->shards = made->source.is_sharded ? made->source.shards : NULL;
    spec->unsharded = !made->source.is_sharded;
    spec->dimension_names = made->names;
    spec->attributes = draw_chance(&from, 50) ? "{\"units\": \"m s-1\", \"range\": [1.5, -2, null]}" : NULL;
}

/* ---- Changes ---- */

static void draw_view(copy_case *made, draw *from)
{
    bool is_permuted = draw_chance(from, 60), is_reversed = draw_chance(from, 35), is_region = draw_chance(from, 40);
    int d;
    for (d = 0; d < made->ndim; d++)
        made->axis[d] = d;
    for (d = made->ndim - 1; d > 0 && is_permuted; d--) {
        int other = (int)draw_between(from, 0, d), axis = made->axis[d];
        made->axis[d] = made->axis[other];
        made->axis[other] = axis;
    }
    for (d = 0; d < made->ndim; d++) {
        int64_t extent = made->source.shape[made->axis[d]];
        made->target.shape[d] = extent;
        made->is_reversed[d] = is_reversed && draw_chance(from, 50);
        if (!is_region || extent == 0 || draw_chance(from, 40))
            continue;
        made->start[d] = draw_between(from, 0, extent - 1);
        made->target.shape[d] = draw_between(from, 1, extent - made->start[d]);
    }
}

static const char *name_of(const copy_case *of, int d)
{
    return of->names[of->axis[d]];
}

static void write_order(copy_case *made, draw *from)
{
    bool is_named = draw_chance(from, 50), is_needed = draw_chance(from, 10);
    size_t used = 0;
    int d;
    for (d = 0; d < made->ndim; d++) {
        char number[16];
        (void)snprintf(number, sizeof number, "%d", made->axis[d]);
        used += (size_t)snprintf(made->order_text + used, sizeof made->order_text - used, "%s%s%s", d > 0 ? "," : "",
                                 made->is_reversed[d] ? "-" : "", is_named ? name_of(made, d) : number);
        is_needed = is_needed || made->axis[d] != d || made->is_reversed[d];
    }
    made->changes.order = is_needed && made->ndim > 0 ? made->order_text : NULL;
}

/* Before the order: by the dimensions of the source. */
static void write_region(copy_case *made, draw *from)
{
    bool is_named = draw_chance(from, 50), is_needed = false;
    size_t used = 0;
    int a, d;
    for (a = 0; a < made->ndim; a++) {
        for (d = 0; made->axis[d] != a; d++)
            ;
        used += (size_t)snprintf(made->region_text + used, sizeof made->region_text - used, "%s%s%s",
                                 a > 0 ? "," : "", is_named ? made->names[a] : "", is_named ? "=" : "");
        if (made->target.shape[d] == made->source.shape[a])
            used += (size_t)snprintf(made->region_text + used, sizeof made->region_text - used, ":");
        else
            used += (size_t)snprintf(made->region_text + used, sizeof made->region_text - used, "%lld:%lld",
                                     (long long)made->start[d], (long long)(made->start[d] + made->target.shape[d]));
        is_needed = is_needed || made->target.shape[d] != made->source.shape[a];
    }
    made->changes.region = is_needed ? made->region_text : NULL;
}

static void write_extents(const copy_case *made, draw *from, const int64_t *extents, char text[256])
{
    bool is_named = draw_chance(from, 40);
    size_t used = 0;
    int d;
    for (d = 0; d < made->ndim; d++)
        used += (size_t)snprintf(text + used, 256 - used, "%s%s%s%lld", d > 0 ? "," : "",
                                 is_named ? name_of(made, d) : "", is_named ? "/" : "", (long long)extents[d]);
}

/* The target's cut is the source's, or drawn, or left to the library. */
static void draw_target(copy_case *made, draw *changes, const copy_limits *limits)
{
    draw from = draw_start(made->seed, STREAM_TARGET);
    bool is_kept = draw_chance(changes, 12);
    int d;
    if (is_kept) {
        made->target.is_sharded = made->source.is_sharded;
        for (d = 0; d < made->ndim; d++) {
            made->target.chunks[d] = made->source.chunks[made->axis[d]];
            made->target.shards[d] = made->source.shards[made->axis[d]];
        }
        return;
    }
    draw_cut(&made->target, &from, made->ndim, limits);
    made->chooses_cut = draw_chance(changes, 8);
    if (made->ndim == 0)
        return;
    write_extents(made, changes, made->target.chunks, made->chunks_text);
    made->changes.chunks = made->chooses_cut && draw_chance(changes, 40) ? "auto" : made->chunks_text;
    write_extents(made, changes, made->target.shards, made->shards_text);
    made->changes.shards = made->target.is_sharded ? made->shards_text : "none";
    if (made->chooses_cut)
        made->changes.shards = draw_chance(changes, 50) ? "auto" : "none";
}

static void draw_changes(copy_case *made, const copy_limits *limits)
{
    draw from = draw_start(made->seed, STREAM_CHANGES);
    draw_view(made, &from);
    write_order(made, &from);
    write_region(made, &from);
    draw_target(made, &from, limits);
    if (draw_chance(&from, 70)) {
        made->changes.codec = codecs[draw_between(&from, 0, CHOICES(codecs) - 1)];
        made->changes.no_checksum = draw_chance(&from, 40);
    }
}

void copy_case_build(copy_case *made, uint64_t seed, const copy_limits *limits)
{
    memset(made, 0, sizeof *made);
    made->seed = seed;
    draw_shape(made, limits);
    draw_type(made);
    draw_source(made, limits);
    draw_boxes(made, limits);
    draw_changes(made, limits);
}

/* ---- Words ---- */

static void print_list(FILE *out, const char *name, int ndim, const int64_t *list)
{
    int d;
    fprintf(out, " %s [", name);
    for (d = 0; d < ndim; d++)
        fprintf(out, "%s%lld", d > 0 ? " " : "", (long long)list[d]);
    fprintf(out, "]");
}

static void print_change(FILE *out, const char *name, const char *text)
{
    if (text != NULL)
        fprintf(out, " %s=%s", name, text);
}

void copy_case_print(const copy_case *of, char *text, size_t bytes)
{
    FILE *out = fmemopen(text, bytes, "w");
    const char *name = parapet_type_name(of->spec.type);
    if (out == NULL)
        return;
    fprintf(out, "%s of %zu bytes", name != NULL ? name : "raw", of->element_bytes);
    print_list(out, "shape", of->ndim, of->source.shape);
    print_list(out, "chunks", of->ndim, of->source.chunks);
    if (of->source.is_sharded)
        print_list(out, "shards", of->ndim, of->source.shards);
    fprintf(out, " %s%s, %s;", of->spec.codec, of->spec.no_checksum ? " no checksum" : "",
            of->is_whole ? "whole" : "in part");
    print_change(out, "order", of->changes.order);
    print_change(out, "region", of->changes.region);
    print_change(out, "chunks", of->changes.chunks);
    print_change(out, "shards", of->changes.shards);
    print_change(out, "codec", of->changes.codec);
    fprintf(out, "%s", of->changes.no_checksum ? " no checksum" : "");
    (void)fclose(out);
}

/* ---- Contents ---- */

static int64_t index_of(int ndim, const int64_t *shape, const int64_t *position)
{
    int64_t index = 0;
    int d;
    for (d = 0; d < ndim; d++)
        index = index * shape[d] + position[d];
    return index;
}

static void put_value(const copy_case *of, int64_t index, unsigned char *element)
{
    uint64_t key = (uint64_t)index * 2 + of->seed * UINT64_C(1000003);
    size_t done;
    for (done = 0; done < of->element_bytes; done += 8, key++) {
        uint64_t word = mix(key) & of->value_mask;
        size_t left = of->element_bytes - done;
        memcpy(element + done, &word, left < 8 ? left : 8);
    }
    if (of->spec.type == PARAPET_BOOL)
        element[0] &= 1;
}

/* The elements that a box of the source has, in C order, into a buffer. */
static void put_box(const copy_case *of, const copy_box *box, unsigned char *buffer)
{
    int64_t inside[COPY_NDIM_MOST] = {0}, position[COPY_NDIM_MOST];
    int d;
    if (copy_element_count(of->ndim, box->count) == 0)
        return;
    do {
        for (d = 0; d < of->ndim; d++)
            position[d] = box->start[d] + inside[d];
        put_value(of, index_of(of->ndim, of->source.shape, position), buffer);
        buffer += of->element_bytes;
    } while (copy_step(of->ndim, box->count, inside));
}

static bool is_inside(const copy_box *box, int ndim, const int64_t *position)
{
    int d;
    for (d = 0; d < ndim; d++)
        if (position[d] < box->start[d] || position[d] >= box->start[d] + box->count[d])
            return false;
    return true;
}

unsigned char *copy_case_contents(const copy_case *of)
{
    unsigned char *contents = checked(malloc((size_t)of->element_count * of->element_bytes + 1));
    int64_t position[COPY_NDIM_MOST] = {0}, index = 0;
    int i;
    if (of->element_count == 0)
        return contents;
    do {
        unsigned char *element = contents + (size_t)index * of->element_bytes;
        memcpy(element, of->fill, of->element_bytes);
        for (i = 0; i < of->box_count; i++)
            if (is_inside(&of->boxes[i], of->ndim, position))
                put_value(of, index, element);
        index++;
    } while (copy_step(of->ndim, of->source.shape, position));
    return contents;
}

static parapet_status write_boxes(const copy_case *of, parapet_array *array)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < of->box_count && status == PARAPET_OK; i++) {
        const copy_box *box = &of->boxes[i];
        unsigned char *data =
            checked(malloc((size_t)copy_element_count(of->ndim, box->count) * of->element_bytes + 1));
        parapet_part part = {.ndim = of->ndim, .start = box->start, .count = box->count, .data = data};
        put_box(of, box, data);
        status = parapet_array_write(array, &part, 1);
        free(data);
    }
    return status;
}

bool copy_case_write(const copy_case *of, const char *store_path)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    parapet_status status;
    if ((status = parapet_store_open(&store, MPI_COMM_SELF, store_path, PARAPET_CREATE, &options)) == PARAPET_OK &&
        (status = parapet_array_create(&array, store, "source", &of->spec)) == PARAPET_OK)
        status = write_boxes(of, array);
    if (status != PARAPET_OK)
        fprintf(stderr, "writing the source: %s\n", parapet_error_message());
    (void)parapet_array_close(&array);
    (void)parapet_store_close(&store);
    return status == PARAPET_OK;
}

/* Where an element of the target lies in the source. */
static void find_source(const copy_case *of, const int64_t *target, int64_t *source)
{
    int d;
    for (d = 0; d < of->ndim; d++)
        source[of->axis[d]] = of->start[d] + (of->is_reversed[d] ? of->target.shape[d] - 1 - target[d] : target[d]);
}

unsigned char *copy_case_expected(const copy_case *of, const unsigned char *contents)
{
    int64_t count = copy_element_count(of->ndim, of->target.shape), i;
    int64_t target[COPY_NDIM_MOST] = {0}, source[COPY_NDIM_MOST];
    unsigned char *expected = checked(malloc((size_t)count * of->element_bytes + 1));
    for (i = 0; i < count; i++) {
        find_source(of, target, source);
        memcpy(expected + (size_t)i * of->element_bytes,
               contents + (size_t)index_of(of->ndim, of->source.shape, source) * of->element_bytes,
               of->element_bytes);
        (void)copy_step(of->ndim, of->target.shape, target);
    }
    return expected;
}

/* ---- What is stored ---- */

/* Cells of a grid along each dimension, and in which of them a position lies. */
static void grid_of(const copy_case *of, const copy_layout *layout, int64_t *cells)
{
    int d;
    for (d = 0; d < of->ndim; d++)
        cells[d] = (layout->shape[d] + layout->chunks[d] - 1) / layout->chunks[d];
}

static int64_t chunk_of(const copy_case *of, const copy_layout *layout, const int64_t *cells, const int64_t *position)
{
    int64_t cell[COPY_NDIM_MOST];
    int d;
    for (d = 0; d < of->ndim; d++)
        cell[d] = position[d] / layout->chunks[d];
    return index_of(of->ndim, cells, cell);
}

/* Of the source: chunks that a write has touched. */
static bool *source_stored(const copy_case *of, const int64_t *cells)
{
    bool *stored = checked(calloc((size_t)copy_element_count(of->ndim, cells) + 1, sizeof *stored));
    int64_t position[COPY_NDIM_MOST] = {0};
    int i;
    if (of->element_count == 0)
        return stored;
    do
        for (i = 0; i < of->box_count; i++)
            if (is_inside(&of->boxes[i], of->ndim, position))
                stored[chunk_of(of, &of->source, cells, position)] = true;
    while (copy_step(of->ndim, of->source.shape, position));
    return stored;
}

bool *copy_case_stored(const copy_case *of)
{
    int64_t source_cells[COPY_NDIM_MOST], target_cells[COPY_NDIM_MOST];
    int64_t target[COPY_NDIM_MOST] = {0}, source[COPY_NDIM_MOST];
    int64_t count = copy_element_count(of->ndim, of->target.shape), i;
    bool *from, *stored;
    grid_of(of, &of->source, source_cells);
    grid_of(of, &of->target, target_cells);
    from = source_stored(of, source_cells);
    stored = checked(calloc((size_t)copy_element_count(of->ndim, target_cells) + 1, sizeof *stored));
    for (i = 0; i < count; i++) {
        find_source(of, target, source);
        if (from[chunk_of(of, &of->source, source_cells, source)])
            stored[chunk_of(of, &of->target, target_cells, target)] = true;
        (void)copy_step(of->ndim, of->target.shape, target);
    }
    free(from);
    return stored;
}
