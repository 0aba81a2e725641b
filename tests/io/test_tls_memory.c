/* io/test_tls_memory.c - an allocation of OpenSSL fails while a master is connected by TLS: that
 * costs this connection, and nothing else.
 *
 * The torture fails what the library allocates itself. The front has the same OpenSSL: its calls go
 * through the linker's --wrap, and what they allocate never fails. */
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <stdlib.h>

#include "io/farm.h"
#include "io/tls_front.h"
#include "io/watch.h"
#include "lib/runner.h"
#include "lib/test.h"

SUITE("tls-memory");

/* So many of the allocations of a connection, at even distances. */
#define RUNS 40

static struct farm f;
static struct tls_front *front;

/* ---- OpenSSL's memory ---- */

static unsigned long allocations, fails_at; /* 0: none fails */
static unsigned spared;                     /* calls of the front under way */

static bool fails(void)
{
    return spared == 0 && ++allocations == fails_at;
}

static void *allocate(size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return fails() ? NULL : malloc(size);
}

static void *reallocate(void *p, size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return fails() ? NULL : realloc(p, size);
}

static void release(void *p, const char *file, int line)
{
    (void)file;
    (void)line;
    free(p);
}

/* The front's. */
__typeof__(SSL_new) __real_SSL_new, __wrap_SSL_new;
__typeof__(SSL_read) __real_SSL_read, __wrap_SSL_read;
__typeof__(SSL_write) __real_SSL_write, __wrap_SSL_write;

SSL *__wrap_SSL_new(SSL_CTX *context)
{
    SSL *ssl;

    spared++;
    ssl = __real_SSL_new(context);
    spared--;
    return ssl;
}

int __wrap_SSL_read(SSL *ssl, void *bytes, int len)
{
    int n;

    spared++;
    n = __real_SSL_read(ssl, bytes, len);
    spared--;
    return n;
}

int __wrap_SSL_write(SSL *ssl, const void *bytes, int len)
{
    int n;

    spared++;
    n = __real_SSL_write(ssl, bytes, len);
    spared--;
    return n;
}

/* ---- the test ---- */

/* Node 0 of three speaks TLS. */
static void start(void)
{
    farm_start(&f, 3, FAKE_UNIX);
    front = tls_front_new(f.base, f.nodes[0], TLS1_3_VERSION);
    f.uris[0] = tls_front_uri(front);
}

static void end(void)
{
    farm_close(&f);
    tls_front_free(front);
    farm_end(&f);
}

/* Also makes what OpenSSL keeps for all later connections. */
static unsigned long count_allocations(void)
{
    start();
    allocations = 0;
    farm_open(&f);
    end();
    start();
    allocations = 0;
    farm_open(&f);
    return allocations;
}

static bool was_tried(void *arg)
{
    (void)arg;
    return farm_state(&f, 0) == REDLOCK_NODE_UP || farm_error(&f, 0)[0] != '\0';
}

/* It reads the certificates: without memory for that there is no manager. */
static void open_manager(void)
{
    if (redlock_new(f.base, &f.options, &f.rl) != REDLOCK_OK) {
        ck_assert_uint_ge(allocations, fails_at);
        farm_open_at_once(&f);
    }
}

TEST_LOOP(a_failed_allocation_of_openssl_costs_one_connection, 0, RUNS)
{
    unsigned long n = count_allocations();
    struct outcome got;

    ck_assert_uint_gt(n, RUNS);
    end();
    start();
    allocations = 0;
    fails_at = 1 + n * (unsigned long)_i / RUNS;
    open_manager();
    farm_wait(&f, 1, REDLOCK_NODE_UP);
    farm_wait(&f, 2, REDLOCK_NODE_UP);
    loop_must_true(f.base, was_tried, NULL);
    got = farm_must_acquire(&f, "k");
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    fails_at = 0;
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    farm_wait_gone(&f, "k");
    end();
}

int main(int argc, char **argv)
{
    if (!CRYPTO_set_mem_functions(allocate, reallocate, release)) {
        return 1;
    }
    return rlk_test_main(argc, argv);
}
