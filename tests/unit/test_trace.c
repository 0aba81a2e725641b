/* unit/test_trace.c - an event as a line, and what a line never contains. */
#include <stdio.h>
#include <string.h>

#include <redlock/redlock.h>

#include "lib/test.h"
#include "node/trace.h"

SUITE("trace");

static char line[REDLOCK_TRACE_LINE];

static const char *line_of(struct redlock_trace ev)
{
    size_t len;

    ev.size = sizeof(ev);
    len = redlock_trace_line(&ev, line, sizeof(line));
    ck_assert_uint_eq(len, strlen(line));
    return line;
}

/* ---- the lines ---- */

#define LOCK .lock = 3, .node = -1, .key = "k", .token = "5f3a9c01"
#define SAID .lock = 3, .node = 2, .key = "k", .token = "5f3a9c01"
#define CONNECTION .lock = -1, .node = 2

static const struct {
    struct redlock_trace ev;
    const char *line;
} rows[] = {
    {{.kind = REDLOCK_TRACE_CLOSING, .lock = -1, .node = -1}, "c0    closes"},
    {{.kind = REDLOCK_TRACE_CLOSED, .lock = -1, .node = -1, .client = 12345}, "c12345  is closed"},
    {{.kind = REDLOCK_TRACE_CONNECTED, CONNECTION, .text = "redis 7.2.4"},
     "c0-n2  connected: redis 7.2.4"},
    {{.kind = REDLOCK_TRACE_CONNECTED, CONNECTION, .text = ""}, "c0-n2  connected"},
    {{.kind = REDLOCK_TRACE_DISCONNECTED, CONNECTION}, "c0-n2  disconnected"},
    {{.kind = REDLOCK_TRACE_NODE_TROUBLE, CONNECTION, .text = "cannot connect: no"},
     "c0-n2  trouble: cannot connect: no"},
    {{.kind = REDLOCK_TRACE_QUARANTINED, CONNECTION, .text = "does not vote"},
     "c0-n2  quarantined: does not vote"},
    {{.kind = REDLOCK_TRACE_AHEAD, CONNECTION, .us = 80200},
     "c0-n2  its clock got ahead by 80.200 ms"},
    {{.kind = REDLOCK_TRACE_SUSPENDED, CONNECTION, .us = 1},
     "c0-n2  its clock shows that we were suspended for 0.001 ms"},
    {{.kind = REDLOCK_TRACE_PENDING, CONNECTION, .token = "5f3a9c01"},
     "c0-n2  the release of t5f3a9c01 is pending"},
    {{.kind = REDLOCK_TRACE_SUBSCRIBED, CONNECTION}, "c0-n2  is subscribed"},
    {{.kind = REDLOCK_TRACE_UNSUBSCRIBED, CONNECTION}, "c0-n2  is no longer subscribed"},
    {{.kind = REDLOCK_TRACE_WAITING, LOCK, .round = 17, .nodes = 6},
     "c0.3  is at queue position 17 for k on n1 n2"},
    {{.kind = REDLOCK_TRACE_WOKEN, SAID}, "c0.3  n2 says that we are first in the queue for k"},
    {{.kind = REDLOCK_TRACE_WOKEN, CONNECTION, .key = "k"},
     "c0-n2  says that we are first in the queue for k"},
    {{.kind = REDLOCK_TRACE_NEXT, SAID}, "c0.3  n2 says that we are next in the queue for k"},
    {{.kind = REDLOCK_TRACE_RESERVED, SAID}, "c0.3  n2 says that k is reserved for us"},
    {{.kind = REDLOCK_TRACE_RELEASING, LOCK, .text = "b"},
     "c0.3  begins to release k with t5f3a9c01 for b"},
    {{.kind = REDLOCK_TRACE_SENT, LOCK, .question = REDLOCK_QUESTION_HAND_OVER, .nodes = 5},
     "c0.3  hands t5f3a9c01 over on n0 n2"},
    {{.kind = REDLOCK_TRACE_REPLIED,
      SAID,
      .question = REDLOCK_QUESTION_HAND_OVER,
      .reply = REDLOCK_SAYS_YES},
     "c0.3  n2 says yes to handing t5f3a9c01 over"},
    {{.kind = REDLOCK_TRACE_ASKED, LOCK, .ttl_ms = 250, .text = "fenced, renewed"},
     "c0.3  asks for k, ttl 250 ms, fenced, renewed"},
    {{.kind = REDLOCK_TRACE_ASKED, LOCK, .ttl_ms = 250}, "c0.3  asks for k, ttl 250 ms"},
    {{.kind = REDLOCK_TRACE_ADOPTED, LOCK, .ttl_ms = 250},
     "c0.3  adopts k with t5f3a9c01, ttl 250 ms"},
    {{.kind = REDLOCK_TRACE_ROUND, LOCK, .round = 2}, "c0.3  round 2: t5f3a9c01"},
    {{.kind = REDLOCK_TRACE_SENT, LOCK, .nodes = 5, .ttl_ms = 250},
     "c0.3  sends SET k t5f3a9c01 for 250 ms to n0 n2"},
    {{.kind = REDLOCK_TRACE_SENT,
      LOCK,
      .question = REDLOCK_QUESTION_EXTEND,
      .nodes = 1,
      .ttl_ms = 250},
     "c0.3  extends t5f3a9c01 to 250 ms on n0"},
    {{.kind = REDLOCK_TRACE_SENT,
      CONNECTION,
      .question = REDLOCK_QUESTION_RELEASE,
      .nodes = 4,
      .token = "5f3a9c01"},
     "c0-n2  releases t5f3a9c01 on n2"},
    {{.kind = REDLOCK_TRACE_VOTED, SAID, .reply = REDLOCK_SAYS_YES},
     "c0.3  n2 says yes to t5f3a9c01"},
    {{.kind = REDLOCK_TRACE_VOTED, SAID, .reply = REDLOCK_SAYS_YES, .fencing_token = 1795},
     "c0.3  n2 says yes to t5f3a9c01, fencing token 1795"},
    {{.kind = REDLOCK_TRACE_VOTED, SAID, .reply = REDLOCK_SAYS_QUARANTINED},
     "c0.3  n2 says quarantined to t5f3a9c01"},
    {{.kind = REDLOCK_TRACE_VOTED, CONNECTION, .token = "?"}, "c0-n2  says nothing to t?"},
    {{.kind = REDLOCK_TRACE_REPLIED,
      SAID,
      .question = REDLOCK_QUESTION_EXTEND,
      .reply = REDLOCK_SAYS_GONE},
     "c0.3  n2 says gone to extending t5f3a9c01"},
    {{.kind = REDLOCK_TRACE_REPLIED,
      SAID,
      .question = REDLOCK_QUESTION_RELEASE,
      .reply = REDLOCK_SAYS_TAKEN},
     "c0.3  n2 says somebody else's to the release of t5f3a9c01"},
    {{.kind = REDLOCK_TRACE_SENT, LOCK, .question = REDLOCK_QUESTION_WAIT, .nodes = 6},
     "c0.3  waits for k on n1 n2"},
    {{.kind = REDLOCK_TRACE_SENT, LOCK, .question = REDLOCK_QUESTION_LEAVE, .nodes = 6},
     "c0.3  leaves the queue for k on n1 n2"},
    {{.kind = REDLOCK_TRACE_REPLIED,
      SAID,
      .question = REDLOCK_QUESTION_WAIT,
      .reply = REDLOCK_SAYS_QUEUED,
      .round = 17},
     "c0.3  n2 says queued to waiting for k, position 17"},
    {{.kind = REDLOCK_TRACE_REPLIED,
      SAID,
      .question = REDLOCK_QUESTION_WAIT,
      .reply = REDLOCK_SAYS_TURN},
     "c0.3  n2 says your turn to waiting for k"},
    {{.kind = REDLOCK_TRACE_REPLIED,
      SAID,
      .question = REDLOCK_QUESTION_WAIT,
      .reply = REDLOCK_SAYS_FULL},
     "c0.3  n2 says full to waiting for k"},
    {{.kind = REDLOCK_TRACE_REPLIED,
      SAID,
      .question = REDLOCK_QUESTION_LEAVE,
      .reply = REDLOCK_SAYS_YES},
     "c0.3  n2 says yes to leaving the queue for k"},
    {{.kind = REDLOCK_TRACE_SENT,
      CONNECTION,
      .question = REDLOCK_QUESTION_HOLDER,
      .key = "k",
      .nodes = 4},
     "c0-n2  asks who holds k"},
    {{.kind = REDLOCK_TRACE_REPLIED,
      CONNECTION,
      .question = REDLOCK_QUESTION_HOLDER,
      .reply = REDLOCK_SAYS_GONE,
      .key = "k"},
     "c0-n2  says that k is free"},
    {{.kind = REDLOCK_TRACE_SENT,
      CONNECTION,
      .question = REDLOCK_QUESTION_BREAK,
      .key = "k",
      .token = "5f3a9c01",
      .nodes = 4},
     "c0-n2  breaks k with t5f3a9c01"},
    {{.kind = REDLOCK_TRACE_REPLIED,
      CONNECTION,
      .question = REDLOCK_QUESTION_BREAK,
      .reply = REDLOCK_SAYS_TAKEN,
      .key = "k",
      .token = "5f3a9c01"},
     "c0-n2  says somebody else's to breaking k with t5f3a9c01"},
    {{.kind = REDLOCK_TRACE_DECIDED, LOCK, .round = 2, .status = REDLOCK_EHELD, .us = 12345},
     "c0.3  round 2 failed: EHELD; again in 12.345 ms"},
    {{.kind = REDLOCK_TRACE_DECIDED, LOCK, .round = 2, .status = REDLOCK_ENOQUORUM},
     "c0.3  round 2 failed: ENOQUORUM"},
    {{.kind = REDLOCK_TRACE_DECIDED, LOCK, .round = 2}, "c0.3  has a majority with t5f3a9c01"},
    {{.kind = REDLOCK_TRACE_HELD, LOCK, .us = 241652},
     "c0.3  HOLDS k with t5f3a9c01, 241.652 ms left"},
    {{.kind = REDLOCK_TRACE_HELD, LOCK, .us = 241652, .fencing_token = 1795},
     "c0.3  HOLDS k with t5f3a9c01, 241.652 ms left, fencing token 1795"},
    {{.kind = REDLOCK_TRACE_FAILED, LOCK, .status = REDLOCK_EHELD, .round = 3},
     "c0.3  fails with EHELD after round 3"},
    {{.kind = REDLOCK_TRACE_RENEWED, LOCK, .us = 241652},
     "c0.3  t5f3a9c01 is renewed, 241.652 ms left"},
    {{.kind = REDLOCK_TRACE_TROUBLE, LOCK, .us = 241652, .status = REDLOCK_ENOQUORUM},
     "c0.3  t5f3a9c01 is in trouble: ENOQUORUM, 241.652 ms left"},
    {{.kind = REDLOCK_TRACE_LOST, LOCK, .status = REDLOCK_ELOST}, "c0.3  t5f3a9c01 is LOST: ELOST"},
    {{.kind = REDLOCK_TRACE_RELEASED, LOCK, .status = REDLOCK_GONE},
     "c0.3  the release of t5f3a9c01 ended with GONE"},
};

TEST_LOOP(an_event_is_a_line, 0, N_ROWS(rows))
{
    char expected[REDLOCK_TRACE_LINE];
    struct redlock_trace ev = rows[_i].ev;

    ev.time_us = 12345678;
    snprintf(expected, sizeof(expected), "  12.345678  %s", rows[_i].line);
    ck_assert_str_eq(line_of(ev), expected);
}

/* The tables have a word for each value of the enums, also for values that no row here uses. */
TEST(every_kind_question_answer_and_status_has_its_words)
{
    int i;

    for (i = REDLOCK_TRACE_CLOSING; i <= REDLOCK_TRACE_NEXT; i++) {
        bool is_one = i <= REDLOCK_TRACE_CLOSED ||
                      (i >= REDLOCK_TRACE_CONNECTED && i <= REDLOCK_TRACE_UNSUBSCRIBED) ||
                      i >= REDLOCK_TRACE_ASKED;

        line_of((struct redlock_trace){
            .kind = (enum redlock_trace_kind)i, LOCK, .question = REDLOCK_QUESTION_EXTEND});
        ck_assert_msg((strstr(line, "too old") == NULL) == is_one, "%d: %s", i, line);
    }
    for (i = REDLOCK_QUESTION_SET; i <= REDLOCK_QUESTION_BREAK; i++) {
        line_of((struct redlock_trace){
            .kind = REDLOCK_TRACE_SENT, LOCK, .question = (enum redlock_question)i});
        ck_assert_msg(strstr(line, "too old") == NULL, "%s", line);
        line_of((struct redlock_trace){
            .kind = REDLOCK_TRACE_REPLIED, LOCK, .question = (enum redlock_question)i});
        ck_assert_msg((strstr(line, "too old") == NULL) == (i >= REDLOCK_QUESTION_CONFIRM), "%s",
                      line);
    }
    for (i = -400; i <= REDLOCK_TAKEN; i++) {
        bool is_one = strstr(redlock_strerror(i), "unknown status") == NULL;

        line_of((struct redlock_trace){.kind = REDLOCK_TRACE_LOST, LOCK, .status = i});
        ck_assert_msg((strchr(line, '?') == NULL) == is_one, "%d: %s", i, line);
    }
}

/* No version of the struct is that short, so the caller has not set `size`. */
TEST_LOOP(a_struct_that_ends_inside_the_first_version_is_not_read, 0, 4)
{
    static const size_t sizes[] = {0, offsetof(struct redlock_trace, lock),
                                   offsetof(struct redlock_trace, key) + 4,
                                   sizeof(struct redlock_trace) - 8};
    struct redlock_trace ev = {.size = sizes[_i],
                               .kind = REDLOCK_TRACE_CLOSED,
                               .time_us = 1,
                               .client = 7,
                               .key = (const char *)-1,
                               .token = (const char *)-1,
                               .text = (const char *)-1};

    redlock_trace_line(&ev, line, sizeof(line));
    ck_assert_str_eq(line,
                     "   0.000000  c0    kind 0: this library is too old to have words for it");
}

TEST(a_line_is_cut_to_its_size)
{
    struct redlock_trace ev = rows[0].ev;
    size_t size;

    ev.size = sizeof(ev);
    for (size = 1; size < 30; size++) {
        memset(line, 'x', sizeof(line));
        ck_assert_uint_eq(redlock_trace_line(&ev, line, size), size < 26 ? size - 1 : 25);
        ck_assert_int_eq(line[size - 1 < 25 ? size - 1 : 25], '\0');
        ck_assert_int_eq(line[size], 'x');
    }
}

/* The program may have made the event: as the simulator does, or from what it got over a network.
 */
TEST(whatever_the_texts_are_a_line_is_printable)
{
    ck_assert_str_eq(
        line_of((struct redlock_trace){
            .kind = REDLOCK_TRACE_ASKED, .key = "a\nb", .ttl_ms = 1, .text = "\x1b[31m\xff"}),
        "   0.000000  c0.0  asks for a?b, ttl 1 ms, ?[31m?");
}

/* ---- nobody listens ---- */

static unsigned made;

static uint64_t make(void)
{
    made++;
    return 1;
}

static void on_event(const struct redlock_trace *ev, void *arg)
{
    ck_assert_uint_eq(ev->us, 1);
    ck_assert_int_eq(ev->node, -1);
    ck_assert_str_eq(ev->key, "");
    ck_assert_str_eq(ev->token, "");
    ck_assert_str_eq(ev->text, "");
    *(unsigned *)arg += 1;
}

/* Without a listener the event is not even made. */
TEST(without_a_listener_nothing_is_done)
{
    unsigned seen = 0;
    struct rlk_tracer tracer = {.cb = on_event, .arg = &seen};
    struct rlk_options options = {.tracer = NULL};

    RLK_TRACE(&options, NULL, .kind = REDLOCK_TRACE_AHEAD, .node = -1, .us = make());
    ck_assert_uint_eq(made, 0);
    options.tracer = &tracer;
    RLK_TRACE(&options, NULL, .kind = REDLOCK_TRACE_AHEAD, .node = -1, .us = make());
    ck_assert_uint_eq(made, 1);
    ck_assert_uint_eq(seen, 1);
}

#ifdef RLK_USDT
/* The system counts the listeners of the probes. Here the test sets that count; nobody listens. */
TEST(a_listener_to_the_probes_alone_gets_events)
{
    struct rlk_options options = {.tracer = NULL};

    rlk_probes_listeners = 1;
    made = 0;
    RLK_TRACE(&options, NULL, .kind = REDLOCK_TRACE_AHEAD, .node = -1, .us = make());
    rlk_probes_listeners = 0;
    ck_assert_uint_eq(made, 1);
}
#endif

/* ---- what others wrote ---- */

#define HEX40 "0123456789abcdef0123456789ABCDEF01234567"

static const struct {
    const char *text, *shown;
} masked[] = {
    {"", ""},
    {"OOM command not allowed", "OOM command not allowed"},
    {HEX40, "01234567"},
    {"ERR unknown command 'SET', with args beginning with: 'k' '" HEX40 "' 'NX'",
     "ERR unknown command 'SET'"},
    {"ERR unknown command `GET`, with args beginning with: `k`, `the word of another library`, ",
     "ERR unknown command `GET`"},
    {"args: 'k' '" HEX40 "' 'NX'", "args: 'k' '01234567' 'NX'"},
    {"cut by the server: '0123456789abc'", "cut by the server: '01234567'"},
    {"cut by us: 0123456789abc", "cut by us: 01234567"},
    {"'" HEX40 ":the owner's' 'NX'", "'01234567"},
    {HEX40 HEX40 " " HEX40, "01234567 01234567"},
    {"run_id 01234567...", "run_id 01234567..."},
};

TEST_LOOP(a_token_that_a_server_repeats_is_cut, 0, N_ROWS(masked))
{
    char text[256];

    snprintf(text, sizeof(text), "%s", masked[_i].text);
    rlk_trace_mask(text);
    ck_assert_str_eq(text, masked[_i].shown);
}
