/* fuzz_talk.c - every conversation of a manager, with a master that may say anything in the middle
 * of it.
 *
 * As in fuzz_node.c, everything is real but time, chance and the network; here the server is a good
 * master, and the script says which of its replies are changed (liar.h). The script begins with two
 * numbers: node_timeout_ms, and options (1: no quarantine, 2: no record, 4: nobody subscribes, 8:
 * an audit stream, 16: fencing tokens, 32: a master that is new, 64: a prefix). Then each letter is
 * a step; before the next one everything under way arrives.
 *
 *   the user     a WAIT  acquire (ms)   c  cancel   f  detach   l  release   x  extend
 *                o  hand over   A  adopt   b  break   q  query   L  list
 *                h  history   E  examine   D  delete the record
 *                M  add a master   R  remove one
 *                e PRIORITY  an election, and campaign   O  one that observes
 *                s  resign   S  hand over to "b"   F  end the election
 *                C  close   j LETTER  do that from inside the next callback
 *                m N  the N-th allocation from here fails
 *   the server   r K "TEXT"  the K-th reply from here is this instead: \r \n \" \\ \xHH
 *                d K  is sent twice   w K A B  has byte B at A   u K N  is cut to N bytes
 *                n K  is not sent   "TEXT"  unasked, on each connection
 *                P CHANNEL "TEXT"  is published: 0 the key's, 1 a waiter's
 *                p N  sends N bytes at once   z  stand still, or no longer
 *                y  another client takes the key   Y  and loses it
 *                I  restart without data   K  hang up   X  refuse, or no longer
 *   time         + MS  goes by   @  to the next timer
 *
 * Ends with a close, and with time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/redlock.h>

#include "base/time.h"
#include "fuzz.h"
#include "liar.h"
#include "node/node.h"
#include "talk_checks.h"
#include "virtual.h"

#define MOST_CALLS 32
#define MOST_STEPS 3000
#define MOST_MS 1000000000
#define TTL_MS 10000

static const char foreign[] = "0123456789012345678901234567890123456789:somebody";

struct world {
    struct virtual_loop loop;
    struct redlock *rl;
    struct liar liar;
    struct fuzz_script script;
    unsigned options, n_calls, steps;
    uint32_t timeout_ms;
    bool told[MOST_CALLS];
    struct redlock_lock *lock; /* the last one that was asked for, as long as there is a handle */
    struct redlock_election *election;
    struct redlock_change *change;
    bool *change_told;
    bool held, leads, freeing, refusing, closing, closed;
    uint64_t close_us;
    int reaction;
};

static struct world *world; /* of the run */

static void user(struct world *w, int letter);

/* ---- results ---- */

static void react(void)
{
    int letter = world->reaction;

    world->reaction = 0;
    user(world, letter);
}

static void tell(void *told)
{
    bool *once = told;

    FUZZ_CHECK(!*once, "reported once");
    FUZZ_CHECK(!world->closed, "nothing is reported after the close");
    *once = true;
}

static void on_acquired(struct redlock_lock *lock, int status, void *told)
{
    tell(told);
    talk_check_lock(lock, status, virtual_out_of_memory());
    world->held = status == REDLOCK_OK;
    if (!world->held) {
        world->lock = NULL;
    }
    react();
}

static void on_extended(struct redlock_lock *lock, int status, void *told)
{
    tell(told);
    FUZZ_CHECK(status != REDLOCK_OK || redlock_lock_validity_ms(lock) > 0,
               "what was extended is held");
    react();
}

static void on_released(struct redlock_lock *lock, int status, void *told)
{
    (void)lock;
    tell(told);
    FUZZ_CHECK(status == REDLOCK_OK || status == REDLOCK_GONE || status == REDLOCK_TAKEN ||
                   status == REDLOCK_ENOQUORUM || status == REDLOCK_ECANCELED,
               "a release ends as it is documented");
    react();
}

static void on_queried(const struct redlock_query_result *r, int status, void *told)
{
    tell(told);
    talk_check_query(r, status);
    react();
}

static void on_listed(const struct redlock_listed *key, void *told)
{
    FUZZ_CHECK(!*(bool *)told, "no key comes after the end of a list");
    FUZZ_CHECK(key->key_len <= REDLOCK_MAX_KEY && !key->key[key->key_len], "a key has its length");
    talk_check_query(key->result, key->result->answered ? REDLOCK_OK : REDLOCK_ENOQUORUM);
}

static void on_list(const struct redlock_list_summary *summary, int status, void *told)
{
    tell(told);
    talk_check_list(summary, status);
    react();
}

static void on_history(const struct redlock_history_result *history, int status, void *told)
{
    tell(told);
    talk_check_history(history, status);
    react();
}

static void on_examined(const struct redlock_report *report, int status, void *told)
{
    tell(told);
    talk_check_report(report, status);
    react();
}

static void on_broken(const struct redlock_break_result *r, int status, void *told)
{
    tell(told);
    FUZZ_CHECK((r == NULL) == (status == REDLOCK_ECANCELED), "cancelled, or with a result");
    FUZZ_CHECK(!r || (r->replaced <= 1 && (status != REDLOCK_OK || r->replaced == 1)),
               "a lock is broken where it was");
    react();
}

static void on_deleted(const struct redlock_delete_record_result *r, int status, void *told)
{
    tell(told);
    FUZZ_CHECK((r == NULL) == (status == REDLOCK_ECANCELED), "cancelled, or with a result");
    react();
}

static void on_changed(int status, const char *error, void *told)
{
    (void)status;
    tell(told);
    talk_check_text(error, 1024);
    world->change = NULL;
}

/* ---- elections ---- */

static void on_elected(struct redlock_election *election, uint64_t term, void *arg)
{
    struct world *w = arg;

    FUZZ_CHECK(!w->leads && term > 0, "elected once, for a term");
    FUZZ_CHECK(redlock_election_is_leader(election) && redlock_election_term(election) == term,
               "who is elected leads");
    w->leads = true;
    react();
}

static void on_demoted(struct redlock_election *election, const struct redlock_demotion *demotion,
                       void *arg)
{
    struct world *w = arg;

    (void)demotion;
    FUZZ_CHECK(w->leads && !redlock_election_is_leader(election), "a leader is demoted");
    w->leads = false;
    react();
}

static void on_leader(struct redlock_election *election, const struct redlock_leader *leader,
                      void *arg)
{
    (void)election;
    (void)arg;
    talk_check_text(leader->id, 256);
    talk_check_text(leader->value, 256);
    FUZZ_CHECK(!leader->is_me || world->leads || leader->term > 0, "our leadership has a term");
}

static void on_freed(void *arg)
{
    struct world *w = arg;

    FUZZ_CHECK(w->freeing && !w->leads, "nobody leads who is gone");
    w->election = NULL;
    w->freeing = false;
}

static void on_closed(void *arg)
{
    struct world *w = arg;
    unsigned i;

    FUZZ_CHECK(!w->closed && !w->leads, "closed once, and nobody leads");
    w->closed = true;
    w->rl = NULL;
    w->lock = NULL;
    w->election = NULL;
    for (i = 0; i < w->n_calls; i++) {
        FUZZ_CHECK(w->told[i], "each call gets its result before the close has ended");
    }
}

/* ---- the user ---- */

static bool *next_call(struct world *w)
{
    w->told[w->n_calls] = false;
    return &w->told[w->n_calls];
}

static void accepted(struct world *w, int status)
{
    FUZZ_CHECK(status == 0 || status == REDLOCK_ESTATE ||
                   (status == REDLOCK_ENOMEM && virtual_out_of_memory()),
               "a good call is accepted");
    w->n_calls += status == 0;
}

static struct redlock_request request(struct world *w)
{
    struct redlock_request q;

    redlock_request_init(&q);
    q.key = "key";
    q.ttl_ms = TTL_MS;
    q.owner = "me";
    q.fencing = w->options >> 4 & 1;
    return q;
}

static void acquire(struct world *w)
{
    struct redlock_request q = request(w);

    q.wait_ms = (uint32_t)rlk_time_min(fuzz_number(&w->script), REDLOCK_FOREVER);
    if (w->lock == NULL) {
        accepted(w, redlock_acquire(w->rl, &q, on_acquired, next_call(w), &w->lock));
    }
}

static void adopt(struct world *w)
{
    struct redlock_request q = request(w);

    if (w->lock == NULL) {
        accepted(w, redlock_adopt(w->rl, &q, foreign, on_acquired, next_call(w), &w->lock));
    }
}

static void let_go(struct world *w, int letter)
{
    struct redlock_lock *lock = w->held ? w->lock : NULL;

    if (lock && letter == 'x') {
        accepted(w, redlock_extend(lock, TTL_MS, on_extended, next_call(w)));
    } else if (lock) {
        w->lock = NULL;
        w->held = false;
        accepted(w, letter == 'l' ? redlock_release(lock, on_released, next_call(w))
                                  : redlock_hand_over(lock, "b", 500, on_released, next_call(w)));
    }
}

static void detach(struct world *w)
{
    if (w->held && redlock_lock_detach(w->lock) == 0) {
        w->lock = NULL;
        w->held = false;
    } else if (w->lock && !w->held) {
        redlock_cancel(w->lock);
    }
}

static void list(struct world *w)
{
    struct redlock_list_options o;

    redlock_list_options_init(&o);
    o.timeout_ms = 60000;
    o.listed_cb = on_listed;
    o.list_cb = on_list;
    o.arg = next_call(w);
    accepted(w, redlock_list(w->rl, &o));
}

static void read_history(struct world *w)
{
    struct redlock_history_options o;

    redlock_history_options_init(&o);
    o.key = "key";
    o.limit = 20;
    o.history_cb = on_history;
    o.arg = next_call(w);
    accepted(w, redlock_history(w->rl, &o));
}

static void begin_election(struct world *w, bool observes)
{
    struct redlock_election_options o;
    int status;

    redlock_election_options_init(&o);
    o.name = "leader";
    o.id = observes ? NULL : "a";
    o.value = observes ? NULL : "here";
    o.priority = observes ? 0 : (uint32_t)(fuzz_number(&w->script) % 1000);
    o.elected_cb = on_elected;
    o.demoted_cb = on_demoted;
    o.leader_cb = on_leader;
    o.arg = w;
    status = w->election ? REDLOCK_ESTATE : redlock_election_new(w->rl, &o, &w->election);
    FUZZ_CHECK(status == 0 || status == REDLOCK_ESTATE || virtual_out_of_memory(),
               "an election can be made");
    if (status == 0 && !observes) {
        redlock_election_campaign(w->election);
    }
}

static void end_election(struct world *w)
{
    if (w->election && !w->freeing) {
        w->freeing = true;
        if (redlock_election_free(w->election, on_freed, w) != 0) {
            w->freeing = false;
        }
    }
}

static struct redlock_options options(const struct world *w, const char *const *node)
{
    struct redlock_options o;

    redlock_options_init(&o);
    o.nodes = node;
    o.n_nodes = 1;
    o.node_timeout_ms = w->timeout_ms;
    o.quarantine = w->options & 1 ? REDLOCK_QUARANTINE_OFF : o.quarantine;
    o.record = !(w->options & 2);
    o.subscribe = !(w->options & 4);
    o.audit_entries = w->options & 8 ? 100 : 0;
    o.key_prefix = w->options & 64 ? "prefix:" : NULL;
    return o;
}

static const char *const there = "unix:///there";

static void change_masters(struct world *w, bool adds)
{
    struct redlock_options masters = options(w, &there);
    struct redlock_change_options o;
    int status;

    redlock_change_options_init(&o);
    o.joins = adds ? "unix:///other" : "unix:///third";
    o.leaves = adds ? REDLOCK_NO_MASTER : 0;
    o.timeout_ms = 1000;
    o.change_cb = on_changed;
    o.arg = next_call(w);
    w->change_told = w->change ? w->change_told : o.arg;
    status = w->change || !masters.record
                 ? REDLOCK_ESTATE
                 : redlock_change_masters(w->loop.base, &masters, &o, &w->change);
    accepted(w, status == REDLOCK_EINVAL && (w->options & 1) ? REDLOCK_ESTATE : status);
}

static void cancel_change(struct world *w)
{
    redlock_change_cancel(w->change);
    if (w->change) {
        *w->change_told = true; /* nothing will */
        w->change = NULL;
    }
}

static void close_manager(struct world *w)
{
    if (!w->closing) {
        cancel_change(w);
        FUZZ_CHECK(redlock_close(w->rl, on_closed, w) == 0, "a manager closes");
        w->closing = true;
        w->close_us = virtual_now_us();
    }
}

static void ask(struct world *w, int letter)
{
    switch (letter) {
    case 'q':
        accepted(w, redlock_query(w->rl, "key", 0, on_queried, next_call(w)));
        break;
    case 'E':
        accepted(w, redlock_examine(w->rl, on_examined, next_call(w)));
        break;
    case 'b':
        accepted(w,
                 redlock_break(w->rl, "key", 0, foreign, "me: because", on_broken, next_call(w)));
        break;
    case 'D':
        accepted(w, redlock_delete_record(w->rl, on_deleted, next_call(w)));
        break;
    case 'L':
        list(w);
        break;
    default:
        read_history(w);
        break;
    }
}

static void elect(struct world *w, int letter)
{
    if (letter == 'e' || letter == 'O') {
        begin_election(w, letter == 'O');
    } else if (letter == 'F') {
        end_election(w);
    } else if (w->election && letter == 's') {
        redlock_election_resign(w->election);
    } else if (w->election) {
        redlock_election_hand_over(w->election, "b", 500);
    }
}

static void user(struct world *w, int letter)
{
    if (w->rl == NULL || w->n_calls == MOST_CALLS || letter == 0) {
        return;
    }
    if (letter == 'a') {
        acquire(w);
    } else if (letter == 'A') {
        adopt(w);
    } else if (strchr("lox", letter)) {
        let_go(w, letter);
    } else if (strchr("cf", letter)) {
        detach(w);
    } else if (strchr("qEbDLh", letter)) {
        ask(w, letter);
    } else if (strchr("eOFsS", letter)) {
        elect(w, letter);
    } else if (strchr("MR", letter) && !w->closing) { /* a manager of its own */
        change_masters(w, letter == 'M');
    } else if (letter == 'C') {
        close_manager(w);
    }
}

/* ---- the server ---- */

/* The text behind its first quote; what is too long is left out. */
static size_t read_text(struct fuzz_script *s, char text[LIAR_TEXT])
{
    size_t n = 0;
    int c;

    while ((c = fuzz_byte(s)) >= 0 && c != '"') {
        c = c == '\\' ? fuzz_escaped(s) : c;
        if (n < LIAR_TEXT) {
            text[n++] = (char)c;
        }
    }
    return n;
}

static void edit(struct world *w, int letter)
{
    struct liar_edit e = {.at = (unsigned)fuzz_number(&w->script) % 1000, .kind = (char)letter};

    if (letter == 'w' || letter == 'u') {
        e.a = fuzz_number(&w->script);
        e.b = letter == 'w' ? fuzz_number(&w->script) : 0;
    } else if (letter == 'r' && fuzz_letter(&w->script) == '"') {
        e.len = read_text(&w->script, e.text);
    }
    liar_edit(&w->liar, &e);
}

static void say(struct world *w)
{
    char text[LIAR_TEXT];
    size_t len = read_text(&w->script, text);

    liar_say(&w->liar, text, len);
}

static void publish(struct world *w)
{
    uint64_t to = fuzz_number(&w->script);
    char text[LIAR_TEXT];
    size_t len = fuzz_letter(&w->script) == '"' ? read_text(&w->script, text) : 0;
    unsigned i;

    for (i = 0; i < LIAR_LINES; i++) {
        struct model_session *s = &w->liar.lines[i].session;

        if (w->liar.lines[i].fd >= 0 && s->n_channels > 0) {
            rlk_model_publish(&w->liar.model, s->channels[to % s->n_channels], text, len);
        }
    }
}

static void server(struct world *w, int letter)
{
    switch (letter) {
    case '"':
        say(w);
        break;
    case 'P':
        publish(w);
        break;
    case 'p':
        w->liar.piece = (size_t)fuzz_number(&w->script);
        break;
    case 'z':
        w->liar.still = !w->liar.still;
        break;
    case 'y':
        rlk_model_set(&w->liar.model, w->options & 64 ? "prefix:key" : "key", foreign, TTL_MS);
        break;
    case 'Y':
        rlk_model_del(&w->liar.model, w->options & 64 ? "prefix:key" : "key");
        break;
    case 'I':
        rlk_model_restart(&w->liar.model);
        liar_hang_up(&w->liar);
        break;
    case 'K':
        liar_hang_up(&w->liar);
        break;
    default:
        break;
    }
}

/* ---- the run of a script ---- */

static void play(struct world *w, int letter)
{
    if (strchr("rwudn", letter)) {
        edit(w, letter);
    } else if (letter == 'X') {
        w->refusing = !w->refusing;
        virtual_refuse(w->refusing);
    } else if (letter == '+') {
        virtual_pass(rlk_time_from_ms(rlk_time_min(fuzz_number(&w->script), MOST_MS)));
    } else if (letter == '@') {
        virtual_pass_to_timer();
    } else if (letter == 'j') {
        w->reaction = fuzz_letter(&w->script);
    } else if (letter == 'm') {
        virtual_fail_in(fuzz_number(&w->script));
    } else {
        user(w, letter);
        server(w, letter);
    }
}

/* The script is over: close the manager, and let time pass until it is closed. */
static void run_to_the_end(struct world *w)
{
    uint64_t patience_us = rlk_time_from_ms(w->timeout_ms);
    uint64_t since_us = rlk_time_max(w->close_us, w->liar.sent_us);

    if (!w->closing) {
        close_manager(w);
        return;
    }
    FUZZ_CHECK(virtual_pass_to_timer(), "who waits has a timer");
    FUZZ_CHECK(virtual_now_us() <= since_us + 10 * patience_us + rlk_time_from_ms(MOST_MS),
               "a close ends in time");
}

/* Everything in flight has arrived: the next step. */
static bool on_idle(void *arg)
{
    struct world *w = arg;
    int letter;

    liar_read(&w->liar);
    if (w->rl) {
        talk_check_manager(w->rl);
    }
    if (w->closed) {
        return false;
    }
    if (liar_send(&w->liar)) {
        return true;
    }
    FUZZ_CHECK(++w->steps < 2 * MOST_STEPS, "a close ends in a few steps");
    letter = w->steps < MOST_STEPS ? fuzz_letter(&w->script) : -1;
    if (letter > 0) {
        play(w, letter);
    } else {
        run_to_the_end(w);
    }
    return true;
}

static void open_manager(struct world *w)
{
    struct redlock_options o = options(w, &there);

    liar_begin(&w->liar);
    if (!(w->options & 32)) {
        rlk_model_make_old(&w->liar.model);
    }
    FUZZ_CHECK(redlock_new(w->loop.base, &o, &w->rl) == 0, "a manager can be made");
}

static void run(struct world *w)
{
    virtual_loop_begin(&w->loop, on_idle, w);
    open_manager(w);
    virtual_loop_run(&w->loop);
    FUZZ_CHECK(w->closed, "a close always ends");
    liar_end(&w->liar);
    virtual_loop_end(&w->loop);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world w;

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
