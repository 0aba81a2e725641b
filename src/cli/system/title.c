/* title.c - the arguments in /proc/PID/cmdline are our own memory, in which ps(1) shows a title. */
#include "cli/system/title.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The arguments, which are next to each other in memory. */
static char *arguments;
static size_t length;

void cli_title_init(int argc, char **argv)
{
    if (argc > 0) {
        arguments = argv[0];
        length = (size_t)(argv[argc - 1] - argv[0]) + strlen(argv[argc - 1]);
    }
}

static bool is_original(const char *argument)
{
    return argument >= arguments && argument <= arguments + length;
}

int cli_title_free_arguments(int argc, char **argv)
{
    int i;

    for (i = 1; i < argc; i++) {
        argv[i] = is_original(argv[i]) ? strdup(argv[i]) : argv[i];
        if (argv[i] == NULL) {
            return -1;
        }
    }
    return 0;
}

/* The last byte stays 0: otherwise ps(1) would show the environment as part of the title. */
void cli_title_set(const char *title)
{
    size_t wanted = strlen(title);

    prctl(PR_SET_NAME, title);
    if (length > 0) {
        memset(arguments, 0, length);
        memcpy(arguments, title, wanted < length ? wanted : length);
    }
}

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
