#include "codec/libraries.h"

#include <blosc.h>
#include <lz4.h>
#include <zlib.h>
#include <zstd.h>

#include "codec/crc32c.h"

void pp_codec_print_libraries(pp_text *text)
{
    pp_text_add(text, "zstd %s\n", ZSTD_versionString());
    pp_text_add(text, "zlib %s\n", zlibVersion());
    pp_text_add(text, "blosc %s (%s)\n", blosc_get_version_string(), blosc_list_compressors());
    pp_text_add(text, "lz4 %s\n", LZ4_versionString());
    pp_text_add(text, "crc32c %s\n", pp_crc32c_name());
}
