/* redlock/list.h - which keys are locked. A list only reads: it changes nothing on any master.
 *
 * Every master is asked for the names of its keys (SCAN), and then all of them for each key that
 * any of them named, as by redlock_query(). */
#ifndef REDLOCK_LIST_H
#define REDLOCK_LIST_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>
#include <redlock/query.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock;

/* A key that at least one master has. Everything in it is borrowed: it lives until the callback
 * returns. */
struct redlock_listed {
    /* sizeof(struct redlock_listed) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* Its name without the manager's key_prefix; any bytes, and a NUL after them. */
    const char *key;
    size_t key_len;
    /* 1 when `result->token` looks like a token of this library: 40 hex digits, and then nothing or
     * ':' and the owner text. 0: the key belongs to another program or library. */
    int ours;
    /* What the masters have for the key. `held`, `unknown` and `holding` say whether it is a lock
     * now; `nodes` says which masters differ. */
    const struct redlock_query_result *result;
};

/* A key was found; called once for each, in no order. */
typedef void redlock_listed_cb(const struct redlock_listed *key, void *arg);

/* How the scan of one master went. */
struct redlock_list_node {
    /* sizeof(struct redlock_list_node) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* 1: it has named all its keys. */
    int scanned;
    /* Why it has not; "" when it has. */
    const char *error;
    /* How many names of strings under the prefix it sent, duplicates and names of the library's own
     * included. */
    uint64_t names;
    /* How many commands it has answered for this list. */
    uint64_t commands;
};

/* How a list went. Everything in it is borrowed: it lives until the callback returns. */
struct redlock_list_summary {
    /* sizeof(struct redlock_list_summary) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* One for each master, in the order of options.nodes. */
    const struct redlock_list_node *const *nodes;
    size_t n_nodes;
    /* How many masters have named all their keys. */
    size_t scanned;
    /* How many different keys were named; how many of them the listed_cb got; how many were not
     * asked for, because the list ended early. The others were gone when all were asked. */
    uint64_t names;
    uint64_t listed;
    uint64_t unasked;
    /* The commands of all masters, and how long the list took in milliseconds. */
    uint64_t commands;
    uint64_t elapsed_ms;
};

/* The end of a list; called once, after the last listed_cb.
 *
 * REDLOCK_OK: a majority of the masters has named all its keys, and all were asked for each. The
 * list has every key that each master of some majority had all the time from the call to this
 * callback, so every lock that was held all that time. A key that came or went meanwhile may be in
 * the list or not.
 *
 * REDLOCK_ENOQUORUM: fewer masters have named all their keys: locks may be missing.
 *
 * REDLOCK_EDEADLINE: timeout_ms has passed. REDLOCK_ELIMIT: there are more than max_keys keys.
 * REDLOCK_ENOMEM: out of memory. The list ended early: locks may be missing.
 *
 * REDLOCK_ECANCELED: the manager was closed. `summary` is NULL; with the others there is one. */
typedef void redlock_list_cb(const struct redlock_list_summary *summary, int status, void *arg);

/* What to list. Fill it with redlock_list_options_init(), and then set what differs. */
struct redlock_list_options {
    /* Set by redlock_list_options_init(). */
    size_t size;
    /* How the names of the keys begin, without the manager's key_prefix; any bytes. NULL or ""
     * (default): all keys with that key_prefix. prefix_len: its length; 0: it is NUL terminated. It
     * may have REDLOCK_MAX_KEY bytes at most, with key_prefix. */
    const char *prefix;
    size_t prefix_len;
    /* How many commands each master may get in a second: 10 to 1000000, default 10000. A key costs
     * four, and a SCAN counts as ten, because the server looks at 50 keys for it. */
    uint32_t rate;
    /* When the list ends, finished or not: 1 to 86400000 ms, default 600000 (10 min). */
    uint32_t timeout_ms;
    /* The most keys that it keeps in memory, with some 100 bytes each: 1 to 100000000, default
     * 1000000. */
    uint32_t max_keys;
    /* Called for each key, and at the end, with `arg`; neither may be NULL. */
    redlock_listed_cb *listed_cb;
    redlock_list_cb *list_cb;
    void *arg;
};

/* Like redlock_list_options_init(), for languages that cannot use a C header: writes at most `size`
 * bytes. From any thread. Since 0.1. */
REDLOCK_EXPORT void redlock_list_options_init_sized(struct redlock_list_options *options,
                                                    size_t size);

/* Fill *options with the defaults. From any thread. Since 0.1. */
static inline void redlock_list_options_init(struct redlock_list_options *options)
{
    redlock_list_options_init_sized(options, sizeof(*options));
}

/* List the keys of a manager, or those that begin with a prefix.
 *
 * The names are those of strings; the library's own keys are left out: counters
 * (KEY:redlock-fence), wait queues (KEY:redlock-waiting), bids of elections (KEY:redlock-bid) and
 * the incarnation key. Masters that are being connected get connect_timeout_ms for it. A master
 * whose reply takes longer than node_timeout_ms, or is an error, is not scanned further, as one
 * that is down. The scans run side by side, and the keys are asked for meanwhile, so listed_cb may
 * be called before the scans have ended.
 *
 * A list waits for the locks: its queries are sent when the masters have capacity. It needs
 * permission for SCAN (docs/acl.md).
 *
 * options   copied, with the prefix.
 *
 * Returns 0, or an error, and then nothing was sent:
 *   - REDLOCK_EINVAL: redlock_error_text() says why;
 *   - REDLOCK_ESTATE: the manager is closing;
 *   - REDLOCK_ELIMIT: 65536 queries, examinations and lists are pending;
 *   - REDLOCK_ENOMEM; REDLOCK_EFORK; REDLOCK_ESYSTEM.
 *
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_list(struct redlock *rl, const struct redlock_list_options *options);

#ifdef __cplusplus
}
#endif

#endif
