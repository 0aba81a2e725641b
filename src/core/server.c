/* server.c - the rules about roles, versions, ages and durability. */
#include "core/server.h"

#include <string.h>

#include "base/time.h"

void rlk_server_init(struct rlk_server *s)
{
    memset(s, 0, sizeof(*s));
    s->uptime_s = s->replay_errors = -1;
    s->config_set = s->replays_as_us = true;
}

enum rlk_unfit rlk_server_unfit(const char *role, const char *mode)
{
    if (strcmp(role, "replica") == 0 || strcmp(role, "slave") == 0) {
        return RLK_UNFIT_REPLICA;
    }
    if (strcmp(mode, "cluster") == 0) {
        return RLK_UNFIT_CLUSTER;
    }
    if (strcmp(mode, "sentinel") == 0) {
        return RLK_UNFIT_SENTINEL;
    }
    return role[0] && strcmp(role, "master") != 0 ? RLK_UNFIT_ROLE : RLK_UNFIT_NOT;
}

bool rlk_server_is_same(const struct rlk_server *a, const struct rlk_server *b)
{
    return a->run_id[0] != '\0' && strcmp(a->run_id, b->run_id) == 0;
}

static unsigned major(const char *version)
{
    unsigned n = 0;

    for (; *version >= '0' && *version <= '9' && n < 1000; version++) {
        n = n * 10 + (unsigned)(*version - '0');
    }
    return n;
}

/* Only servers that are known to support it. One that ignored the GET would reply nil to a refusal,
 * and nil means granted here. */
bool rlk_server_returns_holder(const char *name, const char *version)
{
    return strcmp(name, "valkey") == 0 || (strcmp(name, "redis") == 0 && major(version) >= 7);
}

static bool syncs_each_write(const struct rlk_server *s)
{
    return s->aof && !s->aof_fails && !s->fsync_pauses && strcmp(s->fsync, "always") == 0;
}

/* After CONFIG SET appendonly yes, INFO says at once that the file is enabled, and shows the
 * rewrite that begins the file like any other. So an ordinary rewrite is known only if nobody has
 * called CONFIG SET since the start. */
bool rlk_server_may_lack_log(const struct rlk_server *s)
{
    return syncs_each_write(s) && s->aof_rewrites && s->config_set;
}

bool rlk_server_is_durable(const struct rlk_server *s)
{
    return syncs_each_write(s) && !rlk_server_may_lack_log(s);
}

bool rlk_server_replayed_log(const struct rlk_server *s)
{
    return s->replay_errors == 0 || (s->replay_errors < 0 && s->replays_as_us);
}

bool rlk_server_evicts(const struct rlk_server *s)
{
    return s->maxmemory > 0 && s->policy[0] && strcmp(s->policy, "noeviction") != 0;
}

/* By its own account its data may have been deleted, or be a copy of another server's. */
static bool is_suspect(const struct rlk_server *s)
{
    return s->flushed || s->promotion != 0;
}

/* A replica that was promoted has the incarnation key, but maybe not all keys of its master. */
bool rlk_server_keeps_data(const struct rlk_server *s)
{
    return rlk_server_is_durable(s) && rlk_server_replayed_log(s) && !is_suspect(s);
}

/* The uptime of the run. A negative one says only that the clock was set back since the start: the
 * run counts as new. */
static uint64_t uptime_us(const struct rlk_server *s)
{
    uint64_t up_s = s->uptime_s > 0 ? (uint64_t)s->uptime_s : 0;

    return up_s > RLK_NEVER / 1000000 ? RLK_NEVER : up_s * 1000000;
}

/* [S11] The uptime is that of a process, which may have run elsewhere, or empty: it says nothing
 * about the data. So it counts only where no mark can be read; and not where the server says that
 * its data were deleted since. A run that is not told has no age: quarantine.c decides about it. */
static uint64_t age_us(const struct rlk_server *s, const struct rlk_birth *birth)
{
    if (birth->mark != 0) {
        return rlk_time_sub(birth->server_us, birth->born_us);
    }
    if (is_suspect(s)) {
        return 0;
    }
    return s->run_id[0] == '\0' ? RLK_NEVER : uptime_us(s);
}

struct rlk_facts rlk_server_facts(const struct rlk_server *s, const struct rlk_birth *birth,
                                  bool unread)
{
    return (struct rlk_facts){.run = s->run_id,
                              .birth = *birth,
                              .unread = unread,
                              .promotion = s->promotion,
                              .age_us = age_us(s, birth),
                              .durable = rlk_server_is_durable(s),
                              .replay_failed = !rlk_server_replayed_log(s),
                              .lacks_log = rlk_server_may_lack_log(s),
                              .evicts = rlk_server_evicts(s)};
}
