// Every struct of the public headers, started from {0}: its first member is an integer or a pointer. That none is
// forgotten here, check_structs.py knows.
#include <parapet_plan.h>

namespace
{
template <typename type> bool is_zero(const type &given)
{
    const unsigned char *bytes = reinterpret_cast<const unsigned char *>(&given);
    for (size_t i = 0; i < sizeof given; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}
} // namespace

bool are_all_zero();

bool are_all_zero()
{
    static const parapet_store_options store_options = {0};
    static const parapet_statistics statistics = {0};
    static const parapet_launch launch = {0};
    static const parapet_array_spec array_spec = {0};
    static const parapet_array_info array_info = {0};
    static const parapet_part part = {0};
    static const parapet_points points = {0};
    static const parapet_runs runs = {0};
    static const parapet_array_parts array_parts = {0};
    static const parapet_distribution distribution = {0};
    static const parapet_copy_changes copy_changes = {0};
    static const parapet_copy_request copy_request = {0};
    static const parapet_copy_result copy_result = {0};
    static const parapet_file_request file_request = {0};
    static const parapet_checkpoint_options checkpoint_options = {0};
    static const parapet_checkpoint_item checkpoint_item = {0};
    static const parapet_restore_info restore_info = {0};
    static const parapet_series_spec series_spec = {0};
    static const parapet_step step = {0};
    static const parapet_series_info series_info = {0};
    static const parapet_finding finding = {0};
    static const parapet_check_summary check_summary = {0};
    static const parapet_transfer_plan_request transfer_plan_request = {0};
    static const parapet_copy_plan_request copy_plan_request = {0};
    return is_zero(store_options) && is_zero(statistics) && is_zero(launch) && is_zero(array_spec) &&
           is_zero(array_info) && is_zero(part) && is_zero(points) && is_zero(runs) && is_zero(array_parts) &&
           is_zero(distribution) && is_zero(copy_changes) && is_zero(copy_request) && is_zero(copy_result) &&
           is_zero(file_request) && is_zero(checkpoint_options) && is_zero(checkpoint_item) &&
           is_zero(restore_info) && is_zero(series_spec) && is_zero(step) && is_zero(series_info) &&
           is_zero(finding) && is_zero(check_summary) && is_zero(transfer_plan_request) && is_zero(copy_plan_request);
}
