/* redlock/record.h - the record of the masters: which servers are masters, stored on the masters.
 *
 * Locks exclude each other only if all clients have the same masters and the same max_ttl_ms. So
 * the masters keep a record of both, and a client that has others acquires nothing
 * (REDLOCK_ECONFIG). options.record in redlock/manager.h says how it comes about, and
 * docs/algorithm.md S15 which mistakes it finds. */
#ifndef REDLOCK_RECORD_H
#define REDLOCK_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock;

/* What a manager knows of the record. */
enum redlock_record_state {
    /* The manager keeps none: options.record is 0. */
    REDLOCK_RECORD_OFF = 0,
    /* No master has shown one. The first acquire writes it, if all masters can be reached. */
    REDLOCK_RECORD_NONE = 1,
    /* Masters show one that lists our masters, but too few of them are connected to tell whether a
     * majority has agreed on it. */
    REDLOCK_RECORD_SEEN = 2,
    /* A majority has agreed on it, and it lists our masters. */
    REDLOCK_RECORD_AGREED = 3,
    /* It lists other masters than ours, or another max_ttl_ms: acquires fail with REDLOCK_ECONFIG.
     * Locks that are already held go on. */
    REDLOCK_RECORD_OTHER = 4
};

/* The record, as the manager knows it. */
struct redlock_record_info {
    /* sizeof(struct redlock_record_info), set by the caller. */
    size_t size;
    /* What the manager knows of it. */
    enum redlock_record_state state;
    /* A sentence without a full stop: REDLOCK_RECORD_OTHER: what differs. REDLOCK_RECORD_AGREED and
     * _SEEN: why we are not connected to a master that is on record and not in our list; "": we
     * are. Lives until the next loop iteration. */
    const char *error;
    /* Counts the changes of the masters, from 1 on; 0: there is no record. */
    uint32_t epoch;
    /* The longest TTL, in milliseconds; 0: there is no record. */
    uint32_t max_ttl_ms;
    /* How many entries redlock_get_record_master() has. */
    size_t n_entries;
    /* How many of our masters show this record. If not all do, a client that reaches only the
     * others does not see it. */
    size_t shown_by;
    /* How many of our masters can show one now: they are connected, deny us neither INFO, EVAL nor
     * the key, and their policy is not REDLOCK_QUARANTINE_OFF. */
    size_t readable;
};

/* One entry of the record. */
struct redlock_record_master {
    /* sizeof(struct redlock_record_master), set by the caller. */
    size_t size;
    /* Its address in the list of the client that added it, as "redis://host:6379/0" or
     * "unix:///path on MACHINE". Lives until the next loop iteration. */
    const char *address;
    /* Which of our masters it is: an index as in redlock_get_node_info(); -1: none, or unknown. */
    int node;
    /* It is a master from this epoch on. */
    uint32_t from_epoch;
    /* It is no longer a master from this epoch on; 0: it still is one. */
    uint32_t until_epoch;
    /* 1: it is no longer a master because it lost its data; else 0. */
    int lost;
};

/* The record that the manager uses; with REDLOCK_RECORD_OTHER, the one that differs.
 *
 * rl        the manager.
 * ret_info  set its size before.
 *
 * Returns 0, REDLOCK_EINVAL (NULL, or a size that is not possible) or REDLOCK_EFORK.
 * From: the loop's thread. Since 0.1. */
REDLOCK_EXPORT int redlock_get_record(const struct redlock *rl,
                                      struct redlock_record_info *ret_info);

/* An entry of the same record: the masters, and some former ones.
 *
 * rl          the manager.
 * index       0 to n_entries - 1.
 * ret_master  set its size before.
 *
 * Returns 0, REDLOCK_EINVAL (NULL, no such entry, or a size that is not possible) or REDLOCK_EFORK.
 * From: the loop's thread. Since 0.1. */
REDLOCK_EXPORT int redlock_get_record_master(const struct redlock *rl, size_t index,
                                             struct redlock_record_master *ret_master);

/* What became of the record on one master. */
struct redlock_delete_record_node {
    /* sizeof(struct redlock_delete_record_node) of the library; see rule 10 in redlock/redlock.h.
     */
    size_t size;
    /* 1: it no longer has a record. 0: it may still have one. */
    int gone;
    /* 1: it had one until now. */
    int had;
    /* Why it may still have one; "" when it has none. */
    const char *error;
};

/* What became of the record. Everything in it is borrowed: it lives until the callback returns. */
struct redlock_delete_record_result {
    /* sizeof(struct redlock_delete_record_result) of the library; see rule 10 in redlock/redlock.h.
     */
    size_t size;
    /* One for each master, in the order of options.nodes. */
    const struct redlock_delete_record_node *const *nodes;
    size_t n_nodes;
    /* How many masters no longer have one. */
    size_t gone;
};

/* The end of redlock_delete_record(); called once.
 *
 * REDLOCK_OK: the record is gone from all masters.
 *
 * REDLOCK_ENOQUORUM: some may still have it, and `result` says which. Here all masters are needed.
 *
 * REDLOCK_ECANCELED: the manager was closed. `result` is NULL, and some may still have it. */
typedef void redlock_delete_record_cb(const struct redlock_delete_record_result *result, int status,
                                      void *arg);

/* Delete the record on every master that can be reached, before clients get other masters or
 * another max_ttl_ms.
 *
 * Until a client writes a new record, nothing notices that two clients have different masters, and
 * both may hold one lock. So first stop all clients of these masters, also those with other lists,
 * and start them when this has succeeded. A client that keeps running writes its record again. This
 * manager writes none again; close it.
 *
 * This waits up to node_timeout_ms for masters that are being connected, and not for those that are
 * down: these keep the record, and show it to clients. options.record may be 0.
 *
 * cb, arg   called once, at the end; cb must not be NULL.
 *
 * Returns 0, or an error, and then nothing was sent:
 *   - REDLOCK_EINVAL for NULL;
 *   - REDLOCK_ESTATE: the manager is closing;
 *   - REDLOCK_ELIMIT: 65536 queries and examinations are pending;
 *   - REDLOCK_ENOMEM; REDLOCK_EFORK.
 *
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_delete_record(struct redlock *rl, redlock_delete_record_cb *cb,
                                         void *arg);

#ifdef __cplusplus
}
#endif

#endif
