/* test_settings.c - the settings of the command redlock, read for a program. The command's own
 * tests (tests/cli/test_session.sh) cover every setting; these cover what only a program sees. */
#include <redlock/redlock.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "lib/test.h"

SUITE("settings");

static const char *const variables[] = {
    "REDLOCK_NODES",      "REDLOCK_CONFIG",        "REDLOCK_USERNAME",
    "REDLOCK_PASSWORD",   "REDLOCK_PASSWORD_FILE", "REDLOCK_PASSWORD_COMMAND",
    "REDLOCK_KEY_PREFIX", "REDLOCK_NODE_TIMEOUT",  "REDLOCK_MAX_TTL",
    "REDLOCK_QUARANTINE", "REDLOCK_AUDIT",         "REDLOCK_RECORD",
    "REDLOCK_TLS_CACERT", "REDLOCK_TLS_CERT",      "REDLOCK_TLS_KEY",
    "REDLOCK_TLS_SNI",    "REDLOCK_TLS_VERIFY",    "REDLOCK_TRACE"};

static char folder[PATH_MAX], why[512];
static struct redlock_options options;
static struct redlock_settings *settings;

/* Write a file in the folder; text NULL: write none. Returns its name. */
static const char *write_file(const char *name, const char *text)
{
    static char path[PATH_MAX + 16];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (text) {
        file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        fputs(text, file);
        fclose(file);
    }
    return path;
}

static void make_folder(void)
{
    size_t i;

    for (i = 0; i < N_ROWS(variables); i++) {
        unsetenv(variables[i]);
    }
    strcpy(folder, "/tmp/redlock-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    settings = NULL;
    redlock_options_init(&options);
    options.error_text = why;
    options.error_text_size = sizeof(why);
}

static void remove_folder(void)
{
    redlock_settings_free(settings);
    unlink(write_file("nodes", NULL));
    unlink(write_file("password", NULL));
    ck_assert_int_eq(rmdir(folder), 0);
}

FIXTURE(make_folder, remove_folder);

/* Write the file of masters, and use it. */
static void use_config(const char *text)
{
    setenv("REDLOCK_CONFIG", write_file("nodes", text), 1);
}

static void read_them(void)
{
    ck_assert_msg(redlock_settings_read(&options, &settings) == 0, "%s", why);
}

/* Check that the call fails with a message that contains this text, and changes nothing. */
static void refused(const char *text)
{
    struct redlock_options before = options;

    ck_assert_int_eq(redlock_settings_read(&options, &settings), REDLOCK_EINVAL);
    ck_assert_msg(strstr(why, text) != NULL, "%s", why);
    ck_assert_ptr_null(settings);
    ck_assert_int_eq(memcmp(&options, &before, sizeof(options)), 0);
}

TEST(the_variables_fill_the_options)
{
    setenv("REDLOCK_NODES", "redis://a,redis://b redis://c", 1);
    setenv("REDLOCK_USERNAME", "ann", 1);
    setenv("REDLOCK_PASSWORD", "sesame", 1);
    setenv("REDLOCK_KEY_PREFIX", "app:", 1);
    setenv("REDLOCK_NODE_TIMEOUT", "1.5s", 1);
    setenv("REDLOCK_MAX_TTL", "2m", 1);
    setenv("REDLOCK_QUARANTINE", "off", 1);
    setenv("REDLOCK_AUDIT", "7", 1);
    setenv("REDLOCK_RECORD", "0", 1);
    setenv("REDLOCK_TLS_SNI", "name", 1);
    setenv("REDLOCK_TLS_VERIFY", "none", 1);
    setenv("REDLOCK_TRACE", "1", 1);
    read_them();
    ck_assert_uint_eq(options.n_nodes, 3);
    ck_assert_str_eq(options.nodes[0], "redis://a");
    ck_assert_str_eq(options.nodes[2], "redis://c");
    ck_assert_str_eq(options.username, "ann");
    ck_assert_str_eq(options.password, "sesame");
    ck_assert_str_eq(options.key_prefix, "app:");
    ck_assert_uint_eq(options.node_timeout_ms, 1500);
    ck_assert_uint_eq(options.max_ttl_ms, 120000);
    ck_assert_int_eq(options.quarantine, REDLOCK_QUARANTINE_OFF);
    ck_assert_uint_eq(options.audit_entries, 7);
    ck_assert_int_eq(options.record, 0);
    ck_assert_str_eq(options.tls_sni, "name");
    ck_assert_int_eq(options.tls_verify, 0);
    ck_assert(options.trace_cb == NULL);
    ck_assert_str_eq(why, "");
}

TEST(a_file_fills_them_and_a_variable_comes_first)
{
    use_config("redis://a # one\nredis://b\nredis://c\nmax-ttl = 1m\nquarantine = lenient\n");
    setenv("REDLOCK_MAX_TTL", "3m", 1);
    read_them();
    ck_assert_uint_eq(options.n_nodes, 3);
    ck_assert_uint_eq(options.max_ttl_ms, 180000);
    ck_assert_int_eq(options.quarantine, REDLOCK_QUARANTINE_LENIENT);
}

TEST(the_environment_may_change_afterwards)
{
    setenv("REDLOCK_NODES", "redis://a", 1);
    setenv("REDLOCK_KEY_PREFIX", "app:", 1);
    read_them();
    setenv("REDLOCK_NODES", "another", 1);
    setenv("REDLOCK_KEY_PREFIX", "another:", 1);
    ck_assert_str_eq(options.nodes[0], "redis://a");
    ck_assert_str_eq(options.key_prefix, "app:");
}

TEST(what_is_not_set_keeps_the_values_of_the_program)
{
    setenv("REDLOCK_NODES", "redis://a", 1);
    setenv("REDLOCK_MAX_TTL", "", 1);
    options.key_prefix = "own:";
    options.max_ttl_ms = 7000;
    options.client_name = "own";
    options.connect_timeout_ms = 1;
    read_them();
    ck_assert_str_eq(options.key_prefix, "own:");
    ck_assert_uint_eq(options.max_ttl_ms, 7000);
    ck_assert_str_eq(options.client_name, "own");
    ck_assert_uint_eq(options.connect_timeout_ms, 1);
    ck_assert_ptr_null(options.password);
}

TEST(masters_of_the_program_are_kept)
{
    static const char *const own[] = {"redis://own"};

    setenv("REDLOCK_NODES", "redis://a redis://b", 1);
    setenv("REDLOCK_MAX_TTL", "1m", 1);
    options.nodes = own;
    options.n_nodes = 1;
    read_them();
    ck_assert_uint_eq(options.n_nodes, 1);
    ck_assert_ptr_eq(options.nodes, own);
    ck_assert_uint_eq(options.max_ttl_ms, 60000);
}

TEST(a_login_of_the_program_is_kept)
{
    setenv("REDLOCK_NODES", "redis://a", 1);
    setenv("REDLOCK_USERNAME", "ann", 1);
    setenv("REDLOCK_PASSWORD_COMMAND", "echo sesame", 1);
    options.password = "own";
    read_them();
    ck_assert_str_eq(options.password, "own");
    ck_assert_ptr_null(options.username);
}

TEST(a_password_file_is_named_so_that_it_can_be_read_again)
{
    setenv("REDLOCK_NODES", "redis://a", 1);
    setenv("REDLOCK_PASSWORD_FILE", write_file("password", "sesame\n"), 1);
    read_them();
    ck_assert_str_eq(options.password_file, write_file("password", NULL));
    ck_assert_ptr_null(options.password);
}

TEST(no_masters_are_an_error_that_says_what_to_do)
{
    use_config("# none\n");
    refused("no masters are named in /tmp/");
    ck_assert_ptr_nonnull(strstr(why, "set REDLOCK_NODES"));
}

TEST(a_password_command_is_not_run)
{
    char command[PATH_MAX + 32];

    snprintf(command, sizeof(command), "touch %s", write_file("password", NULL));
    setenv("REDLOCK_NODES", "redis://a", 1);
    setenv("REDLOCK_PASSWORD_COMMAND", command, 1);
    refused("REDLOCK_PASSWORD_COMMAND: only the command redlock");
    ck_assert_int_ne(access(write_file("password", NULL), F_OK), 0);
}

static const struct {
    const char *variable, *value, *text;
} wrong[] = {
    {"REDLOCK_MAX_TTL", "5 apples", "REDLOCK_MAX_TTL '5 apples' is not a time"},
    {"REDLOCK_MAX_TTL", "9d", "out of range: it must be from 10 ms to 24 h"},
    {"REDLOCK_AUDIT", "-1", "REDLOCK_AUDIT '-1' is not a number"},
    {"REDLOCK_QUARANTINE", "none", "it must be strict, lenient or off"},
    {"REDLOCK_RECORD", "maybe", "it must be yes or 1, no or 0"},
    {"REDLOCK_USERNAME", "ann", "REDLOCK_USERNAME needs a password"},
    {"REDLOCK_PASSWORD_FILE", "/nonexistent/p", "first line of /nonexistent/p: No such file"},
};

TEST_LOOP(a_wrong_value_is_named, 0, N_ROWS(wrong))
{
    setenv("REDLOCK_NODES", "redis://a", 1);
    setenv(wrong[_i].variable, wrong[_i].value, 1);
    refused(wrong[_i].text);
}

TEST(a_wrong_line_is_named)
{
    use_config("redis://a\nmax-tll = 5m\n");
    refused("/nodes:2: unknown setting 'max-tll'");
    use_config("redis://a\nquarantine = no\n");
    refused("/nodes:2: quarantine 'no' is unknown");
    use_config("redis://a\nkey-prefix = \"app:\"\n");
    refused("/nodes:2: write the value of key-prefix without quotes");
    use_config("redis://a\n\nmax-ttl = '5m' # for all\n");
    refused("/nodes:3: write the value of max-ttl without quotes");
    setenv("REDLOCK_CONFIG", "/nonexistent/nodes", 1);
    refused("cannot read the masters from /nonexistent/nodes (REDLOCK_CONFIG)");
}

/* For a program that was built for a version without the last fields. */
TEST(nothing_is_written_behind_an_older_struct)
{
    size_t size = offsetof(struct redlock_options, record);

    setenv("REDLOCK_NODES", "redis://a", 1);
    setenv("REDLOCK_RECORD", "0", 1);
    setenv("REDLOCK_AUDIT", "7", 1);
    options.size = size;
    options.record = 99;
    read_them();
    ck_assert_uint_eq(options.size, size);
    ck_assert_uint_eq(options.audit_entries, 7);
    ck_assert_int_eq(options.record, 99);
}

TEST(null_and_options_that_were_not_initialised_are_refused)
{
    struct redlock_options none = {.size = 0};

    ck_assert_int_eq(redlock_settings_read(NULL, &settings), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_settings_read(&options, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_settings_read(&none, &settings), REDLOCK_EINVAL);
    redlock_settings_free(NULL);
}

static unsigned allowed;

static int allow_some(size_t size)
{
    (void)size;
    return allowed-- > 0;
}

/* _i: the password is in a variable, or in a file. */
TEST_LOOP(any_allocation_may_fail, 0, 2)
{
    unsigned n = 0;
    int status;

    use_config("redis://a redis://b\nkey-prefix = app:\n");
    setenv("REDLOCK_PASSWORD", "sesame", 1);
    if (_i == 1) {
        setenv("REDLOCK_PASSWORD_FILE", write_file("password", "sesame\n"), 1);
    }
    setenv("REDLOCK_MAX_TTL", "1m", 1);
    do {
        allowed = n++;
        rlk_alloc_hook(allow_some);
        status = redlock_settings_read(&options, &settings);
        rlk_alloc_hook(NULL);
        ck_assert_msg(status == 0 || status == REDLOCK_ENOMEM, "%u: %s", n, why);
    } while (status != 0);
    ck_assert_uint_gt(n, 4);
    ck_assert_uint_eq(options.n_nodes, 2);
}
