/* part_read.h - parts are read. */
#ifndef PARAPET_ARRAY_PART_READ_H
#define PARAPET_ARRAY_PART_READ_H

#include "array/batch.h"

/* [collective] The whole of a call that has its arrays, its team and its turn; clears the batch. */
parapet_status pp_batch_read(pp_batch *all);

#endif
