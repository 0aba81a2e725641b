/* broken/world.h - the world of one break: three masters, the holder A of a lock, another client B,
 * and an operator O who breaks the lock.
 *
 * A holds the lock by the votes of masters 1 and 2, and its SET for master 3 is on its way. Then it
 * renews and restores when it likes. Each question of A's is carried out at any time later, or
 * never; each reply is read at any time later, or never. A reply may be lost: A is told that it is
 * unknown, and the question may be carried out all the same.
 *
 * B and O are as strong as any client can be. B takes a key at any instant at which it is free,
 * once on each master, and releases it when it likes: a lease of B's is not computed, and B is
 * taken for a holder while a majority has its key. O asks a master to swap the tokens at the
 * instant at which the master does it, and reads the reply at once, or never: the sooner it is
 * read, the sooner is the time that O tells. So a swap that is carried out late is one whose reply
 * nobody reads.
 *
 * A's rules are core/leases.h, and what O tells its user is core/broken.h. Every time is kept in
 * microseconds from now, and one that has passed is 0, so the clock may tick for ever. */
#ifndef RLK_BROKEN_WORLD_H
#define RLK_BROKEN_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#define MASTERS 3
#define QUORUM 2
#define ALL_MASTERS 7u
#define TICK_US 10000
#define DRIFT_PPM 10000

/* The masters' clocks gain this in a ttl: just less than the drift that a lease allows for. */
#define GAIN_US 2000

/* The moment at which everything happens. */
#define NOW_US ((uint64_t)1000000)

/* What the operator does wrong, to show that the checks notice. */
enum slip {
    SLIP_NEW_TTL = 1, /* a new ttl with the new token, which is released when the break failed */
    SLIP_GONE_COUNTS = 2, /* a master without the key counts */
    SLIP_ALL_KEYS = 4     /* the bound: when a majority of the replaced keys is gone */
};

enum wrong {
    WRONG_NOTHING = 0,
    WRONG_EXCLUSION, /* A and B believe in the lock */
    WRONG_BOUND,     /* A believes in the lock after the time that O was told */
    WRONG_UNTRUE,    /* O was told that the lock is broken, and no majority has the new token */
    WRONG_RENEWED,   /* O was told that the lock is broken, and a later renewal succeeds */
    WRONGS
};

enum run {
    RUN_SUITE = 0, /* the tests of a plain build */
    RUN_REDUCED,   /* also those of a build that is many times slower */
    RUN_LARGE      /* not in the tests */
};

struct config {
    const char *name, *about;
    unsigned ttl_ms;
    unsigned renewals, restores, losses; /* at most */
    bool alone;                          /* there is no B */
    unsigned slips;
    enum wrong expect;
    enum run runs;
};

extern struct config config;

enum owner {
    OWNER_NONE = 0,
    OWNER_A,
    OWNER_B,
    OWNER_O
};

/* The replies to all requests. */
enum said {
    SAID_NOTHING = 0,
    SAID_YES, /* done */
    SAID_GONE,
    SAID_OTHER, /* the key has another value */
    SAID_OURS   /* to SET: the key has this value already */
};

enum ask {
    ASK_NOTHING = 0,
    ASK_SET,
    ASK_KEEP
};

/* The sets of struct rlk_leases that a master is in, as bits. */
enum in_set {
    IN_MAY_HAVE_KEY = 1,
    IN_PRESENT = 2,
    IN_COUNTED = 4,
    IN_ABSENT = 8,
    IN_UNANSWERED = 16,
    IN_DOUBTFUL = 32,
    IN_DUPLICATES = 64,
    IN_RESTORED = 128,
    IN_ASKED = 256,
    IN_CONFIRMED = 512,
    IN_TAKEN = 1024
};

/* A master, and what everybody knows about it and has sent it. Masters have no names otherwise. */
struct master {
    uint16_t left_us;         /* of the key */
    uint16_t sets;            /* enum in_set */
    uint16_t end_us, next_us; /* A's lease, and the one that a yes to the open question brings */
    uint8_t owner;            /* of the key */
    uint8_t a_ask, a_ttl_ms;  /* A's open question */
    uint8_t a_sent;           /* it has not been carried out */
    uint8_t a_reply;          /* not read yet */
    uint8_t lost_ask, lost_ttl_ms; /* a question of A's that A does not wait for any more */
    uint8_t b_done;                /* B has had the key */
    uint8_t o_done;                /* it has carried out the swap */
    uint8_t o_said, o_left_ms;     /* the reply, if it was read */
    uint8_t o_ticks;               /* since then */
    uint8_t o_release;             /* on its way */
    uint8_t unused;
};

enum told {
    TOLD_NOTHING = 0,
    TOLD_BROKEN,
    TOLD_FAILED
};

struct world {
    struct master masters[MASTERS];
    uint16_t valid_us;                  /* until A's lock is valid; 0: A has lost it */
    uint16_t until_us;                  /* PHASE_HELD of O: the time that was told */
    uint8_t success;                    /* of A's present round */
    uint8_t is_later;                   /* it began after O was told */
    uint8_t renewals, restores, losses; /* that may still happen */
    uint8_t told;                       /* O's user */
    uint8_t wrong;
};

void world_begin(struct world *w, const struct config *c);

/* One tick for everybody. */
void world_tick(struct world *w);

/* Take out what cannot matter any more. */
void world_settle(struct world *w);

/* Whether B may believe in the lock. */
bool world_b_believes(const struct world *w);

static inline bool world_a_believes(const struct world *w)
{
    return w->valid_us > 0;
}

uint64_t world_ttl_us(void);

/* How long a key lives on a master. */
uint16_t world_life_us(unsigned ttl_ms);

#endif
