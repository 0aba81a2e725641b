/* entropy.c - a buffer of random bytes, which is filled again when it is used up. */
#include "net/entropy.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include <redlock/error.h>

void rlk_entropy_init(struct rlk_entropy *e)
{
    e->left = 0;
}

/* GRND_NONBLOCK: on a machine that has just booted the kernel may have no random bytes yet. Then
 * the call fails, because waiting would block the event loop. */
static int refill(struct rlk_entropy *e)
{
    size_t have = 0;
    ssize_t n;

    while (have < sizeof(e->pool)) {
        n = getrandom(e->pool + have, sizeof(e->pool) - have, GRND_NONBLOCK);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return REDLOCK_ESYSTEM;
        }
        have += (size_t)n;
    }
    e->left = have;
    return 0;
}

int rlk_entropy_take(struct rlk_entropy *e, void *out, size_t len)
{
    if (e->left < len && refill(e)) {
        return REDLOCK_ESYSTEM;
    }
    e->left -= len;
    memcpy(out, e->pool + e->left, len);
    return 0;
}
