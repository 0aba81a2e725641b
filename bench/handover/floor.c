/* floor.c - contenders that poll, on raw sockets: as fast as is sane, and nothing else.
 *
 *     ASKING: SET ... NX to all ----- a majority of +OK -----> HOLDING
 *        ^  |                                                     | the time is over
 *        |  | no majority is possible: release                    v
 *        |  v                                                 RELEASING: to all
 *     PAUSED, for a random time <--- (only if it yields) -- a majority has answered: asks again
 *
 * A try that neither wins nor loses (the votes are split, and a master does not answer) is given
 * up after a while. A master that still has to answer many requests is not asked. Each connection
 * has a queue of the requests that await their answers, each with the phase that its contender was
 * in: an answer counts as a vote only while the contender is still in that phase. */
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../commands.h"
#include "../wire.h"
#include "contend.h"

#define NEVER UINT64_MAX
#define EVENTS 256
/* A master that has not answered so many requests gets no SET; a release follows each SET. */
#define MAX_BEHIND 16
/* A try whose votes are split is given up after this. */
#define PATIENCE_NS 5000000

enum state {
    IDLE,
    ASKING,
    HOLDING,
    RELEASING,
    PAUSED
};

struct contender {
    enum state state;
    uint32_t phase; /* odd: acquiring, even: releasing */
    unsigned yes, no, asked;
    uint64_t may_hold; /* masters that may have our key, as bits */
    struct wire_node *nodes;
    struct wire_command set, release;
    struct contend_record record;
};

struct floor {
    struct contend_args args;
    struct contender *list;
    uint64_t *due; /* when each contender has something to do; together, as all are looked at */
    uint64_t armed;
    uint64_t random;
    unsigned majority;
    unsigned busy;
    bool resting, ended;
    int epoll, timer;
};

/* ---- sending ---- */

/* The masters that have few requests to answer, as bits. */
static uint64_t usable(const struct floor *f, const struct contender *c)
{
    uint64_t found = 0;
    unsigned i;

    for (i = 0; i < f->args.n_nodes; i++) {
        found |= (uint64_t)(wire_behind(&c->nodes[i]) < MAX_BEHIND) << i;
    }
    return found;
}

/* Append a command for the masters in `to`. */
static void fan_out(struct floor *f, struct contender *c, const struct wire_command *command,
                    uint64_t to)
{
    struct wire_request r = {(uint32_t)(c - f->list), c->phase};
    unsigned i;

    for (i = 0; i < f->args.n_nodes; i++) {
        if (to >> i & 1) {
            wire_append(&c->nodes[i], command, r);
        }
    }
}

static void flush(struct floor *f, struct contender *c)
{
    unsigned i;

    for (i = 0; i < f->args.n_nodes; i++) {
        if (c->nodes[i].out_len > 0 && !c->nodes[i].blocked) {
            wire_flush(&c->nodes[i]);
        }
    }
}

/* ---- what a contender does ---- */

static void enter(struct floor *f, struct contender *c, enum state state, uint64_t due_ns)
{
    c->state = state;
    f->due[c - f->list] = due_ns;
}

/* Even chances from half of the mean to one and a half of it. */
static uint64_t jittered(struct floor *f, uint64_t mean)
{
    f->random ^= f->random << 13;
    f->random ^= f->random >> 7;
    f->random ^= f->random << 17;
    return mean / 2 + f->random % (mean + 1);
}

static void try_once(struct floor *f, struct contender *c, uint64_t now_ns)
{
    wire_fresh_token(&c->set, &c->release);
    c->phase = (c->phase + 1) | 1;
    c->record.tries++;
    c->yes = c->no = 0;
    c->may_hold = usable(f, c);
    fan_out(f, c, &c->set, c->may_hold);
    c->asked = (unsigned)__builtin_popcountll(c->may_hold);
    enter(f, c, ASKING, now_ns + PATIENCE_NS);
}

static void ask(struct floor *f, struct contender *c, uint64_t now_ns)
{
    c->record.tries = 0;
    c->record.asked_ns = now_ns;
    try_once(f, c, now_ns);
}

static void lose(struct floor *f, struct contender *c, uint64_t now_ns)
{
    c->phase++;
    fan_out(f, c, &c->release, c->may_hold);
    enter(f, c, PAUSED, now_ns + jittered(f, f->args.pause_ns));
}

static void win(struct floor *f, struct contender *c, uint64_t now_ns)
{
    c->record.held_ns = now_ns;
    enter(f, c, HOLDING, now_ns + f->args.hold_ns);
}

static void release(struct floor *f, struct contender *c, uint64_t now_ns)
{
    c->record.released_ns = now_ns;
    c->phase++;
    c->yes = 0;
    fan_out(f, c, &c->release, c->may_hold);
    enter(f, c, RELEASING, NEVER);
}

static void rest(struct floor *f, struct contender *c)
{
    enter(f, c, IDLE, NEVER);
    if (--f->busy == 0) {
        contend_say("rested");
    }
}

static void released(struct floor *f, struct contender *c, uint64_t now_ns)
{
    contend_record(&c->record);
    if (f->resting) {
        rest(f, c);
    } else if (f->args.yields) {
        c->record.tries = 0;
        c->record.asked_ns = now_ns;
        enter(f, c, PAUSED, now_ns + jittered(f, f->args.pause_ns));
    } else {
        ask(f, c, now_ns);
    }
}

/* Its time has come. */
static void wake(struct floor *f, struct contender *c, uint64_t now_ns)
{
    if (c->state == PAUSED) {
        try_once(f, c, now_ns);
    } else if (c->state == ASKING) {
        lose(f, c, now_ns);
    } else if (c->state == HOLDING) {
        release(f, c, now_ns);
    }
}

static void on_vote(struct floor *f, struct contender *c, unsigned node, bool yes)
{
    if (yes) {
        c->yes++;
    } else {
        c->no++;
        c->may_hold &= ~((uint64_t)1 << node);
    }
    if (c->yes == f->majority) {
        win(f, c, bench_now_ns());
    } else if (c->asked - c->no < f->majority) {
        lose(f, c, bench_now_ns());
    }
}

static void on_answer(struct floor *f, struct contender *c, unsigned node, uint32_t phase, bool yes)
{
    if (phase != c->phase) {
        return;
    }
    if (c->state == ASKING) {
        on_vote(f, c, node, yes);
    } else if (c->state == RELEASING && ++c->yes == f->majority) {
        released(f, c, bench_now_ns());
    }
}

/* ---- the loop ---- */

static void on_readable(struct floor *f, struct wire_node *n)
{
    struct contender *c = n->owner;
    size_t at = 0;
    char *end;

    wire_fill(n);
    while ((end = memchr(n->in + at, '\n', n->in_len - at)) != NULL) {
        struct wire_request r = wire_oldest(n);

        if (n->in[at] == '-') {
            errx(1, "%s: %.*s", n->uri, (int)(end - n->in - at), n->in + at);
        }
        wire_answered(n);
        on_answer(f, c, (unsigned)(n - c->nodes), r.phase, n->in[at] == '+');
        at = (size_t)(end - n->in) + 1;
    }
    wire_drop(n, at);
    flush(f, c);
}

static void wake_who_is_due(struct floor *f)
{
    uint64_t now_ns = bench_now_ns();
    unsigned i;

    for (i = 0; i < f->args.contenders; i++) {
        if (f->due[i] <= now_ns) {
            wake(f, &f->list[i], now_ns);
            flush(f, &f->list[i]);
        }
    }
}

static void set_timer(struct floor *f)
{
    uint64_t earliest = NEVER;
    unsigned i;

    for (i = 0; i < f->args.contenders; i++) {
        earliest = f->due[i] < earliest ? f->due[i] : earliest;
    }
    if (earliest != f->armed) {
        f->armed = earliest;
        contend_timer_set(f->timer, earliest);
    }
}

static void on_input(struct floor *f)
{
    char letter = contend_letter();
    unsigned i;

    if (letter == 'g') {
        f->busy = f->args.contenders;
        for (i = 0; i < f->args.contenders; i++) {
            ask(f, &f->list[i], bench_now_ns());
            flush(f, &f->list[i]);
        }
    } else if (letter == 'r') {
        f->resting = true;
    } else {
        f->ended = true;
    }
}

static void turn(struct floor *f)
{
    struct epoll_event ready[EVENTS];
    int i, n;

    set_timer(f);
    n = epoll_wait(f->epoll, ready, EVENTS, -1);
    for (i = 0; i < n; i++) {
        struct wire_node *node = ready[i].data.ptr;

        if (ready[i].data.ptr == f) {
            on_input(f);
        } else if (ready[i].data.ptr == &f->timer) {
            wake_who_is_due(f);
        } else if (ready[i].events & EPOLLOUT) {
            wire_flush(node);
        } else {
            on_readable(f, node);
        }
    }
}

/* ---- beginning and end ---- */

static void join(struct floor *f, int fd, void *tag)
{
    struct epoll_event wanted = {.events = EPOLLIN, .data.ptr = tag};

    if (epoll_ctl(f->epoll, EPOLL_CTL_ADD, fd, &wanted)) {
        errx(1, "epoll_ctl: %s", strerror(errno));
    }
}

static void contender_init(struct floor *f, unsigned index)
{
    struct contender *c = &f->list[index];
    struct commands commands;
    unsigned i;

    f->due[index] = NEVER;
    c->record.contender = f->args.first + index;
    c->nodes = calloc(f->args.n_nodes, sizeof(*c->nodes));
    if (c->nodes == NULL) {
        errx(1, "out of memory");
    }
    for (i = 0; i < f->args.n_nodes; i++) {
        wire_open(&c->nodes[i], f->args.nodes[i]);
        commands_learn(&commands, &c->nodes[i]);
        wire_join(&c->nodes[i], f->epoll);
        c->nodes[i].owner = c;
    }
    commands_set_init(&commands, &c->set, f->args.key, f->args.ttl_ms);
    commands_release_init(&commands, &c->release, f->args.key);
}

static void set_up(struct floor *f, int argc, char **argv)
{
    unsigned i;

    contend_args_parse(&f->args, argc, argv);
    f->majority = f->args.n_nodes / 2 + 1;
    f->random = bench_now_ns() ^ (uint64_t)getpid() << 32;
    f->armed = NEVER;
    f->list = calloc(f->args.contenders, sizeof(*f->list));
    f->due = calloc(f->args.contenders, sizeof(*f->due));
    f->epoll = epoll_create1(EPOLL_CLOEXEC);
    f->timer = contend_timer();
    if (f->list == NULL || f->due == NULL || f->epoll < 0) {
        errx(1, "%s", strerror(errno));
    }
    join(f, STDIN_FILENO, f);
    join(f, f->timer, &f->timer);
    for (i = 0; i < f->args.contenders; i++) {
        contender_init(f, i);
    }
}

static void tear_down(struct floor *f)
{
    unsigned i, j;

    for (i = 0; i < f->args.contenders; i++) {
        for (j = 0; j < f->args.n_nodes; j++) {
            wire_close(&f->list[i].nodes[j]);
        }
        free(f->list[i].nodes);
    }
    close(f->epoll);
    close(f->timer);
    free(f->list);
    free(f->due);
}

int main(int argc, char **argv)
{
    static struct floor f;

    set_up(&f, argc, argv);
    contend_say("ready");
    while (!f.ended) {
        turn(&f);
    }
    contend_print(f.busy, 0);
    tear_down(&f);
    return 0;
}
