/* check.c - the properties, each a function of one world. */
#include "small/check.h"

#include "core/attempt.h"
#include "small/drive.h"

/* No two clients at once have a lock that was reported to them, that they did not release, and that
 * is valid by their clocks. */
static bool two_believe(const struct world *w)
{
    return drive_believes(&w->clients[0]) && drive_believes(&w->clients[1]);
}

/* The owner of the key asks for it or holds it. */
static bool is_wanted(const struct client *c, unsigned token)
{
    if (c->phase == PHASE_HELD) {
        return world_token(world_claim(c)) == token;
    }
    return c->phase == PHASE_PENDING && c->packed.attempt != RLK_ATTEMPT_FAILED &&
           c->packed.round != RLK_ROUND_LOST && world_token(world_claim(c)) == token;
}

/* The release of the key is in flight or pending. A release over a connection that is cut will be
 * pending. */
static bool is_dealt_with(const struct cell *cell, unsigned token)
{
    unsigned i;

    for (i = 0; i < cell->n_requests; i++) {
        if (message_kind(cell->requests[i]) == REQUEST_RELEASE &&
            world_token(message_claim(cell->requests[i])) == token) {
            return true;
        }
    }
    for (i = 0; i < CLAIMS; i++) {
        if (cell->pending[i] && world_token(i) == token) {
            return true;
        }
    }
    return false;
}

/* This is stricter than a check at the end: a key that nobody wants and nobody will delete is wrong
 * from its first moment, and each later world with that key comes after this one. A client that
 * crashed leaves its keys to their ttl. */
static bool is_left(const struct world *w, unsigned m)
{
    const struct master *master = &w->masters[m];
    const struct client *owner = &w->clients[master->owner];

    return master->has_key && owner->phase != PHASE_CRASHED && !is_wanted(owner, master->token) &&
           !is_dealt_with(&w->cells[master->owner][m], master->token);
}

/* A pending attempt has a result to be reported, or something will wake it: its timer is set, every
 * timer that is due changes something (drive.c), and its rounds are limited. */
static bool is_forgotten(const struct client *c)
{
    return c->phase == PHASE_PENDING && !c->report && c->timer == TICKS_NEVER;
}

enum wrong check_world(const struct world *w)
{
    unsigned i;

    if (two_believe(w)) {
        return WRONG_EXCLUSION;
    }
    for (i = 0; i < MASTERS; i++) {
        if (is_left(w, i)) {
            return WRONG_LEFT;
        }
    }
    for (i = 0; i < CLIENTS; i++) {
        if (is_forgotten(&w->clients[i])) {
            return WRONG_UNREPORTED;
        }
    }
    return WRONG_NOTHING;
}

const char *check_text(enum wrong wrong)
{
    static const char *const texts[WRONGS] = {
        "nothing",
        "EXCLUSION: two clients believe in the lock",
        "TOKEN: a token was set twice at one master",
        "NOTHING LEFT: a key is there that nobody wants or releases, and no release is pending",
        "RESULT: nothing will end an attempt",
        "RESULT: a win was reported after its validity was over",
        "RESULT: a failure was reported without a reason",
        "RESULT: an attempt that was cancelled goes on",
        "QUIET: an attempt that failed or waits acted on a late event"};

    return texts[wrong];
}
