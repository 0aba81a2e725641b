/* check.c - the properties, each a function of one world. */
#include "small/check.h"

#include "core/attempt.h"
#include "small/drive.h"

/* Never two at once: told, not let go, and by its own clock still valid. */
static bool two_believe(const struct world *w)
{
    return drive_believes(&w->clients[0]) && drive_believes(&w->clients[1]);
}

/* Its owner asks for it or holds it. */
static bool is_wanted(const struct client *c, unsigned token)
{
    if (c->phase == PHASE_HELD) {
        return world_token(world_claim(c)) == token;
    }
    return c->phase == PHASE_PENDING && c->packed.attempt != RLK_ATTEMPT_FAILED &&
           c->packed.round != RLK_ROUND_LOST && world_token(world_claim(c)) == token;
}

/* Its release is on the way, or owed. A release in a connection that is cut will be. */
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

/* Stronger than to look when all is over: a key that nobody wants and nobody will delete is
 * wrong from its first moment, and every later state in which it is left has passed here. A
 * crashed client leaves its keys to the ttl. */
static bool is_left(const struct world *w, unsigned m)
{
    const struct master *master = &w->masters[m];
    const struct client *owner = &w->clients[master->owner];

    return master->has_key && owner->phase != PHASE_CRASHED && !is_wanted(owner, master->token) &&
           !is_dealt_with(&w->cells[master->owner][m], master->token);
}

/* A pending attempt is in line to be told, or something will wake it: its timer is set and every
 * timer that is due changes something (drive.c), and its rounds are counted. */
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
            return WRONG_UNTOLD;
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
        "NOTHING LEFT: a key is there that nobody wants, releases or owes",
        "TOLD: an attempt waits for nothing",
        "TOLD: a win was told when its validity was over",
        "TOLD: a failure was told without a reason",
        "TOLD: an attempt that was cancelled goes on",
        "QUIET: an attempt that failed or waits acted on a late event"};

    return texts[wrong];
}
