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

#include "core/match.h"
#include "core/record.h"
#include "core/shown.h"

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
    int adds; /* the index in `adds_of` of a master for which we have no node; -1: none */
    const struct rlk_record *adds_of;
    bool adds_guest;  /* it is to be a guest */
    int vacates;      /* one of ours whose master was removed, or a guest no more; -1: none */
    uint64_t pending; /* masters that should not be asked yet: they may still show a record, or one
                         has yet to be agreed on */
    enum rlk_record_task task;
    const struct rlk_record *base; /* what to change; NULL for FIRST */
    bool settled;                  /* the change that it makes is over, or it makes none */
};

/* Judge what was shown. `out` is written completely. */
void rlk_membership_judge(struct rlk_membership *m, uint64_t now_us,
                          struct rlk_membership_verdict *out);

/* How far the change has come. */
enum rlk_move_stage {
    RLK_MOVE_UNKNOWN = 0, /* it is not known yet which record was agreed on, or a mark */
    RLK_MOVE_WAITS,       /* the previous change is not over */
    RLK_MOVE_WRITES,      /* it is being put on record */
    RLK_MOVE_SETTLES,     /* it is on record, and votes go by it when it is over */
    RLK_MOVE_DONE
};

/* *ret_until_us: WAITS, SETTLES: until when. */
enum rlk_move_stage rlk_membership_move_stage(const struct rlk_membership *m, uint64_t now_us,
                                              uint64_t *ret_until_us);

/* Why the change can never be put on record. */
enum rlk_move_obstacle {
    RLK_OBSTACLE_NONE = 0,
    RLK_OBSTACLE_COPY,        /* the one that joins has a copy of the data of a master */
    RLK_OBSTACLE_FORMER_DATA, /* or the data of a former master */
    RLK_OBSTACLE_BOTH,        /* it is a master, and so is the one that it is to replace */
    RLK_OBSTACLE_NO_MASTER,   /* the one that is to be replaced was a master, and left before */
    RLK_OBSTACLE_ONLY_MASTER  /* the one that is to be removed is the only master */
};

enum rlk_move_obstacle rlk_membership_obstacle(const struct rlk_membership *m);

#endif
