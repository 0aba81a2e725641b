/* config.c - the schemes and the named configurations. */
#include "fence/config.h"

#include <string.h>

enum {
    RIGHT,
    NO_KEY,
    TWO_COMMANDS,
    GUARD_ONLY,
    COUNTED_ONLY,
    PER_NODE,
    QTH,
    READ_UNCONDITIONAL,
    READ_WHERE_MINE,
    INCR_UNCONDITIONAL,
    INCR_WHERE_MINE,
    CLOCK,
    EARLY_HEAL,
    TWO_VOTES,
    MINORITY,
    TWO_COMMANDS_NOT_ABOVE,
    ANY_HINT
};

const struct scheme schemes[] = {
    [RIGHT] = {.name = "right", .writes_back = true, .needs_key = true, .guard = GUARD_BELOW},

    /* The least that the proof needs, which looks at no key: also where the VOTE is two commands,
     * between which anything may happen. */
    [NO_KEY] = {.name = "no-key", .writes_back = true, .guard = GUARD_BELOW},
    [TWO_COMMANDS] = {.name = "two-commands",
                      .writes_back = true,
                      .needs_key = true,
                      .guard = GUARD_BELOW,
                      .two_commands = true},

    /* Where a VOTE is one command, two weaker rules keep a CONFIRM from a master whose counter is
     * past the fence. Each of them is enough by itself. */
    [GUARD_ONLY] = {.name = "guard-only",
                    .writes_back = true,
                    .needs_key = true,
                    .guard = GUARD_NOT_ABOVE,
                    .to_all = true},
    [COUNTED_ONLY] = {.name = "counted-only", .writes_back = true, .needs_key = true},

    /* Schemes that one would think of first. All of them are wrong. */
    [PER_NODE] = {.name = "per-node-incr"},
    [QTH] = {.name = "qth-largest", .decision = DECIDE_QTH_LARGEST},
    [READ_UNCONDITIONAL] = {.name = "read-write-unconditional",
                            .vote = VOTE_READ,
                            .decision = DECIDE_LARGEST_PLUS_ONE,
                            .writes_back = true,
                            .to_all = true},
    [READ_WHERE_MINE] = {.name = "read-write-where-mine",
                         .vote = VOTE_READ,
                         .decision = DECIDE_LARGEST_PLUS_ONE,
                         .writes_back = true,
                         .needs_key = true,
                         .to_all = true},
    [INCR_UNCONDITIONAL] = {.name = "incr-write-unconditional",
                            .writes_back = true,
                            .to_all = true},
    [INCR_WHERE_MINE] = {.name = "incr-write-where-mine",
                         .writes_back = true,
                         .needs_key = true,
                         .to_all = true},
    [CLOCK] = {.name = "time-stamps", .vote = VOTE_PLAIN, .decision = DECIDE_CLOCK},

    /* A weaker guard, and without something else that it then needs. */
    [EARLY_HEAL] = {.name = "early-heal",
                    .writes_back = true,
                    .needs_key = true,
                    .guard = GUARD_NOT_ABOVE,
                    .heals_early = true},
    [TWO_VOTES] = {.name = "two-votes",
                   .writes_back = true,
                   .needs_key = true,
                   .votes_twice = true},
    [TWO_COMMANDS_NOT_ABOVE] = {.name = "two-commands-not-above",
                                .writes_back = true,
                                .needs_key = true,
                                .guard = GUARD_NOT_ABOVE,
                                .two_commands = true},

    [MINORITY] = {.name = "minority",
                  .writes_back = true,
                  .needs_key = true,
                  .guard = GUARD_BELOW,
                  .minority = true},
    [ANY_HINT] = {.name = "any-hint",
                  .writes_back = true,
                  .needs_key = true,
                  .guard = GUARD_BELOW,
                  .any_hint = true},
};
const unsigned n_schemes = sizeof(schemes) / sizeof(schemes[0]);

#define CONFIG(NAME, ABOUT, SCHEME, N, K)                                                          \
    .name = (NAME), .about = (ABOUT), .scheme = &schemes[SCHEME], .nodes = (N), .attempts = (K)
#define BOTH .extend = true, .heal = true
#define FINDS(WHAT) .expect = (WHAT), .runs = RUN_SUITE | RUN_REDUCED
#define SUITE .runs = RUN_SUITE | RUN_REDUCED
#define PLAIN_OF(NAME) .plain = true, .same_as = (NAME)

const struct config configs[] = {
    {CONFIG("three", "3 masters, 3 attempts, extend and heal", RIGHT, 3, 3), BOTH, SUITE},
    {CONFIG("three-extend", "3 masters, 3 attempts, extend", RIGHT, 3, 3), .extend = true, SUITE},
    {CONFIG("three-bare", "3 masters, 3 attempts, neither extend nor heal", RIGHT, 3, 3), SUITE},
    {CONFIG("three-forgets", "3 masters, 3 attempts, extend and heal; one forgets, in quarantine",
            RIGHT, 3, 3),
     BOTH, .forgetting = FORGETS_QUARANTINED, SUITE},
    {CONFIG("three-hints", "3 masters, 3 attempts, extend and heal; any hint up to 2 in each VOTE",
            RIGHT, 3, 3),
     BOTH, .hints = 2, SUITE},
    {CONFIG("two-hints", "3 masters, 2 attempts, extend and heal; any hint up to 5 in each VOTE",
            RIGHT, 3, 2),
     BOTH, .hints = 5, SUITE},
    {CONFIG("three-four", "3 masters, 4 attempts, extend and heal", RIGHT, 3, 4), BOTH,
     .runs = RUN_LARGE},
    {CONFIG("four", "4 masters, 2 attempts, extend and heal", RIGHT, 4, 2), BOTH, SUITE},
    {CONFIG("five", "5 masters, 2 attempts, extend and heal", RIGHT, 5, 2), BOTH, SUITE},
    {CONFIG("five-forgets", "5 masters, 2 attempts, extend and heal; one forgets, in quarantine",
            RIGHT, 5, 2),
     BOTH, .forgetting = FORGETS_QUARANTINED, SUITE},
    {CONFIG("five-three", "5 masters, 3 attempts, extend and heal", RIGHT, 5, 3), BOTH,
     .runs = RUN_LARGE},
    {CONFIG("guard-only", "3 masters, 3 attempts; CONFIRM to all, where F <= m", GUARD_ONLY, 3, 3),
     BOTH, SUITE},
    {CONFIG("counted-only", "3 masters, 3 attempts; CONFIRM to those counted, whatever F",
            COUNTED_ONLY, 3, 3),
     BOTH, SUITE},

    {CONFIG("no-key", "3 masters, 3 attempts; CONFIRM where F < m, whosever key is there", NO_KEY,
            3, 3),
     BOTH, SUITE},
    {CONFIG("two-commands", "3 masters, 2 attempts; SET and INCR, by losers up to 2, plain",
            TWO_COMMANDS, 3, 2),
     .losers = 2, .plain = true, .runs = RUN_LARGE},

    /* The merged steps are compared with each step by itself. The configuration that is compared
     * follows the one that it is compared with. */
    {CONFIG("two", "3 masters, 2 attempts, extend and heal", RIGHT, 3, 2), BOTH, .numbers = true,
     SUITE},
    {CONFIG("two-plain", "3 masters, 2 attempts, extend and heal, plain", RIGHT, 3, 2), BOTH,
     PLAIN_OF("two"), SUITE},
    {CONFIG("two-extend", "3 masters, 2 attempts, extend", RIGHT, 3, 2), .extend = true,
     .numbers = true, SUITE},
    {CONFIG("two-extend-plain", "3 masters, 2 attempts, extend, plain", RIGHT, 3, 2),
     .extend = true, PLAIN_OF("two-extend"), SUITE},
    {CONFIG("two-bare", "3 masters, 2 attempts, neither", RIGHT, 3, 2), .numbers = true, SUITE},
    {CONFIG("two-bare-plain", "3 masters, 2 attempts, neither, plain", RIGHT, 3, 2),
     PLAIN_OF("two-bare"), SUITE},
    {CONFIG("two-forgets", "3 masters, 2 attempts, extend and heal; one forgets, in quarantine",
            RIGHT, 3, 2),
     BOTH, .forgetting = FORGETS_QUARANTINED, .numbers = true, SUITE},
    {CONFIG("two-forgets-plain", "3 masters, 2 attempts, extend and heal; one forgets, plain",
            RIGHT, 3, 2),
     BOTH, .forgetting = FORGETS_QUARANTINED, PLAIN_OF("two-forgets"), SUITE},

    {CONFIG("two-few-hints",
            "3 masters, 2 attempts, extend and heal; any hint up to 2 in each VOTE", RIGHT, 3, 2),
     BOTH, .hints = 2, .numbers = true, SUITE},
    {CONFIG("two-few-hints-plain",
            "3 masters, 2 attempts, extend and heal; any hint up to 2, plain", RIGHT, 3, 2),
     BOTH, .hints = 2, PLAIN_OF("two-few-hints"), SUITE},

    {CONFIG("per-node-incr", "per-node INCR, max over the voters", PER_NODE, 3, 3),
     FINDS(WRONG_DUPLICATE)},
    {CONFIG("qth-largest", "per-node INCR, q-th largest of the votes", QTH, 3, 3),
     FINDS(WRONG_DUPLICATE)},
    {CONFIG("read-write", "read, write back max + 1 unconditionally", READ_UNCONDITIONAL, 3, 3),
     FINDS(WRONG_DUPLICATE)},
    {CONFIG("read-write-mine", "read, write back max + 1 where the key is mine, counted or not",
            READ_WHERE_MINE, 3, 3),
     FINDS(WRONG_DUPLICATE)},
    {CONFIG("incr-write", "INCR, write back unconditionally", INCR_UNCONDITIONAL, 3, 3),
     FINDS(WRONG_DUPLICATE)},
    {CONFIG("incr-write-mine", "INCR, write back where the key is mine, counted or not, whatever F",
            INCR_WHERE_MINE, 3, 3),
     FINDS(WRONG_DUPLICATE)},
    {CONFIG("forgets-counted", "a master that forgot is counted at once", RIGHT, 3, 3),
     .forgetting = FORGETS_COUNTED, FINDS(WRONG_DUPLICATE)},
    {CONFIG("forgets-counted-order", "a master that forgot is counted at once: the order", RIGHT, 3,
            3),
     .hints = 2, .forgetting = FORGETS_COUNTED, FINDS(WRONG_ORDER)},
    {CONFIG("time-stamps", "time stamps alone", CLOCK, 3, 2), FINDS(WRONG_DUPLICATE)},
    {CONFIG("time-stamps-order", "time stamps alone: the order", CLOCK, 3, 2), FINDS(WRONG_ORDER)},
    {CONFIG("early-heal", "a key is set again before the lock is held", EARLY_HEAL, 3, 3), BOTH,
     FINDS(WRONG_DUPLICATE)},
    {CONFIG("two-votes", "one token for two tries, and CONFIRM whatever F", TWO_VOTES, 3, 3), BOTH,
     FINDS(WRONG_DUPLICATE)},
    {CONFIG("two-commands-not-above", "SET and INCR, CONFIRM where F <= m", TWO_COMMANDS_NOT_ABOVE,
            3, 2),
     BOTH, .losers = 2, .plain = true, .expect = WRONG_DUPLICATE, .runs = RUN_SUITE},
    {CONFIG("any-hint", "a hint is any number, and masters take it as it is", ANY_HINT, 3, 3), BOTH,
     FINDS(WRONG_USED_UP)},
    {CONFIG("minority", "one less than a majority", MINORITY, 3, 3), BOTH, FINDS(WRONG_DUPLICATE)},
    {CONFIG("per-node-incr-plain", "per-node INCR, max over the voters, plain", PER_NODE, 3, 3),
     .plain = true, FINDS(WRONG_DUPLICATE)},
    {CONFIG("forgets-counted-plain", "a master that forgot is counted at once, plain", RIGHT, 3, 3),
     .forgetting = FORGETS_COUNTED, .plain = true, FINDS(WRONG_DUPLICATE)},

    {CONFIG("two-commands-kept",
            "3 masters, 2 attempts, extend and heal; SET and INCR, by losers up to 3, plain",
            TWO_COMMANDS, 3, 2),
     BOTH, .losers = 3, .plain = true, .runs = RUN_LARGE},
    {CONFIG("two-commands-forgets",
            "3 masters, 2 attempts, extend and heal; SET and INCR, by losers up to 2; one forgets, "
            "in quarantine, plain",
            TWO_COMMANDS, 3, 2),
     BOTH, .losers = 2, .forgetting = FORGETS_QUARANTINED, .plain = true, .runs = RUN_LARGE},
    {CONFIG("five-numbers", "5 masters, 2 attempts, extend and heal", RIGHT, 5, 2), BOTH,
     .numbers = true, .runs = RUN_LARGE},
    {CONFIG("five-plain", "5 masters, 2 attempts, extend and heal, plain", RIGHT, 5, 2), BOTH,
     PLAIN_OF("five-numbers"), .runs = RUN_LARGE},
    {CONFIG("three-numbers", "3 masters, 3 attempts, extend and heal", RIGHT, 3, 3), BOTH,
     .numbers = true, .runs = RUN_LARGE},
    {CONFIG("three-plain", "3 masters, 3 attempts, extend and heal, plain", RIGHT, 3, 3), BOTH,
     PLAIN_OF("three-numbers"), .runs = RUN_LARGE},
    {CONFIG("three-bare-numbers", "3 masters, 3 attempts, neither extend nor heal", RIGHT, 3, 3),
     .numbers = true, .runs = RUN_LARGE},
    {CONFIG("three-bare-plain", "3 masters, 3 attempts, neither extend nor heal, plain", RIGHT, 3,
            3),
     PLAIN_OF("three-bare-numbers"), .runs = RUN_LARGE},
    {CONFIG("three-extend-numbers", "3 masters, 3 attempts, extend", RIGHT, 3, 3), .extend = true,
     .numbers = true, .runs = RUN_LARGE},
    {CONFIG("three-extend-plain", "3 masters, 3 attempts, extend, plain", RIGHT, 3, 3),
     .extend = true, PLAIN_OF("three-extend-numbers"), .runs = RUN_LARGE},
    {CONFIG("three-forgets-numbers",
            "3 masters, 3 attempts, extend and heal; one forgets, in quarantine", RIGHT, 3, 3),
     BOTH, .forgetting = FORGETS_QUARANTINED, .numbers = true, .runs = RUN_LARGE},
    {CONFIG("three-forgets-plain", "3 masters, 3 attempts, extend and heal; one forgets, plain",
            RIGHT, 3, 3),
     BOTH, .forgetting = FORGETS_QUARANTINED, PLAIN_OF("three-forgets-numbers"), .runs = RUN_LARGE},
};
const unsigned n_configs = sizeof(configs) / sizeof(configs[0]);

const struct config *config_by_name(const char *name)
{
    unsigned i;

    for (i = 0; i < n_configs; i++) {
        if (strcmp(configs[i].name, name) == 0) {
            return &configs[i];
        }
    }
    return NULL;
}

const struct scheme *scheme_by_name(const char *name)
{
    unsigned i;

    for (i = 0; i < n_schemes; i++) {
        if (strcmp(schemes[i].name, name) == 0) {
            return &schemes[i];
        }
    }
    return NULL;
}

unsigned config_quorum(const struct config *c)
{
    return c->nodes / 2 + 1 - c->scheme->minority;
}
