/* fuzz_classify.c - answers of a server, and what they prove.
 *
 * The bytes are parsed as replies; each complete one is classified in every way. Whatever is
 * taken for a vote or an answer must, in the very bytes that came, be one of the few texts that
 * prove it. */
#include <stdlib.h>
#include <string.h>

#include "core/classify.h"
#include "fuzz.h"
#include "net/reply.h"

static const char token[] = "00112233445566778899aabbccddeeff00112233";

/* The bytes of one reply. */
struct raw {
    const char *bytes;
    size_t len;
};

static bool is(const struct raw *r, const char *text)
{
    return r->len == strlen(text) && memcmp(r->bytes, text, r->len) == 0;
}

static bool is_nil(const struct raw *r)
{
    return is(r, "$-1\r\n") || is(r, "*-1\r\n");
}

/* How much of an error is no more than where a script was refused (Redis before 7.0). */
static size_t places(const struct raw *r)
{
    static const char nested[] = "-ERR Error running script", place[] = "@user_script:";
    size_t len = strlen(place), at = strlen(nested);

    if (r->len < at || memcmp(r->bytes, nested, at) != 0) {
        return 1;
    }
    while (at + len <= r->len && r->bytes[at] != '\0' && memcmp(r->bytes + at, place, len) != 0) {
        at++;
    }
    if (at + len > r->len || r->bytes[at] == '\0') {
        return 1;
    }
    while (at + len <= r->len && memcmp(r->bytes + at, place, len) == 0) {
        at += len;
        while (r->bytes[at] == ' ' || (r->bytes[at] >= '0' && r->bytes[at] <= '9')) {
            at++;
        }
        while (r->bytes[at] == ' ' || r->bytes[at] == ':') {
            at++;
        }
    }
    return at + (r->bytes[at] == '-');
}

/* An error whose first word this is. */
static bool is_error(const struct raw *r, const char *word)
{
    size_t len = strlen(word), from = r->bytes[0] == '-' ? places(r) : 1;

    return r->len >= from + len + 2 && r->bytes[0] == '-' &&
           memcmp(r->bytes + from, word, len) == 0 &&
           (r->bytes[from + len] == ' ' || r->len == from + len + 2);
}

static bool is_our_token(const struct raw *r)
{
    return r->len >= 5 + strlen(token) && memcmp(r->bytes, "$40\r\n", 5) == 0 &&
           memcmp(r->bytes + 5, token, strlen(token)) == 0;
}

static bool is_bulk(const struct raw *r)
{
    return r->bytes[0] == '$' && !is_nil(r);
}

static void check_set(const struct rlk_reply *reply, const struct raw *r)
{
    enum rlk_vote vote = RLK_VOTE_UNKNOWN;

    if (is(r, "+OK\r\n")) {
        vote = RLK_VOTE_YES;
    } else if (is_nil(r)) {
        vote = RLK_VOTE_NO;
    }
    FUZZ_CHECK(rlk_classify_set(reply) == vote, "SET: +OK is a yes, nil is a no, no more");
}

static void check_set_get(const struct rlk_reply *reply, const struct raw *r)
{
    enum rlk_vote got = rlk_classify_set_get(reply, token, strlen(token));

    if (is_nil(r)) {
        FUZZ_CHECK(got == RLK_VOTE_YES, "SET GET: nil is a yes");
    } else if (is_our_token(r)) {
        FUZZ_CHECK(got == RLK_VOTE_OURS, "[S10] SET GET: our own token is no yes and no no");
    } else if (is_bulk(r) || is_error(r, "WRONGTYPE")) {
        FUZZ_CHECK(got == RLK_VOTE_NO, "SET GET: another value is a no");
    } else {
        FUZZ_CHECK(got == RLK_VOTE_UNKNOWN, "[S5] SET GET: the rest is unknown");
    }
}

static void check_release(const struct rlk_reply *reply, const struct raw *r)
{
    enum rlk_answer answer = RLK_ANSWER_UNKNOWN;

    if (is(r, ":1\r\n") || is(r, ":2\r\n")) {
        answer = RLK_ANSWER_OURS;
    } else if (is(r, ":0\r\n")) {
        answer = RLK_ANSWER_GONE;
    } else if (is(r, ":-1\r\n") || is_error(r, "WRONGTYPE")) {
        answer = RLK_ANSWER_TAKEN;
    }
    FUZZ_CHECK(rlk_classify_release(reply) == answer, "a release is answered by 2, 1, 0 or -1");
    FUZZ_CHECK(rlk_classify_woke(reply) == is(r, ":2\r\n"), "somebody was woken: 2");
}

/* By the server's own command, and what is asked after it. */
static void check_native(const struct rlk_reply *reply, const struct raw *r)
{
    enum rlk_answer first = RLK_ANSWER_UNKNOWN, then = RLK_ANSWER_UNKNOWN;

    if (is(r, ":1\r\n")) {
        first = RLK_ANSWER_OURS;
        then = RLK_ANSWER_TAKEN;
    } else if (is(r, ":0\r\n")) {
        first = then = RLK_ANSWER_GONE;
    } else if (is_error(r, "WRONGTYPE")) {
        first = RLK_ANSWER_TAKEN;
    }
    FUZZ_CHECK(rlk_classify_delete(reply) == first, "a deletion by value is answered by 1 or 0");
    FUZZ_CHECK(rlk_classify_remains(reply) == then, "what remains is somebody else's");
    FUZZ_CHECK(rlk_classify_is_listed(reply) == is(r, ":1\r\n"), "somebody waits: 1");
    FUZZ_CHECK(!rlk_classify_refused(reply) ||
                   (r->bytes[0] == '-' && !is_error(r, "WRONGTYPE") && !is_error(r, "BUSY")),
               "only an error refuses, and not for now");
    FUZZ_CHECK(!rlk_classify_known_command(reply) || r->bytes[0] == '-',
               "an error shows a command");
}

/* Our turn is one text but for the value; a place begins with a number above 0. */
static void check_wait(const struct rlk_reply *reply, const struct raw *r)
{
    static const char turn[] = "*3\r\n:0\r\n:-2\r\n$", array[] = "*3\r\n:";
    struct rlk_event ev = {.kind = RLK_EVENT_POSITION};
    bool number = r->len > strlen(array) && memcmp(r->bytes, array, strlen(array)) == 0;

    rlk_classify_wait(reply, &ev);
    FUZZ_CHECK(!ev.woken || (r->len > strlen(turn) && memcmp(r->bytes, turn, strlen(turn)) == 0),
               "our turn is said by 0");
    FUZZ_CHECK(!ev.listed || (number && r->bytes[strlen(array)] != '-'), "a place is a number");
    FUZZ_CHECK(ev.listed == (ev.position > 0) && !(ev.woken && ev.listed), "a turn or a place");
}

/* The two scripts of a held lock: numbers, or the value of somebody else's key. */
static void check_scripts(const struct rlk_reply *reply, const struct raw *r)
{
    bool holder = (is_bulk(r) || is_error(r, "WRONGTYPE"));
    uint64_t fence;
    enum rlk_vote take = holder ? RLK_VOTE_NO : RLK_VOTE_UNKNOWN;
    enum rlk_answer keep = holder ? RLK_ANSWER_TAKEN : RLK_ANSWER_UNKNOWN;

    if (is(r, ":1\r\n")) {
        take = RLK_VOTE_YES;
        keep = RLK_ANSWER_OURS;
    } else if (is(r, ":2\r\n")) {
        take = RLK_VOTE_OURS;
    } else if (is(r, ":0\r\n")) {
        keep = RLK_ANSWER_GONE;
    }
    FUZZ_CHECK(rlk_classify_set_all(reply) == take,
               "keys are set: 1, ours already: 2, or a holder");
    FUZZ_CHECK(rlk_classify_keep(reply) == keep, "keys are kept: 1, not there: 0, or a holder");
    FUZZ_CHECK(rlk_classify_adopt_fenced(reply, &fence) != RLK_VOTE_YES || fence > 0,
               "an adoption with a fence has a counter");
    FUZZ_CHECK((rlk_classify_adopt_fenced(reply, &fence) == RLK_VOTE_NO) ==
                   (holder || is(r, ":0\r\n")),
               "an adoption is refused by a 0 or a holder");
    FUZZ_CHECK((rlk_classify_adopt(reply) == RLK_VOTE_YES) == (keep == RLK_ANSWER_OURS),
               "taken over is what is ours");
}

/* The new token is there: how many ms the key lives on, and nothing else. */
static void check_swap(const struct rlk_reply *reply, const struct raw *r)
{
    uint64_t left_us;
    enum rlk_answer got = rlk_classify_swap(reply, token, strlen(token), &left_us);
    bool number = r->bytes[0] == ':' && r->bytes[1] != '-';

    FUZZ_CHECK((got == RLK_ANSWER_OURS) == (left_us > 0), "a break says how long the key lives on");
    FUZZ_CHECK(got != RLK_ANSWER_OURS || number, "only a number above 0 shows the new token");
    FUZZ_CHECK(got != RLK_ANSWER_GONE || number, "only a 0 shows that there is no key");
    FUZZ_CHECK((got == RLK_ANSWER_TAKEN) ==
                   ((is_bulk(r) && !is_our_token(r)) || is_error(r, "WRONGTYPE")),
               "another value, and not our own, is somebody else's");
}

static void check_errors(const struct rlk_reply *reply, const struct raw *r)
{
    static const char *const words[] = {"NOSCRIPT",   "BUSY", "LOADING",  "MISCONF", "NOREPLICAS",
                                        "MASTERDOWN", "OOM",  "TRYAGAIN", "NOAUTH",  "READONLY"};
    bool refused = false;
    size_t i;

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        refused = refused || is_error(r, words[i]);
    }
    FUZZ_CHECK(rlk_classify_refused_for_now(reply) == refused, "refused for now, by its word");
    FUZZ_CHECK(rlk_classify_no_script(reply) == is_error(r, "NOSCRIPT"), "no script");
}

/* Where in data[from..size) the reply is complete, by feeding one byte after the other. */
static size_t take(struct rlk_reply_parser *p, const uint8_t *data, size_t from, size_t size,
                   const struct rlk_reply **ret_reply)
{
    int got = 0;

    while (got == 0 && from < size) {
        if (rlk_reply_feed(p, (const char *)data + from++, 1)) {
            return 0;
        }
        got = rlk_reply_next(p, ret_reply);
    }
    return got == 1 ? from : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rlk_reply_parser *p = malloc(sizeof(*p));
    const struct rlk_reply *reply;
    size_t at = 0, end;

    if (p == NULL || rlk_reply_parser_init(p)) {
        abort();
    }
    while ((end = take(p, data, at, size, &reply)) > 0) {
        struct raw r = {(const char *)data + at, end - at};

        check_set(reply, &r);
        check_set_get(reply, &r);
        check_native(reply, &r);
        check_release(reply, &r);
        check_wait(reply, &r);
        check_scripts(reply, &r);
        check_swap(reply, &r);
        check_errors(reply, &r);
        at = end;
    }
    rlk_reply_parser_end(p);
    free(p);
    return 0;
}
