/* print.h - a schedule in words for people, or as JSON for programs. Pure; depends on base and geometry. */
#ifndef PARAPET_PLAN_PRINT_H
#define PARAPET_PLAN_PRINT_H

#include "plan/schedule.h"

/* All that is said about a plan, besides what the schedule itself knows. */
typedef struct pp_plan_facts {
    bool is_read;
    const char *type_name;
    const char *codecs;           /* in words */
    const char *ownership;        /* name of the strategy */
    const parapet_spread *spread; /* NULL: BLOCK wherever the mesh has more than 1 */
    pp_schedule_case by;
    pp_schedule *schedule;
    int64_t memory_bytes; /* the limit */
    int64_t server_bytes; /* the most that a server takes of it */
    int64_t list_bytes;   /* of these: claims and lists of shards */
    int64_t client_bytes; /* what a rank takes that is no server */
} pp_plan_facts;

/* The summary of all servers and ranks. */
void pp_plan_print_summary(const pp_plan_facts *facts, const pp_schedule_summary *summary, pp_text *text);
void pp_plan_print_summary_json(const pp_plan_facts *facts, const pp_schedule_summary *summary, pp_text *text);

/* What one server does, shard by shard. */
parapet_status pp_plan_print_server(const pp_plan_facts *facts, int server, const pp_server_share *share,
                                    pp_text *text);
parapet_status pp_plan_print_server_json(const pp_plan_facts *facts, int server, const pp_server_share *share,
                                         pp_text *text);

/* "64 x 64 x 32", or "one element"; "1 MiB" or "1.5 MiB", never more than four digits. */
void pp_plan_print_shape(int ndim, const int64_t *shape, pp_text *text);
void pp_plan_print_bytes(double bytes, pp_text *text);
void pp_plan_format_bytes(double bytes, char text[32]);

/* "key": [1, 2, 3], without anything around it. */
void pp_plan_print_json_list(const char *key, int count, const int64_t *values, pp_text *text);

#endif
