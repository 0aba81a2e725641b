/* chaos/client_register.h - registers: values in a Redis server that is no master. Each remembers
 * the largest fencing token that it was shown, and refuses a smaller one. */
#ifndef CHAOS_CLIENT_REGISTER_H
#define CHAOS_CLIENT_REGISTER_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;

enum register_answer {
    REGISTER_OK,
    REGISTER_REFUSED,
    /* The connection broke: nobody knows whether it was written. */
    REGISTER_UNKNOWN
};

typedef void register_cb(enum register_answer answer, uint64_t value, void *arg);

/* Connect to `target`, unix:PATH or HOST:PORT, and again whenever the connection breaks. Returns
 * false if it has neither form. */
bool register_open(struct event_base *base, const char *target);

/* Whether a call would be sent now. Only then may one be made. */
bool register_is_ready(void);

/* Each logs its `begin` before and its `end` in front of `cb`, which is called once, from the
 * loop. `name` is copied. cb may be NULL. */
void register_read(const char *name, uint64_t fence, register_cb *cb, void *arg);
void register_write(const char *name, uint64_t fence, uint64_t value, register_cb *cb, void *arg);

/* As a client that does not care for fences. */
void register_write_unchecked(const char *name, uint64_t fence, uint64_t value);

/* Disconnect, when no call is pending. */
void register_close(void);

/* Pairs of a read and a write of what was read plus one, under a lock. */
struct pair {
    const char *name;
    uint64_t fence;
    /* Whether the lock is held now. Never asked after is_over was set. */
    bool (*is_held)(void *arg);
    /* Changes the value that is about to be written; NULL: as read plus one. */
    uint64_t (*changes)(uint64_t value, void *arg);
    /* Called when a pair has ended; NULL: not wanted. */
    void (*done)(void *arg);
    void *arg;
    bool is_busy, is_over;
};

/* Begin a pair, unless one is under way, the lock is not held, or the register is not ready. Does
 * nothing without a fence. */
void pair_begin(struct pair *pair);

#endif
