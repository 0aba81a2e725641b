/* live/test_tls.c - a lock over TLS on real masters outlives the certificates of both sides. */
#include <arpa/inet.h>
#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/authority.h"
#include "lib/test.h"
#include "live/site.h"

SUITE("tls");

#define THIRD_MS (OUTCOME_TTL_MS / 3)
#define N 3

static struct site s;
static struct authority ours, next;
static struct outcome got;
static int ports[N], reserved[N];
static char uris[N][2048];

/* A port that the server may listen at, and nobody else gets, also while the server is down:
 * because we have a socket there that does not listen. */
static void reserve_port(size_t node)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(name);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&name, len), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&name, &len), 0);
    reserved[node] = fd;
    ports[node] = ntohs(name.sin_port);
}

/* Only clients with a certificate of this CA may come. False: the server has no TLS, or begins it
 * only when it starts, as before 6.2. */
static bool serve_tls(size_t node, const char *ca)
{
    struct master *m = s.masters[node];

    if (master_ask(m, "CONFIG SET tls-port 0")[0] == '-') {
        rlk_test_skip("the server has no TLS that can begin while it runs");
        return false;
    }
    ck_assert_str_eq(master_ask(m, "CONFIG SET tls-cert-file %s", authority_path("server.crt")),
                     "OK");
    ck_assert_str_eq(master_ask(m, "CONFIG SET tls-key-file %s", authority_path("server.key")),
                     "OK");
    ck_assert_str_eq(master_ask(m, "CONFIG SET tls-ca-cert-file %s", authority_path(ca)), "OK");
    ck_assert_str_eq(master_ask(m, "CONFIG SET tls-port %d", ports[node]), "OK");
    return true;
}

static void make_papers(void)
{
    const struct authority_paper server = {
        .name = "server", .others = "IP:127.0.0.1", .from_s = -60, .till_s = 3600};
    const struct authority_paper client = {.name = "client", .from_s = -60, .till_s = 3600};

    authority_init(&ours, "ours");
    authority_init(&next, "next");
    authority_sign(&ours, &server);
    authority_sign(&ours, &client);
}

static void replace_client(void)
{
    const struct authority_paper client = {.name = "client", .from_s = -60, .till_s = 3600};

    authority_sign(&next, &client);
}

static bool start(void)
{
    const struct master_options options = {.config = "bind 127.0.0.1"};
    size_t i;

    make_papers();
    site_start(&s, N, &options);
    for (i = 0; i < N; i++) {
        reserve_port(i);
    }
    for (i = 0; i < N; i++) {
        snprintf(uris[i], sizeof(uris[i]), "rediss://127.0.0.1:%d?cacert=%s&cert=%s&key=%s",
                 ports[i], authority_path("ours.crt"), authority_path("client.crt"),
                 authority_path("client.key"));
        s.uris[i] = uris[i];
        if (!serve_tls(i, "ours.crt")) {
            return false;
        }
    }
    return true;
}

static void end(void)
{
    size_t i;

    site_end(&s);
    for (i = 0; i < N; i++) {
        close(reserved[i]);
    }
    authority_end(&ours);
    authority_end(&next);
}

static void on_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    (void)lock;
    (void)arg;
    ck_assert_msg(notice->kind != REDLOCK_NOTICE_LOST, "lost: %s",
                  redlock_strerror(notice->reason));
}

static bool is_renewed(void *arg)
{
    const uint64_t *before = arg;

    return redlock_lock_validity_ms(got.lock) > *before;
}

static void must_renew(void)
{
    uint64_t before;

    suspend_ms(THIRD_MS);
    before = redlock_lock_validity_ms(got.lock);
    loop_must_true(s.base, is_renewed, &before);
}

static bool have_all_granted(void *arg)
{
    struct redlock_node_detail detail = {.size = sizeof(detail)};
    bool all = true;
    size_t i;

    (void)arg;
    for (i = 0; i < N; i++) {
        ck_assert_int_eq(redlock_lock_node(got.lock, i, &detail), REDLOCK_OK);
        all = all && detail.vote == REDLOCK_VOTE_YES;
    }
    return all;
}

/* It comes back empty, and trusts only the next CA. */
static void restart(size_t node)
{
    master_kill(s.masters[node]);
    watch_for_state(s.base, s.rl[0], node, REDLOCK_NODE_DOWN);
    master_restart(s.masters[node]);
    ck_assert(serve_tls(node, "next.crt"));
    watch_for_state(s.base, s.rl[0], node, REDLOCK_NODE_UP);
}

TEST(a_lock_outlives_the_certificate_of_the_client)
{
    struct redlock_request request = outcome_request("k");

    if (start()) {
        site_open(&s);
        request.renew = 1;
        request.notice_cb = on_notice;
        got = site_acquire_with(&s, 0, &request);
        ck_assert_int_eq(got.status, REDLOCK_OK);
        /* From the first renewal on all three count then, and one of them may be lost. */
        loop_must_true(s.base, have_all_granted, NULL);
        replace_client();
        must_renew(); /* over the connections of the former one */
        restart(0);
        must_renew();
        ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
        site_wait_clean(&s);
    }
    end();
}
