/* floor.c - the least that any Redlock client must do, to compare libredlock with.
 *
 * A bare epoll loop with hand-built bytes: no hiredis, no libevent, no validity, no timeouts,
 * no reconnection. K cycles run at once, each in a slot with its own key:
 *
 *     fresh token, SET ... NX PX to all N   ->   a majority said +OK: acquired
 *     compare-and-delete to all N           ->   a majority said :1: released, and again
 *
 * The minority's answers come when the slot has moved on. Every request that was sent stands
 * in its connection's FIFO with the slot and the slot's phase of that moment, so an answer
 * whose phase has passed is late: read, checked and counted, but no vote. As all requests for
 * a key travel on the same connections in the same order, a SET finds its key free on every
 * master; any answer but the expected one ends the program. At the end every answer is waited
 * for, and as many keys must have been deleted as were set. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common.h"

#define TOKEN_BYTES 20
#define TOKEN_HEX 40
#define ENTROPY_SIZE (TOKEN_BYTES * 256)
#define COMMAND_SIZE 256
#define IN_SIZE 65536
/* A master that is more requests behind than this is given up, and the run with it. */
#define MAX_BEHIND (1u << 20)

/* The release script of libredlock, so that the masters have the same work. */
static const char script[] = "local v = redis.call('GET', KEYS[1])\n"
                             "if v == ARGV[1] then\n"
                             "  return redis.call('DEL', KEYS[1])\n"
                             "end\n"
                             "if v then\n"
                             "  return -1\n"
                             "end\n"
                             "return 0\n";

/* A request whose answer is awaited: odd phases acquire, even ones release. */
struct request {
    uint32_t slot;
    uint32_t phase;
};

struct node {
    const char *uri;
    int fd;
    bool blocked; /* the socket was full: EPOLLOUT is armed */
    struct request *ring;
    uint32_t head, tail; /* oldest, and where the next one goes; not wrapped */
    uint32_t mask;
    char *out;
    size_t out_len, out_cap;
    char in[IN_SIZE];
    size_t in_len;
};

/* The bytes of a command, in which only the token changes. */
struct command {
    char bytes[COMMAND_SIZE];
    size_t len;
    size_t token; /* offset */
};

struct slot {
    uint32_t phase;
    unsigned votes;
    uint64_t began_ns;
    struct command set, release;
};

struct floor {
    struct bench_args args;
    struct bench_meter meter;
    struct node nodes[BENCH_MAX_NODES];
    struct slot *slots;
    unsigned majority;
    int epoll;
    uint64_t awaited; /* answers, of all nodes */
    uint64_t granted, deleted, begun;
    char sha[41];
    char hex[256][2];
    unsigned char entropy[ENTROPY_SIZE];
    size_t entropy_used;
};

/* ---- connecting; here it may block ---- */

static int dial(const char *uri, const struct sockaddr *addr, socklen_t len)
{
    int one = 1, fd = socket(addr->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, addr, len)) {
        bench_die("%s: %s", uri, strerror(errno));
    }
    if (addr->sa_family != AF_UNIX) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    }
    return fd;
}

static int dial_unix(const char *uri, const char *path)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof(addr.sun_path)) {
        bench_die("%s: the path is too long", uri);
    }
    strcpy(addr.sun_path, path);
    return dial(uri, (struct sockaddr *)&addr, sizeof(addr));
}

static int dial_tcp(const char *uri, const char *host_port)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    char host[256];
    const char *colon = strrchr(host_port, ':');
    int error, fd;

    if (colon == NULL || (size_t)(colon - host_port) >= sizeof(host)) {
        bench_die("%s: expected redis://host:port", uri);
    }
    snprintf(host, sizeof(host), "%.*s", (int)(colon - host_port), host_port);
    error = getaddrinfo(host, colon + 1, &hints, &found);
    if (error) {
        bench_die("%s: %s", uri, gai_strerror(error));
    }
    fd = dial(uri, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return fd;
}

/* Teach the master the script; ret_sha gets what it calls it. */
static void load_script(const struct node *n, char ret_sha[41])
{
    char bytes[512], answer[64];
    size_t len, have = 0;
    ssize_t got = 1;

    len =
        (size_t)snprintf(bytes, sizeof(bytes), "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$%zu\r\n%s\r\n",
                         strlen(script), script);
    if (send(n->fd, bytes, len, MSG_NOSIGNAL) != (ssize_t)len) {
        bench_die("%s: %s", n->uri, strerror(errno));
    }
    while (have < 47 && got > 0) {
        got = read(n->fd, answer + have, 47 - have);
        have += got > 0 ? (size_t)got : 0;
    }
    if (have < 47 || memcmp(answer, "$40\r\n", 5) != 0) {
        bench_die("%s: did not take the script: %.*s", n->uri, (int)have, answer);
    }
    snprintf(ret_sha, 41, "%.40s", answer + 5);
}

static void node_open(struct floor *f, struct node *n, const char *uri)
{
    struct epoll_event wanted = {.events = EPOLLIN, .data.ptr = n};

    n->uri = uri;
    if (strncmp(uri, "unix://", 7) == 0) {
        n->fd = dial_unix(uri, uri + 7);
    } else if (strncmp(uri, "redis://", 8) == 0) {
        n->fd = dial_tcp(uri, uri + 8);
    } else {
        bench_die("%s: expected unix:///path or redis://host:port", uri);
    }
    load_script(n, f->sha);
    n->mask = 1023;
    n->ring = malloc((n->mask + 1) * sizeof(*n->ring));
    n->out_cap = 65536;
    n->out = malloc(n->out_cap);
    if (n->ring == NULL || n->out == NULL) {
        bench_die("out of memory");
    }
    if (fcntl(n->fd, F_SETFL, O_NONBLOCK) || epoll_ctl(f->epoll, EPOLL_CTL_ADD, n->fd, &wanted)) {
        bench_die("%s: %s", uri, strerror(errno));
    }
}

/* ---- tokens and commands ---- */

static void hex_init(struct floor *f)
{
    static const char digits[] = "0123456789abcdef";
    unsigned i;

    for (i = 0; i < 256; i++) {
        f->hex[i][0] = digits[i >> 4];
        f->hex[i][1] = digits[i & 15];
    }
    f->entropy_used = ENTROPY_SIZE;
}

static void fresh_token(struct floor *f, char *token)
{
    const unsigned char *random;
    unsigned i;

    if (f->entropy_used == ENTROPY_SIZE) {
        if (getrandom(f->entropy, ENTROPY_SIZE, 0) != ENTROPY_SIZE) {
            bench_die("no random bytes: %s", strerror(errno));
        }
        f->entropy_used = 0;
    }
    random = f->entropy + f->entropy_used;
    for (i = 0; i < TOKEN_BYTES; i++) {
        memcpy(token + 2 * i, f->hex[random[i]], 2);
    }
    f->entropy_used += TOKEN_BYTES;
}

/* A command from what comes before and behind its token. */
static void command_init(struct command *c, const char *before, const char *behind)
{
    c->token = strlen(before);
    c->len = (size_t)snprintf(c->bytes, sizeof(c->bytes), "%s%0*d%s", before, TOKEN_HEX, 0, behind);
    if (c->len >= sizeof(c->bytes)) {
        bench_die("a command is longer than %d bytes", COMMAND_SIZE);
    }
}

static void slot_init(struct floor *f, unsigned index)
{
    struct slot *s = &f->slots[index];
    char key[BENCH_KEY_SIZE], ttl[16], before[COMMAND_SIZE], behind[64];

    snprintf(key, sizeof(key), BENCH_KEY_FORMAT, index);
    snprintf(ttl, sizeof(ttl), "%d", BENCH_TTL_MS);
    snprintf(before, sizeof(before), "*6\r\n$3\r\nSET\r\n$%zu\r\n%s\r\n$%d\r\n", strlen(key), key,
             TOKEN_HEX);
    snprintf(behind, sizeof(behind), "\r\n$2\r\nNX\r\n$2\r\nPX\r\n$%zu\r\n%s\r\n", strlen(ttl),
             ttl);
    command_init(&s->set, before, behind);
    snprintf(before, sizeof(before),
             "*5\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n$1\r\n1\r\n$%zu\r\n%s\r\n$%d\r\n", f->sha,
             strlen(key), key, TOKEN_HEX);
    command_init(&s->release, before, "\r\n");
}

/* ---- sending ---- */

static void grow_ring(struct node *n)
{
    uint32_t size = n->mask + 1, i;
    struct request *grown = malloc(2 * (size_t)size * sizeof(*grown));

    if (size >= MAX_BEHIND) {
        bench_die("%s: %u requests behind", n->uri, size);
    }
    if (grown == NULL) {
        bench_die("out of memory");
    }
    for (i = n->head; i != n->tail; i++) {
        grown[i & (2 * size - 1)] = n->ring[i & n->mask];
    }
    free(n->ring);
    n->ring = grown;
    n->mask = 2 * size - 1;
}

static void append(struct node *n, const struct command *c, struct request r)
{
    if (n->tail - n->head > n->mask) {
        grow_ring(n);
    }
    if (n->out_len + c->len > n->out_cap) {
        n->out_cap *= 2;
        n->out = realloc(n->out, n->out_cap);
        if (n->out == NULL) {
            bench_die("out of memory");
        }
    }
    n->ring[n->tail++ & n->mask] = r;
    memcpy(n->out + n->out_len, c->bytes, c->len);
    n->out_len += c->len;
}

static void fan_out(struct floor *f, struct slot *s, const struct command *c)
{
    struct request r = {(uint32_t)(s - f->slots), ++s->phase};
    unsigned i;

    s->votes = 0;
    for (i = 0; i < f->args.n_nodes; i++) {
        append(&f->nodes[i], c, r);
    }
    f->awaited += f->args.n_nodes;
}

static void watch_writable(struct floor *f, struct node *n, bool on)
{
    struct epoll_event wanted = {.events = EPOLLIN | (on ? EPOLLOUT : 0u), .data.ptr = n};

    if (n->blocked != on && epoll_ctl(f->epoll, EPOLL_CTL_MOD, n->fd, &wanted)) {
        bench_die("%s: %s", n->uri, strerror(errno));
    }
    n->blocked = on;
}

static void flush(struct floor *f, struct node *n)
{
    ssize_t sent = send(n->fd, n->out, n->out_len, MSG_NOSIGNAL);

    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        bench_die("%s: %s", n->uri, strerror(errno));
    }
    if (sent > 0) {
        n->out_len -= (size_t)sent;
        memmove(n->out, n->out + sent, n->out_len);
    }
    watch_writable(f, n, n->out_len > 0);
}

/* ---- the cycle ---- */

static void begin_acquire(struct floor *f, struct slot *s, uint64_t now_ns)
{
    fresh_token(f, s->set.bytes + s->set.token);
    memcpy(s->release.bytes + s->release.token, s->set.bytes + s->set.token, TOKEN_HEX);
    s->began_ns = now_ns;
    f->begun++;
    fan_out(f, s, &s->set);
}

static void on_vote(struct floor *f, struct request r)
{
    struct slot *s = &f->slots[r.slot];
    uint64_t now_ns;

    if (r.phase != s->phase || ++s->votes != f->majority) {
        return;
    }
    now_ns = bench_now_ns();
    if (r.phase % 2 == 1) {
        bench_meter_acquired(&f->meter, now_ns - s->began_ns);
        fan_out(f, s, &s->release);
    } else if (bench_meter_cycle(&f->meter, now_ns)) {
        begin_acquire(f, s, now_ns);
    }
}

static _Noreturn void unexpected(const struct node *n, const char *at, size_t len,
                                 const char *wanted)
{
    const char *end = memchr(at, '\r', len);

    bench_die("%s: expected %.*s, got %.*s", n->uri, (int)strcspn(wanted, "\r"), wanted,
              (int)(end ? (size_t)(end - at) : len), at);
}

/* Whether the whole of the wanted answer is there; ends the program if it is another one. */
static bool answered(const struct node *n, const char *at, size_t len, const char *wanted,
                     size_t wanted_len)
{
    size_t compare = len < wanted_len ? len : wanted_len;

    if (memcmp(at, wanted, compare) != 0) {
        unexpected(n, at, len, wanted);
    }
    return compare == wanted_len;
}

/* Returns the length of the first answer in len bytes, 0 when it is not complete yet. */
static size_t take_answer(struct floor *f, struct node *n, const char *at, size_t len)
{
    struct request r = n->ring[n->head & n->mask];
    bool acquire = r.phase % 2 == 1;
    size_t size = acquire ? 5 : 4;

    if (n->head == n->tail) {
        bench_die("%s: an answer that nobody asked for", n->uri);
    }
    if (!answered(n, at, len, acquire ? "+OK\r\n" : ":1\r\n", size)) {
        return 0;
    }
    n->head++;
    f->awaited--;
    f->granted += acquire;
    f->deleted += !acquire;
    on_vote(f, r);
    return size;
}

static void on_readable(struct floor *f, struct node *n)
{
    ssize_t got = read(n->fd, n->in + n->in_len, IN_SIZE - n->in_len);
    size_t at = 0, size;

    if (got <= 0) {
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        bench_die("%s: %s", n->uri, got < 0 ? strerror(errno) : "it closed the connection");
    }
    n->in_len += (size_t)got;
    while (at < n->in_len && (size = take_answer(f, n, n->in + at, n->in_len - at)) > 0) {
        at += size;
    }
    n->in_len -= at;
    memmove(n->in, n->in + at, n->in_len);
}

/* One turn: read what is there, then one send for each node that has something to be sent. */
static void turn(struct floor *f)
{
    struct epoll_event ready[BENCH_MAX_NODES];
    int i, n = epoll_wait(f->epoll, ready, BENCH_MAX_NODES, -1);
    unsigned j;

    for (i = 0; i < n; i++) {
        struct node *node = ready[i].data.ptr;

        if (ready[i].events & EPOLLOUT) {
            flush(f, node);
        }
        if (ready[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
            on_readable(f, node);
        }
    }
    for (j = 0; j < f->args.n_nodes; j++) {
        if (f->nodes[j].out_len > 0 && !f->nodes[j].blocked) {
            flush(f, &f->nodes[j]);
        }
    }
}

/* Begin all cycles, and go on until no answer is missing. */
static void run(struct floor *f)
{
    unsigned i;

    bench_meter_start(&f->meter, &f->args);
    for (i = 0; i < f->args.in_flight; i++) {
        begin_acquire(f, &f->slots[i], bench_now_ns());
    }
    for (i = 0; i < f->args.n_nodes; i++) {
        flush(f, &f->nodes[i]);
    }
    while (f->awaited > 0) {
        turn(f);
    }
    if (f->granted != f->begun * f->args.n_nodes || f->deleted != f->granted) {
        bench_die("%llu keys set, %llu deleted", (unsigned long long)f->granted,
                  (unsigned long long)f->deleted);
    }
}

static void set_up(struct floor *f, int argc, char **argv)
{
    unsigned i;

    bench_args_parse(&f->args, argc, argv);
    f->majority = f->args.n_nodes / 2 + 1;
    f->slots = calloc(f->args.in_flight, sizeof(*f->slots));
    f->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (f->slots == NULL || f->epoll < 0) {
        bench_die("%s", strerror(errno));
    }
    hex_init(f);
    for (i = 0; i < f->args.n_nodes; i++) {
        node_open(f, &f->nodes[i], f->args.nodes[i]);
    }
    for (i = 0; i < f->args.in_flight; i++) {
        slot_init(f, i);
    }
}

static void tear_down(struct floor *f)
{
    unsigned i;

    for (i = 0; i < f->args.n_nodes; i++) {
        close(f->nodes[i].fd);
        free(f->nodes[i].ring);
        free(f->nodes[i].out);
    }
    close(f->epoll);
    free(f->slots);
}

int main(int argc, char **argv)
{
    static struct floor f;

    set_up(&f, argc, argv);
    run(&f);
    bench_meter_print(&f.meter, &f.args, "floor");
    tear_down(&f);
    return 0;
}
