/* What ranks tell each other of a group: whoever adopts it knows the same. */
#include "support.h"

#include "array/group_handle.h"
#include "array/state.h"
#include "stored.h"

static void copy_state(const parapet_group *from, parapet_group *to)
{
    pp_text bytes = {0};
    pp_cursor cursor;
    assert_ok(pp_group_state_print(from, &bytes));
    assert_ok(bytes.status);
    cursor = (pp_cursor){.data = (const unsigned char *)bytes.data, .left = bytes.bytes};
    assert_ok(pp_group_state_adopt(to, &cursor));
    pp_text_free(&bytes);
}

static void test_state__of_a_group_is_the_same_on_all_ranks(void **state)
{
    static const char *const titles[2] = {"\"old\"", "\"new\""};
    parapet_group *groups[2], *root;
    parapet_store *store;
    char *json;
    int i;
    (void)state;
    stored_open(&store, NULL);
    stored_put_text(store, "old/.zgroup", "{\"zarr_format\":2}");
    stored_put_text(store, "old/.zattrs", "{\"title\":\"old\"}");
    assert_ok(parapet_group_create(&groups[1], store, "new", "{\"title\":\"new\"}"));
    assert_ok(parapet_group_open(&groups[0], store, "old"));
    groups[1]->is_broken = true;
    for (i = 0; i < 2; i++) {
        assert_ok(parapet_group_open(&root, store, ""));
        copy_state(groups[i], root);
        assert_ok(parapet_group_attribute_get(root, "title", &json));
        assert_string_equal(json, titles[i]);
        assert_int_equal(root->document.zarr_format, i == 0 ? 2 : 3);
        assert_int_equal(root->is_broken, i);
        parapet_free(json);
        assert_ok(parapet_group_close(&root));
        assert_ok(parapet_group_close(&groups[i]));
    }
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state__of_a_group_is_the_same_on_all_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
