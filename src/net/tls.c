/* tls.c - calls what rlk_tls_find() found.
 *
 * A context exists only if something was found, and so does a session. */
#include "net/tls.h"

#include <stdatomic.h>

#include <redlock/error.h>

#include "net/tls_calls.h"

/* Threads that look for it at the same time find the same. */
static _Atomic(const struct rlk_tls_calls *) found;

static const struct rlk_tls_calls *calls(void)
{
    return atomic_load_explicit(&found, memory_order_acquire);
}

int rlk_tls_new(const struct rlk_uri *uri, const struct rlk_tls *other, struct rlk_tls **ret,
                char *why, size_t size)
{
    const struct rlk_tls_calls *c = calls();

    if (c == NULL) {
        c = rlk_tls_find(why, size);
        if (c == NULL) {
            return REDLOCK_EINVAL;
        }
        atomic_store_explicit(&found, c, memory_order_release);
    }
    return c->make(uri, other, ret, why, size);
}

void rlk_tls_free(struct rlk_tls *t)
{
    if (t) {
        calls()->free(t);
    }
}

const char *rlk_tls_complaint(const struct rlk_tls *t)
{
    return calls()->complaint(t);
}

struct rlk_tls_session *rlk_tls_begin(struct rlk_tls *t)
{
    return calls()->begin(t);
}

void rlk_tls_end(struct rlk_tls_session *s)
{
    if (s) {
        calls()->end(s);
    }
}

bool rlk_tls_receive(struct rlk_tls_session *s, const char *bytes, size_t len)
{
    return calls()->receive(s, bytes, len);
}

int rlk_tls_read(struct rlk_tls_session *s, char *plain)
{
    return calls()->read(s, plain);
}

bool rlk_tls_is_ready(const struct rlk_tls_session *s)
{
    return calls()->is_ready(s);
}

bool rlk_tls_write(struct rlk_tls_session *s, const char *bytes, size_t len)
{
    return calls()->write(s, bytes, len);
}

void rlk_tls_close(struct rlk_tls_session *s)
{
    calls()->close(s);
}

const char *rlk_tls_wire(const struct rlk_tls_session *s, size_t *ret_len)
{
    return calls()->wire(s, ret_len);
}

void rlk_tls_sent(struct rlk_tls_session *s, size_t len)
{
    calls()->sent(s, len);
}

struct rlk_fault rlk_tls_fault(const struct rlk_tls_session *s)
{
    return calls()->fault(s);
}

struct rlk_fault rlk_tls_fault_of_end(struct rlk_tls_session *s, const struct rlk_fault *fault)
{
    return calls()->fault_of_end(s, fault);
}

const char *rlk_tls_describe(const struct rlk_tls_session *s)
{
    return calls()->describe(s);
}
