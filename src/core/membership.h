/* membership.h - what a client makes of the records that its masters show: whether they are of the
 * masters that it was given, whose votes count because of them, and what has to be written [S15, M1
 * to M7].
 *
 * The caller fills in what each master has shown, and asks for a judgement whenever that changes.
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
    uint64_t mark;        /* the last one that was read; 0: none yet */
    uint64_t read_us;     /* not before this was it asked for, by our clock */
    uint64_t former_mark; /* one that it had when the record was read last; 0: none */
    struct rlk_ballot promised;
    const struct rlk_record *record; /* NULL: it has none */
    uint64_t since_us;               /* since when it has had this one, by our clock */
};

struct rlk_membership {
    unsigned n;
    uint32_t max_ttl_ms;
    int joins,
        leaves;  /* of ours: the one that is to become a master, and in whose place; -1: none */
    bool writes; /* we write the first record, if no master has one: until then no vote counts */
    uint64_t wait_us; /* the longest ttl, the drift, and how old an inspection may be */
    struct rlk_shown shown[RLK_MAX_NODES];
    const struct rlk_record *in_use; /* the last one that was agreed on, as far as we know; NULL:
                                        none, or it can be agreed on no more */
    const struct rlk_record *last;   /* the same, but stays when it can be agreed on no more */
    uint64_t in_use_us;              /* since when we know that */
};

/* [M3] Why our masters are not those on record. */
enum rlk_misfit {
    RLK_MISFIT_NOT = 0,
    RLK_MISFIT_MAX_TTL, /* another longest ttl */
    RLK_MISFIT_NUMBER,  /* more or fewer masters */
    RLK_MISFIT_MASTER,  /* one that is not on record */
    RLK_MISFIT_COPY     /* two with one mark: one was made from the other's data */
};

/* [M4, M5, M7] What has to be written. */
enum rlk_record_task {
    RLK_RECORD_NOTHING = 0,
    RLK_RECORD_FIRST,    /* there is no record */
    RLK_RECORD_AGAIN,    /* it is not on every master, or not agreed on */
    RLK_RECORD_REPLACED, /* masters on record have lost their data */
    RLK_RECORD_SETTLED, /* the one that took the place of another votes: a record without newcomers,
                           so that a client need not find the masters from before */
    RLK_RECORD_MOVED    /* one is to take the place of another */
};

struct rlk_membership_verdict {
    enum rlk_misfit misfit;
    const struct rlk_record *record;  /* that is so: or the one to go by; NULL: none */
    unsigned node;                    /* MISFIT_MASTER, _COPY: which of ours */
    uint64_t until_us[RLK_MAX_NODES]; /* until when its votes do not count; 0: they do; RLK_NEVER:
                                         until something changes */
    uint64_t extends_nothing;         /* masters that extend no lock that is held, either */
    int moves, moves_to; /* the record has another server in the place of this one of ours, and
                            where it has that server; -1: none */
    uint64_t pending;    /* those that nobody asks before that changes: they may still
                            show a record, or one has yet to be agreed on */
    enum rlk_record_task task;
    const struct rlk_record *base; /* but for FIRST: what to write from */
    bool settled;                  /* its newcomers vote, or it has none */
};

void rlk_membership_init(struct rlk_membership *m, unsigned nodes, uint32_t max_ttl_ms,
                         uint32_t drift_ppm);

/* The mark of a master was read. */
void rlk_membership_set_mark(struct rlk_membership *m, unsigned node, uint64_t mark);

/* Another server takes the place of one of ours: nothing is known of it. */
void rlk_membership_clear(struct rlk_membership *m, unsigned node);

/* The place of one of ours among the masters of a record; -1: it has none. */
int rlk_membership_find(const struct rlk_membership *m, const struct rlk_record *r, unsigned node);

/* Judge what was shown. `out` is written completely. */
void rlk_membership_judge(struct rlk_membership *m, uint64_t now_us,
                          struct rlk_membership_verdict *out);

/* How far the one that joins has come. */
enum rlk_move_stage {
    RLK_MOVE_UNKNOWN =
        0,            /* it is not known yet which record was agreed on, or the new one's mark */
    RLK_MOVE_WAITS,   /* a former change is not over */
    RLK_MOVE_WRITES,  /* it is being put on record */
    RLK_MOVE_SETTLES, /* it is on record, and does not vote yet */
    RLK_MOVE_DONE
};

/* *ret_until_us: WAITS, SETTLES: until when. */
enum rlk_move_stage rlk_membership_move_stage(const struct rlk_membership *m, uint64_t now_us,
                                              uint64_t *ret_until_us);

/* The masters in `promised` have promised a ballot: whether that is enough to write what the
 * verdict asks for. */
bool rlk_membership_may_write(const struct rlk_membership *m,
                              const struct rlk_membership_verdict *v, uint64_t promised);

/* The record to write, under that ballot. Its addresses are borrowed from the base and from what
 * was shown. */
void rlk_membership_write(const struct rlk_membership *m, const struct rlk_membership_verdict *v,
                          const struct rlk_ballot *ballot, struct rlk_record *ret_record);

/* The ballot number for the next writing: above all that were shown. */
uint64_t rlk_membership_next_number(const struct rlk_membership *m);

#endif
