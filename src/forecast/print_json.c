#include "forecast/print.h"

#include <inttypes.h>

static void add_list(const char *key, int count, const int64_t *values, pp_text *text)
{
    pp_text_add(text, "  ");
    pp_list_print_json(key, count, values, text);
    pp_text_add(text, ",\n");
}

static void add_integer(const char *key, int64_t value, pp_text *text)
{
    pp_text_add(text, "  \"%s\": %" PRId64 ",\n", key, value);
}

static void add_spread(const char *key, const pp_spread_of *spread, const char *end, pp_text *text)
{
    pp_text_add(text,
                "    \"%s\": {\"min\": %" PRId64 ", \"median\": %" PRId64 ", \"max\": %" PRId64
                ", \"total\": %" PRId64 "}%s\n",
                key, spread->least, spread->median, spread->most, spread->total, end);
}

/* Names of types, codecs and strategies are words of our own, in which nothing has to be escaped. */
static void add_heading(const pp_forecast_facts *facts, pp_text *text)
{
    const pp_grid *shards = &facts->by.tiling->shards, *chunks = &facts->by.tiling->chunks;
    pp_text_add(text, "{\n  \"direction\": \"%s\",\n  \"type\": \"%s\",\n", facts->is_read ? "read" : "write",
                facts->type_name);
    add_list("shape", shards->ndim, shards->shape, text);
    add_list("chunks", shards->ndim, chunks->cell_shape, text);
    add_list("shards", shards->ndim, shards->cell_shape, text);
    pp_text_add(text, "  \"codecs\": \"%s\",\n", facts->codecs);
    add_list("mesh", shards->ndim, facts->by.distribution->mesh, text);
    add_list("blocks", shards->ndim, facts->by.distribution->block, text);
    add_integer("ranks", facts->by.distribution->rank_count, text);
    add_integer("servers", facts->by.server_count, text);
    pp_text_add(text, "  \"owners\": \"%s\",\n", pp_forecast_owners_word(facts));
    pp_text_add(text, "  \"sharing\": \"%s\",\n", pp_forecast_sharing_word(facts));
    pp_text_add(text, "  \"self_service\": %s,\n", pp_schedule_is_self_service(facts->schedule) ? "true" : "false");
    add_integer("files", shards->cell_count, text);
    add_integer("window_chunks", facts->by.window_chunks, text);
    add_integer("data_message_bytes", (int64_t)facts->by.fragment_bytes, text);
    add_integer("memory_limit_bytes", facts->memory_bytes, text);
    add_integer("memory_server_bytes", facts->server_bytes, text);
    add_integer("memory_list_bytes", facts->list_bytes, text);
    add_integer("memory_client_bytes", facts->client_bytes, text);
}

static void add_reach(const pp_reach *reach, pp_text *text)
{
    int i;
    pp_text_add(text, "  \"speed\": %.0f,\n  \"reached\": %.6f,\n  \"reached_at_best\": %.6f,\n", reach->sum,
                reach->reached, reach->best);
    pp_text_add(text, "  \"server_loads\": [");
    for (i = 0; i < reach->server_count; i++) {
        const pp_server_load *load = &reach->loads[i];
        pp_text_add(text,
                    "%s\n    {\"speed\": %" PRId64 ", \"shards\": %" PRId64 ", \"bytes\": %" PRId64
                    ", \"seconds\": %.6f}",
                    i > 0 ? "," : "", load->speed, load->shards, load->bytes, load->seconds);
    }
    pp_text_add(text, "\n  ],\n");
}

void pp_forecast_print_summary_json(const pp_forecast_facts *facts, const pp_schedule_summary *summary, pp_text *text)
{
    double mean = (double)summary->server_bytes.total / (double)summary->servers;
    add_heading(facts, text);
    pp_text_add(text, "  \"balance\": %.6f,\n", mean > 0 ? (double)summary->server_bytes.most / mean : 1);
    pp_text_add(text, "  \"balance_at_best\": %.6f,\n", pp_forecast_best_balance(facts));
    if (facts->reach != NULL)
        add_reach(facts->reach, text);
    pp_text_add(text, "  \"per_server\": {\n");
    add_spread("shards", &summary->server_shards, ",", text);
    add_spread("bytes", &summary->server_bytes, ",", text);
    add_spread("own_bytes", &summary->server_own_bytes, ",", text);
    add_spread("message_bytes", &summary->server_message_bytes, ",", text);
    add_spread("requests", &summary->server_requests, ",", text);
    add_spread("data_messages", &summary->server_fragments, "", text);
    pp_text_add(text, "  },\n  \"per_rank\": {\n");
    add_spread("requests", &summary->rank_requests, ",", text);
    add_spread("data_messages", &summary->rank_fragments, ",", text);
    add_spread("message_bytes", &summary->rank_message_bytes, ",", text);
    add_spread("messages_sent", facts->is_read ? &summary->rank_sent_reading : &summary->rank_sent_writing, "", text);
    pp_text_add(text, "  }\n}\n");
}

static void add_share(const pp_share *others, const pp_share *own, pp_text *text)
{
    pp_text_add(text,
                "\"bytes\": %" PRId64 ", \"own_bytes\": %" PRId64 ", \"message_bytes\": %" PRId64
                ", \"requests\": %" PRId64 ", \"data_messages\": %" PRId64,
                others->bytes + own->bytes, own->bytes, others->bytes, others->requests, others->fragments);
}

parapet_status pp_forecast_print_server_json(const pp_forecast_facts *facts, int server, const pp_server_share *share,
                                             pp_text *text)
{
    const char *comma = "";
    parapet_status status;
    int64_t shard;
    add_heading(facts, text);
    add_integer("server", server, text);
    add_integer("rank", pp_schedule_server_rank(facts->schedule, server), text);
    pp_text_add(text, "  \"total\": {\"shards\": %" PRId64 ", ", share->shards);
    add_share(&share->others, &share->own, text);
    pp_text_add(text, "},\n  \"shard_list\": [");
    for (shard = 0; pp_schedule_next_shard(facts->schedule, server, &shard); shard++, comma = ",") {
        pp_shard_share of_shard;
        if ((status = pp_schedule_shard(facts->schedule, server, shard, &of_shard)) != PARAPET_OK)
            return status;
        pp_text_add(text, "%s\n    {\"shard\": %" PRId64 ", \"ranks\": %" PRId64 ", ", comma, shard, of_shard.ranks);
        add_share(&of_shard.others, &of_shard.own, text);
        pp_text_add(text, "}");
    }
    pp_text_add(text, "\n  ]\n}\n");
    return PARAPET_OK;
}
