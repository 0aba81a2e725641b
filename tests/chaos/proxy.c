/* chaos/proxy.c - a TCP proxy that does harm on command.
 *
 *     chaos-proxy --listen ADDRESS:PORT --to ADDRESS:PORT
 *
 * Commands come on stdin, a line each, and are answered by `ok` or `error` on stdout. It ends when
 * stdin closes.
 *
 *     delay MIN MAX       each chunk takes so many ms longer, in their order; 0 0: none
 *     stall in|out|both   the bytes of that direction wait; none is lost
 *     cut                 close all connections now, in the middle of what is under way
 *     cut-rate PERMILLE   cut each chunk with that chance, and close its connection
 *     deny                close new connections at once
 *     hang                accept new connections, and forward nothing
 *     flow                end all of these
 *     to ADDRESS:PORT     where new connections go
 *
 * "in" is from the client to the server. */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <event2/util.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST_QUEUED (1 << 20)
#define MOST_CHUNK 16384
#define IN 0
#define OUT 1

struct chunk {
    struct chunk *next;
    uint64_t due_us;
    size_t len;
    unsigned char bytes[];
};

struct pair;

/* One direction of a connection: what `from` said goes to `to`. */
struct way {
    struct pair *pair;
    int which;
    struct bufferevent *from, *to;
    struct chunk *first, **last;
    struct event *timer;
    size_t queued;
    uint64_t last_due_us;
    bool has_ended; /* `from` says nothing more */
};

/* A connection of a client, and ours to the server: NULL while it hangs. */
struct pair {
    struct pair *next, **at;
    struct bufferevent *client, *server;
    struct way ways[2];
    bool is_cut; /* closes when what is written has left */
};

static struct event_base *base;
static struct sockaddr_storage to;
static int to_len;
static struct pair *pairs;
static uint32_t least_ms, most_ms, cut_rate;
static bool stalls[2], denies, hangs;

static uint64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static uint32_t draw(uint32_t below)
{
    return below ? (uint32_t)random() % below : 0;
}

/* ---- a connection ends ---- */

static void close_end(struct bufferevent *end)
{
    if (end) {
        bufferevent_free(end);
    }
}

static void pair_free(struct pair *pair)
{
    int i;

    *pair->at = pair->next;
    if (pair->next) {
        pair->next->at = pair->at;
    }
    for (i = 0; i < 2; i++) {
        struct chunk *chunk;

        while ((chunk = pair->ways[i].first) != NULL) {
            pair->ways[i].first = chunk->next;
            free(chunk);
        }
        event_free(pair->ways[i].timer);
    }
    close_end(pair->client);
    close_end(pair->server);
    free(pair);
}

static bool has_output(struct bufferevent *end)
{
    return end && evbuffer_get_length(bufferevent_get_output(end)) > 0;
}

/* Returns whether it is closed: nothing is left to be written, and nothing more comes. */
static bool pair_may_close(struct pair *pair)
{
    const struct way *in = &pair->ways[IN], *out = &pair->ways[OUT];
    bool over = pair->is_cut || (in->has_ended && !in->first && !has_output(pair->server)) ||
                (out->has_ended && !out->first && !has_output(pair->client));

    if (!over || (pair->is_cut && (has_output(pair->server) || has_output(pair->client)))) {
        return false;
    }
    pair_free(pair);
    return true;
}

/* A random part of what waits is written, and the connection is closed in the middle of it. */
static void pair_cut(struct pair *pair)
{
    int i;

    for (i = 0; i < 2; i++) {
        struct way *way = &pair->ways[i];
        struct evbuffer *out = way->to ? bufferevent_get_output(way->to) : NULL;

        if (out && way->first) {
            evbuffer_add(out, way->first->bytes, draw((uint32_t)way->first->len));
        }
        if (out && evbuffer_get_length(out)) {
            evbuffer_write(out, bufferevent_getfd(way->to));
        }
    }
    pair_free(pair);
}

/* ---- bytes go on their way ---- */

static void limit(struct way *way)
{
    if (way->from && way->queued >= MOST_QUEUED) {
        bufferevent_disable(way->from, EV_READ);
    } else if (way->from && !way->pair->is_cut && way->pair->server) {
        bufferevent_enable(way->from, EV_READ);
    }
}

/* Returns false if the connection is cut in this chunk. */
static bool forward(struct way *way, struct chunk *chunk)
{
    bool cuts = draw(1000) < cut_rate;
    size_t len = cuts ? draw((uint32_t)chunk->len) : chunk->len;

    bufferevent_write(way->to, chunk->bytes, len);
    way->first = chunk->next;
    way->last = way->first ? way->last : &way->first;
    way->queued -= chunk->len;
    free(chunk);
    return !cuts;
}

static void wake_for(struct way *way, uint64_t due_us, uint64_t at_us)
{
    uint64_t left_us = due_us - at_us;
    struct timeval in = {(time_t)(left_us / 1000000), (suseconds_t)(left_us % 1000000)};

    event_add(way->timer, &in);
}

/* Forward what is due. The connection may be gone afterwards. */
static void move(struct way *way)
{
    uint64_t at_us = now_us();

    while (way->to && way->first && !stalls[way->which] && !way->pair->is_cut) {
        if (way->first->due_us > at_us) {
            wake_for(way, way->first->due_us, at_us);
            break;
        }
        /* A receiver that does not read holds up the sender as well. */
        if (evbuffer_get_length(bufferevent_get_output(way->to)) >= MOST_QUEUED) {
            break;
        }
        if (!forward(way, way->first)) {
            way->pair->is_cut = true;
            bufferevent_disable(way->pair->client, EV_READ);
            bufferevent_disable(way->pair->server, EV_READ);
        }
    }
    limit(way);
    pair_may_close(way->pair);
}

static void on_due(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    move(arg);
}

static void queue_chunk(struct way *way, struct evbuffer *input)
{
    size_t all = evbuffer_get_length(input), len = all < MOST_CHUNK ? all : MOST_CHUNK;
    struct chunk *chunk = malloc(sizeof(*chunk) + len);
    uint64_t due_us = now_us() + (least_ms + draw(most_ms - least_ms + 1)) * UINT64_C(1000);

    if (!chunk || evbuffer_remove(input, chunk->bytes, len) < 0) {
        abort();
    }
    way->last_due_us = due_us > way->last_due_us ? due_us : way->last_due_us;
    chunk->due_us = most_ms ? way->last_due_us : 0;
    chunk->len = len;
    chunk->next = NULL;
    *way->last = chunk;
    way->last = &chunk->next;
    way->queued += len;
}

static struct way *way_from(struct pair *pair, const struct bufferevent *end)
{
    return &pair->ways[end == pair->client ? IN : OUT];
}

static void on_readable(struct bufferevent *end, void *arg)
{
    struct way *way = way_from(arg, end);
    struct evbuffer *input = bufferevent_get_input(end);

    while (evbuffer_get_length(input) > 0) {
        queue_chunk(way, input);
    }
    move(way);
}

/* All that was written to `end` has left. */
static void on_written(struct bufferevent *end, void *arg)
{
    struct pair *pair = arg;

    if (pair->server) {
        move(&pair->ways[end == pair->client ? OUT : IN]);
    }
}

static void on_event(struct bufferevent *end, short what, void *arg)
{
    struct pair *pair = arg;

    if (what & BEV_EVENT_ERROR) {
        pair_free(pair);
    } else if (what & BEV_EVENT_EOF) {
        way_from(pair, end)->has_ended = true;
        pair_may_close(pair);
    }
}

/* ---- new connections ---- */

static void send_at_once(struct bufferevent *end)
{
    int on = 1;

    setsockopt(bufferevent_getfd(end), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static struct bufferevent *new_end(evutil_socket_t fd, struct pair *pair)
{
    struct bufferevent *end = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);

    if (!end) {
        abort();
    }
    bufferevent_setcb(end, on_readable, on_written, on_event, pair);
    return end;
}

/* Returns false if the pair is gone: the connection failed at once. */
static bool reach_server(struct pair *pair)
{
    pair->server = new_end(-1, pair);
    pair->ways[IN].to = pair->ways[OUT].from = pair->server;
    if (bufferevent_socket_connect(pair->server, (struct sockaddr *)&to, to_len)) {
        return false;
    }
    send_at_once(pair->server);
    bufferevent_enable(pair->server, EV_READ | EV_WRITE);
    bufferevent_enable(pair->client, EV_READ | EV_WRITE);
    return true;
}

static struct pair *pair_new(evutil_socket_t fd)
{
    struct pair *pair = calloc(1, sizeof(*pair));
    int i;

    if (!pair) {
        abort();
    }
    pair->client = new_end(fd, pair);
    send_at_once(pair->client);
    pair->ways[IN].from = pair->ways[OUT].to = pair->client;
    for (i = 0; i < 2; i++) {
        pair->ways[i].pair = pair;
        pair->ways[i].which = i;
        pair->ways[i].last = &pair->ways[i].first;
        pair->ways[i].timer = evtimer_new(base, on_due, &pair->ways[i]);
    }
    pair->next = pairs;
    pair->at = &pairs;
    if (pairs) {
        pairs->at = &pair->next;
    }
    pairs = pair;
    return pair;
}

static void on_accepted(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *from,
                        int len, void *arg)
{
    struct pair *pair;

    (void)listener;
    (void)from;
    (void)len;
    (void)arg;
    if (denies) {
        close(fd);
        return;
    }
    pair = pair_new(fd);
    if (!hangs && !reach_server(pair)) {
        pair_free(pair);
    }
}

/* ---- commands ---- */

static void cut_all(void)
{
    while (pairs) {
        pair_cut(pairs);
    }
}

/* Everything that waits goes on its way, at once unless it is delayed. */
static void move_all(void)
{
    struct pair *pair, *next;

    for (pair = pairs; pair; pair = next) {
        struct pair **at = pair->at;

        next = pair->next;
        if (!pair->server && !hangs && !reach_server(pair)) {
            pair_free(pair);
        } else if (pair->server) {
            move(&pair->ways[IN]);
            if (*at == pair) {
                move(&pair->ways[OUT]);
            }
        }
    }
}

static void forget_delays(void)
{
    struct pair *pair;
    struct chunk *chunk;
    int i;

    for (pair = pairs; pair; pair = pair->next) {
        for (i = 0; i < 2; i++) {
            pair->ways[i].last_due_us = 0;
            for (chunk = pair->ways[i].first; chunk; chunk = chunk->next) {
                chunk->due_us = 0;
            }
        }
    }
}

static void flow(void)
{
    stalls[IN] = stalls[OUT] = denies = hangs = false;
    least_ms = most_ms = cut_rate = 0;
    forget_delays();
    move_all();
}

static bool set_to(const char *where)
{
    to_len = sizeof(to);
    return evutil_parse_sockaddr_port(where, (struct sockaddr *)&to, &to_len) == 0;
}

static bool set_delay(const char *numbers)
{
    unsigned least, most;

    if (sscanf(numbers, "%u %u", &least, &most) != 2 || most < least) {
        return false;
    }
    least_ms = least;
    most_ms = most;
    return true;
}

static bool set_stalls(const char *which)
{
    bool both = strcmp(which, "both") == 0, in = strcmp(which, "in") == 0;

    if (!both && !in && strcmp(which, "out") != 0) {
        return false;
    }
    stalls[IN] |= both || in;
    stalls[OUT] |= both || !in;
    return true;
}

static bool obey_word(const char *word)
{
    if (strcmp(word, "flow") == 0) {
        flow();
    } else if (strcmp(word, "cut") == 0) {
        cut_all();
    } else if (strcmp(word, "deny") == 0) {
        denies = true;
    } else if (strcmp(word, "hang") == 0) {
        hangs = true;
    } else {
        return false;
    }
    return true;
}

static bool obey(const char *line)
{
    if (strncmp(line, "delay ", 6) == 0) {
        return set_delay(line + 6);
    }
    if (strncmp(line, "stall ", 6) == 0) {
        return set_stalls(line + 6);
    }
    if (strncmp(line, "cut-rate ", 9) == 0) {
        cut_rate = (uint32_t)strtoul(line + 9, NULL, 10);
        return cut_rate <= 1000;
    }
    return strncmp(line, "to ", 3) == 0 ? set_to(line + 3) : obey_word(line);
}

static void on_command(evutil_socket_t fd, short what, void *arg)
{
    struct evbuffer *input = arg;
    char *line;
    int n = evbuffer_read(input, fd, 4096);

    (void)what;
    while ((line = evbuffer_readln(input, NULL, EVBUFFER_EOL_ANY)) != NULL) {
        puts(obey(line) ? "ok" : "error");
        fflush(stdout);
        free(line);
    }
    if (n <= 0) {
        event_base_loopbreak(base);
    }
}

static struct evconnlistener *listen_at(const char *where)
{
    struct sockaddr_storage at;
    int len = sizeof(at);

    if (evutil_parse_sockaddr_port(where, (struct sockaddr *)&at, &len)) {
        errno = EINVAL;
        return NULL;
    }
    return evconnlistener_new_bind(
        base, on_accepted, NULL, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE | LEV_OPT_CLOSE_ON_EXEC,
        -1, (struct sockaddr *)&at, len);
}

/* Until stdin closes. */
static void obey_all(void)
{
    struct evbuffer *input = evbuffer_new();
    struct event *commands = event_new(base, STDIN_FILENO, EV_READ | EV_PERSIST, on_command, input);

    if (!input || !commands || event_add(commands, NULL)) {
        abort();
    }
    event_base_dispatch(base);
    event_free(commands);
    evbuffer_free(input);
}

int main(int argc, char **argv)
{
    struct evconnlistener *listener;

    if (argc != 5 || strcmp(argv[1], "--listen") != 0 || strcmp(argv[3], "--to") != 0 ||
        !set_to(argv[4])) {
        fprintf(stderr, "usage: chaos-proxy --listen ADDRESS:PORT --to ADDRESS:PORT\n");
        return 64;
    }
    signal(SIGPIPE, SIG_IGN);
    srandom((unsigned)now_us());
    base = event_base_new();
    listener = listen_at(argv[2]);
    if (!listener) {
        fprintf(stderr, "chaos-proxy: cannot listen at %s: %s\n", argv[2], strerror(errno));
        return 1;
    }
    obey_all();
    while (pairs) {
        pair_free(pairs);
    }
    evconnlistener_free(listener);
    event_base_free(base);
    return 0;
}
