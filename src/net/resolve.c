/* resolve.c - takes paths and numeric addresses as they are, and looks up names by evdns. */
#include "net/resolve.h"

#include <arpa/inet.h>
#include <event2/dns.h>
#include <event2/util.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "base/alloc.h"
#include "net/addresses.h"
#include "net/loop.h"
#include "net/uri.h"

static void add_unix(struct rlk_resolve *r, const char *path)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};

    memcpy(un.sun_path, path, strlen(path)); /* rlk_uri_parse() checked that it fits */
    rlk_addresses_add(r->addresses, &un, sizeof(un));
}

static bool add_numeric(struct rlk_resolve *r, const struct rlk_uri *uri)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)uri->port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)uri->port)};

    if (inet_pton(AF_INET, uri->host, &v4.sin_addr) == 1) {
        rlk_addresses_add(r->addresses, &v4, sizeof(v4));
    } else if (inet_pton(AF_INET6, uri->host, &v6.sin6_addr) == 1) {
        rlk_addresses_add(r->addresses, &v6, sizeof(v6));
    } else {
        return false;
    }
    return true;
}

/* One name lookup. It outlives its cancellation: evdns calls on_name() for that, too, later. */
struct rlk_lookup {
    struct rlk_loop *loop;
    struct rlk_resolve *r; /* NULL: cancelled */
    struct evdns_getaddrinfo_request *request;
};

static void finish_name(struct rlk_resolve *r, int result, bool found)
{
    struct rlk_fault fault = {RLK_FAULT_NO_ADDRESS, ""};

    if (result) {
        fault = (struct rlk_fault){RLK_FAULT_SYSTEM, evutil_gai_strerror(result)};
    }
    r->lookup = NULL;
    r->done(r, found ? NULL : &fault);
}

static void on_name(int result, struct evutil_addrinfo *list, void *arg)
{
    struct rlk_lookup *lookup = arg;
    struct rlk_resolve *r = lookup->r;
    struct evutil_addrinfo *ai;
    bool found = false;

    if (rlk_fork_is_child(&lookup->loop->fork)) {
        return; /* the lookup belongs to the parent process */
    }
    lookup->loop->lookups--;
    rlk_free(lookup);
    for (ai = list; r && ai; ai = ai->ai_next) {
        rlk_addresses_add(r->addresses, ai->ai_addr, ai->ai_addrlen);
        found = true;
    }
    if (list) {
        evutil_freeaddrinfo(list);
    }
    if (r) {
        finish_name(r, result, found);
    }
}

/* Made when the first name is looked up: numeric addresses do not need it. */
static struct evdns_base *dns_base(struct rlk_loop *loop)
{
    if (loop->dns == NULL) {
        loop->dns = evdns_base_new(loop->base, EVDNS_BASE_DISABLE_WHEN_INACTIVE);
        if (loop->dns) {
            evdns_base_resolv_conf_parse(loop->dns, DNS_OPTIONS_ALL, "/etc/resolv.conf");
            /* When one of IPv4 and IPv6 is answered, wait 0.3 s at most for the other. */
            evdns_base_set_option(loop->dns, "getaddrinfo-allow-skew:", "0.3");
        }
    }
    return loop->dns;
}

static void start_name(struct rlk_resolve *r, struct rlk_loop *loop, const struct rlk_uri *uri)
{
    struct evutil_addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct evdns_base *dns = dns_base(loop);
    struct rlk_lookup *lookup = rlk_alloc(sizeof(*lookup));
    struct evdns_getaddrinfo_request *request;
    char port[8];

    if (dns == NULL || lookup == NULL) {
        rlk_free(lookup);
        r->done(r, &(struct rlk_fault){RLK_FAULT_MEMORY, ""});
        return;
    }
    *lookup = (struct rlk_lookup){loop, r, NULL};
    loop->lookups++;
    r->lookup = lookup;
    hints.ai_protocol = IPPROTO_TCP;
    snprintf(port, sizeof(port), "%u", uri->port);
    request = evdns_getaddrinfo(dns, uri->host, port, &hints, on_name, lookup);
    if (request) {
        lookup->request = request; /* NULL: on_name() has run already, and freed `lookup` */
    }
}

void rlk_resolve_start(struct rlk_resolve *r, struct rlk_loop *loop, const struct rlk_uri *uri)
{
    r->lookup = NULL;
    if (uri->path) {
        add_unix(r, uri->path);
        r->done(r, NULL);
    } else if (add_numeric(r, uri)) {
        r->done(r, NULL);
    } else {
        start_name(r, loop, uri);
    }
}

void rlk_resolve_cancel(struct rlk_resolve *r)
{
    if (r->lookup) {
        r->lookup->r = NULL;
        evdns_getaddrinfo_cancel(r->lookup->request);
        r->lookup = NULL;
    }
}
