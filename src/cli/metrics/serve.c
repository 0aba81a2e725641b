/* serve.c - the page of a command that has a manager. */
#include "cli/metrics/serve.h"

#include <stddef.h>

#include "cli/http/server.h"
#include "cli/metrics/page.h"
#include "cli/metrics/text.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/session.h"

static int write_page(struct evbuffer *out, void *arg)
{
    const struct cli_metrics *metrics = arg;

    cli_metrics_manager(out, metrics->session->rl);
    cli_metrics_masters(out, metrics->session->rl);
    if (metrics->more) {
        metrics->more(out, metrics->arg);
    }
    return 0;
}

static const struct cli_http_route route = {
    .path = "/metrics", .type = CLI_METRICS_TYPE, .write = write_page};

/* Prometheus asks by any name that the machine has. No token and no password is served. */
static int serve_metrics(struct cli_metrics *metrics, const char *option)
{
    struct cli_http_options options = {
        .names = {.any = true}, .option = option, .routes = &route, .n_routes = 1, .arg = metrics};
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

void cli_metrics_held(struct evbuffer *out, const char *name, uint64_t validity_ms)
{
    const struct cli_label label = {"name", name}, none = {NULL, NULL};

    cli_metrics_family(out, "redlock_held", "gauge",
                       "1: this process holds the lock, or leads the election.");
    cli_metrics_number(out, "redlock_held", label, none, validity_ms > 0);
    cli_metrics_family(out, "redlock_held_validity_seconds", "gauge",
                       "For how long, if no renewal is confirmed.");
    cli_metrics_from_ms(out, "redlock_held_validity_seconds", label, validity_ms);
}
