/* lib/test_master.c - starting, stopping and killing real masters. */
#include <stdlib.h>
#include <string.h>

#include "lib/master.h"
#include "lib/test.h"

SUITE("master");

TEST(a_master_answers_and_forgets_when_restarted)
{
    struct master *m = master_start(NULL);

    ck_assert_str_eq(master_ask(m, "SET k %s", "v"), "OK");
    ck_assert_str_eq(master_ask(m, "DBSIZE"), "1");
    ck_assert_str_eq(master_ask(m, "GET none"), "(nil)");
    ck_assert_int_eq(strncmp(master_ask(m, "NOTHING"), "-ERR", 4), 0);
    master_stop(m);
    master_continue(m);
    ck_assert_str_eq(master_ask(m, "GET k"), "v");
    master_kill(m);
    master_restart(m);
    ck_assert_str_eq(master_ask(m, "GET k"), "(nil)");
    master_free(m);
}

TEST_LOOP(a_master_listens_where_it_was_told, 0, 3)
{
    static const struct {
        enum master_where where;
        const char *uri;
    } rows[] = {{MASTER_UNIX, "unix:///"},
                {MASTER_TCP4, "redis://127.0.0.1:"},
                {MASTER_TCP6, "redis://[::1]:"}};
    struct master_options options = {0};
    struct master *m;

    options.where = rows[_i].where;
    if (options.where == MASTER_TCP6 && !master_has_ipv6()) {
        return;
    }
    m = master_start(&options);
    ck_assert_int_eq(strncmp(master_uri(m), rows[_i].uri, strlen(rows[_i].uri)), 0);
    ck_assert_str_eq(master_ask(m, "PING"), "PONG");
    master_free(m);
}

TEST(password_config_and_replica_are_obeyed)
{
    struct master_options options = {0};
    struct master *first;
    struct master *second;

    options.where = MASTER_TCP4;
    options.config = "maxmemory 100mb";
    first = master_start(&options);
    ck_assert_str_eq(master_ask(first, "CONFIG GET maxmemory"), "(an array of 2)");
    options.replica_of = first;
    options.password = "pass%word";
    second = master_start(&options);
    ck_assert_int_eq(strncmp(master_ask(second, "SET k v"), "-READONLY", 9), 0);
    master_free(second);
    master_free(first);
}

TEST(a_user_has_what_the_words_say)
{
    struct master *m = master_start(NULL);

    ck_assert(master_user(m, "ann on >secret ~a +get +@connection allchannels"));
    ck_assert_str_eq(master_ask(m, "AUTH ann secret"), "OK");
    ck_assert_str_eq(master_ask(m, "GET a"), "(nil)");
    ck_assert_int_eq(strncmp(master_ask(m, "GET b"), "-NOPERM", 7), 0);
    ck_assert_int_eq(strncmp(master_ask(m, "SET a 1"), "-NOPERM", 7), 0);
    master_free(m);
}
