/* dns.h - libevent's evdns, made again when the files that it reads have changed.
 *
 * evdns reads /etc/resolv.conf and /etc/hosts once, when its base is made. A machine that changes
 * networks, or a hosts file that is edited, would not be noticed until the program starts again. So
 * each lookup looks at the two files first. The base before is kept until its last lookup has
 * ended. */
#ifndef RLK_NET_DNS_H
#define RLK_NET_DNS_H

#include <stdbool.h>
#include <stdint.h>

#include "net/timers.h"

struct event_base;
struct evdns_base;

/* What tells whether a file has changed. */
struct rlk_dns_stamp {
    uint64_t device, file, size;
    int64_t seconds, nanoseconds;
};

/* One base, and how many lookups have not been answered yet. */
struct rlk_dns_base {
    struct rlk_dns_base *older;
    struct evdns_base *evdns[2]; /* the second one does not search domains; NULL until needed */
    struct rlk_dns_stamp stamps[2];
    unsigned lookups;
};

struct rlk_dns {
    struct event_base *events;
    struct rlk_timers *timers;
    struct rlk_dns_base *newest; /* NULL until the first name has to be resolved */
    struct rlk_timer timer;      /* when to free the older ones that have no lookups */
};

/* The base for one lookup; NULL: out of memory. _put: the lookup has been answered. */
struct rlk_dns_base *rlk_dns_get(struct rlk_dns *dns);
void rlk_dns_put(struct rlk_dns *dns, struct rlk_dns_base *base);

/* For a name that is complete, because it ends with a dot, or for any other one. NULL: out of
 * memory. */
struct evdns_base *rlk_dns_evdns(struct rlk_dns *dns, struct rlk_dns_base *base, bool complete);

/* For loop.c. The pointers are borrowed. */
void rlk_dns_init(struct rlk_dns *dns, struct event_base *events, struct rlk_timers *timers);
void rlk_dns_end(struct rlk_dns *dns);

#endif
