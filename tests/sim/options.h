/* options.h - what a history is made of, drawn from its seed.
 *
 * Every history has several clients that want the same locks, and some of the faults of the
 * model (docs/guarantees.md). Each kind of fault is missing in some histories, so that every
 * combination comes up. One assumption of the model can be broken on purpose. */
#ifndef RLK_TESTS_SIM_OPTIONS_H
#define RLK_TESTS_SIM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/prng.h"
#include "core/quarantine.h"

#define SIM_NODES 7
#define SIM_PLACES 16 /* nodes of a client: also those of masters that joined later, or left */
#define SIM_CLIENTS 50
#define SIM_FEW_CLIENTS 5 /* in histories that are not about a crowd */
#define SIM_WORKERS 6
#define SIM_HEIRS 6 /* of processes that died, at one time */
#define SIM_OPERATORS 2
#define SIM_KEYS 3
#define SIM_STORED (2 * SIM_KEYS) /* behind the keys: those of the bids in elections for them */
#define SIM_SHORT_LIST 16         /* a waiting list is often so short that it can be full */
#define SIM_LISTED 64             /* the library's has room for more */

enum fault {
    /* Within the model. */
    FAULT_PAUSE = 0, /* a client is paused (SIGSTOP, garbage collection, swap) */
    FAULT_SUSPEND,   /* its machine is suspended, and its monotonic clock stops */
    FAULT_CRASH,     /* a client dies, or closes, and is started again */
    FAULT_WALL,      /* a client's wall clock is set */
    FAULT_STOP,      /* a server is stopped: connected, and it does not answer */
    FAULT_RESTART, /* a server dies, and comes back with its data, perhaps loading it for a while */
    FAULT_AWAY,    /* it comes back without its data, but not before the longest ttl has passed */
    FAULT_BACK,    /* its clock is set back */
    FAULT_RATE,    /* a machine's rate changes within the bound */
    FAULT_REFUSE,  /* a server answers everything with an error */
    FAULT_SCRIPTS, /* it forgets the scripts */
    FAULT_BREAK,   /* a connection breaks */
    FAULT_PARTITION, /* a client and some servers cannot talk */
    FAULT_ONE_WAY,   /* the same in one direction */
    FAULT_SLOW,      /* a client's connections to some servers are slow */
    FAULT_KINDS,

    /* Only with quarantine. */
    FAULT_FORGET = FAULT_KINDS, /* a server comes back at once, and empty */
    FAULT_FAILOVER,             /* a replica that lacks the last write takes over */

    /* Outside of the model, or in histories of their own. */
    FAULT_FLUSH,   /* FLUSHALL: its data are thrown away under the same run */
    FAULT_FORWARD, /* its clock is set forward */
    FAULT_EVICT,   /* it loses its keys, and reports nothing about it */
    FAULT_FREEZE,  /* a client's machine freezes, and its boot clock too */
    FAULT_REPLICA, /* a server becomes a writable replica of another, and a master again */
    FAULT_FOREIGN, /* a client with another library holds the keys that are free */
    FAULT_SWAP,    /* another server takes its place, which has run for long */
    FAULT_RENAME,  /* a name leads some clients to another server, which is empty */
    FAULT_DIE,     /* a server stays down until the faults end, if the others are a majority */
    FAULT_ALL_KINDS
};

/* The assumptions that can be broken on purpose. */
enum assumption {
    ASSUME_ALL = 0, /* none is broken */
    ASSUME_QUARANTINE,
    ASSUME_STEPS,
    ASSUME_RATES,
    ASSUME_MEMORY,
    ASSUME_BOOT_CLOCK,
    ASSUME_TRUTH,
    ASSUME_SAME_NODES,
    ASSUME_NAMES,
    ASSUME_WALL_CLOCKS,
    ASSUME_FORMER_MASTERS,
    ASSUME_KINDS
};

/* Many clients that want the same keys at the same moment, and wait for them. */
enum crowd {
    CROWD_NONE = 0,
    CROWD_HEALTHY, /* no fault, and everybody waits for as long as it takes */
    CROWD_DYING,   /* clients die and are paused, and foreign clients take the keys */
    CROWD_FAULTY   /* any faults */
};

/* Candidates of elections, instead of some users of locks. */
enum elections {
    ELECTIONS_NONE = 0,
    ELECTIONS_QUIET, /* no fault, but candidates die: who leads next, and when, is known */
    ELECTIONS_FAULTY /* any faults */
};

/* Why nobody can grant what some users ask for. */
enum hopeless {
    HOPELESS_NONE = 0,
    HOPELESS_COUNTER, /* the counter of the key is no string */
    HOPELESS_RIGHT,   /* our user may not use the counter */
    HOPELESS_TTL      /* the ttl is shorter than a round trip */
};

/* Who releases the locks of a process that has died. */
enum heirs {
    HEIRS_NONE = 0,
    HEIRS_SUPERVISORS, /* of commands that the locks protect: they work on for a while */
    HEIRS_COMPANIONS   /* of processes that did the work themselves */
};

/* How the list of some clients differs from that of the first one. */
enum other_list {
    OTHER_NONE = 0,
    OTHER_ORDER,    /* not at all: only the order */
    OTHER_FEWER,    /* some are missing */
    OTHER_MORE,     /* it has some more */
    OTHER_REPLACED, /* it has others instead of some */
    OTHER_MAX_TTL   /* the same masters, and a longer max_ttl */
};

struct options {
    uint64_t seed;
    enum assumption broken;
    unsigned nodes, clients, workers, keys;
    unsigned servers;      /* the nodes, and others that only some clients know */
    uint32_t ttl_ms[2];    /* a request takes one of the two */
    uint32_t drift_ppm;    /* the drift that the clients allow for */
    uint32_t rate_ppm;     /* how far a clock may really be off */
    uint64_t timeout_us;   /* node_timeout_ms */
    uint64_t connect_us;   /* connect_timeout_ms */
    uint64_t delay_us;     /* one way, at least */
    uint64_t jitter_us;    /* on top, with a long tail */
    uint64_t turn_us;      /* from the decision to the callback, at most */
    uint64_t retry_max_us; /* of the requests */
    uint64_t hold_us;      /* how long a lock is held, roughly */
    uint64_t think_us;     /* between two locks, roughly */
    uint64_t until_us;     /* the faults end then */
    uint64_t gap_us;       /* between two faults, on average */
    uint64_t longest_us;   /* the longest fault */
    enum rlk_quarantine_policy policy;
    uint64_t health_us; /* inspection_ms; 0: never */
    bool durable;       /* appendfsync always: restarts lose nothing */
    bool young;         /* the servers have only just been started */
    bool exposed; /* FLUSHALL: exclusion holds only for clients that have inspected the server since
                   */
    bool ordered; /* fences must grow */
    uint64_t skew_us;        /* how far the clients' wall clocks are off, at most; RLK_NEVER: any */
    bool no_wall;            /* the wall clocks show 1970 */
    uint32_t fence_ppm;      /* how often a request wants a fence */
    uint32_t stall_ppm;      /* how often a client stalls in the middle of a step */
    uint64_t kinds;          /* the faults, as bits */
    uint32_t several_ppm;    /* how often a request wants more than one key */
    uint32_t renew_ppm;      /* how often it is renewed */
    uint32_t gated_ppm;      /* how often only with heartbeats */
    uint32_t bounded_ppm;    /* how often only for so long, or so often */
    uint32_t extend_ppm;     /* how often its user extends it */
    uint64_t returns_holder; /* nodes that support SET NX GET */
    uint32_t native_ppm;     /* how many servers know DELEX or DELIFEQ */
    bool denies;             /* users may not use one of the two ways to release */
    bool denies_mark;        /* some refusals are about the incarnation key only */
    bool denies_record;      /* some are about the key of the record of the masters only */
    bool kills;              /* CLIENT KILL is allowed */
    uint64_t no_watch, no_publish, no_tracking; /* servers where our user may not do that */
    uint32_t push_ppm; /* how often what a server sends by itself is lost, late or doubled */
    bool watches;      /* the clients keep a watch of every node, whether they wait or not */
    uint64_t polls;    /* clients with options.subscribe = 0 */
    enum crowd crowd;
    enum elections elections;
    uint64_t candidates; /* workers, as bits: options_candidate() */
    uint32_t sick_ppm;   /* how often a candidate is not fit to lead */
    bool bids; /* candidates have priorities; the second worker of a client stands for their bids */
    uint64_t start_us;  /* the users begin then */
    bool recorded;      /* the masters are on record already */
    unsigned listed;    /* how many clients a waiting list has room for */
    unsigned replica;   /* this server is a replica of the next; SIM_NODES: none is */
    unsigned duplicate; /* this node is the same server as the next; SIM_NODES: none is */
    unsigned liar;      /* this server grants everything; SIM_NODES: none does */
    unsigned dead;      /* this server stays down permanently; SIM_NODES: none does */
    enum other_list other_list;
    uint64_t others;    /* clients with that list, as bits */
    unsigned common;    /* how many of the nodes they have, too */
    unsigned operators; /* who replace masters by servers that no list has */
    bool spares_old;    /* which have run for long; otherwise they are empty */
    bool resizes;       /* they also add and remove masters */
    unsigned scarce;    /* each command in flight counts as so many [S13]; 0: as one */
    bool undisturbed;   /* nothing fails but clients and operators: no lock is lost [M8] */
    bool mortal; /* and a minority of the servers: only a lock that was just won is lost [S7] */
    uint64_t no_record; /* clients with options.record = 0, as bits */
    bool forgetful;     /* servers lose data: only the promises of S7 are checked */
    bool calm;          /* one after the other, and no two clients want one lock: none is lost */
    uint64_t no_info, no_client; /* servers where our user may not use these commands */
    enum hopeless hopeless;
    uint32_t leave_ppm, adopt_ppm; /* how often a lock is left to its time; is one adopted then */
    uint32_t call_ppm;  /* how often somebody calls upon a candidate, when a user does something */
    uint32_t hand_ppm;  /* how often a holder hands its lock over instead of releasing it */
    uint32_t break_ppm; /* how often a client breaks a lock when a user is done with one */
    enum heirs heirs;
    bool heirs_healthy; /* nothing fails but processes: it is known how soon the next one holds */
    uint64_t work_us;   /* how long a command goes on after that, at most */
    uint32_t heir_ppm;  /* how often a process that dies has an heir */
    uint32_t heir_dies_ppm; /* how often that dies, too */
    uint32_t sudden_ppm;    /* how often a process dies when it has just got a lock */
    uint32_t keep_ppm;      /* how often a lock must not be released before some time */
    uint32_t audit;         /* audit_entries */
    uint64_t no_audit;      /* servers where our user may not add entries */
    bool steps; /* little happens but steps of the masters' clocks, and each is noticed */
};

/* Draw them; the history goes on drawing from `p`. */
void options_draw(struct options *o, struct rlk_prng *p, uint64_t seed, enum assumption broken);

void options_print(const struct options *o, FILE *f);

/* The name of an assumption ("steps", ...); NULL for ASSUME_ALL. And back: ASSUME_KINDS for an
 * unknown name. */
const char *options_assumption_name(enum assumption a);
enum assumption options_assumption(const char *name);

const char *options_fault_name(enum fault kind);

/* Whether a worker is a candidate. */
bool options_candidate(const struct options *o, unsigned client, unsigned worker);

/* Whether two clients have the same masters and the same max_ttl. */
bool options_same_masters(const struct options *o, unsigned client, unsigned other);

/* The longest ttl that the clients use. */
uint64_t options_max_ttl_us(const struct options *o);

#endif
