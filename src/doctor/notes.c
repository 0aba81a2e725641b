/* notes.c - the codes, and texts in a buffer that does not grow. */
#include "doctor/notes.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const codes[] = {
    [REDLOCK_FOUND_DOWN] = "down",
    [REDLOCK_FOUND_UNRESPONSIVE] = "unresponsive",
    [REDLOCK_FOUND_LOGIN] = "login",
    [REDLOCK_FOUND_DUPLICATE] = "duplicate",
    [REDLOCK_FOUND_ROLE] = "role",
    [REDLOCK_FOUND_LOADING] = "loading",
    [REDLOCK_FOUND_REFUSES] = "refuses",
    [REDLOCK_FOUND_RIGHTS] = "rights",
    [REDLOCK_FOUND_KEYS] = "keys",
    [REDLOCK_FOUND_QUARANTINE] = "quarantine",
    [REDLOCK_FOUND_EVICTION] = "eviction",
    [REDLOCK_FOUND_MEMORY] = "memory",
    [REDLOCK_FOUND_DISK] = "disk",
    [REDLOCK_FOUND_VOLATILE] = "volatile",
    [REDLOCK_FOUND_REPLICAS] = "replicas",
    [REDLOCK_FOUND_PROMOTED] = "promoted",
    [REDLOCK_FOUND_MIN_REPLICAS] = "min-replicas",
    [REDLOCK_FOUND_PLAINTEXT] = "plaintext",
    [REDLOCK_FOUND_PRODUCT] = "product",
    [REDLOCK_FOUND_SLOW] = "slow",
    [REDLOCK_FOUND_DATABASE] = "database",
    [REDLOCK_FOUND_TLS] = "tls",
    [REDLOCK_FOUND_UNVERIFIED] = "unverified",
    [REDLOCK_FOUND_SUBSCRIBER] = "subscriber",
    [REDLOCK_FOUND_SEVERAL] = "several-addresses",
    [REDLOCK_FOUND_NO_MAJORITY] = "no-majority",
    [REDLOCK_FOUND_NOT_YET] = "not-yet",
    [REDLOCK_FOUND_NO_SPARE] = "no-spare",
    [REDLOCK_FOUND_FEW] = "few",
    [REDLOCK_FOUND_EVEN] = "even",
    [REDLOCK_FOUND_CLOCKS] = "clocks",
    [REDLOCK_FOUND_OWN_CLOCK] = "own-clock",
    [REDLOCK_FOUND_POLICIES] = "policies",
    [REDLOCK_FOUND_SAME_SERVERS] = "same-servers",
};

const char *rlk_notes_code(enum redlock_finding_kind kind)
{
    size_t i = (size_t)kind;

    return i < sizeof(codes) / sizeof(codes[0]) && codes[i] ? codes[i] : "";
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

void rlk_note(struct rlk_notes *notes, enum redlock_finding_kind kind,
              enum redlock_severity severity, const char *fix, const char *format, ...)
{
    struct redlock_finding *f = &notes->finding[notes->n];
    va_list args;

    if (notes->n == RLK_NOTES_MAX) {
        return;
    }
    notes->n++;
    notes->worst = severity > notes->worst ? severity : notes->worst;
    f->size = sizeof(*f);
    f->node = notes->node;
    f->severity = severity;
    f->kind = kind;
    f->code = rlk_notes_code(kind);
    f->fix = fix;
    va_start(args, format);
    f->text = keep_text(notes, format, args);
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
