/* part_write.h - parts are written. */
#ifndef PARAPET_ARRAY_PART_WRITE_H
#define PARAPET_ARRAY_PART_WRITE_H

#include "array/batch.h"

parapet_status pp_batch_write(pp_batch *all);

#endif
