/* read_planned.h - reads within memory that the caller has planned. */
#ifndef PARAPET_TRANSFER_READ_PLANNED_H
#define PARAPET_TRANSFER_READ_PLANNED_H

#include "transfer/memory_plan.h"
#include "transfer/transfer.h"

/* [local] One rank reads the parts of one array, whatever others do. */
parapet_status pp_transfer_read_planned(const pp_transfer_array *array, const pp_memory_plan *plan);

#endif
