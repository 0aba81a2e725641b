/* io/test_login.c - a password in a file: read by redlock_new(), and anew after a refusal, so that
 * it can be changed on the masters while locks are held. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/held.h"
#include "io/watch.h"
#include "lib/test.h"

SUITE("login");
FIXTURE(NULL, farm_end_all);

static struct farm f;

/* The file with the password, which has these bytes from now on. */
static const char *write_file(const char *bytes, size_t len)
{
    static char path[200];
    FILE *file;

    snprintf(path, sizeof(path), "%s/password", rlk_test_folder());
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, len, file), len);
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

static const char *write_password(const char *line)
{
    return write_file(line, strlen(line));
}

static void set_passwords(const char *password)
{
    size_t i;

    for (i = 0; i < f.n; i++) {
        fake_model(f.nodes[i])->password = password;
    }
}

static void start(size_t n)
{
    farm_start(&f, n, FAKE_UNIX);
    set_passwords("first");
    f.options.password_file = write_password("first\nsecond line\n");
}

static int is_refused(size_t node)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_get_node_info(f.rl, node, &info), 0);
    return info.login_refused;
}

/* Each file, and what is said of it; NULL: its password is "first". */
static const struct {
    const char *bytes;
    size_t len;
    const char *why;
} files[] = {
    {"first", 5, NULL},
    {"first\n", 6, NULL},
    {"first\r\nmore", 11, NULL},
    {"\xef\xbb\xbf"
     "first\n",
     9, NULL},
    {"", 0, "its first line is empty"},
    {"\nfirst\n", 7, "its first line is empty"},
    {"\xef\xbb\xbf\n", 4, "its first line is empty"},
    {"fi\0rst\n", 7, "it is not text"},
};

TEST_LOOP(the_first_line_of_the_file_is_the_password, 0, N_ROWS(files))
{
    start(1);
    f.options.password_file = write_file(files[_i].bytes, files[_i].len);
    f.options.username = "ann";
    fake_model(f.nodes[0])->user = "ann";
    if (files[_i].why == NULL) {
        farm_open(&f);
        ck_assert_int_eq(is_refused(0), 0);
    } else {
        ck_assert_int_eq(redlock_new(f.base, &f.options, &f.rl), REDLOCK_EINVAL);
        ck_assert_ptr_nonnull(strstr(f.error_text, files[_i].why));
        ck_assert_ptr_nonnull(strstr(f.error_text, f.options.password_file));
    }
}

static void must_refuse(const char *why)
{
    ck_assert_int_eq(redlock_new(f.base, &f.options, &f.rl), REDLOCK_EINVAL);
    if (strstr(f.error_text, why) == NULL) {
        ck_abort_msg("'%s' is not in '%s'", why, f.error_text);
    }
}

/* A FIFO, which nobody writes to, does not block. */
TEST_LOOP(a_short_password_is_not_cut_out_of_the_name_of_the_product, 0, 4)
{
    static const char *const passwords[] = {"s", "7", ".", "redis"};
    struct redlock_node_info info = {.size = sizeof(info)};

    farm_start(&f, 1, FAKE_UNIX);
    set_passwords(passwords[_i]);
    f.options.password = passwords[_i];
    farm_open(&f);
    ck_assert_int_eq(redlock_get_node_info(f.rl, 0, &info), 0);
    ck_assert_str_eq(info.server, "redis 7.0.15");
}

TEST(a_file_that_cannot_be_read_is_refused)
{
    static char large[4098];
    char fifo[200];

    start(1);
    memset(large, 'x', sizeof(large));
    f.options.password_file = write_file(large, 4097);
    must_refuse("too long");
    f.options.password_file = rlk_test_folder();
    must_refuse("not a regular file");
    snprintf(fifo, sizeof(fifo), "%s/fifo", rlk_test_folder());
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    f.options.password_file = fifo;
    must_refuse("not a regular file");
    f.options.password_file = "/nowhere/password";
    must_refuse("No such file");
    f.options.password = "first";
    must_refuse("both set");
}

/* Of the URI, of the options, or no password at all. */
TEST_LOOP(without_a_file_the_text_says_what_to_give, 0, 2)
{
    static const char *const texts[] = {"give those that it accepts", "none was given for it"};

    start(1);
    f.options.password_file = NULL;
    f.options.password = _i == 0 ? "other" : NULL;
    farm_open_at_once(&f);
    farm_wait_error(&f, 0, texts[_i]);
    ck_assert_int_eq(is_refused(0), 1);
}

TEST(a_refused_password_is_read_anew)
{
    start(3);
    farm_open(&f);
    set_passwords("second");
    fake_hang_up(f.nodes[1]);
    farm_wait_error(&f, 1, "WRONGPASS; write the password that it accepts to ");
    ck_assert_ptr_nonnull(strstr(farm_error(&f, 1), f.options.password_file));
    ck_assert_int_eq(is_refused(1), 1);
    ck_assert_int_eq(is_refused(0), 0);
    write_password("second\n");
    farm_wait(&f, 1, REDLOCK_NODE_UP);
    ck_assert_int_eq(is_refused(1), 0);
    ck_assert_str_eq(farm_error(&f, 1), "");
}

/* That of a program that gets its password from somewhere else. */
TEST(a_file_in_memory_is_read_anew_and_not_named)
{
    char path[40];
    int fd;

    start(1);
    fd = memfd_create("password", MFD_CLOEXEC);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    ck_assert_int_eq((int)pwrite(fd, "first\n", 6, 0), 6);
    f.options.password_file = path;
    farm_open(&f);
    set_passwords("second");
    fake_hang_up(f.nodes[0]);
    farm_wait_error(&f, 0, "WRONGPASS; give those that it accepts");
    ck_assert_int_eq((int)pwrite(fd, "second\n", 7, 0), 7);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    close(fd);
}

/* The former password is tried until the file is back. */
TEST(a_file_that_is_gone_is_said)
{
    start(1);
    farm_open(&f);
    set_passwords("second");
    ck_assert_int_eq(unlink(f.options.password_file), 0);
    fake_hang_up(f.nodes[0]);
    farm_wait_error(&f, 0, "a new one could not be read from ");
    ck_assert_ptr_nonnull(strstr(farm_error(&f, 0), "No such file"));
    write_password("second");
    farm_wait(&f, 0, REDLOCK_NODE_UP);
}

TEST(the_password_of_a_uri_is_not_replaced)
{
    static char uri[120];

    farm_start(&f, 1, FAKE_TCP);
    set_passwords("first");
    f.options.password_file = write_password("first\n");
    snprintf(uri, sizeof(uri), "redis://:other@127.0.0.1:%d", fake_port(f.nodes[0]));
    f.uris[0] = uri;
    farm_open_at_once(&f);
    farm_wait_error(&f, 0, "WRONGPASS; give those");
    farm_wait_count(&f, 0, "AUTH other", 3);
    ck_assert_uint_eq(fake_count(f.nodes[0], "AUTH first"), 0);
}

/* A proxy or a server that forgets who we are. The connection is made again, with the new password,
 * and the lock is renewed over it. */
TEST(a_lock_survives_that_all_masters_forget_our_login)
{
    struct held h = {0};
    size_t i;

    start(3);
    farm_open(&f);
    held_acquire_key(&h, &f, "k");
    set_passwords("second");
    write_password("second\n");
    for (i = 0; i < f.n; i++) {
        fake_on_next(f.nodes[i], 1, "EVAL", FAKE_REPLY, "-NOAUTH Authentication required.\r\n", 34);
    }
    ck_assert_int_eq(held_extend(&h, OUTCOME_TTL_MS), 0);
    for (i = 0; i < f.n; i++) {
        farm_wait_count(&f, i, "AUTH second", 1);
        farm_wait(&f, i, REDLOCK_NODE_UP);
    }
    ck_assert_int_eq(h.lost, 0);
    ck_assert_uint_eq(farm_count(&f, "k", h.token), 3);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_clean(&f);
}

/* [S5] It is sent again over the next connection. */
TEST(a_release_that_is_refused_without_a_login_stays_pending)
{
    struct held h = {0};

    start(3);
    farm_open(&f);
    held_acquire_key(&h, &f, "k");
    fake_on_next(f.nodes[0], 1, "EVALSHA", FAKE_REPLY, "-NOAUTH Authentication required.\r\n", 34);
    held_end(&h);
    farm_wait_clean(&f);
    ck_assert_uint_eq(fake_count(f.nodes[0], "AUTH first"), 2);
}
