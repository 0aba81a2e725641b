/* identity.c - makes "host:pid". */
#include "cli/system/identity.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *cli_identity(char text[CLI_IDENTITY_TEXT])
{
    char host[48] = "";
    char *p;

    if (gethostname(host, sizeof(host) - 1) != 0 || !host[0]) {
        strcpy(host, "localhost");
    }
    for (p = host; *p; p++) {
        if (*p < 0x21 || *p > 0x7e) {
            *p = '?';
        }
    }
    snprintf(text, CLI_IDENTITY_TEXT, "%s:%d", host, (int)getpid());
    return text;
}
