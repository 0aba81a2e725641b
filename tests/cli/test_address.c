/* test_address.c - where a server listens, and which hosts and origins it answers. */
#include <stdint.h>
#include <string.h>

#include <unistd.h>

#include "cli/http/address.h"
#include "lib/test.h"

SUITE("address");

static const struct {
    const char *text;
    const char *ip;
    int port;
    bool loopback;
} good[] = {
    {"127.0.0.1:7777", "127.0.0.1", 7777, true},
    {"localhost:0", "127.0.0.1", 0, true},
    {"LocalHost:1", "127.0.0.1", 1, true},
    {"127.9.9.9:80", "127.9.9.9", 80, true},
    {"[::1]:7777", "::1", 7777, true},
    {"[0:0::0:1]:7777", "::1", 7777, true},
    {"0.0.0.0:65535", "0.0.0.0", 65535, false},
    {"[::]:1", "::", 1, false},
    {"[fe80::1]:00080", "fe80::1", 80, false},
    {"10.0.0.9:9", "10.0.0.9", 9, false},
    {"[::ffff:127.0.0.1]:1", "::ffff:127.0.0.1", 1, true},
    {"[::FFFF:10.0.0.9]:1", "::ffff:10.0.0.9", 1, false},
};

static const char *const bad[] = {
    "",
    ":",
    "7777",
    ":7777",
    "127.0.0.1",
    "127.0.0.1:",
    "127.0.0.1:x",
    "127.0.0.1:-1",
    "127.0.0.1:65536",
    "127.0.0.1:123456",
    "127.1:80",
    "::1:7777",
    "[::1]",
    "[::1]7777",
    "[::1:7777",
    "[]:7777",
    "[localhost]:1",
    "example.com:80",
    "127.0.0.1 :80",
    " 127.0.0.1:80",
    "1.2.3.4.5:1",
    "[127.0.0.1]:1",
    "127.0.0.1:80 ",
    "http://127.0.0.1:80",
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000:1",
};

TEST(an_address_is_read)
{
    struct cli_address address;
    size_t i;

    for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ck_assert_msg(cli_address_parse(good[i].text, &address) == 0, "%s", good[i].text);
        ck_assert_str_eq(address.ip, good[i].ip);
        ck_assert_int_eq(address.port, good[i].port);
        ck_assert_msg(cli_address_is_loopback(address.ip) == good[i].loopback, "%s", good[i].text);
    }
}

TEST(what_is_no_address_is_refused)
{
    struct cli_address address = {.port = 9};
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(cli_address_parse(bad[i], &address) != 0, "'%s'", bad[i]);
    }
    ck_assert_int_eq(address.port, 9);
}

/* A page can borrow our address, but no name that is in this list. */
TEST(only_addresses_and_names_of_ours_are_answered)
{
    static const char *hosts[] = {"locks.example", "web"};
    static const char *const ours[] = {"localhost",      "localhost:7777",   "LOCALHOST:80",
                                       "127.0.0.1:7777", "127.0.0.1",        "[::1]:7777",
                                       "[::1]",          "10.0.0.1:7777",    "[fe80::1]:80",
                                       "locks.example",  "Locks.Example:80", "web"};
    static const char *const others[] = {
        "evil.example", "evil.example:7777",   "localhost.evil", "127.0.0.1.evil.example",
        "localhost:x",  "localhost:7777:7777", "localhost@evil", "",
        "127.evil",     "locks.example.evil",  "locks",          "we",
        "[::g]:7777",   "evil.locks.example",  "webb",           ":7777"};
    struct cli_address_names names = {.names = hosts, .n = 2};
    char own[300] = "";
    size_t i;

    for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        ck_assert_msg(cli_address_answers(&names, ours[i]), "%s", ours[i]);
    }
    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        ck_assert_msg(!cli_address_answers(&names, others[i]), "%s", others[i]);
    }
    ck_assert(!cli_address_answers(&names, NULL));
    ck_assert_int_eq(gethostname(own, 250), 0);
    ck_assert_msg(cli_address_answers(&names, own), "%s", own);
    strcat(own, ":80");
    ck_assert_msg(cli_address_answers(&names, own), "%s", own);
}

TEST(what_is_no_secret_is_served_under_any_name)
{
    struct cli_address_names names = {.any = true};

    ck_assert(cli_address_answers(&names, "web.example:7777"));
    ck_assert(cli_address_answers(&names, NULL));
}

TEST(a_name_of_a_host_is_letters_digits_and_dots)
{
    ck_assert(cli_address_is_name("web-1.example"));
    ck_assert(!cli_address_is_name(""));
    ck_assert(!cli_address_is_name("web:80"));
    ck_assert(!cli_address_is_name("http://web"));
    ck_assert(!cli_address_is_name("two words"));
}

TEST(only_our_own_origin_is_answered)
{
    ck_assert(cli_address_is_origin("localhost:7777", NULL));
    ck_assert(cli_address_is_origin("localhost:7777", "http://localhost:7777"));
    ck_assert(cli_address_is_origin("locks.example", "https://locks.example"));
    ck_assert(!cli_address_is_origin("localhost:7777", "http://localhost:8888"));
    ck_assert(!cli_address_is_origin("localhost:7777", "http://evil.example"));
    ck_assert(!cli_address_is_origin("localhost:7777", "null"));
    ck_assert(!cli_address_is_origin("localhost:7777", ""));
    ck_assert(!cli_address_is_origin(NULL, "http://localhost:7777"));
}
