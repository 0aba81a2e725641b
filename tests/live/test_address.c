/* live/test_address.c - every form of a master's address. */
#include <stdio.h>

#include <event2/event.h>

#include "lib/test.h"
#include "live/site.h"

SUITE("address");

static struct site s;

static void must_lock(void)
{
    struct outcome got = site_acquire(&s, "k");

    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_clean(&s);
    site_end(&s);
}

TEST(unix_socket)
{
    site_start_open(&s, 3);
    must_lock();
}

TEST(tcp_over_ipv4)
{
    struct master_options options = {.where = MASTER_TCP4};

    site_start(&s, 3, &options);
    site_open(&s);
    must_lock();
}

TEST(tcp_over_ipv6)
{
    struct master_options options = {.where = MASTER_TCP6};

    if (!master_has_ipv6()) {
        rlk_test_skip("this machine has no ::1");
        return;
    }
    site_start(&s, 3, &options);
    site_open(&s);
    must_lock();
}

/* From /etc/hosts. Also where the name resolves to ::1 first and nothing listens there. */
TEST(host_name)
{
    struct master_options options = {.where = MASTER_TCP4};
    static char uris[3][64];
    size_t i;

    site_start(&s, 3, &options);
    for (i = 0; i < 3; i++) {
        snprintf(uris[i], sizeof(uris[i]), "redis://localhost:%d", master_port(s.masters[i]));
        s.uris[i] = uris[i];
    }
    site_open(&s);
    must_lock();
}

/* A name that does not resolve is reported, and delays no acquire. */
TEST(host_name_that_nobody_knows)
{
    site_start(&s, 3, NULL);
    s.uris[0] = "redis://no-such-host.invalid";
    s.options.connect_timeout_ms = 300;
    site_open_at_once(&s);
    watch_for_state(s.base, s.rl[0], 1, REDLOCK_NODE_UP);
    watch_for_state(s.base, s.rl[0], 2, REDLOCK_NODE_UP);
    site_must_acquire(&s, "k");
    watch_for_error(s.base, s.rl[0], 0, "");
    site_end(&s);
}

TEST(databases_are_apart)
{
    static char uris[3][160];
    struct outcome got;
    size_t i;

    site_start(&s, 3, NULL);
    for (i = 0; i < 3; i++) {
        snprintf(uris[i], sizeof(uris[i]), "%s?db=5", master_uri(s.masters[i]));
        s.uris[i] = uris[i];
        master_ask(s.masters[i], "SET k of-database-0");
    }
    site_open(&s);
    got = site_must_acquire(&s, "k");
    ck_assert_str_eq(master_ask(s.masters[0], "SELECT 5"), "OK");
    site_wait_answer(&s, 0, got.token, "GET k");
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_answer(&s, 0, "0", "DBSIZE");
    site_end(&s);
}

TEST(mixed_addresses_are_one_set)
{
    struct master_options options = {.where = MASTER_TCP4};
    struct master *other;

    site_start(&s, 3, NULL);
    other = s.masters[1];
    s.masters[1] = master_start(&options);
    s.uris[1] = master_uri(s.masters[1]);
    master_free(other);
    site_open(&s);
    must_lock();
}
