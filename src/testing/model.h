/* testing/model.h - a small well-behaved Redis: how the fake server answers by default, and the
 * server of the fuzz target `node` when it acts as a good master.
 *
 * It knows the commands that a Redlock client and its scripts send, the keys with their expiry, the
 * scripts that were loaded, and who has logged in. It runs scripts as they are sent, in Lua.
 *
 * Its keys end by its own clock, which a test may set. */
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

/* What a client did with the key of a lock. */
enum model_deed {
    MODEL_GRANTED,
    MODEL_EXTENDED,
    MODEL_RELEASED,
    MODEL_DEEDS
};

struct model {
    /* Below 6 there is no HELLO, below 7 no SET with NX and GET. */
    int major;
    /* The command that deletes a key with a value: "DELEX", "DELIFEQ", or "": it knows neither. */
    const char *native;
    /* Scripts are replicated as a whole (lua-replicate-commands no; every server below 5): none may
     * write after PTTL or TIME unless it asks for another way first. */
    bool whole_scripts;
    /* What HELLO and INFO say. */
    const char *role;
    const char *mode;
    /* NULL: nobody needs to log in. user NULL: "default". */
    const char *user;
    const char *password;
    char run_id[41];
    /* What INFO and CONFIG say besides; a day old, and nothing is kept on disk or evicted. */
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
    /* Its clock is so much ahead of this one, which nobody sets. */
    uint64_t clock_us;
    uint64_t (*steady_us)(void);
    /* Called for each deed, with deed_arg; NULL: nothing is called. */
    void (*deed)(void *arg, enum model_deed deed, const char *key);
    void *deed_arg;
    struct model_key *keys;
    struct lua_State *lua;          /* has the scripts that were loaded; NULL: none were */
    struct model_session *sessions; /* those that joined */
    struct model_tracked *tracked;
};

/* The most channels of a session, and the longest name with its NUL. */
#define MODEL_CHANNELS 4
#define MODEL_CHANNEL 1100

/* All connections but the one that asks. */
#define MODEL_KILL_OTHERS (-1)

/* What the server keeps for each connection. */
struct model_session {
    long long id;
    long db;
    bool logged_in;
    /* The connection that CLIENT KILL asked to end, 0 for none, or MODEL_KILL_OTHERS. */
    long long kill_id;
    char channels[MODEL_CHANNELS][MODEL_CHANNEL]; /* that it has subscribed to */
    size_t n_channels;
    long long redirect; /* the session that gets the invalidations of what it tracks; 0: none */
    int caching;        /* 2: CLIENT CACHING YES was just called; 1: this command is tracked */
    struct evbuffer *out;
    void (*pushed)(struct model_session *s);
    struct model_session *next;
};

void rlk_model_init(struct model *m);

/* Clients have used it for locks for a day: write their incarnation key. */
void rlk_model_make_old(struct model *m);

/* Forget keys and scripts and take a new run_id, as a restart does. Its uptime is 0 then. */
void rlk_model_restart(struct model *m);

/* The same with the keys that a log on the disk has kept. */
void rlk_model_restart_durably(struct model *m);

/* Another server with the same keys stands at its address: its replica. */
void rlk_model_promote(struct model *m);

/* FLUSHALL. */
void rlk_model_flush(struct model *m);

/* Nobody is told of the next change of what is tracked. */
void rlk_model_forget_tracked(struct model *m);

/* Only the scripts, as SCRIPT FLUSH does. */
void rlk_model_forget_scripts(struct model *m);

void rlk_model_free(struct model *m);

/* What the server's own clock says, since 1970. */
uint64_t rlk_model_now_us(const struct model *m);

/* From now on only the test moves that clock, by `clock_us`: a key ends when the test says so, and
 * not when the machine is slow. */
void rlk_model_stop_clock(struct model *m);

/* From now on it gets messages and invalidations: they are appended to `out`, and `pushed` is
 * called after each. A session that has not joined gets none. */
void rlk_model_session_join(struct model *m, struct model_session *s, struct evbuffer *out,
                            void (*pushed)(struct model_session *s));
void rlk_model_session_leave(struct model *m, struct model_session *s);

/* Send a message to those who have subscribed to the channel; returns how many these are. */
size_t rlk_model_publish(struct model *m, const char *channel, const char *text, size_t len);

/* Do one command and append its reply. */
void rlk_model_run(struct model *m, struct model_session *s, const struct resp_request *request,
                   struct evbuffer *out);

/* Look at and change keys of db 0 by hand. The value is NULL when the key is not there and
 * lives until the next change; ttl_ms 0: no expiry. */
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
