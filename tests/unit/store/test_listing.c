/* Children of a prefix: each is told once, sorted by name. A directory that changes while it is read may show a name
 * twice. */
#include "scratch.h"

#include "store/internal.h"

static parapet_status note(void *context, const pp_listed *listed)
{
    char *names = context;
    (void)snprintf(names + strlen(names), 64, "%s%s ", listed->name, listed->is_prefix ? "/" : "");
    return strcmp(listed->name, "stop") == 0 ? PARAPET_ERR_CANCELLED : PARAPET_OK;
}

static void add(pp_listing *listing, const char *name, bool is_prefix)
{
    assert_ok(pp_listing_add(listing, name, is_prefix, 0));
}

static void test_listing__tells_each_child_once_in_order(void **state)
{
    pp_listing listing = {0};
    char names[256] = "";
    (void)state;
    add(&listing, "b", false);
    add(&listing, "a", true);
    add(&listing, "b", false);
    add(&listing, "a", false); /* an object and a prefix are two children */
    add(&listing, "b", false);
    assert_ok(pp_listing_tell(&listing, note, names));
    assert_string_equal(names, "a a/ b ");
    pp_listing_free(&listing);
}

static void test_listing__ends_when_the_visitor_wants(void **state)
{
    pp_listing listing = {0};
    char names[256] = "";
    (void)state;
    assert_ok(pp_listing_tell(&listing, note, names));
    add(&listing, "then", false);
    add(&listing, "stop", false);
    assert_int_equal(pp_listing_tell(&listing, note, names), PARAPET_ERR_CANCELLED);
    assert_string_equal(names, "stop ");
    pp_listing_free(&listing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listing__tells_each_child_once_in_order),
        cmocka_unit_test(test_listing__ends_when_the_visitor_wants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
