/* pass_memory.c - what a pass takes of memory. */
#include "rechunk/count.h"

#include "base/memory.h"

#define INDEX_ENTRY_BYTES 16
/* And what a seal says of a chunk. */
#define CHECKSUM_BYTES 4
#define INDEX_CHECKSUM_BYTES 4
/* A chunk of a new shard: its entry, and its checksum for the journal. */
#define NEW_ENTRY_BYTES 20
/* What is known of an open chunk beside its elements, and, for each chunk of a template, which one it is. */
#define OPEN_CHUNK_BYTES 96
#define TABLE_ENTRY_BYTES 4
/* What the journal says of a chunk and of a shard. */
#define RECORD_ENTRY_BYTES 28
#define RECORD_SHARD_BYTES 24
/* Shards that are written at the same time: each is an open file. */
#define WRITERS_MOST 256
/* Source chunks of all items: each may be an open file, or two. */
#define VISITS_MOST 256
/* A request of this size is worth its seek; of the larger one, the disk sees no pauses. */
#define WRITER_BYTES_LEAST ((int64_t)256 << 10)
#define WRITER_BYTES_MOST ((int64_t)4 << 20)
/* What suffices for reading ahead while others work, and what evens out chunks that take longer. */
#define ITEMS_LEAST 2
#define ITEMS_SOME 4
#define ITEMS_MANY 8
#define CHUNK_BUFFERS_LEAST 1
#define CHUNK_BUFFERS_SOME 2
#define CHUNK_BUFFERS_MANY_PER_THREAD 4

typedef struct memory_case {
    const pp_rechunk_problem *problem;
    pp_rechunk_pass *pass;
    int64_t limit_bytes;
    int64_t chunk_buffers_most, items_most, item_chunks_most; /* more are of no use */
    int64_t writer_bytes_most;
} memory_case;

static int64_t align(int64_t bytes)
{
    if (bytes > INT64_MAX - PP_PAGE_BYTES)
        return INT64_MAX;
    return (int64_t)pp_align_up((size_t)bytes, PP_PAGE_BYTES);
}

static int64_t add(int64_t a, int64_t b)
{
    return pp_add_saturating(a, b);
}

static int64_t multiply(int64_t a, int64_t b)
{
    return pp_multiply_saturating(a, b);
}

static int64_t count_shard_chunks(const pp_rechunk_side *side, int ndim)
{
    int64_t chunks = 1;
    int d;
    for (d = 0; d < ndim; d++)
        chunks = multiply(chunks, side->shard[d] / side->chunk[d]);
    return chunks;
}

/* A shard's index as it is stored, while it is read or written. */
static int64_t stored_index_bytes(const pp_rechunk_side *side, int ndim)
{
    return align(add(multiply(INDEX_ENTRY_BYTES, count_shard_chunks(side, ndim)), INDEX_CHECKSUM_BYTES));
}

/* Open target chunks, each with its elements and what encoding in place adds. */
static int64_t chunk_buffers_bytes(const memory_case *memory)
{
    return multiply(memory->pass->memory.chunk_buffers,
                    add(align(memory->pass->target.chunk_buffer_bytes), OPEN_CHUNK_BYTES));
}

/* Parts of chunks that are read in runs: no more of each than lies in a template. */
static int64_t run_item_bytes(const memory_case *memory)
{
    const pp_rechunk_pass *pass = memory->pass;
    int64_t bytes = multiply(pass->source.element_bytes, pass->memory.item_chunks);
    int d;
    for (d = 0; d < memory->problem->ndim; d++)
        bytes = multiply(bytes, pp_min_i64(pass->source.chunk[d], pass->template_shape[d]));
    return align(bytes);
}

/* Source chunks on their way from storage to a worker: whole pages around the stored bytes, for direct I/O. */
static int64_t items_bytes(const memory_case *memory)
{
    const pp_rechunk_pass *pass = memory->pass;
    int64_t chunk = align(add(pass->source.encoded_bytes, (int64_t)2 * PP_PAGE_BYTES));
    int64_t item = pass->reads_runs ? run_item_bytes(memory) : multiply(pass->memory.item_chunks, chunk);
    return multiply(pass->memory.items, item);
}

/* What each worker needs to decode and to encode. Cooperating, the collective read brings its own. */
static int64_t scratch_bytes(const memory_case *memory)
{
    const pp_rechunk_pass *pass = memory->pass;
    int64_t decode = pass->cooperates ? 0 : pass->source.scratch_bytes;
    return multiply(memory->problem->threads, add(decode, pass->target.scratch_bytes));
}

/* The indexes of the source's shards that the visit comes back to: along the slowest dimension it never does. Without
 * shards, where each chunk of an item lies. Cooperating, the collective read has its own. */
static int64_t source_indexes_bytes(const memory_case *memory)
{
    const pp_rechunk_pass *pass = memory->pass;
    const pp_rechunk_side *source = &pass->source;
    int64_t shards = 1, entry = INDEX_ENTRY_BYTES + (source->is_sealed ? CHECKSUM_BYTES : 0);
    int i;
    if (pass->cooperates)
        return 0;
    if (!source->is_sharded)
        return multiply(entry, multiply(pass->memory.items, pass->memory.item_chunks));
    for (i = 1; i < memory->problem->ndim; i++) {
        pp_rechunk_axis axis = pp_rechunk_axis_of_shards(memory->problem->shape, pass, pass->order[i]);
        shards = multiply(shards, pp_rechunk_axis_cells_most(&axis));
    }
    return add(multiply(shards, multiply(entry, count_shard_chunks(source, memory->problem->ndim))),
               stored_index_bytes(source, memory->problem->ndim));
}

/* Shards that are written at the same time: those of a work unit. Chunks without shards are written one after the
 * other. */
static int64_t count_writers(const memory_case *memory)
{
    const pp_rechunk_pass *pass = memory->pass;
    int64_t writers = 1;
    int d;
    if (!pass->target.is_sharded)
        return 1;
    for (d = 0; d < memory->problem->ndim; d++)
        writers = multiply(writers, pp_divide_up(pp_min_i64(pass->work_unit_shape[d], memory->problem->shape[d]),
                                                 pass->target.shard[d]));
    return writers;
}

/* The indexes of those shards, as they grow, and one as it is stored; the journal's record of a template; and where
 * the open chunks of a template are. */
static int64_t target_indexes_bytes(const memory_case *memory)
{
    const pp_rechunk_side *target = &memory->pass->target;
    int ndim = memory->problem->ndim;
    int64_t entries = multiply(memory->pass->memory.writers, count_shard_chunks(target, ndim));
    int64_t chunks = pp_rechunk_template_chunks(ndim, memory->problem->shape, memory->pass);
    int64_t bytes = multiply(INDEX_ENTRY_BYTES, entries);
    if (target->is_sharded) {
        bytes = add(multiply(NEW_ENTRY_BYTES, entries), stored_index_bytes(target, ndim));
        bytes = add(bytes, multiply(RECORD_ENTRY_BYTES, chunks));
        bytes = add(bytes, multiply(RECORD_SHARD_BYTES, memory->pass->memory.writers));
    }
    return memory->pass->cooperates ? bytes : add(bytes, multiply(TABLE_ENTRY_BYTES, chunks));
}

/* The most that a stored shard takes: no buffer needs to be larger. */
static int64_t shard_bytes_most(const memory_case *memory)
{
    const pp_rechunk_side *target = &memory->pass->target;
    int64_t chunks = count_shard_chunks(target, memory->problem->ndim);
    int64_t bytes = multiply(target->encoded_bytes, chunks);
    if (!target->is_sharded)
        return bytes;
    return add(bytes, add(multiply(INDEX_ENTRY_BYTES, chunks), INDEX_CHECKSUM_BYTES));
}

/* Cooperating: the elements of a template, as the collective read delivers them, a chunk of it that is encoded, and
 * what that read takes. */
static int64_t cooperation_bytes(const memory_case *memory)
{
    const pp_rechunk_pass *pass = memory->pass;
    int64_t bytes = multiply(pass->memory.chunk_buffers, pass->target.element_bytes);
    int d;
    for (d = 0; d < memory->problem->ndim; d++)
        bytes = multiply(bytes, pass->target.chunk[d]);
    bytes = add(align(bytes), align(pass->target.chunk_buffer_bytes));
    return add(bytes, memory->problem->cooperation_bytes);
}

static int64_t total_bytes(const memory_case *memory)
{
    const pp_rechunk_memory *sizes = &memory->pass->memory;
    int64_t bytes =
        memory->pass->cooperates ? cooperation_bytes(memory) : add(chunk_buffers_bytes(memory), items_bytes(memory));
    bytes = add(bytes, scratch_bytes(memory));
    bytes = add(bytes, add(sizes->source_indexes, sizes->target_indexes));
    return add(bytes, multiply(sizes->writers, sizes->writer_bytes));
}

static void set_total(const memory_case *memory)
{
    memory->pass->memory.memory_bytes = total_bytes(memory);
}

/* The visits of source chunks in a template. */
static int64_t count_visits(const memory_case *memory)
{
    int64_t visits = 1;
    int d;
    for (d = 0; d < memory->problem->ndim; d++) {
        pp_rechunk_axis axis = pp_rechunk_axis_of_chunks(memory->problem->shape, memory->pass, d);
        visits = multiply(visits, pp_rechunk_axis_cells_most(&axis));
    }
    return visits;
}

/* Whether there is one source chunk along each dimension that is visited faster than the target's fastest. */
static bool is_visited_fastest(const pp_rechunk_problem *problem, const pp_rechunk_pass *pass)
{
    const pp_rechunk_side *source = &pass->source;
    int i, d, last = problem->ndim - 1;
    for (i = last; (d = pass->order[i]) != last; i--)
        if (source->origin[d] % source->chunk[d] + problem->shape[d] > source->chunk[d])
            return false;
    return true;
}

static int64_t items_many(const pp_rechunk_problem *problem)
{
    return ITEMS_MANY + problem->threads;
}

/* Elements of all of them are there at the same time, so they must not be decoded into memory of a worker. */
int64_t pp_rechunk_item_chunks_most(const pp_rechunk_problem *problem, const pp_rechunk_pass *pass)
{
    const pp_rechunk_side *source = &pass->source;
    int last = problem->ndim - 1;
    int64_t chunks;
    if (pass->cooperates || last < 0 || problem->ndim == PARAPET_MAX_NDIM || source->stored_order[last] == last ||
        (source->scratch_bytes > 0 && !pass->reads_runs))
        return 1;
    chunks =
        pp_min_i64(PP_RECHUNK_LINE_BYTES / source->element_bytes, pass->target.chunk[last]) / source->chunk[last];
    chunks = pp_min_i64(chunks, VISITS_MOST / items_many(problem));
    return chunks > 1 && is_visited_fastest(problem, pass) ? chunks : 1;
}

static void set_least(memory_case *memory)
{
    const pp_rechunk_problem *problem = memory->problem;
    pp_rechunk_pass *pass = memory->pass;
    int64_t chunks = pp_rechunk_template_chunks(problem->ndim, problem->shape, pass);
    int64_t open = pass->cooperates ? chunks : pp_rechunk_open_chunks(problem->ndim, problem->shape, pass);
    int64_t shard_bytes = shard_bytes_most(memory);
    pass->memory = (pp_rechunk_memory){
        .open_chunks = open, .chunk_buffers = open, .items = 1, .item_chunks = 1, .writers = count_writers(memory)};
    pass->memory.writer_bytes = align(pp_min_i64(WRITER_BYTES_LEAST, shard_bytes));
    pass->memory.target_indexes = target_indexes_bytes(memory);
    pass->memory.source_indexes = source_indexes_bytes(memory);
    memory->writer_bytes_most = align(pp_min_i64(WRITER_BYTES_MOST, shard_bytes));
    memory->chunk_buffers_most = pass->cooperates ? chunks : add(chunks, problem->threads);
    memory->items_most = pass->cooperates ? 1 : count_visits(memory);
    memory->item_chunks_most = pp_rechunk_item_chunks_most(problem, pass);
    set_total(memory);
}

/* Takes the sizes back if they do not fit. */
static bool keep_if_fitting(const memory_case *memory, const pp_rechunk_memory *before)
{
    set_total(memory);
    if (memory->pass->memory.memory_bytes <= memory->limit_bytes)
        return true;
    memory->pass->memory = *before;
    return false;
}

static void grow_items(const memory_case *memory, int64_t most)
{
    pp_rechunk_memory *sizes = &memory->pass->memory, before = *sizes;
    for (; sizes->items < pp_min_i64(most, memory->items_most); before = *sizes) {
        sizes->items++;
        if (!memory->pass->source.is_sharded)
            sizes->source_indexes = source_indexes_bytes(memory);
        if (!keep_if_fitting(memory, &before))
            return;
    }
}

static void grow_item_chunks(const memory_case *memory)
{
    pp_rechunk_memory *sizes = &memory->pass->memory, before = *sizes;
    for (; sizes->item_chunks < memory->item_chunks_most; before = *sizes) {
        sizes->item_chunks++;
        if (!memory->pass->source.is_sharded)
            sizes->source_indexes = source_indexes_bytes(memory);
        if (!keep_if_fitting(memory, &before))
            return;
    }
}

static void grow_chunk_buffers(const memory_case *memory, int64_t most)
{
    pp_rechunk_memory *sizes = &memory->pass->memory, before = *sizes;
    for (; sizes->chunk_buffers < pp_min_i64(most, memory->chunk_buffers_most); before = *sizes) {
        sizes->chunk_buffers++;
        if (!keep_if_fitting(memory, &before))
            return;
    }
}

static void grow_writers(const memory_case *memory)
{
    pp_rechunk_memory *sizes = &memory->pass->memory, before = *sizes;
    for (; sizes->writer_bytes < memory->writer_bytes_most; before = *sizes) {
        sizes->writer_bytes = pp_min_i64(2 * sizes->writer_bytes, memory->writer_bytes_most);
        if (!keep_if_fitting(memory, &before))
            return;
    }
}

bool pp_rechunk_size_memory(const pp_rechunk_problem *problem, int64_t limit_bytes, pp_rechunk_pass *pass)
{
    memory_case memory = {.problem = problem, .pass = pass, .limit_bytes = limit_bytes};
    int64_t open;
    set_least(&memory);
    if (pass->memory.writers > WRITERS_MOST)
        pass->memory.memory_bytes = INT64_MAX;
    if (pass->memory.memory_bytes > limit_bytes || pass->memory.writers > WRITERS_MOST)
        return false;
    open = pass->memory.open_chunks;
    /* The least that lets reading, work and writing overlap; then what makes them wait less. */
    grow_items(&memory, ITEMS_LEAST);
    grow_chunk_buffers(&memory, add(open, CHUNK_BUFFERS_LEAST));
    grow_item_chunks(&memory);
    grow_items(&memory, ITEMS_SOME);
    grow_chunk_buffers(&memory, add(open, CHUNK_BUFFERS_SOME));
    grow_writers(&memory);
    grow_items(&memory, items_many(problem));
    grow_chunk_buffers(&memory, add(open, (int64_t)CHUNK_BUFFERS_MANY_PER_THREAD * problem->threads));
    /* Chunks complete in rows: while one row is written, the next is put together. */
    grow_chunk_buffers(&memory, multiply(2, open));
    return true;
}
