/* fuzz_http.c - any bytes to the server of `redlock web` and of --metrics, by a real connection.
 *
 * The first byte is how they are sent: '0' at once, '1' to '7' so many at a time; 8 more: the
 * server goes by any name; 16 more: something is sent to the streams at the end. Then the client
 * says that no more will come, and reads until the server hangs up. It may be refused, or get a
 * page; then the next client is served.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/http/server.h"
#include "cli/say/say.h"
#include "cli/system/loop.h"
#include "fuzz.h"
#include "host.h"

#define PAGE "<p>what only our own users may see</p>"

/* How often the loop is turned: soon after each other at first, then every 10 ms, for a machine
 * that is busy. */
#define QUICK_TURNS 200
#define MOST_TURNS 1000
#define FREEING_TURNS 20

static const char good[] = "GET /page HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/* What the server sent. */
struct reply {
    char text[1 << 16];
    size_t n;
};

static struct cli_loop loop;
static long blocks;                 /* of memory that libevent has */
static struct cli_http *servers[2]; /* by its names; by any name */

void cli_say(const char *format, ...)
{
    (void)format;
    FUZZ_CHECK(false, "the server has nothing to say");
}

void cli_say_more(const char *format, ...)
{
    (void)format;
}

/* ---- memory ---- */

static void *take(size_t size)
{
    blocks++;
    return malloc(size);
}

static void *take_more(void *old, size_t size)
{
    blocks += old == NULL;
    return realloc(old, size);
}

static void give_back(void *old)
{
    blocks -= old != NULL;
    free(old);
}

/* ---- the server ---- */

static int write_page(struct evbuffer *body, void *arg)
{
    (void)arg;
    return evbuffer_add(body, PAGE, strlen(PAGE));
}

static const struct cli_http_route routes[] = {
    {"/", "text/plain", PAGE, NULL, false},
    {"/page", "text/html", NULL, write_page, false},
    {"/events", "text/event-stream", NULL, write_page, true},
};

static void open_servers(void)
{
    struct cli_http_options o = {.option = "--listen", .routes = routes, .n_routes = 3};

    event_set_mem_functions(take, take_more, give_back);
    FUZZ_CHECK(cli_loop_open(&loop) == 0, "a loop can be made");
    FUZZ_CHECK(cli_address_parse("127.0.0.1:0", &o.address) == 0, "an address is one");
    o.names = (struct cli_address_names){.names = host_names, .n = 2};
    FUZZ_CHECK(cli_http_open(loop.base, &o, &servers[0]) == 0, "a server can be opened");
    o.names = (struct cli_address_names){.any = true};
    FUZZ_CHECK(cli_http_open(loop.base, &o, &servers[1]) == 0, "and another one");
}

static void turn(unsigned turns)
{
    event_base_loop(loop.base, EVLOOP_NONBLOCK);
    if (turns > QUICK_TURNS) {
        poll(NULL, 0, 10);
    }
}

/* ---- the client ---- */

static int connect_to(const struct cli_http *server)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(cli_http_address(server)->port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    FUZZ_CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0,
               "a client can connect");
    return fd;
}

/* Read what is there. False at the end. */
static bool receive(int fd, struct reply *r)
{
    ssize_t n = recv(fd, r->text + r->n, sizeof(r->text) - 1 - r->n, MSG_DONTWAIT);

    if (n > 0) {
        r->n += (size_t)n;
    }
    FUZZ_CHECK(r->n < sizeof(r->text) - 1, "little is sent to a few requests");
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void send_all(int fd, const char *bytes, size_t size, size_t piece)
{
    size_t at, n;

    for (at = 0; at < size; at += n) {
        n = piece && piece < size - at ? piece : size - at;
        if (send(fd, bytes + at, n, MSG_NOSIGNAL) != (ssize_t)n) {
            break; /* it has hung up */
        }
        if (piece) {
            turn(0);
        }
    }
    shutdown(fd, SHUT_WR);
}

static void talk(struct cli_http *server, const char *bytes, size_t size, unsigned how,
                 struct reply *ret_reply)
{
    int fd = connect_to(server);
    unsigned turns = 0;

    ret_reply->n = 0;
    send_all(fd, bytes, size, how & 7);
    while (receive(fd, ret_reply) && turns++ < MOST_TURNS) {
        turn(turns);
        if (how & 16) {
            cli_http_send(server, "data: 1\n\n", 9);
        }
    }
    FUZZ_CHECK(turns <= MOST_TURNS, "the server hangs up on a client that sends no more");
    close(fd);
    ret_reply->text[ret_reply->n] = '\0';
}

/* ---- the rules ---- */

static unsigned count(const char *text, const char *word)
{
    unsigned n = 0;

    while ((text = strcasestr(text, word))) {
        n++;
        text++;
    }
    return n;
}

/* How many replies have this status, of whatever version of HTTP. */
static unsigned count_status(const char *text, const char *code)
{
    unsigned n = 0;

    for (; (text = strstr(text, "HTTP/")); text++) {
        const char *space = text + strcspn(text, " \r\n");

        n += *space == ' ' && strncmp(space + 1, code, 3) == 0;
    }
    return n;
}

/* Whether one of the lines is a Host that the server answers. */
static bool names_us(const char *request)
{
    char *copy = strdup(request), *rest = copy, *line;
    bool ours = false;

    if (copy == NULL) {
        abort();
    }
    while ((line = strsep(&rest, "\n"))) {
        line[strcspn(line, "\r")] = '\0';
        if (strncasecmp(line, "host:", 5) == 0) {
            line += 5 + strspn(line + 5, " \t");
            line[strlen(line) - strspn(line + strcspn(line, " \t"), " \t")] = '\0';
            ours = ours || host_is_ours(line);
        }
    }
    free(copy);
    return ours;
}

static void check_headers(const char *reply, unsigned ours)
{
    static const char *const headers[] = {"\r\nContent-Security-Policy: default-src 'none';",
                                          "\r\nX-Content-Type-Options: nosniff\r\n",
                                          "\r\nCross-Origin-Resource-Policy: same-origin\r\n",
                                          "\r\nReferrer-Policy: no-referrer\r\n",
                                          "\r\nCache-Control: no-store\r\n"};
    size_t i;

    for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        FUZZ_CHECK(count(reply, headers[i]) >= ours,
                   "each reply of ours has the headers that keep a page in its place");
    }
}

static void check_reply(const char *request, bool any, const struct reply *r)
{
    unsigned pages = count_status(r->text, "200");
    unsigned refused = count_status(r->text, "421") + count_status(r->text, "403");

    FUZZ_CHECK(r->n == 0 || strncmp(r->text, "HTTP/", 5) == 0, "what is sent is a reply");
    FUZZ_CHECK(strlen(r->text) == r->n, "which is text");
    check_headers(r->text, pages + refused);
    FUZZ_CHECK(count(r->text, PAGE) <= pages, "a page is sent under the status 200");
    FUZZ_CHECK(pages <= count(request, "GET ") + count(request, "HEAD "), "only to GET and HEAD");
    FUZZ_CHECK(pages == 0 || any || names_us(request), "and only to those who know our name");
    FUZZ_CHECK(!any || count_status(r->text, "421") == 0,
               "any name is one of a server without secrets");
}

/* Whatever one client did, the next one is served. */
static void check_next_client(struct cli_http *server)
{
    static struct reply r;

    talk(server, good, strlen(good), 0, &r);
    FUZZ_CHECK(strncmp(r.text, "HTTP/1.1 200 ", 13) == 0 && count(r.text, PAGE) == 1,
               "the next client gets its page");
}

/* What there was before a client came. */
struct before {
    unsigned descriptors;
    long blocks;
};

static struct before look(void)
{
    return (struct before){fuzz_open_descriptors(), blocks};
}

/* Whether a client has left memory. evhttp frees some one turn after it has closed the file. */
static bool has_left_memory(struct before before)
{
    unsigned turns = 0;

    while (fuzz_open_descriptors() != before.descriptors && turns++ < MOST_TURNS) {
        turn(turns);
    }
    FUZZ_CHECK(turns <= MOST_TURNS, "no descriptor is left open");
    FUZZ_CHECK(cli_http_streams(servers[0]) + cli_http_streams(servers[1]) == 0,
               "a stream ends with its client");
    for (turns = 0; blocks > before.blocks && turns < FREEING_TURNS; turns++) {
        turn(0);
    }
    return blocks > before.blocks;
}

static bool try_once(const char *bytes, size_t size, const char *shown, unsigned how)
{
    static struct reply r;
    struct before before = look();
    struct cli_http *server = servers[how >> 3 & 1];

    talk(server, bytes, size, how, &r);
    check_reply(shown, how & 8, &r);
    check_next_client(server);
    return has_left_memory(before);
}

/* libevent keeps a block for each new number of a file: a leak is memory that is left each time. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned how = size > 0 ? (unsigned)data[0] - '0' : 0, times = 0;
    char *bytes, *shown;

    if (size < 2) {
        return 0;
    }
    if (servers[0] == NULL) {
        open_servers();
    }
    bytes = fuzz_text(data + 1, size - 1);
    shown = fuzz_text(data + 1, size - 1);
    while (strlen(shown) < size - 1) {
        shown[strlen(shown)] = '\n'; /* the end of a header for evhttp */
    }
    while (try_once(bytes, size - 1, shown, how)) {
        FUZZ_CHECK(++times < 5, "no memory is left behind");
    }
    free(bytes);
    free(shown);
    return 0;
}
