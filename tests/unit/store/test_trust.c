/* Which file systems are trusted to have locks that hold on every node, from the text of mounts alone. */
#include "scratch.h"

#include "store/internal.h"

static const char mounts[] =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
    "30 27 0:27 / /dev/shm rw,relatime - tmpfs tmpfs rw,size=24682416k\n"
    "31 27 0:41 / /scratch rw,noatime shared:12 master:3 - lustre 10.1.1.5@o2ib:/work rw,flock,user_xattr\n"
    "32 27 0:42 / /scratch2 rw - lustre 10.1.1.5@o2ib:/work2 rw,localflock,user_xattr\n"
    "33 27 0:43 / /scratch3 rw - lustre 10.1.1.5@o2ib:/work3 rw,noflock\n"
    "34 27 0:44 / /scratch4 rw,flock - lustre 10.1.1.5@o2ib:/work4 rw,user_xattr\n"
    "35 27 0:45 / /home rw - nfs4 server:/home rw,vers=4.2,proto=tcp,local_lock=none,addr=10.0.0.1\n"
    "36 27 0:46 / /old rw - nfs server:/old rw,vers=3,local_lock=none,addr=10.0.0.1\n"
    "37 27 0:47 / /old2 rw - nfs server:/old rw,vers=3,nolock,proto=tcp,local_lock=all\n"
    "38 27 0:48 / /old3 rw - nfs server:/old rw,vers=3,local_lock=posix\n"
    "39 27 0:49 / /remote rw - fuse.sshfs user@host:/ rw,user_id=0\n"
    "40 27 0:50 / /with\\040space rw - xfs /dev/sdb1 rw,attr2\n"
    "41 27 0:51 / /gpfs rw - gpfs gpfs1 rw\n"
    "42 27 0:52 / /beegfs rw - beegfs beegfs_nodev rw,cfgFile=/etc/beegfs/beegfs-client.conf\n"
    "43 27 0:53 / /shared rw - 9p share rw,trans=virtio\n"
    "44 27 0:54 / /cut rw -\n"
    "45 27 0:55 / /bare rw - nfs4 server:/\n"
    "46 27 0:56 / /u rw - overlay overlay rw,lowerdir=/nolock,upperdir=/u\n"
    "47 27 0:57 / /v rw - nfs4 server:/nolock,x rw,vers=4.1,local_lock=none";

static bool judge(long id, pp_lock_trust *trust)
{
    char text[sizeof mounts];
    memcpy(text, mounts, sizeof mounts);
    *trust = (pp_lock_trust){0};
    return pp_mounts_judge(text, id, trust);
}

static void test_trust__goes_by_type_and_options_of_the_mount(void **state)
{
    static const struct {
        long id;
        bool is_trusted;
        const char *source;
    } cases[] = {
        {27, true, "ext4"},
        {30, true, "tmpfs"},
        {31, true, "lustre, flock"},
        {32, false, "lustre, localflock"},
        {33, false, "lustre, noflock"},
        {34, false, "lustre, without flock"}, /* an option of the mount, not of the file system */
        {35, true, "nfs4"},
        {36, true, "nfs"},
        {37, false, "nfs, nolock"},
        {38, false, "nfs, local_lock=posix"},
        {39, false, "fuse.sshfs"},
        {40, true, "xfs"},
        {41, true, "gpfs"},
        {42, false, "beegfs"},
        {43, false, "9p"},
        {45, true, "nfs4"},
        {46, true, "overlay"},
        {47, true, "nfs4"}, /* its name has the word, its options do not */
    };
    pp_lock_trust trust;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(judge(cases[i].id, &trust));
        assert_string_equal(trust.source, cases[i].source);
        assert_int_equal(trust.is_trusted, cases[i].is_trusted);
    }
}

static void test_trust__has_nothing_to_say_of_a_mount_that_is_not_there_or_cut_off(void **state)
{
    pp_lock_trust trust;
    char nothing[] = "", noise[] = "\n\n - - -\n27\n27 1\n27 1 - \n";
    (void)state;
    assert_false(judge(2, &trust));
    assert_false(judge(44, &trust));
    assert_false(pp_mounts_judge(nothing, 0, &trust));
    assert_false(pp_mounts_judge(noise, 27, &trust));
}

static void test_trust__names_no_more_than_it_has_room_for(void **state)
{
    char type[400], options[400];
    pp_lock_trust trust;
    (void)state;
    memset(type, 't', sizeof type - 1);
    memset(options, 'o', sizeof options - 1);
    type[sizeof type - 1] = options[sizeof options - 1] = '\0';
    pp_mount_judge(type, options, &trust);
    assert_false(trust.is_trusted);
    assert_true(strlen(trust.source) < sizeof trust.source);
    memcpy(options, "local_lock=", 11);
    pp_mount_judge("nfs", options, &trust);
    assert_false(trust.is_trusted);
    assert_true(strlen(trust.source) < sizeof trust.source);
}

static void test_trust__a_real_directory_has_a_mount(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_LARGE);
    pp_lock_trust trust;
    (void)state;
    pp_store_posix_trust(store, &trust);
    assert_string_equal(trust.source, "tmpfs");
    assert_true(trust.is_trusted);
    pp_store_free(store);
    scratch_remove(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trust__goes_by_type_and_options_of_the_mount),
        cmocka_unit_test(test_trust__has_nothing_to_say_of_a_mount_that_is_not_there_or_cut_off),
        cmocka_unit_test(test_trust__names_no_more_than_it_has_room_for),
        cmocka_unit_test(test_trust__a_real_directory_has_a_mount),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
