/* redlock/companion.h - releases the locks of a program that died.
 *
 * A process that is killed, or crashes, cannot release its locks, and everybody else waits for
 * their TTLs. The companion is a small process beside the program. When the program is dead, it
 * releases the locks of a manager by their tokens, on all masters; the next holder acts some
 * milliseconds later. It is off unless you ask for it, right after redlock_new():
 *
 *     status = redlock_companion_open(rl, NULL);
 *
 * For `redlock lock` and `redlock elect` the supervisor does this: they need no companion.
 *
 * When is the program dead? When its process has ended, whatever the reason (exit() without
 * redlock_close() included), and all processes have ended that it forked since the call and that
 * have not called exec. The kernel says so. Until then nothing is released: a forked child that
 * lives on keeps the locks, for the rest of their TTLs. A core dump is a part of dying.
 *
 * Use a companion only if all that a lock protects ends with these processes. It is NOT safe when
 * something goes on without them:
 *   - another program that the process started by exec (system(3), posix_spawn(3), fork and exec);
 *   - a forked child that closes all files it has inherited (closefrom(3), as daemons do): nobody
 *     sees it any more;
 *   - what another machine or daemon does for the process: a job, a container, a query that the
 *     database still runs;
 *   - something that stays until it is taken back, such as an address that a leader has set up in
 *     elected_cb and would remove in demoted_cb, which does not run. A leadership is released like
 *     every other lock.
 * Then the next holder would begin while that goes on. Make a second manager without a companion
 * for such locks, or end such programs with the process (prctl(2), PR_SET_PDEATHSIG, is not
 * enough: it ends one process, and later).
 *
 * A process that replaces itself by exec is dead in this sense: release its locks before, or detach
 * them.
 *
 * What stays as it is:
 *   - A lock that redlock_lock_detach() gave away is not released. One that redlock_adopt() took
 *     over is, as soon as it is held.
 *   - The companion releases nothing while the program lives, also when it hangs.
 *   - When the companion dies first, or dies together with the program (the machine fails; the
 *     whole cgroup or container is killed), locks are left to their TTLs, as without it.
 *   - A process that is PID 1 of a container has no companion in effect: the kernel kills all
 *     processes of the container together with it. Run the program under an init (docker run
 *     --init).
 */
#ifndef REDLOCK_COMPANION_H
#define REDLOCK_COMPANION_H

#include <stddef.h>

#include <redlock/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock;

/* The state of a manager's companion. */
enum redlock_companion_state {
    /* None was started. */
    REDLOCK_COMPANION_NONE = 0,
    /* It was started, and has not said yet that it is ready. If the program dies now, the companion
     * releases its locks nevertheless. */
    REDLOCK_COMPANION_STARTING = 1,
    /* It waits for the end of the program. */
    REDLOCK_COMPANION_READY = 2,
    /* It has ended: somebody killed it, or it could not start. Locks are left to their TTLs.
     * redlock_companion_open() starts another one. */
    REDLOCK_COMPANION_GONE = 3
};

/* The companion is ready, or has ended. Called from the loop, never inside a library call, and not
 * after redlock_close().
 *
 * state   REDLOCK_COMPANION_READY or _GONE.
 * why     with _GONE: why it could not start, a sentence; "" otherwise. Borrowed: it lives until
 *         the callback returns. */
typedef void redlock_companion_cb(struct redlock *rl, enum redlock_companion_state state,
                                  const char *why, void *arg);

/* How a companion is started. Call redlock_companion_options_init() first. */
struct redlock_companion_options {
    /* sizeof(struct redlock_companion_options), set by redlock_companion_options_init(); see rule
     * 10 in redlock/redlock.h. */
    size_t size;
    /* The command `redlock`, of this version or a later one: a path, or a name without '/', which
     * is searched for in PATH. NULL (default): "redlock". */
    const char *command;
    /* Called when the state changes, with arg; NULL (default): no callback. */
    redlock_companion_cb *cb;
    void *arg;
};

/* Like redlock_companion_options_init(), for languages that cannot use a C header: writes at most
 * `size` bytes. From any thread. Since 0.1. */
REDLOCK_EXPORT void redlock_companion_options_init_sized(struct redlock_companion_options *options,
                                                         size_t size);

/* Fill *options with the defaults. From any thread. Since 0.1. */
static inline void redlock_companion_options_init(struct redlock_companion_options *options)
{
    redlock_companion_options_init_sized(options, sizeof(*options));
}

/* Start a companion for the locks of a manager.
 *
 * From now on each token is written to memory that the companion can read, before the first master
 * is asked for the lock, and removed when its release is over. That takes no system call, except
 * when the memory has to grow. A lock that finds no memory is acquired all the same, and is left to
 * its TTL when the program dies.
 *
 * The process:
 *   - It runs `redlock companion` as the user and with the environment of this process, in a
 *     session of its own. stdin, stdout and stderr are /dev/null. It ignores all signals that can
 *     be ignored, and takes some megabytes of memory, and no CPU while it waits.
 *   - It is no child of this process: there is no SIGCHLD and no zombie. (Only a process that is
 *     init or a subreaper gets it as a child.)
 *   - It gets the masters, the login and the tokens over open files: nothing is in its arguments,
 *     its environment, or on disk. It reads the files of options.password_file and the tls_ options
 *     when it needs them, so they must be readable then, too.
 *   - It makes no connection before the program is dead. Then it releases each token twice, 250 ms
 *     apart, and goes on where a connected master refuses that for now (MISCONF, NOREPLICAS). It
 *     ends after 10 s at the latest, and never later than max_ttl_ms.
 *   - redlock_close() ends it.
 *
 * The call waits until the process has been started: a millisecond or two. In a forked child
 * it returns REDLOCK_EFORK; the child never touches what the companion reads.
 *
 * options   NULL: the defaults; copied.
 *
 * Returns 0, or an error, and then there is no companion, and the manager works as before;
 * redlock_error_text() says more:
 *   - REDLOCK_EINVAL: rl is NULL, the options are not initialised, or a setting of a master cannot
 *     be passed on: a file named by /proc/self or /dev/fd, other than a password_file named
 *     "/proc/self/fd/N";
 *   - REDLOCK_ESTATE: it has a companion; the manager is closing; or it has been asked for a lock
 *     before its first companion;
 *   - REDLOCK_ESYSTEM: the command was not found, or could not be run;
 *   - REDLOCK_ENOMEM; REDLOCK_EFORK.
 *
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_companion_open(struct redlock *rl,
                                          const struct redlock_companion_options *options);

/* The state of the companion. It costs nothing: the library hears of the companion's end by its
 * event loop. REDLOCK_COMPANION_NONE for NULL.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT enum redlock_companion_state redlock_companion_state(const struct redlock *rl);

#ifdef __cplusplus
}
#endif

#endif
