/* wire.c - connecting to the masters, building commands, sending and reading bytes. */
#include "wire.h"

#include <err.h>
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

#define TOKEN_BYTES (WIRE_TOKEN_HEX / 2)
#define ENTROPY_SIZE (TOKEN_BYTES * 256)
/* A master that is more requests behind than this is given up, and the run with it. */
#define MAX_BEHIND (1u << 20)

/* What every release has to do: compare and delete. That of libredlock also looks who waits. */
static const char script[] = "local v = redis.call('GET', KEYS[1])\n"
                             "if v == ARGV[1] then\n"
                             "  return redis.call('DEL', KEYS[1])\n"
                             "end\n"
                             "if v then\n"
                             "  return -1\n"
                             "end\n"
                             "return 0\n";

/* ---- connecting; here it may block ---- */

static int dial(const char *uri, const struct sockaddr *addr, socklen_t len)
{
    int one = 1, fd = socket(addr->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, addr, len)) {
        errx(1, "%s: %s", uri, strerror(errno));
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
        errx(1, "%s: the path is too long", uri);
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
        errx(1, "%s: expected redis://host:port", uri);
    }
    snprintf(host, sizeof(host), "%.*s", (int)(colon - host_port), host_port);
    error = getaddrinfo(host, colon + 1, &hints, &found);
    if (error) {
        errx(1, "%s: %s", uri, gai_strerror(error));
    }
    fd = dial(uri, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return fd;
}

/* Teach the master the script; ret_sha gets what it calls it. */
static void load_script(const struct wire_node *n, char ret_sha[WIRE_SHA_SIZE])
{
    char bytes[512], answer[64];
    size_t len, have = 0;
    ssize_t got = 1;

    len =
        (size_t)snprintf(bytes, sizeof(bytes), "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$%zu\r\n%s\r\n",
                         strlen(script), script);
    if (send(n->fd, bytes, len, MSG_NOSIGNAL) != (ssize_t)len) {
        errx(1, "%s: %s", n->uri, strerror(errno));
    }
    while (have < 47 && got > 0) {
        got = read(n->fd, answer + have, 47 - have);
        have += got > 0 ? (size_t)got : 0;
    }
    if (have < 47 || memcmp(answer, "$40\r\n", 5) != 0) {
        errx(1, "%s: did not take the script: %.*s", n->uri, (int)have, answer);
    }
    snprintf(ret_sha, 41, "%.40s", answer + 5);
}

static void set_up_buffers(struct wire_node *n)
{
    n->mask = 1023;
    n->ring = malloc((n->mask + 1) * sizeof(*n->ring));
    n->out_cap = 65536;
    n->out = malloc(n->out_cap);
    if (n->ring == NULL || n->out == NULL) {
        errx(1, "out of memory");
    }
}

void wire_open(struct wire_node *n, const char *uri, int epoll, char ret_sha[WIRE_SHA_SIZE])
{
    struct epoll_event wanted = {.events = EPOLLIN, .data.ptr = n};

    n->uri = uri;
    n->epoll = epoll;
    if (strncmp(uri, "unix://", 7) == 0) {
        n->fd = dial_unix(uri, uri + 7);
    } else if (strncmp(uri, "redis://", 8) == 0) {
        n->fd = dial_tcp(uri, uri + 8);
    } else {
        errx(1, "%s: expected unix:///path or redis://host:port", uri);
    }
    load_script(n, ret_sha);
    set_up_buffers(n);
    if (fcntl(n->fd, F_SETFL, O_NONBLOCK) || epoll_ctl(epoll, EPOLL_CTL_ADD, n->fd, &wanted)) {
        errx(1, "%s: %s", uri, strerror(errno));
    }
}

void wire_close(struct wire_node *n)
{
    close(n->fd);
    free(n->ring);
    free(n->out);
}

/* ---- tokens and commands ---- */

/* TOKEN_BYTES of random; asks the kernel for many at once. */
static const unsigned char *fresh_entropy(void)
{
    static unsigned char entropy[ENTROPY_SIZE];
    static size_t used = ENTROPY_SIZE;

    if (used == ENTROPY_SIZE) {
        if (getrandom(entropy, ENTROPY_SIZE, 0) != ENTROPY_SIZE) {
            errx(1, "no random bytes: %s", strerror(errno));
        }
        used = 0;
    }
    used += TOKEN_BYTES;
    return entropy + used - TOKEN_BYTES;
}

void wire_fresh_token(struct wire_command *set, struct wire_command *release)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *random = fresh_entropy();
    char *token = set->bytes + set->token;
    unsigned i;

    for (i = 0; i < TOKEN_BYTES; i++) {
        token[2 * i] = digits[random[i] >> 4];
        token[2 * i + 1] = digits[random[i] & 15];
    }
    memcpy(release->bytes + release->token, token, WIRE_TOKEN_HEX);
}

/* A command from what comes before and behind its token. */
static void command_init(struct wire_command *c, const char *before, const char *behind)
{
    c->token = strlen(before);
    c->len =
        (size_t)snprintf(c->bytes, sizeof(c->bytes), "%s%0*d%s", before, WIRE_TOKEN_HEX, 0, behind);
    if (c->len >= sizeof(c->bytes)) {
        errx(1, "a command is longer than %d bytes", WIRE_COMMAND_SIZE);
    }
}

void wire_set_init(struct wire_command *c, const char *key, unsigned ttl_ms)
{
    char ttl[16], before[WIRE_COMMAND_SIZE], behind[64];

    snprintf(ttl, sizeof(ttl), "%u", ttl_ms);
    snprintf(before, sizeof(before), "*6\r\n$3\r\nSET\r\n$%zu\r\n%s\r\n$%d\r\n", strlen(key), key,
             WIRE_TOKEN_HEX);
    snprintf(behind, sizeof(behind), "\r\n$2\r\nNX\r\n$2\r\nPX\r\n$%zu\r\n%s\r\n", strlen(ttl),
             ttl);
    command_init(c, before, behind);
}

void wire_release_init(struct wire_command *c, const char *key, const char *sha)
{
    char before[WIRE_COMMAND_SIZE];

    snprintf(before, sizeof(before),
             "*5\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n$1\r\n1\r\n$%zu\r\n%s\r\n$%d\r\n", sha,
             strlen(key), key, WIRE_TOKEN_HEX);
    command_init(c, before, "\r\n");
}

/* ---- sending ---- */

static void grow_ring(struct wire_node *n)
{
    uint32_t size = n->mask + 1, i;
    struct wire_request *grown = malloc(2 * (size_t)size * sizeof(*grown));

    if (size >= MAX_BEHIND) {
        errx(1, "%s: %u requests behind", n->uri, size);
    }
    if (grown == NULL) {
        errx(1, "out of memory");
    }
    for (i = n->head; i != n->tail; i++) {
        grown[i & (2 * size - 1)] = n->ring[i & n->mask];
    }
    free(n->ring);
    n->ring = grown;
    n->mask = 2 * size - 1;
}

uint32_t wire_behind(const struct wire_node *n)
{
    return n->tail - n->head;
}

void wire_append(struct wire_node *n, const struct wire_command *c, struct wire_request r)
{
    if (n->tail - n->head > n->mask) {
        grow_ring(n);
    }
    if (n->out_len + c->len > n->out_cap) {
        n->out_cap *= 2;
        n->out = realloc(n->out, n->out_cap);
        if (n->out == NULL) {
            errx(1, "out of memory");
        }
    }
    n->ring[n->tail++ & n->mask] = r;
    memcpy(n->out + n->out_len, c->bytes, c->len);
    n->out_len += c->len;
}

static void watch_writable(struct wire_node *n, bool on)
{
    struct epoll_event wanted = {.events = EPOLLIN | (on ? EPOLLOUT : 0u), .data.ptr = n};

    if (n->blocked != on && epoll_ctl(n->epoll, EPOLL_CTL_MOD, n->fd, &wanted)) {
        errx(1, "%s: %s", n->uri, strerror(errno));
    }
    n->blocked = on;
}

void wire_flush(struct wire_node *n)
{
    ssize_t sent = send(n->fd, n->out, n->out_len, MSG_NOSIGNAL);

    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        errx(1, "%s: %s", n->uri, strerror(errno));
    }
    if (sent > 0) {
        n->out_len -= (size_t)sent;
        memmove(n->out, n->out + sent, n->out_len);
    }
    watch_writable(n, n->out_len > 0);
}

/* ---- reading ---- */

void wire_fill(struct wire_node *n)
{
    ssize_t got = read(n->fd, n->in + n->in_len, WIRE_IN_SIZE - n->in_len);

    if (got > 0) {
        n->in_len += (size_t)got;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        errx(1, "%s: %s", n->uri, got < 0 ? strerror(errno) : "it closed the connection");
    }
}

struct wire_request wire_oldest(const struct wire_node *n)
{
    if (n->head == n->tail) {
        errx(1, "%s: an answer that nobody asked for", n->uri);
    }
    return n->ring[n->head & n->mask];
}

void wire_answered(struct wire_node *n)
{
    n->head++;
}

void wire_drop(struct wire_node *n, size_t used)
{
    n->in_len -= used;
    memmove(n->in, n->in + used, n->in_len);
}
