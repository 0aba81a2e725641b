/* testing/model_watch.c - what a server sends by itself: messages to those who have subscribed, and
 * invalidations of the keys that a session tracks. Each tracked key is reported once. */
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>

#include "testing/memory.h"
#include "testing/model_inside.h"

#define INVALIDATIONS "__redis__:invalidate"

/* A key that a session has read after CLIENT CACHING YES. */
struct model_tracked {
    struct model_tracked *next;
    char *name;
    long long redirect; /* the session that gets the invalidation */
};

void rlk_model_session_join(struct model *m, struct model_session *s, struct evbuffer *out,
                            void (*pushed)(struct model_session *s))
{
    s->out = out;
    s->pushed = pushed;
    s->next = m->sessions;
    m->sessions = s;
}

void rlk_model_session_leave(struct model *m, struct model_session *s)
{
    struct model_session **at = &m->sessions;

    while (*at && *at != s) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = s->next;
    }
}

static bool is_subscribed(const struct model_session *s, const char *channel)
{
    size_t i;

    for (i = 0; i < s->n_channels; i++) {
        if (strcmp(s->channels[i], channel) == 0) {
            return true;
        }
    }
    return false;
}

static void begin_message(struct model_session *s, const char *channel)
{
    rlk_resp_put_array(s->out, 3);
    rlk_resp_put_text(s->out, "message");
    rlk_resp_put_text(s->out, channel);
}

size_t rlk_model_publish(struct model *m, const char *channel, const char *text, size_t len)
{
    struct model_session *s, *next;
    size_t n = 0;

    for (s = m->sessions; s; s = next) {
        next = s->next;
        if (is_subscribed(s, channel)) {
            begin_message(s, channel);
            rlk_resp_put_bulk(s->out, text, len);
            s->pushed(s);
            n++;
        }
    }
    return n;
}

/* key: NULL for every key. */
static void invalidate(struct model *m, long long session, const char *key)
{
    struct model_session *s = m->sessions;

    while (s && (s->id != session || !is_subscribed(s, INVALIDATIONS))) {
        s = s->next;
    }
    if (s == NULL) {
        return;
    }
    begin_message(s, INVALIDATIONS);
    if (key) {
        rlk_resp_put_array(s->out, 1);
        rlk_resp_put_text(s->out, key);
    } else {
        rlk_testing_memory_note(evbuffer_add(s->out, "*-1\r\n", 5) == 0);
    }
    s->pushed(s);
}

static void forget(struct model_tracked **at)
{
    struct model_tracked *t = *at;

    *at = t->next;
    free(t->name);
    free(t);
}

void rlk_model_changed(struct model *m, const char *key)
{
    struct model_tracked **at = &m->tracked;
    long long redirect;

    while (*at) {
        if (strcmp((*at)->name, key) == 0) {
            redirect = (*at)->redirect;
            forget(at);
            invalidate(m, redirect, key);
        } else {
            at = &(*at)->next;
        }
    }
}

void rlk_model_forget_tracked(struct model *m)
{
    while (m->tracked) {
        forget(&m->tracked);
    }
}

/* After FLUSHALL every session that tracks is notified, whatever it has read. */
void rlk_model_all_changed(struct model *m)
{
    struct model_session *s;

    rlk_model_forget_tracked(m);
    for (s = m->sessions; s; s = s->next) {
        if (s->redirect) {
            invalidate(m, s->redirect, NULL);
        }
    }
}

/* SUBSCRIBE channel */
void rlk_model_subscribe(const struct model_call *c)
{
    const char *channel = rlk_model_word(c, 1);
    struct model_session *s = c->s;

    if (s->n_channels == MODEL_CHANNELS || strlen(channel) >= sizeof(s->channels[0])) {
        rlk_resp_put_error(c->out, "ERR the model has no room for this channel");
        return;
    }
    if (!is_subscribed(s, channel)) {
        strcpy(s->channels[s->n_channels++], channel);
    }
    rlk_resp_put_array(c->out, 3);
    rlk_resp_put_text(c->out, "subscribe");
    rlk_resp_put_text(c->out, channel);
    rlk_resp_put_int(c->out, (long long)s->n_channels);
}

/* PUBLISH channel message */
void rlk_model_do_publish(const struct model_call *c)
{
    size_t n = rlk_model_publish(c->m, rlk_model_word(c, 1), rlk_model_word(c, 2),
                                 c->request->argc > 2 ? c->request->len[2] : 0);

    rlk_resp_put_int(c->out, (long long)n);
}

static bool has_session(const struct model *m, long long id)
{
    const struct model_session *s = m->sessions;

    while (s && s->id != id) {
        s = s->next;
    }
    return s != NULL;
}

/* CLIENT TRACKING ON REDIRECT id OPTIN; CLIENT CACHING YES. False: another subcommand. */
bool rlk_model_client_tracking(const struct model_call *c)
{
    bool tracking = rlk_resp_is(c->request, 1, "TRACKING") && c->m->major >= 6;
    long long id = strtoll(rlk_model_word(c, 4), NULL, 10);

    if (!tracking && !(rlk_resp_is(c->request, 1, "CACHING") && c->m->major >= 6)) {
        return false;
    }
    if (tracking && !has_session(c->m, id)) {
        rlk_resp_put_error(c->out, "ERR The client ID you want redirect to does not exist");
    } else if (tracking) {
        c->s->redirect = id;
        rlk_resp_put_status(c->out, "OK");
    } else if (!c->s->redirect) {
        rlk_resp_put_error(c->out, "ERR CLIENT CACHING can be called only when the client is in "
                                   "tracking mode with OPTIN or OPTOUT mode enabled");
    } else {
        c->s->caching = 2;
        rlk_resp_put_status(c->out, "OK");
    }
    return true;
}

/* A key that is tracked already is reported once all the same. */
static void track(struct model *m, const char *name, long long redirect)
{
    struct model_tracked *t;

    for (t = m->tracked; t; t = t->next) {
        if (t->redirect == redirect && strcmp(t->name, name) == 0) {
            return;
        }
    }
    t = rlk_testing_memory_new(sizeof(*t));
    if (!t) {
        return;
    }
    t->name = rlk_testing_memory_copy(name, strlen(name));
    if (!t->name) {
        free(t);
        return;
    }
    t->redirect = redirect;
    t->next = m->tracked;
    m->tracked = t;
}

/* A key that is not there is tracked, too. */
void rlk_model_note_read(const struct model_call *c, const char *name)
{
    if (c->s->caching) {
        track(c->m, name, c->s->redirect);
    }
}

/* EXISTS key... */
void rlk_model_exists(const struct model_call *c)
{
    long long n = 0;
    size_t i;

    for (i = 1; i < c->request->argc; i++) {
        n += *rlk_model_find(c->m, c->s->db, rlk_model_word(c, i)) != NULL;
        rlk_model_note_read(c, rlk_model_word(c, i));
    }
    rlk_resp_put_int(c->out, n);
}
