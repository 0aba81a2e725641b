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
/* The longest command that is sent before anything is measured. */
#define ASK_SIZE 4096
/* A master that is more requests behind than this is given up, and the run with it. */
#define MAX_BEHIND (1u << 20)

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

void wire_open(struct wire_node *n, const char *uri)
{
    n->uri = uri;
    if (strncmp(uri, "unix://", 7) == 0) {
        n->fd = dial_unix(uri, uri + 7);
    } else if (strncmp(uri, "redis://", 8) == 0) {
        n->fd = dial_tcp(uri, uri + 8);
    } else {
        errx(1, "%s: expected unix:///path or redis://host:port", uri);
    }
}

static void send_words(const struct wire_node *n, const char *const *words)
{
    char bytes[ASK_SIZE];
    size_t len, i, count = 0;

    while (words[count]) {
        count++;
    }
    len = (size_t)snprintf(bytes, sizeof(bytes), "*%zu\r\n", count);
    for (i = 0; i < count && len < sizeof(bytes); i++) {
        len += (size_t)snprintf(bytes + len, sizeof(bytes) - len, "$%zu\r\n%s\r\n",
                                strlen(words[i]), words[i]);
    }
    if (len >= sizeof(bytes)) {
        errx(1, "%s: %s is longer than %d bytes", n->uri, words[0], ASK_SIZE);
    }
    if (send(n->fd, bytes, len, MSG_NOSIGNAL) != (ssize_t)len) {
        errx(1, "%s: %s", n->uri, strerror(errno));
    }
}

static char read_byte(const struct wire_node *n)
{
    char byte;
    ssize_t got = read(n->fd, &byte, 1);

    if (got != 1) {
        errx(1, "%s: %s", n->uri, got < 0 ? strerror(errno) : "it closed the connection");
    }
    return byte;
}

/* Adds a byte if there is still room for it and for the NUL. */
static void put_byte(char byte, char *text, size_t *len, size_t size)
{
    if (*len + 1 < size) {
        text[(*len)++] = byte;
    }
}

/* Reads what comes before the line end. */
static void read_line(const struct wire_node *n, char *ret_text, size_t size)
{
    size_t len = 0;
    char byte;

    while ((byte = read_byte(n)) != '\r') {
        put_byte(byte, ret_text, &len, size);
    }
    (void)read_byte(n);
    ret_text[len] = '\0';
}

/* Reads `count` bytes and the line end behind them. */
static void read_bytes(const struct wire_node *n, unsigned long count, char *ret_text, size_t size)
{
    size_t len = 0;

    for (; count > 0; count--) {
        put_byte(read_byte(n), ret_text, &len, size);
    }
    (void)read_byte(n);
    (void)read_byte(n);
    ret_text[len] = '\0';
}

void wire_ask(const struct wire_node *n, const char *const *words, char *ret_answer, size_t size)
{
    char length[16];

    send_words(n, words);
    if (read_byte(n) != '$') {
        read_line(n, ret_answer, size);
        return;
    }
    read_line(n, length, sizeof(length));
    ret_answer[0] = '\0';
    if (length[0] != '-') {
        read_bytes(n, strtoul(length, NULL, 10), ret_answer, size);
    }
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

void wire_join(struct wire_node *n, int epoll)
{
    struct epoll_event wanted = {.events = EPOLLIN, .data.ptr = n};

    n->epoll = epoll;
    set_up_buffers(n);
    if (fcntl(n->fd, F_SETFL, O_NONBLOCK) || epoll_ctl(epoll, EPOLL_CTL_ADD, n->fd, &wanted)) {
        errx(1, "%s: %s", n->uri, strerror(errno));
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

void wire_command_init(struct wire_command *c, const char *bytes, size_t len, const char *answer)
{
    const char *token;

    if (len > sizeof(c->bytes)) {
        errx(1, "a command is longer than %d bytes", WIRE_COMMAND_SIZE);
    }
    token = memmem(bytes, len, WIRE_NO_TOKEN, WIRE_TOKEN_HEX);
    if (token == NULL) {
        errx(1, "a command without a token");
    }
    memcpy(c->bytes, bytes, len);
    c->len = len;
    c->token = (size_t)(token - bytes);
    c->answer = answer;
    c->answer_len = strlen(answer);
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
