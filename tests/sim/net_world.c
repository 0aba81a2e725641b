/* net_world.c - src/net/clock.h, entropy.h, fork.h and format.h, and base/wipe.h: the time of the
 * client that runs, random bytes from the seed, no child processes, and commands formatted without
 * sprintf, which hiredis uses and which took half the time of a history. */
#include <arpa/inet.h>
#include <redlock/error.h>
#include <stdlib.h>
#include <string.h>

#include "net/clock.h"
#include "net/entropy.h"
#include "net/fork.h"
#include "net/format.h"
#include "node/claim.h"
#include "sim/process.h"

uint64_t rlk_clock_us(void)
{
    const struct world *w = process_world();

    return world_client_us(w, w->running);
}

uint64_t rlk_clock_wall_us(void)
{
    const struct world *w = process_world();

    return world_wall_us(w, w->running);
}

void rlk_entropy_init(struct rlk_entropy *e)
{
    e->left = 0;
}

/* Bytes from the seed. A number is the same on every machine, and so is the history that it makes:
 * the first byte is the lowest. A token begins with its number, by which the model finds the claim
 * (watch.c). */
int rlk_entropy_take(struct rlk_entropy *e, void *out, size_t len)
{
    struct world *w = process_world();
    uint32_t claim = htonl((uint32_t)w->n_claims);
    uint64_t number = 0;
    unsigned char *to = out;
    size_t i;

    (void)e;
    for (i = 0; i < len; i++) {
        to[i] = (unsigned char)rlk_prng_next(&w->prng);
        number |= i < sizeof(number) ? (uint64_t)to[i] << (8 * i) : 0;
    }
    if (len == RLK_TOKEN_BYTES) {
        memcpy(out, &claim, sizeof(claim));
    } else if (len == sizeof(number)) {
        memcpy(out, &number, sizeof(number));
    }
    return 0;
}

bool rlk_fork_is_child(const struct rlk_fork *f)
{
    (void)f;
    return false;
}

/* In place of src/base/wipe.c: nobody has a password here, and to clear that much of the stack with
 * each connection takes time. */
void __wrap_rlk_wipe_stack(void);

void __wrap_rlk_wipe_stack(void)
{
}

/* ---- commands ---- */

static char *put_count(char *to, char mark, size_t n)
{
    char digits[24], *first = digits + sizeof(digits);

    *to++ = mark;
    do {
        *--first = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    while (first < digits + sizeof(digits)) {
        *to++ = *first++;
    }
    *to++ = '\r';
    *to++ = '\n';
    return to;
}

int rlk_format_words(const char *const *words, const char **ret_bytes, size_t *ret_len)
{
    size_t len[RLK_FORMAT_WORDS], room = 16, n, i;
    char *bytes, *at;

    for (n = 0; n < RLK_FORMAT_WORDS && words[n]; n++) {
        len[n] = strlen(words[n]);
        room += len[n] + 16;
    }
    bytes = malloc(room);
    if (bytes == NULL) {
        return REDLOCK_ENOMEM;
    }
    at = put_count(bytes, '*', n);
    for (i = 0; i < n; i++) {
        at = put_count(at, '$', len[i]);
        memcpy(at, words[i], len[i]);
        memcpy(at + len[i], "\r\n", 2);
        at += len[i] + 2;
    }
    *ret_bytes = bytes;
    *ret_len = (size_t)(at - bytes);
    return 0;
}

void rlk_format_free(const char *bytes, size_t len)
{
    (void)len;
    free((char *)(uintptr_t)bytes);
}
