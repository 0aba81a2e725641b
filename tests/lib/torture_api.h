/* lib/torture_api.h - what torture has recorded about a scenario: its managers and calls. */
#ifndef RLK_TESTS_LIB_TORTURE_API_H
#define RLK_TESTS_LIB_TORTURE_API_H

#include <redlock/redlock.h>
#include <stdbool.h>

struct torture_manager {
    struct torture_manager *next;
    struct redlock *rl;
    struct event_base *base; /* NULL: the scenario has freed it */
    bool open, closing;
};

/* A call with a callback. */
struct torture_call {
    struct torture_call *next;
    const char *what;
    struct event_base *base;
    struct torture_manager *manager;
    const struct redlock_lock *lock; /* of an acquire that has succeeded */
    bool refused;
    bool is_lost; /* a notice said that the lock is lost */
    int reported;
    redlock_acquire_cb *lock_cb; /* the same type as a release's and an extension's */
    redlock_notice_cb *notice_cb;
    redlock_query_cb *query_cb;
    redlock_examine_cb *examine_cb;
    redlock_listed_cb *listed_cb;
    redlock_list_cb *list_cb;
    redlock_history_cb *history_cb;
    redlock_close_cb *close_cb;
    void *arg;
};

extern struct torture_manager *torture_managers;
extern struct torture_call *torture_calls;

/* Set when an assertion failed inside a callback: the loop has to be left. */
extern bool torture_is_leaving;

/* A call of the library begins, and has ended with a status, which is returned. c may be NULL. */
void torture_api_begin(void);
int torture_api_end(struct torture_call *c, int status);
bool torture_api_is_inside(void);

/* The manager that is open; NULL: none. */
struct torture_manager *torture_api_manager(const struct redlock *rl);

/* Call a callback of the scenario, unless that is over. When an assertion fails in it, the loop is
 * left. */
void torture_api_call_back(struct event_base *base, void (*call)(void *arg), void *arg);

/* torture_election.c: a failure that an election names is a report; check at the end that each lead
 * has ended. */
void torture_election_read_failures(void);
void torture_election_check(void);

/* Close a manager in the same way as the scenario would. */
void torture_api_close_one(struct torture_manager *m);

#endif
