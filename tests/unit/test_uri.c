/* test_uri.c - node URIs, valid and invalid. */
#include <redlock/error.h>
#include <stdio.h>
#include <string.h>

#include "lib/test.h"
#include "net/uri.h"
#include "net/uri_format.h"

SUITE("uri");

static const struct {
    const char *text, *host, *path, *user, *password, *name;
    unsigned port, db;
} good[] = {
    {"redis://a", "a", NULL, NULL, NULL, "redis://a:6379/0", 6379, 0},
    {"redis://a/", "a", NULL, NULL, NULL, "redis://a:6379/0", 6379, 0},
    {"redis://a:1/15", "a", NULL, NULL, NULL, "redis://a:1/15", 1, 15},
    {"redis://10.0.0.1:65535", "10.0.0.1", NULL, NULL, NULL, "redis://10.0.0.1:65535/0", 65535, 0},
    {"redis://[::1]", "::1", NULL, NULL, NULL, "redis://[::1]:6379/0", 6379, 0},
    {"redis://[fe80::1]:7/2", "fe80::1", NULL, NULL, NULL, "redis://[fe80::1]:7/2", 7, 2},
    {"redis://[fe80::1%25eth0]:7", "fe80::1", NULL, NULL, NULL, "redis://[fe80::1%eth0]:7/0", 7, 0},
    {"redis://[fe80::1%br-1.2]", "fe80::1", NULL, NULL, NULL, "redis://[fe80::1%br-1.2]:6379/0",
     6379, 0},
    {"REDIS://a", "a", NULL, NULL, NULL, "redis://a:6379/0", 6379, 0},
    {"RedisS://a", "a", NULL, NULL, NULL, "rediss://a:6379/0", 6379, 0},
    {"Unix:///A", NULL, "/A", NULL, NULL, "unix:///A", 0, 0},
    {"redis://u:p@a", "a", NULL, "u", "p", "redis://a:6379/0", 6379, 0},
    {"redis://:p@a", "a", NULL, NULL, "p", "redis://a:6379/0", 6379, 0},
    {"redis://u@a", "a", NULL, "u", NULL, "redis://a:6379/0", 6379, 0},
    {"redis://@a", "a", NULL, NULL, NULL, "redis://a:6379/0", 6379, 0},
    {"redis://u:p%40%3A%2f@a", "a", NULL, "u", "p@:/", "redis://a:6379/0", 6379, 0},
    {"redis://u:p@x@a", "a", NULL, "u", "p@x", "redis://a:6379/0", 6379, 0},
    {"redis://u:a:b@a", "a", NULL, "u", "a:b", "redis://a:6379/0", 6379, 0},
    {"redis://u:a?b@a", "a", NULL, "u", "a?b", "redis://a:6379/0", 6379, 0},
    {"rediss://a", "a", NULL, NULL, NULL, "rediss://a:6379/0", 6379, 0},
    {"rediss://u:p@[::1]:7/2", "::1", NULL, "u", "p", "rediss://[::1]:7/2", 7, 2},
    {"unix:///run/r.sock", NULL, "/run/r.sock", NULL, NULL, "unix:///run/r.sock", 0, 0},
    {"unix:///a%20b?db=3", NULL, "/a b", NULL, NULL, "unix:///a b?db=3", 0, 3},
};

static const struct {
    const char *text, *name;
    int quarantine;
    unsigned db;
} policies[] = {
    {"redis://a", "redis://a:6379/0", -1, 0},
    {"redis://a?quarantine=strict", "redis://a:6379/0", 0, 0},
    {"redis://a?quarantine=lenient", "redis://a:6379/0", 1, 0},
    {"redis://a?quarantine=off", "redis://a:6379/0", 2, 0},
    {"redis://a/?quarantine=off", "redis://a:6379/0", 2, 0},
    {"redis://u:p@a:7/3?quarantine=off", "redis://a:7/3", 2, 3},
    {"redis://[::1]?quarantine=lenient", "redis://[::1]:6379/0", 1, 0},
    {"unix:///a", "unix:///a", -1, 0},
    {"unix:///a?quarantine=strict", "unix:///a", 0, 0},
    {"unix:///a?db=3&quarantine=off", "unix:///a?db=3", 2, 3},
    {"unix:///a?quarantine=off&db=3", "unix:///a?db=3", 2, 3},
};

static const struct {
    const char *text, *cacert, *cert, *key, *sni;
    int verify, quarantine;
} secured[] = {
    {"rediss://a", NULL, NULL, NULL, NULL, -1, -1},
    {"rediss://a?verify=none", NULL, NULL, NULL, NULL, 0, -1},
    {"rediss://a?cacert=/c%26a%3f", "/c&a?", NULL, NULL, NULL, -1, -1},
    {"rediss://u:p@a/2?cacert=/etc/me@home.pem", "/etc/me@home.pem", NULL, NULL, NULL, -1, -1},
    {"rediss://a?key=k&cert=c", NULL, "c", "k", NULL, -1, -1},
    {"rediss://a?sni=b&quarantine=off&verify=none&cacert=x=y", "x=y", NULL, NULL, "b", 0, 2},
};

static void same(const char *a, const char *b)
{
    if (a == NULL || b == NULL) {
        ck_assert_ptr_eq(a, b);
    } else {
        ck_assert_str_eq(a, b);
    }
}

TEST_LOOP(a_valid_uri_is_parsed, 0, N_ROWS(good))
{
    struct rlk_uri u;
    const char *why = NULL;

    ck_assert_int_eq(rlk_uri_parse(good[_i].text, &u, &why), 0);
    same(u.host, good[_i].host);
    same(u.path, good[_i].path);
    same(u.user, good[_i].user);
    same(u.password, good[_i].password);
    same(u.name, good[_i].name);
    ck_assert_uint_eq(u.db, good[_i].db);
    if (u.host) {
        ck_assert_uint_eq(u.port, good[_i].port);
    }
    rlk_uri_end(&u);
}

TEST_LOOP(a_node_may_have_a_policy_of_its_own, 0, N_ROWS(policies))
{
    struct rlk_uri u;
    const char *why = NULL;

    ck_assert_int_eq(rlk_uri_parse(policies[_i].text, &u, &why), 0);
    ck_assert_int_eq(u.quarantine, policies[_i].quarantine);
    ck_assert_uint_eq(u.db, policies[_i].db);
    same(u.name, policies[_i].name);
    rlk_uri_end(&u);
}

TEST_LOOP(a_node_may_have_certificates_of_its_own, 0, N_ROWS(secured))
{
    struct rlk_uri u;
    const char *why = NULL;

    ck_assert_int_eq(rlk_uri_parse(secured[_i].text, &u, &why), 0);
    ck_assert(u.tls);
    same(u.cacert, secured[_i].cacert);
    same(u.cert, secured[_i].cert);
    same(u.key, secured[_i].key);
    same(u.sni, secured[_i].sni);
    ck_assert_int_eq(u.verify, secured[_i].verify);
    ck_assert_int_eq(u.quarantine, secured[_i].quarantine);
    rlk_uri_end(&u);
}

/* ---- written again ---- */

/* The text of a URI whose relative files are in /w. */
static const char *format(const struct rlk_uri *u)
{
    static char text[512];
    struct rlk_text count = {.to = NULL}, out = {.to = text, .size = sizeof(text) - 1};

    memset(text, 0, sizeof(text));
    rlk_uri_format(u, "/w d", &count);
    rlk_uri_format(u, "/w d", &out);
    ck_assert_uint_eq(count.len, out.len);
    ck_assert_uint_eq(out.len, strlen(text));
    return text;
}

static void parse_again(const char *text, struct rlk_uri *first, struct rlk_uri *again)
{
    const char *why = NULL;

    ck_assert_int_eq(rlk_uri_parse(text, first, &why), 0);
    ck_assert_int_eq(rlk_uri_parse(format(first), again, &why), 0);
    same(again->name, first->name);
}

TEST_LOOP(a_uri_that_is_written_again_means_the_same, 0, N_ROWS(good))
{
    struct rlk_uri u, again;

    parse_again(good[_i].text, &u, &again);
    same(again.host, u.host);
    same(again.zone, u.zone);
    same(again.path, u.path);
    same(again.user, u.user);
    same(again.password, u.password);
    ck_assert_uint_eq(again.port, u.port);
    ck_assert_uint_eq(again.db, u.db);
    ck_assert_int_eq(again.tls, u.tls);
    rlk_uri_end(&again);
    rlk_uri_end(&u);
}

static void same_file(const char *file, const char *of)
{
    char name[256];

    snprintf(name, sizeof(name), "%s%s", of && of[0] != '/' ? "/w d/" : "", of ? of : "");
    same(file, of ? name : NULL);
}

TEST_LOOP(its_files_are_absolute_then, 0, N_ROWS(secured))
{
    struct rlk_uri u, again;

    parse_again(secured[_i].text, &u, &again);
    ck_assert(again.tls);
    same_file(again.cacert, u.cacert);
    same_file(again.cert, u.cert);
    same_file(again.key, u.key);
    same(again.sni, u.sni);
    ck_assert_int_eq(again.verify, u.verify);
    rlk_uri_end(&again);
    rlk_uri_end(&u);
}

/* Every byte of a user, a password and a file. */
TEST_LOOP(every_byte_can_be_written, 1, 256)
{
    char byte[2] = {(char)_i, '\0'}, file[3] = {'/', (char)_i, '\0'}, host[] = "a", name[] = "a";
    struct rlk_uri u = {.host = host,
                        .user = byte,
                        .password = byte,
                        .cacert = file,
                        .name = name,
                        .port = 1,
                        .tls = true,
                        .verify = 1};
    struct rlk_uri again;
    const char *why = NULL;

    ck_assert_int_eq(rlk_uri_parse(format(&u), &again, &why), 0);
    same(again.user, byte);
    same(again.password, byte);
    same(again.cacert, file);
    rlk_uri_end(&again);
}

static const char *const bad[] = {
    "",
    "redis:",
    "redis://",
    "redis:///0",
    "redis://:6379",
    "redis://a:",
    "redis://a:0",
    "redis://a:65536",
    "redis://a:x",
    "redis://a:-1",
    "redis://a: 1",
    "redis://a:123456",
    "redis://a/x",
    "redis://a/65536",
    "redis://a/0/1",
    "redis://a/0?x=1",
    "redis://a?",
    "redis://a?db=1",
    "redis://a?quarantine",
    "redis://a?quarantine=",
    "redis://a?quarantine=on",
    "redis://a?quarantine=OFF",
    "redis://a?quarantine=of",
    "redis://a?quarantine=offs",
    "redis://a?quarantine=off&quarantine=off",
    "redis://a?quarantine=off&x",
    "redis://a?Quarantine=off",
    "redis://a/?quarantine=off/1",
    "unix:///a?quarantine=on",
    "unix:///a?quarantine=off&db=",
    "unix:///a?db=1&db=1",
    "redis://[::1",
    "redis://[]",
    "redis://[::1]x",
    "redis://[::1]:",
    "redis://::1",
    "redis://u:secret%@a",
    "redis://u:secret%4@a",
    "redis://u:secret%zz@a",
    "redis://u:secret%00@a",
    "redis://a%20b",
    "rediss://u:secret@",
    "rediss://u:secret@a?",
    "rediss://a?verify",
    "rediss://a?verify=",
    "rediss://a?verify=no",
    "rediss://a?verify=full",
    "rediss://a?verify=none&verify=none",
    "rediss://a?cacert=",
    "rediss://a?cacert",
    "rediss://a?cacert=/x&cacert=/x",
    "rediss://a?cert=/x&cert=/y",
    "rediss://a?key=%",
    "rediss://a?sni=%00",
    "rediss://a?db=1",
    "rediss://a?Cacert=/x",
    "redis://a?cacert=/x",
    "redis://a?verify=none",
    "unix:///a?sni=x",
    "http://a",
    "redis://[fe80::1%]",
    "redis://[fe80::1%25]x",
    "redis://[fe80::1%et h]",
    "redis://[fe80%25eth0]",
    "redis://[fe80::1%25a-name-that-is-too-long]",
    "redis://[%25eth0]",
    "redis://a%25eth0",
    "a:6379",
    "unix://relative",
    "unix://u:secret@/a",
    "unix:///",
    "unix://",
    "unix:///a?db=",
    "unix:///a?x=1",
    "unix:///a?db=1&x",
    "unix:///a%",
    "unix:///"
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"
    "890123456789012345678901234567890",
};

TEST(a_unix_uri_with_a_user_says_where_the_user_belongs)
{
    static const char *const texts[] = {"unix://u@/a", "unix://u:secret@/a?db=1",
                                        "unix://:secret@/"};
    struct rlk_uri u;
    const char *why;
    size_t i;

    for (i = 0; i < N_ROWS(texts); i++) {
        why = "";
        ck_assert_int_eq(rlk_uri_parse(texts[i], &u, &why), REDLOCK_EURI);
        ck_assert_ptr_nonnull(strstr(why, "the options username and password"));
    }
    ck_assert_int_eq(rlk_uri_parse("unix://relative?x=@", &u, &why), REDLOCK_EURI);
    ck_assert_ptr_nonnull(strstr(why, "must be absolute"));
}

TEST_LOOP(an_invalid_uri_is_rejected_without_showing_the_password, 0, N_ROWS(bad))
{
    struct rlk_uri u;
    const char *why = NULL;

    ck_assert_int_eq(rlk_uri_parse(bad[_i], &u, &why), REDLOCK_EURI);
    ck_assert_ptr_nonnull(why);
    ck_assert_ptr_null(strstr(why, "secret"));
}
