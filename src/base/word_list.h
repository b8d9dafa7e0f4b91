/* word_list.h - a growing list of texts, each with a number, whose memory comes from a budget. */
#ifndef PARAPET_BASE_WORD_LIST_H
#define PARAPET_BASE_WORD_LIST_H

#include "base/cursor.h"
#include "base/list.h"

typedef struct pp_word_list {
    pp_list rows;
    pp_list letters; /* of all texts, one behind the other */
} pp_word_list;

void pp_word_list_init(pp_word_list *list, pp_budget *budget, const char *purpose);
void pp_word_list_clear(pp_word_list *list);

size_t pp_word_list_count(const pp_word_list *list);
const char *pp_word_list_text(const pp_word_list *list, size_t index); /* stays there until one is added */
int pp_word_list_number(const pp_word_list *list, size_t index);
void pp_word_list_set_number(pp_word_list *list, size_t index, int number);

/* After a failure the list is as it was. */
parapet_status pp_word_list_add(pp_word_list *list, const char *text, int number);
void pp_word_list_drop_last(pp_word_list *list);

/* For other ranks, which begin with an empty one. */
void pp_word_list_print(const pp_word_list *list, pp_text *bytes);
parapet_status pp_word_list_adopt(pp_word_list *list, pp_cursor *bytes);

#endif
