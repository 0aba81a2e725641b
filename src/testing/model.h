/* testing/model.h - a small model of a Redis server that works. The fake servers of the tests
 * answer by it unless told otherwise, and so does the good master of the fuzz target `node`.
 *
 * It knows the commands that a Redlock client and its scripts send, keys that expire, loaded
 * scripts, and logins. It runs the real scripts, in Lua.
 *
 * Its keys expire by a clock of its own, which a test may set. */
#ifndef RLK_TESTING_MODEL_H
#define RLK_TESTING_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "testing/resp.h"

struct lua_State;
struct model;
struct model_key;
struct model_session;
struct model_tracked;

/* What happened to the key of a lock. */
enum model_deed {
    MODEL_GRANTED,
    MODEL_EXTENDED,
    MODEL_RELEASED,
    MODEL_DEEDS
};

struct model {
    /* The version: HELLO needs 6, SET with both NX and GET needs 7. */
    int major;
    /* Which command it has that deletes a key if it has a certain value: "DELEX" or "DELIFEQ"; "":
     * neither. */
    const char *native;
    /* It replicates scripts, not their effects (lua-replicate-commands no; every server below 5).
     * Then a script that has called PTTL or TIME may not write, unless it called
     * redis.replicate_commands() before. */
    bool whole_scripts;
    /* What HELLO and INFO say. */
    const char *role;
    const char *mode;
    /* password NULL: nobody has to log in; user NULL: "default". */
    const char *user;
    const char *password;
    char run_id[41];
    /* The rest of what INFO and CONFIG say. At first: up for a day, no persistence, no eviction. */
    long long uptime_s;
    uint64_t maxmemory;
    const char *policy;
    bool aof, aof_fails, aof_rewrites;
    bool config_set; /* CONFIG SET was called */
    const char *fsync;
    bool fsync_pauses;
    bool loading;
    bool promoted;
    unsigned flushes;
    unsigned replay_errors; /* what it says of the log that it loaded when it started */
    /* Its clock: steady_us(), which no test sets, plus clock_us. */
    uint64_t clock_us;
    uint64_t (*steady_us)(void);
    /* Called for each deed, with deed_arg; may be NULL. */
    void (*deed)(void *arg, enum model_deed deed, const char *key);
    void *deed_arg;
    struct model_key *keys;
    struct lua_State *lua;          /* with the loaded scripts; NULL: none is loaded */
    struct model_session *sessions; /* those that joined */
    struct model_tracked *tracked;
};

/* How many channels a session may subscribe to, and the size of a name with its NUL. */
#define MODEL_CHANNELS 4
#define MODEL_CHANNEL 1100

/* All connections except the one that sent the command. */
#define MODEL_KILL_OTHERS (-1)

/* What the server knows about a connection. */
struct model_session {
    long long id;
    long db;
    bool logged_in;
    /* The connection that CLIENT KILL named, or MODEL_KILL_OTHERS; 0: none. */
    long long kill_id;
    char channels[MODEL_CHANNELS][MODEL_CHANNEL]; /* its subscriptions */
    size_t n_channels;
    long long redirect; /* the session that gets its invalidations; 0: none */
    int caching;        /* 2: CLIENT CACHING YES was just called; 1: this command is tracked */
    struct evbuffer *out;
    void (*pushed)(struct model_session *s);
    struct model_session *next;
};

void rlk_model_init(struct model *m);

/* Write the incarnation key that clients would have written a day ago. */
void rlk_model_make_old(struct model *m);

/* Restart: no keys, no scripts, a new run_id, uptime 0. */
void rlk_model_restart(struct model *m);

/* Restart, but keep the keys, as a server with an append-only file does. */
void rlk_model_restart_durably(struct model *m);

/* Put its replica in its place: another server with the same keys. */
void rlk_model_promote(struct model *m);

/* FLUSHALL. */
void rlk_model_flush(struct model *m);

/* Forget which keys are tracked, so that nobody is told of their next change. */
void rlk_model_forget_tracked(struct model *m);

/* SCRIPT FLUSH. */
void rlk_model_forget_scripts(struct model *m);

void rlk_model_free(struct model *m);

/* The time by the server's clock, since 1970. */
uint64_t rlk_model_now_us(const struct model *m);

/* Stop that clock. From now on only the test moves it, by `clock_us`, so that no key expires just
 * because the machine is slow. */
void rlk_model_stop_clock(struct model *m);

/* Send messages and invalidations to this session from now on: each is appended to `out`, then
 * `pushed` is called. A session that has not joined gets none. */
void rlk_model_session_join(struct model *m, struct model_session *s, struct evbuffer *out,
                            void (*pushed)(struct model_session *s));
void rlk_model_session_leave(struct model *m, struct model_session *s);

/* Send a message to all subscribers of the channel; returns how many there are. */
size_t rlk_model_publish(struct model *m, const char *channel, const char *text, size_t len);

/* Run a command and append its reply to `out`. */
void rlk_model_run(struct model *m, struct model_session *s, const struct resp_request *request,
                   struct evbuffer *out);

/* Read and change keys of database 0. The value is valid until the next change; NULL: there is no
 * such key. ttl_ms 0: the key does not expire. */
const char *rlk_model_get(struct model *m, const char *key);

/* False: out of memory, and nothing has changed. */
bool rlk_model_set(struct model *m, const char *key, const char *value, uint64_t ttl_ms);
void rlk_model_del(struct model *m, const char *key);

/* How long a key of db 0 still lives; 0 when it is not there or lives for ever. */
uint64_t rlk_model_ttl(struct model *m, const char *key);
size_t rlk_model_count(struct model *m);

/* The waiting list of a key of db 0: the channel at this place, from 1; NULL behind the last. */
const char *rlk_model_waiter(struct model *m, const char *key, size_t place);

#endif
