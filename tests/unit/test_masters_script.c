/* test_masters_script.c - the record of the masters on a real server: scripts/masters.lua accepts
 * and promises as in Paxos, and scripts/incarnation.lua reads the record beside the mark [S15]. */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/master.h"
#include "lib/test.h"
#include "scripts/scripts.h"

SUITE("masters-script");

#define KEY "p:redlock:masters"
#define MARK_KEY "p:redlock:incarnation"
#define LOW "0000000000000001"
#define HIGH "00000000000000ff"

static struct master *master;
static redisContext *server;

static void begin(void)
{
    master = master_start(NULL);
    server = master_connect(master);
}

static void end(void)
{
    redisFree(server);
    master_free(master);
}

FIXTURE(begin, end);

/* ---- masters.lua ---- */

/* What the key says, and what the script answered. */
static struct {
    char number[24], id[24], record[256];
    unsigned long long since_us, now_us;
} is;

static void read_value(const char *value)
{
    is.record[0] = '\0';
    ck_assert_int_ge(
        sscanf(value, "%23s %23s %llu\n%255[^~]", is.number, is.id, &is.since_us, is.record), 3);
}

/* The answer has the value of the key, and it is what the key has. */
static void write_record(const char *number, const char *id, const char *record)
{
    redisReply *reply = master_reply(server, "EVAL %s 1 %s %s %s %s", rlk_script_masters.text, KEY,
                                     number, id, record),
               *there = master_reply(server, "GET %s", KEY);

    ck_assert_msg(reply->type == REDIS_REPLY_ARRAY && reply->elements == 2, "%s", reply->str);
    ck_assert_str_eq(reply->element[0]->str, there->str);
    read_value(there->str);
    is.now_us = strtoull(reply->element[1]->str, NULL, 10);
    freeReplyObject(reply);
    freeReplyObject(there);
}

/* The record under this ballot says `content`. */
static const char *record_of(const char *number, const char *id, const char *content)
{
    static char record[256];

    snprintf(record, sizeof(record), "1 %s %s %s", number, id, content);
    return record;
}

static void accept(const char *number, const char *id, const char *content)
{
    write_record(number, id, record_of(number, id, content));
}

static void must_be(const char *number, const char *id, const char *record)
{
    ck_assert_str_eq(is.number, number);
    ck_assert_str_eq(is.id, id);
    ck_assert_str_eq(is.record, record);
}

TEST(a_promise_shows_what_was_accepted)
{
    write_record("1", LOW, "");
    must_be("1", LOW, "");
    accept("1", LOW, "text");
    must_be("1", LOW, "1 1 " LOW " text");
    write_record("2", LOW, "");
    must_be("2", LOW, "1 1 " LOW " text");
}

TEST(a_record_is_accepted_without_a_promise)
{
    accept("1", LOW, "text");
    must_be("1", LOW, "1 1 " LOW " text");
    accept("3", LOW, "other");
    must_be("3", LOW, "1 3 " LOW " other");
}

static const struct {
    const char *claim, *number, *id;
} earlier[] = {
    {"a_lower_number_is_refused", "9", HIGH},
    {"a_number_with_fewer_digits_is_refused", "2", HIGH},
    {"a_lower_id_is_refused", "10", "000000000000000e"},
    {"a_number_of_zero_is_refused", "0", HIGH},
};

/* Neither promised nor accepted. */
TEST_ROWS(earlier_ballot, earlier)
{
    accept("10", "000000000000000f", "text");
    write_record(earlier[_i].number, earlier[_i].id, "");
    must_be("10", "000000000000000f", "1 10 000000000000000f text");
    accept(earlier[_i].number, earlier[_i].id, "other");
    must_be("10", "000000000000000f", "1 10 000000000000000f text");
    ck_assert_uint_gt(is.now_us, 0);
}

static const struct {
    const char *claim, *number, *id;
} later[] = {
    {"the_same_ballot_is_accepted_again", "9", LOW},
    {"a_higher_id_is_accepted", "9", HIGH},
    {"a_higher_number_is_accepted", "10", LOW},
    {"a_number_with_more_digits_is_accepted", "1000000000000", LOW},
};

TEST_ROWS(later_ballot, later)
{
    accept("9", LOW, "text");
    accept(later[_i].number, later[_i].id, "other");
    must_be(later[_i].number, later[_i].id, record_of(later[_i].number, later[_i].id, "other"));
    write_record(later[_i].number, later[_i].id, "");
    must_be(later[_i].number, later[_i].id, record_of(later[_i].number, later[_i].id, "other"));
}

/* ---- since when ---- */

static unsigned long long server_us(void)
{
    redisReply *reply = master_reply(server, "TIME");
    unsigned long long us = strtoull(reply->element[0]->str, NULL, 10) * 1000000 +
                            strtoull(reply->element[1]->str, NULL, 10);

    freeReplyObject(reply);
    return us;
}

/* The clock of the server has gone on since. */
static void let_time_pass(void)
{
    unsigned long long before_us = server_us();

    while (server_us() == before_us) {
    }
}

TEST(since_is_when_the_record_was_accepted)
{
    unsigned long long before_us = server_us(), promised_us;

    write_record("1", LOW, "");
    promised_us = is.since_us;
    ck_assert_uint_ge(promised_us, before_us);
    let_time_pass();
    accept("1", LOW, "text");
    ck_assert_uint_gt(is.since_us, promised_us);
    ck_assert_uint_eq(is.since_us, is.now_us);
}

TEST(since_stays_when_only_the_ballot_changes)
{
    unsigned long long since_us;

    accept("1", LOW, "text");
    since_us = is.since_us;
    let_time_pass();
    accept("1", LOW, "text");
    ck_assert_uint_eq(is.since_us, since_us);
    write_record("2", LOW, "");
    ck_assert_uint_eq(is.since_us, since_us);
    accept("3", HIGH, "text");
    ck_assert_uint_eq(is.since_us, since_us);
    ck_assert_uint_gt(is.now_us, since_us);
    accept("4", HIGH, "text.");
    ck_assert_uint_gt(is.since_us, since_us);
}

/* Several lines, and what means something in a Lua pattern. */
TEST(a_record_may_have_any_text)
{
    static const char text[] = "2 300000\n%d+ 1 - [x]\n(%1) 1 2! ^$\n";
    unsigned long long since_us;

    accept("1", LOW, text);
    must_be("1", LOW, record_of("1", LOW, text));
    since_us = is.since_us;
    let_time_pass();
    accept("2", LOW, text);
    must_be("2", LOW, record_of("2", LOW, text));
    ck_assert_uint_eq(is.since_us, since_us);
}

/* ---- what the key may be otherwise ---- */

static const struct {
    const char *claim, *value;
} spoilt[] = {
    {"an_empty_value_is_replaced", ""},
    {"a_value_without_a_line_end_is_replaced", "99 " LOW " 5"},
    {"a_negative_ballot_is_replaced", "-99 " LOW " 5\n"},
    {"a_value_without_since_is_replaced", "99 " LOW "\ntext"},
    {"garbage_is_replaced", "\n\n%s 99"},
};

TEST_ROWS(spoilt_value, spoilt)
{
    freeReplyObject(master_reply(server, "SET %s %s", KEY, spoilt[_i].value));
    write_record("1", LOW, "");
    must_be("1", LOW, "");
    ck_assert_uint_eq(is.since_us, is.now_us);
    freeReplyObject(master_reply(server, "SET %s %s", KEY, spoilt[_i].value));
    accept("1", LOW, "text");
    must_be("1", LOW, "1 1 " LOW " text");
    ck_assert_uint_eq(is.since_us, is.now_us);
}

/* Somebody has promised, and the record cannot be read: it is shown as it is, and replaced. */
TEST(garbage_in_place_of_the_record_is_replaced)
{
    freeReplyObject(master_reply(server, "SET %s %s", KEY, "5 " LOW " 7\nno record"));
    write_record("4", HIGH, "");
    must_be("5", LOW, "no record");
    write_record("6", LOW, "");
    must_be("6", LOW, "no record");
    ck_assert_uint_eq(is.since_us, 7);
    accept("6", LOW, "text");
    must_be("6", LOW, "1 6 " LOW " text");
    ck_assert_uint_eq(is.since_us, is.now_us);
}

/* A text that is no record is not the same as another one. */
TEST(what_is_no_record_is_another_one)
{
    freeReplyObject(master_reply(server, "SET %s %s", KEY, "5 " LOW " 7\n2 new"));
    write_record("6", LOW, "3 other");
    ck_assert_uint_eq(is.since_us, 7);
}

TEST(a_key_of_another_type_is_left_alone)
{
    redisReply *reply;

    freeReplyObject(master_reply(server, "LPUSH %s x", KEY));
    reply = master_reply(server, "EVAL %s 1 %s 1 %s %s", rlk_script_masters.text, KEY, LOW, "");
    ck_assert_int_eq(reply->type, REDIS_REPLY_ERROR);
    ck_assert_ptr_nonnull(strstr(reply->str, "WRONGTYPE"));
    freeReplyObject(reply);
    reply = master_reply(server, "LLEN %s", KEY);
    ck_assert_int_eq(reply->integer, 1);
    freeReplyObject(reply);
}

/* A promise that cannot be kept is not given. */
TEST(a_full_server_promises_nothing)
{
    redisReply *reply;

    freeReplyObject(master_reply(server, "CONFIG SET maxmemory 1"));
    reply = master_reply(server, "EVAL %s 1 %s 1 %s %s", rlk_script_masters.text, KEY, LOW, "");
    ck_assert_int_eq(reply->type, REDIS_REPLY_ERROR);
    ck_assert_ptr_nonnull(strstr(reply->str, "OOM"));
    freeReplyObject(reply);
    freeReplyObject(master_reply(server, "CONFIG SET maxmemory 0"));
    reply = master_reply(server, "EXISTS %s", KEY);
    ck_assert_int_eq(reply->integer, 0);
    freeReplyObject(reply);
}

/* ---- incarnation.lua ---- */

/* The answer to an inspection that reads `key`, too. The mark and the time are there whatever
 * comes third. */
static redisReply *inspect(const char *key, size_t elements)
{
    redisReply *reply = master_reply(server, "EVAL %s 1 %s run 00000000000000aa 0 0 %s",
                                     rlk_script_incarnation.text, MARK_KEY, key),
               *there = master_reply(server, "GET %s", MARK_KEY);

    ck_assert_msg(reply->type == REDIS_REPLY_ARRAY && reply->elements == elements, "%s",
                  reply->str);
    ck_assert_str_eq(reply->element[0]->str, there->str);
    ck_assert_int_eq(strncmp(there->str, "run 00000000000000aa ", 21), 0);
    ck_assert_uint_ge(strtoull(reply->element[1]->str, NULL, 10), server_us() - 60000000);
    freeReplyObject(there);
    return reply;
}

static void must_show_error(const char *word)
{
    redisReply *reply = inspect(KEY, 3);

    ck_assert_int_eq(reply->element[2]->type, REDIS_REPLY_ERROR);
    ck_assert_msg(strstr(reply->element[2]->str, word) != NULL, "%s", reply->element[2]->str);
    freeReplyObject(reply);
}

TEST(an_inspection_without_a_record_has_two_answers)
{
    freeReplyObject(inspect("", 2));
}

TEST(an_inspection_shows_that_there_is_no_record)
{
    redisReply *reply = inspect(KEY, 3);

    ck_assert_int_eq(reply->element[2]->type, REDIS_REPLY_NIL);
    freeReplyObject(reply);
}

TEST(an_inspection_shows_the_record)
{
    redisReply *reply;

    accept("1", LOW, "text");
    reply = inspect(KEY, 3);
    ck_assert_int_eq(reply->element[2]->type, REDIS_REPLY_STRING);
    read_value(reply->element[2]->str);
    must_be("1", LOW, "1 1 " LOW " text");
    freeReplyObject(reply);
}

TEST(an_inspection_goes_on_without_a_record_of_another_type)
{
    freeReplyObject(master_reply(server, "LPUSH %s x", KEY));
    must_show_error("WRONGTYPE");
}

TEST(an_inspection_goes_on_without_the_right_to_read_the_record)
{
    if (!master_user(master, "ann on nopass ~" MARK_KEY " +@all")) {
        return;
    }
    freeReplyObject(master_reply(server, "AUTH ann x"));
    must_show_error("access");
    freeReplyObject(master_reply(server, "AUTH default x"));
}

/* It must not be lost, as a key that was named in the call. */
TEST(an_inspection_leaves_the_record_as_it_is)
{
    redisReply *reply;

    accept("1", LOW, "text");
    freeReplyObject(inspect(KEY, 3));
    reply = master_reply(server, "GET %s", KEY);
    read_value(reply->str);
    must_be("1", LOW, "1 1 " LOW " text");
    freeReplyObject(reply);
}
