/* small/world.h - the small world: two clients, three masters, and what is on its way.
 *
 * Everything that can be different between two moments is in `struct world`, a hundred-odd bytes
 * that are copied for each step of the search. There is no clock in it: every time is kept as a
 * number of ticks from now, and one that has passed stays at zero (or at its cap). The core only
 * adds to times and compares them with now, so moving all of them together changes nothing; two
 * worlds that differ in the hour alone are the same. That is why the search needs no horizon: the
 * clock may tick for ever.
 *
 * A client's queue on a connection is both what is on the way to the master and what the client
 * still counts as unanswered; the replies on their way back have a queue of their own. Each
 * keeps its order, and nothing orders one connection against another. A request that is
 * never delivered stands for one that was lost.
 *
 * The answers to releases are left out: they change only what the releaser is told, and
 * one that is lost leads to a release of a key that is gone already.
 */
#ifndef RLK_SMALL_WORLD_H
#define RLK_SMALL_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#define CLIENTS 2
#define MASTERS 3
#define CLAIMS 4   /* rounds of one client, over all its attempts */
#define REQUESTS 9 /* on the way on one connection: two for each claim, and a CLIENT KILL */
#define REPLIES 4  /* the same for replies */
#define TICK_US 10000

#define TICKS_NEVER 15  /* a deadline that does not come */
#define PENDING_NEVER 7 /* a pending release that does not end */
#define NO_AGE 15       /* a lease end that is not set */

/* The usual drift, 1 %. */
#define DRIFT_PPM 10000

/* The masters' clocks gain this in a ttl: just less than the drift that the lease allows for. */
#define GAIN_US 2000

/* ---- what is configured ---- */

enum fault {
    FAULT_BREAK = 1,   /* a connection breaks; what was on the way may still be read */
    FAULT_CRASH = 2,   /* a client stops for ever */
    FAULT_RESTART = 4, /* a master restarts and keeps its keys */
    FAULT_FORGET = 8,  /* a master restarts empty, and stays away for a ttl */
    FAULT_EMPTY = 16,  /* out of the model: the same, but back at once */
    FAULT_JUMP = 32,   /* out of the model: a master's clock steps forward by a ttl */
    FAULT_FREEZE = 64, /* out of the model: a client's clock stops for two ticks */
    FAULT_ERROR = 128  /* a master answers a SET with an error, though it carried it out */
};

/* Faults of the driver, to show that the checks notice. */
enum slip {
    SLIP_OVERTAKE = 1,  /* a release goes over another connection than its SET */
    SLIP_ONE_TOKEN = 2, /* one token for all rounds of an attempt */
    SLIP_FORGIVE = 4,   /* pending releases are not sent */
    SLIP_NO_KILL = 8,   /* the old connection is not ended before pending releases are sent */
    SLIP_FAST = 16,     /* the masters' clocks gain a tick more in a ttl */
    SLIP_NO_LOOK = 32,  /* a win is reported without the last check */
    SLIP_NO_TIMER = 64, /* no timer is set */
    SLIP_SHORT_PENDING =
        128, /* the pending release of an unanswered SET ends with a ttl, as others do */
    SLIP_NO_DEADLINE = 256 /* a holder believes in its lock until it releases it [S2] */
};

/* What can be found wrong. */
enum wrong {
    WRONG_NOTHING = 0,
    WRONG_EXCLUSION, /* two clients believe in the lock */
    WRONG_TOKEN,     /* a token was set twice at one master */
    WRONG_LEFT, /* a key on a master that nobody has or releases, and whose release is not pending
                 */
    WRONG_UNREPORTED,    /* an attempt that nothing will end */
    WRONG_REPORTED_LATE, /* a win was reported with too little validity left */
    WRONG_NO_REASON,     /* a failure was reported without a reason */
    WRONG_GOES_ON,       /* an attempt that was cancelled goes on */
    WRONG_LOUD,          /* an attempt that failed or waits did something on a late event */
    WRONGS
};

/* What is 0 has the value in brackets. */
struct config {
    const char *name;
    const char *about;
    unsigned attempts;      /* in all, by whichever client [2] */
    unsigned each;          /* by one client at most [1] */
    unsigned rounds;        /* in each attempt [1] */
    bool uneven;            /* the second client's have one; the clients are no duplicates then */
    unsigned ttl_ms;        /* must not be a whole number of ticks */
    unsigned timeout_ticks; /* of a round [1] */
    unsigned wait_ticks;    /* of an attempt with more than one round [TICKS_NEVER] */
    unsigned faults;        /* each of these may happen once */
    unsigned slips;
    bool connecting;     /* no connection is up at the beginning */
    bool keeps_votes;    /* the leader of a split vote does */
    bool stuck;          /* a node with a reply outstanding may be left out of a round */
    bool returns_holder; /* the masters know SET NX GET */
    bool plain;          /* worlds that differ in names only are different */
    enum wrong expect;   /* what this configuration must find */
    unsigned runs;       /* where it runs, RUN_... */
};

enum run {
    RUN_SUITE = 1,   /* the tests of a plain build */
    RUN_REDUCED = 2, /* those of a build that is many times slower */
    RUN_LARGE = 4
};

extern const struct config configs[];
extern const unsigned n_configs;

/* What follows from the configuration that is being searched. */
struct limits {
    uint64_t ttl_us, lease_us, min_validity_us;
    unsigned life;    /* a key lives at the tick it was set and so many more */
    unsigned age_cap; /* a lease of this age is over */
};

extern struct config config;
extern struct limits limits;

/* ---- what changes ---- */

enum request_kind {
    REQUEST_SET = 1,
    REQUEST_RELEASE,
    REQUEST_KILL
};

enum reply_kind {
    REPLY_YES = 1,
    REPLY_NO,
    REPLY_ERROR
};

/* Both are one byte: the kind, and the number of the claim in the two lowest bits. */
static inline uint8_t message(unsigned kind, unsigned claim)
{
    return (uint8_t)(kind << 2 | claim);
}

static inline unsigned message_kind(uint8_t m)
{
    return m >> 2;
}

static inline unsigned message_claim(uint8_t m)
{
    return m & 3u;
}

enum link {
    LINK_UP = 0,
    LINK_CUT,  /* the master has restarted; the client has not noticed yet */
    LINK_DOWN, /* being connected, now or later */
    LINK_DEAD  /* its client has crashed */
};

/* One client's side of one master. */
struct cell {
    uint8_t link;
    uint8_t n_requests, n_replies;
    uint8_t requests[REQUESTS];
    uint8_t replies[REPLIES];
    uint8_t pending[CLAIMS]; /* a pending release: ticks until it ends, 0 for none */
};

/* The fields of an attempt and its round that the core reads again. */
struct packed {
    uint8_t attempt, round; /* the states */
    uint8_t tries;
    uint8_t has_status, has_reason;
    uint8_t retry, give_up, deadline, end_of_round; /* ticks to go */
    uint8_t until;                                  /* age of the lease that ends then */
    uint8_t asked, coming, yes, no, unknown;
    uint8_t held_by_others, asked_again; /* of a split vote */
    uint8_t age[MASTERS];                /* ticks since it was asked */
};

enum phase {
    PHASE_IDLE = 0,
    PHASE_PENDING,
    PHASE_HELD,
    PHASE_CRASHED
};

struct client {
    uint8_t phase;
    uint8_t attempts; /* begun */
    uint8_t report;   /* the result is queued to be reported */
    uint8_t timer;    /* ticks to go */
    uint8_t frozen;   /* ticks for which its clock is still stopped */
    uint8_t lost;     /* claims of which a SET was not answered, as bits */
    struct packed packed;
};

struct master {
    uint8_t has_key, owner, token;
    uint8_t left;         /* more ticks at which the key is there */
    uint8_t away;         /* ticks until it is back */
    uint8_t set[CLIENTS]; /* tokens that were set here, ever */
};

/* What an ended connection has left in its master's socket. */
struct ghost {
    uint8_t client, master, n;
    uint8_t requests[REQUESTS];
};

struct world {
    struct client clients[CLIENTS];
    struct master masters[MASTERS];
    struct cell cells[CLIENTS][MASTERS];
    struct ghost ghost; /* one: there is one break at most */
    uint8_t faults;     /* that have happened */
    uint8_t attempts;   /* that may still begin */
    uint8_t wrong;      /* enum wrong: found by the step that led here */
};

/* The first world of `c`, which becomes the configuration that everything here follows. */
void world_begin(struct world *w, const struct config *c);

/* The claim of the present round of a client. */
unsigned world_claim(const struct client *c);

/* The token of a claim: a number of its own, unless the driver slips. */
unsigned world_token(unsigned claim);

void world_push(struct cell *cell, uint8_t request);
uint8_t world_shift(uint8_t *queue, uint8_t *n);

/* One tick for everybody. */
void world_tick(struct world *w);

/* Take out what cannot matter any more, so that worlds with the same future are the same. `before`:
 * a settled world, of which most is still there; or NULL. */
void world_settle(struct world *w, const struct world *before);

#endif
