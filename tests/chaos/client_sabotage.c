/* chaos/client_sabotage.c - what a client does wrong on purpose, one thing in one run: the judge
 * has to find it. */
#include <event2/event.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "chaos/client.h"

#define OVERSTAYS_US 3000000
#define TICK_MS 20
#define LEAK_BYTES 65536
#define MOST_LEAKED 8192 /* of either kind of leak */
#define LEFT_S 60

enum sabotage {
    NONE,
    LONG,
    OLD_FENCE,
    NO_FENCE_CHECK,
    LOST_UPDATE,
    MUTE,
    LEAVE_KEY,
    LEAK_DESCRIPTORS,
    LEAK_MEMORY,
    LEAVE_PROCESS,
    QUEUE_BREAKER,
    N_SABOTAGES
};

static const char *const names[N_SABOTAGES] = {
    [LONG] = "long",
    [OLD_FENCE] = "old-fence",
    [NO_FENCE_CHECK] = "no-fence-check",
    [LOST_UPDATE] = "lost-update",
    [MUTE] = "mute",
    [LEAVE_KEY] = "leave-key",
    [LEAK_DESCRIPTORS] = "leak-descriptors",
    [LEAK_MEMORY] = "leak-memory",
    [LEAVE_PROCESS] = "leave-process",
    [QUEUE_BREAKER] = "queue-breaker",
};

/* What this client remembers of a key that it had. */
struct memory {
    const char *key;
    uint64_t fence, value;
    bool has_value;
};

static enum sabotage chosen;
static struct memory memories[2 * MOST_KEYS];
static redisContext *masters[MOST_URIS];
static struct event *ticker;
static unsigned n_leaked;

bool sabotage_choose(const char *name)
{
    int i;

    for (i = NONE + 1; i < N_SABOTAGES; i++) {
        if (strcmp(names[i], name) == 0) {
            chosen = (enum sabotage)i;
            return true;
        }
    }
    return false;
}

const char *sabotage_name(void)
{
    return names[chosen];
}

void sabotage_list(void)
{
    int i;

    for (i = NONE + 1; i < N_SABOTAGES; i++) {
        puts(names[i]);
    }
}

uint64_t sabotage_deadline(uint64_t deadline_us)
{
    if (chosen != LONG || deadline_us == 0) {
        return deadline_us;
    }
    return deadline_us + OVERSTAYS_US + (uint64_t)self.ttl_ms * 1000;
}

bool sabotage_overstays(void)
{
    return chosen == LONG;
}

bool sabotage_crowds(void)
{
    return chosen == QUEUE_BREAKER;
}

static struct memory *remember(const char *key)
{
    struct memory *m = memories;

    while (m->key && strcmp(m->key, key) != 0) {
        m++;
    }
    m->key = key;
    return m;
}

uint64_t sabotage_fence(const char *key, uint64_t fence)
{
    struct memory *m = remember(key);
    uint64_t former = m->fence;

    m->fence = fence;
    return chosen == OLD_FENCE && former && chance(2) ? former : fence;
}

uint64_t sabotage_value(const char *name, uint64_t value)
{
    struct memory *m = remember(name);

    if (!m->has_value) {
        m->value = value;
        m->has_value = true;
    }
    return chosen == LOST_UPDATE && chance(3) ? m->value + 1 : value + 1;
}

static bool mutes(void)
{
    return chance(20);
}

/* ---- on the masters directly ---- */

static redisContext *reach(const char *uri)
{
    struct timeval most = {0, 200000};
    char host[MOST_NAME];
    const char *at = strstr(uri, "://"), *colon;

    if (strncmp(uri, "unix://", 7) == 0) {
        snprintf(host, sizeof(host), "%.*s", (int)strcspn(uri + 7, "?"), uri + 7);
        return redisConnectUnixWithTimeout(host, most);
    }
    if (strncmp(uri, "redis://", 8) != 0 || strchr(uri, '@') || !(colon = strchr(at + 3, ':'))) {
        fprintf(stderr, "%s: this sabotage needs masters without TLS and login\n", self.name);
        exit(64);
    }
    snprintf(host, sizeof(host), "%.*s", (int)(colon - at - 3), at + 3);
    return redisConnectWithTimeout(host, atoi(colon + 1), most);
}

/* Returns whether the master can be asked. */
static bool is_reached(size_t i)
{
    struct timeval most = {0, 200000};

    if (masters[i] && !masters[i]->err) {
        return true;
    }
    redisFree(masters[i]);
    masters[i] = reach(self.uris[i]);
    return masters[i] && !masters[i]->err && redisSetTimeout(masters[i], most) == REDIS_OK;
}

/* Blocks for a moment if the master does not answer. */
static void run_on_masters(const char *script, const char *key)
{
    const char *prefix = self.options.key_prefix ? self.options.key_prefix : "";
    redisReply *reply;
    size_t i;

    for (i = 0; i < self.n_uris; i++) {
        if (is_reached(i)) {
            reply = redisCommand(masters[i], "EVAL %s 1 %s%s", script, prefix, key);
            if (reply) {
                freeReplyObject(reply);
            }
        }
    }
}

/* Without an owner text it looks like a lock of an anonymous client; it has no TTL. */
static void leave_key(void)
{
    char key[64];

    snprintf(key, sizeof(key), "left-by-%ld", (long)getpid());
    run_on_masters("return redis.call('SET', KEYS[1], string.rep('0123456789', 4))", key);
}

/* The last waiter becomes the first one: its ticket, some 10^15, is replaced by one that is smaller
 * than all that were replaced before. */
static void break_queues(void)
{
    static const char script[] =
        "local list = KEYS[1] .. ':redlock-waiting' "
        "local first = redis.call('ZRANGE', list, 0, 0, 'WITHSCORES')[2] "
        "local ticket = math.min(tonumber(first or 1000000), 1000000) "
        "for _, waiter in ipairs(redis.call('ZRANGEBYSCORE', list, '(1000000', '+inf')) do "
        "ticket = ticket - 1 redis.call('ZADD', list, ticket, waiter) end";
    size_t k;

    for (k = 0; k < self.n_keys; k++) {
        run_on_masters(script, self.keys[k]);
    }
}

/* ---- now and then ---- */

static void write_without_lock(void)
{
    const struct memory *m = &memories[draw(MOST_KEYS)];

    if (m->key && m->fence && register_is_ready() && chance(5)) {
        register_write_unchecked(m->key, m->fence, m->value + 1);
    }
}

static void leak(void)
{
    static void *volatile kept;

    if (n_leaked++ >= MOST_LEAKED) {
        return;
    }
    if (chosen == LEAK_DESCRIPTORS) {
        open("/dev/null", O_RDONLY | O_CLOEXEC);
    } else {
        kept = malloc(LEAK_BYTES);
        memset(kept, 1, LEAK_BYTES);
    }
}

static void tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    if (chosen == NO_FENCE_CHECK && !self.is_stopping) {
        write_without_lock();
    } else if (chosen == LEAK_DESCRIPTORS || chosen == LEAK_MEMORY) {
        leak();
    } else if (chosen == QUEUE_BREAKER) {
        break_queues();
    } else if (chosen == LEAVE_KEY && n_leaked++ % 100 == 20) {
        leave_key();
    }
}

bool sabotage_begin(void)
{
    struct timeval every = {0, TICK_MS * 1000};

    if (chosen == NONE) {
        return true;
    }
    log_mutes = chosen == MUTE ? mutes : NULL;
    ticker = event_new(self.base, -1, EV_PERSIST, tick, NULL);
    return ticker && event_add(ticker, &every) == 0;
}

void sabotage_stop(void)
{
    if (ticker) {
        event_free(ticker);
    }
}

/* If nobody ends the child, it ends by itself after a while. */
void sabotage_at_exit(void)
{
    if (chosen == LEAVE_PROCESS && fork() == 0) {
        prctl(PR_SET_PDEATHSIG, 0);
        setsid();
        for (int fd = 0; fd < 256; fd++) {
            close(fd);
        }
        sleep(LEFT_S);
        _exit(0);
    }
}
