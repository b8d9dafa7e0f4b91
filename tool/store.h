/* store.h - the store that an operand names. */
#ifndef PARAPET_TOOL_STORE_H
#define PARAPET_TOOL_STORE_H

#include "place.h"

/* Opens the store that an operand names; NULL: it failed, or is not a store, and that is reported. */
parapet_store *store_open(const tool_request *request, const char *url, parapet_mode mode);

/* What keeps other jobs out of the store: "trusted (ext4)", "owner records (nfs, nolock)". Free with free(). */
char *text_of_locks(parapet_store *store);

/* Opens the outermost store around a node that is to be changed, so that groups around it learn of the change; place
 * tells the path of the node in it. NULL: it failed, already reported. */
parapet_store *store_open_around(tool_place *place, const tool_request *request, const char *node);

#endif
