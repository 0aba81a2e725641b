/* host.c - see host.h. */
#include "host.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <arpa/inet.h>
#include <unistd.h>

const char *host_names[2] = {"locks.example", "web"};

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
bool host_is_ours(const char *header)
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
    ours = strcasecmp(host, "localhost") == 0 || strcasecmp(host, host_names[0]) == 0 ||
           strcasecmp(host, host_names[1]) == 0 || (own[0] && strcasecmp(host, own) == 0) ||
           inet_pton(AF_INET, host, bytes) == 1 || is_bracketed(host, strlen(host));
    free(host);
    return ours;
}
