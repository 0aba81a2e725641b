/* io/dialer.c - makes the places, and waits for the dial. */
#include "io/dialer.h"

#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/loop.h"
#include "lib/runner.h"

struct event_base *dialer_base;
struct rlk_loop dialer_loop;
struct rlk_dial dialer;
struct dialer_place dialer_places[DIALER_MOST];
unsigned dialer_n_places;
int dialer_done, dialer_fd;
enum rlk_fault_kind dialer_fault;
char dialer_reason[128];

/* The port is ours at ::1 (0; -1: this machine has none) and at these addresses 127.0.0.x: another
 * program cannot get it between two of them. */
#define RESERVED 5
static int reserved[RESERVED];
static in_port_t port;
static char name[128];

static struct sockaddr_in v4_of(unsigned char last)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(0x7f000000u + last)};
}

static socklen_t address_of(unsigned char last, struct sockaddr_storage *ret)
{
    struct sockaddr_in v4 = v4_of(last);
    struct sockaddr_in6 v6 = {
        .sin6_family = AF_INET6, .sin6_port = port, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t len = last ? sizeof(v4) : sizeof(v6);

    memcpy(ret, last ? (void *)&v4 : (void *)&v6, len);
    return len;
}

static int bind_at(unsigned char last)
{
    struct sockaddr_storage at;
    socklen_t len = address_of(last, &at);
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);

    if (bind(fd, (struct sockaddr *)&at, len) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static struct dialer_place *add(unsigned char last)
{
    struct dialer_place *p = &dialer_places[dialer_n_places++];

    ck_assert_int_ge(reserved[last], 0);
    p->listener = reserved[last];
    reserved[last] = -1;
    p->len = address_of(last, &p->at);
    return p;
}

void dialer_accepts(unsigned char last)
{
    ck_assert_int_eq(listen(add(last)->listener, 4), 0);
}

/* The port is bound, so that nobody else listens there. */
void dialer_refuses(unsigned char last)
{
    add(last);
}

void dialer_drops(unsigned char last)
{
    struct dialer_place *p = add(last);

    ck_assert_int_eq(listen(p->listener, 0), 0);
    for (; p->n_queued < 3; p->n_queued++) {
        int fd = socket(p->at.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);

        connect(fd, (struct sockaddr *)&p->at, p->len);
        p->queued[p->n_queued] = fd;
    }
}

static bool has_ipv6(void)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    bool has = fd >= 0 && bind(fd, (struct sockaddr *)&v6, sizeof(v6)) == 0;

    close(fd);
    return has;
}

bool dialer_skips_ipv6(void)
{
    bool skips = !has_ipv6();

    if (skips) {
        rlk_test_skip("this machine has no ::1");
    }
    return skips;
}

static void on_done(struct rlk_dial *d, int fd, const struct rlk_fault *fault)
{
    ck_assert_ptr_eq(d, &dialer);
    ck_assert_int_eq(fd < 0, fault != NULL);
    dialer_fault = fault ? fault->kind : RLK_FAULT_NONE;
    snprintf(dialer_reason, sizeof(dialer_reason), "%s", fault ? fault->text : "");
    dialer_fd = fd;
    dialer_done++;
}

static void on_finish(struct rlk_loop *l)
{
    (void)l;
}

static void end_reservation(void)
{
    int i;

    for (i = 0; i < RESERVED; i++) {
        if (reserved[i] >= 0) {
            close(reserved[i]);
        }
    }
}

static in_port_t port_of(int fd)
{
    struct sockaddr_in v4;
    socklen_t len = sizeof(v4);

    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&v4, &len), 0);
    return v4.sin_port;
}

/* A port that is free at the first address. False: it is not at another one. */
static bool reserve(void)
{
    unsigned char i;
    bool all = true;

    port = 0;
    reserved[1] = bind_at(1);
    port = port_of(reserved[1]);
    for (i = 0; i < RESERVED; i++) {
        reserved[i] = i == 1 ? reserved[1] : bind_at(i);
        all = all && (reserved[i] >= 0 || (i == 0 && !has_ipv6()));
    }
    if (!all) {
        end_reservation();
    }
    return all;
}

void dialer_begin(void)
{
    int tries = 0;

    while (!reserve()) {
        ck_assert_int_lt(++tries, 100);
    }
    dialer_base = event_base_new();
    ck_assert_int_eq(rlk_loop_init(&dialer_loop, dialer_base, on_finish), 0);
    rlk_dial_init(&dialer, &dialer_loop, on_done);
}

static bool all_lookups_have_ended(void *arg)
{
    (void)arg;
    return dialer_loop.lookups == 0;
}

void dialer_end(void)
{
    unsigned i;
    int j;

    rlk_dial_cancel(&dialer);
    loop_must_true(dialer_base, all_lookups_have_ended, NULL);
    rlk_loop_end(&dialer_loop);
    event_base_free(dialer_base);
    end_reservation();
    for (i = 0; i < dialer_n_places; i++) {
        close(dialer_places[i].listener);
        for (j = 0; j < dialer_places[i].n_queued; j++) {
            close(dialer_places[i].queued[j]);
        }
    }
}

void dialer_start(const char *host)
{
    struct rlk_uri uri = {.host = name, .port = ntohs(port)};

    snprintf(name, sizeof(name), "%s", host);
    dialer_done = 0;
    rlk_dial_start(&dialer, &uri);
}

bool dialer_is_at(unsigned place)
{
    struct sockaddr_storage peer;
    socklen_t len = sizeof(peer);

    return getpeername(dialer_fd, (struct sockaddr *)&peer, &len) == 0 &&
           len == dialer_places[place].len && memcmp(&peer, &dialer_places[place].at, len) == 0;
}

unsigned dialer_wait(void)
{
    unsigned i;

    loop_must(dialer_base, &dialer_done);
    ck_assert_int_ge(dialer_fd, 0);
    ck_assert_uint_eq(dialer.pending, 0);
    ck_assert(fcntl(dialer_fd, F_GETFL) & O_NONBLOCK);
    for (i = 0; i < dialer_n_places && !dialer_is_at(i); i++) {
    }
    close(dialer_fd);
    loop_settle(dialer_base);
    ck_assert_int_eq(dialer_done, 1);
    return i;
}

unsigned dialer_connected_to(const char *host)
{
    dialer_start(host);
    return dialer_wait();
}

void dialer_must_fail(const char *host)
{
    dialer_start(host);
    loop_must(dialer_base, &dialer_done);
    loop_settle(dialer_base);
    ck_assert_int_eq(dialer_done, 1);
    ck_assert_int_eq(dialer_fd, -1);
}
