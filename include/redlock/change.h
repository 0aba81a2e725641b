/* redlock/change.h - replaces, adds or removes a master while clients run.
 *
 * The masters keep a record of which servers are masters (redlock/record.h). A change writes a new
 * record, and running clients follow it: docs/algorithm.md S15, M7 and M8.
 *
 * redlock_change_masters() begins a change, progress_cb reports its progress, and change_cb its
 * end. Once the record is written, clients follow it without this process. */
#ifndef REDLOCK_CHANGE_H
#define REDLOCK_CHANGE_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct event_base;
struct redlock_options;

/* What a change of the masters is doing. */
enum redlock_change_stage {
    /* It connects to the masters and to a new one, and reads the record. */
    REDLOCK_CHANGE_READS = 0,
    /* It waits until the previous change is over, and no client relies on the masters from before
     * it. */
    REDLOCK_CHANGE_WAITS = 1,
    /* It writes the record: a majority of the former masters and a majority of the new ones have to
     * agree. */
    REDLOCK_CHANGE_WRITES = 2,
    /* The record is written, and clients follow it. When wait_ms is over, the new master votes, or
     * the one that is removed votes no more, even if this process ends first. */
    REDLOCK_CHANGE_SETTLES = 3,
    /* The new master votes, or the one that was removed does not. */
    REDLOCK_CHANGE_DONE = 4
};

/* How far a change has come. */
struct redlock_change_progress {
    /* sizeof(struct redlock_change_progress) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* What it is doing. */
    enum redlock_change_stage stage;
    /* WAITS, SETTLES: how many milliseconds remain, as far as is known; otherwise 0. */
    uint64_t wait_ms;
    /* What holds it up, as a sentence without a full stop; "": nothing is wrong. Lives until the
     * callback returns. */
    const char *error;
};

/* A change in progress. redlock_change_cancel() frees it; otherwise it is freed before change_cb is
 * called. */
struct redlock_change;

/* Called when the stage or the error has changed, and every second while it waits. It may call
 * redlock_change_cancel().
 *
 * change    the handle.
 * progress  borrowed until the callback returns.
 * arg       options.arg. */
typedef void redlock_change_progress_cb(struct redlock_change *change,
                                        const struct redlock_change_progress *progress, void *arg);

/* The end: called once, and never after redlock_change_cancel(). The handle has been freed.
 *
 * REDLOCK_OK: the change is over (REDLOCK_CHANGE_DONE). If `error` is not "", it is a warning: the
 * master that left does not know that it left, because it was not reached.
 *
 * REDLOCK_ECONFIG: the list differs from the record; two of the masters are one server; `joins` is
 * already a master although `leaves` still is one, too; `joins` has the data of another master, or
 * of a former one; `leaves` was replaced or removed before, or it is the only master.
 *
 * REDLOCK_ENOQUORUM: there is no record, or too few masters agreed within timeout_ms; or `leaves`
 * is not on record under this name, and does not reply.
 *
 * After an error the change may still happen: other clients complete what a majority has accepted,
 * and may overrule the rest. To find out, begin the same change again: it does nothing twice.
 *
 * error  says more, as a sentence without a full stop; "": nothing more is known. Borrowed. */
typedef void redlock_change_cb(int status, const char *error, void *arg);

/* No master leaves. */
#define REDLOCK_NO_MASTER SIZE_MAX

/* A server takes the place of a master; or it becomes one more; or a master is removed, and there
 * is one less. Call redlock_change_options_init() first. */
struct redlock_change_options {
    /* sizeof(struct redlock_change_options), set by redlock_change_options_init(). */
    size_t size;
    /* The index of the master that leaves, in `nodes` of the masters' options. It may be down if
     * the others are enough to agree: with three masters, both others have to reply.
     * REDLOCK_NO_MASTER, the default: none does, and `joins` becomes one more. */
    size_t leaves;
    /* The URI of the server that joins, as in options.nodes, but not one of those. It must not have
     * the data of another master. NULL, the default: none does, and `leaves` is removed. */
    const char *joins;
    /* How long to try to write the record: 1 to 86400000, default 60000. Time spent waiting for the
     * previous change does not count. */
    uint32_t timeout_ms;
    /* Reports progress; may be NULL. */
    redlock_change_progress_cb *progress_cb;
    /* Reports the end; may be NULL. */
    redlock_change_cb *change_cb;
    /* Passed to both. */
    void *arg;
};

/* Like redlock_change_options_init(), for languages that cannot use a C header: writes at most
 * `size` bytes. From any thread. Since 0.1. */
REDLOCK_EXPORT void redlock_change_options_init_sized(struct redlock_change_options *options,
                                                      size_t size);

/* Fill *options with the defaults. From any thread. Since 0.1. */
static inline void redlock_change_options_init(struct redlock_change_options *options)
{
    redlock_change_options_init_sized(options, sizeof(*options));
}

/* Replace, add or remove a master while clients run.
 *
 * A new master takes the place of the former one in the record, or is added to it. Running clients
 * notice, and connect to the new one with the TLS settings of another master, and with the user and
 * password of the former, or those that all URIs have, if these are the same. So do clients that
 * are started later with the former list, as long as one of its other masters replies. Held locks
 * stay held; only one that was acquired some milliseconds before the change ends may be lost.
 *
 * The new master votes once every lock has ended that a client may hold without knowing of the
 * change: after max_ttl_ms, the drift, and 5 s. A master that is removed votes until then, if it
 * replies, and the majority is one of the former number. Only then can the next change begin: it
 * waits for the previous one, also for one that another process has begun. Two processes may make
 * the same change at the same time.
 *
 * base        the loop; borrowed until the end.
 * masters     the options of a manager of these masters; copied. It need not be open.
 * options     what to change; copied.
 * ret_change  the handle, written on success only.
 *
 * Returns 0, or an error, and then nothing was begun:
 *   - REDLOCK_EINVAL: NULL, a number out of range, a size that is not possible, `joins` is in the
 *     list already, neither `leaves` nor `joins` is given, the only master is to be removed, there
 *     are REDLOCK_MAX_NODES masters already, or masters->record is 0;
 *   - any of redlock_new(); masters->error_text says more.
 *
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_change_masters(struct event_base *base,
                                          const struct redlock_options *masters,
                                          const struct redlock_change_options *options,
                                          struct redlock_change **ret_change);

/* End a change without a callback. What was written stays, and clients go on with it.
 *
 * change  the handle, freed by this; NULL is fine.
 *
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT void redlock_change_cancel(struct redlock_change *change);

#ifdef __cplusplus
}
#endif

#endif
