/* notes.c - the table of findings, and texts in a buffer that does not grow. */
#include "doctor/notes.h"

#include <stdarg.h>
#include <stdio.h>

#define FIX_UNUSABLE "Fix the masters that are unusable."
#define KEEP_CLOCKS "Let NTP (chrony, systemd-timesyncd) keep the clocks of all machines."

static const struct rlk_finding_row rows[] = {
    [0] = {.code = ""},
    [REDLOCK_FOUND_DOWN] = {"down", REDLOCK_UNUSABLE,
                            "Check that it runs, that its address is right (bind, port), and that "
                            "no firewall is in between."},
    [REDLOCK_FOUND_UNRESPONSIVE] = {"unresponsive", REDLOCK_UNUSABLE,
                                    "Check what keeps it busy (SLOWLOG GET)."},
    [REDLOCK_FOUND_LOGIN] = {"login", REDLOCK_UNUSABLE,
                             "Give a user and a password that it accepts (ACL LIST on this master "
                             "shows its users)."},
    [REDLOCK_FOUND_DUPLICATE] = {.code = "duplicate", .severity = REDLOCK_UNUSABLE},
    [REDLOCK_FOUND_ROLE] = {.code = "role", .severity = REDLOCK_UNUSABLE},
    [REDLOCK_FOUND_LOADING] = {"loading", REDLOCK_NO_VOTE, "Wait until it has loaded its data."},
    [REDLOCK_FOUND_REFUSES] = {"refuses", REDLOCK_UNUSABLE,
                               "Fix the cause of this error; until then no lock can be acquired "
                               "there."},
    [REDLOCK_FOUND_RIGHTS] = {.code = "rights", .severity = REDLOCK_UNUSABLE},
    [REDLOCK_FOUND_KEYS] = {.code = "keys"},
    [REDLOCK_FOUND_QUARANTINE] = {.code = "quarantine", .severity = REDLOCK_NO_VOTE},
    [REDLOCK_FOUND_EVICTION] = {"eviction", REDLOCK_WARNING,
                                "CONFIG SET maxmemory-policy noeviction, and set the same in its "
                                "configuration file."},
    [REDLOCK_FOUND_MEMORY] = {"memory", REDLOCK_WARNING,
                              "Raise its maxmemory, or move other data to another server."},
    [REDLOCK_FOUND_DISK] = {"disk", REDLOCK_WARNING,
                            "Check its log, and whether its disk is full or read-only."},
    [REDLOCK_FOUND_VOLATILE] = {"volatile", REDLOCK_WARNING,
                                "Use quarantine=strict, or set appendonly yes and appendfsync "
                                "always on this master."},
    [REDLOCK_FOUND_REPLICAS] = {"replicas", REDLOCK_FINE,
                                "Make sure that nothing (a sentinel, an operator) ever puts a "
                                "replica at its address."},
    [REDLOCK_FOUND_PROMOTED] = {"promoted", REDLOCK_WARNING,
                                "Turn off its failover, and restart it when no lock is held."},
    [REDLOCK_FOUND_MIN_REPLICAS] = {"min-replicas", REDLOCK_WARNING,
                                    "CONFIG SET min-replicas-to-write 0, and set the same in its "
                                    "configuration file."},
    [REDLOCK_FOUND_PLAINTEXT] = {"plaintext", REDLOCK_FINE,
                                 "Use TLS (rediss://), a private network, or an encrypted tunnel."},
    [REDLOCK_FOUND_PRODUCT] = {"product", REDLOCK_FINE, ""},
    [REDLOCK_FOUND_SLOW] = {"slow", REDLOCK_WARNING,
                            "Check what keeps it busy (SLOWLOG GET, LATENCY DOCTOR), or raise "
                            "node_timeout_ms."},
    [REDLOCK_FOUND_DATABASE] = {.code = "database", .severity = REDLOCK_UNUSABLE},
    [REDLOCK_FOUND_TLS] = {"tls", REDLOCK_UNUSABLE,
                           "openssl s_client -connect HOST:PORT shows its certificates, and what "
                           "it wants of clients."},
    [REDLOCK_FOUND_UNVERIFIED] = {"unverified", REDLOCK_WARNING,
                                  "Remove verify=none; give the CA of its certificate as "
                                  "cacert=FILE."},
    [REDLOCK_FOUND_SUBSCRIBER] = {"subscriber", REDLOCK_WARNING,
                                  "Fix the cause that this finding names; until then waiters poll "
                                  "this master."},
    [REDLOCK_FOUND_SEVERAL] = {.code = "several-addresses", .severity = REDLOCK_WARNING},
    [REDLOCK_FOUND_UNRECORDED] = {.code = "unrecorded", .severity = REDLOCK_WARNING},
    [REDLOCK_FOUND_REPLAY] = {"replay", REDLOCK_WARNING,
                              "Give the user \"default\" all rights: \"user default off ~* &* "
                              "+@all\" in its configuration keeps it switched off."},
    [REDLOCK_FOUND_NO_MAJORITY] = {"no-majority", REDLOCK_UNUSABLE, FIX_UNUSABLE},
    [REDLOCK_FOUND_NOT_YET] = {"not-yet", REDLOCK_NO_VOTE,
                               "Wait, or see the findings about each master."},
    [REDLOCK_FOUND_NO_SPARE] = {"no-spare", REDLOCK_WARNING, FIX_UNUSABLE},
    [REDLOCK_FOUND_FEW] = {"few", REDLOCK_WARNING,
                           "Use three masters, of which one may fail, or five."},
    [REDLOCK_FOUND_EVEN] = {"even", REDLOCK_FINE, "Use an odd number of masters."},
    [REDLOCK_FOUND_CLOCKS] = {"clocks", REDLOCK_WARNING, KEEP_CLOCKS},
    [REDLOCK_FOUND_OWN_CLOCK] = {"own-clock", REDLOCK_WARNING, KEEP_CLOCKS},
    [REDLOCK_FOUND_POLICIES] = {"policies", REDLOCK_FINE,
                                "Check that this is intended, and that all clients use the same "
                                "policies."},
    [REDLOCK_FOUND_SAME_SERVERS] = {"same-servers", REDLOCK_UNUSABLE,
                                    "List each master once, under one address."},
    [REDLOCK_FOUND_RECORD] = {"record", REDLOCK_UNUSABLE,
                              "Correct the list of masters or max-ttl here. If the record is "
                              "wrong, stop all clients of these masters, run redlock masters "
                              "delete, and start them again."},
};

const struct rlk_finding_row *rlk_finding_row(enum redlock_finding_kind kind)
{
    size_t i = (size_t)kind;

    return &rows[i < sizeof(rows) / sizeof(rows[0]) && rows[i].code ? i : 0];
}

/* ---- taking notes ---- */

void rlk_notes_begin(struct rlk_notes *notes, int node)
{
    notes->node = node;
    notes->n = notes->used = 0;
    notes->worst = REDLOCK_FINE;
}

__attribute__((format(printf, 2, 0))) static const char *keep_text(struct rlk_notes *notes,
                                                                   const char *format, va_list args)
{
    size_t room = sizeof(notes->buffer) - notes->used;
    char *text = notes->buffer + notes->used;
    int len;

    if (room < 2) {
        return "";
    }
    len = vsnprintf(text, room, format, args);
    notes->used += len < 0 ? 0 : (size_t)len < room ? (size_t)len + 1 : room;
    return len < 0 ? "" : text;
}

__attribute__((format(printf, 5, 0))) static void
add_finding(struct rlk_notes *notes, enum redlock_finding_kind kind, enum redlock_severity severity,
            const char *fix, const char *format, va_list args)
{
    const struct rlk_finding_row *row = rlk_finding_row(kind);
    struct redlock_finding *f = &notes->finding[notes->n];

    if (notes->n == RLK_NOTES_MAX) {
        return;
    }
    notes->n++;
    notes->worst = severity > notes->worst ? severity : notes->worst;
    fix = fix ? fix : row->fix;
    *f = (struct redlock_finding){.size = sizeof(*f),
                                  .node = notes->node,
                                  .severity = severity,
                                  .kind = kind,
                                  .code = row->code,
                                  .text = keep_text(notes, format, args),
                                  .fix = fix ? fix : ""};
}

void rlk_note(struct rlk_notes *notes, enum redlock_finding_kind kind, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_finding(notes, kind, rlk_finding_row(kind)->severity, NULL, format, args);
    va_end(args);
}

void rlk_note_as(struct rlk_notes *notes, enum redlock_finding_kind kind,
                 enum redlock_severity severity, const char *fix, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_finding(notes, kind, severity, fix, format, args);
    va_end(args);
}

const char *rlk_notes_text(struct rlk_notes *notes, const char *format, ...)
{
    const char *kept;
    va_list args;

    va_start(args, format);
    kept = keep_text(notes, format, args);
    va_end(args);
    return kept;
}
