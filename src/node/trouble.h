/* trouble.h - what is wrong with a node: a code with its details; trouble.c has the sentences.
 *
 * A node keeps the last thing that went wrong. Decisions use the code. The texts are for people:
 * redlock_get_node_info(), the details of a lock, the findings of the doctor.
 *
 * The comment of a code names the details that come with it. */
#ifndef RLK_NODE_TROUBLE_H
#define RLK_NODE_TROUBLE_H

#include <stddef.h>
#include <stdint.h>

#include "core/server.h"
#include "core/quarantine.h"
#include "net/fault.h"

enum rlk_trouble_kind {
    RLK_TROUBLE_NONE = 0,

    /* The node is not connected. */
    RLK_TROUBLE_CONNECTING, /* not yet; nothing went wrong */
    RLK_TROUBLE_NAME,       /* fault: its name could not be resolved */
    RLK_TROUBLE_NAME_LATE,  /* number: the same, within so many ms */
    RLK_TROUBLE_CONNECT,    /* fault */
    RLK_TROUBLE_CONNECT_LATE,
    RLK_TROUBLE_TLS,         /* fault: the TLS handshake failed, or TLS was broken later */
    RLK_TROUBLE_TLS_BROKEN,  /* fault: the connection broke during the TLS handshake */
    RLK_TROUBLE_TLS_PENDING, /* not yet; nothing went wrong */
    RLK_TROUBLE_TLS_LATE,    /* number: the handshake did not end within so many ms */
    RLK_TROUBLE_TLS_FILES,   /* words: connected, but with files that were replaced since */
    RLK_TROUBLE_SEVERAL,     /* words: connected, but its name has these addresses */
    RLK_TROUBLE_GREETING_LATE,
    RLK_TROUBLE_GREETING_UNANSWERED, /* fault: it broke before the server had sent anything */
    RLK_TROUBLE_GREETING_BROKEN,     /* fault: the connection broke during the handshake */
    RLK_TROUBLE_BROKEN,              /* fault: it broke later */
    RLK_TROUBLE_UNASKED,             /* words: a reply without a command */

    /* The server refused the handshake. */
    RLK_TROUBLE_NOT_REDIS,
    RLK_TROUBLE_GREETING_REFUSED, /* words: for another reason than those below */
    RLK_TROUBLE_PROTECTED,        /* it accepts no connections from other machines */
    RLK_TROUBLE_PASSWORD_MISSING, /* we have none, and the server wants one */
    RLK_TROUBLE_LOGIN,            /* words: user or password are wrong */
    RLK_TROUBLE_LOGIN_FILE,       /* other (a file), words: the password in that file is wrong */
    RLK_TROUBLE_LOGIN_UNREAD,     /* the same; words: why the file cannot be read anew */
    RLK_TROUBLE_DATABASE,         /* number, words: the database does not exist */
    RLK_TROUBLE_DATABASE_DENIED,  /* number, words: our user may not use it */
    RLK_TROUBLE_BUSY,             /* words: it refuses every command for now */
    RLK_TROUBLE_LOADING,

    /* The server must not vote [S10, S11]. */
    RLK_TROUBLE_UNFIT,         /* unfit: it is not an independent master */
    RLK_TROUBLE_WAS_REPLICA,   /* it was a replica since the handshake: it is greeted again */
    RLK_TROUBLE_DATA_REPLACED, /* the data were replaced: it is greeted again */
    RLK_TROUBLE_DUPLICATE,     /* other, words (the run): it is the same server as that node */
    RLK_TROUBLE_VOTED_TWICE,   /* the same, seen by our token in its key */

    /* The node is connected, and answered with an error. words: the error. */
    RLK_TROUBLE_SET_REFUSED,
    RLK_TROUBLE_FENCE_REFUSED,
    RLK_TROUBLE_EXTEND_REFUSED,
    RLK_TROUBLE_RESTORE_REFUSED,
    RLK_TROUBLE_RELEASE_REFUSED,
    RLK_TROUBLE_WAIT_REFUSED,
    RLK_TROUBLE_REFUSES,  /* any command */
    RLK_TROUBLE_NONSENSE, /* no words: a reply that no master gives to this command */

    /* The subscriber connection (node/subscriber.h) failed; a node does not keep these. */
    RLK_TROUBLE_SUBSCRIBER_BROKEN,  /* fault: it could not be connected, or broke */
    RLK_TROUBLE_SUBSCRIBER_REFUSED, /* words */
    RLK_TROUBLE_SUBSCRIBER_LATE,    /* number: it was not greeted within so many ms */
    RLK_TROUBLE_SUBSCRIBER_UNASKED, /* words: a reply that nobody asked for */

    /* What the node said of a lock is not known. */
    RLK_TROUBLE_UNANSWERED,
    RLK_TROUBLE_UNANSWERED_YET,
    RLK_TROUBLE_ANSWER_BROKEN,
    RLK_TROUBLE_NOT_ASKED,
    RLK_TROUBLE_DID_NOT_COUNT,
    RLK_TROUBLE_UNCONFIRMED,
    RLK_TROUBLE_ERROR,
    RLK_TROUBLE_NOT_ASKED_AGAIN,
    RLK_TROUBLE_QUERY_REFUSED, /* words */
    RLK_TROUBLE_ANSWER_LOST,

    /* A command could not be sent. */
    RLK_TROUBLE_TOO_MANY,  /* too many commands are in flight, or unsent */
    RLK_TROUBLE_NO_MEMORY, /* for a command */
    RLK_TROUBLE_NO_MEMORY_TO_GREET,
    RLK_TROUBLE_NO_MEMORY_TO_INSPECT,
    RLK_TROUBLE_NO_MEMORY_TO_SUBSCRIBE,
    RLK_TROUBLE_NOT_EXAMINED,
    RLK_TROUBLE_RELEASES_MANY, /* more than RLK_PENDING_MAX are pending */
    RLK_TROUBLE_RELEASES_NO_MEMORY,

    /* The state of the node now; these are not kept. */
    RLK_TROUBLE_GREETING,     /* number: connected, and the handshake not answered for so many ms */
    RLK_TROUBLE_UNRESPONSIVE, /* number: unresponsive [S14], no reply for so many ms */
    RLK_TROUBLE_QUARANTINE,   /* reason; number: for so many s; RLK_NEVER: while the reason lasts;
                                 words: the error, when the reason is UNREAD */
    RLK_TROUBLE_UPKEEP_DENIED,     /* words: a command that renewals and releases need */
    RLK_TROUBLE_UPKEEP_UNKNOWN,    /* the same; the server does not know it */
    RLK_TROUBLE_UPKEEP_IN_SCRIPTS, /* the same; it is denied to scripts, or unknown there */
    RLK_TROUBLE_UPKEEP_REFUSED,    /* words: how it refused to run a script */
    RLK_TROUBLE_BLIND_TO_RESTART,  /* it votes, but we cannot see when it restarts */
    RLK_TROUBLE_BLIND_TO_ROLE,     /* the same, nor when it becomes a replica */
    RLK_TROUBLE_BLIND_TO_DATA,     /* it votes, but we cannot see when its data are thrown away */
    RLK_TROUBLE_MARK_SPOILT,       /* the same, as the incarnation key is no string */
    RLK_TROUBLES
};

struct rlk_trouble {
    enum rlk_trouble_kind kind;
    enum rlk_fault_kind fault;
    enum rlk_unfit unfit;
    enum rlk_quarantine_reason reason;
    uint64_t number;
    const char *other; /* the name of another node, or of a file */
    const char *words; /* the text of the server, or of a fault; NULL: none */
};

/* The most bytes of words that a node keeps. */
#define RLK_TROUBLE_WORDS 240

/* Room for a sentence; a longer one is cut. */
#define RLK_TROUBLE_TEXT 256

/* The sentence of a kind that has no details. */
const char *rlk_trouble_plain(enum rlk_trouble_kind kind);

/* Write what is wrong and, after a semicolon, what to do: without its subject, printable and cut to
 * size; "" for RLK_TROUBLE_NONE. */
void rlk_trouble_write(const struct rlk_trouble *t, char *out, size_t size);

/* The two parts alone. The advice is a sentence; "" for no advice. */
void rlk_trouble_write_finding(const struct rlk_trouble *t, char *out, size_t size);
void rlk_trouble_write_advice(const struct rlk_trouble *t, char *out, size_t size);

#endif
