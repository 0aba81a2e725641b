/* redlock/change.h - replaces a master while clients run.
 *
 * The masters have on record which masters there are (redlock/record.h). A change writes a new
 * record, and clients that run follow it: docs/algorithm.md S15, M7. The number of masters stays.
 *
 * The life of a change: redlock_change_masters() begins it, progress_cb says how far it is, and
 * change_cb is its end. Once the record is written, clients follow it without this process. */
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
    /* It connects to the masters and to the new one, and reads the record. */
    REDLOCK_CHANGE_READS = 0,
    /* It waits for the change before it: until no client relies on the masters of then. */
    REDLOCK_CHANGE_WAITS = 1,
    /* It writes the record: a majority of the former masters has to agree, and one of the new. */
    REDLOCK_CHANGE_WRITES = 2,
    /* The record is written, and clients follow. The new one votes when wait_ms is over, also if
     * this process ends. */
    REDLOCK_CHANGE_SETTLES = 3,
    /* The new one votes. */
    REDLOCK_CHANGE_DONE = 4
};

/* How far a change has come. */
struct redlock_change_progress {
    /* sizeof(struct redlock_change_progress) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* What it is doing. */
    enum redlock_change_stage stage;
    /* WAITS, SETTLES: for how many milliseconds still, as far as is known; otherwise 0. */
    uint64_t wait_ms;
    /* Why it does not go on, as a sentence without a full stop; "": nothing is wrong. Lives until
     * the callback returns. */
    const char *error;
};

/* A change that goes on. It is freed by redlock_change_cancel(), or before change_cb is called. */
struct redlock_change;

/* Called when the stage or the error has changed, and each second while it waits. It may call
 * redlock_change_cancel().
 *
 * change    the handle.
 * progress  borrowed until the callback returns.
 * arg       options.arg. */
typedef void redlock_change_progress_cb(struct redlock_change *change,
                                        const struct redlock_change_progress *progress, void *arg);

/* The end; called once, and never after redlock_change_cancel(). The handle is freed already.
 *
 * REDLOCK_OK: the new one is a master and votes.
 *
 * REDLOCK_ECONFIG: the list is not that on record, two of the masters are one server, or `joins` is
 * a master already and so is the one that it is to replace.
 *
 * REDLOCK_ENOQUORUM: there is no record, or timeout_ms was over before enough masters had agreed.
 *
 * After an error the change may have happened all the same: others complete what was written by a
 * majority, and overrule what was not. To find out, begin the same change again: what is done is
 * not done twice.
 *
 * error  says more, as a sentence without a full stop; "": nothing more is known. Borrowed. */
typedef void redlock_change_cb(int status, const char *error, void *arg);

/* A server takes the place of a master. Call redlock_change_options_init() first. */
struct redlock_change_options {
    /* sizeof(struct redlock_change_options), set by redlock_change_options_init(). */
    size_t size;
    /* The index of the master that is replaced, in the nodes of the masters' options. It may be
     * down, unless the others are too few to agree: with three masters both others have to reply.
     */
    size_t leaves;
    /* The URI of the server that takes its place, as in options.nodes, and not one of these. It
     * must not have the data of another master. */
    const char *joins;
    /* How long to try until the record is written: 1 to 86400000, default 60000. The waits for
     * former changes do not count. */
    uint32_t timeout_ms;
    /* How far it is; may be NULL. */
    redlock_change_progress_cb *progress_cb;
    /* The end; may be NULL. */
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

/* Replace a master while clients run.
 *
 * The record of the masters gets the new one in the place of the former. Clients that run read that
 * and connect to the new one, with the user, password and TLS settings that they have for the
 * former. So do clients that are started later with the former list, as long as one of its other
 * masters replies. Locks that are held stay held.
 *
 * The new one votes when every lock has ended that a client may hold without knowing of the change:
 * after max_ttl_ms, the drift, and 5 s. Only then may the next master be replaced: a change waits
 * for the one before it. A change that another process makes at the same time is either this one,
 * or it is waited for.
 *
 * base        the loop; borrowed until the end.
 * masters     the options of a manager of these masters; copied. It need not be open.
 * options     what to change; copied.
 * ret_change  the handle, written on success only.
 *
 * Returns 0, or an error, and then nothing was begun:
 *   - REDLOCK_EINVAL: NULL, a number out of range, a size that is not possible, `joins` is in the
 *     list already, or masters->record is 0;
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
