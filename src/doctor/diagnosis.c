/* diagnosis.c - what is wrong with one master. */
#include "doctor/diagnosis.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "doctor/rights.h"

/* A percentage of maxmemory. */
#define NEARLY_FULL 90

/* ---- a master that did not answer ---- */

struct cause {
    enum rlk_trouble_kind trouble;
    enum redlock_finding_kind found;
    enum redlock_severity severity;
    const char *fix; /* where the trouble has no advice of its own */
};

static const char log_in[] =
    "Give a user and a password that it accepts (ACL LIST on this master shows its users).";
static const char wait_for_data[] = "Wait until it has loaded its data.";
static const char test_tls[] =
    "openssl s_client -connect HOST:PORT shows its certificates, and what it wants of clients.";
static const char run_scripts[] =
    "Use a server that runs Lua scripts: Redis 3.2 or newer, or Valkey.";
static const char stop_refusing[] =
    "Fix the cause of this error; until then no lock can be acquired there.";

/* These troubles decide the finding, whatever the state of the connection is. */
static const struct cause causes[] = {
    {RLK_TROUBLE_DUPLICATE, REDLOCK_FOUND_DUPLICATE, REDLOCK_UNUSABLE, ""},
    {RLK_TROUBLE_UNFIT, REDLOCK_FOUND_ROLE, REDLOCK_UNUSABLE, ""},
    {RLK_TROUBLE_DATABASE, REDLOCK_FOUND_DATABASE, REDLOCK_UNUSABLE, ""},
    {RLK_TROUBLE_DATABASE_DENIED, REDLOCK_FOUND_DATABASE, REDLOCK_UNUSABLE, ""},
    {RLK_TROUBLE_PROTECTED, REDLOCK_FOUND_LOGIN, REDLOCK_UNUSABLE, ""},
    {RLK_TROUBLE_PASSWORD_MISSING, REDLOCK_FOUND_LOGIN, REDLOCK_UNUSABLE, log_in},
    {RLK_TROUBLE_LOGIN, REDLOCK_FOUND_LOGIN, REDLOCK_UNUSABLE, log_in},
    {RLK_TROUBLE_LOGIN_FILE, REDLOCK_FOUND_LOGIN, REDLOCK_UNUSABLE, log_in},
    {RLK_TROUBLE_LOGIN_UNREAD, REDLOCK_FOUND_LOGIN, REDLOCK_UNUSABLE, log_in},
    {RLK_TROUBLE_TLS, REDLOCK_FOUND_TLS, REDLOCK_UNUSABLE, test_tls},
    {RLK_TROUBLE_TLS_BROKEN, REDLOCK_FOUND_TLS, REDLOCK_UNUSABLE, test_tls},
    {RLK_TROUBLE_TLS_PENDING, REDLOCK_FOUND_TLS, REDLOCK_UNUSABLE, test_tls},
    {RLK_TROUBLE_TLS_LATE, REDLOCK_FOUND_TLS, REDLOCK_UNUSABLE, test_tls},
    {RLK_TROUBLE_LOADING, REDLOCK_FOUND_LOADING, REDLOCK_NO_VOTE, wait_for_data},
    {RLK_TROUBLE_BUSY, REDLOCK_FOUND_REFUSES, REDLOCK_UNUSABLE, stop_refusing},
    {RLK_TROUBLE_UPKEEP_DENIED, REDLOCK_FOUND_RIGHTS, REDLOCK_UNUSABLE, ""},
    {RLK_TROUBLE_UPKEEP_UNKNOWN, REDLOCK_FOUND_RIGHTS, REDLOCK_UNUSABLE, ""},
    {RLK_TROUBLE_UPKEEP_IN_SCRIPTS, REDLOCK_FOUND_RIGHTS, REDLOCK_UNUSABLE, ""},
    {RLK_TROUBLE_UPKEEP_REFUSED, REDLOCK_FOUND_RIGHTS, REDLOCK_UNUSABLE, run_scripts},
};

static const struct cause silent = {RLK_TROUBLE_UNRESPONSIVE, REDLOCK_FOUND_UNRESPONSIVE,
                                    REDLOCK_UNUSABLE, "Check what keeps it busy (SLOWLOG GET)."};

static const struct cause down = {RLK_TROUBLE_NONE, REDLOCK_FOUND_DOWN, REDLOCK_UNUSABLE,
                                  "Check that it runs, that its address is right (bind, port), and "
                                  "that no firewall is in between."};

static const struct cause *cause_of(const struct redlock_examined *x, enum rlk_trouble_kind trouble)
{
    unsigned i;

    for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
        if (causes[i].trouble == trouble) {
            return &causes[i];
        }
    }
    if (x->state == REDLOCK_NODE_UNRESPONSIVE || x->state == REDLOCK_NODE_UP) {
        return &silent;
    }
    return trouble == RLK_TROUBLE_GREETING_LATE || trouble == RLK_TROUBLE_GREETING ? &silent
                                                                                   : &down;
}

/* The sentence of the trouble in its two parts. */
static void add_trouble(const struct rlk_trouble *trouble, const struct cause *cause,
                        struct rlk_notes *notes)
{
    char text[RLK_TROUBLE_TEXT], advice[RLK_TROUBLE_TEXT];

    rlk_trouble_write_finding(trouble, text, sizeof(text));
    rlk_trouble_write_advice(trouble, advice, sizeof(advice));
    rlk_note(notes, cause->found, cause->severity,
             advice[0] ? rlk_notes_text(notes, "%s", advice) : cause->fix, "%s",
             text[0] ? text : "has not replied to every question");
}

/* ---- a master that answered ---- */

static void judge_role(const struct redlock_examined *x, struct rlk_notes *notes)
{
    if (x->role[0] && strcmp(x->role, "master") != 0) {
        rlk_note(notes, REDLOCK_FOUND_ROLE, REDLOCK_UNUSABLE,
                 "List independent masters only, or make it a master (REPLICAOF NO ONE).",
                 "is not an independent master: its role is %s", x->role);
    } else if (x->mode[0] && strcmp(x->mode, "standalone") != 0) {
        rlk_note(notes, REDLOCK_FOUND_ROLE, REDLOCK_UNUSABLE,
                 "List independent masters only: set cluster-enabled no.",
                 "is not an independent master: its mode is %s", x->mode);
    }
}

static const struct cause refuses = {RLK_TROUBLE_REFUSES, REDLOCK_FOUND_REFUSES, REDLOCK_UNUSABLE,
                                     stop_refusing};

static void judge_writes(const struct redlock_examined *x, struct rlk_notes *notes)
{
    if (x->loading) {
        rlk_note(notes, REDLOCK_FOUND_LOADING, REDLOCK_NO_VOTE, wait_for_data,
                 "is loading its data from the disk");
    } else if (x->refusal[0]) {
        add_trouble(&(struct rlk_trouble){.kind = RLK_TROUBLE_REFUSES, .words = x->refusal},
                    &refuses, notes);
    }
}

/* Rights that are missing are reported as such. */
static void judge_mark(const struct rlk_trouble *trouble, struct rlk_notes *notes)
{
    static const struct cause spoilt = {RLK_TROUBLE_MARK_SPOILT, REDLOCK_FOUND_REFUSES,
                                        REDLOCK_WARNING, ""};

    if (trouble->kind == RLK_TROUBLE_MARK_SPOILT) {
        add_trouble(trouble, &spoilt, notes);
    }
}

static bool is_evicting(const struct redlock_examined *x)
{
    return x->maxmemory > 0 && x->eviction[0] && strcmp(x->eviction, "noeviction") != 0;
}

static enum redlock_severity judge_commands(unsigned rights)
{
    enum redlock_severity worst = REDLOCK_FINE, severity;
    unsigned i;

    for (i = 0; i < rlk_rights_count; i++) {
        severity = rights & rlk_rights[i].bit ? rlk_rights[i].severity : REDLOCK_FINE;
        worst = severity > worst ? severity : worst;
    }
    return worst;
}

/* Whether another finding says why the votes do not count. */
static bool is_explained(const struct redlock_examined *x)
{
    return x->quarantine_ms == UINT64_MAX &&
           (is_evicting(x) || x->refusal[0] ||
            judge_commands(x->denied | x->missing) == REDLOCK_UNUSABLE);
}

static void judge_quarantine(const struct redlock_examined *x, struct rlk_notes *notes)
{
    if (x->quarantine_ms == 0 || is_explained(x)) {
        return;
    }
    rlk_note(notes, REDLOCK_FOUND_QUARANTINE, REDLOCK_NO_VOTE,
             x->quarantine_ms == UINT64_MAX && !x->quarantine_ends
                 ? "Fix the cause that this finding names."
                 : "Wait; or use quarantine=lenient, if no lock from before can still be held.",
             "%s", x->error[0] ? x->error : "does not vote yet");
}

/* "95 MiB"; smaller amounts in KiB or bytes. */
static const char *size_text(uint64_t bytes, char *out, size_t size)
{
    static const char *const units[] = {"bytes", "KiB", "MiB"};
    unsigned i;

    for (i = 0; i < 2 && bytes >= 10 * 1024; i++) {
        bytes >>= 10;
    }
    snprintf(out, size, "%" PRIu64 " %s", bytes, units[i]);
    return out;
}

static void judge_memory(const struct redlock_examined *x, struct rlk_notes *notes)
{
    bool quarantined = x->quarantine_ms == UINT64_MAX;
    char used[32], most[32];

    if (is_evicting(x)) {
        rlk_note(
            notes, REDLOCK_FOUND_EVICTION, quarantined ? REDLOCK_NO_VOTE : REDLOCK_WARNING,
            "CONFIG SET maxmemory-policy noeviction, and set the same in its configuration file.",
            "may evict locks when memory is short (maxmemory-policy %s; %" PRIu64
            " keys evicted so far)%s",
            x->eviction, x->evicted_keys, quarantined ? ", so it does not vote" : "");
    }
    if (x->maxmemory > 0 && x->used_memory / NEARLY_FULL >= x->maxmemory / 100) {
        rlk_note(notes, REDLOCK_FOUND_MEMORY, REDLOCK_WARNING,
                 "Raise its maxmemory, or move other data to another server.",
                 "has little memory left: %s of %s are in use",
                 size_text(x->used_memory, used, sizeof(used)),
                 size_text(x->maxmemory, most, sizeof(most)));
    }
}

static bool is_durable(const struct redlock_examined *x)
{
    return x->aof == 1 && !x->disk_fails && strcmp(x->fsync, "always") == 0;
}

static void judge_disk(const struct redlock_examined *x, struct rlk_notes *notes)
{
    if (x->disk_fails) {
        rlk_note(notes, REDLOCK_FOUND_DISK, REDLOCK_WARNING,
                 "Check its log, and whether its disk is full or read-only.",
                 "failed to write its data to the disk the last time");
    }
    if (!is_durable(x) && x->policy == REDLOCK_QUARANTINE_OFF) {
        rlk_note(
            notes, REDLOCK_FOUND_VOLATILE, REDLOCK_WARNING,
            "Use quarantine=strict, or set appendonly yes and appendfsync always on this master.",
            "may lose locks when it restarts (%s), and quarantine is off: two clients could then "
            "hold one lock",
            x->aof == 1   ? "it does not write to the disk before each reply"
            : x->aof == 0 ? "it has no append-only file"
                          : "its persistence is unknown");
    }
}

static void judge_replicas(const struct redlock_examined *x, struct rlk_notes *notes)
{
    if (x->replicas > 0) {
        rlk_note(
            notes, REDLOCK_FOUND_REPLICAS, REDLOCK_FINE,
            "Make sure that nothing (a sentinel, an operator) ever puts a replica at its address.",
            "has %u replica%s; replicas do nothing for locks", x->replicas,
            x->replicas == 1 ? "" : "s");
    }
    if (x->promoted) {
        rlk_note(notes, REDLOCK_FOUND_PROMOTED, REDLOCK_WARNING,
                 "Turn off its failover, and restart it when no lock is held.",
                 "was a replica and was promoted to master: locks that its old master had granted "
                 "may be missing");
    }
    if (x->min_replicas > 0) {
        rlk_note(notes, REDLOCK_FOUND_MIN_REPLICAS, REDLOCK_WARNING,
                 "CONFIG SET min-replicas-to-write 0, and set the same in its configuration file.",
                 "refuses locks whenever it has fewer than %u replicas", x->min_replicas);
    }
}

static void judge_connection(const struct redlock_examined *x,
                             const struct rlk_diagnosis_context *context, struct rlk_notes *notes)
{
    if (x->pings > 0 && x->ping_max_us > context->node_timeout_us / 2) {
        rlk_note(
            notes, REDLOCK_FOUND_SLOW, REDLOCK_WARNING,
            "Check what keeps it busy (SLOWLOG GET, LATENCY DOCTOR), or raise node_timeout_ms.",
            "took up to %" PRIu64 " ms to answer; the timeout is %" PRIu64 " ms",
            x->ping_max_us / 1000, context->node_timeout_us / 1000);
    }
    if (x->remote && x->tls[0] == '\0') {
        rlk_note(notes, REDLOCK_FOUND_PLAINTEXT, REDLOCK_FINE,
                 "Use TLS (rediss://), a private network, or an encrypted tunnel.",
                 "is reached over a network without encryption: passwords are sent in plain text");
    }
    if (x->product[0] && strcmp(x->product, "redis") != 0 && strcmp(x->product, "valkey") != 0) {
        rlk_note(notes, REDLOCK_FOUND_PRODUCT, REDLOCK_FINE, "",
                 "is %s, neither Redis nor Valkey; this library is not tested with it", x->product);
    }
}

/* Clients that reach several servers under one name do not have the same masters. */
static void judge_name(const struct redlock_examined *x, struct rlk_notes *notes)
{
    if (x->addresses[0]) {
        add_trouble(
            &(struct rlk_trouble){.kind = RLK_TROUBLE_SEVERAL, .words = x->addresses},
            &(struct cause){RLK_TROUBLE_SEVERAL, REDLOCK_FOUND_SEVERAL, REDLOCK_WARNING, ""},
            notes);
    }
}

/* Locks do not need it, and waiters poll. */
static void judge_subscriber(const struct redlock_examined *x, struct rlk_notes *notes)
{
    if (x->subscriber[0]) {
        rlk_note(notes, REDLOCK_FOUND_SUBSCRIBER, REDLOCK_WARNING,
                 "Fix the cause that this finding names; until then waiters poll this master.",
                 "%s", x->subscriber);
    }
}

static void judge_tls(const struct redlock_examined *x, enum rlk_trouble_kind trouble,
                      struct rlk_notes *notes)
{
    if (strstr(x->tls, "not verified")) {
        rlk_note(notes, REDLOCK_FOUND_UNVERIFIED, REDLOCK_WARNING,
                 "Remove verify=none; give the CA of its certificate as cacert=FILE.",
                 "has a certificate that nobody verifies (verify=none): anybody in between "
                 "can pose as this master");
    }
    if (trouble == RLK_TROUBLE_TLS_FILES) {
        rlk_note(notes, REDLOCK_FOUND_TLS, REDLOCK_WARNING,
                 "Put files in their place that belong together.", "%s", x->error);
    }
}

/* ---- what a master denies us ---- */

/* "SET (no lock can be acquired there), ..." */
static const char *list_commands(unsigned rights, char *out, size_t size)
{
    size_t used = 0;
    unsigned i;

    out[0] = '\0';
    for (i = 0; i < rlk_rights_count && used < size; i++) {
        if (rights & rlk_rights[i].bit) {
            used += (size_t)snprintf(out + used, size - used, "%s%s (%s)", used ? ", " : "",
                                     rlk_rights[i].command, rlk_rights[i].cost);
        }
    }
    return out;
}

/* " +set +script|load". */
static const char *list_grants(unsigned rights, char *out, size_t size)
{
    size_t used = 0;
    unsigned i;

    out[0] = '\0';
    for (i = 0; i < rlk_rights_count && used < size; i++) {
        if (rights & rlk_rights[i].bit) {
            used += (size_t)snprintf(out + used, size - used, " %s", rlk_rights[i].acl);
        }
    }
    return out;
}

/* Without a prefix locks may have any name; then only our own keys are known. */
static void judge_keys(const struct redlock_examined *x,
                       const struct rlk_diagnosis_context *context, struct rlk_notes *notes)
{
    bool prefix = context->key_prefix[0] != '\0';

    if (!x->keys_denied) {
        return;
    }
    rlk_note(
        notes, REDLOCK_FOUND_KEYS, prefix ? REDLOCK_UNUSABLE : REDLOCK_WARNING,
        prefix ? rlk_notes_text(notes, "ACL SETUSER %.60s ~%.100s*", x->user, context->key_prefix)
               : rlk_notes_text(notes,
                                "ACL SETUSER %.60s ~redlock:*, and ~... for the keys of the locks.",
                                x->user),
        "denies the user %.60s the keys that begin with %.100sredlock:%s", x->user,
        context->key_prefix, prefix ? "" : ", so nobody can see whether it lost its data");
}

/* A denied database refuses every command, so nothing is known about keys. */
static void judge_database(const struct redlock_examined *x, struct rlk_notes *notes)
{
    if (x->database_denied) {
        rlk_note(notes, REDLOCK_FOUND_DATABASE, REDLOCK_UNUSABLE,
                 rlk_notes_text(notes, "ACL SETUSER %.60s db=%u", x->user, x->database),
                 "denies the user %.60s database %u: no lock can be acquired there", x->user,
                 x->database);
    }
}

static void judge_rights(const struct redlock_examined *x, struct rlk_notes *notes)
{
    char commands[1536], grants[448];

    if (x->denied) {
        list_grants(x->denied, grants, sizeof(grants));
        rlk_note(notes, REDLOCK_FOUND_RIGHTS, judge_commands(x->denied),
                 rlk_notes_text(notes, "ACL SETUSER %.60s%s", x->user, grants),
                 "denies the user %.60s %s", x->user,
                 list_commands(x->denied, commands, sizeof(commands)));
    }
    if (x->missing) {
        rlk_note(notes, REDLOCK_FOUND_RIGHTS, judge_commands(x->missing),
                 "Remove rename-command for these from its configuration file, or use a newer "
                 "server; if it "
                 "is a proxy, list the masters behind it.",
                 "does not know %s", list_commands(x->missing, commands, sizeof(commands)));
    }
}

void rlk_diagnose_node(const struct redlock_examined *x, const struct rlk_trouble *trouble,
                       int node, const struct rlk_diagnosis_context *context,
                       struct rlk_notes *notes)
{
    rlk_notes_begin(notes, node);
    if (!x->answered || x->state != REDLOCK_NODE_UP) {
        add_trouble(trouble, cause_of(x, trouble->kind), notes);
        return;
    }
    judge_role(x, notes);
    judge_writes(x, notes);
    judge_mark(trouble, notes);
    judge_rights(x, notes);
    judge_keys(x, context, notes);
    judge_database(x, notes);
    judge_quarantine(x, notes);
    judge_memory(x, notes);
    judge_disk(x, notes);
    judge_replicas(x, notes);
    judge_name(x, notes);
    judge_connection(x, context, notes);
    judge_subscriber(x, notes);
    judge_tls(x, trouble->kind, notes);
}
