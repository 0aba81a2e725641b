/* reply.c - writes the answers of the model as struct rlk_reply. */
#include "sim/reply.h"

#include <string.h>

#include "base/mask.h"
#include "election/terms.h"
#include "node/command.h"
#include "sim/masters.h"

static struct rlk_reply text_of(enum rlk_reply_type type, const char *str)
{
    size_t len = strlen(str);

    return (struct rlk_reply){type, type == RLK_REPLY_STRING ? (int64_t)len : 0, str, len};
}

static struct rlk_reply string(const char *str)
{
    return text_of(RLK_REPLY_STRING, str);
}

static struct rlk_reply integer(int64_t n)
{
    return (struct rlk_reply){RLK_REPLY_INTEGER, n, "", 0};
}

static struct rlk_reply array(int64_t n)
{
    return (struct rlk_reply){RLK_REPLY_ARRAY, n, "", 0};
}

/* ---- what a server reports about itself ---- */

/* Some servers know SET with NX and GET together, some do not; some of those do not know HELLO,
 * either. */
static bool knows_get(const struct world *w, unsigned node)
{
    return (w->o.returns_holder & rlk_mask_bit(node)) != 0;
}

static const char *version_of(const struct world *w, unsigned node)
{
    return knows_get(w, node) ? "7.2.4" : node % 2 ? "5.0.14" : "6.2.14";
}

static void write_hello(const struct world *w, unsigned wire, const struct message *m,
                        struct reply *out)
{
    unsigned node = w->wires[wire].node;
    const struct rlk_reply list[] = {array(14),
                                     string("server"),
                                     string("redis"),
                                     string("version"),
                                     string(version_of(w, node)),
                                     string("proto"),
                                     integer(2),
                                     string("id"),
                                     integer(wire + 1),
                                     string("mode"),
                                     string("standalone"),
                                     string("role"),
                                     string(m->replica ? "replica" : "master"),
                                     string("modules"),
                                     array(0)};

    if (!knows_get(w, node) && node % 2) {
        out->items[0] = text_of(RLK_REPLY_ERROR, "ERR unknown command `HELLO`, with args beginning "
                                                 "with: `2`, ");
        return;
    }
    memcpy(out->items, list, sizeof(list));
}

/* ---- texts, without printf, which would take half the time of a history ---- */

struct text {
    char *at;
};

static void put(struct text *t, const char *str)
{
    size_t len = strlen(str);

    memcpy(t->at, str, len + 1);
    t->at += len;
}

static void put_number(struct text *t, uint64_t n)
{
    char digits[24], *first = digits + sizeof(digits) - 1;

    *first = '\0';
    do {
        *--first = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    put(t, first);
}

static void put_hex(struct text *t, uint64_t n, unsigned digits)
{
    unsigned i;

    for (i = digits; i-- > 0; n >>= 4) {
        t->at[i] = "0123456789abcdef"[n & 15];
    }
    t->at += digits;
    *t->at = '\0';
}

static void put_run(struct text *t, unsigned run)
{
    put_hex(t, 0, 32);
    put_hex(t, run, 8);
}

static void write_server(const struct world *w, unsigned wire, const struct message *m,
                         struct text *t)
{
    int64_t up_s = m->facts.uptime_s;

    put(t, "# Server\r\nredis_version:");
    put(t, version_of(w, w->wires[wire].node));
    put(t, "\r\nredis_mode:standalone\r\nrun_id:");
    put_run(t, m->facts.run);
    put(t, up_s < 0 ? "\r\nuptime_in_seconds:-" : "\r\nuptime_in_seconds:");
    put_number(t, up_s < 0 ? (uint64_t)-up_s : (uint64_t)up_s);
    put(t, "\r\n");
}

static void write_replication(const struct message *m, struct text *t)
{
    put(t, m->replica ? "role:slave\r\nmaster_replid:" : "role:master\r\nmaster_replid:");
    put_hex(t, 2 * m->facts.promotion, 16);
    put_hex(t, 0, 24);
    put(t, m->facts.promotion ? "\r\nsecond_repl_offset:100\r\n" : "\r\nsecond_repl_offset:-1\r\n");
}

static void write_info(const struct world *w, unsigned wire, const struct message *m,
                       struct reply *out)
{
    struct text t = {out->text};

    switch (m->section) {
    case SECTION_SERVER:
        write_server(w, wire, m, &t);
        break;
    case SECTION_REPLICATION:
        write_replication(m, &t);
        break;
    case SECTION_MEMORY:
        put(&t, "# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n");
        break;
    case SECTION_PERSISTENCE:
        put(&t,
            m->facts.loading ? "# Persistence\r\nloading:1\r\n" : "# Persistence\r\nloading:0\r\n");
        put(&t, m->facts.durable ? "aof_enabled:1\r\n" : "aof_enabled:0\r\n");
        put(&t, "aof_last_write_status:ok\r\n");
        break;
    case SECTION_COMMANDSTATS:
        put(&t, "# Commandstats\r\ncmdstat_info:calls=1\r\n");
        put(&t, m->facts.flushed ? "cmdstat_flushall:calls=1\r\n" : "");
        break;
    case SECTION_STATS:
        put(&t, m->facts.replay_failed ? "# Stats\r\nunexpected_error_replies:3\r\n"
                                       : "# Stats\r\nunexpected_error_replies:0\r\n");
        break;
    }
    out->items[0] = string(out->text);
}

static void write_config(const struct message *m, struct reply *out)
{
    out->items[0] = array(4);
    out->items[1] = string("appendfsync");
    out->items[2] = string(m->facts.durable ? "always" : "everysec");
    out->items[3] = string("no-appendfsync-on-rewrite");
    out->items[4] = string("no");
}

/* "number id since", a line end, and the record; nil. */
static struct rlk_reply write_value_of_masters(const struct world *w, const struct on_record *there,
                                               struct reply *out)
{
    struct text t = {out->masters};

    if (there->number == 0) {
        return (struct rlk_reply){RLK_REPLY_NIL, 0, "", 0};
    }
    put_number(&t, there->number);
    put(&t, " ");
    put_hex(&t, there->id, 16);
    put(&t, " ");
    put_number(&t, there->since_us);
    put(&t, "\n");
    put(&t, masters_text(w, there->record));
    return string(out->masters);
}

/* {value, now} */
static void write_masters(const struct world *w, const struct message *m, struct reply *out)
{
    struct text now = {out->text};

    put_number(&now, m->server_us);
    out->items[0] = array(2);
    out->items[1] = write_value_of_masters(w, &m->masters, out);
    out->items[2] = string(out->text);
}

/* {"run mark born", now}, and perhaps the key of the record */
static void write_mark(const struct world *w, const struct message *m, struct reply *out)
{
    struct text t = {out->text}, now = {out->text + 200};

    put_run(&t, m->mark.run);
    put(&t, " ");
    put_hex(&t, m->mark.mark, 16);
    put(&t, " ");
    put_number(&t, m->mark.born_us);
    put_number(&now, m->server_us);
    out->items[0] = array(m->reads_masters ? 3 : 2);
    out->items[1] = string(out->text);
    out->items[2] = string(out->text + 200);
    if (m->denies_record) {
        out->items[3] = text_of(RLK_REPLY_ERROR, "NOPERM No permissions to access a key");
    } else if (m->reads_masters) {
        out->items[3] = write_value_of_masters(w, &m->masters, out);
    }
}

static void write_time(const struct message *m, struct reply *out)
{
    struct text s = {out->text}, us = {out->text + 24};

    put_number(&s, m->server_us / 1000000);
    put_number(&us, m->server_us % 1000000);
    out->items[0] = array(2);
    out->items[1] = string(out->text);
    out->items[2] = string(out->text + 24);
}

static void write_facts(const struct world *w, unsigned wire, const struct message *m,
                        struct reply *out)
{
    if (m->kind == MESSAGE_HELLO) {
        write_hello(w, wire, m, out);
    } else if (m->kind == MESSAGE_INFO) {
        write_info(w, wire, m, out);
    } else if (m->kind == MESSAGE_CONFIG) {
        write_config(m, out);
    } else if (m->kind == MESSAGE_MARK) {
        write_mark(w, m, out);
    } else if (m->kind == MESSAGE_MASTERS) {
        write_masters(w, m, out);
    } else {
        write_time(m, out);
    }
}

/* ---- the watch ---- */

static const char invalidations[] = "__redis__:invalidate";

static const char *channel_of(const struct world *w, unsigned wire)
{
    return w->clients[w->wires[wire].client].rl->options.wake_channel;
}

static void write_subscribed(const struct world *w, unsigned wire, const struct message *m,
                             struct reply *out)
{
    out->items[0] = array(3);
    out->items[1] = string("subscribe");
    out->items[2] = string(m->channel ? channel_of(w, wire) : invalidations);
    out->items[3] = integer(m->channel ? 1 : 2);
}

/* The name of a key or of a counter. */
static void put_key(struct text *t, unsigned key)
{
    bool counter = key >= SIM_STORED;

    key -= counter ? SIM_STORED : 0;
    put(t, "k");
    put_number(t, key % SIM_KEYS);
    put(t, key >= SIM_KEYS ? RLK_COMMAND_BID : "");
    put(t, counter ? RLK_COMMAND_COUNTER : "");
}

/* "MS RESERVATION" and a line end. */
static void put_reservation(struct text *t, const struct claim *c)
{
    put_number(t, c->ttl_ms);
    put(t, " ");
    memcpy(t->at, c->token, c->token_len);
    t->at += c->token_len;
    put(t, "\n");
}

void reply_write_push(const struct world *w, unsigned wire, enum push_kind kind, unsigned key,
                      struct reply *out)
{
    struct text t = {out->text};
    bool message = kind == PUSH_TURN || kind == PUSH_NEXT || kind == PUSH_RESERVED;

    put(&t, kind == PUSH_TURN ? "t" : kind == PUSH_NEXT ? "n" : "h");
    if (kind == PUSH_RESERVED) {
        put_reservation(&t, &w->claims[key >> 4]);
        key &= 15;
    }
    put_key(&t, key);
    out->items[0] = array(3);
    out->items[1] = string("message");
    out->items[2] = string(message ? channel_of(w, wire) : invalidations);
    out->items[3] = message ? string(out->text) : array(1);
    out->items[4] = string(out->text + 1);
    if (kind == PUSH_FLUSHED) {
        out->items[3] = (struct rlk_reply){RLK_REPLY_NIL, 0, "", 0};
    }
}

/* ---- any answer ---- */

/* The value of a key: the token of a claim, with its owner; "" for NONE. */
static void write_value(const struct world *w, unsigned claim, struct reply *out)
{
    const struct claim *c = &w->claims[claim];

    if (claim == NONE) {
        out->items[0] = string("");
        return;
    }
    memcpy(out->text, c->token, c->token_len);
    out->text[c->token_len] = '\0';
    out->items[0] = string(out->text);
}

void reply_write_parts(const struct message *m, unsigned parts, struct reply *out)
{
    unsigned i;

    for (i = 0; i < parts; i++) {
        if (m[i].answer == ANSWER_ERROR) {
            out->items[0] = text_of(RLK_REPLY_ERROR, m[i].error);
            return;
        }
        out->text[i] = m[i].answer == ANSWER_INTEGER && m[i].integer == 1 ? '1' : '0';
    }
    out->text[parts] = '\0';
    out->items[0] = string(out->text);
}

static void write_answer(const struct world *w, unsigned wire, const struct message *m,
                         struct reply *out)
{
    struct text t = {out->text};

    switch (m->answer) {
    case ANSWER_NONE:
    case ANSWER_NIL:
        out->items[0] = (struct rlk_reply){RLK_REPLY_NIL, 0, "", 0};
        break;
    case ANSWER_OK:
        out->items[0] = text_of(RLK_REPLY_STATUS, "OK");
        break;
    case ANSWER_ERROR:
        out->items[0] = text_of(RLK_REPLY_ERROR, m->error);
        break;
    case ANSWER_STRING:
        write_value(w, (unsigned)m->integer, out);
        break;
    case ANSWER_INTEGER:
        out->items[0] = integer(m->integer);
        break;
    case ANSWER_NUMBER:
        put_number(&t, (uint64_t)m->integer);
        out->items[0] = string(out->text);
        break;
    case ANSWER_POSITION:
        write_value(w, m->holder, out);
        out->items[3] = out->items[0];
        out->items[0] = array(3);
        out->items[1] = integer(m->integer);
        out->items[2] = integer(m->left_ms);
        break;
    case ANSWER_SUBSCRIBED:
        write_subscribed(w, wire, m, out);
        break;
    case ANSWER_PAIR:
        out->items[0] = array(2);
        out->items[1] = integer(m->integer);
        out->items[2] = integer(m->same);
        break;
    case ANSWER_FACTS:
        write_facts(w, wire, m, out);
        break;
    }
}

/* Behind why there is no entry; no such answer has more than three items. */
void reply_write(const struct world *w, unsigned wire, const struct message *m, struct reply *out)
{
    write_answer(w, wire, m, out);
    if (m->unaudited && m->answer != ANSWER_ERROR) {
        memmove(&out->items[2], out->items, 3 * sizeof(out->items[0]));
        out->items[0] = array(2);
        out->items[1] = text_of(RLK_REPLY_ERROR, "NOPERM User worker has no permissions to run "
                                                 "the 'xadd' command");
    }
}
