/* journal.h - what a copy has done so far, kept where it survives a crash: which work units are finished, and how far
 * the unfinished ones have come.
 *
 *     <state>/done-<rank>    one record per finished work unit; every rank appends to its own, everybody reads all
 *     <state>/lot-<number>   one record per finished template of the work unit of that number, while it is under way;
 *                            gone when it is finished
 *
 * A record carries its length and a CRC-32C. Anything after the last whole record was being written when the crash
 * happened, and is dropped. A record is written after the data that it describes is durable. */
#ifndef PARAPET_COPY_JOURNAL_H
#define PARAPET_COPY_JOURNAL_H

#include "base/ranges.h"
#include "codec/shard_index.h"
#include "store/store.h"

/* Finished work units of all ranks. */
typedef struct pp_done_units {
    pp_ranges numbers;
    int64_t count; /* of work units, finished or not */
} pp_done_units;

parapet_status pp_done_units_load(pp_done_units *work_units, pp_store *store, const char *state,
                                  int64_t work_unit_count);

/* Adds what the log of one rank says, of a log that is open. */
parapet_status pp_done_units_take(pp_done_units *work_units, pp_reader *reader);
bool pp_done_units_has(const pp_done_units *work_units, int64_t work_unit);
void pp_done_units_clear(pp_done_units *work_units);

/* Opens the log of this rank's finished work units. */
parapet_status pp_done_log_open(pp_log **log, pp_store *store, const char *state, int rank);
parapet_status pp_done_log_add(pp_log *log, int64_t work_unit);

/* One chunk that a template brought to a shard. */
typedef struct pp_journal_chunk {
    int64_t chunk;
    pp_chunk_entry entry;
    uint32_t crc32c; /* of the encoded bytes */
} pp_journal_chunk;

/* What a record says about one shard. */
typedef struct pp_journal_shard {
    int64_t shard;
    uint64_t bytes; /* of the unfinished object that are durable */
    int64_t chunk_count;
} pp_journal_shard;

/* A record under construction: a shard, its chunks, the next shard, ... */
typedef struct pp_journal_record {
    unsigned char *data;
    size_t bytes, capacity;
} pp_journal_record;

/* Takes the memory for all of it: for this many shards, and at most this many chunks. */
parapet_status pp_journal_record_begin(pp_journal_record *record, int64_t template_number, int64_t shard_count,
                                       int64_t chunk_count);
void pp_journal_record_add_shard(pp_journal_record *record, const pp_journal_shard *shard);
void pp_journal_record_add_chunk(pp_journal_record *record, const pp_journal_chunk *chunk);
/* Appends it to the log and empties it for the next. */
parapet_status pp_journal_record_write(pp_journal_record *record, pp_log *log);
void pp_journal_record_free(pp_journal_record *record);

/* The largest size of a record about this many shards and chunks, for most_bytes below. */
uint64_t pp_journal_record_most(int64_t shard_count, int64_t chunk_count);

/* What a reader of a work unit's journal gets, in the order of the records. A record that claims more than
 * most_bytes is not valid, and a journal with more than most_templates is refused; no memory is allocated for what
 * they claim. */
typedef struct pp_journal_reader {
    void *context;
    uint64_t most_bytes;
    int64_t most_templates;
    parapet_status (*shard)(void *context, int64_t template_number, const pp_journal_shard *shard);
    parapet_status (*chunk)(void *context, const pp_journal_shard *shard, const pp_journal_chunk *chunk);
} pp_journal_reader;

/* Reads the journal of a work unit. Templates are numbered from 0 without a gap: *template_count is how many are
 * finished, *bytes how long the whole records are. No journal: both are 0. */
parapet_status pp_journal_read(pp_store *store, const char *state, int64_t work_unit, const pp_journal_reader *reader,
                               int64_t *template_count, uint64_t *bytes);

/* The same for a journal that is open. */
parapet_status pp_journal_tell(pp_reader *object, const pp_journal_reader *reader, int64_t *template_count,
                               uint64_t *bytes);

/* Opens the journal of a work unit, to append after its whole records. */
parapet_status pp_journal_open(pp_log **log, pp_store *store, const char *state, int64_t work_unit, uint64_t bytes);
parapet_status pp_journal_remove(pp_store *store, const char *state, int64_t work_unit);

#endif
