/* page.c - the page that serves the metrics of a manager, and those of what a command holds. */
#include "cli/metrics/page.h"

#include <stddef.h>
#include <stdint.h>

#include <event2/buffer.h>

#include <redlock/redlock.h>

#include "cli/http/server.h"
#include "cli/metrics/leader.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/session.h"

/* ---- what is held ---- */

static void write_held(const struct rlk_metrics *out, const struct cli_held *held)
{
    static const struct rlk_label none = {NULL, NULL};
    const struct rlk_label label = {"name", held->name};
    uint64_t left_ms = cli_held_left_ms(held);

    rlk_metrics_family(out, "redlock_held", "gauge",
                       "1: this process holds the lock, or leads the election.");
    rlk_metrics_number(out, "redlock_held", label, none, left_ms > 0);
    rlk_metrics_family(out, "redlock_held_validity_seconds", "gauge",
                       "For how long, if no renewal is confirmed.");
    rlk_metrics_from_ms(out, "redlock_held_validity_seconds", label, left_ms);
}

/* ---- the page ---- */

static void add_bytes(void *arg, const char *bytes, size_t len)
{
    evbuffer_add(arg, bytes, len);
}

struct rlk_metrics cli_metrics_to(struct evbuffer *out)
{
    return (struct rlk_metrics){add_bytes, out};
}

/* The text may have grown since it was measured, because it contains durations. Returns 0 or -1. */
static int write_manager(struct evbuffer *out, const struct redlock *rl, unsigned flags)
{
    size_t len = redlock_prometheus(rl, flags, NULL, 0), size;
    struct evbuffer_iovec room;

    do {
        size = len + 1;
        if (evbuffer_reserve_space(out, (ev_ssize_t)size, &room, 1) != 1) {
            return -1;
        }
        len = redlock_prometheus(rl, flags, room.iov_base, size);
    } while (len >= size);
    room.iov_len = len;
    return evbuffer_commit_space(out, &room, 1);
}

static int write_page(struct evbuffer *out, void *arg)
{
    const struct cli_metrics *metrics = arg;
    const struct rlk_metrics to = cli_metrics_to(out);
    int result = write_manager(out, metrics->session->rl,
                               metrics->observes ? REDLOCK_PROMETHEUS_NO_LOCKS : 0);

    if (metrics->holder) {
        struct cli_held held = metrics->holder->held(metrics->arg);

        write_held(&to, &held);
    }
    if (metrics->more) {
        metrics->more(&to, metrics->arg);
    }
    return result;
}

static int write_leader(struct evbuffer *out, void *arg)
{
    const struct cli_metrics *metrics = arg;

    return cli_leader_reply(out, metrics->holder, cli_http_is_asked_here(metrics->http),
                            metrics->arg);
}

/* /healthz is a fixed text: any reply shows that the loop runs. The last one is for a process that
 * may hold something. */
static const struct cli_http_route routes[] = {
    {.path = "/metrics", .type = REDLOCK_PROMETHEUS_TYPE, .write = write_page},
    {.path = "/healthz", .type = "text/plain; charset=utf-8", .text = "ok\n"},
    {.path = "/leader", .type = "application/json", .write = write_leader},
};

/* Prometheus asks by any name that the machine has. No token and no password is served. */
static int serve_metrics(struct cli_metrics *metrics, const char *option)
{
    struct cli_http_options options = {.names = {.any = true},
                                       .option = option,
                                       .routes = routes,
                                       .n_routes = sizeof(routes) / sizeof(routes[0]) -
                                                   (metrics->holder == NULL),
                                       .arg = metrics};
    const struct cli_address *address;
    int code;

    if (cli_address_parse(metrics->address, &options.address) != 0) {
        return cli_say_usage(metrics->session->command,
                             "%s '%s' is not IP:PORT, such as 127.0.0.1:9469 or [::1]:9469", option,
                             metrics->address);
    }
    code = cli_http_open(metrics->session->loop.base, &options, &metrics->http);
    if (code == CLI_OK) {
        address = cli_http_address(metrics->http);
        cli_say_detail("serves http://%s%s%s:%d/metrics", address->v6 ? "[" : "", address->ip,
                       address->v6 ? "]" : "", address->port);
    }
    return code;
}

int cli_metrics_open(struct cli_metrics *metrics, const struct cli_session *session,
                     const char *option)
{
    metrics->session = session;
    return metrics->address ? serve_metrics(metrics, option) : CLI_OK;
}

void cli_metrics_close(struct cli_metrics *metrics)
{
    cli_http_close(metrics->http);
    metrics->http = NULL;
}
