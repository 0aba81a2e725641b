/* testing/model_keys.c - the keys of a server, its clock, and what happens to both when it
 * restarts. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "testing/memory.h"
#include "testing/model_inside.h"

static uint64_t read_us(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

/* Not the wall clock, which somebody may set while a test runs. */
static uint64_t steady_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

uint64_t rlk_model_now_us(const struct model *m)
{
    return m->clock_us + m->steady_us();
}

static uint64_t stopped_us(void)
{
    return 0;
}

void rlk_model_stop_clock(struct model *m)
{
    m->clock_us = rlk_model_now_us(m);
    m->steady_us = stopped_us;
}

static uint64_t now_ms(const struct model *m)
{
    return rlk_model_now_us(m) / 1000;
}

static void new_run_id(struct model *m)
{
    static atomic_uint started;

    snprintf(m->run_id, sizeof(m->run_id), "%032x%08x", 0xfaceu, 1 + atomic_fetch_add(&started, 1));
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 2166136261u;

    while (*name) {
        hash = (hash ^ (unsigned char)*name++) * 16777619u;
    }
    return hash;
}

static void free_key(struct model_key *key)
{
    rlk_model_free_members(key);
    rlk_model_free_entries(key);
    free(key->name);
    free(key->value);
    free(key);
}

void rlk_model_remove(struct model *m, struct model_key **at)
{
    struct model_key *key = *at;

    *at = key->next;
    rlk_model_changed(m, key->name);
    free_key(key);
}

struct model_key **rlk_model_find(struct model *m, long db, const char *name)
{
    struct model_key **at = &m->keys;
    uint64_t now = now_ms(m);
    uint32_t hash = hash_of(name);

    while (*at) {
        if ((*at)->until_ms <= now) {
            rlk_model_remove(m, at);
        } else if ((*at)->hash == hash && (*at)->db == db && strcmp((*at)->name, name) == 0) {
            break;
        } else {
            at = &(*at)->next;
        }
    }
    return at;
}

static struct model_key *new_key(const char *name, const char *value, size_t len)
{
    struct model_key *key = rlk_testing_memory_new(sizeof(*key));

    if (!key) {
        return NULL;
    }
    key->name = rlk_testing_memory_copy(name, strlen(name));
    key->value = rlk_testing_memory_copy(value, len);
    if (!key->name || !key->value) {
        free_key(key);
        return NULL;
    }
    key->hash = hash_of(name);
    key->value_len = len;
    return key;
}

struct model_key *rlk_model_put(struct model *m, long db, const char *name, const char *value,
                                size_t len, uint64_t ttl_ms)
{
    struct model_key *key = new_key(name, value, len);
    struct model_key **at = rlk_model_find(m, db, name);

    if (!key) {
        return NULL;
    }
    if (*at) {
        rlk_model_remove(m, at);
    }
    key->next = m->keys;
    key->db = db;
    key->until_ms = ttl_ms ? now_ms(m) + ttl_ms : MODEL_NEVER;
    m->keys = key;
    rlk_model_changed(m, name);
    return key;
}

long long rlk_model_pttl(const struct model *m, const struct model_key *key)
{
    if (!key) {
        return -2;
    }
    return key->until_ms == MODEL_NEVER ? -1 : (long long)(key->until_ms - now_ms(m));
}

void rlk_model_init(struct model *m)
{
    memset(m, 0, sizeof(*m));
    m->major = 7;
    m->native = "";
    m->role = "master";
    m->mode = "standalone";
    m->uptime_s = 86400;
    m->policy = "noeviction";
    m->fsync = "everysec";
    m->steady_us = steady_us;
    m->clock_us = read_us(CLOCK_REALTIME) - steady_us();
    new_run_id(m);
}

void rlk_model_make_old(struct model *m)
{
    char value[128];

    snprintf(value, sizeof(value), "%s 0000feed%s %" PRIu64, m->run_id, m->run_id + 32,
             rlk_model_now_us(m) - UINT64_C(86400000000));
    rlk_model_set(m, "redlock:incarnation", value, 0);
}

void rlk_model_restart(struct model *m)
{
    rlk_model_free(m);
    new_run_id(m);
    m->uptime_s = 0;
    m->flushes = 0;
    m->promoted = false;
}

void rlk_model_restart_durably(struct model *m)
{
    rlk_model_forget_scripts(m);
    new_run_id(m);
    m->uptime_s = 0;
    m->flushes = 0;
}

void rlk_model_promote(struct model *m)
{
    new_run_id(m);
    m->promoted = true;
}

static void forget_keys(struct model *m)
{
    struct model_key *key;

    while ((key = m->keys) != NULL) {
        m->keys = key->next;
        free_key(key);
    }
}

void rlk_model_flush(struct model *m)
{
    forget_keys(m);
    rlk_model_all_changed(m);
    m->flushes++;
}

void rlk_model_free(struct model *m)
{
    rlk_model_forget_scripts(m);
    rlk_model_forget_tracked(m);
    forget_keys(m);
}

const char *rlk_model_get(struct model *m, const char *key)
{
    struct model_key *found = *rlk_model_find(m, 0, key);

    return found ? found->value : NULL;
}

bool rlk_model_set(struct model *m, const char *key, const char *value, uint64_t ttl_ms)
{
    return rlk_model_put(m, 0, key, value, strlen(value), ttl_ms) != NULL;
}

void rlk_model_del(struct model *m, const char *key)
{
    struct model_key **at = rlk_model_find(m, 0, key);

    if (*at) {
        rlk_model_remove(m, at);
    }
}

uint64_t rlk_model_ttl(struct model *m, const char *key)
{
    const struct model_key *found = *rlk_model_find(m, 0, key);

    return found && found->until_ms != MODEL_NEVER ? found->until_ms - now_ms(m) : 0;
}

size_t rlk_model_count(struct model *m)
{
    struct model_key *key;
    size_t n = 0;

    rlk_model_find(m, -1, "");
    for (key = m->keys; key; key = key->next) {
        n += rlk_model_is_string(key);
    }
    return n;
}
