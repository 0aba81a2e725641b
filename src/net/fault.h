/* fault.h - why a connection has ended, or could not be made: a code, and the text of the system.
 *
 * node/trouble.h makes the sentences for people. */
#ifndef RLK_NET_FAULT_H
#define RLK_NET_FAULT_H

enum rlk_fault_kind {
    RLK_FAULT_NONE = 0,
    RLK_FAULT_SYSTEM,     /* the system or the resolver reports an error: `text` is its text */
    RLK_FAULT_NO_ADDRESS, /* the name exists, but has no address */
    RLK_FAULT_NO_NAME,    /* there is no such name */
    RLK_FAULT_NO_ANSWER,  /* no name server gave an address; libevent does not say more */
    RLK_FAULT_CLOSED,     /* the server has closed the connection */
    RLK_FAULT_MEMORY,     /* out of memory */
    RLK_FAULT_TOO_LARGE,  /* a reply that exceeds a limit [S13] */
    RLK_FAULT_TOO_MANY,   /* a reply with more elements than RLK_REPLY_ITEMS */
    RLK_FAULT_GARBLED,    /* bytes that are not in the Redis protocol */
    RLK_FAULT_TLS,        /* TLS failed: `text` is a sentence without its subject, the master */
    RLK_FAULT_HANDSHAKE,  /* the connection ended during the TLS handshake: `text` says why */
    RLK_FAULT_UNANSWERED, /* the connection ended before anything came: `text` says why */
    RLK_FAULT_NOT_TLS,    /* plain bytes where we speak TLS */
    RLK_FAULT_IS_TLS      /* TLS where we speak plainly */
};

/* Valid only during the call that passes it. */
struct rlk_fault {
    enum rlk_fault_kind kind;
    const char *text; /* what the comment of the kind says; otherwise "" */
};

#endif
