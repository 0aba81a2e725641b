/* quarantine.h - whether the votes of a server count, and until when they do not [S11].
 *
 * A server that restarted may have forgotten a vote that was counted, and give it again. So for
 * as long as a lock can live after its restart its votes are asked for, and not counted. The same
 * holds when its data were thrown away under the same run, and when its clock went forward: then
 * keys have ended before their time.
 *
 *     What we saw ourselves comes first: another run, another mark, than those that we knew. What
 *     the server says of its age is by its wall clock, which may be set; it decides only for a
 *     server that we had never seen.
 *
 *     What could not be read is not as before: the first run or mark that is told after one that
 *     was not counts as another one, and so does a run that is not told any more.
 *
 * All lengths of time are by our clock, from when we saw it: that is after it happened. */
#ifndef RLK_CORE_QUARANTINE_H
#define RLK_CORE_QUARANTINE_H

#include <stdbool.h>
#include <stdint.h>

/* How much of this is wanted. */
enum rlk_quarantine_policy {
    RLK_QUARANTINE_STRICT = 0, /* all of it */
    RLK_QUARANTINE_OBSERVED,   /* only what this process saw happen */
    RLK_QUARANTINE_OFF         /* nothing: the masters keep their data, somebody says */
};

/* Why a vote does not count. */
enum rlk_quarantine_reason {
    RLK_QUARANTINED_NOT = 0, /* it counts */
    RLK_QUARANTINED_YOUNG,   /* never seen before, and its data are younger than the longest ttl */
    RLK_QUARANTINED_RESTARTED, /* another run than the one that we knew */
    RLK_QUARANTINED_FORGOT, /* other data than those that we knew, under the same run or durably */
    RLK_QUARANTINED_CLOCK,  /* its clock went forward, or too fast */
    RLK_QUARANTINED_EVICTS, /* it may throw keys away to make room: while it says so, and after */
    RLK_QUARANTINED_UNREAD, /* it cannot say for now whether it still has its data */
    RLK_QUARANTINE_REASONS
};

#define RLK_RUN_MAX 40

/* What its incarnation key says of its data, and its clock at that moment. */
struct rlk_birth {
    uint64_t mark;      /* 0: unknown */
    uint64_t born_us;   /* since when the data are there, by its clock */
    uint64_t server_us; /* what that shows now */
};

/* What a server said of itself when it was greeted. */
struct rlk_facts {
    const char *run; /* run_id, at most RLK_RUN_MAX bytes of it count; "": it does not tell */
    struct rlk_birth birth;
    bool unread;          /* it has one, and could not be asked for it for the moment */
    uint64_t promotion;   /* which promotion made it a master; 0: none, or it does not tell */
    uint64_t age_us;      /* of the run, as it says; RLK_NEVER: it does not tell */
    uint64_t data_age_us; /* since its data were last thrown away, likewise */
    bool durable; /* every write is on its disk before it is answered: restarts lose nothing */
    bool evicts;  /* memory is limited, and the policy is another than noeviction */
};

struct rlk_quarantine {
    enum rlk_quarantine_policy policy;
    uint64_t quarantine_us; /* the longest ttl, with the drift against us */
    uint64_t old_enough_us; /* told ages are old enough from here on: they come in whole seconds */
    bool greeted;           /* greeted at least once */
    char run[RLK_RUN_MAX + 1]; /* the last that was told, "": none yet */
    uint64_t watched_since_us; /* since when this run is watched: looked at again and again */
    uint64_t inspected_us;     /* when it was looked at last */
    uint64_t mark;             /* the last that was told or seen, 0: none */
    uint64_t born_us;          /* the last that was told, by its clock; 0: none */
    bool recorded_by_other; /* another has put on record since the last look that its clock moved */
    uint64_t step_us;       /* what its clock showed when we did, and that is not on record; 0 */
    bool mark_lost;         /* there is none any more, and there was one */
    bool replica;           /* it was no master when its role was seen last */
    bool data_replaced;     /* its data are not those that it had, and nobody was told yet */
    uint64_t promotion;     /* as it was told last */
    bool durable;           /* as of the last greeting */
    bool clock_suspect;     /* since its clock moved it has not kept time */
    uint64_t moved_us;
    uint64_t
        until_us[RLK_QUARANTINE_REASONS]; /* by reason; 0: not quarantined, RLK_NEVER: for good */
};

void rlk_quarantine_init(struct rlk_quarantine *s, enum rlk_quarantine_policy policy,
                         uint64_t max_ttl_us, uint32_t drift_ppm);

/* It was greeted as a master, for the first time or again. Its age is looked at as long as no run
 * of it is known. A restart loses nothing when the server is durable and was so when it was greeted
 * before; and if the mark says otherwise it is believed less than the mark. True when it is
 * quarantined for a restart: then its clock may be another one. That of who kept its keys over a
 * restart ends them, whatever machine it is now, and is compared on. */
bool rlk_quarantine_greet(struct rlk_quarantine *s, const struct rlk_facts *facts, uint64_t now_us);

/* It is the run that was greeted last. */
bool rlk_quarantine_knows(const struct rlk_quarantine *s, const char *run);

/* The mark of its data was looked at: by the health check, or along with a vote. 0: it has none
 * any more, which is as good as another one; then the bar begins anew with each look until, and
 * with, the one that finds a mark, for without one nobody sees that data are lost again. True when
 * a mark was found, and these are other data than those that were greeted: it has to be greeted
 * again. */
bool rlk_quarantine_check_mark(struct rlk_quarantine *s, uint64_t mark, uint64_t now_us);

/* It could not be looked at for the moment: its votes do not count until it was. Or it cannot be
 * looked at at all, and they count unseen. */
void rlk_quarantine_set_unread(struct rlk_quarantine *s, bool unread);

/* Its role was looked at. True when it is no master, or was none since it was greeted: it has to be
 * greeted again. What it has then is a copy of its master's data, so it is quarantined from the
 * next greeting that finds it a master. */
bool rlk_quarantine_check_role(struct rlk_quarantine *s, bool master, uint64_t promotion,
                               uint64_t now_us);

/* Its data are not those that it had when this was asked last: a key that it has now it may not
 * have had all the time [S7]. */
bool rlk_quarantine_take_data_replaced(struct rlk_quarantine *s);

/* It may throw keys away, or does so no longer: when that was asked again. */
void rlk_quarantine_set_evicts(struct rlk_quarantine *s, bool evicts, uint64_t now_us);

/* Its clock goes as it should, as far as this look tells. */
void rlk_quarantine_clock_steady(struct rlk_quarantine *s, uint64_t now_us);

/* The birth of its data was told by a look, ahead of what else that says. A later one than before,
 * of the same data, is the record of a step: strangers wait by it, and so does who has compared its
 * clock for a shorter time than a lock lives. Who has for longer would have seen a step that
 * matters, and relies on that. */
void rlk_quarantine_check_birth(struct rlk_quarantine *s, const struct rlk_birth *birth,
                                uint64_t now_us);

/* Its clock went forward, and shows this now; or it was not that, ours had stood still. */
void rlk_quarantine_clock_moved(struct rlk_quarantine *s, uint64_t server_us, uint64_t now_us);
void rlk_quarantine_clock_excused(struct rlk_quarantine *s);

/* Since when, by its clock, its data are to be said to be there, for strangers to wait: a step that
 * we saw and that is not on record; 0 for nothing. Once for each step: who finds a record of
 * another in the look that shows the step, and no older than the look before, leaves it at that. */
uint64_t rlk_quarantine_step_to_record(const struct rlk_quarantine *s, uint64_t now_us);

/* Why its votes do not count now, by the reason that lasts longest; RLK_QUARANTINED_NOT when they
 * do. *ret_until_us (NULL to do without): at which moment that is over, RLK_NEVER for as long as
 * nothing changes, 0 when they count. */
enum rlk_quarantine_reason rlk_quarantine_reason(const struct rlk_quarantine *s, uint64_t now_us,
                                                 uint64_t *ret_until_us);

/* [S7] Whether what it confirms of a lock that is held does not count: only a clock that cannot be
 * relied on reasons that, until it has kept time for a second. Who still has our key has not
 * forgotten it. */
bool rlk_quarantine_is_clock_suspect(const struct rlk_quarantine *s, uint64_t now_us);

#endif
