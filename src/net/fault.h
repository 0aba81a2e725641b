/* fault.h - why a connection has ended, or could not be made: a code, and what the system said.
 *
 * Whoever tells people of it makes the sentence (node/trouble.h). */
#ifndef RLK_NET_FAULT_H
#define RLK_NET_FAULT_H

enum rlk_fault_kind {
    RLK_FAULT_NONE = 0,
    RLK_FAULT_SYSTEM,     /* the system, or the resolver, has refused: `said` is its text */
    RLK_FAULT_NO_ADDRESS, /* the name is known, and has none */
    RLK_FAULT_CLOSED,     /* the server has closed the connection */
    RLK_FAULT_MEMORY,     /* out of memory */
    RLK_FAULT_TOO_LARGE,  /* a reply that exceeds a limit [S13] */
    RLK_FAULT_TOO_MANY,   /* one with more elements than RLK_REPLY_ITEMS */
    RLK_FAULT_GARBLED     /* bytes that are not in the Redis protocol */
};

/* Borrowed for the call that it comes with. */
struct rlk_fault {
    enum rlk_fault_kind kind;
    const char *said; /* of RLK_FAULT_SYSTEM; otherwise "" */
};

#endif
