/* print.h - a schedule in words for people, or as JSON for programs. Pure; depends on base, geometry and plan. */
#ifndef PARAPET_FORECAST_PRINT_H
#define PARAPET_FORECAST_PRINT_H

#include "base/shape_text.h"
#include "forecast/reach.h"

/* Everything that is printed about a plan and that the schedule itself does not know. */
typedef struct pp_forecast_facts {
    bool is_read;
    const char *type_name;
    const char *codecs;           /* in words */
    const parapet_spread *spread; /* NULL: BLOCK wherever the mesh has more than 1 */
    pp_schedule_case by;
    pp_schedule *schedule;
    const pp_reach *reach; /* what servers of given speeds reach; NULL: no speeds are given */
    int64_t memory_bytes;  /* the limit */
    int64_t server_bytes;  /* the largest amount of it that a server takes */
    int64_t list_bytes;    /* the part of that for claims and lists of shards */
    int64_t client_bytes;  /* what a rank takes that is not a server */
} pp_forecast_facts;

/* The words of the options that decide whose a shard is. */
const char *pp_forecast_owners_word(const pp_forecast_facts *facts);
const char *pp_forecast_sharing_word(const pp_forecast_facts *facts);

/* The least that the balance of these shards on these servers can be, whoever owns what: shards are whole. 1 where
 * every rank reads its parts itself. */
double pp_forecast_best_balance(const pp_forecast_facts *facts);

/* The summary of all servers and ranks. */
void pp_forecast_print_summary(const pp_forecast_facts *facts, const pp_schedule_summary *summary, pp_text *text);
void pp_forecast_print_summary_json(const pp_forecast_facts *facts, const pp_schedule_summary *summary,
                                    pp_text *text);

/* What one server does, shard by shard. */
parapet_status pp_forecast_print_server(const pp_forecast_facts *facts, int server, const pp_server_share *share,
                                        pp_text *text);
parapet_status pp_forecast_print_server_json(const pp_forecast_facts *facts, int server, const pp_server_share *share,
                                             pp_text *text);

#endif
