/* inspection.h - a connected master is looked at, again and again: what it is asked, and what its
 * answers mean, or that it gives none [S7, S11].
 *
 *     greeted ---> looked at every health_ms, along with renewals, and when there is a reason
 *        ^             |
 *        |             | it is no master (any more), or has other data
 *        +-- anew -----+
 *
 * A look is the question for its role (INFO; HELLO where INFO is denied), and a script that reads
 * its incarnation key and tells the time; only the TIME where nobody wants more, or the script is
 * denied. Now and then it is asked whether it evicts. What follows for its votes is
 * core/quarantine.h; what it is asked with is node/health.h. */
#ifndef RLK_CORE_INSPECTION_H
#define RLK_CORE_INSPECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/server.h"
#include "core/quarantine.h"

struct rlk_inspection {
    bool tells_role;   /* HELLO does */
    bool asked;        /* an answer is outstanding */
    bool refused;      /* it does not run the script for us: only the time is asked for */
    bool denies_info;  /* it denies us INFO, since it was greeted */
    bool records_step; /* that its clock moved is to be put on record */
    unsigned regular;  /* that were due, for this manager */
    uint64_t sent_us;  /* when it was asked last */
};

/* What it is asked at once. */
enum rlk_inspection_role {
    RLK_INSPECTION_NO_ROLE = 0, /* nobody sees it */
    RLK_INSPECTION_BY_INFO,
    RLK_INSPECTION_BY_HELLO
};

struct rlk_inspection_question {
    enum rlk_inspection_role role;
    bool mark;                /* read, or write, its incarnation key; otherwise the time only */
    uint64_t believed_age_us; /* of a mark: how old its data are if it has no key */
    bool keeps_data;          /* the key of another run is true of this one */
    uint64_t step_us;         /* since when they are to be said to be there, at least */
};

/* How it answered. */
enum rlk_inspection_error {
    RLK_INSPECTION_ANSWERED = 0,
    RLK_INSPECTION_NOT_NOW, /* it refuses everything for the moment */
    RLK_INSPECTION_DENIED,  /* an ACL does */
    RLK_INSPECTION_OTHER    /* any other error, or no answer to that question */
};

enum rlk_inspection_event_kind {
    RLK_INSPECTION_GREETED = 0, /* with an answer or an error, if its mark was to be read */
    RLK_INSPECTION_REPLY,       /* the mark and the time, or only that; or an error */
    RLK_INSPECTION_BROKEN,      /* the connection ended before */
    RLK_INSPECTION_INFO,        /* the section with its role was read, or denied */
    RLK_INSPECTION_ROLE,        /* HELLO told its role */
    RLK_INSPECTION_MEMORY,      /* the section that tells whether it evicts was read */
    RLK_INSPECTION_MARK_MISSED  /* a vote did not find the mark that we know */
};

struct rlk_inspection_event {
    enum rlk_inspection_event_kind kind;
    uint64_t now_us;
    enum rlk_inspection_error error; /* GREETED, TOLD, INFO */
    struct rlk_birth birth;          /* GREETED, TOLD; 0 is what it did not tell */
    enum rlk_unfit unfit;            /* ROLE */
};

/* Why it has to be greeted again. */
enum rlk_regreet {
    RLK_REGREET_NOT = 0,
    RLK_REGREET_UNFIT,        /* it is no master */
    RLK_REGREET_REPLICA,      /* it was none for a while */
    RLK_REGREET_DATA_REPLACED /* it has other data */
};

struct rlk_inspection_actions {
    bool restarted;   /* it restarted, and was not durable: its clock may be another one */
    bool quarantined; /* its votes that nobody was told yet are taken back; what a held lock has
                    there may   be of other data */
    enum rlk_regreet regreet;
    enum rlk_unfit unfit; /* of RLK_REGREET_UNFIT */
};

/* Its connection is greeted: nothing is outstanding, nothing denied. */
void rlk_inspection_begin(struct rlk_inspection *l);

/* Whether its mark is looked at: somebody wants that, and it lets us. */
bool rlk_inspection_reads_mark(const struct rlk_inspection *l, const struct rlk_quarantine *s,
                               const struct rlk_server *server);

/* Whether it may be looked at now; and not a moment ago, either. */
bool rlk_inspection_is_free(const struct rlk_inspection *l);
bool rlk_inspection_is_due(const struct rlk_inspection *l, uint64_t now_us);

/* What it is asked now. It is asked, from here on. */
struct rlk_inspection_question rlk_inspection_ask(struct rlk_inspection *l,
                                                  const struct rlk_quarantine *s,
                                                  const struct rlk_server *server, uint64_t now_us);

/* A regular look is due; true: and it is asked whether it evicts, too. */
bool rlk_inspection_count(struct rlk_inspection *l, const struct rlk_quarantine *s,
                          const struct rlk_server *server);

/* It is certain that its clock moved: that is put on record, with this look and with each until it
 * is there. True when that is news: it is to be looked at now. */
bool rlk_inspection_record_step(struct rlk_inspection *l, const struct rlk_quarantine *s,
                                const struct rlk_server *server);

/* What happened. */
void rlk_inspection_step(struct rlk_inspection *l, struct rlk_quarantine *s,
                         const struct rlk_server *server, const struct rlk_inspection_event *ev,
                         struct rlk_inspection_actions *out);

/* What of a master that votes nobody sees. */
enum rlk_blind_spot {
    RLK_BLIND_TO_NOTHING = 0,
    RLK_BLIND_TO_RESTART,
    RLK_BLIND_TO_RESTART_AND_ROLE,
    RLK_BLIND_TO_DATA /* that they are thrown away */
};

enum rlk_blind_spot rlk_inspection_blind_spot(const struct rlk_inspection *l,
                                              const struct rlk_quarantine *s,
                                              const struct rlk_server *server);

#endif
