/* unit/test_leader_text.c - what a candidate writes as the owner of its lock is what others read.
 */
#include <stdio.h>
#include <string.h>

#include "core/reply.h"
#include "lib/test.h"
#include "lock/found.h"
#include "lock/leader_text.h"
#include "net/reply_text.h"
#include "node/claim.h"

SUITE("leader_text");

#define HEX "0123456789012345678901234567890123456789:"
#define ID64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char owner[REDLOCK_MAX_OWNER + 1];

static void must_read(const char *text, const char *id, const char *value, unsigned priority)
{
    struct rlk_leader_text got;

    memset(&got, 0xa5, sizeof(got));
    rlk_leader_text_read(text, &got);
    ck_assert_str_eq(got.id, id);
    ck_assert_str_eq(got.value, value);
    ck_assert_uint_eq(got.priority, priority);
}

static void must_come_back(const char *id, const char *value, unsigned priority)
{
    rlk_leader_text_write(owner, id, value, priority);
    must_read(owner, id, value, priority);
}

/* A text of this many bytes. */
static const char *text_of(char *to, size_t len, char byte)
{
    memset(to, byte, len);
    to[len] = '\0';
    return to;
}

TEST(every_length_and_priority_comes_back)
{
    static const unsigned priorities[] = {0, 1, 9, 10, 99, 100, RLK_LEADER_MAX_PRIORITY};
    char id[REDLOCK_MAX_ID + 1], value[REDLOCK_MAX_VALUE + 1];
    size_t i, v, p;

    for (p = 0; p < N_ROWS(priorities); p++) {
        for (i = 1; i <= REDLOCK_MAX_ID; i++) {
            for (v = 0; v <= REDLOCK_MAX_VALUE; v++) {
                must_come_back(text_of(id, i, 'i'), text_of(value, v, 'v'), priorities[p]);
            }
        }
    }
}

/* An id has printable ASCII without spaces, a value also spaces: each alone, in front, and behind.
 */
TEST(every_byte_that_is_allowed_comes_back)
{
    char id[4], value[4];
    int byte;

    for (byte = ' '; byte <= '~'; byte++) {
        snprintf(value, sizeof(value), "%cv%c", byte, byte);
        must_come_back("id", value, 7);
        must_come_back("id", text_of(value, 1, (char)byte), 0);
        if (byte > ' ') {
            snprintf(id, sizeof(id), "%ci%c", byte, byte);
            must_come_back(id, value, 0);
            must_come_back(text_of(id, 1, (char)byte), "", 7);
        }
    }
}

TEST(no_value_is_like_an_empty_one)
{
    char empty[sizeof(owner)];

    rlk_leader_text_write(owner, "id", "", 0);
    memcpy(empty, owner, sizeof(owner));
    rlk_leader_text_write(owner, "id", NULL, 0);
    ck_assert_str_eq(owner, "leader id");
    ck_assert_str_eq(owner, empty);
}

/* The other clients know these texts. */
TEST(the_form_stays)
{
    rlk_leader_text_write(owner, "a", "10.0.0.1:80 and more", 0);
    ck_assert_str_eq(owner, "leader a 10.0.0.1:80 and more");
    rlk_leader_text_write(owner, "a", "v", 999);
    ck_assert_str_eq(owner, "leader+999 a v");
    rlk_leader_text_write(owner, "a", "", 7);
    ck_assert_str_eq(owner, "leader+7 a");
}

/* What nobody has written like this. */
static const struct {
    const char *claim;
    const char *owner;
    const char *id, *value;
    unsigned priority;
} foreign[] = {
    {"nothing", "", "", "", 0},
    {"the_word_alone", "leader", "", "", 0},
    {"no_id", "leader ", "", "", 0},
    {"no_id_and_a_value", "leader  v", "", "", 0},
    {"another_word", "leaders a", "", "", 0},
    {"a_capital_letter", "Leader a", "", "", 0},
    {"a_shorter_word", "lead", "", "", 0},
    {"a_bid", "bid 7 a", "", "", 0},
    {"an_id_that_is_too_long", "leader " ID64 "x v", "", "", 0},
    {"a_priority_of_four_digits", "leader+1000 a v", "", "", 0},
    {"a_priority_without_digits", "leader+ a v", "", "", 0},
    {"a_priority_below_zero", "leader+-1 a v", "", "", 0},
    {"a_priority_with_something_behind", "leader+1x a v", "", "", 0},
    {"a_priority_and_no_id", "leader+7 ", "", "", 0},
    {"a_priority_of_zero", "leader+0 a v", "a", "v", 0},
    {"a_priority_with_zeros_in_front", "leader+007 a v", "a", "v", 7},
    {"a_space_and_no_value", "leader a ", "a", "", 0},
    {"a_tab_is_no_space", "leader a\tb c", "a\tb", "c", 0},
    {"a_longer_value", "leader a " ID64 ID64 "x", "a", ID64 ID64 "x", 0},
};

TEST_ROWS(a_foreign_text, foreign)
{
    must_read(foreign[_i].owner, foreign[_i].id, foreign[_i].value, foreign[_i].priority);
}

/* ---- through the value of the key ---- */

/* What a query shows of a value, and finds in it. */
static void must_read_in(const char *bytes, size_t len, const char *id, const char *value)
{
    const struct rlk_reply reply = {RLK_REPLY_STRING, 0, bytes, len};
    char shown[RLK_FOUND_SHOWN];

    rlk_reply_show(&reply, shown, sizeof(shown));
    must_read(rlk_claim_owner(shown), id, value, 0);
}

TEST(the_longest_text_and_colons_come_back_through_a_token)
{
    char value[REDLOCK_MAX_VALUE + 1], token[RLK_FOUND_SHOWN];

    rlk_leader_text_write(owner, ID64, text_of(value, REDLOCK_MAX_VALUE, ':'), 0);
    snprintf(token, sizeof(token), HEX "%s", owner);
    ck_assert_uint_le(strlen(token), RLK_TOKEN_MAX);
    must_read_in(token, strlen(token), ID64, value);
    rlk_leader_text_write(owner, ":a:", "[::1]:80", 0);
    snprintf(token, sizeof(token), HEX "%s", owner);
    must_read_in(token, strlen(token), ":a:", "[::1]:80");
}

TEST(bytes_that_no_candidate_writes_are_shown_as_escapes)
{
    static const char nul[] = HEX "leader a\0b v\0", high[] = HEX "leader \xc3\xa4 \n";

    must_read_in(nul, sizeof(nul) - 1, "a\\x00b", "v\\x00");
    must_read_in(high, sizeof(high) - 1, "\\xc3\\xa4", "\\x0a");
    must_read_in("leader a v", 10, "", "");
}
