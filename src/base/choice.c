#include "base/choice.h"

#include <parapet_arrays.h>
#include <parapet_store.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

const pp_choice pp_choice_io_thread = {
    "io_thread",
    {[PARAPET_IO_THREAD_CHOOSE] = {"choose", NULL, "as the library chooses"},
     [PARAPET_IO_THREAD_OWN] = {"own", NULL, "storage calls run on a separate thread"},
     [PARAPET_IO_THREAD_NONE] = {"none", NULL, "no threads"}},
};
const pp_choice pp_choice_direct_io = {
    "direct_io",
    {[PARAPET_DIRECT_IO_CHOOSE] = {"choose", NULL, "large writes, and large reads that are not in the page cache"},
     [PARAPET_DIRECT_IO_ALWAYS] = {"always", NULL, "always tried"},
     [PARAPET_DIRECT_IO_NEVER] = {"never", NULL, "never tried"}},
};
const pp_choice pp_choice_durability = {
    "durability",
    {[PARAPET_DURABILITY_CHOOSE] = {"choose", NULL, "as the library chooses"},
     [PARAPET_DURABILITY_FLUSH] = {"flush", NULL, "flushed to the device before a call returns"},
     [PARAPET_DURABILITY_LEAVE] = {"leave", NULL, "left to the system"}},
};
const pp_choice pp_choice_owners = {
    "owners",
    {[PARAPET_OWNERS_CHOOSE] = {"choose", NULL, "as the library chooses"},
     [PARAPET_OWNERS_NEAREST] = {"nearest", NULL, "the server that holds most of a shard owns it"},
     [PARAPET_OWNERS_IN_TURN] = {"in_turn", NULL, "the servers take turns"}},
};
const pp_choice pp_choice_sharing = {
    "sharing",
    {[PARAPET_SHARING_CHOOSE] = {"choose", NULL, "as the library chooses"},
     [PARAPET_SHARING_EQUAL] = {"equal", NULL, "servers have equal shares"},
     [PARAPET_SHARING_WEIGHTS] = {"weights", NULL, "servers that were faster in earlier calls have more"},
     [PARAPET_SHARING_STEALING] = {"stealing", NULL, "servers that have nothing left take shards of others"}},
};
const pp_choice pp_choice_transport = {
    "transport",
    {[PARAPET_TRANSPORT_CHOOSE] = {"choose", NULL, "as the library chooses"},
     [PARAPET_TRANSPORT_DIRECT] = {"direct", NULL,
                                   "ranks on a node copy from each other's memory where that is allowed"},
     [PARAPET_TRANSPORT_MESSAGES] = {"messages", NULL, "messages only"}},
};
const pp_choice pp_choice_reading = {
    "reading",
    {[PARAPET_READING_CHOOSE] = {"choose", NULL, "as the library chooses"},
     [PARAPET_READING_CHUNKS] = {"chunks", NULL, "whole chunks"},
     [PARAPET_READING_RUNS] = {"runs", NULL, "runs of chunks that are stored as they are"}},
};
const pp_choice pp_choice_cooperation = {
    "cooperation",
    {[PARAPET_COOPERATION_CHOOSE] = {"choose", NULL, "as the library chooses"},
     [PARAPET_COOPERATION_ALONE] = {"alone", NULL, "every rank reads for itself"},
     [PARAPET_COOPERATION_TOGETHER] = {"together", NULL, "all ranks read together"}},
};
const pp_choice pp_choice_locks = {
    "locks",
    {[PARAPET_LOCKS_CHOOSE] = {"choose", NULL, "as the file system allows"},
     [PARAPET_LOCKS_TRUSTED] = {"trusted", NULL, "as told"},
     [PARAPET_LOCKS_RECORD] = {"record", NULL, "as told"}},
};
const pp_choice pp_choice_holes = {
    "holes",
    {[PARAPET_HOLES_CHOOSE] = {"choose", NULL, "read where that takes less time than another request"},
     [PARAPET_HOLES_READ] = {"read", NULL, "always read with what is wanted"},
     [PARAPET_HOLES_SKIP] = {"skip", NULL, "never read, except of less than 512 bytes (1024 in requests of 8 MiB)"}},
};
const pp_choice pp_choice_boolean = {NULL, {{"no", "false", NULL}, {"yes", "true", NULL}}};

static const pp_choice *const named_choices[] = {
    &pp_choice_io_thread, &pp_choice_direct_io, &pp_choice_durability,  &pp_choice_owners, &pp_choice_sharing,
    &pp_choice_transport, &pp_choice_reading,   &pp_choice_cooperation, &pp_choice_locks,  &pp_choice_holes,
};

enum { NAMED_COUNT = sizeof named_choices / sizeof named_choices[0] };

static bool is_called(const pp_choice_word *word, int value, const char *text)
{
    char number[16];
    (void)snprintf(number, sizeof number, "%d", value);
    return strcmp(text, word->word) == 0 || strcmp(text, number) == 0 ||
           (word->synonym != NULL && strcmp(text, word->synonym) == 0);
}

const pp_choice_word *pp_choice_word_of(const pp_choice *choice, int value)
{
    bool is_value = value >= 0 && value < PP_CHOICE_VALUES && choice->words[value].word != NULL;
    return is_value ? &choice->words[value] : NULL;
}

bool pp_choice_parse(const pp_choice *choice, const char *text, int *value)
{
    const pp_choice_word *word;
    int i;
    for (i = 0; (word = pp_choice_word_of(choice, i)) != NULL; i++)
        if (is_called(word, i, text)) {
            *value = i;
            return true;
        }
    return false;
}

void pp_choice_list(const pp_choice *choice, char list[PP_CHOICE_LIST_BYTES])
{
    const pp_choice_word *word;
    size_t used = 0;
    int i;
    for (i = 0; (word = pp_choice_word_of(choice, i)) != NULL; i++) {
        const char *joint = i == 0 ? "" : pp_choice_word_of(choice, i + 1) != NULL ? ", " : " or ";
        (void)snprintf(list + used, PP_CHOICE_LIST_BYTES - used, "%s%s (%s%s%d)", joint, word->word,
                       word->synonym != NULL ? word->synonym : "", word->synonym != NULL ? ", " : "", i);
        used += strlen(list + used);
    }
}

parapet_status pp_choice_check(const pp_choice *choice, const char *name, int value)
{
    char list[PP_CHOICE_LIST_BYTES];
    if (pp_choice_word_of(choice, value) != NULL)
        return PARAPET_OK;
    pp_choice_list(choice, list);
    return pp_fail(PARAPET_ERR_ARGUMENT, "%s is %d, but must be %s", name, value, list);
}

parapet_status pp_boolean_check(const char *name, int value)
{
    return pp_choice_check(&pp_choice_boolean, name, value);
}

const char *parapet_option_words(const char *name)
{
    static _Thread_local char list[PP_CHOICE_LIST_BYTES];
    size_t i;
    for (i = 0; name != NULL && i < NAMED_COUNT; i++)
        if (strcmp(named_choices[i]->name, name) == 0) {
            pp_choice_list(named_choices[i], list);
            return list;
        }
    return NULL;
}
