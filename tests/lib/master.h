/* lib/master.h - real Redis masters for a test: started, killed, stopped, restarted.
 *
 *                 master_start
 *                      |            master_stop
 *                      v     -------------------->
 *                   RUNNING                        STOPPED
 *                    |   ^   <--------------------
 *        master_kill |   | master_restart   master_continue
 *                    v   |
 *                    DEAD
 *
 * Each runs in a folder of its own under rlk_test_folder(), keeps nothing on disk, and dies
 * with the test, however that ends. What cannot be done aborts the test. The program is
 * the redis-server in PATH, or the valkey-server.
 */
#ifndef RLK_TESTS_LIB_MASTER_H
#define RLK_TESTS_LIB_MASTER_H

#include <stdbool.h>

struct master;
struct redisContext;
struct redisReply;

enum master_where {
    MASTER_UNIX, /* a socket in its folder */
    MASTER_TCP4, /* 127.0.0.1 and a free port */
    MASTER_TCP6  /* ::1 and a free port */
};

/* Zero it and set what differs. */
struct master_options {
    enum master_where where;
    /* requirepass; NULL: no password. */
    const char *password;
    /* The master that it is a replica of; NULL: none. That one must be MASTER_TCP4. */
    const struct master *replica_of;
    /* More lines of redis.conf; NULL: none. */
    const char *config;
};

/* Start a master and wait until it answers PING. NULL: a plain one on a unix socket. */
struct master *master_start(const struct master_options *options);

/* Make a master that does not run yet: master_restart() starts it. */
struct master *master_new(const struct master_options *options);

/* As kill -9. Returns when it is dead. */
void master_kill(struct master *m);

/* As SIGSTOP and SIGCONT. master_stop() returns when the process is stopped. */
void master_stop(struct master *m);
void master_continue(struct master *m);

/* Start it again at the same address, without data. If it runs, it is killed first. */
void master_restart(struct master *m);

/* Kill it and forget it. NULL is fine. */
void master_free(struct master *m);

/* Its URI without a password; its address as text. Both live as long as m. */
const char *master_uri(const struct master *m);

/* Whether it has been started and not been killed; a stopped one runs. */
bool master_runs(const struct master *m);

/* Its folder, where its files are. Lives as long as m. */
const char *master_folder(const struct master *m);

/* 0 on a unix socket. */
int master_port(const struct master *m);

/* Send it one command, formatted as in hiredis, wait, and return its reply as text: a status or an
 * error ("-ERR ...") as it is, an integer in digits, "(nil)". The text lives until the next command
 * to this master. */
const char *master_ask(struct master *m, const char *format, ...);

/* A connection of its own; free it by redisFree(). */
struct redisContext *master_connect(const struct master *m);

/* Send one command over it, wait, and return its reply; free it by freeReplyObject(). */
struct redisReply *master_reply(struct redisContext *to, const char *format, ...);

/* Make a user by words of ACL SETUSER: "ann on >secret ~* +@all allchannels". ACLs before Redis 6.2
 * have no channels: everybody has all of them, and allchannels is left out. Returns false, and
 * skips the test, if such a server cannot say what the words mean. */
bool master_user(struct master *m, const char *words);

/* Whether it tells who holds a key with the same SET that could not set it (NX GET). */
bool master_names_holders(struct master *m);

/* Whether this machine has ::1. */
bool master_has_ipv6(void);

#endif
