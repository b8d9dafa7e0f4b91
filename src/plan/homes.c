#include "plan/homes.h"

#include <string.h>

#include "base/checked.h"

static const pp_homes_choice *find_choice(const pp_homes *homes, int ndim, const int64_t *cells, int turn_count)
{
    int i;
    for (i = 0; i < PP_HOMES_REMEMBERED; i++) {
        const pp_homes_choice *choice = &homes->choices[i];
        if (choice->ndim == ndim && choice->turn_count == turn_count &&
            memcmp(choice->cells, cells, (size_t)ndim * sizeof choice->cells[0]) == 0)
            return choice;
    }
    return NULL;
}

static void remember(pp_homes *homes, int ndim, const int64_t *cells, int turn_count, const pp_lattice *lattice)
{
    pp_homes_choice *choice = &homes->choices[homes->next];
    homes->next = (homes->next + 1) % PP_HOMES_REMEMBERED;
    *choice = (pp_homes_choice){.ndim = ndim, .turn_count = turn_count, .lattice = *lattice};
    memcpy(choice->cells, cells, (size_t)ndim * sizeof choice->cells[0]);
}

parapet_status pp_homes_choose(pp_homes *homes, const pp_grid *shards, int turn_count, pp_lattice *lattice)
{
    const pp_homes_choice *choice = find_choice(homes, shards->ndim, shards->cells, turn_count);
    parapet_status status;
    if (choice != NULL) {
        *lattice = choice->lattice;
    } else {
        if ((status = pp_lattice_choose(lattice, shards->ndim, shards->cells, turn_count)) != PARAPET_OK)
            return status;
        remember(homes, shards->ndim, shards->cells, turn_count, lattice);
    }
    lattice->phase = homes->phase;
    if (!pp_add_fits(homes->phase, shards->cell_count, &homes->phase))
        homes->phase = 0;
    return PARAPET_OK;
}

void pp_homes_forget(pp_homes *homes, int64_t shard_count)
{
    homes->phase = pp_max_i64(homes->phase - shard_count, 0);
}

parapet_status pp_homes_choose_weighted(pp_homes *homes, int ndim, const int64_t *cells, const pp_turns *turns,
                                        pp_lattice *lattice)
{
    const pp_homes_choice *choice = find_choice(homes, ndim, cells, turns->count);
    int64_t phase = lattice->phase;
    parapet_status status = PARAPET_OK;
    if (choice != NULL)
        *lattice = choice->lattice;
    else if ((status = pp_lattice_choose_weighted(lattice, ndim, cells, turns)) == PARAPET_OK)
        remember(homes, ndim, cells, turns->count, lattice);
    lattice->phase = phase;
    return status;
}
