/* wait_model.c - see wait_model.h. */
#include "wait_model.h"

#include "base/time.h"
#include "fuzz.h"
#include "lib/events.h"

#define SECOND UINT64_C(1000000)

/* After each look the next one is at most so far away. */
#define LONGEST (SECOND * 5 / 2)

bool wait_model_applies(const struct rlk_attempt *a)
{
    return a->state == RLK_ATTEMPT_WAITING && !a->polls;
}

static unsigned count(uint64_t nodes)
{
    unsigned i, n = 0;

    for (i = 0; i < 64; i++) {
        n += (unsigned)(nodes >> i) & 1;
    }
    return n;
}

static uint64_t hosts_of(const struct wait_step *s)
{
    return s->after->waiting.queues;
}

/* [W3] Two hosts, or the only one. */
static bool are_enough(uint64_t nodes, uint64_t hosts)
{
    return count(nodes) >= 2 || (nodes != 0 && count(hosts) == 1);
}

/* ---- what hosts have said ---- */

static void forget(struct wait_model *m, uint64_t nodes)
{
    m->listed &= ~nodes;
    m->first &= ~nodes;
}

/* Whether this step has looked, or would have if a round had not begun. */
static bool has_looked(const struct wait_step *s)
{
    return wait_model_applies(s->before) && event_has_nodes(s->ev) &&
           (s->out->wait || s->after->waiting.check_us != s->before->waiting.check_us ||
            s->after->waiting.queues != s->before->waiting.queues);
}

/* The hosts may be others than before. */
static void follow_hosts(struct wait_model *m, const struct wait_step *s)
{
    if (has_looked(s)) {
        m->checked = true;
        m->subscribed = s->ev->subscribed & hosts_of(s);
        m->failed = s->ev->now_us < rlk_time_add(m->failed_us, 2 * SECOND) ? m->failed : 0;
    }
    if (s->ev->kind == RLK_EVENT_VOTERS) {
        m->subscribed &= s->after->config.terms.voters->set;
    }
    forget(m, ~m->subscribed);
    m->turn &= hosts_of(s);
    m->crossed &= m->subscribed;
}

static void hear_position(struct wait_model *m, const struct wait_step *s, uint64_t bit)
{
    if (s->ev->woken) {
        forget(m, bit);
        m->turn |= bit;
        m->yields = false;
    } else if (!s->ev->listed) {
        forget(m, bit);
        m->failed |= bit;
        m->failed_us = s->ev->now_us;
    } else if (m->subscribed & bit) {
        forget(m, bit);
        m->turn &= ~bit | m->crossed;
        m->crossed &= ~bit;
        m->listed |= bit;
        m->yields = false;
        m->first |= s->ev->position == 1 ? bit : 0;
    }
}

/* [H3] A key that is reserved for us is as good as a free one. */
static bool is_turn(const struct rlk_event *ev)
{
    return ev->kind == RLK_EVENT_WOKEN || (ev->kind == RLK_EVENT_RESERVED && ev->woken);
}

static void hear(struct wait_model *m, const struct wait_step *s)
{
    uint64_t bit = UINT64_C(1) << s->ev->node;

    if (s->ev->kind == RLK_EVENT_SUBSCRIBED) {
        m->failed &= ~bit;
    }
    if (m->turn == 0 && (is_turn(s->ev) || s->ev->kind == RLK_EVENT_CHANGED ||
                         s->ev->kind == RLK_EVENT_SUBSCRIBED)) {
        m->checked = false; /* one host has news */
    }
    m->yields = m->yields && !is_turn(s->ev);
    if (!(hosts_of(s) & bit)) {
        return;
    }
    if (s->ev->kind == RLK_EVENT_POSITION) {
        hear_position(m, s, bit);
    } else if (is_turn(s->ev)) {
        forget(m, bit);
        m->turn |= bit;
        m->crossed |= bit & s->before->waiting.asked;
    } else if (s->ev->kind == RLK_EVENT_NEXT) {
        m->first |= bit & m->subscribed;
    } else if (s->ev->kind == RLK_EVENT_SUBSCRIBED) {
        m->subscribed |= bit;
    } else if (s->ev->kind == RLK_EVENT_UNSUBSCRIBED) {
        forget(m, bit);
        m->crossed &= ~bit;
        m->subscribed &= ~bit;
    }
}

/* Other voters may be other hosts. */
static bool is_hint(const struct rlk_event *ev)
{
    return ev->kind == RLK_EVENT_VOTERS ||
           (ev->kind >= RLK_EVENT_POSITION && ev->kind <= RLK_EVENT_UNSUBSCRIBED);
}

static bool is_wake_up(const struct rlk_event *ev)
{
    return ev->kind == RLK_EVENT_TIMER || ev->kind == RLK_EVENT_DEQUEUED;
}

/* ---- what it may ask ---- */

/* The node with the n-th bit, from 0. */
static uint64_t nth(uint64_t nodes, unsigned n)
{
    unsigned i;

    for (i = 0; (nodes >> i & 1) == 0 || n-- > 0; i++) {
    }
    return UINT64_C(1) << i;
}

/* [W1] The first voters in the order of the key, except those that could not list us a short time
 * ago. */
static void check_hosts(const struct wait_model *m, const struct wait_step *s)
{
    const struct rlk_attempt_config *c = &s->before->config;
    uint64_t hosts = hosts_of(s), skipped = 0;
    unsigned voters = count(c->terms.voters->set), i;

    FUZZ_CHECK((hosts & ~s->ev->subscribable) == 0, "[W1] hosts can list us");
    FUZZ_CHECK((hosts & ~c->terms.voters->set) == 0, "[W1] hosts have a vote");
    for (i = 0; i < voters && count(hosts) > 0; i++) {
        uint64_t bit = nth(c->terms.voters->set, (unsigned)((c->key_hash + (uint64_t)i) % voters));

        skipped |= hosts & bit ? 0 : bit & s->ev->subscribable;
        hosts &= ~bit;
    }
    FUZZ_CHECK((skipped & ~m->failed) == 0, "[W1] nodes that can list us are not skipped");
    FUZZ_CHECK((s->out->wait & m->failed) == 0, "[W1] nodes that could not list us are left alone");
}

/* [W5] Without a hint a waiter looks once in a millisecond at most. A hint may bring a look
 * forward, and the usual one may be due then, too. */
static void check_rate(struct wait_model *m, const struct wait_step *s)
{
    FUZZ_CHECK(m->hints > 0 || s->ev->now_us >= rlk_time_add(m->looked_us, SECOND / 1000),
               "[W5] no two looks in a millisecond without a hint");
    m->hints -= m->hints > 0;
    m->looked_us = s->ev->now_us;
}

static void check_questions(struct wait_model *m, const struct wait_step *s)
{
    const struct rlk_actions *out = s->out;
    uint64_t bit = UINT64_C(1) << s->ev->node;

    FUZZ_CHECK((out->wait & ~hosts_of(s)) == 0, "[W1] only hosts are asked for a place");
    FUZZ_CHECK(count(hosts_of(s)) <= RLK_WAITING_QUEUES, "[W1] there are three hosts at most");
    FUZZ_CHECK((out->wait & ~m->subscribed) == 0, "a host that cannot wake us is not asked");
    FUZZ_CHECK(out->wait == 0 || out->wait_yields == m->yields,
               "[W7] who yields asks so until it has a place, and nobody else does");
    FUZZ_CHECK(out->track == (m->first & out->wait),
               "[W4] whoever is next hears of changes, and nobody else");
    if (is_hint(s->ev)) {
        bool may_ask = s->ev->kind == RLK_EVENT_CHANGED || s->ev->kind == RLK_EVENT_SUBSCRIBED;

        FUZZ_CHECK((out->wait & ~(may_ask ? bit : 0)) == 0,
                   "a change or a watch that is up is looked at on its node, nothing else is");
    } else if (out->wait) {
        check_hosts(m, s);
        check_rate(m, s);
    }
}

/* ---- when it goes ---- */

static bool goes(const struct wait_step *s)
{
    return wait_model_applies(s->before) && (s->out->fresh || s->out->queue);
}

/* [W3, W6] For two turns, for one after a look, or because too few hosts list us. */
static void check_round(const struct wait_model *m, const struct wait_step *s)
{
    bool turn = are_enough(m->turn, hosts_of(s)) || (m->turn != 0 && m->checked);
    bool polls = !are_enough(m->listed | m->turn, hosts_of(s));

    FUZZ_CHECK(turn || polls, "[W3, W6] it goes when it is its turn, or when nobody would tell it");
    FUZZ_CHECK(turn || s->ev->now_us >= s->before->retry_us || s->ev->now_us >= s->after->retry_us,
               "[W6] a poll waits for the end of the back-off");
    FUZZ_CHECK(!s->before->split || s->ev->now_us >= s->before->retry_us || polls,
               "after a split vote a turn waits for the end of the back-off");
    FUZZ_CHECK(s->out->wait == 0 && s->out->track == 0, "who goes asks for no place");
}

/* ---- when it must do something ---- */

static void check_deadline(const struct wait_model *m, const struct wait_step *s)
{
    uint64_t now_us = s->ev->now_us, due_us = s->out->deadline_us;
    uint64_t back_off_us = rlk_time_max(s->after->config.retry_max_us, SECOND / 10);

    FUZZ_CHECK(due_us <= s->after->give_up_us, "it gives up in time");
    FUZZ_CHECK(due_us <= rlk_time_add(now_us, LONGEST), "[W5] every waiter looks again");
    if (!are_enough(m->listed | m->turn, hosts_of(s))) {
        FUZZ_CHECK(due_us <= rlk_time_max(now_us, rlk_time_add(m->unlisted_us, back_off_us)),
                   "[W6] it polls when too few hosts list it");
    }
    if (are_enough(m->turn, hosts_of(s)) && !s->after->split) {
        FUZZ_CHECK(due_us <= now_us, "[W3] it goes at the second turn");
    }
    FUZZ_CHECK(s->ev->kind != RLK_EVENT_RESERVED || !s->ev->woken || !s->after->split,
               "[H3] what is reserved for us needs no back-off");
}

static void check_sets(const struct wait_model *m, const struct wait_step *s)
{
    const struct rlk_waiting *w = &s->after->waiting;

    FUZZ_CHECK(w->listed == m->listed && w->wakes == m->turn && w->next == m->first,
               "what a host said last counts, and nothing else");
    FUZZ_CHECK(((w->subscribed | w->wakes) & ~w->queues) == 0, "only hosts count");
    FUZZ_CHECK(((w->asked | w->listed | w->next | w->crossed | w->denied) & ~w->subscribed) == 0,
               "and all but their turns only while they can wake us");
    FUZZ_CHECK((w->denied & ~(w->listed & ~w->wakes & ~w->asked)) == 0,
               "a host that denies a turn lists us, and announces none");
    FUZZ_CHECK((w->crossed & w->listed) == 0, "an answer that crosses a turn does so once");
}

static void note_listed(struct wait_model *m, bool was_enough, const struct wait_step *s)
{
    if (was_enough && !are_enough(m->listed | m->turn, hosts_of(s))) {
        m->unlisted_us = s->ev->now_us;
    }
}

/* ---- a wait from its beginning to its end ---- */

static void begin(struct wait_model *m, const struct wait_step *s)
{
    m->subscribed = m->listed = m->first = m->turn = m->crossed = 0;
    m->checked = false;
    m->yields =
        (s->ev->kind == RLK_EVENT_START || s->ev->kind == RLK_EVENT_CONTEND) && s->ev->yield;
    m->looked_us = s->ev->now_us;
    m->unlisted_us = rlk_time_add(s->ev->now_us, m->yields ? RLK_WAITING_YIELD_US : 0);
    m->hints = 2;
}

static void follow_wait(struct wait_model *m, const struct wait_step *s)
{
    bool was_enough = are_enough(m->listed | m->turn, s->before->waiting.queues);

    if ((is_wake_up(s->ev) || is_hint(s->ev)) && s->before->split &&
        s->ev->now_us >= s->before->retry_us) {
        m->turn = 0; /* of the back-off */
    }
    follow_hosts(m, s);
    if (is_hint(s->ev)) {
        m->hints += 2;
        hear(m, s);
        follow_hosts(m, s);
    }
    note_listed(m, was_enough, s);
    if (goes(s)) {
        check_round(m, s);
    } else {
        check_questions(m, s);
    }
    if (wait_model_applies(s->after)) {
        check_sets(m, s);
        check_deadline(m, s);
    }
}

/* [W7] Who was asked enters the list. It leaves with an answer that says so, or with a wake that is
 * not older than a question. */
static void follow_lists(struct wait_model *m, const struct wait_step *s)
{
    uint64_t bit = UINT64_C(1) << s->ev->node;
    bool turn = s->ev->kind == RLK_EVENT_WOKEN && !(s->before->waiting.asked & bit);

    if (turn || (s->ev->kind == RLK_EVENT_POSITION && !s->ev->listed)) {
        m->entered &= ~bit;
    } else if (s->ev->kind == RLK_EVENT_POSITION) {
        m->entered |= bit;
    }
    m->entered |= s->out->wait;
    FUZZ_CHECK((m->entered & ~s->after->waiting.may_list) == 0, "[W7] who wins leaves every list");
}

void wait_model_follow(struct wait_model *m, const struct wait_step *s)
{
    bool waited = wait_model_applies(s->before);
    bool begins = !waited && wait_model_applies(s->after);

    if (s->before->state != RLK_ATTEMPT_IDLE && s->before->state != RLK_ATTEMPT_FAILED) {
        follow_lists(m, s);
    }
    if (begins) {
        begin(m, s);
        FUZZ_CHECK(m->yields || s->out->deadline_us == s->ev->now_us,
                   "it asks for a place at once");
    }
    if (waited || (begins && m->yields)) {
        follow_wait(m, s);
    } else {
        FUZZ_CHECK(s->out->wait == 0 && s->out->track == 0, "only a waiter asks for a place");
    }
}
