/* inputs.c - what the planner of a copy is told beside the two layouts: lines that a copy leaves beside its target,
 * so that whoever takes it up makes the same plan again. What is read is not believed: every number has its bounds.
 */
#include "copy/inputs.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "array/array.h"
#include "base/checked.h"
#include "copy/problem.h"
#include "copy/task.h"

#define BILLION 1e9
#define MEASURED_MOST INT64_C(1000000000000000000)
#define RANKS_MOST (INT64_C(1) << 24)
#define THREADS_MOST 64
#define CORES_MOST (INT64_C(1) << 20)

typedef struct input {
    const char *name;
    size_t offset;
    int64_t least, most;
} input;

#define INPUT(name, least, most)                                                                                     \
    {                                                                                                                \
#name, offsetof(pp_copy_inputs, name), least, most                                                           \
    }

static const input inputs_known[] = {
    INPUT(ranks, 1, RANKS_MOST),
    INPUT(threads, 1, THREADS_MOST),
    INPUT(memory_bytes, 1, INT64_MAX),
    INPUT(unit_bytes, 1, INT64_MAX),
    INPUT(passes, 0, PP_RECHUNK_PASSES_MOST),
    INPUT(reading, 0, 2),
    INPUT(cooperation, 0, 2),
    INPUT(cores, 0, CORES_MOST),
    INPUT(read_rate, 0, MEASURED_MOST),
    INPUT(read_limit, 0, MEASURED_MOST),
    INPUT(write_rate, 0, MEASURED_MOST),
    INPUT(write_limit, 0, MEASURED_MOST),
    INPUT(copy_rate, 0, MEASURED_MOST),
    INPUT(exchange_rate, 0, MEASURED_MOST),
    INPUT(request_nanoseconds, 0, MEASURED_MOST),
    INPUT(run_nanoseconds, 0, MEASURED_MOST),
    INPUT(flush_nanoseconds, 0, MEASURED_MOST),
    INPUT(decode_rate, 0, MEASURED_MOST),
    INPUT(source_ratio, 0, MEASURED_MOST),
    INPUT(encode_rate, 0, MEASURED_MOST),
    INPUT(target_ratio, 0, MEASURED_MOST),
};
#define INPUT_COUNT (sizeof inputs_known / sizeof inputs_known[0])

/* ---- Whole numbers of what was measured ---- */

static int64_t whole(double value)
{
    if (!(value > 0))
        return 0;
    return value < (double)MEASURED_MOST ? (int64_t)value : MEASURED_MOST;
}

void pp_copy_inputs_measured(pp_copy_inputs *inputs, const pp_rechunk_problem *problem)
{
    const pp_rechunk_machine *machine = &problem->machine;
    inputs->cores = pp_min_i64(machine->cores, CORES_MOST);
    inputs->read_rate = whole(machine->read_rate);
    inputs->read_limit = whole(machine->read_limit);
    inputs->write_rate = whole(machine->write_rate);
    inputs->write_limit = whole(machine->write_limit);
    inputs->copy_rate = whole(machine->copy_rate);
    inputs->exchange_rate = whole(machine->exchange_rate);
    inputs->request_nanoseconds = whole(machine->request_seconds * BILLION);
    inputs->run_nanoseconds = whole(machine->run_seconds * BILLION);
    inputs->flush_nanoseconds = whole(machine->flush_seconds * BILLION);
    inputs->decode_rate = whole(problem->source.codec_rate);
    inputs->source_ratio = whole(problem->source.stored_ratio * BILLION);
    inputs->encode_rate = whole(problem->target.codec_rate);
    inputs->target_ratio = whole(problem->target.stored_ratio * BILLION);
}

static void tell_machine(const pp_copy_inputs *inputs, pp_rechunk_problem *problem)
{
    problem->machine = (pp_rechunk_machine){
        .read_rate = (double)inputs->read_rate,
        .read_limit = (double)inputs->read_limit,
        .write_rate = (double)inputs->write_rate,
        .write_limit = (double)inputs->write_limit,
        .copy_rate = (double)inputs->copy_rate,
        .exchange_rate = (double)inputs->exchange_rate,
        .request_seconds = (double)inputs->request_nanoseconds / BILLION,
        .run_seconds = (double)inputs->run_nanoseconds / BILLION,
        .flush_seconds = (double)inputs->flush_nanoseconds / BILLION,
        .cores = (int)inputs->cores,
    };
    problem->source.codec_rate = (double)inputs->decode_rate;
    problem->source.stored_ratio = (double)inputs->source_ratio / BILLION;
    problem->target.codec_rate = (double)inputs->encode_rate;
    problem->target.stored_ratio = (double)inputs->target_ratio / BILLION;
}

void pp_copy_inputs_problem(const pp_copy_inputs *inputs, const pp_copy_task *task, pp_rechunk_problem *problem)
{
    const pp_layout *source = pp_array_layout(task->source);
    const pp_copy_means means = {
        .memory_bytes = inputs->memory_bytes,
        .unit_bytes = inputs->unit_bytes,
        .cooperation_bytes = pp_copy_cooperation_bytes(source, (int)inputs->ranks),
        .threads = (int)inputs->threads,
        .ranks = (int)inputs->ranks,
        .is_source_sealed = pp_array_is_sealed(task->source),
        .passes = (int)inputs->passes,
        .reading = (parapet_reading)inputs->reading,
        .cooperation = (parapet_cooperation)inputs->cooperation,
    };
    pp_copy_problem_init(problem, source, pp_array_layout(task->target), &task->view, &means);
    tell_machine(inputs, problem);
}

parapet_status pp_copy_inputs_plan(const pp_copy_inputs *inputs, const pp_copy_task *task, pp_rechunk_plan *plan)
{
    pp_rechunk_problem problem;
    pp_copy_inputs_problem(inputs, task, &problem);
    return pp_rechunk_plan_build(&problem, plan);
}

/* ---- In lines ---- */

static int64_t *value_of(pp_copy_inputs *inputs, const input *known)
{
    return (int64_t *)((char *)inputs + known->offset);
}

void pp_copy_inputs_print(const pp_copy_inputs *inputs, pp_text *text)
{
    pp_copy_inputs told = *inputs;
    size_t i;
    for (i = 0; i < INPUT_COUNT; i++)
        pp_text_add(text, "%s: %" PRId64 "\n", inputs_known[i].name, *value_of(&told, &inputs_known[i]));
}

/* Digits as they are printed: at least one, and none that could be left out. */
static bool take_number(const char **text, int64_t *number)
{
    const char *digits = *text;
    *number = 0;
    if (*digits == '0' && digits[1] >= '0' && digits[1] <= '9')
        return false;
    for (; **text >= '0' && **text <= '9'; *text += 1)
        if (!pp_multiply_fits(*number, 10, number) || !pp_add_fits(*number, **text - '0', number))
            return false;
    return *text > digits;
}

static bool take_input(const char **lines, const input *known, int64_t *value)
{
    size_t name_bytes = strlen(known->name);
    if (strncmp(*lines, known->name, name_bytes) != 0 || strncmp(*lines + name_bytes, ": ", 2) != 0)
        return false;
    *lines += name_bytes + 2;
    if (!take_number(lines, value) || **lines != '\n' || *value < known->least || *value > known->most)
        return false;
    *lines += 1;
    return true;
}

bool pp_copy_inputs_parse(pp_copy_inputs *inputs, const char **lines)
{
    size_t i;
    for (i = 0; i < INPUT_COUNT; i++)
        if (!take_input(lines, &inputs_known[i], value_of(inputs, &inputs_known[i])))
            return false;
    return true;
}
