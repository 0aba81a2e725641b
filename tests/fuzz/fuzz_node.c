/* fuzz_node.c - a manager with one node, against a server that may say anything.
 *
 * Everything is real but time, chance and the network (virtual.h). The script begins with two
 * numbers: node_timeout_ms, and options (1: a password, 2: a database, 4: a prefix, 8: DELEX). Then
 * each letter is a step; before the next one everything that is under way arrives.
 *
 *   the user     a WAIT TTL acquire (ms; 0: none, and 10 s)    c  cancel    f  forget
 *                l  let go    k  release by token    q  query    C  close
 *                j LETTER     do that from inside the next callback
 *                m N          the N-th allocation from here fails
 *   the server   G, g         answer the greeting, as one with HELLO or without
 *                o n h t      +OK, nil, a foreign token, our own token
 *                1 0 - e      1, 0, -1, an error    N B W  NOSCRIPT, BUSY, WRONGTYPE
 *                "TEXT"       these bytes; \r \n \" \\ \xHH
 *                &            the next answer goes together with this one
 *                p N          whatever is said is sent in pieces of N bytes
 *                !            answer everything like a good master, or no longer
 *                z            stand still, or no longer    x  hang up    X  refuse, or no longer
 *   time         + MS         goes by    @  to the next timer
 *
 * Ends with a close, and with time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/error.h>
#include <redlock/lock.h>
#include <redlock/manager.h>
#include <redlock/query.h>

#include "base/time.h"
#include "fuzz.h"
#include "lock/found.h"
#include "node/claim.h"
#include "node/node.h"
#include "peer.h"
#include "virtual.h"

#define MOST_CALLS 32
#define MOST_STEPS 4000
#define MOST_MS 1000000000

/* How much later than its patience a close may end: it checks every 20 ms. */
#define CLOSE_SLACK_US 25000

/* How long a close waits for a server that is being connected and has a pending release. */
#define CONNECTING_US 100000

enum call_kind {
    ACQUIRE,
    RELEASE,
    QUERY
};

/* A call that was accepted. Its result is reported once. */
struct call {
    enum call_kind kind;
    bool told;
    uint32_t ttl_ms;
    struct redlock_lock *lock; /* ACQUIRE: as long as there is a handle */
};

struct world {
    struct virtual_loop loop;
    struct redlock *rl;
    struct peer peer;
    struct fuzz_script script;
    unsigned options, n_calls, steps;
    uint32_t timeout_ms;
    struct call calls[MOST_CALLS];
    bool joined; /* the next answer goes with the last */
    bool refusing, closing, closed;
    uint64_t close_us, end_us; /* since when; of the script */
    uint64_t sent_at_close;    /* what the server had sent by then */
    bool kept_to_the_end;      /* nothing since then can have broken the connection */
    int reaction;              /* in the next callback; 0: none */
};

static struct world *world; /* of the run */

static void user(struct world *w, int letter);

/* ---- results ---- */

static void check_text(const char *text, size_t most)
{
    FUZZ_CHECK(strlen(text) < most, "a text has its bound");
    for (; *text; text++) {
        FUZZ_CHECK(*text >= ' ' && *text <= '~', "texts from the network are made printable");
    }
}

static void react(struct world *w)
{
    int letter = w->reaction;

    w->reaction = 0;
    user(w, letter);
}

static void told(struct call *c)
{
    FUZZ_CHECK(!c->told, "reported once");
    FUZZ_CHECK(!world->closed, "nothing is reported after the close");
    c->told = true;
}

/* [S2] The lease ends a ttl less the drift after the request, and the request was not read before
 * it was sent. */
static void check_held(struct world *w, const struct call *c, const struct redlock_lock *lock)
{
    struct peer_token *t = peer_find(&w->peer, redlock_lock_token(lock));
    uint64_t left_ms = redlock_lock_validity_ms(lock);
    uint64_t lease_us = c->ttl_ms * UINT64_C(990) - 2000;

    FUZZ_CHECK(left_ms >= c->ttl_ms / 10, "[S2] delivered with enough validity left");
    FUZZ_CHECK(t || w->peer.n_tokens == PEER_TOKENS || w->peer.ahead, "held is what was set");
    if (t) {
        FUZZ_CHECK(!t->released, "[S4] a lock that is delivered was not released before");
        FUZZ_CHECK(t->answered || w->peer.ahead, "[S1] no lock is held without an answer");
        FUZZ_CHECK(virtual_now_us() + left_ms * 1000 <= t->read_us + lease_us,
                   "[S2] valid for the lease and no longer");
        t->held = true;
    }
}

static void check_failed(const struct redlock_lock *lock, int status)
{
    struct redlock_node_detail d = {.size = sizeof(d)};

    FUZZ_CHECK(status == REDLOCK_EHELD || status == REDLOCK_ETOOSLOW ||
                   status == REDLOCK_EDEADLINE || status == REDLOCK_ECANCELED ||
                   status == REDLOCK_ENOQUORUM ||
                   (status == REDLOCK_ENOMEM && virtual_out_of_memory()),
               "an acquire ends as it is documented");
    FUZZ_CHECK(redlock_lock_validity_ms(lock) == 0, "what is not held is not valid");
    FUZZ_CHECK(redlock_lock_node(lock, 0, &d) == 0, "a vote can be asked for");
    check_text(d.holder, RLK_TOKEN_MAX + 1);
    check_text(d.error, sizeof(((struct rlk_node *)NULL)->text));
}

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct call *c = arg;

    told(c);
    if (status == REDLOCK_OK) {
        check_held(world, c, lock);
    } else {
        check_failed(lock, status);
        c->lock = NULL;
    }
    react(world);
}

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    told(arg);
    FUZZ_CHECK(status == REDLOCK_OK || status == REDLOCK_GONE || status == REDLOCK_TAKEN ||
                   status == REDLOCK_ENOQUORUM,
               "a release ends as it is documented");
    FUZZ_CHECK(redlock_lock_validity_ms(lock) == 0, "a lock that is being released is not valid");
    react(world);
}

static void on_queried(const struct redlock_query_result *r, int status, void *arg)
{
    told(arg);
    FUZZ_CHECK((r == NULL) == (status == REDLOCK_ECANCELED), "cancelled, or with a result");
    if (r) {
        FUZZ_CHECK(status == 0 || status == REDLOCK_ENOQUORUM, "a query ends as documented");
        FUZZ_CHECK(r->n_nodes == 1 && (status == 0) == (r->answered == 1), "one node's answer");
        FUZZ_CHECK(r->held == (r->holding == 1) && (r->held || r->ttl_ms == 0), "held by one");
        check_text(r->token, RLK_FOUND_SHOWN);
        check_text(r->nodes[0]->error, 160);
    }
    react(world);
}

static void on_closed(void *arg)
{
    struct world *w = arg;
    unsigned i;

    FUZZ_CHECK(!w->closed, "closed once");
    w->closed = true;
    w->rl = NULL;
    w->kept_to_the_end = w->peer.fd >= 0 && (w->peer.sent == w->sent_at_close || !w->peer.scripted);
    for (i = 0; i < w->n_calls; i++) {
        FUZZ_CHECK(w->calls[i].told, "each call gets its result before the close has ended");
    }
}

/* ---- the user ---- */

static struct call *new_call(struct world *w, enum call_kind kind)
{
    struct call *c = &w->calls[w->n_calls];

    *c = (struct call){.kind = kind};
    return c;
}

static void accepted(struct world *w, int status)
{
    FUZZ_CHECK(status == 0 || (status == REDLOCK_ESTATE && w->closing) ||
                   (status == REDLOCK_ENOMEM && virtual_out_of_memory()),
               "a good call is accepted");
    w->n_calls += status == 0;
}

static void acquire(struct world *w, uint64_t wait_ms, uint64_t ttl_ms)
{
    struct call *c = new_call(w, ACQUIRE);
    struct redlock_request q;
    struct redlock_lock *lock = NULL;

    redlock_request_init(&q);
    q.key = "key";
    q.owner = w->options & 4 ? "owner" : NULL;
    q.wait_ms = (uint32_t)rlk_time_min(wait_ms, REDLOCK_FOREVER);
    q.ttl_ms = ttl_ms ? 10 + (uint32_t)(ttl_ms % 60000) : 10000;
    c->ttl_ms = q.ttl_ms;
    accepted(w, redlock_acquire(w->rl, &q, on_acquired, c, &lock));
    c->lock = lock;
}

/* The call of the first lock that is held, or of the last that is pending; NULL for none. */
static struct call *find_lock(struct world *w, bool held)
{
    struct call *found = NULL;
    unsigned i;

    for (i = 0; i < w->n_calls && (found == NULL || !held); i++) {
        if (w->calls[i].lock && w->calls[i].told == held) {
            found = &w->calls[i];
        }
    }
    return found;
}

static void let_go(struct world *w)
{
    struct call *c = find_lock(w, true), *release = new_call(w, RELEASE);

    if (c) {
        accepted(w, redlock_release(c->lock, on_released, release));
        c->lock = NULL;
    }
}

static void forget(struct world *w)
{
    struct call *c = find_lock(w, true);
    struct peer_token *t = c ? peer_find(&w->peer, redlock_lock_token(c->lock)) : NULL;

    if (c && redlock_lock_detach(c->lock) == 0) {
        c->lock = NULL;
        if (t) {
            t->held = false;
        }
    }
}

static void cancel(struct world *w)
{
    struct call *c = find_lock(w, false);

    if (c) {
        FUZZ_CHECK(redlock_cancel(c->lock) == 0, "what is pending can be cancelled");
    }
}

static void close_manager(struct world *w)
{
    FUZZ_CHECK(redlock_close(w->rl, on_closed, w) == (w->closing ? REDLOCK_ESTATE : 0),
               "a manager closes once");
    if (!w->closing) {
        w->closing = true;
        w->close_us = virtual_now_us();
        w->sent_at_close = w->peer.sent;
    }
}

static void user(struct world *w, int letter)
{
    uint64_t wait_ms, ttl_ms;

    if (w->rl == NULL || w->n_calls == MOST_CALLS) {
        return;
    }
    switch (letter) {
    case 'a':
        wait_ms = fuzz_number(&w->script);
        ttl_ms = fuzz_number(&w->script);
        acquire(w, wait_ms, ttl_ms);
        break;
    case 'c':
        cancel(w);
        break;
    case 'l':
        let_go(w);
        break;
    case 'f':
        forget(w);
        break;
    case 'k':
        accepted(w, redlock_release_token(w->rl, &(const char *){"key"}, NULL, 1,
                                          peer_foreign_token, on_released, new_call(w, RELEASE)));
        break;
    case 'q':
        accepted(w, redlock_query(w->rl, "key", 0, on_queried, new_call(w, QUERY)));
        break;
    case 'C':
        close_manager(w);
        break;
    default:
        break;
    }
}

/* ---- the server ---- */

static void say_bytes(struct world *w)
{
    int c;

    while ((c = fuzz_byte(&w->script)) >= 0 && c != '"') {
        char byte = (char)(c == '\\' ? fuzz_escaped(&w->script) : c);

        peer_say(&w->peer, &byte, 1, byte == '\n');
    }
}

static void say(struct world *w, const char *text)
{
    peer_say(&w->peer, text, strlen(text), 1);
}

static void answer(struct world *w, int letter)
{
    static const struct {
        int letter;
        const char *text;
    } answers[] = {
        {'o', "+OK\r\n"},
        {'n', "$-1\r\n"},
        {'h', "$22\r\na-token-from-elsewhere\r\n"},
        {'1', ":1\r\n"},
        {'0', ":0\r\n"},
        {'-', ":-1\r\n"},
        {'e', "-ERR no\r\n"},
        {'N', "-NOSCRIPT No matching script. Please use EVAL.\r\n"},
        {'B', "-BUSY Redis is busy running a script.\r\n"},
        {'W', "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"},
    };
    size_t i;

    for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        if (answers[i].letter == letter) {
            say(w, answers[i].text);
        }
    }
}

static void server(struct world *w, int letter)
{
    switch (letter) {
    case 'G':
    case 'g':
        peer_greet(&w->peer, letter == 'G', w->options & 1 ? 1 : 0, w->options & 2 ? 2 : 1);
        break;
    case 't':
        peer_say_own_token(&w->peer);
        break;
    case '"':
        say_bytes(w);
        break;
    case 'p':
        w->peer.piece = (size_t)fuzz_number(&w->script);
        break;
    case '!':
        w->peer.obliging = !w->peer.obliging;
        break;
    case 'z':
        w->peer.still = !w->peer.still;
        break;
    case 'x':
        peer_close(&w->peer);
        break;
    default:
        answer(w, letter);
        break;
    }
}

/* ---- the run of a script ---- */

static void play(struct world *w, int letter)
{
    switch (letter) {
    case 'X':
        w->refusing = !w->refusing;
        virtual_refuse(w->refusing);
        break;
    case '+':
        virtual_pass(rlk_time_from_ms(rlk_time_min(fuzz_number(&w->script), MOST_MS)));
        break;
    case '@':
        virtual_pass_to_timer();
        break;
    case 'j':
        w->reaction = fuzz_letter(&w->script);
        break;
    case 'm':
        virtual_fail_in(fuzz_number(&w->script));
        break;
    case '&':
        w->joined = true;
        break;
    default:
        user(w, letter);
        server(w, letter);
        break;
    }
}

static void check_node(const struct world *w)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    if (w->rl) {
        FUZZ_CHECK(redlock_get_node_info(w->rl, 0, &info) == 0, "a node can be asked for");
        check_text(info.error, sizeof(((struct rlk_node *)NULL)->text));
        check_text(info.server, 48);
    }
}

/* The script is over: close the manager, and let time pass until it is closed, in few steps. A
 * close waits for as long as the server goes on answering. */
static void run_to_the_end(struct world *w)
{
    uint64_t patience_us = rlk_time_from_ms(w->timeout_ms);
    uint64_t heard_us = rlk_time_max(w->close_us, w->peer.sent_us);
    uint64_t bound_us = heard_us + CONNECTING_US + patience_us + patience_us / 4 + CLOSE_SLACK_US;

    if (!w->closing) {
        close_manager(w);
        return;
    }
    if (w->end_us == 0) {
        w->end_us = virtual_now_us() + CLOSE_SLACK_US; /* the script may have let time pass */
    }
    FUZZ_CHECK(virtual_pass_to_timer(), "who waits has a timer");
    if (virtual_now_us() < w->close_us + patience_us) {
        virtual_pass(patience_us / 4);
    }
    FUZZ_CHECK(virtual_now_us() <= rlk_time_max(bound_us, w->end_us + patience_us / 4),
               "a close ends in time");
}

/* Everything in flight has arrived: the next step. */
static bool on_idle(void *arg)
{
    struct world *w = arg;
    int letter;

    peer_read(&w->peer);
    check_node(w);
    if (w->closed) {
        return false;
    }
    if (!w->joined && peer_send(&w->peer)) {
        return true;
    }
    w->joined = false;
    letter = ++w->steps < MOST_STEPS ? fuzz_letter(&w->script) : -1;
    if (letter >= 0) {
        play(w, letter);
    } else {
        run_to_the_end(w);
    }
    return true;
}

static void open_manager(struct world *w)
{
    const char *node = w->options & 2 ? "unix:///there?db=3" : "unix:///there";
    struct redlock_options o;

    redlock_options_init(&o);
    o.subscribe = 0; /* the peer has one connection */
    o.quarantine = REDLOCK_QUARANTINE_OFF;
    o.inspection_ms = 0;
    o.nodes = &node;
    o.n_nodes = 1;
    o.password = w->options & 1 ? "hush" : NULL;
    o.key_prefix = w->options & 4 ? "prefix:" : NULL;
    o.node_timeout_ms = w->timeout_ms;
    w->peer.model.native = w->options & 8 ? "DELEX" : "";
    FUZZ_CHECK(redlock_new(w->loop.base, &o, &w->rl) == 0, "a manager can be made");
}

static void run(struct world *w)
{
    virtual_loop_begin(&w->loop, on_idle, w);
    peer_begin(&w->peer);
    open_manager(w);
    virtual_loop_run(&w->loop);
    FUZZ_CHECK(w->closed, "a close always ends");
    w->peer.still = false;
    peer_read(&w->peer);
    if (w->kept_to_the_end && !virtual_out_of_memory()) {
        peer_check_released(&w->peer);
    }
    peer_end(&w->peer);
    virtual_loop_end(&w->loop);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world w;

    memset(&w, 0, sizeof(w));
    w.script = (struct fuzz_script){data, data + size};
    w.timeout_ms = (uint32_t)(fuzz_number(&w.script) % 60001);
    w.timeout_ms = w.timeout_ms ? w.timeout_ms : 500;
    w.options = (unsigned)fuzz_number(&w.script);
    world = &w;
    virtual_begin();
    run(&w);
    virtual_end();
    return 0;
}
