/* trouble.h - what is wrong with a node: a code with its details, and in the source the only
 * sentences that are made of it.
 *
 * A node keeps the last that went wrong with it. Who has to decide something goes by the code;
 * texts are for people: redlock_node_info(), the details of a lock, what the doctor finds. */
#ifndef RLK_NODE_TROUBLE_H
#define RLK_NODE_TROUBLE_H

#include <stddef.h>
#include <stdint.h>

#include "core/server.h"
#include "core/quarantine.h"
#include "net/fault.h"

enum rlk_trouble_kind {
    RLK_TROUBLE_NONE = 0,

    /* It is not connected. */
    RLK_TROUBLE_CONNECTING, /* not yet: nothing went wrong */
    RLK_TROUBLE_NAME,       /* fault: its name could not be resolved */
    RLK_TROUBLE_NAME_LATE,  /* number: the same, not within so many ms */
    RLK_TROUBLE_CONNECT,    /* fault */
    RLK_TROUBLE_CONNECT_LATE,
    RLK_TROUBLE_GREETING_LATE,
    RLK_TROUBLE_GREETING_BROKEN, /* fault: the connection broke while we greeted */
    RLK_TROUBLE_BROKEN,          /* fault: it broke later */
    RLK_TROUBLE_UNASKED,         /* words: it answered what it was not asked */

    /* It did not let us in. */
    RLK_TROUBLE_NOT_REDIS,
    RLK_TROUBLE_GREETING_REFUSED, /* words, for another reason than those below */
    RLK_TROUBLE_PROTECTED,        /* words: it lets nobody in from other machines */
    RLK_TROUBLE_PASSWORD_MISSING, /* we have none, and it wants one */
    RLK_TROUBLE_LOGIN,            /* words: it wants another user or password */
    RLK_TROUBLE_DATABASE,         /* number, words: it does not have that database */
    RLK_TROUBLE_DATABASE_DENIED,  /* number, words: our user may not use it */
    RLK_TROUBLE_BUSY,             /* words: it refuses everything for now */
    RLK_TROUBLE_LOADING,

    /* It is not fit to vote [S10, S11]. */
    RLK_TROUBLE_UNFIT,         /* unfit: it is no independent master */
    RLK_TROUBLE_WAS_REPLICA,   /* since it was greeted: it is greeted anew */
    RLK_TROUBLE_DATA_REPLACED, /* its data: it is greeted anew */
    RLK_TROUBLE_DUPLICATE,     /* other, words (its run): it is the same server as that node */
    RLK_TROUBLE_VOTED_TWICE,   /* the same, seen by our token */

    /* It is connected, and refused something: words. */
    RLK_TROUBLE_SET_REFUSED,
    RLK_TROUBLE_FENCE_REFUSED,
    RLK_TROUBLE_EXTEND_REFUSED,
    RLK_TROUBLE_HEAL_REFUSED,
    RLK_TROUBLE_RELEASE_REFUSED,
    RLK_TROUBLE_NONSENSE, /* an answer that is none to what it was asked */

    /* It has not told what it was asked about a lock. */
    RLK_TROUBLE_UNANSWERED,
    RLK_TROUBLE_ERROR,
    RLK_TROUBLE_NOT_ASKED_AGAIN,
    RLK_TROUBLE_QUERY_REFUSED, /* words */
    RLK_TROUBLE_ANSWER_LOST,

    /* It could not be asked. */
    RLK_TROUBLE_TOO_MANY,  /* requests wait for it */
    RLK_TROUBLE_NO_MEMORY, /* for a request */
    RLK_TROUBLE_NO_MEMORY_TO_GREET,
    RLK_TROUBLE_NO_MEMORY_TO_INSPECT,
    RLK_TROUBLE_NOT_EXAMINED,
    RLK_TROUBLE_RELEASES_MANY, /* more are pending than there is room for */
    RLK_TROUBLE_RELEASES_NO_MEMORY,

    /* As it is now. */
    RLK_TROUBLE_SILENT,     /* number: its answer is overdue, for so many ms [S14] */
    RLK_TROUBLE_QUARANTINE, /* reason; number: for so many seconds, RLK_NEVER: until that changes */
    RLK_TROUBLE_BLIND_TO_RESTART, /* it votes, and it is not seen when it restarts */
    RLK_TROUBLE_BLIND_TO_ROLE,    /* nor when it becomes a replica */
    RLK_TROUBLE_BLIND_TO_DATA,    /* it votes, and it is not seen when its data are thrown away */
    RLK_TROUBLES
};

struct rlk_trouble {
    enum rlk_trouble_kind kind;
    enum rlk_fault_kind fault;
    enum rlk_unfit unfit;
    enum rlk_quarantine_reason reason;
    uint64_t number;
    const char *other; /* the name of another node */
    const char *words; /* of the server, or of the system behind a fault; NULL: none */
};

/* Of the words so much is kept. */
#define RLK_TROUBLE_WORDS 240

/* That of a kind without details. */
const char *rlk_trouble_plain(enum rlk_trouble_kind kind);

/* The sentence, without its subject, printable and cut to size; "" for none. */
void rlk_trouble_write(const struct rlk_trouble *t, char *out, size_t size);

#endif
