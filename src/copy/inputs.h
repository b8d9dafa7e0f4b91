/* inputs.h - what the planner is told besides the two layouts, and the plan that follows from it. */
#ifndef PARAPET_COPY_INPUTS_H
#define PARAPET_COPY_INPUTS_H

#include "rechunk/rechunk.h"

struct pp_copy_task;

/* Everything that the planner is told besides the two layouts, in whole numbers, so that writing it down and reading
 * it again gives the same plan. */
typedef struct pp_copy_inputs {
    int64_t ranks, threads, memory_bytes, unit_bytes;
    int64_t passes, reading, cooperation; /* as in parapet_copy_request */
    /* Measured; 0: not known. Rates are bytes per second, ratios billionths. */
    int64_t cores, read_rate, read_limit, write_rate, write_limit, copy_rate, exchange_rate;
    int64_t request_nanoseconds, run_nanoseconds, flush_nanoseconds;
    int64_t decode_rate, source_ratio, encode_rate, target_ratio;
} pp_copy_inputs;

/* Takes over what was measured for this problem. */
void pp_copy_inputs_measured(pp_copy_inputs *inputs, const pp_rechunk_problem *problem);

/* The problem that results from them and the layouts of the task, and its plan. */
void pp_copy_inputs_problem(const pp_copy_inputs *inputs, const struct pp_copy_task *task,
                            pp_rechunk_problem *problem);
parapet_status pp_copy_inputs_plan(const pp_copy_inputs *inputs, const struct pp_copy_task *task,
                                   pp_rechunk_plan *plan);

/* Lines "name: number". Parsing takes them from the front of the text; false: there is another line, or an impossible
 * number. */
void pp_copy_inputs_print(const pp_copy_inputs *inputs, pp_text *text);
bool pp_copy_inputs_parse(pp_copy_inputs *inputs, const char **lines);

#endif
