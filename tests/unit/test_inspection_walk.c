/* test_inspection_walk.c - everything that may happen to one master, in any order, and one client
 * that inspects it [S11].
 *
 * The test knows when the master last lost a vote. After each greeting and each inspection the
 * votes must not count before every lock from before that time has expired; and once nothing more
 * is lost they must count again. Every sequence of six events is tried. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "core/inspection.h"
#include "lib/test.h"

SUITE("inspection-walk");

#define S UINT64_C(1000000)
#define TTL (10 * S)
#define GONE_US (TTL + 100000 + 2000) /* with 1 % and 2 ms */
#define LONG_AGO (50 * 86400 * S)
#define DEPTH 6

enum move {
    FLUSH,         /* its data are deleted, under the same run */
    STRANGER,      /* another client inspects it for the first time */
    RESTART_EMPTY, /* a durable server has its mark, and could not replay its log */
    RESTART_KEPT,  /* with its data: all of them if it is durable, otherwise an older copy */
    TAKEOVER,      /* a replica answers in its place, and lacks what was granted last */
    COPY,          /* it was a replica for a while, under the same run, and has other data */
    GREET,
    GREET_BUSY,   /* the key cannot be read for the moment */
    GREET_DENIED, /* it refuses to run the script */
    LOOK,
    LOOK_DENIED, /* it refuses to run the script */
    VOTE,        /* with a fence: that reads the mark, too */
    WAIT,
    MOVES
};

static const char *const names[] = {
    "FLUSH",      "STRANGER",     "RESTART_EMPTY", "RESTART_KEPT", "TAKEOVER", "COPY", "GREET",
    "GREET_BUSY", "GREET_DENIED", "LOOK",          "LOOK_DENIED",  "VOTE",     "WAIT"};

/* The incarnation key. */
struct key {
    uint64_t run, mark, born_us; /* run 0: there is no key */
};

struct world {
    uint64_t now_us;
    uint64_t run, started_us, promotion, marks;
    bool durable, flushed, replay_failed;
    struct key key;
    uint64_t lost_us; /* when it last may have lost a vote */
    bool inspected;   /* by any client, in this run */
    bool is_copy;     /* no client can see that: see guarantees.md */

    bool connected;
    struct rlk_inspection inspection;
    struct rlk_quarantine quarantine;
    struct rlk_server server;
};

static enum move path[DEPTH];

static void begin(struct world *w, bool durable)
{
    memset(w, 0, sizeof(*w));
    w->now_us = 2 * LONG_AGO;
    w->started_us = w->lost_us = LONG_AGO;
    w->run = 1;
    w->durable = durable;
    rlk_quarantine_init(&w->quarantine, RLK_QUARANTINE_STRICT, TTL, 10000);
    rlk_server_init(&w->server);
}

/* ---- the master ---- */

/* What INFO tells. */
static void describe(const struct world *w, struct rlk_server *s)
{
    rlk_server_init(s);
    snprintf(s->run_id, sizeof(s->run_id), "run-%u", (unsigned)w->run);
    strcpy(s->role, "master");
    strcpy(s->fsync, w->durable ? "always" : "no");
    s->aof = w->durable;
    s->uptime_s = (int64_t)((w->now_us - w->started_us) / S);
    s->promotion = w->promotion;
    s->flushed = w->flushed;
    s->replay_errors = w->replay_failed ? 3 : 0;
}

/* scripts/incarnation.lua */
static struct rlk_birth run_script(struct world *w, const struct rlk_inspection_question *q)
{
    uint64_t from_us = w->now_us;

    if (w->key.run != 0 && (w->key.run == w->run || q->keeps_data)) {
        from_us = rlk_time_min(rlk_time_max(w->key.born_us, q->step_us), w->now_us);
    }
    w->inspected = true;
    w->key = (struct key){
        .run = w->run, .mark = w->key.run ? w->key.mark : ++w->marks, .born_us = from_us};
    return (struct rlk_birth){
        .mark = w->key.mark, .born_us = w->key.born_us, .server_us = w->now_us};
}

/* A durable master has all its data, unless a replica took its place, or it could not replay its
 * log, and no client has inspected it since. Such a log may have been rewritten, and shows no
 * failure any more. */
static void restart(struct world *w, bool keeps_key)
{
    w->is_copy =
        w->is_copy || (w->durable && (w->promotion != 0 || w->replay_failed) && !w->inspected);
    w->inspected = false;
    w->run++;
    w->started_us = w->now_us;
    w->flushed = w->replay_failed = w->connected = false;
    w->promotion = 0;
    if (!keeps_key) {
        w->key.run = 0;
    }
    if (!w->durable) {
        w->lost_us = w->now_us;
    }
}

static void restart_empty(struct world *w)
{
    restart(w, w->durable);
    w->replay_failed = w->durable;
    w->lost_us = w->now_us;
}

static void flush(struct world *w)
{
    w->key.run = 0;
    w->flushed = true;
    w->lost_us = w->now_us;
}

static void take_over(struct world *w)
{
    restart(w, true);
    w->promotion = w->run;
    w->started_us = LONG_AGO; /* as a replica */
    w->lost_us = w->now_us;
}

/* The server has the data of another master now, without any of our keys. */
static void copy(struct world *w)
{
    w->key = (struct key){.run = 1000, .mark = ++w->marks, .born_us = LONG_AGO};
    w->promotion = 1000 + w->marks;
    w->lost_us = w->now_us;
    w->inspected = false;
}

/* ---- the client ---- */

static void step(struct world *w, struct rlk_inspection_event *ev)
{
    struct rlk_inspection_actions out;

    ev->now_us = w->now_us;
    rlk_inspection_step(&w->inspection, &w->quarantine, &w->server, ev, &out);
    w->quarantine.data_replaced = false; /* a QUARANTINED event reports it */
    w->connected = w->connected && out.reconnect == RLK_RECONNECT_NOT;
}

static void ask(struct world *w, enum rlk_inspection_event_kind kind,
                enum rlk_inspection_error error)
{
    struct rlk_inspection_question q =
        rlk_inspection_ask(&w->inspection, &w->quarantine, &w->server, w->now_us);
    struct rlk_inspection_event ev = {.kind = kind, .error = error};

    if (error == RLK_INSPECTION_ANSWERED && q.mark) {
        ev.birth = run_script(w, &q);
    }
    step(w, &ev);
}

static void greet(struct world *w, enum rlk_inspection_error error)
{
    describe(w, &w->server);
    rlk_inspection_begin(&w->inspection);
    w->connected = true;
    ask(w, RLK_INSPECTION_HANDSHAKE, error);
}

static void inspect(struct world *w, enum rlk_inspection_error error)
{
    struct rlk_inspection_event role = {.kind = RLK_INSPECTION_INFO};

    if (w->connected) {
        w->server.promotion = w->promotion;
        step(w, &role);
    }
    if (w->connected) {
        ask(w, RLK_INSPECTION_REPLY, error);
    }
}

static void vote(struct world *w)
{
    struct rlk_inspection_event missed = {.kind = RLK_INSPECTION_MARK_MISSED};

    if (w->connected && w->quarantine.mark != 0 &&
        (w->key.run != w->run || w->key.mark != w->quarantine.mark)) {
        step(w, &missed);
    }
}

static void forget_all(struct world *w)
{
    memset(&w->inspection, 0, sizeof(w->inspection));
    rlk_quarantine_init(&w->quarantine, RLK_QUARANTINE_STRICT, TTL, 10000);
    w->connected = false;
}

/* Another client inspects the master. Only the master changes. */
static void meet_stranger(struct world *w)
{
    struct world other = *w;

    forget_all(&other);
    greet(&other, RLK_INSPECTION_ANSWERED);
    w->key = other.key;
    w->marks = other.marks;
    w->inspected = true;
}

static void make(struct world *w, enum move move)
{
    switch (move) {
    case FLUSH:
        flush(w);
        break;
    case STRANGER:
        meet_stranger(w);
        break;
    case RESTART_EMPTY:
        restart_empty(w);
        break;
    case RESTART_KEPT:
        restart(w, true);
        break;
    case TAKEOVER:
        take_over(w);
        break;
    case COPY:
        copy(w);
        break;
    case GREET:
        greet(w, RLK_INSPECTION_ANSWERED);
        break;
    case GREET_BUSY:
        greet(w, RLK_INSPECTION_NOT_NOW);
        break;
    case GREET_DENIED:
        greet(w, RLK_INSPECTION_DENIED);
        break;
    case LOOK:
        inspect(w, RLK_INSPECTION_ANSWERED);
        break;
    case LOOK_DENIED:
        inspect(w, RLK_INSPECTION_DENIED);
        break;
    case VOTE:
        vote(w);
        break;
    case WAIT:
        w->now_us += GONE_US / 2 + S;
        break;
    case MOVES:
        break;
    }
}

/* ---- what must hold ---- */

static bool votes(const struct world *w)
{
    return w->connected &&
           rlk_quarantine_reason(&w->quarantine, w->now_us, NULL) == RLK_QUARANTINED_NOT;
}

static void complain(unsigned depth, const char *what)
{
    char text[256] = "";
    unsigned i;

    for (i = 0; i <= depth; i++) {
        strcat(strcat(text, " "), names[path[i]]);
    }
    ck_abort_msg("%s after%s", what, text);
}

static bool looks(enum move move)
{
    return (move >= GREET && move <= LOOK_DENIED) || move == VOTE;
}

/* A master that has never shown its mark votes all the same. */
static bool is_wrong(const struct world *w)
{
    bool seen = rlk_inspection_blind_spot(&w->inspection, &w->quarantine, &w->server) ==
                RLK_BLIND_TO_NOTHING;

    return seen && !w->is_copy && votes(w) && w->now_us < w->lost_us + GONE_US;
}

static void check_safety(const struct world *w, unsigned depth)
{
    struct world stranger = *w;

    if (looks(path[depth]) && is_wrong(w)) {
        complain(depth, "a vote may be given twice");
    }
    forget_all(&stranger);
    greet(&stranger, RLK_INSPECTION_ANSWERED);
    if (is_wrong(&stranger)) {
        complain(depth, "a stranger takes a vote that may be given twice");
    }
}

static void check_liveness(struct world w, unsigned depth)
{
    unsigned i;

    for (i = 0; i < 4; i++) {
        make(&w, GREET);
        make(&w, WAIT);
    }
    if (!votes(&w)) {
        complain(depth, "it does not vote again");
    }
}

static void walk(const struct world *from, unsigned depth, unsigned *ret_walked)
{
    enum move move;

    for (move = FLUSH; move < MOVES; move++) {
        struct world w = *from;

        path[depth] = move;
        make(&w, move);
        check_safety(&w, depth);
        ++*ret_walked;
        if (depth + 1 < DEPTH) {
            walk(&w, depth + 1, ret_walked);
        } else {
            check_liveness(w, depth);
        }
    }
}

TIME_LIMIT(120);

TEST_LOOP(no_vote_is_given_twice_and_all_are_given_again, 0, 2)
{
    unsigned walked = 0;
    struct world w;

    begin(&w, _i);
    walk(&w, 0, &walked);
    ck_assert_uint_eq(walked, 5229042); /* 13 + 13^2 + ... + 13^6 */
}
