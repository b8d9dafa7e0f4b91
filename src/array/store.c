#include <string.h>

#include "array/internal.h"

static parapet_status open_backend(parapet_store *store, const char *url)
{
    static const char memory_scheme[] = "memory:";
    pp_posix_options posix = {
        .create = store->mode == PARAPET_CREATE,
        .read_only = store->mode == PARAPET_READ,
        .not_durable = store->options.durability == 2,
        .direct_io = (pp_direct_io)store->options.direct_io,
    };
    if (strncmp(url, memory_scheme, strlen(memory_scheme)) == 0)
        return pp_store_memory_build(&store->backend, url + strlen(memory_scheme));
    if (strstr(url, "://") != NULL)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "%s: only directories and memory: are known in this version", url);
    return pp_store_posix_build(&store->backend, url, &posix);
}

static parapet_status check_open_arguments(parapet_store **store, parapet_mode mode)
{
    if (store == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_store_open needs a place for the store");
    *store = NULL;
    if (mode != PARAPET_READ && mode != PARAPET_UPDATE && mode != PARAPET_CREATE)
        return pp_fail(PARAPET_ERR_ARGUMENT, "mode is %d, but must be PARAPET_READ, PARAPET_UPDATE or PARAPET_CREATE",
                       (int)mode);
    return PARAPET_OK;
}

static parapet_status build_handle(parapet_store **store, parapet_mode mode, const parapet_options *options)
{
    parapet_status status = pp_allocate(store, sizeof **store);
    if (status != PARAPET_OK)
        return status;
    (*store)->mode = mode;
    (*store)->given = options != NULL ? *options : (parapet_options){0};
    if ((status = pp_options_resolve(&(*store)->options, options)) != PARAPET_OK)
        return status;
    pp_budget_init(&(*store)->budget, (size_t)(*store)->options.memory_bytes);
    return PARAPET_OK;
}

/* A store made by PARAPET_CREATE starts with a root group, unless something is there already. */
static parapet_status prepare_root(parapet_store *store)
{
    pp_node node = {0};
    parapet_status status = pp_node_load(store, "", &node);
    bool is_bare = status == PARAPET_ERR_NOT_FOUND || (status == PARAPET_OK && node.is_implicit);
    pp_node_clear(&node);
    if (!is_bare)
        return status;
    if (store->mode != PARAPET_CREATE)
        return status;
    return pp_node_ensure_group(store, "");
}

static void free_store(parapet_store *store)
{
    if (store == NULL)
        return;
    if (!store->is_backend_borrowed)
        pp_store_free(store->backend);
    pp_comm_free(store->comm);
    pp_free(store);
}

parapet_status parapet_store_open(parapet_store **store, MPI_Comm comm, const char *url, parapet_mode mode,
                                  const parapet_options *options)
{
    parapet_status status = check_open_arguments(store, mode);
    if (status != PARAPET_OK)
        return status;
    if (url == NULL || url[0] == '\0')
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_store_open needs a url");
    if ((status = build_handle(store, mode, options)) == PARAPET_OK &&
        (status = pp_comm_build(&(*store)->comm, comm)) == PARAPET_OK &&
        (status = open_backend(*store, url)) == PARAPET_OK)
        status = prepare_root(*store);
    if (status != PARAPET_OK) {
        status = pp_fail_within(status, "cannot open store %s", url);
        free_store(*store);
        *store = NULL;
    }
    return status;
}

parapet_status pp_store_open_over(parapet_store **store, pp_store *backend, parapet_mode mode,
                                  const parapet_options *options)
{
    parapet_status status = check_open_arguments(store, mode);
    if (status != PARAPET_OK)
        return status;
    if ((status = build_handle(store, mode, options)) == PARAPET_OK &&
        (status = pp_comm_build(&(*store)->comm, MPI_COMM_NULL)) == PARAPET_OK) {
        (*store)->backend = backend;
        (*store)->is_backend_borrowed = true;
        status = prepare_root(*store);
    }
    if (status != PARAPET_OK) {
        free_store(*store);
        *store = NULL;
    }
    return status;
}

parapet_status parapet_store_close(parapet_store **store)
{
    int handles;
    if (store == NULL || *store == NULL)
        return PARAPET_OK;
    handles = (*store)->handle_count;
    if (handles > 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "%d arrays or groups of the store are still open; close them first",
                       handles);
    free_store(*store);
    *store = NULL;
    return PARAPET_OK;
}

parapet_status parapet_store_statistics(parapet_store *store, parapet_statistics *statistics)
{
    const pp_counters *counters;
    if (store == NULL || statistics == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_store_statistics needs a store and a place for the figures");
    counters = &store->counters;
    *statistics = (parapet_statistics){
        .read_bytes = counters->read_bytes,
        .written_bytes = counters->written_bytes,
        .read_requests = counters->read_requests,
        .objects_written = counters->objects_written,
        .chunks_decoded = counters->chunks_decoded,
        .chunks_encoded = counters->chunks_encoded,
        .chunks_copied = counters->chunks_copied,
        .chunks_missing = counters->chunks_missing,
        .memory_peak_bytes = (int64_t)pp_budget_peak(&store->budget),
    };
    return PARAPET_OK;
}

parapet_status pp_store_check_writable(const parapet_store *store)
{
    if (store->mode == PARAPET_READ)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "the store is open for reading; open it with PARAPET_UPDATE to change it");
    return PARAPET_OK;
}
