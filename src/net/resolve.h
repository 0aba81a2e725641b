/* resolve.h - finds the socket addresses of a URI without blocking the loop.
 *
 * Unix paths and numeric addresses are ready at once; libevent's evdns looks up names. */
#ifndef RLK_NET_RESOLVE_H
#define RLK_NET_RESOLVE_H

#include "net/fault.h"

struct rlk_addresses;
struct rlk_loop;
struct rlk_lookup;
struct rlk_uri;

struct rlk_resolve {
    struct rlk_lookup *lookup;       /* the name lookup under way; NULL: none */
    struct rlk_addresses *addresses; /* to which they are added; borrowed */
    /* Called once for each start that is not cancelled, perhaps before rlk_resolve_start() returns.
     * fault: NULL when there is at least one address. */
    void (*done)(struct rlk_resolve *r, const struct rlk_fault *fault);
};

void rlk_resolve_start(struct rlk_resolve *r, struct rlk_loop *loop, const struct rlk_uri *uri);

/* `done` will not be called. Does nothing when no lookup is under way. */
void rlk_resolve_cancel(struct rlk_resolve *r);

#endif
