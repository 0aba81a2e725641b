/* test_scripts.c - the scripts, on a real server: each state of one key and of two, before and
 * after. What they have to do is said here once more, without Lua. */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/master.h"
#include "lib/test.h"
#include "node/claim.h"
#include "node/command.h"
#include "scripts/scripts.h"

SUITE("scripts");

#define MINE "0123456789abcdef0123456789abcdef01234567"
#define TTL_MS 3000000
#define LIMIT (INT64_C(1) << 53)
#define HINT_LIMIT (LIMIT / 2)
#define HINT_AHEAD_US INT64_C(60000000)
#define MARK "run mark "
#define RESERVED "for:" MINE ":b"
#define WITHIN_MS 1500000

/* How long a key or counter lives: far enough from each other for any machine. */
enum life {
    NONE = 0,
    SHORT, /* than the ttl */
    FULL,  /* the ttl */
    LONG,
    DAYS /* eight */
};

static const int64_t lives_ms[] = {0, 200000, TTL_MS, 30000000, 691200000};

struct key {
    char owner; /* 'm'ine, 'o'ther's, 'r'eserved, 0 */
    enum life life;
    int64_t counter; /* 0: none */
    enum life counter_life;
};

struct state {
    unsigned n;
    struct key key[2];
};

static const char *const names[] = {"p:a", "p:b"};
static redisContext *server;
static struct rlk_pool pool;
static struct rlk_claim_source source = {.pool = &pool};
static struct rlk_command command;

static int64_t number(redisReply *reply)
{
    int64_t n = reply->type == REDIS_REPLY_STRING ? strtoll(reply->str, NULL, 10) : reply->integer;

    freeReplyObject(reply);
    return n;
}

/* ---- writing and reading a state ---- */

static const char *value_of(char owner, unsigned key)
{
    return owner == 'm' ? MINE : owner == 'r' ? RESERVED : names[key];
}

static char owner_of(const char *value)
{
    if (value == NULL) {
        return 0;
    }
    return strcmp(value, MINE) == 0 ? 'm' : strcmp(value, RESERVED) == 0 ? 'r' : 'o';
}

static void put(const struct state *s)
{
    unsigned i;

    number(master_reply(server, "FLUSHDB"));
    for (i = 0; i < s->n; i++) {
        const struct key *k = &s->key[i];

        if (k->owner) {
            number(master_reply(server, "SET %s %s PX %lld", names[i], value_of(k->owner, i),
                                (long long)lives_ms[k->life]));
        }
        if (k->counter) {
            number(master_reply(server, "SET %s:redlock-fence %lld PX %lld", names[i],
                                (long long)k->counter, (long long)lives_ms[k->counter_life]));
        }
    }
}

static enum life life_of(const char *key)
{
    int64_t left_ms = number(master_reply(server, "PTTL %s", key));
    enum life life = NONE;

    ck_assert_int_ne(left_ms, -1); /* each key of ours has a ttl */
    while (left_ms > lives_ms[life]) {
        life++;
        ck_assert_int_le(life, DAYS);
    }
    return life;
}

static struct state look(unsigned n)
{
    struct state s = {.n = n};
    unsigned i;

    for (i = 0; i < n; i++) {
        char counter[40];
        redisReply *value = master_reply(server, "GET %s", names[i]);

        s.key[i].owner = owner_of(value->str);
        freeReplyObject(value);
        snprintf(counter, sizeof(counter), "%s:redlock-fence", names[i]);
        s.key[i].counter = number(master_reply(server, "GET %s", counter));
        s.key[i].life = life_of(names[i]);
        s.key[i].counter_life = life_of(counter);
    }
    return s;
}

static void check_state(const struct state *wanted)
{
    struct state is = look(wanted->n);
    unsigned i;

    for (i = 0; i < is.n; i++) {
        ck_assert_int_eq(is.key[i].owner, wanted->key[i].owner);
        ck_assert_int_eq(is.key[i].life, wanted->key[i].life);
        ck_assert_int_eq(is.key[i].counter, wanted->key[i].counter);
        ck_assert_int_eq(is.key[i].counter_life, wanted->key[i].counter_life);
    }
}

/* Of each key 12, with one key or two; returns false behind the last. */
static bool nth_state(unsigned n, unsigned index, struct state *ret)
{
    static const int64_t counters[] = {0, 5, 9};
    unsigned i;

    *ret = (struct state){.n = n};
    for (i = 0; i < n; i++, index /= 12) {
        struct key *k = &ret->key[i];

        k->owner = (char[]){0, 'o', 'm', 'm'}[index % 4];
        k->life = (enum life[]){NONE, SHORT, SHORT, LONG}[index % 4];
        k->counter = counters[index % 12 / 4];
        k->counter_life = k->counter ? LONG : NONE;
    }
    return index == 0;
}

/* ---- what is expected ---- */

/* The first key of this owner; n when no key is. */
static unsigned first_of(const struct state *s, char owner)
{
    unsigned i;

    for (i = 0; i < s->n && s->key[i].owner != owner; i++) {
    }
    return i;
}

static unsigned count_of(const struct state *s, char owner)
{
    unsigned i, count = 0;

    for (i = 0; i < s->n; i++) {
        count += s->key[i].owner == owner;
    }
    return count;
}

static void set_counters(struct state *s, int64_t value)
{
    unsigned i;

    for (i = 0; i < s->n; i++) {
        s->key[i].counter = value;
        s->key[i].counter_life = DAYS;
    }
}

/* [S12] A counter never falls, and lives on as long as the lock is held. */
static void raise_counters(struct state *s, int64_t value)
{
    unsigned i;

    for (i = 0; i < s->n && value > 0; i++) {
        s->key[i].counter = s->key[i].counter > value ? s->key[i].counter : value;
        s->key[i].counter_life = DAYS;
    }
}

static int64_t highest(const struct state *s)
{
    int64_t most = 0;
    unsigned i;

    for (i = 0; i < s->n; i++) {
        most = s->key[i].counter > most ? s->key[i].counter : most;
    }
    return most;
}

/* [S7] A key never gets shorter. */
static void own(struct state *s)
{
    unsigned i;

    for (i = 0; i < s->n; i++) {
        s->key[i].owner = 'm';
        s->key[i].life = s->key[i].life == LONG ? LONG : FULL;
    }
}

/* ---- one run of a script ---- */

static struct rlk_claim *claim(unsigned n, int64_t hint, int64_t fence)
{
    struct rlk_key prefix = {"p:", 2}, keys[] = {{"a", 1}, {"b", 1}};
    struct rlk_claim *c = rlk_claim_new(&source, &prefix, keys, n, strlen(MINE), TTL_MS);

    rlk_claim_set_token(c, MINE, strlen(MINE));
    c->hint = (uint64_t)hint;
    c->fence = (uint64_t)fence;
    return c;
}

static struct rlk_claim *claim_of_other(unsigned n, int64_t fence)
{
    struct rlk_key prefix = {"p:", 2}, keys[] = {{"c", 1}, {"d", 1}};
    struct rlk_claim *c = rlk_claim_new(&source, &prefix, keys, n, strlen(MINE), TTL_MS);

    rlk_claim_set_token(c, MINE, strlen(MINE));
    c->fence = (uint64_t)fence;
    return c;
}

static redisReply *run(struct rlk_claim *c)
{
    void *reply = NULL;

    redisAppendFormattedCommand(server, command.bytes, command.len);
    ck_assert_int_eq(redisGetReply(server, &reply), REDIS_OK);
    rlk_command_end(&command);
    rlk_claim_unref(c);
    return reply;
}

static void says_number(redisReply *reply, int64_t wanted)
{
    ck_assert_int_eq(reply->type, REDIS_REPLY_INTEGER);
    ck_assert_int_eq(reply->integer, wanted);
    freeReplyObject(reply);
}

static void says_holder(redisReply *reply, unsigned key)
{
    ck_assert_int_eq(reply->type, REDIS_REPLY_STRING);
    ck_assert_str_eq(reply->str, names[key]);
    freeReplyObject(reply);
}

static void says_pair(redisReply *reply, int64_t first, int64_t second)
{
    ck_assert_int_eq(reply->type, REDIS_REPLY_ARRAY);
    ck_assert_uint_eq(reply->elements, 2);
    ck_assert_int_eq(reply->element[0]->integer, first);
    ck_assert_int_eq(reply->element[1]->integer, second);
    freeReplyObject(reply);
}

static void vote(struct state s, int64_t hint)
{
    struct rlk_claim *c = claim(s.n, hint, 0);
    redisReply *reply;

    put(&s);
    rlk_command_vote(&command, c, true, NULL);
    rlk_command_mark(&command, "", "");
    reply = run(c);
    if (first_of(&s, 'o') < s.n) {
        says_holder(reply, first_of(&s, 'o'));
    } else if (first_of(&s, 'm') < s.n) {
        says_number(reply, 2);
    } else {
        int64_t fence = highest(&s) >= hint ? highest(&s) + 1 : hint;

        says_pair(reply, fence, 1);
        own(&s);
        set_counters(&s, fence);
    }
    check_state(&s);
}

static void take(struct state s, int64_t fence)
{
    struct rlk_claim *c = claim(s.n, 0, fence);
    redisReply *reply;

    put(&s);
    rlk_command_set_all(&command, c, TTL_MS, true, NULL);
    reply = run(c);
    if (first_of(&s, 'o') < s.n) {
        says_holder(reply, first_of(&s, 'o'));
    } else {
        says_number(reply, count_of(&s, 'm') == s.n ? 2 : 1);
        own(&s);
        raise_counters(&s, fence);
    }
    check_state(&s);
}

static void keep(struct state s, int64_t fence)
{
    struct rlk_claim *c = claim(s.n, 0, fence);
    unsigned other = first_of(&s, 'o'), none = first_of(&s, 0);
    redisReply *reply;

    put(&s);
    rlk_command_keep(&command, c, TTL_MS, true, NULL);
    reply = run(c);
    if (other < none) {
        says_holder(reply, other);
    } else if (none < s.n) {
        says_number(reply, 0);
    } else {
        says_number(reply, 1);
        own(&s);
        raise_counters(&s, fence);
    }
    check_state(&s);
}

/* The locks of the state and a lock whose key is a third one, in one call: each lock has an answer
 * of its own, and nothing else than keep() would have done happens. */
static void keep_all(struct state s, unsigned each, int64_t fence)
{
    struct rlk_claim *claims[2] = {claim(each, 0, fence), claim_of_other(each, fence)};
    bool ours = count_of(&s, 'm') == s.n;
    redisReply *reply;

    put(&s);
    number(master_reply(server, "SET p:c %s PX %d", MINE, (int)lives_ms[SHORT]));
    number(master_reply(server, "SET p:d %s PX %d", MINE, (int)lives_ms[SHORT]));
    rlk_command_keep_all(&command, claims, 2, TTL_MS, true);
    rlk_claim_unref(claims[1]);
    reply = run(claims[0]);
    ck_assert_int_eq(reply->type, REDIS_REPLY_STRING);
    ck_assert_str_eq(reply->str, ours ? "11" : "01");
    freeReplyObject(reply);
    if (ours) {
        own(&s);
        raise_counters(&s, fence);
    }
    check_state(&s);
    ck_assert_int_eq(life_of("p:c"), FULL);
    ck_assert_int_eq(number(master_reply(server, "GET p:c:redlock-fence")), fence);
}

static void confirm(struct state s, int64_t fence)
{
    struct rlk_claim *c = claim(s.n, 0, fence);
    bool may = count_of(&s, 'm') == s.n && highest(&s) < fence;
    redisReply *reply;

    put(&s);
    rlk_command_confirm(&command, c, true);
    reply = run(c);
    says_number(reply, may);
    if (may) {
        set_counters(&s, fence);
    }
    check_state(&s);
}

static void release(struct state s)
{
    struct rlk_claim *c = claim(s.n, 0, 0);
    unsigned i, mine = count_of(&s, 'm');
    redisReply *reply;

    put(&s);
    rlk_command_release(&command, c, true, NULL);
    reply = run(c);
    says_number(reply, first_of(&s, 'o') < s.n ? -1 : mine == s.n ? 1 : 0);
    for (i = 0; i < s.n; i++) {
        s.key[i].life = s.key[i].owner == 'm' ? NONE : s.key[i].life;
        s.key[i].owner = s.key[i].owner == 'm' ? 0 : s.key[i].owner;
    }
    check_state(&s);
}

/* ---- reservations [H1, H2] ---- */

/* What was somebody else's is reserved, and lives longer or shorter than our ttl. */
static void reserve(struct state *s, enum life life)
{
    unsigned i;

    for (i = 0; i < s->n; i++) {
        if (s->key[i].owner == 'o') {
            s->key[i].owner = 'r';
            s->key[i].life = life;
        }
    }
}

static struct rlk_claim *claim_reserved(unsigned n, int64_t hint, int64_t fence)
{
    struct rlk_claim *c = claim(n, hint, fence);

    ck_assert(rlk_claim_set_reservation(c, RESERVED));
    return c;
}

/* Reserved keys get the whole ttl, also when they lived for longer: nobody had them. */
static void own_reserved(struct state *s)
{
    unsigned i;

    for (i = 0; i < s->n; i++) {
        s->key[i].life = s->key[i].owner == 'r' ? FULL : s->key[i].life;
    }
    own(s);
}

static void vote_reserved(struct state s)
{
    struct rlk_claim *c = claim_reserved(s.n, 7, 0);
    redisReply *reply;

    put(&s);
    rlk_command_vote(&command, c, true, NULL);
    rlk_command_mark(&command, "", "");
    reply = run(c);
    if (first_of(&s, 'm') < s.n) {
        says_number(reply, 2);
    } else {
        int64_t fence = highest(&s) >= 7 ? highest(&s) + 1 : 7;

        says_pair(reply, fence, 1);
        own_reserved(&s);
        set_counters(&s, fence);
    }
    check_state(&s);
}

static void take_reserved(struct state s, int64_t fence)
{
    struct rlk_claim *c = claim_reserved(s.n, 0, fence);
    redisReply *reply;

    put(&s);
    rlk_command_set_all(&command, c, TTL_MS, true, NULL);
    reply = run(c);
    says_number(reply, count_of(&s, 'm') == s.n ? 2 : 1);
    own_reserved(&s);
    raise_counters(&s, fence);
    check_state(&s);
}

/* Who is not named is refused, by every script. */
static void refuse_reserved(struct state s, bool fenced)
{
    struct rlk_claim *c = claim(s.n, 7, 0);
    redisReply *reply;

    put(&s);
    if (fenced) {
        rlk_command_vote(&command, c, true, NULL);
        rlk_command_mark(&command, "", "");
    } else {
        rlk_command_set_all(&command, c, TTL_MS, true, NULL);
    }
    reply = run(c);
    ck_assert_int_eq(reply->type, REDIS_REPLY_STRING);
    ck_assert_str_eq(reply->str, RESERVED);
    freeReplyObject(reply);
    check_state(&s);
}

/* A reservation lives for as long as asked, at most for what was left. FULL stands for up to the
 * ttl, and the time asked for is half of that. */
static void hand_over(struct state s)
{
    struct rlk_claim *c = claim_reserved(s.n, 0, 0);
    unsigned i, mine = count_of(&s, 'm');
    redisReply *reply;

    put(&s);
    c->channel = "";
    rlk_command_hand_over(&command, c, WITHIN_MS, true, NULL);
    reply = run(c);
    says_number(reply, first_of(&s, 'o') < s.n ? -1 : mine == s.n ? 1 : 0);
    for (i = 0; i < s.n; i++) {
        if (s.key[i].owner == 'm') {
            s.key[i].owner = 'r';
            s.key[i].life = s.key[i].life == LONG ? FULL : s.key[i].life;
        }
    }
    check_state(&s);
}

/* ---- the tests ---- */

static struct master *master;

static void begin(void)
{
    master = master_start(NULL);
    server = master_connect(master);
    pool.keep = 2;
}

static void end(void)
{
    redisFree(server);
    master_free(master);
    rlk_pool_end(&pool);
}

FIXTURE(begin, end);

/* _i: keys. */
TEST_LOOP(a_vote_sets_all_or_none_and_counts_on, 1, 3)
{
    struct state s;
    unsigned i;

    for (i = 0; nth_state((unsigned)_i, i, &s); i++) {
        vote(s, 3);
        vote(s, 9);
        vote(s, 12);
    }
    ck_assert_uint_eq(i, _i == 1 ? 12 : 144);
}

TEST_LOOP(a_take_sets_all_or_none_and_raises, 1, 3)
{
    struct state s;
    unsigned i;

    for (i = 0; nth_state((unsigned)_i, i, &s); i++) {
        take(s, 0);
        take(s, 5);
        take(s, 7);
        take(s, 12);
    }
}

TEST_LOOP(a_keep_lengthens_all_or_none_and_raises, 1, 3)
{
    struct state s;
    unsigned i;

    for (i = 0; nth_state((unsigned)_i, i, &s); i++) {
        keep(s, 0);
        keep(s, 5);
        keep(s, 7);
        keep(s, 12);
    }
}

/* _i: how many keys each lock has. */
TEST_LOOP(a_keep_of_many_is_a_keep_of_each, 1, 3)
{
    struct state s;
    unsigned i;

    for (i = 0; nth_state((unsigned)_i, i, &s); i++) {
        keep_all(s, (unsigned)_i, 0);
        keep_all(s, (unsigned)_i, 7);
    }
}

TEST_LOOP(a_confirmation_raises_where_the_key_is_ours_and_never_lowers, 1, 3)
{
    struct state s;
    unsigned i;

    for (i = 0; nth_state((unsigned)_i, i, &s); i++) {
        confirm(s, 4);
        confirm(s, 5);
        confirm(s, 7);
        confirm(s, 9);
        confirm(s, 12);
    }
}

TEST_LOOP(a_release_deletes_what_is_ours_and_no_counter, 1, 3)
{
    struct state s;
    unsigned i;

    for (i = 0; nth_state((unsigned)_i, i, &s); i++) {
        release(s);
    }
}

/* _i: keys. */
TEST_LOOP(reserved_keys_are_free_for_whom_they_name, 1, 3)
{
    struct state s;
    unsigned i;

    for (i = 0; nth_state((unsigned)_i, i, &s); i++) {
        reserve(&s, i % 5 < 2 ? SHORT : LONG);
        vote_reserved(s);
        take_reserved(s, 0);
        take_reserved(s, 7);
    }
}

TEST_LOOP(reserved_keys_are_refused_to_all_others, 1, 3)
{
    struct state s;
    unsigned i;

    for (i = 0; nth_state((unsigned)_i, i, &s); i++) {
        reserve(&s, SHORT);
        if (first_of(&s, 'r') < s.n) {
            refuse_reserved(s, false);
            refuse_reserved(s, true);
        }
    }
}

TEST_LOOP(a_hand_over_reserves_what_is_ours_and_no_more, 1, 3)
{
    struct state s;
    unsigned i;

    for (i = 0; nth_state((unsigned)_i, i, &s); i++) {
        hand_over(s);
    }
}

/* A server that is out of memory cannot set a reservation: then the key is free. */
TEST(a_full_server_releases_what_is_handed_over)
{
    struct state s = {.n = 1};
    struct rlk_claim *c = claim_reserved(1, 0, 0);

    s.key[0] = (struct key){.owner = 'm', .life = SHORT};
    put(&s);
    freeReplyObject(master_reply(server, "CONFIG SET maxmemory 1"));
    c->channel = "";
    rlk_command_hand_over(&command, c, WITHIN_MS, true, NULL);
    says_number(run(c), 1);
    check_state(&(struct state){.n = 1});
    freeReplyObject(master_reply(server, "CONFIG SET maxmemory 0"));
}

/* _i: how far the counter is below the limit. */
TEST_LOOP(counters_stay_exact_up_to_the_limit, 0, 3)
{
    struct state s = {.n = 1};
    redisReply *reply;
    struct rlk_claim *c = claim(1, 1, 0);

    s.key[0].counter = LIMIT - 1 - _i;
    s.key[0].counter_life = LONG;
    put(&s);
    rlk_command_vote(&command, c, true, NULL);
    rlk_command_mark(&command, "", "");
    reply = run(c);
    if (_i == 0) {
        ck_assert_int_eq(reply->type, REDIS_REPLY_ERROR);
        freeReplyObject(reply);
    } else {
        says_pair(reply, LIMIT - _i, 1);
        own(&s);
        set_counters(&s, LIMIT - _i);
    }
    check_state(&s);
}

/* By the clock of the server, in whole seconds. */
static int64_t server_time_us(void)
{
    redisReply *reply = master_reply(server, "TIME");
    int64_t s = strtoll(reply->element[0]->str, NULL, 10);

    freeReplyObject(reply);
    return s * 1000000;
}

static int64_t fence_of_hint(int64_t hint)
{
    struct rlk_claim *c = claim(1, hint, 0);
    redisReply *reply;
    int64_t fence;

    number(master_reply(server, "FLUSHDB"));
    rlk_command_vote(&command, c, true, NULL);
    rlk_command_mark(&command, "", "");
    reply = run(c);
    ck_assert_int_eq(reply->type, REDIS_REPLY_ARRAY);
    fence = reply->element[0]->integer;
    freeReplyObject(reply);
    ck_assert_int_eq(number(master_reply(server, "GET p:a:redlock-fence")), fence);
    return fence;
}

/* The years 2112, 2126, 2255 and 294247, and what no clock shows. */
static const int64_t far_hints[] = {
    HINT_LIMIT - 1, INT64_C(4922899200000000), LIMIT - 1, LIMIT + 1, INT64_MAX, -1};
#define N_FAR_HINTS ((int)(sizeof(far_hints) / sizeof(far_hints[0])))

/* [S12] A client whose clock is wrong uses up no numbers. */
TEST_LOOP(a_hint_is_cut_to_a_minute_after_the_clock_of_the_master, 0, N_FAR_HINTS)
{
    int64_t before_us = server_time_us(), fence = fence_of_hint(far_hints[_i]);

    ck_assert_int_ge(fence, before_us + HINT_AHEAD_US);
    ck_assert_int_le(fence, server_time_us() + HINT_AHEAD_US);
    ck_assert_int_eq(fence % 1000000, 0);
}

/* Clocks that somebody looks after differ by less. */
TEST_LOOP(a_hint_that_is_a_little_ahead_is_taken, 0, 6)
{
    static const int64_t ahead_us[] = {-HINT_AHEAD_US, -1, 0, 1, 1234567, HINT_AHEAD_US - 1000000};
    int64_t hint = server_time_us() + ahead_us[_i];

    ck_assert_int_eq(fence_of_hint(hint), hint);
}

/* Where our user may not ask for the time, half of all numbers are left all the same. */
TEST_LOOP(without_the_time_a_hint_leaves_half_of_the_numbers, 0, N_FAR_HINTS)
{
    freeReplyObject(master_reply(server, "ACL SETUSER default -time"));
    ck_assert_int_eq(fence_of_hint(far_hints[_i]), HINT_LIMIT - 1);
    freeReplyObject(master_reply(server, "ACL SETUSER default +time"));
}

static const struct {
    const char *value, *start;
    bool same;
} marks[] = {{MARK "77", MARK, true},
             {"run other 77", MARK, false},
             {"", MARK, false},
             {"ru", MARK, false},
             {"other mark 77", MARK, false},
             {NULL, MARK, false},
             {"run other 77", "", true},
             {NULL, "", true}};

/* [S11] The keys are set all the same, and the answer says so. */
TEST_LOOP(a_vote_tells_whether_the_data_are_those_that_we_knew, 0, N_ROWS(marks))
{
    struct rlk_claim *c = claim(1, 7, 0);
    struct state s = {.n = 1};

    put(&s);
    if (marks[_i].value) {
        number(master_reply(server, "SET p:mark %s", marks[_i].value));
    }
    rlk_command_vote(&command, c, true, NULL);
    rlk_command_mark(&command, marks[_i].start[0] ? "p:mark" : "", marks[_i].start);
    says_pair(run(c), 7, marks[_i].same);
    own(&s);
    set_counters(&s, 7);
    check_state(&s);
}

/* A counter that is no number is taken for 0. One that is no string is an error, and nothing is
 * set. */
TEST_LOOP(a_counter_of_somebody_else_does_no_harm, 0, 2)
{
    struct rlk_claim *c = claim(2, 7, 0);
    redisReply *reply;

    number(master_reply(server, "FLUSHDB"));
    number(master_reply(server, "SET p:a:redlock-fence x"));
    if (_i) {
        number(master_reply(server, "LPUSH p:b:redlock-fence x"));
    }
    rlk_command_vote(&command, c, true, NULL);
    rlk_command_mark(&command, "", "");
    reply = run(c);
    if (_i) {
        ck_assert_int_eq(reply->type, REDIS_REPLY_ERROR);
        ck_assert_int_eq(strncmp(reply->str, "FENCE the counter of the key is not a string", 44),
                         0);
        freeReplyObject(reply);
        ck_assert_int_eq(number(master_reply(server, "EXISTS p:a p:b")), 0);
    } else {
        says_pair(reply, 7, 1);
    }
}

/* [S7] A lock that is held is renewed, and set again where it is missing, whatever has taken the
 * place of its counter. No fence is confirmed. */
TEST(a_spoilt_counter_does_not_end_a_lock)
{
    struct state s = {.n = 2};
    struct rlk_claim *c = claim(2, 0, 7);

    s.key[0] = s.key[1] = (struct key){.owner = 'm', .life = SHORT};
    put(&s);
    number(master_reply(server, "DEL p:b:redlock-fence"));
    number(master_reply(server, "LPUSH p:b:redlock-fence x"));
    rlk_command_confirm(&command, c, true);
    says_number(run(c), 0);
    c = claim(2, 0, 7);
    rlk_command_keep(&command, c, TTL_MS, true, NULL);
    says_number(run(c), 1);
    ck_assert_int_gt(number(master_reply(server, "PTTL p:b")), TTL_MS / 2);
    number(master_reply(server, "DEL p:b"));
    c = claim(2, 0, 7);
    rlk_command_set_all(&command, c, TTL_MS, true, NULL);
    says_number(run(c), 1);
    ck_assert_int_gt(number(master_reply(server, "PTTL p:b")), TTL_MS / 2);
    ck_assert_int_eq(number(master_reply(server, "LLEN p:b:redlock-fence")), 1);
    number(master_reply(server, "FLUSHDB"));
}

/* [O1] Each time a counter is set, the master tells all who observe it. So one that lives for more
 * than a week is left alone. _i: whether it does; which script renews; and whether the counter is
 * larger, as after an adoption. */
TEST_LOOP(a_counter_is_set_again_when_it_ends_within_a_week, 0, 8)
{
    bool is_long = _i & 1, many = _i & 2;
    int counter = _i & 4 ? 9 : 7;
    int64_t left_ms = INT64_C(604800000) + (is_long ? 3600000 : -3600000);
    struct state s = {.n = 1};
    struct rlk_claim *c = claim(1, 0, 7), *claims[] = {c};

    s.key[0] = (struct key){.owner = 'm', .life = SHORT};
    put(&s);
    number(master_reply(server, "SET p:a:redlock-fence %d PX %lld", counter, (long long)left_ms));
    if (many) {
        rlk_command_keep_all(&command, claims, 1, TTL_MS, true);
        freeReplyObject(run(c));
    } else {
        rlk_command_keep(&command, c, TTL_MS, true, NULL);
        says_number(run(c), 1);
    }
    ck_assert_int_eq(number(master_reply(server, "PTTL p:a:redlock-fence")) > left_ms, !is_long);
    ck_assert_int_eq(number(master_reply(server, "GET p:a:redlock-fence")), counter);
    number(master_reply(server, "FLUSHDB"));
}

/* When a server is out of memory, a release and a renewal still work: they need none. A text with a
 * shebang would be rejected, whatever it does. */
TEST(a_full_server_keeps_and_releases)
{
    struct state s = {.n = 2};
    struct rlk_claim *c = claim(2, 0, 0);

    s.key[0] = s.key[1] = (struct key){.owner = 'm', .life = SHORT};
    put(&s);
    freeReplyObject(master_reply(server, "CONFIG SET maxmemory 1"));
    rlk_command_keep(&command, c, TTL_MS, true, NULL);
    says_number(run(c), 1);
    own(&s);
    check_state(&s);
    c = claim(2, 0, 0);
    rlk_command_release(&command, c, true, NULL);
    says_number(run(c), 1);
    check_state(&(struct state){.n = 2});
    freeReplyObject(master_reply(server, "CONFIG SET maxmemory 0"));
}

/* The SHA-1 that we send with EVALSHA is the one that the server computes for the text. */
TEST(the_server_knows_each_script_by_our_sha)
{
    static const struct rlk_script *const all[] = {
        &rlk_script_release,   &rlk_script_set_all,     &rlk_script_keep,     &rlk_script_vote,
        &rlk_script_confirm,   &rlk_script_incarnation, &rlk_script_upkeep,   &rlk_script_wait,
        &rlk_script_leave,     &rlk_script_swap,        &rlk_script_keep_all, &rlk_script_adopt,
        &rlk_script_hand_over, &rlk_script_history,     &rlk_script_masters};
    unsigned i, bits = 0;

    for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        redisReply *reply = master_reply(server, "SCRIPT LOAD %b", all[i]->text, all[i]->len);

        ck_assert_uint_eq(all[i]->len, strlen(all[i]->text));
        ck_assert_str_eq(reply->str, all[i]->sha);
        ck_assert_uint_eq(bits & all[i]->bit, 0);
        bits |= all[i]->bit;
        freeReplyObject(reply);
    }
}
