/* io/test_hostile.c - one of five nodes breaks every rule: the process survives, the loop goes
 * on, the other four decide, and the node's text says what is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <event2/event.h>

#include "base/sanitizer.h"
#include "io/farm.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("hostile");
FIXTURE(NULL, farm_end_all);

static struct farm f;

/* Where the bad answer may come: as the answer to every command that a connection sends. */
static const char *const places[] = {"HELLO", "CLIENT SETNAME", "INFO", "SCRIPT LOAD",
                                     "SET",   "EVALSHA"};
#define N_PLACES (sizeof(places) / sizeof(places[0]))
#define FIRST_AFTER_GREETING 4
#define LAST_PLACE (N_PLACES - 1)

#define BYTES(text) text, sizeof(text) - 1

/* What it may mean as an answer to a SET. */
enum counts {
    UNKNOWN, /* no vote */
    A_NO,    /* it names a holder */
    ANYTHING /* hiredis, or only its newer versions, reads it as a good answer */
};

/* What comes instead of the answer. */
static const struct {
    const char *bytes;
    size_t len;
    enum fake_how how;
    /* No server may send that, so the connection is closed. */
    bool breaks;
    enum counts counts;
} answers[] = {
    {BYTES("nonsense\r\n"), FAKE_REPLY, true, UNKNOWN},
    {BYTES("HTTP/1.1 400 Bad Request\r\n\r\n"), FAKE_REPLY, true, UNKNOWN},
    {BYTES("\0\0\0\0\r\n"), FAKE_REPLY, true, UNKNOWN},
    {BYTES("$99999999999999999999999\r\n"), FAKE_REPLY, true, UNKNOWN},
    {BYTES("*1000000000\r\n"), FAKE_REPLY, true, UNKNOWN},
    {BYTES("*1000000000\r\n:1\r\n"), FAKE_REPLY, true, UNKNOWN},
    {BYTES("*9223372036854775807\r\n"), FAKE_REPLY, true, UNKNOWN},
    {BYTES("$-2\r\n"), FAKE_REPLY, false, UNKNOWN},
    {BYTES("*-2\r\n"), FAKE_REPLY, false, UNKNOWN},
    {BYTES(":x\r\n"), FAKE_REPLY, false, UNKNOWN},
    {BYTES("$3\r\nabcdef\r\n"), FAKE_REPLY, true, ANYTHING},
    {BYTES("%1\r\n+a\r\n+b\r\n"), FAKE_REPLY, false, UNKNOWN},
    {BYTES(">1\r\n+push\r\n"), FAKE_REPLY, false, UNKNOWN},
    {BYTES("_\r\n"), FAKE_REPLY, false, ANYTHING},
    {BYTES(""), FAKE_REPLY_CLOSE, true, UNKNOWN},
    {BYTES(""), FAKE_REPLY_RESET, true, UNKNOWN},
    {BYTES(""), FAKE_DO_CLOSE, true, UNKNOWN},
    {BYTES("+"), FAKE_REPLY_CLOSE, true, UNKNOWN},
    {BYTES("+O"), FAKE_REPLY_RESET, true, UNKNOWN},
    {BYTES("+OK"), FAKE_REPLY_CLOSE, true, UNKNOWN},
    {BYTES("+OK\r"), FAKE_REPLY_CLOSE, true, UNKNOWN},
    {BYTES("$40\r\n0123456789"), FAKE_REPLY_CLOSE, true, UNKNOWN},
    {BYTES("*14\r\n$6\r\nserver\r\n$5\r\nre"), FAKE_REPLY_CLOSE, true, UNKNOWN},
    {BYTES("-ERR max number of clients reached\r\n"), FAKE_REPLY_CLOSE, true, UNKNOWN},
    /* Valid protocol with a wrong meaning. */
    {BYTES("+MAYBE\r\n"), FAKE_REPLY, false, UNKNOWN},
    {BYTES(":1\r\n"), FAKE_REPLY, false, UNKNOWN},
    {BYTES(":-9223372036854775808\r\n"), FAKE_REPLY, false, UNKNOWN},
    {BYTES("*0\r\n"), FAKE_REPLY, false, UNKNOWN},
    {BYTES("*-1\r\n"), FAKE_REPLY, false, ANYTHING},
    {BYTES("*1\r\n*1\r\n*1\r\n:1\r\n"), FAKE_REPLY, false, UNKNOWN},
    {BYTES("*2\r\n$-1\r\n$-1\r\n"), FAKE_REPLY, false, UNKNOWN},
    {BYTES("$0\r\n\r\n"), FAKE_REPLY, false, A_NO},
    {BYTES("$4\r\n\0\x1b[m\r\n"), FAKE_REPLY, false, A_NO},
    {BYTES("-\r\n"), FAKE_REPLY, false, UNKNOWN},
    {BYTES("-ERR \x1b[31mred\x07\r\n"), FAKE_REPLY, false, UNKNOWN},
    {BYTES("-NOSCRIPT No matching script. Please use EVAL.\r\n"), FAKE_REPLY, false, UNKNOWN},
};
#define N_ANSWERS (sizeof(answers) / sizeof(answers[0]))

/* Nothing that comes from a server may control a person's terminal. */
static void must_be_printable(const char *text)
{
    for (; *text; text++) {
        ck_assert_msg((unsigned char)*text >= ' ' && *text != 127, "byte %d in a text", *text);
    }
}

/* The other nodes decide, and afterwards no key of ours is left on them. */
static struct outcome others_must_decide(void)
{
    struct outcome got = farm_acquire(&f, "k");

    ck_assert_int_eq(got.status, REDLOCK_OK);
    must_be_printable(got.votes[0].error);
    must_be_printable(got.votes[0].holder);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    return got;
}

/* When its connection breaks it is not greeted again: so its error text stays. */
static void do_not_greet_again(void)
{
    fake_on(f.nodes[0], "HELLO", FAKE_STALL, NULL);
}

/* When it behaves again it works as before. */
static void must_recover(void)
{
    struct outcome got;

    fake_behave(f.nodes[0]);
    fake_go_on(f.nodes[0]);
    while (fake_count(f.nodes[0], "SET again") == 0) {
        farm_wait(&f, 0, REDLOCK_NODE_UP); /* the library may not have noticed the disconnect yet */
        got = farm_must_acquire(&f, "again");
        ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    }
    farm_wait_gone(&f, "again");
}

static void open_without_node_0(void)
{
    size_t i;

    farm_open_at_once(&f);
    for (i = 1; i < f.n; i++) {
        farm_wait(&f, i, REDLOCK_NODE_UP);
    }
}

/* Whether the node has answered the release, in the library's view: then the release is not
 * repeated, and the key ends with its ttl. */
static bool is_reported(size_t answer)
{
    return !answers[answer].breaks || answers[answer].bytes[0] == '-' ||
           strncmp(answers[answer].bytes, "$3", 2) == 0;
}

/* Every place with every answer. */
TEST_LOOP(bad_answer_harms_only_its_node, 0, N_PLACES *N_ANSWERS)
{
    size_t place = (size_t)_i % N_PLACES;
    size_t answer = (size_t)_i / N_PLACES;
    bool greeting = place < FIRST_AFTER_GREETING;
    struct outcome got;

    farm_start(&f, 5, _i % 2 ? FAKE_TCP : FAKE_UNIX);
    fake_on_next(f.nodes[0], 0, places[place], answers[answer].how, answers[answer].bytes,
                 answers[answer].len);
    open_without_node_0();
    if (greeting && answers[answer].breaks) {
        farm_wait_error(&f, 0, "");
        must_be_printable(farm_error(&f, 0));
    } else if (!greeting) {
        farm_wait(&f, 0, REDLOCK_NODE_UP);
        do_not_greet_again();
    }
    got = others_must_decide();
    if (greeting && answers[answer].breaks) {
        ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_NONE);
        ck_assert_str_ne(got.votes[0].error, "");
    } else if (answers[answer].breaks && place == FIRST_AFTER_GREETING) {
        farm_wait_error(&f, 0, "");
    }
    must_recover();
    if (place != LAST_PLACE || !is_reported(answer)) {
        farm_wait_gone(&f, "k");
    }
}

/* The header announces so many bytes that they never come: that is the same as no answer, and
 * ends by a timeout. Nothing of that size may be allocated. */
static const char *const announced[] = {"$4294967296\r\nabc", "$9223372036854775807\r\n",
                                        "*2\r\n$4294967295\r\n"};
#define N_ANNOUNCED (sizeof(announced) / sizeof(announced[0]))

TEST_LOOP(announced_size_is_not_believed, 0, N_PLACES *N_ANNOUNCED)
{
    size_t place = (size_t)_i % N_PLACES;
    const struct rlimit little = {(rlim_t)1 << 31, (rlim_t)1 << 31};

    if (!RLK_ADDRESS_SANITIZER) { /* which reserves more address space than any limit permits */
        ck_assert_int_eq(setrlimit(RLIMIT_AS, &little), 0);
    }
    farm_start(&f, 5, FAKE_UNIX);
    fake_on(f.nodes[0], places[place], FAKE_REPLY, announced[(size_t)_i / N_PLACES]);
    open_without_node_0();
    if (place < FIRST_AFTER_GREETING) {
        farm_wait_count(&f, 0, places[place], 1);
        farm_time_out(&f);
        farm_wait_error(&f, 0, "");
        others_must_decide();
    } else {
        farm_wait(&f, 0, REDLOCK_NODE_UP);
        do_not_greet_again();
        others_must_decide();
        farm_wait_count(&f, 0, places[place], 1);
        farm_time_out(&f);
        farm_wait_error(&f, 0, "");
    }
    fake_hang_up(f.nodes[0]);
    must_recover();
}

/* Nonsense is a vote of "unknown", with a text, and never a yes or a no. Some of it is the same
 * as no answer, which only a timeout ends. */
TEST_LOOP(bad_answers_of_a_majority_are_no_quorum, 0, N_ANSWERS)
{
    struct outcome got;
    size_t i;

    farm_start(&f, 5, FAKE_TCP);
    for (i = 0; i < 3; i++) {
        fake_on_next(f.nodes[i], 0, "SET", answers[_i].how, answers[_i].bytes, answers[_i].len);
    }
    farm_open(&f);
    got = answers[_i].counts == A_NO ? farm_acquire(&f, "k") : farm_acquire_to_timeout(&f, "k");
    if (answers[_i].counts == A_NO) {
        ck_assert_int_eq(got.status, REDLOCK_EHELD);
    } else if (answers[_i].counts == UNKNOWN) {
        ck_assert_int_eq(got.status, REDLOCK_ENOQUORUM);
        for (i = 0; i < 3; i++) {
            ck_assert_int_eq(got.votes[i].vote, REDLOCK_VOTE_UNKNOWN);
            ck_assert_str_ne(got.votes[i].error, "");
            must_be_printable(got.votes[i].error);
        }
    }
}

TEST_LOOP(silence_at_any_place_is_harmless, 0, N_PLACES)
{
    farm_start(&f, 5, FAKE_UNIX);
    fake_on(f.nodes[0], places[_i], FAKE_STALL, NULL);
    open_without_node_0();
    others_must_decide();
    must_recover();
}

/* A node leaves out one answer and sends the next: from then on every answer is that of another
 * question. The library must not believe it, and must survive it. */
TEST_LOOP(a_left_out_answer_is_harmless, 0, N_PLACES)
{
    farm_start(&f, 5, FAKE_UNIX);
    fake_on_next(f.nodes[0], 1, places[_i], FAKE_MUTE, NULL, 0);
    open_without_node_0();
    others_must_decide();
    farm_time_out(&f);
    others_must_decide();
    fake_hang_up(f.nodes[0]);
    must_recover();
}

TEST_LOOP(silence_in_the_greeting_ends_with_the_connect_timeout, 0, FIRST_AFTER_GREETING)
{
    farm_start(&f, 5, FAKE_UNIX);
    fake_on(f.nodes[0], places[_i], FAKE_STALL, NULL);
    open_without_node_0();
    farm_wait_count(&f, 0, places[_i], 1);
    farm_time_out(&f);
    farm_wait_error(&f, 0, "");
    must_recover();
}

/* A handshake that has only just begun says nothing about the server. */
TEST(a_handshake_is_trouble_after_half_of_the_node_timeout)
{
    farm_start(&f, 1, FAKE_UNIX);
    f.options.node_timeout_ms = 1000;
    f.options.connect_timeout_ms = FARM_NEVER_MS;
    fake_on(f.nodes[0], "HELLO", FAKE_STALL, NULL);
    suspend_freeze();
    farm_open_at_once(&f);
    farm_wait_count(&f, 0, "HELLO", 1);
    suspend_ms(499);
    ck_assert_str_eq(farm_error(&f, 0), "is still being connected");
    suspend_ms(1);
    ck_assert_ptr_nonnull(strstr(farm_error(&f, 0), "has not finished the handshake for 500 ms"));
    suspend_unfreeze();
}

TEST_LOOP(replies_byte_by_byte_are_understood, 0, 2)
{
    struct outcome got;

    farm_start(&f, 5, _i ? FAKE_TCP : FAKE_UNIX);
    farm_on(&f, 0, 5, "", FAKE_DRIP, NULL);
    farm_open(&f);
    got = farm_must_acquire(&f, "k");
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    farm_wait_clean(&f);
}

TEST_LOOP(a_doubled_reply_is_harmless, 0, N_PLACES)
{
    farm_start(&f, 5, FAKE_UNIX);
    fake_on(f.nodes[0], places[_i], FAKE_TWICE, NULL);
    open_without_node_0();
    others_must_decide();
    others_must_decide();
    must_recover();
}

static const struct {
    const char *bytes;
    bool is_whole; /* so that the connection must be closed */
} unasked[] = {
    {"+OK\r\n", true},
    {"+OK\r\n+OK\r\n+OK\r\n", true},
    {"-ERR idle timeout\r\n", true},
    {":1\r\n", true},
    {"$-1\r\n", true},
    {"*0\r\n", true},
    {"*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n", true},
    {"nonsense\r\n", true},
    {"$4294967296\r\n", false},
    {"+", false},
};

static bool first_connection_has_ended(void *arg)
{
    (void)arg;
    return !fake_is_open(f.nodes[0], 0);
}

TEST_LOOP(a_reply_that_nobody_asked_for_is_harmless, 0, N_ROWS(unasked))
{
    farm_start_open(&f, 5);
    fake_say(f.nodes[0], unasked[_i].bytes, strlen(unasked[_i].bytes));
    loop_settle(f.base);
    if (unasked[_i].is_whole) {
        loop_must_true(f.base, first_connection_has_ended, NULL);
    }
    others_must_decide();
    fake_hang_up(f.nodes[0]);
    must_recover();
}

/* When no question was sent, such a reply is no vote: it cannot win a lock. */
TEST(replies_that_nobody_asked_for_are_no_votes)
{
    struct outcome got;
    size_t i;

    farm_start_open(&f, 3);
    for (i = 0; i < 3; i++) {
        rlk_model_set(fake_model(f.nodes[i]), "k", "somebody", 60000);
        fake_say(f.nodes[i], "+OK\r\n", 5);
    }
    loop_settle(f.base);
    got = farm_acquire(&f, "k");
    ck_assert_int_ne(got.status, REDLOCK_OK);
}

/* A server that is full, or in protected mode, sends an error before any command. */
static const struct {
    const char *bytes;
    const char *word;
    const char *password; /* ours: then our first command is AUTH */
} greetings[] = {
    {"-ERR max number of clients reached\r\n", "it has as many connections as it allows", NULL},
    {"-ERR max number of clients reached\r\n", "it has as many connections as it allows", "secret"},
    {"-DENIED Redis is running in protected mode because protected mode is enabled\r\n",
     "(protected mode)", NULL},
    {"-DENIED Redis is running in protected mode because protected mode is enabled\r\n",
     "(protected mode)", "secret"},
    {"", "during the handshake", NULL},
    {"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", "like a Redis server", NULL},
    {"220 mail ESMTP\r\n", "like a Redis server", NULL},
};

TEST_LOOP(server_that_refuses_us_is_reported, 0, N_ROWS(greetings))
{
    farm_start(&f, 5, _i % 2 ? FAKE_TCP : FAKE_UNIX);
    f.options.password = greetings[_i].password;
    fake_on_connect(f.nodes[0], FAKE_REPLY_CLOSE, greetings[_i].bytes);
    open_without_node_0();
    farm_wait_error(&f, 0, greetings[_i].word);
    others_must_decide();
    must_recover();
}

/* More bytes than any valid reply has. */
static void say_much(const char *head, size_t len, char filler)
{
    char *bytes = malloc(len);

    memset(bytes, filler, len);
    memcpy(bytes, head, strlen(head));
    fake_on_next(f.nodes[0], 0, "SET", FAKE_REPLY, bytes, len);
    free(bytes);
}

static const char *const floods[] = {"+", "-ERR ", "$16777216\r\n"};

TEST_LOOP(endless_line_is_bounded, 0, 3)
{
    farm_start(&f, 5, FAKE_TCP);
    say_much(floods[_i], (size_t)16 << 20, 'a');
    farm_open(&f);
    do_not_greet_again();
    others_must_decide();
    farm_wait_error(&f, 0, "");
    ck_assert_uint_lt(strlen(farm_error(&f, 0)), 400);
    must_recover();
}

TEST_LOOP(deep_nesting_is_bounded, 0, FIRST_AFTER_GREETING + 1)
{
    static char deep[40000];
    size_t i;

    for (i = 0; i + 4 <= sizeof(deep); i += 4) {
        memcpy(deep + i, "*1\r\n", 4);
    }
    farm_start(&f, 5, FAKE_UNIX);
    fake_on_next(f.nodes[0], 0, places[_i], FAKE_REPLY, deep, sizeof(deep));
    open_without_node_0();
    if (_i >= FIRST_AFTER_GREETING) {
        farm_wait(&f, 0, REDLOCK_NODE_UP);
        do_not_greet_again();
    }
    others_must_decide();
    farm_wait_error(&f, 0, "");
    must_recover();
}

TEST(wide_greeting_is_bounded)
{
    enum {
        elements = 60000
    };
    static char wide[16 + 4 * elements];
    size_t len = (size_t)sprintf(wide, "*%d\r\n", elements);
    size_t i;

    for (i = 0; i < elements; i++, len += 4) {
        memcpy(wide + len, "+a\r\n", 4);
    }
    farm_start(&f, 5, FAKE_UNIX);
    fake_on_next(f.nodes[0], 0, "HELLO", FAKE_REPLY, wide, len);
    open_without_node_0();
    others_must_decide();
    must_recover();
}

/* A good greeting, cut at every place: the rest never comes. */
TEST(greeting_cut_anywhere_is_harmless)
{
    static const char greeting[] =
        "*14\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n"
        ":2\r\n$2\r\nid\r\n:7\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"
        "$7\r\nmodules\r\n*0\r\n";
    size_t cut;

    farm_start(&f, 1, FAKE_UNIX);
    for (cut = 0; cut < sizeof(greeting) - 1; cut++) {
        fake_on_next(f.nodes[0], 1, "HELLO", FAKE_REPLY_CLOSE, greeting, cut);
        farm_open_at_once(&f);
        farm_wait_error(&f, 0, "");
        ck_assert_int_ne(farm_state(&f, 0), REDLOCK_NODE_UP);
        farm_close(&f);
    }
    farm_open(&f);
}

/* Half a million random bytes, the same on every machine. */
TEST_LOOP(random_bytes_are_harmless, 0, 60)
{
    unsigned state = (unsigned)_i * 2654435761u + 1;
    static const char alphabet[] = "+-:$*0123456789\r\nOKab\0 ";
    char bytes[512];
    size_t i;

    farm_start(&f, 5, FAKE_UNIX);
    for (i = 0; i < sizeof(bytes); i++) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = alphabet[(state >> 16) % (sizeof(alphabet) - 1)];
    }
    fake_on_next(f.nodes[0], 0, places[(size_t)_i % N_PLACES], FAKE_REPLY, bytes, sizeof(bytes));
    open_without_node_0();
    others_must_decide();
    fake_hang_up(f.nodes[0]);
    must_recover();
}
