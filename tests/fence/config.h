/* fence/config.h - what is searched: a scheme, the numbers of masters and attempts, and faults. */
#ifndef RLK_FENCE_CONFIG_H
#define RLK_FENCE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#define MAX_NODES 5u
#define MAX_ATTEMPTS 4u

enum vote {
    VOTE_INCREMENT, /* F := max(F + 1, hint); F is the answer */
    VOTE_READ,      /* the answer is F, unchanged */
    VOTE_PLAIN      /* no counter at all: the fence is the wall clock of the client */
};

enum decision {
    DECIDE_LARGEST,
    DECIDE_QTH_LARGEST,
    DECIDE_LARGEST_PLUS_ONE,
    DECIDE_CLOCK
};

/* Where the counter of a master is so, it may CONFIRM the fence. */
enum guard {
    GUARD_NONE,
    GUARD_NOT_ABOVE,
    GUARD_BELOW
};

/* How fences are chosen. `right` is the scheme of the library; each other scheme differs from it as
 * its name says. */
struct scheme {
    const char *name;
    enum vote vote;
    enum decision decision;
    bool
        writes_back; /* the client sends the fence to the masters, and a majority must confirm it */
    bool needs_key;  /* ... where the key is still that of the attempt */
    enum guard guard;  /* ... and the counter is so */
    bool to_all;       /* ... also to masters whose vote was not counted */
    bool heals_early;  /* keys are set again before the lock is held */
    bool votes_twice;  /* a VOTE may be carried out twice: the token of a try is used once more */
    bool two_commands; /* a VOTE is two commands: set the key, and count; losers count, too. Only
                          searched with `plain` */
    bool any_hint;     /* a hint may be any number, and the master takes it as it is */
    bool minority;     /* one less than a majority is enough */
};

/* One master may lose its key and its counter, once. */
enum forgetting {
    FORGETS_NOT,
    FORGETS_QUARANTINED,
    FORGETS_COUNTED
};

/* Bits: what may be found wrong in a world. */
enum wrong {
    WRONG_NOTHING = 0,
    WRONG_DUPLICATE = 1,
    WRONG_ORDER = 2,
    WRONG_USED_UP = 4 /* no number is left for a VOTE */
};

enum run {
    RUN_SUITE = 1,
    RUN_REDUCED = 2,
    RUN_LARGE = 4
};

struct config {
    const char *name, *about;
    const struct scheme *scheme;
    unsigned nodes, attempts;
    bool extend, heal;
    enum forgetting forgetting;
    unsigned losers; /* whoever did not get the key counts, at any time, up to this */
    unsigned hints;  /* a VOTE carries any hint, which the master cuts to any number up to this by
                        its  own clock; 0: none */
    bool plain;      /* each step by itself (plain.c), not the merged steps (merged.c) */
    bool numbers; /* counters keep their numbers, so that the fences of two searches can be compared
                   */
    const char *same_as; /* the configuration that must find the same fences */
    enum wrong expect;   /* what must be found; nothing else is searched for */
    unsigned runs;
};

extern const struct config configs[];
extern const unsigned n_configs;
extern const struct scheme schemes[];
extern const unsigned n_schemes;

const struct config *config_by_name(const char *name); /* NULL: there is no such configuration */
const struct scheme *scheme_by_name(const char *name);
unsigned config_quorum(const struct config *c);

#endif
