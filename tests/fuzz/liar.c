/* liar.c - see liar.h. */
#include "liar.h"

#include <event2/buffer.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "testing/resp.h"
#include "virtual.h"

void liar_begin(struct liar *l)
{
    unsigned i;

    memset(l, 0, sizeof(*l));
    rlk_model_init(&l->model);
    l->model.major = 7;
    l->model.clock_us = 0;
    l->model.steady_us = virtual_now_us;
    memset(l->model.run_id, 'a', sizeof(l->model.run_id) - 1);
    for (i = 0; i < LIAR_LINES; i++) {
        l->lines[i].fd = -1;
    }
}

static void end_line(struct liar *l, struct liar_line *line)
{
    if (line->fd >= 0) {
        rlk_model_session_leave(&l->model, &line->session);
        close(line->fd);
        line->fd = -1;
        evbuffer_free(line->in);
        evbuffer_free(line->out);
    }
}

void liar_hang_up(struct liar *l)
{
    unsigned i;

    for (i = 0; i < LIAR_LINES; i++) {
        end_line(l, &l->lines[i]);
    }
}

void liar_end(struct liar *l)
{
    int fd = virtual_take_peer();

    if (fd >= 0) {
        close(fd);
    }
    liar_hang_up(l);
    rlk_model_free(&l->model);
}

/* ---- replies ---- */

void liar_edit(struct liar *l, const struct liar_edit *edit)
{
    if (l->n_edits < LIAR_EDITS) {
        l->edits[l->n_edits] = *edit;
        l->edits[l->n_edits++].at += l->replies;
    }
}

static void write_over(struct evbuffer *reply, const struct liar_edit *e)
{
    size_t len = evbuffer_get_length(reply);
    unsigned char *bytes = evbuffer_pullup(reply, -1);

    if (len > 0) {
        bytes[e->a % len] = (unsigned char)e->b;
    }
}

static void cut(struct evbuffer *reply, size_t left)
{
    char room[256];
    int n = evbuffer_remove(reply, room, left < sizeof(room) ? left : sizeof(room));

    evbuffer_drain(reply, evbuffer_get_length(reply));
    evbuffer_add(reply, room, n > 0 ? (size_t)n : 0);
}

static void change(struct evbuffer *reply, const struct liar_edit *e)
{
    size_t len = evbuffer_get_length(reply);

    switch (e->kind) {
    case 'r':
        evbuffer_drain(reply, len);
        evbuffer_add(reply, e->text, e->len);
        break;
    case 'w':
        write_over(reply, e);
        break;
    case 'u':
        cut(reply, (size_t)e->a);
        break;
    case 'd':
        evbuffer_add(reply, evbuffer_pullup(reply, -1), len);
        break;
    default:
        evbuffer_drain(reply, len);
        break;
    }
}

static void answer(struct liar *l, struct liar_line *line, const struct resp_request *r)
{
    struct evbuffer *reply = evbuffer_new();
    unsigned i;

    rlk_model_run(&l->model, &line->session, r, reply);
    for (i = 0; i < l->n_edits; i++) {
        if (l->edits[i].at == l->replies) {
            change(reply, &l->edits[i]);
        }
    }
    l->replies++;
    evbuffer_add_buffer(line->out, reply);
    evbuffer_free(reply);
}

void liar_say(struct liar *l, const void *bytes, size_t len)
{
    unsigned i;

    for (i = 0; i < LIAR_LINES; i++) {
        if (l->lines[i].fd >= 0) {
            evbuffer_add(l->lines[i].out, bytes, len);
        }
    }
}

/* ---- requests ---- */

/* CLIENT KILL. */
static void kill_others(struct liar *l, struct liar_line *by)
{
    long long id = by->session.kill_id;
    unsigned i;

    by->session.kill_id = 0;
    for (i = 0; i < LIAR_LINES && id != 0; i++) {
        struct liar_line *line = &l->lines[i];

        if (line->fd >= 0 && line != by && (id == MODEL_KILL_OTHERS || line->session.id == id)) {
            end_line(l, line);
        }
    }
}

static void read_line(struct liar *l, struct liar_line *line)
{
    struct resp_request r;
    enum resp_taken taken;
    bool goes_on = virtual_receive(line->fd, line->in);

    while ((taken = rlk_resp_take(line->in, &r)) == RESP_ONE) {
        FUZZ_CHECK(r.argc > 0, "a command has a word");
        answer(l, line, &r);
        rlk_resp_free(&r);
        kill_others(l, line);
    }
    FUZZ_CHECK(taken == RESP_MORE, "what is sent are commands");
    if (!goes_on) {
        end_line(l, line);
    }
}

static void no_push(struct model_session *s)
{
    (void)s; /* what was pushed is sent with the rest */
}

static void meet(struct liar *l)
{
    int fd = virtual_take_peer();
    struct liar_line *line = l->lines;

    if (fd < 0) {
        return;
    }
    while (line < l->lines + LIAR_LINES && line->fd >= 0) {
        line++;
    }
    if (line == l->lines + LIAR_LINES) {
        close(fd);
        return;
    }
    *line = (struct liar_line){.fd = fd, .in = evbuffer_new(), .out = evbuffer_new()};
    line->session.id = ++l->connections;
    rlk_model_session_join(&l->model, &line->session, line->out, no_push);
}

void liar_read(struct liar *l)
{
    unsigned i;

    meet(l);
    for (i = 0; i < LIAR_LINES; i++) {
        if (l->lines[i].fd >= 0 && !l->still) {
            read_line(l, &l->lines[i]);
        }
    }
}

static bool send_line(struct liar *l, struct liar_line *line)
{
    size_t len = evbuffer_get_length(line->out);

    if (len == 0) {
        return false;
    }
    if (l->piece > 0 && l->piece < len) {
        len = l->piece;
    }
    /* An end of the connection is seen by the next read. */
    send(line->fd, evbuffer_pullup(line->out, (ev_ssize_t)len), len, MSG_NOSIGNAL | MSG_DONTWAIT);
    evbuffer_drain(line->out, len);
    l->sent_us = virtual_now_us();
    return true;
}

bool liar_send(struct liar *l)
{
    bool sent = false;
    unsigned i;

    for (i = 0; i < LIAR_LINES; i++) {
        if (l->lines[i].fd >= 0 && !l->still) {
            sent = send_line(l, &l->lines[i]) || sent;
        }
    }
    return sent;
}
