#include "forecast/print.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/checked.h"
#include "base/choice.h"

/* Shards that are shown one by one to people. */
#define LINES_MOST 1000
/* Servers whose loads are shown one by one. */
#define LOADS_MOST 64

static double bytes_of_cell(const pp_forecast_facts *facts, const pp_grid *grid)
{
    return (double)pp_grid_cell_elements(grid) * (double)facts->by.tiling->element_bytes;
}

static double bytes_of_array(const pp_forecast_facts *facts)
{
    double bytes = (double)facts->by.tiling->element_bytes;
    int d;
    for (d = 0; d < facts->by.tiling->shards.ndim; d++)
        bytes *= (double)facts->by.tiling->shards.shape[d];
    return bytes;
}

/* "block", "cyclic:4" or "*". */
static void format_spread(const pp_forecast_facts *facts, int d, char text[32])
{
    const pp_distribution *distribution = facts->by.distribution;
    parapet_spread spread = distribution->mesh[d] > 1 ? PARAPET_BLOCK : PARAPET_WHOLE;
    if (facts->spread != NULL)
        spread = facts->spread[d];
    if (spread == PARAPET_CYCLIC)
        (void)snprintf(text, 32, "cyclic:%" PRId64, distribution->block[d]);
    else
        (void)snprintf(text, 32, "%s", spread == PARAPET_BLOCK ? "block" : "*");
}

static void print_ranks(const pp_forecast_facts *facts, pp_text *text)
{
    const pp_distribution *distribution = facts->by.distribution;
    char spread[32];
    int d;
    pp_text_add(text, "  ranks     %" PRId64, distribution->rank_count);
    if (distribution->ndim > 0) {
        pp_text_add(text, " as ");
        pp_shape_print(distribution->ndim, distribution->mesh, text);
        pp_text_add(text, ", spread ");
    }
    for (d = 0; d < distribution->ndim; d++) {
        format_spread(facts, d, spread);
        pp_text_add(text, "%s%s", d > 0 ? ", " : "", spread);
    }
    pp_text_add(text, "\n");
}

const char *pp_forecast_owners_word(const pp_forecast_facts *facts)
{
    return pp_choice_word_of(&pp_choice_owners, (int)facts->by.owners)->word;
}

const char *pp_forecast_sharing_word(const pp_forecast_facts *facts)
{
    return pp_choice_word_of(&pp_choice_sharing, (int)facts->by.sharing)->word;
}

static void print_servers(const pp_forecast_facts *facts, pp_text *text)
{
    int64_t ranks = facts->by.distribution->rank_count;
    int servers = facts->by.server_count;
    pp_text_add(text, "  servers   %d", servers);
    if (servers == ranks)
        pp_text_add(text, ", every rank");
    else if (servers == 1)
        pp_text_add(text, ", rank 0");
    else if (ranks % servers == 0)
        pp_text_add(text, ", one in %" PRId64 " ranks", ranks / servers);
    else
        pp_text_add(text, ", spread evenly over the ranks");
    pp_text_add(text, "; owners %s, sharing %s\n", pp_forecast_owners_word(facts), pp_forecast_sharing_word(facts));
}

static bool is_self_service(const pp_forecast_facts *facts)
{
    return pp_schedule_is_self_service(facts->schedule);
}

static void print_messages(const pp_forecast_facts *facts, pp_text *text)
{
    if (is_self_service(facts)) {
        pp_text_add(text, "  messages  none: every rank reads its parts itself\n\n");
        return;
    }
    pp_text_add(text, "  messages  one request for %s%d chunk%s, data in up to ",
                facts->by.window_chunks == 1 ? "" : "up to ", facts->by.window_chunks,
                facts->by.window_chunks == 1 ? "" : "s");
    pp_bytes_print((double)facts->by.fragment_bytes, text);
    pp_text_add(text, "\n\n");
}

static void print_heading(const pp_forecast_facts *facts, pp_text *text)
{
    const pp_grid *shards = &facts->by.tiling->shards, *chunks = &facts->by.tiling->chunks;
    pp_text_add(text, "%s of %s, ", facts->is_read ? "read" : "write", facts->type_name);
    pp_shape_print(shards->ndim, shards->shape, text);
    pp_text_add(text, ", ");
    pp_bytes_print(bytes_of_array(facts), text);
    pp_text_add(text, "\n  chunks    ");
    pp_shape_print(chunks->ndim, chunks->cell_shape, text);
    pp_text_add(text, ", ");
    pp_bytes_print(bytes_of_cell(facts, chunks), text);
    pp_text_add(text, " each, %" PRId64 " to a shard; codecs %s\n  shards    ", chunks->cell_count, facts->codecs);
    pp_shape_print(shards->ndim, shards->cell_shape, text);
    pp_text_add(text, ", ");
    pp_bytes_print(bytes_of_cell(facts, shards), text);
    pp_text_add(text, " each before compression; %" PRId64 " file%s\n", shards->cell_count,
                shards->cell_count == 1 ? "" : "s");
    print_ranks(facts, text);
    print_servers(facts, text);
    print_messages(facts, text);
}

static void print_row(const char *name, const pp_spread_of *spread, bool is_bytes, pp_text *text)
{
    const int64_t values[4] = {spread->least, spread->median, spread->most, spread->total};
    char words[32];
    int i;
    pp_text_add(text, "    %-30s", name);
    for (i = 0; i < 4; i++) {
        if (is_bytes)
            pp_bytes_format((double)values[i], words);
        else
            (void)snprintf(words, sizeof words, "%" PRId64, values[i]);
        pp_text_add(text, " %10s", words);
    }
    pp_text_add(text, "\n");
}

static void print_memory(const pp_forecast_facts *facts, pp_text *text)
{
    pp_text_add(text, "  memory    at most ");
    pp_bytes_print((double)facts->server_bytes, text);
    pp_text_add(text, " of ");
    pp_bytes_print((double)facts->memory_bytes, text);
    pp_text_add(text, " on a server, ");
    pp_bytes_print((double)facts->list_bytes, text);
    pp_text_add(text, " of it for lists;\n            ");
    pp_bytes_print((double)facts->client_bytes, text);
    pp_text_add(text, " on any other rank\n");
}

/* Most bytes of a server over the mean; 1 where there are none. */
static double balance_of(const pp_schedule_summary *summary)
{
    double mean = (double)summary->server_bytes.total / (double)summary->servers;
    return mean > 0 ? (double)summary->server_bytes.most / mean : 1;
}

/* Some server has as many of the shards that are not cut off at an edge as an even division leaves it, rounded up,
 * and some server has the largest shard. */
double pp_forecast_best_balance(const pp_forecast_facts *facts)
{
    const pp_grid *shards = &facts->by.tiling->shards;
    double mean = bytes_of_array(facts) / facts->by.server_count, shard = (double)facts->by.tiling->element_bytes;
    int64_t whole = 1, least;
    int d;
    if (is_self_service(facts))
        return 1;
    for (d = 0; d < shards->ndim; d++) {
        whole *= pp_max_i64(shards->shape[d] / shards->cell_shape[d], 1);
        shard *= (double)pp_min_i64(shards->shape[d], shards->cell_shape[d]);
    }
    least = pp_max_i64(pp_divide_up(whole, facts->by.server_count), 1);
    return mean > 0 && (double)least * shard > mean ? (double)least * shard / mean : 1;
}

static const pp_spread_of *sent_of(const pp_forecast_facts *facts, const pp_schedule_summary *summary)
{
    return facts->is_read ? &summary->rank_sent_reading : &summary->rank_sent_writing;
}

/* How even it is on servers that are equally fast. */
static void print_balance(const pp_forecast_facts *facts, const pp_schedule_summary *summary, pp_text *text)
{
    pp_text_add(text, "\n  balance   %.3f: most bytes of a server over the mean\n", balance_of(summary));
    if (!is_self_service(facts))
        pp_text_add(text, "  at best   %.3f: no owners could do better, because shards are whole\n",
                    pp_forecast_best_balance(facts));
}

/* What is said of a fraction of the speeds. */
static const char *words_of_reached(const pp_forecast_facts *facts)
{
    return facts->by.sharing == PARAPET_SHARING_STEALING
               ? "of that at first: servers without work take shards of others"
               : "of that: all wait for the server that is done last";
}

/* Who gets what, where servers are not equally fast. */
static void print_reach(const pp_forecast_facts *facts, pp_text *text)
{
    const pp_reach *reach = facts->reach;
    char bytes[32];
    int i;
    pp_text_add(text, "\n  %8s %10s %14s %8s %11s %10s\n", "server", "rank", "speed", "shards", "bytes", "done in");
    for (i = 0; i < reach->server_count && i < LOADS_MOST; i++) {
        const pp_server_load *load = &reach->loads[i];
        pp_bytes_format((double)load->bytes, bytes);
        pp_text_add(text, "  %8d %10" PRId64 " %9.1f MB/s %8" PRId64 " %11s %8.2f s\n", i,
                    pp_schedule_server_rank(facts->schedule, i), (double)load->speed / 1e6, load->shards, bytes,
                    load->seconds);
    }
    if (i < reach->server_count)
        pp_text_add(text, "  and %d more\n", reach->server_count - i);
    pp_text_add(text, "\n  speed     %.1f MB/s of all servers together\n", reach->sum / 1e6);
    pp_text_add(text, "  reached   %.3f %s\n", reach->reached, words_of_reached(facts));
    if (!is_self_service(facts))
        pp_text_add(text, "  at best   %.3f of that: no owners could do better, because shards are whole\n",
                    reach->best);
}

void pp_forecast_print_summary(const pp_forecast_facts *facts, const pp_schedule_summary *summary, pp_text *text)
{
    const char *request = facts->is_read ? "offers" : "requests";
    char name[64];
    print_heading(facts, text);
    pp_text_add(text, "  %-32s %10s %10s %10s %10s\n", "each server", "min", "median", "max", "total");
    print_row("shards, each a file", &summary->server_shards, false, text);
    print_row("bytes before compression", &summary->server_bytes, true, text);
    print_row("  of its own rank, no message", &summary->server_own_bytes, true, text);
    print_row(facts->is_read ? "  sent to other ranks" : "  received from other ranks",
              &summary->server_message_bytes, true, text);
    (void)snprintf(name, sizeof name, "%s to other ranks", request);
    print_row(name, &summary->server_requests, false, text);
    print_row(facts->is_read ? "data messages sent" : "data messages received", &summary->server_fragments, false,
              text);
    pp_text_add(text, "  each rank\n");
    (void)snprintf(name, sizeof name, "%s from other ranks", request);
    print_row(name, &summary->rank_requests, false, text);
    print_row(facts->is_read ? "data messages received" : "data messages sent", &summary->rank_fragments, false,
              text);
    print_row(facts->is_read ? "bytes received" : "bytes sent", &summary->rank_message_bytes, true, text);
    print_row("messages sent, of every sort", sent_of(facts, summary), false, text);
    if (facts->reach != NULL)
        print_reach(facts, text);
    else
        print_balance(facts, summary, text);
    print_memory(facts, text);
}

static void print_shard_line(const pp_forecast_facts *facts, int64_t shard, const pp_shard_share *share,
                             pp_text *text)
{
    char others[32], own[32];
    pp_text where = {0};
    pp_box box;
    pp_tiling_shard_box(facts->by.tiling, shard, &box);
    pp_box_print(&box, &where);
    pp_bytes_format((double)share->others.bytes, others);
    pp_bytes_format((double)share->own.bytes, own);
    pp_text_add(text, "  %8" PRId64 " %6" PRId64 " %8" PRId64 " %8" PRId64 " %11s %10s  %s\n", shard, share->ranks,
                share->others.requests, share->others.fragments, others, own, where.data != NULL ? where.data : "");
    if (where.status != PARAPET_OK)
        text->status = where.status;
    pp_text_free(&where);
}

static void print_server_totals(const pp_forecast_facts *facts, int server, const pp_server_share *share,
                                pp_text *text)
{
    print_heading(facts, text);
    pp_text_add(text, "  server %d on rank %" PRId64 " %s %" PRId64 " shard%s, ", server,
                pp_schedule_server_rank(facts->schedule, server), is_self_service(facts) ? "reads from" : "owns",
                share->shards, share->shards == 1 ? "" : "s");
    pp_bytes_print((double)(share->others.bytes + share->own.bytes), text);
    pp_text_add(text, ": ");
    pp_bytes_print((double)share->own.bytes, text);
    pp_text_add(text, " of its own rank, ");
    pp_bytes_print((double)share->others.bytes, text);
    pp_text_add(text, " %s other ranks in %" PRId64 " data messages for %" PRId64 " %s\n",
                facts->is_read ? "to" : "from", share->others.fragments, share->others.requests,
                facts->is_read ? "offers" : "requests");
    print_memory(facts, text);
    pp_text_add(text, "\n  %8s %6s %8s %8s %11s %10s  %s\n", "shard", "ranks", facts->is_read ? "offers" : "requests",
                "data", facts->is_read ? "to others" : "from others", "own", "box");
}

parapet_status pp_forecast_print_server(const pp_forecast_facts *facts, int server, const pp_server_share *share,
                                        pp_text *text)
{
    int64_t shard, lines = 0;
    parapet_status status;
    print_server_totals(facts, server, share, text);
    for (shard = 0; lines < LINES_MOST && pp_schedule_next_shard(facts->schedule, server, &shard); shard++, lines++) {
        pp_shard_share of_shard;
        if ((status = pp_schedule_shard(facts->schedule, server, shard, &of_shard)) != PARAPET_OK)
            return status;
        print_shard_line(facts, shard, &of_shard, text);
    }
    if (share->shards > lines)
        pp_text_add(text, "  and %" PRId64 " more, which the sums above include\n", share->shards - lines);
    return PARAPET_OK;
}
