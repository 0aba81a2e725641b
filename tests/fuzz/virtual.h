/* virtual.h - the outside world of a manager: time, chance, memory and sockets, all in this
 * process.
 *
 * virtual.c has functions of its own in place of rlk_clock_us, timerfd_*, getrandom and
 * connect, so that a run depends on its input only and never waits. Time passes when the
 * target says so. A connect gets one end of a pair of sockets; the other is the target's. */
#ifndef RLK_TESTS_FUZZ_VIRTUAL_H
#define RLK_TESTS_FUZZ_VIRTUAL_H

#include <stdbool.h>
#include <stdint.h>

struct event;
struct event_base;
struct evbuffer;

/* Begin at the same time and with the same random numbers as every run; and end it. */
void virtual_begin(void);
void virtual_end(void);

/* A loop that calls `cb` with `arg` whenever everything under way has arrived, until that
 * returns false. */
struct virtual_loop {
    struct event_base *base;
    struct event *idle;
    bool (*on_idle)(void *arg);
    void *arg;
    unsigned descriptors; /* that were open before */
};

void virtual_loop_begin(struct virtual_loop *l, bool (*cb)(void *arg), void *arg);
void virtual_loop_run(struct virtual_loop *l);

/* No event and no descriptor may be left. */
void virtual_loop_end(struct virtual_loop *l);

/* The n-th allocation of the library from here fails; 0: none does. */
void virtual_fail_in(uint64_t n);

/* Whether one has failed in this run. */
bool virtual_out_of_memory(void);

uint64_t virtual_now_us(void);

/* Let time pass, and let the timer expire. */
void virtual_pass(uint64_t us);

/* Let time pass until the timer expires. False when no timer is set. */
bool virtual_pass_to_timer(void);

/* From now on every connect is refused, or no connect is. */
void virtual_refuse(bool refuse);

/* The other end of the socket that was connected last, -1 when there was none since the last
 * call. The caller closes it. */
int virtual_take_peer(void);

/* Read all that is there. False at the end of the connection. */
bool virtual_receive(int fd, struct evbuffer *in);

#endif
