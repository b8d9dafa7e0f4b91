/* laid_out.h - an array document from a few words, and the layout that follows from it: for tests of transfers. */
#ifndef PARAPET_TESTS_LAID_OUT_H
#define PARAPET_TESTS_LAID_OUT_H

#include "transfer/context.h"

typedef struct laid_out {
    pp_array_document document;
    pp_layout layout;
} laid_out;

/* json is a zarr.json without what all arrays of these tests have in common. */
static inline void laid_out_init(laid_out *made, const char *json)
{
    pp_text text = {0};
    pp_json *parsed = NULL;
    pp_text_add(&text,
                "{\"zarr_format\":3,\"node_type\":\"array\",\"attributes\":{},"
                "\"chunk_key_encoding\":{\"name\":\"default\",\"configuration\":{\"separator\":\"/\"}},%s}",
                json);
    assert_ok(text.status);
    assert_ok(pp_json_parse(&parsed, text.data, text.bytes));
    assert_ok(pp_array_document_parse(&made->document, parsed));
    pp_json_free(parsed);
    pp_text_free(&text);
    assert_ok(pp_layout_init(&made->layout, &made->document, false));
}

static inline void laid_out_clear(laid_out *made)
{
    pp_layout_clear(&made->layout);
    pp_array_document_clear(&made->document);
}

#endif
