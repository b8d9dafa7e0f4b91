#include "changes.h"
#include "arguments.h"
#include "report.h"

void changes_init(parapet_copy_changes *changes, const tool_request *request)
{
    *changes = (parapet_copy_changes){
        .chunks = request_value(request, "chunks"),
        .shards = request_value(request, "shards"),
        .order = request_value(request, "order"),
        .region = request_value(request, "region"),
        .codec = request_value(request, "codec"),
        .no_checksum = (request->flags & TOOL_NO_CHECKSUM) != 0,
    };
}

bool reading_parse(const tool_request *request, parapet_reading *reading)
{
    const char *text = request_value(request, "reading");
    parapet_copy_request copy = {.reading = *reading};
    if (text != NULL && parapet_copy_request_set(&copy, "reading", text) != PARAPET_OK) {
        report_failure("--reading");
        return false;
    }
    *reading = copy.reading;
    return true;
}
