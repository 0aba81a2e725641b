/* test_secret.c - the memory of passwords: left out of core files, wiped when it is given back, and
 * empty once its bytes were sent. The linker puts our own munmap() in between (--wrap). */
#include <redlock/settings.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "lib/test.h"
#include "net/conn.h"
#include "net/loop.h"
#include "net/secret.h"
#include "net/uri.h"

SUITE("secret");

#define SECRET "sesame"

__typeof__(munmap) __real_munmap, __wrap_munmap;

static unsigned unmapped, unwiped;

int __wrap_munmap(void *memory, size_t size)
{
    unmapped++;
    unwiped += memmem(memory, size, SECRET, strlen(SECRET)) != NULL;
    return __real_munmap(memory, size);
}

/* Whether a line of /proc/self/smaps begins a mapping that has this address. */
static bool begins_mapping(const char *line, const void *address)
{
    unsigned long from, to, at = (unsigned long)address;

    return sscanf(line, "%lx-%lx", &from, &to) == 2 && from <= at && at < to;
}

/* 1: the kernel leaves this address out of core files, as its VmFlags have "dd". 0: it does not.
 * -1: there are no VmFlags, as under qemu-user. */
static int left_out(const void *address)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    int found = 0, flags = -1;
    char line[512];

    ck_assert_ptr_nonnull(maps);
    while (flags < 0 && fgets(line, sizeof(line), maps)) {
        found = found || begins_mapping(line, address);
        if (found && strncmp(line, "VmFlags:", 8) == 0) {
            flags = strstr(line, " dd ") != NULL;
        }
    }
    fclose(maps);
    ck_assert(found);
    return flags;
}

TEST(a_password_is_left_out_of_core_files)
{
    struct rlk_uri u;
    const char *why;

    ck_assert_int_eq(rlk_uri_parse("redis://ann:" SECRET "@host", &u, &why), 0);
    ck_assert_str_eq(u.password, SECRET);
    ck_assert_int_ne(left_out(u.password), 0);
    ck_assert_int_ne(left_out(u.name), 1);
    rlk_uri_end(&u);
}

TEST(a_password_is_wiped_when_it_is_freed)
{
    char *secret = rlk_secret_copy(SECRET " and more", strlen(SECRET));

    ck_assert_str_eq(secret, SECRET);
    rlk_secret_free(secret);
    ck_assert_uint_eq(unmapped, 1);
    ck_assert_uint_eq(unwiped, 0);
    rlk_secret_free(NULL);
    ck_assert_uint_eq(unmapped, 1);
}

TEST(settings_are_wiped_when_they_are_freed)
{
    struct redlock_options options;
    struct redlock_settings *settings;

    setenv("REDLOCK_NODES", "redis://:" SECRET "@a", 1);
    setenv("REDLOCK_PASSWORD", SECRET, 1);
    redlock_options_init(&options);
    ck_assert_int_eq(redlock_settings_read(&options, &settings), 0);
    ck_assert_int_ne(left_out(options.nodes[0]), 0);
    ck_assert_int_ne(left_out(options.password), 0);
    redlock_settings_free(settings);
    ck_assert_uint_eq(unmapped, 2);
    ck_assert_uint_eq(unwiped, 0);
}

TEST(memory_for_secrets_is_zeroed_and_as_large_as_wanted)
{
    size_t size = 100000, i;
    char *memory = rlk_secret_alloc(size);

    for (i = 0; i < size; i++) {
        ck_assert_int_eq(memory[i], 0);
        memory[i] = 1;
    }
    rlk_secret_free(memory);
    ck_assert_ptr_null(rlk_secret_alloc(SIZE_MAX - 8));
}

static int allow_nothing(size_t size)
{
    (void)size;
    return 0;
}

TEST(a_test_can_let_it_fail)
{
    rlk_alloc_hook(allow_nothing);
    ck_assert_ptr_null(rlk_secret_copy("x", 1));
    rlk_alloc_hook(NULL);
}

static const struct rlk_conn_handler handler = {.opened = NULL};

/* Open the connection; the other end is in *ret_peer. */
static void connect_to(struct rlk_conn *c, int *ret_peer)
{
    int pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    c->fd = pair[0];
    c->state = RLK_CONN_OPEN;
    *ret_peer = pair[1];
}

static void append(struct rlk_conn *c, const char *text)
{
    ck_assert(rlk_conn_reserve(c, strlen(text)));
    memcpy(c->out + c->out_len, text, strlen(text));
    c->out_len += strlen(text);
}

/* _i: how the bytes leave the buffer: sent, thrown away, or moved to a larger one. */
TEST_LOOP(bytes_that_were_sent_are_wiped, 0, 3)
{
    static struct rlk_loop loop;
    struct rlk_conn c;
    int peer;

    rlk_conn_init(&c, &loop, &handler);
    connect_to(&c, &peer);
    append(&c, "AUTH " SECRET);
    ck_assert_int_ne(left_out(c.out), 0);
    if (_i == 0) {
        c.flush.run(&c.flush);
        ck_assert_uint_eq(c.out_len, 0);
    } else if (_i == 1) {
        rlk_conn_close(&c, false);
    } else {
        ck_assert(rlk_conn_reserve(&c, c.out_cap));
        ck_assert_mem_eq(c.out, "AUTH " SECRET, 11);
        c.flush.run(&c.flush);
    }
    ck_assert_ptr_null(memmem(c.out, c.out_cap, SECRET, strlen(SECRET)));
    rlk_conn_end(&c);
    ck_assert_uint_eq(unwiped, 0);
    close(peer);
}

/* After its login a connection wipes nothing, until it is opened again. */
TEST(the_login_of_each_connection_is_wiped)
{
    static struct rlk_loop loop;
    struct rlk_conn c;
    int peer;

    rlk_conn_init(&c, &loop, &handler);
    connect_to(&c, &peer);
    rlk_conn_note_login(&c);
    rlk_conn_close(&c, true);
    close(peer);
    connect_to(&c, &peer);
    append(&c, "AUTH " SECRET);
    c.flush.run(&c.flush);
    ck_assert_ptr_null(memmem(c.out, c.out_cap, SECRET, strlen(SECRET)));
    rlk_conn_end(&c);
    close(peer);
}
