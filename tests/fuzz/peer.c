/* peer.c - see peer.h. */
#include "peer.h"

#include <event2/buffer.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "testing/resp.h"
#include "scripts/scripts.h"
#include "virtual.h"

const char peer_foreign_token[] = "a-token-from-elsewhere";

/* The same server in every run, whose time is the virtual time. */
static void begin_model(struct model *m)
{
    rlk_model_init(m);
    m->major = 5;
    m->clock_us = 0;
    m->steady_us = virtual_now_us;
    memset(m->run_id, 'a', sizeof(m->run_id) - 1);
}

void peer_begin(struct peer *p)
{
    memset(p, 0, sizeof(*p));
    p->fd = -1;
    p->in = evbuffer_new();
    p->out = evbuffer_new();
    begin_model(&p->model);
}

static void hang_up(struct peer *p)
{
    if (p->fd >= 0) {
        close(p->fd);
        p->fd = -1;
    }
    evbuffer_drain(p->in, evbuffer_get_length(p->in));
    evbuffer_drain(p->out, evbuffer_get_length(p->out));
}

void peer_end(struct peer *p)
{
    int fd = virtual_take_peer();

    if (fd >= 0) {
        close(fd);
    }
    hang_up(p);
    evbuffer_free(p->in);
    evbuffer_free(p->out);
    rlk_model_free(&p->model);
}

struct peer_token *peer_find(struct peer *p, const char *token)
{
    unsigned i;

    for (i = 0; i < p->n_tokens; i++) {
        if (strcmp(p->tokens[i].text, token) == 0) {
            return &p->tokens[i];
        }
    }
    return NULL;
}

/* ---- requests ---- */

/* DELEX key IFEQ token, DELIFEQ key token; without arguments in the greeting. */
static bool is_deletion(const struct resp_request *r)
{
    return rlk_resp_is(r, 0, "DELEX") || rlk_resp_is(r, 0, "DELIFEQ");
}

/* EVALSHA and EVAL, tried in the greeting. */
static bool is_upkeep(const struct resp_request *r)
{
    return (rlk_resp_is(r, 0, "EVALSHA") && strcmp(r->argv[1], RLK_SCRIPT_NO_SHA) == 0) ||
           (rlk_resp_is(r, 0, "EVAL") && strcmp(r->argv[1], rlk_script_upkeep.text) == 0);
}

static bool is_greeting(const struct resp_request *r)
{
    static const char *const verbs[] = {"AUTH", "HELLO", "SELECT", "CLIENT", "INFO", "SCRIPT"};
    size_t i;

    for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (rlk_resp_is(r, 0, verbs[i])) {
            return true;
        }
    }
    return (is_deletion(r) && r->argc == 1) || is_upkeep(r);
}

/* The release of a SET that was unanswered when its connection ended is pending. An answer that the
 * server gave before it was asked may have been taken for the answer to the release, which then was
 * not sent; and without memory it may be forgotten. */
static void check_pending_releases(const struct peer *p)
{
    unsigned i;

    for (i = 0; i < p->n_tokens; i++) {
        const struct peer_token *t = &p->tokens[i];

        FUZZ_CHECK(t->connection == p->connections || t->answered || t->released ||
                       virtual_out_of_memory() || p->cut_short,
                   "[S5] pending releases are sent before anything new is asked");
    }
}

static void on_set(struct peer *p, const struct resp_request *r)
{
    struct peer_token *t;

    FUZZ_CHECK(r->argc >= 6 && r->argc <= 7, "a SET has its words");
    FUZZ_CHECK(r->len[2] >= 40 && strspn(r->argv[2], "0123456789abcdef") == 40,
               "[S4] a token begins with 40 hex digits");
    FUZZ_CHECK(peer_find(p, r->argv[2]) == NULL, "[S4] a token is set once");
    check_pending_releases(p);
    if (p->n_tokens < PEER_TOKENS) {
        t = &p->tokens[p->n_tokens++];
        *t = (struct peer_token){
            .connection = p->connections, .read_us = virtual_now_us(), .answered = p->ahead};
        snprintf(t->text, sizeof(t->text), "%s", r->argv[2]);
    }
}

static void on_release(struct peer *p, const char *token)
{
    struct peer_token *t;

    t = peer_find(p, token);
    FUZZ_CHECK(t || p->n_tokens == PEER_TOKENS || p->cut_short ||
                   strcmp(token, peer_foreign_token) == 0,
               "[S5] only a token that was set is released");
    if (t) {
        t->released = true;
    }
}

/* A command that keeps the keys of a lock, or sets them again. */
static void on_hold(struct peer *p, const struct resp_request *r)
{
    const struct peer_token *t = peer_find(p, r->argv[4]);

    FUZZ_CHECK(!t || !t->released, "[S7] what was released is neither kept nor set again");
}

/* The release has no ttl, the other scripts have one. The release of a lost round has '-' instead.
 * The release of a lock has nothing there, since nobody waits here. */
static void on_script(struct peer *p, const struct resp_request *r)
{
    FUZZ_CHECK(r->argc == 5 || r->argc == 6, "a script has its words");
    if (r->argc == 5 || strcmp(r->argv[5], "-") == 0) {
        on_release(p, r->argv[4]);
    } else {
        on_hold(p, r);
    }
}

static void on_request(struct peer *p, const struct resp_request *r)
{
    FUZZ_CHECK(r->argc > 0, "a command has a word");
    FUZZ_CHECK(p->spoke || is_greeting(r), "[S5] nothing is asked before the greeting is answered");
    if (rlk_resp_is(r, 0, "SET")) {
        on_set(p, r);
    } else if (!is_upkeep(r) && (rlk_resp_is(r, 0, "EVALSHA") || rlk_resp_is(r, 0, "EVAL"))) {
        on_script(p, r);
    } else if (is_deletion(r) && r->argc > 1) {
        on_release(p, r->argv[r->argc - 1]);
    } else {
        FUZZ_CHECK(is_greeting(r) || rlk_resp_is(r, 0, "EXISTS") || rlk_resp_is(r, 0, "GET") ||
                       rlk_resp_is(r, 0, "PTTL") || rlk_resp_is(r, 0, "ZCARD"),
                   "there are no other commands");
    }
    p->requests++;
    if (p->obliging) {
        p->answers++;
        rlk_model_run(&p->model, &p->session, r, p->out);
    }
}

/* False at the end of the connection. */
static bool take_in(struct peer *p)
{
    struct resp_request r;
    enum resp_taken taken;
    bool goes_on = virtual_receive(p->fd, p->in);

    while ((taken = rlk_resp_take(p->in, &r)) == RESP_ONE) {
        on_request(p, &r);
        rlk_resp_free(&r);
    }
    FUZZ_CHECK(taken == RESP_MORE, "what is sent are commands");
    return goes_on;
}

static void read_on(struct peer *p)
{
    if (p->fd >= 0 && !p->still && !take_in(p)) {
        hang_up(p);
    }
}

/* What is in the socket when the connection ends was sent all the same. A server that was stopped
 * reads it when it goes on, so its tokens are known. */
static void lose_connection(struct peer *p)
{
    if (p->fd >= 0) {
        take_in(p);
    }
    hang_up(p);
}

static void meet(struct peer *p)
{
    int fd = virtual_take_peer();

    if (fd >= 0) {
        lose_connection(p);
        p->fd = fd;
        p->session = (struct model_session){.id = ++p->connections};
        p->cut_short = p->cut_short || p->ahead || p->raw;
        p->spoke = p->scripted = p->ahead = p->raw = false;
        p->requests = p->answers = 0;
    }
}

void peer_read(struct peer *p)
{
    read_on(p); /* what was sent on the connection before */
    meet(p);
    read_on(p);
}

/* ---- replies ---- */

bool peer_send(struct peer *p)
{
    size_t len = evbuffer_get_length(p->out);
    unsigned i;

    if (len == 0 || p->fd < 0 || p->still) {
        return false;
    }
    if (p->piece > 0 && p->piece < len) {
        len = p->piece;
    }
    /* An end of the connection is seen by the next read. */
    send(p->fd, evbuffer_pullup(p->out, (ev_ssize_t)len), len, MSG_NOSIGNAL | MSG_DONTWAIT);
    evbuffer_drain(p->out, len);
    p->spoke = true;
    p->ahead = p->ahead || p->answers > p->requests;
    p->sent += len;
    p->sent_us = virtual_now_us();
    for (i = 0; i < p->n_tokens; i++) {
        p->tokens[i].answered |= p->tokens[i].connection == p->connections;
    }
    return true;
}

void peer_say(struct peer *p, const void *bytes, size_t len, unsigned answers)
{
    if (p->fd >= 0) {
        p->answers += answers;
        p->scripted = true;
        p->raw = p->raw || answers == 0;
        evbuffer_add(p->out, bytes, len);
    }
}

static void put_answer(struct peer *p, const char *verb, const char *word)
{
    char words[2][16], *argv[] = {words[0], words[1]};
    size_t len[] = {strlen(verb), strlen(word)};
    struct resp_request r = {2, argv, len};

    snprintf(words[0], sizeof(words[0]), "%s", verb);
    snprintf(words[1], sizeof(words[1]), "%s", word);
    rlk_model_run(&p->model, &p->session, &r, p->out);
}

void peer_greet(struct peer *p, bool hello, unsigned before, unsigned behind)
{
    if (p->fd < 0) {
        return;
    }
    p->scripted = true;
    p->answers += before + behind + 8;
    for (; before > 0; before--) {
        rlk_resp_put_status(p->out, "OK");
    }
    p->model.major = hello ? 7 : 5;
    put_answer(p, "HELLO", "2");
    for (; behind > 0; behind--) {
        rlk_resp_put_status(p->out, "OK");
    }
    put_answer(p, "INFO", "server");
    put_answer(p, "INFO", "replication");
    put_answer(p, "DELEX", "");
    put_answer(p, "DELIFEQ", "");
    rlk_resp_put_text(p->out, "d054866951eb7318cb6d2b8c2156e25fafc92d0d");
    rlk_resp_put_error(p->out, "NOSCRIPT No matching script. Please use EVAL.");
    rlk_resp_put_int(p->out, 0);
}

void peer_say_own_token(struct peer *p)
{
    if (p->fd >= 0 && p->n_tokens > 0) {
        p->scripted = true;
        p->answers++;
        rlk_resp_put_text(p->out, p->tokens[p->n_tokens - 1].text);
    }
}

void peer_close(struct peer *p)
{
    lose_connection(p);
}

/* What arrived on that connection, and was held back or never answered. */
void peer_check_released(const struct peer *p)
{
    unsigned i;

    for (i = 0; i < p->n_tokens; i++) {
        const struct peer_token *t = &p->tokens[i];

        if (t->connection == p->connections && (t->held || !t->answered)) {
            FUZZ_CHECK(t->released, "[S5] a key that may be set and is not wanted is released");
        }
    }
}
