/* dial.h - from a URI to a connected socket.
 *
 *           start              addresses             a socket is connected
 *   IDLE -----------> LOOKUP ------------> ATTEMPTS ----------------------> IDLE, done(fd)
 *                        |                     |
 *                        +---------------------+--> IDLE, done(fault): none is left to try
 *
 * The addresses are tried in the order of net/addresses.h. An attempt that is not connected yet
 * goes on, and the next one begins beside it RLK_DIAL_STAGGER_US later, or at once when it failed
 * (happy eyeballs, RFC 8305). The first socket that is connected wins, and the others are closed.
 * So an address whose packets are dropped costs a quarter of a second.
 *
 * The attempts begin when there are IPv6 addresses, or all answers have come, or a moment after the
 * first one; what comes later is tried, too. When no name server has answered for
 * RLK_DIAL_KNOWN_US, or none can, the addresses of the last lookup are used. That is safe, because
 * no vote depends on an address: another server that has got it meanwhile is seen by its run_id and
 * is quarantined [S11], as if it had restarted without its data.
 *
 * A dial has no time limit of its own: its owner cancels it. */
#ifndef RLK_NET_DIAL_H
#define RLK_NET_DIAL_H

#include "net/addresses.h"
#include "net/fault.h"
#include "net/resolve.h"
#include "net/timers.h"

struct event;
struct rlk_dial;
struct rlk_loop;
struct rlk_uri;

/* The time from one attempt to the next. */
#define RLK_DIAL_STAGGER_US 250000

/* How long IPv4 addresses wait for the IPv6 addresses of the same name (RFC 8305, 3). */
#define RLK_DIAL_OTHER_FAMILY_US 50000

/* How long the addresses that are known wait for a lookup. */
#define RLK_DIAL_KNOWN_US 250000

/* fd: a connected, non-blocking socket, which is the callee's now. Or -1, and why: then d->step
 * says what has failed. May be called before rlk_dial_start() returns, then with a fault. */
typedef void rlk_dial_done(struct rlk_dial *d, int fd, const struct rlk_fault *fault);

enum rlk_dial_step {
    RLK_DIAL_LOOKUP = 0,
    RLK_DIAL_ATTEMPTS
};

struct rlk_dial_attempt {
    struct rlk_dial *dial;
    struct event *event; /* the socket is connected, or has failed */
    int fd;              /* -1: there is no attempt */
};

struct rlk_dial {
    struct rlk_loop *loop;
    rlk_dial_done *done;
    enum rlk_dial_step step; /* of the last start; a cancel does not change it */
    struct rlk_resolve resolve;
    struct rlk_addresses addresses;
    unsigned next;          /* the first address that was not tried yet */
    unsigned pending;       /* attempts under way */
    unsigned won;           /* the address that was connected last */
    int error;              /* the errno of the attempt that failed last */
    struct rlk_timer timer; /* LOOKUP: when to begin with what is known; then: the next attempt */
    struct rlk_dial_attempt attempts[RLK_ADDRESSES_MAX]; /* one for each address */
};

void rlk_dial_init(struct rlk_dial *d, struct rlk_loop *loop, rlk_dial_done *done);

/* Look up the addresses of the URI, which is borrowed for the call, and connect. */
void rlk_dial_start(struct rlk_dial *d, const struct rlk_uri *uri);

/* Connect to the address that `other` was connected to last, and to no other one. */
void rlk_dial_start_same(struct rlk_dial *d, const struct rlk_dial *other);

/* `done` will not be called, and every socket is closed. An address whose attempt was under way
 * has failed. Does nothing when no dial is under way. */
void rlk_dial_cancel(struct rlk_dial *d);

/* What became of the socket of the last dial. The handshake has ended well: the next dial tries
 * this address first. Or it has failed: the next dial tries this address last. */
void rlk_dial_note_worked(struct rlk_dial *d);
void rlk_dial_note_failed(struct rlk_dial *d);

#endif
