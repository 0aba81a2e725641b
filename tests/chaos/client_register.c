/* chaos/client_register.c - reads and writes registers: see client_register.h. */
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/async.h>
#include <hiredis/hiredis.h>

#include <hiredis/adapters/libevent.h>

#include "chaos/client_log.h"
#include "chaos/client_register.h"

#define RETRY_MS 50

/* Fences have up to 16 digits, which a number of Lua represents; it would not print all of them,
 * so the text is stored. */
#define SHOW_FENCE                                                                                 \
    "local fence = redis.call('HGET', KEYS[1], 'fence') "                                          \
    "if fence and tonumber(fence) > tonumber(ARGV[1]) then return redis.error_reply('refused') "   \
    "end redis.call('HSET', KEYS[1], 'fence', ARGV[1]) "

static const char reads[] = SHOW_FENCE "return redis.call('HGET', KEYS[1], 'value') or '0'";
static const char writes[] = SHOW_FENCE "redis.call('HSET', KEYS[1], 'value', ARGV[2]) "
                                        "return ARGV[2]";
static const char writes_unchecked[] = "redis.call('HSET', KEYS[1], 'value', ARGV[2]) "
                                       "return ARGV[2]";

static struct event_base *base;
static const char *target;
static redisAsyncContext *context;
static struct event *retry;
static bool is_connected, is_closing;

struct call {
    unsigned op;
    bool is_read;
    register_cb *cb;
    void *arg;
};

static void retry_later(void)
{
    struct timeval in = {0, RETRY_MS * 1000};

    context = NULL;
    is_connected = false;
    if (!is_closing) {
        event_add(retry, &in);
    }
}

static void on_connected(const redisAsyncContext *c, int status)
{
    (void)c;
    is_connected = status == REDIS_OK;
    if (!is_connected) {
        retry_later();
    }
}

static void on_disconnected(const redisAsyncContext *c, int status)
{
    (void)c;
    (void)status;
    retry_later();
}

static redisAsyncContext *begin_connecting(void)
{
    const char *colon = strrchr(target, ':');
    char host[256];

    if (strncmp(target, "unix:", 5) == 0) {
        return redisAsyncConnectUnix(target + 5);
    }
    snprintf(host, sizeof(host), "%.*s", (int)(colon - target), target);
    return redisAsyncConnect(host, atoi(colon + 1));
}

static void connect_now(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    context = begin_connecting();
    if (!context || context->err) {
        if (context) {
            redisAsyncFree(context);
        }
        retry_later();
        return;
    }
    redisLibeventAttach(context, base);
    redisAsyncSetConnectCallback(context, on_connected);
    redisAsyncSetDisconnectCallback(context, on_disconnected);
}

bool register_open(struct event_base *on, const char *where)
{
    if (!strrchr(where, ':')) {
        return false;
    }
    base = on;
    target = where;
    retry = evtimer_new(base, connect_now, NULL);
    connect_now(-1, 0, NULL);
    return true;
}

bool register_is_ready(void)
{
    return is_connected;
}

static enum register_answer answer_of(const redisReply *reply)
{
    if (!reply) {
        return REGISTER_UNKNOWN;
    }
    if (reply->type == REDIS_REPLY_ERROR) {
        /* Whatever else goes wrong here (OOM, LOADING) may have left anything. */
        return strstr(reply->str, "refused") ? REGISTER_REFUSED : REGISTER_UNKNOWN;
    }
    return reply->type == REDIS_REPLY_STRING ? REGISTER_OK : REGISTER_UNKNOWN;
}

static void on_reply(redisAsyncContext *c, void *data, void *arg)
{
    static const char *const words[] = {"ok", "refused", "unknown"};
    const redisReply *reply = data;
    struct call *call = arg;
    enum register_answer answer = answer_of(reply);
    uint64_t value = answer == REGISTER_OK ? strtoull(reply->str, NULL, 10) : 0;

    (void)c;
    if (call->is_read && answer == REGISTER_OK) {
        op_end(call->op, "\"status\":\"ok\",\"value\":%" PRIu64, value);
    } else {
        op_end(call->op, "\"status\":\"%s\"", words[answer]);
    }
    if (call->cb) {
        call->cb(answer, value, call->arg);
    }
    free(call);
}

static struct call *call_new(unsigned op, bool is_read, register_cb *cb, void *arg)
{
    struct call *call = malloc(sizeof(*call));

    if (!call) {
        abort();
    }
    *call = (struct call){.op = op, .is_read = is_read, .cb = cb, .arg = arg};
    return call;
}

/* While it is connected, hiredis refuses a command only when it has no memory. */
static void send_call(struct call *call, const char *script, const char *name, uint64_t fence,
                      uint64_t value)
{
    if (redisAsyncCommand(context, on_reply, call, "EVAL %s 1 %s %" PRIu64 " %" PRIu64, script,
                          name, fence, value) != REDIS_OK) {
        abort();
    }
}

void register_read(const char *name, uint64_t fence, register_cb *cb, void *arg)
{
    unsigned op = op_begin("read", "\"register\":\"%s\",\"fence\":%" PRIu64, name, fence);

    send_call(call_new(op, true, cb, arg), reads, name, fence, 0);
}

static void write_by(const char *script, const char *name, uint64_t fence, uint64_t value,
                     register_cb *cb, void *arg)
{
    unsigned op = op_begin("write", "\"register\":\"%s\",\"fence\":%" PRIu64 ",\"value\":%" PRIu64,
                           name, fence, value);

    send_call(call_new(op, false, cb, arg), script, name, fence, value);
}

void register_write(const char *name, uint64_t fence, uint64_t value, register_cb *cb, void *arg)
{
    write_by(writes, name, fence, value, cb, arg);
}

void register_write_unchecked(const char *name, uint64_t fence, uint64_t value)
{
    write_by(writes_unchecked, name, fence, value, NULL, NULL);
}

void register_close(void)
{
    is_closing = true;
    if (context) {
        redisAsyncDisconnect(context);
    }
    event_free(retry);
}

static void pair_end(struct pair *pair)
{
    pair->is_busy = false;
    if (pair->done) {
        pair->done(pair->arg);
    }
}

static void on_written(enum register_answer answer, uint64_t value, void *arg)
{
    (void)answer;
    (void)value;
    pair_end(arg);
}

static void on_read(enum register_answer answer, uint64_t value, void *arg)
{
    struct pair *pair = arg;

    if (answer != REGISTER_OK || pair->is_over || !register_is_ready() ||
        !pair->is_held(pair->arg)) {
        pair_end(pair);
        return;
    }
    value = pair->changes ? pair->changes(value, pair->arg) : value + 1;
    register_write(pair->name, pair->fence, value, on_written, pair);
}

void pair_begin(struct pair *pair)
{
    if (pair->fence == 0 || pair->is_busy || pair->is_over || !register_is_ready() ||
        !pair->is_held(pair->arg)) {
        return;
    }
    pair->is_busy = true;
    register_read(pair->name, pair->fence, on_read, pair);
}
