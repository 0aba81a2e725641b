/* redlock/testing.h - masters inside a test program: unit tests without a redis-server.
 *
 *     struct redlock_testing *masters;
 *
 *     redlock_testing_new(5, &masters);
 *     redlock_options_init(&options);
 *     options.nodes = redlock_testing_nodes(masters);
 *     options.n_nodes = redlock_testing_node_count(masters);
 *     ... redlock_new() or redlock_sync_new(), and what you want to test ...
 *     assert(redlock_testing_count(masters, REDLOCK_TESTING_RELEASED, "my-key") == 1);
 *     redlock_testing_free(masters);
 *
 * The masters handle the library's commands and scripts as Redis 7 does: they run the scripts as
 * sent, in Lua 5.1. So your program uses the real library, over real sockets, and a test decides
 * what happens to the masters. They listen on unix sockets in a temporary folder, and have a thread
 * of their own. So they work with your event loop, with the blocking API and with the C++ headers,
 * even while your thread waits in a call. Other processes can use them, too: redlock(1), for
 * example, with their URIs in $REDLOCK_NODES.
 *
 * This header is not part of redlock/redlock.h, and its functions are in a separate static library,
 * for tests only:
 *
 *     cc test.c $(pkg-config --cflags --libs libredlock libredlock-testing)
 *
 * Time is real: keys and locks expire by the system's clock. But a test needs no sleep:
 *
 *   - A lock is granted at once, because the URIs of the masters turn quarantine off. Do not set
 *     another policy in them; redlock_options.quarantine is only for URIs without one.
 *   - To end a lock, call redlock_testing_lose() instead of waiting for its TTL to pass.
 *   - The holder learns of a loss at its next renewal, which begins after a quarter to a third of
 *     the TTL. Wait for what your program reacts to: the notification, or redlock_sync_lock_fd()
 *     with poll(2). With a TTL of 1000 ms that takes a third of a second. redlock_extend() asks the
 *     masters at once.
 *   - If a lock must stay held in a test, give it a long TTL, such as 10000 ms, so that it is not
 *     lost on a busy machine. So make the TTL a parameter of your program.
 *   - Set node_timeout_ms and connect_timeout_ms to 5000 in tests where every master answers, also
 *     under valgrind. Masters that answer cost no time. Leave the default (500) where a test makes
 *     a master silent: the library waits that long for it.
 *
 * Every function may be called from any thread, also in callbacks of the library, and returns when
 * the masters have done what it asks. The client learns of it later, from a reply, a message or a
 * closed connection. In a child after fork(), the functions return REDLOCK_EFORK: the child can
 * connect to its parent's masters by their URIs, but only the parent controls them. All functions:
 * since 0.1.
 */
#ifndef REDLOCK_TESTING_H
#define REDLOCK_TESTING_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A set of masters, with their thread and their folder. A program may have several sets; they share
 * no locks. */
struct redlock_testing;

/* Start masters. When this returns, they are empty and listen.
 *
 * n_masters     1 to 63; 5 is usual.
 * ret_testing   written on success only. Free it with redlock_testing_free().
 *
 * The folder is made in $TMPDIR if that is an absolute path, otherwise in /tmp. A process that ends
 * without redlock_testing_free(), such as a test that fails, leaves its folder behind; this call
 * removes such folders. The masters' thread blocks all signals except those for faults of the
 * thread itself (SIGSEGV and the like).
 *
 * Returns 0, or an error, which redlock_testing_error_text() explains. After an error, nothing is
 * left behind:
 *   - REDLOCK_EINVAL: NULL, or n_masters is out of range;
 *   - REDLOCK_ENOMEM;
 *   - REDLOCK_ESYSTEM: the folder, a socket or the thread could not be created. */
int redlock_testing_new(size_t n_masters, struct redlock_testing **ret_testing);

/* Stop the masters: close their connections, end their thread and remove their folder. Close the
 * managers first; for a manager that still runs, its masters are down then. Does nothing for NULL
 * or in a forked child. No other call on `testing` may be running. */
void redlock_testing_free(struct redlock_testing *testing);

/* Why the last call that failed in this thread did so, as a sentence; "" if none has failed. Never
 * NULL; at most 255 bytes. Valid until the thread's next call. */
const char *redlock_testing_error_text(void);

/* The URIs of the masters, for redlock_options.nodes, in their order; such as
 * "unix:///tmp/redlock-testing-4T8uCz/0?quarantine=off". They never change, and are valid as long
 * as `testing`. NULL for NULL. */
const char *const *redlock_testing_nodes(const struct redlock_testing *testing);

/* How many masters there are; 0 for NULL. */
size_t redlock_testing_node_count(const struct redlock_testing *testing);

/* ---- keys: somebody else holds one, or it is lost ---- */

/* Let somebody else hold this key from now on, on every master, also on those that are silent or
 * down. The previous holder, if any, loses the lock: its next renewal finds another value.
 *
 * key      the full name of the key on the masters, with key_prefix; 1 to 1024 bytes. Keys are in
 *          database 0, where those of a manager are unless its URIs say otherwise.
 * owner    the owner text that others read; printable ASCII of at most 208 bytes; NULL for none.
 * ttl_ms   for how long; 0: until redlock_testing_lose(). At most 86400000 (24 h).
 *
 * Returns 0; REDLOCK_EINVAL; REDLOCK_ENOMEM: some masters may have the key; REDLOCK_ESYSTEM: no
 * random bytes are available; REDLOCK_EFORK. */
int redlock_testing_hold(struct redlock_testing *testing, const char *key, const char *owner,
                         uint32_t ttl_ms);

/* Delete a key on the first n_masters masters, as DEL by hand does. Clients that wait for the key
 * are woken.
 *
 * key         as for redlock_testing_hold(). It need not exist.
 * n_masters   how many masters lose it: 1 to all. A majority: the holder loses the lock. Fewer: the
 *             holder keeps the lock, and restores the key after its next renewal. But until the
 *             first renewal or extension, only the masters that granted the lock first count:
 *             losing the key on one of them can lose the lock.
 *
 * Returns 0; REDLOCK_EINVAL; REDLOCK_ENOMEM: the key is deleted, but a waiting client may not have
 * been woken; REDLOCK_EFORK. */
int redlock_testing_lose(struct redlock_testing *testing, const char *key, size_t n_masters);

/* ---- masters: one fails, and comes back ---- */

/* How a master behaves. */
enum redlock_testing_state {
    /* It accepts connections and answers. Each master begins in this state. */
    REDLOCK_TESTING_UP = 0,
    /* It answers nothing, like a process that is stopped. Connections stay open; commands wait, and
     * are carried out when it is up again. */
    REDLOCK_TESTING_SILENT = 1,
    /* Its connections end, and it refuses new ones. Waiting commands are not carried out. It keeps
     * its keys. */
    REDLOCK_TESTING_DOWN = 2
};

/* Set the state of one master.
 *
 * master   its index in redlock_testing_nodes().
 * state    a value of enum redlock_testing_state. Nothing changes if the master is in this state
 *          already.
 *
 * Returns 0; REDLOCK_EINVAL; REDLOCK_ENOMEM or REDLOCK_ESYSTEM when it cannot listen again, and
 * stays down; REDLOCK_EFORK. */
int redlock_testing_set_state(struct redlock_testing *testing, size_t master, int state);

/* Restart one master without its data: its connections end, its keys and scripts are gone, and it
 * has a new run_id. It is up afterwards, even if it was silent or down.
 *
 * Returns 0; REDLOCK_EINVAL; REDLOCK_ENOMEM or REDLOCK_ESYSTEM when it cannot listen again, and is
 * empty and down; REDLOCK_EFORK. */
int redlock_testing_restart(struct redlock_testing *testing, size_t master);

/* ---- counts: what clients did ---- */

/* What redlock_testing_count() counts for a key. */
enum redlock_testing_event {
    /* A client set the key while nobody held it: it acquired the lock (or restored a lost key). */
    REDLOCK_TESTING_GRANTED = 0,
    /* A client extended an existing key: it renewed, adopted or extended the lock. */
    REDLOCK_TESTING_EXTENDED = 1,
    /* A client deleted the key, or reserved it for another client (redlock_hand_over()). A key that
     * expired, or that a function of this header deleted, is not counted. */
    REDLOCK_TESTING_RELEASED = 2,
    /* Whether the key exists now: 1 or 0. */
    REDLOCK_TESTING_HELD = 3
};

/* How often this has happened to a key, as seen by a majority of the masters: each of these has
 * seen it at least this often. So an acquired lock counts once, whatever the minority has answered
 * so far. The numbers never fall, except that of REDLOCK_TESTING_HELD. They survive the restart of
 * a master.
 *
 * A lock is counted as released by the time the callback of redlock_release() is called, or
 * redlock_sync_release() returns.
 *
 * event   a value of enum redlock_testing_event.
 * key     as for redlock_testing_hold().
 *
 * Returns the number, or an error, which is negative: REDLOCK_EINVAL, REDLOCK_EFORK. */
int64_t redlock_testing_count(struct redlock_testing *testing, int event, const char *key);

/* How many commands a master has carried out since redlock_testing_new(), including handshakes and
 * inspections. It shows whether a program asked a master at all, or has stopped asking.
 *
 * Returns the number, or an error, which is negative: REDLOCK_EINVAL, REDLOCK_EFORK. */
int64_t redlock_testing_commands(struct redlock_testing *testing, size_t master);

#ifdef __cplusplus
}
#endif

#endif
