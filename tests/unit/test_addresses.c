/* test_addresses.c - in which order the addresses of a server are tried. An address is one letter:
 * capitals are IPv6. */
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <string.h>

#include "lib/test.h"
#include "net/addresses.h"

SUITE("addresses");

static struct rlk_addresses a;

static void lookup_begins(void)
{
    rlk_addresses_begin(&a);
}

/* The lookup names these. */
static void found(const char *letters)
{
    for (; *letters; letters++) {
        struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = (in_port_t)*letters};
        struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = (in_port_t)*letters};

        if (isupper((unsigned char)*letters)) {
            rlk_addresses_add(&a, &v6, sizeof(v6));
        } else {
            rlk_addresses_add(&a, &v4, sizeof(v4));
        }
    }
}

static const char *letters(void)
{
    static char text[RLK_ADDRESSES_MAX + 1];
    unsigned i;

    for (i = 0; i < a.n; i++) {
        const struct sockaddr_in *v4 = (const void *)&a.item[i].socket; /* the port is at the same
                                                                           place in both */
        text[i] = (char)v4->sin_port;
    }
    text[i] = '\0';
    return text;
}

/* The lookup ends, so the addresses are put in order. */
static const char *order(void)
{
    rlk_addresses_sort(&a);
    return letters();
}

static const char *looked_up(const char *letters)
{
    lookup_begins();
    found(letters);
    return order();
}

static unsigned place_of(char letter)
{
    return (unsigned)(strchr(order(), letter) - order());
}

static void worked(char letter)
{
    rlk_addresses_worked(&a, place_of(letter));
}

static void failed(char letter)
{
    rlk_addresses_failed(&a, place_of(letter));
}

static const struct {
    const char *found, *order;
} fresh[] = {
    {"", ""},           {"a", "a"},        {"ab", "ab"},
    {"aB", "Ba"},       {"abcD", "Dabc"},  {"abcDEF", "DaEbFc"},
    {"ABcDe", "AcBeD"}, {"aabBab", "Bab"}, {"abcdefghijklmnopq", "abcdefghijklmnop"},
};

TEST_LOOP(families_take_turns_and_ipv6_begins, 0, N_ROWS(fresh))
{
    a = (struct rlk_addresses){0};
    ck_assert_str_eq(looked_up(fresh[_i].found), fresh[_i].order);
    ck_assert_str_eq(looked_up(fresh[_i].found), fresh[_i].order);
}

TEST(the_address_that_worked_last_is_first)
{
    a = (struct rlk_addresses){0};
    looked_up("abCD");
    worked('b');
    ck_assert_str_eq(looked_up("abCD"), "bCaD");
    worked('D');
    ck_assert_str_eq(looked_up("abCD"), "DbCa");
}

/* However many fail, each gets its turn: the one that failed longest ago is the next. */
TEST(an_address_that_failed_is_last)
{
    a = (struct rlk_addresses){0};
    looked_up("abc");
    failed('a');
    ck_assert_str_eq(looked_up("abc"), "bca");
    failed('b');
    ck_assert_str_eq(looked_up("abc"), "cab");
    failed('c');
    ck_assert_str_eq(looked_up("abc"), "abc");
    failed('a');
    ck_assert_str_eq(looked_up("abc"), "bca");
    worked('a');
    ck_assert_str_eq(looked_up("abc"), "abc");
}

TEST(a_new_address_comes_before_those_that_failed)
{
    a = (struct rlk_addresses){0};
    looked_up("ab");
    failed('a');
    failed('b');
    ck_assert_str_eq(looked_up("abc"), "cab");
}

TEST(an_address_that_is_no_longer_named_is_forgotten)
{
    a = (struct rlk_addresses){0};
    looked_up("abc");
    failed('a');
    ck_assert_str_eq(looked_up("bd"), "bd");
    ck_assert_str_eq(looked_up("abd"), "bda");
    ck_assert_uint_eq(a.item[2].failed, 0);
}

/* As many as there is room for. */
static const char all[] = "abcdefghijklmnop";

/* Each lookup of a name may answer with as many other addresses as there is room for. */
TEST(new_addresses_take_the_room_of_those_that_are_no_longer_named)
{
    a = (struct rlk_addresses){0};
    ck_assert_uint_eq(strlen(all), RLK_ADDRESSES_MAX);
    looked_up(all);
    ck_assert_str_eq(looked_up("0123456789qrstuv"), "vutsrq9876543210");
    worked('9');
    ck_assert_str_eq(looked_up("abcdefghijklmnop9"), "9onmlkjihgfedcba");
    ck_assert_str_eq(looked_up("0123456789qrstuv"), "9vutsrq876543210");
}

/* The socket of one of the first is on its way, or connected. */
TEST(what_is_being_tried_keeps_its_place)
{
    a = (struct rlk_addresses){0};
    looked_up(all);
    lookup_begins();
    a.tried = 14;
    found("qrstu");
    rlk_addresses_sort_rest(&a, a.tried);
    ck_assert_str_eq(letters(), "abcdefghijklmnrq");
}

/* Without an answer the addresses known before are what there is. */
TEST(a_lookup_that_names_nothing_forgets_nothing)
{
    a = (struct rlk_addresses){0};
    looked_up("ab");
    worked('b');
    ck_assert_str_eq(looked_up(""), "ba");
    ck_assert_str_eq(looked_up(""), "ba");
    ck_assert_str_eq(looked_up("ac"), "ac");
}

/* The old addresses were being tried by then. */
TEST(what_a_late_answer_no_longer_names_is_forgotten_by_the_next_lookup)
{
    a = (struct rlk_addresses){0};
    looked_up("ab");
    lookup_begins();
    ck_assert_str_eq(order(), "ab");
    found("bc");
    ck_assert_uint_eq(a.n, 3);
    ck_assert_str_eq(looked_up(""), "bc");
}

/* Those at the begin were tried already, those at the end are from a late answer. */
TEST(the_rest_is_put_in_order_behind_what_was_tried)
{
    a = (struct rlk_addresses){0};
    looked_up("ABC");
    found("de");
    rlk_addresses_sort_rest(&a, 1);
    ck_assert_str_eq(letters(), "AdBeC");
    rlk_addresses_failed(&a, 1);
    rlk_addresses_sort_rest(&a, 1);
    ck_assert_str_eq(letters(), "AeBCd");
    rlk_addresses_sort_rest(&a, 5);
    ck_assert_str_eq(letters(), "AeBCd");
}

static const char *several(size_t size)
{
    static char text[200];

    rlk_addresses_write_several(&a, text, size);
    return text;
}

static void name(const char *address)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

    if (inet_pton(AF_INET, address, &v4.sin_addr) == 1) {
        rlk_addresses_add(&a, &v4, sizeof(v4));
    } else {
        ck_assert_int_eq(inet_pton(AF_INET6, address, &v6.sin6_addr), 1);
        rlk_addresses_add(&a, &v6, sizeof(v6));
    }
}

/* One of each family is the usual name of one server. */
TEST(several_addresses_of_one_family_are_named)
{
    a = (struct rlk_addresses){0};
    ck_assert_str_eq(several(200), "");
    lookup_begins();
    name("10.0.0.1");
    name("::1");
    name("10.0.0.1");
    ck_assert_str_eq(several(200), "");
    name("10.0.0.2");
    ck_assert_str_eq(several(200), "10.0.0.1, 10.0.0.2");
    ck_assert_str_eq(several(15), "10.0.0.1, 10.0");
    name("::2");
    ck_assert_str_eq(several(200), "10.0.0.1, ::1, 10.0.0.2, ::2");
    lookup_begins(); /* the name has moved: what was known before does not count */
    name("10.0.0.3");
    ck_assert_str_eq(several(200), "");
}
