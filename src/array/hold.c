/* hold.c - taking and letting go of the locks of nodes: see hold.h. */
#include "array/hold.h"

#include <string.h>

#include "array/holder.h"
#include "array/path.h"
#include "array/store_handle.h"
#include "base/clock.h"
#include "comm/wait.h"

/* How long others are waited for, in seconds, where wait_seconds does not say: somebody who changes something for
 * long only as long as a small change takes; somebody who publishes, as a rule, to his end. */
#define PATIENCE_LONG 0.1
#define PATIENCE_SHORT 30.0

static double patience_of(const parapet_store *store, double ordinary)
{
    double patience = store->options.wait_seconds > 0 ? (double)store->options.wait_seconds : ordinary;
    double deadline = (double)store->options.deadline_seconds;
    return deadline > 0 && deadline < patience ? deadline : patience;
}

static parapet_status open_hold(pp_hold *hold, parapet_store *store, const char *path)
{
    char *key = NULL;
    parapet_status status = pp_path_join(path, PP_LOCK_NAME, &key);
    if (status == PARAPET_OK)
        status = pp_store_open_lock(store->backend, key, &hold->lock);
    pp_free(key);
    return status;
}

void pp_holds_release(pp_hold *holds, int count)
{
    int i;
    for (i = 0; holds != NULL && i < count; i++) {
        if (holds[i].is_named && !holds[i].is_kept)
            (void)pp_lock_write(holds[i].lock, "");
        pp_lock_close(holds[i].lock);
        holds[i] = (pp_hold){0};
    }
}

static parapet_status check_free(const pp_hold *hold, pp_lock_byte byte)
{
    bool is_held = false;
    parapet_status status = pp_lock_test(hold->lock, byte, &is_held);
    return status == PARAPET_OK && is_held ? PARAPET_ERR_BUSY : status;
}

/* ---- One attempt ---- */

/* What an attempt came upon: where, and whether that will pass soon. */
typedef struct obstacle {
    const char *path;
    bool is_short;
} obstacle;

static parapet_status try_long(const pp_hold *hold, pp_lock_mode mode, obstacle *met)
{
    parapet_status status = pp_lock_set(hold->lock, PP_LOCK_LONG, mode);
    if (status == PARAPET_OK)
        status = check_free(hold, PP_LOCK_HANDS);
    if (status != PARAPET_OK || mode == PP_LOCK_SHARED)
        return status;
    status = check_free(hold, PP_LOCK_PUBLISHING);
    met->is_short = status == PARAPET_ERR_BUSY;
    return status;
}

static parapet_status try_all(pp_hold *holds, const pp_hold_wish *wish, obstacle *met)
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

/* SHORT of all, and nobody is publishing; or SHORT of none. */
static parapet_status try_short(const pp_hold *holds, int count, int *failed)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < count && status == PARAPET_OK; i++) {
        *failed = i;
        if ((status = pp_lock_set(holds[i].lock, PP_LOCK_SHORT, PP_LOCK_EXCLUSIVE)) == PARAPET_OK)
            status = check_free(&holds[i], PP_LOCK_PUBLISHING);
    }
    if (status != PARAPET_OK)
        pp_holds_end_publishing(holds, i);
    return status;
}

void pp_holds_end_publishing(const pp_hold *holds, int count)
{
    int i;
    for (i = 0; holds != NULL && i < count; i++)
        if (holds[i].lock != NULL)
            (void)pp_lock_set(holds[i].lock, PP_LOCK_SHORT, PP_LOCK_FREE);
}

/* ---- Waiting ---- */

static parapet_status write_holders(pp_hold *holds, const pp_hold_wish *wish)
{
    char holder[PP_HOLDER_BYTES];
    parapet_status status = PARAPET_OK;
    int i;
    pp_holder_print(wish->purpose, holder);
    for (i = 0; i < wish->count && status == PARAPET_OK; i++)
        status = pp_holder_write(&holds[i], wish->store, wish->paths[i], holder);
    return status;
}

static parapet_status try_once(pp_hold *holds, const pp_hold_wish *wish, obstacle *met)
{
    parapet_status status = try_all(holds, wish, met);
    if (status == PARAPET_OK)
        status = write_holders(holds, wish);
    if (status != PARAPET_OK)
        pp_holds_release(holds, wish->count);
    return status;
}

parapet_status pp_holds_try(pp_hold *holds, const pp_hold_wish *wish)
{
    obstacle met;
    return try_once(holds, wish, &met);
}

parapet_status pp_holds_take(pp_hold *holds, const pp_hold_wish *wish)
{
    double start = pp_clock_seconds();
    pp_wait wait = {0};
    obstacle met;
    parapet_status status;
    while ((status = try_once(holds, wish, &met)) == PARAPET_ERR_BUSY) {
        if (pp_clock_seconds() - start >= patience_of(wish->store, met.is_short ? PATIENCE_SHORT : PATIENCE_LONG))
            return pp_holder_fail_busy(wish->store, met.path);
        pp_wait_briefly(&wait);
    }
    return status;
}

static parapet_status take_short(const pp_hold *holds, int count, parapet_store *store, const char *const *paths)
{
    double start = pp_clock_seconds(), patience = patience_of(store, PATIENCE_SHORT);
    pp_wait wait = {0};
    int failed = 0;
    parapet_status status;
    while ((status = try_short(holds, count, &failed)) == PARAPET_ERR_BUSY) {
        if (pp_clock_seconds() - start >= patience)
            return pp_holder_fail_busy(store, paths[failed]);
        pp_wait_briefly(&wait);
    }
    return status;
}

static parapet_status prove_all(const pp_hold *holds, int count)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < count && status == PARAPET_OK; i++)
        status = pp_lock_prove(holds[i].lock);
    return status;
}

parapet_status pp_holds_begin_publishing(const pp_hold *holds, const pp_hold_wish *wish)
{
    parapet_status status = take_short(holds, wish->count, wish->store, wish->paths);
    return status == PARAPET_OK ? prove_all(holds, wish->count) : status;
}

parapet_status pp_holds_try_publishing(const pp_hold *holds, const pp_hold_wish *wish)
{
    int failed = 0;
    parapet_status status = try_short(holds, wish->count, &failed);
    return status == PARAPET_OK ? prove_all(holds, wish->count) : status;
}

/* Nobody keeps these out of what rank 0 has. */
static parapet_status share(pp_hold *holds, const pp_hold_wish *wish, pp_lock_byte byte)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < wish->count && status == PARAPET_OK; i++)
        if ((status = open_hold(&holds[i], wish->store, wish->paths[i])) == PARAPET_OK)
            status = pp_lock_set(holds[i].lock, byte, PP_LOCK_SHARED);
    if (status != PARAPET_OK)
        pp_holds_release(holds, wish->count);
    return status;
}

parapet_status pp_holds_lend(pp_hold *holds, const pp_hold_wish *wish)
{
    return share(holds, wish, PP_LOCK_HANDS);
}

parapet_status pp_holds_join_publishing(pp_hold *holds, const pp_hold_wish *wish)
{
    return share(holds, wish, PP_LOCK_PUBLISHING);
}

static bool lends(const pp_hold_wish *wish)
{
    int i, rank = pp_comm_rank(wish->store->comm);
    if (rank == 0)
        return false;
    for (i = 0; i < wish->store->server_count && !wish->is_for_all; i++)
        if (wish->store->servers[i] == rank)
            return true;
    return wish->is_for_all;
}

parapet_status pp_holds_lend_if_due(pp_hold *holds, const pp_hold_wish *wish)
{
    return lends(wish) ? pp_holds_lend(holds, wish) : PARAPET_OK;
}

parapet_status pp_holds_take_together(pp_hold *holds, const pp_hold_wish *wish)
{
    pp_comm *comm = wish->store->comm;
    bool leads = pp_comm_rank(comm) == 0;
    parapet_status status = pp_comm_agree(comm, "locking", leads ? pp_holds_take(holds, wish) : PARAPET_OK);
    if (status == PARAPET_OK && pp_comm_size(comm) > 1)
        status = pp_comm_agree(comm, "locking", pp_holds_lend_if_due(holds, wish));
    if (status != PARAPET_OK)
        pp_holds_release(holds, wish->count);
    return status;
}

parapet_status pp_holds_share(const pp_hold *holds, int count)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < count && status == PARAPET_OK; i++)
        status = pp_lock_set(holds[i].lock, PP_LOCK_LONG, PP_LOCK_SHARED);
    return status;
}

parapet_status pp_hold_prove(const pp_hold *hold)
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

/* The path of the ancestor so many levels below the root; free with pp_free. */
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

/* So many, from that level on. */
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
        (status = pp_holds_take(edit->holds, &(pp_hold_wish){.store = store,
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

/* The node first: what is empty then goes with the lock of the group above. */
void pp_edit_end(pp_edit *edit)
{
    while (edit->count > 0)
        pp_holds_release(&edit->holds[--edit->count], 1);
    pp_free(edit->holds);
    *edit = (pp_edit){0};
}
