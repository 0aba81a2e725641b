/* print.c - the words for each move, and for what it has changed. */
#include "broken/print.h"

#include <stdio.h>

#include "broken/moves.h"

static const char *said_text(uint8_t said)
{
    static const char *const texts[] = {"nothing", "yes", "no key", "somebody else's", "ours"};

    return texts[said];
}

static const char *ask_text(uint8_t ask)
{
    static const char *const texts[] = {"nothing", "SET", "keep"};

    return texts[ask];
}

static void print_move(const struct world *before, const struct move *move)
{
    static const char *const texts[MOVES] = {[MOVE_TICK] = "the clock ticks",
                                             [MOVE_RENEW] = "A begins to renew",
                                             [MOVE_RESTORE] = "A restores what is missing",
                                             [MOVE_O_TELL] = "O tells its user"};
    static const char *const of_others[MOVES] = {[MOVE_B_SET] = "SET of B",
                                                 [MOVE_B_RELEASE] = "the release of B",
                                                 [MOVE_O_SWAP] = "the swap of O, who hears of it",
                                                 [MOVE_O_SWAP_UNREAD] =
                                                     "the swap of O, who does not hear of it",
                                                 [MOVE_O_RELEASE] = "the release of O"};
    const struct master *x = &before->masters[move->master];
    unsigned m = move->master + 1u;

    if (move->kind < MOVES && texts[move->kind]) {
        printf("%s", texts[move->kind]);
    } else if (move->kind == MOVE_CARRY_OUT) {
        printf("%u carries out %s of A", m, ask_text(x->a_ask));
    } else if (move->kind == MOVE_READ) {
        printf("A hears from %u: %s to %s", m, said_text(x->a_reply), ask_text(x->a_ask));
    } else if (move->kind == MOVE_LOSE) {
        printf("A waits no more for %u", m);
    } else if (move->kind == MOVE_LATE) {
        printf("%u carries out, late, %s of A", m, ask_text(x->lost_ask));
    } else {
        printf("%u carries out %s", m, of_others[move->kind]);
    }
}

static void print_change(const struct world *before, const struct world *after)
{
    unsigned m;

    for (m = 0; m < MASTERS; m++) {
        if (before->masters[m].owner != after->masters[m].owner) {
            printf("; %u has %s", m + 1,
                   after->masters[m].owner
                       ? (const char *[]){"", "A", "B", "O"}[after->masters[m].owner]
                       : "no key");
        }
    }
    if (before->valid_us != after->valid_us && after->valid_us + TICK_US != before->valid_us) {
        printf("; A has %.3f ms left", after->valid_us / 1e3);
    }
    if (!world_b_believes(before) && world_b_believes(after)) {
        printf("; B may hold the lock");
    }
    if (before->told != after->told && after->told == TOLD_BROKEN) {
        printf(": broken, and over in %.3f ms", after->until_us / 1e3);
    } else if (before->told != after->told) {
        printf(": not broken");
    }
}

void print_trace(const struct result *r, const char *prefix)
{
    unsigned i;

    for (i = 0; i < r->steps; i++) {
        printf("%s%3u. ", prefix, i + 1);
        print_move(&r->worlds[i], &r->trace[i]);
        print_change(&r->worlds[i], &r->worlds[i + 1]);
        putchar('\n');
    }
    printf("%s%s\n", prefix, print_wrong(r->wrong));
}

const char *print_wrong(unsigned wrong)
{
    static const char *const texts[WRONGS] = {
        "nothing", "EXCLUSION: A and B believe in the lock",
        "BOUND: A believes in the lock after the time that O was told",
        "UNTRUE: O was told that the lock is broken, and no majority has the new token",
        "RENEWED: A renews a lock that O was told to be broken"};

    return texts[wrong];
}
