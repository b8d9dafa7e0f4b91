/* record.c - the text of an owner record: see record.h. */
#include "store/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"

/* The last second of the year 9999. */
#define LATEST INT64_C(253402300799)

#define HEX "0123456789abcdef"

parapet_status pp_record_init(pp_record *record)
{
    *record = (pp_record){.since = pp_clock_wall_ns() / PP_SECOND_NS};
    pp_process_self(&record->process);
    return pp_random_id(record->id);
}

void pp_record_print(const pp_record *record, char text[PP_RECORD_BYTES])
{
    const pp_process *process = &record->process;
    (void)snprintf(text, PP_RECORD_BYTES,
                   "parapet owner 1\nid %s\nprocess %" PRId64 " %" PRIu64 " on %s\nboot %s %" PRIu64 " %" PRIu64
                   "\nsince %" PRId64 "\n",
                   record->id, process->number, process->start, process->host, process->boot, process->spaces[0],
                   process->spaces[1], record->since);
}

static bool has_only(const char *word, const char *characters)
{
    return word[strspn(word, characters)] == '\0';
}

/* Printed again it must be the same text: so nothing is read into it, and nothing left out. */
bool pp_record_parse(pp_record *record, const char *text)
{
    pp_process *process = &record->process;
    char again[PP_RECORD_BYTES];
    *record = (pp_record){0};
    if (sscanf(text,
               "parapet owner 1\nid %16[0-9a-f]\nprocess %19" SCNd64 " %20" SCNu64 " on %64s\nboot %36s %20" SCNu64
               " %20" SCNu64 "\nsince %19" SCNd64 "\n",
               record->id, &process->number, &process->start, process->host, process->boot, &process->spaces[0],
               &process->spaces[1], &record->since) != 8)
        return false;
    if (strlen(record->id) != PP_RECORD_ID_BYTES - 1 || !has_only(process->host, PP_HOST_CHARACTERS "?") ||
        !has_only(process->boot, HEX "-?") || process->number <= 0 || process->number > INT32_MAX ||
        record->since < 0 || record->since > LATEST)
        return false;
    pp_record_print(record, again);
    return strcmp(text, again) == 0;
}

void pp_record_name(const pp_record *record, char name[PP_LOCK_HOLDER_BYTES])
{
    char when[PP_CLOCK_TEXT_BYTES];
    pp_clock_print(record->since, when);
    (void)snprintf(name, PP_LOCK_HOLDER_BYTES, "process %" PRId64 " on %s since %s", record->process.number,
                   record->process.host, when);
}
