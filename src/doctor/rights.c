/* rights.c - the table of commands. */
#include "doctor/rights.h"

#include <string.h>

const struct rlk_right rlk_rights[] = {
    {REDLOCK_RIGHT_SET, REDLOCK_UNUSABLE, "SET", "+set", "no lock can be acquired there"},
    {REDLOCK_RIGHT_GET, REDLOCK_UNUSABLE, "GET", "+get",
     "no lock can be released or renewed there"},
    {REDLOCK_RIGHT_DEL, REDLOCK_UNUSABLE, "DEL", "+del", "no lock can be released there"},
    {REDLOCK_RIGHT_PEXPIRE, REDLOCK_UNUSABLE, "PEXPIRE", "+pexpire",
     "no lock can be renewed there"},
    {REDLOCK_RIGHT_PTTL, REDLOCK_UNUSABLE, "PTTL", "+pttl", "no lock can be renewed there"},
    {REDLOCK_RIGHT_MGET, REDLOCK_FINE, "MGET", "+mget", "renewals cost this master more"},
    {REDLOCK_RIGHT_EVAL, REDLOCK_UNUSABLE, "EVAL", "+eval",
     "no lock can be renewed there, and nobody sees when it loses its data"},
    {REDLOCK_RIGHT_EVALSHA, REDLOCK_UNUSABLE, "EVALSHA", "+evalsha",
     "no lock can be released or renewed there"},
    {REDLOCK_RIGHT_SCRIPT_LOAD, REDLOCK_WARNING, "SCRIPT LOAD", "+script|load",
     "the first release takes twice as long"},
    {REDLOCK_RIGHT_TIME, REDLOCK_WARNING, "TIME", "+time",
     "nobody sees when its clock is set, or its data are deleted"},
    {REDLOCK_RIGHT_INFO, REDLOCK_WARNING, "INFO", "+info",
     "nobody sees whether it restarted, is listed twice or, without HELLO, is a replica"},
    {REDLOCK_RIGHT_CLIENT_SETNAME, REDLOCK_FINE, "CLIENT SETNAME", "+client|setname",
     "CLIENT LIST does not show our name"},
    {REDLOCK_RIGHT_CLIENT_KILL, REDLOCK_WARNING, "CLIENT KILL", "+client|kill",
     "a late command of a broken connection may lock a key for its ttl"},
    {REDLOCK_RIGHT_CONFIG_GET, REDLOCK_FINE, "CONFIG GET", "+config|get",
     "it is quarantined after each restart, even with appendfsync always"},
    {REDLOCK_RIGHT_HELLO, REDLOCK_WARNING, "HELLO", "+hello",
     "without CLIENT ID, a late command of a broken connection may lock a key for its ttl"},
    {REDLOCK_RIGHT_PUBLISH, REDLOCK_FINE, "PUBLISH", "+publish",
     "our releases there do not wake the next waiter"},
    {REDLOCK_RIGHT_SUBSCRIBE, REDLOCK_FINE, "SUBSCRIBE", "+subscribe",
     "nothing there wakes us while we wait for a lock, so we poll"},
    {REDLOCK_RIGHT_WAKES, REDLOCK_FINE, "channel redlock:wake", "&*redlock:wake:*",
     "nobody is woken there, so waiters poll"},
    {REDLOCK_RIGHT_CLIENT_TRACKING, REDLOCK_FINE, "CLIENT TRACKING",
     "+client|tracking +client|caching +client|id +exists",
     "waiters learn late that a key has ended, or was deleted by another program"},
    {REDLOCK_RIGHT_INVALIDATIONS, REDLOCK_FINE, "channel __redis__:invalidate",
     "&__redis__:invalidate",
     "waiters learn late that a key has ended, or was deleted by another program"},
    {REDLOCK_RIGHT_ZADD, REDLOCK_FINE, "ZADD", "+zadd +zcard +zrange +zrank +zrem +zscore",
     "nobody is listed there among those who wait for a lock, and so they poll"},
    {REDLOCK_RIGHT_XADD, REDLOCK_WARNING, "XADD", "+xadd", "nothing is added to its audit stream"},
};

const unsigned rlk_rights_count = sizeof(rlk_rights) / sizeof(rlk_rights[0]);

/* ---- all of them, as a command ---- */

struct text {
    char *out;
    size_t size, used;
    bool fits;
};

static void put_right(struct text *t, const char *bytes, size_t len)
{
    t->fits = t->fits && len < t->size - t->used;
    if (t->fits) {
        memcpy(t->out + t->used, bytes, len);
        t->used += len;
    }
}

static void put_text(struct text *t, const char *text)
{
    put_right(t, text, strlen(text));
}

/* The prefix as part of a pattern: characters with a meaning in patterns are escaped. */
static void put_prefix(struct text *t, const char *prefix)
{
    for (; *prefix; prefix++) {
        if (strchr("*?[]\\", *prefix)) {
            put_text(t, "\\");
        }
        put_right(t, prefix, 1);
    }
}

/* Selectors are sets of rights besides those of the user itself, and -@all does not change them. */
static void put_keys(struct text *t, const struct rlk_rights_user *user)
{
    put_text(t, user->selectors ? " on clearselectors resetkeys ~" : " on resetkeys ~");
    put_prefix(t, user->key_prefix);
    put_text(t, "*");
    if (user->channels) {
        put_text(t, " resetchannels &");
        put_prefix(t, user->key_prefix);
        put_text(t, "redlock:wake:* &__redis__:invalidate");
    }
}

/* Without the channels of the table, which put_keys() has already written. */
static void put_commands(struct text *t, const char *acl)
{
    const char *word = acl;

    while (*word) {
        size_t len = strcspn(word, " ");

        if (*word != '&') {
            put_text(t, " ");
            put_right(t, word, len);
        }
        word += len + (word[len] == ' ');
    }
}

void rlk_rights_write(const struct rlk_rights_user *user, char *out, size_t size)
{
    bool is_default = strcmp(user->name, "default") == 0;
    struct text t = {.out = out, .size = size, .fits = true};
    unsigned i;

    put_text(&t, "ACL SETUSER ");
    put_text(&t, is_default ? "redlock >PASSWORD" : user->name);
    put_keys(&t, user);
    put_text(&t, " -@all");
    for (i = 0; i < rlk_rights_count; i++) {
        put_commands(&t, user->audit || rlk_rights[i].bit != REDLOCK_RIGHT_XADD ? rlk_rights[i].acl
                                                                                : "");
    }
    put_text(&t, user->audit ? " +xrevrange" : "");
    put_text(&t, user->native);
    put_text(&t, user->database ? " +select" : "");
    out[t.fits ? t.used : 0] = '\0';
}
