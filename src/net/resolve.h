/* resolve.h - finds the socket addresses of a URI without blocking the loop.
 *
 * Unix paths and numeric addresses are ready at once. For names, libevent's evdns asks for IPv6
 * and for IPv4 addresses at the same time, and each answer is passed on when it comes. What is in
 * /etc/hosts is ready at once, too, and is all there is of that name. */
#ifndef RLK_NET_RESOLVE_H
#define RLK_NET_RESOLVE_H

#include <stdbool.h>

#include "net/fault.h"

struct rlk_addresses;
struct rlk_lookup;
struct rlk_loop;
struct rlk_uri;

enum rlk_family {
    RLK_FAMILY_V6 = 0,
    RLK_FAMILY_V4,
    RLK_FAMILIES
};

struct rlk_resolve {
    struct rlk_loop *loop;
    struct rlk_addresses *addresses; /* to which they are added; borrowed */
    /* An answer has come. Called for each answer, perhaps before rlk_resolve_start() returns. */
    void (*answered)(struct rlk_resolve *r);
    struct rlk_lookup *lookups[RLK_FAMILIES]; /* those under way */
    bool found[RLK_FAMILIES]; /* a unix socket counts as IPv6: nothing better will come */
    bool is_starting;
    enum rlk_fault_kind why; /* why no address was found; RLK_FAULT_NONE before the first answer */
};

void rlk_resolve_start(struct rlk_resolve *r, const struct rlk_uri *uri);

/* `answered` will not be called. Does nothing when no lookup is under way. */
void rlk_resolve_cancel(struct rlk_resolve *r);

/* An answer is still to come. */
bool rlk_resolve_is_pending(const struct rlk_resolve *r);

#endif
