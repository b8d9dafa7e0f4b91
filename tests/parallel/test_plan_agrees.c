/* What parapet_transfer_plan_print predicts, with no MPI, against what the same transfer does on real ranks: the
 * number of messages and their bytes exactly, peak memory between 0.7 and 1.0 of what was predicted. (Of a compressed
 * array that is read only the 1.0: how small it is, nobody knows before. Nor does the plan know where
 * no thread for storage is started: in memory, if ranks share processors, and for reading if they crowd on them.)
 *
 * A rank's statistics count what it sends. Writing, that is its data as client and its requests as server; reading,
 * its offers and data as server and its grants as client. */
#include <inttypes.h>
#include <parapet_plan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "launch.h"

enum { NDIM = 3, RANKS_MOST = 64 };

#define LEAST_USE 0.7

typedef struct plan_case {
    const char *name;
    int64_t shape[NDIM], chunks[NDIM], shards[NDIM];
    const char *codec;
    int64_t servers;
    parapet_owners owners;
    parapet_sharing sharing;
    int64_t memory_bytes;
    int64_t cyclic[NDIM]; /* blocks; 0: BLOCK */
    bool is_unsharded;
    bool is_uneven; /* the server with most shards need not have the whole ones: only the bound is checked */
} plan_case;

static const plan_case cases[] = {
    {"aligned", {128, 128, 128}, {16, 16, 16}, {64, 64, 64}, "none", 8, 2, 1, 0, {0}, false, false},
    {"misaligned", {120, 131, 101}, {16, 16, 16}, {64, 64, 64}, "none", 8, 2, 1, 0, {0}, false, true},
    {"misaligned, nearest", {120, 131, 101}, {16, 16, 16}, {64, 64, 64}, "none", 8, 1, 1, 0, {0}, false, true},
    {"misaligned, stealing", {120, 131, 101}, {16, 16, 16}, {64, 64, 64}, "none", 8, 1, 3, 0, {0}, false, true},
    {"compressed", {120, 131, 101}, {16, 16, 16}, {32, 64, 64}, "zstd:1", 5, 2, 1, 0, {0}, false, false},
    {"cyclic", {64, 60, 62}, {16, 16, 16}, {32, 32, 32}, "none", 8, 2, 1, 0, {5, 7, 9}, false, false},
    {"little memory", {128, 128, 128}, {16, 16, 16}, {64, 64, 64}, "none", 8, 2, 1, 2 << 20, {0}, false, false},
    {"crowded windows", {32, 32, 32}, {16, 16, 16}, {32, 32, 32}, "none", 8, 2, 1, 1 << 20, {4, 4, 4}, false, false},
    {"unsharded", {128, 128, 96}, {32, 32, 32}, {0}, "none", 8, 2, 1, 0, {0}, true, false},
    {"self-service", {128, 128, 128}, {32, 64, 64}, {64, 128, 128}, "none", 16, 1, 1, 0, {0}, false, true},
};

typedef struct spread {
    int64_t least, median, most, total;
} spread;

static launch run;
static int64_t mesh[NDIM];

/* ---- The plan ---- */

static parapet_array_spec spec_of(const plan_case *of)
{
    return (parapet_array_spec){
        .type = PARAPET_FLOAT64,
        .ndim = NDIM,
        .shape = of->shape,
        .chunks = of->chunks,
        .shards = of->is_unsharded ? NULL : of->shards,
        .unsharded = of->is_unsharded,
        .codec = of->codec,
    };
}

static parapet_distribution distribution_of(const plan_case *of)
{
    static const parapet_spread cyclic[NDIM] = {PARAPET_CYCLIC, PARAPET_CYCLIC, PARAPET_CYCLIC};
    bool is_cyclic = of->cyclic[0] > 0;
    return (parapet_distribution){.ndim = NDIM,
                                  .shape = of->shape,
                                  .mesh = mesh,
                                  .spread = is_cyclic ? cyclic : NULL,
                                  .block = is_cyclic ? of->cyclic : NULL};
}

/* The plan as JSON; of one server, or of all with -1. */
static char *print_plan(const plan_case *of, bool is_read, int64_t server)
{
    parapet_transfer_plan_request request = {.is_read = is_read,
                                             .spec = spec_of(of),
                                             .distribution = distribution_of(of),
                                             .servers = of->servers,
                                             .memory_bytes = of->memory_bytes,
                                             .owners = of->owners,
                                             .sharing = of->sharing,
                                             .server = server,
                                             .as_json = 1};
    char *text = NULL;
    launch_expect(&run, parapet_transfer_plan_print(&request, &text, NULL) == PARAPET_OK, "a plan");
    return text;
}

/* The number behind a key, the first one behind another. */
static int64_t number_in(const char *text, const char *behind, const char *key)
{
    char quoted[64];
    const char *found = text != NULL && behind != NULL ? strstr(text, behind) : text;
    (void)snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    found = found != NULL ? strstr(found, quoted) : NULL;
    launch_expect(&run, found != NULL, quoted);
    return found != NULL ? strtoll(found + strlen(quoted), NULL, 10) : -1;
}

static spread spread_in(const char *text, const char *section, const char *key)
{
    char quoted[64];
    const char *found = text != NULL ? strstr(text, section) : NULL;
    (void)snprintf(quoted, sizeof quoted, "\"%s\": {", key);
    found = found != NULL ? strstr(found, quoted) : NULL;
    return (spread){number_in(found, NULL, "min"), number_in(found, NULL, "median"), number_in(found, NULL, "max"),
                    number_in(found, NULL, "total")};
}

/* ---- The run ---- */

typedef struct own_parts {
    int count;
    int64_t (*boxes)[2 * NDIM];
    parapet_part *parts;
} own_parts;

static size_t elements_of(const parapet_part *part)
{
    return (size_t)(part->count[0] * part->count[1] * part->count[2]);
}

static double value_at(const parapet_part *part, size_t element)
{
    int64_t k = (int64_t)element % part->count[2], j = (int64_t)element / part->count[2] % part->count[1];
    int64_t i = (int64_t)element / part->count[2] / part->count[1];
    return (double)(((part->start[0] + i) * 1000 + part->start[1] + j) * 1000 + part->start[2] + k);
}

static void make_parts(own_parts *made, const plan_case *of)
{
    parapet_distribution by = distribution_of(of);
    int64_t count = 0, i;
    size_t e;
    launch_expect(&run, parapet_distribution_count(&by, run.rank, &count) == PARAPET_OK, "a distribution");
    made->count = (int)count;
    made->boxes = calloc((size_t)count + 1, sizeof made->boxes[0]);
    made->parts = calloc((size_t)count + 1, sizeof made->parts[0]);
    for (i = 0; i < count; i++) {
        int64_t *box = made->boxes[i];
        double *data;
        launch_expect(&run, parapet_distribution_box(&by, run.rank, i, box, box + NDIM) == PARAPET_OK, "a box");
        made->parts[i] = (parapet_part){.ndim = NDIM, .start = box, .count = box + NDIM};
        made->parts[i].data = data = malloc(elements_of(&made->parts[i]) * sizeof data[0] + 1);
        for (e = 0; e < elements_of(&made->parts[i]); e++)
            data[e] = value_at(&made->parts[i], e);
    }
}

static void spoil(const own_parts *of)
{
    int i;
    for (i = 0; i < of->count; i++)
        memset(of->parts[i].data, 0xff, elements_of(&of->parts[i]) * sizeof(double));
}

static bool holds(const own_parts *of)
{
    size_t e;
    int i;
    for (i = 0; i < of->count; i++)
        for (e = 0; e < elements_of(&of->parts[i]); e++)
            if (((double *)of->parts[i].data)[e] != value_at(&of->parts[i], e))
                return false;
    return true;
}

static void clear_parts(own_parts *made)
{
    int i;
    for (i = 0; i < made->count; i++)
        free(made->parts[i].data);
    free(made->parts);
    free(made->boxes);
}

/* ---- The comparison ---- */

/* What every rank knows of all of them. */
typedef struct figures {
    int64_t sent[RANKS_MOST], bytes[RANKS_MOST], shards[RANKS_MOST], peak[RANKS_MOST], planned[RANKS_MOST];
} figures;

static void collect(figures *all, parapet_store *store)
{
    parapet_statistics own;
    memset(all, 0, sizeof *all);
    launch_expect(&run, parapet_store_get_statistics(store, &own) == PARAPET_OK, "statistics");
    all->sent[run.rank] = own.messages_sent;
    all->bytes[run.rank] = own.message_bytes;
    all->shards[run.rank] = own.shards_owned;
    all->peak[run.rank] = own.memory_peak_bytes;
    all->planned[run.rank] = own.memory_planned_bytes;
    launch_expect(&run, own.direct_bytes == 0, "messages only");
    launch_expect(&run, own.shards_owned == 0 || own.memory_peak_bytes <= own.memory_planned_bytes,
                  "no more memory than the run itself has planned");
    launch_sum((int64_t *)all, sizeof *all / sizeof(int64_t));
}

static int compare_numbers(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static spread spread_of(const int64_t *numbers)
{
    int64_t sorted[RANKS_MOST];
    spread of = {0};
    int i;
    memcpy(sorted, numbers, (size_t)run.ranks * sizeof sorted[0]);
    qsort(sorted, (size_t)run.ranks, sizeof sorted[0], compare_numbers);
    for (i = 0; i < run.ranks; i++)
        of.total += sorted[i];
    of.least = sorted[0];
    of.median = sorted[(run.ranks - 1) / 2];
    of.most = sorted[run.ranks - 1];
    return of;
}

static void compare_spread(const char *what, spread planned, spread seen)
{
    char text[256];
    (void)snprintf(text, sizeof text,
                   "%s planned %" PRId64 " %" PRId64 " %" PRId64 " sum %" PRId64 ", seen %" PRId64 " %" PRId64
                   " %" PRId64 " sum %" PRId64,
                   what, planned.least, planned.median, planned.most, planned.total, seen.least, seen.median,
                   seen.most, seen.total);
    launch_expect(&run, memcmp(&planned, &seen, sizeof seen) == 0, text);
}

/* Server by server: how many shards, and when reading also the bytes it sends. */
static void compare_servers(const plan_case *of, bool is_read, const figures *seen)
{
    int64_t server, others = 0, i;
    for (i = 0; i < run.ranks; i++)
        others += seen->shards[i];
    for (server = 0; server < of->servers; server++) {
        char *plan = print_plan(of, is_read, server), text[128];
        int64_t rank = number_in(plan, NULL, "rank"), shards = number_in(plan, "\"total\"", "shards");
        int64_t bytes = number_in(plan, "\"total\"", "message_bytes");
        parapet_free(plan);
        if (rank < 0 || rank >= run.ranks)
            return;
        (void)snprintf(text, sizeof text, "server %" PRId64 " on rank %" PRId64 ": %" PRId64 " shards, not %" PRId64,
                       server, rank, shards, seen->shards[rank]);
        launch_expect(&run, shards == seen->shards[rank], text);
        others -= shards;
        (void)snprintf(text, sizeof text, "server %" PRId64 ": %" PRId64 " bytes, not %" PRId64, server, bytes,
                       seen->bytes[rank]);
        launch_expect(&run, !is_read || bytes == seen->bytes[rank], text);
    }
    launch_expect(&run, others == 0, "only servers own shards");
}

/* Blocks of 16 ranks are the chunks of that case, and every rank is a server. */
static bool reads_itself(const plan_case *of, bool is_read)
{
    return is_read && run.ranks == 16 && strcmp(of->name, "self-service") == 0;
}

static void compare_messages(const plan_case *of, bool is_read, const char *plan, const figures *seen)
{
    bool has_messages = run.ranks > 1 && !reads_itself(of, is_read);
    launch_expect(&run, (strstr(plan, "\"self_service\": true") != NULL) == reads_itself(of, is_read),
                  "a plan that says whether ranks read their parts themselves");
    compare_spread("messages", spread_in(plan, "\"per_rank\"", "messages_sent"), spread_of(seen->sent));
    if (!is_read)
        compare_spread("bytes", spread_in(plan, "\"per_rank\"", "message_bytes"), spread_of(seen->bytes));
    launch_expect(&run,
                  spread_in(plan, "\"per_server\"", "message_bytes").total == spread_of(seen->bytes).total &&
                      (spread_of(seen->bytes).total > 0) == has_messages,
                  "bytes of all messages together");
    compare_servers(of, is_read, seen);
}

/* Where servers take shards from each other, only memory is known beforehand. */
static void compare(const plan_case *of, bool is_read, const figures *seen)
{
    char *plan, text[128];
    spread sent, peak = spread_of(seen->peak), planned = spread_of(seen->planned);
    bool is_crowded = is_read && run.ranks / 4 >= get_nprocs();
    bool is_less =
        of->is_uneven || (is_read && strcmp(of->codec, "none") != 0) || launch_is_in_memory(&run) || is_crowded;
    double least_use = is_less ? 0 : LEAST_USE;
    int64_t predicted;
    if (run.rank != 0)
        return;
    plan = print_plan(of, is_read, -1);
    sent = spread_in(plan, "\"per_rank\"", "messages_sent");
    predicted = number_in(plan, NULL, "memory_server_bytes");
    if (of->sharing != PARAPET_SHARING_STEALING)
        compare_messages(of, is_read, plan, seen);
    (void)snprintf(text, sizeof text, "peak memory %" PRId64 " within %.1f to 1.0 of the predicted %" PRId64,
                   peak.most, least_use, predicted);
    launch_expect(&run, peak.most <= predicted && (double)peak.most >= least_use * (double)predicted, text);
    printf("%-22s %-5s %6" PRId64 " messages, %9" PRId64 " bytes; memory %8" PRId64 " of %8" PRId64
           " predicted (%.2f), %8" PRId64 " planned by the run\n",
           of->name, is_read ? "read" : "write", sent.total, spread_of(seen->bytes).total, peak.most, predicted,
           (double)peak.most / (double)predicted, planned.most);
    parapet_free(plan);
}

static void run_transfer(const plan_case *of, const char *path, bool is_read, const own_parts *own)
{
    parapet_store_options options = {.memory_bytes = of->memory_bytes,
                                     .servers = of->servers,
                                     .owners = of->owners,
                                     .sharing = of->sharing,
                                     .transport = PARAPET_TRANSPORT_MESSAGES,
                                     .durability = PARAPET_DURABILITY_LEAVE};
    parapet_mode mode = is_read ? PARAPET_READ : PARAPET_CREATE;
    parapet_array_spec spec = spec_of(of);
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    figures seen;
    bool is_done;
    if (!LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, path, mode, &options)))
        return;
    if (is_read) {
        spoil(own);
        is_done = LAUNCH_OK(&run, parapet_array_open(&array, store, "a")) &&
                  LAUNCH_OK(&run, parapet_array_read(array, own->parts, own->count));
        launch_expect(&run, holds(own), "what was written");
    } else {
        is_done = LAUNCH_OK(&run, parapet_array_create(&array, store, "a", &spec)) &&
                  LAUNCH_OK(&run, parapet_array_write(array, own->parts, own->count));
    }
    collect(&seen, store);
    if (is_done)
        compare(of, is_read, &seen);
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
}

static void run_case(const plan_case *of, uint64_t number)
{
    own_parts own;
    char path[600];
    launch_case_begin(&run, number);
    (void)snprintf(path, sizeof path, "%s/plan-%d", run.folder, (int)number);
    make_parts(&own, of);
    run_transfer(of, path, false, &own);
    run_transfer(of, path, true, &own);
    clear_parts(&own);
    (void)launch_case_end(&run, of->name);
}

int main(int argc, char **argv)
{
    size_t i, count = sizeof cases / sizeof cases[0];
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    mesh[1] = mesh[2] = run.ranks % 64 == 0 ? 4 : run.ranks % 4 == 0 ? 2 : 1;
    mesh[0] = run.ranks / mesh[1] / mesh[2];
    if (run.ranks > RANKS_MOST)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (i = 0; i < count; i++)
        run_case(&cases[i], i);
    return launch_finish(&run);
}
