#include "transfer/memory_plan.h"

#include <math.h>

#include "base/checked.h"
#include "base/thread.h"
#include "comm/direct.h"
#include "comm/pull.h"
#include "comm/stealing.h"
#include "plan/pieces.h"
#include "transfer/deliveries.h"
#include "transfer/shard_build.h"

/* Windows under way: four per thread keep everybody busy while storage lags. */
#define WRITE_SLOTS_PER_THREAD 4
#define WRITE_SLOTS_MOST 64
#define READ_SLOTS_MOST 16
/* Of a processor: with 8 ranks on 2 processors slabs are read 1.4 times as fast without a thread for storage. */
#define RANKS_THAT_FILL 4
/* Requests of this size keep a disk busy. */
#define READ_BATCH_BYTES ((size_t)4 << 20)
/* And of this size, four chunks of 2 MiB, let whole rows of other ranks be written. */
#define READ_REMOTE_BATCH_BYTES (((size_t)8 << 20) + ((size_t)64 << 10))
/* Rows of other ranks that a worker keeps: those of a chunk of 2 MiB, four times as wide, and some more. */
#define SIEVE_BYTES ((size_t)16 << 20)

/* A description has room for this many shards of the largest kind, but is neither tiny nor huge. Ranks may have many
 * claims on one shard, so it is also as long as a message, up to some length. */
#define DESCRIBED_SHARDS 16
#define DESCRIBED_CLAIMS_BYTES ((size_t)256 << 10)
#define MOST_DESCRIPTION_BYTES ((size_t)1 << 20)

size_t pp_memory_client_bytes(size_t fragment_bytes)
{
    return PP_PULL_ANSWERS * pp_align_up(fragment_bytes, PP_PAGE_BYTES);
}

size_t pp_memory_fragment_bytes(int64_t least_memory_bytes)
{
    size_t bytes = (size_t)pp_min_i64(pp_max_i64(least_memory_bytes / 64, 16 << 10), 1 << 20);
    return bytes - bytes % PP_PAGE_BYTES;
}

size_t pp_memory_find_limit(pp_memory_need need, const void *context, size_t fragment_bytes)
{
    size_t limit = 0, wanted = need(context, fragment_bytes);
    while (wanted > limit) { /* ends: messages have a largest size */
        limit = wanted;
        wanted = need(context, pp_max_size(fragment_bytes, pp_memory_fragment_bytes((int64_t)limit)));
    }
    return limit;
}

/* What the list of messages of so many copies of a window takes. Of two messages of data that follow each other one
 * is more than half full, except the last of a rank; and none is longer than the window. */
static size_t deliveries_bytes(const pp_memory_case *memory, size_t window_bytes, size_t copies)
{
    size_t ranks = (size_t)memory->rank_most,
           fragments = 2 * (ranks + copies - 1) + 2 * copies * window_bytes / pp_max_size(memory->fragment_bytes, 1);
    return pp_align_up(ranks * sizeof(pp_window_delivery) +
                           fragments * (sizeof(pp_fragment) + sizeof(pp_wire_request)),
                       PP_PAGE_BYTES);
}

static int window_of(const pp_layout *layout, int window_most)
{
    int chunks = pp_window_chunk_count(pp_chain_decoded_bytes(layout->chain));
    chunks = chunks < window_most ? chunks : window_most;
    return layout->tiling.chunks.cell_count < chunks ? (int)pp_max_i64(layout->tiling.chunks.cell_count, 1) : chunks;
}

/* Windows that there are at all: no more slots are of use. */
static size_t count_windows(const pp_layout *layout, int64_t shards, int64_t window)
{
    int64_t count;
    return pp_multiply_fits(shards, pp_divide_up(layout->tiling.chunks.cell_count, window), &count) ? (size_t)count
                                                                                                    : SIZE_MAX;
}

/* Where other servers may take shards, those that are open are lost to them, so no more than these are. Of 256 shards
 * on 16 servers, of which one was half as fast, a second one that was open cost 8 % of the speed in writing; in
 * reading it gained 3 %, because what is read has still to be handed out. */
enum { WRITE_SHARDS_AHEAD = 1, READ_SHARDS_AHEAD = 2 };

static int64_t shards_open(const pp_memory_case *memory, int64_t most)
{
    return memory->takes ? pp_min_i64(memory->shard_count, most) : memory->shard_count;
}

/* But every worker has a window, and storage another one. */
static size_t leave_some(const pp_memory_case *memory, size_t windows)
{
    return memory->takes ? pp_max_size(windows, (size_t)memory->threads + 1) : windows;
}

/* Buffers are whole pages: what is planned for one must be, too. */
static size_t whole_pages(size_t bytes)
{
    return bytes - bytes % PP_PAGE_BYTES;
}

static size_t sieve_of(const pp_memory_case *memory)
{
    if (!memory->has_remote || !memory->uses_direct)
        return 0;
    return whole_pages(pp_min_size(SIEVE_BYTES, memory->available_bytes / 6 / (size_t)memory->threads));
}

static int ndim_most(const pp_layout *const *layouts, int count)
{
    int i, most = 0;
    for (i = 0; i < count; i++)
        most = layouts[i]->tiling.shards.ndim > most ? layouts[i]->tiling.shards.ndim : most;
    return most;
}

/* What is planned for a server that takes shards must do for any of them. */
static pp_memory_case allow_stealing(const pp_memory_case *given, size_t list_bytes)
{
    pp_memory_case memory = *given;
    if (!given->takes)
        return memory;
    memory.available_bytes -= pp_min_size(list_bytes, memory.available_bytes);
    memory.used_bytes += list_bytes;
    memory.shard_count = pp_max_i64(memory.shard_count, 2);
    memory.keeps_old = memory.has_remote = true;
    return memory;
}

/* Lists of shards that were taken; the descriptions are there already. */
static size_t taken_list_bytes(const pp_layout *const *layouts, int count, const pp_memory_case *memory)
{
    int ndim = ndim_most(layouts, count);
    if (!memory->takes)
        return 0;
    return pp_memory_stealing_bytes(ndim, memory->rank_most, memory->fragment_bytes) -
           pp_stealing_bytes(pp_memory_description_bytes(ndim, memory->rank_most, memory->fragment_bytes));
}

/* ---- Writing ---- */

static size_t write_staging(const pp_layout *layout, const pp_memory_case *memory, int window_most)
{
    size_t bytes = (size_t)window_of(layout, window_most) * pp_chain_decoded_bytes(layout->chain);
    return pp_align_up(bytes, PP_PAGE_BYTES) + deliveries_bytes(memory, bytes, 1);
}

/* Of a new shard and, if some of it is kept, of the old one, which has checksums if it was sealed. */
static size_t list_bytes_of(const pp_layout *layout, const pp_memory_case *memory)
{
    size_t checksums = (size_t)layout->tiling.chunks.cell_count * sizeof(uint32_t);
    return pp_shard_build_list_bytes(layout, memory->keeps_old) +
           (memory->keeps_old && memory->is_sealed ? checksums : 0);
}

/* What a slot consists of. Its buffers stay when its next window is of another array, so each is as large as the
 * largest that it is needed for. */
typedef struct write_slot {
    size_t scratch_bytes, old_bytes, output_bytes, list_bytes, staging_bytes;
} write_slot;

static void grow_slot(write_slot *slot, const pp_layout *layout, const pp_memory_case *memory, int window_most)
{
    size_t bound = pp_chain_encoded_bound(layout->chain);
    int window = window_of(layout, window_most);
    slot->scratch_bytes = pp_max_size(slot->scratch_bytes, pp_chain_scratch_bytes(layout->chain));
    if (memory->keeps_old)
        slot->old_bytes = pp_max_size(slot->old_bytes, pp_align_up(bound + PP_PAGE_BYTES, PP_PAGE_BYTES));
    if (window > 1)
        slot->output_bytes = pp_max_size(slot->output_bytes, pp_align_up((size_t)window * bound, PP_PAGE_BYTES));
    if (memory->shard_count > 1) /* what it is about may be another shard */
        slot->list_bytes = pp_max_size(slot->list_bytes, list_bytes_of(layout, memory));
    if (memory->has_remote)
        slot->staging_bytes = pp_max_size(slot->staging_bytes, write_staging(layout, memory, window_most));
}

static size_t slot_bytes(const write_slot *slot)
{
    return slot->scratch_bytes + slot->old_bytes + slot->output_bytes + slot->list_bytes + slot->staging_bytes;
}

static void size_write_slot(const pp_layout *const *layouts, int count, const pp_memory_case *memory, int window_most,
                            pp_memory_plan *plan)
{
    write_slot slot = {0};
    int i;
    for (i = 0; i < count; i++)
        grow_slot(&slot, layouts[i], memory, window_most);
    plan->window_chunks = window_most;
    plan->slot_bytes = slot_bytes(&slot);
    plan->staging_bytes = slot.staging_bytes;
}

/* Buffers that do not fit. Those of messages are among what is used. */
typedef struct lack {
    const pp_memory_case *memory;
    int ndim;
    size_t bytes;
} lack;

/* What messages take that have this size, and lists of shards that were taken. */
static size_t message_bytes(const lack *of, size_t fragment_bytes)
{
    const pp_memory_case *memory = of->memory;
    return pp_memory_client_bytes(fragment_bytes) +
           (memory->takes ? pp_memory_stealing_bytes(of->ndim, memory->rank_most, fragment_bytes) : 0);
}

/* Nothing else takes more if messages are longer. */
static size_t bytes_lacked(const void *context, size_t fragment_bytes)
{
    const lack *of = context;
    const pp_memory_case *memory = of->memory;
    size_t bytes = memory->used_bytes + of->bytes;
    if (memory->fragment_bytes > 0)
        bytes += message_bytes(of, fragment_bytes) - message_bytes(of, memory->fragment_bytes);
    return bytes;
}

static parapet_status check_fits(const pp_layout *const *layouts, int count, const pp_memory_case *memory,
                                 size_t bytes, const char *what)
{
    lack of = {memory, ndim_most(layouts, count), bytes};
    size_t enough;
    if (bytes <= memory->available_bytes)
        return PARAPET_OK;
    enough = pp_memory_find_limit(bytes_lacked, &of, memory->fragment_bytes);
    return pp_refuse_memory(enough, "%s take %zu bytes, but memory_bytes leaves only %zu; set it to at least %zu",
                            what, bytes, memory->available_bytes, enough);
}

/* Beside slots. */
static size_t write_fixed(const pp_layout *layout, const pp_memory_case *memory)
{
    return list_bytes_of(layout, memory) + pp_shard_build_write_bytes(layout);
}

static parapet_status plan_write(const pp_layout *const *layouts, int count, const pp_memory_case *memory,
                                 pp_memory_plan *plan)
{
    size_t fixed = 0, writer = 0, available, wanted, windows = 1;
    parapet_status status;
    int i;
    *plan = (pp_memory_plan){0};
    for (i = 0; i < count; i++) {
        fixed = pp_max_size(fixed, write_fixed(layouts[i], memory));
        writer = pp_max_size(writer, pp_shard_build_writer_bytes(layouts[i], memory->has_threads));
    }
    size_write_slot(layouts, count, memory, PP_WINDOW_CHUNKS, plan);
    plan->sieve_bytes = sieve_of(memory);
    if (fixed + plan->slot_bytes + (size_t)memory->threads * plan->sieve_bytes > memory->available_bytes)
        plan->sieve_bytes = 0;
    fixed += (size_t)memory->threads * plan->sieve_bytes;
    if (fixed + plan->slot_bytes > memory->available_bytes)
        size_write_slot(layouts, count, memory, 1, plan);
    if ((status = check_fits(layouts, count, memory, fixed + plan->slot_bytes, "buffers to write a chunk")) !=
        PARAPET_OK)
        return status;
    available = memory->available_bytes;
    wanted = memory->has_threads ? WRITE_SLOTS_PER_THREAD * (size_t)memory->threads : 1;
    for (i = 0; i < count; i++)
        windows = pp_max_size(windows, count_windows(layouts[i], shards_open(memory, WRITE_SHARDS_AHEAD),
                                                     window_of(layouts[i], plan->window_chunks)));
    wanted = pp_min_size(pp_min_size(wanted, WRITE_SLOTS_MOST), leave_some(memory, windows));
    plan->slot_count = (int)pp_min_size(
        wanted, pp_max_size(1, pp_min_size(available - fixed, available / 4 * 3) / plan->slot_bytes));
    plan->writer_bytes = pp_min_size(writer, PP_LEAST_WRITE_BUFFER_BYTES + available - fixed -
                                                 (size_t)plan->slot_count * plan->slot_bytes);
    plan->planned_bytes = fixed + (size_t)plan->slot_count * plan->slot_bytes;
    if (plan->writer_bytes > PP_LEAST_WRITE_BUFFER_BYTES)
        plan->planned_bytes += plan->writer_bytes - PP_LEAST_WRITE_BUFFER_BYTES;
    return PARAPET_OK;
}

parapet_status pp_memory_plan_write(const pp_layout *const *layouts, int count, const pp_memory_case *memory,
                                    pp_memory_plan *plan)
{
    size_t lists = taken_list_bytes(layouts, count, memory);
    pp_memory_case allowed = allow_stealing(memory, lists);
    parapet_status status = plan_write(layouts, count, &allowed, plan);
    plan->planned_bytes += lists;
    return status;
}

/* ---- Reading ---- */

/* A chunk whose elements are stored as they are is read in bands where it exceeds a request; these are at least so
 * long, but for a single element. */
#define LEAST_BAND_BYTES ((size_t)256 << 10)

static bool reads_bands(const pp_layout *layout)
{
    return pp_chain_begins_plain(layout->chain);
}

/* What a request must hold at least: a chunk as it is stored, or a band of it and its checksum. */
static size_t least_request(const pp_layout *layout)
{
    size_t chunk = pp_align_up(pp_chain_encoded_bound(layout->chain), PP_PAGE_BYTES) + PP_PAGE_BYTES;
    size_t band = pp_align_up(pp_max_size(LEAST_BAND_BYTES, layout->tiling.element_bytes), PP_PAGE_BYTES) +
                  (size_t)3 * PP_PAGE_BYTES;
    return reads_bands(layout) ? pp_min_size(chunk, band) : chunk;
}

static size_t read_scratch(const pp_layout *layout)
{
    return reads_bands(layout) ? pp_chain_decoder_bytes(layout->chain) : pp_chain_scratch_bytes(layout->chain);
}

/* The elements of the largest window. */
static size_t largest_window(const pp_layout *layout, size_t batch)
{
    size_t chunk = pp_chain_decoded_bytes(layout->chain);
    if (reads_bands(layout))
        chunk = pp_min_size(chunk, batch);
    return pp_max_size(
        chunk, pp_min_size(batch, (size_t)pp_min_i64(PP_WINDOW_CHUNKS, layout->tiling.chunks.cell_count) * chunk));
}

/* Room to stage so many copies of a window at a time. */
static void plan_staging(const pp_memory_case *memory, size_t window_bytes, size_t copies, pp_memory_plan *plan)
{
    plan->staged_bytes = pp_align_up(copies * window_bytes, PP_PAGE_BYTES);
    plan->staging_bytes = plan->staged_bytes + deliveries_bytes(memory, window_bytes, copies);
}

/* The parts of a read's budget that do not depend on how many requests are under way. */
typedef struct read_needs {
    size_t chunk_bytes;   /* the smallest buffer for requests */
    size_t whole_bytes;   /* the largest of use: a whole shard */
    size_t shard_bytes;   /* an open shard: its index as a list, and which chunks are wanted */
    size_t index_bytes;   /* while a shard is being opened */
    size_t scratch_bytes; /* of all workers */
} read_needs;

static read_needs find_read_needs(const pp_layout *const *layouts, int count, const pp_memory_case *memory)
{
    read_needs needs = {0};
    int i;
    for (i = 0; i < count; i++) {
        const pp_layout *layout = layouts[i];
        size_t chunks = (size_t)layout->tiling.chunks.cell_count;
        needs.chunk_bytes = pp_max_size(needs.chunk_bytes, least_request(layout));
        needs.whole_bytes = pp_max_size(needs.whole_bytes, pp_align_up(pp_min_size(chunks, READ_BATCH_BYTES) *
                                                                           pp_chain_encoded_bound(layout->chain),
                                                                       PP_PAGE_BYTES) +
                                                               (size_t)2 * PP_PAGE_BYTES);
        needs.shard_bytes = pp_max_size(needs.shard_bytes, chunks * (sizeof(pp_chunk_entry) + sizeof(int64_t) + 1 +
                                                                     (memory->is_sealed ? sizeof(uint32_t) : 0)));
        if (layout->is_sharded)
            needs.index_bytes =
                pp_max_size(needs.index_bytes, pp_align_up(pp_index_stored_bytes(&layout->index), PP_PAGE_BYTES));
        needs.scratch_bytes = pp_max_size(needs.scratch_bytes, (size_t)memory->threads * read_scratch(layout));
    }
    return needs;
}

/* Beside slots. */
static size_t read_fixed(const read_needs *needs)
{
    return needs->scratch_bytes + needs->shard_bytes + needs->index_bytes;
}

static size_t read_slot(const pp_layout *const *layouts, int count, const pp_memory_case *memory,
                        const read_needs *needs, pp_memory_plan *plan)
{
    size_t most = 0;
    int i;
    for (i = 0; i < count; i++)
        most = pp_max_size(most, largest_window(layouts[i], plan->batch_bytes));
    if (memory->has_remote)
        plan_staging(memory, most, 1, plan);
    return plan->batch_bytes + plan->staging_bytes + (memory->shard_count > 1 ? needs->shard_bytes : 0);
}

static size_t read_windows(const pp_layout *const *layouts, int count, const pp_memory_case *memory,
                           const pp_memory_plan *plan)
{
    size_t windows = 1;
    int i;
    for (i = 0; i < count; i++) {
        size_t bound = pp_chain_encoded_bound(layouts[i]->chain),
               room = plan->batch_bytes - (size_t)2 * PP_PAGE_BYTES;
        size_t fitting = pp_min_size(pp_max_size(room / bound, 1), PP_WINDOW_CHUNKS);
        windows =
            pp_max_size(windows, count_windows(layouts[i], shards_open(memory, READ_SHARDS_AHEAD), (int64_t)fitting));
        if (bound > room && reads_bands(layouts[i]))
            windows = pp_max_size(windows, READ_SLOTS_MOST);
    }
    return leave_some(memory, windows);
}

/* Where ranks read the same elements, what is left makes room to stage them for several ranks at a time: otherwise a
 * window is staged, and its chunks are decoded, once for each. */
static void stage_copies(const pp_memory_case *memory, size_t left_bytes, pp_memory_plan *plan)
{
    const pp_memory_plan one = *plan;
    size_t left = left_bytes / (size_t)plan->slot_count, copies;
    if (!memory->has_remote || one.staged_bytes == 0)
        return;
    copies = pp_min_size((size_t)memory->copies, 1 + left / one.staged_bytes);
    for (; copies > 1; copies--) {
        plan_staging(memory, one.staged_bytes, copies, plan);
        plan->slot_bytes = one.slot_bytes + plan->staging_bytes - one.staging_bytes;
        if (plan->slot_bytes - one.slot_bytes <= left)
            return;
        *plan = one;
    }
}

static parapet_status plan_read(const pp_layout *const *layouts, int count, const pp_memory_case *memory,
                                pp_memory_plan *plan)
{
    read_needs needs = find_read_needs(layouts, count, memory);
    size_t fixed = read_fixed(&needs), available, wanted;
    parapet_status status;
    *plan = (pp_memory_plan){.window_chunks = PP_WINDOW_CHUNKS, .batch_bytes = needs.chunk_bytes};
    plan->slot_bytes = read_slot(layouts, count, memory, &needs, plan);
    if ((status = check_fits(layouts, count, memory, fixed + plan->slot_bytes, "buffers to read a chunk")) !=
        PARAPET_OK)
        return status;
    plan->sieve_bytes = sieve_of(memory);
    if (fixed + plan->slot_bytes + (size_t)memory->threads * plan->sieve_bytes > memory->available_bytes)
        plan->sieve_bytes = 0;
    fixed += (size_t)memory->threads * plan->sieve_bytes;
    available = memory->available_bytes - fixed;
    available = pp_min_size(available, pp_max_size(available / 2, plan->slot_bytes));
    plan->batch_bytes =
        pp_max_size(needs.chunk_bytes,
                    pp_min_size(needs.whole_bytes, memory->has_remote ? READ_REMOTE_BATCH_BYTES : READ_BATCH_BYTES));
    if (read_slot(layouts, count, memory, &needs, plan) * 2 > available)
        plan->batch_bytes = pp_max_size(needs.chunk_bytes, whole_pages(available / (memory->has_remote ? 8 : 4)));
    plan->slot_bytes = read_slot(layouts, count, memory, &needs, plan);
    if (plan->slot_bytes > memory->available_bytes - fixed) {
        plan->batch_bytes = needs.chunk_bytes;
        plan->slot_bytes = read_slot(layouts, count, memory, &needs, plan);
    }
    wanted = memory->has_threads ? pp_min_size((size_t)memory->threads + 3, READ_SLOTS_MOST) : 1;
    wanted = pp_min_size(wanted, read_windows(layouts, count, memory, plan));
    plan->slot_count = (int)pp_min_size(wanted, pp_max_size(1, available / plan->slot_bytes));
    stage_copies(memory, memory->available_bytes - fixed - (size_t)plan->slot_count * plan->slot_bytes, plan);
    plan->planned_bytes = fixed + (size_t)plan->slot_count * plan->slot_bytes;
    return PARAPET_OK;
}

parapet_status pp_memory_plan_read(const pp_layout *const *layouts, int count, const pp_memory_case *memory,
                                   pp_memory_plan *plan)
{
    size_t lists = taken_list_bytes(layouts, count, memory);
    pp_memory_case allowed = allow_stealing(memory, lists);
    parapet_status status = plan_read(layouts, count, &allowed, plan);
    plan->planned_bytes += lists;
    return status;
}

/* ---- Both ---- */

/* Lists of a home and of an owner, and the letters between them. */
#define LISTS_OF_OTHERS 3

/* Sorting a list takes two pointers to each row, the search for overlaps one. */
#define POINTERS_PER_ROW 3

size_t pp_memory_list_bytes(int ndim, int64_t claims, int64_t shards, int64_t others)
{
    int64_t claim_bytes = (int64_t)(pp_claim_word_count(ndim) * sizeof(int64_t));
    int64_t shard_bytes = (int64_t)(sizeof(pp_work) + POINTERS_PER_ROW * sizeof(void *));
    int64_t all_claims, all_shards, sum;
    if (!pp_multiply_fits(claims, claim_bytes, &all_claims) || !pp_multiply_fits(shards, shard_bytes, &all_shards) ||
        !pp_add_fits(all_claims, all_shards, &sum) || !pp_multiply_fits(sum, 1 + LISTS_OF_OTHERS * others, &sum) ||
        sum > (int64_t)PP_MEMORY_ENDLESS)
        return PP_MEMORY_ENDLESS;
    return (size_t)sum;
}

/* Bytes of one claim in a description, with the identity proof of its rank. */
static size_t described_bytes(int ndim)
{
    return sizeof(pp_identity_proof) + pp_claim_word_count(ndim) * sizeof(int64_t);
}

size_t pp_memory_description_bytes(int ndim, int64_t rank_most, size_t fragment_bytes)
{
    size_t shard = (size_t)(pp_min_i64(rank_most, INT32_MAX) + 1) * described_bytes(ndim);
    size_t ranks = pp_min_size(DESCRIBED_SHARDS * shard, MOST_DESCRIPTION_BYTES);
    return pp_align_up(pp_max_size(pp_min_size(fragment_bytes, DESCRIBED_CLAIMS_BYTES), ranks), PP_PAGE_BYTES);
}

size_t pp_memory_stealing_bytes(int ndim, int64_t rank_most, size_t fragment_bytes)
{
    size_t description = pp_memory_description_bytes(ndim, rank_most, fragment_bytes);
    int64_t claims = (int64_t)(description / described_bytes(ndim));
    return pp_stealing_bytes(description) + pp_memory_list_bytes(ndim, claims, claims, 0) +
           (size_t)claims * 2 * sizeof(int64_t);
}

/* The largest weight over the mean one. */
static double largest_weight(const pp_turns *turns)
{
    int most = 0, i;
    for (i = 0; i < turns->server_count; i++)
        most = turns->turns_of[i] > most ? turns->turns_of[i] : most;
    return (double)most * turns->server_count / turns->count;
}

int64_t pp_memory_others(int ranks, int servers, int64_t shards, const pp_turns *turns)
{
    int64_t sharing = pp_max_i64(pp_min_i64(servers, shards), 1);
    if (ranks <= 1)
        return 0;
    if (turns == NULL)
        return pp_divide_up(ranks, sharing);
    return pp_min_i64(ranks, (int64_t)ceil((double)ranks / (double)sharing * largest_weight(turns)));
}

size_t pp_memory_least_read_bytes(const pp_layout *layout, const pp_memory_case *memory)
{
    read_needs needs = find_read_needs(&layout, 1, memory);
    pp_memory_plan plan = {.batch_bytes = needs.chunk_bytes};
    return read_fixed(&needs) + read_slot(&layout, 1, memory, &needs, &plan);
}

bool pp_memory_thread_pays(const pp_store *store, pp_direction direction, int threads, int ranks)
{
    if (threads > 1)
        return true;
    if (store->is_in_memory)
        return pp_thread_processors() >= 2 * ranks;
    return direction == PP_WRITING || ranks / RANKS_THAT_FILL < pp_thread_machine_processors();
}

size_t pp_memory_least_bytes(const pp_layout *layout, int threads, int ranks, size_t fragment_bytes)
{
    const pp_memory_case memory = {.threads = threads,
                                   .has_threads = true,
                                   .keeps_old = true,
                                   .has_remote = ranks > 1,
                                   .fragment_bytes = fragment_bytes,
                                   .shard_count = 2,
                                   .rank_most = ranks - 1};
    size_t read = pp_memory_least_read_bytes(layout, &memory), write;
    write_slot slot = {0};
    grow_slot(&slot, layout, &memory, 1);
    write = write_fixed(layout, &memory) + slot_bytes(&slot);
    return pp_max_size(write, read) + (ranks > 1 ? pp_memory_client_bytes(fragment_bytes) : 0);
}
