/* weights.h - the weights of servers, from how fast their storage is: whole numbers from 1 to 8, so that small
 * differences change nothing, and owners stay where they are.
 *
 * Pure. Depends on base. 8 stands for the fastest server. A weight holds for the speeds that are nearest to it, and
 * for those up to 7 % beyond: between going up and coming down again there are 15 %. */
#ifndef PARAPET_PLAN_WEIGHTS_H
#define PARAPET_PLAN_WEIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#define PP_WEIGHT_MOST 8

/* The largest speed that counts, in bytes per second; larger ones count as this one. */
#define PP_SPEED_MOST (INT64_C(1) << 48)

/* The weight of a server of this speed, if the fastest has that one; both are at least 1. */
int pp_weight_nearest(int64_t speed, int64_t fastest);

/* Whether a server of this weight may keep it. */
bool pp_weight_holds(int weight, int64_t speed, int64_t fastest);

/* Renews the weights of servers. A speed of 0 is not known, and taken to be what it was. *fastest is that of the last
 * time, 0 if this is the first; it becomes the one that 8 stands for from now on. true: some weight is another one.
 */
bool pp_weights_renew(int *weights, const int64_t *speeds, int count, int64_t *fastest);

#endif
