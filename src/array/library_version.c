#include <pthread.h>

#include "codec/libraries.h"
#include "comm/comm.h"

static char *version_text;
static pthread_once_t version_once = PTHREAD_ONCE_INIT;

static void print_version(void)
{
    pp_text text = {0};
    pp_text_add(&text, "parapet %d.%d.%d\n", PARAPET_VERSION_MAJOR, PARAPET_VERSION_MINOR, PARAPET_VERSION_PATCH);
    pp_comm_print_library(&text);
    pp_text_add(&text, "\n");
    pp_codec_print_libraries(&text);
    (void)pp_text_finish(&text, &version_text);
}

const char *parapet_version(void)
{
    (void)pthread_once(&version_once, print_version);
    return version_text != NULL ? version_text : "parapet";
}

int parapet_version_number(void)
{
    return PARAPET_VERSION_NUMBER;
}
