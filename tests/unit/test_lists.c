/* test_lists.c - the scripts wait, leave and release with their waiting lists, on a real server.
 *
 * A walk does the same on the server and on the model of it that other tests use, and compares the
 * answers, the lists and what those who wait receive. The other tests are what the model does not
 * have: lists of a wrong type, rights, memory, the length and the life of a list. */
#include <event2/buffer.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/prng.h"
#include "lib/master.h"
#include "testing/model.h"
#include "lib/test.h"
#include "node/claim.h"
#include "node/command.h"

SUITE("lists");

#define MINE "0123456789abcdef0123456789abcdef01234567"
#define KEYS 3
#define CHANNELS 5
#define TEXT 4096

static const char *const keys[KEYS] = {"p:a", "p:b", "p:c"};
static const char *const channels[CHANNELS] = {"p:w1", "p:w2", "p:w3", "p:w4", "p:w5"};

static struct master *master;
static redisContext *server, *listener;
static struct rlk_pool pool;
static struct rlk_claim_source source = {.pool = &pool};
static struct rlk_command command;
static bool listens[CHANNELS];

/* ---- the server ---- */

#define DO(...) freeReplyObject(master_reply(server, __VA_ARGS__))

static int64_t number(redisReply *reply)
{
    int64_t n = reply->integer;

    ck_assert_int_eq(reply->type, REDIS_REPLY_INTEGER);
    freeReplyObject(reply);
    return n;
}

static redisReply *run(void)
{
    void *reply = NULL;

    redisAppendFormattedCommand(server, command.bytes, command.len);
    ck_assert_int_eq(redisGetReply(server, &reply), REDIS_OK);
    return reply;
}

/* A claim to these keys, as bits, in their order or the other way round. */
static struct rlk_claim *claim_to(unsigned bits, bool backward)
{
    struct rlk_key prefix = {"", 0}, of[KEYS];
    struct rlk_claim *claim;
    unsigned i, n = 0;

    for (i = 0; i < KEYS; i++) {
        unsigned key = backward ? KEYS - 1 - i : i;

        if (bits & 1u << key) {
            of[n++] = (struct rlk_key){keys[key], strlen(keys[key])};
        }
    }
    claim = rlk_claim_new(&source, &prefix, of, n, strlen(MINE), 30000);
    rlk_claim_set_token(claim, MINE, strlen(MINE));
    return claim;
}

static uint64_t wall_clock_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Who has waited for so many seconds. */
static redisReply *wait_after(unsigned bits, const char *channel, unsigned waited_s)
{
    struct rlk_claim *claim = claim_to(bits, false);

    rlk_command_wait(&command, claim, waited_s * UINT64_C(1000000), channel, true);
    rlk_claim_unref(claim);
    return run();
}

static redisReply *wait_for(unsigned bits, const char *channel)
{
    return wait_after(bits, channel, 0);
}

static redisReply *leave(unsigned bits, const char *channel)
{
    struct rlk_claim *claim = claim_to(bits, false);

    rlk_command_leave(&command, claim, channel, true);
    rlk_claim_unref(claim);
    return run();
}

static redisReply *release(unsigned bits, const char *channel)
{
    struct rlk_claim *claim = claim_to(bits, false);

    claim->channel = channel;
    rlk_command_release(&command, claim, true, NULL);
    rlk_claim_unref(claim);
    return run();
}

/* {place, left, value}; `has_ttl`: left is not -1. */
static void says_position(redisReply *reply, int64_t place, bool has_ttl, const char *value)
{
    ck_assert_int_eq(reply->type, REDIS_REPLY_ARRAY);
    ck_assert_uint_eq(reply->elements, 3);
    ck_assert_int_eq(reply->element[0]->integer, place);
    ck_assert_int_eq(reply->element[1]->integer >= 0, has_ttl);
    ck_assert_str_eq(reply->element[2]->str, value);
    freeReplyObject(reply);
}

static void says_error(redisReply *reply, const char *word)
{
    ck_assert_int_eq(reply->type, REDIS_REPLY_ERROR);
    ck_assert_ptr_nonnull(strstr(reply->str, word));
    freeReplyObject(reply);
}

/* The channels of a list with a blank behind each. */
static void list_of(const char *key, char out[TEXT])
{
    redisReply *reply = master_reply(server, "ZRANGE %s:redlock-waiting 0 -1", key);
    size_t i, len = 0;

    out[0] = '\0';
    for (i = 0; i < reply->elements; i++) {
        len += (size_t)snprintf(out + len, TEXT - len, "%s ", reply->element[i]->str);
    }
    freeReplyObject(reply);
}

static void check_list(const char *key, const char *wanted)
{
    char is[TEXT];

    list_of(key, is);
    ck_assert_str_eq(is, wanted);
}

/* ---- those who listen ---- */

static void listen_to(unsigned channel, bool on)
{
    freeReplyObject(
        master_reply(listener, "%s %s", on ? "SUBSCRIBE" : "UNSUBSCRIBE", channels[channel]));
    listens[channel] = on;
}

/* What was published until now: "channel text\n" for each. The PONG comes behind it. */
static void heard(char out[TEXT])
{
    redisReply *reply = NULL;
    size_t len = 0;

    out[0] = '\0';
    freeReplyObject(master_reply(server, "PING"));
    redisAppendCommand(listener, "PING");
    for (;;) {
        ck_assert_int_eq(redisGetReply(listener, (void **)&reply), REDIS_OK);
        if (reply->type != REDIS_REPLY_ARRAY || strcmp(reply->element[0]->str, "message") != 0) {
            break;
        }
        len += (size_t)snprintf(out + len, TEXT - len, "%s %s\n", reply->element[1]->str,
                                reply->element[2]->str);
        freeReplyObject(reply);
    }
    freeReplyObject(reply);
}

static void check_heard(const char *wanted)
{
    char is[TEXT];

    heard(is);
    ck_assert_str_eq(is, wanted);
}

static void begin(void)
{
    unsigned i;

    master = master_start(NULL);
    server = master_connect(master);
    listener = master_connect(master);
    pool.keep = 2;
    for (i = 0; i < CHANNELS; i++) {
        listen_to(i, true);
    }
}

static void end(void)
{
    redisFree(listener);
    redisFree(server);
    master_free(master);
    rlk_pool_end(&pool);
}

/* ---- the walk ---- */

static struct model model;
static struct model_session session, listeners[CHANNELS];
static char published[TEXT];

static redisReply *parse(struct evbuffer *bytes)
{
    redisReader *reader = redisReaderCreate();
    void *reply = NULL;
    size_t len = evbuffer_get_length(bytes);

    redisReaderFeed(reader, (const char *)evbuffer_pullup(bytes, -1), len);
    evbuffer_drain(bytes, len);
    ck_assert_int_eq(redisReaderGetReply(reader, &reply), REDIS_OK);
    ck_assert_ptr_nonnull(reply);
    redisReaderFree(reader);
    return reply;
}

/* One of those who listen to the model has a message. */
static void pushed(struct model_session *s)
{
    redisReply *reply = parse(s->out);
    size_t len = strlen(published);

    snprintf(published + len, TEXT - len, "%s %s\n", reply->element[1]->str,
             reply->element[2]->str);
    freeReplyObject(reply);
}

/* Each channel has a session of its own, which listens or not. */
static void begin_model(void)
{
    unsigned i;

    rlk_model_init(&model);
    model.clock_us += wall_clock_us() - rlk_model_now_us(&model);
    for (i = 0; i < CHANNELS; i++) {
        strcpy(listeners[i].channels[0], channels[i]);
        listeners[i].n_channels = 1;
        rlk_model_session_join(&model, &listeners[i], evbuffer_new(), pushed);
    }
}

static void end_model(void)
{
    unsigned i;

    for (i = 0; i < CHANNELS; i++) {
        evbuffer_free(listeners[i].out);
    }
    rlk_model_free(&model);
}

/* A reply as text. What is left of a ttl is a '+': the two clocks differ. */
static void show(const redisReply *reply, char *out, size_t size)
{
    if (reply->type != REDIS_REPLY_ARRAY) {
        snprintf(out, size, "%d %lld %s", reply->type, reply->integer,
                 reply->str ? reply->str : "");
        return;
    }
    ck_assert_uint_eq(reply->elements, 3);
    snprintf(out, size, "%lld %lld%s %s", reply->element[0]->integer,
             reply->element[1]->integer < 0 ? reply->element[1]->integer : 0,
             reply->element[1]->integer < 0 ? "" : "+", reply->element[2]->str);
}

/* The formatted command, on the model. */
static redisReply *run_model(void)
{
    struct evbuffer *in = evbuffer_new(), *out = evbuffer_new();
    struct resp_request request;
    redisReply *reply;

    evbuffer_add(in, command.bytes, command.len);
    ck_assert_int_eq(rlk_resp_take(in, &request), RESP_ONE);
    published[0] = '\0';
    rlk_model_run(&model, &session, &request, out);
    reply = parse(out);
    rlk_resp_free(&request);
    evbuffer_free(in);
    evbuffer_free(out);
    return reply;
}

static void compare_answers(void)
{
    redisReply *real = run(), *modelled = run_model();
    char is[256], wanted[256], at_once[TEXT];

    show(real, is, sizeof(is));
    show(modelled, wanted, sizeof(wanted));
    ck_assert_str_eq(wanted, is);
    freeReplyObject(real);
    freeReplyObject(modelled);
    heard(at_once);
    ck_assert_str_eq(published, at_once);
}

static void compare_lists(void)
{
    char is[TEXT], modelled[TEXT];
    unsigned i;

    for (i = 0; i < KEYS; i++) {
        size_t place, len = 0;
        const char *channel;

        list_of(keys[i], is);
        modelled[0] = '\0';
        for (place = 1; (channel = rlk_model_waiter(&model, keys[i], place)) != NULL; place++) {
            len += (size_t)snprintf(modelled + len, TEXT - len, "%s ", channel);
        }
        ck_assert_str_eq(modelled, is);
    }
}

static void change_key(unsigned key, unsigned how)
{
    if (how == 0) {
        DO("DEL %s", keys[key]);
        rlk_model_del(&model, keys[key]);
    } else {
        const char *value = how == 1 ? MINE : "other";

        DO("SET %s %s PX 90000", keys[key], value);
        rlk_model_set(&model, keys[key], value, 90000);
    }
}

/* Below `n`. */
static unsigned draw(struct rlk_prng *p, unsigned n)
{
    return (unsigned)(rlk_prng_next(p) % n);
}

/* One of the three scripts for some of the keys. */
static void format_some(struct rlk_prng *p)
{
    struct rlk_claim *claim = claim_to(1 + draw(p, 7), draw(p, 2));
    const char *channel = channels[draw(p, CHANNELS)];
    unsigned what = draw(p, 6);

    if (what < 3) {
        uint64_t waited_us = draw(p, 5) * UINT64_C(100000000); /* in steps longer than the walk */

        claim->yields = draw(p, 3) == 2;
        rlk_command_wait(&command, claim, waited_us, channel, true);
    } else if (what == 3) {
        rlk_command_leave(&command, claim, channel, true);
    } else {
        claim->channel = (const char *[]){NULL, "", channel, channel}[draw(p, 4)];
        rlk_command_release(&command, claim, true, NULL);
    }
    rlk_claim_unref(claim);
}

FIXTURE(begin, end);

/* _i: the seed. */
TEST_LOOP(the_model_does_what_the_server_does, 0, 8)
{
    struct rlk_prng p;
    unsigned i;

    rlk_prng_seed(&p, (uint64_t)_i);
    begin_model();
    for (i = 0; i < 600; i++) {
        unsigned step = draw(&p, 10);

        if (step == 0) {
            unsigned channel = draw(&p, CHANNELS);

            listen_to(channel, !listens[channel]);
            listeners[channel].n_channels = listens[channel];
        } else if (step < 4) {
            change_key(draw(&p, KEYS), draw(&p, 3));
        } else {
            format_some(&p);
            compare_answers();
        }
        compare_lists();
    }
    end_model();
}

static void format_wait(unsigned channel, unsigned waited_s)
{
    struct rlk_claim *claim = claim_to(1, false);

    rlk_command_wait(&command, claim, waited_s * UINT64_C(1000000), channels[channel], true);
    rlk_claim_unref(claim);
}

/* Two of them have entered when the clock was ahead. */
TEST(the_model_moves_tickets_of_the_future_as_the_server_does)
{
    unsigned i;

    begin_model();
    change_key(0, 1);
    model.clock_us += 21000000;
    for (i = 0; i < 2; i++) {
        DO("ZADD p:a:redlock-waiting %llu %s", (unsigned long long)rlk_model_now_us(&model),
           channels[i]);
        format_wait(i, 0);
        freeReplyObject(run_model());
    }
    model.clock_us -= 21000000;
    for (i = 0; i < 5; i++) {
        format_wait((unsigned[]){2, 1, 3, 0, 2}[i], (unsigned[]){0, 1, 0, 2, 0}[i]);
        compare_answers();
        compare_lists();
    }
    check_list("p:a", "p:w1 p:w2 p:w3 p:w4 ");
    end_model();
}

/* ---- what the model does not have ---- */

/* Whoever is woken is out of the list, and the next one knows that it is the next. */
TEST(a_release_wakes_the_first_and_tells_the_next)
{
    DO("SET p:a other PX 90000");
    says_position(wait_for(1, "p:w1"), 1, true, "other");
    says_position(wait_for(1, "p:w2"), 2, true, "other");
    says_position(wait_for(1, "p:w3"), 3, true, "other");
    says_position(wait_after(1, "p:w4", 9), 1, true, "other");
    says_position(wait_for(1, "p:w2"), 3, true, "other");
    check_list("p:a", "p:w4 p:w1 p:w2 p:w3 ");
    ck_assert_int_eq(number(release(1, "")), -1);
    DO("SET p:a " MINE);
    ck_assert_int_eq(number(release(1, NULL)), 1);
    check_heard("");
    DO("SET p:a " MINE);
    ck_assert_int_eq(number(release(1, "p:w4")), 2);
    check_heard("p:w1 tp:a\np:w2 np:a\n");
    check_list("p:a", "p:w2 p:w3 ");
}

/* [W7, W8] Woken in vain after a long wait. */
TEST(who_was_woken_has_its_place_back)
{
    DO("SET p:a " MINE " PX 90000");
    says_position(wait_after(1, "p:w1", 20), 1, true, MINE);
    says_position(wait_after(1, "p:w2", 10), 2, true, MINE);
    ck_assert_int_eq(number(release(1, "")), 2);
    DO("SET p:a other PX 90000");
    check_list("p:a", "p:w2 ");
    says_position(wait_after(1, "p:w1", 21), 1, true, "other");
}

/* [W8] The first call of p:w2 was under way for 15 s, and then a later one of p:w1 was. */
TEST(who_is_listed_is_never_moved_behind_another)
{
    DO("SET p:a other PX 90000");
    says_position(wait_after(1, "p:w1", 10), 1, true, "other");
    says_position(wait_after(1, "p:w2", 5), 2, true, "other");
    says_position(wait_after(1, "p:w2", 20), 1, true, "other");
    says_position(wait_after(1, "p:w1", 0), 2, true, "other");
    says_position(wait_after(1, "p:w3", 9), 3, true, "other");
}

/* [W8] Others are before it after a day. */
TEST(nobody_has_waited_for_more_than_a_day)
{
    const unsigned day_s = 86400;

    DO("SET p:a other PX 90000");
    says_position(wait_after(1, "p:w1", day_s), 1, true, "other");
    says_position(wait_after(1, "p:w2", 100 * day_s), 2, true, "other");
}

/* [W8] By how much the clock of the master was set since somebody who has waited for 5 s entered.
 */
static const int64_t clock_steps[] = {-21, 21};

/* p:w1 has entered before the step, p:w2 before p:w1 looks again, and p:w3 after that. */
TEST_LOOP(a_clock_that_was_set_delays_nobody_who_entered_before_or_after, 0, 2)
{
    int64_t now_us = (int64_t)wall_clock_us(), step_us = clock_steps[_i] * 1000000;

    DO("SET p:a other PX 90000");
    DO("ZADD p:a:redlock-waiting %lld p:w1", (long long)(now_us - step_us - 5000000));
    freeReplyObject(wait_for(1, "p:w2"));
    says_position(wait_after(1, "p:w1", 5), 1, true, "other");
    freeReplyObject(wait_for(1, "p:w3"));
    check_list("p:a", "p:w1 p:w2 p:w3 ");
    DO("DEL p:a");
    says_position(wait_for(1, "p:w3"), 2, false, "");
    check_heard("p:w1 tp:a\np:w2 np:a\n");
}

/* Whoever was woken is out of the list, and looks again before it has asked for the lock. */
TEST(nobody_with_a_later_ticket_is_woken)
{
    DO("SET p:a other PX 90000");
    says_position(wait_after(1, "p:w2", 5), 1, true, "other");
    DO("DEL p:a");
    says_position(wait_after(1, "p:w3", 9), 0, false, "");
    check_list("p:a", "p:w2 ");
    check_heard("");
    says_position(wait_after(1, "p:w3", 1), 1, false, "");
    check_heard("p:w2 tp:a\n");
}

/* A list that nobody refreshes ends by itself, and each who enters lets it live. */
TEST(a_list_ends_ten_seconds_after_it_was_entered)
{
    int64_t left_ms;

    DO("SET p:a other");
    says_position(wait_for(1, "p:w1"), 1, false, "other");
    DO("PEXPIRE p:a:redlock-waiting 5000");
    says_position(wait_for(1, "p:w1"), 1, false, "other");
    left_ms = number(master_reply(server, "PTTL p:a:redlock-waiting"));
    ck_assert_int_le(left_ms, RLK_COMMAND_WAITING_MS);
    ck_assert_int_gt(left_ms, 5000);
}

TEST(a_list_has_at_most_1024_channels)
{
    char channel[32];
    unsigned i;

    DO("SET p:a other PX 90000");
    for (i = 1; i <= 1024; i++) {
        snprintf(channel, sizeof(channel), "x%u", i);
        says_position(wait_for(1, channel), i, true, "other");
    }
    says_position(wait_for(1, "p:w1"), -1, true, "other");
    says_position(wait_after(1, "p:w1", 9), -1, true, "other");
    says_position(wait_for(1, "x7"), 7, true, "other");
    ck_assert_int_eq(number(master_reply(server, "ZCARD p:a:redlock-waiting")), 1024);
}

/* The server does nothing else meanwhile, so a release stops after 32. */
TEST(a_release_skips_the_dead_but_not_for_ever)
{
    unsigned i;

    for (i = 1; i <= 40; i++) {
        DO("ZADD p:a:redlock-waiting %u x%u", i, i);
    }
    DO("ZADD p:a:redlock-waiting 99 p:w1");
    DO("SET p:a " MINE);
    ck_assert_int_eq(number(release(1, "")), 1);
    ck_assert_int_eq(number(master_reply(server, "ZCARD p:a:redlock-waiting")), 9);
    DO("SET p:a " MINE);
    ck_assert_int_eq(number(release(1, "")), 2);
    check_heard("p:w1 tp:a\n");
}

/* [S5] Nothing that is wrong with a list changes what a release does. */
TEST(a_list_of_a_wrong_type_does_not_harm_a_release)
{
    DO("SET p:a " MINE);
    DO("SET p:b " MINE);
    DO("SET p:a:redlock-waiting x");
    DO("ZADD p:b:redlock-waiting 1 p:w1");
    ck_assert_int_eq(number(release(3, "p:w2")), 2);
    check_heard("p:w1 tp:b\n");
    ck_assert_int_eq(number(master_reply(server, "EXISTS p:a p:b")), 0);
    ck_assert_int_eq(number(leave(1, "p:w1")), 0);
    DO("SET p:a other");
    ck_assert_int_eq(number(leave(1, "p:w1")), 0);
    says_error(wait_for(1, "p:w1"), "WRONGTYPE");
}

TEST(a_key_of_a_wrong_type_is_waited_for)
{
    DO("LPUSH p:a x");
    says_position(wait_for(1, "p:w1"), 1, false, "");
    says_error(release(1, ""), "WRONGTYPE");
    check_heard("");
    check_list("p:a", "p:w1 ");
}

/* Make a user "weak". False: a server below 6 has no users. */
static bool give_right(const char *rights)
{
    char line[128];
    redisReply *reply;
    bool made;

    snprintf(line, sizeof(line), "ACL SETUSER weak on nopass %s", rights);
    reply = master_reply(server, line);
    made = reply->type == REDIS_REPLY_STATUS;
    freeReplyObject(reply);
    return made;
}

/* [S5] Somebody who must not publish releases all the same, and leaves the list as it is. */
TEST(a_release_needs_no_right_to_publish)
{
    if (!give_right("~* &* +@all -publish")) {
        return;
    }
    DO("SET p:a " MINE);
    DO("ZADD p:a:redlock-waiting 1 p:w1 2 p:w2");
    DO("AUTH weak x");
    ck_assert_int_eq(number(release(1, "p:w2")), 1);
    check_heard("");
    check_list("p:a", "p:w1 ");
    ck_assert_int_eq(number(master_reply(server, "EXISTS p:a")), 0);
    says_position(wait_for(1, "p:w2"), 0, false, "");
}

/* [S5] Nor any other right for the list. */
TEST(a_release_needs_no_right_to_the_list)
{
    DO("SET p:a " MINE);
    DO("ZADD p:a:redlock-waiting 1 p:w1");
    if (!give_right("~p:a &* +@all")) {
        return;
    }
    DO("AUTH weak x");
    ck_assert_int_eq(number(release(1, "p:w2")), 1);
    check_heard("");
    DO("SET p:a other");
    freeReplyObject(wait_for(1, "p:w2"));
    DO("AUTH default x");
    check_list("p:a", "p:w1 ");
}

/* [S5] A full server wakes as well: only entering a list needs memory. */
TEST(a_full_server_wakes_and_says_when_it_cannot_list)
{
    DO("SET p:a " MINE " PX 90000");
    DO("ZADD p:a:redlock-waiting 1 dead 2 p:w1 3 p:w2");
    DO("CONFIG SET maxmemory 1");
    says_error(wait_for(1, "p:w3"), "OOM");
    ck_assert_int_eq(number(release(1, "")), 2);
    check_heard("p:w1 tp:a\np:w2 np:a\n");
    says_position(wait_for(1, "p:w2"), 0, false, "");
    ck_assert_int_eq(number(leave(1, "p:w3")), 0);
    DO("CONFIG SET maxmemory 0");
}
