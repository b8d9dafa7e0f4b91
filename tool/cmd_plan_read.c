#include "plan_transfer.h"
#include "verbs.h"

static int run(const tool_request *request)
{
    return plan_transfer_run(request, true);
}

const tool_verb verb_plan_read = {
    .name = "plan read",
    .operands = "",
    .summary = "Shows what every server and rank would do to read an array.",
    .details = "Needs neither MPI nor storage, and transfers nothing. Example:\n"
               "  parapet plan read --shape 4096,4096,4096 --ranks 512 --servers 32 \\\n"
               "      --svg plan.svg\n",
    .exit_codes = "0 planned, 1 cannot be planned, 2 wrong usage.",
    .flags = plan_transfer_flags,
    .values = plan_transfer_values,
    .run = run,
};
