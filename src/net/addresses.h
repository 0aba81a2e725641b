/* addresses.h - the addresses of one server, and in which order to try them.
 *
 * A name may have several addresses, and a lookup may give other ones than the lookup before. What
 * is known of an address stays while lookups go on to name it: whether it worked last, and when it
 * failed. Order: the address that worked last, then those that have never failed, then those that
 * failed, the longest ago first. Families take turns among those that have not failed, beginning
 * with IPv6 (RFC 8305): a network without one of the two costs one attempt, not one for each
 * address. */
#ifndef RLK_NET_ADDRESSES_H
#define RLK_NET_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* The most addresses of one name that are tried. There is room for those known before and those of
 * a late answer. */
#define RLK_ADDRESSES_MAX 16

struct rlk_address {
    struct sockaddr_storage socket;
    socklen_t len;
    bool is_named;   /* by the lookup that began last */
    bool has_worked; /* the one that worked last */
    uint32_t failed; /* 0: not since it worked; the larger the later */
};

struct rlk_addresses {
    unsigned n;
    unsigned tried; /* so many, from the first, have been tried since the lookup began: they keep
                       their places, also when it names others */
    uint32_t failures;
    struct rlk_address item[RLK_ADDRESSES_MAX];
};

/* A lookup begins: forget what the lookup before no longer named, unless that one named nothing. */
void rlk_addresses_begin(struct rlk_addresses *a);

/* The lookup names an address. One that was not known is added, if there is room: at the end, or in
 * the place of one that the lookup has not named. */
void rlk_addresses_add(struct rlk_addresses *a, const void *socket, size_t len);

/* Put them in order. If the lookup has named any, forget those that it did not. */
void rlk_addresses_sort(struct rlk_addresses *a);

/* Put those from `first` on in order; the others stay where they are. */
void rlk_addresses_sort_rest(struct rlk_addresses *a, unsigned first);

/* Write the addresses that the lookup has named and that share a family with another one of them,
 * as "10.0.0.1, 10.0.0.2". "": there are none, so the name may well be one server. */
void rlk_addresses_write_several(const struct rlk_addresses *a, char *out, size_t size);

/* Address `i` works, or has failed. The order stays until the next sort. */
void rlk_addresses_worked(struct rlk_addresses *a, unsigned i);
void rlk_addresses_failed(struct rlk_addresses *a, unsigned i);

#endif
