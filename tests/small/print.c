/* print.c - the words for each move, and for what it has changed. */
#include "small/print.h"

#include <stdio.h>

#include "core/attempt.h"
#include "small/check.h"
#include "small/drive.h"
#include "small/faults.h"
#include "small/moves.h"

static char client_name(unsigned c)
{
    return (char)('A' + (int)c);
}

static void print_message(unsigned c, uint8_t m)
{
    static const char *const kinds[] = {"", "SET", "release", "CLIENT KILL"};

    printf("%s", kinds[message_kind(m)]);
    if (message_kind(m) != REQUEST_KILL) {
        printf(" %c%u", client_name(c), message_claim(m) + 1);
    }
}

static void print_mask(unsigned mask)
{
    unsigned m;

    for (m = 0; m < MASTERS; m++) {
        if (mask >> m & 1) {
            printf(" %u", m + 1);
        }
    }
}

/* ---- what was done ---- */

static void print_client_move(const struct world *before, const struct move *move)
{
    const struct cell *cell = &before->cells[move->client][move->master];
    uint8_t reply = cell->n_replies ? cell->replies[0] : 0;

    printf("%c ", client_name(move->client));
    switch ((enum move_kind)move->kind) {
    case MOVE_START:
        printf("begins an attempt; knows of");
        print_mask(move->detail);
        break;
    case MOVE_REPLY:
        printf("hears from %u: %s to %c%u", move->master + 1u,
               message_kind(reply) == REPLY_YES ? "yes" : "no", client_name(move->client),
               message_claim(reply) + 1);
        break;
    case MOVE_TIMER:
        printf("is woken by its timer");
        break;
    case MOVE_TELL:
        printf("is called back");
        break;
    case MOVE_LET_GO:
        printf("lets go");
        break;
    case MOVE_CANCEL:
        printf("cancels");
        break;
    case MOVE_NOTICE:
        printf("notices that its connection to %u is gone", move->master + 1u);
        break;
    case MOVE_UP:
        printf("is connected to %u again", move->master + 1u);
        break;
    case MOVE_DOWN:
        printf("cannot connect to %u", move->master + 1u);
        break;
    case MOVE_TICK:
    case MOVE_REQUEST:
    case MOVE_GHOST:
    case MOVE_FAULT:
        break;
    }
}

static void print_fault(const struct move *move)
{
    unsigned fault = move->detail, on_client = FAULT_CRASH | FAULT_FREEZE;

    printf("FAULT %s", fault_name((enum fault)fault));
    if (fault & (on_client | FAULT_BREAK | FAULT_ERROR)) {
        printf(": %c", client_name(move->client));
    }
    if (fault & ~on_client) {
        printf("%s master %u", fault & (FAULT_BREAK | FAULT_ERROR) ? " and" : ":",
               move->master + 1u);
    }
}

static void print_move(const struct world *before, const struct move *move)
{
    switch ((enum move_kind)move->kind) {
    case MOVE_TICK:
        printf("the clock ticks");
        break;
    case MOVE_REQUEST:
        printf("%u carries out ", move->master + 1u);
        print_message(move->client, before->cells[move->client][move->master].requests[0]);
        break;
    case MOVE_GHOST:
        printf("%u carries out, from an ended connection, ", move->master + 1u);
        print_message(move->client, before->ghost.requests[0]);
        break;
    case MOVE_FAULT:
        print_fault(move);
        break;
    case MOVE_START:
    case MOVE_REPLY:
    case MOVE_TIMER:
    case MOVE_TELL:
    case MOVE_LET_GO:
    case MOVE_CANCEL:
    case MOVE_NOTICE:
    case MOVE_UP:
    case MOVE_DOWN:
        print_client_move(before, move);
        break;
    }
}

/* ---- what came of it ---- */

static const char *state_name(const struct client *c)
{
    static const char *const states[] = {
        [RLK_ATTEMPT_IDLE] = "idle",     [RLK_ATTEMPT_QUEUED] = "queued",
        [RLK_ATTEMPT_ASKING] = "asking", [RLK_ATTEMPT_WAITING] = "waiting",
        [RLK_ATTEMPT_WON] = "won",       [RLK_ATTEMPT_HELD] = "held",
        [RLK_ATTEMPT_FAILED] = "failed"};

    if (c->phase == PHASE_CRASHED) {
        return "crashed";
    }
    return c->phase == PHASE_IDLE ? "idle" : states[c->packed.attempt];
}

static void print_client_change(const struct world *before, const struct world *after, unsigned c)
{
    const char *was = state_name(&before->clients[c]), *is = state_name(&after->clients[c]);

    if (was != is) {
        printf("; %c: %s -> %s", client_name(c), was, is);
    }
    if (drive_believes(&before->clients[c]) && !drive_believes(&after->clients[c]) &&
        after->clients[c].phase == PHASE_HELD) {
        printf("; %c's validity is over", client_name(c));
    }
}

static void print_key_change(const struct master *was, const struct master *is, unsigned m)
{
    if (was->has_key == is->has_key && was->owner == is->owner && was->token == is->token) {
        return;
    }
    if (is->has_key) {
        printf("; %u has %c%u", m + 1, client_name(is->owner), is->token + 1u);
    } else {
        printf("; %u has no key", m + 1);
    }
}

static void print_change(const struct world *before, const struct world *after)
{
    unsigned i;

    for (i = 0; i < CLIENTS; i++) {
        print_client_change(before, after, i);
    }
    for (i = 0; i < MASTERS; i++) {
        print_key_change(&before->masters[i], &after->masters[i], i);
    }
}

void print_trace(const struct result *r, const char *prefix)
{
    unsigned tick = 0, i;

    for (i = 0; i < r->steps; i++) {
        tick += r->trace[i].kind == MOVE_TICK;
        printf("%s%3u. tick %u: ", prefix, i + 1, tick);
        print_move(&r->worlds[i], &r->trace[i]);
        print_change(&r->worlds[i], &r->worlds[i + 1]);
        putchar('\n');
    }
    printf("%s%s\n", prefix, check_text((enum wrong)r->wrong));
}
