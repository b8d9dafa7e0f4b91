/* seal_schedule.h - who makes which pages of the seals of many arrays.
 *
 * All pages of all arrays form one line, in which each page has the weight of its records and of a file. The line is
 * divided into batches of pages of about equal weight, which are dealt to the servers in turn, one to each in a
 * round. So all servers have work, whether there are many small arrays or one large one, and none holds more than two
 * pages' worth of records. */
#ifndef PARAPET_ARRAY_SEAL_SCHEDULE_H
#define PARAPET_ARRAY_SEAL_SCHEDULE_H

#include <parapet_types.h>
#include <stdbool.h>

typedef struct pp_seal_schedule {
    parapet_array *const *arrays;
    int count;
    int64_t batch_weight;
} pp_seal_schedule;

/* One page of the line. */
typedef struct pp_seal_page {
    int array;
    int64_t page, first_shard;
    uint32_t record_count;
    int64_t batch;
} pp_seal_page;

/* A place in the line. */
typedef struct pp_seal_place {
    int array;
    int64_t page;
    int64_t weight; /* of all pages before */
} pp_seal_place;

/* At least one array, all of one store. Refusals are the same on all ranks, because they know the same. */
parapet_status pp_seal_schedule_init(pp_seal_schedule *line, parapet_array *const *arrays, int count);

/* How many shards a page of an array has, and how many pages its seal. */
int64_t pp_seal_page_shards(const parapet_array *array);
int64_t pp_seal_page_count(const parapet_array *array);

/* Takes the next page off the line; false: it has ended. Arrays that are sealed have no pages. */
bool pp_seal_schedule_next(const pp_seal_schedule *line, pp_seal_place *place, pp_seal_page *page);

/* The same, but not of a later round. */
bool pp_seal_schedule_next_until(const pp_seal_schedule *line, int64_t round, pp_seal_place *place,
                                 pp_seal_page *page);

/* The round of the page that comes next. */
int64_t pp_seal_schedule_round(const pp_seal_schedule *line, const pp_seal_place *place);

/* The rank that makes a page. */
int pp_seal_schedule_owner(const pp_seal_schedule *line, const pp_seal_page *page);

#endif
