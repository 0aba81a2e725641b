/* world.h - one history: servers, clients, the connections between them, and the checkers' data.
 *
 * Everything here is plain data; the behaviour is in these files:
 *
 *     process.c    a client: a manager of the library as it ships
 *     net_*.c      what it has in place of src/net: connections, timers, turns, clock, entropy
 *     command.c    parses the bytes that it sends; reply.c writes the replies that it reads
 *     wakes.c      what a master sends by itself, and its waiting lists
 *     auditor.c    the masters' audit streams
 *     masters.c    the record of the masters, as each of them keeps it
 *     wire.c       connections and the messages in flight
 *     server.c     a model of a master; facts.c what a master reports about itself
 *     user.c       the users of the locks, who make the public calls; candidate.c: of elections
 *     heir.c       what is left of a process that died, and who releases its locks
 *     operator.c   who replace masters while clients run
 *     fault.c      what goes wrong
 *     watch*.c     what the library does, seen from outside
 *     check_*.c    what must hold
 *     history.c    from the first event to the last */
#ifndef RLK_TESTS_SIM_WORLD_H
#define RLK_TESTS_SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/election.h>

#include "base/mask.h"
#include "lock/lock.h"
#include "sim/clock.h"
#include "sim/options.h"
#include "sim/schedule.h"

#define NONE UINT32_MAX
#define TOKEN_ROOM 64 /* 40 digits, and what a candidate writes after them */

/* What an audit stream says of a lock. */
enum entry {
    ENTRY_NONE = 0,
    ENTRY_ACQUIRED,
    ENTRY_ADOPTED,
    ENTRY_RELEASED,
    ENTRY_LOST,
    ENTRY_WITHDRAWN,
    ENTRY_BROKEN,
    ENTRY_HANDED_OVER,
    ENTRY_KINDS
};

/* A token and what became of it. Claims are numbered from 0 and are never used again. */
struct claim {
    unsigned client, worker, op;
    char token[TOKEN_ROOM]; /* its number, then random bytes; perhaps an owner */
    size_t token_len;
    unsigned keys; /* as bits */
    uint32_t round;
    uint32_t ttl_ms; /* of the request */
    bool let_go;     /* the user released or lost it, or its round is over */
    bool orphan;     /* its process has died, or its request may be carried out after its connection
                        ended */
    uint64_t let_go_us;           /* true time */
    bool released;                /* a release was sent, or is pending */
    uint64_t asked;               /* nodes that a SET was sent to */
    uint64_t sent_us[SIM_PLACES]; /* when, by the client's clock */
    uint64_t granted;             /* nodes whose yes has come and counts */
    uint64_t quarantined;         /* nodes whose yes has come and does not count [S11] */
    uint64_t clock_suspect; /* nodes whose clock was suspect when their last answer came [S11] */
    uint64_t
        exposed; /* nodes that count, and may have forgotten without anybody being able to see it */
    uint64_t unanswered;         /* nodes that may still carry out a SET or an extension of it */
    uint64_t deleted;            /* servers that deleted the key */
    uint64_t set_on;             /* servers that ever set it */
    uint64_t refused;            /* nodes that said no */
    uint64_t taken;              /* nodes that somebody else has, by their last answer */
    unsigned holder[SIM_PLACES]; /* who: a claim, or NONE */
    unsigned sets[SIM_PLACES];   /* how many SETs were sent to a node */
    unsigned asked_again;        /* how many times its round kept its votes */
    uint64_t doubt;              /* nodes whose answer was lost, or was an error */
    uint64_t release_nodes;      /* nodes that were sent a release, or have one pending */
    unsigned releases, excuses;
    unsigned reservation; /* [H1] what takes its place when it is handed over: a claim, or NONE. Of
                             a reservation: the claim that was handed over */
    uint64_t took;        /* [H2] servers on which it took the place of a reservation */
    bool broken;          /* on some server another token is in its place */
    bool adopted;         /* by another worker than the one that acquired it */
    bool fenced;
    uint64_t hint,
        fence; /* [S12] the least that the fence must be; the fence, once it is agreed on */
    uint64_t counter[SIM_PLACES]; /* that came with the votes */
    uint64_t due;                 /* the fence, computed a second time by the checker */
    uint64_t voted;               /* nodes that gave a counter, and have not refused to confirm */
    uint64_t confirming;          /* nodes that were asked to confirm it */
    uint64_t confirmed;           /* that did */
    bool ahead;                   /* the hint was above every counter when it was sent first, and no
                                     server would have cut it */
    uint64_t asked_us;            /* true time: of the first vote */
    uint64_t entries[ENTRY_KINDS]; /* servers whose audit stream has an entry of this kind */
    uint64_t unentered;            /* servers that could not add one, or have lost it since */
    bool handed_out;               /* to a user */
};

enum message_kind {
    MESSAGE_HELLO = 0,
    MESSAGE_NAME, /* CLIENT SETNAME */
    MESSAGE_ID,   /* CLIENT ID */
    MESSAGE_INFO,
    MESSAGE_CONFIG,  /* CONFIG GET appendfsync */
    MESSAGE_LOAD,    /* SCRIPT LOAD of the release */
    MESSAGE_PROBE,   /* DELEX or DELIFEQ without arguments */
    MESSAGE_UPKEEP,  /* EVALSHA and EVAL, tried in the greeting */
    MESSAGE_MARK,    /* the script that reads the incarnation key */
    MESSAGE_MASTERS, /* the one that promises, and accepts a record of the masters */
    MESSAGE_TIME,
    MESSAGE_KILL,
    MESSAGE_SUBSCRIBE,
    MESSAGE_TRACKING, /* CLIENT TRACKING ON REDIRECT id OPTIN */
    MESSAGE_CACHING,  /* CLIENT CACHING YES */
    MESSAGE_EXISTS,
    MESSAGE_GET,
    MESSAGE_PTTL,
    MESSAGE_LISTED, /* EXISTS of a waiting list */
    MESSAGE_WAIT,   /* the script that enters a waiting list */
    MESSAGE_LEAVE,
    MESSAGE_SWAP,  /* the script that breaks a lock: no lock of its client is touched */
    MESSAGE_SET,   /* from here on: the kinds that touch a lock */
    MESSAGE_TAKE,  /* the script that sets all keys or none */
    MESSAGE_KEEP,  /* the script that extends */
    MESSAGE_VOTE,  /* the one that takes, with a counter [S12] */
    MESSAGE_ADOPT, /* the one that extends, with a counter */
    MESSAGE_CONFIRM,
    MESSAGE_RELEASE,
    MESSAGE_HAND_OVER, /* the script that reserves the keys instead [H1] */
    MESSAGE_DELETE     /* DELEX or DELIFEQ */
};

/* What a server sends without a request. */
enum push_kind {
    PUSH_TURN = 0,
    PUSH_NEXT,
    PUSH_RESERVED, /* of a key and a reservation: world_reserved() */
    PUSH_CHANGED,
    PUSH_FLUSHED
};

enum section {
    SECTION_SERVER = 0,
    SECTION_REPLICATION,
    SECTION_MEMORY,
    SECTION_PERSISTENCE,
    SECTION_COMMANDSTATS,
    SECTION_STATS
};

/* The content of the incarnation key [S11]. */
struct mark {
    unsigned run;
    uint64_t mark; /* 0: there is no key */
    uint64_t born_us;
};

/* The key of the record of the masters [S15]. */
struct on_record {
    uint64_t number, id;            /* the ballot that is promised; number 0: there is no key */
    uint64_t accepted, accepted_id; /* that of the record */
    uint64_t since_us;              /* the server's clock */
    size_t record;                  /* masters_keep(); 0: none is accepted */
};

#define MOST_LISTED 48

/* What a record of the masters says of one of them. */
struct listed {
    uint64_t mark;
    unsigned from, until; /* epochs; until 0: it still is one */
    unsigned address;
    bool lost;
};

/* What it says, as check_masters.c reads it. */
struct list_read {
    unsigned epoch, max_ttl_ms, n;
    struct listed of[MOST_LISTED];
};

/* A record as a client wrote it. masters.c */
struct kept_record {
    size_t text, content; /* where its text begins, and what it says without version and ballot */
    bool is_read;
    struct list_read list; /* once it is read */
};

/* What a server reports about itself. */
struct facts {
    unsigned run;
    int64_t uptime_s;
    uint64_t promotion;
    bool flushed, durable, loading, replay_failed;
};

/* A request; after the server has carried it out, also its reply. */
struct message {
    enum message_kind kind;
    unsigned next;  /* on the same connection */
    bool joined;    /* it arrives together with the one before */
    bool ends;      /* its answer is the last of those that arrive together */
    unsigned claim; /* KILL, TRACKING: the connection */
    unsigned keys;  /* EXISTS, GET, PTTL, WAIT, LEAVE: as bits; and counters: world_counter() */
    uint64_t
        channel; /* SUBSCRIBE, WAIT, LEAVE, RELEASE: its number; 0: the invalidations, or none */
    uint64_t waited_us;     /* WAIT: for how long the client has waited */
    bool yields;            /* WAIT: it has just released the keys */
    bool wakes;             /* RELEASE: of a lock, which wakes who waits for it */
    bool text;              /* EVAL, not EVALSHA */
    enum rlk_native native; /* PROBE, DELETE: which command */
    bool get;               /* SET: with GET */
    enum entry entry;       /* for the audit stream; NONE: none is added */
    bool unaudited;         /* it could not be added */
    bool restore;           /* TAKE: of a lock that is held */
    unsigned reservation; /* TAKE, VOTE: what counts as a free key; HAND_OVER: what takes the place
                             of the claim; a claim or NONE */
    bool many, part;      /* KEEP: by the script for many locks; and not for the first of them */
    bool keeps;           /* MARK: the data survive a restart */
    enum section section;
    uint32_t ttl_ms;   /* SET, TAKE, KEEP, HAND_OVER */
    uint64_t sent_us;  /* by the client's clock */
    uint64_t since_us; /* KEEP: since when the keys are there without a gap, in true time; for the
                          checkers */
    enum {
        ANSWER_NONE = 0,
        ANSWER_OK,
        ANSWER_NIL,
        ANSWER_ERROR,
        ANSWER_STRING, /* the token of claim `integer` */
        ANSWER_INTEGER,
        ANSWER_NUMBER,     /* `integer` as a text */
        ANSWER_POSITION,   /* WAIT: place `integer`, left_ms, holder */
        ANSWER_SUBSCRIBED, /* SUBSCRIBE */
        ANSWER_PAIR,       /* VOTE: the counter, and whether the mark is `mark` */
        ANSWER_FACTS /* HELLO, INFO, CONFIG, MARK, MASTERS, TIME: a text or a list of its own */
    } answer;
    const char *error;
    int64_t integer;
    int64_t left_ms;
    unsigned holder; /* a claim or NONE; SWAP: that which has to have the key */
    bool same;
    uint64_t fence;     /* VOTE, ADOPT: the hint; CONFIRM, TAKE, KEEP: the fence */
    struct mark mark;   /* VOTE, MARK: the mark expected or to be written; then the mark found */
    uint64_t note_us;   /* MARK: a clock step to put on record, by the server's clock; 0: none */
    bool reads_masters; /* MARK: also the key of the record of the masters */
    bool denies_record; /* MARK: all but that */
    struct on_record masters; /* MASTERS: the ballot and the record to accept; then, as of MARK,
                                 what is there */
    struct facts facts;       /* of the server that carried it out */
    bool replica;             /* it was carried out by a replica */
    uint64_t server_us;       /* MARK, MASTERS, TIME: the server's wall clock */
    uint64_t done_us;         /* true time: carried out; for the checkers */
    uint64_t flushed_us;      /* and when the server's data had last been thrown away by then */
    uint64_t forgot_us;
    int64_t steps_us;
    bool disguised; /* it claimed that the data are the same, though they were replaced */
};

/* One connection: its messages in order, and how far server and client have got. */
struct wire {
    unsigned client, node, server;
    bool client_open; /* the client still reads from it */
    bool server_open; /* the server still reads from it */
    bool cut;         /* broken in the network: nothing sent from now on arrives */
    unsigned unsent;  /* appended in a turn that has not ended yet */
    unsigned unexecuted, unanswered, last; /* messages, or NONE */
    unsigned taken;                        /* the last one whose answer the client took, or NONE */
    unsigned survivors;                    /* cut: so many messages in flight still arrive */
    unsigned held, held_parts;             /* arrived while the server was stopped, in parts */
    uint64_t late_us;                      /* cut: the survivors do not arrive before */
    uint64_t there_us, back_us;            /* when the last one arrives */
    bool watch;                            /* the second connection of a node */
    uint64_t channel;                      /* that it has subscribed to; 0: none */
    bool invalidations;                    /* and to these */
    unsigned redirect; /* CLIENT TRACKING: the connection that gets the invalidations, or NONE */
    unsigned tracked;  /* keys and counters, as bits */
    bool caching;      /* the next command tracks what it reads */
    unsigned natives;  /* bits of enum rlk_native: the server knows them, it has said */
    uint64_t gone_us;  /* watch, cut: when the server notices */
};

/* The waiting list of a key. */
struct list {
    unsigned n;
    uint64_t channels[SIM_LISTED];
    uint64_t tickets_us[SIM_LISTED];
    uint64_t ends_ms;
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
    unsigned stamp;    /* counts its stops and ends */
    unsigned run;      /* run_id */
    uint64_t since_us; /* its start, by its wall clock */
    bool forgets;      /* it comes back without its data */
    bool kept_off;     /* it does not come back: a master that left, and does not know it */
    bool flushed;
    bool replay_failed; /* it has not loaded all of its log, and says so */
    unsigned master;    /* it is a writable replica of that server; NONE: it is a master */
    uint64_t promotion; /* counts how often it was promoted */
    struct mark mark;
    int64_t steps_us;    /* how far its clock was set, forward less back */
    uint64_t stepped_us; /* true time: forward, last */
    uint64_t back_us;    /* true time: set back, last */
    uint64_t witnesses;  /* clients that see that step and put it on record */
    bool disguised;      /* the data that it copied have the mark that its own had */
    bool copied;         /* they still have the mark of another server */
    uint64_t ended_us, forgot_us, flushed_us; /* true time */
    unsigned scripts;         /* those that it knows, as bits of enum message_kind */
    enum rlk_native native;   /* the command that it releases with, besides the script */
    enum message_kind denied; /* RELEASE or DELETE: its user may not use that ... */
    bool denies;              /* ... at the moment */
    struct clock clock;
    uint64_t loading_us, refuses_us, denies_mark_us; /* until then */
    uint64_t denies_record_us;                       /* the same */
    const char *refusal;
    struct value keys[SIM_STORED];
    struct value before[SIM_STORED]; /* without the last write: what a replica has */
    uint64_t counters[SIM_STORED], counters_before[SIM_STORED];
    struct on_record masters, masters_before;
    struct {
        uint64_t mark, since_us; /* true time */
        size_t record;
    } newcomer; /* data that are on record in the place of others [M5]: since when */
    struct list lists[SIM_STORED];
};

/* The path from a client to a node. */
struct peer {
    struct rlk_dial *dial, *watch_dial; /* what makes the connection, and the second one */
    struct rlk_conn *conn, *watch;
    unsigned wire; /* the present connection, or the last one */
    unsigned watch_wire;
    bool breaks;                            /* right after its next SET */
    uint64_t there_clear_us, back_clear_us; /* nothing arrives before */
    uint64_t slow_us, slow_until_us;
    /* for the checkers, in true time: first and last greeted; first and last inspected */
    uint64_t met_us, greeted_us, first_inspected_us, inspected_us;
    uint64_t role_us;         /* its role was read last */
    bool unread;              /* its data could not be read at the last inspection */
    uint64_t mark;            /* that it showed last */
    struct on_record masters; /* the same */
    uint64_t shown_us;        /* when it was asked for these, by the client's clock */
    bool denies_record;       /* it has shown them before, and denies them now */
    uint64_t former_us;       /* the same of those that the client went by, before these; 0: none */
    uint64_t timed_us, timed_error_us,
        timed_worst_us;     /* its clock was compared last; with an error of at most */
    int64_t timed_steps_us; /* how far its clock had been set by then */
    uint64_t hidden_us;     /* a step that this client had not seen yet was taken back */
    size_t pending;         /* releases that were ever pending for it */
    size_t pending_before;  /* the same, when its last connection was greeted */
    bool duplicate;         /* this client knows that it is another node's server [S10] */
    unsigned closed;        /* a connection that has ended in this step, or NONE */
};

enum worker_phase {
    WORKER_IDLE = 0,
    WORKER_PENDING,
    WORKER_HELD,
    WORKER_RELEASING
};

/* What a holder may believe, computed a second time and not by the core. check_hold.c */
struct held {
    uint64_t present, counts;      /* [S7] */
    uint64_t clock_suspect;        /* [S11] */
    uint64_t open;                 /* asked, and not answered */
    uint64_t asked, confirmed;     /* in the round under way */
    uint64_t restored;             /* asked since the last success */
    uint64_t voting;               /* [S7] the nodes that may count */
    uint64_t joined;               /* that became such since the last success */
    uint64_t joined_us;            /* true time: the last of these */
    uint64_t next_us[SIM_PLACES];  /* the lease that a yes to the open question brings */
    uint64_t begun_us[SIM_PLACES]; /* when the round began that asked it last */
    uint64_t lease_us[SIM_PLACES]; /* the longest that was confirmed */
    uint64_t since_us[SIM_PLACES]; /* true time: since when the key is there without a gap */
    uint64_t won_us, round_us;     /* the client's clock */
    uint64_t success_us;           /* true time */
    uint64_t dropped_us;           /* true time: an answer made the validity shorter */
    uint64_t due_us;               /* true time: the lock was lost */
    uint64_t valid_us;             /* [S2] */
    uint64_t before_us;            /* the same, before the last answer */
    uint64_t
        suspended_us; /* how long the client was suspended since the user asked for an extension */
    unsigned rounds, extensions;
    uint64_t least_us; /* the shortest ttl of any request for it */
    bool succeeded;    /* the round in progress has succeeded */
    bool lost, lost_reported, trouble_reported;
    bool safe;         /* nobody can take it away: it is renewed, and no fault is active */
    bool may_be_safe;  /* it becomes safe when all nodes count */
    bool unsure;       /* a node was restored, or has died before grown_us: others may not count */
    uint64_t grown_us; /* the client's clock: from then on all nodes that granted it count [S7] */
};

/* A user who is a candidate: the library asks for the locks. candidate.c */
struct candidacy {
    struct redlock_election *election; /* NULL: none */
    redlock_acquire_cb *acquired_cb;   /* of the election, about its lock */
    redlock_notice_cb *notice_cb;
    void *lock_arg;    /* of both: the election, or its bid */
    unsigned step;     /* only the latest plan of the user counts */
    unsigned key;      /* that it is an election for */
    unsigned priority; /* also of the last bid */
    unsigned highest;  /* of all bids: another one may have begun before a demotion is reported */
    bool campaigns;    /* since the last resignation */
    bool stops_later;  /* an option of the election, as the next ones */
    bool observes;     /* it has no id, and cannot campaign */
    bool listens;      /* it wants to know who leads */
    bool freeing;      /* its user waits for the end of the election */
    uint64_t delay_us; /* before it campaigns again */
    uint64_t spare_us; /* how much longer than the lead its lock lasts */
    /* for the checkers */
    bool leads;             /* elected_cb was called, and demoted_cb has not returned */
    bool stopped;           /* in demoted_cb already */
    bool stopping;          /* demoted_cb has returned, and the user has not stopped */
    unsigned claim;         /* of the last lead, or NONE */
    uint64_t until_us;      /* the client's clock: the deadline of the lead; 0: no lead */
    uint64_t over_us;       /* true time: the lead was over */
    uint64_t demoted_us;    /* the client's clock: demoted_cb returned */
    uint64_t stop_by_us;    /* the client's clock */
    uint64_t campaigned_us; /* true time: since then it may be elected */
    uint64_t elected_us;    /* true time; of a bidder: its bid was held */
    uint64_t made_us;       /* true time: the election was made */
    uint64_t had_us; /* true time: until when it had the key on a majority, or was asking for it
                        with that, or a master said so later; 0: never */
    bool sick;       /* healthy_cb has said no last */
    bool told, told_known; /* who leads: check_leader.c */
    uint64_t told_term;
    char told_id[16];
};

/* A user of locks: one request at a time. */
struct worker {
    unsigned client, index;
    enum worker_phase phase;
    struct redlock_lock *lock; /* NULL: IDLE */
    unsigned op, keys, claim;
    int64_t
        number; /* the library's number of its lock; -1: not known yet, or no trace is printed */
    uint32_t ttl_ms;
    bool renew, gated, fenced;
    uint64_t max_hold_us;
    uint32_t max_renewals;
    bool suspension_unnotified; /* its client was suspended, and the lock has not been notified yet
                                 */
    uint64_t
        data_replaced;  /* nodes whose data were replaced, and the lock has not been notified yet */
    unsigned releasing; /* the claim whose release has begun in this step, or NONE */
    bool extending;     /* the user waits for an extension */
    uint64_t extend_us,
        extend_lost_us; /* the client's clock, and how long it had been paused by then */
    struct held held;
    bool is_candidate;
    bool is_bidder; /* it has no user: its locks are the bids of the client's candidate */
    struct candidacy candidacy;
    bool lingers; /* it holds its last lock for long, after all faults have ended */
    /* for the checkers */
    uint64_t called_us; /* true time: the call of redlock_acquire() */
    uint64_t listed_us; /* true time: a master has listed it; 0: none has */
    bool reported, cancelled;
    unsigned refusals;          /* noes that it has got */
    uint64_t asked_us, lost_us; /* the client's clock, and how long it had been paused by then */
    uint64_t limit_us;          /* the result must be reported within */
    uint64_t valid_us;          /* at the release: until when the lock was valid */
    bool last;                  /* after the faults */
    bool done;
};

/* A client with an event loop of its own: for the library it is an opaque pointer. */
struct client {
    unsigned index;
    bool alive;
    struct redlock *rl; /* NULL: dead */
    unsigned life;      /* counts its processes */
    unsigned armed;     /* counts how often its timers were set */
    bool closing;       /* its users make no more calls */
    uint64_t close_us,
        close_lost_us; /* since when, by its clock; and how long it had been paused by then */
    struct clock clock;
    bool noticed_suspension;   /* it has noticed a suspension of its own */
    bool saw_other;            /* a master has shown it a record of other masters */
    struct on_record agreed;   /* the last record of its own masters that it saw on a majority */
    uint64_t agreed_us;        /* since when it has known what that says, by its clock */
    uint64_t vacant;           /* nodes whose masters were removed: they have no server */
    int64_t skew_us;           /* of its wall clock, against true time */
    uint64_t busy_us;          /* it does nothing until then */
    uint64_t lost_us;          /* how long it has been paused in all */
    uint64_t got_us;           /* true time: in a healthy crowd, when it got the lock last */
    unsigned nodes, given;     /* now; when it is started, where there are no operators */
    unsigned list[SIM_PLACES]; /* the number of the address of each */
    unsigned names[SIM_NODES]; /* the server that this client finds at each address */
    struct peer peers[SIM_PLACES];
    struct worker workers[SIM_WORKERS];
};

/* What waiting costs in a healthy crowd. check_wait.c */
struct effort {
    uint64_t commands, pushes, rounds; /* that were sent, or begun */
    uint64_t overtakings;
    uint64_t freed_us;    /* true time: the last release */
    unsigned successor;   /* whom the lock was handed over to last, and nobody has had it since:
                        client * SIM_WORKERS + index; or NONE */
    bool must_get;        /* it waited in the queue */
    uint64_t reserved_us; /* true time: nobody else can get it before */
    unsigned hand_overs;  /* each tells everybody who waits */
    unsigned former;      /* the claim that was handed over last, as `successor`; or NONE */
    uint64_t handed_us;   /* true time: when */
    uint64_t polls;       /* rounds that waiters may have begun because a reservation was missing on
                             two servers or more */
};

/* A lock that its user has left to its time: `redlock lock --at-least`. Nobody else gets it before
 * that, also when its process dies. */
struct left_lock {
    unsigned client, claim, keys;
    uint64_t until_us; /* the client's clock */
};

#define LEFT_LOCKS 16

/* A lock that a client has broken. */
struct broken_lock {
    unsigned client, claim, key;
    bool told;         /* that it is broken, and the time has not come */
    uint64_t until_us; /* the client's clock */
};

#define BROKEN_LOCKS 64

/* A lock whose process has died. heir.c */
struct inherited {
    unsigned claim, worker, keys;
    uint64_t dead_us;       /* true time: the command that it protects is dead */
    uint64_t deadline_us;   /* of the command: the clock of the process that died */
    uint64_t keep_until_us; /* it is not released before: the same clock; 0: no limit */
    bool kept;              /* so it is left to its time */
};

/* When an heir dies itself. */
enum heir_death {
    HEIR_LIVES = 0,
    HEIR_DIES_EARLY,      /* before it releases anything */
    HEIR_DIES_CONNECTING, /* some connections are made, and perhaps something is released */
    HEIR_DIES_BETWEEN     /* between the two releases */
};

struct heir {
    bool busy;
    unsigned stamp;  /* counts its lives */
    unsigned client; /* that has died */
    unsigned n;
    struct inherited of[SIM_WORKERS];
    enum heir_death dies;
    unsigned waits;              /* results that it waits for */
    unsigned times;              /* it has released everything so often */
    bool failed;                 /* too few masters have replied this time */
    uint64_t began_us, first_us; /* true time: the first release, and its end; 0: not yet */
    bool done;                   /* it did not die */
    unsigned stamps[SIM_NODES];  /* of the servers that ran when it began; NONE: it did not */
    uint64_t away; /* nodes that were not connected, or did not reply, after both releases */
};

/* Who replaces, adds or removes a master. operator.c */
struct operator_life {
    struct redlock_change *change; /* NULL: none, or its memory has been freed */
    void (*closed)(void *arg);     /* of the change, when its manager is closed */
    void *closed_arg;
    unsigned stamp;           /* counts its lives */
    bool wishes;              /* it knows what it wants */
    unsigned list[SIM_NODES]; /* the masters, as it has them */
    unsigned n;               /* how many */
    unsigned leaves, joins;   /* the place of one of them, and an address; NONE: none */
};

/* A record that some master has accepted, under whatever ballot. check_masters.c */
struct change_seen {
    size_t record;
    uint64_t since_us;  /* true time */
    uint64_t agreed_us; /* the same: enough masters had it; 0: they never had */
};

#define CHANGES_SEEN 64

struct world {
    struct options o;
    struct rlk_prng prng;
    uint64_t now_us; /* true time */
    uint64_t events, hash;
    struct server servers[SIM_NODES];
    bool healed;
    uint64_t healed_us;
    uint64_t quiet_us;    /* from then on no message is in flight and no client is paused */
    uint64_t set_back_us; /* how far clocks were set back in all */
    uint64_t same_us;     /* the last instant, and how many events it had */
    unsigned same;
    uint64_t linger_us; /* all faults have ended, and their effects */
    unsigned done;
    unsigned acquired, renewed, lost, leads, faults; /* for the figures at the end */
    struct effort effort;
    bool was_copied;           /* some server had the mark of another one, perhaps on record */
    bool was_recorded;         /* some server had a record of the masters */
    unsigned renamed;          /* how many names lead to other servers now */
    unsigned found[SIM_NODES]; /* which server each name leads to in the end; 0: the first one */
    uint64_t
        vacant_us[SIM_KEYS]; /* true time: in a quiet election, since when nobody has the key */
    uint64_t seen_us[SIM_STORED]; /* true time: a master has said last that somebody has the key */
    struct left_lock left[LEFT_LOCKS]; /* the last ones */
    unsigned n_left;
    struct broken_lock broken[BROKEN_LOCKS];
    unsigned n_broken;
    struct heir heirs[SIM_HEIRS];
    struct operator_life operators[SIM_OPERATORS];
    unsigned moved_list[SIM_NODES]; /* the addresses of the masters after the changes that were
                                       reported */
    unsigned n_moved;
    struct change_seen changes[CHANGES_SEEN];
    unsigned n_changes;
    uint64_t freed_us[SIM_KEYS]; /* true time: an heir has begun a release that succeeded */
    uint64_t taken_us[SIM_KEYS]; /* true time: a lock of the key was handed out last */
    unsigned deaths;             /* of clients that had a lock, or waited for one */
    unsigned ghosts;             /* candidates that died while they waited */
    bool refounded; /* all masters lost their data, and there is another first record: it fits the
                       list of its writer [M5] */
    bool starved;   /* a master was replaced, and the others were no majority [M7] */
    bool moved;     /* a clock was set forward, or is outside of the bounds */
    bool harmed;    /* a server has forgotten something, or a clock was set forward */
    uint64_t fences[SIM_STORED];            /* the largest that was reported to any user */
    unsigned fenced, confirms, quarantined; /* for the figures, too */
    unsigned running;                       /* the client whose code runs now, or SIM_CLIENTS */
    const struct message *reading;          /* the message that it has just read; NULL: none */
    unsigned n_reading;                     /* with the parts behind it */
    bool noted;                             /* `reading` was passed on as a vote */
    bool timed;                             /* its time was compared with others */
    bool ending;                            /* a process dies: nothing is checked */
    bool tracing;
    bool violated;
    char violation[256]; /* "exclusion: ..." */
    /* The rest is reset apart: clear() in history.c. */
    struct client clients[SIM_CLIENTS];
    struct schedule schedule;
    struct wire *wires;
    size_t n_wires, cap_wires;
    struct message *messages;
    size_t n_messages, cap_messages;
    unsigned free_message; /* the first of those that are not used any more, or NONE */
    struct claim *claims;
    size_t n_claims, cap_claims;
    struct {
        char *text; /* of all records of the masters, one after the other, each with its NUL */
        size_t len, text_cap;
        struct kept_record *of; /* from 1 */
        size_t n, cap;
    } records;
};

static inline bool message_releases(const struct message *m)
{
    return m->kind == MESSAGE_RELEASE || m->kind == MESSAGE_DELETE || m->kind == MESSAGE_HAND_OVER;
}

/* The message that it has just read, or the part of it, that is about this claim; NULL: none is. */
static inline const struct message *world_reading(const struct world *w, unsigned claim)
{
    unsigned i;

    for (i = 0; w->reading && i < w->n_reading; i++) {
        if (w->reading[i].claim == claim) {
            return &w->reading[i];
        }
    }
    return NULL;
}

static inline struct claim *world_claim(struct world *w, unsigned claim)
{
    return &w->claims[claim];
}

static inline struct worker *world_worker(struct world *w, unsigned client, unsigned worker)
{
    return &w->clients[client].workers[worker];
}

/* The server behind a node of a client: that of the present connection, or the last one. */
static inline unsigned world_server(const struct world *w, unsigned client, unsigned node)
{
    const struct client *c = &w->clients[client];
    unsigned wire = c->peers[node].wire;

    return wire == NONE ? c->names[c->list[node]] : w->wires[wire].server;
}

/* [S1] Whose majority decides. Where masters change, or some clients have another number, the
 * manager says it: a client may have nodes for former masters and for those that joined.
 * check_masters.c checks that against the record. */
static inline struct rlk_voters world_voters(const struct world *w, unsigned client)
{
    const struct client *c = &w->clients[client];

    bool varies = w->o.operators > 0 || w->o.other_list > OTHER_ORDER;

    return varies && c->rl ? c->rl->voters : (struct rlk_voters){~UINT64_C(0), c->nodes};
}

static inline bool world_is_majority(const struct world *w, unsigned client, uint64_t nodes)
{
    struct rlk_voters v = world_voters(w, client);

    return rlk_mask_count(nodes & v.set) > v.size / 2;
}

/* max_ttl_ms of a client. */
static inline uint32_t world_max_ttl_ms(const struct world *w, unsigned client)
{
    bool other = w->o.other_list == OTHER_MAX_TTL && (w->o.others >> client & 1);

    return (uint32_t)(options_max_ttl_us(&w->o) / 1000) * (other ? 2 : 1);
}

/* A key and a reservation for it, as one number. */
static inline unsigned world_reserved(unsigned key, unsigned reservation)
{
    return key | reservation << 4;
}

/* The counter of a key, where keys and counters are numbered together. */
static inline unsigned world_counter(unsigned key)
{
    return SIM_STORED + key;
}

/* The client's time [S3], and its time since 1970 [S12]. */
uint64_t world_client_us(const struct world *w, unsigned client);
uint64_t world_wall_us(const struct world *w, unsigned client);

/* A node as a client has it; the client is alive. */
static inline struct rlk_node *world_node(const struct world *w, unsigned client, unsigned node)
{
    return &w->clients[client].rl->nodes[node];
}

static inline bool world_node_up(const struct world *w, unsigned client, unsigned node)
{
    return w->clients[client].rl && world_node(w, client, node)->link.state == RLK_LINK_UP;
}

#define WORLD_EPOCH_US UINT64_C(1795000000000000)

/* Ten days: how long before a history some things were. */
#define WORLD_LONG_AGO_US UINT64_C(864000000000)

#endif
