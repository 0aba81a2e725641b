/* query.c - asks who holds a key, and copies the answer. */
#include <redlock/redlock.h>

#include "base/alloc.h"
#include "lock/result.h"
#include "sync/thread.h"

struct query {
    struct rlk_sync_call call;
    const char *key;
    size_t key_len;
    struct redlock_query_result *result;
};

REDLOCK_EXPORT void redlock_sync_query_free(struct redlock_query_result *result)
{
    rlk_free(result);
}

static void on_result(const struct redlock_query_result *result, int status, void *arg)
{
    struct query *q = arg;

    if (result) {
        q->result = rlk_result_copy(result);
        status = q->result ? status : REDLOCK_ENOMEM;
    }
    rlk_sync_finish(&q->call, status);
}

static void begin_query(struct rlk_sync_call *call)
{
    struct query *q = RLK_CONTAINER(call, struct query, call);

    rlk_sync_began(call, redlock_query(call->s->rl, q->key, q->key_len, on_result, q));
}

REDLOCK_EXPORT int redlock_sync_query(struct redlock_sync *s, const char *key, size_t key_len,
                                      struct redlock_query_result **ret_result)
{
    struct query q = {.call = {.begin = begin_query, .when_closed = REDLOCK_ESTATE},
                      .key = key,
                      .key_len = key_len};
    int status;

    if (ret_result == NULL) {
        return rlk_sync_refuse(REDLOCK_EINVAL, "ret_result is NULL");
    }
    status = rlk_sync_call(s, &q.call);
    if (q.result) {
        *ret_result = q.result;
    }
    return status;
}
