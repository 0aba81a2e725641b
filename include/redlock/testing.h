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
 * The masters do what a Redis 7 does with the commands and scripts of the library: they run the
 * scripts as they are sent, in Lua 5.1. So your program uses the real library, over real sockets,
 * and a test decides what happens to the masters. They listen on unix sockets in a temporary folder
 * of their own, and run on a thread of their own. So they work with your event loop, with the
 * blocking API and with the C++ headers, also while your thread waits in a call. Other processes
 * can use them, too: redlock(1), for example, with these URIs in $REDLOCK_NODES.
 *
 * This header is not part of redlock/redlock.h, and its functions are in a library of their own,
 * which is static and for tests only:
 *
 *     cc test.c $(pkg-config --cflags --libs libredlock libredlock-testing)
 *
 * Time is real time: the masters' keys end by the system's clock, as the locks do. A test needs no
 * sleep all the same:
 *
 *   - A lock is granted at once: the quarantine of the masters is off, by their URIs. Do not set
 *     another policy for them; redlock_options.quarantine is for URIs without one.
 *   - To let a lock end, call redlock_testing_lose() instead of waiting for the end of its TTL.
 *   - The holder learns of a loss by its next renewal, which begins when a quarter to a third of
 *     the TTL has passed. Wait for what your program does then: for the notification, or with
 *     poll(2) for redlock_sync_lock_fd(). With a TTL of 1000 ms that takes a third of a second.
 *     redlock_extend() asks the masters at once.
 *   - The test of a lock that stays held is safer with a long TTL, such as 10000 ms: then a busy
 *     machine loses no lock. So let your program take the TTL from its caller, and set
 *     node_timeout_ms (default 50) to some seconds where no master is silent.
 *
 * Every function may be called from any thread, callbacks of the library included, and returns when
 * the masters have done it. The client learns of it later: by a reply, a message or the end of a
 * connection. After fork() the child gets REDLOCK_EFORK: its parent's masters are reachable by
 * their URIs, but belong to the parent. All functions are since 0.1.
 */
#ifndef REDLOCK_TESTING_H
#define REDLOCK_TESTING_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A set of masters, their thread and their folder. A program may have several; locks of one set are
 * unknown to the others. */
struct redlock_testing;

/* Start masters. They listen, and are empty, when this returns.
 *
 * n_masters     1 to 63; 5 is usual.
 * ret_testing   written on success only. End it with redlock_testing_free().
 *
 * The folder is made in $TMPDIR if that is an absolute path, otherwise in /tmp. A process that ends
 * without redlock_testing_free(), such as a test that fails, leaves its folder there; this call
 * removes such folders. The thread blocks all signals except those that report a fault of a thread
 * (SIGSEGV and the like).
 *
 * Returns 0, or an error, and redlock_testing_error_text() says more. Then nothing is left:
 *   - REDLOCK_EINVAL: NULL, or n_masters is out of range;
 *   - REDLOCK_ENOMEM;
 *   - REDLOCK_ESYSTEM: the folder, a socket or the thread could not be made. */
int redlock_testing_new(size_t n_masters, struct redlock_testing **ret_testing);

/* End the masters: their connections end, their thread ends, their folder is removed. Close the
 * managers before; one that still runs notices that its masters are down. NULL is fine. Does
 * nothing in a forked child. No other call on `testing` may be running. */
void redlock_testing_free(struct redlock_testing *testing);

/* What was wrong with the last call of this thread that failed: a sentence. "" before the first.
 * Never NULL; at most 255 bytes. Lives until the thread's next call. */
const char *redlock_testing_error_text(void);

/* The URIs of the masters, for redlock_options.nodes, in their order; such as
 * "unix:///tmp/redlock-testing-4T8uCz/0?quarantine=off". They never change, and live as long as
 * `testing`. NULL for NULL. */
const char *const *redlock_testing_nodes(const struct redlock_testing *testing);

/* How many masters there are; 0 for NULL. */
size_t redlock_testing_node_count(const struct redlock_testing *testing);

/* ---- keys: somebody else holds one, or it is lost ---- */

/* Somebody else holds this key from now on, on every master, also on those that are silent or down.
 * A holder so far loses the lock: its next renewal finds another value.
 *
 * key      the name of the key as the masters have it: key_prefix and all; 1 to 1024 bytes. Keys
 *          are in database 0, where those of a manager are unless its URIs say otherwise.
 * owner    the owner text that others read; printable ASCII of at most 208 bytes; NULL for none.
 * ttl_ms   for how long; 0: until redlock_testing_lose(). At most 86400000 (24 h).
 *
 * Returns 0; REDLOCK_EINVAL; REDLOCK_ENOMEM, after which some masters may have it; REDLOCK_ESYSTEM
 * when there are no random bytes; REDLOCK_EFORK. */
int redlock_testing_hold(struct redlock_testing *testing, const char *key, const char *owner,
                         uint32_t ttl_ms);

/* Delete a key on the first masters, as DEL by hand does. Clients that wait for the key are woken.
 *
 * key         as for redlock_testing_hold(). It need not be there.
 * n_masters   how many masters lose it: 1 to all. A majority: the holder loses the lock. Fewer: the
 *             holder keeps the lock, and restores the key after its next renewal. But before the
 *             first renewal or extension only those masters count for a lock that granted it first:
 *             then it can be lost with one of them.
 *
 * Returns 0; REDLOCK_EINVAL; REDLOCK_ENOMEM, after which the key is deleted, and a client that
 * waits may not have been woken; REDLOCK_EFORK. */
int redlock_testing_lose(struct redlock_testing *testing, const char *key, size_t n_masters);

/* ---- masters: one fails, and comes back ---- */

/* How a master behaves. */
enum redlock_testing_state {
    /* It accepts connections and answers: how each master begins. */
    REDLOCK_TESTING_UP = 0,
    /* It answers nothing, as a process that is stopped. Connections stay, commands wait, and are
     * carried out when it is up again. */
    REDLOCK_TESTING_SILENT = 1,
    /* Its connections end, and it refuses new ones. Commands that wait are not carried out. It
     * keeps its keys. */
    REDLOCK_TESTING_DOWN = 2
};

/* Set the state of one master.
 *
 * master   its index in redlock_testing_nodes().
 * state    a value of enum redlock_testing_state. The state that it has already: nothing changes.
 *
 * Returns 0; REDLOCK_EINVAL; REDLOCK_ENOMEM or REDLOCK_ESYSTEM when it cannot listen again: it is
 * still down then; REDLOCK_EFORK. */
int redlock_testing_set_state(struct redlock_testing *testing, size_t master, int state);

/* Restart one master without its data: its connections end, its keys and scripts are gone, and it
 * is another run (run_id). If it is silent or down it is up afterwards.
 *
 * Returns 0; REDLOCK_EINVAL; REDLOCK_ENOMEM or REDLOCK_ESYSTEM when it cannot listen again: it is
 * empty and down then; REDLOCK_EFORK. */
int redlock_testing_restart(struct redlock_testing *testing, size_t master);

/* ---- counts: what clients did ---- */

/* What redlock_testing_count() counts for a key. */
enum redlock_testing_event {
    /* A client set the key, and nobody held it: it acquired the lock (or restored a key that was
     * lost). */
    REDLOCK_TESTING_GRANTED = 0,
    /* A client extended the key that was there: it renewed the lock, or adopted or extended it. */
    REDLOCK_TESTING_EXTENDED = 1,
    /* A client deleted the key, or reserved it for another (redlock_hand_over()). A key that
     * expired, or that a function of this header deleted, is not counted. */
    REDLOCK_TESTING_RELEASED = 2,
    /* The key is there now: 1 or 0. */
    REDLOCK_TESTING_HELD = 3
};

/* How often a majority of the masters has seen this for a key: so many masters saw it that often or
 * more often. So an acquired lock is counted once, whatever the minority has answered so far. The
 * numbers never fall, except that of REDLOCK_TESTING_HELD. They survive a restart of a master.
 *
 * After the callback of redlock_release() or the return of redlock_sync_release(), the lock is
 * counted as released.
 *
 * event   a value of enum redlock_testing_event.
 * key     as for redlock_testing_hold().
 *
 * Returns the number, or an error, which is negative: REDLOCK_EINVAL, REDLOCK_EFORK. */
int64_t redlock_testing_count(struct redlock_testing *testing, int event, const char *key);

/* How many commands a master has carried out since it was made, the handshakes of connections and
 * inspections included. To see that a program asked a master at all, or has stopped to ask.
 *
 * Returns the number, or an error, which is negative: REDLOCK_EINVAL, REDLOCK_EFORK. */
int64_t redlock_testing_commands(struct redlock_testing *testing, size_t master);

#ifdef __cplusplus
}
#endif

#endif
