#include "subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_SHAPE, STREAM_CHUNKS, STREAM_TYPE, STREAM_WRITES, STREAM_READ };

static const parapet_type types[] = {
    PARAPET_BOOL,    PARAPET_INT8,      PARAPET_INT16,      PARAPET_INT32,    PARAPET_INT64,      PARAPET_UINT8,
    PARAPET_UINT16,  PARAPET_UINT32,    PARAPET_UINT64,     PARAPET_FLOAT16,  PARAPET_FLOAT32,    PARAPET_FLOAT64,
    PARAPET_FLOAT64, PARAPET_COMPLEX64, PARAPET_COMPLEX128, PARAPET_BFLOAT16, PARAPET_DATETIME64, PARAPET_RAW,
};

static const char *const codecs[] = {
    "none",
    "none",
    "zstd:1",
    "zstd:1",
    NULL,
    "gzip:1",
    "blosc:lz4:5:shuffle",
    "blosc:zstd:1:bitshuffle",
    "blosc:blosclz:3:noshuffle",
    "blosc:zlib:1:shuffle",
};

#define CHOICES(list) ((int64_t)(sizeof(list) / sizeof(list)[0]))

static void draw_shape(subject *made, draw *from, int64_t most_elements)
{
    int64_t left = most_elements;
    int d, first, ndim = draw_chance(from, 2) ? 0 : (int)draw_between(from, 1, MOST_NDIM);
    made->spec.ndim = ndim;
    first = ndim > 0 ? (int)draw_between(from, 0, ndim - 1) : 0;
    for (d = 0; d < ndim; d++) {
        int place = (first + d) % ndim;
        int64_t most = d == ndim - 1 ? left : left / (1 << (ndim - 1 - d));
        made->shape[place] = draw_scale(from, most > 1 ? most : 1);
        if (d == ndim - 1 && draw_chance(from, 60)) /* or half of all arrays would be tiny */
            made->shape[place] = draw_between(from, left / 16 + 1, left / 2 + 1);
        left /= made->shape[place];
    }
    if (ndim > 0 && draw_chance(from, 1))
        made->shape[first] = 0;
    made->element_count = 1;
    for (d = 0; d < ndim; d++)
        made->element_count *= made->shape[d];
}

static int64_t cell_count(const subject *of, const int64_t *cell)
{
    int64_t count = 1;
    int d;
    for (d = 0; d < of->spec.ndim; d++)
        count *= (of->shape[d] + cell[d] - 1) / cell[d];
    return count;
}

/* Doubles a cell where it is smaller than the array, until there are few enough. */
static void widen(const subject *of, draw *from, int64_t *cell, int64_t most_cells)
{
    while (cell_count(of, cell) > most_cells) {
        int64_t d = draw_between(from, 0, of->spec.ndim - 1);
        if (cell[d] < of->shape[d])
            cell[d] *= 2;
    }
}

/* Chunks and shards that may end beyond the array, and fit neither each other's edges nor those of any rank. */
static void draw_chunks(subject *made, draw *from, int64_t most_objects)
{
    bool is_one_chunk = draw_chance(from, 10);
    int d;
    for (d = 0; d < made->spec.ndim; d++)
        made->chunks[d] = is_one_chunk && made->shape[d] > 0 ? made->shape[d] : draw_scale(from, made->shape[d] + 3);
    made->spec.unsharded = draw_chance(from, 25);
    made->spec.chunks = draw_chance(from, 95) ? made->chunks : NULL;
    widen(made, from, made->chunks, made->spec.unsharded ? most_objects : 12 * most_objects);
    for (d = 0; d < made->spec.ndim; d++)
        made->shards[d] = made->chunks[d] * draw_between(from, 1, 4);
    widen(made, from, made->shards, most_objects);
    made->spec.shards = !made->spec.unsharded && draw_chance(from, 95) ? made->shards : NULL;
}

static void draw_type(subject *made, draw *from)
{
    parapet_array_spec *spec = &made->spec;
    size_t i;
    spec->type = types[draw_between(from, 0, CHOICES(types) - 1)];
    spec->codec = codecs[draw_between(from, 0, CHOICES(codecs) - 1)];
    spec->no_checksum = draw_chance(from, 25);
    if (draw_chance(from, 6)) /* megabytes: more than fits a small memory limit at once */
        spec->type = PARAPET_RAW;
    if (spec->type == PARAPET_RAW)
        spec->element_bytes =
            (size_t)(draw_chance(from, 50) ? draw_between(from, 1, 24) : draw_between(from, 64, MOST_ELEMENT_BYTES));
    made->element_bytes = spec->element_bytes > 0 ? spec->element_bytes : parapet_type_bytes(spec->type);
    made->value_mask = draw_chance(from, 50) ? UINT64_C(0xf) : UINT64_MAX;
    for (i = 0; i < made->element_bytes; i++)
        made->fill[i] = (unsigned char)(draw_number(from) & (spec->type == PARAPET_BOOL ? 1 : 0xff));
    spec->fill_value = draw_chance(from, 60) ? made->fill : NULL;
    if (spec->fill_value == NULL)
        memset(made->fill, 0, sizeof made->fill);
}

static void draw_decompositions(subject *made, uint64_t seed, int most_writes)
{
    draw writes = draw_start(seed, STREAM_WRITES), read = draw_start(seed, STREAM_READ);
    int i, ndim = made->spec.ndim;
    made->write_count = draw_chance(&writes, 60) ? 1 : (int)draw_between(&writes, 1, most_writes);
    for (i = 0; i < made->write_count; i++) {
        decomposition_cut(&made->writes[i], &writes, ndim, made->shape, made->ranks);
        if (draw_chance(&writes, i == 0 ? 40 : 75))
            decomposition_thin(&made->writes[i], &writes);
    }
    if (draw_chance(&read, 30)) {
        decomposition_scatter(&made->read, &read, ndim, made->shape, made->ranks);
        return;
    }
    decomposition_cut(&made->read, &read, ndim, made->shape, made->ranks);
    if (draw_chance(&read, 10))
        decomposition_thin(&made->read, &read);
}

void subject_build(subject *made, uint64_t seed, int ranks, const subject_limits *limits)
{
    draw shape = draw_start(seed, STREAM_SHAPE), chunks = draw_start(seed, STREAM_CHUNKS);
    draw type = draw_start(seed, STREAM_TYPE);
    memset(made, 0, sizeof *made);
    made->seed = seed;
    made->ranks = ranks;
    made->spec.shape = made->shape;
    draw_shape(made, &shape, limits->elements);
    draw_chunks(made, &chunks, limits->objects);
    draw_type(made, &type);
    draw_decompositions(made, seed, limits->writes);
}

void subject_clear(subject *made)
{
    int i;
    for (i = 0; i < made->write_count; i++)
        decomposition_clear(&made->writes[i]);
    decomposition_clear(&made->read);
}

static void print_shape(FILE *out, const char *name, int ndim, const int64_t *shape)
{
    int d;
    fprintf(out, "%s [", name);
    for (d = 0; d < ndim; d++)
        fprintf(out, "%s%lld", d > 0 ? " " : "", (long long)shape[d]);
    fprintf(out, "] ");
}

void subject_print(const subject *of, char *text, size_t bytes)
{
    FILE *out = fmemopen(text, bytes, "w");
    const char *name = parapet_type_name(of->spec.type);
    int i;
    if (out == NULL)
        return;
    print_shape(out, "shape", of->spec.ndim, of->shape);
    if (of->spec.chunks != NULL)
        print_shape(out, "chunks", of->spec.ndim, of->chunks);
    if (of->spec.shards != NULL)
        print_shape(out, "shards", of->spec.ndim, of->shards);
    fprintf(out, "%s%s of %zu bytes, %s%s", of->spec.unsharded ? "unsharded " : "", name != NULL ? name : "raw",
            of->element_bytes, of->spec.codec != NULL ? of->spec.codec : "default codec",
            of->spec.no_checksum ? " no checksum" : "");
    for (i = 0; i < of->write_count; i++)
        fprintf(out, ", write %s in %d%s", of->writes[i].kind, of->writes[i].count,
                decomposition_is_whole(&of->writes[i]) ? "" : " partly");
    fprintf(out, ", read %s in %d", of->read.kind, of->read.count);
    fclose(out);
}

bool subject_is_common(const subject *of)
{
    return of->spec.type >= PARAPET_BOOL && of->spec.type <= PARAPET_COMPLEX128;
}

int64_t subject_index(const subject *of, const int64_t *position)
{
    int64_t index = 0;
    int d;
    for (d = 0; d < of->spec.ndim; d++)
        index = index * of->shape[d] + position[d];
    return index;
}

void subject_value(const subject *of, int write, const int64_t *position, unsigned char *element)
{
    uint64_t key = (uint64_t)subject_index(of, position) * 4 + of->seed * UINT64_C(1000003) + ((uint64_t)write << 56);
    size_t done;
    for (done = 0; done < of->element_bytes; done += 8, key++) {
        uint64_t word = mix(key) & of->value_mask;
        size_t left = of->element_bytes - done;
        memcpy(element + done, &word, left < 8 ? left : 8);
    }
    if (of->spec.type == PARAPET_BOOL)
        element[0] &= 1;
}

static void apply_write(const subject *of, int write, unsigned char *contents)
{
    const decomposition *written = &of->writes[write];
    int i;
    for (i = 0; i < written->count; i++) {
        const box *held = &written->holdings[i].box;
        int64_t position[MOST_NDIM];
        if (box_element_count(held, of->spec.ndim) == 0)
            continue;
        memcpy(position, held->start, sizeof position);
        do
            subject_value(of, write, position, contents + (size_t)subject_index(of, position) * of->element_bytes);
        while (box_step(held, of->spec.ndim, position));
    }
}

unsigned char *subject_contents(const subject *of, int write_count)
{
    unsigned char *contents = malloc((size_t)of->element_count * of->element_bytes + 1);
    int64_t i;
    int write;
    if (contents == NULL)
        abort();
    for (i = 0; i < of->element_count; i++)
        memcpy(contents + (size_t)i * of->element_bytes, of->fill, of->element_bytes);
    for (write = 0; write < write_count; write++)
        apply_write(of, write, contents);
    return contents;
}
