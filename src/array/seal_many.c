/* seal_many.c - sealing many arrays as one, in rounds: see seal_schedule.h.
 *
 * In a round every rank sends what it knows of shards to those that make the pages. What nobody knows is read. */
#include <string.h>

#include "array/array.h"
#include "array/array_handle.h"
#include "array/attributes.h"
#include "array/change.h"
#include "array/rank0.h"
#include "array/seal.h"
#include "array/seal_objects.h"
#include "array/seal_schedule.h"
#include "array/state.h"
#include "array/store_queries.h"
#include "base/checked.h"
#include "comm/exchange.h"
#include "transfer/sync_dirs.h"

/* A page that this rank makes in this round. */
typedef struct own_page {
    pp_seal_page of;
    size_t first;        /* of the round's records */
    int64_t lost_serial; /* notes up to this one do not count */
} own_page;

/* What a rank tells another of a shard, or that it has lost notes of the array. Checksums follow, as many as there
 * are room for; the others come with the same words again. */
typedef struct told_note {
    int32_t array;
    int32_t is_lost;
    int64_t shard, serial;
    uint64_t bytes;
    uint32_t index_crc32c, chunk_count; /* as in the record */
    uint32_t first, count;              /* which of the checksums follow */
} told_note;

/* And what it tells rank 0 of a page. If the page comes with the head, it follows. */
typedef struct told_digest {
    int64_t array, page;
    uint64_t page_bytes;
    unsigned char digest[PP_SHA256_BYTES];
} told_digest;

/* And of a document that it has sealed. */
typedef struct told_document {
    int64_t array;
    unsigned char digest[PP_SHA256_BYTES];
} told_document;

typedef struct sealing {
    pp_seal_schedule line;
    bool is_detached; /* the documents are dealt to the servers */
    parapet_store *store;
    pp_failure failure; /* the first on this rank, until the next agreement */
    bool is_parted;     /* the ranks do not hear each other any more */

    pp_seal_place round_start, round_end;
    own_page *own;
    size_t own_count, own_capacity;
    pp_shard_record *records; /* with checksums of their own */
    size_t record_count;
    int64_t *serials; /* -1: nothing is known */

    pp_seal_place sender; /* how far this rank is with telling */
    pp_seal_page telling;
    size_t next_note;
    bool is_telling, is_loss_due;
    told_note pending;
    const uint32_t *pending_checksums; /* those that were not told yet */
    int pending_owner;
    bool has_pending;
} sealing;

static bool has_failed(const sealing *job)
{
    return job->failure.status != PARAPET_OK;
}

/* ---- What is known of shards ---- */

static parapet_status describe(const pp_transfer_context *context, int64_t number, pp_shard_record *record)
{
    pp_shard shard = {0};
    parapet_status status = pp_shard_open(context, number, &shard);
    if (status == PARAPET_OK)
        status = pp_shard_describe(context, &shard, record);
    pp_shard_close(&shard);
    return status;
}

/* The share of this rank in an array that was not written through its handle: as if it had been now. */
static void describe_share(sealing *job, parapet_array *array, int64_t first)
{
    int64_t shard, shards = array->layout.tiling.shards.cell_count, step = job->store->server_count;
    pp_transfer_context context;
    pp_shard_record record;
    parapet_status status = pp_array_transfer_context(array, &context);
    if (status == PARAPET_OK && first < shards)
        status = pp_shard_notes_reserve(&array->notes, (size_t)((shards - first - 1) / step + 1));
    pp_shard_notes_begin(&array->notes);
    for (shard = first; shard < shards && status == PARAPET_OK; shard += step)
        if ((status = describe(&context, shard, &record)) == PARAPET_OK) {
            pp_shard_notes_add(&array->notes, shard, &record, 0);
            pp_shard_record_clear(&record);
        }
    pp_shard_notes_end(&array->notes);
    pp_failure_take(&job->failure, status);
}

/* What another job has written since is not what was noted. Of an array that is apart nobody else knows. */
static parapet_status drop_replaced(parapet_array *array)
{
    pp_shard_notes *notes = &array->notes;
    parapet_status status = PARAPET_OK;
    size_t i;
    for (i = notes->count; i > 0 && status == PARAPET_OK && !array->is_detached; i--) {
        char *key = NULL;
        uint64_t version = 0;
        if ((status = pp_layout_key(&array->layout, array->path, notes->list[i - 1].shard, &key)) == PARAPET_OK &&
            (status = pp_store_version(array->store->backend, key, &version)) == PARAPET_OK &&
            version != notes->list[i - 1].version)
            pp_shard_notes_drop(notes, i - 1);
        pp_free(key);
    }
    return status;
}

static void drop_all_replaced(sealing *job)
{
    int i;
    for (i = 0; i < job->line.count; i++)
        if (!job->line.arrays[i]->is_sealed)
            pp_failure_take(&job->failure, drop_replaced(job->line.arrays[i]));
}

static void describe_unwritten(sealing *job)
{
    int64_t before = 0; /* so that arrays of one shard are not all of one server */
    int i;
    for (i = 0; i < job->line.count; i++) {
        parapet_array *array = job->line.arrays[i];
        /* Of many pages every server makes some, and reads what is in them. */
        if (array->is_sealed || array->notes.serial > 0 || pp_seal_page_count(array) >= job->store->server_count)
            continue;
        describe_share(job, array, pp_seal_first_own(job->store, before));
        before += array->layout.tiling.shards.cell_count;
    }
}

/* ---- Telling it ---- */

static bool begin_telling_page(sealing *job)
{
    const pp_shard_notes *notes;
    job->is_telling = !has_failed(job) &&
                      pp_seal_schedule_next_until(&job->line, pp_seal_schedule_round(&job->line, &job->round_start),
                                                  &job->sender, &job->telling);
    if (!job->is_telling)
        return false;
    notes = &job->line.arrays[job->telling.array]->notes;
    job->next_note = pp_shard_notes_find(notes, job->telling.first_shard);
    job->is_loss_due = notes->lost_serial > 0;
    return true;
}

/* What is said next of the page that is told of; false: nothing more. */
static bool tell_of_page(sealing *job)
{
    const pp_seal_page *page = &job->telling;
    const pp_shard_notes *notes = &job->line.arrays[page->array]->notes;
    const pp_shard_note *note = notes->list + job->next_note;
    job->pending = (told_note){.array = page->array, .shard = page->first_shard};
    if (job->is_loss_due) {
        job->is_loss_due = false;
        job->pending.is_lost = 1;
        job->pending.serial = notes->lost_serial;
        return true;
    }
    if (job->next_note == notes->count || note->shard >= page->first_shard + page->record_count)
        return false;
    job->pending.shard = note->shard;
    job->pending.serial = note->serial;
    job->pending.bytes = note->record.bytes;
    job->pending.index_crc32c = note->record.index_crc32c;
    job->pending.chunk_count = note->record.chunk_count;
    job->pending_checksums = note->record.checksums;
    job->next_note++;
    return true;
}

static void find_pending(sealing *job)
{
    job->has_pending = false;
    while (!job->has_pending && (job->is_telling || begin_telling_page(job)))
        job->has_pending = job->is_telling = tell_of_page(job);
    if (job->has_pending)
        job->pending_owner = pp_seal_schedule_owner(&job->line, &job->telling);
}

/* Puts what is pending into a parcel, with as many checksums as fit; false: no room for any of it. */
static bool tell_pending(sealing *job, unsigned char *parcel, size_t *bytes)
{
    told_note *told = &job->pending;
    size_t room = PP_PARCEL_BYTES - *bytes, left = told->chunk_count - told->first;
    if (room < sizeof *told + (left > 0 ? sizeof(uint32_t) : 0))
        return false;
    told->count = (uint32_t)pp_min_size(left, (room - sizeof *told) / sizeof(uint32_t));
    memcpy(parcel + *bytes, told, sizeof *told);
    *bytes += sizeof *told;
    if (told->count > 0)
        memcpy(parcel + *bytes, job->pending_checksums + told->first, told->count * sizeof(uint32_t));
    *bytes += told->count * sizeof(uint32_t);
    told->first += told->count;
    return true;
}

static bool next_notes(void *context, int *rank, void *parcel, size_t *bytes)
{
    sealing *job = context;
    *bytes = 0;
    if (!job->has_pending)
        return false;
    *rank = job->pending_owner;
    while (job->has_pending && job->pending_owner == *rank && tell_pending(job, parcel, bytes))
        if (job->pending.first == job->pending.chunk_count)
            find_pending(job);
    return true;
}

static own_page *find_own(sealing *job, const told_note *told)
{
    size_t i;
    for (i = 0; i < job->own_count; i++) {
        const pp_seal_page *of = &job->own[i].of;
        if (of->array == told->array && told->shard >= of->first_shard &&
            told->shard < of->first_shard + of->record_count)
            return &job->own[i];
    }
    return NULL;
}

/* Later news of a shard replaces what was known of it. */
static parapet_status begin_record(const told_note *told, pp_shard_record *record)
{
    pp_shard_record_clear(record);
    record->bytes = told->bytes;
    record->index_crc32c = told->index_crc32c;
    record->chunk_count = told->chunk_count;
    return pp_allocate_array(&record->checksums, told->chunk_count, sizeof record->checksums[0]);
}

static void hear_note(sealing *job, const told_note *told, const unsigned char *checksums)
{
    own_page *page = find_own(job, told);
    pp_shard_record *record;
    size_t place;
    if (page == NULL) /* there was no memory for it */
        return;
    if (told->is_lost) {
        page->lost_serial = pp_max_i64(page->lost_serial, told->serial);
        return;
    }
    place = page->first + (size_t)(told->shard - page->of.first_shard);
    record = &job->records[place];
    if (told->serial > job->serials[place])
        pp_failure_take(&job->failure, begin_record(told, record));
    if (told->serial < job->serials[place] || record->checksums == NULL)
        return;
    job->serials[place] = told->serial;
    memcpy(record->checksums + told->first, checksums, told->count * sizeof(uint32_t));
}

static void receive_notes(void *context, int source, const void *parcel, size_t bytes)
{
    const unsigned char *next = parcel, *end = next + bytes;
    told_note told;
    (void)source;
    while (next < end) {
        memcpy(&told, next, sizeof told);
        next += sizeof told;
        hear_note(context, &told, next);
        next += told.count * sizeof(uint32_t);
    }
}

/* After a failure too: the other ranks wait for this one. */
static void exchange(sealing *job, const pp_exchange *what)
{
    parapet_status status;
    if (job->is_parted)
        return;
    status = pp_comm_exchange(job->store->comm, what);
    job->is_parted = status == PARAPET_ERR_TIMEOUT || status == PARAPET_ERR_MPI;
    pp_failure_take(&job->failure, status);
}

/* ---- A round ---- */

static parapet_status add_own(sealing *job, const pp_seal_page *page, size_t *record_count)
{
    size_t capacity = pp_max_size(32, 2 * job->own_capacity);
    parapet_status status;
    if (job->own_count == job->own_capacity) {
        if ((status = pp_reallocate(&job->own, capacity * sizeof job->own[0])) != PARAPET_OK)
            return status;
        job->own_capacity = capacity;
    }
    job->own[job->own_count++] = (own_page){.of = *page, .first = *record_count, .lost_serial = -1};
    *record_count += page->record_count;
    return PARAPET_OK;
}

static parapet_status list_own(sealing *job)
{
    pp_seal_page page;
    size_t i, record_count = 0;
    parapet_status status = PARAPET_OK;
    job->round_end = job->round_start;
    job->own_count = 0;
    while (pp_seal_schedule_next_until(&job->line, pp_seal_schedule_round(&job->line, &job->round_start),
                                       &job->round_end, &page))
        if (pp_seal_schedule_owner(&job->line, &page) == pp_comm_rank(job->store->comm) && status == PARAPET_OK)
            status = add_own(job, &page, &record_count);
    if (status != PARAPET_OK ||
        (status = pp_allocate_array(&job->records, record_count, sizeof job->records[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&job->serials, record_count, sizeof job->serials[0])) != PARAPET_OK) {
        job->own_count = 0;
        return status;
    }
    job->record_count = record_count;
    for (i = 0; i < record_count; i++)
        job->serials[i] = -1;
    return PARAPET_OK;
}

static parapet_status describe_again(const pp_transfer_context *context, int64_t shard, pp_shard_record *record)
{
    pp_shard_record_clear(record);
    return describe(context, shard, record);
}

static parapet_status complete_page(sealing *job, const own_page *page)
{
    parapet_array *array = job->line.arrays[page->of.array];
    pp_shard_record *records = &job->records[page->first];
    pp_transfer_context context;
    parapet_status status = pp_array_transfer_context(array, &context);
    uint32_t i;
    for (i = 0; i < page->of.record_count && status == PARAPET_OK; i++)
        if (job->serials[page->first + i] <= page->lost_serial)
            status = describe_again(&context, page->of.first_shard + i, &records[i]);
    return status == PARAPET_OK ? pp_seal_write_page(array, page->of.page, records) : status;
}

static void free_records(sealing *job)
{
    size_t i;
    for (i = 0; i < job->record_count; i++)
        pp_shard_record_clear(&job->records[i]);
    pp_free(job->records);
    pp_free(job->serials);
    job->records = NULL;
    job->serials = NULL;
    job->record_count = 0;
}

static void run_round(sealing *job)
{
    size_t i;
    pp_failure_take(&job->failure, list_own(job));
    job->sender = job->round_start;
    job->is_telling = false;
    find_pending(job);
    exchange(job, &(pp_exchange){.context = job, .next = next_notes, .receive = receive_notes});
    for (i = 0; i < job->own_count && !has_failed(job); i++)
        pp_failure_take(&job->failure, complete_page(job, &job->own[i]));
    free_records(job);
    job->round_start = job->round_end;
}

/* ---- Digests of pages, to whoever seals the document ---- */

static int keeper_of(const sealing *job, int array)
{
    return job->is_detached ? pp_store_keeper(job->store, array, job->line.count) : 0;
}

static bool is_kept_here(const sealing *job, int array)
{
    return keeper_of(job, array) == pp_comm_rank(job->store->comm);
}

/* The next page that this rank has made; false: none. */
static bool next_own(const sealing *job, pp_seal_place *place, pp_seal_page *page)
{
    while (pp_seal_schedule_next(&job->line, place, page))
        if (pp_seal_schedule_owner(&job->line, page) == pp_comm_rank(job->store->comm))
            return true;
    return false;
}

/* Returns the bytes that it takes of a parcel. */
static size_t tell_digest(const sealing *job, const pp_seal_page *page, unsigned char *parcel)
{
    const pp_manifest_head *head = &job->line.arrays[page->array]->head;
    told_digest told = {.array = page->array, .page = page->page, .page_bytes = head->page_bytes};
    memcpy(told.digest, head->page_digests + (size_t)page->page * PP_SHA256_BYTES, PP_SHA256_BYTES);
    memcpy(parcel, &told, sizeof told);
    if (head->page_bytes > 0)
        memcpy(parcel + sizeof told, head->page, head->page_bytes);
    return sizeof told + head->page_bytes;
}

static bool next_digests(void *context, int *rank, void *parcel, size_t *bytes)
{
    sealing *job = context;
    pp_seal_place ahead = job->sender;
    pp_seal_page page;
    *bytes = 0;
    for (; !has_failed(job) && *bytes + sizeof(told_digest) + PP_MANIFEST_INLINE_BYTES <= PP_PARCEL_BYTES &&
           next_own(job, &ahead, &page);
         job->sender = ahead) {
        if (is_kept_here(job, page.array))
            continue;
        if (*bytes > 0 && *rank != keeper_of(job, page.array))
            break;
        *rank = keeper_of(job, page.array);
        *bytes += tell_digest(job, &page, (unsigned char *)parcel + *bytes);
    }
    return *bytes > 0;
}

static void hear_digest(sealing *job, const told_digest *told, const unsigned char *page)
{
    pp_manifest_head *head = &job->line.arrays[told->array]->head;
    unsigned char *copy = NULL;
    parapet_status status = PARAPET_OK;
    memcpy(head->page_digests + (size_t)told->page * PP_SHA256_BYTES, told->digest, PP_SHA256_BYTES);
    if (told->page_bytes > 0 && (status = pp_bytes_duplicate(&copy, page, (size_t)told->page_bytes)) == PARAPET_OK)
        (void)pp_manifest_head_take_page(head, copy, (size_t)told->page_bytes);
    pp_failure_take(&job->failure, status);
}

static void receive_digests(void *context, int source, const void *parcel, size_t bytes)
{
    const unsigned char *next = parcel, *end = next + bytes;
    sealing *job = context;
    told_digest told;
    (void)source;
    while (next < end && !has_failed(job)) {
        memcpy(&told, next, sizeof told);
        next += sizeof told;
        hear_digest(job, &told, next);
        next += told.page_bytes;
    }
}

/* ---- The whole ---- */

static parapet_status init_heads(sealing *job)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < job->line.count && status == PARAPET_OK; i++) {
        parapet_array *array = job->line.arrays[i];
        if (array->is_sealed)
            continue;
        pp_manifest_head_clear(&array->head);
        status = pp_manifest_head_init(&array->head, (uint64_t)array->layout.tiling.shards.cell_count,
                                       (uint64_t)array->layout.tiling.chunks.cell_count);
    }
    return status;
}

/* All pages; whoever seals the documents has their digests. */
static void write_pages(sealing *job)
{
    pp_seal_place end = {0};
    pp_seal_page page;
    pp_failure_take(&job->failure, init_heads(job));
    if (!has_failed(job))
        drop_all_replaced(job);
    if (!has_failed(job))
        describe_unwritten(job);
    for (end = job->round_start; pp_seal_schedule_next(&job->line, &end, &page); end = job->round_start)
        run_round(job);
    job->sender = (pp_seal_place){0};
    exchange(job, &(pp_exchange){.context = job, .next = next_digests, .receive = receive_digests});
    pp_free(job->own);
}

static void sync_dirs(sealing *job)
{
    parapet_status status = pp_failure_put(&job->failure);
    pp_failure_take(&job->failure, pp_sync_dirs_collectively(job->store->comm, job->store->backend, status));
}

static parapet_status write_durable_pages(sealing *job)
{
    write_pages(job);
    sync_dirs(job);
    return pp_failure_put(&job->failure);
}

static parapet_status do_to_unsealed(const sealing *job, parapet_status (*step)(parapet_array *array))
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < job->line.count && status == PARAPET_OK; i++)
        if (!job->line.arrays[i]->is_sealed)
            status = step(job->line.arrays[i]);
    return status;
}

static parapet_status remove_stale(void *subject, const void *argument)
{
    (void)argument;
    return do_to_unsealed(subject, pp_seal_remove_stale);
}

static parapet_status mark(void *subject, const void *argument)
{
    (void)argument;
    return do_to_unsealed(subject, pp_seal_mark);
}

static parapet_status print_states(void *subject, pp_text *bytes)
{
    const sealing *job = subject;
    return pp_array_states_print(job->line.arrays, job->line.count, bytes);
}

static parapet_status adopt_states(void *subject, pp_cursor *bytes)
{
    const sealing *job = subject;
    return pp_array_states_adopt(job->line.arrays, job->line.count, bytes);
}

static void mark_arrays_broken(void *subject)
{
    const sealing *job = subject;
    int i;
    for (i = 0; i < job->line.count; i++)
        job->line.arrays[i]->is_broken = true;
}

static parapet_status rank0_do(sealing *job, pp_rank0_work work)
{
    parapet_status status;
    pp_guards_close(job->line.arrays, job->line.count);
    status = pp_rank0_do(job->store->comm, "sealing",
                         &(pp_rank0_task){.subject = job,
                                          .work = work,
                                          .print = print_states,
                                          .adopt = adopt_states,
                                          .mark_broken = mark_arrays_broken});
    pp_guards_open(job->line.arrays, job->line.count);
    return status;
}

/* All ranks know the same of this. */
static bool has_no_stale_seal(const sealing *job)
{
    int i;
    for (i = 0; i < job->line.count; i++) {
        const parapet_array *array = job->line.arrays[i];
        if (!array->is_sealed && (array->has_head || pp_json_has(array->document.attributes, PP_RESERVED_ATTRIBUTE)))
            return false;
    }
    return true;
}

static bool is_all_sealed(const sealing *job)
{
    int i;
    for (i = 0; i < job->line.count; i++)
        if (!job->line.arrays[i]->is_sealed)
            return false;
    return true;
}

/* Heads that only some ranks have begun. */
static void forget_heads(const sealing *job)
{
    int i;
    for (i = 0; i < job->line.count; i++)
        if (!job->line.arrays[i]->is_sealed)
            pp_manifest_head_clear(&job->line.arrays[i]->head);
}

parapet_status pp_arrays_seal(parapet_array *const *arrays, int count)
{
    sealing job = {.line = {.arrays = arrays, .count = count}, .store = arrays[0]->store};
    parapet_status status;
    int i;
    if (is_all_sealed(&job))
        return PARAPET_OK;
    if ((status = pp_seal_schedule_init(&job.line, arrays, count)) != PARAPET_OK ||
        (!has_no_stale_seal(&job) && (status = rank0_do(&job, remove_stale)) != PARAPET_OK))
        return status;
    status = pp_sync_dirs_agree(job.store->comm, job.store->backend, "sealing", write_durable_pages(&job));
    if (status == PARAPET_OK)
        status = rank0_do(&job, mark);
    else
        forget_heads(&job);
    for (i = 0; i < count; i++) /* used once: what happens to shards later is not known here */
        pp_shard_notes_clear(&arrays[i]->notes);
    return status;
}

/* ---- Arrays that nobody else knows of ---- */

static void mark_own(sealing *job)
{
    int i;
    for (i = 0; i < job->line.count && !has_failed(job); i++)
        if (is_kept_here(job, i))
            pp_failure_take(&job->failure, pp_seal_mark_apart(job->line.arrays[i]));
}

static bool next_documents(void *context, int *rank, void *parcel, size_t *bytes)
{
    sealing *job = context;
    int *next = &job->sender.array;
    *rank = 0;
    *bytes = 0;
    if (pp_comm_rank(job->store->comm) == 0 || has_failed(job))
        return false;
    for (; *next < job->line.count && *bytes + sizeof(told_document) <= PP_PARCEL_BYTES; ++*next) {
        told_document told = {.array = *next};
        if (!is_kept_here(job, *next))
            continue;
        memcpy(told.digest, job->line.arrays[*next]->document_digest, sizeof told.digest);
        memcpy((unsigned char *)parcel + *bytes, &told, sizeof told);
        *bytes += sizeof told;
    }
    return *bytes > 0;
}

static void receive_documents(void *context, int source, const void *parcel, size_t bytes)
{
    const unsigned char *next = parcel, *end = next + bytes;
    const sealing *job = context;
    told_document told;
    (void)source;
    for (; next < end; next += sizeof told) {
        memcpy(&told, next, sizeof told);
        memcpy(job->line.arrays[told.array]->document_digest, told.digest, sizeof told.digest);
    }
}

void pp_arrays_seal_apart(parapet_array *const *arrays, int count, pp_failure *failure)
{
    sealing job = {.is_detached = true, .store = arrays[0]->store, .failure = *failure};
    parapet_status status = pp_seal_schedule_init(&job.line, arrays, count);
    if (status == PARAPET_OK) {
        write_pages(&job);
        mark_own(&job);
        sync_dirs(&job);
        job.sender = (pp_seal_place){0};
        exchange(&job, &(pp_exchange){.context = &job, .next = next_documents, .receive = receive_documents});
    }
    *failure = job.failure;
    pp_failure_take(failure, status);
}

parapet_status parapet_array_seal(parapet_array *array)
{
    PP_TURN turn = {0};
    pp_node_lock hold = {0};
    pp_call call;
    parapet_status status;
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_seal needs an array");
    if ((status = pp_turn_take(&turn, array->store->comm, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_call_init(&call, "seal(%s)", array->path);
    if ((status = pp_comm_begin(array->store->comm, &call, pp_array_check_writable(array))) != PARAPET_OK)
        return pp_outcome(status);
    if ((status = pp_array_lock_collectively(array, "sealing", &hold)) == PARAPET_OK)
        status = pp_arrays_seal(&array, 1);
    pp_node_locks_release(&hold, 1);
    return pp_outcome(status);
}
