/* trial.c - opens the connection, and reads the reply to each command. */
#include "doctor/trial.h"

#include <stdio.h>

#include <redlock/lock.h>

#include "base/list.h"
#include "core/reply.h"
#include "doctor/checkup.h"
#include "node/login.h"
#include "node/node.h"
#include "node/options.h"
#include "node/side.h"

static void finish(struct rlk_trial *t)
{
    rlk_trial_cancel(t);
    t->done(t);
}

static void fail(struct rlk_trial *t, const struct rlk_trouble *why)
{
    rlk_checkup_note_subscriber(t->checkup, t->node, why);
    finish(t);
}

static void fail_by(struct rlk_trial *t, enum rlk_trouble_kind kind, const char *words)
{
    fail(t, &(struct rlk_trouble){.kind = kind, .words = words});
}

static void fail_by_fault(struct rlk_trial *t, const struct rlk_fault *fault)
{
    fail(t, &(struct rlk_trouble){
                .kind = RLK_TROUBLE_SUBSCRIBER_BROKEN, .fault = fault->kind, .words = fault->text});
}

/* ---- replies ---- */

static void take_auth(struct rlk_trial *t, const struct rlk_reply *reply)
{
    if (reply->type == RLK_REPLY_ERROR) {
        fail_by(t, RLK_TROUBLE_SUBSCRIBER_REFUSED, reply->str);
    }
}

static void take_subscribed(struct rlk_trial *t, const struct rlk_reply *reply, unsigned channel)
{
    if (reply->type != RLK_REPLY_ERROR) {
        if (!rlk_side_is_subscribed(reply)) {
            fail_by(t, RLK_TROUBLE_SUBSCRIBER_UNASKED, reply->str);
        }
    } else if (!rlk_checkup_take_denial(t->checkup, REDLOCK_RIGHT_SUBSCRIBE, channel, reply)) {
        fail_by(t, RLK_TROUBLE_SUBSCRIBER_REFUSED, reply->str);
    }
}

/* The replies come in the order of the steps. */
static void on_replied(struct rlk_conn *c, const struct rlk_reply *reply, uint64_t now_us)
{
    struct rlk_trial *t = RLK_CONTAINER(c, struct rlk_trial, conn);
    enum rlk_trial_step step = t->step++;

    (void)now_us;
    if (step == RLK_TRIAL_AUTH) {
        take_auth(t, reply);
    } else if (step == RLK_TRIAL_WAKES) {
        take_subscribed(t, reply, REDLOCK_RIGHT_WAKES);
    } else {
        take_subscribed(t, reply, REDLOCK_RIGHT_INVALIDATIONS);
        if (t->step != RLK_TRIAL_IDLE) {
            finish(t);
        }
    }
}

/* ---- the connection ---- */

/* Nobody publishes to this channel: a message for the manager must not get lost here. */
static bool send_all(struct rlk_trial *t)
{
    char channel[REDLOCK_MAX_KEY + 64];
    const char *const wakes[] = {"SUBSCRIBE", channel, NULL};
    const char *const invalidations[] = {"SUBSCRIBE", RLK_SIDE_INVALIDATIONS, NULL};

    snprintf(channel, sizeof(channel), "%s:doctor", t->node->options->wake_channel);
    return rlk_side_send_login(&t->conn, t->node) && rlk_side_send(&t->conn, wakes) &&
           rlk_side_send(&t->conn, invalidations);
}

static void on_opened(struct rlk_conn *c)
{
    struct rlk_trial *t = RLK_CONTAINER(c, struct rlk_trial, conn);
    bool logs_in = rlk_login_password(t->node->options->login, t->node->uri) != NULL;

    t->step = logs_in ? RLK_TRIAL_AUTH : RLK_TRIAL_WAKES;
    if (!send_all(t)) {
        fail_by(t, RLK_TROUBLE_NO_MEMORY_TO_SUBSCRIBE, NULL);
    }
}

static void on_broken(struct rlk_conn *c, const struct rlk_fault *fault)
{
    fail_by_fault(RLK_CONTAINER(c, struct rlk_trial, conn), fault);
}

static const struct rlk_conn_handler conn_handler = {
    .opened = on_opened, .replied = on_replied, .broken = on_broken};

static void on_dialed(struct rlk_dial *d, int fd, const struct rlk_fault *fault)
{
    struct rlk_trial *t = RLK_CONTAINER(d, struct rlk_trial, dial);
    struct rlk_tls *tls = t->node->options->tls[t->node->index];
    struct rlk_fault why;

    if (fault) {
        fail_by_fault(t, fault);
    } else if (rlk_conn_open(&t->conn, fd, tls, &why)) {
        fail_by_fault(t, &why);
    }
}

void rlk_trial_init(struct rlk_trial *t, const struct rlk_node *n, struct rlk_checkup *p,
                    void (*done)(struct rlk_trial *t))
{
    t->node = n;
    t->checkup = p;
    t->done = done;
    t->step = RLK_TRIAL_IDLE;
    rlk_dial_init(&t->dial, n->loop, on_dialed);
    rlk_conn_init(&t->conn, n->loop, &conn_handler);
}

void rlk_trial_start(struct rlk_trial *t)
{
    t->step = RLK_TRIAL_DIALING;
    rlk_dial_start_same(&t->dial, &t->node->dial);
}

bool rlk_trial_time_out(struct rlk_trial *t)
{
    if (t->step == RLK_TRIAL_IDLE) {
        return false;
    }
    rlk_checkup_note_subscriber(
        t->checkup, t->node,
        &(struct rlk_trouble){.kind = RLK_TROUBLE_SUBSCRIBER_LATE,
                              .number = t->node->options->connect_timeout_us / 1000});
    rlk_trial_cancel(t);
    return true;
}

void rlk_trial_cancel(struct rlk_trial *t)
{
    t->step = RLK_TRIAL_IDLE;
    rlk_dial_cancel(&t->dial);
    rlk_conn_close(&t->conn, true);
}

void rlk_trial_end(struct rlk_trial *t)
{
    rlk_trial_cancel(t);
    rlk_conn_end(&t->conn);
}
