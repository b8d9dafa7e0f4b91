#include "plan/surplus.h"

int64_t pp_surplus_to_give(const pp_surplus *surplus)
{
    double giver = surplus->giver_speed > 0 ? surplus->giver_speed : surplus->thief_speed;
    double taker = surplus->thief_speed > 0 ? surplus->thief_speed : giver;
    double all = (double)surplus->left + surplus->open, share = giver > 0 ? taker / (giver + taker) : 0.5;
    double even = all * share;
    int64_t count = even < (double)surplus->left ? (int64_t)even : surplus->left;
    /* Less than one: the taker needs longer for it than for its share, but perhaps not as long as the giver for all.
     */
    if (count == 0 && surplus->left > 0 && all * share > 1 - share)
        return 1;
    return count;
}
