/* chaos/client_worker.c - the workers: each acquires a lock, holds it, uses the registers, and ends
 * it in one of many ways, without end. All that they do is drawn.
 *
 *     IDLE --> ASKING (acquire) --> HOLDING --> ENDING (release, hand over) --> IDLE
 *                                      |
 *                                      +--> DETACHED --> ASKING (adopt) --> HOLDING or IDLE
 */
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chaos/client.h"

#define STEP_MOST_MS 40
#define PAIR_WAIT_US 1000000
#define OWNER_MOST 80

enum state {
    IDLE,
    ASKING,
    HOLDING,
    DETACHED,
    ENDING
};

/* How the hold is to end. */
enum manner {
    RELEASE,
    HAND_OVER,
    DETACH,
    LAPSE_UNRENEWED,
    LAPSE_HEARTBEAT,
    LAPSE_MAX_HOLD
};

struct worker {
    unsigned index, op;
    char owner[OWNER_MOST];
    struct event *timer;
    enum state state;
    enum manner manner;
    const char *keys[MOST_IN_LOCK];
    size_t n_keys;
    uint32_t ttl_ms;
    bool fencing, is_adopting, is_cancelled;
    struct redlock_lock *asked;
    struct hold *hold;
    unsigned detached_id;
    char token[REDLOCK_MAX_OWNER + 64];
    uint64_t until_us; /* true time: when to end the hold */
};

static struct worker *workers;

static void wake_in(struct worker *w, uint32_t ms)
{
    struct timeval in = {ms / 1000, ms % 1000 * 1000};

    event_add(w->timer, &in);
}

static void rest(struct worker *w, uint32_t most_ms)
{
    w->state = IDLE;
    wake_in(w, draw(most_ms + 1));
}

/* ---- calls ---- */

static void on_query(const struct redlock_query_result *result, int status, void *arg)
{
    struct worker *w = arg;

    (void)result;
    op_end(w->op, "\"status\":%d", status);
    rest(w, STEP_MOST_MS);
}

static void query(struct worker *w)
{
    const char *key = self.keys[draw((uint32_t)self.n_keys)];
    int status;

    w->op = op_begin("query", "\"keys\":[\"%s\"]", key);
    w->state = ENDING;
    status = redlock_query(self.rl, key, 0, on_query, w);
    if (status) {
        op_end(w->op, "\"status\":%d", status);
        rest(w, STEP_MOST_MS);
    }
}

static void on_extended(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    op_end((unsigned)(uintptr_t)arg, "\"status\":%d", status);
}

static void extend(struct worker *w)
{
    uint32_t ttl_ms = draw_between(self.ttl_ms / 2, self.max_ttl_ms);
    unsigned op = op_begin("extend", "\"lock\":%u,\"ttl\":%" PRIu32, w->hold->id, ttl_ms);
    int status = redlock_extend(w->hold->lock, ttl_ms, on_extended, (void *)(uintptr_t)op);

    if (status) {
        op_end(op, "\"status\":%d", status);
    }
}

static void on_ended(struct redlock_lock *lock, int status, void *arg)
{
    struct worker *w = arg;

    (void)lock;
    op_end(w->op, "\"status\":%d", status);
    rest(w, STEP_MOST_MS);
}

/* There is no reason why a release or a hand-over may not be begun. */
static void forget(struct worker *w)
{
    hold_free(w->hold);
    w->hold = NULL;
    w->state = ENDING;
}

static void release(struct worker *w)
{
    struct redlock_lock *lock = w->hold->lock;
    int status;

    hold_end(w->hold, "released", false);
    w->op = op_begin("release", "\"lock\":%u", w->hold->id);
    forget(w);
    status = redlock_release(lock, on_ended, w);
    if (status) {
        on_ended(NULL, status, w);
    }
}

/* Of another worker here, of one of another client, or of nobody. */
static void draw_waiter(char *out, size_t size)
{
    if (chance(4)) {
        snprintf(out, size, "nobody");
    } else if (chance(2)) {
        snprintf(out, size, "%s-%u", self.name, draw(self.workers));
    } else {
        snprintf(out, size, "%c%u-%u", self.name[0], draw(MOST_PEERS), draw(self.workers));
    }
}

static void hand_over(struct worker *w)
{
    struct redlock_lock *lock = w->hold->lock;
    char to[OWNER_MOST];
    int status;

    draw_waiter(to, sizeof(to));
    hold_end(w->hold, "handed-over", false);
    w->op = op_begin("hand-over", "\"lock\":%u", w->hold->id);
    status = redlock_hand_over(lock, to, chance(2) ? 0 : draw_between(1, self.ttl_ms), on_ended, w);
    if (status) {
        op_end(w->op, "\"status\":%d", status);
        release(w);
        return;
    }
    forget(w);
}

static void detach(struct worker *w)
{
    snprintf(w->token, sizeof(w->token), "%s", redlock_lock_token(w->hold->lock));
    hold_end(w->hold, "detached", false);
    if (redlock_lock_detach(w->hold->lock)) {
        release(w); /* an extension is under way */
        return;
    }
    w->detached_id = w->hold->id;
    forget(w);
    w->state = DETACHED;
    wake_in(w, draw(w->ttl_ms * 2 / 3));
}

static void release_token(struct worker *w)
{
    int status;

    w->op = op_begin("release", "\"lock\":%u", w->detached_id);
    w->state = ENDING;
    status = redlock_release_token(self.rl, w->keys, NULL, w->n_keys, w->token, on_ended, w);
    if (status) {
        on_ended(NULL, status, w);
    }
}

/* ---- acquire and adopt ---- */

static void on_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    struct worker *w = arg;

    (void)lock;
    if (notice->kind == REDLOCK_NOTICE_LOST && w->hold && !sabotage_overstays()) {
        w->hold->is_lost = true;
        hold_end(w->hold, "lost", true);
        wake_in(w, draw(STEP_MOST_MS));
    }
}

/* Most are short, so that many get the lock. */
static uint32_t draw_hold_ms(uint32_t ttl_ms)
{
    if (sabotage_crowds() || !chance(4)) {
        return draw(ttl_ms / 10 + 1);
    }
    return draw(3 * ttl_ms + 1);
}

static void on_asked(struct redlock_lock *lock, int status, void *arg)
{
    struct worker *w = arg;

    w->asked = NULL;
    if (status == REDLOCK_OK && w->is_cancelled) {
        wrong("an acquire was cancelled and succeeded");
    } else if (status == REDLOCK_OK) {
        op_end(w->op, "\"status\":0,\"lock\":%u", hold_next_id());
        w->hold = hold_lock(lock, w->keys, w->n_keys, w->fencing);
        w->state = HOLDING;
        w->until_us = true_us() + draw_hold_ms(w->ttl_ms) * UINT64_C(1000);
        wake_in(w, self.is_stopping ? 0 : draw(STEP_MOST_MS));
        return;
    }
    op_end(w->op, "\"status\":%d", status);
    if (w->is_adopting && (self.is_stopping || chance(2))) {
        release_token(w);
        return;
    }
    rest(w, chance(4) ? self.ttl_ms : STEP_MOST_MS);
}

static void fill_request(struct worker *w, struct redlock_request *request)
{
    redlock_request_init(request);
    request->keys = w->keys;
    request->n_keys = w->n_keys;
    request->ttl_ms = w->ttl_ms;
    request->fencing = w->fencing;
    request->owner = w->owner;
    request->notice_cb = on_notice;
    request->notice_arg = w;
    request->renew = w->manner != LAPSE_UNRENEWED;
    request->needs_heartbeat = w->manner == LAPSE_HEARTBEAT || chance(8);
    if (w->manner == LAPSE_MAX_HOLD) {
        request->max_hold_ms = draw_between(w->ttl_ms, 3 * w->ttl_ms);
    }
}

static void ended_at_once(struct worker *w, int status)
{
    if (status) {
        w->asked = NULL;
        op_end(w->op, "\"status\":%d", status);
        rest(w, self.ttl_ms);
    }
}

static void draw_keys(struct worker *w)
{
    uint32_t first = draw((uint32_t)self.n_keys), most = 1;
    size_t i;

    if (sabotage_crowds()) {
        first = 0;
    } else if (chance(4)) {
        most = draw_between(1, MOST_IN_LOCK);
    }
    w->n_keys = most < self.n_keys ? most : self.n_keys;
    for (i = 0; i < w->n_keys; i++) {
        w->keys[i] = self.keys[(first + i) % self.n_keys];
    }
}

static void acquire(struct worker *w)
{
    struct redlock_request request;
    char keys[MOST_IN_LOCK * MOST_NAME];

    draw_keys(w);
    w->fencing = !chance(4);
    w->ttl_ms = chance(4) ? draw_between(self.ttl_ms / 2, self.max_ttl_ms) : self.ttl_ms;
    w->manner = chance(5) ? draw_between(HAND_OVER, LAPSE_MAX_HOLD) : RELEASE;
    if (sabotage_crowds()) {
        w->manner = RELEASE;
    } else if (sabotage_overstays() && chance(2)) {
        w->manner = LAPSE_UNRENEWED;
    }
    w->is_adopting = w->is_cancelled = false;
    fill_request(w, &request);
    request.wait_ms = chance(3) ? 0 : draw_between(100, 10 * self.ttl_ms);
    json_texts(keys, sizeof(keys), w->keys, w->n_keys);
    w->op = op_begin("acquire", "\"keys\":%s,\"fencing\":%d,\"ttl\":%" PRIu32 ",\"wait\":%" PRIu32,
                     keys, w->fencing, w->ttl_ms, request.wait_ms);
    w->state = ASKING;
    ended_at_once(w, redlock_acquire(self.rl, &request, on_asked, w, &w->asked));
    if (w->state == ASKING && chance(8)) {
        wake_in(w, draw(2 * self.ttl_ms)); /* to be cancelled */
    }
}

static void adopt(struct worker *w)
{
    struct redlock_request request;
    char keys[MOST_IN_LOCK * MOST_NAME];

    w->fencing = !chance(3);
    w->manner = RELEASE;
    w->is_adopting = true;
    w->is_cancelled = false;
    fill_request(w, &request);
    json_texts(keys, sizeof(keys), w->keys, w->n_keys);
    w->op = op_begin("adopt", "\"keys\":%s,\"fencing\":%d,\"ttl\":%" PRIu32, keys, w->fencing,
                     w->ttl_ms);
    w->state = ASKING;
    ended_at_once(w, redlock_adopt(self.rl, &request, w->token, on_asked, w, &w->asked));
}

/* ---- what to do next ---- */

static void end_hold(struct worker *w)
{
    if (w->manner == HAND_OVER && !self.is_stopping) {
        hand_over(w);
    } else if (w->manner == DETACH && !self.is_stopping) {
        detach(w);
    } else {
        release(w);
    }
}

/* One that is to lapse is used until it is lost. */
static bool is_time_to_end(const struct worker *w)
{
    uint64_t now_us = true_us();
    bool lapses = w->manner >= LAPSE_UNRENEWED;

    if (w->hold->is_lost || self.is_stopping) {
        return !w->hold->pair.is_busy || w->hold->is_lost || now_us > w->until_us + PAIR_WAIT_US;
    }
    if (lapses || now_us < w->until_us) {
        return false;
    }
    return !w->hold->pair.is_busy || now_us > w->until_us + PAIR_WAIT_US;
}

static void hold_on(struct worker *w)
{
    if (is_time_to_end(w)) {
        end_hold(w);
        return;
    }
    if (w->manner != LAPSE_HEARTBEAT) {
        redlock_lock_heartbeat(w->hold->lock);
    }
    if (!self.is_stopping) {
        pair_begin(&w->hold->pair);
        if (w->manner < LAPSE_UNRENEWED && chance(30)) {
            extend(w);
        }
    }
    wake_in(w, draw_between(1, STEP_MOST_MS));
}

static void begin_something(struct worker *w)
{
    if (self.is_stopping) {
        return;
    }
    if (chance(10)) {
        query(w);
    } else {
        acquire(w);
    }
}

static void step(evutil_socket_t fd, short what, void *arg)
{
    struct worker *w = arg;

    (void)fd;
    (void)what;
    if (w->state == IDLE) {
        begin_something(w);
    } else if (w->state == ASKING && w->asked) {
        w->is_cancelled = redlock_cancel(w->asked) == REDLOCK_OK;
    } else if (w->state == HOLDING) {
        hold_on(w);
    } else if (w->state == DETACHED && (self.is_stopping || chance(6))) {
        release_token(w);
    } else if (w->state == DETACHED) {
        adopt(w);
    }
}

bool workers_begin(void)
{
    unsigned i;

    workers = calloc(self.workers + 1, sizeof(*workers));
    if (!workers) {
        return false;
    }
    for (i = 0; i < self.workers; i++) {
        struct worker *w = &workers[i];

        w->index = i;
        snprintf(w->owner, sizeof(w->owner), "%s-%u", self.name, i);
        w->timer = evtimer_new(self.base, step, w);
        if (!w->timer) {
            return false;
        }
        rest(w, 100);
    }
    return true;
}

void workers_stop(void)
{
    unsigned i;

    for (i = 0; i < self.workers; i++) {
        if (workers[i].hold) {
            workers[i].until_us = true_us();
        }
        wake_in(&workers[i], 0);
    }
}

bool workers_are_idle(void)
{
    unsigned i;

    for (i = 0; i < self.workers; i++) {
        if (workers[i].state != IDLE) {
            return false;
        }
    }
    return true;
}
