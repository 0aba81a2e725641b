/* fuzz_address.c - any bytes as the address of a server, and as the headers of a request.
 *
 * The script is three lines: an address, a Host and an Origin. What is taken is held against a
 * second reading of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <arpa/inet.h>
#include <unistd.h>

#include "cli/http/address.h"
#include "fuzz.h"

static const char *known[] = {"locks.example", "web"};

static void check_address(const char *text)
{
    struct cli_address address = {.port = 7}, again;
    char printed[CLI_ADDRESS_TEXT + 16];
    unsigned char bytes[16];
    const char *colon = strrchr(text, ':');

    if (cli_address_parse(text, &address) != 0) {
        FUZZ_CHECK(address.port == 7 && !address.ip[0], "what is refused changes nothing");
        return;
    }
    FUZZ_CHECK(inet_pton(address.v6 ? AF_INET6 : AF_INET, address.ip, bytes) == 1,
               "an address is one of IPv4 or IPv6");
    FUZZ_CHECK(colon && strtoul(colon + 1, NULL, 10) == address.port, "the port comes last");
    snprintf(printed, sizeof(printed), address.v6 ? "[%s]:%u" : "%s:%u", address.ip,
             (unsigned)address.port);
    FUZZ_CHECK(cli_address_parse(printed, &again) == 0 && strcmp(again.ip, address.ip) == 0 &&
                   again.port == address.port && again.v6 == address.v6,
               "what is printed is read");
}

/* What stands before a port of at most five digits. */
static void cut_port(char *host)
{
    char *colon = strrchr(host, ':');

    if (colon && colon[1] && strlen(colon + 1) <= 5 &&
        strspn(colon + 1, "0123456789") == strlen(colon + 1)) {
        *colon = '\0';
    }
}

static bool is_bracketed(char *host, size_t length)
{
    unsigned char bytes[16];

    if (length < 2 || host[0] != '[' || host[length - 1] != ']') {
        return false;
    }
    host[length - 1] = '\0';
    return inet_pton(AF_INET6, host + 1, bytes) == 1;
}

/* By another way than the code's: first without the port, then each kind. */
static bool is_ours(const char *header)
{
    char own[256] = "", *host = strdup(header);
    unsigned char bytes[16];
    bool ours;

    if (host == NULL || gethostname(own, sizeof(own) - 1) != 0) {
        abort();
    }
    if (header[0] != '[' || header[strlen(header) - 1] != ']') {
        cut_port(host);
    }
    ours = strcasecmp(host, "localhost") == 0 || strcasecmp(host, known[0]) == 0 ||
           strcasecmp(host, known[1]) == 0 || (own[0] && strcasecmp(host, own) == 0) ||
           inet_pton(AF_INET, host, bytes) == 1 || is_bracketed(host, strlen(host));
    free(host);
    return ours;
}

static void check_headers(const char *host, const char *origin)
{
    struct cli_address_names names = {.names = known, .n = 2}, any = {.any = true};
    const char *at = strstr(origin, "://");
    bool same = at && strcasecmp(at + 3, host) == 0 && (at - origin == 4 || at - origin == 5) &&
                strncasecmp(origin, "https", (size_t)(at - origin)) == 0;

    FUZZ_CHECK(!cli_address_answers(&names, host) || is_ours(host),
               "only addresses and names of ours are answered");
    FUZZ_CHECK(cli_address_answers(&any, host), "under any name what is no secret");
    FUZZ_CHECK(cli_address_is_origin(host, origin) == same, "only our own pages may read");
}

/* The next line of the text; "" at its end. */
static const char *line(char **text)
{
    const char *at = strsep(text, "\n");

    return at ? at : "";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *rest = text;
    const char *address = line(&rest), *host = line(&rest);

    check_address(address);
    check_headers(host, line(&rest));
    free(text);
    return 0;
}
