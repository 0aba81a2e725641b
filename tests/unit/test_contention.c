/* test_contention.c - who may ask the masters, and who stands behind: by rows, and against a model
 * that looks at everybody each time. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "lib/test.h"
#include "lock/contention.h"
#include "node/claim.h"

SUITE("contention");

#define N_KEYS 5 /* a to e */
#define MOST 40  /* contenders of a story or a walk */

struct request {
    struct rlk_contender who;
    struct rlk_contention_wait wait;
    unsigned keys; /* a mask */
    bool may_wait;
    bool fails;              /* as soon as it is started */
    struct rlk_claim *claim; /* of who */
};

static struct request requests[MOST];
#define UNTIL 1000 /* what a release said is known until then, if not for longer */

static struct rlk_contention contention;
static struct rlk_pool pool;
static struct rlk_claim_source source = {.pool = &pool};
static char started[512]; /* the numbers of those whose start() was called, in order; behind it r:
                             it is to rest, b: it stands behind */
static bool inside_start;

/* Some keys are too long for the place in their record. */
static const char *const names[N_KEYS] = {
    "a", "b", "a key of many bytes, which are more than a record of a key has place for: c",
    "another key of many bytes, which are more than a record of a key has place for: d", "e"};

static void log_start(char *log, size_t size, long number, enum rlk_contender_state state)
{
    static const char *const where[] = {
        [RLK_CONTENDER_BEHIND] = "b", [RLK_CONTENDER_ACTIVE] = "", [RLK_CONTENDER_RESTS] = "r"};
    size_t n = strlen(log);

    ck_assert(state <= RLK_CONTENDER_RESTS && where[state]);
    snprintf(log + n, size - n, "%ld%s ", number, where[state]);
}

static void on_start(struct rlk_contender *who)
{
    struct request *r = RLK_CONTAINER(who, struct request, who);

    ck_assert_msg(!inside_start, "a start inside a start");
    inside_start = true;
    log_start(started, sizeof(started), r - requests, who->state);
    if (r->fails) {
        rlk_contention_leave(&contention, who);
    }
    inside_start = false;
}

static void begin(void)
{
    static const struct rlk_hash_seed seed = {{1, 2}};
    int i;

    rlk_pool_init(&pool, 0);
    rlk_contention_init(&contention, &pool, &seed, on_start);
    for (i = 0; i < MOST; i++) {
        rlk_contender_init(&requests[i].who);
        requests[i].fails = false;
        requests[i].claim = NULL;
    }
    started[0] = '\0';
}

static void end(void)
{
    int i;

    rlk_contention_stop(&contention);
    for (i = 0; i < MOST; i++) {
        rlk_contention_leave(&contention, &requests[i].who);
        rlk_claim_unref(requests[i].claim);
    }
    ck_assert_uint_eq(contention.keys.count, 0);
    ck_assert_uint_eq(contention.sets.count, 0);
    rlk_contention_end(&contention);
    rlk_pool_end(&pool);
}

/* In an order that depends on `turn`: the order of the keys says nothing about the set. */
static struct rlk_claim *claim_of(unsigned mask, unsigned turn)
{
    static const struct rlk_key no_prefix = {"", 0};
    struct rlk_key keys[N_KEYS];
    unsigned i, n = 0;

    for (i = 0; i < N_KEYS; i++) {
        unsigned at = (i + turn) % N_KEYS;

        if (mask & 1u << at) {
            keys[n++] = (struct rlk_key){names[at], strlen(names[at])};
        }
    }
    return rlk_claim_new(&source, &no_prefix, keys, n, 0, 1000);
}

static bool enter(struct request *r, unsigned mask, bool may_wait, unsigned turn)
{
    rlk_claim_unref(r->claim);
    r->claim = claim_of(mask, turn);
    ck_assert_ptr_nonnull(r->claim);
    r->keys = mask;
    r->may_wait = may_wait;
    return rlk_contention_enter(&contention, &r->who, may_wait ? &r->wait : NULL, r->claim);
}

/* ---- stories ---- */

/* A story: words, each with the number of a request.
 *   +1ab  request 1 for {a, b} enters      !1ab  the same, and does not wait
 *   x1    it fails when it is started      h1    its lock is held
 *   p1    it passes                        l1    it leaves                    w1  a release woke
 *   r1    it fails, and rests              u1    it lines up
 * At the end `states` has a letter for each request: Out, Behind, Active, Rests, Holds, Passed. */
static const struct {
    const char *claim, *story, *started, *states;
} stories[] = {
    {"the_first_is_active_and_the_second_stands_behind", "+0a +1a", "", "AB"},
    {"different_keys_do_not_meet", "+0a +1b +2cd", "", "AAA"},
    {"the_turn_passes_in_the_order_of_arrival", "+0a +1a +2a h0 p0 h1 p1", "1 2 ", "PPA"},
    {"a_lock_that_is_held_is_passed_when_it_leaves", "+0a +1a h0 l0", "1 ", "OA"},
    {"a_head_that_fails_passes_on", "+0a +1a p0", "1 ", "PA"},
    {"one_that_fails_when_it_is_started_passes_on", "+0a +1a x1 +2a x2 +3a p0", "1 2 3 ", "POOA"},
    {"who_leaves_from_the_middle_is_not_started", "+0a +1a +2a l1 p0", "2 ", "POA"},
    {"passing_twice_does_no_harm", "+0a +1a +2a p0 p0 l0 l0", "1 ", "OAB"},
    {"a_set_in_another_order_is_the_same_set", "+0abc +1abc +2abc", "", "ABB"},
    {"a_set_passes_in_the_order_of_arrival", "+0ab +1ab +2ab h0 p0 p1", "1 2 ", "PPA"},
    {"a_set_waits_for_a_lock_on_one_of_its_keys", "+0b h0 +1ab p0", "1 ", "PA"},
    {"a_set_waits_for_a_request_for_one_of_its_keys_alone", "+0b +1ab p0", "1 ", "PA"},
    {"a_set_that_waits_for_one_key_does_not_block_the_other", "+0a h0 +1ab +2b h2", "", "HBH"},
    {"a_set_that_asks_does_not_block_one_of_its_keys", "+0ab +1a +2bc", "", "AAA"},
    {"a_set_that_is_held_blocks_each_of_its_keys", "+0ab h0 +1a +2b +3bc p0", "1 2 ", "PAAB"},
    {"a_set_is_started_when_its_last_key_is_vacant", "+0a h0 +1b h1 +2ab p0 p1", "2 ", "PPA"},
    {"the_earliest_of_all_keys_is_started_first", "+0ab h0 +1bc +2a +3ac p0", "1 2 ", "PAAB"},
    {"a_set_moves_on_to_the_next_key", "+0a h0 +1b h1 +2ab +3a +4b p0 p1", "3 4 ", "PPBAA"},
    {"a_head_that_gives_up_makes_the_next_one_head", "+0a h0 +1ab +2ab p1 p0", "2 ", "PPA"},
    {"who_does_not_wait_asks_at_once", "+0a h0 !1a !2ab", "", "HAA"},
    {"others_stand_behind_who_does_not_wait", "!0a +1a +2ab p0 p1", "1 2 ", "PPA"},
    {"others_stand_behind_all_who_do_not_wait", "!0a !1a +2a p0", "", "PAB"},
    {"the_turn_comes_when_the_last_of_them_has_passed", "!0a !1a h0 +2a p0 p1", "2 ", "PPA"},
    {"who_fails_lets_those_behind_ask", "+0a +1a +2a r0 h1 p1", "1 0r 2 ", "RPA"},
    {"whoever_comes_while_one_rests_asks_at_once", "+0a r0 +1a", "0r ", "RA"},
    {"who_fails_alone_rests_and_asks_again", "+0a r0 u0", "0r ", "A"},
    {"who_has_rested_lines_up_as_if_it_had_come_when_it_failed", "+0a r0 +1a h1 +2a u0 p1", "0r 0 ",
     "APB"},
    {"of_those_who_fail_one_rests", "+0a +1a +2a r0 r1 r2", "1 0r 1b 2 2b ", "RBB"},
    {"they_rest_in_the_order_in_which_they_failed", "+0a +1a +2a r0 r1 r2 u0 r0 u1 r1",
     "1 0r 1b 2 2b 0b 1r 1b 2r ", "BBR"},
    {"the_next_one_does_not_rest_before_the_first_has_asked", "+0a +1a r0 r1 +2a u0", "1 0r 1b ",
     "BBA"},
    {"one_that_gives_up_lets_the_next_one_rest", "+0a +1a r0 r1 l0", "1 0r 1b 1r ", "OR"},
    {"when_one_that_had_failed_gets_the_lock_all_of_them_line_up",
     "+0a +1a +2a r0 r1 r2 u0 h0 p0 h1 p1", "1 0r 1b 2 2b 1 2 ", "PPA"},
    {"a_lock_of_one_that_had_not_failed_changes_nothing", "+0a +1a r0 r1 +2a h2", "1 0r 1b ",
     "RBH"},
    {"a_set_that_rests_is_not_in_the_way_of_its_keys", "+0ab +1ab r0 h1 p1 +2a h2 u0", "1 0r ",
     "BPH"},
    {"one_that_rests_for_a_key_is_not_in_the_way_of_a_set", "+0a +1ab r0", "1 0r ", "RA"},
    {"a_record_lives_until_the_last_has_left", "+0a h0 w0 p0 +1a l0", "", "OA"},
};

static void tell(const char *word)
{
    struct request *r = &requests[word[1] - '0'];
    unsigned mask = 0;
    const char *key;

    for (key = word + 2; *key > ' '; key++) {
        mask |= 1u << (*key - 'a');
    }
    switch (*word) {
    case '+':
    case '!':
        ck_assert(enter(r, mask, *word == '+', (unsigned)(word[1] - '0')));
        break;
    case 'h':
        rlk_contention_hold(&contention, &r->who);
        break;
    case 'p':
        rlk_contention_pass(&contention, &r->who);
        break;
    case 'l':
        rlk_contention_leave(&contention, &r->who);
        break;
    case 'r':
        rlk_contention_rest(&contention, &r->who);
        break;
    case 'u':
        rlk_contention_line_up(&r->who);
        break;
    case 'w':
        rlk_contention_note_woken(&contention, &r->who, UNTIL);
        break;
    default:
        r->fails = true;
    }
}

TEST_ROWS(a_story, stories)
{
    static const char letters[] = "OBARHP";
    char states[MOST + 1] = "";
    const char *word;
    size_t i;

    begin();
    for (word = stories[_i].story; word; word = strchr(word, ' ')) {
        tell(word += *word == ' ');
    }
    for (i = 0; i < strlen(stories[_i].states); i++) {
        states[i] = letters[requests[i].who.state];
    }
    ck_assert_str_eq(states, stories[_i].states);
    ck_assert_str_eq(started, stories[_i].started);
    end();
}

/* ---- against a model ---- */

struct model_request {
    enum rlk_contender_state state;
    unsigned keys, arrival;
    unsigned failed; /* when, if it has */
    bool may_wait, fails;
    bool dormant; /* BEHIND, and stands nowhere: it has failed, and does not rest */
};

static struct model_request model[MOST];
static char model_started[512];

static bool is_single(unsigned keys)
{
    return (keys & (keys - 1)) == 0;
}

/* The rule of contention.h, word by word. */
static bool model_may_start(const struct model_request *r)
{
    int i;

    for (i = 0; i < MOST; i++) {
        const struct model_request *o = &model[i];
        bool active = o->state == RLK_CONTENDER_ACTIVE, holds = o->state == RLK_CONTENDER_HOLDS;
        bool asks_alone = active && is_single(o->keys);

        if (o->may_wait && (active || holds) && o->keys == r->keys) {
            return false;
        }
        if ((holds || asks_alone || (active && !o->may_wait)) && (o->keys & r->keys)) {
            return false;
        }
    }
    return true;
}

static struct model_request *model_next(void)
{
    struct model_request *next = NULL;
    int i;

    for (i = 0; i < MOST; i++) {
        if (model[i].state == RLK_CONTENDER_BEHIND && !model[i].dormant &&
            model_may_start(&model[i]) && (next == NULL || model[i].arrival < next->arrival)) {
            next = &model[i];
        }
    }
    return next;
}

static struct model_request *model_ready[10 * MOST];
static size_t n_model_ready;

static void model_make_ready(struct model_request *m)
{
    size_t i;

    for (i = 0; i < n_model_ready; i++) {
        model_ready[i] = model_ready[i] == m ? NULL : model_ready[i];
    }
    model_ready[n_model_ready++] = m;
}

static struct model_request *model_first_failed(unsigned keys)
{
    struct model_request *first = NULL;
    int i;

    for (i = 0; i < MOST; i++) {
        if (model[i].failed && model[i].keys == keys &&
            (first == NULL || model[i].failed < first->failed)) {
            first = &model[i];
        }
    }
    return first;
}

/* What follows when `m` is no longer where it was. */
static void model_pass_turn(const struct model_request *m)
{
    struct model_request *next;

    while ((next = model_next()) != NULL) {
        next->state = RLK_CONTENDER_ACTIVE;
        model_make_ready(next);
    }
    next = model_first_failed(m->keys);
    if (next && next->dormant) {
        next->dormant = false;
        next->state = RLK_CONTENDER_RESTS;
        model_make_ready(next);
    }
}

static void model_leave(struct model_request *m, enum rlk_contender_state state)
{
    m->state = state;
    m->failed = 0;
    m->dormant = false;
    model_pass_turn(m);
}

static void model_start_ready(void)
{
    size_t i;

    for (i = 0; i < n_model_ready; i++) {
        struct model_request *m = model_ready[i];

        if (m && m->state != RLK_CONTENDER_OUT) {
            log_start(model_started, sizeof(model_started), m - model, m->state);
            if (m->fails) {
                model_leave(m, RLK_CONTENDER_OUT);
            }
        }
    }
    n_model_ready = 0;
}

static void model_rest(struct model_request *m, unsigned arrival)
{
    m->state = RLK_CONTENDER_BEHIND;
    m->dormant = true;
    m->arrival = m->failed = arrival + 1;
    model_make_ready(m);
    model_pass_turn(m);
}

static void model_line_up(struct model_request *m)
{
    m->state = model_may_start(m) ? RLK_CONTENDER_ACTIVE : RLK_CONTENDER_BEHIND;
}

/* When it had failed itself, the others no longer rest. */
static void model_hold(struct model_request *m)
{
    bool had_failed = m->failed != 0;
    struct model_request *other;

    m->state = RLK_CONTENDER_HOLDS;
    m->failed = 0;
    while (had_failed && (other = model_first_failed(m->keys)) != NULL) {
        other->failed = 0;
        other->dormant = false;
    }
}

static void walk_enter(int i, struct rlk_prng *prng, unsigned arrival)
{
    unsigned keys = (unsigned)rlk_prng_upto(prng, (1u << N_KEYS) - 2) + 1;
    bool may_wait = rlk_prng_upto(prng, 7) > 0;
    struct model_request *m = &model[i];

    if (rlk_prng_upto(prng, 1)) {
        keys &= ~(keys - 1); /* one key alone */
    }
    *m = (struct model_request){.keys = keys, .arrival = arrival, .may_wait = may_wait};
    m->fails = requests[i].fails = rlk_prng_upto(prng, 7) == 0;
    m->state = !may_wait || model_may_start(m) ? RLK_CONTENDER_ACTIVE : RLK_CONTENDER_BEHIND;
    ck_assert(enter(&requests[i], keys, may_wait, arrival));
}

static void walk_active(struct rlk_prng *prng, int i, unsigned arrival)
{
    if (model[i].may_wait && rlk_prng_upto(prng, 2) == 0) {
        model_rest(&model[i], arrival);
        model_start_ready();
        rlk_contention_rest(&contention, &requests[i].who);
    } else {
        model_hold(&model[i]);
        rlk_contention_hold(&contention, &requests[i].who);
    }
}

static void walk_step(struct rlk_prng *prng, unsigned arrival)
{
    int i = (int)rlk_prng_upto(prng, MOST - 1);
    struct model_request *m = &model[i];

    if (m->state == RLK_CONTENDER_OUT) {
        walk_enter(i, prng, arrival);
    } else if (m->state == RLK_CONTENDER_ACTIVE && rlk_prng_upto(prng, 2)) {
        walk_active(prng, i, arrival);
    } else if (m->state == RLK_CONTENDER_RESTS && rlk_prng_upto(prng, 3)) {
        model_line_up(m);
        rlk_contention_line_up(&requests[i].who);
    } else if (rlk_prng_upto(prng, 1)) {
        model_leave(m, RLK_CONTENDER_PASSED);
        model_start_ready();
        rlk_contention_pass(&contention, &requests[i].who);
    } else {
        model_leave(m, RLK_CONTENDER_OUT);
        model_start_ready();
        rlk_contention_leave(&contention, &requests[i].who);
    }
}

/* Everybody that can be found by a key. */
static unsigned found(int key, const struct rlk_contender *not_this)
{
    const struct rlk_contender *who = NULL;
    unsigned n = 0;

    while ((who = rlk_contention_find(&contention, names[key], strlen(names[key]), who)) != NULL) {
        n += who != not_this;
    }
    return n;
}

static unsigned model_found(int key, const struct model_request *not_this)
{
    unsigned n = 0;
    int i;

    for (i = 0; i < MOST; i++) {
        const struct model_request *m = &model[i];

        n += m != not_this && m->state == RLK_CONTENDER_ACTIVE && m->may_wait &&
             (m->keys & 1u << key) != 0;
    }
    return n;
}

static bool model_is_shared(const struct model_request *m)
{
    bool shared = false;
    int key;

    for (key = 0; key < N_KEYS; key++) {
        shared = shared || ((m->keys & 1u << key) && model_found(key, m) > 0);
    }
    return shared && m->state != RLK_CONTENDER_OUT;
}

/* One assertion for all: each costs a system call. */
static void check_walk(unsigned step)
{
    int i, wrong = 0;

    for (i = 0; i < MOST; i++) {
        wrong += requests[i].who.state != model[i].state;
        wrong += rlk_contention_is_shared(&requests[i].who) != model_is_shared(&model[i]);
    }
    for (i = 0; i < N_KEYS; i++) {
        wrong += found(i, NULL) != model_found(i, NULL);
    }
    ck_assert_msg(wrong == 0, "step %u: %d differences", step, wrong);
    ck_assert_str_eq(started, model_started);
    started[0] = model_started[0] = '\0';
}

TEST_LOOP(everybody_is_where_the_model_has_them, 0, 4)
{
    struct rlk_prng prng;
    unsigned step;

    begin();
    memset(model, 0, sizeof(model));
    rlk_prng_seed(&prng, (uint64_t)_i);
    for (step = 0; step < 5000; step++) {
        walk_step(&prng, step);
        check_walk(step);
    }
    end();
}

/* ---- the rest ---- */

static bool is_contended(unsigned request, uint64_t now_us)
{
    return rlk_contention_is_contended(&contention, &requests[request].who, now_us);
}

TEST(what_a_release_said_of_a_key_is_known_while_somebody_refers_to_it)
{
    begin();
    tell("+0a");
    tell("h0");
    ck_assert(!is_contended(0, 0));
    tell("w0");
    tell("p0");
    tell("+1ab");
    ck_assert(is_contended(1, UNTIL));
    rlk_contention_clear_woken(&requests[0].who);
    ck_assert(!is_contended(1, UNTIL));
    tell("l0");
    tell("l1");
    end();
}

TEST(what_a_release_said_is_known_for_a_while_when_nobody_refers_to_the_key)
{
    begin();
    tell("+0a");
    tell("h0");
    tell("w0");
    tell("l0");
    tell("+1b");
    tell("+2a");
    ck_assert(!is_contended(1, UNTIL - 1));
    ck_assert(is_contended(2, UNTIL - 1));
    ck_assert(!is_contended(2, UNTIL));
    end();
}

TEST(nobody_is_started_after_a_stop)
{
    begin();
    tell("+0a");
    tell("+1a");
    rlk_contention_stop(&contention);
    tell("l0");
    ck_assert_int_eq(requests[1].who.state, RLK_CONTENDER_BEHIND);
    ck_assert_str_eq(started, "");
    end();
}

TEST(a_claim_of_one_key_needs_no_memory_of_its_own)
{
    begin();
    tell("+0a");
    ck_assert_ptr_eq(requests[0].wait.links, &requests[0].wait.link);
    end();
}

static long allowed;

static int allow(size_t size)
{
    (void)size;
    return allowed-- > 0;
}

/* Three records, a list of them, a set, links, and buckets. */
TEST(without_memory_nobody_enters_and_nothing_is_left)
{
    struct rlk_claim *claim;
    bool entered = false;
    long i;

    begin();
    claim = claim_of(0x1d, 0);
    ck_assert_ptr_nonnull(claim);
    for (i = 0; !entered; i++) {
        ck_assert_int_lt(i, 20);
        allowed = i;
        rlk_alloc_hook(allow);
        entered = rlk_contention_enter(&contention, &requests[0].who, &requests[0].wait, claim);
        rlk_alloc_hook(NULL);
        ck_assert_int_eq(requests[0].who.state, entered ? RLK_CONTENDER_ACTIVE : RLK_CONTENDER_OUT);
        ck_assert_uint_eq(contention.keys.count, entered ? 4 : 0);
        ck_assert_uint_eq(contention.sets.count, entered ? 1 : 0);
    }
    ck_assert_int_gt(i, 4);
    rlk_claim_unref(claim);
    end();
}

/* The first one's key is in its claim, and may be gone before the second one leaves. */
TEST(without_memory_for_the_name_of_its_key_a_second_one_stays_out)
{
    struct request *second = &requests[1];

    begin();
    tell("+0a");
    second->claim = claim_of(1, 0);
    allowed = 0;
    rlk_alloc_hook(allow);
    ck_assert(!rlk_contention_enter(&contention, &second->who, &second->wait, second->claim));
    rlk_alloc_hook(NULL);
    ck_assert_int_eq(second->who.state, RLK_CONTENDER_OUT);
    tell("+1a");
    tell("l0");
    rlk_claim_unref(requests[0].claim);
    requests[0].claim = NULL;
    ck_assert(rlk_contention_is_used(&contention, "a", 1));
    tell("+2a");
    ck_assert_int_eq(requests[2].who.state, RLK_CONTENDER_BEHIND);
    end();
}

#define MANY 100000

static struct request *crowd;
static size_t n_crowd_started;

static void on_crowd_start(struct rlk_contender *who)
{
    struct request *r = RLK_CONTAINER(who, struct request, who);

    n_crowd_started++;
    ck_assert_uint_eq((size_t)(r - crowd), n_crowd_started);
    if (r->fails) {
        rlk_contention_leave(&contention, who);
    }
}

/* One passes; then all fail in one go; those in the middle left before. */
TEST(a_hundred_thousand_stand_behind_one)
{
    struct rlk_claim *claim;
    size_t i;

    begin();
    contention.start = on_crowd_start;
    n_crowd_started = 0;
    crowd = calloc(MANY, sizeof(*crowd));
    claim = claim_of(1, 0);
    ck_assert(crowd != NULL && claim != NULL);
    for (i = 0; i < MANY; i++) {
        rlk_contender_init(&crowd[i].who);
        crowd[i].fails = i >= MANY / 2;
        ck_assert(rlk_contention_enter(&contention, &crowd[i].who, &crowd[i].wait, claim));
    }
    for (i = 0; i < MANY / 2; i++) {
        rlk_contention_hold(&contention, &crowd[i].who);
        rlk_contention_leave(&contention, &crowd[i].who);
    }
    ck_assert_uint_eq(n_crowd_started, MANY - 1);
    ck_assert_uint_eq(contention.keys.count, 0);
    rlk_claim_unref(claim);
    free(crowd);
    end();
}
