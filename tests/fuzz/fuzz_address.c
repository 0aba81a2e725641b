/* fuzz_address.c - any bytes as the address of a server, and as the headers of a request.
 *
 * The script is three lines: an address, a Host and an Origin. What is taken is held against a
 * second reading of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <arpa/inet.h>

#include "cli/http/address.h"
#include "fuzz.h"
#include "host.h"

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

static void check_headers(const char *host, const char *origin)
{
    struct cli_address_names names = {.names = host_names, .n = 2}, any = {.any = true};
    const char *at = strstr(origin, "://");
    bool same = at && strcasecmp(at + 3, host) == 0 && (at - origin == 4 || at - origin == 5) &&
                strncasecmp(origin, "https", (size_t)(at - origin)) == 0;

    FUZZ_CHECK(!cli_address_answers(&names, host) || host_is_ours(host),
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
