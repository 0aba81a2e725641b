/* quarantine.h - whether a server's votes count, and when they count again [S11].
 *
 * A server that restarted may have lost a key that it granted, and may grant it once more. So its
 * votes are asked for, but do not count until every lock that it may have lost has expired. A
 * server can lose keys in other ways, too. It is in quarantine for these reasons:
 *
 *     YOUNG       we see the server for the first time, and its mark is      until they are old
 *                 younger than the longest ttl, so its data may be, too;     enough
 *                 or another client has recorded a step of its clock
 *     RESTARTED   its run changed, and it is not durable                     for the longest ttl
 *     LOST_DATA   its mark changed or is gone, so its data were deleted      for the longest ttl,
 *                 or replaced; or it was a replica                           from when a mark is
 *                                                                            read again
 *     CLOCK       its clock went ahead: keys expired early                   for the longest ttl
 *     EVICTS      it may evict keys                                          as long as it may, and
 *                                                                            for the longest ttl
 *     UNREAD      its mark cannot be read for the moment, or can no longer   until it is read
 *                 be read
 *     UNLOGGED    a restart may load an older log, with the mark in it       until its log is
 *                                                                            complete
 *     ANONYMOUS   it does not tell its run, so nobody sees a restart         until a handshake
 *                                                                            tells it
 *     UNLISTED    it is not on the record of the masters, or only since      until it is, and
 *                 a short time ago [S15]                                     clients know that
 *
 * Two rules decide what counts as a change:
 *
 *     What we saw ourselves comes before what the server says. Its age is by its wall clock, which
 *     may have been set, so the age decides only for a server that we had never seen.
 *
 *     What could not be read counts as changed. When we can read a run or a mark again, it counts
 *     as a new one, and so does a run that can no longer be read.
 *
 * Every duration is by our clock, and begins when we saw the change, which is after it happened.
 * "The longest ttl" always includes the drift. */
#ifndef RLK_CORE_QUARANTINE_H
#define RLK_CORE_QUARANTINE_H

#include <stdbool.h>
#include <stdint.h>

/* How much of this applies: enum redlock_quarantine, of the manager or in a master's URI. */
enum rlk_quarantine_policy {
    RLK_QUARANTINE_STRICT = 0, /* all reasons */
    RLK_QUARANTINE_LENIENT,    /* only what this process saw happen: no ages, EVICTS, UNLOGGED,
                                   ANONYMOUS */
    RLK_QUARANTINE_OFF         /* none: the user says that the masters keep their data */
};

/* Why a vote does not count: see above. */
enum rlk_quarantine_reason {
    RLK_QUARANTINED_NOT = 0, /* it counts */
    RLK_QUARANTINED_YOUNG,
    RLK_QUARANTINED_RESTARTED,
    RLK_QUARANTINED_LOST_DATA,
    RLK_QUARANTINED_CLOCK,
    RLK_QUARANTINED_EVICTS,
    RLK_QUARANTINED_UNREAD,
    RLK_QUARANTINED_UNLOGGED,
    RLK_QUARANTINED_ANONYMOUS,
    RLK_QUARANTINED_UNLISTED,
    RLK_QUARANTINE_REASONS
};

#define RLK_RUN_MAX 40

/* What a server's incarnation key says of its data. */
struct rlk_birth {
    uint64_t mark;      /* a random number that stays as long as the data do; 0: unknown */
    uint64_t born_us;   /* since when the data are there, by the server's clock */
    uint64_t server_us; /* what the server's clock showed when the key was read */
};

/* What a handshake has found out about a server. */
struct rlk_facts {
    const char *run; /* run_id, of which RLK_RUN_MAX bytes count; "": it could not be read */
    struct rlk_birth birth;
    bool unread;        /* the incarnation key could not be read for the moment */
    uint64_t promotion; /* which promotion made it a master; 0: none, or unknown */
    uint64_t age_us;    /* of the data, or of the run where there is no mark, as the server says;
                           RLK_NEVER: unknown, which counts as old */
    bool durable;       /* every write is on disk before the reply: a restart loses nothing */
    bool replay_failed; /* it may not have loaded all of its log when it started */
    bool lacks_log;     /* it would be durable, but its log may not be complete yet */
    bool evicts;        /* it has a maxmemory, and a policy other than noeviction */
};

struct rlk_quarantine {
    enum rlk_quarantine_policy policy;
    uint64_t quarantine_us;    /* the longest ttl and the drift: how long a quarantine lasts */
    uint64_t old_enough_us;    /* data of this age have lost no lock that still matters */
    bool met;                  /* there was a handshake */
    char run[RLK_RUN_MAX + 1]; /* the last run that was read; "": none yet */
    uint64_t watched_since_us; /* since when its birth was read without a gap of 2 s */
    uint64_t inspected_us;     /* when the birth was read last */
    uint64_t mark;             /* the last mark that was read; 0: none */
    bool had_mark;             /* a mark was read at least once */
    uint64_t born_us;          /* the last birth that was read, by the server's clock; 0: none */
    bool recorded_by_other; /* another client recorded a clock step since the previous inspection */
    uint64_t step_us; /* what the server's clock showed when we saw it step, until that is recorded;
                         0: nothing to record */
    bool mark_lost;   /* the server had a mark, and none was found since */
    bool replica;     /* it was no master when its role was read last */
    bool data_replaced;   /* it has other data than before, and that was not reported yet */
    uint64_t promotion;   /* the last one that was read */
    bool durable;         /* as of the last handshake, and whenever it was read since */
    bool extends_nothing; /* UNLISTED: it does not extend held locks, either [S15] */
    bool clock_suspect;   /* its clock moved, and has not kept time for a second since */
    uint64_t moved_us;    /* when we saw that */
    uint64_t until_us[RLK_QUARANTINE_REASONS]; /* 0: no quarantine for this reason; RLK_NEVER: no
                                                  end as long as nothing changes */
    uint64_t last_us;                          /* the latest of these */
};

void rlk_quarantine_init(struct rlk_quarantine *q, enum rlk_quarantine_policy policy,
                         uint64_t max_ttl_us, uint32_t drift_ppm);

/* A handshake has found a master, for the first time or again. Its age counts as long as none of
 * its runs is known. A restart loses nothing when the server is durable, has a mark, and was
 * durable at the handshake before; but a different mark still begins a quarantine.
 *
 * True when the server restarted and may have lost its data. Then its clock may be a different one,
 * too, and old samples of it mean nothing. A server that kept its keys over a restart is still
 * compared with its old samples: its clock decides when these keys expire, on whatever machine. */
bool rlk_quarantine_take_handshake(struct rlk_quarantine *q, const struct rlk_facts *facts,
                                   uint64_t now_us);

/* The mark of the data was read, by an inspection or along with a vote. 0: it is missing, which
 * counts as a change. While there is no mark, nobody would notice if the data were lost again. So
 * the time of the quarantine begins when an inspection finds a mark.
 *
 * True when a mark was found that differs from the one of the handshake: we have to reconnect. */
bool rlk_quarantine_check_mark(struct rlk_quarantine *q, uint64_t mark, uint64_t now_us);

/* The mark could not be read. `unread`: the votes do not count until it is read. Otherwise they
 * count without it. If a mark had gone missing, they count after the longest ttl. */
void rlk_quarantine_set_unread(struct rlk_quarantine *q, bool unread, uint64_t now_us);

/* Whether an inspection must first read a mark, the run, or that the log is complete, before votes
 * count. */
bool rlk_quarantine_needs_inspection(const struct rlk_quarantine *q);

/* Whether the votes do not count because the server did not tell its run in the handshake. */
bool rlk_quarantine_is_anonymous(const struct rlk_quarantine *q);

/* The role was read. True when the server is no master, or was a replica since the handshake: we
 * have to reconnect. Its data are a copy of another master's then, so it is in quarantine, which
 * begins again with the handshake that finds it a master. */
bool rlk_quarantine_check_role(struct rlk_quarantine *q, bool master, uint64_t promotion,
                               uint64_t now_us);

/* Whether the data were replaced since this was called last: the server may have a key now that it
 * did not have all the time [S7]. */
bool rlk_quarantine_take_data_replaced(struct rlk_quarantine *q);

/* Whether the server may evict keys was read again. */
void rlk_quarantine_set_evicts(struct rlk_quarantine *q, bool evicts, uint64_t now_us);

/* [M2] Until when the votes do not count because of the record of the masters; 0: they do.
 * extends_nothing: it does not extend held locks, either. */
void rlk_quarantine_set_unlisted(struct rlk_quarantine *q, uint64_t until_us, bool extends_nothing);

/* Whether the server is durable, and whether its log may not be complete, was read again. */
void rlk_quarantine_set_log(struct rlk_quarantine *q, bool durable, bool lacks_log);

/* The clock kept time, as far as the last sample shows. */
void rlk_quarantine_clock_steady(struct rlk_quarantine *q, uint64_t now_us);

/* An inspection has read the birth of the data. Call this before rlk_quarantine_check_mark(), with
 * the same reply. If the birth is later than before, under the same mark, a client has recorded a
 * clock step. Clients that are new to this server wait because of it, and so do we, unless we have
 * watched the clock for longer than a lock lasts: then we would have seen the step ourselves if it
 * mattered. */
void rlk_quarantine_check_birth(struct rlk_quarantine *q, const struct rlk_birth *birth,
                                uint64_t now_us);

/* The clock went ahead, and shows server_us now; or it did not: this client was suspended. */
void rlk_quarantine_clock_moved(struct rlk_quarantine *q, uint64_t server_us, uint64_t now_us);
void rlk_quarantine_clock_excused(struct rlk_quarantine *q);

/* The birth, by the server's clock, that has to be written into the incarnation key, so that
 * clients that are new to this server wait: we saw a step that is not on record. 0: nothing to
 * write. A step is recorded once. If the inspection that shows the step also finds a record that
 * another client made since our previous inspection, that record is enough. */
uint64_t rlk_quarantine_step_to_record(const struct rlk_quarantine *q, uint64_t now_us);

/* Why the votes do not count now: the reason that lasts longest, but UNLISTED only where there is
 * no other; RLK_QUARANTINED_NOT when they count. *ret_until_us (may be NULL): when they count
 * again; RLK_NEVER: not as long as nothing changes; 0 when they count now. */
enum rlk_quarantine_reason rlk_quarantine_reason(const struct rlk_quarantine *q, uint64_t now_us,
                                                 uint64_t *ret_until_us);

/* Whether the votes count now. */
bool rlk_quarantine_is_over(const struct rlk_quarantine *q, uint64_t now_us);

/* Whether the votes do not count now, and will count again although nobody changes the server. */
bool rlk_quarantine_ends(const struct rlk_quarantine *q, uint64_t now_us);

/* [S15] Whether it does not extend the lease of a lock that is held, because it shows another
 * record of the masters, or has only just taken the place of one that may still grant locks. A
 * lease from before stays, and where the key is gone it is restored, for later. */
bool rlk_quarantine_extends_nothing(const struct rlk_quarantine *q, uint64_t now_us);

/* [S15] Whether the reply of such a server that the key is gone counts by now. Leases on the server
 * whose place it took are over then, and the key can be restored before it votes. */
bool rlk_quarantine_may_be_restored(const struct rlk_quarantine *q, uint64_t now_us);

/* [S7] Whether a lease on this server does not count either: its clock moved, and has not kept time
 * for a second since. No other reason affects a lock that is held: a server that still has our key
 * has not lost it. */
bool rlk_quarantine_is_clock_suspect(const struct rlk_quarantine *q, uint64_t now_us);

#endif
