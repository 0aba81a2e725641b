/* io/name_server.c - reads questions, and answers with what was added. */
#include "io/name_server.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/runner.h"

#define MOST 64
#define MOST_QUESTIONS 1024
#define TYPE_A 1
#define TYPE_AAAA 28

struct record {
    char name[64];
    int family; /* 0: the name exists */
    unsigned char address[16];
};

struct question {
    struct sockaddr_in from;
    unsigned char bytes[512];
    size_t len; /* header and question */
    char name[256];
    unsigned type;
    bool is_answered;
};

struct rule {
    char name[64];
    enum name_server_how how;
};

struct name_server {
    int fd, port;
    struct event *event;
    struct record records[MOST];
    unsigned n_records;
    struct rule rules[MOST];
    unsigned n_rules;
    enum name_server_how families[2];
    struct question questions[MOST_QUESTIONS];
    unsigned n_questions;
};

/* False: not one whole question. The labels become a name with dots; evdns mixes capitals in. */
static bool read_question(struct question *q, size_t size)
{
    size_t at = 12, used = 0;

    while (at < size && q->bytes[at] != 0) {
        size_t len = q->bytes[at++], i;

        for (i = 0; i < len && at < size && used + 2 < sizeof(q->name); i++) {
            q->name[used++] = (char)tolower(q->bytes[at++]);
        }
        q->name[used++] = '.';
    }
    q->name[used ? used - 1 : 0] = '\0';
    q->len = at + 5;
    q->type = q->len <= size ? (unsigned)q->bytes[at + 2] : 0;
    return q->len <= size;
}

static enum name_server_how how_to(const struct name_server *s, const struct question *q)
{
    unsigned i;

    if (s->families[q->type == TYPE_AAAA] != NAME_SERVER_ANSWERS) {
        return s->families[q->type == TYPE_AAAA];
    }
    for (i = s->n_rules; i > 0; i--) {
        if (strncmp(q->name, s->rules[i - 1].name, strlen(s->rules[i - 1].name)) == 0) {
            return s->rules[i - 1].how;
        }
    }
    return NAME_SERVER_ANSWERS;
}

/* Returns the bytes of one answer: the name of the question, its type, one second. */
static size_t write_record(unsigned char *out, const struct record *r)
{
    size_t len = r->family == AF_INET ? 4 : 16;
    const unsigned char head[] = {0xc0, 12, 0, r->family == AF_INET ? TYPE_A : TYPE_AAAA,
                                  0,    1,  0, 0,
                                  0,    1,  0, (unsigned char)len};

    memcpy(out, head, sizeof(head));
    memcpy(out + sizeof(head), r->address, len);
    return sizeof(head) + len;
}

static void answer(struct name_server *s, struct question *q)
{
    enum name_server_how how = how_to(s, q);
    int family = q->type == TYPE_AAAA ? AF_INET6 : AF_INET;
    unsigned char bytes[2048];
    size_t used = q->len;
    unsigned i, n = 0;
    bool exists = false;

    if (how == NAME_SERVER_IS_MUTE || q->is_answered) {
        return;
    }
    memcpy(bytes, q->bytes, q->len);
    for (i = 0; i < s->n_records; i++) {
        bool is_it = strcasecmp(s->records[i].name, q->name) == 0;

        exists |= is_it;
        if (is_it && s->records[i].family == family && how == NAME_SERVER_ANSWERS) {
            used += write_record(bytes + used, &s->records[i]);
            n++;
        }
    }
    memset(bytes + 4, 0, 8);
    bytes[2] = 0x81;
    bytes[3] = (unsigned char)(0x80 | (how == NAME_SERVER_FAILS ? 2 : exists ? 0 : 3));
    bytes[5] = 1;
    bytes[7] = (unsigned char)n;
    q->is_answered = true;
    sendto(s->fd, bytes, used, 0, (struct sockaddr *)&q->from, sizeof(q->from));
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct name_server *s = arg;
    struct question *q = &s->questions[s->n_questions];
    socklen_t len = sizeof(q->from);
    ssize_t n;

    (void)what;
    ck_assert_uint_lt(s->n_questions, MOST_QUESTIONS);
    *q = (struct question){0};
    n = recvfrom(fd, q->bytes, sizeof(q->bytes), 0, (struct sockaddr *)&q->from, &len);
    if (n > 0 && read_question(q, (size_t)n)) {
        s->n_questions++;
        answer(s, q);
    }
}

struct name_server *name_server_new(struct event_base *base)
{
    struct name_server *s = calloc(1, sizeof(*s));
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);

    ck_assert_ptr_nonnull(s);
    s->fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    ck_assert_int_eq(bind(s->fd, (struct sockaddr *)&at, len), 0);
    ck_assert_int_eq(getsockname(s->fd, (struct sockaddr *)&at, &len), 0);
    s->port = ntohs(at.sin_port);
    s->event = event_new(base, s->fd, EV_READ | EV_PERSIST, on_readable, s);
    ck_assert_int_eq(event_add(s->event, NULL), 0);
    return s;
}

void name_server_free(struct name_server *s)
{
    if (s) {
        event_free(s->event);
        close(s->fd);
        free(s);
    }
}

int name_server_port(const struct name_server *s)
{
    return s->port;
}

void name_server_add(struct name_server *s, const char *name, const char *address)
{
    struct record *r = &s->records[s->n_records++];

    ck_assert_uint_le(s->n_records, MOST);
    snprintf(r->name, sizeof(r->name), "%s", name);
    r->family = address == NULL ? 0 : strchr(address, ':') ? AF_INET6 : AF_INET;
    if (address) {
        ck_assert_int_eq(inet_pton(r->family, address, r->address), 1);
    }
}

void name_server_forget(struct name_server *s)
{
    s->n_records = 0;
}

void name_server_be(struct name_server *s, const char *name, enum name_server_how how)
{
    struct rule *r = &s->rules[s->n_rules++];

    ck_assert_uint_le(s->n_rules, MOST);
    snprintf(r->name, sizeof(r->name), "%s", name);
    r->how = how;
}

void name_server_be_for(struct name_server *s, bool v6, enum name_server_how how)
{
    s->families[v6] = how;
}

unsigned name_server_asked(const struct name_server *s, const char *name)
{
    unsigned i, n = 0;

    for (i = 0; i < s->n_questions; i++) {
        n += name[0] == '\0' || strcmp(s->questions[i].name, name) == 0;
    }
    return n;
}

void name_server_go_on(struct name_server *s)
{
    unsigned i;

    for (i = 0; i < s->n_questions; i++) {
        answer(s, &s->questions[i]);
    }
}
