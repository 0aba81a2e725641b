/* distance.c - a master at some distance: `bench-distance PATH MASTER MS`.
 *
 * Listens on the unix socket PATH, and passes on what comes to the unix socket MASTER at once, and
 * each answer MS milliseconds after it has come. With 0 it passes all on at once: a master that is
 * well is measured through it too, so its own cost is on both sides. Writes block: a master never
 * waits for its clients, and our clients never wait for a master. It runs until it is killed. */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../common.h"

#define MOST_PAIRS 64
#define CHUNK 65536

/* What was read at once, to be written when it is due. */
struct answer {
    struct answer *next;
    uint64_t due_ns;
    size_t len;
    char bytes[];
};

struct pair {
    int client, master;
    struct answer *first, **last;
};

struct distance {
    int listener;
    const char *master;
    uint64_t delay_ns;
    struct pair pairs[MOST_PAIRS];
    unsigned n;
};

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof(a.sun_path)) {
        errx(1, "%s: too long", path);
    }
    memcpy(a.sun_path, path, strlen(path));
    return a;
}

static int new_socket(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        errx(1, "socket: %s", strerror(errno));
    }
    return fd;
}

static void listen_on(struct distance *d, const char *path)
{
    struct sockaddr_un a = address_of(path);

    d->listener = new_socket();
    if (bind(d->listener, (struct sockaddr *)&a, sizeof(a)) || listen(d->listener, 16)) {
        errx(1, "%s: %s", path, strerror(errno));
    }
}

static void accept_client(struct distance *d)
{
    struct sockaddr_un a = address_of(d->master);
    struct pair *p = &d->pairs[d->n];

    p->client = accept(d->listener, NULL, NULL);
    p->master = new_socket();
    p->first = NULL;
    if (d->n == MOST_PAIRS || p->client < 0 ||
        connect(p->master, (struct sockaddr *)&a, sizeof(a))) {
        errx(1, "a client could not be connected to %s", d->master);
    }
    d->n++;
}

/* Returns false when the other end is gone. */
static bool write_all(int fd, const char *at, size_t len)
{
    ssize_t n;

    for (; len > 0; at += n, len -= (size_t)n) {
        n = send(fd, at, len, MSG_NOSIGNAL);
        if (n <= 0) {
            return false;
        }
    }
    return true;
}

static bool pass_question(struct pair *p)
{
    static char bytes[CHUNK];
    ssize_t n = read(p->client, bytes, sizeof(bytes));

    return n > 0 && write_all(p->master, bytes, (size_t)n);
}

static bool take_answer(struct pair *p, uint64_t due_ns)
{
    struct answer *a = malloc(sizeof(*a) + CHUNK);
    ssize_t n = a ? read(p->master, a->bytes, CHUNK) : -1;

    if (n <= 0) {
        free(a);
        return false;
    }
    a->next = NULL;
    a->due_ns = due_ns;
    a->len = (size_t)n;
    *(p->first ? p->last : &p->first) = a;
    p->last = &a->next;
    return true;
}

static bool pass_answers(struct pair *p, uint64_t now_ns)
{
    struct answer *a;
    bool passed = true;

    while (passed && (a = p->first) != NULL && a->due_ns <= now_ns) {
        passed = write_all(p->client, a->bytes, a->len);
        p->first = a->next;
        free(a);
    }
    return passed;
}

static void drop(struct distance *d, unsigned i)
{
    struct pair *p = &d->pairs[i];
    struct answer *a;

    while ((a = p->first) != NULL) {
        p->first = a->next;
        free(a);
    }
    close(p->client);
    close(p->master);
    *p = d->pairs[--d->n];
}

/* Milliseconds until the first answer is due, rounded up; -1: none is due. */
static int pause_of(const struct distance *d)
{
    uint64_t due_ns = UINT64_MAX, now_ns = bench_now_ns();
    unsigned i;

    for (i = 0; i < d->n; i++) {
        if (d->pairs[i].first != NULL && d->pairs[i].first->due_ns < due_ns) {
            due_ns = d->pairs[i].first->due_ns;
        }
    }
    if (due_ns == UINT64_MAX) {
        return -1;
    }
    return due_ns > now_ns ? (int)((due_ns - now_ns + 999999) / 1000000) : 0;
}

static bool serve(struct distance *d, struct pair *p, const struct pollfd *events)
{
    uint64_t now_ns = bench_now_ns();

    return (events[0].revents == 0 || pass_question(p)) &&
           (events[1].revents == 0 || take_answer(p, now_ns + d->delay_ns)) &&
           pass_answers(p, now_ns);
}

/* The pairs are served backwards: one that is dropped is replaced by the last, which was served. */
static void turn(struct distance *d)
{
    struct pollfd events[1 + 2 * MOST_PAIRS];
    unsigned i;

    events[0] = (struct pollfd){.fd = d->listener, .events = POLLIN};
    for (i = 0; i < d->n; i++) {
        events[1 + 2 * i] = (struct pollfd){.fd = d->pairs[i].client, .events = POLLIN};
        events[2 + 2 * i] = (struct pollfd){.fd = d->pairs[i].master, .events = POLLIN};
    }
    if (poll(events, 1 + 2 * d->n, pause_of(d)) < 0 && errno != EINTR) {
        errx(1, "poll: %s", strerror(errno));
    }
    for (i = d->n; i-- > 0;) {
        if (!serve(d, &d->pairs[i], &events[1 + 2 * i])) {
            drop(d, i);
        }
    }
    if (events[0].revents != 0) {
        accept_client(d);
    }
}

int main(int argc, char **argv)
{
    static struct distance d;

    if (argc != 4) {
        errx(1, "usage: bench-distance PATH MASTER MS");
    }
    d.master = argv[2];
    d.delay_ns = strtoull(argv[3], NULL, 10) * 1000000;
    listen_on(&d, argv[1]);
    for (;;) {
        turn(&d);
    }
}
