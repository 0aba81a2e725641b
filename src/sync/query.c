/* query.c - asks who holds a key, and copies the answer.
 *
 * A result is one block of memory: the struct, the nodes, the list of pointers to them, the texts.
 * It is counted first and then filled by the same steps. */
#include <string.h>

#include <redlock/redlock.h>

#include "base/alloc.h"
#include "sync/thread.h"

struct query {
    struct rlk_sync_call call;
    const char *key;
    struct redlock_query_result *result;
};

/* ---- the copy ---- */

struct block {
    struct redlock_query_result result;
    struct redlock_query_node nodes[];
};

static size_t size_of_texts(const struct redlock_query_result *r)
{
    size_t i, size = strlen(r->token) + strlen(r->owner) + 2;

    for (i = 0; i < r->n_nodes; i++) {
        size += strlen(r->nodes[i]->token) + strlen(r->nodes[i]->error) + 2;
    }
    return size;
}

/* Copy a text to *at, and move on. */
static const char *keep(char **at, const char *text)
{
    char *kept = *at;
    size_t size = strlen(text) + 1;

    memcpy(kept, text, size);
    *at += size;
    return kept;
}

static struct redlock_query_result *copy(const struct redlock_query_result *r)
{
    size_t n = r->n_nodes, i;
    size_t of_list = n * sizeof(struct redlock_query_node *);
    struct block *b = rlk_alloc(sizeof(*b) + n * sizeof(b->nodes[0]) + of_list + size_of_texts(r));
    const struct redlock_query_node **list;
    char *texts;

    if (b == NULL) {
        return NULL;
    }
    list = (const struct redlock_query_node **)(void *)(b->nodes + n);
    texts = (char *)(list + n);
    b->result = *r;
    b->result.nodes = list;
    b->result.token = keep(&texts, r->token);
    b->result.owner = keep(&texts, r->owner);
    for (i = 0; i < n; i++) {
        b->nodes[i] = *r->nodes[i];
        b->nodes[i].token = keep(&texts, r->nodes[i]->token);
        b->nodes[i].error = keep(&texts, r->nodes[i]->error);
        list[i] = &b->nodes[i];
    }
    return &b->result;
}

REDLOCK_EXPORT void redlock_sync_query_free(struct redlock_query_result *result)
{
    rlk_free(result);
}

/* ---- the call ---- */

static void on_result(const struct redlock_query_result *result, int status, void *arg)
{
    struct query *q = arg;

    if (result) {
        q->result = copy(result);
        status = q->result ? status : REDLOCK_ENOMEM;
    }
    rlk_sync_finish(&q->call, status);
}

static void begin_query(struct rlk_sync_call *call)
{
    struct query *q = RLK_CONTAINER(call, struct query, call);

    rlk_sync_began(call, redlock_query(call->s->rl, q->key, on_result, q));
}

REDLOCK_EXPORT int redlock_sync_query(struct redlock_sync *s, const char *key,
                                      struct redlock_query_result **ret_result)
{
    struct query q = {.call = {.begin = begin_query, .when_closed = REDLOCK_ESTATE}, .key = key};
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
