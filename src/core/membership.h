/* membership.h - interprets the records that the masters show: whether they list the masters that
 * we were given, whose votes count, and what has to be written [S15, M1 to M7].
 *
 * The caller fills in what each master has shown, and calls rlk_membership_judge() whenever that
 * changes.
 */
#ifndef RLK_CORE_MEMBERSHIP_H
#define RLK_CORE_MEMBERSHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"
#include "core/validity.h"

/* What one of our masters has shown. */
struct rlk_shown {
    const char *address; /* `len` bytes: how a record calls it */
    size_t len;
    bool tried;           /* it is connected and we know its record, or an attempt to connect to it
                             has failed */
    bool readable;        /* it is connected, and its mark and its record can be read */
    uint64_t mark;        /* the last one that we read; 0: none yet */
    uint64_t read_us;     /* we asked for it then or later, by our clock */
    uint64_t former_mark; /* one that was on record, before this one; 0: none */
    struct rlk_ballot promised;
    const struct rlk_record *record; /* NULL: it has none */
    uint64_t former_us; /* until when it may be relied on as if it still showed the record in use,
                           which it has shown before this one; 0: not */
    uint64_t since_us;  /* since when it has had this one, by our clock */
};

struct rlk_membership {
    unsigned n;
    uint32_t max_ttl_ms;
    int joins, leaves; /* who changes the masters: the server that joins, and the master that
                          leaves, whose place it takes if both are given; -1: none */
    uint64_t vacant;   /* of our nodes: their masters were removed, and they have no server */
    bool writes; /* we write the first record, if no master has one: until then no vote counts */
    uint64_t wait_us; /* the longest ttl, the drift, and how old an inspection may be */
    struct rlk_shown shown[RLK_MAX_NODES];
    const struct rlk_record *in_use; /* the last one that was agreed on, as far as we know; NULL:
                                        none, or too many of its masters lost their data */
    const struct rlk_record *last;   /* the same, but it stays then */
    uint64_t in_use_us;              /* since when we know that */
};

/* [M3] Why our masters are not those on record. */
enum rlk_misfit {
    RLK_MISFIT_NOT = 0,
    RLK_MISFIT_MAX_TTL, /* another max_ttl_ms */
    RLK_MISFIT_NUMBER,  /* more or fewer masters */
    RLK_MISFIT_MASTER,  /* one that is not on record */
    RLK_MISFIT_COPY     /* two with one mark: one is a copy of the other */
};

/* [M4, M5, M7] What has to be written. */
enum rlk_record_task {
    RLK_RECORD_NOTHING = 0,
    RLK_RECORD_FIRST,    /* there is no record */
    RLK_RECORD_AGAIN,    /* it is not on every master, or not agreed on */
    RLK_RECORD_REPLACED, /* masters on record have lost their data */
    RLK_RECORD_SETTLED,  /* the change is over: a record without newcomers and without masters that
                            leave, so that a client need not find the masters from before */
    RLK_RECORD_CHANGED /* a server joins, or a master leaves, or both: it takes that one's place */
};

struct rlk_membership_verdict {
    enum rlk_misfit misfit;
    const struct rlk_record *record;  /* the one that differs, or the one to use; NULL: none */
    unsigned node;                    /* MISFIT_MASTER, _COPY: which of ours */
    uint64_t until_us[RLK_MAX_NODES]; /* until when its votes do not count; 0: they do; RLK_NEVER:
                                         until something changes */
    uint64_t extends_nothing;         /* masters that do not extend held locks, either */
    struct rlk_voters voters;         /* whose majority decides [M8] */
    uint64_t again_us;   /* when to judge again although nothing was shown; RLK_NEVER: not */
    int moves, moves_to; /* one of ours whose place another server took, and the index of that
                            server in the record; -1: none */
    int adds;         /* the index in the record of a master for which we have no node; -1: none */
    int vacates;      /* one of ours whose master was removed; -1: none */
    uint64_t pending; /* masters that should not be asked yet: they may still show a record, or one
                         has yet to be agreed on */
    enum rlk_record_task task;
    const struct rlk_record *base; /* what to change; NULL for FIRST */
    bool settled;                  /* the change that it makes is over, or it makes none */
};

void rlk_membership_init(struct rlk_membership *m, unsigned nodes, uint32_t max_ttl_ms,
                         uint32_t drift_ppm);

/* The mark of a master was read. */
void rlk_membership_set_mark(struct rlk_membership *m, unsigned node, uint64_t mark);

/* What a master shows was read: this record, or NULL. */
void rlk_membership_set_record(struct rlk_membership *m, unsigned node,
                               const struct rlk_record *record);

/* Another server takes the place of one of ours: nothing is known of it. */
void rlk_membership_clear(struct rlk_membership *m, unsigned node);

/* Our nodes that are masters as far as we were told: without the one that is to become one, and
 * without those that were removed. */
uint64_t rlk_membership_listed(const struct rlk_membership *m);
unsigned rlk_membership_count_listed(const struct rlk_membership *m);

/* One more node, for a master on record that is none of ours. Or a node has no server any more,
 * because its master was removed. Their addresses are empty until the caller fills them in. */
void rlk_membership_add(struct rlk_membership *m);
void rlk_membership_vacate(struct rlk_membership *m, unsigned node);

/* The index of one of ours in a record, as a master; -1: it is not there. */
int rlk_membership_find(const struct rlk_membership *m, const struct rlk_record *r, unsigned node);

/* Judge what was shown. `out` is written completely. */
void rlk_membership_judge(struct rlk_membership *m, uint64_t now_us,
                          struct rlk_membership_verdict *out);

/* How far the change has come. */
enum rlk_move_stage {
    RLK_MOVE_UNKNOWN =
        0,            /* it is not known yet which record was agreed on, or the new one's mark */
    RLK_MOVE_WAITS,   /* the previous change is not over */
    RLK_MOVE_WRITES,  /* it is being put on record */
    RLK_MOVE_SETTLES, /* it is on record, and votes go by it when it is over */
    RLK_MOVE_DONE
};

/* *ret_until_us: WAITS, SETTLES: until when. */
enum rlk_move_stage rlk_membership_move_stage(const struct rlk_membership *m, uint64_t now_us,
                                              uint64_t *ret_until_us);

/* Whether the promises of these masters are enough to write what the verdict asks for. */
bool rlk_membership_may_write(const struct rlk_membership *m,
                              const struct rlk_membership_verdict *v, uint64_t promised);

/* The record to write, under that ballot. Its addresses are borrowed from the base and from what
 * was shown. */
void rlk_membership_write(const struct rlk_membership *m, const struct rlk_membership_verdict *v,
                          const struct rlk_ballot *ballot, struct rlk_record *ret_record);

/* The number of the next ballot: above all that were shown. */
uint64_t rlk_membership_next_number(const struct rlk_membership *m);

#endif
