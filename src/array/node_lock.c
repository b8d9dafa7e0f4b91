/* node_lock.c - taking and releasing the locks of nodes: node_lock.h says what each part is for,
 * docs/design/locks.md what follows from them.
 *
 *     rank 0       free --pp_node_locks_take--> LONG --pp_node_locks_share--> LONG, shared
 *                  LONG --pp_node_locks_begin_publishing--> LONG and SHORT --pp_node_locks_end_publishing--> LONG
 *     other ranks  free --pp_node_locks_delegate--> DELEGATES
 *                  free --pp_node_locks_join_publishing--> PUBLISHING
 *     an edit      free --pp_edit_begin--> SHORT --pp_edit_end--> free
 *     all          any of them --pp_node_locks_release, or the end of the process--> free
 *
 * Invariants:
 *
 *  1. First take, then look: LONG or SHORT is set before it is tested whether other ranks of a dead rank 0 are
 *     still at work (try_long, try_short). In the other order one of them could begin in between.
 *  2. Another rank takes its byte between two agreements. The first says that rank 0 holds the lock; the
 *     second, that this rank has its byte. If rank 0 dies in between, the second never completes, and this rank
 *     does nothing, however late it gets its byte.
 *  3. All of several paths are held, or none: what was taken is released before waiting (try_once, try_short).
 *     So two jobs that want the same paths in different orders do not wait for each other.
 *  4. LONG comes before SHORT. A job that has SHORT only tries LONG, and does not wait for it
 *     (array/bulk_create.c; invariant 15 of docs/design/change.md).
 *  5. A lock on a file that was removed keeps no other job out. So what is held is proved just before anything
 *     is published (pp_node_lock_prove, pp_edit_prove).
 *
 * The options wait_seconds, deadline_seconds, locks and takeover: docs/guide/jobs.md. Writers outside of the
 * communicator: docs/design/papers.md, 5, note e. */
#include "array/node_lock.h"

#include <parapet_store.h>
#include <string.h>

#include "array/lock_text.h"
#include "array/node_path.h"
#include "array/store_handle.h"
#include "base/clock.h"
#include "change/registry.h"
#include "comm/wait.h"

/* How long to wait for another job, in seconds, unless wait_seconds says so: for one that holds LONG, only as
 * long as a small change takes; for one that publishes, as a rule, until it has finished. */
#define PATIENCE_LONG 0.1
#define PATIENCE_SHORT 30.0

static double patience_of(const parapet_store *store, double ordinary)
{
    double patience = store->options->wait_seconds > 0 ? (double)store->options->wait_seconds : ordinary;
    double deadline = (double)store->options->deadline_seconds;
    return deadline > 0 && deadline < patience ? deadline : patience;
}

static parapet_status open_hold(pp_node_lock *hold, parapet_store *store, const char *path)
{
    char *key = NULL;
    parapet_status status = pp_own_key(path, PP_OWN_LOCK, &key);
    if (status == PARAPET_OK)
        status = pp_store_open_lock(store->backend, key, &hold->lock);
    pp_free(key);
    return status;
}

void pp_node_locks_release(pp_node_lock *holds, int count)
{
    int i;
    for (i = 0; holds != NULL && i < count; i++) {
        /* While it is held: afterwards the text could be that of the next holder. */
        if (holds[i].is_named && !holds[i].is_kept)
            (void)pp_lock_write(holds[i].lock, "");
        pp_lock_close(holds[i].lock);
        holds[i] = (pp_node_lock){0};
    }
}

static parapet_status check_free(const pp_node_lock *hold, pp_lock_byte byte)
{
    bool is_held = false;
    parapet_status status = pp_lock_test(hold->lock, byte, &is_held);
    return status == PARAPET_OK && is_held ? PARAPET_ERR_BUSY : status;
}

/* ---- One attempt ---- */

/* What an attempt met: at which path, and whether it will pass soon. */
typedef struct obstacle {
    const char *path;
    bool is_short;
} obstacle;

static parapet_status try_long(const pp_node_lock *hold, pp_lock_mode mode, obstacle *met)
{
    parapet_status status = pp_lock_set(hold->lock, PP_LOCK_LONG, mode);
    /* With LONG ours, no rank can still become a delegate and do anything (2): what is seen now is all. */
    if (status == PARAPET_OK)
        status = check_free(hold, PP_LOCK_DELEGATES);
    if (status != PARAPET_OK || mode == PP_LOCK_SHARED)
        return status;
    status = check_free(hold, PP_LOCK_PUBLISHING);
    met->is_short = status == PARAPET_ERR_BUSY;
    return status;
}

static parapet_status try_all(pp_node_lock *holds, const pp_node_lock_wish *wish, obstacle *met)
{
    parapet_status status = PARAPET_OK;
    int i;
    *met = (obstacle){0};
    for (i = 0; i < wish->count && status == PARAPET_OK; i++) {
        met->path = wish->paths[i];
        if ((status = open_hold(&holds[i], wish->store, wish->paths[i])) == PARAPET_OK)
            status = try_long(&holds[i], wish->mode, met);
    }
    return status;
}

/* SHORT of all, while no other rank is publishing; or SHORT of none. First SHORT, then the look (1). */
static parapet_status try_short(const pp_node_lock *holds, int count, int *failed)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < count && status == PARAPET_OK; i++) {
        *failed = i;
        if ((status = pp_lock_set(holds[i].lock, PP_LOCK_SHORT, PP_LOCK_EXCLUSIVE)) == PARAPET_OK)
            status = check_free(&holds[i], PP_LOCK_PUBLISHING);
    }
    if (status != PARAPET_OK)
        pp_node_locks_end_publishing(holds, i);
    return status;
}

void pp_node_locks_end_publishing(const pp_node_lock *holds, int count)
{
    int i;
    for (i = 0; holds != NULL && i < count; i++)
        if (holds[i].lock != NULL)
            (void)pp_lock_set(holds[i].lock, PP_LOCK_SHORT, PP_LOCK_FREE);
}

/* ---- Waiting ---- */

static parapet_status write_holders(pp_node_lock *holds, const pp_node_lock_wish *wish)
{
    char holder[PP_LOCK_LINE_BYTES];
    parapet_status status = PARAPET_OK;
    int i;
    pp_lock_text_print(wish->purpose, holder);
    for (i = 0; i < wish->count && status == PARAPET_OK; i++)
        status = pp_lock_text_write(&holds[i], wish->store, wish->paths[i], holder);
    return status;
}

static parapet_status try_once(pp_node_lock *holds, const pp_node_lock_wish *wish, obstacle *met)
{
    parapet_status status = try_all(holds, wish, met);
    if (status == PARAPET_OK)
        status = write_holders(holds, wish);
    if (status != PARAPET_OK)
        pp_node_locks_release(holds, wish->count);
    return status;
}

parapet_status pp_node_locks_try(pp_node_lock *holds, const pp_node_lock_wish *wish)
{
    obstacle met;
    return try_once(holds, wish, &met);
}

parapet_status pp_node_locks_take(pp_node_lock *holds, const pp_node_lock_wish *wish)
{
    double start = pp_clock_seconds();
    pp_wait wait = {0};
    obstacle met;
    parapet_status status;
    while ((status = try_once(holds, wish, &met)) == PARAPET_ERR_BUSY) {
        if (pp_clock_seconds() - start >= patience_of(wish->store, met.is_short ? PATIENCE_SHORT : PATIENCE_LONG))
            return pp_lock_text_fail_busy(wish->store, met.path);
        pp_wait_briefly(&wait);
    }
    return status;
}

static parapet_status take_short(const pp_node_lock *holds, int count, parapet_store *store, const char *const *paths)
{
    double start = pp_clock_seconds(), patience = patience_of(store, PATIENCE_SHORT);
    pp_wait wait = {0};
    int failed = 0;
    parapet_status status;
    while ((status = try_short(holds, count, &failed)) == PARAPET_ERR_BUSY) {
        if (pp_clock_seconds() - start >= patience)
            return pp_lock_text_fail_busy(store, paths[failed]);
        pp_wait_briefly(&wait);
    }
    return status;
}

static parapet_status prove_all(const pp_node_lock *holds, int count)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < count && status == PARAPET_OK; i++)
        status = pp_lock_prove(holds[i].lock);
    return status;
}

parapet_status pp_node_locks_begin_publishing(const pp_node_lock *holds, const pp_node_lock_wish *wish)
{
    parapet_status status = take_short(holds, wish->count, wish->store, wish->paths);
    return status == PARAPET_OK ? prove_all(holds, wish->count) : status;
}

parapet_status pp_node_locks_try_publishing(const pp_node_lock *holds, const pp_node_lock_wish *wish)
{
    int failed = 0;
    parapet_status status = try_short(holds, wish->count, &failed);
    return status == PARAPET_OK ? prove_all(holds, wish->count) : status;
}

/* No other job holds these bytes exclusively, so this does not compete with any. */
static parapet_status share(pp_node_lock *holds, const pp_node_lock_wish *wish, pp_lock_byte byte)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < wish->count && status == PARAPET_OK; i++)
        if ((status = open_hold(&holds[i], wish->store, wish->paths[i])) == PARAPET_OK)
            status = pp_lock_set(holds[i].lock, byte, PP_LOCK_SHARED);
    if (status != PARAPET_OK)
        pp_node_locks_release(holds, wish->count);
    return status;
}

parapet_status pp_node_locks_delegate(pp_node_lock *holds, const pp_node_lock_wish *wish)
{
    return share(holds, wish, PP_LOCK_DELEGATES);
}

parapet_status pp_node_locks_join_publishing(pp_node_lock *holds, const pp_node_lock_wish *wish)
{
    return share(holds, wish, PP_LOCK_PUBLISHING);
}

static bool lends(const pp_node_lock_wish *wish)
{
    int i, rank = pp_comm_rank(wish->store->comm);
    if (rank == 0)
        return false;
    for (i = 0; i < wish->store->server_count && !wish->is_for_all; i++)
        if (wish->store->servers[i] == rank)
            return true;
    return wish->is_for_all;
}

parapet_status pp_node_locks_delegate_if_due(pp_node_lock *holds, const pp_node_lock_wish *wish)
{
    return lends(wish) ? pp_node_locks_delegate(holds, wish) : PARAPET_OK;
}

parapet_status pp_node_locks_take_collectively(pp_node_lock *holds, const pp_node_lock_wish *wish)
{
    pp_comm *comm = wish->store->comm;
    bool leads = pp_comm_rank(comm) == 0;
    parapet_status status = pp_comm_agree(comm, "locking", leads ? pp_node_locks_take(holds, wish) : PARAPET_OK);
    if (status == PARAPET_OK && pp_comm_size(comm) > 1)
        status = pp_comm_agree(comm, "locking", pp_node_locks_delegate_if_due(holds, wish));
    if (status != PARAPET_OK)
        pp_node_locks_release(holds, wish->count);
    return status;
}

parapet_status pp_node_locks_share(const pp_node_lock *holds, int count)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < count && status == PARAPET_OK; i++)
        status = pp_lock_set(holds[i].lock, PP_LOCK_LONG, PP_LOCK_SHARED);
    return status;
}

parapet_status pp_node_lock_prove(const pp_node_lock *hold)
{
    return pp_lock_prove(hold->lock);
}

/* ---- Documents ---- */

static int depth_of(const char *path)
{
    int depth = path[0] != '\0';
    for (; *path != '\0'; path++)
        depth += *path == '/';
    return depth;
}

/* The path of the ancestor at this many levels below the root; free with pp_free. */
static parapet_status ancestor_of(const char *path, int level, char **ancestor)
{
    size_t bytes = 0;
    parapet_status status = pp_text_duplicate(ancestor, path);
    if (status != PARAPET_OK)
        return status;
    while (level > 0 && path[bytes] != '\0') {
        bytes += path[bytes] == '/';
        bytes += strcspn(path + bytes, "/");
        level--;
    }
    (*ancestor)[bytes] = '\0';
    return PARAPET_OK;
}

static parapet_status open_nodes(pp_edit *edit, parapet_store *store, const char *const *paths, int count)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < count && status == PARAPET_OK; i++) {
        status = open_hold(&edit->holds[i], store, paths[i]);
        edit->count = i + 1;
    }
    return status;
}

parapet_status pp_edit_begin_nodes(pp_edit *edit, parapet_store *store, const char *const *paths, int count)
{
    parapet_status status;
    *edit = (pp_edit){0};
    if ((status = pp_allocate_array(&edit->holds, (size_t)count, sizeof edit->holds[0])) == PARAPET_OK &&
        (status = open_nodes(edit, store, paths, count)) == PARAPET_OK)
        status = take_short(edit->holds, count, store, paths);
    if (status != PARAPET_OK)
        pp_edit_end(edit);
    return status;
}

/* The paths of this many ancestors, from level `first` on. */
static parapet_status find_above(char **paths, int first, int count, const char *path)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < count && status == PARAPET_OK; i++)
        status = ancestor_of(path, first + i, &paths[i]);
    return status;
}

parapet_status pp_edit_begin(pp_edit *edit, parapet_store *store, const char *path)
{
    int count = depth_of(path) + 1;
    char **paths = NULL;
    parapet_status status;
    *edit = (pp_edit){0};
    if ((status = pp_allocate_array(&paths, (size_t)count, sizeof paths[0])) == PARAPET_OK &&
        (status = find_above(paths, 0, count, path)) == PARAPET_OK)
        status = pp_edit_begin_nodes(edit, store, (const char *const *)paths, count);
    pp_paths_free(paths, (size_t)count);
    return status;
}

parapet_status pp_edit_share_above(pp_edit *edit, parapet_store *store, const char *outer, const char *path,
                                   const char *purpose)
{
    int first = outer != NULL ? depth_of(outer) + 1 : 0, count = depth_of(path) - first;
    char **paths = NULL;
    parapet_status status;
    *edit = (pp_edit){0};
    if (count <= 0)
        return PARAPET_OK;
    if ((status = pp_allocate_array(&edit->holds, (size_t)count, sizeof edit->holds[0])) == PARAPET_OK &&
        (status = pp_allocate_array(&paths, (size_t)count, sizeof paths[0])) == PARAPET_OK &&
        (status = find_above(paths, first, count, path)) == PARAPET_OK &&
        (status = pp_node_locks_take(edit->holds, &(pp_node_lock_wish){.store = store,
                                                                       .paths = (const char *const *)paths,
                                                                       .count = count,
                                                                       .mode = PP_LOCK_SHARED,
                                                                       .purpose = purpose})) == PARAPET_OK)
        edit->count = count;
    pp_paths_free(paths, (size_t)count);
    if (status != PARAPET_OK)
        pp_edit_end(edit);
    return status;
}

parapet_status pp_edit_prove(const pp_edit *edit)
{
    return prove_all(edit->holds, edit->count);
}

/* The innermost node first: directories that become empty are then removed with the lock of the group above. */
void pp_edit_end(pp_edit *edit)
{
    while (edit->count > 0)
        pp_node_locks_release(&edit->holds[--edit->count], 1);
    pp_free(edit->holds);
    *edit = (pp_edit){0};
}
