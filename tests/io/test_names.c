/* io/test_names.c - names with several addresses, and name servers that fail. What evdns and dns.c
 * read as /etc/resolv.conf and /etc/hosts are files of the test (--wrap). */
#include <event2/dns.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "io/dialer.h"
#include "io/name_server.h"
#include "lib/fake.h"
#include "lib/loop.h"
#include "lib/runner.h"
#include "lib/test.h"

SUITE("names");

__typeof__(stat) __wrap_stat, __wrap_stat64;
__typeof__(evdns_base_resolv_conf_parse) __real_evdns_base_resolv_conf_parse,
    __wrap_evdns_base_resolv_conf_parse;
__typeof__(evdns_base_load_hosts) __real_evdns_base_load_hosts, __wrap_evdns_base_load_hosts;

static struct name_server *server;

/* Ours, in place of /etc/... */
static const char *path_of(const char *path)
{
    static char ours[256];
    const char *name = strrchr(path, '/');

    if (strncmp(path, "/etc/", 5) != 0) {
        return path;
    }
    snprintf(ours, sizeof(ours), "%s%s", rlk_test_folder(), name);
    return ours;
}

int __wrap_stat(const char *path, struct stat *s)
{
    return fstatat(AT_FDCWD, path_of(path), s, 0);
}

/* What a file offset of 64 bits makes of it. */
int __wrap_stat64(const char *path, struct stat *s)
{
    return __wrap_stat(path, s);
}

int __wrap_evdns_base_resolv_conf_parse(struct evdns_base *dns, int flags, const char *path)
{
    return __real_evdns_base_resolv_conf_parse(dns, flags, path_of(path));
}

int __wrap_evdns_base_load_hosts(struct evdns_base *dns, const char *path)
{
    return __real_evdns_base_load_hosts(dns, path_of(path));
}

/* As editors do it: the file is replaced. */
__attribute__((format(printf, 2, 3))) static void write_file(const char *path, const char *text,
                                                             ...)
{
    char fresh[300];
    va_list args;
    FILE *f;

    snprintf(fresh, sizeof(fresh), "%s.new", path_of(path));
    f = fopen(fresh, "w");
    ck_assert_ptr_nonnull(f);
    va_start(args, text);
    vfprintf(f, text, args);
    va_end(args);
    fclose(f);
    ck_assert_int_eq(rename(fresh, path_of(path)), 0);
}

static void use(const struct name_server *s)
{
    write_file("/etc/resolv.conf", "nameserver 127.0.0.1:%d\n", name_server_port(s));
}

static void begin(void)
{
    dialer_begin();
    server = name_server_new(dialer_base);
    write_file("/etc/hosts", "\n");
    use(server);
}

static void end(void)
{
    dialer_end();
    name_server_free(server);
}

static bool got_questions(void *arg)
{
    return name_server_asked(server, "") >= *(unsigned *)arg;
}

static void wait_for_questions(unsigned n)
{
    loop_must_true(dialer_base, got_questions, &n);
}

/* ---- addresses ---- */

TEST(every_address_of_a_name_is_tried)
{
    begin();
    dialer_refuses(2);
    dialer_refuses(3);
    dialer_accepts(4);
    name_server_add(server, "m.test", "127.0.0.2");
    name_server_add(server, "m.test", "127.0.0.3");
    name_server_add(server, "m.test", "127.0.0.4");
    ck_assert_uint_eq(dialer_connected_to("m.test"), 2);
    ck_assert_uint_eq(name_server_asked(server, "m.test"), 2); /* A and AAAA */
    end();
}

/* _i: which one there is: only A, only AAAA, both. */
TEST_LOOP(a_and_aaaa_are_looked_up, 0, 3)
{
    if (dialer_skips_ipv6()) {
        return;
    }
    begin();
    dialer_accepts(2);
    dialer_accepts(0);
    if (_i != 1) {
        name_server_add(server, "m.test", "127.0.0.2");
    }
    if (_i != 0) {
        name_server_add(server, "m.test", "::1");
    }
    ck_assert_uint_eq(dialer_connected_to("m.test"), _i != 0);
    end();
}

/* _i: the answer that never comes is that about IPv6. */
TEST_LOOP(one_family_is_enough_when_the_other_answer_never_comes, 0, 2)
{
    if (dialer_skips_ipv6()) {
        return;
    }
    begin();
    dialer_accepts(_i ? 2 : 0);
    name_server_add(server, "m.test", _i ? "127.0.0.2" : "::1");
    name_server_be_for(server, _i, NAME_SERVER_IS_MUTE);
    ck_assert_uint_eq(dialer_connected_to("m.test"), 0);
    end();
}

/* The first answer says that there is no address, which is not yet the last word. */
TEST(an_answer_without_addresses_waits_for_the_other_one)
{
    if (dialer_skips_ipv6()) {
        return;
    }
    begin();
    dialer_accepts(0);
    name_server_add(server, "m.test", "::1");
    name_server_be_for(server, true, NAME_SERVER_IS_MUTE);
    dialer_start("m.test");
    wait_for_questions(4); /* those about IPv6 are asked again */
    ck_assert_int_eq(dialer_done, 0);
    name_server_be_for(server, true, NAME_SERVER_ANSWERS);
    name_server_go_on(server);
    ck_assert_uint_eq(dialer_wait(), 0);
    end();
}

/* What comes late is tried, too. */
TEST(an_answer_during_the_attempts_is_used)
{
    if (dialer_skips_ipv6()) {
        return;
    }
    begin();
    dialer_drops(2);
    dialer_accepts(0);
    name_server_add(server, "m.test", "127.0.0.2");
    name_server_add(server, "m.test", "::1");
    name_server_be_for(server, true, NAME_SERVER_IS_MUTE);
    dialer_start("m.test");
    while (dialer.next == 0) {
        event_base_loop(dialer_base, EVLOOP_ONCE);
    }
    name_server_be_for(server, true, NAME_SERVER_ANSWERS);
    name_server_go_on(server);
    ck_assert_uint_eq(dialer_wait(), 1);
    end();
}

TEST(a_name_is_looked_up_anew_for_each_connection)
{
    begin();
    dialer_accepts(2);
    dialer_accepts(3);
    name_server_add(server, "m.test", "127.0.0.2");
    ck_assert_uint_eq(dialer_connected_to("m.test"), 0);
    rlk_dial_note_worked(&dialer);
    name_server_forget(server);
    name_server_add(server, "m.test", "127.0.0.3");
    ck_assert_uint_eq(dialer_connected_to("m.test"), 1);
    end();
}

/* evdns does not tell this from a name server that fails. */
TEST(a_name_without_an_address_is_refused)
{
    begin();
    name_server_add(server, "m.test", NULL);
    dialer_must_fail("m.test");
    ck_assert_int_eq(dialer_fault, RLK_FAULT_NO_ANSWER);
    end();
}

/* ---- name servers that fail ---- */

/* _i: fails, mute. */
TEST_LOOP(the_known_address_is_used_when_no_name_server_answers, 0, 2)
{
    begin();
    dialer_accepts(2);
    name_server_add(server, "m.test", "127.0.0.2");
    ck_assert_uint_eq(dialer_connected_to("m.test"), 0);
    name_server_be(server, "", _i ? NAME_SERVER_IS_MUTE : NAME_SERVER_FAILS);
    ck_assert_uint_eq(dialer_connected_to("m.test"), 0);
    ck_assert_uint_ge(name_server_asked(server, "m.test"), 4);
    ck_assert_uint_eq(dialer_connected_to("m.test"), 0);
    end();
}

/* The known address fails, and the lookup still runs: what it finds is tried. */
TEST(a_lookup_goes_on_beside_the_known_address)
{
    begin();
    dialer_accepts(2);
    dialer_accepts(3);
    name_server_add(server, "m.test", "127.0.0.2");
    ck_assert_uint_eq(dialer_connected_to("m.test"), 0);
    close(dialer_places[0].listener);
    name_server_be(server, "", NAME_SERVER_IS_MUTE);
    dialer_start("m.test");
    while (dialer.next == 0 || dialer.pending > 0) {
        event_base_loop(dialer_base, EVLOOP_ONCE);
    }
    ck_assert_int_eq(dialer_done, 0);
    name_server_be(server, "", NAME_SERVER_ANSWERS);
    name_server_forget(server);
    name_server_add(server, "m.test", "127.0.0.3");
    name_server_go_on(server);
    ck_assert_uint_eq(dialer_wait(), 1);
    end();
}

TEST(a_name_that_is_gone_is_gone_though_its_address_is_known)
{
    begin();
    dialer_accepts(2);
    name_server_add(server, "m.test", "127.0.0.2");
    ck_assert_uint_eq(dialer_connected_to("m.test"), 0);
    name_server_forget(server);
    dialer_must_fail("m.test");
    ck_assert_int_eq(dialer_fault, RLK_FAULT_NO_NAME);
    ck_assert_int_eq(dialer.step, RLK_DIAL_LOOKUP);
    end();
}

/* Nobody listens at the first one. evdns would ask it for five seconds. */
TEST(the_second_name_server_is_asked_soon)
{
    struct name_server *dead;

    begin();
    dead = name_server_new(dialer_base);
    name_server_be(dead, "", NAME_SERVER_IS_MUTE);
    dialer_accepts(2);
    name_server_add(server, "m.test", "127.0.0.2");
    write_file("/etc/resolv.conf", "nameserver 127.0.0.1:%d\nnameserver 127.0.0.1:%d\n",
               name_server_port(dead), name_server_port(server));
    ck_assert_uint_eq(dialer_connected_to("m.test"), 0);
    ck_assert_uint_eq(dialer_connected_to("m.test"), 0);
    ck_assert_uint_le(name_server_asked(dead, ""), 8);
    end();
    name_server_free(dead);
}

/* evdns finds no descriptor for its sockets when it begins, but there are some later. */
TEST(a_name_server_that_could_not_be_reached_at_first_is_asked_later)
{
    struct rlimit all, none;

    begin();
    dialer_accepts(2);
    name_server_add(server, "m.test", "127.0.0.2");
    getrlimit(RLIMIT_NOFILE, &all);
    none = (struct rlimit){0, all.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    dialer_start("m.test");
    setrlimit(RLIMIT_NOFILE, &all);
    rlk_dial_cancel(&dialer);
    ck_assert_uint_eq(dialer_connected_to("m.test"), 0);
    end();
}

/* Those of 63 masters whose names nobody answers for, and one more. */
TEST(lookups_that_hang_keep_no_other_from_being_sent)
{
    static struct rlk_dial others[63];
    struct rlk_uri uri = {.port = 1};
    char name[32];
    unsigned i;

    begin();
    dialer_accepts(2);
    name_server_add(server, "m.test", "127.0.0.2");
    name_server_be(server, "dead", NAME_SERVER_IS_MUTE);
    for (i = 0; i < 63; i++) {
        snprintf(name, sizeof(name), "dead%u.test", i);
        uri.host = name;
        rlk_dial_init(&others[i], &dialer_loop, dialer.done);
        rlk_dial_start(&others[i], &uri);
    }
    ck_assert_uint_eq(dialer_connected_to("m.test"), 0);
    for (i = 0; i < 63; i++) {
        rlk_dial_cancel(&others[i]);
    }
    end();
}

/* ---- the files ---- */

TEST(a_name_of_the_hosts_file_is_not_asked_for)
{
    begin();
    dialer_accepts(2);
    name_server_add(server, "m.test", "::1");
    write_file("/etc/hosts", "127.0.0.2 m.test\n");
    ck_assert_uint_eq(dialer_connected_to("m.test"), 0);
    ck_assert_uint_eq(name_server_asked(server, ""), 0);
    end();
}

TEST(a_hosts_file_that_has_changed_is_read_again)
{
    begin();
    dialer_accepts(2);
    dialer_accepts(3);
    write_file("/etc/hosts", "127.0.0.2 m.test\n");
    ck_assert_uint_eq(dialer_connected_to("m.test"), 0);
    write_file("/etc/hosts", "127.0.0.3 m.test\n");
    ck_assert_uint_eq(dialer_connected_to("m.test"), 1);
    end();
}

/* Also while a lookup waits for a name server that is gone. */
TEST(a_resolv_conf_that_has_changed_is_read_again)
{
    struct name_server *gone;
    struct rlk_dial other;
    struct rlk_uri uri = {.host = (char[]){"other.test"}, .port = 1};

    begin();
    gone = name_server_new(dialer_base);
    name_server_be(gone, "", NAME_SERVER_IS_MUTE);
    use(gone);
    rlk_dial_init(&other, &dialer_loop, dialer.done);
    rlk_dial_start(&other, &uri);
    dialer_start("m.test");
    loop_settle(dialer_base);
    rlk_dial_cancel(&dialer);
    dialer_accepts(2);
    name_server_add(server, "m.test", "127.0.0.2");
    use(server);
    ck_assert_uint_eq(dialer_connected_to("m.test"), 0);
    ck_assert_ptr_nonnull(dialer_loop.dns.newest->older);
    rlk_dial_cancel(&other);
    loop_settle(dialer_base);
    loop_settle(dialer_base);
    ck_assert_ptr_null(dialer_loop.dns.newest->older);
    end();
    name_server_free(gone);
}

/* _i: with a dot at the end, which means the name as it is. */
/* ---- several servers behind one name ---- */

static struct redlock *rl;
static char error[600];
static int examined, found;

static bool is_up(void *arg)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    (void)arg;
    ck_assert_int_eq(redlock_get_node_info(rl, 0, &info), 0);
    snprintf(error, sizeof(error), "%s", info.error);
    return info.state == REDLOCK_NODE_UP;
}

static void on_examined(const struct redlock_report *report, int status, void *arg)
{
    size_t i;

    (void)status;
    (void)arg;
    examined = 1;
    for (i = 0; i < report->n_findings; i++) {
        found += report->findings[i]->kind == REDLOCK_FOUND_SEVERAL;
    }
}

static void on_closed(void *arg)
{
    *(int *)arg = 1;
}

/* _i: whether the second address is of the same family. */
TEST_LOOP(a_name_that_may_be_several_servers_is_said, 0, 2)
{
    static const char *const seconds[] = {"::1", "127.0.0.2"};
    struct redlock_options options;
    struct fake *fake;
    const char *uris[1];
    char uri[60];
    int closed = 0;

    begin();
    fake = fake_new(dialer_base, FAKE_TCP);
    snprintf(uri, sizeof(uri), "redis://m.test:%d", fake_port(fake));
    uris[0] = uri;
    redlock_options_init(&options);
    options.nodes = uris;
    options.n_nodes = 1;
    options.quarantine = REDLOCK_QUARANTINE_OFF;
    name_server_add(server, "m.test", "127.0.0.1");
    name_server_add(server, "m.test", seconds[_i]);
    ck_assert_int_eq(redlock_new(dialer_base, &options, &rl), 0);
    loop_must_true(dialer_base, is_up, NULL);
    ck_assert_str_eq(error, _i ? "its name has several addresses (127.0.0.1, 127.0.0.2), which may "
                                 "be several servers; give each server a name of its own, or list "
                                 "this one by one address"
                               : "");
    ck_assert_int_eq(redlock_examine(rl, on_examined, NULL), 0);
    loop_must(dialer_base, &examined);
    ck_assert_int_eq(found, _i);
    ck_assert_int_eq(redlock_close(rl, on_closed, &closed), 0);
    loop_must(dialer_base, &closed);
    fake_free(fake);
    end();
}

TEST_LOOP(a_short_name_is_searched_for, 0, 2)
{
    begin();
    dialer_accepts(2);
    name_server_add(server, "m.zone.test", "127.0.0.2");
    write_file("/etc/resolv.conf", "nameserver 127.0.0.1:%d\nsearch zone.test\n",
               name_server_port(server));
    if (_i) {
        dialer_must_fail("m.");
        ck_assert_uint_eq(name_server_asked(server, "m.zone.test"), 0);
    } else {
        ck_assert_uint_eq(dialer_connected_to("m"), 0);
    }
    end();
}
