/* source_version.c - whether the source of a copy has changed: a number that does when any of its stored objects
 * does, its document included. */
#include "copy/source_version.h"

#include <string.h>

#include "array/array.h"
#include "array/node_path.h"
#include "array/store_queries.h"
#include "array/walk.h"
#include "base/bytes.h"
#include "base/status.h"
#include "codec/crc32c.h"
#include "copy/task.h"
#include "copy/unit_share.h"
#include "copy/verbatim_check.h"

enum { SHARDS_BETWEEN_TICKS = 256 };

static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

static void add_version(int64_t sums[2], uint64_t name, const pp_reader *reader)
{
    uint64_t version = mix(mix(name) ^ reader->version ^ reader->bytes);
    sums[0] += (int64_t)(version & UINT32_MAX);
    sums[1] += (int64_t)(version >> 32);
}

static parapet_status add_version_of_shard(const pp_copy_task *task, int64_t shard, int64_t sums[2])
{
    pp_reader *reader = NULL;
    char *key = NULL;
    parapet_status status = pp_layout_key(pp_array_layout(task->source), pp_array_path(task->source), shard, &key);
    if (status == PARAPET_OK)
        status = pp_store_open_object(pp_store_backend(task->source_store), key, &reader);
    if (status == PARAPET_OK)
        add_version(sums, (uint64_t)shard + 1, reader);
    pp_reader_free(reader);
    pp_free(key);
    return pp_accept_absence(status);
}

/* Each rank looks at some of them. */
static parapet_status add_versions(const pp_copy_task *task, int64_t sums[2])
{
    pp_comm *comm = pp_copy_task_comm(task);
    int64_t shard = pp_comm_rank(comm), count = pp_array_layout(task->source)->tiling.shards.cell_count;
    const pp_copy_share share = {
        .rank = pp_comm_rank(comm), .rank_count = pp_comm_size(comm), .some = task->is_sparse ? &task->stored : NULL};
    parapet_status status = PARAPET_OK;
    for (; status == PARAPET_OK && pp_copy_share_next(&share, count, &shard); shard += share.rank_count) {
        status = add_version_of_shard(task, shard, sums);
        if (status == PARAPET_OK && shard / share.rank_count % SHARDS_BETWEEN_TICKS == SHARDS_BETWEEN_TICKS - 1)
            status = pp_copy_task_tick(task, 0);
    }
    return status;
}

/* ---- Of an array that is not decoded ---- */

typedef struct object_versions {
    const pp_copy_task *task;
    int64_t *sums;
} object_versions;

static parapet_status add_version_of_object(void *context, const char *below, uint64_t bytes)
{
    const object_versions *versions = context;
    const pp_copy_task *task = versions->task;
    pp_reader *reader = NULL;
    char *key = NULL;
    parapet_status status;
    (void)bytes;
    if (!pp_copy_is_object(task, below))
        return PARAPET_OK;
    if ((status = pp_path_join(pp_array_path(task->source), below, &key)) == PARAPET_OK &&
        (status = pp_store_open_object(pp_store_backend(task->source_store), key, &reader)) == PARAPET_OK)
        add_version(versions->sums, pp_crc32c(0, below, strlen(below)), reader);
    pp_reader_free(reader);
    pp_free(key);
    return status;
}

/* Rank 0 copies them, and looks at them. */
static parapet_status add_versions_of_objects(const pp_copy_task *task, int64_t sums[2])
{
    object_versions versions = {.task = task, .sums = sums};
    parapet_status status;
    if (!pp_copy_task_leads(task))
        return PARAPET_OK;
    status = pp_walk_objects(task->source_store, pp_array_path(task->source), add_version_of_object, &versions);
    return pp_accept_absence(status);
}

/* ---- The number ---- */

parapet_status pp_copy_task_version(pp_copy_task *task)
{
    int64_t sums[2] = {0, 0}; /* of halves: they neither overflow nor depend on how many ranks there are */
    uint64_t version;
    parapet_status status = task->is_verbatim ? add_versions_of_objects(task, sums) : add_versions(task, sums);
    status = pp_comm_agree_sums(pp_copy_task_comm(task), "looking at the source", status, sums, 2);
    version = mix((uint64_t)sums[0]) ^ (uint64_t)sums[1] ^ pp_load_u64le(pp_array_document_digest(task->source));
    task->source_version = (int64_t)(version >> 1);
    return status;
}
