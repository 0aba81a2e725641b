/* inspection.h - what a connected master is asked again and again, and what its replies mean
 * [S7, S11].
 *
 *     UP ------> inspected every inspection_ms, or less often while nobody relies on it; along with
 *      ^         renewals, and when there is a reason
 *      ^             |
 *      |             | the master is a replica or was one, it has other data, or it tells a run
 *      +- reconnect -+
 *
 * An inspection asks for the role (INFO, or HELLO where INFO is denied), and runs a script that
 * reads the incarnation key and tells the time. If the policy is off or the run is unknown, it asks
 * for the TIME instead of running the script. If the master refused the script the last time, it
 * does both. Some inspections also ask whether the master may evict keys, and about its log; or for
 * its run, if that alone keeps it from voting. core/quarantine.h decides what the replies mean for
 * its votes; node/inspect.h sends the questions. */
#ifndef RLK_CORE_INSPECTION_H
#define RLK_CORE_INSPECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/server.h"
#include "core/quarantine.h"

struct rlk_inspection {
    bool tells_role;   /* the reply to HELLO has the role */
    bool asked;        /* a reply is outstanding */
    bool refused;      /* the master did not run the script for us the last time */
    bool denies_info;  /* since the handshake, the master denies us INFO */
    bool records_step; /* the next inspection records a step of the master's clock */
    unsigned regular;  /* how many periods there were since the manager began */
    uint64_t sent_us;  /* when the last one was sent */
    uint64_t read_us;  /* when the one was sent whose reply was read last; sent_us may be that of
                          the next one already */
};

/* How the master is asked for its role. */
enum rlk_inspection_role {
    RLK_INSPECTION_NO_ROLE = 0, /* not at all: it cannot be read */
    RLK_INSPECTION_BY_INFO,
    RLK_INSPECTION_BY_HELLO
};

struct rlk_inspection_question {
    enum rlk_inspection_role role;
    bool mark;        /* run the script; otherwise ask for the TIME only */
    bool time;        /* also ask for the TIME, because the script may be refused */
    bool keeps_data;  /* the script: a key that another run wrote holds for this run, too */
    uint64_t step_us; /* the script: the earliest birth that it may keep; 0: any */
};

/* What kind of reply it was. */
enum rlk_inspection_error {
    RLK_INSPECTION_ANSWERED = 0,
    RLK_INSPECTION_NOT_NOW, /* the master rejects every command for the moment */
    RLK_INSPECTION_DENIED,  /* an ACL denies the command */
    RLK_INSPECTION_OTHER    /* any other error, or a reply that we cannot read */
};

enum rlk_inspection_event_kind {
    RLK_INSPECTION_HANDSHAKE = 0, /* the handshake is complete; the first reply, if there is one */
    RLK_INSPECTION_TIME,          /* the time, which was also asked for */
    RLK_INSPECTION_REPLY,         /* the mark and the time, the time only, or an error */
    RLK_INSPECTION_BROKEN,        /* the connection ended before the reply */
    RLK_INSPECTION_INFO,          /* INFO replication was read into the server, or failed */
    RLK_INSPECTION_ROLE,          /* HELLO told the role */
    RLK_INSPECTION_STATE,         /* INFO memory, persistence, commandstats or server was read */
    RLK_INSPECTION_MARK_MISSED    /* a vote did not find the mark that we know */
};

struct rlk_inspection_event {
    enum rlk_inspection_event_kind kind;
    uint64_t now_us;
    enum rlk_inspection_error error; /* HANDSHAKE, REPLY, INFO */
    struct rlk_birth birth;          /* HANDSHAKE, TIME, REPLY; 0 where it was not told */
    enum rlk_unfit unfit;            /* ROLE */
};

/* Why the connection to a master has to be made again, with a new handshake. */
enum rlk_reconnect {
    RLK_RECONNECT_NOT = 0,
    RLK_RECONNECT_UNFIT,         /* it is no independent master */
    RLK_RECONNECT_REPLICA,       /* it is a master again, but was a replica in between */
    RLK_RECONNECT_DATA_REPLACED, /* it has other data */
    RLK_RECONNECT_NAMED          /* it tells its run, which was unknown */
};

struct rlk_inspection_actions {
    bool restarted;   /* it restarted and may have lost data: reset its clock, too */
    bool quarantined; /* send QUARANTINED to every lock: votes that were not reported to a user are
                         retracted, and the key of a held lock may be a copy */
    enum rlk_reconnect reconnect;
    enum rlk_unfit unfit; /* RLK_RECONNECT_UNFIT: what it is instead */
};

/* The handshake of a new connection begins: nothing is outstanding, and nothing was denied yet. */
void rlk_inspection_begin(struct rlk_inspection *i);

/* Whether the mark is asked for: the policy wants it, and the run is known. A refusal changes
 * nothing: a permission may be granted again at any time. */
bool rlk_inspection_reads_mark(const struct rlk_quarantine *q, const struct rlk_server *server);

/* Whether no reply is outstanding. _due: and the last inspection was some time ago. */
bool rlk_inspection_is_free(const struct rlk_inspection *i);
bool rlk_inspection_is_due(const struct rlk_inspection *i, uint64_t now_us);

/* Begin an inspection. Returns what to ask; from now on a reply is outstanding. */
struct rlk_inspection_question rlk_inspection_ask(struct rlk_inspection *i,
                                                  const struct rlk_quarantine *q,
                                                  const struct rlk_server *server, uint64_t now_us);

/* [S15, M5] A vote never relies on an inspection that is older than this when the vote is asked
 * for, however long the pauses between inspections are. */
#define RLK_INSPECTION_OLDEST_US 5000000

/* How long to wait for the next regular inspection. period_us: inspection_ms, not 0; longer while
 * nobody relies on this master: it votes, and no lock of ours may be valid on it. */
uint64_t rlk_inspection_pause_us(const struct rlk_quarantine *q, uint64_t period_us, bool relied_on,
                                 uint64_t now_us);

/* A round is about to ask a master that nobody relied on: whether it must be inspected first,
 * because that was done longer ago than period_us. */
bool rlk_inspection_is_old(const struct rlk_inspection *i, uint64_t period_us, uint64_t now_us);

/* Count a regular inspection that is due, so many periods after the one before. True when it asks
 * whether the master evicts, and whether its log is complete, too; or for a run that is unknown. */
bool rlk_inspection_count(struct rlk_inspection *i, const struct rlk_quarantine *q,
                          const struct rlk_server *server, unsigned periods);

/* It is certain that the master's clock moved. From now on each inspection records that, until one
 * has found the record. True when this is new: then begin an inspection now. */
bool rlk_inspection_record_step(struct rlk_inspection *i, const struct rlk_quarantine *q,
                                const struct rlk_server *server);

/* Take an event. `server` is what the master has told so far, this event included. `out` is written
 * completely. */
void rlk_inspection_step(struct rlk_inspection *i, struct rlk_quarantine *q,
                         const struct rlk_server *server, const struct rlk_inspection_event *ev,
                         struct rlk_inspection_actions *out);

/* What we cannot see of a master whose votes count. */
enum rlk_blind_spot {
    RLK_BLIND_TO_NOTHING = 0,
    RLK_BLIND_TO_RESTART,
    RLK_BLIND_TO_RESTART_AND_ROLE,
    RLK_BLIND_TO_DATA /* whether they were deleted */
};

enum rlk_blind_spot rlk_inspection_blind_spot(const struct rlk_inspection *i,
                                              const struct rlk_quarantine *q,
                                              const struct rlk_server *server);

#endif
