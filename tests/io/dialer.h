/* io/dialer.h - one dial on a loop of its own, and the places that it may be connected to.
 *
 *     dialer_begin();
 *     dialer_drops(1);
 *     dialer_accepts(2);
 *     ck_assert_uint_eq(dialer_connected(), 1);
 *     dialer_end();
 *
 * A place is a port on 127.0.0.<last>, or on ::1 (0): the same port for all. The first place is
 * number 0. */
#ifndef RLK_TESTS_IO_DIALER_H
#define RLK_TESTS_IO_DIALER_H

#include <stdbool.h>
#include <sys/socket.h>

#include "net/dial.h"
#include "net/loop.h"
#include "net/uri.h"

#define DIALER_MOST 8

struct dialer_place {
    struct sockaddr_storage at;
    socklen_t len;
    int listener;
    int queued[3]; /* connections that fill the queue of a listener that drops the next */
    int n_queued;
};

extern struct event_base *dialer_base;
extern struct rlk_loop dialer_loop;
extern struct rlk_dial dialer;
extern struct dialer_place dialer_places[DIALER_MOST];
extern unsigned dialer_n_places;

/* What the dial reported: how often, the socket or -1, and why. */
extern int dialer_done, dialer_fd;
extern enum rlk_fault_kind dialer_fault;
extern char dialer_reason[128];

void dialer_begin(void);
void dialer_end(void);

/* Whether this machine has no ::1. Then the test that asks is skipped. */
bool dialer_skips_ipv6(void);

/* Make a place that accepts connections; or refuses them; or drops the packets of those that want
 * to connect, because the queue of its listener is full. */
void dialer_accepts(unsigned char last);
void dialer_refuses(unsigned char last);
void dialer_drops(unsigned char last);

/* Start to connect to a host at the port of the places. */
void dialer_start(const char *host);

/* Whether the socket of the dial is connected to this place. */
bool dialer_is_at(unsigned place);

/* Start, and return the number of the place that was connected; the socket is closed. */
unsigned dialer_connected_to(const char *host);

/* Wait for the dial; the same. */
unsigned dialer_wait(void);

/* A dial that must fail. */
void dialer_must_fail(const char *host);

#endif
