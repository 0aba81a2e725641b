/* command.c - reading RESP, and finding the script by its text or SHA-1. */
#include "sim/command.h"

#include <string.h>
#include <strings.h>

#include "election/terms.h"
#include "node/command.h"
#include "node/inspect.h"
#include "scripts/scripts.h"
#include "sim/check.h"
#include "sim/masters.h"

#define WORDS 32

struct word {
    const char *text; /* followed by a CR */
    size_t len;
};

struct words {
    unsigned n;
    struct word word[WORDS];
};

/* Inlined: the length of a literal is known then, and most words differ in that, or soon after. */
__attribute__((always_inline)) static inline bool is(const struct word *w, const char *text)
{
    size_t len = strlen(text);

    return w->len == len &&
           (memcmp(w->text, text, len) == 0 || strncasecmp(w->text, text, len) == 0);
}

static uint64_t number(const struct word *w)
{
    uint64_t n = 0;
    size_t i;

    for (i = 0; i < w->len; i++) {
        n = n * 10 + (uint64_t)(w->text[i] - '0');
    }
    return n;
}

static uint64_t hex(const char *text, unsigned digits)
{
    uint64_t n = 0;
    unsigned i;

    for (i = 0; i < digits; i++) {
        n = n << 4 | (uint64_t)(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
    }
    return n;
}

/* A count after `mark`, and the end of its line; 0 when there is no count. */
static size_t count(const char **at, const char *end, char mark)
{
    size_t n = 0;
    const char *p = *at;

    if (p >= end || *p++ != mark) {
        return 0;
    }
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        n = n * 10 + (size_t)(*p - '0');
    }
    if (p + 2 > end || p[0] != '\r' || p[1] != '\n') {
        return 0;
    }
    *at = p + 2;
    return n;
}

/* "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n" and nothing after it. A word may be empty. */
static bool split(const char *bytes, size_t len, struct words *out)
{
    const char *at = bytes, *end = bytes + len;
    size_t n = count(&at, end, '*'), size;

    out->n = 0;
    while (at < end && out->n < n && n <= WORDS) {
        size = count(&at, end, '$');
        if (size + 2 > (size_t)(end - at)) {
            return false;
        }
        out->word[out->n++] = (struct word){at, size};
        at += size + 2;
    }
    return out->n == n && n > 0 && at == end;
}

/* ---- scripts ---- */

static const struct {
    enum message_kind kind;
    const struct rlk_script *script;
} scripts[] = {{MESSAGE_RELEASE, &rlk_script_release},     {MESSAGE_TAKE, &rlk_script_set_all},
               {MESSAGE_KEEP, &rlk_script_keep},           {MESSAGE_VOTE, &rlk_script_vote},
               {MESSAGE_ADOPT, &rlk_script_adopt},         {MESSAGE_CONFIRM, &rlk_script_confirm},
               {MESSAGE_MARK, &rlk_script_incarnation},    {MESSAGE_WAIT, &rlk_script_wait},
               {MESSAGE_LEAVE, &rlk_script_leave},         {MESSAGE_SWAP, &rlk_script_swap},
               {MESSAGE_HAND_OVER, &rlk_script_hand_over}, {MESSAGE_MASTERS, &rlk_script_masters}};

/* By its text, or by its SHA-1. Most differ in their lengths or in their first bytes, which the
 * compiler compares without a call. */
static bool is_script(const struct word *w, const struct rlk_script *s, bool text)
{
    const char *bytes = text ? s->text : s->sha;

    return w->len == (text ? s->len : 40) && memcmp(w->text, bytes, 8) == 0 &&
           memcmp(w->text, bytes, w->len) == 0;
}

static bool find_script(const struct word *w, bool text, struct message *m)
{
    unsigned i;

    for (i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        if (is_script(w, scripts[i].script, text)) {
            m->kind = scripts[i].kind;
            return true;
        }
    }
    return false;
}

/* ---- keys, tokens, marks ---- */

unsigned command_claim(const struct world *w, const char *token, size_t len)
{
    unsigned claim = len >= RLK_TOKEN_HEX ? (unsigned)hex(token, 8) : NONE;

    return claim < w->n_claims && w->claims[claim].token_len == len &&
                   memcmp(w->claims[claim].token, token, len) == 0
               ? claim
               : NONE;
}

/* The reservation with this text, or NONE. */
static unsigned read_reservation(const struct world *w, const struct word *text)
{
    size_t len = strlen(RLK_RESERVED);
    unsigned former = text->len > len + RLK_TOKEN_HEX ? (unsigned)hex(text->text + len, 8) : NONE;
    unsigned claim = former < w->n_claims ? w->claims[former].reservation : NONE;

    return claim != NONE && w->claims[claim].token_len == text->len &&
                   memcmp(w->claims[claim].token, text->text, text->len) == 0
               ? claim
               : NONE;
}

/* Take an ending off a name. */
static bool ends(struct word *w, const char *ending)
{
    size_t len = strlen(ending);

    if (w->len < len || memcmp(w->text + w->len - len, ending, len) != 0) {
        return false;
    }
    w->len -= len;
    return true;
}

/* "k0", the key of bids for it, or the counter of one of these. */
static unsigned read_key(struct word w)
{
    bool counter = ends(&w, RLK_COMMAND_COUNTER);
    bool bid = ends(&w, RLK_COMMAND_BID);
    unsigned key;

    if (w.len != 2 || w.text[0] != 'k' || w.text[1] < '0' || w.text[1] >= '0' + SIM_KEYS) {
        return 0;
    }
    key = (unsigned)(w.text[1] - '0') + (bid ? SIM_KEYS : 0);
    return 1U << (counter ? world_counter(key) : key);
}

static unsigned read_keys(const struct word *keys, unsigned n)
{
    unsigned bits = 0, i;

    for (i = 0; i < n; i++) {
        bits |= read_key(keys[i]);
    }
    return bits;
}

/* "redlock:wake:" and 16 hex digits; 0 for another text. */
static uint64_t read_channel(const struct word *w)
{
    static const char prefix[] = "redlock:wake:";
    size_t len = sizeof(prefix) - 1;

    return w->len == len + 16 && memcmp(w->text, prefix, len) == 0 ? hex(w->text + len, 16) : 0;
}

/* The keys are those of the claim; the checkers know them. */
static bool read_claim(const struct world *w, const struct word *keys, unsigned n,
                       const struct word *token, struct message *m)
{
    unsigned asked = read_keys(keys, n);

    m->claim = command_claim(w, token->text, token->len);
    m->reservation = NONE;
    return m->claim != NONE && asked == w->claims[m->claim].keys;
}

/* As reply.c writes it: 40 hex digits. */
static unsigned read_run(const char *text)
{
    return (unsigned)hex(text + 32, 8);
}

/* "run mark ", or empty. */
static void read_expected(const struct word *w, struct mark *mark)
{
    if (w->len > 41) {
        mark->run = read_run(w->text);
        mark->mark = hex(w->text + 41, 16);
    }
}

/* ---- commands ---- */

/* EVAL script 1 key run mark keeps note record */
static bool read_mark(const struct word *arg, struct message *m)
{
    if (!is(&arg[0], RLK_COMMAND_INCARNATION) || arg[1].len != 40 || arg[2].len != 16) {
        return false;
    }
    m->mark = (struct mark){.run = read_run(arg[1].text), .mark = hex(arg[2].text, 16)};
    m->keeps = is(&arg[3], "1");
    m->note_us = number(&arg[4]);
    m->reads_masters = is(&arg[5], RLK_COMMAND_RECORD);
    return m->reads_masters || arg[5].len == 0;
}

/* EVAL script 1 key number id record */
static bool read_masters(struct world *w, const struct word *arg, struct message *m)
{
    if (!is(&arg[0], RLK_COMMAND_RECORD) || arg[2].len != 16) {
        return false;
    }
    m->masters = (struct on_record){.number = number(&arg[1]),
                                    .id = hex(arg[2].text, 16),
                                    .record = masters_keep(w, arg[3].text, arg[3].len)};
    m->masters.accepted = m->masters.number;
    m->masters.accepted_id = m->masters.id;
    return m->masters.number > 0;
}

/* [H2] take: ttl fence reservation; vote: ttl hint key start reservation. The fence may be empty.
 */
static bool read_reserved(const struct world *w, const struct word *arg, unsigned n,
                          struct message *m)
{
    unsigned last = m->kind == MESSAGE_TAKE ? 2 : 4;

    m->reservation = NONE;
    if (n == last + 1 && w->o.audit && arg[last].len == 0) {
        return true;
    }
    if ((m->kind == MESSAGE_TAKE || m->kind == MESSAGE_VOTE) && n == last + 1) {
        m->reservation = read_reservation(w, &arg[last]);
        return m->reservation != NONE;
    }
    return true;
}

/* hand_over: channel reservation ms */
static bool read_hand_over(const struct world *w, const struct word *arg, unsigned n,
                           struct message *m)
{
    m->wakes = true;
    m->channel = n == 3 ? read_channel(&arg[0]) : 0;
    m->reservation = n == 3 ? read_reservation(w, &arg[1]) : NONE;
    m->ttl_ms = n == 3 ? (uint32_t)number(&arg[2]) : 0;
    return m->reservation != NONE && (m->channel != 0 || arg[0].len == 0);
}

/* How many arguments of its own a script has when an entry follows them. */
static unsigned own_before_entry(const struct message *m)
{
    static const struct {
        enum message_kind kind;
        unsigned n;
    } rows[] = {{MESSAGE_VOTE, 5},
                {MESSAGE_ADOPT, 4},
                {MESSAGE_TAKE, 3},
                {MESSAGE_HAND_OVER, 3},
                {MESSAGE_KEEP, 2}};
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].kind == m->kind) {
            return rows[i].n;
        }
    }
    return 1;
}

/* Whether a script of this kind must have an entry for the audit stream. */
static bool has_entry(const struct world *w, const struct message *m, unsigned n)
{
    if (m->kind == MESSAGE_TAKE || m->kind == MESSAGE_KEEP) {
        return w->o.audit && n > own_before_entry(m); /* the watch knows which */
    }
    return w->o.audit != 0;
}

static enum entry read_event(const struct word *w)
{
    static const char *const names[ENTRY_KINDS] = {"-",    "acquired",  "adopted", "released",
                                                   "lost", "withdrawn", "broken",  "handed over"};
    unsigned i = 1;

    while (i < ENTRY_KINDS && !is(w, names[i])) {
        i++;
    }
    return i < ENTRY_KINDS ? (enum entry)i : ENTRY_NONE;
}

/* Stream, how many, event, id, owner; then perhaps others. It is about the claim that it names. */
static bool read_entry(const struct world *w, const struct word *arg, unsigned n, struct message *m)
{
    unsigned about = m->kind == MESSAGE_SWAP ? m->holder : m->claim;

    if (n == 0) {
        return !w->o.audit || m->kind == MESSAGE_TAKE || m->kind == MESSAGE_KEEP ||
               m->kind == MESSAGE_CONFIRM;
    }
    if (n < 8 || n % 2 || !is(&arg[0], RLK_COMMAND_AUDIT) || number(&arg[1]) != w->o.audit ||
        !is(&arg[2], "event") || !is(&arg[4], "id") || !is(&arg[6], "owner") || arg[5].len != 8) {
        return false;
    }
    m->entry = read_event(&arg[3]);
    return m->entry != ENTRY_NONE && hex(arg[5].text, 8) == about;
}

/* Their own arguments, without an entry. */
static bool read_own(const struct world *w, const struct word *arg, unsigned n, struct message *m)
{
    if (!read_reserved(w, arg, n, m)) {
        return false;
    }
    if (m->kind == MESSAGE_TAKE || m->kind == MESSAGE_KEEP) {
        m->ttl_ms = n > 0 ? (uint32_t)number(&arg[0]) : 0;
        m->fence = n > 1 && arg[1].len > 0 ? number(&arg[1]) : 0;
        return n == 1 || n == 2 || m->reservation != NONE ||
               (n == own_before_entry(m) && w->o.audit);
    }
    if ((m->kind == MESSAGE_VOTE || m->kind == MESSAGE_ADOPT) &&
        (n == 4 || (n == 5 && (m->reservation != NONE || w->o.audit)))) {
        m->ttl_ms = (uint32_t)number(&arg[0]);
        m->fence = number(&arg[1]);
        read_expected(&arg[3], &m->mark);
        return true;
    }
    if (m->kind == MESSAGE_CONFIRM && n == 1) {
        m->fence = number(&arg[0]);
        return true;
    }
    if (m->kind == MESSAGE_SWAP && n == 1) {
        m->holder = command_claim(w, arg[0].text, arg[0].len);
        return m->holder != NONE;
    }
    if (m->kind == MESSAGE_HAND_OVER) {
        return read_hand_over(w, arg, n, m);
    }
    if (m->kind == MESSAGE_RELEASE && n <= 1) {
        m->wakes = n == 0 || !is(&arg[0], "-");
        m->channel = n == 0 ? 0 : read_channel(&arg[0]);
        return n == 0 || m->channel != 0 || arg[0].len == 0 || !m->wakes;
    }
    return false;
}

/* The arguments after the keys and the token. */
static bool read_arguments(const struct world *w, const struct word *arg, unsigned n,
                           struct message *m)
{
    unsigned own = m->kind != MESSAGE_CONFIRM && has_entry(w, m, n) ? own_before_entry(m) : n;

    return n >= own && read_own(w, arg, own, m) && read_entry(w, arg + own, n - own, m);
}

/* wait: channel waited yields life; leave: channel, or "" */
static bool read_waiting(const struct word *arg, unsigned n, struct message *m)
{
    m->channel = read_channel(&arg[0]);
    if (m->kind == MESSAGE_WAIT && n == 4) {
        m->waited_us = number(&arg[1]);
        m->yields = is(&arg[2], "1");
        m->ttl_ms = (uint32_t)number(&arg[3]);
        return m->channel != 0 && (m->yields || is(&arg[2], "0"));
    }
    return m->kind == MESSAGE_LEAVE && n == 1 && (m->channel != 0 || arg[0].len == 0);
}

/* EVAL text n key... argument..., or EVALSHA with its hash */
static bool read_script(struct world *w, const struct words *words, struct message *m)
{
    const struct word *word = words->word;
    unsigned n = words->n > 3 ? (unsigned)number(&word[2]) : 0;

    if (n == 0 || n > SIM_KEYS || words->n < 4 + n || !find_script(&word[1], m->text, m)) {
        return false;
    }
    if (m->kind == MESSAGE_MARK) {
        return words->n == 9 && n == 1 && read_mark(&word[3], m);
    }
    if (m->kind == MESSAGE_MASTERS) {
        return words->n == 7 && n == 1 && read_masters(w, &word[3], m);
    }
    if (m->kind == MESSAGE_WAIT || m->kind == MESSAGE_LEAVE) {
        m->keys = read_keys(&word[3], n);
        return read_waiting(&word[3 + n], words->n - 3 - n, m);
    }
    return read_claim(w, &word[3], n, &word[3 + n], m) &&
           read_arguments(w, &word[4 + n], words->n - 4 - n, m);
}

/* SET key token NX PX ttl [GET] */
static bool read_set(const struct world *w, const struct words *words, struct message *m)
{
    const struct word *word = words->word;

    m->kind = MESSAGE_SET;
    m->get = words->n == 7;
    m->ttl_ms = (uint32_t)number(&word[5]);
    return !w->o.audit && (words->n == 6 || (m->get && is(&word[6], "GET"))) &&
           is(&word[3], "NX") && is(&word[4], "PX") && read_claim(w, &word[1], 1, &word[2], m);
}

static bool read_info(const struct word *section, struct message *m)
{
    static const char *const names[] = {[SECTION_SERVER] = "server",
                                        [SECTION_REPLICATION] = "replication",
                                        [SECTION_MEMORY] = "memory",
                                        [SECTION_PERSISTENCE] = "persistence",
                                        [SECTION_COMMANDSTATS] = "commandstats",
                                        [SECTION_STATS] = "stats"};
    unsigned i;

    m->kind = MESSAGE_INFO;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (is(section, names[i])) {
            m->section = (enum section)i;
            return true;
        }
    }
    return false;
}

/* CLIENT TRACKING ON REDIRECT id OPTIN, CLIENT CACHING YES */
static bool read_tracking(const struct words *words, struct message *m)
{
    const struct word *word = words->word;

    m->kind = MESSAGE_CACHING;
    if (words->n == 6 && is(&word[1], "TRACKING")) {
        m->kind = MESSAGE_TRACKING;
        m->claim = (unsigned)number(&word[4]) - 1;
        return is(&word[2], "ON") && is(&word[3], "REDIRECT") && is(&word[5], "OPTIN");
    }
    return words->n == 3 && is(&word[1], "CACHING") && is(&word[2], "YES");
}

/* "__redis__:invalidate", or the channel of a manager. */
static bool read_subscribe(const struct word *channel, struct message *m)
{
    m->kind = MESSAGE_SUBSCRIBE;
    m->channel = read_channel(channel);
    return m->channel != 0 || is(channel, "__redis__:invalidate");
}

/* CLIENT SETNAME name, CLIENT ID, CLIENT KILL ID id */
static bool read_client(const struct words *words, struct message *m)
{
    const struct word *word = words->word;

    if (words->n == 3 && is(&word[1], "SETNAME")) {
        m->kind = MESSAGE_NAME;
    } else if (words->n == 2 && is(&word[1], "ID")) {
        m->kind = MESSAGE_ID;
    } else if (words->n == 4 && is(&word[1], "KILL") && is(&word[2], "ID")) {
        m->kind = MESSAGE_KILL;
        m->claim = (unsigned)number(&word[3]) - 1;
    } else {
        return read_tracking(words, m);
    }
    return true;
}

static bool read_load(const struct word *text, struct message *m)
{
    bool known = find_script(text, true, m) && m->kind == MESSAGE_RELEASE;

    m->kind = MESSAGE_LOAD;
    return known;
}

/* Commands that only read keys: of a look, and of whoever waits. */
static bool read_look(const struct words *words, struct message *m)
{
    const struct word *word = words->word;

    if (is(&word[0], "EXISTS")) {
        m->kind = MESSAGE_EXISTS;
    } else if (is(&word[0], "GET") && words->n == 2) {
        m->kind = MESSAGE_GET;
    } else if (is(&word[0], "PTTL") && words->n == 2) {
        m->kind = MESSAGE_PTTL;
    } else {
        return false;
    }
    m->keys = read_keys(&word[1], words->n - 1);
    return m->keys != 0;
}

/* DELEX [key IFEQ token], DELIFEQ [key token]: not if the command is another one. */
static bool read_delete(const struct world *w, const struct words *words, enum rlk_native native,
                        struct message *m)
{
    const struct word *word = words->word;
    unsigned arguments = native == RLK_NATIVE_DELEX ? 3 : 2;

    m->native = native;
    m->kind = words->n == 1 ? MESSAGE_PROBE : MESSAGE_DELETE;
    if (words->n == 1) {
        return true;
    }
    return words->n == 1 + arguments && (native != RLK_NATIVE_DELEX || is(&word[2], "IFEQ")) &&
           read_claim(w, &word[1], 1, &word[arguments], m);
}

/* EXISTS key:redlock-waiting */
static bool read_listed(const struct words *words, struct message *m)
{
    struct word list = words->word[1];

    if (words->n != 2 || !is(&words->word[0], "EXISTS") || !ends(&list, RLK_COMMAND_WAITING)) {
        return false;
    }
    m->kind = MESSAGE_LISTED;
    m->keys = read_key(list);
    return m->keys != 0;
}

/* EVAL text n key... ttl each token... [fence...], or EVALSHA: as if each lock had a KEEP of its
 * own. Returns how many there are; 0: it is another command, or not as it must be. */
static unsigned read_batch(const struct world *w, const struct words *words, struct message *ret)
{
    const struct word *word = words->word;
    unsigned n = words->n > 3 ? (unsigned)number(&word[2]) : 0, each, locks, i;
    bool text = is(&word[0], "EVAL");

    if (words->n < 6 + n || (!text && !is(&word[0], "EVALSHA")) ||
        !is_script(&word[1], &rlk_script_keep_all, text)) {
        return 0;
    }
    each = (unsigned)number(&word[4 + n]);
    locks = each ? n / each : 0;
    if (locks < 2 || locks > COMMAND_PARTS || n % each ||
        (words->n != 5 + n + locks && words->n != 5 + n + 2 * locks)) {
        return 0;
    }
    for (i = 0; i < locks; i++) {
        ret[i] = (struct message){.kind = MESSAGE_KEEP, .many = true, .part = i > 0, .text = text};
        ret[i].ttl_ms = (uint32_t)number(&word[3 + n]);
        ret[i].fence = words->n > 5 + n + locks ? number(&word[5 + n + locks + i]) : 0;
        if (!read_claim(w, &word[3 + i * each], each, &word[5 + n + i], &ret[i])) {
            return 0;
        }
    }
    return locks;
}

/* EVALSHA of no script, or EVAL of the one that tries what renewals and releases need. */
static bool is_upkeep(const struct words *words)
{
    const struct word *word = words->word;

    return (words->n == 3 && is(&word[0], "EVALSHA") && is(&word[1], RLK_SCRIPT_NO_SHA)) ||
           (words->n == 4 && is(&word[0], "EVAL") && is_script(&word[1], &rlk_script_upkeep, true));
}

static bool read_words(struct world *w, const struct words *words, struct message *m)
{
    const struct word *word = words->word;

    if (is(&word[0], "SET")) {
        return words->n >= 6 && read_set(w, words, m);
    }
    if (is_upkeep(words)) {
        m->kind = MESSAGE_UPKEEP;
        m->text = word[0].len == 4;
        return true;
    }
    if (is(&word[0], "EVALSHA") || is(&word[0], "EVAL")) {
        m->text = word[0].len == 4;
        return read_script(w, words, m);
    }
    if (is(&word[0], "INFO")) {
        return words->n == 2 && read_info(&word[1], m);
    }
    if (is(&word[0], "CLIENT")) {
        return read_client(words, m);
    }
    if (is(&word[0], "HELLO")) {
        m->kind = MESSAGE_HELLO;
        return words->n == 2 && is(&word[1], "2");
    }
    if (is(&word[0], "SUBSCRIBE")) {
        return words->n == 2 && read_subscribe(&word[1], m);
    }
    if (is(&word[0], "TIME")) {
        m->kind = MESSAGE_TIME;
        return words->n == 1;
    }
    if (is(&word[0], "CONFIG")) {
        m->kind = MESSAGE_CONFIG;
        return words->n == 3 && is(&word[1], "GET") && is(&word[2], "[an]*pendfsync*");
    }
    if (is(&word[0], "SCRIPT")) {
        return words->n == 3 && is(&word[1], "LOAD") && read_load(&word[2], m);
    }
    if (is(&word[0], "DELEX") || is(&word[0], "DELIFEQ")) {
        return read_delete(w, words, word[0].len == 5 ? RLK_NATIVE_DELEX : RLK_NATIVE_DELIFEQ, m);
    }
    return read_listed(words, m) || read_look(words, m);
}

/* ---- short commands that were read before ---- */

/* Half of all commands are short ones that inspect a server or look at a key, and there are few
 * different ones. What they mean follows from their bytes alone, in each history. */
#define SHORT 64
#define SHORT_KNOWN 64

struct known {
    size_t len; /* 0: none yet */
    char bytes[SHORT];
    struct message m;
};

static bool means_the_same(const struct message *m)
{
    return m->kind < MESSAGE_WAIT && m->kind != MESSAGE_MASTERS;
}

/* Where this command is, or where it will be; NULL: it is too long. */
static struct known *find_known(const char *bytes, size_t len)
{
    static struct known known[SHORT_KNOWN];
    uint64_t sum = len, part;
    size_t i;

    if (len > SHORT || len < sizeof(part)) {
        return NULL;
    }
    for (i = 0; i + sizeof(part) <= len; i += sizeof(part)) {
        memcpy(&part, bytes + i, sizeof(part));
        sum = (sum ^ part) * 0x9e3779b97f4a7c15;
    }
    memcpy(&part, bytes + len - sizeof(part), sizeof(part));
    sum = (sum ^ part) * 0x9e3779b97f4a7c15;
    return &known[sum >> 58];
}

_Static_assert(SHORT_KNOWN == 1 << (64 - 58), "the upper bits of the sum are an index");

static unsigned read_command(struct world *w, const char *bytes, size_t len,
                             struct message ret[COMMAND_PARTS])
{
    struct words words;
    unsigned parts;

    *ret = (struct message){.claim = NONE};
    if (!split(bytes, len, &words)) {
        check_violated(w, "work", "c%u sends bytes that are not a command", w->running);
        return 0;
    }
    parts = read_batch(w, &words, ret);
    if (parts > 0) {
        return parts;
    }
    if (!read_words(w, &words, ret)) {
        check_violated(w, "work", "c%u: the model does not know the command %.*s %.*s", w->running,
                       (int)words.word[0].len, words.word[0].text,
                       words.n > 1 && words.word[1].len < 60 ? (int)words.word[1].len : 0,
                       words.word[1].text);
        return 0;
    }
    return 1;
}

unsigned command_read(struct world *w, const char *bytes, size_t len,
                      struct message ret[COMMAND_PARTS])
{
    struct known *known = find_known(bytes, len);
    unsigned parts;

    if (known && known->len == len && memcmp(known->bytes, bytes, len) == 0) {
        *ret = known->m;
        return 1;
    }
    parts = read_command(w, bytes, len, ret);
    if (known && parts == 1 && means_the_same(ret)) {
        known->len = len;
        memcpy(known->bytes, bytes, len);
        known->m = *ret;
    }
    return parts;
}
