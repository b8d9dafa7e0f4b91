#include "base/ranks.h"

int pp_ranks_find(const int *ranks, int count, int rank)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (ranks[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && ranks[low] == rank ? low : -1;
}
