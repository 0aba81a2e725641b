/* web.c - redlock web: serves a page that shows masters, locks and elections.
 *
 * The masters are asked once a second, and only while somebody looks: while a stream is open, or
 * shortly after /state was read. Changes are reported by the library, and sent at once.
 */
#include "cli/args/args.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/event.h>

#include <redlock/redlock.h>

#include "cli/http/server.h"
#include "cli/say/exit.h"
#include "cli/say/json.h"
#include "cli/say/say.h"
#include "cli/session/record.h"
#include "cli/session/session.h"
#include "cli/system/clock.h"
#include "cli/system/signals.h"
#include "cli/web/events.h"
#include "cli/web/listed.h"
#include "cli/web/masters.h"
#include "cli/web/pages.h"
#include "cli/web/watched.h"

#define MAX_KEYS 100
#define MAX_HOSTS 16
#define INTEREST_US UINT64_C(10000000) /* how long /state keeps us asking */

static const char help[] =
    "usage: redlock web [KEY...] [--list PREFIX] [--listen HOST:PORT] [--host NAME] [OPTION...]\n"
    "\n"
    "Serve a web dashboard: the masters, who holds each KEY, who leads each election, and each\n"
    "event as it happens. It changes nothing. Open http://127.0.0.1:7777/ in a browser.\n"
    "\n"
    "  --list PREFIX       also show all locks that begin with PREFIX ('': all), up to 1000;\n"
    "                      listed again 5 s after the last list, at 5000 commands per second\n"
    "  --listen HOST:PORT  an IP address (IPv6 in brackets) or localhost, and a port; 0: any\n"
    "                      (default 127.0.0.1:7777). Anybody who can reach it can read it\n"
    "  --host NAME         also answer requests for this host; can be repeated. IP addresses,\n"
    "                      localhost and the name of this machine are always answered\n"
    "\n"
    "  /state              the same as JSON\n"
    "  /list               the last list of all locks as JSON\n"
    "  /events             the same as server-sent events, at each change and each second\n"
    "\n";

static const char help_end[] =
    "\n"
    "example:\n"
    "  redlock web nightly cron\n"
    "  redlock web --list app:\n"
    "\n"
    "exit status: 128+N signal N, 64 wrong usage, 70 it cannot listen there, or an internal\n"
    "error\n";

struct web {
    struct cli_address address;
    const char *hosts[MAX_HOSTS]; /* by which names browsers may ask for the page, too */
    size_t n_hosts;
    char **names; /* of the keys */
    size_t n_names;
    struct cli_session *session;
    struct cli_http *http;
    struct cli_masters masters;
    struct cli_events events;
    struct cli_listed listed;
    struct cli_watched keys[MAX_KEYS];
    size_t n_keys;
    struct event *tick;
    uint64_t wanted_us; /* until when somebody looks */
    bool done;
};

/* ---- the state as JSON ---- */

static void write_state(FILE *out, const struct web *web)
{
    uint64_t now = cli_clock_us();
    size_t n = redlock_node_count(web->session->rl), i;

    fprintf(out, "{\"version\": ");
    cli_json_string(out, redlock_version());
    cli_json_number(out, "time_ms", true, (int64_t)cli_events_now_ms());
    cli_json_number(out, "quorum", true, (int64_t)(n / 2 + 1));
    fprintf(out, ",\n\"masters\": ");
    cli_masters_json(out, web->session->rl);
    fprintf(out, ",\n\"record\": ");
    cli_record_json(out, web->session->rl);
    fprintf(out, ",\n\"keys\": [");
    for (i = 0; i < web->n_keys; i++) {
        fprintf(out, i ? ",\n" : "\n");
        cli_watched_json(out, &web->keys[i], now);
    }
    fprintf(out, "],\n\"list\": ");
    cli_listed_json(out, &web->listed, now);
    fprintf(out, ",\n\"events\": ");
    cli_events_json(out, &web->events);
    fprintf(out, "}\n");
}

/* `as_message`: an event of a stream, on one line: JSON has newlines between values only. */
static int add_state(struct evbuffer *body, const struct web *web, bool as_message)
{
    char *text = NULL, *p;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int result = -1;

    if (out) {
        write_state(out, web);
        result = fclose(out);
    }
    for (p = text; result == 0 && as_message && (p = strchr(p, '\n')); p++) {
        *p = ' ';
    }
    if (result == 0) {
        result = evbuffer_add_printf(body, as_message ? "event: state\ndata: %s\n\n" : "%s", text);
    }
    free(text);
    return result < 0 ? -1 : 0;
}

/* ---- pages ---- */

/* Run on_tick() from the loop, and a second later again. As a timeout it would put the next one off
 * by a second each time. */
static void run_tick(struct web *web)
{
    event_active(web->tick, EV_READ, 0);
}

static void look(struct web *web)
{
    if (web->wanted_us < cli_clock_us()) {
        run_tick(web);
    }
    web->wanted_us = cli_clock_us() + INTEREST_US;
}

static int write_json(struct evbuffer *body, void *arg)
{
    look(arg);
    return add_state(body, arg, false);
}

static int write_list(struct evbuffer *body, void *arg)
{
    struct web *web = arg;

    look(web);
    return evbuffer_add_printf(body, "%s", cli_listed_last(&web->listed)) < 0 ? -1 : 0;
}

static int write_first(struct evbuffer *body, void *arg)
{
    look(arg);
    return add_state(body, arg, true);
}

static const struct cli_http_route answers[] = {
    {"/state", "application/json", NULL, write_json, false},
    {"/list", "application/json", NULL, write_list, false},
    {"/events", "text/event-stream", NULL, write_first, true},
};
#define N_ANSWERS (sizeof(answers) / sizeof(answers[0]))

/* Returns how many there are. */
static size_t collect_routes(struct cli_http_route routes[N_ANSWERS + CLI_PAGES_ROOM])
{
    const struct cli_page *page;
    size_t n = N_ANSWERS;

    memcpy(routes, answers, sizeof(answers));
    for (page = cli_pages; page->path; page++) {
        routes[n++] =
            (struct cli_http_route){.path = page->path, .type = page->type, .text = page->text};
    }
    return n;
}

static void send_state(struct web *web)
{
    struct evbuffer *body = evbuffer_new();

    if (body && add_state(body, web, true) == 0) {
        cli_http_send(web->http, (const char *)evbuffer_pullup(body, -1),
                      evbuffer_get_length(body));
    }
    if (body) {
        evbuffer_free(body);
    }
}

/* ---- what happens ---- */

/* Sent from the loop: the library is in a callback now. */
static void on_change(void *arg, const char *kind, const char *name, const char *text,
                      const char *observed)
{
    struct web *web = arg;

    cli_events_add(&web->events, kind, name, text, observed);
    if (web->http) {
        run_tick(web);
    }
}

static void on_master(void *arg, const char *name, const char *text)
{
    struct web *web = arg;

    cli_events_add(&web->events, "master", name, text, NULL);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct web *web = arg;
    bool watched = cli_http_streams(web->http) > 0 || cli_clock_us() < web->wanted_us;
    size_t i;

    (void)fd;
    (void)what;
    cli_masters_look(&web->masters, web->session->rl, on_master, web);
    for (i = 0; watched && i < web->n_keys; i++) {
        cli_watched_ask(&web->keys[i]);
    }
    if (watched) {
        cli_listed_ask(&web->listed);
    }
    if (cli_http_streams(web->http) > 0) {
        send_state(web);
    }
}

/* ---- begin and end ---- */

static int observe(struct web *web)
{
    for (; web->n_keys < web->n_names; web->n_keys++) {
        struct cli_watched *watched = &web->keys[web->n_keys];
        int status;

        *watched = (struct cli_watched){.rl = web->session->rl,
                                        .key = web->names[web->n_keys],
                                        .on_change = on_change,
                                        .arg = web};
        status = cli_watched_begin(watched);
        if (status != 0) {
            return cli_session_refuse(web->session, status, "observe", watched->key, NULL, 0);
        }
    }
    return CLI_OK;
}

static int start_tick(struct web *web)
{
    static const struct timeval second = {1, 0};

    web->tick = event_new(web->session->loop.base, -1, EV_PERSIST, on_tick, web);
    if (web->tick == NULL || event_priority_set(web->tick, CLI_LOOP_LAST) != 0 ||
        event_add(web->tick, &second) != 0) {
        return cli_say_no_memory();
    }
    return CLI_OK;
}

static int announce(const struct web *web)
{
    const struct cli_address *address = cli_http_address(web->http);

    cli_say_out("listening on http://%s%s%s:%d/\n", address->v6 ? "[" : "", address->ip,
                address->v6 ? "]" : "", address->port);
    if (!cli_address_is_loopback(address->ip)) {
        cli_say("anybody who can reach this address can read the dashboard: there is no password");
    }
    return cli_say_flush();
}

static int begin_web(struct web *web)
{
    static struct cli_http_route routes[N_ANSWERS + CLI_PAGES_ROOM];
    struct cli_http_options http = {.address = web->address,
                                    .names = {.names = web->hosts, .n = web->n_hosts},
                                    .option = "--listen",
                                    .routes = routes,
                                    .n_routes = collect_routes(routes),
                                    .arg = web};
    int code = start_tick(web);

    if (code == CLI_OK) {
        code = observe(web);
    }
    if (code == CLI_OK) {
        code = cli_http_open(web->session->loop.base, &http, &web->http);
    }
    return code == CLI_OK ? announce(web) : code;
}

static int check_list_prefix(const struct web *web)
{
    const char *prefix = web->listed.prefix;

    if (prefix && web->session->prefix_len + strlen(prefix) > REDLOCK_MAX_KEY) {
        return cli_say_usage("web",
                             "--list and --key-prefix (or REDLOCK_KEY_PREFIX) have more than %d "
                             "bytes together",
                             REDLOCK_MAX_KEY);
    }
    return CLI_OK;
}

static int run_web(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    struct web *web = arg;
    int code;

    web->session = session;
    web->listed.rl = session->rl;
    code = check_list_prefix(web);
    if (code == CLI_OK) {
        code = begin_web(web);
    }
    if (code == CLI_OK) {
        code = cli_signals_run(signals, &session->loop, &web->done);
    }
    cli_http_close(web->http);
    web->http = NULL;
    cli_event_free(web->tick);
    return code;
}

static void free_web(void *arg)
{
    struct web *web = arg;
    size_t i;

    for (i = 0; i < web->n_keys; i++) {
        cli_watched_free(&web->keys[i]);
    }
    cli_listed_free(&web->listed);
    cli_events_free(&web->events);
}

/* ---- the command line ---- */

static int take_host(void *arg, const char *name)
{
    struct web *web = arg;

    if (!cli_address_is_name(name)) {
        return cli_say_usage("web", "--host '%s' is not the name of a host, such as web.example",
                             name);
    }
    if (web->n_hosts == MAX_HOSTS) {
        return cli_say_usage("web", "--host can be given %d times at most", MAX_HOSTS);
    }
    web->hosts[web->n_hosts++] = name;
    return CLI_GO_ON;
}

static int take_listen(void *arg, const char *value)
{
    struct web *web = arg;

    if (cli_address_parse(value, &web->address) != 0) {
        return cli_say_usage("web",
                             "--listen '%s' must be an IP address or localhost, a colon and a "
                             "port: 127.0.0.1:7777 or [::1]:7777",
                             value);
    }
    return CLI_GO_ON;
}

static const struct cli_option options[] = {
    {"list", CLI_TEXT, .field = offsetof(struct web, listed) + offsetof(struct cli_listed, prefix)},
    {"listen", CLI_CALL, .take = take_listen},
    {"host", CLI_CALL, .take = take_host},
    {.name = NULL}};

static int read_web(struct cli_args *args, int argc, char **argv)
{
    struct web *web = args->arg;

    if (argc - optind > MAX_KEYS) {
        return cli_say_usage("web", "there are more than %d KEYs", MAX_KEYS);
    }
    web->names = argv + optind;
    web->n_names = (size_t)(argc - optind);
    return cli_args_keys("web", argc, argv, false);
}

static const struct web usual = {.address = {.ip = "127.0.0.1", .port = 7777}};

const struct cli_subcommand cli_web = {.name = "web",
                                       .help = {help, help_end},
                                       .options = {options},
                                       .usual = {&usual, sizeof(usual)},
                                       .traits = CLI_NEVER_WAITS | CLI_HAS_SIGNALS,
                                       .calls = {run_web, read_web, .free = free_web}};
