/* json_scan.h - texts are looked at before json-c sees them. Not for other modules. */
#ifndef PARAPET_ZARR_JSON_SCAN_H
#define PARAPET_ZARR_JSON_SCAN_H

#include <parapet_status.h>

/* Refuses text that is not JSON, is nested too deeply, has too many values for memory, repeats a key or has an
 * integer beyond 64 bits. */
parapet_status pp_json_scan(const char *text, size_t bytes);

/* A place in a text; empty: nowhere. */
typedef struct pp_json_span {
    size_t start, end;
} pp_json_span;

/* The same for a document with a member of that name, an object that nobody will look into: its keys are not compared
 * and its values are not counted. Tells where it is. */
parapet_status pp_json_scan_except(const char *text, size_t bytes, const char *member, pp_json_span *span);

#endif
