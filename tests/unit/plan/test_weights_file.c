/* Files that say how fast servers are: what is accepted, and that anything else is refused in one sentence. */
#include "support.h"

#include "plan/weights_file.h"

static const char sound[] = "parapet weights 1\n"
                            "servers 3\n"
                            "server 0 writing 512000000 reading 730000000\n"
                            "server 1 writing 256000000 reading 365000000\n"
                            "server 2 writing 1 reading 281474976710656\n"
                            "end\n";

static parapet_status parse(const char *text, size_t bytes)
{
    pp_given_speeds speeds;
    parapet_status status = pp_weights_file_parse(&speeds, text, bytes);
    pp_given_speeds_clear(&speeds);
    return status;
}

static void test_weights_file__a_sound_one_gives_the_speeds_of_both_directions(void **state)
{
    pp_given_speeds speeds;
    (void)state;
    assert_ok(pp_weights_file_parse(&speeds, sound, strlen(sound)));
    assert_int_equal(speeds.server_count, 3);
    assert_int_equal(speeds.writing[0], 512000000);
    assert_int_equal(speeds.reading[1], 365000000);
    assert_int_equal(speeds.writing[2], 1);
    assert_int_equal(speeds.reading[2], PP_SPEED_MOST);
    pp_given_speeds_clear(&speeds);
}

static void test_weights_file__for_another_number_of_servers_is_refused(void **state)
{
    pp_given_speeds speeds;
    (void)state;
    assert_ok(pp_weights_file_parse(&speeds, sound, strlen(sound)));
    assert_ok(pp_given_speeds_check(&speeds, 3));
    assert_fails(pp_given_speeds_check(&speeds, 4), PARAPET_ERR_ARGUMENT, "it is for 3 servers, but there are 4");
    pp_given_speeds_clear(&speeds);
}

static void test_weights_file__cut_anywhere_is_refused(void **state)
{
    size_t bytes;
    (void)state;
    for (bytes = 0; bytes < strlen(sound); bytes++)
        assert_true(parse(sound, bytes) == PARAPET_ERR_ARGUMENT);
}

static void test_weights_file__numbers_that_are_no_speeds_are_refused(void **state)
{
    static const char *const wrong[] = {"0",
                                        "-1",
                                        "+1",
                                        "01",
                                        "1.5",
                                        "1e9",
                                        "nan",
                                        "inf",
                                        "NaN",
                                        "",
                                        " 1",
                                        "0x10",
                                        "1 ",
                                        "281474976710657",
                                        "9223372036854775808",
                                        "999999999999999999999999999999"};
    char text[256];
    size_t i;
    (void)state;
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        (void)snprintf(text, sizeof text, "parapet weights 1\nservers 1\nserver 0 writing %s reading 1000\nend\n",
                       wrong[i]);
        assert_fails(parse(text, strlen(text)), PARAPET_ERR_ARGUMENT, "line 3 must be \"server 0 writing BYTES");
        (void)snprintf(text, sizeof text, "parapet weights 1\nservers 1\nserver 0 writing 1000 reading %s\nend\n",
                       wrong[i]);
        assert_fails(parse(text, strlen(text)), PARAPET_ERR_ARGUMENT, "whole bytes per second from 1 to 2814749");
    }
}

static void assert_refused(const char *text, const char *word)
{
    assert_fails(parse(text, strlen(text)), PARAPET_ERR_ARGUMENT, word);
}

static void test_weights_file__lines_that_do_not_fit_together_are_refused(void **state)
{
    (void)state;
    assert_refused("", "does not begin with");
    assert_refused("parapet weights 2\nservers 1\n", "does not begin with");
    assert_refused("parapet weights 1\nservers 0\nend\n", "of 1 to 1048576 servers");
    assert_refused("parapet weights 1\nservers 1048577\nend\n", "of 1 to 1048576 servers");
    assert_refused("parapet weights 1\nservers 1048576\nend\n", "too short for the 1048576 servers");
    assert_refused("parapet weights 1\nservers 1\nserver 1 writing 1000 reading 1000\nend\n", "line 3 must be");
    assert_refused("parapet weights 1\nservers 1\nserver 0 writing 1000 reading 1000\nserver 1 writing 1 reading 1\n",
                   "line 4 must be \"end\"");
    assert_refused("parapet weights 1\nservers 1\nserver 0 writing 1000 reading 1000\nend\nend\n",
                   "and the last one");
    assert_refused("parapet weights 1\nservers 2\nserver 0 writing 100000000000000 reading 100000000000000\nend\n",
                   "line 4 must be");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights_file__a_sound_one_gives_the_speeds_of_both_directions),
        cmocka_unit_test(test_weights_file__for_another_number_of_servers_is_refused),
        cmocka_unit_test(test_weights_file__cut_anywhere_is_refused),
        cmocka_unit_test(test_weights_file__numbers_that_are_no_speeds_are_refused),
        cmocka_unit_test(test_weights_file__lines_that_do_not_fit_together_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
