/* io/farm.h - a manager of the library on a row of fake servers, all on one loop.
 *
 *     static struct farm f;
 *
 *     FIXTURE(NULL, farm_end_all);
 *
 *     farm_start(&f, 5, FAKE_UNIX);
 *     f.options.key_prefix = "locks:";
 *     fake_on(f.nodes[0], "SET", FAKE_STALL, NULL);
 *     farm_open(&f);
 *     got = farm_acquire(&f, "key");
 *     ck_assert_int_eq(got.status, REDLOCK_OK);
 *
 * The timeouts are so long that none passes by itself. Everything is traced, and each line is
 * checked. */
#ifndef RLK_TESTS_IO_FARM_H
#define RLK_TESTS_IO_FARM_H

#include <redlock/redlock.h>

#include "io/outcome.h"
#include "lib/fake.h"
#include "lib/loop.h"
#include "lib/runner.h"

struct event_base;

#define FARM_MOST OUTCOME_MOST

/* A timeout that never passes in a test, unless farm_time_out() makes it pass. A short timeout
 * would pass now and then on a busy machine, before the servers can answer. */
#define FARM_NEVER_MS 60000u

struct farm {
    struct event_base *base;
    size_t n;
    struct fake *nodes[FARM_MOST];
    const char *uris[FARM_MOST];
    char error_text[256];
    struct redlock_options options;
    struct redlock *rl;
    struct farm *next; /* of those that were started and not ended */
};

/* Make the loop and the servers, and fill the options. */
void farm_start(struct farm *f, size_t n, enum fake_where where);

/* The same with servers on unix sockets, and with stopped clocks: only suspend_ms() moves that of
 * the library, and `clock_us` that of a server's model. */
void farm_start_frozen(struct farm *f, size_t n);

/* Make the manager, and wait until every node is up. */
void farm_open(struct farm *f);

/* Both, with servers on unix sockets. */
void farm_start_open(struct farm *f, size_t n);

/* Only make the manager. */
void farm_open_at_once(struct farm *f);

/* Wait until a node is in a state. */
void farm_wait(struct farm *f, size_t node, enum redlock_node_state state);
enum redlock_node_state farm_state(struct farm *f, size_t node);

/* Wait until a node has an error text that contains `word` ("": any text). Afterwards
 * farm_error() returns it. */
void farm_wait_error(struct farm *f, size_t node, const char *word);
const char *farm_error(struct farm *f, size_t node);

/* Close the manager if it is open, wait for that, and free everything. */
void farm_end(struct farm *f);
void farm_close(struct farm *f);

/* After a test: let time pass again, and end the farms that the test started. Then its local
 * variables are gone; so what a callback writes during a close must be static. */
void farm_end_all(void);

/* Acquire, and wait for the callback. The second also takes the request. */
struct outcome farm_acquire(struct farm *f, const char *key);
struct outcome farm_acquire_as(struct farm *f, const struct redlock_request *request);

/* The same, and fail the test unless it succeeds. */
struct outcome farm_must_acquire(struct farm *f, const char *key);
struct outcome farm_must_acquire_as(struct farm *f, const struct redlock_request *request);

/* Release, wait for the callback, and return its status. */
int farm_release(struct farm *f, struct redlock_lock *lock);

/* Let everything be answered that can be; then let all timeouts of FARM_NEVER_MS pass. A lock of
 * OUTCOME_TTL_MS outlives one call. */
void farm_time_out(struct farm *f);

/* Acquire or release, and wait for the callback, which comes after the timeouts. */
struct outcome farm_acquire_to_timeout(struct farm *f, const char *key);
int farm_release_to_timeout(struct farm *f, struct redlock_lock *lock);

/* For servers first to last - 1 what fake.h and model.h do for one. */
void farm_on(struct farm *f, size_t first, size_t last, const char *command, enum fake_how how,
             const char *bytes);
void farm_pause(struct farm *f, size_t first, size_t last);
void farm_go_on(struct farm *f, size_t first, size_t last);
void farm_down(struct farm *f, size_t first, size_t last);
void farm_up(struct farm *f, size_t first, size_t last);
void farm_set(struct farm *f, size_t first, size_t last, const char *key, const char *value,
              uint64_t ttl_ms);

/* How many servers have that value for the key; NULL: how many have no such key. */
size_t farm_count(struct farm *f, const char *key, const char *value);

/* On servers first to last - 1 another client gets the key "k". */
#define FARM_OTHER "somebody"
void farm_give_away(struct farm *f, size_t first, size_t last);

/* On all servers that key is gone. */
void farm_end_other(struct farm *f);

/* Wait until a server has got so many commands that begin with `command`. */
void farm_wait_count(struct farm *f, size_t node, const char *command, size_t count);

/* Wait until no server has the key; until no server has any key. */
void farm_wait_gone(struct farm *f, const char *key);
void farm_wait_clean(struct farm *f);

/* The token of a SET on a connection: the third word. Fails the test when there is no such
 * command. */
const char *farm_token_at(struct farm *f, size_t node, size_t conn, size_t at);

/* Check rule S5 on one connection: a release of the token comes after the SET at `at`. */
void farm_must_release_after(struct farm *f, size_t node, size_t conn, size_t at);

/* The index of the release of a token on a connection, from `from` on, or -1. */
long farm_find_release(struct farm *f, size_t node, size_t conn, size_t from, const char *token);

#endif
