/* Requests. */
#include "shim.h"

parapet_buffering shim_buffering(int copies)
{
    return copies ? PARAPET_BUFFERING_COPY : PARAPET_BUFFERING_BORROW;
}

parapet_status parapet_fortran_request_test(parapet_request *request, int *is_done)
{
    shim_begin();
    return parapet_request_test(request, is_done);
}

parapet_status parapet_fortran_request_wait(parapet_request **request)
{
    shim_begin();
    return parapet_request_wait(request);
}
