/* lib/master.c - see master.h. A process, a folder, a blocking connection to look inside. */
#include "lib/master.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hiredis/hiredis.h>

#include "lib/runner.h"

/* How often to check whether the server answers, and after which pause: twenty seconds in all. */
#define LOOKS 4000
#define LOOK_MS 5

/* Another process may take the port before the server binds it. */
#define PORT_TRIES 5

struct master {
    enum master_where where;
    char *password;
    char *config;
    char folder[128];
    char address[192]; /* the socket's path, or the IP */
    char uri[256];
    int replica_of_port;
    int port;
    pid_t pid;
    redisContext *redis;
    char *answer;
};

static void must(bool worked, const char *what)
{
    if (!worked) {
        ck_abort_msg("a master: %s: %s", what, strerror(errno));
    }
}

/* An address of this machine with a port that is free, says the kernel; -1 without such an
 * address. */
static int free_port(int family)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr *name = (struct sockaddr *)&four;
    socklen_t size = sizeof(four);
    int port = -1;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (family == AF_INET6) {
        name = (struct sockaddr *)&six;
        size = sizeof(six);
    }
    if (fd >= 0 && bind(fd, name, size) == 0 && getsockname(fd, name, &size) == 0) {
        port = ntohs(family == AF_INET6 ? six.sin6_port : four.sin_port);
    }
    if (fd >= 0) {
        close(fd);
    }
    return port;
}

bool master_has_ipv6(void)
{
    return free_port(AF_INET6) >= 0;
}

static void choose_address(struct master *m)
{
    if (m->where == MASTER_UNIX) {
        snprintf(m->address, sizeof(m->address), "%s/sock", m->folder);
        snprintf(m->uri, sizeof(m->uri), "unix://%s", m->address);
        return;
    }
    m->port = free_port(m->where == MASTER_TCP6 ? AF_INET6 : AF_INET);
    must(m->port > 0, "no free port");
    strcpy(m->address, m->where == MASTER_TCP6 ? "::1" : "127.0.0.1");
    snprintf(m->uri, sizeof(m->uri), m->where == MASTER_TCP6 ? "redis://[%s]:%d" : "redis://%s:%d",
             m->address, m->port);
}

static void write_config(const struct master *m)
{
    char path[160];
    FILE *file;

    snprintf(path, sizeof(path), "%s/redis.conf", m->folder);
    file = fopen(path, "w");
    must(file != NULL, path);
    fprintf(file, "dir %s\nlogfile %s/log\nsave \"\"\nappendonly no\ndaemonize no\n", m->folder,
            m->folder);
    if (m->where == MASTER_UNIX) {
        fprintf(file, "port 0\nunixsocket %s\n", m->address);
    } else {
        fprintf(file, "bind %s\nport %d\n", m->address, m->port);
    }
    if (m->password) {
        fprintf(file, "requirepass \"%s\"\n", m->password);
    }
    if (m->replica_of_port) {
        fprintf(file, "replicaof 127.0.0.1 %d\n", m->replica_of_port);
    }
    fprintf(file, "%s\n", m->config);
    must(fclose(file) == 0, path);
}

static void become_server(const struct master *m)
{
    char path[160];
    int null = open("/dev/null", O_RDWR);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(null, 0);
    dup2(null, 1);
    dup2(null, 2);
    snprintf(path, sizeof(path), "%s/redis.conf", m->folder);
    execlp("redis-server", "redis-server", path, (char *)NULL);
    execlp("valkey-server", "valkey-server", path, (char *)NULL);
    _exit(127);
}

static redisContext *connect_once(const struct master *m)
{
    const struct timeval patience = {20, 0};
    redisContext *c = m->where == MASTER_UNIX
                          ? redisConnectUnixWithTimeout(m->address, patience)
                          : redisConnectWithTimeout(m->address, m->port, patience);

    if (c && c->err) {
        redisFree(c);
        return NULL;
    }
    if (c) {
        redisSetTimeout(c, patience);
    }
    return c;
}

static bool is_good(redisReply *reply)
{
    bool good = reply && reply->type == REDIS_REPLY_STATUS;

    if (reply) {
        freeReplyObject(reply);
    }
    return good;
}

static redisContext *greet(const struct master *m)
{
    redisContext *c = connect_once(m);

    if (c && ((m->password && !is_good(redisCommand(c, "AUTH %s", m->password))) ||
              !is_good(redisCommand(c, "PING")))) {
        redisFree(c);
        return NULL;
    }
    return c;
}

static void complain(const struct master *m)
{
    char line[512];
    char path[160];
    FILE *file;

    snprintf(path, sizeof(path), "%s/log", m->folder);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file)) {
        fprintf(stderr, "# %s", line);
    }
    if (file) {
        fclose(file);
    }
    ck_abort_msg("redis-server does not start at %s (is it installed?)", m->uri);
}

/* Whether the server answers before it ends. */
static bool comes_up(struct master *m)
{
    int looks;

    for (looks = 0; looks < LOOKS; looks++) {
        redisContext *c = greet(m);

        if (c) {
            redisFree(c);
            return true;
        }
        if (waitpid(m->pid, NULL, WNOHANG) == m->pid) {
            m->pid = -1;
            return false;
        }
        poll(NULL, 0, LOOK_MS);
    }
    return false;
}

static bool launch(struct master *m)
{
    write_config(m);
    m->pid = fork();
    must(m->pid >= 0, "fork");
    if (m->pid == 0) {
        become_server(m);
    }
    if (!comes_up(m)) {
        master_kill(m);
        return false;
    }
    return true;
}

struct master *master_new(const struct master_options *options)
{
    static const struct master_options plain;
    static unsigned n;
    struct master *m = calloc(1, sizeof(*m));

    options = options ? options : &plain;
    m->where = options->where;
    m->password = options->password ? strdup(options->password) : NULL;
    m->config = strdup(options->config ? options->config : "");
    m->replica_of_port = options->replica_of ? options->replica_of->port : 0;
    m->pid = -1;
    snprintf(m->folder, sizeof(m->folder), "%s/m%d-%u", rlk_test_folder(), (int)getpid(), n++);
    must(mkdir(m->folder, 0700) == 0, m->folder);
    choose_address(m);
    return m;
}

struct master *master_start(const struct master_options *options)
{
    struct master *m = master_new(options);
    int tries = 1;

    while (!launch(m)) {
        if (m->where == MASTER_UNIX || tries++ == PORT_TRIES) {
            complain(m);
        }
        choose_address(m);
    }
    return m;
}

void master_kill(struct master *m)
{
    if (m->pid > 0) {
        kill(m->pid, SIGKILL);
        while (waitpid(m->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        m->pid = -1;
    }
    if (m->redis) {
        redisFree(m->redis);
        m->redis = NULL;
    }
}

void master_stop(struct master *m)
{
    must(m->pid > 0 && kill(m->pid, SIGSTOP) == 0, "SIGSTOP");
    while (waitpid(m->pid, NULL, WUNTRACED) < 0 && errno == EINTR) {
    }
}

void master_continue(struct master *m)
{
    must(m->pid > 0 && kill(m->pid, SIGCONT) == 0, "SIGCONT");
}

void master_restart(struct master *m)
{
    master_kill(m);
    if (m->where == MASTER_UNIX) {
        unlink(m->address);
    }
    if (!launch(m)) {
        complain(m);
    }
}

void master_free(struct master *m)
{
    if (!m) {
        return;
    }
    master_kill(m);
    free(m->password);
    free(m->config);
    free(m->answer);
    free(m);
}

const char *master_uri(const struct master *m)
{
    return m->uri;
}

bool master_runs(const struct master *m)
{
    return m->pid > 0;
}

const char *master_folder(const struct master *m)
{
    return m->folder;
}

int master_port(const struct master *m)
{
    return m->port;
}

static char *as_text(const redisReply *reply)
{
    char *text = NULL;
    int len;

    switch (reply->type) {
    case REDIS_REPLY_INTEGER:
        len = asprintf(&text, "%lld", reply->integer);
        break;
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_STRING:
        len = asprintf(&text, "%s", reply->str);
        break;
    case REDIS_REPLY_ERROR:
        len = asprintf(&text, "-%s", reply->str);
        break;
    case REDIS_REPLY_NIL:
        len = asprintf(&text, "(nil)");
        break;
    default:
        len = asprintf(&text, "(an array of %zu)", reply->elements);
        break;
    }
    must(len >= 0, "memory");
    return text;
}

/* A server that allows a single client may not have noticed yet that the last one has
 * disconnected. */
static redisContext *greet_at_last(const struct master *m)
{
    redisContext *c = greet(m);
    int looks;

    for (looks = 0; !c && looks < LOOKS; looks++) {
        poll(NULL, 0, LOOK_MS);
        c = greet(m);
    }
    return c;
}

const char *master_ask(struct master *m, const char *format, ...)
{
    redisReply *reply;
    va_list args;

    if (!m->redis && !(m->redis = greet_at_last(m))) {
        ck_abort_msg("no answer from the master at %s", m->uri);
    }
    va_start(args, format);
    reply = redisvCommand(m->redis, format, args);
    va_end(args);
    if (!reply) {
        ck_abort_msg("no answer from the master at %s: %s", m->uri, m->redis->errstr);
    }
    free(m->answer);
    m->answer = as_text(reply);
    freeReplyObject(reply);
    return m->answer;
}

redisContext *master_connect(const struct master *m)
{
    redisContext *c = connect_once(m);

    if (!c) {
        ck_abort_msg("no connection to the master at %s", m->uri);
    }
    return c;
}

redisReply *master_reply(redisContext *to, const char *format, ...)
{
    redisReply *reply;
    va_list args;

    va_start(args, format);
    reply = redisvCommand(to, format, args);
    va_end(args);
    ck_assert_ptr_nonnull(reply);
    return reply;
}

static bool has_channels(struct master *m)
{
    bool has = strcmp(master_ask(m, "ACL SETUSER rlk-nobody resetchannels"), "OK") == 0;

    if (has) {
        master_ask(m, "ACL DELUSER rlk-nobody");
    }
    return has;
}

bool master_user(struct master *m, const char *words)
{
    static const char all[] = " allchannels";
    bool has = has_channels(m);
    char command[300];
    char *at;

    must(snprintf(command, sizeof(command), "ACL SETUSER %s", words) < (int)sizeof(command), words);
    if (!has && (at = strstr(command, all)) != NULL) {
        memmove(at, at + strlen(all), strlen(at + strlen(all)) + 1);
    }
    if (strcmp(master_ask(m, command), "OK") == 0) {
        return true;
    }
    if (has) {
        ck_abort_msg("the master at %s refuses %s: %s", m->uri, command, m->answer);
    }
    rlk_test_skip(
        "the server has ACLs without channels and without rights to take subcommands from");
    return false;
}

bool master_names_holders(struct master *m)
{
    bool names = strcmp(master_ask(m, "SET rlk-nobody x NX GET PX 1"), "(nil)") == 0;

    master_ask(m, "DEL rlk-nobody");
    return names;
}
