/* strategy.h - what the strategies for a copy have in common. There is one strategy per file, all of the same shape:
 *
 *     single_pass.c   one pass: the best template and order, for whole chunks or for runs
 *     cooperate.c     one pass in which all ranks read together
 *     passes.c        several passes with intermediate layouts between them
 *
 * plan.c has the table of strategies and takes the best result. */
#ifndef PARAPET_RECHUNK_STRATEGY_H
#define PARAPET_RECHUNK_STRATEGY_H

#include "rechunk/rechunk.h"

/* What to search for, and how hard. */
typedef struct pp_rechunk_aim {
    const pp_rechunk_problem *problem;
    int64_t limit_bytes;
    bool seeks_least; /* search for the smallest memory, however long the copy takes; limit_bytes is ignored */
    int64_t effort;   /* about how many passes one search may consider */
    int64_t *spent;   /* by all searches so far */
} pp_rechunk_aim;

/* The passes that a strategy proposes, from the source of the problem to its target. */
typedef struct pp_rechunk_route {
    int pass_count;
    pp_rechunk_pass passes[PP_RECHUNK_PASSES_MOST];
} pp_rechunk_route;

/* Fills route; false: nothing fits, or the strategy does not apply to this problem. */
typedef bool (*pp_rechunk_propose)(const pp_rechunk_aim *aim, int parts, pp_rechunk_route *route);

typedef struct pp_rechunk_strategy {
    const char *name;
    int pass_count;
    bool is_frugal; /* also used to search for the smallest memory */
    pp_rechunk_propose propose;
} pp_rechunk_strategy;

bool pp_rechunk_propose_chunks(const pp_rechunk_aim *aim, int parts, pp_rechunk_route *route);
bool pp_rechunk_propose_runs(const pp_rechunk_aim *aim, int parts, pp_rechunk_route *route);
bool pp_rechunk_propose_cooperative(const pp_rechunk_aim *aim, int parts, pp_rechunk_route *route);
bool pp_rechunk_propose_means(const pp_rechunk_aim *aim, int parts, pp_rechunk_route *route);
bool pp_rechunk_propose_rounded(const pp_rechunk_aim *aim, int parts, pp_rechunk_route *route);
bool pp_rechunk_propose_shaped(const pp_rechunk_aim *aim, int parts, pp_rechunk_route *route);
bool pp_rechunk_propose_small(const pp_rechunk_aim *aim, int parts, pp_rechunk_route *route);

/* One pass to be found: from where to where. */
typedef struct pp_rechunk_ends {
    pp_rechunk_side source, target;
    bool is_between; /* the target is an intermediate: its shards follow the template */
} pp_rechunk_ends;

/* The best template, order and so on of one pass, in which every rank reads alone, in whole chunks or in runs; or in
 * which all ranks read together. False: nothing fits. */
bool pp_rechunk_search_alone(const pp_rechunk_aim *aim, const pp_rechunk_ends *ends, bool reads_runs,
                             pp_rechunk_pass *pass);
bool pp_rechunk_search_cooperative(const pp_rechunk_aim *aim, const pp_rechunk_ends *ends, pp_rechunk_pass *pass);

/* The best of these that the problem allows. */
bool pp_rechunk_search_any(const pp_rechunk_aim *aim, const pp_rechunk_ends *ends, pp_rechunk_pass *pass);

/* Computes the counts, memory and time of a pass whose sides, template, order and so on are set. False: it does not
 * fit. With seeks_least everything fits. */
bool pp_rechunk_weigh(const pp_rechunk_aim *aim, pp_rechunk_pass *pass);

/* Whether pass is to be preferred: less time, then fewer bytes, less memory, fewer templates, a template earlier in
 * C order, an order earlier in C order; with seeks_least, memory comes first. */
bool pp_rechunk_pass_is_better(const pp_rechunk_aim *aim, const pp_rechunk_pass *pass, const pp_rechunk_pass *than);

#define PP_RECHUNK_EXTENTS_MOST 128

/* The extents that a template may have along one dimension, ascending: all of them if there are few, else the
 * promising ones. */
typedef struct pp_rechunk_extents {
    int count;
    int64_t extent[PP_RECHUNK_EXTENTS_MOST];
} pp_rechunk_extents;

/* For dimension d, in which the array has this many elements; most: how many count as few. */
void pp_rechunk_extents_init(pp_rechunk_extents *extents, const pp_rechunk_ends *ends, int d, int64_t shape,
                             int most);

/* The search for a template. It is the same for ranks that read alone and for ranks that read together; the two
 * differ in what else there is to choose. */
typedef struct pp_rechunk_search {
    const pp_rechunk_aim *aim;
    const pp_rechunk_ends *ends;
    bool (*weigh)(struct pp_rechunk_search *search); /* trial's template in all variants; whether one may fit */
    const void *variants;
    int64_t variant_count; /* about */
    pp_rechunk_extents extents[PARAPET_MAX_NDIM];
    pp_rechunk_pass trial, best;
    bool has_best;
    int64_t spent; /* of the effort */
} pp_rechunk_search;

/* Considers templates with search->weigh until effort is spent; with seeks_least, only the smallest template. */
bool pp_rechunk_search_run(pp_rechunk_search *search);

/* Fits the shard of an intermediate to trial's template. */
void pp_rechunk_search_set_shard(pp_rechunk_search *search);

/* Considers trial as it is and keeps it if it is the best. False: it does not fit; a variant that would be slow is
 * not examined. */
bool pp_rechunk_search_try(pp_rechunk_search *search);

#endif
