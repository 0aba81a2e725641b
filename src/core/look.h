/* look.h - a connected master is looked at, again and again: what it is asked, and what its answers
 * mean, or that it gives none [S7, S11].
 *
 *     greeted ---> looked at every health_ms, along with renewals, and when there is a reason
 *        ^             |
 *        |             | it is no master (any more), or has other data
 *        +-- anew -----+
 *
 * A look is the question for its role (INFO; HELLO where INFO is denied), and a script that reads
 * its incarnation key and tells the time; only the TIME where nobody wants more, or the script is
 * denied. Now and then it is asked whether it evicts. What follows for its votes is
 * core/standing.h; what it is asked with is node/health.h. */
#ifndef RLK_CORE_LOOK_H
#define RLK_CORE_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/server.h"
#include "core/standing.h"

struct rlk_look {
    bool tells_role;  /* HELLO does */
    bool asked;       /* an answer is outstanding */
    bool refused;     /* it does not run the script for us: only the time is asked for */
    bool mute;        /* it denies us INFO, since it was greeted */
    bool notes;       /* that its clock moved is to be put on record */
    unsigned looks;   /* that were due, for this manager */
    uint64_t sent_us; /* when it was asked last */
};

/* What it is asked at once. */
enum rlk_look_role {
    RLK_LOOK_NO_ROLE = 0, /* nobody sees it */
    RLK_LOOK_BY_INFO,
    RLK_LOOK_BY_HELLO
};

struct rlk_look_question {
    enum rlk_look_role role;
    bool mark;            /* read, or write, its incarnation key; otherwise the time only */
    uint64_t believed_us; /* of a mark: how old its data are if it has no key */
    bool keeps_data;      /* the key of another run is true of this one */
    uint64_t note_us;     /* since when they are to be said to be there, at least */
};

/* How it answered. */
enum rlk_look_error {
    RLK_LOOK_ANSWERED = 0,
    RLK_LOOK_NOT_NOW, /* it refuses everything for the moment */
    RLK_LOOK_DENIED,  /* an ACL does */
    RLK_LOOK_ODD      /* any other error, or no answer to that question */
};

enum rlk_look_event_kind {
    RLK_LOOK_GREETED = 0, /* with an answer or an error, if its mark was to be read */
    RLK_LOOK_TOLD,        /* the mark and the time, or only that; or an error */
    RLK_LOOK_BROKEN,      /* the connection ended before */
    RLK_LOOK_INFO,        /* the section with its role was read, or denied */
    RLK_LOOK_ROLE,        /* HELLO told its role */
    RLK_LOOK_MEMORY,      /* the section that tells whether it evicts was read */
    RLK_LOOK_MISSED       /* a vote did not find the mark that we know */
};

struct rlk_look_event {
    enum rlk_look_event_kind kind;
    uint64_t now_us;
    enum rlk_look_error error; /* GREETED, TOLD, INFO */
    struct rlk_birth birth;    /* GREETED, TOLD; 0 is what it did not tell */
    enum rlk_unfit unfit;      /* ROLE */
};

/* Why it has to be greeted again. */
enum rlk_anew {
    RLK_ANEW_NOT = 0,
    RLK_ANEW_UNFIT,    /* it is no master */
    RLK_ANEW_REPLICA,  /* it was none for a while */
    RLK_ANEW_EXCHANGED /* it has other data */
};

struct rlk_look_actions {
    bool replaced; /* it restarted, and was not durable: its clock may be another one */
    bool barred;   /* its votes that nobody was told yet are taken back; what a held lock has there
                      may   be of other data */
    enum rlk_anew anew;
    enum rlk_unfit unfit; /* of RLK_ANEW_UNFIT */
};

/* Its connection is greeted: nothing is outstanding, nothing denied. */
void rlk_look_begin(struct rlk_look *l);

/* Whether its mark is looked at: somebody wants that, and it lets us. */
bool rlk_look_reads_mark(const struct rlk_look *l, const struct rlk_standing *s,
                         const struct rlk_server *server);

/* Whether it may be looked at now; and not a moment ago, either. */
bool rlk_look_is_free(const struct rlk_look *l);
bool rlk_look_is_due(const struct rlk_look *l, uint64_t now_us);

/* What it is asked now. It is asked, from here on. */
struct rlk_look_question rlk_look_ask(struct rlk_look *l, const struct rlk_standing *s,
                                      const struct rlk_server *server, uint64_t now_us);

/* A regular look is due; true: and it is asked whether it evicts, too. */
bool rlk_look_turn(struct rlk_look *l, const struct rlk_standing *s,
                   const struct rlk_server *server);

/* It is certain that its clock moved: that is put on record, with this look and with each until it
 * is there. True when that is news: it is to be looked at now. */
bool rlk_look_note(struct rlk_look *l, const struct rlk_standing *s,
                   const struct rlk_server *server);

/* What happened. */
void rlk_look_step(struct rlk_look *l, struct rlk_standing *s, const struct rlk_server *server,
                   const struct rlk_look_event *ev, struct rlk_look_actions *out);

/* What of a master that votes nobody sees. */
enum rlk_unseen {
    RLK_UNSEEN_NOTHING = 0,
    RLK_UNSEEN_RESTART,
    RLK_UNSEEN_RESTART_AND_ROLE,
    RLK_UNSEEN_DATA /* that they are thrown away */
};

enum rlk_unseen rlk_look_unseen(const struct rlk_look *l, const struct rlk_standing *s,
                                const struct rlk_server *server);

#endif
