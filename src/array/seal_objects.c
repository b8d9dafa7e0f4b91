/* seal_objects.c - how a seal is laid out below the array, where no Zarr reader looks:
 *     __parapet/seal            the head, and a small page with it
 *     __parapet/manifest/<k>    pages of pp_manifest_page_records shards
 * and in zarr.json: attributes._parapet.sealed.
 *
 * Every step keeps this true: if there is a head, zarr.json is one of the two documents it names. So whatever
 * else changed zarr.json is found out, and a crash between two steps is not mistaken for it. */
#include "array/seal_objects.h"

#include <inttypes.h>
#include <parapet_store.h>
#include <string.h>

#include "array/array_handle.h"
#include "array/attributes.h"
#include "base/checked.h"
#include "change/registry.h"

static pp_page_place place_of(const pp_manifest_head *head, int64_t page)
{
    uint64_t records = pp_manifest_page_records(head->chunk_count), before = (uint64_t)page * records;
    return (pp_page_place){.first_shard = before,
                           .record_count = (uint32_t)pp_min_u64(records, head->shard_count - before),
                           .chunk_count = head->chunk_count};
}

/* The longest page, but for that of one shard with very many chunks. */
#define ORDINARY_PAGE_BYTES (2 * PP_MANIFEST_PAGE_BYTES)

/* Of all arrays of a store; beyond it, each keeps one page. */
#define KEPT_PAGE_BYTES_MOST ((size_t)8 << 20)

static parapet_status write_object(parapet_array *array, const char *key, const void *data, size_t bytes)
{
    char *staging = NULL;
    parapet_status status = pp_own_key(array->path, PP_OWN_TEMPORARIES, &staging);
    if (status == PARAPET_OK)
        status = pp_store_write_all(
            array->store->backend,
            &(pp_write_request){.key = key, .staging = staging, .budget = &array->store->budget, .is_small = true},
            data, bytes, PP_PUBLISH_REPLACE);
    if (status == PARAPET_OK) {
        array->store->counters.written_bytes += (int64_t)bytes;
        array->store->counters.objects_written += 1;
    }
    pp_free(staging);
    return status;
}

static parapet_status read_object(parapet_array *array, const char *key, size_t limit_bytes, char **data,
                                  size_t *bytes)
{
    parapet_status status = pp_store_read_all(array->store->backend, key, limit_bytes, data, bytes);
    if (status == PARAPET_OK) {
        array->store->counters.read_bytes += (int64_t)*bytes;
        array->store->counters.read_requests += 1;
    }
    return status;
}

static parapet_status load_head(parapet_array *array)
{
    char *key = NULL, *data = NULL;
    size_t bytes;
    parapet_status status = pp_own_key(array->path, PP_OWN_SEAL, &key);
    array->has_head = false;
    if (status == PARAPET_OK)
        status = read_object(array, key, PP_MANIFEST_HEAD_MOST_BYTES, &data, &bytes);
    if (status == PARAPET_OK) {
        array->has_head = true;
        if ((status = pp_manifest_head_decode(&array->head, data, bytes)) != PARAPET_OK)
            status = pp_fail_within(status, "the seal %s", key);
    } else if (status == PARAPET_ERR_NOT_FOUND) {
        status = PARAPET_OK;
    }
    pp_free(data);
    pp_free(key);
    return status;
}

static pp_json *sealed_member(pp_json *attributes)
{
    return pp_json_member(pp_json_member(attributes, PP_RESERVED_ATTRIBUTE), "sealed");
}

static parapet_status check_counts(const parapet_array *array)
{
    const pp_tiling *tiling = &array->layout.tiling;
    if (array->head.shard_count == (uint64_t)tiling->shards.cell_count &&
        array->head.chunk_count == (uint64_t)tiling->chunks.cell_count)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_CORRUPT,
                   "__parapet/seal describes %llu shards of %llu chunks, but the array has %lld of %lld",
                   (unsigned long long)array->head.shard_count, (unsigned long long)array->head.chunk_count,
                   (long long)tiling->shards.cell_count, (long long)tiling->chunks.cell_count);
}

static parapet_status check_head(parapet_array *array, pp_json *sealed)
{
    unsigned char digest[PP_SHA256_BYTES];
    char text[PP_SHA256_HEX_BYTES];
    if (array->has_head && !pp_manifest_head_accepts(&array->head, array->document_digest))
        return pp_fail(PARAPET_ERR_CORRUPT,
                       "zarr.json is not the one that was sealed: it is damaged, or something else changed it "
                       "(the option ignore_seal opens the array without the seal)");
    if (sealed == NULL)
        return PARAPET_OK;
    if (!array->has_head)
        return pp_fail(PARAPET_ERR_MISSING, "zarr.json says that the array is sealed, but __parapet/seal is missing");
    pp_manifest_head_digest(&array->head, digest);
    pp_sha256_print(digest, text);
    if (!pp_json_is_text(pp_json_member(sealed, "manifest_sha256"), text))
        return pp_fail(PARAPET_ERR_CORRUPT, "__parapet/seal is not the one that zarr.json names");
    return check_counts(array);
}

/* Failures that a seal causes by what it says, not storage or memory by what they do. */
static bool is_of_the_seal(parapet_status status)
{
    return status == PARAPET_ERR_CORRUPT || status == PARAPET_ERR_MISSING || status == PARAPET_ERR_FORMAT ||
           status == PARAPET_ERR_UNSUPPORTED;
}

/* Takes the mark off in memory; zarr.json keeps it until the array is changed. */
static void ignore_mark(parapet_array *array)
{
    pp_json *own = pp_json_member(array->document.attributes, PP_RESERVED_ATTRIBUTE);
    array->is_mark_ignored = pp_json_has(own, "sealed");
    pp_json_remove(own, "sealed");
    if (array->is_mark_ignored && !pp_json_has(own, "trim"))
        pp_json_remove(array->document.attributes, PP_RESERVED_ATTRIBUTE);
}

parapet_status pp_seal_open(parapet_array *array)
{
    pp_json *sealed = sealed_member(array->document.attributes);
    parapet_status status = load_head(array);
    if (status == PARAPET_OK)
        status = check_head(array, sealed);
    if (array->store->options->ignore_seal && (status == PARAPET_OK || is_of_the_seal(status))) {
        ignore_mark(array);
        return PARAPET_OK;
    }
    array->is_sealed = status == PARAPET_OK && sealed != NULL;
    return status;
}

static parapet_status decode_page(const parapet_array *array, int64_t number, const void *data, size_t bytes,
                                  pp_manifest_page *page)
{
    pp_page_place place = place_of(&array->head, number);
    unsigned char digest[PP_SHA256_BYTES];
    pp_sha256_of(data, bytes, digest);
    if (memcmp(digest, array->head.page_digests + (size_t)number * PP_SHA256_BYTES, sizeof digest) != 0)
        return pp_fail(PARAPET_ERR_CORRUPT, "is not the one that was sealed");
    return pp_manifest_page_decode(page, &place, data, bytes);
}

/* The length of a page as it is stored, so that a long one finds room before it is read. */
static parapet_status measure_page(const parapet_array *array, const char *key, uint64_t *bytes)
{
    pp_reader *reader = NULL;
    parapet_status status = pp_store_open_object(array->store->backend, key, &reader);
    if (status == PARAPET_OK)
        *bytes = reader->bytes;
    pp_reader_free(reader);
    return status;
}

/* Pages of the ordinary length are among what every handle has. One that is longer, since one shard has very many
 * chunks, is taken from the budget: as it is stored, and decoded. */
static parapet_status reserve_page(parapet_array *array, const char *key, uint64_t most, pp_cached_page *kept)
{
    uint64_t bytes = 0;
    parapet_status status;
    if (most <= ORDINARY_PAGE_BYTES)
        return PARAPET_OK;
    if ((status = measure_page(array, key, &bytes)) != PARAPET_OK || bytes <= ORDINARY_PAGE_BYTES)
        return status;
    if (bytes > most)
        return pp_fail(PARAPET_ERR_CORRUPT, "%s has %" PRIu64 " bytes, more than its shards need", key, bytes);
    if ((status = pp_budget_reserve(&array->store->budget, 2 * (size_t)bytes, "a page of the manifest")) ==
        PARAPET_OK)
        kept->reserved_bytes = 2 * (size_t)bytes;
    return status;
}

static parapet_status load_page(parapet_array *array, int64_t number, pp_cached_page *kept)
{
    pp_page_place place = place_of(&array->head, number);
    uint64_t most = pp_manifest_page_most_bytes(place.record_count, place.chunk_count) + 1;
    char *key = NULL, *data = NULL;
    size_t bytes, limit;
    parapet_status status = pp_own_key_numbered(array->path, PP_OWN_PAGES, number, &key);
    if (status != PARAPET_OK)
        return status;
    status = reserve_page(array, key, most, kept);
    limit = pp_max_size(kept->reserved_bytes / 2, (size_t)pp_min_u64(most, ORDINARY_PAGE_BYTES));
    if (status == PARAPET_OK)
        status = read_object(array, key, limit, &data, &bytes);
    if (status == PARAPET_ERR_NOT_FOUND)
        status = pp_fail(PARAPET_ERR_MISSING, "%s is missing, although the array is sealed", key);
    else if (status == PARAPET_OK && (status = decode_page(array, number, data, bytes, &kept->page)) != PARAPET_OK)
        status = pp_fail_within(status, "%s", key);
    pp_free(data);
    pp_free(key);
    return status;
}

static parapet_status take_page_of_head(const parapet_array *array, pp_manifest_page *page)
{
    parapet_status status = decode_page(array, 0, array->head.page, array->head.page_bytes, page);
    return status == PARAPET_OK ? status : pp_fail_within(status, "the page of the manifest in __parapet/seal");
}

static void forget_page(parapet_array *array, pp_cached_page *kept)
{
    pp_manifest_page_clear(&kept->page);
    pp_budget_release(&array->store->budget, kept->reserved_bytes);
    array->store->cached_page_bytes -= kept->bytes;
    *kept = (pp_cached_page){.is_kept = false};
}

/* The mutex is held. */
static void forget_pages(parapet_array *array)
{
    int i;
    for (i = 0; i < PP_SESSION_CACHE_PAGES; i++)
        forget_page(array, &array->pages[i]);
}

void pp_seal_forget_pages(parapet_array *array)
{
    if (array->guard == NULL) /* a handle that was not made to its end has none */
        return;
    (void)pthread_mutex_lock(&array->guard->page_mutex);
    forget_pages(array);
    (void)pthread_mutex_unlock(&array->guard->page_mutex);
}

static size_t bytes_of_page(const pp_manifest_page *page)
{
    size_t bytes = page->record_count * sizeof page->records[0];
    uint32_t i;
    for (i = 0; i < page->record_count; i++)
        bytes += page->records[i].chunk_count * sizeof page->checksums[0];
    return bytes;
}

/* Every array keeps the page that it was asked for last. */
static parapet_status keep_page(parapet_array *array, int64_t number, pp_cached_page *kept)
{
    pp_cached_page fresh = {.is_kept = true, .number = number};
    parapet_status status =
        array->head.page != NULL ? take_page_of_head(array, &fresh.page) : load_page(array, number, &fresh);
    if (status == PARAPET_OK)
        fresh.bytes = bytes_of_page(&fresh.page);
    array->store->cached_page_bytes += fresh.bytes;
    forget_page(array, kept);
    if (array->store->cached_page_bytes > KEPT_PAGE_BYTES_MOST)
        forget_pages(array);
    *kept = fresh;
    if (status != PARAPET_OK)
        forget_page(array, kept);
    return status;
}

parapet_status pp_seal_lookup_visit(void *context, int64_t shard, pp_seal_visitor visit, void *subject)
{
    parapet_array *array = context;
    uint32_t records = pp_manifest_page_records(array->head.chunk_count);
    int64_t number = shard / records;
    pp_cached_page *kept = &array->pages[number % PP_SESSION_CACHE_PAGES];
    parapet_status status = PARAPET_OK;
    (void)pthread_mutex_lock(&array->guard->page_mutex);
    if (!kept->is_kept || kept->number != number)
        status = keep_page(array, number, kept);
    if (status == PARAPET_OK)
        status = visit(subject, &kept->page.records[shard % records]);
    (void)pthread_mutex_unlock(&array->guard->page_mutex);
    return status;
}

static parapet_status copy_record(void *subject, const pp_shard_record *record)
{
    pp_shard_record *wanted = subject;
    *wanted = *record;
    wanted->checksums = NULL;
    return PARAPET_OK;
}

parapet_status pp_seal_lookup_record(parapet_array *array, int64_t shard, pp_shard_record *record)
{
    return pp_seal_lookup_visit(array, shard, copy_record, record);
}

static parapet_status publish_head(parapet_array *array)
{
    size_t bytes = pp_manifest_head_bytes(&array->head);
    unsigned char *data = NULL;
    char *key = NULL;
    parapet_status status;
    if ((status = pp_allocate(&data, bytes)) != PARAPET_OK ||
        (status = pp_own_key(array->path, PP_OWN_SEAL, &key)) != PARAPET_OK)
        goto done;
    pp_manifest_head_encode(&array->head, data);
    array->has_head = true; /* also after a failure: it may be there */
    status = write_object(array, key, data, bytes);
done:
    pp_free(key);
    pp_free(data);
    return status;
}

parapet_status pp_seal_publish_head(parapet_array *array, const unsigned char document[PP_SHA256_BYTES])
{
    memcpy(array->head.document[0], document, PP_SHA256_BYTES);
    memcpy(array->head.document[1], document, PP_SHA256_BYTES);
    return publish_head(array);
}

parapet_status pp_seal_write_head(parapet_array *array, const unsigned char before[PP_SHA256_BYTES],
                                  const unsigned char after[PP_SHA256_BYTES])
{
    parapet_status status;
    memcpy(array->head.document[0], before, PP_SHA256_BYTES);
    memcpy(array->head.document[1], after, PP_SHA256_BYTES);
    status = publish_head(array);
    return status == PARAPET_OK ? pp_store_sync_dirs(array->store->backend) : status;
}

parapet_status pp_seal_remove_head(parapet_array *array)
{
    char *key = NULL;
    parapet_status status = pp_own_key(array->path, PP_OWN_SEAL, &key);
    if (status != PARAPET_OK)
        return status;
    status = pp_store_remove(array->store->backend, key);
    pp_free(key);
    if (status == PARAPET_ERR_NOT_FOUND)
        status = PARAPET_OK;
    if (status == PARAPET_OK && (status = pp_store_sync_dirs(array->store->backend)) == PARAPET_OK)
        array->has_head = false;
    return status;
}

parapet_status pp_seal_write_page(parapet_array *array, int64_t page, const pp_shard_record *records)
{
    pp_page_place place = place_of(&array->head, page);
    unsigned char *bytes = NULL;
    size_t byte_count;
    char *key = NULL;
    parapet_status status;
    if ((status = pp_manifest_page_encode(records, place.record_count, place.first_shard, &bytes, &byte_count)) !=
            PARAPET_OK ||
        (status = pp_own_key_numbered(array->path, PP_OWN_PAGES, page, &key)) != PARAPET_OK)
        goto done;
    pp_sha256_of(bytes, byte_count, array->head.page_digests + (size_t)page * PP_SHA256_BYTES);
    if (pp_manifest_head_take_page(&array->head, bytes, byte_count))
        bytes = NULL;
    else
        status = write_object(array, key, bytes, byte_count);
done:
    pp_free(key);
    pp_free(bytes);
    return status;
}

parapet_status pp_seal_remove_objects(parapet_array *array)
{
    char *prefix = NULL;
    parapet_status status;
    if ((status = pp_seal_remove_head(array)) != PARAPET_OK ||
        (status = pp_own_key(array->path, PP_OWN_PAGES, &prefix)) != PARAPET_OK)
        return status;
    status = pp_store_remove_prefix(array->store->backend, prefix);
    pp_free(prefix);
    return status;
}
