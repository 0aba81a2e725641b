/* dns.c - makes and frees the bases. */
#include "net/dns.h"

#include <event2/dns.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/list.h"
#include "net/clock.h"

static const char resolv_conf[] = "/etc/resolv.conf", hosts[] = "/etc/hosts";

/* Seconds until a name server is asked again, or the next one is. Our time is connect_timeout_ms
 * for everything; evdns's 5 s, or those of resolv.conf, would leave no time for the second name
 * server. A late answer still counts. */
#define ASK_AGAIN "0.4"

/* More than a lookup can use up before it is cancelled. */
#define ASK_TIMES "200"

/* evdns keeps the lookups above 64 waiting, and those of 63 masters are 126. */
#define IN_FLIGHT "256"

/* All zero for a file that is not there. */
static struct rlk_dns_stamp stamp_of(const char *path)
{
    struct rlk_dns_stamp none = {.size = 0};
    struct stat s;

    if (stat(path, &s)) {
        return none;
    }
    return (struct rlk_dns_stamp){.device = s.st_dev,
                                  .file = s.st_ino,
                                  .size = (uint64_t)s.st_size,
                                  .seconds = s.st_mtim.tv_sec,
                                  .nanoseconds = s.st_mtim.tv_nsec};
}

/* Before the files are read, so that a change in between is seen the next time. */
static void read_stamps(struct rlk_dns_stamp stamps[2])
{
    stamps[0] = stamp_of(resolv_conf);
    stamps[1] = stamp_of(hosts);
}

static void read_files(struct evdns_base *evdns, int flags)
{
    evdns_base_resolv_conf_parse(evdns, flags, resolv_conf);
    evdns_base_load_hosts(evdns, hosts);
    evdns_base_set_option(evdns, "timeout:", ASK_AGAIN);
    evdns_base_set_option(evdns, "attempts:", ASK_TIMES);
    evdns_base_set_option(evdns, "max-inflight:", IN_FLIGHT);
}

/* Without a free descriptor evdns reads no file and has no name server, and would never have one:
 * the next lookup reads the files again. */
struct evdns_base *rlk_dns_evdns(struct rlk_dns *dns, struct rlk_dns_base *base, bool complete)
{
    int flags = DNS_OPTION_NAMESERVERS | DNS_OPTION_MISC | (complete ? 0 : DNS_OPTION_SEARCH);
    struct evdns_base **evdns = &base->evdns[complete];

    if (*evdns == NULL) {
        *evdns = evdns_base_new(dns->events, EVDNS_BASE_DISABLE_WHEN_INACTIVE);
    }
    if (*evdns && evdns_base_count_nameservers(*evdns) == 0) {
        read_files(*evdns, flags);
    }
    return *evdns;
}

static struct rlk_dns_base *new_base(const struct rlk_dns_stamp stamps[2])
{
    struct rlk_dns_base *b = rlk_alloc(sizeof(*b));

    if (b) {
        *b = (struct rlk_dns_base){.lookups = 0};
        memcpy(b->stamps, stamps, sizeof(b->stamps));
    }
    return b;
}

static void free_base(struct rlk_dns_base *b)
{
    int i;

    for (i = 0; i < 2; i++) {
        if (b->evdns[i]) {
            evdns_base_free(b->evdns[i], 0);
        }
    }
    rlk_free(b);
}

struct rlk_dns_base *rlk_dns_get(struct rlk_dns *dns)
{
    struct rlk_dns_stamp stamps[2];
    struct rlk_dns_base *b;

    read_stamps(stamps);
    if (dns->newest == NULL || memcmp(stamps, dns->newest->stamps, sizeof(stamps)) != 0) {
        b = new_base(stamps);
        if (b) {
            b->older = dns->newest;
            dns->newest = b;
            rlk_timer_set(dns->timers, &dns->timer, rlk_clock_us());
        }
    }
    if (dns->newest) {
        dns->newest->lookups++;
    }
    return dns->newest;
}

/* Not at once: evdns calls us, and uses the base after that. */
void rlk_dns_put(struct rlk_dns *dns, struct rlk_dns_base *base)
{
    base->lookups--;
    if (base->lookups == 0 && base != dns->newest) {
        rlk_timer_set(dns->timers, &dns->timer, rlk_clock_us());
    }
}

static void on_dns_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_dns *dns = RLK_CONTAINER(t, struct rlk_dns, timer);
    struct rlk_dns_base **at = &dns->newest->older, *b;

    (void)now_us;
    while ((b = *at) != NULL) {
        if (b->lookups == 0) {
            *at = b->older;
            free_base(b);
        } else {
            at = &b->older;
        }
    }
}

void rlk_dns_init(struct rlk_dns *dns, struct event_base *events, struct rlk_timers *timers)
{
    *dns = (struct rlk_dns){.events = events, .timers = timers};
    rlk_timer_init(&dns->timer, on_dns_timer);
}

void rlk_dns_end(struct rlk_dns *dns)
{
    struct rlk_dns_base *b;

    while ((b = dns->newest) != NULL) {
        dns->newest = b->older;
        free_base(b);
    }
}
