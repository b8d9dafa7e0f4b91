/* foreign_store.c - the operations of a foreign file as a store. */
#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/status.h"
#include "foreign/foreign.h"
#include "foreign/format.h"
#include "foreign/runs.h"
#include "foreign/table.h"
#include "store/listing.h"

#define DOCUMENT_NAME "zarr.json"

typedef struct foreign_store {
    pp_store store;
    pp_store *files;
    bool owns_files;
    char *key; /* of the file */
    pp_reader *file;
    pp_places places;
    bool needs_table;
    char *name;  /* of the one array or group that is wanted; NULL: all */
    char *table; /* the path of a table */
    char *path;  /* of the file */
} foreign_store;

typedef struct foreign_reader {
    pp_reader reader;
    const char *document; /* or what else is in memory; NULL: a place in the file */
    pp_place place;
    unsigned char *decoded; /* what document points to, if it is of this reader only */
} foreign_reader;

static const pp_key_encoding key_encoding = {.separator = '/'};

/* ---- Reading ---- */

/* A file that was replaced or changed by another program is no longer what its header said. */
static parapet_status check_unchanged(const foreign_store *self, parapet_status status)
{
    uint64_t version = 0;
    (void)pp_store_version(self->files, self->key, &version);
    if (version == self->file->version)
        return status;
    return pp_fail(PARAPET_ERR_STALE, "%s was changed or replaced after it was opened: open it again", self->key);
}

static parapet_status foreign_read(pp_reader *reader, uint64_t offset, size_t bytes, void *target)
{
    const foreign_reader *from = (foreign_reader *)reader;
    const foreign_store *self = (foreign_store *)reader->store;
    if (from->document == NULL)
        return check_unchanged(self, pp_place_read(self->file, &from->place, offset, bytes, target));
    memcpy(target, from->document + offset, bytes);
    return PARAPET_OK;
}

static void foreign_expect(pp_reader *reader, uint64_t offset, size_t bytes)
{
    const foreign_reader *from = (foreign_reader *)reader;
    const foreign_store *self = (foreign_store *)reader->store;
    uint64_t there = from->place.run_bytes * from->place.run_count;
    if (from->document == NULL && from->place.distance == from->place.run_bytes && offset < there)
        pp_reader_expect(self->file, from->place.start + offset, (size_t)pp_min_u64(bytes, there - offset));
}

static void foreign_close_reader(pp_reader *reader)
{
    pp_free(((foreign_reader *)reader)->decoded);
    pp_free(reader);
}

/* ---- Keys ---- */

/* The node that a key is below, and the rest of the key; NULL: none. A file that is one array has nothing else. */
static const pp_foreign_array *split_key(const foreign_store *self, const char *key, const char **rest)
{
    const pp_foreign_array *node = NULL, *found;
    size_t bytes = 0;
    *rest = key;
    if (self->places.group == NULL)
        return self->places.arrays; /* the only one; none as long as there is no table */
    for (;;) {
        bytes += strcspn(key + bytes, "/");
        if ((found = pp_places_find(&self->places, key, bytes)) == NULL)
            return node;
        node = found;
        *rest = key[bytes] == '/' ? key + bytes + 1 : key + bytes;
        if (node->kind != PP_FOREIGN_GROUP || key[bytes++] == '\0')
            return node;
    }
}

/* In the list of chunks; NULL: it is not stored. */
static const pp_chunk_place *find_listed(const pp_foreign_array *array, const int64_t *position)
{
    uint64_t index = 0;
    size_t found;
    int d;
    for (d = 0; d < array->ndim; d++)
        index = index * (uint64_t)pp_foreign_array_slabs(array, d) + (uint64_t)position[d];
    found = pp_foreign_chunks_search(&array->chunks, index);
    return found < array->chunks.count && array->chunks.list[found].index == index ? &array->chunks.list[found]
                                                                                   : NULL;
}

static uint64_t listed_bytes(const pp_foreign_array *array, const pp_chunk_place *listed)
{
    return array->chunks.is_decoded ? array->chunks.chunk_bytes : listed->bytes;
}

static parapet_status decode_chunk(const foreign_store *self, const pp_foreign_array *array,
                                   const pp_chunk_place *listed, unsigned char **decoded)
{
    unsigned char *stored = NULL;
    parapet_status status = pp_allocate(&stored, listed->bytes);
    if (status == PARAPET_OK)
        status = check_unchanged(self, pp_reader_read(self->file, listed->start, listed->bytes, stored));
    if (status == PARAPET_OK)
        status = pp_foreign_chunks_decode(&array->chunks, listed, (pp_bytes){stored, listed->bytes}, decoded);
    pp_free(stored);
    return status;
}

static parapet_status find_listed_chunk(const foreign_store *self, const pp_foreign_array *array,
                                        const int64_t *position, foreign_reader *found)
{
    const pp_chunk_place *listed = find_listed(array, position);
    parapet_status status = PARAPET_OK;
    if (listed == NULL)
        return PARAPET_ERR_NOT_FOUND;
    found->reader.bytes = listed_bytes(array, listed);
    found->place =
        (pp_place){.start = listed->start, .run_bytes = listed->bytes, .distance = listed->bytes, .run_count = 1};
    if (array->chunks.data != NULL)
        found->document = (const char *)array->chunks.data;
    else if (array->chunks.is_decoded && (status = decode_chunk(self, array, listed, &found->decoded)) == PARAPET_OK)
        found->document = (const char *)found->decoded;
    return status;
}

static parapet_status find_chunk(const foreign_store *self, const pp_foreign_array *array, const char *rest,
                                 foreign_reader *found)
{
    int64_t position[PARAPET_MAX_NDIM] = {0};
    int d;
    if (!pp_key_parse(&key_encoding, array->ndim, rest, position))
        return PARAPET_ERR_NOT_FOUND;
    for (d = 0; d < array->ndim; d++)
        if (position[d] >= pp_foreign_array_slabs(array, d))
            return PARAPET_ERR_NOT_FOUND;
    if (array->kind == PP_FOREIGN_CHUNKED)
        return find_listed_chunk(self, array, position, found);
    found->reader.bytes = pp_foreign_array_slab_bytes(array);
    pp_foreign_array_locate(array, position, &found->place);
    return PARAPET_OK;
}

static parapet_status find_document(const pp_foreign_array *node, foreign_reader *found)
{
    if (node->kind == PP_FOREIGN_REFUSED)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "%s", node->document);
    found->document = node->document;
    found->reader.bytes = node->document_bytes;
    return PARAPET_OK;
}

/* PARAPET_ERR_NOT_FOUND comes without a sentence. */
static parapet_status find_object(const foreign_store *self, const char *key, foreign_reader *found)
{
    const char *rest;
    const pp_foreign_array *node = split_key(self, key, &rest);
    if (self->places.group != NULL && strcmp(key, DOCUMENT_NAME) == 0) {
        found->document = self->places.group;
        found->reader.bytes = strlen(found->document);
        return PARAPET_OK;
    }
    if (node == NULL)
        return PARAPET_ERR_NOT_FOUND;
    if (strcmp(rest, DOCUMENT_NAME) == 0)
        return find_document(node, found);
    if (node->kind == PP_FOREIGN_GROUP || node->kind == PP_FOREIGN_REFUSED)
        return PARAPET_ERR_NOT_FOUND;
    return find_chunk(self, node, rest, found);
}

static parapet_status foreign_open(pp_store *store, const char *key, pp_reader **reader)
{
    const foreign_store *self = (foreign_store *)store;
    foreign_reader found = {.reader = {.store = store, .version = self->file->version}};
    parapet_status status = find_object(self, key, &found);
    if (status == PARAPET_ERR_NOT_FOUND)
        return pp_fail(PARAPET_ERR_NOT_FOUND, "%s has no %s", self->key, key);
    if (status == PARAPET_OK)
        status = pp_bytes_duplicate(reader, &found, sizeof found);
    if (status != PARAPET_OK)
        pp_free(found.decoded);
    return status;
}

/* ---- Listing ---- */

/* The nodes directly below a path, which ends in a slash unless it is "". */
static parapet_status list_nodes(const foreign_store *self, const char *path, pp_listing *listing)
{
    parapet_status status = PARAPET_OK;
    size_t bytes = strlen(path), i;
    for (i = 0; i < self->places.count && status == PARAPET_OK; i++) {
        const char *name = self->places.arrays[i].name;
        if (strncmp(name, path, bytes) == 0 && strchr(name + bytes, '/') == NULL)
            status = pp_listing_add(listing, name + bytes, true, 0);
    }
    return status;
}

static parapet_status list_group(const foreign_store *self, const pp_foreign_array *group, pp_listing *listing)
{
    size_t document_bytes = group != NULL ? group->document_bytes : strlen(self->places.group);
    pp_text path = {0};
    parapet_status status = pp_listing_add(listing, DOCUMENT_NAME, false, document_bytes);
    pp_text_add(&path, "%s%s", group != NULL ? group->name : "", group != NULL ? "/" : "");
    if (status == PARAPET_OK && (status = path.status) == PARAPET_OK)
        status = list_nodes(self, path.data, listing);
    pp_text_free(&path);
    return status;
}

static bool has_chunks(const pp_foreign_array *array)
{
    int d;
    if (array->kind != PP_FOREIGN_FLAT)
        return array->chunks.count > 0;
    for (d = 0; d < array->ndim; d++)
        if (array->extent[d] == 0)
            return false;
    return true;
}

static parapet_status list_array(const pp_foreign_array *array, pp_listing *listing)
{
    parapet_status status = pp_listing_add(listing, DOCUMENT_NAME, false, array->document_bytes);
    if (status != PARAPET_OK || !has_chunks(array))
        return status;
    return pp_listing_add(listing, "c", array->ndim > 0,
                          array->kind == PP_FOREIGN_FLAT ? pp_foreign_array_slab_bytes(array)
                                                         : listed_bytes(array, &array->chunks.list[0]));
}

/* How many positions a prefix such as "c/0/1" has; -1: it is none of a chunk. */
static int count_positions(const char *rest)
{
    int count = 0;
    if (rest[0] != 'c')
        return -1;
    for (rest++; *rest == '/'; count++) {
        size_t digits = strspn(rest + 1, "0123456789");
        if (digits == 0)
            return -1;
        rest += 1 + digits;
    }
    return *rest == '\0' ? count : -1;
}

static parapet_status list_position(const pp_foreign_array *array, int dimension, int64_t position, uint64_t bytes,
                                    pp_listing *listing)
{
    pp_text name = {0};
    parapet_status status;
    pp_text_add(&name, "%" PRId64, position);
    if ((status = name.status) == PARAPET_OK)
        status = pp_listing_add(listing, name.data, dimension + 1 < array->ndim, bytes);
    pp_text_free(&name);
    return status;
}

static parapet_status list_slabs(const pp_foreign_array *array, int dimension, pp_listing *listing)
{
    parapet_status status = PARAPET_OK;
    int64_t i, count = pp_foreign_array_slabs(array, dimension);
    for (i = 0; i < count && status == PARAPET_OK; i++)
        status = list_position(array, dimension, i, pp_foreign_array_slab_bytes(array), listing);
    return status;
}

/* Chunks below a prefix follow each other in the list: a search leads from each position to the next. */
static parapet_status list_listed(const pp_foreign_array *array, const int64_t *prefix, int dimension,
                                  pp_listing *listing)
{
    const pp_foreign_chunks *chunks = &array->chunks;
    uint64_t first = 0, count = (uint64_t)pp_foreign_array_slabs(array, dimension), below = 1, i = 0;
    parapet_status status = PARAPET_OK;
    size_t found;
    int d;
    for (d = 0; d < dimension; d++)
        first = first * (uint64_t)pp_foreign_array_slabs(array, d) + (uint64_t)prefix[d];
    for (d = dimension + 1; d < array->ndim; d++)
        below *= (uint64_t)pp_foreign_array_slabs(array, d);
    first *= count * below;
    while (status == PARAPET_OK && below > 0 && i < count) {
        found = pp_foreign_chunks_search(chunks, first + i * below);
        if (found == chunks->count || (i = (chunks->list[found].index - first) / below) >= count)
            break;
        status = list_position(array, dimension, (int64_t)i, listed_bytes(array, &chunks->list[found]), listing);
        i++;
    }
    return status;
}

/* The positions in a prefix such as "c/0/1", if they are inside the grid. */
static bool parse_prefix(const pp_foreign_array *array, const char *rest, int count, int64_t *prefix)
{
    int d;
    if (count > 0 && !pp_key_parse(&key_encoding, count, rest, prefix))
        return false;
    for (d = 0; d < count; d++)
        if (prefix[d] >= pp_foreign_array_slabs(array, d))
            return false;
    return true;
}

static parapet_status list_chunks(const foreign_store *self, const pp_foreign_array *array, const char *rest,
                                  pp_listing *listing)
{
    int64_t prefix[PARAPET_MAX_NDIM] = {0};
    int count = has_chunks(array) ? count_positions(rest) : -1;
    if (count < 0 || count >= array->ndim || !parse_prefix(array, rest, count, prefix))
        return pp_fail(PARAPET_ERR_NOT_FOUND, "%s has nothing below %s/%s", self->key, array->name, rest);
    return array->kind == PP_FOREIGN_FLAT ? list_slabs(array, count, listing)
                                          : list_listed(array, prefix, count, listing);
}

static parapet_status list_prefix(const foreign_store *self, const char *prefix, pp_listing *listing)
{
    const char *rest;
    const pp_foreign_array *node = split_key(self, prefix, &rest);
    if (self->places.group != NULL && prefix[0] == '\0')
        return list_group(self, NULL, listing);
    if (node == NULL || (node->kind == PP_FOREIGN_GROUP && rest[0] != '\0'))
        return pp_fail(PARAPET_ERR_NOT_FOUND, "%s has nothing below %s", self->key, prefix);
    if (node->kind == PP_FOREIGN_GROUP)
        return list_group(self, node, listing);
    return rest[0] == '\0' ? list_array(node, listing) : list_chunks(self, node, rest, listing);
}

static parapet_status foreign_list(pp_store *store, const char *prefix, pp_list_visitor visit, void *context)
{
    pp_listing listing = {0};
    parapet_status status = list_prefix((foreign_store *)store, prefix, &listing);
    if (status == PARAPET_OK)
        status = pp_listing_tell(&listing, visit, context);
    pp_listing_free(&listing);
    return status;
}

/* ---- What would change it ---- */

static parapet_status refuse_change(pp_store *store)
{
    return pp_fail(PARAPET_ERR_UNSUPPORTED, "%s is not a Zarr store and can only be read",
                   ((foreign_store *)store)->key);
}

static parapet_status refuse_begin(pp_store *store, const pp_write_request *request, pp_writer **writer)
{
    (void)request;
    (void)writer;
    return refuse_change(store);
}

static parapet_status refuse_resume(pp_store *store, const pp_write_request *request, uint64_t bytes,
                                    pp_writer **writer)
{
    (void)bytes;
    return refuse_begin(store, request, writer);
}

static parapet_status refuse_log(pp_store *store, const char *key, uint64_t keep_bytes, pp_log **log)
{
    (void)key;
    (void)keep_bytes;
    (void)log;
    return refuse_change(store);
}

static parapet_status refuse_lock(pp_store *store, const char *key, pp_lock **lock)
{
    (void)key;
    (void)lock;
    return refuse_change(store);
}

static parapet_status refuse_move(pp_store *store, const char *key, const char *new_key)
{
    (void)key;
    (void)new_key;
    return refuse_change(store);
}

static parapet_status refuse_remove(pp_store *store, const char *key)
{
    (void)key;
    return refuse_change(store);
}

/* Nobody of Parapet's changes it: there is nothing to wait for. */
static parapet_status view_no_lock(pp_store *store, const char *key, pp_lock_view *view)
{
    (void)store;
    (void)key;
    (void)view;
    return PARAPET_OK;
}

static parapet_status sync_nothing(pp_store *store)
{
    (void)store;
    return PARAPET_OK;
}

static void foreign_free(pp_store *store)
{
    foreign_store *self = (foreign_store *)store;
    pp_places_free(&self->places);
    pp_reader_free(self->file);
    if (self->owns_files)
        pp_store_free(self->files);
    pp_free(self->key);
    pp_free(self->name);
    pp_free(self->table);
    pp_free(self->path);
    pp_free(self);
}

static const pp_store_ops foreign_ops = {
    .name = "foreign file",
    .open = foreign_open,
    .read = foreign_read,
    .expect = foreign_expect,
    .close_reader = foreign_close_reader,
    .begin = refuse_begin,
    .resume = refuse_resume,
    .open_log = refuse_log,
    .open_lock = refuse_lock,
    .view_lock = view_no_lock,
    .move = refuse_move,
    .sync_dirs = sync_nothing,
    .remove = refuse_remove,
    .remove_prefix = refuse_remove,
    .remove_empty = refuse_remove,
    .list = foreign_list,
    .free = foreign_free,
};

/* ---- Opening ---- */

static parapet_status refuse_format(const unsigned char *signature, size_t bytes)
{
    if (bytes >= 4 && memcmp(signature, "GRIB", 4) == 0)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "it is GRIB, which Parapet does not read; \"cdo -f nc5 copy\" makes a "
                       "netCDF file that it reads");
    return pp_fail(PARAPET_ERR_UNSUPPORTED,
                   "it is a file, but neither netCDF, HDF5 nor of NumPy; a Zarr store is a directory, "
                   "and a file without a header is named raw:type=float32,shape=100x200:FILE");
}

/* Its signature is at byte 0, or after a user block of 512 bytes, 1024, 2048 and so on. */
static parapet_status recognise_hdf5(pp_reader *file, bool *is_hdf5)
{
    static const unsigned char signature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char found[sizeof signature];
    uint64_t start;
    parapet_status status = PARAPET_OK;
    *is_hdf5 = false;
    for (start = 0; file->bytes >= sizeof signature && start <= file->bytes - sizeof signature && !*is_hdf5 &&
                    status == PARAPET_OK;
         start = start > 0 ? 2 * start : 512)
        if ((status = pp_reader_read(file, start, sizeof found, found)) == PARAPET_OK)
            *is_hdf5 = memcmp(found, signature, sizeof signature) == 0;
    return status;
}

static parapet_status read_header(foreign_store *self)
{
    unsigned char signature[PP_SIGNATURE_BYTES] = {0};
    size_t bytes = (size_t)pp_min_u64(self->file->bytes, sizeof signature);
    const pp_format *format;
    parapet_status status = pp_reader_read(self->file, 0, bytes, signature);
    if (status != PARAPET_OK)
        return status;
    if ((format = pp_format_recognise(signature, bytes)) != NULL)
        return format->read(self->file, &self->places);
    if ((status = recognise_hdf5(self->file, &self->needs_table)) != PARAPET_OK)
        return status;
    return self->needs_table ? PARAPET_OK : refuse_format(signature, bytes);
}

static parapet_status finish_places(foreign_store *self)
{
    parapet_status status = pp_places_finish(&self->places);
    if (status != PARAPET_OK || self->name == NULL)
        return status;
    return pp_places_keep_only(&self->places, self->name);
}

static parapet_status read_places(foreign_store *self, const pp_foreign_source *source)
{
    const char *raw = source->raw;
    parapet_status status = pp_store_open_object(self->files, self->key, &self->file);
    if (status != PARAPET_OK)
        return status;
    self->places.file_bytes = self->file->bytes;
    self->needs_table = source->table != NULL;
    if (self->needs_table)
        return PARAPET_OK;
    if ((status = raw != NULL ? pp_raw_read(raw, strcspn(raw, ":"), &self->places) : read_header(self)) !=
            PARAPET_OK ||
        self->needs_table)
        return status;
    return finish_places(self);
}

bool pp_foreign_needs_table(const pp_store *store)
{
    return ((const foreign_store *)store)->needs_table;
}

static parapet_status read_table(const foreign_store *self, size_t most_bytes, char **text, size_t *bytes)
{
    const pp_posix_options options = {.read_only = true};
    pp_store *files = NULL;
    char *key = NULL;
    parapet_status status = pp_store_posix_build_around(&files, self->table, &options, &key);
    if (status == PARAPET_OK)
        status = pp_store_read_all(files, key, most_bytes, text, bytes);
    pp_store_free(files);
    pp_free(key);
    return status != PARAPET_OK ? pp_fail_within(status, "the table of places %s", self->table) : PARAPET_OK;
}

parapet_status pp_foreign_make_table(const pp_store *store, const pp_helper_limits *limits, char **text,
                                     size_t *bytes)
{
    const foreign_store *self = (const foreign_store *)store;
    if (self->table != NULL)
        return read_table(self, limits->most_bytes, text, bytes);
    if (self->path == NULL)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "%s is HDF5, and no program can read it here", self->key);
    return pp_helper_run(self->path, limits, text, bytes);
}

parapet_status pp_foreign_take_table(pp_store *store, const char *text, size_t bytes)
{
    foreign_store *self = (foreign_store *)store;
    parapet_status status = pp_table_read(text, bytes, &self->places);
    if (status != PARAPET_OK || (status = finish_places(self)) != PARAPET_OK)
        return status;
    self->needs_table = false;
    return check_unchanged(self, PARAPET_OK);
}

static void add_to_hash(uint64_t *hash, const char *text)
{
    for (; text != NULL && *text != '\0'; text++)
        *hash = (*hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
}

/* Another place than that of the directory, and the same whenever this file is opened. */
static void set_place(foreign_store *self, const pp_foreign_source *source)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    add_to_hash(&hash, source->key);
    add_to_hash(&hash, "/");
    add_to_hash(&hash, source->name);
    self->store.place[0] = self->files->place[0] ^ hash;
    self->store.place[1] = self->files->place[1] + (hash | 1);
}

static parapet_status keep_texts(foreign_store *self, const pp_foreign_source *source)
{
    parapet_status status = pp_text_duplicate(&self->key, source->key);
    if (status == PARAPET_OK && source->name != NULL)
        status = pp_text_duplicate(&self->name, source->name);
    if (status == PARAPET_OK && source->table != NULL)
        status = pp_text_duplicate(&self->table, source->table);
    if (status == PARAPET_OK && source->path != NULL)
        status = pp_text_duplicate(&self->path, source->path);
    return status;
}

parapet_status pp_foreign_build_over(pp_store **store, const pp_foreign_source *source)
{
    foreign_store *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    *store = NULL;
    if (status != PARAPET_OK)
        return status;
    self->store.ops = &foreign_ops;
    self->files = source->files;
    if ((status = keep_texts(self, source)) == PARAPET_OK && (status = read_places(self, source)) == PARAPET_OK) {
        set_place(self, source);
        *store = &self->store;
        return PARAPET_OK;
    }
    foreign_free(&self->store);
    return status;
}

void pp_foreign_own_files(pp_store *store)
{
    ((foreign_store *)store)->owns_files = true;
}

uint64_t pp_foreign_version(const pp_store *store)
{
    return ((const foreign_store *)store)->file->version;
}
