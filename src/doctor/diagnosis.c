/* diagnosis.c - what is wrong with one master. */
#include "doctor/diagnosis.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "doctor/rights.h"

/* A percentage of maxmemory. */
#define NEARLY_FULL 90

static enum redlock_severity severity_of(const struct rlk_trouble_row *row)
{
    return row->severity ? row->severity : rlk_finding_row(row->found)->severity;
}

/* The sentence of the trouble in its two parts. */
static void add_trouble(const struct rlk_trouble *trouble, const struct rlk_trouble_row *row,
                        struct rlk_notes *notes)
{
    char text[RLK_TROUBLE_TEXT], advice[RLK_TROUBLE_TEXT];

    rlk_trouble_write_finding(trouble, text, sizeof(text));
    rlk_trouble_write_advice(trouble, advice, sizeof(advice));
    rlk_note_as(notes, row->found, severity_of(row),
                advice[0] ? rlk_notes_text(notes, "%s", advice) : row->fix, "%s",
                text[0] ? text : "has not replied to every question");
}

/* ---- a master that did not reply ---- */

/* A mere warning does not explain that. */
static void explain_silence(const struct redlock_examined *x, const struct rlk_trouble *trouble,
                            struct rlk_notes *notes)
{
    static const struct rlk_trouble_row silent = {.found = REDLOCK_FOUND_UNRESPONSIVE};
    static const struct rlk_trouble_row down = {.found = REDLOCK_FOUND_DOWN};
    const struct rlk_trouble_row *row = &rlk_trouble_rows[trouble->kind];

    if (severity_of(row) <= REDLOCK_WARNING) {
        row =
            x->state == REDLOCK_NODE_UNRESPONSIVE || x->state == REDLOCK_NODE_UP ? &silent : &down;
    }
    add_trouble(trouble, row, notes);
}

/* ---- a master that replied ---- */

static void judge_role(const struct redlock_examined *x, struct rlk_notes *notes)
{
    if (x->role[0] && strcmp(x->role, "master") != 0) {
        rlk_note_as(notes, REDLOCK_FOUND_ROLE, REDLOCK_UNUSABLE,
                    "List independent masters only, or make it a master (REPLICAOF NO ONE).",
                    "is not an independent master: its role is %s", x->role);
    } else if (x->mode[0] && strcmp(x->mode, "standalone") != 0) {
        rlk_note_as(notes, REDLOCK_FOUND_ROLE, REDLOCK_UNUSABLE,
                    "List independent masters only: set cluster-enabled no.",
                    "is not an independent master: its mode is %s", x->mode);
    }
}

static void judge_trouble(const struct rlk_trouble *trouble, enum rlk_trouble_kind kind,
                          struct rlk_notes *notes)
{
    if (trouble->kind == kind) {
        add_trouble(trouble, &rlk_trouble_rows[kind], notes);
    }
}

static void add_words(enum rlk_trouble_kind kind, const char *words, struct rlk_notes *notes)
{
    judge_trouble(&(struct rlk_trouble){.kind = kind, .words = words}, kind, notes);
}

static void judge_writes(const struct redlock_examined *x, struct rlk_notes *notes)
{
    if (x->loading) {
        rlk_note(notes, REDLOCK_FOUND_LOADING, "is loading its data from the disk");
    } else if (x->refusal[0]) {
        add_words(RLK_TROUBLE_REFUSES, x->refusal, notes);
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

static void judge_quarantine(const struct redlock_examined *x, const struct rlk_trouble *trouble,
                             const struct rlk_diagnosis_context *context, struct rlk_notes *notes)
{
    if (x->quarantine_ms == 0 || is_explained(x)) {
        return;
    }
    rlk_note_as(notes, REDLOCK_FOUND_QUARANTINE, REDLOCK_NO_VOTE,
                trouble->kind == RLK_TROUBLE_UNCONFIRMED_RECORD
                    ? "Fix the masters that do not reply."
                : context->record_differs ? "See the finding about the record of the masters."
                : x->quarantine_ms == UINT64_MAX && !x->quarantine_ends
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
        rlk_note_as(notes, REDLOCK_FOUND_EVICTION, quarantined ? REDLOCK_NO_VOTE : REDLOCK_WARNING,
                    NULL,
                    "may evict locks when memory is short (maxmemory-policy %s; %" PRIu64
                    " keys evicted so far)%s",
                    x->eviction, x->evicted_keys, quarantined ? ", so it does not vote" : "");
    }
    if (x->maxmemory > 0 && x->used_memory / NEARLY_FULL >= x->maxmemory / 100) {
        rlk_note(notes, REDLOCK_FOUND_MEMORY, "has little memory left: %s of %s are in use",
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
        rlk_note(notes, REDLOCK_FOUND_DISK, "failed to write its data to the disk the last time");
    }
    if (x->replay_errors > 0) {
        rlk_note(notes, REDLOCK_FOUND_REPLAY,
                 "lost data when it started: %" PRId64 " commands of its append-only file failed; "
                 "they run as the user \"default\", which lacks rights",
                 x->replay_errors);
    }
    if (!is_durable(x) && x->policy == REDLOCK_QUARANTINE_OFF) {
        rlk_note(
            notes, REDLOCK_FOUND_VOLATILE,
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
        rlk_note(notes, REDLOCK_FOUND_REPLICAS, "has %u replica%s; replicas do nothing for locks",
                 x->replicas, x->replicas == 1 ? "" : "s");
    }
    if (x->promoted) {
        rlk_note(notes, REDLOCK_FOUND_PROMOTED,
                 "was a replica and was promoted to master: locks that its old master had granted "
                 "may be missing");
    }
    if (x->min_replicas > 0) {
        rlk_note(notes, REDLOCK_FOUND_MIN_REPLICAS,
                 "refuses locks whenever it has fewer than %u replicas", x->min_replicas);
    }
}

static void judge_connection(const struct redlock_examined *x,
                             const struct rlk_diagnosis_context *context, struct rlk_notes *notes)
{
    if (x->pings > 0 && x->ping_max_us > context->node_timeout_us / 2) {
        rlk_note(notes, REDLOCK_FOUND_SLOW,
                 "took up to %" PRIu64 " ms to answer; the timeout is %" PRIu64 " ms",
                 x->ping_max_us / 1000, context->node_timeout_us / 1000);
    }
    if (x->remote && x->tls[0] == '\0') {
        rlk_note(notes, REDLOCK_FOUND_PLAINTEXT,
                 "is reached over a network without encryption: passwords are sent in plain text");
    }
    if (x->product[0] && strcmp(x->product, "redis") != 0 && strcmp(x->product, "valkey") != 0) {
        rlk_note(notes, REDLOCK_FOUND_PRODUCT,
                 "is %s, neither Redis nor Valkey; this library is not tested with it", x->product);
    }
}

/* Clients that reach several servers under one name do not have the same masters. */
static void judge_name(const struct redlock_examined *x, struct rlk_notes *notes)
{
    if (x->addresses[0]) {
        add_words(RLK_TROUBLE_SEVERAL, x->addresses, notes);
    }
}

/* Locks do not need it, and waiters poll. */
static void judge_subscriber(const struct redlock_examined *x, struct rlk_notes *notes)
{
    if (x->subscriber[0]) {
        rlk_note(notes, REDLOCK_FOUND_SUBSCRIBER, "%s", x->subscriber);
    }
}

static void judge_certificate(const struct redlock_examined *x, struct rlk_notes *notes)
{
    if (strstr(x->tls, "not verified")) {
        rlk_note(notes, REDLOCK_FOUND_UNVERIFIED,
                 "has a certificate that nobody verifies (verify=none): anybody in between "
                 "can pose as this master");
    }
}

/* ---- what a master denies us ---- */

/* For people: "SET (no lock can be acquired there), ..."; or for ACL SETUSER: " +set +script|load".
 */
static const char *list_rights(unsigned rights, bool grants, char *out, size_t size)
{
    size_t used = 0;
    unsigned i;

    out[0] = '\0';
    for (i = 0; i < rlk_rights_count && used < size; i++) {
        const struct rlk_right *r = &rlk_rights[i];

        if (rights & r->bit) {
            used += (size_t)(grants ? snprintf(out + used, size - used, " %s", r->acl)
                                    : snprintf(out + used, size - used, "%s%s (%s)",
                                               used ? ", " : "", r->command, r->cost));
        }
    }
    return out;
}

bool rlk_diagnose_missing_prefix(const struct redlock_examined *x, const char *key_prefix)
{
    return key_prefix[0] == '\0' && (x->keys_denied || x->lock_keys_denied);
}

/* All keys have the prefix. So the rights are wrong, or the prefix is. */
static void judge_prefix(const struct redlock_examined *x, const char *prefix,
                         struct rlk_notes *notes)
{
    rlk_note_as(notes, REDLOCK_FOUND_KEYS, REDLOCK_UNUSABLE,
                rlk_notes_text(notes,
                               "Is the key prefix right (now: %.100s)? If it is: ACL SETUSER %.60s "
                               "~%.100s*",
                               prefix, x->user, prefix),
                "denies the user %.60s the keys that begin with %.100s%s", x->user, prefix,
                x->lock_keys_denied ? "" : "redlock:");
}

/* Without a prefix locks may have any name, and the rights may be for some of these only. */
static void judge_names(const struct redlock_examined *x, struct rlk_notes *notes)
{
    static const char ask[] = "Is the key prefix right (now: none)? ACL GETUSER %.60s shows for "
                              "which keys its rights are. %s";

    if (x->keys_denied && x->lock_keys_denied) {
        rlk_note_as(notes, REDLOCK_FOUND_KEYS, REDLOCK_UNUSABLE,
                    rlk_notes_text(notes, ask, x->user, "Set the prefix that they have."),
                    "denies the user %.60s keys without a prefix: those of locks, and those that "
                    "begin with redlock:",
                    x->user);
    } else if (x->keys_denied) {
        rlk_note_as(notes, REDLOCK_FOUND_KEYS, REDLOCK_WARNING,
                    rlk_notes_text(
                        notes, "ACL SETUSER %.60s ~redlock:*, and ~... for the keys of the locks.",
                        x->user),
                    "denies the user %.60s the keys that begin with redlock:, so nobody can see "
                    "whether it lost its data",
                    x->user);
    } else {
        rlk_note_as(notes, REDLOCK_FOUND_KEYS, REDLOCK_WARNING,
                    rlk_notes_text(notes, ask, x->user, "Locks can have no other keys."),
                    "denies the user %.60s some keys without a prefix, such as doctor:..., and no "
                    "lock with such a key can be acquired there",
                    x->user);
    }
}

static void judge_keys(const struct redlock_examined *x,
                       const struct rlk_diagnosis_context *context, struct rlk_notes *notes)
{
    if (rlk_diagnose_missing_prefix(x, context->key_prefix)) {
        judge_names(x, notes);
    } else if (x->keys_denied || x->lock_keys_denied) {
        judge_prefix(x, context->key_prefix, notes);
    }
}

/* A user who may use none of our keys cannot read this one, either. */
static void judge_record_key(const struct redlock_examined *x,
                             const struct rlk_diagnosis_context *context, struct rlk_notes *notes)
{
    if (x->record_denied && !x->keys_denied && !x->database_denied) {
        rlk_note_as(notes, REDLOCK_FOUND_UNRECORDED, REDLOCK_WARNING,
                    rlk_notes_text(notes, "ACL SETUSER %.60s ~%.100sredlock:masters", x->user,
                                   context->key_prefix),
                    "denies the user %.60s the key %.100sredlock:masters, so nobody can see there "
                    "which masters are on record, and clients that could do not count its vote",
                    x->user, context->key_prefix);
    }
}

/* A denied database refuses every command, so nothing is known about keys. */
static void judge_database(const struct redlock_examined *x, struct rlk_notes *notes)
{
    if (x->database_denied) {
        rlk_note_as(notes, REDLOCK_FOUND_DATABASE, REDLOCK_UNUSABLE,
                    rlk_notes_text(notes, "ACL SETUSER %.60s db=%u", x->user, x->database),
                    "denies the user %.60s database %u: no lock can be acquired there", x->user,
                    x->database);
    }
}

static void judge_rights(const struct redlock_examined *x, struct rlk_notes *notes)
{
    char commands[1536], grants[448];

    if (x->denied) {
        rlk_note_as(notes, REDLOCK_FOUND_RIGHTS, judge_commands(x->denied),
                    rlk_notes_text(notes, "ACL SETUSER %.60s%s", x->user,
                                   list_rights(x->denied, true, grants, sizeof(grants))),
                    "denies the user %.60s %s", x->user,
                    list_rights(x->denied, false, commands, sizeof(commands)));
    }
    if (x->missing) {
        rlk_note_as(notes, REDLOCK_FOUND_RIGHTS, judge_commands(x->missing),
                    "Remove rename-command for these from its configuration file, or use a newer "
                    "server; if it is a proxy, list the masters behind it.",
                    "does not know %s", list_rights(x->missing, false, commands, sizeof(commands)));
    }
}

void rlk_diagnose_node(const struct redlock_examined *x, const struct rlk_trouble *trouble,
                       int node, const struct rlk_diagnosis_context *context,
                       struct rlk_notes *notes)
{
    rlk_notes_begin(notes, node);
    if (!x->answered || x->state != REDLOCK_NODE_UP) {
        explain_silence(x, trouble, notes);
        return;
    }
    judge_role(x, notes);
    judge_writes(x, notes);
    judge_trouble(trouble, RLK_TROUBLE_MARK_SPOILT, notes);
    judge_rights(x, notes);
    judge_keys(x, context, notes);
    judge_record_key(x, context, notes);
    judge_database(x, notes);
    judge_quarantine(x, trouble, context, notes);
    judge_memory(x, notes);
    judge_disk(x, notes);
    judge_replicas(x, notes);
    judge_name(x, notes);
    judge_connection(x, context, notes);
    judge_subscriber(x, notes);
    judge_certificate(x, notes);
    judge_trouble(trouble, RLK_TROUBLE_TLS_FILES, notes);
}
