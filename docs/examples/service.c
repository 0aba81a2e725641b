/* service.c - a program that has a libevent loop already, and gets locks.
 *
 *     service PORT
 *
 * A small TCP service. A client sends lines: the name of a job that it wants done. Any number of
 * these services may run, on any machines; no job is done by two of them at once. The line "?" asks
 * how the service is, and "?metrics" for the metrics of its locks and masters, for Prometheus.
 *
 * The program's listener, connections, timer and signals stay as they are: the library is only
 * given the same event_base, and the loop goes on while a lock is waited for. What needs care is
 * who may outlive whom:
 *
 *   - The struct of a client is the `arg` of callbacks. So when a connection ends while a lock is
 *     waited for, or held, the struct lives until the last callback has come.
 *   - On SIGTERM the manager is closed first. Until its callback other callbacks may come, so only
 *     that callback frees the rest. Then the loop has no events left, and ends by itself.
 */
#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <redlock/redlock.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define LONGEST_LINE 200
#define STEPS 10
#define STEP_MS 20

struct service {
    struct event_base *base;
    struct redlock *rl;
    struct evconnlistener *listener;
    struct event *beat, *terminated, *interrupted;
    LIST_HEAD(, client) clients;
    unsigned beats;
    int closing;
};

struct client {
    struct service *service;
    struct bufferevent *stream; /* NULL: the connection has ended */
    struct redlock_lock *lock;  /* NULL: no job; otherwise there will be a callback */
    struct event *step;
    char job[LONGEST_LINE + 1];
    int held, steps;
    LIST_ENTRY(client) others;
};

static void next_job(struct client *client);

/* ---- a client ---- */

static void free_client(struct client *client)
{
    LIST_REMOVE(client, others);
    if (client->stream) {
        bufferevent_free(client->stream);
    }
    event_free(client->step);
    free(client);
}

static void say(struct client *client, const char *what, const char *why)
{
    if (client->stream) {
        evbuffer_add_printf(bufferevent_get_output(client->stream), "%s %s%s\n", client->job, what,
                            why);
    }
}

/* ---- a job ---- */

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    struct client *client = arg;

    (void)lock;
    (void)status;
    client->lock = NULL;
    client->held = 0;
    if (client->stream) {
        next_job(client);
    } else {
        free_client(client);
    }
}

/* The release fails when the manager is closing, which releases the lock itself, or when the lock
 * is being released already. */
static void end_job(struct client *client)
{
    event_del(client->step);
    redlock_release(client->lock, on_released, client);
}

/* A part of the work, so short that the loop can wait for it. */
static void on_step(evutil_socket_t fd, short what, void *arg)
{
    struct client *client = arg;

    (void)fd;
    (void)what;
    /* The notice of a loss comes from the loop, perhaps after us. The clock is always right. */
    if (redlock_lock_validity_ms(client->lock) > STEP_MS && ++client->steps == STEPS) {
        printf("%s ends %llu\n", client->job, (unsigned long long)redlock_clock_us());
        say(client, "is done", "");
        end_job(client);
    }
}

static void on_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    struct client *client = arg;

    (void)lock;
    if (notice->kind == REDLOCK_NOTICE_LOST) {
        say(client, "has lost its lock: ", redlock_strerror(notice->reason));
        end_job(client);
    }
}

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    static const struct timeval soon = {0, STEP_MS * 1000};
    struct client *client = arg;

    (void)lock;
    if (status) {
        say(client, "is not done: ", redlock_strerror(status));
        on_released(NULL, 0, client);
        return;
    }
    client->held = 1;
    client->steps = 0;
    printf("%s begins %llu\n", client->job, (unsigned long long)redlock_clock_us());
    event_add(client->step, &soon);
}

static int start_job(struct client *client)
{
    struct redlock_request request;
    char key[LONGEST_LINE + 8];

    snprintf(key, sizeof(key), "job:%s", client->job);
    redlock_request_init(&request);
    request.key = key;
    request.ttl_ms = 2000;
    request.wait_ms = 60000;
    request.notice_cb = on_notice;
    request.notice_arg = client;
    return redlock_acquire(client->service->rl, &request, on_acquired, client, &client->lock);
}

/* The text contains durations, so it may grow between the two calls. */
static void write_metrics(struct client *client)
{
    size_t size = redlock_prometheus(client->service->rl, 0, NULL, 0) + 1024;
    char *text = malloc(size);

    if (text && redlock_prometheus(client->service->rl, 0, text, size) < size) {
        evbuffer_add_printf(bufferevent_get_output(client->stream), "%s", text);
    }
    free(text);
}

static void do_line(struct client *client, const char *line)
{
    int status;

    snprintf(client->job, sizeof(client->job), "%s", line);
    if (strcmp(line, "?") == 0) {
        evbuffer_add_printf(bufferevent_get_output(client->stream), "%u beats\n",
                            client->service->beats);
    } else if (strcmp(line, "?metrics") == 0) {
        write_metrics(client);
    } else if ((status = start_job(client)) != 0) {
        say(client, "is not done: ", redlock_strerror(status));
    }
}

/* One job at a time: what a client sends meanwhile stays in its buffer. */
static void next_job(struct client *client)
{
    char *line;

    while (!client->lock && !client->service->closing &&
           (line = evbuffer_readln(bufferevent_get_input(client->stream), NULL,
                                   EVBUFFER_EOL_CRLF)) != NULL) {
        do_line(client, line);
        free(line);
    }
}

/* ---- connections ---- */

/* Nobody waits for the answer any more. After a cancel the acquire's callback comes, never with the
 * lock; after a release that of the release. Both free the client. */
static void hang_up(struct client *client)
{
    bufferevent_free(client->stream);
    client->stream = NULL;
    if (!client->lock) {
        free_client(client);
    } else if (client->held) {
        end_job(client);
    } else {
        redlock_cancel(client->lock);
    }
}

static void on_lines(struct bufferevent *stream, void *arg)
{
    struct client *client = arg;

    next_job(client);
    if (!client->lock && evbuffer_get_length(bufferevent_get_input(stream)) > LONGEST_LINE) {
        hang_up(client);
    }
}

static void on_end(struct bufferevent *stream, short what, void *arg)
{
    (void)stream;
    (void)what;
    hang_up(arg);
}

static void on_connection(struct evconnlistener *listener, evutil_socket_t fd,
                          struct sockaddr *address, int length, void *arg)
{
    struct service *service = arg;
    struct client *client = calloc(1, sizeof(*client));
    struct bufferevent *stream = bufferevent_socket_new(service->base, fd, BEV_OPT_CLOSE_ON_FREE);
    struct event *step = event_new(service->base, -1, EV_PERSIST, on_step, client);

    (void)listener;
    (void)address;
    (void)length;
    if (!client || !stream || !step) {
        fprintf(stderr, "out of memory: a connection is refused\n");
        if (stream) {
            bufferevent_free(stream);
        } else {
            evutil_closesocket(fd);
        }
        if (step) {
            event_free(step);
        }
        free(client);
        return;
    }
    client->service = service;
    client->stream = stream;
    client->step = step;
    LIST_INSERT_HEAD(&service->clients, client, others);
    bufferevent_setcb(stream, on_lines, NULL, on_end, client);
    bufferevent_setwatermark(stream, EV_READ, 0, 4 * LONGEST_LINE);
    bufferevent_enable(stream, EV_READ | EV_WRITE);
}

/* ---- the service ---- */

static void on_beat(evutil_socket_t fd, short what, void *arg)
{
    struct service *service = arg;

    (void)fd;
    (void)what;
    service->beats++;
}

/* The manager and all locks are gone: nothing refers to a client any more. */
static void on_closed(void *arg)
{
    struct service *service = arg;

    while (!LIST_EMPTY(&service->clients)) {
        free_client(LIST_FIRST(&service->clients));
    }
    event_del(service->beat);
    event_del(service->terminated);
    event_del(service->interrupted);
}

/* The work stops before its locks are released. */
static void on_signal(evutil_socket_t number, short what, void *arg)
{
    struct service *service = arg;
    struct client *client;

    (void)number;
    (void)what;
    if (service->closing) {
        return;
    }
    service->closing = 1;
    evconnlistener_free(service->listener);
    LIST_FOREACH(client, &service->clients, others)
    {
        event_del(client->step);
    }
    redlock_close(service->rl, on_closed, service);
}

static int listen_on(struct service *service, const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    socklen_t length = sizeof(address);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    service->listener =
        evconnlistener_new_bind(service->base, on_connection, service,
                                LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE | LEV_OPT_CLOSE_ON_EXEC,
                                -1, (struct sockaddr *)&address, sizeof(address));
    if (!service->listener || getsockname(evconnlistener_get_fd(service->listener),
                                          (struct sockaddr *)&address, &length) != 0) {
        perror("listen");
        return -1;
    }
    printf("port %d\n", ntohs(address.sin_port)); /* the kernel chooses it for 0 */
    return 0;
}

static int start(struct service *service)
{
    static const struct timeval often = {0, 50000};

    LIST_INIT(&service->clients);
    service->base = event_base_new();
    if (!service->base) {
        return -1;
    }
    service->beat = event_new(service->base, -1, EV_PERSIST, on_beat, service);
    service->terminated = evsignal_new(service->base, SIGTERM, on_signal, service);
    service->interrupted = evsignal_new(service->base, SIGINT, on_signal, service);
    return service->beat && service->terminated && service->interrupted &&
                   event_add(service->beat, &often) == 0 &&
                   event_add(service->terminated, NULL) == 0 &&
                   event_add(service->interrupted, NULL) == 0
               ? 0
               : -1;
}

/* To the masters that redlock(1) uses: those of REDLOCK_NODES or /etc/redlock/nodes. */
static int connect_masters(struct event_base *base, struct redlock **ret_rl)
{
    struct redlock_options options;
    struct redlock_settings *settings;
    char why[512] = "";
    int status;

    redlock_options_init(&options);
    options.error_text = why;
    options.error_text_size = sizeof(why);
    if ((status = redlock_settings_read(&options, &settings)) == 0) {
        status = redlock_new(base, &options, ret_rl);
        redlock_settings_free(settings);
    }
    if (status) {
        fprintf(stderr, "%s\n", why[0] ? why : redlock_strerror(status));
    }
    return status;
}

int main(int argc, char **argv)
{
    struct service service = {.rl = NULL};

    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN); /* a client that has gone away */
    if (argc != 2) {
        fprintf(stderr, "usage: service PORT\n");
        return 64;
    }
    if (start(&service) != 0) {
        fprintf(stderr, "no event loop\n");
        return 1;
    }
    if (connect_masters(service.base, &service.rl) != 0 || listen_on(&service, argv[1]) != 0) {
        return 1;
    }
    event_base_dispatch(service.base);
    event_free(service.beat);
    event_free(service.terminated);
    event_free(service.interrupted);
    event_base_free(service.base);
    return 0;
}
