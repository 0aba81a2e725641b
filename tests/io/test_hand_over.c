/* io/test_hand_over.c - a holder hands its lock over to a waiter: who gets it, who does not, and
 * what the masters have meanwhile. Each client is a manager of its own on the same five masters. */
#include <stdio.h>
#include <string.h>

#include "io/farm.h"
#include "io/held.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("hand-over");

#define CLIENTS 3

/* Long enough for any machine; and so short that a test may wait for its end. */
#define LONG_MS 60000u
#define SHORT_MS 40u

struct client {
    struct redlock *rl;
    struct outcome got;
    struct redlock_lock *handle;
    struct outcome_released released;
};

static struct farm f;
static struct client clients[CLIENTS]; /* the holder, and two others */
static int closed;

static void on_closed(void *arg)
{
    (void)arg;
    closed++;
}

static void end(void)
{
    size_t i;
    int open = 0;

    suspend_unfreeze(); /* a test may have stopped the clock */
    closed = 0;
    for (i = 0; i < CLIENTS; i++) {
        if (clients[i].rl) {
            ck_assert_int_eq(redlock_close(clients[i].rl, on_closed, NULL), REDLOCK_OK);
            open++;
        }
        clients[i].rl = NULL;
    }
    while (closed < open) {
        loop_settle(f.base);
    }
    farm_end_all();
}

FIXTURE(NULL, end);

static bool are_up(void *arg)
{
    struct redlock *rl = arg;
    size_t i;

    for (i = 0; i < f.n; i++) {
        struct redlock_node_info info = {.size = sizeof(info)};

        redlock_get_node_info(rl, i, &info);
        if (info.state != REDLOCK_NODE_UP) {
            return false;
        }
    }
    return true;
}

static void start_clients(void)
{
    size_t i;

    memset(clients, 0, sizeof(clients));
    for (i = 0; i < CLIENTS; i++) {
        clients[i].got.n = f.n;
        ck_assert_int_eq(redlock_new(f.base, &f.options, &clients[i].rl), REDLOCK_OK);
        loop_must_true(f.base, are_up, clients[i].rl);
    }
}

static void start(void)
{
    farm_start(&f, 5, FAKE_UNIX);
    f.options.subscribe = 1;
    start_clients();
}

static void ask_as(struct client *c, const struct redlock_request *request)
{
    ck_assert_int_eq(redlock_acquire(c->rl, request, outcome_on_acquired, &c->got, &c->handle),
                     REDLOCK_OK);
}

static struct redlock_request request_of(const char *key, const char *owner, uint32_t wait_ms)
{
    struct redlock_request request = outcome_request(key);

    request.owner = owner;
    request.wait_ms = wait_ms;
    return request;
}

static void ask(struct client *c, const char *owner, uint32_t wait_ms)
{
    struct redlock_request request = request_of("k", owner, wait_ms);

    ask_as(c, &request);
}

static void must_get(struct client *c)
{
    loop_must(f.base, &c->got.calls);
    ck_assert_int_eq(c->got.status, REDLOCK_OK);
}

static bool is_listed(void *arg)
{
    return redlock_lock_queue_position(((struct client *)arg)->handle) > 0;
}

static void wait_for_a_place(struct client *c)
{
    loop_must_true(f.base, is_listed, c);
    loop_settle(f.base);
}

/* The first client holds the lock; then the third one waits for it, and then the second one. */
static void start_to_wait_as(const char *owner)
{
    start();
    ask(&clients[0], "a", 0);
    must_get(&clients[0]);
    ask(&clients[2], "c", REDLOCK_FOREVER);
    wait_for_a_place(&clients[2]);
    ask(&clients[1], owner, REDLOCK_FOREVER);
    wait_for_a_place(&clients[1]);
}

static void hand_over(struct client *c, const char *to, uint32_t within_ms)
{
    ck_assert_int_eq(
        redlock_hand_over(c->got.lock, to, within_ms, outcome_on_released, &c->released),
        REDLOCK_OK);
    ck_assert_uint_eq(redlock_lock_validity_ms(c->got.lock), 0);
}

static int hand_over_and_wait(struct client *c, const char *to, uint32_t within_ms)
{
    hand_over(c, to, within_ms);
    loop_must(f.base, &c->released.calls);
    return c->released.status;
}

static void release(struct client *c)
{
    ck_assert_int_eq(farm_release(&f, c->got.lock), REDLOCK_OK);
}

static struct {
    const char *claim, *owner, *to;
} names[] = {
    {"the_owner_text_names_a_waiter", "b", "b"},
    {"the_owner_text_may_have_spaces_and_colons", "host 7: b", "host 7: b"},
    {"the_id_names_a_candidate", "leader+7 node-2 http://x", "node-2"},
    {"the_whole_text_of_a_candidate_names_it_too", "leader node-2", "leader node-2"},
};

TEST_ROWS(a_name, names)
{
    start_to_wait_as(names[_i].owner);
    ck_assert_int_eq(hand_over_and_wait(&clients[0], names[_i].to, LONG_MS), REDLOCK_OK);
    must_get(&clients[1]);
    ck_assert_int_eq(clients[2].got.calls, 0);
    ck_assert_uint_eq(farm_count(&f, "k", clients[1].got.token), 5);
    ck_assert_str_ne(clients[1].got.token, clients[0].got.token);
    release(&clients[1]);
    must_get(&clients[2]);
}

static uint32_t tries_of(const struct client *c)
{
    uint32_t tries;

    redlock_lock_effort(c->handle, &tries, NULL);
    return tries;
}

/* The masters tell it: it asks once more, and wins. No time passes, so it does not ask because a
 * check of its position is due. On a busy machine it may have polled before, while the masters did
 * not list it yet. */
TEST(the_waiter_asks_at_once)
{
    uint32_t before;

    start_to_wait_as("b");
    before = tries_of(&clients[1]);
    suspend_freeze();
    ck_assert_int_eq(hand_over_and_wait(&clients[0], "b", LONG_MS), REDLOCK_OK);
    must_get(&clients[1]);
    suspend_unfreeze();
    ck_assert_uint_eq(clients[1].got.tries, before + 1);
}

static void on_query(const struct redlock_query_result *result, int status, void *arg)
{
    ck_assert_int_eq(status, REDLOCK_OK);
    ck_assert_int_eq(result->held, 0);
    ck_assert_int_eq(result->unknown, 0);
    ck_assert_uint_eq(result->holding, 5);
    ck_assert_str_eq(result->reserved_for, "somebody else");
    ck_assert_str_eq(result->owner, "");
    ck_assert_uint_gt(result->ttl_ms, 0);
    ck_assert_uint_le(result->ttl_ms, LONG_MS);
    ++*(int *)arg;
}

TEST(everybody_else_is_refused_and_a_query_says_why)
{
    char reservation[100];
    int queried = 0;

    start();
    ask(&clients[0], "a", 0);
    must_get(&clients[0]);
    ck_assert_int_eq(hand_over_and_wait(&clients[0], "somebody else", LONG_MS), REDLOCK_OK);
    ck_assert_int_eq(clients[0].released.calls, 1);
    snprintf(reservation, sizeof(reservation), "for:%.40s:somebody else", clients[0].got.token);
    ck_assert_uint_eq(farm_count(&f, "k", reservation), 5);
    ask(&clients[1], "b", 0);
    loop_must(f.base, &clients[1].got.calls);
    ck_assert_int_eq(clients[1].got.status, REDLOCK_EHELD);
    ck_assert_str_eq(clients[1].got.votes[0].holder, reservation);
    ck_assert_int_eq(redlock_query(clients[2].rl, "k", 0, on_query, &queried), REDLOCK_OK);
    loop_must(f.base, &queried);
}

/* A reservation is no lock: it cannot be held, released or broken. */
TEST(a_reservation_is_no_token)
{
    struct redlock_request request = outcome_request("k");
    const char *reservation = "for:0123456789abcdef0123456789abcdef01234567:b", *key = "k";

    start();
    ck_assert_int_eq(redlock_adopt(clients[0].rl, &request, reservation, outcome_never, NULL, NULL),
                     REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_release_token(clients[0].rl, &key, NULL, 1, reservation, NULL, NULL),
                     REDLOCK_EINVAL);
    ck_assert_str_eq(redlock_error_text(clients[0].rl),
                     "the token is a reservation: nobody holds the lock, and it is free again as "
                     "soon as the reservation ends");
}

/* Nobody of that name waits: the first in the queue gets it when the reservation is over. */
TEST(the_queue_goes_on_when_nobody_takes_it)
{
    start_to_wait_as("b");
    ck_assert_int_eq(hand_over_and_wait(&clients[0], "nobody", SHORT_MS), REDLOCK_OK);
    must_get(&clients[2]);
    ck_assert_int_eq(clients[1].got.calls, 0);
    release(&clients[2]);
    must_get(&clients[1]);
}

/* It has given up, or is gone. */
TEST(a_waiter_that_has_given_up_is_passed_over)
{
    start_to_wait_as("b");
    hand_over(&clients[0], "b", SHORT_MS);
    ck_assert_int_eq(redlock_cancel(clients[1].handle), REDLOCK_OK);
    must_get(&clients[2]);
}

TEST(the_fencing_token_grows)
{
    struct redlock_request request;
    uint64_t fence;

    start();
    request = outcome_fenced_request("k");
    ask_as(&clients[0], &request);
    must_get(&clients[0]);
    fence = redlock_lock_fencing_token(clients[0].got.lock);
    request.owner = "b";
    request.wait_ms = REDLOCK_FOREVER;
    ask_as(&clients[1], &request);
    wait_for_a_place(&clients[1]);
    ck_assert_int_eq(hand_over_and_wait(&clients[0], "b", LONG_MS), REDLOCK_OK);
    must_get(&clients[1]);
    ck_assert_uint_gt(redlock_lock_fencing_token(clients[1].got.lock), fence);
}

/* The waiter needs only one of them, and somebody else may not have the other one meanwhile. */
TEST(each_key_is_reserved)
{
    static const char *const keys[] = {"j", "k"};
    struct redlock_request request;

    start();
    request = outcome_request(NULL);
    request.keys = keys;
    request.n_keys = 2;
    ask_as(&clients[0], &request);
    must_get(&clients[0]);
    ask(&clients[1], "b", REDLOCK_FOREVER);
    wait_for_a_place(&clients[1]);
    ck_assert_int_eq(hand_over_and_wait(&clients[0], "b", LONG_MS), REDLOCK_OK);
    must_get(&clients[1]);
    request = outcome_request("j");
    ask_as(&clients[2], &request);
    loop_must(f.base, &clients[2].got.calls);
    ck_assert_int_eq(clients[2].got.status, REDLOCK_EHELD);
}

/* No master can wake it: it is refused once more, learns of the reservation, and takes it. */
TEST(a_waiter_that_polls_takes_it)
{
    struct redlock_request request = request_of("k", "b", REDLOCK_FOREVER);

    farm_start(&f, 5, FAKE_UNIX);
    f.options.subscribe = 0;
    start_clients();
    ask(&clients[0], "a", 0);
    must_get(&clients[0]);
    request.retry_max_ms = 2;
    ask_as(&clients[1], &request);
    loop_settle(f.base);
    ck_assert_int_eq(hand_over_and_wait(&clients[0], "b", LONG_MS), REDLOCK_OK);
    must_get(&clients[1]);
}

/* Requests of one manager for the key wait behind its lock: the named one asks next, is refused,
 * and is named in the refusal. */
TEST(a_request_of_the_same_manager_takes_it)
{
    struct redlock *own;

    start();
    ask(&clients[0], "a", 0);
    must_get(&clients[0]);
    own = clients[1].rl;
    clients[1].rl = clients[0].rl;
    ask(&clients[1], "b", REDLOCK_FOREVER);
    clients[1].rl = own;
    ck_assert_int_eq(hand_over_and_wait(&clients[0], "b", LONG_MS), REDLOCK_OK);
    must_get(&clients[1]);
}

static bool is_gone(void *token)
{
    return farm_count(&f, "k", token) == 0;
}

/* [H4] Two masters do not get the hand-over before their connections break: they get an ordinary
 * release, and the three reservations are enough. */
TEST(a_master_that_was_not_reached_gets_a_release)
{
    char reservation[100];

    start_to_wait_as("b");
    farm_down(&f, 0, 1);
    farm_down(&f, 4, 5);
    loop_settle(f.base);
    ck_assert_int_eq(hand_over_and_wait(&clients[0], "b", LONG_MS), REDLOCK_OK);
    must_get(&clients[1]);
    ck_assert_int_eq(clients[2].got.calls, 0);
    farm_up(&f, 0, 1);
    farm_up(&f, 4, 5);
    loop_must_true(f.base, is_gone, clients[0].got.token);
    snprintf(reservation, sizeof(reservation), "for:%.40s:b", clients[0].got.token);
    ck_assert_uint_eq(farm_count(&f, "k", reservation), 0);
}

/* A server that has lost its scripts gets the text, with the time that was asked for. */
TEST(a_server_without_the_script_gets_its_text)
{
    size_t i;

    start();
    for (i = 0; i < 2; i++) {
        clients[0].got.calls = clients[0].released.calls = 0;
        ask(&clients[0], "a", REDLOCK_FOREVER);
        must_get(&clients[0]);
        ck_assert_int_eq(hand_over_and_wait(&clients[0], "b", SHORT_MS), REDLOCK_OK);
    }
    clients[0].got.calls = clients[0].released.calls = 0;
    ask(&clients[0], "a", REDLOCK_FOREVER);
    must_get(&clients[0]);
    for (i = 0; i < f.n; i++) {
        rlk_model_forget_scripts(fake_model(f.nodes[i]));
    }
    ck_assert_int_eq(hand_over_and_wait(&clients[0], "b", LONG_MS), REDLOCK_OK);
    for (i = 0; i < f.n; i++) {
        ck_assert_uint_le(rlk_model_ttl(fake_model(f.nodes[i]), "k"), LONG_MS);
        ck_assert_uint_gt(rlk_model_ttl(fake_model(f.nodes[i]), "k"), 0);
    }
}

TEST(a_lock_is_handed_over_by_its_token)
{
    const char *key = "k";
    struct outcome_released released = {0};

    start_to_wait_as("b");
    ck_assert_int_eq(redlock_hand_over_token(clients[2].rl, &key, NULL, 1, clients[0].got.token,
                                             "b", LONG_MS, outcome_on_released, &released),
                     REDLOCK_OK);
    loop_must(f.base, &released.calls);
    ck_assert_int_eq(released.status, REDLOCK_OK);
    must_get(&clients[1]);
    ck_assert_int_eq(hand_over_and_wait(&clients[0], "c", LONG_MS), REDLOCK_TAKEN);
    ck_assert_int_eq(clients[2].got.calls, 0);
}

/* It is not connected yet, as `redlock release --to` is not. */
TEST(a_process_that_has_just_begun_hands_a_lock_over)
{
    const char *key = "k";
    struct outcome_released released = {0};
    struct redlock *rl;

    start_to_wait_as("b");
    ck_assert_int_eq(redlock_new(f.base, &f.options, &rl), REDLOCK_OK);
    ck_assert_int_eq(redlock_hand_over_token(rl, &key, NULL, 1, clients[0].got.token, "b", LONG_MS,
                                             outcome_on_released, &released),
                     REDLOCK_OK);
    loop_must(f.base, &released.calls);
    ck_assert_int_eq(released.status, REDLOCK_OK);
    must_get(&clients[1]);
    ck_assert_int_eq(clients[2].got.calls, 0);
    ck_assert_int_eq(redlock_close(rl, NULL, NULL), REDLOCK_OK);
}

/* ---- what is refused ---- */

#define HEX "0123456789abcdef0123456789abcdef01234567"

static char too_long[REDLOCK_MAX_OWNER + 2];

static struct {
    const char *claim, *to;
    uint32_t within_ms;
    const char *text;
} wrong[] = {
    {"no_name", NULL, 0, "to is NULL or empty; it must be the owner text of a waiter"},
    {"an_empty_name", "", 0, "to is NULL or empty; it must be the owner text of a waiter"},
    {"a_name_that_is_not_printable", "b\n", 0,
     "to has a byte that is not printable; use printable ASCII only"},
    {"a_name_that_is_too_long", too_long, 0, "to is 209 bytes long; at most 208 are allowed"},
    {"a_time_that_is_too_long", "b", 86400001,
     "within_ms is 86400001; it must be 0 to 300000 (max_ttl_ms)"},
};

TEST_ROWS(a_hand_over_is_refused_and_the_lock_is_still_held, wrong)
{
    memset(too_long, 'b', sizeof(too_long) - 1);
    start();
    ask(&clients[0], "a", 0);
    must_get(&clients[0]);
    ck_assert_int_eq(
        redlock_hand_over(clients[0].got.lock, wrong[_i].to, wrong[_i].within_ms, NULL, NULL),
        REDLOCK_EINVAL);
    ck_assert_str_eq(redlock_error_text(clients[0].rl), wrong[_i].text);
    ck_assert_uint_gt(redlock_lock_validity_ms(clients[0].got.lock), 0);
    release(&clients[0]);
}

static struct {
    const char *claim, *token, *text;
} tokens[] = {
    {"of_another_library", "somebody",
     "the token was not made by this library, so its lock cannot be handed over; release it "
     "instead"},
    {"of_a_broken_lock", HEX ":broken by ops: it hangs",
     "the token is that of a broken lock, which cannot be handed over"},
    {"of_a_reservation", "for:" HEX ":b",
     "the token is a reservation: nobody holds the lock, and it is free again as soon as the "
     "reservation ends"},
};

TEST_ROWS(a_token_is_refused, tokens)
{
    const char *key = "k";

    start();
    ck_assert_int_eq(
        redlock_hand_over_token(clients[0].rl, &key, NULL, 1, tokens[_i].token, "b", 0, NULL, NULL),
        REDLOCK_EINVAL);
    ck_assert_str_eq(redlock_error_text(clients[0].rl), tokens[_i].text);
}

TEST(a_lock_is_handed_over_once)
{
    start();
    ck_assert_int_eq(redlock_hand_over(NULL, "b", 0, NULL, NULL), REDLOCK_EINVAL);
    ask(&clients[0], "a", 0);
    ck_assert_int_eq(redlock_hand_over(clients[0].handle, "b", 0, NULL, NULL), REDLOCK_ESTATE);
    must_get(&clients[0]);
    hand_over(&clients[0], "b", 0);
    ck_assert_int_eq(redlock_hand_over(clients[0].got.lock, "b", 0, NULL, NULL), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_release(clients[0].got.lock, NULL, NULL), REDLOCK_ESTATE);
    loop_must(f.base, &clients[0].released.calls);
}

/* ---- messages ---- */

static struct {
    const char *claim, *message;
} messages[] = {
    {"without_a_number", "h for:" HEX ":b\nk"},
    {"without_a_reservation", "h1000\nk"},
    {"without_a_space", "h1000for:" HEX ":b\nk"},
    {"with_a_number_too_large", "h86400001 for:" HEX ":b\nk"},
    {"without_a_key", "h1000 for:" HEX ":b"},
    {"for_another_key", "h1000 for:" HEX ":b\nj"},
    {"with_another_name", "h1000 for:" HEX ":bb\nk"},
    {"with_too_few_digits", "h1000 for:0123:b\nk"},
    {"with_a_token", "h1000 " HEX ":b\nk"},
    {"of_one_letter", "h"},
};

/* It is held, and no message makes a waiter ask for it. */
TEST_ROWS(nonsense_is_ignored, messages)
{
    const char *message = messages[_i].message;
    size_t i, asked = 0;

    start_to_wait_as("b");
    asked = scripts_count(&f, 1, &rlk_script_set_all);
    for (i = 0; i < f.n; i++) {
        const char *channel = rlk_model_waiter(fake_model(f.nodes[i]), "k", 2);

        if (channel) {
            rlk_model_publish(fake_model(f.nodes[i]), channel, message, strlen(message));
        }
    }
    loop_settle(f.base);
    ck_assert_uint_eq(scripts_count(&f, 1, &rlk_script_set_all), asked);
    ck_assert_int_eq(clients[1].got.calls, 0);
    release(&clients[0]);
    must_get(&clients[2]);
}

/* A message that is wrong, but well made, costs one round: the masters compare the value. */
TEST(a_false_message_gives_nobody_the_lock)
{
    const char message[] = "h1000 for:" HEX ":b\nk";
    size_t i;

    start_to_wait_as("b");
    for (i = 0; i < f.n; i++) {
        const char *channel = rlk_model_waiter(fake_model(f.nodes[i]), "k", 2);

        if (channel) {
            rlk_model_publish(fake_model(f.nodes[i]), channel, message, strlen(message));
        }
    }
    scripts_wait(&f, 1, &rlk_script_set_all, 1);
    loop_settle(f.base);
    ck_assert_int_eq(clients[1].got.calls, 0);
    ck_assert_uint_eq(farm_count(&f, "k", clients[0].got.token), 5);
    release(&clients[0]);
    must_get(&clients[2]);
}
