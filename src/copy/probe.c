/* probe.c - what storage, codecs and memory do here, measured in a fraction of a second: the rates that the plan
 * of a copy is weighed with. Rank 0 measures, so that all ranks plan the same. */
#include "copy/probe.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "array/array.h"
#include "array/node.h"
#include "array/store_queries.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/status.h"
#include "copy/task.h"

#define WRITE_BYTES ((size_t)16 << 20)
#define WRITE_ROUNDS 3
#define READ_BYTES ((int64_t)48 << 20)
#define READS_MOST 64
/* Pieces of a chunk: what a request costs beside its bytes. */
#define PIECE_BYTES ((size_t)8 << 10)
/* Runs: as long as many are, since what goes through the page cache takes longer by the byte, too. */
#define RUN_BYTES ((size_t)16 << 10)
#define RUNS_OF_CHUNK 64
#define LEAST_RUNS 16
#define LEAST_REQUEST_SECONDS 1e-6
/* Of a second, for each of the three measurements. */
#define PATIENCE 0.15

/* What all ranks together get out of a disk, of what one rank alone does: writing while reading makes neither faster.
 */
#define SHARED_GAIN 1.0

typedef struct probe {
    pp_copy_task *task;
    bool may_run;     /* parts of source chunks can be read */
    pp_budget budget; /* its own: what is measured with is gone before the copy begins */
    pp_transfer_context source, target;
    pp_chain_scratch *decoder, *encoder;
    pp_buffer buffer;
    int64_t elements_bytes, stored_bytes; /* of source chunks */
    int64_t reads, pieces, runs;
    double read_seconds, decode_seconds;
    double piece_seconds, run_seconds; /* of pieces one by one, and of pieces that storage was told of before */
    int64_t encoded_from, encoded_to;
    double encode_seconds;
} probe;

/* ---- Writing ---- */

static parapet_status append_pieces(probe *self, pp_writer *writer, double *seconds)
{
    double start = pp_clock_seconds();
    size_t done;
    parapet_status status = PARAPET_OK;
    for (done = 0; done < WRITE_BYTES && status == PARAPET_OK; done += self->buffer.capacity)
        status = pp_writer_append(writer, self->buffer.data, self->buffer.capacity);
    if (status == PARAPET_OK)
        status = pp_writer_sync(writer);
    *seconds = pp_clock_seconds() - start;
    return status;
}

/* The best of a few attempts: what disturbs a disk only makes it slower. */
static parapet_status time_appends(probe *self, pp_writer *writer, pp_rechunk_machine *machine)
{
    double start = pp_clock_seconds(), seconds;
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < WRITE_ROUNDS && status == PARAPET_OK && pp_clock_seconds() - start < PATIENCE; i++) {
        uint64_t before = writer->bytes;
        double rate;
        if ((status = append_pieces(self, writer, &seconds)) != PARAPET_OK)
            return status;
        rate = (double)(writer->bytes - before) / seconds;
        machine->write_rate = rate > machine->write_rate ? rate : machine->write_rate;
    }
    return status;
}

/* A copy that has begun measures where a later run tidies up. Of one that is only planned nothing may remain where
 * the target would be; others may measure at the same time. */
static parapet_status choose_folder(const pp_copy_task *task, char **folder)
{
    pp_text text = {0};
    if (task->is_new)
        return pp_own_key(pp_array_path(task->target), PP_OWN_COPY_PROBE, folder);
    pp_text_add(&text, PP_PROBE_PREFIX "%.0f", pp_clock_seconds() * 1e9);
    return pp_text_finish(&text, folder);
}

/* One object as a shard is written, and then a record as a journal is. */
static parapet_status measure_writing(probe *self, pp_rechunk_machine *machine)
{
    pp_store *store = pp_store_backend(self->task->target_store);
    char *folder = NULL;
    pp_write_request request = {.key = "parapet-probe",
                                .name = "probe",
                                .budget = &self->budget,
                                .bound_bytes = WRITE_ROUNDS * WRITE_BYTES + PP_PAGE_BYTES};
    pp_writer *writer = NULL;
    pp_failure failure = {0};
    double start;
    parapet_status status;
    if ((status = choose_folder(self->task, &folder)) != PARAPET_OK)
        return status;
    request.staging = folder;
    status = pp_store_begin(store, &request, &writer);
    if (status != PARAPET_OK || (status = time_appends(self, writer, machine)) != PARAPET_OK)
        goto done;
    start = pp_clock_seconds();
    if ((status = pp_writer_append(writer, self->buffer.data, PP_PAGE_BYTES)) == PARAPET_OK)
        status = pp_writer_sync(writer);
    machine->flush_seconds = pp_clock_seconds() - start;
done:
    pp_writer_free(writer);
    pp_failure_take(&failure, status);
    status = pp_store_remove_prefix(store, folder);
    pp_free(folder);
    return failure.status != PARAPET_OK ? pp_failure_put(&failure) : status;
}

/* ---- Reading, decoding, encoding ---- */

static parapet_status encode_some(probe *self, pp_bytes elements)
{
    unsigned char *chunk = pp_chain_scratch_chunk(self->encoder);
    size_t bytes = pp_chain_decoded_bytes(self->target.layout->chain), done;
    double start;
    pp_bytes encoded;
    parapet_status status;
    if (self->encode_seconds > PATIENCE)
        return PARAPET_OK;
    for (done = 0; done < bytes; done += elements.bytes)
        memcpy(chunk + done, elements.data, pp_min_size(elements.bytes, bytes - done));
    start = pp_clock_seconds();
    status = pp_chain_encode(self->target.layout->chain, self->encoder, &encoded);
    self->encode_seconds += pp_clock_seconds() - start;
    self->encoded_from += (int64_t)bytes;
    self->encoded_to += (int64_t)encoded.bytes;
    return status;
}

/* Whole pages, as the copy reads them. */
static parapet_status read_pages(probe *self, const pp_shard *shard, const pp_chunk_entry *entry, pp_bytes *encoded)
{
    uint64_t offset = entry->offset - entry->offset % PP_PAGE_BYTES, end = entry->offset + entry->bytes;
    parapet_status status;
    end = pp_min_u64(end + (PP_PAGE_BYTES - end % PP_PAGE_BYTES) % PP_PAGE_BYTES, shard->reader->bytes);
    if ((status = pp_buffer_ensure(&self->buffer, (size_t)(end - offset), "chunks to measure with")) != PARAPET_OK)
        return status;
    *encoded = (pp_bytes){self->buffer.data + (entry->offset - offset), (size_t)entry->bytes};
    return pp_reader_read(shard->reader, offset, (size_t)(end - offset), self->buffer.data);
}

/* The first does not count: memory and metadata are not there yet. */
static parapet_status read_chunk(probe *self, const pp_shard *shard, int64_t chunk)
{
    double start = pp_clock_seconds(), middle, end;
    pp_bytes decoded, encoded;
    parapet_status status;
    if ((status = pp_shard_check_chunk_bytes(&self->source, shard, chunk)) != PARAPET_OK ||
        (status = read_pages(self, shard, &shard->entries[chunk], &encoded)) != PARAPET_OK)
        return status;
    middle = pp_clock_seconds();
    if ((status = pp_chain_decode(self->source.layout->chain, self->decoder, encoded, &decoded)) != PARAPET_OK)
        return status;
    end = pp_clock_seconds();
    if (self->reads++ > 0) {
        self->decode_seconds += end - middle;
        self->read_seconds += middle - start;
        self->stored_bytes += (int64_t)encoded.bytes;
        self->elements_bytes += (int64_t)decoded.bytes;
    }
    return encode_some(self, decoded);
}

/* A few bytes of a chunk that nobody has read. */
static parapet_status read_piece(probe *self, const pp_shard *shard, int64_t chunk)
{
    const pp_chunk_entry *entry = &shard->entries[chunk];
    double start = pp_clock_seconds();
    parapet_status status = pp_reader_read(shard->reader, entry->offset,
                                           pp_min_size((size_t)entry->bytes, PIECE_BYTES), self->buffer.data);
    self->piece_seconds += pp_clock_seconds() - start;
    self->pieces += 1;
    return status;
}

/* Runs from all over a chunk, as a copy reads them: storage always knows of the next ones. What the first and the
 * last take does not count. */
static parapet_status read_runs(probe *self, const pp_shard *shard, int64_t chunk)
{
    const pp_chunk_entry *entry = &shard->entries[chunk];
    int count = (int)pp_min_u64(entry->bytes / (2 * RUN_BYTES), RUNS_OF_CHUNK), ahead = count / 2, i;
    uint64_t step;
    double start = pp_clock_seconds();
    parapet_status status = PARAPET_OK;
    if (count < LEAST_RUNS)
        return PARAPET_OK;
    step = entry->bytes / (uint64_t)count;
    for (i = 0; i < ahead; i++)
        pp_reader_expect(shard->reader, entry->offset + (uint64_t)i * step, RUN_BYTES);
    for (i = 0; i < ahead && status == PARAPET_OK; i++) {
        if (i == ahead / 2)
            start = pp_clock_seconds();
        status = pp_reader_read(shard->reader, entry->offset + (uint64_t)i * step, RUN_BYTES, self->buffer.data);
        pp_reader_expect(shard->reader, entry->offset + (uint64_t)(i + ahead) * step, RUN_BYTES);
    }
    self->run_seconds += pp_clock_seconds() - start;
    self->runs += ahead - ahead / 2;
    return status;
}

/* Chunks from all over the array: what is cached of it, and how well it compresses, may differ from place to place.
 * Each serves one measurement. */
static parapet_status read_somewhere(probe *self, int64_t turn)
{
    const pp_layout *layout = self->source.layout;
    int64_t chunk = turn * 7919 % layout->tiling.chunks.cell_count;
    pp_shard shard = {0};
    parapet_status status = pp_shard_open(&self->source, turn * 104729 % layout->tiling.shards.cell_count, &shard);
    if (status == PARAPET_OK && pp_shard_has_chunk(&shard, chunk)) {
        if (turn % 4 == 1)
            status = read_piece(self, &shard, chunk);
        else if (turn % 4 == 3 && self->may_run)
            status = read_runs(self, &shard, chunk);
        else
            status = read_chunk(self, &shard, chunk);
    }
    pp_shard_close(&shard);
    /* Damage is for the copy to find and to name, if it needs this chunk at all. */
    return status == PARAPET_ERR_CORRUPT || status == PARAPET_ERR_MISSING ? PARAPET_OK : status;
}

static parapet_status measure_source(probe *self)
{
    double start = pp_clock_seconds();
    parapet_status status = PARAPET_OK;
    int64_t turn;
    if (self->source.layout->tiling.shards.cell_count == 0)
        return PARAPET_OK;
    for (turn = 0; turn < READS_MOST && self->elements_bytes < READ_BYTES && status == PARAPET_OK &&
                   pp_clock_seconds() - start < 2 * PATIENCE;
         turn++)
        status = read_somewhere(self, turn);
    return status;
}

/* ---- All of it ---- */

static parapet_status prepare(probe *self)
{
    pp_copy_task *task = self->task;
    parapet_status status;
    if ((status = pp_array_transfer_context(task->source, &self->source)) != PARAPET_OK ||
        (status = pp_array_transfer_context(task->target, &self->target)) != PARAPET_OK)
        return status;
    self->source.budget = self->target.budget = &self->budget;
    if ((status = pp_chain_decoder_build(&self->decoder, self->source.layout->chain, &self->budget)) != PARAPET_OK ||
        (status = pp_chain_scratch_build(&self->encoder, self->target.layout->chain, &self->budget)) != PARAPET_OK)
        return status;
    return pp_buffer_init(&self->buffer, &self->budget, PP_LEAST_WRITE_BUFFER_BYTES, "chunks to measure with");
}

/* What so many bytes took beside what they take by themselves. */
static double beside_bytes(const pp_rechunk_machine *machine, double seconds, size_t bytes)
{
    double beside = seconds - (double)bytes / machine->read_rate;
    return beside > LEAST_REQUEST_SECONDS ? beside : LEAST_REQUEST_SECONDS;
}

/* A request takes some time, and its bytes take some more: two sizes tell both. */
static void conclude_reading(const probe *self, pp_rechunk_machine *machine)
{
    double small, large, bytes;
    if (self->read_seconds <= 0)
        return;
    machine->read_rate = (double)self->stored_bytes / self->read_seconds;
    bytes = (double)self->stored_bytes / (double)(self->reads - 1);
    if (self->pieces == 0 || bytes < 4 * (double)PIECE_BYTES)
        return;
    small = self->piece_seconds / (double)self->pieces;
    large = self->read_seconds / (double)(self->reads - 1);
    if (large <= small)
        return;
    machine->read_rate = (bytes - (double)PIECE_BYTES) / (large - small);
    machine->request_seconds = beside_bytes(machine, small, PIECE_BYTES);
    if (self->runs > 0)
        machine->run_seconds = beside_bytes(machine, self->run_seconds / (double)self->runs, RUN_BYTES);
    pp_request_cost_note(self->source.cost, self->runs > 0 ? machine->run_seconds : machine->request_seconds,
                         machine->request_seconds, machine->read_rate);
}

static void conclude(const probe *self, pp_rechunk_problem *problem)
{
    pp_rechunk_machine *machine = &problem->machine;
    conclude_reading(self, machine);
    machine->read_limit = SHARED_GAIN * machine->read_rate;
    machine->write_limit = SHARED_GAIN * machine->write_rate;
    machine->cores = get_nprocs();
    if (self->elements_bytes > 0) {
        problem->source.codec_rate = (double)self->elements_bytes / (self->decode_seconds + 1e-9);
        problem->source.stored_ratio = (double)self->stored_bytes / (double)self->elements_bytes;
    }
    if (self->encoded_from > 0) {
        problem->target.codec_rate = (double)self->encoded_from / (self->encode_seconds + 1e-9);
        problem->target.stored_ratio = (double)self->encoded_to / (double)self->encoded_from;
    }
}

/* A machine that cannot be measured within the memory there is, is an ordinary one. */
static parapet_status measure(pp_copy_task *task, pp_rechunk_problem *problem)
{
    probe self = {.task = task, .may_run = problem->source.allows_runs};
    parapet_status status;
    pp_budget_init(&self.budget, task->budget.limit_bytes);
    if ((status = prepare(&self)) == PARAPET_OK &&
        (status = measure_writing(&self, &problem->machine)) == PARAPET_OK &&
        (status = measure_source(&self)) == PARAPET_OK)
        conclude(&self, problem);
    pp_chain_scratch_free(self.decoder);
    pp_chain_scratch_free(self.encoder);
    pp_buffer_free(&self.buffer);
    return status == PARAPET_ERR_MEMORY ? PARAPET_OK : status;
}

/* What rank 0 has found out. */
typedef struct findings {
    pp_rechunk_machine machine;
    double source_rate, source_ratio, target_rate, target_ratio;
} findings;

parapet_status pp_copy_probe(pp_copy_task *task, pp_rechunk_problem *problem)
{
    pp_comm *comm = pp_store_comm(task->target_store);
    findings own, *found = &own;
    size_t bytes = sizeof own;
    parapet_status status = PARAPET_OK;
    if (pp_comm_rank(comm) == 0)
        status = measure(task, problem);
    own = (findings){problem->machine, problem->source.codec_rate, problem->source.stored_ratio,
                     problem->target.codec_rate, problem->target.stored_ratio};
    if ((status = pp_comm_share(comm, "measuring", status, (void **)&found, &bytes)) != PARAPET_OK)
        return status;
    problem->machine = found->machine;
    problem->source.codec_rate = found->source_rate;
    problem->source.stored_ratio = found->source_ratio;
    problem->target.codec_rate = found->target_rate;
    problem->target.stored_ratio = found->target_ratio;
    if (found != &own)
        pp_free(found);
    return PARAPET_OK;
}
