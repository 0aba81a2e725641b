/* holder.c - finds the holder that most masters name. */
#include "cli/take/holder.h"

#include <stdio.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/session/owner.h"

/* A token of this library has this many hex digits, and then perhaps a ':' and the owner. Values of
 * other libraries may have a ':' with another meaning. */
#define TOKEN_DIGITS 40

/* A reservation of this library begins with this, which is no hex digit. */
#define RESERVED "for:"

/* NULL when the master has not refused; "" when the master does not name the holder, or has no key.
 */
static const char *token_at(const struct redlock_lock *lock, size_t index)
{
    struct redlock_node_detail detail = {.size = sizeof(detail)};

    if (redlock_lock_node(lock, index, &detail) != 0 || detail.vote != REDLOCK_VOTE_NO) {
        return NULL;
    }
    return detail.holder;
}

static size_t count_token(const struct redlock_lock *lock, size_t n, const char *token)
{
    size_t count = 0, i;

    for (i = 0; i < n; i++) {
        const char *other = token_at(lock, i);

        count += other && strcmp(other, token) == 0;
    }
    return count;
}

struct cli_holder cli_holder_find(const struct redlock *rl, const struct redlock_lock *lock)
{
    struct cli_holder holder = {"", 0, 0};
    size_t n = redlock_node_count(rl), i;

    for (i = 0; i < n; i++) {
        const char *token = token_at(lock, i);
        size_t masters = token ? count_token(lock, n, token) : 0;

        holder.refusals += token != NULL;
        if (masters > holder.masters && token[0]) {
            holder.masters = masters;
            holder.token = token;
        }
    }
    return holder;
}

static bool is_ours(const char *token)
{
    return strspn(token, "0123456789abcdef") == TOKEN_DIGITS &&
           (token[TOKEN_DIGITS] == ':' || !token[TOKEN_DIGITS]);
}

const char *cli_holder_owner(const char *token)
{
    return is_ours(token) && token[TOKEN_DIGITS] && token[TOKEN_DIGITS + 1]
               ? token + TOKEN_DIGITS + 1
               : NULL;
}

/* "for:DIGITS:NAME" (redlock_hand_over()). */
const char *cli_holder_reserved(const char *token)
{
    return strncmp(token, RESERVED, strlen(RESERVED)) == 0
               ? cli_holder_owner(token + strlen(RESERVED))
               : NULL;
}

const char *cli_holder_broken(const struct redlock *rl, const struct redlock_lock *lock)
{
    struct cli_holder holder = cli_holder_find(rl, lock);
    const char *owner = cli_holder_owner(holder.token);

    return owner && cli_owner_is_broken(owner) && holder.masters == holder.refusals &&
                   holder.masters > redlock_node_count(rl) / 2
               ? owner
               : NULL;
}

bool cli_holder_is_foreign(const struct redlock *rl, const struct redlock_lock *lock)
{
    struct cli_holder holder = cli_holder_find(rl, lock);

    return holder.masters > redlock_node_count(rl) / 2 && !is_ours(holder.token) &&
           !cli_holder_reserved(holder.token);
}

const char *cli_holder_print(const char *token, char *buf)
{
    snprintf(buf, CLI_HOLDER_TEXT, "%.8s%s", token, strlen(token) > 8 ? "..." : "");
    return buf;
}

/* So the library writes it (redlock/query.h). */
bool cli_holder_is_no_string(const char *token)
{
    return strcmp(token, "(not a string)") == 0;
}
