#include "io/health.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "core/classify.h"
#include "core/clocks.h"
#include "io/loop.h"
#include "io/node.h"
#include "io/options.h"

/* Along with renewals, but not with each of many. */
#define AGAIN_AFTER_US 20000

/* ARGV: our run, a fresh mark, how old the data are if there is no key (µs), whether they are
 * durable. Written anew are a key that is missing and one of another run. */
static const char script[] =
    "local t = redis.call('TIME')\n"
    "local now = t[1] * 1000000 + t[2]\n"
    "local v = redis.call('GET', KEYS[1])\n"
    "if not v or string.sub(v, 1, #ARGV[1] + 1) ~= ARGV[1] .. ' ' then\n"
    "  local mark, born = string.match(v or '', '^%S+ (%x+) (%d+)$')\n"
    "  if not mark then\n"
    "    mark, born = ARGV[2], string.format('%.0f', now - tonumber(ARGV[3]))\n"
    "  elseif ARGV[4] ~= '1' then\n"
    "    born = string.format('%.0f', now)\n"
    "  end\n"
    "  v = ARGV[1] .. ' ' .. mark .. ' ' .. born\n"
    "  redis.call('SET', KEYS[1], v)\n"
    "end\n"
    "return {v, string.format('%.0f', now)}\n";

/* What it answers. */
struct answer {
    uint64_t mark, born_us, now_us; /* 0: not told */
};

static bool is_wanted(const struct rlk_node *n)
{
    return n->standing.policy != RLK_QUARANTINE_OFF && !n->health.refused && n->info.run_id[0];
}

/* ---- what goes out ---- */

/* Who meets a server without a key has to believe what it says of its age, unless it says as well
 * that its data were thrown away since. Who knew it before does not. */
static uint64_t believed_age_us(const struct rlk_node *n)
{
    bool believed = !n->standing.met && !n->info.flushed && !n->info.promoted;

    return believed && n->info.uptime_s > 0 ? (uint64_t)n->info.uptime_s * 1000000 : 0;
}

static void write_key(const struct rlk_node *n, char key[RLK_HEALTH_KEY_ROOM])
{
    snprintf(key, RLK_HEALTH_KEY_ROOM, "%s%s", n->options->key_prefix, RLK_HEALTH_KEY);
}

static bool ask_for_mark(struct rlk_node *n, const struct rlk_request_kind *kind, uint64_t now_us)
{
    char mark[20], age[24], key[RLK_HEALTH_KEY_ROOM];
    const char *const words[] = {"EVAL",
                                 script,
                                 "1",
                                 key,
                                 n->info.run_id,
                                 mark,
                                 age,
                                 rlk_info_is_durable(&n->info) ? "1" : "0",
                                 NULL};

    write_key(n, key);
    snprintf(mark, sizeof(mark), "%016" PRIx64, rlk_prng_next(&n->prng) | 1);
    snprintf(age, sizeof(age), "%" PRIu64, believed_age_us(n));
    return rlk_node_say(n, kind, words, now_us);
}

static bool ask(struct rlk_node *n, const struct rlk_request_kind *kind, uint64_t now_us)
{
    static const char *const time_words[] = {"TIME", NULL};
    bool asked =
        is_wanted(n) ? ask_for_mark(n, kind, now_us) : rlk_node_say(n, kind, time_words, now_us);

    n->health.asked = asked;
    n->health.sent_us = now_us;
    return asked;
}

/* ---- what comes back ---- */

static uint64_t number(const char *text, int base)
{
    return strtoull(text, NULL, base);
}

/* TIME: seconds and microseconds. The script: "run mark born", and the time. */
static bool read_answer(const struct rlk_reply *reply, struct answer *ret)
{
    const char *mark;

    *ret = (struct answer){0};
    if (reply->type != RLK_REPLY_ARRAY || reply->integer != 2 ||
        reply[1].type != RLK_REPLY_STRING || reply[2].type != RLK_REPLY_STRING) {
        return false;
    }
    mark = strchr(reply[1].str, ' ');
    if (mark == NULL) {
        ret->now_us = number(reply[1].str, 10) * 1000000 + number(reply[2].str, 10);
        return true;
    }
    ret->mark = number(mark + 1, 16);
    ret->born_us = strchr(mark + 1, ' ') ? number(strchr(mark + 1, ' '), 10) : 0;
    ret->now_us = number(reply[2].str, 10);
    return true;
}

static void tell_time(struct rlk_node *n, uint64_t server_us, uint64_t now_us)
{
    struct rlk_clock_sample sample = {
        .sent_us = n->health.sent_us, .received_us = now_us, .server_us = server_us};

    n->hooks->timed(n, &sample);
}

/* Whoever does not run the script for us (an ACL, no memory for a key) is asked for the time only;
 * after the next greeting it is tried again. */
static void on_health(struct rlk_node *n, void *context, const struct rlk_reply *reply,
                      uint64_t now_us)
{
    struct answer a;

    (void)context;
    n->health.asked = false;
    if (!read_answer(reply, &a)) {
        n->health.refused = !rlk_classify_refused_for_now(reply);
        return;
    }
    if (a.mark != 0) {
        rlk_standing_look(&n->standing, a.mark, now_us);
    }
    tell_time(n, a.now_us, now_us);
}

static void on_broken(struct rlk_node *n, void *context, uint64_t now_us)
{
    (void)context;
    (void)now_us;
    n->health.asked = false;
}

/* ---- the life of a connection ---- */

static void again_later(struct rlk_node *n, uint64_t now_us)
{
    if (n->options->health_us > 0) {
        rlk_timer_set(&n->loop->timers, &n->health.timer,
                      rlk_time_add(now_us, n->options->health_us));
    }
}

void rlk_health_ask(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_request_kind kind = {on_health, on_broken};

    if (n->options->health_us > 0 && !n->health.asked && rlk_node_ready(n, now_us) &&
        now_us >= rlk_time_add(n->health.sent_us, AGAIN_AFTER_US)) {
        ask(n, &kind, now_us);
    }
}

static void on_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_node *n = RLK_CONTAINER(t, struct rlk_node, health.timer);

    rlk_health_ask(n, now_us);
    again_later(n, now_us);
}

void rlk_health_init(struct rlk_node *n)
{
    n->health = (struct rlk_health){0};
    rlk_timer_init(&n->health.timer, on_timer);
}

bool rlk_health_is_wanted(struct rlk_node *n)
{
    n->health.refused = n->health.asked = false;
    return is_wanted(n);
}

bool rlk_health_greet(struct rlk_node *n, const struct rlk_request_kind *kind, uint64_t now_us)
{
    return ask(n, kind, now_us);
}

/* The younger of the run and of its data. */
static uint64_t age_us(const struct rlk_node *n, const struct answer *a)
{
    uint64_t up_us = n->info.uptime_s < 0 ? RLK_NEVER : (uint64_t)n->info.uptime_s * 1000000;

    return a->mark ? rlk_time_min(up_us, rlk_time_sub(a->now_us, a->born_us)) : up_us;
}

void rlk_health_begin(struct rlk_node *n, const struct rlk_reply *reply, uint64_t now_us)
{
    struct answer a = {0};
    struct rlk_facts facts = {.run = n->info.run_id,
                              .durable = rlk_info_is_durable(&n->info),
                              .evicts = rlk_info_evicts(&n->info)};

    n->health.asked = false;
    if (reply && !read_answer(reply, &a)) {
        n->health.refused = !rlk_classify_refused_for_now(reply);
    }
    facts.mark = a.mark;
    facts.age_us = age_us(n, &a);
    if (n->standing.met && strcmp(n->standing.run, n->info.run_id) != 0) {
        n->hooks->replaced(n);
    }
    rlk_standing_greet(&n->standing, &facts, now_us);
    if (a.now_us) {
        tell_time(n, a.now_us, now_us);
    }
    again_later(n, now_us);
}

void rlk_health_expect(const struct rlk_node *n, char key[RLK_HEALTH_KEY_ROOM],
                       char start[RLK_HEALTH_START_ROOM])
{
    key[0] = start[0] = '\0';
    if (is_wanted(n) && n->standing.mark != 0) {
        write_key(n, key);
        snprintf(start, RLK_HEALTH_START_ROOM, "%.40s %016" PRIx64 " ", n->info.run_id,
                 n->standing.mark);
    }
}

void rlk_health_surprised(struct rlk_node *n, uint64_t now_us)
{
    rlk_standing_look(&n->standing, 0, now_us);
    rlk_health_ask(n, now_us);
}

void rlk_health_end(struct rlk_node *n)
{
    rlk_timer_cancel(&n->loop->timers, &n->health.timer);
}

bool rlk_health_explain(const struct rlk_node *n, uint64_t now_us, char *out, size_t size)
{
    static const char *const why[] = {
        [RLK_BAR_NONE] = "",
        [RLK_BAR_YOUNG] = "it has started, or lost its data, only just",
        [RLK_BAR_RESTARTED] = "it has restarted",
        [RLK_BAR_FORGOT] = "its data were thrown away",
        [RLK_BAR_CLOCK] = "its clock was set forward, or is too fast",
        [RLK_BAR_EVICTS] = ("it may throw keys away when memory is short: set its "
                            "maxmemory-policy to noeviction"),
    };
    uint64_t until_us;
    enum rlk_bar bar = rlk_standing_bar(&n->standing, now_us, &until_us);

    if (bar == RLK_BAR_NONE) {
        return false;
    }
    if (until_us == RLK_NEVER) {
        snprintf(out, size, "does not vote: %s", why[bar]);
    } else {
        snprintf(out, size, "does not vote for another %" PRIu64 " s (max_ttl; see quarantine): %s",
                 (until_us - now_us + 999999) / 1000000, why[bar]);
    }
    return true;
}
