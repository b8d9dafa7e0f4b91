/* intent.h - notes of what a series is about to change; on rank 0 alone. */
#ifndef PARAPET_SERIES_INTENT_H
#define PARAPET_SERIES_INTENT_H

#include "store/store.h"

/* Notes that the arrays are about to get the steps that their handles have. */
parapet_status pp_series_intent_note(parapet_series *series, int64_t steps);

/* Removes the notes, when nothing that they describe is under way. */
parapet_status pp_series_intent_forget(parapet_series *series);

/* The notes of an earlier run. */
typedef struct pp_series_intents {
    pp_buffer memory;
    size_t record_bytes, count;
} pp_series_intents;

/* The arrays must be open. If there are no notes, count is 0. Clear it even after a failure. */
parapet_status pp_series_intents_load(pp_series_intents *intents, const parapet_series *series);

/* The same for a log of them that is open; intents is all zero. */
parapet_status pp_series_intents_take(pp_series_intents *intents, const parapet_series *series, pp_reader *log);
void pp_series_intents_clear(pp_series_intents *intents);

/* Whether the series was about to go from the committed steps to this number; steps < 0: to any number. */
bool pp_series_intents_lead_to(const pp_series_intents *intents, const parapet_series *series, int64_t steps);

/* Whether the document of an array whose steps differ from the committed ones is one that the series was about to
 * write or to replace. */
bool pp_series_intents_explain(const pp_series_intents *intents, const parapet_series *series, int index);

#endif
