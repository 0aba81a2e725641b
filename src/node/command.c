/* command.c - writes SET and the scripts in RESP. */
#include "node/command.h"

#include <string.h>

#include "base/digits.h"
#include "base/rare.h"
#include "net/format.h"

/* A word of 2 or 3 bytes in RESP, made by the compiler. */
#define BULK2(text) "$2\r\n" text "\r\n"
#define BULK3(text) "$3\r\n" text "\r\n"

void rlk_command_init(struct rlk_command *c)
{
    c->bytes = NULL;
    c->len = 0;
}

void rlk_command_end(struct rlk_command *c)
{
    if (c->bytes && c->bytes != c->buffer) {
        rlk_format_free(c->bytes, c->len);
    }
    rlk_command_init(c);
}

int rlk_command_words(struct rlk_command *c, const char *const *words)
{
    rlk_command_init(c);
    return rlk_format_words(words, &c->bytes, &c->len);
}

/* What follows writes at `at` and returns the end of it: kept in a register, as nothing that is
 * written can change it. */

static inline char *put_bytes(char *at, const char *bytes, size_t len)
{
    memcpy(at, bytes, len);
    return at + len;
}

#define PUT(at, text) put_bytes(at, text, sizeof(text) - 1)

static char *put_decimal(char *at, uint64_t n, size_t digits)
{
    rlk_digits(n, at + digits);
    return at + digits;
}

/* The kind of what follows, and its length: "$40\r\n". */
static char *put_length(char *at, char kind, size_t n)
{
    *at++ = kind;
    return PUT(put_decimal(at, n, rlk_digits_count(n)), "\r\n");
}

static char *put_bulk(char *at, const char *text, size_t len)
{
    return PUT(put_bytes(put_length(at, '$', len), text, len), "\r\n");
}

static char *put_text(char *at, const char *text)
{
    return put_bulk(at, text, strlen(text));
}

static char *put_number(char *at, uint64_t n)
{
    size_t digits = rlk_digits_count(n);

    return PUT(put_decimal(put_length(at, '$', digits), n, digits), "\r\n");
}

static void finish(struct rlk_command *c, const char *at)
{
    c->bytes = c->buffer;
    c->len = (size_t)(at - c->buffer);
}

void rlk_command_set(struct rlk_command *c, const struct rlk_claim *claim, bool get)
{
    char *at = get ? PUT(c->buffer, "*7\r\n" BULK3("SET")) : PUT(c->buffer, "*6\r\n" BULK3("SET"));

    at = put_bulk(at, rlk_claim_keys(claim), claim->key_len[0]);
    at = put_bulk(at, rlk_claim_token(claim), claim->token_len);
    at = PUT(at, BULK2("NX") BULK2("PX"));
    at = put_number(at, claim->ttl_ms);
    finish(c, get ? PUT(at, BULK3("GET")) : at);
}

static char *put_keys(char *at, const struct rlk_claim *claim)
{
    const char *key = rlk_claim_keys(claim);
    unsigned i;

    for (i = 0; i < claim->n_keys; i++) {
        at = put_bulk(at, key, claim->key_len[i]);
        key += claim->key_len[i] + 1;
    }
    return at;
}

/* The script and how many keys it gets. The caller adds these and the arguments. */
static inline char *begin_call(struct rlk_command *c, const struct rlk_script *script, bool text,
                               unsigned n_keys, unsigned arguments)
{
    char *at = put_length(c->buffer, '*', n_keys + 3 + arguments);

    if (text) {
        at = put_bulk(PUT(at, "$4\r\nEVAL\r\n"), script->text, script->len);
    } else {
        at = PUT(at, "$7\r\nEVALSHA\r\n$40\r\n");
        at = PUT(put_bytes(at, script->sha, sizeof(script->sha) - 1), "\r\n");
    }
    return put_number(at, n_keys);
}

/* The script and the keys. The caller adds the arguments. */
static inline char *begin_keys(struct rlk_command *c, const struct rlk_script *script, bool text,
                               const struct rlk_claim *claim, unsigned arguments)
{
    return put_keys(begin_call(c, script, text, claim->n_keys, arguments), claim);
}

/* The same and the token. The caller adds `more` arguments. */
static inline char *begin_script(struct rlk_command *c, const struct rlk_script *script, bool text,
                                 const struct rlk_claim *claim, unsigned more)
{
    char *at = begin_keys(c, script, text, claim, 1 + more);

    return put_bulk(at, rlk_claim_token(claim), claim->token_len);
}

/* ---- the audit stream ---- */

/* What an entry says. Fields that are 0 or NULL are left out. */
struct entry {
    const char *event;
    const char *token; /* of the lock that it is about */
    uint32_t ttl_ms;
    uint64_t fence;
    const char *by, *to; /* who did it; who is to have the lock */
};

/* How many arguments an entry takes; none without a stream. */
static unsigned entry_words(const struct rlk_audit *audit, const struct entry *e)
{
    unsigned fields = (e->ttl_ms != 0) + (e->fence != 0) + (e->by != NULL) + (e->to != NULL);

    return audit ? 8 + 2 * fields : 0;
}

/* Who reads the stream must not be able to release the lock: so it gets the beginning of a token
 * that we have made, as a trace does, and nothing of another one. */
static char *put_id(char *at, const char *token)
{
    return put_bulk(PUT(at, BULK2("id")), token, rlk_claim_is_fresh(token) ? RLK_TOKEN_ID : 0);
}

RLK_COLD static char *write_entry(char *at, const struct rlk_audit *audit, const struct entry *e)
{
    at = put_number(put_text(at, audit->stream), audit->entries);
    at = put_text(PUT(at, "$5\r\nevent\r\n"), e->event);
    at = put_id(at, e->token);
    at = put_text(PUT(at, "$5\r\nowner\r\n"), rlk_claim_owner(e->token));
    if (e->ttl_ms) {
        at = put_number(PUT(at, BULK3("ttl")), e->ttl_ms);
    }
    if (e->fence) {
        at = put_number(PUT(at, "$5\r\nfence\r\n"), e->fence);
    }
    at = e->by ? put_text(PUT(at, BULK2("by")), e->by) : at;
    return e->to ? put_text(PUT(at, BULK2("to")), e->to) : at;
}

static inline char *put_entry(char *at, const struct rlk_audit *audit, const struct entry *e)
{
    return audit ? write_entry(at, audit, e) : at;
}

/* ---- scripts ---- */

/* What only hand-overs and the audit stream need is written by these: each further use of the
 * functions above would keep the compiler from copying them into the commands of every lock. */

RLK_RARE static char *begin_seldom(struct rlk_command *c, const struct rlk_script *script,
                                   bool text, const struct rlk_claim *claim, unsigned more)
{
    return begin_script(c, script, text, claim, more);
}

RLK_RARE static char *put_text_seldom(char *at, const char *text)
{
    return put_text(at, text);
}

RLK_RARE static char *put_number_seldom(char *at, uint64_t n)
{
    return put_number(at, n);
}

/* Tells the script whether to wake the next waiter: our channel; '-': wake nobody. */
static const char *woken_by(const struct rlk_claim *claim)
{
    return claim->channel ? claim->channel : "-";
}

/* With an entry behind it the channel cannot be left out. */
RLK_RARE static void format_audited_release(struct rlk_command *c, const struct rlk_claim *claim,
                                            bool text, const struct rlk_audit *audit)
{
    const char *event = claim->was_lost ? "lost" : claim->channel ? "released" : "withdrawn";
    struct entry e = {.event = event, .token = rlk_claim_token(claim), .fence = claim->fence};
    char *at = begin_seldom(c, &rlk_script_release, text, claim, 1 + entry_words(audit, &e));

    at = put_text_seldom(at, woken_by(claim));
    finish(c, put_entry(at, audit, &e));
}

void rlk_command_release(struct rlk_command *c, const struct rlk_claim *claim, bool text,
                         const struct rlk_audit *audit)
{
    char *at;

    if (audit) {
        format_audited_release(c, claim, text, audit);
        return;
    }
    at = begin_script(c, &rlk_script_release, text, claim, *woken_by(claim) ? 1 : 0);
    finish(c, *woken_by(claim) ? put_text(at, woken_by(claim)) : at);
}

void rlk_command_hand_over(struct rlk_command *c, const struct rlk_claim *claim, uint32_t ttl_ms,
                           bool text, const struct rlk_audit *audit)
{
    struct entry e = {.event = "handed over",
                      .token = rlk_claim_token(claim),
                      .fence = claim->fence,
                      .to = rlk_claim_reserved_for(claim->reservation)};
    char *at = begin_seldom(c, &rlk_script_hand_over, text, claim, 3 + entry_words(audit, &e));

    at = put_text_seldom(put_text_seldom(at, claim->channel), claim->reservation);
    finish(c, put_entry(put_number_seldom(at, ttl_ms), audit, &e));
}

/* Set or keep: the ttl follows, and the fencing token when the lock has one. */
static void format_with_ttl(struct rlk_command *c, const struct rlk_script *script, bool text,
                            const struct rlk_claim *claim, uint32_t ttl_ms)
{
    char *at = begin_script(c, script, text, claim, claim->fence ? 2 : 1);

    at = put_number(at, ttl_ms);
    finish(c, claim->fence ? put_number(at, claim->fence) : at);
}

/* With something behind them, the fencing token and the reservation cannot be left out: '' is the
 * same. reservation NULL: the script has no such argument. */
RLK_RARE static void format_with_more(struct rlk_command *c, const struct rlk_script *script,
                                      bool text, const struct rlk_claim *claim, uint32_t ttl_ms,
                                      const char *reservation, const struct entry *e,
                                      const struct rlk_audit *audit)
{
    char *at = begin_seldom(c, script, text, claim, (reservation ? 3 : 2) + entry_words(audit, e));

    at = put_number_seldom(at, ttl_ms);
    at = claim->fence ? put_number_seldom(at, claim->fence) : put_text_seldom(at, "");
    at = reservation ? put_text_seldom(at, reservation) : at;
    finish(c, put_entry(at, audit, e));
}

void rlk_command_set_all(struct rlk_command *c, const struct rlk_claim *claim, uint32_t ttl_ms,
                         bool text, const struct rlk_audit *audit)
{
    const char *reservation = claim->reservation ? claim->reservation : "";

    if (claim->reservation || audit) {
        format_with_more(c, &rlk_script_set_all, text, claim, ttl_ms, reservation,
                         &(struct entry){.event = "acquired",
                                         .token = rlk_claim_token(claim),
                                         .ttl_ms = ttl_ms,
                                         .fence = claim->fence},
                         audit);
    } else {
        format_with_ttl(c, &rlk_script_set_all, text, claim, ttl_ms);
    }
}

void rlk_command_keep(struct rlk_command *c, const struct rlk_claim *claim, uint32_t ttl_ms,
                      bool text, const struct rlk_audit *audit)
{
    if (audit) {
        format_with_more(c, &rlk_script_keep, text, claim, ttl_ms, NULL,
                         &(struct entry){.event = "adopted",
                                         .token = rlk_claim_token(claim),
                                         .ttl_ms = ttl_ms,
                                         .fence = claim->fence},
                         audit);
    } else {
        format_with_ttl(c, &rlk_script_keep, text, claim, ttl_ms);
    }
}

/* Each key, the token and the fencing token: a length with its "$" and two line ends. */
#define WORD_SIZE 16

size_t rlk_command_keep_size(const struct rlk_claim *claim)
{
    size_t size = (claim->n_keys + 1) * WORD_SIZE + claim->token_len + 2 * WORD_SIZE;
    unsigned i;

    for (i = 0; i < claim->n_keys; i++) {
        size += claim->key_len[i];
    }
    return size;
}

void rlk_command_keep_all(struct rlk_command *c, struct rlk_claim *const *claims, unsigned n,
                          uint32_t ttl_ms, bool text)
{
    bool fenced = claims[0]->fence != 0;
    unsigned each = claims[0]->n_keys, i;
    char *at = begin_call(c, &rlk_script_keep_all, text, n * each, 2 + n + (fenced ? n : 0));

    for (i = 0; i < n; i++) {
        at = put_keys(at, claims[i]);
    }
    at = put_number(at, ttl_ms);
    at = put_number(at, each);
    for (i = 0; i < n; i++) {
        at = put_bulk(at, rlk_claim_token(claims[i]), claims[i]->token_len);
    }
    for (i = 0; i < n && fenced; i++) {
        at = put_number(at, claims[i]->fence);
    }
    finish(c, at);
}

static void format_vote(struct rlk_command *c, const struct rlk_script *script, bool text,
                        const struct rlk_claim *claim)
{
    char *at = put_number(begin_script(c, script, text, claim, 4), claim->ttl_ms);

    finish(c, put_number(at, claim->hint));
    c->common = c->len;
    c->behind.claim = NULL;
}

/* The script adds the fencing token to the entry. */
static struct entry entry_of_vote(const struct rlk_claim *claim, const char *event)
{
    return (struct entry){.event = event, .token = rlk_claim_token(claim), .ttl_ms = claim->ttl_ms};
}

/* reservation NULL: the script has no such argument. */
RLK_RARE static void format_vote_with_more(struct rlk_command *c, const struct rlk_script *script,
                                           bool text, const struct rlk_claim *claim,
                                           const char *reservation, const char *event,
                                           const struct rlk_audit *audit)
{
    struct entry e = entry_of_vote(claim, event);
    char *at = begin_seldom(c, script, text, claim, (reservation ? 5 : 4) + entry_words(audit, &e));

    at = put_number_seldom(at, claim->ttl_ms);
    finish(c, put_number_seldom(at, claim->hint));
    c->common = c->len;
    c->behind.claim = claim;
    c->behind.reservation = reservation;
    c->behind.event = event;
    c->behind.audit = audit;
}

void rlk_command_vote(struct rlk_command *c, const struct rlk_claim *claim, bool text,
                      const struct rlk_audit *audit)
{
    const char *reservation = claim->reservation ? claim->reservation : "";

    if (claim->reservation || audit) {
        format_vote_with_more(c, &rlk_script_vote, text, claim, reservation, "acquired", audit);
    } else {
        format_vote(c, &rlk_script_vote, text, claim);
    }
}

void rlk_command_adopt(struct rlk_command *c, const struct rlk_claim *claim, bool text,
                       const struct rlk_audit *audit)
{
    if (audit) {
        format_vote_with_more(c, &rlk_script_adopt, text, claim, NULL, "adopted", audit);
    } else {
        format_vote(c, &rlk_script_adopt, text, claim);
    }
}

RLK_RARE static void add_behind(struct rlk_command *c)
{
    struct entry e = entry_of_vote(c->behind.claim, c->behind.event);
    char *at = c->buffer + c->len;

    at = c->behind.reservation ? put_text_seldom(at, c->behind.reservation) : at;
    finish(c, put_entry(at, c->behind.audit, &e));
}

void rlk_command_mark(struct rlk_command *c, const char *key, const char *start)
{
    finish(c, put_text(put_text(c->buffer + c->common, key), start));
    if (c->behind.claim) {
        add_behind(c);
    }
}

void rlk_command_confirm(struct rlk_command *c, const struct rlk_claim *claim, bool text)
{
    finish(c, put_number(begin_script(c, &rlk_script_confirm, text, claim, 1), claim->fence));
}

void rlk_command_swap(struct rlk_command *c, const struct rlk_claim *claim, const char *former,
                      bool text, const struct rlk_audit *audit)
{
    const char *by = rlk_claim_owner(rlk_claim_token(claim));
    struct entry e = {.event = "broken", .token = former, .by = by + strlen(REDLOCK_BROKEN_BY)};
    char *at = begin_script(c, &rlk_script_swap, text, claim, 1 + entry_words(audit, &e));

    finish(c, put_entry(put_text(at, former), audit, &e));
}

void rlk_command_wait(struct rlk_command *c, const struct rlk_claim *claim, uint64_t waited_us,
                      const char *channel, bool text)
{
    char *at = put_text(begin_keys(c, &rlk_script_wait, text, claim, 4), channel);

    at = put_number(at, waited_us);
    at = put_number(at, claim->yields);
    finish(c, put_number(at, RLK_COMMAND_WAITING_MS));
}

void rlk_command_leave(struct rlk_command *c, const struct rlk_claim *claim, const char *channel,
                       bool text)
{
    finish(c, put_text(begin_keys(c, &rlk_script_leave, text, claim, 1), channel));
}

void rlk_command_delete(struct rlk_command *c, const struct rlk_claim *claim,
                        enum rlk_native native)
{
    char *at;

    if (native == RLK_NATIVE_DELEX) {
        at = put_keys(PUT(c->buffer, "*4\r\n$5\r\nDELEX\r\n"), claim);
        at = PUT(at, "$4\r\nIFEQ\r\n");
    } else {
        at = put_keys(PUT(c->buffer, "*3\r\n$7\r\nDELIFEQ\r\n"), claim);
    }
    finish(c, put_bulk(at, rlk_claim_token(claim), claim->token_len));
}

void rlk_command_exist(struct rlk_command *c, const struct rlk_claim *claim)
{
    char *at = PUT(put_length(c->buffer, '*', claim->n_keys + 1u), "$6\r\nEXISTS\r\n");

    finish(c, put_keys(at, claim));
}

/* The name of the first key with `ending` behind it. */
static char *put_named(char *at, const struct rlk_claim *claim, const char *ending)
{
    size_t len = claim->key_len[0], more = strlen(ending);

    at = put_bytes(put_length(at, '$', len + more), rlk_claim_keys(claim), len);
    return PUT(put_bytes(at, ending, more), "\r\n");
}

void rlk_command_exist_counted(struct rlk_command *c, const struct rlk_claim *claim)
{
    char *at = put_named(PUT(c->buffer, "*3\r\n$6\r\nEXISTS\r\n"), claim, "");

    finish(c, put_named(at, claim, RLK_COMMAND_COUNTER));
}

void rlk_command_ask(struct rlk_command *c, const char *verb, const struct rlk_claim *claim,
                     const char *ending)
{
    finish(c, put_named(put_text(PUT(c->buffer, "*2\r\n"), verb), claim, ending));
}

static bool is_glob(char byte)
{
    return byte == '*' || byte == '?' || byte == '[' || byte == ']' || byte == '\\';
}

/* The prefix with a '*' behind it, as a pattern that means just that. */
static char *put_prefix(char *at, const struct rlk_key *prefix)
{
    char pattern[2 * REDLOCK_MAX_KEY + 1];
    size_t len = 0, i;

    for (i = 0; i < prefix->len; i++) {
        if (is_glob(prefix->bytes[i])) {
            pattern[len++] = '\\';
        }
        pattern[len++] = prefix->bytes[i];
    }
    pattern[len++] = '*';
    return put_bulk(at, pattern, len);
}

void rlk_command_scan(struct rlk_command *c, uint64_t cursor, const struct rlk_key *prefix,
                      unsigned count)
{
    char *at = put_number(PUT(c->buffer, "*8\r\n$4\r\nSCAN\r\n"), cursor);

    at = put_prefix(PUT(at, "$5\r\nMATCH\r\n"), prefix);
    at = put_number(PUT(at, "$5\r\nCOUNT\r\n"), count);
    finish(c, PUT(at, "$4\r\nTYPE\r\n$6\r\nstring\r\n"));
}

/* Of a part: how many entries the server looks at; and how many it returns, as far as a reply has
 * room for them (net/reply.h). */
#define HISTORY_LOOKS 100
#define HISTORY_FINDS 12

void rlk_command_history(struct rlk_command *c, const struct rlk_claim *claim, const char *stream,
                         const char *newest, const char *oldest, bool text)
{
    char *at = put_text(begin_call(c, &rlk_script_history, text, 1, 5), stream);

    at = put_bulk(at, rlk_claim_keys(claim), claim->key_len[0]);
    at = put_text(put_text(at, newest), oldest);
    at = put_number(at, HISTORY_LOOKS);
    finish(c, put_number(at, HISTORY_FINDS));
}
