/* floor.c - the least that any Redlock client must do, to compare libredlock with.
 *
 * A bare epoll loop with hand-built bytes: no hiredis, no libevent, no validity, no timeouts,
 * no reconnection. K cycles run at once, each in a slot with its own key:
 *
 *     fresh token, SET ... NX PX to all N   ->   a majority granted it: acquired
 *     compare-and-delete to all N           ->   a majority deleted it: released, and again
 *
 * Two programs are built from it. They differ in the commands (commands.h): bench-floor sends the
 * least that any client must send, and bench-floor-same sends what the library sends.
 *
 * The minority's answers come when the slot has moved on. Every request that was sent stands
 * in its connection's FIFO with the slot and the slot's phase of that moment, so an answer
 * whose phase has passed is late: read, checked and counted, but no vote. As all requests for
 * a key travel on the same connections in the same order, a SET finds its key free on every
 * master; any answer but the expected one ends the program. At the end every answer is waited
 * for, and as many keys must have been deleted as were set. */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "commands.h"
#include "common.h"
#include "wire.h"

struct slot {
    uint32_t phase; /* odd: acquiring, even: releasing */
    unsigned votes;
    uint64_t began_ns;
    struct wire_command set, release;
};

struct floor {
    struct bench_args args;
    struct bench_meter meter;
    struct wire_node nodes[BENCH_MAX_NODES];
    struct slot *slots;
    unsigned majority;
    int epoll;
    uint64_t awaited; /* answers, of all nodes */
    uint64_t granted, deleted, begun;
    struct commands commands;
};

static void slot_init(struct floor *f, unsigned index)
{
    struct slot *s = &f->slots[index];
    char key[BENCH_KEY_SIZE];

    snprintf(key, sizeof(key), BENCH_KEY_FORMAT, index);
    commands_set_init(&f->commands, &s->set, key, BENCH_TTL_MS);
    commands_release_init(&f->commands, &s->release, key);
}

static void fan_out(struct floor *f, struct slot *s, const struct wire_command *c)
{
    struct wire_request r = {(uint32_t)(s - f->slots), ++s->phase};
    unsigned i;

    s->votes = 0;
    for (i = 0; i < f->args.n_nodes; i++) {
        wire_append(&f->nodes[i], c, r);
    }
    f->awaited += f->args.n_nodes;
}

static void begin_acquire(struct floor *f, struct slot *s, uint64_t now_ns)
{
    wire_fresh_token(&s->set, &s->release);
    s->began_ns = now_ns;
    f->begun++;
    fan_out(f, s, &s->set);
}

static void on_vote(struct floor *f, struct wire_request r)
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

static _Noreturn void unexpected(const struct wire_node *n, const char *at, size_t len,
                                 const char *wanted)
{
    const char *end = memchr(at, '\r', len);

    errx(1, "%s: expected %.*s, got %.*s", n->uri, (int)strcspn(wanted, "\r"), wanted,
         (int)(end ? (size_t)(end - at) : len), at);
}

/* Whether the whole of the wanted answer is there; ends the program if it is another one. */
static bool answered(const struct wire_node *n, const char *at, size_t len,
                     const struct wire_command *c)
{
    size_t compare = len < c->answer_len ? len : c->answer_len;

    if (memcmp(at, c->answer, compare) != 0) {
        unexpected(n, at, len, c->answer);
    }
    return compare == c->answer_len;
}

/* Returns the length of the first answer in len bytes, 0 when it is not complete yet. */
static size_t take_answer(struct floor *f, struct wire_node *n, const char *at, size_t len)
{
    struct wire_request r = wire_oldest(n);
    bool acquire = r.phase % 2 == 1;
    const struct slot *s = &f->slots[r.slot];
    const struct wire_command *c = acquire ? &s->set : &s->release;

    if (!answered(n, at, len, c)) {
        return 0;
    }
    wire_answered(n);
    f->awaited--;
    f->granted += acquire;
    f->deleted += !acquire;
    on_vote(f, r);
    return c->answer_len;
}

static void on_readable(struct floor *f, struct wire_node *n)
{
    size_t at = 0, size;

    wire_fill(n);
    while (at < n->in_len && (size = take_answer(f, n, n->in + at, n->in_len - at)) > 0) {
        at += size;
    }
    wire_drop(n, at);
}

/* One turn: read what is there, then one send for each node that has something to be sent. */
static void turn(struct floor *f)
{
    struct epoll_event ready[BENCH_MAX_NODES];
    int i, n = epoll_wait(f->epoll, ready, BENCH_MAX_NODES, -1);
    unsigned j;

    for (i = 0; i < n; i++) {
        struct wire_node *node = ready[i].data.ptr;

        if (ready[i].events & EPOLLOUT) {
            wire_flush(node);
        }
        if (ready[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
            on_readable(f, node);
        }
    }
    for (j = 0; j < f->args.n_nodes; j++) {
        if (f->nodes[j].out_len > 0 && !f->nodes[j].blocked) {
            wire_flush(&f->nodes[j]);
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
        wire_flush(&f->nodes[i]);
    }
    while (f->awaited > 0) {
        turn(f);
    }
    if (f->granted != f->begun * f->args.n_nodes || f->deleted != f->granted) {
        errx(1, "%llu keys set, %llu deleted", (unsigned long long)f->granted,
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
        errx(1, "%s", strerror(errno));
    }
    for (i = 0; i < f->args.n_nodes; i++) {
        wire_open(&f->nodes[i], f->args.nodes[i]);
        commands_learn(&f->commands, &f->nodes[i]);
        wire_join(&f->nodes[i], f->epoll);
    }
    for (i = 0; i < f->args.in_flight; i++) {
        slot_init(f, i);
    }
}

static void tear_down(struct floor *f)
{
    unsigned i;

    for (i = 0; i < f->args.n_nodes; i++) {
        wire_close(&f->nodes[i]);
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
