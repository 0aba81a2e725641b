/* world.h - one history: servers, clients, what is on the way between them, and who watches.
 *
 * Everything here is plain data; the files behave:
 *
 *     process.c    a client: a manager of the library as it ships
 *     net_*.c      what it has in place of src/net: connections, timers, turns, clock, entropy
 *     command.c    the bytes that it sends, as messages; reply.c what it gets to read
 *     wire.c       connections and what is on the way
 *     server.c     a model of a master; facts.c what a master says of itself
 *     user.c       who wants the locks, by the public calls
 *     fault.c      what goes wrong
 *     watch*.c     what the library does, seen from outside
 *     check_*.c    what must hold
 *     history.c    from the first event to the last */
#ifndef RLK_TESTS_SIM_WORLD_H
#define RLK_TESTS_SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lock/lock.h"
#include "sim/clock.h"
#include "sim/options.h"
#include "sim/schedule.h"

#define NONE UINT32_MAX
#define TOKEN_ROOM 40

/* A token and what became of it. Claims are numbered from 0 and are never used again. */
struct claim {
    unsigned client, worker, op;
    char token[TOKEN_ROOM]; /* its number, and chance */
    unsigned keys;          /* as bits */
    uint32_t round;
    uint32_t ttl_ms;    /* of the request */
    bool let_go;        /* nobody holds it or wants it any more */
    bool orphan;        /* its process has died, or its request may outlive its connection */
    uint64_t let_go_us; /* true time */
    bool released;      /* a release was sent, or is owed */
    uint64_t asked;     /* nodes that a SET was sent to */
    uint64_t sent_us[SIM_NODES]; /* when, by the client's clock */
    uint64_t granted;            /* nodes that were heard to say yes, and count */
    uint64_t quarantined;        /* that were, and do not [S11] */
    uint64_t clock_suspect;      /* whose clock had moved when they were last heard of [S11] */
    uint64_t exposed;            /* that count, and cannot be blamed for what they forgot */
    uint64_t unanswered;         /* nodes that may yet set it, or let it live on */
    uint64_t deleted;            /* servers that deleted the key */
    uint64_t refused;            /* nodes that said no */
    uint64_t doubt;              /* nodes of which an answer was lost, or an error */
    uint64_t told;               /* nodes that were sent a release, or are owed one */
    unsigned releases, excuses;
    bool fenced;
    uint64_t hint, fence;        /* [S12] what it should be at least; is, when that is agreed on */
    uint64_t counter[SIM_NODES]; /* that came with the votes */
    uint64_t due;                /* the fence, reckoned once more */
    uint64_t voted;              /* nodes that gave a counter, and have not refused to confirm */
    uint64_t confirming;         /* nodes that were asked to confirm it */
    uint64_t confirmed;          /* that did */
    bool ahead;                  /* the hint was above every counter when it was sent first */
    uint64_t asked_us;           /* true time: of the first vote */
};

enum message_kind {
    MESSAGE_HELLO = 0,
    MESSAGE_NAME, /* CLIENT SETNAME */
    MESSAGE_ID,   /* CLIENT ID */
    MESSAGE_INFO,
    MESSAGE_CONFIG, /* CONFIG GET *appendfsync* */
    MESSAGE_LOAD,   /* SCRIPT LOAD of the release */
    MESSAGE_MARK,   /* the script that looks at the incarnation key */
    MESSAGE_TIME,
    MESSAGE_KILL,
    MESSAGE_SET,  /* from here on what touches a lock */
    MESSAGE_TAKE, /* the script that sets all keys or none */
    MESSAGE_KEEP, /* the script that extends */
    MESSAGE_VOTE, /* the one that takes, with a counter [S12] */
    MESSAGE_CONFIRM,
    MESSAGE_RELEASE
};

enum section {
    SECTION_SERVER = 0,
    SECTION_REPLICATION,
    SECTION_MEMORY,
    SECTION_PERSISTENCE,
    SECTION_COMMANDSTATS
};

/* What stands in the incarnation key [S11]. */
struct mark {
    unsigned run;
    uint64_t mark; /* 0: there is no key */
    uint64_t born_us;
};

/* What a server says of itself. */
struct facts {
    unsigned run;
    int64_t uptime_s;
    uint64_t promotion;
    bool flushed, durable, loading;
};

/* A request, and once it has been carried out its reply. */
struct message {
    enum message_kind kind;
    unsigned next;  /* on the same connection */
    bool joined;    /* it arrives along with the one before */
    bool ends;      /* its answer is the last of those that arrive together */
    unsigned claim; /* KILL: the connection */
    bool text;      /* EVAL, not EVALSHA */
    bool get;       /* SET: with GET */
    bool heal;      /* TAKE: of a lock that is held */
    bool keeps;     /* MARK: data that are there are kept over a restart */
    enum section section;
    uint32_t ttl_ms;   /* SET, TAKE, KEEP */
    uint64_t sent_us;  /* by the client's clock */
    uint64_t since_us; /* KEEP: the keys have been there since, in true time; for the checkers */
    enum {
        ANSWER_NONE = 0,
        ANSWER_OK,
        ANSWER_NIL,
        ANSWER_ERROR,
        ANSWER_STRING, /* the token of claim `integer` */
        ANSWER_INTEGER,
        ANSWER_PAIR, /* VOTE: the counter, and whether the mark is `mark` */
        ANSWER_FACTS /* HELLO, INFO, CONFIG, MARK, TIME: a text or a list of its own */
    } answer;
    const char *error;
    int64_t integer;
    bool same;
    uint64_t fence;      /* VOTE: the hint; CONFIRM, TAKE, KEEP: the fence */
    struct mark mark;    /* VOTE, MARK: what is expected, or to be written; then what is there */
    uint64_t age_us;     /* MARK: of the data, if there is no key */
    uint64_t note_us;    /* MARK: a step of its clock to put on record, by that clock; 0: none */
    struct facts facts;  /* of whoever carried it out */
    bool replica;        /* carried out by one */
    uint64_t server_us;  /* MARK, TIME: the server's wall clock */
    uint64_t done_us;    /* true time: carried out; for the checkers */
    uint64_t flushed_us; /* and when the data had been thrown away last by then */
    uint64_t forgot_us;
    int64_t steps_us;
    bool misleading; /* its incarnation key said that the data were older than that */
    bool disguised;  /* it said that they are the same, though they were replaced */
};

/* One connection: its messages in order, and how far server and client have come. */
struct wire {
    unsigned client, node, server;
    bool client_open;                      /* the client still reads it */
    bool server_open;                      /* the server still does */
    bool suspect;                          /* it was told that data may have been lost */
    bool cut;                              /* broken on the way: nothing sent from now on arrives */
    unsigned unsent;                       /* appended, and the turn has not ended yet */
    unsigned unexecuted, unanswered, last; /* messages, or NONE */
    unsigned survivors;                    /* cut: so many more arrive all the same */
    unsigned held, held_parts;             /* arrived while the server stood still, in parts */
    uint64_t late_us;                      /* cut: the survivors do not arrive before */
    uint64_t there_us, back_us;            /* when the last one arrives */
};

struct value {
    unsigned claim; /* NONE: no key */
    uint64_t expires_ms;
    uint64_t since_us; /* true time */
};

enum server_state {
    SERVER_RUNS = 0,
    SERVER_STOPPED,
    SERVER_DOWN
};

struct server {
    enum server_state state;
    unsigned stamp;    /* of the latest stop or end */
    unsigned run;      /* run_id */
    uint64_t since_us; /* its start, by its wall clock */
    bool forgets;      /* when it comes back */
    bool flushed;
    unsigned master;    /* it is a writable replica of that server; NONE: it is a master */
    uint64_t promotion; /* counts how often it was made one */
    struct mark mark;
    int64_t steps_us;                         /* how far its clock was set, forward less back */
    uint64_t stepped_us;                      /* true time: forward, last */
    uint64_t back_us;                         /* true time: set back, last */
    unsigned witnesses;                       /* clients that see that, and put it on record */
    bool misleading;                          /* it was written with too great an age */
    bool disguised;                           /* what it copied has the mark that it had */
    uint64_t ended_us, forgot_us, flushed_us; /* true time */
    unsigned scripts; /* those that it knows, as bits of enum message_kind */
    struct clock clock;
    uint64_t loading_us, refuses_us; /* until then */
    const char *refusal;
    struct value keys[SIM_KEYS];
    struct value before[SIM_KEYS]; /* the last write undone: what a replica knows */
    uint64_t counters[SIM_KEYS], counters_before[SIM_KEYS];
};

/* The way from a client to a node. */
struct peer {
    struct rlk_conn *conn;
    unsigned wire;                          /* the present connection, or the last one */
    bool breaks;                            /* right behind its next SET */
    uint64_t there_clear_us, back_clear_us; /* nothing arrives before */
    uint64_t slow_us, slow_until_us;
    /* for the checkers, in true time: when it was first greeted; first and last looked at */
    uint64_t met_us, first_look_us, inspected_us;
    uint64_t role_us; /* its role was looked at last */
    bool unread;      /* its data could not be looked at when they were to be last */
    uint64_t timed_us, timed_error_us,
        timed_worst_us;     /* its clock was looked at last; by no more than that */
    int64_t timed_steps_us; /* what it had been set by until then */
    uint64_t hidden_us;     /* when a step that it had not seen yet was taken back */
    size_t owed;            /* how often a release was owed to it; */
    size_t owed_before;     /* before it was connected last */
    bool duplicate;         /* it was found to be another node's server [S10] */
    unsigned closed;        /* a connection that has ended in this step, or NONE */
};

enum worker_phase {
    WORKER_IDLE = 0,
    WORKER_PENDING,
    WORKER_HELD,
    WORKER_RELEASING
};

/* What a holder was told, reckoned once more and not by the core. check_hold.c */
struct held {
    uint64_t present, counts;   /* [S7] */
    uint64_t clock_suspect;     /* [S11] */
    uint64_t open;              /* asked, and not answered */
    uint64_t asked, confirmed;  /* in the round under way */
    uint64_t healed;            /* asked since the last success */
    uint64_t ask_us[SIM_NODES]; /* when, by the client's clock */
    uint32_t ask_ttl_ms[SIM_NODES];
    uint64_t lease_us[SIM_NODES]; /* the longest that was confirmed */
    uint64_t since_us[SIM_NODES]; /* true time: the key has been there without a break */
    uint64_t won_us, round_us;    /* the client's clock */
    uint64_t success_us;          /* true time */
    uint64_t dropped_us;          /* true time: what a node said made it shorter */
    uint64_t due_us;              /* true time: it was lost */
    uint64_t valid_us;            /* [S2] */
    uint64_t before_us;           /* the same, before the last answer */
    uint64_t suspended_us;        /* what we stood still since the user wanted an extension */
    unsigned rounds, extensions;
    uint64_t least_us; /* the shortest ttl that it was asked for with */
    bool succeeded;    /* the round under way has */
    bool lost, lost_told, trouble_told;
    bool safe;        /* nothing can take it away: it is renewed, and nothing is wrong */
    bool may_be_safe; /* when all nodes count */
};

/* One that uses locks: one request at a time. */
struct worker {
    unsigned client, index;
    enum worker_phase phase;
    struct redlock_lock *lock; /* NULL: IDLE */
    unsigned op, keys, claim;
    int64_t number; /* of its lock, as the library counts; -1: not known yet, or nobody traces */
    uint32_t ttl_ms;
    bool renew, gated, fenced;
    uint64_t max_hold_us;
    uint32_t max_renewals;
    bool stands;                        /* its client stood still, and it has not heard of it */
    uint64_t data_replaced;             /* nodes that have other data, likewise */
    bool lets_go;                       /* its release has begun in this step */
    bool extending;                     /* the user waits for an extension */
    uint64_t extend_us, extend_lost_us; /* the client's clock, and how long it had stood still */
    struct held held;
    bool lingers; /* its last lock is held for long, when all is quiet */
    /* for the checkers */
    bool told, cancelled;
    unsigned refusals;          /* that it has heard */
    uint64_t asked_us, lost_us; /* the client's clock, and how long it had stood still */
    uint64_t limit_us;          /* it must be told within */
    uint64_t valid_us;          /* at the release: until when it was */
    bool last;                  /* after the faults */
    bool done;
};

/* Its own event loop: the library has a pointer to this, and knows no more of it. */
struct client {
    unsigned index;
    bool alive;
    struct redlock *rl; /* NULL: dead */
    unsigned life;      /* counts its processes */
    unsigned armed;     /* counts how often its timers were set */
    bool closing;       /* its users make no more calls */
    uint64_t close_us,
        close_lost_us; /* since when, by its clock; and how long it had stood still */
    struct clock clock;
    bool stood;       /* it was told that it stood still */
    int64_t skew_us;  /* of its wall clock, against true time */
    uint64_t busy_us; /* does nothing until then */
    uint64_t lost_us; /* how long it has stood still in all */
    unsigned nodes;
    struct peer peers[SIM_NODES];
    struct worker workers[SIM_WORKERS];
};

struct world {
    struct options o;
    struct rlk_prng prng;
    uint64_t now_us; /* true time */
    uint64_t events, hash;
    struct schedule schedule;
    struct server servers[SIM_NODES];
    struct client clients[SIM_CLIENTS];
    struct wire *wires;
    size_t n_wires, cap_wires;
    struct message *messages;
    size_t n_messages, cap_messages;
    struct claim *claims;
    size_t n_claims, cap_claims;
    bool healed;
    uint64_t healed_us;
    uint64_t quiet_us;    /* nothing that was on its way or stood still does any more */
    uint64_t set_back_us; /* how far clocks were set back in all */
    uint64_t same_us;     /* so many events were at this instant */
    unsigned same;
    uint64_t linger_us; /* when all is quiet */
    unsigned done;
    unsigned acquired, renewed, lost, faults; /* for the figures at the end */
    bool moved;                /* a clock was set forward, or is outside of the bounds */
    bool harmed;               /* a server has forgotten something, or a clock was set forward */
    uint64_t fences[SIM_KEYS]; /* the largest that anybody was told */
    unsigned fenced, confirms, quarantined; /* for the figures, too */
    unsigned running;                       /* the client whose code runs now, or SIM_CLIENTS */
    const struct message *heard;            /* what it has just read; NULL: nothing */
    bool noted;                             /* `heard` has become a vote */
    bool timed;                             /* its time was compared with others */
    bool ending;                            /* a process dies: nobody watches */
    bool tracing;
    bool violated;
    char violation[256]; /* "exclusion: ..." */
};

static inline struct claim *world_claim(struct world *w, unsigned claim)
{
    return &w->claims[claim];
}

static inline struct worker *world_worker(struct world *w, unsigned client, unsigned worker)
{
    return &w->clients[client].workers[worker];
}

/* The server behind a node. */
static inline unsigned world_server(const struct world *w, unsigned node)
{
    return node == w->o.duplicate ? (node + 1) % w->o.nodes : node;
}

/* What the client takes for the time [S3], and for that since 1970 [S12]. */
uint64_t world_client_us(const struct world *w, unsigned client);
uint64_t world_wall_us(const struct world *w, unsigned client);

/* A node as a client has it; the client is alive. */
static inline struct rlk_node *world_node(const struct world *w, unsigned client, unsigned node)
{
    return &w->clients[client].rl->nodes[node];
}

static inline bool world_node_up(const struct world *w, unsigned client, unsigned node)
{
    return w->clients[client].rl && world_node(w, client, node)->state == RLK_NODE_UP;
}

#define WORLD_EPOCH_US UINT64_C(1795000000000000)

#endif
