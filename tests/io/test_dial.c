/* io/test_dial.c - a dial connects to whichever address answers first. The lookup is ours (--wrap):
 * it names all places, in their order. */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/dialer.h"
#include "lib/loop.h"
#include "lib/test.h"

SUITE("dial");

__typeof__(rlk_resolve_start) __wrap_rlk_resolve_start;

void __wrap_rlk_resolve_start(struct rlk_resolve *r, const struct rlk_uri *uri)
{
    unsigned i;

    (void)uri;
    for (i = 0; i < dialer_n_places; i++) {
        rlk_addresses_add(r->addresses, &dialer_places[i].at, dialer_places[i].len);
    }
    r->found[RLK_FAMILY_V6] = true;
    r->answered(r);
}

static unsigned connected(void)
{
    return dialer_connected_to("");
}

FIXTURE(NULL, dialer_end);

TEST(the_first_address_that_connects_wins)
{
    dialer_begin();
    dialer_accepts(1);
    dialer_accepts(2);
    ck_assert_uint_eq(connected(), 0);
    ck_assert_uint_eq(dialer.next, 1);
}

/* Without the time between attempts: its timer never fires here. */
TEST(after_a_refusal_the_next_attempt_begins_at_once)
{
    dialer_begin();
    dialer_refuses(1);
    dialer_accepts(2);
    dialer_start("");
    rlk_timer_cancel(&dialer_loop.timers, &dialer.timer);
    ck_assert_uint_eq(dialer_wait(), 1);
}

/* The attempt that got no answer was under way all the time, and ends with the other one. */
TEST(an_address_that_drops_packets_is_not_waited_for)
{
    int fd;

    dialer_begin();
    dialer_drops(1);
    dialer_accepts(2);
    dialer_start("");
    loop_settle(dialer_base);
    fd = dialer.attempts[0].fd;
    ck_assert_uint_eq(dialer.next, 1);
    ck_assert_uint_eq(dialer.pending, 1);
    ck_assert_uint_eq(dialer_wait(), 1);
    ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
}

/* Its queue may take in one of those that filled it: they also send their packet again. */
static bool is_done_with_room_at_the_first(void *arg)
{
    int fd = accept(dialer_places[0].listener, NULL, NULL);

    (void)arg;
    if (fd >= 0) {
        close(fd);
    }
    return dialer_done;
}

/* It may answer while the next one is tried. */
TEST(an_attempt_goes_on_beside_the_next_one)
{
    dialer_begin();
    dialer_drops(1);
    dialer_drops(2);
    dialer_start("");
    while (dialer.next < 2) {
        event_base_loop(dialer_base, EVLOOP_ONCE);
    }
    ck_assert_uint_eq(dialer.pending, 2);
    loop_must_true(dialer_base, is_done_with_room_at_the_first, NULL);
    ck_assert_uint_eq(dialer_wait(), 0); /* the kernel sends the packet again after a second */
}

TEST(when_all_fail_the_dial_fails_once)
{
    dialer_begin();
    dialer_refuses(1);
    dialer_refuses(2);
    dialer_must_fail("");
    ck_assert_str_eq(dialer_reason, strerror(ECONNREFUSED));
    ck_assert_int_eq(dialer.step, RLK_DIAL_ATTEMPTS);
}

TEST(the_address_that_greeted_last_is_tried_first)
{
    dialer_begin();
    dialer_drops(1);
    dialer_accepts(2);
    ck_assert_uint_eq(connected(), 1);
    rlk_dial_note_worked(&dialer);
    ck_assert_uint_eq(connected(), 1);
    ck_assert_uint_eq(dialer.next, 1);
}

TEST(an_address_that_did_not_greet_is_tried_last)
{
    dialer_begin();
    dialer_accepts(1);
    dialer_accepts(2);
    ck_assert_uint_eq(connected(), 0);
    rlk_dial_note_failed(&dialer);
    ck_assert_uint_eq(connected(), 1);
}

/* Otherwise, when little time is left for all addresses, the last ones would never be tried. */
TEST(an_address_that_was_waited_for_in_vain_is_tried_last)
{
    dialer_begin();
    dialer_drops(1);
    dialer_accepts(2);
    dialer_start("");
    loop_settle(dialer_base);
    ck_assert_uint_eq(dialer.next, 1);
    rlk_dial_cancel(&dialer);
    ck_assert_uint_eq(connected(), 1);
    ck_assert_uint_eq(dialer.next, 1);
}

TEST(a_cancelled_dial_says_nothing_and_closes_its_sockets)
{
    int fd;

    dialer_begin();
    dialer_accepts(1);
    dialer_start("");
    fd = dialer.attempts[0].fd;
    ck_assert_int_ge(fd, 0);
    rlk_dial_cancel(&dialer);
    ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
    loop_settle(dialer_base);
    ck_assert_int_eq(dialer_done, 0);
    ck_assert_uint_eq(dialer.pending, 0);
}

/* The second connection of a node belongs to the server that the first one is connected to. */
TEST(a_second_dial_goes_to_the_same_address)
{
    struct rlk_dial first;

    dialer_begin();
    dialer_refuses(1);
    dialer_accepts(2);
    dialer_accepts(3);
    ck_assert_uint_eq(connected(), 1);
    first = dialer;
    rlk_dial_init(&dialer, &dialer_loop, first.done);
    dialer_done = 0;
    rlk_dial_start_same(&dialer, &first);
    ck_assert_uint_eq(dialer_wait(), 1);
    ck_assert_uint_eq(dialer.addresses.n, 1);
}

/* Its events are the parent's. */
TEST(a_forked_child_leaves_the_dial_alone)
{
    int status;
    pid_t pid;

    dialer_begin();
    dialer_accepts(1);
    dialer_start("");
    pid = fork();
    if (pid == 0) {
        event_reinit(dialer_base);
        loop_settle(dialer_base);
        _exit(dialer_done == 0 && fcntl(dialer.attempts[0].fd, F_GETFD) >= 0 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(dialer_wait(), 0);
}

/* _i: the one that does not work, 0 for IPv6. */
TEST_LOOP(either_family_will_do, 0, 2)
{
    if (dialer_skips_ipv6()) {
        return;
    }
    dialer_begin();
    (_i ? dialer_refuses : dialer_accepts)(1);
    (_i ? dialer_accepts : dialer_refuses)(0);
    ck_assert_uint_eq(connected(), (unsigned)_i);
}
