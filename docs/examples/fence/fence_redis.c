/* fence_redis.c - change a value in a Redis under a lock with a fencing token, by fence.lua.
 *
 *     fence_redis fence.lua redis-data 6379 counter
 *
 * Reads the number at `counter`, adds one, and writes it. The data are in a Redis of their own, not
 * on one of the masters: there this key is the lock. The script compares our token with the largest
 * that was seen, and stores it, in one step. The exit status is 76 when a later holder was there.
 */
#include <hiredis/hiredis.h>
#include <redlock/redlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOST 76
#define LARGEST_SCRIPT 16384

/* ---- the data ---- */

static int load_script(const char *path, char *script)
{
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(script, 1, LARGEST_SCRIPT - 1, file) : 0;

    if (!file || ferror(file) || length == 0 || length == LARGEST_SCRIPT - 1) {
        fprintf(stderr, "%s: cannot be read\n", path);
        length = 0;
    }
    if (file) {
        fclose(file);
    }
    script[length] = '\0';
    return length ? 0 : -1;
}

/* Run the script: with a value it writes, and without one it announces the token and reads. Returns
 * 0 and the number; LOST when the token is stale; 1 for another error. Only the word at the
 * beginning of the error says which it is: a broken connection is no refusal. */
static int run_script(redisContext *data, const char *script, const char *key, uint64_t fence,
                      const char *value, long long *ret_number)
{
    redisReply *reply;
    char text[32];
    int status = 1;

    snprintf(text, sizeof(text), "%llu", (unsigned long long)fence);
    reply = value ? redisCommand(data, "EVAL %s 1 %s %s %s", script, key, text, value)
                  : redisCommand(data, "EVAL %s 1 %s %s", script, key, text);
    if (!reply) { /* written or not; who repeats it may do so with the same token */
        fprintf(stderr, "the data: %s\n", data->errstr);
        return 1;
    }
    if (reply->type == REDIS_REPLY_ERROR) {
        fprintf(stderr, "%s\n", reply->str);
        status = strncmp(reply->str, "STALE", 5) == 0 ? LOST : 1;
    } else {
        *ret_number = reply->type == REDIS_REPLY_STRING ? atoll(reply->str) : 0;
        status = 0;
    }
    freeReplyObject(reply);
    return status;
}

/* Read with the token, too. Otherwise the holder before us may still write between our reading and
 * our writing, and we would undo that unseen. */
static int count(redisContext *data, const char *script, const char *key, uint64_t fence)
{
    long long number;
    char value[32];
    int status = run_script(data, script, key, fence, NULL, &number);

    if (status == 0) {
        snprintf(value, sizeof(value), "%lld", number + 1);
        status = run_script(data, script, key, fence, value, &number);
    }
    if (status == 0) {
        printf("%lld\n", number);
    }
    return status;
}

static redisContext *connect_data(const char *host, int port)
{
    static const struct timeval patience = {5, 0};
    redisContext *data = port ? redisConnectWithTimeout(host, port, patience)
                              : redisConnectUnixWithTimeout(host, patience);

    if (!data || data->err || redisSetTimeout(data, patience) != REDIS_OK) {
        fprintf(stderr, "the data: %s\n", data ? data->errstr : "out of memory");
        redisFree(data);
        return NULL;
    }
    return data;
}

/* ---- the lock ---- */

static int acquire(struct redlock_sync *s, const char *key, struct redlock_sync_lock **ret_lock)
{
    struct redlock_request request;

    redlock_request_init(&request);
    request.key = key;
    request.wait_ms = 30000;
    request.fencing = 1;
    return redlock_sync_acquire(s, &request, NULL, ret_lock);
}

static int count_under_lock(struct redlock_sync *s, redisContext *data, const char *script,
                            const char *key)
{
    struct redlock_sync_lock *lock;
    int status = acquire(s, key, &lock);

    if (status) {
        fprintf(stderr, "%s; %s\n", redlock_strerror(status), redlock_sync_error_text());
        return 1;
    }
    status = count(data, script, key, redlock_sync_lock_fencing_token(lock));
    redlock_sync_release(lock);
    return status;
}

/* To the masters that redlock(1) uses: those of REDLOCK_NODES or /etc/redlock/nodes. */
static int connect_masters(struct redlock_sync **ret_s)
{
    struct redlock_options options;
    struct redlock_settings *settings;
    char why[512] = "";
    int status;

    redlock_options_init(&options);
    options.error_text = why;
    options.error_text_size = sizeof(why);
    if ((status = redlock_settings_read(&options, &settings)) == 0) {
        status = redlock_sync_new(&options, ret_s);
        redlock_settings_free(settings);
    }
    if (status) {
        fprintf(stderr, "%s\n", why[0] ? why : redlock_strerror(status));
    }
    return status;
}

int main(int argc, char **argv)
{
    struct redlock_sync *s;
    char script[LARGEST_SCRIPT];
    redisContext *data;
    int status;

    if (argc != 5) {
        fprintf(stderr, "usage: fence_redis fence.lua HOST PORT KEY\n"
                        "       (PORT 0: HOST is the path of a unix socket)\n");
        return 64;
    }
    if (load_script(argv[1], script) != 0 || !(data = connect_data(argv[2], atoi(argv[3])))) {
        return 1;
    }
    if (connect_masters(&s) != 0) {
        redisFree(data);
        return 1;
    }
    status = count_under_lock(s, data, script, argv[4]);
    redlock_sync_close(s);
    redisFree(data);
    return status;
}
