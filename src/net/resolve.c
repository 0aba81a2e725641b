/* resolve.c - takes paths and numeric addresses as they are, and looks up names by evdns. */
#include "net/resolve.h"

#include <arpa/inet.h>
#include <event2/dns.h>
#include <event2/util.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/alloc.h"
#include "net/addresses.h"
#include "net/dns.h"
#include "net/loop.h"
#include "net/uri.h"

static void add_unix(struct rlk_resolve *r, const char *path)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};

    memcpy(un.sun_path, path, strlen(path)); /* rlk_uri_parse() checked that it fits */
    rlk_addresses_add(r->addresses, &un, sizeof(un));
}

/* A zone that is no interface gets an index that no interface has: then connect(2) says so. */
static uint32_t scope_of(const char *zone)
{
    unsigned index = if_nametoindex(zone);
    char *end;

    if (index == 0) {
        index = (unsigned)strtoul(zone, &end, 10);
        index = *end == '\0' && index > 0 ? index : INT32_MAX;
    }
    return index;
}

static bool add_numeric(struct rlk_resolve *r, const struct rlk_uri *uri)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)uri->port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)uri->port)};

    if (inet_pton(AF_INET, uri->host, &v4.sin_addr) == 1) {
        rlk_addresses_add(r->addresses, &v4, sizeof(v4));
    } else if (inet_pton(AF_INET6, uri->host, &v6.sin6_addr) == 1) {
        v6.sin6_scope_id = uri->zone ? scope_of(uri->zone) : 0;
        rlk_addresses_add(r->addresses, &v6, sizeof(v6));
    } else {
        return false;
    }
    return true;
}

/* ---- names ---- */

/* The lookup of one family. It outlives its cancellation: evdns calls on_name() for that, too,
 * later. */
struct rlk_lookup {
    struct rlk_loop *loop;
    struct rlk_dns_base *base;
    struct rlk_resolve *r; /* NULL: cancelled */
    enum rlk_family family;
    struct evdns_getaddrinfo_request *request;
};

/* The kinds are ordered. If one lookup says something about the name, and the other fails, the
 * failure counts more. */
static void note_why(struct rlk_resolve *r, enum rlk_fault_kind why)
{
    r->why = why > r->why ? why : r->why;
}

static enum rlk_fault_kind fault_of(int result)
{
    switch (result) {
    case 0:
    case EVUTIL_EAI_NODATA:
        return RLK_FAULT_NO_ADDRESS;
    case EVUTIL_EAI_NONAME:
        return RLK_FAULT_NO_NAME;
    case EVUTIL_EAI_MEMORY:
        return RLK_FAULT_MEMORY;
    default:
        return RLK_FAULT_NO_ANSWER;
    }
}

static void take_answer(struct rlk_resolve *r, enum rlk_family family, int result,
                        const struct evutil_addrinfo *list)
{
    const struct evutil_addrinfo *ai;

    r->lookups[family] = NULL;
    for (ai = list; ai; ai = ai->ai_next) {
        rlk_addresses_add(r->addresses, ai->ai_addr, ai->ai_addrlen);
        r->found[family] = true;
    }
    note_why(r, fault_of(result));
    if (!r->is_starting) {
        r->answered(r);
    }
}

static void on_name(int result, struct evutil_addrinfo *list, void *arg)
{
    struct rlk_lookup *lookup = arg;
    struct rlk_resolve *r = lookup->r;
    enum rlk_family family = lookup->family;

    if (rlk_fork_is_child(&lookup->loop->fork)) {
        return; /* the lookup belongs to the parent process */
    }
    lookup->loop->lookups--;
    rlk_dns_put(&lookup->loop->dns, lookup->base);
    rlk_free(lookup);
    if (r) {
        take_answer(r, family, result, list);
    }
    if (list) {
        evutil_freeaddrinfo(list);
    }
}

static struct rlk_lookup *new_lookup(struct rlk_resolve *r, enum rlk_family family)
{
    struct rlk_dns_base *base = rlk_dns_get(&r->loop->dns);
    struct rlk_lookup *lookup = base ? rlk_alloc(sizeof(*lookup)) : NULL;

    if (lookup) {
        *lookup = (struct rlk_lookup){r->loop, base, r, family, NULL};
        r->loop->lookups++;
        r->lookups[family] = lookup;
    } else if (base) {
        rlk_dns_put(&r->loop->dns, base);
    }
    return lookup;
}

static bool is_complete(const char *host)
{
    size_t len = strlen(host);

    return len > 0 && host[len - 1] == '.';
}

static void ask_resolver(struct rlk_lookup *lookup, const struct rlk_uri *uri)
{
    struct evutil_addrinfo hints = {.ai_family =
                                        lookup->family == RLK_FAMILY_V6 ? AF_INET6 : AF_INET,
                                    .ai_socktype = SOCK_STREAM,
                                    .ai_protocol = IPPROTO_TCP};
    struct evdns_base *evdns =
        rlk_dns_evdns(&lookup->loop->dns, lookup->base, is_complete(uri->host));
    struct evdns_getaddrinfo_request *request;
    char port[8];

    if (evdns == NULL) {
        on_name(EVUTIL_EAI_MEMORY, NULL, lookup);
        return;
    }
    snprintf(port, sizeof(port), "%u", uri->port);
    request = evdns_getaddrinfo(evdns, uri->host, port, &hints, on_name, lookup);
    if (request) {
        lookup->request = request; /* NULL: on_name() has run already, and freed `lookup` */
    }
}

static void look_up(struct rlk_resolve *r, enum rlk_family family, const struct rlk_uri *uri)
{
    struct rlk_lookup *lookup = new_lookup(r, family);

    if (lookup) {
        ask_resolver(lookup, uri);
    } else {
        note_why(r, RLK_FAULT_MEMORY);
    }
}

static void cancel_lookup(struct rlk_resolve *r, enum rlk_family family)
{
    struct rlk_lookup *lookup = r->lookups[family];

    if (lookup) {
        lookup->r = NULL;
        r->lookups[family] = NULL;
        evdns_getaddrinfo_cancel(lookup->request);
    }
}

/* What is found at once is from the hosts file, which has the last word on a name. */
static void start_names(struct rlk_resolve *r, const struct rlk_uri *uri)
{
    r->is_starting = true;
    look_up(r, RLK_FAMILY_V6, uri);
    look_up(r, RLK_FAMILY_V4, uri);
    r->is_starting = false;
    if (r->found[RLK_FAMILY_V6] || r->found[RLK_FAMILY_V4]) {
        rlk_resolve_cancel(r);
    }
}

void rlk_resolve_start(struct rlk_resolve *r, const struct rlk_uri *uri)
{
    unsigned i;

    for (i = 0; i < RLK_FAMILIES; i++) {
        r->lookups[i] = NULL;
        r->found[i] = false;
    }
    r->why = RLK_FAULT_NONE;
    if (uri->path) {
        add_unix(r, uri->path);
        r->found[RLK_FAMILY_V6] = true;
    } else if (add_numeric(r, uri)) {
        r->found[RLK_FAMILY_V6] = true;
    } else {
        start_names(r, uri);
    }
    if (r->found[0] || r->found[1] || r->why != RLK_FAULT_NONE) {
        r->answered(r);
    }
}

void rlk_resolve_cancel(struct rlk_resolve *r)
{
    cancel_lookup(r, RLK_FAMILY_V6);
    cancel_lookup(r, RLK_FAMILY_V4);
}

bool rlk_resolve_is_pending(const struct rlk_resolve *r)
{
    return r->lookups[RLK_FAMILY_V6] || r->lookups[RLK_FAMILY_V4];
}
